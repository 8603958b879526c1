/* SPDX-License-Identifier: ISC */
/*
 * The form that an MCP server shows to a person (elicitation/create): a flat
 * object of texts, numbers, yes or no, and choices. The schema is the server's
 * and hostile; what does not fit MCP's own type is refused. An answer is made
 * of the person's words, and checked before it is sent. icctl links this, too.
 */
#ifndef FORM_H
#define FORM_H

#include "common/json/value.h"

#define FORM_MAX_FIELDS 32U
#define FORM_MAX_OPTIONS 100U /* that a choice may have */
#define FORM_MAX_NAME 128U    /* bytes of a field's name */
#define FORM_MAX_TEXT 1024U   /* bytes of a title, a description, an option */
#define FORM_WHY 320U

enum form_type {
	FORM_TEXT,
	FORM_NUMBER,
	FORM_INTEGER,
	FORM_YES_NO,
	FORM_ONE,     /* one of the options */
	FORM_SEVERAL, /* any number of them */
};

struct form_field {
	struct span name;
	struct span title, description; /* p == NULL: none */
	enum form_type type;
	bool required;
	const struct value *preset;  /* the default, or NULL */
	struct span format;          /* a text has it; p == NULL: any */
	uint64_t min, max;           /* characters, or chosen options */
	const struct value *least, *most; /* numbers, or NULL */
	const struct value *options; /* strings, or {"const", "title"} */
	const struct value *labels;  /* names of those strings, or NULL */
};

struct form {
	struct form_field fields[FORM_MAX_FIELDS];
	unsigned n;
	char why[FORM_WHY]; /* the reason of the last failure */
};

/*
 * Read a schema. The form refers to it. Returns 0, or -1 with the reason in
 * form->why, as the end of a sentence that begins with "the form".
 */
int form_from_schema(struct form *, const struct value *schema);
/*
 * Returns true if the form, or the message above it, asks for a password, a key
 * or another secret, with what says so in form->why.
 */
bool form_wants_secret(struct form *, struct span message);
/* Returns the field of that name, or NULL. */
const struct form_field *form_find(const struct form *, struct span name);
/*
 * Returns the option `i` of a field, with its label (p == NULL: none); p ==
 * NULL after the last.
 */
struct span form_option(
    const struct form_field *, unsigned i, struct span *label);
/*
 * Make the value of a field from a person's words: the text itself, a number,
 * yes or no, an option or its label, or several with commas between. Returns
 * NULL with the reason.
 */
struct value *form_value(struct form *, struct value_pool *,
    const struct form_field *, struct span words);
/*
 * Check an answer, an object. Returns 0, or -1 with the reason, which names the
 * field.
 */
int form_check(struct form *, const struct value *answer);

#endif
