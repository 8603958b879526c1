/* SPDX-License-Identifier: ISC */
/*
 * Everything that git would run, fetch or follow because a repository says so,
 * and how each is overridden.  The tables come first; Landlock stops what they
 * miss.
 */
#include "icgit/icgit.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/unveil.h"

/* clang-format off */
static const char *const fixed[] = {
	"alias.ironcurtain=",
	"commit.gpgSign=false",
	"core.alternateRefsCommand=",
	"core.askPass=",
	"core.editor=:",
	"core.fsmonitor=false",
	"core.gitProxy=",
	"core.hooksPath=/dev/null",
	"core.pager=cat",
	"core.sshCommand=false",
	"credential.helper=",
	"fetch.recurseSubmodules=false",
	"gc.auto=0",		/* git must leave no process behind */
	"gpg.program=false",
	"http.followRedirects=false",	/* only the listed host may answer */
	"init.templateDir=",	/* would copy hooks */
	"interactive.diffFilter=",
	"log.showSignature=false",
	"maintenance.auto=false",
	"merge.default=text",
	"merge.verifySignatures=false",
	"protocol.ext.allow=never",
	"push.gpgSign=false",
	"push.recurseSubmodules=no",
	"safe.directory=*", /* the owner does not matter: nothing is trusted */
	"sequence.editor=:",
	"status.submoduleSummary=false",
	"submodule.recurse=false",
	"tag.forceSignAnnotated=false",
	"tag.gpgSign=false",
	"transfer.bundleURI=false",
	"uploadpack.packObjectsHook=",
};

/*
 * Variables section.NAME.variable, or section.variable: if a repository sets
 * one, it gets the harmless value.  "*": every variable of the section.
 * uploadpack and receivepack of a remote cannot be overridden, because git uses
 * the first value, but they need a shell on this side.
 */
static const struct guard {
	const char *section, *variable, *value;	/* NULL: our proxy */
} guards[] = {
	{"alias",	"*",		""},
	{"browser",	"cmd",		"false"},
	{"core",	"gitproxy",	""},
	{"credential",	"helper",	""},
	{"diff",	"command",	""},
	{"diff",	"external",	""},
	{"diff",	"textconv",	""},
	{"difftool",	"cmd",		"false"},
	{"fetch",	"bundleuri",	""},
	{"filter",	"clean",	""},
	{"filter",	"process",	""},
	{"filter",	"required",	"false"},
	{"filter",	"smudge",	""},
	{"gpg",		"defaultkeycommand", ""},
	{"gpg",		"program",	"false"},
	{"guitool",	"cmd",		"false"},
	{"http",	"cookiefile",	""},
	{"http",	"curloptresolve", ""},
	{"http",	"extraheader",	""},
	{"http",	"followredirects", "false"},
	{"http",	"proxy",	NULL},
	{"http",	"savecookies",	"false"},
	{"http",	"sslverify",	"true"},
	{"man",		"cmd",		"false"},
	{"merge",	"driver",	"false"},
	{"mergetool",	"cmd",		"false"},
	{"pager",	"*",		"false"},
	{"remote",	"promisor",	"false"},
	{"remote",	"proxy",	NULL},
	{"remote",	"vcs",		""},
	{"submodule",	"update",	"none"},
	{"tar",		"command",	"false"},
	{"trailer",	"cmd",		""},
	{"trailer",	"command",	""},
};

static const struct {
	const char *name, *value;	/* NULL: not there */
} environment[] = {
	{"GIT_ALLOW_PROTOCOL",	"https:ssh"},
	{"GIT_ASKPASS",		""},
	{"GIT_ATTR_NOSYSTEM",	"1"},
	{"GIT_CONFIG",		NULL},
	{"GIT_CONFIG_COUNT",	NULL},
	{"GIT_CONFIG_NOSYSTEM",	"1"},
	{"GIT_CONFIG_SYSTEM",	NULL},
	{"GIT_EDITOR",		":"},
	{"GIT_EXEC_PATH",	NULL},
	{"GIT_EXTERNAL_DIFF",	NULL},
	{"GIT_NO_LAZY_FETCH",	"1"},
	{"GIT_PAGER",		"cat"},
	{"GIT_PROXY_COMMAND",	NULL},
	{"GIT_SEQUENCE_EDITOR",	":"},
	{"GIT_SSH",		NULL},
	{"GIT_SSH_COMMAND",	"false"},
	{"GIT_TEMPLATE_DIR",	NULL},
	{"GIT_TERMINAL_PROMPT",	"0"},
	{"LD_AUDIT",		NULL},
	{"LD_LIBRARY_PATH",	NULL},
	{"LD_PRELOAD",		NULL},
	{"SSH_ASKPASS",		""},
};

/*
 * Stands for the program of a filter, which git names in its error. It begins
 * with no program's name, and a shell would find nothing in it to do.
 */
static const char refuses[] =
    "IronCurtain: the filter of this file is not in this sandbox. Without it "
    "another text would be committed. Leave this file as it is: add it with "
    "git in a shell of your own sandbox, if that has the filter, or tell the "
    "user to commit it outside. Do not retry.";

