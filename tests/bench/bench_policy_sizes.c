/* SPDX-License-Identifier: ISC */
/*
 * Measures how decisions scale: with rules of other servers and tools, rules of
 * the tool that is called, entries of a list, and number and depth of a call's
 * paths.
 */
#include "bench_policy.h"

#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/json/json.h"

#define SIZES_NS 60000000U
#define SIZES_LIST 10000U
#define SIZES_PATHS 1000U

static const unsigned counts[] = {10, 100, 1000, 10000};

/* Put the shipped rules in force, preceded by n others. */
static void
with_rules(const char *dir, unsigned n, bool same)
{
	char *text = policy_text(dir, "compiled-policy.json"), *at;
	struct buf b;

	if ((at = strchr(text, '[')) == NULL)
		errx(1, "compiled-policy.json");
	buf_init(&b, 16U << 20);
	buf_add(&b, text, (size_t)(at + 1 - text));
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b,
		    "{\"name\":\"r%u\",\"if\":{\"server\":[\"%s%u\"],"
		    "\"tool\":[\"read_file\",\"list%u\"],\"paths\":{"
		    "\"roles\":[\"read-path\"],\"within\":\"/srv/d%u\"}},"
		    "\"then\":\"allow\",\"reason\":\"r\"},",
		    i, same ? "documents\",\"x" : "server", i, i, i);
	buf_adds(&b, at + 1);
	buf_addc(&b, '\0');
	if (b.failed)
		err(1, "rules");
	policy_load(PROTO_RULES_POLICY, "compiled-policy.json",
	    (const char *)buf_span(&b).p);
	buf_free(&b);
	free(text);
}

static void
rules(const char *dir, const char *workspace, const char *secret, unsigned n)
{
	double all[POLICY_NCASES], same = 0, median;

	policy_engine_new(dir, workspace, secret);
	with_rules(dir, n, false);
	for (size_t i = 0; i < POLICY_NCASES; i++)
		all[i] = policy_measure(&policy_cases[i], secret, SIZES_NS);
	median = bench_policy_median(all, POLICY_NCASES);
	engine_free(&policy_engine);
	policy_engine_new(dir, workspace, secret);
	with_rules(dir, n, true);
	/* "read outside" tries all rules, and the last one decides. */
	for (size_t i = 0; i < POLICY_NCASES; i++)
		if (strcmp(policy_cases[i].name, "read outside") == 0)
			same =
			    policy_measure(&policy_cases[i], secret, SIZES_NS);
	engine_free(&policy_engine);
	printf("{\"rules\":%u,\"us\":%.2f,\"slowest\":%.2f,"
	       "\"same_tool\":%.2f}",
	    n, median / 1000, all[POLICY_NCASES - 1] / 1000, same / 1000);
}

static void
other(const char *name, const struct policy_case *c, const char *secret,
    unsigned per)
{
	double ns = policy_measure(c, secret, SIZES_NS);

	printf(",{\"name\":\"%s\",\"us\":%.2f,\"each_ns\":%.1f}", name,
	    ns / 1000, ns / per);
}

/* Replace the shipped list by this one. */
static void
long_list(const char *dir)
{
	char *text = policy_text(dir, "compiled-policy.json");
	struct buf b;

	policy_load(PROTO_RULES_POLICY, "compiled-policy.json", text);
	free(text);
	buf_init(&b, 4U << 20);
	buf_adds(&b, "{\"lists\":{\"documentation-sites\":{\"values\":[");
	for (unsigned i = 0; i < SIZES_LIST; i++)
		buf_printf(&b, "%s\"%s%u.example%u.org\"", i == 0 ? "" : ",",
		    i % 2 == 0 ? "" : "*.", i, i % 97);
	buf_adds(&b, "]}}}");
	buf_addc(&b, '\0');
	if (b.failed)
		err(1, "list");
	policy_load(PROTO_RULES_LISTS, "dynamic-lists.json",
	    (const char *)buf_span(&b).p);
	buf_free(&b);
}

static char *
many_paths(void)
{
	struct buf b;

	buf_init(&b, 1U << 20);
	buf_adds(&b, "{\"paths\":[");
	for (unsigned i = 0; i < SIZES_PATHS; i++)
		buf_printf(&b, "%s\"/workspace/src/d%02x/file-%02u.txt\"",
		    i == 0 ? "" : ",", i % 64, i / 64);
	buf_adds(&b, "]}");
	buf_addc(&b, '\0');
	if (b.failed)
		err(1, "paths");
	return (char *)(uintptr_t)buf_span(&b).p;
}

