/* SPDX-License-Identifier: ISC */
/* Shared by the modules that find secrets in a text. */
#ifndef MASK_PRIV_H
#define MASK_PRIV_H

#include "common/mask/mask.h"

/* Sets of characters, as bits of mask_classes[]. */
enum mask_class {
	MASK_DIGITS,	/* 0-9 */
	MASK_HEX,	/* and a-f, A-F */
	MASK_UPPER,	/* A-Z, 0-9 */
	MASK_LOWER,	/* a-z, 0-9 */
	MASK_ALNUM,	/* letters and digits */
	MASK_WORD,	/* and '_' */
	MASK_URL64,	/* and '-' */
	MASK_DOTTED,	/* and '.', '=', '~' */
	MASK_BASE64,	/* letters, digits, '+', '/', '=' */
	MASK_NAME,	/* letters, digits, '_', '-', '.' */
	MASK_LOGIN,	/* characters of an address before its path */
	MASK_VALUE,	/* characters of a value without quotes */
	MASK_LINE,	/* all but the ends of lines and of strings, and '<' */
	MASK_CLASSES
};

/* Runs of a class that are remembered: a form has at most six parts. */
#define MASK_RUNS 8U

extern const uint16_t mask_classes[UINT8_MAX + 1];

static inline bool
mask_is(uint8_t c, enum mask_class class)
{
	return (mask_classes[c] >> class & 1U) != 0;
}

/* How a name announces its value. */
enum mask_named {
	MASK_NO_NAME,
	MASK_QUERY,	/* only in the query of an address */
	MASK_KEYED,	/* only if the value looks like a key */
	MASK_PHRASE,	/* only if the value is the words of a seed */
	MASK_TOKEN,
	MASK_PASSWORD,
	MASK_HEADER,	/* its value goes to the end of the line */
};

/* A place to mask, and the text for it. */
struct mask_hit {
	size_t from, to;
	uint8_t text[32];
	size_t len;
};

/* Cells that a name announces from afar, one after another. */
struct mask_area {
	enum mask_area_kind {
		MASK_NO_AREA,
		MASK_TABLE,	/* the rows of a table, each a line */
		MASK_ROWS,	/* rows of SQL and JSON */
		MASK_OBJECT,	/* the values of an object of JSON */
		MASK_LINES,	/* the values below a line of YAML */
	} kind;
	size_t at, to;		/* the rest of the row */
	size_t cell_from, cell_to; /* the next secret; cell_to == 0: none */
	uint64_t passwords, tokens, values;	/* columns, as bits */
	unsigned ncells, column;
	enum mask_named named;	/* the kind of the name in the row */
	uint8_t sep;		/* ' ': two blanks or more */
	uint8_t open;		/* begins each row of MASK_ROWS */
	bool spaced;		/* ", " divides its cells, as a sentence does */
	bool base64;
	size_t deep, block;	/* blanks before the line, and before a block */
};

struct mask_scan {
	struct span s;
	struct mask_area area;
	size_t ahead;	 /* the end of the latest area */
	size_t document; /* the end of the latest one that was looked at */
	bool secret;	 /* it is a Secret of Kubernetes */
	/* The latest runs of each class, so that none is walked twice. */
	struct mask_runs {
		size_t n;	/* runs so far; the last MASK_RUNS are here */
		size_t top;	/* the end of the run that ends last */
		size_t from[MASK_RUNS], to[MASK_RUNS];
	} runs[MASK_CLASSES];
	struct mask_hit next;	/* found, and not reached yet; to == 0: none */
	size_t login;		/* the end of the latest "login", or 0 */
	uint64_t steps;
};

/* run.c: Returns the end of the run of characters of `class` that includes `at`. */
size_t mask_run(struct mask_scan *, size_t at, enum mask_class class);
/* Make a hit of which the whole text is hidden. */
void mask_hide(struct mask_hit *, size_t from, size_t to);
static inline uint8_t
mask_at(const struct mask_scan *m, size_t i)
{
	return i < m->s.len ? m->s.p[i] : 0;
}
static inline struct span
mask_rest(const struct mask_scan *m, size_t from, size_t to)
{
	return span_of(m->s.p + from, to - from);
}

/* Returns what is at `at`, at most that many bytes. */
static inline struct span
mask_near(const struct mask_scan *m, size_t at, size_t most)
{
	const size_t left = at < m->s.len ? m->s.len - at : 0;

	return span_of(m->s.p + at, left < most ? left : most);
}

/*
 * Each looks for a secret of its kind that begins at `at`, or after it for those
 * that a name announces. Returns true with *hit set.
 */
/* forms.c: keys of public forms. */
bool mask_form(struct mask_scan *, size_t at, struct mask_hit *);
/* Returns true if a form begins with this byte. */
bool mask_form_begins(uint8_t);
/* digits.c: card and social security numbers. */
bool mask_digits(struct mask_scan *, size_t at, struct mask_hit *);
/* pem.c: private keys, from "-----BEGIN" to their end. */
bool mask_pem(struct mask_scan *, size_t at, struct mask_hit *);
/* address.c: the password in "://user:password@". */
bool mask_address(struct mask_scan *, size_t at, struct mask_hit *);
/* pairs.c: the value of the name at `at`, which ends at `end`. */
bool mask_pair(struct mask_scan *, size_t at, size_t end, struct mask_hit *);
/* options.c: the password of "-u user:password" and the like. */
bool mask_option(struct mask_scan *, size_t at, struct mask_hit *);

