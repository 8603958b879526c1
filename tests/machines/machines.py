#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs doctor, the demo and the unit suite on other machines.

A machine is Debian 12's own kernel under qemu, with systemd as process 1 and a
root of Debian's packages, which apt downloads for that architecture and dpkg
unpacks: nothing is installed on the host, and nothing needs root. The tree and
its build are a second disk, mounted in the guest at the same path, so that paths
in the build are valid there as well. arm64 is cross-compiled against the
packages of its own root. The guest reports on its serial console."""
import argparse
import json
import os
import re
import selectors
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import image  # noqa: E402

LIBRARIES = ["libseccomp-dev", "libjson-c-dev", "libbsd-dev", "libssl-dev",
             "libnghttp2-dev", "zlib1g-dev", "libzstd-dev", "libvterm-dev",
             "libncurses-dev", "libmicrohttpd-dev",
             "libc6-dev"]
PROGRAMS = ["systemd", "systemd-sysv", "busybox-static", "kmod", "bubblewrap",
            "ca-certificates", "python3", "openssl", "curl", "nghttp2-client",
            "strace", "mandoc", "git", "libcap2-bin", "procps", "util-linux",
            "iproute2", "dbus-user-session"]
MACHINES = {
    "amd64": {
        "triplet": "x86_64-linux-gnu",
        "build": "build",
        "console": "ttyS0",
        "qemu": ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max"],
    },
    "arm64": {
        "triplet": "aarch64-linux-gnu",
        "build": "build-arm64",
        "console": "ttyAMA0",
        # The architected algorithm of pointer authentication takes most of the
        # time under emulation, and no test depends on the algorithm.
        "qemu": ["qemu-system-aarch64", "-machine", "virt", "-cpu",
                 "max,pauth-impdef=on"],
    },
}
CROSS = """[binaries]
c = {compiler}
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/aarch64-linux-gnu/pkgconfig:\
{root}/usr/share/pkgconfig'
[built-in options]
c_args = ['--sysroot={root}']
c_link_args = ['--sysroot={root}']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def say(text):
    print("machines: " + text, file=sys.stderr, flush=True)


def run(argv, **kw):
    return subprocess.run(argv, check=True, **kw)


def cross_build(root, build, work):
    """Builds for arm64 with the cross compiler, against `root`."""
    compiler = ["aarch64-linux-gnu-gcc"]
    if shutil.which("ccache"):
        compiler.insert(0, "ccache")
    cross = os.path.join(work, "cross.txt")
    with open(cross, "w") as f:
        f.write(CROSS.format(compiler=compiler, root=root))
    if not os.path.exists(os.path.join(build, "build.ninja")):
        run(["meson", "setup", build, TOP, "--prefix=/usr/local",
             "--cross-file", cross], stdout=subprocess.DEVNULL)
    say("building for arm64")
    run(["ninja", "-C", build, "--quiet"])
    run(["meson", "install", "-C", build, "--no-rebuild", "--quiet",
         "--destdir", os.path.join(build, "stage")],
        stdout=subprocess.DEVNULL)
    # A name service module as in later distributions: marked for BTI.
    module = os.path.join(build, "libnss_icbti.so.2")
    # Debian 12's start files are not marked, and the linker would report them.
    run(["aarch64-linux-gnu-gcc", "--sysroot=" + root, "-shared", "-fPIC",
         "-O2", "-nostartfiles", "-mbranch-protection=standard",
         "-Wl,-z,force-bti", "-Wl,--fatal-warnings", "-o", module,
         os.path.join(HERE, "nss_icbti.c")])


def unit_tests(build):
    """Returns the unit suite's tests: their commands and time limits."""
    out = run(["meson", "introspect", build, "--tests"],
              stdout=subprocess.PIPE).stdout
    return [{"name": t["name"], "cmd": t["cmd"], "timeout": t["timeout"],
             "env": t["env"]}
            for t in json.loads(out)
            if any(s.endswith(":unit") for s in t["suite"])]


def tree_disk(work, build, job):
    """Makes the disk with the tree, its build and the guest's job."""
    src = os.path.join(work, "tree")
    shutil.rmtree(src, ignore_errors=True)
    os.makedirs(src)
    names = run(["git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z",
                 "-co", "--exclude-standard"], stdout=subprocess.PIPE).stdout \
        if os.path.exists(os.path.join(TOP, ".git")) else \
        run("find . -name 'build*' -prune -o -type f -print0", shell=True,
            cwd=TOP, stdout=subprocess.PIPE).stdout
    files = [os.fsdecode(n) for n in names.split(b"\0") if n]
    for where, _, here in os.walk(build):
        if where.endswith(".p"):
            continue
        for n in here:
            if not n.endswith((".a", ".o", ".log")):
                files.append(os.path.relpath(os.path.join(where, n), TOP))
    for n in files:
        if not os.path.lexists(os.path.join(TOP, n)):
            continue
        to = os.path.join(src, n)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(os.path.join(TOP, n), to, follow_symlinks=False)
    with open(os.path.join(src, "job.json"), "w") as f:
        json.dump(job, f)
    disk = os.path.join(work, "tree.img")
    image.make_disk(src, disk, "1G", False)
    shutil.rmtree(src)
    return disk


