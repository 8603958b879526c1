/* SPDX-License-Identifier: ISC */
/*
 * One program, from its text to its result.  Types of TypeScript are removed
 * only after the program was refused as JavaScript, and in a process of its
 * own, which has no more rights than the program.
 */
#include "docker/agent/code_serve.h"

#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/value.h"

#define RUN_WHY_MAX 512U

const struct code_limits code_limits_default = {300000, 256, 1024, NULL};

struct run {
	struct code_serve serve;
	const struct code_node *node;
	const struct code_limits *limits;
	json_object *table;
	char why[RUN_WHY_MAX]; /* a failure that is not the program's */
	long long left;        /* time that the program has left, in ms */
};

/* The child that code_cancel() ends, between its start and its end. */
static atomic_int run_child;
static atomic_bool run_active, run_cancelled;

void
code_cancel(void)
{
	int saved = errno;
	pid_t pid = atomic_load(&run_child);

	if (atomic_load(&run_active))
		atomic_store(&run_cancelled, true);
	if (pid > 0)
		(void)kill(pid, SIGKILL);
	errno = saved;
}

/* Queue the program for the runner.  Returns 0, or -1 with errno set. */
static int
run_request(struct run *r, enum code_task task, struct span code, bool stripped)
{
	json_object *o = json_object_new_object();
	const char *text;

	json_object_object_add(o, "code",
	    json_object_new_string_len((const char *)code.p, (int)code.len));
	json_object_object_add(
	    o, "stripped", json_object_new_boolean(stripped));
	if (task == CODE_TASK_RUN)
		json_object_object_add(o, "table",
		    json_object_new_string(json_object_to_json_string_ext(
			r->table, JSON_C_TO_STRING_PLAIN)));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	code_send(&r->serve, task == CODE_TASK_RUN ? 'P' : 'T',
	    span_of(text, strlen(text)));
	json_object_put(o);
	return buf_check(&r->serve.out);
}

/* Returns the line of the child's standard error that names an error. */
static const char *
run_complaint(struct run *r)
{
	char *line, *save;
	const char *found = "";

	buf_addc(&r->serve.errors, '\0');
	if (buf_check(&r->serve.errors) == -1)
		return found;
	line = (char *)(r->serve.errors.p + r->serve.errors.off);
	for (line = strtok_r(line, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strstr(line, "Error:") != NULL ||
		    strstr(line, "ERROR:") != NULL)
			return line;
		if (found[0] == '\0' && strncmp(line, "Warning:", 8) != 0)
			found = line;
	}
	return found;
}

/* Say why the child has no result. */
static void
run_explain(struct run *r, int status)
{
	struct code_serve *s = &r->serve;
	const char *text;

	if (atomic_load(&run_cancelled)) {
		strlcpy(r->why, "the program was interrupted", sizeof(r->why));
		return;
	}
	if (s->timeout) {
		snprintf(r->why, sizeof(r->why),
		    "the program ran longer than %u seconds",
		    (r->limits->ms + 999) / 1000);
		return;
	}
	if (s->error != 0) {
		snprintf(r->why, sizeof(r->why),
		    "the interpreter was ended: %s",
		    s->error == EBADMSG ? "it sent no valid request"
					: strerror(s->error));
		return;
	}
	text = run_complaint(r);
	if (strstr(text, "out of memory") != NULL ||
	    strstr(text, "Allocation failed") != NULL)
		snprintf(r->why, sizeof(r->why),
		    "the program used more than %u MB of memory",
		    r->limits->heap);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		snprintf(r->why, sizeof(r->why),
		    "the stack overflowed in a tool call");
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		snprintf(r->why, sizeof(r->why),
		    "the interpreter did not start: %.300s", text);
	else if (WIFSIGNALED(status))
		snprintf(r->why, sizeof(r->why),
		    "the interpreter was ended by signal %d%s%.300s",
		    WTERMSIG(status), text[0] != '\0' ? ": " : "", text);
	else
		snprintf(r->why, sizeof(r->why),
		    "the interpreter ended with status %d%s%.300s",
		    WEXITSTATUS(status), text[0] != '\0' ? ": " : "", text);
}

/*
 * Run one process.  Returns its last letter, or 0 with `why` set, or -1 with
 * errno set if there was none.
 */
static int
run_process(struct run *r, enum code_task task, struct span code, bool stripped)
{
	struct code_serve *s = &r->serve;
	int status;

	buf_reset(&s->in, 0);
	buf_reset(&s->out, 0);
	buf_reset(&s->final, 0);
	buf_reset(&s->errors, 0);
	s->end = 0;
	s->final_cut = false;
	if (run_request(r, task, code, stripped) == -1 ||
	    code_child_start(r->node, r->limits, &s->child) == -1)
		return -1;
	atomic_store(&run_child, s->child.pid);
	if (atomic_load(&run_cancelled))
		(void)kill(s->child.pid, SIGKILL);
	s->deadline = code_now() + r->left;
	code_serve(s);
	r->left = s->deadline - code_now();
	/* Before it is reaped: afterwards the number may be another's. */
	atomic_store(&run_child, 0);
	status = code_child_end(&s->child);
	if (s->end == 0)
		run_explain(r, status);
	return s->end;
}

