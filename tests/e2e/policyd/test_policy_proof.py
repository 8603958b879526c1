#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the confined engine behind `icctl policy eval`: the cases of
tests/policy, and random policies and calls against a second, slow
implementation. Arguments: number of calls, seed."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), os.path.join(HERE, "..", "..", "policy")]
import harness as h  # noqa: E402
import randoms  # noqa: E402
import reference  # noqa: E402
import table  # noqa: E402

t = h.Tap()
CALLS = 12000
CALLS_EACH = 400    # with each policy


def got(answer):
    return (answer.get("decision"), answer.get("rule"),
            tuple(sorted(answer.get("escalatedRoles", []))))


def request(row, world):
    """Returns the request's text; numbers stay as written."""
    return '{"serverName":"%s","toolName":"%s","arguments":%s}' % (
        row["server"], row["tool"], world.text(row["args"]))


def cases(world, policyd):
    """Runs each case through the program and through the reference."""
    for name in ("structure", "rules", "paths", "hosts", "lists", "conditions",
                 "withhold", "links"):
        bad, other, n = [], [], 0
        for g in table.groups("cases/%s.txt" % name, world.text):
            policyd.load(g.rules, g.lists)
            requests = [request(r, world) for r in g.rows]
            engine = second(world, g.rules, g.lists)
            for r, q, a in zip(g.rows, requests, policyd.eval(requests)):
                n += 1
                want = (r["verdict"], r["rule"],
                        tuple(sorted(x for x in r["roles"].split(",") if x)))
                if got(a) != want or world.text(r["text"]) not in a["reason"]:
                    bad.append((r["place"], want, a))
                # The reference does not handle numbers that JSON cannot hold
                # exactly.
                d = engine.evaluate(json.loads(q))
                if d.key() != want and not re.search("[0-9]e-", r["args"]):
                    other.append((r["place"], want, d))
        for x in bad + other:
            print("#", *x)
        t.ok(n > 0 and not bad, "%s: %d cases, as the program answers" % (name, n))
        t.ok(not other, "%s: the reference answers the same" % name)


def files(world, policyd):
    """A refused file: the place and the reason are reported."""
    bad, n = [], 0
    names = {"policy": "policy.json", "annotations": "annotations.json",
             "lists": "lists.json"}
    for g in table.groups("cases/files.txt", world.text):
        for r in g.rows:
            policyd.load([], {})
            policyd.put("annotations.json", world.annotations)
            policyd.put(names[r["server"]], world.text(r["args"]))
            done = policyd.run()
            said = done.stderr.decode(errors="replace")
            n += 1
            # Messages name the file, which has another name here.
            text = world.text(r["text"]).split(".json: ")[-1]
            if (done.returncode == 0) != (r["verdict"] == "good") or (
                    r["verdict"] == "bad" and text not in said):
                bad.append((r["place"], r["verdict"], done.returncode, said))
    policyd.put("annotations.json", world.annotations)
    for x in bad:
        print("#", *x)
    t.ok(n > 0 and not bad, "files: %d of them are taken or refused" % n)


