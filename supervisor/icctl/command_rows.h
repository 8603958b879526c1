/* SPDX-License-Identifier: ISC */
/*
 * The commands of icctl.  icctl includes these rows, each time with a macro for
 * those that it wants, and completions/generate.py makes the shells'
 * completions of them.  In a usage, a word in lower case is typed as it is; one
 * in upper case is a kind of thing, such as a FILE; "..." may be repeated.  A
 * text that begins with "KEY:" lists what may stand for KEY.
 */
/* clang-format off */
#ifndef COMMAND
#define COMMAND(name, args, help, more, page)
#endif
#ifndef MCP_COMMAND
#define MCP_COMMAND(name, args, usage, help)
#endif
#ifndef POLICY_TOOL
#define POLICY_TOOL(name, args, min, max, help)
#endif
#ifndef POLICY_COMMAND
#define POLICY_COMMAND(name, word, args, help, more)
#endif
#ifndef POLICY_OPTION
#define POLICY_OPTION(name, value, one, list, n)
#endif

/*
 * `more` is printed by the command's own --help; NULL if it has none. `page` is
 * the manual page in section 1 that describes the command.
 */
COMMAND(start, "[OPTIONS] [TASK | -- CMD...]",
    "run an agent in a session, in the foreground", NULL, "icctl-session")
COMMAND(driver,
    "[--workers N] [--messages ironcurtain|amelia] [--once] [OPTIONS] [-- CMD...]",
    "run requests of an orchestrator, each in a session of its own",
    "Reads requests from standard input, one JSON object a line, and prints\n"
    "events: see icctl-driver(1). OPTIONS are those of icctl start. At most\n"
    "N requests run at once (5); the others wait. --messages amelia prints\n"
    "AgenticMessages. The end of input cancels what runs; --once takes one\n"
    "request, ends with it, and exits with its status.", "icctl-driver")
COMMAND(job,
    "[ls] | show NAME | run NAME | enable NAME | disable NAME | logs NAME\n"
    "           | rm [--yes] NAME | recompile [--accept DIGEST] NAME | daemon\n"
    "           | add NAME [OPTIONS] | edit NAME [OPTIONS]\n"
    "           [--schedule CRON] [--task TEXT] [--constitution TEXT] [--agent NAME]\n"
    "           [--model NAME] [--persona NAME] [--policy P] [--profile NAME]\n"
    "           [--workspace DIR] [--git SOURCE] [--budget KEY=VALUE]...\n"
    "           [--escalations deny|wait] [--notify failure|always] [--keep N]\n"
    "           [--scheduled]",
    "run tasks at their times, each in a session of its own",
    "CRON has cron's five fields, such as \"0 3 * * 1-5\". Where a systemd\n"
    "manager runs for you, it starts the jobs; elsewhere icctl job daemon\n"
    "does. ls shows jobs that failed, were skipped or are overdue. A run\n"
    "never overlaps the one before. Calls that would wait are denied, unless\n"
    "--escalations wait; the notify program is told of failures, or of all\n"
    "runs. An empty value removes what edit names. recompile makes a policy\n"
    "of the constitution: what the agent may do, in English.", "icctl-job")
COMMAND(send, "[--file FILE|-] [--schema FILE] MESSAGE",
    "send a message and print the answer",
    "MESSAGE is one word of the command line, in quotes; FILE or - has a\n"
    "longer one. Ctrl-C interrupts the turn, and the conversation goes on.\n"
    "Exits with 0 after the turn, 1 if it failed, 75 if another turn runs.\n"
    "--json prints the turn's events, one a line. --schema wants an answer\n"
    "that fits the JSON Schema in FILE, and prints it if it does; the agent\n"
    "is asked once to repair one that does not.", "icctl-session")
COMMAND(interrupt, "[SESSION]",
    "interrupt the turn of a conversation",
    "The agent is told to stop, and ended after 5 s.", "icctl-session")
