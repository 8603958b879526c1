/* SPDX-License-Identifier: ISC */
/*
 * `icctl paste`: gives an image to the agent. It is read here, from the
 * clipboard, a file or standard input, and only its length and its first bytes
 * are looked at. The session records it; then the sandbox sees it, and the
 * viewer that has the keyboard puts its path into the prompt.
 */
#include "icctl/icctl.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/sha256.h"
#include "icctl/paste/priv.h"
#include "icctl/words.h"
#include "relay/inbox.h"

static void
paste_read(int fd, struct paste_bytes *b)
{
	ssize_t n;

	b->len = 0;
	while (b->len <= PASTE_MAX &&
	       ((n = read(fd, b->p + b->len, PASTE_MAX + 1 - b->len)) > 0 ||
		   (n == -1 && errno == EINTR)))
		b->len += n > 0 ? (size_t)n : 0;
}

/* Read a file that a person named. Returns 0, or -1 after the reason. */
static int
paste_file(const char *path, struct paste_bytes *b)
{
	struct stat st;
	int fd, rv = -1;

	/* Neither a link of the agent nor its pipe. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 && errno == ELOOP) {
		warnx(
		    "%s: this is a link. Name the file that it leads to", path);
	} else if (fd == -1) {
		icctl_warn_errno(path);
	} else if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		warnx("%s: this is no file. Name an image (PNG, JPEG, GIF or "
		      "WebP)",
		    path);
	} else {
		paste_read(fd, b);
		rv = 0;
	}
	if (fd != -1)
		close(fd);
	return rv;
}

/* Ask for the path of a file, where there is no image in a clipboard. */
static int
paste_typed(struct paste_bytes *b, const char *why)
{
	char line[4096];

	warnx("%s", why);
	if (!icctl_person())
		return -1;
	printf("Path of an image, or nothing: ");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL)
		return -1;
	line[strcspn(line, "\n")] = '\0';
	return line[0] == '\0' ? -1 : paste_file(line, b);
}

/* Read the image. Returns its kind, or NULL after the reason. */
static const struct paste_kind *
paste_take(struct paste_bytes *b, const char *from)
{
	const struct paste_kind *kind;
	const char *why;

	if (from != NULL && strcmp(from, "-") == 0)
		paste_read(STDIN_FILENO, b);
	else if (from != NULL && paste_file(from, b) == -1)
		return NULL;
	else if (from == NULL && paste_clip(b, &why) == -1 &&
		 paste_typed(b, why) == -1)
		return NULL;
	if (b->len > PASTE_MAX) {
		warnx("the image has more than %u MiB, which is the limit: "
		      "make it smaller",
		    PASTE_MAX >> 20);
		return NULL;
	}
	if ((kind = paste_kind(span_of(b->p, b->len))) == NULL)
		warnx("this is no PNG, JPEG, GIF or WebP image, by its first "
		      "bytes. Convert it, or give the agent other files by "
		      "way of the workspace");
	return kind;
}

/*
 * Tell the session: with the digest, what will be shown; without, that it is.
 * Returns 0, or an exit status.
 */
static int
paste_tell(struct icctl *ctl, const char *name, const char *hex, size_t len)
{
	json_object *req = icctl_request("paste", name), *reply;
	char bytes[24];
	int status;

	if (hex != NULL) {
		snprintf(bytes, sizeof(bytes), "%zu", len);
		put_str(req, "digest", hex);
		put_str(req, "value", bytes);
	}
	if ((reply = icctl_command(ctl, req, &status)) == NULL)
		return status;
	json_object_put(reply);
	return 0;
}

static void
paste_say(const struct icctl *ctl, const char *name,
    const struct paste_kind *kind, const char *hex, size_t len)
{
	char path[INBOX_DIR_SIZE + PASTE_NAME];
	json_object *o;

	snprintf(path, sizeof(path), INBOX_DIR "%s", name);
	if (!ctl->json) {
		printf("The agent can read this image (%s, %zu bytes) as %s. "
		       "The path is in its prompt, if a terminal shows the "
		       "session; otherwise name it in a message.\n",
		    kind->type, len, path);
		return;
	}
	o = json_object_new_object();
	put_bool(o, "ok", true);
	put_str(o, "path", path);
	put_str(o, "type", kind->type);
	put_int(o, "bytes", (int64_t)len);
	put_str(o, "sha256", hex);
	icctl_put_json(o);
	json_object_put(o);
}

static int
paste_do(struct icctl *ctl, const struct paste_kind *kind, struct span image)
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];
	struct paste_inbox in;
	int status = ICCTL_FAILED;

	sha256_span(image, sum);
	(void)sha256_hex(sum, hex);
	if (paste_inbox_open(&in, ctl->dir, kind, image) == -1) {
		icctl_warn_errno(ctl->dir);
		goto out;
	}
	status = paste_tell(ctl, in.name, hex, image.len);
	if (status == 0 && paste_inbox_show(&in) == -1) {
		icctl_warn_errno(ctl->dir);
		status = ICCTL_FAILED;
	}
	if (status != 0)
		goto out;
	status = paste_tell(ctl, in.name, NULL, 0);
	if (status == 0)
		paste_say(ctl, in.name, kind, hex, image.len);
out:
	paste_inbox_close(&in);
	return status;
}

/* Returns true if the sandbox has another copy of its sockets' directory. */
static bool
paste_is_far(const struct icctl *ctl)
{
	json_object *status = icctl_ask_dir(ctl->dir, "status");
	const bool far = strcmp(get_str(status, "transport", ""), "tcp") == 0;

	json_object_put(status);
	return far;
}

int
icctl_paste(struct icctl *ctl, int argc, char **argv)
{
	struct paste_bytes b = {.p = NULL};
	const struct paste_kind *kind;
	int status;

	if (argc > 2)
		return words_usage();
	if ((status = icctl_find(ctl)) != 0)
		return status;
	if (paste_is_far(ctl)) {
		warnx("%s: its sandbox is reached by TCP, and sees no file of "
		      "this machine. Put the image into the workspace",
		    ctl->dir);
		return ICCTL_FAILED;
	}
	if ((b.p = malloc(PASTE_MAX + 1)) == NULL)
		err(ICCTL_FAILED, "paste");
	kind = paste_take(&b, argc == 2 ? argv[1] : NULL);
	status = kind == NULL ? ICCTL_FAILED
			      : paste_do(ctl, kind, span_of(b.p, b.len));
	free(b.p);
	return status;
}
