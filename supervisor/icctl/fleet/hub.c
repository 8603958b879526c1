/* SPDX-License-Identifier: ISC */
/*
 * `icctl hub FILE`: the sessions of many machines on one screen. With --json it
 * is a relay of them all, for programs: one that answers must name the digest of
 * what it was shown.
 */
#include <err.h>

#include "icctl/fleet/fleet.h"
#include "icctl/overview/overview.h"
#include "icctl/words.h"

int
icctl_hub(struct icctl *ctl, int argc, char **argv)
{
	if (argc != 2)
		return words_usage();
	if (ctl->session != NULL) {
		warnx("hub: --session names one of this machine's; a hub shows "
		      "those of its relays");
		return ICCTL_USAGE;
	}
	ctl->hub = argv[1];
	if (ctl->json)
		return relay_run(ctl);
	if (!overview_can()) {
		warnx("hub: this is no terminal that could show the screen; "
		      "icctl --json hub FILE prints events, and takes answers");
		return ICCTL_USAGE;
	}
	return overview_run(ctl);
}
