/* SPDX-License-Identifier: ISC */
/*
 * Runs a fuzz target on the named files and directories, so that every build
 * tests the kept corpora, without clang.
 */
#include <dirent.h>
#include <err.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static unsigned replay_count;

static void
replay_file(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *f;
	uint8_t *exact;
	size_t n;

	if ((f = fopen(path, "re")) == NULL)
		err(1, "%s", path);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	/* An exact allocation lets ASan detect a read past the end. */
	if ((exact = malloc(n == 0 ? 1 : n)) == NULL)
		err(1, "malloc");
	for (size_t i = 0; i < n; i++)
		exact[i] = bytes[i];
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	replay_count++;
}

static void
replay_dir(const char *path)
{
	struct dirent *e;
	char name[PATH_MAX];
	DIR *d;

	if ((d = opendir(path)) == NULL)
		err(1, "%s", path);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		replay_file(name);
	}
	closedir(d);
}

int
main(int argc, char **argv)
{
	struct stat st;

	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st) == -1)
			err(1, "%s", argv[i]);
		if (S_ISDIR(st.st_mode))
			replay_dir(argv[i]);
		else
			replay_file(argv[i]);
	}
	if (replay_count == 0)
		errx(1, "no input: the corpus is missing");
	printf("%u inputs\n", replay_count);
	return 0;
}
