/* SPDX-License-Identifier: ISC */
/*
 * Reads adapters and fills in the values of a session. The placeholder keys are
 * the only secrets here, and they are worthless outside the sandbox.
 */
#include "files/adapter/adapter.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/session.h"
#include "files/image.h"

#define ADAPTER_MAX_FILE (256U << 10)

static int adapter_read_list(
    const struct adapter *, const char *name, bool env, struct fault *);

static int
adapter_read(
    struct adapter *a, const char *path, const char *name, struct fault *fault)
{
	static const char *const keys[] = {"acp", "alternatives", "anyOf",
	    "args", "background", "caches", "continue", "env", "errors", "home",
	    "homeFiles", "image", "interactive", "internal", "leftOut",
	    "logins", "message", "model", "name", "orientation", "output",
	    "program", "prompt", "providers", "resume", "state", "taskArgs",
	    "title", "turn", NULL};
	const struct jsonfile j = {path, fault};
	struct json_object *o = NULL;
	const char *s = NULL;
	char **twice = NULL;

	if (jsonfile_known(&j, a->root, "", keys) == -1 ||
	    jsonfile_str(&j, a->root, "", "name", &s) == -1 ||
	    jsonfile_strings(&j, a->root, "", "providers", PROTO_MAX_PROVIDERS,
		&a->providers) == -1 ||
	    jsonfile_strings(&j, a->root, "", "program", 16, &a->program) ==
		-1 ||
	    jsonfile_strings(&j, a->root, "", "taskArgs", ADAPTER_MAX_ARGS,
		&a->task_args) == -1 ||
	    jsonfile_strings(
		&j, a->root, "", "args", ADAPTER_MAX_ARGS, &a->args) == -1 ||
	    jsonfile_strings(
		&j, a->root, "", "acp", ADAPTER_MAX_ARGS, &a->acp) == -1 ||
	    jsonfile_strings(&j, a->root, "", "interactive", ADAPTER_MAX_ARGS,
		a->args == NULL ? &a->args : &twice) == -1 ||
	    jsonfile_strings(
		&j, a->root, "", "model", ADAPTER_MAX_ARGS, &a->model) == -1 ||
	    jsonfile_strings(&j, a->root, "", "prompt", ADAPTER_MAX_ARGS,
		&a->prompt) == -1 ||
	    jsonfile_strings(&j, a->root, "", "leftOut", ADAPTER_MAX_ARGS,
		&a->left_out) == -1 ||
	    adapter_home_read(a, &j) == -1 ||
	    config_built(&j, a->root, "", &a->image) == -1 ||
	    jsonfile_strings(
		&j, a->root, "", "anyOf", PROTO_MAX_PROVIDERS, &a->any) == -1 ||
	    adapter_talk_read(&a->talk, &j, a->root) == -1 ||
	    adapter_errors_read(&a->errors, &j, a->root) == -1 ||
	    jsonfile_bool(&j, a->root, "", "internal", &a->internal) == -1 ||
	    jsonfile_object(&j, a->root, "", "env", &o) == -1 ||
	    jsonfile_object(&j, a->root, "", "home", &o) == -1 ||
	    jsonfile_object(&j, a->root, "", "orientation", &o) == -1)
		return -1;
	if (twice != NULL) {
		jsonfile_strings_free(twice);
		return jsonfile_bad(&j, "", "interactive",
		    "is another name of \"args\": write one of them");
	}
	if (s == NULL || strcmp(s, name) != 0)
		return jsonfile_bad(&j, "", "name",
		    "must be \"%s\", like the file's name", name);
	if ((a->name = strdup(name)) == NULL ||
	    (a->file = strdup(path)) == NULL)
		return fault_errno(fault, "%s", path);
	return adapter_read_list(a, "logins", false, fault) == -1 ||
		       adapter_read_list(a, "alternatives", true, fault) == -1
		   ? -1
		   : 0;
}

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
	struct stat st;
	size_t len = 0;

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
	a->root = jsonfile_parse(path, span_of(text, len), fault);
	free(text);
	if (a->root == NULL || adapter_read(a, path, name, fault) == -1) {
		adapter_free(a);
		return -1;
	}
	return 0;
}