COMMAND(resume,
    "[--detach|--systemd] [--after-crash] [--keep-grants] SESSION [-- CMD...]",
    "go on with a session that has ended",
    "The same workspace, home, conversation and policy again, in a new\n"
    "run. What was spent stays spent; calls that waited have expired.\n"
    "--detach takes messages, as with icctl start; a conversation does so\n"
    "anyway; --systemd makes it a unit. After a death that may be an attack, the reason is shown, and\n"
    "--after-crash goes on. Approvals of more than one call are shown, and\n"
    "apply again only if you say so; --keep-grants keeps those of the last\n"
    "24 hours unasked. CMD is the command of a session that ran one.\n"
    "--allow-sockets and --allow-unsandboxed must be said again.",
    "icctl-session")
COMMAND(ls, "[--all]",
    "list sessions, running and past",
    "--all also lists those in which icctl compiled policies.", "icctl-session")
COMMAND(history, "[SESSION]",
    "list the turns of a conversation",
    "--json prints all its events, one a line.", "icctl-session")
COMMAND(logs, "[-f] [SESSION]",
    "print a session's log",
    "-f goes on printing what is added, until the session has ended.",
    "icctl-session")
COMMAND(diagnostics, "[--log] [SESSION]",
    "print what a report of a problem needs",
    "The machine, what `icctl doctor` finds and, of SESSION, its state and\n"
    "last records: names, paths and times, but no keys, messages, arguments\n"
    "or results. --log adds the end of session.log, which may have them.",
    "icctl")
COMMAND(diff, "[SESSION] [--stat] | --turn N [M]",
    "show what a session changed in its clone, or in a turn",
    "Files as they are now, compared with those that the agent found.\n"
    "--stat counts lines only. The session may run or have ended. --turn\n"
    "shows what turn N changed in the workspace, or turns N to M, by the\n"
    "checkpoints of `icctl undo`, whatever program did it.", "icctl-session")
COMMAND(undo, "[--turn N | --to CHECKPOINT] [--dry-run] [--all] [--yes | --plan DIGEST] [PATH...]\n"
    "           | --list [--all] | forget PATH...",
    "put files back to how they were before a turn",
    "Takes back everything that has changed since, whatever program did\n"
    "it; without --turn and --to since the last turn began. The plan is\n"
    "shown, and nothing is done without a yes, which --plan gives to the\n"
    "plan of that digest (--json --dry-run prints it) and to no other. What\n"
    "changed after the last turn stays, unless --all is given. An undo can\n"
    "be undone: it makes a checkpoint first. --list lists them, --list --all those of other\n"
    "sessions in the workspace, too. forget removes PATH from all of them.\n"
    "The session may run or have ended.", "icctl-session")
COMMAND(checkpoint, "[NAME]",
    "make a checkpoint of the workspace now, to undo to",
    "Sessions make one at the start, before and after each message of a\n"
    "conversation, and at the end.", "icctl-session")
COMMAND(paste, "[FILE | -]",
    "show an image to the agent",
    "Without FILE it is the one in the desktop's clipboard; - reads standard\n"
    "input. The agent sees the image as a file that it cannot change, and\n"
    "the path comes into the prompt of the terminal that shows the session.\n"
    "PNG, JPEG, GIF or WebP, at most 10 MiB.", "icctl-session")
COMMAND(pull, "[SESSION] [--workflow ID] [--branch B] [--into DIR] [--sign] [--yes]",
    "get the work of a session's clone, as branches",
    "Makes branches ironcurtain/SESSION/... in the repository that was\n"
    "cloned, or in DIR: one for each branch with new commits, or for B\n"
    "only, and one named unsaved for files that are in no commit. Every\n"
    "object is checked; nothing is checked out, merged or run. --sign shows\n"
    "the commits, asks (unless --yes), and signs them with your own key.",
    "icctl-session")
