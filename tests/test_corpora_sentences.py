"""Cutting paragraphs into sentences: the stops that end one, and those that do not."""

import pytest

from bertedu.corpora.sentences import split_sentences

# Each case is a list of sentences; the splitter must find them again in the joined paragraph.
CASES = {
    "plain": ["It rains.", "We stay in!", "Do you mind?"],
    "titles": ["Mr. Bennet spoke to Mrs. Long.", "Dr. Brown heard them on St. James Street."],
    "latin": ["Use a colour, e.g. Red or Blue, i.e. Whatever you like.", "Nothing else, cf. Table 3, is needed."],
    "references": ["See Fig. 3 and Eq. 4 of Vol. 2, pp. 10 to 12.", "Smith et al. Report the same in No. 7."],
    "decimals": ["The rate fell from 3.14 to 2.71 in version 1.10.", "After that it rose by .5 a year."],
    "initials": ["J. S. Bach wrote it.", "J.R.R. Tolkien did not, nor did George W. Bush."],
    "countries": ["The U.S. Army came to the U.K. Embassy.", "They left the U.S.", "The rest stayed."],
    "hours": ["She rose at 6 a.m.", "The train had gone.", "It came back at 9 p.m. on Sunday."],
    "etcetera closes": ["Bring pens, paper, etc.", "We begin at nine.", "Pens, etc. are on the table."],
    "ellipsis": ["He waited...", "Nobody came.", "Well… perhaps later, he thought ... and slept."],
    "quotes": ['"Run!" she cried.', '"Where to?"', '"Home."', "They ran."],
    "curly quotes": ["“Is he married or single?”", "“Oh!", "Single, my dear.”", "‘It is so.’", "So it was."],
    "brackets": ["It holds (see the proof.)", "It also holds here (with care).", "[It ends.]", "Now on."],
    "a small letter goes on": ["The file setup.py is read by pip. then built? no, copied.", "That is all."],
    "numbers begin": ["It took years.", "1914 was the last.", "2 people saw it."],
    "several marks": ["What?!", "Really!!", "Yes."],
    "enumeration": ["1. Open the door.", "2. Go in."],
    "letters of a list": ["A. Open the door.", "B. Go in."],
    "companies": ["Acme Inc. Sells anvils.", "It is bigger than Foo Ltd. and Bar Co.", "The end."],
    "capital names": ["He takes vitamin C.", "It helps.", "We chose plan B.", "The other failed."],
    "no last stop": ["The end comes.", "And then nothing"],
}


@pytest.mark.parametrize("case", CASES)
def test_abbreviations_and_decimals_do_not_cut_a_sentence_in_two(case: str):
    assert split_sentences(" ".join(CASES[case])) == CASES[case]


def test_hard_wrapped_lines_and_double_spaces_leave_a_sentence_whole():
    assert split_sentences("  One line\nand the\tnext.  Two   more. ") == ["One line and the next.", "Two more."]


def test_an_empty_paragraph_gives_no_sentence():
    assert split_sentences("") == split_sentences(" \n ") == []


def test_splitting_loses_and_changes_no_character():
    paragraph = " ".join(sentence for case in CASES.values() for sentence in case)
    assert " ".join(split_sentences(paragraph)) == paragraph
