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
    {"Issues", "read and write",
	"\"write\": open, edit, comment, close, label"},
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

static const char forge_others[] =
    "\nFor GitLab, make a project token, at the project's Settings, Access "
    "tokens:\n\n"
    "  Role    Developer: a token that sees that of the runners is refused\n"
    "  Scope   api, to change things; read_api, if \"write\" and \"run\" "
    "are denied\n"
    "  Expiry  short: 30 days\n"
    "\nFor Gitea and Forgejo, at Settings, Applications:\n\n"
    "  issue       read and write  issues, and comments on pull requests\n"
    "  repository  read and write  pull requests, reviews, runs; read, if "
    "\"write\" is\n                              denied\n"
    "  user        read            who the token belongs to\n"
    "\nThen \"forge\" is \"gitlab\" or \"gitea\", and \"hosts\" has its "
    "host.\n";

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
	fputs(forge_others, stdout);
	return ICCTL_OK;
}
