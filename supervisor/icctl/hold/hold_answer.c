/* SPDX-License-Identifier: ISC */
/*
 * Answers to questions of servers, made of one line. Whoever shows the question
 * uses it: the screens of icctl, and the page.
 */
#include "icctl/hold/hold_answer.h"

#include <stdio.h>
#include <string.h>

#include "asks/form.h"
#include "base/json_get.h"
#include "common/ipc/proto.h"
#include "common/json/json.h"
#include "common/log.h"

#define ANSWER_POOL ((size_t)4 << 20)

bool
hold_is_signed(json_object *hold)
{
	return json_object_object_get_ex(hold, "toSign", NULL);
}

bool
hold_is_question(json_object *hold)
{
	return get_true(hold, "question");
}

const char *
hold_address(json_object *hold)
{
	json_object *list = NULL, *o;

	json_object_object_get_ex(hold, "resources", &list);
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list);
	     i++) {
		o = json_object_array_get_idx(list, i);
		if (strcmp(get_str(o, "argument", ""), "url") == 0)
			return get_str(o, "value", NULL);
	}
	return NULL;
}

/* Read the question. Returns its form, or NULL with the reason. */
static const struct value *
read_form(struct value_pool *pool, json_object *hold, struct form *f)
{
	const struct value *asked =
	    json_read(pool, get_span(hold, "arguments"), NULL);

	if (asked == NULL ||
	    form_from_schema(f, value_get(asked, "requestedSchema")) == -1)
		return NULL;
	return asked;
}

const char *
hold_answer_form(json_object *hold, char *dst, size_t cap)
{
	struct value_pool *pool = value_pool_new(ANSWER_POOL);
	char name[FORM_MAX_NAME * 4];
	struct form f;
	size_t n = 0;

	(void)snprintf(dst, cap, "NAME=VALUE; NAME=VALUE");
	if (pool != NULL && read_form(pool, hold, &f) != NULL && f.n != 0 &&
	    f.n <= 4) {
		for (unsigned i = 0; i < f.n && n < cap; i++)
			n += (size_t)snprintf(dst + n, cap - n, "%s%s=...",
			    i == 0 ? "" : "; ",
			    log_vis(f.fields[i].name, name, sizeof(name)));
	} else if (pool != NULL && f.n == 0) {
		(void)snprintf(dst, cap, "yes");
	}
	value_pool_free(pool);
	return dst;
}

static struct span
trim(struct span s)
{
	while (s.len != 0 && s.p[0] == ' ') {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

/* Take the next "NAME=VALUE" off the front, and find its field. */
static const struct form_field *
next_field(const struct form *f, struct span *words, struct span *value)
{
	const uint8_t *stop = memchr(words->p, ';', words->len);
	struct span one = *words;
	const uint8_t *is;

	if (stop != NULL)
		one.len = (size_t)(stop - words->p);
	*words = stop == NULL
		     ? span_of(words->p + words->len, 0)
		     : span_of(stop + 1, words->len - one.len - 1);
	one = trim(one);
	is = one.len == 0 ? NULL : memchr(one.p, '=', one.len);
	if (is == NULL)
		return NULL;
	*value = trim(span_of(is + 1, one.len - (size_t)(is - one.p) - 1));
	return form_find(f, trim(span_of(one.p, (size_t)(is - one.p))));
}

static int
set(struct form *f, struct value_pool *pool, struct value *to,
    const struct form_field *k, struct span value)
{
	struct value *v = form_value(f, pool, k, value);

	if (v != NULL && value_set(to, k->name, v) == -1)
		(void)snprintf(f->why, sizeof(f->why), "a field is set twice");
	return v == NULL || f->why[0] != '\0' ? -1 : 0;
}

static int
take_words(struct form *f, struct value_pool *pool, struct value *to,
    struct span words)
{
	const struct form_field *k;
	struct span rest = words, value;

	f->why[0] = '\0';
	if (f->n == 0 && (span_is(words, "yes") || words.len == 0))
		return 0;
	while ((rest = trim(rest)).len != 0) {
		k = next_field(f, &rest, &value);
		if (k == NULL && f->n == 1)
			return set(f, pool, to, &f->fields[0], words);
		if (k == NULL) {
			(void)snprintf(f->why, sizeof(f->why),
			    "write NAME=VALUE for each field, with ; between");
			return -1;
		}
		if (set(f, pool, to, k, value) == -1)
			return -1;
	}
	for (unsigned i = 0; i < f->n; i++) {
		k = &f->fields[i];
		if (k->preset != NULL &&
		    value_getspan(to, k->name) == NULL &&
		    value_set(to, k->name, value_copy(pool, k->preset)) == -1)
			return -1;
	}
	return 0;
}

int
hold_answer(json_object *hold, struct span words, struct buf *answer,
    char why[HOLD_ANSWER_WHY])
{
	struct value_pool *pool;
	struct value *to;
	struct form f = {.n = 0};
	int r = -1;

	if (hold_address(hold) != NULL)
		return 0;
	(void)strlcpy(f.why, "the question cannot be read", sizeof(f.why));
	if ((pool = value_pool_new(ANSWER_POOL)) != NULL &&
	    (to = value_new(pool, VALUE_OBJECT)) != NULL &&
	    read_form(pool, hold, &f) != NULL &&
	    take_words(&f, pool, to, trim(words)) == 0 &&
	    form_check(&f, to) == 0)
		r = json_write(answer, to);
	if (r == -1)
		(void)log_vis_again(span_str(f.why), why, HOLD_ANSWER_WHY);
	value_pool_free(pool);
	return r;
}
