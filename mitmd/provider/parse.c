/* SPDX-License-Identifier: ISC */
/*
 * Helpers for reading the parts of a provider file: known members, texts of a
 * class, memory from the provider's pool, one error message.
 */
#include "provider/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/near.h"
#include "provider/class.h"

/* Objects in a provider file have fewer members. */
#define PARSE_NAMES 32U

int
parse_fail(struct parse *ps, const char *fmt, ...)
{
	va_list ap;

	if (ps->cap != 0 && ps->err[0] == '\0') {
		va_start(ap, fmt);
		vsnprintf(ps->err, ps->cap, fmt, ap);
		va_end(ap);
	}
	errno = EINVAL;
	return -1;
}

void *
parse_alloc(struct parse *ps, size_t n, size_t size)
{
	void *mem;

	errno = 0;
	if (n > PROVIDER_MAX_FILE ||
	    (mem = value_pool_alloc(ps->p->pool, n * size)) == NULL) {
		parse_fail(ps, errno == ENOMEM
				   ? "no memory for a provider file"
				   : "has more than a provider file may");
		return NULL;
	}
	memset(mem, 0, n * size);
	return mem;
}

int
parse_copy(struct parse *ps, struct span s, struct span *out)
{
	uint8_t *mem;

	if ((mem = parse_alloc(ps, s.len + 1, 1)) == NULL)
		return -1;
	if (s.len != 0)
		memcpy(mem, s.p, s.len);
	*out = span_of(mem, s.len);
	return 0;
}

static int
parse_unknown(struct parse *ps, struct span name, const char *where,
    const char *const *names, size_t n)
{
	const char *list[PARSE_NAMES + 1] = {NULL};
	char text[64], known[256], hint[NEAR_HINT];
	size_t len = 0;

	known[0] = '\0';
	for (size_t i = 0; i < n && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len,
		    "%s%s", i == 0 ? "" : ", ", names[i]);
	for (size_t i = 0; i < n && i < PARSE_NAMES; i++)
		list[i] = names[i];
	provider_vis(name, text, sizeof(text));
	return parse_fail(ps, "%s: unknown member \"%s\"%s. Known here: %s",
	    where, text, near_hint(text, list, hint), known);
}

int
parse_members(struct parse *ps, const struct value *v, const char *where,
    const char *const *names, size_t n, size_t need)
{
	const struct value *m;
	size_t i;

	if (v == NULL || v->type != VALUE_OBJECT)
		return parse_fail(ps, "%s: must be an object", where);
	for (m = v->child; m != NULL; m = m->next) {
		for (i = 0; i < n && !span_is(m->key, names[i]); i++)
			;
		if (i == n)
			return parse_unknown(ps, m->key, where, names, n);
	}
	for (i = 0; i < need; i++) {
		if (value_get(v, names[i]) == NULL)
			return parse_fail(
			    ps, "%s: \"%s\" is missing", where, names[i]);
	}
	return 0;
}

int
parse_text(struct parse *ps, const struct value *v, const char *where,
    bool (*class)(struct span), struct span *out)
{
	char text[64];

	if (v == NULL || v->type != VALUE_STRING)
		return parse_fail(ps, "%s: must be a string", where);
	if (!class(v->text))
		return parse_fail(ps, "%s: \"%s\" does not fit here%s", where,
		    provider_vis(v->text, text, sizeof(text)),
		    provider_class_says(class));
	return parse_copy(ps, v->text, out);
}

int
parse_texts(struct parse *ps, const struct value *v, const char *where,
    bool (*class)(struct span), unsigned max, bool empty, struct span **out,
    unsigned *count)
{
	const struct value *m;
	struct span *s;
	char at[160];
	unsigned n = 0;

	if (v == NULL || v->type != VALUE_ARRAY)
		return parse_fail(ps, "%s: must be an array", where);
	if (v->count > max || (v->count == 0 && !empty))
		return parse_fail(ps, "%s: must have %s%u entries", where,
		    empty ? "at most " : "1 to ", max);
	if ((s = parse_alloc(ps, v->count, sizeof(*s))) == NULL)
		return -1;
	for (m = v->child; m != NULL; m = m->next) {
		snprintf(at, sizeof(at), "%s[%u]", where, n);
		if (parse_text(ps, m, at, class, &s[n]) == -1)
			return -1;
		for (unsigned i = 0; i < n; i++) {
			if (span_eq(s[i], s[n]))
				return parse_fail(ps, "%s: repeated", at);
		}
		n++;
	}
	*out = s;
	*count = n;
	return 0;
}

int
parse_bool(struct parse *ps, const struct value *v, const char *where,
    const char *name, bool dflt, bool *out)
{
	const struct value *m = value_get(v, name);

	if (m != NULL && m->type != VALUE_TRUE && m->type != VALUE_FALSE)
		return parse_fail(
		    ps, "%s.%s: must be true or false", where, name);
	*out = value_bool(v, name, dflt);
	return 0;
}

int
parse_hosts(struct parse *ps, const struct value *file)
{
	const struct value *one = value_get(file, "host"),
			   *all = value_get(file, "hosts");
	struct provider *p = ps->p;
	struct span *hosts;

	if ((one == NULL) == (all == NULL))
		return parse_fail(ps, "file: needs \"host\" or \"hosts\"");
	if (one != NULL) {
		p->nhosts = 1;
		return parse_text(
		    ps, one, "host", provider_is_host, &p->hosts[0]);
	}
	if (parse_texts(ps, all, "hosts", provider_is_host, PROTO_MAX_HOSTS,
		false, &hosts, &p->nhosts) == -1)
		return -1;
	for (unsigned i = 0; i < p->nhosts; i++)
		p->hosts[i] = hosts[i];
	return 0;
}
