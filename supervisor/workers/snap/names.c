/* SPDX-License-Identifier: ISC */
/*
 * Reads the names of a directory by getdents64(2): readdir(3) would take the
 * descriptor over, and each directory would be opened twice.
 */
#include "workers/snap/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_NAMES (64U << 20)

static int
walk_order(const void *a, const void *b)
{
	const struct walk_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Add the names of one read of a directory: a kind, the name and a NUL. */
static void
walk_take(struct walk_list *l, const uint8_t *p, size_t len)
{
	const struct dirent64 *e;

	for (size_t at = 0; at < len; at += e->d_reclen) {
		e = (const void *)(p + at);
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    (strcmp(e->d_name, SNAP_MAKING) == 0 &&
			e->d_type != DT_DIR))
			continue;
		buf_addc(&l->text, e->d_type);
		buf_add(&l->text, e->d_name, strlen(e->d_name) + 1);
		l->n++;
	}
}

int
walk_names(int dir, struct walk_list *l)
{
	static uint8_t block[1U << 15] __attribute__((aligned(16)));
	ssize_t len;
	char *at;

	l->names = NULL;
	l->n = 0;
	buf_init(&l->text, WALK_NAMES);
	while ((len = getdents64(dir, block, sizeof(block))) > 0)
		walk_take(l, block, (size_t)len);
	if (len == -1)
		return -1;
	if (l->text.failed ||
	    (l->names = calloc(l->n + 1, sizeof(*l->names))) == NULL) {
		errno = ENOMEM;
		return -1;
	}
	at = (char *)l->text.p + l->text.off;
	for (size_t i = 0; i < l->n; i++, at += strlen(at) + 1) {
		l->names[i].type = (unsigned char)*at++;
		l->names[i].name = at;
	}
	if (l->n != 0)
		qsort(l->names, l->n, sizeof(*l->names), walk_order);
	return 0;
}

void
walk_list_free(struct walk_list *l)
{
	free(l->names);
	buf_free(&l->text);
}

bool
walk_list_has(const struct walk_list *l, const char *name)
{
	const struct walk_name key = {.name = name};

	return l->n != 0 &&
	       bsearch(&key, l->names, l->n, sizeof(key), walk_order) != NULL;
}
