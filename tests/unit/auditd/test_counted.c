/* SPDX-License-Identifier: ISC */
/*
 * Runs auditd with a policyd that refuses calls without end: which of them have
 * a record of their own, and what the log says of the others. argv[1]: auditd.
 */
#include "tap.h"
#include "unit/ipc/worker_rig.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WHOLE 20U

static struct worker_rig rig;
static struct chan *policy, *proxy, *mitm;
static char path[64], next[64];
static unsigned logged, answered, counted, full, taken, refused, denied;
/* Requests that mitmd refused, as auditd counts them, and how many there are.
 */
static unsigned hosts, wanted;
static uint64_t id;

static int
on_logged(struct chan *c, const struct msg_LOGGED *m)
{
	logged++;
	return 0;
}

static int
on_log_full(struct chan *c, const struct msg_LOG_FULL *m)
{
	full++;
	return 0;
}

static int
on_log_taken(struct chan *c, const struct msg_LOG_TAKEN *m)
{
	taken++;
	return 0;
}

static int
on_counts(struct chan *c, const struct msg_COUNTS *m)
{
	const struct msg_COUNTS_GET again = {.proto_pad_ = 0};

	denied = (unsigned)m->denied;
	hosts = (unsigned)m->refused;
	if (hosts < wanted)
		chan_send(c, MSG_COUNTS_GET, &again, -1);
	return 0;
}

static int
on_hold_end(struct chan *c, const struct msg_HOLD_END *m)
{
	return 0;
}

static int
on_ended(struct chan *c, const struct msg_ENDED *m)
{
	return 0;
}

static int
on_answer(struct chan *c, const struct msg_ANSWER *m)
{
	answered++;
	counted += m->counted;
	return 0;
}

static int
on_refused(struct chan *c, const struct msg_REFUSED *m)
{
	refused++;
	return 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(LOGGED,		on_logged),
	HANDLER(LOG_FULL,	on_log_full),
	HANDLER(LOG_TAKEN,	on_log_taken),
	HANDLER(COUNTS,		on_counts),
	HANDLER(HOLD_END,	on_hold_end),
	HANDLER(ENDED,		on_ended),
	HANDLER(ANSWER,		on_answer),
	HANDLER(REFUSED,	on_refused),
};
/* clang-format on */
static const struct chan_ops ops = {
    handlers, nitems(handlers), worker_rig_closed};

static int
log_new(char name[64])
{
	int fd;

	snprintf(name, 64, "/tmp/ic-counted-XXXXXX");
	if ((fd = mkostemp(name, O_APPEND | O_CLOEXEC)) == -1)
		err(1, "%s", name);
	return fd;
}

/* room: bytes after which auditd asks for another file. */
static void
start(const char *program, uint64_t room)
{
	static const uint8_t none[32];
	struct msg_LOG log = {
	    .seq = 1, .prev = span_of(none, sizeof(none)), .room = room};
	struct msg_EVENT event = {.event = SPAN("start"), .detail = SPAN("{}")};
	struct msg_START go = {.proto_pad_ = 0};

	logged = answered = counted = full = taken = refused = denied = 0;
	worker_rig_start(&rig, program, ROLE_AUDIT, &ops);
	policy = worker_rig_peer(&rig, ROLE_POLICY, 0);
	proxy = worker_rig_peer(&rig, ROLE_PROXY, 0);
	mitm = worker_rig_peer(&rig, ROLE_MITM, 0);
	chan_send(rig.sup, MSG_LOG, &log, log_new(path));
	chan_send(rig.sup, MSG_EVENT, &event, -1);
	worker_rig_until(&rig, &logged, 1);
	chan_send(rig.sup, MSG_START, &go, -1);
	chan_phase(rig.sup, PHASE_RUN);
	chan_phase(policy, PHASE_RUN);
	chan_phase(proxy, PHASE_RUN);
	chan_phase(mitm, PHASE_RUN);
}

static void
stop(void)
{
	chan_free(policy);
	chan_free(proxy);
	chan_free(mitm);
	worker_rig_stop(&rig);
	unlink(path);
}

