/* SPDX-License-Identifier: ISC */
/*
 * A call that waits for a person, from its first HOLD to its release.
 *
 * Abstracted: call_verdict() and approve() in policyd/approval/approve.c,
 * call_redecide() in policyd/approval/redecide.c, the table of pending calls of
 * supervisor/hub/, and auditd's rule that a message is written before it is
 * passed on. `world` stands for everything that a call's meaning depends on:
 * rules, files, links, remotes. A digest is the world in which the call was
 * composed.
 *
 * Two persons look at what is pending and answer with the digest that they saw,
 * at any time, however old. The world changes, the call expires and the agent
 * cancels it whenever they like.
 *
 * Mutants, by -D: NO_DIGEST, NO_REMAKE, TWICE, NO_EXPIRY, NO_CHECK_AT_HUB with
 * NO_DIGEST, PASS_FIRST. Each must fail.
 */
#ifdef NO_CHECK_AT_HUB
#define SEEN true
#else
#define SEEN (pending_as == saw)
#endif
#define WORLDS 3
#define PERSONS 2

mtype = { HOLD, HOLD_END, VERDICT, RELEASE };

chan to_audit_p = [4] of { mtype, byte, bool };	/* policyd to auditd */
chan to_audit_s = [4] of { mtype, byte, bool };	/* icsupervisor to auditd */
chan to_sup = [4] of { mtype, byte, bool };
chan to_policy = [4] of { mtype, byte, bool };
chan to_server = [4] of { byte };

byte world;		/* what the call would do now */
bool shown[WORLDS];	/* it was on a screen so */
bool approved[WORLDS];	/* a person approved what was shown so */
bool recorded[WORLDS];	/* the release of it is in the log */
bool held;		/* policyd has the call as pending */
byte digest;		/* as it was held */
bool expired;
bool denied;		/* policyd has taken a denial */
byte released, answered;

bool pending;		/* icsupervisor has it as pending */
byte pending_as;
bool verdict_sent;

/* The agent's call is over: one answer, whichever. */
inline answer() {
	answered++;
	assert(answered == 1);
	held = false
}

active proctype policyd() {
	byte d;
	bool yes;

	atomic {
		digest = world;
		held = true;
		to_audit_p ! HOLD, digest, false
	};
end:	do
	/* The rules or the files have changed: decided and shown again. */
	:: atomic { held && !expired && digest != world && nfull(to_audit_p) ->
		digest = world;
		to_audit_p ! HOLD, digest, false }
	:: atomic { held && expired && nfull(to_audit_p) ->
		to_audit_p ! HOLD_END, digest, false;
		answer() }
	:: atomic { to_policy ? VERDICT, d, yes ->
		if
		:: !held -> skip	/* LATE */
#ifndef NO_DIGEST
		:: held && d != digest -> skip	/* LATE */
#endif
#ifndef NO_EXPIRY
		:: held && expired -> skip	/* LATE; ends by itself */
#endif
		:: else ->
			if
			:: !yes ->
				denied = true;
				answer();
				to_audit_p ! HOLD_END, digest, false
#ifndef NO_REMAKE
			:: yes && world != digest ->
				/* ESCALATION CHANGED */
				answer();
				to_audit_p ! HOLD_END, digest, false
#endif
			:: else ->
				assert(!denied);
				to_audit_p ! RELEASE, world, true;
#ifndef TWICE
				held = false
#endif
			fi
		fi }
	od
}

active proctype auditd() {
	mtype m;
	byte d;
	bool yes;

end:	do
	:: to_audit_p ? m, d, yes ->
		if
		:: m == RELEASE ->
#ifdef PASS_FIRST
			to_server ! d;
			recorded[d] = true
#else
			recorded[d] = true;
			to_server ! d
#endif
		:: else -> to_sup ! m, d, yes
		fi
	:: atomic { to_audit_s ? m, d, yes -> to_policy ! m, d, yes }
	od
}

active proctype server() {
	byte d;

end:	do
	:: to_server ? d ->
		released++;
		assert(released == 1);
		assert(recorded[d]);
		assert(approved[d]);
		assert(!denied)
	od
}

active proctype icsupervisor() {
	mtype m;
	byte d;
	bool yes;

end:	do
	:: atomic { to_sup ? m, d, yes ->
		if
		:: m == HOLD -> pending = true; pending_as = d; shown[d] = true;
			verdict_sent = false
		:: else -> pending = false
		fi }
	od
}

/* A person, and what icsupervisor does with the answer. */
active [PERSONS] proctype person() {
	byte saw;
	bool yes;

	do
	:: atomic { pending -> saw = pending_as };
		if
		:: yes = true
		:: yes = false
		fi;
		atomic {
			if
			:: pending && !verdict_sent && SEEN ->
				verdict_sent = true;
				if
				:: yes -> approved[saw] = true
				:: else
				fi;
				to_audit_s ! VERDICT, saw, yes
			:: else -> skip	/* "was approved already" */
			fi
		}
	:: break
	od
}

active proctype time_and_change() {
	do
	:: world < WORLDS - 1 -> world++
	:: expired = true; break
	:: break
	od
}

/* What had expired before a person approved it is not released. */
active proctype late() {
end:	atomic { expired && held && !verdict_sent && released == 0 -> skip };
end2:	atomic { released != 0 -> assert(false) }
}
