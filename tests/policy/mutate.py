#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Changes one operator, bound, constant, order or condition of the evaluation
at a time, in a copy of the tree, and checks that a test fails:

    tests/policy/mutate.py [--count 200] [--seed N] [--keep DIR] [--write]

mutants.txt has the latest result (--write). equivalent.txt lists mutants whose
change nobody could observe, each with the argument; they are left out and
replaced by others. A mutant does not count either if it does not compile or
compiles to the same code."""
import argparse
import concurrent.futures
import hashlib
import itertools
import os
import queue
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FILES = ["annot", "args", "breaker", "call", "domain", "domain_git", "eval", "eval_match",
         "eval_rules", "host", "judge", "lists", "path", "path_text", "roles", "rules", "schema",
         "view", "work"]
# Lines with memory that may run out, kernel errors, sizes of buffers, and
# text.
NOT_JUDGING = re.compile(
    r"alloc\(|alloc$|reallocarray|span_dup|getrandom|buf_init|buf_add|buf_printf|need =|"
    r"_printf\(|log_vis\(|work_budget|where_up|where_down|free\(|hold_|builder_init|"
    r"if \(t != NULL\)|t->(role|done|rule)\(")
# Functions that only explain decisions to people.
EXPLAIN = {"eval_miss", "first_value", "any_path", "tell_rule", "reason_printf",
           "reason_bare", "reason_sandbox", "path_strerror", "rules_free", "annots_free",
           "lists_free", "load_warn", "view_free", "breaker_free", "engine_free"}
# In the order in which they run: the fastest to fail first.
TESTS = [("table", ["tests/policy"]), ("breaker", []), ("eval", []), ("domain", []), ("path", []),
         ("places", []), ("rules", ["policyd/policies"]), ("call", []), ("hold", []), ("session", []),
         ("property", ["8000"])]
OTHERS = sorted(re.findall(r"^test_(\w+)\.c$", "\n".join(
    os.listdir(os.path.join(ROOT, "tests/unit/policyd"))), re.M))
TESTS += [(t, ["policyd/policies"]) for t in OTHERS if t not in dict(TESTS)]
PROOF_CALLS = "6000"
SWAP = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
        "&&": "||", "||": "&&"}
TOKEN = re.compile(r"==|!=|<=|>=|&&|\|\||<<|>>|->|\+\+|--|[-+*/|&^]=|[<>]")


def source(root, file):
    place = os.path.join(root, "policyd", "engine", file)
    return place if os.path.exists(place) else os.path.join(root, "policyd", file)


class Mutant:
    def __init__(self, file, function, line, start, end, new, text):
        self.file, self.function, self.line = file, function, line
        self.start, self.end, self.new = start, end, new
        at = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end)
        self.old_line = " ".join(text[at:stop].split())
        self.new_line = " ".join((text[at:start] + new + text[end:stop]).split())

    def key(self):
        return " | ".join([self.file, self.function, self.old_line, self.new_line])


def masked(text):
    """Returns the code with comments, strings and preprocessor lines
    blanked."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^#(?:[^\n]*\\\n)*[^\n]*$',
                  blank, text, flags=re.S | re.M)


def functions(code):
    """Yields name, start and end of each function body."""
    for m in re.finditer(r"^(\w+)\((?:[^;{}]|\n)*?\)\n\{\n", code, re.M):
        end = code.find("\n}\n", m.end())
        yield m.group(1), m.end(), end


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


