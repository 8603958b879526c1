/* SPDX-License-Identifier: ISC */
/*
 * The hosts that a server may connect to, as the user lists them: for its
 * egressd, for dialerd, and as names for policyd's domain gate.
 */
#include "files/servers_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

/* Add "host" or "host:port" to the list; the default port is 443. */
static int
servers_door(struct servers_entry *e, const char *where, const char *text,
    const char *key, bool denied)
{
	struct egress_list *l = e->def->egress;
	char host[EGRESS_MAX_HOST + 1];
	struct span s = span_str(text);
	const char *colon = strrchr(text, ':');
	uint16_t port = 443;
	struct span name = s;

	if (colon != NULL && (text[0] == '[' || strchr(text, ':') == colon)) {
		if (span_starts(s, SPAN("*")))
			port = (uint16_t)strtonum(colon + 1, 1, 65535, NULL);
		else if (egress_target(s, host, &port) == -1)
			port = 0;
		name = span_of(text, (size_t)(colon - text));
		if (text[0] == '[' && port != 0)
			name = span_of(text + 1, (size_t)(colon - text) - 2);
	}
	if (port == 0 ||
	    (egress_add(l, name, port, denied) == -1 && errno == EINVAL))
		return jsonfile_bad(&e->j, where, key,
		    "\"%s\": must be a name, *.name, * or an address, with "
		    ":PORT where it is not 443",
		    text);
	return 0;
}

/*
 * Read {"host": HOST, "opaque": true}, where other protocols than TLS may go,
 * too. Returns 0, or -1 with the fault set.
 */
static int
servers_door_object(struct servers_entry *e, struct json_object *o,
    const char *where, const char *key)
{
	static const char *const keys[] = {"host", "opaque", NULL};
	struct egress_list *l = e->def->egress;
	const unsigned before = l->n;
	const char *host = NULL;
	char at[320];
	bool opaque = false;

	snprintf(at, sizeof(at), "%s.%s", where, key);
	if (jsonfile_known(&e->j, o, at, keys) == -1 ||
	    jsonfile_str(&e->j, o, at, "host", &host) == -1 ||
	    jsonfile_bool(&e->j, o, at, "opaque", &opaque) == -1)
		return -1;
	if (host == NULL)
		return jsonfile_bad(&e->j, at, "host", "is missing");
	if (servers_door(e, at, host, "host", false) == -1)
		return -1;
	if (l->n != before)
		l->rows[before].opaque = opaque;
	return 0;
}

static int
servers_doors(struct servers_entry *e, struct json_object *net,
    const char *where, const char *key, bool denied)
{
	struct json_object *list, *v;
	const char *text;
	char item[64];
	size_t n;

	if (!json_object_object_get_ex(net, key, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(&e->j, where, key,
		    "must be an array of strings, is %s", jsonfile_kind(list));
	if ((n = json_object_array_length(list)) > EGRESS_MAX_ROWS / 2)
		return jsonfile_bad(&e->j, where, key,
		    "has %zu entries, at most %u are taken", n,
		    EGRESS_MAX_ROWS / 2);
	for (size_t i = 0; i < n; i++) {
		v = json_object_array_get_idx(list, i);
		snprintf(item, sizeof(item), "%s[%zu]", key, i);
		if (!denied && json_object_is_type(v, json_type_object)) {
			if (servers_door_object(e, v, where, item) == -1)
				return -1;
		} else if (jsonfile_text_of(&e->j, v, where, item, &text) ==
			       -1 ||
			   servers_door(e, where, text, key, denied) == -1) {
			return -1;
		}
	}
	return 0;
}

/* Write the allowed names for policyd's domain gate, one per line. */
static int
servers_domains(struct servers_entry *e)
{
	const struct egress_list *l = e->def->egress;
	struct buf b;

	buf_init(&b, 16384);
	for (unsigned i = 0; i < l->n; i++) {
		if (l->rows[i].denied)
			continue;
		if (b.len != 0)
			buf_addc(&b, '\n');
		buf_adds(&b, l->rows[i].host);
	}
	buf_addc(&b, '\0');
	if (!b.failed)
		e->def->domains = strdup((const char *)buf_span(&b).p);
	buf_free(&b);
	return e->def->domains == NULL
		   ? fault_errno(e->j.fault, "%s", e->j.file)
		   : 0;
}

int
servers_network(struct servers_entry *e, struct json_object *sandbox)
{
	static const char *const keys[] = {
	    "allowedDomains", "allowPrivate", "deniedDomains", NULL};
	struct json_object *v;
	char where[256];

	if (!json_object_object_get_ex(sandbox, "network", &v))
		return 0;
	if (json_object_is_type(v, json_type_boolean) &&
	    !json_object_get_boolean(v))
		return 0;
	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(&e->j, e->where, "sandbox.network",
		    "must be false or an object with allowedDomains, is %s: no "
		    "server shares the host's network",
		    json_object_is_type(v, json_type_boolean)
			? "true"
			: jsonfile_kind(v));
	snprintf(where, sizeof(where), "%s.sandbox.network", e->where);
	if (jsonfile_known(&e->j, v, where, keys) == -1 ||
	    (e->def->egress = calloc(1, sizeof(*e->def->egress))) == NULL)
		return e->def->egress == NULL && errno == ENOMEM
			   ? fault_errno(e->j.fault, "%s", e->j.file)
			   : -1;
	if (jsonfile_bool(&e->j, v, where, "allowPrivate",
		&e->def->egress->private_ok) == -1 ||
	    servers_doors(e, v, where, "allowedDomains", false) == -1)
		return -1;
	if (e->def->egress->n == 0) {
		free(e->def->egress);
		e->def->egress = NULL;
		return 0;
	}
	if (servers_doors(e, v, where, "deniedDomains", true) == -1)
		return -1;
	return servers_domains(e);
}
