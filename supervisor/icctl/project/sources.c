/* SPDX-License-Identifier: ISC */
/*
 * Says which settings of a session here do not come from config.json, for
 * `icctl config` and `icctl doctor`.
 */
#include "icctl/project/project.h"

#include <stdio.h>

int
project_sources(const struct icctl *ctl,
    void (*tell)(void *arg, const char *text, bool bad), void *arg)
{
	struct accepted a = {.root = NULL};
	struct project p;
	struct fault fault;
	char shown[ICCTL_PATH], text[ICCTL_PATH + 160];
	bool granted;

	if (project_read(&p, ".", &fault) == -1) {
		tell(arg, fault.text, true);
		project_free(&p);
		return -1;
	}
	if (p.root == NULL) {
		project_free(&p);
		return 0;
	}
	accepted_open(&a, ctl, &p);
	granted = !project_has(&p, PROJECT_ASKS) || accepted_is(&a, &p);
	accepted_close(&a);
	snprintf(text, sizeof(text), "%s %s", icctl_path(p.path, shown),
	    granted ? "adds, for sessions that start here, what "
		      "config.json does not set itself"
		    : "is not accepted: only what narrows is in force here");
	tell(arg, text, false);
	for (size_t i = 0; i < p.nsays; i++)
		if (p.says[i].effect != PROJECT_LACKS &&
		    (granted || p.says[i].effect != PROJECT_ASKS))
			tell(arg, p.says[i].text, false);
	project_free(&p);
	return 0;
}
