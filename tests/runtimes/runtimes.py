#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""./dev test runtimes: sessions in containers of the real Docker and Podman.

usage: runtimes.py --build BUILD --user USER [--agent AGENT]

Runs as root, which dockerd needs: it starts one of its own, with its own data
root, makes an image of the distribution's packages (none can be fetched), and
runs test_runtimes.py, test_attack.py, test_services.py, test_databases.py,
test_toolchains.py, test_agents.py, test_lives.py and tests of the suite e2e as USER.  With --agent only that agent and the break-out test,
and only in Docker; what is missing is a reason to skip then.  At the end nothing of it is left but the image's file in
BUILD/runtimes."""
import argparse
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import base  # noqa: E402
import databases  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
IMAGE = "ironcurtain-test"
SERVICES_TAR = "/runtimes/services.tar"
DOCKER = "/usr/bin/docker"
# Tests of other directories that run in a container as well as under bwrap.
ALSO = ["tests/e2e/supervisor/test_limits.py"]


def say(text):
    print("runtimes:", text, file=sys.stderr, flush=True)


class Docker:
    """A dockerd of our own."""

    def __init__(self, work, user, more=()):
        self.socket = os.path.join(work, "docker.sock")
        self.host = "unix://" + self.socket
        self.data = os.path.join(work, "data")
        self.exec = os.path.join(work, "exec")
        self.log = os.path.join(work, "dockerd.log")
        group = str(user.pw_gid)
        with open(self.log, "wb") as log:
            self.p = subprocess.Popen(
                ["dockerd", "--storage-driver=overlay2", "--iptables=false",
                 "--bridge=none", "--data-root", self.data, "--exec-root",
                 self.exec, "--pidfile",
                 os.path.join(work, "dockerd.pid"), "-G", group, "-H",
                 self.host, *more], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, start_new_session=True)
            # It says so when it listens.
            last = b""
            for line in self.p.stderr:
                log.write(line)
                if b"API listen on" in line:
                    break
                last = line
            else:
                self.p.wait(60)
                raise RuntimeError("dockerd does not start: " +
                                   last.decode(errors="replace").strip())
        self.drain = subprocess.Popen(["cat"], stdin=self.p.stderr,
                                      stdout=subprocess.DEVNULL)

    def load(self, tar):
        subprocess.run([DOCKER, "-H", self.host, "import", tar, IMAGE],
                       check=True, stdout=subprocess.DEVNULL)

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait(60)
        self.drain.wait(60)
        # It leaves its network namespace mounted.
        subprocess.run(["umount", os.path.join(self.exec, "netns/default")],
                       stderr=subprocess.DEVNULL, check=False)


def as_user(user, env, argv):
    return subprocess.run(
        ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid),
         "--clear-groups", "env", "-i", *[f"{k}={v}" for k, v in env.items()],
         *argv], cwd="/", check=False, stdout=subprocess.PIPE, text=True)


def services_tar(build):
    """Returns the archive with well-known servers, or an empty text."""
    path = build + SERVICES_TAR
    return path if os.path.exists(path) else ""


def run(user, name, engine, build, scripts):
    """Returns the numbers of tests that passed, failed, and were skipped."""
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
           "HOME": user.pw_dir, "IC_PREFIX": build + "/stage/usr/local",
           "IC_RUNTIME": name, "IC_IMAGE": IMAGE, "IC_PATIENCE": "3",
           "IC_SERVICES_TAR": services_tar(build),
           "IC_ENGINE_ENV": json.dumps(engine)}
    counts = [0, 0, 0]
    for script in scripts:
        before = counts[1]
        r = as_user(user, env, ["python3", "-B", *script])
        for line in r.stdout.splitlines():
            if line.startswith("not ok"):
                counts[1] += 1
            elif line.startswith("ok") and "# SKIP" in line:
                counts[2] += 1
            elif line.startswith("ok"):
                counts[0] += 1
            if not line.startswith("ok"):
                print(f"{name}: {line}")
        if r.returncode != 0 and counts[1] == before:
            counts[1] += 1
            print(f"{name}: {script[0]} ended with {r.returncode}")
    say(f"{name}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    return counts


def podman(work, user, tar):
    """Returns the environment for podman, or None if it cannot run here."""
    runtime = os.path.join(work, "xdg")
    os.mkdir(runtime, 0o700)
    os.chown(runtime, user.pw_uid, user.pw_gid)
    home = os.path.join(work, "home")
    os.mkdir(home, 0o700)
    os.chown(home, user.pw_uid, user.pw_gid)
    env = {"HOME": home, "XDG_RUNTIME_DIR": runtime}
    r = as_user(user, {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **env},
                ["podman", "import", tar, IMAGE])
    return env if r.returncode == 0 else None


def end_podman(user, env):
    """Removes the storage, and ends the process that keeps its namespace."""
    every = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **env}
    as_user(user, every, ["podman", "system", "reset", "--force"])
    pause = os.path.join(env["XDG_RUNTIME_DIR"], "libpod/tmp/pause.pid")
    try:
        with open(pause, encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGKILL)
    except (OSError, ValueError):
        pass


ATTACK = [os.path.join(HERE, "test_attack.py")]


def agents_scripts(agent=None):
    return [[os.path.join(HERE, x), *([agent] if agent else [])]
            for x in ("test_agents.py", "test_lives.py")]


def scripts(name, agents):
    """Returns what runs in that engine."""
    every = [[os.path.join(HERE, "test_runtimes.py")], ATTACK,
             [os.path.join(HERE, "test_services.py")],
             [os.path.join(HERE, "test_databases.py")],
             [os.path.join(HERE, "test_toolchains.py")]]
    every += [[os.path.join(TOP, p)] for p in ALSO]
    # One agent is enough in an engine that differs in a few words.
    if agents:
        every += agents_scripts("claude-code" if name == "podman" else None)
    return every


def everything(work, user, tar, build, agents):
    total = [0, 0, 0]
    docker = Docker(work, user)
    try:
        docker.load(tar)
        total = run(user, "docker", {"DOCKER_HOST": docker.host}, build,
                    scripts("docker", agents))
    finally:
        docker.end()
    if not agents:
        say("agents: skipped, since npm is not here or cannot be reached")
        total[2] += 1
    env = podman(work, user, tar)
    if env is None:
        say("podman: skipped, since rootless containers cannot be made here")
        total[2] += 1
        return total
    try:
        found = run(user, "podman", env, build, scripts("podman", agents))
        return [a + b for a, b in zip(total, found)]
    finally:
        end_podman(user, env)


def pod(build, user):
    """Runs pod.py. Returns its numbers."""
    r = subprocess.run([sys.executable, "-B", os.path.join(HERE, "pod.py"), build,
                        user.pw_name], stdout=subprocess.PIPE, text=True,
                       check=False)
    lines = r.stdout.splitlines()
    print("\n".join(f"pod: {x}" for x in lines if not x.startswith("ok")))
    skipped = sum("# SKIP" in x for x in lines)
    found = [sum(x.startswith("ok") for x in lines) - skipped,
             sum(x.startswith("not ok") for x in lines), skipped]
    found[1] += r.returncode != 0 and found[1] == 0
    say("pod: %d passed, %d failed, %d skipped" % tuple(found))
    return found


def one_agent(work, user, tar, build, agent):
    try:
        docker = Docker(work, user)
    except RuntimeError as e:
        say(f"SKIP {agent} in Docker: {e}")
        return [0, 0, 1]
    try:
        docker.load(tar)
        return run(user, "docker", {"DOCKER_HOST": docker.host}, build,
                   [ATTACK, *agents_scripts(agent)])
    finally:
        docker.end()


def missing(programs):
    return [p for p in programs if not shutil.which(p)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--build", required=True)
    p.add_argument("--user", required=True)
    p.add_argument("--counts", help="write passed, failed, skipped here")
    p.add_argument("--agent", help="only this agent, in Docker")
    args = p.parse_args()
    build, user = os.path.abspath(args.build), pwd.getpwnam(args.user)
    os.makedirs(build + "/runtimes", exist_ok=True)
    tar = build + "/runtimes/image.tar"
    total = [0, 0, 1]
    work = tempfile.mkdtemp(prefix="ic-runtimes-")
    os.chmod(work, 0o755)
    try:
        lacks = missing(["dockerd", "mmdebstrap"])
        agents = not lacks and base.make(tar)
        if not args.agent and shutil.which("docker-registry"):
            databases.make(build + SERVICES_TAR)
        if not args.agent:
            total = [a + b for a, b in zip(everything(
                work, user, tar, build, agents), pod(build, user))]
        elif agents:
            total = one_agent(work, user, tar, build, args.agent)
        else:
            say(f"SKIP {args.agent} in Docker: "
                f"{', '.join(lacks) or 'npm'} is not here")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if args.counts:
        with open(args.counts, "w", encoding="ascii") as f:
            f.write("%d %d %d\n" % tuple(total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
