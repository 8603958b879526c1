/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp logout` and `icctl mcp status`: the end of a login, and what is
 * known of each. Nothing here reads a token.
 */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/log.h"
#include "icctl/mcp/login/login.h"
#include "icctl/words.h"

#define REVOKE_MS 60000U

/* Ask the issuer to forget the login. Returns 0, or -1 after the reason. */
static int
revoke_login(struct login *l, const char *url)
{
	struct msg_LOGOUT m = {.host = SPAN("")};
	const char *why = "";
	char vis[600];
	struct place p;
	int fd;

	if (plan_place(url, &p, &why) == -1) {
		warnx("%s: %s", url, why);
		return -1;
	}
	m.host = span_str(p.host);
	m.port = p.port;
	m.path = span_str(p.path);
	fd = open(l->files.token, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd == -1) {
		icctl_warn_errno(l->files.token);
		return -1;
	}
	if (login_start(l) == -1) {
		close(fd);
		return -1;
	}
	if (box_target(l, BOX_GRANT, 2, &p, false) == -1) {
		close(fd);
		return -1;
	}
	if (boxes_send(l, BOX_GRANT, MSG_LOGOUT, &m, fd) == -1 ||
	    boxes_wait(l, &l->done, REVOKE_MS) == -1)
		return -1;
	if (l->end.good)
		return 0;
	warnx("%s did not revoke it: %s", p.host,
	    log_vis(span_str(l->end_why), vis, sizeof(vis)));
	return -1;
}

static int
logout(struct login *l)
{
	struct json_object *said = files_said(&l->files);
	const char *url = get_str(said, "revocation", NULL);
	struct renewal lock;
	bool revoked = false;
	unsigned removed;
	char vis[600];

	if (said == NULL && access(l->files.token, F_OK) == -1) {
		printf("There is no login of %s.\n", l->name);
		return ICCTL_OK;
	}
	/* No session renews it meanwhile: its latest tokens are revoked. */
	if (files_lock(&l->files, &lock) == -1) {
		json_object_put(said);
		return ICCTL_FAILED;
	}
	if (url != NULL)
		revoked = revoke_login(l, url) == 0;
	removed = files_remove(&l->files);
	renew_release(&lock);
	if (removed == 0) {
		warnx("%s: the login could not be removed", l->name);
		json_object_put(said);
		return ICCTL_FAILED;
	}
	printf("The login of %s is removed%s.\n", l->name,
	    revoked ? ", and was revoked by its issuer" : "");
	if (!revoked)
		printf("It was not revoked: %s. To end it everywhere, remove "
		       "IronCurtain's access at %s\n",
		    url != NULL ? "its issuer did not take that"
				: "its issuer has no address for it",
		    log_vis(span_str(get_str(said, "issuer", "the server")),
			vis, sizeof(vis)));
	files_end(l);
	json_object_put(said);
	return ICCTL_OK;
}

int
mcp_logout(struct icctl *ctl, int argc, char **argv)
{
	static struct login l;
	int r = ICCTL_FAILED;

	if (words_help()) {
		puts("usage: icctl mcp logout NAME\n\nRevokes the login at a "
		     "remote MCP server, if its issuer can do that, and "
		     "removes\nits tokens.");
		return ICCTL_OK;
	}
	if (argc != 2)
		return words_usage();
	if (login_open(&l, ctl, argv[1]) == 0)
		r = logout(&l);
	login_close(&l);
	return r;
}
