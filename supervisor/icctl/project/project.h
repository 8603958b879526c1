/* SPDX-License-Identifier: ISC */
/*
 * .ironcurtain.json: a file in a repository that says what its sessions need.
 * It grants nothing by itself, since an agent or a stranger may have written
 * it: what only narrows holds at once, and everything else once the person has
 * seen it in sentences and said yes.  The yes is for a digest of its meaning
 * and for one workspace.
 *
 * say.c: sentences; read.c: the file, and its digest; members.c: the table;
 * accepted.c: what was accepted; merge.c: the settings of a session;
 * forge.c: its repositories; install.c: its commands; take.c: the start of a
 * session; verbs.c: `icctl project`.
 */
#ifndef ICCTL_PROJECT_H
#define ICCTL_PROJECT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "common/sha256.h"
#include "icctl/icctl.h"

#define PROJECT_FILE ".ironcurtain.json"
#define PROJECT_MAX_SAYS 128U

/* A sentence, by its effect. */
enum project_effect {
	PROJECT_SHOWN,   /* the person's own setting wins */
	PROJECT_NARROWS, /* holds without a yes */
	PROJECT_ASKS,
	PROJECT_LACKS, /* needs something that the person does not have */
};

struct project_says {
	enum project_effect effect;
	char *text; /* visible */
};

struct project {
	char path[4200];         /* names the file */
	char workspace[4096];    /* resolved */
	json_object *root;       /* NULL: there is no file */
	char digest[SHA256_HEX]; /* stands for the meaning */
	struct project_says says[PROJECT_MAX_SAYS];
	size_t nsays;
};

/* read.c */
/*
 * Read the file of the workspace `dir`.  Returns 0, also if there is none, or
 * -1 with the fault set; call project_free() in each case.
 */
int project_read(struct project *, const char *dir, struct fault *);

/* say.c */
void project_free(struct project *);
/* Add a sentence; `fmt` has visible text only. */
void project_say(struct project *, enum project_effect, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool project_has(const struct project *, enum project_effect);
json_object *project_member(const struct project *, const char *name);
/* Returns a text member, or NULL. */
const char *project_text(const struct project *, const char *name);

/* members.c */
/* Check each member, and say what it is for.  Returns 0, or -1. */
int project_check(struct project *, struct fault *);

/* accepted.c */
/* The last yes for a workspace. */
struct accepted {
	char path[4200];   /* below IRONCURTAIN_HOME/projects */
	json_object *root; /* NULL: none */
};

void accepted_open(
    struct accepted *, const struct icctl *, const struct project *);
void accepted_close(struct accepted *);
/* Returns true if the yes is for what the file means now. */
bool accepted_is(const struct accepted *, const struct project *);
/* Write the yes down.  Returns 0, or -1 after it said why. */
int accepted_write(struct accepted *, const struct project *);
/* The same for commands that ran. */
bool accepted_installed(const struct accepted *, const char *digest);
int accepted_set_installed(struct accepted *, const char *digest);
/* Print the sentences that are new, and those that are gone. */
void accepted_diff(const struct accepted *, const struct project *, FILE *);
/* Name another workspace in which the same was accepted, in `dst`, or "". */
void accepted_elsewhere(
    const struct icctl *, const struct project *, char *dst, size_t cap);

/* changed.c */
#define PROJECT_SESSION 129U
/*
 * Write the session of this workspace during which the file last changed.
 * Returns false if there is none.
 */
bool project_changed(
    const struct icctl *, const struct project *, char id[PROJECT_SESSION]);

/* merge.c */
/*
 * Compose the settings of a session: those of `config`, or of config.json, and
 * what the project adds, if `granted`, and narrows.  Returns the text, which
 * the caller frees with freezero(), or NULL with the fault set.
 */
char *project_merge(const struct icctl *, struct project *, const char *config,
    const char *profile, bool granted, struct fault *);
/* Say what the project names and the person's settings lack. */
void project_lacks(const struct icctl *, struct project *, const char *config);

/* forge.c */
/*
 * Narrow the only forge of these settings as the project says, and add its
 * repositories if `granted`.
 */
void project_forge(const struct project *, json_object *root, bool granted);
/* Returns the only destination of the kind forge, or NULL. */
json_object *project_forge_own(json_object *root);

/* sources.c */
/*
 * Tell what the file of the current directory sets for sessions here: a line
 * that names the file, and a sentence for each thing that is in force. Returns
 * 0, or -1 if the file is broken, which it tells, too.
 */
int project_sources(const struct icctl *,
    void (*tell)(void *arg, const char *text, bool bad), void *arg);

/* install.c */
/* Check "install", and say what it runs.  Returns 0, or -1. */
int project_install_check(struct project *, json_object *, struct fault *);
/* Hash the commands and the files that they depend on. */
int project_install_digest(
    const struct project *, char digest[SHA256_HEX], struct fault *);
/*
 * Run the commands in a session of their own, with these settings and the
 * project's home.  Returns 0, or an exit status after it said why.
 */
int project_install(const struct icctl *, const struct project *,
    const char *settings, const char *runtime);

/* take.c */
/* The part of a project in a session. */
struct project_use {
	const char *workspace, *config, *profile, *runtime;
	bool may_ask; /* a person is at the terminal */
	bool off;     /* --no-project */
	bool clone;
	/* The result: config.json's text, for freezero(), or NULL: unchanged.
	 */
	char *settings;
	char *agent, *model, *image;
	bool read_only, installs;
};

/*
 * Decide about the project's file at the start of a session.  Returns 0, or an
 * exit status after it said why no session starts.
 */
int project_take(struct icctl *, struct project_use *);

#endif
