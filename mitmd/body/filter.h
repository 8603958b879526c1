/* SPDX-License-Identifier: ISC */
/*
 * Finds what a request body asks the provider to do on its own ("reach"): tools
 * that the provider runs, remote MCP servers, URLs that it fetches, answers
 * that it keeps, work that continues after the connection. Each would be a way
 * out that no policy sees. The body is read once, without building a tree; the
 * result is a list of edits. Anything not known to be harmless counts as reach,
 * including kinds of tools that are not listed.
 *
 * Member names are compared folded (case, underscores, dashes), because
 * providers that accept `file_data` for `fileData` would otherwise read more
 * than the filter does.
 */
#ifndef BODY_FILTER_H
#define BODY_FILTER_H

#include "body/json.h"
#include "provider/filter_rules.h"

#define FILTER_MAX_EDITS 4096U
#define FILTER_MAX_ROOT 128U /* members of the outermost object */
#define FILTER_MAX_NAMES 32U /* names of removed tools */

enum filter_result {
	FILTER_SAME,
	FILTER_CHANGED, /* apply the edits */
	FILTER_REFUSED, /* `refused` is the reason */
	FILTER_BAD, /* not strict JSON, or not an object: see `why` and `at` */
	FILTER_LIMIT, /* too many edits or members */
};

/*
 * Replace the bytes [off, off + len) by `with`. Edits are sorted and do not
 * overlap.
 */
struct filter_edit {
	size_t off, len;
	const char *with; /* a constant, possibly "" */
};

/* An open container. Private to body/filter.c. */
struct filter_frame {
	uint8_t ctx; /* enum dialect_ctx */
	bool object, root;
	size_t start; /* offset of the container */
	/* its entries (members or elements) so far */
	size_t entry; /* start of the latest; SIZE_MAX: none since a comma */
	size_t end;   /* end of the latest entry */
	size_t comma; /* after the comma behind the last kept entry; SIZE_MAX:
			 none */
	unsigned kept, gone;
	bool drop; /* cut the latest entry */
	/* found in its members */
	uint8_t tool; /* enum dialect_tool */
	bool local, url;
	bool unused;             /* all tools that it configures are removed */
	bool id, typed, untyped; /* it has an id; a type; one that is null */
	struct span name, type;
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
	bool hit[FILTER_KINDS];         /* kinds found and stripped */
	struct span what[FILTER_KINDS]; /* the first of each, as written */
	/* name of something kept in the account; p == NULL: not the reason */
	struct span kept;
	const char *why;
	size_t at;
	/* parts of the text, as written; p == NULL: not there */
	struct span model, speed, tier;
	uint64_t most;  /* tokens that the answer may have; 0: not said */
	uint64_t times; /* answers to the same request; 0: not said */
	bool other;     /* a WebSocket message that asks for no answer */
	/* internals */
	bool socket; /* set by the caller: it is a message of a WebSocket */
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
	bool choice_gone; /* the body requires a removed tool */
	bool emptied;     /* the outermost list of tools is now empty */
	bool stored;      /* "store" is present */
	bool input;       /* the body asks for an answer */
	bool no, limit;   /* refused; over a limit */
	/* chat completions */
	bool stream;    /* the answer will be a stream of events */
	size_t options; /* offset of stream_options; SIZE_MAX: none */
	bool options_object;
	bool options_kept; /* some members of stream_options stay */
	bool usage;        /* stream_options asks for the usage */
};

/*
 * The text is under 4 GiB; `seed` as in body/json.h. The struct is large:
 * allocate it once.
 */
enum filter_result filter_body(struct filter *, const struct filter_rules *,
    enum filter_dialect, struct span, const uint64_t seed[2]);
/* Returns the length of the body after the edits. */
size_t filter_length(const struct filter *);
/*
 * Return the edited body piece by piece: `*at` counts pieces, from 0. Returns
 * false after the last. A piece may be empty.
 */
bool filter_piece(const struct filter *, unsigned *at, struct span *);

#endif
