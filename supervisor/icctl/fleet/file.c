/* SPDX-License-Identifier: ISC */
/* The hub's file: which relays there are, and how they are reached. */
#include "icctl/fleet/priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "icctl/driver/places.h"

#define FILE_EVERY 30 /* seconds, unless it says otherwise */

bool
fleet_name_ok(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return s[0] != '\0' && s[0] != '-' && s[0] != '.' &&
	       strlen(s) < FLEET_NAME && s[strspn(s, plain)] == '\0';
}

/* Returns how many words of the command are the place of a name. */
static unsigned
file_places(char *const *argv)
{
	unsigned n = 0;

	for (; *argv != NULL; argv++)
		n += strcmp(*argv, FLEET_PLACE) == 0;
	return n;
}

/* Returns a word that has the place of a name and more, or NULL. */
static const char *
file_mixed(char *const *argv)
{
	for (; *argv != NULL; argv++)
		if (strstr(*argv, FLEET_PLACE) != NULL &&
		    strcmp(*argv, FLEET_PLACE) != 0)
			return *argv;
	return NULL;
}

/* Read a command. Returns 1, 0 if there is none, or -1 with the fault set. */
static int
file_command(const struct icctl *ctl, const struct jsonfile *j, json_object *o,
    const char *where, const char *key, struct fleet_program *p)
{
	struct fault why = {.text = ""};
	char **argv = NULL;
	const char *mixed;

	if (!json_object_object_get_ex(o, key, NULL))
		return 0;
	if (jsonfile_strings(j, o, where, key, FLEET_WORDS - 1, &argv) == -1)
		return -1;
	if ((mixed = file_mixed(argv)) != NULL) {
		(void)jsonfile_bad(j, where, key,
		    "\"%s\": %s must be a word of its own, so that a name fills "
		    "exactly one argument",
		    mixed, FLEET_PLACE);
		jsonfile_strings_free(argv);
		return -1;
	}
	if (fleet_program(ctl, p, argv, &why) == -1)
		return jsonfile_bad(j, where, key, "%s", why.text);
	return 1;
}

/* Check what belongs together. Returns 0, or -1 with the fault set. */
static int
file_entry_fits(const struct jsonfile *j, const struct fleet_entry *e,
    const char *where, bool discover)
{
	unsigned places = file_places(e->command.argv);

	if (discover && e->name[0] != '\0')
		return jsonfile_bad(j, where, NULL,
		    "has \"name\" and \"discover\": a program prints the names, "
		    "or there is one");
	if (!discover && e->name[0] == '\0')
		return jsonfile_bad(j, where, NULL,
		    "needs a \"name\", or \"discover\" with a program that prints "
		    "names");
	if (discover && places != 1)
		return jsonfile_bad(j, where, "command",
		    "needs the word %s once, where the name of each relay "
		    "stands",
		    FLEET_PLACE);
	if (!discover && places != 0)
		return jsonfile_bad(j, where, "command",
		    "has %s, which stands for a name that \"discover\" prints: "
		    "write the name itself",
		    FLEET_PLACE);
	if (discover && file_places(e->discover.argv) != 0)
		return jsonfile_bad(j, where, "discover",
		    "cannot have %s: it prints the names", FLEET_PLACE);
	return 0;
}

