/* SPDX-License-Identifier: ISC */
/*
 * Shared by the files of `icctl image`, which builds, lists and removes images
 * of agents. What is to be done is decided here; icsupervisor, which alone runs
 * an engine's client, does it.
 */
#ifndef ICCTL_IMAGE_H
#define ICCTL_IMAGE_H

#include <limits.h>

#include "common/sha256.h"
#include "files/image.h"
#include "icctl/icctl.h"

#define IMAGE_MAX_ARGS 24U /* for one build */
#define RECIPE_MAX_ARGS (IMAGE_MAX_ARGS + 1) /* with the base */
#define IMAGE_DIR 64U
#define IMAGE_BASE "base"
#define IMAGE_LABEL "ironcurtain.image"
#define IMAGE_HASH "ironcurtain.build-hash"
#define IMAGE_DOCKERFILE "ironcurtain.dockerfile" /* its hash alone */
#define IMAGE_WORKSPACE "ironcurtain.workspace"
#define IMAGE_ARGS "ironcurtain.build-args"

/* Options of the command line. */
struct image_options {
	const char *runtime; /* --runtime, or the one that is used here */
	const char *network; /* for a build's steps; NULL: its own */
	const char *args[IMAGE_MAX_ARGS];
	size_t nargs;
	bool args_given; /* otherwise those of the last build are used again */
	bool devcontainer, yes;
	const char *workspace; /* with a devcontainer.json; NULL: here */
};

/* A Dockerfile, and the arguments that it gets. */
struct recipe {
	char name[IMAGE_NAME]; /* Dockerfile.NAME */
	char tag[IMAGE_NAME];
	char file[PATH_MAX];
	char *text;
	const char *workspace; /* it is for this one alone; or NULL */
	/* "NAME=VALUE": those that change the image, and those of the way to
	 * it. */
	const char *args[RECIPE_MAX_ARGS], *way[RECIPE_MAX_ARGS];
	/* Those of its base, which the next build shall have again. */
	const char *kept[RECIPE_MAX_ARGS];
	size_t nargs, nway, nkept;
	char base[64 + IMAGE_NAME]; /* "BASE=TAG", one of `args`, or "" */
	char hash[SHA256_HEX];      /* text and arguments */
	char text_hash[SHA256_HEX]; /* the text alone */
};

/* engine.c */
/* Returns the engine to use: `given`, the configured one, or one that is here.
 */
const char *image_runtime(const struct icctl *, const char *given);
/*
 * Make a directory for a build. Returns 0, or -1 after it printed the reason.
 * tree_remove() removes it.
 */
int image_dir(char dir[IMAGE_DIR]);
/*
 * Do what the plan says, which is taken, and show the progress of builds.
 * Returns {"images": [...]}, or NULL after it printed the reason. `dir` is for
 * files of icsupervisor.
 */
json_object *image_engine(
    const char *runtime, const char *dir, json_object *plan);
/* Returns the image of that name in what image_engine() returned, or NULL. */
json_object *image_find(json_object *found, const char *tag);
/* Returns a label of such an image, or "". */
const char *image_label(json_object *image, const char *label);

/*
 * lock.c: Wait until no other icctl of this user builds. Returns a descriptor
 * that keeps others waiting until it is closed, or -1 after it printed the
 * reason.
 */
int image_lock(const struct icctl *, const char *name);

/* recipe.c */
/*
 * Read Dockerfile.NAME of the user or, if there is none, the shipped one.
 * Returns 0, or -1 with the fault set.
 */
int recipe_load(
    struct recipe *, const struct icctl *, const char *name, struct fault *);
void recipe_free(struct recipe *);
/* Returns true if it has "ARG NAME", where `arg` is "NAME" or "NAME=VALUE". */
bool recipe_takes(const struct recipe *, const char *arg);
/* Write the names of its arguments, "A, B". Returns `dst`. */
char *recipe_takes_what(const struct recipe *, char *dst, size_t cap);
/* Give it an argument that it takes. An empty value means its own default. */
void recipe_give(struct recipe *, const char *arg);
/* Remember an argument that its base takes. */
void recipe_keep(struct recipe *, const char *arg);
/* Returns true for an argument of the way to packages: a proxy, a registry. */
bool recipe_is_way(const char *arg);
/*
 * Hash it with its arguments, and with `more`, a hash of further files, or "".
 */
void recipe_hash(struct recipe *, const char *more);

/* build.c */
/* Build the image of an agent, or IMAGE_BASE. Returns an exit status. */
int image_build(struct icctl *, struct image_options *, const char *agent);
/*
 * Write the NAME of the image that an agent needs. Returns 0, or -1 with the
 * fault set.
 */
int image_of_agent(const struct icctl *, const char *agent,
    char name[IMAGE_NAME], struct fault *);
/* Hash the base's recipe, and name its image after the hash. */
void image_base_tag(struct recipe *);
/* Returns true if another build would make the image that is there. */
bool image_is_current(json_object *found, const struct recipe *);
/* An image to make, after those before it. */
struct image_job {
	struct recipe *r;
	const char *context; /* a directory to copy from, or NULL */
	bool needed;
};
/*
 * Make those that are needed, and print what was done; the last one is the one
 * that was asked for. Takes `found`. Returns an exit status.
 */
int image_jobs(const struct icctl *, const struct image_options *,
    const char *dir, json_object *found, const struct image_job *, size_t n);
/*
 * Take the arguments of an image's build, which `kept` holds, unless some are
 * given; give all to the recipes that take them. Either recipe may be NULL.
 * Returns 0, or -1 after it printed the reason.
 */
void image_args_again(
    struct image_options *, json_object *image, json_object **kept);
int image_args_give(
    const struct image_options *, struct recipe *base, struct recipe *agent);

/*
 * devbuild.c: Build the image that the workspace's devcontainer.json describes,
 * with an agent in it unless `agent` is NULL. Returns an exit status.
 */
int image_devcontainer(
    struct icctl *, struct image_options *, const char *agent);

#endif
