/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl mcp login`, `logout` and `status`. boxes.c: the programs
 * that do the work, whose supervisor icctl is; discover.c: the documents;
 * client.c: which client it is; browser.c: the browser and its way back;
 * files.c: the files of a login; login.c, logout.c, status.c: the commands.
 * icctl holds no token, no verifier and no secret, and parses no byte of a
 * server.
 */
#ifndef MCP_LOGIN_H
#define MCP_LOGIN_H

#include "base/spawn.h"
#include "common/ipc/chan.h"
#include "credential/proxy.h"
#include "credential/renew.h"
#include "files/config.h"
#include "icctl/icctl.h"
#include "icctl/mcp/login/plan.h"
#include "icctl/mcp/own.h"

/* The last one runs only if there is a corporate proxy. */
enum box_kind {
	BOX_DIAL,
	BOX_META,
	BOX_GRANT,
	BOX_CALLBACK,
	BOX_TUNNEL,
	BOX_COUNT
};

struct box {
	enum box_kind kind;
	struct spawned sp;
	struct chan *chan;
	bool hello;
};

/* The fields of a document, kept. */
struct doc {
	bool come, good;
	unsigned status;
	uint32_t flags;
	char why[257];
	char metadata[PROTO_MAX_URL + 1], resource[PROTO_MAX_URL + 1];
	char issuers[PROTO_MAX_ISSUERS + 1], scopes[PROTO_MAX_SCOPES + 1];
	char authorization[PROTO_MAX_URL + 1], token[PROTO_MAX_URL + 1];
	char registration[PROTO_MAX_URL + 1], revocation[PROTO_MAX_URL + 1];
};

/* The paths of a login's files. */
struct login_files {
	char dir[4200];
	char token[4400];  /* with the tokens: never read here */
	char server[4400]; /* the rest, which is no secret */
};

struct login {
	struct icctl *ctl;
	struct own own;
	const char *name; /* the server's */
	struct json_object *entry, *oauth;
	const char *url, *ca;
	char provider[80]; /* "mcp-NAME" */
	struct login_files files;
	struct config config;
	bool configured; /* config was read */
	struct proxy proxy;
	bool yes, no_browser;
	unsigned callback_port;

	struct loop loop;
	struct box boxes[BOX_COUNT];
	int said[2]; /* the pipe on which the programs complain */
	bool lost;   /* one of them has ended */

	/* discover.c */
	struct place at; /* the server */
	bool private_ok; /* its address may be, as a person wrote it */
	bool guessed;    /* nobody publishes where to log in */
	struct doc doc;  /* the latest */
	char resource[PROTO_MAX_URL + 1]; /* as the token is for it */
	char issuer[PROTO_MAX_URL + 1];
	struct doc server;                 /* the authorization server */
	char wanted[PROTO_MAX_SCOPES + 1]; /* scopes to ask for */

	/* client.c */
	char client[PROTO_MAX_CLIENT + 1];
	enum proto_auth auth;
	const char *client_from;

	/* browser.c */
	int listener, diag;
	struct loop_io listen_io, stdin_io;
	char host[32], redirect[64]; /* 127.0.0.1:PORT */
	bool registered, challenged, done;
	struct msg_REGISTERED reg;
	struct msg_LOGIN_DONE end;
	char reg_why[257], end_why[257], granted[PROTO_MAX_SCOPES + 1];
	char state[65], challenge[65];
	bool refused; /* by the issuer; end_why says why */
	char pasted[PROTO_MAX_PASTED + 1];
	size_t npasted;
};

/* login.c: Find the server and its files. Returns 0, or -1 after the reason. */
int login_open(struct login *, struct icctl *, const char *name);
void login_close(struct login *);

/* boxes.c */
/*
 * Start the programs and pair them. The messages that they send to icctl are
 * handled so. Returns 0, or -1 after the reason.
 */
int boxes_start(struct login *, const struct chan_handler *, size_t n);
/* Returns how many programs a login has, the first ones. */
unsigned boxes_number(const struct login *);
int box_on_hello(struct chan *, const struct msg_HELLO *);
void boxes_stop(struct login *);
/*
 * Run until `*flag` is set, for at most `ms`. Returns 0, or -1 after the
 * reason.
 */
int boxes_wait(struct login *, const bool *flag, uint64_t ms);
/* Send a message. Returns 0, or -1 after the reason. Takes `fd`. */
int boxes_send(
    struct login *, enum box_kind, enum msg_type, const void *, int fd);
/* Tell dialerd of a host that a box may reach as its nth. */
int box_target(struct login *, enum box_kind, unsigned which,
    const struct place *, bool private_ok);

/* way.c: the corporate proxy */
/* Find it, if there is one. Returns 0, or -1 after the reason. */
int way_open(struct login *);
void way_close(struct login *);
int on_tunnel_show(struct chan *, const struct msg_TUNNEL_SHOW *);
int on_key_state(struct chan *, const struct msg_KEY_STATE *);

/* messages.c: Start the programs. Returns 0, or -1 after the reason. */
int login_start(struct login *);

/* discover.c: Find where and how to log in. Returns an exit status, or -1. */
int discover(struct login *);
int on_meta_doc(struct chan *, const struct msg_META_DOC *);

/* client.c */
/* Choose or register the client. Returns 0, or -1 after the reason. */
int client_find(struct login *);
int on_registered(struct chan *, const struct msg_REGISTERED *);
/* Returns the port that the browser is to come back to, or 0. */
unsigned client_port(const struct login *);

/* browser.c */
int browser_listen(struct login *);
/* Send the browser there, and wait for what comes back. */
int browser_go(struct login *);
int on_challenge(struct chan *, const struct msg_CHALLENGE *);
int on_callback_seen(struct chan *, const struct msg_CALLBACK_SEEN *);
int on_login_done(struct chan *, const struct msg_LOGIN_DONE *);

/* files.c */
/* Write the name of the server's provider, as files/servers_remote.c has it. */
void files_provider(const char *name, char dst[80]);
void files_name(struct login_files *, const char *home, const char *provider);
/* Returns 0, or -1 after the reason. */
int files_dir(const struct login_files *);
/* Returns the lock of one login at a time, or -1 after the reason. */
int files_one(const struct login *);
/* Make an empty file beside the login's. Returns it, or -1 after the reason. */
int files_temp(const struct login *, char *path, size_t cap);
/*
 * Put the new login in place, with what is said of it. Returns 0, or -1 after
 * the reason.
 */
int files_place(struct login *, const char *temp, int fd);
/* Returns what is said of a login, or NULL if there is none. */
struct json_object *files_said(const struct login_files *);
/*
 * Take the lock between sessions; renew_release() releases it. Returns 0, or -1
 * after the reason.
 */
int files_lock(const struct login_files *, struct renewal *);
/*
 * Remove both files, under the lock. Returns the number of those that were
 * there.
 */
unsigned files_remove(const struct login_files *);
/* Tell sessions that run. */
void files_tell(const struct login *);
/* Say of each session that runs how its use of the login is ended. */
void files_end(const struct login *);

#endif
