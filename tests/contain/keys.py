# SPDX-License-Identifier: ISC
"""The search for credentials in the memory, environment and arguments of every
process, and in the session's files. Needs root."""
import base64
import contextlib
import os
import re
import secrets

import harness
import oauth_helper
import pg_box
import pg_server
import pg_tls
import rig
from live import PROXY_PASSWORD, Held
from mcp_http import McpHttp

HUGE = 8 << 30


def canaries(keys=(harness.ANTHROPIC_KEY, harness.OPENAI_KEY)):
    """Returns the forms in which the keys might be stored."""
    found = []
    for key in keys:
        raw = key.encode()
        found += [raw, raw[-24:], raw[::-1], raw.hex().encode(),
                  raw.hex().upper().encode()]
        for skip in range(3):
            whole = base64.b64encode(raw[skip:])
            found.append(whole[:len(whole) // 4 * 4 - 8])
    return found


def holds(pid, patterns):
    """Returns where a canary is in the process, or None."""
    with contextlib.suppress(OSError):
        for name in ("environ", "cmdline"):
            with open(f"/proc/{pid}/{name}", "rb") as f:
                text = f.read()
            if any(p in text for p in patterns):
                return name
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, \
                open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for line in maps:
                m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if not m or "[v" in line:
                    continue
                start, end = int(m[1], 16), int(m[2], 16)
                # Skip huge mappings, such as shadow memory of other processes.
                if end - start < HUGE and search(mem, start, end, patterns):
                    return line.strip()
    return None


def search(mem, start, end, patterns):
    step, overlap = 16 << 20, 256
    while start < end:
        size = min(step, end - start)
        try:
            mem.seek(start)
            text = mem.read(size)
        except (OSError, ValueError, OverflowError):
            return False
        if any(p in text for p in patterns):
            return True
        start += size if start + size >= end else size - overlap
    return False


def scan(but, patterns=None):
    """Returns pid -> (name, where) over all processes."""
    patterns = patterns or canaries()
    found, count = {}, 0
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if pid in but:
            continue
        count += 1
        where = holds(pid, patterns)
        if where:
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                    found[pid] = (f.read().strip(), where)
    return found, count


def in_files(*dirs, patterns=None):
    patterns = patterns or canaries()
    found = []
    for d in dirs:
        for at, _, names in os.walk(d):
            for name in names:
                path = os.path.join(at, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as f:
                        text = f.read()
                    if any(p in text for p in patterns):
                        found.append(path)
    return found


def test_key(tap, live, provider, who):
    """After requests with it, the credential is only in keyd; if the kernel
    has memfd_secret, not even root finds it there."""
    tap.equal(live.ask(), [200, 200], f"{who}: requests with the real keys")
    but = {os.getpid(), provider.p.pid}
    with Held(live, harness.ANTHROPIC_KEY) as held:
        found, count = scan(but)
        control = found.pop(held.p.pid, None)
    tap.ok(control, f"{who}: the search finds a key that lies open, in "
           f"{count} processes")
    workers = live.workers()
    secret = live.s.events("start")[0]["detail"]["confinement"]
    hidden = all("secretmem" in v for k, v in secret.items()
                 if k.startswith("keyd"))
    others = {p: f for p, f in found.items() if workers.get(p) != "keyd"}
    tap.equal(others, {}, f"{who}: and none in a process that is not keyd")
    if hidden:
        tap.equal(found, {}, f"{who}: nor in keyd: its pages are secret to "
                  "root as well")
    else:
        tap.equal(len(found), 2, f"{who}: but in each keyd")
    tap.equal(in_files(live.s.dir, live.s.home), [],
              f"{who}: and none in a file of ours")
    test_proxy_key(tap, live, who, but, hidden)


def test_proxy_key(tap, live, who, but, hidden):
    """The same for the proxy's credential, from environment variables: only
    tunneld has it, and if memory is secret, nobody finds it."""
    patterns = canaries((PROXY_PASSWORD,))
    but = but | {live.proxy.p.pid}
    with Held(live, PROXY_PASSWORD) as held:
        found, count = scan(but, patterns)
        control = found.pop(held.p.pid, None)
    tap.ok(control, f"{who}: the search finds a proxy's credential that lies "
           f"open, in {count} processes")
    workers = live.workers()
    tap.equal({p: f for p, f in found.items()
               if hidden or workers.get(p) != "tunneld"}, {},
              f"{who}: and none in a process that is not tunneld")
    tap.equal(in_files(live.s.dir, live.s.home, patterns=patterns), [],
              f"{who}: nor in a file of ours")


def test_fallback(tap, live, provider, who):
    """keyd without memfd_secret: the search finds each key in keyd, and
    nowhere else."""
    tap.equal(live.ask(), [200, 200],
              f"{who}: requests, without memfd_secret")
    found, _ = scan({os.getpid(), provider.p.pid})
    workers = live.workers()
    tap.equal(sorted(workers.get(p, f) for p, f in found.items()),
              ["keyd", "keyd"],
              f"{who}: the search finds both keys, each in its keyd alone")
    found, _ = scan({os.getpid(), provider.p.pid, live.proxy.p.pid},
                    canaries((PROXY_PASSWORD,)))
    tap.equal([workers.get(p, f) for p, f in found.items()], ["tunneld"],
              f"{who}: and the proxy's credential in tunneld alone")
    tap.ok(all("secretmem" not in v for k, v in
               live.s.events("start")[0]["detail"]["confinement"].items()),
           f"{who}: the first record says that no memory is secret")


def test_login(tap, work, who):
    """A login that is used, renewed and used again: if the kernel has
    memfd_secret, neither the old tokens nor the new ones are found; otherwise
    only in keyd."""
    pair = oauth_helper.tokens()
    login = oauth_helper.Login(work, pair)
    server = oauth_helper.TokenServer(work, seeds=[pair])
    with harness.Session(os.path.join(work, "s"), config=login.config(server),
                         env={"ANTHROPIC_API_KEY": "",
                              "OPENAI_API_KEY": ""}) as s:
        def ask():
            m = s.model(key=s.agent_env()["ANTHROPIC_API_KEY"])
            r = m.request("POST", "/v1/messages", [
                ("Authorization", "Bearer " + m.key),
                ("Content-Type", "application/json")], oauth_helper.BODY)
            m.close()
            return r.status

        got = [ask(), server.order("/expire") and ask()]
        new = harness.wait_for(
            lambda: login.pair() != pair and login.pair(), "not renewed")
        tap.equal(got, [200, 200], f"{who}: requests with a login, renewed")
        patterns = canaries((*pair, *new))
        found, count = scan({os.getpid(), server.p.pid}, patterns)
        keyds = set(s.workers()["keyd"])
        hidden = "secretmem" in s.events("start")[0]["detail"][
            "confinement"]["keyd anthropic"]
        tap.equal({p: f for p, f in found.items()
                   if hidden or p not in keyds}, {},
                  f"{who}: no token in any of {count} processes"
                  + ("" if hidden else " but keyd"))
        tap.equal(in_files(s.dir, s.home, patterns=patterns), [],
                  f"{who}: and none in a file of ours")
    server.end()


def test_database(tap, work, who, tls=False):
    """The password of a database, after logins with it: pgkeyd alone has it, and
    if the kernel has memfd_secret, nobody finds it; nor does the server get it."""
    password = "pw-" + secrets.token_hex(24)
    os.makedirs(work, exist_ok=True)
    if tls:
        pg_tls.certificate(work, "server")
        server = pg_tls.TlsServer(work, "app", "shop", password)
    else:
        server = pg_server.Server("app", "shop", password)
    b = pg_box.Box(work, server.to, {
        "user": "app", "database": "shop", "tls": tls,
        "credential": {"file": os.path.join(work, "password")}}, password)
    with b.s as s:
        got = [b.do("login", {}, "SELECT who").get("rows") for _ in range(3)]
        tap.equal(got, [[["app", "-"]]] * 3, f"{who}: logins with the password")
        tap.equal(len(rig.named("pgkeyd-tls", s.pid)), int(tls),
                  f"{who}: the process that ends TLS is there if it is needed")
        patterns = canaries((password,))
        tap.ok(holds(os.getpid(), patterns),
               f"{who}: the search finds the password in this process")
        found, count = scan({os.getpid()}, patterns)
        pgkeyds = set(s.workers()["pgkeyd"])
        hidden = "secretmem" in s.events("start")[0]["detail"][
            "confinement"]["pgkeyd db"]
        tap.equal({p: f for p, f in found.items()
                   if hidden or p not in pgkeyds}, {},
                  f"{who}: no password in any of {count} processes"
                  + ("" if hidden else " but pgkeyd"))
        if not hidden:
            tap.equal(set(found), pgkeyds, f"{who}: where the search finds it")
        tap.equal(in_files(s.dir, s.home, s.workspace, patterns=patterns), [],
                  f"{who}: and none in a file of ours")
        tap.ok(password.encode() not in server.seen,
               f"{who}: nor in what the server got")
    server.close()


def test_remote(tap, work, who):
    """The token of a remote MCP server, from a variable, after a call with it:
    if the kernel has memfd_secret, it is found nowhere; otherwise only in that
    server's keyd."""
    token = "tok-" + secrets.token_hex(24)
    server = McpHttp(work, "far", wants="Bearer " + token)
    with harness.Session(
            os.path.join(work, "s"),
            {"far": {"url": server.url, "ca": server.ca}},
            rules=[harness.rule("far", "allow", server=["far"])],
            annotations={"far": {"read": {"text": ["none"]}}},
            config={"serverCredentials": {"far": {"bearer": {
                "env": "FAR_TOKEN"}}}}, env={"FAR_TOKEN": token}) as s:
        answer = s.client().call("far__read", {"text": "x"})
        tap.equal(harness.text_of(answer), "read: x",
                  f"{who}: a call with the token")
        patterns = canaries((token,))
        found, count = scan({os.getpid()}, patterns)
        keyds = set(s.workers()["keyd"])
        hidden = "secretmem" in s.events("start")[0]["detail"][
            "confinement"]["keyd mcp-far"]
        tap.equal({p: f for p, f in found.items()
                   if hidden or p not in keyds}, {},
                  f"{who}: no token in any of {count} processes"
                  + ("" if hidden else " but keyd"))
        tap.equal(in_files(s.dir, s.home, patterns=patterns), [],
                  f"{who}: and none in a file of ours")
