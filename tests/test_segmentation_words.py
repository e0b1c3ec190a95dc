"""Words in twenty scripts: as Unicode's rules divide them, and a dictionary where a script has no spaces."""

import random
from itertools import pairwise

import pytest
from icu4py.breakers import WordBreaker

from bertedu.segmentation import joined, segments, spaced_words, words

# Each text with its words divided by |, by hand, from the rules of UAX 29; Thai, Lao, Khmer, Burmese by a dictionary.
WORDS = {
    "Latin": "don't|U.S|3.5|10\u202f000|1,000|naïve|co|op|a_b|Müller's",
    "Cyrillic": "йод|и|ёлка|п'ять|об'єкт",
    "Greek": "Τι|κάνεις|σήμερα|άνθρωπος",
    "Armenian": "Սա|տուն|է",
    "Hebrew": 'שלום|עולם|צה"ל|שָׁלוֹם',
    "Arabic": "مُحَمَّد|رسول|أنت|٣٫٥",
    "Syriac": "ܫܠܡܐ|ܥܠܡܐ",
    "Ethiopic": "ሰላም|ለዓለም",
    "Georgian": "გამარჯობა|მსოფლიო",
    "Devanagari": "क्या|हिन्दी|में|है|१२३",
    "Bengali": "আমি|বাংলায়|কথা",
    "Gurmukhi": "ਪੰਜਾਬੀ|ਵਿੱਚ",
    "Gujarati": "ગુજરાતી|ભાષા|ક્યાં",
    "Oriya": "ଓଡ଼ିଆ|ଭାଷା",
    "Tamil": "தமிழ்|மொழி|நன்றி",
    "Telugu": "తెలుగు|భాష|స్త్రీ",
    "Kannada": "ಕನ್ನಡ|ಭಾಷೆ",
    "Malayalam": "മലയാളം|ഭാഷ|ക്ഷമിക്കുക",
    "Sinhala": "සිංහල|ශ්‍රී|ලංකා",  # the joiner belongs to the word
    "Korean": "한국어|문장입니다",
    "Chinese": "我|爱|北|京|BERT|模|型",
    "Japanese": "東|京|タワー|は|高|い",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ|ᠬᠡᠯᠡ",
    "Thai": "ภาษา|ไทย|กำลัง|เรียน|๑๒๓",
    "Lao": "ພາສາ|ລາວ|ກຳລັງ|ຮຽນ",
    "Khmer": "ភាសាខ្មែរ|ជា|ភាសាផ្លូវការ",
    "Burmese": "ကျွန်တော်|မြန်မာ|စာ|ကို|လေ့လာ",
}
UNSPACED = ("Chinese", "Japanese", "Thai", "Lao", "Khmer", "Burmese")


@pytest.mark.parametrize("script", WORDS)
def test_words_are_those_of_the_script(script: str):
    right = WORDS[script].split("|")
    assert words(("" if script in UNSPACED else " ").join(right)) == right


def test_marks_are_segments_of_their_own_and_white_space_is_none():
    text = "Don't!  (क्या?)\n「東京」"
    found = [text[start:end] for start, end in segments(text)]
    assert found == ["Don't", "!", "(", "क्या", "?", ")", "「", "東", "京", "」"]
    assert segments("") == segments(" \n") == [] and words("!? — …") == []


LETTERS = ((0x41, 0x5B), (0x61, 0x7B), (0xC0, 0x180), (0x391, 0x3A2), (0x410, 0x450), (0x5D0, 0x5EB), (0x621, 0x63B))
MORE_LETTERS = ((0x905, 0x93A), (0x995, 0x9A9), (0xC15, 0xC29), (0x1200, 0x1240), (0x10D0, 0x10F0), (0x30, 0x3A))
MARKS = (0x301, 0x64E, 0x93F, 0x94D, 0x200C, 0x200D)


def some_text(rng: random.Random) -> str:
    """Letters of scripts that are written with spaces, some with a mark, signs and spaces."""
    text = ""
    for _ in range(rng.randint(1, 12)):
        letter = chr(rng.randrange(*rng.choice((*LETTERS, *MORE_LETTERS))))
        text += rng.choice((letter, letter, letter + chr(rng.choice(MARKS)), rng.choice(" .,:;'’_-!?()\"€—…\n")))
    return text


def test_any_text_in_scripts_with_spaces_is_divided_as_icu_divides_it():
    rng = random.Random(0)
    for _ in range(2000):
        text = some_text(rng)
        right = [part for part in WordBreaker(text, "en") if part.strip()]
        assert [text[start:end] for start, end in segments(text)] == right, ascii(text)


def test_any_text_is_divided_without_loss():
    rng = random.Random(1)
    for _ in range(2000):
        text = "".join(chr(rng.choice((rng.randrange(0x3000), rng.randrange(0xD800), 0xE33, 0x20))) for _ in range(12))
        spans = segments(text)
        assert "".join(text[start:end] for start, end in spans) == "".join(text.split()), ascii(text)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert segments("\ud800 คำ\udfff")  # half characters are no reason to stop


def test_texts_are_joined_as_their_script_does():
    assert joined(["One.", "Two."]) == "One. Two."
    assert joined(["我来了。", "“好！”", "他说。"]) == "我来了。“好！”他说。"
    assert joined(["今日は", "晴れ。"]) == "今日は晴れ。" and joined(["한국어", "문장"]) == "한국어 문장"
    assert joined(["用", "BERT", "模", "型"]) == "用 BERT 模型"
    assert joined([]) == "" and joined(["यह।", "वह।"]) == "यह। वह।"
    assert joined(["“" * 10**5, "。" + "”" * 10**5, "好"])  # in no more time than it is long


def test_words_are_counted_between_spaces_where_there_are_any():
    assert spaced_words("A well-known fact, isn't it?") == ["A", "well-known", "fact,", "isn't", "it?"]
    assert spaced_words("我爱北京。") == list("我爱北京") and spaced_words("⼀") == ["⼀"]
