/* SPDX-License-Identifier: ISC */
/*
 * Settings that an agent has outside and not here. An entry is "PLACE/FILE
 * MEMBER WHAT": below "workspace" or "home", FILE is a file of JSON whose
 * object MEMBER has their names, or a directory of such files with the MEMBER
 * "*". An agent may have written them: only names are taken, and all are
 * escaped.
 */
#include "workers/scan/scan.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"

#define LOST_TEXT (1U << 20)
#define LOST_POOL (8U << 20)
#define LOST_NAMES 6U /* shown of each */

struct lost {
	char names[640];
	unsigned n;
};

static void
lost_add(struct lost *l, struct span name)
{
	char shown[100];
	size_t len = strlen(l->names);

	if (l->n++ < LOST_NAMES)
		snprintf(l->names + len, sizeof(l->names) - len, "%s%s",
		    len == 0 ? "" : ", ",
		    scan_vis(name, false, shown, sizeof(shown)));
}

static bool
lost_known(const struct scan_list *servers, struct span name)
{
	for (size_t i = 0; servers != NULL && i < servers->n; i++)
		if (span_is(name, servers->list[i]))
			return true;
	return false;
}

/* Take the names of members, but of those that are off. */
static void
lost_members(struct lost *l, struct span text, const char *member,
    const struct scan_list *servers)
{
	struct value_pool *pool = value_pool_new(LOST_POOL);
	const struct value *v;

	if (pool == NULL)
		return;
	v = value_get(json_read(pool, text, NULL), member);
	if (v != NULL && v->type == VALUE_OBJECT)
		for (v = v->child; v != NULL; v = v->next)
			if (v->type != VALUE_FALSE &&
			    !lost_known(servers, v->key) &&
			    !value_bool(v, "disabled", false))
				lost_add(l, v->key);
	value_pool_free(pool);
}

/* Read a file that is a file, through no link that an agent can make. */
static ssize_t
lost_read(int dir, const char *file, bool follow, char *text, size_t cap)
{
	const int fd = openat(dir, file,
	    O_RDONLY | O_NONBLOCK | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	struct stat st;
	ssize_t n = 0;
	size_t len = 0;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while (len < cap && (n = read(fd, text + len, cap - len)) > 0)
			len += (size_t)n;
	close(fd);
	return n == -1 || len == cap ? -1 : (ssize_t)len;
}

static void
lost_directory(struct lost *l, int dir, const char *path, bool follow)
{
	const int fd = openat(dir, path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	struct dirent *e;
	DIR *d;

	if (fd == -1)
		return;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	for (unsigned i = 0; i < 1000 && (e = readdir(d)) != NULL; i++)
		if (e->d_name[0] != '.')
			lost_add(l, span_str(e->d_name));
	closedir(d);
}

/*
 * Look at one entry. Returns what it lost, "hooks of ~/FILE (A, B)", in `dst`,
 * and whether these are MCP servers of the workspace.
 */
static bool
lost_entry(const char *entry, int workspace, int home,
    const struct scan_list *servers, char *dst, size_t cap, bool *import)
{
	static char text[LOST_TEXT];
	char file[200], member[64];
	struct lost l = {.n = 0};
	const bool own = strncmp(entry, "home/", 5) == 0;
	const int dir = own ? home : workspace;
	int used = 0;
	ssize_t n;

	if (sscanf(entry,
		own ? "home/%199s %63s %n" : "workspace/%199s %63s %n", file,
		member, &used) != 2 ||
	    used == 0 || dir == -1)
		return false;
	entry += used;
	*import = !own && strcmp(member, "mcpServers") == 0;
	if (strcmp(member, "*") == 0)
		lost_directory(&l, dir, file, own);
	else if ((n = lost_read(dir, file, own, text, sizeof(text))) > 0)
		lost_members(&l, span_of(text, (size_t)n), member,
		    *import ? servers : NULL);
	if (l.n == 0)
		return false;
	snprintf(dst, cap, "%s of %s%s (%s%s)", entry, own ? "~/" : "", file,
	    l.names, l.n > LOST_NAMES ? ", and more" : "");
	return true;
}

void
lost_say(const char *agent, int workspace, int home,
    const struct scan_list *entries, const struct scan_list *servers)
{
	char all[4000] = "", one[1000];
	bool import, imports = false;
	size_t len;

	for (size_t i = 0; i < entries->n; i++) {
		if (!lost_entry(entries->list[i], workspace, home, servers, one,
			sizeof(one), &import))
			continue;
		imports |= import;
		len = strlen(all);
		snprintf(all + len, sizeof(all) - len, "%s%s",
		    len == 0 ? "" : "; ", one);
	}
	if (all[0] != '\0')
		scan_warn("%s does not have here: %s%s", agent, all,
		    imports ? ". To have these servers, under the policy: "
			      "icctl mcp import .mcp.json"
			    : "");
}
