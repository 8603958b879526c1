/* SPDX-License-Identifier: ISC */
/*
 * Reads the "login" of a service: the agent gets connections that are logged in
 * already, and never the password. For the rest of the program its credential
 * is that of a destination of kind "postgres", which no agent can name.
 */
#include "files/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "files/providers/destinations.h"

/* Take a name of the database server: 1 to 63 printable characters. */
static int
login_name(const struct jsonfile *j, const char *where, struct json_object *o,
    const char *key, char dst[PROTO_MAX_LOGIN + 1])
{
	const char *s = NULL;

	if (jsonfile_str(j, o, where, key, &s) == -1)
		return -1;
	if (s == NULL || s[0] == '\0' || strlen(s) > PROTO_MAX_LOGIN)
		return jsonfile_bad(j, where, key,
		    "must be there: a name of at most %u bytes",
		    PROTO_MAX_LOGIN);
	for (const char *p = s; *p != '\0'; p++)
		if (*p < 0x20 || *p > 0x7e)
			return jsonfile_bad(
			    j, where, key, "must be printable ASCII");
	(void)strlcpy(dst, s, PROTO_MAX_LOGIN + 1);
	return 0;
}

static int
login_members(const struct jsonfile *j, const char *where,
    struct json_object *o, struct config_service *s)
{
	static const char *const keys[] = {"kind", "user", "database",
	    "credential", "superuser", "tls", "ca", NULL};
	const char *kind = NULL;
	bool superuser = false, tls = false;

	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "kind", &kind) == -1)
		return -1;
	if (kind == NULL || strcmp(kind, "postgres") != 0)
		return jsonfile_bad(j, where, "kind",
		    "must be \"postgres\", which is the only kind");
	if (login_name(j, where, o, "user", s->user) == -1 ||
	    login_name(j, where, o, "database", s->database) == -1 ||
	    jsonfile_bool(j, o, where, "superuser", &superuser) == -1 ||
	    jsonfile_bool(j, o, where, "tls", &tls) == -1)
		return -1;
	s->login = (uint8_t)((superuser ? PROTO_LOGIN_SUPERUSER : 0) |
			     (tls ? PROTO_LOGIN_TLS : 0));
	return 0;
}

/* "ca": the server's certificate must be from there; off this machine always.
 */
static int
login_roots(struct config_destination *d, const struct jsonfile *j,
    const char *where, struct json_object *o, struct config_service *s,
    const char *user_home)
{
	const bool here =
	    strncmp(s->host, "127.", 4) == 0 || strcmp(s->host, "::1") == 0;
	const char *ca = NULL;

	if (jsonfile_str(j, o, where, "ca", &ca) == -1)
		return -1;
	if (ca != NULL && (s->login & PROTO_LOGIN_TLS) == 0)
		return jsonfile_bad(j, where, "ca", "needs \"tls\": true");
	if (ca == NULL && !here)
		return jsonfile_bad(j, where, NULL,
		    "needs \"tls\": true and \"ca\", because the address in "
		    "\"to\" is not on this machine");
	if (ca == NULL)
		return 0;
	s->login |= PROTO_LOGIN_CA;
	if ((d->as.ca = config_path(j->file, user_home, ca)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}

/* Fill the destination: its one host is the service's address. */
static int
login_destination(struct config_destination *d, const struct jsonfile *j,
    const char *name, const struct config_service *s)
{
	struct config_upstream *up = &d->as.upstreams[0].at;
	struct json_object *credential = json_object_new_object();

	/* The variable is never read: the credential says where it is. */
	put_str(credential, "env", "PGPASSWORD");
	d->kind = &destination_postgres;
	d->as.reuse = true;
	d->as.name = strdup(name);
	d->as.nupstreams = 1;
	*up = (struct config_upstream){.set = true, .port = s->to};
	(void)strlcpy(up->host, s->host, sizeof(up->host));
	d->file = json_object_new_object();
	json_object_object_add(d->file, "credential", credential);
	d->hosts = calloc(2, sizeof(*d->hosts));
	if (d->as.name == NULL || d->hosts == NULL ||
	    asprintf(&d->hosts[0], "%s.invalid", name) == -1)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}

int
services_login(struct config *cfg, const struct jsonfile *j, const char *name,
    struct json_object *o, struct config_service *s, const char *user_home)
{
	struct json_object *credential = NULL;
	struct config_destination *d;
	char where[80], at[96];

	snprintf(where, sizeof(where), "services.%s.login", name);
	snprintf(at, sizeof(at), "%s.credential", where);
	if (login_members(j, where, o, s) == -1)
		return -1;
	if (!json_object_object_get_ex(o, "credential", &credential))
		return jsonfile_bad(j, where, "credential",
		    "must be there, and say where the password is: {\"file\": "
		    "\"PATH\"} or {\"command\": [...]}");
	if (cfg->ndestinations == CONFIG_MAX_DESTINATIONS)
		return jsonfile_bad(j, where, NULL,
		    "destinations and logins together may be at most %u",
		    CONFIG_MAX_DESTINATIONS);
	d = &cfg->destinations[cfg->ndestinations++];
	memset(d, 0, sizeof(*d));
	return login_destination(d, j, name, s) == -1 ||
		       login_roots(d, j, where, o, s, user_home) == -1 ||
		       config_credential_of(
			   &d->as, j, credential, at, user_home, false) == -1
		   ? -1
		   : 0;
}
