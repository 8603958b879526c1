#!/usr/bin/python3 -I
# SPDX-License-Identifier: ISC
"""In place of docker or podman: records each command line and environment in
~/engine.jsonl, and answers as ~/engine.json says.

A network or volume only has a name; `network` says which addresses `inspect`
answers. A container is made by bubblewrap, from the arguments that an engine gets: its
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
    told = {"args": args, "env": dict(os.environ)}
    if "build" in args:
        with open(args[args.index("--file") + 1], encoding="utf-8") as f:
            told["dockerfile"] = f.read()
        told["context"] = sorted(
            os.path.relpath(os.path.join(d, n), args[-1])
            for d, _, names in os.walk(args[-1]) for n in names)
    with open(os.path.join(HOME, "engine.jsonl"), "a", encoding="utf-8") as f:
        f.write(json.dumps(told) + "\n")


def options(args):
    """Splits the arguments of `run` into pairs, the image, and the command."""
    alone = {"--rm", "--read-only", "--no-healthcheck", "--env-host=false",
             "--http-proxy=false", "--read-only-tmpfs=false", "--detach"}
    pairs, i = [], 1
    while args[i].startswith("-"):
        pairs.append((args[i], None if args[i] in alone else args[i + 1]))
        i += 1 if args[i] in alone else 2
    return pairs, args[i], args[i + 1:]


def volume(name):
    path = os.path.join(HOME, "volume-" + name)
    os.makedirs(path, exist_ok=True)
    return path


def box(pairs):
    of = dict(pairs)
    net = () if of["--network"] == "none" else ("--share-net",)
    # A container in the background outlives the client that started it.
    stays = () if "--detach" in of else ("--die-with-parent",)
    yield from ("bwrap", "--unshare-all", *net, "--unshare-user", "--disable-userns",
                *stays, "--new-session", "--as-pid-1",
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
            if m["type"] == "tmpfs":
                yield from ("--perms", m["tmpfs-mode"], "--tmpfs", m["target"])
            else:
                source = volume(m["source"]) if m["type"] == "volume" \
                    else m["source"]
                yield from ("--ro-bind" if "readonly" in m else "--bind",
                            source, m["target"])
        if name == "--add-host":
            # A name of this machine.
            path = os.path.join(HOME, "hosts")
            with open(path, "w", encoding="ascii") as f:
                f.write("127.0.0.1 " + value.partition(":")[0] + "\n")
            yield from ("--ro-bind", path, "/etc/hosts")
    yield from ("--ro-bind", "/proc/sys", "/proc/sys", "--remount-ro", "/",
                "--chdir", dict(pairs)["--workdir"])


def run(args):
    pairs, _, command = options(args)
    of = dict(pairs)
    if setting("run"):
        print(setting("run"), file=sys.stderr)
        sys.exit(125)
    if "--detach" in of:
        if os.fork() != 0:
            return
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
    else:
        with open(of["--cidfile"], "w", encoding="ascii") as f:
            f.write(ID)
    # This script's own file, by which it was started.
    os.closerange(3, 64)
    os.execv("/usr/bin/bwrap", [*box(pairs), of["--entrypoint"], *command])


def values(args, option):
    return [args[i + 1] for i, a in enumerate(args) if a == option]


def change(images):
    path = os.path.join(HOME, "engine.json")
    with open(path, encoding="utf-8") as f:
        told = json.load(f)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**told, "images": images}, f)


def build(args):
    """Prints what the test says, and adds an image with the labels."""
    print(setting("build", "Step 1"), file=sys.stderr)
    if setting("fails"):
        sys.exit(1)
    images, tag = setting("images", []), values(args, "--tag")[0]
    for i in images:
        i["tags"] = [x for x in i["tags"] if x != tag]
    images.append({"id": f"sha256:{len(images):064x}", "tags": [tag],
                   "size": 1 << 20, "created": "2026-01-01T00:00:00Z",
                   "labels": dict(x.split("=", 1)
                                  for x in values(args, "--label"))})
    change(images)


def image(args):
    images = setting("images", [])
    if args[0] == "ls":
        print("\n".join(i["id"] for i in images))
    elif args[0] == "inspect" and [i for i in images if i["id"] == args[-1]]:
        print(json.dumps([i for i in images if i["id"] == args[-1]][0]))
    elif args[0] == "inspect":
        if setting("image") is None:
            sys.exit("Error: No such image: " + args[-1])
        print(json.dumps(setting("image")))
    elif args[0] == "rm":
        change([i for i in images if i["id"] != args[-1]])


def remove(name):
    """Fails as often as the test says, as an engine does that is removing the
    container at this moment."""
    with open(os.path.join(HOME, "engine.jsonl"), encoding="utf-8") as f:
        calls = [json.loads(line)["args"] for line in f]
    times = sum(a[-1] == name and "rm" in a for a in calls)
    if times <= setting("removing", {}).get(name, 0):
        sys.exit("Error response from daemon: removal of container "
                 f"{name} is already in progress")


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
    elif args[0] == "image":
        image(args[1:])
    elif args[0] == "rm":
        remove(args[-1])
    elif args[0] == "build":
        build(args)
    elif args[:2] == ["network", "inspect"]:
        print(setting("network"))
    elif args[:2] in (["network", "ls"], ["volume", "ls"]):
        print("\n".join(setting(args[0] + "s", [])))
    elif args[0] == "ps":
        print("\n".join(setting("ps", [])))
    elif args[0] == "run":
        run(args)


main()
