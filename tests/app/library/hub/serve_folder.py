#!/usr/bin/env python3
"""A hub on this machine that serves folders as repositories, at a chosen speed, to try the window or the terminal with it.

    python3 tests/app/library/hub/serve_folder.py --port 8899 --speed 2e6 someone/shapes=resources/demo/model &
    HF_ENDPOINT=http://127.0.0.1:8899 build/release/bin/winnow

Every file is a large one of the hub's storage. Says for each answer from which byte on it sent, and how many. It is no part of the suite.
"""

import argparse
import hashlib
import http.server
import json
import pathlib
import time

COMMIT = "c" * 40
CHUNK = 1 << 16


def listed(folder):
    files = []
    for file in sorted(path for path in folder.iterdir() if path.is_file()):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        size = file.stat().st_size
        files.append({"type": "file", "path": file.name, "size": size, "oid": "2" * 40,
                      "lfs": {"oid": digest, "size": size, "pointerSize": 134}})
    return files


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folders = {}
    speed = 0.0

    def do_GET(self):
        path = self.path.split("?")[0]
        for repository, (folder, files) in self.folders.items():
            if path == f"/api/models/{repository}/revision/main":
                return self.send_json({"id": repository, "sha": COMMIT, "gated": False, "cardData": {"license": "apache-2.0"}})
            if path == f"/api/models/{repository}/tree/{COMMIT}":
                return self.send_json(files)
            for file in files:
                if path == f"/{repository}/resolve/{COMMIT}/{file['path']}":
                    return self.send_bytes(folder / file["path"], file["lfs"]["oid"])
        self.send_error(404)

    def send_json(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_bytes(self, path, digest):
        data = path.read_bytes()
        asked = self.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("ETag", f'"{digest}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        sent = 0
        try:
            for at in range(start, len(data), CHUNK):
                self.wfile.write(data[at:at + CHUNK])
                sent += len(data[at:at + CHUNK])
                if self.speed:
                    time.sleep(CHUNK / self.speed)
        except OSError:
            pass  # the other side has gone
        print(f"{path.name}: from byte {start}, {sent} of {len(data)}", flush=True)

    def log_message(self, *_):
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=8899)
    options.add_argument("--speed", type=float, default=0.0, help="bytes a second; 0: as fast as it goes")
    options.add_argument("repositories", nargs="+", help="OWNER/NAME=FOLDER")
    chosen = options.parse_args()
    Hub.speed = chosen.speed
    for each in chosen.repositories:
        repository, folder = each.split("=", 1)
        Hub.folders[repository] = (pathlib.Path(folder), listed(pathlib.Path(folder)))
    http.server.ThreadingHTTPServer(("127.0.0.1", chosen.port), Hub).serve_forever()


if __name__ == "__main__":
    main()
