/* SPDX-License-Identifier: ISC */
/* Internals of ic-serve: see serve_main.c. */
#ifndef WORKERS_SERVE_H
#define WORKERS_SERVE_H

#include <json-c/json.h>

#include "base/spawn.h"
#include "common/ipc/proto.h"
#include "common/wordlist.h"
#include "files/limits.h"
#include "host/program.h"
#include "workers/repo/told.h"

/* Places in the sandbox of a service. */
#define SERVE_BRIDGE "/opt/ironcurtain/bin/ic-bridge"
#define SERVE_SOCKET "/run/ironcurtain/service.sock"
#define SERVE_DATA "/data"

/* A session's file has the name of its listener: service.N.sock. */
#define SERVE_SOCKET_NAME "service.%u.sock"

#define SERVE_WORDS 200U /* a command's, with those of ic-bridge */

struct service {
	unsigned number; /* in config.json: that of its socket */
	uint16_t port;
	char name[33];
	struct json_object *o; /* its entry, checked by ic-reader */
	int group;             /* the entrance of its control group, or -1 */
	struct spawned sp;
	int out; /* a pipe with all that it writes, or -1 */
};

struct serve_env {
	struct service list[PROTO_MAX_SERVICES];
	unsigned n;
	struct limits limits;
	struct host_how how; /* how programs of the host are found */
};
extern struct serve_env serve_env;

/* serve_words.c */
/* Returns the text of a member, or NULL. */
const char *serve_text(const struct service *, const char *key);
/* Returns the array of a member, or NULL. */
struct json_object *serve_list(const struct service *, const char *key);
/*
 * Add ic-bridge's words: how it serves the port, its limits if `limited`, and
 * the health check, which is the shell's text `ready` if the entry has none and
 * that is not NULL; the command must follow.
 */
void serve_bridge(struct wordlist *, const struct service *, bool limited,
    const char *ready);

/* serve_box.c: Start a program of the host in a sandbox of its own. */
int serve_box(struct service *, int out, struct fault *);
/* serve_engine.c: Start an image in a container. */
int serve_engine(struct service *, int out, struct fault *);
/*
 * serve_known.c: Returns the program text for the shell that sets a well-known
 * server up and becomes it, if the command is its name alone; or, if `ready`,
 * the one that says whether it takes logins. NULL: there is none.
 */
const char *serve_known(const struct service *, bool ready);

/*
 * serve_log.c: Open services.log. Returns 0, or -1 with the fault set.
 */
int serve_log_open(struct fault *);
/* Write what services say to it, until all of them have ended; confined. */
void serve_log(void);

#endif
