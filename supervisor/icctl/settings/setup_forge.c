/* SPDX-License-Identifier: ISC */
/*
 * `icctl setup --forge`: says which token a session needs for the API of a
 * forge, permission by permission, and what to write into config.json. It asks
 * and changes nothing: the token is made in the browser, and belongs to a
 * repository that only the person can name.
 */
#include "icctl/settings/setup.h"

#include <stdio.h>

static const struct {
	const char *name, *access, *why;
} forge_permissions[] = {
    {"Metadata", "read-only", "always part of such a token"},
    {"Issues", "read and write", "\"write\": open, edit, comment, close, label"},
    {"Pull requests", "read and write",
	"\"write\": open, edit, comment, review, close"},
    {"Commit statuses", "read-only", "the checks of a pull request"},
    {"Actions", "read and write", "\"run\": see runs, start them again"},
    {"Contents", "read-only",
	"diffs and releases; write, if \"merge\" or \"release\" is not denied"},
};

static const char forge_text[] =
    "\nNothing else: no Administration, Secrets, Variables, Environments, "
    "Webhooks,\nWorkflows or Deployments. A session cannot use them, "
    "whatever the token can do.\n"
    "\nKeep the token where only you can read it, and name the place:\n\n"
    "  icctl config set destinations.shop '{\"kind\": \"forge\", \"forge\": "
    "\"github\",\n    \"hosts\": [\"api.github.com\"], \"repositories\": "
    "[\"OWNER/NAME\"],\n    \"credential\": {\"file\": "
    "\"~/.config/shop-token\"}}'\n"
    "\nThen gh works in the next session, without the token in it: reading "
    "is allowed,\neach change waits for your approval, and merging and "
    "releases are denied unless\nyou set \"merge\" or \"release\" to "
    "\"ask\". ironcurtain-config(5), FORGES.\n";

int
setup_forge(void)
{
	puts("For GitHub, make a fine-grained token, at Settings, Developer "
	     "settings, Personal\naccess tokens, Fine-grained tokens.\n\n"
	     "  Resource owner     the owner of the repository\n"
	     "  Expiration         short: 30 days\n"
	     "  Repository access  only select repositories: those of the "
	     "destination\n\nRepository permissions:\n");
	for (size_t i = 0; i < nitems(forge_permissions); i++)
		printf("  %-16s %-15s %s\n", forge_permissions[i].name,
		    forge_permissions[i].access, forge_permissions[i].why);
	fputs(forge_text, stdout);
	return ICCTL_OK;
}
