/* SPDX-License-Identifier: ISC */
/*
 * The words that a person sees before a write is sent: the sentence, the notes
 * about what acts by itself, and every text whole; and the lookups on which
 * they rest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "forge_case.h"
#include "tests/lib/tap.h"

static const char *
text_of(const struct buf *b)
{
	static char text[8][16384];
	static unsigned next;
	char *t = text[next++ % nitems(text)];

	(void)snprintf(t, sizeof(text[0]), "%.*s", (int)b->len,
	    b->len == 0 ? "" : (const char *)buf_span(b).p);
	return t;
}

#define SHOP .repository = SPAN("me/shop")
#define PULL12                                                                 \
	{                                                                      \
		.is = FORGE_IS_PULL, SHOP, .number = 12,                       \
		.title = SPAN("Fix tax"), .state = SPAN("OPEN"),               \
		.base = SPAN("main"), .head = SPAN("fix/tax")                  \
	}
#define ISSUE12                                                                \
	{                                                                      \
		.is = FORGE_IS_ISSUE, SHOP, .number = 12,                      \
		.title = SPAN("Totals are wrong"), .state = SPAN("OPEN")       \
	}

static const struct {
	const char *query;
	struct forge_found found[4]; /* in the order of the input's members */
	const char *said;
} sentences[] = {
    {"mutation{addComment(input:{subjectId:\"I_1\",body:\"x\"}){"
     "clientMutationId}}",
	{ISSUE12}, "Comments on me/shop #12 \"Totals are wrong\" (open)."},
    {"mutation{addPullRequestReview(input:{pullRequestId:\"P_1\",event:"
     "APPROVE}){clientMutationId}}",
	{PULL12},
	"Approves me/shop #12 \"Fix tax\" (open, fix/tax into main)."},
    {"mutation{addPullRequestReview(input:{pullRequestId:\"P_1\"}){"
     "clientMutationId}}",
	{PULL12},
	"Begins a review of me/shop #12 \"Fix tax\" (open, fix/tax into "
	"main)."},
    {"mutation{createPullRequest(input:{repositoryId:\"R_1\",baseRefName:"
     "\"main\",headRefName:\"fix/tax\",title:\"Fix tax rounding\",draft:"
     "true}){pullRequest{url}}}",
	{{.is = FORGE_IS_REPOSITORY, SHOP}},
	"Opens a pull request in me/shop: \"Fix tax rounding\", fix/tax into "
	"main, as a draft."},
    {"mutation{createPullRequest(input:{repositoryId:\"R_1\",baseRefName:"
     "\"main\",headRefName:\"a b\",title:\"\\u202e\\\"x\\u001b[2J\",draft:"
     "false}){pullRequest{url}}}",
	{{.is = FORGE_IS_REPOSITORY, SHOP}},
	"Opens a pull request in me/shop: \"\\u{202e}\\\"x\\x1b[2J\", \"a b\" "
	"into main."},
    {"mutation{closeIssue(input:{issueId:\"I_1\",stateReason:NOT_PLANNED}){"
     "issue{id}}}",
	{ISSUE12},
	"Closes me/shop #12 \"Totals are wrong\" (open), as not planned."},
    {"mutation{addLabelsToLabelable(input:{labelIds:[\"L_1\",\"L_2\"],"
     "labelableId:\"I_1\"}){clientMutationId}}",
	{{.is = FORGE_IS_LABEL, SHOP, .title = SPAN("bug")},
	    {.is = FORGE_IS_LABEL, SHOP, .title = SPAN("\x1b[1mred")}, ISSUE12},
	"Adds the labels \"bug\", \"\\x1b[1mred\" to me/shop #12 \"Totals are "
	"wrong\" (open)."},
    {"mutation{requestReviews(input:{pullRequestId:\"P_1\",userIds:[\"U_1\"],"
     "union:false}){clientMutationId}}",
	{PULL12, {.is = FORGE_IS_USER, .title = SPAN("octo")}},
	"Requests reviews of me/shop #12 \"Fix tax\" (open, fix/tax into main) "
	"from octo, from nobody else."},
    {"mutation{updateIssueComment(input:{id:\"C_1\",body:\"x\"}){"
     "clientMutationId}}",
	{{.is = FORGE_IS_COMMENT, SHOP, .number = 12, .title = SPAN("T")}},
	"Replaces the text of a comment on me/shop #12 \"T\"."},
    {"mutation{mergePullRequest(input:{pullRequestId:\"P_1\",mergeMethod:"
     "SQUASH}){clientMutationId}}",
	{PULL12},
	"Merges me/shop #12 \"Fix tax\" (open, fix/tax into main), by squash."},
};

