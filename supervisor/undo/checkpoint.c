/* SPDX-License-Identifier: ISC */
/* Starts ic-snap for checkpoints, one after the other, and takes reports. */
#include "undo/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/read_until.h"
#include "common/json/json.h"
#include "common/json/value.h"
#include "common/sha256.h"
#include "core/sup.h"
#include "hub/control.h"
#include "undo/run.h"

#define CHECKPOINT_QUEUE 8U
/* A turn waits this long for its checkpoint. */
#define CHECKPOINT_TURN_MS 2000U
#define CHECKPOINT_END_MS 2000U

static const char *const kinds[] = {
    "start", "turn", "turn", "after", "named", "undo", "end"};

struct wanted {
	enum checkpoint_kind kind;
	uint32_t ticket, turn, to;
	uint64_t deadline;
	char name[65];
};

static struct {
	bool on;
	int tree, store;
	struct undo_run run;
	struct loop_io io;
	struct wanted queue[CHECKPOINT_QUEUE]; /* the first one runs */
	unsigned n;
	uint32_t tickets;
	struct snap_report report;
	size_t len;
	/* The turn that waits. */
	uint32_t waits;
	void (*go)(void);
	struct loop_timer timer;
	void (*done)(uint32_t ticket, struct json_object *report);
	char notice[256];
	/* Why the first one could not be started. */
	struct loop_timer failed;
	char why[SNAP_WHY];
	/* The last one, for `icctl status`. */
	struct json_object *last;
	bool told;
} undo_env = {
    .tree = -1, .store = -1, .run = UNDO_RUN_INIT, .io = LOOP_IO_INIT};

static void undo_next(void);

bool
undo_on(void)
{
	return undo_env.on;
}

/* The turn that waited begins. */
static void
undo_go(void)
{
	void (*go)(void) = undo_env.go;

	loop_timer_clear(&sup.loop, &undo_env.timer);
	undo_env.waits = 0;
	undo_env.go = NULL;
	if (go != NULL)
		go();
}

static void
undo_late(struct loop_timer *t)
{
	undo_go();
}

/* Compose the record of it; its members are in the order of their names. */
static struct value *
undo_detail(
    struct value_pool **p, const struct wanted *w, const struct snap_report *r)
{
	struct value *o = event_open(p);
	char hex[SHA256_HEX];

	if (o == NULL)
		return NULL;
	event_put_number(*p, o, "bytes", (int64_t)r->added);
	event_put_number(*p, o, "checkpoint", r->number);
	event_put_number(*p, o, "files", r->files);
	if (o != NULL)
		(void)value_set(o, SPAN("late"),
		    value_new(*p, r->late != 0 ? VALUE_TRUE : VALUE_FALSE));
	event_put_number(*p, o, "leftOut", r->left);
	event_put_number(*p, o, "loose", r->loose);
	if (r->number != 0)
		event_put_text(*p, o, "manifest", sha256_hex(r->sum, hex));
	event_put_text(*p, o, "of", kinds[w->kind]);
	event_put_number(*p, o, "turn", w->turn);
	if (r->why[0] != '\0')
		event_put_text(*p, o, "why", r->why);
	return o;
}

/* Record it, unless nothing has changed. Returns it as JSON, or NULL. */
static struct json_object *
undo_report(const struct wanted *w, const struct snap_report *r)
{
	struct value_pool *p;
	struct value *detail = undo_detail(&p, w, r);
	struct json_object *o = NULL;
	struct buf b;

	buf_init(&b, 1U << 16);
	if (detail != NULL && json_write(&b, detail) == 0) {
		buf_addc(&b, '\0');
		o = json_tokener_parse((const char *)buf_span(&b).p);
	}
	buf_free(&b);
	if (o != NULL)
		put_int(o, "store", (int64_t)r->store);
	if (detail != NULL && r->same == 0)
		event_close("checkpoint", p, detail);
	else
		value_pool_free(p);
	return o;
}

