/* SPDX-License-Identifier: ISC */
/*
 * A Dockerfile.NAME and its arguments. Its hash is kept as a label of the
 * image, and tells whether another build would make a different one. Arguments
 * of the way to packages change nothing, and may hold a password: they are in
 * neither.
 */
#include "icctl/image/image.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/buf.h"
#include "icctl/policy/policy.h"

static size_t
name_length(const char *arg)
{
	return strspn(arg,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789_");
}

int
recipe_load(struct recipe *r, const struct icctl *ctl, const char *name,
    struct fault *fault)
{
	char shipped[PATH_MAX - 128];
	const char *dirs[] = {ctl->home, shipped};
	uint8_t sum[SHA256_SIZE];
	struct stat st;
	size_t len;

	memset(r, 0, sizeof(*r));
	if (!image_is_built(name))
		return fault_set(fault,
		    "%s: not the name of an image: lower-case letters, digits "
		    "and -",
		    name);
	if (policy_own_path("share/ironcurtain", shipped, sizeof(shipped)) ==
	    -1)
		return fault_errno(fault, "the installation is incomplete");
	snprintf(r->name, sizeof(r->name), "%s", name);
	image_built_name(name, r->tag);
	for (size_t i = 0; i < 2 && r->text == NULL; i++) {
		snprintf(r->file, sizeof(r->file),
		    "%.3800s/images/Dockerfile.%.64s", dirs[i], name);
		r->text = jsonfile_text(r->file, &len, &st, fault);
		if (r->text == NULL && errno != ENOENT)
			return -1;
	}
	if (r->text == NULL)
		return fault_set(fault,
		    "there is no %.3800s/images/Dockerfile.%s, and none is "
		    "shipped",
		    ctl->home, name);
	sha256_span(span_str(r->text), sum);
	sha256_hex(sum, r->text_hash);
	return 0;
}

void
recipe_free(struct recipe *r)
{
	free(r->text);
	r->text = NULL;
}

/* Returns the name in the next ARG line after `*at`, or NULL. */
static const char *
next_arg(const char **at, size_t *len)
{
	const char *line;

	while ((line = *at) != NULL && *line != '\0') {
		*at = strchr(line, '\n');
		if (*at != NULL)
			(*at)++;
		line += strspn(line, " \t");
		if (strncasecmp(line, "ARG", 3) != 0 ||
		    (line[3] != ' ' && line[3] != '\t'))
			continue;
		line += 3 + strspn(line + 3, " \t");
		*len = name_length(line);
		return line;
	}
	return NULL;
}

bool
recipe_takes(const struct recipe *r, const char *arg)
{
	const char *at = r->text, *name;
	size_t len;

	while ((name = next_arg(&at, &len)) != NULL)
		if (len == name_length(arg) && strncmp(name, arg, len) == 0)
			return true;
	return false;
}

char *
recipe_takes_what(const struct recipe *r, char *dst, size_t cap)
{
	const char *at = r->text, *name;
	char one[128];
	size_t len;

	dst[0] = '\0';
	while ((name = next_arg(&at, &len)) != NULL) {
		snprintf(one, sizeof(one), "%.*s", (int)len, name);
		if (strcmp(one, "BASE") == 0 || strstr(dst, one) != NULL)
			continue;
		if (dst[0] != '\0')
			(void)strlcat(dst, ", ", cap);
		(void)strlcat(dst, one, cap);
	}
	return dst;
}

bool
recipe_is_way(const char *arg)
{
	static const char *const names[] = {"http_proxy", "https_proxy",
	    "ftp_proxy", "all_proxy", "no_proxy", "npm_config_registry"};
	size_t n = name_length(arg);

	for (size_t i = 0; i < nitems(names); i++)
		if (strlen(names[i]) == n && strncasecmp(names[i], arg, n) == 0)
			return true;
	return false;
}

/* An image that is built without one of its arguments is another image. */
static void
recipe_put(const char *list[RECIPE_MAX_ARGS], size_t *n, const char *arg)
{
	if (*n == RECIPE_MAX_ARGS)
		errx(ICCTL_USAGE,
		    "an image takes at most %u arguments of "
		    "--build-arg",
		    IMAGE_MAX_ARGS);
	list[(*n)++] = arg;
}

void
recipe_give(struct recipe *r, const char *arg)
{
	const char *value = strchr(arg, '=');

	if (value == NULL || value[1] == '\0')
		return;
	if (recipe_is_way(arg))
		recipe_put(r->way, &r->nway, arg);
	else
		recipe_put(r->args, &r->nargs, arg);
}

void
recipe_keep(struct recipe *r, const char *arg)
{
	recipe_put(r->kept, &r->nkept, arg);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void
recipe_hash(struct recipe *r, const char *more)
{
	struct span parts[2 * RECIPE_MAX_ARGS + 4];
	uint8_t sum[SHA256_SIZE];
	size_t n = 0;

	qsort(r->args, r->nargs, sizeof(r->args[0]), by_text);
	parts[n++] = span_str(r->text);
	for (size_t i = 0; i < r->nargs; i++) {
		/* No argument has a NUL. */
		parts[n++] = span_of("", 1);
		parts[n++] = span_str(r->args[i]);
	}
	parts[n++] = span_of("\0", 2);
	parts[n++] = span_str(more);
	sha256_spans(parts, n, sum);
	sha256_hex(sum, r->hash);
}
