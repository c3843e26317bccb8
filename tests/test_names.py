"""One name stands for one thing: no two public classes of lmviz are called the same."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent / "lmviz"
SAME_MATHEMATICS = {"Attention", "Linear", "Softmax"}
"""Modules of the small networks in numpy, and what models are made of in torch."""

SYNTAX = {"Call", "Literal", "Operation"}
"""What expressions are made of: of lessons, and of the language of small networks."""

PART_OF_THE_SESSION = {"Scale"}
"""Called as the perspective is, beside the operation of attention."""


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            homes[name].append(str(path.relative_to(ROOT)))
    assert len(homes) > 300
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert shared.keys() == SAME_MATHEMATICS | SYNTAX | PART_OF_THE_SESSION, shared


SAYS_WHY = {"text/reading.py", "text/packing.py", "lectures/bundle.py"}
"""What says why a file cannot be looked for, or asks an archive."""


def test_whether_a_file_is_there_is_asked_so_that_any_name_has_an_answer():
    """`Path.exists` and its kin raise where a name is too long, or a folder may not be searched."""
    asked = re.compile(r"\.(exists|is_file|is_dir)\(\)")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if asked.search(path.read_text(encoding="utf-8"))
    }
    assert found == SAYS_WHY