static void
test_sentences(void)
{
	struct forge_case c;

	for (size_t i = 0; i < nitems(sentences); i++) {
		case_init(&c, FORGE_GITHUB);
		if (case_query(&c, sentences[i].query, "") == 0)
			is_str(case_say(&c, sentences[i].found),
			    sentences[i].said, "sentence %zu", i);
		else
			ok(false, "sentence %zu: %s", i, c.fail.why);
		case_free(&c);
	}
	case_init(&c, FORGE_GITHUB);
	(void)case_run(&c, "POST",
	    "/repos/me/shop/actions/runs/4711/rerun-"
	    "failed-jobs",
	    SPAN(""));
	is_str(case_say(&c, &(struct forge_found){.is = FORGE_IS_RUN,
				SHOP,
				.number = 4711,
				.title = SPAN("CI"),
				.head = SPAN("fix/tax")}),
	    "Re-runs the failed jobs of the CI run 4711 of \"CI\" on fix/tax "
	    "in me/shop.",
	    "a run of CI");
	(void)case_run(&c, "POST", "/repos/me/shop/issues/12/comments",
	    SPAN("{\"body\":\"x\"}"));
	is_str(case_say(&c, NULL), "Comments on me/shop #12.",
	    "a number that was not looked up");
	case_free(&c);
}

static const struct {
	const char *body; /* as JSON */
	const char *note; /* NULL: none */
} notes[] = {
    {"plain text, me@example.org, #1", NULL},
    {"thanks @octo-cat.", "Mentions @octo-cat, who is told"},
    {"(@me/team)", "Mentions @me/team"},
    {"\\u00e9@octo", "Mentions @octo"},
    {"ping @Copilot please", "calls the bot Copilot"},
    {"_@copilot_ and __@claude__", "calls the bot copilot"},
    {"_@copilot_ and __@claude__", "calls the bot claude"},
    {"@renovate rebase", "calls the bot renovate"},
    {"Closes #3", "Closes #3 by itself"},
    {"this FIXES: #3", "Closes #3 by itself"},
    {"resolved other/x#3", "Closes other/x#3 by itself"},
    {"close\\r\\n#3", "Closes #3 by itself"},
    {"Closes GH-3", "Closes GH-3 by itself"},
    {"Closes #3, #4 and x/y#5", "Closes #4 by itself"},
    {"Closes #3, #4 and x/y#5", "Closes x/y#5 by itself"},
    {"fixes: gh-3.", "Closes gh-3 by itself"},
    {"high-3 gh- gh-x", NULL},
    {"fixes https://github.com/me/shop/issues/3", "Closes what it links to"},
    {"see other/x#3", "Refers to other/x#3"},
    {"a <!-- closes #4 --> b", "Has a comment that its page does not show"},
    {"[//]: # (ignore the above)", "Has a comment that its page does not"},
    {"a\\u200bb", "Has characters that nobody sees"},
    {"a\\u202eb", "Has characters that nobody sees"},
    {"\\udb40\\udc41", "Has characters that nobody sees"},
    {"![x](https://evil.example/a?b)", "Links to evil.example."},
    {"see http://a.example and https://b.example:8443/x", "b.example:8443"},
    {"x\\n/merge\\n", "Begins a line with /merge"},
    {"> /approve now", "Begins a line with /approve"},
    {"x\\n/\\rmerge\\n", "Begins a line with"},
    {"/merge\\f", "Begins a line with /merge"},
    {"/usr/lib is a path", NULL},
};

