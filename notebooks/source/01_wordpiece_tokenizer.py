# %% [markdown]
# # 01 · The WordPiece tokenizer
#
# A model computes with numbers, and people write letters. In this chapter you build what stands between them:
# the tokenizer of BERT, from the first accent to the last `[SEP]`, with the same ids as `transformers`.
#
# ## What you will be able to do
#
# - say, with numbers, why neither words nor characters are good units for a model
# - turn any text of the world into clean words, as BERT does
# - split a word into pieces, greedy and longest first, and say when it becomes `[UNK]`
# - learn a vocabulary from text by two criteria, with a pencil and with code
# - build the row that BERT reads: special tokens, pairs, padding, truncation, offsets
#
# **Time:** 60 minutes · **You need:** [00 · Start here](00_start_here.ipynb) · **Next:** [02 · Input embeddings](02_input_embeddings.ipynb)
#
# ## Recall
#
# 1. In the demonstration of chapter 00 BERT filled in a `[MASK]`. Which words could it choose from?
#
# <details><summary>Answer</summary>
#
# From the tokens of its vocabulary, and from nothing else. Whoever makes the vocabulary decides what a model can
# read and what it can say. That is the work of this chapter.
#
# </details>
#
# 2. What does BERT see to the left and to the right of the gap?
#
# <details><summary>Answer</summary>
#
# All of it: every token looks at every token, in both directions. So the number of tokens in a row matters twice
# over: T tokens have T · T looks at each other.
#
# </details>
#
# 3. What does `hint("1.2")` do, and what does it cost?
#
# <details><summary>Answer</summary>
#
# It gives the first hint of exercise 1.2, and when you call it again the second. It costs nothing.
#
# </details>
#
# ## Where the tokenizer stands
#
# The tokenizer comes before the model, and it has no weights: what it gets wrong, no training mends. Each arrow below
# is a section of this chapter. What stands to the right of the ids belongs to the chapters that follow.

# %%
from bertedu.course import check, data_path, hint, quiz
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

steps = [
    ("text", "Unhappiest café!"),
    ("words", "unhappiest · cafe · !"),
    ("pieces", "un ##happi ##est\ncafe !"),
    ("ids [B, T]", "2 61 408 97 350 9 3"),
    ("BERT", "embeddings, encoder,\nheads"),
]
figure = new_figure(10, 1.8)
axes = figure.subplots()
for x, (name, example) in enumerate(steps):
    box = {"boxstyle": "round,pad=0.5", "facecolor": GREY if name == "BERT" else BLUE, "edgecolor": "none"}
    axes.text(x, 1, name, ha="center", va="center", fontsize=12, color="white", bbox=box)
    axes.text(x, 0.25, example, ha="center", va="center", fontsize=9)
for x, step in enumerate(["normalize", "split", "look up", ""]):
    axes.annotate("", (x + 0.7, 1), (x + 0.3, 1), arrowprops={"arrowstyle": "->"})
    axes.text(x + 0.5, 1.22, step, ha="center", fontsize=9)
axes.set(xlim=(-0.5, 4.5), ylim=(-0.1, 1.5))
axes.axis("off")
Picture(figure, alt="From left to right: text, words, pieces and ids, in blue, are the tokenizer; BERT follows in grey.")

# %% [markdown]
# ## Words fail, and so do characters
#
# The simplest idea: every word gets a number. We try it on the course's small world of facts, and then read two texts
# that were not in it: other sentences about the same world, and a letter from a holiday.
#
# Guess before you run the cell: what share of the letter's words will have no number?

# %%
import re

from bertedu.corpora.world import world_corpus

corpus = world_corpus()
train = list(corpus.train_sentences())
others = [sentence for document in corpus.heldout["unseen templates"] for sentence in document.sentences]
letter = data_path("texts/letter.txt").read_text(encoding="utf-8").splitlines()

def plain_words(sentence):  # lower case; a word, or a single other character
    return re.findall(r"\w+|[^\w\s]", sentence.lower())

known = {word for sentence in train for word in plain_words(sentence)}
print(f"{len(known):,} different words are known from {len(train):,} training sentences")
for name, sentences in [("other sentences", others), ("the letter", letter)]:
    words = [word for sentence in sentences for word in plain_words(sentence)]
    unknown = [word for word in words if word not in known]
    print(f"{name}: {len(unknown) / len(words):.1%} of {len(words):,} words are unknown")
print(" ".join(word if word in known else "[UNK]" for word in plain_words(letter[1])))

# %% [markdown]
# The last line is what a model with a list of words reads. The words that carry the news are gone. More text helps,
# but it never cures: every new text brings new names, new compounds, new endings. A list of words is wasteful too.
# It holds *seal* and *seals* as two strangers, each with its own row of weights to learn.
#
# So take characters: some forty signs spell everything in our text. Hardly anything is unknown. What does it cost?

