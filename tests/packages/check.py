#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""check.py DIR [--counts FILE]: checks the packages that package.sh made in
DIR, as root: a second build by other hands gives the same bytes; lintian has
no complaint; and in a bare Debian they are installed, used, upgraded beneath a
running session, removed and purged; the bundle
runs there without them.

check.py --staged TREE [--counts FILE]: makes a package of the programs that
./dev build has staged in TREE, and checks only that it is installed, used, removed
and purged."""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
# The programs are started by the package manager's paths, as a person's are.
ENTER = r"""
set -e
mount --bind "$1" "$1"; cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmp tmp
mkdir -p src mnt; mount --bind -o ro "$2" src
[ -z "$3" ] || { mkdir -p packages; mount --bind "$3" packages; }
pivot_root . mnt; umount -l /mnt; shift 3
exec "$@"
"""


# Kernels that tests/lib/older_kernel.py plays, and a part of the remedy.
KERNELS = (("5.10", '"landlock" to lsm='), ("landlock", '"landlock" to lsm='),
           ("userns", "allow clone with namespace flags"))


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, good, why=""):
        print(("ok - " if good else "not ok - ") + what, flush=True)
        if good:
            self.passed += 1
        else:
            self.failed += 1
            if why:
                print("# " + why.strip()[-3000:].replace("\n", "\n# "), flush=True)
        return good


def run(*words, **more):
    r = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, check=False, **more)
    return r.returncode, r.stdout


class Root:
    """A bare Debian, entered as the root of a mount namespace, because the
    kernel makes no user namespace in a chroot."""

    def __init__(self, path, packages):
        self.path, self.packages = path, packages

    def make(self):
        return run("mmdebstrap", "--variant=minbase", "--quiet", "bookworm", self.path)

    def words(self, script, user):
        who = ["runuser", "-l", user, "-c"] if user else ["/bin/sh", "-ec"]
        return ["unshare", "--mount", "--pid", "--fork", "--propagation", "private",
                "sh", "-c", ENTER, "enter", self.path, TOP, self.packages, *who, script]

    def run(self, script, user=None):
        return run(*self.words(script, user), env={
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8"})

    def debs(self, where="/packages"):
        return f"apt-get -qq update; apt-get -qq install -y {where}/ironcurtain_*.deb"


def digests(where):
    return {os.path.basename(p): hashlib.sha256(open(p, "rb").read()).hexdigest()
            for p in sorted(glob.glob(where + "/*")) if not os.path.isdir(p)}


def same_bytes(t, where, work):
    """Another directory, another user, another umask, locale and time zone."""
    tree, out = work + "/elsewhere/clone with spaces", work + "/second"
    os.makedirs(work + "/elsewhere")
    os.chmod(work, 0o755)
    run("git", "clone", "-q", "--no-hardlinks", TOP, tree)
    os.makedirs(out)
    run("chown", "-R", "nobody:", work + "/elsewhere", out)
    rc, said = run("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                   "env", "-i", "PATH=" + os.environ["PATH"], "HOME=" + out, "TZ=Asia/Kathmandu",
                   "LANG=C.UTF-8", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
                   "GIT_CONFIG_VALUE_0=*", "sh", "-c", "umask 077; exec \"$0\" \"$1\"",
                   tree + "/docker/packages/package.sh", out)
    if not t.check("a second build, elsewhere and by another user", rc == 0, said):
        return
    first, second = digests(where), digests(out)
    for name in sorted(set(first) | set(second)):
        t.check(f"{name} has the same bytes", first.get(name) == second.get(name),
                f"{first.get(name)} and {second.get(name)}")


def clean(t, where):
    debs = sorted(glob.glob(where + "/*.deb"))
    rc, said = run("lintian", "--fail-on", "error", "--no-tag-display-limit",
                   "--allow-root", *debs)
    t.check("lintian finds no error", rc == 0, said)
    document = json.load(open(glob.glob(where + "/*.spdx.json")[0], encoding="utf-8"))
    names = {p["name"] for p in document["packages"]}
    t.check("the SBOM names the libraries", {"libc6", "libseccomp2", "libssl3"} <= names,
            str(names))
    rc, said = run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=where)
    t.check("the checksums are of these files", rc == 0, said)


def used(t, root, brief=False):
    rc, said = root.run(root.debs() + " python3; useradd -m -s /bin/bash person")
    if not t.check("the package installs in a bare Debian", rc == 0, said):
        return
    rc, said = root.run("icctl --version", "person")
    t.check("icctl --version names the commit", rc == 0 and "commit " in said and
            (brief or "unknown" not in said), said)
    rc, said = root.run("find / -xdev -perm /6000 -path '*ironcurtain*'")
    t.check("nothing of it is setuid", rc == 0 and not said.strip(), said)
    rc, said = root.run("stat -c %a /usr/libexec/ironcurtain/keyd", "person")
    t.check("its workers cannot be read by users", said.strip() == "711", said)
    rc, said = root.run("python3 -B /src/tests/e2e/demo.py --prefix /usr", "person")
    t.check("the demo holds", rc == 0 and "All of it held" in said, said)
    rc, said = root.run("icctl doctor", "person")
    t.check("icctl doctor speaks of this system", "sandbox" in said, said)
    rc, said = root.run("python3 -B /src/tests/coverage/uncounted.py /usr/libexec/ironcurtain && "
                        "python3 -B /src/tests/coverage/uncounted.py /usr/bin")
    t.check("no program counts what it reaches", rc == 0, said)
    for kind, remedy in () if brief else KERNELS:
        rc, said = root.run("mkdir -p w; python3 -B /src/tests/lib/older_kernel.py "
                            f"{kind} icctl start --workspace ~/w -- true", "person")
        t.check(f"kernel {kind}: one line has the remedy",
                rc != 0 and sum(remedy in x for x in said.splitlines()) == 1, said)
    rc, said = root.run("dpkg --verify ironcurtain")
    t.check("dpkg finds its files as they were", rc == 0 and not said.strip(), said)


# A session of the older package, whose programs are replaced beneath it.
UPGRADE = r"""
person() { runuser -l person -c "$1"; }
person 'mkdir -m 700 -p w; printf "#!/bin/sh\ncat >>/workspace/said\necho done\n" >w/agent.sh; chmod 755 w/agent.sh'
person 'icctl start --detach --workspace ~/w -- /workspace/agent.sh'
person 'icctl send one'
apt-get -qq install -y /packages/ironcurtain_*.deb
dpkg-query -W -f '${Version}\n' ironcurtain
person 'icctl send two'
person 'icctl status'
person 'icctl stop'
cat /home/person/w/said
"""


def older(root, where):
    """The package that is upgraded from: this one under a lower version. Its
    programs are other files, which is what a running session notices."""
    deb, = glob.glob(where + "/ironcurtain_*.deb")
    tree = root.path + "/older/tree"
    os.makedirs(tree)
    run("dpkg-deb", "-R", deb, tree)
    control = tree + "/DEBIAN/control"
    with open(control, encoding="utf-8") as f:
        text = f.read()
    with open(control, "w", encoding="utf-8") as f:
        f.write(re.sub(r"(?m)^Version: .*$", "Version: 0.0.0-1", text))
    rc, said = run("dpkg-deb", "-b", "--root-owner-group", tree, root.path + "/older/ironcurtain_0.deb")
    shutil.rmtree(tree)
    return rc == 0, said


def upgraded(t, root, where):
    good, said = older(root, where)
    if not t.check("a package of an older version is made", good, said):
        return
    rc, said = root.run("apt-get -qq install -y --allow-downgrades /older/ironcurtain_0.deb")
    shutil.rmtree(root.path + "/older")
    if not t.check("it is installed", rc == 0, said):
        return
    rc, said = root.run(UPGRADE)
    t.check("a session runs while its package is upgraded", rc == 0, said)
    t.check("it goes on: the next message reaches its agent", "onetwo" in said.replace("\n", ""), said)
    t.check("and says that it goes on with its own programs",
            "those that the session began with" in said, said)


# Nothing of ours is installed, and no library that only we need.
BUNDLE = r"""
apt-get -qq autoremove -y --purge
apt-get -qq install -y bubblewrap ca-certificates python3 openssl
cat >/tmp/bundle.sh <<'E'
set -e
mkdir -p "a place"
tar -x -C "a place" -f /packages/ironcurtain-*-linux-*.tar.gz
cd "a place"
mv ironcurtain-* one
one/bin/icctl --version
python3 -B /src/tests/e2e/demo.py --prefix "$PWD/one"
mv one "two of them"
python3 -B /src/tests/e2e/demo.py --prefix "$PWD/two of them"
E
chmod 644 /tmp/bundle.sh
runuser -l person -c 'sh /tmp/bundle.sh'
"""


# The bundle that BUNDLE has left, where nobody can write.
READ_ONLY = r"""
at="/home/person/a place/two of them"
mount --bind "$at" "$at"
mount -o remount,bind,ro "$at"
! touch "$at/bin/new" 2>/dev/null
runuser -l person -c "python3 -B /src/tests/e2e/demo.py --prefix '$at'"
"""


def bundle(t, root):
    rc, said = root.run(BUNDLE)
    t.check("the bundle runs without the package, from any directory, and from "
            "another one when it is moved", rc == 0 and said.count("All of it held") == 2, said)
    rc, said = root.run(READ_ONLY)
    t.check("and from a read-only disk", rc == 0 and "All of it held" in said, said)


def removed(t, root):
    rc, said = root.run("apt-get -qq remove -y ironcurtain; ! command -v icctl; "
                        "! ls /usr/libexec/ironcurtain")
    t.check("it is removed, with its programs", rc == 0, said)


def gone(t, root):
    root.run("mkdir -p ~/.ironcurtain && echo '{}' >~/.ironcurtain/config.json", "person")
    rc, said = root.run("apt-get -qq purge -y ironcurtain")
    t.check("purge succeeds", rc == 0, said)
    rc, said = root.run("find / -xdev -path '*ironcurtain*' -not -path '/home/*' "
                        "-not -path '/src*' -not -path '/packages*' "
                        "-not -path '/var/lib/dpkg/*' -not -path '/var/cache/*' -not -path '/var/log/*'")
    t.check("and leaves nothing", not said.strip(), said)
    rc, said = root.run("cat ~/.ironcurtain/config.json", "person")
    t.check("but what is the user's", said.strip() == "{}", said)


def whole(t, where, work):
    clean(t, where)
    root = Root(work + "/root", where)
    rc, said = root.make()
    if t.check("a bare Debian is made", rc == 0, said):
        used(t, root)
        upgraded(t, root, where)
        gone(t, root)
        bundle(t, root)
    same_bytes(t, where, work)


def short(t, staged, work):
    """Makes the package beside the root: neither keeps two cores busy."""
    where = work + "/packages"
    with subprocess.Popen(
            [TOP + "/docker/packages/package.sh", where, "--staged", staged],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(
                os.environ, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory",
                GIT_CONFIG_VALUE_0="*")) as package:
        root = Root(work + "/root", where)
        rc, said = root.make()
        told = package.communicate()[0]
    if t.check("a bare Debian is made", rc == 0, said) and \
            t.check("and a package of these programs", package.returncode == 0, told):
        used(t, root, True)
        removed(t, root)
        gone(t, root)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("packages", nargs="?")
    p.add_argument("--counts", help="write passed, failed, skipped here")
    p.add_argument("--staged", metavar="TREE", help="a package of these programs")
    args = p.parse_args()
    if (args.packages is None) == (args.staged is None):
        p.error("give either DIR or --staged TREE")
    t, work = Results(), tempfile.mkdtemp(prefix="ic-packages-")
    try:
        if args.staged:
            short(t, os.path.abspath(args.staged), work)
        else:
            whole(t, os.path.abspath(args.packages), work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if args.counts:
        with open(args.counts, "w", encoding="ascii") as f:
            f.write(f"{t.passed} {t.failed} 0\n")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
