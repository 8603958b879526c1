/* SPDX-License-Identifier: ISC */
/*
 * Tests the model of the screen of `icctl watch`, with sessions, calls and a
 * clock that this test plays: the choice of a row, the parts of the screen, the
 * text that is wrapped and scrolled, the latest activity, and when an answer
 * counts.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/hold/hold_view.h"
#include "icctl/overview/priv.h"
#include "icctl/wrap.h"
#include "tap.h"

static struct {
	struct live_session sessions[3];
	unsigned n;
	const char *view; /* the text of every call */
	bool whole;
	/* The last answer. */
	unsigned answers;
	bool approve;
	char id[LIVE_ID], digest[65], because[LIVE_BECAUSE], grant[65];
} played;

/* In the place of the live set. */

struct live_session *
live_at(const struct live *l, unsigned i)
{
	return i < played.n ? &played.sessions[i] : NULL;
}

const struct live_item *
live_item(const struct live_session *s, unsigned back)
{
	return back < s->nitems && back < LIVE_RING
		   ? &s->ring[(s->nitems - 1 - back) % LIVE_RING]
		   : NULL;
}

int
live_answer(
    struct live_session *s, const struct live_verdict *v, uint64_t token)
{
	played.answers++;
	played.approve = v->approve;
	(void)strlcpy(played.id, v->id, sizeof(played.id));
	(void)strlcpy(played.digest, v->digest, sizeof(played.digest));
	(void)strlcpy(played.because, v->because == NULL ? "" : v->because,
	    sizeof(played.because));
	(void)strlcpy(played.grant, v->session == NULL ? "" : v->session,
	    sizeof(played.grant));
	return 0;
}

int
live_revoke(struct live_session *s, const char *id, uint64_t token)
{
	return 0;
}

void
live_status(struct live_session *s)
{
}

bool
hold_view(FILE *f, json_object *hold, enum hold_view_form form, unsigned flags)
{
	fputs(played.view, f);
	return played.whole;
}

/* In the place of icctl. */

const char *
icctl_text(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v)
						     : "";
}

int64_t
icctl_number(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v)
						     : 0;
}

unsigned
icctl_visible(void)
{
	return 0;
}

const char *
icctl_path(const char *path, char dst[ICCTL_PATH])
{
	(void)snprintf(dst, ICCTL_PATH, "%s", path);
	return dst;
}

void
icctl_put_grant(json_object *o)
{
}

void
icctl_show_budget(json_object *o)
{
}

/* The play. */

static struct live_session *
session(const char *id, const char *workspace)
{
	struct live_session *s = &played.sessions[played.n++];

	memset(s, 0, sizeof(*s));
	(void)strlcpy(s->id, id, sizeof(s->id));
	(void)strlcpy(s->workspace, workspace, sizeof(s->workspace));
	(void)strlcpy(s->state, "running", sizeof(s->state));
	(void)strlcpy(s->agent, "codex", sizeof(s->agent));
	s->is = LIVE_RUNS;
	return s;
}

static void
hold(struct overview *o, struct live_session *s, const char *id)
{
	struct live_hold *h = &s->holds[s->nholds++];

	memset(h, 0, sizeof(*h));
	(void)strlcpy(h->id, id, sizeof(h->id));
	(void)snprintf(h->digest, sizeof(h->digest), "digest-%s", id);
	h->hold = json_object_new_object();
	json_object_object_add(
	    h->hold, "effect", json_object_new_string("Reads a file"));
	h->whole = true;
	h->since = o->loop.now;
	rows_make(o);
}

/* The first call of the session no longer waits. */
static void
answered(struct overview *o, struct live_session *s)
{
	json_object_put(s->holds[0].hold);
	memmove(s->holds, s->holds + 1, --s->nholds * sizeof(s->holds[0]));
	rows_make(o);
}

static void
item(struct live_session *s, enum live_kind kind, uint64_t us, const char *text)
{
	struct live_item *i = &s->ring[s->nitems++ % LIVE_RING];

	memset(i, 0, sizeof(*i));
	i->kind = kind;
	i->us = us;
	(void)strlcpy(i->text, text, sizeof(i->text));
}

