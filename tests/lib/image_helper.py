# SPDX-License-Identifier: ISC
"""`icctl image` with a stand-in for docker or podman (standins/engine.py)."""
import json
import os
import shutil
import socket
import subprocess

import harness as h

INFO = {
    "docker": {"os": "linux", "version": "20.10", "memory": True,
               "pids": True, "options": []},
    "podman": {"os": "linux", "version": "4.3", "cgroups": "v2",
               "rootless": True, "remote": False, "runtime": "/usr/bin/crun",
               "manager": "systemd"},
}
OURS = "localhost/ironcurtain/"
SHARE = os.path.join(os.path.dirname(h.program("icctl")), "..", "share",
                     "ironcurtain")


class Images:
    """icctl with a stand-in engine of that name."""

    def __init__(self, work, name="docker", **answers):
        self.name = name
        self.s = h.Session(work)
        tools = os.path.join(work, "tools")
        os.makedirs(tools)
        os.makedirs(os.path.join(work, "xdg"))
        shutil.copy(os.path.join(h.STANDINS, "engine.py"),
                    os.path.join(tools, name))
        self.socket = os.path.join(work, "engine.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket)
        self.listener.listen(8)
        self.env = {**self.s.env, "PATH": f"{tools}:/usr/bin:/bin",
                    "XDG_RUNTIME_DIR": os.path.join(work, "xdg"),
                    "HTTP_PROXY": "http://user:secret@proxy:1"}
        self.prefix = []
        self.answer(**answers)

    def answer(self, **answers):
        path = os.path.join(self.s.user_home, "engine.json")
        told = {"context": "unix://" + self.socket, "info": INFO[self.name]}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                told = json.load(f)
        h.put(path, json.dumps({**told, **answers}))

    def run(self, *args, **kw):
        args = list(args)
        if "--runtime" not in args and args[0] == "image":
            args += ["--runtime", self.name]
        return subprocess.run(
            [*self.prefix, h.program("icctl"), *args], env=self.env, text=True,
            stdin=subprocess.DEVNULL, capture_output=True,
            timeout=60 * h.PATIENCE, check=False, **kw)

    def calls(self, word):
        path = os.path.join(self.s.user_home, "engine.jsonl")
        return [c for c in h.read_lines(path) if word in c["args"]]

    def builds(self):
        return self.calls("build")


def of(args, option):
    """Returns the values of an option that may be repeated."""
    return [args[i + 1] for i, a in enumerate(args) if a == option]
