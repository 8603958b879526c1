/* SPDX-License-Identifier: ISC */
/*
 * Ends and removes containers: this session's own by the id that the engine
 * wrote, and those of sessions whose icsupervisor is gone by their labels. A
 * number of a process alone would not do, because numbers are used again: the
 * labels have its start time, the machine and the machine's boot as well.
 */
#include "box/containers/engine.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "base/small_file.h"
#include "common/wordlist.h"
#include "core/sup.h"

#define END_MS 20000U
#define END_WORDS 24U

/* Read the first line of a small file. Returns false if there is none. */
static bool
end_read(int dirfd, const char *path, char *text, size_t cap)
{
	(void)small_file_read(dirfd, path, text, cap);
	text[strcspn(text, "\n")] = '\0';
	return text[0] != '\0';
}

/* Write the start time of a process, or "" if there is none. */
static void
end_start_of(long pid, char start[32])
{
	uint64_t at = pid > INT32_MAX ? 0 : here_start((pid_t)pid);

	start[0] = '\0';
	if (at != 0)
		snprintf(start, 32, "%llu", (unsigned long long)at);
}

void
engine_owner(char pid[24], char start[32], char boot[64])
{
	char id[40];
	struct stat st;

	snprintf(pid, 24, "%d", (int)getpid());
	end_start_of(getpid(), start);
	if (!end_read(
		AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, sizeof(id)) ||
	    stat("/proc/self/ns/pid", &st) == -1)
		boot[0] = '\0';
	else
		snprintf(
		    boot, 64, "%s:%llu", id, (unsigned long long)st.st_ino);
}

static bool
is_id(const char *s)
{
	return s[0] != '\0' && strlen(s) < ENGINE_ID &&
	       s[strspn(s, "0123456789abcdef")] == '\0';
}

/* Volumes have names of ours instead. */
static bool
is_name(const char *s)
{
	return strncmp(s, "ironcurtain-", 12) == 0 && strlen(s) < 128 &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-")] == '\0';
}

/* Things of the engine that have our labels, in the order of their removal. */
static const struct swept {
	unsigned engines;
	const char *list[5], *remove[5];
	const char *what, *name;
} swept[] = {
    {ON_BOTH, {"ps", "--all", "--no-trunc", NULL},
	{"rm", "--force", "--volumes", NULL}, "container", "{{.ID}}"},
    /* Those of the TCP transport. */
    {ON_DOCKER, {"network", "ls", "--no-trunc", NULL}, {"network", "rm", NULL},
	"network", "{{.ID}}"},
    {ON_DOCKER, {"volume", "ls", NULL}, {"volume", "rm", NULL}, "volume",
	"{{.Name}}"},
};

/* Remove it by the engine's command, `words`; `wait` until its name is free. */
static int
end_remove(
    const char *const *words, const char *id, bool wait, struct fault *fault)
{
	const uint64_t until = clock_mono_us() + END_MS * UINT64_C(1000);
	static struct engine_said said;
	const char *list[END_WORDS];
	struct wordlist args = WORDLIST_IN(list);
	int rv;

	wordlist_all(&args, words);
	wordlist_add(&args, id);
	if (wordlist_end(&args) == NULL)
		return fault_errno(fault, "%s", engine.kind->name);
	do
		rv = engine_ask(list, END_MS, &said, fault);
	while (rv > 0 && wait && clock_mono_us() < until &&
	       strstr(said.err, " is already in progress") != NULL);
	if (rv == -1 || rv == 0 || strstr(said.err, "o such ") != NULL ||
	    strstr(said.err, " is already in progress") != NULL)
		return rv == -1 ? -1 : 0;
	return fault_set(fault, "%s", said.err);
}

/*
 * Take a line "ID PID START BOOT". Returns true if that icsupervisor is gone.
 */
static bool
end_is_orphan(char *line, char **id)
{
	char own_pid[24], own_start[32], boot[64], start[32];
	char *word[4], *rest = line;

	engine_owner(own_pid, own_start, boot);
	for (unsigned i = 0; i < 4; i++)
		if ((word[i] = strsep(&rest, " ")) == NULL)
			return false;
	*id = word[0];
	if ((!is_id(word[0]) && !is_name(word[0])) ||
	    word[1][strspn(word[1], "0123456789")] != '\0')
		return false;
	if (boot[0] == '\0' ||
	    strncmp(word[3], boot, strcspn(boot, ":") + 1) != 0)
		return boot[0] != '\0' && strchr(word[3], ':') != NULL;
	/* A number of another namespace cannot be judged from here. */
	if (strcmp(word[3], boot) != 0)
		return false;
	end_start_of(strtol(word[1], NULL, 10), start);
	return strcmp(start, word[2]) != 0;
}