def sites(code, start, end):
    """Yields start, end, replacement."""
    for m in TOKEN.finditer(code, start, end):
        if m.group() in SWAP:
            yield m.start(), m.end(), SWAP[m.group()]
    for m in re.finditer(r"!(?=[\w(*])", code[start:end]):
        yield start + m.start(), start + m.end(), ""
    for m in re.finditer(r"(?<=[\w)\]] )[-+](?= [\w(*])", code[start:end]):
        yield start + m.start(), start + m.end(), "-" if m.group() == "+" else "+"
    for m in re.finditer(r"(?<![\w.\"'-])(?<!ret = )(?<!return )(\d+)(?=U?\b)(?![\w.])",
                         code[start:end]):
        if int(m.group(1)) >= 16 and code[start + m.start() - 1] == "[":
            continue    # the size of an array
        if code[start + m.start() - 1] == "{" and code[start + m.end()] == "}":
            continue    # an initializer
        yield start + m.start(1), start + m.end(1), str(int(m.group(1)) + 1)
    for a, b in (("true", "false"), ("false", "true")):
        for m in re.finditer(r"\breturn %s;" % a, code[start:end]):
            yield start + m.start(), start + m.end(), "return %s;" % b
    for m in re.finditer(r"\breturn (-1|0);", code[start:end]):
        yield start + m.start(), start + m.end(), \
            "return %s;" % ("0" if m.group(1) == "-1" else "-1")
    for m in re.finditer(r"\b(continue|break);", code[start:end]):
        yield start + m.start(), start + m.end(), \
            "break;" if m.group(1) == "continue" else ";"
    for m in re.finditer(r"\bif (?=\()", code[start:end]):
        at = start + m.end()
        close = closing(code, at)
        if close != -1:
            yield at, close + 1, "(true)"
            yield at, close + 1, "(false)"
    # drop one operand of && or ||
    for m in re.finditer(r"[(&|] ?(!?[\w>.\[\]*-]+(?:\([^()]*\))?) (&&|\|\|)\s+", code[start:end]):
        yield start + m.start(1), start + m.end(), ""
    # swap two consecutive statements
    for m in re.finditer(r"\n(\t+)(\w[^\n{}]*;)\n\1(\w[^\n{}]*;)(?=\n)", code[start:end]):
        a, b = m.group(2), m.group(3)
        target = re.match(r"\*?([\w.>\[\]-]+?)(?:\[[^]]*\])? [-+|&]?= |\w+\((&?\w+), ", a)
        name = target and (target.group(1) or target.group(2))
        if not re.match(r"(return|goto|break|continue|case)\b", a + b[:1]) and \
                not re.match(r"(return|goto|break|continue|case)\b", b) and \
                name and name in b and a.count("(") == a.count(")") and \
                b.count("(") == b.count(")"):
            yield start + m.start(2), start + m.end(3), None


def mutants(root):
    out = {}
    for name in FILES:
        path = source(root, name + ".c")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        code = masked(text)
        for function, start, end in functions(code):
            if function in EXPLAIN:
                continue
            for a, b, new in sites(code, start, end):
                line = code[code.rfind("\n", 0, a) + 1:code.find("\n", a)]
                if NOT_JUDGING.search(line):
                    continue
                if new is None:
                    one, two = text[a:b].split("\n")
                    new = two.strip() + "\n" + one[:len(one) - len(one.lstrip())] + \
                        "\t" + one.strip()
                m = Mutant(name + ".c", function, text.count("\n", 0, a) + 1, a, b, new, text)
                out.setdefault((m.file, m.start, m.end, m.new), m)
    return list(out.values())


def choose(all_of_them, seed):
    """Returns the mutants in a pseudo-random order, in which no file
    dominates; changing one line hardly changes the order of the others."""
    def chance(m):
        h = hashlib.sha256(("%d %s" % (seed, m.key())).encode()).digest()
        return int.from_bytes(h[:8], "big") / 2 ** 64

    by_file = {}
    for m in all_of_them:
        by_file.setdefault(m.file, []).append(m)
    keyed = []
    for ms in by_file.values():
        # By the square root, small files get more than their proportional
        # share.
        keyed += [(chance(m) * len(ms) ** .5, m.key(), m) for m in ms]
    return [m for _, _, m in sorted(keyed, key=lambda x: x[:2])]


