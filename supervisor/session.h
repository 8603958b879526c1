/* SPDX-License-Identifier: ISC */
/*
 * The session directory (design, "Session directory"): everything below it is
 * reached through descriptors, so that its path may be of any length and a
 * link put in its place later changes nothing.
 */
#ifndef SESSION_H
#define SESSION_H

#include "common/span.h"
#include "config/fault.h"
#include "config/paths.h"

struct session {
	char *dir; /* absolute, links resolved */
	char id[65];
	int fd;          /* the directory; locked where that is possible */
	int lock;        /* its file "lock", which says whose it is */
	int sandbox;     /* sandbox/ */
	int orientation; /* orientation/ */
	int sockets;     /* sockets/ */
	int home;        /* home/: the agent's, private */
	int run;         /* IRONCURTAIN_HOME/run */
	bool linked;
	bool locked;
	int log; /* session.log */
	size_t logged;
	int audit;    /* audit.jsonl, O_APPEND */
	int closing;  /* another description of it: see auditlog/file.c */
	int margin;   /* disk kept for the closing record: auditlog/file.c */
	uint64_t seq; /* of the next audit line */
	uint8_t prev[32];
	size_t torn; /* bytes of a line that an earlier run's crash cut */
};

/* Disk kept free for the audit log. */
#define SESSION_RESERVE (1U << 20)
/* And for its closing record, whatever came before. */
#define SESSION_MARGIN (64U << 10)

void session_init(struct session *);
/* Makes the tree, takes the lock, opens the logs. */
int session_open(
    struct session *, const struct paths *, const char *dir, struct fault *);
/* Removes sockets and the link; closes. */
void session_close(struct session *);

/* The link in run/, by which icctl finds us; picks the id. */
int session_link(struct session *, const struct paths *, struct fault *);
/* A socket at dirfd/name: bound and listening, mode as given. -1 errno. */
int session_listen(int dirfd, const char *name, unsigned mode);
/* dirfd/name, whole or not at all: written aside and renamed. -1 errno. */
int session_write(int dirfd, const char *name, unsigned mode, struct span);
/* The same: what can be read from src (-1: nothing), then the bytes. */
int session_copy(
    int dirfd, const char *name, unsigned mode, int src, struct span);
/*
 * The same at a path of several parts below a directory that an agent may
 * have filled with links: none is followed. Directories are made.
 */
int session_seed(int dirfd, const char *path, unsigned mode, struct span);
/* One line into session.log: "who: text", made printable, bounded. */
void session_log(struct session *, const char *who, struct span text);

/* auditlog/file.c */
/* Opens the log and checks what is in it. -1: fault says why. */
struct auditscan;
int auditfile_attach(struct session *, struct auditscan *, struct fault *);
/* The same; then ends a torn line, and reserves disk. */
int auditfile_open(struct session *, struct fault *);
/* A descriptor to read the log with; -1 errno. */
int session_audit_reader(const struct session *);
/* Keeps SESSION_RESERVE bytes of disk ahead of the log's end. */
int auditfile_reserve(struct session *);
/* Gives back what was reserved and not used. */
void auditfile_trim(struct session *);

#endif