static void
begin(struct overview *o)
{
	memset(o, 0, sizeof(*o));
	memset(&played, 0, sizeof(played));
	played.view = "one line\n";
	played.whole = true;
	o->loop.now = 1000000;
	layout_make(o, 24, 80);
}

static void
finish(struct overview *o)
{
	for (unsigned i = 0; i < played.n; i++)
		for (unsigned k = 0; k < played.sessions[i].nholds; k++)
			json_object_put(played.sessions[i].holds[k].hold);
	text_free(o);
	free(o->rows);
}

/* Draw, as often as the screen is drawn, and let time pass. */
static void
look(struct overview *o, uint64_t ms)
{
	text_make(o, o->text_cols);
	o->loop.now += ms;
	text_make(o, o->text_cols);
}

static void
test_choice(void)
{
	struct live_session *one, *two;
	struct overview o;

	begin(&o);
	one = session("one", "/home/me/one");
	two = session("two", "/home/me/two");
	rows_make(&o);
	is_int(o.nrows, 2, "each session has a row");
	is_str(o.session, "one", "the first is chosen");
	hold(&o, two, "bbbb");
	is_str(o.hold, "bbbb", "a call gets the choice that nobody made");
	hold(&o, one, "aaaa");
	is_str(o.hold, "bbbb", "another call does not take it");
	is_int(o.at, 3, "and its row is found again");
	answered(&o, two);
	is_str(o.hold, "aaaa", "the next one is chosen once it is answered");
	rows_move(&o, -1);
	is_str(o.hold, "", "a person chooses a session");
	hold(&o, two, "cccc");
	is_str(o.session, "one", "which stays chosen");
	is_str(o.hold, "", "although a call came");
	rows_next(&o);
	rows_next(&o);
	is_str(o.hold, "cccc", "n goes from call to call");
	rows_next(&o);
	is_str(o.hold, "aaaa", "and begins again");
	(void)strlcpy(o.filter, "TWO", sizeof(o.filter));
	rows_make(&o);
	is_int(o.nrows, 2, "a filter shows one session and its call");
	is_str(o.hold, "cccc", "the choice is among the rows that are shown");
	(void)strlcpy(o.filter, "nothing", sizeof(o.filter));
	rows_make(&o);
	is_int(o.nrows, 0, "a filter may show nothing");
	ok(rows_chosen(&o).session == NULL, "then nothing is chosen");
	finish(&o);
}

/* Returns true if the parts have room and do not overlap. */
static bool
fits(const struct overview *o)
{
	unsigned end =
	    o->height - 2 - (o->news_rows == 0 ? 0 : o->news_rows + 1);

	if (o->text_left + o->text_cols > o->width || o->list_cols > o->width ||
	    o->list_rows == 0 || o->text_rows == 0)
		return false;
	if (o->text_left == 0 && o->text_top < 1 + o->list_rows + 1)
		return false;
	if (o->text_left != 0 && o->text_left <= o->list_cols)
		return false;
	return o->height < 8 ||
	       (o->text_top + o->text_rows <= end && 1 + o->list_rows <= end);
}

static void
test_layout(void)
{
	unsigned bad = 0;
	struct overview o;

	begin(&o);
	for (unsigned rows = 8; rows < 120; rows++)
		for (unsigned cols = 20; cols < 300; cols++) {
			layout_make(&o, rows, cols);
			bad += !fits(&o);
		}
	is_int(bad, 0, "no part of the screen covers another, in any size");
	layout_make(&o, 24, 80);
	is_int(o.news_rows, 3, "80x24 has the latest activity");
	ok(o.text_rows >= 16, "and room for a call");
	layout_make(&o, 1, 1);
	ok(o.text_rows >= 1 && o.list_rows >= 1, "1x1 is no trouble");
	finish(&o);
}