/* List things of this kind: lines "ID PID START BOOT". */
static int
sweep_list(const struct swept *k, struct engine_said *said, struct fault *fault)
{
	const char *list[END_WORDS];
	struct wordlist args = WORDLIST_IN(list);
	char own[64], machine[128], format[256];
	const char *label;
	int rv;

	/* Processes of other users may be hidden. */
	snprintf(own, sizeof(own), "label=ironcurtain.owner-uid=%u",
	    (unsigned)geteuid());
	/* The engine's socket may be shared with another machine. */
	snprintf(machine, sizeof(machine), "label=ironcurtain.owner-host=%s",
	    here()->host);
	/* Podman's rows have no function of that name, but a map. */
	label = engine.kind->bit == ON_PODMAN ? "index .Labels" : ".Label";
	snprintf(format, sizeof(format),
	    "%s {{%s \"ironcurtain.owner-pid\"}} {{%s "
	    "\"ironcurtain.owner-start\"}} {{%s "
	    "\"ironcurtain.boot-id\"}}",
	    k->name, label, label, label);
	wordlist_all(&args, k->list);
	wordlist_all(&args, (const char *const[]){"--filter", own, "--filter",
				machine, "--format", format, NULL});
	if (wordlist_end(&args) == NULL)
		return fault_errno(fault, "%s", engine.kind->name);
	if ((rv = engine_ask(list, END_MS, said, fault)) == -1)
		return -1;
	return rv == 0 ? 0
		       : fault_set(fault, "%s %s: %s", engine.kind->name,
			     k->list[0], said->err);
}

static int
sweep_kind(const struct swept *k, bool remove, struct json_object *ids,
    struct fault *fault)
{
	static struct engine_said said;
	char *rest = said.out, *line, *id;

	if (sweep_list(k, &said, fault) == -1)
		return -1;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (!end_is_orphan(line, &id))
			continue;
		if (remove && end_remove(k->remove, id, true, fault) == -1)
			return -1;
		/* `icctl gc` counts containers. */
		if (ids != NULL && k == &swept[0])
			json_object_array_add(ids, json_object_new_string(id));
		if (remove)
			sup_note("removed %s %.12s of a session that ended "
				 "without its supervisor",
			    k->what, id);
	}
	return 0;
}

int
engine_sweep(bool remove, struct json_object *ids, struct fault *fault)
{
	for (size_t i = 0; i < nitems(swept); i++)
		if ((swept[i].engines & engine.kind->bit) != 0 &&
		    sweep_kind(&swept[i], remove, ids, fault) == -1)
			return -1;
	return 0;
}

/*
 * The container ends by itself as soon as ic-bridge loses its connection; its
 * client may be waiting for the engine.
 */
void
engine_stop(void)
{
}

/*
 * Those of services end when nobody takes their connections; Podman's own
 * process that would remove them is killed with the session.
 */
static void
end_services(void)
{
	const struct config_service *s = sup.config.services;
	struct fault fault;
	char name[160];

	for (unsigned i = 0; sup.services && i < sup.config.nservices; i++) {
		if (!json_object_object_get_ex(s[i].own, "image", NULL))
			continue;
		snprintf(name, sizeof(name), ENGINE_SERVICE, sup.session.id,
		    s[i].name);
		(void)end_remove(swept[0].remove, name, false, &fault);
	}
}

void
engine_remove(void)
{
	struct fault fault;
	int code, status;

	if (engine.fd != -1)
		end_services();
	if (engine.fd == -1 || !sup.agent_started)
		return;
	if (sup.agent.pidfd != -1) {
		(void)syscall(
		    SYS_pidfd_send_signal, sup.agent.pidfd, SIGKILL, NULL, 0);
		(void)spawn_reap(sup.agent.pidfd, true, &code, &status);
	}
	if (!end_read(engine.fd, "id", engine.id, sizeof(engine.id)) ||
	    !is_id(engine.id))
		return;
	if (end_remove(swept[0].remove, engine.id, false, &fault) == -1)
		sup_warn("container %.12s cannot be removed: %s. By hand: %s "
			 "rm --force %.12s",
		    engine.id, fault.text, engine.kind->name, engine.id);
	(void)unlinkat(engine.fd, "id", 0);
}
