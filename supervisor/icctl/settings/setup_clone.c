/* SPDX-License-Identifier: ISC */
/*
 * The question about the forge that the current directory is a clone from. It
 * is asked only there, and only if config.json has no forge yet. The clone's
 * own configuration, which an agent may have written, is read for one address.
 */
#include "icctl/settings/setup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/forge/forge.h"
#include "repo/clone.h"

#define CLONE_LINE 2100U
#define CLONE_LINES 2000U

static const struct clone_host {
	const char *host, *api, *forge, *env;
	enum forge_kind kind;
} clone_hosts[] = {
    {"github.com", "api.github.com", "github", "GH_TOKEN", FORGE_GITHUB},
    {"gitlab.com", "gitlab.com", "gitlab", "GITLAB_TOKEN", FORGE_GITLAB},
    {"codeberg.org", "codeberg.org", "gitea", "GITEA_TOKEN", FORGE_GITEA},
    {"gitea.com", "gitea.com", "gitea", "GITEA_TOKEN", FORGE_GITEA},
};

/* Copy the address of the remote "origin". Returns false if there is none. */
static bool
clone_origin(char *dst, size_t cap)
{
	char line[CLONE_LINE], *p;
	bool in = false, found = false;
	int fd =
	    open(".git/config", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *f;

	if (fd == -1)
		return false;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (f = fdopen(fd, "r")) == NULL) {
		close(fd);
		return false;
	}
	for (unsigned n = 0;
	     n < CLONE_LINES && !found && fgets(line, sizeof(line), f) != NULL;
	     n++) {
		line[strcspn(line, "\r\n")] = '\0';
		p = line + strspn(line, " \t");
		if (*p == '[')
			in = strcmp(p, "[remote \"origin\"]") == 0;
		else if (in && strncmp(p, "url", 3) == 0) {
			p += 3 + strspn(p + 3, " \t=");
			found = repo_origin(span_str(p), dst, cap);
		}
	}
	fclose(f);
	return found;
}

/*
 * Find the forge and the repository of "https://HOST/OWNER/NAME.git" or
 * "git@HOST:OWNER/NAME". Returns NULL if it is none that is known.
 */
static const struct clone_host *
clone_find(char *url, char **repository)
{
	const struct clone_host *h = clone_hosts;
	char *at = strstr(url, "://");
	size_t n, len;

	at = at != NULL ? at + 3 : url;
	if (strncmp(at, "git@", 4) == 0)
		at += 4;
	for (; h < clone_hosts + nitems(clone_hosts); h++) {
		n = strlen(h->host);
		if (strncmp(at, h->host, n) != 0 ||
		    (at[n] != '/' && at[n] != ':'))
			continue;
		*repository = at + n + 1;
		len = strlen(*repository);
		if (len > 4 && strcmp(*repository + len - 4, ".git") == 0)
			(*repository)[len - 4] = '\0';
		return forge_repository_valid(h->kind, span_str(*repository))
			   ? h
			   : NULL;
	}
	return NULL;
}

static bool
clone_has_forge(const struct setup *s)
{
	json_object *all;

	if (!json_object_object_get_ex(s->file.root, "destinations", &all) ||
	    !json_object_is_type(all, json_type_object))
		return false;
	json_object_object_foreach(all, name, one)
	{
		if (strcmp(icctl_text(one, "kind"), "forge") == 0 ||
		    strcmp(name, "forge") == 0)
			return true;
	}
	return false;
}

/* Returns the place of the token that the person named, or NULL. */
static json_object *
clone_token(const char *answer)
{
	json_object *o = json_object_new_object();
	const char *home = getenv("HOME"), *value = getenv(answer);
	char path[4200];

	if (value != NULL && value[0] != '\0') {
		json_object_object_add(
		    o, "env", json_object_new_string(answer));
		return o;
	}
	(void)snprintf(path, sizeof(path), "%s%s",
	    answer[0] == '~' && home != NULL ? home : "",
	    answer[0] == '~' ? answer + 1 : answer);
	if (path[0] == '/' && access(path, R_OK) == 0) {
		json_object_object_add(
		    o, "file", json_object_new_string(answer));
		return o;
	}
	json_object_put(o);
	return NULL;
}

static int
clone_put(struct setup *s, const struct clone_host *h, const char *repository,
    json_object *credential)
{
	json_object *o = json_object_new_object(),
		    *hosts = json_object_new_array(),
		    *names = json_object_new_array();

	json_object_array_add(hosts, json_object_new_string(h->api));
	json_object_array_add(names, json_object_new_string(repository));
	json_object_object_add(o, "kind", json_object_new_string("forge"));
	json_object_object_add(o, "forge", json_object_new_string(h->forge));
	json_object_object_add(o, "hosts", hosts);
	json_object_object_add(o, "repositories", names);
	json_object_object_add(o, "credential", credential);
	return setup_put(s, "destinations.forge", o);
}

int
setup_clone(struct setup *s)
{
	char url[CLONE_LINE], answer[4096], *repository;
	const struct clone_host *h;
	json_object *credential;

	if (clone_has_forge(s) || !clone_origin(url, sizeof(url)) ||
	    (h = clone_find(url, &repository)) == NULL)
		return 0;
	printf("\nThis is a clone of %s on %s.\n", repository, h->host);
	setup_say("Agents can read its issues, changes and runs of CI, and "
		  "each comment or change of theirs waits for you. The token "
		  "stays outside of the sandbox.");
	if (!setup_ask("Shall they?", "n", answer, sizeof(answer)))
		return -1;
	if (answer[0] != 'y' && answer[0] != 'Y')
		return 0;
	setup_say("icctl setup --forge says which token to make, permission by "
		  "permission.");
	if (!setup_ask("Which variable or file has the token?", h->env, answer,
		sizeof(answer)))
		return -1;
	if ((credential = clone_token(answer)) == NULL) {
		setup_say("%.200s is neither a variable that is set nor a file "
			  "that you can read, so nothing is set. Run icctl "
			  "setup again when there is a token.",
		    answer);
		return 0;
	}
	return clone_put(s, h, repository, credential);
}
