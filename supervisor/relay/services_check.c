/* SPDX-License-Identifier: ISC */
/*
 * Has ic-look look at the listeners of "services" once, before the sandbox is made. The
 * users that they belong to are kept in IRONCURTAIN_HOME/services.json by
 * address: if another user listens there later, it may be somebody who waits
 * for what the agent sends.
 */
#include "relay/services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "core/sup.h"
#include "host/services_look.h"

#define CHECK_FILE "services.json"

static struct {
	bool known; /* the file has it already */
	char whose[SERVICE_WHOSE];
} check[PROTO_MAX_SERVICES];
static struct service_found check_found[PROTO_MAX_SERVICES];

bool
services_off(unsigned i)
{
	return check_found[i].seen.local && !check_found[i].seen.listens;
}

const char *
services_whose(unsigned i)
{
	return check[i].whose;
}

/* Returns the key of the file: "127.0.0.1:5432". */
static const char *
check_key(const struct config_service *s, char key[80])
{
	snprintf(key, 80, strchr(s->host, ':') != NULL ? "[%s]:%u" : "%s:%u",
	    s->host, s->to);
	return key;
}

/* Refuse a listener by its kind, or because it is another user's. */
static int
check_one(unsigned i, struct json_object *users, const char *path,
    struct fault *fault)
{
	const struct config_service *s = &sup.config.services[i];
	const struct service_seen *seen = &check_found[i].seen;
	char key[80], now[SERVICE_USER], first[SERVICE_USER];
	struct jsonfile j = {path, fault};
	int64_t uid = -1;

	check_key(s, key);
	if (seen->refused != NULL)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: %s is %s%s%s. No agent gets that: remove the "
		    "service",
		    s->name, key, seen->refused,
		    seen->program[0] != '\0' ? ", by its program " : "",
		    seen->program);
	if (seen->mixed)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: programs of several users listen at %s: stop "
		    "those that should not",
		    s->name, key);
	if (!seen->listens)
		return 0;
	if (jsonfile_int(&j, users, "", key, 0, UINT32_MAX, &uid) == -1)
		return -1;
	check[i].known = uid != -1;
	if (uid == -1 || uid == (int64_t)seen->uid)
		return 0;
	return fault_set_kind(fault, FAULT_CONFIG,
	    "services.%s: %s of this machine listens at %s, and at the first "
	    "start it was %s. If that is right, remove \"%s\" from %s",
	    s->name, service_user(seen->uid, now), key,
	    service_user(uid, first), key, path);
}

/* Returns the file's object, an empty one without file, or NULL. */
static struct json_object *
check_users(const char *path, struct fault *fault)
{
	struct json_object *o = jsonfile_load(path, fault);

	return o == NULL && errno == ENOENT ? json_object_new_object() : o;
}

/* Keep the users of new services. */
static int
check_keep(struct json_object *users, const char *path, struct fault *fault)
{
	bool changed = false;
	const char *text;
	char key[80];

	for (unsigned i = 0; i < sup.config.nservices; i++) {
		if (check[i].known || !check_found[i].seen.listens)
			continue;
		json_object_object_add(users,
		    check_key(&sup.config.services[i], key),
		    json_object_new_int64((int64_t)check_found[i].seen.uid));
		changed = true;
	}
	if (!changed)
		return 0;
	text = json_object_to_json_string_ext(
	    users, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	return jsonfile_replace(path, span_str(text)) == -1
		   ? fault_errno(fault, "%s", path)
		   : 0;
}

/* A published port would show the host's service to browsers. */
static int
check_published(struct fault *fault)
{
	for (unsigned i = 0; i < sup.config.nservices; i++)
		for (unsigned k = 0; k < sup.opt.npublish; k++)
			if (sup.config.services[i].port ==
			    sup.opt.publish[k].port)
				return fault_set_kind(fault, FAULT_CONFIG,
				    "--publish: port %u of the sandbox is that "
				    "of services.%s",
				    sup.config.services[i].port,
				    sup.config.services[i].name);
	return 0;
}

int
services_check(struct fault *fault)
{
	struct json_object *users = NULL;
	char *path;
	int rv = 0;

	if (!sup.services)
		return 0;
	if (check_published(fault) == -1)
		return -1;
	if ((path = paths_join(sup.paths.home, CHECK_FILE)) == NULL)
		return fault_errno(fault, CHECK_FILE);
	if ((users = check_users(path, fault)) == NULL ||
	    services_look(&sup.config, sup.paths.libexecdir, check_found,
		fault) == -1)
		rv = -1;
	for (unsigned i = 0; rv == 0 && i < sup.config.nservices; i++) {
		errno = check_found[i].error;
		if (sup.config.services[i].own != NULL) {
			(void)strlcpy(check[i].whose, "started by this session",
			    sizeof(check[i].whose));
			continue;
		}
		if (errno != 0)
			rv = fault_errno(fault,
			    "services.%s: the kernel does not tell who listens "
			    "(sock_diag)",
			    sup.config.services[i].name);
		else
			rv = check_one(i, users, path, fault);
		service_whose(&check_found[i].seen, check[i].whose);
	}
	if (rv == 0)
		rv = check_keep(users, path, fault);
	json_object_put(users);
	free(path);
	return rv;
}

void
services_say(void)
{
	void (*say)(const char *, ...);
	const struct config_service *s;
	char key[80];

	if (!sup.services && sup.config.nservices != 0 &&
	    sup.opt.runtime == RUNTIME_NONE)
		sup_note("services of config.json have no effect with "
			 "--runtime none, where nothing separates the agent "
			 "from this machine");
	for (unsigned i = 0; sup.services && i < sup.config.nservices; i++) {
		s = &sup.config.services[i];
		say = check[i].known || sup.opt.quiet ? sup_note : sup_warn;
		check_key(s, key);
		if (s->own != NULL) {
			sup_note("the agent reaches a service of the session's "
				 "own at localhost:%u, service %s",
			    s->port, s->name);
			continue;
		}
		if (services_off(i)) {
			sup_warn("service %s is off in this session: nothing "
				 "listens at %s. Start it, then a new session",
			    s->name, key);
			continue;
		}
		say("the agent reaches %s at localhost:%u, service %s: %s", key,
		    s->port, s->name, check[i].whose);
		if (s->user[0] != '\0')
			say("service %s logs in as %s, to the database %s",
			    s->name, s->user, s->database);
		if (check_found[i].seen.can != NULL)
			say("service %s: %s", s->name, check_found[i].seen.can);
	}
}
