/* SPDX-License-Identifier: ISC */
#include "unit/policyd/rig.h"

#include <sys/epoll.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const rig_status[] = {"allow", "deny", "escalate"};

/* Annotations for the statements; not the shipped ones. */
const char rig_annotations[] =
    "{\"generatedAt\":\"2026-11-01T00:00:00Z\",\"servers\":{"
    "\"filesystem\":{\"inputHash\":\"0\",\"tools\":["
    "{\"toolName\":\"read\",\"serverName\":\"filesystem\",\"comment\":\"\","
    "\"args\":{\"path\":[\"read-path\"],\"head\":[\"none\"]}},"
    "{\"toolName\":\"write\",\"args\":{\"path\":[\"write-path\"],"
    "\"content\":[\"none\"]}},"
    "{\"toolName\":\"delete\",\"args\":{\"path\":[\"delete-path\"]}},"
    "{\"toolName\":\"many\",\"args\":{\"paths\":[\"read-path\"]}},"
    "{\"toolName\":\"edit\",\"args\":{\"path\":{\"default\":"
    "[\"read-path\",\"write-path\"],\"when\":[{\"condition\":{\"arg\":"
    "\"dryRun\",\"equals\":true},\"roles\":[\"read-path\"]}]},"
    "\"dryRun\":[\"none\"]}},"
    "{\"toolName\":\"move\",\"args\":{\"source\":[\"read-path\","
    "\"delete-path\"],\"destination\":[\"write-path\"]}},"
    "{\"toolName\":\"history\",\"args\":{\"path\":[\"write-history\"]}},"
    "{\"toolName\":\"list_allowed_directories\",\"args\":{}},"
    "{\"toolName\":\"nothing\",\"args\":{\"x\":[\"none\"]}}]},"
    "\"git\":{\"tools\":["
    "{\"toolName\":\"status\",\"args\":{\"path\":[\"read-path\"],"
    "\"files\":[\"none\"]}},"
    "{\"toolName\":\"push\",\"args\":{\"path\":[\"read-path\"],"
    "\"remote\":[\"git-remote-url\"],\"branch\":[\"branch-name\"]}},"
    "{\"toolName\":\"clone\",\"args\":{\"url\":[\"git-remote-url\"],"
    "\"localPath\":[\"write-path\"]}},"
    "{\"toolName\":\"commit\",\"args\":{\"path\":[\"write-path\"],"
    "\"message\":[\"commit-message\"]}},"
    "{\"toolName\":\"reset\",\"args\":{\"path\":[\"write-history\","
    "\"delete-history\"],\"target\":[\"none\"]}},"
    "{\"toolName\":\"remote\",\"args\":{\"path\":[\"read-path\"],"
    "\"mode\":[\"none\"],\"url\":{\"default\":[\"git-remote-url\"],"
    "\"when\":[{\"condition\":{\"arg\":\"mode\",\"in\":[\"list\","
    "\"remove\"]},\"roles\":[\"none\"]}]}}}]},"
    "\"fetch\":{\"tools\":["
    "{\"toolName\":\"get\",\"args\":{\"url\":[\"fetch-url\"],"
    "\"headers\":[\"none\"]}},"
    "{\"toolName\":\"search\",\"args\":{\"query\":[\"none\"]}},"
    "{\"toolName\":\"save\",\"args\":{\"url\":[\"fetch-url\"],"
    "\"to\":[\"write-path\"]}}]},"
    "\"gated\":{\"tools\":["
    "{\"toolName\":\"get\",\"args\":{\"url\":[\"fetch-url\"]}}]},"
    "\"github\":{\"tools\":["
    "{\"toolName\":\"issue\",\"args\":{\"owner\":[\"github-owner\"],"
    "\"repo\":[\"github-repo\"],\"title\":[\"none\"]}}]},"
    "\"mail\":{\"tools\":["
    "{\"toolName\":\"send\",\"args\":{\"to\":[\"email-address\"],"
    "\"body\":[\"email-body\"]}},"
    "{\"toolName\":\"share\",\"args\":{\"who\":[\"email-address\"],"
    "\"how\":[\"share-permission\"]}}]},"
    "\"cond\":{\"tools\":["
    "{\"toolName\":\"present\",\"args\":{\"path\":{\"default\":"
    "[\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\",\"is\":"
    "\"present\"},\"roles\":[\"none\"]}]}}},"
    "{\"toolName\":\"absent\",\"args\":{\"path\":{\"default\":"
    "[\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\",\"is\":"
    "\"absent\"},\"roles\":[\"none\"]}]}}},"
    "{\"toolName\":\"truthy\",\"args\":{\"path\":{\"default\":"
    "[\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\",\"is\":"
    "\"truthy\"},\"roles\":[\"none\"]}]}}},"
    "{\"toolName\":\"falsy\",\"args\":{\"path\":{\"default\":"
    "[\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\",\"is\":"
    "\"falsy\"},\"roles\":[\"none\"]}]}}},"
    "{\"toolName\":\"equals\",\"args\":{\"path\":{\"default\":"
    "[\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\",\"equals\":"
    "\"x\"},\"roles\":[\"none\"]},{\"condition\":{\"arg\":\"a\","
    "\"equals\":1},\"roles\":[\"none\"]}]}}},"
    "{\"toolName\":\"first\",\"args\":{\"path\":{\"default\":"
    "[\"read-path\",\"write-path\"],\"when\":[{\"condition\":{\"arg\":\"a\","
    "\"is\":\"present\"},\"roles\":[\"read-path\"]},{\"condition\":{\"arg\":"
    "\"a\",\"equals\":\"x\"},\"roles\":[\"none\"]}]}}}]},"
    "\"other\":{\"tools\":["
    "{\"toolName\":\"read\",\"args\":{\"path\":[\"read-path\"]}},"
    "{\"toolName\":\"two\",\"args\":{\"a\":[\"write-path\"],"
    "\"z\":[\"read-path\"]}},"
    "{\"toolName\":\"two_other_way\",\"args\":{\"z\":[\"read-path\"],"
    "\"a\":[\"write-path\"]}},"
    "{\"toolName\":\"mixed\",\"args\":{\"p\":[\"read-path\"],"
    "\"u\":[\"fetch-url\"]}},"
    "{\"toolName\":\"list_allowed_directories\",\"args\":{}},"
    "{\"toolName\":\"domain\",\"args\":{\"name\":[\"proxy-domain\"]}}]}}}";

