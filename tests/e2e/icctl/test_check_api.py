#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""`icctl doctor --check-api`: each provider that has a credential gets one
request, through a session of its own, and the answer is put into words.  All
providers are stand-ins on 127.0.0.1."""
import glob
import json
import os
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import known_machine  # noqa: E402
from forge_tokens import Tokens  # noqa: E402

t = h.Tap()
ROUTER_KEY = "sk-or-v1-" + "6a1c" * 12
GATEWAY_KEY = "sk-gateway-real-" + "77d0" * 8
AWS_KEY = "bedrock-api-key-" + "5be2" * 8
VERTEX_KEY = "ya29.real-" + "91af" * 8
TRY = ("check the network and \"providers\".\"{0}\" in config.json, then try "
       "again")
OWN = {"name": "acme", "host": "api.acme.example", "credential": {
    "env": "ACME_API_KEY", "sentinel": "acme-ironcurtain-",
    "headers": [{"name": "x-api-key"}]},
    "requestHeaders": ["accept"], "responseHeaders": ["content-type"],
    "routes": [{"method": "GET", "path": "/v1/models"}]}


class Home:
    """A user with this configuration and these variables."""

    def __init__(self, work, config, **variables):
        self.work = work
        self.home = os.path.join(work, "home")
        os.makedirs(os.path.join(work, "user"), exist_ok=True)
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        known_machine.give(self.home)
        os.makedirs(os.path.join(work, "trace"))
        # A trial starts no server: this one would be reported by its trace.
        h.put(os.path.join(self.home, "mcp-servers.json"), json.dumps(
            {"trace": {"command": "/usr/bin/touch", "args": [
                os.path.join(work, "trace", "started")], "sandbox": {
                    "filesystem": {"allowWrite": [
                        os.path.join(work, "trace")]}}}}), 0o600)
        h.put(os.path.join(self.home, "config.json"), json.dumps(config),
              0o600)
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                    "HOME": os.path.join(work, "user"),
                    "IRONCURTAIN_HOME": self.home, **variables}

    def doctor(self, *args):
        return subprocess.run(
            [h.program("icctl"), *args], cwd=self.work, env=self.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=150 * h.PATIENCE, check=False)


def closed_port():
    """Returns a bound socket, which refuses connections, and its port."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    return s, s.getsockname()[1]


def test_answers(work):
    good = h.Provider(work)
    status = {n: h.Provider(work, "--status", str(n), "--key", k,
                            name=f"status-{n}")
              for n, k in ((400, h.GOOGLE_KEY), (403, AWS_KEY),
                           (429, VERTEX_KEY))}
    taken, port = closed_port()

    def at(p):
        return {"upstream": p.url, "ca": p.ca}
    home = Home(work, {
        "providers": {
            "anthropic": at(good), "openai": at(good),
            "google": at(status[400]),
            # The certificate is of a CA that this provider does not have.
            "openrouter": {"upstream": good.url},
            "gateway": {"upstream": f"https://127.0.0.1:{port}"},
            "bedrock": {**at(status[403]), "upstream": {
                f"{n}.us-east-1.amazonaws.com": status[403].url
                for n in ("bedrock", "bedrock-runtime")}},
            "vertex": {**at(status[429]), "project": "p-1"}},
        "credentials": {"chatgpt": {"env": "NO_SUCH_KEY"}}},
        ANTHROPIC_API_KEY=h.ANTHROPIC_KEY,
        OPENAI_API_KEY="sk-wrong-" + "0" * 40, GEMINI_API_KEY=h.GOOGLE_KEY,
        OPENROUTER_API_KEY=ROUTER_KEY, GATEWAY_API_KEY=GATEWAY_KEY,
        AWS_BEARER_TOKEN_BEDROCK=AWS_KEY, ACME_API_KEY="acme-" + "8" * 30,
        CLOUDSDK_AUTH_ACCESS_TOKEN=VERTEX_KEY)
    h.put(os.path.join(home.home, "providers", "acme.json"), json.dumps(OWN),
          0o600)
    r = home.doctor("--json", "doctor", "--check-api")
    taken.close()
    found = json.loads(r.stdout)
    t.equal(r.returncode, 1, "one that fails: status 1")
    rows = {c["found"].split(":")[0]: c for c in found["checks"]
            if c["check"] == "provider" and "/" not in c["found"][:12]}
    api = {a["provider"]: (a["result"], a["status"]) for a in found["api"]}
    for name, result, code, text, remedy in (
            ("anthropic", "works", 200, "works, with ANTHROPIC_API_KEY", None),
            ("openai", "refused", 401, "refused (401): the provider does not "
             "accept OPENAI_API_KEY", "run: icctl login openai"),
            ("google", "refused", 400, "refused (400): the provider does not "
             "accept GEMINI_API_KEY", "run: icctl login google"),
            ("bedrock", "refused", 403, "refused (403): the provider does not "
             "permit this with AWS_BEARER_TOKEN_BEDROCK",
             "run: icctl login bedrock"),
            ("vertex", "unclear", 429, "answered with status 429, which does "
             "not say whether it accepts CLOUDSDK_AUTH_ACCESS_TOKEN",
             "it limits the rate; try again later"),
            ("openrouter", "unreachable", None, f"127.0.0.1:{good.port} could "
             "not be reached: no trusted TLS connection to the provider: "
             "unable to get local issuer certificate",
             TRY.format("openrouter")),
            ("gateway", "unreachable", None, f"127.0.0.1:{port} could not be "
             "reached: Connection refused", TRY.format("gateway")),
            ("chatgpt", "unusable", None, "no session with it starts: "
             "credentials.chatgpt.env: NO_SUCH_KEY is not set or empty. Run: "
             "export NO_SUCH_KEY=... in this shell",
             "run: icctl login chatgpt"),
            ("acme", "untried", None, "not tried", "its file names no request "
             "for this: \"check\" in ironcurtain-config(5), PROVIDERS")):
        row = rows.get(name, {})
        t.equal(api.get(name), (result, code), f"{name}: {result}")
        t.equal((row.get("found"), row.get("remedy")),
                (f"{name}: {text}", remedy), "in these words")
    t.equal(sorted(api), sorted(rows), "nothing else was tried")
    sent = [(q["method"], q["target"].split("?")[0]) for q in good.seen()]
    t.equal(sorted(sent), [("GET", "/v1/models"),
                           ("POST", "/v1/messages/count_tokens")],
            "one request each, which costs nothing")
    t.equal([v for q in good.seen() for n, v in q["headers"]
             if n.lower() == "x-api-key"], [h.ANTHROPIC_KEY],
            "with the real key")
    t.ok(not any(k in r.stdout + r.stderr for k in (
        h.ANTHROPIC_KEY, h.GOOGLE_KEY, ROUTER_KEY, GATEWAY_KEY, AWS_KEY)),
        "which is not printed")
    t.ok(not os.path.exists(os.path.join(work, "trace", "started")),
         "no MCP server is started")
    t.equal((os.listdir(os.path.join(home.home, "run")),
             os.listdir(os.path.join(home.home, "sessions"))), ([], []),
            "no session is left")
    t.ok(not os.path.exists(os.path.join(home.home, ".limits-named")),
         "the first real one is still the first")
    for p in (good, *status.values()):
        p.end()


