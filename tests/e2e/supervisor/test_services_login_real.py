#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A login at a real PostgreSQL of this machine, with psql in the sandbox: without
a password, as one user; wrong passwords, users that can leave the database, and
servers that do not use SCRAM are refused; a query is cancelled. The same over TLS,
which is bound to the server's certificate."""
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402
import pg_box  # noqa: E402
import pg_tls  # noqa: E402
from pg_real import PASSWORD, Postgres, binaries  # noqa: E402

t = h.Tap()
def psql(*args, **env):
    return ("program", ["psql", "-h", "db", "-Atc", *args], env)


def test_app(work, pg):
    b = box(work, pg, "app")
    with b.s, t.case("app"):
        listed = ("-U", "app", "-d", "shop")
        got = b.do(*psql("CREATE TABLE t (n int); INSERT INTO t VALUES (42); "
                         "SELECT n, current_user, session_user FROM t", *listed))
        t.ok(got[0] == 0 and "42|app|app" in got[1],
             "psql is app, without a password", got)
        got = b.do(*psql("SHOW timezone", *listed, PGTZ="Asia/Tokyo",
                         PGPASSWORD="anything"))
        t.equal(got, [0, "Asia/Tokyo\n"], "its variables hold, any password does")
        got = b.do(*psql("SHOW application_name", *listed, PGAPPNAME="the tests"))
        t.equal(got, [0, "the tests\n"], "and the server has them")
        got = b.do(*psql("SELECT 1", "-U", "boss", "-d", "shop"))
        t.ok(got[0] != 0 and "the database shop as user app" in got[1],
             "another user is refused, and told which to name", got)
        got = b.do(*psql("SELECT 1", *listed, PGOPTIONS="-c search_path=x"))
        t.ok(got[0] != 0 and '"options" is not taken' in got[1],
             "options are refused", got)
        got = b.do(*psql("SELECT 1", *listed, PGSSLMODE="require"))
        t.ok(got[0] != 0 and "SSL" in got[1], "there is no TLS", got)
        began = time.monotonic()
        t.equal(b.do("cancel"), "57014", "a query is cancelled")
        t.ok(time.monotonic() - began < 30, "at once")
        evil = ("CREATE SCHEMA evil; SET search_path = evil, pg_catalog; "
                "CREATE FUNCTION evil.pg_has_role(name, oid, text) RETURNS bool "
                "LANGUAGE sql AS 'SELECT false'; CREATE VIEW evil.pg_roles AS "
                "SELECT 'x'::name AS rolname, false AS rolsuper")
        t.equal(b.do(*psql(evil, *listed))[0], 0, "a schema that shadows")
        connections = len(b.s.events("connect"))
        t.ok(connections >= 5 and all(e["login"] == "app" for e in
                                      b.s.events("connect")),
             "connections are recorded with their login")
        pg.sql("ALTER ROLE app SUPERUSER")
        got = b.do("login", {"search_path": "evil, pg_catalog"}, "SELECT 1")
        t.ok("can become, " in got.get("error", {}).get("M", ""),
             "a user who becomes a superuser is refused from then on, whatever "
             "the search_path", got)
        pg.sql("ALTER ROLE app NOSUPERUSER PASSWORD 'another'")
        got = b.do(*psql("SELECT 1", *listed))
        t.contains(got[1], "does not take the password of user app",
                   "a wrong password is one clear sentence")
        h.put(os.path.join(work, "password"), "another\n")
        b.s.icctl("keys", "reload", "db", check=True)
        t.equal(b.do(*psql("SELECT 2", *listed)), [0, "2\n"],
                "and a new one is taken while the session runs")
        for method, words in (("trust", "pg_hba.conf must have"),
                              ("password", "in clear text"),
                              ("reject", "pg_hba.conf rejects"),
                              ("cert", "")):
            pg.rules(method)
            got = b.do(*psql("SELECT 1", *listed))
            t.ok(got[0] != 0 and words in got[1], f"pg_hba.conf: {method}", got)
        pg.rules("scram-sha-256")


def box(work, pg, user, **login):
    return pg_box.Box(work, pg.to, {
        "user": user, "database": "shop", "credential": {
            "file": os.path.join(work, "password")}, **login}, PASSWORD)


def test_roles(work, pg):
    for user, words in (("reader", "pg_read_server_files"),
                        ("nested", "pg_execute_server_program"),
                        ("maker", "maker"), ("old", "as md5")):
        where = os.path.join(work, user)
        os.makedirs(where)
        with t.case(user):
            if user == "old":
                pg.rules("md5")
            b = box(where, pg, user)
            with b.s:
                got = b.do("login", {}, "SELECT 1")
                t.contains(got.get("error", {}).get("M", str(got)), words,
                           f"refused: {user}")
    pg.rules("scram-sha-256")
    where = os.path.join(work, "named")
    os.makedirs(where)
    b = box(where, pg, "reader", superuser=True)
    with b.s, t.case("named"):
        t.equal(b.do("login", {}, "SELECT 7").get("rows"), [["7"]],
                "unless the entry says that it may be one")


