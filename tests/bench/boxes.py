# SPDX-License-Identifier: ISC
"""The start of an agent in each runtime: bubblewrap, and a container of Docker
or Podman where there is one that works, with an image."""
import os
import subprocess
import time

# A client needs these to find its engine.
KEEP = ("DOCKER_HOST", "DOCKER_CONFIG", "XDG_RUNTIME_DIR",
        "CONTAINERS_STORAGE_CONF", "CONTAINERS_CONF")
NOTHING = "touch /workspace/up"


def engine(name, *args):
    """Returns what the client prints, or None if it or its engine fails."""
    try:
        r = subprocess.run([name, *args], capture_output=True, text=True,
                           timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return r.stdout if r.returncode == 0 else None


def image(name, wanted):
    """Returns an image to measure with, or None."""
    if wanted:
        return wanted
    listed = engine(name, "image", "ls", "--format",
                    "{{.Repository}}:{{.Tag}}") or ""
    for found in listed.split():
        if "<none>" not in found and engine(
                name, "run", "--rm", "--network", "none", "--entrypoint",
                "/bin/sh", found, "-c", "touch /tmp/up") is not None:
            return found
    return None


def runtimes(wanted):
    """Returns the runtimes that can start an agent here."""
    return ["bwrap", *(n for n in ("docker", "podman")
                       if engine(n, "info") is not None and image(n, wanted))]


def environment():
    return {k: os.environ[k] for k in KEEP if k in os.environ}


def options(runtime, wanted):
    image_options = [] if runtime == "bwrap" else [
        "--image", image(runtime, wanted)]
    return [*image_options, "--", "/bin/sh", "-c", NOTHING]


def once(session):
    """Runs a session. Returns milliseconds up to READY, the first instruction
    of the agent, and the end."""
    up = os.path.join(session.workspace, "up")
    begin = time.monotonic()
    session.start(timeout=60)
    ready = time.monotonic()
    try:
        while not os.path.exists(up):
            if session.process.p.poll() is not None:
                raise RuntimeError("no agent: " + session.process.stderr())
            time.sleep(0.0005)
        agent = time.monotonic()
        session.wait(60)
        end = time.monotonic()
    finally:
        session.stop()
    return {"ready": (ready - begin) * 1e3, "agent": (agent - begin) * 1e3,
            "end": (end - begin) * 1e3}
