/* SPDX-License-Identifier: ISC */
/*
 * Finds the policy that a recording was made under: the one whose rules have
 * the hash that session.json names.
 */
#include "icctl/propose/propose.h"

#include <dirent.h>
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/sha256.h"
#include "files/policydir.h"

/* The hash of the rules in session.json, in hex; empty if it is unknown. */
static void
session_hash(const char *dir, char hash[65])
{
	char path[PATH_MAX];
	struct fault fault;
	struct json_object *o, *v;
	struct stat st;
	size_t len;
	char *text;

	hash[0] = '\0';
	snprintf(path, sizeof(path), "%.4000s/session.json", dir);
	if ((text = jsonfile_text(path, &len, &st, &fault)) == NULL)
		return;
	o = jsonfile_parse(path, span_of(text, len), &fault);
	freezero(text, len);
	if (json_object_object_get_ex(o, "policy", &v) &&
	    json_object_is_type(v, json_type_object))
		(void)strlcpy(hash, icctl_text(v, "policy"), 65);
	json_object_put(o);
}

/* Read the policy of that name if its rules have the hash. */
static bool
base_try(struct propose *p, const char *name, const char *hash)
{
	struct policy_opts o = {.files = {[PROTO_RULES_POLICY] = name}};
	char hex[2 * SHA256_SIZE + 1];
	const struct policy_file *f;
	uint8_t digest[SHA256_SIZE];
	struct fault fault;

	if (policy_set_load(p->ctl, &o, &p->base, &fault) == -1)
		return false;
	f = &p->base.files[PROTO_RULES_POLICY];
	sha256_span(span_of(f->text, f->len), digest);
	hex_string(digest, sizeof(digest), hex);
	if (hash == NULL || strcmp(hash, hex) == 0) {
		snprintf(p->base_name, sizeof(p->base_name), "%s",
		    name != NULL ? name : "your policy");
		return true;
	}
	policy_set_free(&p->base);
	return false;
}

/* Look among the user's own policies. */
static bool
base_own(struct propose *p, const char *hash)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/policies", p->ctl->home);
	if ((d = opendir(dir)) == NULL)
		return false;
	while (!found && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			found = base_try(p, e->d_name, hash);
	closedir(d);
	return found;
}

int
propose_base(struct propose *p, const char *session_dir)
{
	static const char *const shipped[] = {
	    "record", NULL, "default", "coding", "read-only"};
	char hash[65];
	struct fault fault;

	if (p->opts->files[PROTO_RULES_POLICY] != NULL) {
		if (policy_set_load(p->ctl, p->opts, &p->base, &fault) == 0) {
			snprintf(p->base_name, sizeof(p->base_name), "%s",
			    p->opts->files[PROTO_RULES_POLICY]);
			return 0;
		}
		warnx("%s", fault.text);
		return -1;
	}
	session_hash(session_dir, hash);
	for (size_t i = 0; i < nitems(shipped) && hash[0] != '\0'; i++)
		if (base_try(p, shipped[i], hash))
			return 0;
	if (hash[0] != '\0' && base_own(p, hash))
		return 0;
	warnx("the policy of that session was not found as it was: the rules "
	      "are added to \"record\" (--policy names another)");
	if (base_try(p, "record", NULL))
		return 0;
	warnx("the policy \"record\" cannot be read");
	return -1;
}
