/* SPDX-License-Identifier: ISC */
/*
 * The table of managers. Of a directory that also holds a credential, such as
 * ~/.cargo, only the programs are listed.
 */
#include "files/toolchains.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "common/span.h"

static const struct toolchain toolchains[] = {
    {"nvm", ".nvm", "NVM_DIR"},
    {"fnm", ".local/share/fnm", "FNM_DIR"},
    {"volta", ".volta", "VOLTA_HOME"},
    {"rustup", ".rustup", "RUSTUP_HOME"},
    {"cargo", ".cargo/bin", NULL},
    {"go", "go/bin", NULL},
    {"go's SDKs", "sdk", NULL},
    {"pyenv", ".pyenv", "PYENV_ROOT"},
    {"uv", ".local/share/uv", NULL},
    {"pipx", ".local/share/pipx", NULL},
    {"pipx", ".local/pipx", NULL},
    {"mise", ".local/share/mise", "MISE_DATA_DIR"},
    {"asdf", ".asdf", "ASDF_DATA_DIR"},
    {"sdkman", ".sdkman", "SDKMAN_DIR"},
    {"rbenv", ".rbenv", "RBENV_ROOT"},
    {"ghcup", ".ghcup", NULL},
    {"opam", ".opam", "OPAMROOT"},
    {"bun", ".bun/bin", NULL},
    {"deno", ".deno/bin", NULL},
    {"conda", "miniconda3", NULL},
    {"conda", "miniforge3", NULL},
    {"conda", "anaconda3", NULL},
    {"programs of your own", "bin", NULL},
    {"programs of your own", ".local/bin", NULL},
};

const struct toolchain *
toolchain_nth(size_t n)
{
	return n < nitems(toolchains) ? &toolchains[n] : NULL;
}

int
toolchain_path(
    const struct toolchain *t, const char *user_home, char *dst, size_t cap)
{
	const char *set = t->variable != NULL ? getenv(t->variable) : NULL;
	int n;

	n = set != NULL && set[0] == '/'
		? snprintf(dst, cap, "%s", set)
		: snprintf(dst, cap, "%s/%s", user_home, t->dir);
	if (n < 0 || (size_t)n >= cap)
		return -1;
	while (n > 1 && dst[n - 1] == '/')
		dst[--n] = '\0';
	return 0;
}

int
toolchain_found(
    const struct toolchain *t, const char *user_home, char *dst, size_t cap)
{
	struct stat st;

	return toolchain_path(t, user_home, dst, cap) == 0 &&
			       lstat(dst, &st) == 0 && S_ISDIR(st.st_mode)
		   ? 0
		   : -1;
}

void
toolchain_of(const char *path, const char *user_home, char *dst, size_t cap)
{
	const struct toolchain *t;

	for (size_t i = 0; (t = toolchain_nth(i)) != NULL; i++)
		if (toolchain_path(t, user_home, dst, cap) == 0 &&
		    paths_under(path, dst))
			return;
	snprintf(dst, cap, "%s", path);
}
