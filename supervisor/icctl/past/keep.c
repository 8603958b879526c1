/* SPDX-License-Identifier: ISC */
/*
 * The sums of a session, kept in its directory as usage.cache, so that what a
 * thousand sessions cost is known at once. They stand for the log only while
 * every file of it is the one that was read: the same device, inode, size and
 * times (a change sets the last one whatever a program does to the others), and
 * the newest ends with the record that was the last. The file ends with its own
 * hash. What does not fit is read again from the log.
 */
#include "icctl/past/past.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/session.h"

#define KEEP_MAGIC 0x3130656761737543ULL /* "Cusage01" */
#define KEEP_MAX (64U << 20)

struct keep_head {
	uint64_t magic;
	uint64_t bytes; /* sizes of structs: another version has others */
	uint64_t n;     /* rows */
	uint64_t older; /* older files of the log */
	uint8_t others[SHA256_SIZE]; /* their hash: keep_others() */
	struct past_file newest;
	struct report_end end;
	uint64_t broken, line, left_out;
	uint32_t check, part;
	char file[AUDITPARTS_NAME];
};

#define KEEP_BYTES                                                             \
	(sizeof(struct keep_head) * 65536 + sizeof(struct report_row))

static bool
keep_stat(int dirfd, const char *name, struct past_file *f)
{
	struct stat st;

	memset(f, 0, sizeof(*f));
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = (uint64_t)st.st_size;
	f->mtime = st.st_mtim.tv_sec;
	f->mtime_ns = st.st_mtim.tv_nsec;
	f->ctime = st.st_ctim.tv_sec;
	f->ctime_ns = st.st_ctim.tv_nsec;
	return true;
}

/*
 * Hash what tells the older files from others. Another file that becomes an
 * older one is renamed, which sets its last time: that one is left out.
 */
static bool
keep_others(int dirfd, unsigned older, uint8_t sum[SHA256_SIZE])
{
	char name[AUDITPARTS_NAME];
	struct past_file f;
	uint8_t both[SHA256_SIZE + sizeof(f)];

	memset(sum, 0, SHA256_SIZE);
	for (unsigned part = 1; part <= older; part++) {
		if (!keep_stat(dirfd, auditparts_name(part, older, name), &f))
			return false;
		f.ctime = f.ctime_ns = 0;
		memcpy(both, sum, SHA256_SIZE);
		memcpy(both + SHA256_SIZE, &f, sizeof(f));
		sha256_span(span_of(both, sizeof(both)), sum);
	}
	return true;
}

/* Read the whole file. Returns its length, or 0. */
static size_t
keep_read(int dirfd, uint8_t **p)
{
	struct stat st;
	size_t len = 0;
	ssize_t n;
	int fd = past_open(dirfd, PAST_KEPT);

	*p = NULL;
	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    st.st_size > (off_t)sizeof(struct keep_head) &&
	    st.st_size < (off_t)KEEP_MAX &&
	    (*p = malloc((size_t)st.st_size)) != NULL)
		while (len < (size_t)st.st_size) {
			n = read(fd, *p + len, (size_t)st.st_size - len);
			if (n == -1 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			len += (size_t)n;
		}
	close(fd);
	return len;
}

/* Returns true if the line that ends before `offset` is the mark's. */
static bool
keep_ends(int dirfd, const char *name, const struct report_mark *m)
{
	char tail[AUDITLOG_TAIL + 1], hex[SHA256_HEX];
	int fd = past_open(dirfd, name);
	bool is = false;

	if (m->offset > sizeof(tail) && fd != -1 &&
	    pread(fd, tail, sizeof(tail), (off_t)(m->offset - sizeof(tail))) ==
		(ssize_t)sizeof(tail))
		is = memcmp(tail + 9, sha256_hex(m->log.prev, hex),
			 AUDITLOG_HEX) == 0;
	if (fd != -1)
		close(fd);
	return is;
}

/* Take the head and the rows. Returns false if they have no good form. */
static bool
keep_take(struct past_fold *f, const uint8_t *p, size_t len,
    struct keep_head *h, const char *dir)
{
	uint8_t sum[SHA256_SIZE];
	char shown[ICCTL_PATH];
	size_t rows;

