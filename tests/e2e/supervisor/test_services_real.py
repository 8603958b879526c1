#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Well-known servers of this machine as services of a session's own, with their
own clients in the agent's sandbox: accounts, passwords and databases as the
entry's variables say. A server that is not installed is skipped."""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
PASSWORD = "se'cr\"et $x \\y"
# Runs a command for each line of /workspace/do.json, and answers in out.json.
AGENT = r"""
import json, os, subprocess
out = []
for argv, env in json.load(open("/workspace/do.json")):
    r = subprocess.run(argv, env={**os.environ, **env}, capture_output=True,
                       text=True, timeout=120)
    out.append((r.returncode, r.stdout + r.stderr))
json.dump(out, open("/workspace/out.new", "w"))
os.rename("/workspace/out.new", "/workspace/out.json")
import time
time.sleep(600)
"""


def run(work, services, commands):
    """Returns the status and the output of each command in the sandbox."""
    s = h.Session(work, runtime="bwrap", config={"services": services},
                  options=("--agent", "command", "--", "/usr/bin/python3",
                           "-c", AGENT))
    h.put(os.path.join(s.workspace, "do.json"), json.dumps(commands))
    path = os.path.join(s.workspace, "out.json")
    s.start()
    try:
        h.wait_for(lambda: os.path.exists(path), "the commands have not ended",
                   120)
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    finally:
        t.equal(s.stop(), 143, "the session ends")


def has(name, *paths):
    if shutil.which(name) or any(glob.glob(p) for p in paths):
        return True
    t.ok(True, f"{name} # SKIP it is not installed")
    return False


def test_postgres(work):
    if not has("postgres", "/usr/lib/postgresql/*/bin/postgres"):
        return
    psql = ["psql", "-h", "db", "-U", "app", "-d", 'sh"op', "-Atc"]
    good = {"PGPASSWORD": PASSWORD}
    got = run(work, {"db": {"port": 5432, "command": ["postgres"], "env": {
        "POSTGRES_USER": "app", "POSTGRES_PASSWORD": PASSWORD,
        "POSTGRES_DB": 'sh"op'}}}, [
            (psql + ["CREATE TABLE t (n int); INSERT INTO t VALUES (42); "
                     "SELECT n FROM t"], good),
            (psql + ["SELECT 1"], {"PGPASSWORD": "another"}),
            (["psql", "-h", "::1", "-U", "app", "-d", 'sh"op', "-Atc",
              "SHOW listen_addresses"], good)])
    t.equal(got[0][0], 0, f"postgres: a table is made: {got[0][1]}")
    t.contains(got[0][1], "42", "postgres: and read")
    t.ok(got[1][0] != 0 and "password authentication failed" in got[1][1],
         "postgres: another password is refused", got[1])
    t.equal(got[2], [0, "127.0.0.1\n"], "postgres: also over IPv6")


def test_redis(work):
    if not has("redis-server"):
        return
    cli = ["redis-cli", "-h", "cache", "-p", "6380"]
    word = "se cret"
    got = run(work, {"cache": {"port": 6380, "command": ["redis-server"],
                               "env": {"REDIS_PASSWORD": word}},
                     "open": {"port": 6381, "command": ["redis-server"]}}, [
        (cli + ["SET", "a", "b"], {"REDISCLI_AUTH": word}),
        (cli + ["GET", "a"], {"REDISCLI_AUTH": word}),
        (cli + ["GET", "a"], {}),
        (["redis-cli", "-p", "6381", "PING"], {})])
    t.equal([x[1].strip() for x in got[:2]], ["OK", "b"], "redis: it keeps")
    t.contains(got[2][1], "NOAUTH", "redis: not without its password")
    t.equal(got[3][1], "PONG\n", "redis: without one, if none is set")