COMMAND(attach, "[SESSION]",
    "show the agent's terminal here, and type into it",
    "Ctrl-] d leaves again, and the session goes on; Ctrl-] s says something\n"
    "to the agent, and Ctrl-] shows what else there is (config.json's\n"
    "answerKey names another key). SESSION is its directory or id; without\n"
    "it, the only one that runs.", "icctl-session")
COMMAND(pending, "",
    "list pending calls and requests",
    "For each a short id, how long you have, what it would do, and every\n"
    "path, URL and name that it touches.", "icctl-policy")
COMMAND(show, "ID [--full]",
    "show one pending call in full",
    "ID is as `icctl pending` shows it, or any unique beginning of it.\nLong "
    "texts are shortened in the middle, unless --full is given.",
    "icctl-policy")
COMMAND(approve, "[ID...] [--all-shown] [--digest HEX] [--for-session|--exact|--times N]\n           [--signed FILE]",
    "approve that call, once, or calls like it",
    "ID is as `icctl pending` shows it, in full. The call is printed, and\n"
    "exactly that call is made, once; if what it refers to has changed\n"
    "since then, it is refused. In scripts, --digest names the call by\n"
    "the digest in `icctl pending --json`. --for-session also allows\n"
    "calls like it until the session ends, and first shows which those\n"
    "are. For calls without a path or URL, --exact allows the same\n"
    "arguments until the session ends, and --times N allows N calls of\n"
    "the tool within one hour, at most 20. With several ids, one call\n"
    "after the other is shown and approved. --all-shown prints every\n"
    "pending call, asks once, and approves those that it printed. --signed\n"
    "gives signatures of icctl sign, for a session that needs them.",
    "icctl-policy")
COMMAND(sign, "[ID] [--as NAME] [--key FILE] [--hold FILE] [--for MINUTES] [--full]\n           [--digest HEX]",
    "sign the approval of a call, where config.json names approvers",
    "Shows the call whole, asks, and prints a signature, made by ssh-keygen\n"
    "with the key in FILE, for icctl approve --signed; several of them are\n"
    "put into one file. Name and key are asked for on a terminal. In watch,\n"
    "S signs and approves. It approves that call alone, once, within MINUTES\n"
    "(10). --hold reads the call from a file, as icctl --json hub prints it,\n"
    "- from standard input; no relay on the way is trusted. In scripts,\n"
    "--digest names the call instead of a yes.",
    "icctl-policy")
COMMAND(answer, "ID [--set NAME=VALUE]... [--yes] [--open] [--opened] [--decline]\n           [--digest HEX]",
    "answer a question of an MCP server",
    "Shows the server, the call that it belongs to, and what it asks. On a\n"
    "terminal, each field is asked for; --set answers one, and fields that\n"
    "are not set have their defaults. --yes sends the defaults alone. --open\n"
    "opens an address in your browser, --opened says that you did, and\n"
    "--decline answers no. The server gets the answer, and the log has it.",
    "icctl-mcp")
COMMAND(grants, "",
    "list approvals of more than one call",
    "For each what it allows, the rule that asked, and how to revoke it.",
    "icctl-policy")
COMMAND(revoke, "ID",
    "withdraw an approval of more than one call",
    "ID is what `icctl grants` shows.", "icctl-policy")
COMMAND(always, "[--rule DIGEST] ID",
    "allow a call and those like it from now on",
    "Shows a rule for the call, in the narrowest form, and what it would\n"
    "allow. On a yes it is added to the session's policy and in force.",
    "icctl-policy")
COMMAND(deny, "ID... [--because TEXT]",
    "deny that call, and tell the agent why",
    "ID is as `icctl pending` shows it, in full. The agent is told TEXT,\nof "
    "at most 500 characters.", "icctl-policy")
