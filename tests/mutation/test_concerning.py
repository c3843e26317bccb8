"""Which tests a mutation run chooses for a line."""

from pathlib import Path

import pytest

PATH = "lmviz/decoding/beam.py"


@pytest.fixture
def files():
    from concerning import FileOfTests

    return [
        FileOfTests(
            "tests/decoding/test_beam.py",
            {"beam slow": 3.0, "beam fast": 1.0, "beam elsewhere": 0.1},
            {(PATH, 7): ("beam slow", "beam fast")},
        ),
        FileOfTests("tests/api/test_training.py", {"api": 0.5, "api elsewhere": 0.2}, {(PATH, 7): ("api",)}),
        FileOfTests("tests/test_families.py", {"families": 0.1}, {("lmviz/families.py", 7): ("families",)}),
    ]


def test_tests_that_run_the_line_come_first_and_strangers_not_at_all(files):
    from concerning import concerned

    expected = ["beam fast", "beam slow", "api", "beam elsewhere", "api elsewhere"]
    assert concerned(files, PATH, 7) == expected


def test_a_line_that_no_test_runs_is_left_to_the_file_that_mirrors_its_module(files):
    from concerning import concerned

    assert concerned(files, PATH, 8) == ["beam elsewhere", "beam fast", "beam slow"]
    assert concerned(files, "lmviz/decoding/nowhere.py", 8) == []


def test_files_take_turns(files):
    from concerning import FileOfTests, concerned

    tests = {(PATH, 7): ("long 1", "long 2")}
    files.append(FileOfTests("tests/decoding/test_long.py", {"long 1": 0.6, "long 2": 0.7}, tests))
    assert concerned(files, PATH, 7)[:5] == ["beam fast", "beam slow", "api", "long 1", "long 2"]
    files[1] = FileOfTests(
        "tests/api/test_training.py", {"api": 0.5, "api 2": 0.55}, {(PATH, 7): ("api", "api 2")}
    )
    assert concerned(files, PATH, 7)[2:6] == ["api", "long 1", "api 2", "long 2"]


def test_slow_tests_are_left_out_beyond_the_seconds_a_mutant_may_take(files, monkeypatch):
    import concerning

    monkeypatch.setattr(concerning, "SECONDS", 4.2)
    assert concerning.concerned(files, PATH, 7) == ["beam fast", "beam slow"]


def test_few_files_are_read_before_the_rest():
    from concerning import FIRST_FILES, FIRST_SECONDS, rounds

    tests = [f"file {place}::test" for place in range(FIRST_FILES + 2)] + ["file 0::another", "file 1::long"]
    seconds = {test: FIRST_SECONDS if "long" in test else 0.1 for test in tests}
    first, rest = rounds(tests, seconds)
    assert first == [*tests[:FIRST_FILES], "file 0::another"]
    assert rest == [*tests[FIRST_FILES : FIRST_FILES + 2], "file 1::long"]


def test_what_fits_is_one_round_and_a_first_test_is_taken_however_long():
    from concerning import FIRST_SECONDS, rounds

    seconds = {"file::long": 2 * FIRST_SECONDS, "file::short": 0.1}
    assert rounds(["file::short"], seconds) == [["file::short"]]
    assert rounds(["file::long", "file::short"], seconds) == [["file::long"], ["file::short"]]


def test_modules_are_mirrored_by_files_that_are_there():
    from concerning import mirrored

    root = Path(__file__).parents[2]
    assert mirrored(PATH) == "tests/decoding/test_beam.py"
    assert (root / mirrored(PATH)).is_file()
