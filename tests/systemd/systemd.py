#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""./dev test systemd: units under a real user manager of systemd, which need
not be process 1.

usage: systemd.py --build BUILD --user USER [--counts FILE]

Runs as root, which makes a mount and a pid namespace with a /run of its own and
a control group that is the user's; there it starts `systemd --user` as USER, and
runs the tests beside this file.  Nothing of it is left at the end."""
import argparse
import ctypes
import os
import pwd
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEMD = "/usr/lib/systemd/systemd"
CGROUPS = "/sys/fs/cgroup"
PDEATHSIG, KILL = 1, 9
TESTS = ["test_systemd.py", "test_manager.py", "test_jobs.py", "test_scope.py"]


def say(text):
    print("systemd:", text, file=sys.stderr, flush=True)


def mounts(kind):
    """Returns where control groups that systemd uses are mounted."""
    with open("/proc/self/mounts", encoding="utf-8") as f:
        rows = [line.split() for line in f]
    return [r[1] for r in rows if r[2] == kind and (
        kind == "cgroup2" or "name=systemd" in r[3])]


def groups(user):
    """Make a control group of the user's in each hierarchy, and enter it."""
    made = []
    for place in mounts("cgroup") + mounts("cgroup2"):
        path = os.path.join(place, f"ironcurtain-test-{os.getpid()}")
        try:
            os.mkdir(path)
            made.append(path)
            for name in ("", "cgroup.procs", "cgroup.threads", "tasks",
                         "cgroup.subtree_control"):
                if os.path.exists(os.path.join(path, name)):
                    os.chown(os.path.join(path, name), user.pw_uid,
                             user.pw_gid)
        except OSError as e:
            say(f"{path}: {e}")
    return made


def inside(build, user, made):
    """Process 1 of the new namespaces. Returns the test's status."""
    runtime = f"/run/user/{user.pw_uid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"],
                   check=True)
    os.makedirs("/run/systemd/system")
    os.makedirs(runtime, mode=0o700)
    os.chown(runtime, user.pw_uid, user.pw_gid)
    for path in made:
        with open(os.path.join(path, "cgroup.procs"), "w",
                  encoding="ascii") as f:
            f.write(str(os.getpid()))
    env = {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name,
           "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
           "XDG_RUNTIME_DIR": runtime, "SHELL": "/bin/sh",
           "IC_BUILD": build,
           "IC_PREFIX": os.path.join(build, "stage", "usr", "local")}
    # A socket of another user, which a session must not trust.
    foreign = socket.socket(socket.AF_UNIX)
    foreign.bind("/run/foreign.sock")
    os.chmod("/run/foreign.sock", 0o666)
    foreign.listen()
    become = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [],
              "env": env, "cwd": user.pw_dir}
    manager = subprocess.Popen([SYSTEMD, "--user"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **become)
    try:
        up = subprocess.run(
            ["sh", "-c", "n=0; until systemctl --user show-environment "
             ">/dev/null 2>&1; do n=$((n+1)); [ $n -lt 300 ] || exit 1; "
             "sleep 0.1; done"], check=False, **become)
        if up.returncode != 0:
            say("the manager does not answer")
            return 1
        return max(subprocess.run(
            ["/usr/bin/python3", "-B", os.path.join(HERE, name)],
            check=False, **become).returncode for name in TESTS)
    finally:
        foreign.close()
        manager.terminate()
        manager.wait()


def apart(build, user, made):
    """Run inside() in namespaces of its own. Returns what it prints."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        os.dup2(w, 1)
        os.execvp("unshare", [
            "unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child",
            sys.executable, "-B", os.path.abspath(__file__), "--inside",
            ":".join(made), "--build", build, "--user", user.pw_name])
    os.close(w)
    with os.fdopen(r, encoding="utf-8", errors="replace") as f:
        lines = [print(line, end="") or line for line in f]
    return lines, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", required=True)
    p.add_argument("--user", required=True)
    p.add_argument("--counts")
    p.add_argument("--inside")
    o = p.parse_args()
    user = pwd.getpwnam(o.user)
    if o.inside is not None:
        ctypes.CDLL(None).prctl(PDEATHSIG, KILL)
        sys.exit(inside(o.build, user, [x for x in o.inside.split(":") if x]))
    made = groups(user)
    try:
        lines, status = apart(o.build, user, made)
    finally:
        for path in made:
            for at, dirs, _ in os.walk(path, topdown=False):
                os.rmdir(at)
    good = sum(line.startswith("ok ") for line in lines)
    bad = sum(line.startswith("not ok ") for line in lines)
    if o.counts:
        with open(o.counts, "w", encoding="ascii") as f:
            print(good, bad or int(status != 0), 0, file=f)
    sys.exit(status)


if __name__ == "__main__":
    main()
