# SPDX-License-Identifier: ISC
"""Ways in which a model can try to allow everything: replies to the step
"rules", and what must come of each."""
import copy
import json

from compiling import paths, rule

PATH_ROLES = ["read-path", "write-path", "delete-path"]
WIDE = {"paths": paths("/home", *PATH_ROLES)}


def reply(*rules, **more):
    return {"rules": list(rules), **more}


def changed(path, value, base=None):
    """Returns a reply whose first rule has this value at the path of names;
    value ...: the member is left out."""
    r = copy.deepcopy(base or rule("filesystem-all", "allow", **WIDE))
    at = r
    for name in path[:-1]:
        at = at[name]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return reply(r)


def fetch(*allowed, **more):
    return reply(rule("fetch-all", "allow", server="fetch", **more,
                      domains={"roles": ["fetch-url"],
                               "allowed": list(allowed)}))


def refused():
    """Yields (name, server, reply, place or None): never read as rules."""
    f = "filesystem"
    for v in ("deny", "ALLOW", "Allow", "allow ", " allow", "allow\n", "yes",
              "*", "", True, None, 1, ["allow"], {"allow": True}, ...):
        yield f"then {v!r}", f, changed(["then"], v), "/rules/0"
    for v in ({}, None, [], "always", True, ...):
        yield f"if {v!r}", f, changed(["if"], v), "/rules/0"
    for v in ([], ["*"], ["filesystem", "git"], "filesystem", ["git"],
              ["filesystem "], ["FILESYSTEM"], ["file\u200bsystem"], [""],
              None, {}, ["filesystem", "filesystem"], [["filesystem"]], ...):
        yield f"server {v!r}", f, changed(["if", "server"], v), "/rules/0"
    for name in ("any", "not", "anyOf", "tools", "servers", "path", "within",
                 "args", "always", "priority", "unless", "else", "or", "$ref",
                 "role", "urls", "hosts", "time", "user", "session", "Paths",
                 "paths ", "__proto__"):
        yield f"condition {name}", f, changed(["if", name], True), "/rules/0"
    for v in ("all", "*", "read", "READ-PATH", "none", "write_path", "root",
              "proxy-domain", "", "read-path ", "fetch-url", "github-owner",
              None, 1):
        yield f"role {v!r}", f, changed(["if", "roles"], [v]), "/rules/0"
        yield (f"path role {v!r}", f,
               changed(["if", "paths", "roles"], [v]), "/rules/0")
    for v in ("*", "read_*", "git_push", "Read_File", "read_file ", "", "all",
              ".*", "read_file\u200b", "/", None):
        yield f"tool {v!r}", f, changed(["if", "tool"], [v]), "/rules/0"
    for v in ("", "Documents", "./x", "..", "~", "~root/x", "~/..", "~/../x",
              "/", "//", "~/", "~//", "/home/../etc", "/etc/./x", "/**", "~/*",
              "$HOME", "file:///etc", "C:\\", "/a\u0000b", "/a\nb",
              "~/Documents/../..", "~/a\u202eb", "/home/", "/a//b", "/{a,b}",
              "`id`", "~/.", None, 1, ["/"], {"any": True}):
        if v == "/home/":
            continue
        yield (f"within {v!r}", f, changed(["if", "paths", "within"], v),
               "/rules/0")
    for v in ("", "http://example.com", "example.com:443", "**", "*.", "*.*",
              "*.com", "a..example.com", "-a.example.com", "EXAMPLE.com",
              "a b.com", "@nolist", "@", "exa\u200bmple.com", ".example.com",
              "example.com.", "user@example.com", "example.com/", "com",
              "*example.com", "example.*", "[::1]", "%2a.example.com",
              "b\u00fccher.example", None, 1):
        yield f"host {v!r}", "fetch", fetch(v), "/rules/0"
    yield "no condition but the server", f, reply(
        rule("filesystem-all", "allow")), "/rules/0/if"
    for v in ("", "A", "a b", "a_b", "../x", "@x", "1a", "a\u001b[2J",
              "a" * 101, None, ["a"]):
        yield f"name {v!r}", f, changed(["name"], v), "/rules/0"
    for member in ("description", "principle", "reason"):
        for v in ("\u001b[2Jfine", "a\u202eb", "zero\u200bwidth", "a\nb", "",
                  "x" * 700, ...):
            yield (f"{member} {str(v)[:12]!r}", f, changed([member], v),
                   "/rules/0")
    r = rule("filesystem-all", "allow", **WIDE)
    yield "the same rule twice", f, reply(r, r), "/rules/1"
    for name in ("accept", "force", "verified", "policy", "trustedServers",
                 "install", "digest"):
        yield f"member {name}", f, reply(r, **{name: True}), f"/{name}"
        yield f"rule's member {name}", f, changed([name], True), "/rules/0"
    good = {"name": "sites", "type": "domains", "principle": "p",
            "generationPrompt": "g", "requiresMcp": False}
    for key, v in (("name", "*"), ("name", "A"), ("name", "../x"),
                   ("type", "any"), ("type", None), ("requiresMcp", "no"),
                   ("values", ["*"]), ("manualAdditions", ["*"]),
                   ("principle", "\u001b[31m"), ("mcpServerHint", 1)):
        yield (f"list {key} {v!r}", f,
               reply(r, listDefinitions=[{**good, key: v}]),
               "/listDefinitions/0")
    yield "a list twice", f, reply(r, listDefinitions=[good, good]), \
        "/listDefinitions/1"
    yield "over 64 lists", f, reply(r, listDefinitions=[
        {**good, "name": f"l{i}"} for i in range(65)]), "/listDefinitions"
    text = json.dumps(reply(r))
    for name, raw in (
            ("a member twice", text[:-1] + ',"rules":[]}'),
            ("then twice", text.replace('"then"', '"then": "escalate", "then"')),
            ("text before", "Here it is: " + text),
            ("text behind", text + " Done."),
            ("two values", text + text), ("a comment", "/* ok */" + text),
            ("single quotes", text.replace('"', "'")),
            ("a comma too many", text[:-1] + ",}"), ("NaN", text.replace(
                '"allow"', "NaN")), ("nothing", " "), ("null", "null"),
            ("a number", "1"), ("a list", "[" + text + "]"),
            ("cut", text[:-20]), ("a lone surrogate", text.replace(
                "The owner", "\\ud800")), ("deep", "[" * 5000),
            ("no rules", "{}"), ("rules null", '{"rules": null}'),
            ("rules an object", '{"rules": {"0": 1}}')):
        yield name, f, raw, None


