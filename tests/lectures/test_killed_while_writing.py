"""What `kill -9` leaves of packing, unpacking and converting goes at the next use of its folder."""

import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lmviz.lectures.bundle import MANIFEST

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process is killed so on Windows"),
]

SCRIPT = """
import os, signal, sys
from pathlib import Path

what, given, folder, is_killed = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4] == "killed"

def kill(event, details):
    if event == "os.rename" and str(folder) in os.fspath(details[1]):
        os.kill(os.getpid(), signal.SIGKILL)

if is_killed:
    sys.addaudithook(kill)
if what == "pack":
    from lmviz.lectures.bundle import pack
    pack(given, folder / "own.lmvizbundle", ())
elif what == "unpack":
    from lmviz.lectures.bundle import unpack
    unpack(given, folder)
else:
    import lmviz
    is_file = what == "convert to a file"
    name, out = ("stories-5-gram", "own.arpa") if is_file else ("stories-transformer", "model")
    lmviz.convert(name, folder / out)
"""


@pytest.mark.parametrize("what", ["pack", "unpack", "convert", "convert to a file"])
def test_what_was_being_written_when_it_was_killed_goes_at_the_next_use(what: str, tmp_path: Path) -> None:
    given, folder = tmp_path / "own.lecture", tmp_path / "to"
    given.write_text("# Own\n\n## One\npoll: order\n", encoding="utf-8")
    folder.mkdir()
    if what == "unpack":
        given = tmp_path / "own.lmvizbundle"
        manifest = {"format": "lmviz bundle", "format_version": 1, "open": "own.lecture"}
        with zipfile.ZipFile(given, "w") as archive:
            archive.writestr(MANIFEST, json.dumps(manifest))
            archive.writestr("own.lecture", "# Own\n\n## One\npoll: order\n")

    def act(how: str) -> int:
        return subprocess.run([sys.executable, "-c", SCRIPT, what, str(given), str(folder), how]).returncode

    assert act("killed") == -signal.SIGKILL
    assert left_in(folder), "or it was killed too early to show anything"
    assert act("undisturbed") == 0
    assert left_in(folder) == []


def left_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.startswith(".") or ".part" in path.name]
