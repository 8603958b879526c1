/* SPDX-License-Identifier: ISC */
/*
 * Finds an agent's file, and fills in the values of a session. The placeholder
 * keys are the only secrets here, and they are worthless outside the sandbox.
 */
#include "files/adapter/adapter.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/session.h"
#include "files/reader.h"

static int
adapter_unknown(const struct paths *p, const char *name, struct fault *fault)
{
	struct names ns;
	char known[512];

	adapter_list(&ns, p);
	fault_set(fault,
	    "--agent %s: no agent has this name (%s). An agent is a file "
	    "%s/agents/NAME.json",
	    name, names_known(&ns, name, known, sizeof(known)), p->home);
	names_free(&ns);
	return -1;
}

int
adapter_load(struct adapter *a, const struct paths *p, const char *name,
    struct fault *fault)
{
	const char *dirs[] = {p->home, p->datadir};
	char path[4400], *text = NULL;
	struct span parts[READER_PARTS] = {{NULL, 0}};
	struct buf answer;
	struct stat st;
	size_t len = 0;
	int rv;

	memset(a, 0, sizeof(*a));
	name = names_agent(p, name);
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789-_") != strlen(name) ||
	    name[0] == '\0' || strlen(name) > 64)
		return fault_set(fault,
		    "--agent %s: not a valid name for an agent (letters, "
		    "digits, - and _)",
		    name);
	for (size_t i = 0; i < 2 && text == NULL; i++) {
		snprintf(path, sizeof(path), "%.4000s/agents/%s.json", dirs[i],
		    name);
		text = jsonfile_text(path, &len, &st, fault);
		if (text == NULL && errno != ENOENT)
			return -1;
	}
	if (text == NULL)
		return adapter_unknown(p, name, fault);
	parts[0] = span_str(path);
	parts[1] = span_str(name);
	parts[2] = span_of(text, len);
	buf_init(&answer, READER_MAX_ANSWER);
	rv = reader_read(READER_ADAPTER, parts, path, &answer, fault);
	if (rv == 0 && adapter_take(a, buf_span(&answer)) == -1) {
		adapter_free(a);
		rv = reader_bad(fault);
	}
	buf_free(&answer);
	free(text);
	return rv;
}

static void
adapter_files_free(struct adapter_files *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		free(f->list[i].path);
		free(f->list[i].text);
	}
}

static void
adapter_uses_free(struct adapter_uses *uses)
{
	for (unsigned i = 0; i < uses->n; i++) {
		free(uses->list[i].provider);
		free(uses->list[i].instead);
		jsonfile_strings_free(uses->list[i].env);
		adapter_files_free(&uses->list[i].home);
	}
}

static void
adapter_talk_free(struct adapter_talk *t)
{
	jsonfile_strings_free(t->turn);
	jsonfile_strings_free(t->resume);
	jsonfile_strings_free(t->on);
	for (unsigned i = 0; i < t->nrules; i++) {
		free(t->rules[i].when);
		free(t->rules[i].each);
		free(t->rules[i].part);
		free(t->rules[i].text);
	}
}

