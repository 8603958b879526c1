# SPDX-License-Identifier: ISC
"""Faulty provider files, in the form of bad_config.py: name, files below
IRONCURTAIN_HOME, the exit status of icsupervisor, its message. `icctl doctor`
reports the same for the same file."""
import copy
import json

GOOD = {
    "name": "acme", "host": "api.acme.example",
    "credential": {
        "env": "ACME_API_KEY", "sentinel": "acme-",
        "headers": [{"name": "authorization", "prefix": "Bearer "}]},
    "requestHeaders": ["accept", "content-type"],
    "responseHeaders": ["content-type"],
    "routes": [
        {"method": "GET", "path": "/v1/models"},
        {"method": "POST", "path": "/v1/chat/completions",
         "body": {"types": ["application/json"], "dialect": "chat"}}]}
USED = {"credentials": {"acme": {"env": "ACME_API_KEY"}}}
FILE = "{home}/providers/acme.json"
KNOWN = ("Known here: method, path, query, body, answer, websocket, host, "
         "reply, ask, digest, bare, capture")


def files(value):
    return {"config.json": USED, "providers/acme.json": value}


def but(change):
    """Returns the good file with one change."""
    value = copy.deepcopy(GOOD)
    change(value)
    return files(value)


def route(**members):
    return but(lambda v: v["routes"][1].update(members))


def top(**members):
    return but(lambda v: v.update(members))


PROVIDERS = [
    ("no such file", {"config.json": USED}, 78,
     "provider acme: no provider has this name (known: anthropic, bedrock, "
     "chatgpt, gateway, google, openai, openrouter, vertex). A provider of "
     "your own is a file {home}/providers/acme.json"),
    ("no JSON", files('{"name": "acme",\n "host": api.acme.example}'), 78,
     FILE + ":2:10: not JSON (strings in double quotes, no comments, no "
     "comma before ] or })"),
    ("another name", top(name="acmy"), 78,
     FILE + ": name: must be \"acme\", like the file's name"),
    ("a URL for a host", top(host="https://api.acme.example/v1"), 78,
     FILE + ": host: \"https://api.acme.example/v1\" does not fit here: must "
     "be a host name in lower case, such as api.example.com, without scheme, "
     "port and path"),
    ("an address for a host", top(host="192.0.2.7"), 78,
     FILE + ": host: \"192.0.2.7\" does not fit here: must be a host name in "
     "lower case, such as api.example.com, without scheme, port and path"),
    ("no routes", but(lambda v: v.pop("routes")), 78,
     FILE + ": \"routes\" is missing"),
    ("routes that are none", top(routes=[]), 78,
     FILE + ": routes: must be an array of 1 to 1024 objects"),
    ("an unknown member", top(header=["accept"]), 78,
     FILE + ": unknown member \"header\". Known here: name, credential, "
     "requestHeaders, responseHeaders, routes, host, hosts, filter, logins, "
     "alphabet, http2, check, statedCost, sendHeaders"),
    ("a check without a path", top(check={"method": "GET"}), 78,
     FILE + ": check.path: missing"),
    ("a check with a method of its own",
     top(check={"method": "DELETE", "path": "/v1/models"}), 78,
     FILE + ": check.method: must be GET or POST"),
    ("a check that breaks a line", top(check={
        "method": "GET", "path": "/v1/models",
        "headers": {"accept": "a\r\nb: c"}}), 78,
     FILE + ": check.headers: accept does not fit here"),
    ("a check that a server error passes", top(check={
        "method": "GET", "path": "/v1/models", "accepted": [500]}), 78,
     FILE + ": check.accepted: must be statuses from 300 to 499"),
    ("an unknown member of a route", route(paths="/v1/x"), 78,
     FILE + ": routes[1]: unknown member \"paths\" (did you mean "
     "path?). " + KNOWN),
    ("an unknown member with an escape", route(**{"\x1b[2J": 1}), 78,
     FILE + ": routes[1]: unknown member \"?[2J\". " + KNOWN),
    ("a method in lower case", route(method="post"), 78,
     FILE + ": routes[1].method: \"post\" does not fit here: must be GET, "
     "HEAD, POST, PUT, PATCH or DELETE"),
    ("a path with a query", route(path="/v1/chat?stream=true"), 78,
     FILE + ": routes[1].path: \"/v1/chat?stream=true\" does not fit here: "
     "must be a path without query, such as /v1/models/*: segments of A-Z, "
     "a-z, 0-9 and ._:-, at most 16; * is one segment, or its start"),
    ("the same route twice",
     but(lambda v: v["routes"].append(v["routes"][0])), 78,
     FILE + ": routes[2]: repeated"),
    ("a body of a GET",
     but(lambda v: v["routes"][0].update(body={"types": ["text/plain"]})), 78,
     FILE + ": routes[0].body: a GET has no body"),
    ("a type that is none", route(body={"types": ["json"]}), 78,
     FILE + ": routes[1].body.types[0]: \"json\" does not fit here: must be "
     "a media type in lower case, such as application/json"),
    ("an unknown dialect",
     route(body={"types": ["application/json"], "dialect": "openai"}), 78,
     FILE + ": routes[1].body.dialect: must be \"anthropic\", \"bedrock\", "
     "\"chat\", \"converse\", \"gemini\" or \"responses\""),
    ("a body that is too large",
     route(body={"types": ["application/json"], "max": 1 << 40}), 78,
     FILE + ": routes[1].body.max: must be 1 to 67108864"),
    ("a parameter of an unknown class", route(query={"limit": "int"}), 78,
     FILE + ": routes[1].query.limit: must be \"number\", \"token\" or an "
     "array of values"),
    ("a route of another host", route(host="files.acme.example"), 78,
     FILE + ": routes[1].host: must be one of the file's hosts"),
    ("a 401", route(answer=401), 78,
     FILE + ": routes[1].answer: must be 400 to 499, not 401"),
    ("a credential among the headers",
     top(requestHeaders=["accept", "Authorization"]), 78,
     FILE + ": requestHeaders[1]: \"Authorization\" does not fit here: must "
     "be a header in lower case, or a family such as x-app-*; none that "
     "carries a credential or a cookie, frames a message or leads elsewhere"),
    ("a key where the variable's name is due",
     but(lambda v: v["credential"].update(env="acme-key-1")), 78,
     FILE + ": credential.env: \"acme-key-1\" does not fit here: must be a "
     "variable in capitals, such as EXAMPLE_API_KEY"),
    ("a credential in no header",
     but(lambda v: v["credential"].update(headers=[])), 78,
     FILE + ": credential.headers: must be an array of 1 to 8 objects"),
    ("a prefix without its space",
     but(lambda v: v["credential"]["headers"][0].update(prefix="Bearer")), 78,
     FILE + ": credential.headers[0].prefix: \"Bearer\" does not fit here: "
     "must be a scheme and one space, such as \"Bearer \", or nothing"),
    ("writable by others", files((json.dumps(GOOD), 0o666)), 78,
     FILE + ": other users can write to it (mode 0666). Run: chmod "
	    "go-w " + FILE),
    ("two files with one host",
     {**files(GOOD),
      "config.json": {"credentials": {"acme": {"env": "ACME_API_KEY"},
                                      "twin": {"env": "ACME_API_KEY"}}},
      "providers/twin.json": {**GOOD, "name": "twin"}}, 78,
     "{home}/providers/twin.json: api.acme.example is a host of "
     "{home}/providers/acme.json already; a session can have only one of the "
     "two"),
    ("a good one", files(GOOD), 78,
     "credentials.acme.env: ACME_API_KEY is not set or empty. "
     "Run: export ACME_API_KEY=... in this shell"),
]

