"""Takes files out of a tar.gz in memory: by name, ordinary ones only, of bounded size; none is unpacked."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Sequence

MOST_BYTES = 64 << 20
"""An archive that holds more is refused. What is compressed to a thousandth would fill the memory."""

MOST_MEMBERS = 1000
_GZIP = 16 + zlib.MAX_WBITS


def read_members(archive: bytes, names: Sequence[str]) -> list[bytes]:
    """The contents of the files of these names in a tar.gz, in this order.

    ValueError says why not: the bytes are no such archive, it is too large, or a file is missing, is there
    twice, or is a link, a folder or a device.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_inflated(archive)), mode="r:") as tar:
            for _ in range(MOST_MEMBERS):
                member = tar.next()
                if member is None:
                    break
                name = member.name.removeprefix("./")
                if name in names:
                    if name in found:
                        raise ValueError(f"it holds {name} twice")
                    found[name] = _content(tar, member, name)
    except (tarfile.TarError, zlib.error, EOFError, OverflowError) as error:
        raise ValueError(f"it is not an archive of the kind tar.gz ({error})") from None
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"it does not hold {missing[0]}")
    return [found[name] for name in names]


def _inflated(archive: bytes) -> bytes:
    """What was compressed with gzip."""
    inflate = zlib.decompressobj(_GZIP)
    data = inflate.decompress(archive, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it holds more than {MOST_BYTES >> 20} MB")
    if not inflate.eof:
        raise EOFError("it ends too early")
    return data


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> bytes:
    if not member.isreg() or member.issparse():
        raise ValueError(f"{name} in it is not an ordinary file")
    file = tar.extractfile(member)
    assert file is not None, "an ordinary file has a content"
    with file:
        content = file.read(MOST_BYTES)
    if len(content) != member.size:
        raise ValueError(f"{name} in it is cut short")
    return content
