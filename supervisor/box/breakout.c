/* SPDX-License-Identifier: ISC */
/*
 * Judges the break-out test. ic-bridge reports from inside the sandbox, before
 * anything of the agent has run there, on its connection (box/bridge.h). It is
 * told the number of attempts to make; its report must have this start's nonce
 * and exactly one record for each row of the table, in order. Anything else
 * counts as an escape.
 */
#include "box/breakout.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/breakout_server.h"
#include "box/bridge.h"
#include "box/containers/sidecar.h"
#include "box/sandbox.h"
#include "base/json_put.h"
#include "docker/bridge/attempts.h"
#include "core/sup.h"

/*
 * The test takes a few milliseconds. Nothing of the agent runs meanwhile, so
 * that a slow machine may take longer.
 */
#define BREAKOUT_MS 60000U
#define BREAKOUT_SHOWN 5U /* escapes that are named individually */

struct row {
	const char *what, *guard;
	bool counted;
	int want[ATTEMPT_ERRORS]; /* expected errors, 0 for success; or the
				     expected count */
};

static const struct row rows[ATTEMPT_COUNT] = {
#define A(name, what, guard, ...)                                              \
	[ATTEMPT_##name] = {what, guard, false, {__VA_ARGS__}},
    ATTEMPTS_REFUSED(A)
#undef A
#define A(name, what, guard, n) [ATTEMPT_##name] = {what, guard, true, {n}},
	ATTEMPTS_COUNTED(A)
#undef A
};

/* The further answers that are right in a container. */
static const struct {
	uint32_t attempt;
	unsigned engines;
	int want;
} further[] = {
#define E(name, engines, found) {ATTEMPT_##name, engines, found},
    ATTEMPTS_ENGINE(E)
#undef E
};

/* Attempts on what the sandbox of a server does not have. */
static const uint32_t not_in_server[] = {
#define N(name) ATTEMPT_##name,
    ATTEMPTS_NOT_IN_SERVER(N)
#undef N
};

static struct {
	struct loop_timer timer;
	int abstract; /* a socket that no sandbox may reach */
	uint8_t nonce[ATTEMPT_NONCE];
	struct attempt_ask ask;
	uint64_t began;
	struct attempt_record records[ATTEMPT_COUNT];
	bool inside, outside; /* halves that are still running */
	void (*passed)(void);
	struct breakout result;
} breakout_env = {.abstract = -1};

const struct breakout *
breakout_result(void)
{
	return &breakout_env.result;
}

struct json_object *
breakout_json(void)
{
	const struct breakout *test = &breakout_env.result;
	struct json_object *o;

	if (!test->passed)
		return NULL;
	o = json_object_new_object();
	put_int(o, "attempts", test->attempts);
	put_int(o, "outside", test->outside);
	put_digest(o, "table", test->table);
	return o;
}

void
breakout_free(void)
{
	loop_timer_clear(&sup.loop, &breakout_env.timer);
	outside_free();
	breakout_env.inside = breakout_env.outside = false;
	if (breakout_env.abstract != -1)
		close(breakout_env.abstract);
	breakout_env.abstract = -1;
}

/* Listen on an abstract socket: only programs of this network can reach it. */
static int
breakout_listen(struct attempt_ask *ask)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len;
	int fd;

	snprintf(ask->abstract, sizeof(ask->abstract), "ironcurtain-%08x%08x",
	    (unsigned)arc4random(), (unsigned)arc4random());
	len = strlen(ask->abstract);
	memcpy(sun.sun_path + 1, ask->abstract, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (bind(fd, (const struct sockaddr *)&sun,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			    len)) == -1 ||
	    listen(fd, 1) == -1) {
		close(fd);
		return -1;
	}
	breakout_env.abstract = fd;
	return 0;
}

