# SPDX-License-Identifier: ISC
"""Faulty policy files, in the form of bad_config.py: policyd finds the fault,
and icsupervisor reports it and does not start."""

PLAIN = {"generatedAt": "x", "constitutionHash": "", "inputHash": ""}


def files(policy, annotations=None, lists=None):
    found = {"policy/compiled-policy.json": policy,
             "policy/tool-annotations.json":
             {"generatedAt": "x", "servers": {}}
             if annotations is None else annotations}
    if lists is not None:
        found["policy/dynamic-lists.json"] = lists
    return found


def rule(then="allow", **members):
    """Returns a policy with one rule: members of its condition, or R__x of the
    rule."""
    one = {"name": "r", "description": "", "principle": "", "then": then,
           "reason": "why", "if": {k: v for k, v in members.items()
                                   if not k.startswith("R__")}}
    one.update({k[3:]: v for k, v in members.items() if k.startswith("R__")})
    return files({**PLAIN, "rules": [
        {k: v for k, v in one.items() if v is not ...}]})


def tool(**members):
    return files({**PLAIN, "rules": []}, {"servers": {"s": {
        "inputHash": "x", "tools": [{
            k: v for k, v in {"toolName": "t", "serverName": "s",
                              "comment": "", "args": {},
                              **members}.items() if v is not ...}]}}})


def lists(value):
    return files({**PLAIN, "rules": []}, None, value)


