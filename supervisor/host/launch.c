/* SPDX-License-Identifier: ISC */
#include "host/launch.h"

#include <string.h>

#include "common/span.h"
#include "host/reach.h"

/*
 * `here`: it loads modules, settings that name code, or projects from the
 * directory in which it is started.
 */
static const struct launch {
	const char *name;
	enum launch_kind kind;
	bool here;
} launches[] = {
    {"sh", LAUNCH_SCRIPT, false},
    {"bash", LAUNCH_SCRIPT, false},
    {"dash", LAUNCH_SCRIPT, false},
    {"ash", LAUNCH_SCRIPT, false},
    {"ksh", LAUNCH_SCRIPT, false},
    {"zsh", LAUNCH_SCRIPT, false},
    {"fish", LAUNCH_SCRIPT, false},
    {"python", LAUNCH_SCRIPT, false}, /* only with -m and -c */
    {"pypy", LAUNCH_SCRIPT, false},
    {"node", LAUNCH_SCRIPT, false},
    {"nodejs", LAUNCH_SCRIPT, false},
    {"tsx", LAUNCH_SCRIPT, true},
    {"ts-node", LAUNCH_SCRIPT, true},
    {"bun", LAUNCH_SCRIPT, true},
    {"deno", LAUNCH_SCRIPT, true},
    {"ruby", LAUNCH_SCRIPT, false},
    {"perl", LAUNCH_SCRIPT, false},
    {"php", LAUNCH_SCRIPT, true},
    {"lua", LAUNCH_SCRIPT, true},
    {"luajit", LAUNCH_SCRIPT, true},
    {"java", LAUNCH_SCRIPT, true},
    {"dotnet", LAUNCH_SCRIPT, true},
    {"mono", LAUNCH_SCRIPT, false},
    {"julia", LAUNCH_SCRIPT, true},
    {"Rscript", LAUNCH_SCRIPT, true},
    {"escript", LAUNCH_SCRIPT, true},
    {"elixir", LAUNCH_SCRIPT, true},
    {"tclsh", LAUNCH_SCRIPT, false},
    {"expect", LAUNCH_SCRIPT, false},
    {"guile", LAUNCH_SCRIPT, false},
    {"racket", LAUNCH_SCRIPT, false},
    {"sbcl", LAUNCH_SCRIPT, false},
    {"bb", LAUNCH_SCRIPT, true},
    {"clojure", LAUNCH_SCRIPT, true},
    {"wasmtime", LAUNCH_SCRIPT, false},
    {"wasmer", LAUNCH_SCRIPT, false},
    {"fastmcp", LAUNCH_SCRIPT, true},
    {"mcp", LAUNCH_SCRIPT, true},
    {"uvicorn", LAUNCH_SCRIPT, true},
    {"git", LAUNCH_SCRIPT, true},
    {"hg", LAUNCH_SCRIPT, true},
    {"make", LAUNCH_SCRIPT, true},
    {"just", LAUNCH_SCRIPT, true},
    {"task", LAUNCH_SCRIPT, true},
    {"cargo", LAUNCH_SCRIPT, true},
    {"go", LAUNCH_SCRIPT, true},
    {"mix", LAUNCH_SCRIPT, true},
    {"bundle", LAUNCH_SCRIPT, true},
    {"rake", LAUNCH_SCRIPT, true},
    {"npm", LAUNCH_SCRIPT, true},
    {"pnpm", LAUNCH_SCRIPT, true},
    {"yarn", LAUNCH_SCRIPT, true},
    {"env", LAUNCH_OTHER, false},
    {"nice", LAUNCH_OTHER, false},
    {"nohup", LAUNCH_OTHER, false},
    {"timeout", LAUNCH_OTHER, false},
    {"setsid", LAUNCH_OTHER, false},
    {"stdbuf", LAUNCH_OTHER, false},
    {"xvfb-run", LAUNCH_OTHER, false},
    {"dbus-run-session", LAUNCH_OTHER, false},
    {"npx", LAUNCH_OTHER, false}, /* box/locate_npm.c starts the package */
    {"bunx", LAUNCH_OTHER, true},
    {"uv", LAUNCH_OTHER, true},
    {"uvx", LAUNCH_OTHER, true},
    {"pipx", LAUNCH_OTHER, false},
    {"poetry", LAUNCH_OTHER, true},
    {"pipenv", LAUNCH_OTHER, true},
    {"pdm", LAUNCH_OTHER, true},
    {"hatch", LAUNCH_OTHER, true},
    {"rye", LAUNCH_OTHER, true},
    {"pixi", LAUNCH_OTHER, true},
    {"conda", LAUNCH_OTHER, false},
    {"mamba", LAUNCH_OTHER, false},
    {"micromamba", LAUNCH_OTHER, false},
    {"mise", LAUNCH_OTHER, true},
    {"asdf", LAUNCH_OTHER, true},
    {"direnv", LAUNCH_OTHER, true},
    {"nix", LAUNCH_OTHER, true},
    {"nix-shell", LAUNCH_OTHER, true},
    {"op", LAUNCH_OTHER, false},
    {"doppler", LAUNCH_OTHER, true},
    {"infisical", LAUNCH_OTHER, true},
    {"dotenv", LAUNCH_OTHER, true},
    {"dotenvx", LAUNCH_OTHER, true},
    {"mcpo", LAUNCH_OTHER, false},
    {"supergateway", LAUNCH_OTHER, false},
};

