/* SPDX-License-Identifier: ISC */
/*
 * The Agent Client Protocol (version 1) between an editor and an agent in a
 * sandbox: JSON-RPC 2.0, one message per line. Each message is read strictly
 * and composed again from the members that this relay knows; the rest is left
 * out. An editor executes what an agent asks it for, on the host: so only
 * session/update, session/request_permission and answers go to the editor, and
 * requests for its files and terminals are answered here with an error.
 *
 * What goes to the agent is a line. What goes to the editor is a kind and a
 * value tree, of which icctl makes the line.
 */
#ifndef ACP_H
#define ACP_H

#include "common/ipc/proto.h"
#include "mcp/idscan.h"
#include "workers/acpd/acp_images.h"

#define ACP_VERSION 1
#define ACP_MAX_LINE PROTO_MAX_LINE /* bytes of a message, either side */
#define ACP_MAX_CALLS 64U           /* outstanding requests, each side */
#define ACP_MAX_NOTES 32U           /* lines about each side's mistakes */
#define ACP_KEEP ((size_t)64 << 10) /* a buffer keeps this much */
#define ACP_POOL ((size_t)48 << 20)
#define ACP_IMAGES 16U /* files for one prompt; more images have none */

struct acp;
struct acp_method;

/* The handlers must not keep what they are given. */
struct acp_ops {
	/* A line for the agent, without its newline. */
	void (*to_agent)(struct acp *, struct span line);
	/*
	 * A message for the editor. `n` numbers a request of the agent, `id` is
	 * that of the editor's request which is answered, or NULL. Returns -1
	 * if it is too large.
	 */
	int (*to_editor)(struct acp *, enum proto_acp, uint64_t n,
	    const struct jsonrpc_id *id, struct value *tree);
	/* Something that the user should know, as printable text. */
	void (*note)(struct acp *, const char *text);
	/* The editor has sent a prompt, which goes to the agent next. */
	void (*prompted)(struct acp *);
	/*
	 * Show the sandbox an image of the editor. acp_shown() is called when
	 * it is. Returns -1 if it cannot be.
	 */
	int (*show)(struct acp *, struct span image);
	/* The agent asked for something that it was told is not available. */
	void (*refused)(struct acp *, struct span method);
};

enum acp_call_state { ACP_FREE, ACP_OPEN };

/* A request that waits for its answer. */
struct acp_call {
	enum acp_call_state state;
	uint64_t n;           /* its number on the other side */
	struct jsonrpc_id id; /* as its sender wrote it */
	const struct acp_method *method; /* NULL in the agent's */
};

struct acp_calls {
	struct acp_call list[ACP_MAX_CALLS];
	uint64_t last;
};

/* The workspace, as the host and as the sandbox name it. */
#define ACP_PATHS 2U
struct acp_paths {
	const char *host[ACP_PATHS]; /* two names of one directory, or NULL */
	unsigned use;                /* the one that the editor uses */
	const char *inside;
};

/* Texts of a turn that come in pieces: of the agent, its thoughts, repeated. */
#define ACP_TEXTS 3U

/* A prompt whose images become files of the sandbox: acp_inbox.c. */
struct acp_inbox {
	bool waits;      /* it is kept until all of them are */
	bool over;       /* they are: it goes to the agent now */
	unsigned n, all; /* images that are done, and that it has */
	char names[ACP_IMAGES][PROTO_MAX_IMAGE + 1]; /* "": has no file */
	struct buf line; /* the prompt */
};

struct acp {
	const struct acp_ops *ops;
	struct acp_inbox inbox;
	struct acp_paths paths;
	struct acp_calls calls; /* the editor's */
	struct acp_calls asks;  /* the agent's */
	struct value_pool *pool;
	struct buf line;
	unsigned notes[2]; /* about the editor, the agent */
	struct acp_images texts[ACP_TEXTS]; /* that come in pieces */
};

/* acp.c */
/* Returns 0, or -1 if memory ran out. The paths must stay valid. */
int acp_init(struct acp *, const struct acp_ops *, const struct acp_paths *);
void acp_free(struct acp *);
/* Process one line, without its newline. */
void acp_editor_line(struct acp *, struct span);
void acp_agent_line(struct acp *, struct span);
/* The same for a line of more than ACP_MAX_LINE bytes, which was scanned. */
void acp_editor_long(struct acp *, struct idscan *);
void acp_agent_long(struct acp *, struct idscan *);
/* Returns true if no line of the editor can be taken now. */
bool acp_waits(const struct acp *);
/* The image has this name in the sandbox's inbox, or "" if it is not there. */
void acp_shown(struct acp *, struct span name);
/* acp_out.c */
/* Tell the user, unless there were too many already. */
void acp_note(struct acp *, bool agent, const char *, ...)
    __attribute__((format(printf, 3, 4)));

#endif
