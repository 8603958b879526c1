#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Rules that deny or ask hold for what lies in their directory as a link; the
person, the digest and the log have the name and the end; no approval that was
given for one name answers for another."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402

t = h.Tap()
BOTH = ["read-path", "write-path"]
TOOLS = {"filesystem": {
    "read_file": {"path": ["read-path"]},
    "write_file": {"path": ["write-path"], "content": ["none"]},
    "list_directory": {"path": ["read-path"]}},
    "git": {"git_set_working_dir": {"path": ["read-path"]},
            "git_commit": {"path": ["write-history"]}}}
SERVERS = {"filesystem": {"command": "icfs", "args": ["/workspace"]}}


def within(name, then, place, roles=None):
    return h.rule(name, then, "because " + name, server=["filesystem", "git"],
                  paths={"roles": roles or BOTH, "within": place})


class Bench:
    """A home whose dotfiles are links, as GNU Stow makes them."""

    def __init__(self, work, rules, **servers):
        self.s = h.Session(work, {**SERVERS, **servers}, rules, TOOLS)
        self.home = os.path.realpath(self.s.user_home)
        for name in ("dot/ssh/id_x", "dot/ssh/id_y", ".ssh/known", "notes/n"):
            h.put(self.at(name), name + "\n")
        for target, name in (("../dot/ssh/id_x", ".ssh/id_x"),
                             ("../dot/ssh/id_y", ".ssh/id_y"),
                             ("../dot/ssh", ".ssh/all"),
                             ("../dot/ssh/new", ".ssh/new"),
                             ("../.ssh/id_x", "notes/chain")):
            os.symlink(target, self.at(name))
        os.symlink(self.at(".ssh/id_x"), os.path.join(self.s.workspace, "l"))

    def at(self, name):
        return os.path.join(self.home, name)

    def __enter__(self):
        self.s.start()
        self.m = self.s.client()
        return self

    def __exit__(self, *_):
        self.m.close()
        self.s.stop()

    def read(self, name, tool="read_file", **more):
        """Returns the text of the answer and the rule of the log."""
        name = name if name.startswith("/") else self.at(name)
        r = self.m.call("filesystem__" + tool, {"path": name, **more})
        return h.text_of(r), self.s.events("call")[-1]["policyDecision"]["rule"]

    def hold(self, name):
        name = name if name.startswith("/") else self.at(name)
        call = self.m.start_call("filesystem__read_file", {"path": name})
        return call, self.s.held()


def denied(work):
    with Bench(work, [within("deny-keys", "deny", "~/.ssh"),
                      within("home", "allow", "~")]) as b:
        for name in (".ssh/id_x", ".ssh/all/id_y", "notes/chain", "/workspace/l",
                     ".ssh/known", "notes/../.ssh/id_x"):
            text, rule = b.read(name)
            t.ok(rule == "deny-keys" and "DENIED" in text,
                 f"{name}: denied", (text, rule))
        for name in (".ssh/new", ".ssh/id_x", ".ssh/all/other"):
            text, rule = b.read(name, "write_file", content="x")
            t.equal((rule, "DENIED" in text), ("deny-keys", True),
                    f"{name}: denied for writing")
        t.ok(not os.path.exists(b.at("dot/ssh/new")), "nothing was written")
        for name in ("dot/ssh/id_x", ".ssh/../dot/ssh/id_y"):
            text, rule = b.read(name)
            t.ok("dot/ssh/id_" in text and rule == "home",
                 f"{name}: allowed by its own name", (text, rule))
        os.symlink(b.at("notes/n"), os.path.join(b.s.home, "link"))
        text, rule = b.read(os.path.join(b.s.home, "link"))
        t.equal((rule, "DENIED" in text), ("structural-protected-path", True),
                "a link in IRONCURTAIN_HOME is protected")
        text, rule = b.read("notes/n")
        t.equal(rule, "home", "where it leads is not")


def git(work):
    """The directory that calls without one work in keeps its name."""
    rules = [within("no-commits", "deny", "~/fixed", ["write-history"]),
             h.rule("rest", "allow", "x", server=["git"])]
    repo = os.path.join(work, "user", "repo")
    os.makedirs(repo)
    b = Bench(work, rules, git=h.echo_server(
        os.path.join(work, "log", "log.jsonl"), "--alias",
        "git_set_working_dir=lookup", "--alias", "git_commit=lookup",
        sandbox={"filesystem": {"allowRead": [repo]}}))
    os.makedirs(b.at("fixed"))
    os.symlink("../repo", b.at("fixed/r"))
    with b:
        b.m.call("git__git_set_working_dir", {"path": b.at("fixed/r")})
        b.m.call("git__git_commit", {})
        decided = [(e["toolName"], e["policyDecision"]["rule"])
                   for e in b.s.events("call")]
        t.equal(decided, [("git_set_working_dir", "rest"),
                          ("git_commit", "no-commits")],
                "a later call is judged by the name of git's directory")


