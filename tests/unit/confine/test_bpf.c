/* SPDX-License-Identifier: ISC */
/*
 * The filters that bpf.c compiles and those that libseccomp makes of the same
 * rules agree about every call and all arguments that a rule tells apart.
 */
#include "common/confine/bpf.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/audit.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/span.h"
#include "tap.h"
#include "unit/confine/bpf_run.h"

#define CALLS 1024U
#define TRIES 200U

static struct sock_filter ours[BPF_ROOM], theirs[BPF_ROOM];
static unsigned short nours;
static size_t ntheirs;

static bool
add(scmp_filter_ctx ctx, const struct pledge_rule *r)
{
	struct scmp_arg_cmp cmp[3];

	for (unsigned a = 0; a < r->nargs; a++)
		cmp[a] = (struct scmp_arg_cmp){r->arg[a].index,
		    SCMP_CMP_MASKED_EQ, r->arg[a].mask, r->arg[a].value};
	return seccomp_rule_add_array(ctx,
		   r->error == 0 ? SCMP_ACT_ALLOW
				 : SCMP_ACT_ERRNO((uint32_t)r->error),
		   r->nr, r->nargs, cmp) == 0;
}

/* Make libseccomp's filter of the same rules. */
static bool
reference(const struct pledge *p)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int fd = memfd_create("filter", MFD_CLOEXEC);
	const struct pledge_rule *rules;
	bool good = ctx != NULL && fd != -1;
	size_t n;
	ssize_t len;

	good = good &&
	       seccomp_attr_set(
		   ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
	       seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0;
	for (size_t i = 0; i < p->npromises; i++) {
		rules = pledge_promised(p->promises[i], &n);
		for (size_t k = 0; k < n; k++)
			good = good && add(ctx, &rules[k]);
	}
	for (size_t k = 0; k < p->nrules; k++)
		good = good && add(ctx, &p->rules[k]);
	good = good && seccomp_export_bpf(ctx, fd) == 0;
	len = good ? pread(fd, theirs, sizeof(theirs), 0) : -1;
	close(fd);
	seccomp_release(ctx);
	ntheirs = len <= 0 ? 0 : (size_t)len / sizeof(theirs[0]);
	return ntheirs != 0 && ntheirs < BPF_ROOM;
}

