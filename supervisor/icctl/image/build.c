/* SPDX-License-Identifier: ISC */
/*
 * Builds the image of an agent: its Dockerfile on top of a base, each only if
 * it would differ from the image that is there.
 */
#include "icctl/image/image.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/log.h"
#include "files/adapter/adapter.h"
#include "icctl/gc/gc.h"
#include "icctl/policy/policy.h"
#include "start/builtin.h"

/* Digits of its hash in a base's name, so that bases exist side by side. */
#define BASE_DIGITS 12

static void
step_label(json_object *labels, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) == -1)
		return;
	json_object_array_add(labels, json_object_new_string(text));
	free(text);
}

static json_object *
step_labels(const struct recipe *r)
{
	json_object *labels = json_object_new_array(),
		    *args = json_object_new_array();

	for (size_t i = 0; i < r->nargs; i++)
		if (r->args[i] != r->base)
			json_object_array_add(
			    args, json_object_new_string(r->args[i]));
	for (size_t i = 0; i < r->nkept; i++)
		json_object_array_add(args, json_object_new_string(r->kept[i]));
	step_label(labels, IMAGE_LABEL, r->name);
	step_label(labels, IMAGE_HASH, r->hash);
	step_label(labels, IMAGE_DOCKERFILE, r->text_hash);
	if (r->workspace != NULL)
		step_label(labels, IMAGE_WORKSPACE, r->workspace);
	step_label(labels, IMAGE_ARGS,
	    json_object_to_json_string_ext(args, ICCTL_JSON));
	json_object_put(args);
	return labels;
}

static json_object *
step_args(const struct recipe *r)
{
	json_object *args = json_object_new_array();

	for (size_t i = 0; i < r->nargs; i++)
		json_object_array_add(args, json_object_new_string(r->args[i]));
	for (size_t i = 0; i < r->nway; i++)
		json_object_array_add(args, json_object_new_string(r->way[i]));
	return args;
}

/* Returns the list of steps in the plan. */
static json_object *
plan_steps(json_object *plan)
{
	json_object *steps;

	if (!json_object_object_get_ex(plan, "build", &steps)) {
		steps = json_object_new_array();
		json_object_object_add(plan, "build", steps);
	}
	return steps;
}

bool
image_is_current(json_object *found, const struct recipe *r)
{
	json_object *image = image_find(found, r->tag);

	return image != NULL &&
	       strcmp(image_label(image, IMAGE_HASH), r->hash) == 0;
}

static int
image_add_step(json_object *plan, json_object *found,
    const struct image_job *job, const struct image_options *opt,
    const char *dir)
{
	const struct recipe *r = job->r;
	json_object *steps = plan_steps(plan), *step, *old;
	char own[IMAGE_DIR + 32], file[IMAGE_DIR + 64];

	snprintf(own, sizeof(own), "%s/step-%zu", dir,
	    json_object_array_length(steps));
	snprintf(file, sizeof(file), "%s/Dockerfile", own);
	if (mkdir(own, 0700) == -1 ||
	    jsonfile_replace(file, span_str(r->text)) == -1) {
		warn("%s", file);
		return -1;
	}
	step = json_object_new_object();
	put_str(step, "name", r->tag);
	put_str(step, "file", file);
	put_str(step, "context", job->context != NULL ? job->context : own);
	json_object_object_add(step, "labels", step_labels(r));
	json_object_object_add(step, "args", step_args(r));
	if (opt->network != NULL)
		put_str(step, "network", opt->network);
	if ((old = image_find(found, r->tag)) != NULL)
		put_str(step, "replaces", icctl_text(old, "id"));
	json_object_array_add(steps, step);
	return 0;
}

/* Take the arguments of the last build, if there are none now. */
void
image_args_again(
    struct image_options *opt, json_object *image, json_object **kept)
{
	json_object *args = json_tokener_parse(image_label(image, IMAGE_ARGS));
	char shown[512];
	size_t n;

