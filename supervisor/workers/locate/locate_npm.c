/* SPDX-License-Identifier: ISC */
/*
 * `npx -y PKG`: a sandbox without network cannot download, so the installed
 * package is found before the start and its program is executed.
 */
#include "workers/locate/locate_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/span.h"

struct npm {
	const struct locate *l;
	char name[215];   /* npm's own limit is 214 */
	char version[64]; /* "" if none was requested */
	char other[64];   /* a version that was found instead */
	char *dir;        /* the package's own directory */
	char *program;    /* its file to run */
};

/* Split "@scope/name@1.2.3". */
static int
npm_spec(struct npm *n, const char *spec)
{
	const char *at = strchr(spec[0] == '@' ? spec + 1 : spec, '@');
	size_t len = at != NULL ? (size_t)(at - spec) : strlen(spec);

	if (len == 0 || len >= sizeof(n->name) || strstr(spec, "..") != NULL ||
	    strspn(spec, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789@/._~^-") != strlen(spec) ||
	    spec[0] == '/' || spec[0] == '.')
		return -1;
	memcpy(n->name, spec, len);
	n->name[len] = '\0';
	snprintf(
	    n->version, sizeof(n->version), "%s", at != NULL ? at + 1 : "");
	return 0;
}

struct json_object *
locate_package_json(const char *dir)
{
	struct json_object *o = NULL;
	char *path, *text;
	ssize_t len;
	int fd;

	if ((path = paths_join(dir, "package.json")) == NULL)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	if (fd == -1)
		return NULL;
	if ((text = calloc(1, 65537)) != NULL &&
	    (len = read(fd, text, 65536)) > 0)
		o = json_tokener_parse(text);
	free(text);
	close(fd);
	if (o != NULL && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	return o;
}

/*
 * Read "bin": a path, or an object in which the package's own name is
 * preferred.
 */
static const char *
npm_bin(const struct npm *n, struct json_object *pkg)
{
	const char *base = strrchr(n->name, '/');
	struct json_object *bin, *v;

	base = base != NULL ? base + 1 : n->name;
	if (!json_object_object_get_ex(pkg, "bin", &bin))
		return NULL;
	if (json_object_is_type(bin, json_type_string))
		return json_object_get_string(bin);
	if (!json_object_is_type(bin, json_type_object))
		return NULL;
	if (json_object_object_get_ex(bin, base, &v) &&
	    json_object_is_type(v, json_type_string))
		return json_object_get_string(v);
	json_object_object_foreach(bin, key, val)
	{
		(void)key;
		if (json_object_is_type(val, json_type_string))
			return json_object_get_string(val);
	}
	return NULL;
}

static bool
npm_version_fits(const struct npm *n, const char *have)
{
	if (n->version[0] < '0' || n->version[0] > '9' ||
	    strchr(n->version, '.') == NULL)
		return true;
	return strcmp(n->version, have) == 0;
}

/*
 * Look for the package in a node_modules directory. Returns 1, 0, or -1 with
 * errno.
 */
static int
npm_try(struct npm *n, const char *modules)
{
	struct json_object *pkg, *v;
	const char *bin, *have = "";
	char *dir, *file;
	int rv = 0;

	if ((dir = paths_join(modules, n->name)) == NULL)
		return -1;
	if ((pkg = locate_package_json(dir)) == NULL)
		goto out;
	if (json_object_object_get_ex(pkg, "version", &v) &&
	    json_object_is_type(v, json_type_string))
		have = json_object_get_string(v);
	if (!npm_version_fits(n, have)) {
		snprintf(n->other, sizeof(n->other), "%s", have);
		goto out;
	}
	if ((bin = npm_bin(n, pkg)) == NULL)
		goto out;
	if ((file = paths_join(dir, bin)) == NULL)
		goto out;
	n->program = locate_real(file);
	free(file);
	if (n->program != NULL) {
		n->dir = dir;
		dir = NULL;
		rv = 1;
	}
out:
	json_object_put(pkg);
	free(dir);
	return rv;
}

static int
npm_try_at(struct npm *n, const char *dir, const char *sub)
{
	char *path;
	int rv;

	if ((path = paths_join(dir, sub)) == NULL)
		return -1;
	rv = npm_try(n, path);
	free(path);
	return rv;
}

/* Look in the packages that npx downloaded earlier. */
static int
npm_try_cache(struct npm *n, const char *user_home)
{
	char cache[PATH_MAX], path[PATH_MAX];
	struct dirent *e;
	DIR *dir;
	int rv = 0;

	snprintf(cache, sizeof(cache), "%s/.npm/_npx", user_home);
	if ((dir = opendir(cache)) == NULL)
		return 0;
	while (rv == 0 && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.' ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s/node_modules",
			cache, e->d_name) >= sizeof(path))
			continue;
		rv = npm_try(n, path);
	}
	closedir(dir);
	return rv;
}

