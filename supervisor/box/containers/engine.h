/* SPDX-License-Identifier: ISC */
/*
 * The agent in a container of Docker or Podman. Both are driven by their own
 * command-line clients, which differ in a few words; struct engine_kind is the
 * table of these. Only the parts of the driver include this header, and
 * box/runtime.c for the options of ic-bridge.
 */
#ifndef BOX_ENGINE_H
#define BOX_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "common/wordlist.h"
#include "host/program.h"

#define ENGINE_ID 72U        /* a container's id, in hex, and its NUL */
#define ENGINE_MAX_ARGS 320U /* an engine's client takes */
/* A service's container: the session, and the service. */
#define ENGINE_SERVICE "ironcurtain-%s-%s"
#define ENGINE_MAX_ENV 12U
#define ENGINE_MAX_VOLUMES 16U
/* The token's place in the sidecar. */
#define ENGINE_TOKEN "/opt/ironcurtain/token"
#define ENGINE_FILTER "/opt/ironcurtain/filter"

/* The engines of a row in a table. */
enum {
	ON_DOCKER = 1,
	ON_PODMAN = 2,
	ON_BOTH = 3
};

struct engine_kind {
	const char *name, *title;
	unsigned bit;               /* ON_DOCKER or ON_PODMAN */
	const char *install, *dead; /* remedies */
	/* Templates of what `info` prints about the engine, as JSON. */
	const char *info;
};

struct engine {
	const struct engine_kind *kind;
	struct host_program client;
	/* Arguments before every command, allocated; ends with NULL. */
	char *before[8];
	char *env[ENGINE_MAX_ENV + 1]; /* the client's environment */
	char version[64];
	char image[256];  /* as the user named it */
	char digest[128]; /* the engine's id of it */
	/* Paths of volumes that the image declares, allocated. */
	char *volumes[ENGINE_MAX_VOLUMES];
	unsigned nvolumes;
	bool rootless;
	bool limits; /* it enforces limits of memory and processes */
	char *dir;   /* DIR/engine, where its files are */
	int fd;
	char id[ENGINE_ID]; /* the container's, or "" */
	/* Only over TCP: the name of the sidecar's network and volume; ... */
	char beside[96];
	char host[64]; /* ... and "NAME:host-gateway", if it needs one */
};

extern struct engine engine;

/* Options of ic-bridge in a container; ends with NULL. */
extern const char *const engine_bridge_options[];

/* The output of a client, NUL-terminated. */
struct engine_said {
	char out[16384];
	char err[1024];
};

/* engine.c: Find the engine that --runtime names, and a place for its files. */
int engine_begin(struct fault *);

/*
 * client.c: Run the client with these arguments (ends with NULL) to its
 * end. Returns its exit status, or -1 with the fault set if it cannot be
 * started, or does not end.
 */
int engine_ask(
    const char *const *args, unsigned ms, struct engine_said *, struct fault *);
/* Find the client, and where its engine is. */
int engine_client(struct fault *);

/* files.c: Make DIR/engine. */
int engine_files(struct fault *);
/* Returns the path of a file in it, allocated. */
char *engine_path(const char *name);

/*
 * args.c: Returns the arguments that make the agent's container, or its
 * sidecar's (`side`), allocated, without those before every command; `argv` is
 * the whole command in it. Returns NULL with the fault set.
 */
char **engine_args(char *const *argv, bool side, struct fault *);
/* Refuse a path that --mount cannot express. */
int engine_path_ok(const char *path, struct fault *);

/* name.c */
/* Choose the image. Returns 0, or -1 with the fault set. */
int engine_name(struct fault *);
/* The engine has no such image: say how to get it. Returns -1. */
int engine_name_missing(struct fault *);

/*
 * words.c: Append `text`, which is allocated; the list owns it then. Returns 0,
 * or -1 with errno set, and `text` freed, if it is NULL or finds no room.
 */
int engine_add(struct wordlist *, char *text);
/* Add "--mount" and its text. Returns 0, or -1 with errno set. */
int engine_add_mount(struct wordlist *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * own.c: If the program is one of ours, have it mounted with its libraries, and
 * write its place in the sandbox. Returns 0, or -1 with the fault set.
 */
int engine_own(const char *program, char **inside, struct fault *);
/* Returns the nth path of this machine that it has mounted, or NULL. */
const char *engine_own_nth(size_t n);
/* Add the arguments for it. Returns 0, or -1 if there is no room. */
int engine_own_add(struct wordlist *args);

/* volumes.c */
/* Take the volumes of an image. Returns 0, or -1 with the fault set. */
struct json_object;
int engine_volumes(struct json_object *image, struct fault *);
/* Add the arguments against them. Returns 0, or -1 if there is no room. */
int engine_volumes_add(struct wordlist *args);

/* end.c */
/*
 * Write the labels that tell whose container it is: a process, and the boot and
 * the process namespace in which it has that number.
 */
void engine_owner(char pid[24], char start[32], char boot[64]);
/*
 * Find containers of this user whose icsupervisor is gone, add their ids to
 * `ids` unless that is NULL, and remove them if `remove`. Returns 0, or -1 with
 * the fault set.
 */
struct json_object;
int engine_sweep(bool remove, struct json_object *ids, struct fault *);
void engine_stop(void);
void engine_remove(void);

#endif
