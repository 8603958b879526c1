/* SPDX-License-Identifier: ISC */
/*
 * `icctl keys`: lists the credentials of a session, without their values, and
 * replaces one without ending the session. keyd knows ages and uses;
 * icsupervisor knows where a credential comes from.
 */
#include "hub/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "core/sup.h"
#include "files/providers/destinations.h"

/* UINT64_MAX means never. */
static void
put_ago(struct json_object *o, const char *key, uint64_t ms)
{
	json_object_object_add(o, key,
	    ms == UINT64_MAX ? NULL : json_object_new_int64((int64_t)ms));
}

static const char *
keys_source(const struct provider *p, const char **kind)
{
	const struct config_provider *cfg = p->config;

	if (p->login != -1) {
		*kind = "login";
		return provider_login_file(p);
	}
	*kind = "environment";
	if (p->in_parts)
		return p->parts_text;
	switch (cfg == NULL ? CREDENTIAL_DEFAULT : cfg->kind) {
	case CREDENTIAL_LOGIN:
	case CREDENTIAL_CAPTURE:
	case CREDENTIAL_DEFAULT:
		return p->env;
	case CREDENTIAL_ENV:
		return cfg->value;
	case CREDENTIAL_FILE:
		*kind = "file";
		return cfg->value;
	case CREDENTIAL_SYSTEMD:
		*kind = "systemd";
		return cfg->value;
	case CREDENTIAL_SERVICE:
		*kind = "secret-service";
		return cfg->command.argv[0];
	case CREDENTIAL_COMMAND:
		*kind = "command";
		return cfg->command.argv[0];
	}
	return "";
}

static struct json_object *
keys_one(unsigned i)
{
	static const char *const states[] = {
	    "loaded", "empty", "bad", "locked", "refused", "waiting"};
	const struct provider *p = &sup.providers.list[i];
	const struct key *k = &sup.keys[i];
	struct json_object *o = json_object_new_object(), *failure;
	const char *kind, *source;

	source = keys_source(p, &kind);
	put_str(o, "provider", p->name);
	put_str(o, "kind", kind);
	if (p->login != -1)
		put_str(o, "login", p->logins[p->login].name);
	put_str(o, "source", source);
	put_str(o, "state", states[k->state]);
	if ((failure = trouble_json(i)) != NULL)
		json_object_object_add(o, "failure", failure);
	if (k->tell.loaded == 0 && k->tell.used == 0)
		return o;
	put_ago(o, "age_ms", k->tell.loaded);
	put_ago(o, "used_ms", k->tell.used);
	put_int(o, "requests", (int64_t)k->tell.requests);
	if (p->login != -1) {
		json_object_object_add(o, "expires",
		    k->tell.expires == 0
			? NULL
			: json_object_new_int64((int64_t)k->tell.expires));
		put_int(o, "renewals", (int64_t)k->tell.renewals);
	}
	return o;
}

static struct json_object *
keys_reply(void)
{
	struct json_object *o = control_ok(), *list = json_object_new_array();

	for (unsigned i = 0; i < sup.providers.n; i++)
		if (sup.providers.list[i].env != NULL)
			json_object_array_add(list, keys_one(i));
	json_object_object_add(o, "keys", list);
	return o;
}

void
control_keys(struct client *c)
{
	static const struct msg_KEY_ASK ask;

	c->reply = keys_reply();
	for (unsigned i = 0; i < sup.providers.n; i++) {
		if (sup.providers.list[i].env == NULL)
			continue;
		c->keys |= 1ULL << i;
		child_send(ROLE_KEY, i, MSG_KEY_ASK, &ask, -1);
	}
	if (c->keys == 0)
		control_answer(c);
}

void
control_keys_tell(unsigned provider, const struct msg_KEY_TELL *m)
{
	unsigned server = sup.providers.list[provider].server;
	struct key *k = &sup.keys[provider];
	struct client *c;

	if (server != 0 && (m->renewals != k->tell.renewals ||
			       m->expires != k->tell.expires)) {
		/* The old credential's trouble is past. */
		k->trouble.count = 0;
		k->tell = *m;
		control_server(server - 1);
	}
	k->tell = *m;
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || (c->keys & 1ULL << provider) == 0)
			continue;
		c->keys &= ~(1ULL << provider);
		if (c->keys != 0 || c->reply == NULL)
			continue;
		json_object_put(c->reply);
		c->reply = keys_reply();
		control_answer(c);
	}
}

