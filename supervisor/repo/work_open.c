/* SPDX-License-Identifier: ISC */
/* Opens a clone for git, and runs it there. */
#include "repo/work.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "common/wordlist.h"
#include "repo/batch.h"

#define WORK_SCRATCH "pull.new"
#define WORK_STALE "pull.stale"
/* Objects of commits of unsaved work, which later ones follow. */
#define WORK_OBJECTS "pull.objects"
#define WORK_LOCK "pull.lock"

/* Whatever the clone's configuration says about its place and its files. */
static const char *const work_prefix[] = {"--git-dir=/workspace/.git",
    "--work-tree=/workspace", "-c", "core.bare=false", "-c",
    "core.sparseCheckout=false", "-c", "core.ignoreStat=false", "-c",
    "core.autocrlf=false", "-c", "core.splitIndex=false", "-c",
    "core.untrackedCache=false", "-c", "core.fileMode=true", "-c",
    "core.symlinks=true", "-c", "core.excludesFile=/dev/null", "-c",
    "core.attributesFile=/dev/null", "-c", "core.quotePath=true", NULL};

void
repo_work_words(const char *const *words, struct wordlist *all)
{
	wordlist_all(all, work_prefix);
	wordlist_all(all, words);
}

int
repo_work_git(const struct repo_work *w, struct span in, struct buf *out,
    struct fault *fault, const char *const *words)
{
	const char *list[REPO_WORK_WORDS];
	struct wordlist all = WORDLIST_IN(list);

	repo_work_words(words, &all);
	words = (const char *const *)wordlist_end(&all);
	if (words == NULL)
		return fault_errno(fault, "git");
	return repo_git(w->env, &w->clone, words, in, out, fault);
}

static void
work_remove(int session, const char *name)
{
	struct tree t = {.top = -1};
	struct stat st;

	if (fstat(session, &st) == -1)
		return;
	t.dev = st.st_dev;
	tree_whole(&t, session, name);
}

/*
 * Make the scratch directory.  That of a process that was killed goes out of
 * the way first, because its git may still be ending, and be writing there.
 */
static int
work_scratch(struct repo_work *w)
{
	work_remove(w->session, WORK_STALE);
	if (renameat(w->session, WORK_SCRATCH, w->session, WORK_STALE) == 0)
		work_remove(w->session, WORK_STALE);
	if (mkdirat(w->session, WORK_SCRATCH, 0700) == -1 ||
	    (w->scratch = openat(w->session, WORK_SCRATCH,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1 ||
	    mkdirat(w->scratch, "out", 0700) == -1 ||
	    (w->out = openat(w->scratch, "out",
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	if (mkdirat(w->session, WORK_OBJECTS, 0700) == -1 && errno != EEXIST)
		return -1;
	w->objects = openat(w->session, WORK_OBJECTS,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return w->objects == -1 ? -1 : 0;
}

static int
work_lock(struct repo_work *w, struct fault *fault)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	w->lock = openat(w->session, WORK_LOCK,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (w->lock == -1)
		return fault_errno(fault, "%s/" WORK_LOCK, w->dir);
	/*
	 * A record lock, unlike one of flock(2), is not shared with a child
	 * that has not executed its program yet: it ends with this process,
	 * also by SIGKILL.  Some network file systems have no locks.
	 */
	if (fcntl(w->lock, F_SETLK, &lock) == -1 &&
	    (errno == EACCES || errno == EAGAIN))
		return fault_set(fault,
		    "another icctl pull or icctl diff of this session runs; "
		    "try again when it has ended");
	return 0;
}

int
repo_work_open(struct repo_work *w, const struct repo_env *env, int session,
    const char *dir, struct fault *fault)
{
	struct stat st;

	memset(w, 0, sizeof(*w));
	w->env = env;
	w->session = session;
	w->dir = dir;
	w->sandbox = w->scratch = w->out = w->objects = w->lock = -1;
	if (repo_record_read(&w->record, session, dir, fault) == -1)
		return -1;
	w->sandbox = openat(session, "sandbox",
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w->sandbox == -1) {
		fault_errno(fault, "%s/sandbox", dir);
		errno = EIO;
		return -1;
	}
	/* A link or a file could lead to another place. */
	if (fstatat(w->sandbox, ".git", &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISDIR(st.st_mode)) {
		fault_set(fault,
		    "the clone has no directory .git: it was removed or "
		    "replaced in the session. Its files are in %s/sandbox",
		    dir);
		errno = EIO;
		return -1;
	}
	if (work_lock(w, fault) == -1 || repo_work_pipes(w, fault) == -1) {
		errno = EIO;
		return -1;
	}
	if (work_scratch(w) == -1 ||
	    repo_view_add(&w->clone, w->sandbox, "/workspace", false) == -1 ||
	    repo_view_add(&w->clone, w->out, "/out", true) == -1 ||
	    repo_view_add(&w->clone, w->objects, "/objects", true) == -1) {
		fault_errno(fault, "%s/" WORK_SCRATCH, dir);
		errno = EIO;
		return -1;
	}
	if ((w->clone.batch = repo_batch_new(&w->clone)) == NULL) {
		fault_errno(fault, "git");
		errno = EIO;
		return -1;
	}
	w->clone.batch_git = repo_batch_git;
	w->clone.dir = "/workspace";
	w->clone.store = "/objects";
	w->clone.objects = "/workspace/.git/objects";
	w->clone.index = "/out/index";
	return 0;
}

void
repo_work_close(struct repo_work *w)
{
	repo_batch_free(w->clone.batch);
	w->clone.batch = NULL;
	repo_view_free(&w->clone);
	if (w->scratch != -1) {
		close(w->scratch);
		work_remove(w->session, WORK_SCRATCH);
	}
	if (w->out != -1)
		close(w->out);
	if (w->objects != -1)
		close(w->objects);
	if (w->sandbox != -1)
		close(w->sandbox);
	if (w->lock != -1)
		close(w->lock);
	w->scratch = w->out = w->objects = w->sandbox = w->lock = -1;
}
