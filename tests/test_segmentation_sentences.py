"""Cutting paragraphs into sentences: the stops that end one, and those that do not."""

import random

import pytest
import regex

from bertedu.segmentation import split_sentences

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


# The same for other scripts, put together as they are written: with a space, or without one where `apart` is empty.
OTHER_SCRIPTS = {
    "Hindi": (" ", ["यह एक घर है।", "क्या वह नदी है?", "हाँ, वह बड़ी है!", "समाप्त।"]),
    "Hindi without spaces": ("", ["यह एक घर है।", "वह नदी है।"]),
    "Hindi with a typed danda": (" ", ["यह एक घर है|", "वह नदी है |", "फिर चले गए"]),
    "Sanskrit verses": (" ", ["धर्मक्षेत्रे कुरुक्षेत्रे ॥ १ ॥", "दृष्ट्वा तु पाण्डवानीकम् ॥ २ ॥"]),
    "Bengali": (" ", ["এটি একটি ঘর।", "নদী কোথায়?"]),
    "Punjabi": (" ", ["ਇਹ ਘਰ ਹੈ।", "ਉਹ ਨਦੀ ਹੈ।"]),
    "Tamil": (" ", ["இது வீடு.", "அது நதி.", "எங்கே?"]),
    "Sinhala": (" ", ["මෙය නිවසකි.", "එය ගඟකි."]),
    "Urdu": (" ", ["یہ گھر ہے۔", "دریا کہاں ہے؟", "وہاں۔"]),
    "Arabic": (" ", ["هل أنت بخير؟", "نعم، شكرا.", "وصل د. أحمد اليوم!"]),
    "Hebrew": (" ", ["זה בית.", "איפה הנהר?", "שם!"]),
    "Amharic": (" ", ["ይህ ቤት ነው።", "ወንዙ የት ነው፧", "እዚያ ነው፡፡", "ጨረሰ።"]),
    "Armenian": (" ", ["Սա տուն է։", "Այն գետ է:", "Վերջ։"]),
    "Greek": (" ", ["Τι κάνεις;", "Είμαι καλά· εσύ;", "Ναι."]),
    "Georgian": (" ", ["ეს სახლია.", "ის მდინარეა.", "სად არის?"]),
    "Russian": (" ", ["Это дом.", "А. С. Пушкин жил там, т. е. здесь.", "Правда?"]),
    "German": (" ", ["Er sagte: „Ja.“", "»Wirklich?«", "Sie ging."]),
    "Spanish": (" ", ["¿Dónde está?", "¡Aquí!", "Éste es."]),
    "Chinese": ("", ["我喜欢北京。", "他说：“你好！”", "然后走了……真的吗？", "版本3.5很好！！"]),
    "Chinese with typed marks": ("", ["你好!", "我是学生.", "真的吗?", "是的。"]),
    "Japanese": ("", ["今日は晴れです。", "「行くよ。」", "本当？", "はい．", "長さは３．５です｡"]),
    "Korean": (" ", ["이것은 집입니다.", "강은 어디입니까?", "저기!"]),
    "Burmese": (" ", ["ဒါက အိမ်ပါ။", "မြစ်က ဘယ်မှာလဲ။"]),
    "Khmer": (" ", ["នេះជាផ្ទះ។", "ទន្លេនៅឯណា?", "ចប់៕"]),
    "Tibetan": (" ", ["འདི་ཁང་པ་རེད།", "དེ་ཆུ་རེད།"]),
    "Thai lines": ("\n", ["นี่คือบ้าน", "นั่นคือแม่น้ำ ไหลช้า", "จบ"]),
    "Lao lines": ("\n", ["ນີ້ແມ່ນເຮືອນ", "ນັ້ນແມ່ນແມ່ນ້ຳ"]),
}


@pytest.mark.parametrize("case", OTHER_SCRIPTS)
def test_the_stops_of_every_script_end_its_sentences(case: str):
    apart, sentences = OTHER_SCRIPTS[case]
    assert split_sentences(apart.join(sentences)) == sentences


def test_a_comma_or_a_dash_goes_on_with_the_sentence():
    assert split_sentences("क्या?, हाँ। — नहीं") == ["क्या?, हाँ। — नहीं"]


def test_lines_of_chinese_and_japanese_are_joined_without_a_space():
    assert split_sentences("中文第一行继续\n  下一行。第二句。") == ["中文第一行继续下一行。", "第二句。"]
    assert split_sentences("用BERT\nmodel很好。") == ["用BERT model很好。"]


def stops() -> list[str]:
    """What Unicode counts as the end of a sentence, but for the three marks that stand inside of words."""
    return regex.findall(r"(?V1)[\p{SB=STerm}--[!?]]", "".join(map(chr, range(0x110000))))


def test_every_stop_of_unicode_ends_a_sentence_with_or_without_a_space():
    found = stops()
    assert len(found) > 150
    for stop in found:
        assert split_sentences(f"კატა{stop} ძაღლი") == [f"კატა{stop}", "ძაღლი"], hex(ord(stop))
        assert split_sentences(f"კატა{stop}ძაღლი") == [f"კატა{stop}", "ძაღლი"], hex(ord(stop))


@pytest.mark.parametrize("row", [".", "。", "। ", "॥ 1 ", "!", '?"', "．", "; ", "| ", "“", "…", "A. ", "།།"])
def test_rows_of_marks_take_no_longer_than_they_are_long(row: str):
    text = row * 50_000  # with time in the square of the number this test takes minutes
    assert "".join(split_sentences(text)).replace(" ", "") == "".join(text.split())


def test_sentences_of_any_text_lose_nothing_but_white_space():
    rng = random.Random(0)
    signs = "a B1 。.!?…|;:。，“”\"'()「」।॥१ंका؟نΑα։Սไทย၊က\n 我ありカ."
    for _ in range(3000):
        text = "".join(rng.choice(signs) for _ in range(rng.randint(0, 25)))
        found = split_sentences(text)
        assert "".join("".join(found).split()) == "".join(text.split()), ascii(text)
        assert all(one == one.strip() and one for one in found)
