/* SPDX-License-Identifier: ISC */
/*
 * The session directory. Everything below it is reached through descriptors, so
 * that its path may have any length, and replacing it by a link later changes
 * nothing.
 */
#ifndef SESSION_H
#define SESSION_H

#include "base/fault.h"
#include "base/paths.h"
#include "common/span.h"
#include "log/checkpoint.h"

struct session {
	char *dir; /* absolute, links resolved */
	char id[65];
	int fd;          /* the directory; locked where that is possible */
	int lock;        /* its file "lock", which names the machine that uses
			    it */
	int sandbox;     /* sandbox/ */
	int orientation; /* orientation/ */
	int sockets;     /* sockets/ */
	int home;        /* home/: the agent's, private */
	int run;         /* IRONCURTAIN_HOME/run */
	bool linked;
	bool locked;
	bool made; /* the directory was new */
	int log; /* session.log */
	size_t logged;
	int audit;    /* audit.jsonl, O_APPEND */
	int closing;  /* another description of it: see log/file.c */
	int margin;   /* disk reserved for the closing record:
			 log/file.c */
	uint64_t seq; /* number of the next audit line */
	uint8_t prev[32];
	/*
	 * The start did not check the records before this checkpoint. Its
	 * offset is 0 if the whole log has been checked.
	 */
	struct checkpoint unchecked;
	/* The records before this place were checked by an earlier run. */
	struct checked checked;
	/* The end of the log at the start; its offset is 0 for a new log. */
	struct checkpoint begun;
	unsigned older;	 /* older files of the log: log/parts.h */
	uint64_t size;	 /* bytes of the newest one, at the start */
	int left;	 /* the one before, while auditd may write to it; or -1 */
	/*
	 * The checkpoint says that the log had this many records, less one, and
	 * it has fewer; or 0.
	 */
	uint64_t ended;
	size_t torn; /* bytes of a line that a crash of an earlier run cut
			short */
};

/* Disk space kept free for the audit log. */
#define SESSION_RESERVE (1U << 20)
/* Disk space reserved for its closing record, in addition. */
#define SESSION_MARGIN (64U << 10)

void session_init(struct session *);
/*
 * Create the tree, take the lock, open the logs. Returns 0, or -1 with the
 * fault set.
 */
int session_open(
    struct session *, const struct paths *, const char *dir, struct fault *);
/* Remove sockets and the link; close everything. */
void session_close(struct session *);

/* Choose the id and make the link in run/, by which icctl finds the session. */
int session_link(struct session *, const struct paths *, struct fault *);
/*
 * Create a socket at dirfd/name with that mode, and listen on it. The name
 * appears only when connections to it succeed. Returns the descriptor, or -1
 * with errno set.
 */
int session_listen(int dirfd, const char *name, unsigned mode);
/* Remove all sockets of the session directory `dirfd`. */
void session_unlisten(int dirfd);
/*
 * Write dirfd/name, all or nothing: a new file is written and renamed. Returns
 * 0, or -1 with errno set.
 */
int session_write(int dirfd, const char *name, unsigned mode, struct span);
/* Do the same with all data from `src` (-1: none), then the bytes. */
int session_copy(
    int dirfd, const char *name, unsigned mode, int src, struct span);
/*
 * Write a file at a path of several parts, below a directory that an agent may
 * have filled with links: none is followed. Creates directories.
 */
int session_seed(int dirfd, const char *path, unsigned mode, struct span);
/*
 * Returns true if there is nothing in the directory but start.json, which icctl
 * writes before the session starts.
 */
bool session_untouched(int dirfd);
/* Remove the directory of a session that did not come so far as to open it. */
void session_abandon(const char *path);
/* Add a line to session.log: "who: text", made printable, of limited length. */
void session_log(struct session *, const char *who, struct span text);

/* log/file.c */
/* Open the log and check its contents. Returns 0, or -1 with the fault set. */
struct auditscan;
int auditfile_attach(struct session *, struct auditscan *, struct fault *);
/* Do the same, then end a torn line and reserve disk space. */
int auditfile_open(struct session *, struct fault *);
/* Returns a descriptor to read the log, or -1 with errno set. */
int session_audit_reader(const struct session *);
/* Keep SESSION_RESERVE bytes of disk reserved after the log's end. */
int auditfile_reserve(struct session *);
/* Free reserved space that was not used. */
void auditfile_trim(struct session *);
/*
 * Begin another file of the log. `*fd` is for auditd, which writes to the old
 * one until it has it. Returns 0, or -1 with errno set and nothing changed.
 */
int auditfile_rotate(struct session *, bool sync, int *fd);
/* auditd no longer writes to the old one. */
void auditfile_left(struct session *);
/*
 * auditd is gone. If it wrote nothing to the new file, the old one is the newest
 * again, so that the log's end is in it.
 */
void auditfile_settle(struct session *);

#endif