static const struct launch *
launch_find(const char *program)
{
	for (size_t i = 0; i < nitems(launches); i++)
		if (reach_named(program, launches[i].name))
			return &launches[i];
	return NULL;
}

enum launch_kind
launch_kind(const char *program)
{
	const struct launch *l = launch_find(program);

	return l != NULL ? l->kind : LAUNCH_NONE;
}

/* Returns true if an option before Python's script adds the directory. */
static bool
launch_python(char *const *words)
{
	size_t n;

	for (; *words != NULL && (*words)[0] == '-'; words++) {
		n = strlen(*words);
		if (n == 1 ||
		    ((*words)[1] != '-' && strpbrk(*words, "mc") != NULL))
			return true;
		/* The value of -X and -W may be the next word. */
		if ((strcmp(*words + n - 1, "X") == 0 ||
			strcmp(*words + n - 1, "W") == 0 ||
			strcmp(*words, "--check-hash-based-pycs") == 0) &&
		    words[1] != NULL)
			words++;
	}
	return *words == NULL;
}

bool
launch_from_directory(const char *program, char *const *words)
{
	const struct launch *l = launch_find(program);

	if (l == NULL)
		return false;
	if (l->here)
		return true;
	if (reach_named(program, "python") || reach_named(program, "pypy"))
		return launch_python(words);
	/* It may start one that does. */
	for (; l->kind == LAUNCH_OTHER && *words != NULL; words++)
		if (launch_kind(*words) != LAUNCH_NONE &&
		    launch_from_directory(*words, words + 1))
			return true;
	return false;
}

bool
launch_variable(const char *name)
{
	/* With * at its end, the beginning of a name. */
	static const char *const names[] = {"PATH", "HOME", "XDG_*", "LD_*",
	    "PYTHON*", "VIRTUAL_ENV", "CONDA_*", "PIP_*", "UV_*", "POETRY_*",
	    "NODE_*", "NPM_*", "npm_config_*", "BUN_*", "DENO_*", "TS_NODE_*",
	    "TSX_*", "PERL*", "RUBY*", "GEM_*", "BUNDLE_*", "JAVA_*", "JDK_*",
	    "_JAVA_OPTIONS", "CLASSPATH", "LUA_*", "PHP*", "BASH_ENV", "ENV",
	    "ZDOTDIR", "SHELL", "CDPATH", "FPATH", "GIT_CONFIG*",
	    "GIT_EXEC_PATH", "GIT_SSH*", "GIT_ASKPASS", "GIT_EDITOR",
	    "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR",
	    "GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "PAGER", "BROWSER",
	    "CARGO_*", "RUSTC*", "GOPATH", "GOFLAGS", "GOBIN", "GOROOT",
	    "DOTNET_*", "CORECLR_*", "R_*", "JULIA_*", "MAVEN_*", "GRADLE_*",
	    "ERL_*", "ELIXIR_*", "MAKEFILES", "MAKEFLAGS", "OPENSSL_*",
	    "GCONV_PATH", "LOCPATH", "TCLLIBPATH", "DOTENV_*"};
	size_t n;

	for (size_t i = 0; i < nitems(names); i++) {
		n = strlen(names[i]);
		if (names[i][n - 1] == '*' ? strncmp(name, names[i], n - 1) == 0
					   : strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}
