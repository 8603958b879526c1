/* SPDX-License-Identifier: ISC */
/*
 * The files in which usual tools keep keys and passwords are known by their
 * names; each that is found is looked into, and so are small files that only
 * their owner may read, as programs that make keys write them under any name.
 * Values are never printed. An agent may have written any of the files: no link
 * is followed, and everything is bounded.
 */
#include "workers/scan/scan.h"

#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "base/small_file.h"
#include "common/mask/mask.h"

#define SECRETS_DEPTH 4U
#define SECRETS_ENTRIES 20000U
#define SECRETS_TEXT 262144U
#define SECRETS_SHOWN 12U
/* Files of any name that only their owner may read. */
#define SECRETS_OWN 300U
#define SECRETS_OWN_SIZE 16384

static struct {
	unsigned entries, found, own;
	char list[2048];
	char file[300]; /* one that can be covered, or "" */
	const struct scan_list *covers;
} secrets;

/* clang-format off */
/* Names that tools use for settings with passwords, beside secretive_name(). */
static const char *const secrets_names[] = {"*.tfvars", "*.tfstate",
    "terraform.rc", ".terraformrc", ".yarnrc.yml", ".yarnrc", "pip.conf",
    "nuget.config", "settings.xml", "gradle.properties", "local.properties",
    "application*.properties", "application*.yml", "application*.yaml",
    "appsettings*.json", "database.yml", "wp-config.php", "config.php",
    "docker-compose*.yml", "docker-compose*.yaml", "compose.yml",
    "compose.yaml", ".dockercfg", "auth.toml", "local_settings.py", "*.ovpn",
    "*.ppk", ".boto", ".s3cfg", "rclone.conf", ".envrc", "mcp.json",
    ".mcp.json", "settings.local.json", "credentials", "config.json",
    ".dev.vars*", ".secrets", ".flaskenv", "*.env.json", "*.tfvars.json",
    "key.properties", "keystore.properties", "signing.properties",
    "local.settings.json", "web.config", "app.config", "tomcat-users.xml",
    "hibernate.cfg.xml", "persistence.xml", "context.xml", "alembic.ini",
    "odbc.ini", "my.cnf", "ormconfig.json", "sftp.json", ".ftpconfig",
    ".ftppass", ".sentryclirc", ".clasprc.json", "*.kubeconfig",
    "google-services.json", "*service*account*.json", "*-key.json",
    "inventory", "inventory.ini", "hosts.ini", "*.postman_environment.json",
    ".aider.conf.yml", "opencode.json", "launch.json", "datasources*.xml",
    "secret*.yml", "secret*.yaml", "secret*.toml", "secret*.properties"};

/* The whole text of these files is a key or a password. */
static const char *const secrets_whole[] = {"master.key", ".vault_pass*",
    "vault_pass*", ".vault-pass*", "vault-pass*", "*.passwd.txt",
    "password.txt", "passphrase.txt", "api_key.txt", "apikey.txt", "token.txt"};

/* Files of git in which addresses, and so tokens, may stand. */
static const char *const secrets_git[] = {"config", "config.worktree",
    "FETCH_HEAD", "credentials"};

/* Nothing of the project's own is there, and much of others'. */
static const char *const secrets_skip[] = {"node_modules", "vendor", ".venv",
    "venv", "target", "dist", "build", "__pycache__", "objects", "hooks",
    "refs", "logs", "worktrees"};
/* clang-format on */

/* Returns true if tools keep keys or passwords in files of this name. */
static bool
secrets_named(const char *name, bool git)
{
	if (git)
		return secretive_match(
			   name, secrets_git, nitems(secrets_git)) != NULL;
	return secretive_name(name) != NULL ||
	       secretive_match(name, secrets_names, nitems(secrets_names)) !=
		   NULL ||
	       secretive_match(name, secrets_whole, nitems(secrets_whole)) !=
		   NULL;
}

/* Returns true for a line of .pgpass: "host:port:database:user:password". */
static bool
secrets_pgpass(struct span s)
{
	struct span line;
	unsigned colons;

	while (span_line(&s, &line)) {
		colons = 0;
		for (size_t i = 0; i < line.len; i++)
			colons += line.p[i] == ':' &&
				  (i == 0 || line.p[i - 1] != '\\');
		if (colons == 4 && line.p[0] != '#' &&
		    line.p[line.len - 1] != ':')
			return true;
	}
	return false;
}

/* Returns true for one word, which is not a word of a comment. */
static bool
secrets_one(struct span s)
{
	while (s.len != 0 && isspace(s.p[s.len - 1]))
		s.len--;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return false;
	return s.len >= 8 && s.len <= 512 && memchr("#$<{", s.p[0], 4) == NULL;
}

