/* SPDX-License-Identifier: ISC */
/* Each answer is checked by its form; what it says is what ic-reader has read.
 */
#include "files/providers/facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "files/reader.h"

static bool
take_number(const char *text, uint64_t max, uint64_t *n)
{
	return span_u64(span_str(text), max, n) == 0;
}

/* Take a report about the last login. Returns false if it does not fit. */
static bool
take_login(struct provider_place *l, int letter, const char *text)
{
	const unsigned which = letter == FACTS_LOCK_FILE ? 1 : 0;

	switch (letter) {
	case FACTS_FILE:
		l->file = span_str(text);
		return true;
	case FACTS_LOGIN_SENTINEL:
		l->sentinel = span_str(text);
		return true;
	case FACTS_URL:
		l->url = span_str(text);
		return true;
	case FACTS_DIR:
		if (l->ndirs == PROVIDER_MAX_DIRS)
			return false;
		l->dirs[l->ndirs][0] = span_str(text);
		l->dirs[l->ndirs++][1] = span_str("");
		return true;
	case FACTS_BELOW:
		if (l->ndirs == 0)
			return false;
		l->dirs[l->ndirs - 1][1] = span_str(text);
		return true;
	case FACTS_LOCK_DIR:
	case FACTS_LOCK_FILE:
		if (l->nlocks[which] == PROVIDER_MAX_LOCKS)
			return false;
		l->locks[which][l->nlocks[which]++] = span_str(text);
		return true;
	default:
		return false;
	}
}

/* Take a report about the file. Returns false if it does not fit. */
static bool
take_report(struct facts *f, int letter, const char *text)
{
	struct provider_facts *to = &f->facts;
	uint64_t n;

	switch (letter) {
	case FACTS_NAME:
		to->name = span_str(text);
		return true;
	case FACTS_ENV:
		to->env = span_str(text);
		return true;
	case FACTS_SENTINEL:
		to->sentinel = span_str(text);
		return true;
	case FACTS_HOST:
		if (to->nhosts == nitems(f->hosts))
			return false;
		f->hosts[to->nhosts++] = span_str(text);
		return true;
	case FACTS_PART:
		if (f->nparts == PROVIDER_PARTS)
			return false;
		f->parts[f->nparts++] = span_str(text);
		return true;
	case FACTS_LOGIN:
		if (to->nlogins == PROVIDER_MAX_LOGINS)
			return false;
		f->logins[to->nlogins] =
		    (struct provider_place){.name = span_str(text)};
		to->logins[to->nlogins] = &f->logins[to->nlogins];
		to->nlogins++;
		return true;
	case FACTS_ROUTES:
		if (!take_number(text, UINT16_MAX, &n))
			return false;
		f->routes = (unsigned)n;
		return true;
	case FACTS_STEP:
		if (f->nsteps == FACTS_MAX_STEPS ||
		    !take_number(text, FACTS_MAX_STEPS - 1, &n))
			return false;
		f->steps[f->nsteps++] = (uint16_t)n;
		return true;
	case FACTS_MESSAGES:
		return f->messages = true;
	case FACTS_ANSWERS:
		return f->answers = true;
	default:
		return to->nlogins != 0 &&
		       take_login(&f->logins[to->nlogins - 1], letter, text);
	}
}

/* Take the whole answer. Returns as facts_read(). */
static int
take_answer(struct facts *f, char *err, size_t cap)
{
	struct span rest = buf_span(&f->text);
	const char *text;
	int letter;

	f->facts.hosts = f->hosts;
	while (report_next(&rest, &letter, &text)) {
		if (letter == FACTS_BAD) {
			(void)strlcpy(err, text, cap);
			return -1;
		}
		if (letter == REPORT_END && rest.len == 0 &&
		    (f->nparts == 0 || f->nparts == PROVIDER_PARTS)) {
			f->facts.parts = f->nparts == 0 ? NULL : f->parts;
			return 0;
		}
		if (letter == REPORT_END || !take_report(f, letter, text))
			break;
	}
	snprintf(err, cap, READER_PROGRAM ": the report is not valid");
	return -1;
}

int
facts_read(
    struct facts *f, struct span text, struct span model, char *err, size_t cap)
{
	const struct span parts[READER_PARTS] = {text, model};

	memset(f, 0, sizeof(*f));
	buf_init(&f->text, READER_MAX_ANSWER);
	if (reader_ask(READER_PROVIDER, parts, &f->text) == -1) {
		snprintf(err, cap, READER_PROGRAM ", which reads it: %s",
		    strerror(errno));
	} else if (take_answer(f, err, cap) == 0) {
		return 0;
	}
	facts_free(f);
	return -1;
}

void
facts_free(struct facts *f)
{
	buf_free(&f->text);
	memset(f, 0, sizeof(*f));
}