COMMAND(watch, "[--plain | --all]",
    "watch all sessions on one screen, and answer",
    "On a terminal: every session, what waits in it and what happens;\n"
    "? lists the keys. --session shows one only. a and then the first\n"
    "letter of its id approve a call, d denies it with a reason.\n"
    "--plain prints lines instead, for one session, and asks about one\n"
    "call after the other; where there is no terminal, it only prints.\n"
    "icctl --json watch prints the events of all sessions. Each waits if no\n"
    "session runs, and stays when one ends, unless --session names one.",
    "icctl-session")
COMMAND(web, "[--port N|--socket PATH] [--host NAME] [--hub FILE] [--open] [--logout|--stop]",
    "show all sessions as a page for your browser",
    "Prints a link that logs one browser in, once, within a minute; while\n"
    "the page runs, icctl web prints another one. The page shows what\n"
    "icctl watch does, and calls are answered on it. It listens on\n"
    "127.0.0.1 (::1 where that is missing), at --port N or at a free one,\n"
    "or at a Unix socket to forward to, with --host for what the browser\n"
    "calls it then. --hub shows the sessions of other machines: see icctl\n"
    "hub. --open opens your browser, --logout ends all logins, --stop ends\n"
    "the page.", "icctl-session")
COMMAND(hub, "FILE",
    "watch and answer the sessions of many machines",
    "FILE names relays: programs such as ssh or kubectl that run `icctl\n"
    "relay` where sessions are. All their sessions are on one screen, as\n"
    "with icctl watch; icctl web --hub FILE is the page. An answer carries\n"
    "the digest of what was shown, and your name as a claim for the log.\n"
    "icctl --json hub FILE is for programs. See ironcurtain-fleet(7).",
    "icctl-session")
COMMAND(relay, "",
    "speak with icctl hub on standard input and output",
    "Listens nowhere: icctl hub starts it where sessions run, through ssh,\n"
    "kubectl exec or srun. It tells what your sessions do, and passes on\n"
    "answers, which each session checks as those of icctl approve.",
    "icctl-session")
COMMAND(trust, "[SERVER [TOOL]] [--yes]",
    "inspect tools in quarantine, and allow them",
    "Shows how each tool changed, and asks. --yes, which needs a SERVER,\ndoes "
    "not ask.", "icctl-policy")
COMMAND(status, "[SESSION]",
    "show what runs, what is in force, and counts", NULL, "icctl-session")
COMMAND(stop, "[SESSION]",
    "end the session",
    "The agent is stopped; workspace and log are kept.", "icctl-session")
COMMAND(budget, "[set KEY VALUE|null]",
    "show what the session costs; change its limits",
    "KEY: maxTotalTokens, maxSteps, maxSessionSeconds,\n"
    "maxEstimatedCostUsd, maxTurnTokens, maxTurnSteps, maxTurnSeconds or\n"
    "maxTurnEstimatedCostUsd; null removes its limit. A change applies to this\n"
    "session only; resourceBudget in config.json sets the limits of\n"
    "later ones.", "icctl-session")
COMMAND(metrics, "[--all [--textfile FILE]]",
    "budget and counts as Prometheus text",
    "--all adds up all sessions that are kept, by agent and model, from\n"
    "their logs. --textfile writes FILE all at once, readable for others,\n"
    "for the textfile directory of node_exporter.", "icctl-session")
COMMAND(usage, "[--by UNIT] [--since WHEN] [--until WHEN] [--csv] [--again]",
    "what all sessions cost, by day, model, project ...",
    "UNIT is day (the default), week, month, model, project, session or\n"
    "agent. WHEN is a day (2026-11-28), a time in UTC, or how long ago (12h,\n"
    "7d, 4w). Costs are those that were counted at the time, as in `icctl\n"
    "budget`. --json has the names of ccusage. The sums of each session are\n"
    "kept beside its log and hold only while that is unchanged; --again\n"
    "reads and checks every log.", "icctl-session")
