"""What a mutation run changes in a module, and what it leaves alone."""

import pytest

pytest.importorskip("mutmut", reason="mutation runs bring it: start.py mutate")

SOURCE = '''"""A module."""

LIMIT = 3


def shorter(left: int = 1, right: "int | None" = 2) -> int | None:
    """The difference."""
    assert left < 5
    if left > LIMIT:
        raise ValueError(f"too long" "or so" if left else "why")
    return left - right


def paired(left: list, right: list) -> list:
    return list(zip(left, right, strict=True))
'''


@pytest.fixture
def mutants(tmp_path):
    from mutants import mutants_of

    (tmp_path / "module.py").write_text(SOURCE, encoding="utf-8")
    return mutants_of(tmp_path, "module.py")


def test_what_functions_do_is_changed_one_piece_at_a_time(mutants):
    changed = {
        tuple(line for line in mutant.source.splitlines() if line not in SOURCE.splitlines())
        for mutant in mutants
    }
    assert ("    return left + right",) in changed
    assert ("    if left >= LIMIT:",) in changed
    assert all(len(lines) == 1 for lines in changed)


def test_every_mutant_is_a_program_that_differs(mutants):
    assert mutants
    for mutant in mutants:
        compile(mutant.source, "module.py", "exec")
        assert mutant.source != SOURCE
        assert SOURCE.splitlines()[mutant.line - 1] not in mutant.source.splitlines()


def test_constants_signatures_guards_and_sentences_are_left_alone(mutants):
    signature = next(line for line in SOURCE.splitlines() if line.startswith("def "))
    kept = ("LIMIT = 3", signature, '"""The difference."""', "assert left < 5")
    assert all(part in mutant.source for part in kept for mutant in mutants)
    assert all("strict=True" in mutant.source for mutant in mutants if "zip" in mutant.source)
    assert not any("XX" in mutant.source for mutant in mutants)


def test_a_mutant_shows_its_change_as_a_diff(mutants):
    [minus] = [mutant for mutant in mutants if "left + right" in mutant.source]
    assert "-    return left - right\n+    return left + right" in minus.diff()
