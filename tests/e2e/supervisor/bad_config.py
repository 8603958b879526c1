# SPDX-License-Identifier: ISC
"""Faulty files: name, files below IRONCURTAIN_HOME (text, bytes, JSON, or a
mode with one), the exit status of icsupervisor, and its message. NAMES
abbreviate files in IRONCURTAIN_HOME, {home}; {work} is the directory that
holds it."""

NAMES = [("config", "config.json"), ("servers", "mcp-servers.json"),
         ("policy", "policy/compiled-policy.json"),
         ("tools", "policy/tool-annotations.json"),
         ("lists", "policy/dynamic-lists.json")]


def config(**members):
    return {"config.json": members}


def server(**members):
    return {"mcp-servers.json": {"s": {"command": "/bin/cat", **members}}}


CONFIG = [
    ("empty", {"config.json": ""}, 78,
     "{config}:1:1: ends too early (it is empty: write {} at least)"),
    ("white space", {"config.json": " \n\n"}, 78,
     "{config}:3:1: ends too early (it is empty: write {} at least)"),
    ("no object", {"config.json": "[]"}, 78,
     "{config}:1:1: must be an object: {...}"),
    ("no JSON", {"config.json": "agent: x\n"}, 78,
     "{config}:1:1: not JSON (strings in double quotes, no comments, no "
     "comma before ] or })"),
    ("a comment", {"config.json": '{\n  // mine\n  "agent": {}\n}\n'}, 78,
     "{config}:2:3: not JSON (strings in double quotes, no comments, no "
     "comma before ] or })"),
    ("a comma at the end", {"config.json": '{\n  "agent": {},\n}\n'}, 78,
     "{config}:3:1: not JSON (strings in double quotes, no comments, no "
     "comma before ] or })"),
    ("cut short", {"config.json": '{"agent": {'}, 78,
     "{config}:1:12: ends too early (a bracket or quote is not closed)"),
    ("something behind", {"config.json": '{}\n{}\n'}, 78,
     "{config}:2:1: something after the value"),
    ("bad UTF-8", {"config.json": b'{"notify": ["\xff"]}'}, 78,
     "{config}:1:14: not well-formed Unicode"),
    ("a BOM", {"config.json": b'\xef\xbb\xbf{}'}, 78,
     "{config}:1:1: not well-formed Unicode (a byte order mark: save the "
     "file as UTF-8 without one)"),
    ("a key twice", {"config.json": '{\n "agent": {},\n "agent": {}\n}'},
     78, "{config}:3:2: duplicate member name"),
    ("a key twice, deep",
     {"config.json": '{"audit":{"durability":"disk","durability":"disk"}}'},
     78, "{config}:1:31: duplicate member name"),
    ("a NUL in a string", {"config.json": '{"notify":["a\\u0000"]}'}, 78,
     "{config}: notify[0]: must not hold a NUL"),
    ("nested 70 deep", {"config.json": "[" * 70 + "]" * 70}, 78,
     "{config}:1:65: nested more than 64 deep"),
    ("over 8 MiB", {"config.json": " " * (9 << 20)}, 78,
     "{config}: too large (over 8388608 bytes)"),
    ("notices of something else", config(notifyOn=["turn", "x"]), 78,
     '{config}: notifyOn: "x": known are waiting, turn and limit'),
    ("a quiet time that is none", config(notifyQuiet="22:00-24:00"), 78,
     '{config}: notifyQuiet: "22:00-24:00": must be two times of the day, such as '
     '"22:00-07:00"'),
    ("a number as the file that it is a copy of", config(settingsOf=1), 78,
     "{config}: settingsOf: must be a string, is a number"),
    ("an unknown key", config(escalationTimeout=300), 78,
     "{config}: escalationTimeout: unknown key (did "
     "you mean escalationTimeoutSeconds?). Known here: agent, agentView, answerKey, approvers, "
     "audit, auditRedaction, autoApprove, confinement, containerRuntime, credentials, "
     "destinations, dockerResources, env, escalationExpiry, escalationTimeoutSeconds, image, limits, "
     "maxConcurrentSessions, mcpServers, modelBodies, notify, notifyOn, notifyQuiet, openHosts, packageCaches, packageInstall, pins, policy, policyBudget, profiles, projectInstructions, "
     "providers, proxy, proxyTools, resourceBudget, runtime, sandboxPolicy, "
     "serverCredentials, services, settingsOf, toolDefinitions, transport, undo"),
    ("an unknown key with an escape", {"config.json": '{"\\u001b[2J": 1}'},
     78,
     "{config}: \\x1b[2J: unknown key. Known here: agent, agentView, answerKey, approvers, "
     "audit, auditRedaction, autoApprove, confinement, containerRuntime, credentials, "
     "destinations, dockerResources, env, escalationExpiry, escalationTimeoutSeconds, image, limits, "
     "maxConcurrentSessions, mcpServers, modelBodies, notify, notifyOn, notifyQuiet, openHosts, packageCaches, packageInstall, pins, policy, policyBudget, profiles, projectInstructions, "
     "providers, proxy, proxyTools, resourceBudget, runtime, sandboxPolicy, "
     "serverCredentials, services, settingsOf, toolDefinitions, transport, undo"),
    ("a founding key", config(dockerAgent={"resources": {"cpus": 2}}), 78,
     "{config}: dockerAgent: is a key of the TypeScript IronCurtain: its "
     "members have places of their own here: resources is "
     "\"dockerResources\", maxConcurrentSessions stands beside it, "
     "defaultAgent is the AGENT of icctl start or a persona's \"agent\", and "
     "agentApiKeys are \"credentials\""),
    ("an API key", config(anthropicApiKey="sk-ant-secret"), 78,
     "{config}: anthropicApiKey: keys do not belong into this file. Put the "
     "key into a file of its own (chmod 600) and write "
     "{\"credentials\":{\"anthropic\":{\"file\":\"~/keys/anthropic\"}}}"),
    ("the other API key", config(openaiApiKey="sk-secret"), 78,
     "{config}: openaiApiKey: keys do not belong into this file. Put the key "
     "into a file of its own (chmod 600) and write "
     "{\"credentials\":{\"openai\":{\"file\":\"~/keys/openai\"}}}"),
    ("a base URL", config(anthropicBaseUrl="https://x"), 78,
     "{config}: anthropicBaseUrl: write "
     "{\"providers\":{\"anthropic\":{\"upstream\":\"https://...\"}}} instead"),
    ("hosts to be opened, true", config(openHosts=True), 78,
     "{config}: openHosts: must be a string, is a boolean"),
    ("hosts to be opened, another word", config(openHosts="always"), 78,
     "{config}: openHosts: must be \"ask\" or \"off\", is \"always\""),
    ("the time-out a string", config(escalationTimeoutSeconds="300"), 78,
     "{config}: escalationTimeoutSeconds: must be a whole number from 30 to "
     "86400, is a string"),
    ("another end of a time-out", config(escalationExpiry="stop"), 78,
     "{config}: escalationExpiry: must be \"deny\" or \"end\", is \"stop\""),
    ("the time-out too short", config(escalationTimeoutSeconds=29), 78,
     "{config}: escalationTimeoutSeconds: must be from 30 to 86400, is 29"),
    ("the time-out too long", config(escalationTimeoutSeconds=86401), 78,
     "{config}: escalationTimeoutSeconds: must be from 30 to 86400, is 86401"),
    ("the time-out a fraction", config(escalationTimeoutSeconds=30.5), 78,
     "{config}: escalationTimeoutSeconds: must be a whole number from 30 to "
     "86400, is a fraction"),
    ("the time-out null", config(escalationTimeoutSeconds=None), 78,
     "{config}: escalationTimeoutSeconds: must be a whole number from 30 to "
     "86400, is null"),
    ("the time-out huge",
     {"config.json": '{"escalationTimeoutSeconds":99999999999999999999}'},
     78,
     "{config}: escalationTimeoutSeconds: must be from 30 to 86400, is far "
     "beyond"),
    ("a budget that is a number", config(resourceBudget=5), 78,
     "{config}: resourceBudget: must be an object, is a number"),
    ("an unknown limit", config(resourceBudget={"maxTurns": 5}), 78,
     "{config}: resourceBudget.maxTurns: unknown key (did you mean "
     "maxTurnSeconds?). Known here: maxTotalTokens, maxSteps, "
     "maxSessionSeconds, maxTurnSeconds, maxEstimatedCostUsd, "
     "maxTurnTokens, maxTurnSteps, maxTurnEstimatedCostUsd, "
     "warnThresholdPercent"),
    ("a limit that is a string",
     config(resourceBudget={"maxSteps": "5"}), 78,
     "{config}: resourceBudget.maxSteps: must be a number, or null for no "
     "limit, is a string"),
    ("a limit below zero",
     config(resourceBudget={"maxEstimatedCostUsd": -1}), 78,
     "{config}: resourceBudget.maxEstimatedCostUsd: -1 is out of range"),
    ("half a step", config(resourceBudget={"maxSteps": 1.5}), 78,
     "{config}: resourceBudget.maxSteps: 1.5 is out of range, or no whole "
     "number"),
    ("a threshold of 0",
     config(resourceBudget={"warnThresholdPercent": 0}), 78,
     "{config}: resourceBudget.warnThresholdPercent: must be from 1 to 100, "
     "is 0"),
    ("too little to hold", config(modelBodies={"maxHeldMb": 32}), 78,
     "{config}: modelBodies.maxHeldMb: must be from 96 to 1024, is 32"),
    ("a filter's unknown kind",
     config(providers={"anthropic": {"filter": {"tool": "strip"}}}), 78,
     "{config}: providers.anthropic.filter.tool: unknown key (did you "
     "mean tools?). Known here: "
     "tools, mcp, urls, store, background, usage"),
    ("a filter's unknown action",
     config(providers={"anthropic": {"filter": {"tools": "drop"}}}), 78,
     "{config}: providers.anthropic.filter.tools: must be \"strip\", "
     "\"deny\" or \"allow\""),
    ("headers that are none",
     config(providers={"anthropic": {"headers": ["x"]}}), 78,
     "{config}: providers.anthropic.headers: must be an object, is an array"),
    ("prices that are none", {"prices.json": '{"models":[{"model":"x"}]}'},
     78, "{home}/prices.json: models[0].in: missing"),
    ("a price below zero",
     {"prices.json": '{"models":[{"model":"x","in":-1,"out":1}]}'}, 78,
     "{home}/prices.json: models[0].in: must be USD for a million tokens"),
    ("audit a string", config(audit="disk"), 78,
     "{config}: audit: must be an object, is a string"),
    ("an unknown durability", config(audit={"durability": "fast"}), 78,
     "{config}: audit.durability: must be \"kernel\" or \"disk\", is "
     "\"fast\""),
    ("an unknown key of audit", config(audit={"sync": True}), 78,
     "{config}: audit.sync: unknown key. Known here: anchor, durability, "
     "rotate, strict"),
    ("a negative size of the log", config(audit={"rotate": -1}), 78,
     "{config}: audit.rotate: must be from 0 to 1048576, is -1"),
    ("redaction no boolean", config(auditRedaction={"enabled": "no"}), 78,
     "{config}: auditRedaction.enabled: must be true or false, is a string"),
    ("sandboxPolicy warn", config(sandboxPolicy="warn"), 78,
     "{config}: sandboxPolicy: \"warn\" is refused: each server without a "
     "sandbox must be named with --allow-unsandboxed SERVER. Remove this key"),
    ("notify a string", config(notify="notify-send"), 78,
     "{config}: notify: must be an array of strings, is a string"),
    ("notify empty", config(notify=[""]), 78,
     "{config}: notify: must name a command: [\"notify-send\", "
     "\"IronCurtain\"]"),
    ("notify with a number", config(notify=["a", 1]), 78,
     "{config}: notify[1]: must be a string, is a number"),
    ("mcpServers a number", config(mcpServers=1), 78,
     "{config}: mcpServers: must be a path or an object of servers, is a "
     "number"),
    ("mcpServers a file that is not there", config(mcpServers="other.json"),
     78, "{config}: mcpServers: {home}/other.json: No such file or directory"),
    ("agent a string", config(agent="claude-code"), 78,
     "{config}: agent: must be an object, is a string"),
    ("an agent's unknown key", config(agent={"codex": {"bin": "/x"}}), 78,
     "{config}: agent.codex.bin: unknown key. Known here: "
     "homeFiles, image, model, path"),
    ("credentials a string", config(credentials="sk-ant-secret"), 78,
     "{config}: credentials: must be an object, is a string"),
    ("a credential that is a string",
     config(credentials={"anthropic": "sk-ant-secret"}), 78,
     "{config}: credentials.anthropic: must be an object that says where the "
     "key is, is a string. Write {\"env\":\"NAME\"}, {\"file\":\"PATH\"}, "
     "{\"command\":[...]}, {\"systemd\":\"NAME\"}, "
     "{\"secret-service\":{...}}, {\"login\":\"claude-code\"} or "
     "{\"capture\":\"claude-code\"}"),
    ("a credential from two places", config(credentials={
        "anthropic": {"env": "A", "file": "b"}}), 78,
     "{config}: credentials.anthropic: must have exactly one of env, file, "
     "command, systemd, secret-service, login, capture; has 2"),
    ("a credential from nowhere", config(credentials={"anthropic": {}}), 78,
     "{config}: credentials.anthropic: must have exactly one of env, file, "
     "command, systemd, secret-service, login, capture; has 0"),
    ("a credential from elsewhere",
     config(credentials={"anthropic": {"key": "sk-ant-secret"}}), 78,
     "{config}: credentials.anthropic.key: unknown key. Known here: env, "
     "file, command, systemd, secret-service, login, capture, variables, shell, revoke"),
    ("a key for the name of a variable",
     config(credentials={"anthropic": {"env": "sk-ant-secret"}}), 78,
     "{config}: credentials.anthropic.env: must be the NAME of an "
     "environment variable (letters, digits, _), not its value"),
    ("a variable that is not set",
     config(credentials={"anthropic": {"env": "NO_SUCH_KEY"}}), 78,
     "credentials.anthropic.env: NO_SUCH_KEY is not set or empty. "
     "Run: export NO_SUCH_KEY=... in this shell"),
    ("a key file that is not there",
     config(credentials={"anthropic": {"file": "no-key"}}), 78,
     "credential {home}/no-key: No such file or directory"),
    ("a key file that others may read",
     {**config(credentials={"anthropic": {"file": "key"}}),
      "key": ("sk-ant-secret\n", 0o644)}, 78,
     "credential {home}/key: other users can read or write it (mode 0644). "
     "Run: chmod 600 {home}/key"),
    ("an empty key file",
     {**config(credentials={"anthropic": {"file": "key"}}),
      "key": ("", 0o600)}, 78, "credential {home}/key: empty"),
    ("a key file with two lines",
     {**config(credentials={"anthropic": {"file": "key"}}),
      "key": ("sk-ant-one\nsk-ant-two\n", 0o600)}, 78,
     "credential of anthropic: holds a space, a line break or another "
     "character that cannot be in a credential"),
    ("a key command that is not there", config(credentials={
        "anthropic": {"command": ["no-such-program"]}}), 78,
     "credentials.anthropic.command: no-such-program not found in PATH"),
    ("a key command that fails", config(credentials={
        "anthropic": {"command": ["false"]}}), 78,
     "credentials.anthropic.command: false exited with status 1"),
    ("a revoke command that is no list", config(credentials={
        "anthropic": {"env": "X", "revoke": "key delete"}}), 78,
     "{config}: credentials.anthropic.revoke: must be an array of strings, is "
     "a string"),
    ("a revoke command without a program", config(credentials={
        "anthropic": {"env": "X", "revoke": []}}), 78,
     "{config}: credentials.anthropic.revoke: must name a program: "
     "[\"gateway-key\", \"delete\", \"{session}\"]"),
    ("a revoke command that is not there", config(credentials={
        "anthropic": {"env": "ANTHROPIC_API_KEY",
                      "revoke": ["no-such-program"]}}), 78,
     "credentials.anthropic.revoke: no-such-program not found in PATH"),
    ("a systemd credential outside of systemd",
     config(credentials={"anthropic": {"systemd": "anthropic"}}), 78,
     "credential anthropic: CREDENTIALS_DIRECTORY is not set; the unit needs "
     "LoadCredential=anthropic:PATH"),
    ("a provider nobody knows",
     config(credentials={"acme": {"env": "ACME"}}), 78,
     "provider acme: no provider has this name (known: anthropic, bedrock, "
     "chatgpt, gateway, google, openai, openrouter, vertex). A provider of "
     "your own is a file {home}/providers/acme.json"),
    ("a provider that is nearly right",
     config(credentials={"antropic": {"env": "ACME"}}), 78,
     "provider antropic: no provider has this name (did you mean anthropic? "
     "Known: anthropic, bedrock, chatgpt, gateway, google, openai, "
     "openrouter, vertex). A provider of your own is a file "
     "{home}/providers/antropic.json"),
    ("a provider's name with a slash",
     config(credentials={"../acme": {"env": "ACME"}}), 78,
     "{config}: credentials.../acme: is not a valid name for a provider: "
     "letters, digits, - and _ only"),
    ("a provider's unknown key",
     config(providers={"anthropic": {"url": "https://x"}}), 78,
     "{config}: providers.anthropic.url: unknown key. Known here: upstream, "
     "token, ca, reuse, filter, http2, region, project, headers"),
    ("a destination that is an address",
     config(destinations={"x": {"kind": "web", "hosts": ["10.0.0.1"]}}), 78,
     "{config}: destinations.x.hosts: \"10.0.0.1\" is an address: give a "
     "host name"),
    ("a destination that is the provider",
     config(destinations={"x": {"kind": "web",
                                "hosts": ["api.anthropic.com"]}},
            credentials={"anthropic": {"env": "ANTHROPIC_API_KEY"}}), 78,
     "destinations.x.hosts: api.anthropic.com is a host of anthropic "
     "already"),
    ("a forge without a token",
     config(destinations={"x": {"kind": "forge", "forge": "github",
                                "hosts": ["api.github.com"],
                                "repositories": ["me/shop"]}}), 78,
     "{config}: destinations.x.credential: must say where the token is: "
     "{\"env\": \"VARIABLE\"} or {\"file\": \"PATH\"}; icctl setup --forge says "
     "which token to make"),
    ("a forge that may write unasked",
     config(destinations={"x": {"kind": "forge", "forge": "github",
                                "hosts": ["api.github.com"],
                                "credential": {"env": "T"},
                                "repositories": ["me/shop"],
                                "write": "allow"}}), 78,
     "{config}: destinations.x.write: must be \"ask\" or \"deny\": nothing is "
     "changed on a forge unasked, is \"allow\""),
    ("a pattern of repositories of a forge",
     config(destinations={"x": {"kind": "forge", "forge": "github",
                                "hosts": ["api.github.com"],
                                "credential": {"env": "T"},
                                "repositories": ["me/*"]}}), 78,
     "{config}: destinations.x.repositories: \"me/*\" is not a repository: "
     "write owner and name, \"owner/repository\"; there are no patterns here"),
    ("a destination's CA that is none",
     config(destinations={"x": {"kind": "web", "hosts": ["a.example"],
                                "ca": "/dev/null"}}), 78,
     "destinations.x.ca: /dev/null: not a plain file"),
    ("a proxy that is none of ours", config(proxy={"uri": "x"}), 78,
     "{config}: proxy.uri: unknown key (did you mean url?). Known here: url, noProxy, "
     "credential, ca"),
    ("a proxy with TLS", config(proxy={"url": "https://proxy:3129"}), 78,
     "{config}: proxy.url: TLS to the proxy itself (https://) is not "
     "supported. Most proxies also accept CONNECT on an http:// port: write "
     "that one"),
    ("a SOCKS proxy", config(proxy={"url": "socks5://proxy:1080"}), 78,
     "{config}: proxy.url: must begin with http:// (SOCKS and others are not "
     "supported)"),
    ("a proxy with a password",
     config(proxy={"url": "http://me:secret@proxy:3128"}), 78,
     "{config}: proxy.url: must not hold a user name or password. Put "
     "USER:PASSWORD into a file of its own (chmod 600) and write "
     "{\"proxy\":{\"url\":...,\"credential\":{\"file\":"
     "\"~/keys/proxy\"}}}"),
    ("a proxy's port", config(proxy={"url": "http://proxy:99999"}), 78,
     "{config}: proxy.url: its port must be from 1 to 65535"),
    ("a proxy's host", config(proxy={"url": "http://2130706433:80"}), 78,
     "{config}: proxy.url: its host is neither a name nor an address"),
    ("a proxy with a path", config(proxy={"url": "http://proxy/x"}), 78,
     "{config}: proxy.url: must end after its port. In a user name or "
     "password, write %2F for /, %3F for ?, %23 for # and %40 for @"),
    ("a bad row of noProxy", config(proxy={"url": "http://proxy",
                                           "noProxy": ["a", "10.0.0.0/33"]}),
     78, "{config}: proxy.noProxy: \"10.0.0.0/33\" must be NAME, .NAME, *.NAME "
	 "or ADDRESS, each with or without :PORT, or NET/BITS, or \"*\""),
    ("a proxy's credential in the file", config(proxy={
        "url": "http://proxy", "credential": "me:secret"}), 78,
     "{config}: proxy.credential: must be an object that says where the key "
     "is, is a string. Write {\"env\":\"NAME\"}, {\"file\":\"PATH\"}, "
     "{\"command\":[...]}, {\"systemd\":\"NAME\"}, "
     "{\"secret-service\":{...}}"),
    ("a login for a proxy", config(proxy={
        "url": "http://proxy", "credential": {"login": "codex"}}), 78,
     "{config}: proxy.credential.login: there is none for this"),
    ("a proxy's variable that is not set", config(proxy={
        "url": "http://127.0.0.1:9",
        "credential": {"env": "NO_SUCH_PAIR"}}), 78,
     "proxy.credential.env: NO_SUCH_PAIR is not set or empty. "
     "Run: export NO_SUCH_PAIR=... in this shell"),
    ("a proxy's credential without a colon",
     {**config(credentials={"anthropic": {"env": "ANTHROPIC_API_KEY"}},
               proxy={"url": "http://127.0.0.1:9",
                      "credential": {"file": "pair"}}),
      "pair": ("just-a-password\n", 0o600)}, 78,
     "credential of the corporate proxy (proxy.credential): is no "
     "USER:PASSWORD"),
    ("a proxy's command that fails", config(
        credentials={"anthropic": {"env": "ANTHROPIC_API_KEY"}},
        proxy={"url": "http://127.0.0.1:9",
               "credential": {"command": ["false"]}}), 78,
     "proxy.credential.command: false exited with status 1"),
    ("a corporate CA that is not there",
     config(proxy={"ca": "root.pem"}), 78,
     "proxy.ca: {home}/root.pem: No such file or directory"),
    ("a corporate CA that is none",
     {**config(proxy={"ca": "root.pem"}), "root.pem": "hello\n"}, 78,
     "proxy.ca: {home}/root.pem: contains no certificate in PEM (-----BEGIN "
     "CERTIFICATE-----)"),
    ("a corporate CA with its key",
     {**config(proxy={"ca": "root.pem"}), "root.pem":
      "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"
      "-----BEGIN EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----\n"},
     78, "proxy.ca: {home}/root.pem: contains a private key. Name a file with "
	 "certificates only"),
    ("an upstream without TLS",
     config(providers={"anthropic": {"upstream": "http://example.com"}}),
     78,
     "{config}: providers.anthropic.upstream: \"http://example.com\": must "
     "begin with https:// (http:// is allowed for loopback only: elsewhere the "
     "key would cross the network in clear)"),
    ("an upstream with a password", config(providers={
        "anthropic": {"upstream": "https://u:secret@example.com"}}), 78,
     "{config}: providers.anthropic.upstream: \"...\": must not hold a user "
     "name or password"),
    ("an upstream that is no URL",
     config(providers={"anthropic": {"upstream": "example.com"}}), 78,
     "{config}: providers.anthropic.upstream: \"example.com\": must begin "
     "with https://"),
    ("an upstream with a query", config(providers={
        "anthropic": {"upstream": "https://example.com/?key=x"}}), 78,
     "{config}: providers.anthropic.upstream: \"...\": its path may hold "
     "letters, digits, escapes (%20) and -._~!$&'()*+,;=:@ only, no empty or "
     "dot segment, and no query or fragment"),
    ("an upstream with port 0", config(providers={
        "anthropic": {"upstream": "https://example.com:0"}}), 78,
     "{config}: providers.anthropic.upstream: \"https://example.com:0\": its "
     "port must be from 1 to 65535"),
    ("an unknown reuse",
     config(providers={"anthropic": {"reuse": "always"}}), 78,
     "{config}: providers.anthropic.reuse: must be \"auto\" or \"never\", is "
     "\"always\""),
    ("a CA file that is not there", config(
        credentials={"anthropic": {"env": "ANTHROPIC_API_KEY"}},
        providers={"anthropic": {"ca": "no.pem"}}), 78,
     "providers.anthropic.ca: {home}/no.pem: No such file or directory"),
    ("a CA file that is none", {**config(
        credentials={"anthropic": {"env": "ANTHROPIC_API_KEY"}},
        providers={"anthropic": {"ca": "ca.pem"}}), "ca.pem": "x\n"}, 78,
     "providers.anthropic.ca: {home}/ca.pem: holds no certificate in PEM "
     "(-----BEGIN CERTIFICATE-----)"),
    ("writable by others", {"config.json": ("{}", 0o666)}, 78,
     "{config}: other users can write to it (mode 0666). Run: chmod go-w "
     "{config}"),
    ("readable by nobody", {"config.json": ("{}", 0o000)}, 78,
     "{config}: Permission denied"),
    ("a directory", {"config.json/x": ""}, 78, "{config}: not a plain file"),
]

