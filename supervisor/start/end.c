/* SPDX-License-Identifier: ISC */
/*
 * Ends a session: says why in the log, has auditd close it, kills everything
 * else and is gone within a second. If auditd can no longer write, the closing
 * record is appended here.
 */
#include "core/sup.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/small_file.h"
#include "base/tree.h"
#include "box/cgroup/group.h"
#include "box/runtime.h"
#include "clone.h"
#include "common/log.h"
#include "common/loop.h"
#include "conversation/conversation.h"
#include "credential/revoke.h"
#include "home/project.h"
#include "hub/approvals.h"
#include "hub/control.h"
#include "hub/grants.h"
#include "hub/notify.h"
#include "later.h"
#include "log/closing.h"
#include "log/recheck.h"
#include "relay/link.h"
#include "resume/resume.h"
#include "resume/state.h"
#include "serve.h"
#include "start/undo.h"
#include "undo/checkpoint.h"

/* All of these together take well under a second. */
#define END_AUDIT_MS 400
#define END_REAP_MS 300
#define END_RENEW_MS 5000U
#define END_SESSIONS_MS 1000U
/* For each directory that is removed; what is left stays there. */
#define END_REMOVE_MS 3000U
/* The viewer may be slow, and its user has asked for the end. */
#define END_VIEWER_MS 2000

static void
end_kill(struct child *c)
{
	if (c->dead || c->sp.pidfd == -1)
		return;
	c->killed = true;
	(void)syscall(SYS_pidfd_send_signal, c->sp.pidfd, SIGKILL, NULL, 0);
}

static void
end_kill_all(void)
{
	runtime_kill();
	servers_kill();
	instances_kill();
	notify_kill();
	clone_fetch_kill();
	serve_end();
	for (unsigned i = 0; i < sup.nchildren; i++)
		if (sup.children[i].role != ROLE_AUDIT)
			end_kill(&sup.children[i]);
}

/*
 * Wait for a process for at most `ms`. Returns 1 if it has exited and is
 * reaped.
 */
static int
end_wait(int pidfd, int ms, int *code, int *status)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (poll(&p, 1, ms) != 1)
		return 0;
	return spawn_reap(pidfd, false, code, status);
}

/* Returns true if auditd has written the last record. */
static bool
end_audit(struct child *audit)
{
	static const struct msg_STOP stop;
	uint64_t until = clock_mono_us() / 1000 + END_AUDIT_MS;

	if (audit == NULL || audit == sup.end_child ||
	    sup.audit_failed[0] != '\0' ||
	    (!audit->dead && audit->chan == NULL))
		return false;
	/* It may have ended already, after the record of event_end(). */
	if (!audit->dead)
		child_send(ROLE_AUDIT, 0, MSG_STOP, &stop, -1);
	/* The loop sends what is queued; child_exited() notices the exit. */
	while (!audit->dead && clock_mono_us() / 1000 < until)
		if (loop_once(&sup.loop, 20) == -1)
			break;
	/* Its exit may be noticed before its last messages: the counts. */
	while (audit->dead && audit->chan != NULL &&
	       clock_mono_us() / 1000 < until)
		if (loop_once(&sup.loop, 0) == -1)
			break;
	return audit->dead && spawn_status(audit->code, audit->status) == 0;
}

static void
end_reap(void)
{
	int code, status;

	for (unsigned i = 0; i < sup.nchildren; i++) {
		struct child *c = &sup.children[i];

		if (c->sp.pidfd != -1 && !c->dead &&
		    end_wait(c->sp.pidfd, END_REAP_MS, &c->code, &c->status) ==
			1) {
			c->dead = true;
			child_drain(c);
			child_late(c);
		}
		child_drain(c);
	}
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].sp.pidfd != -1)
			(void)end_wait(sup.servers[i].sp.pidfd, END_REAP_MS,
			    &code, &status);
	instances_reap(END_REAP_MS);
	if (sup.agent.pidfd != -1)
		(void)end_wait(sup.agent.pidfd, END_REAP_MS, &code, &status);
}

/*
 * A worker that has crashed after the closing record was written is in the log
 * all the same, and so is another closing record.
 */
