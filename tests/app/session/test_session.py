"""What holds for every part of a session."""

import ast
import inspect
from functools import cached_property
from pathlib import Path

from lmviz.app.session.part import Part
from lmviz.app.session.session import Session


def test_no_part_of_the_session_knows_everything(session: Session) -> None:
    for name, value in vars(Session).items():
        if isinstance(value, cached_property):
            getattr(session, name)  # a part that is made when it is first asked for
    kinds = {Session, *map(type, session.findChildren(Part))}
    assert len(kinds) > 20
    for kind in kinds:
        ours = {base for base in kind.__mro__ if base.__module__.startswith("lmviz.")} - {Part}
        offered = {name for base in ours for name in vars(base) if not name.startswith("_")}
        offered -= {"staticMetaObject"}
        assert len(offered) <= 31, f"{kind.__name__} has {len(offered)} public members: {sorted(offered)}"


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


def test_nobody_emits_a_signal_of_another() -> None:
    """What no part was asked for is said with `session.say`."""
    app = Path(inspect.getfile(Session)).parents[1]
    for room in ("session", "panels", "opening", "window"):
        for path in sorted((app / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for part in ast.walk(ast.parse(text)) if "emit" in text else ():
                if isinstance(part, ast.Attribute) and part.attr == "emit":
                    signal = part.value  # of `self`, or a name that stands for such a one
                    is_own = isinstance(signal, ast.Name) or (
                        isinstance(signal, ast.Attribute) and _is_self(signal)
                    )
                    assert is_own, f"{path.name} calls {ast.unparse(part)}"


def _is_self(part: ast.Attribute) -> bool:
    return isinstance(part.value, ast.Name) and part.value.id == "self"
