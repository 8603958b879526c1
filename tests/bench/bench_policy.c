/* SPDX-License-Identifier: ISC */
/*
 * Measures decisions per second, in one process, by policyd's engine with the
 * policy files of a directory: a call's encoded arguments are decoded, prepared
 * (paths resolved, URLs parsed) and judged; the time is the process's own.
 * Paths differ from call to call. Then measures many rules, long lists, and
 * many or deep paths. Prints one line of JSON.
 */
#include <sys/epoll.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_policy.h"
#include "common/json/json.h"

#define POLICY_MAX_FILE ((size_t)1 << 20)
#define POLICY_PASSES 8192U
#define POLICY_CASE_NS 300000000U

const struct policy_case policy_cases[POLICY_NCASES] = {
    {"unknown tool", "filesystem", "no_such_tool", "{}", PROTO_DENY},
    {"fetch", "fetch", "http_fetch",
	"{\"url\":\"https://docs.python.org/3/library/x%02x.html\"}",
	PROTO_ALLOW},
    {"protected path", "documents", "read_file", "{\"path\":\"@/secret-%02x\"}",
	PROTO_DENY},
    {"sandbox read", "filesystem", "read_file",
	"{\"path\":\"/workspace/src/d%02x/file-20.txt\"}", PROTO_ALLOW},
    {"sandbox write", "filesystem", "write_file",
	"{\"content\":\"x\",\"path\":\"/workspace/src/d%02x/new.txt\"}",
	PROTO_ALLOW},
    {"write outside", "filesystem", "write_file",
	"{\"content\":\"x\",\"path\":\"/usr/share/doc/new-%02x.txt\"}",
	PROTO_ESCALATE},
    {"edit, two roles", "filesystem", "edit_file",
	"{\"edits\":[{\"newText\":\"b\",\"oldText\":\"a\"}],"
	"\"path\":\"/workspace/src/d%02x/file-00.txt\"}",
	PROTO_ALLOW},
    {"read outside", "documents", "read_file",
	"{\"path\":\"/usr/share/doc/readme-%02x\"}", PROTO_ESCALATE},
    {"git status", "git", "git_status", "{\"path\":\"/workspace/src/d%02x\"}",
	PROTO_ALLOW},
    {"5 paths", "filesystem", "read_multiple_files",
	"{\"paths\":[\"/workspace/src/d%02x/file-01.txt\","
	"\"/workspace/src/d01/file-02.txt\","
	"\"/workspace/src/d02/file-03.txt\","
	"\"/workspace/src/d03/file-04.txt\","
	"\"/workspace/src/d04/file-05.txt\"]}",
	PROTO_ALLOW},
};
struct engine policy_engine;
struct value_pool *policy_pool;

char *
policy_text(const char *dir, const char *name)
{
	char path[4096], *text;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if ((text = calloc(1, POLICY_MAX_FILE + 1)) == NULL)
		err(1, "%s", path);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    (n = read(fd, text, POLICY_MAX_FILE)) == -1)
		err(1, "%s", path);
	close(fd);
	text[n] = '\0';
	return text;
}

void
policy_load(enum proto_rules kind, const char *name, const char *text)
{
	struct load l;

	load_init(&l, name);
	if (engine_rules(&policy_engine, kind, span_str(text), &l) == -1)
		errx(1, "%s", l.error);
	load_free(&l);
}

static void
policy_server(unsigned index, const char *name, const char *workspace)
{
	int fd;

	if (engine_server(&policy_engine, index, span_str(name), false,
		SPAN("/workspace"), SPAN(""), SPAN("")) == -1)
		err(1, "server %s", name);
	fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || engine_view(&policy_engine, index, SPAN("/workspace"),
			    span_str(workspace), PROTO_VIEW_WRITE, fd) == -1)
		err(1, "%s", workspace);
}

/* Encode all variants of the case's arguments, as in a CALL. */
static void
policy_encode(const struct policy_case *c, const char *secret,
    struct buf out[POLICY_VARIANTS])
{
	size_t cap = strlen(c->args) + strlen(secret) + 16;
	char *form = malloc(cap), *text = malloc(cap);
	const struct value *tree;
	const char *at;

	if (form == NULL || text == NULL)
		err(1, "%s", c->name);
	at = strchr(c->args, '@');
	if (at != NULL)
		snprintf(form, cap, "%.*s%s%s", (int)(at - c->args), c->args,
		    secret, at + 1);
	else
		snprintf(form, cap, "%s", c->args);
	for (unsigned i = 0; i < POLICY_VARIANTS; i++) {
		at = strstr(form, "%02x");
		if (at != NULL)
			snprintf(text, cap, "%.*s%02x%s", (int)(at - form),
			    form, i, at + 4);
		else
			snprintf(text, cap, "%s", form);
		value_pool_reset(policy_pool);
		tree = json_read(policy_pool, span_str(text), NULL);
		buf_init(&out[i], 1U << 20);
		if (tree == NULL || value_encode(tree, &out[i]) == -1)
			errx(1, "%s: %s", c->name, text);
	}
	free(form);
	free(text);
}

