/* SPDX-License-Identifier: ISC */
/* Functions that the load programs share; see bench.h. Trusts its input. */
#include "bench.h"

#include <sys/resource.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t
bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void
bench_samples_init(struct bench_samples *s)
{
	s->n = 0;
	if ((s->ns = calloc(BENCH_MAX_SAMPLES, sizeof(*s->ns))) == NULL)
		err(1, "samples");
}

void
bench_samples_free(struct bench_samples *s)
{
	free(s->ns);
	s->ns = NULL;
}

void
bench_samples_add(struct bench_samples *s, uint64_t ns)
{
	if (s->n < BENCH_MAX_SAMPLES)
		s->ns[s->n++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static int
bench_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double
bench_samples_us(struct bench_samples *s, double q)
{
	if (s->n == 0)
		return 0;
	qsort(s->ns, s->n, sizeof(*s->ns), bench_compare);
	return s->ns[(size_t)((double)(s->n - 1) * q)] / 1000.0;
}

/*
 * Returns the first number of /proc/PID/schedstat: the processes have one
 * thread each.
 */
static uint64_t
bench_cpu_one(unsigned long pid)
{
	char path[64], text[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%lu/schedstat", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "%s", path);
	if ((n = read(fd, text, sizeof(text) - 1)) <= 0)
		err(1, "%s", path);
	close(fd);
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

uint64_t
bench_cpu_of(const char *pids)
{
	uint64_t sum = 0;
	char *end;

	if (pids == NULL)
		return 0;
	for (const char *p = pids; *p != '\0'; p = *end == ',' ? end + 1 : end)
		sum += bench_cpu_one(strtoul(p, &end, 10));
	return sum;
}

uint64_t
bench_cpu_own(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static const char *
bench_skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

static const char *
bench_skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

static const char *
bench_skip_value(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = bench_skip_string(p, end);
		} else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			if (depth == 0)
				return p;
			depth--;
			p++;
		} else if (*p == ',' && depth == 0) {
			return p;
		} else {
			p++;
			continue;
		}
		if (depth == 0)
			return p;
	}
	return end;
}

struct bench_slice
bench_json_member(struct bench_slice object, const char *name)
{
	const struct bench_slice none = {NULL, 0};
	const char *end = object.p + object.len, *p = object.p, *key;
	size_t want = strlen(name), len;

	if (p == NULL || (p = bench_skip_space(p, end)) == end || *p != '{')
		return none;
	p = bench_skip_space(p + 1, end);
	while (p < end && *p == '"') {
		key = p + 1;
		p = bench_skip_string(p, end);
		len = (size_t)(p - key) - 1;
		p = bench_skip_space(p, end);
		if (p == end || *p != ':')
			return none;
		p = bench_skip_space(p + 1, end);
		object.p = p;
		p = bench_skip_value(p, end);
		object.len = (size_t)(p - object.p);
		if (len == want && memcmp(key, name, len) == 0)
			return object;
		p = bench_skip_space(p, end);
		if (p < end && *p == ',')
			p = bench_skip_space(p + 1, end);
	}
	return none;
}

bool
bench_json_is(struct bench_slice v, const char *text)
{
	size_t len = strlen(text);

	return v.p != NULL && v.len >= len && memcmp(v.p, text, len) == 0 &&
	       (v.len == len || v.p[len] == ' ');
}

uint64_t
bench_number(const char *option, const char *text, uint64_t max)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' ||
	    n > max)
		errx(64, "--%s must be a number up to %llu, not \"%s\"", option,
		    (unsigned long long)max, text);
	return n;
}