SERVERS = [
    ("empty", {"mcp-servers.json": ""}, 78,
     "{servers}:1:1: ends too early (it is empty: write {} at least)"),
    ("no object", {"mcp-servers.json": "[]"}, 78,
     "{servers}:1:1: must be an object: {...}"),
    ("a server twice", {"mcp-servers.json":
                        '{"s":{"command":"a"},\n "s":{"command":"b"}}'}, 78,
     "{servers}:2:2: duplicate member name"),
    ("a server that is a string", {"mcp-servers.json": {"s": "npx"}}, 78,
     "{servers}: s: must be an object, is a string"),
    ("a variable that is not set", server(args=["${IC_NOT_SET}"]), 78,
     "{servers}: s.args: ${IC_NOT_SET} is not set in your environment: export "
     "IC_NOT_SET=..., or write ${IC_NOT_SET:-} if it may be empty"),
    ("no command", {"mcp-servers.json": {"s": {}}}, 78,
     "{servers}: s.command: missing: name the program that speaks MCP on its "
     "stdin and stdout"),
    ("a remote server's name", {"mcp-servers.json": {"git": {
        "url": "https://mcp.invalid"}}}, 78,
     "{servers}: git: a remote server must have another name"),
    ("http", {"mcp-servers.json": {"s": {"url": "http://mcp.invalid"}}}, 78,
     "{servers}: s.url: \"http://mcp.invalid\": must begin with https:// (http:// "
     "is allowed for loopback only: elsewhere the key would cross the network "
     "in clear)"),
    ("a secret in an address", {"mcp-servers.json": {"s": {
        "url": "https://mcp.invalid/mcp?api_key=0123456789abcdef"}}}, 78,
     "{servers}: s.url: its query has what looks like a key or a password. "
     "Remove it there, and name it in serverCredentials of config.json if the server "
     "takes it in a header, too"),
    ("a secret in a header", {"mcp-servers.json": {"s": {
        "url": "https://mcp.invalid", "headers": {
            "Authorization": "Bearer 0123456789abcdef"}}}}, 78,
     "{servers}: s.headers.Authorization: its value looks like a key or a "
     "password. Remove it, and say in config.json where it is: "
     "{\"serverCredentials\":{\"s\":{\"headers\":{\"authorization\":{"
     "\"file\":\"PATH\"}}}}}"),
    ("a variable in a header", {"mcp-servers.json": {"s": {
        "url": "https://mcp.invalid", "headers": {"x-team": "${TEAM}"}}}}, 78,
     "{servers}: s.headers.x-team: variables are not replaced here: write the "
     "value itself, or name the variable in serverCredentials of config.json"),
    ("the old transport", {"mcp-servers.json": {"s": {
        "url": "https://mcp.invalid", "type": "sse"}}}, 78,
     "{servers}: s.type: must be \"http\", is \"sse\". A server that speaks "
     "only HTTP+SSE of 2024-11-05 (\"sse\") is not supported"),
    ("another name of an address", {"mcp-servers.json": {"s": {
        "httpUrl": "https://mcp.invalid"}}}, 78,
     "{servers}: s.httpUrl: the address of a remote server is called "
     "\"url\" here"),
    ("a header of MCP", {"mcp-servers.json": {"s": {
        "url": "https://mcp.invalid", "headers": {"mcp-session-id": "a"}}}},
     78, "mcp-servers.mcp-s: headers: mcp-session-id may not be set: it is no "
     "header's name in lower case, or it carries a credential, frames the "
     "message, or belongs to MCP"),
    ("a remote server's secret as text", {
        "mcp-servers.json": {"s": {"url": "https://mcp.invalid"}},
        **config(serverCredentials={"s": {"TOKEN": "abc"}})}, 78,
     "{servers}: serverCredentials.s.TOKEN: unknown key. Known here: bearer, "
     "clientSecret, headers"),
    ("a remote server's secrets as text", {
        "mcp-servers.json": {"s": {"url": "https://mcp.invalid"}},
        **config(serverCredentials={"s": "abc"})}, 78,
     "{servers}: serverCredentials.s: must be an object, is a string"),
    ("an empty command", server(command=""), 78,
     "{servers}: s.command: must not be empty"),
    ("the command a list", server(command=["a", "b"]), 78,
     "{servers}: s.command: must be a string, is an array"),
    ("args a string", server(args="--x"), 78,
     "{servers}: s.args: must be an array of strings, is a string"),
    ("a number in args", server(args=["--port", 80]), 78,
     "{servers}: s.args[1]: must be a string, is a number"),
    ("257 args", server(args=["x"] * 257), 78,
     "{servers}: s.args: has 257 entries, at most 256 are taken"),
    ("an unknown key", server(cwd="/tmp"), 78,
     "{servers}: s.cwd: unknown key. Known here: args, command, copy, description, "
     "elicitation, env, git, sandbox, sandboxPolicy, shell, tools, workspace"),
    ("elicitation", server(elicitation="never"), 78,
     "{servers}: s.elicitation: must be \"ask\" or \"decline\", is \"never\""),
    ("no tools", server(tools={"list": []}), 78,
     "{servers}: s.tools.list: names no tool, so that the agent would see "
     "none. Name some, such as [\"search_*\"], or remove \"tools\""),
    ("a pattern of tools", server(tools={"list": ["a b"]}), 78,
     "{servers}: s.tools.list: \"a b\" is no name or pattern of tools: "
     "letters, digits, _, . and -, and * for any of them"),
    ("env a list", server(env=["A=b"]), 78,
     "{servers}: s.env: must be an object, is an array"),
    ("a number in env", server(env={"A": 1}), 78,
     "{servers}: s.env.A: must be a string, is a number"),
    ("a variable's name with =", server(env={"A=B": "c"}), 78,
     "{servers}: s.env.A=B: is not a valid name for a variable: letters, "
     "digits and _ only"),
    ("workspace a string", server(workspace="no"), 78,
     "{servers}: s.workspace: must be true or false, is a string"),
    ("sandbox false", server(sandbox=False), 78,
     "{servers}: s.sandbox: false would give this server everything that you "
     "can reach. Remove it to run the server in its sandbox, or confirm it on "
     "the command line: --allow-unsandboxed s"),
    ("sandbox true", server(sandbox=True), 78,
     "{servers}: s.sandbox: must be false or an object, is a boolean"),
    ("an unknown key of sandbox", server(sandbox={"net": False}), 78,
     "{servers}: s.sandbox.net: unknown key (did you mean network?). Known here: filesystem, network"),
    ("network true", server(sandbox={"network": True}), 78,
     "{servers}: s.sandbox.network: must be false or an object with "
     "allowedDomains, is true: no server shares the host's network"),
    ("network a string", server(sandbox={"network": "none"}), 78,
     "{servers}: s.sandbox.network: must be false or an object with "
     "allowedDomains, is a string: no server shares the host's network"),
    ("a host with a path", server(sandbox={"network": {
        "allowedDomains": ["x.com/y"]}}), 78,
     "{servers}: s.sandbox.network.allowedDomains: \"x.com/y\": must be a "
     "name, *.name, * or an address, with :PORT where it is not 443"),
    ("sandboxPolicy warn", server(sandboxPolicy="warn"), 78,
     "{servers}: s.sandboxPolicy: \"warn\" is refused: a server without a "
     "sandbox is named with \"sandbox\": false and --allow-unsandboxed s. "
     "Remove this key"),
    ("a pattern", server(sandbox={"filesystem": {"allowRead": ["/x/*"]}}),
     78,
     "{servers}: s.sandbox.filesystem.allowRead: \"/x/*\": patterns are not "
     "allowed; name a directory or a file"),
    ("a path that is not there",
     server(sandbox={"filesystem": {"allowRead": ["/no/such/dir"]}}), 78,
     "server s: allowRead /no/such/dir: No such file or directory"),
    ("a path that is our own",
     server(sandbox={"filesystem": {"allowRead": ["{home}"]}}), 78,
     "server s: allowRead {home}: refused, because it is IRONCURTAIN_HOME"),
    ("the whole home",
     server(sandbox={"filesystem": {"allowWrite": ["~"]}}), 78,
     "server s: allowWrite {work}/user: refused, because it is your home "
     "directory"),
    ("/", server(sandbox={"filesystem": {"allowRead": ["/"]}}), 78,
     "server s: allowRead /: refused, the sandbox has its own there"),
    ("a name with a space", {"mcp-servers.json": {"a b": {"command": "x"}}},
     78,
     "{servers}: a b: is not a valid name for a server: at most 64 letters, "
     "digits, - and single _, which do not begin or end it"),
    ("a name with __", {"mcp-servers.json": {"a__b": {"command": "x"}}}, 78,
     "{servers}: a__b: is not a valid name for a server: at most 64 letters, "
     "digits, - and single _, which do not begin or end it"),
    ("a name of 65 letters",
     {"mcp-servers.json": {"n" * 65: {"command": "x"}}}, 78,
     "{servers}: "
     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: is "
     "not a valid name for a server: at most 64 letters, digits, - and single "
     "_, which do not begin or end it"),
    ("a reserved name", {"mcp-servers.json": {"proxy": {"command": "x"}}},
     78, "{servers}: proxy: this name is reserved; choose another"),
    ("33 servers", {"mcp-servers.json": {
        f"s{i}": {"command": "/bin/cat"} for i in range(33)}}, 78,
     "{servers}: at most 32 servers are allowed"),
    ("32 servers and the built-in one", {"mcp-servers.json": {
        f"s{i}": {"command": "/bin/cat"} for i in range(32)}}, 78,
     "{servers}: with 32 servers there is no room for the built-in file "
     "server: add \"filesystem\": false"),
    ("writable by others", {"mcp-servers.json": ("{}", 0o622)}, 78,
     "{servers}: other users can write to it (mode 0622). Run: chmod go-w "
     "{servers}"),
]

