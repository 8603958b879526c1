/* SPDX-License-Identifier: ISC */
/* Shared by the parts of code mode, and by its test. */
#ifndef CODE_PRIV_H
#define CODE_PRIV_H

#include <sys/types.h>

#include <linux/filter.h>

#include <limits.h>
#include <stdint.h>

#include "common/buf.h"
#include "docker/agent/code.h"

#define CODE_RESULT_MAX 100000U	  /* bytes of logs and value, markers aside */
#define CODE_SOURCE_MAX (1U << 20)
#define CODE_TOOLS_MAX 2000U
#define CODE_NAME_MAX 256U
#define CODE_ARGS_MAX (4U << 20)
#define CODE_FRAME_MAX CODE_ARGS_MAX
#define CODE_LIBS_MAX 32U

struct code_limits {
	unsigned ms;		/* for the program itself, calls aside */
	unsigned heap;		/* megabytes of JavaScript objects */
	unsigned data;		/* megabytes of memory of the process */
	const char *runner;	/* NULL, or a script for tests */
};

extern const struct code_limits code_limits_default;

/* The machine's node, as its own report describes it. */
struct code_node {
	char path[PATH_MAX];
	char *libs[CODE_LIBS_MAX];	/* files that it maps, itself included */
	size_t nlibs;
	int major;
	char permission[32];		/* its option --permission, or "" */
	bool sigusr1;			/* has --disable-sigusr1 */
};

/* Returns the machine's node, or NULL with `*why` set. */
const struct code_node *code_node_find(const char **why);
/* Look for it again at the next code_node_find(): for tests. */
void code_node_forget(void);

enum code_task { CODE_TASK_RUN, CODE_TASK_STRIP };

struct code_child {
	pid_t pid;
	int channel;		/* frames in both directions; non-blocking */
	int errors;		/* its standard error; non-blocking */
};

/*
 * Start a confined node.  Returns 0, or -1 with errno set and nothing started.
 */
int code_child_start(const struct code_node *, const struct code_limits *,
    struct code_child *);
/*
 * Kill the child's process group, wait for the child and close its descriptors.
 * Returns its wait status, which is 0 if another part of the program reaped it.
 */
int code_child_end(struct code_child *);

#define CODE_CHANNEL_FD 3
#define CODE_EXEC_FD 4
#define CODE_FILTER_MAX 512U

struct code_filter {
	struct sock_filter code[CODE_FILTER_MAX];
	unsigned short len;
	unsigned short self;	/* the instruction that holds the child's pid */
};

/* Compose the filter of system calls for a child. */
void code_filter_make(struct code_filter *);

/* The beginning and the end of a text of any length. */
struct code_keep {
	char *head, *tail;	/* tail is a ring */
	size_t nhead, total;
};

int code_keep_init(struct code_keep *);
void code_keep_free(struct code_keep *);
void code_keep_add(struct code_keep *, struct span);
/*
 * Append the text, of which at most `max` bytes are kept: four fifths from its
 * beginning and one from its end.
 */
void code_keep_put(const struct code_keep *, struct buf *, size_t max);

/*
 * Compose the result.  If `is_error`, the value is the reason.  Returns 0, or -1
 * with errno set.
 */
int code_result_make(const struct code_keep *logs, const struct code_keep *value,
    bool is_error, struct code_result *out);

/*
 * Returns the stubs for the runner, to be freed with json_object_put(); or NULL
 * with errno set.
 */
json_object *code_table(const struct code_tool *, size_t n);

/* code_run() with other limits. */
int code_run_limited(const char *source, const struct code_tool *tools,
    size_t ntools, code_call_fn *call, void *arg,
    const struct code_limits *limits, struct code_result *out);

extern const char code_runner[];	/* docker/node/types.cjs, execute.cjs */

#endif