ASKS = [within("ask-dot", "escalate", "~/dot"),
        within("ask-keys", "escalate", "~/.ssh"),
        within("home", "allow", "~")]


def shown(work):
    with Bench(work, ASKS) as b:
        link, end = b.at(".ssh/id_x"), b.at("dot/ssh/id_x")
        call, hold = b.hold("notes/chain")
        want = [{"argument": "path", "links": [b.at("notes/chain"), link],
                 "named": b.at("notes/chain"), "value": end}]
        text = b.s.icctl("show", hold["id"]).stdout
        t.ok(all(f'"{x}"' in text for x in (end, link, b.at("notes/chain"))),
             "show: the end, the name and each link", text)
        t.ok("named ~/notes/chain" in hold["effect"], "the effect", hold["effect"])
        digest = hold["digest"]
        b.s.icctl("approve", hold["id"], check=True)
        t.equal(h.text_of(call.wait()), "dot/ssh/id_x\n", "approved: it is read")
        e = b.s.events("call")[-1]
        t.equal((e["named"], e["arguments"]["path"]), (want, end),
                "the log has the name and the end")
        named = joins.canonical(["filesystem", "read_file", e["arguments"],
                                 e["named"]])
        t.equal(digest, joins.hashlib.sha256(named.encode()).hexdigest(),
                "the digest covers both")
        call, hold = b.hold(end)
        t.ok(hold["digest"] != digest, "by its own name it is another digest")
        b.s.icctl("deny", hold["id"], check=True)
        call.wait()
        t.ok("named" not in b.s.events("call")[-1], "without links: no names")
        # The link is exchanged between show and approval, to the same end.
        call, hold = b.hold(".ssh/id_x")
        os.unlink(link)
        os.symlink(b.at("dot/ssh/id_x2"), link)
        os.symlink(end, b.at("dot/ssh/id_x2"))
        b.s.icctl("approve", hold["id"])
        t.ok("ESCALATION CHANGED" in h.text_of(call.wait()),
             "another way to the same end was not approved")


def grants(work):
    for order, rules in (("", ASKS), (" (other order)", [ASKS[1], ASKS[0], ASKS[2]])):
        with Bench(os.path.join(work, "o" + str(len(order))), rules) as b:
            call, hold = b.hold("dot/ssh/id_x")
            b.s.icctl("approve", hold["id"], "--for-session", check=True)
            call.wait()
            t.equal(b.read("dot/ssh/id_y")[0], "dot/ssh/id_y\n",
                    "a grant for a directory" + order)
            call, hold = b.hold(".ssh/id_x")
            t.ok(hold["rule"] in ("ask-dot", "ask-keys"),
                 "does not answer for a link to it" + order)
            kinds = {(c["kind"], c["value"])
                     for c in hold["forSession"]["constraints"]}
            t.ok(("link", b.at(".ssh/id_x")) in kinds,
                 "which can be granted with its name" + order, kinds)
            text = b.s.icctl("show", hold["id"]).stdout
            t.ok("may be named through the link " + b.at(".ssh/id_x") in text,
                 "and is shown so" + order, text)
            b.s.icctl("approve", hold["id"], "--for-session", check=True)
            call.wait()
            t.equal(b.read(".ssh/id_x")[0], "dot/ssh/id_x\n",
                    "the link by its name" + order)
            call, hold = b.hold(".ssh/id_y")
            t.ok(hold["id"], "another link is asked about" + order)
            b.s.icctl("deny", hold["id"], check=True)
            call.wait()


def always(work):
    for order, rules in (("", ASKS), (" (other order)", [ASKS[1], ASKS[0], ASKS[2]])):
        with Bench(os.path.join(work, "o" + str(len(order))), rules) as b:
            call, hold = b.hold("dot/ssh/id_x")
            b.s.icctl("always", hold["id"], answers="y\n", check=True)
            call.wait()
            text, rule = b.read("dot/ssh/id_x")
            t.ok(rule.startswith("learned"), "a rule for one name" + order, rule)
            call, hold = b.hold(".ssh/id_x")
            t.ok(True, "does not answer for another" + order)
            r = b.s.icctl("always", hold["id"], answers="y\n")
            t.ok(f'"links":["{b.at(".ssh/id_x")}"]' in r.stdout,
                 "which has a rule of its own" + order, r)
            call.wait()
            text, rule = b.read(".ssh/id_x")
            t.ok(rule.startswith("learned"), "that holds" + order, rule)
            call, hold = b.hold("notes/chain")
            t.ok(True, "but not for a third name" + order)
            b.s.icctl("deny", hold["id"], check=True)
            call.wait()
            r = b.s.icctl("policy", "replay", b.s.dir)
            t.ok(f"{len(b.s.events('call'))} calls, " in r.stdout,
                 "replay judges by the names" + order, r)


def main():
    for test in (denied, git, shown, grants, always):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