/* walk.c */
/* Returns true if the byte is one of the set. */
bool mask_among(uint8_t, const char *set);
/* Returns the first place from `at` on, before `to`, that is not of the set. */
size_t mask_past(struct mask_scan *, size_t at, size_t to, const char *set);
/* Returns the end of the line, or of the text. */
size_t mask_line_end(struct mask_scan *, size_t at);

/* areas.c */
/* Returns true, with a hit, if a value that was announced from afar is at `at`. */
bool mask_area(struct mask_scan *, size_t at, struct mask_hit *);
/* Returns true if the name at `at` begins an area. */
bool mask_area_begin(struct mask_scan *, size_t at, size_t end);

/* Find the next secret of the area; without one, cell_to becomes 0. */
void mask_area_next(struct mask_scan *, struct mask_area *);

/* tables.c */
/* Find the next secret among the rest of the cells of a row. */
bool mask_table_next(struct mask_scan *, struct mask_area *);
/* Find the next secret among rows of SQL or JSON. */
bool mask_rows_next(struct mask_scan *, struct mask_area *);
/*
 * Begin a table, or a row of the one that is there, at a line's first byte.
 * Returns true for a row.
 */
bool mask_table_line(struct mask_scan *, size_t at);
/*
 * Begin the rows of an INSERT or of an array of arrays, or the lines of a COPY,
 * whose columns have names. The name at `at` announces them. Returns false if
 * nothing of the kind is there.
 */
bool mask_table_begin(struct mask_scan *, size_t at, size_t end);

/* names.c */
enum mask_named mask_named(struct span name);

/* looks.c */
/* Returns true if there is nothing but digits. */
bool mask_is_number(struct span);
#define MASK_MIXED 64U
/* Returns true if the first MASK_MIXED bytes have digits and letters. */
bool mask_mixed(struct span);
/* Returns true if the value looks like the random text of a key. */
bool mask_random(struct span value);
/* Returns the end of the words of a seed that begin at `at`, or 0. */
size_t mask_phrase(struct mask_scan *, size_t at);

/*
 * Rows of a table that is in the order of their first bytes: by such a byte,
 * the rows from `from` on and before `to`, and a bit for each of their second
 * bytes.
 */
struct mask_first {
	uint32_t seconds;
	uint8_t from, to;
};

static inline void
mask_first_row(struct mask_first by[UINT8_MAX + 1], const char *row, size_t i)
{
	struct mask_first *f = &by[(uint8_t)row[0]];

	if (f->to == 0)
		f->from = (uint8_t)i;
	f->to = (uint8_t)(i + 1);
	f->seconds |= 1U << (row[1] & 31);
}

/* Returns true if a row may begin with the bytes at `at`. */
static inline bool
mask_first_may(const struct mask_first by[UINT8_MAX + 1],
    const struct mask_scan *m, size_t at)
{
	return (by[m->s.p[at]].seconds >> (mask_at(m, at + 1) & 31) & 1U) != 0;
}

/* commands.c: passwords among the words of a command, a call or SQL. */
bool mask_command(struct mask_scan *, size_t at, struct mask_hit *);

/* options.c */
/*
 * Returns the word at `at`, without the quotes around it, and its end with
 * them, unless `end` is NULL.
 */
struct span mask_word(struct mask_scan *, size_t at, size_t *end);
/*
 * Hide the word, or what follows `mark` in it; 0: all of it. Returns false if it
 * is no secret.
 */
bool mask_hide_word(
    struct mask_scan *, struct span, char mark, struct mask_hit *);

/* refers.c */
#define MASK_PLAIN 64U
/*
 * Write the letters and digits of the end of a name in lower case. Returns
 * their number.
 */
size_t mask_plain(struct span name, char dst[MASK_PLAIN]);
/* Returns true if the bytes are one letter or mark again and again. */
bool mask_one_byte(struct span);

/* known_row.c */
/* Returns how many bytes of a value of this length are searched for. */
unsigned mask_known_head(size_t len);
/* Returns an odd number, made from the key's bytes from `at` on. */
uint64_t mask_known_number(const uint8_t key[MASK_KEY], size_t at);
uint64_t mask_known_sum(uint64_t base, const uint8_t *, size_t);
/* Returns the fingerprint of a sum. */
static inline uint16_t
mask_known_print(uint64_t turn, uint64_t sum)
{
	return (uint16_t)((sum ^ sum >> 29) * turn >> 48);
}
void mask_known_digest(const uint8_t key[MASK_KEY], const uint8_t *, size_t,
    uint8_t digest[MASK_DIGEST]);

/* known.c */
struct mask_rolling {
	const struct mask_known *known;
	size_t at;
	uint64_t sums[MASK_KNOWN_HEAD + 1];	/* one for each length */
	uint64_t steps;
};

void mask_roll_init(struct mask_rolling *, const struct mask_known *,
    struct span);
/*
 * Returns the end of the longest known value that begins at `at`, or 0. It must
 * be called for each place of the text in order.
 */
size_t mask_roll(struct mask_rolling *, struct span, size_t at);

#endif
