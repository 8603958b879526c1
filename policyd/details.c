/* SPDX-License-Identifier: ISC */
/*
 * Describes to a person what a held call would do. The values are those that
 * were judged and will be sent; the verbs are in one table, worst first.
 */
#include "details.h"

#include <stdio.h>

#include "common/json/json.h"
#include "common/visible.h"
#include "policyd.h"

#define DETAILS_EFFECT 1700U /* length after which values are only counted */
#define DETAILS_VALUE 200U   /* maximum length of a value in the sentence */
#define DETAILS_NAMED 3U     /* values named after one verb */

/* clang-format off */
static const struct details_verb {
	enum arg_role role;
	const char *verb;
} verbs[] = {
	{ARG_DELETE_PATH,	"deletes"},
	{ARG_DELETE_HISTORY,	"deletes history of"},
	{ARG_WRITE_PATH,	"writes"},
	{ARG_WRITE_HISTORY,	"adds to the history of"},
	{ARG_GIT_REMOTE_URL,	"exchanges commits with"},
	{ARG_SHARE_PERMISSION,	"shares with permission"},
	{ARG_EMAIL_ADDRESS,	"sends to"},
	{ARG_PROXY_DOMAIN,	"opens to this session"},
	{ARG_FETCH_URL,		"fetches"},
	{ARG_GITHUB_OWNER,	"acts on the GitHub owner"},
	{ARG_GITHUB_REPO,	"acts on the GitHub repository"},
	{ARG_READ_PATH,		"reads"},
	{ARG_BRANCH_NAME,	"names the branch"},
};
/* clang-format on */

#define NVERBS nitems(verbs)

/* The rules that ask, one for each role. */
struct asks_found {
	struct {
		enum arg_role role; /* ARG_COUNT: no role */
		struct span rule, reason;
	} list[ARG_COUNT + 1];
	unsigned n;
};

/*
 * Returns the index of the worst role in `mask`; NVERBS for free text or none.
 */
static size_t
worst(uint32_t mask)
{
	size_t i = 0;

	while (i < NVERBS && !(mask & ARG_BIT(verbs[i].role)))
		i++;
	return i;
}

static void
asks_add(struct asks_found *f, enum arg_role role, struct span rule,
    struct span reason)
{
	if (f->n == nitems(f->list))
		return;
	f->list[f->n].role = role;
	f->list[f->n].rule = rule;
	f->list[f->n++].reason = reason;
}

static void
trace_done(void *arg, enum arg_role role, const struct decision *d)
{
	if (d->status == PROTO_ESCALATE)
		asks_add(arg, role, d->rule, d->reason);
}

/* Judge the call again, role by role, and collect the rules that ask. */
static void
asks_find(struct policyd_env *env, const struct work *k, struct asks_found *f)
{
	struct eval_trace t = {.arg = f, .done = trace_done};
	const struct eval_trace *was = env->engine.trace;
	struct request r = work_request(env, k);
	struct decision d;
	bool known = false;

	if (k->annot != NULL && !k->srv->trusted) {
		env->engine.trace = &t;
		eval_ungated(&env->engine, &r, &d);
		env->engine.trace = was;
	}
	for (unsigned i = 0; i < f->n; i++)
		known = known || span_eq(f->list[i].rule, k->d.rule);
	/* A structural rule is about the call as a whole. */
	if (!known)
		asks_add(f, ARG_COUNT, k->d.rule, k->d.reason);
}

static void
member(struct buf *b, const char *before, struct span text)
{
	buf_adds(b, before);
	(void)json_write_string(b, text);
}

static void
put_ask(struct buf *b, const struct asks_found *f, unsigned i, const char *sep)
{
	buf_adds(b, sep);
	member(b, "{\"reason\":", f->list[i].reason);
	if (f->list[i].role != ARG_COUNT)
		member(
		    b, ",\"role\":", span_str(arg_role_name(f->list[i].role)));
	member(b, ",\"rule\":", f->list[i].rule);
	buf_addc(b, '}');
}

