/* SPDX-License-Identifier: ISC */
#include "repo/with.h"

#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "common/log.h"

#define WITH_LOOK ((size_t)1 << 20)

/* clang-format off */
static const char *const names[] = {".env", ".env.*", "*.env", "id_rsa",
    "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx",
    "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.ovpn", ".netrc", "_netrc",
    ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg",
    "credentials", "credentials.json", "credentials.toml", "secrets.*",
    "service-account*.json", "*.tfvars"};

static const char *const dirs[] = {".ssh", ".gnupg", ".aws", ".azure", ".kube",
    ".docker", "gcloud"};

/* Examples without values are harmless, and agents need them. */
static const char *const examples[] = {".env.example", ".env.sample",
    ".env.template", ".env.dist", ".env.test"};

/* A prefix, and how many letters, digits, _ or - must follow it. */
static const struct {
	const char *prefix;
	size_t more;
} keys[] = {
	{"PRIVATE KEY-----", 0},
	{"aws_secret_access_key", 0},
	{"_authToken=", 8},
	{"AKIA", 16},
	{"ASIA", 16},
	{"AIza", 30},
	{"ghp_", 30},
	{"gho_", 30},
	{"ghs_", 30},
	{"ghu_", 30},
	{"github_pat_", 30},
	{"glpat-", 16},
	{"xoxb-", 16},
	{"xoxp-", 16},
	{"sk-ant-", 16},
	{"sk-proj-", 16},
	{"sk_live_", 16},
	{"npm_", 30},
	{"pypi-", 40},
	{"hf_", 30},
	{"ya29.", 20},
};
/* clang-format on */

const char *
repo_credential_name(const char *path)
{
	const char *base = strrchr(path, '/'), *p = path, *slash;

	base = base == NULL ? path : base + 1;
	for (size_t i = 0; i < nitems(dirs); i++)
		for (p = path; (slash = strchr(p, '/')) != NULL; p = slash + 1)
			if (strlen(dirs[i]) == (size_t)(slash - p) &&
			    strncasecmp(p, dirs[i], strlen(dirs[i])) == 0)
				return "its directory is one for credentials";
	for (size_t i = 0; i < nitems(examples); i++)
		if (strcasecmp(base, examples[i]) == 0)
			return NULL;
	return secretive_match(base, names, nitems(names)) != NULL
		   ? "its name is one of files with credentials"
		   : NULL;
}

static bool
is_key_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-';
}

const char *
repo_credential_text(struct span s)
{
	const uint8_t *p;
	struct span rest;
	size_t n, k;

	for (size_t i = 0; i < nitems(keys); i++) {
		n = strlen(keys[i].prefix);
		rest = s;
		while (
		    (p = memmem(rest.p, rest.len, keys[i].prefix, n)) != NULL) {
			rest.len -= (size_t)(p + n - rest.p);
			rest.p = p + n;
			for (k = 0; k < rest.len && k < keys[i].more &&
				    is_key_letter(rest.p[k]);)
				k++;
			if (k == keys[i].more)
				return "it contains what looks like a key";
		}
	}
	return NULL;
}

static int
open_beneath(int dir, const char *path, uint64_t flags, uint64_t mode)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
	    .mode = mode,
	    .resolve =
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* Make the directories above `path`. Returns 0, or -1 with errno set. */
static int
make_parents(int to, const char *path)
{
	char *copy = strdup(path), *slash;
	int fd, rv = copy == NULL ? -1 : 0;

	for (slash = copy; rv == 0 && (slash = strchr(slash, '/')) != NULL;
	     *slash++ = '/') {
		*slash = '\0';
		fd = open_beneath(to, copy, O_PATH | O_DIRECTORY, 0);
		if (fd == -1 && errno == ENOENT) {
			char *base = strrchr(copy, '/');
			int up = to;

			if (base != NULL) {
				*base = '\0';
				up = open_beneath(
				    to, copy, O_PATH | O_DIRECTORY, 0);
				*base = '/';
			}
			rv = mkdirat(up, base == NULL ? copy : base + 1, 0755);
			if (up != to && up != -1)
				close(up);
		} else if (fd == -1) {
			rv = -1;
		} else {
			close(fd);
		}
	}
	free(copy);
	return rv;
}

/* Returns why the file is refused as a credential, or NULL. */
static const char *
looks_secret(int fd, const char *path)
{
	const char *why = repo_credential_name(path);
	uint8_t *text;
	ssize_t n;

	if (why != NULL)
		return why;
	if ((text = malloc(WITH_LOOK)) == NULL)
		return "there is no memory to look into it";
	if ((n = pread(fd, text, WITH_LOOK, 0)) > 0)
		why = repo_credential_text(span_of(text, (size_t)n));
	free(text);
	return why;
}

static int
pour(int from, int to, uint64_t *room)
{
	ssize_t n;

	while ((n = sendfile(to, from, NULL, 1U << 20)) > 0) {
		if ((uint64_t)n > *room) {
			errno = EFBIG;
			return -1;
		}
		*room -= (uint64_t)n;
	}
	return n == 0 ? 0 : -1;
}

enum repo_copied
repo_copy(
    int from, int to, const char *path, uint64_t *room, struct fault *fault)
{
	enum repo_copied rv = REPO_FAILED;
	int in = -1, out = -1;
	const char *why;
	char shown[1024];
	struct stat st;

	log_vis(span_str(path), shown, sizeof(shown));
	in = open_beneath(from, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (in == -1 && errno == ELOOP) {
		fault_set(fault, "%s: is a link, or behind one", shown);
		rv = REPO_REFUSED;
		goto out;
	}
	if (in == -1 || fstat(in, &st) == -1) {
		fault_errno(fault, "%s", shown);
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		fault_set(fault, "%s: is no regular file", shown);
		rv = REPO_REFUSED;
		goto out;
	}
	if ((why = looks_secret(in, path)) != NULL) {
		fault_set(fault,
		    "%s: refused, because %s. A clone gets no such file: put "
		    "what the agent may see into a file of another name, or "
		    "let it work in place, without --clone",
		    shown, why);
		rv = REPO_REFUSED;
		goto out;
	}
	if (make_parents(to, path) == -1 ||
	    (out = open_beneath(to, path, O_WRONLY | O_CREAT | O_TRUNC,
		 (st.st_mode & 0100) != 0 ? 0755 : 0644)) == -1 ||
	    fchmod(out, (st.st_mode & 0100) != 0 ? 0755 : 0644) == -1 ||
	    pour(in, out, room) == -1) {
		fault_errno(fault, "%s", shown);
		goto out;
	}
	rv = REPO_COPIED;
out:
	if (in != -1)
		close(in);
	if (out != -1 && close(out) == -1 && rv == REPO_COPIED) {
		fault_errno(fault, "%s", shown);
		rv = REPO_FAILED;
	}
	return rv;
}
