/* SPDX-License-Identifier: ISC */
#include "auto/compare.h"

#include <string.h>

#include "base/helper.h"
#include "base/report.h"
#include "core/sup.h"

static struct {
	struct helper helper;
	struct loop_io io;
	compare_fn *over; /* NULL: nothing is compared */
	char why[256], lines[PROTO_MAX_CONSIDERED + 1];
	bool told; /* the answer has come */
} compare = {.io = LOOP_IO_INIT};

void
compare_end(void)
{
	if (compare.over == NULL)
		return;
	loop_del(&sup.loop, &compare.io);
	helper_stop(&compare.helper);
	compare.over = NULL;
}

/* Take the answer: one report, and no other. */
static int
compare_take(int letter, const char *text, struct fault *fault)
{
	char *to = letter == COMPARE_WHY ? compare.why : compare.lines;
	const size_t cap =
	    letter == COMPARE_WHY ? sizeof(compare.why) : sizeof(compare.lines);

	if (!compare.told && text[0] != '\0' &&
	    (letter == COMPARE_WHY || letter == COMPARE_NAMED) &&
	    strlcpy(to, text, cap) < cap) {
		compare.told = true;
		return 0;
	}
	return fault_set(fault, COMPARE_PROGRAM ": the report is not valid");
}

static void
compare_report(struct loop_io *io, uint32_t events)
{
	compare_fn *const over = compare.over;
	struct fault fault;
	const char *why = NULL;
	int rv;

	(void)io;
	(void)events;
	if ((rv = helper_read(&compare.helper, &fault)) == 0)
		return;
	if (rv == -1)
		why = fault.text;
	else if (!compare.told)
		why = COMPARE_PROGRAM " has no answer";
	else if (compare.lines[0] == '\0')
		why = compare.why;
	compare_end();
	over(why, compare.lines);
}

/* Add a text. Returns false if it has a NUL, which would end it early. */
static bool
compare_add(struct buf *b, enum compare_report letter, struct span s)
{
	if (s.len != 0 && memchr(s.p, '\0', s.len) != NULL)
		return false;
	buf_addc(b, (uint8_t)letter);
	buf_addspan(b, s);
	buf_addc(b, '\0');
	return true;
}

static int
compare_job(struct buf *b, struct span said, const struct mention_thing *t,
    size_t n, struct fault *fault)
{
	bool good = compare_add(b, COMPARE_SAID, said) &&
		    compare_add(b, COMPARE_HOME, span_str(sup.paths.user_home));

	for (size_t i = 0; good && i < n; i++) {
		good = compare_add(b, COMPARE_ROLE, t[i].role) &&
		       compare_add(b, COMPARE_VALUE, t[i].value) &&
		       (t[i].host.p == NULL ||
			   compare_add(b, COMPARE_HOST, t[i].host));
		if (t[i].program)
			report_add(b, COMPARE_PROGRAM_THERE, "");
	}
	return good && buf_check(b) == 0
		   ? 0
		   : fault_set(fault, "a value of the call is too long, or has "
				      "control characters");
}

int
compare_begin(struct span said, const struct mention_thing *t, size_t n,
    compare_fn *over, struct fault *fault)
{
	static char *const envp[] = {NULL};
	struct buf job;
	int rv;

	compare_end();
	buf_init(&job, COMPARE_JOB);
	compare.helper = (struct helper){.libexecdir = sup.paths.libexecdir,
	    .name = COMPARE_PROGRAM,
	    .task = "call",
	    .job = &job,
	    .envp = envp,
	    .take = compare_take};
	compare.told = false;
	compare.why[0] = compare.lines[0] = '\0';
	rv = compare_job(&job, said, t, n, fault);
	if (rv == 0)
		rv = helper_start(&compare.helper, fault);
	buf_free(&job);
	if (rv == -1)
		return -1;
	if (loop_add(&sup.loop, &compare.io, compare.helper.out, EPOLLIN,
		compare_report, NULL) == -1) {
		helper_stop(&compare.helper);
		return fault_errno(fault, "epoll");
	}
	compare.over = over;
	return 0;
}
