/* SPDX-License-Identifier: ISC */
/*
 * orientation/: files in the sandbox that describe it: the session's CA
 * certificate, alone and appended to the system's, the environment, and the
 * agent's own configuration for reaching MCP.
 */
#include "box/orient.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "box/clients/clients.h"
#include "box/git/gitbox.h"
#include "box/system/envput.h"
#include "box/system/habits.h"
#include "box/system/toolpath.h"
#include "common/http/base64.h"
#include "core/sup.h"
#include "home/caches.h"
#include "home/files.h"
#include "home/project.h"

/* The variables that are the same for every agent. */
static const char *const orient_env[] = {"HOME=/home/agent", "USER=agent",
    "LOGNAME=agent", "SHELL=/bin/sh", "TMPDIR=/tmp", "PNPM_HOME=" TOOLPATH_PNPM,
    "IRONCURTAIN=1", "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
    /* No signing key is there, and the owner may be another user. */
    "GIT_CONFIG_COUNT=5", "GIT_CONFIG_KEY_0=commit.gpgSign",
    "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=tag.gpgSign",
    "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_KEY_2=push.gpgSign",
    "GIT_CONFIG_VALUE_2=false", "GIT_CONFIG_KEY_4=tag.forceSignAnnotated",
    "GIT_CONFIG_VALUE_4=false", "GIT_CONFIG_KEY_3=safe.directory",
    "GIT_CONFIG_VALUE_3=*"};

/* Lines of 64 characters, as in PEM. */
static void
orient_base64(struct buf *b, struct span der)
{
	uint8_t line[BASE64_LEN(48)];
	size_t n;

	for (; der.len != 0; der = span_of(der.p + n, der.len - n)) {
		n = der.len < 48 ? der.len : 48;
		base64_put(line, span_of(der.p, n));
		buf_add(b, line, BASE64_LEN(n));
		buf_addc(b, '\n');
	}
}

int
orient_ca(struct span der, struct fault *fault)
{
	struct buf b;
	int rv = 0;

	buf_init(&b, 65536);
	/* The bundle that precedes it may lack its final newline. */
	buf_adds(&b, "\n-----BEGIN CERTIFICATE-----\n");
	orient_base64(&b, der);
	buf_adds(&b, "-----END CERTIFICATE-----\n");
	if (b.failed || (sup.ca_pem = span_dup(buf_span(&b))) == NULL)
		rv = fault_set(fault, "CA certificate: out of memory");
	sup.ca_len = b.len;
	buf_free(&b);
	return rv;
}