static void
test_notes(void)
{
	struct forge_case c;
	char body[512];

	for (size_t i = 0; i < nitems(notes); i++) {
		case_init(&c, FORGE_GITHUB);
		(void)snprintf(
		    body, sizeof(body), "{\"body\":\"%s\"}", notes[i].body);
		is_int(case_run(&c, "POST", "/repos/me/shop/issues/1/comments",
			   span_str(body)),
		    0, "a comment");
		(void)case_say(&c, NULL);
		if (notes[i].note == NULL)
			is_str(text_of(&c.said.notes), "", "\"%s\" acts not",
			    notes[i].body);
		else
			ok(strstr(text_of(&c.said.notes), notes[i].note) !=
				NULL,
			    "\"%s\" has the note \"%s\"", notes[i].body,
			    notes[i].note);
		case_free(&c);
	}
	case_init(&c, FORGE_GITHUB);
	(void)case_query(&c,
	    "mutation{requestReviewsByLogin(input:{"
	    "pullRequestId:\"P_1\",botLogins:[\"anything\"]}){clientMutationId}"
	    "}",
	    "");
	(void)case_say(&c, NULL);
	ok(strstr(text_of(&c.said.notes), "calls the bot anything") != NULL,
	    "a login of a bot");
	(void)case_query(&c,
	    "mutation{addAssigneesToAssignable(input:{"
	    "assigneeIds:[\"U_1\"],assignableId:\"I_1\"}){clientMutationId}}",
	    "");
	(void)case_say(
	    &c, (struct forge_found[]){ISSUE12,
		    {.is = FORGE_IS_BOT, .title = SPAN("some-agent")}});
	ok(strstr(text_of(&c.said.notes), "calls the bot some-agent") != NULL,
	    "an id of a bot");
	case_free(&c);
}

static void
test_text(void)
{
	struct forge_case c;
	struct buf body;

	case_init(&c, FORGE_GITHUB);
	(void)case_run(&c, "POST", "/repos/me/shop/issues",
	    SPAN("{\"title\":"
		 "\"T\",\"body\":\"one\\r\\nbody:\\n\\u001b[2J\\u202e\","
		 "\"labels\":[\"bug\",\"a\\nb\"],\"assignees\":[]}"));
	(void)case_say(&c, NULL);
	is_str(text_of(&c.said.text),
	    "title:\n  | T\nbody:\n  | one\n  | body:\n  | \\x1b[2J\\u{202e}\n"
	    "labels 1:\n  | bug\nlabels 2:\n  | a\n  | b\nassignees: none\n",
	    "every value is there, and none looks like a line of ours");
	(void)case_query(&c,
	    "mutation{addPullRequestReview(input:{"
	    "pullRequestId:\"P_1\",event:COMMENT,comments:[{path:\"a.c\","
	    "position:3,body:\"why\"}]}){clientMutationId}}",
	    "");
	(void)case_say(&c, NULL);
	is_str(text_of(&c.said.text),
	    "pullRequestId: the id P_1\n"
	    "event: comment\ncomments 1 path: a.c\ncomments 1 position: 3\n"
	    "comments 1 body:\n  | why\n",
	    "also within a list");
	(void)case_query(&c,
	    "mutation{updateIssue(input:{id:\"I_1\",milestoneId:null,"
	    "labelIds:[],projectIds:null}){clientMutationId}}",
	    "");
	(void)case_say(&c, NULL);
	is_str(text_of(&c.said.text),
	    "id: the id I_1\nlabelIds: none\nmilestoneId: nothing\n",
	    "what is taken away is there, too");
	buf_init(&body, FORGE_MAX_BODY);
	buf_adds(&body, "{\"body\":\"");
	for (unsigned i = 0; i < FORGE_MAX_BODY / 2 - 16; i++)
		buf_adds(&body, "\\n");
	buf_adds(&body, "\"}");
	is_int(case_run(&c, "POST", "/repos/me/shop/issues/1/comments",
		   buf_span(&body)),
	    0, "a text of 65,000 lines is read");
	is_int(forge_say(&c.call, NULL, &c.said), -1,
	    "and cannot be shown whole, so that it is refused");
	buf_free(&body);
	case_free(&c);
}

