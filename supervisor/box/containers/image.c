/* SPDX-License-Identifier: ISC */
/*
 * Lists, builds and removes images, as a plan of icctl's says: it has read the
 * Dockerfiles and decided what is to be done. Everything that a build prints
 * may come from a hostile Dockerfile: it is escaped, line by line, and every
 * line begins with two blanks, so that it is no message of ours.
 */
#include "box/sandbox.h"

#include <sys/signalfd.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "box/containers/engine.h"
#include "common/log.h"
#include "core/sup.h"
#include "files/image.h"

#define IMAGE_MS 30000U
#define IMAGE_MAX 64U   /* images that are listed */
#define IMAGE_LINE 512U /* a build's line is cut there */
#define IMAGE_WORDS 120U

static struct {
	const char *list[IMAGE_WORDS];
	struct wordlist argv;
	char line[IMAGE_LINE];
	size_t len;
	char last[IMAGE_LINE]; /* the last line of a build that was not empty */
} image_env;

/* Add what the engine says about one image to the list. */
static int
image_describe(const char *id, struct json_object *list, struct fault *fault)
{
	const char *args[] = {"image", "inspect", "--format",
	    "{\"id\":{{json .ID}},\"tags\":{{json .RepoTags}},\"size\":{{json "
	    ".Size}},\"created\":{{json .Created}},\"labels\":{{json "
	    ".Config.Labels}}}",
	    id, NULL};
	static struct engine_said said;
	struct json_object *o;
	int rv;

	if ((rv = engine_ask(args, IMAGE_MS, &said, fault)) == -1)
		return -1;
	/* It may have been removed meanwhile. */
	if (rv == 0 && (o = json_tokener_parse(said.out)) != NULL)
		json_object_array_add(list, o);
	return 0;
}

static int
image_list(struct json_object *out, struct fault *fault)
{
	static const char *const args[] = {"image", "ls", "--no-trunc",
	    "--quiet", "--filter", "label=ironcurtain.image", NULL};
	static struct engine_said said;
	struct json_object *list = json_object_new_array();
	char *seen[IMAGE_MAX], *rest = said.out, *line;
	size_t n = 0, k;
	int rv;

	json_object_object_add(out, "images", list);
	if ((rv = engine_ask(args, IMAGE_MS, &said, fault)) == -1)
		return -1;
	if (rv != 0)
		return fault_set(
		    fault, "%s image ls: %s", engine.kind->name, said.err);
	while ((line = strsep(&rest, "\n")) != NULL && n < IMAGE_MAX) {
		/* One with several names is there several times. */
		for (k = 0; k < n && strcmp(seen[k], line) != 0; k++)
			continue;
		if (line[0] == '\0' || k < n)
			continue;
		seen[n++] = line;
		if (image_describe(line, list, fault) == -1)
			return -1;
	}
	return 0;
}

static int
image_remove(const char *id, struct fault *fault)
{
	const char *args[] = {"image", "rm", id, NULL};
	static struct engine_said said;
	int rv;

	if (!config_is_image(id))
		return fault_set(fault, "%s is no image", id);
	if ((rv = engine_ask(args, IMAGE_MS, &said, fault)) == -1 || rv == 0)
		return rv;
	return fault_set(fault, "%s", said.err);
}

static int
image_remove_all(struct json_object *plan, struct fault *fault)
{
	struct json_object *ids;

	if (!json_object_object_get_ex(plan, "remove", &ids))
		return 0;
	for (size_t i = 0; i < json_object_array_length(ids); i++)
		if (image_remove(json_object_get_string(
				     json_object_array_get_idx(ids, i)),
			fault) == -1)
			return -1;
	return 0;
}

/* Drop colours, which are harmless and many: ESC [ 1 ; 31 m. */
static void
image_colours(char *line)
{
	char *to = line, *from = line;
	size_t n;

	while (*from != '\0') {
		n = from[0] == '\033' && from[1] == '['
			? strspn(from + 2, "0123456789;")
			: 0;
		if (from[0] == '\033' && from[1] == '[' && from[2 + n] == 'm')
			from += 3 + n;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

static void
image_line(void)
{
	char vis[4 * IMAGE_LINE];

	image_env.line[image_env.len] = '\0';
	image_env.len = 0;
	image_colours(image_env.line);
	log_vis(span_str(image_env.line), vis, sizeof(vis));
	if (vis[0] != '\0')
		(void)strlcpy(image_env.last, vis, sizeof(image_env.last));
	fprintf(stderr, "  %s\n", vis);
}

static void
image_print(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' || p[i] == '\r') {
			if (p[i] == '\n' || image_env.len != 0)
				image_line();
		} else if (image_env.len < IMAGE_LINE - 1) {
			image_env.line[image_env.len++] = p[i];
		}
	}
}

