/* SPDX-License-Identifier: ISC */
/*
 * `icctl web`: the page of every session of this user. This process holds the
 * connections to sessions; icwebd holds those to browsers and what they say.
 */
#include "icctl/web/priv.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/fleet/fleet.h"
#include "icctl/words.h"

static volatile sig_atomic_t web_signal;

static void
on_signal(int sig)
{
	web_signal = sig;
}

static void
web_event(void *arg, struct live_session *s, json_object *o)
{
	web_talk_event(arg, s, o);
	state_changed(arg, s, LIVE_ACTIVITY);
}

static const struct live_ops web_ops = {
    state_changed, verdict_replied, web_event};

/* Returns true for a name, or one with a port, without anything else. */
static bool
web_is_name(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";

	return s[0] != '\0' && strlen(s) <= 200 && s[strspn(s, plain)] == '\0';
}

/* Refuse an option. Returns the exit status. */
static int
web_refuse(const char *why, const char *what)
{
	warnx("%s%s", why, what);
	return ICCTL_USAGE;
}

/* Read the options; *ask: what to ask the page that runs for. */
static int
web_options(struct web *w, const char **ask)
{
	const char *port = words_option("--port"), *bad = NULL;

	w->path = words_option("--socket");
	w->ctl->hub = words_option("--hub");
	w->open = words_given("--open");
	*ask = words_given("--stop")     ? "stop"
	       : words_given("--logout") ? "logout"
					 : NULL;
	if (port != NULL) {
		w->port = (unsigned)strtonum(port, 1, 65535, &bad);
		if (bad != NULL)
			return web_refuse("--port: no port: ", port);
	}
	w->nnames = (unsigned)words_list("--host", w->names, WEB_NAMES);
	if (w->nnames > WEB_NAMES)
		return web_refuse("--host: too many names", "");
	for (unsigned i = 0; i < w->nnames; i++)
		if (strncmp(w->names[i], "0.0.0.0", 7) == 0 ||
		    strcmp(w->names[i], "::") == 0)
			return web_refuse("--host is what a browser calls the "
					  "page, which listens on this machine "
					  "alone. From another one: ssh -L "
					  "PORT:127.0.0.1:PORT, with --port "
					  "PORT",
			    "");
		else if (!web_is_name(w->names[i]))
			return web_refuse(
			    "--host: not the name of a host: ", w->names[i]);
	if (w->ctl->hub != NULL && w->ctl->session != NULL)
		return web_refuse("--hub: its sessions are those of its "
				  "relays; leave --session out",
		    "");
	if (w->path != NULL && w->port != 0)
		return web_refuse("--port and --socket: choose one", "");
	if (w->path != NULL && w->nnames == 0)
		return web_refuse("--socket needs --host with what the browser "
				  "will call the page, such as ",
		    "--host localhost:8080");
	return 0;
}

/* icwebd serves: take connections, and tell where the page is, once. */
static void
web_serving(struct web *w)
{
	char link[400];
	json_object *o;

	if (listen_accept(w, true) == -1)
		err(ICCTL_FAILED, "listener");
	if (w->said)
		return;
	w->said = true;
	link_make(w, link, sizeof(link));
	if (w->ctl->json) {
		o = json_object_new_object();
		put_str(o, "url", w->url);
		put_str(o, "link", link);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		printf("%s\n\nThis link logs one browser in, once, within a "
		       "minute. icctl web makes another\none, icctl web "
		       "--logout ends all logins. Ctrl-C ends the page; "
		       "sessions go on.\n",
		    link);
		if (w->path != NULL)
			printf("Forward the socket: ssh -L %s:%s HOST\n",
			    w->names[0], w->path);
	}
	explicit_bzero(link, sizeof(link));
	(void)fflush(stdout);
	if (w->open)
		link_browse(w);
}

static int
web_run(struct web *w)
{
	w->live = fleet_follow(w->ctl, &w->loop, 0, &web_ops, w);
	if (w->live == NULL) {
		warn("%s", w->ctl->home);
		return ICCTL_FAILED;
	}
	if (listen_open(w) == -1 || link_open(w) == -1 ||
	    web_child_start(w) == -1)
		return ICCTL_FAILED;
	if (w->ctl->session == NULL)
		web_jobs_look(w);
	while (!w->quit && web_signal == 0)
		if (loop_once(&w->loop, -1) == -1)
			return ICCTL_FAILED;
	return w->status;
}

static void
web_end(struct web *w)
{
	/* Let the last answers leave. */
	loop_turns(&w->loop);
	link_close(w);
	listen_close(w);
	child_stop(w);
	web_run_free(w);
	if (w->live != NULL)
		fleet_leave(w->live);
	state_free(w);
	web_jobs_free(w);
	loop_free(&w->loop);
	explicit_bzero(w, sizeof(*w));
	free(w);
}

int
icctl_web(struct icctl *ctl, int argc, char **argv)
{
	const struct sigaction sa = {.sa_handler = on_signal};
	struct web *w = calloc(1, sizeof(*w));
	const char *ask = NULL;
	int r;

	if (w == NULL ||
	    loop_init(&w->loop, LIVE_TIMERS + FLEET_TIMERS + 3) == -1 ||
	    spawn_init() == -1) {
		icctl_warn_errno("icwebd");
		exit(ICCTL_FAILED);
	}
	w->ctl = ctl;
	w->serving = web_serving;
	w->diag = w->fd = w->listener.fd = w->meet.fd = w->ended.fd = -1;
	w->sp = (struct spawned)SPAWNED_INIT;
	/* A page that asks anew has another number than any earlier one. */
	w->rev = clock_wall_us() / 1000;
	r = argc != 1 ? words_usage() : web_options(w, &ask);
	if (r == 0 && ctl->session != NULL)
		r = icctl_find(ctl);
	if (r != 0 || (r = link_ask(ctl, ask == NULL ? "link" : ask)) != -1) {
		web_end(w);
		return r;
	}
	if (ask != NULL) {
		warnx("no page runs");
		web_end(w);
		return ICCTL_NO_SESSION;
	}
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	r = web_run(w);
	web_end(w);
	return r;
}
