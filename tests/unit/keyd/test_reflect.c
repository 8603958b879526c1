/* SPDX-License-Identifier: ISC */
/*
 * The credential anywhere in an answer: 20,000 placements of its forms, in
 * headers that pass, in headers that do not, in the status line, and in bodies
 * of every framing and chunking, split anywhere on the way. Each must end as
 * "reflected", with less than SCRUB_HOLD characters of the form passed on; the
 * same answer with one letter in ten of the form changed must pass completely.
 * Large answers go by way of slots that mitmd can read: none may ever have it.
 */
#include <sys/mman.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/ipc/stream.h"
#include "mitmd/keyd/answer.h"
#include "rnd.h"
#include "tap.h"
#include "unit/keyd/key_forms.h"

#define PLACEMENTS 20000U
#define TEXT_MAX (1U << 16)

enum place {
	IN_LISTED,
	IN_DROPPED,
	IN_NAME,
	IN_REASON,
	IN_INTERIM,
	IN_BODY
};

static const char file[] =
    "{\"name\":\"t\",\"host\":\"t.example\",\"credential\":{\"env\":\"T_KEY\","
    "\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":"
    "[{\"name\":\"x-api-key\"}]},"
    "\"requestHeaders\":[],\"responseHeaders\":[\"content-type\",\"x-a-*\"],"
    "\"routes\":[{\"method\":\"GET\",\"path\":\"/v1/x\"}]}";

#define LONG                                                                   \
	"sk-ant-api03-Zq9_x2LmP0rT5uVw8yAbCdEfGhIjKlMnOpQrStUv"                \
	"WxYz01234567-89abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJAA"

static const char *const keys[] = {LONG, "sk-proj-?>~?>~?/zz+/\"q\\w0123",
    "AIzaSyA-1234567890_abcdefghijklmnopqrs", "0123456789abcdef",
    "aaaaaaaabaaaaaaaab"};

static struct provider *provider;
static struct scrub scrub;
static _Alignas(uint16_t) uint8_t mem[1 << 18];
static struct reply reply;

/* Append text that a model might write before and after. */
static void
text_filler(struct buf *b)
{
	static const char *const words[] = {"data: {\"delta\":\"", "sk-",
	    "\n\n", "the key is ", "x", "\\u0041", "%2B", "AAAA", "=", " ",
	    "sk-ant-", "event: ping\n", "\"}", "YWJj", "616263", "\\/"};

	for (unsigned n = rnd(12); n > 0; n--)
		buf_adds(b, words[rnd(16)]);
}

/*
 * Append the body in a framing: 0 length, 1 chunks of random sizes, 2 until
 * close.
 */
static void
text_framed(struct buf *b, struct span body, unsigned framing)
{
	size_t n;

	if (framing == 0)
		buf_printf(b, "Content-Length: %zu\r\n\r\n", body.len);
	else
		buf_adds(b, framing == 1 ? "Transfer-Encoding: chunked\r\n\r\n"
					 : "\r\n");
	while (framing == 1 && body.len != 0) {
		n = 1 + rnd(rnd(4) == 0 ? 3 : 200);
		n = n < body.len ? n : body.len;
		buf_printf(b, "%zx\r\n", n);
		buf_add(b, body.p, n);
		buf_adds(b, "\r\n");
		body = span_of(body.p + n, body.len - n);
	}
	if (framing == 1)
		buf_adds(b, "0\r\n\r\n");
	else
		buf_addspan(b, body);
}

/*
 * Compose an answer with the form at this place; `body` receives its decoded
 * body.
 */
static void
text_compose(struct buf *b, struct buf *body, enum place place,
    const char *form, unsigned framing)
{
	buf_reset(b, 0);
	buf_reset(body, 0);
	text_filler(body);
	if (place == IN_BODY)
		buf_adds(body, form);
	text_filler(body);
	if (place == IN_INTERIM)
		buf_printf(
		    b, "HTTP/1.1 103 Early Hints\r\nLink: <%s>\r\n\r\n", form);
	buf_printf(b, "HTTP/1.1 200 %s\r\n", place == IN_REASON ? form : "OK");
	buf_adds(b, "content-type: text/event-stream\r\n");
	if (place == IN_LISTED)
		buf_printf(b, "X-A-Echo: a %s b\r\n", form);
	if (place == IN_DROPPED)
		buf_printf(b, "Set-Cookie: k=%s; path=/\r\n", form);
	if (place == IN_NAME)
		buf_printf(b, "%s: x\r\n", form);
	text_framed(b, buf_span(body), framing);
}

/* Feed split at up to 8 places, or byte by byte. The frames are in `out`. */
static enum reply_result
feed(struct span s, struct buf *out)
{
	enum reply_result r = REPLY_MORE;
	bool bytes = rnd(8) == 0;
	size_t n;

	reply_free(&reply);
	reply_init(&reply, 3, false);
	buf_reset(out, 0);
	while (s.len != 0 && r != REPLY_FAIL) {
		n = bytes ? 1 : 1 + rnd((unsigned)s.len);
		r = reply_feed(&reply, provider, &scrub, span_of(s.p, n), out);
		s = span_of(s.p + n, s.len - n);
	}
	return r == REPLY_MORE ? reply_eof(&reply, true, out) : r;
}