/* The session ends: auditd writes all that it has counted. */
static void
end(void)
{
	struct msg_EVENT event = {.event = SPAN("stop"), .detail = SPAN("{}")};

	chan_send(rig.sup, MSG_EVENT, &event, -1);
	worker_rig_until_true(&rig, &rig.lost);
}

static void
refuse(const char *tool, const char *reason, enum proto_hold hold)
{
	struct msg_RELEASE m = {.id = ++id,
	    .server = PROTO_NO_SERVER,
	    .status = PROTO_DENY,
	    .hold = (uint8_t)hold,
	    .server_name = SPAN("s"),
	    .tool = span_str(tool),
	    .rule = SPAN("r"),
	    .reason = span_str(reason),
	    .payload = SPAN("{}"),
	    .args_len = 2};

	chan_send(policy, MSG_RELEASE, &m, -1);
}

/* Refuse `n` calls, and wait for their answers. */
static void
refuse_all(
    unsigned n, const char *tool, const char *reason, enum proto_hold hold)
{
	unsigned want = answered + n;

	for (unsigned i = 0; i < n; i++) {
		refuse(tool, reason, hold);
		/* No more at once than a session may have. */
		if (i % 100 == 99)
			worker_rig_until(&rig, &answered, want - n + i + 1);
	}
	ok(worker_rig_until(&rig, &answered, want), "%u calls are answered", n);
}

/*
 * Returns the number of lines with the text, and the sum of their counts if
 * `sum` is not NULL.
 */
static unsigned
lines(const char *name, const char *text, unsigned *sum)
{
	char line[8192];
	unsigned n = 0;
	const char *at;
	FILE *f;

	if ((f = fopen(name, "re")) == NULL)
		err(1, "%s", name);
	if (sum != NULL)
		*sum = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strstr(line, text) == NULL)
			continue;
		n++;
		if (sum != NULL && (at = strstr(line, "\"count\":")) != NULL)
			*sum += (unsigned)strtoul(at + 8, NULL, 10);
	}
	fclose(f);
	return n;
}

static void
test_kind(const char *program)
{
	struct msg_COUNTS_GET get = {.proto_pad_ = 0};
	unsigned sum;

	start(program, UINT64_MAX);
	refuse_all(500, "t", "not allowed", PROTO_HOLD_NONE);
	is_int(lines(path, "\"event\":\"call\"", NULL), WHOLE,
	    "the first 20 of a kind have a record");
	is_int(counted, 500 - WHOLE, "mcp-proxyd is told which were counted");
	refuse_all(WHOLE, "t", "another reason", PROTO_HOLD_NONE);
	refuse_all(WHOLE, "u", "not allowed", PROTO_HOLD_NONE);
	is_int(lines(path, "\"event\":\"call\"", NULL), 3 * WHOLE,
	    "another reason, or tool, is another kind");
	refuse_all(100, "t", "not allowed", PROTO_HOLD_CANCELLED);
	is_int(lines(path, "\"escalationResult\":\"cancelled\"", NULL), 100,
	    "calls that waited for a person are not counted");
	chan_send(rig.sup, MSG_COUNTS_GET, &get, -1);
	worker_rig_until(&rig, &denied, 500 + 2 * WHOLE + 100);
	is_int(denied, 500 + 2 * WHOLE + 100, "the total has all");
	end();
	(void)lines(path, "\"event\":\"refusedCalls\"", &sum);
	is_int(sum, 500 - WHOLE, "at the end all of them were counted");
	is_int(lines(path, "\"first\":\"20", NULL), 1, "in one line");
	is_int(lines(path,
		   "\"policyDecision\":{\"reason\":\"not allowed\","
		   "\"rule\":\"r\",\"status\":\"deny\"}",
		   NULL),
	    2 * WHOLE + 100 + 1, "with the decision");
	stop();
}

/* A line is written after a second, although nothing else happens. */
static void
test_second(const char *program)
{
	unsigned sum = 0, wait;

	start(program, UINT64_MAX);
	refuse_all(WHOLE + 5, "t", "no", PROTO_HOLD_NONE);
	/* Refusals of another kind tell that time passes. */
	for (wait = 0; wait < 600 && sum == 0; wait++) {
		(void)loop_once(&rig.loop, 50);
		(void)lines(path, "\"event\":\"refusedCalls\"", &sum);
	}
	is_int(sum, 5, "the count is written within a second");
	stop();
}

