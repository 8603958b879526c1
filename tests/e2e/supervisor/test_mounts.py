#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Tests the mounts that a policy's `allow` rules add to a server's view, and
the parts that earlier rules keep out, as seen by the real icfs in its
sandbox."""
import errno
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
FS = {"filesystem": {"command": "icfs", "args": ["/workspace"]}}
TOOLS = {"filesystem": {
    "read_text_file": {"path": ["read-path"]},
    "list_directory": {"path": ["read-path"]},
    "directory_tree": {"path": ["read-path"]},
    "list_allowed_directories": {},
    "write_file": {"path": ["write-path"], "content": ["none"]}}}


def within(name, then, path, *roles, **conditions):
    return h.rule(name, then, roles=list(roles), server=["filesystem"],
                  paths={"roles": list(roles), "within": path}, **conditions)


def call(m, tool, **arguments):
    return h.outcome(m.call("filesystem__" + tool, arguments))


def seen(pid, path):
    """Returns the file as the process sees it, as if its program were
    hostile; or the error that it would get."""
    try:
        with open(f"/proc/{pid}/root{path}", encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        return e.errno


def blocked(s, m, work):
    """An error that reads like the kernel's is marked, with what the server's
    view has, and with no path of its own configuration."""
    bad, text = h.outcome(m.call("probe__fail", {"text": "EACCES: /x"}))
    t.ok(bad and text.startswith("[SANDBOX BLOCKED] "), "it is marked", text)
    hint = m.call("probe__fail", {"text": "EPERM"})["content"][1]["text"]
    for part in ("server probe runs in a sandbox", "/workspace",
                 os.path.join(work, "user", "docs", "kept") + " (read-only)",
                 "2 other places", "no network", "A retry"):
        t.contains(hint, part, f"the hint says {part}")
    t.ok("standins" not in hint and "echo.log" not in hint,
         "and no path that only the server knows", hint)
    bad, text = h.outcome(m.call("probe__fail", {"text": "no luck"}))
    t.ok(bad and "SANDBOX" not in text, "another error stays as it is", text)
    marks = h.wait_for(
        lambda: (lambda found: found if len(found) == 3 else None)(
            [r.get("blocked") for r in s.events("result")
             if r["serverName"] == "probe"]), "three results in the log")
    t.equal(marks, [True, True, None], "the log has the mark")


def main(work):
    user = os.path.join(work, "user")
    docs, out = os.path.join(user, "docs"), os.path.join(user, "out")
    for path, words in ((f"{docs}/a", "letter"), (f"{docs}/private/key", "no"),
                        (f"{docs}/kept/b", "kept"), (f"{out}/c", "c"),
                        (f"{docs}/letter", "not shown"),
                        (f"{user}/other/d", "other"),
                        (f"{user}/single", "first")):
        h.put(path, words)
    os.symlink("private/key", f"{docs}/link")
    os.symlink(out, f"{user}/linked")
    rules = [
        within("ask-private", "escalate", "~/docs/private", "read-path"),
        within("no-letter", "deny", "~/docs/letter", "read-path"),
        within("no-change", "deny", "~/out/fixed", "write-path"),
        within("docs", "allow", "~/docs", "read-path"),
        within("out", "allow", "~/out", "read-path", "write-path"),
        within("gone", "allow", "~/nowhere", "read-path"),
        within("linked", "allow", "~/linked", "read-path"),
        within("home", "allow", "~/", "read-path"),
        within("file", "allow", "~/single", "read-path"),
        h.rule("names", "allow", server=["filesystem"],
               tool=["list_allowed_directories"]),
        h.rule("probe-docs", "allow", roles=["read-path"], server=["probe"],
               paths={"roles": ["read-path"], "within": "~/docs/kept"}),
        h.rule("probe", "allow", server=["probe"], tool=["fail"])]
    h.put(f"{out}/fixed/e", "fixed")
    servers = {**FS, "probe": h.echo_server(f"{work}/probe/echo.log")}
    tools = {**TOOLS, "probe": h.ECHO_TOOLS}
    with h.Session(work, servers, rules, tools) as s:
        m = s.client()
        t.equal(call(m, "read_text_file", path=f"{docs}/a"),
                (False, "letter"), "a directory of an allow rule is served")
        t.equal(call(m, "read_text_file", path="~/docs/kept/b"),
                (False, "kept"), "by its short name, too")
        t.ok(docs in call(m, "list_allowed_directories")[1],
             "icfs names it among its directories")
        t.equal(call(m, "write_file", path=f"{out}/new", content="x")[0],
                False, "a rule that allows writing: it is written")
        t.equal(open(f"{out}/new", encoding="utf-8").read(), "x",
                "on the host")
        t.equal(call(m, "write_file", path=f"{docs}/new", content="x")[0],
                True, "a rule that allows reading only: it is not")
        t.equal(os.path.exists(f"{docs}/new"), False, "nor on the host")
        t.equal(call(m, "write_file", path=f"{out}/fixed/e",
                     content="x")[0], True, "a part that may not change")
        t.equal(call(m, "read_text_file", path=f"{out}/fixed/e"),
                (False, "fixed"), "can be read")
        t.equal(call(m, "read_text_file", path=f"{user}/single"),
                (False, "first"), "a file of an allow rule is served")
        h.put(f"{user}/new", "second")
        os.rename(f"{user}/new", f"{user}/single")
        t.equal(call(m, "read_text_file", path=f"{user}/single"),
                (False, "second"), "also once it was replaced")
        listing = call(m, "list_directory", path=docs)[1]
        t.contains(listing, "private", "the private part's name is there")
        tree = json.loads(call(m, "directory_tree", path=docs)[1])
        t.equal([x.get("error") for x in tree if x["name"] in ("kept", "private")],
                [None, "EACCES: permission denied"],
                "a tree above it says that it may not be read")
        views = []
        for pid in os.listdir("/proc"):
            if not pid.isdigit():
                continue
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                if words[0].endswith(b"icfs") and docs.encode() in words:
                    views.append(pid)
            except OSError:
                continue
        t.equal(len(views), 1, "one icfs has it on its command line")
        for path, want in (("docs/a", "letter"), ("docs/private", errno.EACCES),
                           ("docs/private/key", errno.ENOENT),
                           ("docs/letter", errno.EACCES),
                           ("docs/link", errno.ENOENT)):
            t.equal(seen(views[0], f"{user}/{path}"), want,
                    f"{path} in its view: {want}")
        log = s.session_log() + s.process.stderr()
        for name, why in (("gone", "No such file"), ("linked", "contains a symbolic link"),
                          ("home", "refused")):
            t.ok(any(f"rule {name}:" in line and why in line
                     for line in log.splitlines()),
                 f"rule {name} has no mount and says why", log)
        blocked(s, m, work)
        m.close()


with h.workdir() as w:
    main(w)
t.done()
