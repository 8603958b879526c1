/* SPDX-License-Identifier: ISC */
/*
 * ic-repo runs git for icsupervisor, in sandboxes, and reads what git prints:
 * it finds out how the user's git is set up, makes the clone of a session, and
 * looks at the end for work that the user does not have. Both programs include
 * this file. Its argument is one of the tasks; reports (base/report.h) on its
 * standard input say what it has to know, and reports on its standard output
 * are what it found.
 *
 * ic-serve, which starts the services of the session's own, is told in the same
 * way.
 */
#ifndef REPO_ERRAND_H
#define REPO_ERRAND_H

#define ERRAND_PROGRAM "ic-repo"

#define ERRAND_SERVE "ic-serve"

#define ERRAND_SETTINGS "settings"
#define ERRAND_CLONE "clone"
#define ERRAND_FETCH "fetch"
#define ERRAND_LOOK "look"

/* Its descriptors beside the standard ones; those after the first: fetch. */
enum {
	ERRAND_SESSION = 3, /* the session's directory */
	ERRAND_SOCKET,      /* mitm-proxy.sock, by name */
	ERRAND_CA,
	ERRAND_BRIDGE,
	/* ic-serve: the entrances of the services' control groups */
	ERRAND_GROUPS = 4,
};

/* Given to ic-repo. */
enum errand_told {
	TOLD_LIBEXEC = 'l',
	TOLD_HOME = 'h',        /* the user's */
	TOLD_SESSION = 's',     /* the path of the session's directory */
	TOLD_WORKSPACE = 'w',   /* the path of the workspace */
	TOLD_NAMED = 'n',       /* --workspace, if it was given */
	TOLD_CLONE = 'c',       /* --clone, if it was given */
	TOLD_URL = 'u',         /* the URL in it */
	TOLD_REF = 'r',         /* and the branch */
	TOLD_CHANGES = 'm',     /* --with-changes */
	TOLD_WITH = 'f',        /* --with */
	TOLD_IGNORE = 'i',      /* the user's patterns of ignored files */
	TOLD_DIRTY = 'y',       /* say what is in no commit, and not cloned */
	TOLD_INSIDE = 'x',      /* the workspace, as the agent sees it */
	TOLD_PATH = 'p',        /* directories of programs */
	TOLD_BWRAP = 'b',       /* the sandbox has the programs of the host */
	TOLD_GITFILE = 'g',     /* the workspace is a linked worktree */
	TOLD_DESTINATION = 'd', /* a host with a git destination */
	TOLD_SHOWN = 'v',       /* a path of the host in the sandbox */
	TOLD_PLACE = 'k',       /* "DEVICE:INODE:PATH": agents write there */
	/* to ic-serve */
	TOLD_SERVICE = 'S', /* "NUMBER PORT NAME {...}": config.json's entry */
	TOLD_LIMITS = 'L',  /* eight numbers: serve.h */
	TOLD_TOOL = 'B',    /* the path of ic-bridge */
	TOLD_ENGINE = 'E',  /* "docker" or "podman" */
	TOLD_FAR = 'R',     /* which reaches no socket of this machine */
	TOLD_BEFORE = 'A',  /* a word before every command of its client */
	TOLD_LABEL = 'Y',   /* a label of its containers */
};

/* Handed back. */
enum errand_report {
	ERRAND_WARN = 'W',   /* a line for the person */
	ERRAND_NOTE = 'N',   /* a line for session.log */
	ERRAND_FAILED = 'F', /* the task failed; the reason */
	ERRAND_WRONG = 'X',  /* likewise, for what the user has set or named */
	ERRAND_SCARCE =
	    'S', /* likewise, for want of disk, memory or the like */
	/* settings: what sandboxes see of the user's git */
	ERRAND_IDENTITY = 'i',
	ERRAND_CONFIG = 's',
	ERRAND_IGNORE = 'g',
	ERRAND_ATTRIBUTES = 'a',
	/* clone, fetch: there is a clone, and where it comes from */
	ERRAND_DIR = 'd',
	ERRAND_URL = 'u',
	ERRAND_BRANCH = 'b',
	ERRAND_BASE = 'o',   /* fetch: the commit */
	ERRAND_WANTED = 'q', /* clone: it has to be fetched yet */
	/* look: the numbers of commits, and of files in no commit */
	ERRAND_COMMITS = 'c',
	ERRAND_FILES = 'f',
};

#define ERRAND_MAX_TEXT 524288U

#endif
