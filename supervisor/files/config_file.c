/* SPDX-License-Identifier: ISC */
/* Finds config.json, and has it read by the one parser or the other. */
#include "files/config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"

/* Set the defaults, which hold without a file. */
static int
config_none(struct config *cfg, config_parse_fn *parse, const char *file,
    const char *user_home, struct fault *fault)
{
	if (parse(cfg, file, user_home, NULL, SPAN("{}"), fault) == -1)
		return -1;
	free(cfg->file);
	cfg->file = NULL;
	memset(cfg->hash, 0, sizeof(cfg->hash));
	return 0;
}

int
config_file(struct config *cfg, config_parse_fn *parse, const char *file,
    const char *home, const char *user_home, const char *profile,
    struct fault *fault)
{
	struct stat st;
	char *dflt = NULL, *text = NULL;
	const char *path = file;
	size_t len = 0;
	int rv = -1;

	config_clear(cfg);
	if (path == NULL) {
		if (asprintf(&dflt, "%s/config.json", home) == -1)
			return fault_errno(fault, "config.json");
		path = dflt;
	}
	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL) {
		if (file == NULL && errno == ENOENT && profile != NULL)
			fault_set(fault, "--profile %s: there is no %s",
			    profile, path);
		else if (file == NULL && errno == ENOENT)
			rv = config_none(cfg, parse, path, user_home, fault);
		goto out;
	}
	if (parse(cfg, path, user_home, profile, span_of(text, len), fault) ==
	    -1)
		goto out;
	/* Engines of containers mount a Secret as root's, with a group. */
	if (cfg->server_env != NULL &&
	    (st.st_mode & (st.st_uid == 0 ? 004U : 044U)) != 0) {
		fault_set(fault,
		    "%s: other users can read it (mode %04o), and it contains "
		    "serverCredentials. Run: chmod 600 %s",
		    path, (unsigned)st.st_mode & 07777, path);
		config_free(cfg);
		goto out;
	}
	rv = 0;
out:
	if (text != NULL)
		freezero(text, len);
	free(dflt);
	return rv;
}
