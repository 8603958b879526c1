/* SPDX-License-Identifier: ISC */
/*
 * GraphQL as an agent may send it: what hostile_graphql.txt has is refused for
 * the reason that it names, or is sent as it says; what tools of the forge ask
 * for is permitted.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "forge_case.h"
#include "tests/lib/tap.h"

/* The most columns of a row. */
#define COLUMNS 4

static void
row(char *line, unsigned number)
{
	char *column[COLUMNS] = {"", "", "", ""}, *rest = line;
	struct forge_case c;
	int r;

	for (size_t i = 0; i < COLUMNS && rest != NULL; i++)
		column[i] = strsep(&rest, "\t");
	case_init(&c, FORGE_GITHUB);
	if (column[0][0] == 'b')
		r = case_run(&c, "POST", "/graphql", span_str(column[2]));
	else
		r = case_query(&c, column[2], column[3]);
	if (column[0][0] == 'a')
		is_str(r == 0 ? case_body(&c) : c.fail.why, column[1],
		    "row %u is sent as it was checked", number);
	else
		ok(r == -1 && strstr(c.fail.why, column[1]) != NULL,
		    "row %u, \"%s\": %s", number, column[1],
		    r == 0 ? case_body(&c) : c.fail.why);
	case_free(&c);
}

static void
test_hostile(const char *dir)
{
	static char line[16384];
	char path[4096];
	unsigned number = 0, rows = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/hostile_graphql.txt", dir);
	if ((f = fopen(path, "re")) == NULL)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		number++;
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		row(line, number);
		rows++;
	}
	fclose(f);
	ok(rows >= 200, "%u hostile texts", rows);
}

