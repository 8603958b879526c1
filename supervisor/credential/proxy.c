/* SPDX-License-Identifier: ISC */
/*
 * Finds the corporate proxy. If a URL in the environment has user name and
 * password, they are written to a pipe directly from there and then
 * overwritten.
 */
#include "credential/proxy.h"

#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/net/no_proxy.h"
#include "credential/proxy_env.h"
#include "files/proxy_url.h"

#define PROXY_MAX_SECRET 2048U

extern char **environ;

static const char *
proxy_variable(const char *const names[], const char **which)
{
	const char *v;

	for (size_t i = 0; names[i] != NULL; i++) {
		v = getenv(names[i]);
		if (v == NULL || *v == '\0')
			continue;
		*which = names[i];
		return v;
	}
	return NULL;
}

static const char *
proxy_environment(const char **which)
{
	static const char *const names[] = {"https_proxy", "HTTPS_PROXY", NULL};

	return proxy_variable(names, which);
}

/*
 * Parse no_proxy, which people write for many programs: skip entries that we do
 * not support; their hosts go through the proxy.
 */
static int
proxy_no_proxy(struct proxy *p, struct fault *fault)
{
	static const char *const names[] = {"no_proxy", "NO_PROXY", NULL};
	static struct no_proxy rows;
	const char *which = "", *v = proxy_variable(names, &which);
	size_t len = 0, n;

	memset(&rows, 0, sizeof(rows));
	if ((p->direct = calloc(1, NO_PROXY_MAX_TEXT + 1)) == NULL)
		return fault_errno(fault, "no_proxy");
	for (; v != NULL && *v != '\0'; v += n) {
		v += strspn(v, ", \t");
		n = strcspn(v, ", \t");
		if (n == 0)
			break;
		if (no_proxy_add(&rows, span_of(v, n)) == -1) {
			if (errno != ENOBUFS)
				continue;
			return fault_set(fault,
			    "%s: more than %u entries. Write the hosts that "
			    "sessions need into config.json: "
			    "{\"proxy\":{\"noProxy\":[...]}}",
			    which, NO_PROXY_MAX_ROWS);
		}
		if (len + n + 1 > NO_PROXY_MAX_TEXT)
			return fault_set(fault, "%s: over %u bytes", which,
			    NO_PROXY_MAX_TEXT);
		memcpy(p->direct + len, v, n);
		len += n;
		p->direct[len++] = '\n';
	}
	p->ndirect = rows.n;
	return 0;
}

static unsigned
proxy_rows(const char *direct)
{
	unsigned n = 0;

	for (; *direct != '\0'; direct++)
		n += *direct == '\n';
	return n;
}

static bool
proxy_all_direct(const char *direct)
{
	return strncmp(direct, "*\n", 2) == 0 ||
	       strstr(direct, "\n*\n") != NULL;
}

static int
proxy_ca(struct proxy *p, const struct config *cfg, struct fault *fault)
{
	struct fault why = {""};
	struct stat st;

	if (cfg->proxy.ca == NULL)
		return 0;
	p->ca = jsonfile_text(cfg->proxy.ca, &p->ca_len, &st, &why);
	if (p->ca == NULL)
		return fault_set(fault, "proxy.ca: %s", why.text);
	if (p->ca_len > PROVIDERS_MAX_CA / 2)
		return fault_set(
		    fault, "proxy.ca: %s: over 2 MiB", cfg->proxy.ca);
	if (memmem(p->ca, p->ca_len, "-----BEGIN CERTIFICATE-----", 27) == NULL)
		return fault_set(fault,
		    "proxy.ca: %s: contains no certificate in PEM (-----BEGIN "
		    "CERTIFICATE-----)",
		    cfg->proxy.ca);
	/* Servers with network access can read this file. */
	if (memmem(p->ca, p->ca_len, "PRIVATE KEY-----", 16) != NULL)
		return fault_set(fault,
		    "proxy.ca: %s: contains a private key. Name a file with "
		    "certificates only",
		    cfg->proxy.ca);
	return 0;
}

