# SPDX-License-Identifier: ISC
"""Starts hostile builds of the workers by hand, under single layers or none: a
layer's own effect can only be observed without the others."""
import contextlib
import os
import re
import select
import shutil
import signal
import socket
import struct
import time

from rig import DEADLINE, LAYERS, QUIET, RAN, Binary, Child, Result, \
    Targets, name_of, wait


class Bare:
    """Hostile builds under single layers, started by hand, one at a time."""

    def __init__(self, work, build, table):
        self.work = work
        self.build = build
        self.table = table
        self.binaries = {}
        self.victims = {}
        self.session = os.path.join(work, "session")
        self.home = os.path.join(work, "home")
        self.lib = os.path.join(work, "libexec")
        for d in (self.session, self.session + "/sockets", self.home,
                  self.lib):
            os.makedirs(d)
        shutil.copy(os.path.join(build, "contain_code"), self.lib + "/code")
        self.listeners = [self.listen_unix("control.sock"),
                          self.listen_unix("sockets/mitm-proxy.sock")]
        self.targets = Targets(f"ic-contain-bare-{os.getpid()}")
        self.log = os.path.join(self.session, "audit.jsonl")

    def listen_unix(self, name):
        s = socket.socket(socket.AF_UNIX)
        old = os.getcwd()
        os.chdir(self.session)      # keep the address short
        s.bind(name)
        os.chdir(old)
        s.listen(128)
        return s

    def reset(self):
        for name in os.listdir(self.home):
            path = os.path.join(self.home, name)
            (os.rmdir if os.path.isdir(path) and not os.path.islink(path)
             else os.unlink)(path)
        for path in (self.home + "/victim", self.home + "/spare",
                     self.home + "/config.json", self.log,
                     self.lib + "/auditd"):
            with open(path, "wb") as f:
                f.write(b"#" * 8192)
            os.chmod(path, 0o600)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.lib + "/new")

    def binary(self, role, layer, kind):
        key = (role, layer, kind)
        if key not in self.binaries:
            self.binaries[key] = Binary(
                os.path.join(self.build, ("hostile_" if layer == "all" else
                                          "bare_") + role),
                os.path.join(self.work, "-".join(key)))
        return self.binaries[key]

    def start(self, binary):
        """Starts the process. Returns it with its channel and its log, up to
        START."""
        ours, theirs = socket.socketpair(socket.AF_UNIX,
                                         socket.SOCK_SEQPACKET)
        r, w = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        p = Child(binary.path, [os.path.basename(binary.path)],
                  {0: null, 1: w, 2: w, 3: theirs.fileno()})
        theirs.close()
        os.close(w)
        os.close(null)
        return p, ours, r

    def setup(self, role, ours):
        ours.settimeout(10)
        ours.recv(65536)            # HELLO
        peers = []
        if role == "icwebd":        # which has none
            host = b"localhost:1\n"
            ours.send(self.msg("WEB_SITE", struct.pack("<I", len(host)) +
                               host))
            ours.send(self.msg("START", b""))
            return peers
        if role in ("gated", "mcp-logind", "mcp-grantd", "mcp-callbackd"):
            ours.send(self.msg("START", b""))
            return peers
        for name, number in self.table.roles.items():
            if name == role or len(peers) == 2:
                continue
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            a.setblocking(False)
            socket.send_fds(ours, [self.msg("PEER", struct.pack(
                "<BHB", number, 0, 0))], [a.fileno()])
            a.close()
            peers.append(b)
        if role == "auditd":
            with open(self.log, "ab") as f:
                socket.send_fds(ours, [self.msg("LOG", struct.pack(
                    "<QI32sBBQ", 1, 32, b"\0" * 32, 0, 0, (1 << 64) - 1))], [f.fileno()])
        ours.send(self.msg("START", b""))
        return peers

    def msg(self, name, fields):
        return struct.pack("<HBB", self.table.messages[name], 0, 0) + fields

    def victim(self, layer):
        v = self.victims.get(layer)
        if v is None or v[0].poll() is not None:
            b = self.binary("mcp-backd", layer, "victim")
            b.order(QUIET, layers=LAYERS[layer])
            p, ours, r = self.start(b)
            keep = self.setup("mcp-backd", ours)
            line = self.read_line(r)
            m = re.search(r"quiet pid (\d+) at 0x([0-9a-f]+)", line)
            if not m:
                raise RuntimeError(f"victim under {layer}: {line!r}")
            v = (p, int(m[1]), int(m[2], 16), ours, keep, r)
            self.victims[layer] = v
        return v

    @staticmethod
    def read_line(fd):
        line = b""
        end = time.monotonic() + DEADLINE
        while not line.endswith(b"\n") and time.monotonic() < end:
            if not select.select([fd], [], [], 1)[0]:
                continue
            got = os.read(fd, 4096)
            if not got:
                break
            line += got
        return line.decode(errors="replace")

    def run(self, role, a, layer):
        self.reset()
        # A process that is started by hand and confined whole (rig.ALONE)
        # attacks one that is not.
        victim = self.victim("bare" if layer == "all" else layer)
        b = self.binary(role, layer, "attacker")
        b.order(a["n"], layers=LAYERS.get(layer, 0), victim=victim[1],
                address=victim[2], port=self.targets.port,
                abstract=self.targets.abstract, session=self.session, home=self.home, libexec=self.lib)
        before = self.content()
        p, ours, r = self.start(b)
        try:
            keep = self.setup(role, ours)
        except OSError as e:
            keep = e
        said = self.finish(p, r)
        ours.close()
        del keep
        result = re.search(rf"RESULT {a['n']} (-?\d+)", said)
        detail = f"exit {p.returncode}\n{said}"
        if f"PROBE {a['n']} " not in said:
            return Result("NOT MADE", detail)
        if p.returncode == -signal.SIGSYS and not result:
            return Result("KILLED", detail)
        if p.returncode == -signal.SIGSEGV and not result:
            return Result("FAULT", detail)
        if p.returncode == RAN:
            return Result("WORKS", detail)
        if not result:
            return Result(f"status {p.returncode}", detail)
        outcome = name_of(int(result[1]))
        if a["call"] in ("pwrite64", "pwritev", "pwritev2", "ftruncate",
                         "fallocate") and a["roles"] == ["auditd"] and \
                outcome == "WORKS" and self.content() == before:
            outcome = "UNCHANGED"
        return Result(outcome, detail)

    def content(self):
        with open(self.log, "rb") as f:
            return f.read()

    @staticmethod
    def finish(p, r):
        """Reads its log until it ends; kills it once it has sent a frame."""
        said = b""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if not select.select([r], [], [], 1)[0]:
                continue
            got = os.read(r, 65536)
            said += got
            if not got or re.search(rb"RESULT \d+ 206\n", said):
                break
        sent = re.search(rb"RESULT \d+ 206\n", said)
        if wait(p, 0.01 if sent else 5) is None:
            p.kill()
            p.wait()
        os.close(r)
        return said.decode(errors="replace")

    def close(self):
        for v in self.victims.values():
            v[0].kill()
            v[0].wait()
        for s in self.listeners:
            s.close()
