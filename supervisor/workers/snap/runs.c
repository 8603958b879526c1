/* SPDX-License-Identifier: ISC */
/*
 * Tells which files of a plan may run later, or tell programs what to run:
 * hooks and configuration of git, executables, build files, settings of
 * editors. host/runs.c looks for more of them, on the disk.
 */
#include "workers/snap/snap.h"

#include <fnmatch.h>
#include <string.h>

/* clang-format off */
static const char *const runs_names[] = {
	".gitmodules", ".gitattributes", ".envrc", ".mise.toml", "mise.toml",
	".exrc", ".nvim.lua", ".vimrc", ".dir-locals.el", "*.code-workspace",
	".mcp.json", ".pre-commit-config.yaml", "lefthook.yml",
	".gitlab-ci.yml", "Jenkinsfile", "[Mm]akefile", "GNUmakefile", "*.mk",
	"justfile", "Taskfile.yml", "Rakefile", "Gemfile", "CMakeLists.txt",
	"meson.build", "configure", "build.rs", "build.gradle*", "gradlew",
	"mvnw", "pom.xml", "package.json", ".npmrc", ".pnpmfile.cjs",
	".yarnrc.yml", "pyproject.toml", "setup.py", "setup.cfg",
	"conftest.py", "noxfile.py", "tox.ini", "sitecustomize.py",
	"Dockerfile", "compose.yaml", "docker-compose.yml", "Vagrantfile",
	"flake.nix", "shell.nix", "default.nix",
};

static const char *const runs_paths[] = {
	".git/config*", ".git/hooks/*", ".git/info/attributes", ".git",
	".git/modules/*/config*", ".git/modules/*/hooks/*",
	".husky/*", ".githooks/*", ".vscode/*", ".devcontainer*", ".idea/*",
	".zed/*", ".cursor/*", ".claude/*", ".gemini/*", ".codex/*",
	".opencode/*", ".github/workflows/*", ".circleci/*", ".cargo/config*",
};
/* clang-format on */

bool
snap_runs_later(struct span path, const struct entry *e)
{
	char text[SNAP_PATH];
	const char *name;

	if (e->kind == ENTRY_DIR || span_copy(path, text, sizeof(text)) == -1)
		return false;
	if (e->kind == ENTRY_FILE && (e->mode & 0111) != 0)
		return true;
	name = strrchr(text, '/') == NULL ? text : strrchr(text, '/') + 1;
	for (size_t i = 0; i < nitems(runs_names); i++)
		if (fnmatch(runs_names[i], name, 0) == 0)
			return true;
	/* Those of nested repositories, too. */
	for (const char *at = text; at != NULL; at = strchr(at, '/')) {
		at += at != text || *at == '/';
		for (size_t i = 0; i < nitems(runs_paths); i++)
			if (fnmatch(runs_paths[i], at, 0) == 0)
				return true;
	}
	return false;
}
