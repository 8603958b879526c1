/* SPDX-License-Identifier: ISC */
/*
 * All argument roles, one row each; whoever includes this file defines ROLE and
 * takes the columns that it needs:
 *
 *   ROLE(id, name, category, effect, thing)
 *
 * category: how policyd evaluates it (enum arg_category)
 * effect: what the call does with what it names: READ, WRITE, DELETE, COMMIT or
 *   SEND (auto/asked.h: the verbs that a person's message must have; box/mounts.c:
 *   whether a view needs it writable)
 * thing: how a message names it: PATH, URL, REMOTE, MAIL or WORD (auto/mention.c)
 */
/* clang-format off */
#ifndef ROLE
#define ROLE(id, name, category, effect, thing)
#endif
ROLE(READ_PATH,		"read-path",		PATH,		READ,	PATH)
ROLE(WRITE_PATH,	"write-path",		PATH,		WRITE,	PATH)
ROLE(DELETE_PATH,	"delete-path",		PATH,		DELETE,	PATH)
ROLE(WRITE_HISTORY,	"write-history",	PATH,		COMMIT,	PATH)
ROLE(DELETE_HISTORY,	"delete-history",	PATH,		DELETE,	PATH)
ROLE(FETCH_URL,		"fetch-url",		URL,		READ,	URL)
ROLE(GIT_REMOTE_URL,	"git-remote-url",	URL,		READ,	REMOTE)
ROLE(GITHUB_OWNER,	"github-owner",		IDENTIFIER,	READ,	WORD)
ROLE(GITHUB_REPO,	"github-repo",		IDENTIFIER,	READ,	WORD)
ROLE(PROXY_DOMAIN,	"proxy-domain",		IDENTIFIER,	WRITE,	WORD)
ROLE(BRANCH_NAME,	"branch-name",		OPAQUE,		READ,	WORD)
ROLE(COMMIT_MESSAGE,	"commit-message",	OPAQUE,		WRITE,	WORD)
ROLE(EMAIL_ADDRESS,	"email-address",	OPAQUE,		SEND,	MAIL)
ROLE(EMAIL_BODY,	"email-body",		OPAQUE,		WRITE,	WORD)
ROLE(SHARE_PERMISSION,	"share-permission",	OPAQUE,		WRITE,	WORD)
ROLE(NONE,		"none",			OPAQUE,		WRITE,	WORD)
/* clang-format on */
#undef ROLE
