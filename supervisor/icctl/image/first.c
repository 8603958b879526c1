/* SPDX-License-Identifier: ISC */
/*
 * Without a terminal nobody can be asked, and a build takes minutes: then
 * icsupervisor refuses the start with one line that says how to build.
 */
#include "icctl/image/first.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "base/tree.h"
#include "files/config.h"
#include "icctl/image/image.h"
#include "start/builtin.h"

/*
 * Write the runtime that is in force. Returns false if it makes no container,
 * or if the configuration names an image.
 */
static bool
first_wanted(const struct icctl *ctl, const struct image_start *s,
    const char *agent, char runtime[16])
{
	const char *home = getenv("HOME");
	const struct config_agent *a;
	struct config cfg;
	struct fault fault;
	bool named;

	if (s->image != NULL)
		return false;
	/* icsupervisor will say what is wrong with it. */
	if (config_load(&cfg, s->config, ctl->home,
		home != NULL ? home : ctl->home, s->profile, &fault) == -1)
		return false;
	snprintf(
	    runtime, 16, "%s", s->runtime != NULL ? s->runtime : cfg.runtime);
	a = config_agent(&cfg, agent);
	named = cfg.image != NULL || (a != NULL && a->image != NULL);
	config_free(&cfg);
	/* A unit cannot use Podman as it is, and says so. */
	if (s->unit && strcmp(runtime, "podman") == 0)
		return false;
	return !named && (strcmp(runtime, "docker") == 0 ||
			     strcmp(runtime, "podman") == 0);
}

/* Ask about a missing image, and build it. Returns 0, or an exit status. */
static int
first_build(struct icctl *ctl, const char *runtime, const char *agent)
{
	struct image_options opt = {.runtime = runtime};

	printf("%s has no image for %s yet. It is built once: the agent and a "
	       "base with many\ntools, of several gigabytes; icctl image build "
	       "--help says how to take a smaller one.\n",
	    strcmp(runtime, "docker") == 0 ? "Docker" : "Podman", agent);
	if (!icctl_confirm("Build it now?")) {
		warnx("not started, without an image. To build it: icctl image "
		      "build %s --runtime %s",
		    agent, runtime);
		return ICCTL_FAILED;
	}
	return image_build(ctl, &opt, agent);
}

int
image_first_use(struct icctl *ctl, const struct image_start *s)
{
	struct paths paths = {.home = ctl->home, .datadir = ctl->home};
	const char *agent =
	    names_agent(&paths, s->agent != NULL ? s->agent : BUILTIN_USUAL);
	char runtime[16], name[IMAGE_NAME], tag[IMAGE_NAME], dir[IMAGE_DIR];
	json_object *found;
	struct fault fault;
	bool there;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
	    !isatty(STDOUT_FILENO) || !first_wanted(ctl, s, agent, runtime) ||
	    image_of_agent(ctl, agent, name, &fault) == -1)
		return 0;
	if (image_dir(dir) == -1)
		return ICCTL_FAILED;
	found = image_engine(runtime, dir, json_object_new_object());
	(void)tree_remove(dir);
	if (found == NULL)
		return ICCTL_FAILED;
	there = image_find(found, image_built_name(name, tag)) != NULL;
	json_object_put(found);
	return there ? 0 : first_build(ctl, runtime, agent);
}
