/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about "services": each is a grant of whatever the
 * service can do, so that it says what that is, as a start does.
 */
#include "icctl/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "files/config.h"
#include "host/service_look.h"

static void
services_one(const struct config_service *s, doctor_check *check)
{
	char whose[SERVICE_WHOSE], text[400];
	struct service_seen seen;
	int n;

	n = snprintf(text, sizeof(text),
	    strchr(s->host, ':') != NULL ? "%s at [%s]:%u: " : "%s at %s:%u: ",
	    s->name, s->host, s->to);
	if (service_look(s->host, s->to, &seen) == -1) {
		check(BAD, "service", text, strerror(errno));
		return;
	}
	if (seen.refused != NULL) {
		snprintf(
		    text + n, sizeof(text) - (size_t)n, "%s", seen.refused);
		check(WRONG, "service", text,
		    "no session starts until it is removed from config.json");
		return;
	}
	if (seen.local && !seen.listens) {
		snprintf(text + n, sizeof(text) - (size_t)n,
		    "nothing listens there");
		check(NOTE, "service", text,
		    "it is off in a session that starts now");
		return;
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "%s",
	    service_whose(&seen, whose));
	check(seen.can != NULL ? NOTE : GOOD, "service", text,
	    seen.can != NULL ? seen.can : "");
}

void
doctor_services(const struct config *cfg, doctor_check *check)
{
	for (unsigned i = 0; i < cfg->nservices; i++)
		services_one(&cfg->services[i], check);
}
