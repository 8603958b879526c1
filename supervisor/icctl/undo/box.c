/* SPDX-License-Identifier: ISC */
/*
 * Starts ic-snap for a person. While a session runs in the workspace, it makes
 * the checkpoint of now; otherwise icctl does.
 */
#include "icctl/undo/priv.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/buf.h"

static int
box_failed(const struct fault *fault)
{
	warnx("%s", fault->text);
	return ICCTL_FAILED;
}

json_object *
undo_ask(struct undo *u, json_object *request, int *status)
{
	json_object *reply = NULL, *ok = NULL;

	*status = ICCTL_FAILED;
	if (icctl_tell(u->fd, request) == -1 ||
	    (reply = icctl_receive(u->fd, &u->rest)) == NULL)
		icctl_lost(u->ctl, u->fd);
	json_object_put(request);
	if (reply == NULL)
		return NULL;
	if (json_object_object_get_ex(reply, "ok", &ok) &&
	    json_object_get_boolean(ok))
		return reply;
	*status = strcmp(icctl_text(reply, "code"), "busy") == 0 ? ICCTL_BUSY
								 : ICCTL_FAILED;
	(void)icctl_refused(u->ctl, reply);
	json_object_put(reply);
	return NULL;
}

/* Open the workspace. Returns 0, or -1 after it said why. */
static int
box_tree(struct undo *u)
{
	if (u->tree == -1)
		u->tree = open(u->workspace,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u->tree == -1)
		warn("%s", u->workspace);
	return u->tree == -1 ? -1 : 0;
}

