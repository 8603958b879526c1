/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints: the order and the reader of manifests, the store, what a save
 * reads again, what a plan has, and what a restore does and does not do.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sha256.h"
#include "tap.h"
#include "workers/snap/snap.h"

static struct store store = {.fd = -1};
static int tree = -1;
static char top[64];
static unsigned nfailed;
static char failed_why[200];

/* Count the rows that were not done, and keep the last reason. */
static void
take_rows(void)
{
	struct span s = buf_span(&snap_rows);
	const char *p = (const char *)s.p, *end = p + s.len;

	nfailed = 0;
	while (s.len != 0 && p < end) {
		p += strlen(p) + 1;
		snprintf(failed_why, sizeof(failed_why), "%s", p);
		p += strlen(p) + 1;
		nfailed++;
	}
	buf_free(&snap_rows);
}

static int
cmp(const char *a, const char *b)
{
	return manifest_cmp(span_str(a), span_str(b));
}

static void
test_order(void)
{
	ok(cmp("a", "a/b") < 0 && cmp("a/b", "a-b") < 0 && cmp("a", "b") < 0 &&
		cmp("a/z", "b") < 0 && cmp("a", "a") == 0,
	    "a directory comes right before what is in it");
	ok(manifest_below(SPAN("a/b"), SPAN("a")) &&
		!manifest_below(SPAN("ab"), SPAN("a")) &&
		!manifest_below(SPAN("a"), SPAN("a")),
	    "what is below a directory");
}

static int
reads(const void *p, size_t len)
{
	struct manifest m;
	int rv;

	memset(&m, 0, sizeof(m));
	buf_init(&m.text, 4096);
	buf_add(&m.text, p, len);
	rv = manifest_read(&m);
	manifest_free(&m);
	return rv;
}

#define READS(s) reads((s), sizeof(s) - 1)

static void
test_manifest(void)
{
	is_int(READS("d755 0\0a\0\0l0 0\0a/l\0x\0"), 0, "a manifest is read");
	is_int(READS("d755 0\0../a\0\0"), -1, "no path that leads up");
	is_int(READS("d755 0\0a//b\0\0"), -1, "no empty name");
	is_int(READS("d755 0\0/a\0\0"), -1, "no absolute path");
	is_int(READS("d755 0\0b\0\0d755 0\0a\0\0"), -1, "in order only");
	is_int(READS("d755 0\0a\0\0d755 0\0a\0\0"), -1, "no path twice");
	is_int(READS("d4755 0\0a\0\0"), -1, "no setuid bit");
	is_int(READS("f644 1\0a\0abc\0"), -1, "no short digest");
	is_int(READS("d755 0\0a\0"), -1, "nothing is cut short");
	is_int(READS("z755 0\0a\0\0"), -1, "no other kind");
}