/* Queries of the shapes that gh makes for its commands. */
static const struct {
	const char *what, *query, *variables;
} permitted[] = {
    {"who am I", "query UserCurrent{viewer{login}}", ""},
    {"a repository and its parent",
	"fragment r on Repository{id name owner{login} hasIssuesEnabled "
	"defaultBranchRef{name} viewerPermission} query($o:String!,$n:String!)"
	"{repository(owner:$o,name:$n){...r parent{...r} mergeCommitAllowed}}",
	"{\"o\":\"me\",\"n\":\"shop\"}"},
    {"a list of pull requests",
	"query($s:[PullRequestState!]=OPEN,$h:String){repository(owner:\"ME\","
	"name:\"Shop\"){pullRequests(states:$s,headRefName:$h,first:30,orderBy:"
	"{field:CREATED_AT,direction:DESC}){totalCount nodes{number "
	"headRepositoryOwner{id,login,...on User{name}}}pageInfo{hasNextPage,"
	"endCursor}}}}",
	"{\"h\":null}"},
    {"a search for pull requests",
	"query($q:String!){search(query:$q,type:ISSUE,first:30){issueCount "
	"nodes{...on PullRequest{number title}}}}",
	"{\"q\":\"repo:me/shop is:pr author:@me label:\\\"a b\\\"\"}"},
    {"the checks of a pull request",
	"query($id:ID!,$c:String){node(id:$id){...on PullRequest{"
	"statusCheckRollup:commits(last:1){nodes{commit{statusCheckRollup{"
	"contexts(first:100,after:$c){nodes{__typename ...on StatusContext{"
	"context isRequired(pullRequestId:$id)}...on CheckRun{name checkSuite{"
	"workflowRun{workflow{name}}}isRequired(pullRequestId:$id)}}}}}}}}}}",
	"{\"id\":\"PR_kwDO1\"}"},
    {"an issue or a pull request",
	"{repository(owner:\"me\",name:\"shop\"){hasIssuesEnabled issue:"
	"issueOrPullRequest(number:12){__typename ...on Issue{id url comments("
	"first:100){nodes{id author{login ...on User{id name}}body}}}...on "
	"PullRequest{id url}}}}",
	""},
    {"people and labels by name",
	"{u000:user(login:\"octo\"){id login} repository(owner:\"me\",name:"
	"\"shop\"){l000:label(name:\"bug\"){id name}} organization(login:"
	"\"me\"){t000:team(slug:\"core\"){id slug}}}",
	""},
    {"the fields of a type",
	"query PullRequest_fields{PullRequest:__type(name:\"PullRequest\"){"
	"fields(includeDeprecated:true){name}}}",
	""},
    {"protection of a branch, as one yes or no",
	"{repository(owner:\"me\",name:\"shop\"){pullRequest(number:1){"
	"baseRef{branchProtectionRule{requiresStrictStatusChecks}}}}}",
	""},
    {"people who may be assigned, bots among them",
	"query($id:ID!,$q:String){node(id:$id){...on Issue{assignedActors("
	"first:10){nodes{...on User{id login name __typename}...on Bot{id "
	"login __typename}}totalCount}suggestedActors(first:10,query:$q){"
	"nodes{__typename ...on Bot{id}}}}}repository(owner:\"me\",name:"
	"\"shop\"){suggestedActors(first:9,capabilities:CAN_BE_ASSIGNED){"
	"nodes{...on User{id}}}}}",
	"{\"id\":\"I_1\",\"q\":\"\"}"},
    {"counts of checks, and what a pull request closes",
	"{repository(owner:\"me\",name:\"shop\"){pullRequest(number:1){"
	"commits(last:1){nodes{commit{statusCheckRollup{contexts{checkRunCount "
	"checkRunCountsByState{state count}}}}}}closingIssuesReferences(first:"
	"9){nodes{id number url repository{id name owner{id login}}}pageInfo{"
	"hasNextPage}}projectItems(first:9){nodes{id project{id title}status:"
	"fieldValueByName(name:\"Status\"){...on "
	"ProjectV2ItemFieldSingleSelectValue{optionId name}}}}autoMergeRequest{"
	"mergeMethod enabledBy{login ...on User{id name}}}}}}",
	""},
    {"the kinds of searches",
	"{SearchType:__type(name:\"SearchType\"){enumValues(includeDeprecated:"
	"true){name}}search(query:\"repo:me/shop is:open\",type:"
	"ISSUE_ADVANCED,first:1){issueCount}}",
	""},
    {"an issue as gh 2.96 shows it",
	"query IssueByNumber($owner:String!,$repo:String!,$number:Int!){"
	"repository(owner:$owner,name:$repo){hasIssuesEnabled issue:"
	"issueOrPullRequest(number:$number){__typename ...on "
	"Issue{number,title,"
	"issueType{id,name,description,color},parent{id,number,title,url,state,"
	"repository{nameWithOwner}},subIssues(first:100){nodes{id,number,title,"
	"url,state,repository{nameWithOwner}},totalCount},subIssuesSummary{"
	"total,completed,percentCompleted},blockedBy(first:50){nodes{id,number,"
	"title,url,state,repository{nameWithOwner}},totalCount},blocking(first:"
	"50){nodes{id,number,title,url,state,repository{nameWithOwner}},"
	"totalCount}} ...on PullRequest{id,number}}}}",
	"{\"owner\":\"me\",\"repo\":\"shop\",\"number\":12}"},
    {"a search with words, as gh makes it since 2.83",
	"query($q:String!,$t:SearchType!){search(query:$q,type:$t,first:30){"
	"issueCount nodes{...on Issue{number,title}}}}",
	"{\"q\":\"( crash label:\\\"a b\\\" ) repo:me/shop type:issue\","
	"\"t\":\"ISSUE_ADVANCED\"}"},
    {"threads of reviews, and who may review",
	"{repository(owner:\"me\",name:\"shop\"){pullRequest(number:1){"
	"reviewThreads(first:100){nodes{id isResolved isCollapsed startLine "
	"diffSide subjectType viewerCanResolve resolvedBy{login}comments(last:"
	"5){nodes{id fullDatabaseId author{login}authorAssociation body state "
	"updatedAt}}}}latestOpinionatedReviews(first:9,writersOnly:true){nodes{"
	"author{login}state}}suggestedReviewerActors(first:10,query:\"o\"){"
	"nodes{isAuthor isCommenter reviewer{__typename ...on User{login,name}"
	"...on Bot{login}}}}}}}",
	""},
    {"releases",
	"{repository(owner:\"me\",name:\"tools\"){releases(first:9,orderBy:"
	"{field:CREATED_AT,direction:DESC}){nodes{tagName isDraft isLatest}}}}",
	""},
};

