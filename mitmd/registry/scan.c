/* SPDX-License-Identifier: ISC */
/*
 * The parts that the registries' filters share: the scanner, the table of
 * versions, the verdicts. All input comes from the registry.
 */
#include "registry/filter.h"

#include <openssl/sha.h>

#include <stdlib.h>

#include "common/http/date.h"

void
registry_id(struct span s, uint8_t dst[REGISTRY_ID])
{
	uint8_t sum[SHA256_DIGEST_LENGTH];

	SHA256(s.p, s.len, sum);
	memcpy(dst, sum, REGISTRY_ID);
}

int
registry_bad(struct registry_filter *f, const char *why)
{
	if (f->why == NULL)
		f->why = why;
	return -1;
}

void
registry_scan(struct registry_filter *f, struct span s)
{
	body_json_begin(&f->json, s, f->seed);
}

enum body_token_type
registry_next(struct registry_filter *f, struct body_token *t)
{
	enum body_token_type type;

	do {
		type = body_json_next(&f->json, t);
	} while (type == BODY_COMMA);
	if (type == BODY_BAD)
		registry_bad(f, "it is not strict JSON");
	return type;
}

struct span
registry_value(struct registry_filter *f, struct body_token *t)
{
	size_t start = t->start;
	unsigned depth = 1;
	struct body_token in;

	switch (t->type) {
	case BODY_STRING:
	case BODY_ATOM:
		return span_of(f->json.base + start, t->end - start);
	case BODY_OBJECT:
	case BODY_ARRAY:
		break;
	case BODY_CLOSE:
	case BODY_COMMA:
	case BODY_DONE:
	case BODY_BAD:
		return span_of(NULL, 0);
	}
	while (depth != 0) {
		switch (registry_next(f, &in)) {
		case BODY_OBJECT:
		case BODY_ARRAY:
			depth++;
			break;
		case BODY_CLOSE:
			depth--;
			break;
		case BODY_STRING:
		case BODY_ATOM:
		case BODY_COMMA:
			break;
		case BODY_DONE:
		case BODY_BAD:
			return span_of(NULL, 0);
		}
	}
	t->end = in.end;
	return span_of(f->json.base + start, in.end - start);
}

bool
registry_is(struct span written, const char *want)
{
	uint8_t text[64];
	int n;

	if (written.p == NULL ||
	    (n = body_json_unescape(written, text, sizeof(text))) == -1)
		return false;
	return span_is(span_of(text, (size_t)n), want);
}

struct span
registry_plain(const struct body_token *t)
{
	if (t->type != BODY_STRING || t->value.len == 0 ||
	    memchr(t->value.p, '\\', t->value.len) != NULL)
		return span_of(NULL, 0);
	return t->value;
}

int
registry_text(const struct body_token *t, char *dst, size_t cap)
{
	int n;

	dst[0] = '\0';
	if (t->type == BODY_ATOM && span_is(t->value, "null"))
		return 0;
	if (t->type != BODY_STRING ||
	    (n = body_json_unescape(t->value, (uint8_t *)dst, cap - 1)) == -1)
		return -1;
	dst[n] = '\0';
	return memchr(dst, '\0', (size_t)n) == NULL ? 0 : -1;
}

/*
 * Record a refused version. Only the newest are kept: a person may ask for
 * them.
 */
static void
filter_refused(
    struct registry_filter *f, struct span version, struct registry_verdict v)
{
	struct registry_refused *r;

	/* Record a version once, not for each of its files. */
	if (f->nrefused != 0 &&
	    span_is(version, f->refused[f->nrefused - 1].version))
		return;
	if (f->nrefused == REGISTRY_MAX_REFUSED) {
		memmove(f->refused, f->refused + 1,
		    sizeof(f->refused) - sizeof(f->refused[0]));
		f->nrefused--;
	}
	r = &f->refused[f->nrefused++];
	r->verdict = v;
	if (span_copy(version, r->version, sizeof(r->version)) == -1)
		r->version[0] = '\0';
}

bool
registry_admit(struct registry_filter *f, struct span id, struct span version,
    int64_t when)
{
	struct registry_verdict v =
	    registry_judge(f->rules, span_str(f->package), when, f->now);
	struct registry_entry *e;

	if (f->nentries == REGISTRY_MAX_ENTRIES) {
		registry_bad(f, "it lists too many versions");
		return false;
	}
	e = &f->entries[f->nentries++];
	registry_id(id, e->id);
	e->reason = (uint8_t)v.reason;
	e->days = (uint16_t)v.days;
	if (registry_allows(v)) {
		f->kept++;
		return true;
	}
	f->gone++;
	filter_refused(f, version, v);
	return false;
}

int
registry_row(struct registry_filter *f, struct span version, struct span text)
{
	int64_t when = REGISTRY_NEVER;

	if (text.p != NULL)
		(void)date_rfc3339(text, &when);
	if (f->nrows == REGISTRY_MAX_ENTRIES)
		return registry_bad(f, "it lists too many versions");
	f->rows[f->nrows++] = (struct registry_row){
	    .version = version, .text = text, .when = when};
	return 0;
}

static int
filter_row_cmp(const void *a, const void *b)
{
	const struct registry_row *x = a, *y = b;

	return span_cmp(x->version, y->version);
}

void
registry_sort(struct registry_filter *f)
{
	unsigned n = 0;

	if (f->nrows != 0)
		qsort(f->rows, f->nrows, sizeof(*f->rows), filter_row_cmp);
	for (unsigned i = 0; i < f->nrows; i++) {
		if (n == 0 ||
		    !span_eq(f->rows[n - 1].version, f->rows[i].version))
			f->rows[n++] = f->rows[i];
	}
	f->nrows = n;
}

struct registry_row *
registry_find_row(struct registry_filter *f, struct span version)
{
	struct registry_row key = {.version = version};

	if (f->nrows == 0)
		return NULL;
	return bsearch(
	    &key, f->rows, f->nrows, sizeof(*f->rows), filter_row_cmp);
}
