from lmviz.text.pairs import PairCollector, read_pairs, read_parallel
from lmviz.text.task_text import Complaints


def pairs_of(found: PairCollector) -> list[tuple[str, str]]:
    result = found.finish("any")
    return list(zip(result.sources, result.targets, strict=True))


def test_a_source_a_tab_and_a_target():
    found, complaints = PairCollector(), Complaints()
    read_pairs("the cat\tdie Katze\n\nno tab\na\tb\tc\n\tx\n à \t b\n".encode(), found, complaints)
    assert pairs_of(found) == [("the cat", "die Katze"), ("à", "b")]
    assert complaints.sentences == tuple(
        f"Line {n} has not a source and a target with one tab between them." for n in (3, 4, 5)
    )


def test_two_files_go_line_by_line():
    found, complaints = PairCollector(), Complaints()
    read_parallel(b"a\n\nb\nc\nd\ne\n", b"A\n\n\nC\n", ("x.en", "x.de"), found, complaints)
    assert pairs_of(found) == [("a", "A"), ("c", "C")]
    assert complaints.sentences == (
        "Line 3 is blank in x.de.",
        "x.de ends at line 4: the 2 further lines of x.en are left out.",
    )


def test_the_file_that_is_longer_may_be_the_target():
    found, complaints = PairCollector(), Complaints()
    read_parallel(b"a\n", b"A\nB\n", ("x.en", "x.de"), found, complaints)
    assert complaints.sentences == ("x.en ends at line 1: the 1 further lines of x.de are left out.",)
