/* SPDX-License-Identifier: ISC */
/*
 * The kinds of listeners that no agent may have, by their program where we may
 * look into its process, and by their usual port where it is another user's.
 */
#include "host/service_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "host/listeners.h"

#define LOOK_WORDS 4096U

static const char look_engine[] =
    "a container engine or cluster, which starts programs as root";
static const char look_bus[] =
    "a message bus, which reaches every program of the desktop";
static const char look_screen[] =
    "a screen, on which everything that you see and type is open";
static const char look_debugger[] =
    "a debugger, which runs any program outside of the sandbox";
static const char look_ours[] = "another session of IronCurtain, or its page";

/* Programs, by their own names. */
static const struct {
	const char *name, *kind;
} look_programs[] = {{"dockerd", look_engine}, {"containerd", look_engine},
    {"buildkitd", look_engine}, {"podman", look_engine}, {"crio", look_engine},
    {"kubelet", look_engine}, {"k3s", look_engine},
    {"kube-apiserver", look_engine}, {"dbus-daemon", look_bus},
    {"dbus-broker", look_bus}, {"Xorg", look_screen}, {"X", look_screen},
    {"Xwayland", look_screen}, {"Xvfb", look_screen}, {"Xvnc", look_screen},
    {"Xtigervnc", look_screen}, {"Xephyr", look_screen},
    {"x11vnc", look_screen}, {"xrdp", look_screen},
    {"gdbserver", look_debugger}, {"lldb-server", look_debugger},
    {"lldb-platform", look_debugger}, {"dlv", look_debugger},
    {"rr", look_debugger}, {"adb", look_debugger}, {"icsupervisor", look_ours},
    {"icctl", look_ours}, {"icwebd", look_ours}, {"portd", look_ours},
    {"gated", look_ours}, {"mitmd", look_ours}};

/* Modules that run in an interpreter, by a word of its command line. */
static const struct {
	const char *word, *kind;
} look_words[] = {{"debugpy", look_debugger}, {"pydevd", look_debugger},
    {"jupyter-lab", look_debugger}, {"jupyter-notebook", look_debugger},
    {"jupyter-server", look_debugger}};

/* Usual ports, of programs of other users. */
static const struct {
	uint16_t first, last;
	const char *kind;
} look_ports[] = {{2375, 2377, look_engine}, {6443, 6443, look_engine},
    {10250, 10250, look_engine}, {6000, 6063, look_screen},
    {5900, 5910, look_screen}, {3389, 3389, look_screen},
    {9222, 9222, look_debugger}, {9229, 9229, look_debugger},
    {5037, 5037, look_debugger}};

/* Returns the kind that the words of its command line show, or NULL. */
static const char *
look_by_words(char *words)
{
	const char *name, *kind = NULL;
	char *next = words, *word;

	while (kind == NULL && (word = strsep(&next, "\n")) != NULL) {
		name = strrchr(word, '/');
		name = name != NULL ? name + 1 : word;
		for (size_t i = 0; i < nitems(look_words); i++)
			if (strcmp(name, look_words[i].word) == 0)
				kind = look_words[i].kind;
	}
	return kind;
}

static const char *
look_by_port(uint16_t port)
{
	for (size_t i = 0; i < nitems(look_ports); i++)
		if (port >= look_ports[i].first && port <= look_ports[i].last)
			return look_ports[i].kind;
	return NULL;
}

/*
 * Returns the kind of a listener of this user that hides, as the workers of
 * other sessions do. Those that forward ports of containers hide, too.
 */
static const char *
look_hidden(uid_t uid)
{
	static const char *const ours[] = {"portd", "gated", "icwebd", NULL};
	static const char *const others[] = {
	    "pasta", "pasta.avx2", "slirp4netns", "rootlessport", NULL};

	return uid == geteuid() && listeners_hidden(uid, ours) != 0 &&
		       listeners_hidden(uid, others) == 0
		   ? look_ours
		   : NULL;
}

/* Look at one socket that may get the connections. */
static void
look_owner(const struct listener *l, uint16_t port, struct service_seen *seen)
{
	char program[sizeof(seen->program)] = "", words[LOOK_WORDS] = "";
	const char *kind = NULL;

	if (listeners_owner(l->inode, program, sizeof(program), words,
		sizeof(words)) == 0) {
		kind = look_by_port(port);
		if (kind == NULL)
			kind = look_hidden(l->uid);
	} else {
		for (size_t i = 0; i < nitems(look_programs); i++)
			if (strcmp(program, look_programs[i].name) == 0)
				kind = look_programs[i].kind;
		if (kind == NULL)
			kind = look_by_words(words);
		memcpy(seen->program, program, sizeof(program));
	}
	if (kind != NULL)
		seen->refused = kind;
}

int
service_listener(const char *address, uint16_t port, struct service_seen *seen)
{
	struct listener found[LISTENERS_MAX];
	int n;

	memset(seen, 0, sizeof(*seen));
	seen->local = listeners_local(address);
	if (seen->local) {
		if ((n = listeners_find(address, port, found)) == -1)
			return -1;
		for (int i = 0; i < n; i++) {
			seen->mixed |= i != 0 && found[i].uid != seen->uid;
			seen->uid = found[i].uid;
			look_owner(&found[i], port, seen);
		}
		seen->listens = n > 0;
	} else {
		seen->refused = look_by_port(port);
	}
	return 0;
}

bool
service_asks(const struct service_seen *seen)
{
	return seen->refused == NULL && (seen->listens || !seen->local);
}
