#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl send --schema: an answer that fits, one that is repaired, and one that
is not; schemas that cannot be used."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import Talk  # noqa: E402

t = h.Tap()
# Says what the message says, by the line that begins with the turn's number.
AGENT = r"""#!/bin/sh
m=$(cat)
printf '%s\n' "$m" >>~/asked
case $m in
good*) echo '{"n": 1, "s": "\u00e4\u202e"}' ;;
fence*) printf 'Here it is:\n```json\n{"n": 2}\n```\nBye\n' ;;
wrong*) echo '{"n": "three"}' ;;
text*) echo 'I cannot do that' ;;
Your*) case $(head -n 1 ~/asked) in
	*repair*) echo '{"n": 3}' ;;
	*) echo '{"n": null}' ;;
	esac ;;
end*) exit 3 ;;
esac
"""
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}},
          "required": ["n"]}


def sent(k, message, schema, *options):
    r = k.icctl("send", *options, "--schema", schema, message)
    return r.returncode, r.stdout, r.stderr


def turns(k):
    return [e["message"] for e in k.kept() if e["event"] == "turn_start"]


def test_all(work, first):
    path = os.path.join(work, "workspace", "agent.sh")
    h.put(path, AGENT, 0o755)
    os.chmod(os.path.dirname(path), 0o700)
    schema = h.put(os.path.join(work, "schema.json"), json.dumps(SCHEMA))
    with Talk(work, "--", "/workspace/agent.sh") as k:
        k.send(first)
        return (good if "repair" in first else bad)(k, work, schema)


def good(k, work, schema):
    r = sent(k, "good", schema)
    t.equal(r, (0, '{"n":1,"s":"\\u00e4\\u202e"}\n', ""),
            "an answer that fits is printed, and nothing else")
    t.ok(json.dumps(SCHEMA) in turns(k)[-1], "the agent was given the schema",
         turns(k)[-1])
    t.equal(sent(k, "fence", schema)[:2], (0, '{"n":2}\n'),
            "so is the last block of a longer one")
    status, out, err = sent(k, "wrong", schema)
    t.ok((status, out) == (0, '{"n":3}\n') and "at /n: must be of type "
         "integer" in err, "one that does not fit is repaired", (out, err))
    t.ok("/n" in turns(k)[-1] and '"three"' in turns(k)[-1],
         "the agent was told the place and what was there", turns(k)[-1])
    status, out, _ = sent(k, "good", schema, "--json")
    lines = [json.loads(x) for x in out.splitlines()]
    t.ok(status == 0 and lines[-2]["event"] == "turn_end" and
         lines[-1]["answer"]["n"] == 1, "--json has events, and the answer",
         lines[-1])
    before = len(turns(k))
    for name, text, why in (
            ("no file", None, "No such file"),
            ("no JSON", "{\n\n\"a\" 1}", "line 3: "),
            ("an unknown keyword", '{"patterns": "a"}', "at /patterns: "),
            ("a pattern that is none", '{"pattern": "("}', "at /pattern: "),
            ("an unknown type", '{"items": {"type": "int"}}',
             "at /items/type: "),
            ("too large", '{"title": "' + "x" * 70000 + '"}', "64 KiB"),
            ("empty", "", "is empty")):
        bad_path = os.path.join(work, "bad.json")
        if text is not None:
            h.put(bad_path, text)
        r = sent(k, "good", bad_path)
        t.ok(r[0] == 1 and why in r[2], f"a schema: {name}", r)
        r = sent(k, "good", bad_path, "--json")
        said = json.loads(r[1])
        t.ok(said["code"] == "bad-request" and why in said["error"],
             f"a schema: {name}, with --json", r)
    t.equal(len(turns(k)), before, "nothing was sent")


def bad(k, _work, schema):
    status, out, err = sent(k, "wrong", schema)
    t.ok((status, out) == (1, "") and "at /n: must be of type integer, is "
         in err and "says: null" in err,
         "an answer that is not repaired fails, with path and excerpt", err)
    t.equal(len(turns(k)), 3, "the agent was asked once to repair it")
    status, out, err = sent(k, "text", schema, "--json")
    last = json.loads(out.splitlines()[-1])
    t.ok(status == 1 and not last["ok"] and last["path"] == "/n" and
         last["code"] == "SCHEMA_MISMATCH" and last["excerpt"] == "null",
         "and with --json as members", last)
    status, out, err = sent(k, "end", schema)
    t.ok(status == 1 and "ended with status 3" in err and out == "",
         "a turn that fails is not repeated", (out, err))


def main():
    if not shutil.which("bwrap"):
        t.skip("schemas", "bubblewrap is not installed")
        t.done()
    for first in ("do repair", "never"):
        with h.workdir() as work, t.case(first):
            test_all(work, first)
    t.done()


if __name__ == "__main__":
    main()