/* Read all that ic-snap reports. */
static int
box_read(struct undo_run *run, struct buf *out)
{
	uint8_t *room;
	ssize_t n;

	do {
		if ((room = buf_room(out, 1U << 16)) == NULL)
			return -1;
		n = read(run->out, room, 1U << 16);
		if (n > 0)
			buf_grow(out, (size_t)n);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -1;
}

/* Run it to its end. Returns 0, or an exit status after the reason. */
static int
box_run(struct undo *u, struct undo_words *w, int tree, struct buf *out)
{
	struct undo_run run = UNDO_RUN_INIT;
	struct fault fault;
	int rv;

	rv = undo_start(&run, u->paths.libexecdir, tree, u->store, w, &fault);
	undo_words_free(w);
	if (rv == -1)
		return box_failed(&fault);
	if (box_read(&run, out) == -1) {
		warnx("the report of ic-snap cannot be read");
		rv = ICCTL_FAILED;
	}
	undo_stop(&run);
	return rv;
}

/* A report of `save` or `forget`. */
static int
box_report(
    struct undo *u, struct undo_words *w, int tree, struct snap_report *r)
{
	struct buf out;
	int status;

	buf_init(&out, 1U << 20);
	if ((status = box_run(u, w, tree, &out)) == 0 &&
	    out.len != sizeof(*r)) {
		warnx("ic-snap ended early");
		status = ICCTL_FAILED;
	}
	if (status == 0)
		memcpy(r, buf_span(&out).p, sizeof(*r));
	buf_free(&out);
	if (status == 0 && r->why[0] != '\0') {
		r->why[sizeof(r->why) - 1] = '\0';
		warnx("%s", r->why);
		status = ICCTL_FAILED;
	}
	return status;
}

/* No session runs: make the checkpoint here. */
static int
save_here(struct undo *u)
{
	struct undo_words w;
	struct snap_report r;
	int status;

	if (box_tree(u) == -1)
		return ICCTL_FAILED;
	undo_words_init(&w, "save");
	undo_word(&w, "session", u->session);
	undo_word(&w, "kind", "undo");
	undo_word_number(&w, "undoes", u->to->number);
	undo_word_limits(&w, &u->config.undo);
	if ((status = box_report(u, &w, u->tree, &r)) == 0)
		u->now = r.number;
	return status;
}

int
undo_save(struct undo *u)
{
	json_object *req, *reply, *made;
	char to[16];
	int status;

	if (u->fd == -1)
		return save_here(u);
	req = icctl_request("checkpoint", NULL);
	snprintf(to, sizeof(to), "%u", u->to->number);
	put_str(req, "value", to);
	if ((reply = undo_ask(u, req, &status)) == NULL)
		return status;
	status = ICCTL_FAILED;
	if (json_object_object_get_ex(reply, "checkpoint", &made)) {
		u->now = (uint32_t)icctl_number(made, "checkpoint");
		if (u->now != 0)
			status = 0;
		else
			warnx("no checkpoint of now can be made: %s. Nothing "
			      "is put back without one",
			    icctl_text(made, "why"));
	}
	json_object_put(reply);
	return status;
}

/* Take the next text of the report. */
static const char *
rows_text(char **at, const char *end)
{
	char *text = *at, *nul;

	if (text >= end ||
	    (nul = memchr(text, '\0', (size_t)(end - text))) == NULL)
		return NULL;
	*at = nul + 1;
	return text;
}

/* Add a row. Returns it, or NULL. */
static struct undo_row *
rows_add(struct undo_rows *rows)
{
	struct undo_row *more;

	if (rows->n % 256 == 0) {
		more = reallocarray(rows->list, rows->n + 256, sizeof(*more));
		if (more == NULL)
			return NULL;
		rows->list = more;
	}
	return &rows->list[rows->n++];
}

/* Read the rows. Returns 0, or an exit status after the reason. */
static int
rows_read(struct undo_rows *rows, size_t len, char digest[65])
{
	char *at = rows->text, *const end = rows->text + len;
	const char *text;
	struct undo_row *r;

	while ((text = rows_text(&at, end)) != NULL && strlen(text) >= 2) {
		if (text[0] == SNAP_END) {
			(void)strlcpy(digest, text + 2, 65);
			return 0;
		}
		if (text[0] == SNAP_REFUSED) {
			warnx("%s", text + 2);
			return ICCTL_FAILED;
		}
		if ((r = rows_add(rows)) == NULL)
			break;
		*r = (struct undo_row){.what = (enum snap_row)text[0],
		    .mark = text[1],
		    .later = text[1] == '!',
		    .path = text + 2};
		if ((r->what == SNAP_FAILED || r->what == SNAP_LEFT) &&
		    (r->why = rows_text(&at, end)) == NULL)
			break;
	}
	warnx("ic-snap, which compares files and puts them back, ended early");
	return ICCTL_FAILED;
}

int
undo_plan(struct undo *u, bool restore)
{
	struct undo_rows *rows = restore ? &u->bad : &u->rows;
	struct undo_words w;
	struct buf out;
	int status;

	if (restore && box_tree(u) == -1)
		return ICCTL_FAILED;
	undo_words_init(&w, restore ? "restore" : "plan");
	undo_word_number(&w, "now", u->now);
	undo_word_number(&w, "to", u->to->number);
	for (unsigned i = 0; i < u->nrefs; i++)
		undo_word_number(&w, "ref", u->refs[i]);
	for (unsigned i = 0; i < u->npaths; i++)
		undo_word(&w, "path", u->paths_of[i]);
	if (restore)
		undo_word(&w, "digest", u->digest);
	else if (u->text)
		undo_word_number(&w, "text", 1);
	buf_init(&out, SNAP_MAX_ROWS + 4096);
	status = box_run(u, &w, restore ? u->tree : -1, &out);
	rows->text = malloc(out.len + 1);
	if (status == 0 && rows->text == NULL) {
		warn("ic-snap");
		status = ICCTL_FAILED;
	}
	if (status == 0) {
		if (out.len != 0)
			memcpy(rows->text, buf_span(&out).p, out.len);
		status = rows_read(rows, out.len, u->digest);
	}
	buf_free(&out);
	return status;
}

int
undo_forget(struct undo *u)
{
	struct undo_words w;
	struct snap_report r;
	int status;

	undo_words_init(&w, "forget");
	for (unsigned i = 0; i < u->npaths; i++)
		undo_word(&w, "path", u->paths_of[i]);
	if ((status = box_report(u, &w, -1, &r)) != 0)
		return status;
	if (u->ctl->json)
		printf("{\"ok\":true,\"checkpoints\":%u}\n", r.number);
	else if (r.number == 0)
		puts("No checkpoint has that path, and nothing was "
		     "removed.");
	else
		printf(
		    "Removed from %u checkpoint%s. Later ones hold it again, "
		    "unless undo.leaveOut in config.json names it.\n",
		    r.number, r.number == 1 ? "" : "s");
	return ICCTL_OK;
}
