/* SPDX-License-Identifier: ISC */
/* Begins and ends the fleet: a live set whose news come from relays. */
#include "icctl/fleet/priv.h"

#include <err.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "icctl/policy/policy.h"

#define FOLLOW_POOL (64U << 20)

static struct fleet *follow_env;

/* Say who answers, as relays and sessions are told. */
static void
follow_by(char *dst, size_t cap)
{
	const struct passwd *pw = getpwuid(getuid());
	char host[65] = "";

	(void)gethostname(host, sizeof(host) - 1);
	snprintf(dst, cap, "%.60s@%.64s", pw == NULL ? "?" : pw->pw_name, host);
}

struct live *
fleet_follow(struct icctl *ctl, struct loop *loop, unsigned flags,
    const struct live_ops *ops, void *arg)
{
	struct live_far far = {.ask = fleet_ask_send};
	struct fault fault = {.text = ""};
	struct fleet *f;

	if (ctl->hub == NULL)
		return live_new(loop, ctl->home,
		    ctl->dir[0] != '\0' ? ctl->dir : NULL, flags, ops, arg);
	if ((f = calloc(1, sizeof(*f))) == NULL ||
	    (f->pool = value_pool_new(FOLLOW_POOL)) == NULL)
		err(ICCTL_FAILED, "hub");
	f->ctl = ctl;
	f->loop = loop;
	if (policy_own_path("libexec/ironcurtain/ic-hear", f->hear,
		sizeof(f->hear)) == -1)
		errx(ICCTL_FAILED, "ic-hear, which reads relays, is not found");
	if (fleet_file(f, ctl->hub, &fault) == -1)
		errx(ICCTL_USAGE, "%s", fault.text);
	far.arg = f;
	if (spawn_init() == -1 ||
	    (f->live = live_new_far(loop, flags, ops, arg, &far)) == NULL)
		err(ICCTL_FAILED, "hub");
	/* A relay that ends is noticed by its output. */
	(void)signal(SIGPIPE, SIG_IGN);
	follow_by(f->by, sizeof(f->by));
	for (unsigned i = 0; i < f->nentries; i++)
		if (f->entries[i].name[0] != '\0')
			(void)node_add(
			    f, &f->entries[i], f->entries[i].name);
		else
			discover_begin(f, &f->entries[i]);
	follow_env = f;
	return f->live;
}

void
fleet_leave(struct live *live)
{
	struct fleet *f = follow_env;

	if (f != NULL && f->live == live) {
		for (unsigned i = 0; i < f->nentries; i++)
			if (f->entries[i].fleet != NULL)
				discover_end(&f->entries[i]);
		while (f->nnodes != 0)
			node_free(f->nodes[--f->nnodes]);
		value_pool_free(f->pool);
		free(f->entries);
		free(f);
		follow_env = NULL;
	}
	live_free(live);
}
