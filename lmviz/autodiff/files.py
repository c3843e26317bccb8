"""Networks as plain text files, and those that come with lmviz."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmviz.autodiff.language.building import read
from lmviz.autodiff.language.limits import LONGEST
from lmviz.autodiff.network import Network
from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.text.ordinary_files import read_text_file
from lmviz.text.resources import resource_path

ENDING = ".net"
LARGEST = 4 * LONGEST  # bytes


def is_network(path: Path) -> bool:
    """Whether a file is named as a network."""
    return path.suffix == ENDING


def read_text(path: str | Path) -> str:
    """The text of a file; LmvizError where it cannot be read or is not text."""
    try:
        return read_text_file(file_path(path), LARGEST)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except ValueError as error:  # not UTF-8, or a path with a NUL in it
        raise LmvizError(f"{path} is not a text: choose a file in UTF-8.") from error


@loads("network")
def open_network(path: str | Path) -> Network:
    """The network that a file describes; LmvizError where there is none."""
    return read(read_text(path))


def save_network(net: Network, path: str | Path) -> Path:
    """Write a network with its numbers of now into a text file."""
    return write_atomically(path, net.text.encode("utf-8"))


@dataclass(frozen=True)
class ShippedNetwork:
    """A network that comes with lmviz: the first line of its text is its title."""

    name: str
    title: str
    text: str


def shipped_networks() -> tuple[ShippedNetwork, ...]:
    """The networks that come with lmviz, the net of the lecture first."""
    found = []
    for path in sorted(resource_path("networks").glob(f"*{ENDING}")):
        text = read_text(path)
        title = text.partition("\n")[0].lstrip("# ").strip()
        found.append(ShippedNetwork(path.stem.partition("-")[2], title, text))
    return tuple(found)


def shipped_network(name: str) -> ShippedNetwork:
    """One of them by its name, such as "lecture"; LmvizError where there is none of that name."""
    found = {each.name: each for each in shipped_networks()}
    if not isinstance(name, str) or name not in found:
        raise LmvizError(f"There is no network {name!r}: there are {', '.join(found)}.")
    return found[name]
