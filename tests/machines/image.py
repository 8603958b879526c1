# SPDX-License-Identifier: ISC
"""Makes roots, disks and initial ramdisks of the machines without
privileges."""
import glob
import os
import re
import shutil
import stat
import subprocess
import sys

# Kernel modules that no test needs, and documentation.
LEAVE = ["./usr/share/doc/*", "./usr/share/locale/*", "./usr/share/info/*"] + \
    ["./lib/modules/*/kernel/" + d for d in (
        "sound", "drivers/gpu", "drivers/media", "drivers/usb", "drivers/iio",
        "drivers/net/ethernet", "drivers/net/wireless", "drivers/scsi",
        "drivers/infiniband", "drivers/staging", "drivers/hwmon",
        "drivers/input", "drivers/mfd", "drivers/mtd")]
APT = """APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Install-Recommends "0";
APT::Sandbox::User "";
Dir::State "{d}";
Dir::State::status "{d}/status";
Dir::State::lists "{d}/lists";
Dir::Cache "{d}";
Dir::Cache::archives "{d}/archives";
Debug::NoLocking "1";
"""
UNIT = """[Unit]
Description=The tests of this machine

[Service]
Type=oneshot
ExecStart=/bin/sh /lane.sh

[Install]
WantedBy=multi-user.target
"""
MODULES = ["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"]


def run(argv, **kw):
    return subprocess.run(argv, check=True, **kw)


def release():
    with open("/etc/os-release") as f:
        rel = dict(line.strip().split("=", 1) for line in f if "=" in line)
    return rel.get("ID", "").strip('"'), rel.get("VERSION_ID", "").strip('"')


def download(arch, packages, work):
    """Lets apt fetch the packages, with a state of its own."""
    d = os.path.join(work, "apt")
    for sub in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(d, sub), exist_ok=True)
    open(os.path.join(d, "status"), "w").close()
    conf = os.path.join(d, "apt.conf")
    with open(conf, "w") as f:
        f.write(APT.format(arch=arch, d=d))
    env = dict(os.environ, APT_CONFIG=conf, DEBIAN_FRONTEND="noninteractive")
    run(["apt-get", "-qq", "update"], env=env)
    run(["apt-get", "-qq", "-y", "--download-only", "install", "?essential"] +
        packages, env=env, stdout=subprocess.DEVNULL)
    return sorted(glob.glob(os.path.join(d, "archives", "*.deb")))


def unpack(debs, root, triplet):
    """Unpacks the packages into a root with one /usr."""
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(os.path.join(root, "usr"))
    names = ["bin", "sbin", "lib"]
    if triplet.startswith("x86_64"):
        names.append("lib64")
    for n in names:
        os.makedirs(os.path.join(root, "usr", n))
        os.symlink("usr/" + n, os.path.join(root, n))
    leave = ["--exclude=" + e for e in LEAVE]
    for deb in debs:
        p = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                             stdout=subprocess.PIPE)
        run(["tar", "-x", "-p", "-C", root, "--keep-directory-symlink",
             "--no-same-owner", "--wildcards"] + leave, stdin=p.stdout)
        if p.wait() != 0:
            raise SystemExit("machines: %s cannot be unpacked" % deb)
    # Make links relative, so that the cross compiler can use the root as well.
    for where, dirs, files in os.walk(root):
        for n in dirs + files:
            link = os.path.join(where, n)
            if os.path.islink(link) and os.readlink(link).startswith("/"):
                to = os.path.relpath(root + os.readlink(link), where)
                os.unlink(link)
                os.symlink(to, link)


