/* SPDX-License-Identifier: ISC */
#include "repo/clone.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "common/log.h"
#include "mcp-proxyd/icgit/place.h"
#include "repo/batch.h"
#include "repo/clone_priv.h"

#define CLONE_CONFIG ((size_t)1 << 20)
#define CLONE_OBJECTS ((size_t)256 << 20)
/* A longer pack goes through this process, which counts it. */
#define CLONE_PACK_MOST "--max-input-size=16777216"
#define CLONE_NEW "clone.new"
/* The new directory, where no repository of a user is. */
#define CLONE_DIR "/opt/ironcurtain/clone"
/* It is read once, on this machine: nothing in it is made as small as it can
 * be. */
#define CLONE_PACK_WORDS                                                       \
	"pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q",     \
	    "--window=0"
#define NONE span_of("", 0)

/* Split DIR#REF. A directory whose name has a # is taken as it is. */
static int
clone_source(struct cloning *c, struct fault *fault)
{
	const char *source = c->how->source, *hash = strrchr(source, '#');
	struct stat st;

	c->ref[0] = '\0';
	if (strlcpy(c->dir, source, sizeof(c->dir)) >= sizeof(c->dir))
		return fault_set(fault, "--clone: the name is too long");
	if (hash == NULL || stat(source, &st) == 0)
		return 0;
	c->dir[hash - source] = '\0';
	if (hash[1] == '\0' || hash[1] == '-' ||
	    strlcpy(c->ref, hash + 1, sizeof(c->ref)) >= sizeof(c->ref))
		return fault_set(fault,
		    "--clone %s: no branch, tag or commit has this name after "
		    "the #",
		    source);
	if (c->how->changes)
		return fault_set(fault,
		    "--with-changes takes what is in no commit of the branch "
		    "that is checked out: it cannot be used with #%s",
		    c->ref);
	return 0;
}

/* Find the commit that `name` leads to. Returns 0, 1 if none, or -1. */
static int
clone_commit(struct cloning *c, const char *prefix, const char *name,
    struct fault *fault)
{
	char word[4200];
	struct buf out;
	int r;

	snprintf(word, sizeof(word), "%s%.4000s^{commit}", prefix, name);
	buf_init(&out, 4096);
	r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault, "rev-parse",
	    "--verify", "-q", "--end-of-options", word);
	if (r == 0 &&
	    (!repo_oid_ok(repo_line(&out)) ||
		span_copy(repo_line(&out), c->record.base, REPO_OID) == -1))
		r = -1;
	buf_free(&out);
	return r <= 0 ? r : 1;
}

/* Take the name of a branch, if it can be the clone's. */
static void
clone_branch(struct cloning *c, struct span ref)
{
	if (!span_starts(ref, SPAN("refs/heads/")))
		return;
	ref = span_of(ref.p + 11, ref.len - 11);
	if (repo_name_wrong(ref) == NULL)
		(void)span_copy(ref, c->record.branch, REPO_NAME);
}

/* Find the branch that is checked out; the record's stays "" if there is none.
 */
static int
clone_head(struct cloning *c, struct fault *fault)
{
	struct buf out;
	int r;

	buf_init(&out, 8192);
	r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault,
	    "symbolic-ref", "-q", "HEAD");
	if (r == 0)
		clone_branch(c, repo_line(&out));
	buf_free(&out);
	return r == -1 ? -1 : 0;
}

static bool
clone_format(struct cloning *c, struct span s)
{
	return (span_is(s, "sha1") || span_is(s, "sha256")) &&
	       span_copy(s, c->record.format, sizeof(c->record.format)) == 0;
}

/*
 * Ask for the format of objects, the commit and the branch in one git. Returns
 * 1 if it answers all of it, 0 if each is to be asked for by itself, or -1.
 */
static int
clone_at_once(struct cloning *c, struct fault *fault)
{
	struct span rest, format, oid, ref;
	struct buf out;
	int r;

	if (c->ref[0] != '\0')
		return 0;
	buf_init(&out, 8192);
	r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault, "rev-parse",
	    "--show-object-format", "HEAD^{commit}", "--symbolic-full-name",
	    "HEAD");
	rest = buf_span(&out);
	if (r == -1)
		;
	else if (r == 0 && span_line(&rest, &format) &&
		 span_line(&rest, &oid) && span_line(&rest, &ref) &&
		 rest.len == 0 && repo_oid_ok(oid) && clone_format(c, format) &&
		 span_copy(oid, c->record.base, REPO_OID) == 0) {
		clone_branch(c, ref);
		r = 1;
	} else {
		c->record.format[0] = c->record.base[0] = '\0';
		r = 0;
	}
	buf_free(&out);
	return r;
}

