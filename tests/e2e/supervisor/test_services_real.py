#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Well-known servers of this machine as services of a session's own, with their
own clients in the agent's sandbox: accounts, passwords and databases as the
entry's variables say. A server that is not installed is skipped."""
import glob
import json
import os
import shutil
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


for case in (test_postgres, test_redis, test_mariadb):
    with h.workdir() as top, t.case(case.__name__):
        case(top)
t.done()
