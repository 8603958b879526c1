# SPDX-License-Identifier: ISC
"""Generates packages for test_registry.py as registries serve them: a tree of
paths for tests/lib/standins/registry.py."""
import base64
import hashlib
import io
import json
import tarfile
import time
import zipfile

DAY = 86400


def when(days):
    """Returns the time of publication that many days ago, in registries'
    format."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z",
                         time.gmtime(time.time() - days * DAY))


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            info.mode = 0o644
            t.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def wheel(name, version):
    info = f"{name}-{version}.dist-info"
    files = {f"{name}.py": f"VERSION = '{version}'\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\n"
                                 f"Version: {version}\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
                              "Root-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{n},,\n" for n in files) + f"{info}/RECORD,,\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for n, text in {**files, f"{info}/RECORD": record}.items():
            z.writestr(n, text)
    return out.getvalue()


class Tree:
    def __init__(self, files_host):
        self.files_host = files_host
        self.rows = {}
        self.files = {}

    def put(self, path, body, **more):
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else
                    json.dumps(body)).encode()
        self.files[path] = body
        self.rows[path] = {"body": base64.b64encode(body).decode(), **more}

    def npm(self, name, versions, latest, **more):
        """versions: version -> (age in days or None, dependencies)."""
        base = name.rsplit("/", 1)[-1]
        doc = {"_id": name, "name": name, "dist-tags": {"latest": latest},
               "versions": {}, "time": {"created": when(900),
                                        "modified": when(0)}}
        for v, (age, deps) in versions.items():
            manifest = {"name": name, "version": v, "dependencies": deps}
            data = tar({"package/package.json": json.dumps(manifest),
                        "package/index.js":
                        f"module.exports = '{name} {v}';\n"})
            path = f"/{name}/-/{base}-{v}.tgz"
            self.put("/npm" + path, data, type="application/octet-stream")
            doc["versions"][v] = {**manifest, "_npmUser": {"name": "u"}, "dist": {
                "tarball": "https://npm.test" + path,
                "shasum": hashlib.sha1(data).hexdigest(),
                "integrity": "sha512-" + base64.b64encode(
                    hashlib.sha512(data).digest()).decode()}}
            if age is not None:
                doc["time"][v] = when(age)
        self.put("/npm/" + name.replace("/", "%2f"), {**doc, **more})

    def pypi(self, name, versions):
        """versions: version -> age in days or None."""
        files = []
        for v, age in versions.items():
            data = wheel(name, v)
            digest = hashlib.sha256(data).hexdigest()
            file = f"{name}-{v}-py3-none-any.whl"
            path = f"/packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{file}"
            self.put("/files" + path, data, type="application/octet-stream")
            self.put("/files" + path + ".metadata",
                     f"Metadata-Version: 2.1\nName: {name}\nVersion: {v}\n")
            entry = {"filename": file, "url": f"https://{self.files_host}{path}",
                     "hashes": {"sha256": digest}, "requires-python": ">=3",
                     "yanked": False}
            if age is not None:
                entry["upload-time"] = when(age)
            files.append(entry)
        self.put(f"/pypi/simple/{name}/", {
            "meta": {"api-version": "1.1"}, "name": name, "files": files,
            "versions": list(versions)},
            type="application/vnd.pypi.simple.v1+json")
        return [f["url"].removeprefix(f"https://{self.files_host}") for f in files]

    def debian(self, packages):
        """Adds a repository "plain", unsigned. packages: name -> version."""
        index = ""
        for name, version in packages.items():
            data = f"deb of {name}".encode()
            path = f"pool/main/{name[0]}/{name}/{name}_{version}_all.deb"
            # As apt writes it in a URL.
            self.put("/deb/debian/" + path.replace("+", "%2b"), data)
            index += (f"Package: {name}\nVersion: {version}\n"
                      "Architecture: all\nMaintainer: T <t@example.org>\n"
                      f"Description: t\nFilename: {path}\nSize: {len(data)}\n"
                      f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n")
        arch = ""
        for where in ("main/binary-amd64", "main/binary-arm64",
                      "main/binary-all"):
            self.put(f"/deb/debian/dists/plain/{where}/Packages", index)
            arch += (f" {hashlib.sha256(index.encode()).hexdigest()} "
                     f"{len(index)} {where}/Packages\n")
        self.put("/deb/debian/dists/plain/Release",
                 "Suite: plain\nCodename: plain\nComponents: main\n"
                 "Architectures: amd64 arm64 all\n"
                 f"Date: {time.strftime('%a, %d %b %Y %H:%M:%S UTC', time.gmtime())}\n"
                 f"SHA256:\n{arch}", type="text/plain")

    def crate(self, name, versions, deps=(), **more):
        """versions: version -> age in days or None; more: members for its file
        in the index; deps: other crates, in any version from 1 up."""
        lines = []
        deps = [{"name": d, "req": "^1", "features": [], "optional": False,
                 "default_features": True, "target": None, "kind": "normal"}
                for d in deps]
        for v, age in versions.items():
            manifest = (f'[package]\nname="{name}"\nversion="{v}"\n'
                        '[dependencies]\n')
            data = tar({f"{name}-{v}/Cargo.toml": manifest + "".join(
                            f'{d["name"]}="1"\n' for d in deps),
                        f"{name}-{v}/src/lib.rs": ""})
            # At both paths that an index file may lead to.
            for path in (f"{name}-{v}.crate", f"{v}/download"):
                self.put(f"/static/crates/{name}/{path}", data,
                         type="application/gzip")
            line = {"name": name, "vers": v, "deps": deps, "features": {},
                    "cksum": hashlib.sha256(data).hexdigest(),
                    "yanked": False}
            if age is not None:
                line["pubtime"] = when(age).replace(".000Z", "Z")
            lines.append(json.dumps(line))
        low = name.lower()
        place = {1: "1", 2: "2", 3: "3/" + low[0]}.get(
            len(low), f"{low[:2]}/{low[2:4]}")
        self.put(f"/index/{place}/{low}", "\n".join([*lines, "{broken"]) +
                 "\n", type="text/plain", **more)


def modified(days):
    return {"headers": {"Last-Modified": time.strftime(
        "%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - days * DAY))}}


def tree(files="files.test", static="static.test"):
    t = Tree(files)
    t.npm("good-lib", {"1.0.0": (400, {"dep-lib": "^2.0.0"}),
                       "1.1.0": (1, {}), "1.2.0": (None, {})}, "1.1.0")
    t.npm("dep-lib", {"2.0.0": (300, {}), "2.1.0": (0, {})}, "2.1.0")
    t.npm("@team/util", {"0.1.0": (30, {}), "0.2.0": (0.5, {})}, "0.2.0")
    t.npm("fresh-lib", {"1.0.0": (1.5, {})}, "1.0.0")
    t.npm("ours-lib", {"1.0.0": (0, {})}, "1.0.0")
    t.npm("evil-lib", {"1.0.0": (500, {})}, "1.0.0")
    t.npm("unasked-lib", {"1.0.0": (50, {}), "1.1.0": (0, {})}, "1.0.0")
    t.npm("liar-lib", {"1.0.0": (50, {})}, "1.0.0")
    # A file that the index does not list.
    t.put("/npm/liar-lib/-/liar-lib-9.9.9.tgz", b"unlisted")
    t.npm("cut-lib", {"1.0.0": (50, {})}, "1.0.0")
    t.rows["/npm/cut-lib"]["cut"] = True
    t.npm("large-lib", {"1.0.0": (50, {})}, "1.0.0")
    t.rows["/npm/large-lib"]["announce"] = (64 << 20) + 1
    t.npm("endless-lib", {"1.0.0": (50, {})}, "1.0.0")
    t.rows["/npm/endless-lib"]["stream"] = 66 << 20
    t.npm("wide-lib", {"1.0.0": (50, {})}, "1.0.0",
          readme="wide " * (2 << 20))
    t.put("/npm/other-lib", {"name": "else-lib", "versions": {}, "time": {}})
    t.put("/npm/html-lib", "<!DOCTYPE html><p>hello", type="text/html")
    t.put("/npm/twice-lib", '{"name":"twice-lib","versions":{},"versions":{}}')
    t.put("/npm/fail-lib", b"x", status=500)
    t.put("/npm/moved-lib", b"", status=302,
          headers={"Location": "https://npm.test/good-lib"})
    t.put("/npm/coded-lib", b"x", headers={"Content-Encoding": "gzip"})
    t.put("/npm/-/v1/search?text=x", {"objects": []})
    t.wheels = t.pypi("wheelie", {"1.0": 100, "2.0": 1, "3.0": None})
    t.put("/pypi/simple/html-only/", "<a href='x'>x</a>", type="text/html")
    t.crate("rusty", {"1.0.0": 100, "1.1.0": 1, "1.2.0": None})
    t.crate("crab-claw", {"1.0.0": 50, "1.0.1": 0}, ["rusty", "Mixed_Case"])
    t.crate("Mixed_Case", {"1.0.0": 3, "1.1.0": 1})
    for name in ("a", "ab", "abc"):
        t.crate(name, {"1.0.0": 700, "1.0.1": 1})
    t.crate("olden", {"1.0.0": None}, **modified(3))
    t.crate("newish", {"1.0.0": None}, **modified(1))
    t.crate("fresh-crate", {"1.0.0": 1})
    t.crate("evil", {"1.0.0": 500})
    t.crate("forged", {"1.0.0": 500})
    t.put("/static/crates/forged/1.0.0/download", tar({"x": "y"}),
          type="application/gzip")
    t.put("/index/config.json", {"dl": f"https://{static}/crates",
                                 "api": "https://crates.test"})
    t.debian({"hello-plus": "2.10-3+b1", "evil": "1.0-1"})
    deb = "/debian/pool/main/h/hello/hello_2.10-3_amd64.deb"
    t.put("/deb" + deb, b"deb of hello", type="application/x-debian-package")
    t.put("/deb" + deb.replace("hello", "evil"), b"deb of evil")
    t.put("/deb/debian/dists/stable/InRelease", b"signed", type="text/plain")
    return t
