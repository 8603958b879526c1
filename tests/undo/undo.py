#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""./dev test undo-long: undo on ext4, XFS and btrfs.

usage: undo.py --build BUILD --user USER [--counts FILE] [--only WORD]

Runs as root, which makes a file system of each kind in a file and mounts it in
a mount namespace of its own; there USER runs the tests beside this file. A kind
that this kernel or machine lacks is named and skipped. Nothing is left at the
end."""
import argparse
import ctypes
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"ext4": ["mkfs.ext4", "-q", "-N", "1500000"],
         "xfs": ["mkfs.xfs", "-q", "-m", "reflink=1"],
         "btrfs": ["mkfs.btrfs", "-q"]}
SIZE = 12 << 30         # bytes of a file, which is sparse
CLONE_NEWNS, PRIVATE = 0x20000, 1 << 18 | 1 << 14


def say(text):
    print("undo:", text, file=sys.stderr, flush=True)


def own_mounts():
    """Nobody else sees what is mounted here; it ends with this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(
            b"none", b"/", None, PRIVATE, None) != 0:
        raise OSError(ctypes.get_errno(), "a mount namespace")


def mount(top, kind, size, words, user):
    """Returns the place where it is mounted, or None."""
    if not shutil.which(words[0]):
        say(f"SKIP {kind}: {words[0]} is not installed")
        return None
    image, place = os.path.join(top, kind), os.path.join(top, kind + ".d")
    with open(image, "wb") as f:
        f.truncate(size)
    os.mkdir(place)
    for command in (words + [image], ["mount", "-o", "loop", image, place]):
        r = subprocess.run(command, capture_output=True, text=True, check=False)
        if r.returncode != 0:
            say(f"SKIP {kind}: {' '.join(command[:2])}: {r.stderr.strip()}")
            return None
    os.chown(place, user.pw_uid, user.pw_gid)
    os.chmod(place, 0o700)
    return place


def run(build, user, *args):
    """Runs a test as the user. Returns the numbers of what passed, failed."""
    env = {"HOME": user.pw_dir, "USER": user.pw_name, "LANG": "C.UTF-8",
           "PATH": "/usr/local/bin:/usr/bin:/bin", "IC_BUILD": build,
           "IC_PREFIX": os.path.join(build, "stage", "usr", "local")}
    p = subprocess.Popen(
        [sys.executable, "-Bu", *args], stdout=subprocess.PIPE, text=True,
        user=user.pw_uid, group=user.pw_gid, extra_groups=[], env=env,
        cwd=user.pw_dir)
    good = bad = 0
    for line in p.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        good += line.startswith("ok ")
        bad += line.startswith("not ok ")
    if p.wait() != 0 and bad == 0:
        bad = 1
    return good, bad


def main():
    a = argparse.ArgumentParser(allow_abbrev=False)
    a.add_argument("--build", required=True)
    a.add_argument("--user", required=True)
    a.add_argument("--counts")
    a.add_argument("--only", help="a kind of file system, or full")
    args = a.parse_args()
    user = pwd.getpwnam(args.user)
    own_mounts()
    good = bad = skipped = 0
    with tempfile.TemporaryDirectory(prefix="ic-undo-") as top:
        os.chmod(top, 0o755)
        for kind, words in KINDS.items():
            if args.only not in (None, kind):
                continue
            place = mount(top, kind, SIZE, words, user)
            if place is None:
                skipped += 1
                continue
            try:
                for test in ("trees.py", "steps.py", "swaps.py"):
                    n = run(args.build, user, os.path.join(HERE, test), place,
                            kind)
                    good, bad = good + n[0], bad + n[1]
            finally:
                subprocess.run(["umount", "-l", place], check=False)
            os.unlink(os.path.join(top, kind))
        if args.only in (None, "full"):
            place = mount(top, "small", 24 << 20, ["mkfs.ext4", "-q"], user)
            if place is None:
                skipped += 1
            else:
                try:
                    n = run(args.build, user, os.path.join(HERE, "full.py"),
                            place)
                    good, bad = good + n[0], bad + n[1]
                finally:
                    subprocess.run(["umount", "-l", place], check=False)
    say(f"{good} passed, {bad} failed, {skipped} skipped")
    if args.counts:
        with open(args.counts, "w", encoding="ascii") as f:
            f.write(f"{good} {bad} {skipped}\n")
    sys.exit(bad != 0)


main()