static void
undo_over(const struct snap_report *r)
{
	const struct wanted w = undo_env.queue[0];
	struct json_object *o = undo_report(&w, r);

	undo_env.n--;
	memmove(undo_env.queue, undo_env.queue + 1,
	    undo_env.n * sizeof(undo_env.queue[0]));
	if (r->why[0] != '\0' && !undo_env.told)
		sup_warn("undo: this checkpoint was not made: %s", r->why);
	undo_env.told = r->why[0] != '\0';
	if (r->same == 0) {
		json_object_put(undo_env.last);
		undo_env.last = json_object_get(o);
	}
	if (undo_env.done != NULL)
		undo_env.done(w.ticket, o);
	json_object_put(o);
	if (undo_env.waits == w.ticket)
		undo_go();
	undo_next();
}

static void
undo_failed(const char *why)
{
	struct snap_report r;

	memset(&r, 0, sizeof(r));
	(void)strlcpy(r.why, why, sizeof(r.why));
	undo_over(&r);
}

/* A failure is told from the loop, when the caller knows its ticket. */
static void
undo_failing(struct loop_timer *t)
{
	undo_failed(undo_env.why);
}

static void
undo_fail(const char *why)
{
	snprintf(undo_env.why, sizeof(undo_env.why), "%.190s", why);
	loop_timer_set(&sup.loop, &undo_env.failed, 0, undo_failing, NULL);
}

/* Returns true if the report is one that ic-snap can have written. */
static bool
undo_report_ok(struct snap_report *r)
{
	if (memchr(r->why, '\0', sizeof(r->why)) == NULL ||
	    !utf8_valid(span_str(r->why)) || r->added > INT64_MAX ||
	    r->store > INT64_MAX)
		return false;
	return (r->number == 0) == (r->why[0] != '\0');
}

static void
undo_read(struct loop_io *io, uint32_t events)
{
	ssize_t n;

	n = read(io->fd, (uint8_t *)&undo_env.report + undo_env.len,
	    sizeof(undo_env.report) - undo_env.len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && undo_env.len + (size_t)n < sizeof(undo_env.report)) {
		undo_env.len += (size_t)n;
		return;
	}
	undo_env.len += n > 0 ? (size_t)n : 0;
	loop_del(&sup.loop, &undo_env.io);
	undo_stop(&undo_env.run);
	if (undo_env.len == sizeof(undo_env.report) &&
	    undo_report_ok(&undo_env.report))
		undo_over(&undo_env.report);
	else
		undo_failed("ic-snap ended early");
}

static int
undo_spawn(const struct wanted *w, struct fault *fault)
{
	static struct undo_words words;
	int rv;

	undo_words_init(&words, "save");
	undo_word(&words, "session", sup.session.id);
	undo_word(&words, "kind", kinds[w->kind]);
	undo_word(&words, "name", w->name);
	undo_word_number(&words, "turn", w->turn);
	undo_word_number(&words, "undoes", w->to);
	undo_word_number(&words, "deadline", w->deadline);
	undo_word_number(&words, "once", w->kind == CHECKPOINT_ENTER);
	undo_word_limits(&words, &sup.config.undo);
	undo_env.len = 0;
	rv = undo_start(&undo_env.run, sup.paths.libexecdir, undo_env.tree,
	    undo_env.store, &words, fault);
	undo_words_free(&words);
	return rv;
}

/* Start the first of those that wait. */
static void
undo_next(void)
{
	struct fault fault;

	if (undo_env.n == 0 || undo_env.run.out != -1)
		return;
	if (undo_spawn(&undo_env.queue[0], &fault) == -1) {
		undo_fail(fault.text);
		return;
	}
	if (fcntl(undo_env.run.out, F_SETFL, O_NONBLOCK) == -1 ||
	    loop_add(&sup.loop, &undo_env.io, undo_env.run.out, EPOLLIN,
		undo_read, NULL) == -1) {
		undo_stop(&undo_env.run);
		undo_fail("ic-snap cannot be watched");
	}
}

