/* SPDX-License-Identifier: ISC */
#include "host/services_look.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/helper.h"
#include "base/report.h"
#include "host/services_seen.h"

#define LOOK_MS 30000U
#define LOOK_JOB 8192U

static struct service_found *look_found;

/* Keep a text that `*of` points to from then on. */
static bool
look_text(char to[SERVICES_TEXT], const char *text, const char **of)
{
	*of = to;
	return strlcpy(to, text, SERVICES_TEXT) < SERVICES_TEXT;
}

/* Take a report about the service. Returns false if there is no such one. */
static bool
look_report(struct service_found *c, int letter, const char *text)
{
	struct service_seen *seen = &c->seen;
	uint64_t n;

	switch (letter) {
	case SEEN_LOCAL:
		return seen->local = true;
	case SEEN_MIXED:
		return seen->mixed = true;
	case SEEN_USER:
		if (span_u64(span_str(text), UINT32_MAX, &n) == -1)
			return false;
		seen->uid = (uid_t)n;
		return seen->listens = true;
	case SEEN_ERRNO:
		if (span_u64(span_str(text), INT_MAX, &n) == -1)
			return false;
		c->error = (int)n;
		return true;
	case SEEN_NAME:
		return strlcpy(seen->program, text, sizeof(seen->program)) <
		       sizeof(seen->program);
	case SEEN_REFUSED:
		return look_text(c->refused, text, &seen->refused);
	case SEEN_KIND:
		return look_text(c->kind, text, &seen->kind);
	case SEEN_CAN:
		return look_text(c->can, text, &seen->can);
	default:
		return false;
	}
}

static int
look_take(int letter, const char *text, struct fault *fault)
{
	static struct service_found *at;
	uint64_t n;

	if (letter == SEEN_AT) {
		at = NULL;
		if (span_u64(span_str(text), PROTO_MAX_SERVICES - 1, &n) == 0)
			at = &look_found[n];
		if (at != NULL)
			return 0;
	} else if (at != NULL && look_report(at, letter, text)) {
		return 0;
	}
	return fault_set(fault, SEEN_PROGRAM ": the report is not valid");
}

int
services_look(const struct config *c, const char *libexecdir,
    struct service_found found[PROTO_MAX_SERVICES], struct fault *fault)
{
	static char *const envp[] = {NULL};
	const struct config_service *s;
	struct buf job;
	struct helper h = {.libexecdir = libexecdir,
	    .name = SEEN_PROGRAM,
	    .task = "services",
	    .job = &job,
	    .envp = envp,
	    .take = look_take};
	char text[80];
	int rv;

	memset(found, 0, PROTO_MAX_SERVICES * sizeof(*found));
	look_found = found;
	buf_init(&job, LOOK_JOB);
	for (unsigned i = 0; i < c->nservices; i++) {
		s = &c->services[i];
		/* The session's own have no listener yet: an empty place. */
		snprintf(text, sizeof(text), "%u %s",
		    s->own != NULL ? 0U : s->to, s->host);
		report_add(&job, SEEN_SERVICE, text);
	}
	rv = helper_run(&h, LOOK_MS, fault);
	buf_free(&job);
	return rv;
}
