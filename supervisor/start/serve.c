/* SPDX-License-Identifier: ISC */
/*
 * Has ic-serve start the services of the session's own, while the workers
 * start. It runs until the session ends: whichever way icsupervisor ends, the
 * kernel ends ic-serve and the sandboxes below it.
 */
#include "serve.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "box/cgroup/group.h"
#include "box/containers/engine.h"
#include "common/loop.h"
#include "core/sup.h"
#include "errand.h"
#include "relay/services.h"

#define SERVE_MS 60000U

static struct helper serve = {.sp = SPAWNED_INIT, .out = -1};

static void
serve_tell_engine(void)
{
	char pid[24], start[32], boot[64], text[160];

	if (engine.kind == NULL)
		return;
	engine_owner(pid, start, boot);
	errand_tell(TOLD_ENGINE, engine.kind->name);
	if (sup.opt.transport == TRANSPORT_TCP)
		errand_tell(TOLD_FAR, "");
	for (char **word = engine.before; *word != NULL; word++)
		errand_tell(TOLD_BEFORE, *word);
	/* By these, what is left over is found and removed (end.c). */
	const char *const labels[][2] = {{"session", sup.session.id},
	    {"owner-host", here()->host}, {"owner-pid", pid},
	    {"owner-start", start}, {"boot-id", boot}};

	for (size_t i = 0; i < nitems(labels); i++) {
		snprintf(text, sizeof(text), "ironcurtain.%s=%.128s",
		    labels[i][0], labels[i][1]);
		errand_tell(TOLD_LABEL, text);
	}
	snprintf(text, sizeof(text), "ironcurtain.owner-uid=%u",
	    (unsigned)geteuid());
	errand_tell(TOLD_LABEL, text);
	serve.envp = engine.env;
}

static void
serve_tell(const struct config_service *s, unsigned i)
{
	char who[80], *text;

	if (asprintf(&text, "%u %u %s %s", i, s->to, s->name,
		json_object_to_json_string_ext(
		    s->own, JSON_C_TO_STRING_PLAIN)) == -1)
		return;
	errand_tell(TOLD_SERVICE, text);
	freezero(text, strlen(text));
	snprintf(who, sizeof(who), "service %s", s->name);
	serve.fds[serve.nfds++] = group_server(who);
}

int
serve_begin(struct fault *fault)
{
	const struct limits *l = &sup.config.limits;
	char limits[256], *tool;
	int rv;

	if (!sup.services || !services_own_any())
		return 0;
	if (errand_begin(&serve, "start", errand_take, fault) == -1)
		return -1;
	serve.name = ERRAND_SERVE;
	snprintf(limits, sizeof(limits), "%llu %llu %llu %llu %llu %llu %u %u",
	    (unsigned long long)l->server_mb, (unsigned long long)l->processes,
	    (unsigned long long)l->files, (unsigned long long)l->tmp_mb,
	    (unsigned long long)l->shm_mb, (unsigned long long)l->home_mb,
	    l->cpus, (unsigned)l->group_cpus);
	errand_tell(TOLD_LIMITS, limits);
	tool = paths_join(sup.paths.bindir, "ic-bridge");
	errand_tell(TOLD_TOOL, tool);
	free(tool);
	serve_tell_engine();
	for (unsigned i = 0; i < sup.config.nservices; i++)
		if (sup.config.services[i].own != NULL)
			serve_tell(&sup.config.services[i], i);
	rv = helper_start(&serve, fault);
	for (unsigned i = 1; i < serve.nfds; i++)
		if (serve.fds[i] != -1)
			close(serve.fds[i]);
	errand_told();
	return rv;
}

int
serve_wait(struct fault *fault)
{
	const uint64_t until = clock_mono_us() / 1000 + SERVE_MS;
	struct pollfd p = {.fd = serve.out, .events = POLLIN};
	int rv = serve.out == -1 ? 1 : 0;

	while (rv == 0) {
		if (clock_mono_us() / 1000 >= until)
			rv = fault_set(fault,
			    "the services have not been started in time");
		else if (poll(&p, 1, 100) == 1)
			rv = helper_read(&serve, fault);
	}
	return rv == 1 ? 0 : -1;
}

void
serve_end(void)
{
	helper_stop(&serve);
}
