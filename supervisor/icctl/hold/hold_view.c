/* SPDX-License-Identifier: ISC */
/*
 * Shows one pending call or request. It only prints, so that a terminal, a
 * pager and a test get the same text.
 */
#include "icctl/hold/hold_view.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/json/json.h"
#include "common/visible.h"
#include "icctl/hold/hold_diff.h"
#include "icctl/hold/hold_question.h"
#include "icctl/hold/hold_view_text.h"
#include "icctl/icctl.h"
#include "icctl/wrap.h"

#define VIEW_POOL (64U << 20)

static json_object *
list(json_object *o, const char *key)
{
	json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return json_object_is_type(v, json_type_array) ? v : NULL;
}

static bool
is_request(json_object *hold)
{
	return get_true(hold, "request");
}

/* Returns true if it asks whether a limit of the budget is to be raised. */
static bool
is_budget(json_object *hold)
{
	return get_true(hold, "limit");
}

/* Returns true if it asks whether a host is to be opened. */
static bool
is_host(json_object *hold)
{
	return get_true(hold, "host");
}

/* Returns true if a server asks the person something. */
static bool
is_question(json_object *hold)
{
	return get_true(hold, "question");
}

static void
put_left(struct hold_text *t, json_object *hold)
{
	json_object *o = NULL;
	int64_t s;

	if (!json_object_object_get_ex(hold, "expires_ms", &o)) {
		fputs("no time limit", t->out);
		return;
	}
	s = json_object_get_int64(o) / 1000;
	if (s < 0)
		s = 0;
	if (s < 120)
		fprintf(t->out, "%llds left", (long long)s);
	else
		fprintf(t->out, "%lldm left", (long long)(s / 60));
}

/*
 * Print "server__tool", or the provider that a request goes to, or "budget" and
 * the limit, or "open" and a host.
 */
static void
put_name(struct hold_text *t, json_object *hold)
{
	if (!is_host(hold))
		hold_text_again(t, get_span(hold, "server"));
	if (is_request(hold))
		return;
	if (!is_host(hold))
		fputs(is_budget(hold) ? " " : "__", t->out);
	hold_text_again(t, get_span(hold, "tool"));
}

/* Name the links by which the agent named a path. */
static void
put_named(struct hold_text *t, json_object *o, const char *indent)
{
	json_object *links = list(o, "links");
	struct span named = get_span(o, "named"), link;

	if (named.len == 0)
		return;
	fprintf(t->out, "%s  named ", indent);
	hold_text_quoted(t, named);
	fputc('\n', t->out);
	for (size_t i = 0; links != NULL && i < json_object_array_length(links);
	     i++) {
		link = span_str(json_object_get_string(
		    json_object_array_get_idx(links, i)));
		fprintf(t->out, "%s  through the link ", indent);
		hold_text_quoted(t, link);
		fputc('\n', t->out);
	}
}

/* Returns false if a member is malformed. */
static bool
put_resource(struct hold_text *t, json_object *o, const char *indent)
{
	json_object *also = NULL;

	if (!json_object_object_get_ex(o, "value", NULL) ||
	    get_span(o, "role").len == 0)
		return false;
	fputs(indent, t->out);
	hold_text_plain(t, get_span(o, "argument"));
	fputs(" = ", t->out);
	hold_text_quoted(t, get_span(o, "value"));
	if (get_true(o, "remote"))
		fputs("   where this remote leads", t->out);
	also = list(o, "roles");
	for (size_t i = 1; also != NULL && i < json_object_array_length(also);
	     i++) {
		fputs(i == 1 ? "   also " : ", ", t->out);
		hold_text_plain(t, span_str(json_object_get_string(
				       json_object_array_get_idx(also, i))));
	}
	fputc('\n', t->out);
	put_named(t, o, indent);
	return true;
}

/*
 * Print resources by role, the most dangerous first, with a heading and a count
 * for each role.
 */
