# SPDX-License-Identifier: ISC
"""What a person at a terminal sees and presses."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, argv, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        self.out = b""

    def read(self, timeout):
        """More of its output; False: there is none, or it has ended."""
        if not select.select([self.fd], [], [], max(0, timeout))[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.out += data
        return bool(data)

    def until(self, pattern, timeout=30):
        """What came since the last time, once the pattern is in it."""
        end = time.monotonic() + timeout
        while not re.search(pattern, self.out):
            if not self.read(end - time.monotonic()):
                raise TimeoutError(f"{pattern!r} is not in {self.out!r}")
        out, self.out = self.out, b""
        return out.replace(b"\r\n", b"\n")

    def key(self, key):
        os.write(self.fd, key)

    def answer(self, key):
        """It counts once its call has stood there for a second."""
        time.sleep(1.1)
        self.key(key)

    def approve(self, shown, key=b"a"):
        """Both keys for the call that `icctl watch` has shown last."""
        ident = re.findall(r"(\w{4}): \[a\]pprove", shown)[-1]
        self.answer(key)
        self.until(ident.encode() + rb" ?[^\n]*, any other key not to")
        self.key(ident[:1].encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def echo(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def end(self):
        """Its exit status, once it has ended by itself."""
        while self.read(30):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
