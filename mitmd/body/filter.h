/* SPDX-License-Identifier: ISC */
/*
 * What a request body asks the provider to do on its own: tools that the
 * provider runs, remote MCP servers, URLs that it fetches, answers that it
 * keeps, work that goes on after the connection.  Each would be a way out
 * that passes no policy.  The body is read once, without a tree; the result
 * is a list of edits.  What is not understood as harmless counts as reach:
 * tools of kinds not listed here go, too.
 *
 * Member names are compared folded (case, underscores): providers that take
 * `file_data` for `fileData` read what we read.
 */
#ifndef BODY_FILTER_H
#define BODY_FILTER_H

#include "body/json.h"
#include "provider/filter_rules.h"

#define FILTER_MAX_EDITS 4096U
#define FILTER_MAX_ROOT 128U /* members of the outermost object */
#define FILTER_MAX_NAMES 32U /* of tools that were taken out */

enum filter_result {
	FILTER_SAME,
	FILTER_CHANGED, /* edits */
	FILTER_REFUSED, /* refused says what for */
	FILTER_BAD,     /* not strict JSON, or no object: why, at */
	FILTER_LIMIT,   /* too many edits or members */
};

/* Bytes [off, off + len) become the text `with`. Rising, disjoint. */
struct filter_edit {
	size_t off, len;
	const char *with; /* constant, may be "" */
};

/* body/filter.c's own: one for each container that is open. */
struct filter_frame {
	uint8_t ctx; /* enum dialect_ctx */
	bool object, root;
	size_t start; /* of it */
	/* its entries (members or elements) so far */
	size_t entry; /* where the latest began; SIZE_MAX: none since a comma */
	size_t end;   /* where it ended */
	size_t comma; /* after the latest kept one; SIZE_MAX: none */
	unsigned kept, gone;
	bool drop; /* the latest is to go */
	/* what its members say */
	uint8_t tool; /* enum dialect_tool */
	bool local, url;
	bool unused; /* all tools that it configures are gone */
	struct span name;
};

struct filter_member {
	size_t from, end;
	bool gone, choice, tools;
};

struct filter {
	/* the result */
	struct filter_edit edits[FILTER_MAX_EDITS];
	unsigned nedits;
	enum filter_kind refused;
	bool hit[FILTER_KINDS]; /* found, and stripped */
	const char *why;
	size_t at;
	/* the work */
	struct body_json json;
	const struct filter_rules *rules;
	enum filter_dialect dialect;
	struct span text;
	unsigned depth;
	struct filter_frame frames[BODY_MAX_DEPTH];
	struct filter_member root[FILTER_MAX_ROOT];
	unsigned nroot;
	struct span names[FILTER_MAX_NAMES];
	unsigned nnames;
	struct span choice_name;
	bool choice_gone; /* it asks for a tool that is not there */
	bool emptied;     /* of the outermost tools nothing is left */
	bool stored;      /* "store" was there */
	bool input;       /* it asks for an answer */
	bool other;       /* it is a message of another kind */
	bool no, limit;   /* refused; over a limit */
	/* chat completions */
	bool stream;    /* the answer will be events */
	size_t options; /* where stream_options begin; SIZE_MAX: none */
	bool options_object;
	bool options_kept; /* they have members that stay */
	bool usage;        /* they ask for the usage */
};

/* Text < 4 GiB; seed as in body/json.h. The struct is large: have one. */
enum filter_result filter_body(struct filter *, const struct filter_rules *,
    enum filter_dialect, struct span, const uint64_t seed[2]);
/* The length after the edits. */
size_t filter_length(const struct filter *);
/*
 * The pieces of the edited body in order: *at counts them, from 0. false
 * after the last; pieces may be empty.
 */
bool filter_piece(const struct filter *, unsigned *at, struct span *);

#endif
