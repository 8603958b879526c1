/* SPDX-License-Identifier: ISC */
/*
 * Programs of the hub's file. Each is found once, at the start, and judged: no
 * agent of a session can write it or what its words name. If another file has
 * taken its place since, it is not run.
 */
#include "icctl/fleet/priv.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wordlist.h"
#include "icctl/driver/places.h"

int
fleet_program(const struct icctl *ctl, struct fleet_program *p, char **argv,
    struct fault *fault)
{
	char real[4096];
	const char *who;
	struct stat st;

	p->argv = argv;
	if (argv[0] == NULL)
		return fault_set(fault, "a command needs at least its program");
	if (!places_program(argv[0], p->path) || stat(p->path, &st) == -1)
		return fault_set(fault, "the program %s is not found", argv[0]);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	if ((who = places_writer(ctl->home, p->path)) != NULL)
		return fault_set(fault,
		    "%s is not run, because the agent of %s can write it",
		    p->path, who);
	for (char **word = argv + 1; *word != NULL; word++)
		if ((*word)[0] == '/' && realpath(*word, real) != NULL &&
		    (who = places_writer(ctl->home, real)) != NULL)
			return fault_set(fault,
			    "%s is not used, because the agent of %s can write "
			    "it",
			    *word, who);
	return 0;
}

int
fleet_run(const struct fleet *f, const struct fleet_program *p,
    const char *name, const int fds[3], struct spawned *sp)
{
	const char *list[FLEET_WORDS + 1];
	struct wordlist words = WORDLIST_IN(list);
	struct spawn s = {.path = p->path, .nfds = 3, .session = true};
	struct stat st;

	if (stat(p->path, &st) == -1)
		return -1;
	if (st.st_dev != p->dev || st.st_ino != p->ino) {
		errno = ESTALE;
		return -1;
	}
	for (char **word = p->argv; *word != NULL; word++)
		wordlist_add(&words,
		    strcmp(*word, FLEET_PLACE) == 0 ? name : *word);
	if ((s.argv = wordlist_end(&words)) == NULL)
		return -1;
	s.envp = f->envp;
	memcpy(s.fds, fds, 3 * sizeof(fds[0]));
	if (spawn_start(&s, sp) == -1)
		return -1;
	return spawn_check(sp);
}

void
fleet_stop(struct spawned *sp)
{
	/* Its number is nobody else's until it was waited for. */
	if (sp->pidfd != -1 &&
	    syscall(SYS_pidfd_send_signal, sp->pidfd, 0, NULL, 0) == 0)
		(void)kill(-sp->pid, SIGKILL);
	spawn_stop(sp, 0);
}

char *const *
fleet_env(char *const *more)
{
	static const char *const names[] = {"HOME", "USER", "LOGNAME", "LANG",
	    "LC_ALL", "TZ", "PATH", "SSH_AUTH_SOCK", "KUBECONFIG", "SLURM_CONF",
	    "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "IRONCURTAIN_HOME"};
	static const char *list[nitems(names) + FLEET_VARIABLES + 1];
	struct wordlist w = WORDLIST_IN(list);
	const char *name, *value;
	char *text;

	for (size_t i = 0; i < nitems(names) + FLEET_VARIABLES; i++) {
		if (i >= nitems(names) && (more == NULL || *more == NULL))
			break;
		name = i < nitems(names) ? names[i] : *more++;
		if ((value = getenv(name)) == NULL)
			continue;
		if (asprintf(&text, "%s=%s", name, value) == -1)
			return NULL;
		wordlist_add(&w, text);
	}
	return wordlist_end(&w);
}