/* Join the payloads of the BODY frames. */
static void
frames_body(struct span frames, struct buf *body)
{
	struct stream_frame f;

	buf_reset(body, 0);
	while (frames.len >= STREAM_HEADER) {
		stream_unpack(frames.p, &f);
		if (f.type == STREAM_BODY)
			buf_add(body, frames.p + STREAM_HEADER, f.len);
		frames.p += STREAM_HEADER + f.len;
		frames.len -= STREAM_HEADER + f.len;
	}
}

/* A header's name can contain only some characters of the forms. */
static bool
placeable(enum place place, const char *form)
{
	if (place != IN_NAME)
		return true;
	for (const char *p = form; *p != '\0'; p++) {
		if (strchr("\"\\/=?<>", *p) != NULL)
			return false;
	}
	return true;
}

struct counts {
	size_t placed, missed, leaked, alike, harmed, other;
};

static void
place_one(const char *form, struct counts *c, struct buf bufs[4])
{
	struct buf *text = &bufs[0], *body = &bufs[1], *out = &bufs[2],
		   *got = &bufs[3];
	enum place place = (enum place)rnd(IN_BODY + 4);
	char alike[FORM_MAX];
	size_t at, most, len = strlen(form);
	unsigned framing = rnd(3);

	if (place > IN_BODY)
		place = IN_BODY;
	if (!placeable(place, form))
		place = IN_BODY;
	text_compose(text, body, place, form, framing);
	c->placed++;
	if (feed(buf_span(text), out) != REPLY_FAIL ||
	    reply.fail != KEYD_FAIL_REFLECTED)
		c->missed++;
	frames_body(buf_span(out), got);
	/*
	 * The text before the form, and less than SCRUB_HOLD characters of it.
	 */
	most = 0;
	if (place == IN_BODY)
		most = (size_t)((const uint8_t *)memmem(
				    buf_span(body).p, body->len, form, len) -
				buf_span(body).p) +
		       6 * (SCRUB_HOLD - 1); /* \u002d is one character */
	c->leaked += got->len > most;
	memcpy(alike, form, len + 1);
	for (at = rnd(SCRUB_WINDOW / 2); at < len; at += SCRUB_WINDOW / 2)
		alike[at] = alike[at] == 'j' ? 'k' : 'j';
	if (scrub_find(&scrub, span_of(alike, len))) {
		c->other++; /* this is another of the key's forms */
		return;
	}
	text_compose(text, body, place, alike, framing);
	if (scrub_find(&scrub, buf_span(body)) ||
	    scrub_find(&scrub, buf_span(text))) {
		c->other++;
		return;
	}
	c->alike++;
	if (feed(buf_span(text), out) != REPLY_DONE) {
		c->harmed++;
		return;
	}
	frames_body(buf_span(out), got);
	c->harmed += !span_eq(buf_span(got), buf_span(body));
}

/* ---- large answers, whose pieces go to mitmd in slots */

#define SLOT_TRIALS 200U
#define SLOT_TEXT (3U * ARENA_SLOT)

static struct loop loop;
static struct arena keyd, mitmd;

