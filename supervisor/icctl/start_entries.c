/* SPDX-License-Identifier: ISC */
/*
 * Asks about MCP servers whose entries were changed since the user approved
 * them, before the agent has the terminal. The answer goes to icsupervisor with
 * the hash of the entry that was shown; without one, the tools of the server
 * are in quarantine until `icctl trust`.
 */
#include "icctl/start_entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/sha256.h"
#include "files/config.h"
#include "files/servers.h"
#include "policy/pins.h"

/* Returns the entry as the user approved it, or NULL if it is the same. */
static const char *
entries_was(json_object *pins, const struct server_def *d)
{
	json_object *entries, *v;
	const char *was;

	if (d->entry == NULL ||
	    !json_object_object_get_ex(pins, "entries", &entries) ||
	    !json_object_object_get_ex(entries, d->name, &v))
		return NULL;
	was = json_object_get_string(v);
	return strcmp(was, d->entry) == 0 ? NULL : was;
}

static json_object *
entries_shown(
    const struct servers *s, const struct server_def *d, const char *was)
{
	json_object *o = json_object_new_object();

	put_str(o, "server", d->name);
	put_str(o, "file", s->file);
	put_str(o, "entry", d->entry);
	put_str(o, "was", was);
	return o;
}

/* Returns NAME:HASH for icsupervisor if the user approved the entry. */
static char *
entries_ask(
    const struct servers *s, const struct server_def *d, const char *was)
{
	json_object *o = entries_shown(s, d, was);
	char hex[SHA256_HEX], *out = NULL;
	uint8_t hash[SHA256_SIZE];

	icctl_put_entry(o);
	json_object_put(o);
	if (!icctl_confirm("Did you change it, and is it right?")) {
		printf("    its tools are in quarantine until: icctl trust "
		       "%s\n",
		    d->name);
		return NULL;
	}
	sha256_span(span_str(d->entry), hash);
	if (asprintf(&out, "%s:%s", d->name, sha256_hex(hash, hex)) == -1)
		return NULL;
	return out;
}

size_t
start_entries(const struct icctl *ctl, const char *file, const char *profile,
    char **out, size_t max)
{
	struct paths paths = {
	    .home = (char *)(uintptr_t)ctl->home, .user_home = getenv("HOME")};
	struct servers_how how = {.checking = true};
	json_object *pins = NULL;
	struct fault ignored;
	struct config cfg;
	struct servers s;
	char path[4200];
	const char *was;
	size_t n = 0;

	/* icsupervisor reports mistakes in these files. */
	snprintf(path, sizeof(path), "%.4000s/pins.json", ctl->home);
	if (paths.user_home == NULL || access(path, F_OK) == -1 ||
	    !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    config_load(&cfg, file, ctl->home, paths.user_home, profile,
		&ignored) == -1)
		return 0;
	if (servers_find(&s, &how, servers_text, &cfg, &paths, &ignored) == 0) {
		if (pins_read(path, &pins, &ignored) == 0) {
			for (unsigned i = 0; i < s.n && n < max; i++) {
				was = entries_was(pins, &s.defs[i]);
				if (was != NULL &&
				    (out[n] = entries_ask(
					 &s, &s.defs[i], was)) != NULL)
					n++;
			}
			json_object_put(pins);
		}
		servers_free(&s);
	}
	config_free(&cfg);
	return n;
}