static void
put_asks(struct buf *b, const struct asks_found *f)
{
	const char *sep = "";

	buf_adds(b, "{\"asks\":[");
	for (unsigned i = 0; i < f->n; i++) {
		if (f->list[i].role != ARG_COUNT)
			continue;
		put_ask(b, f, i, sep);
		sep = ",";
	}
	for (size_t v = 0; v < NVERBS; v++)
		for (unsigned i = 0; i < f->n; i++) {
			if (f->list[i].role != verbs[v].role)
				continue;
			put_ask(b, f, i, sep);
			sep = ",";
		}
	buf_adds(b, "],\"resources\":[");
}

/*
 * Returns the text that is sent, or for a URL the text that was judged, because
 * a git remote's URL is listed in addition to its name.
 */
static struct span
value_text(const struct arg_value *v)
{
	if (v->node != NULL && !v->has_url)
		return v->node->text;
	return v->text.len != 0
		   ? v->text
		   : SPAN("(the remote that the repository's configuration "
			  "names)");
}

static bool
value_is_led(const struct arg_value *v)
{
	return v->has_url &&
	       (v->node == NULL || !span_eq(v->node->text, v->text));
}

static void
put_resource(struct buf *b, const struct arg_value *v, size_t verb)
{
	const char *sep = ",\"roles\":[";

	member(b, "{\"argument\":", v->arg->name);
	if (v->has_path && !span_eq(v->path.host, value_text(v)))
		member(b, ",\"host\":", v->path.host);
	if (v->has_path && v->path.npassed != 0) {
		buf_addc(b, ',');
		named_put(b, &v->path);
	}
	if (value_is_led(v))
		buf_adds(b, ",\"remote\":true");
	member(b, ",\"role\":", span_str(arg_role_name(verbs[verb].role)));
	if ((v->mask & (v->mask - 1)) != 0) {
		for (size_t i = 0; i < NVERBS; i++) {
			if (!(v->mask & ARG_BIT(verbs[i].role)))
				continue;
			member(b, sep, span_str(arg_role_name(verbs[i].role)));
			sep = ",";
		}
		buf_addc(b, ']');
	}
	member(b, ",\"value\":", value_text(v));
	buf_addc(b, '}');
}

/* Write a value in the sentence, quoted where it could be mistaken for text. */
static void
effect_value(struct buf *b, struct span s)
{
	size_t cut = visible_cut(s, DETAILS_VALUE / 2), from = cut;
	bool quoted = s.len == 0;

	for (size_t i = 0; i < s.len && !quoted; i++)
		quoted = s.p[i] <= ' ' || s.p[i] == ',' || s.p[i] == '"' ||
			 s.p[i] == 0x7f;
	if (quoted)
		buf_addc(b, '"');
	if (s.len <= DETAILS_VALUE) {
		(void)visible_add(b, s, quoted ? VISIBLE_QUOTED : 0);
	} else {
		from = s.len - DETAILS_VALUE / 2;
		while (from < s.len && (s.p[from] & 0xc0) == 0x80)
			from++;
		(void)visible_add(
		    b, span_of(s.p, cut), quoted ? VISIBLE_QUOTED : 0);
		buf_adds(b, "[...]");
		(void)visible_add(b, span_of(s.p + from, s.len - from),
		    quoted ? VISIBLE_QUOTED : 0);
	}
	if (quoted)
		buf_addc(b, '"');
}

/* Add a value after its verb, or only count it. */
static void
effect_add(struct buf *b, const char *verb, unsigned *n, struct span s)
{
	(*n)++;
	if (*n == 1) {
		buf_adds(b, b->len == 0 ? "" : ", ");
		buf_adds(b, verb);
		buf_addc(b, ' ');
	}
	if (*n > DETAILS_NAMED || (b->len > DETAILS_EFFECT && *n > 1))
		return;
	if (*n > 1)
		buf_adds(b, " and ");
	effect_value(b, s);
}

static void
effect_more(struct buf *b, unsigned n, unsigned named)
{
	if (n > named)
		buf_printf(b, " and %u more", n - named);
}

static int
effect_end(struct details *d, struct buf *b)
{
	struct span s;
	int rv = -1;

	if (b->failed)
		goto out;
	s = buf_span(b);
	if (s.len >= sizeof(d->effect))
		s.len = visible_cut(s, sizeof(d->effect) - 1);
	memcpy(d->effect, s.p, s.len);
	d->effect[s.len] = '\0';
	if (d->effect[0] >= 'a' && d->effect[0] <= 'z')
		d->effect[0] = (char)(d->effect[0] - 'a' + 'A');
	rv = 0;
out:
	buf_free(b);
	return rv;
}