static void
end_late(void)
{
	bool any = false;

	for (unsigned i = 0; i < sup.nchildren; i++)
		any = any || (child_crashed(&sup.children[i]) &&
				 !sup.children[i].recorded);
	if (any && sup.logging)
		event_closing();
}

/*
 * Rootless Podman leaves a process that keeps the user's namespaces for all
 * containers of the user; the first client makes it.
 */
static bool
end_is_podmans(long pid)
{
	char path[64], name[32];

	if (sup.opt.runtime != RUNTIME_PODMAN)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	(void)small_file_read(AT_FDCWD, path, name, sizeof(name));
	return strcmp(name, "podman pause\n") == 0 ||
	       strcmp(name, "catatonit\n") == 0;
}

/*
 * Kill processes that lost their parent and were reparented to this subreaper:
 * a bubblewrap that is killed while it sets up leaves a child that waits for it
 * forever.
 */
static void
end_orphans(void)
{
	uint64_t until = clock_mono_us() / 1000 + END_REAP_MS;
	const struct timespec pause = {.tv_nsec = 2000000};
	char path[64], text[4096], *p, *end;
	bool any;
	siginfo_t si;
	long pid;

	snprintf(
	    path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	do {
		if (small_file_read(AT_FDCWD, path, text, sizeof(text)) == -1)
			return;
		any = false;
		for (p = text; (pid = strtol(p, &end, 10)) > 0; p = end) {
			if (end_is_podmans(pid))
				continue;
			any = true;
			(void)kill((pid_t)pid, SIGKILL);
		}
		(void)nanosleep(&pause, NULL);
		while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG) == 0 &&
		       si.si_pid != 0)
			si.si_pid = 0;
	} while (any && clock_mono_us() / 1000 < until);
}

/*
 * Give keyds a moment to finish: a new token that is not in a file yet would be
 * lost, and the login with it; or have those of remote servers end the sessions
 * there.
 */
static void
end_keyds(bool sessions)
{
	static const struct msg_STOP stop;
	uint64_t until = clock_mono_us() / 1000 +
			 (sessions ? END_SESSIONS_MS : END_RENEW_MS);
	struct child *c;
	bool busy = true, told = !sessions;

	for (; busy && clock_mono_us() / 1000 < until; told = true) {
		busy = false;
		for (unsigned i = 0; i < sup.providers.n; i++) {
			c = child_find(ROLE_KEY, i);
			if (c == NULL || c->dead || c->chan == NULL ||
			    c == sup.end_child ||
			    !(sessions ? sup.providers.list[i].server != 0
				       : renew_busy(&sup.keys[i].renewal)))
				continue;
			busy = true;
			if (!told)
				child_send(ROLE_KEY, i, MSG_STOP, &stop, -1);
		}
		if (busy && loop_once(&sup.loop, 20) == -1)
			break;
	}
}

/* Report the end of the log to the configured anchor. */
static void
end_anchor(const struct checkpoint *last)
{
	const uint64_t seq = last->log.seq - 1;
	char hex[SHA256_HEX];
	struct fault fault;

	sha256_hex(last->log.prev, hex);
	/* A person finds it in the log. */
	if (!sup.opt.quiet && (sup.opt.viewer == NULL || sup.opt.verbose))
		log_warnx("the audit log ends with record %llu, hash %s",
		    (unsigned long long)seq, hex);
	if (anchor_write(&sup.anchor, &sup.session, seq, hex, &fault) == -1)
		sup_warn("audit.anchor: %s", fault.text);
}

/* Report the end of the log, and note it for the next run. */
static void
end_log(void)
{
	struct checkpoint last;

	auditfile_settle(&sup.session);
	if (auditfile_last(&sup.session, &last) == -1) {
		recheck_end(NULL);
		return;
	}
	end_anchor(&last);
	recheck_end(&last);
}

/* Stop the agent first, but show all its output. */
static void
end_agent(void)
{
	uint64_t until = clock_mono_us() / 1000 + END_VIEWER_MS;

	runtime_kill();
	if (!sup.agent_started || sup.opt.runtime == RUNTIME_NONE)
		return;
	terminal_stop();
	while (!terminal_left() && clock_mono_us() / 1000 < until)
		if (loop_once(&sup.loop, 20) == -1)
			break;
}

