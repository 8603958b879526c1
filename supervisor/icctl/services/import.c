/* SPDX-License-Identifier: ISC */
/*
 * `icctl services import FILE`: takes services of a compose file into
 * config.json, once, after the person has seen them. No session reads a compose
 * file: an agent can write one. The file is parsed by a confined child.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/spawn.h"
#include "common/log.h"
#include "common/visible.h"
#include "files/config.h"
#include "icctl/image/image.h"
#include "icctl/mcp/foreign.h"
#include "icctl/services/services.h"
#include "icctl/settings/settings.h"
#include "icctl/words.h"

#define IMPORT_OUT 16384U
#define IMPORT_SHOWN (16U << 20) /* a file has 1 MiB */

/*
 * Returns what the engine prints about an image, or NULL if it has none of this
 * name.
 */
static json_object *
import_inspect(const char *engine, const char *image)
{
	static char out[IMPORT_OUT], error[1024];
	const char *const argv[] = {engine, "image", "inspect", "--format",
	    "{\"id\":{{json .Id}},\"digests\":{{json .RepoDigests}}}", image,
	    NULL};
	struct spawn s = {.path = engine,
	    .argv = (char *const *)(uintptr_t)argv,
	    .nfds = 3};

	if (spawn_read(&s, (struct spawn_said){out, sizeof(out)},
		(struct spawn_said){error, sizeof(error)}) != 0)
		return NULL;
	return json_tokener_parse(out);
}

/* Replace the image's name by one with a digest. Returns false without one. */
static bool
import_digest(json_object *o, const char *engine)
{
	const char *image =
	    json_object_get_string(json_object_object_get(o, "image"));
	json_object *found = NULL, *list = NULL, *id = NULL;
	char text[400] = "";

	if (strchr(image, '@') != NULL || strncmp(image, "sha256:", 7) == 0)
		return true;
	if (engine != NULL)
		found = import_inspect(engine, image);
	if (json_object_object_get_ex(found, "digests", &list) &&
	    json_object_is_type(list, json_type_array) &&
	    json_object_array_length(list) != 0)
		snprintf(text, sizeof(text), "%s",
		    json_object_get_string(json_object_array_get_idx(list, 0)));
	else if (json_object_object_get_ex(found, "id", &id))
		snprintf(text, sizeof(text), "%s%s",
		    strchr(json_object_get_string(id), ':') == NULL ? "sha256:"
								    : "",
		    json_object_get_string(id));
	json_object_put(found);
	if (text[0] == '\0')
		return false;
	put_str(o, "image", text);
	return true;
}

/* Take the services of the file that can be taken, by their names. */
static json_object *
import_take(json_object *root, const char *engine, const char *only,
    struct services_notes *notes)
{
	json_object *all = NULL, *taken = json_object_new_object(), *o;
	const char *image;
	char shown[200];

	(void)json_object_object_get_ex(root, "services", &all);
	json_object_object_foreach(all, key, val)
	{
		/* A name may be anything that a file has. */
		(void)log_vis(span_of(key, strnlen(key, 32)), shown,
		    sizeof(shown));
		if (only != NULL && strcmp(only, key) != 0)
			continue;
		if ((o = compose_entry(shown, val, notes)) == NULL)
			continue;
		image =
		    json_object_get_string(json_object_object_get(o, "image"));
		if (!import_digest(o, engine)) {
			services_note(notes,
			    "%s: its image has no digest here. Fetch it, and "
			    "import again: %s pull %.200s",
			    shown, engine != NULL ? engine : "docker", image);
			json_object_put(o);
			continue;
		}
		json_object_object_add(taken, key, o);
	}
	return taken;
}

/* Add the entries that are not there yet. Returns their number. */
static unsigned
import_add(json_object *root, json_object *taken, struct services_notes *notes)
{
	json_object *to = NULL;
	unsigned n = 0;

	if (!json_object_object_get_ex(root, "services", &to)) {
		to = json_object_new_object();
		json_object_object_add(root, "services", to);
	}
	json_object_object_foreach(taken, key, val)
	{
		if (json_object_object_get_ex(to, key, NULL)) {
			services_note(notes,
			    "%s: config.json has a service of this name, which "
			    "stays",
			    key);
			continue;
		}
		json_object_object_add(to, key, json_object_get(val));
		n++;
	}
	return n;
}

static void
import_notes(const struct services_notes *notes)
{
	fflush(stdout);
	for (size_t i = 0; i < notes->n; i++)
		fprintf(stderr, "note: %s\n", notes->list[i]);
}

/* Print the entries; a text of the file must not write to the terminal. */
static void
import_show(const struct icctl *ctl, json_object *taken)
{
	const char *text = json_object_to_json_string_ext(taken,
	    ctl->json ? ICCTL_JSON
		      : JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			    JSON_C_TO_STRING_NOSLASHESCAPE);
	struct buf b;
	size_t n;

	buf_init(&b, IMPORT_SHOWN);
	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (ctl->json)
			buf_add(&b, text, n);
		else
			(void)visible_add(&b, span_of(text, n),
			    icctl_visible() | VISIBLE_AGAIN);
		buf_addc(&b, '\n');
	}
	if (buf_check(&b) == -1)
		err(ICCTL_FAILED, "services");
	(void)fwrite(buf_span(&b).p, 1, b.len, stdout);
	buf_free(&b);
}

/* Show the entries, ask, and write them. */
static int
import_write(
    const struct icctl *ctl, json_object *taken, struct services_notes *notes)
{
	struct fault fault = {""};
	struct settings s;
	int rv = ICCTL_FAILED;
	unsigned n;

	if (settings_open(ctl, &s, true, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	n = import_add(s.root, taken, notes);
	import_show(ctl, taken);
	import_notes(notes);
	if (n == 0)
		warnx("there is nothing to add");
	else if (settings_check(&s, settings_text(s.root), &fault) == -1)
		warnx("%s", fault.text);
	else if (!words_given("--yes") &&
		 (ctl->json || !isatty(STDIN_FILENO) ||
		     !icctl_confirm("Add these services to config.json?")))
		warnx("nothing was written%s",
		    isatty(STDIN_FILENO) ? "" : ": nobody is here to be asked; "
						"--yes writes it");
	else if (settings_write(&s, &fault) == -1)
		warnx("%s", fault.text);
	else
		rv = ICCTL_OK;
	settings_close(&s);
	return rv;
}

int
icctl_services(struct icctl *ctl, int argc, char **argv)
{
	const char *runtime = words_option("--runtime");
	struct services_notes notes = {.n = 0};
	json_object *root, *taken;
	struct fault fault;
	int rv;

	if (argc < 3 || argc > 4 || strcmp(argv[1], "import") != 0)
		return words_usage();
	if ((root = foreign_read(argv[2], true, &fault)) == NULL) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if (!json_object_is_type(
		json_object_object_get(root, "services"), json_type_object)) {
		warnx("%s: has no \"services\", as a compose file has", argv[2]);
		json_object_put(root);
		return ICCTL_FAILED;
	}
	compose_others(root, &notes);
	taken = import_take(root, image_runtime(ctl, runtime),
	    argc == 4 ? argv[3] : NULL, &notes);
	json_object_put(root);
	if (json_object_object_length(taken) == 0) {
		import_notes(&notes);
		warnx("%s: nothing of it can be taken", argv[2]);
		rv = ICCTL_FAILED;
	} else {
		rv = import_write(ctl, taken, &notes);
	}
	json_object_put(taken);
	services_notes_free(&notes);
	return rv;
}
