/* SPDX-License-Identifier: ISC */
/*
 * Tests the start that icctl hands over to a unit: it arrives as it was, a
 * manager's variables are neither taken nor lost, a key can be wiped so that no
 * copy stays, and one that is too large or cut at any byte is refused.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/credential/credential_env.h"
#include "supervisor/unit/offer.h"
#include "tap.h"

#define KEY "sk-ant-a-key-of-the-person"

static struct offer offer;
static char whole[4096];
static size_t whole_len;

static const char *const args[] = {"icsupervisor", "--task", "", "a\nb", NULL};
static char e0[] = "A_KEY=" KEY, e1[] = "NOTIFY_SOCKET=/shell's", e2[] = "=odd",
	    e3[] = "nothing", e4[] = "EMPTY=", e5[] = "WATCHDOG_USECS=x";
static char *env[] = {e0, e1, e2, e3, e4, e5, NULL};

/* Read an offer of these bytes. */
static int
give(const char *p, size_t len, struct fault *fault)
{
	int fd[2], rv;

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    write(fd[1], p, len) != (ssize_t)len)
		err(1, "pipe");
	close(fd[1]);
	rv = offer_read(&offer, fd[0], fault);
	close(fd[0]);
	return rv;
}

static void
test_whole(void)
{
	struct fault fault = {""};
	int fd[2];
	ssize_t n;

	if (pipe2(fd, O_CLOEXEC) == -1)
		err(1, "pipe");
	is_int(offer_write(fd[1], "/work", args, env), 0, "written");
	close(fd[1]);
	n = read(fd[0], whole, sizeof(whole));
	close(fd[0]);
	whole_len = n > 0 ? (size_t)n : 0;
	is_int(give(whole, whole_len, &fault), 0, "read: %s", fault.text);
	is_str(offer.dir, "/work", "the directory");
	is_int((long)offer.nargs, 4, "the arguments");
	for (size_t i = 0; i < offer.nargs; i++)
		is_str(offer.args[i], args[i], "argument %zu", i);
	ok(offer.args[offer.nargs] == NULL, "and then NULL");
	is_int((long)offer.nenv, 3, "variables, without those of a unit");
	unit_offer_free(&offer);
	ok(offer.bytes == NULL && offer.nargs == 0, "freed");
}

static void
test_cut(void)
{
	struct fault fault;
	unsigned taken = 0;

	for (size_t len = 0; len < whole_len; len++)
		if (give(whole, len, &fault) == 0) {
			taken++;
			unit_offer_free(&offer);
		}
	is_int(taken, 0, "one that is cut is refused, at each byte");
	whole[whole_len] = 'x';
	is_int(give(whole, whole_len + 1, &fault), -1, "and one with more");
}

static void
test_large(void)
{
	static char large[OFFER_BYTES];
	static const char *many[OFFER_STRINGS + 2];
	const char *const one[] = {"icsupervisor", large, NULL};
	char *none[] = {NULL};

	memset(large, 'x', sizeof(large) - 1);
	errno = 0;
	is_int(offer_write(-1, "/", one, none), -1, "one that is too large");
	is_int(errno, E2BIG, "is not written");
	for (size_t i = 0; i <= OFFER_STRINGS; i++)
		many[i] = "x";
	errno = 0;
	is_int(offer_write(-1, "/", many, none), -1, "nor too many arguments");
	is_int(errno, E2BIG, "with the same error");
}

static void
test_environment(void)
{
	struct fault fault = {""};

	if (setenv("NOTIFY_SOCKET", "/manager's", 1) == -1 ||
	    setenv("WATCHDOG_USEC", "5", 1) == -1 ||
	    setenv("ONLY_HERE", "x", 1) == -1)
		err(1, "setenv");
	is_int(give(whole, whole_len, &fault), 0, "read: %s", fault.text);
	is_int(offer_take_environment(&offer), 0, "taken");
	is_str(getenv("NOTIFY_SOCKET"), "/manager's", "the manager's stays");
	is_str(getenv("WATCHDOG_USEC"), "5", "and its other one");
	ok(getenv("ONLY_HERE") == NULL, "what a shell has not is gone");
	is_str(getenv("EMPTY"), "", "an empty one");
	is_str(getenv("WATCHDOG_USECS"), "x", "a name that begins alike");
	is_str(getenv("A_KEY"), KEY, "the key");
	credential_env_wipe("A_KEY");
	ok(getenv("A_KEY") == NULL, "is wiped");
	ok(memmem(offer.bytes, OFFER_BYTES, KEY, strlen(KEY)) == NULL,
	    "and no copy of it stays");
}

int
main(void)
{
	test_whole();
	test_cut();
	test_large();
	test_environment();
	return tap_done();
}
