# SPDX-License-Identifier: ISC
"""ic-bridge alone: the terminal and pipes of its command, as termd sees them
over terminal.sock."""
import contextlib
import itertools
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
from harness import Tap, program  # noqa: E402

OUT, ERR, OUT_END, ERR_END, STOPPED = 1, 2, 3, 4, 6
DATA, EOF, SIZE, SHUT, CONTINUE = 0x11, 0x12, 0x13, 0x14, 0x15


NUMBERS = itertools.count(1)


class Termd:
    """The session's end of the sockets, and an ic-bridge that uses them."""

    def __init__(self, options, command, size=(24, 80)):
        self.dir = tempfile.mkdtemp(prefix="icb")
        self.socks = {}
        for name in ("proxy.sock", "mitm-proxy.sock", "terminal.sock"):
            s = socket.socket(socket.AF_UNIX)
            s.bind(os.path.join(self.dir, name))
            s.listen(8)
            self.socks[name] = s
        # Nothing else binds to this address, nor has another of this test.
        self.host = f"127.{os.getpid() % 250 + 1}.{next(NUMBERS)}.7:18080"
        self.p = subprocess.Popen(
            [program("ic-bridge"), "run", *options, "--listen", self.host,
             self.dir, "--", *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.session = self.socks["proxy.sock"].accept()[0]
        self.out = {OUT: b"", ERR: b""}
        self.ended = set()
        self.raw = b""
        self.accept(size)

    def accept(self, size=None):
        self.conn = self.socks["terminal.sock"].accept()[0]
        self.raw = b""
        if size:
            # A command that has ended already needs none.
            with contextlib.suppress(BrokenPipeError):
                self.send(SIZE, struct.pack("<HH", *size))

    def send(self, kind, data=b""):
        self.conn.sendall(struct.pack("<BI", kind, len(data)) + data)

    def read(self, timeout):
        """Read more frames. Returns False at the end of the connection."""
        if not select.select([self.conn], [], [], max(0, timeout))[0]:
            raise TimeoutError(f"nothing comes; so far {self.out}")
        try:
            data = self.conn.recv(65536)
        except ConnectionResetError:
            data = b""
        self.raw += data
        while len(self.raw) >= 5:
            kind, n = struct.unpack("<BI", self.raw[:5])
            if len(self.raw) < 5 + n:
                break
            body, self.raw = self.raw[5:5 + n], self.raw[5 + n:]
            if kind in self.out:
                self.out[kind] += body
            else:
                self.ended.add(kind)
        return bool(data)

    def until(self, text, kind=OUT, timeout=20):
        end = time.monotonic() + timeout
        while text not in self.out[kind]:
            if not self.read(end - time.monotonic()):
                raise EOFError(f"{text!r} is not in {self.out[kind]!r}")
        return self.out[kind]

    def end(self, timeout=20):
        """Returns the exit status, once all output has arrived."""
        end = time.monotonic() + timeout
        while self.read(end - time.monotonic()):
            pass
        status = self.p.wait(timeout)
        self.close()
        return status

    def close(self):
        if self.p.poll() is None:
            os.killpg(self.p.pid, signal.SIGKILL)
            self.p.wait()
        self.said = self.p.stdout.read()
        self.p.stdout.close()
        for s in (*self.socks.values(), self.session, self.conn):
            s.close()
        shutil.rmtree(self.dir)


def sh(script):
    return ["/bin/sh", "-c", script]


def pty(t):
    b = Termd(["--pty"], sh("tty; stty size; read x; echo got $x; exit 7"),
              (33, 101))
    out = b.until(b"33 101")
    t.ok(b"/dev/pts/" in out, "the command has a terminal of its own")
    b.send(DATA, b"hello\r")
    status = b.end()
    t.ok(b"got hello" in b.out[OUT], "what is typed reaches it")
    t.equal(status, 7, "its exit status is passed on")
    t.ok(OUT_END in b.ended, "the end of its output is told")
    t.equal(b.said, b"", "nothing goes to ic-bridge's own output")

    b = Termd(["--pty"], sh("trap 'stty size; exit 3' WINCH; echo on;"
                            "while :; do sleep 0.1; done"))
    b.until(b"on")
    b.send(SIZE, struct.pack("<HH", 50, 132))
    t.equal(b.end(), 3, "a change of the size is a SIGWINCH")
    t.ok(b"50 132" in b.out[OUT], "and the new size is there")

    b = Termd(["--pty"], sh("trap 'echo int; exit 4' INT; echo on;"
                            "while :; do sleep 0.1; done"))
    b.until(b"on")
    b.send(DATA, b"\x03")
    t.equal(b.end(), 4, "^C is an interrupt of the command's own terminal")


# How programs stop themselves: all but the first ask the kernel, which drops
# the signal in a group of processes that no shell could continue.
STOPS = {"SIGSTOP": "kill -STOP $$", "SIGTSTP": "kill -TSTP $$",
         "its group": "kill -TSTP 0", "SIGTTOU": "kill -TTOU $$",
         "SIGTTIN": "kill -TTIN 0"}


def stopped(t):
    for name, stop in STOPS.items():
        b = Termd(["--pty"], sh(f"{stop}; echo went on"))
        while STOPPED not in b.ended:
            b.read(20)
        t.ok(b"went on" not in b.out[OUT], f"{name}: termd is told")
        b.send(CONTINUE)
        t.equal(b.end(), 0, f"{name}: the command is continued")
        t.ok(b"went on" in b.out[OUT], f"{name}: and goes on")

    # The data before CONTINUE is more than a stopped command's terminal takes.
    b = Termd(["--pty"], [sys.executable, "-c", WAITS % "65536"])
    b.until(b"on")
    b.send(DATA, b"x" * 65536)
    b.until(b"got all")
    t.equal(b.end(), 0, "with input that waits it is continued unasked")

    b = Termd(["--pty"], sh("kill -TSTP 0; echo went on"))
    while STOPPED not in b.ended:
        b.read(20)
    b.conn.close()
    b.accept((24, 80))
    t.equal(b.end(), 0, "a new termd does not know, and it is continued")

    b = Termd(["--pty"], sh("trap 'echo term; exit 3' TERM; kill -TSTP 0; "
                            "sleep 300"))
    while STOPPED not in b.ended:
        b.read(20)
    b.p.terminate()
    t.equal(b.end(), 3, "SIGTERM reaches a command that is stopped")

    for how in ("--pipes", "--pty"):
        b = Termd([how], [sys.executable, "-c", LATE])
        if how == "--pty":
            while STOPPED not in b.ended:
                b.read(20)
            b.send(CONTINUE)
        t.equal(b.end(), 0, f"{how}: it is continued once it waits for that")
        t.ok(b"went on" in b.out[OUT], "and knows")


# Reads this many bytes, stopped after the first one.
WAITS = '''
import os, signal, tty
tty.setraw(0)
os.write(1, b"on")
os.read(0, 1)
os.kill(0, signal.SIGTSTP)
got = 1
while got < %s:
    got += len(os.read(0, 65536))
os.write(1, b"got all")
'''
# Stops, and only then waits for its continuation.
LATE = '''
import os, signal, threading
signal.signal(signal.SIGCONT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])
os.kill(os.getpid(), signal.SIGTSTP)
signal.signal(signal.SIGCONT, signal.SIG_DFL)
signal.sigwait([signal.SIGCONT])
os.write(1, b"went on")
'''


def pipes(t):
    b = Termd(["--pipes"], sh("echo out; echo err >&2; cat; exit 5"))
    t.equal(b.end(), 5, "pipes: the exit status")
    t.equal((b.out[OUT], b.out[ERR]), (b"out\n", b"err\n"),
          "standard output and error are apart")
    t.ok({OUT_END, ERR_END} <= b.ended, "and their ends are told")

    b = Termd(["--pipes", "--merge"], sh("echo a; echo b >&2; echo c"))
    b.end()
    t.equal(b.out[OUT], b"a\nb\nc\n", "merged, they keep their order")

    b = Termd(["--pipes", "--input"], ["/bin/cat"])
    data = os.urandom(300000)
    for i in range(0, len(data), 50000):
        b.send(DATA, data[i:i + 50000])
        b.until(data[:i + 1])
    b.send(EOF)
    t.equal(b.end(), 0, "cat ends with its input")
    t.ok(b.out[OUT] == data, "all bytes come back unchanged")

    b = Termd(["--pipes"], sh("exec yes"))
    b.until(b"y\n")
    b.send(SHUT, b"\0")
    t.equal(b.end(), 128 + signal.SIGPIPE, "output that nobody reads: SIGPIPE")

    b = Termd(["--pipes"], sh("sleep 300 & echo done"))
    t.equal(b.end(), 0, "a process left behind does not keep the session open")
    t.equal(b.out[OUT], b"done\n", "and no output is lost")

    b = Termd(["--pipes"], sh("head -c 3000000 /dev/zero"))
    t.equal(b.end(), 0, "more than any buffer holds")
    t.equal(len(b.out[OUT]), 3000000, "arrives to the last byte")


def again(t):
    b = Termd(["--pty"], sh("trap 'stty size' WINCH; echo on;"
                            "while [ -d /proc/$PPID ]; do "
                            "read x && echo got $x; done"))
    b.until(b"on")
    b.conn.close()
    b.accept((24, 80))
    b.until(b"23 80")
    b.until(b"24 80")
    t.ok(True, "after a new connection the agent is made to draw again")
    b.send(DATA, b"more\r")
    b.until(b"got more")
    t.ok(True, "and goes on on the new connection")
    b.session.close()
    t.equal(b.end(), 125, "it ends with its session")

    b = Termd(["--pipes"], sh("echo one; exec sleep 30"), None)
    b.until(b"one")
    b.send(0x55, b"x")
    b.accept()
    t.ok(True, "a frame that may not be ends the connection alone")
    b.close()


def closed(t):
    b = Termd(["--pipes"], sh("sleep 30"))
    proc = f"/proc/{b.p.pid}"
    t.equal(os.stat(proc + "/mem").st_uid, 0, "ic-bridge is not dumpable")
    b.close()


# Connects to the address, prints what it may do, and asks the bridge.
PROBE = """import os, socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("connected")
except OSError as e:
    print(e.strerror)
print([x.split()[1] for x in open("/proc/self/status")
       if x.startswith(("CapPrm", "CapBnd", "NoNewPrivs"))])
print(os.getuid(),
      [x.split(":")[0].strip() for x in open("/proc/net/dev")][2:])
print(sorted(int(x) for x in os.listdir("/proc/self/fd"))[:-1])
s = socket.create_connection(("127.0.0.1", 18080), 5)
s.sendall(b"hello")
print(s.recv(5))
"""


def own_network(t):
    """A command beside others in one network cannot reach them."""
    with tempfile.TemporaryDirectory(prefix="icb") as d, \
            socket.create_server(("127.0.0.1", 0)) as beside, \
            socket.socket(socket.AF_UNIX) as session, \
            socket.socket(socket.AF_UNIX) as mitm:
        for s, name in ((session, "proxy.sock"), (mitm, "mitm-proxy.sock")):
            s.bind(os.path.join(d, name))
            s.listen(8)
        for own in (False, True):
            host = "127.0.0.1:18080" if own else \
                f"127.{os.getpid() % 250 + 1}.9.7:18080"
            p = subprocess.Popen(
                [program("ic-bridge"), "run",
                 *(["--own-network"] if own else []), "--listen", host, d,
                 "--", sys.executable, "-c",
                 PROBE.replace("127.0.0.1\", 18080", host.replace(
                     ":", '", ')), str(beside.getsockname()[1])],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            session.settimeout(20)
            mitm.settimeout(20)
            kept = session.accept()[0]
            conn = mitm.accept()[0]
            conn.sendall(conn.recv(5))
            out = p.communicate(timeout=30)[0].splitlines()
            kept.close()
            conn.close()
            if not own:
                t.equal(out[0], "connected", "without it, it reaches a port")
                continue
            t.equal(out[0], "Connection refused", "its loopback has nobody")
            zero = "0" * 16
            t.equal((out[1], out[2]),
                    (str([zero, zero, "1"]), f"{os.getuid()} ['lo']"),
                    "it has no capability, its own user, and no other network")
            t.equal((out[3], out[4]), ("[0, 1, 2]", "b'hello'"),
                    "it has no descriptor of before, and the session's socket")


def main():
    t = Tap()
    for part in (pty, stopped, pipes, again, closed, own_network):
        part(t)
    t.done()


main()