	*kept = args;
	if (opt->args_given || !json_object_is_type(args, json_type_array))
		return;
	n = json_object_array_length(args);
	for (size_t i = 0; i < n && opt->nargs < IMAGE_MAX_ARGS; i++) {
		opt->args[opt->nargs++] =
		    json_object_get_string(json_object_array_get_idx(args, i));
		warnx("with %s, as last time",
		    log_vis(span_str(opt->args[opt->nargs - 1]), shown,
			sizeof(shown)));
	}
}

/* Give each argument to the Dockerfiles that take it; one of them may be NULL.
 */
int
image_args_give(
    const struct image_options *opt, struct recipe *base, struct recipe *agent)
{
	struct recipe *const both[2] = {base, agent};
	char what[2][512] = {"", ""};
	bool taken, proxy;

	for (size_t i = 0; i < opt->nargs; i++) {
		const char *arg = opt->args[i];

		/* Every Dockerfile takes proxies. */
		taken = false;
		proxy = recipe_is_way(arg) && strncmp(arg, "npm_", 4) != 0;
		for (size_t k = 0; k < 2; k++)
			if (both[k] != NULL &&
			    (proxy || recipe_takes(both[k], arg))) {
				recipe_give(both[k], arg);
				taken = true;
			}
		if (taken && agent != NULL && !recipe_is_way(arg) &&
		    !recipe_takes(agent, arg))
			recipe_keep(agent, arg);
		if (taken)
			continue;
		for (size_t k = 0; k < 2; k++)
			if (both[k] != NULL)
				recipe_takes_what(
				    both[k], what[k], sizeof(what[k]));
		warnx("--build-arg %.*s: no Dockerfile has this argument. "
		      "There are %s%s%s, and proxies",
		    (int)strcspn(arg, "="), arg, what[0],
		    what[0][0] != '\0' && what[1][0] != '\0' ? ", " : "",
		    what[1]);
		return -1;
	}
	return 0;
}

static void
build_say(const struct icctl *ctl, json_object *list, json_object *found,
    const struct recipe *r, bool built)
{
	json_object *image = image_find(found, r->tag), *o;
	char size[32];

	if (ctl->json) {
		o = json_object_new_object();
		put_str(o, "name", r->name);
		put_str(o, "image", r->tag);
		put_str(o, "id", icctl_text(image, "id"));
		put_int(o, "bytes", icctl_number(image, "size"));
		put_bool(o, "built", built);
		json_object_array_add(list, o);
		return;
	}
	printf("%s: %s (%s, %s)\n", r->name,
	    built ? "built" : "nothing has changed since it was built", r->tag,
	    gc_size((uint64_t)icctl_number(image, "size"), size));
}

int
image_jobs(const struct icctl *ctl, const struct image_options *opt,
    const char *dir, json_object *found, const struct image_job *jobs, size_t n)
{
	json_object *plan = json_object_new_object(), *list, *o;
	bool any = false;
	int rv = 0;

	for (size_t i = 0; i < n && rv == 0; i++) {
		if (!jobs[i].needed)
			continue;
		rv = image_add_step(plan, found, &jobs[i], opt, dir);
		any = true;
	}
	if (rv == 0 && any) {
		json_object_put(found);
		found = image_engine(opt->runtime, dir, plan);
	} else {
		json_object_put(plan);
	}
	if (rv == -1 || found == NULL)
		return ICCTL_FAILED;
	list = json_object_new_array();
	for (size_t i = 0; i < n; i++)
		if (jobs[i].needed || i == n - 1)
			build_say(ctl, list, found, jobs[i].r, jobs[i].needed);
	if (ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", true);
		put_str(o, "runtime", opt->runtime);
		json_object_object_add(o, "images", list);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		json_object_put(list);
	}
	json_object_put(found);
	return ICCTL_OK;
}

void
image_base_tag(struct recipe *base)
{
	recipe_hash(base, "");
	snprintf(base->tag, sizeof(base->tag), IMAGE_PREFIX IMAGE_BASE ":%.*s",
	    BASE_DIGITS, base->hash);
}

