/* SPDX-License-Identifier: ISC */
/*
 * The text that approvers sign with ssh-keygen -Y, and how ic-signed, which
 * checks their signatures, is told what to do. icctl, icsupervisor and
 * ic-signed include this file.
 */
#ifndef SIGNED_H
#define SIGNED_H

#include <stdint.h>

#include "common/buf.h"

#define SIGNED_PROGRAM "ic-signed"
#define SIGNED_NAMESPACE "ironcurtain"
#define SIGNED_FILE 65536U    /* bytes of the file of approvers */
#define SIGNED_ENTRIES 16384U /* bytes of all signatures of an answer */
#define SIGNED_MAX 8U         /* signatures of an answer */
#define SIGNED_NAME 65U       /* an approver's name, with its NUL */
#define SIGNED_SECONDS 86400  /* for which a signature may be valid */
#define SIGNED_NONCE 16U      /* bytes */
#define SIGNED_WAIT_S 60U     /* ic-signed ends itself after it */
/* The session has ended it by then, and answers 3 s later at most. */
#define SIGNED_STUCK_MS 65000U
#define SIGNED_REPLY_S 75U

enum signed_report {
	/* to ic-signed; the text and the signatures only to check an answer */
	SIGNED_TOLD_FILE = 'f',
	SIGNED_TOLD_TEXT = 't',
	SIGNED_TOLD_ENTRIES = 's',
	/* from it */
	SIGNED_BY = 'b', /* the name of an approver who has signed the text */
	SIGNED_KNOWN = 'k', /* the number of approvers in the file */
	SIGNED_WHY = 'w'    /* why the file, or one signature, is not good */
};

/* An answer, without the time at which a signature expires. */
struct signed_answer {
	const char *host, *boot, *session; /* the place of the call */
	const char *nonce, *digest;        /* in hexadecimal */
	const char *id;                    /* the call's */
	const char *verdict;               /* "approve" */
};

/*
 * Append the lines of the answer. Returns 0, or -1 if a member is empty, or has
 * a byte that is no visible character of ASCII, or if there is no room.
 */
int signed_compose(struct buf *, const struct signed_answer *);
/* Append the last line. */
void signed_expires(struct buf *, uint64_t seconds);

#endif
