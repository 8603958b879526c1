/* SPDX-License-Identifier: ISC */
/*
 * Opens everything that a compilation reads: its directories, the constitution
 * and the annotations. One compilation at a time works in a directory.
 */
#include "icctl/policy/compile/compile.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/json/json.h"
#include "common/time_text.h"
#include "files/policy_install.h"
#include "files/policydir.h"

#define OPEN_POOL ((size_t)512 << 20)

/* Make a directory that only the user may enter, and those above it. */
static int
open_mkdir(const char *path, struct fault *fault)
{
	char copy[PATH_MAX], *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	for (slash = copy + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(copy, 0700) == -1 && errno != EEXIST)
			return fault_errno(fault, "%s", copy);
		*slash = '/';
	}
	if (mkdir(copy, 0700) == -1 && errno != EEXIST)
		return fault_errno(fault, "%s", copy);
	return 0;
}

/* Write the directory's absolute path, which need not exist. */
static int
open_absolute(const char *dir, char dst[PATH_MAX], struct fault *fault)
{
	char cwd[PATH_MAX];
	int n;

	if (dir[0] == '/')
		n = snprintf(dst, PATH_MAX, "%s", dir);
	else if (getcwd(cwd, sizeof(cwd)) == NULL)
		return fault_errno(fault, "--output-dir %s", dir);
	else
		n = snprintf(dst, PATH_MAX, "%s/%s", cwd, dir);
	if (n < 0 || n >= PATH_MAX - 300)
		return fault_set(fault, "--output-dir: the path is too long");
	return 0;
}

/* The clock, or SOURCE_DATE_EPOCH where artefacts must be reproducible. */
static void
open_now(struct compile *c)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	uint64_t fixed;
	int64_t now = time(NULL);

	if (epoch != NULL &&
	    span_u64(span_str(epoch), 253402300799ULL, &fixed) == 0)
		now = (int64_t)fixed;
	if (time_text_fine(now, ".000", c->now)[0] == '\0')
		errx(ICCTL_FAILED, "the clock cannot be read");
}

/* Take the lock of the directory. It is held as long as this process lives. */
static int
open_lock(struct compile *c, struct fault *fault)
{
	char path[PATH_MAX], hex[SHA256_HEX];
	uint8_t sum[SHA256_SIZE];

	sha256_span(span_str(c->dir), sum);
	sha256_hex(sum, hex);
	snprintf(path, sizeof(path), "%.4000s/%.16s.lock", c->cache, hex);
	c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->lock == -1)
		return fault_errno(fault, "%s", path);
	if (flock(c->lock, LOCK_EX | LOCK_NB) == -1)
		return errno == EWOULDBLOCK
			   ? fault_set(fault,
				 "another icctl policy works in %s: wait for "
				 "its end",
				 c->dir)
			   : fault_errno(fault, "%s", path);
	return 0;
}

/*
 * Begin without drafts: one that nobody agreed to must not come into force with
 * what is made now.
 */
static int
open_pending(const struct compile *c, struct fault *fault)
{
	if (tree_remove(c->pending) == -1)
		return fault_errno(fault, "%s", c->pending);
	return open_mkdir(c->pending, fault);
}

int
compile_open(struct compile *c, struct icctl *ctl, const struct compile_opts *o,
    struct fault *fault)
{
	char path[PATH_MAX];

	memset(c, 0, sizeof(*c));
	c->ctl = ctl;
	c->o = *o;
	c->log = c->lock = -1;
	open_now(c);
	if ((c->pool = value_pool_new(OPEN_POOL)) == NULL)
		return fault_errno(fault, "icctl policy");
	if (policy_own_path("share/ironcurtain", c->datadir,
		sizeof(c->datadir)) == -1 ||
	    policy_own_path("share/ironcurtain/policies", c->shipped,
		sizeof(c->shipped)) == -1)
		return fault_errno(fault, "share/ironcurtain");
	if (o->dir != NULL) {
		if (open_absolute(o->dir, c->dir, fault) == -1)
			return -1;
	} else {
		snprintf(c->dir, sizeof(c->dir), "%.3800s/policy", ctl->home);
	}
	snprintf(c->pending, sizeof(c->pending), "%.4000s/pending", c->dir);
	snprintf(c->cache, sizeof(c->cache), "%.3800s/policy-cache", ctl->home);
	if (open_mkdir(c->cache, fault) == -1 || open_lock(c, fault) == -1 ||
	    policy_install_recover(c->dir, fault) == -1 ||
	    open_pending(c, fault) == -1)
		return -1;
	snprintf(path, sizeof(path), "%.4000s/llm-interactions.jsonl", c->dir);
	c->log = open(path,
	    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->log == -1)
		return fault_errno(fault, "%s", path);
	return 0;
}