int
proxy_load(struct proxy *p, const struct config *cfg, struct fault *fault)
{
	const struct config_proxy *c = &cfg->proxy;
	const char *url, *why = NULL;
	struct proxy_url u = {.port = 0};

	memset(p, 0, sizeof(*p));
	p->cred = (struct credential)CREDENTIAL_INIT;
	if (proxy_ca(p, cfg, fault) == -1)
		return -1;
	if (c->port != 0) {
		p->from = "config.json";
		memcpy(p->host, c->host, sizeof(p->host));
		p->port = c->port;
	} else if ((url = proxy_environment(&p->from)) != NULL) {
		if (proxy_url(url, &u, &why) == -1)
			return fault_set(fault, "%s: %s", p->from, why);
		memcpy(p->host, u.host, sizeof(p->host));
		p->port = u.port;
	} else {
		return 0;
	}
	p->set = true;
	p->auth = c->auth.kind != CREDENTIAL_DEFAULT;
	p->escaped = !p->auth && u.secret.len != 0;
	p->auth |= p->escaped;
	if (c->direct != NULL) {
		if ((p->direct = strdup(c->direct)) == NULL)
			return fault_errno(fault, "proxy");
		p->ndirect = proxy_rows(p->direct);
	} else if (proxy_no_proxy(p, fault) == -1) {
		return -1;
	}
	/* As in other programs, "*" means that there is no proxy. */
	if (proxy_all_direct(p->direct))
		p->set = p->auth = p->escaped = false;
	return 0;
}

void
proxy_wipe(void)
{
	const char *eq;
	size_t n;

	for (char **e = environ; e != NULL && *e != NULL; e++) {
		if ((eq = strchr(*e, '=')) == NULL)
			continue;
		n = (size_t)(eq - *e);
		if (n >= 5 && strncasecmp(eq - 5, "proxy", 5) == 0)
			proxy_url_wipe(*e + n + 1);
	}
}

int
proxy_pipe(struct proxy *p, struct fault *fault)
{
	const char *url = proxy_environment(&p->from), *why = NULL;
	struct proxy_url u;
	int pipefd[2];
	ssize_t n;

	if (url == NULL || proxy_url(url, &u, &why) == -1)
		return fault_set(fault, "%s: changed meanwhile", p->from);
	if (u.secret.len > PROXY_MAX_SECRET)
		return fault_set(fault,
		    "%s: its user name and password are too long", p->from);
	if (pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "%s", p->from);
	n = write(pipefd[1], u.secret.p, u.secret.len);
	close(pipefd[1]);
	p->cred.fd = pipefd[0];
	if (n != (ssize_t)u.secret.len)
		return fault_errno(fault, "%s", p->from);
	return 0;
}

const char *
proxy_state(const struct proxy *p)
{
	if (!p->told)
		return "not used yet";
	switch (p->state) {
	case PROTO_PROXY_NONE:
		return "ok";
	case PROTO_PROXY_LOST:
		return "not reached";
	case PROTO_PROXY_AUTH:
		return "refuses us";
	case PROTO_PROXY_DENIED:
		return "forbade a host";
	case PROTO_PROXY_FAILED:
		return "did not reach a host";
	case PROTO_PROXY_BROKEN:
		break;
	}
	return "broken";
}

const char *
proxy_hint(const struct proxy *p)
{
	if (!p->told)
		return "";
	switch (p->state) {
	case PROTO_PROXY_NONE:
	case PROTO_PROXY_FAILED:
		break;
	case PROTO_PROXY_LOST:
	case PROTO_PROXY_BROKEN:
		return "check its host and port: icctl doctor";
	case PROTO_PROXY_AUTH:
		return "its USER:PASSWORD comes from proxy.credential of "
		       "config.json or from https_proxy; change it there and "
		       "start a new session";
	case PROTO_PROXY_DENIED:
		return "whoever runs the proxy can allow the host; "
		       "proxy.noProxy of config.json bypasses it";
	}
	return "";
}
