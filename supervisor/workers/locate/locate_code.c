/* SPDX-License-Identifier: ISC */
/*
 * Tells one version of a server's code from another: the name and version of
 * the package that it belongs to, and a digest of the files in which it is.
 * That is the package's directory and the lock file of all packages beside it
 * for npm, the files that RECORD names for Python, and for a script of the
 * user's its own file and the lock files beside it. Programs of the system are
 * the distribution's, and are not looked at.
 */
#include "workers/locate/locate_priv.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/sha256.h"
#include "common/span.h"
#include "host/launch.h"
#include "host/treehash.h"

#define CODE_FILE ((off_t)16 << 20)
#define CODE_TREE ((uint64_t)16 << 20)
#define CODE_RECORD_FILES 5000U

struct code {
	struct treehash hash;
	char name[215], version[64];
};

/* Read a plain file. Returns allocated memory that ends in NUL, or NULL. */
static char *
code_read(const char *path, size_t *len)
{
	struct stat st;
	char *text = NULL;
	ssize_t n = 0;
	int fd;

	*len = 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= CODE_FILE)
		text = malloc((size_t)st.st_size + 1);
	while (text != NULL && *len < (size_t)st.st_size &&
	       (n = read(fd, text + *len, (size_t)st.st_size - *len)) > 0)
		*len += (size_t)n;
	close(fd);
	if (text != NULL)
		text[*len] = '\0';
	return text;
}

static bool
code_file(struct code *c, const char *dir, const char *name)
{
	char *path = paths_join(dir, name), *text = NULL;
	size_t len;

	if (path != NULL && (text = code_read(path, &len)) != NULL)
		treehash_add(&c->hash, 'f', name, span_of(text, len));
	free(path);
	free(text);
	return text != NULL;
}

/* Take the name and version of a package.json. */
static void
code_package(struct code *c, const char *dir)
{
	struct json_object *pkg = locate_package_json(dir), *v;

	if (json_object_object_get_ex(pkg, "name", &v) &&
	    json_object_is_type(v, json_type_string))
		snprintf(
		    c->name, sizeof(c->name), "%s", json_object_get_string(v));
	if (json_object_object_get_ex(pkg, "version", &v) &&
	    json_object_is_type(v, json_type_string))
		snprintf(c->version, sizeof(c->version), "%s",
		    json_object_get_string(v));
	json_object_put(pkg);
}

/* A file of a package of npm. Returns false if it is none. */
static bool
code_npm(struct code *c, const char *file)
{
	static const char modules[] = "/node_modules/";
	const char *first = strstr(file, modules), *last = first, *at, *end;
	struct treehash t;
	char *dir, *top;
	int fd;

	if (first == NULL)
		return false;
	while ((at = strstr(last + 1, modules)) != NULL)
		last = at;
	at = last + sizeof(modules) - 1;
	end = strchr(at, '/');
	if (end != NULL && *at == '@')
		end = strchr(end + 1, '/');
	if (end == NULL)
		return false;
	dir = strndup(file, (size_t)(end - file));
	top = strndup(file, (size_t)(first - file) + sizeof(modules) - 2);
	fd = dir == NULL ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && top != NULL) {
		code_package(c, dir);
		if (treehash_read(&t, fd, CODE_TREE) == 0)
			treehash_add(
			    &c->hash, 'd', "", span_of(t.sum, sizeof(t.sum)));
		else
			(void)code_file(c, "", file);
		(void)code_file(c, top, ".package-lock.json");
	}
	if (fd != -1)
		close(fd);
	free(dir);
	free(top);
	return c->hash.files != 0;
}

/* Add the files that a RECORD names, one in each line before the comma. */
static void
code_record(struct code *c, const char *site, char *record)
{
	unsigned n = 0;
	char *line, *more = record;

	while (
	    (line = strsep(&more, "\n")) != NULL && n++ < CODE_RECORD_FILES) {
		line[strcspn(line, ",\r")] = '\0';
		if (line[0] != '\0' && strstr(line, "__pycache__") == NULL)
			(void)code_file(c, site, line);
	}
}