/* Close the log, and remove it if nothing was said. */
static void
close_log(const struct compile *c)
{
	char path[PATH_MAX];
	struct stat st;

	if (c->log == -1)
		return;
	snprintf(path, sizeof(path), "%.4000s/llm-interactions.jsonl", c->dir);
	if (fstat(c->log, &st) == 0 && st.st_size == 0)
		(void)unlink(path);
	close(c->log);
}

void
compile_close(struct compile *c)
{
	box_end(c->box);
	c->box = NULL;
	freezero(c->constitution,
	    c->constitution == NULL ? 0 : strlen(c->constitution));
	free(c->annotations.path);
	free(c->annotations.text);
	value_pool_free(c->pool);
	close_log(c);
	if (c->lock != -1)
		close(c->lock);
	/* Without a draft in it, the directory is as it was. */
	(void)rmdir(c->pending);
	(void)rmdir(c->dir);
}

/* Append a file of text. Returns 1 if there is none, 0, or -1. */
static int
open_text(struct buf *b, const char *path, struct fault *fault)
{
	struct stat st;
	uint8_t *room;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT)
		return 1;
	if (fd == -1 || fstat(fd, &st) == -1) {
		fault_errno(fault, "%s", path);
		if (fd != -1)
			close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return fault_set(fault, "%s: is not a plain file", path);
	}
	while ((room = buf_room(b, 16384)) != NULL &&
	       (n = read(fd, room, 16384)) > 0)
		buf_grow(b, (size_t)n);
	close(fd);
	if (b->failed)
		return fault_set(fault,
		    "%s: a constitution has at most 256 KiB. Shorten it", path);
	return 0;
}

/*
 * Append the shipped principles, and make them the user's own: a session
 * compares them with the policy that was made of them.
 */
static int
open_principles(const struct compile *c, struct buf *b, const char *own,
    struct fault *fault)
{
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%.4000s/constitution.md", c->datadir);
	if ((r = open_text(b, path, fault)) == 1)
		return fault_set(fault, "%s: there is no such file", path);
	if (r == 0 && jsonfile_replace(own, buf_span(b)) == -1)
		return fault_errno(fault, "%s", own);
	return r;
}

/*
 * Collect the text: the file that was named, or the shipped principles and what
 * the user wrote.
 */
static int
open_collect(const struct compile *c, struct buf *b, struct fault *fault)
{
	char path[PATH_MAX];
	int r;

	if (c->o.task != NULL) {
		buf_adds(b, c->o.task);
		return 0;
	}
	if (c->o.constitution != NULL) {
		r = open_text(b, c->o.constitution, fault);
		if (r == 1 && c->o.persona != NULL)
			return fault_set(fault,
			    "%s: there is none yet. Write down in English what "
			    "an agent may do, or run: icctl policy customize "
			    "--persona %s",
			    c->o.constitution, c->o.persona);
		return r == 1 ? fault_set(fault, "%s: there is no such file",
				    c->o.constitution)
			      : r;
	}
	snprintf(path, sizeof(path), "%.4000s/constitution.md", c->ctl->home);
	if ((r = open_text(b, path, fault)) == 1)
		r = open_principles(c, b, path, fault);
	if (r == -1)
		return -1;
	/* As the TypeScript IronCurtain joins them. */
	buf_adds(b, "\n\n");
	snprintf(
	    path, sizeof(path), "%.4000s/constitution-user.md", c->ctl->home);
	if ((r = open_text(b, path, fault)) == 1)
		return fault_set(fault,
		    "%s: there is none yet. Write down in English what an "
		    "agent may do, or run: icctl policy customize",
		    path);
	return r;
}

