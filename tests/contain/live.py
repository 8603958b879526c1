# SPDX-License-Identifier: ISC
"""What is in force in the processes of a session as it is shipped, read from
/proc; what others of the same uid, and root, can get at."""
import base64
import contextlib
import os
import pwd
import re
import subprocess

import rig
import harness

ZERO_CAPS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
HUGE = 8 << 30
NAMESPACES = ("user", "net", "ipc", "uts")


def status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return dict((k, v.strip()) for k, _, v in
                    (line.partition(":") for line in f))


def limits(pid):
    """Name -> (soft, hard)."""
    found = {}
    with open(f"/proc/{pid}/limits", encoding="utf-8") as f:
        for line in list(f)[1:]:
            parts = re.split(r"\s{2,}", line.strip())
            found[parts[0]] = tuple(parts[1:3])
    return found


def children(pid):
    found = {}
    for p in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{p}/stat", encoding="utf-8") as f:
                name, rest = f.read().rsplit(")", 1)
            if int(rest.split()[1]) == pid:
                found[int(p)] = name.split("(", 1)[1]
    return found


def descendants(pid):
    found = children(pid)
    for child in list(found):
        found.update(descendants(child))
    return found


class Live:
    """A normal session, run by `user` (when we are root: by that user), with
    a server, two providers, and a request through each."""

    def __init__(self, work, args, provider, user=None, libexecdir=None,
                 servers=True):
        self.args = args
        self.user = user
        self.uid = pwd.getpwnam(user).pw_uid if user else os.geteuid()
        os.makedirs(work, mode=0o700, exist_ok=True)
        server = {"quiet": {"command": "/bin/sleep", "args": ["600"]}}
        # By name, so that dialerd's resolver has something to do.
        upstream = {"upstream": f"https://localhost:{provider.port}",
                    "ca": provider.ca}
        self.s = harness.Session(work, servers=server if servers else {},
                                 provider=provider, prefix=args.prefix,
                                 libexecdir=libexecdir, config={
                                     "providers": {"anthropic": upstream,
                                                   "openai": upstream}})
        if user:
            # The workspace's parents must be the user's to pass.
            subprocess.run(["chown", "-R", user, work], check=True)
            self.s.argv = ["/usr/bin/setpriv", f"--reuid={user}",
                           f"--regid={pwd.getpwnam(user).pw_gid}",
                           "--clear-groups", "--", *self.s.argv]

    def __enter__(self):
        self.s.start()
        return self

    def __exit__(self, *_):
        self.s.stop()

    def workers(self):
        """pid -> role, the resolver as dialerd's child included."""
        roles = rig.Table(self.args.build).roles
        found = {p: n for p, n in children(self.s.pid).items() if n in roles}
        for pid, name in list(found.items()):
            for child in children(pid):
                found[child] = name + "'s resolver"
        return found

    def ask(self):
        """A request through each provider's keyd, answered."""
        good = []
        for host, kind in (("api.anthropic.com", "anthropic"),
                           ("api.openai.com", "openai")):
            m = self.s.model(host)
            good.append(m.message("hello", kind).status)
            m.close()
        return good


def expect_status(role):
    want = {"NoNewPrivs": "1", "Seccomp": "2", "Umask": "0077",
            "SigBlk": "0" * 16}
    want.update(dict.fromkeys(ZERO_CAPS, "0" * 16))
    if role.endswith("resolver"):
        del want["Umask"]
    return want


def test_status(tap, live, who):
    """What anyone may read of a process."""
    workers = live.workers()
    roles = set(rig.Table(live.args.build).roles)
    tap.equal(roles - set(workers.values()), set(),
              f"{who}: every worker is there")
    for pid, role in sorted(workers.items(), key=lambda x: x[1]):
        st = status(pid)
        want = expect_status(role)
        tap.equal({k: st[k] for k in want}, want,
                  f"{who}: {role}: filter, no_new_privs, no capability")
        owner = os.stat(f"/proc/{pid}/mem").st_uid
        tap.ok(owner == 0, f"{who}: {role}: not dumpable", f"owner {owner}")
        tap.equal(st["Uid"].split(), [str(live.uid)] * 4,
                  f"{who}: {role}: runs as the user")
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            tap.equal(f.read(), role.split("'")[0].encode() + b"\0",
                      f"{who}: {role}: no arguments")
        lim = limits(pid)
        tap.equal((lim["Max core file size"], lim["Max processes"]),
                  (("0", "0"), ("0", "0")),
                  f"{who}: {role}: no core, no child")
    owner = os.stat(f"/proc/{live.s.pid}/mem").st_uid
    tap.ok(owner == 0, f"{who}: icsupervisor: not dumpable", f"owner {owner}")
    start = live.s.events("start")[0]["detail"]["confinement"]
    for name, text in start.items():
        tap.ok({"dumpable=0", "nnp", "seccomp"} <= set(text.split()) and
               f"landlock:{min(rig.landlock_abi(), 7)}" in text.split(),
               f"{who}: {name}: the first record says so", text)


