/* SPDX-License-Identifier: ISC */
/*
 * The secrets that this session gives to its MCP servers, for the workers that
 * keep them out of the log: policyd and each mcp-backd. They get lengths and
 * keyed digests, so that no worker has a secret for the sake of masking it.
 */
#include "sup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "common/mask/mask.h"

static struct {
	bool made, full;
	uint8_t key[MASK_KEY];
	struct mask_known_row rows[MASK_KNOWN_MAX];
	unsigned n;
} known_env;

static void
known_add(struct span value)
{
	struct mask_known_row *r;
	unsigned i = 0;

	if (value.len < MASK_KNOWN_LEAST || mask_refers(value))
		return;
	if (known_env.n == MASK_KNOWN_MAX) {
		if (!known_env.full)
			sup_warn("the log masks %u secrets of servers, and no "
				 "more",
			    MASK_KNOWN_MAX);
		known_env.full = true;
		return;
	}
	r = &known_env.rows[known_env.n];
	mask_known_row(known_env.key, value, r);
	while (i < known_env.n &&
	       memcmp(known_env.rows[i].digest, r->digest, MASK_DIGEST) != 0)
		i++;
	if (i == known_env.n || known_env.rows[i].len != r->len)
		known_env.n++;
}

/* Add a value, and as it stands in an address. */
static void
known_add_both(const char *value)
{
	static const char hex[] = "0123456789ABCDEF";
	const size_t len = strlen(value);
	char *text, *p;

	known_add(span_str(value));
	if ((p = text = malloc(3 * len + 1)) == NULL)
		return;
	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)value[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z') ||
		    (c != 0 && strchr("-._~", c) != NULL)) {
			*p++ = (char)c;
			continue;
		}
		*p++ = '%';
		*p++ = hex[c >> 4];
		*p++ = hex[c & 0xf];
	}
	if ((size_t)(p - text) != len)
		known_add(span_of(text, (size_t)(p - text)));
	explicit_bzero(text, (size_t)(p - text));
	free(text);
}

static void
known_server(const struct server_def *d)
{
	const char *before = "", *value;
	char name[256];
	size_t i = 0;

	for (; d->env != NULL && d->env[i] != NULL; i++) {
		value = strchr(d->env[i], '=');
		snprintf(name, sizeof(name), "%.*s", (int)(value - d->env[i]),
		    d->env[i]);
		/* All of serverCredentials are secrets. */
		if (i >= d->nplain || secret_like(name, value + 1))
			known_add_both(value + 1);
	}
	for (i = 0; d->args != NULL && d->args[i] != NULL; i++) {
		if (secret_like_argument(before, d->args[i], &value))
			known_add_both(value);
		before = d->args[i];
	}
}

void
known_send(enum role role, unsigned index)
{
	struct msg_KNOWN m = {.key = span_of(known_env.key, MASK_KEY)};

	if (!sup.config.redact)
		return;
	if (!known_env.made) {
		arc4random_buf(known_env.key, sizeof(known_env.key));
		known_env.made = true;
		for (unsigned i = 0; i < sup.nservers; i++)
			known_server(sup.servers[i].def);
	}
	for (unsigned i = 0; i < known_env.n; i++) {
		m.len = known_env.rows[i].len;
		m.print = known_env.rows[i].print;
		m.digest = span_of(known_env.rows[i].digest, MASK_DIGEST);
		child_send(role, index, MSG_KNOWN, &m, -1);
	}
}