def hostile(world, policyd):
    """Hostile lines between good ones: each gets an error or a deny, in order,
    and the good ones are answered as usual."""
    call = '{"serverName":"filesystem","toolName":"%s","arguments":%s}'
    good = (call % ("read", '{"path":"/workspace/a"}')).encode()
    errors = [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"\0", good[:-1], good + b"x",
              good.replace(b"{", b"[" * 70, 1), b'{"serverName":"a","serverName":"b"}',
              b'{"serverName":1,"toolName":"read","arguments":{}}',
              b'{"serverName":"a\\u0000","toolName":"read","arguments":{}}',
              b'{"serverName":"a","toolName":"read","arguments":[]}',
              b'{"toolName":"read"}', good.replace(b"/workspace/a", b"\\ud800"),
              good.replace(b"/workspace/a", b"\xc3("), b"x" * (5 << 20),
              (call % ("read", '{"path":%s"a"%s}' % ("[" * 100, "]" * 100))).encode(),
              (call % ("read", '{"path":1e99999999999999999999,"path":2}')).encode()]
    denied = [call % ("many", '{"paths":[%s]}' % ",".join(['"a"'] * 10001)),
              call % ("many", '{"paths":[%s]}' % ",".join(['"%s"' % ("a/" * 1000)] * 99)),
              call % ("read", '{"path":"%s"}' % ("a" * 300)),
              call % ("read", '{"path":"%s"}' % ("/a" * 4000)),
              call % ("read", '{"path":"\\u0000"}'),
              call % ("x" * 200, "{}"), call % ("\u202e\u200b", "{}"),
              call % ("read", '{"path":%s}' % ('{"a":' * 50 + '"/proc"' + "}" * 50)),
              call % ("read", '{"__proto__":"/etc","path":"~root"}')]
    policyd.load([], {})
    lines, want = [], []
    for line, kind in [(x, "error") for x in errors] + [(x.encode(), "deny") for x in denied]:
        lines += [line, good]
        want += [kind, "allow"]
    r = policyd.run(b"\n".join(lines) + b"\n")
    answers = [json.loads(x) for x in r.stdout.splitlines()]
    kinds = ["error" if "error" in a else a["decision"] for a in answers]
    wrong = [(x[:80], a) for x, a, k, w in zip(lines, answers, kinds, want) if k != w]
    t.ok(len(answers) == len(lines) and not wrong and r.returncode == 0,
         "%d hostile lines: each has its answer" % (len(lines) // 2),
         (len(answers), len(lines), r.returncode, wrong, r.stderr[-500:]))


def second(world, rules, lists):
    w = reference.World(world.sandbox, world.home, world.protect)
    return reference.Engine(w, {"rules": rules}, world.annotations, lists,
                            world.gates, world.trusted)


def differ(world, policyd, rules, q):
    policyd.load(rules, randoms.LISTS)
    return got(policyd.eval([q])[0]) != second(
        world, rules, randoms.LISTS).evaluate(q).key()


def show(world, policyd, rules, q):
    rules, q = randoms.minimise(
        rules, q, lambda r, x: differ(world, policyd, r, x))
    policyd.load(rules, randoms.LISTS)
    print("# policyd: %s\n# reference: %s\n# %s" % (
        policyd.eval([q])[0], second(world, rules, randoms.LISTS).evaluate(q),
        json.dumps(q)))
    for r in rules:
        print("#   ", json.dumps(r))


def compare(world, policyd, calls, seed):
    maker = randoms.Maker(seed, world)
    counts, differences, done = {"allow": 0, "deny": 0, "escalate": 0}, 0, 0
    while done < calls:
        rules = maker.policy()
        requests = [maker.request() for _ in range(min(CALLS_EACH, calls - done))]
        policyd.load(rules, randoms.LISTS)
        engine = second(world, rules, randoms.LISTS)
        names = {r["name"] for r in rules}
        different = []
        for q, a in zip(requests, policyd.eval(requests)):
            done += 1
            if got(a) != engine.evaluate(q).key():
                different.append(q)
            if a["decision"] != "escalate" or a["rule"] in names:
                counts[a["decision"]] += 1
        for q in different[:3 if differences < 6 else 0]:
            show(world, policyd, rules, q)
        differences += len(different)
    t.ok(differences == 0, "%d random calls (seed %d): %d differences" % (
        done, seed, differences))
    share = {k: 100 * v // done for k, v in counts.items()}
    t.ok(share["allow"] >= 20 and share["escalate"] >= 20,
         "of them %(allow)d %% allowed, %(escalate)d %% escalated by a rule, "
         "%(deny)d %% denied" % share)


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261122
    world = table.World()
    policyd = table.Policyd(world, h.program("icctl"))
    cases(world, policyd)
    files(world, policyd)
    hostile(world, policyd)
    compare(world, policyd, calls, seed)


main()
sys.exit(t.done())