uint32_t
undo_checkpoint(
    enum checkpoint_kind kind, uint32_t turn, const char *name, uint32_t to)
{
	struct wanted *w;

	if (!undo_env.on || undo_env.n == CHECKPOINT_QUEUE)
		return 0;
	w = &undo_env.queue[undo_env.n++];
	*w = (struct wanted){
	    .kind = kind, .ticket = ++undo_env.tickets, .turn = turn, .to = to};
	if (kind <= CHECKPOINT_ENTER)
		w->deadline = clock_mono_us() + CHECKPOINT_TURN_MS * 1000ULL;
	(void)strlcpy(w->name, name, sizeof(w->name));
	if (undo_env.n == 1)
		undo_next();
	return undo_env.tickets;
}

bool
undo_before(uint32_t turn, void (*go)(void))
{
	uint32_t ticket = undo_checkpoint(CHECKPOINT_TURN, turn, "", 0);

	if (ticket == 0)
		return false;
	undo_env.waits = ticket;
	undo_env.go = go;
	loop_timer_set(
	    &sup.loop, &undo_env.timer, CHECKPOINT_TURN_MS, undo_late, NULL);
	return true;
}

void
undo_forget_turn(void)
{
	undo_env.go = NULL;
	undo_env.waits = 0;
	loop_timer_clear(&sup.loop, &undo_env.timer);
}

bool
undo_wanted(void)
{
	return sup.config.undo.on && !sup.read_only && sup.opt.trial == NULL &&
	       !sup.opt.policy_work && !sup.opt.check &&
	       sup.opt.runtime != RUNTIME_NONE;
}

void
undo_begin(
    uint32_t turn, void (*done)(uint32_t ticket, struct json_object *report))
{
	struct fault fault;

	if (!undo_wanted())
		return;
	undo_env.done = done;
	undo_env.tree =
	    openat(sup.workspace, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (undo_env.tree == -1)
		fault_errno(&fault, "%s", sup.workspace_path);
	else
		undo_env.store = undo_store(
		    sup.paths.home, sup.workspace_path, true, &fault);
	if (undo_env.store == -1) {
		sup_warn("undo: no checkpoints are made: %s", fault.text);
		return;
	}
	undo_env.on = true;
	(void)undo_checkpoint(CHECKPOINT_START, turn, "", 0);
}

void
undo_end(uint32_t turn)
{
	const struct wanted w = {.kind = CHECKPOINT_END, .turn = turn};
	struct fault fault;

	if (!undo_env.on)
		return;
	undo_env.on = false;
	undo_forget_turn();
	loop_timer_clear(&sup.loop, &undo_env.failed);
	if (undo_env.run.out != -1)
		loop_del(&sup.loop, &undo_env.io);
	undo_stop(&undo_env.run);
	if (undo_spawn(&w, &fault) == 0)
		(void)read_until(undo_env.run.out, &undo_env.report,
		    sizeof(undo_env.report), CHECKPOINT_END_MS, &undo_env.len);
	undo_stop(&undo_env.run);
	json_object_put(undo_env.last);
	undo_env.last = NULL;
	close(undo_env.tree);
	close(undo_env.store);
}

struct json_object *
undo_json(void)
{
	return undo_env.on ? json_object_get(undo_env.last) : NULL;
}

const char *
undo_notice(void)
{
	return undo_env.notice;
}

void
undo_notice_set(uint32_t turn, const char *what)
{
	snprintf(undo_env.notice, sizeof(undo_env.notice),
	    "[IronCurtain: files of the workspace were put back to how they "
	    "were %s%.100s. Read them again before you change them.]\n\n",
	    turn != 0 ? "before turn " : "", what);
}

void
undo_notice_told(void)
{
	undo_env.notice[0] = '\0';
}

bool
undo_runs(void)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (control_clients[i].fd != -1 && control_clients[i].undoes)
			return true;
	return false;
}