static void
at(const struct rig *r, const char *path, char *out, size_t cap)
{
	if (snprintf(out, cap, "%s/%s", r->dir, path) >= (int)cap)
		errx(1, "%s: too long", path);
}

void
rig_file(struct rig *r, const char *path)
{
	char name[1024];
	int fd;

	at(r, path, name, sizeof(name));
	if ((fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == -1)
		err(1, "%s", name);
	close(fd);
}

void
rig_dir(struct rig *r, const char *path)
{
	char name[1024];

	at(r, path, name, sizeof(name));
	if (mkdir(name, 0700) == -1)
		err(1, "%s", name);
}

void
rig_link(struct rig *r, const char *target, const char *path)
{
	char name[1024];

	at(r, path, name, sizeof(name));
	if (symlink(rig_text(r, target), name) == -1)
		err(1, "%s", name);
}

/* Let the engine know directories, as icsupervisor lets policyd. */
static void
known(struct engine *e)
{
	struct epoll_event ev = {.events = EPOLLPRI};
	int events = epoll_create1(EPOLL_CLOEXEC);
	int mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	if (events == -1 || mounts == -1 ||
	    epoll_ctl(events, EPOLL_CTL_ADD, mounts, &ev) == -1 ||
	    engine_known(e, events, RIG_FILES) == -1)
		err(1, "mountinfo");
}

void
rig_init(struct rig *r, struct engine *e)
{
	static const char *const dirs[] = {"ws", "ws/sub", "home", "home/docs",
	    "home/docs/deep", "out", "prot", "ws/.git"};
	static const char *const files[] = {"ws/a", "ws/b", "ws/sub/c",
	    "home/docs/d", "home/docs/deep/e", "home/private", "out/o",
	    "prot/p"};
	const char *tmp = getenv("TMPDIR");
	char *real;

	memset(r, 0, sizeof(*r));
	snprintf(r->dir, sizeof(r->dir), "%s/policy.XXXXXX",
	    tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(r->dir) == NULL)
		err(1, "mkdtemp");
	/* The test's own directory, with links in its path resolved. */
	if ((real = realpath(r->dir, NULL)) == NULL)
		err(1, "realpath");
	snprintf(r->dir, sizeof(r->dir), "%s", real);
	free(real);
	for (size_t i = 0; i < nitems(dirs); i++)
		rig_dir(r, dirs[i]);
	for (size_t i = 0; i < nitems(files); i++)
		rig_file(r, files[i]);
	load_init(&r->load, "test");
	r->engine = e != NULL ? e : &r->own;
	if ((e == NULL && engine_init(r->engine) == -1) ||
	    (r->pool = value_pool_new(64 << 20)) == NULL)
		err(1, "engine_init");
	known(r->engine);
	if (engine_settings(r->engine, 300000, true, true,
		span_str(rig_text(r, "@D/home"))) == -1 ||
	    engine_protect(r->engine, span_str(rig_text(r, "@D/prot"))) == -1)
		err(1, "engine");
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

void
rig_free(struct rig *r)
{
	if (r->engine == &r->own)
		engine_free(r->engine);
	value_pool_free(r->pool);
	load_free(&r->load);
	free(r->text);
	(void)nftw(r->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *
rig_text(struct rig *r, const char *in)
{
	struct buf b;

	buf_init(&b, 16 << 20);
	for (; *in != '\0'; in++) {
		if (in[0] == '@' && in[1] == 'D') {
			buf_adds(&b, r->dir);
			in++;
		} else {
			buf_addc(&b, (uint8_t)*in);
		}
	}
	free(r->text);
	if ((r->text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	buf_free(&b);
	return r->text;
}

void
rig_row(struct rig *r, unsigned index, const char *path, const char *host)
{
	char name[1024];
	int fd;

	snprintf(name, sizeof(name), "%s", rig_text(r, host));
	if ((fd = open(name, O_PATH | O_CLOEXEC)) == -1)
		err(1, "%s", name);
	if (engine_view(r->engine, index, span_str(rig_text(r, path)),
		span_str(name), PROTO_VIEW_WRITE, fd) == -1)
		err(1, "engine_view");
}

void
rig_server(struct rig *r, unsigned index, const char *name, bool trusted,
    const char *domains)
{
	if (engine_server(r->engine, index, span_str(name), trusted,
		SPAN("/workspace"), SPAN(""), span_str(domains)) == -1)
		err(1, "engine_server");
	rig_row(r, index, "/workspace", "@D/ws");
	rig_row(r, index, "@D/home/docs", "@D/home/docs");
}

int
rig_load(struct rig *r, enum proto_rules kind, const char *text)
{
	static const char *const names[] = {"compiled-policy.json",
	    "tool-annotations.json", "dynamic-lists.json"};

	load_free(&r->load);
	load_init(&r->load, names[kind]);
	text = rig_text(r, text);
	return engine_rules(r->engine, kind, span_str(text), &r->load);
}

void
rig_must_load(struct rig *r, enum proto_rules kind, const char *text)
{
	if (rig_load(r, kind, text) == -1)
		errx(1, "%s", r->load.error);
}

struct value *
rig_tree(struct rig *r, const char *json)
{
	struct json_fail fail;
	const struct value *v;
	struct span text;
	char *copy;

	value_pool_reset(r->pool);
	json = rig_text(r, json);
	if ((copy = value_pool_alloc(r->pool, strlen(json) + 1)) == NULL)
		err(1, "value_pool_alloc");
	memcpy(copy, json, strlen(json) + 1);
	text = span_of(copy, strlen(json));
	if ((v = json_read(r->pool, text, &fail)) == NULL)
		errx(1, "%s: %s at %zu", json, json_strerror(fail.error),
		    fail.at);
	return (struct value *)(uintptr_t)v;
}

void
rig_eval(struct rig *r, const char *server, const char *tool, const char *args,
    struct decision *d)
{
	struct value *tree = rig_tree(r, args);

	eval_call(r->engine, span_str(server), span_str(tool), tree, r->pool,
	    d);
}
