# SPDX-License-Identifier: ISC
# fish completion for icctl(1).

function __ironcurtain_home
    if set -q IRONCURTAIN_HOME
        echo $IRONCURTAIN_HOME
    else
        echo $HOME/.ironcurtain
    end
end

function __ironcurtain_sessions
    for f in (__ironcurtain_home)/run/*
        test -L $f; and string replace -r '.*/' '' $f
    end
end

function __ironcurtain_agents
    printf '%s\n' claude codex gemini opencode command
    for f in (__ironcurtain_home)/agents/*.json
        string replace -r '.*/(.*)\.json$' '$1' $f
    end
end

function __ironcurtain_policies
    printf '%s\n' default read-only coding
    for f in (__ironcurtain_home)/policies/*/
        string replace -r '.*/([^/]*)/$' '$1' $f
    end
end

# Taken only if it looks like an id.
function __ironcurtain_ids
    set -l words (commandline -opc)
    set -l args
    if set -l i (contains -i -- --session $words)
        set args --session $words[(math $i + 1)]
    end
    command icctl --json $args pending 2>/dev/null </dev/null |
        string match -ar '"id":"[a-z0-9]{4}"' | string split -f 4 '"'
end

function __ironcurtain_command
    set -l skip 0
    for w in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if test "$w" = --session
            set skip 1
        else if not string match -q -- '-*' $w
            echo $w
            return 0
        end
    end
    return 1
end

function __ironcurtain_is
    contains -- (__ironcurtain_command; or echo none) $argv
end