def follow(argv, limit, log):
    """Runs qemu and prints its guest's reports. Returns the counts."""
    counts = {"ok": 0, "not ok": 0, "skip": 0}
    end = None
    deadline = time.monotonic() + limit
    guest = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
    sel = selectors.DefaultSelector()
    sel.register(guest.stdout, selectors.EVENT_READ)
    rest = b""
    try:
        with open(log, "wb") as f:
            while sel.select(max(0, deadline - time.monotonic())):
                data = os.read(guest.stdout.fileno(), 65536)
                if not data:
                    break
                f.write(data)
                f.flush()
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    text = line.decode("utf-8", "backslashreplace").strip()
                    m = re.search(r"LANE (ok|not ok|skip|end|\||#) ?(.*)",
                                  text)
                    if not m:
                        continue
                    print(f"{m[1]} {m[2]}", flush=True)
                    if m[1] in counts:
                        counts[m[1]] += 1
                    elif m[1] == "end":
                        end = m[2]
    finally:
        guest.kill()
        guest.wait()
    want = "{ok} {not ok} {skip}".format_map(counts)
    if end != want:
        counts["not ok"] += 1
        print("not ok the machine ended without its result: %s" %
              ("%s lines were expected, %s came" % (end, want) if end else
               "see " + log))
    return counts


def machine(arch, args):
    m = MACHINES[arch]
    work = os.path.join(TOP, "build-machines", arch)
    build = os.path.join(TOP, m["build"])
    os.makedirs(work, exist_ok=True)
    packages = ["linux-image-" + arch] + PROGRAMS + LIBRARIES
    root, fresh = image.make_root(arch, m["triplet"], work, packages, say)
    if arch == "arm64":
        cross_build(root, build, work)
    disk = os.path.join(work, "root.img")
    if fresh or not os.path.exists(disk):
        image.make_disk(root, disk, "3G", True)
    image.make_initrd(root, os.path.join(work, "initrd"),
                      os.path.join(HERE, "init.sh"))
    tree = tree_disk(work, build, {
        "arch": arch, "top": TOP, "build": build, "uid": os.getuid() or 1000,
        "factor": args.factor, "only": args.only, "tests": unit_tests(build)})
    kernel = image.kernel(root)
    command = m["qemu"] + [
        "-accel", "kvm" if args.kvm else "tcg,thread=multi", "-smp", "2",
        "-m", "3072", "-kernel", kernel, "-initrd",
        os.path.join(work, "initrd"), "-append",
        "console=%s root=/dev/vda rw loglevel=3 systemd.show_status=0 "
        "systemd.log_level=crit ic.top=%s" % (m["console"], TOP),
        "-drive", "file=%s,format=raw,if=virtio,snapshot=on" % disk,
        "-drive", "file=%s,format=raw,if=virtio,snapshot=on" % tree,
        "-nic", "none", "-display", "none", "-monitor", "none", "-serial",
        "stdio", "-no-reboot"]
    log = os.path.join(work, "console.log")
    say("booting %s: %s" % (arch, os.path.basename(kernel)))
    if args.print:
        print(shlex.join(command))
    return follow(command, args.minutes * 60, log)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("arch", nargs="*", default=list(MACHINES),
                   help="machines (default: amd64 arm64)")
    p.add_argument("--only", action="append", default=[],
                   help="run this: doctor, demo, cgroups, bti, or one unit "
                   "test")
    p.add_argument("--factor", type=int, default=10,
                   help="multiplies the tests' time limits (default 10)")
    p.add_argument("--minutes", type=int, default=60,
                   help="time limit of one machine (default 60)")
    p.add_argument("--counts", help="write passed, failed, skipped here")
    p.add_argument("--print", action="store_true", help="print qemu's command")
    args = p.parse_args()
    args.kvm = False
    total = {"ok": 0, "not ok": 0, "skip": 0}
    for arch in args.arch:
        if arch not in MACHINES:
            p.error("no such machine: " + arch)
        for k, v in machine(arch, args).items():
            total[k] += v
    line = "{ok} {not ok} {skip}".format_map(total)
    if args.counts:
        with open(args.counts, "w") as f:
            f.write(line + "\n")
    return 1 if total["not ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