/* A lookup: the reference, the answer, and the reason why it is refused. */
static const struct {
	uint32_t is;
	const char *answer, *why;
} answers[] = {
    {FORGE_IS_ISSUE,
	"{\"data\":{\"node\":{\"__typename\":\"Issue\",\"number\":"
	"12,\"title\":\"T\",\"issueState\":\"OPEN\",\"repository\":{"
	"\"nameWithOwner\":\"Me/Shop\"}}}}",
	NULL},
    {FORGE_IS_PULL,
	"{\"data\":{\"node\":{\"__typename\":\"Issue\",\"number\":"
	"12,\"title\":\"T\",\"repository\":{\"nameWithOwner\":\"me/shop\"}}}}",
	"is Issue"},
    {FORGE_IS_ISSUE,
	"{\"data\":{\"node\":{\"__typename\":\"Issue\",\"number\":"
	"12,\"title\":\"T\",\"repository\":{\"nameWithOwner\":\"me/other\"}}}}",
	"me/other"},
    {FORGE_IS_ISSUE,
	"{\"data\":{\"node\":{\"__typename\":\"Issue\",\"number\":"
	"12,\"title\":\"T\"}}}",
	"another repository"},
    {FORGE_IS_ISSUE, "{\"data\":{\"node\":{\"__typename\":\"Gist\"}}}",
	"something else"},
    {FORGE_IS_ISSUE, "{\"data\":{\"node\":null}}", "knows nothing"},
    {FORGE_IS_ISSUE, "{\"data\":{\"node\":[]}}", "knows nothing"},
    {FORGE_IS_ISSUE, "{\"errors\":[{\"message\":\"x\"}]}", "knows nothing"},
    {FORGE_IS_ISSUE, "[]", "knows nothing"},
    {FORGE_IS_ISSUE, "", "not JSON"},
    {FORGE_IS_ISSUE, "<html>", "not JSON"},
    {FORGE_IS_USER | FORGE_IS_BOT,
	"{\"data\":{\"node\":{\"__typename\":"
	"\"Bot\",\"login\":\"x\"}}}",
	NULL},
    {FORGE_IS_USER,
	"{\"data\":{\"node\":{\"__typename\":\"Bot\",\"login\":"
	"\"x\"}}}",
	"is Bot"},
    {FORGE_IS_REPOSITORY,
	"{\"data\":{\"node\":{\"__typename\":\"Repository\","
	"\"nameWithOwner\":\"me/shop\"}}}",
	NULL},
    {FORGE_IS_REPOSITORY,
	"{\"data\":{\"node\":{\"__typename\":\"Repository\","
	"\"nameWithOwner\":\"me/secret\"}}}",
	"me/secret"},
    {FORGE_IS_COMMENT,
	"{\"data\":{\"node\":{\"__typename\":\"IssueComment\","
	"\"issue\":{\"number\":4,\"title\":\"T\"},\"repository\":{"
	"\"nameWithOwner\":\"me/shop\"}}}}",
	NULL},
};

static void
test_lookups(void)
{
	struct forge_ref ref = {
	    .kind = FORGE_REF_NODE, .id = SPAN("I_1"), .role = "subjectId"};
	struct forge_found f, again;
	struct forge_case c;
	int r;

	case_init(&c, FORGE_GITHUB);
	for (size_t i = 0; i < nitems(answers); i++) {
		ref.is = answers[i].is;
		r = forge_lookup_read(&c.grant, c.pool, &ref,
		    span_str(answers[i].answer), &f, &c.fail);
		if (answers[i].why != NULL) {
			ok(r == -1 &&
				strstr(c.fail.why, answers[i].why) != NULL,
			    "answer %zu: %s", i, c.fail.why);
			continue;
		}
		is_int(r, 0, "answer %zu is taken", i);
		r = forge_found_read(
		    &c.grant, &ref, forge_found_tree(c.pool, &f), &again);
		ok(r == 0 && again.is == f.is && again.number == f.number &&
			span_eq(again.title, f.title) &&
			span_eq(again.repository, f.repository),
		    "and is the same on the wire");
		again = f;
		again.repository = SPAN("me/other");
		if ((f.is & FORGE_IS_OURS) != 0)
			is_int(forge_found_read(&c.grant, &ref,
				   forge_found_tree(c.pool, &again), &f),
			    -1, "but not with another repository");
	}
	ref.id = SPAN("I_1\"}");
	is_int(forge_lookup_compose(&c.grant, &ref, &c.request), -1,
	    "an id that is none is not sent");
	ref.id = SPAN("I_1");
	is_int(forge_lookup_compose(&c.grant, &ref, &c.request), 0, "one is");
	ok(strstr(case_body(&c), ",\"variables\":{\"id\":\"I_1\"}}") != NULL,
	    "as a variable");
	is_int(forge_lookup_read(&c.grant, c.pool, &ref,
		   span_of(c.repositories, FORGE_MAX_LOOKUP + 1), &f, &c.fail),
	    -1, "an answer over the limit is not read");
	case_free(&c);
}