def read_equivalent():
    keys, path = {}, os.path.join(HERE, "equivalent.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            key = None
            for line in f:
                line = line.rstrip("\n")
                if line.startswith("\t") and key is not None:
                    keys[key] += line.strip() + " "
                elif line and not line.startswith("#"):
                    key = line
                    keys[key] = ""
    return keys


def read_result():
    """Returns a map from key to the test that caught it, or None, as in
    mutants.txt."""
    path = os.path.join(HERE, "mutants.txt")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        found = re.findall(r"^(\S+): (\w+): (\w+)\n- (.*)\n\+ (.*)\n  (.*)$", f.read(), re.M)
    return {" | ".join((x[0], x[1], x[3], x[4])): x[5] if x[2] == "caught" else None
            for x in found}


class DoesNotCompile(Exception):
    pass


class Scratch:
    """A copy of the tree, built without optimization."""

    def __init__(self, keep, commit):
        self.dir = keep or tempfile.mkdtemp(prefix="mutate.")
        self.keep = keep is not None
        self.tree, self.build = self.dir + "/tree", self.dir + "/build"
        self.tmp = self.dir + "/tmp"
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.tree)
        if commit:
            tar = subprocess.run(["git", "-c", "safe.directory=*", "archive", commit],
                                 cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x"], cwd=self.tree, input=tar, check=True)
        names = b"" if commit else subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, (n.decode() for n in names.split(b"\0"))):
            if os.path.isfile(os.path.join(ROOT, name)):
                os.makedirs(os.path.dirname(os.path.join(self.tree, name)), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, name), os.path.join(self.tree, name))
        self.must("meson", "setup", self.build, self.tree, "--prefix=/usr/local",
                  "-Dbuildtype=plain", "-Dwerror=false", "-Dc_args=-O0 -w")
        self.must("ninja", "-C", self.build, "supervisor/icctl/icctl", "policyd/policyd",
                  *("tests/unit/policyd/test_" + t for t, _ in TESTS))
        self.commands()
        self.keep_objects()
        self.prefix = self.dir + "/stage"
        for place in ("bin", "libexec/ironcurtain", "share/ironcurtain"):
            os.makedirs(os.path.join(self.prefix, place))
        shutil.copy2(self.build + "/supervisor/icctl/icctl", self.prefix + "/bin")
        shutil.copytree(self.tree + "/policyd/policies",
                        self.prefix + "/share/ironcurtain/policies")

    def commands(self):
        """Records the compiler's command lines, to run them without ninja."""
        r = subprocess.run(["ninja", "-C", self.build, "-t", "commands",
                            "tests/unit/policyd/test_" + TESTS[0][0]],
                           capture_output=True, text=True, check=True)
        self.gcc, self.archives, self.link = {}, [], None
        for line in r.stdout.splitlines():
            m = re.search(r" -c \S*(?<!/unit)/policyd/(?:approval/|engine/)?(\w+\.c)$", line)
            if m:
                self.gcc[m.group(1)] = re.sub(r" -M([QF] \S+|D)", "", line)
            elif "libpolicyd_" in line and (" csr" in line or "gcc-ar" in line):
                self.archives.append(line)
            elif " -o tests/unit/policyd/test_" in line and " -c " not in line:
                self.link = line

    def object_of(self, file):
        return os.path.join(self.build, re.search(r" -o (\S+)", self.gcc[file]).group(1))

    def keep_objects(self):
        for file in self.gcc:
            shutil.copyfile(self.object_of(file), self.dir + "/" + file + ".o")

    def unchanged(self, file):
        """Restores the object of the unchanged source."""
        shutil.copyfile(self.dir + "/" + file + ".o", self.object_of(file))

    def quick(self, file):
        """Builds only the first test."""
        return all(subprocess.run(c, shell=True, cwd=self.build, capture_output=True,
                                  check=False).returncode == 0
                   for c in [self.gcc[file]] + self.archives + [self.link])

    @staticmethod
    def must(*args):
        r = subprocess.run(args, capture_output=True, text=True, check=False)
        if r.returncode != 0:
            sys.exit("%s: %s%s" % (args[0], r.stdout[-3000:], r.stderr[-3000:]))

    def fresh(self):
        shutil.rmtree(self.tmp, ignore_errors=True)
        os.makedirs(self.tmp)

    def run(self, args, seconds):
        """Runs a test. Returns None if it passes, else its message."""
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
        try:
            r = subprocess.run(args, capture_output=True, timeout=seconds, cwd=self.tree,
                               preexec_fn=limits, check=False,
                               env={**os.environ, "TMPDIR": self.tmp,
                                    "IC_PREFIX": self.prefix, "IC_BUILD": self.build})
        except subprocess.TimeoutExpired:
            return "takes too long"
        if r.returncode == 0:
            return None
        for line in r.stdout.decode(errors="replace").splitlines():
            if line.startswith("not ok"):
                return line[:120]
        return "exit status %d" % r.returncode

    def tests(self, file=None):
        """Returns the test that fails and its message, or (None, None)."""
        self.fresh()
        for name, args in TESTS:
            program = os.path.join(self.build, "tests/unit/policyd/test_" + name)
            if file is not None and name == TESTS[0][0] and file in self.gcc:
                if not self.quick(file):
                    raise DoesNotCompile
            elif not self.compile("tests/unit/policyd/test_" + name):
                raise DoesNotCompile
            said = self.run([program] + [a if a.isdigit() else os.path.join(self.tree, a)
                                         for a in args], 60)
            if said is not None:
                return name, said
        self.compile("policyd/policyd")
        shutil.copy2(self.build + "/policyd/policyd",
                     self.prefix + "/libexec/ironcurtain/policyd")
        said = self.run([sys.executable, "-B", "tests/e2e/policyd/test_policy_proof.py",
                         PROOF_CALLS], 120)
        return ("proof", said) if said is not None else (None, None)

    def compile(self, target):
        return subprocess.run(["ninja", "-C", self.build, target],
                              capture_output=True, check=False).returncode == 0

    def object(self, file):
        """Returns the code of a file as an optimizing compiler emits it."""
        out = self.dir + "/one.o"
        r = subprocess.run(
            ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-w", "-c", "-I" + self.tree,
             "-I" + self.tree + "/common", "-I" + self.tree + "/policyd"] +
            subprocess.run(["pkg-config", "--cflags", "libbsd-overlay"],
                           capture_output=True, text=True, check=True).stdout.split() +
            [source(self.tree, file), "-o", out],
            capture_output=True, check=False)
        if r.returncode != 0:
            return None
        with open(out, "rb") as f:
            return f.read()

    def close(self):
        if not self.keep:
            shutil.rmtree(self.dir, ignore_errors=True)


