/* SPDX-License-Identifier: ISC */
/*
 * `icctl image build --devcontainer`: the only place where what a workspace
 * says is built. Everything that the build depends on is one text, which is
 * shown in full the first time and later as far as it differs from the last
 * build's; the person is asked; and exactly that is built, from copies.
 */
#include "icctl/image/image.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/tree.h"
#include "icctl/hold/hold_diff.h"
#include "icctl/image/context.h"
#include "icctl/image/devcontainer.h"

#define DEV_TEXT (4U << 20)

static struct {
	char workspace[PATH_MAX];
	char dir[IMAGE_DIR], context[IMAGE_DIR + 16];
	char record[PATH_MAX]; /* the text of the last build */
	struct devcontainer dev;
	struct buf text; /* all that the build depends on */
	struct recipe file, image, agent;
} dev_env;

static int
dev_workspace(const struct image_options *opt)
{
	const char *given = opt->workspace != NULL ? opt->workspace : ".";
	int fd;

	if (realpath(given, dev_env.workspace) == NULL ||
	    (fd = open(dev_env.workspace,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		warn("workspace %s", given);
		return -1;
	}
	return fd;
}

/* Read what the workspace says, and copy what its Dockerfile may use. */
static int
dev_collect(int workspace, struct fault *fault)
{
	struct devcontainer *d = &dev_env.dev;
	struct buf *b = &dev_env.text;
	int to, rv = 0;

	buf_init(b, DEV_TEXT);
	if (devcontainer_read(d, workspace, fault) == -1)
		return -1;
	if (d->image != NULL)
		buf_printf(b, "image %s\n", d->image);
	if (d->dockerfile != NULL)
		buf_printf(b, "%s:\n%s\n", d->name, d->dockerfile);
	if (d->env.len != 0) {
		buf_adds(b, "containerEnv:\n");
		buf_addspan(b, buf_span(&d->env));
	}
	snprintf(dev_env.context, sizeof(dev_env.context), "%s/context",
	    dev_env.dir);
	if (mkdir(dev_env.context, 0700) == -1 ||
	    (to = open(dev_env.context,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return fault_errno(fault, "%s", dev_env.context);
	if (d->context != -1) {
		buf_adds(b, "files that it may copy, with their SHA-256:\n");
		rv = context_copy(d->context, to, b, fault);
	}
	close(to);
	if (rv == 0 && b->failed)
		return fault_set(fault, "%s: too much text", d->file);
	return rv;
}

/* The image of the Dockerfile, and one on top of it with the variables. */
static int
dev_recipes(void)
{
	struct devcontainer *d = &dev_env.dev;
	struct recipe *file = &dev_env.file, *image = &dev_env.image;
	const char *const ws = dev_env.workspace;
	struct span env = buf_span(&d->env);

	image_devcontainer_name(ws, "dockerfile", file->tag);
	snprintf(file->name, sizeof(file->name), "devcontainer-dockerfile");
	file->text = d->dockerfile;
	file->workspace = image->workspace = ws;
	image_devcontainer_name(ws, NULL, image->tag);
	snprintf(image->name, sizeof(image->name), IMAGE_DEVCONTAINER);
	if (asprintf(&image->text,
		"FROM %s\n%.*sUSER root\nENTRYPOINT []\n"
		"CMD []\n",
		d->image != NULL ? d->image : file->tag, (int)env.len,
		env.len != 0 ? (const char *)env.p : "") == -1)
		return -1;
	snprintf(dev_env.record, sizeof(dev_env.record), "%s",
	    strrchr(image->tag, ':') + 1);
	return 0;
}

static int
dev_agent(const struct icctl *ctl, const char *name, struct fault *fault)
{
	struct recipe *r = &dev_env.agent;
	char image[IMAGE_NAME];

	if (image_of_agent(ctl, name, image, fault) == -1 ||
	    recipe_load(r, ctl, image, fault) == -1)
		return -1;
	if (!recipe_takes(r, "BASE"))
		return fault_set(fault,
		    "%s has no \"ARG BASE\": it cannot be put on top of "
		    "another image",
		    r->file);
	image_devcontainer_name(dev_env.workspace, image, r->tag);
	snprintf(r->name, sizeof(r->name), IMAGE_DEVCONTAINER "-%.64s", image);
	snprintf(r->base, sizeof(r->base), "BASE=%s", dev_env.image.tag);
	r->workspace = dev_env.workspace;
	return 0;
}

/* Show the text, or how it differs from that of the last build. */
static void
dev_show(const struct icctl *ctl)
{
	struct hold_text t = {.out = ctl->json ? stderr : stdout,
	    .flags = icctl_visible(),
	    .full = true};
	struct span is = buf_span(&dev_env.text);
	struct fault fault;
	struct stat st;
	size_t len = 0;
	char *was;

	was = jsonfile_text(dev_env.record, &len, &st, &fault);
	fprintf(t.out, "%s of ", dev_env.dev.file);
	hold_text_plain(&t, span_str(dev_env.workspace));
	if (was == NULL) {
		fputs(", which was never built:\n", t.out);
		hold_diff_texts(&t, span_of("", 0), is);
	} else if (span_eq(span_of(was, len), is)) {
		fputs(" is as it was at the last build\n", t.out);
	} else {
		fputs(", compared with the last build:\n", t.out);
		hold_diff_texts(&t, span_of(was, len), is);
	}
	free(was);
	fflush(t.out);
}

static bool
dev_agreed(const struct icctl *ctl, const struct image_options *opt)
{
	dev_show(ctl);
	if (opt->yes)
		return true;
	if (ctl->json) {
		warnx("not built: with --json, --yes says that you agree");
		return false;
	}
	if (icctl_confirm(opt->network != NULL
			      ? "Build it, without network?"
			      : "Build it? Its steps run in containers that "
				"reach the network."))
		return true;
	warnx("not built");
	return false;
}

static void
dev_remember(const struct icctl *ctl)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.4000s/images", ctl->home);
	if ((mkdir(dir, 0700) == -1 && errno != EEXIST) ||
	    jsonfile_replace(dev_env.record, buf_span(&dev_env.text)) == -1)
		warn("%s", dev_env.record);
}

/* Hash the recipes, each with all that it depends on, and make them. */
static int
dev_build(struct icctl *ctl, struct image_options *opt, json_object *found,
    bool agent)
{
	const bool file = dev_env.dev.dockerfile != NULL;
	struct image_job jobs[3];
	size_t n = 0;
	int status;
	char *text;

	if ((text = span_dup(buf_span(&dev_env.text))) == NULL) {
		json_object_put(found);
		return ICCTL_FAILED;
	}
	if (file)
		recipe_hash(&dev_env.file, text);
	recipe_hash(&dev_env.image, file ? dev_env.file.hash : text);
	free(text);
	if (file)
		jobs[n++] = (struct image_job){
		    .r = &dev_env.file, .context = dev_env.context};
	jobs[n++] = (struct image_job){.r = &dev_env.image};
	if (agent) {
		recipe_give(&dev_env.agent, dev_env.agent.base);
		recipe_hash(&dev_env.agent, dev_env.image.hash);
		jobs[n++] = (struct image_job){.r = &dev_env.agent};
	}
	for (size_t i = 0; i < n; i++)
		jobs[i].needed = !image_is_current(found, jobs[i].r);
	if (jobs[0].needed || jobs[n - 1].needed || (n > 1 && jobs[1].needed)) {
		if (!dev_agreed(ctl, opt)) {
			json_object_put(found);
			return ICCTL_FAILED;
		}
	}
	status = image_jobs(ctl, opt, dev_env.dir, found, jobs, n);
	if (status == ICCTL_OK)
		dev_remember(ctl);
	return status;
}

static int
dev_run(struct icctl *ctl, struct image_options *opt, const char *agent)
{
	struct fault fault;
	json_object *found, *kept = NULL;
	int workspace, rv, status = ICCTL_FAILED;
	char name[64];

	if ((workspace = dev_workspace(opt)) == -1)
		return ICCTL_FAILED;
	rv = dev_collect(workspace, &fault);
	close(workspace);
	if (rv == 0 && dev_recipes() == -1)
		rv = fault_errno(&fault, "image");
	if (rv == 0 && agent != NULL)
		rv = dev_agent(ctl, agent, &fault);
	if (rv == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if (dev_env.dev.ignored.len != 0)
		warnx("%s: without effect here: %.*s", dev_env.dev.file,
		    (int)dev_env.dev.ignored.len,
		    (const char *)buf_span(&dev_env.dev.ignored).p);
	(void)strlcpy(name, dev_env.record, sizeof(name));
	snprintf(dev_env.record, sizeof(dev_env.record),
	    "%.4000s/images/devcontainer-%s.txt", ctl->home, name);
	found =
	    image_engine(opt->runtime, dev_env.dir, json_object_new_object());
	if (found == NULL)
		return ICCTL_FAILED;
	if (agent != NULL)
		image_args_again(
		    opt, image_find(found, dev_env.agent.tag), &kept);
	if (image_args_give(opt,
		dev_env.dev.dockerfile != NULL ? &dev_env.file : NULL,
		agent != NULL ? &dev_env.agent : NULL) == 0)
		status = dev_build(ctl, opt, found, agent != NULL);
	else
		json_object_put(found);
	json_object_put(kept);
	return status;
}

int
image_devcontainer(
    struct icctl *ctl, struct image_options *opt, const char *agent)
{
	int lock, status;

	if (opt->network != NULL && strcmp(opt->network, "none") != 0) {
		warnx("--network host is not for --devcontainer: an agent may "
		      "have written what would run, and could reach the "
		      "services of this machine");
		return ICCTL_USAGE;
	}
	if ((lock = image_lock(ctl, "a devcontainer.json")) == -1)
		return ICCTL_FAILED;
	if (image_dir(dev_env.dir) == -1) {
		close(lock);
		return ICCTL_FAILED;
	}
	status = dev_run(ctl, opt, agent);
	close(lock);
	(void)tree_remove(dev_env.dir);
	devcontainer_free(&dev_env.dev);
	buf_free(&dev_env.text);
	recipe_free(&dev_env.image);
	recipe_free(&dev_env.agent);
	return status;
}
