#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Measures ratios within one run. Every round runs every target, in
alternating order; results are medians of the rounds. Processor time is the sum
of all processes of IronCurtain (haproxy has one).

The session has the shipped policy, audit on and every confinement in force; no
two tool calls are the same, and each model request has a key to be swapped.
The comparison, as far as installed, is haproxy, nginx, squid and mitmproxy
with two TLS legs and the header swap, without log or checks; for tool calls it
is the same ring of processes that only pass messages on.

A missed target is reported but is no failure; a measurement that fails is.
README.md beside this file describes the method."""
import argparse
import importlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

import boxes
import longlog
import publish
from proxies import PROXIES
from report import Report
from rig import Failed, Rig

GROUPS = ("start", "boxes", "resume", "mcp", "model", "body", "connect", "sse",
          "bulk", "memory", "policy")
# Groups by their name only: modules of their own.
ALONE = ("felt", "remote", "services", "undo")
# Measured before or after the rounds, with samples of their own.
ONCE = ("start", "boxes", "resume", "memory", "policy")
UNCHECKED = 300  # seconds for the first start behind a log of 1 GiB


class Bench:
    def __init__(self, rig, opts):
        self.rig, self.opts = rig, opts
        self.values = {}        # (group, metric, target) -> values
        self.failures = []
        self.notes = []
        self.memories = {}      # target -> result of memory.py
        self.proxies = ["ironcurtain"]
        for name, proxy in reversed(PROXIES.items()):
            if proxy.program() is None:
                self.notes.append(f"SKIP {name}: it is not installed "
                                  f"(package {proxy.package})")
            elif not opts.only or name in opts.only:
                self.proxies.insert(0, name)

    def add(self, group, target, result, **names):
        """Adds results; names maps the bench's metrics to the program's."""
        for metric, name in names.items():
            self.values.setdefault((group, metric, target), []).append(
                result[name])

    def attempt(self, group, target, fn):
        try:
            fn()
        except (Failed, OSError, RuntimeError, ValueError, TimeoutError,
                subprocess.SubprocessError) as e:
            why = self.rig.has_ended(within=2) or str(e)
            self.failures.append((group, target, " ".join(why.split())))

    # ---- one round ---------------------------------------------------------
    def mcp(self, target):
        for n in (1, 8, 64):
            r = self.rig.mcp(target, n)
            self.add(f"mcp{n}", target, r, p50="p50_us", p99="p99_us",
                     rate="rate", cpu="cpu_us")
            if n == 1:
                continue
            r = self.rig.mcp(target, n, each=True)
            self.add(f"each{n}", target, r, p50="p50_us", rate="rate",
                     cpu="cpu_us")

    def model(self, target):
        for n in (1, 16):
            r = self.rig.model(target, "--conns", str(n), *self.rig.timing())
            self.add(f"model{n}", target, r, p50="p50_us", p99="p99_us",
                     rate="rate", cpu="cpu_us", client="client_cpu_us")

    def body(self, target):
        for n in (1, 16):
            r = self.rig.model(target, "--conns", str(n), "--body", "200000",
                               *self.rig.timing())
            self.add(f"body{n}", target, r, p50="p50_us", rate="rate",
                     cpu="cpu_us")

    def connect(self, target):
        """With a full handshake each, and with a session that is resumed."""
        for name, n, options in (("connect1", 1, ()), ("connect4", 4, ()),
                                 ("resumed4", 4, ("--resume",))):
            r = self.rig.model(target, "--mode", "new", "--conns", str(n),
                               *options, *self.rig.timing())
            self.add(name, target, r, p50="p50_us", rate="rate",
                     cpu="cpu_us")

    def sse(self, target):
        r = self.rig.model(target, "--mode", "sse", "--count",
                           str(self.opts.events), "--every-us", "1000")
        self.add("sse", target, r, p50="p50_us", p99="p99_us",
                 first="first_us", cpu="cpu_us")

    def bulk(self, target):
        r = self.rig.model(target, "--mode", "bulk", "--count",
                           str(self.opts.bulk << 20))
        self.add("bulk", target, r, rate="mb_s", cpu="ns_byte")

    def targets(self, group):
        if group == "mcp":
            return ["direct", "hops", "ironcurtain"]
        return ["direct", *self.proxies]

    def run(self, groups):
        if not set(groups).isdisjoint(("start", "boxes", "resume")):
            self.attempt("start", "ironcurtain", self.first)
        for group in ("start", "boxes", "resume"):
            if group in groups:
                self.attempt(group, "ironcurtain", getattr(self, group))
        for n in range(self.opts.rounds):
            for group in groups:
                if group in ONCE:
                    continue
                targets = self.targets(group)
                for target in targets[::-1] if n % 2 else targets:
                    self.attempt(group, target,
                                 lambda: getattr(self, group)(target))
            print(f"round {n + 1} of {self.opts.rounds}", file=sys.stderr)
        if "memory" in groups:
            for target in self.proxies:
                self.attempt("memory", target, lambda: self.memory(target))
        if "policy" in groups:
            self.attempt("policy", "ironcurtain", self.policy)

    # ---- measured once -----------------------------------------------------
    @staticmethod
    def took(fn):
        begin = time.monotonic()
        fn()
        return {"ms": (time.monotonic() - begin) * 1e3}

    @staticmethod
    def quiet(seconds=3):
        """Waits for a moment in which nothing else runs. Returns whether it
        came."""
        def idle():
            with open("/proc/stat", encoding="ascii") as f:
                times = [int(t) for t in f.readline().split()[1:9]]
            return times[3] + times[4], sum(times)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = idle()
            time.sleep(.1)
            after = idle()
            if after[0] - before[0] >= .9 * (after[1] - before[1]):
                return True
        return False

    def first(self):
        """Starts the first session of a home, which notes what it needs of the
        machine. The homes of the later ones get its notes."""
        s = self.rig.new_session(servers=3)
        shutil.rmtree(os.path.join(s.home, "system"), ignore_errors=True)
        try:
            self.add("start", "first", self.took(s.start), ms="ms")
        finally:
            s.stop()
        self.rig.keep_machine(s)

    def start(self):
        """Starts sessions with three servers, and as often the smallest
        sandbox: what the kernel and bubblewrap take at least."""
        bwrap = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev",
                 "/dev", "--proc", "/proc", "true"]
        quiet = 0
        for _ in range(self.opts.starts):
            quiet += self.quiet()
            self.add("start", "bwrap", self.took(lambda: subprocess.run(
                bwrap, check=True, stdout=subprocess.DEVNULL)), ms="ms")
            s = self.rig.new_session(servers=3)
            try:
                self.add("start", "ironcurtain", self.took(s.start), ms="ms")
            finally:
                s.stop()
        if quiet < self.opts.starts:
            self.notes.append(f"start: other processes ran during "
                              f"{self.opts.starts - quiet} of "
                              f"{self.opts.starts} samples")

    def boxes(self):
        """Starts an agent that does nothing in each runtime that works here,
        up to its first instruction, and to the end of the session."""
        for runtime in boxes.runtimes(self.opts.image):
            for _ in range(self.opts.starts):
                s = self.rig.new_session(
                    runtime=runtime, env=boxes.environment(),
                    options=boxes.options(runtime, self.opts.image))
                self.add("boxes", runtime, boxes.once(s), ready="ready",
                         agent="agent", end="end")

    def resume(self):
        """Continues a session whose log is long, and one whose log is not."""
        sessions = {"empty": self.rig.lone_session(),
                    "long": self.rig.lone_session()}
        for s in sessions.values():
            s.start().stop()
        longlog.extend(os.path.join(sessions["long"].dir, "audit.jsonl"),
                       self.opts.log << 20)
        # The first start behind records without a checkpoint checks them all.
        os.remove(os.path.join(sessions["long"].dir, "audit.checkpoint"))
        s = sessions["long"]
        # That takes longer the longer the log, up to tens of seconds.
        self.add("resume", "unchecked",
                 self.took(lambda: s.start(timeout=UNCHECKED)), ms="ms")
        s.stop()
        for _ in range(self.opts.starts):
            for name, s in sessions.items():
                try:
                    self.add("resume", name, self.took(s.start), ms="ms")
                finally:
                    s.stop()

    def memory(self, target):
        """Measures in a user namespace, where reading shared memory is
        allowed."""
        argv = [sys.executable, os.path.join(os.path.dirname(
            os.path.abspath(__file__)), "memory.py"), "--prefix",
            self.opts.prefix, "--build", self.opts.build, "--work",
            os.path.join(self.rig.work, "memory-" + target), "--streams",
            str(self.opts.streams), "--target", target]
        inside = ["unshare", "--user", "--map-current-user", "--keep-caps"]
        for way in ([], ) if os.getuid() == 0 else (inside, []):
            r = subprocess.run([*way, *argv], capture_output=True, text=True,
                               timeout=240, check=False)
            if r.returncode == 0:
                self.memories[target] = json.loads(r.stdout)
                return
        raise Failed(r.stderr.strip()[-600:])

    def policy(self):
        """Measures decisions alone, with policyd's engine in a separate
        program."""
        workspace = os.path.join(self.rig.work, "policy", "workspace")
        secret = os.path.join(self.rig.work, "policy", "secret")
        os.makedirs(workspace)
        os.makedirs(secret)
        self.rig.make_files(workspace)
        r = subprocess.run([self.rig.tool("bench_policy"), os.path.join(
            self.opts.prefix, "share", "ironcurtain", "policies"), workspace,
            secret], capture_output=True, text=True, timeout=180, check=False)
        if r.returncode != 0:
            raise Failed(r.stderr.strip())
        # Too deep for the usual cleanup.
        subprocess.run(["rm", "-rf", os.path.join(workspace, "deep")],
                       check=True)
        result = json.loads(r.stdout)
        direct = self.rig.mcp("direct", 1)["p50_us"]
        for row in result["rules"]:
            s = self.rig.rules_session(row["rules"])
            try:
                row["added_us"] = self.rig.mcp(s, 1)["p50_us"] - direct
            finally:
                s.stop()
        self.policy_result = result

    policy_result = None

    def swapped(self):
        """Checks the provider's own count: it answers only the real key."""
        if self.rig.upstream is None:
            return
        counts = self.rig.upstream.end()
        self.notes.append("the provider answered {accepted} requests with "
                          "the real key, refused {refused}; {connections} "
                          "connections, {resumed} resumed".format(**counts))
        if counts["refused"]:
            self.failures.append(("model", "provider",
                                  "requests came without the real key"))

    def publish(self, report, loads):
        """Writes the table of README.md, after the commands that a developer
        waits for."""
        import felt
        rows = []
        if not self.opts.groups:
            self.attempt("felt", "ironcurtain",
                         lambda: rows.extend(felt.found(self.opts.rounds)))
        loads.append(os.getloadavg()[0])
        publish.write(self.opts.into, publish.rows(rows, report.aims()),
                      report.host(), loads)

    def median(self, group, metric, target):
        found = self.values.get((group, metric, target))
        return statistics.median(found) if found else None

    def ratios(self, group, metric, a, b, less=None):
        """Returns the median of a / b over the rounds, each minus `less`."""
        rows = [self.values.get((group, metric, t), [])
                for t in ([a, b] + ([less] if less else []))]
        found = []
        for row in zip(*rows):
            base = row[2] if less else 0
            if row[1] - base > 0:
                found.append((row[0] - base) / (row[1] - base))
        return statistics.median(found) if found else None