static uint64_t
random64(void)
{
	static uint64_t s = 0x9e3779b97f4a7c15ULL;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

/*
 * Set arguments near those that the rule wants: as they are, with bits that the
 * rule ignores, and, for odd tries, with one wrong bit.
 */
static void
aim(struct seccomp_data *d, const struct pledge_rule *r, unsigned try)
{
	const struct pledge_arg *a;

	for (size_t i = 0; i < nitems(d->args); i++)
		d->args[i] = try % 4 < 2 ? 0 : random64();
	for (unsigned i = 0; i < r->nargs; i++) {
		a = &r->arg[i];
		d->args[a->index] =
		    a->value |
		    (try < 4 ? 0 : random64() & random64() & ~a->mask);
	}
	if (try % 2 != 0)
		d->args[random64() % nitems(d->args)] ^= 1ULL
							 << (random64() % 64);
}

/* Returns true if both say the same; counts what ours allows. */
static bool
same(const struct seccomp_data *d, unsigned *allowed)
{
	uint32_t a = bpf_run(ours, nours, d);
	uint32_t b = bpf_run(theirs, ntheirs, d);

	*allowed += a == SECCOMP_RET_ALLOW;
	if (a == b && a != BPF_BROKEN)
		return true;
	printf("# call %d, architecture %x: %x, libseccomp: %x\n", d->nr,
	    d->arch, a, b);
	for (size_t i = 0; i < nitems(d->args); i++)
		printf("# argument %zu: %llx\n", i,
		    (unsigned long long)d->args[i]);
	return false;
}

static bool
same_for_rule(const struct pledge_rule *r, unsigned *allowed)
{
	struct seccomp_data d = {.nr = r->nr, .arch = seccomp_arch_native()};

	for (unsigned try = 0; try < TRIES; try++) {
		aim(&d, r, try);
		if (!same(&d, allowed))
			return false;
	}
	return true;
}

/* Other calls, other architectures, numbers of other ABIs. */
static bool
same_elsewhere(unsigned *allowed)
{
	static const uint32_t arches[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386,
	    AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM, 0};
	static const uint32_t bases[] = {
	    0, 0x40000000U, 0x80000000U, 0xffffffffU - CALLS};
	struct seccomp_data d = {.nr = 0};

	for (size_t a = 0; a < nitems(arches); a++) {
		for (size_t b = 0; b < nitems(bases); b++) {
			for (uint32_t nr = 0; nr <= CALLS; nr++) {
				d.arch = arches[a];
				d.nr = (int)(bases[b] + nr);
				if (!same(&d, allowed))
					return false;
			}
		}
	}
	return true;
}

static void
compare(const char *name, const struct pledge *p)
{
	const struct pledge_rule *rules;
	unsigned allowed = 0, none = 0;
	bool good = true;
	size_t n;

	if (!ok(pledge_compile(p, ours, &nours) == 0, "%s: compiled", name) ||
	    !ok(reference(p), "%s: libseccomp compiles it", name))
		return;
	for (size_t i = 0; i < p->npromises; i++) {
		rules = pledge_promised(p->promises[i], &n);
		for (size_t k = 0; k < n; k++)
			good = good && same_for_rule(&rules[k], &allowed);
	}
	for (size_t k = 0; k < p->nrules; k++)
		good = good && same_for_rule(&p->rules[k], &allowed);
	ok(good, "%s: the same for its own calls", name);
	ok(allowed > TRIES / 2, "%s: enough tries were permitted", name);
	ok(same_elsewhere(&none), "%s: the same for other calls", name);
}

/* clang-format off */
static const struct pledge_rule odd_rules[] = {
	{SCMP_SYS(socket), 1, {{0, UINT32_MAX, AF_INET}}, "allowed", 0},
	{SCMP_SYS(socket), 1, {{0, UINT32_MAX, AF_UNIX}}, "fails", EACCES},
	{SCMP_SYS(ioctl), 3, {{1, UINT64_MAX, 7}, {2, 1ULL << 63, 1ULL << 63},
	    {0, 0xff00ff00ff00ffULL, 0x12003400560078ULL}}, "both words", 0},
	{SCMP_SYS(fcntl), 0, {{0}}, "with any arguments, beside other rules", 0},
	{SCMP_SYS(open), 0, {{0}}, "not on every architecture", 0},
	{SCMP_SYS(kill), 0, {{0}}, "fails with any arguments", EPERM},
};

static const struct pledge_rule bad_rules[] = {
	{SCMP_SYS(kill), 1, {{6, 1, 1}}, "no such argument", 0},
	{SCMP_SYS(kill), 1, {{0, 1, 2}}, "can never be", 0},
	{SCMP_SYS(kill), 4, {{0}}, "too many checks", 0},
	{SCMP_SYS(kill), 0, {{0}}, "no such error", -1},
};
/* clang-format on */

static void
test_bad(void)
{
	static const struct pledge_rule pair[] = {
	    {SCMP_SYS(kill), 0, {{0}}, "with any arguments", 0},
	    {SCMP_SYS(kill), 1, {{0, 1, 1}}, "and yet not", EPERM}};
	struct pledge_rule many[BPF_RULES + 1];
	struct pledge p = {.nrules = 1};

	for (size_t i = 0; i < nitems(bad_rules); i++) {
		p.rules = &bad_rules[i];
		errno = 0;
		ok(pledge_compile(&p, ours, &nours) == -1 && errno == EINVAL,
		    "bad: %s", bad_rules[i].reason);
	}
	p = (struct pledge){.rules = pair, .nrules = 2};
	ok(pledge_compile(&p, ours, &nours) == -1 && errno == EINVAL,
	    "bad: two actions");
	p = (struct pledge){.nrules = 0};
	ok(pledge_compile(&p, ours, &nours) == -1 && errno == EINVAL,
	    "bad: no rule");
	for (size_t i = 0; i < nitems(many); i++)
		many[i] = odd_rules[2];
	p = (struct pledge){.rules = many, .nrules = nitems(many)};
	ok(pledge_compile(&p, ours, &nours) == -1 && errno == E2BIG,
	    "bad: too many rules");
	p.nrules--;
	ok(pledge_compile(&p, ours, &nours) == -1 && errno == E2BIG,
	    "bad: too many instructions");
}

int
main(void)
{
	enum pledge_promise all[PLEDGE_COUNT];
	struct pledge p = {.promises = all, .npromises = 1};

	for (unsigned i = 0; i < PLEDGE_COUNT; i++) {
		all[0] = (enum pledge_promise)i;
		compare(pledge_name(all[0]), &p);
	}
	for (unsigned i = 0; i < PLEDGE_COUNT; i++)
		all[i] = (enum pledge_promise)i;
	p.npromises = PLEDGE_COUNT;
	compare("all promises", &p);
	p.rules = odd_rules;
	p.nrules = nitems(odd_rules);
	compare("and odd rules", &p);
	test_bad();
	return tap_done();
}