/* Hash the table's text, which determines what was tested. */
static void
breakout_hash(uint8_t out[32])
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	for (size_t i = 0; i < ATTEMPT_COUNT; i++) {
		SHA256Update(&ctx, (const uint8_t *)rows[i].what,
		    strlen(rows[i].what) + 1);
		SHA256Update(
		    &ctx, (const uint8_t *)rows[i].want, sizeof(rows[i].want));
	}
	SHA256Update(&ctx, (const uint8_t *)further, sizeof(further));
	SHA256Final(out, &ctx);
}

/* The engine's bit of attempts.h, or 0. */
static unsigned
breakout_engine(void)
{
	return sup.opt.runtime == RUNTIME_DOCKER   ? IN_DOCKER
	       : sup.opt.runtime == RUNTIME_PODMAN ? IN_PODMAN
						   : 0;
}

static bool
breakout_holds_in(unsigned where, uint32_t attempt, int found)
{
	const int result = found == 0 ? ATTEMPT_SUCCESS : found;

	for (size_t i = 0; i < sizeof(further) / sizeof(further[0]); i++)
		if (further[i].attempt == attempt &&
		    (further[i].engines & where) != 0 &&
		    further[i].want == result)
			return true;
	return false;
}

static bool
breakout_not_in_server(uint32_t attempt)
{
	for (size_t i = 0; i < nitems(not_in_server); i++)
		if (not_in_server[i] == attempt)
			return true;
	return false;
}

static bool
breakout_holds(const struct row *row, int found)
{
	if (row->counted)
		return found == row->want[0];
	for (size_t i = 0; i < ATTEMPT_ERRORS; i++)
		if (row->want[i] != 0 && found == row->want[i])
			return true;
	return false;
}

/* Returns true if the record is of attempt `i`, and its answer is right. */
static bool
breakout_held(const struct attempt_record *r, uint32_t i, unsigned where)
{
	return r->number == i && (breakout_holds(&rows[i], r->found) ||
				     breakout_holds_in(where, i, r->found));
}

void
breakout_refuse(const char *why)
{
	sup_warn(
	    "the break-out test failed, so the agent is not started: %s", why);
	end_request(SUP_EXIT_OS, NULL, "the break-out test failed: %s", why);
}

/* Write the result of an attempt. Returns `dst`. */
static const char *
breakout_found(uint32_t i, char *dst, size_t cap)
{
	const struct attempt_record *r = &breakout_env.records[i];

	if (r->number != i)
		snprintf(dst, cap, "%s: no report", rows[i].what);
	else if (rows[i].counted)
		snprintf(dst, cap, "%s: %d instead of %d", rows[i].what,
		    r->found, rows[i].want[0]);
	else
		snprintf(dst, cap, "%s: %s", rows[i].what,
		    r->found == 0 ? "succeeded" : strerror(r->found));
	return dst;
}

/*
 * Returns true if the image, and no layer of the sandbox, is the reason: its
 * /tmp is closed to the user, so that no attempt can be made there.
 */
static bool
breakout_closed_tmp(void)
{
	/* The kernel looks at the directory first, and then for privileges. */
	return breakout_engine() != 0 &&
	       breakout_env.records[ATTEMPT_device].found == EACCES;
}

/* Log the attempts that succeeded, and put the first one in `why`. */
static void
breakout_judge(char *why, size_t cap)
{
	unsigned bad = 0;
	char found[128];

	if (breakout_closed_tmp()) {
		snprintf(why, cap,
		    "/tmp of image %.100s is closed to ordinary users. Add to its "
		    "Dockerfile: RUN chmod 1777 /tmp",
		    sandbox.image);
		return;
	}
	for (uint32_t i = 0; i < ATTEMPT_COUNT; i++) {
		const struct attempt_record *r = &breakout_env.records[i];

		if (breakout_held(r, i, breakout_engine()))
			continue;
		breakout_found(i, found, sizeof(found));
		if (bad++ == 0)
			snprintf(why, cap, "the sandbox lacks %s (%s)",
			    rows[i].guard, found);
		else if (bad <= BREAKOUT_SHOWN)
			sup_warn("break-out test: the sandbox lacks %s (%s)",
			    rows[i].guard, found);
	}
	if (bad > BREAKOUT_SHOWN)
		sup_warn("break-out test: %u attempts succeeded in all", bad);
}