void
adapter_free(struct adapter *a)
{
	free(a->name);
	free(a->file);
	free(a->image);
	jsonfile_strings_free(a->providers);
	jsonfile_strings_free(a->program);
	jsonfile_strings_free(a->task_args);
	jsonfile_strings_free(a->args);
	jsonfile_strings_free(a->acp);
	jsonfile_strings_free(a->model);
	jsonfile_strings_free(a->prompt);
	jsonfile_strings_free(a->caches);
	jsonfile_strings_free(a->state);
	jsonfile_strings_free(a->home_files);
	jsonfile_strings_free(a->left_out);
	jsonfile_strings_free(a->any);
	adapter_talk_free(&a->talk);
	adapter_errors_free(&a->errors);
	json_object_put(a->root);
	memset(a, 0, sizeof(*a));
}

static int
adapter_env_of(const struct adapter *a, struct json_object *of,
    const struct providers *ps, char **env, size_t *n, size_t max,
    struct fault *fault)
{
	const struct jsonfile j = {a->file, fault};
	struct json_object *o;
	const char *s;
	char *value;

	if (!json_object_object_get_ex(of, "env", &o))
		return 0;
	json_object_object_foreach(o, name, val)
	{
		if (*n == max)
			return jsonfile_bad(&j, "", "env", "too many");
		if (jsonfile_text_of(&j, val, "env", name, &s) == -1)
			return -1;
		if (strpbrk(name, "=\n") != NULL || strchr(s, '\n') != NULL)
			return jsonfile_bad(&j, "env", name,
			    "must not hold "
			    "a newline");
		if ((value = adapter_fill(ps, NULL, s)) == NULL ||
		    asprintf(&env[*n], "%s=%s", name, value) == -1) {
			env[*n] = NULL;
			free(value);
			return fault_errno(fault, "%s", a->file);
		}
		free(value);
		(*n)++;
	}
	return 0;
}

int
adapter_env(const struct adapter *a, const struct providers *ps, char **env,
    size_t *n, size_t max, struct fault *fault)
{
	if (adapter_env_of(a, a->root, ps, env, n, max, fault) == -1)
		return -1;
	return a->chosen == NULL
		   ? 0
		   : adapter_env_of(a, a->chosen, ps, env, n, max, fault);
}

bool
adapter_names(const struct adapter *a, const char *word)
{
	return a->root != NULL &&
	       strstr(json_object_to_json_string(a->root), word) != NULL;
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
    struct json_object *of, const char *which, int dirfd, unsigned mode,
    struct fault *fault)
{
	struct json_object *o;
	const char *text;
	char *filled;
	int rv = 0;

	if (!json_object_object_get_ex(of, which, &o))
		return 0;
	json_object_object_foreach(o, path, val)
	{
		/*
		 * A string is the file's text; any other value is written as
		 * JSON.
		 */
		text = json_object_is_type(val, json_type_string)
			   ? json_object_get_string(val)
			   : json_object_to_json_string_ext(
				 val, JSON_C_TO_STRING_PRETTY |
					  JSON_C_TO_STRING_NOSLASHESCAPE);
		if (adapter_waits(ps, text))
			continue;
		filled = json_object_is_type(val, json_type_string)
			     ? adapter_fill(ps, NULL, text)
			     : adapter_fill_json(ps, text);
		if (filled == NULL)
			return fault_errno(fault, "%s", a->file);
		rv = session_seed(dirfd, path, mode, span_str(filled));
		free(filled);
		if (rv == -1)
			return fault_errno(
			    fault, "%s: %s/%s", a->file, which, path);
	}
	return rv;
}

/* Returns the entry of "logins" for this provider, or NULL. */
static struct json_object *
adapter_login(const struct adapter *a, const char *provider)
{
	struct json_object *list, *o, *name;

	if (a->root == NULL ||
	    !json_object_object_get_ex(a->root, "logins", &list))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (json_object_object_get_ex(o, "provider", &name) &&
		    strcmp(json_object_get_string(name), provider) == 0)
			return o;
	}
	return NULL;
}

/*
 * Check "logins" or "alternatives": entries for use with another provider's key
 * or login. Only alternatives have an environment, and they must name the
 * provider that they replace.
 */
