# SPDX-License-Identifier: ISC
"""What a person at a terminal sees and presses."""
import os
import pty
import re
import select
import time


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, argv, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        self.out = b""

    def until(self, pattern, timeout=10):
        end = time.monotonic() + timeout
        while not re.search(pattern, self.out):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise TimeoutError(f"{pattern!r} is not in {self.out!r}")
            try:
                self.out += os.read(self.fd, 65536)
            except OSError:
                break
        out, self.out = self.out, b""
        return out.replace(b"\r\n", b"\n")

    def key(self, key):
        os.write(self.fd, key)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)