static int
npm_find(struct npm *n)
{
	static const char *const system[] = {"/usr/local/lib/node_modules",
	    "/usr/lib/node_modules", "/usr/share/nodejs"};
	const struct locate *l = n->l;
	const char *home = l->paths->user_home, *p = l->path_env, *end;
	char dir[PATH_MAX];
	int rv;

	if ((rv = npm_try_at(n, l->base, "node_modules")) != 0 ||
	    (rv = npm_try_at(
		 n, home, ".local/share/ironcurtain/node_modules")) != 0)
		return rv;
	/* npm install -g: next to a bin/ in PATH. */
	for (; p != NULL && *p != '\0'; p = *end == ':' ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (*p != '/' || (size_t)snprintf(dir, sizeof(dir),
				     "%.*s/../lib/node_modules", (int)(end - p),
				     p) >= sizeof(dir))
			continue;
		if ((rv = npm_try(n, dir)) != 0)
			return rv;
	}
	for (size_t i = 0; i < nitems(system); i++)
		if ((rv = npm_try(n, system[i])) != 0)
			return rv;
	if ((rv = npm_try_at(n, home, ".npm-global/lib/node_modules")) != 0 ||
	    (rv = npm_try_at(n, home, "node_modules")) != 0)
		return rv;
	return npm_try_cache(n, home);
}

static int
npm_missing(const struct npm *n, struct fault *fault)
{
	bool any = n->version[0] == '\0';

	if (n->other[0] != '\0')
		return fault_set(fault,
		    "npx %s: version %s is installed, "
		    "%s is asked for. Run: npm install --prefix "
		    "~/.local/share/ironcurtain %s@%s",
		    n->name, n->other, n->version, n->name, n->version);
	return fault_set(fault,
	    "npx %s: not installed, and a server has no "
	    "network to fetch it. Run: npm install --prefix "
	    "~/.local/share/ironcurtain %s%s%s",
	    n->name, n->name, any ? "" : "@", n->version);
}

int
locate_npx(const struct locate *l, char *const *args, struct program *p,
    struct fault *fault)
{
	struct npm n = {.l = l};
	char *node = NULL;
	size_t i = 0;
	int rv = -1;

	while (args[i] != NULL &&
	       (strcmp(args[i], "-y") == 0 || strcmp(args[i], "--yes") == 0 ||
		   strcmp(args[i], "-q") == 0 || strcmp(args[i], "--") == 0))
		i++;
	if (args[i] == NULL || args[i][0] == '-')
		return fault_set(fault,
		    "npx: only `npx [-y] PACKAGE [ARG]...` is supported%s%s",
		    args[i] != NULL ? ", not " : "",
		    args[i] != NULL ? args[i] : "");
	if (npm_spec(&n, args[i]) == -1)
		return fault_set(
		    fault, "npx %s: not a valid name for a package", args[i]);
	if ((node = locate_in_path(l, "node")) == NULL)
		return fault_set(fault,
		    "npx %s: node not found in PATH. "
		    "Install Node.js: apt install nodejs",
		    n.name);
	if ((rv = npm_find(&n)) != 1) {
		rv = rv == 0 ? npm_missing(&n, fault)
			     : fault_errno(fault, "npx %s", n.name);
		goto out;
	}
	rv = -1;
	p->path = node;
	node = NULL;
	p->argv = locate_argv(
	    (const char *const[]){"node", n.program, NULL}, args + i + 1);
	if (p->argv == NULL || locate_add_tree(l, p, p->path, 1) == -1 ||
	    locate_add_tree(l, p, n.program, 1) == -1)
		fault_errno(fault, "npx %s", n.name);
	else
		rv = 0;
out:
	free(node);
	free(n.dir);
	free(n.program);
	return rv;
}
