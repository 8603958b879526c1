# SPDX-License-Identifier: ISC
"""Random policies and random calls, made of existing things, so that many
calls are allowed or escalated; and the reduction of a difference to a small
one."""
import copy
import random

SERVERS = ["filesystem", "git", "fetch", "gated", "gatedgit", "other", "github",
           "mail", "cond"]
PATHS = ["/workspace/a", "a", "sub/c", "/workspace", "/workspace/sub/deep", "~/docs/d",
         "~/docs", "~/docs/deep/e", "~/docs/deep", "@D/out/o", "@D/out/sub/x",
         "@D/out", "@D/home/docsx/f", "~/private", "/workspace/link-in",
         "/workspace/link-home/d", "/workspace/link-out", "/workspace/link-ws/c",
         "/workspace/new/file", "@D/ws/b", "@D/out/to-docs/d", "~/docs/to-ws",
         "@D/out/to-ws/a", "@D/out/sub/to-deep/e", "@D/out/sub/leave/f", "@D/out/sub/to-in",
         "~/docs/chain/f", "/workspace/to-chain/f", "~/docs/deep/back/sub/to-in",
         "~/docs/deep/back/o"]
ODD_PATHS = ["/workspace/link-dir/../o", "/workspace/dangling",
             "/workspace/dangling-in", "/workspace/dangling-up/x", "/workspace/chain",
             "/workspace/up/workspace/a", "/workspace/../etc/passwd", "..",
             "~/../out/o", "/", "/workspace/hard", "~/docs/deep/hard", "@D/prot/p",
             "/workspace/to-prot/p", "/workspace/same", "@D/out/secret",
             "/workspace/loop", "/workspace/magic/etc", "/workspace/devnull",
             "/workspace/fifo", "/workspace/fifo/x", "/dev/null", "/proc/self", "",
             "~root/x", "file:///workspace/a", "a\u0000b", "/workspace/a/b",
             "./sub/../a", "/workspace//sub//", "/workspace/none/../a", "~",
             "/workspace/root@D/out/o", "%2e%2e/x", " ", "@D/prot/../out/o",
             "@D/ws/link-ws/c", "@D/ws/../out/o", "~/docs/chain/../private",
             "@D/out/sub/to-deep/../d", "@D/out/sub/to-deep/../../private",
             "@D/out/sub/to-deep/../../../ws/a", "~/docs/deep/../to-out",
             "~/docs/deep/back/sub/../o", "@D/prot/leave", "@D/prot/to-in",
             "@D/out/sub/leave/../../out/sub/leave/f", "@D/out/to-ws/none/../../x"]
LINKS = [[], ["@D/out/sub/leave"], ["@D/home/docs/chain", "@D/out/sub"],
         ["@D/ws", "@D/out/to-docs"]]
URLS = ["https://ok.example/x", "https://a.ok.example/", "https://docs.example.org",
        "http://news.example:8080/", "https://github.com/our/repo",
        "https://a.example.com/", "https://added.example/y?z"]
ODD_URLS = ["https://evil.com/", "HTTPS://OK.Example./", "http://127.0.0.1/",
            "http://0x7f.1/", "http://[::1]/", "http://[::1]:81/x",
            "https://xn--ok.example/", "file:///etc", "data:,x", "mailto:a@b.c",
            "nothing", "", " https://ok.example", "https://ok.example@evil.com/",
            "https://ok.example\\x", "https://1.2.3/", "http://300.1.1.1/",
            "https://ok..example/", "wss://ok.example", "ftp://ok.example/",
            "https:ok.example", "https://gone.example/", "https://ok.example:0/",
            "https://xok.example/", "https://example/", "http://[::1", "https://-a.com",
            "ftp://u@a.ok.example:21/x", "git://docs.example.org/", "ftp:ok.example",
            "ssh://a..b/", "https://xn--a.ok.example/"]
REMOTES = ["https://github.com/our/repo.git", "git@github.com:our/repo",
           "https://github.com/e/r", "ssh://git@ok.example/x", "ok.example:r",
           "https://a.ok.example/x/../our/repo", "https://github.com/our/x/y",
           "ssh://git@ssh.github.com:443/Our/Repo/.git"]