/* Abbreviate the home directory to "~", as people write it. */
static struct span
homely(const struct policyd_env *env, const struct arg_value *v,
    struct span text, char *dst, size_t cap)
{
	size_t n = strlen(env->engine.home);

	if (!v->has_path || n < 2 || text.len <= n || text.p[n] != '/' ||
	    memcmp(text.p, env->engine.home, n) != 0 || text.len - n + 1 > cap)
		return text;
	dst[0] = '~';
	memcpy(dst + 1, text.p + n, text.len - n);
	return span_of(dst, text.len - n + 1);
}

/* Add the name by which a link leads to the value that was just added. */
static void
effect_named(struct buf *b, unsigned n, const struct policyd_env *env,
    const struct arg_value *v)
{
	char home[4097];

	if (!v->has_path || v->path.npassed == 0 || n > DETAILS_NAMED ||
	    b->len > DETAILS_EFFECT)
		return;
	buf_adds(b, " (named ");
	effect_value(b, homely(env, v, v->path.named, home, sizeof(home)));
	buf_addc(b, ')');
}

/* Add the first line of the tool's description, as its server's words. */
static void
effect_said(struct buf *b, const struct policyd_env *env, const struct work *k)
{
	const struct session_tool *t = NULL;
	struct span line;

	if (k->server < PROTO_MAX_SERVERS)
		t = tools_find(&env->sessions[k->server].tools, k->tool);
	if (t == NULL || t->line.len <= t->full.len)
		return;
	line = t->line;
	buf_adds(b, "; its server says of it");
	buf_addspan(b, span_of(line.p + t->full.len, line.len - t->full.len));
}

/* Returns false for a call of a tool; else writes what the request is about. */
static bool
effect_part(struct buf *b, const struct work *k)
{
	static const struct {
		const char *method, *says, *member;
	} parts[] = {
	    {PARTS_READ, "reads the resource ", "uri"},
	    {PARTS_SUBSCRIBE, "asks for news of the resource ", "uri"},
	    {PARTS_UNSUBSCRIBE, "ends the news of the resource ", "uri"},
	    {PARTS_GET, "gets the prompt ", "name"},
	    {PARTS_COMPLETE, "asks for the rest of a value", NULL},
	};

	for (size_t i = 0; i < nitems(parts); i++) {
		if (!span_is(k->tool, parts[i].method))
			continue;
		buf_adds(b, parts[i].says);
		if (parts[i].member != NULL)
			effect_value(b, value_str(k->tree, parts[i].member));
		buf_adds(b, " of the server ");
		(void)visible_add(b, k->server_name, 0);
		return true;
	}
	return false;
}

static int
call_effect(struct details *d, struct policyd_env *env, const struct work *k,
    unsigned *found)
{
	const struct arg_value *v;
	char home[4097];
	bool unknown = k->annot == NULL && !k->srv->trusted && !k->srv->virtual;
	struct buf b;
	unsigned n;

	buf_init(&b, 65536);
	for (size_t i = 0; i < NVERBS; i++) {
		n = 0;
		for (size_t a = 0; a < k->args.n; a++) {
			v = &k->args.values[a];
			if (worst(v->mask) != i)
				continue;
			effect_add(&b, verbs[i].verb, &n,
			    homely(env, v, value_text(v), home, sizeof(home)));
			effect_named(&b, n, env, v);
		}
		*found += n;
		effect_more(&b, n, DETAILS_NAMED);
	}
	if (*found == 0 && !effect_part(&b, k)) {
		buf_adds(&b, "calls ");
		(void)visible_add(&b, k->server_name, 0);
		buf_adds(&b, "__");
		(void)visible_add(&b, k->tool, 0);
		buf_adds(&b,
		    unknown ? ", a tool that no policy knows"
			    : ", which has no argument that names a resource");
		if (unknown)
			effect_said(&b, env, k);
	}
	return effect_end(d, &b);
}

/* The virtual server's tools have no annotation: list the domain. */
static void
call_domain(struct details *d, const struct work *k)
{
	struct span domain = value_str(k->tree, "domain");

	if (domain.p == NULL)
		return;
	(void)snprintf(d->effect, sizeof(d->effect),
	    "Opens %.*s to this session", (int)domain.len,
	    (const char *)domain.p);
	member(&d->text,
	    "{\"argument\":\"domain\",\"role\":\"proxy-domain\","
	    "\"value\":",
	    domain);
	buf_addc(&d->text, '}');
}

