#!/usr/bin/env python3
"""Writes debian/copyright (DEP-5): copyright.py --wheel SITE_PACKAGES

Winnow's own paragraphs, then libtorch's from the licence file of the wheel that is packaged, so that a new wheel brings its own: each of its
third parties is named with licence and place, and the whole file's text follows once. MKL, which the wheel links and its file leaves out,
has packaging/libtorch/MKL-LICENCE.txt.
"""
import argparse
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
APACHE = """ Licensed under the Apache License, Version 2.0. On Debian systems, its text is in /usr/share/common-licenses/Apache-2.0."""


def indented(text):
    """As a field's continuation lines: an empty line is a full stop."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.splitlines())


def third_parties(licence):
    """(name, licence, places) of the list in the middle of the file."""
    pattern = re.compile(r"^Name: (.+)\nLicense: (.+)\nFiles: ((?:.+\n)(?:     .+\n)*)", re.M)
    for name, kind, places in pattern.findall(licence):
        yield name, kind, [place.strip(" ,") for place in places.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=pathlib.Path, required=True)
    found = sorted(parser.parse_args().wheel.glob("torch-*.dist-info"))
    if len(found) != 1:
        raise SystemExit("the folder has no torch wheel, or several")
    licences = found[0] / "licenses"
    licence = (licences / "LICENSE").read_text(encoding="utf-8", errors="replace")
    parties = list(third_parties(licence))
    if len(parties) < 40:
        raise SystemExit(f"only {len(parties)} third parties in {licences / 'LICENSE'}: has its form changed?")
    named = "\n".join(f" {name}: {kind} ({', '.join(place.removeprefix('/pytorch/') for place in places)})" for name, kind, places in parties)
    version = found[0].name.removeprefix("torch-").removesuffix(".dist-info")
    mkl = (HERE.parent / "libtorch" / "MKL-LICENCE.txt").read_text(encoding="utf-8")
    print(f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Winnow
Source: the source tree that has packaging/deb/build
Disclaimer: This package is not part of Debian. usr/lib/winnow/libtorch_cpu.so links Intel's oneMKL, which is not free software: it may be
 used and passed on in binary form, unmodified, with its notice, which is below.
Comment: libtorch_cpu.so and libc10.so are those of the wheel torch {version} on PyPI. Names in libtorch_cpu's dynamic string table were changed
 so that it does not ask for NVIDIA's libraries (packaging/libtorch/without_nvidia.py), and symbol tables were stripped; code and data are as
 they came.

Files: *
Copyright: 2026 The Winnow authors
License: Apache-2.0

Files: usr/share/winnow/speech/*
Copyright: 2020- Silero Team
License: Expat

Files: usr/lib/winnow/libtorch_cpu.so usr/lib/winnow/libc10.so
Copyright: 2016- Facebook, Inc. (Adam Paszke)
 2014- Facebook, Inc. (Soumith Chintala)
 2011-2014 Idiap Research Institute (Ronan Collobert)
 2012-2014 Deepmind Technologies (Koray Kavukcuoglu)
 2011-2012 NEC Laboratories America (Koray Kavukcuoglu)
 2011-2013 NYU (Clement Farabet)
 2006-2010 NEC Laboratories America (Ronan Collobert, Leon Bottou, Iain Melvin, Jason Weston)
 2006 Idiap Research Institute (Samy Bengio)
 2001-2004 Idiap Research Institute (Ronan Collobert, Samy Bengio, Johnny Mariethoz)
 Intel Corporation (oneMKL)
 and those named in the licence below
License: BSD-3-Clause-libtorch and Intel-Simplified
Comment: The wheel's licence file names these parts of libtorch's sources; which of them are in the CPU libraries, it does not say:
{named}

License: Apache-2.0
{APACHE}

License: Expat
{indented((HERE.parents[1] / "resources" / "speech" / "LICENSE").read_text(encoding="utf-8"))}

License: Intel-Simplified
{indented(mkl)}

License: BSD-3-Clause-libtorch
{indented(licence)}
 .
 The wheel's NOTICE:
 .
{indented((licences / "NOTICE").read_text(encoding="utf-8", errors="replace"))}""")


if __name__ == "__main__":
    main()