void
policy_decide(const struct policy_case *c, struct span wire, struct decision *d)
{
	struct engine *e = &policy_engine;
	struct call_args args = {0};
	struct value *tree;
	struct request r = {
	    .server_name = span_str(c->server),
	    .tool_name = span_str(c->tool),
	    .server = engine_server_find(e, span_str(c->server)),
	    .args = &args,
	    .pool = policy_pool,
	};

	value_pool_reset(policy_pool);
	tree = (struct value *)(uintptr_t)value_decode(policy_pool, wire);
	if (tree == NULL)
		err(1, "%s", c->name);
	r.annot = annots_find(e->annots, r.server_name, r.tool_name);
	args.tree = tree;
	if (r.annot != NULL &&
	    args_prepare(e, r.server, r.annot, tree, policy_pool, &args) == -1)
		errx(1, "%s: %.*s", c->name, (int)args.reason.len,
		    (const char *)args.reason.p);
	eval_request(e, &r, d);
}

/* Processor time of this process only, whatever else runs on the machine. */
uint64_t
policy_now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == -1)
		err(1, "clock_gettime");
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int
policy_compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double
bench_policy_median(double *list, size_t n)
{
	qsort(list, n, sizeof(*list), policy_compare);
	return (list[(n - 1) / 2] + list[n / 2]) / 2;
}

/* Returns nanoseconds per decision: the median of passes over all variants. */
double
policy_measure(const struct policy_case *c, const char *secret, uint64_t span)
{
	struct buf wire[POLICY_VARIANTS];
	struct decision d;
	double passes[POLICY_PASSES];
	uint64_t begin = 0, before, now = 0;
	size_t n = 0;

	policy_encode(c, secret, wire);
	policy_decide(c, buf_span(&wire[0]), &d);
	if (d.status != c->want)
		errx(1, "%s: decided %d, not %d: %.*s", c->name, d.status,
		    c->want, (int)d.reason.len, (const char *)d.reason.p);
	begin = now = policy_now();
	do {
		before = now;
		for (unsigned i = 0; i < POLICY_VARIANTS; i++)
			policy_decide(c, buf_span(&wire[i]), &d);
		now = policy_now();
		passes[n++] = (double)(now - before);
	} while (now - begin < span && n < POLICY_PASSES);
	for (unsigned i = 0; i < POLICY_VARIANTS; i++)
		buf_free(&wire[i]);
	return bench_policy_median(passes, n) / POLICY_VARIANTS;
}

/* Directories are known as in policyd, where icsupervisor sends this. */
static void
policy_known(void)
{
	struct epoll_event ev = {.events = EPOLLPRI};
	static int mounts = -1;
	int events = epoll_create1(EPOLL_CLOEXEC);

	if (mounts == -1)
		mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (events == -1 || mounts == -1 ||
	    epoll_ctl(events, EPOLL_CTL_ADD, mounts, &ev) == -1 ||
	    engine_known(&policy_engine, events, 4096) == -1)
		err(1, "mountinfo");
}

void
policy_engine_new(const char *dir, const char *workspace, const char *secret)
{
	static const char *const servers[] = {
	    "filesystem", "documents", "git", "fetch"};
	static const char *const names[] = {
	    "tool-annotations.json", "dynamic-lists.json"};
	static const enum proto_rules kinds[] = {
	    PROTO_RULES_ANNOTATIONS, PROTO_RULES_LISTS};
	char *text;

	if (engine_init(&policy_engine) == -1 ||
	    engine_settings(&policy_engine, 300000, true, true,
		SPAN("/nonexistent")) == -1 ||
	    engine_protect(&policy_engine, span_str(secret)) == -1)
		err(1, "settings");
	policy_known();
	for (unsigned i = 0; i < 4; i++)
		policy_server(i, servers[i], workspace);
	for (unsigned i = 0; i < 2; i++) {
		text = policy_text(dir, names[i]);
		policy_load(kinds[i], names[i], text);
		free(text);
	}
}

int
main(int argc, char **argv)
{
	char *text;
	double ns, sum = 0;
	struct load l;

	if (argc != 4)
		errx(64, "usage: bench_policy POLICIES WORKSPACE PROTECTED");
	if ((policy_pool = value_pool_new(48U << 20)) == NULL)
		err(1, "pool");
	policy_engine_new(argv[1], argv[2], argv[3]);
	text = policy_text(argv[1], "compiled-policy.json");
	policy_load(PROTO_RULES_POLICY, "compiled-policy.json", text);
	free(text);
	load_init(&l, "policy");
	if (engine_refresh(&policy_engine, &l) == -1)
		errx(1, "%s", l.error);
	load_free(&l);
	printf("{\"cases\":[");
	for (size_t i = 0; i < POLICY_NCASES; i++) {
		ns = policy_measure(&policy_cases[i], argv[3], POLICY_CASE_NS);
		sum += ns;
		printf("{\"name\":\"%s\",\"us\":%.2f,\"rate\":%.0f},",
		    policy_cases[i].name, ns / 1000, 1e9 / ns);
	}
	sum /= (double)POLICY_NCASES;
	printf("{\"name\":\"mix of them\",\"us\":%.2f,\"rate\":%.0f}],",
	    sum / 1000, 1e9 / sum);
	engine_free(&policy_engine);
	policy_sizes(argv[1], argv[2], argv[3]);
	printf("}\n");
	value_pool_free(policy_pool);
	return 0;
}