static void
test_permitted(void)
{
	struct forge_case c;

	for (size_t i = 0; i < nitems(permitted); i++) {
		case_init(&c, FORGE_GITHUB);
		is_str(case_query(
			   &c, permitted[i].query, permitted[i].variables) == 0
			   ? ""
			   : c.fail.why,
		    "", "%s", permitted[i].what);
		is_int(c.call.class, FORGE_READ, "it is a read");
		case_free(&c);
	}
}

static void
test_references(void)
{
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	ok(case_query(&c,
	       "query($id:ID!){node(id:$id){...on PullRequest{"
	       "commits(last:1){nodes{commit{statusCheckRollup{contexts{nodes{"
	       "...on CheckRun{isRequired(pullRequestId:$id)}}}}}}}}}}",
	       "{\"id\":\"PR_1\"}") == 0,
	    "one id in two places: %s", c.fail.why);
	is_int(c.call.nrefs, 1, "is looked up once");
	is_int(c.call.refs[0].is, FORGE_IS_PULL, "as what it is in both");
	ok(c.call.repository.p == NULL, "and no repository is named");
	is_int(
	    case_query(&c,
		"mutation{addLabelsToLabelable(input:{labelableId:"
		"\"I_1\",labelIds:[\"L_1\",\"L_2\"]}){labelable{__typename}}}",
		""),
	    0, "a mutation with three ids");
	is_int(c.call.nrefs, 3, "has three references");
	is_int(c.call.class, FORGE_WRITE, "and is a write");
	is_int(case_query(&c,
		   "mutation{mergePullRequest(input:{pullRequestId:"
		   "\"PR_1\"}){clientMutationId}}",
		   ""),
	    0, "merging");
	is_int(c.call.class, FORGE_MERGE, "has a class of its own");
	ok(case_query(&c, "{repository(owner:\"ME\",name:\"SHOP\"){id}}", "") ==
		    0 &&
		span_is(c.call.repository, "me/shop"),
	    "a repository is the one on the list, whatever its case");
	case_free(&c);
}

static void
test_places(void)
{
	static const struct span body = SPAN("{\"query\":\"{viewer{login}}\"}");
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	is_int(case_run(&c, "GET", "/graphql?query={viewer{login}}", body), -1,
	    "GraphQL in an address is refused");
	is_int(case_run(&c, "GET", "/graphql", body), -1, "also with a body");
	is_int(case_run(&c, "PUT", "/graphql", body), -1, "or another method");
	is_int(case_run(&c, "POST", "/graphql/", body), -1, "with a slash");
	is_int(case_run(&c, "POST", "/GraphQL", body), -1, "in capitals");
	is_int(case_run(&c, "POST", "/graphql?a", body), -1, "with a query");
	is_int(case_run(&c, "POST", "/api/graphql", body), -1,
	    "or at the address of other hosts");
	c.grant.enterprise = true;
	is_int(case_run(&c, "POST", "/api/graphql", body), 0,
	    "which is the one of those hosts");
	is_int(case_run(&c, "POST", "/graphql", body), -1, "alone");
	case_free(&c);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: test_forge_graphql DIRECTORY");
	test_hostile(argv[1]);
	test_permitted();
	test_references();
	test_places();
	return tap_done();
}
