# SPDX-License-Identifier: ISC
"""The cost of a service: the suite of a small project, a load of pgbench, and one
`SELECT 1`, against a PostgreSQL of this machine: directly, through a session's
service, and through one with a login, in clear text and over TLS. Each round runs
every way, in alternating order; a ratio is the median of the rounds' ratios to the
direct way. In all of them the same role logs in with the same password."""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import harness as h  # noqa: E402
import pg_box  # noqa: E402
from pg_real import PASSWORD, Postgres, binaries  # noqa: E402

MUST = {"suite": 1.1, "load": 1.3, "one": None}
NAMES = {"suite": "a suite of 50 tests, s", "load": "pgbench, 4 clients, s",
         "one": "SELECT 1, us"}
# A small project's suite: its table, and fifty tests, each a program that connects
# and makes a transaction.
TABLES = ("DROP TABLE IF EXISTS orders; CREATE TABLE orders (n int PRIMARY KEY, "
          "total int)")
TEST = ("BEGIN; INSERT INTO orders SELECT g, g FROM generate_series(1, 200) g; "
        "UPDATE orders SET total = total + 1; SELECT sum(total) FROM orders; "
        "DELETE FROM orders WHERE n % 2 = 0; SELECT count(*) FROM orders; "
        "ROLLBACK")
ONE = r"""
import glob, json, os, shutil, statistics, subprocess, sys, tempfile, time
programs, port, tables, test = sys.argv[1:5]
env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "app",
       "PGDATABASE": "shop", "PGPASSWORD": os.environ.get("WORD", "")}
top = tempfile.mkdtemp()
def run(*args):
    r = subprocess.run([os.path.join(programs, args[0]), *args[1:]], env=env,
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr)
def timed(*commands):
    began = time.monotonic()
    for args in commands:
        run(*args)
    return time.monotonic() - began
out = {"suite": timed(["psql", "-q", "-c", tables],
                      *[["psql", "-qAt", "-c", test]] * 50)}
run("pgbench", "-i", "-q")
out["load"] = timed(["pgbench", "-n", "-c", "4", "-t", "200"])
with open(top + "/one.sql", "w") as f:
    f.write("SELECT 1;")
run("pgbench", "-n", "-f", top + "/one.sql", "-t", "3000", "-l", "--log-prefix",
    top + "/log")
with open(glob.glob(top + "/log.*")[0]) as f:
    out["one"] = statistics.median(int(l.split()[2]) for l in f)
shutil.rmtree(top)
print(json.dumps(out))
"""


def direct(pg, argv):
    r = subprocess.run([*argv[:4], str(pg.port), *argv[5:]], capture_output=True,
                       text=True, check=True, env={**os.environ, "WORD": PASSWORD})
    return json.loads(r.stdout)


def through(box, argv, word):
    code, text = box.do("program", argv, {"WORD": word})
    if code != 0:
        raise RuntimeError(text)
    return json.loads(text)


def found(rounds):
    """Returns way -> row -> values, one for each round."""
    programs = binaries()
    if programs is None:
        sys.exit("services: PostgreSQL is not installed (package postgresql)")
    argv = ["/usr/bin/python3", "-c", ONE, programs, "5432", TABLES, TEST]
    with h.workdir() as work:
        pg = Postgres(work, programs)
        pg.sql("ALTER ROLE app PASSWORD 'benchmark'".replace(
            "benchmark", PASSWORD.replace("'", "''")))

        def box(name, **login):
            place = os.path.join(work, name)
            os.makedirs(place)
            if login:
                login = {"user": "app", "database": "shop", "credential": {
                    "file": os.path.join(place, "password")}, **login}
            return pg_box.Box(place, pg.to, login, PASSWORD)

        boxes = {"service": box("plain"), "login": box("login", tls=False),
                 "login, TLS": box("tls", tls=True)}
        try:
            for b in boxes.values():
                b.s.start()
            ways = {"direct": lambda: direct(pg, argv), **{
                name: lambda b=b, name=name: through(
                    b, argv, PASSWORD if name == "service" else "")
                for name, b in boxes.items()}}
            values = {w: {r: [] for r in NAMES} for w in ways}
            for i in range(rounds):
                for w in list(ways)[::-1] if i % 2 else ways:
                    for r, v in ways[w]().items():
                        values[w][r].append(v)
                print(f"round {i + 1} of {rounds}", file=sys.stderr)
            return values
        finally:
            for b in boxes.values():
                if b.s.process:
                    b.s.stop()
            pg.end()


def report(rounds, as_json):
    values = found(rounds)
    if as_json:
        print(json.dumps(values))
        return
    print(f"load {os.getloadavg()[0]:.2f}; {rounds} rounds; a suite: at most "
          f"{MUST['suite']} of direct, pgbench {MUST['load']}")
    for r, name in NAMES.items():
        base = values["direct"][r]
        line = f"{name:26} direct {statistics.median(base):8.2f}"
        for w in list(values)[1:]:
            v = values[w][r]
            ratio = statistics.median(a / b for a, b in zip(v, base))
            line += f"  {w} {statistics.median(v):8.2f} ({ratio:.2f})"
        print(line)