complete -c icctl -f
complete -c icctl -l json -d 'Print JSON'
complete -c icctl -l session -x -a '(__ironcurtain_sessions)' -d 'The session that is meant'
complete -c icctl -n '__ironcurtain_is none' -l help -d 'Say what there is'
complete -c icctl -n '__ironcurtain_is none' -l version -d 'Which version this is'
complete -c icctl -n '__ironcurtain_is none' -a start -d 'Run an agent in a session'
complete -c icctl -n '__ironcurtain_is none' -a attach -d 'Show the terminal of the agent here'
complete -c icctl -n '__ironcurtain_is attach' -x -a '(__ironcurtain_sessions)' -d 'Which session'
complete -c icctl -n '__ironcurtain_is none' -a pending -d 'Calls that wait for your answer'
complete -c icctl -n '__ironcurtain_is none' -a show -d 'One waiting call, whole'
complete -c icctl -n '__ironcurtain_is none' -a approve -d 'Let that call happen, once'
complete -c icctl -n '__ironcurtain_is none' -a revoke -d 'End what an approval allowed beyond one call'
complete -c icctl -n '__ironcurtain_is none' -a deny -d 'Refuse it, saying why'
complete -c icctl -n '__ironcurtain_is none' -a watch -d 'Live: what happens; answer with single keys'
complete -c icctl -n '__ironcurtain_is none' -a status -d 'What runs, what is in force'
complete -c icctl -n '__ironcurtain_is none' -a trust -d 'Look at tools in quarantine'
complete -c icctl -n '__ironcurtain_is none' -a stop -d 'End the session'
complete -c icctl -n '__ironcurtain_is none' -a budget -d 'What the session may cost, and did'
complete -c icctl -n '__ironcurtain_is none' -a metrics -d 'Budget and counts as Prometheus text'
complete -c icctl -n '__ironcurtain_is budget' -a set -d 'Change a limit'
complete -c icctl -n '__ironcurtain_is none' -a unlock -d 'Use a provider again after an alarm'
complete -c icctl -n '__ironcurtain_is none' -a keys -d 'Credentials; take a new one'
complete -c icctl -n '__ironcurtain_is none' -a login -d 'How to give sessions a credential'
complete -c icctl -n '__ironcurtain_is none' -a audit -d 'Check the log'
complete -c icctl -n '__ironcurtain_is none' -a close -d 'End the log of a killed session'
complete -c icctl -n '__ironcurtain_is close' -F
complete -c icctl -n '__ironcurtain_is none' -a mcp -d 'Your own MCP servers'
complete -c icctl -n '__ironcurtain_is mcp' -a annotate -d 'Propose what the arguments of its tools mean'
complete -c icctl -n '__ironcurtain_is mcp' -a import -F -d 'Take servers over from another program'
complete -c icctl -n '__ironcurtain_is mcp' -l dry-run -d 'Write nothing'
complete -c icctl -n '__ironcurtain_is mcp' -l yes -d 'Do not ask'
complete -c icctl -n '__ironcurtain_is mcp' -l no-start -d 'List no tools'
complete -c icctl -n '__ironcurtain_is none' -a policy -d 'Ask, check, test and compare policies'
complete -c icctl -n '__ironcurtain_is none' -a doctor -d 'What this machine lacks, what is wrong in your files'
complete -c icctl -n '__ironcurtain_is show approve deny' -a '(__ironcurtain_ids)' -d 'Held call'
complete -c icctl -n '__ironcurtain_is show' -l full -d 'Leave nothing out'
complete -c icctl -n '__ironcurtain_is approve' -l digest -x -d 'Of the call that was looked at'
complete -c icctl -n '__ironcurtain_is approve' -l for-session -d 'Those like it, too'
complete -c icctl -n '__ironcurtain_is trust' -l yes -d 'Without being asked'
complete -c icctl -n '__ironcurtain_is approve' -l exact -d 'These arguments, too'
complete -c icctl -n '__ironcurtain_is approve' -l times -x -d 'So many calls of the tool'
complete -c icctl -n '__ironcurtain_is deny' -l because -x -d 'What the agent reads'
complete -c icctl -n '__ironcurtain_is keys' -a 'reload forget' -d 'Take a new one; remove a login'
complete -c icctl -n '__ironcurtain_is keys' -l file -r -F -d 'Where it is'
complete -c icctl -n '__ironcurtain_is audit' -a verify -F -d 'Check the chain'
complete -c icctl -n '__ironcurtain_is audit' -l anchor -rF -d 'Where its end was told'
complete -c icctl -n '__ironcurtain_is policy' -a 'eval explain check test replay diff learn reload' -F -d 'Policy tool'
complete -c icctl -n '__ironcurtain_is policy' -l policy -r -F -a '(__ironcurtain_policies)' -d 'Compiled rules, or a policy\'s name'
complete -c icctl -n '__ironcurtain_is policy' -l annotations -r -F -d 'Roles of arguments'
complete -c icctl -n '__ironcurtain_is policy' -l lists -r -F -d 'Dynamic lists'
complete -c icctl -n '__ironcurtain_is policy' -l sandbox -x -a '(__fish_complete_directories)' -d 'The workspace'
complete -c icctl -n '__ironcurtain_is policy' -l protect -r -F -d 'No call may touch it'
complete -c icctl -n '__ironcurtain_is policy' -l allow-domains -x -d 'SERVER=HOST,...'
complete -c icctl -n '__ironcurtain_is policy' -l trust -x -d 'Allowed unseen'
complete -c icctl -n '__ironcurtain_is policy' -l audit -r -F -d 'Recorded calls'
complete -c icctl -n '__ironcurtain_is policy' -l into -r -F -d 'What is learned, as a policy'
complete -c icctl -n '__ironcurtain_is start' -f -a '(__ironcurtain_agents)' -d Agent
complete -c icctl -n '__ironcurtain_is start' -l task -x -d 'What the agent is asked to do'
complete -c icctl -n '__ironcurtain_is start' -l agent -x -a '(__ironcurtain_agents)' -d 'Which agent'
complete -c icctl -n '__ironcurtain_is start' -l require -x -a all -d 'Layers of confinement to insist on'
complete -c icctl -n '__ironcurtain_is start' -l allow-sockets -d 'Work where a program of the host listens'
complete -c icctl -n '__ironcurtain_is start' -l quiet -d 'No lines about the session'
complete -c icctl -n '__ironcurtain_is start' -l allow-unsandboxed -x -d 'Run this server without a sandbox'
complete -c icctl -n '__ironcurtain_is start' -l config -r -F -d 'Instead of config.json'
complete -c icctl -n '__ironcurtain_is start' -l escalations -x -a 'ask deny' -d 'Is anybody there to ask'
complete -c icctl -n '__ironcurtain_is start' -l help -d 'Say what there is'
complete -c icctl -n '__ironcurtain_is start' -l libexecdir -x -a '(__fish_complete_directories)' -d 'Take the workers from there'
complete -c icctl -n '__ironcurtain_is start' -l profile -x -d 'Which profile chooses providers'
complete -c icctl -n '__ironcurtain_is start' -l policy -x -a '(__ironcurtain_policies)' -d 'Which policy decides'
complete -c icctl -n '__ironcurtain_is start' -l runtime -x -a 'bwrap none' -d 'none: only the sockets'
complete -c icctl -n '__ironcurtain_is start' -l workspace -x -a '(__fish_complete_directories)' -d 'What the agent works on'
