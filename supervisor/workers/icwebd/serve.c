/* SPDX-License-Identifier: ISC */
/* Messages of icwebd: connections and answers from icctl, requests to it. */
#include "workers/icwebd/webd.h"

#include <string.h>

#include "common/log.h"

static int
on_site(struct chan *c, const struct msg_WEB_SITE *m)
{
	if (m->hosts.len == 0 || m->hosts.p[m->hosts.len - 1] != '\n')
		return chan_violation(c, "WEB_SITE without a host");
	memcpy(webd_env.hosts, m->hosts.p, m->hosts.len);
	webd_env.hosts[m->hosts.len] = '\0';
	return 0;
}

static int
on_conn(struct chan *c, const struct msg_WEB_CONN *m, int fd)
{
	(void)c;
	(void)m;
	http_take(fd);
	return 0;
}

static int
on_answer(struct chan *c, const struct msg_WEB_ANSWER *m)
{
	struct web_request *r;

	if (m->status < 200)
		return chan_violation(c, "WEB_ANSWER without a status");
	TAILQ_FOREACH(r, &webd_env.asked, entry)
		if (r->ask.n == m->n) {
			http_answer(r, m->status, m->json);
			return 0;
		}
	/* Its browser has left. */
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(WEB_SITE,	on_site),
	HANDLER(WEB_CONN,	on_conn),
	HANDLER(WEB_ANSWER,	on_answer),
};
/* clang-format on */

static void
serve_start(void)
{
	if (webd_env.hosts[0] == '\0')
		fatalx("START before WEB_SITE");
	http_start();
}

static void
serve_after(void *arg)
{
	(void)arg;
	if (webd_env.w.started)
		http_run();
}

void
webd_serve(void)
{
	webd_env.w.start = serve_start;
	webd_env.w.loop.after = serve_after;
	worker_serve(&webd_env.w, serve_handlers, nitems(serve_handlers));
}
