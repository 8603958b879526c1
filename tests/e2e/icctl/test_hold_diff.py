#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A call that would write a file, or change parts of it, is shown with the
difference to the file as it is now."""
import difflib
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
HEAD = "  compared with the file as it is now\n"
OLD = "".join(f"line {i}\n" for i in range(1, 31))


def shown(s, client, path, content, *options):
    """Begins a call, shows it, and denies it. Returns the part about the
    file."""
    return part(s, client, "write_file", {"path": path, "content": content},
                *options)


def part(s, client, tool, arguments, *options):
    waits = client.start_call("filesystem__" + tool, arguments)
    ident = s.held()["id"]
    out = s.icctl("show", ident, *options, check=True).stdout
    s.icctl("deny", ident, check=True)
    waits.wait()
    if HEAD not in out:
        return ""
    return out.split(HEAD)[1].split("  digest ")[0]


def test_changes(s, client, path):
    new = OLD.replace("line 15\n", "line fifteen\nline 15b\n")
    t.equal(shown(s, client, path, new),
            "    line 13:\n      line 13\n      line 14\n    - line 15\n"
            "    + line fifteen\n    + line 15b\n      line 16\n"
            "      line 17\n", "a change, with two lines around it")
    t.equal(shown(s, client, path, OLD), "    it is the same\n",
            "nothing changes")
    t.contains(shown(s, client, path, ""), "    - line 1\n",
               "everything goes")
    new = OLD.replace("line 2\n", "two\n").replace("line 29\n", "")
    out = shown(s, client, path, new)
    t.ok("- line 2\n    + two\n" in out and "- line 29\n" in out
         and "line 10\n" not in out and "..." in out,
         "two changes, without all that is between them", out)
    out = shown(s, client, path, OLD + "\x1b[31mred\u202e\n")
    t.contains(out, "+ \\x1b[31mred\\u{202e}\n", "it is harmless to read")
    out = shown(s, client, path, "".join(f"n{i}\n" for i in range(3000)))
    t.contains(out, "more lines\n", "a long one is cut")
    out = shown(s, client, path, "y" * 5000 + "\n")
    t.ok("y" * 200 + " ...\n" in out and "y" * 201 not in out,
         "and so is a long line", out)
    out = shown(s, client, path, "y" * 5000 + "\n", "--full")
    t.contains(out, "+ " + "y" * 5000 + "\n", "unless all is wanted")
    out = shown(s, client, path, "".join(f"n{i}\n" for i in range(36000)))
    t.contains(out, "30 lines from line 1 on become 36000 others\n",
               "a very long one is only counted")


def edited(s, client, path, *edits):
    return part(s, client, "edit_file", {"path": path, "edits": [
        {"oldText": a, "newText": b} for a, b in edits]})


def test_edits(s, client, path):
    h.put(path, OLD)
    t.equal(edited(s, client, path, ("line 15\n", "line fifteen\n"),
                   ("fifteen\n", "fifteen!\n")),
            "    line 13:\n      line 13\n      line 14\n    - line 15\n"
            "    + line fifteen!\n      line 16\n      line 17\n",
            "edits, one after the other")
    t.equal(edited(s, client, path, ("line 1\n", "line 1\n")),
            "    it stays the same\n", "an edit that changes nothing")
    t.equal(edited(s, client, path, ("line 1\n", "x\n"), ("line  2", "y")),
            "    the old text of edit 2 is not there\n",
            "a text that is not there")
    t.equal(edited(s, client, path, ("line 1\n", "x" * (300 << 10))),
            "    it becomes too large to be shown here\n", "a large result")
    t.equal(edited(s, client, path, *[("line 1\n", "line 1\n")] * 1001), "",
            "more edits than are compared")
    h.put(path, "")
    t.equal(edited(s, client, path, ("", "first\n")),
            "    line 1:\n    + first\n", "an empty file")
    h.put(path, OLD)


def test_none(s, client, work, path):
    t.equal(shown(s, client, os.path.join(work, "out", "new"), "x\n"), "",
            "a new file is compared with nothing")
    with open(path, "ab") as f:
        f.write(b"\0")
    t.contains(shown(s, client, path, "x\n"),
               "    - \\x00\n    \\ no newline at the end of the file\n",
               "a NUL is shown")
    with open(path, "wb") as f:
        f.write(b"x" * (300 << 10))
    t.equal(shown(s, client, path, "x\n"), "", "a large one neither")


def test_host(s, client, path):
    """The name in the call leads to the file by a link."""
    link = os.path.join(os.path.dirname(path), "link")
    h.put(path, "one\ntwo\n")
    os.symlink(path, link)
    t.equal(shown(s, client, link, "one\n2\n"),
            "    line 1:\n      one\n    - two\n    + 2\n",
            "a file is found where the name leads")


def lines_of(data):
    """Returns the lines of a file with their endings: LF alone ends one."""
    text = data.decode("utf-8", "surrogateescape")
    return [x for x in re.split("(?<=\n)", text) if x]


def changed(before, after):
    """Returns the lines that go and that come."""
    a, b = lines_of(before), lines_of(after)
    gone, new = [], []
    for op, i, k, j, m in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
        if op != "equal":
            gone += a[i:k]
            new += b[j:m]
    return gone, new


def of_show(text):
    """Returns the same from what icctl shows."""
    found = {"-": [], "+": [], " ": []}
    last = None
    for line in text.split("\n"):
        if line.startswith("    \\"):
            found[last][-1] = found[last][-1][:-1]
        elif line[:4] == "    " and line[4:5] in found and line[5:6] == " ":
            last = line[4]
            plain = re.sub(r"\\x(..)", lambda m: bytes([int(m[1], 16)]).decode(
                "utf-8", "surrogateescape"), line[6:])
            plain = re.sub(r"\\u\{(\w+)\}", lambda m: chr(int(m[1], 16)), plain)
            found[last].append(plain + "\n")
    return found["-"], found["+"]


def of_result(text):
    """Returns the same from the diff that the tool answers."""
    found = {"-": [], "+": [], " ": []}
    last = None
    for line in re.split("(?<=\n)", text.split("@@\n", 1)[1]):
        if line.startswith("\\"):
            found[last][-1] = found[last][-1][:-1]
        elif line[:1] in found:
            last = line[0]
            found[last].append(line[1:])
    return found["-"], found["+"]


def test_agree(s, client, path):
    """Show, the result and the file say the same, whatever the line endings
    are, and lines that are not edited keep their bytes."""
    mixed = b"one\r\ntwo OLD\r\nthree\nfour\r\n"
    for name, data, old, new, want in (
            ("mixed", mixed, "OLD", "NEW", mixed.replace(b"OLD", b"NEW")),
            ("mixed, lines", mixed, "two OLD\nthree\n", "two OLD\nx\nthree\n",
             mixed.replace(b"three", b"x\r\nthree")),
            ("mixed, all lines", mixed, "one\ntwo OLD\nthree\nfour\n",
             "one\ntwo\nthree\n4\n", b"one\r\ntwo\r\nthree\n4\r\n"),
            ("CR LF", b"a\r\nb\r\nc\r\n", "b", "b\nB", b"a\r\nb\r\nB\r\nc\r\n"),
            ("CR", b"a\rOLD\rc", "OLD", "NEW", b"a\rNEW\rc"),
            ("LF", b"a\nOLD\nc\n", "OLD\n", "", b"a\nc\n"),
            ("no newline at the end", b"a\r\nb\nOLD", "OLD", "NEW", b"a\r\nb\nNEW"),
            ("a newline at the end comes", b"a\nb", "b", "b\n", b"a\nb\n"),
            ("a newline at the end goes", b"a\nb\n", "b\n", "b", b"a\nb"),
            ("BOM", b"\xef\xbb\xbfa\r\nOLD\n", "OLD", "NEW", b"\xef\xbb\xbfa\r\nNEW\n"),
            ("Latin-1", b"caf\xe9 OLD\r\nb\n", "OLD", "NEW", b"caf\xe9 NEW\r\nb\n"),
            ("NUL", b"a\0\r\nOLD\0\nb\n", "OLD", "NEW", b"a\0\r\nNEW\0\nb\n"),
            ("only white space differs", b"  a  \r\nOLD\nb\n", "a\n OLD", "a\nNEW",
             b"  a\r\nNEW\nb\n"),
            ("written", mixed, None, "one\r\ntwo\nfour", b"one\r\ntwo\nfour"),
            ("written with LF", mixed, None, "one\ntwo OLD\nthree\nfour\n",
             mixed.replace(b"\r", b"")),
            ("written without the last newline", b"a\nb\n", None, "a\nb", b"a\nb")):
        with open(path, "wb") as f:
            f.write(data)
        tool, arguments = ("edit_file", {"path": path, "edits": [
            {"oldText": old, "newText": new}]}) if old is not None else (
                "write_file", {"path": path, "content": new})
        waits = client.start_call("filesystem__" + tool, arguments)
        ident = s.held()["id"]
        out = s.icctl("show", "--full", ident, check=True).stdout
        s.icctl("approve", ident, check=True)
        answer = h.text_of(waits.wait())
        with open(path, "rb") as f:
            is_now = f.read()
        t.equal(is_now, want, f"{name}: the file")
        t.equal(of_show(out.split(HEAD)[-1].split("  digest ")[0]),
                changed(data, want), f"{name}: what was shown")
        if old is not None:
            gone, new = changed(data, want)
            t.equal(of_result(answer), tuple([
                re.sub("[\udc80-\udcff]", "\ufffd", x) for x in y]
                for y in (gone, new)), f"{name}: the result")


def main():
    with h.workdir() as work:
        path = h.put(os.path.join(work, "out", "notes"), OLD)
        with h.Session(work, {"filesystem": {
                "command": "icfs", "args": ["/workspace"]}}, [
                    h.rule("ask", "escalate", "It is outside.",
                           server=["filesystem"])],
                {"filesystem": {"write_file": {
                    "path": ["write-path"], "content": ["none"]},
                    "edit_file": {"path": ["write-path", "read-path"],
                                  "edits": ["none"]}}}) as s:
            client = s.client()
            test_changes(s, client, path)
            test_edits(s, client, path)
            test_none(s, client, work, path)
            test_host(s, client, path)
            test_agree(s, client, path)
    t.done()


main()
