/* SPDX-License-Identifier: ISC */
/* Parses "dockerResources" and "limits" of config.json. */
#include "files/limits.h"

#include <json-c/json.h>

#include "files/limits_priv.h"

#define LIMITS_MAX_MB (16U << 20) /* 16 TiB */

/* Read a whole number from `min` on, or null for no limit. */
static int
limit(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, int64_t min, uint64_t *out)
{
	struct json_object *v;
	int64_t n = (int64_t)*out;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (v == NULL) {
		*out = 0;
		return 0;
	}
	if (jsonfile_int(j, o, where, key, min, LIMITS_MAX_MB, &n) == -1)
		return -1;
	*out = (uint64_t)n;
	return 0;
}

/*
 * Read "cpus". Fractions, which the TypeScript IronCurtain accepts, are rounded
 * up.
 */
static int
limit_cpus(const struct jsonfile *j, struct json_object *o, unsigned *cpus)
{
	struct json_object *v;
	double d;

	if (!json_object_object_get_ex(o, "cpus", &v))
		return 0;
	if (v == NULL) {
		*cpus = 0;
		return 0;
	}
	d = json_object_get_double(v);
	if ((!json_object_is_type(v, json_type_int) &&
		!json_object_is_type(v, json_type_double)) ||
	    !(d > 0 && d <= 4096))
		return jsonfile_bad(j, "dockerResources", "cpus",
		    "must be a number above 0, or null for no limit");
	*cpus = (unsigned)d;
	if (*cpus < d)
		(*cpus)++;
	return 0;
}

int
limits_read(
    struct limits *l, const struct jsonfile *j, struct json_object *root)
{
	static const char *const docker[] = {"memoryMb", "cpus", NULL};
	static const char *const keys[] = {"processes", "openFiles", "tmpMb",
	    "shmMb", "homeMb", "serverMemoryMb", "minFreeDiskMb", NULL};
	struct json_object *o = NULL;

	if (jsonfile_object(j, root, "", "dockerResources", &o) == -1)
		return -1;
	if (o != NULL &&
	    (jsonfile_known(j, o, "dockerResources", docker) == -1 ||
		limit(j, o, "dockerResources", "memoryMb", 64, &l->memory_mb) ==
		    -1 ||
		limit_cpus(j, o, &l->cpus) == -1))
		return -1;
	o = NULL;
	if (jsonfile_object(j, root, "", "limits", &o) == -1)
		return -1;
	if (o != NULL &&
	    (jsonfile_known(j, o, "limits", keys) == -1 ||
		limit(j, o, "limits", "processes", 16, &l->processes) == -1 ||
		limit(j, o, "limits", "openFiles", 256, &l->files) == -1 ||
		limit(j, o, "limits", "tmpMb", 1, &l->tmp_mb) == -1 ||
		limit(j, o, "limits", "shmMb", 1, &l->shm_mb) == -1 ||
		limit(j, o, "limits", "homeMb", 16, &l->home_mb) == -1 ||
		limit(j, o, "limits", "serverMemoryMb", 64, &l->server_mb) ==
		    -1 ||
		limit(j, o, "limits", "minFreeDiskMb", 16, &l->free_mb) == -1))
		return -1;
	limits_bound(l, l->memory_mb,
	    json_object_object_get_ex(o, "tmpMb", NULL),
	    json_object_object_get_ex(o, "shmMb", NULL));
	return 0;
}
