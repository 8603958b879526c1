#!/usr/bin/python3 -I
# SPDX-License-Identifier: ISC
"""In place of docker or podman: records each command line and environment in
~/engine.jsonl, and answers as ~/engine.json says.

A container is made by bubblewrap, from the arguments that an engine gets: its
mounts, and nothing else of the session.  So a session can run in it wherever
bubblewrap works; what real engines do is tested by ./dev test runtimes."""
import json
import os
import sys

HOME = os.environ["HOME"]
ID = "0123456789abcdef" * 4


def setting(name, otherwise=None):
    path = os.path.join(HOME, "engine.json")
    with open(path, encoding="utf-8") as f:
        return json.load(f).get(name, otherwise)


def record(args):
    with open(os.path.join(HOME, "engine.jsonl"), "a", encoding="utf-8") as f:
        f.write(json.dumps({"args": args, "env": dict(os.environ)}) + "\n")


def options(args):
    """Splits the arguments of `run` into pairs, the image, and the command."""
    alone = {"--rm", "--read-only", "--no-healthcheck", "--env-host=false",
             "--http-proxy=false", "--read-only-tmpfs=false"}
    pairs, i = [], 1
    while args[i].startswith("-"):
        pairs.append((args[i], None if args[i] in alone else args[i + 1]))
        i += 1 if args[i] in alone else 2
    return pairs, args[i], args[i + 1:]


def box(pairs):
    yield from ("bwrap", "--unshare-all", "--unshare-user", "--disable-userns",
                "--die-with-parent", "--new-session", "--as-pid-1",
                "--cap-drop", "ALL", "--clearenv", "--setenv", "PATH",
                "/usr/bin:/bin", "--ro-bind", "/usr", "/usr")
    for name in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(name):
            yield from ("--symlink", os.readlink(name), name)
        elif os.path.isdir(name):
            yield from ("--ro-bind", name, name)
    yield from ("--proc", "/proc")
    for name in ("keys", "key-users", "kallsyms", "kcore"):
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")
    yield from ("--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
                "--tmpfs", "/tmp", "--dir", "/run")
    for name, value in pairs:
        if name == "--mount":
            m = dict(p.partition("=")[::2] for p in value.split(","))
            yield from ("--ro-bind" if "readonly" in m else "--bind",
                        m["source"], m["target"])
    yield from ("--ro-bind", "/proc/sys", "/proc/sys", "--remount-ro", "/",
                "--chdir", dict(pairs)["--workdir"])


def run(args):
    pairs, _, command = options(args)
    of = dict(pairs)
    if setting("run"):
        print(setting("run"), file=sys.stderr)
        sys.exit(125)
    with open(of["--cidfile"], "w", encoding="ascii") as f:
        f.write(ID)
    # This script's own file, by which it was started.
    os.closerange(3, 64)
    os.execv("/usr/bin/bwrap", [*box(pairs), of["--entrypoint"], *command])


def main():
    args = sys.argv[1:]
    record(args)
    while args and args[0].startswith("-"):
        args = args[2 if args[0] == "--host" else 1:]
    if args[:2] == ["context", "inspect"]:
        print(setting("context"))
    elif args[0] == "info":
        if setting("info") is None:
            sys.exit("Error: no engine\nmore")
        print(json.dumps(setting("info")))
    elif args[:2] == ["image", "inspect"]:
        if setting("image") is None:
            sys.exit("Error: No such image: " + args[-1])
        print(json.dumps(setting("image")))
    elif args[0] == "ps":
        print("\n".join(setting("ps", [])))
    elif args[0] == "run":
        run(args)


main()
