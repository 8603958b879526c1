#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The agent's model: chosen by --model, a persona or config.json, passed as the
agent's file says, in session.json, and used again by resume; and the arguments
that every mode of the agent gets."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import lives  # noqa: E402
from lives import Life  # noqa: E402
from test_resume import texts  # noqa: E402

t = h.Tap()
lives.ADAPTER = {
    "name": "parrot", "program": ["parrot"], "providers": [],
    "interactive": ["--screen"], "turn": ["--new"], "resume": ["--again"],
    "prompt": ["--tell", "{orientation}"], "model": ["--model=x/{model}"],
    "home": {"told.json": {"text": "{orientation}"}}}


def used(k, message):
    """Returns the agent's arguments in a turn."""
    return texts(k.send(message)).split("before:")[0]


def recorded(k):
    with open(k.path("session.json"), encoding="utf-8") as f:
        return json.load(f).get("model")


def test_given(work):
    with Life(work, "--model", "m-1:a@b") as k:
        args = used(k, "one")
        t.ok("args: --new --tell You are in a sandbox of IronCurtain." in args
             and args.rstrip().endswith("--model=x/m-1:a@b"),
             "the first turn gets the prompt and the model", args)
        t.ok("args: --again --tell" in (args := used(k, "two")) and
             args.rstrip().endswith("--model=x/m-1:a@b"), "and the next one",
             args)
        with open(k.path("home/told.json"), encoding="utf-8") as f:
            t.ok("\nLimits:" in json.load(f)["text"],
                 "values in JSON are escaped")
        t.equal(recorded(k), "m-1:a@b", "session.json names it")
        k.stop()
        t.equal(k.resume().returncode, 0, "resumed")
        t.ok("--model=x/m-1:a@b" in used(k, "three"), "with the same model")


def test_chosen(work):
    with Life(work, config={}) as k:
        t.ok("--model" not in used(k, "one"), "none is chosen by default")
        t.equal(recorded(k), None, "nor recorded")
        k.stop()
        k.icctl("persona", "new", "p", "--agent", "parrot", "--model", "m-2")
        k.take(k.icctl("start", "--detach", "--json", "--persona", "p",
                       "--workspace", k.workspace))
        t.ok("--model=x/m-2" in used(k, "two"), "a persona's")
        k.stop()
        k.take(k.icctl("start", "--detach", "--json", "--persona", "p",
                       "--model", "m-3", "--workspace", k.workspace))
        t.ok("--model=x/m-3" in used(k, "three"), "an option comes before it")
        k.stop()
        config = {**k.s.config, "agent": {"parrot": {
            "path": os.path.join(work, "bin", "parrot"), "model": "m-4"}}}
        k.s.write("config.json", config)
        k.take(k.icctl("start", "--detach", "--json", "--agent", "parrot",
                       "--workspace", k.workspace))
        t.ok("--model=x/m-4" in used(k, "four"), "that of config.json")
        k.stop()
        for change, options, why in (
                ({}, ("--model", "-x"), "cannot be a model's name"),
                ({}, ("--model", "a b"), "cannot be a model's name"),
                ({"model": None}, ("--model", "m"), "parrot.json has no "
                 "\"model\", the arguments with which"),
                ({"env": {"M": "{model}"}}, (), "which model? Give --model"),
                ({"args": ["x"]}, (), "interactive: is another name of"),
                ({"prompt": ["x"] * 60, "turn": ["y"] * 9}, (),
                 "more than 64 arguments"),
                ({"prompts": []}, (), "prompts: unknown key (did you mean "
                 "prompt?)"),
                ({"state": ["../x"]}, (), "must be a path below the agent"),
                ({"unasked": ["localhost"]}, (), "must be a public host"),
                ({"unasked": ["A.example.com"]}, (), "in lower case"),
                ({"unasked": ["a.example.com b c"]}, (), "the program's name"),
                ({"state": [".cache/x"]}, (), "which is always emptied"),
                ({"state": ["a/b"], "caches": ["a"]}, (),
                 "state.a/b: is in a of \"caches\""),
                ({"prompt": "x"}, (), "prompt: must be")):
            adapter = {**lives.ADAPTER, **change}
            k.s.write("agents/parrot.json", {
                key: v for key, v in adapter.items() if v is not None})
            if "env" not in change:
                config["agent"]["parrot"].pop("model", None)
            k.s.write("config.json", config)
            r = k.icctl("start", "--detach", "--agent", "parrot",
                        "--workspace", k.workspace, *options)
            t.ok(r.returncode != 0 and why in r.stderr, f"refused: {why}",
                 r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("model_choice", "bubblewrap is not installed")
        t.done()
    for test in (test_given, test_chosen):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