/* An agent may have filled a tree of the file system of `fd`. */
static struct tree
end_tree(int fd)
{
	struct stat st = {.st_dev = 0};

	(void)fstat(fd, &st);
	return (struct tree){.dev = st.st_dev,
	    .until = clock_mono_us() + (uint64_t)END_REMOVE_MS * 1000};
}

static void
end_empty(const char *path)
{
	struct tree t = end_tree(sup.session.home);

	tree_at(&t, sup.session.home, path);
}

/* Remove the session's directory if this process created it. */
static void
end_remove(void)
{
	struct tree t;

	if (!sup.session.made || sup.session.fd == -1)
		return;
	t = end_tree(sup.session.fd);
	tree_below(&t, sup.session.fd);
	(void)rmdir(sup.session.dir);
}

/*
 * Remove caches in the agent's home: agents keep copies of packages there, and
 * even of themselves.
 */
static void
end_caches(void)
{
	static const char *const usual[] = {".cache", ".npm/_cacache"};

	if (!sup.agent_started || home_stays())
		return;
	for (size_t i = 0; i < nitems(usual); i++)
		end_empty(usual[i]);
	for (char **c = sup.adapter.caches; c != NULL && *c != NULL; c++)
		end_empty(*c);
}

int
end_run(void)
{
	static const struct msg_COUNTS_GET get;
	bool never;
	struct child *audit = child_find(ROLE_AUDIT, 0);

	/* Actions since the failure are not in the log. */
	if (sup.audit_failed[0] != '\0' && sup.end_status == SUP_EXIT_OK)
		sup.end_status = SUP_EXIT_OS;
	if (sup.end_child != NULL && sup.ready)
		sup_warn("%s. The session ends", sup.end_why);
	ready_notify("STOPPING=1");
	ready_notify_why(sup.end_why);
	conversation_close(sup.end_why);
	control_close(sup.end_why);
	metrics_close();
	if (sup.logging && sup.ready)
		child_send(ROLE_AUDIT, 0, MSG_COUNTS_GET, &get, -1);
	/*
	 * Recorded before the others are killed, so that nothing comes after
	 * it.
	 */
	if (sup.logging) {
		if (sup.ready)
			state_all();
		event_end();
	}
	loop_turns(&sup.loop);
	end_keyds(false);
	for (unsigned i = 0; i < sup.providers.n; i++)
		renew_close(&sup.keys[i].renewal);
	end_agent();
	/* They do that once auditd has written the last record. */
	if (sup.ready && sup.audit_failed[0] == '\0')
		end_keyds(true);
	end_kill_all();
	if (sup.logging && !end_audit(audit)) {
		if (audit != NULL)
			end_kill(audit);
		if (audit != NULL && !audit->dead)
			audit->dead = end_wait(audit->sp.pidfd, END_REAP_MS,
					  &audit->code, &audit->status) == 1;
		/* It may not have written what it was sent. */
		for (unsigned i = 0; i < sup.nchildren; i++)
			sup.children[i].recorded = false;
		event_closing();
	} else if (audit != NULL) {
		end_kill(audit);
	}
	end_reap();
	end_late();
	runtime_remove();
	/* An agent that ended by itself has written all its output. */
	link_end(sup.agent_ended ? -1 : END_VIEWER_MS);
	end_orphans();
	revoke_end();
	group_end();
	undo_end(undo_turn());
	end_caches();
	home_close();
	/*
	 * A session that never began leaves nothing, unless its log has an
	 * anchor.
	 */
	never = !sup.ready && sup.session.made && sup.config.anchor == NULL;
	later_end();
	summary_end();
	if (sup.logging && !never)
		end_log();
	(void)pins_flush();
	approvals_free();
	grants_clear();
	/* There may be no other disk space for session.json. */
	if (sup.session.closing != -1)
		auditfile_trim(&sup.session);
	if (sup.ready)
		(void)ready_session_json("ended");
	if (never)
		end_remove();
	session_close(&sup.session);
	resume_end();
	return sup.end_status;
}
