/* SPDX-License-Identifier: ISC */
/* "approvers": an approval needs signatures of the people in a file. */
#include "files/parse.h"

#include <string.h>

#include "base/signed.h"

int
config_approvers(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {"file", "needed", NULL};
	struct json_object *o = NULL;
	const char *file = NULL;
	int64_t needed = 1;

	if (jsonfile_object(j, root, "", "approvers", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "approvers", keys) == -1 ||
	    jsonfile_str(j, o, "approvers", "file", &file) == -1 ||
	    jsonfile_int(j, o, "approvers", "needed", 1, SIGNED_MAX, &needed) ==
		-1)
		return -1;
	if (file == NULL || file[0] != '/')
		return jsonfile_bad(j, "approvers", "file",
		    "must be the absolute path of a file as ssh-keygen(1) "
		    "describes ALLOWED SIGNERS");
	if (cfg->approve.on)
		return jsonfile_bad(j, "", "approvers",
		    "cannot go together with \"autoApprove\": a model signs "
		    "nothing");
	cfg->approvers.file = strdup(file);
	cfg->approvers.needed = (uint32_t)needed;
	return cfg->approvers.file == NULL
		   ? fault_errno(j->fault, "%s", j->file)
		   : 0;
}
