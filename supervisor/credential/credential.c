/* SPDX-License-Identifier: ISC */
/*
 * Opens credentials: the value of a variable goes into a pipe
 * (credential_env.h); the contents of files and the output of commands are
 * never read here.
 */
#include "credential/credential.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "credential/credential_env.h"
#include "credential/proxy_env.h"
#include "credential/revoke.h"
#include "files/parse.h"

/* `where` is for messages: "credentials.NAME" or the like. */
static int
credential_env(struct credential *c, const char *name, const char *where,
    struct fault *fault)
{
	const char *value = getenv(name);

	if (value == NULL || value[0] == '\0')
		return fault_set(fault,
		    "%s.env: %s is not set or empty. Run: export %s=... in "
		    "this shell",
		    where, name, name);
	c->fd = credential_env_pipe(name, fault);
	return c->fd == -1 ? -1 : 0;
}

static int
credential_file(
    struct credential *c, const char *path, int workspace, struct fault *fault)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return fault_errno(fault, "credential %s", path);
	if (fstat(fd, &st) == -1) {
		fault_errno(fault, "credential %s", path);
		goto bad;
	}
	if (paths_credential(fd, &st, path, fault) == -1)
		goto bad;
	if (workspace != -1 && paths_within(fd, workspace) != 0) {
		fault_set(fault,
		    "credential %s: it is in the workspace, where the agent "
		    "can read it. Move it elsewhere",
		    path);
		goto bad;
	}
	c->fd = fd;
	return 0;
bad:
	close(fd);
	return -1;
}

static int
credential_systemd(
    struct credential *c, const char *name, int workspace, struct fault *fault)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	char *path;
	int rv;

	if (dir == NULL || dir[0] != '/')
		return fault_set(fault,
		    "credential %s: CREDENTIALS_DIRECTORY "
		    "is not set; the unit needs LoadCredential=%s:PATH",
		    name, name);
	if ((path = paths_join(dir, name)) == NULL)
		return fault_errno(fault, "credential %s", name);
	rv = credential_file(c, path, workspace, fault);
	free(path);
	return rv;
}

/* Start a command whose stdout is a pipe that only keyd reads. */
static int
credential_command(struct credential *c, char **argv, const char *where,
    const struct credential_how *how, struct fault *fault)
{
	struct spawn s = {.nfds = 3, .session = false};
	char what[128], **words;
	int pipefd[2], rv;

	snprintf(what, sizeof(what), "%s.command", where);
	if (pipe2(pipefd, O_CLOEXEC) == -1)
		return fault_errno(fault, "%s.command", where);
	/* A gateway's key is made for the session, by its name. */
	if ((words = config_command_words(argv, revoke_session())) == NULL) {
		(void)fault_errno(fault, "%s.command", where);
		goto bad;
	}
	s.argv = words;
	s.fds[0] = -1;
	s.fds[1] = pipefd[1];
	s.fds[2] = STDERR_FILENO;
	rv = host_command_start(how->command, what, &s, &c->command, fault);
	jsonfile_strings_free(words);
	if (rv == -1)
		goto bad;
	close(pipefd[1]);
	if (spawn_check(&c->command) == -1) {
		close(pipefd[0]);
		return fault_errno(
		    fault, "%s.command: %s%s", where, argv[0], spawn_step());
	}
	/* Only keyd's end: the command's must stay as programs expect it. */
	if (fcntl(pipefd[0], F_SETFL, O_NONBLOCK) == -1) {
		close(pipefd[0]);
		return fault_errno(fault, "%s.command", where);
	}
	c->fd = pipefd[0];
	return 0;
bad:
	close(pipefd[0]);
	close(pipefd[1]);
	return -1;
}

bool
credential_asks_config(const struct config_provider *cfg)
{
	return cfg->kind == CREDENTIAL_COMMAND ||
	       cfg->kind == CREDENTIAL_SERVICE;
}

bool
credential_asks(const struct provider *p)
{
	return p->env != NULL && !p->waits && !p->in_parts && p->login == -1 &&
	       p->config != NULL && credential_asks_config(p->config);
}

int
credential_open_config(struct credential *c, const struct config_provider *cfg,
    const char *where, const struct credential_how *how, struct fault *fault)
{
	*c = (struct credential)CREDENTIAL_INIT;
	switch (cfg->kind) {
	case CREDENTIAL_ENV:
		return credential_env(c, cfg->value, where, fault);
	case CREDENTIAL_FILE:
		return credential_file(c, cfg->value, how->workspace, fault);
	case CREDENTIAL_SYSTEMD:
		return credential_systemd(c, cfg->value, how->workspace, fault);
	case CREDENTIAL_COMMAND:
	case CREDENTIAL_SERVICE:
		return credential_command(
		    c, cfg->command.argv, where, how, fault);
	case CREDENTIAL_DEFAULT:
	case CREDENTIAL_LOGIN:
	case CREDENTIAL_CAPTURE:
		break;
	}
	return fault_set(fault, "%s: of no kind that is opened here", where);
}

