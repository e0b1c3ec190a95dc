# %% [markdown]
# # 01 · The WordPiece tokenizer
#
# A model computes with numbers, but people write letters. In this chapter you build the part between them: BERT's
# **tokenizer**, which turns text into a sequence of ids. At the end it gives the same ids as `transformers`.
#
# ## What you will be able to do
#
# - explain, with numbers, why neither words nor characters are good units for a model
# - normalize any Unicode text the way BERT does
# - split a word into pieces by greedy longest-match-first, and say when it becomes `[UNK]`
# - learn a vocabulary from text by three criteria, with a pencil and with code
# - build the sequence that BERT reads: special tokens, pairs, padding, truncation, offsets
#
# **Time:** two sittings of about 40 and 60 minutes, and 25 more for what is optional ·
# **You need:** [00 · Start here](00_start_here.ipynb) ·
# **Next:** [01b · PyTorch in one sitting](01b_pytorch.ipynb)
#
# ## Recall
#
# 1. In the demonstration of chapter 00, BERT filled in a `[MASK]`. Which words could it choose from?
#
# <details><summary>Answer</summary>
#
# Only from the tokens of its **vocabulary**. The vocabulary decides what a model can read and what it can say. In
# this chapter you learn one from text.
#
# </details>
#
# 2. Which tokens can BERT use when it fills the gap: those to the left of it, or those to the right?
#
# <details><summary>Answer</summary>
#
# Both. Every token attends to every token, in both directions. A sequence of T tokens therefore has T · T weights in
# each attention head. That is one reason why the number of tokens matters.
#
# </details>
#
# 3. What does `hint("1.2")` do, and what does it cost?
#
# <details><summary>Answer</summary>
#
# It shows the first hint for exercise 1.2. Call it again and it shows the second. It costs nothing.
#
# </details>
#
# ## Where the tokenizer fits in
#
# ![The map of BERT from left to right: tokenizer, embeddings, then L layers of self-attention and feed-forward, then the heads. The tokenizer is lit: text goes in, ids of shape B, T come out.](pictures/01_where.svg)
#
# The tokenizer comes before the model. It has no weights, so training cannot repair its mistakes. `[B, T]` is the shape
# of the ids: B texts of T tokens.

# %% [markdown]
# ## Why not words, why not characters?
#
# The simplest idea is to give every word a number. Let's try it: we collect all words of the course's small world of
# facts. Then we read two texts that were not in it: other sentences about the same world, and a letter from a holiday.
#
# Guess before you run the cell: what share of the words in that letter will have no number?

# %% tags=["guess"]
import re

from bertedu.corpora.world import world_corpus
from bertedu.course import data_path

corpus = world_corpus()
train = list(corpus.train_sentences())
others = [s for document in corpus.heldout["unseen templates"] for s in document.sentences]
letter = data_path("texts/letter.txt").read_text(encoding="utf-8").splitlines()


def plain_words(sentence):  # lower case; a word, or a single other character
    return re.findall(r"\w+|[^\w\s]", sentence.lower())


known = {word for sentence in train for word in plain_words(sentence)}
print(f"{len(known):,} different words in {len(train):,} training sentences")
for name, sentences in [("other sentences", others), ("letter", letter)]:
    words = [word for sentence in sentences for word in plain_words(sentence)]
    unknown = [word for word in words if word not in known]
    print(f"{name}: {len(unknown) / len(words):.1%} of {len(words):,} words are unknown")
print(" ".join(word if word in known else "[UNK]" for word in plain_words(letter[1])))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The other sentences have nearly no new word: we chose phrasings whose words are in the training text. But more than a
# third of the letter is **out of vocabulary**, and the words that carry the news are gone (last line).
#
# </details>
#
# More training text helps, but it never solves the problem of words that are **out of vocabulary**: every new text
# brings new names, compounds and endings. A word list is also wasteful: *seal* and *seals* are two unrelated entries.
#
# What about characters? About forty of them spell everything in our text, so almost nothing is unknown. The next cell
# measures what that costs.

# %%
words = sum(len(plain_words(sentence)) for sentence in letter)
characters = sum(len(sentence) for sentence in letter)
ratio = characters / words
print(f"{words} words, {characters} characters: sequences get {ratio:.1f} times as long")
print(f"attention weights, T · T: {ratio**2:.0f} times as many")

# %% [markdown]
# Sequences get 5.5 times as long, and attention has to compute 31 times as many weights. A single character also means
# next to nothing: what does *t* tell you?
#
# ![The word earthlings as a word is one UNK and all is lost; as characters it is ten chips that each mean little; as pieces it is earth, ##ling and ##s, three chips with some meaning.](pictures/01_units.svg)
#
# **Subwords** are the compromise. Frequent words stay whole. Rare words fall into pieces that occur often enough to be
# learned. `##` marks a piece that continues a word. Single characters are the last resort.
#
# That leaves three questions. What counts as a word? How is a word split, once we have the pieces? And where do the
# pieces come from?
#
# ## Normalize the text
#
# Here are six strings: five spellings of the same French word, and a city. Guess: how many different words does
# Python find?

# %% tags=["guess"]
tricky = ["Café", "Cafe\u0301", "ca\u00adfé", "cafe\u200b", "CAFÉ!", "北京"]
print("lengths:", [len(string) for string in tricky])
print(len({string.split()[0] for string in tricky}), "different words")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Six. The first two look the same on the screen, but one contains the letter *é* and the other an *e* followed by a
# combining accent. The third hides a soft hyphen, the fourth a space of zero width.
#
# </details>
#
# ![A text with capitals, accents and a hidden mark is cleaned, loses its accents, is lower-cased, and is split into the words the, cafe, comma, angstrom and exclamation mark.](pictures/01_normalization.svg)
#
# **Normalization** makes strings equal that a reader takes to be equal. BERT does it in four steps.
#
# *Clean.* Signs that nobody sees are removed, and tabs and line ends become plain spaces. (Unicode gives each character
# a **category** of two letters. Control characters are `Cc`, and invisible format marks such as the soft hyphen are
# `Cf`. The rarer `Co`, `Cs` and U+FFFD in the code are explained in *Paper and code*.)
#
# *Strip accents and lower the case.* Unicode's form **NFD** takes letters apart: *é* becomes *e* and a mark of
# category `Mn`. BERT drops the marks, so both spellings of *café* meet. Only **uncased** models do this step. A
# **cased** model keeps accents and capitals, and for it the two spellings stay different.
#
# The next cell writes functions that clean a text and strip its accents. Python's `lower()` will do the rest. Guess:
# which of the six words in the cell's last line keep a letter that the English alphabet does not have?

# %% tags=["guess"]
import unicodedata


