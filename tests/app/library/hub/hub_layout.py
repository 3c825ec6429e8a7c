#!/usr/bin/env python3
"""Whether the hub's own library and Winnow read what the other has fetched: the same cache, through a hub on this machine.

    python3 -m venv /tmp/hub-layout && /tmp/hub-layout/bin/pip install huggingface_hub
    /tmp/hub-layout/bin/python tests/app/library/hub/hub_layout.py --cli build/release/bin/winnow-cli

Prints what was done and the bytes that travelled; ends with an error at the first disagreement. It needs a package and
is no part of the suite.
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading

REPOSITORY, COMMIT = "someone/small-GGUF", "c" * 40
FILES = {"Small-Q4_K_M.gguf": b"GGUF" + b"m" * 300_000, "Small-Q8_0.gguf": b"GGUF" + b"k" * 500_000,
         "mmproj-Small-F16.gguf": b"GGUF" + b"p" * 90_000, "README.md": b"# Small\n"}


def is_large(name):
    return name.endswith(".gguf")


def digest(name):
    data = FILES[name]
    return hashlib.sha256(data).hexdigest() if is_large(name) else hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    travelled = 0
    storage = ""  # of another host, as the hub's is

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path in (f"/api/models/{REPOSITORY}/revision/main", f"/api/models/{REPOSITORY}/revision/{COMMIT}", f"/api/models/{REPOSITORY}"):
            siblings = [{"rfilename": name} for name in FILES]
            described = {"id": REPOSITORY, "sha": COMMIT, "gated": False, "private": False, "siblings": siblings, "tags": []}
            return self.answer(200, json.dumps(described).encode(), Content_Type="application/json")
        if path.startswith(f"/api/models/{REPOSITORY}/tree/"):
            tree = []
            for name, data in FILES.items():
                item = {"type": "file", "path": name, "size": len(data), "oid": digest(name) if not is_large(name) else "2" * 40}
                if is_large(name):
                    item["lfs"] = {"oid": digest(name), "size": len(data), "pointerSize": 134}
                tree.append(item)
            return self.answer(200, json.dumps(tree).encode(), Content_Type="application/json")
        name = path.rsplit("/", 1)[-1]
        if "/resolve/" in path and name in FILES:
            commit = {"X_Repo_Commit": COMMIT}
            if is_large(name):
                return self.answer(302, Location=f"{Hub.storage}/storage/{name}", X_Linked_Etag=f'"{digest(name)}"',
                                   X_Linked_Size=str(len(FILES[name])), **commit)
            return self.data(name, ETag=f'"{digest(name)}"', **commit)
        if path.startswith("/storage/"):
            return self.data(name, ETag=f'"{digest(name)}"')
        return self.answer(404, b"{}", X_Error_Code="EntryNotFound")

    do_HEAD = do_GET

    def data(self, name, **headers):
        start = int(self.headers["Range"].removeprefix("bytes=").split("-")[0]) if "Range" in self.headers else 0
        body = FILES[name][start:]
        if self.command != "HEAD":
            Hub.travelled += len(body)
        if start:
            headers["Content_Range"] = f"bytes {start}-{len(FILES[name]) - 1}/{len(FILES[name])}"
        self.answer(206 if start else 200, body, **headers)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=pathlib.Path, required=True, help="winnow-cli")
    cli = parser.parse_args().cli
    server, storage = (http.server.ThreadingHTTPServer((host, 0), Hub) for host in ("127.0.0.1", "127.0.0.2"))
    for each in (server, storage):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    endpoint, Hub.storage = f"http://127.0.0.1:{server.server_port}", f"http://127.0.0.2:{storage.server_port}"
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": f"{home}/hf"}
        import huggingface_hub

        def winnow(cache, *words):
            environment = os.environ | {"HF_HUB_CACHE": cache, "WINNOW_HOME": f"{home}/winnow"}
            run = subprocess.run([cli, "get", *words], env=environment, capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            return run.stdout.strip()

        ours, theirs = f"{home}/ours", f"{home}/theirs"
        path = winnow(ours, f"{REPOSITORY}:Q4_K_M")
        fetched = Hub.travelled
        for name in ("Small-Q4_K_M.gguf", "mmproj-Small-F16.gguf"):
            found = huggingface_hub.hf_hub_download(REPOSITORY, name, cache_dir=ours, local_files_only=True)
            assert pathlib.Path(found).read_bytes() == FILES[name], found
        found = huggingface_hub.hf_hub_download(REPOSITORY, "Small-Q4_K_M.gguf", cache_dir=ours)
        assert pathlib.Path(path).resolve() == pathlib.Path(found).resolve(), found
        assert Hub.travelled == fetched, "the library fetched again what Winnow has"
        scan = huggingface_hub.scan_cache_dir(ours)
        assert not scan.warnings and [repository.repo_id for repository in scan.repos] == [REPOSITORY], scan
        print(f"Winnow fetched {fetched} bytes; huggingface_hub {huggingface_hub.__version__} finds them and fetches none")

        for name in ("Small-Q8_0.gguf", "mmproj-Small-F16.gguf"):
            huggingface_hub.hf_hub_download(REPOSITORY, name, cache_dir=theirs)
        before = Hub.travelled
        for words in ((f"{REPOSITORY}:Q8_0",), (f"{REPOSITORY}:Q8_0", "--offline")):
            assert pathlib.Path(winnow(theirs, *words)).read_bytes() == FILES["Small-Q8_0.gguf"]
        assert Hub.travelled == before, "Winnow fetched again what the library has"
        print(f"huggingface_hub fetched {before - fetched} bytes; Winnow finds them, with the network and without, and fetches none")
    server.shutdown()
    storage.shutdown()


if __name__ == "__main__":
    main()
