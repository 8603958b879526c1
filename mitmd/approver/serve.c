/* SPDX-License-Identifier: ISC */
/* The approver's messages. */
#include "approver/approver.h"

#include <unistd.h>

#include "common/log.h"

static int
on_provider(struct chan *c, const struct msg_PROVIDER *m)
{
	char err[512];

	if (approver_env.provider != NULL)
		return chan_violation(c, "PROVIDER twice");
	approver_env.provider = provider_parse(m->json, err, sizeof(err));
	if (approver_env.provider == NULL)
		return chan_violation(c, "provider file: %s", err);
	approver_env.index = m->index;
	return 0;
}

static int
on_approver(struct chan *c, const struct msg_APPROVER *m)
{
	struct approver_env *e = &approver_env;
	int route;

	if (e->provider == NULL || e->model[0] != '\0' || m->model.len == 0 ||
	    m->provider != e->index ||
	    span_copy(m->model, e->model, sizeof(e->model)) == -1)
		return chan_violation(c, "APPROVER out of turn");
	route = question_route(e->provider, span_str(e->model), e->path);
	if (route == -1)
		return chan_violation(c, "no route for a question");
	e->route = (unsigned)route;
	return 0;
}

static int
on_consider(struct chan *c, const struct msg_CONSIDER *m)
{
	if (m->digest.len != sizeof(approver_env.x.digest))
		return chan_violation(c, "CONSIDER without digest");
	exchange_begin(m);
	return 0;
}

static int
on_stream(struct chan *c, const struct msg_STREAM *m, int fd)
{
	exchange_stream(m->stream, fd);
	return 0;
}

static int
on_refused(struct chan *c, const struct msg_REFUSED *m)
{
	exchange_refused(m->stream, (enum proto_refused)m->reason);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(PROVIDER,	on_provider),
	HANDLER(APPROVER,	on_approver),
	HANDLER(CONSIDER,	on_consider),
	HANDLER(STREAM,		on_stream),
	HANDLER(REFUSED,	on_refused),
};
/* clang-format on */

static void
serve_start(void)
{
	if (approver_env.model[0] == '\0')
		fatalx("START without APPROVER");
}

void
approver_serve(void)
{
	exchange_init();
	approver_env.w.start = serve_start;
	worker_serve(
	    &approver_env.w, serve_handlers, nitems(serve_handlers));
}
