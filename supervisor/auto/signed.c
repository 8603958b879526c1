/* SPDX-License-Identifier: ISC */
#include "auto/signed.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/report.h"
#include "base/signed.h"
#include "base/small_file.h"
#include "box/box.h"
#include "common/json/value.h"
#include "core/sup.h"

#define SIGNED_START_MS 30000U

static struct {
	char file[SIGNED_FILE + 1]; /* as it was when the session started */
	struct helper helper;
	struct loop_io io;
	struct loop_timer late;
	bool runs;
	/* The answer whose signatures are checked. */
	struct client *client;
	uint64_t call;
	uint8_t digest[32];
	char claim[129];
	/* The reports about it. */
	char names[SIGNED_MAX][SIGNED_NAME], why[512];
	unsigned n;
	uint64_t known; /* people in the file */
} signed_env = {.io = LOOP_IO_INIT};

static void
signed_end(void)
{
	loop_del(&sup.loop, &signed_env.io);
	loop_timer_clear(&sup.loop, &signed_env.late);
	helper_stop(&signed_env.helper);
	signed_env.runs = false;
}

static int
signed_take(int letter, const char *text, struct fault *fault)
{
	const size_t len = strlen(text);

	if (letter == SIGNED_WHY && len != 0 && len < sizeof(signed_env.why)) {
		(void)strlcpy(signed_env.why, text, sizeof(signed_env.why));
		return 0;
	}
	if (letter == SIGNED_KNOWN)
		return span_u64(span_str(text), UINT32_MAX, &signed_env.known);
	if (letter != SIGNED_BY || len == 0 || len >= SIGNED_NAME ||
	    signed_env.n == SIGNED_MAX)
		return fault_set(
		    fault, SIGNED_PROGRAM ": the report is not valid");
	/* A person counts once, however many keys sign. */
	for (unsigned i = 0; i < signed_env.n; i++)
		if (strcmp(signed_env.names[i], text) == 0)
			return 0;
	(void)strlcpy(signed_env.names[signed_env.n++], text, SIGNED_NAME);
	return 0;
}

static void
signed_helper(const char *task, const struct buf *job)
{
	static char *const envp[] = {NULL};

	signed_env.helper = (struct helper){.libexecdir = sup.paths.libexecdir,
	    .name = SIGNED_PROGRAM,
	    .task = task,
	    .job = job,
	    .envp = envp,
	    .fds = {box_program()->files[0].fd},
	    .nfds = 1,
	    .take = signed_take};
	signed_env.n = 0;
	signed_env.why[0] = '\0';
}

/* Read the file. Returns 0, or -1 with the fault set. */
static int
signed_read(const char *path, struct fault *fault)
{
	struct stat st;
	const char *place;
	ssize_t n;
	int fd, rv = -1;

	place = places_of(&sup.host.places, path, &fd);
	if (place != NULL || fd == -1 || fstat(fd, &st) == -1) {
		if (place == NULL)
			fault_errno(fault, "approvers.file %s", path);
		else
			fault_set(fault,
			    "approvers.file %s: an agent can write %s", path,
			    place);
	} else if (!S_ISREG(st.st_mode) || (st.st_mode & 022) != 0 ||
		   (st.st_uid != 0 && st.st_uid != geteuid())) {
		fault_set(fault,
		    "approvers.file %s: must be a file of yours or of root's, "
		    "which nobody else may write",
		    path);
	} else if ((n = small_file_read(AT_FDCWD, path, signed_env.file,
			sizeof(signed_env.file))) == -1) {
		fault_errno(fault, "approvers.file %s", path);
	} else if (n != st.st_size ||
		   memchr(signed_env.file, '\0', (size_t)n) != NULL) {
		fault_set(fault,
		    "approvers.file %s: must be text of at most 64 KiB", path);
	} else {
		rv = 0;
	}
	if (fd != -1)
		close(fd);
	return rv;
}

int
signed_prepare(struct fault *fault)
{
	const struct config_approvers *a = &sup.config.approvers;
	struct fault why;
	struct buf job;
	int rv;

	if (a->needed == 0)
		return 0;
	if (box_program()->nfiles != 1)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "approvers: bubblewrap is needed to check signatures");
	if (signed_read(a->file, &why) == -1)
		return fault_set_kind(fault, FAULT_CONFIG, "%s", why.text);
	buf_init(&job, SIGNED_FILE + 2);
	report_add(&job, SIGNED_TOLD_FILE, signed_env.file);
	signed_helper("file", &job);
	rv = helper_run(&signed_env.helper, SIGNED_START_MS, &why);
	buf_free(&job);
	if (rv == -1 || signed_env.why[0] != '\0')
		return fault_set_kind(fault, FAULT_CONFIG,
		    "approvers.file %s: %s", a->file,
		    rv == -1 ? why.text : signed_env.why);
	if (signed_env.known < a->needed)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "approvers: %u signatures are needed, and the file names "
		    "%u people",
		    a->needed, (unsigned)signed_env.known);
	return 0;
}