# %%
words = sum(len(plain_words(sentence)) for sentence in letter)
characters = sum(len(sentence) for sentence in letter)
ratio = characters / words
print(f"{words} words, {characters} characters: rows become {ratio:.1f} times as long")
print(f"looks of tokens at each other, T · T: {ratio**2:.0f} times as many")

# %% [markdown]
# Every row is several times as long, attention costs the square of that, and a single unit says next to nothing:
# what does *t* mean? **Subwords** lie between the two. Frequent words stay whole; rare words fall into pieces that
# are met often enough to mean something, such as *un*, *##believ*, *##ably*. Single characters are the last resort.
#
# That leaves three questions. What is a word? Given the pieces, how is a word split? And where do the pieces come
# from?
#
# ## First make the words clean
#
# Here are six strings: five spellings of the same French word, and a city. How many different words does Python find?

# %%
tricky = ["Café", "Cafe\u0301", "ca\u00adfé", "cafe\u200b", "CAFÉ!", "北京"]
print([len(string) for string in tricky])
print(len({string.split()[0] for string in tricky}), "different words")

# %% [markdown]
# Six. The first two look alike on every screen, but one has a letter *é*, the other an *e* and a combining accent. The
# third hides a soft hyphen, the fourth a space of no width. A vocabulary that met them all would learn one word five
# times. **Normalization** makes equal what reads equal.
#
# First, **clean**. Unicode gives each character a category of two letters. Control characters (`Cc`), invisible format
# marks (`Cf`), private (`Co`) and half (`Cs`) code points go. Every kind of white space becomes a plain space.
#
# Then **accents and case**. Unicode's form NFD takes letters apart: *é* becomes *e* and a mark of category `Mn`. Drop
# the marks, and both spellings of *café* meet. Only *uncased* models do this; a *cased* one keeps accents and capitals.
#
# Guess: which of the five words below will keep something that looks foreign?

# %%
import unicodedata

def clean(text):
    keep = [c for c in text if c in "\t\n\r" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs")]
    return "".join(" " if c.isspace() else c for c in keep if c != "\ufffd")

print([unicodedata.category(c) for c in "a\u00ad\t\u200b"])
print([clean(string) for string in tricky])

# %%
def strip_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")

print([unicodedata.name(c) for c in unicodedata.normalize("NFD", "é")])
print(strip_accents("Crème brûlée, Ångström, naïve, Øre, straße"))

# %% [markdown]
# *Ø* and *ß* are letters of their own, not letters with a mark, so they stay.
#
# Last, **Chinese** and **punctuation**. Chinese is written without spaces, so BERT makes each Chinese character a word.
# Each punctuation mark is a word too, or *harbour* and *harbour.* would be strangers again. ASCII symbols such as `$`
# and `+` count as punctuation here, though Unicode calls them symbols.

# %%
import string

from bertedu.tokenization.normalization import is_chinese

def is_punctuation(c):
    return c in string.punctuation or unicodedata.category(c).startswith("P")

def split_words(text):
    apart = "".join(f" {c} " if is_punctuation(c) or is_chinese(c) else c for c in text)
    return apart.split()

def words_of(text, lowercase=True):
    text = clean(text)
    if lowercase:
        text = "".join(c.lower() for c in strip_accents(text))  # one by one: str.lower looks at the neighbours
    return split_words(text)

print([words_of(string) for string in tricky])
print(words_of("Don't pay $5.00 in 北京!"))

# %% [markdown]
# The five spellings have become one word, and the *!* stands alone. *Don't* became three words; BERT does so too, and
# sees *don ' t* often enough to live with it.
#
# The package does the same in `bertedu/tokenization/normalization.py`. Really the same? We ask with strings drawn from
# twelve blocks of Unicode, with control characters, joiners and odd spaces in between.

# %%
import random

from bertedu.tokenization.normalization import Normalization

def hard_strings(count, seed=0):
    blocks = [(0x20, 0x7E), (0xA0, 0x24F), (0x250, 0x36F), (0x370, 0x52F), (0x600, 0x6FF), (0x900, 0x97F),
              (0xE00, 0xE7F), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x3000, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3)]  # fmt: skip
    old = unicodedata.ucd_3_2_0  # characters that every table of Unicode in use knows alike
    letters = [[chr(c) for c in range(a, b + 1) if old.category(chr(c)) != "Cn"] for a, b in blocks]
    mixed = [" ", " ", "\t", "\u0301", "\u200d", "\x0b", "'", "##", "[MASK]", "the", "ing"]
    draw = random.Random(seed)
    pools = [draw.choices(letters, k=2) + [mixed] for _ in range(count)]
    return ["".join(draw.choice(draw.choice(pool)) for _ in range(draw.randint(0, 40))) for pool in pools]