static int
adapter_read_list(
    const struct adapter *a, const char *name, bool env, struct fault *fault)
{
	static const char *const keys[] = {
	    "home", "instead", "provider", "env", NULL};
	static const char *const no_env[] = {
	    "home", "instead", "provider", NULL};
	const struct jsonfile j = {a->file, fault};
	struct json_object *list, *one, *o;
	const char *provider, *instead;
	char where[48];

	if (!json_object_object_get_ex(a->root, name, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(&j, "", name, "must be an array");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		snprintf(where, sizeof(where), "%s[%zu]", name, i);
		one = json_object_array_get_idx(list, i);
		provider = instead = NULL;
		if (!json_object_is_type(one, json_type_object))
			return jsonfile_bad(
			    &j, where, NULL, "must be an object");
		if (jsonfile_known(&j, one, where, env ? keys : no_env) == -1 ||
		    jsonfile_str(&j, one, where, "provider", &provider) == -1 ||
		    jsonfile_str(&j, one, where, "instead", &instead) == -1 ||
		    jsonfile_object(&j, one, where, "env", &o) == -1 ||
		    jsonfile_object(&j, one, where, "home", &o) == -1)
			return -1;
		if (provider == NULL || (env && instead == NULL))
			return jsonfile_bad(&j, where, NULL,
			    env ? "needs provider and instead"
				: "needs provider");
	}
	return 0;
}

/* Use the alternative if only its provider has a credential. */
static int
adapter_choose_alternative(struct adapter *a, const struct config *cfg,
    struct json_object *o, struct fault *fault)
{
	struct json_object *name, *instead;
	const struct config_provider *new, *old;

	json_object_object_get_ex(o, "provider", &name);
	json_object_object_get_ex(o, "instead", &instead);
	new = config_provider(cfg, json_object_get_string(name));
	old = config_provider(cfg, json_object_get_string(instead));
	if (new == NULL || !new->listed || (old != NULL && old->listed))
		return 0;
	for (char **p = a->providers; p != NULL && *p != NULL; p++) {
		if (strcmp(*p, json_object_get_string(instead)) != 0)
			continue;
		free(*p);
		if ((*p = strdup(new->name)) == NULL)
			return fault_errno(fault, "%s", a->file);
		a->chosen = o;
	}
	return 0;
}

bool
adapter_has_login(const struct adapter *a, const struct provider *p)
{
	return p->login != -1 && adapter_login(a, p->name) != NULL;
}

int
adapter_files(const struct adapter *a, const struct providers *ps,
    const char *which, int dirfd, unsigned mode, struct fault *fault)
{
	struct json_object *login;

	if (adapter_write(a, ps, a->root, which, dirfd, mode, fault) == -1)
		return -1;
	/* On top of the others: these files are for a user who is logged in. */
	for (unsigned i = 0; i < ps->n; i++) {
		if (ps->list[i].login == -1 ||
		    (login = adapter_login(a, ps->list[i].name)) == NULL)
			continue;
		if (adapter_write(a, ps, login, which, dirfd, mode, fault) ==
		    -1)
			return -1;
	}
	if (a->chosen != NULL)
		return adapter_write(
		    a, ps, a->chosen, which, dirfd, mode, fault);
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
	struct json_object *list, *o, *name, *instead;
	const char *new;

	if (json_object_object_get_ex(a->root, "alternatives", &list)) {
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			o = json_object_array_get_idx(list, i);
			if (adapter_choose_alternative(a, cfg, o, fault) == -1)
				return -1;
		}
	}
	if (!json_object_object_get_ex(a->root, "logins", &list))
		return 0;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!json_object_object_get_ex(o, "instead", &instead) ||
		    !json_object_object_get_ex(o, "provider", &name))
			continue;
		new = json_object_get_string(name);
		for (char **p = a->providers; p != NULL && *p != NULL; p++) {
			if (strcmp(*p, json_object_get_string(instead)) != 0 ||
			    !adapter_prefers(paths, cfg, new, *p))
				continue;
			free(*p);
			if ((*p = strdup(new)) == NULL)
				return fault_errno(fault, "%s", a->file);
		}
	}
	return 0;
}