def test_forges(work):
    tokens = Tokens(work, os.path.join(work, "home"))
    r = Home(work, {"destinations": tokens.destinations}).doctor(
        "--json", "doctor", "--check-api")
    t.equal(r.returncode, 1, "a token that is refused: status 1")
    tokens.check(t, json.loads(r.stdout)["checks"], r.stdout + r.stderr)


def test_works(work):
    good = h.Provider(work)
    home = Home(work, {"providers": {"anthropic": {
        "upstream": good.url, "ca": good.ca}}},
        ANTHROPIC_API_KEY=h.ANTHROPIC_KEY)
    r = home.doctor("doctor", "--check-api")
    t.equal(r.returncode, 0, "the only one works: status 0")
    t.contains(r.stdout, "ok       provider           anthropic: works, with "
               "ANTHROPIC_API_KEY\n", "a line for people")
    del home.env["ANTHROPIC_API_KEY"]
    before = len(good.seen())
    r = home.doctor("--json", "doctor", "--check-api")
    t.equal([c["found"] for c in json.loads(r.stdout)["checks"]
             if c["check"] == "provider" and "json:" not in c["found"]],
            ["none has a credential to try"], "no key: nobody to ask")
    home.env["ANTHROPIC_API_KEY"] = h.ANTHROPIC_KEY
    r = home.doctor("doctor")
    t.equal((r.returncode, len(good.seen())), (0, before),
            "without --check-api nobody is asked")
    r = home.doctor("doctor", "--check")
    t.equal((r.returncode, r.stderr),
            (64, "icctl: no such option: --check (did you mean --check-api?) "
             "(icctl doctor --help lists them)\n"), "usage")
    good.end()


def child(pid, name):
    """Returns the child process of that name, or 0."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                m = re.match(r"(\d+) \((.*)\) \S (\d+)", f.read())
        except OSError:
            continue
        if m and m[2] == name and int(m[3]) == pid:
            return int(m[1])
    return 0


def test_confined(work):
    """ic-asker, while it waits for an answer."""
    slow = h.Provider(work, "--stall")
    home = Home(work, {"providers": {"anthropic": {
        "upstream": slow.url, "ca": slow.ca}}},
        ANTHROPIC_API_KEY=h.ANTHROPIC_KEY)
    with subprocess.Popen([h.program("icctl"), "doctor", "--check-api"],
                          cwd=work, env=home.env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as p:
        h.wait_for(slow.seen, "the request", 60)
        pid = child(p.pid, "ic-asker")
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            status = dict(re.findall(r"(\w+):\s*(\S+)", f.read()))
        if not h.sanitized():
            t.equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"),
                    "ic-asker runs under a filter")
        t.equal(int(status["CapEff"], 16), 0, "without capabilities")
        if os.geteuid() != 0:
            try:
                os.listdir(f"/proc/{pid}/fd")
                seen = True
            except PermissionError:
                seen = False
            t.ok(not seen, "and is not dumpable")
        slow.end()
        out, _ = p.communicate(timeout=60 * h.PATIENCE)
    t.contains(out, "\n1 provider cannot be used: see FAILED above.\n",
               "the sum, for people")
    t.contains(out, f"FAILED   provider           anthropic: 127.0.0.1:{slow.port} could not be reached: ",
               "a provider that goes away without an answer")


def main():
    for test in (test_answers, test_forges, test_works, test_confined):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
