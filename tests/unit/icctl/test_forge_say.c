/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor --check-api` about tokens of forges, one row for each kind of
 * token: the forge's answer, as the real one writes it, is read as ic-asker
 * does, and what is said about it is compared.
 */
#include <stdio.h>
#include <string.h>

#include "icctl/doctor/forge.h"
#include "tap.h"
#include "workers/asker/list.h"

/* Repositories, with the members that matter and some of the many others. */
#define HUB(name, admin, push)                                                 \
	"{\"id\": 1296269, \"node_id\": \"R_kgDOA\", \"name\": \"x\", "         \
	"\"full_name\": \"" name "\", \"private\": true, \"owner\": "          \
	"{\"login\": \"me\", \"id\": 1, \"site_admin\": false}, \"permissions" \
	"\": {\"admin\": " admin ", \"maintain\": " admin ", \"push\": " push  \
	", \"triage\": " push ", \"pull\": true}, \"license\": null}"
#define LAB(name, project, group, more)                                        \
	"{\"id\": 77, \"path\": \"x\", \"path_with_namespace\": \"" name       \
	"\", \"namespace\": {\"id\": 3, \"kind\": \"user\", \"full_path\": "   \
	"\"me\"}, " more "\"permissions\": {\"project_access\": " project      \
	", \"group_access\": " group "}}"
#define TEA(name, admin, push)                                                 \
	"{\"id\": 5, \"owner\": {\"id\": 1, \"login\": \"me\"}, "              \
	"\"full_name\": \"" name "\", \"permissions\": {\"admin\": " admin     \
	", \"push\": " push ", \"pull\": true}, \"mirror\": false}"
#define LEVEL(n) "{\"access_level\": " n ", \"notification_level\": 3}"
#define RUNNERS "\"runners_token\": \"GR1348941abc\", "
#define SELF(scopes)                                                           \
	"{\"id\": 4, \"name\": \"shop\", \"revoked\": false, \"scopes\": ["     \
	scopes "], \"user_id\": 9, \"active\": true, \"expires_at\": "          \
	"\"2026-12-30\"}"
#define SCOPED(text) "X-OAuth-Scopes: " text "\r\n"

static const struct {
	const char *what;
	enum forge_kind kind;
	const char *own;   /* more members of the destination */
	const char *token; /* GitLab's object about the token, or NULL */
	const char *headers, *list, *said;
} rows[] = {
    {"fine-grained, for the listed one", FORGE_GITHUB, "", NULL, "",
	"[" HUB("Me/Shop", "true", "true") "," HUB("x/y", "false", "false") "]",
	"good its token can write no repository beyond the list\n"},
    {"fine-grained, for more", FORGE_GITHUB, "", NULL, "",
	"[" HUB("me/shop", "true", "true") "," HUB("me/diary", "true",
	    "true") "," HUB("me/site", "false", "true") "]",
	"note its token reaches, beyond the list, repositories that its "
	"account can write: me/diary, me/site\n"},
    {"classic", FORGE_GITHUB, "", NULL, SCOPED("repo, read:org"),
	"[" HUB("me/diary", "true", "true") "]",
	"failed its token is a classic one, for every repository of its "
	"account: repo, read:org\n"
	"note its token can write, beyond the list: me/diary\n"},
    {"classic, with the word for it", FORGE_GITHUB, "\"classic\": true", NULL,
	SCOPED("repo"), "[" HUB("me/shop", "true", "true") "]",
	"note its token is a classic one, for every repository of its "
	"account: repo\n"
	"good its token can write no repository beyond the list\n"},
    {"classic, without scopes", FORGE_GITHUB, "", NULL, SCOPED(""), "[]",
	"failed its token is a classic one, for every repository of its "
	"account: no scopes\n"
	"good its token can write no repository beyond the list (the forge "
	"names none)\n"},
    {"an answer without permissions", FORGE_GITHUB, "", NULL, "",
	"[{\"full_name\": \"me/diary\"}, {\"full_name\": \"me/a\", "
	"\"permissions\": {\"pull\": true}}, {\"full_name\": \"me/b\", "
	"\"permissions\": {\"push\": \"yes\"}}, {\"full_name\": \"me/c\", "
	"\"permissions\": []}, {\"full_name\": \"me/shop\"}]",
	"note the forge does not say what its token can do with: me/diary, "
	"me/a, me/b, me/c\n"},
    {"names that are none", FORGE_GITHUB, "", NULL, "",
	"[{\"full_name\": \"me/x\\u001b[31m\"}, 7, {\"name\": \"x\"}]",
	"note 3 parts of the forge's answer are not understood\n"},
    {"six more", FORGE_GITHUB, "", NULL, "",
	"[" HUB("a/1", "true", "true") "," HUB("a/2", "true", "true") "," HUB(
	    "a/3", "true", "true") "," HUB("a/4", "true", "true") "," HUB("a/5",
	    "true", "true") "," HUB("a/6", "true", "true") "]",
	"note its token reaches, beyond the list, repositories that its "
	"account can write: a/1, a/2, a/3, a/4, a/5 and 1 more\n"},

    {"a project token, Developer", FORGE_GITLAB, "", SELF("\"api\""), "",
	"[" LAB("me/shop", LEVEL("30"), "null", "") "]",
	"good its token can write no repository beyond the list\n"},
    {"a project token, Maintainer", FORGE_GITLAB, "", SELF("\"api\""), "",
	"[" LAB("me/shop", LEVEL("40"), "null", "") "]",
	"note its token has a role above Developer: me/shop (Maintainer)\n"
	"good its token can write no repository beyond the list\n"},
    {"one that is shown the runners' token", FORGE_GITLAB, "", SELF("\"api\""),
	"", "[" LAB("me/shop", LEVEL("40"), "null", RUNNERS) "]",
	"failed its token is shown that of the runners, which a session "
	"refuses: me/shop (Maintainer)\n"
	"good its token can write no repository beyond the list\n"},
    {"the same, with the word for it", FORGE_GITLAB, "\"classic\": true",
	SELF("\"api\""), "",
	"[" LAB("me/shop", "null", LEVEL("50"), RUNNERS) "]",
	"note its token is shown that of the runners, which a session "
	"refuses: me/shop (Owner)\n"
	"good its token can write no repository beyond the list\n"},
    {"a personal token", FORGE_GITLAB, "",
	SELF("\"api\", \"sudo\", \"create_runner\""), "",
	"[" LAB("me/shop", "null", LEVEL("30"), "") "," LAB("me/diary",
	    LEVEL("50"), "null", RUNNERS) "," LAB("g/sub/site", LEVEL("30"),
	    LEVEL("40"), "") "," LAB("g/read", LEVEL("20"), "null", "") "]",
	"note its token has scopes that no request of a session needs: sudo, "
	"create_runner\n"
	"note its token can write, beyond the list: me/diary (Owner), "
	"g/sub/site (Maintainer)\n"},
    {"one that only reads", FORGE_GITLAB, "",
	SELF("\"read_api\", \"read_repository\""), "",
	"[" LAB("me/diary", LEVEL("50"), "null", "") "]",
	"good its token can change nothing: its scopes are read_api, "
	"read_repository\n"},
    {"a GitLab that says nothing about tokens", FORGE_GITLAB, "", NULL, "",
	"[" LAB("me/diary", LEVEL("30"), "null", "") "]",
	"note the scopes of its token are not known\n"
	"note its token can write, beyond the list: me/diary\n"},
    {"roles that are not said", FORGE_GITLAB, "", SELF("\"api\""), "",
	"[" LAB("me/diary", "null", "null", "") "," LAB("me/b", "{}", "[]",
	    "") "," LAB("me/c", LEVEL("\"30\""), "null", "") "]",
	"note the forge does not say what its token can do with: me/diary, "
	"me/b, me/c\n"},
    {"another page of GitLab", FORGE_GITLAB, "", SELF("\"api\""),
	"X-Next-Page: 2\r\n", "[" LAB("me/shop", LEVEL("30"), "null", "") "]",
	"note it has more repositories than the first 1, which were looked "
	"at\n"},
    {"the last page of GitLab", FORGE_GITLAB, "", SELF("\"api\""),
	"X-Next-Page: \r\n", "[" LAB("me/shop", LEVEL("30"), "null", "") "]",
	"good its token can write no repository beyond the list\n"},

    {"Gitea, an account with one repository", FORGE_GITEA, "", NULL, "",
	"[" TEA("me/shop", "true", "true") "," TEA("o/x", "false", "false") "]",
	"good its token can write no repository beyond the list\n"},
    {"Gitea, another page", FORGE_GITEA, "", NULL, "X-Total-Count: 2\r\n",
	"[" TEA("me/shop", "true", "true") "]",
	"note it has more repositories than the first 1, which were looked "
	"at\n"},
    {"Gitea, the last page", FORGE_GITEA, "", NULL, "X-Total-Count: 1\r\n",
	"[" TEA("me/shop", "true", "true") "]",
	"good its token can write no repository beyond the list\n"},
    {"Gitea, an account with more", FORGE_GITEA, "", NULL, "",
	"[" TEA("me/shop", "true", "true") "," TEA("me/diary", "true",
	    "true") "," TEA("o/x", "false", "true") "]",
	"note its token reaches, beyond the list, repositories that its "
	"account can write: me/diary, o/x\n"},
};

static struct buf said;

static void
take(enum grade g, const char *what, const char *found, const char *remedy)
{
	static const char *const names[] = {
	    "good", "note", "bad", "wrong", "failed"};

	ok(strcmp(what, "forge") == 0 && strncmp(found, "shop: ", 6) == 0 &&
		(g == GOOD) <= (remedy == NULL),
	    "it is about the destination");
	buf_printf(&said, "%s %s\n", names[g], found + 6);
}

/* Read an answer as ic-asker does. */
static void
answer(const char *headers, const char *body, struct buf *lines)
{
	struct list_page page;
	struct buf text;

	buf_init(&text, 65536);
	buf_printf(&text,
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s"
	    "Content-Length: %zu\r\n\r\n%s",
	    headers, strlen(body), body);
	ok(list_complete(buf_span(&text)) &&
		list_read(buf_span(&text), lines, &page) == 0,
	    "the answer is read");
	if (page.more || page.n < page.total)
		buf_adds(lines, "rest\n");
	buf_free(&text);
}

static void
try_row(size_t i)
{
	struct forge_dest d = {
	    .check = take, .name = "shop", .kind = rows[i].kind};
	struct buf token, list;
	char own[200];

	buf_init(&said, 65536);
	buf_init(&token, 65536);
	buf_init(&list, 65536);
	snprintf(own, sizeof(own), "{\"repositories\": [\"me/shop\"]%s%s}",
	    rows[i].own[0] == '\0' ? "" : ", ", rows[i].own);
	d.own = json_tokener_parse(own);
	if (rows[i].token != NULL)
		answer("", rows[i].token, &token);
	answer(rows[i].headers, rows[i].list, &list);
	forge_judge(&d, buf_span(&token), buf_span(&list));
	is_mem(buf_span(&said).p, said.len, rows[i].said, strlen(rows[i].said),
	    "%s", rows[i].what);
	json_object_put(d.own);
	buf_free(&list);
	buf_free(&token);
	buf_free(&said);
}

int
main(void)
{
	for (size_t i = 0; i < nitems(rows); i++)
		try_row(i);
	return tap_done();
}
