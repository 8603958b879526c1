#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl services import: what it takes of a compose file, what it names and
ignores, and that nothing is written without a yes, or started ever."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
DIGEST = "sha256:" + "ab" * 32
# An engine that has one image, by a digest, and another by its id alone.
ENGINE = f"""#!/bin/sh
echo "$@" >>{{log}}
case "$*" in
"image inspect --format "*" postgres:16") echo '{{{{"id":"{DIGEST}","digests":["postgres@{DIGEST}"]}}}}' ;;
"image inspect --format "*" local/cache") echo '{{{{"id":"{DIGEST}","digests":[]}}}}' ;;
*) exit 1 ;;
esac
"""

COMPOSE = """
name: shop
include: [/etc/passwd]
services:
  db:
    image: postgres:16
    ports: ["127.0.0.1:15432:5432"]
    environment:
      POSTGRES_DB: shop
      POSTGRES_PASSWORD: ${SECRET}
      COST: 5$$
    healthcheck:
      test: ["CMD-SHELL", "pg_isready -U $$POSTGRES_USER"]
    volumes: [ "/:/host", "data:/var/lib/postgresql/data" ]
    privileged: true
    env_file: .env
  cache:
    image: local/cache
    expose:
      - 6379
    environment:
      - A=b=c
      - INHERITED
    command: ["--evil"]
    network_mode: host
    healthcheck: {test: redis-cli ping}
  web:
    build: .
    ports: [8080]
  gone:
    image: rabbitmq:3
  "we\\u001b]0;ird":
    image: -v
volumes:
  data: {}
"""
# Services that share what they have in common, as compose files often do.
SHARED = """
x-health: &health
  healthcheck: { test: "pg_isready" }
x-base: &base
  <<: *health
  image: postgres:16
  environment: &env
    POSTGRES_DB: shop
services:
  first:
    <<: *base
    ports: ["6432"]
  second:
    <<: [*base, { privileged: true }]
    ports: ["6433"]
    environment: { <<: *env, POSTGRES_DB: test, LANG: C }
"""
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
    for i in range(1, 10)) + "services: {db: {image: x, ports: *a9}}\n"
WANT = {
    "db": {"port": 5432, "image": "postgres@" + DIGEST,
           "env": {"POSTGRES_DB": "shop", "COST": "5$"},
           "health": ["/bin/sh", "-c", "pg_isready -U $POSTGRES_USER"]},
    "cache": {"port": 6379, "image": DIGEST, "env": {"A": "b=c"},
              "health": ["/bin/sh", "-c", "redis-cli ping"]},
}


class Here:
    def __init__(self, work):
        self.home = os.path.join(work, "home")
        self.log = os.path.join(work, "log")
        self.file = h.put(os.path.join(work, "compose.yaml"), COMPOSE.replace(
            '"we\\u001b]0;ird"', "'we\x1b]0;ird'"))
        os.makedirs(self.home, mode=0o700)
        engine = h.put(os.path.join(work, "bin", "docker"),
                       ENGINE.format(log=self.log))
        os.chmod(engine, 0o755)
        self.env = {"PATH": os.path.join(work, "bin") + ":/usr/bin:/bin",
                    "HOME": work, "IRONCURTAIN_HOME": self.home}

    def run(self, *args):
        return subprocess.run([h.program("icctl"), "services", *args],
                              env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60,
                              check=False)

    def config(self):
        try:
            with open(os.path.join(self.home, "config.json"),
                      encoding="utf-8") as f:
                return json.load(f)
        except FileNotFoundError:
            return None


def test_taken(x):
    r = x.run("import", x.file)
    t.equal((r.returncode, x.config()), (1, None),
            "without a yes, nothing is written")
    t.contains(r.stderr, "--yes writes it", "and it says how")
    r = x.run("import", "--yes", x.file)
    t.equal(r.returncode, 0, "with one it is")
    t.equal(x.config()["services"], WANT, "image, port, constants, health")
    t.equal(json.loads(r.stdout), WANT, "as it was shown")
    for words in ("db: environment POSTGRES_PASSWORD is not taken",
                  "note: ignored: include, volumes\n",
                  "db: ignored: env_file, privileged, volumes",
                  "cache: environment INHERITED is not taken",
                  "cache: ignored: command, network_mode",
                  "web: has no image", "docker pull rabbitmq:3"):
        t.contains(r.stderr, words, "it says: " + words)
    t.ok("\x1b" not in r.stderr + r.stdout, "nothing reaches the terminal")
    with open(x.log, encoding="ascii") as f:
        t.ok(all(line.startswith("image inspect ") and " -v" not in line
                 for line in f), "the engine is asked for digests alone")
    r = x.run("import", "--yes", x.file)
    t.contains(r.stderr, "config.json has a service of this name, which stays",
               "a second time changes nothing")
    t.equal(x.config()["services"], WANT, "indeed")


def test_shown(x, work):
    path = h.put(os.path.join(work, "shown.yaml"), "services:\n  a:\n"
                 f"    image: a@{DIGEST}\n    ports: [\"5000\"]\n"
                 "    environment:\n      A: \"b\u202ec\u009b31m\"\n")
    r = x.run("import", path)
    t.ok(r.stdout.count("31m") == 1 and "\u202e" not in r.stdout and
         "\u009b" not in r.stdout, "characters that hide others are shown",
         r.stdout)


def test_aliases(x, work):
    path = h.put(os.path.join(work, "shared.yaml"), SHARED)
    r = x.run("import", "--yes", path)
    made = {"image": "postgres@" + DIGEST,
            "health": ["/bin/sh", "-c", "pg_isready"]}
    with open(os.path.join(x.home, "config.json"), encoding="utf-8") as f:
        services = json.load(f)["services"]
    t.equal([services.get("first"), services.get("second")],
            [{**made, "port": 6432, "env": {"POSTGRES_DB": "shop"}},
             {**made, "port": 6433,
              "env": {"POSTGRES_DB": "test", "LANG": "C"}}],
            "anchors, aliases and merge keys are read: " + r.stderr)
    t.contains(r.stderr, "second: ignored: privileged",
               "and what they bring in is named as well")


def test_refused(x, work):
    for name, text, words in (
            ("alias.yaml", "services: *x\n", "line 1: no anchor of this name"),
            ("laughs.yaml", LAUGHS, "its aliases make it too large"),
            ("empty.yaml", "x: 1\n", "has no \"services\""),
            ("none.yaml", "services: {a: {build: .}}\n",
             "nothing of it can be taken"),
            ("deep.yaml", "a: " + "[" * 100 + "\n", "nested too deeply"),
            ("large.yaml", "#" * (2 << 20), "larger than 1 MiB")):
        path = h.put(os.path.join(work, name), text)
        r = x.run("import", "--yes", path)
        t.equal(r.returncode, 1, name + " is refused")
        t.contains(r.stderr, words, "and says why")
    link = os.path.join(work, "link.yaml")
    os.symlink(x.file, link)
    t.contains(x.run("import", link).stderr, "is a symbolic link", "a link")
    fifo = os.path.join(work, "fifo.yaml")
    os.mkfifo(fifo)
    t.contains(x.run("import", fifo).stderr, "not a regular file", "a FIFO")
    t.equal(x.run("import").returncode, 64, "no file")


with h.workdir() as top, t.case("import"):
    here = Here(top)
    test_taken(here)
    test_shown(here, top)
    test_aliases(here, top)
    test_refused(here, top)
t.done()
