# SPDX-License-Identifier: ISC
"""The test world and the cases of this directory for Python programs, and the
confined policyd, queried through `icctl policy eval`."""
import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"(?P<statement>\S+) (?P<sign>[+-]) (?P<title>.*?): "
                 r"(?P<server>\S+) (?P<tool>\S+) (?P<args>.*) => "
                 r"(?P<verdict>\S+)(?: (?P<rule>[^\s\"]+))?"
                 r"(?: (?P<roles>[^\s\"]+))?(?: \"(?P<text>.*)\")?$")


def lines(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                yield n, line


class World:
    """Creates the tree of tree.txt in a new directory and reads its
    servers."""

    def __init__(self):
        tmp = os.environ.get("TMPDIR", "/tmp")
        self.temp = tempfile.TemporaryDirectory(prefix="policy.", dir=tmp)
        self.dir = os.path.realpath(self.temp.name)
        self.sandbox, self.home = self.dir + "/ws", self.dir + "/home"
        self.protect, self.gates, self.trusted = [], {}, []
        for _, line in lines("tree.txt"):
            what, name, *rest = line.split(" ")
            self.make(what, name, [self.text(r) for r in rest])
        with open(os.path.join(HERE, "annotations.json"), encoding="utf-8") as f:
            self.annotations = json.load(f)

    def text(self, s):
        return s.replace("@D", self.dir)

    def make(self, what, name, rest):
        path = os.path.join(self.dir, name)
        if what == "dir":
            os.makedirs(path, mode=0o700, exist_ok=True)
        elif what == "file":
            with open(path, "w", encoding="utf-8"):
                pass
        elif what == "link":
            os.symlink(rest[0], path)
        elif what == "hard":
            os.link(os.path.join(self.dir, rest[0]), path)
        elif what == "fifo":
            os.mkfifo(path, 0o600)
        elif what == "protect":
            self.protect.append(path)
        elif what == "trusted":
            self.trusted.append(name)
        elif what == "server" and rest:
            self.gates[name] = rest


class Group:
    def __init__(self, kind, title):
        self.kind, self.title = kind, title
        self.rules, self.lists, self.rows = [], {}, []


def groups(name, text):
    """Returns the groups of a file of cases; `text` expands @D."""
    out = []
    for n, line in lines(name):
        first, _, rest = line.partition(" ")
        if first in ("engine", "session", "files", "servers", "roots"):
            out.append(Group(first, rest))
        elif first in ("allow", "deny", "escalate"):
            rule, _, cond = rest.partition(" ")
            out[-1].rules.append({"name": rule, "if": json.loads(text(cond)),
                                  "then": first, "reason": "because " + rule})
        elif first == "lists":
            out[-1].lists = json.loads(text("{%s}" % rest))
        elif first != "headless":
            m = row(line)
            if m is None:
                raise SystemExit("%s:%d: what is this?" % (name, n))
            out[-1].rows.append({**m, "place": "%s:%d" % (name, n)})
    return out


def row(line):
    """Parses a row as case_table.c does: a title may contain colons."""
    limit = min(i for i in (line.find("{"), line.find(" => ")) if i != -1)
    end = line.rfind(": ", 0, limit)
    m = ROW.match(line[:end].replace(": ", "; ") + line[end:]) if end != -1 else None
    return m and {k: v or "" for k, v in m.groupdict().items()}


class Policyd:
    """Runs icctl policy with its files in the world's directory."""

    def __init__(self, world, icctl):
        self.world, self.icctl = world, icctl
        self.files = os.path.join(world.dir, "files")
        os.makedirs(self.files, exist_ok=True)
        self.put("annotations.json", world.annotations)

    def put(self, name, value):
        path = os.path.join(self.files, name)
        with open(path, "w", encoding="utf-8") as f:
            if isinstance(value, str):
                f.write(value)
            else:
                json.dump(value, f)
        return path

    def run(self, stdin=b""):
        w = self.world
        args = [self.icctl, "policy", "eval",
                "--policy", os.path.join(self.files, "policy.json"),
                "--annotations", os.path.join(self.files, "annotations.json"),
                "--lists", os.path.join(self.files, "lists.json"),
                "--sandbox", w.sandbox]
        for p in w.protect:
            args += ["--protect", p]
        for server, hosts in w.gates.items():
            args += ["--allow-domains", server + "=" + ",".join(hosts)]
        for server in w.trusted:
            args += ["--trust", server]
        return subprocess.run(args, input=stdin, capture_output=True, timeout=300,
                              env={**os.environ, "HOME": w.home,
                                   "IRONCURTAIN_HOME": w.dir + "/ic"}, check=False)

    def load(self, rules, lists):
        self.put("policy.json", {"rules": rules})
        self.put("lists.json", {"lists": lists})

    def eval(self, requests):
        """Returns one answer for each request; raises SystemExit if the number
        differs."""
        r = self.run("".join((q if isinstance(q, str) else json.dumps(q)) + "\n"
                             for q in requests).encode())
        answers = [json.loads(line) for line in r.stdout.splitlines()]
        if len(answers) != len(requests):
            raise SystemExit("%d answers to %d requests: %s" % (
                len(answers), len(requests), r.stderr.decode(errors="replace")))
        return answers
