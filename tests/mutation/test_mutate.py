"""What a mutation run makes of what the tests of a mutant did."""

import pytest

pytest.importorskip("mutmut", reason="mutation runs bring it: start.py mutate")

PATH = "lmviz/module.py"
SOURCE = "def double(number):\n    return 2 * number\n"


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    """The outcome of a mutant, given what each run of its tests ends with; None where it takes too long."""
    import mutate
    from concerning import FIRST_SECONDS, FileOfTests
    from mutants import mutants_of

    module = tmp_path / PATH
    module.parent.mkdir()
    module.write_text(SOURCE, encoding="utf-8")
    mutant = mutants_of(tmp_path, PATH)[0]

    def judged(*codes, tests=("test",)):
        files = [FileOfTests("tests/test_module.py", dict.fromkeys(tests, FIRST_SECONDS), {(PATH, 2): tests})]
        left, read = list(codes), []

        def forked(work, copy, seconds):
            read.append(module.read_text(encoding="utf-8"))
            return left.pop(0), ""

        monkeypatch.setattr(mutate, "forked", forked)
        found = mutate.judge(mutant, files, tmp_path)
        changed = len(codes) - (codes[0] is None and len(codes) - 1)
        assert read == [mutant.source] * changed + [SOURCE] * (len(codes) - changed)
        assert module.read_text(encoding="utf-8") == SOURCE
        return found

    return judged


def test_a_mutant_is_killed_by_a_test_that_fails(outcome):
    assert outcome(1) == "killed"
    assert outcome(0) == "survived"


def test_further_tests_run_only_where_the_first_ones_pass(outcome):
    assert outcome(1, tests=("first", "second")) == "killed"
    assert outcome(0, 1, tests=("first", "second")) == "killed"
    assert outcome(0, 0, tests=("first", "second")) == "survived"


def test_a_time_out_counts_only_where_the_unchanged_source_takes_no_longer(outcome):
    assert outcome(None, 0) == "timed out"
    assert outcome(None, None) == "undecided"


def test_what_is_undecided_or_untested_was_not_noticed():
    from collections import Counter

    from mutate import noticed

    assert (
        noticed(Counter({"killed": 2, "timed out": 1, "undecided": 1, "untested": 1, "survived": 1})) == 0.5
    )
