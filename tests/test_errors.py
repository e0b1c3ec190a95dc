"""How a value is shown in a sentence."""

from bertedu.errors import shown


def test_a_value_in_a_message_is_cut_and_keeps_to_its_line():
    assert shown("two\nlines\x1b[2J") == r"'two\nlines\x1b[2J'"
    assert shown("x" * 1_000_000) == "'" + "x" * 47 + " … " + "x" * 9 + "'"