def test_mariadb(work):
    if not has("mariadbd"):
        return
    def sql(user, password, text):
        return (["mariadb", "-h", "127.0.0.1", "-P", "3307", "-u", user,
                 "-p" + password, "-N", "sh`op", "-e", text], {})
    got = run(work, {"my": {"port": 3307, "command": ["mariadbd"], "env": {
        "MARIADB_USER": "a'pp", "MARIADB_PASSWORD": PASSWORD,
        "MARIADB_DATABASE": "sh`op", "MARIADB_ROOT_PASSWORD": "root\\'s"}}}, [
            sql("a'pp", PASSWORD, "CREATE TABLE t (n int); INSERT INTO t "
                "VALUES (42); SELECT n FROM t"),
            sql("a'pp", "another", "SELECT 1"),
            sql("root", "root\\'s", "SELECT 43")])
    t.equal(got[0], [0, "42\n"], "mariadb: a table is made and read")
    t.ok(got[1][0] != 0 and "Access denied" in got[1][1],
         "mariadb: another password is refused", got[1])
    t.equal(got[2], [0, "43\n"], "mariadb: root has its own")


RABBIT = "/usr/lib/rabbitmq/bin/rabbitmq-server"
QUEUE = """
import pika
c = pika.BlockingConnection(pika.ConnectionParameters(
    "mq", 5672, connection_attempts=20, retry_delay=1))
q = c.channel()
q.queue_declare("orders")
q.confirm_delivery()
q.basic_publish("", "orders", b"one order")
print(q.basic_get("orders", auto_ack=True)[2].decode())
c.close()
"""
MAIL = """
import smtplib
with smtplib.SMTP("mail", 1025) as s:
    s.sendmail("a@shop.test", ["b@shop.test"], "Subject: hello\\n\\nbody of it")
print("sent")
"""
# It catches mail, and prints it.
CATCHER = "aiosmtpd.handlers.Debugging"


def has_module(name):
    if glob.glob(f"/usr/lib/python3/dist-packages/{name}"):
        return True
    t.ok(True, f"{name} # SKIP it is not installed")
    return False


def test_rabbitmq(work):
    if not has("rabbitmq-server", RABBIT) or not has_module("pika"):
        return
    got = run(work, {"mq": {"port": 5672, "command": [RABBIT], "env": {
        "HOME": "/data", "RABBITMQ_NODENAME": "rabbit@localhost",
        "RABBITMQ_MNESIA_BASE": "/data/m", "RABBITMQ_LOG_BASE": "/data/l",
        "RABBITMQ_LOGS": "-", "RABBITMQ_PID_FILE": "/data/pid",
        "RABBITMQ_ENABLED_PLUGINS_FILE": "/data/plugins",
        "RABBITMQ_CONF_ENV_FILE": "/dev/null"}}}, [
            (["/usr/bin/python3", "-c", QUEUE], {})])
    t.equal(got[0], [0, "one order\n"], "rabbitmq: a message comes back")


def test_mail(work):
    if not has_module("aiosmtpd"):
        return
    got = run(work, {"mail": {"port": 1025, "command": [
        "/usr/bin/python3", "-u", "-m", "aiosmtpd", "-n", "-l",
        "127.0.0.1:1025", "-c", CATCHER, "stdout"]}}, [
            (["/usr/bin/python3", "-c", MAIL], {})])
    t.equal(got[0], [0, "sent\n"], "mail: it is taken")
    with open(os.path.join(work, "session", "services.log"),
              encoding="utf-8") as log:
        t.contains(log.read(), "body of it", "mail: and caught")


# A small project's suite: its tables, and fifty tests, each a program that
# connects and makes a transaction. Then nothing but round trips: the load of
# pgbench, and the same statement 5,000 times.
TABLES = ("DROP TABLE IF EXISTS orders; CREATE TABLE orders (n int PRIMARY KEY, "
          "total int)")
TEST = ("BEGIN; INSERT INTO orders SELECT g, g FROM generate_series(1, 200) g; "
        "UPDATE orders SET total = total + 1; SELECT sum(total) FROM orders; "
        "DELETE FROM orders WHERE n % 2 = 0; SELECT count(*) FROM orders; "
        "ROLLBACK")
