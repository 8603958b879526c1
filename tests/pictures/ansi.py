# SPDX-License-Identifier: ISC
"""Renders the text of a terminal, with its colours, as SVG: one screen, or a
recording in which lines appear one after the other.  A viewer without
animations shows the end of a recording."""
import re
from xml.sax.saxutils import escape

WIDE, HIGH, PAD, BASE = 8.4, 18, 12, 13     # a cell, in pixels
INK, PAPER = "#d8dee9", "#1e222a"
COLOURS = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd",
           "#56b6c2", "#d8dee9"]
SGR = re.compile(r"\x1b\[([0-9;]*)m")


class Style:
    def __init__(self):
        self.ink, self.paper = None, None
        self.bold = self.dim = self.swap = False

    def colours(self):
        ink, paper = self.ink or INK, self.paper
        return (paper or PAPER, ink) if self.swap else (ink, paper)

    def apply(self, codes):
        codes = [int(c or 0) for c in codes.split(";")]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.__init__()
            elif c in (1, 2, 7):
                setattr(self, {1: "bold", 2: "dim", 7: "swap"}[c], True)
            elif c == 22:
                self.bold = self.dim = False
            elif c == 27:
                self.swap = False
            elif 30 <= c <= 37 or 90 <= c <= 97:
                self.ink = COLOURS[c % 10]
            elif 40 <= c <= 47 or 100 <= c <= 107:
                self.paper = COLOURS[c % 10]
            elif c in (38, 48) and codes[:1] == [5]:
                name = "ink" if c == 38 else "paper"
                setattr(self, name, COLOURS[codes[1] % 8])
                del codes[:2]
            elif c == 39:
                self.ink = None
            elif c == 49:
                self.paper = None


def runs(line, style):
    """Yields (column, text, style) for each run of one style."""
    column = 0
    for i, part in enumerate(SGR.split(line)):
        if i % 2:
            style.apply(part)
        elif part:
            yield column, part, style
            column += len(part)


def wrapped(line, columns):
    """Returns the rows that a terminal shows for one line."""
    rows, row, n, at = [], "", 0, 0
    for m in [*SGR.finditer(line), None]:
        for ch in line[at:m.start() if m else len(line)]:
            if n == columns:
                rows.append(row)
                row, n = "", 0
            row, n = row + ch, n + 1
        if m:
            row, at = row + m.group(), m.end()
    return rows + [row]


def drawn(line, row, style):
    """Returns the elements of one row."""
    out, y = [], row * HIGH
    for column, text, s in runs(line, style):
        x, (ink, paper) = column * WIDE, s.colours()
        if paper:
            out.append(f'<rect x="{x:.1f}" y="{y}" height="{HIGH}" '
                       f'width="{len(text) * WIDE:.1f}" fill="{paper}"/>')
        # Viewers differ in what they make of spaces: none are in a text.
        for m in re.finditer(r"\S+(?: \S+)*", text):
            out.append(
                f'<text x="{x + m.start() * WIDE:.1f}" y="{y + BASE}" '
                f'textLength="{len(m.group()) * WIDE:.1f}" fill="{ink}"'
                + (' font-weight="bold"' if s.bold else "")
                + (' opacity=".6"' if s.dim else "")
                + f">{escape(m.group())}</text>")
    return "".join(out)


def frame(columns, rows, title, body, style=""):
    """Returns a document: a window with a title around the body."""
    w, top = columns * WIDE + 2 * PAD, 30
    tall = rows * HIGH + top + PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" '
        f'height="{tall}" viewBox="0 0 {w:.0f} {tall}" '
        'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'
        f'DejaVu Sans Mono,monospace" font-size="14">'
        f"<title>{escape(title)}</title><style>{style}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>'
        f'<text x="{PAD}" y="20" font-size="12" fill="{INK}" opacity=".6">'
        f"{escape(title)}</text>"
        f'<svg x="{PAD}" y="{top}" width="{w - 2 * PAD:.0f}" '
        f'height="{rows * HIGH}">{body}</svg></svg>\n')


def screen(lines, columns, title):
    """Returns a picture of one screen."""
    style = Style()
    return frame(columns, len(lines), title, "\n".join(
        drawn(line, i, style) for i, line in enumerate(lines)))


def recording(lines, columns, rows, title, still=6):
    """Returns an animation; lines: [(seconds, text)]. Its last screen stays
    for so many seconds, and then it begins again."""
    shown = [(at, row) for at, line in lines for row in wrapped(line, columns)]
    whole = shown[-1][0] + still
    style, body = Style(), []
    css = [f"g{{animation:{whole:.1f}s step-end infinite}}"]
    scroll = ["0%{transform:none}"]
    for i, (at, row) in enumerate(shown):
        part = 100 * at / whole
        css.append(f"#l{i}{{animation-name:k{i}}}@keyframes k{i}"
                   f"{{0%{{opacity:0}}{part:.2f}%{{opacity:1}}}}")
        if i >= rows:
            scroll.append(f"{part:.2f}%{{transform:"
                          f"translateY({(rows - 1 - i) * HIGH}px)}}")
        body.append(f'<g id="l{i}">{drawn(row, i, style)}</g>')
    css.append("#all{animation-name:all}@keyframes all{" + "".join(scroll)
               + "}@media(prefers-reduced-motion){g{animation:none}}")
    up = min(0, (rows - len(shown)) * HIGH)
    return frame(columns, min(rows, len(shown)), title,
                 f'<g id="all" transform="translate(0 {up})">'
                 + "\n".join(body) + "</g>", "".join(css))