hard = hard_strings(2000)
for lowercase in (True, False):
    reference = Normalization(lowercase)
    different = sum(words_of(text, lowercase) != reference.words(text) for text in hard)
    print(f"lowercase={lowercase}: {different} of {len(hard):,} hard strings differ")

# %% [markdown]
# ## Greedy, and longest first
#
# Now suppose that somebody gave us a vocabulary. How does a word fall into pieces? BERT's rule fits on a stamp: **take the
# longest piece that the word begins with, then go on with the rest.** A piece that continues a word is written with
# `##`, so that *able* the word and *##able* the ending are two tokens with two meanings, and so that words can be
# put together again.
#
# By hand, with the vocabulary `{un, able, ##able, ##a, ##break, ##bre}` and the word *unbreakable*:
#
# | rest of the word | longest piece that fits | pieces so far |
# |---|---|---|
# | unbreakable | `un` | un |
# | breakable | `##break` (longer than `##bre`) | un ##break |
# | able | `##able` (longer than `##a`) | un ##break ##able |
#
# Greedy means that there is no way back. If no piece fits the rest, the pieces found so far are thrown away, and the
# **whole** word becomes one `[UNK]`.
#
# ### Exercise 1.1 · No way back
# ●○○○ · 3 minutes
#
# The vocabulary is `{un, unh, ##happy, ##app, ##y, ##er}`. Into which pieces does the rule split *unhappy*,
# *unhappier* and *happy*? Take a pencil, then write a list of three lists of strings.

# %% tags=["exercise"]
### BEGIN SOLUTION
pieces = [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]]
### END SOLUTION
check("1.1", pieces)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `unh` is longer than `un`, so the rule takes it, and then `##happy` does not fit any more: the rest is *appy*. There
# was a split in two pieces, `un ##happy`, and greedy missed it. *unhappier* gets as far as `unh ##app`, and no piece
# begins *ier*: the whole word is one `[UNK]`. *happy* is a word, and `##happy` only continues one.
#
# </details>

# %% [markdown]
# ### Exercise 1.2 · Longest match first
# ●●○○ · 12 minutes
#
# Write `split_word(word, vocab)` for a word and a set (or dictionary) of tokens. Return the list of pieces, or
# `["[UNK]"]` where the word cannot be covered. BERT also gives up on any word of more than 100 characters: that is a
# link or a key, and not worth the search. Stuck? `hint("1.2")`

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
# `range(len(word), start, -1)` tries the ends from far to near, so the first that fits is the longest. The first piece
# has no prefix, all others have `##`: `start` tells which is which. `return` inside the loop throws the earlier pieces
# away, which is what BERT wants: half a word would be a wrong word.
#
# </details>

# %% [markdown]
# We go on with the package's `split_word`, which is the same loop (`bertedu/tokenization/wordpiece.py`).
#
# One consequence to remember: with the tokens `c`, `##a`, `##f` and `##e` we can write *cafe* but not *face*. It begins
# with `f`, and its `c` stands inside. Every character has to be there twice, as a beginning and as a continuation. A
# learned vocabulary takes care of that: it starts from all the characters of its text, in the forms that occur.
#
# ## Where the pieces come from
#
# This is the heart of the matter. Here are ten words, and how often each stands in some text. As characters they
# are long; a few longer pieces may join the vocabulary. Which ones would you choose?

# %%
from bertedu.tokenization.wordpiece import split_word
counts = {"low": 10, "lower": 5, "lowest": 3, "new": 6, "newer": 4, "newest": 5, "wide": 3, "wider": 2, "widest": 2, "axe": 1}

def characters_of(word):  # "low" -> ["l", "##o", "##w"]
    return [word[0], *("##" + character for character in word[1:])]
words = {word: characters_of(word) for word in counts}
print(words["lowest"])
print(sum(counts[word] * len(pieces) for word, pieces in words.items()), "pieces in the whole text")

# %% [markdown]
# The plan: look at all pairs of neighbours, **merge** the best pair into one new piece wherever it stands, and start
# again. Every merge adds one token to the vocabulary. What is "the best pair"?
#
# **By frequency**, it is the pair that stands most often. That is byte-pair encoding (Sennrich et al. 2016), and it is
# what the `tokenizers` library does under the name WordPiece. Take a pencil first: how often does `l ##o` stand in the
# text? And `##e ##r`?

# %%
from collections import Counter
from itertools import pairwise

