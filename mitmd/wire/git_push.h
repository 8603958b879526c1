/* SPDX-License-Identifier: ISC */
/*
 * The front of a git push: the command list of git-receive-pack
 * (gitprotocol-pack, "Reference Update Request"), with the old and new object
 * of each ref. mitmd reads it to show it to a person; keyd reads it again from
 * the bytes that it is about to send. Everything else that could cause a change
 * (a signed push, options, a ref outside refs/) is refused, not skipped.
 */
#ifndef GIT_PUSH_H
#define GIT_PUSH_H

#include "common/buf.h"

#define GIT_PUSH_MAX_REFS 64U
#define GIT_PUSH_MAX_SHALLOW 256U
#define GIT_PUSH_MAX_LIST 32768U /* bytes before the pack */
#define GIT_PUSH_MAX_NAME 255U
#define GIT_PUSH_MAX_TEXT 8192U /* as in REQUEST: the text of the refs */
/* so much is kept of a list that is refused, for its report */
#define GIT_PUSH_MAX_REFUSED 49152U

/* The empty request that git sends before a large push. */
#define GIT_PUSH_PROBE "0000"

/* The content of a command list. */
struct git_push_list {
	struct buf refs; /* "OLD NEW NAME\n" for each command, in their order */
	bool report;     /* the client asks for the status of each ref */
	bool sideband;   /* the report goes into a side band */
	char why[64];    /* memory for a reason with a number in it */
};

enum git_push {
	GIT_PUSH_OK,
	GIT_PUSH_MORE, /* the list continues beyond these bytes */
	GIT_PUSH_BAD,
};

/*
 * Read a body from its beginning; `whole` means that no more follows. `refs`
 * was initialised with a limit. On GIT_PUSH_BAD, `*why` is constant text, or in
 * the list, and `refs` has as many of the commands as could be read and kept.
 */
enum git_push git_push_read(
    struct span body, bool whole, struct git_push_list *, const char **why);

/*
 * Write the answer of a server that rejects every ref: `code` for each, `text`
 * as its message; or, if the list has none, the whole push. Returns -1 if there
 * is no room or the client wants no report.
 */
int git_push_report(struct buf *, const struct git_push_list *,
    const char *code, const char *text);

#endif
