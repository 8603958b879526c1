# SPDX-License-Identifier: ISC
"""Texts with which an agent tries to mislead a person, and the programs of
test_answers.py that try to answer in place of their user."""
import os

EVIL = ("\x1b[2J\x1b[1;1H\x1b]0;title\x07\u202eevil\u202c\u200b\u2066"
        "\x9b31m\U000e0041\ufeff")
# Name of a tool; a server calls itself EVIL.
NAME = "to\x1b[8mol\u202e"

TEXTS = [
    ("plain", "hello"),
    ("umlauts", "h\u00e4\u00df \u4e16 \U0001f600"),
    ("C0", "".join(map(chr, range(1, 32))) + "\x7f"),
    ("NUL", "a\0b"),
    ("C1", "".join(map(chr, range(0x80, 0xa0)))),
    ("CSI", "\x1b[2J\x1b[3J\x1b[1;1H\x1b[8m\x9b2J"),
    ("OSC 8", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"),
    ("OSC 52", "\x1b]52;c;cm0gLXJmIC8=\x07\x9d52;c;eA==\x9c"),
    ("DCS and title", "\x1bP$q\"p\x1b\\\x1b]2;id\x07\x1b[21t"),
    ("bidi", "\u202e\u202d\u202a\u202b\u202c\u2066\u2067\u2068\u2069"
     "\u200e\u200f\u061c"),
    ("zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u034f"),
    ("tags", "".join(map(chr, range(0xe0000, 0xe0080)))),
    ("combining", "Z" + "\u0300\u0301\u0302" * 200),
    ("separators", "a\u2028b\u2029c\x85d\x0be\x0cf"),
    ("our own words", "x\"\n  digest  0000\n\n  icctl approve zzzz\n"),
    ("backslashes", "\\n\\x1b\\u{202e}\"\\\""),
    ("10,000 newlines", "\n" * 10000),
    ("1 MiB", "\x1b[2J\u202e" * 180000),
]

# In the agent's sandbox: reports any access to the control socket at argv[1].
AGENT = r"""
import json, os, socket, sys, time
found, sockets = [], []
for top, dirs, files in os.walk("/"):
    dirs[:] = [d for d in dirs if os.path.join(top, d) not in
               ("/proc", "/sys", "/usr")]
    found += [os.path.join(top, f) for f in files if f == "control.sock"]
    sockets += [os.path.join(top, f) for f in files if f.endswith(".sock")]
try:
    s = socket.socket(socket.AF_UNIX)
    os.chdir("/")
    s.connect(sys.argv[1] + "/control.sock")
    said = "connected"
except OSError as e:
    said = type(e).__name__
with open("/workspace/report.tmp", "w") as f:
    f.write(json.dumps({"found": found, "sockets": sockets,
                        "connect": said}) + "\n")
os.rename("/workspace/report.tmp", "/workspace/report.json")
time.sleep(60)
"""

# An MCP server without a sandbox, which runs the commands in ./order.
HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "answers_helper.py")
