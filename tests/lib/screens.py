# SPDX-License-Identifier: ISC
"""An independent reader of the output that reaches a person's terminal: a
closed grammar, and a model of the screen that knows who wrote each cell."""
import re

# Everything that a viewer may send to a terminal; anything else is an error.
GRAMMAR = re.compile(
    rb"(?P<cup>\x1b\[(?:(\d+);(\d+))?H)"
    rb"|(?P<el>\x1b\[K)|(?P<ed>\x1b\[2?J)"
    rb"|(?P<sgr>\x1b\[0(?:;[0-9;]+)?m)"
    rb"|(?P<region>\x1b\[(?:1;(\d+))?r)"
    rb"|(?P<mode>\x1b\[\?(?:1|7|25|1000|1002|1003|1004|1006|1049|2004)[hl])"
    rb"|(?P<shape>\x1b\[[0-6] q)|(?P<stack>\x1b\[2[23];0t)"
    rb"|(?P<keypad>\x1b[=>78])"
    rb"|(?P<title>\x1b\]2;ironcurtain: [\x20-\x7e]*\x1b\\)"
    rb"|(?P<notice>\x1b\](?:9;|777;notify;IronCurtain;)"
    rb"(?:IronCurtain: )?a call waits for your answer\x1b\\)"
    rb"|(?P<bell>\x07)|(?P<nl>\r?\n)"
    rb"|(?P<text>[\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]"
    rb"|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})")


class Strange(Exception):
    """Bytes outside the grammar."""


class Screen:
    """The contents of the screen. `touched`: rows (from 0) that text was
    written to."""

    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cells = [[" "] * cols for _ in range(rows)]
        self.row = self.col = 0
        self.bottom = rows
        self.modes = set()
        self.kinds = set()
        self.rest = b""

    def feed(self, data):
        data = self.rest + data
        pos = 0
        while pos < len(data):
            m = GRAMMAR.match(data, pos)
            if m is None:
                if len(data) - pos < 128 and data[pos] in b"\x1b\r" or \
                        data[pos] >= 0xc2 and len(data) - pos < 4:
                    break
                raise Strange(data[max(0, pos - 40):pos + 40])
            self.take(m)
            pos = m.end()
        self.rest = data[pos:]

    def take(self, m):
        kind = m.lastgroup or next(k for k, v in m.groupdict().items()
                                   if v is not None)
        kind = next(k for k, v in m.groupdict().items() if v is not None)
        self.kinds.add(kind)
        getattr(self, "on_" + kind, lambda m: None)(m)

    def on_cup(self, m):
        row, col = (int(x or 1) for x in (m.group(2), m.group(3)))
        self.row, self.col = min(row, self.rows) - 1, min(col, self.cols) - 1

    def on_el(self, _):
        self.cells[self.row][self.col:] = [" "] * (self.cols - self.col)

    def on_ed(self, m):
        first = 0 if b"2" in m.group() else self.row
        for r in range(first, self.rows):
            self.cells[r] = [" "] * self.cols

    def on_region(self, m):
        self.bottom = int(m.group(8)) if m.group(8) else self.rows
        self.row = self.col = 0

    def on_mode(self, m):
        name = m.group()[3:-1].decode()
        (self.modes.add if m.group().endswith(b"h") else
         self.modes.discard)(name)

    def on_nl(self, m):
        if b"\r" in m.group():
            self.col = 0
        if self.row + 1 == self.bottom:
            del self.cells[0]
            self.cells.insert(self.bottom - 1, [" "] * self.cols)
        elif self.row + 1 < self.rows:
            self.row += 1

    def on_text(self, m):
        char = m.group().decode()
        self.cells[self.row][self.col] = char
        if self.col + 1 < self.cols:
            self.col += 1

    def line(self, row):
        return "".join(self.cells[row]).rstrip()