def judge(s, m):
    """Returns 'caught', 'survived', or why it does not count; and the test."""
    path = source(s.tree, m.file)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[:m.start] + m.new + text[m.end:])
        name, said = s.tests(m.file)
        if name is not None:
            return "caught", "%s: %s" % (name, said)
        after = s.object(m.file)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return ("same code" if after == s.object(m.file) else "survived"), ""
    except DoesNotCompile:
        return "does not compile", ""
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        s.unchanged(m.file)


def report(rows, left_out, seed, out):
    caught = sum(1 for _, verdict, _ in rows if verdict == "caught")
    out.write("# SPDX-License-Identifier: ISC\n# %d of %d mutants caught; seed %d; %d equivalent "
              "ones left out.\n# Made by tests/policy/mutate.py; see there.\n" % (
                  caught, len(rows), seed, left_out))
    for m, verdict, by in rows:
        out.write("\n%s: %s: %s\n- %s\n+ %s\n%s\n" % (
            m.file, m.function, verdict, m.old_line, m.new_line,
            "  " + re.sub(r"/\S*/policy\.\w+", "@D", by) if by else "  nobody said so"))


def main():
    p = argparse.ArgumentParser(description="Mutants of the policy engine.")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--skip", type=int, default=0, help="begin behind so many")
    p.add_argument("--only", help="file names, separated by commas")
    p.add_argument("--commit", help="this one, not the files as they lie here")
    p.add_argument("--again", action="store_true",
                   help="those of mutants.txt first; what was caught is not tried again")
    p.add_argument("--keep", help="work here, and leave it")
    p.add_argument("--write", action="store_true", help="write mutants.txt")
    p.add_argument("--limit", type=float, default=1e9, help="seconds")
    o = p.parse_args()
    equivalent = read_equivalent()
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as jobs:
        scratches = list(jobs.map(lambda i: Scratch(o.keep and o.keep + str(i), o.commit),
                                  range(o.jobs)))
        first = scratches[0].tests()
        if first != (None, None):
            sys.exit("the tests fail without a mutant: %s" % (first,))
        status = run(o, equivalent, scratches, jobs)
    for s in scratches:
        s.close()
    return status


def run(o, equivalent, scratches, jobs):
    free = queue.Queue()
    for s in scratches:
        free.put(s)

    known = read_result() if o.again else {}

    def one(m):
        if known.get(m.key()):
            return m, "caught", known[m.key()]
        s = free.get()
        try:
            return m, *judge(s, m)
        finally:
            free.put(s)

    pool = choose(mutants(scratches[0].tree), o.seed)
    first = {k: i for i, k in enumerate(known)}
    pool.sort(key=lambda m: first.get(m.key(), len(first)))
    if o.only:
        pool = [m for m in pool if m.file in o.only.split(",")]
    rows, left_out, began = [], 0, time.time()
    todo = iter(pool[o.skip:])
    while len(rows) < o.count and time.time() - began < o.limit:
        batch = list(itertools.islice(todo, min(10 * len(scratches), o.count - len(rows))))
        if not batch:
            break
        left_out += sum(1 for m in batch if m.key() in equivalent)
        for m, verdict, by in jobs.map(one, [m for m in batch if m.key() not in equivalent]):
            if verdict in ("caught", "survived"):
                rows.append((m, verdict, by))
            if verdict == "survived":
                print("SURVIVED policyd/%s:%d\n%s\n" % (m.file, m.line, m.key()), flush=True)
        if o.write:
            with open(os.path.join(HERE, "mutants.txt"), "w", encoding="utf-8") as f:
                report(rows, left_out, o.seed, f)
        print("%d of %d (%d s)" % (len(rows), o.count, time.time() - began), flush=True)
    caught = sum(1 for _, verdict, _ in rows if verdict == "caught")
    print("%d mutants to choose from, %d tried, %d caught, %d equivalent left out" % (
        len(pool), len(rows), caught, left_out))
    return 0 if rows and caught >= len(rows) * 95 // 100 else 1


if __name__ == "__main__":
    sys.exit(main())