SUITE = [["psql", "-q", "-c", TABLES]] + [
    ["psql", "-qAt", "-c", TEST]] * 50
TRIPS = [["pgbench", "-i", "-q"], ["pgbench", "-n", "-c", "4", "-t", "400"],
         ["pgbench", "-n", "-C", "-S", "-t", "50"]]
ONE = """
import glob, json, os, statistics, subprocess, sys, time
bench, at, out, suite, trips = sys.argv[1:6]
env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": at, "PGUSER": "app",
       "PGDATABASE": "shop"}
def run(*args):
    r = subprocess.run([os.path.join(bench, args[0]), *args[1:]], env=env,
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr)
    return r.stdout
open("/tmp/one.sql", "w").write("SELECT 1;")
def least(programs):
    times = []
    for _ in range(3):
        began = time.monotonic()
        for args in json.loads(programs):
            run(*args)
        times.append(time.monotonic() - began)
    return min(times)
got = [least(suite), least(trips)]
run("pgbench", "-n", "-f", "/tmp/one.sql", "-t", "5000", "-l", "--log-prefix", out)
one = [int(l.split()[2]) for l in open(glob.glob(out + ".[0-9]*")[0])]
json.dump([*got, statistics.median(one)], open(out + ".new", "w"))
os.rename(out + ".new", out)
"""


class Postgres:
    """A server of this machine, for both ways."""

    def __init__(self, work, binaries):
        self.data = os.path.join(work, "pg")
        subprocess.run([binaries + "/initdb", "-D", self.data, "-U", "app",
                        "-A", "trust", "--no-sync"], check=True,
                       stdout=subprocess.DEVNULL)
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.p = subprocess.Popen(
            [binaries + "/postgres", "-D", self.data, "-p", str(self.port),
             "-h", "127.0.0.1", "-k", "", "-F"], stderr=subprocess.DEVNULL)
        h.wait_for(lambda: subprocess.run(
            [binaries + "/createdb", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", "app", "shop"], stderr=subprocess.DEVNULL,
            check=False).returncode == 0, "postgres does not start")


def test_times(work):
    """Prints the time of a suite and of one statement, beside a direct
    connection in the same run. Nothing is required of them."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found or not os.path.exists(found[-1] + "/pgbench"):
        t.ok(True, "times # SKIP pgbench is not installed")
        return
    pg = Postgres(work, found[-1])
    try:
        words = [found[-1], None, None, json.dumps(SUITE),
                 json.dumps(TRIPS)]
        direct = os.path.join(work, "direct")
        words[1:3] = [str(pg.port), direct]
        subprocess.run([sys.executable, "-c", ONE, *words], check=True)
        words[1:3] = ["5432", "/workspace/inside"]
        s = h.Session(os.path.join(work, "s"), runtime="bwrap", config={
            "services": {"db": {"port": 5432, "to": f"127.0.0.1:{pg.port}"}}},
            options=("--agent", "command", "--", "/bin/sh", "-c",
                     'exec "$@" && sleep 600', "-", "/usr/bin/python3", "-c",
                     ONE, *words))
        path = os.path.join(s.workspace, "inside")
        with s:
            h.wait_for(lambda: os.path.exists(path), "the suite did not end",
                       240)
        with open(direct, encoding="ascii") as a, \
                open(path, encoding="ascii") as b:
            pairs = list(zip(json.load(a), json.load(b)))
        for what, unit, (out, inside) in zip(
                ("a suite", "the load of pgbench", "SELECT 1"),
                ("s", "s", "us"), pairs):
            print(f"# {what}: {inside:.2f} {unit}, direct {out:.2f} {unit}: "
                  f"{inside / out:.2f} times")
        t.equal(len(pairs), 3, "times of a suite, a load and a statement")
    finally:
        pg.p.terminate()
        pg.p.wait()


for case in (test_postgres, test_redis, test_mariadb, test_rabbitmq, test_mail,
             test_times):
    with h.workdir() as top, t.case(case.__name__):
        case(top)
t.done()
