#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""sbom.py PACKAGE.deb: prints an SPDX 2.3 document (JSON) that names the
program package and each library that its programs are linked with, as the
dynamic sections say and as dpkg knows their packages on this machine."""
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def needed(path):
    """The names of the shared libraries in a program's dynamic section."""
    out = subprocess.run(["readelf", "-d", path], capture_output=True, text=True)
    return {line.split("[")[1].split("]")[0] for line in out.stdout.splitlines()
            if "(NEEDED)" in line}


def libraries(root):
    names = set()
    for path in sorted(pathlib.Path(root).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            names |= needed(path)
    return sorted(names)


def package_of(library):
    """The package of a library, its version, and where the library lies."""
    lines = run("/sbin/ldconfig", "-p").splitlines()
    for line in lines:
        if line.split()[:1] == [library]:
            path = line.rsplit("=> ", 1)[1]
            break
    else:
        raise SystemExit(f"sbom.py: {library} is not on this machine")
    places = {path, os.path.realpath(path), path.replace("/lib/", "/usr/lib/", 1),
              os.path.realpath(path).replace("/usr/lib/", "/lib/", 1)}
    for place in sorted(places):
        found = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True)
        if found.returncode == 0:
            package = found.stdout.split(": ")[0].split(",")[0]
            version = run("dpkg-query", "-W", "-f", "${Version}", package)
            return package.split(":")[0], version
    raise SystemExit(f"sbom.py: no package has {path}")


def component(name, version, **more):
    safe = "".join(c if c.isalnum() or c in ".-" else "-" for c in name)
    return {"SPDXID": f"SPDXRef-{safe}", "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more}


def main(deb):
    name, version = run("dpkg-deb", "-f", deb, "Package", "Version").split()[1::2]
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
        linked = {package_of(library) for library in libraries(root)}
    digest = hashlib.sha256(pathlib.Path(deb).read_bytes()).hexdigest()
    ours = component(name, version, licenseDeclared="ISC",
                     checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    theirs = [component(n, v, supplier="Organization: Debian",
                        externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                                       "referenceType": "purl",
                                       "referenceLocator": f"pkg:deb/debian/{n}@{v}"}])
              for n, v in sorted(linked)]
    made = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"urn:ironcurtain:{name}:{version}:{digest}",
        "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: docker/packages/sbom.py"]},
        "documentDescribes": [ours["SPDXID"]],
        "packages": [ours, *theirs],
        "relationships": [{"spdxElementId": ours["SPDXID"],
                           "relationshipType": "DYNAMIC_LINK",
                           "relatedSpdxElement": t["SPDXID"]} for t in theirs],
    }, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
