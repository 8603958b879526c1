/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl setup`. setup.c: the questions; setup_key.c: the key of a
 * provider, which goes to a file of its own; setup_login.c: subscriptions, and
 * the test of a key or login; setup_ask.c: below these.
 */
#ifndef ICCTL_SETTINGS_SETUP_H
#define ICCTL_SETTINGS_SETUP_H

#include "icctl/settings/settings.h"

#define SETUP_KEY 4096U /* bytes of a key */
#define SETUP_TRIES 3U  /* keys that are typed in a row */

struct setup_choice {
	const char *name, *text;
	/* A provider with a key of this variable, or with a login. */
	const char *provider, *env, *login, *agent;
	const char *how;           /* the agent logs in from within a session */
	const char *comes, *stays; /* the agent's own files; or NULL */
};

struct setup {
	struct icctl *ctl;
	struct settings file;
	bool changed;
	bool given; /* there is a key or a login to be tested */
	const struct setup_choice *provider;
	char secret[SETUP_KEY + 2]; /* the key that was typed, or "" */
	char path[4200];            /* the file for it */
};

/* setup_ask.c */
/* Print a sentence, divided between words. */
void setup_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Ask, and read a line into `dst`. Returns false at the end of input. */
bool setup_ask(const char *question, const char *dflt, char *dst, size_t cap);
/* Set a key of config.json, and take the value. Returns 0, or -1. */
int setup_put(struct setup *, const char *key, json_object *value);

/*
 * setup_tools.c: Ask whether agents see the toolchains in the home, if there
 * are some. Returns 0, or -1 if the person left.
 */
int setup_tools(struct setup *);

/*
 * setup_clone.c: Ask whether agents may use the API of the forge that the
 * current directory is a clone from, if config.json has no forge. Returns 0, or
 * -1 if the person left.
 */
int setup_clone(struct setup *);

/* setup_forge.c: Say which token a forge needs. Returns the exit status. */
int setup_forge(void);

/* setup_key.c */
/* Ask for the provider's key, if none is at hand. Returns 0, or -1. */
int setup_key(struct setup *);
/* Write the key that was typed to its file. Returns 0, or -1. */
int setup_key_save(const struct setup *);
/*
 * Ask for another key instead of one that was refused, and write it. Returns
 * true if there is one.
 */
bool setup_key_again(struct setup *);

/* setup_login.c */
/* Choose how sessions use the subscription. Returns 0, or -1. */
int setup_login(struct setup *);
/* Say which of the person's own files agents see, and which they do not. */
void setup_leaves(const struct setup *);
/* Ask the provider whether it accepts what was given, and say so. */
void setup_test(struct setup *);

#endif
