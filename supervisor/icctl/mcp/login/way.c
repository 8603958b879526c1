/* SPDX-License-Identifier: ISC */
/*
 * The corporate proxy of a login, as that of a session: config.json or the
 * environment names it, dialerd connects to it, and tunneld, which has its
 * credential, asks it for the hosts that icctl has checked.
 */
#include "icctl/mcp/login/login.h"

#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "credential/credential_env.h"
#include "credential/proxy_env.h"

/* Open the credential in a file. Returns it, or -1 with the fault set. */
static int
way_file(const char *path, struct fault *fault)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd == -1 || fstat(fd, &st) == -1)
		fault_errno(fault, "proxy.credential: %s", path);
	else if (paths_credential(fd, &st, path, fault) == 0)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

/* Open the credential. Returns 0, or -1 with the fault set. */
static int
way_credential(
    struct proxy *p, const struct config_provider *c, struct fault *fault)
{
	if (p->escaped)
		return proxy_pipe(p, fault);
	if (!p->auth)
		return 0;
	if (c->kind == CREDENTIAL_ENV)
		p->cred.fd = credential_env_pipe(c->value, fault);
	else if (c->kind == CREDENTIAL_FILE)
		p->cred.fd = way_file(c->value, fault);
	else
		fault_set(fault, "proxy.credential of config.json comes from "
				 "a program, which only sessions run. For this "
				 "login, put USER:PASSWORD into a file of its "
				 "own: {\"credential\": {\"file\": PATH}}");
	return p->cred.fd == -1 ? -1 : 0;
}

int
way_open(struct login *l)
{
	struct fault fault = {""};
	int rv;

	if (config_load(&l->config, NULL, l->own.paths.home,
		l->own.paths.user_home, NULL, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	l->configured = true;
	rv = proxy_load(&l->proxy, &l->config, &fault);
	if (rv == 0)
		rv = way_credential(&l->proxy, &l->config.proxy.auth, &fault);
	proxy_wipe();
	if (rv == -1)
		warnx("%s", fault.text);
	return rv;
}

void
way_close(struct login *l)
{
	if (!l->configured)
		return;
	if (l->proxy.cred.fd != -1)
		close(l->proxy.cred.fd);
	free(l->proxy.direct);
	free(l->proxy.ca);
	config_free(&l->config);
	l->configured = false;
}

int
on_tunnel_show(struct chan *c, const struct msg_TUNNEL_SHOW *m)
{
	char vis[600];

	if (m->proxy != PROTO_PROXY_NONE)
		warnx("the corporate proxy: %s",
		    log_vis(m->text, vis, sizeof(vis)));
	return 0;
}

int
on_key_state(struct chan *c, const struct msg_KEY_STATE *m)
{
	char vis[600];

	if (m->state != PROTO_KEY_LOADED)
		warnx("the credential of the corporate proxy: %s",
		    log_vis(m->text, vis, sizeof(vis)));
	return 0;
}
