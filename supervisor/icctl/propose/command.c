/* SPDX-License-Identifier: ISC */
/* `icctl policy propose`: the command. */
#include "icctl/propose/propose.h"

#include <sys/stat.h>

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX ((size_t)512 << 20)

static struct propose propose_env;

static int
load_annots(struct propose *p)
{
	const struct policy_file *f = &p->base.files[PROTO_RULES_ANNOTATIONS];
	struct load load;
	int r;

	load_init(&load, f->path == NULL ? "" : f->path);
	r = annots_load(&p->annots, span_of(f->text, f->len), &load);
	if (r == -1)
		warnx("%s", load.error);
	load_free(&load);
	return r;
}

/* Returns the exit status. */
static int
propose_all(struct propose *p, const char *log)
{
	struct buf text;
	int status = ICCTL_FAILED;

	buf_init(&text, (size_t)8 << 20);
	if (load_annots(p) == -1 || policy_calls(log, propose_take, p) == -1) {
		if (p->failed)
			warnx("%s: too many different calls", log);
		goto out;
	}
	propose_rules(p);
	if (p->failed) {
		warnx("%s: too many different calls", log);
		goto out;
	}
	if (propose_judge(p, &text) == -1)
		goto out;
	if (p->ctl->json) {
		status = propose_show_json(p) == 0 ? ICCTL_OK : ICCTL_FAILED;
		goto out;
	}
	propose_show(p);
	if (propose_count(p, PROTO_ALLOW) + propose_count(p, PROTO_DENY) +
		propose_count(p, PROTO_ESCALATE) ==
	    0) {
		puts("There is nothing to propose.");
		status = ICCTL_OK;
	} else {
		status = propose_install(p, &text);
	}
out:
	buf_free(&text);
	return status;
}

/* Find the log of the session that is named, or of the only one. */
static int
find_log(struct icctl *ctl, const struct policy_opts *o, char *log, size_t cap)
{
	struct stat st;
	int status;

	if (o->nargs != 0)
		ctl->session = o->args[0];
	if ((status = icctl_find(ctl)) != 0)
		return status;
	snprintf(log, cap, "%.4000s/audit.jsonl", ctl->dir);
	if (stat(log, &st) == 0)
		return 0;
	warn("%s", log);
	return ICCTL_NO_SESSION;
}

int
icctl_policy_propose(struct icctl *ctl, struct policy_opts *o)
{
	struct propose *p = &propose_env;
	char *workspace = NULL, log[PATH_MAX], dir[PATH_MAX];
	int status;

	if ((status = find_log(ctl, o, log, sizeof(log))) != 0)
		return status;
	snprintf(dir, sizeof(dir), "%.4000s", ctl->dir);
	p->ctl = ctl;
	p->opts = o;
	if (o->sandbox == NULL)
		o->sandbox = workspace = policy_calls_workspace(log);
	p->pool = value_pool_new(POOL_MAX);
	p->calls = calloc(PROPOSE_MAX_CALLS, sizeof(*p->calls));
	if (p->pool == NULL || p->calls == NULL)
		err(ICCTL_FAILED, "memory");
	status = ICCTL_FAILED;
	if (propose_base(p, dir) == 0) {
		status = propose_all(p, log);
		annots_free(&p->annots);
		policy_set_free(&p->base);
	}
	free(p->calls);
	value_pool_free(p->pool);
	free(workspace);
	return status;
}