int
credential_open(struct credential *c, const struct provider *p,
    const struct credential_how *how, struct fault *fault)
{
	const struct config_provider *cfg = p->config;
	const char *value;
	char where[96];

	*c = (struct credential)CREDENTIAL_INIT;
	if (p->env == NULL || p->waits)
		return 0;
	value = getenv(p->env);
	snprintf(where, sizeof(where), "%s.%.64s",
	    p->server != 0 ? "serverCredentials" : "credentials",
	    p->server != 0 ? p->name + strlen("mcp-") : p->name);
	if (p->in_parts) {
		c->fd = credential_env_parts(p->parts, fault);
		return c->fd == -1 ? -1 : 0;
	}
	if (p->login != -1)
		return credential_file(
		    c, provider_login_file(p), how->workspace, fault);
	if (cfg != NULL && cfg->kind != CREDENTIAL_DEFAULT)
		return credential_open_config(c, cfg, where, how, fault);
	if (value == NULL || value[0] == '\0')
		return fault_set(fault,
		    "there is no credential for %s. Set %s, or write in "
		    "config.json where it is: "
		    "{\"credentials\":{\"%s\":{\"file\":\"PATH\"}}}. All ways: "
		    "icctl login %s",
		    p->name, p->env, p->name, p->name);
	return credential_env(c, p->env, where, fault);
}

bool
credential_again(const struct provider *p)
{
	if (p->login != -1 || p->config == NULL)
		return false;
	/* AWS keys in a file belong to a session and expire. */
	return p->config->kind == CREDENTIAL_COMMAND ||
	       (p->config->kind == CREDENTIAL_FILE && p->parts != NULL);
}

int
credential_open_file(
    struct credential *c, const char *path, int workspace, struct fault *fault)
{
	*c = (struct credential)CREDENTIAL_INIT;
	return credential_file(c, path, workspace, fault);
}

int
credential_open_pipe(struct credential *c, int fd, struct fault *fault)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	*c = (struct credential)CREDENTIAL_INIT;
	if (flags == -1 || fstat(fd, &st) == -1 || !S_ISFIFO(st.st_mode) ||
	    (flags & O_ACCMODE) != O_RDONLY ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) == -1) {
		close(fd);
		return fault_set(fault,
		    "the descriptor that came with the request is not a "
		    "pipe");
	}
	c->fd = fd;
	return 0;
}

static void
credential_wipe_dir(
    const struct paths *paths, const struct config *cfg, const char *base)
{
	struct provider p;
	struct fault ignored;
	struct dirent *e;
	char *path, name[65];
	size_t n;
	DIR *dir;

	if ((path = paths_join(base, "providers")) == NULL)
		return;
	dir = opendir(path);
	free(path);
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		n = strlen(e->d_name);
		if (n < 6 || n > 69 || strcmp(e->d_name + n - 5, ".json") != 0)
			continue;
		memcpy(name, e->d_name, n - 5);
		name[n - 5] = '\0';
		if (provider_load(&p, paths, cfg, name, &ignored) == -1)
			continue;
		credential_env_wipe(p.env);
		for (size_t i = 0; p.parts != NULL && i < PROVIDER_PARTS; i++)
			credential_env_wipe(p.parts[i]);
		provider_clear(&p);
	}
	if (dir != NULL)
		closedir(dir);
}

void
credential_wipe(const struct paths *paths, const struct config *cfg)
{
	for (size_t i = 0; i < cfg->nproviders; i++)
		if (cfg->providers[i].kind == CREDENTIAL_ENV)
			credential_env_wipe(cfg->providers[i].value);
	if (cfg->proxy.auth.kind == CREDENTIAL_ENV)
		credential_env_wipe(cfg->proxy.auth.value);
	for (size_t i = 0; i < cfg->ndestinations; i++)
		if (cfg->destinations[i].as.kind == CREDENTIAL_ENV)
			credential_env_wipe(cfg->destinations[i].as.value);
	credential_wipe_dir(paths, cfg, paths->datadir);
	credential_wipe_dir(paths, cfg, paths->home);
}

int
proxy_credential(struct proxy *p, const struct config *cfg, bool commands,
    const struct credential_how *how, struct fault *fault)
{
	bool asks =
	    p->auth && !p->escaped && credential_asks_config(&cfg->proxy.auth);
	int rv = 0;

	if (asks == commands && p->escaped)
		rv = proxy_pipe(p, fault);
	else if (asks == commands && p->auth)
		rv = credential_open_config(
		    &p->cred, &cfg->proxy.auth, "proxy.credential", how, fault);
	proxy_wipe();
	return rv;
}
