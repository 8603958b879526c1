/* SPDX-License-Identifier: ISC */
/*
 * The table of held calls. It stores what the agent sent, not what was derived
 * from it: an approved call is rebuilt and compared.
 */
#include "approval/hold.h"

#include <errno.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "common/sha256.h"

_Static_assert(HOLD_DIGEST == SHA256_SIZE, "SHA-256");

int
hold_init(struct hold *h, uint64_t id, struct span args)
{
	memset(h, 0, sizeof(*h));
	if ((h->args = malloc(args.len + 1)) == NULL)
		return -1;
	if (args.len != 0)
		memcpy(h->args, args.p, args.len);
	h->args_len = args.len;
	h->id = id;
	h->used = true;
	return 0;
}

void
hold_clear(struct hold *h)
{
	freezero(h->args, h->args_len);
	explicit_bzero(h, sizeof(*h));
}

void
hold_take(struct holds *hs, struct hold *h, struct hold *to)
{
	*to = *h;
	explicit_bzero(h, sizeof(*h));
	hs->n--;
}

struct hold *
hold_new(struct holds *hs, uint64_t id, struct span args)
{
	struct hold *h = NULL;

	for (unsigned i = 0; i < PROTO_MAX_HOLDS && h == NULL; i++) {
		if (!hs->list[i].used)
			h = &hs->list[i];
	}
	if (h == NULL) {
		errno = ENOBUFS;
		return NULL;
	}
	if (hold_init(h, id, args) == -1)
		return NULL;
	hs->n++;
	return h;
}

struct hold *
hold_find(struct holds *hs, uint64_t id)
{
	for (unsigned i = 0; hs->n != 0 && i < PROTO_MAX_HOLDS; i++) {
		if (hs->list[i].used && hs->list[i].id == id)
			return &hs->list[i];
	}
	return NULL;
}

void
hold_free(struct holds *hs, struct hold *h)
{
	if (h == NULL || !h->used)
		return;
	hold_clear(h);
	hs->n--;
}

void
hold_free_all(struct holds *hs)
{
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++)
		hold_free(hs, &hs->list[i]);
}

uint64_t
hold_next(const struct holds *hs)
{
	uint64_t next = 0;

	for (unsigned i = 0; hs->n != 0 && i < PROTO_MAX_HOLDS; i++) {
		if (hs->list[i].used &&
		    (next == 0 || hs->list[i].expires < next))
			next = hs->list[i].expires;
	}
	return next;
}

struct hold *
hold_expired(struct holds *hs, uint64_t now)
{
	for (unsigned i = 0; hs->n != 0 && i < PROTO_MAX_HOLDS; i++) {
		if (hs->list[i].used && hs->list[i].expires <= now)
			return &hs->list[i];
	}
	return NULL;
}

struct hold *
hold_of_server(struct holds *hs, uint16_t server)
{
	for (unsigned i = 0; hs->n != 0 && i < PROTO_MAX_HOLDS; i++) {
		if (hs->list[i].used && hs->list[i].server == server)
			return &hs->list[i];
	}
	return NULL;
}

int
hold_digest(struct span server, struct span tool, struct span args,
    struct span named, uint8_t digest[HOLD_DIGEST])
{
	struct buf b;
	int ret = -1;

	/* The buffer is for the names; the arguments are not copied. */
	buf_init(&b, 4096);
	buf_addc(&b, '[');
	(void)json_write_string(&b, server);
	buf_addc(&b, ',');
	(void)json_write_string(&b, tool);
	buf_addc(&b, ',');
	if (b.failed)
		goto out;
	sha256_spans((struct span[]){buf_span(&b), args,
			 named.len != 0 ? SPAN(",") : named, named, SPAN("]")},
	    5, digest);
	ret = 0;
out:
	buf_free(&b);
	return ret;
}

void
hold_told(const struct msg_HOLD *m, uint8_t digest[HOLD_DIGEST])
{
	const struct span *const texts[] = {
	    &m->rule, &m->reason, &m->effect, &m->session, &m->preview};
	const size_t n = nitems(texts);
	struct span all[2 * nitems(texts)];
	uint64_t len[nitems(texts)];

	for (size_t i = 0; i < n; i++) {
		len[i] = texts[i]->len;
		all[2 * i] = span_of(&len[i], sizeof(len[i]));
		all[2 * i + 1] = *texts[i];
	}
	sha256_spans(all, 2 * n, digest);
}
