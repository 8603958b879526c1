/* SPDX-License-Identifier: ISC */
/*
 * Requests to forges. mitmd sends the tree of a request with it; the tree is
 * checked here against tables of ours, the request is composed from it once
 * more, and only the digest of that body leaves. Everything that it names by an
 * id is looked up by keyd before it is shown, so that the text is about names.
 */
#ifndef FORGE_HOLDS_H
#define FORGE_HOLDS_H

#include "common/forge/grant.h"
#include "common/forge/say.h"
#include "details.h"

struct ask;
struct policyd_env;

/* A destination's settings; NULL in env->forges[]: it is no forge. */
struct forge_dest {
	struct value_pool *pool;
	struct forge_settings settings;
};

/* A pending request, and the things that it names. */
struct forge_ask {
	struct value_pool *pool;
	struct forge_call call;
	struct forge_found found[FORGE_MAX_REFS];
	bool known[FORGE_MAX_REFS];
	size_t nfound;
};

/* Take the file of a destination. Returns 0, or -1 with *why. */
int forge_dest_take(
    struct policyd_env *, const struct msg_PROVIDER *, const char **why);
void forge_dests_free(struct policyd_env *);

/*
 * Check the request, whose texts are in k->mem, against its tree, and append
 * what is sent to k->preview. Returns 0, or -1 with *why: no honest mitmd sends
 * such a request.
 */
int forge_ask_make(struct policyd_env *, struct ask *, const char **why);
void forge_ask_free(struct ask *);
/* Have everything looked up that is not known. Returns true if that is nothing.
 */
bool forge_ask_known(struct policyd_env *, struct ask *);
/* Take what was found. Returns 0, or -1 with *why it may not be used. */
int forge_ask_found(struct ask *, const struct msg_FORGE_FOUND_GO *,
    const char **why);
/* Returns what the settings say about the request. */
enum forge_word forge_ask_word(const struct ask *);
/* The texts for a person. Returns as details_ask(). */
int forge_ask_details(struct details *, const struct ask *);

#endif