def parse_args():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    a = p.add_argument
    a("groups", nargs="*", metavar="NAME",
      help=" ".join(GROUPS) + " (default: all); or one of " + " ".join(ALONE) + ",\n      by itself")
    a("--prefix", default=os.environ.get("IC_PREFIX", "/usr/local"))
    a("--build", required=True, help="build directory with the load programs")
    a("--kept", metavar="DIR", help="keeps the last figures of each kind of "
      "processor (default: build-bench, beside the build directory)")
    a("--rounds", type=int, default=5)
    a("--quick", action="store_true", help="2 short rounds")
    a("--pin", action=argparse.BooleanOptionalAction,
      default=len(os.sched_getaffinity(0)) == 2,
      help="proxies on processor 0, client and provider on 1 (default where "
      "there are two)")
    a("--json", action="store_true", help="the figures of every round")
    a("--floods", action="store_true",
      help="only how quickly a server answers beside floods of others")
    a("--publish", action="store_true",
      help="the ten rows of README.md, written there with the machine, date, "
      "commit and load")
    a("--into", metavar="FILE", help="instead of README.md")
    a("--start", action="store_true",
      help="only a start, process by process, under strace")
    a("--warm", type=int, default=500, metavar="MS", help="of each load")
    a("--run", type=int, default=1500, metavar="MS")
    a("--events", type=int, default=1000, help="of the event stream")
    a("--bulk", type=int, default=256, metavar="MIB")
    a("--starts", type=int, default=15, help="samples of start and resume")
    a("--image", help="for agents in containers (default: one of this "
      "machine's that has a shell)")
    a("--log", type=int, default=1024, metavar="MIB",
      help="of the session that is resumed")
    a("--streams", type=int, default=1000, help="open at once, for memory")
    a("--only", action="append", metavar="PROXY", choices=list(PROXIES),
      help="besides direct and ours (default: all that are installed)")
    opts = p.parse_args()
    opts.into = opts.into or os.path.join(publish.ROOT, "README.md")
    if opts.publish:
        publish.around(opts.into)
    opts.alone = opts.groups[0] if len(opts.groups) == 1 and \
        opts.groups[0] in ALONE else None
    unknown = [g for g in opts.groups if g not in GROUPS and not opts.alone]
    if unknown:
        p.error(f"no such figures: {' '.join(unknown)}; there are "
                + " ".join(GROUPS))
    if opts.quick:
        opts.rounds, opts.warm, opts.run = 2, 200, 500
        opts.events, opts.bulk, opts.streams = 300, 64, 100
        opts.starts, opts.log = 5, 32
    opts.prefix = os.path.abspath(opts.prefix)
    opts.build = os.path.abspath(opts.build)
    opts.kept = opts.kept or os.path.join(os.path.dirname(opts.build),
                                          "build-bench")
    return opts


def main():
    opts = parse_args()
    os.environ["IC_PREFIX"] = opts.prefix
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))), "lib"))
    from harness import workdir
    if opts.alone:
        importlib.import_module(opts.alone).report(opts.rounds, opts.json)
        return
    if opts.floods:
        import beside
        with workdir() as work:
            beside.report(work, opts.json)
        return
    with workdir() as work, Rig(opts, work) as rig:
        if opts.start:
            import timeline
            timeline.report(rig, opts.json)
            return
        loads = [os.getloadavg()[0]]
        bench = Bench(rig, opts)
        bench.run(opts.groups or (publish.GROUPS if opts.publish else GROUPS))
        bench.attempt("model", "provider", bench.swapped)
        report = Report(bench, opts)
        report.keep()
        if opts.publish:
            bench.publish(report, loads)
        print(report.json() if opts.json else report.text())
    sys.exit(1 if bench.failures else 0)


if __name__ == "__main__":
    main()