void
adapter_free(struct adapter *a)
{
	char *const texts[] = {
	    a->name, a->title, a->file, a->image, a->unasked};
	char **const lists[] = {a->providers, a->program, a->task_args, a->args,
	    a->acp, a->model, a->prompt, a->caches, a->state, a->home_files,
	    a->left_out, a->any, a->env};

	for (size_t i = 0; i < nitems(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < nitems(lists); i++)
		jsonfile_strings_free(lists[i]);
	adapter_talk_free(&a->talk);
	adapter_errors_free(&a->errors);
	adapter_files_free(&a->home);
	adapter_files_free(&a->orientation);
	adapter_uses_free(&a->logins);
	adapter_uses_free(&a->alternatives);
	memset(a, 0, sizeof(*a));
}

static int
adapter_env_of(const struct adapter *a, char *const *of,
    const struct providers *ps, char **env, size_t *n, size_t max,
    struct fault *fault)
{
	for (; of != NULL && *of != NULL; of++) {
		if (*n == max)
			return fault_set(fault, "%s: env: too many", a->file);
		if ((env[*n] = adapter_fill(ps, NULL, *of)) == NULL)
			return fault_errno(fault, "%s", a->file);
		(*n)++;
	}
	return 0;
}

int
adapter_env(const struct adapter *a, const struct providers *ps, char **env,
    size_t *n, size_t max, struct fault *fault)
{
	if (adapter_env_of(a, a->env, ps, env, n, max, fault) == -1)
		return -1;
	return a->chosen == NULL
		   ? 0
		   : adapter_env_of(a, a->chosen->env, ps, env, n, max, fault);
}

/* Returns true if the text names the key of a login that has not begun yet. */
static bool
adapter_waits(const struct providers *ps, const char *text)
{
	char word[80];

	for (unsigned i = 0; i < ps->n; i++) {
		snprintf(word, sizeof(word), "{key:%.64s}", ps->list[i].name);
		if (ps->list[i].waits && strstr(text, word) != NULL)
			return true;
	}
	return false;
}

static int
adapter_write(const struct adapter *a, const struct providers *ps,
    const struct adapter_files *files, int dirfd, unsigned mode,
    struct fault *fault)
{
	const struct adapter_file *f;
	char *filled;
	int rv;

	for (unsigned i = 0; i < files->n; i++) {
		f = &files->list[i];
		if (adapter_waits(ps, f->text))
			continue;
		filled = f->json ? adapter_fill_json(ps, f->text)
				 : adapter_fill(ps, NULL, f->text);
		if (filled == NULL)
			return fault_errno(fault, "%s", a->file);
		rv = session_seed(dirfd, f->path, mode, span_str(filled));
		free(filled);
		if (rv == -1)
			return fault_errno(fault, "%s: %s", a->file, f->path);
	}
	return 0;
}

/* Returns the entry of "logins" for this provider, or NULL. */
static const struct adapter_use *
adapter_login(const struct adapter *a, const char *provider)
{
	for (unsigned i = 0; i < a->logins.n; i++)
		if (strcmp(a->logins.list[i].provider, provider) == 0)
			return &a->logins.list[i];
	return NULL;
}

bool
adapter_has_login(const struct adapter *a, const struct provider *p)
{
	return p->login != -1 && adapter_login(a, p->name) != NULL;
}

int
adapter_orient(const struct adapter *a, const struct providers *ps, int dirfd,
    struct fault *fault)
{
	return adapter_write(a, ps, &a->orientation, dirfd, 0644, fault);
}

int
adapter_furnish(const struct adapter *a, const struct providers *ps, int dirfd,
    struct fault *fault)
{
	const struct adapter_use *login;

	if (adapter_write(a, ps, &a->home, dirfd, 0600, fault) == -1)
		return -1;
	/* On top of the others: these files are for a user who is logged in. */
	for (unsigned i = 0; i < ps->n; i++) {
		if (ps->list[i].login == -1 ||
		    (login = adapter_login(a, ps->list[i].name)) == NULL)
			continue;
		if (adapter_write(a, ps, &login->home, dirfd, 0600, fault) ==
		    -1)
			return -1;
	}
	return a->chosen == NULL
		   ? 0
		   : adapter_write(a, ps, &a->chosen->home, dirfd, 0600, fault);
}

/* Replace provider `*p` of the agent. Returns 0, or -1 with the fault set. */
static int
adapter_replace(
    const struct adapter *a, char **p, const char *by, struct fault *fault)
{
	free(*p);
	*p = strdup(by);
	return *p == NULL ? fault_errno(fault, "%s", a->file) : 0;
}

/* Use the alternative if only its provider has a credential. */
static int
adapter_choose_alternative(struct adapter *a, const struct config *cfg,
    const struct adapter_use *u, struct fault *fault)
{
	const struct config_provider *new = config_provider(cfg, u->provider),
				     *old = config_provider(cfg, u->instead);

	if (new == NULL || !new->listed || (old != NULL && old->listed))
		return 0;
	for (char **p = a->providers; p != NULL && *p != NULL; p++) {
		if (strcmp(*p, u->instead) != 0)
			continue;
		if (adapter_replace(a, p, u->provider, fault) == -1)
			return -1;
		a->chosen = u;
	}
	return 0;
}

/* Returns true if `provider` has a login and should replace the other one. */
static bool
adapter_prefers(const struct paths *paths, const struct config *cfg,
    const char *provider, const char *other)
{
	const struct config_provider *a = config_provider(cfg, provider),
				     *b = config_provider(cfg, other);
	struct fault ignored;
	struct provider p;
	bool there;

	if (b != NULL && b->listed)
		return false;
	if (a != NULL && a->listed)
		return a->kind == CREDENTIAL_LOGIN ||
		       a->kind == CREDENTIAL_CAPTURE;
	if (provider_load(&p, paths, cfg, other, &ignored) == -1)
		return false;
	there = getenv(p.env) != NULL && getenv(p.env)[0] != '\0';
	provider_clear(&p);
	if (there || provider_load(&p, paths, cfg, provider, &ignored) == -1)
		return false;
	there = p.login != -1;
	provider_clear(&p);
	return there;
}

int
adapter_choose(struct adapter *a, const struct paths *paths,
    const struct config *cfg, struct fault *fault)
{
	const struct adapter_use *u;

	for (unsigned i = 0; i < a->alternatives.n; i++)
		if (adapter_choose_alternative(
			a, cfg, &a->alternatives.list[i], fault) == -1)
			return -1;
	for (unsigned i = 0; i < a->logins.n; i++) {
		u = &a->logins.list[i];
		for (char **p = a->providers;
		     u->instead != NULL && p != NULL && *p != NULL; p++)
			if (strcmp(*p, u->instead) == 0 &&
			    adapter_prefers(paths, cfg, u->provider, *p) &&
			    adapter_replace(a, p, u->provider, fault) == -1)
				return -1;
	}
	return 0;
}

bool
adapter_has_state(const struct adapter *a, int home)
{
	bool none = true;

	for (char **p = a->state; p != NULL && *p != NULL; p++) {
		none = false;
		if (faccessat(home, *p, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return none;
}