static void
put(const char *path, const char *text, mode_t mode)
{
	int fd = openat(tree, path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
	(void)fchmod(fd, mode);
	close(fd);
}

static const char *
get(const char *path)
{
	static char text[64];
	int fd = openat(tree, path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n == -1 ? "none" : text;
}

static struct snap_report
save_with(const char *leave, uint32_t files)
{
	static struct snap_how how;
	struct snap_report r;

	memset(&r, 0, sizeof(r));
	how = (struct snap_how){.limits = {.file = 1U << 20,
				    .turn = 1U << 30,
				    .store = 1U << 30,
				    .files = files,
				    .keep = 100,
				    .days = 30}};
	(void)strlcpy(how.record.kind, "named", sizeof(how.record.kind));
	(void)strlcpy(how.record.session, "s", sizeof(how.record.session));
	if (leave != NULL)
		how.leave[how.nleave++] = leave;
	snap_save(&store, &how, &r);
	snap_save_free();
	return r;
}

static uint32_t
save(void)
{
	return save_with(NULL, 1000).number;
}

/* Returns the rows as "b:a.txt c:dir ". */
static const char *
plan_of(struct snap_how *how, struct plan *p)
{
	static char text[2000];
	size_t n = 0;

	text[0] = '\0';
	if (plan_make(p, &store, how) == -1)
		return p->why;
	for (size_t i = 0; i < p->n && n < sizeof(text); i++) {
		const struct plan_row *r = &p->rows[i];
		struct span path =
		    r->from != NULL ? r->from->path : r->to->path;

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%c:%.*s%s ",
		    (int)r->what, (int)path.len, (const char *)path.p,
		    r->later ? "!" : "");
	}
	return text;
}

static const char *
plan(uint32_t now, uint32_t to, uint32_t ref, bool restore)
{
	struct snap_how how = {.now = now, .to = to};
	static struct plan p;
	const char *text;

	if (ref != 0)
		how.refs[how.nrefs++] = ref;
	text = plan_of(&how, &p);
	buf_init(&snap_rows, 1U << 16);
	if (restore)
		snap_restore(&store, &p, tree);
	take_rows();
	plan_free(&p);
	return text;
}

static void
test_save(void)
{
	struct snap_report a, b;
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];

	put("a.txt", "one", 0644);
	(void)mkdirat(tree, "dir", 0750);
	put("dir/b", "two", 0600);
	put("run.sh", "x", 0755);
	if (symlinkat("/etc", tree, "link") == -1)
		exit(1);
	(void)mkdirat(tree, "node_modules", 0755);
	put("node_modules/x", "left", 0644);
	(void)mkfifoat(tree, "fifo", 0600);
	a = save_with(NULL, 1000);
	b = save_with(NULL, 1000);
	ok(a.number == 1 && b.number == 2 && a.files == 7 && a.left == 1,
	    "a checkpoint: %s", a.why);
	ok(memcmp(a.sum, b.sum, 32) == 0 && b.added == 0,
	    "an equal tree has an equal manifest, and costs nothing");
	put("a.txt", "ONE", 0644);
	(void)utimensat(tree, "a.txt", old, 0);
	is_str(plan(save(), 1, 0, false), "b:a.txt ",
	    "a change of the same size, with its time set back, is found");
	b = save_with(NULL, 3);
	ok(b.number == 0 && strstr(b.why, "more than 3") != NULL,
	    "too many entries: there is no checkpoint, and it says why");
	put("0", "is not copied", 0644);
	b = save_with(NULL, 3);
	sha256_span(SPAN("is not copied"), sum);
	ok(b.number == 0 &&
		faccessat(store.objects, sha256_hex(sum, hex), F_OK, 0) == -1,
	    "and the next one, which is counted first, copies nothing");
	(void)unlinkat(tree, "0", 0);
}

static void
test_plan(void)
{
	uint32_t before, after, now;

	put("a.txt", "one", 0644);
	before = save();
	put("a.txt", "turn", 0644);
	(void)unlinkat(tree, "dir/b", 0);
	(void)unlinkat(tree, "dir", AT_REMOVEDIR);
	(void)unlinkat(tree, "run.sh", 0);
	(void)mkdirat(tree, "new", 0755);
	put("new/f", "f", 0644);
	after = save();
	is_str(plan(after, before, 0, false),
	    "b:a.txt c:dir c:dir/b g:new g:new/f c:run.sh! ",
	    "what goes back, comes back and goes away");
	put("a.txt", "person", 0644);
	put("new/mine", "m", 0644);
	now = save();
	is_str(plan(now, before, after, false),
	    "k:a.txt c:dir c:dir/b g:new/f k:new/mine c:run.sh! ",
	    "what changed since stays, and its directory with it");
	put("dir", "a file now", 0644);
	put("run.sh", "after the plan", 0644);
	(void)plan(now, before, after, true);
	ok(nfailed == 3 && strcmp(get("dir"), "a file now") == 0 &&
		strcmp(get("run.sh"), "after the plan") == 0,
	    "what is changed after the plan is left as it is (%u)", nfailed);
	(void)unlinkat(tree, "dir", 0);
	(void)unlinkat(tree, "run.sh", 0);
	(void)plan(save(), before, 0, true);
	ok(nfailed == 0 && strcmp(get("dir/b"), "two") == 0 &&
		strcmp(get("a.txt"), "one") == 0 &&
		strcmp(get("new/f"), "none") == 0,
	    "it is put back: %s", failed_why);
	is_str(plan(save(), before, 0, false), "", "and nothing differs");
}