static void
test_text(void)
{
	struct overview o;

	begin(&o);
	(void)session("one", "/home/me/one");
	hold(&o, &played.sessions[0], "aaaa");
	played.view = "  short\n"
		      "  path = \"a long text with words that goes on\"\n";
	text_make(&o, 24);
	is_int(o.nlines, 4, "a long line is divided");
	is_mem(o.lines[1].p, o.lines[1].len, "  path = \"a long text ", 22,
	    "between words");
	is_int(o.lines[2].indent, 4, "and goes on further right");
	played.view = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n";
	text_make(&o, 16);
	is_int(o.nlines, 3, "a long word is divided anywhere");
	played.view = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\n";
	text_make(&o, 5);
	is_int(o.lines[0].len, 6, "two wide characters fit into five columns");
	played.view = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
	o.text_rows = 4;
	text_make(&o, 16);
	is_int(o.seen, 4, "what is on the screen was seen");
	text_scroll(&o, 100);
	is_int(o.scroll, 5, "the end is the last page");
	is_int(o.seen, 4, "a jump shows no more than its page");
	text_scroll(&o, -100);
	text_scroll(&o, 4);
	text_scroll(&o, 4);
	is_int(o.seen, 9, "page by page all of it was seen");
	finish(&o);
}

static void
test_answers(void)
{
	struct live_session *s;
	struct overview o;

	begin(&o);
	s = session("one", "/home/me/one");
	hold(&o, s, "aaaa");
	look(&o, 500);
	answer_arm(&o, 'a');
	is_int(o.armed, 0, "a call that has just appeared is not approved");
	look(&o, 600);
	answer_arm(&o, 'a');
	is_int(o.armed, 'a', "one that stood there for a second is");
	o.loop.now += 50;
	answer_second(&o, 'a');
	is_int(played.answers, 0, "two keys at once are none");
	answer_arm(&o, 'a');
	o.loop.now += 200;
	answer_second(&o, 'x');
	is_int(played.answers, 0, "another key is a no");
	answer_arm(&o, 'a');
	o.loop.now += 200;
	answer_second(&o, 'a');
	is_int(played.answers, 1, "the first letter of its id is a yes");
	is_str(played.digest, "digest-aaaa", "to what was shown");
	answer_arm(&o, 's');
	is_int(o.armed, 0, "the session cannot be granted what it cannot");
	/* It changes between the keys. */
	answer_arm(&o, 'a');
	(void)strlcpy(s->holds[0].digest, "other", sizeof(s->holds[0].digest));
	o.loop.now += 200;
	s->holds[0].since = o.loop.now;
	look(&o, 200);
	answer_second(&o, 'a');
	is_int(played.answers, 1, "a call that changed is looked at again");
	look(&o, 2000);
	played.view = "1\n2\n3\n4\n5\n6\n";
	o.text_rows = 3;
	o.seen = 0;
	text_make(&o, o.text_cols);
	answer_arm(&o, 'a');
	is_int(o.armed, 0, "all of it must have been on the screen");
	text_scroll(&o, 3);
	played.whole = false;
	text_make(&o, o.text_cols);
	answer_arm(&o, 'a');
	is_int(o.armed, 0, "a part that cannot be shown is not approved");
	answer_arm(&o, 'd');
	is_int(o.input, INPUT_REASON, "but it may be denied");
	(void)strlcpy(o.typed, "not that", sizeof(o.typed));
	answer_typed(&o);
	ok(played.answers == 2 && !played.approve, "it is denied");
	is_str(played.because, "not that", "with the reason");
	answer_arm(&o, 'd');
	answered(&o, s);
	is_int(
	    o.input, INPUT_NONE, "a reason for a call that is gone is dropped");
	finish(&o);
}