def count(words):  # how often each piece, and each pair of neighbours, stands in the text
    single, pairs = Counter(), Counter()
    for word, pieces in words.items():
        for piece in pieces:
            single[piece] += counts[word]
        for pair in pairwise(pieces):
            pairs[pair] += counts[word]
    return single, pairs

single, pairs = count(words)
for pair, number in pairs.most_common(6):
    print(*pair, number)
print("and ##e ##r", pairs["##e", "##r"])

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
print(merge(["##a", "##a", "##a"], ("##a", "##a")))  # from the left, and never the same piece twice

# %% [markdown]
# `l ##o` stands 10 + 5 + 3 = 18 times, and `##o ##w` just as often. Of equals we take the one whose pieces came into
# the vocabulary first. Merging it is a walk along each word, from the left.
#
# Now the loop: count, choose, merge, again. The score is a parameter, because a second criterion is about to come.
# Write down the first four pieces that you expect, then run it.

# %%
def learn(steps, score):
    words = {word: characters_of(word) for word in counts}
    tokens = sorted(set("".join(counts))) + sorted({"##" + c for word in counts for c in word[1:]})
    for _ in range(steps):
        single, pairs = count(words)
        best = min(pairs, key=lambda pair: (-score(pair, single, pairs), tokens.index(pair[0]), tokens.index(pair[1])))
        tokens.append(best[0] + best[1].removeprefix("##"))
        words = {word: merge(pieces, best) for word, pieces in words.items()}
        yield tokens[-1], score(best, single, pairs)

def frequency(pair, single, pairs):
    return pairs[pair]

print(*(f"{token} {score}" for token, score in learn(9, frequency)), sep="   ")

# %% [markdown]
# *low*, *new*, *##er*, *##est*: words and endings, and nobody told the loop what a word or an ending is.
#
# **By likelihood.** Frequency has a weak side: a pair can be frequent only because its parts are frequent. The score
# with which WordPiece is usually described divides by that:
#
# $$\text{score}(a, b) = \frac{\text{freq}(ab)}{\text{freq}(a) \cdot \text{freq}(b)}$$
#
# It asks how much more often *a* and *b* are neighbours than independent pieces would be. By hand: `l ##o` stands 18
# times, `l` 18 times and `##o` 18 times, so its score is 18 / (18 · 18) = 0.056. `##e ##r` stands 11 times and `##r` 11
# times, but `##e` 40 times: 11 / (40 · 11) = 0.025. The letter *e* has many neighbours, so this one is less special.
#
# ### Exercise 1.3 · The first merge by likelihood
# ●●○○ · 5 minutes
#
# Of all pairs in the ten words, which one has the highest likelihood score? Answer with the new piece that its merge
# makes and with the score: for `l ##o` it would be `["lo", 0.056]`. A pencil and the ten counts will do.

# %% tags=["exercise"]
### BEGIN SOLUTION
first_merge = ["ax", 1.0]
### END SOLUTION
check("1.3", first_merge)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# *axe* stands once. So `a ##x` has the score 1 / (1 · 1) = 1, and no score can be higher: `freq(ab)` is at most the
# smaller of the two counts. The rarest pair of the whole text wins. That is the weak side of *this* criterion.
#
# </details>

# %%
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary
def likelihood(pair, single, pairs):
    return pairs[pair] / (single[pair[0]] * single[pair[1]])
print(*(f"{token} {score:.2f}" for token, score in learn(9, likelihood)), sep="   ")
for method, score in [("frequency", frequency), ("wordpiece_score", likelihood)]:
    package = [token for token in learn_vocabulary(counts, 100, method)[5:] if len(token.removeprefix("##")) > 1]
    print(method, "equals the package:", package[:9] == [token for token, _ in learn(9, score)])

# %% [markdown]
# The loop counts everything anew for each merge; the package's `learn_vocabulary` keeps its counts, with a heap on top,
# and is quick enough for real text. It finds the same. The two criteria learn from the same ten words in opposite order. Frequency begins with what saves most pieces,
# likelihood with what belongs together most exclusively, however rare it is.
#
# ## The same on real text
#
# Now all the training sentences. Each method may make 1,000 tokens. Guess: which one will need fewer tokens for a word
# of the other sentences? And what will likelihood, which loves the rare and exclusive, merge first of all?

# %%
from bertedu.tokenization import BertTokenizer

def tokens_per_word(tokenizer, sentences):
    words = sum(len(words_of(sentence)) for sentence in sentences)
    return sum(len(ids) for ids in tokenizer.encode_lines(sentences)) / words

