/* SPDX-License-Identifier: ISC */
/*
 * Decide, record, release, with back-pressure: the ring of the tool path.
 *
 * Abstracted: calls_begin() and on_credit() in mcp-proxyd, call_new(),
 * call_ended() and calls_credit() in policyd, auditd_commit() and
 * commit_effects() in auditd, mcp-backd, and chan_send(), which never blocks: a
 * queue has a hard limit, here its capacity, that no honest session may reach.
 * What keeps them from it are the calls in flight, which mcp-proxyd counts until
 * policyd credits them, and that a turn of its loop handles all that has come
 * before it reads from the agent again.
 *
 * Mutants, by -D: SEND_FIRST, FAIL_OPEN, NO_LIMIT, CREDIT_EARLY, TWICE,
 * FORGET. Each must fail.
 */
#define CALLS 5		/* the agent makes */
#define LIMIT 2		/* in flight, as PROTO_MAX_CALLS */
#ifdef NO_LIMIT
#define ROOM true
#else
#define ROOM (uncredited < LIMIT && empty(answer) && empty(result))
#endif

mtype = { ALLOW, DENY };

chan to_policy = [LIMIT] of { byte };		/* CALL */
chan to_audit = [LIMIT] of { byte, mtype };	/* RELEASE */
chan to_server = [LIMIT] of { byte };		/* the composed line */
chan done = [LIMIT] of { byte };		/* DONE, of mcp-backd */
chan ended = [LIMIT] of { byte };		/* ENDED, to policyd */
chan credit = [LIMIT] of { byte };		/* CREDIT, to mcp-proxyd */
chan answer = [LIMIT] of { byte };		/* ANSWER, of auditd */
chan result = [LIMIT] of { byte };		/* RESULT, of mcp-backd */

bool recorded[CALLS], ended_recorded[CALLS];
byte carried_out[CALLS], answered[CALLS];
bool disk_full;

/* chan_send(): a full queue drops the message, which must not happen. */
inline send(queue, id) {
	assert(nfull(queue));
	queue ! id
}

inline took(id) {
	answered[id]++;
	assert(answered[id] == 1);
	answers++
}

active proctype proxyd() {
	byte made, uncredited, answers, id;

	do
	:: atomic { made < CALLS && ROOM -> send(to_policy, made);
		uncredited++;
		made++ }
	:: atomic { answer ? id -> took(id) }
	:: atomic { result ? id -> took(id) }
	:: atomic { credit ? id -> assert(uncredited != 0); uncredited-- }
	:: answers == CALLS && uncredited == 0 -> break
	od;
	for (id : 0 .. CALLS - 1) {
		assert(answered[id] == 1)
	}
}

active proctype policyd() {
	byte id;

end:	do
	:: atomic { to_policy ? id ->
		assert(nfull(to_audit));
		if
		:: to_audit ! id, ALLOW
		:: to_audit ! id, DENY
		fi;
#ifdef CREDIT_EARLY
		send(credit, id)
#endif
		}
	:: atomic { ended ? id ->
#ifndef CREDIT_EARLY
		send(credit, id)
#else
		skip
#endif
		}
	od
}

inline refuse(id) {
	send(answer, id);
	send(ended, id)
}

active proctype auditd() {
	byte id;
	mtype way;

end:	do
	:: atomic { to_audit ? id, way ->
		if
		:: disk_full ->
#ifdef FAIL_OPEN
			if
			:: way == ALLOW -> send(to_server, id)
			:: else -> refuse(id)
			fi
#else
			refuse(id)
#endif
		:: else ->
#ifdef SEND_FIRST
			if
			:: way == ALLOW -> send(to_server, id)
			:: else -> refuse(id)
			fi
		fi }
		if
		:: disk_full -> skip
		:: else -> recorded[id] = true
		fi
#else
			recorded[id] = true;
			if
			:: way == ALLOW -> send(to_server, id)
#ifdef TWICE
				; if
				:: nfull(to_server) -> send(to_server, id)
				:: else
				fi
#endif
			:: else -> refuse(id)
			fi
		fi }
#endif
	:: atomic { done ? id ->
		ended_recorded[id] = !disk_full;
#ifdef FORGET
		if
		:: disk_full -> skip
		:: else -> send(ended, id)
		fi
#else
		send(ended, id)
#endif
		}
	od
}

/* A server and its mcp-backd. */
active proctype backd() {
	byte id;

end:	do
	:: atomic { to_server ? id ->
		assert(recorded[id]);
		carried_out[id]++;
		assert(carried_out[id] == 1) };
		/* It answers when it likes. */
		atomic { send(result, id); send(done, id) }
	od
}

active proctype disk() {
	if
	:: disk_full = true
	:: skip
	fi
}
