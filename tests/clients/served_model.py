"""What the scripts of this folder share: an environment with a client of PyPI, and `winnow-cli serve` with the demo model."""
import base64
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import venv

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "demo" / "samples"


def environment(*packages, instead=None):
    """A Python with the packages, in a folder that is made once and kept. instead: what replaces a requirement of theirs that PyPI lacks."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = cache / "winnow-client-tests" / "+".join(packages)
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [python, "-m", "pip", "install", "-q"]
        if instead:
            (folder / "instead.txt").write_text(instead)
            subprocess.run([*pip, "uv"], check=True)
            pip = [folder / "bin" / "uv", "pip", "install", "-q", "--python", python, "--override", folder / "instead.txt"]
        subprocess.run([*pip, *packages], check=True)
        (folder / "ready").touch()
    return python


def go_on_with(*packages):
    """Runs the calling script under an environment that holds the packages."""
    python = environment(*packages)
    if sys.prefix != str(python.parents[1]):
        os.execv(python, [str(python), *sys.argv])


@contextlib.contextmanager
def serving(command, home):
    """The address at which the command, a `serve`, says that it answers; it ends with the block."""
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "WINNOW_HOME": str(home)})
    try:
        address = None
        while address is None:
            line = server.stderr.readline()
            if not line:
                sys.exit("the server ended before it answered")
            found = re.search(r"http://\S+/v1", line)
            address = found and found.group()
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


@contextlib.contextmanager
def served(program, *options):
    """The address of a server with a home of its own and the samples."""
    with tempfile.TemporaryDirectory() as home, serving(
            [program, "serve", "--port", "0", "--media-folder", str(SAMPLES), *options], home) as address:
        yield address


def data_uri(name, kind):
    return f"data:{kind};base64," + base64.b64encode((SAMPLES / name).read_bytes()).decode()


class Checks:
    def __init__(self):
        self.failed = 0

    def __call__(self, name, holds, told=""):
        print(f"{'ok  ' if holds else 'FAIL'} {name} {told}", flush=True)
        self.failed += not holds