/* Returns true if the text ends with the message. */
static bool
run_same(const struct buf *message, const struct buf *text)
{
	struct span m = buf_span(message), t = buf_span(text);

	return m.len <= t.len && memcmp(t.p + t.len - m.len, m.p, m.len) == 0;
}

/*
 * Run the program, and if it is no JavaScript, again without its types.
 * Returns as run_process().
 */
static int
run_program(struct run *r, struct span source)
{
	struct code_serve *s = &r->serve;
	struct buf text;
	int end;

	end = run_process(r, CODE_TASK_RUN, source, false);
	if (end != CODE_SYNTAX)
		return end;
	buf_init(&text, 2 * CODE_FINAL_MAX);
	/* For a person or model it may still be meant as JavaScript. */
	buf_adds(&text, ". Without types: ");
	buf_addspan(&text, buf_span(&s->final));
	end = run_process(r, CODE_TASK_STRIP, source, false);
	if (end == CODE_STRIPPED && !s->final_cut) {
		buf_reset(&text, 0);
		buf_addspan(&text, buf_span(&s->final));
		end = buf_check(&text) == -1 ? -1
					     : run_process(r, CODE_TASK_RUN,
						   buf_span(&text), true);
	} else if (end == CODE_SYNTAX && !run_same(&s->final, &text)) {
		buf_addspan(&s->final, buf_span(&text));
	}
	buf_free(&text);
	return end;
}

/* Make the program's failure the text of the result. */
static int
run_failed(struct run *r, struct span why)
{
	struct code_keep *v = &r->serve.value;

	code_keep_free(v);
	if (code_keep_init(v) == -1)
		return -1;
	code_keep_add(v, why);
	return 0;
}

static int
run_result(struct run *r, const char *source, struct code_result *out)
{
	struct code_serve *s = &r->serve;
	const char *why = NULL;
	int end;

	if (strlen(source) > CODE_SOURCE_MAX)
		why = "the program is longer than 1 MiB";
	else if (!utf8_valid(span_of(source, strlen(source))))
		why = "the program is not UTF-8";
	if (why != NULL) {
		if (run_failed(r, span_of(why, strlen(why))) == -1)
			return -1;
		return code_result_make(&s->logs, &s->value, true, out);
	}
	if ((end = run_program(r, span_of(source, strlen(source)))) == -1)
		return -1;
	if (end == 0 &&
	    run_failed(r, span_of(r->why, strlen(r->why))) == -1)
		return -1;
	if (end != 0 && end != CODE_DONE &&
	    run_failed(r, buf_span(&s->final)) == -1)
		return -1;
	return code_result_make(&s->logs, &s->value, end != CODE_DONE, out);
}

int
code_run_limited(const char *source, const struct code_tool *tools,
    size_t ntools, code_call_fn *call, void *arg,
    const struct code_limits *limits, struct code_result *out)
{
	struct run *r;
	int rv = -1, saved;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		return -1;
	buf_init(&r->serve.in, CODE_FRAME_MAX + (1U << 17));
	buf_init(&r->serve.out, 128U << 20);
	buf_init(&r->serve.errors, 1U << 14);
	buf_init(&r->serve.final, CODE_FINAL_MAX);
	r->serve.tools = tools;
	r->serve.ntools = ntools;
	r->serve.call = call;
	r->serve.arg = arg;
	r->limits = limits;
	r->left = limits->ms;
	atomic_store(&run_cancelled, false);
	atomic_store(&run_active, true);
	if ((r->node = code_node_find(NULL)) == NULL) {
		errno = ENOENT;
		goto out;
	}
	if (code_keep_init(&r->serve.logs) == -1 ||
	    code_keep_init(&r->serve.value) == -1 ||
	    (r->table = code_table(tools, ntools)) == NULL)
		goto out;
	rv = run_result(r, source, out);
out:
	saved = errno;
	atomic_store(&run_active, false);
	json_object_put(r->table);
	code_keep_free(&r->serve.logs);
	code_keep_free(&r->serve.value);
	buf_free(&r->serve.in);
	buf_free(&r->serve.out);
	buf_free(&r->serve.errors);
	buf_free(&r->serve.final);
	free(r);
	errno = saved;
	return rv;
}

int
code_run(const char *source, const struct code_tool *tools, size_t ntools,
    code_call_fn *call, void *arg, struct code_result *out)
{
	return code_run_limited(
	    source, tools, ntools, call, arg, &code_limits_default, out);
}

bool
code_available(const char **why)
{
	/* An empty program needs 40 ms; its limits need not be small. */
	static const struct code_limits limits = {20000, 256, 1024, NULL};
	static char text[RUN_WHY_MAX + 64];
	static const struct code_node *tried;
	const struct code_node *node;
	struct code_result out = {0};

	if ((node = code_node_find(why)) == NULL || node == tried)
		return node != NULL;
	if (code_run_limited("", NULL, 0, NULL, NULL, &limits, &out) == -1)
		snprintf(text, sizeof(text), "%.300s cannot be started: %s.",
		    node->path, strerror(errno));
	else if (out.is_error)
		snprintf(text, sizeof(text), "%.300s cannot be used: %.200s.",
		    node->path, out.text);
	else
		tried = node;
	free(out.text);
	if (tried != node && why != NULL)
		*why = text;
	return tried == node;
}
