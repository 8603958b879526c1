# SPDX-License-Identifier: ISC
"""The tables at the end of bench.py, and what is aimed at."""
import json
import os

import kept

# group, heading, [(metric, name, digits)]; a + before a metric means added
# latency: the target's minus that of direct.
TABLE = [
    ("mcp1", "tools/call, 1 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0),
        ("cpu", "CPU us a call", 1)]),
    ("mcp8", "tools/call, 8 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0),
        ("cpu", "CPU us a call", 1)]),
    ("mcp64", "tools/call, 64 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0)]),
    ("each8", "8 outstanding, a write per call", [
        ("p50", "p50 us", 1), ("rate", "calls/s", 0),
        ("cpu", "CPU us a call", 1)]),
    ("each64", "64 outstanding, a write per call", [
        ("p50", "p50 us", 1), ("rate", "calls/s", 0)]),
    ("model1", "200-byte request, 1 connection", [
        ("p50", "p50 us", 1), ("+p50", "added p50 us", 1), ("p99", "p99 us", 1), ("rate", "req/s", 0),
        ("cpu", "CPU us a request", 1)]),
    ("model16", "200-byte request, 16 connections", [
        ("p50", "p50 us", 1), ("rate", "req/s", 0),
        ("cpu", "CPU us a request", 1), ("client", "client CPU us", 1)]),
    ("body1", "200-KB request, 1 connection", [
        ("p50", "p50 us", 1), ("cpu", "CPU us a request", 0)]),
    ("body16", "200-KB request, 16 connections", [
        ("rate", "req/s", 0), ("cpu", "CPU us a request", 0)]),
    ("connect1", "a new connection each, 1 at a time", [
        ("p50", "p50 us", 0), ("cpu", "CPU us each", 0)]),
    ("connect4", "a new connection each, 4 at a time", [
        ("rate", "conn/s", 0), ("cpu", "CPU us each", 0)]),
    ("resumed4", "a resumed session each, 4 at a time", [
        ("p50", "p50 us", 0), ("rate", "conn/s", 0),
        ("cpu", "CPU us each", 0)]),
    ("sse", "server-sent events, one a ms", [
        ("p50", "event p50 us", 1), ("+p50", "added p50 us", 1),
        ("p99", "event p99 us", 1), ("first", "connect to first event us", 0),
        ("+first", "added to first event us", 0),
        ("cpu", "CPU us an event", 1)]),
    ("bulk", "one large answer", [
        ("rate", "MB/s", 0), ("cpu", "CPU ns a byte", 2)]),
]


