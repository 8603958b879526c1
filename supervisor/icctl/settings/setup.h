/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl setup`. setup.c: the questions; setup_key.c: the key of a
 * provider, which goes to a file of its own; setup_ask.c: below both.
 */
#ifndef ICCTL_SETTINGS_SETUP_H
#define ICCTL_SETTINGS_SETUP_H

#include "icctl/settings/settings.h"

#define SETUP_KEY 4096U /* bytes of a key */

struct setup_choice {
	const char *name, *text;
	const char *env, *agent; /* a provider's variable, and its agent */
};

struct setup {
	struct icctl *ctl;
	struct settings file;
	bool changed;
	const struct setup_choice *provider;
	char secret[SETUP_KEY + 2]; /* the key that was typed, or "" */
	char path[4200];	    /* the file for it */
};

/* setup_ask.c */
/* Ask, and read a line into `dst`. Returns false at the end of input. */
bool setup_ask(const char *question, const char *dflt, char *dst, size_t cap);
/* Set a key of config.json, and take the value. Returns 0, or -1. */
int setup_put(struct setup *, const char *key, json_object *value);

/*
 * setup_tools.c: Ask whether agents see the toolchains in the home, if there
 * are some. Returns 0, or -1 if the person left.
 */
int setup_tools(struct setup *);

/* setup_key.c */
/* Ask for the provider's key, if none is at hand. Returns 0, or -1. */
int setup_key(struct setup *);
/* Write the key that was typed to its file. Returns 0, or -1. */
int setup_key_save(const struct setup *);

#endif
