/* SPDX-License-Identifier: ISC */
#include "icgit/batch.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wordlist.h"
#include "icgit/icgit.h"

#define BATCH_ARGS 4096U

/* Read or write all bytes. Returns false at the end of the input. */
static bool
batch_read(void *dst, size_t len)
{
	uint8_t *p = dst;
	ssize_t n;

	while (len != 0) {
		if ((n = read(STDIN_FILENO, p, len)) == 0)
			return false;
		if (n == -1 && errno != EINTR)
			err(1, "input");
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static void
batch_write(int fd, const void *src, size_t len)
{
	const uint8_t *p = src;
	ssize_t n;

	while (len != 0) {
		if ((n = write(fd, p, len)) == -1 && errno != EINTR)
			err(1, "output");
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

static void
batch_frame(enum icgit_kind kind, const void *p, size_t len)
{
	const struct icgit_frame f = {kind, (uint32_t)len};

	batch_write(STDOUT_FILENO, &f, sizeof(f));
	batch_write(STDOUT_FILENO, p, len);
}

/* Copy the input of a git into memory. Returns its descriptor. */
static int
batch_input(size_t len)
{
	uint8_t chunk[ICGIT_BATCH_CHUNK];
	size_t n;
	int fd;

	if ((fd = memfd_create("input", MFD_CLOEXEC)) == -1)
		err(1, "memory");
	for (; len != 0; len -= n) {
		n = len < sizeof(chunk) ? len : sizeof(chunk);
		if (!batch_read(chunk, n))
			errx(1, "the input ends too early");
		batch_write(fd, chunk, n);
	}
	if (lseek(fd, 0, SEEK_SET) == -1)
		err(1, "memory");
	return fd;
}

/* Start a git with these streams. */
static pid_t
batch_start(char **argv, int in, int out, int said)
{
	pid_t pid;

	icgit_ahead(argv);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid != 0)
		return pid;
	if (dup2(in, 0) == -1 || dup2(out, 1) == -1 || dup2(said, 2) == -1)
		_exit(126);
	exit(icgit_wrap(argv, true));
}

/* Returns the exit status of a git. */
static uint8_t
batch_status(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			err(1, "wait");
	return (uint8_t)(WIFEXITED(status) ? WEXITSTATUS(status)
					   : 128 + WTERMSIG(status));
}

/* Pass on what git prints, until it has closed both. */
static void
batch_pass(int out, int said)
{
	struct pollfd p[2] = {
	    {.fd = out, .events = POLLIN}, {.fd = said, .events = POLLIN}};
	uint8_t chunk[ICGIT_BATCH_CHUNK];
	ssize_t n;

	while (p[0].fd != -1 || p[1].fd != -1) {
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			err(1, "poll");
		for (unsigned i = 0; i < 2; i++) {
			if (p[i].fd == -1 || p[i].revents == 0)
				continue;
			n = read(p[i].fd, chunk, sizeof(chunk));
			if (n > 0)
				batch_frame(i == 0 ? ICGIT_OUT : ICGIT_ERR,
				    chunk, (size_t)n);
			else if (n == 0 || errno != EINTR)
				p[i].fd = -1;
		}
	}
}

/* Run a git, or two: `first`, unless it is NULL, writes into the other one. */
static void
batch_git(char **first, char **argv, int in)
{
	int out[2], said[2], between[2];
	pid_t pid, before = -1;
	uint8_t code, other = 0;

	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(said, O_CLOEXEC) == -1)
		err(1, "pipe");
	if (first != NULL) {
		if (pipe2(between, O_CLOEXEC) == -1)
			err(1, "pipe");
		before = batch_start(first, in, between[1], said[1]);
		close(between[1]);
		in = between[0];
	}
	pid = batch_start(argv, in, out[1], said[1]);
	if (first != NULL)
		close(between[0]);
	close(out[1]);
	close(said[1]);
	batch_pass(out[0], said[0]);
	close(out[0]);
	close(said[0]);
	code = batch_status(pid);
	if (before != -1)
		other = batch_status(before);
	code = code != 0 ? code : other;
	batch_frame(ICGIT_STATUS, &code, 1);
}

/* Returns the words, which end in a NUL, as a list in `args`. */
static char **
batch_words(struct wordlist *args, char *words, size_t len)
{
	char *const *argv;

	for (char *w = words; w < words + len; w += strlen(w) + 1)
		wordlist_add(args, w);
	if ((argv = wordlist_end(args)) == NULL)
		errx(1, "a request has too many words");
	return (char **)(uintptr_t)argv;
}

int
icgit_batch(void)
{
	static char words[ICGIT_BATCH_WORDS];
	static const char *lists[2][BATCH_ARGS + 1];
	struct icgit_request r;
	struct wordlist args, before;
	char **first;
	int in;

	/* Each git inherits it, which takes longer than a git. */
	if (icgit_lock() == -1)
		err(1, "Landlock");
	while (batch_read(&r, sizeof(r))) {
		if (r.words == 0 || r.words > sizeof(words) ||
		    r.first >= r.words || r.input > ICGIT_BATCH_INPUT ||
		    !batch_read(words, r.words) || words[r.words - 1] != '\0' ||
		    (r.first != 0 && words[r.first - 1] != '\0'))
			errx(1, "a request is not as it should be");
		args = (struct wordlist)WORDLIST_IN(lists[0]);
		before = (struct wordlist)WORDLIST_IN(lists[1]);
		first =
		    r.first == 0 ? NULL : batch_words(&before, words, r.first);
		in = batch_input(r.input);
		batch_git(first,
		    batch_words(&args, words + r.first, r.words - r.first), in);
		close(in);
	}
	return 0;
}
