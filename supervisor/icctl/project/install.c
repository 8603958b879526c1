/* SPDX-License-Identifier: ISC */
/*
 * The commands that a project installs itself with. They run in a session of
 * their own, before the agent's: the same sandbox, settings and workspace, and
 * the home that the workspace keeps, without a person to ask. They run once for
 * each content of themselves and of the files that they depend on.
 */
#include "icctl/project/project.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/spawn.h"
#include "common/buf.h"
#include "common/log.h"
#include "common/wordlist.h"

#define INSTALL_COMMANDS 8U
#define INSTALL_WORDS 32U
#define INSTALL_SECONDS 900
#define INSTALL_FILE (64U << 20)

/* Add the words as a shell would need them, to be read by a person. */
static int
words_shown(const struct jsonfile *j, json_object *run, struct buf *b)
{
	char shown[512];

	if (!json_object_is_type(run, json_type_array) ||
	    json_object_array_length(run) == 0 ||
	    json_object_array_length(run) > INSTALL_WORDS)
		return jsonfile_bad(j, "install.run", NULL,
		    "must be an array of 1 to %u words", INSTALL_WORDS);
	for (size_t i = 0; i < json_object_array_length(run); i++) {
		json_object *w = json_object_array_get_idx(run, i);
		const char *s = json_object_get_string(w);

		if (!json_object_is_type(w, json_type_string) ||
		    strlen(s) > 200 ||
		    strlen(s) != (size_t)json_object_get_string_len(w) ||
		    (i == 0 && (s[0] == '-' || s[0] == '\0')))
			return jsonfile_bad(j, "install.run", NULL,
			    "has words of at most 200 bytes, and begins with a "
			    "program");
		log_vis(span_str(s), shown, sizeof(shown));
		buf_adds(b, i == 0 ? "" : " ");
		buf_adds(
		    b, strpbrk(s, " \"'$`\\;&|<>*?()#~") == NULL ? "" : "'");
		buf_adds(b, shown);
		buf_adds(
		    b, strpbrk(s, " \"'$`\\;&|<>*?()#~") == NULL ? "" : "'");
	}
	buf_add(b, "", 1);
	return b->failed ? -1 : 0;
}

/* Check the names of files on which a command depends. */
static int
when_ok(const struct jsonfile *j, json_object *when)
{
	if (when == NULL)
		return 0;
	if (!json_object_is_type(when, json_type_array) ||
	    json_object_array_length(when) > INSTALL_WORDS)
		return jsonfile_bad(j, "install.when", NULL,
		    "must be an array of at most %u names", INSTALL_WORDS);
	for (size_t i = 0; i < json_object_array_length(when); i++) {
		const char *s =
		    json_object_get_string(json_object_array_get_idx(when, i));

		if (s == NULL || s[0] == '/' || s[0] == '\0' ||
		    strstr(s, "..") != NULL || strlen(s) > 200)
			return jsonfile_bad(j, "install.when", NULL,
			    "has names of files below the project");
	}
	return 0;
}

int
project_install_check(struct project *p, json_object *v, struct fault *fault)
{
	static const char *const keys[] = {"run", "when", NULL};
	const struct jsonfile j = {p->path, fault};
	json_object *o, *run, *when;
	struct buf b;
	int rv = 0;

	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) > INSTALL_COMMANDS)
		return jsonfile_bad(&j, "install", NULL,
		    "must be an array of at most %u commands, as in "
		    "[{\"run\": [\"npm\", \"ci\"], \"when\": "
		    "[\"package-lock.json\"]}]",
		    INSTALL_COMMANDS);
	for (size_t i = 0; i < json_object_array_length(v) && rv == 0; i++) {
		o = json_object_array_get_idx(v, i);
		run = when = NULL;
		if (!json_object_is_type(o, json_type_object))
			return jsonfile_bad(
			    &j, "install", NULL, "must have objects");
		if (jsonfile_known(&j, o, "install", keys) == -1)
			return -1;
		(void)json_object_object_get_ex(o, "run", &run);
		(void)json_object_object_get_ex(o, "when", &when);
		buf_init(&b, 32768);
		if (when_ok(&j, when) == -1 || words_shown(&j, run, &b) == -1)
			rv = -1;
		else
			project_say(p, PROJECT_ASKS,
			    "before the agent starts, this runs in its "
			    "sandbox: %s",
			    (const char *)buf_span(&b).p);
		buf_free(&b);
	}
	return rv;
}