ODD_REMOTES = ["origin", "up/stream", "", "/srv/repo", "file:///srv/repo", "ext::sh -c x",
               "--upload-pack=x", "-oX@ok.example:r", "ssh://-oX@ok.example/r",
               "https://u@ok.example/r", "git@ok.example:", "ftp://ok.example/r",
               "https://github.com/our/repo/../x", "git://1.2.3.4/r",
               "git@github.com:/our/repo.git/", "https://github.com/our/repo?x#y",
               "https://github.com/our/%2e%2e/our/repo", "file://ok.example/our/repo",
               "https://github.com//our//repo", "git@github.com:our/../our/%72epo.git.git",
               "git@www.github.com:OUR/repo", "git@github.com:our/./repo"]
WORDS = ["our-org", "app", "OUR-Org", "evil", "viewer", "a@x.org", "B@x.org", "c@y.org",
         "main", "hello", "a.ok.example", "ok.example", "x", "A <A@x.org>", "refs/heads/main",
         "x/../APP", "dev:main", "https://ok.example:1/", "b@a.ok.example", " viewer "]
WITHIN = ["~/docs", "~/docs/deep", "@D/out", "@D/out/sub", "/", "~", "@D/home/private",
          "@D/out/to-docs", "@D/none", "@D/ws/sub", "@D/home/docsx", "@D/prot"]
HOSTS = ["*", "*.ok.example", "ok.example", "docs.example.org", "github.com/our/repo",
         "github.com", "@sites", "@missing", "127.0.0.1", "[::1]", "*.example.com",
         "xn--ok.example", "/srv/repo", "*.org", "not a host", "github.com/our/*",
         "GitHub.com/Our/Repo", "ok.example/our"]
LISTS = {"sites": {"values": ["news.example", "*.ok.example", "gone.example"],
                   "manualAdditions": ["added.example", "GitHub.com/our/repo"],
                   "manualRemovals": ["gone.example"]},
         "team": {"values": ["a@x.org", "our-org", "app"],
                  "manualAdditions": ["viewer"]}}
PATH_ROLES = ["read-path", "write-path", "delete-path", "write-history",
              "delete-history"]
IDENTIFIERS = ["github-owner", "github-repo", "proxy-domain", "email-address",
               "share-permission", "branch-name", "commit-message", "email-body"]
URL_ROLES = ["fetch-url", "git-remote-url"]