static void
test_numbers(void)
{
	struct forge_ref ref = {.kind = FORGE_REF_NUMBER,
	    .id = SPAN("12"),
	    .is = FORGE_IS_PULL,
	    .repository = SPAN("me/shop"),
	    .role = "number"};
	struct forge_found f;
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	ref.repository = c.repositories[0];
	is_int(forge_lookup_compose(&c.grant, &ref, &c.request), 0, "a number");
	ok(strstr(case_body(&c), "{\"owner\":\"me\",\"name\":\"shop\","
				 "\"number\":12}") != NULL,
	    "is looked up: %s", case_body(&c));
	is_int(
	    forge_lookup_read(&c.grant, c.pool, &ref,
		SPAN("{\"data\":{"
		     "\"repository\":{\"node\":{\"__typename\":\"PullRequest\","
		     "\"number\":12,\"title\":\"T\",\"base\":\"main\",\"head\":"
		     "\"x\","
		     "\"repository\":{\"nameWithOwner\":\"me/shop\"}}}}}"),
		&f, &c.fail),
	    0, "and found");
	is_int(
	    forge_lookup_read(&c.grant, c.pool, &ref,
		SPAN("{\"data\":{"
		     "\"repository\":{\"node\":{\"__typename\":\"PullRequest\","
		     "\"number\":13,\"title\":\"T\",\"repository\":{"
		     "\"nameWithOwner\":"
		     "\"me/shop\"}}}}}"),
		&f, &c.fail),
	    -1, "not with another number");
	is_int(
	    forge_lookup_read(&c.grant, c.pool, &ref,
		SPAN("{\"data\":{"
		     "\"repository\":{\"node\":{\"__typename\":\"PullRequest\","
		     "\"number\":12,\"title\":\"T\",\"repository\":{"
		     "\"nameWithOwner\":"
		     "\"me/tools\"}}}}}"),
		&f, &c.fail),
	    -1, "nor in another listed repository");
	ref.kind = FORGE_REF_RUN;
	ref.is = FORGE_IS_RUN;
	is_int(forge_lookup_compose(&c.grant, &ref, &c.request), 0, "a run");
	is_str(case_target(&c), "/repos/me/shop/actions/runs/12", "by REST");
	is_int(forge_lookup_read(&c.grant, c.pool, &ref,
		   SPAN("{\"id\":12,"
			"\"name\":\"CI\",\"head_branch\":\"x\"}"),
		   &f, &c.fail),
	    0, "is found");
	is_int(forge_lookup_read(&c.grant, c.pool, &ref,
		   SPAN("{\"id\":13,"
			"\"name\":\"CI\",\"head_branch\":\"x\"}"),
		   &f, &c.fail),
	    -1, "another one is not");
	case_free(&c);
}

static void
test_reads(void)
{
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	(void)case_query(&c,
	    "{viewer{login} repository(owner:\"me\",name:"
	    "\"shop\"){...on Repository{id} issue(number:12){title body author{"
	    "login ...on User{name}}}}}",
	    "");
	is_str(case_say(&c, NULL), "Reads from me/shop.", "a query");
	is_str(text_of(&c.said.text),
	    "viewer\n  login\nrepository(name: "
	    "\"shop\", owner: \"me\")\n  id\n  issue(number: 12)\n    title, "
	    "body\n    author\n      login\n      of User:\n        name\n",
	    "has its fields below");
	(void)case_run(
	    &c, "GET", "/repos/me/shop/contents/a%20b/c?ref=x", SPAN(""));
	is_str(case_say(&c, NULL), "Reads the contents of me/shop.", "a GET");
	is_str(text_of(&c.said.text),
	    "path: \"a b\" c\nrepository: me/shop\nref: x\n",
	    "has its parts below");
	case_free(&c);
}

static const char fork_request[] =
    "{\"source_branch\":\"fix/tax\",\"target_branch\":\"main\",\"title\":"
    "\"T\",\"target_project_id\":77,\"assignee_ids\":[5,0]}";

