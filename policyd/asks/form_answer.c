/* SPDX-License-Identifier: ISC */
/*
 * Makes the values of a server's form from a person's words.
 */
#include "asks/form.h"

#include <string.h>

#include "asks/form_priv.h"
#include "common/json/text.h"

/* Returns the option that the words name, itself or by its label. */
static struct span
option_of(const struct form_field *k, struct span words)
{
	struct span o, label, found = span_of(NULL, 0);

	for (unsigned i = 0; (o = form_option(k, i, &label)).p != NULL; i++) {
		if (span_eq(o, words))
			return o;
		if (label.p != NULL && span_eq(label, words) && found.p == NULL)
			found = o;
	}
	return found;
}

static struct span
trimmed(struct span s)
{
	while (s.len != 0 && s.p[0] == ' ') {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

/* One option, or several with commas between. */
static struct value *
several_of(struct form *f, struct value_pool *pool, const struct form_field *k,
    struct span words)
{
	struct value *list = value_new(pool, VALUE_ARRAY);
	struct span one, o = option_of(k, words);
	const uint8_t *comma;

	if (o.p != NULL)
		return value_append(list, value_new_string(pool, o)) == 0
			   ? list
			   : NULL;
	while ((words = trimmed(words)).len != 0) {
		comma = memchr(words.p, ',', words.len);
		one = comma == NULL
			  ? words
			  : span_of(words.p, (size_t)(comma - words.p));
		words = comma == NULL
			    ? span_of(words.p + words.len, 0)
			    : span_of(comma + 1,
				  words.len - (size_t)(comma - words.p) - 1);
		o = option_of(k, trimmed(one));
		if (o.p == NULL) {
			(void)form_bad(f, k, "must have only its options");
			return NULL;
		}
		if (value_append(list, value_new_string(pool, o)) == -1)
			return NULL;
	}
	return list;
}

static struct value *
yes_no_of(struct form *f, struct value_pool *pool, const struct form_field *k,
    struct span words)
{
	static const char *const yes[] = {"yes", "y", "true", "1"};
	static const char *const no[] = {"no", "n", "false", "0"};

	for (size_t i = 0; i < nitems(yes); i++) {
		if (span_ieq(words, span_str(yes[i])))
			return value_new(pool, VALUE_TRUE);
		if (span_ieq(words, span_str(no[i])))
			return value_new(pool, VALUE_FALSE);
	}
	(void)form_bad(f, k, "must be yes or no");
	return NULL;
}

static struct value *
number_from(struct form *f, struct value_pool *pool, const struct form_field *k,
    struct span words)
{
	const uint8_t *stop;
	struct value *v;

	words = trimmed(words);
	if (words.len == 0 || words.len > VALUE_MAX_NUMBER ||
	    !text_number_end(words.p, words.p + words.len, &stop) ||
	    stop != words.p + words.len) {
		(void)form_bad(f, k, "must be a number");
		return NULL;
	}
	if ((v = value_new(pool, VALUE_NUMBER)) != NULL)
		v->text = words;
	return v;
}

struct value *
form_value(struct form *f, struct value_pool *pool, const struct form_field *k,
    struct span words)
{
	struct value *v = NULL;
	struct span o;

	f->why[0] = '\0';
	if (!utf8_valid(words) || words.len > VALUE_MAX_STRING) {
		(void)form_bad(f, k, "must be a text in UTF-8");
		return NULL;
	}
	switch (k->type) {
	case FORM_TEXT:
		v = value_new_string(pool, words);
		break;
	case FORM_NUMBER:
	case FORM_INTEGER:
		v = number_from(f, pool, k, words);
		break;
	case FORM_YES_NO:
		v = yes_no_of(f, pool, k, trimmed(words));
		break;
	case FORM_ONE:
		if ((o = option_of(k, words)).p == NULL)
			(void)form_bad(f, k, "must be one of its options");
		else
			v = value_new_string(pool, o);
		break;
	case FORM_SEVERAL:
		v = several_of(f, pool, k, words);
		break;
	}
	if (v == NULL && f->why[0] == '\0')
		(void)form_bad(f, k, "there is no memory for it");
	if (v != NULL && form_check_field(f, k, v) == -1)
		return NULL;
	return v;
}
