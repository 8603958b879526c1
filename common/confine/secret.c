/* SPDX-License-Identifier: ISC */
/*
 * One arena of secret memory, made before confinement, from which secrets are
 * allocated.  Freed memory is reused, and is wiped when it is freed, so a new
 * secret is all zero.  The bookkeeping contains only sizes and is in ordinary
 * memory.
 */
#include "common/confine/secret.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define SECRETS_MAX 64
#define ALIGNMENT 16U
/*
 * Room beyond `cap`: a final CR LF, and one byte to detect a value that is too
 * long.
 */
#define LINE_END 2U
#define BEYOND (LINE_END + 1U)

/* clang-format off */
struct secret {
	uint8_t *p;		/* NULL if the slot was never used */
	size_t room;		/* bytes in the arena, including BEYOND */
	size_t cap;
	size_t len;
	size_t dirty;		/* the bytes after these were never written */
	bool used;
};
/* clang-format on */

static struct secret_env {
	uint8_t *arena;
	size_t size, top;
	enum secret_kind kind;
	struct secret slots[SECRETS_MAX];
} env;

/* Only a few pages are locked, but the soft limit may be below the hard one. */
static void
raise_memlock(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_MEMLOCK, &rl) == -1 || rl.rlim_cur == rl.rlim_max)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_MEMLOCK, &rl);
}

static int
map_secretmem(uint8_t *at, size_t size)
{
	int fd, error, r = -1;

	fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (ftruncate(fd, (off_t)size) == -1)
		goto out;
	if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		0) == MAP_FAILED)
		goto out;
	r = 0;
out:
	error = errno;
	/*
	 * An open descriptor could be stolen with pidfd_getfd and mapped
	 * elsewhere.
	 */
	close(fd);
	errno = error;
	return r;
}

static int
map_locked(uint8_t *at, size_t size)
{
	if (mmap(at, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return -1;
	/* Call mlock directly: sanitizers turn mlock() into a no-op. */
	if (syscall(SYS_mlock, at, size) == -1 ||
	    madvise(at, size, MADV_DONTDUMP) == -1 ||
	    madvise(at, size, MADV_WIPEONFORK) == -1)
		return -1;
	return 0;
}

int
secret_prepare(size_t bytes)
{
	size_t page, size;
	uint8_t *base;
	int error;

	page = (size_t)sysconf(_SC_PAGESIZE);
	if (env.arena != NULL || bytes == 0 || bytes > SIZE_MAX / 2) {
		errno = EINVAL;
		return -1;
	}
	raise_memlock();
	/*
	 * Leave room for SECRETS_MAX allocations, so that `bytes` are usable in
	 * however many pieces.
	 */
	bytes += SECRETS_MAX * (BEYOND + ALIGNMENT);
	size = (bytes + page - 1) / page * page;
	/*
	 * Map everything without access first: the pages that are not replaced
	 * become guard pages.
	 */
	base = mmap(NULL, size + 2 * page, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -1;
	env.kind = SECRET_MEMFD;
	if (map_secretmem(base + page, size) == -1) {
		env.kind = SECRET_LOCKED;
		if (map_locked(base + page, size) == -1)
			goto fail;
	}
	/*
	 * Children do not inherit the arena.  Pages of secret memory are
	 * allocated, zeroed, on first use.  They are not touched here: the
	 * kernel removes each one from its own map, which stops all processors
	 * briefly, and most are never needed.
	 */
	if (madvise(base + page, size, MADV_DONTFORK) == -1)
		goto fail;
	/*
	 * Best effort: no speculative store bypass while a credential is in
	 * memory.
	 */
	(void)prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS,
	    PR_SPEC_FORCE_DISABLE, 0, 0);
	env.arena = base + page;
	env.size = size;
	env.top = 0;
	return 0;
fail:
	error = errno;
	munmap(base, size + 2 * page);
	errno = error;
	return -1;
}

bool
secret_ready(void)
{
	return env.arena != NULL;
}

enum secret_kind
secret_kind(void)
{
	return env.kind;
}

static struct secret *
take(struct secret *s, size_t cap)
{
	s->used = true;
	s->cap = cap;
	s->len = 0;
	s->dirty = 0;
	return s;
}

/*
 * Wipe what was written.  The rest is still zero, and touching a page that was
 * never used would only allocate it.
 */
static void
wipe(struct secret *s)
{
	explicit_bzero(s->p, s->dirty);
	s->dirty = 0;
	s->len = 0;
}

struct secret *
secret_new(size_t cap)
{
	struct secret *s, *fit = NULL, *fresh = NULL;
	size_t room;

	if (cap > env.size)
		goto nomem;
	room = (cap + BEYOND + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	for (size_t i = 0; i < SECRETS_MAX; i++) {
		s = &env.slots[i];
		if (s->p == NULL) {
			fresh = s;
			break;
		}
		if (!s->used && s->room >= room &&
		    (fit == NULL || s->room < fit->room))
			fit = s;
	}
	if (fit != NULL)
		return take(fit, cap);
	if (fresh == NULL || room > env.size - env.top)
		goto nomem;
	fresh->p = env.arena + env.top;
	fresh->room = room;
	env.top += room;
	return take(fresh, cap);
nomem:
	errno = ENOMEM;
	return NULL;
}

/* Return free slots at the end of the arena; slots are used in order. */
static void
give_back(void)
{
	size_t i = SECRETS_MAX;

	while (i > 0 && env.slots[i - 1].p == NULL)
		i--;
	while (i > 0 && !env.slots[i - 1].used) {
		env.top -= env.slots[i - 1].room;
		env.slots[i - 1] = (struct secret){0};
		i--;
	}
}

void
secret_free(struct secret *s)
{
	if (s == NULL)
		return;
	wipe(s);
	s->used = false;
	give_back();
}

static int
finish(struct secret *s)
{
	size_t len = s->len;

	while (len > 0 && (s->p[len - 1] == '\n' || s->p[len - 1] == '\r'))
		len--;
	if (len == 0 || len > s->cap) {
		wipe(s);
		errno = len == 0 ? ENODATA : ENOBUFS;
		return -1;
	}
	explicit_bzero(s->p + len, s->len - len);
	s->len = len;
	return 0;
}

int
secret_read_fd(struct secret *s, int fd)
{
	ssize_t n;

	for (;;) {
		n = read(fd, s->p + s->len, s->cap + BEYOND - s->len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 1;
		if (n == -1)
			return -1;
		if (n == 0)
			return finish(s);
		s->len += (size_t)n;
		if (s->dirty < s->len)
			s->dirty = s->len;
		if (s->len == s->cap + BEYOND) {
			wipe(s);
			errno = ENOBUFS;
			return -1;
		}
	}
}

struct span
secret_span(const struct secret *s)
{
	return span_of(s->p, s->len);
}

uint8_t *
secret_bytes(struct secret *s, size_t *cap)
{
	*cap = s->cap;
	s->dirty = s->room;
	return s->p;
}

size_t
secret_cap(const struct secret *s)
{
	return s->cap;
}