class Report:
    def __init__(self, bench, opts):
        self.b, self.opts = bench, opts

    def quotient(self, a, b):
        """Returns the quotient of two results that have one sample or many."""
        return a / b if a is not None and b else None

    def aims(self):
        """Returns [(name, peer, value or None, must, aim, less is better)]:
        ratios to the peer in the same run, but for memory."""
        med, ratios, us = self.b.median, self.b.ratios, "ironcurtain"

        def to(group, metric, peer):
            return ratios(group, metric, us, peer)
        rows = [
            ("200-byte request, CPU, 16 connections", "haproxy",
             to("model16", "cpu", "haproxy"), 2.0, 1.6, 1),
            ("its p50, 1 connection", "haproxy",
             to("model1", "p50", "haproxy"), 1.5, 1.3, 1),
            ("200-KB request, CPU", "haproxy",
             to("body16", "cpu", "haproxy"), 1.3, 1.15, 1),
            ("new connection, CPU, 4 at a time", "haproxy",
             to("connect4", "cpu", "haproxy"), 1.2, 1.0, 1),
            ("event of a stream, p50", "haproxy",
             to("sse", "p50", "haproxy"), 1.0, .85, 1),
            ("256 MiB, MB/s", "haproxy", to("bulk", "rate", "haproxy"), 1.0,
             1.1, 0),
            ("tools/call, p50, 1 outstanding", "hops",
             to("mcp1", "p50", "hops"), 1.25, 1.1, 1),
            ("calls/s, 8 outstanding, a write per call", "hops",
             to("each8", "rate", "hops"), .75, .95, 0),
            ("calls/s, 64 outstanding, a write per call", "hops",
             to("each64", "rate", "hops"), .6, .8, 0),
            ("start to READY, 3 servers", "bwrap true",
             self.quotient(med("start", "ms", us),
                           med("start", "ms", "bwrap")), 6, 4, 1),
            ("resume with a long log", "an empty one",
             self.quotient(med("resume", "ms", "long"),
                           med("resume", "ms", "empty")), 1.2, 1.05, 1),
        ]
        p = self.b.policy_result
        if p is not None:
            sizes = {c["name"]: c["us"] for c in p["sizes"]}
            rules = {x["rules"]: x["us"] for x in p["rules"]}
            rows += [
                ("a decision over 7 components", "one fstatat",
                 sizes["a path of 7 components"] / sizes["one fstatat of it"],
                 2, 1.5, 1),
                ("a decision, 10,000 rules of other tools", "10 of them",
                 rules[10000] / rules[10], 2, 1.5, 1)]
        m = self.b.memories.get(us)
        if m is not None and m["kind"] == "PSS":
            rows += [
                ("a lone session, idle, PSS in MB", "",
                 m["lone_kb"] / 1024, 12, 9, 1),
                ("an open stream, PSS in KB", "", m["stream_kb"], 60, 40, 1)]
        return rows

    @staticmethod
    def verdict(value, must, aim, less):
        def good(limit):
            return value <= limit if less else value >= limit
        return "aim met" if good(aim) else "met" if good(must) else "MISSED"

    def verdicts(self):
        rows = [r for r in self.aims() if r[2] is not None]
        if not rows:
            return []
        lines = [f"{'':44}{'peer':14}{'ratio':>8}{'must':>7}{'aim':>7}"]
        for name, peer, value, must, aim, less in rows:
            lines.append(f"{name:44}{peer:14}{value:>8.2f}{must:>7}{aim:>7}"
                         f"  {self.verdict(value, must, aim, less)}")
        return lines

    def host(self):
        return (f"{kept.processor()}, Linux {os.uname().release}, "
                f"{self.opts.rounds} rounds")

    def machine(self):
        return (f"{kept.processor()}, Linux "
                f"{os.uname().release}, load {os.getloadavg()[0]:.1f}; "
                f"{self.opts.rounds} rounds of {self.opts.run} ms; "
                + ("pinned" if self.opts.pin else "not pinned"))

    def figure(self, group, metric, target, digits):
        value = self.b.median(group, metric.lstrip("+"), target)
        if metric.startswith("+") and value is not None:
            base = self.b.median(group, metric[1:], "direct")
            value = None if base is None else value - base
        return "" if value is None else f"{value:,.{digits}f}"

    def ratio(self, group, metric, target):
        """Returns IronCurtain's figure as a multiple of the other's."""
        less = "direct" if metric.startswith("+") else None
        # The processor time of direct is the provider's, or a server's.
        if target == "direct" and (less or metric in ("cpu", "client")):
            return ""
        r = self.b.ratios(group, metric.lstrip("+"), "ironcurtain", target,
                          less)
        return "" if r is None else f"{r:.2f}x"

    def calls(self):
        """Returns the table of tool calls, compared with the hops alone."""
        rows = [r for r in self.rows() if r[0].startswith(("mcp", "each"))]
        if not rows:
            return []
        lines = [f"{'':38}{'direct':>11}{'hops alone':>11}"
                 f"{'ironcurtain':>13}{'to direct':>11}{'to hops':>11}"]
        for group, heading, metrics in rows:
            lines.append(heading)
            for metric, name, digits in metrics:
                row = [self.figure(group, metric, t, digits) for t in
                       ("direct", "hops", "ironcurtain")]
                if metric == "cpu":
                    row[0] = ""
                ratios = [self.ratio(group, metric, t) for t in
                          ("direct", "hops")]
                lines.append(f"  {name:36}{row[0]:>11}{row[1]:>11}{row[2]:>13}"
                             f"{ratios[0]:>11}{ratios[1]:>11}")
        return lines

    def rows(self):
        return [row for row in TABLE
                if any(key[0] == row[0] for key in self.b.values)]

    def boxes(self):
        """Returns the table of runtimes: milliseconds, and what a container
        adds to bubblewrap."""
        med = self.b.median
        names = [n for n in ("bwrap", "docker", "podman")
                 if med("boxes", "agent", n) is not None]
        if not names:
            return []
        lines = ["", f"{'start of an agent, ms':36}" + "".join(
            f"{n:>12}" + (f"{'added':>12}" if n != "bwrap" else "")
            for n in names)]
        for metric, name in (("ready", "to READY"),
                             ("agent", "to the agent's first instruction"),
                             ("end", "to the end of the session")):
            row = f"  {name:34}"
            for n in names:
                row += f"{med('boxes', metric, n):>12,.1f}"
                if n != "bwrap":
                    added = med("boxes", metric, n) - med(
                        "boxes", metric, "bwrap")
                    row += f"{added:>12,.1f}"
            lines.append(row)
        return lines

    def others(self):
        return [p for p in self.b.proxies if p != "ironcurtain"]

    def model(self):
        """Returns the table of the model path, with IronCurtain's figures as
        multiples of each other proxy's."""
        rows = [r for r in self.rows() if not r[0].startswith(("mcp", "each"))]
        others = ["direct", *self.others()]
        lines = []
        for group, heading, metrics in rows:
            lines.append(heading)
            for metric, name, digits in metrics:
                lines.append(
                    f"  {name:34}"
                    f"{self.figure(group, metric, 'ironcurtain', digits):>12}"
                    + "".join(f"{self.ratio(group, metric, t):>13}"
                              for t in others))
        lines += self.memory_rows(others)
        if not lines:
            return []
        return ["", f"{'':36}{'ironcurtain':>12}"
                + "".join(f"{'to ' + t:>13}" for t in others), *lines]

    def memory_rows(self, others):
        m = self.b.memories
        us = m.get("ironcurtain")
        if us is None:
            return []
        lines = [f"memory, {us['kind']}"]
        def row(name, value, digits=0):
            cells = ""
            for t in others:
                base = value(m[t]) if t in m else None
                cells += f"{f'{value(us) / base:.2f}x' if base else '':>13}"
            lines.append(f"  {name:34}{value(us):>12,.{digits}f}{cells}")
        row("idle KB", lambda x: x["idle_kb"])
        for n in us["streams"]:
            row(f"{int(n):,} streams KB" if n != "1" else "1 stream KB",
                lambda x: x["streams"].get(n))
        row("KB a stream", lambda x: x["stream_kb"], 1)
        row("afterwards KB", lambda x: x["after_kb"])
        return lines

    def memory(self):
        m = self.b.memories.get("ironcurtain")
        if m is None:
            return []
        def kb(names):
            return ", ".join(f"{n} {'+'.join(str(k) for k in sorted(v))}"
                             for n, v in names.items())
        lines = ["", f"memory of ours, {m['kind']}, KB: {m['idle_kb']} idle in "
                 f"{m['processes']} processes ({kb(m['each'])}); the "
                 f"{m['wrappers']} bubblewraps around the servers, not "
                 f"counted, {m['wrappers_kb']}",
                 f"  with {list(m['streams'])[-1]} streams: "
                 f"{kb(m['each_full'])}"]
        if m["kind"] != "PSS":
            lines.append("  PSS needs root here (no user namespaces): RSS "
                         "counts each shared page once a process, so it is "
                         "not held against the aim")
        return lines

    def policy(self):
        r = self.b.policy_result
        if r is None:
            return []
        lines = ["", "decisions in one process: " + ", ".join(
            f"{c['name']} {c['us']:.2f} us ({c['rate']:,} a second)"
            for c in r["cases"]),
            f"{'rules besides the shipped ones':38}{'median us':>11}"
            f"{'a second':>11}{'slowest us':>13}{'all apply':>11}"
            f"{'added p50':>11}"]
        for row in r["rules"]:
            lines.append(
                f"  {row['rules']:<36,}{row['us']:>11.2f}"
                f"{1e6 / row['us']:>11,.0f}{row['slowest']:>13.2f}"
                f"{row['same_tool']:>11.2f}{row['added_us']:>11.1f}")
        lines += ["  (median and slowest of the cases above, rules of other "
                  "tools; all apply: rules of the tool called; added p50: "
                  "of a call through a session, us)",
                  "  " + "; ".join(f"{c['name']} {c['us']:,.2f} us" + (
                      f" ({c['each_ns'] / 1000:.2f} each)"
                      if "each_ns" in c else "") for c in r["sizes"])]
        return lines

    def starts(self):
        """Returns lines about starts, in milliseconds."""
        def row(group, name, target):
            found = self.b.values.get((group, "ms", target))
            return [] if not found else [
                f"  {name:38}{self.b.median(group, 'ms', target):>9,.1f}"
                f"{min(found):>9,.1f}{max(found):>9,.1f}  of {len(found)}"]
        lines = [
            *row("start", "a session with 3 servers, to READY", "ironcurtain"),
            *row("start", "the first one of a home", "first"),
            *row("start", "bwrap true", "bwrap"),
            *row("resume", "resumed, empty log", "empty"),
            *row("resume", f"resumed, log of {self.opts.log} MiB", "long"),
            *row("resume", "the same, without a checkpoint", "unchecked")]
        return ["", f"{'starts, ms':40}{'median':>9}{'least':>9}{'most':>9}",
                *lines] if lines else []

    def keep(self):
        """Keep the ratios of a whole run, for the reports of others."""
        if not self.opts.quick:
            kept.keep(self.opts.kept, {r[0]: r[2] for r in self.aims()
                                       if r[2] is not None})

    def text(self):
        lines = ["", self.machine(), "", *self.calls(), *self.model(),
                 *self.memory(), *self.policy(), *self.starts(),
                 *self.boxes(), "",
                 *self.verdicts(),
                 *kept.others(self.opts.kept, [r[0] for r in self.aims()
                                               if r[2] is not None]),
                 "", *self.b.notes]
        counts = {}
        for failure in self.b.failures:
            counts[failure] = counts.get(failure, 0) + 1
        lines += [f"NOT MEASURED {g}, {t}: {why} ({n} times)"
                  for (g, t, why), n in counts.items()]
        return "\n".join(lines)

    def json(self):
        return json.dumps({
            "machine": self.machine(), "rounds": self.opts.rounds,
            "figures": [{"group": g, "metric": m, "target": t, "rounds": v,
                         "median": self.b.median(g, m, t)}
                        for (g, m, t), v in self.b.values.items()],
            "memory": self.b.memories, "policy": self.b.policy_result,
            "aims": [{"name": n, "peer": peer, "value": v, "must": must,
                      "aim": aim,
                      "verdict": self.verdict(v, must, aim, less)}
                     for n, peer, v, must, aim, less in self.aims()
                     if v is not None],
            "notes": self.b.notes,
            "failures": [list(f) for f in self.b.failures]}, indent=1)
