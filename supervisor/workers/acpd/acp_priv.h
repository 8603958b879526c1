/* SPDX-License-Identifier: ISC */
/* Internals of the relay between editor and agent; see acp.h. */
#ifndef ACP_PRIV_H
#define ACP_PRIV_H

#include "workers/acpd/acp.h"

/* How a member of a message is composed. */
enum acp_rule {
	ACP_COPY,    /* without "_meta", and with paths of the other side */
	ACP_CWD,     /* the workspace, or a directory in it */
	ACP_SERVERS, /* an empty list: the agent's MCP servers are ours */
	ACP_EXTRA,   /* left out: directories beside the workspace */
};

struct acp_member {
	const char *name; /* NULL: the end of a list */
	enum acp_rule rule;
};

/* A method that the editor may call. */
struct acp_method {
	const char *name;
	bool notification;
	const struct acp_member *params, *result;
};

/* acp_methods.c */
const struct acp_method *acp_method_find(struct span name);
/* Returns the members of this kind of session/update, or NULL. */
const struct acp_member *acp_update_find(struct span kind);

/* acp_copy.c: composing values from those of the other side. */
struct acp_copy {
	struct acp *acp;
	bool to_editor;
	struct acp_images *images; /* the text goes on with these, or NULL */
};

/*
 * Returns a copy in the pool, without what must not cross, or NULL if there is
 * no room.
 */
struct value *acp_copy(const struct acp_copy *, const struct value *);
/* Compose an object of the listed members that `from` has. */
struct value *acp_members(const struct acp_copy *, const struct value *from,
    const struct acp_member *);
/* Like value_set(), for a string that outlives the pool's values. */
int acp_put(struct acp *, struct value *object, const char *key, struct span);
int acp_put_bool(struct acp *, struct value *, const char *key, bool);
int acp_put_number(struct acp *, struct value *, const char *key, int64_t);

/* acp_paths.c */
/*
 * Write the path of the other side. Returns true with `*out` in the pool, or
 * false if it is not within the workspace, or there is no room.
 */
bool acp_path(const struct acp_copy *, struct span path, struct span *out);
/* The same for a URI that begins with file://. */
bool acp_uri(const struct acp_copy *, struct span uri, struct span *out);
/* Returns true if the editor's directory is in the workspace. */
bool acp_cwd(struct acp *, struct span path, struct span *out);

/* acp_calls.c */
struct acp_call *acp_calls_new(struct acp_calls *, const struct jsonrpc_id *);
struct acp_call *acp_calls_find(struct acp_calls *, uint64_t n);
struct acp_call *acp_calls_by_id(
    struct acp_calls *, const struct jsonrpc_id *);
/* Find the request that was answered: the id must be a number of ours. */
struct acp_call *acp_calls_answered(
    struct acp_calls *, const struct jsonrpc_id *);

/* acp_out.c */
void acp_to_editor(struct acp *, enum proto_acp, uint64_t n,
    const struct jsonrpc_id *, struct value *);
/* Compose a request or notification for the agent; `n` 0: a notification. */
void acp_to_agent(struct acp *, uint64_t n, struct span method,
    const struct value *params);
void acp_agent_result(
    struct acp *, const struct jsonrpc_id *, const struct value *);
void acp_agent_error(
    struct acp *, const struct jsonrpc_id *, int64_t code, const char *text);
void acp_editor_error(
    struct acp *, const struct jsonrpc_id *, int64_t code, const char *text);

/* acp_inbox.c */
/* Returns true if the prompt is kept, because it has images. */
bool acp_inbox_keep(struct acp *, struct span line, const struct value *params);
/* Ask for the file of the next image. Returns true if the prompt is complete. */
bool acp_inbox_ready(struct acp *);
/* The prompt has been composed. */
void acp_inbox_sent(struct acp *);
/* The image that was asked for has this name, or "". */
void acp_inbox_shown(struct acp *, struct span name);
/* Name the files behind the images of a composed prompt. Returns 0, or -1. */
int acp_inbox_name(struct acp *, struct value *params);

/* acp_initialize.c */
/* Compose the agent's parameters. Returns NULL after answering the editor. */
struct value *acp_initialize(
    struct acp *, const struct jsonrpc_id *, const struct value *params);
/* Compose the editor's result, or NULL if the agent's cannot be used. */
struct value *acp_initialized(struct acp *, const struct value *result);

#endif