class Held:
    """The positive control: a dumpable process of the same user that holds
    a text, at an address."""

    def __init__(self, live, text="control"):
        self.p = subprocess.Popen(
            [os.path.join(live.args.build, "contain_held")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            user=live.uid if live.user else None)
        self.p.stdin.write(text.encode() + b"\n")
        self.p.stdin.flush()
        self.address = self.p.stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()       # who attached to it left it stopped
        self.p.communicate()


def test_outsider(tap, live, who):
    """Someone of the same uid, from the same and from a new user namespace;
    a dumpable process of that uid shows that each way works."""
    with Held(live) as held:
        outsider(tap, live, who, held)


def outsider(tap, live, who, held):
    program = os.path.join(live.args.build, "contain_outsider")
    prefix = ["/usr/bin/setpriv", f"--reuid={live.user}", "--clear-groups",
              "--"] if live.user else []

    def attack(pid, *wrap):
        r = subprocess.run([*prefix, *wrap, program, str(pid),
                            held.address],
                           capture_output=True, text=True)
        return dict(line.split("\t") for line in r.stdout.splitlines()) or \
            {"outsider": r.stderr}

    got = attack(held.p.pid)
    tap.equal(set(got.values()), {"WORKS"},
              f"{who}: an outsider gets at a dumpable process in "
              f"{len(got)} ways")
    targets = {**live.workers(), live.s.pid: "icsupervisor"}
    for pid, role in sorted(targets.items(), key=lambda x: x[1]):
        got = attack(pid)
        tap.ok(len(got) > 5 and set(got.values()) <= {"EPERM", "EACCES"},
               f"{who}: an outsider gets at {role} in none", got)
        if role == "keyd":
            got = attack(pid, "/usr/bin/unshare", "--user",
                         "--map-root-user")
            tap.ok(len(got) > 5 and set(got.values()) <= {"EPERM", "EACCES"},
                   f"{who}: nor as root of a namespace of its own", got)


# Role -> (sockets, pipes, files, epolls) beside 0, 1 and 2, for s servers and
# k providers. Sockets: the supervisor, peers, and what the note says.
OWN_FDS = {
    "mcp-proxyd": lambda s, k: (1 + 2 + s + 1, 0, []),       # listener
    "policyd": lambda s, k: (1 + 2 + s, 0, ["views"]),
    "auditd": lambda s, k: (1 + 3 + s + k, s, ["audit.jsonl"]),  # stdin ends
    "mcp-backd": lambda s, k: (1 + 3, 2, []),                # stdout, stderr
    "mitmd": lambda s, k: (1 + 1 + k + 1, 0, []),            # listener
    "keyd": lambda s, k: (1 + 3, 0, []),
    "dialerd": lambda s, k: (1 + k, 0, []),                  # and resolver's
}


def descriptors(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
            flags = int(re.search(r"flags:\s+(\d+)", f.read())[1], 8)
        found[int(fd)] = (os.readlink(f"/proc/{pid}/fd/{fd}"), flags)
    return found


def classify(role, fds):
    """Sockets, pipes, files; and what is wrong."""
    sockets, pipes, files, wrong = 0, 0, set(), []
    for fd, (to, flags) in sorted(fds.items()):
        if fd == 0:
            if to != "/dev/null":
                wrong.append(f"0 is {to}")
            continue
        if fd in (1, 2):
            if not to.startswith("pipe:"):
                wrong.append(f"{fd} is {to}")
            continue
        if not flags & os.O_CLOEXEC:
            wrong.append(f"{fd} ({to}) would be inherited")
        if to.startswith("socket:"):
            sockets += 1
        elif to.startswith("pipe:"):
            pipes += 1
        elif to == "anon_inode:[eventpoll]":
            pass
        elif role == "policyd" and flags & os.O_PATH:
            files.add("views")
        elif role == "auditd" and to.endswith("/audit.jsonl"):
            files.add("audit.jsonl")
            if flags & os.O_ACCMODE != os.O_WRONLY or \
                    not flags & os.O_APPEND:
                wrong.append(f"the log's flags are {flags:o}")
        else:
            wrong.append(f"{fd} is {to}")
    return sockets, pipes, sorted(files), wrong


def test_inside(tap, live, who, servers, providers):
    """What only root may read: descriptors, environment, namespaces."""
    ours = {n: os.readlink(f"/proc/self/ns/{n}") for n in NAMESPACES}
    for pid, role in sorted(live.workers().items(), key=lambda x: x[1]):
        with open(f"/proc/{pid}/environ", "rb") as f:
            tap.equal(f.read().strip(b"\0"), b"",
                      f"{who}: {role}: no environment")
        if role.endswith("resolver"):
            continue
        fds = descriptors(pid)
        sockets, pipes, files, wrong = classify(role, fds)
        want = OWN_FDS[role](servers, providers)
        # Up to a resolver's pair, and connections that keyd keeps.
        more = {"dialerd": 1, "keyd": 3}.get(role, 0)
        tap.ok(not wrong and want[0] <= sockets <= want[0] + more and
               pipes == want[1] and (files == want[2] or
                                     role == "policyd" and not files),
               f"{who}: {role}: no descriptor but its own",
               f"{wrong} {sockets} {pipes} {files}, want {want}\n{fds}")
        keeps = {"dialerd": {"net"}}.get(role, set())
        left = {n for n in NAMESPACES
                if os.readlink(f"/proc/{pid}/ns/{n}") != ours[n]}
        tap.equal(left, set(NAMESPACES) - keeps,
                  f"{who}: {role}: namespaces of its own")
        root = os.readlink(f"/proc/{pid}/root")
        tap.ok(root == "/" if role == "policyd" else
               re.fullmatch(r"/proc/\d+/task.*|/\d+/task.*", root),
               f"{who}: {role}: its root is "
               f"{'by name only' if role == 'policyd' else 'empty'}", root)


def test_landlock(tap, live, who):
    """With the filter suspended: what is left of the file system cannot be
    opened, and no one else be signalled. Where the root is empty only the
    latter can be seen from outside, and only where Landlock has scopes."""
    with Held(live) as held:
        def tried(pid):
            r = subprocess.run([os.path.join(live.args.build,
                                             "contain_inject"),
                                str(pid), str(held.p.pid)],
                               capture_output=True, text=True)
            return r.stdout.split() or [r.stderr.strip()] * 2

        got = tried(live.s.pid)
        if "written for" in got[0] or "suspends no" in got[0]:
            tap.skip(f"{who}: Landlock in live workers", got[0])
            return
        tap.equal(got, ["WORKS", "WORKS"],
                  f"{who}: icsupervisor is under no Landlock")
        for pid, role in sorted(live.workers().items(), key=lambda x: x[1]):
            opened, signalled = tried(pid)
            if role in ("policyd", "dialerd's resolver"):
                tap.equal(opened, "EACCES", f"{who}: {role}: without the "
                          "filter Landlock keeps / shut")
            if rig.landlock_abi() >= 6:
                tap.equal(signalled, "EPERM", f"{who}: {role}: without the "
                          "filter Landlock lets no signal out")
            elif role != "policyd":
                tap.skip(f"{who}: {role}: Landlock's scope",
                         "needs Landlock ABI 6, Linux 6.12")
    tap.equal(live.ask(), [200, 200], f"{who}: none of it did harm")


def canaries():
    """The keys as they might lie somewhere."""
    found = []
    for key in (harness.ANTHROPIC_KEY, harness.OPENAI_KEY):
        raw = key.encode()
        found += [raw, raw[-24:], raw[::-1], raw.hex().encode(),
                  raw.hex().upper().encode()]
        for skip in range(3):
            whole = base64.b64encode(raw[skip:])
            found.append(whole[:len(whole) // 4 * 4 - 8])
    return found


def holds(pid, patterns):
    """Whether a canary is in its memory, environment or arguments."""
    with contextlib.suppress(OSError):
        for name in ("environ", "cmdline"):
            with open(f"/proc/{pid}/{name}", "rb") as f:
                text = f.read()
            if any(p in text for p in patterns):
                return name
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, \
                open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for line in maps:
                m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if not m or "[v" in line:
                    continue
                start, end = int(m[1], 16), int(m[2], 16)
                # Shadow maps and the like, of processes that are not ours.
                if end - start < HUGE and search(mem, start, end, patterns):
                    return line.strip()
    return None


def search(mem, start, end, patterns):
    step, overlap = 16 << 20, 256
    while start < end:
        size = min(step, end - start)
        try:
            mem.seek(start)
            text = mem.read(size)
        except (OSError, ValueError, OverflowError):
            return False
        if any(p in text for p in patterns):
            return True
        start += size if start + size >= end else size - overlap
    return False


def scan(but):
    """pid -> (name, where), over every process there is."""
    patterns = canaries()
    found, count = {}, 0
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if pid in but:
            continue
        count += 1
        where = holds(pid, patterns)
        if where:
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                    found[pid] = (f.read().strip(), where)
    return found, count


def in_files(*dirs):
    patterns = canaries()
    found = []
    for d in dirs:
        for at, _, names in os.walk(d):
            for name in names:
                path = os.path.join(at, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as f:
                        text = f.read()
                    if any(p in text for p in patterns):
                        found.append(path)
    return found


def test_key(tap, live, provider, who):
    """After requests with it, the credential is nowhere but in keyd; there,
    where the kernel has memfd_secret, not even root finds it."""
    tap.equal(live.ask(), [200, 200], f"{who}: requests with the real keys")
    but = {os.getpid(), provider.p.pid}
    with Held(live, harness.ANTHROPIC_KEY) as held:
        found, count = scan(but)
        control = found.pop(held.p.pid, None)
    tap.ok(control, f"{who}: the search finds a key that lies open, in "
           f"{count} processes")
    workers = live.workers()
    secret = live.s.events("start")[0]["detail"]["confinement"]
    hidden = all("secretmem" in v for k, v in secret.items()
                 if k.startswith("keyd"))
    others = {p: f for p, f in found.items() if workers.get(p) != "keyd"}
    tap.equal(others, {}, f"{who}: and none in a process that is not keyd")
    if hidden:
        tap.equal(found, {}, f"{who}: nor in keyd: its pages are secret to "
                  "root as well")
    else:
        tap.equal(len(found), 2, f"{who}: but in each keyd")
    tap.equal(in_files(live.s.dir, live.s.home), [],
              f"{who}: and none in a file of ours")


def test_fallback(tap, live, provider, who):
    """keyd without memfd_secret: the search finds each key, there alone."""
    tap.equal(live.ask(), [200, 200],
              f"{who}: requests, without memfd_secret")
    found, _ = scan({os.getpid(), provider.p.pid})
    workers = live.workers()
    tap.equal(sorted(workers.get(p, f) for p, f in found.items()),
              ["keyd", "keyd"],
              f"{who}: the search finds both keys, each in its keyd alone")
    tap.ok(all("secretmem" not in v for k, v in
               live.s.events("start")[0]["detail"]["confinement"].items()),
           f"{who}: the first record says that no memory is secret")


def fallback_libexec(work, args):
    d = os.path.join(work, "libexec-fallback")
    real = os.path.join(args.prefix, "libexec", "ironcurtain")
    os.makedirs(d)
    os.chmod(work, 0o755)
    for name in os.listdir(real):
        os.symlink(os.path.join(args.build, "fallback_keyd")
                   if name == "keyd" else os.path.join(real, name),
                   os.path.join(d, name))
    return d


def user_parts(tap, args, work, after_root):
    provider = harness.Provider(work)
    with tap.case("live, as a user"), \
            Live(os.path.join(work, "u"), args, provider) as live:
        tap.equal(live.ask(), [200, 200], "user: a session at work")
        test_status(tap, live, "user")
        test_outsider(tap, live, "user")
    provider.end()
    for name in () if after_root else (
            "descriptors, environment and namespaces of live workers",
            "Landlock in live workers",
            "search of all memory for the credential"):
        tap.skip(name, "needs root: run.py --root")


def root_parts(tap, args, work):
    os.chmod(work, 0o755)
    provider = harness.Provider(work)
    user = "ictest"
    try:
        pwd.getpwnam(user)
    except KeyError:
        user = "nobody"
    with tap.case("live, of a user, seen by root"), \
            Live(os.path.join(work, "u"), args, provider, user) as live:
        test_status(tap, live, "user's session")
        test_inside(tap, live, "user's session", 1, 2)
        test_landlock(tap, live, "user's session")
        test_outsider(tap, live, "user's session")
        test_key(tap, live, provider, "user's session")
    with tap.case("live, of root"), \
            Live(os.path.join(work, "r"), args, provider) as live:
        test_status(tap, live, "root's session")
        test_inside(tap, live, "root's session", 1, 2)
        test_landlock(tap, live, "root's session")
        test_key(tap, live, provider, "root's session")
    with tap.case("no memfd_secret"), \
            Live(os.path.join(work, "f"), args, provider,
                 libexecdir=fallback_libexec(work, args),
                 servers=False) as live:
        test_fallback(tap, live, provider, "fallback")
    provider.end()
