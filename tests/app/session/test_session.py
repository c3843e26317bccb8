"""What holds for every part of a session."""

import ast
import inspect
from pathlib import Path

from lmviz.app.session.part import Part
from lmviz.app.session.session import Session


def test_no_part_of_the_session_knows_everything(session: Session) -> None:
    for kind in (Session, *map(type, session.findChildren(Part))):
        offered = [name for name in vars(kind) if not name.startswith("_") and name != "staticMetaObject"]
        assert len(offered) <= 25, f"{kind.__name__} has {len(offered)} public members: {offered}"


def test_parts_reach_into_no_other_part() -> None:
    """A private name is used on `self` alone, or on another value of the same file."""
    folder = Path(inspect.getfile(Session)).parent
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {part.attr for part in ast.walk(tree) if isinstance(part, ast.Attribute) and _is_self(part)}
        own |= {part.name for part in ast.walk(tree) if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
        for part in ast.walk(tree):
            if isinstance(part, ast.Attribute) and part.attr.startswith("_") and not _is_self(part):
                assert part.attr in own, f"{path.name} uses {ast.unparse(part)}"


def _is_self(part: ast.Attribute) -> bool:
    return isinstance(part.value, ast.Name) and part.value.id == "self"
