/* SPDX-License-Identifier: ISC */
/*
 * The sandbox of an MCP server: its view, its environment, its way to the
 * network if it has one, and the limits that ic-bridge sets inside.
 */
#include "core/sup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "box/cgroup/group.h"
#include "box/git/gitbox.h"
#include "box/locate.h"
#include "box/server_led.h"
#include "files/roots.h"

#define SERVER_PATH                                                            \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"                   \
	"/sbin:/bin"
/* Paths and addresses in the sandbox of a server with network. */
#define SERVER_DOOR "/run/ironcurtain/egress.sock"
#define SERVER_BRIDGE "/opt/ironcurtain/bin/ic-bridge"
#define SERVER_PROXY "http://127.0.0.1:18080"
#define SERVER_NODE "/opt/ironcurtain/lib/node-proxy.cjs"
#define SERVER_ROOTS "/run/ironcurtain/ca-bundle.pem"

static const char server_node_options[] = "--require " SERVER_NODE;

/* A session file; only its own server sees it, at SERVER_DOOR. */
static void
server_door_name(unsigned i, char dst[32])
{
	snprintf(dst, 32, "egress.%u.sock", i);
}

int
server_door_open(unsigned i, struct fault *fault)
{
	struct server *s = &sup.servers[i];
	char name[32];

	if (s->def->egress == NULL)
		return 0;
	server_door_name(i, name);
	s->door = session_listen(sup.session.fd, name, 0600);
	return s->door == -1
		   ? fault_errno(fault, "%s/%s", sup.session.dir, name)
		   : 0;
}

/*
 * A server uses TLS end to end. On a network that intercepts TLS, it trusts the
 * same CA as keyds; otherwise only the system's files.
 */
static void
server_bind_roots(struct box *b)
{
	static const char *const names[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE",
	    "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
	    "PIP_CERT", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"};
	size_t len;
	char *text;

	if (sup.proxy.ca == NULL)
		return;
	if ((text = roots_system(sup.proxy.ca, sup.proxy.ca_len, &len)) == NULL) {
		b->failed = true;
		b->error = errno;
		return;
	}
	box_data(b, SERVER_ROOTS, span_of(text, len));
	for (size_t i = 0; i < nitems(names); i++)
		box_setenv(b, names[i], SERVER_ROOTS);
	free(text);
}

/*
 * Make Node use the proxy: it does so only if told to, and up to 22.20 not at
 * all; docker/node/proxy.cjs adds it there.
 */
static int
server_bind_node(struct box *b, struct fault *fault)
{
	char *file = paths_join(sup.paths.datadir, "node-proxy.cjs");
	int rv = 0;

	if (file == NULL || access(file, R_OK) == -1)
		rv = fault_errno(fault, "node-proxy.cjs");
	else
		box_bind_path(b, file, SERVER_NODE, false);
	free(file);
	box_setenv(b, "NODE_USE_ENV_PROXY", "1");
	box_setenv(b, "NODE_OPTIONS", server_node_options);
	return rv;
}

/*
 * Give a sandbox that has only a loopback interface its way out: ic-bridge
 * listens there.
 */
static int
server_bind_door(unsigned i, struct box *b, struct fault *fault)
{
	static const char *const names[] = {"http_proxy", "https_proxy",
	    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"};
	char name[32];
	int fd;

	server_door_name(i, name);
	fd = openat(sup.session.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return fault_errno(fault, "%s", name);
	box_bind(b, fd, SERVER_DOOR, false);
	for (size_t k = 0; k < nitems(names); k++)
		box_setenv(b, names[k], SERVER_PROXY);
	box_setenv(b, "no_proxy", "");
	box_setenv(b, "NO_PROXY", "");
	server_bind_roots(b);
	close(fd);
	return server_bind_node(b, fault);
}

/* Set the variables in the server's entry. */
static void
server_setenv(const struct server *s, const struct server_def *d, struct box *b)
{
	char *eq, options[4096];

	for (char **e = d->env; *e != NULL; e++) {
		eq = strchr(*e, '=');
		*eq = '\0';
		if (s->def->egress != NULL && strcmp(*e, "NODE_OPTIONS") == 0) {
			snprintf(options, sizeof(options), "%s %s",
			    server_node_options, eq + 1);
			box_setenv(b, *e, options);
		} else {
			box_setenv(b, *e, eq + 1);
		}
		*eq = '=';
	}
}

/* Bind ic-bridge, which sets the limits and provides the way to the network. */
static int
server_bind_bridge(struct box *b, struct fault *fault)
{
	char *bridge = paths_join(sup.paths.bindir, "ic-bridge");
	int rv = 0;

	if (bridge == NULL || access(bridge, X_OK) == -1)
		rv = fault_errno(fault, "ic-bridge");
	else
		box_bind_path(b, bridge, SERVER_BRIDGE, false);
	free(bridge);
	return rv;
}

/* Start IronCurtain's own programs directly, all others through ic-bridge. */
static char **
server_argv(const struct server *s, char *const *args)
{
	char limits[96];
	const char *const ours[] = {s->program.path, NULL};
	const char *const limited[] = {
	    SERVER_BRIDGE, "limit", limits, "--", s->program.path, NULL};
	const char *const bridged[] = {SERVER_BRIDGE, "egress", "--limits",
	    limits, SERVER_DOOR, "--", s->program.path, NULL};

	limits_option(&sup.config.limits, true, limits, sizeof(limits));
	return locate_argv(s->def->egress != NULL ? bridged
			   : s->program.ours      ? ours
						  : limited,
	    args + 1);
}

int
server_spawn_box(const struct server *s, const struct server_def *d,
    const struct view *v, char *const *args, const int stdio[3],
    struct spawned *out, struct fault *fault)
{
	char **argv, who[80];
	struct limits limits;
	struct box b;
	int rv;

	limits_server(&sup.config.limits, &limits);
	box_init(
	    &b, s->program.ours ? FILTER_OURS : FILTER_SERVER, &limits);
	if (((!s->program.ours || s->def->egress != NULL) &&
		server_bind_bridge(&b, fault) == -1) ||
	    (s->def->egress != NULL &&
		server_bind_door((unsigned)(s - sup.servers), &b, fault) ==
		    -1)) {
		box_free(&b);
		return -1;
	}
	/*
	 * Decide by the program: any third-party server may run git in a
	 * repository.
	 */
	if (!s->program.ours || d->internal)
		gitbox_bind(&b, sup.paths.libexecdir);
	view_bind(v, d, &s->program, &b);
	box_setenv(&b, "PATH", SERVER_PATH);
	box_setenv(&b, "HOME", "/tmp");
	box_setenv(&b, "TMPDIR", "/tmp");
	box_setenv(&b, "LANG", "C.UTF-8");
	server_setenv(s, d, &b);
	/* Programs read files of their directory (.env): not the agent's. */
	box_args(&b, "--chdir", server_directory(s, d), NULL);
	snprintf(who, sizeof(who), "MCP server %.64s", s->def->name);
	b.group = group_server(who);
	argv = server_argv(s, args);
	if (argv == NULL)
		rv = fault_errno(fault, "%s", s->program.path);
	else
		rv = box_spawn(&b, stdio, argv, out, fault);
	jsonfile_strings_free(argv);
	box_free(&b);
	return rv;
}
