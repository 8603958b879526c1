/* SPDX-License-Identifier: ISC */
/*
 * The commands that ask and answer: pending, show, approve, deny, stop,
 * unlock.  An approval carries the digest of the call that was shown:
 * what the user saw is what happens, or nothing does.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "icctl/icctl.h"

json_object *
icctl_request(const char *op, const char *id)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "op", json_object_new_string(op));
	if (id != NULL)
		json_object_object_add(o, "id", json_object_new_string(id));
	return o;
}

/* Asks; prints a refusal, or the reply itself with --json. */
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
		puts("Nothing waits for you.");
	for (size_t i = 0; i < n && !ctl->json; i++)
		icctl_show_hold_line(json_object_array_get_idx(holds, i), true);
	json_object_put(reply);
	return 0;
}

int
icctl_show(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *hold = NULL;
	int r;

	if ((r = want_args(argc, argv, 1, "ID")) != 0 ||
	    (r = ask(ctl, icctl_request("show", argv[1]), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json)
		icctl_put_json(reply);
	else
		icctl_show_hold(hold);
	json_object_put(reply);
	return 0;
}

/*
 * What would be granted is shown first. On a terminal it is asked for, else
 * the command itself is the answer. 0, or an exit status.
 */
static int
session_agreed(struct icctl *ctl, json_object *hold)
{
	if (*icctl_text(hold, "sessionDigest") == '\0') {
		warnx("%s cannot be allowed for the session: nothing narrow "
		      "enough can be shown of the calls like it. Approve it "
		      "alone: icctl approve %s",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (ctl->json)
		return 0;
	icctl_show_session(hold);
	if (isatty(STDIN_FILENO) &&
	    !icctl_confirm("Allow this until the session ends?")) {
		puts("Nothing was approved.");
		return ICCTL_FAILED;
	}
	return 0;
}

/* Answers the call that `show` gives for id, bound to its digest. */
static int
answer(struct icctl *ctl, const char *op, const char *id, const char *because,
    bool session)
{
	json_object *reply, *hold = NULL, *req, *granted;
	int r;

	if ((r = ask(ctl, icctl_request("show", id), &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if (strcmp(icctl_text(hold, "id"), id) != 0) {
		warnx("give the whole id, so that no other call is answered by "
		      "mistake. The pending call that begins like that is %s",
		    icctl_text(hold, "id"));
		json_object_put(reply);
		return ICCTL_FAILED;
	}
	if (session && (r = session_agreed(ctl, hold)) != 0) {
		json_object_put(reply);
		return r;
	}
	req = icctl_request(op, icctl_text(hold, "id"));
	json_object_object_add(
	    req, "digest", json_object_new_string(icctl_text(hold, "digest")));
	if (session)
		json_object_object_add(req, "session",
		    json_object_new_string(icctl_text(hold, "sessionDigest")));
	if (because != NULL)
		json_object_object_add(
		    req, "because", json_object_new_string(because));
	json_object_put(reply);
	if ((r = ask(ctl, req, &reply)) != 0)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json)
		icctl_put_json(reply);
	else {
		fputs(strcmp(op, "approve") == 0 ? "approved " : "denied ",
		    stdout);
		icctl_show_hold_line(hold, false);
		if (session &&
		    (!json_object_object_get_ex(reply, "granted", &granted) ||
			!json_object_get_boolean(granted))) {
			puts("Only this call: what was to be granted is no "
			     "longer what was shown.");
			r = ICCTL_FAILED;
		}
	}
	json_object_put(reply);
	return r;
}

int
icctl_approve(struct icctl *ctl, int argc, char **argv)
{
	const char *id = NULL;
	bool session = false, bad = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--for-session") == 0)
			session = true;
		else if (id == NULL && argv[i][0] != '-')
			id = argv[i];
		else
			bad = true;
	}
	if (id == NULL || bad) {
		warnx("usage: icctl approve ID [--for-session]");
		return ICCTL_USAGE;
	}
	return answer(ctl, "approve", id, NULL, session);
}

int
icctl_deny(struct icctl *ctl, int argc, char **argv)
{
	const char *because = NULL;

	if (argc == 4 && strcmp(argv[2], "--because") == 0)
		because = argv[3];
	else if (argc != 2) {
		warnx("usage: icctl deny ID [--because TEXT]");
		return ICCTL_USAGE;
	}
	if (because != NULL && strlen(because) > 500) {
		warnx("--because takes at most 500 characters");
		return ICCTL_USAGE;
	}
	return answer(ctl, "deny", argv[1], because, false);
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
	return simple(ctl, argc, argv, "Locked providers are used again.");
}
