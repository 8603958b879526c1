/* SPDX-License-Identifier: ISC */
/*
 * Keeps the last yes to a workspace's project file: one file for each
 * workspace in IRONCURTAIN_HOME/projects, with the digest of the meaning and
 * the sentences that were shown. Only the last yes counts, so that nobody can
 * bring an older file back into force.
 */
#include "icctl/project/project.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "common/time_text.h"

#define ACCEPTED_ID 16 /* digits of a workspace's hash */

static json_object *
accepted_load(const char *path)
{
	struct fault fault;
	json_object *root;
	struct stat st;
	size_t len;
	char *text = jsonfile_text(path, &len, &st, &fault);

	if (text == NULL)
		return NULL;
	root = jsonfile_parse(path, span_of(text, len), &fault);
	freezero(text, len);
	return root;
}

static const char *
accepted_text(json_object *root, const char *key)
{
	json_object *v = NULL;

	return root != NULL && json_object_object_get_ex(root, key, &v) &&
		       json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : "";
}

void
accepted_open(
    struct accepted *a, const struct icctl *ctl, const struct project *p)
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];

	sha256_span(span_str(p->workspace), sum);
	sha256_hex(sum, hex);
	snprintf(a->path, sizeof(a->path), "%.4000s/projects/%.*s.json",
	    ctl->home, ACCEPTED_ID, hex);
	a->root = accepted_load(a->path);
	/* Another workspace with the same digits. */
	if (a->root != NULL &&
	    strcmp(accepted_text(a->root, "workspace"), p->workspace) != 0) {
		json_object_put(a->root);
		a->root = NULL;
	}
}

void
accepted_close(struct accepted *a)
{
	json_object_put(a->root);
	a->root = NULL;
}

bool
accepted_is(const struct accepted *a, const struct project *p)
{
	return strcmp(accepted_text(a->root, "digest"), p->digest) == 0;
}

static int
accepted_save(struct accepted *a)
{
	char dir[4200];

	snprintf(dir, sizeof(dir), "%s", a->path);
	*strrchr(dir, '/') = '\0';
	if ((mkdir(dir, 0700) == -1 && errno != EEXIST) ||
	    jsonfile_replace(a->path, span_str(json_object_to_json_string_ext(
					  a->root, JSON_C_TO_STRING_PRETTY))) ==
		-1) {
		warn("%s", a->path);
		return -1;
	}
	return 0;
}

int
accepted_write(struct accepted *a, const struct project *p)
{
	json_object *o = json_object_new_object(),
		    *says = json_object_new_array();
	const char *installed = accepted_text(a->root, "installed");
	char when[TIME_TEXT];

	put_str(o, "workspace", p->workspace);
	put_str(o, "digest", p->digest);
	put_str(o, "accepted", time_text(time(NULL), when));
	put_str(o, "installed", installed);
	for (size_t i = 0; i < p->nsays; i++)
		if (p->says[i].effect != PROJECT_LACKS)
			json_object_array_add(
			    says, json_object_new_string(p->says[i].text));
	json_object_object_add(o, "says", says);
	json_object_put(a->root);
	a->root = o;
	return accepted_save(a);
}

bool
accepted_installed(const struct accepted *a, const char *digest)
{
	return strcmp(accepted_text(a->root, "installed"), digest) == 0;
}

int
accepted_set_installed(struct accepted *a, const char *digest)
{
	if (a->root == NULL)
		return -1;
	put_str(a->root, "installed", digest);
	return accepted_save(a);
}

static bool
said(json_object *says, const char *text)
{
	for (size_t i = 0; i < json_object_array_length(says); i++) {
		json_object *v = json_object_array_get_idx(says, i);

		if (json_object_is_type(v, json_type_string) &&
		    strcmp(json_object_get_string(v), text) == 0)
			return true;
	}
	return false;
}

static bool
says_now(const struct project *p, const char *text)
{
	for (size_t i = 0; i < p->nsays; i++)
		if (strcmp(p->says[i].text, text) == 0)
			return true;
	return false;
}

void
accepted_diff(const struct accepted *a, const struct project *p, FILE *to)
{
	json_object *says = NULL;
	const char *text;

	if (a->root == NULL ||
	    !json_object_object_get_ex(a->root, "says", &says) ||
	    !json_object_is_type(says, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(says); i++) {
		text =
		    json_object_get_string(json_object_array_get_idx(says, i));
		if (text != NULL && !says_now(p, text))
			fprintf(to, "  - %s\n", text);
	}
	for (size_t i = 0; i < p->nsays; i++)
		if (p->says[i].effect != PROJECT_LACKS &&
		    !said(says, p->says[i].text))
			fprintf(to, "  + %s\n", p->says[i].text);
}

void
accepted_elsewhere(
    const struct icctl *ctl, const struct project *p, char *dst, size_t cap)
{
	char dir[4096], path[4096 + 300];
	struct dirent *e;
	json_object *root;
	DIR *d;

	dst[0] = '\0';
	snprintf(dir, sizeof(dir), "%.4000s/projects", ctl->home);
	if ((d = opendir(dir)) == NULL)
		return;
	while (dst[0] == '\0' && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		root = accepted_load(path);
		if (strcmp(accepted_text(root, "digest"), p->digest) == 0)
			snprintf(
			    dst, cap, "%s", accepted_text(root, "workspace"));
		json_object_put(root);
	}
	closedir(d);
}
