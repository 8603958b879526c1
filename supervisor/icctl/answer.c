/* SPDX-License-Identifier: ISC */
/*
 * The commands that show and answer calls: pending, show, approve, deny, stop,
 * unlock. An approval carries the digest of the call that was shown: exactly
 * that call happens, or nothing does.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "icctl/hold_view.h"
#include "icctl/icctl.h"
#include "json_put.h"

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
	json_object *okay;
	int r;

	*reply = NULL;
	if ((r = icctl_find(ctl, true)) != 0)
		goto out;
	r = ICCTL_NO_SESSION;
	if ((*reply = icctl_ask(ctl, req)) == NULL)
		goto out;
	if (!json_object_object_get_ex(*reply, "ok", &okay) ||
	    !json_object_get_boolean(okay)) {
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
	char line[64];

	if (isatty(STDIN_FILENO)) {
		printf("%s [y/N] ", question);
		fflush(stdout);
	}
	return fgets(line, sizeof(line), stdin) != NULL &&
	       (strcasecmp(line, "y\n") == 0 || strcasecmp(line, "yes\n") == 0);
}

static int
want_args(int argc, char **argv, int n, const char *what)
{
	if (argc == n + 1)
		return 0;
	warnx("usage: icctl %s%s%s", argv[0], n == 0 ? "" : " ", what);
	return ICCTL_USAGE;
}

json_object *
icctl_hold_fetch(struct icctl *ctl, const char *id, bool say)
{
	json_object *req = icctl_request("show", id), *reply, *hold = NULL;
	json_object *okay;

	reply = icctl_ask(ctl, req);
	json_object_put(req);
	if (reply == NULL)
		return NULL;
	if (json_object_object_get_ex(reply, "ok", &okay) &&
	    json_object_get_boolean(okay))
		json_object_object_get_ex(reply, "hold", &hold);
	else if (say)
		(void)icctl_refused(ctl, reply);
	hold = json_object_get(hold);
	json_object_put(reply);
	return hold;
}

/* Fetch a call that is too long for a list, so that it is shown in full. */
static void
list_hold(struct icctl *ctl, json_object *hold)
{
	json_object *whole = NULL;

	if (json_object_object_get_ex(hold, "cut", NULL) &&
	    (whole = icctl_hold_fetch(ctl, icctl_text(hold, "id"), false)) ==
		NULL)
		return; /* it was answered meanwhile */
	(void)hold_view(stdout, whole != NULL ? whole : hold, HOLD_VIEW_LIST,
	    icctl_visible());
	json_object_put(whole);
}

int
icctl_pending(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *holds = NULL;
	size_t n;
	int r;

	if ((r = want_args(argc, argv, 0, "")) != 0 ||
	    (r = ask(ctl, icctl_request("pending", NULL), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "holds", &holds);
	n = holds == NULL ? 0 : json_object_array_length(holds);
	if (ctl->json)
		icctl_put_json(reply);
	else if (n == 0)
		puts("No calls are pending.");
	for (size_t i = 0; i < n && !ctl->json; i++)
		list_hold(ctl, json_object_array_get_idx(holds, i));
	json_object_put(reply);
	return 0;
}

int
icctl_show(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *hold = NULL;
	const char *id = NULL;
	bool full = false, bad = false;
	int r;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--full") == 0)
			full = true;
		else if (id == NULL && argv[i][0] != '-')
			id = argv[i];
		else
			bad = true;
	}
	if (id == NULL || bad) {
		warnx("usage: icctl show ID [--full]");
		return ICCTL_USAGE;
	}
	if ((r = ask(ctl, icctl_request("show", id), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json)
		icctl_put_json(reply);
	else
		(void)hold_view(stdout, hold,
		    full ? HOLD_VIEW_FULL : HOLD_VIEW_WHOLE, icctl_visible());
	json_object_put(reply);
	return 0;
}

/* An answer to a call. */
struct answer {
	const char *op, *id, *because;
	const char *digest; /* the examined call's, or NULL */
	bool session;
	bool exact;        /* with these arguments alone */
	const char *times; /* so many calls, or NULL */
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
	/* With --json a program answers, which names the digest. */
	if (ctl->json || strcmp(a->op, "approve") != 0)
		return 0;
	if (hold_view(stdout, hold, HOLD_VIEW_WHOLE, icctl_visible()))
		return 0;
	warnx("%s was not approved, because not everything that it touches "
	      "could be shown",
	    a->id);
	return ICCTL_FAILED;
}

static int
answered(struct icctl *ctl, const struct answer *a, json_object *reply)
{
	json_object *hold = NULL, *granted = NULL;

	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json) {
		icctl_put_json(reply);
	} else {
		fputs(strcmp(a->op, "approve") == 0 ? "approved " : "denied ",
		    stdout);
		hold_view_line(stdout, hold, icctl_visible());
	}
	if (!a->session ||
	    (json_object_object_get_ex(reply, "granted", &granted) &&
		json_object_get_boolean(granted)))
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
	json_object_put(reply);
	if ((r = ask(ctl, req, &reply)) != 0)
		return r;
	r = answered(ctl, a, reply);
	json_object_put(reply);
	return r;
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

	if ((r = want_args(argc, argv, 1, "ID")) != 0 ||
	    (r = ask(ctl, icctl_request("revoke", argv[1]), &reply)) != 0)
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

int
icctl_approve(struct icctl *ctl, int argc, char **argv)
{
	struct answer a = {.op = "approve"};
	bool bad = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--for-session") == 0)
			a.session = true;
		else if (strcmp(argv[i], "--exact") == 0)
			a.session = a.exact = true;
		else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc)
			a.times = argv[++i];
		else if (strcmp(argv[i], "--digest") == 0 && i + 1 < argc)
			a.digest = argv[++i];
		else if (a.id == NULL && argv[i][0] != '-')
			a.id = argv[i];
		else
			bad = true;
	}
	if (a.times != NULL) {
		bad |= a.session || !good_times(a.times);
		a.session = true;
	}
	if (a.id == NULL || bad ||
	    (a.digest != NULL && strlen(a.digest) != 64)) {
		warnx("usage: icctl approve ID [--digest SHA256] "
		      "[--for-session | --exact | --times 1...20]");
		return ICCTL_USAGE;
	}
	return answer(ctl, &a);
}

int
icctl_deny(struct icctl *ctl, int argc, char **argv)
{
	struct answer a = {.op = "deny"};

	if (argc == 4 && strcmp(argv[2], "--because") == 0)
		a.because = argv[3];
	else if (argc != 2) {
		warnx("usage: icctl deny ID [--because TEXT]");
		return ICCTL_USAGE;
	}
	a.id = argv[1];
	if (a.because != NULL && strlen(a.because) > 500) {
		warnx("--because takes at most 500 characters");
		return ICCTL_USAGE;
	}
	return answer(ctl, &a);
}

static int
simple(struct icctl *ctl, int argc, char **argv, const char *done)
{
	json_object *reply;
	int r;

	if ((r = want_args(argc, argv, 0, "")) != 0 ||
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
icctl_stop(struct icctl *ctl, int argc, char **argv)
{
	return simple(ctl, argc, argv, "The session is ending.");
}

int
icctl_unlock(struct icctl *ctl, int argc, char **argv)
{
	return simple(ctl, argc, argv, "The locked providers can be used "
				       "again.");
}
