/* SPDX-License-Identifier: ISC */
/*
 * Runs auditd with a compromised policyd, whose JSON goes into the log as it
 * is: a newline in it would forge a record; and with an mcp-backd that reports
 * ends of calls. argv[1]: auditd.
 */
#include "common/ipc/wire.h"
#include "tap.h"
#include "unit/ipc/worker_rig.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GOOD "{\"a\":1}"
#define FORGED "{\"a\":1}\n{\"event\":\"forged\"}"

static struct worker_rig rig;
static struct chan *policy, *back;
static char path[64];
static unsigned logged, counted, unasked;

static int
on_logged(struct chan *c, const struct msg_LOGGED *m)
{
	logged++;
	return 0;
}

static int
on_counts(struct chan *c, const struct msg_COUNTS *m)
{
	counted++;
	return 0;
}

static int
on_hold_show(struct chan *c, const struct msg_HOLD_SHOW *m)
{
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
on_unasked(struct chan *c, const struct msg_UNASKED *m)
{
	unasked += m->count;
	return 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(LOGGED,		on_logged),
	HANDLER(COUNTS,		on_counts),
	HANDLER(HOLD_SHOW,	on_hold_show),
	HANDLER(HOLD_END,	on_hold_end),
	HANDLER(ENDED,		on_ended),
	HANDLER(UNASKED,	on_unasked),
};
/* clang-format on */
static const struct chan_ops ops = {
    handlers, nitems(handlers), worker_rig_closed};

static void
start(const char *program)
{
	static const uint8_t none[32];
	struct msg_LOG log = {.seq = 1,
	    .prev = span_of(none, sizeof(none)),
	    .room = UINT64_MAX};
	struct msg_EVENT event = {.event = SPAN("start"), .detail = SPAN("{}")};
	struct msg_START go = {.proto_pad_ = 0};
	int fd;

	snprintf(path, sizeof(path), "/tmp/ic-lines-XXXXXX");
	if ((fd = mkostemp(path, O_APPEND | O_CLOEXEC)) == -1)
		err(1, "%s", path);
	logged = counted = unasked = 0;
	worker_rig_start(&rig, program, ROLE_AUDIT, &ops);
	policy = worker_rig_peer(&rig, ROLE_POLICY, 0);
	back = worker_rig_peer(&rig, ROLE_BACK, 0);
	chan_send(rig.sup, MSG_LOG, &log, fd);
	chan_send(rig.sup, MSG_EVENT, &event, -1);
	worker_rig_until(&rig, &logged, 1);
	chan_send(rig.sup, MSG_START, &go, -1);
	chan_phase(rig.sup, PHASE_RUN);
	chan_phase(policy, PHASE_RUN);
	chan_phase(back, PHASE_RUN);
}

/* Returns the number of lines, or 0 if one is forged. */
static unsigned
lines(void)
{
	char line[4096];
	unsigned n = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		n++;
		if (strncmp(line, "{\"event\":\"forged\"", 17) == 0) {
			fclose(f);
			return 0;
		}
	}
	fclose(f);
	return n;
}

static void
stop(void)
{
	chan_free(policy);
	chan_free(back);
	worker_rig_stop(&rig);
	unlink(path);
}

/*
 * Wait until the log has a second line, by one answer of auditd after the
 * other.
 */
static bool
second_line(void)
{
	struct msg_COUNTS_GET get = {.proto_pad_ = 0};

	while (!rig.lost && counted < 1000 && lines() < 2) {
		chan_send(rig.sup, MSG_COUNTS_GET, &get, -1);
		worker_rig_until(&rig, &counted, counted + 1);
	}
	return !rig.lost && lines() == 2;
}

/*
 * Send RELEASE: `json` is its arguments, or the text for the log in their
 * place.
 */