/* Find what is to be cloned: a commit, and the name of its branch. */
static int
clone_what(struct cloning *c, struct fault *fault)
{
	char shown[512];
	int r = 0;

	if (c->record.base[0] == '\0' && c->ref[0] != '\0') {
		r = clone_commit(c, "refs/heads/", c->ref, fault);
		if (r == 0 && repo_name_wrong(span_str(c->ref)) == NULL)
			(void)strlcpy(c->record.branch, c->ref, REPO_NAME);
		if (r == 1)
			r = clone_commit(c, "", c->ref, fault);
		if (r == 1)
			return fault_set(fault,
			    "%s has no branch, tag or commit %s", c->dir,
			    log_vis(span_str(c->ref), shown, sizeof(shown)));
	} else if (c->record.base[0] == '\0') {
		if (clone_head(c, fault) == -1)
			return -1;
		r = clone_commit(c, "", "HEAD", fault);
		if (r == 1)
			return fault_set(fault,
			    "%s has no commit yet: make one first (git add, "
			    "git commit)",
			    c->dir);
	}
	if (c->record.branch[0] == '\0')
		(void)strlcpy(c->record.branch, "work", REPO_NAME);
	return r;
}

/* Read what the clone must know of the user's repository. */
static int
clone_look(struct cloning *c, struct fault *fault)
{
	struct buf out;
	int r;

	if (c->from.shallow)
		return fault_set(fault,
		    "%s is a shallow clone, whose history is cut. Get the rest "
		    "first: git fetch --unshallow",
		    c->dir);
	if ((r = clone_at_once(c, fault)) != 0)
		return r == 1 ? clone_what(c, fault) : -1;
	buf_init(&out, 8192);
	r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault, "rev-parse",
	    "--show-object-format");
	if (r == 0 && !clone_format(c, repo_line(&out)))
		r = fault_set(fault, "its format of objects is not known");
	buf_free(&out);
	return r == 0 ? clone_what(c, fault) : -1;
}

/*
 * Read the URL of origin, and find out whether the repository may lack objects.
 * Returns 1 if it may, 0, or -1 with the fault set.
 */
static int
clone_config(struct cloning *c, struct fault *fault)
{
	static const char url[] = "remote.origin.url";
	struct span rest, item;
	const uint8_t *nl;
	struct buf out;
	int r, partial = 0;

	buf_init(&out, CLONE_CONFIG);
	r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault, "config",
	    "-z", "--get-regexp",
	    "^remote\\.origin\\.url$|^remote\\..*\\.promisor$|"
	    "^extensions\\.partialclone$");
	rest = buf_span(&out);
	while (r == 0 && repo_next(&rest, &item)) {
		nl = memchr(item.p, '\n', item.len);
		if (!span_starts(item, SPAN("remote.origin.url\n")))
			partial = 1;
		else if (nl != NULL)
			c->origin_set =
			    repo_origin(span_of(nl + 1, item.len - sizeof(url)),
				c->origin, sizeof(c->origin));
	}
	buf_free(&out);
	return r == 0 || r == 1 ? partial : -1;
}

/*
 * Refuse a partial clone that lacks objects of the branch: git could not get
 * them. Returns 0, or -1 with the fault set.
 */
static int
clone_partial(struct cloning *c, struct fault *fault)
{
	unsigned long missing = 0;
	struct span rest, line;
	struct buf out;
	int r;

	buf_init(&out, CLONE_OBJECTS);
	r = clone_config(c, fault);
	if (r == 1) {
		r = REPO_GIT(c->how->env, &c->from.view, NONE, &out, fault,
		    "rev-list", "--objects", "--no-object-names",
		    "--missing=print", c->record.base);
		rest = buf_span(&out);
		while (r == 0 && span_line(&rest, &line))
			missing += line.len != 0 && line.p[0] == '?';
	}
	buf_free(&out);
	if (r == 0 && missing != 0)
		return fault_set(fault,
		    "%s is a partial clone that lacks %lu object%s of this "
		    "branch. Get them first: git fetch --refetch --no-filter",
		    c->dir, missing, missing == 1 ? "" : "s");
	return r == 0 ? 0 : -1;
}

/* Run git in the new clone. Returns 0, or -1 with the fault set. */
#define CLONE_GIT(c, fault, ...)                                               \
	(REPO_GIT(                                                             \
	     (c)->how->env, &(c)->to, NONE, NULL, (fault), __VA_ARGS__) == 0   \
		? 0                                                            \
		: -1)

/* Remove everything in a directory below `dir`, of one part or more. */
static void
clone_remove(int dir, const char *path)
{
	struct tree t = {.top = -1};
	struct stat st;

	if (fstat(dir, &st) == -1)
		return;
	t.dev = st.st_dev;
	tree_at(&t, dir, path);
}

/*
 * Take a short history in the sandbox that is there, without flushing it to the
 * disk. Returns 0, or 1 if it failed, with nothing left.
 */