static int
orient_certificates(struct fault *fault)
{
	static const char *const places[] = {
	    "/etc/ssl/certs/ca-certificates.crt",
	    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	    "/etc/ssl/cert.pem"};
	struct span ca = span_of(sup.ca_pem, sup.ca_len);
	int src = -1, rv = 0;

	for (size_t i = 0; i < nitems(places) && src == -1; i++)
		src = open(places[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (session_write(sup.session.orientation, "ca-cert.pem", 0644, ca) ==
		-1 ||
	    session_copy(
		sup.session.orientation, "ca-bundle.pem", 0644, src, ca) == -1)
		rv = fault_errno(fault, "%s/orientation", sup.session.dir);
	if (src != -1)
		close(src);
	return rv == 0 ? clients_files(fault) : -1;
}

/* Pass on a variable of the user's if it is a short word. */
static int
orient_pass(char **env, size_t *n, const char *name, struct fault *fault)
{
	const char *value = getenv(name);

	if (value == NULL || strlen(value) >= 64 ||
	    strpbrk(value, "\n=") != NULL)
		return 0;
	return env_put(env, n, ORIENT_MAX_ENV, name, value, fault);
}

/*
 * The agent's terminal. A full screen is drawn by termd whatever the person's
 * own terminal is, so that programs get the terminfo(5) entry of termd.
 */
static int
orient_terminal(char **env, size_t *n, struct fault *fault)
{
	if (!sup.terminal.screen)
		return orient_pass(env, n, "TERM", fault) == -1
			   ? -1
			   : orient_pass(env, n, "COLORTERM", fault);
	return env_put(env, n, ORIENT_MAX_ENV, "TERM", "xterm-256color",
		   fault) == -1
		   ? -1
		   : env_put(env, n, ORIENT_MAX_ENV, "COLORTERM", "truecolor",
			 fault);
}

#define ORIENT_GIT "/etc/ironcurtain/gitconfig"
#define ORIENT_GIT_TEXT 65536U

/* Begins the agent's own .gitconfig, which is its to change. */
static const char orient_git_first[] =
    "# This part of your git configuration is new at each start.\n"
    "[include]\n\tpath = " ORIENT_GIT "\n";

/* Returns the length of an identity that older versions wrote, or 0. */
static size_t
orient_git_old(const char *text)
{
	static const char *const lines[] = {
	    "[user]\n", "\tname = \"", "\temail = \""};
	const char *p = text;

	for (size_t i = 0; i < nitems(lines); i++) {
		if (strncmp(p, lines[i], strlen(lines[i])) != 0)
			return 0;
		p = strchr(p, '\n');
		if (p == NULL)
			return 0;
		p++;
	}
	return (size_t)(p - text);
}

/* Have the agent's git read what it gets of the user's configuration. */
static int
orient_git_home(void)
{
	static char text[ORIENT_GIT_TEXT];
	struct stat st;
	struct buf b;
	ssize_t n = 0;
	int rv = 0;

	if (sup.session.home == -1)
		return 0;
	if (fstatat(sup.session.home, ".gitconfig", &st,
		AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!S_ISREG(st.st_mode) ||
		(n = small_file_read(sup.session.home, ".gitconfig", text,
		     sizeof(text))) < 0 ||
		n == (ssize_t)sizeof(text) - 1 || st.st_size > n ||
		strstr(text, ORIENT_GIT) != NULL))
		return 0;
	text[n] = '\0';
	buf_init(&b, 2 * ORIENT_GIT_TEXT);
	buf_adds(&b, orient_git_first);
	buf_adds(&b, text + orient_git_old(text));
	rv = b.failed ? -1
		      : session_write(sup.session.home, ".gitconfig", 0600,
			    buf_span(&b));
	buf_free(&b);
	return rv;
}

/* Write the parts of the user's git configuration that the agent gets. */
static int
orient_git(void)
{
	const struct {
		const char *name, *text;
	} files[] = {{"gitconfig", gitbox_user.settings},
	    {"gitignore", gitbox_user.ignore},
	    {"gitattributes", gitbox_user.attributes}};

	for (size_t i = 0; i < nitems(files); i++)
		if (session_write(sup.session.orientation, files[i].name, 0644,
			span_str(files[i].text != NULL ? files[i].text : "")) ==
		    -1)
			return -1;
	return orient_git_home();
}

/*
 * Set the placeholder key in the provider's usual variables; region and
 * project.
 */
static int
orient_provider(
    const struct provider *p, char **env, size_t *n, struct fault *fault)
{
	const size_t max = ORIENT_MAX_ENV;

	if (!p->in_parts && env_put(env, n, max, p->env, p->key, fault) == -1)
		return -1;
	/* The id and the secret of a key in parts have the same placeholder. */
	for (unsigned i = 0; p->in_parts && i < 2; i++)
		if (env_put(env, n, max, p->parts[i], p->key, fault) == -1)
			return -1;
	for (unsigned i = 0; i < PROVIDERS_PARAMS; i++)
		for (char **e = p->param_env[i];
		     e != NULL && *e != NULL && p->params[i] != NULL; e++)
			if (env_put(env, n, max, *e, p->params[i], fault) == -1)
				return -1;
	return 0;
}

/* Add the variables of config.json, none of which is one of ours. */
static int
orient_own(char **env, size_t *n, struct fault *fault)
{
	size_t len;

	if (sup.config.env == NULL)
		return 0;
	json_object_object_foreach(sup.config.env, name, val)
	{
		len = strlen(name);
		for (size_t i = 0; i < *n; i++)
			if (strncmp(env[i], name, len) == 0 &&
			    env[i][len] == '=')
				return fault_set_kind(fault, FAULT_CONFIG,
				    "%s: env.%s: IronCurtain sets this "
				    "variable itself in this session. Remove "
				    "it",
				    sup.config.file, name);
		if (env_put(env, n, ORIENT_MAX_ENV, name,
			json_object_get_string(val), fault) == -1)
			return -1;
	}
	return 0;
}

int
orient_environment(const struct program *p, char **env, struct fault *fault)
{
	const struct provider *pr;
	size_t n = 0;

	if ((env[n++] = toolpath(p)) == NULL)
		return fault_errno(fault, "environment");
	for (size_t i = 0; i < nitems(orient_env); i++)
		if ((env[n++] = strdup(orient_env[i])) == NULL)
			return fault_errno(fault, "environment");
	if (clients_environment(env, &n, ORIENT_MAX_ENV, fault) == -1 ||
	    toolpath_environment(env, &n, ORIENT_MAX_ENV, fault) == -1 ||
	    habits_environment(env[0], env, &n, ORIENT_MAX_ENV, fault) == -1)
		return -1;
	for (size_t i = 0; caches_env(i) != NULL; i++)
		if ((env[n++] = strdup(caches_env(i))) == NULL)
			return fault_errno(fault, "environment");
	if (orient_terminal(env, &n, fault) == -1)
		return -1;
	for (unsigned i = 0; i < sup.providers.n; i++) {
		pr = &sup.providers.list[i];
		if (pr->key == NULL || pr->waits ||
		    adapter_has_login(&sup.adapter, pr))
			continue;
		if (orient_provider(pr, env, &n, fault) == -1)
			return -1;
	}
	if (sup.adapter.name != NULL &&
	    adapter_env(&sup.adapter, &sup.providers, env, &n, ORIENT_MAX_ENV,
		fault) == -1)
		return -1;
	return orient_own(env, &n, fault);
}

/* Write the adapter's files. */
static int
orient_files(struct fault *fault)
{
	if (adapter_orient(&sup.adapter, &sup.providers,
		sup.session.orientation, fault) == -1)
		return -1;
	if (adapter_furnish(
		&sup.adapter, &sup.providers, sup.session.home, fault) == -1 ||
	    home_take_files(fault) == -1)
		return home_blocked(fault);
	return 0;
}

int
orient_write(char *const *env, struct fault *fault)
{
	struct buf b;
	int rv;

	if (orient_certificates(fault) == -1)
		return -1;
	buf_init(&b, 1U << 20);
	for (size_t i = 0; env[i] != NULL; i++) {
		buf_adds(&b, env[i]);
		buf_addc(&b, '\n');
	}
	rv = b.failed ? -1
		      : session_write(sup.session.orientation, "agent.env",
			    0644, buf_span(&b));
	buf_free(&b);
	if (rv == -1)
		return fault_errno(
		    fault, "%s/orientation/agent.env", sup.session.dir);
	if (sup.adapter.name == NULL)
		return 0;
	if (orient_git() == -1) {
		fault_errno(fault, "%s/home/.gitconfig", sup.session.dir);
		return home_blocked(fault);
	}
	caches_links();
	return orient_files(fault);
}

int
orient_write_tools(struct fault *fault)
{
	return sup.adapter.tells_tools ? orient_files(fault) : 0;
}