static int
file_entry(struct fleet *f, const struct jsonfile *j, json_object *o,
    unsigned i)
{
	static const char *const keys[] = {
	    "command", "discover", "every", "name", NULL};
	struct fleet_entry *e = &f->entries[f->nentries++];
	char where[32];
	const char *name = NULL;
	int64_t every = FILE_EVERY;
	int r, discover;

	snprintf(where, sizeof(where), "relays[%u]", i);
	*e = (struct fleet_entry){.sp = SPAWNED_INIT, .out = LOOP_IO_INIT};
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL,
		    "must be an object, not %s", jsonfile_kind(o));
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "name", &name) == -1 ||
	    jsonfile_int(j, o, where, "every", 5, 86400, &every) == -1)
		return -1;
	if (name != NULL && !fleet_name_ok(name))
		return jsonfile_bad(j, where, "name",
		    "\"%s\": a name has letters, digits, '.', '_' and '-', does "
		    "not begin with '-' or '.', and has at most %u bytes",
		    name, FLEET_NAME - 1);
	if (name != NULL)
		(void)strlcpy(e->name, name, sizeof(e->name));
	e->every = (unsigned)every;
	if ((r = file_command(f->ctl, j, o, where, "command", &e->command)) ==
	    -1)
		return -1;
	if (r == 0)
		return jsonfile_bad(j, where, NULL,
		    "needs a \"command\", such as [\"ssh\", \"-o\", "
		    "\"BatchMode=yes\", \"HOST\", \"icctl\", \"relay\"]");
	discover = file_command(
	    f->ctl, j, o, where, "discover", &e->discover);
	if (discover == -1)
		return -1;
	if (discover == 0 && json_object_object_get_ex(o, "every", NULL))
		return jsonfile_bad(
		    j, where, "every", "belongs to \"discover\"");
	return file_entry_fits(j, e, where, discover == 1);
}

/* No two relays have one name. */
static int
file_names(const struct fleet *f, const struct jsonfile *j)
{
	for (unsigned i = 0; i < f->nentries; i++)
		for (unsigned k = 0; k < i; k++)
			if (f->entries[i].name[0] != '\0' &&
			    strcmp(f->entries[i].name, f->entries[k].name) == 0)
				return jsonfile_bad(j, "relays", NULL,
				    "has two of the name %s",
				    f->entries[i].name);
	return 0;
}

static int
file_relays(struct fleet *f, const struct jsonfile *j, json_object *o)
{
	json_object *list = NULL;
	size_t n;

	(void)json_object_object_get_ex(o, "relays", &list);
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(j, "relays", NULL,
		    "must be a list of objects with \"name\" and \"command\"");
	n = json_object_array_length(list);
	if (n == 0 || n > FLEET_ENTRIES)
		return jsonfile_bad(j, "relays", NULL,
		    "must have from 1 to %u entries", FLEET_ENTRIES);
	if ((f->entries = calloc(n, sizeof(*f->entries))) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	for (size_t i = 0; i < n; i++)
		if (file_entry(f, j, json_object_array_get_idx(list, i),
			(unsigned)i) == -1)
			return -1;
	return file_names(f, j);
}

static int
file_variables(struct fleet *f, const struct jsonfile *j, json_object *o)
{
	char **list = NULL;

	if (json_object_object_get_ex(o, "variables", NULL) &&
	    jsonfile_strings(j, o, "", "variables", FLEET_VARIABLES, &list) ==
		-1)
		return -1;
	f->envp = fleet_env(list);
	jsonfile_strings_free(list);
	return f->envp == NULL ? fault_errno(j->fault, "%s", j->file) : 0;
}

int
fleet_file(struct fleet *f, const char *path, struct fault *fault)
{
	static const char *const keys[] = {"relays", "variables", NULL};
	const struct jsonfile j = {path, fault};
	char real[4096], *text;
	json_object *o = NULL;
	const char *who;
	struct stat st;
	size_t len;
	int r = -1;

	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return -1;
	/* Whoever writes it chooses programs that run here. */
	if (realpath(path, real) != NULL &&
	    (who = places_writer(f->ctl->home, real)) != NULL) {
		(void)fault_set(fault,
		    "%s: is not read, because the agent of %s can write it",
		    path, who);
		goto out;
	}
	if ((o = jsonfile_parse(path, span_of(text, len), fault)) == NULL ||
	    jsonfile_known(&j, o, "", keys) == -1 ||
	    file_variables(f, &j, o) == -1)
		goto out;
	r = file_relays(f, &j, o);
out:
	json_object_put(o);
	freezero(text, len);
	return r;
}
