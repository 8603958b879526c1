/* SPDX-License-Identifier: ISC */
/*
 * ic-mention: compares what a call touches with the person's message, for
 * icsupervisor (auto/compare.h), which starts it for one call. It gets texts on
 * its standard input, answers with one report, and can do nothing else. A call
 * that takes it over can have itself shown to the approver's model, with a
 * text.
 */
#include <stdlib.h>
#include <unistd.h>

#include "auto/compare.h"
#include "base/report.h"
#include "common/confine/confine.h"
#include "common/log.h"

/* clang-format off */
static const enum pledge_promise mention_promises[] = {
	PLEDGE_STDIO,		/* reads texts, writes a report */
};

static const struct confine mention_confine = {
	.limits = {
		.nofile = 3,
		.fsize = 0,
		.data = 16U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = mention_promises,
		.npromises = nitems(mention_promises),
	},
};
/* clang-format on */

static struct {
	struct span said, home;
	struct mention_thing things[MENTION_MAX_THINGS];
	size_t n;
} mention;

/* Take a part of the last thing. Returns false if there is none. */
static bool
mention_part(int letter, struct span s)
{
	struct mention_thing *t;

	if (mention.n == 0)
		return false;
	t = &mention.things[mention.n - 1];
	switch (letter) {
	case COMPARE_VALUE:
		t->value = s;
		return true;
	case COMPARE_HOST:
		t->host = s;
		return true;
	case COMPARE_PROGRAM_THERE:
		return t->program = true;
	default:
		return false;
	}
}

static void
mention_take(struct span job)
{
	const char *text;
	int letter;
	bool good;

	while (report_next(&job, &letter, &text)) {
		const struct span s = span_str(text);

		good = true;
		if (letter == COMPARE_SAID)
			mention.said = s;
		else if (letter == COMPARE_HOME)
			mention.home = s;
		else if (letter != COMPARE_ROLE)
			good = mention_part(letter, s);
		else if ((good = mention.n < MENTION_MAX_THINGS))
			mention.things[mention.n++].role = s;
		if (!good)
			fatalx("not a call");
	}
}

int
main(int argc, char **argv)
{
	static uint8_t job[COMPARE_JOB + 1];
	struct confine_state state;
	struct buf lines, b;
	struct span all;
	const char *why;

	(void)argv;
	confine_early();
	log_init(COMPARE_PROGRAM, false);
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	if (confine_apply(&mention_confine, &state) == -1)
		return 1;
	if (report_read(job, sizeof(job), &all) == -1)
		fatalx("the call cannot be read");
	mention_take(all);
	buf_init(&lines, PROTO_MAX_CONSIDERED + 1);
	why = mention_check(
	    mention.said, mention.home, mention.things, mention.n, &lines);
	buf_init(&b, PROTO_MAX_CONSIDERED + 256);
	if (why == NULL) {
		buf_addc(&lines, '\0');
		report_add(&b, COMPARE_NAMED, (const char *)buf_span(&lines).p);
	} else {
		report_add(&b, COMPARE_WHY, why);
	}
	report_add(&b, REPORT_END, "");
	if (buf_check(&lines) == -1 || buf_check(&b) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		return 1;
	buf_free(&lines);
	buf_free(&b);
	return 0;
}