	memcpy(h, p, sizeof(*h));
	if (len < sizeof(*h) + SHA256_SIZE || h->magic != KEEP_MAGIC ||
	    h->bytes != KEEP_BYTES)
		return false;
	rows = len - sizeof(*h) - SHA256_SIZE;
	sha256_span(span_of(p, len - SHA256_SIZE), sum);
	if (memcmp(sum, p + len - SHA256_SIZE, SHA256_SIZE) != 0 ||
	    rows % sizeof(*f->rows) != 0 || rows / sizeof(*f->rows) != h->n ||
	    h->end.mark.npending > REPORT_PENDING) {
		warnx("%s/" PAST_KEPT ": it was changed; the log is read again",
		    icctl_path(dir, shown));
		return false;
	}
	/* fold_row() adds to whole blocks of 64. */
	f->rows = calloc((h->n / 64 + 1) * 64, sizeof(*f->rows));
	if (f->rows == NULL)
		return false;
	f->n = h->n;
	if (rows != 0)
		memcpy(f->rows, p + sizeof(*h), rows);
	f->end = h->end;
	f->broken = h->broken != 0;
	f->line = h->line;
	f->check = h->check;
	f->left_out = h->left_out;
	f->part = h->part;
	memcpy(f->file, h->file, sizeof(f->file));
	f->file[sizeof(f->file) - 1] = '\0';
	return true;
}

int
past_kept(struct past_fold *f, int dirfd, const char *dir)
{
	const struct report_mark *m = &f->end.mark;
	char name[AUDITPARTS_NAME];
	uint8_t *p, sum[SHA256_SIZE];
	size_t len = keep_read(dirfd, &p);
	struct keep_head h;
	struct past_file now;
	unsigned older;
	bool taken = len != 0 && keep_take(f, p, len, &h, dir);

	free(p);
	if (!taken || auditparts_count(dirfd, &older) == -1 ||
	    older < h.older || h.part != h.older + 1 ||
	    !keep_others(dirfd, (unsigned)h.older, sum) ||
	    memcmp(sum, h.others, sizeof(sum)) != 0)
		return 0;
	(void)auditparts_name((unsigned)h.part, older, name);
	if (!keep_stat(dirfd, name, &now))
		return 0;
	if (older == h.older && memcmp(&now, &h.newest, sizeof(now)) == 0 &&
	    (f->broken || f->end.cut != 0 || m->offset == 0 ||
		keep_ends(dirfd, name, m)))
		return 1;
	if (f->broken || m->offset == 0 || now.ino != h.newest.ino ||
	    (now.size <= h.newest.size && older == h.older) ||
	    !keep_ends(dirfd, name, m))
		return 0;
	return 2;
}

bool
past_look(struct past_fold *f, int dirfd, unsigned older)
{
	char name[AUDITPARTS_NAME];

	return keep_others(dirfd, older, f->others) &&
	       keep_stat(
		   dirfd, auditparts_name(older + 1, older, name), &f->newest);
}

int
past_keep(const struct past_fold *f, int dirfd)
{
	struct keep_head h;
	uint8_t sum[SHA256_SIZE];
	struct buf b;
	int rv;

	memset(&h, 0, sizeof(h));
	h.magic = KEEP_MAGIC;
	h.bytes = KEEP_BYTES;
	h.n = f->n;
	h.older = f->part - 1;
	h.part = f->part;
	h.end = f->end;
	h.broken = f->broken;
	h.line = f->line;
	h.check = f->check;
	h.left_out = f->left_out;
	memcpy(h.file, f->file, sizeof(h.file));
	memcpy(h.others, f->others, sizeof(h.others));
	h.newest = f->newest;
	buf_init(&b, KEEP_MAX);
	buf_add(&b, &h, sizeof(h));
	if (f->n != 0)
		buf_add(&b, f->rows, f->n * sizeof(*f->rows));
	sha256_span(buf_span(&b), sum);
	buf_add(&b, sum, sizeof(sum));
	/* A directory that cannot be written is read again each time. */
	rv =
	    b.failed ? -1 : session_write(dirfd, PAST_KEPT, 0600, buf_span(&b));
	buf_free(&b);
	return rv;
}
