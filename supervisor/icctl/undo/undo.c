/* SPDX-License-Identifier: ISC */
/*
 * `icctl undo` and `icctl checkpoint`. A checkpoint of now is made, so that the
 * undo can be undone; the plan is shown; the yes is for the plan's digest,
 * which the box compares with its own before it touches a file. It is recorded
 * before: by the session, or, when none runs, in the store itself.
 */
#include "icctl/undo/priv.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/plural.h"
#include "common/time_text.h"
#include "icctl/words.h"

#define UNDO_LOG "undo.jsonl"

/* Append a line to the store's own log, and wait until it is on the disk. */
static int
undo_note(const struct undo *u, const char *event, size_t files, size_t failed)
{
	json_object *o = json_object_new_object();
	char when[TIME_TEXT];
	const char *text;
	int fd, rv = -1;

	put_str(o, "time", time_text(time(NULL), when));
	put_str(o, "event", event);
	put_str(o, "session", u->session);
	put_int(o, "from", u->now);
	put_int(o, "to", u->to->number);
	put_str(o, "plan", u->digest);
	if (strcmp(event, "undoEnd") == 0) {
		put_int(o, "files", (int64_t)files);
		put_int(o, "failed", (int64_t)failed);
	}
	text = json_object_to_json_string_ext(o, ICCTL_JSON);
	fd = openat(u->store, UNDO_LOG,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd != -1 && span_write(fd, span_str(text)) == 0 &&
	    span_write(fd, SPAN("\n")) == 0 && fsync(fd) == 0)
		rv = 0;
	if (rv == -1)
		icctl_warn_errno(UNDO_LOG);
	if (fd != -1)
		close(fd);
	json_object_put(o);
	return rv == 0 ? 0 : ICCTL_FAILED;
}

static void
put_number(json_object *o, const char *key, size_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", n);
	put_str(o, key, text);
}

/* Record what will be done. Returns 0, or an exit status. */
static int
undo_record_begin(struct undo *u)
{
	const bool turn = strcmp(u->to->kind, "turn") == 0;
	char what[64];
	json_object *o;
	int status;

	if (u->fd == -1)
		return undo_note(u, "undo", 0, 0);
	o = icctl_request("undo", NULL);
	put_number(o, "id", u->to->number);
	put_number(o, "key", u->now);
	put_number(o, "value", turn ? u->to->turn : 0);
	put_str(o, "digest", u->digest);
	if (turn)
		snprintf(what, sizeof(what), "%u", u->to->turn);
	else
		snprintf(what, sizeof(what), "at checkpoint %u", u->to->number);
	put_str(o, "message", what);
	if ((o = undo_ask(u, o, &status)) == NULL)
		return status;
	json_object_put(o);
	return 0;
}

static void
undo_record_end(struct undo *u, size_t files, size_t failed)
{
	json_object *o;
	int status;

	if (u->fd == -1) {
		(void)undo_note(u, "undoEnd", files, failed);
		return;
	}
	o = icctl_request("undone", NULL);
	put_number(o, "key", files);
	put_number(o, "value", failed);
	json_object_put(undo_ask(u, o, &status));
}

/* Carry out the plan that was shown. */
static int
undo_do(struct undo *u, size_t files)
{
	size_t failed;
	int status;

	if ((status = undo_record_begin(u)) != 0)
		return status;
	status = undo_plan(u, true);
	failed = status == 0 ? u->bad.n : files;
	files -= failed < files ? failed : files;
	undo_record_end(u, files, failed);
	if (u->ctl->json && status == 0) {
		undo_json_out(u, true);
	} else if (status == 0) {
		undo_show_end(u);
		printf("%zu file%s %s put back. To take that back: icctl "
		       "--session %s undo --to %u --all\n",
		    files, plural(files), files == 1 ? "is" : "are", u->session,
		    u->now);
	}
	if (status != 0)
		warnx("the workspace may be put back in part. Do it again: "
		      "icctl --session %s undo --to %u",
		    u->session, u->to->number);
	return status == 0 && failed != 0 ? ICCTL_FAILED : status;
}

/* Choose what comes back, and what may be touched. */
static int
undo_target(struct undo *u)
{
	int status =
	    undo_choose(u, words_option("--turn"), words_option("--to"));

	if (words_given("--all"))
		u->nrefs = 0;
	return status;
}

/*
 * Get the yes to the plan: in advance, for its digest, or from the person who
 * has seen it. Returns 0, or an exit status after the reason.
 */
