# SPDX-License-Identifier: ISC
# fish completion for icsupervisor(8).

function __icsupervisor_agents
    set -l home $HOME/.ironcurtain
    set -q IRONCURTAIN_HOME; and set home $IRONCURTAIN_HOME
    printf '%s\n' claude-code codex gemini-cli opencode command
    for f in $home/agents/*.json
        string replace -r '.*/(.*)\.json$' '$1' $f
    end
end

function __icsupervisor_policies
    set -l home $HOME/.ironcurtain
    set -q IRONCURTAIN_HOME; and set home $IRONCURTAIN_HOME
    printf '%s\n' default read-only coding
    for f in $home/policies/*/
        string replace -r '.*/([^/]*)/$' '$1' $f
    end
end

complete -c icsupervisor -f
complete -c icsupervisor -l session-dir -x -a '(__fish_complete_directories)' -d 'The session\'s directory'
complete -c icsupervisor -l config -r -F -d 'Instead of config.json'
complete -c icsupervisor -l workspace -x -a '(__fish_complete_directories)' -d 'What the agent works on'
complete -c icsupervisor -l agent -x -a '(__icsupervisor_agents)' -d 'Which agent'
complete -c icsupervisor -l task -x -d 'What the agent is asked to do'
complete -c icsupervisor -l profile -x -d 'Which profile chooses providers'
complete -c icsupervisor -l policy -x -a '(__icsupervisor_policies)' -d 'Which policy decides'
complete -c icsupervisor -l runtime -x -a 'bwrap none' -d 'none: only the sockets'
complete -c icsupervisor -l escalations -x -a 'ask deny' -d 'Is anybody there to ask'
complete -c icsupervisor -l require -x -a all -d 'Layers of confinement to insist on'
complete -c icsupervisor -l allow-sockets -d 'Work where a program of the host listens'
complete -c icsupervisor -l quiet -d 'No lines about the session'
complete -c icsupervisor -l allow-unsandboxed -x -d 'Run this server without a sandbox'
complete -c icsupervisor -l print-ready -d 'One JSON line when the session is up'
complete -c icsupervisor -l libexecdir -x -a '(__fish_complete_directories)' -d 'Take the workers from there'
complete -c icsupervisor -l help -d 'Say what there is'
complete -c icsupervisor -l version -d 'Which version this is'
