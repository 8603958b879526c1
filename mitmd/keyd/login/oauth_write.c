/* SPDX-License-Identifier: ISC */
/*
 * Composes what is written for a login: the request that renews it, and its new
 * file, which differs from the old one only in tokens and times. The caller
 * provides secret memory, or gets the file as a list of parts.
 * keyd/login/oauth.c has checked that the values need no escape.
 */
#include "keyd/login/oauth.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/http/base64.h"
#include "common/time_text.h"

static void
oauth_put_escaped(struct sink *o, struct span value)
{
	static const char hex[] = "0123456789ABCDEF";
	uint8_t c, esc[3] = {'%', 0, 0};

	for (size_t i = 0; i < value.len; i++) {
		c = value.p[i];
		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		    (c >= 'a' && c <= 'z') || strchr("-._~", c) != NULL) {
			sink_put(o, span_of(&value.p[i], 1));
			continue;
		}
		esc[1] = (uint8_t)hex[c >> 4];
		esc[2] = (uint8_t)hex[c & 15];
		sink_put(o, span_of(esc, 3));
	}
}

void
oauth_put_form(struct sink *o, const char *name, struct span value)
{
	if (o->len != 0)
		sink_put(o, SPAN("&"));
	sink_put(o, span_str(name));
	sink_put(o, SPAN("="));
	oauth_put_escaped(o, value);
}

int
oauth_basic(struct span client, struct span secret, uint8_t *dst, size_t cap,
    size_t *len)
{
	static const char scheme[] = "Basic ";
	const size_t front = sizeof(scheme) - 1;
	struct sink o;
	size_t n, half = cap / 2;

	/* The pair is written behind the place of its encoding. */
	o = (struct sink){.p = dst + half, .cap = cap - half};
	oauth_put_escaped(&o, client);
	sink_put(&o, SPAN(":"));
	oauth_put_escaped(&o, secret);
	if (sink_end(&o, &n) == -1)
		return -1;
	if (front + BASE64_LEN(n) > half) {
		explicit_bzero(dst, cap);
		errno = ENOBUFS;
		return -1;
	}
	memcpy(dst, scheme, front);
	base64_put(dst + front, span_of(dst + half, n));
	explicit_bzero(dst + half, n);
	*len = front + BASE64_LEN(n);
	return 0;
}

void
oauth_put_json(struct sink *o, const char *name, struct span value)
{
	sink_put(o, o->len == 0 ? SPAN("{\"") : SPAN(",\""));
	sink_put(o, span_str(name));
	sink_put(o, SPAN("\":\""));
	sink_put(o, value);
	sink_put(o, SPAN("\""));
}

int
oauth_compose(const struct provider_login *l, const struct oauth_file *f,
    uint8_t *dst, size_t cap, size_t *len)
{
	void (*put)(struct sink *, const char *, struct span) =
	    l->json ? oauth_put_json : oauth_put_form;
	struct sink o = {.p = dst, .cap = cap};

	put(&o, "grant_type", SPAN("refresh_token"));
	put(&o, "refresh_token", f->refresh);
	if (!f->basic)
		put(&o, "client_id",
		    f->client.len != 0 ? f->client : l->client);
	if (f->secret.len != 0 && !f->basic)
		put(&o, "client_secret", f->secret);
	if (f->resource.len != 0)
		put(&o, "resource", f->resource);
	if (l->scope.len != 0)
		put(&o, "scope", l->scope);
	if (l->json)
		sink_put(&o, SPAN("}"));
	return sink_end(&o, len);
}

struct oauth_edit {
	struct span old, new;
};

static void
oauth_edit(struct oauth_edit *e, size_t *n, struct span old, struct span new)
{
	size_t i = *n;

	if (old.p == NULL || new.len == 0)
		return;
	/* Sort by position in the text. */
	for (; i > 0 && e[i - 1].old.p > old.p; i--)
		e[i] = e[i - 1];
	e[i] = (struct oauth_edit){old, new};
	(*n)++;
}

/* Returns the number of parts of the text with its edits, which are sorted. */
static size_t
oauth_parts(const struct oauth_edit *e, size_t n, struct span text,
    struct span parts[OAUTH_PARTS])
{
	size_t np = 0;

	for (size_t i = 0; i < n; i++) {
		parts[np++] = span_of(text.p, (size_t)(e[i].old.p - text.p));
		parts[np++] = e[i].new;
		text.len -= (size_t)(e[i].old.p + e[i].old.len - text.p);
		text.p = e[i].old.p + e[i].old.len;
	}
	parts[np++] = text;
	return np;
}

size_t
oauth_splice(const struct provider_login *l, const struct oauth_file *f,
    struct span text, const struct oauth_new *n, char numbers[64],
    struct span parts[OAUTH_PARTS])
{
	struct oauth_edit e[5];
	size_t ne = 0;

	oauth_edit(e, &ne, f->access, n->access);
	oauth_edit(e, &ne, f->refresh, n->refresh);
	oauth_edit(e, &ne, f->id_at, n->id);
	if (f->expires_at.p != NULL &&
	    (n->expires != 0 || f->resource.len != 0)) {
		snprintf(numbers, 32, "%" PRIu64 "%s", n->expires,
		    l->unit == PROVIDER_EXPIRES_MS ? "000" : "");
		oauth_edit(e, &ne, f->expires_at, span_str(numbers));
	}
	if (f->renewed_at.p != NULL &&
	    time_text_fine((int64_t)n->now, ".000000", numbers + 32)[0] != '\0')
		oauth_edit(e, &ne, f->renewed_at, span_str(numbers + 32));
	return oauth_parts(e, ne, text, parts);
}

size_t
oauth_splice_ended(const struct oauth_file *f, struct span text, uint64_t now,
    char number[32], struct span parts[OAUTH_PARTS])
{
	struct oauth_edit e[1];
	size_t n = 0;

	snprintf(number, 32, "%" PRIu64, now);
	oauth_edit(e, &n, f->ended_at, span_str(number));
	return n == 0 ? 0 : oauth_parts(e, n, text, parts);
}