# A shell's answer to the question about the revision.
NO_PROBE = ("read x; echo '{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"error\":"
            "{\"code\":-32601,\"message\":\"no such method\"}}'; ")

# Servers that end at once: the entry, and the text in icctl status.
GONE = [
    ("no such program", {"command": "no-such-server"}, "gone",
     "no-such-server: not found in PATH. Install it, or write its whole path"),
    ("a package that is not installed",
     {"command": "npx", "args": ["-y", "@acme/no-such-server"]}, "gone",
     "npx @acme/no-such-server: not installed, and a server has no network "
     "to fetch it. Run: npm install --prefix ~/.local/share/ironcurtain "
     "@acme/no-such-server"),
    ("a program that ends", {"command": "/bin/false"}, "gone",
     "closed its output; started again once; it exited with status 1"),
    ("a program that says nothing", {"command": "/bin/true"}, "gone",
     "closed its output; started again once; it exited with status 0"),
    ("a program that is killed", {"command": "/bin/sh",
                                  "args": ["-c", "kill -9 $$"]}, "gone",
     "closed its output; started again once; it exited with status 137"),
    ("no JSON", {"command": "/bin/echo", "args": ["hello"]}, "gone",
     "closed its output; it wrote what is no MCP message: hello; started "
     "again once; it exited with status 0"),
    ("no MCP", {"command": "/bin/echo", "args": ["{}"]}, "gone",
     "closed its output; it wrote what is no MCP message: {}; started again "
     "once; it exited with status 0"),
    ("an answer to nothing", {"command": "/bin/echo", "args": [
        '{"jsonrpc":"2.0","id":99,"result":{}}']}, "gone",
     "closed its output; started again once; it exited with status 0"),
    ("initialize refused", {"command": "/bin/sh", "args": [
        "-c", NO_PROBE +
        "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"error\":"
        "{\"code\":1,\"message\":\"no\\u001b[2J\"}}'; cat"]}, "gone",
     "refused initialize: no\\x1b[2J"),
    ("an unknown version", {"command": "/bin/sh", "args": [
        "-c", NO_PROBE +
        "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":"
        "{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{},"
        "\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}'; cat"]}, "gone",
     "speaks MCP version 1999-01-01, which IronCurtain does not support"),
]
