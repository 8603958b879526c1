/* SPDX-License-Identifier: ISC */
/*
 * ic-report: adds up the records of one file of an audit log, or finds some.
 * Holds the file, open for reading, as standard input, a pipe to icctl as
 * standard output, and the mark to go on from as descriptor 3. The log contains
 * what agents wrote, so this program can do nothing else.
 */
#include "workers/report/parts.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/log.h"

#define REPORT_MARK_FD 3
#define REPORT_POOL (96U << 20)

/* clang-format off */
static const enum pledge_promise report_promises[] = {
	PLEDGE_STDIO,		/* maps the log, writes frames */
};

static const struct confine report_confine = {
	.limits = {
		.nofile = 4,
		.fsize = 0,
		.data = 256U << 20,	/* a record as a tree, and a frame */
		.memlock = 0,
	},
	.pledge = {
		.promises = report_promises,
		.npromises = nitems(report_promises),
	},
};
/* clang-format on */

static struct {
	struct report_how how;
	struct report_filter filter;
	bool records;
	struct report_end end;
	struct buf out;
} report_env = {.out = {.max = REPORT_FRAME + 65536}};

static void
report_write(void)
{
	if (span_write(STDOUT_FILENO, buf_span(&report_env.out)) == -1)
		exit(1);
	buf_reset(&report_env.out, 1U << 20);
}

static void
main_put(enum report_kind kind, struct span a, struct span b)
{
	struct report_head head = {(uint32_t)kind, (uint32_t)(a.len + b.len)};

	buf_add(&report_env.out, &head, sizeof(head));
	buf_addspan(&report_env.out, a);
	buf_addspan(&report_env.out, b);
	if (report_env.out.failed)
		fatalx("a record is too long");
	if (report_env.out.len >= 65536 || kind == REPORT_END)
		report_write();
}

static int64_t
seconds(const char *text)
{
	uint64_t n;

	if (span_u64(span_str(text), INT64_MAX, &n) == -1)
		fatalx("%s: not a number", text);
	return (int64_t)n;
}

static bool
take_filter(const char *key, const char *value)
{
	struct report_filter *f = &report_env.filter;

	if (strcmp(key, "text") == 0)
		f->text = span_str(value);
	else if (strcmp(key, "tool") == 0)
		f->tool = value;
	else if (strcmp(key, "server") == 0)
		f->server = value;
	else if (strcmp(key, "host") == 0)
		f->host = value;
	else if (strcmp(key, "decision") == 0)
		f->decision = value;
	else if (strcmp(key, "event") == 0)
		f->event = value;
	else if (strcmp(key, "since") == 0)
		f->since = seconds(value);
	else if (strcmp(key, "until") == 0)
		f->until = seconds(value);
	else
		return false;
	return true;
}

/* Take "fold" or "records", and KEY=VALUE. */
static void
take_arguments(int argc, char **argv)
{
	char *value;

	if (argc < 2 ||
	    (strcmp(argv[1], "fold") != 0 && strcmp(argv[1], "records") != 0))
		fatalx("usage: ic-report fold|records [KEY=VALUE]... <LOG");
	report_env.records = strcmp(argv[1], "records") == 0;
	report_env.how.verify = true;
	for (int i = 2; i < argc; i++) {
		if ((value = strchr(argv[i], '=')) == NULL)
			fatalx("%s: not KEY=VALUE", argv[i]);
		*value++ = '\0';
		if (strcmp(argv[i], "last") == 0)
			report_env.how.last = strcmp(value, "1") == 0;
		else if (strcmp(argv[i], "verify") == 0)
			report_env.how.verify = strcmp(value, "1") == 0;
		else if (strcmp(argv[i], "json") == 0)
			report_env.filter.json = strcmp(value, "1") == 0;
		else if (strcmp(argv[i], "brief") == 0)
			report_env.filter.brief = strcmp(value, "1") == 0;
		else if (!take_filter(argv[i], value))
			fatalx("%s: not an argument", argv[i]);
	}
}

/* Read the mark that icctl wrote. */
static void
take_mark(void)
{
	struct report_mark *m = &report_env.end.mark;
	size_t len = 0;
	ssize_t n;

	do {
		n = read(REPORT_MARK_FD, (uint8_t *)m + len, sizeof(*m) - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 && len < sizeof(*m));
	if (len != sizeof(*m) || m->npending > REPORT_PENDING)
		fatalx("no mark");
	/* It may come from a file that anybody could have edited. */
	for (uint64_t i = 0; i < m->npending; i++)
		m->pending[i].model[REPORT_MODEL - 1] = '\0';
	m->recent.model[REPORT_MODEL - 1] = '\0';
}

int
main(int argc, char **argv)
{
	struct confine_state state;
	struct value_pool *pool;
	struct span all = {NULL, 0};
	struct stat st;
	void *p;

	confine_early();
	log_init("ic-report", false);
	take_arguments(argc, argv);
	if (fstat(STDIN_FILENO, &st) == -1)
		fatal("the log");
	if (confine_apply(&report_confine, &state) == -1)
		return 1;
	report_sink = main_put;
	take_mark();
	if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		    STDIN_FILENO, 0);
		if (p == MAP_FAILED)
			fatal("mmap");
		all = span_of(p, (size_t)st.st_size);
	}
	if ((pool = value_pool_new(REPORT_POOL)) == NULL)
		fatal("memory");
	if (report_env.records)
		report_records(all, &report_env.filter, pool, &report_env.end);
	else
		report_fold(all, &report_env.how, pool, &report_env.end);
	report_put(REPORT_END, span_of(&report_env.end, sizeof(report_env.end)),
	    SPAN(""));
	return 0;
}