POLICY = [
    ("no annotations", {"policy/compiled-policy.json":
                        {**PLAIN, "rules": []}}, 78,
     "{tools} is missing: a policy needs compiled-policy.json and "
     "tool-annotations.json. Without the directory {home}/policy, the shipped "
     "policy is used"),
    ("no policy", {"policy/x": ""}, 78,
     "{policy} is missing: a policy needs compiled-policy.json and "
     "tool-annotations.json. Without the directory {home}/policy, the shipped "
     "policy is used"),
    ("empty", files(""), 78, "{policy}: is empty"),
    ("no object", files("[]"), 78, "{policy}: must be a JSON object"),
    ("cut short", files('{\n  "rules": [\n'), 78,
     "{policy}: line 3, column 1: ends too early"),
    ("bad UTF-8", files(b'{"rules": [], "x": "\xc3"}'), 78,
     "{policy}: line 1, column 21: not well-formed Unicode"),
    ("a BOM", files(b'\xef\xbb\xbf{"rules": []}'), 78,
     "{policy}: line 1, column 1: not well-formed Unicode (a byte order "
     "mark: save the file as UTF-8 without one)"),
    ("a member twice", files('{"rules": [],\n "rules": []}'), 78,
     "{policy}: line 2, column 2: duplicate member name"),
    ("no rules", files({}), 78,
     "{policy}: rules: is missing; must be an array"),
    ("rules an object", files({"rules": {}}), 78,
     "{policy}: rules: must be an array, not an object"),
    ("a rule that is a string", files({"rules": ["allow all"]}), 78,
     "{policy}: rules[0]: must be an object"),
    ("a rule without a name", rule(R__name=...), 78,
     "{policy}: rules[0].name: is missing; must be a string"),
    ("a name that is empty", rule(R__name=""), 78,
     "{policy}: rules[0].name: must not be empty"),
    ("a name that is a number", rule(R__name=5), 78,
     "{policy}: rules[0].name: must be a string, not a number"),
    ("a rule without a reason", rule(R__reason=...), 78,
     "{policy}: rules[0].reason: is missing; must be a string"),
    ("a rule without an outcome", rule(then=...), 78,
     "{policy}: rules[0].then: is missing; must be a string"),
    ("an unknown outcome", rule(then="permit"), 78,
     "{policy}: rules[0].then: must be allow, deny or escalate"),
    ("a rule without a condition", rule(R__if=...), 78,
     "{policy}: rules[0].if: is missing; must be an object"),
    ("an unknown condition", rule(servers=["s"]), 78,
     "{policy}: rules[0].if.servers: unknown condition; known are roles, "
     "server, tool, paths, domains, lists, resources, prompts, completion"),
    ("a condition with an escape", rule(**{"\x1b[2J": 1}), 78,
     "{policy}: rules[0].if.\\x1b[2J: unknown condition; known are roles, "
     "server, tool, paths, domains, lists, resources, prompts, completion"),
    ("server a string", rule(server="s"), 78,
     "{policy}: rules[0].if.server: must be an array, not a string"),
    ("a number among tools", rule(tool=["a", 1]), 78,
     "{policy}: rules[0].if.tool[1]: must be a string, not a number"),
    ("an unknown role", rule(roles=["read-file"]), 78,
     "{policy}: rules[0].if.roles[0]: unknown role \"read-file\"; known are "
     "read-path, write-path, delete-path, write-history, delete-history, "
     "fetch-url, git-remote-url, github-owner, github-repo, proxy-domain, "
     "branch-name, commit-message, email-address, email-body, "
     "share-permission, none"),
    ("roles a string", rule(roles="read-path"), 78,
     "{policy}: rules[0].if.roles: must be an array, not a string"),
    ("paths without roles", rule(paths={"within": "/x"}), 78,
     "{policy}: rules[0].if.paths.roles: is missing; must be an array"),
    ("paths without within", rule(paths={"roles": ["read-path"]}), 78,
     "{policy}: rules[0].if.paths.within: is missing; must be a string"),
    ("a relative path",
     rule(paths={"roles": ["read-path"], "within": "x"}), 78,
     "{policy}: rules[0].if.paths.within: must be an absolute path or ~/..."),
    ("an unknown key of paths", rule(
        paths={"roles": ["read-path"], "within": "/x", "not": "/y"}), 78,
     "{policy}: rules[0].if.paths.not: unknown condition; known are roles, "
     "within, links"),
    ("domains without a list", rule(domains={"roles": ["fetch-url"]}), 78,
     "{policy}: rules[0].if.domains.allowed: is missing; must be an array"),
    ("a list of an unknown kind", rule(lists=[{
        "roles": ["none"], "allowed": ["a"], "matchType": "regex"}]), 78,
     "{policy}: rules[0].if.lists[0].matchType: must be domains, emails or "
     "identifiers"),
    ("a list definition without a name", files(
        {**PLAIN, "rules": [], "listDefinitions": [{"type": "domains"}]}),
     78, "{policy}: listDefinitions[0].name: is missing; must be a string"),
    ("annotations empty", files({**PLAIN, "rules": []}, ""), 78,
     "{tools}: is empty"),
    ("annotations without servers", files({**PLAIN, "rules": []}, {}), 78,
     "{tools}: servers: is missing; must be an object"),
    ("a server without tools",
     files({**PLAIN, "rules": []}, {"servers": {"s": {}}}), 78,
     "{tools}: servers.s.tools: is missing; must be an array"),
    ("a tool without a name", tool(toolName=...), 78,
     "{tools}: servers.s.tools[0].toolName: is missing; must be a string"),
    ("a tool without args", tool(args=...), 78,
     "{tools}: servers.s.tools[0].args: is missing; must be an object"),
    ("a tool of another server", tool(serverName="other"), 78,
     "{tools}: servers.s.tools[0].serverName: is not the server it stands "
     "under"),
    ("an argument without roles", tool(args={"p": "read-path"}), 78,
     "{tools}: servers.s.tools[0].args.p: must be an array of roles or "
     "{\"default\", \"when\"}"),
    ("an argument's unknown role", tool(args={"p": ["reads"]}), 78,
     "{tools}: servers.s.tools[0].args.p[0]: unknown role \"reads\"; known "
     "are read-path, write-path, delete-path, write-history, delete-history, "
     "fetch-url, git-remote-url, github-owner, github-repo, proxy-domain, "
     "branch-name, commit-message, email-address, email-body, "
     "share-permission, none"),
    ("a tool twice", files({**PLAIN, "rules": []}, {"servers": {"s": {
        "tools": [{"toolName": "t", "serverName": "s", "comment": "",
                   "args": {}}] * 2}}}), 78,
     "{tools}: servers.s: tool t is annotated twice"),
    ("a condition of a role without arg", tool(args={"p": {
        "default": ["read-path"],
        "when": [{"condition": {"equals": 1}, "roles": ["read-path"]}]}}),
     78,
     "{tools}: servers.s.tools[0].args.p.when[0].condition.arg: is missing; "
     "must be a string"),
    ("lists empty", lists(""), 78, "{lists}: is empty"),
    ("lists that is a list", lists([]), 78, "{lists}: must be a JSON object"),
    ("a list without values", lists({"lists": {"news": {}}}), 78,
     "{lists}: lists.news.values: is missing; must be an array"),
    ("a list with a number", lists({"lists": {"news": {"values": [1]}}}),
     78, "{lists}: lists.news.values[0]: must be a string, not a number"),
    ("writable by others", {**files({**PLAIN, "rules": []}),
                            "policy/compiled-policy.json":
                            ('{"rules":[]}', 0o666)}, 78,
     "{policy}: other users can write to it (mode 0666). Run: chmod go-w "
     "{policy}"),
]
