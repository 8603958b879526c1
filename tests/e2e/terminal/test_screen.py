#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests an agent with the full screen, in a real session, on a terminal that
tmux draws: the agent's terminal, the person's view, and the state of the
terminal afterwards, however the session ends."""
import os
import shlex
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from asks import AGENT  # noqa: E402
from started import Place, family, named  # noqa: E402
from tmux import PROGRAM, PROMPT, Tmux  # noqa: E402

t = h.Tap()


# A full screen as agents use it: alternate screen, mouse, own key bindings.
PAINTED = r"""
import os, signal, sys, tty
def put(text):
    os.write(1, text.encode())
def size(*_):
    c, r = os.get_terminal_size(0)
    put(f"\033[5;3Hsize {r} {c} \033[K")
put("\033[?1049h\033[?1002h\033[?1006h\033[?1h\033=\033[?25l"
    "\033[2J\033[3;3Hpainted\033]0;evil title\007\007")
tty.setraw(0)
signal.signal(signal.SIGWINCH, size)
size()
while True:
    key = os.read(0, 1)
    put(f"\033[7;3Hkey {key!r} \033[K")
    if key == b"q":
        sys.exit(3)
    if key == b"k" or stops and key == b"\x1a":
        os.kill(0, signal.SIGTSTP)
        put(f"\033[8;3Hback {key!r} \033[K")
"""
# One that stops itself at ^Z as a full-screen program does, or at k.
STOPS = PAINTED.replace("import os, signal, sys, tty",
                        "import os, signal, sys, tty\nstops = True")
PAINTED = PAINTED.replace("import os, signal, sys, tty",
                          "import os, signal, sys, tty\nstops = False")


class Rig(Place):
    """A session on a shell's terminal."""

    def __init__(self, work, config=None):
        super().__init__(work, config)
        self.tmux = Tmux(work, self.env)
        self.before = (self.tmux.stty(), self.tmux.modes())

    def start(self, text):
        self.tmux.run(shlex.join(self.argv(self.script(text))))

    def paint(self, program=PAINTED, before=""):
        h.put(os.path.join(self.project, "painted.py"), program)
        self.tmux.run(before + shlex.join(self.argv(
            "/usr/bin/python3", "/workspace/painted.py")))

    def restored(self, name):
        """Checks that the shell's terminal was restored."""
        self.tmux.until(PROMPT)
        h.wait_for(lambda: self.tmux.stty() == self.before[0] or None,
                   "the terminal's settings")
        t.equal(self.tmux.modes(), self.before[1], name)


def entry(r):
    """The agent's terminal is termd's, whatever the person's is."""
    r.start('echo "<$TERM $COLORTERM $(tput colors)>"; read x')
    lines = r.tmux.until("256>")
    t.contains(lines, "<xterm-256color truecolor 256>",
               "the agent has the terminal that termd draws")
    r.tmux.keys("Enter")
    r.restored("an end: no mode is left")


def painted(r):
    r.paint()
    lines = r.tmux.until("size 23 80")
    t.ok("painted" in lines[2] and lines[23].startswith(" ironcurtain "),
         "the agent has every line but the last", lines)
    t.equal(r.tmux.ask("alternate_on"), "1", "on the other screen")
    t.ok("evil" not in r.tmux.ask("pane_title").replace(
        "ironcurtain: the agent says: evil title", ""),
         "its title stands behind our word", r.tmux.ask("pane_title"))