methods = ("frequency", "wordpiece_score")
learned = {method: BertTokenizer.train(train, 1000, method=method) for method in methods}
for method, tokenizer in learned.items():
    print(f"{method}: {tokens_per_word(tokenizer, others):.2f} tokens per word")
    merges = [token for token in tokenizer.tokens[5:] if len(token.removeprefix("##")) > 1]
    print("  first merges:", *merges[:14])
    print("  ", *tokenizer.tokenize(letter[5]))

# %%
sizes = [200, 400, 800, 1200, 1600, 2000]
lines = {m: [tokens_per_word(BertTokenizer.train(train, V, method=m), others) for V in sizes] for m in methods}
figure = new_figure(6, 3.2)
axes = figure.subplots()
for (method, values), color in zip(lines.items(), (BLUE, ORANGE)):
    axes.plot(sizes, values, "o-", color=color)
    axes.text(sizes[2], values[2] + 0.12, method, color=color)
axes.set(xlabel="tokens in the vocabulary (V)", ylabel="tokens per word", ylim=(1, None))
quiet(axes)
ends = ", ".join(f"{m} from {lines[m][0]:.1f} to {lines[m][-1]:.1f}" for m in methods)
summary = f"Tokens per word fall as the vocabulary grows from 200 to 2,000 tokens: by {ends}."
Picture(figure, alt=summary)

# %% [markdown]
# Likelihood spent its first merges on numbers. Digits hardly stand in the text, but where they do, the same two stand
# together. Rare pairs have small denominators. So frequency gives the shorter rows at every size, by far. That
# is why this course, like the `tokenizers` library, learns by frequency. Likelihood needs a text so large that even its
# rare pairs are not accidents.
#
# ## From pieces to a row
#
# BERT reads rows of ids with a few marks in them. Five tokens are special and stand first in each vocabulary that we
# learn. `[PAD]` fills short rows, so that rows of different length fit in one tensor. `[UNK]` you know. `[CLS]` opens
# every row; its vector will stand for the whole row. `[SEP]` closes each text. `[MASK]` hides a token in pre-training.
#
# A **pair** of texts, such as a question and a passage, shares one row. Which of the two a token belongs to is told by
# a second row of numbers, the `token_type_ids`. A third one, the `attention_mask`, says 1 for what is real and 0 for
# padding. Guess the shape of the batch below, and the type of each `[SEP]`.

# %%
tokenizer = learned["frequency"]
print({token: tokenizer.vocab[token] for token in SPECIAL_TOKENS})
batch = tokenizer(["Is the seal wet?", "A seal."], ["It swims.", "Yes."])
print(batch.input_ids.shape)  # [B, T]
for tokens, ids, types, mask in zip(batch.tokens, batch.input_ids, batch.token_type_ids, batch.attention_mask):
    print(*(f"{token:>6}" for token in tokens))
    for row in (ids, types, mask):  # each [T]
        print(*(f"{number:6}" for number in row.tolist()))

# %% [markdown]
# Rows that are too long lose tokens at their end. In a pair, BERT takes them from the *longer* text, one by one: a
# short question should not lose a word while a long passage has hundreds. When both are equally long, the second one
# pays.
#
# ### Exercise 1.4 · A pair that fits
# ●●●○ · 12 minutes
#
# Write `pair_row(first, second, max_length)` for two lists of ids. Return `input_ids`, `token_type_ids` and
# `attention_mask`, three lists of exactly `max_length` numbers: cut the pair, as above, until it fits with its
# `[CLS]` and two `[SEP]`, and pad it where it is shorter. `[PAD]` is 0, `[CLS]` is 2, `[SEP]` is 3.

# %% tags=["exercise"]
def pair_row(first, second, max_length):
    ### BEGIN SOLUTION
    first, second = list(first), list(second)
    while len(first) + len(second) + 3 > max_length:
        (first if len(first) > len(second) else second).pop()
    input_ids = [2, *first, 3, *second, 3]
    token_type_ids = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    attention_mask = [1] * len(input_ids)
    padding = [0] * (max_length - len(input_ids))
    return input_ids + padding, token_type_ids + padding, attention_mask + padding
    ### END SOLUTION

check("1.4", pair_row)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Cutting comes first, while there are still two lists. `list(…)` makes copies, because `pop` would shorten the
# caller's own lists. The first `[SEP]` belongs to the first text and the second to the second. Padding is 0 in all
# three: token type 0 means nothing where the mask says that there is nothing.
#
# </details>

# %% [markdown]
# One thing is still missing. The tokenizer has changed the text: capitals, accents and spaces are gone, and who asks
# BERT for an answer wants it as it was written. So each token keeps its **offsets**: where it begins and ends in the
# original text. Guess what the offsets of `ca` and `##fe` will be; there is a soft hyphen after *Café*.

