/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/copy.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/tree.h"
#include "common/plural.h"
#include "host/treehash.h"
#include "icctl/icctl.h"
#include "icctl/mcp/copy_tree.h"
#include "icctl/mcp/import_move.h"
#include "icctl/mcp/script.h"
#include "icctl/mcp/store.h"

struct copier {
	const struct copy *how;
	const char *name;
	int workspace;          /* O_PATH */
	char top[PATH_MAX];     /* its path, links resolved */
	char from[PATH_MAX];    /* the directory to copy */
	const char *only;       /* the only file of it, or NULL: all */
	char to[PATH_MAX];      /* the copy */
	char new[PATH_MAX + 8]; /* while it is made */
	struct json_object *root, *entry;
	struct treehash hash;
	struct fault fault;
};

/* Returns the entry's text that is a path: after "=" in an option. */
static const char *
copier_path_of(const char *text)
{
	const char *eq = text[0] == '-' ? strchr(text, '=') : NULL;

	return eq != NULL ? eq + 1 : text;
}

/*
 * Write the real path of what the text names for this server, if it is there
 * and in the workspace. Returns true if it is.
 */
static bool
copier_real(const struct copier *c, const char *text, char real[PATH_MAX])
{
	char path[PATH_MAX], *resolved;
	bool in = false;
	int fd, n;

	if (strncmp(text, "/workspace", 10) == 0 &&
	    (text[10] == '/' || text[10] == '\0'))
		n = snprintf(path, sizeof(path), "%s%s", c->top, text + 10);
	else if (strncmp(text, "~/", 2) == 0)
		n = snprintf(path, sizeof(path), "%s%s",
		    c->how->paths->user_home, text + 1);
	else if (text[0] == '/')
		n = snprintf(path, sizeof(path), "%s", text);
	else
		n = snprintf(path, sizeof(path), "%s/%s", c->top, text);
	if (text[0] == '\0' || text[0] == '-' || n < 0 ||
	    (size_t)n >= sizeof(path) ||
	    (fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return false;
	if (paths_within(fd, c->workspace) == 1 &&
	    (resolved = paths_of_fd(fd)) != NULL) {
		in = strlcpy(real, resolved, PATH_MAX) < PATH_MAX;
		free(resolved);
	}
	close(fd);
	return in;
}

/*
 * Choose the directory to copy for a program: that of its package, or its own,
 * but never the whole workspace.
 */
static int
copier_directory(struct copier *c, const char *real)
{
	char dir[PATH_MAX];
	struct stat st;
	char *slash;

	if (stat(real, &st) == -1)
		return fault_errno(&c->fault, "%s", real);
	strlcpy(c->from, real, sizeof(c->from));
	if (S_ISREG(st.st_mode)) {
		slash = strrchr(c->from, '/');
		*slash = '\0';
		if (strcmp(c->from, c->top) == 0)
			c->only = slash + 1;
	} else if (strcmp(real, c->top) == 0) {
		return fault_set(&c->fault,
		    "%s: it runs the whole workspace, %s. Put the server into "
		    "a directory of its own",
		    c->name, c->top);
	}
	strlcpy(dir, c->from, sizeof(dir));
	while (c->only == NULL && strcmp(dir, c->top) != 0 &&
	       (slash = strrchr(dir, '/')) != NULL && slash != dir) {
		if (script_is_package(dir)) {
			strlcpy(c->from, dir, sizeof(c->from));
			break;
		}
		*slash = '\0';
	}
	return 0;
}

/* Take what an earlier copy was made of. */
static int
copier_again(struct copier *c, const char *from)
{
	struct stat st;
	char *slash;

	if (strlcpy(c->from, from, sizeof(c->from)) >= sizeof(c->from) ||
	    stat(from, &st) == -1 || (slash = strrchr(c->from, '/')) == NULL)
		return fault_errno(&c->fault, "%s", from);
	if (S_ISREG(st.st_mode)) {
		*slash = '\0';
		c->only = slash + 1;
	}
	return 0;
}

/* Find the first word of the entry that leads into the workspace. */
static int
copier_find(struct copier *c)
{
	struct json_object *args, *v;
	char real[PATH_MAX];
	const char *s;
	size_t n;

	v = get_typed(c->entry, "command", json_type_string);
	s = v != NULL ? json_object_get_string(v) : "";
	if (strchr(s, '/') != NULL && copier_real(c, s, real))
		return copier_directory(c, real);
	args = get_typed(c->entry, "args", json_type_array);
	n = args != NULL ? json_object_array_length(args) : 0;
	for (size_t i = 0; i < n; i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		if (s != NULL && copier_real(c, copier_path_of(s), real))
			return copier_directory(c, real);
	}
	v = get_typed(c->entry, "copy", json_type_object);
	if ((v = get_typed(v, "from", json_type_string)) != NULL)
		return copier_again(c, json_object_get_string(v));
	return fault_set(&c->fault,
	    "%s: neither its program nor an argument leads into %s. Run this "
	    "in the directory of the project, or name it with --workspace DIR",
	    c->name, c->top);
}

/* Returns the text with its path in the copy, or NULL if it leads elsewhere. */
static struct json_object *
copier_moved(const struct copier *c, const char *text)
{
	const char *path = copier_path_of(text);
	char real[PATH_MAX], moved[2 * PATH_MAX];
	size_t n = strlen(c->from);

	if (!copier_real(c, path, real) || strncmp(real, c->from, n) != 0 ||
	    (real[n] != '/' && real[n] != '\0') ||
	    (c->only != NULL &&
		strcmp(real + n + (real[n] == '/'), c->only) != 0))
		return NULL;
	snprintf(moved, sizeof(moved), "%.*s%s%s", (int)(path - text), text,
	    c->to, real + n);
	return json_object_new_string(moved);
}

static void
copier_rewrite(struct copier *c)
{
	struct json_object *args, *env, *v, *o, *list;
	char sum[SHA256_HEX], from[PATH_MAX + NAME_MAX + 2];

	if ((v = get_typed(c->entry, "command", json_type_string)) != NULL &&
	    strchr(json_object_get_string(v), '/') != NULL &&
	    (v = copier_moved(c, json_object_get_string(v))) != NULL)
		json_object_object_add(c->entry, "command", v);
	args = get_typed(c->entry, "args", json_type_array);
	for (size_t i = 0; args != NULL && i < json_object_array_length(args);
	     i++) {
		v = json_object_array_get_idx(args, i);
		v = copier_moved(c, json_object_get_string(v));
		if (v != NULL)
			json_object_array_put_idx(args, i, v);
	}
	if ((env = get_typed(c->entry, "env", json_type_object)) != NULL) {
		o = json_object_new_object();
		json_object_object_foreach(env, name, val)
		{
			v = json_object_is_type(val, json_type_string) &&
				    strchr(json_object_get_string(val), '/') !=
					NULL
				? copier_moved(c, json_object_get_string(val))
				: NULL;
			json_object_object_add(
			    o, name, v != NULL ? v : json_object_get(val));
		}
		json_object_object_add(c->entry, "env", o);
	}
	o = json_object_new_object();
	snprintf(from, sizeof(from), "%s%s%s", c->from,
	    c->only != NULL ? "/" : "", c->only != NULL ? c->only : "");
	put_str(o, "from", from);
	put_str(o, "to", c->to);
	put_str(o, "sha256", sha256_hex(c->hash.sum, sum));
	json_object_object_add(c->entry, "copy", o);
	o = put_child(put_child(c->entry, "sandbox"), "filesystem");
	if ((list = get_typed(o, "allowRead", json_type_array)) == NULL) {
		list = json_object_new_array();
		json_object_object_add(o, "allowRead", list);
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		if (strcmp(json_object_get_string(v), c->to) == 0)
			return;
	}
	json_object_array_add(list, json_object_new_string(c->to));
}

static int
copier_copy(struct copier *c)
{
	int from, to, rv = -1;

	(void)tree_remove(c->new);
	if (import_directory(c->new, &c->fault) == -1)
		return -1;
	from = open(c->from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	to = open(c->new, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from == -1 || to == -1)
		fault_errno(&c->fault, "%s", from == -1 ? c->from : c->new);
	else if (copy_tree(from, c->only, to, &c->fault) == 0 &&
		 (rv = treehash_read(&c->hash, to, TREEHASH_BYTES)) == -1)
		fault_errno(&c->fault, "%s", c->new);
	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	return rv;
}

static void
copier_show(const struct copier *c)
{
	char sum[SHA256_HEX], shown[ICCTL_PATH];

	printf("%s: %u file%s, %llu KiB, of ", c->name, c->hash.files,
	    plural(c->hash.files),
	    (unsigned long long)((c->hash.bytes + 1023) >> 10));
	icctl_put_str(c->from);
	printf("\n  to      %s\n  sha256  %s\nAn agent may have written these "
	       "files: look at them first. From now on the\nserver runs the "
	       "copy, also when the files in the workspace change.\n",
	    icctl_path(c->to, shown), sha256_hex(c->hash.sum, sum));
}

/* Put the copy in its place and write the entry. */
static int
copier_keep(struct copier *c)
{
	if (tree_remove(c->to) == -1 || rename(c->new, c->to) == -1)
		return fault_errno(&c->fault, "%s", c->to);
	copier_rewrite(c);
	return store_write(
	    c->how->paths->home, "mcp-servers.json", c->root, &c->fault);
}

static int
copier_open(struct copier *c)
{
	struct json_object *all;
	char *top;
	int n;

	c->root =
	    store_read(c->how->paths->home, "mcp-servers.json", &c->fault);
	if (c->root == NULL)
		return -1;
	if ((all = get_typed(c->root, "mcpServers", json_type_object)) == NULL ||
	    get_typed(all, "command", json_type_string) != NULL)
		all = c->root;
	if ((c->entry = get_typed(all, c->name, json_type_object)) == NULL)
		return fault_set(&c->fault,
		    "there is no server called %s in mcp-servers.json",
		    c->name);
	c->workspace =
	    open(c->how->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->workspace == -1 || (top = paths_of_fd(c->workspace)) == NULL)
		return fault_errno(&c->fault, "%s", c->how->workspace);
	strlcpy(c->top, top, sizeof(c->top));
	free(top);
	/* No server's name has a dot: this is no other server's. */
	n = snprintf(c->to, sizeof(c->to), "%s/ironcurtain/data/%s.program",
	    c->how->data_home, c->name);
	if (n < 0 || (size_t)n >= sizeof(c->to))
		return fault_set(&c->fault, "%s: too long", c->how->data_home);
	snprintf(c->new, sizeof(c->new), "%s.new", c->to);
	return copier_find(c);
}

int
mcp_copy(const struct copy *how, const char *name)
{
	static struct copier c;
	bool done = how->dry;

	c = (struct copier){.how = how, .name = name, .workspace = -1};
	if (copier_open(&c) == -1 || copier_copy(&c) == -1) {
		warnx("%s", c.fault.text);
		done = false;
	} else {
		copier_show(&c);
		if (how->dry)
			puts("Nothing was written (--dry-run).");
		else if (!how->yes && !icctl_confirm("Use this copy?"))
			puts("Nothing was written.");
		else if (!(done = copier_keep(&c) == 0))
			warnx("%s", c.fault.text);
		else
			puts("mcp-servers.json leads to the copy. The next "
			     "session asks whether to trust its tools.");
	}
	if (c.new[0] != '\0')
		(void)tree_remove(c.new);
	if (c.workspace != -1)
		close(c.workspace);
	json_object_put(c.root);
	return done ? ICCTL_OK : ICCTL_FAILED;
}