class Maker:
    def __init__(self, seed, world):
        self.r = random.Random(seed)
        self.world = world
        self.tools = [(s, t["toolName"], t["args"])
                      for s, v in world.annotations["servers"].items()
                      for t in v["tools"]]

    def some(self, items, most=3):
        return self.r.sample(items, self.r.randint(1, min(most, len(items))))

    # ---- policies

    def rule(self, i):
        """Returns a random rule, mostly about one server or one kind of
        role."""
        c, r = {}, self.r
        if r.random() < .55:
            c["server"] = self.some(SERVERS, 3)
        if r.random() < .12:
            c["tool"] = self.some([t for _, t, _ in self.tools], 6)
        kind = r.random()
        if kind < .35:
            c["paths"] = {"roles": self.some(PATH_ROLES, 5),
                          "within": self.world.text(r.choice(WITHIN))}
            links = [self.world.text(x) for x in r.choice(LINKS)]
            if r.random() < .2:
                c["paths"]["links"] = links
        elif kind < .55:
            c["domains"] = {"roles": self.some(URL_ROLES + ["proxy-domain"], 3),
                            "allowed": self.some(HOSTS, 5)}
        elif kind < .7:
            c["lists"] = [self.condition() for _ in range(r.randint(1, 2))]
        if r.random() < .25:
            c["roles"] = self.some(PATH_ROLES + URL_ROLES + IDENTIFIERS + ["none"], 8)
        if r.random() < .04:
            c["domains"] = {"roles": self.some(URL_ROLES), "allowed": self.some(HOSTS)}
        then = r.choices(["allow", "escalate", "deny"], [7, 4, 1])[0]
        if then != "allow":
            c.get("paths", {}).pop("links", None)
        return {"name": "r%d" % i, "if": c, "then": then, "reason": "because r%d" % i}

    def condition(self):
        kind = self.r.choice(["identifiers", "emails", "domains"])
        roles = URL_ROLES + ["proxy-domain"] if kind == "domains" else IDENTIFIERS
        allowed = HOSTS if kind == "domains" else WORDS + ["@team", "@missing", "A@X.org"]
        return {"roles": self.some(roles, 5), "allowed": self.some(allowed, 8),
                "matchType": kind}

    def policy(self):
        return [self.rule(i) for i in range(self.r.randint(8, 40))]

    # ---- calls

    def text(self, roles):
        odd = self.r.random() < .1
        if set(roles) & set(PATH_ROLES):
            return self.r.choice(ODD_PATHS if odd else PATHS)
        if "git-remote-url" in roles:
            return self.r.choice(ODD_REMOTES if odd else REMOTES)
        if "fetch-url" in roles:
            return self.r.choice(ODD_URLS if odd else URLS)
        if odd:
            return self.r.choice(["-x", "/etc", "file:x", "- a\n- b", "", "K", "a b"])
        return self.r.choice(WORDS)

    def value(self, roles, depth=0):
        x = self.r.random()
        if x < .86 or depth == 3:
            return self.text(roles)
        if x < .95:
            return [self.value(roles, depth + 1) for _ in range(self.r.randint(0, 3))]
        if x < .97:
            return {k: self.value(roles, depth + 1) for k in self.some(["k", "a", "é"])}
        return self.r.choice([None, True, False, 0, 1, 2, "x"])

    def request(self):
        if self.r.random() < .01:
            return {"serverName": self.r.choice(SERVERS + ["nobody", "memory"]),
                    "toolName": self.r.choice(["nosuch", "read", "store"]),
                    "arguments": {"path": self.text(["read-path"])}}
        server, tool, args = self.r.choice(self.tools)
        out = {}
        for name, roles in args.items():
            if self.r.random() < .06:
                continue
            out[name] = self.value(roles if isinstance(roles, list) else roles["default"])
        if self.r.random() < .5:    # arguments of conditional roles
            for name in ("a", "dryRun", "mode", "operation"):
                if server in ("cond", "git", "filesystem") and self.r.random() < .4:
                    out[name] = self.r.choice(
                        [None, True, False, 0, 1, 2, "", "x", "list", "create", [], {}])
        keys = list(out)
        self.r.shuffle(keys)
        request = {"serverName": server, "toolName": tool,
                   "arguments": {k: self.expand(out[k]) for k in keys}}
        return request

    def expand(self, v):
        if isinstance(v, str):
            return self.world.text(v)
        if isinstance(v, list):
            return [self.expand(x) for x in v]
        if isinstance(v, dict):
            return {k: self.expand(x) for k, x in v.items()}
        return v


def smaller(rules, request):
    """Yields each way to remove a little."""
    for i in range(len(rules)):
        yield rules[:i] + rules[i + 1:], request
    for i, rule in enumerate(rules):
        for key in rule["if"]:
            less = copy.deepcopy(rule)
            del less["if"][key]
            yield rules[:i] + [less] + rules[i + 1:], request
    for key, v in request["arguments"].items():
        less = copy.deepcopy(request)
        del less["arguments"][key]
        yield rules, less
        if isinstance(v, (list, dict)):
            for one in (v if isinstance(v, list) else v.values()):
                less = copy.deepcopy(request)
                less["arguments"][key] = one
                yield rules, less


def minimise(rules, request, differs, steps=300):
    """Returns the smallest pair that still differs, found in that many
    steps."""
    again = True
    while again:
        again = False
        for r, q in smaller(rules, request):
            steps -= 1
            if steps < 0:
                return rules, request
            if differs(r, q):
                rules, request, again = r, q, True
                break
    return rules, request
