/* SPDX-License-Identifier: ISC */
/* `icctl image`: the images of agents for Docker and Podman. */
#include "icctl/image/image.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "base/tree.h"
#include "common/log.h"
#include "common/wordlist.h"
#include "icctl/gc/gc.h"
#include "icctl/words.h"

#define IMAGE_MAX_WORDS 32U

/* Read the options. Returns 0, or -1 after it printed the reason. */
static int
image_options(struct image_options *o)
{
	o->runtime = words_option("--runtime");
	o->workspace = words_option("--workspace");
	o->devcontainer = words_given("--devcontainer");
	o->yes = words_given("--yes");
	if (words_given("--network")) {
		o->network = words_option("--network");
		if (strcmp(o->network, "none") != 0 &&
		    strcmp(o->network, "host") != 0) {
			warnx("--network must be none or host");
			return -1;
		}
	}
	o->nargs = words_list("--build-arg", o->args, IMAGE_MAX_ARGS);
	o->args_given = o->nargs != 0;
	if (o->nargs > IMAGE_MAX_ARGS)
		goto bad;
	for (size_t i = 0; i < o->nargs; i++)
		if (o->args[i][0] == '=' || strchr(o->args[i], '=') == NULL)
			goto bad;
	return 0;
bad:
	warnx("--build-arg must be NAME=VALUE, at most %u times",
	    IMAGE_MAX_ARGS);
	return -1;
}

/* Returns "up to date", "outdated", or "" if that is not known. */
static const char *
image_state(const struct icctl *ctl, json_object *image)
{
	const char *name = image_label(image, IMAGE_LABEL);
	struct fault fault;
	struct recipe r;
	bool same;

	if (recipe_load(&r, ctl, name, &fault) == -1)
		return "";
	same = strcmp(image_label(image, IMAGE_DOCKERFILE), r.text_hash) == 0;
	recipe_free(&r);
	return same ? "up to date" : "outdated";
}

static void
image_row(const struct icctl *ctl, json_object *image, json_object *list)
{
	const char *name = image_label(image, IMAGE_LABEL), *tag = "";
	const char *state = image_state(ctl, image);
	json_object *tags, *o, *args;
	char size[32];

	if (json_object_object_get_ex(image, "tags", &tags) &&
	    json_object_is_type(tags, json_type_array) &&
	    json_object_array_length(tags) != 0)
		tag =
		    json_object_get_string(json_object_array_get_idx(tags, 0));
	args = json_tokener_parse(image_label(image, IMAGE_ARGS));
	if (ctl->json) {
		o = json_object_new_object();
		put_str(o, "name", name);
		put_str(o, "image", tag);
		put_str(o, "id", icctl_text(image, "id"));
		put_str(o, "created", icctl_text(image, "created"));
		put_int(o, "bytes", icctl_number(image, "size"));
		put_str(o, "state", state);
		put_str(o, "workspace", image_label(image, IMAGE_WORKSPACE));
		json_object_object_add(o, "args", args);
		json_object_array_add(list, o);
		return;
	}
	printf("%-24s  %10s  ", name,
	    gc_size((uint64_t)icctl_number(image, "size"), size));
	icctl_put_str(tag);
	printf("%s%s", state[0] != '\0' ? "  " : "", state);
	for (size_t i = 0; json_object_is_type(args, json_type_array) &&
			   i < json_object_array_length(args);
	     i++) {
		fputs("  ", stdout);
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(args, i)));
	}
	fputs("  ", stdout);
	icctl_put_str(image_label(image, IMAGE_WORKSPACE));
	putchar('\n');
	json_object_put(args);
}

static int
image_ls(const struct icctl *ctl, const char *runtime, json_object *found)
{
	json_object *images, *o, *list = json_object_new_array();
	size_t n = 0;

	if (json_object_object_get_ex(found, "images", &images))
		n = json_object_array_length(images);
	for (size_t i = 0; i < n; i++)
		image_row(ctl, json_object_array_get_idx(images, i), list);
	if (ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", true);
		put_str(o, "runtime", runtime);
		json_object_object_add(o, "images", json_object_get(list));
		icctl_put_json(o);
		json_object_put(o);
	} else if (n == 0) {
		printf("%s has no images of IronCurtain. Build one: icctl "
		       "image build claude-code\n",
		    runtime);
	}
	json_object_put(list);
	return ICCTL_OK;
}

