/* SPDX-License-Identifier: ISC */
/*
 * The decisions of a login at a remote MCP server, from the documents that
 * mcp-logind has read, as pure functions: where the next document is, whether
 * one belongs to what was asked for, which scopes are asked for, and the
 * address that the browser opens. Every text of a document is checked here once
 * more, because mcp-logind may have been taken over.
 */
#ifndef MCP_LOGIN_PLAN_H
#define MCP_LOGIN_PLAN_H

#include "common/buf.h"
#include "common/http/https_url.h"
#include "common/ipc/proto.h"

#define PLAN_PLACES 4U
#define PLAN_AUTHORIZE 8192U /* bytes of the address that is opened */

/* An address, taken apart. The host may be private if a person wrote it. */
struct place {
	char host[254];
	uint16_t port;
	char path[PROTO_MAX_PLACE + 1]; /* with its query; begins with / */
};

/* Returns 0, or -1 with `*why` as from https_url_read(). */
int plan_place(const char *url, struct place *, const char **why);
/*
 * Write the paths at which the metadata of a resource with this path may be.
 * Returns their number.
 */
size_t plan_resource_paths(
    const char *path, char to[PLAN_PLACES][PROTO_MAX_PLACE + 64]);
/* The same for the authorization server with this issuer's path. */
size_t plan_server_paths(
    const char *path, char to[PLAN_PLACES][PROTO_MAX_PLACE + 64]);
/*
 * Returns true if the resource that a document names is the server with this
 * address: the same host in any case, and the same path but for a slash at its
 * end. `root`: the document is that of the whole host, which may name just that.
 */
bool plan_same_resource(const char *resource, const char *url, bool root);
/* Returns true if the names of hosts have one owner, as far as names show. */
bool plan_belong(const char *a, const char *b);
/*
 * Add the scopes in `more` that `list` does not have. Returns 0, or -1 if they
 * do not fit.
 */
int plan_scopes(char list[PROTO_MAX_SCOPES + 1], const char *more);

struct plan_request {
	const char *endpoint, *client, *redirect, *state, *challenge, *resource;
	const char *scopes; /* may be "" */
};

/*
 * Compose the address that the browser opens. Returns 0, or -1 with `*why`, a
 * constant text, if the endpoint has a parameter of ours already.
 */
int plan_authorize(
    const struct plan_request *, struct buf *, const char **why);

#endif
