/* SPDX-License-Identifier: ISC */
/*
 * Makes an empty sandbox with the arguments of a session's own, reads
 * bubblewrap's messages, and names the cause. bubblewrap's words are trusted
 * only for choosing the advice.
 */
#include "box/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"
#include "base/small_file.h"
#include "box/box.h"
#include "common/log.h"

#define PROBE_MS 10000

#define NEEDED                                                                 \
	"clone with namespace flags, unshare, mount, umount2, pivot_root, "    \
	"sethostname and chroot"

static const char remedy_seccomp[] =
    "A seccomp filter around this process, as in a container, forbids what a "
    "sandbox needs: allow " NEEDED " in the container's seccomp profile";
static const char remedy_proc[] =
    "Parts of /proc are masked here, as in a container: unmask it (docker run "
    "--security-opt systempaths=unconfined; Kubernetes: procMount: Unmasked)";
static const char remedy_apparmor[] =
    "AppArmor forbids user namespaces to it: install a profile that allows "
    "\"userns\" to /usr/bin/bwrap and to our programs (README, Ubuntu 24.04), "
    "or sysctl kernel.apparmor_restrict_unprivileged_userns=0";
static const char remedy_old[] =
    "This bubblewrap is too old: install version 0.8 or newer";
static const char remedy_install[] = "Install it: apt-get install bubblewrap";
static const char remedy_userns[] =
    "Allow unprivileged user namespaces: sysctl user.max_user_namespaces=15000 "
    "(and kernel.unprivileged_userns_clone=1 where it exists)";

/* Returns true if the file begins with that character. */
static bool
begins_with(const char *path, char want)
{
	char text[2];

	return small_file_read(AT_FDCWD, path, text, sizeof(text)) == 1 &&
	       text[0] == want;
}

/* Returns true if this process itself is under a seccomp filter. */
static bool
filtered(void)
{
	char line[256];
	bool yes = false;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL)
		return false;
	while (!yes && fgets(line, sizeof(line), f) != NULL)
		yes = strncmp(line, "Seccomp:\t2", 10) == 0;
	fclose(f);
	return yes;
}

static const char *
remedy_of(const char *said)
{
	if (strstr(said, "Unknown option") != NULL)
		return remedy_old;
	if (strstr(said, "mount proc") != NULL ||
	    strstr(said, "max_user_namespaces: Read-only") != NULL)
		return remedy_proc;
	if (strstr(said, "hostname") != NULL)
		return remedy_seccomp;
	if (begins_with(
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
		return remedy_apparmor;
	if (filtered() &&
	    !begins_with("/proc/sys/user/max_user_namespaces", '0'))
		return remedy_seccomp;
	return remedy_userns;
}

/* Read text from `fd` until its end, for at most PROBE_MS. */
static void
read_words(int fd, char *text, size_t cap)
{
	size_t len;

	(void)read_until(fd, text, cap - 1, PROBE_MS, &len);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static int
probe_run(struct box *b, char *said, size_t cap, struct fault *why)
{
	char *const argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	struct spawned sp = SPAWNED_INIT;
	struct pollfd end = {.events = POLLIN};
	int words[2], code, status, rv;

	if (pipe2(words, O_CLOEXEC) == -1)
		return fault_errno(why, "pipe");
	rv = box_spawn(b, (const int[3]){-1, -1, words[1]}, argv, &sp, why);
	close(words[1]);
	if (rv == 0 && spawn_check(&sp) == -1)
		rv = fault_errno(why, "bwrap");
	if (rv == 0) {
		read_words(words[0], said, cap);
		end.fd = sp.pidfd;
		if (poll(&end, 1, PROBE_MS) != 1)
			(void)kill(sp.pid, SIGKILL);
		rv = spawn_reap(sp.pidfd, true, &code, &status) == 1 &&
			     spawn_status(code, status) == 0
			 ? 0
			 : fault_set(why, "%s",
			       said[0] != '\0' ? said
					       : "bubblewrap does not end");
	}
	close(words[0]);
	if (sp.pidfd != -1)
		close(sp.pidfd);
	return rv;
}

int
box_probe(struct fault *why, const char **remedy)
{
	char said[400] = "";
	struct limits l;
	struct box b;
	int rv;

	*remedy = remedy_install;
	if (box_bwrap() == NULL)
		return fault_set(why, "bubblewrap is not installed");
	limits_default(&l);
	box_init(&b, FILTER_AGENT, &l);
	box_args(&b, "--remount-ro", "/", NULL);
	box_args(&b, "--chdir", "/", NULL);
	rv = probe_run(&b, said, sizeof(said), why);
	box_free(&b);
	*remedy = remedy_of(said);
	return rv;
}