/* Add the images of one name to those to remove. Returns their number. */
static size_t
image_rm_add(json_object *found, const char *name, json_object *ids)
{
	json_object *images, *o;
	size_t n = 0;

	if (!json_object_object_get_ex(found, "images", &images))
		return 0;
	for (size_t i = 0; i < json_object_array_length(images); i++) {
		o = json_object_array_get_idx(images, i);
		if (strcmp(image_label(o, IMAGE_LABEL), name) != 0 &&
		    image_find(found, name) != o)
			continue;
		json_object_array_add(
		    ids, json_object_new_string(icctl_text(o, "id")));
		n++;
	}
	return n;
}

static int
image_rm(const struct icctl *ctl, const struct image_options *opt,
    const char *dir, json_object *found, const char *const *names, size_t n)
{
	json_object *plan = json_object_new_object(),
		    *ids = json_object_new_array(), *after;
	char shown[256];

	json_object_object_add(plan, "remove", ids);
	for (size_t i = 0; i < n; i++)
		if (image_rm_add(found, names[i], ids) == 0) {
			warnx("%s: %s has no image of IronCurtain with this "
			      "name (icctl image ls)",
			    log_vis(span_str(names[i]), shown, sizeof(shown)),
			    opt->runtime);
			json_object_put(plan);
			return ICCTL_FAILED;
		}
	json_object_get(ids);
	if ((after = image_engine(opt->runtime, dir, plan)) == NULL) {
		json_object_put(ids);
		return ICCTL_FAILED;
	}
	json_object_put(after);
	if (ctl->json) {
		after = json_object_new_object();
		put_bool(after, "ok", true);
		json_object_object_add(after, "removed", ids);
		icctl_put_json(after);
		json_object_put(after);
	} else {
		printf("%zu image%s removed\n", json_object_array_length(ids),
		    json_object_array_length(ids) == 1 ? "" : "s");
		json_object_put(ids);
	}
	return ICCTL_OK;
}

/* `ls` and `rm`, which need what the engine has. */
static int
image_have(const struct icctl *ctl, const struct image_options *opt,
    const char *const *names, size_t n)
{
	json_object *found;
	char dir[IMAGE_DIR];
	int status = ICCTL_FAILED;

	if (image_dir(dir) == -1)
		return ICCTL_FAILED;
	found = image_engine(opt->runtime, dir, json_object_new_object());
	if (found != NULL) {
		status = n == 0 ? image_ls(ctl, opt->runtime, found)
				: image_rm(ctl, opt, dir, found, names, n);
		json_object_put(found);
	}
	(void)tree_remove(dir);
	return status;
}

int
icctl_image(struct icctl *ctl, int argc, char **argv)
{
	struct image_options opt = {.runtime = NULL};
	const char *words[IMAGE_MAX_WORDS];
	struct wordlist names = WORDLIST_IN(words);
	const char *what = argc > 1 ? argv[1] : "";
	size_t n = 0;

	if (image_options(&opt) == -1)
		return ICCTL_USAGE;
	for (int i = 2; i < argc; i++)
		wordlist_add(&names, argv[i]);
	if (wordlist_end(&names) == NULL) {
		warnx("more than %u names", IMAGE_MAX_WORDS - 1);
		return ICCTL_USAGE;
	}
	n = names.n;
	if (!(strcmp(what, "ls") == 0 && n == 0) &&
	    !(strcmp(what, "build") == 0 &&
		(n == 1 || (n == 0 && opt.devcontainer))) &&
	    !(strcmp(what, "rm") == 0 && n > 0))
		return words_usage();
	if (opt.workspace != NULL && !opt.devcontainer) {
		warnx("--workspace is for --devcontainer");
		return ICCTL_USAGE;
	}
	if ((opt.runtime = image_runtime(ctl, opt.runtime)) == NULL)
		return ICCTL_FAILED;
	if (opt.devcontainer)
		return image_devcontainer(ctl, &opt, n == 1 ? words[0] : NULL);
	if (strcmp(what, "build") == 0)
		return image_build(ctl, &opt, words[0]);
	return image_have(ctl, &opt, words, n);
}
