#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent exchanges a directory with a link, and a file with a link, as fast
as it can while it reads, writes, moves, lists and searches there, through icfs
and through the reference filesystem server, under the shipped default policy
and a rule that asks about everything.  Nothing outside is read or changed; the
same server without a view does read and change there.

usage: test_swap.py [CALLS]: 4,000 by default, half through each server; the
full count is ./dev swap.  The reference server is looked for in IC_AGENTS."""
import ctypes
import hashlib
import json
import multiprocessing
import os
import re
import secrets
import shutil
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SHARE = os.path.join(h.PREFIX, "share", "ironcurtain", "policies")
REFERENCE = os.path.join(
    os.environ.get("IC_AGENTS", ""), "node_modules",
    "@modelcontextprotocol/server-filesystem/dist/index.js")
CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
DIRS, MOVED, WINDOW = 400, 4, 24
TOKEN = secrets.token_hex(8)
INSIDE, OUTSIDE = "inside", "OUTSIDE-" + TOKEN
EXCHANGE = 2


def exchange(pairs, count, stop):
    """The agent: changes the meaning of names, without a pause."""
    libc = ctypes.CDLL(None, use_errno=True)
    pairs = [tuple(ctypes.c_char_p(p.encode()) for p in pair)
             for pair in pairs]
    done = 0
    while not stop.value:
        for a, b in pairs:
            if libc.renameat2(-100, a, -100, b, EXCHANGE) != 0:
                raise OSError(ctypes.get_errno(), "renameat2")
        done += len(pairs)
        count.value = done


class Exchanger:
    def __init__(self, *pairs):
        self.stop = multiprocessing.Value("b", 0, lock=False)
        self.count = multiprocessing.Value("Q", 0, lock=False)
        self.process = multiprocessing.Process(
            target=exchange, args=(pairs, self.count, self.stop), daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.stop.value = 1
        self.process.join()


def fill(top, text, extra=None):
    for d in range(DIRS):
        os.makedirs(os.path.join(top, f"s{d}"))
        for name in ("f", *(f"m{k}" for k in range(MOVED)),
                     *([extra] if extra else [])):
            with open(os.path.join(top, f"s{d}", name), "w",
                      encoding="ascii") as f:
                f.write(text + "\n")


def snapshot(top):
    """Returns everything in the directory: names, kinds, contents, times."""
    found = {}
    for where, dirs, names in os.walk(top):
        for name in dirs + names:
            path = os.path.join(where, name)
            st = os.lstat(path)
            data = b""
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    data = f.read()
            found[path] = (st.st_mode, st.st_mtime_ns, st.st_ino,
                           hashlib.sha256(data).hexdigest())
    return found


def calls(n):
    """Calls the available tools in turn, none of them twenty times a minute.
    """
    for i in range(n):
        d = f"/workspace/d/s{i // 12 % DIRS}"
        k = i // 12 % MOVED
        yield (
            ("read_text_file", {"path": d + "/f", "head": 1 + i}),
            ("write_file", {"path": d + "/f", "content": f"{INSIDE} {i}\n"}),
            ("move_file", {"source": f"{d}/m{k}", "destination":
                           f"{d}/n{i}"}),
            ("list_directory", {"path": d}),
            ("search_files", {"path": d, "pattern": "*",
                              "excludePatterns": [f"x{i}"]}),
            ("read_text_file", {"path": "/workspace/leaf", "head": 1 + i}),
            ("write_file", {"path": "/workspace/leaf",
                            "content": f"{INSIDE} {i}\n"}),
            ("create_directory", {"path": f"{d}/made{i}"}),
            ("read_multiple_files", {"paths": [f"{d}/m{MOVED - 1 - k}",
                                               f"{d}/absent{i}"]}),
            ("list_directory_with_sizes", {"path": d}),
            ("directory_tree", {"path": d, "excludePatterns": [f"x{i}"]}),
            ("edit_file", {"path": d + "/f", "edits": [
                {"oldText": INSIDE if i % 24 < 12 else "OUTSIDE-",
                 "newText": INSIDE}], "dryRun": False}),
        )[i % 12]


KINDS = tuple((re.compile(p), kind) for p, kind in (
    ("^ESCALATION REQUIRED", "asked"), ("^DENIED", "denied"),
    ("^CIRCUIT", "breaker")))


class Race:
    """A session, a workspace in which names change their meaning, and an
    outside directory."""

    def __init__(self, work, entry, sandboxed):
        self.outside = os.path.join(work, "outside")
        s = self.session = h.Session(
            work, {"filesystem": entry}, options=["--escalations", "deny"] +
            ([] if sandboxed else ["--allow-unsandboxed", "filesystem"]))
        fill(os.path.join(s.workspace, "d"), INSIDE)
        fill(self.outside, OUTSIDE, "only-" + OUTSIDE)
        os.symlink(self.outside, os.path.join(s.workspace, "l"))
        for path, text in ((os.path.join(s.workspace, "leaf"), INSIDE),
                           (os.path.join(self.outside, "leaf"), OUTSIDE)):
            with open(path, "w", encoding="ascii") as f:
                f.write(text + "\n")
        os.symlink(os.path.join(self.outside, "leaf"),
                   os.path.join(s.workspace, "leaflink"))
        self.policy()
        self.seen = {}
        self.leaked = []

    def policy(self):
        own = os.path.join(self.session.home, "policy")
        os.makedirs(own)
        for name in ("tool-annotations.json", "dynamic-lists.json"):
            shutil.copy(os.path.join(SHARE, name), own)
        with open(os.path.join(SHARE, "compiled-policy.json"),
                  encoding="utf-8") as f:
            policy = json.load(f)
        policy["rules"].append(h.rule("ask-about-everything", "escalate"))
        with open(os.path.join(own, "compiled-policy.json"), "w",
                  encoding="utf-8") as f:
            json.dump(policy, f)

    def take(self, tool, result):
        text = json.dumps(result)
        if TOKEN in text:
            self.leaked.append((tool, text[:200]))
        said = h.text_of(result)
        kind = next((k for p, k in KINDS if p.search(said)),
                    "failed" if result.get("isError") else "done")
        self.seen[kind] = self.seen.get(kind, 0) + 1

    def run(self, n, until=None):
        s = self.session
        pair = [[os.path.join(s.workspace, x) for x in names]
                for names in (("d", "l"), ("leaf", "leaflink"))]
        before = snapshot(self.outside)
        with s, Exchanger(*pair) as agent:
            m = s.mcp()
            m.initialize()
            names = {x["name"] for x in m.list_tools()}
            open_calls = []
            begin = time.monotonic()
            for tool, args in calls(n):
                if "filesystem__" + tool not in names:
                    raise AssertionError(f"no tool {tool}")
                open_calls.append(
                    (tool, m.start_call("filesystem__" + tool, args)))
                if len(open_calls) >= WINDOW:
                    name, call = open_calls.pop(0)
                    self.take(name, call.wait())
                if until and sum(self.seen.values()) % 500 == 499 and \
                        until(self):
                    break
            for name, call in open_calls:
                self.take(name, call.wait())
            self.seconds = time.monotonic() - begin
            self.exchanges = agent.count.value
            m.close()
        after = snapshot(self.outside)
        self.changed = sorted(
            k for k in before.keys() | after.keys()
            if before.get(k) != after.get(k))
        return self


def proven(race):
    """Returns whether the outside was both read and changed."""
    return race.leaked and any(
        "made" in name or name.startswith("n")
        for d in range(DIRS)
        for name in os.listdir(os.path.join(race.outside, f"s{d}")))


def report(name, race):
    print(f"# {name}: {sum(race.seen.values())} calls in "
          f"{race.seconds:.0f} s, {race.exchanges} exchanges; "
          f"{race.seen}; read outside {len(race.leaked)}, "
          f"changed outside {len(race.changed)}", flush=True)


def with_view(name, entry, work):
    n = CALLS // 2
    race = Race(work, entry, True).run(n)
    report(name, race)
    t.equal(sum(race.seen.values()), n, f"{name}: {n} calls, each answered")
    t.equal((race.leaked, race.changed), ([], []),
            f"{name}: nothing outside was read or changed")
    t.ok(race.seen.get("done", 0) > n // 50 and
         race.seen.get("asked", 0) > n // 50,
         f"{name}: (calls met the directory and the link)", race.seen)
    t.ok(race.exchanges > n, f"{name}: (several exchanges a call)",
         race.exchanges)
    t.ok(race.seen.get("breaker", 0) < n // 10,
         f"{name}: (calls were not merely refused as repeated)", race.seen)


def test_icfs(work):
    with_view("icfs", {"command": "icfs", "args": ["/workspace"]}, work)


def have_reference():
    if os.path.exists(REFERENCE) and shutil.which("node"):
        return True
    t.skip("reference server", "not here: IC_AGENTS, ./dev test agents")
    return False


def test_reference(work):
    if have_reference():
        with_view("reference server", {
            "command": "node", "args": [REFERENCE, "/workspace"]}, work)


def test_baseline(work):
    """The same calls, policy and server, but the server sees the host."""
    if not have_reference():
        return
    # Arguments of a server without a sandbox may not lead into the workspace,
    # so that a script of the user's names the directories.
    words = ["node", REFERENCE, os.path.join(work, "workspace"),
             os.path.join(work, "session")]
    script = h.put(os.path.join(work, "tool", "host.mjs"),
                   f"process.argv = {json.dumps(words)};\n"
                   f"await import({json.dumps(REFERENCE)});\n")
    race = Race(work, {"command": "node", "sandbox": False,
                       "args": [script]}, False)
    race.run(max(CALLS, 20000), proven)
    report("without a view", race)
    t.ok(race.leaked, "without a view: outside is read", race.seen)
    t.ok(race.changed, "without a view: outside is changed", race.seen)


def main():
    for case in (test_icfs, test_reference, test_baseline):
        with h.workdir() as work, t.case(case.__name__):
            case(work)
    t.done()


if __name__ == "__main__":
    main()
