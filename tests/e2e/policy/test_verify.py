#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The verifier of icctl policy compile: each of fifty mistakes in rules is found
by policyd, whatever the judge says; a repair mends what failed and nothing else.
A sample of the mistakes; with "all", each."""
import copy
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
SAMPLE = 8
R, W, D = "read-path", "write-path", "delete-path"
RULES = [
    c.rule("filesystem-read-docs", "allow",
           description="Reading within ~/Documents.",
           paths=c.paths("~/Documents", R)),
    c.rule("filesystem-write-notes", "allow",
           description="Writing within ~/Documents/notes.",
           paths=c.paths("~/Documents/notes", R, W)),
    c.rule("filesystem-tidy", "allow",
           description="Everything within ~/Downloads.",
           paths=c.paths("~/Downloads", R, W, D)),
    c.rule("filesystem-ask-photos", "escalate",
           description="Reading within ~/Pictures asks.",
           paths=c.paths("~/Pictures", R)),
    c.rule("filesystem-ask-write", "escalate",
           description="Writing any other file asks.", roles=[W]),
]
SCENARIOS = [("read docs", "read_file", {"path": "~/Documents/a"}, "allow"),
             ("read beside", "read_file", {"path": "~/Documents2/a"}, "deny"),
             ("read home", "read_file", {"path": "~/.bashrc"}, "deny"),
             ("read note", "read_file", {"path": "~/Documents/notes/a"},
              "allow"),
             ("write note", "write_file",
              {"path": "~/Documents/notes/a", "content": "x"}, "allow"),
             ("write doc", "write_file",
              {"path": "~/Documents/a", "content": "x"}, "escalate"),
             ("write tidy", "write_file",
              {"path": "~/Downloads/a", "content": "x"}, "allow"),
             ("move within", "move_file",
              {"source": "~/Downloads/a", "destination": "~/Downloads/b"},
              "allow"),
             ("move out", "move_file",
              {"source": "~/Documents/a", "destination": "~/Downloads/a"},
              "not-allow"),
             ("read photo", "read_file", {"path": "~/Pictures/a"},
              "escalate"),
             ("write photo", "write_file",
              {"path": "~/Pictures/a", "content": "x"}, "escalate"),
             ("read key", "read_file", {"path": "~/.ssh/id"}, "deny"),
             ("list docs", "list_directory", {"path": "~/Documents"}, "allow")]
TESTS = {"scenarios": [c.scenario(*s) for s in SCENARIOS]}
COUNT = len(SCENARIOS) + 2


def mistakes():
    """Yields (name, rules): the good ones with one mistake each."""
    def with_(i, **kw):
        out = copy.deepcopy(RULES)
        for k, v in kw.items():
            if k == "then":
                out[i]["then"] = v
            else:
                out[i]["if"] = {"server": ["filesystem"], k: v}
        return out
    for i, r in enumerate(RULES):
        yield f"without {r['name']}", RULES[:i] + RULES[i + 1:]
        if r["name"] != "filesystem-ask-photos":
            yield f"{r['name']} turned round", with_(
                i, then="allow" if r["then"] == "escalate" else "escalate")
    yield "photos allowed", with_(3, then="allow")
    for i, wheres in ((0, ("~/Document", "~/Documents/notes", "~/Documents2",
                           "~/documents", "/home", "/srv")),
                      (1, ("~/Documents", "~/Documents/note", "~/notes",
                           "~/Documents/notes/a/b", "/home")),
                      (2, ("~/Download", "~/Downloads/x", "/home",
                           "~/Documents", "/tmp")),
                      (3, ("~/Picture", "~/Documents", "~/Pictures/x",
                           "~/Photos"))):
        for where in wheres:
            roles = RULES[i]["if"]["paths"]["roles"]
            yield (f"{RULES[i]['name']} within {where}",
                   with_(i, paths=c.paths(where, *roles)))
    for i, sets in ((0, ((R, W), (W,), (R, W, D), (D,))),
                    (1, ((R,), (D,), (R, D), (R, W, D))),
                    (2, ((R,), (W,), (R, W), (D,), (R, D)))):
        for roles in sets:
            within = RULES[i]["if"]["paths"]["within"]
            if (i, roles) in ((1, (R, W, D)),):
                continue    # no call deletes there, and so none tells
            yield (f"{RULES[i]['name']} for {roles}",
                   with_(i, paths=c.paths(within, *roles)))
    for i, cond in ((0, {"roles": [R]}), (1, {"roles": [W]}),
                    (2, {"roles": [R, W, D]}), (4, {"roles": [R]}),
                    (4, {"tool": ["edit_file"]}), (4, {"roles": [D]}),
                    (0, {"tool": ["read_file"]}), (0, {"tool": ["list_directory"]}),
                    (3, {"tool": ["write_file"]}), (2, {"tool": ["write_file"]})):
        yield f"{RULES[i]['name']} if {cond}", with_(i, **cond)
    yield "asking before writing notes", [RULES[4], *RULES[:4]]
    yield "everything is read", [*RULES, c.rule(
        "filesystem-all", "allow", roles=[R])]
    yield "the keys are read", [*RULES, c.rule(
        "filesystem-all", "allow", paths=c.paths("~/.ssh", R))]
    yield "everything is read first", [c.rule(
        "filesystem-all", "allow", roles=[R]), *RULES]
    yield "nothing is allowed", [RULES[4]]
    yield "no rules", []


def attempt(m, rules, **steps):
    m.script(c.good(rules={"rules": rules}, scenarios=TESTS, count=COUNT,
                    **steps))
    return m.policy("compile", "--yes", "--no-cache")


def test_mistakes(m, everything):
    rows = list(mistakes())
    t.ok(len(rows) >= 50, "there are fifty mistakes", len(rows))
    for name, rules in rows if everything else rows[::SAMPLE]:
        r = attempt(m, rules)
        t.ok(r.returncode == 1 and "not ok filesystem: " in r.stdout and
             m.in_force() is None and m.digest(r) is None,
             f"noticed, and the judge's yes is none: {name}",
             r.stdout + r.stderr)
    # The judge calls every scenario wrong.
    blame = {f"s{i}": {"blame": "scenario"} for i in range(COUNT)}
    r = attempt(m, [*RULES, c.rule("filesystem-all", "allow", roles=[R])],
                judge=c.verdicts(COUNT, **blame))
    t.ok(r.returncode == 1 and "not ok filesystem: read home" in r.stdout,
         "a scenario that was allowed wrongly is not taken back",
         r.stdout + r.stderr)
    r = attempt(m, [RULES[0], *RULES[2:]], judge=c.verdicts(COUNT, **blame))
    t.ok(r.returncode == 1 and m.digest(r) is not None,
         "one that was expected too freely is", r.stdout + r.stderr)


def test_judge(m):
    r = attempt(m, RULES, judge=c.verdicts(COUNT, s5={
        "agrees": False, "blame": "rule", "rule": "filesystem-read-docs",
        "reason": "too free"}))
    t.ok(r.returncode == 1 and "the judge: too free" in r.stdout and
         m.in_force() is None, "the judge finds fault with a rule",
         r.stdout + r.stderr)


def test_repair(m):
    broken = copy.deepcopy(RULES)
    broken[1]["if"]["paths"]["within"] = "~/Documents"
    op = {"op": "update", "name": "filesystem-write-notes", "rule": RULES[1]}
    r = attempt(m, broken, repair={"operations": [op]})
    t.ok("repairing (1 of 2)" in r.stderr and m.digest(r) is not None,
         "a repair mends it", r.stdout + r.stderr)
    rules = m.json("pending", "compiled-policy.json")["rules"]
    t.equal([x["if"] for x in rules], [x["if"] for x in RULES],
            "and the other rules are as they were")
    for name, bad, words in (
            ("another rule", {"op": "delete", "name": "filesystem-tidy"},
             "decided no failed scenario"),
            ("no rule", {"op": "delete", "name": "filesystem-none"},
             "there is no rule"),
            ("another name", {"op": "update", "name":
                              "filesystem-write-notes", "rule": RULES[0]},
             "must stay the same"),
            ("a rule of another server", {"op": "add", "rule": c.rule(
                "git-all", "allow", server="git", roles=[R])},
             "must name this server alone"),
            ("a denial", {"op": "add", "rule": c.rule(
                "filesystem-no", "deny", roles=[R])}, "/operations/0")):
        r = attempt(m, broken, repair={"operations": [bad]})
        t.ok(r.returncode == 1 and words in r.stderr and
             "not repaired: " in r.stderr and m.in_force() is None,
             f"a repair of {name} is refused", r.stdout + r.stderr)
    r = attempt(m, broken)
    t.ok("repairing (2 of 2)" in r.stderr and
         "repairing (3" not in r.stderr, "two repairs at most", r.stderr)
    m.script(c.good(rules={"rules": broken}, scenarios=TESTS, count=COUNT))
    r = m.policy("compile", "--no-cache", "--repairs", "0")
    t.ok("repairing" not in r.stderr and r.returncode == 1, "or none",
         r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("verify", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        m = c.Home(work, [], options=("--reload-script",))
        try:
            test_mistakes(m, sys.argv[1:] == ["all"])
            test_judge(m)
            test_repair(m)
        finally:
            m.end()
    t.done()


main()
