"""A hub on this machine, which speaks as the one of Hugging Face does."""

import contextlib
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REVISION = "0123456789abcdef0123456789abcdef01234567"


def sha_of(revision):
    """The commit of a branch or a tag."""
    return REVISION if revision == "main" else hashlib.sha1(revision.encode()).hexdigest()


class Hub(ThreadingHTTPServer):
    """Serves the files of a folder as the model someone/small; `asked` are the requests for files.

    `steps` are the folders of further revisions, by the names of their branches.
    """

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.asked, self.lies = folder, [], False
        self.steps = {}
        self.states_sizes, self.cuts, self.repeats = True, 0, 1
        self.token, self.says_why, self.told = None, True, []
        self.elsewhere, self.leads_on = None, "at once"

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def folders(self):
        return {"main": self.folder, **self.steps}


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.respond(body=False)

    def do_GET(self):
        self.respond(body=True)

    def respond(self, body):
        path = self.path.partition("?")[0]
        folders = self.server.folders
        if path == "/api/models/someone/small/refs":
            return self.say(self.refs(), body)
        described = re.fullmatch(r"/api/models/someone/small(?:/revision/([\w.-]+))?", path)
        if described and (described[1] or "main") in folders:
            return self.say(self.described(described[1] or "main"), body)
        found = re.fullmatch(r"/someone/small/resolve/(\w{40})/([\w.-]+)", path)
        by_sha = {sha_of(name): folder for name, folder in folders.items()}
        file = by_sha[found[1]] / found[2] if found and found[1] in by_sha else None
        if file is None or not file.is_file():
            missing = {"X-Error-Code": "EntryNotFound" if found else "RepoNotFound"}
            return self.send(b"", missing, body, status=404)
        said = self.headers.get("Authorization")
        if body:
            self.server.told.append(said)
        if self.server.token and said != f"Bearer {self.server.token}":
            gated = {"X-Error-Code": "GatedRepo"} if self.server.says_why else {}
            return self.send(b"", gated, body, status=401 if said is None else 403)
        content = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": found[1]}
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if self.server.elsewhere and (body or self.server.leads_on == "at once"):
            headers["X-Linked-ETag"], headers["X-Linked-Size"] = headers["ETag"], str(len(content))
            headers["Location"] = f"{self.server.elsewhere}{path}"
            return self.send(b"", headers, body, status=302)
        if body:
            self.server.asked.append((found[2], int(wanted[1]) if wanted else 0))
        if not wanted:
            return self.send(content, headers | {"Accept-Ranges": "bytes"}, body)
        first = int(wanted[1])
        headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        return self.send(content[first:], headers, body, status=206)

    def send(self, content, headers, body, status=200):
        self.send_response(status)
        length = {"Content-Length": str(len(content))} if body or self.server.states_sizes else {}
        if body and headers.get("ETag") and self.server.repeats > 1:
            content, length = content * self.server.repeats, {}
        if body and headers.get("ETag") and self.server.cuts:
            content = content[: -self.server.cuts]
        for name, value in (headers | length).items():
            self.send_header(name, value)
        if body and (not length or self.server.cuts):
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if body:
            with contextlib.suppress(ConnectionError):  # of somebody who has given up
                self.wfile.write(content)

    def say(self, values, body):
        self.send(json.dumps(values).encode(), {"Content-Type": "application/json"}, body)

    def refs(self):
        branches = [
            {"name": name, "ref": f"refs/heads/{name}", "targetCommit": sha_of(name)}
            for name in self.server.folders
        ]
        return {"branches": branches, "tags": [], "converts": []}

    def described(self, revision):
        siblings = []
        for file in sorted(self.server.folders[revision].iterdir()):
            content = file.read_bytes()
            checksum = hashlib.sha256(b"else" if self.server.lies else content).hexdigest()
            lfs = {"sha256": checksum, "size": len(content), "pointerSize": 100}
            entry = {"rfilename": file.name, "size": len(content)}
            if self.server.steps:  # the hub always states it, and its library does without
                entry["blobId"] = hashlib.sha256(content).hexdigest()
            siblings.append(entry | ({"lfs": lfs} if file.suffix == ".safetensors" else {}))
        return {
            "id": "someone/small",
            "modelId": "someone/small",
            "sha": sha_of(revision),
            "siblings": siblings,
        }


@contextlib.contextmanager
def serving(folder):
    server = Hub(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