# %%
text = "Zoë's Café\u00ad au lait"
encoding = tokenizer(text)
for token, (start, end) in zip(encoding.tokens[0], encoding.offsets[0]):
    print(f"{token:8} {start:2} {end:2}  {text[start:end]!r}")

# %% [markdown]
# ## The proof
#
# All the parts are there. Together they are a tokenizer of fifteen lines. Three judges decide whether it is BERT's: your
# class, the package's, and the tokenizer of `transformers` with the same vocabulary. They read thousands of training
# sentences, all of the other sentences, the letter, and the hard strings, uncased and cased.

# %%
class MyTokenizer:
    def __init__(self, vocab, lowercase=True):
        self.vocab, self.lowercase = vocab, lowercase

    def pieces(self, text):
        for part in re.split(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])", text):  # special tokens in the text stay whole
            if part in SPECIAL_TOKENS:
                yield part
            else:
                for word in words_of(part, self.lowercase):
                    yield from split_word(word, self.vocab)

    def __call__(self, text):
        return [self.vocab[token] for token in ("[CLS]", *self.pieces(text), "[SEP]")]

mine = MyTokenizer(tokenizer.vocab)
print(mine("The seal [MASK] to the beach."))

# %%
from transformers import BertTokenizer as Reference
texts = list(dict.fromkeys([*train[:6000], *others, *letter, *hard]))
for lowercase in (True, False):
    package = BertTokenizer.train(texts, 3000, lowercase)
    mine, reference = MyTokenizer(package.vocab, lowercase), Reference(vocab=dict(package.vocab), do_lower_case=lowercase)
    wanted = reference(texts).input_ids
    differ = [sum(ids(t) != w for t, w in zip(texts, wanted)) for ids in (mine, lambda t: [2, *package.encode(t), 3])]
    print(f"lowercase={lowercase}: {len(texts):,} texts; different: mine {differ[0]}, the package's {differ[1]}")

# %% [markdown]
# No difference, in any id of any text, and some of these strings no human being has ever written. Offsets, pairs and
# truncation are held against `transformers` in the package's tests in the same way.
#
# ## The neighbours: BPE and Unigram
#
# WordPiece is one of a family. **BPE** (GPT-2, RoBERTa) learns by frequency, but splits a word by replaying its merges in
# the order in which they were learned. **Unigram** (Kudo 2018; in ALBERT and T5 through the SentencePiece library) goes
# the other way: it starts with far too many pieces, each with a probability, drops those that the text misses least,
# and splits a text into its *likeliest* pieces. A space is a character to it, written ▁, so no text is lost.

# %%
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

def library_tokenizer(model, trainer, before):
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), before
    made.train_from_iterator(train, trainer)
    return made

options = {"vocab_size": 1000, "special_tokens": ["[UNK]"], "show_progress": False}
bpe = library_tokenizer(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer(**options), pre_tokenizers.BertPreTokenizer())
unigram = library_tokenizer(
    models.Unigram(), trainers.UnigramTrainer(unk_token="[UNK]", **options), pre_tokenizers.Metaspace()
)

# %%
ways = {
    "characters": lambda text: list(text.lower()),
    "words": lambda text: [word if word in known else "[UNK]" for word in plain_words(text)],
    "WordPiece": tokenizer.tokenize,
    "BPE": lambda text: [bpe.id_to_token(i) for i in bpe.encode(text).ids],
    "Unigram": lambda text: [unigram.id_to_token(i) for i in unigram.encode(text).ids],
}
for text in ["The unhappiest photographers.", "Helsinki is reopened."]:
    print(text)
    for name, split in ways.items():
        print(f"  {name:10} {len(split(text)):2}  {' '.join(split(text))}")

# %%
def per_word(split, sentences):
    return sum(len(split(s)) for s in sentences) / sum(len(plain_words(s)) for s in sentences)
sizes = {"characters": len(set("".join(train).lower())), "words": len(known)}
print(f"{'':12}{'V':>6}{'others':>9}{'letter':>9}{'[UNK] in the letter':>21}")
for name, split in ways.items():
    tokens = [token for sentence in letter for token in split(sentence)]
    unknown = tokens.count("[UNK]") / len(tokens)
    print(f"{name:12}{sizes.get(name, 1000):6,}{per_word(split, others):9.2f}{per_word(split, letter):9.2f}{unknown:21.1%}")

# %% [markdown]
# ## A domain's own vocabulary
#
# Subwords read the letter with far fewer tokens than characters, and with hardly an `[UNK]`: what is left is a mark that
# the training sentences never use. BPE and WordPiece lie close together. Unigram spells out what is strange to it, and
# puts a ▁ before each word. How good a model becomes hangs little on this choice. But a *trained* model hangs on its
# own vocabulary: with another one, its weights mean nothing.
#
# ## A domain's own vocabulary
#
# A vocabulary knows the text that it was learned from. `clinic.txt` holds a hundred invented notes from a hospital. What
# does such a note cost in pieces learned from our small world? And in pieces learned from eighty other notes?

