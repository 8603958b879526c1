/* SPDX-License-Identifier: ISC */
/*
 * Compares the filter that bubblewrap gets with the one that engines get: for
 * every number of a system call, and for arguments that each rule looks at,
 * both must give the same answer.  Only calls that libseccomp has no name for
 * may differ; ic-bridge adds bubblewrap's filter in the container for them.
 */
#include <sys/socket.h>

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <seccomp.h>

#include "supervisor/box/filter.h"
#include "tap.h"

#define CALLS 600
#define ARGS 6
#define CODE_MAX 65536U
#define NAMELESS_FIRST 450 /* as in filter.c */

static struct sock_filter code[CODE_MAX];
static size_t ncode;

static struct rule {
	int error;
	unsigned n;
	struct {
		unsigned arg;
		uint64_t a, b;
		char op[24];
	} when[ARGS];
} rules[CALLS][200];
static unsigned nrules[CALLS];

/* Values that a rule compares with, and their neighbours. */
static uint64_t values[400];
static unsigned nvalues;

static uint32_t
load(const struct seccomp_data *d, uint32_t at)
{
	uint32_t word;

	if (at % 4 != 0 || at > sizeof(*d) - 4)
		errx(1, "load at %u", at);
	memcpy(&word, (const uint8_t *)d + at, 4);
	return word;
}

static bool
jumps(uint16_t op, uint32_t acc, uint32_t k)
{
	switch (op) {
	case BPF_JEQ:
		return acc == k;
	case BPF_JGT:
		return acc > k;
	case BPF_JGE:
		return acc >= k;
	case BPF_JSET:
		return (acc & k) != 0;
	default:
		errx(1, "jump %#x", op);
	}
}

/* Run the filter as the kernel does. */
static uint32_t
run(const struct seccomp_data *d)
{
	uint32_t acc = 0;

	for (size_t pc = 0; pc < ncode; pc++) {
		const struct sock_filter *f = &code[pc];

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			acc = load(d, f->k);
			break;
		case BPF_ALU:
			if (BPF_OP(f->code) != BPF_AND)
				errx(1, "operation %#x", f->code);
			acc &= f->k;
			break;
		case BPF_JMP:
			if (BPF_OP(f->code) == BPF_JA)
				pc += f->k;
			else
				pc += jumps(BPF_OP(f->code), acc, f->k) ? f->jt
									: f->jf;
			break;
		case BPF_RET:
			return f->k;
		default:
			errx(1, "code %#x", f->code);
		}
	}
	errx(1, "the filter has no end");
}

static void
value(uint64_t v)
{
	for (unsigned i = 0; i < nvalues; i++)
		if (values[i] == v)
			return;
	if (nvalues == nitems(values))
		errx(1, "more than %u values", nvalues);
	values[nvalues++] = v;
}

static int64_t
number(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		errx(1, "a rule lacks %s", key);
	return json_object_get_int64(v);
}

static void
read_condition(struct rule *r, struct json_object *o)
{
	struct json_object *op;
	unsigned i = r->n++;

	if (r->n > ARGS || !json_object_object_get_ex(o, "op", &op))
		errx(1, "a condition is not one");
	r->when[i].arg = (unsigned)number(o, "index");
	r->when[i].a = (uint64_t)number(o, "value");
	r->when[i].b = (uint64_t)number(o, "valueTwo");
	strlcpy(
	    r->when[i].op, json_object_get_string(op), sizeof(r->when[i].op));
	value(r->when[i].a);
	value(r->when[i].a + 1);
	value(r->when[i].b);
	/* The kernel may use the low half only. */
	value(r->when[i].b | 1ULL << 40);
}

static void
read_rule(struct json_object *o)
{
	struct json_object *names, *args;
	struct rule *r;
	int nr;

	if (!json_object_object_get_ex(o, "names", &names) ||
	    !json_object_object_get_ex(o, "args", &args))
		errx(1, "a rule lacks names or args");
	nr = seccomp_syscall_resolve_name(
	    json_object_get_string(json_object_array_get_idx(names, 0)));
	if (nr < 0 || nr >= CALLS || nrules[nr] == 200)
		errx(1, "no room for system call %d", nr);
	r = &rules[nr][nrules[nr]++];
	r->error = (int)number(o, "errnoRet");
	for (size_t i = 0; i < json_object_array_length(args); i++)
		read_condition(r, json_object_array_get_idx(args, i));
}

static bool
meets(const struct rule *r, const struct seccomp_data *d)
{
	for (unsigned i = 0; i < r->n; i++) {
		uint64_t v = d->args[r->when[i].arg];
		const char *op = r->when[i].op;
		bool yes;

		if (strcmp(op, "SCMP_CMP_EQ") == 0)
			yes = v == r->when[i].a;
		else if (strcmp(op, "SCMP_CMP_NE") == 0)
			yes = v != r->when[i].a;
		else if (strcmp(op, "SCMP_CMP_GE") == 0)
			yes = v >= r->when[i].a;
		else if (strcmp(op, "SCMP_CMP_MASKED_EQ") == 0)
			yes = (v & r->when[i].a) == r->when[i].b;
		else
			errx(1, "operator %s", op);
		if (!yes)
			return false;
	}
	return true;
}

