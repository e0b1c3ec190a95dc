"""Exercise 1.2: Longest match first."""

from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.tokenization.wordpiece import split_word


@exercise(
    "1.2",
    "Longest match first",
    difficulty=2,
    minutes=15,
    without=("split_word",),
    hints=(
        "Keep the start of the rest. Try its ends from len(word) down to start + 1. Take the first piece that fits.",
        'The prefix is "##" if start else "". If no end fits, return ["[UNK]"]. If one fits, append the piece and '
        "set start to that end.",
    ),
)
def longest_match_first(case: Case) -> None:
    vocab = {"un", "break", "able", "##break", "##bre", "##able", "##a", "##k", "##ble", "x"}
    whole = case.call("able", vocab, tried='"able", which is a token itself')
    case.is_a("the result", whole, list | tuple, "a list of strings")
    at_the_end = (
        "The longest piece can be the whole word. Does your search try the end of the word, and does it stop there, "
        'with nothing left over (not even "##")?'
    )
    case.equal(
        "the result", whole, ["able"], at_the_end, mistakes=[(["##able"], 'The first piece of a word has no "##".')]
    )
    result = case.call("unbreakable", vocab, tried='"unbreakable"')
    case.equal(
        "the result",
        result,
        split_word("unbreakable", vocab),
        "At each start, take the longest piece that is in the vocabulary.",
        mistakes=[
            (
                ["un", "##bre", "##a", "##k", "##a", "##ble"],
                "Those are the shortest pieces. Try the longest piece first, then shorter ones.",
            ),
            (["un", "break", "able"], 'A piece inside a word is looked up, and written, with "##" before it.'),
            (["[UNK]"], 'Did you look up the pieces inside the word with "##" before them?'),
            (["##un", "##break", "##able"], 'The first piece of a word has no "##".'),
        ],
    )
    shorter = case.call("bb", {"b", "##b"}, tried='"bb" with the vocabulary b and ##b')
    case.equal(
        "the result", shorter, ["b", "##b"], "After each piece, the search begins again with the rest of the word."
    )
    end = case.call("unx", vocab, tried='"unx", with un and x in the vocabulary, but no ##x')
    case.equal(
        "the result",
        end,
        ["[UNK]"],
        "A word that the pieces cannot cover becomes one [UNK].",
        mistakes=[
            (
                ["un", "[UNK]"],
                "No piece fits the rest, so the whole word becomes one [UNK]. BERT does not keep half a word.",
            ),
            (["un", "x"], "x is in the vocabulary only as the beginning of a word. Inside a word you need ##x."),
            (["un"], "The rest of the word is lost. If a part cannot be covered, the whole word becomes one [UNK]."),
            (["un", "##x"], "##x is not in the vocabulary, so it must not come out."),
        ],
    )
    case.equal(
        "the result",
        case.call("zun", vocab, tried='"zun"'),
        ["[UNK]"],
        "No piece begins with z, so the word is one [UNK].",
    )
    _check_that_it_is_greedy(case)
    ids = {token: index for index, token in enumerate(sorted(vocab))}
    as_dict = case.call("unable", ids, tried="a vocabulary that is a dictionary")
    case.equal("the result", as_dict, ["un", "##able"], "`piece in vocab` works for sets and dictionaries alike.")
    _check_the_longest_word(case)


def _check_the_longest_word(case: Case) -> None:
    for length, expected in ((100, ["b"] + ["##b"] * 99), (101, ["[UNK]"])):
        long = case.call("b" * length, {"b", "##b"}, tried=f"a word of {length} characters")
        case.expect(
            list(long) == expected,
            f"But it should return {'100 pieces' if length == 100 else 'one [UNK]'}, and it returned {said(long)}.",
            "A word of more than 100 characters becomes one [UNK]. A word of exactly 100 is still split.",
        )


def _check_that_it_is_greedy(case: Case) -> None:
    """Splitters that go back, or that look for the fewest pieces, are cleverer than BERT, and give other ids."""
    vocab = {"un", "unh", "##happy", "##app", "##y"}
    fewest = (
        ["un", "##happy"],
        "un ##happy has fewer pieces, but the greedy rule does not compare splits: unh is the longest first piece.",
    )
    longer = case.call("unhappy", vocab, tried='"unhappy", with both unh ##app ##y and un ##happy in the vocabulary')
    at_each_start = "At each start, take the longest piece that is in the vocabulary."
    case.equal("the result", longer, ["unh", "##app", "##y"], at_each_start, mistakes=[fewest])
    back = (
        ["un", "##happy"],
        "Your search went back to a shorter first piece. The greedy rule never goes back: after unh ##app nothing "
        "fits, so the word is one [UNK].",
    )
    stuck = case.call("unhappy", vocab - {"##y"}, tried='"unhappy" without ##y in the vocabulary')
    case.equal("the result", stuck, ["[UNK]"], "After unh ##app nothing fits, so it is one [UNK].", mistakes=[back])
