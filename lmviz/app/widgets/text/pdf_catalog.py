"""What Qt leaves out of the catalog of a PDF: the language, and that a window shows the title."""

from __future__ import annotations

import re

CATALOG = re.compile(rb"\n(\d+) 0 obj\n<<\n/Type /Catalog\n(.*?)>>\nendobj", re.DOTALL)
TRAILER = re.compile(rb"trailer\n<<\n(.*?)>>\nstartxref\n(\d+) \n%%EOF\n\Z", re.DOTALL)


def with_language(pdf: bytes, language: str) -> bytes:
    """The same file with a newer catalog behind it, as ISO 32000 updates files: what is before it stays.

    A file that is not written as Qt writes it is returned as it is.
    """
    catalog, trailer = CATALOG.search(pdf), TRAILER.search(pdf)
    if catalog is None or trailer is None:
        return pdf
    number, entries = catalog[1], catalog[2]
    said = f"/Lang ({language})\n/ViewerPreferences << /DisplayDocTitle true >>\n".encode("ascii")
    place = len(pdf)
    written = b"%s 0 obj\n<<\n/Type /Catalog\n%s%s>>\nendobj\n" % (number, entries, said)
    table = b"xref\n0 1\n0000000000 65535 f \n%s 1\n%010d 00000 n \n" % (number, place)
    ended = b"trailer\n<<\n%s/Prev %s\n>>\nstartxref\n%d\n%%%%EOF\n" % (
        trailer[1],
        trailer[2],
        place + len(written),
    )
    return pdf + written + table + ended