COMMAND(report, "[-o FILE] [--with-arguments] [--with-messages] [SESSION]",
    "a session as one page to send to a colleague",
    "Writes one HTML file, without script, that needs no network: what was\n"
    "asked, done, allowed, denied, approved by whom, changed and spent, and\n"
    "whether the log is intact, with its last hash. Arguments are named\n"
    "only, with the last part of paths; --with-arguments shows them, reasons\n"
    "and hosts, --with-messages what was asked. FILE is SESSION.html\n"
    "here unless it is named; - is standard output.", "icctl-session")
COMMAND(unlock, "",
    "unlock a provider after an alarm",
    "It was locked because its credential came back in a response:\n`icctl "
    "status` says which. Look into that first.", "icctl-session")
COMMAND(keys, "[reload PROVIDER [--file PATH] | forget PROVIDER]",
    "show credentials and their use; load a new one",
    "reload reads the credential again from its source (your variable,\n"
    "the file or the command), or from PATH; forget removes logins that\n"
    "were made in a session and kept.\n"
    "Keys are never shown. If the new one does not work, the old one\n"
    "stays in use.", "icctl-session")
COMMAND(login, "[NAME]",
    "show which keys and logins were found, and how to add one",
    "NAME is a provider (anthropic, openai, chatgpt, google,\n"
    "openrouter, bedrock, vertex, or one of your own) or a login\n"
    "(claude-code, anthropic-cli, codex, gcloud). You are not\n"
    "asked for anything, and nothing is stored.", "icctl")
COMMAND(audit, "verify [--anchor FILE] [FILE|DIR] | events\n"
    "           | show [OPTIONS] [SESSION] | search [OPTIONS] [--all] [TEXT]\n"
    "           | export [--format jsonl|csv] [OPTIONS] [--all] [SESSION]\n"
    "           [--tool NAME] [--server NAME] [--host NAME] [--event NAME]\n"
    "           [--decision NAME] [--since WHEN] [--until WHEN]",
    "check the log's chain; show, search and export it",
    "show prints the records of a session, the newest one without SESSION;\n"
    "search those that have TEXT and fit the OPTIONS of the last two lines,\n"
    "with --all in all sessions; export writes them for other programs.\n"
    "WHEN is a day (2026-11-28), a time in UTC, or how long ago (12h, 7d).\n"
    "--json prints records as they are, one a line. events lists all events\n"
    "and their names in each format. Only verify checks the chain:\n"
    "DIR: all files of that session's log. Without FILE: the log of the\n"
    "newest session, or of the one that --session names. Its end is\n"
    "compared with the one that\n"
    "audit.anchor of config.json recorded, or with --anchor FILE;\n"
    "- reads the output of journalctl -t icsupervisor -o cat.", "icctl")
COMMAND(close, "DIR...",
    "end the logs of sessions that were killed",
    "Writes the missing closing record, frees the reserved disk space and\n"
    "prints the log's last hash. DIR is a session's directory or id. A\n"
    "running session is refused; a closed one is left as it is. All are\n"
    "tried, and the status is that of the first failure.", "icctl")
COMMAND(gc, "[--dry-run] [--older-than D] [--keep N]",
    "tidy up after ended sessions",
    "Removes the directories of sessions that ended more than D ago (45m,\n"
    "12h, 30d, 4w), except for the newest N; without both, of those that\n"
    "ended 30 days ago, except for the newest 10. Of all ended sessions\n"
    "it removes sockets, links, reserved disk space and agents' caches,\n"
    "closes the logs of killed ones, and removes containers that were\n"
    "left behind. Checkpoints of workspaces that are gone, or old ones, go\n"
    "as well. A session that runs, one of another machine, and one\n"
    "with files in its own workspace are left alone. --dry-run only says\n"
    "what would be done.", "icctl")
COMMAND(home, "[rm ID...]",
    "list or remove homes of agents that stay",
    "Those of `icctl start --home project`, by workspace and agent. rm\n"
    "removes them with all that agents left there; one that a session\n"
    "uses is refused.", "icctl")
