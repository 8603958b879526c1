/* SPDX-License-Identifier: ISC */
/*
 * Messages from icsupervisor to acpd: the workspace and the listener before
 * START, then the editor's channel. At STOP, pending output still reaches the
 * editor.
 */
#include "workers/acpd/acpd.h"

#include <unistd.h>

#include "common/log.h"

static int
serve_path(char dst[4097], struct span path)
{
	if (path.len > 4096 || memchr(path.p, '\0', path.len) != NULL)
		return -1;
	memcpy(dst, path.p, path.len);
	dst[path.len] = '\0';
	return 0;
}

static int
on_mode(struct chan *c, const struct msg_ACP_MODE *m)
{
	if (acpd_env.has_mode || serve_path(acpd_env.host, m->host) == -1 ||
	    serve_path(acpd_env.named, m->named) == -1 ||
	    serve_path(acpd_env.inside, m->inside) == -1 ||
	    m->host.len == 0 || m->inside.len == 0)
		return chan_violation(c, "ACP_MODE twice, or without a path");
	acpd_env.has_mode = true;
	return 0;
}

static int
on_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	if (box_conn_listener(&acpd_env.box, fd) == 0)
		return 0;
	close(fd);
	return chan_violation(c, "LISTEN twice");
}

static int
on_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	box_conn_open(&acpd_env.box, fd);
	return 0;
}

static int
on_viewer(struct chan *c, const struct msg_VIEWER *m, int fd)
{
	acpd_editor_open(fd);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(ACP_MODE,	on_mode),
	HANDLER(LISTEN,		on_listen),
	HANDLER(CONNECTION,	on_connection),
	HANDLER(VIEWER,		on_viewer),
};
/* clang-format on */

static void
serve_start(void)
{
	struct acpd_env *e = &acpd_env;
	struct acp_paths paths = {.host = {e->host}, .inside = e->inside};

	if (!e->has_mode || e->box.listener == -1)
		fatalx("START before ACP_MODE and LISTEN");
	if (e->named[0] != '\0')
		paths.host[1] = e->named;
	if (acp_init(&e->acp, &acpd_ops, &paths) == -1)
		fatal("memory");
	if (box_conn_start(&e->box) == -1)
		fatal("listener");
}

static void
serve_stop(void)
{
	acpd_env.stopping = true;
	box_conn_stop(&acpd_env.box);
}

static void
serve_after(void *arg)
{
	struct acpd_env *e = &acpd_env;

	acpd_editor_room();
	box_conn_update(&e->box);
	if (!e->stopping || e->box.fd != -1 || e->agent.more)
		return;
	acpd_editor_end();
	if (e->chan == NULL || chan_queued(e->chan) == 0)
		worker_exit(&e->w, 0);
}

void
acpd_serve(void)
{
	struct acpd_env *e = &acpd_env;

	box_conn_init(&e->box, &acpd_box_ops, &e->w.loop, ACPD_BOX_OUT);
	buf_init(&e->said, ACPD_SAID);
	lines_init(&e->agent.lines, ACP_MAX_LINE);
	lines_init(&e->editor.lines, ACP_MAX_LINE);
	/* The editor may send what it has room for while its lines wait. */
	buf_init(&e->editor.lines.in,
	    (size_t)ACP_MAX_LINE + 1 + PROTO_TYPED_ROOM + LINES_READ);
	e->w.start = serve_start;
	e->w.stop = serve_stop;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
