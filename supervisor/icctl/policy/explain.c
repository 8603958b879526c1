/* SPDX-License-Identifier: ISC */
/* `icctl policy explain`: shows every step of the decision on one call. */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"

#define POOL_MAX ((size_t)48 << 20)

struct explain {
	bool json;
	struct value_pool *pool;
	struct buf out;
};

static void
print_steps(struct explain *x, struct span trace)
{
	const struct value *v, *m;
	struct span step, text;

	v = json_read_large(x->pool, trace, 1000000, (size_t)16 << 20, NULL);
	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next) {
		step = value_str(v, "step");
		text = value_str(v, "text");
		m = value_get(v, "matched");
		printf("%-10.*s %s%.*s\n", (int)step.len, (const char *)step.p,
		    m == NULL               ? ""
		    : m->type == VALUE_TRUE ? "+ "
					    : "- ",
		    (int)text.len, (const char *)text.p);
	}
}

/* Print the agent's answer, line by line. */
static void
print_answer(struct span rest)
{
	const char *before = "agent      is told: ";
	struct span line;

	while (span_line(&rest, &line)) {
		policy_print(before, line, "\n");
		before = "                    ";
	}
}

static void
on_answer(void *arg, const struct msg_EVALUATED *m)
{
	struct explain *x = arg;

	if (!x->json) {
		print_steps(x, m->trace);
		print_answer(m->answer);
		return;
	}
	buf_addc(&x->out, '{');
	policy_put_decision(&x->out, m);
	if (m->answer.len != 0) {
		buf_addc(&x->out, ',');
		policy_put_member(&x->out, "answer", m->answer);
	}
	buf_adds(&x->out, ",\"trace\":");
	buf_addspan(&x->out, m->trace);
	buf_adds(&x->out, "}\n");
	(void)policy_flush(&x->out);
}

/*
 * Read SERVER TOOL ARGUMENTS, or the first line of standard input. Returns
 * NULL, or the reason why it is malformed.
 */
static const char *
read_request(const struct policy_opts *o, struct value_pool *pool, char **line,
    struct policy_request *r)
{
	const struct value *v;
	size_t cap = 0;
	ssize_t n;

	if (o->nargs == 3) {
		r->server = span_str(o->args[0]);
		r->tool = span_str(o->args[1]);
		r->args = json_read(pool, span_str(o->args[2]), NULL);
		if (r->args == NULL || r->args->type != VALUE_OBJECT)
			return "ARGUMENTS must be a JSON object";
		return r->server.len <= 256 && r->tool.len <= 256
			   ? NULL
			   : "names take at most 256 bytes";
	}
	if ((n = getline(line, &cap, stdin)) <= 0)
		return "no request on standard input";
	if ((*line)[n - 1] == '\n')
		n--;
	v = json_read(pool, span_of(*line, (size_t)n), NULL);
	return v == NULL ? "the request is not JSON"
			 : policy_request(v, pool, r);
}

int
icctl_policy_explain(struct icctl *ctl, struct policy_opts *o)
{
	struct explain x = {.json = ctl->json};
	struct msg_EVAL m = {.whole = 1, .trace = 1};
	struct policyd *pd = NULL;
	struct policy_request r;
	struct policyd_bad bad;
	struct policy_set set;
	int status = ICCTL_FAILED;
	char *line = NULL;
	const char *why;

	if (o->nargs != 0 && o->nargs != 3) {
		warnx("usage: icctl policy explain [OPTIONS] [SERVER TOOL "
		      "ARGUMENTS]");
		return ICCTL_USAGE;
	}
	if ((x.pool = value_pool_new(POOL_MAX)) == NULL)
		err(ICCTL_FAILED, "memory");
	buf_init(&x.out, (size_t)32 << 20);
	if ((why = read_request(o, x.pool, &line, &r)) != NULL) {
		warnx("%s", why);
		status = ICCTL_USAGE;
		goto out;
	}
	o->narrowed = true;
	if (policy_set_load(ctl, o, &set, &bad.fault) == -1 ||
	    (pd = policyd_start(ctl, o, &set, true, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		goto out;
	}
	policy_set_free(&set);
	policyd_answer(pd, on_answer, &x);
	m.server_name = r.server;
	m.tool = r.tool;
	if (policyd_ask_tree(pd, &m, r.args) == 0)
		status = ICCTL_OK;
out:
	policyd_end(pd);
	free(line);
	buf_free(&x.out);
	value_pool_free(x.pool);
	return status;
}
