# SPDX-License-Identifier: ISC
# bash completion for icctl(1) and icsupervisor(8).  Needs nothing but bash;
# installed under both names.  What it offers as an id comes from the session
# and is taken only if it looks like one.

_ironcurtain_home() {
	printf '%s' "${IRONCURTAIN_HOME:-$HOME/.ironcurtain}"
}

# Names of the sessions that run.
_ironcurtain_sessions() {
	local f
	for f in "$(_ironcurtain_home)"/run/*; do
		[ -L "$f" ] && printf '%s\n' "${f##*/}"
	done
}

# Agents: the shipped ones, and files of the user's.
_ironcurtain_agents() {
	local f
	printf '%s\n' claude codex gemini opencode command
	for f in "$(_ironcurtain_home)"/agents/*.json; do
		[ -e "$f" ] || continue
		f=${f##*/}
		printf '%s\n' "${f%.json}"
	done
}

# Policies: the shipped ones, and directories of the user's.
_ironcurtain_policies() {
	local f
	printf '%s\n' default read-only coding
	for f in "$(_ironcurtain_home)"/policies/*/; do
		[ -e "$f" ] || continue
		f=${f%/}
		printf '%s\n' "${f##*/}"
	done
}

# Ids of held calls, of the session that the line names.
_ironcurtain_ids() {
	local i args=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = --session ] &&
			args=(--session "${COMP_WORDS[i + 1]}")
	done
	command icctl --json "${args[@]}" pending 2>/dev/null </dev/null |
		grep -oE '"id":"[a-z0-9]{4}"' | cut -d '"' -f 4
}

_ironcurtain_words() {
	local IFS=$'\n' w
	COMPREPLY=()
	while read -r w; do
		[[ $w == "$2"* ]] && COMPREPLY+=("$w")
	done <<<"$1"
}

_ironcurtain_paths() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