/* Record who has signed, before the verdict. */
static void
signed_record(const struct hold *h)
{
	char hex[SHA256_HEX], names[SIGNED_MAX * SIGNED_NAME + 16] = "";
	struct value_pool *p;
	struct value *o;

	for (unsigned i = 0; i < signed_env.n; i++) {
		(void)strlcat(names, i == 0 ? "" : " ", sizeof(names));
		(void)strlcat(names, signed_env.names[i], sizeof(names));
	}
	sup_note("%s: signed by %s", h->sid, names);
	if ((o = event_open(&p)) == NULL)
		return;
	event_put_number(p, o, "call", (int64_t)h->id);
	event_put_text(p, o, "digest", sha256_hex(h->digest, hex));
	event_put_text(p, o, "signers", names);
	event_close("signedAnswer", p, o);
}

/* Approve the call, or refuse the client. */
static void
signed_decide(struct client *c, struct hold *h)
{
	if (signed_env.why[0] == '\0' &&
	    signed_env.n < sup.config.approvers.needed)
		snprintf(signed_env.why, sizeof(signed_env.why),
		    "%u of %u people have signed", signed_env.n,
		    sup.config.approvers.needed);
	if (signed_env.why[0] != '\0') {
		sup_note("%s: not approved: %s", h->sid, signed_env.why);
		control_refuse(c, "not-signed", signed_env.why);
	} else if (h->answered) {
		control_refuse(
		    c, "late", "too late: another answer came first");
	} else {
		signed_record(h);
		(void)approvals_answer(h, signed_env.digest, NULL, 0, true, "",
		    "", signed_env.claim);
		c->signing = false;
		control_wait(c);
		return;
	}
	control_answer(c);
}

/* Go by what was reported; `why` is not NULL if that is not all. */
static void
signed_done(const char *why)
{
	struct client *c = signed_env.client;
	struct hold *h = approvals_by_call(signed_env.call);

	if (why != NULL)
		(void)strlcpy(signed_env.why, why, sizeof(signed_env.why));
	signed_end();
	/* A client that is gone approves nothing; a call's end was told. */
	if (h != NULL && c->fd != -1 && c->signing)
		signed_decide(c, h);
	else
		sup_note("signatures were checked in vain: the call, or who "
			 "sent them, has gone");
}

static void
signed_report(struct loop_io *io, uint32_t events)
{
	struct fault fault;
	int rv;

	if ((rv = helper_read(&signed_env.helper, &fault)) != 0)
		signed_done(rv == -1 ? fault.text : NULL);
}

static void
signed_late(struct loop_timer *t)
{
	signed_done(SIGNED_PROGRAM " has not ended in time");
}

void
signed_begin(
    struct client *c, const struct hold *h, const char *entries, const char *by)
{
	struct fault fault;
	struct buf job, text;
	int rv = -1;

	if (signed_env.runs) {
		control_fail(c, "busy",
		    "the signatures of another answer are being checked: try "
		    "again");
		return;
	}
	buf_init(&text, 4096);
	buf_init(&job, SIGNED_FILE + SIGNED_ENTRIES + 8192);
	report_add(&job, SIGNED_TOLD_FILE, signed_env.file);
	rv = hold_to_sign(h, &text);
	buf_addc(&text, '\0');
	report_add(&job, SIGNED_TOLD_TEXT, (const char *)buf_span(&text).p);
	report_add(&job, SIGNED_TOLD_ENTRIES, entries);
	signed_helper("answer", &job);
	if (rv == -1)
		fault_set(&fault, "the name of this session has characters "
				  "that cannot be signed");
	else
		rv = helper_start(&signed_env.helper, &fault);
	buf_free(&job);
	buf_free(&text);
	if (rv == 0 &&
	    (rv = loop_add(&sup.loop, &signed_env.io, signed_env.helper.out,
		 EPOLLIN, signed_report, NULL)) == -1) {
		fault_errno(&fault, "epoll");
		helper_stop(&signed_env.helper);
	}
	if (rv == -1) {
		control_fail(c, "not-signed", fault.text);
		return;
	}
	loop_timer_set(
	    &sup.loop, &signed_env.late, SIGNED_STUCK_MS, signed_late, NULL);
	signed_env.runs = true;
	signed_env.client = c;
	signed_env.call = h->id;
	memcpy(signed_env.digest, h->digest, sizeof(signed_env.digest));
	(void)strlcpy(signed_env.claim, by, sizeof(signed_env.claim));
	c->session = false;
	c->verdict = h->id;
	c->approve = c->signing = true;
	c->reply = control_ok();
	json_object_object_add(c->reply, "hold", hold_json(h, false));
}
