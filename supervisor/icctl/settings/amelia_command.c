/* SPDX-License-Identifier: ISC */
/*
 * `icctl config import-amelia FILE [PROFILE]`: takes a profile of the founding
 * text's orchestrator into config.json, once, after the person has seen what
 * each of its keys became. The file is parsed by a confined child.
 */
#include "icctl/settings/settings.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/paths.h"
#include "icctl/mcp/foreign.h"
#include "icctl/settings/amelia.h"
#include "icctl/words.h"

/* Read the hosts of a provider's file, the user's own or the shipped one. */
static json_object *
import_hosts(const struct paths *paths, const char *name)
{
	const char *dirs[] = {paths->home, paths->datadir}, *host;
	json_object *root = NULL, *list = NULL;
	char path[4400];

	for (size_t i = 0; i < 2 && root == NULL; i++) {
		snprintf(path, sizeof(path), "%.4000s/providers/%.64s.json",
		    dirs[i], name);
		root = json_object_from_file(path);
	}
	if ((list = get_typed(root, "hosts", json_type_array)) != NULL) {
		list = json_object_get(list);
	} else {
		list = json_object_new_array();
		if ((host = get_str(root, "host", ""))[0] != '\0')
			json_object_array_add(
			    list, json_object_new_string(host));
	}
	json_object_put(root);
	for (size_t i = json_object_array_length(list); i-- > 0;)
		if (!json_object_is_type(
			json_object_array_get_idx(list, i), json_type_string))
			(void)json_object_array_del_idx(list, i, 1);
	return list;
}

/* Find the providers. Returns 0, or -1 with the fault set. */
static int
import_known(struct amelia *am, struct fault *fault)
{
	struct paths paths;

	if (paths_init(&paths, NULL, fault) == -1)
		return -1;
	names_find(&am->providers, &paths, "providers");
	am->hosts = json_object_new_object();
	for (size_t i = 0; i < am->providers.n; i++)
		json_object_object_add(am->hosts, am->providers.list[i],
		    import_hosts(&paths, am->providers.list[i]));
	paths_free(&paths);
	return 0;
}

/*
 * Returns the profile: the one that is named, else the active or the only one
 * of a file with several, or else the file itself. NULL with the fault set.
 */
static json_object *
import_profile(json_object *root, const char *name, struct fault *fault)
{
	json_object *all = get_typed(root, "profiles", json_type_object);
	json_object *o = NULL;

	if (all == NULL) {
		if (name != NULL)
			fault_set(fault, "it has no \"profiles\"");
		return name == NULL ? root : NULL;
	}
	if (name == NULL)
		name = get_str(root, "active_profile", NULL);
	if (name == NULL && json_object_object_length(all) == 1)
		name = lh_entry_k(json_object_get_object(all)->head);
	if (name == NULL)
		fault_set(fault, "it has several profiles; name one behind it");
	else if (!json_object_object_get_ex(all, name, &o))
		fault_set(fault, "it has no profile \"%.64s\"", name);
	else if (!json_object_is_type(o, json_type_object))
		fault_set(fault, "profile \"%.64s\": must be an object", name);
	return fault->text[0] == '\0' ? o : NULL;
}

/* Print what each key became; a text of the file is escaped. */
static void
import_show(const struct icctl *ctl, const struct amelia *am)
{
	json_object *row, *value, *o;

	if (ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", true);
		json_object_object_add(o, "keys", json_object_get(am->rows));
		icctl_put_json(o);
		json_object_put(o);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(am->rows); i++) {
		row = json_object_array_get_idx(am->rows, i);
		value = json_object_object_get(row, "value");
		icctl_put_str(get_str(row, "key", ""));
		if (value != NULL) {
			fputs(" = ", stdout);
			icctl_put_str(
			    json_object_to_json_string_ext(value, ICCTL_JSON));
		}
		printf("\n  -> ");
		icctl_put_str(get_str(row, "became", ""));
		putchar('\n');
	}
}

/* Show the keys, ask, and write. Returns the exit status. */
static int
import_write(
    const struct icctl *ctl, const struct settings *s, const struct amelia *am)
{
	struct fault fault = {""};

	import_show(ctl, am);
	fflush(stdout);
	if (am->taken == 0) {
		if (!ctl->json)
			puts("There is nothing to write to config.json.");
		return ICCTL_OK;
	}
	if (settings_check(s, settings_text(s->root), &fault) == -1)
		warnx("%s", fault.text);
	else if (!words_given("--yes") &&
		 (ctl->json || !isatty(STDIN_FILENO) ||
		     !icctl_confirm("Write this to config.json?")))
		warnx("nothing was written%s",
		    isatty(STDIN_FILENO) ? ""
					 : ": nobody is here to be asked; "
					   "--yes writes it");
	else if (settings_write(s, &fault) == -1)
		warnx("%s", fault.text);
	else
		return ICCTL_OK;
	return ICCTL_FAILED;
}

int
settings_import_amelia(
    const struct icctl *ctl, const char *file, const char *name)
{
	struct amelia am = {.taken = 0};
	json_object *root, *profile = NULL;
	struct settings s = {.lock = -1};
	struct fault fault = {""};
	int rv = ICCTL_FAILED;

	if ((root = foreign_read(file, true, &fault)) == NULL) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if ((profile = import_profile(root, name, &fault)) == NULL) {
		warnx("%s: %s", file, fault.text);
	} else if (settings_open(ctl, &s, true, &fault) == -1 ||
		   import_known(&am, &fault) == -1) {
		warnx("%s", fault.text);
	} else {
		am.rows = json_object_new_array();
		am.config = s.root;
		if (amelia_take(&am, profile) == -1)
			warnx(
			    "%s: %s. Nothing was written", file, am.fault.text);
		else
			rv = import_write(ctl, &s, &am);
	}
	json_object_put(am.rows);
	json_object_put(am.hosts);
	names_free(&am.providers);
	settings_close(&s);
	json_object_put(root);
	return rv;
}
