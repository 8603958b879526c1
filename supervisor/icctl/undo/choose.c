/* SPDX-License-Identifier: ISC */
/* Chooses the checkpoint that comes back, and what is told apart from it. */
#include "icctl/undo/priv.h"

#include <err.h>
#include <string.h>

#include "common/plural.h"

static bool
of(const struct undo_record *r, const char *kind)
{
	return strcmp(r->kind, kind) == 0;
}

/* Returns true if the checkpoint is this session's and was made. */
static bool
mine(const struct undo *u, const struct undo_record *r)
{
	return r->sum[0] != '\0' && strcmp(r->session, u->session) == 0;
}

/* Returns the number of the last turn, or 0. */
static uint32_t
last_turn(const struct undo *u)
{
	uint32_t turn = 0;

	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->list[i].session, u->session) == 0 &&
		    of(&u->list[i], "turn"))
			turn = u->list[i].turn;
	return turn;
}

/* Find the newest checkpoint before that turn, best one that is not late. */
static const struct undo_record *
before_turn(const struct undo *u, uint32_t turn)
{
	const struct undo_record *late = NULL, *good = NULL, *r;

	for (size_t i = 0; i < u->n; i++) {
		r = &u->list[i];
		if (!mine(u, r) || r->turn != turn ||
		    (!of(r, "turn") && !of(r, "start")))
			continue;
		if (r->late)
			late = r;
		else
			good = r;
	}
	return good != NULL ? good : late;
}

/* Returns the newest one of that number or name, of any session. */
static const struct undo_record *
named(const struct undo *u, const char *name)
{
	const struct undo_record *found = NULL;
	uint64_t n;

	for (size_t i = 0; i < u->n; i++) {
		if (span_u64(span_str(name), UINT32_MAX, &n) == 0
			? u->list[i].number == n
			: name[0] != '\0' && strcmp(u->list[i].name, name) == 0)
			found = &u->list[i];
	}
	return found;
}

/*
 * List the states that the session itself left: after its last turn, and what
 * undos since then have put back. A session without turns has none, as long as
 * it runs.
 */
static void
choose_refs(struct undo *u)
{
	size_t at = u->n;

	for (size_t i = 0; i < u->n; i++) {
		if (!mine(u, &u->list[i]))
			continue;
		if (of(&u->list[i], "after") || of(&u->list[i], "end"))
			at = i;
		else if (of(&u->list[i], "start"))
			at = u->n;
	}
	u->nrefs = 0;
	for (size_t i = at; i < u->n; i++) {
		if (i == at)
			u->refs[u->nrefs++] = u->list[i].number;
		else if (of(&u->list[i], "undo") && u->list[i].to != 0 &&
			 u->list[i].number != u->now)
			u->refs[u->nrefs++] = u->list[i].to;
		/* The first one and the newest ones are kept. */
		if (u->nrefs == SNAP_MAX_REFS) {
			memmove(u->refs + 1, u->refs + 2,
			    (SNAP_MAX_REFS - 2) * sizeof(u->refs[0]));
			u->nrefs--;
		}
	}
}

/* Say what the checkpoint may lack. */
static void
choose_warn(const struct undo_record *r)
{
	if (r->late)
		warnx("checkpoint %u was not complete when the turn began: "
		      "what changed first may be missing in it",
		    r->number);
	if (r->loose != 0)
		warnx("checkpoint %u was taken while files changed: %u file%s "
		      "could not be read in one piece, and cannot be put back",
		    r->number, r->loose, plural(r->loose));
}

int
undo_choose(struct undo *u, const char *turn, const char *to)
{
	uint64_t n = last_turn(u);

	u->to = NULL;
	choose_refs(u);
	if (to != NULL) {
		u->to = named(u, to);
		if (u->to == NULL)
			warnx("no checkpoint of this workspace is \"%s\". "
			      "Those that there are: icctl undo --list --all",
			    to);
		if (u->to != NULL && u->now == 0 && !u->ctl->json)
			choose_warn(u->to);
		return u->to == NULL ? ICCTL_FAILED : 0;
	}
	if (turn != NULL &&
	    (span_u64(span_str(turn), UINT32_MAX, &n) == -1 || n == 0)) {
		warnx("--turn %s: must be the number of a turn", turn);
		return ICCTL_USAGE;
	}
	if (turn != NULL || n != 0) {
		u->to = before_turn(u, (uint32_t)n);
	} else {
		for (size_t i = 0; i < u->n; i++)
			if (mine(u, &u->list[i]) &&
			    (of(&u->list[i], "start") ||
				of(&u->list[i], "named")))
				u->to = &u->list[i];
	}
	if (u->to == NULL && n != 0)
		warnx("there is no checkpoint before turn %llu of session %s. "
		      "Those that there are: icctl undo --list",
		    (unsigned long long)n, u->session);
	else if (u->to == NULL)
		warnx("session %s has no checkpoint", u->session);
	if (u->to != NULL && u->now == 0 && !u->ctl->json)
		choose_warn(u->to);
	return u->to == NULL ? ICCTL_FAILED : 0;
}

/* Find the newest checkpoint after that turn. */
static const struct undo_record *
after_turn(const struct undo *u, uint32_t turn)
{
	const struct undo_record *found = NULL;

	for (size_t i = 0; i < u->n; i++)
		if (mine(u, &u->list[i]) && u->list[i].turn == turn &&
		    of(&u->list[i], "after"))
			found = &u->list[i];
	return found != NULL ? found : before_turn(u, turn + 1);
}

int
undo_choose_turns(struct undo *u, const char *turn, const char *upto)
{
	const struct undo_record *end;
	uint64_t from, to;

	if (span_u64(span_str(turn), UINT32_MAX - 1, &from) == -1 ||
	    from == 0) {
		warnx("--turn %s: must be the number of a turn", turn);
		return ICCTL_USAGE;
	}
	to = from;
	if (upto != NULL &&
	    (span_u64(span_str(upto), UINT32_MAX - 1, &to) == -1 ||
		to < from)) {
		warnx("%s: must be the number of turn %s or of a later one",
		    upto, turn);
		return ICCTL_USAGE;
	}
	u->nrefs = 0;
	u->to = before_turn(u, (uint32_t)from);
	end = after_turn(u, (uint32_t)to);
	if (u->to == NULL || end == NULL) {
		warnx("there is no checkpoint %s turn %llu of session %s. "
		      "Those that there are: icctl undo --list",
		    u->to == NULL ? "before" : "after",
		    (unsigned long long)(u->to == NULL ? from : to),
		    u->session);
		return ICCTL_FAILED;
	}
	u->now = end->number;
	if (u->to->late && !u->ctl->json)
		warnx("checkpoint %u was not complete when the turn began: "
		      "what changed first may be missing here",
		    u->to->number);
	return 0;
}
