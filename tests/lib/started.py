# SPDX-License-Identifier: ISC
"""`icctl start` as a person runs it: a home, a workspace, and the processes
that it starts."""
import json
import os
import shlex
import stat
import subprocess

import harness as h
import known_machine
from terminal import Terminal


class Place:
    """A home and a project for sessions that `icctl start` makes."""

    def __init__(self, work, config=None, first=False):
        """`first`: the first session looks for the links of /usr itself."""
        self.work = work
        self.home = os.path.join(work, "home")
        self.project = os.path.join(work, "project")
        self.user = os.path.join(work, "user")
        for d in (self.home, self.project, self.user):
            os.makedirs(d, mode=0o700, exist_ok=True)
        if not first:
            known_machine.give(self.home)
        h.put(os.path.join(self.home, "config.json"),
              json.dumps(config or {}), 0o600)
        # No server: the agent's terminal needs none.
        h.put(os.path.join(self.home, "mcp-servers.json"), "{}", 0o600)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.user,
                    "IRONCURTAIN_HOME": self.home, "LANG": "C.UTF-8",
                    "TERM": "xterm-256color"}

    def script(self, text, name="agent.sh"):
        """Write a program of the agent into its workspace."""
        h.put(os.path.join(self.project, name), "#!/bin/bash\n" + text, 0o755)
        return "/workspace/" + name

    def argv(self, *command, options=()):
        return [h.program("icctl"), "start", "--quiet", "--workspace",
                self.project, *options, "--", *command]

    def run(self, *command, timeout=60, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        env = {**self.env, **kw.pop("env", {})}
        return subprocess.run(self.argv(*command), env=env, timeout=timeout,
                              check=False, **kw)

    def popen(self, *command, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(self.argv(*command), env=self.env, **kw)

    def terminal(self, *command, **kw):
        env = {**self.env, **kw.pop("env", {})}
        return Terminal(self.argv(*command), env, **kw)

    def shell(self, text, **kw):
        """Run a shell script on a terminal; START is replaced by `icctl
        start`."""
        start = shlex.join(self.argv()[:-1])
        env = {**self.env, **kw.pop("env", {})}
        return Terminal(["/bin/bash", "--norc", "-c",
                         text.replace("START", start)], env, **kw)

    def icctl(self, *args, **kw):
        return subprocess.run([h.program("icctl"), *args], env=self.env,
                              capture_output=True, text=True, timeout=30,
                              check=False, **kw)

    def session(self):
        """Returns the directory of the newest session."""
        top = os.path.join(self.home, "sessions")
        return max((os.path.join(top, n) for n in os.listdir(top)),
                   key=lambda p: (float(subprocess.check_output(
                       ["stat", "-c", "%.W", p])), os.path.getmtime(p)))

    def log(self):
        with open(os.path.join(self.session(), "session.log"),
                  encoding="utf-8", errors="replace") as f:
            return f.read()


def children(pid):
    """Returns the process ids of the children of all threads."""
    out = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children",
                      encoding="ascii") as f:
                out += [int(x) for x in f.read().split()]
    except OSError:
        pass
    return out


def named(pid, name):
    """Returns a child's id, by the name of its program."""
    for child in children(pid):
        try:
            with open(f"/proc/{child}/comm", encoding="ascii") as f:
                if f.read().strip() == name:
                    return child
        except OSError:
            pass
    return None


def family(pid):
    """Returns {name: id} of the processes below the one that a shell sees."""
    def find():
        supervisor = named(pid, "icsupervisor")
        viewer = named(pid, "icctl")
        term = supervisor and named(supervisor, "termd")
        if supervisor and viewer and term:
            return {"parent": pid, "viewer": viewer, "termd": term,
                    "supervisor": supervisor}
        return None
    return h.wait_for(find, "the processes of icctl start")


def fds(pid):
    """Returns the targets of its descriptors."""
    out = {}
    for n in os.listdir(f"/proc/{pid}/fd"):
        try:
            out[int(n)] = os.readlink(f"/proc/{pid}/fd/{n}")
        except OSError:
            pass
    return out


def is_terminal(path):
    try:
        st = os.stat(path)
    except OSError:
        return False
    return stat.S_ISCHR(st.st_mode) and os.major(st.st_rdev) in (4, 5, 136)
