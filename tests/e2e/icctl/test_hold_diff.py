#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A call that would write a file, or change parts of it, is shown with the
difference to the file as it is now."""
import os
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
            "    the old text of edit 2 is not there as it stands in the "
            "call\n", "a text that is not there")
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
    t.equal(shown(s, client, path, "x\n"), "", "a binary file is not shown")
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
    t.done()


main()