static int
undo_agreed(const struct undo *u)
{
	const char *plan = words_option("--plan");

	if (plan != NULL && strcmp(plan, u->digest) == 0)
		return 0;
	if (plan != NULL) {
		warnx("the files are not those of that plan any more, and "
		      "nothing was put back. To see the new plan, give the "
		      "same command with --dry-run instead of --plan");
		return ICCTL_FAILED;
	}
	if (words_given("--yes"))
		return 0;
	/* Input typed before is not meant for this question. */
	if (!u->ctl->json)
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
	if (!u->ctl->json && icctl_confirm("Put these files back?"))
		return 0;
	if (u->ctl->json)
		warnx("with --json an undo needs --yes, --plan or --dry-run");
	else
		puts(isatty(STDIN_FILENO)
			 ? "Nothing was put back."
			 : "Nothing was put back: there is no terminal to ask "
			   "on. To do it, give the same command with "
			   "--yes");
	return ICCTL_FAILED;
}

static int
undo_run_plan(struct undo *u)
{
	/* Only who will be asked, or only looks, is there to turn pages. */
	const bool said = words_given("--yes") || words_given("--plan");
	size_t files;
	int status;

	if ((status = undo_target(u)) != 0 || (status = undo_save(u)) != 0)
		return status;
	/* The checkpoint after a turn may have been made meanwhile. */
	if (undo_records(u) == -1)
		return ICCTL_FAILED;
	if ((status = undo_target(u)) != 0 ||
	    (status = undo_plan(u, false)) != 0)
		return status;
	files = undo_count(u);
	if (!u->ctl->json && !undo_show(u, !said) && !said) {
		puts("Nothing was put back.");
		return words_given("--dry-run") ? ICCTL_OK : ICCTL_FAILED;
	}
	if (files == 0 || words_given("--dry-run")) {
		if (u->ctl->json)
			undo_json_out(u, false);
		else if (files == 0)
			puts(u->npaths == 0
				 ? "There is nothing to put back."
				 : "There is nothing to put back of the files "
				   "that you named. A turn or a checkpoint is "
				   "chosen with --turn N or --to CHECKPOINT: "
				   "icctl undo --list");
		return ICCTL_OK;
	}
	if ((status = undo_agreed(u)) != 0)
		return status;
	return undo_do(u, files);
}

/* Take the operands from `at` on as paths. */
static int
undo_paths(struct undo *u, int at, int argc, char **argv)
{
	char *path;

	for (int i = at; i < argc; i++) {
		if (u->npaths == sizeof(u->paths_of) / sizeof(u->paths_of[0])) {
			warnx("more than %u paths", u->npaths);
			return ICCTL_USAGE;
		}
		if ((path = undo_path(u, argv[i])) == NULL)
			return ICCTL_USAGE;
		u->paths_of[u->npaths++] = path;
	}
	return 0;
}

static int
undo_command(struct undo *u, int argc, char **argv)
{
	const bool forget = argc > 1 && strcmp(argv[1], "forget") == 0;
	int status;

	if (words_given("--list") && argc > 1)
		return words_usage();
	if (words_given("--list")) {
		undo_list(u, words_given("--all"));
		return ICCTL_OK;
	}
	if ((status = undo_paths(u, forget ? 2 : 1, argc, argv)) != 0)
		return status;
	if (forget)
		return u->npaths == 0 ? words_usage() : undo_forget(u);
	return undo_run_plan(u);
}

int
icctl_undo(struct icctl *ctl, int argc, char **argv)
{
	static struct undo u;
	int status;

	if ((words_given("--turn") && words_given("--to")) ||
	    (words_given("--plan") && words_given("--yes")))
		return words_usage();
	if ((status = undo_enter(&u, ctl)) == 0)
		status = undo_command(&u, argc, argv);
	undo_leave(&u);
	return status;
}

int
icctl_checkpoint(struct icctl *ctl, int argc, char **argv)
{
	static struct undo u;
	json_object *req, *reply, *made = NULL;
	int status;

	if (argc > 2)
		return words_usage();
	if ((status = icctl_find(ctl)) != 0)
		return status;
	u = (struct undo){.ctl = ctl, .store = -1, .tree = -1};
	if ((u.fd = icctl_connect(ctl)) == -1)
		return ICCTL_NO_SESSION;
	undo_patient(u.fd);
	req = icctl_request("checkpoint", NULL);
	if (argc == 2)
		put_str(req, "message", argv[1]);
	if ((reply = undo_ask(&u, req, &status)) != NULL) {
		(void)json_object_object_get_ex(reply, "checkpoint", &made);
		status = icctl_number(made, "checkpoint") != 0 ? ICCTL_OK
							       : ICCTL_FAILED;
		if (ctl->json)
			icctl_put_json(reply);
		else if (status == ICCTL_OK)
			printf("Checkpoint %lld. To come back to it: icctl "
			       "undo --to %lld\n",
			    (long long)icctl_number(made, "checkpoint"),
			    (long long)icctl_number(made, "checkpoint"));
		else
			warnx("it was not made: %s", icctl_text(made, "why"));
		json_object_put(reply);
	}
	undo_leave(&u);
	return status;
}
