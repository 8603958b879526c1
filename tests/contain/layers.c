/* SPDX-License-Identifier: ISC */
/*
 * Locks down without some layers, chosen by the order: a layer's own effect can
 * only be observed without the others. Linked into bare builds with --wrap
 * around the shipped objects; no shipped program has such a switch.
 */
#include "common/confine/unveil.h"
#include "order.h"
#include "probe.h"

#include <sys/prctl.h>

int __real_pledge_apply(const struct pledge *);
int __wrap_pledge_apply(const struct pledge *);
int __real_unveil_apply(const struct unveil_path *, size_t);
int __wrap_unveil_apply(const struct unveil_path *, size_t);

static uint32_t
layers(void)
{
	return probe_order.layers;
}

void
__wrap_confine_early(void)
{
	if (layers() & LAYER_PRIVATE)
		__real_confine_early();
}

int
__wrap_unveil_apply(const struct unveil_path *paths, size_t n)
{
	return layers() & LAYER_LANDLOCK ? __real_unveil_apply(paths, n) : 1;
}

int
__wrap_pledge_apply(const struct pledge *p)
{
	return layers() & LAYER_SECCOMP ? __real_pledge_apply(p) : 0;
}

int
__wrap_confine_apply(const struct confine *c, struct confine_state *st)
{
	static const struct unveil_path outbound = {-1, UNVEIL_CONNECT};

	if (layers() & LAYER_PRIVATE)
		return __real_confine_apply(c, st);
	if (layers() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	/* The same condition as in confine.c. */
	if (__wrap_unveil_apply(
		&outbound, c->keep & CONFINE_KEEP_NET ? 1 : 0) == -1)
		return -1;
	return __wrap_pledge_apply(&c->pledge);
}
