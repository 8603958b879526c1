/* SPDX-License-Identifier: ISC */
/*
 * A child tries to read its parent's memory: first the heap, so that the
 * attempt is known to work, then a secret.
 */
#include "unit/confine/secret_outsider.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

#define KEY "sk-canary-4711-not-a-key"

/* Returns true if smaps shows the flag for the mapping at `p`. */
static bool
mapping_has(const void *p, const char *flag)
{
	char line[256], want[32];
	bool inside = false, found = false;
	unsigned long lo, hi;
	FILE *f;

	(void)snprintf(want, sizeof(want), " %s ", flag);
	if ((f = fopen("/proc/self/smaps", "re")) == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2)
			inside = lo <= (uintptr_t)p && (uintptr_t)p < hi;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, want) != NULL;
	}
	fclose(f);
	return found;
}

struct reads {
	int vm, mem; /* 0: read it, 1: read something else, or an errno */
};

static void
sibling(pid_t pid, const uint8_t *at, struct reads *out)
{
	uint8_t got[sizeof(KEY) - 1] = {0};
	struct iovec mine = {got, sizeof(got)};
	struct iovec theirs = {(void *)(uintptr_t)at, sizeof(got)};
	char path[40];
	int fd;

	if (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) == -1)
		out->vm = errno;
	else
		out->vm = memcmp(got, KEY, sizeof(got)) != 0;
	memset(got, 0, sizeof(got));
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    pread(fd, got, sizeof(got), (off_t)(uintptr_t)at) == -1)
		out->mem = errno;
	else
		out->mem = memcmp(got, KEY, sizeof(got)) != 0;
}

/* Let a child of the same uid read at `p` of this process. */
static struct reads
attack(const uint8_t *p)
{
	struct reads *shared, r = {-1, -1};
	int status;
	pid_t me = getpid(), pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return r;
	fflush(stdout);
	if ((pid = fork()) == 0) {
		sibling(me, p, shared);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && status == 0)
		r = *shared;
	munmap(shared, sizeof(*shared));
	return r;
}

void
test_secret_outsider(enum secret_kind kind)
{
	struct secret *s = secret_new(64);
	uint8_t *heap = malloc(64), *p;
	struct reads r;
	size_t cap;

	memcpy(heap, KEY, sizeof(KEY) - 1);
	p = secret_bytes(s, &cap);
	memcpy(p, KEY, sizeof(KEY) - 1);
	/* Needed if Yama restricts attaching. */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	r = attack(heap);
	is_int(r.vm, 0, "ordinary memory is read by process_vm_readv");
	is_int(r.mem, 0, "ordinary memory is read through /proc/PID/mem");
	r = attack(p);
	if (kind == SECRET_MEMFD) {
		is_int(r.vm, EFAULT, "secret memory is not, dumpable or not");
		is_int(r.mem, EIO, "nor through /proc/PID/mem");
	} else {
		is_int(r.vm, 0, "locked memory is, while dumpable");
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && geteuid() != 0) {
		r = attack(heap);
		is_int(r.vm, EPERM, "not dumpable: no ordinary memory");
		r = attack(p);
		ok(r.vm == EPERM && r.mem == EACCES,
		    "not dumpable: no secret (%d, %d)", r.vm, r.mem);
	}
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	ok(mapping_has(p, "dd"), "in no core");
	ok(mapping_has(p, "dc"), "in no child");
	/*
	 * Secret memory is never swapped; its flags show that only from Linux
	 * 6.2 on.
	 */
	ok(kind == SECRET_MEMFD || mapping_has(p, "lo"), "never swapped");
	ok(!mapping_has(heap, "lo"), "as the heap might be");
	free(heap);
	secret_free(s);
}