static void
test_left(void)
{
	uint32_t before, now;
	struct stat st;

	put("node_modules/x", "left", 0644);
	put("secret", "s", 0644);
	before = save_with("secret", 1000).number;
	put("node_modules/x", "changed", 0644);
	put("secret", "t", 0644);
	now = save();
	is_str(plan(now, before, 0, true), "l:secret ",
	    "what one of them left out is named, and in no plan");
	is_str(get("secret"), "t", "and is not touched");
	/* A setuid bit is neither saved nor written. */
	put("suid", "x", 04755);
	before = save();
	put("suid", "y", 0644);
	(void)plan(save(), before, 0, true);
	ok(fstatat(tree, "suid", &st, 0) == 0 && (st.st_mode & 07777) == 0755 &&
		strcmp(get("suid"), "x") == 0,
	    "no setuid bit is written");
}

/* A FIFO has no content: it gives way, and one that is gone is named. */
static void
test_other(void)
{
	struct stat st;
	uint32_t before, after;

	put("was", "w", 0644);
	(void)mkdirat(tree, "deep", 0755);
	put("deep/f", "two", 0644);
	(void)mkfifoat(tree, "old", 0600);
	before = save();
	(void)unlinkat(tree, "was", 0);
	(void)unlinkat(tree, "deep/f", 0);
	(void)unlinkat(tree, "deep", AT_REMOVEDIR);
	(void)unlinkat(tree, "old", 0);
	(void)mkfifoat(tree, "was", 0600);
	(void)mkfifoat(tree, "deep", 0600);
	(void)mkdirat(tree, "mine", 0755);
	(void)mkfifoat(tree, "mine/new", 0600);
	after = save();
	is_str(plan(after, before, 0, true),
	    "b:deep c:deep/f g:mine g:mine/new l:old b:was ",
	    "FIFOs in the place of files give way, and new ones go away");
	ok(nfailed == 0 && strcmp(get("was"), "w") == 0 &&
		strcmp(get("deep/f"), "two") == 0 &&
		fstatat(tree, "mine", &st, 0) == -1,
	    "and they do: %s", failed_why);
}

/* A directory of the agent's has the name of what a restore makes. */
static void
test_making(void)
{
	uint32_t before, now;

	put("a.txt", "one", 0644);
	before = save();
	put("a.txt", "two", 0644);
	(void)mkdirat(tree, SNAP_MAKING, 0755);
	put(SNAP_MAKING "/in", "x", 0644);
	now = save();
	is_str(plan(now, before, 0, false),
	    "g:" SNAP_MAKING " g:" SNAP_MAKING "/in b:a.txt ",
	    "such a directory is saved, and goes away");
	put("a.txt", "one", 0644);
	before = save();
	put("a.txt", "two", 0644);
	(void)plan(save(), before, 0, true);
	ok(nfailed == 0 && strcmp(get("a.txt"), "one") == 0 &&
		strcmp(get(SNAP_MAKING "/in"), "x") == 0,
	    "one that was there before stays, and is not in the way: %s",
	    failed_why);
	(void)unlinkat(tree, SNAP_MAKING "/in", 0);
	(void)unlinkat(tree, SNAP_MAKING, AT_REMOVEDIR);
}

