/* SPDX-License-Identifier: ISC */
#include "icctl/image/devcontainer.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/log.h"
#include "files/config.h"
#include "icctl/image/context.h"
#include "icctl/mcp/foreign.h"

#define DEV_DOCKERFILE (256U << 10)
#define DEV_ENV 64U
#define DEV_VALUE 4096U
#define DEV_NAMES 2048U

static const char *const dev_files[] = {
    ".devcontainer/devcontainer.json", ".devcontainer.json"};

/* Write why a file of the workspace cannot be opened. Returns -1. */
static int
dev_refuse(const char *path, struct fault *fault)
{
	if (errno == ELOOP || errno == EXDEV)
		return fault_set(fault,
		    "%s: refused, because it leads out of the workspace or "
		    "through a symbolic link, and an agent may have made it",
		    path);
	return fault_errno(fault, "%s", path);
}

static int
dev_open(int workspace, const char **name, struct fault *fault)
{
	struct stat st;
	int fd = -1;

	for (size_t i = 0; fd == -1 && i < nitems(dev_files); i++) {
		*name = dev_files[i];
		fd = context_open(workspace, *name, O_RDONLY);
		if (fd == -1 && errno != ENOENT && errno != ENOTDIR)
			return dev_refuse(*name, fault);
	}
	if (fd == -1)
		return fault_set(fault,
		    "there is neither %s nor %s in this workspace",
		    dev_files[0], dev_files[1]);
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		return fault_set(fault, "%s: is not a regular file", *name);
	}
	return fd;
}

static void
dev_ignore(struct devcontainer *d, const char *where, const char *key)
{
	char vis[256];

	log_vis(span_of(key, strnlen(key, 60)), vis, sizeof(vis));
	buf_printf(&d->ignored, "%s%s%s%s", d->ignored.len != 0 ? ", " : "",
	    where, where[0] != '\0' ? "." : "", vis);
}

/* Returns true if a tool would replace parts of the value: ${localEnv:HOME}. */
static bool
dev_varies(const char *value)
{
	return strstr(value, "${") != NULL;
}

