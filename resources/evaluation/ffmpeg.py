"""Runs ffmpeg, which reads the glyphs and writes the videos of the needle test."""

import subprocess

from item_lines import BadSource


def run_ffmpeg(arguments: list[str], given: bytes = b"") -> bytes:
    """given: its standard input. Returns what it writes to standard output."""
    try:
        return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], input=given, check=True, capture_output=True).stdout
    except FileNotFoundError as problem:
        raise BadSource("ffmpeg is missing; run: sudo apt-get install ffmpeg") from problem
    except subprocess.CalledProcessError as problem:
        raise BadSource(f"ffmpeg: {problem.stderr.decode(errors='replace').strip()}") from problem
