/* SPDX-License-Identifier: ISC */
/*
 * ic-signed: checks the signatures of one answer for icsupervisor
 * (auto/signed.h), and ends. It reads the file of approvers, the text that they
 * must have signed, and the signatures, each within a limit; ssh-keygen looks
 * at one signature in one sandbox, which has no network, no file of the user
 * and no process beside it, and is known by its status alone. ic-signed has the
 * user's rights, because it starts sandboxes; of a session it has no channel,
 * no credential, no directory and no environment. Taken over by a signature,
 * ssh-keygen could call that one signature good.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "box/box.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "common/loop.h"
#include "workers/signed/signers.h"

#define SIGNED_JOB (SIGNED_FILE + SIGNED_ENTRIES + 8192U)
#define SIGNED_BWRAP 3  /* its descriptor */
#define SIGNED_CPU 10U
#define SIGNED_KEYGEN "/usr/bin/ssh-keygen"

static struct {
	struct span file, text, entries;
	struct signers signers;
} job;

static void
say(enum signed_report kind, const char *text)
{
	report_say((int)kind, text, 4096);
}

static void
job_read(struct span all)
{
	const char *text;
	int letter;

	while (report_next(&all, &letter, &text)) {
		if (letter == SIGNED_TOLD_FILE)
			job.file = span_str(text);
		else if (letter == SIGNED_TOLD_TEXT)
			job.text = span_str(text);
		else if (letter == SIGNED_TOLD_ENTRIES)
			job.entries = span_str(text);
		else
			fatalx("not an answer");
	}
}

/* Returns a descriptor of the text that the approver has signed, or -1. */
static int
signed_text(uint64_t expires)
{
	const int fd = memfd_create("text", MFD_CLOEXEC);
	struct buf b;

	buf_init(&b, 8192);
	buf_addspan(&b, job.text);
	signed_expires(&b, expires);
	if (fd == -1 || buf_check(&b) == -1 ||
	    span_write(fd, buf_span(&b)) == -1 || lseek(fd, 0, SEEK_SET) == -1)
		fatal("the text");
	buf_free(&b);
	return fd;
}

/* Returns true if ssh-keygen finds the signature good. */
static bool
signed_good(const struct signers_entry *e, struct fault *fault)
{
	const char *const words[] = {SIGNED_KEYGEN, "-Y", "verify", "-f",
	    "/tmp/approvers", "-I", e->name, "-n", SIGNED_NAMESPACE, "-s",
	    "/tmp/signature", NULL};
	const int stdio[3] = {signed_text(e->expires), -1, -1};
	struct spawned sp = SPAWNED_INIT;
	struct limits limits;
	struct box b;
	int rv;

	limits_default(&limits);
	box_init(&b, FILTER_SERVER, &limits);
	box_data(&b, "/tmp/approvers", job.file);
	box_data(&b, "/tmp/signature", e->armor);
	box_setenv(&b, "PATH", "/usr/bin:/bin");
	box_setenv(&b, "LC_ALL", "C.UTF-8");
	rv = box_spawn(&b, stdio, (char *const *)(uintptr_t)words, &sp, fault);
	box_free(&b);
	close(stdio[0]);
	if (rv == 0 && (rv = spawn_check(&sp)) == -1)
		fault_errno(fault, "bubblewrap%s", spawn_step());
	return rv == 0 && spawn_wait(&sp) == 0;
}

/* Returns why the signature does not count, or NULL. */
static const char *
signed_wrong(const struct signers_entry *e, struct fault *fault)
{
	const uint64_t now = clock_wall_us() / 1000000;

	fault->text[0] = '\0';
	if (!signers_know(&job.signers, span_str(e->name)))
		return "is nobody's in the file of approvers";
	if (e->expires <= now)
		return "has expired: sign the call again";
	if (e->expires - now > SIGNED_SECONDS)
		return "is valid for more than 24 hours, which is not taken";
	if (!signed_good(e, fault))
		return fault->text[0] != '\0'
			   ? fault->text
			   : "is not that key's signature of this call, in "
			     "this session, with this verdict and time";
	return NULL;
}

static void
signed_check(void)
{
	struct signers_entry e;
	struct span rest = job.entries;
	struct fault fault;
	char why[SIGNERS_WHY], text[SIGNERS_WHY + sizeof(fault.text)];
	const char *wrong;
	unsigned n = 0;
	int rv;

	while ((rv = signers_next(&rest, &e, why)) == 1) {
		if (n++ == SIGNED_MAX) {
			say(SIGNED_WHY, "more than 8 signatures");
			return;
		}
		if ((wrong = signed_wrong(&e, &fault)) != NULL) {
			snprintf(text, sizeof(text), "the signature of %s %s",
			    e.name, wrong);
			say(SIGNED_WHY, text);
			return;
		}
		say(SIGNED_BY, e.name);
	}
	if (rv == -1)
		say(SIGNED_WHY, why);
}

static void
signed_alone(void)
{
	const struct rlimit cpu = {SIGNED_CPU, SIGNED_CPU};

	log_init(SIGNED_PROGRAM, false);
	/* The kernel ends it, and with it the sandboxes. */
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(SIGNED_WAIT_S);
	if (spawn_init() == -1 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    confine_no_core() == -1 || setrlimit(RLIMIT_CPU, &cpu) == -1)
		fatal("cannot become private");
}

int
main(int argc, char **argv)
{
	static uint8_t in[SIGNED_JOB];
	char why[SIGNERS_WHY], number[16];
	struct span all;

	signed_alone();
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	/* Bubblewrap, as icsupervisor has resolved it. */
	box_program()->files[0].fd = SIGNED_BWRAP;
	box_program()->nfiles = 1;
	if (fcntl(SIGNED_BWRAP, F_SETFD, FD_CLOEXEC) == -1 ||
	    report_read(in, sizeof(in), &all) == -1)
		fatal("the answer cannot be read");
	job_read(all);
	if (access(SIGNED_KEYGEN, X_OK) == -1) {
		say(SIGNED_WHY, SIGNED_KEYGEN " is not there: apt install "
					      "openssh-client");
	} else if (signers_read(&job.signers, job.file, why) == -1) {
		say(SIGNED_WHY, why);
	} else if (strcmp(argv[1], "file") == 0) {
		snprintf(number, sizeof(number), "%u", job.signers.names);
		say(SIGNED_KNOWN, number);
	} else {
		signed_check();
	}
	say((enum signed_report)REPORT_END, "");
	return 0;
}
