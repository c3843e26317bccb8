"""What is known of single code points."""

import sys

import numpy as np

from lmviz.text.characters import CASELESS, code_points


def test_beyond_a_code_point_there_are_no_letters_of_two_cases() -> None:
    assert chr(CASELESS - 1) == chr(CASELESS - 1).lower()
    rest = "".join(map(chr, range(CASELESS, sys.maxunicode + 1)))
    assert rest.lower() == rest


def test_each_letter_is_in_lower_case_whatever_stands_beside_it() -> None:
    text = "ΟΔΥΣΣΕΥΣ Ä 𐐀 漢 \U0001e900"  # a sigma at the end, and letters of the second plane
    expected = [ord(letter.lower()) for letter in text]
    assert np.array_equal(code_points(text, lower_case=True), expected)
    assert code_points(text).tolist() == [ord(letter) for letter in text]
