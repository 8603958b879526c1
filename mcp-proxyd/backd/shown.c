/* SPDX-License-Identifier: ISC */
/*
 * A server's text as people and the session's log see it: printable, and
 * without the secrets that the log must not have. A private key on stderr goes
 * over several lines, of which each comes alone.
 */
#include "backd/backd.h"

#include "common/log.h"

#define SHOWN_TEXT 4096U /* more is not shown anywhere */
#define SHOWN_KEY 200U   /* lines of a private key */

const char *
backd_show(struct backd *b, struct span s, char *dst, size_t cap)
{
	uint8_t text[SHOWN_TEXT + SHOWN_TEXT / 4];
	bool changed = false;
	size_t len;

	if (!b->mask)
		return log_vis(s, dst, cap);
	if (s.len > SHOWN_TEXT)
		s.len = SHOWN_TEXT;
	len = mask_text(s, b->known, NULL, &changed, NULL);
	if (!changed)
		return log_vis(s, dst, cap);
	if (len > sizeof(text))
		return log_vis(SPAN(MASK_HIDDEN), dst, cap);
	(void)mask_text(s, b->known, text, &changed, NULL);
	return log_vis(span_of(text, len), dst, cap);
}

static bool
has(struct span s, const char *word)
{
	return s.len != 0 && memmem(s.p, s.len, word, strlen(word)) != NULL;
}

const char *
backd_show_line(struct backd *b, struct span s, char *dst, size_t cap)
{
	const bool end = has(s, "END ") && has(s, "--");

	if (b->mask && b->in_key != 0) {
		b->in_key = end ? 0 : b->in_key - 1;
		if (!end)
			return log_vis(SPAN(MASK_HIDDEN), dst, cap);
	}
	if (has(s, "BEGIN ") && has(s, "PRIVATE KEY") && !end)
		b->in_key = SHOWN_KEY;
	return backd_show(b, s, dst, cap);
}

int
backd_on_known(struct chan *c, const struct msg_KNOWN *m)
{
	struct backd *b = chan_arg(c);
	struct mask_known_row r = {.len = m->len, .print = m->print};

	if (m->key.len != MASK_KEY || m->digest.len != MASK_DIGEST)
		return chan_violation(c, "KNOWN: lengths");
	memcpy(r.digest, m->digest.p, MASK_DIGEST);
	if (b->known == NULL && (b->known = mask_known_new(m->key.p)) == NULL)
		fatal("mask_known_new");
	if (!mask_known_keyed(b->known, m->key.p))
		return chan_violation(c, "KNOWN: another key");
	if (mask_known_add(b->known, &r) == -1)
		return chan_violation(c, "KNOWN: it cannot be added");
	return 0;
}