static void
test_activity(void)
{
	struct live_session *one, *two;
	char lines[4][ACTIVITY_LINE];
	struct overview o;
	uint64_t us = 1700000000000000;

	begin(&o);
	is_int(activity_latest(&o, lines, 4), 0, "no session, no activity");
	one = session("one", "/home/me/a-workspace-of-\xc3\xa9");
	item(one, LIVE_ALLOWED, us, "first");
	is_int(activity_latest(&o, lines, 4), 1, "one item");
	ok(strstr(lines[0], "  allowed  first") != NULL &&
		strstr(lines[0], "workspace") == NULL,
	    "a lone session is not named");
	two = session("two", "/home/me/two");
	item(one, LIVE_DENIED, us + 3000000, "third");
	item(two, LIVE_MODEL, us + 1000000, "second");
	item(two, LIVE_ALARM, us + 9000000, "last");
	is_int(activity_latest(&o, lines, 3), 3, "the latest of all sessions");
	ok(strstr(lines[0], "two  model    second") != NULL &&
		strstr(lines[1], "denied   third") != NULL &&
		strstr(lines[2], "two  ALARM    last") != NULL,
	    "in their order, with their session's name");
	ok(strstr(lines[1], "a-workspace-of-  ") != NULL,
	    "a name is not cut within a character");
	for (unsigned i = 0; i < 3 * LIVE_RING; i++)
		item(two, LIVE_NOTE, us + 10000000 + i, "more");
	is_int(activity_latest(&o, lines, 4), 4, "more than is kept");
	finish(&o);
}

static void
test_servers(void)
{
	struct live_session *s;
	struct overview o;

	begin(&o);
	s = session("one", "/home/me/one");
	s->status = json_tokener_parse(
	    "{\"servers\":[{\"name\":\"notes\",\"state\":\"ready\","
	    "\"tools\":2,\"resources\":3,\"prompts\":4,"
	    "\"revision\":\"2026-07-28\",\"where\":\"mcp.example.org\","
	    "\"text\":\"token for 9 min \\u202e\"}]}");
	rows_make(&o);
	text_make(&o, 200);
	ok(strstr(o.text, "1 of MCP (m)") != NULL, "a session has its servers");
	o.view = VIEW_SERVERS;
	text_make(&o, 200);
	ok(strstr(o.text, "notes: ready, 2 tools, 3 resources, 4 prompts, "
			  "MCP 2026-07-28, on mcp.example.org: "
			  "token for 9 min \\u{202e}") != NULL,
	    "and what each offers, where it runs, and its words");
	json_object_put(s->status);
	s->status = NULL;
	text_make(&o, 200);
	ok(strstr(o.text, "It has none") != NULL, "or that there is none");
	finish(&o);
}

/* A long word goes to a line of its own, unless it would not fit there. */
static void
test_wrap(void)
{
	static const char fits[] = "log: ~/.ironcurtain/sessions/x/audit.jsonl",
			  wide[] = "log: 0123456789012345678901234567890123";

	ok(wrap_fit(fits, sizeof(fits) - 1, 40) == 5, "a path stays whole");
	ok(wrap_fit(wide, sizeof(wide) - 1, 20) == 20,
	    "what is wider than a line is divided");
}

static void
test_policy(void)
{
	struct live_session *s;
	struct overview o;

	begin(&o);
	s = session("one", "/home/me/one");
	(void)strlcpy(s->policy,
	    "/usr/share/ironcurtain/policies/compiled-policy.json",
	    sizeof(s->policy));
	rows_make(&o);
	text_make(&o, 200);
	ok(strstr(o.text, "policy     default\n") != NULL,
	    "the shipped policy has a name");
	(void)strlcpy(s->policy, "/home/me/.ironcurtain/policies/mine/"
				 "compiled-policy.json", sizeof(s->policy));
	text_make(&o, 200);
	ok(strstr(o.text, "policy     mine\n") != NULL, "and one's own");
	(void)strlcpy(s->policy, "/srv/rules.json", sizeof(s->policy));
	text_make(&o, 200);
	ok(strstr(o.text, "policy     /srv/rules.json\n") != NULL,
	    "others are files");
	finish(&o);
}

int
main(void)
{
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	test_choice();
	test_layout();
	test_text();
	test_servers();
	test_wrap();
	test_policy();
	test_answers();
	test_activity();
	return tap_done();
}