COMMAND(image, "ls | build [--build-arg NAME=VALUE] [--network none|host]\n"
    "           [--devcontainer] [--workspace DIR] [--yes] AGENT | rm NAME...\n"
    "           [--runtime docker|podman]",
    "build, list and remove agents' images for containers",
    "build makes the image of AGENT: its Dockerfile, which pins its version,\n"
    "on a base with Node.js and npm; another base is --build-arg\n"
    "BASE_IMAGE=NAME, a registry npm_config_registry=URL. Nothing is built\n"
    "again unless something changed, and arguments of the last build apply\n"
    "again unless some are given; NAME= without a value removes one.\n"
    "~/.ironcurtain/images/Dockerfile.NAME replaces the shipped one.\n"
    "--devcontainer builds what the devcontainer.json of this workspace\n"
    "describes, with AGENT in it if one is named: it shows what changed\n"
    "since the last build, and asks unless --yes is given. icctl start\n"
    "--image devcontainer uses it. rm removes what ls lists under that\n"
    "name. Without --runtime: the one of config.json, or else Docker if\n"
    "it is here.", "icctl")
COMMAND(setup, "[--forge]",
    "ask what a first session needs, and set it up",
    "Provider, key, policy, runtime and notification. Each question has a\n"
    "default, nothing is saved before a yes, and it can be run again.\n"
    "--forge says which token to make for GitHub's API, and asks nothing.",
    "icctl")
COMMAND(config,
    "[ls] | get KEY | set KEY VALUE | unset KEY | edit\n"
    "           | import-amelia [--yes] FILE [PROFILE]",
    "show and change your settings",
    "KEY is a name in config.json, with dots: limits.homeMb, agent.claude-\n"
    "code.path; or with slashes, /agent/my.agent/path. VALUE is JSON, or\n"
    "else a text. Nothing is saved that a session would refuse. edit opens\n"
    "your editor, and asks again about mistakes. import-amelia takes a profile\n"
    "of that orchestrator, YAML or JSON, and says what each key became.\n"
    "ironcurtain-config(5) describes every key.", "icctl")
COMMAND(persona, "ls | show NAME | compile NAME | rm NAME\n"
    "           | new NAME [--policy P] [--profile NAME] [--agent NAME]\n"
    "           [--model NAME] [--workspace DIR] [--budget KEY=VALUE]...",
    "name a policy, agent, budget ... for icctl start",
    "icctl start --persona NAME takes what its own options do not say. ~/.ironcurtain/personas/NAME/ has\n"
    "persona.json and, if you like, constitution.md: what the agent may do, in\n"
    "English. icctl policy customize --persona NAME edits it, and compile (or\n"
    "icctl policy compile --persona NAME) makes the persona's policy of it,\n"
    "unless persona.json names another. show says whether that is up to date.",
    "icctl-policy")
COMMAND(mcp, "COMMAND ...",
    "add, test, list and annotate your own MCP servers", NULL, "icctl-mcp")
COMMAND(project, "[show | check | diff | init | trust [--digest DIGEST]]",
    "show and accept what a project's file asks for",
    "The file is .ironcurtain.json of the current directory. It says what\n"
    "sessions there need, and grants nothing by itself: `icctl start` asks\n"
    "once. trust accepts it here; --digest, of `icctl project show`, without\n"
    "a question. diff shows what has changed since. init writes a first one.",
    "icctl")
COMMAND(services, "import [--runtime docker|podman] [--yes] FILE [SERVICE]",
    "take services of a compose file into config.json",
    "Of each service its image, by digest, its port, constant variables and\n"
    "its health check are taken; everything else is named and ignored. It\n"
    "shows the entries and asks before it writes them. Nothing is fetched.",
    "icctl")