def clean(text):
    removed = ("Cc", "Cf", "Co", "Cs")
    keep = [c for c in text if c in "\t\n\r" or unicodedata.category(c) not in removed]
    return "".join(" " if c.isspace() else c for c in keep if c != "\ufffd")


def strip_accents(text):
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


print([unicodedata.category(c) for c in "a\u00ad\t\u200b"])
print([clean(string) for string in tricky])
print([unicodedata.name(c) for c in unicodedata.normalize("NFD", "é")])
print(strip_accents("Crème brûlée, Ångström, naïve, Øre, straße"))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Two words keep one. Unicode treats *Ø* and *ß* as letters of their own, without an accent to take off.
#
# </details>
#
# *Chinese characters.* Chinese is written without spaces, so BERT makes each Chinese character a word of its own.
#
# *Punctuation.* Each punctuation mark becomes a word too. Otherwise *harbour* and *harbour.* would be two different
# words. ASCII symbols such as `$` and `+` count as punctuation here, although Unicode calls them symbols.
#
# The next cell adds the last two steps, and the one after it puts all four together in `words_of`. `is_chinese` of the
# package knows the ranges of Chinese characters.

# %%
import string

from bertedu.tokenization.normalization import is_chinese


def is_punctuation(c):
    return c in string.punctuation or unicodedata.category(c).startswith("P")


def split_words(text):
    spaced = "".join(f" {c} " if is_punctuation(c) or is_chinese(c) else c for c in text)
    return spaced.split()


# %%
def words_of(text, lowercase=True):
    text = clean(text)
    if lowercase:  # one by one: str.lower() would look at the neighbors of a Greek sigma
        text = "".join(c.lower() for c in strip_accents(text))
    return split_words(text)


print([words_of(string) for string in tricky])
print(words_of("Don't pay $5.00 in 北京!"))

# %% [markdown]
# The five spellings have become one word, and the *!* is a word of its own. *Don't* became three words. BERT splits
# it the same way, and learns in pre-training what *don ' t* means together.
#
# The package does the same in `bertedu/tokenization/normalization.py`. Does it really? The next cell makes 2,000
# nasty strings from twelve blocks of Unicode, with control characters, joiners and odd spaces in between, and
# compares. (You need not read it.)

# %% tags=["hide-input"]
import random

from bertedu.tokenization.normalization import Normalization


def hard_strings(count, seed=0):
    blocks = (
        "20-7E A0-24F 250-36F 370-52F 600-6FF 900-97F E00-E7F 1E00-1FFF 2000-206F 3000-30FF"
    )
    ranges = [block.split("-") for block in f"{blocks} 4E00-9FA5 AC00-D7A3".split()]
    letters = [[chr(c) for c in range(int(a, 16), int(b, 16) + 1)] for a, b in ranges]
    old = unicodedata.ucd_3_2_0  # characters that all Unicode tables in use know alike
    letters = [[c for c in block if old.category(c) != "Cn"] for block in letters]
    mixed = [" ", " ", "\t", "\u0301", "\u200d", "\x0b", "'", "##", "[MASK]", "the", "ing"]
    draw = random.Random(seed)
    pools = [draw.choices(letters, k=2) + [mixed] for _ in range(count)]
    pools = [(pool, range(draw.randint(0, 40))) for pool in pools]
    return ["".join(draw.choice(draw.choice(pool)) for _ in n) for pool, n in pools]


hard = hard_strings(2000)
for lowercase in (True, False):
    package = Normalization(lowercase)
    different = sum(words_of(text, lowercase) != package.words(text) for text in hard)
    print(f"{'uncased' if lowercase else 'cased'}: {different} of {len(hard):,} strings differ")

