# SPDX-License-Identifier: ISC
"""A real PostgreSQL of this machine: roles of several kinds, TLS with a certificate
of nobody, and a pg_hba.conf that a test changes."""
import glob
import os
import socket
import subprocess

import harness as h
import pg_tls


def binaries():
    """Returns the directory of the newest server's programs, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found and os.path.exists(found[-1] + "/psql") else None


BOSS, PASSWORD = "the boss's word", "Zt7-canary of 'app' 9q"
ROLES = r"""
SET password_encryption = 'scram-sha-256';
CREATE ROLE app LOGIN PASSWORD '{0}'; CREATE DATABASE shop OWNER app;
CREATE ROLE reader LOGIN PASSWORD '{0}' IN ROLE pg_read_server_files;
CREATE ROLE middle ROLE reader; CREATE ROLE runner NOLOGIN;
GRANT pg_execute_server_program TO runner;
CREATE ROLE nested LOGIN NOINHERIT PASSWORD '{0}' IN ROLE runner;
CREATE ROLE maker LOGIN CREATEROLE PASSWORD '{0}';
SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD '{0}';
"""


class Postgres:
    def __init__(self, work, programs):
        self.data = os.path.join(work, "pg")
        h.put(os.path.join(work, "boss"), BOSS)
        subprocess.run([programs + "/initdb", "-D", self.data, "-U", "boss", "-A",
                        "scram-sha-256", "--pwfile", os.path.join(work, "boss"),
                        "--no-sync"], check=True, stdout=subprocess.DEVNULL)
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.to = f"127.0.0.1:{self.port}"
        self.hba = os.path.join(self.data, "pg_hba.conf")
        pg_tls.certificate(self.data, "server")
        self.p = subprocess.Popen(
            [programs + "/postgres", "-D", self.data, "-p", str(self.port),
             "-h", "127.0.0.1", "-k", "", "-F", "-c", "ssl=on"],
            stderr=subprocess.DEVNULL)
        h.wait_for(lambda: self.sql("SELECT 1").returncode == 0,
                   "postgres does not start")
        for statement in ROLES.format(PASSWORD.replace("'", "''")).split(";"):
            if statement.strip():
                made = self.sql(self.encryption(statement))
                assert made.returncode == 0, made.stderr
        self.rules("scram-sha-256")

    def encryption(self, statement):
        """Each statement has a session of its own."""
        if "password_encryption" in statement:
            self.prefix = statement.strip() + ";"
            return "SELECT 1"
        return statement if "DATABASE" in statement else self.prefix + statement

    def sql(self, text):
        return subprocess.run(
            ["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "boss",
             "postgres", "-Atqc", text], env={**os.environ, "PGPASSWORD": BOSS},
            capture_output=True, text=True, check=False)

    def rules(self, method, kinds=("host", "hostssl")):
        """The boss's line stays first."""
        h.put(self.hba, "host all boss 127.0.0.1/32 scram-sha-256\n" + "".join(
            f"{kind} all all 127.0.0.1/32 {method}\n" for kind in kinds))
        self.sql("SELECT pg_reload_conf()")

    def end(self):
        self.p.terminate()
        self.p.wait()