/* Reap a credential command; keyd judges its output. */
static void
keys_command_ended(struct loop_io *io, uint32_t events)
{
	struct key *k = io->arg;
	char how[128], where[96], lost[600];
	int code, status;

	if (spawn_reap(k->cred.command.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	close(k->cred.command.pidfd);
	k->cred.command = (struct spawned)SPAWNED_INIT;
	if (spawn_status(code, status) == 0)
		return;
	snprintf(where, sizeof(where), "credentials.%.64s",
	    sup.providers.list[k - sup.keys].name);
	sup_warn("%s.command %s%s", where,
	    spawn_describe(code, status, how, sizeof(how)),
	    host_command_lost(&k->command, where, lost, sizeof(lost)));
}

/* Use the value of icctl's own variable, which came as a pipe. */
static int
keys_handed(const struct provider *p, struct key *k, struct client *c,
    const char *source, struct fault *fault)
{
	int fd = c->handed;

	if (fd == -1)
		return fault_set(fault,
		    "the key of %s comes from the variable %s, which this "
		    "session read once. Set %s to the new key and run: icctl "
		    "keys reload %s; or give it as a file: icctl keys reload "
		    "%s --file PATH",
		    p->name, source, source, p->name, p->name);
	c->handed = -1;
	return credential_open_pipe(&k->cred, fd, fault);
}

/*
 * Before the login of a remote server is read: find who renews it. Returns 0,
 * or -1 with the fault set.
 */
static int
keys_server(unsigned i, struct fault *fault)
{
	struct provider *p = &sup.providers.list[i];
	struct config_upstream up, *is = &p->logins[0].token;

	if (p->server == 0 || p->login == -1)
		return 0;
	if (destination_login_token(
		p, sup.servers[p->server - 1].def->command, &up, fault) == -1)
		return -1;
	if (is->set &&
	    (strcmp(is->host, up.host) != 0 ||
		strcmp(is->prefix, up.prefix) != 0 || is->port != up.port))
		return fault_set(fault,
		    "the login of %s is one at another issuer; sessions that "
		    "begin now use it",
		    p->name);
	if (is->set)
		return 0;
	*is = up;
	p->waits = false;
	setup_token(i);
	return 0;
}

static int
keys_open(struct client *c, unsigned i, const char *path, struct fault *fault)
{
	const struct provider *p = &sup.providers.list[i];
	struct key *k = &sup.keys[i];
	const struct credential_how how = {sup.workspace, &k->command};
	const char *kind, *source;
	int rv;

	if (k->renewal.phase != RENEWAL_NONE)
		return fault_set(fault,
		    "the login of %s is being renewed; try again", p->name);
	if (k->cred.command.pidfd != -1)
		return fault_set(fault,
		    "the credential command of %s is still "
		    "running",
		    p->name);
	source = keys_source(p, &kind);
	if (keys_server(i, fault) == -1)
		return -1;
	if (path != NULL && path[0] != '/')
		return fault_set(fault, "%s: must be a whole path", path);
	if (path != NULL)
		rv = credential_open_file(&k->cred, path, sup.workspace, fault);
	else if (strcmp(kind, "environment") == 0)
		rv = keys_handed(p, k, c, source, fault);
	else if (p->kept)
		rv = credential_open_file(
		    &k->cred, source, sup.workspace, fault);
	else
		rv = credential_open(&k->cred, p, &how, fault);
	if (rv == 0 && k->cred.command.pidfd != -1)
		rv = loop_add(&sup.loop, &k->exit_io, k->cred.command.pidfd,
		    EPOLLIN, keys_command_ended, k);
	return rv;
}

static void
keys_send(unsigned i, bool again)
{
	struct msg_SECRET m = {
	    .kind = (uint8_t)(sup.providers.list[i].login + 1), .again = again};

	child_send(ROLE_KEY, i, MSG_SECRET, &m, sup.keys[i].cred.fd);
	sup.keys[i].cred.fd = -1;
}

int
control_keys_want(unsigned i)
{
	const struct provider *p = &sup.providers.list[i];
	struct fault fault = {""};
	struct msg_SECRET_NONE none;

	if (!credential_again(p))
		return -1;
	if (keys_open(NULL, i, NULL, &fault) == 0) {
		event_credential(i, "asked", "");
		keys_send(i, true);
		return 0;
	}
	sup_warn("%s", fault.text);
	event_credential(i, "failed", fault.text);
	fault.text[256] = '\0';
	none = (struct msg_SECRET_NONE){.text = span_str(fault.text)};
	child_send(ROLE_KEY, i, MSG_SECRET_NONE, &none, -1);
	return 0;
}

void
control_keys_reload(struct client *c, const char *name, const char *path)
{
	struct fault fault = {""};
	int i;

	if (!c->peer.may) {
		control_fail(c, "not-permitted", c->peer.why);
		return;
	}
	if ((i = providers_find(&sup.providers, name)) == -1) {
		control_fail(c, "not-found",
		    "no such provider in this session. See: icctl keys");
		return;
	}
	if (keys_open(c, (unsigned)i, path, &fault) == -1) {
		control_fail(c, "failed", fault.text);
		return;
	}
	sup_note("keys reload %s by pid %d", name, (int)c->peer.pid);
	c->reply = control_ok();
	c->reload = (unsigned)i + 1;
	keys_send((unsigned)i,
	    path == NULL && credential_again(&sup.providers.list[i]));
}

void
control_keys_state(unsigned provider)
{
	const struct key *k = &sup.keys[provider];
	bool good = k->state == PROTO_KEY_LOADED, any = false;
	struct client *c;
	char text[320];

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || c->reload != provider + 1)
			continue;
		any = true;
		c->reload = 0;
		if (!good) {
			snprintf(text, sizeof(text),
			    "the new credential was not accepted: %s. The old "
			    "one stays in use",
			    k->text[0] != '\0' ? k->text : "it is empty");
			control_refuse(c, "failed", text);
		}
		control_answer(c);
	}
	/* The last failure was one of the credential that is gone. */
	if (any && good)
		sup.keys[provider].trouble.count = 0;
	if (any)
		event_credential(provider, good ? "replaced" : "failed",
		    good ? "" : k->text);
}