# Reported by `icctl doctor` only: subject, files, fault.
OTHERS = [
    ("config.json", {"config.json": {"notfy": []}, "providers/x.json": "-"},
     [("configuration",
       "{config}: notfy: unknown key (did you mean notify?). Known here: agent, agentView, answerKey, approvers, "
       "audit, auditRedaction, autoApprove, confinement, containerRuntime, credentials, "
       "destinations, dockerResources, env, escalationExpiry, escalationTimeoutSeconds, image, "
       "limits, "
       "maxConcurrentSessions, mcpServers, modelBodies, notify, notifyOn, notifyQuiet, openHosts, packageCaches, packageInstall, pins, policy, policyBudget, "
       "profiles, projectInstructions, providers, proxy, proxyTools, "
       "resourceBudget, runtime, "
       "sandboxPolicy, serverCredentials, services, settingsOf, toolDefinitions, transport, undo")]),
    ("a profile",
     {"config.json": {"profiles": {"work": {"providers": {"anthropic": {
         "credential": {"fil": "~/k"}}}}}}},
     [("configuration",
       "{config}: credentials.anthropic.fil: unknown key (did you mean "
       "file?). Known here: env, "
       "file, command, systemd, secret-service, login, capture, variables, shell, revoke")]),
    ("mcp-servers.json", {"mcp-servers.json": {"s": {"comand": "x"}}},
     [("MCP servers",
       "{servers}: s.comand: unknown key (did you mean command?). Known here: args, command, "
       "copy, description, elicitation, env, git, sandbox, sandboxPolicy, shell, tools, workspace")]),
    ("an agent", {"agents/mine.json": {"name": "yours"}},
     [("agent",
       "{home}/agents/mine.json: name: must be \"mine\", like the file's "
       "name")]),
    ("prices.json", {"prices.json": {"models": 1}},
     [("prices", "{home}/prices.json: models: must be a list of objects")]),
    ("a credential's file",
     {"config.json": {"credentials": {"anthropic": {"file": "~/none"}}}},
     [("credential", "of anthropic: ~/none")]),
]