/* The answer to an attempt, as a name: "EPERM", "succeeded", or a number. */
static void
breakout_put_found(struct json_object *o, bool counted, int found)
{
	const char *name = strerrorname_np(found);
	char text[16];

	snprintf(text, sizeof(text), "%d", found);
	put_str(o, "found",
	    counted ? text : found == 0 ? "succeeded" : name != NULL ? name : text);
}

static struct json_object *
breakout_records_json(const struct attempt_record *records, unsigned where)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct attempt_record *r;

	for (uint32_t i = 0; i < ATTEMPT_COUNT; i++) {
		r = &records[i];
		if (where == IN_SERVER && breakout_not_in_server(i))
			continue;
		o = json_object_new_object();
		put_str(o, "what", rows[i].what);
		put_str(o, "guard", rows[i].guard);
		breakout_put_found(o, rows[i].counted, r->found);
		put_bool(o, "held", breakout_held(r, i, where));
		json_object_array_add(list, o);
	}
	return list;
}

/* The same attempts in the sandbox of an MCP server. */
static struct json_object *
breakout_server_json(void)
{
	static struct attempt_record records[ATTEMPT_COUNT];
	struct fault fault = {""};

	if (breakout_server(&breakout_env.ask, records, &fault) == 0)
		return breakout_records_json(records, IN_SERVER);
	sup_warn("%s", fault.text);
	return NULL;
}