def write(root, name, text, mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


def link(root, name, to):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.lexists(path):
        os.symlink(to, path)


def configure(root):
    """Does by hand what packages do when they are configured."""
    base = os.path.join(root, "usr/share/base-passwd")
    with open(base + "/passwd.master") as f:
        passwd = f.read().replace(":*:", ":x:")
    with open(base + "/group.master") as f:
        group = f.read()
    uid = os.getuid() or 1000
    write(root, "etc/passwd", passwd +
          f"tester:x:{uid}:{uid}::/home/tester:/bin/bash\n")
    write(root, "etc/group", group + f"tester:x:{uid}:\n")
    write(root, "etc/machine-id", "6963" * 8 + "\n")
    write(root, "etc/hostname", "machine\n")
    write(root, "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    write(root, "etc/resolv.conf", "")
    write(root, "etc/nsswitch.conf", "passwd: files\ngroup: files\n"
          "hosts: files dns\n")
    write(root, "etc/fstab", "")
    write(root, "etc/ld.so.conf.d/none.conf", "")
    certs = sorted(glob.glob(
        os.path.join(root, "usr/share/ca-certificates/mozilla/*.crt")))
    text = ""
    for c in certs:
        with open(c) as f:
            text += f.read()
    write(root, "etc/ssl/certs/ca-certificates.crt", text)
    link(root, "usr/bin/awk", "mawk")
    link(root, "usr/bin/which", "which.debianutils")
    link(root, "usr/bin/sh", "dash")
    link(root, "var/run", "../run")
    link(root, "var/lock", "../run/lock")
    link(root, "etc/mtab", "../proc/self/mounts")
    link(root, "etc/systemd/system/default.target",
         "../../../usr/lib/systemd/system/multi-user.target")
    write(root, "etc/systemd/system/lane.service", UNIT)
    link(root, "etc/systemd/system/multi-user.target.wants/lane.service",
         "../lane.service")
    for n in ("serial-getty@.service", "getty@.service",
              "systemd-firstboot.service"):
        link(root, "etc/systemd/system/" + n, "/dev/null")


def make_root(arch, triplet, work, packages, say):
    """Makes the root folder of a machine. Returns it, and whether it is
    new."""
    root = os.path.join(work, "root")
    done = os.path.join(work, "root.done")
    with open(__file__) as f:
        want = f.read() + " ".join(packages)
    if os.path.exists(done):
        with open(done) as f:
            if f.read() == want:
                return root, False
    if release() != ("debian", "12"):
        raise SystemExit("machines: the packages come from Debian 12's own "
                         "sources; this is not Debian 12")
    say("downloading Debian's packages for " + arch)
    debs = download(arch, packages, work)
    say("unpacking %d packages" % len(debs))
    unpack(debs, root, triplet)
    configure(root)
    with open(done, "w") as f:
        f.write(want)
    return root, True


def make_disk(root, disk, size, as_root):
    """Makes an ext4 disk from a folder. If `as_root`, its files belong to
    root."""
    if os.path.exists(disk):
        os.unlink(disk)
    command = ["mke2fs", "-q", "-t", "ext4", "-m", "0", "-d", root, disk, size]
    run((["unshare", "-r"] if as_root and os.getuid() else []) + command,
        stdout=subprocess.DEVNULL,
        env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))


def kernel(root):
    return glob.glob(os.path.join(root, "boot/vmlinuz-*"))[0]


def module_order(root):
    """Returns the modules that the root disk needs, each after its
    dependencies."""
    files = {}
    for path in glob.glob(os.path.join(root, "usr/lib/modules/*/kernel/**/*.ko"),
                          recursive=True):
        files[os.path.basename(path)[:-3].replace("-", "_")] = path
    order = []

    def add(name):
        if name not in files or files[name] in order:
            return
        with open(files[name], "rb") as f:
            found = re.search(rb"\0depends=([^\0]*)\0", f.read())
        for other in (found[1].decode().split(",") if found else []):
            add(other.replace("-", "_"))
        order.append(files[name])
    for name in MODULES:
        if name not in files:
            sys.exit("machines: the kernel has no module " + name)
        add(name)
    return order


def make_initrd(root, to, init):
    """Makes a ramdisk with busybox and those modules, which mounts both
    disks."""
    entries = []
    for d in ("bin", "dev", "proc", "root", "modules"):
        entries.append((d, stat.S_IFDIR | 0o755, b""))
    with open(os.path.join(root, "usr/bin/busybox"), "rb") as f:
        entries.append(("bin/busybox", stat.S_IFREG | 0o755, f.read()))
    with open(init, "rb") as f:
        entries.append(("init", stat.S_IFREG | 0o755, f.read()))
    for i, path in enumerate(module_order(root)):
        with open(path, "rb") as f:
            entries.append(("modules/%02d.ko" % i, stat.S_IFREG | 0o644,
                            f.read()))
    entries.append(("TRAILER!!!", 0, b""))
    with open(to, "wb") as f:
        for i, (name, mode, data) in enumerate(entries):
            head = b"070701" + b"".join(b"%08X" % v for v in (
                i + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                len(name) + 1, 0))
            f.write(head + name.encode() + b"\0")
            f.write(b"\0" * (-f.tell() % 4))
            f.write(data)
            f.write(b"\0" * (-f.tell() % 4))
