/* SPDX-License-Identifier: ISC */
/*
 * Compares a policy with its constitution. compiled-policy.json has the hash of
 * the constitution that it was made from; if the user has changed the
 * constitution since, the policy in force is not the one the user means. That
 * is a warning, or with policy.strict an error. Both files are the user's own.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/jsonfile.h"
#include "common/sha256.h"
#include "files/policydir.h"

/*
 * Read the hash from the policy. "" if it has none or cannot be read, which
 * policyd reports.
 */
static void
drift_wanted(const struct rules_file *r, char hex[65])
{
	struct fault fault;
	struct json_object *root;

	root = jsonfile_parse(r->path, span_of(r->text, r->len), &fault);
	(void)strlcpy(hex, get_str(root, "constitutionHash", ""), 65);
	json_object_put(root);
}

static void
drift_hex(const struct span *runs, size_t n, char hex[65])
{
	uint8_t hash[32];

	sha256_spans(runs, n, hash);
	sha256_hex(hash, hex);
}

/*
 * Returns the directory of the constitution: the policy's directory, the one
 * above it, or IRONCURTAIN_HOME. NULL if there is none; the caller frees it.
 */
static char *
drift_dir(const char *dir)
{
	char *above = strdup(dir), *slash, *path, *out = NULL, base[4400];
	const char *places[3] = {base, above, sup.paths.home};
	struct stat st;

	policydir_base(dir, base, sizeof(base));

	if (above != NULL && (slash = strrchr(above, '/')) != NULL)
		*slash = '\0';
	for (size_t i = 0; i < 3 && out == NULL; i++) {
		if (places[i] == NULL || places[i][0] == '\0' ||
		    (path = paths_join(places[i], "constitution.md")) == NULL)
			continue;
		if (stat(path, &st) == 0)
			out = strdup(places[i]);
		free(path);
	}
	free(above);
	return out;
}

/*
 * Compare the hash of the constitution, followed by the user's own, as the
 * TypeScript IronCurtain computes it. `*name` is the file that was changed
 * after the policy was made at `made`.
 */
static int
drift_have(const char *dir, const char *want, time_t made, const char **name,
    bool *same, struct fault *fault)
{
	char *base = paths_join(dir, "constitution.md");
	char *more = paths_join(dir, "constitution-user.md");
	char *text[2] = {NULL, NULL}, hex[65];
	struct span runs[3];
	struct stat st;
	size_t len[2] = {0, 0};
	int rv = -1;

	if (base == NULL || more == NULL) {
		fault_errno(fault, "constitution.md");
		goto out;
	}
	if ((text[0] = jsonfile_text(base, &len[0], &st, fault)) == NULL)
		goto out;
	*name = "constitution.md";
	if (st.st_mtime <= made)
		*name = "constitution-user.md";
	text[1] = jsonfile_text(more, &len[1], &st, fault);
	if (text[1] == NULL && errno != ENOENT)
		goto out;
	if (text[1] == NULL)
		*name = "constitution.md";
	runs[0] = span_of(text[0], len[0]);
	runs[1] = SPAN("\n\n");
	runs[2] = text[1] == NULL ? SPAN("") : span_of(text[1], len[1]);
	drift_hex(runs, 3, hex);
	*same = strcmp(hex, want) == 0;
	if (!*same && text[1] == NULL) {
		drift_hex(runs, 1, hex);
		*same = strcmp(hex, want) == 0;
	}
	rv = 0;
out:
	free(base);
	free(more);
	free(text[0]);
	free(text[1]);
	return rv;
}

/* Returns true if it is the persona's own policy, of which icctl has told. */
static bool
drift_is_told(const char *dir)
{
	char own[4200];

	if (sup.opt.persona == NULL)
		return false;
	snprintf(own, sizeof(own), "%.4000s/personas/%.64s/generated",
	    sup.paths.home, sup.opt.persona);
	return strcmp(dir, own) == 0;
}

int
drift_check(const struct rules_file set[], const char *dir, struct fault *fault)
{
	const struct rules_file *r = &set[PROTO_RULES_POLICY];
	struct fault why = {""};
	bool known, same = false;
	const char *name = "";
	char want[65], *place;
	struct stat st;

	drift_wanted(r, want);
	if (want[0] == '\0')
		return 0;
	place = drift_dir(dir);
	known = place != NULL;
	if (!known)
		fault_set(&why,
		    "%s was made from a constitution.md that is not there",
		    r->path);
	else if (drift_have(place, want,
		     stat(r->path, &st) == 0 ? st.st_mtime : 0, &name, &same,
		     fault) == -1) {
		free(place);
		return -1;
	} else if (!same)
		fault_set(&why,
		    "%s/%s was changed after %s was made from it. Compile the "
		    "policy again (icctl policy compile); until then the "
		    "change is not in force",
		    place, name, r->path);
	free(place);
	if (same)
		return 0;
	if (sup.config.strict)
		return fault_set(
		    fault, "%s (refused: policy.strict)", why.text);
	/*
	 * Without anything to compare with, or if icctl has said it, this does
	 * not go to the terminal.
	 */
	if (!known || drift_is_told(dir))
		sup_note("%s", why.text);
	else
		sup_warn("%s", why.text);
	return 0;
}
