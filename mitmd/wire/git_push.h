/* SPDX-License-Identifier: ISC */
/*
 * The front of a git push: the command list of git-receive-pack
 * (gitprotocol-pack, "Reference Update Request"), which says what each ref was
 * and what it shall be.  mitmd reads it to show it to a person, keyd reads it
 * again out of the bytes that it is about to send.  Both read no more than
 * this, so that whatever else could change something (a signed push, options,
 * a ref outside of refs/) is refused, not passed by.
 */
#ifndef GIT_PUSH_H
#define GIT_PUSH_H

#include "common/buf.h"

#define GIT_PUSH_MAX_REFS 64U
#define GIT_PUSH_MAX_SHALLOW 256U
#define GIT_PUSH_MAX_LIST 32768U /* bytes before the pack */
#define GIT_PUSH_MAX_NAME 255U

/* What git sends first where a push is large: nothing to do. */
#define GIT_PUSH_PROBE "0000"

/* What a command list says. */
struct git_push_list {
	struct buf refs; /* "OLD NEW NAME\n" for each command, in their order */
	bool report;     /* the client wants to know what became of each, */
	bool sideband;   /* among other messages */
};

enum git_push {
	GIT_PUSH_OK,
	GIT_PUSH_MORE, /* it goes on beyond these bytes */
	GIT_PUSH_BAD,
};

/*
 * Reads a body from its beginning; whole: there is no more of it.  refs was
 * initialised with a limit.  BAD: *why is constant text.
 */
enum git_push git_push_read(
    struct span body, bool whole, struct git_push_list *, const char **why);

/*
 * The answer of a server that takes none of them: code beside each ref, text
 * as its message. -1: no room, or the client does not want to know.
 */
int git_push_report(struct buf *, const struct git_push_list *,
    const char *code, const char *text);

#endif