static int
clone_pack(struct cloning *c, struct span in, struct fault *fault)
{
	const struct repo_flow flow = {.from = &c->from.view,
	    .to = &c->to,
	    .from_words = (const char *const[]){CLONE_PACK_WORDS,
		"--compression=0", NULL},
	    .to_words = (const char *const[]){"-c", "core.fsync=none",
		"index-pack", "--stdin", CLONE_PACK_MOST, REPO_STRICT, NULL},
	    .in = in};

	if (repo_batch_flow(c->how->env, &flow, NULL, fault) == 0)
		return 0;
	clone_remove(c->new, ".git/objects/pack");
	return 1;
}

/* Make a repository with the history, and check its commit out. */
static int
clone_fetch(struct cloning *c, struct fault *fault)
{
	char in[REPO_OID + 2];
	struct repo_view from = c->from.view;
	const struct repo_flow flow = {.from = &from,
	    .to = &c->to,
	    .from_words = (const char *const[]){CLONE_PACK_WORDS,
		"--compression=1", NULL},
	    .to_words = (const char *const[]){"index-pack", "--stdin",
		REPO_STRICT, NULL},
	    .in = span_of(
		in, (size_t)snprintf(in, sizeof(in), "%s\n", c->record.base))};

	/* Two sandboxes: that of the user's repository sees nothing else. */
	from.n--;
	if (clone_empty(c, fault) == -1 ||
	    (clone_pack(c, flow.in, fault) == 1 &&
		repo_pump(c->how->env, &flow, fault) == -1))
		return -1;
	/* The branch begins with this. */
	return CLONE_GIT(c, fault, "reset", "-q", "--hard", c->record.base);
}

/* Take uncommitted changes of files that are in the repository. */
static int
clone_changes(struct cloning *c, struct fault *fault)
{
	/* Whatever the user's configuration says, git apply must read it. */
	static const char *const diff[] = {"-c", "core.quotePath=true", "diff",
	    "--binary", "--full-index", "--no-color", "--no-renames",
	    "--no-relative", "--src-prefix=a/", "--dst-prefix=b/",
	    "--submodule=short", "--ignore-submodules=all", "HEAD", NULL};
	static const char *const apply[] = {"apply", "--index", "--allow-empty",
	    "--whitespace=nowarn", "-", NULL};
	struct repo_view from = c->from.view;
	const struct repo_flow flow = {.from = &from,
	    .to = &c->to,
	    .from_words = diff,
	    .to_words = apply,
	    .in = NONE};

	from.n--;
	return repo_pump(c->how->env, &flow, fault);
}

