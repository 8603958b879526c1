# SPDX-License-Identifier: ISC
"""Processes of another user of this machine. Root takes nobody; an ordinary
user takes one of its range in /etc/subuid, whom the kernel and every other
process see as a user of its own."""
import base64
import json
import os
import pwd
import subprocess

import harness as h

# ./dev gives the tester of a bare machine such a range.
NEEDS = "takes root, or newuidmap (package uidmap) and a range in /etc/subuid"
# For each line: connects, sends, and tells the bytes that came back until the
# other end closed, or "open" if it had not by then.
CLIENT = r"""
import base64, json, socket, sys
def ask(at, send, seconds, leave):
    got = b""
    at = at if isinstance(at, str) else tuple(at)
    with socket.socket(socket.AF_UNIX if isinstance(at, str)
                       else socket.AF_INET) as s:
        s.settimeout(seconds)
        try:
            s.connect(at)
        except OSError as e:
            return type(e).__name__, got
        try:
            s.sendall(base64.b64decode(send))
            while not leave:
                data = s.recv(65536)
                if not data:
                    break
                got += data
        except TimeoutError:
            return "open", got
        except ConnectionError:
            pass
        return "closed", got
for line in sys.stdin:
    end, got = ask(**json.loads(line))
    print(json.dumps([end, base64.b64encode(got).decode()]), flush=True)
"""


class Client:
    """Connects to addresses and to paths, as the user of the wrapper."""

    def __init__(self, words=()):
        self.p = subprocess.Popen(
            [*words, h.PYTHON, "-c", CLIENT], cwd="/", text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def connect(self, at, send=b"", seconds=20, leave=False):
        """Returns the end, and the bytes that came back. leave: close at once
        after sending."""
        self.p.stdin.write(json.dumps({
            "at": at, "send": base64.b64encode(send).decode(),
            "seconds": seconds * h.PATIENCE, "leave": leave}) + "\n")
        self.p.stdin.flush()
        end, got = json.loads(self.p.stdout.readline())
        return end, base64.b64decode(got)

    def end(self):
        self.p.stdin.close()
        self.p.wait(20 * h.PATIENCE)
        self.p.stdout.close()


def wrapper():
    """Returns the words before a command that run it as another user, or None
    if this machine has none for us."""
    if os.geteuid() == 0:
        return ["setpriv", "--reuid=65534", "--clear-groups", "--"]
    words = ["unshare", "--map-auto", "--map-root-user", "--",
             "setpriv", "--reuid=1", "--clear-groups", "--"]
    # Another user may not send a signal to this process.
    r = subprocess.run([*words, "sh", "-c", "kill -0 %d || echo other" %
                        os.getpid()], capture_output=True, text=True,
                       timeout=20, check=False)
    return words if r.stdout == "other\n" else None


def become(name):
    """Lets a test that root has started be one of that user."""
    user = pwd.getpwnam(name)
    os.initgroups(name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ["HOME"] = user.pw_dir
