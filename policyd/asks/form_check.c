/* SPDX-License-Identifier: ISC */
/*
 * Checks values against a server's form, also the server's own defaults.
 */
#include "asks/form.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asks/form_priv.h"
#include "common/log.h"

int
form_bad(struct form *f, const struct form_field *k, const char *fmt, ...)
{
	char name[160] = "";
	size_t len = 0;
	va_list ap;

	if (k != NULL) {
		log_vis(k->name, name, sizeof(name) - 40);
		len = (size_t)snprintf(f->why, sizeof(f->why), "%s: ", name);
	}
	va_start(ap, fmt);
	(void)vsnprintf(f->why + len, sizeof(f->why) - len, fmt, ap);
	va_end(ap);
	return -1;
}

const struct form_field *
form_find(const struct form *f, struct span name)
{
	for (unsigned i = 0; i < f->n; i++)
		if (span_eq(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

struct span
form_option(const struct form_field *k, unsigned i, struct span *label)
{
	const struct value *o, *l = NULL;

	*label = span_of(NULL, 0);
	if (k->options == NULL || i >= k->options->count)
		return span_of(NULL, 0);
	o = k->options->child;
	if (k->labels != NULL)
		l = k->labels->child;
	for (; i != 0; i--) {
		o = o->next;
		l = l != NULL ? l->next : NULL;
	}
	if (o->type == VALUE_STRING) {
		*label = l != NULL ? l->text : span_of(NULL, 0);
		return o->text;
	}
	*label = value_str(o, "title");
	return value_str(o, "const");
}

/* Returns the number of characters of valid UTF-8. */
static uint64_t
characters(struct span s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return n;
}

static double
number_of(const struct value *v)
{
	char text[VALUE_MAX_NUMBER + 1];

	(void)span_copy(v->text, text, sizeof(text));
	return strtod(text, NULL);
}

static bool
digits(struct span s, size_t at, size_t n, unsigned *out)
{
	*out = 0;
	if (at + n > s.len)
		return false;
	for (size_t i = at; i < at + n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*out = *out * 10 + (s.p[i] - '0');
	}
	return true;
}

static bool
is_date(struct span s)
{
	static const unsigned days[] = {
	    31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned y, m, d;

	return s.len >= 10 && digits(s, 0, 4, &y) && s.p[4] == '-' &&
	       digits(s, 5, 2, &m) && s.p[7] == '-' && digits(s, 8, 2, &d) &&
	       m >= 1 && m <= 12 && d >= 1 && d <= days[m - 1] &&
	       (m != 2 || d != 29 ||
		   (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)));
}

/* RFC 3339, section 5.6. */
static bool
is_date_time(struct span s)
{
	unsigned h, m, sec;
	size_t i = 19;

	if (s.len < 20 || !is_date(s) || (s.p[10] != 'T' && s.p[10] != 't') ||
	    !digits(s, 11, 2, &h) || s.p[13] != ':' || !digits(s, 14, 2, &m) ||
	    s.p[16] != ':' || !digits(s, 17, 2, &sec) || h > 23 || m > 59 ||
	    sec > 60)
		return false;
	if (s.p[i] == '.')
		for (i++; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
			;
	if (i + 1 == s.len)
		return s.p[i - 1] != '.' && (s.p[i] == 'Z' || s.p[i] == 'z');
	return i + 6 == s.len && s.p[i - 1] != '.' &&
	       (s.p[i] == '+' || s.p[i] == '-') && digits(s, i + 1, 2, &h) &&
	       s.p[i + 3] == ':' && digits(s, i + 4, 2, &m) && h < 24 &&
	       m < 60;
}

static bool
is_email(struct span s)
{
	const uint8_t *at = s.len == 0 ? NULL : memchr(s.p, '@', s.len);
	size_t left;

	if (at == NULL || at == s.p)
		return false;
	left = s.len - (size_t)(at - s.p) - 1;
	if (left == 0 || memchr(at + 1, '@', left) != NULL)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

static bool
is_uri(struct span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return false;
	while (n < s.len && ((s.p[n] >= 'a' && s.p[n] <= 'z') ||
				(s.p[n] >= 'A' && s.p[n] <= 'Z') ||
				(n != 0 && ((s.p[n] >= '0' && s.p[n] <= '9') ||
					       s.p[n] == '+' || s.p[n] == '-' ||
					       s.p[n] == '.'))))
		n++;
	return n != 0 && n + 1 < s.len && s.p[n] == ':';
}

/* Returns what the text must be, or NULL if it is that. */
static const char *
format_wants(struct span format, struct span text)
{
	static const struct {
		const char *name, *wants;
		bool (*is)(struct span);
	} formats[] = {
	    {"email", "an address of e-mail, such as ann@example.org", is_email},
	    {"uri", "an address, such as https://example.org/", is_uri},
	    {"date", "a date, such as 2026-03-01", is_date},
	    {"date-time", "a time, such as 2026-03-01T09:30:00Z", is_date_time},
	};

	for (size_t i = 0; format.p != NULL && i < nitems(formats); i++)
		if (span_is(format, formats[i].name))
			return formats[i].is(text) &&
				       (i != 2 || text.len == 10)
				   ? NULL
				   : formats[i].wants;
	return NULL;
}

static int
check_text(struct form *f, const struct form_field *k, const struct value *v)
{
	uint64_t n;
	const char *wants;

	if (v->type != VALUE_STRING)
		return form_bad(f, k, "must be a text");
	n = characters(v->text);
	if (n < k->min)
		return form_bad(f, k, "must have at least %llu characters",
		    (unsigned long long)k->min);
	if (n > k->max)
		return form_bad(f, k, "may have at most %llu characters",
		    (unsigned long long)k->max);
	if ((wants = format_wants(k->format, v->text)) != NULL)
		return form_bad(f, k, "must be %s", wants);
	return 0;
}

static int
check_number(struct form *f, const struct form_field *k, const struct value *v)
{
	int64_t n;

	if (v->type != VALUE_NUMBER)
		return form_bad(f, k, "must be a number");
	if (k->type == FORM_INTEGER &&
	    value_int(v, INT64_MIN, INT64_MAX, &n) == -1)
		return form_bad(f, k, "must be a whole number");
	if (k->least != NULL && number_of(v) < number_of(k->least))
		return form_bad(f, k, "must be at least %.*s",
		    (int)k->least->text.len, (const char *)k->least->text.p);
	if (k->most != NULL && number_of(v) > number_of(k->most))
		return form_bad(f, k, "may be at most %.*s",
		    (int)k->most->text.len, (const char *)k->most->text.p);
	return 0;
}

static bool
is_option(const struct form_field *k, struct span s)
{
	struct span o, label;

	for (unsigned i = 0; (o = form_option(k, i, &label)).p != NULL; i++)
		if (span_eq(o, s))
			return true;
	return false;
}

static int
check_several(struct form *f, const struct form_field *k, const struct value *v)
{
	const struct value *o, *p;

	if (v->type != VALUE_ARRAY)
		return form_bad(f, k, "must be a list of its options");
	for (o = v->child; o != NULL; o = o->next) {
		if (o->type != VALUE_STRING || !is_option(k, o->text))
			return form_bad(f, k, "must have only its options");
		for (p = v->child; p != o; p = p->next)
			if (span_eq(p->text, o->text))
				return form_bad(
				    f, k, "has an option more than once");
	}
	if (v->count < k->min || v->count > k->max)
		return form_bad(f, k,
		    k->max == UINT64_MAX ? "needs at least %llu options"
					 : "needs %llu to %llu options",
		    (unsigned long long)k->min, (unsigned long long)k->max);
	return 0;
}

int
form_check_field(
    struct form *f, const struct form_field *k, const struct value *v)
{
	switch (k->type) {
	case FORM_TEXT:
		return check_text(f, k, v);
	case FORM_NUMBER:
	case FORM_INTEGER:
		return check_number(f, k, v);
	case FORM_YES_NO:
		return v->type == VALUE_TRUE || v->type == VALUE_FALSE
			   ? 0
			   : form_bad(f, k, "must be yes or no");
	case FORM_ONE:
		return v->type == VALUE_STRING && is_option(k, v->text)
			   ? 0
			   : form_bad(f, k, "must be one of its options");
	case FORM_SEVERAL:
		return check_several(f, k, v);
	}
	return form_bad(f, k, "cannot be answered");
}

int
form_check(struct form *f, const struct value *answer)
{
	const struct form_field *k;
	const struct value *v;

	if (answer->type != VALUE_OBJECT)
		return form_bad(f, NULL, "the answer is no object");
	for (v = answer->child; v != NULL; v = v->next) {
		if ((k = form_find(f, v->key)) == NULL)
			return form_bad(
			    f, NULL, "the answer has a field of another form");
		if (form_check_field(f, k, v) == -1)
			return -1;
	}
	for (unsigned i = 0; i < f->n; i++)
		if (f->fields[i].required &&
		    value_getspan(answer, f->fields[i].name) == NULL)
			return form_bad(f, &f->fields[i], "must be answered");
	return 0;
}