static struct arena_shared *
slots_memory(void)
{
	void *p = mmap(NULL, ARENA_MAP, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

/* Join what mitmd reads, and give the slots back. */
static void
slots_read(struct span frames, struct buf *got)
{
	static uint8_t bytes[ARENA_SLOT];
	struct arena_piece piece;
	struct stream_frame f;

	for (; frames.len != 0;
	     frames = span_of(frames.p + STREAM_HEADER + f.len,
		 frames.len - STREAM_HEADER - f.len)) {
		if (stream_unpack(frames.p, &f) == -1)
			exit(1);
		if (f.type == STREAM_BODY)
			buf_add(got, frames.p + STREAM_HEADER, f.len);
		if (f.type != STREAM_AT)
			continue;
		if (stream_at_unpack(frames.p + STREAM_HEADER, &piece) == -1 ||
		    !arena_copy(&mitmd, &piece, 0, bytes, piece.len))
			exit(1);
		buf_add(got, bytes, piece.len);
		arena_done(&mitmd, &piece);
	}
}

/* Answer with `text`, in pieces as TLS gives them. */
static enum reply_result
slots_feed(struct span text, struct buf *out, struct buf *got)
{
	struct reply_slot slot = {&keyd, 1, NULL, {0}};
	enum reply_result r = REPLY_MORE;
	size_t n;

	reply_free(&reply);
	reply_init(&reply, 3, false);
	buf_reset(got, 0);
	while (text.len != 0 && r == REPLY_MORE) {
		buf_reset(out, 0);
		reply.slot = &slot;
		for (unsigned i = rnd(12); text.len != 0 && r == REPLY_MORE;
		     i--) {
			n = rnd(3) == 0 ? 1 + rnd(16384) : 16384;
			n = n < text.len ? n : text.len;
			r = reply_feed(
			    &reply, provider, &scrub, span_of(text.p, n), out);
			text = span_of(text.p + n, text.len - n);
			if (i == 0)
				break;
		}
		if (reply_slot_end(&reply, out) == -1)
			exit(1);
		slots_read(buf_span(out), got);
	}
	return r;
}

/* Returns true if any slot has the first SCRUB_WINDOW characters of the key. */
static bool
slots_have(const char *key)
{
	return memmem(keyd.mine->slot, sizeof(keyd.mine->slot), key,
		   SCRUB_WINDOW) != NULL;
}

static void
slots_one(const char *key, struct counts *c, struct buf *out, struct buf *got)
{
	static char text[SLOT_TEXT + 512];
	size_t head, at, len = strlen(key);
	struct span body;

	head = (size_t)snprintf(text, sizeof(text),
	    "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n", SLOT_TEXT);
	memset(text + head, 'n', SLOT_TEXT);
	at = head + rnd(SLOT_TEXT - (unsigned)len);
	/* Most are at the end of a slot. */
	if (rnd(4) != 0)
		at = head + (1 + rnd(2)) * ARENA_SLOT - rnd((unsigned)len);
	memcpy(text + at, key, len);
	c->placed++;
	if (slots_feed(span_of((uint8_t *)text, head + SLOT_TEXT), out, got) !=
		REPLY_FAIL ||
	    reply.fail != KEYD_FAIL_REFLECTED)
		c->missed++;
	c->leaked += slots_have(key) || got->len > at - head + SCRUB_HOLD - 1;
	text[at + 10] = text[at + 10] == 'j' ? 'k' : 'j';
	text[at + 25] = text[at + 25] == 'j' ? 'k' : 'j';
	for (size_t i = at + 40; i < at + len; i += 10)
		text[i] = text[i] == 'j' ? 'k' : 'j';
	body = span_of((uint8_t *)text + head, SLOT_TEXT);
	c->harmed += slots_feed(span_of((uint8_t *)text, head + SLOT_TEXT),
			 out, got) != REPLY_DONE ||
		     !span_eq(buf_span(got), body);
}

static void
test_slots(void)
{
	struct arena_shared *a = slots_memory(), *b = slots_memory();
	struct span key = span_str(keys[0]);
	struct counts c = {0, 0, 0, 0, 0, 0};
	struct buf out, got;

	buf_init(&out, 1U << 20);
	buf_init(&got, 1U << 20);
	if (loop_init(&loop, 1) == -1 ||
	    scrub_build(&scrub, &key, 1, mem, sizeof(mem)) == -1)
		exit(1);
	arena_init(&keyd, &loop, a, b);
	arena_init(&mitmd, &loop, b, a);
	for (unsigned i = 0; i < SLOT_TRIALS; i++)
		slots_one(keys[0], &c, &out, &got);
	is_int(c.missed, 0, "%zu large answers: all are called reflected",
	    c.placed);
	is_int(c.leaked, 0, "no slot ever has it, and nothing of it gets out");
	is_int(c.harmed, 0, "look-alikes pass unharmed");
	ok(keyd.slots[0].round > SLOT_TRIALS, "by way of slots");
	arena_stop(&keyd);
	buf_free(&out);
	buf_free(&got);
}

int
main(void)
{
	static char forms[FORMS_MAX][FORM_MAX];
	size_t n, per, nkeys = nitems(keys);
	struct counts c = {0, 0, 0, 0, 0, 0};
	struct buf bufs[4];
	struct span key;
	char err[256];

	if ((provider = provider_parse(SPAN(file), err, sizeof(err))) == NULL)
		return 1;
	for (unsigned i = 0; i < 4; i++)
		buf_init(&bufs[i], TEXT_MAX);
	reply_init(&reply, 3, false);
	for (size_t k = 0; k < nkeys; k++) {
		key = span_str(keys[k]);
		if (scrub_build(&scrub, &key, 1, mem, sizeof(mem)) == -1)
			return 1;
		n = key_forms(keys[k], forms);
		per = PLACEMENTS / nkeys / n + 1;
		for (size_t f = 0; f < n; f++) {
			for (size_t i = 0; i < per; i++)
				place_one(forms[f], &c, bufs);
		}
	}
	ok(c.placed >= PLACEMENTS, "%zu placements", c.placed);
	is_int(c.missed, 0, "all are called reflected");
	is_int(c.leaked, 0, "and nothing of one gets out");
	ok(c.alike > PLACEMENTS / 2, "%zu look-alikes", c.alike);
	is_int(c.harmed, 0, "pass unharmed");
	test_slots();
	for (unsigned i = 0; i < 4; i++)
		buf_free(&bufs[i]);
	reply_free(&reply);
	provider_free(provider);
	return tap_done();
}