/* Judge the call as an engine's filter does. */
static uint32_t
judge(const struct seccomp_data *d)
{
	for (unsigned i = 0; i < nrules[d->nr]; i++)
		if (meets(&rules[d->nr][i], d))
			return SECCOMP_RET_ERRNO |
			       (uint32_t)rules[d->nr][i].error;
	return SECCOMP_RET_ALLOW;
}

static void
read_filters(enum filter_kind kind)
{
	struct json_object *o, *calls, *v;
	struct buf b;
	ssize_t n;
	int fd;

	if ((fd = filter_memfd(kind)) == -1 ||
	    (n = read(fd, code, sizeof(code))) <= 0)
		err(1, "filter");
	close(fd);
	ncode = (size_t)n / sizeof(code[0]);
	memset(nrules, 0, sizeof(nrules));
	memset(rules, 0, sizeof(rules));
	nvalues = 0;
	value(0);
	value(UINT64_MAX);
	buf_init(&b, 1U << 20);
	if (filter_json(kind, &b) == -1)
		err(1, "filter_json");
	buf_addc(&b, '\0');
	if (buf_check(&b) == -1)
		err(1, "filter_json");
	o = json_tokener_parse((const char *)buf_span(&b).p);
	buf_free(&b);
	if (o == NULL || !json_object_object_get_ex(o, "syscalls", &calls))
		errx(1, "the engine's filter has no system calls");
	ok(json_object_object_get_ex(o, "defaultAction", &v) &&
		strcmp(json_object_get_string(v), "SCMP_ACT_ALLOW") == 0,
	    "the default of the engine's filter");
	for (size_t i = 0; i < json_object_array_length(calls); i++)
		read_rule(json_object_array_get_idx(calls, i));
	json_object_put(o);
}

/* Compare both for one call and every pair of two arguments' values. */
static unsigned
compare_call(int nr, uint32_t arch, unsigned *compared)
{
	struct seccomp_data d = {.nr = nr, .arch = arch};
	unsigned differ = 0;
	bool two = false;

	/* Most calls look at one argument at most. */
	for (unsigned i = 0; i < nrules[nr]; i++)
		two |= rules[nr][i].n > 1;
	for (unsigned a = 0; a < ARGS; a++)
		for (unsigned i = 0; i < nvalues; i++)
			for (unsigned b = 0; b < ARGS; b++)
				for (unsigned k = 0; k < (two ? nvalues : 1);
				     k++) {
					memset(d.args, 0, sizeof(d.args));
					d.args[a] = values[i];
					if (two)
						d.args[b] = values[k];
					(*compared)++;
					if (run(&d) != judge(&d))
						differ++;
				}
	return differ;
}

static void
compare(enum filter_kind kind, const char *what)
{
	uint32_t arch = seccomp_arch_native() == SCMP_ARCH_X86_64 ? 0xc000003eU
								  : 0xc00000b7U;
	unsigned differ = 0, compared = 0, nameless = 0;

	read_filters(kind);
	for (int nr = 0; nr < CALLS; nr++) {
		char *name =
		    seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

		if (name == NULL && nr >= NAMELESS_FIRST) {
			nameless++;
		} else if (compare_call(nr, arch, &compared) != 0) {
			printf("# %s: %d (%s) differs\n", what, nr,
			    name == NULL ? "no name" : name);
			differ++;
		}
		free(name);
	}
	printf("# %s: %u comparisons, %u calls without a name\n", what,
	    compared, nameless);
	ok(differ == 0 && compared > 100000,
	    "%s: both filters agree on every named call", what);
}

/* The comparison notices a rule that is missing, or looks at less. */
static void
control(void)
{
	struct seccomp_data d = {.nr = SCMP_SYS(clone), .arch = 0xc000003eU};

	if (seccomp_arch_native() != SCMP_ARCH_X86_64)
		d.arch = 0xc00000b7U;
	read_filters(FILTER_AGENT);
	d.args[0] = CLONE_NEWNET;
	ok(run(&d) == (SECCOMP_RET_ERRNO | EPERM) && judge(&d) == run(&d),
	    "both deny a new network");
	nrules[d.nr]--;
	for (uint64_t bit = 1; bit <= 0x80000000U; bit <<= 1) {
		d.args[0] = bit;
		if (run(&d) != judge(&d))
			break;
	}
	ok(run(&d) != judge(&d), "a rule that is missing is noticed");
}

int
main(void)
{
	compare(FILTER_AGENT, "an agent");
	compare(FILTER_SERVER, "a server");
	compare(FILTER_OURS, "icfs");
	control();
	return tap_done();
}