def keys(r):
    """^Z belongs to the agent; the prefix and z stop the viewer alone."""
    painted(r)
    r.tmux.keys("C-z")
    r.tmux.until(r"key b'\x1a'")
    t.ok(True, "^Z is a key of the agent's")
    r.tmux.keys("C-]", "z")
    r.restored("stopped: the shell has its terminal")
    r.tmux.run("fg")
    r.tmux.until("size 23 80")
    t.ok(True, "in front again the screen is drawn again")
    r.tmux.resize(30, 100)
    lines = r.tmux.until("size 29 100")
    t.ok(lines[29].startswith(" ironcurtain "), "it follows the window", lines)
    # After many changes of size, the last one counts.
    for i in range(40):
        r.tmux.resize(20 + i % 7, 60 + i % 31)
    r.tmux.resize(24, 80)
    lines = r.tmux.until("size 23 80")
    t.ok(lines[23].startswith(" ironcurtain ") and "painted" in lines[2],
         "T11: after a storm of sizes the screen is right", lines)
    r.tmux.text("q")
    r.restored("its end: no mode is left")
    r.tmux.run("echo status $?")
    r.tmux.until("status 3")


def stops(r):
    """At ^Z an agent stops itself: its viewer stops, too, and fg brings both
    back. An agent that stops unasked, or while the person types on, is
    continued and takes nobody to the shell."""
    r.paint(STOPS)
    r.tmux.until("size 23 80")
    for _ in range(3):
        r.tmux.keys("C-z")
        r.restored("^Z: the shell has its terminal")
        t.ok(any("Stopped" in x for x in r.tmux.screen()),
             "and a job that is stopped", r.tmux.screen())
        r.tmux.run("clear; fg")
        r.tmux.until(r"back b'\x1a'")
        r.tmux.text("x")
        r.tmux.until("key b'x'")
        t.ok(True, "fg: the agent goes on, and is shown")
    r.tmux.text("k")
    r.tmux.until("back b'k'")
    t.equal(r.tmux.ask("alternate_on"), "1", "unasked: nobody is suspended")
    r.tmux.text("k\x1ay")
    r.tmux.until("key b'y'")
    t.equal(r.tmux.ask("alternate_on"), "1", "^Z and more: nor here")
    # Another terminal takes the keyboard of one that is suspended.
    r.tmux.keys("C-z")
    r.restored("^Z: suspended")
    other = Tmux(os.path.join(r.work, "other"), r.env)
    try:
        other.run(shlex.join([h.program("icctl"), "attach"]))
        other.until(r"back b'\x1a'")
        other.text("z")
        other.until("key b'z'")
        t.ok(True, "attached from another terminal: the agent goes on")
        other.text("q")
        other.until("audit.jsonl")
    finally:
        other.end()
    r.tmux.run("fg; echo over $((1 + 1))")
    r.tmux.until("over 2")
    # No shell is there to continue anything.
    r.tmux.run("clear")
    r.paint(STOPS, "exec ")
    r.tmux.until("size 23 80")
    r.tmux.keys("C-z")
    r.tmux.until(r"back b'\x1a'")
    r.tmux.keys("C-]", "z")
    r.tmux.text("x")
    r.tmux.until("key b'x'")
    t.ok(True, "without job control neither ^Z nor the prefix and z freezes")
    r.tmux.text("q")


EDITORS = {"vim": (["vim", "-u", "NONE", "-N", "some.txt"], "first line",
                   [":q!", "Enter"]),
           "less": (["less", "some.txt"], "first line", ["q"]),
           "sh": (["sh", "-c", "less some.txt"], "first line", ["q"]),
           "bash": (["bash", "-ic", "set -m; less some.txt; exit 0"],
                    "first line", ["q"])}


def editors(r):
    """Real full-screen programs."""
    h.put(os.path.join(r.project, "some.txt"), "first line\n")
    for name, (argv, text, leave) in EDITORS.items():
        if shutil.which(argv[0]) is None:
            t.skip(name, f"no {argv[0]}: apt-get install {argv[0]}")
            continue
        r.tmux.run("clear; " + shlex.join(r.argv(*argv)))
        r.tmux.until(text)
        r.tmux.keys("C-z")
        if name != "bash":
            r.restored(f"{name}: ^Z suspends")
            r.tmux.run("clear; fg")
            r.tmux.until(text)
            t.ok(True, f"{name}: fg brings it back")
        r.tmux.keys(*leave)
        r.restored(f"{name}: its end")