COMMAND(policy, "TOOL ...",
    "ask, check, test and compare policies", NULL, "icctl-policy")
COMMAND(agents, "",
    "list the agents, and what each still needs", NULL, "icctl")
COMMAND(doctor, "[--check-api | --attack [IMAGE]]",
    "check this machine and your configuration",
    "Tests what sessions need, then reads config.json, mcp-\n"
    "servers.json, providers/, agents/ and prices.json as a session\n"
    "would, finds the programs of servers, checks policies, and says\n"
    "what to do. --check-api also sends each provider that has a key or\n"
    "a login one request that costs nothing, through a session, and\n"
    "says whether it is accepted, and of a forge's token what it can\n"
    "write beyond the list. Exits with status 1 if something is missing,\n"
    "wrong or refused. --attack instead tries to break out of a\n"
    "sandbox of each kind that this machine has, containers of IMAGE\n"
    "included, and prints each attempt; 1 if one succeeds.", "icctl")

/* `icctl mcp`; `args` is for the list of commands, `usage` for their own. */
MCP_COMMAND(add, "[OPTIONS] NAME -- CMD...",
    "[--env NAME=VALUE]... [--header HEADER]... [--client-id ID] [--scope SCOPE]... [--callback-port N] [--dry-run] [--yes] [--no-start] NAME -- COMMAND...|NAME URL|NAME PACKAGE",
    "add a server: a command, an npm package, or a URL")
MCP_COMMAND(annotate, "SERVER [OPTIONS]", "SERVER [--into DIR] [--yes]",
    "propose what the arguments of its tools mean")
MCP_COMMAND(import, "[OPTIONS] [FILE...]",
    "[--dry-run] [--yes] [--no-start] [--copy NAME] [--workspace DIR] [FILE...]",
    "import servers from another program")
MCP_COMMAND(login, "[OPTIONS] NAME",
    "[--no-browser] [--callback-port N] [--scope SCOPE]... [--yes] NAME",
    "log in at a remote server, in your browser")
MCP_COMMAND(logout, "NAME", "NAME", "end that login, and revoke it")
MCP_COMMAND(ls, "", "",
    "list your servers, and what a session would say of each")
MCP_COMMAND(rm, "[--yes] NAME", "[--yes] NAME",
    "remove a server, and say what else refers to it")
MCP_COMMAND(status, "[NAME]", "[NAME]",
    "show logins at remote servers, and how long they last")
MCP_COMMAND(test, "NAME [OPTIONS]", "[--show TOOL] [--call TOOL] NAME [ARGUMENTS]",
    "start one server, and show its tools and an answer")

/* `icctl policy`, with the least and the most arguments of each. */
POLICY_TOOL(eval, "< REQUESTS", 0, 0,
    "decide requests: one a line in, one decision a line out")
POLICY_TOOL(explain, "[SERVER TOOL ARGUMENTS]", 0, 3,
    "explain how one call is decided")
POLICY_TOOL(check, "", 0, 0,
    "find mistakes in the policy files")
POLICY_TOOL(test, "FILE...", 1, POLICY_MAX_LIST,
    "run scenarios and compare with what they expect")
POLICY_TOOL(replay, "AUDIT...", 1, POLICY_MAX_LIST,
    "list recorded calls that would be decided differently")
POLICY_TOOL(diff, "OLD NEW", 2, 2,
    "show what another policy changes")
POLICY_TOOL(reload, "", 0, 0,
    "load other files into the running session")
POLICY_TOOL(learn, "AUDIT...", 1, POLICY_MAX_LIST,
    "propose rules that would have allowed what you approved")
POLICY_TOOL(propose, "[SESSION|DIR]", 0, 1,
    "turn a recorded session into a policy")