static int
details_begin(struct details *d, struct span args)
{
	d->effect[0] = '\0';
	d->args = args.len;
	buf_init(&d->text, PROTO_MAX_HELD);
	buf_addspan(&d->text, args);
	return buf_check(&d->text);
}

static int
details_end(struct details *d)
{
	buf_adds(&d->text, "]}");
	if (!d->text.failed)
		return 0;
	details_free(d);
	return -1;
}

void
details_free(struct details *d)
{
	buf_free(&d->text);
}

int
details_call(struct details *d, struct policyd_env *env, const struct work *k,
    struct span args)
{
	struct asks_found f = {.n = 0};
	const char *sep = "";
	unsigned n = 0;

	if (details_begin(d, args) == -1 || call_effect(d, env, k, &n) == -1) {
		details_free(d);
		return -1;
	}
	asks_find(env, k, &f);
	put_asks(&d->text, &f);
	for (size_t i = 0; i < NVERBS; i++)
		for (size_t a = 0; a < k->args.n; a++) {
			if (worst(k->args.values[a].mask) != i)
				continue;
			buf_adds(&d->text, sep);
			put_resource(&d->text, &k->args.values[a], i);
			sep = ",";
		}
	if (k->srv->virtual)
		call_domain(d, k);
	return details_end(d);
}

static void
ask_effect(const struct approved *r, struct buf *b)
{
	static const char *const order[][2] = {{"delete", "deletes"},
	    {"update", "updates"}, {"create", "creates"}};
	struct approved_ref ref;
	struct span rest;
	unsigned n;

	for (size_t i = 0; i < 3; i++) {
		n = 0;
		rest = r->refs;
		while (approved_ref(&rest, &ref) == 1)
			if (strcmp(ref.action, order[i][0]) == 0)
				effect_add(b, order[i][1], &n, ref.name);
		effect_more(b, n, DETAILS_NAMED);
	}
	buf_adds(b, " in ");
	effect_value(b, approved_repository(r));
	buf_adds(b, " at ");
	(void)visible_add(b, r->host, 0);
}

static void
ask_resource(struct buf *b, const char *before, const char *argument,
    const char *role, struct span value)
{
	member(b, before, span_str(argument));
	member(b, ",\"role\":", span_str(role));
	member(b, ",\"value\":", value);
	buf_addc(b, '}');
}

/* List the refs first, deleted ones before all others. */
static void
ask_resources(struct buf *b, const struct approved *r, struct span url)
{
	static const char *const order[] = {"delete", "update", "create"};
	const char *before = "{\"argument\":";
	struct approved_ref ref;
	struct span rest;

	for (size_t i = 0; i < 3; i++) {
		rest = r->refs;
		while (approved_ref(&rest, &ref) == 1) {
			if (strcmp(ref.action, order[i]) != 0)
				continue;
			ask_resource(b, before, ref.action, "ref", ref.name);
			before = ",{\"argument\":";
		}
	}
	if (r->refs.len != 0)
		ask_resource(b, before, "repository", "repository",
		    approved_repository(r));
	ask_resource(b, r->refs.len != 0 ? ",{\"argument\":" : before,
	    "request", "url", url);
}

int
details_ask(
    struct details *d, const struct msg_REQUEST_ASK *m, struct span args)
{
	const struct approved r = ask_request(m);
	char url[4800];
	struct buf b;

	if (details_begin(d, args) == -1)
		goto fail;
	approved_target(&r, url, sizeof(url));
	buf_init(&b, 65536);
	if (r.refs.len != 0) {
		ask_effect(&r, &b);
	} else {
		buf_adds(&b, "sends ");
		effect_value(&b, span_str(url));
		buf_printf(&b, " with a body of %llu bytes",
		    (unsigned long long)r.length);
	}
	if (effect_end(d, &b) == -1)
		goto fail;
	buf_adds(&d->text, "{\"asks\":[],\"resources\":[");
	ask_resources(&d->text, &r, span_str(url));
	return details_end(d);
fail:
	details_free(d);
	return -1;
}