/* Git, its parts, and the dynamic loader that the kernel executes for them. */
static const char *const executable[] = {
	ICGIT_REAL,
	"/usr/bin/git",
	"/usr/local/bin/git",
	"/usr/lib/git-core",
	"/usr/libexec/git-core",
	"/usr/local/libexec/git-core",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/ld-linux-aarch64.so.1",
	"/lib64/ld-linux-aarch64.so.1",
	"/lib/ld-musl-x86_64.so.1",
	"/lib/ld-musl-aarch64.so.1",
};
/* clang-format on */

void
icgit_add(struct icgit_args *a, const char *word)
{
	if (a->n == ICGIT_MAX_ARGS) {
		a->full = true;
		return;
	}
	a->v[a->n++] = word;
	a->v[a->n] = NULL;
}

const char *
icgit_real(void)
{
	static const char *const places[] = {
	    ICGIT_REAL, "/usr/bin/git", "/usr/local/bin/git"};
	struct stat self, st;

	/* A sandbox of git alone has no /proc, and this program in one place.
	 */
	if (stat("/proc/self/exe", &self) == -1 &&
	    stat(ICGIT_PROGRAM, &self) == -1)
		return NULL;
	for (size_t i = 0; i < nitems(places); i++) {
		if (stat(places[i], &st) == 0 && S_ISREG(st.st_mode) &&
		    (st.st_dev != self.st_dev || st.st_ino != self.st_ino))
			return places[i];
	}
	return NULL;
}

int
icgit_lock(void)
{
	int fds[nitems(executable)], r = -1;
	size_t n = 0;

	for (size_t i = 0; i < nitems(executable); i++) {
		fds[n] = open(executable[i], O_PATH | O_CLOEXEC);
		if (fds[n] != -1)
			n++;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		r = unveil_exec(fds, n);
	/*
	 * E2BIG: this many gits have called each other, and each one was
	 * locked.
	 */
	if (r == -1 && errno == E2BIG)
		r = 0;
	for (size_t i = 0; i < n; i++)
		(void)close(fds[i]);
	return r;
}

int
icgit_env(void)
{
	const char *config = ICGIT_CONFIG, *proxy = getenv("https_proxy");
	int r = 0;

	if (access(config, R_OK) == -1)
		config = "/dev/null";
	r |= setenv("GIT_CONFIG_GLOBAL", config, 1);
	for (size_t i = 0; i < nitems(environment); i++)
		r |= environment[i].value == NULL
			 ? unsetenv(environment[i].name)
			 : setenv(environment[i].name, environment[i].value, 1);
	/*
	 * Values that "--config-env" refers to.  The proxy is the way out of
	 * the sandbox, to listed hosts; a proxy that the repository sets is
	 * overridden.
	 */
	r |= setenv("ICGIT_", "", 1);
	r |= setenv("ICGIT_proxy", proxy != NULL ? proxy : "", 1);
	r |= setenv("ICGIT_" ICGIT_REFUSES, refuses, 1);
	for (size_t i = 0; i < nitems(guards); i++) {
		char name[64] = "ICGIT_";

		if (guards[i].value == NULL || guards[i].value[0] == '\0')
			continue;
		memcpy(name + 6, guards[i].value, strlen(guards[i].value) + 1);
		r |= setenv(name, guards[i].value, 1);
	}
	return r == 0 ? 0 : -1;
}

void
icgit_fixed(struct icgit_args *a)
{
	for (size_t i = 0; i < nitems(fixed); i++) {
		icgit_add(a, "-c");
		icgit_add(a, fixed[i]);
	}
	icgit_add(a, "--config-env=http.proxy=ICGIT_proxy");
}

static bool
same(struct span s, const char *name)
{
	return span_ieq(s, span_str(name));
}

static const struct guard *
guard_find(struct span name)
{
	const uint8_t *first, *last;
	struct span section, variable;

	if ((first = memchr(name.p, '.', name.len)) == NULL)
		return NULL;
	last = memrchr(name.p, '.', name.len);
	section = span_of(name.p, (size_t)(first - name.p));
	variable = span_of(last + 1, name.len - (size_t)(last + 1 - name.p));
	for (size_t i = 0; i < nitems(guards); i++) {
		if (same(section, guards[i].section) &&
		    (guards[i].variable[0] == '*' ||
			same(variable, guards[i].variable)))
			return &guards[i];
	}
	return NULL;
}

int
icgit_override(struct icgit_args *a, struct span name, const char *value)
{
	struct buf b;

	/* Never freed: the arguments point into it until exec. */
	buf_init(&b, ICGIT_MAX_NAMES);
	buf_adds(&b, "--config-env=");
	buf_addspan(&b, name);
	buf_adds(&b, "=ICGIT_");
	buf_adds(&b, value);
	buf_addc(&b, '\0');
	if (b.failed)
		return -1;
	icgit_add(a, (const char *)buf_span(&b).p);
	return 0;
}

int
icgit_found(struct icgit_args *a, struct span names)
{
	const struct guard *g;
	struct span name;
	const uint8_t *end;

	while (names.len != 0) {
		if ((end = memchr(names.p, '\0', names.len)) == NULL)
			return -1;
		name = span_of(names.p, (size_t)(end - names.p));
		names = span_of(end + 1, names.len - name.len - 1);
		if ((g = guard_find(name)) != NULL &&
		    icgit_override(
			a, name, g->value == NULL ? "proxy" : g->value) == -1)
			return -1;
	}
	return a->full ? -1 : 0;
}
