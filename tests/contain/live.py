# SPDX-License-Identifier: ISC
"""Checks the confinement in force in the processes of a shipped session, read
from /proc, and what others of the same uid, and root, can access."""
import contextlib
import os
import pwd
import re
import resource
import secrets
import subprocess

import rig
import harness

PROXY_PASSWORD = "proxy-real-" + secrets.token_hex(24)
ZERO_CAPS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
NAMESPACES = ("user", "net", "ipc", "uts")


def status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return dict((k, v.strip()) for k, _, v in
                    (line.partition(":") for line in f))


def limits(pid):
    """Returns name -> (soft, hard)."""
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
    """A normal session, run by `user` if this process is root, with a server,
    two providers, and a request through each; and with a forge."""

    def __init__(self, work, args, provider, user=None, libexecdir=None,
                 servers=True, editor=False):
        self.editor = editor
        self.args = args
        self.user = user
        self.uid = pwd.getpwnam(user).pw_uid if user else os.geteuid()
        os.makedirs(work, mode=0o700, exist_ok=True)
        # One provider by name, so that dialerd's resolver is used; the other
        # through a proxy that requires a credential.
        self.proxy = harness.Process(
            [harness.PYTHON, os.path.join(harness.STANDINS,
                                          "connect_proxy.py"),
             "--log", os.devnull, "--user", "corp", "--password",
             PROXY_PASSWORD,
             "--map", f"api.openai.com:443={provider.port}"], os.devnull)
        url = f"http://corp:{PROXY_PASSWORD}@127.0.0.1:" \
              f"{self.proxy.ready['port']}"
        upstream = {"upstream": f"https://localhost:{provider.port}",
                    "ca": provider.ca}
        self.s = harness.Session(work, servers=rig.QUIET_SERVER if servers else {},
                                 provider=provider, prefix=args.prefix,
                                 libexecdir=libexecdir, config={
                                     "proxy": {"ca": provider.ca},
                                     "autoApprove": {"enabled": True},
                                     **rig.FORGE,
                                     "providers": {"anthropic": upstream,
                                                   "openai": {}}},
                                 env={"https_proxy": url, "http_proxy": url,
                                      "npm_config_https_proxy": url,
                                      "SHOP_TOKEN": rig.FORGE_TOKEN},
                                 **(rig.EDITOR if editor else rig.AGENT))
        if editor:
            # The editor says nothing, and does not end.
            fifo = os.path.join(work, "editor")
            os.mkfifo(fifo)
            self.s.argv = ["/bin/sh", "-c", f'exec 0<>{fifo}; exec "$0" "$@"',
                           *self.s.argv]
        if user:
            # The user must be able to enter the workspace's parents.
            subprocess.run(["chown", "-R", user, work], check=True)
            self.s.argv = ["/usr/bin/setpriv", f"--reuid={user}",
                           f"--regid={pwd.getpwnam(user).pw_gid}",
                           "--clear-groups", "--", *self.s.argv]

    def __enter__(self):
        self.s.start()
        return self

    def __exit__(self, *_):
        self.s.stop()
        self.proxy.end()

    def workers(self):
        """Returns pid -> role; includes dialerd's resolver, its sibling."""
        roles = rig.Table(self.args.build).roles
        return {p: "dialerd's resolver" if n == "resolver" else n
                for p, n in children(self.s.pid).items()
                if n in roles or n == "resolver"}

    def ask(self):
        """Makes a request through each provider's keyd. Returns the answers'
        statuses."""
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
    """Checks everything that any user may read about a process."""
    workers = live.workers()
    roles = set(rig.Table(live.args.build).roles)
    roles -= rig.PER_AGENT if live.editor else rig.PER_EDITOR
    roles -= rig.PER_LOGIN
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
        # A limit of one byte starts no handler; one of 0 may be the user's.
        most = "0" if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 else "1"
        tap.equal((lim["Max core file size"], lim["Max processes"]),
                  ((most, most), ("0", "0")),
                  f"{who}: {role}: no core, no child")
    owner = os.stat(f"/proc/{live.s.pid}/mem").st_uid
    tap.ok(owner == 0, f"{who}: icsupervisor: not dumpable", f"owner {owner}")
    start = live.s.events("start")[0]["detail"]["confinement"]
    for name, text in start.items():
        tap.ok({"dumpable=0", "nnp", "seccomp"} <= set(text.split()) and
               f"landlock:{min(rig.landlock_abi(), 7)}" in text.split(),
               f"{who}: {name}: the first record says so", text)


class Held:
    """The positive control: a dumpable process of the same user that holds a
    text at a known address."""

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
        self.p.kill()       # an attacker may have stopped it
        self.p.communicate()