static bool
open_blank(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (strchr(" \t\r\n", s.p[i]) == NULL)
			return false;
	return true;
}

int
compile_constitution(struct compile *c, struct fault *fault)
{
	const char *what = c->o.task != NULL ? "the task"
			   : c->o.constitution != NULL
			       ? c->o.constitution
			       : "the constitution";
	uint8_t sum[SHA256_SIZE];
	struct buf b;
	struct span s;
	int rv = -1;

	buf_init(&b, COMPILE_MAX_TEXT + 16384);
	if (open_collect(c, &b, fault) == -1)
		goto out;
	s = buf_span(&b);
	if (s.len > COMPILE_MAX_TEXT)
		fault_set(fault, "%s: has more than 256 KiB. Shorten it", what);
	else if (open_blank(s))
		fault_set(fault, "%s is empty. Write down what an agent may "
				 "do, or run: icctl policy customize%s%s", what,
		    c->o.persona != NULL ? " --persona " : "",
		    c->o.persona != NULL ? c->o.persona : "");
	else if (!utf8_valid(s) || memchr(s.p, '\0', s.len) != NULL)
		fault_set(fault, "%s: is not UTF-8 text. Convert it (iconv -t "
				 "UTF-8)", what);
	else if ((c->constitution = span_dup(s)) == NULL)
		fault_errno(fault, "%s", what);
	else
		rv = 0;
	sha256_span(s, sum);
	sha256_hex(sum, c->hash);
out:
	buf_free(&b);
	return rv;
}

int
compile_unchanged(const struct compile *c, struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, COMPILE_MAX_TEXT + 16384);
	rv = open_collect(c, &b, fault);
	if (rv == 0 && !span_is(buf_span(&b), c->constitution))
		rv = fault_set(fault,
		    "the constitution was changed meanwhile. What is in force "
		    "stays in force; compile again");
	buf_free(&b);
	return rv;
}

/* Read the annotations of `dir`, if there are some. Returns 1 if not. */
static int
open_annotations(struct compile *c, const char *dir, struct fault *fault)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", dir,
	    policydir_names[PROTO_RULES_ANNOTATIONS]);
	if (access(path, F_OK) == -1)
		return 1;
	return policy_file_read(&c->annotations, path, fault);
}

int
compile_annotations(struct compile *c, struct fault *fault)
{
	struct value_pool *pool = NULL;
	const struct value *v;
	char *used = NULL, name[256];
	int r;

	if ((r = open_annotations(c, c->dir, fault)) == 1 &&
	    (used = policydir_find(c->ctl->home, c->shipped, NULL, fault)) !=
		NULL)
		r = open_annotations(c, used, fault);
	free(used);
	if (r == 1)
		r = open_annotations(c, c->shipped, fault);
	if (r == 1)
		return fault_set(fault, "there are no annotations of tools: "
					"icctl policy annotate --all");
	if (r == -1)
		return -1;
	if ((v = policy_tree(&c->annotations, &pool)) == NULL ||
	    (v = value_get(v, "servers")) == NULL ||
	    v->type != VALUE_OBJECT ||
	    (v = value_copy(c->pool, v)) == NULL) {
		value_pool_free(pool);
		return fault_set(fault, "%s: is malformed. See icctl policy "
					"check", c->annotations.path);
	}
	value_pool_free(pool);
	for (v = v->child; v != NULL; v = v->next) {
		if (c->nservers == COMPILE_MAX_SERVERS)
			return fault_set(fault, "%s: more than %u servers",
			    c->annotations.path, COMPILE_MAX_SERVERS);
		(void)span_copy(v->key, name, sizeof(name));
		if (c->o.who != NULL && !persona_has_server(c->o.who, name))
			continue;
		c->servers[c->nservers++] = (struct compile_server){
		    .name = v->key, .tools = value_get(v, "tools")};
		c->annotated[c->nannotated++] = c->servers[c->nservers - 1];
	}
	return 0;
}
