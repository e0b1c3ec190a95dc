"""Prose out of docstrings and README files: what must not come along, and what must not get lost."""

import textwrap

import pytest

from bertedu.corpora.prose import is_prose, plain_words, prose_paragraphs

KEPT = "The first paragraph stays in the text."


def sentences(text: str) -> list[str]:
    return [sentence for paragraph in prose_paragraphs(textwrap.dedent(text)) for sentence in paragraph]


@pytest.mark.parametrize(
    "rubbish",
    [
        ">>> The.value()\nThe value of this is not prose.",
        "::\n\n    The code of this is indented and ends with a stop.",
        ".. code-block:: python\n\n    The code of this is indented and ends with a stop.",
        ".. math::\n    The formula of this is here.",
        ".. _target: https://example.org/The is in a stop.",
        "```\nThe code of this is fenced.\n```",
        "=====  =======\nThe    table\n=====  =======",
        "| The cell of a table | is not prose. |",
        "- https://example.org/page is the page of this.",
        "x : int, optional",
        "Parameters\n----------",
        "Licensed under the terms of the licence that is in the file.",
        "THE SOFTWARE IS PROVIDED AS IT IS, IN NO EVENT SHALL WE BE THERE FOR YOU.",
        "this paragraph begins in the middle of something.",
        "This paragraph stops in the middle of",
        "Result is x = {y for y in z} and that is all.",
        "Это предложение на русском языке, а не на английском.",
        "Numpy Scipy Pandas Torch Matplotlib.",
    ],
)
def test_doctest_lines_code_tables_and_licences_stay_out_of_the_prose(rubbish: str):
    assert sentences(f"{KEPT}\n\n{rubbish}\n\nThe last paragraph stays in the text.") == [
        KEPT,
        "The last paragraph stays in the text.",
    ]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("Use :class:`Linear` or :py:func:`~torch.nn.relu` here.", "Use Linear or torch.nn.relu here."),
        (
            "Use :ref:`the guide <guide-label>` and `the site <https://example.org>`_ too.",
            "Use the guide and the site too.",
        ),
        ("Set ``size`` to *two* or **three**, and `rate` to one.", "Set size to two or three, and rate to one."),
        (
            "Read [the paper](https://example.org/a_b) and [`~models.Bert`] again.",
            "Read the paper and models.Bert again.",
        ),
        ("As was shown [1]_ before [Knuth73]_, it is so.", "As was shown before, it is so."),
        ("A <b>bold</b> word and :attr:`.Figure.axes` remain.", "A bold word and Figure.axes remain."),
        ("The words -- all of them -- are kept.", "The words - all of them - are kept."),
        ("A product of 2 * 3 and 4 * 5 is kept.", "A product of 2 * 3 and 4 * 5 is kept."),
        ("The names snake_case and _private are kept.", "The names snake_case and _private are kept."),
    ],
)
def test_markup_leaves_its_words_and_nothing_else(markup: str, words: str):
    assert plain_words(markup) == words


def test_a_formula_leaves_no_hole_in_a_sentence():
    assert sentences("The rate is :math:`\\alpha` in the text. The rest is kept here. It is $x^2$ of it.") == [
        "The rest is kept here."
    ]


def test_a_title_is_not_glued_to_the_sentence_below_it():
    assert sentences(
        "Notes\n-----\nThe note begins here.\n\nThe Long Title\n==============\n\nThe text begins here."
    ) == [
        "The note begins here.",
        "The text begins here.",
    ]


def test_a_type_is_not_glued_to_the_description_of_a_parameter():
    text = """
        Parameters
        ----------
        frame : DataFrame
            The frame to be sorted.
        key : int or str, optional
            The column to sort by, which may be
            a number or a name.

        Args:
            size (int): The size of the frame.
            depth (int):
                The depth of the frame.
        """
    assert sentences(text) == [
        "The frame to be sorted.",
        "The column to sort by, which may be a number or a name.",
        "The size of the frame.",
        "The depth of the frame.",
    ]


def test_items_of_a_list_stay_apart():
    text = """
        - The first item is long
          and has two lines.
        - The second item is short.

        1. The third has a number.
        """
    assert sentences(text) == [
        "The first item is long and has two lines.",
        "The second item is short.",
        "The third has a number.",
    ]


def test_a_note_stays_when_directives_go():
    assert sentences(".. note:: This is good to know.\n\n.. warning::\n\n    This is good to know too.\n") == [
        "This is good to know.",
        "This is good to know too.",
    ]


def test_text_after_a_code_block_is_text():
    assert sentences("The code is this::\n\n    x\n\n    y\n\nThe text goes on after it.") == [
        "The text goes on after it."
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "It can't be the end of the world, can it?",
        'She said "this is it" and left.',
        "The function fit_transform() takes two arrays (X and y).",
        "It is – as we said – a naïve café.".replace("ï", "i"),
    ],
)
def test_ordinary_sentences_are_prose(sentence: str):
    assert is_prose(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is.",
        "it is in lower case, all of it.",
        "The bracket is (open.",
        'The "quote is open.',
        "The a/b/c/d/e of it+that*this.",
    ],
)
def test_fragments_are_no_sentences(sentence: str):
    assert not is_prose(sentence)


def test_no_control_character_enters_the_prose():
    assert is_prose("The bell is then sent to the output of the driver.")
    assert not is_prose("The bell (\x07) is then sent to the output of the driver.")
