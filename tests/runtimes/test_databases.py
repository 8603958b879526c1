#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The suite of a small project in a container of one real engine, which IC_RUNTIME
names, with PostgreSQL, Redis, MariaDB, RabbitMQ and a mail catcher as services of
the session's own: of an image that docker-registry on loopback serves, by its
digest."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import databases  # noqa: E402
import harness as h  # noqa: E402

NAME, TAR = os.environ["IC_RUNTIME"], os.environ.get("IC_SERVICES_TAR", "")
ENV = json.loads(os.environ["IC_ENGINE_ENV"])
BASE = "ironcurtain-test-services"
MANIFESTS = ("application/vnd.docker.distribution.manifest.v2+json",
             "application/vnd.oci.image.manifest.v1+json")
PLAIN = ["--tls-verify=false"] if NAME == "podman" else []
t = h.Tap()
WORD = "se cret of app"
PORTS = {"db": 5432, "cache": 6379, "my": 3306, "mq": 5672, "mail": 1025}
SUITE = r'''
import smtplib, time, unittest
import pika, psycopg2, pymysql, redis
WORD = "se cret of app"
class Db(unittest.TestCase):
    def setUp(self):
        self.c = psycopg2.connect(host="db", user="app", password=WORD,
                                  dbname="postgres")
    def tearDown(self):
        self.c.close()
    def test_rows(self):
        with self.c, self.c.cursor() as q:
            q.execute("CREATE TABLE IF NOT EXISTS t (n int)")
            q.execute("INSERT INTO t SELECT generate_series(1, 1000)")
            q.execute("SELECT sum(n) FROM t")
            self.assertEqual(q.fetchone()[0] % 500500, 0)
    def test_rollback(self):
        with self.c.cursor() as q:
            q.execute("CREATE TABLE gone (n int)")
            self.c.rollback()
            with self.assertRaises(psycopg2.errors.UndefinedTable):
                q.execute("SELECT * FROM gone")
    def test_wrong_password(self):
        with self.assertRaises(psycopg2.OperationalError):
            psycopg2.connect(host="db", user="app", password="x",
                             dbname="postgres")
class Cache(unittest.TestCase):
    def setUp(self):
        self.r = redis.Redis("cache", password=WORD)
    def test_keeps(self):
        self.r.set("a", b"1" * 100000)
        self.assertEqual(len(self.r.get("a")), 100000)
    def test_pipeline(self):
        p = self.r.pipeline()
        for i in range(100):
            p.incr("n")
        self.assertEqual(p.execute()[-1] % 100, 0)
    def test_without_password(self):
        with self.assertRaises(redis.AuthenticationError):
            redis.Redis("cache").get("a")
class My(unittest.TestCase):
    def test_rows(self):
        c = pymysql.connect(host="my", user="app", password=WORD,
                            database="shop")
        with c.cursor() as q:
            q.execute("CREATE TABLE t (n int)")
            q.executemany("INSERT INTO t VALUES (%s)", [(i,) for i in
                                                        range(500)])
            c.commit()
            q.execute("SELECT count(*) FROM t")
            self.assertEqual(q.fetchone(), (500,))
        c.close()
    def test_wrong_password(self):
        with self.assertRaises(pymysql.err.OperationalError):
            pymysql.connect(host="my", user="app", password="x")
class Mq(unittest.TestCase):
    def test_orders(self):
        c = pika.BlockingConnection(pika.ConnectionParameters(
            "mq", 5672, connection_attempts=20, retry_delay=1, stack_timeout=60))
        q = c.channel()
        q.queue_declare("orders")
        q.confirm_delivery()
        for i in range(50):
            q.basic_publish("", "orders", b"%d" % i)
        got = [q.basic_get("orders", auto_ack=True)[2] for i in range(50)]
        self.assertEqual(got, [b"%d" % i for i in range(50)])
        c.close()
class Mail(unittest.TestCase):
    def test_caught(self):
        with smtplib.SMTP("mail", 1025) as s:
            s.sendmail("a@shop.test", ["b@shop.test"],
                       "Subject: hello\n\nthe whole body")
if __name__ == "__main__":
    unittest.main(verbosity=2)
'''


def client(s, *args, **kw):
    r = subprocess.run(["/usr/bin/" + NAME, *args], env={**s.env, **ENV}, cwd="/",
                       capture_output=True, text=True, check=False, **kw)
    if r.returncode != 0:
        raise RuntimeError(f"{args}: {r.stdout}{r.stderr}")
    return r.stdout.strip()


