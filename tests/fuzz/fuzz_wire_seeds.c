/* SPDX-License-Identifier: ISC */
/*
 * The seeds of fuzz_wire, from the protocol table: each message with every
 * field zero and with every field at its maximum (texts: 40 bytes), and two
 * with a memfd. "wire_seeds DIR" writes those that are missing or differ;
 * "wire_seeds --check DIR" only lists them.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ipc/wire.h"

#define TEXT 40U

static uint8_t texts[PROTO_MAX_DATAGRAM + 1];
static const char *dir;
static bool checking;
static unsigned nseeds, nwrong;

static void
seed_file(const char *name, const char *kind, struct span s)
{
	static uint8_t old[2 * PROTO_MAX_DATAGRAM];
	char path[512];
	size_t n = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s-%s", dir, name, kind);
	nseeds++;
	if ((f = fopen(path, "re")) != NULL) {
		n = fread(old, 1, sizeof(old), f);
		fclose(f);
	}
	if (f != NULL && n == s.len && memcmp(old, s.p, n) == 0)
		return;
	nwrong++;
	if (checking) {
		printf("# %s is %s\n", path, f == NULL ? "missing" : "old");
		return;
	}
	if ((f = fopen(path, "we")) == NULL ||
	    fwrite(s.p, 1, s.len, f) != s.len || fclose(f) != 0)
		err(1, "%s", path);
}

static void
fill(const struct proto_msg *m, union proto_any *msg, bool top, size_t big)
{
	memset(msg, 0, sizeof(*msg));
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		uint8_t *at = (uint8_t *)msg + f->offset;
		size_t len = f->kind == PROTO_big && big != 0 ? big
			     : !top                           ? 0
			     : f->max < TEXT                  ? (size_t)f->max
							      : TEXT;
		struct span s = span_of(texts, len);
		uint64_t v = top ? f->max : 0;

		/* little-endian only, as the build requires */
		if (f->kind >= PROTO_str)
			memcpy(at, &s, sizeof(s));
		else
			memcpy(at, &v,
			    f->kind == PROTO_u8    ? 1
			    : f->kind == PROTO_u16 ? 2
			    : f->kind == PROTO_u32 ? 4
						   : 8);
	}
}

/* big: bytes of the large field, too many for a datagram; 0: a small one. */
static void
seed(const struct proto_msg *m, const char *kind, bool top, size_t big)
{
	static uint8_t head[PROTO_MAX_DATAGRAM], out[3 * PROTO_MAX_DATAGRAM];
	union proto_any msg;
	struct span rest;
	size_t len, o = 0;

	fill(m, &msg, top, big);
	if (wire_encode(m, &msg, head, &len, &rest) == -1)
		errx(1, "%s does not encode", m->name);
	out[o++] = big != 0;
	if (big != 0) {
		out[o++] = (uint8_t)len;
		out[o++] = (uint8_t)(len >> 8);
	}
	memcpy(out + o, head, len);
	if (rest.len != 0)
		memcpy(out + o + len, rest.p, rest.len);
	seed_file(m->name, kind, span_of(out, o + len + rest.len));
}

int
main(int argc, char **argv)
{
	checking = argc == 3 && strcmp(argv[1], "--check") == 0;
	if (argc != 2 && !checking)
		errx(2, "usage: wire_seeds [--check] DIR");
	dir = argv[argc - 1];
	memset(texts, 'x', sizeof(texts));
	for (size_t i = 0; i < proto_nmsgs; i++) {
		seed(&proto_msgs[i], "zero", false, 0);
		seed(&proto_msgs[i], "max", true, 0);
	}
	seed(proto_find(MSG_EVENT), "memfd", true, PROTO_MAX_DATAGRAM + 1);
	seed(proto_find(MSG_RESULT), "memfd", false, PROTO_MAX_DATAGRAM - 1);
	printf("# %u seeds, %u %s\n", nseeds, nwrong,
	    checking ? "wrong" : "written");
	if (checking && nwrong != 0)
		errx(1, "the table has changed: run tests/fuzz/wire_seeds %s",
		    dir);
	return 0;
}