def test_outsider(tap, live, who):
    """Attacks from the same uid, from the same and from a new user namespace;
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


# Role -> (sockets, pipes, files, epolls) in addition to 0, 1 and 2, for s
# servers and k providers. Sockets: the supervisor, peers, and the one in the
# comment.
OWN_FDS = {
    "mcp-proxyd": lambda s, k: (1 + 2 + s + 1, 0, []),       # listener
    "policyd": lambda s, k: (1 + 3 + s, 0, ["views"]),
    # Each server has a door for its egressd, and dialerd one for all of them.
    # Also egressd, as servers have network, and portd.
    "auditd": lambda s, k: (1 + 3 + s + k + s + (s > 0) + 3, s,      # followd, approver, and one of portd, acpd
                            ["audit.jsonl"]),               # ends of stdin
    "mcp-backd": lambda s, k: (1 + 3, 2, []),                # stdout, stderr
    "mitmd": lambda s, k: (1 + 3 + k + 1, 0, ["answers"]),   # listener
    "keyd": lambda s, k: (1 + 3, 0, []),
    "followd": lambda s, k: (1 + 3, 0, []),
    # ... followd's, and those of its resolvers
    "dialerd": lambda s, k: (1 + k + s + 3, 0, []),
    "tunneld": lambda s, k: (1 + 1, 0, []),
    "approver": lambda s, k: (1 + 2, 0, []),
    "egressd": lambda s, k: (1 + 2 + 1, 0, []),              # listener
    "termd": lambda s, k: (1 + 1, 0, []),                    # listener
    "acpd": lambda s, k: (1 + 1 + 1, 0, []),                 # listener
    # Listeners of the sandbox and of a port; the one that asks for users.
    "portd": lambda s, k: (1 + 1 + 3, 0, []),
}
# Two event descriptors for each channel whose messages travel in rings.
OWN_EVENTS = {
    "mcp-proxyd": lambda s: 2 * (2 + s),
    "policyd": lambda s: 2 * (2 + s),
    "auditd": lambda s: 2 * (2 + s),
    "mcp-backd": lambda s: 2 * 3,
}


def descriptors(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
            flags = int(re.search(r"flags:\s+(\d+)", f.read())[1], 8)
        found[int(fd)] = (os.readlink(f"/proc/{pid}/fd/{fd}"), flags)
    return found


def classify(role, fds):
    """Returns sockets, pipes, event descriptors, files, and what is wrong."""
    sockets, pipes, events, files, wrong = 0, 0, 0, set(), []
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
        elif to == "anon_inode:[eventfd]":
            events += 1
        elif role == "policyd" and to == "anon_inode:inotify":
            pass
        elif role == "mitmd" and to == "/memfd:out (deleted)":
            files.add("answers")
        elif role == "policyd" and flags & os.O_PATH:
            files.add("views")
        elif role == "auditd" and to.endswith("/audit.jsonl"):
            files.add("audit.jsonl")
            if flags & os.O_ACCMODE != os.O_WRONLY or \
                    not flags & os.O_APPEND:
                wrong.append(f"the log's flags are {flags:o}")
        else:
            wrong.append(f"{fd} is {to}")
    return sockets, pipes, events, sorted(files), wrong


# Mappings of memory shared with another worker: that can be written to, and
# that can only be read. Rings are written to by both ends.
SHARED = {
    "mcp-proxyd": lambda s, k: (2 + s, 0),
    "policyd": lambda s, k: (2 + s, 0),
    "auditd": lambda s, k: (2 + s, 0),
    "mcp-backd": lambda s, k: (3, 0),
    "mitmd": lambda s, k: (k, k),       # an arena for each keyd
    "keyd": lambda s, k: (1, 1),
}


def shared(pid):
    """Returns the permissions of each mapping of a memfd, sorted."""
    with open(f"/proc/{pid}/maps", encoding="utf-8",
              errors="replace") as f:
        return sorted(line.split()[1] for line in f
                      if "/memfd:ic " in line)


def test_inside(tap, live, who, servers, providers):
    """Checks what only root may read: descriptors, environment, namespaces."""
    ours = {n: os.readlink(f"/proc/self/ns/{n}") for n in NAMESPACES}
    for pid, role in sorted(live.workers().items(), key=lambda x: x[1]):
        with open(f"/proc/{pid}/environ", "rb") as f:
            tap.equal(f.read().strip(b"\0"), b"",
                      f"{who}: {role}: no environment")
        if role.endswith("resolver"):
            continue
        fds = descriptors(pid)
        sockets, pipes, events, files, wrong = classify(role, fds)
        want = OWN_FDS[role](servers, providers)
        rings = OWN_EVENTS.get(role, lambda s: 0)(servers)
        # At most both resolvers' socket pairs, connections that keyd keeps,
        # the sandbox's connection and a viewer, and its idle ones to portd.
        more = {"dialerd": 2, "keyd": 3, "termd": 2, "portd": 8,
                "acpd": 2}.get(role, 0)
        tap.ok(not wrong and want[0] <= sockets <= want[0] + more and
               pipes == want[1] and events == rings and (files == want[2] or
                                     role == "policyd" and not files),
               f"{who}: {role}: no descriptor but its own",
               f"{wrong} {sockets} {pipes} {files}, want {want}, {events} "
               f"event descriptors, want {rings}\n{fds}")
        both, one = SHARED.get(role, lambda s, k: (0, 0))(servers, providers)
        tap.equal(shared(pid), ["r--s"] * one + ["rw-s"] * both,
                  f"{who}: {role}: shares no memory but its own")
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
    """With the filter suspended, nothing in the remaining file system can be
    opened, and no other process signalled. With an empty root only the latter
    is visible from outside, and only if Landlock has scopes."""
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
