/* SPDX-License-Identifier: ISC */
/*
 * Judges files by the rules of base/secretive.h, with the exceptions that the
 * directories of tools need: secrets.py is a part of Python, the certificates
 * of pip are public, and the keys of a test suite open nothing. A file near the
 * top of such a directory may be the tool's own configuration, so that its text
 * is read as well.
 */
#include "workers/survey/tree_secret.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/secretive.h"
#include "common/span.h"

#define SECRET_MAX_FILE ((off_t)1 << 20)
#define SECRET_MAX_SETTINGS ((off_t)65536)
/* Directories in the path of a file that may be a tool's configuration. */
#define SECRET_DEPTH 2U

static const char *const secret_dirs[] = {".ssh", ".gnupg", ".aws", ".azure",
    ".kube", ".docker", ".password-store", "keyrings", ".keyrings"};

/* Names that base/secretive.c does not have, because it refuses all. */
static const char *const secret_names[] = {"*.keyring", "*.ppk", "*.keytab",
    "settings-security.xml", "*.kdb", "*.wallet", "nuget.config"};

/* Programs and their documentation, by the end of a name. */
static const char *const secret_code[] = {".py", ".pyc", ".pyi", ".pyx", ".js",
    ".cjs", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".map", ".rb",
    ".rbs", ".rbi", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java",
    ".kt", ".scala", ".class", ".jar", ".php", ".pm", ".pl", ".pod", ".lua",
    ".hs", ".hi", ".ml", ".mli", ".cmi", ".cmx", ".ex", ".exs", ".beam", ".erl",
    ".hrl", ".el", ".elc", ".vim", ".zig", ".swift", ".sh", ".bash", ".fish",
    ".zsh", ".so", ".a", ".o", ".dll", ".exe", ".md", ".rst", ".html", ".htm",
    ".css", ".svg", ".png", ".adoc", ".1", ".3", ".5", ".7", ".8", ".gz", ".xz",
    ".nix", ".d", ".rlib", ".wasm", ".dart", ".jl", ".r"};

static const char *const secret_settings[] = {"*.toml", "*.xml", "*.properties",
    "*.ini", "*.conf", "*.cfg", "*.config", "*.json", "*.yml", "*.yaml", "*rc",
    "config", "*.txt", "*.sbt", "*.gradle", "*.opts"};

static const char *const secret_tests[] = {"/test/", "/tests/", "/testdata/",
    "/test-data/", "/fixtures/", "/testing/"};

static bool
secret_is_code(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0;
	     dot != NULL && dot != name && i < nitems(secret_code); i++)
		if (strcasecmp(dot, secret_code[i]) == 0)
			return true;
	return false;
}

static bool
secret_of_tests(const char *path)
{
	for (size_t i = 0; i < nitems(secret_tests); i++)
		if (strstr(path, secret_tests[i]) != NULL)
			return true;
	return false;
}

bool
tree_secret_dir(const char *name)
{
	for (size_t i = 0; i < nitems(secret_dirs); i++)
		if (strcmp(secret_dirs[i], name) == 0)
			return true;
	return false;
}

/* Judge the text of a file that `named` says may hold a credential. */
static bool
secret_text(const char *name, const char *path, bool named, struct span text)
{
	if (text.len == 0)
		return false;
	if (named && !secret_is_code(name))
		return !secretive_public(text) &&
		       !(secret_of_tests(path) && secretive_private_key(text));
	if (secretive_text(text) != NULL)
		return !(secret_of_tests(path) && named);
	return !named && secretive_setting(text) != NULL;
}

bool
tree_secret_file(int dirfd, const char *name, const char *path, unsigned depth)
{
	const bool named =
	    secretive_name(name) != NULL ||
	    secretive_match(name, secret_names, nitems(secret_names)) != NULL;
	struct stat st;
	bool secret;
	uint8_t *p;
	ssize_t n;
	int fd;

	if (!named &&
	    (depth > SECRET_DEPTH || strcmp(name, "package.json") == 0 ||
		secretive_match(name, secret_settings,
		    nitems(secret_settings)) == NULL))
		return false;
	fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* A sandbox has the same rights to it. */
	if (fd == -1)
		return false;
	secret = named && !secret_is_code(name);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= (named ? SECRET_MAX_FILE : SECRET_MAX_SETTINGS) &&
	    (p = malloc((size_t)st.st_size + 1)) != NULL) {
		n = read(fd, p, (size_t)st.st_size + 1);
		if (n == st.st_size)
			secret = secret_text(
			    name, path, named, span_of(p, (size_t)n));
		free(p);
	}
	close(fd);
	return secret;
}