/* Each call is of a new kind. */
static void
test_kinds(const char *program)
{
	unsigned whole, sum, want = 0;
	char tool[16];

	start(program, UINT64_MAX);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(tool, sizeof(tool), "t%u", i);
		refuse(tool, "unknown", PROTO_HOLD_NONE);
		if (++want % 100 == 0)
			worker_rig_until(&rig, &answered, want);
	}
	end();
	whole = lines(path, "\"event\":\"call\"", NULL);
	ok(whole >= 64 && whole < 200, "the table of kinds is bounded (%u)",
	    whole);
	(void)lines(path, "\"others\":true", &sum);
	is_int(whole + sum, 2000, "and the others are counted together");
	stop();
}

static void
test_rotate(const char *program)
{
	struct msg_LOG_NEXT m = {.room = UINT64_MAX};
	unsigned sum;

	start(program, 2000);
	refuse_all(WHOLE + 7, "t", "no", PROTO_HOLD_NONE);
	worker_rig_until(&rig, &full, 1);
	chan_send(rig.sup, MSG_LOG_NEXT, &m, log_new(next));
	ok(worker_rig_until(&rig, &taken, 1), "another file is taken");
	(void)lines(path, "\"event\":\"refusedCalls\"", &sum);
	is_int(sum, 7, "the file before has counted what it has seen");
	refuse_all(3, "t", "no", PROTO_HOLD_NONE);
	end();
	(void)lines(next, "\"event\":\"refusedCalls\"", &sum);
	is_int(sum, 3, "and the new one what came later");
	unlink(next);
	stop();
}

/* Requests of the model path that nobody can be asked about. */
static void
test_requests(const char *program)
{
	static const uint8_t digest[32];
	struct msg_REQUEST_UNAPPROVED m = {.reason = PROTO_REFUSED_HEADLESS,
	    .name = SPAN("web"),
	    .tool = SPAN("POST https://a.test/"),
	    .digest = span_of(digest, sizeof(digest)),
	    .preview = SPAN("{}")};
	unsigned sum;

	start(program, UINT64_MAX);
	for (unsigned i = 0; i < 100; i++) {
		m.id = i + 1;
		chan_send(policy, MSG_REQUEST_UNAPPROVED, &m, -1);
	}
	ok(worker_rig_until(&rig, &refused, 100), "all requests are refused");
	end();
	is_int(lines(path, "\"event\":\"askRefused\"", NULL), WHOLE,
	    "the first ones have a record");
	(void)lines(path, "\"event\":\"refusedRequests\"", &sum);
	is_int(sum, 100 - WHOLE, "and the others are counted");
	stop();
}

/* Refusals of ever new hosts, which mitmd reports. */
static void
test_hosts(const char *program)
{
	struct msg_DENIED m = {.status = 403,
	    .code = SPAN("host"),
	    .method = SPAN("CONNECT"),
	    .target = SPAN("")};
	const struct msg_COUNTS_GET get = {.proto_pad_ = 0};
	unsigned n, sum;
	char host[32];

	start(program, UINT64_MAX);
	hosts = 0;
	wanted = 5000;
	for (unsigned i = 0; i < wanted; i++) {
		snprintf(host, sizeof(host), "n%u.test", i);
		m.host = span_str(host);
		chan_send(mitm, MSG_DENIED, &m, -1);
	}
	/* It is asked until it has counted all. */
	chan_send(rig.sup, MSG_COUNTS_GET, &get, -1);
	ok(worker_rig_until(&rig, &hosts, wanted), "all are counted");
	end();
	n = lines(path, "\"event\":\"refused\"", &sum);
	ok(n < 1000, "refusals of invented hosts share lines (%u)", n);
	ok(lines(path, "\"others\":true", NULL) != 0, "which say so");
	stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	test_kind(argv[1]);
	test_second(argv[1]);
	test_kinds(argv[1]);
	test_rotate(argv[1]);
	test_requests(argv[1]);
	test_hosts(argv[1]);
	return tap_done();
}
