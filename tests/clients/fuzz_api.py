#!/usr/bin/env python3
"""Schemathesis against what `winnow-cli serve` publishes at /openapi.json, with the demo model: bodies that fit the description, bodies
that do not, other methods, missing headers. No answer may be a 5xx, have a status or a form that is not described, or take what the
description forbids.

    python3 tests/clients/fuzz_api.py build/release/bin/winnow-cli [EXAMPLES]

EXAMPLES: how many of each kind and endpoint (100). Ends with 1 if a check failed; the report is on standard output."""
import pathlib
import subprocess
import sys

from served_model import go_on_with, served

# What fits the description may still be refused: a picture that is none, a method that is not known.
LEFT_OUT = "positive_data_acceptance"

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    go_on_with("schemathesis==4.32.5")
    examples = sys.argv[2] if len(sys.argv) == 3 else "100"
    with served(sys.argv[1], "--max-tokens", "8") as address:
        base = address.removesuffix("/v1")
        done = subprocess.run([pathlib.Path(sys.prefix) / "bin" / "schemathesis", "run", f"{base}/openapi.json", "--url", base,
                               "--max-examples", examples, "--phases", "examples,coverage,fuzzing", "--exclude-checks", LEFT_OUT,
                               "--request-timeout", "120", "--seed", "1", "--no-color"])
    sys.exit(done.returncode)
