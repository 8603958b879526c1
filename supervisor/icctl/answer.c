/* SPDX-License-Identifier: ISC */
/*
 * The commands that answer calls: approve, deny, revoke; and unlock. An
 * approval carries the digest of the call that was shown: exactly
 * that call happens, or nothing does.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/signed.h"
#include "icctl/hold/hold_view.h"
#include "icctl/sign_file.h"
#include "icctl/words.h"

json_object *
icctl_request(const char *op, const char *id)
{
	json_object *o = json_object_new_object();

	put_str(o, "op", op);
	if (id != NULL)
		put_str(o, "id", id);
	return o;
}

/*
 * Send the request and release it. Prints a refusal, or with --json the reply
 * itself.
 */
static int
ask(struct icctl *ctl, json_object *req, json_object **reply)
{
	int r;

	*reply = NULL;
	ctl->waits = icctl_text(req, "id");
	r = icctl_find(ctl);
	ctl->waits = NULL;
	if (r != 0)
		goto out;
	r = ICCTL_NO_SESSION;
	if ((*reply = icctl_ask(ctl, req)) == NULL)
		goto out;
	if (!get_true(*reply, "ok")) {
		r = icctl_refused(ctl, *reply);
		json_object_put(*reply);
		*reply = NULL;
		goto out;
	}
	r = ICCTL_OK;
out:
	json_object_put(req);
	return r;
}

json_object *
icctl_command(struct icctl *ctl, json_object *req, int *status)
{
	json_object *reply;

	*status = ask(ctl, req, &reply);
	return reply;
}

bool
icctl_confirm(const char *question)
{
	return icctl_confirm_on(stdout, question);
}

bool
icctl_confirm_on(FILE *to, const char *question)
{
	char line[64];

	if (isatty(STDIN_FILENO)) {
		fprintf(to, "%s [y/N] ", question);
		fflush(to);
	}
	return fgets(line, sizeof(line), stdin) != NULL &&
	       (strcasecmp(line, "y\n") == 0 || strcasecmp(line, "yes\n") == 0);
}

int
icctl_on_tty(void)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);

	return tty == -1 || dup2(tty, STDIN_FILENO) == -1 ||
		       dup2(tty, STDOUT_FILENO) == -1 ||
		       dup2(tty, STDERR_FILENO) == -1
		   ? -1
		   : 0;
}