/* Write down every attempt, for --attack-only. */
static void
breakout_write(void)
{
	struct json_object *o;
	char *text;
	int n;

	if (!sup.opt.attack_only)
		return;
	o = json_object_new_object();
	put_str(o, "runtime", options_runtime_name(sup.opt.runtime));
	if (breakout_env.result.attempts != 0)
		json_object_object_add(o, "inside",
		    breakout_records_json(
			breakout_env.records, breakout_engine()));
	/* Servers are in bubblewrap, whatever the agent is in. */
	if (sup.opt.runtime == RUNTIME_BWRAP)
		json_object_object_add(o, "server", breakout_server_json());
	json_object_object_add(o, "outside", outside_json());
	n = asprintf(&text, "%s\n",
	    json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	if (n == -1 || session_write(sup.session.fd, "breakout.json", 0600,
			   span_str(text)) == -1)
		sup_warn("%s/breakout.json: %s", sup.session.dir,
		    strerror(errno));
	if (n != -1)
		free(text);
}

/* A half has ended: let the agent start after both. */
static void
breakout_next(void)
{
	if (breakout_env.inside || breakout_env.outside)
		return;
	breakout_env.result.passed = true;
	breakout_env.result.micros =
	    (unsigned)(clock_mono_us() - breakout_env.began);
	breakout_hash(breakout_env.result.table);
	breakout_write();
	breakout_free();
	breakout_env.passed();
}

static void
breakout_failed(const char *why)
{
	breakout_write();
	breakout_refuse(why);
	breakout_free();
}

static void
breakout_outside_over(unsigned attempts, const char *why)
{
	breakout_env.outside = false;
	breakout_env.result.outside = attempts;
	if (why[0] != '\0')
		breakout_failed(why);
	else
		breakout_next();
}

void
breakout_report(const uint8_t *report, size_t len, bool first)
{
	const size_t want = ATTEMPT_NONCE + sizeof(breakout_env.records);
	char why[256] = "";

	if (!breakout_env.inside)
		return;
	/* The sandbox is about to end; its exit status gives the reason. */
	if (len == 0)
		return;
	if (len != want) {
		snprintf(why, sizeof(why),
		    "the sandbox's report has %zu bytes instead of %zu", len,
		    want);
	} else if (memcmp(report, breakout_env.nonce, ATTEMPT_NONCE) != 0) {
		snprintf(why, sizeof(why),
		    "the sandbox's report is not of this start");
	} else {
		memcpy(breakout_env.records, report + ATTEMPT_NONCE,
		    sizeof(breakout_env.records));
		breakout_judge(why, sizeof(why));
	}
	if (why[0] == '\0' && !first)
		snprintf(why, sizeof(why),
		    "the sandbox lacks " ON_DUMPABLE
		    " (its report is not of process 1)");
	breakout_env.inside = false;
	breakout_env.result.attempts = ATTEMPT_COUNT;
	if (why[0] != '\0')
		breakout_failed(why);
	else
		breakout_next();
}

static void
breakout_late(struct loop_timer *t)
{
	breakout_failed("it did not end within a minute");
}

int
breakout_begin_outside(void (*passed)(void), struct fault *fault)
{
	breakout_env.passed = passed;
	breakout_env.began = clock_mono_us();
	loop_timer_set(
	    &sup.loop, &breakout_env.timer, BREAKOUT_MS, breakout_late, NULL);
	if (geteuid() == 0) {
		sup_note("break-out test: root may reach into every process; "
			 "the attempts from outside are left out");
		if (!breakout_env.inside)
			loop_timer_clear(&sup.loop, &breakout_env.timer);
		return 0;
	}
	breakout_env.outside = true;
	return outside_begin(breakout_outside_over, fault);
}

/* Say which objects must be mounted. */
static int
breakout_mounts(struct attempt_ask *ask, struct fault *fault)
{
	const int fds[ATTEMPT_MOUNTS - 1] = {sup.workspace, sup.session.home,
	    sup.session.sockets, sup.session.orientation};
	struct stat st;

	for (size_t i = 0; i < ATTEMPT_MOUNTS; i++) {
		if ((i < ATTEMPT_MOUNTS - 1 ? fstat(fds[i], &st)
					    : stat(sandbox.bridge, &st)) == -1)
			return fault_errno(fault, "the break-out test");
		ask->mounts[i].dev = st.st_dev;
		ask->mounts[i].ino = st.st_ino;
		if (i < ATTEMPT_MOUNTS - 1 && sup.opt.transport == TRANSPORT_TCP &&
		    fds[i] == sup.session.sockets)
			sidecar_place(
			    &ask->mounts[i].dev, &ask->mounts[i].ino);
	}
	return 0;
}

int
breakout_begin(void (*passed)(void), struct fault *fault)
{
	struct attempt_ask ask = {.count = ATTEMPT_COUNT,
	    .pid = (uint32_t)getpid(),
	    .uid = geteuid(),
	    .gid = getegid()};
	struct rlimit core;

	breakout_env.inside = true;
	if (getrlimit(RLIMIT_CORE, &core) == 0)
		ask.core = core.rlim_max != 0;
	if (!sup.config.limits.group_cpus)
		ask.cpus = limits_processors(&sup.config.limits);
	arc4random_buf(breakout_env.nonce, ATTEMPT_NONCE);
	memcpy(ask.nonce, breakout_env.nonce, ATTEMPT_NONCE);
	if (strlcpy(ask.session, sup.session.dir, ATTEMPT_PATH) >=
		ATTEMPT_PATH ||
	    strlcpy(ask.home, sup.paths.user_home, ATTEMPT_PATH) >=
		ATTEMPT_PATH)
		return fault_set(fault,
		    "the session directory's name is longer than %u bytes",
		    ATTEMPT_PATH - 1);
	if (breakout_mounts(&ask, fault) == -1)
		return -1;
	if (breakout_listen(&ask) == -1 ||
	    bridge_send(BRIDGE_PROBE, &ask, sizeof(ask)) == -1)
		return fault_errno(fault, "the break-out test");
	breakout_env.ask = ask;
	return breakout_begin_outside(passed, fault);
}
