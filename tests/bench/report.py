# SPDX-License-Identifier: ISC
"""The table that bench.py ends with, and what the first cut aims for."""
import json
import os

# group, heading, [(metric, name, digits)]
TABLE = [
    ("mcp1", "tools/call, 1 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0),
        ("cpu", "CPU us a call", 1)]),
    ("mcp8", "tools/call, 8 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0),
        ("cpu", "CPU us a call", 1)]),
    ("mcp64", "tools/call, 64 outstanding", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "calls/s", 0)]),
    ("model1", "200-byte request, 1 connection", [
        ("p50", "p50 us", 1), ("p99", "p99 us", 1), ("rate", "req/s", 0),
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
    ("sse", "server-sent events, one a ms", [
        ("p50", "event p50 us", 1), ("p99", "event p99 us", 1),
        ("first", "first event us", 0), ("cpu", "CPU us an event", 1)]),
    ("bulk", "one large answer", [
        ("rate", "MB/s", 0), ("cpu", "CPU ns a byte", 2)]),
]


class Report:
    def __init__(self, bench, opts):
        self.b, self.opts = bench, opts

    def aims(self):
        """(name, value or None, limit, unit, True when less is better, the
        figure that it is drawn from)"""
        med, ratios = self.b.median, self.b.ratios
        m = self.b.memory_result
        us = "ironcurtain"
        rows = [
            ("start", "start to READY", med("start", "ms", us), 50, "ms", 1),
            ("mcp", "tools/call p50", med("mcp1", "p50", us), 95, "us", 1),
            ("mcp", "tools/call p99", med("mcp1", "p99", us), 250, "us", 1),
            ("mcp", "tools/call, 8 outstanding", med("mcp8", "rate", us),
             30000, "a second", 0),
            ("model", "CPU of a 200-byte request, of haproxy's",
             ratios("model16", "cpu", us, "haproxy"), 2.0, "times", 1),
            ("model", "added p50 of a 200-byte request, of haproxy's",
             ratios("model1", "p50", us, "haproxy", "direct"), 1.5, "times",
             1),
            ("sse", "event passed on, p50", med("sse", "p50", us), 90, "us",
             1),
        ]
        p = self.b.policy_result
        if p is not None:
            row = {x["rules"]: x["us"] for x in p["rules"]}
            rows += [
                ("policy", "a decision with 100 rules, median", row[100], 5,
                 "us", 1),
                ("policy", "10,000 rules of other tools, of 10",
                 row[10000] / row[10], 2, "times", 1)]
        if m is not None and m["kind"] == "PSS":
            rows += [
                ("memory", "host side idle, 3 MCP servers, PSS",
                 m["idle_kb"] / 1024, 12, "MB", 1),
                ("memory", "an open stream, PSS", m["stream_kb"], 72, "KB",
                 1)]
        return rows

    @staticmethod
    def verdict(value, limit, less):
        good = value <= limit if less else value >= limit
        return "met" if good else "MISSED"

    def machine(self):
        name = "?"
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            for line in f:
                if line.startswith("model name"):
                    name = line.split(":", 1)[1].strip()
                    break
        return (f"{name}, {os.cpu_count()} processors, Linux "
                f"{os.uname().release}, load {os.getloadavg()[0]:.1f}; "
                f"{self.opts.rounds} rounds of {self.opts.run} ms; "
                + ("pinned" if self.opts.pin else "not pinned"))

    def figure(self, group, metric, target, digits):
        value = self.b.median(group, metric, target)
        return "" if value is None else f"{value:,.{digits}f}"

    def table(self):
        if not any(key[0] == row[0] for key in self.b.values for row in TABLE):
            return []
        lines = [f"{'':38}{'direct':>11}{'yardstick':>11}{'ironcurtain':>13}"
                 f"{'to direct':>11}{'to yardst.':>11}"]
        for group, heading, metrics in TABLE:
            if not any(key[0] == group for key in self.b.values):
                continue
            stick = "hops" if group.startswith("mcp") else "haproxy"
            lines.append(f"{heading} (yardstick: "
                         + ("the hops alone)" if stick == "hops" else
                            "haproxy)"))
            for metric, name, digits in metrics:
                row = [self.figure(group, metric, t, digits) for t in
                       ("direct", stick, "ironcurtain")]
                # What a direct call costs is its server's, not a proxy's.
                if metric == "cpu" and group.startswith("mcp"):
                    row[0] = ""
                ratios = [self.b.ratios(group, metric, "ironcurtain", t)
                          for t in ("direct", stick)]
                if metric in ("cpu", "client"):
                    ratios[0] = None
                shown = ["" if r is None else f"{r:.2f}x" for r in ratios]
                lines.append(f"  {name:36}{row[0]:>11}{row[1]:>11}{row[2]:>13}"
                             f"{shown[0]:>11}{shown[1]:>11}")
        return lines

    def memory(self):
        m = self.b.memory_result
        if m is None:
            return []
        def kb(names):
            return ", ".join(f"{n} {'+'.join(str(k) for k in sorted(v))}"
                             for n, v in names.items())
        lines = ["", f"memory, {m['kind']}, KB: {m['idle_kb']} idle in "
                 f"{m['processes']} processes ({kb(m['each'])}); the "
                 f"{m['wrappers']} bubblewraps around the servers, not "
                 f"counted, {m['wrappers_kb']}",
                 f"  streams: {m['first_kb']} with {m['first']}, "
                 f"{m['full_kb']} with {m['streams']}, so {m['stream_kb']:.1f}"
                 f" each ({kb(m['each_full'])}); {m['after_kb']} afterwards"]
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

    def text(self):
        lines = ["", self.machine(), "", *self.table(), *self.memory(),
                 *self.policy(), ""]
        for _, name, value, limit, unit, less in self.aims():
            if value is None:
                continue
            lines.append(f"{self.verdict(value, limit, less):7}{name}: "
                         f"{value:,.{0 if value > 999 else 1 if value > 9 else 2}f} {unit} "
                         f"(aim: {'at most' if less else 'at least'} "
                         f"{limit:,})")
        lines += ["", *self.b.notes]
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
            "memory": self.b.memory_result, "policy": self.b.policy_result,
            "aims": [{"name": n, "value": v, "limit": limit, "unit": u,
                      "met": self.verdict(v, limit, less) == "met"}
                     for _, n, v, limit, u, less in self.aims()
                     if v is not None],
            "notes": self.b.notes,
            "failures": [list(f) for f in self.b.failures]}, indent=1)
