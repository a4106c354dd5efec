#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an image is made of.

  sbom.py owners ROOT ARCHIVES    the packages of the folder ARCHIVES that files below ROOT are from
  sbom.py document ROOT ARCHIVES ARCHITECTURE VERSION REVISION EPOCH
                                  the bill of materials, in the JSON of SPDX 2.3

The same files give the same document."""

import datetime
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import urllib.parse
import uuid

NAME = "karmada-policy-exporter"
MADE_OF = {"etc/ssl/certs/ca-certificates.crt": "ca-certificates"}
UNKNOWN = "NOASSERTION"
# Debian's names of licences that SPDX calls otherwise.
LICENCES = {
    "expat": "MIT",
    "mit": "MIT",
    "x11": "X11",
    "isc": "ISC",
    "zlib": "Zlib",
    "curl": "curl",
    "apache-2": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "mpl-2.0": "MPL-2.0",
    "openldap-2.8": "OLDAP-2.8",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause",
    "bsl-1.0": "BSL-1.0",
    "fsfullr": "FSFULLR",
    "unicode-dfs-2016": "Unicode-DFS-2016",
    "cc0-1.0": "CC0-1.0",
}
GNU = re.compile(r"(A?GPL|LGPL|GFDL)-(\d)(?:\.(\d))?(\+?)", re.IGNORECASE)


def identifier(text):
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)


# ---- packages


class Package:
    """A .deb: what its control file says, and the paths of its files."""

    def __init__(self, path):
        self.path = path
        fields = subprocess.run(
            [
                "dpkg-deb",
                "--show",
                "--showformat",
                "${Package}\n${Version}\n${Architecture}\n${source:Package}\n${source:Version}",
                path,
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split("\n")
        self.name, self.version, self.architecture, self.source, self.source_version = fields
        files = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            self.paths = {m.name.removeprefix("./") for m in archive if not m.isdir()}

    def purl(self, release):
        version = urllib.parse.quote(self.version, safe="")
        return (
            f"pkg:deb/debian/{self.name}@{version}?arch={self.architecture}&distro=debian-{release}"
        )


def owned_files(root, archives):
    """Packages by name, and for each file below root the name of its package; None: ours."""
    packages = {p.name: p for p in map(Package, sorted(archives.glob("*.deb")))}
    owners = {path: p.name for p in packages.values() for path in p.paths}
    found = {}
    for file in sorted(root.rglob("*")):
        if file.is_dir() and not file.is_symlink():
            continue
        path = str(file.relative_to(root))
        of_its_licence = re.fullmatch("usr/share/doc/([^/]+)/copyright", path)
        found[path] = owners.get(path) or MADE_OF.get(path)
        if not found[path] and of_its_licence and of_its_licence[1] in packages:
            found[path] = of_its_licence[1]
    return packages, found


# ---- licences


class Copyright:
    """A debian/copyright that machines can read: all licences of the sources, for SPDX."""

    def __init__(self, package, text):
        self.package = package
        self.texts = {}  # of licences, by Debian's name
        self.extracted = {}  # those that SPDX has no name for
        self.expression = UNKNOWN
        if not re.match(
            r"Format:\s*https?://www\.debian\.org/doc/packaging-manuals/", text
        ):
            return
        stated = []
        for paragraph in re.split(r"\n\s*\n", text):
            licence = re.search(r"^License:[ \t]*(.*)((?:\n[ \t].*)*)", paragraph, re.MULTILINE)
            if not licence:
                continue
            name = licence[1].strip()
            if licence[2].strip() or name not in self.texts:
                self.texts[name] = licence[2].strip()
            files = re.search(r"^Files:\s*(.*)", paragraph, re.MULTILINE)
            if files and not files[1].startswith("debian/"):
                stated.append(name)
        terms = sorted({self.translate(name) for name in stated if name})
        if terms and None not in terms and "" not in terms:
            self.expression = " AND ".join(f"({t})" if " " in t else t for t in terms)

    def translate(self, stated):
        words = re.split(r"\s*,?\s+(and|or)\s+", stated, flags=re.IGNORECASE)
        words[::2] = map(self.translate_one, words[::2])
        if "" in words:
            return ""
        if len(set(map(str.lower, words[1::2]))) > 1:  # which binds closer?
            return self.refer(stated)
        return " ".join(w.upper() if i % 2 else w for i, w in enumerate(words))

    def translate_one(self, name):
        gnu = GNU.fullmatch(name)
        if gnu:
            return f"{gnu[1].upper()}-{gnu[2]}.{gnu[3] or 0}-{'or-later' if gnu[4] else 'only'}"
        return LICENCES.get(name.lower()) or self.refer(name)

    def refer(self, name):
        """Its text goes into the document; nothing if there is none."""
        if not self.texts.get(name):
            return ""
        reference = identifier(f"LicenseRef-{self.package}-{name}")
        self.extracted[reference] = {
            "licenseId": reference,
            "name": name,
            "extractedText": self.texts[name],
        }
        return reference


# ---- the document


def digest(path, algorithm):
    return hashlib.new(algorithm, path.read_bytes()).hexdigest()


def file_entry(root, path):
    return {
        "SPDXID": f"SPDXRef-File-{hashlib.sha1(path.encode()).hexdigest()[:16]}",
        "fileName": f"./{path}",
        "checksums": [
            {"algorithm": name.upper(), "checksumValue": digest(root / path, name)}
            for name in ("sha1", "sha256")
        ],
        "licenseConcluded": UNKNOWN,
        "licenseInfoInFiles": [UNKNOWN],
        "copyrightText": UNKNOWN,
    }


def package_entry(name, version, purl, licence, files, **more):
    sums = sorted(f["checksums"][0]["checksumValue"] for f in files)
    return {
        "SPDXID": f"SPDXRef-Package-{identifier(name)}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": True,
        "packageVerificationCode": {
            "packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()
        },
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": licence,
        "copyrightText": UNKNOWN,
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": purl,
            }
        ],
        **more,
    }


def debian_entry(root, package, release, files, extracted):
    text = (root / f"usr/share/doc/{package.name}/copyright").read_text(errors="replace")
    licence = Copyright(package.name, text)
    if licence.expression != UNKNOWN:
        extracted.update(licence.extracted)
    return package_entry(
        package.name,
        package.version,
        package.purl(release),
        licence.expression,
        files,
        supplier="Organization: Debian",
        checksums=[{"algorithm": "SHA256", "checksumValue": digest(package.path, "sha256")}],
        sourceInfo=f"built by Debian from {package.source} {package.source_version}",
        comment="The image has those of its files that are listed.",
    )


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(root, archives, architecture, version, revision, epoch):
    packages, owners = owned_files(root, archives)
    files = {p: file_entry(root, p) for p in owners if not (root / p).is_symlink()}
    release = packages["base-files"].version.split(".", maxsplit=1)[0]
    by_owner = {}
    for path, entry in files.items():
        by_owner.setdefault(owners[path], []).append(entry)

    ours = package_entry(
        NAME,
        version,
        f"pkg:generic/{NAME}@{version}",
        "Apache-2.0",
        by_owner.pop(None),
        supplier=UNKNOWN,
        primaryPackagePurpose="APPLICATION",
        sourceInfo=f"built from the commit {revision}",
    )
    extracted, entries, relations = (
        {},
        [ours],
        [relation("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"])],
    )
    for name in sorted(by_owner):
        entries.append(debian_entry(root, packages[name], release, by_owner[name], extracted))
        relations.append(relation(ours["SPDXID"], "DEPENDS_ON", entries[-1]["SPDXID"]))
    for path, entry in files.items():
        owner = f"SPDXRef-Package-{identifier(owners[path] or NAME)}"
        relations.append(relation(owner, "CONTAINS", entry["SPDXID"]))

    body = {
        "packages": entries,
        "files": list(files.values()),
        "relationships": relations,
        "hasExtractedLicensingInfos": [extracted[k] for k in sorted(extracted)],
    }
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    title = f"{NAME}-{version}-{architecture}"
    created = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": title,
        "documentNamespace": f"https://spdx.org/spdxdocs/{title}-{unique}",
        "creationInfo": {
            "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
            "creators": [f"Tool: {NAME}-sbom"],
        },
        **body,
    }


def main(what, root, archives, *about):
    root, archives = pathlib.Path(root), pathlib.Path(archives)
    if what == "owners":
        print(*sorted({name for name in owned_files(root, archives)[1].values() if name}), sep="\n")
    else:
        print(json.dumps(document(root, archives, *about), indent=1))


main(*sys.argv[1:])
