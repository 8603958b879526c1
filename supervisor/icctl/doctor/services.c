/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about "services": each is a grant of whatever the
 * service can do, so that it says what that is, as a start does.
 */
#include "icctl/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "files/config.h"
#include "host/services_look.h"

static void
services_one(const struct config_service *s, const struct service_found *f,
    doctor_check *check)
{
	const struct service_seen *seen = &f->seen;
	char whose[SERVICE_WHOSE], text[400];
	int n;

	n = snprintf(text, sizeof(text),
	    strchr(s->host, ':') != NULL ? "%s at [%s]:%u: " : "%s at %s:%u: ",
	    s->name, s->host, s->to);
	if (s->own != NULL) {
		snprintf(text, sizeof(text), "%s at localhost:%u: ", s->name,
		    s->port);
		check(GOOD, "service", text,
		    "started by each session, in a sandbox of its own");
		return;
	}
	if (f->error != 0) {
		check(BAD, "service", text, strerror(f->error));
		return;
	}
	if (seen->refused != NULL) {
		snprintf(
		    text + n, sizeof(text) - (size_t)n, "%s", seen->refused);
		check(WRONG, "service", text,
		    "no session starts until it is removed from config.json");
		return;
	}
	if (seen->local && !seen->listens) {
		snprintf(text + n, sizeof(text) - (size_t)n,
		    "nothing listens there");
		check(NOTE, "service", text,
		    "it is off in a session that starts now");
		return;
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "%s",
	    service_whose(seen, whose));
	check(seen->can != NULL ? NOTE : GOOD, "service", text,
	    seen->can != NULL ? seen->can : "");
}

void
doctor_services(const struct config *cfg, doctor_check *check)
{
	static struct service_found found[PROTO_MAX_SERVICES];
	struct paths paths;
	struct fault fault;

	if (cfg->nservices == 0)
		return;
	if (paths_init(&paths, NULL, &fault) == -1) {
		check(BAD, "service", "services: ", fault.text);
		return;
	}
	if (services_look(cfg, paths.libexecdir, found, &fault) == -1)
		check(BAD, "service", "services: ", fault.text);
	else
		for (unsigned i = 0; i < cfg->nservices; i++)
			services_one(&cfg->services[i], &found[i], check);
	paths_free(&paths);
}