/* Add the content of a file below the workspace, which no link leads to. */
static void
file_add(const struct project *p, const char *name, struct buf *b)
{
	uint8_t block[65536];
	struct stat st;
	size_t all = 0;
	ssize_t n;
	int dir = open(p->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	fd = openat(dir, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (dir != -1)
		close(dir);
	buf_adds(b, "\nfile ");
	buf_adds(b, name);
	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		buf_adds(b, " is missing");
	} else {
		while (all < INSTALL_FILE &&
		       (n = read(fd, block, sizeof(block))) > 0) {
			buf_add(b, block, (size_t)n);
			all += (size_t)n;
		}
	}
	if (fd != -1)
		close(fd);
}

int
project_install_digest(
    const struct project *p, char digest[SHA256_HEX], struct fault *fault)
{
	json_object *all = project_member(p, "install"), *o, *when;
	uint8_t sum[SHA256_SIZE];
	struct buf b;
	int rv;

	buf_init(&b, 2 * (size_t)INSTALL_FILE);
	buf_adds(&b, json_object_to_json_string_ext(all, ICCTL_JSON));
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		o = json_object_array_get_idx(all, i);
		if (!json_object_object_get_ex(o, "when", &when))
			continue;
		for (size_t k = 0; k < json_object_array_length(when); k++)
			file_add(p,
			    json_object_get_string(
				json_object_array_get_idx(when, k)),
			    &b);
	}
	rv = b.failed ? fault_set(fault,
			    "%s: the files of install.when are larger than "
			    "128 MiB",
			    p->path)
		      : 0;
	sha256_span(buf_span(&b), sum);
	sha256_hex(sum, digest);
	buf_free(&b);
	return rv;
}

/* Write the settings, with a limit of time. Returns 0, or -1. */
static int
write_settings(const char *path, const char *settings)
{
	json_object *root = json_tokener_parse(settings), *budget;
	int rv = -1;

	if (root == NULL)
		return -1;
	budget = put_child(root, "resourceBudget");
	put_int(budget, "maxSessionSeconds", INSTALL_SECONDS);
	rv = jsonfile_replace(
	    path, span_str(json_object_to_json_string_ext(root, ICCTL_JSON)));
	json_object_put(root);
	return rv;
}

static int
install_one(const struct project *p, const char *config, const char *runtime,
    json_object *run)
{
	char program[PATH_MAX];
	const char *list[INSTALL_WORDS + 20];
	struct wordlist words = WORDLIST_IN(list);
	struct spawn s = {.path = program,
	    .tie = SPAWN_ENDED,
	    .nfds = 3,
	    .fds = {-1, STDERR_FILENO, STDERR_FILENO}};
	int status;

	if (icctl_program("icctl", program, sizeof(program)) == -1)
		return ICCTL_FAILED;
	wordlist_add(&words, "icctl");
	wordlist_add(&words, "start");
	wordlist_add(&words, "--no-project");
	wordlist_add(&words, "--quiet");
	wordlist_add(&words, "--escalations");
	wordlist_add(&words, "deny");
	wordlist_add(&words, "--config");
	wordlist_add(&words, config);
	wordlist_add(&words, "--workspace");
	wordlist_add(&words, p->workspace);
	wordlist_add(&words, "--home");
	wordlist_add(&words, "project");
	if (runtime != NULL) {
		wordlist_add(&words, "--runtime");
		wordlist_add(&words, runtime);
	}
	wordlist_add(&words, "--");
	for (size_t i = 0; i < json_object_array_length(run); i++)
		wordlist_add(&words,
		    json_object_get_string(json_object_array_get_idx(run, i)));
	if (wordlist_end(&words) == NULL)
		return ICCTL_FAILED;
	s.argv = (char *const *)(uintptr_t)list;
	if ((status = spawn_run(&s)) == -1)
		warn("%s", program);
	return status;
}

int
project_install(const struct icctl *ctl, const struct project *p,
    const char *settings, const char *runtime)
{
	json_object *all = project_member(p, "install");
	char config[4300];
	int status = 0;

	snprintf(config, sizeof(config), "%.4000s/projects/.install-%ld.json",
	    ctl->home, (long)getpid());
	if (write_settings(config, settings) == -1) {
		warn("%s", config);
		return ICCTL_FAILED;
	}
	for (size_t i = 0; i < json_object_array_length(all) && status == 0;
	     i++) {
		json_object *run = NULL;

		(void)json_object_object_get_ex(
		    json_object_array_get_idx(all, i), "run", &run);
		warnx("the project installs itself: %s ...",
		    json_object_get_string(json_object_array_get_idx(run, 0)));
		status = install_one(p, config, runtime, run);
	}
	(void)unlink(config);
	if (status != 0)
		warnx("%s: a command of \"install\" failed (status %d), and no "
		      "session was started. Without the project's file: icctl "
		      "start --no-project",
		    p->path, status);
	return status == 0 ? 0 : ICCTL_FAILED;
}
