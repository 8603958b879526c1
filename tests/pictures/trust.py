# SPDX-License-Identifier: ISC
"""The trust diagram: each worker that may exist, and each pair of them that may
talk, from the golden copy of supervisor/core/topology.c.  Only places and
words are written here; a worker without a place is an error."""
from xml.sax.saxutils import escape

WIDE, HIGH, W, H = 190, 96, 150, 52
# role: (column, row, its own words)
PLACES = {
    "mcp-proxyd": (1, 1, "the agent's tool calls"),
    "policyd": (2, 1, "the rules"),
    "auditd": (3, 2, "the log; releases"),
    "mcp-backd": (4, 1, "a server's answers"),
    "mitmd": (1, 3, "the agent's HTTPS"),
    "keyd": (4, 3, "the real key"),
    "dialerd": (5, 3, "connects"),
    "egressd": (5, 1, "a server's connections"),
    "tunneld": (5, 4, "the company's proxy"),
    "followd": (4, 4, "files of a forge"),
    "approver": (2, 3, "asks a model to approve"),
    "acpd": (2, 4, "an editor's agent"),
    "portd": (2, 2, "published ports"),
    "termd": (1, 2, "the agent's screen"),
    "gated": (1, 4, "the gate of containers"),
}
OUTSIDE = [  # (column, row, words, role it meets, colour)
    (0, 1, "agent: MCP", "mcp-proxyd"), (0, 3, "agent: HTTPS", "mitmd"),
    (0, 2, "agent: terminal", "termd"), (0, 4, "agent: TCP", "gated"),
    (4, 0, "MCP servers", "mcp-backd"), (5, 0, "servers' network", "egressd"),
    (6, 3, "internet", "dialerd"), (3, 4, "your editor", "acpd"),
]
SECRETS = ("keyd", "tunneld")
CSS = """text{font:13px sans-serif;text-anchor:middle;fill:#1b1f24}
.s{font-size:11px;fill:#57606a}.w{fill:#eef4fb;stroke:#4a7fb5}
.k{fill:#fdf3d7;stroke:#b8860b}.o{fill:#fbeaea;stroke:#b04a4a}
.l{stroke:#57606a;fill:none}.x{stroke:#b04a4a;fill:none;stroke-dasharray:4 3}
.b{fill:#fff}"""


def topology(path):
    """Returns {role: program} and [(role, role)] of the golden copy."""
    workers, pairs = {}, []
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["worker"]:
                workers[words[1]] = words[2]
            elif words[:1] == ["channel"]:
                pairs.append((words[1], words[2]))
    return workers, pairs


def middle(column, row):
    return column * WIDE + 95, row * HIGH + 75


def line(a, b, kind):
    """Returns a line, bent if it would run along a row or a column of
    others."""
    (x1, y1), (x2, y2) = middle(*a), middle(*b)
    far = max(abs(a[0] - b[0]), abs(a[1] - b[1]))
    straight = a[0] == b[0] or a[1] == b[1] or (
        abs(a[0] - b[0]) == abs(a[1] - b[1]))
    bend = 35 * far if straight and far > 1 else 0
    if a[0] == b[0]:
        way = f"Q{x1 + bend * 2} {(y1 + y2) / 2:.0f}"
    else:
        way = f"Q{(x1 + x2) / 2:.0f} {(y1 + y2) / 2 - bend:.0f}"
    return f'<path class="{kind}" d="M{x1} {y1}{way} {x2} {y2}"/>'


def box(at, kind, name, words):
    x, y = middle(*at)
    return (f'<rect class="{kind}" x="{x - W / 2:.0f}" y="{y - H / 2:.0f}" '
            f'width="{W}" height="{H}" rx="6"/>'
            f'<text x="{x}" y="{y - 3}">{escape(name)}</text>'
            f'<text class="s" x="{x}" y="{y + 14}">{escape(words)}</text>')


def picture(path):
    workers, pairs = topology(path)
    lost = set(workers) ^ set(PLACES)
    if lost:
        raise SystemExit("tests/pictures/trust.py: the topology and its places "
                         f"differ in {', '.join(sorted(lost))}")
    wide, tall = WIDE * 7, HIGH * 5 + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" '
           f'height="{tall}" viewBox="0 0 {wide} {tall}"><title>Processes that '
           f"may talk</title><style>{CSS}</style>"
           '<rect class="b" width="100%" height="100%" rx="8"/>'
           f'<text x="{wide / 2:.0f}" y="22">Red: outside. Blue: confined '
           "processes. Yellow: confined, holds one secret. A line: the only "
           "pairs that have a channel.</text>"]
    out += [line(PLACES[a][:2], PLACES[b][:2], "l") for a, b in pairs]
    out += [line((c, r), PLACES[role][:2], "x") for c, r, _, role in OUTSIDE]
    out += [box(PLACES[role][:2], "k" if role in SECRETS else "w", program,
                PLACES[role][2]) for role, program in workers.items()]
    out += [box((c, r), "o", words,
                "yours" if role == "acpd" else "not trusted")
            for c, r, words, role in OUTSIDE]
    return "\n".join(out) + "</svg>\n"
