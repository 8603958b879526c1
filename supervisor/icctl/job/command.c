/* SPDX-License-Identifier: ISC */
/* `icctl job`: makes, changes, runs and removes jobs. */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/tree.h"
#include "icctl/job/job.h"
#include "icctl/words.h"

static int
command_failed(const struct fault *fault)
{
	warnx("%s", fault->text);
	return ICCTL_FAILED;
}

/* Say what is so now. */
static int
command_told(const struct icctl *ctl, const struct job *j, const char *what)
{
	char local[ICCTL_LOCAL], when[JOB_TIME];
	time_t next;

	if (ctl->json)
		return ICCTL_OK;
	printf("job %s %s", j->name, what);
	if (j->enabled && j->scheduled &&
	    (next = cron_next(&j->cron, time(NULL))) != -1)
		printf("; it runs next at %s",
		    icctl_local(job_time(next, when), local));
	else if (!j->scheduled)
		printf("; it has no schedule: icctl job run %s", j->name);
	putchar('\n');
	return ICCTL_OK;
}

/* Write the job, wait for its next time from now on, and set its timer. */
static int
command_save(const struct icctl *ctl, struct job *j, const char *what)
{
	struct fault fault;

	if (job_save(j, &fault) == -1)
		return command_failed(&fault);
	if (record_wait(j) == -1) {
		warn("%s/state.json", j->dir);
		return ICCTL_FAILED;
	}
	if (timer_set(ctl, j) == -1)
		return ICCTL_FAILED;
	return command_told(ctl, j, what);
}

static int
command_add(struct icctl *ctl, struct job *j, const char *name)
{
	struct fault fault;
	int rv = job_load(j, ctl->home, name, &fault);

	if (rv == 0) {
		warnx(
		    "there is a job %s already: icctl job edit %s", name, name);
		return ICCTL_FAILED;
	}
	if (errno != ENOENT)
		return command_failed(&fault);
	j->root = json_object_new_object();
	put_str(j->root, "id", name);
	put_str(j->root, "name", name);
	put_bool(j->root, "notifyOnEscalation", false);
	put_bool(j->root, "notifyOnCompletion", false);
	put_bool(j->root, "enabled", true);
	if (job_options(ctl, j) == -1)
		return ICCTL_USAGE;
	return command_save(ctl, j, "is there");
}

static int
command_edit(struct icctl *ctl, struct job *j)
{
	if (job_options(ctl, j) == -1)
		return ICCTL_USAGE;
	return command_save(ctl, j, "is changed");
}

static int
command_enable(struct icctl *ctl, struct job *j, bool on)
{
	put_bool(j->root, "enabled", on);
	return command_save(ctl, j, on ? "is enabled" : "is disabled");
}

static int
command_rm(struct icctl *ctl, struct job *j)
{
	char question[300];
	int lock = job_lock(j);

	(void)ctl;
	if (lock == -1) {
		warnx("job %s runs. End it first: icctl stop", j->name);
		return ICCTL_FAILED;
	}
	snprintf(question, sizeof(question),
	    "Remove job %s with the records of its runs?", j->name);
	if (!words_given("--yes") && !icctl_confirm(question)) {
		close(lock);
		warnx("nothing was removed%s",
		    isatty(STDIN_FILENO) ? ""
					 : ": nobody is here to be asked; "
					   "--yes removes it");
		return ICCTL_FAILED;
	}
	(void)timer_remove(j);
	close(lock);
	if (tree_remove(j->dir) == -1) {
		warn("%s", j->dir);
		return ICCTL_FAILED;
	}
	return ICCTL_OK;
}

/* Make the job's own policy of its constitution. */
static int
command_recompile(struct job *j)
{
	const char *text = get_str(j->root, "taskConstitution", "");
	char program[PATH_MAX], into[JOB_NAME + 8];

	if (text[0] == '\0')
		text = get_str(j->root, "task", "");
	if (text[0] == '\0') {
		warnx("job %s has no taskConstitution, which says what its "
		      "agent may do: icctl job edit %s --constitution TEXT",
		    j->name, j->name);
		return ICCTL_FAILED;
	}
	snprintf(into, sizeof(into), "job-%s", j->name);
	if (icctl_program("icctl", program, sizeof(program)) == -1)
		return ICCTL_FAILED;
	(void)fflush(stdout);
	if (words_given("--accept"))
		execl(program, "icctl", "policy", "compile", "--task", text,
		    "--into", into, "--accept", words_option("--accept"), NULL);
	else
		execl(program, "icctl", "policy", "compile", "--task", text,
		    "--into", into, NULL);
	warn("%s", program);
	return ICCTL_FAILED;
}

/* Do what `verb` says with a job that is there. */
static int
command_with(struct icctl *ctl, const char *verb, struct job *j)
{
	if (strcmp(verb, "edit") == 0)
		return command_edit(ctl, j);
	if (strcmp(verb, "show") == 0)
		return job_show(ctl, j);
	if (strcmp(verb, "run") == 0)
		return job_run(ctl, j, words_given("--scheduled"));
	if (strcmp(verb, "enable") == 0 || strcmp(verb, "disable") == 0)
		return command_enable(ctl, j, verb[0] == 'e');
	if (strcmp(verb, "rm") == 0)
		return command_rm(ctl, j);
	if (strcmp(verb, "logs") == 0)
		return job_logs(ctl, j);
	if (strcmp(verb, "recompile") == 0)
		return command_recompile(j);
	return words_usage();
}

int
icctl_job(struct icctl *ctl, int argc, char **argv)
{
	const char *verb = argc < 2 ? "ls" : argv[1];
	struct fault fault;
	struct job j = {.root = NULL};
	int status;

	/* A job's files are for this user alone, whatever the shell's umask. */
	(void)umask(077);
	if (argc <= 2 && strcmp(verb, "ls") == 0)
		return job_ls(ctl);
	if (argc == 2 && strcmp(verb, "daemon") == 0)
		return job_daemon(ctl);
	if (argc != 3)
		return words_usage();
	if (strcmp(verb, "add") == 0 && !words_given("--task")) {
		warnx("job add: what shall it do? icctl job add %s --schedule "
		      "\"0 3 * * *\" --task TEXT",
		    job_name_ok(argv[2]) ? argv[2] : "NAME");
		return ICCTL_USAGE;
	}
	if (strcmp(verb, "add") == 0)
		status = command_add(ctl, &j, argv[2]);
	else if (job_load(&j, ctl->home, argv[2], &fault) == 0)
		status = command_with(ctl, verb, &j);
	/* One that is damaged can still be removed. */
	else if (strcmp(verb, "rm") == 0 && job_name_ok(argv[2]) &&
		 errno != ENOENT)
		status = command_rm(ctl, &j);
	else
		status = command_failed(&fault);
	job_free(&j);
	return status;
}