def ends(r):
    """However the session ends, the shell's terminal is restored."""
    for how in ("stop", "mitmd", "viewer", "supervisor"):
        painted(r)
        pids = family(named(r.tmux.pid(), "icctl"))
        if how == "stop":
            t.equal(r.icctl("stop").returncode, 0, "icctl stop")
        elif how == "mitmd":
            os.kill(named(pids["supervisor"], "mitmd"), signal.SIGKILL)
        else:
            os.kill(pids[how], signal.SIGKILL)
        r.restored(f"{how}: no mode is left")
        h.wait_for(lambda p=pids: not h.alive(p["supervisor"]),
                   "the session's end")
        r.tmux.run("clear")
        r.tmux.gone("painted")


def attached(r):
    """A second viewer attaches and detaches; the session continues."""
    painted(r)
    other = Tmux(os.path.join(r.work, "other"), r.env)
    try:
        before = (other.stty(), other.modes())
        other.run(shlex.join([h.program("icctl"), "attach"]))
        other.until("painted")
        other.text("x")
        r.tmux.until("key b'x'")
        t.ok(True, "T12: attached from another terminal: its keys reach the "
             "agent, and both see it")
        other.keys("C-]", "d")
        lines = other.until("detached")
        t.ok(any(x.startswith("icctl: detached") for x in lines) and
             not any(x.startswith(" ironcurtain ") for x in lines),
             "detached: nothing of our line stays", lines)
        h.wait_for(lambda: other.stty() == before[0] or None, "settings")
        t.equal(other.modes(), before[1], "detached: no mode is left there")
        r.tmux.keys("C-]", "t")
        r.tmux.text("y")
        r.tmux.until("key b'y'")
        t.ok(True, "and the first one goes on")
        other.run("setpriv --no-new-privs " +
                  shlex.join([h.program("icctl"), "attach"]))
        other.until("no_new_privs")
        t.ok(True, "T12: under no_new_privs attaching is refused")
        other.run(shlex.join([
            "bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            "--die-with-parent", "--unshare-all", h.program("icctl"),
            "attach"]))
        other.until("pid namespace of its own")
        t.ok(True, "T12: and from a sandbox")
        other.run("clear; " + shlex.join([h.program("icctl"), "attach"]))
        other.until("painted")
        other.text("q")
        said = " ".join(other.until("audit.jsonl"))
        t.ok("has ended; log: " in said,
             "the end of the session is told where it is attached", said)
    finally:
        other.end()
    r.restored("the end")


def messages(r):
    """The session's messages are on the screen until the agent draws, and
    behind a key."""
    r.tmux.run(shlex.join(x for x in r.argv(r.script(
        "read -s x; echo drawn; read y; echo \"<$x$y>\"; read z"))
        if x != "--quiet"))
    lines = r.tmux.until("Ctrl-] a, or")
    t.ok(lines[0].startswith(" ironcurtain: session ") and "policy default" in
         " ".join(lines), "before the agent draws, its rows have them", lines)
    r.tmux.keys("Enter")
    lines = r.tmux.until("drawn")
    t.ok(not any("policy" in x for x in lines) and
         lines[23].endswith(" Ctrl-] for commands"),
         "then they make room for it", lines)
    r.tmux.keys("C-]", "m")
    lines = r.tmux.until("any key: back")
    t.ok("policy default" in " ".join(lines) and "drawn" not in lines,
         "Ctrl-] m shows them again", lines)
    r.tmux.text("n")
    lines = r.tmux.until("drawn")
    t.ok(not any("policy" in x for x in lines), "until a key is typed", lines)
    r.tmux.text("y")
    r.tmux.keys("Enter")
    r.tmux.until("<y>")
    t.ok(True, "which the agent does not get")
    r.tmux.keys("Enter")
    r.restored("the end")