/* Its commands that ask a model; each has options of its own. */
POLICY_COMMAND("compile", compile,
    "[--constitution FILE|--task TEXT|--persona NAME] [--into NAME|--output-dir DIR] [--server SERVER] [--no-mcp] [--repairs N] [--audit FILE] [--model MODEL] [--no-cache] [--yes] [--accept DIGEST]",
    "make a policy of a constitution in English",
    "The constitution is FILE, or the shipped principles and your\n"
    "~/.ironcurtain/constitution-user.md. A model proposes rules for each\n"
    "server, in a sandbox; policyd decides every test case, and a second\n"
    "question to the model judges them. What is newly allowed is shown, and\n"
    "comes into force if you say so, on the terminal or with --accept and\n"
    "the digest that is printed; --yes is enough if nothing is. What fails\n"
    "stays in DIR/pending. DIR is ~/.ironcurtain/policy unless you name one.\n"
    "--task TEXT makes a strict policy for one task instead, as icctl start\n"
    "--policy-for-task does. --persona NAME compiles the persona's constitution,\n"
    "and --into NAME makes a policy for icctl start --policy NAME.\n"
    "--repairs N: at most N repairs of rules (0 to 2; 2).\n"
    "--audit FILE: decide the calls of this log again, instead of those of\n"
    "your three newest sessions, and show which the new policy decides\n"
    "differently.")
POLICY_COMMAND("annotate", annotate,
    "[--server SERVER] [--all] [--output-dir DIR] [--model MODEL] [--no-cache] [--accept DIGEST]",
    "say what the arguments of tools mean, by a model",
    "Starts SERVER, or --all, takes its tools, and asks a model for the\n"
    "meaning of each argument. Annotations that demand less than the names\n"
    "of the arguments suggest, or than before, are shown, and need a yes or\n"
    "--accept DIGEST. Entries with \"manual\": true stay.")
POLICY_COMMAND("customize", customize,
    "[--persona NAME] [--model MODEL]",
    "edit your constitution in a short conversation",
    "Edits ~/.ironcurtain/constitution-user.md, or that of a persona. Every\n"
    "change is shown, and saved if you say so. Nothing is compiled.")
POLICY_COMMAND("refresh-lists", refresh,
    "[--list NAME] [--with-mcp] [--no-mcp] [--persona NAME|--output-dir DIR] [--audit FILE] [--model MODEL] [--no-cache] [--yes] [--accept DIGEST]",
    "ask again for the members of lists",
    "Shows what enters and what leaves each list of the policy, and which\n"
    "rules it feeds, and which calls of your newest sessions, or of --audit\n"
    "FILE, would be decided differently. What is newly allowed needs a yes or\n"
    "--accept DIGEST.")
POLICY_COMMAND("cache", cache, "[clear]",
    "count the kept replies of the model, or remove them",
    "A reply is kept by the hash of everything that the model was told.")

/*
 * The options of all its tools: the value replaces `one`, or is added to
 * `list`.
 */
POLICY_OPTION("policy", "POLICY", &p->files[PROTO_RULES_POLICY], NULL, NULL)
POLICY_OPTION("annotations", "FILE", &p->files[PROTO_RULES_ANNOTATIONS],
    NULL, NULL)
POLICY_OPTION("lists", "FILE", &p->files[PROTO_RULES_LISTS], NULL, NULL)
POLICY_OPTION("sandbox", "DIR", &p->sandbox, NULL, NULL)
POLICY_OPTION("protect", "PATH...", NULL, p->protect, &p->nprotect)
POLICY_OPTION("trust", "SERVER...", NULL, p->trust, &p->ntrust)
POLICY_OPTION("allow-domains", "SERVER...", NULL, p->domains, &p->ndomains)
POLICY_OPTION("audit", "FILE...", NULL, p->audit, &p->naudit)
POLICY_OPTION("into", "FILE", &p->into, NULL, NULL)
/* clang-format on */

#undef COMMAND
#undef MCP_COMMAND
#undef POLICY_TOOL
#undef POLICY_COMMAND
#undef POLICY_OPTION