# The value of an option that both programs take. 1: it takes none.
_ironcurtain_value() {
	case $1 in
	--agent) _ironcurtain_words "$(_ironcurtain_agents)" "$2" ;;
	--policy)
		if [[ $2 == */* ]]; then _ironcurtain_paths -d "$2"
		else _ironcurtain_words "$(_ironcurtain_policies)" "$2"; fi ;;
	--runtime) _ironcurtain_words $'bwrap\nnone' "$2" ;;
	--escalations) _ironcurtain_words $'ask\ndeny' "$2" ;;
	--config) _ironcurtain_paths -f "$2" ;;
	--workspace | --libexecdir | --session-dir) _ironcurtain_paths -d "$2" ;;
	--require) _ironcurtain_words all "$2" ;;
	--allow-unsandboxed | --task | --because | --profile) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

# Behind "--" stands a command: it is completed as one.
_ironcurtain_command() {
	if [ $((COMP_CWORD - $1)) = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$2" | sort -u)
	else
		_ironcurtain_paths -f "$2"
	fi
}

_ironcurtain_start_options="--agent
--allow-sockets
--allow-unsandboxed
--config
--escalations
--help
--libexecdir
--policy
--profile
--quiet
--require
--runtime
--task
--workspace
--"

_icctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local i word cmd='' sub='' nargs=0

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = -- ] && [ "$cmd" = start ]; then
			_ironcurtain_command "$i" "$cur"
			return
		fi
		case $word in
		--session | --because) ((i++)) ;;
		-*) ;;
		*)
			if [ -z "$cmd" ]; then
				cmd=$word
			else
				sub=${sub:-$word}
				((nargs++))
			fi
			;;
		esac
	done
	if [ "$prev" = --session ]; then
		_ironcurtain_words "$(_ironcurtain_sessions)" "$cur"
		[ ${#COMPREPLY[@]} = 0 ] && _ironcurtain_paths -d "$cur"
		return
	fi
	_ironcurtain_value "$prev" "$cur" && return
	case $cmd in
	'')
		_ironcurtain_words $'start\nattach\npending\nshow\napprove\nrevoke\ndeny\nwatch\nstatus\ntrust\nbudget\nmetrics\nstop\nclose\nunlock\nkeys\nlogin\naudit\nmcp\npolicy\ndoctor\n--json\n--session\n--help\n--version' "$cur"
		;;
	start)
		if [ "$nargs" = 0 ] && [[ $cur != -* ]]; then
			_ironcurtain_words "$(_ironcurtain_agents)" "$cur"
		else
			_ironcurtain_words "$_ironcurtain_start_options" "$cur"
		fi
		;;
	attach)
		_ironcurtain_words "$(_ironcurtain_sessions)" "$cur"
		;;
	show | approve | deny)
		if [ "$nargs" = 0 ] && [[ $cur != -* ]]; then
			_ironcurtain_words "$(_ironcurtain_ids)" "$cur"
		elif [ "$cmd" = deny ]; then
			_ironcurtain_words $'--because\n--json\n--session' "$cur"
		elif [ "$cmd" = approve ]; then
			_ironcurtain_words $'--digest\n--for-session\n--exact\n--times\n--json\n--session' "$cur"
		else
			_ironcurtain_words $'--full\n--json\n--session' "$cur"
		fi
		;;
	mcp)
		case $nargs in
		0) _ironcurtain_words $'annotate\nimport' "$cur" ;;
		*)
			if [[ $cur = -* ]]; then
				_ironcurtain_words $'--dry-run\n--yes\n--no-start\n--into' "$cur"
			else
				_ironcurtain_paths -f "$cur"
			fi
			;;
		esac
		;;
	budget)
		case $nargs in
		0) _ironcurtain_words set "$cur" ;;
		1) _ironcurtain_words $'maxTotalTokens\nmaxSteps\nmaxSessionSeconds\nmaxEstimatedCostUsd' "$cur" ;;
		*) COMPREPLY=() ;;
		esac
		;;
	keys)
		case $nargs in
		0) _ironcurtain_words $'reload\nforget' "$cur" ;;
		*) _ironcurtain_words --file "$cur" ;;
		esac
		;;
	close)
		_ironcurtain_paths -d "$cur"
		;;
	audit)
		if [ -z "$sub" ]; then
			_ironcurtain_words verify "$cur"
		elif [[ $cur == -* ]]; then
			_ironcurtain_words --anchor "$cur"
		else
			_ironcurtain_paths -f "$cur"
		fi
		;;
	policy)
		case $prev in
		--policy)
			_ironcurtain_paths -f "$cur"
			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(
				compgen -W "$(_ironcurtain_policies)" -- "$cur")
			return
			;;
		--annotations | --lists | --protect | --audit | --into)
			_ironcurtain_paths -f "$cur"
			return
			;;
		--sandbox)
			_ironcurtain_paths -d "$cur"
			return
			;;
		--allow-domains | --trust) return ;;
		esac
		if [ -z "$sub" ]; then
			_ironcurtain_words $'eval\nexplain\ncheck\ntest\nreplay\ndiff\nlearn\nreload' "$cur"
		elif [[ $cur == -* ]]; then
			_ironcurtain_words $'--policy\n--annotations\n--lists\n--sandbox\n--protect\n--allow-domains\n--trust\n--audit\n--into\n--json' "$cur"
		else
			_ironcurtain_paths -f "$cur"
		fi
		;;
	trust)
		_ironcurtain_words $'--yes\n--json\n--session' "$cur"
		;;
	*)
		_ironcurtain_words $'--json\n--session' "$cur"
		;;
	esac
}

_icsupervisor() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			_ironcurtain_command "$i" "$cur"
			return
		fi
	done
	_ironcurtain_value "$prev" "$cur" && return
	_ironcurtain_words "--session-dir
--print-ready
--version
$_ironcurtain_start_options" "$cur"
}

complete -F _icctl icctl
complete -F _icsupervisor icsupervisor
