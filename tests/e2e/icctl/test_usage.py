#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl usage, audit show, search and export, metrics --all and report: sums
are those of each session's budget, what was kept is never believed over a log
that changed, and nothing in a log acts where it is shown."""
import csv
import hashlib
import io
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from made_log import MadeLog  # noqa: E402

t = h.Tap()
PRICES = {"models": [{"model": "test-model", "in": 1000, "out": 5000}]}
CANARY = "canary-7f3a"
# It begins a formula, and has markup, a control, and a bidi override.
EVIL = "=cmd|'/c x'!A1<script>alert(1)</script>\x1b[2J\u202e\""


class Home:
    """IRONCURTAIN_HOME, without a session that is named."""

    def __init__(self, work):
        self.work = work
        self.home = os.path.join(work, "home")
        self.sessions = os.path.join(self.home, "sessions")
        os.makedirs(self.sessions, mode=0o700, exist_ok=True)
        os.chmod(self.home, 0o700)

    def icctl(self, *args, env=None):
        return subprocess.run(
            [h.program("icctl"), *args], capture_output=True,
            timeout=60 * h.PATIENCE, check=False, cwd=self.work,
            env={"PATH": "/usr/bin:/bin", "HOME": self.work, "TZ": "UTC",
                 "LANG": "C.UTF-8", "IRONCURTAIN_HOME": self.home,
                 **(env or {})})

    def usage(self, *args):
        r = self.icctl("--json", "usage", *args)
        return json.loads(r.stdout), r.stderr.decode()

    def dir(self, name):
        return os.path.join(self.sessions, name)


def micro(usd):
    return round(usd * 1e6)


def made(home):
    """Two sessions of different days, agents and models."""
    a = MadeLog(1795000000).start().state(0)
    a.usage("big", 1000).state(700, 200).usage("small", 10).state(1000)
    a.call("read").call("write", "deny").call(
        "push", "escalate", {"path": f"/home/me/{CANARY}/notes.txt",
                             "text": CANARY + "-text"},
        escalationResult="approved").stop()
    a.write(home.dir("20261118-100000-aaaa"))
    b = MadeLog(1795000000 + 8 * 86400).start("codex", "/home/me/site")
    b.state(0).usage("big", 50).state(5).stop().write(
        home.dir("20261126-100000-bbbb"))
    return a, b


def sums_of(home, by, key, name):
    said, _ = home.usage("--by", by)
    return {x[key]: (x["totalCost"], x["inputTokens"]) for x in said[name]}


def test_groups(work):
    home = Home(work)
    made(home)
    t.equal(sums_of(home, "day", "date", "daily"),
            {"2026-11-18": (0.001, 1010), "2026-11-26": (0.000005, 50)},
            "by day")
    t.equal(sums_of(home, "week", "week", "weekly"),
            {"2026-11-16": (0.001, 1010), "2026-11-23": (0.000005, 50)},
            "by week, from its Monday")
    t.equal(sums_of(home, "month", "month", "monthly"),
            {"2026-11": (0.001005, 1060)}, "by month")
    t.equal(sums_of(home, "agent", "agent", "agents"),
            {"claude-code": (0.001, 1010), "codex": (0.000005, 50)},
            "by agent")
    t.equal(sums_of(home, "project", "project", "projects"),
            {"/home/me/shop": (0.001, 1010), "/home/me/site": (0.000005, 50)},
            "by project")
    models = sums_of(home, "model", "model", "models")
    t.equal((set(models), sum(micro(x[0]) for x in models.values())),
            ({"big", "small"}, 1005), "by model, without a rest")
    said, _ = home.usage()
    day = said["daily"][0]
    t.equal((day["modelsUsed"], day["totalTokens"], day["callsAllowed"],
             day["callsDenied"], day["callsApproved"]),
            (["big", "small"], 2020, 1, 1, 1), "with the names of ccusage")
    t.equal(said["totals"]["totalCost"], 0.001005, "and totals")
    said, _ = home.usage("--since", "2026-11-20")
    t.equal([x["date"] for x in said["daily"]], ["2026-11-26"], "since a day")
    rows = list(csv.reader(io.StringIO(
        home.icctl("usage", "--csv").stdout.decode())))
    t.equal([(r[0], r[1], r[10]) for r in rows[1:]][:2],
            [("2026-11-18", "", "0.001000"),
             ("2026-11-18", "big", "0.000" + rows[2][10][5:])], "as CSV")
    table = home.icctl("usage").stdout.decode()
    t.ok("2026-11-18" in table and table.splitlines()[-1].startswith("all"),
         "as a table", table)
    r = home.icctl("usage", "--by", "year")
    t.equal(r.returncode, 64, "another unit is refused")
    said, _ = home.usage("--since", "2026-11-18", "--until", "2026-11-18")
    t.equal([x["date"] for x in said["daily"]], ["2026-11-18"],
            "until a day, with that day")
    said, _ = home.usage("--until", "2026-11-17")
    t.equal(said["daily"], [], "and not with the next one")
    r = home.icctl("usage", "--since", "2026-02-30")
    t.ok(r.returncode == 64 and b"a day" in r.stderr,
         "a day that no calendar has is refused", r.stderr)
    r = home.icctl("usage", "--since", "yesterday")
    t.equal(r.returncode, 64, "and another time")


def test_own(work):
    """The compiler of policies works for no project."""
    home = Home(work)
    MadeLog(1795000000).start("policy-compiler", home.dir("x") + "/sandbox") \
        .state(0).usage("big", 50).state(5).stop() \
        .write(home.dir("20261118-100000-aaaa"))
    t.equal(list(sums_of(home, "project", "project", "projects")),
            ["(policy compiler)"], "it is named")


def test_kept(work):
    home = Home(work)
    a, _ = made(home)
    place = home.dir("20261118-100000-aaaa")
    cache = os.path.join(place, "usage.cache")
    first, _ = home.usage()
    t.ok(os.path.exists(cache), "sums are kept")
    t.equal(home.usage(), (first, ""), "and used")
    with open(cache, "r+b") as f:
        f.seek(400)
        f.write(b"\xff\xff")
    said, err = home.usage()
    t.equal(said, first, "sums that were changed are not believed")
    t.contains(err, "was changed", "and named")
    # The log goes on.
    log = os.path.join(place, "audit.jsonl")
    a.usage("big", 5).state(1500).stop().write(place)
    said, err = home.usage()
    t.equal((said["totals"]["totalCost"], said["totals"]["inputTokens"], err),
            (0.001505, 1065, ""), "a log that grew is read on")
    # Rotated: the newest file becomes an older one.
    os.rename(log, os.path.join(place, "audit.1.jsonl"))
    cut = len(a.lines)
    a.usage("small", 7).state(1600)
    with open(log, "w", encoding="utf-8") as f:
        f.write("".join(a.lines[cut:]))
    said, err = home.usage()
    t.equal((said["totals"]["totalCost"], err), (0.001605, ""),
            "a log that was rotated as well")
    said, err = home.usage("--again")
    t.equal((said["totals"]["totalCost"], err), (0.001605, ""),
            "reading all of it again is the same")
    # Torn: a crash cut the last line.
    with open(log, "ab") as f:
        f.write(b'{"event":"usage","in":5')
    said, err = home.usage()
    t.equal((said["totals"]["totalCost"], err), (0.001605, ""),
            "a torn line is no record, and no fault")
    # Changed in place: same size, same times.
    old = os.path.join(place, "audit.1.jsonl")
    st = os.stat(old)
    with open(old, "r+b") as f:
        data = f.read()
        f.seek(data.index(b'"in":1000'))
        f.write(b'"in":9000')
    os.utime(old, ns=(st.st_atime_ns, st.st_mtime_ns))
    said, err = home.usage("--again")
    t.contains(err, "it was changed after it was written",
               "a record that was changed is found and named")
    t.equal(said["brokenLogs"], 1, "and counted")


def test_many(work):
    """Many logs are read by several processes. --again believes no sums that
    were kept before, also where new ones cannot be kept."""
    home = Home(work)
    for i in range(9):
        a = MadeLog(1795000000).start().state(0)
        a.usage("big", 1000).state(700).stop()
        a.write(home.dir(f"20261118-100000-{i:04}"))
    first, err = home.usage()
    t.equal((first["totals"]["inputTokens"], err), (9000, ""),
            "nine logs at once")
    place = home.dir("20261118-100000-0003")
    cache = os.path.join(place, "usage.cache")
    with open(cache, "rb") as f:
        data = f.read()[:-32]
    data = data.replace(struct.pack("<Q", 1000), struct.pack("<Q", 5000))
    with open(cache, "wb") as f:
        f.write(data + hashlib.sha256(data).digest())
    said, err = home.usage()
    t.equal((said["totals"]["inputTokens"], err), (13000, ""),
            "sums that were forged whole are believed")
    if os.geteuid() == 0:
        t.skip("again", "root writes what is closed")
        return
    os.chmod(place, 0o500)
    t.equal(home.usage("--again"), (first, ""),
            "--again does not, where none can be kept")
    os.chmod(place, 0o700)
    t.equal(home.usage("--again"), (first, ""), "nor where they can")
    t.equal(home.usage(), (first, ""), "which keeps the right ones")


def test_changed(work):
    home = Home(work)
    made(home)
    place = home.dir("20261118-100000-aaaa")
    log = os.path.join(place, "audit.jsonl")
    home.usage()
    st = os.stat(log)
    with open(log, "r+b") as f:
        data = f.read()
        f.seek(data.index(b'"in":1000'))
        f.write(b'"in":9000')
    os.utime(log, ns=(st.st_atime_ns, st.st_mtime_ns))
    said, err = home.usage()
    t.contains(err, "it was changed after it was written",
               "a log that was changed in place is read again, and named")
    said, err = home.usage()
    t.contains(err, "audit.jsonl: line 3", "each time")
    os.unlink(log)
    os.symlink("/etc/passwd", log)
    said, err = home.usage()
    t.equal(said["unreadLogs"], 1, "a link is not followed")


def junk(home):
    os.makedirs(home.dir("empty"))
    os.makedirs(home.dir("fifo"))
    os.mkfifo(os.path.join(home.dir("fifo"), "audit.jsonl"))
    with open(home.dir("a file"), "w", encoding="utf-8") as f:
        f.write("x")
    os.symlink("/nowhere", home.dir("link"))
    os.makedirs(home.dir("\x1b[31mred"))
    MadeLog(1795000000).start().usage("m").state(3).write(
        home.dir("\x1b[31mred"))
    os.makedirs(home.dir("noise"))
    with open(os.path.join(home.dir("noise"), "audit.jsonl"), "wb") as f:
        f.write(os.urandom(5000) + b"\n" + b"{" * 5000 + b"\n")


def test_junk(work):
    home = Home(work)
    made(home)
    junk(home)
    r = home.icctl("usage", "--by", "session")
    out = r.stdout + r.stderr
    t.ok(b"20261118-100000-aaaa" in out and b"\x1b" not in out,
         "junk beside sessions hides none, and none acts", out)
    t.ok(b"noise" in r.stderr and b"fifo" not in out,
         "a log that is none is named", r.stderr)


def hostile(home):
    m = MadeLog(1795000000).start(EVIL, f"/home/me/{EVIL}").state(0)
    m.usage(EVIL).state(10).call(EVIL, "deny", {"x": EVIL})
    m.add("alarm", kind=EVIL, text=EVIL, who=EVIL)
    m.add("somethingNew", text=EVIL).stop()
    m.write(home.dir("20261118-120000-evil"))


def test_hostile(work):
    home = Home(work)
    hostile(home)
    outputs = {}
    for by in ("day", "model", "project", "agent", "session"):
        for form in ((), ("--csv",), ("--json",)):
            outputs[by + str(form)] = home.icctl("usage", "--by", by, *form)
    outputs["show"] = home.icctl("audit", "show")
    outputs["show json"] = home.icctl("--json", "audit", "show")
    outputs["export"] = home.icctl("audit", "export")
    outputs["csv"] = home.icctl("audit", "export", "--format", "csv")
    outputs["search"] = home.icctl("audit", "search", EVIL)
    outputs["report"] = home.icctl("report", "-o", "-", "--with-arguments")
    outputs["metrics"] = home.icctl("metrics", "--all")
    for name, r in outputs.items():
        t.ok(r.returncode == 0 and b"\x1b" not in r.stdout and
             "\u202e".encode() not in r.stdout, f"{name}: nothing acts",
             (r.returncode, r.stdout[:300], r.stderr))
    for name in ("model('--csv',)", "csv"):
        rows = list(csv.reader(io.StringIO(
            outputs[name].stdout.decode(), newline="")))
        t.ok(all(len(r) == len(rows[0]) for r in rows) and
             not any(c[:1] in ("=", "+", "-", "@", "\t") and c[1:]
                     for r in rows for c in r),
             f"{name}: no cell is a formula", rows)
    page = outputs["report"].stdout.decode()
    t.ok("<script" not in page and "&lt;script&gt;" in page,
         "markup is text in a report")
    lines = [json.loads(x) for x in outputs["export"].stdout.splitlines()]
    t.equal([x["toolName"] for x in lines if x["event"] == "call"], [EVIL],
            "the record in JSON is as it was")
    t.ok(any(x["event"] == "somethingNew" for x in lines),
         "an event that is not known is exported all the same")


def test_audit(work):
    home = Home(work)
    a, _ = made(home)
    r = home.icctl("audit", "show", "20261118-100000-aaaa")
    text = r.stdout.decode()
    t.equal((r.returncode, len(text.splitlines())), (0, len(a.lines)),
            "all records are shown")
    t.contains(text, "call files.push escalate, approved by a person "
               "(rule a-rule): because", "in words")
    r = home.icctl("audit", "search", "--all", CANARY + "-text")
    t.equal(len(r.stdout.splitlines()), 1, "one has the text")
    t.ok(r.stdout.startswith(b"20261118-100000-aaaa"), "of this session")
    for option, value, n in (("--tool", "write", 1), ("--server", "files", 3),
                             ("--decision", "deny", 1),
                             ("--decision", "approved", 1),
                             ("--event", "usage", 3)):
        r = home.icctl("audit", "search", "--all", option, value)
        t.equal((r.returncode, len(r.stdout.splitlines())), (0, n),
                f"{option} {value}")
    r = home.icctl("audit", "search", "--all", "not there")
    t.equal((r.returncode, r.stdout), (1, b""), "what is not there")
    r = home.icctl("audit", "export", "--all", "--since", "2026-11-20")
    lines = [json.loads(x) for x in r.stdout.splitlines()]
    t.equal({x["session"] for x in lines}, {"20261126-100000-bbbb"},
            "an export since a day")
    r = home.icctl("audit", "export", "--all", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(r.stdout.decode(), newline="")))
    t.equal([(x["tool"], x["answer"], x["by"]) for x in rows
             if x["decision"] == "escalate"],
            [("push", "approved", "a person")], "an export as CSV")
    r = home.icctl("audit", "export", "--format", "ocsf")
    t.equal(r.returncode, 64, "a format that is not made yet is refused")
    r = home.icctl("--json", "audit", "events")
    t.ok({"call", "stop"} <= {x["event"] for x in json.loads(r.stdout)},
         "events are listed with their names")


def test_bad_lines(work):
    home = Home(work)
    a, _ = made(home)
    place = home.dir("20261118-100000-aaaa")
    with open(os.path.join(place, "audit.jsonl"), "wb") as f:
        f.write(a.lines[0].encode() + b"no record\n" +
                b'{"event":"call","x":"' + b"y" * (17 << 20) + b'"}\n' +
                "".join(a.lines[1:]).encode())
    r = home.icctl("audit", "show", "20261118-100000-aaaa")
    t.equal(len(r.stdout.splitlines()), len(a.lines),
            "lines that are none hide no record")
    t.ok(b"line 2 is left out" in r.stderr and b"16 MiB" in r.stderr,
         "and are named", r.stderr)


def test_report(work):
    home = Home(work)
    made(home)
    name = "20261118-100000-aaaa"
    r = home.icctl("report", name)
    t.contains(r.stdout.decode(), "the log is intact", "a report is written")
    with open(os.path.join(work, name + ".html"), encoding="utf-8") as f:
        page = f.read()
    t.ok(CANARY not in page and ".../notes.txt" in page and
         "because" not in page.split("<h2>")[3:][0],
         "without arguments and reasons, but with the last part of a path")
    t.ok("approved by a person" in page and "(a-rule)" in page and
         re.search(r"0\.0010* USD", page), "with decisions, answers and cost")
    with open(os.path.join(home.dir(name), "audit.jsonl"), "rb") as f:
        last = json.loads(f.read().splitlines()[-1])["hash"]
    t.contains(page, last, "and the last hash")
    t.ok("default-src 'none'" in page and not re.search(
        r"<script|<link|<img|src=|href=|url\(", page),
         "it can load nothing")
    t.equal(os.stat(os.path.join(work, name + ".html")).st_mode & 0o777,
            0o600, "and others cannot read it")
    page = home.icctl("report", "-o", "-", "--with-arguments",
                      name).stdout.decode()
    t.contains(page, CANARY, "unless arguments are asked for")
    with open(os.path.join(home.dir(name), "audit.jsonl"), "r+b") as f:
        data = f.read()
        f.seek(data.index(b"a-rule"))
        f.write(b"b-rule")
    page = home.icctl("report", "-o", "-", name).stdout.decode()
    t.contains(page, "BROKEN: audit.jsonl line 7", "a broken log is named")


def test_torn(work):
    """A log that ends within a line is not called intact."""
    home = Home(work)
    made(home)
    name = "20261118-100000-aaaa"
    path = os.path.join(home.dir(name), "audit.jsonl")
    lines = open(path, "rb").read().splitlines(keepends=True)
    with open(path, "wb") as f:
        f.write(b"".join(lines[:-1]) + lines[-1][:40])
    r = home.icctl("report", name)
    with open(os.path.join(work, name + ".html"), encoding="utf-8") as f:
        page = f.read()
    t.ok(b"ENDS WITHIN A LINE" in r.stdout and "The last line is incomplete" in
         page, "a torn log is named in a report", r.stdout)


def test_metrics(work):
    home = Home(work)
    made(home)
    file = os.path.join(work, "ic.prom")
    r = home.icctl("metrics", "--all", "--textfile", file)
    with open(file, encoding="utf-8") as f:
        text = f.read()
    t.equal((r.returncode, os.stat(file).st_mode & 0o777), (0, 0o644),
            "metrics for node_exporter, readable for it")
    t.ok('ironcurtain_all_cost_usd_total{agent="codex",model="big"} 0.000005'
         in text, "the cost of an agent and a model", text)
    t.ok('ironcurtain_all_calls_total{agent="claude-code",decision="deny"} 1'
         in text, "and calls")
    t.equal(os.listdir(work).count("ic.prom"), 1, "and nothing beside it")
    r = home.icctl("metrics", "--textfile", file)
    t.equal(r.returncode, 64, "--textfile needs --all")


def test_confined(work):
    """ic-report confines itself before it waits for the mark."""
    log = MadeLog().start().write(work)
    out, mark = os.pipe()
    program = os.path.join(h.PREFIX, "libexec/ironcurtain/ic-report")
    # The shell makes the pipe descriptor 3.
    with open(log, "rb") as f:
        p = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {program} fold 3<&{out}"], stdin=f,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[out])
    os.close(out)

    def status():
        with open(f"/proc/{p.pid}/status", encoding="utf-8") as s:
            has = dict(x.rstrip("\n").split(":\t", 1) for x in s
                       if ":\t" in x)
        return has if has.get("Seccomp") == "2" or h.sanitized() else None
    has = h.wait_for(status, "no filter is loaded")
    if not h.sanitized():
        t.equal((has["NoNewPrivs"], int(has["CapBnd"], 16)), ("1", 0),
                "ic-report is confined")
        t.equal(sorted(os.listdir(f"/proc/{p.pid}/fd"), key=int)
                if os.access(f"/proc/{p.pid}/fd", os.R_OK) else [],
                [], "and others cannot look into it")
    os.write(mark, b"\xff" * 20000)
    os.close(mark)
    t.ok(p.wait(20) != 0, "a mark that is none is refused")


def test_real(work):
    """A session that runs, and has ended: sums are its budget's."""
    home = Home(work)
    p = h.Provider(work)
    place = home.dir("20261129-000000-real")
    s = h.Session(work, provider=p, session_dir=place,
                  servers={"echo": h.echo_server(os.path.join(
                      work, "log", "log.jsonl"))},
                  rules=[h.rule("echo", "allow", tool=["echo"])],
                  annotations={"echo": h.ECHO_TOOLS})
    s.write("prices.json", PRICES)
    with s:
        m = s.model()
        for stream in (False, True):
            t.equal(m.message("hi", "anthropic", stream=stream).status, 200,
                    "an answer")
        c = s.client()
        c.call("echo__echo", {"text": "hello"})

        def same():
            b = json.loads(s.icctl("--json", "budget").stdout)["budget"]
            now, _ = home.usage("--by", "session")
            used = b["limits"]["maxEstimatedCostUsd"]["used"]
            return used > 0 and abs(
                used - now["totals"]["totalCost"]) < 1e-9 and now
        now = h.wait_for(same, "usage is never the budget's")
        t.equal(now["sessions"][0]["answers"], 2, "while it runs")
        c.close()
        m.close()
    b = json.loads(s.icctl("--json", "budget").stdout)["used"]
    now, err = home.usage("--by", "session")
    t.equal((micro(now["totals"]["totalCost"]), err), (micro(b["usd"]), ""),
            "after its end as well")
    t.equal(now["totals"]["callsAllowed"], 1, "with its call")
    r = home.icctl("audit", "show", "--event", "call")
    t.contains(r.stdout.decode(), "echo.echo allow", "its records are shown")
    r = home.icctl("report", "-o", "-")
    t.ok(b"Intact" in r.stdout and b"echo.echo" in r.stdout,
         "and reported", r.stderr)
    p.end()


for test in (test_groups, test_own, test_kept, test_many, test_changed,
             test_junk, test_hostile, test_audit, test_bad_lines, test_report,
             test_torn, test_metrics, test_confined, test_real):
    with h.workdir() as place_of, t.case(test.__name__):
        test(place_of)
sys.exit(t.done())
