/* SPDX-License-Identifier: ISC */
/*
 * The options of icsupervisor; a START row is one of `icctl start`, too.  Both
 * programs include these rows, each time with a macro for those that they want,
 * and icctl/completions/generate.py makes the shells' completions of them,
 * which offer `value`: these words, or things of that kind.
 *
 * A START row is written to the session's start.json, from which `icctl resume`
 * starts it again.  A START_ONCE row is not: a permission (what the person says
 * yes to must be said again), a program, or what is done once.
 */
/* clang-format off */
#ifndef OPTION
#define OPTION(name, id, value, help)
#endif
#ifndef FLAG
#define FLAG(name, id, help)
#endif
#ifndef START_OPTION
#define START_OPTION(name, id, value, help)
#endif
#ifndef START_FLAG
#define START_FLAG(name, id, help)
#endif
#ifndef START_ONCE_OPTION
#define START_ONCE_OPTION START_OPTION
#endif
#ifndef START_ONCE_FLAG
#define START_ONCE_FLAG START_FLAG
#endif

OPTION("session-dir", SESSION, "DIR", "the session's directory")
START_OPTION("config", CONFIG, "FILE", "instead of config.json")
START_OPTION("agent", AGENT, "AGENT", "which agent")
START_OPTION("model", MODEL, "MODEL", "which model the agent uses")
START_OPTION("runtime", RUNTIME, "bwrap|docker|podman|none",
    "where the agent runs")
START_OPTION("transport", TRANSPORT, "unix|tcp",
    "how a container reaches the session's sockets")
START_OPTION("image", IMAGE, "NAME", "the image of a container")
START_OPTION("home", HOME, "session|project",
    "keep the agent's home for this workspace, or not")
START_OPTION("workspace", WORKSPACE, "DIR:ro",
    "what the agent works on; with :ro it cannot write there")
START_ONCE_OPTION("clone", CLONE, "DIR",
    "work on a clone of this repository")
START_ONCE_FLAG("with-changes", CHANGES, "clone what is in no commit, too")
START_ONCE_OPTION("with", WITH, "FILE...", "clone this file, too")
START_OPTION("cover", COVER, "FILE...",
    "the sandbox has this file of the workspace empty")
START_OPTION("workspace-path", WORKSPACE_PATH, "same|short",
    "where the agent sees it: as you do, or at /workspace")
START_OPTION("escalations", ESCALATIONS, "ask|deny",
    "ask you, or deny calls that would wait")
START_ONCE_OPTION("open-hosts", OPEN_HOSTS, "ask|off",
    "ask you about hosts on no list, or refuse them")
START_ONCE_OPTION("allow-unsandboxed", UNSANDBOXED, "SERVER...",
    "run this server without a sandbox")
START_ONCE_FLAG("allow-sockets", SOCKETS,
    "work where a program of the host listens")
START_OPTION("require", REQUIRE, "all", "layers of confinement to insist on")
FLAG("conversation", TALK, "wait for messages (icctl start --detach)")
FLAG("attack-only", ATTACK,
    "make the break-out test, write down all of it, and end")
FLAG("print-ready", READY, "one JSON line when the session is up")
START_FLAG("transcript", TRANSCRIPT, "keep the agent's output as text")
START_ONCE_FLAG("quiet", QUIET, "print nothing about the session")
START_ONCE_FLAG("verbose", VERBOSE,
    "print how the log ends, too, by which it can be checked")
START_ONCE_OPTION("libexecdir", LIBEXEC, "DIR",
    "take the workers from there")
OPTION("unit", UNIT, "NAME",
    "the session NAME, as its start.json says (icsupervisor@.service)")
START_OPTION("policy", POLICY, "POLICY", "which policy decides")
START_OPTION("persona", PERSONA, "NAME", "which persona's budget applies")
START_OPTION("profile", PROFILE, "NAME", "which profile chooses providers")
START_ONCE_OPTION("publish", PUBLISH, "PORT...",
    "let your browser reach this port of the sandbox")
START_ONCE_FLAG("acp", ACP,
    "serve the agent to an editor, on standard input and output")
START_ONCE_OPTION("task", TASK, "TEXT", "what the agent is asked to do")
FLAG("help", HELP, "list the options")
FLAG("version", VERSION, "which version this is")
/* clang-format on */

#undef OPTION
#undef FLAG
#undef START_OPTION
#undef START_FLAG
#undef START_ONCE_OPTION
#undef START_ONCE_FLAG
