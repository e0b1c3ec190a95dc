"""An uncased vocabulary says where it takes vowels or tones from a script."""

import warnings

import pytest

from bertedu.tokenization import BertTokenizer

LOST = {
    "Hindi": "यह क्या घर है", "Bengali": "ভৌতিক গল্প", "Thai": "ภาษาไทยกำลังเรียน", "Japanese": "ガラスの学生です",
    "Vietnamese": "Tôi là sinh viên đại học ở Hà Nội", "Tamil": "தமிழ் மொழி", "Burmese": "မြန်မာစာကို",
}  # fmt: skip
KEPT = {"English": "a naïve “café”", "Korean": "한국어 문장", "German": "Das ist schön für uns", "Chinese": "我爱北京"}


@pytest.mark.parametrize("script", LOST)
def test_vowels_and_tones_are_not_lost_without_a_word(script):
    with pytest.warns(UserWarning, match="--cased"):
        BertTokenizer.train([LOST[script]] * 3, vocab_size=200)


@pytest.mark.parametrize("script", KEPT)
def test_nothing_is_said_where_marks_are_few_or_none(script):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BertTokenizer.train([KEPT[script]] * 3, vocab_size=200)


def test_nothing_is_said_of_a_vocabulary_that_keeps_them():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BertTokenizer.train([LOST["Hindi"]] * 3, vocab_size=200, lowercase=False)
