/* SPDX-License-Identifier: ISC */
/*
 * Finds and reads policy files for the tools, and converts places in them to
 * lines. Only policyd interprets the files.
 */
#include "icctl/policy/policy.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "files/policydir.h"

#define FILE_MAX ((size_t)8 << 20)
#define TREE_POOL ((size_t)256 << 20)
#define TREE_NODES 2000000U

int
policy_own_path(const char *tail, char *dst, size_t cap)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int k;

	if (n == -1)
		return -1;
	self[n] = '\0';
	/* The binary is PREFIX/bin/icctl. */
	for (int i = 0; i < 2; i++) {
		if ((slash = strrchr(self, '/')) == NULL) {
			errno = ENOENT;
			return -1;
		}
		*slash = '\0';
	}
	k = snprintf(dst, cap, "%s/%s", self, tail);
	if (k < 0 || (size_t)k >= cap) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

int
policy_file_read(struct policy_file *f, const char *path, struct fault *fault)
{
	struct stat st;
	ssize_t n;
	int fd;

	*f = (struct policy_file){0};
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    fstat(fd, &st) == -1) {
		fault_errno(fault, "%s", path);
		goto bad;
	}
	if (S_ISDIR(st.st_mode)) {
		fault_set(fault, "%s: is a directory", path);
		goto bad;
	}
	if ((f->path = strdup(path)) == NULL ||
	    (f->text = malloc(FILE_MAX + 1)) == NULL) {
		fault_errno(fault, "%s", path);
		goto bad;
	}
	while ((n = read(fd, f->text + f->len, FILE_MAX + 1 - f->len)) > 0)
		f->len += (size_t)n;
	if (n == -1 || f->len > FILE_MAX) {
		if (n == -1)
			fault_errno(fault, "%s", path);
		else
			fault_set(
			    fault, "%s: larger than %zu bytes", path, FILE_MAX);
		goto bad;
	}
	close(fd);
	return 0;
bad:
	if (fd != -1)
		close(fd);
	free(f->path);
	free(f->text);
	*f = (struct policy_file){0};
	return -1;
}

/* The policies that come with icctl. */
static int
shipped_dir(char *dst, size_t cap, struct fault *fault)
{
	if (policy_own_path("share/ironcurtain/policies", dst, cap) == -1)
		return fault_errno(fault, "policies");
	return 0;
}

int
policy_set_load(const struct icctl *ctl, const struct policy_opts *o,
    struct policy_set *set, struct fault *fault)
{
	struct policydir found;
	char shipped[PATH_MAX];
	int r = 0;

	*set = (struct policy_set){0};
	if (shipped_dir(shipped, sizeof(shipped), fault) == -1 ||
	    policydir_files(
		&found, ctl->home, shipped, NULL, o->files, fault) == -1)
		return -1;
	for (unsigned k = 0; r == 0 && k <= PROTO_RULES_LAST; k++)
		if (found.files[k] != NULL)
			r = policy_file_read(
			    &set->files[k], found.files[k], fault);
	policydir_free(&found);
	if (r == -1)
		policy_set_free(set);
	return r;
}

static int
copy_file(
    struct policy_file *to, const struct policy_file *from, struct fault *fault)
{
	if (from->path == NULL)
		return 0;
	to->path = strdup(from->path);
	to->text = malloc(from->len + 1);
	to->len = from->len;
	if (to->path == NULL || to->text == NULL)
		return fault_errno(fault, "%s", from->path);
	memcpy(to->text, from->text, from->len);
	return 0;
}

int
policy_set_other(const struct icctl *ctl, const struct policy_set *base,
    const char *what, struct policy_set *set, struct fault *fault)
{
	char shipped[PATH_MAX], name[4500], from[4400] = "", *dir = NULL;
	int r = 0;

	*set = (struct policy_set){0};
	if (policydir_is_name(what) &&
	    (shipped_dir(shipped, sizeof(shipped), fault) == -1 ||
		(dir = policydir_find(ctl->home, shipped, what, fault)) ==
		    NULL))
		return -1;
	if (dir == NULL)
		r = policy_file_read(
		    &set->files[PROTO_RULES_POLICY], what, fault);
	else
		policydir_base(dir, from, sizeof(from));
	for (unsigned k = 0; r == 0 && k <= PROTO_RULES_LAST; k++) {
		if (set->files[k].path != NULL)
			continue;
		snprintf(
		    name, sizeof(name), "%s/%s", from, policydir_names[k]);
		if (dir != NULL &&
		    (k == PROTO_RULES_POLICY || access(name, F_OK) == 0))
			r = policy_file_read(&set->files[k], name, fault);
		else
			r = copy_file(&set->files[k], &base->files[k], fault);
	}
	free(dir);
	if (r == -1)
		policy_set_free(set);
	return r;
}

void
policy_set_free(struct policy_set *set)
{
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		free(set->files[k].path);
		free(set->files[k].text);
	}
	*set = (struct policy_set){0};
}

const struct value *
policy_tree(const struct policy_file *f, struct value_pool **pool)
{
	const struct value *root;

	if (f->path == NULL || (*pool = value_pool_new(TREE_POOL)) == NULL)
		return NULL;
	root = json_read_large(
	    *pool, span_of(f->text, f->len), TREE_NODES, 2 * FILE_MAX, NULL);
	if (root != NULL)
		return root;
	value_pool_free(*pool);
	*pool = NULL;
	return NULL;
}

/* Returns the first byte of the value, or of its name, in the text. */
static const uint8_t *
position(const struct policy_file *f, const struct value *v)
{
	const uint8_t *lo = (const uint8_t *)f->text, *best = NULL, *p;

	if (v->key.p >= lo && v->key.p < lo + f->len)
		return v->key.p;
	if (v->text.p != NULL && v->text.p >= lo && v->text.p < lo + f->len)
		return v->text.p;
	for (const struct value *c = v->child; c != NULL; c = c->next) {
		p = position(f, c);
		if (p != NULL && (best == NULL || p < best))
			best = p;
	}
	return best;
}

/*
 * Follow one step of a place: "[3]", or the longest member name that matches.
 */
static const struct value *
descend(const struct value *v, const char **place)
{
	const struct value *best = NULL, *c;
	const char *s = *place;
	unsigned long i;
	char *end;

	if (*s == '[' && v->type == VALUE_ARRAY) {
		i = strtoul(s + 1, &end, 10);
		if (*end != ']')
			return NULL;
		for (c = v->child; c != NULL && i > 0; c = c->next)
			i--;
		*place = end + 1;
		return c;
	}
	if (*s == '.')
		s++;
	for (c = v->type == VALUE_OBJECT ? v->child : NULL; c != NULL;
	     c = c->next) {
		if (strncmp(s, (const char *)c->key.p, c->key.len) != 0 ||
		    (best != NULL && best->key.len >= c->key.len))
			continue;
		if (strchr(".[", s[c->key.len]) != NULL)
			best = c;
	}
	if (best != NULL)
		*place = s + best->key.len;
	return best;
}

unsigned
policy_line(const struct policy_file *f, const char *place)
{
	struct value_pool *pool = NULL;
	const struct value *v = policy_tree(f, &pool), *next;
	const uint8_t *at = NULL, *p;
	unsigned line = 0;

	while (v != NULL) {
		if ((p = position(f, v)) != NULL)
			at = p;
		if (*place == '\0' || (next = descend(v, &place)) == NULL)
			break;
		v = next;
	}
	if (at != NULL) {
		line = 1;
		for (p = (const uint8_t *)f->text; p < at; p++)
			line += *p == '\n';
	}
	value_pool_free(pool);
	return line;
}