def pending(r):
    """A pending call is counted in the last line, and answered by a key."""
    secret = h.put(os.path.join(r.user, "secret"), "the secret\n")
    h.put(os.path.join(r.project, "asks.py"), AGENT, 0o755)
    r.tmux.run(shlex.join(r.argv("/workspace/asks.py", secret, secret)))
    lines = r.tmux.until("1 PENDING CALL: Ctrl-] a")
    t.ok(lines[23].startswith(" ironcurtain "), "the last line counts it",
         lines[23])
    t.equal(r.tmux.ask("pane_title"), "ironcurtain: 1 pending call",
            "the title says so")
    # These keys go to the agent: none of them answers the call.
    ident = r.icctl("pending").stdout.split()[0]
    r.tmux.text("a" + ident[0])
    r.tmux.keys("C-]", "a")
    r.tmux.text("a" + ident[0])
    r.tmux.until(f"{ident}: [a]pprove")
    lines = "\n".join(r.tmux.screen())
    t.ok(secret in lines and "asking for" not in lines,
         "the panel has the screen to itself", lines)
    t.contains(r.icctl("pending").stdout, ident,
               "T7: keys typed around its opening are no answer")
    answer(r.tmux, ident, "a")
    r.tmux.until("got the secret")
    t.ok(True, "a and its letter: the agent goes on, on its screen")
    r.tmux.until("1 PENDING CALL: Ctrl-] a")
    ident = r.icctl("pending").stdout.split()[0]
    r.tmux.keys("C-]", "a")
    r.tmux.until(f"{ident}: [a]pprove")
    r.tmux.keys("C-c")
    r.tmux.until("1 PENDING CALL")
    t.contains(r.icctl("pending").stdout, ident,
               "^C closes the panel, and neither call nor session ends")
    t.equal(r.icctl("deny", ident).returncode, 0, "it is answered elsewhere")
    r.restored("the end: no mode is left")
    t.ok(any("got ESCALATION DENIED" in x for x in r.tmux.screen()),
         "the agent's last lines stay", r.tmux.screen())


EMOJI = ["1\ufe0f\u20e3", "\u2764\ufe0f", "\U0001f970", "\U0001f7e2",
         "\U0001f9d1\u200d\U0001f91d\u200d\U0001f9d1",
         "\U0001f469\u200d\U0001f469\u200d\U0001f467"]


def emoji(r):
    """Emoji in place of other text: whole, and nothing of the text is left,
    however many columns this terminal gives them."""
    paint = "".join(f"printf '\\033[{n + 3};3Hbegin %s end\\033[K' '{{}}'\n"
                    for n in range(len(EMOJI)))
    r.start("stty raw -echo\nprintf '\\033[?1049h\\033[2J'\n" +
            paint.format(*["ooooo"] * len(EMOJI)) + "head -c1 >/dev/null\n" +
            paint.format(*EMOJI) + "printf '\\033[20;1Hpainted'\n"
            "head -c1 >/dev/null\n")
    r.tmux.until("ooooo end")
    r.tmux.text("x")
    r.tmux.until("painted")
    lines = r.tmux.screen()
    for n, e in enumerate(EMOJI):
        line = lines[n + 2]
        t.ok(line.strip() in (f"begin {e} end", f"begin {e}  end"),
             f"an emoji of {len(e)} characters stands alone", line)
    r.tmux.text("x")
    r.tmux.until(PROMPT)


def answer(tmux, ident, key):
    """Types both keys. The first counts once the call was shown for a
    second."""
    time.sleep(1.1)
    tmux.text(key)
    tmux.until(f"press {ident[0]} to")
    tmux.text(ident[0])


def main():
    if PROGRAM is None:
        t.skip("screen", "tmux is not here: apt-get install tmux")
        t.done()
    for part in (entry, keys, stops, editors, ends, attached, messages, pending,
                 emoji):
        with h.workdir() as work, t.case(part.__name__):
            r = Rig(work)
            try:
                part(r)
            finally:
                r.tmux.end()
    t.done()


if __name__ == "__main__":
    main()
