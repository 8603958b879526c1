/* SPDX-License-Identifier: ISC */
/*
 * Volumes that an image declares. Docker would make each a directory of the
 * host, writable without any limit, and has no option against it, but makes
 * none where something else is mounted: an empty tmpfs that nobody can write.
 * Podman is told to ignore them.
 */
#include "box/containers/engine.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "box/sandbox.h"
#include "core/sup.h"

/* Nothing of an image is mounted at, above or below these. */
static const char *const volumes_ours[] = {"/home", "/workspace", "/run",
    "/etc", "/opt/ironcurtain", "/tmp", "/dev", "/proc", "/sys",
    SANDBOX_BRIDGE};

/* Returns true if one of the paths is the other, or below it. */
static bool
volumes_meet(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t least = n < m ? n : m;

	return strncmp(a, b, least) == 0 &&
	       (n == m || (n > m ? a : b)[least] == '/' || least == 1);
}

static int
volumes_check(const char *path, struct fault *fault)
{
	bool ok = path[0] == '/' && path[1] != '\0' && strlen(path) < 256 &&
		  strstr(path, "/..") == NULL && strstr(path, "//") == NULL &&
		  strpbrk(path, ",\"\\\n\r") == NULL &&
		  !volumes_meet(path, sup.inside);

	for (size_t i = 0; ok && i < nitems(volumes_ours); i++)
		ok = !volumes_meet(path, volumes_ours[i]);
	if (ok)
		return 0;
	return fault_set(fault,
	    "image %s declares a volume at %s (VOLUME), where a session has "
	    "its own. Use an image without it, or --runtime podman",
	    engine.image, path);
}

int
engine_volumes(struct json_object *image, struct fault *fault)
{
	struct json_object *v;

	if (engine.kind->bit == ON_PODMAN ||
	    !json_object_object_get_ex(image, "volumes", &v) ||
	    !json_object_is_type(v, json_type_object))
		return 0;
	json_object_object_foreach(v, path, unused)
	{
		(void)unused;
		if (volumes_check(path, fault) == -1)
			return -1;
		if (engine.nvolumes == ENGINE_MAX_VOLUMES)
			return fault_set(fault,
			    "image %s declares more than %u volumes",
			    engine.image, ENGINE_MAX_VOLUMES);
		if ((engine.volumes[engine.nvolumes] = strdup(path)) == NULL)
			return fault_errno(fault, "%s", engine.image);
		engine.nvolumes++;
	}
	return 0;
}

int
engine_volumes_add(struct wordlist *args)
{
	for (unsigned i = 0; i < engine.nvolumes; i++)
		if (engine_add_mount(args,
			"type=tmpfs,target=%s,tmpfs-size=4096,tmpfs-mode=0555",
			engine.volumes[i]) == -1)
			return -1;
	return 0;
}