static bool
dev_env_ok(const char *name, const char *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz_";
	static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz_0123456789";

	if (name[0] == '\0' || strchr(letters, name[0]) == NULL ||
	    strlen(name) > 128 || strspn(name, more) != strlen(name) ||
	    strlen(value) > DEV_VALUE)
		return false;
	for (const char *p = value; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

/* Add a line that gives exactly this value. */
static void
dev_env_add(struct devcontainer *d, const char *name, const char *value)
{
	buf_printf(&d->env, "ENV %s=\"", name);
	for (; *value != '\0'; value++) {
		if (strchr("\"\\$", *value) != NULL)
			buf_addc(&d->env, '\\');
		buf_addc(&d->env, (uint8_t)*value);
	}
	buf_adds(&d->env, "\"\n");
}

static int
dev_env(struct devcontainer *d, const struct jsonfile *j, struct json_object *o)
{
	const char *value;
	unsigned n = 0;

	json_object_object_foreach(o, name, v)
	{
		if (jsonfile_text_of(j, v, "containerEnv", name, &value) == -1)
			return -1;
		if (dev_varies(value)) {
			dev_ignore(d, "containerEnv", name);
			continue;
		}
		if (++n > DEV_ENV || !dev_env_ok(name, value))
			return jsonfile_bad(j, "containerEnv", name,
			    "must be a variable with a text of one line, at "
			    "most %u of them",
			    DEV_ENV);
		dev_env_add(d, name, value);
	}
	return 0;
}

/* Write the path in the workspace of one beside the file. */
static int
dev_path(const struct devcontainer *d, const struct jsonfile *j,
    const char *key, const char *value, char dst[PATH_MAX])
{
	const char *slash = strrchr(d->file, '/');
	size_t n = slash == NULL ? 0 : (size_t)(slash - d->file) + 1;

	if (value[0] == '\0' || value[0] == '/' || dev_varies(value))
		return jsonfile_bad(j, "build", key,
		    "must be a path in the workspace, and a constant");
	if (snprintf(dst, PATH_MAX, "%.*s%s", (int)n, d->file, value) >=
	    PATH_MAX)
		return jsonfile_bad(j, "build", key, "is too long");
	return 0;
}

static int
dev_dockerfile(struct devcontainer *d, int workspace, struct fault *fault)
{
	struct stat st;
	ssize_t n = -1;
	char *text;
	int fd;

	if ((fd = context_open(workspace, d->name, O_RDONLY)) == -1)
		return dev_refuse(d->name, fault);
	text = malloc(DEV_DOCKERFILE + 1);
	if (text != NULL && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, text, DEV_DOCKERFILE + 1);
	close(fd);
	if (n < 0 || n > (ssize_t)DEV_DOCKERFILE ||
	    memchr(text, '\0', (size_t)n) != NULL) {
		free(text);
		return fault_set(fault,
		    "%s: must be a regular file of text, of at most %u KiB",
		    d->name, DEV_DOCKERFILE >> 10);
	}
	text[n] = '\0';
	d->dockerfile = text;
	return 0;
}

static int
dev_build(struct devcontainer *d, const struct jsonfile *j, int workspace,
    struct json_object *build)
{
	const char *file = NULL, *context = ".";
	char path[PATH_MAX];

	json_object_object_foreach(build, key, v)
	{
		(void)v;
		if (strcmp(key, "dockerfile") != 0 &&
		    strcmp(key, "context") != 0)
			dev_ignore(d, "build", key);
	}
	if (jsonfile_str(j, build, "build", "dockerfile", &file) == -1 ||
	    jsonfile_str(j, build, "build", "context", &context) == -1)
		return -1;
	if (file == NULL)
		return 0;
	if (dev_path(d, j, "dockerfile", file, d->name) == -1 ||
	    dev_path(d, j, "context", context, path) == -1 ||
	    dev_dockerfile(d, workspace, j->fault) == -1)
		return -1;
	d->context = context_open(workspace, path, O_RDONLY | O_DIRECTORY);
	return d->context == -1 ? dev_refuse(path, j->fault) : 0;
}

static int
dev_take(struct devcontainer *d, const struct jsonfile *j, int workspace,
    struct json_object *root)
{
	static const char *const known[] = {
	    "image", "build", "containerEnv", "name", "$schema"};
	struct json_object *build = NULL, *env = NULL;
	const char *image = NULL;
	size_t i;

	json_object_object_foreach(root, key, v)
	{
		(void)v;
		for (i = 0; i < nitems(known) && strcmp(known[i], key) != 0;
		     i++)
			continue;
		if (i == nitems(known))
			dev_ignore(d, "", key);
	}
	if (jsonfile_object(j, root, "", "build", &build) == -1 ||
	    jsonfile_object(j, root, "", "containerEnv", &env) == -1 ||
	    jsonfile_str(j, root, "", "image", &image) == -1 ||
	    (build != NULL && dev_build(d, j, workspace, build) == -1) ||
	    (env != NULL && dev_env(d, j, env) == -1))
		return -1;
	/* The Dockerfile counts, as with other tools. */
	if (d->dockerfile != NULL) {
		if (image != NULL)
			dev_ignore(d, "", "image");
		return 0;
	}
	if (image == NULL)
		return fault_set(j->fault,
		    "%s: has neither \"image\" nor \"build\": "
		    "{\"dockerfile\": ...}, and nothing else can be built",
		    d->file);
	if (!config_is_image(image))
		return jsonfile_bad(
		    j, "", "image", "must be an image's name, and a constant");
	d->image = strdup(image);
	return d->image == NULL ? fault_errno(j->fault, "%s", d->file) : 0;
}

int
devcontainer_read(struct devcontainer *d, int workspace, struct fault *fault)
{
	struct json_object *root;
	struct jsonfile j = {NULL, fault};
	int fd, rv;

	memset(d, 0, sizeof(*d));
	d->context = -1;
	buf_init(&d->env, DEV_ENV * (2 * DEV_VALUE + 256));
	buf_init(&d->ignored, DEV_NAMES);
	if ((fd = dev_open(workspace, &d->file, fault)) == -1)
		return -1;
	root = foreign_read_fd(fd, d->file, fault);
	close(fd);
	if (root == NULL)
		return -1;
	j.file = d->file;
	rv = dev_take(d, &j, workspace, root);
	json_object_put(root);
	return rv == 0 && d->env.failed ? fault_errno(fault, "%s", d->file)
					: rv;
}

void
devcontainer_free(struct devcontainer *d)
{
	free(d->image);
	free(d->dockerfile);
	buf_free(&d->env);
	buf_free(&d->ignored);
	if (d->context != -1)
		close(d->context);
}