class Registry:
    """docker-registry, on loopback."""

    def __init__(self, work):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.address = "127.0.0.1:%d" % s.getsockname()[1]
        config = h.put(os.path.join(work, "registry.yml"), f"""version: 0.1
storage:
  filesystem:
    rootdirectory: {work}/registry
http:
  addr: {self.address}
""")
        self.p = subprocess.Popen(["docker-registry", "serve", config],
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        h.wait_for(self.listens, "docker-registry does not listen")

    def listens(self):
        host, port = self.address.split(":")
        try:
            socket.create_connection((host, int(port)), 1).close()
            return True
        except OSError:
            return False

    def digest(self, name):
        """Returns the digest that the registry itself names."""
        r = urllib.request.Request(
            f"http://{self.address}/v2/{name}/manifests/1", method="HEAD",
            headers={"Accept": ", ".join(MANIFESTS)})
        with urllib.request.urlopen(r, timeout=60) as answer:
            return answer.headers["Docker-Content-Digest"]

    def end(self):
        self.p.terminate()
        self.p.wait()


def pulled(s, registry, work):
    """Builds, pushes and removes the image, and pulls it by its digest. Returns
    that name."""
    place = os.path.join(work, "image")
    os.makedirs(place)
    databases.recipe(place, BASE)
    tag = f"{registry.address}/servers:1"
    client(s, "build", "-q", "-t", tag, place)
    client(s, "push", *PLAIN, "-q", tag)
    client(s, "rmi", "-f", tag)
    found = f"{registry.address}/servers@" + registry.digest("servers")
    client(s, "pull", *PLAIN, "-q", found)
    return found


# Nobody is connected before these succeed.
HEALTH = {"db": ["/usr/bin/pg_isready", "-h", "127.0.0.1", "-p", "5432"],
          "my": ["/usr/bin/mariadb", "--no-defaults", "-h", "127.0.0.1", "-u",
                 "app", "-p" + WORD, "-e", "SELECT 1", "shop"]}


def entries(image):
    every = {"db": {"POSTGRES_PASSWORD": WORD}, "cache": {"REDIS_PASSWORD": WORD},
             "my": {"MARIADB_PASSWORD": WORD}, "mq": {}, "mail": {}}
    return {name: {"port": PORTS[name], "image": image, "env": env,
                   "command": ["/bin/sh", "-ec", databases.SERVERS[name]],
                   "tmpfs": ["/srv/data"],
                   **({"health": HEALTH[name]} if name in HEALTH else {})}
            for name, env in every.items()}


def running(s):
    return client(s, "ps", "--all", "--quiet", "--filter",
                  "label=ironcurtain.session=" + os.path.basename(s.dir)).split()


def test_suite(work):
    s = h.Session(os.path.join(work, "s"), runtime=NAME, options=(
        "--image", BASE, "--agent", "command", "--", "/bin/sh", "-c",
        "python3 /workspace/suite.py >/workspace/new 2>&1; "
        "mv /workspace/new /workspace/out; exec sleep 600"), env=ENV)
    s.write("config.json", s.config)
    client(s, "import", TAR, BASE)
    registry = Registry(work)
    try:
        image = pulled(s, registry, work)
    finally:
        registry.end()
    t.contains(image, "@sha256:", f"{NAME}: the image comes from a registry, by its "
               "digest")
    s.write("config.json", {**s.config, "services": entries(image)})
    h.put(os.path.join(s.workspace, "suite.py"), SUITE, 0o644)
    out = os.path.join(s.workspace, "out")
    began = time.monotonic()
    s.start(180)
    h.wait_for(lambda: os.path.exists(out), "the suite did not end", 300)
    with open(out, encoding="utf-8") as f:
        text = f.read()
    t.ok("Ran 10 tests" in text and text.rstrip().endswith("OK"),
         f"{NAME}: the suite passes with all five", text)
    print(f"# {NAME}: from the start of the session to the end of the suite: "
          f"{time.monotonic() - began:.0f} s")
    with open(os.path.join(s.dir, "services.log"), encoding="utf-8",
              errors="replace") as f:
        t.contains(f.read(), "the whole body", f"{NAME}: the mail is caught")
    t.equal(len(running(s)), 6, f"{NAME}: the agent and five services")
    began = time.monotonic()
    s.process.p.terminate()
    # Podman waits for ten seconds for each container that does not end by itself.
    t.equal(s.wait(10), 143, f"{NAME}: the session ends")
    print(f"# {NAME}: that takes {time.monotonic() - began:.1f} s")
    h.wait_for(lambda: not running(s), "a container is left", 5)
    t.ok(True, f"{NAME}: and no container is left")


if not TAR or not shutil.which("docker-registry"):
    t.ok(True, "databases # SKIP docker-registry is not installed")
else:
    with h.workdir() as top, t.case("databases"):
        test_suite(top)
t.done()