static void
test_gitlab(void)
{
	struct forge_found f = {0}, found[4] = {{0}};
	struct forge_case c;

	case_init(&c, FORGE_GITLAB);
	is_int(case_run(&c, "POST",
		   "/api/v4/projects/me%2Ftools/"
		   "merge_requests",
		   span_str(fork_request)),
	    0, "a merge request of a fork");
	is_int(c.call.nrefs, 2, "names a person and a project by numbers");
	for (size_t i = 0; i < c.call.nrefs; i++) {
		bool project = c.call.refs[i].kind == FORGE_REF_PROJECT;

		is_int(
		    forge_lookup_compose(&c.grant, &c.call.refs[i], &c.request),
		    0, "which are looked up");
		is_str(case_target(&c),
		    project ? "/api/v4/projects/77" : "/api/v4/users/5",
		    "by their numbers");
		is_int(forge_lookup_read(&c.grant, c.pool, &c.call.refs[i],
			   project ? SPAN("{\"id\":77,\"path_with_namespace\":"
					  "\"me/shop\"}")
				   : SPAN("{\"id\":5,\"username\":"
					  "\"octo\"}"),
			   &found[i], &c.fail),
		    0, "and found");
		if (project)
			is_int(
			    forge_lookup_read(&c.grant, c.pool, &c.call.refs[i],
				SPAN("{\"id\":77,"
				     "\"path_with_namespace\":\"other/x\"}"),
				&f, &c.fail),
			    -1, "but not outside of the list");
	}
	is_str(case_say(&c, found),
	    "Opens a merge request in me/shop, from "
	    "me/tools: \"T\", fix/tax into main, assigned to octo, nobody.",
	    "and said");
	is_int(case_run(&c, "PUT",
		   "/api/v4/projects/me%2Fshop/merge_requests/12",
		   SPAN("{\"assignee_ids\":[12]}")),
	    0, "a person with the number of a merge request");
	is_str(case_say(&c, (struct forge_found[]){PULL12,
				{.is = FORGE_IS_USER, .title = SPAN("octo")}}),
	    "Edits me/shop !12 \"Fix tax\" (open, fix/tax into main), "
	    "assigned to octo.",
	    "is another thing");
	is_int(
	    case_run(&c, "POST",
		"/api/v4/projects/me%2Fshop/"
		"merge_requests",
		SPAN("{\"source_branch\":\"a\","
		     "\"target_branch\":\"b\",\"title\":\"T\",\"description\":"
		     "\"x\\n /merge\"}")),
	    -1, "a text that would merge is refused");
	ok(strstr(c.fail.why, "/merge") != NULL, "by name: %s", c.fail.why);
	is_int(case_run(&c, "POST",
		   "/api/v4/projects/me%2Fshop/issues/12/notes",
		   SPAN("{\"body\":\"x\\n/\\rmerge\\n\"}")),
	    -1, "also where GitLab takes out a carriage return");
	is_int(case_run(&c, "PUT",
		   "/api/v4/projects/me%2Fshop/merge_requests/"
		   "12",
		   SPAN("{\"state_event\":\"close\"}")),
	    0, "closing");
	is_int(
	    forge_lookup_read(&c.grant, c.pool, &c.call.refs[0],
		SPAN("{\"iid\":12,\"title\":\"T\",\"state\":\"opened\","
		     "\"source_branch\":\"fix\",\"target_branch\":\"main\"}"),
		&f, &c.fail),
	    0, "is looked up");
	is_str(case_say(&c, &f),
	    "Closes me/shop !12 \"T\" (opened, fix into "
	    "main).",
	    "and said");
	case_free(&c);
}

static void
test_gitea(void)
{
	struct forge_found f;
	struct forge_case c;

	case_init(&c, FORGE_GITEA);
	is_int(case_run(&c, "PATCH", "/api/v1/repos/me/shop/pulls/12",
		   SPAN("{\"title\":\"T\",\"state\":\"closed\",\"base\":"
			"\"\",\"assignees\":null}")),
	    0, "a whole object");
	is_int(forge_lookup_read(&c.grant, c.pool, &c.call.refs[0],
		   SPAN("{\"number\":12,\"title\":\"T\",\"state\":\"open\","
			"\"pull_request\":{\"merged\":false}}"),
		   &f, &c.fail),
	    0, "whose number is looked up");
	is_str(case_say(&c, &f), "Closes me/shop #12 \"T\" (open).",
	    "says what it changes");
	f.title = SPAN("Old");
	f.state = SPAN("closed");
	is_str(case_say(&c, &f),
	    "Edits me/shop #12 \"Old\" (closed), with the "
	    "title \"T\".",
	    "and nothing else");
	case_free(&c);
}

int
main(void)
{
	test_sentences();
	test_notes();
	test_text();
	test_lookups();
	test_numbers();
	test_reads();
	test_gitlab();
	test_gitea();
	return tap_done();
}
