# SPDX-License-Identifier: ISC
"""The screen and the keys of a person at a terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, argv, env, rows=None, cols=None, fds=None, cwd=None):
        """fds: further descriptors for the program, by number."""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if rows:
                self.set_size(0, rows, cols)
            for number, fd in (fds or {}).items():
                os.dup2(fd, number)
            if cwd:
                os.chdir(cwd)
            os.execve(argv[0], argv, env)
        self.out = b""
        self.all = b""

    @staticmethod
    def set_size(fd, rows, cols):
        fcntl.ioctl(fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def resize(self, rows, cols):
        self.set_size(self.fd, rows, cols)

    def read(self, timeout):
        """Read more of its output. Returns False if there is none, or it has
        ended."""
        if not select.select([self.fd], [], [], max(0, timeout))[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.out += data
        self.all += data
        return bool(data)

    def until(self, pattern, timeout=30):
        """Returns the output since the last call, once the pattern is in it.
        """
        end = time.monotonic() + timeout
        while not re.search(pattern, self.out):
            if not self.read(end - time.monotonic()):
                raise TimeoutError(f"{pattern!r} is not in {self.out!r}")
        out, self.out = self.out, b""
        return out.replace(b"\r\n", b"\n")

    def key(self, key):
        os.write(self.fd, key)

    def answer(self, key):
        """Press a key that counts only once its call has been shown for a
        second."""
        time.sleep(1.1)
        self.key(key)

    def approve(self, shown, key=b"a"):
        """Press both keys for the call that `icctl watch` showed last."""
        ident = re.findall(r"(\w{4}): \[a\]pprove", shown)[-1]
        self.answer(key)
        self.until(ident.encode() + rb" ?[^\n]*, any other key not to")
        self.key(ident[:1].encode())

    def deny(self, reason=b""):
        """Deny the call that `icctl watch --plain` shows, with a reason."""
        self.answer(b"d")
        self.until(rb"reason \(Enter denies, Esc does not\): ")
        self.key(reason + b"\n")

    def settings(self):
        """Returns everything that stty shows."""
        return termios.tcgetattr(self.fd)

    def echo(self):
        return bool(self.settings()[3] & termios.ECHO)

    def end_status(self):
        """Returns the exit status as a shell reports it."""
        status = self.end()
        return status if status >= 0 else 128 - status

    def end(self, timeout=60):
        """Returns the exit status, once the program has ended by itself. One
        that does not end is killed."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and self.read(end - time.monotonic()):
            pass
        while (done := os.waitpid(self.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                os.close(self.fd)
                raise TimeoutError(f"it did not end: {self.out[-2000:]!r}")
            time.sleep(0.02)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(done[1])