/* Returns {"path":"/workspace/deep/d/d/d/...d"} with `depth` components. */
static char *
deep_path(const char *workspace, unsigned depth)
{
	struct buf b;
	char name[4200];
	int fd, next;

	buf_init(&b, 8192);
	buf_adds(&b, "{\"path\":\"/workspace/deep");
	snprintf(name, sizeof(name), "%s/deep", workspace);
	(void)mkdir(name, 0700);
	if ((fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", name);
	for (unsigned i = 1; i < depth; i++) {
		(void)mkdirat(fd, "d", 0700);
		next = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (next == -1)
			err(1, "%s", name);
		close(fd);
		fd = next;
		buf_adds(&b, "/d");
	}
	close(fd);
	buf_adds(&b, "\"}");
	buf_addc(&b, '\0');
	if (b.failed)
		err(1, "deep");
	return (char *)(uintptr_t)buf_span(&b).p;
}

/* Measure the kernel's part of a sandbox read: lookups of three components. */
static void
look_ups(const char *workspace)
{
	static const char *const names[] = {
	    "src", "src/d07", "src/d07/file-20.txt"};
	double passes[1000];
	uint64_t before;
	struct stat st;
	int fd;

	if ((fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", workspace);
	for (size_t i = 0; i < 1000; i++) {
		before = policy_now();
		for (unsigned k = 0; k < 3 * 64; k++)
			(void)fstatat(
			    fd, names[k % 3], &st, AT_SYMLINK_NOFOLLOW);
		passes[i] = (double)(policy_now() - before);
	}
	close(fd);
	printf(",{\"name\":\"the kernel's part of a sandbox read\","
	       "\"us\":%.2f}",
	    bench_policy_median(passes, 1000) / 64 / 1000);
}

/*
 * A decision about a path of seven components below the workspace, and the same
 * path in one system call: what the kernel alone would take.
 */
static void
seven(const char *workspace, const char *secret)
{
	struct policy_case c = {
	    .server = "filesystem", .tool = "read_file", .want = PROTO_ALLOW};
	double passes[1000], ns;
	uint64_t before;
	struct stat st;
	char *args;
	int fd;

	c.args = args = deep_path(workspace, 7);
	ns = policy_measure(&c, secret, SIZES_NS);
	free(args);
	if ((fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", workspace);
	for (size_t i = 0; i < nitems(passes); i++) {
		before = policy_now();
		for (unsigned k = 0; k < 64; k++)
			if (fstatat(fd, "deep/d/d/d/d/d/d", &st,
				AT_SYMLINK_NOFOLLOW) == -1)
				err(1, "deep");
		passes[i] = (double)(policy_now() - before);
	}
	close(fd);
	printf(",{\"name\":\"a path of 7 components\",\"us\":%.2f}"
	       ",{\"name\":\"one fstatat of it\",\"us\":%.2f}",
	    ns / 1000,
	    bench_policy_median(passes, nitems(passes)) / 64 / 1000);
}

static void
rest(const char *dir, const char *workspace, const char *secret)
{
	static const unsigned depths[] = {10, 100, 1000};
	struct policy_case c = {.server = "fetch",
	    .tool = "http_fetch",
	    .args = "{\"url\":\"https://a.9%02x1.example5.org/x\"}",
	    .want = PROTO_ESCALATE};
	char *args, name[64];

	policy_engine_new(dir, workspace, secret);
	long_list(dir);
	printf("{\"name\":\"list of %u hosts, not on it\",\"us\":%.2f}",
	    SIZES_LIST, policy_measure(&c, secret, SIZES_NS) / 1000);
	c.args = "{\"url\":\"https://a.b.9701.example1.org/x%02x\"}";
	c.want = PROTO_ALLOW;
	printf(",{\"name\":\"list of %u hosts, below one of them\","
	       "\"us\":%.2f}",
	    SIZES_LIST, policy_measure(&c, secret, SIZES_NS) / 1000);
	look_ups(workspace);
	seven(workspace, secret);
	c = (struct policy_case){.server = "filesystem",
	    .tool = "read_multiple_files",
	    .args = args = many_paths(),
	    .want = PROTO_ALLOW};
	snprintf(name, sizeof(name), "%u paths in a call", SIZES_PATHS);
	other(name, &c, secret, SIZES_PATHS);
	free(args);
	c.tool = "read_file";
	for (size_t i = 0; i < nitems(depths); i++) {
		c.args = args = deep_path(workspace, depths[i]);
		snprintf(name, sizeof(name), "%u directories deep", depths[i]);
		other(name, &c, secret, depths[i]);
		free(args);
	}
	engine_free(&policy_engine);
}

void
policy_sizes(const char *dir, const char *workspace, const char *secret)
{
	printf("\"rules\":[");
	for (size_t i = 0; i < nitems(counts); i++) {
		if (i != 0)
			putchar(',');
		rules(dir, workspace, secret, counts[i]);
	}
	printf("],\"sizes\":[");
	rest(dir, workspace, secret);
	printf("]");
}