/* Commit what the agent finds, beside every branch: diff compares with it. */
static int
clone_snapshot(struct cloning *c, struct fault *fault)
{
	char tree[REPO_OID];
	struct buf out;
	int r;

	if (CLONE_GIT(c, fault, "add", "-A") == -1)
		return -1;
	buf_init(&out, 4096);
	r = REPO_GIT(c->how->env, &c->to, NONE, &out, fault, "write-tree");
	if (r == 0 && span_copy(repo_line(&out), tree, sizeof(tree)) == -1)
		r = -1;
	buf_reset(&out, 4096);
	if (r == 0)
		r = REPO_GIT(c->how->env, &c->to, NONE, &out, fault, "-c",
		    "user.name=IronCurtain", "-c",
		    "user.email=ironcurtain@localhost", "commit-tree", tree,
		    "-p", c->record.base, "-m", "what was in no commit");
	if (r == 0 &&
	    (!repo_oid_ok(repo_line(&out)) ||
		span_copy(repo_line(&out), c->record.start, REPO_OID) == -1))
		r = -1;
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

static int
clone_fill(struct cloning *c, struct fault *fault)
{
	const struct repo_clone *how = c->how;

	if (clone_look(c, fault) == -1 || clone_partial(c, fault) == -1 ||
	    clone_fetch(c, fault) == -1)
		return -1;
	if (faccessat(c->new, ".gitmodules", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		how->say("submodules are not in the clone: their directories "
			 "are empty. In place, without --clone, the agent has "
			 "those that are checked out");
	memcpy(c->record.start, c->record.base, REPO_OID);
	if (how->dirty && c->ref[0] == '\0' && !c->from.bare &&
	    repo_dirty(how->env, &c->from.view, c->dir, how->say, fault) == -1)
		return -1;
	if (how->changes &&
	    (clone_changes(c, fault) == -1 || clone_untracked(c, fault) == -1))
		return -1;
	if (how->nwith != 0 && clone_with(c, fault) == -1)
		return -1;
	if (how->changes || how->nwith != 0)
		return clone_snapshot(c, fault);
	return 0;
}

/* Move everything in one directory to another. Returns 0, or -1 with errno. */
static int
clone_move(int from, int to)
{
	struct dirent *e;
	int rv = 0, fd;
	DIR *d;

	fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL)
		return -1;
	while (rv == 0 && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rv = renameat(from, e->d_name, to, e->d_name);
	closedir(d);
	return rv;
}

static void
clone_name(struct cloning *c)
{
	const char *base = strrchr(c->how->session_path, '/');

	base = base == NULL ? c->how->session_path : base + 1;
	if (strlen(base) >= sizeof(c->record.session) ||
	    repo_name_wrong(span_str(base)) != NULL)
		base = "session";
	(void)strlcpy(c->record.session, base, sizeof(c->record.session));
	(void)strlcpy(c->record.dir, c->from.top_path, sizeof(c->record.dir));
}

/* Remove what a start that was killed has left. */
static int
clone_again(const struct repo_clone *how, struct fault *fault)
{
	struct stat st;

	if (fstatat(how->session, CLONE_NEW, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		clone_remove(how->session, CLONE_NEW);
		clone_remove(how->session, "sandbox");
	}
	if (!tree_empty(how->sandbox, NULL))
		return fault_set(fault,
		    "%s/sandbox has files already: --clone needs a new session",
		    how->session_path);
	return 0;
}

/* Files that the user's git ignores everywhere count as ignored here, too. */
static void
clone_ignore(struct cloning *c)
{
	static struct repo_made made[2];

	if (c->how->ignore == NULL)
		return;
	made[0] =
	    (struct repo_made){.dest = ICGIT_IGNORE, .text = c->how->ignore};
	c->from.view.made = made;
	c->from.view.identity = ICGIT_FILES;
}

/*
 * Have all gits run in one sandbox, which sees both directories; without it,
 * each has one of its own. Returns 0, or -1 with errno set.
 */
static int
clone_batch(struct cloning *c)
{
	if (repo_view_add(&c->to, c->new, CLONE_DIR, true) == -1 ||
	    repo_view_add(&c->from.view, c->new, CLONE_DIR, true) == -1)
		return -1;
	c->to.dir = CLONE_DIR;
	c->to.batch_git = c->from.view.batch_git = repo_batch_git;
	c->to.batch = c->from.view.batch = repo_batch_new(&c->from.view);
	return 0;
}

static int
clone_in(struct cloning *c, struct fault *fault)
{
	const struct repo_clone *how = c->how;
	int rv;

	if (repo_place_open(&c->from, c->dir,
		c->ref[0] == '\0' ? REPO_PLACE_TREE : REPO_PLACE_GIT,
		fault) == -1)
		return -1;
	clone_ignore(c);
	if (how->changes && c->from.bare)
		return fault_set(fault,
		    "%s has no working tree: --with-changes has no effect",
		    c->dir);
	clone_name(c);
	if (clone_again(how, fault) == -1)
		return -1;
	if ((mkdirat(how->session, CLONE_NEW, 0700) == -1 && errno != EEXIST) ||
	    (c->new = openat(how->session, CLONE_NEW,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1 ||
	    clone_batch(c) == -1)
		return fault_errno(fault, "%s", how->session_path);
	rv = clone_fill(c, fault);
	repo_batch_free(c->to.batch);
	c->to.batch = c->from.view.batch = NULL;
	if (rv == -1)
		return -1;
	/* A record without a clone is no clone: see repo_cloned(). */
	if (repo_record_write(&c->record, how->session) == -1 ||
	    clone_move(c->new, how->sandbox) == -1) {
		fault_errno(fault, "%s", how->session_path);
		(void)unlinkat(how->session, REPO_RECORD, 0);
		clone_remove(how->session, "sandbox");
		return -1;
	}
	return 0;
}

int
repo_clone(const struct repo_clone *how, struct fault *fault)
{
	static struct cloning c;
	int rv;

	memset(&c, 0, sizeof(c));
	c.how = how;
	c.new = -1;
	c.room = REPO_MAX_BYTES;
	if (clone_source(&c, fault) == -1)
		return -1;
	rv = clone_in(&c, fault);
	repo_place_close(&c.from);
	repo_view_free(&c.to);
	if (c.new != -1)
		close(c.new);
	clone_remove(how->session, CLONE_NEW);
	/* As long as it is there, the clone counts as half done. */
	if (unlinkat(how->session, CLONE_NEW, AT_REMOVEDIR) == -1 && rv == 0)
		rv = fault_errno(fault, "%s/" CLONE_NEW, how->session_path);
	return rv;
}

bool
repo_cloned(int session, int sandbox)
{
	struct stat st;

	/* .git need not be the last that is moved: see clone_move(). */
	return fstatat(session, REPO_RECORD, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(session, CLONE_NEW, &st, AT_SYMLINK_NOFOLLOW) == -1 &&
	       errno == ENOENT &&
	       fstatat(sandbox, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
}