# %%
notes = data_path("texts/clinic.txt").read_text(encoding="utf-8").splitlines()
general = BertTokenizer.train(train, 600)
clinical = BertTokenizer.train(notes[:80], 600)
for name, one in [("general", general), ("clinical", clinical)]:
    print(f"{name:9} notes {tokens_per_word(one, notes[80:]):.2f}   world {tokens_per_word(one, others):.2f}")
    print("  ", *one.tokenize(notes[80]))

# %% [markdown]
# Its own vocabulary reads a note in about half the tokens, with pieces such as `##cardiogram`. It
# pays for that in everything else. SciBERT (Beltagy et al. 2019) did this on a grand scale: a vocabulary of the same
# size as BERT's, learned from scientific papers, shares only 42 % of its tokens with BERT's. The price is high: ids
# mean nothing to a model that learned other ids, so a new vocabulary needs a pre-training of its own.
#
# ## See for yourself
#
# The function colours a text: blue begins a word, grey continues one, orange is `[UNK]`. The widget below it only calls
# the function: type a text, and choose whose vocabulary reads it.

# %%
from html import escape

from IPython.display import HTML

def coloured(tokenizer, text):
    spans = []
    for token, index in zip(tokenizer.tokenize(text), tokenizer.encode(text)):
        background = "#FFD9B3" if token == "[UNK]" else "#E4E4E4" if token.startswith("##") else "#CFE5F5"
        style = f"background:{background}; color:#222; padding:2px 4px; margin:1px; border-radius:3px"
        spans.append(f'<span style="{style}">{escape(token)} <small>{index}</small></span>')
    return f'<div style="line-height:2.2">{" ".join(spans)}</div>'

HTML(coloured(tokenizer, letter[5]))

# %% tags=["nbval-ignore-output"]
import ipywidgets

text_box = ipywidgets.Text(notes[80], description="text")
known = ipywidgets.Dropdown(options={"world": general, "clinic": clinical}, description="vocabulary")
view = ipywidgets.HTML(coloured(general, notes[80]))
for control in (text_box, known):
    control.observe(lambda change: view.set_trait("value", coloured(known.value, text_box.value)), "value")
ipywidgets.VBox([text_box, known, view])

# %% [markdown]
# ## Broken BERT: the search that forgets names
#
# Here is a small search engine. It compares a question with each sentence of a list and returns the one that shares most
# tokens with it. The sentence that it should find is among them. There is no error, no warning, and plausible
# English comes out. What does it say?

# %%
def broken_tokenize(text, vocab):
    return [piece for word in split_words(clean(text)) for piece in split_word(word, vocab)]

capitals = sorted({sentence for sentence in train if re.fullmatch(r"The capital of \w+ is \w+\.", sentence)})

def search(question, tokenize):
    asked = set(tokenize(question, tokenizer.vocab))
    shared = [len(asked & set(tokenize(sentence, tokenizer.vocab))) for sentence in capitals]
    return capitals[shared.index(max(shared))]

questions = [f"What is the capital of {sentence.split()[3]}?" for sentence in capitals[2:9:3]]
for question in questions:
    print(question, search(question, broken_tokenize))

# %% [markdown]
# Whatever you ask, it tells you about the first sentence of its list. Before you read on: where would you look?
#
# Look at the tokens. When a model of language behaves oddly, that is the first thing to print, before any weight.

# %%
for sentence in capitals[:2]:
    print(sentence, "->", *broken_tokenize(sentence, tokenizer.vocab))

# %% [markdown]
# The vocabulary is uncased and the text was not lower-cased, so each word with a capital is `[UNK]`: exactly the
# names. The mistake also exists the other way round, a cased vocabulary with lower-cased text; then names fall into
# small wrong pieces, or into `[UNK]` as well. Both have happened to many people, because a `vocab.txt` does not say
# which kind it is. Google's code compares the switch `do_lower_case` with the checkpoint's name for this reason, and an
# early default of `transformers` lower-cased for cased models too (issue 131 of that project).
#
# ### Exercise 1.5 · Ask the vocabulary
# ●●●● · 10 minutes
#
# Write `repaired_tokenize(text, vocab)`. Nobody tells it whether the vocabulary is cased or uncased: it finds out from
# the vocabulary itself, and normalizes accordingly. `Normalization(lowercase=True).words(text)` gives the words for an
# uncased vocabulary, `lowercase=False` those for a cased one; `split_word` and `SPECIAL_TOKENS` are there.

