/* SPDX-License-Identifier: ISC */
/* `icctl attach`: requests a channel to the agent's terminal and shows it. */
#include "icctl/icctl.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "credential/handover.h"
#include "icctl/screen/launch.h"
#include "icctl/screen/viewer.h"
#include "icctl/words.h"

#define ATTACH_REPLY 4096U

/*
 * Returns the reply, and the descriptor that came with it; or NULL after an
 * error was reported.
 */
static json_object *
attach_ask(struct icctl *ctl, int *channel)
{
	char reply[ATTACH_REPLY];
	json_object *req, *o = NULL;
	size_t len = 0;
	ssize_t n = 1;
	int sock, fd;

	*channel = -1;
	if ((sock = icctl_connect(ctl)) == -1)
		return NULL;
	req = icctl_request("attach", NULL);
	if (icctl_tell(sock, req) == -1)
		n = 0;
	json_object_put(req);
	while (n > 0 && len < sizeof(reply) - 1 &&
	       (len == 0 || reply[len - 1] != '\n')) {
		n = handover_receive(
		    sock, reply + len, sizeof(reply) - 1 - len, &fd);
		if (n == -1 && errno == EINTR)
			n = 1;
		else if (n > 0)
			len += (size_t)n;
		if (fd != -1 && *channel == -1)
			*channel = fd;
		else if (fd != -1)
			close(fd);
	}
	close(sock);
	reply[len] = '\0';
	if (len != 0 && reply[len - 1] == '\n')
		o = json_tokener_parse(reply);
	if (o == NULL)
		warnx("session %s closed the connection without an answer",
		    ctl->dir);
	return o;
}

int
icctl_attach(struct icctl *ctl, int argc, char **argv)
{
	struct viewer_how how;
	json_object *o, *v;
	const char *name;
	int channel, rv;

	if ((rv = icctl_one_session(ctl, argc, argv)) != 0 ||
	    (rv = icctl_find(ctl)) != 0)
		return rv;
	if ((o = attach_ask(ctl, &channel)) == NULL)
		return ICCTL_NO_SESSION;
	if (!get_true(o, "ok") || channel == -1) {
		rv = icctl_refused(ctl, o);
		json_object_put(o);
		return rv;
	}
	viewer_how_find(&how, false);
	if (json_object_object_get_ex(o, "screen", &v) &&
	    json_object_get_boolean(v) != how.screen) {
		if (how.screen)
			how = (struct viewer_how){.screen = false};
		else {
			warnx("the agent has a full screen: attach needs a "
			      "terminal for it (TERM is not \"dumb\")");
			json_object_put(o);
			return ICCTL_FAILED;
		}
	}
	/* Only the first viewer gets the agent's own bytes. */
	how.raw[0] = how.raw[1] = how.input = how.merge = false;
	how.attached = true;
	how.answers = !how.screen && get_true(o, "messages");
	/* Whole lines are messages; there is nobody to type them in a pipe. */
	how.talk = how.answers && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	launch_key(&how, ctl, NULL, NULL, how.screen);
	name = icctl_text(o, "session");
	parent_hold_signals();
	if (how.talk)
		warnx("session %s: each line that you type is a message; ^D "
		      "detaches",
		    name);
	(void)launch_viewer(0, &how, name, ctl->dir, channel, -1);
	warn("viewer");
	return ICCTL_FAILED;
}