/* Returns the kind of secret that the text holds, or NULL. */
static const char *
secrets_kind(const char *name, struct span s, bool git)
{
	const char *kind;
	bool masked;

	if (git && strcasestr((const char *)s.p, "extraheader") != NULL)
		return "a header with a token";
	if (git && memchr(s.p, '@', s.len) == NULL)
		return NULL;
	if (secretive_private_key(s))
		return "a private key";
	if (secretive_public(s))
		return NULL;
	if (secretive_text(s) != NULL)
		return "a key";
	if (!git && secrets_one(s) &&
	    secretive_match(name, secrets_whole, nitems(secrets_whole)) != NULL)
		return "a password";
	if (fnmatch("*pgpass*", name, FNM_CASEFOLD) == 0 && secrets_pgpass(s))
		return "a password";
	if (!secrets_named(name, git))
		return NULL;
	if ((kind = secretive_setting(s)) != NULL ||
	    secretive_name(name) == NULL)
		return kind;
	/* A form that only the log knows. */
	(void)mask_text(s, NULL, NULL, &masked, NULL);
	return masked ? "a secret" : NULL;
}

static bool
secrets_covered(const char *path)
{
	for (size_t i = 0; i < secrets.covers->n; i++)
		if (strcmp(path, secrets.covers->list[i]) == 0)
			return true;
	return false;
}

/* Keep the path as a word for a shell, if a person can copy it as it is shown.
 */
static void
secrets_word(const char *path)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "._/@%+=:,-";
	const bool quoted = path[strspn(path, plain)] != '\0';
	char shown[sizeof(secrets.file) - 2];

	if (strchr(path, '\'') == NULL &&
	    strcmp(scan_vis(span_str(path), false, shown, sizeof(shown)),
		path) == 0)
		snprintf(secrets.file, sizeof(secrets.file), "%s%s%s",
		    quoted ? "'" : "", shown, quoted ? "'" : "");
}

static void
secrets_file(int dirfd, const char *name, const char *path, bool git)
{
	static char text[SECRETS_TEXT];
	const char *kind;
	struct stat st;
	char shown[300];
	ssize_t n;
	size_t len;

	/* One that is as it was handed out has no value in it. */
	if (fnmatch("*.example", name, 0) == 0 ||
	    fnmatch("*.sample", name, 0) == 0 ||
	    fnmatch("*.template", name, 0) == 0 ||
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode) || secrets_covered(path) ||
	    (n = small_file_read(dirfd, name, text, sizeof(text))) <= 0)
		return;
	/* A NUL ends what strcasestr() sees. */
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	if ((kind = secrets_kind(name, span_of(text, (size_t)n), git)) == NULL)
		return;
	if (secrets.found++ < SECRETS_SHOWN) {
		len = strlen(secrets.list);
		snprintf(secrets.list + len, sizeof(secrets.list) - len,
		    "%s%s (%s)", len == 0 ? "" : ", ",
		    scan_vis(span_str(path), false, shown, sizeof(shown)),
		    kind);
	}
	if (!git && secrets.file[0] == '\0')
		secrets_word(path);
	explicit_bzero(text, (size_t)n);
}

/* Returns true for a file of any name that may hold a private key. */
static bool
secrets_own(const struct stat *st)
{
	return (st->st_mode & 077) == 0 && st->st_size <= SECRETS_OWN_SIZE &&
	       secrets.own++ < SECRETS_OWN;
}

static void secrets_walk(int fd, const char *path, unsigned depth, bool git);

/* Look at one entry: in the first round at files, in the second at the rest. */
static void
secrets_entry(DIR *d, const char *name, const char *path, unsigned depth,
    bool git, bool files)
{
	struct stat st;
	int fd;

	if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return;
	if (files && S_ISREG(st.st_mode) &&
	    (secrets_named(name, git) || (!git && secrets_own(&st))))
		secrets_file(dirfd(d), name, path, git);
	if (files || !S_ISDIR(st.st_mode) || depth == SECRETS_DEPTH ||
	    secretive_match(name, secrets_skip, nitems(secrets_skip)) != NULL)
		return;
	fd = openat(
	    dirfd(d), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd != -1)
		secrets_walk(
		    fd, path, depth + 1, git || strcmp(name, ".git") == 0);
}

static void
secrets_walk(int fd, const char *path, unsigned depth, bool git)
{
	char below[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	for (unsigned round = 0; round < 2; round++) {
		while (secrets.entries < SECRETS_ENTRIES &&
		       (e = readdir(d)) != NULL) {
			secrets.entries += round == 0;
			if (strcmp(e->d_name, ".") != 0 &&
			    strcmp(e->d_name, "..") != 0 &&
			    snprintf(below, sizeof(below), "%s%s%s", path,
				path[0] == '\0' ? "" : "/",
				e->d_name) < (int)sizeof(below))
				secrets_entry(d, e->d_name, below, depth, git,
				    round == 0);
		}
		rewinddir(d);
	}
	closedir(d);
}

void
secrets_say(int workspace, const struct scan_list *covers)
{
	const int fd =
	    openat(workspace, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return;
	secrets.covers = covers;
	secrets_walk(fd, "", 0, false);
	if (secrets.found == 0)
		return;
	scan_warn("the agent can read secrets in the workspace: %s%s. A clone "
		  "has nothing of .git/config and of files that are in no "
		  "commit: icctl start --clone .%s%s%s",
	    secrets.list, secrets.found > SECRETS_SHOWN ? ", and more" : "",
	    secrets.file[0] == '\0' ? ""
				    : "; or have it find one of these "
				      "files empty: --cover ",
	    secrets.file,
	    secrets.file[0] == '\0' ? "" : " (.git/config cannot be)");
}
