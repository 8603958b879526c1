/* SPDX-License-Identifier: ISC */
/*
 * The growable buffer.  It may contain a peer's bytes or a secret, so memory is
 * wiped before it is freed, including when the contents move to a larger
 * allocation.
 *
 * The allocation may exceed the maximum by a quarter.  Without that slack, a
 * peer that keeps a full buffer full one byte at a time would make every byte
 * move the whole contents to the front; with it, each byte is moved a bounded
 * number of times.
 */
#include "common/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_MIN 256

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

void
buf_free(struct buf *b)
{
	int saved = errno;

	if (b->p != NULL)
		freezero(b->p, b->cap);
	buf_init(b, b->max);
	errno = saved;
}

void
buf_reset(struct buf *b, size_t keep)
{
	if (b->cap > keep)
		buf_free(b);
	b->off = b->len = 0;
	b->failed = b->no_memory = false;
}

/*
 * Move the contents to an allocation with room for `n` more bytes.  Returns 0,
 * or -1 if there is no memory.
 */
static int
buf_enlarge(struct buf *b, size_t n)
{
	size_t limit = b->max, want = BUF_MIN;
	uint8_t *p;

	if (limit <= SIZE_MAX - limit / 4)
		limit += limit / 4;
	if (b->cap > limit / 2)
		want = limit;
	else if (b->cap != 0)
		want = b->cap * 2;
	if (want < b->len + n)
		want = b->len + n;
	if ((p = malloc(want)) == NULL)
		return -1;
	if (b->len != 0)
		memcpy(p, b->p + b->off, b->len);
	if (b->p != NULL)
		freezero(b->p, b->cap);
	b->p = p;
	b->cap = want;
	b->off = 0;
	return 0;
}

uint8_t *
buf_make_room(struct buf *b, size_t n)
{
	if (b->failed || b->len > b->max || n > b->max - b->len) {
		errno = ENOBUFS;
		goto fail;
	}
	if (b->p != NULL && n <= b->cap - b->len && b->off >= b->cap / 8) {
		memmove(b->p, b->p + b->off, b->len);
		b->off = 0;
	} else if (buf_enlarge(b, n) == -1) {
		b->no_memory = true;
		errno = ENOMEM;
		goto fail;
	}
	return b->p + b->len;
fail:
	b->failed = true;
	return NULL;
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
	uint8_t *to;

	if ((to = buf_room(b, n)) == NULL)
		return;
	if (n != 0)
		memcpy(to, p, n);
	b->len += n;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *to;
	char probe[1];
	int n;

	va_start(ap, fmt);
	n = vsnprintf(probe, sizeof(probe), fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	/*
	 * Reserve a byte for the NUL that vsnprintf() adds; it is not content.
	 */
	if (buf_room(b, (size_t)n) == NULL)
		return;
	if ((size_t)n == b->cap - b->off - b->len &&
	    buf_enlarge(b, (size_t)n + 1) == -1) {
		b->failed = b->no_memory = true;
		errno = ENOMEM;
		return;
	}
	to = b->p + b->off + b->len;
	va_start(ap, fmt);
	(void)vsnprintf((char *)to, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void
buf_addu64(struct buf *b, uint64_t n)
{
	static const char pairs[] =
	    "00010203040506070809101112131415161718192021222324"
	    "25262728293031323334353637383940414243444546474849"
	    "50515253545556575859606162636465666768697071727374"
	    "75767778798081828384858687888990919293949596979899";
	uint8_t digits[20];
	size_t at = sizeof(digits);

	for (; n >= 100; n /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + 2 * (n % 100), 2);
	}
	do {
		digits[--at] = (uint8_t)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void
buf_addhex(struct buf *b, const void *p, size_t n)
{
	uint8_t *to;

	if (n > SIZE_MAX / 2) {
		b->failed = true;
		errno = ENOBUFS;
		return;
	}
	if ((to = buf_room(b, n * 2)) == NULL)
		return;
	hex_digits(p, n, to);
	b->len += n * 2;
}

const char *
buf_why(const struct buf *b, const char *name, char *dst, size_t cap)
{
	if (b->no_memory)
		(void)snprintf(dst, cap, "no memory for %s", name);
	else
		(void)snprintf(
		    dst, cap, "%s is full (%zu bytes)", name, b->max);
	return dst;
}

struct span
buf_span(const struct buf *b)
{
	return span_of(b->p == NULL ? NULL : b->p + b->off, b->len);
}

void
buf_drain(struct buf *b, size_t n)
{
	assert(n <= b->len);
	b->off += n;
	b->len -= n;
	if (b->len == 0)
		b->off = 0;
}
