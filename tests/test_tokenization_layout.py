"""Where special tokens stand: one object says it, for BERT and for members that lay their sequences out otherwise."""

import pytest

from bertedu.tokenization.layout import FIRST, SECOND, Layout

CLS, SEP = 2, 3
BERT = Layout.of_bert(CLS, SEP)
# RoBERTa: <s> A </s></s> B </s>, no segments. XLNet: A <sep> B <sep> <cls>, the last in a segment of its own.
ROBERTA = Layout(((CLS, 0), (FIRST, 0), (SEP, 0)), ((CLS, 0), (FIRST, 0), (SEP, 0), (SEP, 0), (SECOND, 0), (SEP, 0)))
XLNET = Layout(((FIRST, 0), (SEP, 0), (CLS, 2)), ((FIRST, 0), (SEP, 0), (SECOND, 1), (SEP, 1), (CLS, 2)))


@pytest.mark.parametrize(
    ("layout", "single", "pair", "segments"),
    [
        (BERT, [2, 7, 8, 3], [2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1]),
        (ROBERTA, [2, 7, 8, 3], [2, 7, 8, 3, 3, 9, 3], [0] * 7),
        (XLNET, [7, 8, 3, 2], [7, 8, 3, 9, 3, 2], [0, 0, 0, 1, 1, 2]),
    ],
)
def test_special_tokens_stand_and_are_counted_as_in_the_layout(layout, single, pair, segments):
    assert layout.sequence([7, 8])[0] == single
    assert layout.sequence([7, 8], [9]) == (pair, segments)
    assert layout.special_tokens(pair=False) == len(single) - 2
    assert layout.special_tokens(pair=True) == len(pair) - 3
    assert layout.text_start(2) == single.index(7) and layout.text_start(2, 1) == pair.index(9)
    assert layout.position(CLS, 2) == single.index(CLS) and layout.position(CLS, 2, 1) == pair.index(CLS)
    assert layout.beside(-100, [70, 80], [90]) == [{7: 70, 8: 80, 9: 90}.get(token, -100) for token in pair]


def test_an_empty_second_text_is_a_second_text():
    assert BERT.sequence([7], []) == ([2, 7, 3, 3], [0, 0, 0, 1])
    assert BERT.sequence([7]) == ([2, 7, 3], [0, 0, 0])
