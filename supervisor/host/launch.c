/* SPDX-License-Identifier: ISC */
#include "host/launch.h"

#include <string.h>

#include "common/span.h"
#include "host/reach.h"

/*
 * `here`: it loads modules, settings that name code, or projects from the
 * directory in which it is started.
 */
/* clang-format off */
static const struct launch {
	const char *name;
	enum launch_kind kind;
	bool here;
} launches[] = {
#define S(name, here) {name, LAUNCH_SCRIPT, here}
#define O(name, here) {name, LAUNCH_OTHER, here}
    /* Python: only with -m and -c. npx: box/locate_npm.c starts the package. */
    S("sh", false), S("bash", false), S("dash", false), S("ash", false),
    S("ksh", false), S("zsh", false), S("fish", false), S("python", false),
    S("pypy", false), S("node", false), S("nodejs", false), S("tsx", true),
    S("ts-node", true), S("bun", true), S("deno", true), S("ruby", false),
    S("perl", false), S("php", true), S("lua", true), S("luajit", true),
    S("java", true), S("dotnet", true), S("mono", false), S("julia", true),
    S("Rscript", true), S("escript", true), S("elixir", true),
    S("tclsh", false), S("expect", false), S("guile", false),
    S("racket", false), S("sbcl", false), S("bb", true), S("clojure", true),
    S("wasmtime", false), S("wasmer", false), S("fastmcp", true),
    S("mcp", true), S("uvicorn", true), S("git", true), S("hg", true),
    S("make", true), S("just", true), S("task", true), S("cargo", true),
    S("go", true), S("mix", true), S("bundle", true), S("rake", true),
    S("npm", true), S("pnpm", true), S("yarn", true), S("gradle", true),
    S("mvn", true), S("sbt", true), S("ant", true), S("rails", true),
    S("swift", true), S("zig", true), S("composer", true), S("run-parts", true),
    O("env", false), O("nice", false), O("nohup", false), O("timeout", false),
    O("setsid", false), O("stdbuf", false), O("xvfb-run", false),
    O("dbus-run-session", false), O("npx", false), O("bunx", true),
    O("uv", true), O("uvx", true), O("pipx", false), O("poetry", true),
    O("pipenv", true), O("pdm", true), O("hatch", true), O("rye", true),
    O("pixi", true), O("conda", false), O("mamba", false),
    O("micromamba", false), O("mise", true), O("asdf", true), O("direnv", true),
    O("nix", true), O("nix-shell", true), O("op", false), O("doppler", true),
    O("infisical", true), O("dotenv", true), O("dotenvx", true),
    O("mcpo", false), O("supergateway", false), O("nodemon", true),
    O("pm2", true), O("watchexec", true), O("xargs", false),
    O("setpriv", false), O("taskset", false), O("strace", false),
#undef S
#undef O
};
/* clang-format on */

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
		if (names[i][n - 1] == '*'
			? strncmp(name, names[i], n - 1) == 0
			: strncmp(name, names[i], n) == 0 &&
			      (name[n] == '\0' || name[n] == '='))
			return true;
	}
	return false;
}

bool
launch_text(char *const *env)
{
	for (; *env != NULL; env++)
		if (launch_variable(*env) && (strpbrk(*env, "$`;") != NULL ||
						 strstr(*env, "data:") != NULL))
			return true;
	return false;
}
