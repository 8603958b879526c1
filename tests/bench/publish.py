# SPDX-License-Identifier: ISC
"""Writes the table of README.md, and its picture, from one run: ten rows, with
the machine, the date, the commit and the load.  Between two marks in the text;
everything else stays."""
import os
import subprocess
import time
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
BEGIN = "<!-- figures: ./dev bench --publish -->"
END = "<!-- end of figures -->"
PICTURE = "tests/pictures/figures.svg"
GROUPS = ("start", "mcp", "model", "connect", "sse", "memory")
# Names of felt.py's and of report.py's rows: what the table says.
FELT = {"build": "a build with make, in a sandbox",
        "git status": "git status in 100,000 files, in a sandbox",
        "npm ci": "npm ci from a local mirror, in a sandbox"}
ROWS = {
    "start to READY, 3 servers": "start of a session with three servers",
    "tools/call, p50, 1 outstanding": "a tool call, median time",
    "calls/s, 8 outstanding, a write per call":
        "tool calls a second, 8 at a time (more is better)",
    "200-byte request, CPU, 16 connections":
        "a request to the provider, processor time",
    "its p50, 1 connection": "a request to the provider, median time",
    "event of a stream, p50": "an event of an answer, median time",
    "a lone session, idle, PSS in MB": "memory of an idle session, MB"}
PEERS = {"hops": "the same chain without checks", "bwrap true": "bwrap true",
         "haproxy": "haproxy"}
QUIET = 0.5     # load; above it, the table says that it means little


def rows(felt, aims):
    """Returns [(what, beside, text of the figure, ratio or None)]."""
    out = [(FELT[x["name"]], "the same outside", f"{x['ratio']:.2f}",
            x["ratio"]) for x in felt if x["name"] in FELT]
    for name, peer, value, *_ in aims:
        if name in ROWS and value is not None:
            ratio = value if peer else None
            out.append((ROWS[name], PEERS.get(peer, peer) or "-",
                        f"{value:.2f}" if peer else f"{value:.1f} MB", ratio))
    return out


def commit():
    r = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT,
                        "describe", "--always", "--dirty", "--abbrev=12"],
                       capture_output=True, text=True, check=False)
    if r.returncode == 0:
        return r.stdout.strip()
    return os.environ.get("IC_COMMIT") or "not known (no git here)"


def text(found, machine, loads, wanted=10):
    lines = [BEGIN, f"Measured on {time.strftime('%Y-%m-%d')}, commit "
             f"{commit()}, in one run: {machine}. The load was {loads[0]:.1f} "
             f"before and {loads[1]:.1f} after the run."]
    if loads[0] > QUIET:
        lines.append("**The machine was not quiet, so these figures mean "
                     "little.**")
    if len(found) < wanted:
        lines.append(f"{wanted - len(found)} of {wanted} rows were not "
                     "measured.")
    lines += ["", "| what | beside | ratio |", "|---|---|---|"]
    lines += [f"| {what} | {peer} | {value} |"
              for what, peer, value, _ in found]
    return "\n".join([*lines, "", f"![The ratios as bars]({PICTURE})", END])


def bars(found):
    """Returns a picture: one bar for each ratio, and a line at 1."""
    shown = [x for x in found if x[3] is not None]
    most = max([x[3] for x in shown] + [1.5])
    left, wide, high = 360, 420, 26
    tall, one = high * len(shown) + 40, left + wide / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" height="{tall}" '
           f'width="{left + wide + 80}" font-family="sans-serif" font-size="13">'
           "<title>Ratios to what stands beside each figure</title>"
           '<rect width="100%" height="100%" rx="8" fill="#fff"/>']
    for i, (what, _, value, ratio) in enumerate(shown):
        y = 20 + i * high
        out.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">'
            f'{escape(what)}</text><rect x="{left}" y="{y}" height="18" '
            f'width="{ratio * wide / most:.0f}" fill="#4a7fb5"/>'
            f'<text x="{left + ratio * wide / most + 6:.0f}" y="{y + 14}">'
            f'{value}</text>')
    out.append(f'<path d="M{one:.0f} 10V{tall - 10}" stroke="#b04a4a" '
               'stroke-dasharray="4 3"/></svg>')
    return "\n".join(out) + "\n"


def around(into):
    """Returns what is before and after the table; ends the program if the file
    has no place for one."""
    try:
        with open(into, encoding="utf-8") as f:
            whole = f.read()
    except OSError as e:
        raise SystemExit(f"{into}: {e.strerror}") from e
    before, mark, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"{into} has no lines {BEGIN!r} and {END!r}, between "
                         "which the table belongs")
    return before, after


def write(into, found, machine, loads):
    before, after = around(into)
    # Before a file changes, which would make the commit another one.
    table = text(found, machine, loads)
    with open(os.path.join(os.path.dirname(into) or ".", PICTURE), "w",
              encoding="utf-8") as f:
        f.write(bars(found))
    with open(into, "w", encoding="utf-8") as f:
        f.write(before + table + after)
    print(f"{into}: {len(found)} rows")
