/* SPDX-License-Identifier: ISC */
/*
 * Which client a login is of: the one that the person has registered, a
 * document that a person publishes, or one that mcp-grantd registers now.
 */
#include "icctl/mcp/login/login.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/log.h"
#include "credential/credential_env.h"

#define REGISTER_MS 60000U

int
on_registered(struct chan *c, const struct msg_REGISTERED *m)
{
	struct login *l = chan_arg(c);

	l->registered = true;
	l->reg = *m;
	if (span_copy(m->client, l->client, sizeof(l->client)) == -1)
		l->client[0] = '\0';
	if (span_copy(m->why, l->reg_why, sizeof(l->reg_why)) == -1)
		l->reg_why[0] = '\0';
	return 0;
}

unsigned
client_port(const struct login *l)
{
	struct json_object *v = get_member(l->oauth, "callbackPort");
	int64_t port = 0;

	if (l->callback_port != 0)
		return l->callback_port;
	if (json_object_is_type(v, json_type_int))
		port = json_object_get_int64(v);
	return port > 0 && port <= 65535 ? (unsigned)port : 0;
}

/* Returns a descriptor of the client's secret, -1 if there is none, or -2. */
static int
secret_open(const struct login *l)
{
	struct json_object *where =
	    get_member(own_secrets(&l->own, l->name), "clientSecret");
	const char *env = get_str(where, "env", NULL),
		   *file = get_str(where, "file", NULL);
	struct fault fault = {""};
	struct stat st;
	char path[4400];
	int fd = -1;

	if (where == NULL)
		return -1;
	if (env != NULL) {
		if ((fd = credential_env_pipe(env, &fault)) == -1)
			warnx("serverCredentials.%s.clientSecret: %s is not "
			      "set",
			    l->name, env);
		return fd == -1 ? -2 : fd;
	}
	if (file == NULL) {
		warnx("serverCredentials.%s.clientSecret: must be {\"file\": "
		      "PATH} or {\"env\": NAME}",
		    l->name);
		return -2;
	}
	snprintf(path, sizeof(path), "%s%s",
	    strncmp(file, "~/", 2) == 0 ? l->own.paths.user_home : "",
	    file + (file[0] == '~'));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1 || fstat(fd, &st) == -1 ||
	    paths_credential(fd, &st, path, &fault) == -1) {
		warnx("serverCredentials.%s.clientSecret: %s", l->name,
		    fault.text[0] != '\0' ? fault.text : path);
		if (fd != -1)
			close(fd);
		return -2;
	}
	return fd;
}

static enum proto_auth
auth_of(const struct login *l)
{
	uint32_t f = l->server.flags;

	if ((f & PROTO_SERVER_BASIC) != 0 || (f & PROTO_SERVER_SAYS) == 0)
		return PROTO_AUTH_BASIC;
	return PROTO_AUTH_POST;
}

/* Returns true if clients without a secret are taken. */
static bool
takes_none(const struct login *l)
{
	return (l->server.flags & PROTO_SERVER_NONE) != 0 ||
	       (l->server.flags & PROTO_SERVER_SAYS) == 0;
}

/* Use the client that the person registered. */
static int
configured(struct login *l, const char *id)
{
	static const struct msg_CLIENT_SECRET m;
	int fd = secret_open(l);

	if (fd == -2)
		return -1;
	l->client_from = "configured";
	snprintf(l->client, sizeof(l->client), "%s", id);
	if (fd == -1 && !takes_none(l)) {
		warnx("%s: the server to log in at takes only clients with a "
		      "secret. Say in config.json where it is: "
		      "{\"serverCredentials\": {\"%s\": {\"clientSecret\": "
		      "{\"file\": \"PATH\"}}}}",
		    l->name, l->name);
		return -1;
	}
	l->auth = fd == -1 ? PROTO_AUTH_NONE : auth_of(l);
	return fd == -1 ? 0 : boxes_send(l, BOX_GRANT, MSG_CLIENT_SECRET, &m, fd);
}

static int
nobody(const struct login *l)
{
	char vis[600];

	warnx("%s: %s registers no clients by itself. Register one there, with "
	      "the redirect address %s, and write its id into the server's "
	      "entry: \"oauth\": {\"clientId\": \"...\", \"callbackPort\": "
	      "%s}. If it has a secret: {\"serverCredentials\": {\"%s\": "
	      "{\"clientSecret\": {\"file\": \"PATH\"}}}} in config.json",
	    l->name, log_vis(span_str(l->issuer), vis, sizeof(vis)),
	    l->redirect, strrchr(l->host, ':') + 1, l->name);
	return -1;
}

static int
registered(struct login *l)
{
	struct msg_REGISTER m = {.redirect = span_str(l->redirect),
	    .scopes = span_str(l->wanted)};
	char vis[600];
	const char *why;
	struct place p;

	if (plan_place(l->server.registration, &p, &why) == -1) {
		warnx("%s: the address to register at %s", l->name, why);
		return -1;
	}
	m.host = span_str(p.host);
	m.port = p.port;
	m.path = span_str(p.path);
	m.auth = takes_none(l) ? PROTO_AUTH_NONE : (uint8_t)auth_of(l);
	if (box_target(l, BOX_GRANT, 0, &p, false) == -1 ||
	    boxes_send(l, BOX_GRANT, MSG_REGISTER, &m, -1) == -1 ||
	    boxes_wait(l, &l->registered, REGISTER_MS) == -1)
		return -1;
	if (l->client[0] == '\0') {
		warnx("%s: no client could be registered at %s: %s", l->name,
		    p.host,
		    log_vis(span_str(l->reg_why), vis, sizeof(vis)));
		return -1;
	}
	l->auth = (enum proto_auth)l->reg.auth;
	l->client_from = "registered";
	return 0;
}

int
client_find(struct login *l)
{
	const char *id = get_str(l->oauth, "clientId", NULL),
		   *document = get_str(l->oauth, "clientIdMetadata", NULL);
	struct place p;
	const char *why;

	if (id != NULL)
		return configured(l, id);
	if (document != NULL &&
	    (l->server.flags & PROTO_SERVER_DOCUMENT) != 0) {
		if (plan_place(document, &p, &why) == -1) {
			warnx("%s: oauth.clientIdMetadata: %s", l->name, why);
			return -1;
		}
		snprintf(l->client, sizeof(l->client), "%s", document);
		l->client_from = "document";
		return 0;
	}
	if (l->server.registration[0] == '\0')
		return nobody(l);
	return registered(l);
}
