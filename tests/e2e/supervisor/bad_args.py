# SPDX-License-Identifier: ISC
"""Command lines: name, program and arguments, exit status, the first line of
stderr. {work} is a directory of the user's; {home} is IRONCURTAIN_HOME, in
which no session runs; {prefix} is where the programs are installed."""

SUP = "icsupervisor"
S = [SUP, "--session-dir", "{work}/s"]
NONE = [*S, "--runtime", "none"]

ARGS = [
    ("nothing", [SUP], 64,
     "icsupervisor: --session-dir DIR is missing (icsupervisor --help)"),
    ("an unknown option", [SUP, "--sessiondir", "x"], 64,
     "icsupervisor: unknown option --sessiondir (did you mean session-dir?) "
     "(icsupervisor --help)"),
    ("a short option", [SUP, "-s", "x"], 64,
     "icsupervisor: unknown option -s (icsupervisor --help)"),
    ("no value", [SUP, "--session-dir"], 64,
     "icsupervisor: --session-dir needs a value (icsupervisor --help)"),
    ("an empty value", [SUP, "--session-dir", ""], 64,
     "icsupervisor: --session-dir must not be empty (icsupervisor --help)"),
    ("an argument", [*S, "fix it"], 64,
     "icsupervisor: unexpected argument \"fix it\": a command stands after "
     "--, a task after --task (icsupervisor --help)"),
    ("an argument with an escape", [*S, "\x1b[2J"], 64,
     "icsupervisor: unexpected argument \"\\x1b[2J\": a command stands after "
     "--, a task after --task (icsupervisor --help)"),
    ("an unknown runtime", [*S, "--runtime", "vm"], 64,
     "icsupervisor: --runtime must be bwrap, docker, podman or none, not "
     "\"vm\" (icsupervisor --help)"),
    ("unknown escalations", [*S, "--escalations", "yes"], 64,
     "icsupervisor: --escalations must be ask or deny, not \"yes\" "
     "(icsupervisor --help)"),
    ("a task without an agent", [*NONE, "--task", "x"], 64,
     "icsupervisor: --runtime none starts no agent: no --task and no command "
     "(icsupervisor --help)"),
    ("a command without an agent", [*NONE, "--", "true"], 64,
     "icsupervisor: --runtime none starts no agent: no --task and no command "
     "(icsupervisor --help)"),
    ("a published port without an agent", [*NONE, "--publish", "3000"], 64,
     "icsupervisor: --runtime none starts no agent: no --publish "
     "(icsupervisor --help)"),
    ("a port that is none", [*S, "--publish", "99999"], 64,
     "icsupervisor: --publish 99999: this must be PORT, HOSTPORT:PORT or "
     "127.0.0.1:HOSTPORT:PORT, with numbers from 1 to 65535 (icsupervisor "
     "--help)"),
    ("another address", [*S, "--publish", "0.0.0.0:80:80"], 64,
     "icsupervisor: --publish 0.0.0.0:80:80: this must be PORT, HOSTPORT:PORT "
     "or 127.0.0.1:HOSTPORT:PORT, with numbers from 1 to 65535 (icsupervisor "
     "--help)"),
    ("the sandbox's own port", [*S, "--publish", "8080:18080"], 64,
     "icsupervisor: --publish 8080:18080: the sandbox itself uses this port, "
     "for the model (icsupervisor --help)"),
    ("a port twice", [*S, "--publish", "3000", "--publish", "81:3000"], 64,
     "icsupervisor: --publish 81:3000: it is published already (icsupervisor "
     "--help)"),
    ("a ninth port", [*S, *(w for n in range(9) for w in
                            ("--publish", str(4000 + n)))], 64,
     "icsupervisor: --publish: at most 8 times (icsupervisor --help)"),
    ("task and command", [*S, "--task", "x", "--", "true"], 64,
     "icsupervisor: --task and a command after -- cannot be used together "
     "(icsupervisor --help)"),
    ("a value where none is", [*S, "--print-ready=yes"], 64,
     "icsupervisor: --print-ready=yes: this option takes no value "
     "(icsupervisor --help)"),
    ("a parent that is not there", [SUP, "--session-dir", "{work}/no/s",
                                    "--runtime", "none"], 78,
     "icsupervisor: session directory {work}/no/s: create its parent directory first: No "
     "such file or directory"),
    ("a file for a directory", [SUP, "--session-dir", "{work}/file",
                                "--runtime", "none"], 78,
     "icsupervisor: session directory {work}/file: Not a directory"),
    ("a directory that others may enter", [SUP, "--session-dir",
                                           "{work}/open", "--runtime",
                                           "none"], 78,
     "icsupervisor: session directory {work}/open: other users can enter it (mode "
     "0755). Run: chmod 700 {work}/open"),
    ("a configuration that is not there", [*NONE, "--config", "{work}/c"],
     78, "icsupervisor: --config {work}/c: No such file or directory"),
    ("a workspace that is not there", [*NONE, "--workspace", "{work}/no"],
     78, "icsupervisor: workspace {work}/no: no such directory. To make it: mkdir "
     "-p {work}/no"),
    ("a workspace that is a file", [*NONE, "--workspace", "{work}/file"],
     78, "icsupervisor: workspace {work}/file: not a directory"),
    ("a workspace that is our own", [*NONE, "--workspace", "{home}"], 78,
     "icsupervisor: workspace {home}: refused, because it is IRONCURTAIN_HOME"),
    ("a workspace that is the home", [*NONE, "--workspace", "{work}/user"],
     78,
     "icsupervisor: workspace {work}/user: refused, because it is your home "
     "directory"),
    ("a workspace that is /", [*NONE, "--workspace", "/"], 78,
     "icsupervisor: workspace /: refused, because it is the root directory"),
    ("an unknown agent", [*S, "--agent", "acme"], 78,
     "icsupervisor: --agent acme: no agent has this name (known: builtin, claude, "
     "claude-code, codex, command, gemini, gemini-cli, goose, "
     "opencode, opencode-gateway). An agent is "
     "a file {home}/agents/NAME.json"),
    ("an agent's name with a slash", [*S, "--agent", "../x"], 78,
     "icsupervisor: --agent ../x: not a valid name for an agent (letters, "
     "digits, - and _)"),
    ("an agent that icctl starts itself", [*S, "--agent", "policy-compiler"],
     78,
     "icsupervisor: --agent policy-compiler: icctl starts this agent itself. "
     "Run: icctl policy compile"),
    ("that agent by its name alone", ["icctl", "start", "policy-compiler"], 78,
     "icsupervisor: --agent policy-compiler: icctl starts this agent itself. "
     "Run: icctl policy compile"),
    ("an agent that needs a command", [*S, "--agent", "command"], 78,
     "icsupervisor: --agent command needs a command after --"),
    ("a command that is not there", [*S, "--", "no-such-program"], 78,
     "icsupervisor: no-such-program: not found in PATH. Install it, or write "
     "its whole path"),
    ("no such server", [*NONE, "--allow-unsandboxed", "x"], 78,
     "icsupervisor: --allow-unsandboxed x: there is no server of this name"),
    ("workers that are not there", [*NONE, "--libexecdir", "{work}/no"], 71,
     "icsupervisor: ic-reader, which reads {config}: No such file or "
     "directory"),
    ("icctl alone", ["icctl"], 64,
     "usage: icctl [--json] [--session DIR|ID] COMMAND"),
    ("an unknown command", ["icctl", "aprove", "k3f9"], 64,
     "icctl: no such command: aprove (did you mean approve?) (icctl --help "
     "lists them)"),
    ("a founding command", ["icctl", "escalation-listener"], 64,
     "icctl: escalation-listener: this is no command here. Instead: icctl "
     "watch"),
    ("a founding option", ["icctl", "start", "--list-agents"], 64,
     "icctl: --list-agents: this is no option here. Instead: icctl agents"),
    ("another one", ["icctl", "start", "-w", "x"], 64,
     "icctl: -w: this is no option here. Instead: --workspace DIR"),
    ("a founding option of icsupervisor", [*NONE, "--list-agents"], 64,
     "icsupervisor: --list-agents: this is no option here. Instead: icctl "
     "agents (icsupervisor --help)"),
    ("a command with an escape", ["icctl", "\x1b[2J"], 64,
     "icctl: no such command: \\x1b[2J (icctl --help lists them)"),
    ("an option before the command", ["icctl", "--verbose", "status"], 64,
     "icctl: --verbose: this is no option here. Instead: icctl COMMAND --verbose, "
     "as in icctl start --verbose"),
    ("--session without one", ["icctl", "status", "--session"], 64,
     "icctl: --session needs a value: DIR|ID"),
    ("a session that is not there", ["icctl", "--session", "nope", "status"],
     3,
     "icctl: no session has \"nope\" in its id, and there is no directory of "
     "that name. Their ids: icctl ls"),
    ("a directory that is no session", ["icctl", "--session", "{work}",
                                        "status"], 3,
     "icctl: {work} is not a session directory: it has no session.log"),
    ("no session", ["icctl", "status"], 3,
     "icctl: no session is running (looked in {home}/run). Start one: icctl "
     "start"),
    ("no session to stop", ["icctl", "stop"], 3,
     "icctl: no session is running (looked in {home}/run). Start one: icctl "
     "start"),
    ("approve nothing", ["icctl", "approve"], 64,
     "icctl: usage: icctl approve [ID...] [--all-shown] [--digest HEX] "
     "[--for-session|--exact|--times N]"),
    ("approve two", ["icctl", "approve", "a", "b"], 3,
     "icctl: no session is running (looked in {home}/run). Start one: icctl "
     "start"),
    ("deny without a text", ["icctl", "deny", "k3f9", "--because"], 64,
     "icctl: --because needs a value: TEXT"),
    ("an option's value in the same word", ["icctl", "deny", "k3f9",
                                            "--because=x"], 3,
     "icctl: no session is running (looked in {home}/run). Start one: icctl "
     "start"),
    ("a value for an option without one", ["icctl", "gc", "--dry-run=yes"],
     64, "icctl: --dry-run takes no value: leave out =yes"),
    ("an option after the file", ["icctl", "audit", "verify", "{work}/no",
                                  "--anchor={work}/a"], 1,
     "icctl: anchor {work}/a: No such file or directory"),
    ("an option that is nearly right", ["icctl", "gc", "--dryrun"], 64,
     "icctl: no such option: --dryrun (did you mean --dry-run?) (icctl gc "
     "--help lists them)"),
    ("a name of another program", ["icctl", "ps", "x"], 64,
     "icctl: usage: icctl ls [--all]"),
    ("deny with a long text", ["icctl", "deny", "k3f9", "--because",
                               "x" * 501], 64,
     "icctl: --because takes at most 500 characters"),
    ("status of something", ["icctl", "status", "now"], 3,
     'icctl: no session has "now" in its id, and there is no directory of that '
     "name. Their ids: icctl ls"),
    ("stop two", ["icctl", "stop", "a", "b"], 64,
     "icctl: usage: icctl stop [SESSION]"),
    ("show everything", ["icctl", "show"], 64, "icctl: usage: icctl show ID [--full]"),
    ("watch with an argument", ["icctl", "watch", "x"], 64,
     "icctl: usage: icctl watch [--plain | --all]"),
    ("audit without verify", ["icctl", "audit"], 64,
     "icctl: usage: icctl audit verify [--anchor FILE] [FILE|DIR] | events"),
    ("audit of a file that is not there", ["icctl", "audit", "verify",
                                           "{work}/no"], 1,
     "icctl: {work}/no: No such file or directory"),
    ("audit of a directory", ["icctl", "audit", "verify", "{work}"], 1,
     "icctl: {work}/audit.jsonl: No such file or directory"),
    ("audit without a session", ["icctl", "audit", "verify"], 3,
     "icctl: no session in {home}/sessions; name the file: icctl audit "
     "verify FILE"),
    ("start with an unknown option", ["icctl", "start", "--wordy"], 64,
     "icctl: --wordy: no such option (icctl start --help); write a "
     "TASK that begins with - as --task TASK"),
    ("start with an option that is nearly right",
     ["icctl", "start", "--polcy", "coding"], 64,
     "icctl: --polcy: no such option (did you mean --policy?) (icctl start "
     "--help); write a TASK that begins with - as --task TASK"),
    ("start with an agent that is nearly right",
     ["icctl", "start", "cluade", "fix it"], 64,
     "icctl: cluade: no agent has this name (did you mean claude? Known: "
     "builtin, claude, claude-code, codex, command, gemini, gemini-cli, goose, "
     "opencode, opencode-gateway). A "
     "TASK of several words is put in quotes, and a program follows --"),
    ("start with that alone", ["icctl", "start", "codx"], 64,
     "icctl: codx: no agent has this name; did you mean codex? If it is a "
     "task: --task codx"),
    ("start with a policy that is nearly right",
     ["icctl", "start", "--workspace", "none", "--policy", "codng",
      "--task", "x"], 78,
     "icsupervisor: no policy is called \"codng\" (did you mean coding?). "
     "Known: default, coding, read-only, record. Name a directory with a slash in it "
     "(./mine); your own policies are directories in {home}/policies"),
    ("an unknown command of policy", ["icctl", "policy", "chek"], 64,
     "icctl: no such policy command: chek (did you mean check?) (icctl "
     "policy --help lists them)"),
    ("an unknown option of policy",
     ["icctl", "policy", "check", "--anotations", "x"], 64,
     "icctl: no such option: --anotations (did you mean --annotations?) "
     "(icctl policy check --help lists them)"),
    ("an unknown command of mcp", ["icctl", "mcp", "imprt"], 64,
     "icctl: mcp imprt: no such command (did you mean import?) (icctl mcp "
     "--help)"),
    ("start without a value", ["icctl", "start", "--agent"], 64,
     "icctl: --agent: needs a value (icctl start --help)"),
    ("start with two tasks", ["icctl", "start", "codex", "fix", "it"], 64,
     'icctl: one TASK only; put it in quotes: icctl start codex "fix ..."'),
    ("start with a wrong agent", ["icctl", "start", "--agent", "acme", "x"],
     78,
     "icsupervisor: --agent acme: no agent has this name (known: builtin, claude, "
     "claude-code, codex, command, gemini, gemini-cli, goose, "
     "opencode, opencode-gateway). An agent is "
     "a file {home}/agents/NAME.json"),
    ("ic-bridge alone", ["ic-bridge"], 2, "ic-bridge: no command is given"),
    ("ic-bridge with a word", ["ic-bridge", "walk"], 2,
     "ic-bridge: the commands are `run`, `egress`, `serve`, `forward`, `limit`, `exec` and `stdio PATH`"),
    ("ic-bridge without a command", ["ic-bridge", "run", "{work}"], 2,
     "ic-bridge: run needs a directory, --, and a command"),
    ("ic-bridge without a session", ["ic-bridge", "run", "{work}", "--",
                                     "true"], 1,
     "ic-bridge: {work}/proxy.sock: No such file or directory"),
    ("ic-bridge with a bad port", ["ic-bridge", "run", "--listen", "x",
                                   "{work}", "--", "true"], 2,
     "ic-bridge: --listen takes ADDRESS:PORT, as 127.0.0.1:18080"),
    ("ic-bridge to no socket", ["ic-bridge", "stdio", "{work}/no"], 1,
     "ic-bridge: {work}/no: No such file or directory"),
    ("ic-bridge to a long path", ["ic-bridge", "stdio", "/" + "x" * 200],
     1,
     "ic-bridge: "
     "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: File name "
     "too long"),
    ("icfs alone", ["icfs"], 2, "icfs: no directory given"),
    ("icfs with an unknown option", ["icfs", "--write", "{work}"], 2,
     "icfs: options are --read-only and --only FILE"),
    ("icfs on nothing", ["icfs", "{work}/no"], 2,
     "icfs: {work}/no: No such file or directory"),
    ("icfs on a file", ["icfs", "{work}/file"], 2,
     "icfs: {work}/file: Not a directory"),
    ("icfs on too many", ["icfs", *["{work}"] * 65], 2,
     "icfs: more than 16 directories"),
]
