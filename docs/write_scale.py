"""Writes docs/scale.md, the scaling table: `python3 start.py scale`."""

from __future__ import annotations

import sys
from pathlib import Path

from lmviz.scaling.report import scaling_page

PAGE = Path(__file__).with_name("scale.md")


def main(path: Path = PAGE) -> None:
    """Write the page, and say where it is."""
    path.write_text(scaling_page(), encoding="utf-8")
    print(f"Wrote {path}.")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