static void
release(struct span json, bool in_log)
{
	struct msg_RELEASE m = {.id = 1,
	    .server = PROTO_NO_SERVER,
	    .status = PROTO_DENY,
	    .tool = SPAN("t"),
	    .args_len = 2};
	char text[256];

	if (in_log) {
		snprintf(text, sizeof(text), "{}%.*s", (int)json.len,
		    (const char *)json.p);
		m.redacted = PROTO_REDACTED;
		m.log_off = 2;
		m.log_len = (uint32_t)json.len;
	} else {
		snprintf(text, sizeof(text), "%.*s", (int)json.len,
		    (const char *)json.p);
		m.args_len = (uint32_t)json.len;
	}
	m.payload = span_str(text);
	chan_send(policy, MSG_RELEASE, &m, -1);
}

static void
release_args(struct span json)
{
	release(json, false);
}

static void
release_log(struct span json)
{
	release(json, true);
}

static void
hold(struct span json)
{
	static const uint8_t digest[32];
	struct msg_HOLD m = {.id = 1,
	    .digest = span_of(digest, sizeof(digest)),
	    .server = PROTO_NO_SERVER,
	    .tool = SPAN("t"),
	    .session = json,
	    .args = 2,
	    .preview = SPAN("{}")};

	chan_send(policy, MSG_HOLD, &m, -1);
}

static void
asked(struct span json)
{
	static const uint8_t digest[32];
	struct msg_REQUEST_APPROVED m = {.id = 1,
	    .asked = 1,
	    .digest = span_of(digest, sizeof(digest)),
	    .preview = json};

	chan_send(policy, MSG_REQUEST_APPROVED, &m, -1);
}

static void
ask_no(struct span json)
{
	static const uint8_t digest[32];
	struct msg_REQUEST_UNAPPROVED m = {.id = 1,
	    .hold = PROTO_HOLD_DENIED,
	    .reason = PROTO_REFUSED_DENIED,
	    .tool = SPAN("t"),
	    .digest = span_of(digest, sizeof(digest)),
	    .preview = json};

	chan_send(policy, MSG_REQUEST_UNAPPROVED, &m, -1);
}

/*
 * Send `n` ends of calls in one message, without its last `cut` bytes. Each
 * has a status of its own, and the last one `status`.
 */
static void
dones(size_t n, uint8_t status, size_t cut)
{
	struct msg_DONE one = {.id = 7};
	uint8_t bytes[PROTO_MAX_DATAGRAM];
	struct msg_DONES m = {.each = span_of(bytes, 0)};
	struct span big;
	size_t len;

	for (size_t i = 0; i < n; i++) {
		(void)wire_encode(proto_find(MSG_DONE), &one,
		    bytes + m.each.len, &len, &big);
		is_int(len, PROTO_DONE_SIZE, "a DONE has its size");
		m.each.len += len;
	}
	/* Behind the header and the id. */
	bytes[m.each.len - PROTO_DONE_SIZE + WIRE_HEADER + 8] = status;
	m.each.len -= cut;
	chan_send(back, MSG_DONES, &m, -1);
}

static void
test_dones(const char *program)
{
	start(program);
	dones(PROTO_MAX_DONES, 1, 0);
	ok(worker_rig_until(&rig, &unasked, PROTO_MAX_DONES),
	    "each DONE of a DONES is handled");
	stop();
	start(program);
	dones(2, 2, 0);
	ok(worker_rig_until_true(&rig, &rig.lost),
	    "an impossible status in one of them is a violation");
	stop();
	start(program);
	dones(2, 0, 1);
	ok(worker_rig_until_true(&rig, &rig.lost),
	    "so is one that is cut short");
	stop();
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*send)(struct span json);
	} rows[] = {
	    {"RELEASE, the arguments", release_args},
	    {"RELEASE, what is logged", release_log},
	    {"HOLD, for the session", hold},
	    {"REQUEST_APPROVED, what was shown", asked},
	    {"REQUEST_UNAPPROVED, what was shown", ask_no},
	};

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < nitems(rows); i++) {
		start(argv[1]);
		rows[i].send(SPAN(GOOD));
		ok(second_line(), "%s: one line is good", rows[i].name);
		stop();
		start(argv[1]);
		rows[i].send(SPAN(FORGED));
		ok(worker_rig_until_true(&rig, &rig.lost),
		    "... with a newline in it policyd is not believed");
		is_int(lines(), 1, "... and nothing of it is in the log");
		stop();
	}
	test_dones(argv[1]);
	return tap_done();
}