/* Build Dockerfile.NAME. Returns an exit status. */
static int
build_named(struct icctl *ctl, struct image_options *opt, const char *name,
    const char *dir)
{
	static struct recipe base, agent;
	const bool alone = strcmp(name, IMAGE_BASE) == 0;
	struct recipe *r[2] = {&base, alone ? NULL : &agent};
	struct image_job jobs[2] = {{.r = &base}, {.r = &agent}};
	json_object *found, *kept = NULL;
	struct fault fault;
	int status = ICCTL_FAILED;
	size_t n = 1;

	if (recipe_load(&base, ctl, IMAGE_BASE, &fault) == -1 ||
	    (!alone && recipe_load(&agent, ctl, name, &fault) == -1)) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	/* A Dockerfile of the user's may have a base of its own. */
	if (!alone && !recipe_takes(&agent, "BASE"))
		r[0] = NULL;
	found = image_engine(opt->runtime, dir, json_object_new_object());
	if (found == NULL)
		goto out;
	if (!alone)
		image_args_again(opt, image_find(found, agent.tag), &kept);
	if (image_args_give(opt, r[0], r[1]) == -1) {
		status = ICCTL_USAGE;
		json_object_put(found);
		goto out;
	}
	if (r[0] != NULL)
		image_base_tag(&base);
	if (!alone && r[0] != NULL) {
		snprintf(agent.base, sizeof(agent.base), "BASE=%s", base.tag);
		recipe_give(&agent, agent.base);
	}
	if (!alone)
		recipe_hash(&agent, "");
	if (!alone)
		jobs[n++].needed = !image_is_current(found, &agent);
	/* The base is of use only for an image that is not there. */
	jobs[0].needed = (alone || jobs[n - 1].needed) && r[0] != NULL &&
			 !image_is_current(found, &base);
	status = r[0] == NULL ? image_jobs(ctl, opt, dir, found, jobs + 1, 1)
			      : image_jobs(ctl, opt, dir, found, jobs, n);
out:
	json_object_put(kept);
	recipe_free(&base);
	recipe_free(&agent);
	return status;
}

int
image_of_agent(const struct icctl *ctl, const char *agent,
    char name[IMAGE_NAME], struct fault *fault)
{
	char datadir[PATH_MAX];
	struct paths paths;
	struct adapter a;
	int rv = 0;

	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) ==
	    -1)
		return fault_errno(fault, "the installation is incomplete");
	paths = (struct paths){
	    .home = (char *)(uintptr_t)ctl->home, .datadir = datadir};
	if (adapter_load(&a, &paths, agent, fault) == -1)
		return -1;
	if (a.image != NULL)
		snprintf(name, IMAGE_NAME, "%s", a.image);
	else if (strcmp(a.name, BUILTIN_NAME) == 0)
		rv = fault_set(fault,
		    "the built-in agent has no image: it runs in any one. "
		    "icctl start builtin --runtime docker --image NAME");
	else
		rv = fault_set(fault,
		    "agent %s: its file names no image to build. Add "
		    "\"image\": "
		    "\"NAME\" to it, and %.1000s/images/Dockerfile.NAME",
		    agent, ctl->home);
	adapter_free(&a);
	return rv;
}

int
image_build(struct icctl *ctl, struct image_options *opt, const char *agent)
{
	char name[IMAGE_NAME] = IMAGE_BASE, dir[IMAGE_DIR];
	struct fault fault;
	int lock, status;

	if (strcmp(agent, IMAGE_BASE) != 0 &&
	    image_of_agent(ctl, agent, name, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if ((lock = image_lock(ctl, name)) == -1)
		return ICCTL_FAILED;
	status = ICCTL_FAILED;
	if (image_dir(dir) == 0) {
		status = build_named(ctl, opt, name, dir);
		(void)tree_remove(dir);
	}
	close(lock);
	return status;
}