bool
icctl_person(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int
icctl_no_arguments(int argc)
{
	return argc == 1 ? 0 : words_usage();
}

int
icctl_one_session(struct icctl *ctl, int argc, char **argv)
{
	if (argc > 2)
		return words_usage();
	if (argc == 2)
		ctl->session = argv[1];
	return 0;
}

json_object *
icctl_hold_fetch(struct icctl *ctl, const char *id, bool say)
{
	json_object *req = icctl_request("show", id), *reply, *hold = NULL;

	reply = icctl_ask(ctl, req);
	json_object_put(req);
	if (reply == NULL)
		return NULL;
	if (get_true(reply, "ok"))
		json_object_object_get_ex(reply, "hold", &hold);
	else if (say)
		(void)icctl_refused(ctl, reply);
	hold = json_object_get(hold);
	json_object_put(reply);
	return hold;
}

#define ANSWER_MAX 64U /* as many calls can be pending */

/* An answer to a call, or to several. */
struct answer {
	const char *op, *id, *because;
	const char *ids[ANSWER_MAX];
	size_t n;
	const char *digest; /* the examined call's, or NULL */
	bool session;
	bool exact;        /* with these arguments alone */
	const char *times; /* so many calls, or NULL */
	const char *entries; /* signatures, or NULL */
};

/*
 * The grant was shown. On a terminal, ask for agreement; otherwise the command
 * itself is the agreement. Returns 0, or an exit status.
 */
static int
session_agreed(struct icctl *ctl, const struct answer *a, json_object *hold)
{
	json_object *offer = NULL;
	char question[120] = "Allow this until the session ends?";

	json_object_object_get_ex(hold, "forSession", &offer);
	if (a->exact && !json_object_object_get_ex(offer, "exact", NULL)) {
		warnx("%s names a path or URL: --exact is for calls that do "
		      "not. icctl show %s says what can be allowed",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (a->times != NULL &&
	    !json_object_object_get_ex(offer, "times", NULL)) {
		warnx("%s cannot be allowed for several calls: that is only "
		      "for tools that write nothing, have no network and no "
		      "credential, and take plain values. Approve this call "
		      "alone: icctl approve %s",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (a->times != NULL)
		snprintf(question, sizeof(question),
		    "Allow %s calls of this tool within one hour, this one "
		    "included?",
		    a->times);
	if (*icctl_text(hold, "sessionDigest") == '\0') {
		warnx("%s cannot be allowed for the session: what a session "
		      "allows is named by a path or a URL, and a push, or a "
		      "call without one, is approved alone: icctl approve %s",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (!ctl->json && isatty(STDIN_FILENO) && !icctl_confirm(question)) {
		puts("Nothing was approved.");
		return ICCTL_FAILED;
	}
	return 0;
}

/*
 * Check that this is the intended call, and that all important parts were
 * shown. Returns 0, or an exit status.
 */
static int
answer_check(struct icctl *ctl, const struct answer *a, json_object *hold)
{
	if (strcmp(icctl_text(hold, "id"), a->id) != 0) {
		warnx("give the whole id, so that no other call is answered by "
		      "mistake. The pending call that begins like that is %s",
		    icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (a->digest != NULL) {
		if (strcasecmp(icctl_text(hold, "digest"), a->digest) == 0)
			return 0;
		warnx("%s is not the call with that digest. Look again: icctl "
		      "show %s",
		    a->id, a->id);
		return ICCTL_FAILED;
	}
	if (strcmp(a->op, "approve") == 0 && get_true(hold, "question")) {
		warnx("%s is a question of a server: icctl answer %s", a->id,
		    a->id);
		return ICCTL_FAILED;
	}
	/* With --json a program answers, which names the digest. */
	if (ctl->json || strcmp(a->op, "approve") != 0)
		return 0;
	if (hold_view(stdout, hold, HOLD_VIEW_WHOLE, icctl_visible()))
		return 0;
	(void)fflush(stdout);
	warnx("%s was not approved, because parts of it were left out. See all "
	      "of it, and approve it there: icctl show %s --full",
	    a->id, a->id);
	return ICCTL_FAILED;
}

static int
answered(struct icctl *ctl, const struct answer *a, json_object *reply)
{
	json_object *hold = NULL;

	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json) {
		icctl_put_json(reply);
	} else {
		hold_view_line(stdout,
		    strcmp(a->op, "approve") == 0 ? "approved " : "denied ",
		    hold, icctl_visible());
	}
	if (!a->session || get_true(reply, "granted"))
		return 0;
	if (ctl->json)
		return 0;
	puts("Only this call was approved: what else would be allowed has "
	     "changed since it was shown.");
	return ICCTL_FAILED;
}

/* Answer the call that `show` returns for the id, bound to its digest. */
static int
answer(struct icctl *ctl, const struct answer *a)
{
	json_object *reply, *hold = NULL, *req;
	int r;

	if ((r = ask(ctl, icctl_request("show", a->id), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if ((r = answer_check(ctl, a, hold)) != 0 ||
	    (a->session && (r = session_agreed(ctl, a, hold)) != 0)) {
		json_object_put(reply);
		return r;
	}
	req = icctl_request(a->op, icctl_text(hold, "id"));
	put_str(req, "digest", icctl_text(hold, "digest"));
	if (a->session)
		put_str(req, "session", icctl_text(hold, "sessionDigest"));
	if (a->times != NULL)
		put_str(req, "times", a->times);
	if (a->because != NULL)
		put_str(req, "because", a->because);
	if (a->entries != NULL)
		put_str(req, "signed", a->entries);
	json_object_put(reply);
	if ((r = ask(ctl, req, &reply)) != 0)
		return r;
	r = answered(ctl, a, reply);
	json_object_put(reply);
	return r;
}

/*
 * Answer each of the calls, and go on after one that was refused. Returns the
 * first exit status that is not 0.
 */
static int
answer_each(struct icctl *ctl, struct answer *a)
{
	int r, worst = 0;

	for (size_t i = 0; i < a->n; i++) {
		a->id = a->ids[i];
		r = answer(ctl, a);
		worst = worst != 0 ? worst : r;
		/* That was said, and is the same for the others. */
		if (r == ICCTL_NO_SESSION && !icctl_any_runs(ctl))
			break;
	}
	return worst;
}

/*
 * Print every pending call in full, with everything that it touches. Returns
 * the number of those that can be approved.
 */
static size_t
show_all(struct icctl *ctl, json_object *holds, json_object *whole[ANSWER_MAX])
{
	size_t n = 0, all = holds == NULL ? 0 : json_object_array_length(holds);
	json_object *hold;

	for (size_t i = 0; i < all && n < ANSWER_MAX; i++) {
		hold = icctl_hold_fetch(ctl,
		    icctl_text(json_object_array_get_idx(holds, i), "id"),
		    false);
		if (hold == NULL)
			continue; /* it was answered meanwhile */
		if (hold_view(stdout, hold, HOLD_VIEW_WHOLE, icctl_visible())) {
			putchar('\n');
			whole[n++] = hold;
			continue;
		}
		(void)fflush(stdout);
		warnx("%s will not be approved, because parts of it were left "
		      "out. See all of it, and approve it there: icctl show %s "
		      "--full",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		json_object_put(hold);
	}
	return n;
}

/* Approve exactly the calls that were shown, after one yes. */
static int
approve_all(struct icctl *ctl)
{
	json_object *reply, *holds = NULL, *whole[ANSWER_MAX];
	struct answer a = {.op = "approve"};
	char question[64];
	size_t n;
	int r, worst = 0;

	if (ctl->json || !isatty(STDIN_FILENO)) {
		warnx("--all-shown asks on a terminal; in a script, approve "
		      "each call by its id and --digest");
		return ICCTL_USAGE;
	}
	if ((r = ask(ctl, icctl_request("pending", NULL), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "holds", &holds);
	n = show_all(ctl, holds, whole);
	json_object_put(reply);
	snprintf(question, sizeof(question), "Approve %s?",
	    n == 1 ? "this call" : "all of these calls");
	if (n == 0)
		puts("No calls are pending.");
	else if (!icctl_confirm(question))
		puts("Nothing was approved.");
	else
		a.n = n;
	for (size_t i = 0; i < n; i++) {
		if (a.n != 0) {
			a.id = icctl_text(whole[i], "id");
			a.digest = icctl_text(whole[i], "digest");
			r = answer(ctl, &a);
			worst = worst != 0 ? worst : r;
		}
		json_object_put(whole[i]);
	}
	return n != 0 && a.n == 0 ? ICCTL_FAILED : worst;
}

int
icctl_approve_shown(struct icctl *ctl, json_object *hold)
{
	struct answer a = {.op = "approve",
	    .id = icctl_text(hold, "id"),
	    .digest = icctl_text(hold, "digest")};

	return answer(ctl, &a);
}

static bool
good_times(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n > 2 || strspn(s, "0123456789") != n)
		return false;
	return n == 1 ? s[0] != '0' : s[0] == '1' || strcmp(s, "20") == 0;
}

int
icctl_revoke(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *grant = NULL;
	int r;

	if (argc != 2)
		return words_usage();
	if ((r = ask(ctl, icctl_request("revoke", argv[1]), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "grant", &grant);
	if (ctl->json) {
		icctl_put_json(reply);
	} else {
		fputs("revoked ", stdout);
		icctl_put_str(argv[1]);
		fputs("  ", stdout);
		icctl_put_str(icctl_text(grant, "description"));
		putchar('\n');
	}
	json_object_put(reply);
	return 0;
}

/* Returns true if the options of an approval go together. */
static bool
approve_good(struct answer *a)
{
	if (a->times != NULL) {
		if (a->session)
			return false;
		a->session = true;
	}
	return (a->digest == NULL && a->entries == NULL) || a->n == 1;
}

/* Take the ids. Returns 0, or -1 if there are none, or too many. */
static int
answer_ids(struct answer *a, int argc, char **argv)
{
	if (argc < 2 || argc > (int)ANSWER_MAX + 1)
		return -1;
	for (int i = 1; i < argc; i++)
		a->ids[a->n++] = argv[i];
	return 0;
}

int
icctl_approve(struct icctl *ctl, int argc, char **argv)
{
	struct answer a = {.op = "approve",
	    .exact = words_given("--exact"),
	    .times = words_option("--times"),
	    .digest = words_option("--digest")};
	const char *file = words_option("--signed");
	static char entries[SIGNED_ENTRIES + 1];

	a.session = a.exact || words_given("--for-session");
	if (words_given("--all-shown"))
		return argc != 1 || a.session || a.times != NULL ||
			       a.digest != NULL
			   ? words_usage()
			   : approve_all(ctl);
	if (a.times != NULL && !good_times(a.times)) {
		warnx("--times must be a number from 1 to 20");
		return ICCTL_USAGE;
	}
	if (a.digest != NULL && strlen(a.digest) != 64) {
		warnx("--digest must be the 64 letters of `icctl pending "
		      "--json`");
		return ICCTL_USAGE;
	}
	if (file != NULL) {
		if (sign_file_read(file, entries, sizeof(entries)) == -1)
			return ICCTL_FAILED;
		a.entries = entries;
	}
	if (answer_ids(&a, argc, argv) == -1 || !approve_good(&a))
		return words_usage();
	return answer_each(ctl, &a);
}

int
icctl_deny(struct icctl *ctl, int argc, char **argv)
{
	struct answer a = {.op = "deny", .because = words_option("--because")};

	if (argc > 2 && a.because == NULL && strcmp(argv[2], "because") == 0) {
		warnx("a reason is the value of an option: icctl deny %s "
		      "--because \"TEXT\"",
		    argv[1]);
		return ICCTL_USAGE;
	}
	if (answer_ids(&a, argc, argv) == -1)
		return words_usage();
	if (a.because != NULL && strlen(a.because) > 500) {
		warnx("--because takes at most 500 characters");
		return ICCTL_USAGE;
	}
	return answer_each(ctl, &a);
}

static int
simple(struct icctl *ctl, int argc, char **argv, const char *done)
{
	json_object *reply;
	int r;

	if ((r = icctl_no_arguments(argc)) != 0 ||
	    (r = ask(ctl, icctl_request(argv[0], NULL), &reply)) != 0)
		return r;
	if (ctl->json)
		icctl_put_json(reply);
	else
		puts(done);
	json_object_put(reply);
	return 0;
}

int
icctl_unlock(struct icctl *ctl, int argc, char **argv)
{
	return simple(ctl, argc, argv,
	    "The locked providers can be used "
	    "again.");
}