/* Damage an object, and forget a path. */
static void
test_store(void)
{
	struct snap_how how = {.paths = {"a.txt"}, .npaths = 1};
	const uint8_t one[] = "one";
	uint8_t sum[32];
	char hex[SHA256_HEX], why[SNAP_WHY] = "";
	uint32_t before = save();
	struct stat st;
	int fd = -1;

	sha256_span(span_of(one, 3), sum);
	sha256_hex(sum, hex);
	put("a.txt", "zzz", 0644);
	ok(fchmodat(store.objects, hex, 0600, 0) == 0 &&
		(fd = openat(store.objects, hex, O_WRONLY)) != -1,
	    "an object is edited");
	ok(write(fd, "bad", 3) == 3, "it has the same size");
	close(fd);
	(void)plan(save(), before, 0, true);
	ok(nfailed == 1 && strstr(failed_why, "damaged") != NULL &&
		strcmp(get("a.txt"), "zzz") == 0,
	    "its content is refused, and the file stays");
	ok(store_forget(&store, &how, why) > 0 &&
		fstatat(store.objects, hex, &st, 0) == -1,
	    "a path is forgotten, and its objects are gone: %s", why);
	is_str(plan(save(), before, 0, false), "l:a.txt ",
	    "it is named, and no plan touches it");
}

/* Make a file of that size which has `n` bytes of 'x' at this place. */
static int
sparse(int dir, const char *name, off_t size, off_t at, size_t n)
{
	static char text[65536];
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	memset(text, 'x', sizeof(text));
	if (fd == -1 || ftruncate(fd, size) == -1 ||
	    pwrite(fd, text, n, at) != (ssize_t)n)
		exit(1);
	return fd;
}

/* No file has the name of a large one, and old names are understood. */
static void
test_large(void)
{
	static const uint8_t head[16] = {[3] = 1U << 4}; /* 1 << 28, at 0 */
	const off_t size = 1 << 27;
	uint8_t small[32], large[32], *plain = calloc(1, (size_t)size);
	uint64_t n;
	char hex[SHA256_HEX];
	int a, b;

	a = sparse(tree, "small", 65536 + 16, 16, 65536);
	b = sparse(tree, "large", 1 << 28, 0, 65536);
	ok(pwrite(a, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		store_hash(a, small, &n) == 0 && store_hash(b, large, &n) == 0,
	    "a large file, and one with what is hashed for it");
	ok(memcmp(small, large, 32) != 0, "do not share an object");
	close(a);
	close(b);
	if (plain == NULL)
		exit(1);
	plain[5] = 'x';
	sha256_span(span_of(plain, (size_t)size), small);
	free(plain);
	close(sparse(store.objects, sha256_hex(small, hex), size, 5, 1));
	a = sparse(tree, "taken", 0, 0, 0);
	b = sparse(tree, "equal", size, 5, 1);
	ok(store_take(&store, hex, a) == 0 && store_hash(a, small, &n) == 0 &&
		store_hash(b, large, &n) == 0 && memcmp(small, large, 32) == 0,
	    "a large file of an old store comes back");
	close(a);
	close(b);
	memset(hex, 'a', 64);
	close(sparse(store.objects, hex, size, 5, 1));
	a = sparse(tree, "bad", 0, 0, 0);
	ok(store_take(&store, hex, a) == -1 && errno == EBADMSG,
	    "one that is damaged does not");
	close(a);
}

static int
gone(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	return remove(path);
}

int
main(void)
{
	char path[128];

	snprintf(top, sizeof(top), "/tmp/ic-snap-XXXXXX");
	if (mkdtemp(top) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/tree", top);
	(void)mkdir(path, 0700);
	tree = open(path, O_RDONLY | O_DIRECTORY);
	if (tree == -1 || dup2(tree, SNAP_TREE) == -1)
		return 1;
	if (tree != SNAP_TREE)
		close(tree);
	tree = SNAP_TREE;
	snprintf(path, sizeof(path), "%s/store", top);
	(void)mkdir(path, 0700);
	store.fd = open(path, O_RDONLY | O_DIRECTORY);
	if (store.fd == -1 || store_open(&store, true) == -1)
		return 1;
	test_order();
	test_manifest();
	test_save();
	test_plan();
	test_left();
	test_other();
	test_making();
	test_store();
	test_large();
	(void)nftw(top, gone, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