static bool
put_resources(struct hold_text *t, json_object *resources, const char *indent)
{
	size_t n = json_object_array_length(resources), same;
	struct span role;
	char deeper[32];

	snprintf(deeper, sizeof(deeper), "%s  ", indent);
	for (size_t i = 0; i < n; i += same) {
		role =
		    get_span(json_object_array_get_idx(resources, i), "role");
		for (same = 1; i + same < n; same++)
			if (!span_eq(role, get_span(json_object_array_get_idx(
							resources, i + same),
					       "role")))
				break;
		fputs(indent, t->out);
		hold_text_plain(t, role);
		fprintf(t->out, " (%zu)\n", same);
		for (size_t k = 0; k < same; k++)
			if (!put_resource(t,
				json_object_array_get_idx(resources, i + k),
				deeper))
				return false;
	}
	return true;
}

static void
put_asks(struct hold_text *t, json_object *hold)
{
	json_object *asks = list(hold, "asks"), *o;

	fputs("  asked by\n", t->out);
	if (asks == NULL || json_object_array_length(asks) == 0) {
		fputs("    ", t->out);
		hold_text_plain(t, get_span(hold, "rule"));
		fputs(": ", t->out);
		hold_text_again(t, get_span(hold, "reason"));
		fputc('\n', t->out);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(asks); i++) {
		o = json_object_array_get_idx(asks, i);
		fputs("    ", t->out);
		hold_text_plain(t, get_span(o, "rule"));
		fputs(": ", t->out);
		hold_text_again(t, get_span(o, "reason"));
		fputc('\n', t->out);
	}
}

/* Returns false if the arguments cannot be read, so that nothing is hidden. */
static bool
put_arguments(struct hold_text *t, json_object *hold)
{
	struct value_pool *pool = value_pool_new(VIEW_POOL);
	const struct value *root = NULL;
	bool good;

	if (pool != NULL)
		root = json_read(pool, get_span(hold, "arguments"), NULL);
	good = root != NULL && root->type == VALUE_OBJECT;
	if (good) {
		hold_text_arguments(t, root, list(hold, "resources"));
		hold_diff(t, root, list(hold, "resources"));
	}
	value_pool_free(pool);
	return good;
}

static bool
refuse(struct hold_text *t, json_object *hold)
{
	fputs("  It is not shown in full here and cannot be approved from "
	      "here: icctl show ",
	    t->out);
	hold_text_plain(t, get_span(hold, "id"));
	fputc('\n', t->out);
	return false;
}

static bool
view_list(struct hold_text *t, json_object *hold)
{
	json_object *resources = list(hold, "resources");

	hold_text_plain(t, get_span(hold, "id"));
	fputs("   ", t->out);
	put_left(t, hold);
	fputs("  ", t->out);
	put_name(t, hold);
	fputs(": ", t->out);
	hold_text_again(t, get_span(hold, "effect"));
	fputc('\n', t->out);
	if (resources == NULL)
		return refuse(t, hold);
	return put_resources(t, resources, "       ") || refuse(t, hold);
}

bool
hold_view(
    FILE *out, json_object *hold, enum hold_view_form form, unsigned flags)
{
	struct hold_text t = {.out = out,
	    .flags = flags,
	    .full = form == HOLD_VIEW_FULL,
	    .id = get_span(hold, "id")};
	json_object *resources = list(hold, "resources");

	if (form == HOLD_VIEW_LIST)
		return view_list(&t, hold);
	fputs(is_request(hold)  ? "request "
	      : is_question(hold) ? "question "
	      : is_host(hold)   ? "host "
	      : is_budget(hold) ? "limit "
				: "call ",
	    out);
	hold_text_plain(&t, t.id);
	fputs("   ", out);
	put_left(&t, hold);
	if (is_question(hold)) {
		fputc('\n', out);
		if (!hold_question(&t, hold))
			return refuse(&t, hold);
		fputs("  digest ", out);
		hold_text_plain(&t, get_span(hold, "digest"));
		fputc('\n', out);
		return true;
	}
	fputs("\n  ", out);
	put_name(&t, hold);
	fputs("\n  ", out);
	hold_text_again(&t, get_span(hold, "effect"));
	fputc('\n', out);
	if (resources == NULL || !put_resources(&t, resources, "  "))
		return refuse(&t, hold);
	put_asks(&t, hold);
	if (!put_arguments(&t, hold))
		return refuse(&t, hold);
	fputs("  digest ", out);
	hold_text_plain(&t, get_span(hold, "digest"));
	fputc('\n', out);
	hold_view_session(out, hold, flags);
	if (!t.left_out)
		return true;
	fputs("  Parts of it were left out, and it cannot be approved so. See "
	      "all of it: icctl show ",
	    out);
	hold_text_plain(&t, t.id);
	fputs(" --full\n", out);
	return false;
}

