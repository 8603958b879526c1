/* SPDX-License-Identifier: ISC */
/*
 * The documents of a login at a remote MCP server, as pure functions: what a
 * server answers to a request without a token, the metadata of a protected
 * resource (RFC 9728), and those of an authorization server (RFC 8414, OpenID
 * Connect Discovery). They come from the network and may be hostile; what is
 * taken from them is checked again where it is used.
 */
#ifndef LOGIND_DOCUMENTS_H
#define LOGIND_DOCUMENTS_H

#include "common/http/http1.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"

#define DOCUMENT_MAX 65536U /* bytes of one */
#define DOCUMENT_ISSUERS 16U

struct document {
	struct value_pool *pool; /* has the texts of `m` */
	struct msg_META_DOC m;
	char why[257];
	char texts[2 * PROTO_MAX_SCOPES + PROTO_MAX_ISSUERS];
	size_t used;
};

/*
 * Read an answer of that kind, whose status and head are given. d->m is
 * complete in every case; it says whether the document is good, and why not.
 * document_free() frees what it refers to.
 */
void document_read(struct document *, enum proto_meta, unsigned status,
    struct span head, struct span body);
/* The same without an answer. `why` may speak of a token endpoint. */
void document_lost(struct document *, enum proto_meta, const char *why);
void document_free(struct document *);

#endif
