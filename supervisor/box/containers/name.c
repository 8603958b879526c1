/* SPDX-License-Identifier: ISC */
/*
 * The image of a session: the one that the user names, or else the one that
 * `icctl image build` made for the agent. A devcontainer.json is used only if
 * the user says so, as an agent may have written it; and never to build.
 */
#include "box/containers/engine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sup.h"
#include "files/image.h"
#include "repo/clone.h"

/* The agent's program must be in the image, unless a command was given. */
static const char *
name_agent(void)
{
	return sup.opt.command == NULL ? sup.adapter.image : NULL;
}

/*
 * Write the directory whose devcontainer.json counts: the workspace or, for a
 * clone, the repository that it is made of, as that of the clone describes an
 * image that nobody has seen. Returns 0, or -1 with the fault set.
 */
static int
name_workspace(char dir[PATH_MAX], struct fault *fault)
{
	const char *clone = sup.opt.clone;
	char given[PATH_MAX], *hash;

	if (clone == NULL) {
		(void)strlcpy(dir, sup.workspace_path, PATH_MAX);
		return 0;
	}
	if (repo_is_url(clone))
		return fault_set(fault,
		    "--image " IMAGE_DEVCONTAINER ": no image was built for a "
		    "repository that is cloned from a URL. Clone it yourself, "
		    "and there: icctl image build --devcontainer; icctl start "
		    "--clone DIR --image " IMAGE_DEVCONTAINER);
	(void)strlcpy(given, clone, sizeof(given));
	/* DIR#REF, unless a directory has this name. */
	if (access(given, F_OK) == -1 && (hash = strrchr(given, '#')) != NULL)
		*hash = '\0';
	if (realpath(given, dir) == NULL)
		return fault_errno(fault, "--clone %s", given);
	return 0;
}

/* Say that the workspace describes an image, which is not used. */
static void
name_unused(void)
{
	static const char *const files[] = {
	    ".devcontainer/devcontainer.json", ".devcontainer.json"};

	for (size_t i = 0; i < nitems(files); i++)
		if (faccessat(sup.workspace, files[i], F_OK,
			AT_SYMLINK_NOFOLLOW) == 0) {
			sup_warn("this workspace has a %s, which is not used. "
				 "To use it: icctl image build --devcontainer "
				 "%s, then --image " IMAGE_DEVCONTAINER,
			    files[i],
			    name_agent() != NULL ? sup.adapter.name : "");
			return;
		}
}

int
engine_name(struct fault *fault)
{
	const struct config_agent *a =
	    config_agent(&sup.config, sup.adapter.name);
	const char *name = sup.opt.image;
	char built[IMAGE_NAME], dir[PATH_MAX];

	if (name == NULL && a != NULL)
		name = a->image;
	if (name == NULL)
		name = sup.config.image;
	if (name == NULL && name_agent() != NULL)
		name = image_built_name(name_agent(), built);
	if (name == NULL)
		return fault_set(fault,
		    "--runtime %s needs an image: --image NAME, or \"image\" "
		    "in config.json",
		    engine.kind->name);
	if (!config_is_image(name))
		return fault_set(fault,
		    "--image must be a name: letters, digits and ._:/@-, not "
		    "\"%s\"",
		    name);
	if (strcmp(name, IMAGE_DEVCONTAINER) == 0) {
		if (name_workspace(dir, fault) == -1)
			return -1;
		name = image_devcontainer_name(dir, name_agent(), built);
	} else if (sup.opt.image == NULL)
		name_unused();
	snprintf(engine.image, sizeof(engine.image), "%s", name);
	return 0;
}

/* The repository of a clone, as a word to paste, and a blank. */
static const char *
name_shown(void)
{
	static char shown[PATH_MAX + 8];
	char dir[PATH_MAX];
	struct fault ignored;

	if (name_workspace(dir, &ignored) == -1)
		return "";
	(void)paths_tilde(
	    sup.paths.user_home, dir, shown, sizeof(shown) - 1);
	(void)strlcat(shown, " ", sizeof(shown));
	return shown;
}

int
engine_name_missing(struct fault *fault)
{
	const char *name = engine.image + sizeof(IMAGE_PREFIX) - 1;
	const char *kind = engine.kind->name, *title = engine.kind->title;

	if (strncmp(engine.image, IMAGE_PREFIX IMAGE_DEVCONTAINER,
		sizeof(IMAGE_PREFIX IMAGE_DEVCONTAINER) - 1) == 0)
		return fault_set(fault,
		    "%s has no image of this workspace's devcontainer.json%s%s "
		    "yet. Look at it, and build it: icctl image build "
		    "--devcontainer %s%s%s%s--runtime %s",
		    title, name_agent() != NULL ? " with " : "",
		    name_agent() != NULL ? sup.adapter.name : "",
		    name_agent() != NULL ? sup.adapter.name : "",
		    name_agent() != NULL ? " " : "",
		    sup.opt.clone != NULL ? "--workspace " : "",
		    sup.opt.clone != NULL ? name_shown() : "", kind);
	if (strncmp(engine.image, IMAGE_PREFIX, sizeof(IMAGE_PREFIX) - 1) == 0)
		return fault_set(fault,
		    "%s has no image for %s yet. Build it, which takes a few "
		    "minutes: icctl image build %s --runtime %s",
		    title, sup.adapter.name,
		    name_agent() != NULL ? sup.adapter.name : name, kind);
	return fault_set(fault,
	    "%s has no image %s, and none is fetched: %s pull %s, or make one: "
	    "%s import FILE.tar %s",
	    title, engine.image, kind, engine.image, kind, engine.image);
}