def shown():
    """Yields (name, server, reply, words): well-formed, and never in force
    unasked.  The statement has the words, or verification has failed."""
    f = "filesystem"

    def one(**cond):
        return reply(rule("filesystem-all", "allow", **cond))
    yield "all roles", f, one(roles=PATH_ROLES), None
    yield "writing everywhere", f, one(roles=["write-path"]), None
    yield "/etc", f, one(paths=paths("/etc", *PATH_ROLES)), None
    yield "/etc, to write", f, one(paths=paths("/etc", "write-path")), None
    yield "/e, then /etc", f, reply(
        rule("filesystem-a", "escalate", roles=["read-path"]),
        rule("filesystem-b", "allow", paths=paths("/etc", "write-path",
                                                  "delete-path",
                                                  "read-path"))), None
    yield "reading everywhere", f, one(roles=["read-path"]), \
        "EVERY path on this machine"
    yield "a tool that reads", f, one(tool=["read_file"]), \
        "EVERY path on this machine"
    yield "the home", f, one(paths=paths("/home", *PATH_ROLES)), \
        "/home and everything below"
    yield "the keys", f, one(paths=paths("~/.ssh", "read-path")), \
        "~/.ssh and everything below"
    yield "a wide rule before a narrow one", f, reply(
        rule("filesystem-a", "allow", paths=paths("~/x", "read-path")),
        rule("filesystem-b", "allow", paths=paths("/srv", *PATH_ROLES))), \
        "/srv and everything below"
    yield "a narrow description", f, reply(
        rule("filesystem-all", "allow", description="Reads ~/Documents.",
             paths=paths("/opt", "read-path"))), "/opt and everything below"
    yield "every host", "fetch", fetch("*"), "1 host for fetch-url: *"
    yield "a host", "fetch", fetch("evil.example"), "evil.example"
    yield "searching", "fetch", reply(
        rule("fetch-search", "allow", server="fetch", tool=["web_search"])), \
        "web_search"
    yield "a repository", "git", reply(
        rule("git-push", "allow", server="git", tool=["git_push"],
             domains={"roles": ["git-remote-url"],
                      "allowed": ["github.com/evil/x"]})), \
        "github.com/evil/x"
    yield "any remote", "git", reply(
        rule("git-all", "allow", server="git", roles=["git-remote-url"])), \
        "EVERY host"
    yield "a list of everything", "fetch", reply(
        rule("fetch-list", "allow", server="fetch",
             domains={"roles": ["fetch-url"], "allowed": ["@sites"]}),
        listDefinitions=[{"name": "sites", "type": "domains",
                          "principle": "p", "generationPrompt": "g",
                          "requiresMcp": False}]), "evil.example"