def test_tls(work, pg):
    """pg_hba.conf takes TLS alone, and the server has a certificate of nobody."""
    pg.rules("scram-sha-256", ("hostssl",))
    pg.sql("ALTER ROLE app PASSWORD '%s'" % PASSWORD.replace("'", "''"))
    plain = os.path.join(work, "plain")
    os.makedirs(plain)
    b = box(plain, pg, "app")
    with b.s, t.case("without TLS"):
        got = b.do("login", {}, "SELECT 1")
        t.contains(got["error"]["M"], 'Write "tls": true',
                   "a login without TLS is told what to write")
    listed = ("-U", "app", "-d", "shop")
    b = box(work, pg, "app", tls=True)
    with b.s, t.case("over TLS"):
        got = b.do(*psql(
            "SELECT version || ' ' || (cipher <> '') FROM pg_stat_ssl WHERE pid "
            "= pg_backend_pid()", *listed))
        t.ok(got[0] == 0 and got[1].startswith("TLSv1.3 true"),
             "the server says that the connection uses TLS", got)
        got = b.do(*psql("SELECT count(*), sum(length(x)) FROM (SELECT "
                         "repeat(md5(n::text), 8) AS x FROM generate_series(1, "
                         "40000) n) AS y", *listed))
        t.equal(got, [0, "40000|10240000\n"], "a query is answered")
        got = b.do("program", ["sh", "-c", "psql -h db -U app -d shop -Atc \"SELECT "
                               "repeat(md5(n::text), 8) FROM generate_series(1, "
                               "40000) n\" | wc -c"], {})
        t.equal(got, [0, "10280000\n"], "ten megabytes arrive whole")
        got = b.do("program", ["sh", "-c", "seq 1 300000 | psql -h db -U app -d shop "
                               "-Atc 'CREATE TEMP TABLE s (n int)' -c 'COPY s FROM "
                               "STDIN' -c 'SELECT sum(n) FROM s'"], {})
        t.ok(got[0] == 0 and "45000150000" in got[1], "two megabytes go whole", got)
        t.equal(b.do("cancel"), "57014", "a query is cancelled")
        pg.sql("ALTER ROLE app SUPERUSER")
        got = b.do("login", {}, "SELECT 1")
        t.ok("can become, " in got.get("error", {}).get("M", ""),
             "a superuser is refused", got)
        pg.sql("ALTER ROLE app NOSUPERUSER")
        pg.rules("trust", ("hostssl",))
        t.contains(b.do("login", {})["error"]["M"], "must have, before any line "
                   "with trust or peer: hostssl shop app", "and so is trust")
        pg.rules("scram-sha-256", ("hostssl",))
    for name, file, words in (("named", "server", None),
                              ("another's", "other", "self-signed")):
        where = os.path.join(work, name)
        os.makedirs(where)
        pg_tls.certificate(where, "other")
        b = box(where, pg, "app", tls=True, ca=os.path.join(
            pg.data if file == "server" else where, file + ".crt"))
        with b.s, t.case(name):
            got = b.do("login", {}, "SELECT 9")
            if words is None:
                t.equal(got.get("rows"), [["9"]], "with the certificate named")
            else:
                t.contains(got["error"]["M"], words,
                           "a certificate that is not the named one is refused")
    where = os.path.join(work, "between")
    os.makedirs(where)
    pg_tls.certificate(where, "server")
    between = pg_tls.Between(where, pg.port)
    b = pg_box.Box(where, between.to, {
        "user": "app", "database": "shop", "tls": True,
        "credential": {"file": os.path.join(where, "password")}}, PASSWORD)
    with b.s, t.case("between"):
        got = b.do("login", {}, "SELECT 1")
        t.ok("error" in got and "rows" not in got and
             "channel binding" in got["error"]["M"], "someone between, with a "
             "certificate of their own, who passes all on: the server itself "
             "refuses", got)
        t.ok(between.seen, "baseline: it was asked for the login")
        between.how = "downgrade"
        t.contains(b.do("login", {})["error"]["M"],
                   "does not offer SCRAM-SHA-256-PLUS",
                   "who hides SCRAM-SHA-256-PLUS is refused")
        t.ok(not any(b"SCRAM-SHA-256\0" in s for s in between.last),
             "before anything of the login is said")
    between.close()
    pg.rules("scram-sha-256")


def test_pgbench(work, pg, programs):
    """A load through the login, and what it costs: nothing is required."""
    pg.sql("ALTER ROLE app PASSWORD '%s'" % PASSWORD.replace("'", "''"))
    b = box(work, pg, "app")
    with b.s, t.case("pgbench"):
        name = ["-h", "db", "-U", "app", "shop"]
        got = b.do("program", [programs + "/pgbench", "-i", "-q", *name], {})
        t.equal(got[0], 0, f"pgbench makes its tables: {got[1]}")
        got = b.do("program", [programs + "/pgbench", "-n", "-C", "-S", "-c", "4",
                               "-t", "25", *name], {})
        t.ok(got[0] == 0 and "number of failed transactions: 0" in got[1],
             "100 logins, four at once", got)
        for line in got[1].splitlines():
            if "connection time" in line or "latency" in line:
                print("# through the login: " + line)


found = binaries()
if found is None:
    t.ok(True, "postgres # SKIP it is not installed")
else:
    with h.workdir() as top:
        server = Postgres(top, found)
        try:
            for case in (test_roles, test_app, test_tls):
                at = os.path.join(top, case.__name__)
                os.makedirs(at)
                case(at, server)
            os.makedirs(os.path.join(top, "bench"))
            test_pgbench(os.path.join(top, "bench"), server, found)
        finally:
            server.end()
t.done()