/* Look for the package that brought `script` in a site-packages directory. */
static bool
code_installed(struct code *c, const char *site, const char *script)
{
	char want[PATH_MAX], *path, *text, *dash;
	struct dirent *e;
	size_t len, n;
	DIR *dir;
	bool found = false;

	(void)snprintf(want, sizeof(want), "/bin/%s,", script);
	if ((dir = opendir(site)) == NULL)
		return false;
	while (!found && (e = readdir(dir)) != NULL) {
		n = strlen(e->d_name);
		if (n < 11 || n >= sizeof(c->name) ||
		    strcmp(e->d_name + n - 10, ".dist-info") != 0 ||
		    asprintf(&path, "%s/%s/RECORD", site, e->d_name) == -1)
			continue;
		text = code_read(path, &len);
		free(path);
		if (text != NULL && strstr(text, want) != NULL) {
			found = true;
			treehash_add(
			    &c->hash, 'f', "RECORD", span_of(text, len));
			snprintf(c->name, sizeof(c->name), "%.*s",
			    (int)(n - 10), e->d_name);
			if ((dash = strrchr(c->name, '-')) != NULL) {
				*dash = '\0';
				snprintf(c->version, sizeof(c->version), "%s",
				    dash + 1);
			}
			code_record(c, site, text);
		}
		free(text);
	}
	closedir(dir);
	return found;
}

/* A program that an environment of Python brought. */
static bool
code_python(struct code *c, const char *file)
{
	const char *base = strrchr(file, '/');
	char *top, *lib, *slash, site[PATH_MAX];
	struct dirent *e;
	DIR *dir = NULL;
	bool found = false;

	if ((top = strndup(file, (size_t)(base - file))) == NULL)
		return false;
	if ((slash = strrchr(top, '/')) != NULL)
		*slash = '\0';
	lib = locate_has(top, "pyvenv.cfg") ? paths_join(top, "lib") : NULL;
	if (lib != NULL)
		dir = opendir(lib);
	while (dir != NULL && !found && (e = readdir(dir)) != NULL)
		found =
		    strncmp(e->d_name, "python", 6) == 0 &&
		    (size_t)snprintf(site, sizeof(site), "%s/%s/site-packages",
			lib, e->d_name) < sizeof(site) &&
		    code_installed(c, site, base + 1);
	if (dir != NULL)
		closedir(dir);
	free(lib);
	free(top);
	return found;
}

/* A file of the user's own, with what says which packages it uses. */
static void
code_own(struct code *c, const char *file)
{
	static const char *const locks[] = {"package.json", "package-lock.json",
	    "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
	    "deno.lock", "node_modules/.package-lock.json", "requirements.txt",
	    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock",
	    "Gemfile.lock", "composer.lock"};
	const char *base = strrchr(file, '/');
	char *dir = strndup(file, (size_t)(base - file));

	if (dir == NULL || !code_file(c, dir, base + 1)) {
		free(dir);
		return;
	}
	for (size_t i = 0; i < nitems(locks); i++)
		(void)code_file(c, dir, locks[i]);
	code_package(c, dir);
	if (c->name[0] == '\0')
		snprintf(c->name, sizeof(c->name), "%s", base + 1);
	free(dir);
}

/* Returns the file that holds a program's code, or NULL. */
static char *
code_main(const struct locate *l, const struct program *p)
{
	struct stat st;
	char *path, *real;

	if (launch_kind(p->path) == LAUNCH_NONE)
		return locate_real(p->path);
	for (char **a = p->argv + 1; p->argv[0] != NULL && *a != NULL; a++) {
		if ((*a)[0] == '-' || strchr(*a, '/') == NULL)
			continue;
		path = (*a)[0] == '/' ? strdup(*a) : paths_join(l->base, *a);
		real = path == NULL ? NULL : locate_real(path);
		free(path);
		if (real != NULL && stat(real, &st) == 0 && S_ISREG(st.st_mode))
			return real;
		free(real);
	}
	return NULL;
}

/* A word of the report: no blanks, and nothing that cannot be printed. */
static void
code_word(char *s)
{
	for (; *s != '\0'; s++)
		if (*s <= ' ' || *s > '~')
			*s = '_';
}

char *
locate_code(const struct locate *l, const struct program *p)
{
	struct code c = {.name = ""};
	char hex[SHA256_HEX], *file, *out = NULL;

	if (p->ours || (file = code_main(l, p)) == NULL)
		return NULL;
	if (!code_npm(&c, file) && !locate_is_system(file) &&
	    !code_python(&c, file))
		code_own(&c, file);
	free(file);
	code_word(c.name);
	code_word(c.version);
	if (c.hash.files != 0 &&
	    asprintf(&out, "%s %s %s", sha256_hex(c.hash.sum, hex),
		c.name[0] != '\0' ? c.name : "-",
		c.version[0] != '\0' ? c.version : "-") == -1)
		out = NULL;
	return out;
}
