#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Real agents in containers of one real engine, which IC_RUNTIME names: builds
the image of each with the shipped Dockerfile, and runs a task in which one call
outside the workspace is approved and one is denied. The arguments name the
agents; without any, all. runtimes.py starts the engine and this."""
import json
import os
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
NAME = os.environ["IC_RUNTIME"]
ENV = json.loads(os.environ["IC_ENGINE_ENV"])
CLIENT = "/usr/bin/" + NAME
# Providers of agents for which a session's two do not suffice.
MORE = {"opencode": ("anthropic", "ANTHROPIC_API_KEY"),
        "gemini-cli": ("google", "GEMINI_API_KEY")}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]}}
# The beginning of what icfs says about it.
TOOL = ("read_text_file", "Reads a file as text")


def icctl(s, *args, seconds=600):
    return subprocess.run([h.program("icctl"), *args], env=s.env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=seconds * h.PATIENCE, check=False)


def build(s, agent):
    """Builds the agent's image, if it is not there."""
    return icctl(s, "image", "build", agent, "--runtime", NAME, "--build-arg",
                 "BASE_IMAGE=" + os.environ["IC_IMAGE"], "--network", "host")


def check_build(s, agent):
    """Check that the agent's image is built, once."""
    r = build(s, agent)
    if not t.ok(r.returncode == 0 and f"{agent}: built" in r.stdout,
                f"{agent}: its image is built", (r.stdout + r.stderr)[-3000:]):
        return False
    r = icctl(s, "image", "build", agent, "--runtime", NAME)
    t.ok(r.returncode == 0 and "nothing has changed" in r.stdout,
         f"{agent}: and is not built again", r.stdout + r.stderr)
    return True


def session(work, agent, papers, p):
    config = {"runtime": NAME}
    if agent in MORE:
        name, env = MORE[agent]
        config["providers"] = {name: {"upstream": p.url, "ca": p.ca}}
        config["credentials"] = {name: {"env": env}}
    return h.Session(
        work, {"documents": {
            "command": h.program("icfs"), "args": [papers], "workspace": False,
            "sandbox": {"filesystem": {"allowRead": [papers]}}}},
        [h.rule("papers", "escalate", "Papers are private.",
                server=["documents"], roles=["read-path"])],
        {"documents": FILES}, provider=p, config=config, env=ENV)


def task(s, agent):
    """Runs a task, approves the first call that waits, and denies the second.
    Returns what the agent printed."""
    argv = [*agents.command(s, agent, "--model", agents.MODELS[agent]),
            "Read both papers."]
    seconds = 120 * h.PATIENCE
    with agents.running(s, argv) as process:
        first = None
        if agents.wait_or_end(process, s.pending, "nothing was held", seconds):
            first = s.pending()[0]
            t.equal((first["server"], first["tool"]),
                    ("documents", "read_text_file"),
                    f"{agent}: a call outside the workspace waits")
            s.icctl("approve", first["id"], check=True)

        def second():
            return [x for x in s.pending() if x["id"] != first["id"]]
        if first and agents.wait_or_end(process, second, "no second call",
                                        seconds):
            s.icctl("deny", second()[0]["id"], "--because",
                    "that one is confidential", check=True)
        out, err = process.communicate(timeout=seconds)
    t.ok(process.returncode == 0, f"{agent}: ends with 0",
         f"{process.returncode}\n{out[-1500:]}\n{err[-2500:]}\n"
         + s.session_log()[-1500:])
    return out + err


def containers(s):
    r = subprocess.run([CLIENT, "ps", "--all", "--quiet", "--filter",
                        "label=ironcurtain.session"], env={**s.env, **ENV},
                       capture_output=True, text=True, check=True, cwd="/")
    return r.stdout.split()


def run(work, agent):
    papers = os.path.join(work, "papers")
    os.makedirs(papers)
    words = {n: f"{n}-{secrets.token_hex(12)}" for n in ("first", "second")}
    for name, word in words.items():
        h.put(os.path.join(papers, name), word)
    calls = [{"tool": "documents__read_text_file$",
              "args": {"path": os.path.join(papers, n)}} for n in words]
    p = h.Provider(work, "--bodies",
                   script=[*calls, {"text": "FINAL: $RESULT"}])
    s = session(work, agent, papers, p)
    if not check_build(s, agent):
        return
    said = task(s, agent)
    bodies = "".join(r.get("body") or "" for r in p.seen())
    t.ok(words["first"] in bodies and words["second"] not in bodies + said,
         f"{agent}: the approved file is read, the other is not")
    t.ok("that one is confidential" in said,
         f"{agent}: it reports that a call was denied, and why", said[-1500:])
    agents.check_told(t, agent, p, TOOL)
    t.equal([c.get("escalationResult") for c in s.audit()
             if c["event"] == "call"], ["approved", "denied"],
            f"{agent}: the log has both")
    with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
        told = json.load(f)
    t.ok(told["runtime"] == NAME and told["image"].startswith(
        f"localhost/ironcurtain/{agent} (") and
         told["breakoutTest"]["attempts"] >= 100,
         f"{agent}: in the image that was built", told)
    t.equal(containers(s), [], f"{agent}: no container is left")
    p.end()


def main():
    for agent in sys.argv[1:] or list(agents.MODELS):
        with h.workdir() as work, t.case(agent):
            run(work, agent)
    t.done()


if __name__ == "__main__":
    main()
