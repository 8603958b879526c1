/* SPDX-License-Identifier: ISC */
/*
 * Rotation of the log, a kill at any moment, and the resume after it.
 *
 * Abstracted: auditparts_rotate() and auditparts_settle() in
 * supervisor/log/parts.c, auditfile_rotate() in supervisor/log/file.c, on_log_next()
 * and auditd_commit() in supervisor/workers/auditd/, auditscan of a resume. A file
 * is a number; names are variables that hold one. Records are numbered, and
 * a record's effect (a call that leaves for its server) comes after it is
 * written.
 *
 * Mutants, by -D: TELL_FIRST (auditd writes to a file that is no part of the log
 * yet), NO_SETTLE, EFFECT_FIRST, RENAME_ONCE (the new file replaces the old
 * one). Each must fail.
 */
#define FILES 6
#define RECORDS 5
#define NONE 0

byte newest = 1, next = NONE, older_count;
byte older[FILES];	/* 1, 2, ... */
byte files = 1;		/* made so far */
byte first[FILES], last[FILES];	/* records of a file; 0: empty */
byte seq;		/* of the last record that was written */
byte effects;		/* records whose effect has happened */
bool up;		/* the processes of a run are there */
byte runs;

/* auditd's own copy of the descriptor. */
byte fd;
bool told;		/* LOG_NEXT is on its way */
byte told_fd;
bool switching;		/* icsupervisor waits for LOG_TAKEN */

inline write_record() {
	seq++;
	if
	:: first[fd] == 0 -> first[fd] = seq
	:: else -> assert(last[fd] == seq - 1)
	fi;
	last[fd] = seq
}

proctype auditd() {
	do
	:: atomic { !up -> break }
	:: atomic { up && told -> fd = told_fd; told = false; switching = false }
#ifdef EFFECT_FIRST
	:: atomic { up && seq < RECORDS -> effects++ };
		atomic { if :: up -> write_record() :: else -> break fi }
#else
	:: atomic { up && seq < RECORDS -> write_record() };
		atomic { if :: up -> effects = seq :: else -> break fi }
#endif
	od
}

/* Each step is one system call, and a kill can come between two. */
proctype icsupervisor() {
	do
	:: atomic { !up -> break }
	:: atomic { up && !switching && files < FILES - 1 && last[newest] != 0 ->
		files++; next = files; first[next] = 0; last[next] = 0 };
#ifdef TELL_FIRST
		atomic { if :: up -> told = true; told_fd = next; switching = true :: else -> break fi };
#endif
#ifndef RENAME_ONCE
		atomic { if :: up -> older_count++; older[older_count] = newest; newest = NONE :: else -> break fi };
#endif
		atomic { if :: up -> newest = next; next = NONE :: else -> break fi };
#ifndef TELL_FIRST
		atomic { if :: up -> told = true; told_fd = newest; switching = true :: else -> break fi }
#endif
	od
}

inline settle() {
#ifndef NO_SETTLE
	next = NONE;
	if
	:: older_count != 0 && (newest == NONE || last[newest] == 0) ->
		newest = older[older_count];
		older_count--
	:: else
	fi
#else
	next = NONE;
	if
	:: newest == NONE -> files++; newest = files
	:: else
	fi
#endif
}

/* What a resume finds: the records of all parts, one after the other. */
inline scan() {
	found = 0;
	for (i : 1 .. older_count) {
		assert(first[older[i]] == found + 1);
		found = last[older[i]]
	};
	if
	:: last[newest] != 0 ->
		assert(first[newest] == found + 1);
		found = last[newest]
	:: else
	fi;
	assert(found == seq);		/* nothing is lost or doubled */
	assert(found >= effects)	/* and nothing happened unrecorded */
#ifdef NO_SETTLE
	;
	/* The last part is the one that is written on. */
	assert(found == 0 || last[newest] == found)
#endif
}

init {
	byte i, found;

	do
	:: runs < 3 ->
		atomic {
			settle();
			scan();
			fd = newest;
			told = false;
			switching = false;
			up = true;
			runs++;
			run auditd();
			run icsupervisor()
		};
		/* The kill, at any moment. */
		atomic { up = false };
		(_nr_pr == 1)
	:: break
	od;
	atomic { settle(); scan() }
}