/* Returns true if the user wants to end this, as with Ctrl-C. */
static bool
image_interrupted(void)
{
	struct signalfd_siginfo si;
	bool yes = false;

	while (read(sup.signal_io.fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		yes = yes || si.ssi_signo != SIGCHLD;
	return yes;
}

/* Pass its output on until it ends. Returns -1 if that was interrupted. */
static int
image_listen(int fd, struct fault *fault)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
	    {.fd = sup.signal_io.fd, .events = POLLIN}};
	char text[4096];
	ssize_t n;

	for (;;) {
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			return fault_errno(fault, "poll");
		if (p[1].revents != 0 && image_interrupted())
			return fault_set(fault, "interrupted: nothing was kept "
						"of this step");
		if (p[0].revents == 0)
			continue;
		n = read(fd, text, sizeof(text));
		if (n == 0)
			return 0;
		if (n > 0)
			image_print(text, (size_t)n);
		else if (errno != EAGAIN && errno != EINTR)
			return fault_errno(fault, "%s", engine.kind->name);
	}
}

/* Run the client with image_env.argv, and show what it prints. */
static int
image_run(const char *name, struct fault *fault)
{
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.argv = (char *const *)(uintptr_t)image_env.list,
	    .envp = engine.env,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true};
	int ends[2], code, status, rv;
	char how[64];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return fault_errno(fault, "%s", engine.kind->name);
	s.fds[1] = s.fds[2] = ends[1];
	rv = host_program_start(&engine.client, &sup.host.places, &s, &sp);
	if (rv == 0)
		rv = spawn_check(&sp);
	close(ends[1]);
	if (rv == -1) {
		fault_errno(fault, "%s", engine.kind->name);
	} else if ((rv = image_listen(ends[0], fault)) == -1) {
		/* Its helpers are in its session. */
		(void)kill(-sp.pid, SIGTERM);
	}
	close(ends[0]);
	if (image_env.len != 0)
		image_line();
	if (sp.pidfd == -1)
		return rv;
	if (spawn_reap(sp.pidfd, true, &code, &status) != 1)
		rv = rv == -1 ? -1 : fault_errno(fault, "waitid");
	else if (rv == 0 && (code != CLD_EXITED || status != 0))
		rv = fault_set(fault,
		    "image %s cannot be built: %s build %s: %s", name,
		    engine.kind->name,
		    spawn_describe(code, status, how, sizeof(how)),
		    image_env.last);
	close(sp.pidfd);
	return rv;
}

/* Add `option` with each text of the step's list `key`. */
static void
image_words(struct json_object *step, const char *option, const char *key)
{
	struct json_object *list;

	if (!json_object_object_get_ex(step, key, &list))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		wordlist_add(&image_env.argv, option);
		wordlist_add(&image_env.argv,
		    json_object_get_string(json_object_array_get_idx(list, i)));
	}
}

static int
image_step(struct json_object *step, struct fault *fault)
{
	const char *name = get_str(step, "name", NULL),
		   *file = get_str(step, "file", NULL),
		   *context = get_str(step, "context", NULL),
		   *network = get_str(step, "network", NULL),
		   *old = get_str(step, "replaces", NULL);
	struct wordlist *argv = &image_env.argv;
	struct fault kept;

	if (name == NULL || file == NULL || context == NULL ||
	    !config_is_image(name))
		return fault_set(fault, "the plan of icctl is incomplete");
	image_env.len = 0;
	image_env.last[0] = '\0';
	*argv = (struct wordlist)WORDLIST_IN(image_env.list);
	wordlist_add(argv, engine.kind->name);
	wordlist_all(argv, (const char *const *)engine.before);
	wordlist_all(argv, (const char *const[]){"build", "--tag", name, NULL});
	image_words(step, "--label", "labels");
	image_words(step, "--build-arg", "args");
	if (network != NULL)
		wordlist_all(
		    argv, (const char *const[]){"--network", network, NULL});
	wordlist_all(
	    argv, (const char *const[]){"--file", file, context, NULL});
	if (wordlist_end(argv) == NULL)
		return fault_set(fault, "image %s: too many arguments", name);
	if (image_run(name, fault) == -1)
		return -1;
	/* The old image has no name now, unless the new one is the same. */
	if (old != NULL)
		(void)image_remove(old, &kept);
	return 0;
}

static int
image_steps(struct json_object *plan, struct fault *fault)
{
	struct json_object *steps, *step;

	if (!json_object_object_get_ex(plan, "build", &steps))
		return 0;
	for (size_t i = 0; i < json_object_array_length(steps); i++) {
		step = json_object_array_get_idx(steps, i);
		fprintf(stderr, "  ==> %s\n", get_str(step, "name", NULL));
		if (image_step(step, fault) == -1)
			return -1;
	}
	return 0;
}

int
sandbox_images(const char *file, struct json_object *out, struct fault *fault)
{
	struct json_object *plan;
	int rv = -1;

	if ((plan = jsonfile_load(file, fault)) == NULL)
		return -1;
	if (engine_begin(fault) == 0 && image_steps(plan, fault) == 0 &&
	    image_remove_all(plan, fault) == 0)
		rv = image_list(out, fault);
	json_object_put(plan);
	return rv;
}