void
hold_view_answers(FILE *out, json_object *hold, bool digest, unsigned flags)
{
	struct hold_text t = {.out = out, .flags = flags};

	if (is_question(hold)) {
		fputs("\n  icctl answer ", out);
		hold_text_plain(&t, get_span(hold, "id"));
		fputs("    or    icctl deny ", out);
		hold_text_plain(&t, get_span(hold, "id"));
		fputc('\n', out);
		return;
	}
	fputs("\n  icctl approve ", out);
	hold_text_plain(&t, get_span(hold, "id"));
	if (digest) {
		fputs(" --digest ", out);
		hold_text_plain(&t, get_span(hold, "digest"));
		fputs("\n ", out);
	} else {
		fputs("   ", out);
	}
	fputs(" or    icctl deny ", out);
	hold_text_plain(&t, get_span(hold, "id"));
	fputc('\n', out);
}

void
hold_view_line(FILE *out, const char *before, json_object *hold, unsigned flags)
{
	const unsigned cols =
	    wrap_columns(out == stdout ? STDOUT_FILENO : fileno(out));
	struct hold_text t = {.flags = flags};
	char *text = NULL, *divided = NULL;
	size_t len = 0, n = 0;

	if ((t.out = open_memstream(&text, &len)) == NULL)
		err(ICCTL_FAILED, "output");
	fputs(before, t.out);
	hold_text_plain(&t, get_span(hold, "id"));
	fputs("  ", t.out);
	put_name(&t, hold);
	fputs(": ", t.out);
	hold_text_again(&t, get_span(hold, "effect"));
	fputc('\n', t.out);
	if (fclose(t.out) != 0)
		err(ICCTL_FAILED, "output");
	if (cols != 0)
		divided = wrap_text(text, len, cols, &n);
	if (divided != NULL)
		fwrite(divided, 1, n, out);
	else
		fwrite(text, 1, len, out);
	free(divided);
	free(text);
}

/* These arguments again, or so many calls of the tool. */
static void
put_same(struct hold_text *t, json_object *hold, json_object *offer)
{
	json_object *times = NULL;

	fputs("  for the session (icctl approve ", t->out);
	hold_text_plain(t, get_span(hold, "id"));
	fputs(" --exact)\n    every call of ", t->out);
	put_name(t, hold);
	fputs(" with exactly these arguments\n", t->out);
	if (!json_object_object_get_ex(offer, "times", &times))
		return;
	fputs("  for some calls (icctl approve ", t->out);
	hold_text_plain(t, get_span(hold, "id"));
	fprintf(t->out,
	    " --times N)\n    N calls of it within one hour, at most %lld, "
	    "with other plain arguments\n",
	    (long long)json_object_get_int64(times));
}

void
hold_view_session(FILE *out, json_object *hold, unsigned flags)
{
	struct hold_text t = {.out = out, .flags = flags};
	json_object *s = NULL, *limits, *o;

	if (get_span(hold, "sessionDigest").len == 0 ||
	    !json_object_object_get_ex(hold, "forSession", &s))
		return;
	if (json_object_object_get_ex(s, "exact", NULL)) {
		put_same(&t, hold, s);
		return;
	}
	fputs("  for the session (icctl approve ", out);
	hold_text_plain(&t, get_span(hold, "id"));
	fputs(" --for-session)\n    every call of ", out);
	put_name(&t, hold);
	fputs(" that rule ", out);
	hold_text_plain(&t, get_span(s, "rule"));
	fputs(" asks about, where\n", out);
	limits = list(s, "constraints");
	for (size_t i = 0;
	     limits != NULL && i < json_object_array_length(limits); i++) {
		o = json_object_array_get_idx(limits, i);
		fputs("    ", out);
		hold_text_plain(&t, get_span(o, "role"));
		fputs(span_is(get_span(o, "kind"), "directory") ? " is within "
		      : span_is(get_span(o, "kind"), "link")
			  ? " may be named through the link "
			  : " is ",
		    out);
		hold_text_plain(&t, get_span(o, "value"));
		fputc('\n', out);
	}
}
