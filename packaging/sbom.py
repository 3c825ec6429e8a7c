#!/usr/bin/env python3
"""Writes what packages consist of, as SPDX 2.3: sbom.py --version VERSION [--bundled bundled.txt] FILE... >winnow.spdx.json

The files with their SHA-256, the pinned wheel of packaging/deps/libtorch.txt that libtorch is of, MKL within it, the Debian packages whose
libraries the tarball and the .deb made of it (`+own` in its version) carry, and those that a .deb asks for.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess

PACKAGING = pathlib.Path(__file__).resolve().parent


def spdx_id(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def package(identity, name, version, licence, **more):
    return {"SPDXID": identity, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def purl(kind):
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": kind}]


class Sbom:
    def __init__(self):
        self.packages = {}
        self.relations = []

    def add(self, entry):
        self.packages.setdefault(entry["SPDXID"], entry)
        return entry["SPDXID"]

    def relate(self, one, kind, other):
        self.relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})


def add_libtorch(sbom, owner):
    pinned = (PACKAGING / "deps" / "libtorch.txt").read_text()
    version, digest = re.search(r"^torch==(\S+) --hash=sha256:([0-9a-f]+)", pinned, re.M).groups()
    torch = sbom.add(package(spdx_id("torch", version), "torch", version, "BSD-3-Clause", externalRefs=purl(f"pkg:pypi/torch@{version}"),
                             checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
                             comment="libtorch_cpu.so and libc10.so of this wheel; the checksum is the wheel's"))
    mkl = sbom.add(package(spdx_id("oneMKL"), "Intel oneMKL", "NOASSERTION", "LicenseRef-Intel-Simplified", comment="linked within libtorch_cpu.so"))
    sbom.relate(owner, "CONTAINS", torch)
    sbom.relate(torch, "STATIC_LINK", mkl)


def add_bundled(sbom, owner, listing):
    for line in listing.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, version, source, source_version = line.split()
        built_here = "?arch=source" if name == source else ""  # FFmpeg, from Debian's sources (packaging/tarball/ffmpeg)
        part = sbom.add(package(spdx_id("deb", name, version), name, version, "NOASSERTION", externalRefs=purl(f"pkg:deb/debian/{name}@{version}{built_here}"),
                                sourceInfo=f"built from: {source} {source_version}"))
        sbom.relate(owner, "CONTAINS", part)


def add_needs(sbom, owner, deb):
    needs = subprocess.run(["dpkg-deb", "-f", deb, "Depends"], check=True, capture_output=True, text=True).stdout
    for need in needs.split(","):
        name, _, version = need.strip().partition(" ")
        sbom.relate(owner, "DEPENDS_ON", sbom.add(package(spdx_id("debian", name), name, version.strip("()"), "NOASSERTION")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--bundled", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    sbom = Sbom()
    for file in options.files:
        owner = sbom.add(package(spdx_id(file.name), file.name, options.version, "Apache-2.0", packageFileName=file.name,
                                 checksums=[{"algorithm": "SHA256", "checksumValue": sha256(file)}]))
        sbom.relate("SPDXRef-DOCUMENT", "DESCRIBES", owner)
        plugin = file.name.startswith("winnow-cuda_")
        if not plugin:
            add_libtorch(sbom, owner)
        if file.suffix == ".deb":
            add_needs(sbom, owner, file)
        if options.bundled and not plugin and (file.suffix != ".deb" or "+own" in file.name):
            add_bundled(sbom, owner, options.bundled)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    digests = "".join(entry["checksums"][0]["checksumValue"] for entry in sbom.packages.values() if "packageFileName" in entry)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"winnow-{options.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/winnow-{options.version}-{hashlib.sha256(digests.encode()).hexdigest()[:16]}",
        "creationInfo": {"created": created, "creators": ["Tool: winnow-sbom.py"]},
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-Intel-Simplified", "name": "Intel Simplified Software License",
                                        "extractedText": (PACKAGING / "libtorch" / "MKL-LICENCE.txt").read_text(encoding="utf-8")}],
        "packages": list(sbom.packages.values()), "relationships": sbom.relations}, indent=1))


if __name__ == "__main__":
    main()
