/* SPDX-License-Identifier: ISC */
/*
 * The compiler of filters. libseccomp would do the same, but takes longer than
 * a worker has for its whole start; the test `bpf` compares each result with
 * the filter that libseccomp makes of the same rules.
 */
#include "common/confine/bpf.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* The filter reads the low word of an argument at its offset. */
#if defined(__x86_64__)
#define BPF_ARCH AUDIT_ARCH_X86_64
#define BPF_FOREIGN 0x40000000U /* numbers of the x32 ABI begin here */
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#define BPF_ARCH AUDIT_ARCH_AARCH64
#define BPF_FOREIGN 0x80000000U
#else
#error "common/confine/bpf.c does not know this architecture"
#endif

struct bpf {
	struct sock_filter *code;
	size_t n; /* may exceed BPF_ROOM; nothing is stored beyond it */
};

/* The rules of one call. */
struct bpf_call {
	const struct pledge_rule **rules;
	size_t n;
};

static void
put(struct bpf *b, unsigned code, uint8_t yes, uint8_t no, uint32_t k)
{
	if (b->n < BPF_ROOM)
		b->code[b->n] =
		    (struct sock_filter){(uint16_t)code, yes, no, k};
	b->n++;
}

static void
put_load(struct bpf *b, size_t offset)
{
	put(b, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void
put_return(struct bpf *b, uint32_t action)
{
	put(b, BPF_RET | BPF_K, 0, 0, action);
}

/* Compare a word of an argument. put_rule() sets the target of a mismatch. */
static void
put_word(struct bpf *b, size_t offset, uint32_t mask, uint32_t value)
{
	if (mask == 0)
		return;
	put_load(b, offset);
	if (mask != UINT32_MAX)
		put(b, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
	put(b, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, value);
}

/* Return the rule's action if all its checks hold, else continue behind it. */
static void
put_rule(struct bpf *b, const struct pledge_rule *r)
{
	size_t begin = b->n, offset;

	for (unsigned i = 0; i < r->nargs; i++) {
		offset = offsetof(struct seccomp_data, args) +
			 r->arg[i].index * sizeof(uint64_t);
		put_word(b, offset, (uint32_t)r->arg[i].mask,
		    (uint32_t)r->arg[i].value);
		put_word(b, offset + sizeof(uint32_t),
		    (uint32_t)(r->arg[i].mask >> 32),
		    (uint32_t)(r->arg[i].value >> 32));
	}
	put_return(b, r->error == 0 ? SECCOMP_RET_ALLOW
				    : SECCOMP_RET_ERRNO | (uint32_t)r->error);
	/* Three checks of two words are far less than 255 instructions. */
	for (size_t i = begin; i < b->n && i < BPF_ROOM; i++)
		if (b->code[i].code == (BPF_JMP | BPF_JEQ | BPF_K))
			b->code[i].jf = (uint8_t)(b->n - i - 1);
}

static void
put_call(struct bpf *b, const struct bpf_call *c)
{
	put(b, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)c->rules[0]->nr);
	put_return(b, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < c->n; i++) {
		put_rule(b, c->rules[i]);
		/* The first rule of a call may need no arguments. */
		if (c->rules[i]->nargs == 0)
			return;
	}
	put_return(b, SECCOMP_RET_KILL_PROCESS);
}

/* The depth is the logarithm of the number of calls. */
static void
put_tree(struct bpf *b, const struct bpf_call *calls, size_t n)
{
	size_t half = n / 2, jump;

	if (n == 1) {
		put_call(b, calls);
		return;
	}
	put(b, BPF_JMP | BPF_JGE | BPF_K, 0, 1,
	    (uint32_t)calls[half].rules[0]->nr);
	jump = b->n;
	put(b, BPF_JMP | BPF_JA, 0, 0, 0);
	put_tree(b, calls, half);
	if (jump < BPF_ROOM)
		b->code[jump].k = (uint32_t)(b->n - jump - 1);
	put_tree(b, calls + half, n - half);
}

static int
check_rule(const struct pledge_rule *r)
{
	if (r->nargs > 3 || r->error < 0 || r->error > UINT16_MAX)
		return -1;
	for (unsigned i = 0; i < r->nargs; i++)
		if (r->arg[i].index > 5 ||
		    (r->arg[i].value & ~r->arg[i].mask) != 0)
			return -1;
	return 0;
}

/* By call, and rules without checks first. */
static int
compare_rules(const void *a, const void *b)
{
	const struct pledge_rule *const *x = a, *const *y = b;

	if ((*x)->nr != (*y)->nr)
		return (*x)->nr < (*y)->nr ? -1 : 1;
	return ((*x)->nargs != 0) - ((*y)->nargs != 0);
}

/* Divide sorted rules by call. Returns the number of calls; 0: impossible. */
static size_t
divide(const struct pledge_rule **rules, size_t n, struct bpf_call *calls)
{
	size_t ncalls = 0;

	for (size_t i = 0; i < n; i++) {
		/* libseccomp's number for a call that is not here. */
		if (rules[i]->nr < 0)
			continue;
		if (ncalls == 0 ||
		    calls[ncalls - 1].rules[0]->nr != rules[i]->nr)
			calls[ncalls++] = (struct bpf_call){rules + i, 0};
		calls[ncalls - 1].n++;
		if (calls[ncalls - 1].rules[0]->nargs == 0 &&
		    calls[ncalls - 1].rules[0]->error != rules[i]->error)
			return 0;
	}
	return ncalls;
}

int
bpf_compile(const struct pledge_rule **rules, size_t nrules,
    struct sock_filter code[BPF_ROOM], unsigned short *n)
{
	struct bpf_call calls[BPF_RULES];
	struct bpf b = {code, 0};
	size_t ncalls;

	if (nrules > BPF_RULES) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < nrules; i++) {
		if (check_rule(rules[i]) == -1) {
			errno = EINVAL;
			return -1;
		}
	}
	qsort(rules, nrules, sizeof(rules[0]), compare_rules);
	if ((ncalls = divide(rules, nrules, calls)) == 0) {
		errno = EINVAL;
		return -1;
	}
	put_load(&b, offsetof(struct seccomp_data, arch));
	put(&b, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, BPF_ARCH);
	put_return(&b, SECCOMP_RET_KILL_PROCESS);
	put_load(&b, offsetof(struct seccomp_data, nr));
	put(&b, BPF_JMP | BPF_JGE | BPF_K, 0, 1, BPF_FOREIGN);
	put_return(&b, SECCOMP_RET_KILL_PROCESS);
	put_tree(&b, calls, ncalls);
	if (b.n > BPF_ROOM) {
		errno = E2BIG;
		return -1;
	}
	*n = (unsigned short)b.n;
	return 0;
}
