/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor` about constitutions: a person who wrote one is told if the
 * policy that decides was not made from it.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/sha256.h"
#include "files/config.h"
#include "files/persona.h"
#include "files/policydir.h"

/* Compute the hash of two texts as `icctl policy compile` does. */
static int
constitution_hash(const struct paths *p, char hex[SHA256_HEX])
{
	char base[PATH_MAX], own[PATH_MAX], *text[2];
	uint8_t sum[SHA256_SIZE];
	struct fault ignored;
	struct stat st;
	size_t len[2] = {0, 0};
	int rv = -1;

	snprintf(base, sizeof(base), "%.4000s/constitution.md", p->home);
	snprintf(own, sizeof(own), "%.4000s/constitution-user.md", p->home);
	text[0] = jsonfile_text(base, &len[0], &st, &ignored);
	if (text[0] == NULL && errno == ENOENT) {
		snprintf(
		    base, sizeof(base), "%.4000s/constitution.md", p->datadir);
		text[0] = jsonfile_text(base, &len[0], &st, &ignored);
	}
	text[1] = jsonfile_text(own, &len[1], &st, &ignored);
	if (text[0] != NULL && text[1] != NULL) {
		const struct span parts[3] = {span_of(text[0], len[0]),
		    SPAN("\n\n"), span_of(text[1], len[1])};

		sha256_spans(parts, 3, sum);
		sha256_hex(sum, hex);
		rv = 0;
	}
	free(text[0]);
	free(text[1]);
	return rv;
}

static void
constitution_own(
    const struct paths *p, const struct config *cfg, doctor_check *check)
{
	static const char next[] = "icctl policy compile";
	char shipped[PATH_MAX], path[PATH_MAX], have[SHA256_HEX], was[80];
	struct fault ignored;
	char *dir;

	if (constitution_hash(p, have) == -1)
		return;
	snprintf(shipped, sizeof(shipped), "%.4000s/policies", p->datadir);
	dir = policydir_find(p->home, shipped, cfg->policy, &ignored);
	if (dir == NULL)
		return;
	snprintf(path, sizeof(path), "%.4000s/%s", dir,
	    policydir_names[PROTO_RULES_POLICY]);
	free(dir);
	jsonfile_peek(path, "constitutionHash", was, sizeof(was));
	if (strcmp(was, have) == 0)
		check(GOOD, "constitution",
		    "your policy was made from it as it is now", "");
	else if (was[0] == '\0')
		check(NOTE, "constitution",
		    "your constitution-user.md is not in force yet", next);
	else
		check(NOTE, "constitution",
		    "your constitution-user.md was changed since the policy "
		    "was made from it", next);
}

static void
constitution_of(const struct paths *p, const char *name, doctor_check *check)
{
	struct persona_state s;
	struct persona persona;
	struct fault fault;
	char text[200], next[200];

	if (persona_load(&persona, p->home, name, &fault) == -1) {
		check(NOTE, "persona", fault.text, "correct it, or remove it: "
						   "icctl persona rm NAME");
	} else if (persona.policy == NULL && persona.text != NULL) {
		persona_state_read(&persona, &s);
		snprintf(text, sizeof(text), "of persona %.64s: %s", name,
		    s.compiled ? "it was changed since its policy was made"
			       : "it is not in force yet");
		snprintf(next, sizeof(next),
		    "icctl policy compile --persona %.64s", name);
		if (!s.current)
			check(NOTE, "constitution", text, next);
	}
	persona_free(&persona);
}

void
doctor_constitutions(
    const struct paths *p, const struct config *cfg, doctor_check *check)
{
	char dir[PATH_MAX];
	struct dirent **list;
	int n;

	constitution_own(p, cfg, check);
	snprintf(dir, sizeof(dir), "%.4000s/personas", p->home);
	if ((n = scandir(dir, &list, NULL, alphasort)) == -1)
		return;
	for (int i = 0; i < n; i++) {
		if (persona_name_ok(list[i]->d_name))
			constitution_of(p, list[i]->d_name, check);
		free(list[i]);
	}
	free(list);
}