# %% [markdown]
# No string differs, uncased or cased.
#
# ## Split a word: greedy longest-match-first
#
# Suppose that somebody has given us a vocabulary. How do we split a word with it? BERT's rule is **greedy
# longest-match-first**: take the longest piece that the word begins with, then go on with the rest. A piece that
# continues a word is written with `##`. So the word *able* and the ending *##able* are two different tokens, and we
# can put the words together again.
#
# ![The word unbreakable: first un, with breakable left; then ##break, longer than ##bre, with able left; then ##able, longer than ##a.](pictures/01_longest_match.svg)
#
# Greedy also means that the rule never goes back. If no piece fits the rest, it throws away the pieces found so far,
# and the **whole** word becomes one `[UNK]`.
#
# ### Exercise 1.1 · No way back
# ●○○○ · 5 minutes
#
# The vocabulary is `{un, unh, ##happy, ##app, ##y, ##er}`. Into which pieces does the rule split *unhappy*,
# *unhappier* and *happy*? Take a pencil, then write a list of three lists of strings. `check` tells you whether the
# answer is right, and if not, why. `hint("1.1")` helps.

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
splits = [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]]
### END SOLUTION
check("1.1", splits)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![For unhappier the rule takes unh and ##app; no piece fits ier, so the whole word is UNK. For unhappy, un and ##happy would have fitted, but unh was longer.](pictures/01_no_way_back.svg)
#
# `unh` is longer than `un`, so the rule takes it. The rest is *appy*, and `##happy` no longer fits. The shorter split
# `un ##happy` existed, but the greedy rule missed it. *unhappier* gets as far as `unh ##app`, and no piece fits
# *ier*, so the whole word is one `[UNK]`. *happy* needs a piece without `##` to begin with, and there is none.
#
# </details>

# %% [markdown]
# ### Exercise 1.2 · Longest match first
# ●●○○ · 15 minutes
#
# Now write the rule as a function. `split_word(word, vocab)` takes a word and a set (or dictionary) of tokens. It
# returns the list of pieces, or `["[UNK]"]` if the pieces cannot cover the word. As in `transformers`, a word of more
# than 100 characters is `[UNK]` at once: such a "word" is usually a key or encoded data, and not worth the search.


# %% tags=["exercise"]
def split_word(word, vocab):
    ### BEGIN SOLUTION
    if len(word) > 100:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = [end for end in range(len(word), start, -1) if prefix + word[start:end] in vocab]
        if not ends:
            return ["[UNK]"]
        pieces.append(prefix + word[start : ends[0]])
        start = ends[0]
    return pieces
    ### END SOLUTION


check("1.2", split_word)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `range(len(word), start, -1)` tries the longest piece first, so the first one that fits is the longest. The first
# piece has no prefix, all others have `##`, and `start` tells which is which. The `return` inside the loop throws the
# earlier pieces away. BERT wants that: half a word would be a wrong word.
#
# </details>

# %% [markdown]
# ### Touch it
#
# The next cell runs this loop at each key that you press, with a vocabulary of 12,288 tokens that was learned from
# books. Choose a word to see which pieces were looked up in it. Guess first: into which pieces does it cut
# *unhappiness*? Then find a long word that is one token, and a short one that needs four.

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

explorable(
    "pieces",
    checkpoint="mixed-mini",
    text="The librarian's unhappiness was unbelievable.",
    word=4,
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# `unh ##app ##iness`, and not `un ##happiness`: the loop takes the longest piece that fits, and `unh` is longer than
# `un`. It does not know what the parts of a word mean. Words that are frequent in books are one token, however long
# (*immediately*); rare ones are cut, however short.
#
# </details>

# %% [markdown]
# From here on we use the package's `split_word`, which is the same loop (`bertedu/tokenization/wordpiece.py`).
#
# Keep one consequence in mind. With the tokens `c`, `##a`, `##f` and `##e` we can write *cafe* but not *face*,
# because *face* begins with `f` and has its `c` inside. A character needs two tokens: one to begin a word, one to
# continue it. A learned vocabulary has both where its text needs them, because it starts from all characters of the
# text, in the forms that occur.
#
# **Here the first sitting ends.** You can normalize a text and split any word with a given vocabulary, as BERT
# does. The second sitting learns such a vocabulary from text, and builds the sequence that BERT reads.
#
# ## Learn the pieces from text
#
# Now the central question: where does the vocabulary come from? Here are ten words, with the number of times each
# occurs in some text. The next cell writes them as characters, which makes the text long. We may add a few longer
# pieces to the vocabulary. Which ones would you choose?

# %%
from bertedu.tokenization.wordpiece import split_word

counts = {"low": 10, "lower": 5, "lowest": 3, "new": 6, "newer": 4, "newest": 5}
counts |= {"wide": 3, "wider": 2, "widest": 2, "axe": 1}


def characters_of(word):  # "low" -> ["l", "##o", "##w"]
    return [word[0], *("##" + character for character in word[1:])]


words = {word: characters_of(word) for word in counts}
print(words["lowest"])
print(sum(counts[word] * len(pieces) for word, pieces in words.items()), "pieces in the text")

# %% [markdown]
# ![In low, lower and lowest, which occur 10, 5 and 3 times, the pieces l and ##o become one piece lo; the other pieces stay.](pictures/01_one_merge.svg)
#
# The plan is to grow the vocabulary by **merges**: look at all pairs of neighboring pieces, replace the best pair
# everywhere by one new piece, and repeat. But which pair is the best? The first criterion is **frequency**: the pair
# that occurs most often. This is **byte-pair encoding**, or BPE (Sennrich et al. 2016). If two pairs tie, we take the
# one whose pieces came into the vocabulary first.
#
# The next cell counts the pairs, and the one after it merges a pair in one word. Take a pencil first: how often does the
# pair `l ##o` occur in the text? And `##e ##r`?

# %% tags=["guess"]
from collections import Counter
from itertools import pairwise


def count(words, counts):  # how often each piece and each pair of neighbors occurs
    single, pairs = Counter(), Counter()
    for word, pieces in words.items():
        for piece in pieces:
            single[piece] += counts[word]
        for pair in pairwise(pieces):
            pairs[pair] += counts[word]
    return single, pairs


single, pairs = count(words, counts)
for pair, number in pairs.most_common(6):
    print(*pair, number)
print("##e ##r:", pairs["##e", "##r"])


# %%
def merge(pieces, pair):  # ["l", "##o", "##w"], ("l", "##o") -> ["lo", "##w"]
    merged, position = [], 0
    while position < len(pieces):
        if tuple(pieces[position : position + 2]) == pair:
            merged.append(pair[0] + pair[1].removeprefix("##"))
            position += 2
        else:
            merged.append(pieces[position])
            position += 1
    return merged


print(merge(words["lowest"], ("l", "##o")))
print(merge(["##a", "##a", "##a"], ("##a", "##a")))  # a piece is merged only once

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# `l ##o` occurs 10 + 5 + 3 = 18 times, and `##e ##r` 5 + 4 + 2 = 11 times.
#
# </details>
#
# The whole algorithm is a loop: count, choose, merge, repeat. The criterion is a parameter, because two others will
# follow. Write down the first four pieces that you expect, then run the cell.


# %% tags=["guess"]
def learn(counts, steps, criterion):  # yields each new token and its value
    words = {word: characters_of(word) for word in counts}
    tokens = sorted({piece for pieces in words.values() for piece in pieces})
    tokens.sort(key=lambda token: token.startswith("##"))  # beginnings first
    for _ in range(steps):
        single, pairs = count(words, counts)
        value = {pair: criterion(pair, single, pairs) for pair in pairs}
        best = min(value, key=lambda p: (-value[p], tokens.index(p[0]), tokens.index(p[1])))
        tokens.append(best[0] + best[1].removeprefix("##"))
        words = {word: merge(pieces, best) for word, pieces in words.items()}
        yield tokens[-1], value[best]


def frequency(pair, single, pairs):
    return pairs[pair]


print(*(token for token, _ in learn(counts, 9, frequency)))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The first nine merges with the number of times that the pair occurred: lo 18, low 18, ne 15, new 15, ##er 11, ##es 10, ##est 10, wi 7, wid 7.](pictures/01_first_merges.svg)
#
# *low*, *new*, *##er*, *##est*: stems and endings, and nobody told the loop what a stem or an ending is.
#
# </details>
#
# Frequency has a weakness, though: a pair can be frequent only because its parts are frequent. The second criterion
# divides by the frequency of the parts. It is the score by which tutorials usually explain WordPiece, so we call it
# the **WordPiece score**:
#
# $$\text{score}(a, b) = \frac{\text{freq}(ab)}{\text{freq}(a) \cdot \text{freq}(b)}$$
#
# By hand: the pair `l ##o` occurs 18 times, `l` 18 times and `##o` 18 times, so its score is 18 / (18 · 18) = 0.056.
# The pair `##e ##r` occurs 11 times and `##r` 11 times, but `##e` 40 times: 11 / (40 · 11) = 0.025. The letter *e*
# has many different neighbors, so this pair is less special.
#
# ### Exercise 1.3 · The first merge by WordPiece score
# ●●○○ · 8 minutes
#
# Which pair of the ten words has the highest WordPiece score? Answer with the new piece that its merge makes and with
# its score. For `l ##o` the answer would be `["lo", 0.056]`. A pencil and the ten counts are enough.

# %% tags=["exercise"]
### BEGIN SOLUTION
first_merge = ["ax", 1.0]
### END SOLUTION
check("1.3", first_merge)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# *axe* occurs once. So `a ##x` has the score 1 / (1 · 1) = 1. No score can be higher: `freq(ab)` is at most the
# smaller of the two counts, so the score is at most 1 divided by the larger one. A pair wins if its two pieces occur
# once in the whole text, side by side. That is the weakness of *this* criterion.
#
# </details>

# %% [markdown]
# Where does such a score come from? Schuster and Nakajima (2012, section 3), who invented WordPiece, used a third
# criterion: which merge raises the **likelihood** of the text most, the probability that a language model gives to it?
# The simplest language model draws each of the N pieces independently: piece a has the probability freq(a) / N. The
# product of all these probabilities is a tiny number, so one takes its logarithm, and the product becomes a sum. This is
# the **log-likelihood**:
#
# $$\log L = \sum_a \text{freq}(a) \cdot \log \frac{\text{freq}(a)}{N}
# = \sum_a \text{freq}(a) \cdot \log \text{freq}(a) \; - \; N \log N$$
#
# (The counts sum to N.) A merge replaces the counts freq(a) and freq(b) by freq(ab), freq(a) - freq(ab) and
# freq(b) - freq(ab), and N falls by freq(ab). All other terms stay. (For `l ##o`, 18 and 18 become 18, 0 and 0, and N
# falls from 178 to 160.) So we can compute its **gain** in log-likelihood.
#
# The WordPiece score is often said to measure this gain. Does it? The next cell computes the gain of `l ##o`,
# `##s ##t`, `w ##i`, `##e ##r` and `a ##x`. Guess first: which has the largest?
#
# The cell after it lets all three criteria learn from the ten words. The package's `learn_vocabulary` knows the first
# two. It keeps its counts up to date instead of counting anew, so it is fast enough for real text. The cell also
# counts how many of its merges differ from those of our loop.

# %% tags=["guess"]
from math import log


def wordpiece_score(pair, single, pairs):
    return pairs[pair] / (single[pair[0]] * single[pair[1]])


def log_likelihood(counts, N):  # the terms of these pieces, and that of all N
    return sum(n * log(n) for n in counts if n) - N * log(N)


def gain(pair, single, pairs):  # in log-likelihood, by merging the pair everywhere
    if pair[0] == pair[1]:  # such pairs can overlap, as in ##a ##a ##a: we leave them out
        return 0.0
    ab, a, b, N = pairs[pair], single[pair[0]], single[pair[1]], single.total()
    return log_likelihood([ab, a - ab, b - ab], N - ab) - log_likelihood([a, b], N)


for pair in [("l", "##o"), ("##s", "##t"), ("w", "##i"), ("##e", "##r"), ("a", "##x")]:
    print(f"{' '.join(pair):10} gain {gain(pair, single, pairs):5.1f}")

# %%
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary

criteria = {"frequency": frequency, "wordpiece_score": wordpiece_score, "gain": gain}
merges = {name: [t for t, _ in learn(counts, 9, by)] for name, by in criteria.items()}
for name in ("frequency", "wordpiece_score"):
    tokens = [t for t in learn_vocabulary(counts, 100, name) if len(t.strip("#")) > 1][5:14]
    different = sum(mine != theirs for mine, theirs in zip(merges[name], tokens))
    print(f"{name}: {different} of 9 merges differ from the package's")
print(*(f"{name:16} {' '.join(tokens)}" for name, tokens in merges.items()), sep="\n")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Five pairs by three criteria. Frequency and gain are highest for l ##o, with 18 and 58; the score is highest for a ##x, with 1.00, which occurs once.](pictures/01_criteria.svg)
#
# The score compares how often *a* and *b* are neighbors with how often chance alone would put them side by side. It
# does not say how often that happens in all, and the gain depends on both.
#
# </details>
#
# So keep the three criteria apart:
#
# | criterion | prefers |
# |---|---|
# | frequency | pairs that occur often |
# | WordPiece score | pairs of rare parts that occur only together |
# | gain in log-likelihood | pairs that occur often *and* whose parts belong together |
#
# ## The same on real text
#
# Now we learn from all training sentences. Each criterion may fill a vocabulary of 600 tokens. We count the tokens per
# word on the other sentences. Fewer is better: shorter sequences cost less. `BertTokenizer.train` learns a
# vocabulary from text. For the gain we have only our slow loop, which takes ten to thirty seconds.
#
# Guess: which criterion needs the fewest tokens? And what will the WordPiece score, which loves rare pairs, merge first?
# The first cell learns, the second prints, and the third draws tokens per word for vocabularies of 200 to 600 tokens.

# %%
from tqdm.auto import tqdm

from bertedu.tokenization import BertTokenizer

learned = {m: BertTokenizer.train(train, 600, method=m).tokens for m in criteria if m != "gain"}
word_counts = Counter(word for sentence in train for word in Normalization().words(sentence))
start = [*SPECIAL_TOKENS, *sorted({p for word in word_counts for p in characters_of(word)})]
steps = 600 - len(start)
merged = [token for token, _ in tqdm(learn(word_counts, steps, gain), total=steps)]
learned["gain"] = list(dict.fromkeys([*start, *merged]))


# %% tags=["guess"]
def tokens_per_word(tokenizer, sentences):
    words = sum(len(words_of(sentence)) for sentence in sentences)
    return sum(len(ids) for ids in tokenizer.encode_lines(sentences)) / words


for name, tokens in learned.items():
    merges = [token for token in tokens[5:] if len(token.removeprefix("##")) > 1]
    print(f"{name}: {tokens_per_word(BertTokenizer(tokens), others):.2f} tokens per word")
    print("  first merges:", *merges[:12])
    print("  the letter:", *BertTokenizer(tokens).tokenize(letter[5])[:20], "…")

# %% tags=["guess", "hide-input"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

sizes = [200, 300, 400, 500, 600]
figure = new_figure(6, 3.2)
axes = figure.subplots()
ends, curves = [], {}
for (name, tokens), color in zip(learned.items(), (BLUE, ORANGE, GREY)):
    values = [tokens_per_word(BertTokenizer(tokens[:size]), others) for size in sizes]
    curves[name] = values
    axes.plot(sizes, values, "o-", color=color)
    above = -0.2 if name == "frequency" else 0.12
    axes.text(sizes[2], values[2] + above, name.replace("_", " "), color=color)
    ends.append(f"{name.replace('_', ' ')} from {values[0]:.1f} to {values[-1]:.1f}")
for other in ("wordpiece_score", "gain"):
    fewer = [one < two for one, two in zip(curves["frequency"], curves[other])]
    assert all(fewer), f"at every size, frequency should need fewer tokens than {other}"
axes.set(xlabel="tokens in the vocabulary (V)", ylabel="tokens per word", ylim=(1, None))
quiet(axes)
summary = "Tokens per word fall as the vocabulary grows from 200 to 600 tokens"
Picture(figure, alt=f"{summary}: {', '.join(ends)}.")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The WordPiece score spent its first merges on numbers: digits are rare in the text, so dividing by their counts gives a
# high score. Look at what that does to the letter: single characters nearly everywhere. More text does not help: there
# too, pieces that occur once, side by side, have the highest score. Frequency and the true gain are close, so the bad
# vocabulary is the fault of the score, not of the idea of likelihood.
#
# </details>
#
# At every size, frequency needs the fewest tokens per word. That is why this course learns by frequency. The
# `tokenizers` library does so too, under the name WordPiece.
#
# ## Build the sequence that BERT reads
#
# BERT reads sequences of ids, with a few **special tokens** in them. They come first in every vocabulary that we
# learn. `[PAD]` fills up short sequences, so that sequences of different lengths fit in one tensor. `[UNK]` you know.
# `[CLS]` opens every sequence, and its vector will represent the whole sequence. `[SEP]` closes each text. `[MASK]`
# hides a token in pre-training.
#
# A **pair** of texts, such as a question and a passage, goes into one sequence. The **token type ids** say which text
# a token belongs to: 0 for the first, 1 for the second. The **attention mask** is 1 for real tokens and 0 for
# padding.
#
# The next cell encodes a batch of two pairs, with a vocabulary of 1,000 tokens, learned by frequency. For each text it
# prints the tokens, their ids, the token type ids and the attention mask. Guess the token type of each `[SEP]`.

# %% tags=["guess"]
tokenizer = BertTokenizer.train(train, 1000)
print({token: tokenizer.vocab[token] for token in SPECIAL_TOKENS})
batch = tokenizer(["Is the seal wet?", "A seal."], ["It swims.", "Yes."])
print(batch.input_ids.shape)  # [B, T]
for row, tokens in enumerate(batch.tokens):
    print(*(f"{token:>6}" for token in tokens))
    for numbers in (batch.input_ids, batch.token_type_ids, batch.attention_mask):  # [B, T]
        print(*(f"{number:6}" for number in numbers[row].tolist()))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The second pair of the batch: CLS, a, seal, full stop, SEP, y, ##es, full stop, SEP and padding. Its type ids are 0 up to the first SEP and then 1, its mask is 1 for tokens and 0 for padding.](pictures/01_pair.svg)
#
# The batch has the shape [2, 14]: two sequences, as long as the longer one. Each `[SEP]` has the type of the text that
# it closes.
#
# </details>
#
# ![A pair of four and six tokens loses the last token of the longer text twice; now both have four, and either may lose its last token (both dashed).](pictures/01_truncation.svg)
#
# What if a sequence is too long? **Truncation** removes tokens at the end of a text. In a pair, BERT takes them from
# the *longer* text, one by one: a short question should not lose a word while a long passage has hundreds. This is
# called **longest first**. If both texts are equally long and one more token has to go, either of them may lose it:
# libraries differ here (see "Paper and code").
#
# ### Exercise 1.4 · A pair that fits
# ●●●○ · 15 minutes
#
# Write `encode_pair(first, second, max_length)` for two lists of ids. Return `input_ids`, `token_type_ids` and
# `attention_mask`, three lists of exactly `max_length` numbers. Truncate longest first until the pair fits together
# with its `[CLS]` and two `[SEP]`, and pad if it is shorter. `[PAD]` is 0, `[CLS]` is 2, `[SEP]` is 3.
#
# `second` may be `None`. Then there is one text only, `[CLS] first [SEP]`, with two special tokens and the token type
# 0 everywhere.


# %% tags=["exercise"]
def encode_pair(first, second, max_length):
    ### BEGIN SOLUTION
    if second is None:
        first = first[: max_length - 2]
        input_ids, token_type_ids = [2, *first, 3], [0] * (len(first) + 2)
    else:
        first, second = list(first), list(second)
        while len(first) + len(second) + 3 > max_length:
            (first if len(first) > len(second) else second).pop()
        input_ids = [2, *first, 3, *second, 3]
        token_type_ids = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    attention_mask = [1] * len(input_ids)
    padding = [0] * (max_length - len(input_ids))
    return input_ids + padding, token_type_ids + padding, attention_mask + padding
    ### END SOLUTION


check("1.4", encode_pair)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One text has two special tokens, so `max_length - 2` of its ids fit. In a pair we truncate first, while there are
# still two lists. `list(…)` makes copies, because `pop` would shorten the caller's own lists. Each `[SEP]` belongs to the text that it closes. Padding is 0 in all three lists. Its token type does not
# matter, because the mask hides the position.
#
# </details>

# %% [markdown]
# One thing is still missing. The tokenizer has changed the text: capitals, accents and spaces are gone. But a user
# who asks BERT for an answer wants it as it was written. So each token keeps its **offsets**: where it begins and
# ends in the original text. Guess the offsets of `ca` and `##fe` in the next cell. There is a soft hyphen after
# *Café*.

# %% tags=["guess"]
text = "Zoë's Café\u00ad au lait"
encoding = tokenizer(text)
for token, (start, end) in zip(encoding.tokens[0], encoding.offsets[0]):
    print(f"{token:8} {start:2} {end:2}  {text[start:end]!r}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The characters of Zoë's Café au lait in numbered boxes; above them the tokens, each over the characters that it came from.](pictures/01_offsets.svg)
#
# `##fe` comes from characters 8 and 9, and there `text[8:10]` still has its accent. The next token begins at 12: the
# soft hyphen and the space belong to no token. The apostrophe is `[UNK]`, because no training sentence has one.
#
# </details>
#
# ## The proof
#
# You now have all the parts. The first cell below joins them in a short class, `MyTokenizer`. It uses `words_of` from
# above, and the package's `split_word`, which is the loop of exercise 1.2. Is this BERT's tokenizer? The second cell
# compares three tokenizers with the same vocabulary: yours, the package's, and that of `transformers`. They read
# 6,000 training sentences, the other sentences, the letter and the nasty strings, uncased and cased. The cell counts
# the texts for which any id differs from `transformers`.


# %%
from bertedu.tokenization.wordpiece import split_word  # again, if you have just run your own


class MyTokenizer:
    def __init__(self, vocab, lowercase=True):
        self.vocab, self.lowercase = vocab, lowercase

    def pieces(self, text):
        for part in re.split(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])", text):
            if part in SPECIAL_TOKENS:  # special tokens in the text stay whole
                yield part
            else:
                for word in words_of(part, self.lowercase):
                    yield from split_word(word, self.vocab)

    def __call__(self, text):
        return [self.vocab[token] for token in ("[CLS]", *self.pieces(text), "[SEP]")]


print(MyTokenizer(tokenizer.vocab)("The seal [MASK] to the beach."))

# %%
import warnings

from transformers import BertTokenizer as Reference

# Uncased, BERT drops marks that some scripts need, and the package warns of it.
warnings.filterwarnings("ignore", message="an uncased tokenizer")
texts = list(dict.fromkeys([*train[:6000], *others, *letter, *hard]))
for lowercase in (True, False):
    package = BertTokenizer.train(texts, 3000, lowercase)
    mine = MyTokenizer(package.vocab, lowercase)
    expected = Reference(vocab=dict(package.vocab), do_lower_case=lowercase)(texts).input_ids
    mine_differ = sum(mine(text) != ids for text, ids in zip(texts, expected))
    package_differ = sum([2, *package.encode(t), 3] != ids for t, ids in zip(texts, expected))
    print(f"{'uncased' if lowercase else 'cased':8} {len(texts):,} texts.", end=" ")
    print(f"Different: yours {mine_differ}, the package's {package_differ}")

# %% [markdown]
# No id of any text differs, and some of these strings were never written by a human being. The package's tests
# compare offsets, pairs and truncation with `transformers` in the same way.
#
# ## The neighbors: BPE and Unigram (optional)
#
# WordPiece has two relatives that you will meet in other models. **BPE** (GPT-2, RoBERTa) learns by frequency too,
# but splits a word differently: it replays its merges in the order in which it learned them (with the nine merges from
# above, it makes `lo` in *lowest*, then `low`, `##es` and `##est`). **Unigram** (Kudo 2018;
# used in ALBERT and T5) goes the other way. It starts with far too many pieces, each with a probability, and drops
# those whose removal hurts the likelihood of the text least. It splits a text into its most probable pieces.
#
# Both are often used through the **SentencePiece** library, which treats a space as a character, written ▁. We train
# both on our sentences with the `tokenizers` library, Unigram in SentencePiece's way. Then we split a sentence in
# five ways, and compare the ways in numbers: vocabulary size V, tokens per word on both texts, and the share of
# `[UNK]`.

# %%
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers


def trained(model, trainer, pre_tokenizer):
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizer
    made.train_from_iterator(train, trainer)
    return lambda text: [made.id_to_token(i) for i in made.encode(text).ids]


options = {"vocab_size": 1000, "special_tokens": ["[UNK]"], "show_progress": False}
unigram_trainer = trainers.UnigramTrainer(unk_token="[UNK]", **options)
split_at = pre_tokenizers.BertPreTokenizer()
splitters = {
    "characters": lambda text: list(text.lower()),
    "words": lambda text: [w if w in known else "[UNK]" for w in plain_words(text)],
    "WordPiece": tokenizer.tokenize,
    "BPE": trained(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer(**options), split_at),
    "Unigram": trained(models.Unigram(), unigram_trainer, pre_tokenizers.Metaspace()),
}
for name, split in splitters.items():
    tokens = split("The unhappiest photographers.")
    print(f"{name:10} {len(tokens):2}  {' '.join(tokens)}")


# %%
sizes = {"characters": len(set("".join(train).lower())), "words": len(known)}
print("              V   others   letter   [UNK] in the letter")
for name, split in splitters.items():
    tokens = [[t for sentence in text for t in split(sentence)] for text in (others, letter)]
    words = [sum(len(plain_words(sentence)) for sentence in text) for text in (others, letter)]
    ratios = "".join(f"{len(t) / number:9.2f}" for t, number in zip(tokens, words))
    unknown = tokens[1].count("[UNK]") / len(tokens[1])
    print(f"{name:10}{sizes.get(name, 1000):6,}{ratios}{unknown:22.1%}")

# %% [markdown]
# The word list loses two of the three words in the first output. WordPiece and BPE find similar pieces.
#
# Now the table. All three subword methods read the letter without a single `[UNK]`, and with fewer tokens than
# characters. BPE and WordPiece are close, and need less than half as many. Unigram cuts the words that it does not know mostly into single letters, and
# often its ▁ is a token of its own there.
#
# Does the method matter for the model? Bostrom and Durrett (2020) trained masked language models that differed only
# in the tokenizer. Unigram was as good as BPE or better, in English and in Japanese. So do not judge a tokenizer by
# tokens per word alone: here, Unigram needs the most of the three subword methods.
#
# ## The same with `tokenizers`, and odd input (optional)
#
# In a project you would let a library learn the vocabulary. `BertWordPieceTokenizer` reads texts, writes a `vocab.txt`
# as BERT's, and opens it again.

# %%
import tempfile

from tokenizers import BertWordPieceTokenizer

theirs = BertWordPieceTokenizer(lowercase=True)
theirs.train_from_iterator(train, vocab_size=1000, show_progress=False)
folder = tempfile.mkdtemp()
theirs.save_model(folder)  # writes vocab.txt
reopened = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)

# %%
pair = reopened.encode("The seal swims.", "Is it wet?")
print(*pair.tokens)
print(reopened.decode(pair.ids))
shared = len(set(reopened.get_vocab()) & set(tokenizer.vocab))
assert shared >= 990, "ties are broken in another order, so a few pieces may differ"

# %% [markdown]
# `decode` gives the text back, without special tokens and in lower case. What was lost in normalization stays lost.
#
# Now input that no training text had: a typo, another script, an emoji, a special token in the middle of a text. Guess
# which of them are split, and which are lost.

# %% tags=["guess"]
for typed in ("seal", "sael", "Ελλάδα", "🙂", "[MASK]", "[unused1]"):
    print(f"{typed:10}", *tokenizer.tokenize(typed))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# A typo still has letters that the vocabulary knows, so it falls into short pieces: nothing is lost, but their
# vectors say little. One letter that the vocabulary doesn't have makes the whole word `[UNK]`. Special tokens are found
# before the text is split, so a user who types `[MASK]` hides a word of yours: filter such input.
#
# `[unused1]` is split here, because our vocabulary has no such token. The published one has 994 of them, from
# `[unused0]` on: rows of the embedding table that pre-training never used. Write your own words over their names in
# `vocab.txt`, and the table keeps its size.
#
# </details>
#
# ## A domain's own vocabulary (optional)
#
# A vocabulary knows the text that it was learned from. `clinic.txt` holds a hundred invented notes from a hospital.
# How many tokens does such a note cost with pieces learned from our small world? And with pieces learned from eighty
# other notes? The next cell compares two vocabularies of 600 tokens.
#
# The cell after it shows pieces in color: blue begins a word, grey continues one, orange is `[UNK]`, and the small number
# is the id. Its first line is from the letter, in the 1,000 tokens from before. Below it, type a text of your own and
# choose the vocabulary that reads it.

# %%
notes = data_path("texts/clinic.txt").read_text(encoding="utf-8").splitlines()
general = BertTokenizer.train(train, 600)
clinical = BertTokenizer.train(notes[:80], 600)
for name, one in [("general", general), ("clinical", clinical)]:
    on_notes, on_world = tokens_per_word(one, notes[80:]), tokens_per_word(one, others)
    print(f"{name:9} tokens per word: notes {on_notes:.2f}, world {on_world:.2f}")
    print("  ", *one.tokenize(notes[80]))

# %% tags=["nbval-ignore-output", "hide-input"]
from html import escape

import ipywidgets
from IPython.display import HTML, display


def colored(tokenizer, text):
    spans = []
    for token, index in zip(tokenizer.tokenize(text), tokenizer.encode(text)):
        background = "#E4E4E4" if token.startswith("##") else "#CFE5F5"
        background = "#FFD9B3" if token == "[UNK]" else background
        style = f"background:{background}; color:#222; padding:2px 4px; border-radius:3px"
        spans.append(f'<span style="{style}">{escape(token)} <small>{index}</small></span>')
    return f'<div style="line-height:2.2">{" ".join(spans)}</div>'


wide = ipywidgets.Layout(width="95%")
text_box = ipywidgets.Text(notes[80], description="text", layout=wide)
choices = {"world": general, "clinic": clinical}
chosen = ipywidgets.Dropdown(options=choices, description="vocabulary")
view = ipywidgets.HTML(colored(general, notes[80]))
for box in (text_box, chosen):
    box.observe(
        lambda _: view.set_trait("value", colored(chosen.value, text_box.value)), "value"
    )
display(HTML(colored(tokenizer, letter[5])), ipywidgets.VBox([text_box, chosen, view]))

# %% [markdown]
# With its own vocabulary, a note needs about half the tokens, and has pieces such as `##cardiogram`. In exchange,
# the sentences of our world get longer. SciBERT (Beltagy et al. 2019) did this on a large scale: its vocabulary is
# about as large as BERT's, was learned from scientific papers, and shares only 42 % of its tokens with BERT's. The
# price is high. Ids mean nothing to a model that was trained with other ids, so a new vocabulary needs new
# pre-training.
#
# ## Broken BERT: the search that forgets names (optional)
#
# Here is a small search engine. It compares a question with each sentence of a list, and returns the sentence that
# shares most tokens with the question. The right sentence is in the list. The engine raises no error and prints no
# warning. The next cell asks it three questions.


# %%
def broken_tokenize(text, vocab):
    return [piece for word in split_words(clean(text)) for piece in split_word(word, vocab)]


is_capital = r"The capital of \w+ is \w+\."
capitals = sorted({sentence for sentence in train if re.fullmatch(is_capital, sentence)})


def search(question, tokenize):
    asked = set(tokenize(question, tokenizer.vocab))
    shared = [len(asked & set(tokenize(s, tokenizer.vocab))) for s in capitals]
    return capitals[shared.index(max(shared))]


questions = [f"What is the capital of {sentence.split()[3]}?" for sentence in capitals[2:9:3]]
for question in questions:
    print(question, search(question, broken_tokenize))

# %% [markdown]
# Whatever you ask, the answer is the first sentence of the list. Where would you look?
#
# <details><summary>A first clue</summary>
#
# Look at the tokens. When a language model behaves oddly, they are the first thing to print, before any weight.
#
# </details>
#
# The next cell prints what the engine sees of its first two sentences.

# %%
for sentence in capitals[:2]:
    print(sentence, "->", *broken_tokenize(sentence, tokenizer.vocab))

# %% [markdown]
# ![The sentence as the engine reads it has UNK in place of every word with a capital letter; as it should be read, it has the name in small letters or pieces.](pictures/01_forgotten.svg)
#
# The vocabulary is uncased, but the text was not lower-cased. So each word with a capital letter is `[UNK]`, and that
# is every name. The opposite mistake exists too: lower-cased text with a cased vocabulary. Then names fall into small
# wrong pieces or become `[UNK]`.
#
# Both happen easily, because a `vocab.txt` does not say which kind it is. That is why Google's code compares the
# switch `do_lower_case` with the name of the checkpoint. Early versions of `transformers` lower-cased text for cased
# models by default (issue 131 of that project).
#
# ### Exercise 1.5 · Ask the vocabulary
# ●●●● · 12 minutes
#
# Write `repaired_tokenize(text, vocab)`. It is not told whether the vocabulary is cased or uncased. It finds out from
# the vocabulary itself, and normalizes the text accordingly. `Normalization(lowercase=True).words(text)` gives the
# words for an uncased vocabulary, `lowercase=False` those for a cased one. You can use `split_word` and
# `SPECIAL_TOKENS`.


# %% tags=["exercise"]
def repaired_tokenize(text, vocab):
    ### BEGIN SOLUTION
    ordinary = [token for token in vocab if token not in SPECIAL_TOKENS]
    cased = any(token != token.lower() for token in ordinary)
    words = Normalization(lowercase=not cased).words(text)
    return [piece for word in words for piece in split_word(word, vocab)]
    ### END SOLUTION


check("1.5", repaired_tokenize)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A vocabulary that was learned from lower-cased text has no token with a capital, except for the special tokens,
# which have capitals in both kinds. `Normalization(lowercase=True)` also strips the accents. Lower-casing alone would
# turn *Café* into *café*, which an uncased vocabulary does not know either.
# `BertTokenizer.from_pretrained("vocab.txt")` decides in the same way.
#
# </details>

# %%
# With the package's tokenizer, which lower-cases for this vocabulary:
for question in questions:
    print(question, search(question, lambda text, vocab: tokenizer.tokenize(text)))

# %% [markdown]
# ## Paper and code
#
# - **How BERT's vocabulary was learned.** The paper (Devlin et al. 2019, section 3) says WordPiece with 30,000 tokens
#   and cites Wu et al. 2016. Google's README for BERT says that the code that learned it is not included, because it
#   depends on internal libraries. Google later described a generator that follows BERT's, in the guide to TensorFlow
#   Text ("Subword tokenizers"). It works from the top down: it starts with whole words and breaks up those that are
#   rarer than a threshold. It uses neither merges nor the WordPiece score.
# - **What libraries do.** The trainer that `tokenizers` calls WordPiece merges by frequency (its maintainers say so
#   in issue 144), as this course does by default. `method="wordpiece_score"` is there to compare.
# - **Size.** The released uncased English vocabulary has 30,522 tokens, the cased one 28,996. Multiply by D = 768: in
#   the uncased Base model, the token embedding alone has 23 million weights, a fifth of the whole.
# - **Very long words.** Google's code gives up on a word of more than 200 characters, `transformers` and this course
#   on a word of more than 100.
# - **Special tokens in the text.** `transformers` and this course keep a literal `[MASK]` whole. Google's tokenizer
#   splits it into `[`, `mask`, `]`.
# - **A pair that is too long.** In fine-tuning, Google's code pops from the longer text, and from the second if both
#   are equally long. In pre-training it removes tokens from the front or the end of the longer text, at random. If
#   the two become equally long and one position is left over, `transformers` and this course give it to the text that
#   was longer at first, or to the second text if both began equally long.
# - **Cleaning.** Google's code removes the categories `Cc` and `Cf` and U+FFFD. `transformers` and this course also
#   remove `Co`, characters for private use. A surrogate (`Cs`, half a character) is an error in `transformers`, and this
#   course removes it. U+FFFD is the sign for a character that could not be read.
# - **Speed.** The greedy loop tries up to n ends from each of n starts. Song et al. (2021) find the same pieces in
#   linear time. This course remembers the words that it has split, because natural text repeats its words.
#
# ## Summary
#
# - Word lists leave new words unknown, and characters make sequences long. Subwords are the compromise.
# - Normalization cleans the text and makes each punctuation mark a word. An uncased model also drops case and accents.
# - WordPiece splits greedily, longest match first, with `##` for continuations. A word that it cannot cover becomes a
#   single `[UNK]`.
# - Our vocabulary grows by merging pairs. Merging by frequency works well. The WordPiece score prefers pairs of
#   rare pieces and is not the gain in likelihood.
# - A sequence is `[CLS]` first `[SEP]` second `[SEP]`, with token type ids, an attention mask, and offsets into the
#   text.
# - Tokenizer and model belong together. The wrong vocabulary or the wrong case breaks a model without an error.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(1)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- tokenization-01 -->
# **1. Why do language models read subwords, and not words or characters? What do they lose?**
#
# <details><summary>Answer in half a minute</summary>
#
# A vocabulary of words never ends, and unknown words become `[UNK]`. Characters are few, but make sequences five
# times as long, and attention pays for length. Subwords give a vocabulary of fixed size that covers nearly any text,
# and related words share pieces. They lose spelling and digits, and languages rare in the tokenizer's training text
# need more tokens.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Take the two extremes. With words you need hundreds of thousands of entries, each with a vector of its own, and a
# new name or a typo is still `[UNK]`: everything about it is lost. Also "play" and "playing" are two unrelated
# entries. With characters you never meet an unknown one, the vocabulary is tiny, and nothing is lost. But a text has
# about five times as many characters as words, so each sequence costs five times as much in the linear layers and
# more in attention, and the model has to learn first what a word is.
#
# Subwords stand between: frequent words are one token, rare words are a few pieces, in the worst case single
# characters. The vocabulary has a size that you choose, 30,522 for BERT.
#
# What you lose: the pieces are chosen by frequency, so they need not be the parts that mean something. The model
# doesn't see letters, so spelling, rhymes and digits are hard: a number may be cut anywhere. Labels for words must be
# carried over to pieces. And the vocabulary fits the text it was learned on: another language or a technical domain
# is cut into more pieces, so the same content costs more computation and hits the length limit sooner. That is called
# fertility, and you can measure it in a line.
#
# </details>
#
# <!-- tokenization-05 -->
# **2. You want a BERT for hospital notes. Would you learn a new vocabulary?**
#
# <details><summary>Answer in half a minute</summary>
#
# Usually not alone: the weights are tied to the ids, so a new vocabulary means pre-training from scratch. First
# measure tokens for each word on the notes, and how many notes are truncated. If that is tolerable, keep the
# vocabulary and continue pre-training on notes. In between: add a few hundred frequent terms as new tokens and train
# on.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A vocabulary can't be exchanged like a file. Row 2,307 of the embedding table belongs to one token, and all layers
# were trained on it. With a new vocabulary the embeddings have to be learned again, and in effect the model too.
#
# So the question is what the old vocabulary costs me. I measure on my own notes: tokens for each word against
# ordinary English, the share of notes over the limit of 512, and `[UNK]`s, for example from special symbols. Drug
# names fall into five pieces; that makes sequences longer, perhaps by a third, but the model can learn such
# sequences.
#
# Then there are three roads. The cheapest is to keep everything and continue masked-language-model training on notes,
# some hours on one GPU. That is where most of the gain lies (Gururangan et al. 2020). The second: add a few hundred
# of the most frequent terms as new tokens, with vectors that begin as the mean of their pieces, and continue
# training. The third: a new vocabulary and pre-training from scratch, which pays with billions of words of domain
# text. PubMedBERT did that and gained over mixed models on biomedical tasks (Gu et al. 2021), SciBERT found about 0.6
# points for the vocabulary itself.
#
# I would decide by a downstream score, with the first road as the baseline. And hospital notes are private: a
# vocabulary learned on them can contain names of patients, so it has to be reviewed before it leaves the hospital.
#
# </details>
#
# <!-- tokenization-04 -->
# **3. The same weights give much worse results in production than in your notebook. How can the tokenizer be at
# fault, and how do you prove it?**
#
# <details><summary>Answer in half a minute</summary>
#
# Another vocabulary file, another case setting, text cleaned earlier, another `max_length`, a missing attention mask,
# special tokens added twice or not at all. Few of these raise an error, since all ids are valid. I tokenize fifty
# texts in both places and compare the ids number by number. Then I make that comparison a test that ships with the
# model.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A model knows words only by their ids. If the ids mean something else, everything runs and the results are bad. So I
# take fifty real texts, print the input ids, token types and masks in the notebook and in the service, and compare.
# They must be equal, number by number.
#
# If they differ, what differs tells the reason. All ids differ: another vocabulary file, from another model or
# another order of lines. Names and beginnings of sentences differ: lower-casing is on here and off there; a cased
# vocabulary with lower-cased text gives many pieces, an uncased one with capitals gives `[UNK]`. Accents differ:
# `strip_accents` follows the case setting in BERT unless it is set. The first and last id differ: `[CLS]` and `[SEP]`
# are missing or there twice, because the service adds them to text that the tokenizer has already completed. Long
# texts differ: another `max_length`, or truncation on the other side. Ids are equal but results change with the
# batch: the attention mask is not passed on. Everything is equal: then it is not the tokenizer, and I look at
# dropout, at the order of the labels, and at the precision.
#
# To prevent it: the tokenizer is saved in the same folder as the weights, and a test with ten texts and their
# expected ids and logits runs when the service starts.
#
# </details>
#
# ## Next
#
# You have sequences of ids. But an id says nothing about what a token means or where it is in the text. Chapter 02
# gives each of them a vector, and from there on all parts of BERT are trained.
#
# Have you never trained a network with PyTorch? Go on with [01b · PyTorch in one sitting](01b_pytorch.ipynb). Its first
# five questions tell you whether you can go on with [02 · Input embeddings](02_input_embeddings.ipynb) at once.