# %% tags=["exercise"]
def repaired_tokenize(text, vocab):
    ### BEGIN SOLUTION
    cased = any(token != token.lower() for token in vocab if token not in SPECIAL_TOKENS)
    words = Normalization(lowercase=not cased).words(text)
    return [piece for word in words for piece in split_word(word, vocab)]
    ### END SOLUTION

check("1.5", repaired_tokenize)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A vocabulary that was learned from lower-case text has no token with a capital in it, except for the special tokens,
# which are written in capitals in both kinds. `Normalization(lowercase=True)` also drops the accents; lower case alone
# would turn *Café* into *café*, which an uncased vocabulary does not know either.
#
# </details>

# %%
# With the package's tokenizer, which lower-cases for this vocabulary:
for question in questions:
    print(question, search(question, lambda text, vocab: tokenizer.tokenize(text)))

# %% [markdown]
# ## Paper and code
#
# - **How the vocabulary was learned.** The paper (Devlin et al. 2019, section 3) says WordPiece and 30,000 tokens, and
#   points to Wu et al. 2016. Google's README says that the code for learning it is not included, because it depends on
#   internal libraries. Schuster and Nakajima (2012) describe the idea: of all possible new units, take the one that
#   raises the likelihood of the text under a language model most. The fraction of this chapter is a stand-in for that,
#   the gain *for one occurrence* of the pair; what Google ran was never published.
# - **What libraries do.** The trainer that `tokenizers` calls WordPiece merges by frequency (its maintainers say so in
#   issue 144). So does this course by default; `method="wordpiece_score"` is there to compare.
# - **Size.** The released uncased English vocabulary has 30,522 tokens, the cased one 28,996. Multiply by D = 768:
#   the embedding of tokens alone has 23 million weights in the uncased Base model, a fifth of the whole.
# - **Very long words.** Google's code gives up on a word after 200 characters, `transformers` and this course after 100.
# - **Special tokens in the text.** `transformers` and this course keep a literal `[MASK]` whole. Google's tokenizer
#   splits it into `[`, `mask`, `]`.
# - **Too long a pair.** For fine-tuning, Google's code cuts as in exercise 1.4. When it makes pre-training examples, it
#   cuts the longer text at its front or its end at random.
# - **Speed.** The greedy loop tries up to n ends at each of n places. Song et al. (2021) find the same pieces in linear
#   time. This course remembers the words that it has seen, which in natural text is nearly as good.
#
# ## Summary
#
# - Lists of words leave the news unknown; characters make rows long. Subwords lie between.
# - Normalization makes equal what reads equal. An uncased model also drops case and accents.
# - WordPiece splits greedily, longest first, `##` for continuations, and gives a single `[UNK]` for a word that it
#   cannot cover.
# - A vocabulary grows by merging pairs: the most frequent ones, or those that belong together most exclusively.
# - A row is `[CLS]` first `[SEP]` second `[SEP]`, with token types, a mask for padding, and offsets into the text.
# - Tokenizer and model are a pair. The wrong vocabulary or the wrong case breaks a model without an error.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(1)

# %% [markdown]
# ## Interview questions
#
# 1. Why do language models read subwords? Name what is gained and what is lost.
#
# <details><summary>Answer</summary>
#
# Gained: a vocabulary of fixed, moderate size that covers nearly any text; rows much shorter than with characters;
# weights shared between related words. Lost: a word's pieces need not be its true parts; spelling and digits are hard
# to see for the model; labels for words have to be carried over to pieces; rare languages and domains pay more tokens
# for the same text, and so more time.
#
# </details>
#
# 2. You want a BERT for hospital notes. Would you learn a new vocabulary?
#
# <details><summary>Answer</summary>
#
# Only together with a pre-training from scratch, because the ids of a trained model are tied to its vocabulary. First
# measure the tokens per word and the truncated rows on your notes. If the damage is small, keep the vocabulary and
# continue pre-training on notes. In between: add some hundred frequent terms as new tokens, with new rows of the
# embedding, and train on.
#
# </details>
#
# 3. In production a model is much worse than in your notebook, with the same weights. How can the tokenizer be at fault?
#
# <details><summary>Answer</summary>
#
# Another vocabulary file, another case switch, text that was lower-cased or stripped before, another `max_length` or
# truncation, a missing attention mask, special tokens added twice or not at all. None of them raises an error. Compare
# the ids of a few texts in both places: they must be equal, number by number.
#
# </details>
#
# ## Next
#
# You have rows of ids, and an id says nothing about what a token means or where it stands. The next chapter gives each
# of them a vector: [02 · Input embeddings](02_input_embeddings.ipynb).
