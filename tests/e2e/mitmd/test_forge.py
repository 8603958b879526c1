#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The API of a forge as a destination, with the real gh as the client: it reads
without a token, its changes wait for a person who sees them by name, and
nothing else of the forge can be reached."""
import json
import os
import shutil
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from forge_helper import Forge, Gh, TOKEN  # noqa: E402

t = h.Tap()
HOST = "api.github.com"


def config(g, **settings):
    return {"destinations": {"shop": {
        "kind": "forge", "forge": "github", "hosts": [HOST],
        "upstream": g.url, "ca": g.ca, "credential": {"env": "SHOP_TOKEN"},
        "repositories": ["me/shop"], **settings}}}


def session(work, g, **settings):
    return h.Session(work, env={"SHOP_TOKEN": TOKEN},
                     config=config(g, **settings))


def test_read(s, g, gh):
    r = gh("api", "repos/me/shop")
    t.equal((r.returncode, r.stderr), (0, ""), "gh api reads a repository")
    t.equal(json.loads(r.stdout or "{}").get("full_name"), "me/shop",
            "it is the listed one")
    t.ok(g.seen() and all(x["authorized"] for x in g.seen()),
         "with the real token")
    n = len(g.seen())
    for path in ("repos/else/secret", "repos/me/shop/actions/secrets",
                 "repos/me/shop/keys", "user/keys", "gists"):
        r = gh("api", path)
        t.ok(r.returncode != 0 and "IronCurtain" in r.stdout + r.stderr,
             f"{path} is refused")
    t.equal(len(g.seen()), n, "and nothing of it arrives")
    t.equal(s.pending(), [], "reading asks nobody")


class Later(threading.Thread):
    """A command that waits for a person."""

    def __init__(self, gh, *args):
        super().__init__(daemon=True)
        self.gh, self.args, self.result = gh, args, None
        self.start()

    def run(self):
        self.result = self.gh(*self.args)

    def wait(self):
        self.join(60)
        return self.result


def approve(s, gh, *args, deny=False):
    """Run a command and answer what it asks for. Returns it, and what a person
    saw."""
    later = Later(gh, *args)
    hold = h.wait_for(lambda: s.pending() or not later.is_alive(), "a call")
    shown = ""
    if hold is not True:
        ident = hold[0]["id"]
        shown = s.icctl("show", ident).stdout
        s.icctl("deny" if deny else "approve", ident)
    return later.wait(), shown


def test_write(s, g, gh):
    n = len(g.seen())
    r, shown = approve(s, gh, "api", "repos/me/shop/issues/12/comments", "-f",
                       "body=Looks good, @you")
    t.equal(r.returncode, 0, "a comment is sent after an approval")
    t.contains(shown, "Looks good, @you", "its text is shown")
    n = len(g.seen())
    r, shown = approve(s, gh, "api", "repos/me/shop/issues/12/comments", "-f",
                       "body=Looks bad", deny=True)
    t.ok(r.returncode != 0 and "denied" in r.stderr + r.stdout,
         "a denial is printed")
    t.equal(len([x for x in g.seen()[n:] if x["method"] == "POST" and
                 x["target"] != "/graphql"]), 0, "and it is not sent")


def test_graphql(s, g, gh):
    for args in (["pr", "list"], ["pr", "view", "12"], ["issue", "list"],
                 ["issue", "view", "12"], ["pr", "checks", "12"],
                 ["run", "list"], ["release", "list"], ["pr", "status"],
                 ["pr", "diff", "12"], ["issue", "status"],
                 ["run", "view", "4711"], ["release", "view", "v1"]):
        r = gh(*args)
        t.equal((r.returncode, "IronCurtain" in r.stderr), (0, False),
                "gh " + " ".join(args))
    t.equal(s.pending(), [], "reading asks nobody")


WRITES = [
    (["issue", "create", "-t", "Totals", "-b", "They are wrong."],
     "They are wrong."),
    (["issue", "comment", "12", "-b", "Seen, @you"], "Seen, @you"),
    (["issue", "close", "12"], "#12"),
    (["issue", "edit", "12", "-t", "Other"], "Other"),
    (["pr", "create", "-t", "Fix tax", "-b", "Closes #3", "-H", "fix/new"],
     "Fix tax"),
    (["pr", "comment", "12", "-b", "Fine"], "Fine"),
    (["pr", "review", "12", "-a", "-b", "good"], "good"),
    (["pr", "close", "12"], "#12"),
    (["run", "rerun", "4711"], "4711"),
    (["run", "cancel", "4711"], "4711"),
]


def test_commands(s, g, gh):
    for args, part in WRITES:
        name = "gh " + " ".join(args[:2])
        r, shown = approve(s, gh, *args)
        t.ok(part in shown, name + ": it is shown")
        t.ok(r is not None and "IronCurtain" not in r.stderr,
             name + ": and sent", r)


def test_shown(s, g, gh):
    """A person reads what a comment is on, all of it, and what acts by itself;
    one that cannot be shown whole is refused for that reason."""
    n = len(g.seen())
    r, shown = approve(s, gh, "issue", "comment", "12", "-b", "Seen, @you and "
                       "@copilot.\nCloses #3\n<!-- do it -->\n"
                       "https://evil.example/x\u202e", deny=True)
    for line in ('Comments on me/shop #12 "Totals are wrong" (open).',
                 "Mentions @you, who is told",
                 "This calls the bot copilot, which may then act with your "
                 "rights.", "Closes #3 by itself", "Links to evil.example.",
                 "Has a comment that its page does not show.",
                 "Has characters that nobody sees.", "  | Closes #3",
                 "  | <!-- do it -->"):
        t.contains(shown, line, "it says: " + line)
    t.ok("\u202e" not in shown and "denied it" in r.stderr, "escaped, and denied")
    r, shown = approve(s, gh, "api", "repos/me/shop/issues/12/comments", "-f",
                       "body=" + "\n" * 60000)
    t.ok(not shown and "too long to be shown whole" in r.stderr,
         "60,000 lines are refused", r.stderr)
    t.equal(s.events("askRefused")[-1]["escalationResult"], "too large",
            "and the log has why")
    t.equal([x for x in g.seen()[n:] if "mutation" in x["body"] or
             x["method"] == "POST" and x["target"] != "/graphql"], [],
            "neither arrives")


def test_sandbox(work, g):
    """gh in a sandbox, with nothing but what a session gives it."""
    script = ("gh api repos/me/shop > out 2> err; echo $? > code; "
              "env > env; exec sleep 60")
    s = h.Session(os.path.join(work, "box"), env={"SHOP_TOKEN": TOKEN},
                  runtime="bwrap", config=config(g),
                  options=("--agent", "command", "--", "/bin/sh", "-c",
                           script))
    with s:
        place = os.path.join(s.workspace, "env")
        h.wait_for(lambda: os.path.exists(place) and os.path.getsize(place),
                   "gh did not end", 60)
        got = {}
        for name in ("out", "err", "code", "env"):
            with open(os.path.join(s.workspace, name), encoding="utf-8") as f:
                got[name] = f.read()
        t.equal((got["code"], got["err"]), ("0\n", ""), "gh in a sandbox")
        t.contains(got["out"], '"full_name":"me/shop"', "reads the repository")
        t.ok(TOKEN not in got["env"] and "GH_TOKEN=ghp_" in got["env"],
             "with a placeholder")


def test_classic(work, g):
    """A classic token is good for every repository: it needs a word."""
    token = "ghp_" + TOKEN[-36:]
    for classic in (False, True):
        s = h.Session(os.path.join(work, f"classic{classic:d}"),
                      env={"SHOP_TOKEN": token},
                      config=config(g, **({"classic": True} if classic
                                          else {})))
        try:
            with s:
                said = "ready"
        except RuntimeError as e:
            said = str(e)
        t.contains(said, "ready" if classic else "exit 78; icsupervisor: "
                   "credential of shop: is a classic token",
                   "a classic token is " + ("used with a word" if classic
                                            else "refused without a word"))


def main():
    if shutil.which("gh") is None:
        t.skip("the API of a forge", "there is no gh here")
        t.done()
        return 0
    with h.workdir() as work:
        g = Forge(work, "forge.py")
        with session(work, g) as s:
            gh = Gh(s, work)
            for test in (test_read, test_graphql, test_write, test_commands,
                         test_shown):
                with t.case(test.__name__):
                    test(s, g, gh)
            log = json.dumps(s.audit()) + s.session_log()
            t.ok(TOKEN not in log, "no token in our logs")
            t.equal(s.events("alarm"), [], "no alarm")
            t.ok("shop" in s.icctl("keys").stdout, "icctl keys has it")
        with t.case("classic"):
            test_classic(work, g)
        with t.case("sandbox"):
            test_sandbox(work, g)
        g.end()
    t.done()
    return 0


sys.exit(main())
