# SPDX-License-Identifier: ISC
"""Lines of somebody who has never used icctl: words and options of other
programs, forgotten words, values that do not exist. A line is a command line, its
exit status, and a part of what it prints."""

ROWS = r"""
start claude-cod "x" | 64 | claude-cod: no agent has this name (did you mean claude?
start --agent=chatgpt x | 78 | --agent chatgpt: no agent has this name (known: builtin,
start claude --model | 64 | --model: needs a value (icctl start --help)
start --policy strict "fix it" | 78 | no policy is called "strict". Known: default, coding,
start --policy yes "fix it" | 78 | no policy is called "yes". Known: default, coding,
start --policy read_only "fix it" | 78 | no policy is called "read_only" (did you mean read-only?).
start --runtime docker-compose "fix it" | 64 | --runtime must be bwrap, docker, podman or none, not
start --runtime vm "fix it" | 64 | --runtime must be bwrap, docker, podman or none, not "vm"
start --workspace=~ "fix it" | 78 | workspace ~: no such directory. To make it: mkdir -p
start --workspace / "fix it" | 78 | workspace /: refused, because it is the root directory.
start --workspace ../shop/README "fix it" | 78 | workspace ../shop/README: not a directory
start -w . "fix it" | 64 | Instead: --workspace DIR
start -d "fix it" | 64 | Instead: --detach
start -y claude | 64 | Instead: nobody answers for you: icctl start --policy
start -p "fix it" | 64 | Instead: --persona NAME
start --print "fix it" | 64 | Instead: icctl start AGENT TASK
start --prompt "fix it" | 64 | Instead: --task TEXT, or just "TEXT" at the end
start -m opus "fix it" | 64 | Instead: --model NAME
start --message "fix it" | 64 | Instead: --task TEXT, or just "TEXT" at the end
start --budget 5 "fix it" | 64 | Instead: limits belong to all sessions ("resourceBudget"
start --max-cost 5 "fix it" | 64 | Instead: limits belong to all sessions ("resourceBudget"
start --max-turns 3 "fix it" | 64 | Instead: limits belong to all sessions ("resourceBudget"
start --timeout 60 "fix it" | 64 | Instead: limits belong to all sessions ("resourceBudget"
start --allow-all "fix it" | 64 | Instead: nobody answers for you: icctl start --policy
start --auto-approve "fix it" | 64 | Instead: nobody answers for you: icctl start --policy
start --no-sandbox "fix it" | 64 | Instead: run the agent by itself, without icctl
start --network "fix it" | 64 | Instead: the sandbox has no network. Hosts that it may
start --net host "fix it" | 64 | Instead: the sandbox has no network. Hosts that it may
start --env FOO=1 "fix it" | 64 | Instead: "env" in config.json sets variables of the agent
start -e FOO=1 "fix it" | 64 | Instead: "env" in config.json sets variables of the agent
start --mount /data "fix it" | 64 | Instead: an agent sees its workspace. Further
start -v /data:/data "fix it" | 64 | Instead: an agent sees its workspace. Further
start --volume /data "fix it" | 64 | Instead: an agent sees its workspace. Further
start --port 3000 "fix it" | 64 | Instead: --publish PORT
start --publish web "fix it" | 64 | --publish web: this must be PORT, HOSTPORT:PORT or
start --publish 70000 "fix it" | 64 | --publish 70000: this must be PORT, HOSTPORT:PORT or
start --clone nowhere "fix it" | 78 | agent builtin: there is no key of a provider for it. Run
start --clone /tmp "fix it" | 78 | agent builtin: there is no key of a provider for it. Run
start --branch main "fix it" | 64 | Instead: --clone DIR#BRANCH
start --name shop "fix it" | 64 | Instead: --session-dir DIR; a session is found by the
start --session shop "fix it" | 64 | Instead: icctl resume SESSION
start --background "fix it" | 64 | Instead: --detach
start --interactive claude | 64 | Instead: icctl start AGENT, which has your terminal
start -it claude | 64 | Instead: icctl start AGENT, which has your terminal
start --rm claude | 64 | Instead: nothing: icctl gc removes old sessions
start --help claude | 0 | usage: icctl start [OPTION]... [AGENT] [TASK | --
start claude --help | 0 | usage: icctl start [OPTION]... [AGENT] [TASK | --
start "" | 64 | the task is empty. Say what the agent shall do, or leave it
start " " | 64 | the task is empty. Say what the agent shall do, or leave it
start --  | 78 | there is no key of a provider
start --task | 64 | --task: needs a value (icctl start --help)
start --task "" | 64 | --task must not be empty (icsupervisor --help)
start --escalations never "x y" | 64 | --escalations must be ask or deny, not "never"
start --escalations no "x y" | 64 | --escalations must be ask or deny, not "no" (icsupervisor
start --persona bob "x y" | 1 | there is no persona bob (there are none yet). Make it:
start --image ubuntu "x y" | 78 | --image ubuntu: the runtime is bwrap, which has no images.
start --home keep "x y" | 64 | --home must be project or session, not "keep" (icsupervisor
start --verbose --quiet --frob "x y" | 64 | --frob: no such option (icctl start --help); write a TASK
attach nothing | 3 | no session has "nothing" in its id, and there is no
attach 1 | 3 | no session has "1" in its id, and there is no directory of
logs -n 20 | 64 | Instead: icctl logs | tail -n N
logs --tail 20 | 64 | Instead: icctl logs | tail -n N
logs --follow | 64 | Instead: -f
logs -f -f | 3 | no session is running (looked in ~/.ironcurtain/run). Start
logs --since 1h | 64 | Instead: icctl audit show --since WHEN
logs nothing | 3 | no session has "nothing" in its id, and there is no
history --all | 64 | no such option: --all (icctl history --help lists them)
status --watch | 64 | Instead: icctl watch
status -v | 64 | no such option: -v (icctl status --help lists them)
status nothing | 3 | no session has "nothing" in its id
stop --all | 64 | Instead: icctl stop SESSION, for each of icctl
stop -9 | 64 | Instead: nothing: a session that does not end is killed
stop all | 64 | Instead: icctl stop SESSION, for each of icctl
kill all | 64 | Instead: icctl stop SESSION, for each of icctl
rm all | 64 | Instead: icctl gc removes sessions that ended long ago
rm -rf x | 64 | Instead: icctl gc removes sessions that ended long ago
ls -l | 64 | Instead: icctl ls --all, or icctl ls --json
ls -la | 64 | no such option: -la (icctl ls --help lists them)
ls --json | 0 | []
ls running | 64 | usage: icctl ls [--all]
ls /tmp | 64 | usage: icctl ls [--all]
ps -a | 64 | Instead: --all
ps aux | 64 | usage: icctl ls [--all]
show | 64 | usage: icctl show ID [--full]
show all | 3 | no session is running (looked in ~/.ironcurtain/run). Start
show --last | 64 | no such option: --last (icctl show --help lists them)
pending --all | 64 | no such option: --all (icctl pending --help lists them)
approve all | 64 | Instead: --all-shown, after icctl pending has shown them
approve --all | 64 | Instead: --all-shown, after icctl pending has shown them
approve yes | 3 | no session is running (looked in ~/.ironcurtain/run). Start
approve 1 | 3 | no session is running (looked in ~/.ironcurtain/run). Start
approve k3f9 yes | 3 | no session is running (looked in ~/.ironcurtain/run). Start
approve y | 3 | no session is running (looked in ~/.ironcurtain/run). Start
deny | 64 | usage: icctl deny ID... [--because TEXT]
deny all | 64 | Instead: icctl deny ID ID ...; icctl pending
deny --reason no k3f9 | 64 | Instead: --because TEXT
deny k3f9 --reason no | 64 | Instead: --because TEXT
deny -m no k3f9 | 64 | Instead: --because TEXT
always | 64 | usage: icctl always [--rule DIGEST] ID
always allow git | 64 | usage: icctl always [--rule DIGEST] ID
grants --all | 64 | no such option: --all (icctl grants --help lists them)
revoke all | 64 | Instead: icctl revoke ID, for each of icctl grants
send | 64 | send needs a MESSAGE, or --file FILE (icctl send --help)
send --file nothing | 1 | nothing: No such file or directory
send -- --help | 3 | no session is running (looked in ~/.ironcurtain/run). Start
send hello world | 64 | world: one MESSAGE only, in quotes (icctl send --help)
send --session nothing hello | 3 | no session has "nothing" in its id, and there is no
interrupt all | 3 | no session has "all" in its id
budget 10 | 64 | usage: icctl budget [set KEY VALUE|null]
budget set 10 | 64 | usage: icctl budget [set KEY VALUE|null]
budget set cost 10 | 3 | no session is running (looked in ~/.ironcurtain/run). Start
budget set maxCost 10 | 3 | no session is running (looked in ~/.ironcurtain/run). Start
budget set maxUsd | 64 | usage: icctl budget [set KEY VALUE|null]
budget set maxSteps ten | 3 | no session is running (looked in ~/.ironcurtain/run). Start
budget --set maxSteps 10 | 64 | no such option: --set (icctl budget --help lists them)
resume --last | 64 | Instead: icctl ls, and then icctl resume SESSION
resume last | 64 | Instead: icctl ls, and then icctl resume SESSION
resume latest | 64 | Instead: icctl ls, and then icctl resume SESSION
resume -1 | 3 | no session has "-1" in its id, and there is no directory of
resume 1 | 3 | no session has "1" in its id, and there is no directory of
close | 64 | usage: icctl close DIR
close all | 3 | no session has "all" in its id, and there is no directory
config | 0 | ~/.ironcurtain/config.json sets nothing: everything is as
config list | 0 | ~/.ironcurtain/config.json sets nothing: everything is as
config show | 0 | ~/.ironcurtain/config.json sets nothing: everything is as
config path | 64 | Instead: it is ~/.ironcurtain/config.json
config get | 64 | usage: icctl config [ls] | get KEY | set KEY VALUE | unset
config get limits | 1 | limits is not set; man ironcurtain-config has its default
config set limits.homeMb | 64 | usage: icctl config [ls] | get KEY | set KEY VALUE | unset
config set limits.homeMb lots | 1 | limits.homeMb: must be a whole number from 16 to 16777216,
config set limits.homemb 100 | 1 | limits.homemb: unknown key (did you mean homeMb?). Known
config set runtime vm | 1 | runtime: must be "bwrap", "docker" or "podman", is "vm"
config set notify off | 1 | notify: must be an array of strings, is a string
config set notify false | 1 | notify: must be an array of strings, is a boolean
config set undo off | 1 | undo: must be true, false, or an object of limits
config set model=opus | 64 | usage: icctl config [ls] | get KEY | set KEY VALUE | unset
config set editor vim | 1 | editor: unknown key. Known here: agent, agentView,
config add x y | 64 | Instead: icctl config set KEY VALUE
config rm x | 64 | Instead: icctl config unset KEY
config unset nothing | 1 | nothing is not set
config edit | 64 | config edit needs a terminal; icctl config set changes one
config reset | 64 | Instead: icctl config unset KEY, for each of icctl config
config import x | 64 | usage: icctl config [ls] | get KEY | set KEY VALUE | unset
login claude-max | 64 | Instead: icctl setup, which asks about subscriptions
login chatgpt | 0 | codex login
login max | 64 | Instead: icctl setup, which asks about subscriptions
login github | 1 | login: no provider or login is called github (known:
login --help | 0 | login [NAME]
login anthropic sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx | 64 | usage: icctl login [NAME]
login --key sk-ant-xxx | 64 | Instead: icctl setup, which asks for the key unseen
login api | 1 | login: no provider or login is called api (known:
logout claude | 64 | Instead: icctl keys forget PROVIDER
auth login | 64 | Instead: icctl login
auth | 64 | Instead: icctl login
keys | 3 | no session is running (looked in ~/.ironcurtain/run). Start
keys add | 64 | Instead: icctl setup, or icctl login for all ways
keys list | 64 | Instead: icctl keys, or icctl login
keys set anthropic | 64 | Instead: icctl setup, or icctl login for all ways
keys forget nothing | 1 | no login of nothing is kept in ~/.ironcurtain/logins
keys reload | 64 | usage: icctl keys [reload PROVIDER [--file PATH] | forget
doctor --fix | 64 | Instead: nothing is changed by doctor: each line says
doctor claude | 64 | usage: icctl doctor [--check-api | --attack [IMAGE]]
doctor -v | 64 | no such option: -v (icctl doctor --help lists them)
doctor --network | 64 | no such option: --network (icctl doctor --help lists them)
setup claude | 64 | setup takes no argument (icctl setup --help)
setup --yes | 64 | no such option: --yes (icctl setup --help lists them)
setup | 64 | setup asks questions and needs a terminal; icctl config set
mcp | 64 | usage: icctl mcp COMMAND
mcp add | 64 | usage: icctl mcp add [--env NAME=VALUE]... [--header HEADER]
mcp add github | 64 | mcp add: the command of github is missing, after --
mcp add https://mcp.example.com/mcp | 64 | mcp add: a name for the server is missing: icctl mcp add NAME https://mcp.example.com/mcp
mcp add --dry-run docs https://mcp.example.com/v1/sse | 0 | streamable HTTP, such as https://mcp.example.com/v1/mcp
mcp add --dry-run docs HTTPS://mcp.example.com/mcp | 0 | docs
mcp add docs mcp.example.com/mcp | 64 | is no URL, which begins with https://
mcp add fs npx -y x | 64 | Instead: icctl mcp add NAME -- npx -y PACKAGE
mcp install github | 64 | Instead: icctl mcp add NAME -- COMMAND
mcp remove x | 1 | there is no server x in ~/.ironcurtain/mcp-servers.json. To
mcp rm nothing | 1 | there is no server nothing in
mcp test nothing | 1 | there is no server nothing in
mcp rm filesystem | 1 | filesystem is IronCurtain's own server of the workspace's files
mcp ls | 0 | Sessions have filesystem, too
policy ls | 64 | Instead: default, coding, read-only and record are
policy show | 64 | Instead: default, coding, read-only and record are
policy edit | 64 | Instead: icctl policy customize, or
policy add "x" | 64 | Instead: icctl policy customize, or icctl always ID
policy set coding | 64 | Instead: default, coding, read-only and record are
policy use coding | 64 | Instead: default, coding, read-only and record are
policy check nothing | 64 | usage: icctl policy check [OPTIONS]
policy explain | 64 | no request on standard input
policy explain read_file | 64 | usage: icctl policy explain [OPTIONS] [SERVER TOOL
policy test | 64 | usage: icctl policy test [OPTIONS] FILE...
policy compile --fast | 64 | no such option: --fast (icctl policy compile --help lists
policy customize x | 64 | usage: icctl policy customize [--persona NAME] [--model
policy diff | 64 | usage: icctl policy diff [OPTIONS] OLD NEW
policy replay | 64 | usage: icctl policy replay [OPTIONS] AUDIT...
persona list | 0 | there are no personas. Make one: icctl persona new NAME
persona add bob | 64 | Instead: icctl persona new NAME
persona new | 64 | usage: icctl persona ls | show NAME | compile NAME | rm
persona new "bob smith" | 64 | the name of a persona has letters, digits, - and _, at most
persona rm nothing | 1 | there is no persona nothing: icctl persona ls
persona show bob | 1 | there is no persona bob (there are none yet). Make it:
persona use bob | 64 | Instead: icctl start --persona NAME
image pull ubuntu | 64 | Instead: icctl start --image NAME takes one that the
image build | 64 | usage: icctl image ls | build [--build-arg NAME=VALUE]
web --port abc | 64 | --port: no port: abc
web open | 64 | usage: icctl web [--port N|--socket PATH] [--host NAME]
web 8080 | 64 | usage: icctl web [--port N|--socket PATH] [--host NAME]
web --open --stop | 3 | no page runs
watch nothing | 64 | usage: icctl watch [--plain | --all]
watch -n 1 | 64 | no such option: -n (icctl watch --help lists them)
watch --session nothing | 3 | no session has "nothing" in its id, and there is no
audit | 64 | usage: icctl audit verify [--anchor FILE] [FILE|DIR]
audit verify nothing | 1 | nothing: No such file or directory
audit log | 64 | Instead: icctl audit show; icctl logs is for people
audit tail | 64 | Instead: icctl audit show; icctl logs is for people
undo | 3 | there is no session yet, and so nothing to undo. Start one:
undo all | 3 | there is no session yet, and so nothing to undo. Start one:
undo --turn one | 3 | there is no session yet, and so nothing to undo. Start one:
undo -1 | 3 | there is no session yet, and so nothing to undo. Start one:
checkpoint | 3 | no session is running (looked in ~/.ironcurtain/run). Start
checkpoint "a b" | 3 | no session is running (looked in ~/.ironcurtain/run). Start
diff nothing | 3 | no session has "nothing" in its id, and there is no
diff --staged | 64 | Instead: icctl diff for a clone; git diff
diff --name-only | 64 | Instead: --stat
pull nothing | 3 | no session has "nothing" in its id, and there is no
pull origin main | 64 | Instead: icctl pull SESSION, and then git merge the
pull --rebase | 64 | no such option: --rebase (icctl pull --help lists them)
gc --all | 64 | Instead: icctl gc --keep N; --dry-run
gc -f | 64 | no such option: -f (icctl gc --help lists them)
gc --keep | 64 | --keep needs a value: N
gc --keep -1 | 64 | --keep -1: must be a number from 0 on
gc --keep all | 64 | --keep all: must be a number from 0 on
diagnostics --out x | 64 | no such option: --out (icctl diagnostics --help lists them)
agents claude | 64 | agents takes no argument (icctl agents --help)
agents add x | 64 | Instead: a JSON file in ~/.ironcurtain/agents;
agents list | 64 | Instead: icctl agents
trust | 3 | no session is running (looked in ~/.ironcurtain/run). Start
trust nothing | 3 | no session is running (looked in ~/.ironcurtain/run). Start
trust project --digest 0123456789abcdef | 64 | Instead: icctl project trust --digest D
unlock | 3 | no session is running (looked in ~/.ironcurtain/run). Start
unlock anthropic | 64 | unlock takes no argument. To choose a session: icctl
run claude-code --bogus | 64 | --bogus: no such option (icctl start --help); write a TASK
info | 64 | Instead: icctl status
top | 64 | Instead: icctl watch
open | 64 | Instead: icctl web --open
new | 64 | Instead: icctl start
help config set | 0 | set KEY VALUE
help policy compile | 0 | usage: icctl policy compile [--constitution FILE|--task
help nothing | 64 | no such command: nothing (icctl --help lists them)
help -a | 64 | no such command: -a (icctl --help lists them)
--session | 64 | --session needs a value: DIR|ID
--session nothing ls | 0 | there are no sessions. Start one: icctl start
--bogus ls | 64 | no such option: --bogus (icctl --help lists them)
-x | 64 | no such option: -x (icctl --help lists them)
"start claude" | 64 | no such command: start claude (did you mean start?) (icctl
START | 64 | no such command: START (did you mean start?) (icctl --help
Start claude | 64 | no such command: Start (did you mean start?) (icctl --help
statsu | 64 | no such command: statsu (did you mean status?) (icctl
strat | 64 | no such command: strat (did you mean start?) (icctl --help
e | 64 | no such command: e (icctl --help lists them)
claude | 64 | Instead: icctl start claude [TASK]
codex fix the tests | 64 | Instead: icctl start codex [TASK]
start . | 64 | . is a directory. To run an agent there: icctl start
start ./ | 64 | ./ is a directory. To run an agent there: icctl start
start /bin/sh | 64 | to run it in the sandbox: icctl start -- /bin/sh
start ../shop/README | 64 | to run it in the sandbox: icctl start -- ../shop/README
start "my notes" | 64 | "$(cat 'my notes')"; to run it in the sandbox: icctl start -- './my notes'
start "our shop" | 64 | icctl start --workspace 'our shop'; without it
--session status | 64 | --session status: a command follows, such as
start -- "" | 64 | the name of the program after -- is empty
start -- . | 64 | . is a directory, and after -- comes a program
project nosuch | 64 | usage: icctl project
project show extra | 64 | usage: icctl project
start README | 64 | README is a file. If it has the task: icctl start --task
start claude fix the bug | 64 | one TASK only; put it in quotes: icctl start claude "fix
start claude -p "fix it" | 64 | Instead: --persona NAME, or --task TEXT
start claude -- -p "fix it" | 64 | -p: after -- comes a program that is run in the sandbox,
start claude --dangerously-skip-permissions | 64 | Instead: nothing: agents have it in the sandbox already,
start --dangerously-skip-permissions | 64 | Instead: nothing: agents have it in the sandbox already,
start -a claude | 64 | Instead: --agent NAME
start --provider openai "hi there" | 64 | Instead: the agent's name and --model; a provider is chosen
start --api-key sk-ant-123 "hi there" | 64 | Instead: icctl setup, which asks for the key unseen; a
start --key sk-ant-123 "hi there" | 64 | Instead: icctl setup, which asks for the key unseen; a
start --allow github.com "hi there" | 64 | Instead: the sandbox has no network. Hosts that it may read
start --host github.com "hi there" | 64 | Instead: the sandbox has no network. Hosts that it may read
start --domain github.com "hi there" | 64 | Instead: the sandbox has no network. Hosts that it may read
start --internet "hi there" | 64 | Instead: the sandbox has no network. Hosts that it may read
start --docker "hi there" | 64 | Instead: --runtime docker or podman, with an image of icctl
start --podman claude | 64 | Instead: --runtime docker or podman, with an image of icctl
start --root "hi there" | 64 | Instead: nothing: an agent is never root. What it installs
start --user root "hi there" | 64 | Instead: nothing: an agent is never root. What it installs
start --gpu "hi there" | 64 | Instead: there is none in a sandbox
start --memory 4g "hi there" | 64 | Instead: "limits" in config.json, and for containers
start --cpus 2 "hi there" | 64 | Instead: "limits" in config.json, and for containers
start --readonly "hi there" | 64 | Instead: --policy read-only
start --file task.md | 64 | Instead: --task "$(cat FILE)", or name the file in the task
start --task-file task.md | 64 | Instead: --task "$(cat FILE)", or name the file in the task
start - | 64 | Instead: --task "$(cat)"
start --stdin | 64 | Instead: --task "$(cat)"
start --output-format json "hi there" | 64 | Instead: --json
start --system-prompt "x" "hi there" | 64 | Instead: instructions and skills of yours are copied from
start --append-system-prompt "x" "hi there" | 64 | Instead: instructions and skills of yours are copied from
start --fork | 64 | Instead: icctl resume SESSION
start --new | 64 | Instead: nothing: every start is a new session
start --ephemeral | 64 | Instead: --home session, and --clone . for the files
start --log-level debug "hi there" | 64 | Instead: icctl logs and icctl audit show, afterwards
start --debug "hi there" | 64 | Instead: icctl logs and icctl audit show, afterwards
start --dry-run "hi there" | 64 | Instead: icctl doctor, which starts a session on trial
start --trace "hi there" | 64 | Instead: icctl logs and icctl audit show, afterwards
start -- "ls -la" | 64 | ls -la: this is one word, and so the name of one program.
ssh | 64 | Instead: icctl start -- bash
bash | 64 | Instead: icctl start -- bash
mcp add github --transport http https://x.example/mcp | 64 | Instead: icctl mcp add NAME URL, or NAME -- COMMAND for one
mcp add -s user fs npx | 64 | Instead: nothing: servers belong to all sessions of yours
mcp add-json x {} | 64 | Instead: icctl mcp import FILE
mcp serve | 64 | Instead: icctl start, which gives the agent your servers
mcp enable fs | 64 | Instead: icctl mcp add NAME
mcp disable fs | 64 | Instead: icctl mcp rm NAME
server ls | 64 | Instead: icctl mcp
plugin install x | 64 | Instead: skills, commands and instructions of your agent
skills | 64 | Instead: skills, commands and instructions of your agent
hooks | 64 | Instead: skills, commands and instructions of your agent
memory | 64 | Instead: skills, commands and instructions of your agent
uninstall | 64 | Instead: the package manager that installed icctl; your
man | 64 | Instead: man ironcurtain, icctl --help, and icctl COMMAND
docs | 64 | Instead: man ironcurtain, icctl --help, and icctl COMMAND
tutorial | 64 | Instead: man ironcurtain, icctl --help, and icctl COMMAND
account | 64 | Instead: icctl login, and icctl doctor
usage --today | 64 | Instead: --since 1d
usage --month | 64 | Instead: --since 30d
usage today | 64 | Instead: --since 1d
billing | 64 | Instead: icctl usage for what was spent, icctl budget for
limits | 64 | Instead: icctl usage for what was spent, icctl budget for
quota | 64 | Instead: icctl usage for what was spent, icctl budget for
tokens | 64 | Instead: icctl usage for what was spent, icctl budget for
budget show | 64 | Instead: icctl budget
budget raise | 64 | Instead: icctl budget set KEY VALUE
report last | 64 | Instead: icctl report, which takes the newest session
logs last | 64 | Instead: icctl logs, which takes the newest session
tail | 64 | Instead: icctl logs -f
events | 64 | Instead: icctl --json watch
trace | 64 | Instead: icctl audit show
config validate | 64 | Instead: icctl doctor
config check | 64 | Instead: icctl doctor
env | 64 | Instead: icctl config; "env" in config.json is for agents
export | 64 | Instead: icctl report, or icctl audit export
unit | 64 | Instead: icctl start --systemd
systemd | 64 | Instead: icctl start --systemd
find x y | 64 | Instead: icctl audit search WORD
search foo | 64 | Instead: icctl audit search WORD
grep foo | 64 | Instead: icctl audit search WORD
redo | 64 | Instead: icctl undo --list, and icctl undo --to CHECKPOINT
revert | 64 | Instead: icctl undo
diff HEAD | 64 | Instead: icctl diff for a clone; git diff for the files here
pull --force | 64 | Instead: git merge, or git reset, with the branch of icctl
push | 64 | Instead: icctl pull for the work of a clone, and git push
commit | 64 | Instead: git commit, here or by the agent
cleanup | 64 | Instead: icctl gc
gc --days 7 | 64 | Instead: --older-than 7d
ui | 64 | Instead: icctl watch on a terminal, or icctl web for the
gui | 64 | Instead: icctl watch on a terminal, or icctl web for the
question | 64 | Instead: icctl pending, and icctl answer ID
notify | 64 | Instead: icctl config set notify '["notify-send"]'
approve --yes k3f9 | 64 | Instead: icctl approve ID
yes | 64 | Instead: icctl approve ID; icctl pending lists the calls
y | 64 | Instead: icctl approve ID; icctl pending lists the calls
no | 64 | Instead: icctl deny ID; icctl pending lists the calls
build | 64 | Instead: icctl image build
up | 64 | Instead: icctl start
down -v | 64 | Instead: icctl stop
compose up -d | 64 | Instead: icctl services import FILE
pull-request | 64 | Instead: icctl pull, and then git push
pr create | 64 | Instead: icctl pull, and then git push
apply | 64 | Instead: icctl pull, and then git merge
clone . | 64 | Instead: icctl start --clone DIR
worktree add x | 64 | Instead: icctl start --clone .
checkout main | 64 | Instead: git itself, here or by the agent; the work of a clone
branch | 64 | Instead: git itself, here or by the agent
stash pop | 64 | Instead: git itself, here or by the agent
rebase main | 64 | Instead: git itself, here or by the agent
remote -v | 64 | Instead: git itself, here or by the agent
reset --hard | 64 | Instead: icctl undo
cp README session:/tmp | 64 | Instead: the files of a session are those of its
inspect 1 | 64 | Instead: icctl status
session ls | 64 | Instead: icctl ls
volume ls | 64 | Instead: an agent sees its workspace. Further
network ls | 64 | Instead: the sandbox has no network. Hosts that it may
hosts add github.com | 64 | Instead: "destinations" in config.json are the hosts
domains | 64 | Instead: "destinations" in config.json are the hosts
firewall | 64 | Instead: "destinations" in config.json are the hosts
unblock github.com | 64 | Instead: "destinations" in config.json are the hosts
proxy | 64 | Instead: "proxy" in config.json
port | 64 | Instead: icctl start --publish PORT
system prune | 64 | Instead: icctl doctor, and icctl gc
stats | 64 | Instead: icctl usage for what was spent
pause | 64 | Instead: icctl interrupt ends what the agent does now
unpause | 64 | Instead: icctl resume SESSION
pkill claude | 64 | Instead: icctl stop
quit | 64 | Instead: icctl stop ends a session; Ctrl-] d leaves
exit | 64 | Instead: icctl stop ends a session; Ctrl-] d leaves
sudo start | 64 | Instead: nothing: an agent is never root
? | 64 | Instead: man ironcurtain, icctl --help
secret set X | 64 | Instead: icctl login for an agent's key
credentials | 64 | Instead: icctl login for an agent's key
profiles | 64 | Instead: icctl start --profile NAME
workspace | 64 | Instead: icctl start --workspace DIR
schedule | 64 | Instead: icctl job add NAME
propose | 64 | Instead: icctl policy propose
settings | 64 | Instead: icctl config, or icctl setup
feedback | 64 | Instead: icctl diagnostics
theme | 64 | Instead: nothing: the colours are those of your
--model opus | 64 | Instead: icctl start --model NAME
--full-auto | 64 | Instead: nobody answers for you: icctl start --policy
--sandbox workspace-write | 64 | Instead: nothing: every agent has one
start --search "hi there" | 64 | Instead: "filter" of the provider in config.json
start --oss "hi there" | 64 | Instead: "providers" in config.json, for a model of
start --ask-for-approval never "hi there" | 64 | Instead: the policy decides what is
start --permission-mode plan "hi there" | 64 | Instead: the policy decides what is
start --allowedTools Bash "hi there" | 64 | Instead: the policy decides what is
start --mcp-config x.json claude | 64 | Instead: icctl mcp import FILE
start --settings x.json claude | 64 | Instead: skills, commands and instructions
start --ide claude | 64 | Instead: --acp, with which an editor starts a session
start --entrypoint bash claude | 64 | Instead: icctl start -- COMMAND
start --privileged claude | 64 | Instead: nothing: an agent is never root
start --device /dev/kvm claude | 64 | Instead: there is none in a sandbox
start --restart always claude | 64 | Instead: icctl start --systemd, or icctl job
start --env-file .env claude | 64 | Instead: "env" in config.json sets variables
start -n x claude | 64 | Instead: --session-dir DIR; a session is found by the
logs --level error | 64 | Instead: icctl logs | grep WORD
history -n 5 | 64 | Instead: icctl history | tail -n N
status --short | 64 | Instead: icctl ls
ls --running | 64 | Instead: nothing: each row of icctl ls has the state
ps -q | 64 | Instead: --json
gc --force | 64 | Instead: nothing: icctl gc asks nothing
usage --week | 64 | Instead: --since 7d
approve --reason ok k3f9 | 64 | Instead: nothing: a denial has one
audit grep x | 64 | Instead: icctl audit search WORD
audit export --csv | 64 | Instead: icctl audit export --format csv
report --html | 64 | Instead: nothing: a report is HTML; -o FILE
job list | 64 | Instead: icctl job ls
services ls | 64 | Instead: "services" in config.json; icctl status of a
undo --hard | 64 | Instead: icctl undo, which shows first what it would do
login --with-api-key | 64 | Instead: icctl setup, which asks for the key unseen
mcp start x | 64 | Instead: icctl mcp test NAME; a session starts its servers
mcp add-from-claude-desktop | 64 | Instead: icctl mcp import
config set -g theme dark | 64 | Instead: nothing: the file is yours alone
agents ls | 64 | Instead: icctl agents
version --json | 0 | "ok":true
help --json | 0 | "ok":true
version x | 64 | version takes no argument
detach | 64 | Ctrl-] d leaves the screen
new-session -s x | 64 | Instead: icctl start
kill-session -t x | 64 | icctl stop SESSION ends one
list-sessions | 64 | Instead: icctl ls
attach-session -t x | 64 | Instead: icctl attach SESSION
send-keys hello | 64 | Instead: icctl send "MESSAGE"
tmux attach | 64 | Instead: icctl attach shows a session again
rename x y | 64 | a session is found by its id
container ls | 64 | Instead: icctl ls, and icctl gc
images | 64 | Instead: icctl image ls
rmi x | 64 | Instead: icctl image rm NAME
delete x | 64 | icctl gc removes those that ended
destroy x | 64 | icctl gc removes those that ended
wait x | 64 | icctl logs -f ends with a session
backup | 64 | Instead: icctl checkpoint
import | 64 | Instead: icctl mcp import
log --oneline | 64 | Instead: icctl logs for a session
enable x | 64 | icctl start --systemd makes a unit
journalctl -u x | 64 | Instead: icctl logs -f
systemctl status | 64 | icctl start --systemd makes a unit
is-active x | 64 | whose exit status is 3
list-timers | 64 | Instead: icctl job ls
permissions | 64 | default, coding, read-only and record
whitelist github.com | 64 | "destinations" in config.json are the hosts
agent ls | 64 | Instead: icctl agents
cancel | 64 | icctl interrupt ends the turn
say hello | 64 | Instead: icctl send "MESSAGE"
serve | 64 | icctl web for the page
completion bash | 64 | they are installed with icctl
use coding | 64 | icctl config set policy.name NAME
set x y | 64 | Instead: icctl config set KEY VALUE
telemetry off | 64 | icctl sends nothing anywhere
--debug | 64 | Instead: icctl logs, and icctl audit show
--config x ls | 64 | IRONCURTAIN_HOME names another directory
/status | 64 | Here: icctl status
/compact | 64 | icctl attach shows one that runs
"fix the failing test" | 64 | As a task of an agent: icctl start "fix the failing test"
help help | 0 | usage: icctl
help --json start | 0 | "ok":true
start claude --effort high | 64 | Instead: the settings of the agent
start --cd /tmp "fix it" | 64 | Instead: --workspace DIR
start --skip-git-repo-check "fix it" | 64 | a workspace needs no repository
start --output-schema s.json "fix it" | 64 | icctl send --schema FILE
start -s workspace-write "fix it" | 64 | every agent has a sandbox
start --security-opt x=y "fix it" | 64 | what confines an agent cannot be lessened
start --shm-size 1g "fix it" | 64 | "limits" in config.json
start -P "fix it" | 64 | Instead: --publish PORT
start --label a=b "fix it" | 64 | a session is found by its id
attach --read-only | 64 | Instead: icctl watch
resume --fork x | 64 | Instead: icctl start --clone .
resume . | 1 | is not a session directory. The ids of sessions: icctl ls
resume "" | 3 | no session has "" in its id
logs -t | 64 | each line has its time
diff --cached | 64 | git diff for the files here
approve --once k3f9 | 64 | an approval is for one call
approve --forever k3f9 | 64 | Instead: icctl always ID
pending --watch | 64 | Instead: icctl watch
image prune | 64 | Instead: icctl image rm NAME
job delete x | 64 | Instead: icctl job rm NAME
keys test | 64 | Instead: icctl doctor --check-api
login status | 64 | Instead: icctl login, or icctl doctor
config --list | 64 | Instead: icctl config
config set policy.name nothing | 1 | no policy is called "nothing"
config set agent.claude.model opus | 1 | write its whole name: agent.claude-code
config set agent.cluade.model opus | 1 | no agent has this name (did you mean claude-code?)
config set agent.mine.model opus | 0 | No agent has this name yet
diagnostics --log | 64 | icctl diagnostics --log SESSION
mcp logs x | 64 | Instead: icctl logs
mcp tools | 64 | Instead: icctl mcp test NAME
audit show --event foo | 64 | the log has no such event
usage weekly | 64 | Instead: icctl usage --by week
checkpoint ls | 64 | Instead: icctl undo --list
send -m hello | 64 | Instead: icctl send "MESSAGE"
send --to x hello | 64 | Instead: --session SESSION
web --bind 0.0.0.0 | 64 | the page listens on this machine alone
web stop | 64 | Instead: icctl web --stop
policy check default | 64 | usage: icctl policy check [OPTIONS]
send "" | 64 | the message is empty
login aws | 64 | Instead: icctl login bedrock
login ollama | 64 | "providers" in config.json
web --host 0.0.0.0 --port 8080 | 64 | ssh -L PORT:127.0.0.1:PORT, with --port PORT
mcp import claude-desktop | 1 | takes the servers of Claude, Cursor and other programs
job add nightly | 64 | icctl job add nightly --schedule "0 3 * * *" --task TEXT
job add nightly --schedule daily | 64 | what shall it do?
start "fix it" --detach | 78 | there is no key of a provider
start claude "fix it" -d | 64 | Instead: --detach
start "fix it" --json "and more" | 64 | and more: one TASK only; put all of it in quotes
start --task "fix it" "and more" | 64 | and more: one TASK only; put all of it in quotes
start "fix it" -- ls | 64 | a program follows --
start cluade --detach | 64 | did you mean claude?
"""
