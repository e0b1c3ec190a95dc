# %% [markdown]
# # 15 · RoBERTa and SpanBERT
#
# The same model, a better recipe. You will build what RoBERTa and SpanBERT changed, and find out what it is worth.
#
# ## What you will be able to do
#
# - say what RoBERTa changed, what each change brought by its paper, and what the paper can't tell
# - build byte-level BPE: bytes as characters, merges by frequency, splitting by rank, and no `[UNK]`
# - compute RoBERTa's positions, and explain why 512 tokens need 514 of them
# - mask spans of whole words, and build the head that predicts a span from its two boundary tokens
# - open a RoBERTa checkpoint of `transformers`, and repair vectors that change with the batch
#
# **Time:** two sittings of about 60 and 55 minutes, and 20 more for what is optional ·
# **You need:** [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb) and
# [06 · Masked language model](06_masked_language_model.ipynb), best after
# [14 · What came before](14_what_came_before.ipynb) ·
# **Next:** [16 · ALBERT and DistilBERT](16_albert_and_distilbert.ipynb)
#
# What is marked (optional) can wait.
#
# ## Recall
#
# 1. By which criterion does byte-pair encoding (BPE) choose the next merge, and by which rule does WordPiece split a
#    word? (Chapter 01)
#
# <details><summary>Answer</summary>
#
# BPE merges the pair of neighboring pieces that occurs most often. WordPiece splits greedily: it takes the longest
# piece of its vocabulary that the rest of the word begins with.
#
# </details>
#
# 2. BERT chooses 15 % of the tokens. What does the model see instead of them, and what is static masking?
#    (Chapter 06)
#
# <details><summary>Answer</summary>
#
# 80 % [MASK], 10 % a random token, 10 % the token itself. Static masking: the masks are drawn once, before training,
# and stored with the text (ten copies in Google's code).
#
# </details>
#
# 3. Which vector does BERT's pooler read, and which pre-training task trained the pooler? (Chapters 05 and 07)
#
# <details><summary>Answer</summary>
#
# The last layer's vector of [CLS]. It was trained by next sentence prediction only.
#
# </details>
#
# ## What changed
#
# In July 2019 two papers trained BERT again. **RoBERTa** (Liu et al. 2019, arXiv 1907.11692) asks which choices of
# its training matter. **SpanBERT** (Joshi et al. 2020, arXiv 1907.10529) changes what is masked and what is predicted.
#
# ![BERT's training from text to heads. RoBERTa: full sentences, ten times the text, byte-level BPE, positions from 2. SpanBERT: one segment, spans, boundary objective. Both: new masks each time, no next sentence. The encoder is unchanged.](pictures/15_changes.svg)
#
# ## What each change was worth
#
# Tables 1 to 3 of the paper change one or two things at a time in BERT-Base, table 4 puts everything together at
# BERT-Large's size. SQuAD 2.0 is question answering (F1), MNLI-m asks whether one sentence implies another (accuracy),
# both in percent on development sets:
#
# | table | what was compared | SQuAD 2.0 | MNLI-m |
# |---|---|---|---|
# | 1 | static → dynamic masking | 78.3 → 78.7 | 84.3 → 84.0 |
# | 2 | pairs with NSP → full sentences without | 78.7 → 79.1 | 84.0 → 84.7 |
# | 3 | batches of 256 → 2K → 8K, the same number of passes | – | 84.7 → 85.2 → 84.6 |
# | 4 | BERT-Large → all of this, byte-level BPE, 100K steps of 8K sequences | 81.8 → 87.3 | 86.6 → 89.0 |
# | 4 | 16 GB → 160 GB of text, the same number of steps | 87.3 → 87.7 | 89.0 → 89.3 |
# | 4 | 100K → 300K → 500K steps | 87.7 → 88.7 → 89.4 | 89.3 → 90.0 → 90.2 |
#
# **Full sentences** are the second row: RoBERTa packs as many whole sentences as fit into 512 tokens, also across the
# end of a document. The tokenizer has no table: byte-level BPE was *slightly worse* on some tasks in early experiments
# (section 4.4), and was taken because it can encode any text.
#
# The single changes bring less than one point each, so where do the 5.5 points of the fourth row come from? The next
# cell counts how much text each model *read*. BERT trained with sequences of 128 tokens in 90 % of its steps ([chapter
# 08](08_pre_training.ipynb)), RoBERTa with up to 512 in all of them (section 3.1). Guess first: how many times as many
# tokens as BERT-Large did the first RoBERTa read, the one of the fourth row?

# %% tags=["guess"]
runs = {"BERT-Large": (256, 1_000_000, 0.9 * 128 + 0.1 * 512)}
runs["RoBERTa, 100K steps"] = (8192, 100_000, 512)
runs["RoBERTa, 500K steps"] = (8192, 500_000, 512)
for name, (batch, steps, tokens) in runs.items():
    sequences = batch * steps
    print(f"{name:20} {sequences / 1e6:5,.0f} million sequences", end="")
    print(f" {sequences * tokens / 1e9:6,.0f} billion tokens at most")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars of billions of tokens read: BERT-Large 43, RoBERTa after 100 thousand steps 419, after 500 thousand 2,097.](pictures/15_tokens_read.svg)
#
# It read three times as many sequences, and up to ten times as many tokens.
#
# </details>
#
# The text itself was nearly the same. So the 5.5 points are the gain of the recipe *and* of much more training. The
# authors say so themselves: BERT was significantly **undertrained**. (And differences of 0.3 between two trainings can
# be noise.)
#
# ## Dynamic masking
#
# **Static masking** stores the masks with the text. **Dynamic masking** draws a new mask each time a sequence is
# read.
#
# ![A sentence of six words in four passes. Static: two stored masks are used again and again. Dynamic: another word may be hidden in each pass.](pictures/15_masks_of_passes.svg)
#
# In the next cells the static masks use ten seeds again and again, the dynamic ones a new seed in each of 40 passes.
# Guess: how many *different* masks does a sequence of 6, 12 and 128 tokens get? With a pencil: of 6 tokens one is
# masked, of 12 tokens two. How many pairs are there?

# %%
from math import comb

import torch

from bertedu.pretraining.masking import choose_tokens


def mask_of(length, seed):  # the positions that are masked
    number = torch.tensor([round(0.15 * length)])
    words = torch.ones(1, length, dtype=torch.bool)  # [1, T]: all may be chosen
    chosen = choose_tokens(words, number, torch.Generator().manual_seed(seed))
    return tuple(chosen[0].nonzero().flatten().tolist())


# %% tags=["guess"]
for length in (6, 12, 128):
    static = {mask_of(length, seed % 10) for seed in range(40)}
    dynamic = {mask_of(length, seed) for seed in range(40)}
    print(f"T = {length:3}, {comb(length, round(0.15 * length)):7.2g} masks exist:", end="")
    for name, masks in (("static", static), ("dynamic", dynamic)):
        print(
            f"  {name} {len(masks):2} ({len(set().union(*masks)) / length:.0%} asked)", end=""
        )
    print()

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# A sequence of 12 tokens has 12 · 11 / 2 = 66 masks, so 40 draws repeat some of them. For 128 tokens all 40 dynamic
# masks are different, and in the end the model was asked for every word (*asked*). Ten static masks leave some out.
#
# </details>
#
# Yet by table 1 dynamic masking is worth almost nothing after the 40 passes of BERT's training.
#
# ## A text that WordPiece can't read
#
# The next cell opens a BERT of the small world. (It also chooses where the chapter trains. On a GPU that takes less
# time. The pictures show a run on a processor.) The cell after it gives the WordPiece tokenizer a text from outside.
# Guess: what will be lost?

# %%
from bertedu.corpora.world import world_corpus
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.inference import open_model
from bertedu.training.devices import choose_device

device = torch.device(choose_device("auto"))  # cuda or mps where torch finds one, else cpu
corpus = world_corpus()
documents = corpus.heldout["held-out documents"]
bert, wordpiece = open_model(data_path("checkpoints/world-tiny"))

# %% tags=["guess"]
text = "Zoë paid 5 € in Kraków 🙂"
print(*wordpiece.tokenize(text))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The capitals and the accents are gone, because this vocabulary is lower-cased. But the euro sign and the smiley became
# [UNK], and nobody decided that: they just weren't in the text that the vocabulary was learned from.
#
# </details>
#
# Could a vocabulary hold all characters? Unicode has about 160,000, too many for 50,000 tokens.
#
# ## Byte-level BPE
#
# **Byte-level BPE** (Radford et al. 2019, GPT-2, section 2.2) begins with bytes instead of characters. In a computer
# every text is a sequence of bytes, usually by the encoding **UTF-8**, and there are only 256 different bytes: each of
# the 128 characters of ASCII takes one, any other character two to four. A vocabulary with all 256 bytes can write any
# text, so there is no [UNK].
#
# Some bytes are spaces or line ends, which break a vocabulary file. So GPT-2's code gives each byte a **visible
# character**: a byte that is a visible character of Latin-1 keeps it, the others get the next free characters from
# number 256 on. The next cell builds this table. Guess: how many bytes has each of *a ë € 🙂*?

# %%
visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
others = [byte for byte in range(256) if byte not in visible]
character_of = {byte: chr(byte) for byte in visible}
character_of |= {byte: chr(256 + number) for number, byte in enumerate(others)}


def to_characters(text):
    return "".join(character_of[byte] for byte in text.encode())


# %% tags=["guess"]
for example in (*"aë€🙂", text):
    print(f"{example}  {len(example.encode())} bytes: {to_characters(example)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A space is the byte 20 and written Ġ; a is 61; ë is two bytes, C3 and AB; the euro sign is three.](pictures/15_bytes_of_characters.svg)
#
# From one byte to four. "Ã«" is *ë*: two bytes, two characters. Nothing is broken.
#
# </details>
#
# Learn to recognize **Ġ**: it is the space.
#
# The next cell cuts a text into words, because BPE never merges across words. **The space before a word is part of
# the word**, so no `##` is needed. Guess: what happens to the two spaces in the middle?

# %% tags=["guess"]
from bertedu.tokenization.byte_pair import words_pattern

words = words_pattern().findall("It's 10:45,  isn't it?")
print([to_characters(word) for word in words])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The last one goes to the next word, and the one before it stays alone.
#
# </details>
#
# One consequence confuses many people: *it* at the beginning of a text is the token `it`, and after a space it is
# `Ġit`, another token with another vector. The package's tokenizers put a space before each text (`add_prefix_space=True`). The published RoBERTa doesn't.
#
# ### Merges, with a pencil
#
# The merges are learned by frequency, as in [chapter 01](01_wordpiece_tokenizer.ipynb). Here is a text of five words
# and how often each of them occurs:
#
# | word | pieces | occurs |
# |---|---|---|
# | ` east` | Ġ e a s t | 8 |
# | ` eat` | Ġ e a t | 5 |
# | ` sea` | Ġ s e a | 4 |
# | ` stone` | Ġ s t o n e | 3 |
# | ` sand` | Ġ s a n d | 2 |
#
# Which pair of neighbors is the most frequent one, and how often does it occur? Merge it everywhere, and count again:
# which one is second? Write both down before you run the cells.


# %%
def merge(pieces, pair):  # ["Ġ", "e", "a", "t"], ("e", "a") -> ["Ġ", "ea", "t"]
    merged = []
    for piece in pieces:
        if merged and (merged[-1], piece) == pair:
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


# %%
from collections import Counter
from itertools import pairwise


def learn(counts, number):
    words, merges = {word: list(to_characters(word)) for word in counts}, []
    for _ in range(number):
        pairs = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        best = max(pairs, key=pairs.get)
        words = {word: merge(pieces, best) for word, pieces in words.items()}
        merges.append((best, pairs[best]))
    return merges


# %%
from bertedu.tokenization.byte_pair import learn_merges

counts = {" east": 8, " eat": 5, " sea": 4, " stone": 3, " sand": 2}
learned = learn(counts, 6)
merges = [pair for pair, _ in learned]
_, package = learn_merges(counts, vocab_size=256 + 6, special_tokens=())

# %% tags=["guess"]
print(*(f"{a} {b}: {times}" for (a, b), times in learned), sep="   ")
print(sum(a != b for a, b in zip(merges, package)), "of 6 differ from the package's")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The five words after each of three merges: e and a, 17 times; Ġ and ea, 13 times; s and t, 11 times.](pictures/15_first_merges.svg)
#
# `e a` occurs 8 + 5 + 4 = 17 times. Notice the fifth merge: `Ġ s` occurs only 4 + 2 = 6 times, because in *stone* the
# s has gone to `st` before.
#
# </details>
#
# ### Splitting by rank
#
# How do we split a *new* word? BPE **replays its merges in the order in which they were learned**. The number of a
# merge in this order, from 0, is its **rank**.
#
# ![The new word seat. First e and a are merged, with rank 0, then Ġ and s, with rank 4. Then no neighbors have a rank, and the pieces are Ġs, ea and t.](pictures/15_by_rank.svg)
#
# ### Exercise 15.1 · By rank, with a pencil
# ●○○○ · 4 minutes
#
# Split the word ` steam`, that is, `Ġ s t e a m`, by the six merges above. Write the pieces as a list of strings.
# (Copy the Ġ from here: few keyboards have it.)
# (`check` examines your answer, and `hint("15.1")` gives a hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
steam = ["Ġ", "st", "ea", "m"]
### END SOLUTION
check("15.1", steam)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The pairs of neighbors with a rank are `Ġ s` (rank 4, counted from 0), `s t` (rank 2) and `e a` (rank 0). First
# `e a` is merged, then `s t`. Now the neighbors are `Ġ st`, `st ea` and `ea m`, and none of them was ever merged. The
# piece `Ġs` exists, and the longest match would take it: `Ġs t ea m`. But its merge comes too late. The s has gone
# already.
#
# </details>

# %% [markdown]
# ### Exercise 15.2 · Split by rank
# ●●●○ · 12 minutes
#
# Write `split(word, merges)`. `word` is a string of byte characters such as `"Ġsteam"`, and `merges` is the list of
# pairs in the order in which they were learned. Return the list of pieces. You may use `merge` from above. Don't look
# for the longest piece: the order of the merges decides. Stuck? `hint("15.2")`


# %% tags=["exercise"]
def split(word, merges):
    ### BEGIN SOLUTION
    pieces = list(word)
    while known := [pair for pair in pairwise(pieces) if pair in merges]:
        pieces = merge(pieces, min(known, key=merges.index))
    return pieces
    ### END SOLUTION


check("15.2", split)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `known` has the neighboring pairs that have a rank, and `merges.index` is the rank. `merge` joins the best pair
# everywhere in the word, from left to right. Then the neighbors are others, so we look again. A single loop `for pair
# in merges: pieces = merge(pieces, pair)` gives the same, because a merge can only join pieces that earlier merges
# made. But it tries 50,000 merges for each word. The package keeps the ranks in a dict and the candidates in a heap,
# so that a word of a million characters takes seconds.
#
# </details>

# %% [markdown]
# ## The whole tokenizer
#
# `RobertaTokenizer.train` learns 3,000 tokens from the sentences of the small world: five special tokens, 256 bytes,
# and one token for each merge. `my_ids` does what we have built (with `merge_word`, the package's version of exercise
# 15.2). The second cell compares it with the package, with `tokenizers` and with `transformers`, on 400 documents, our
# strange text, and 2,000 strings of random characters from all of Unicode.

# %%
from bertedu.tokenization import RobertaTokenizer
from bertedu.tokenization.byte_pair import merge_word, with_prefix_space

tokenizer = RobertaTokenizer.train(corpus.train_sentences(), vocab_size=3000)
ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}


def my_ids(text):
    words = map(to_characters, words_pattern().findall(with_prefix_space(text)))
    return [tokenizer.vocab[piece] for word in words for piece in merge_word(word, ranks)]


print(*tokenizer.tokenize(text))

# %%
import random
import tempfile

import tokenizers
import transformers

with tempfile.TemporaryDirectory() as folder:
    tokenizer.save_pretrained(folder)
    fast = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    library = transformers.RobertaTokenizer.from_pretrained(folder)
rng = random.Random(0)
codes = [
    code for code in range(0x110000) if not 0xD800 <= code < 0xE000
]  # no surrogates: they are no characters
texts = [" ".join(document.sentences) for document in documents]
texts += [text] + ["".join(map(chr, rng.sample(codes, 12))) for _ in range(2000)]
mine = [my_ids(one) for one in texts]
others = {"package": [tokenizer.encode(one) for one in texts]}
others["tokenizers"] = [fast.encode(one, add_special_tokens=False).ids for one in texts]
others["transformers"] = library(texts, add_special_tokens=False)["input_ids"]
for name, theirs in others.items():
    print(f"{name:12} {sum(a != b for a, b in zip(mine, theirs))} of {len(texts)} texts differ")
print("<unk>:", sum(ids.count(tokenizer.unk_token_id) for ids in mine), end=",  ")
print(
    "not restored by decode:", sum(tokenizer.decode(a) != " " + b for a, b in zip(mine, texts))
)

# %% [markdown]
# Not one unknown token, and every text can be restored from its ids (with the space that was put in front).
#
# The next cell counts tokens for five texts, with WordPiece and with byte-level BPE, both with about 3,000 tokens from
# the same English sentences. Guess both numbers for the four smileys.

# %% tags=["guess"]
samples = ["The capital of Norway is Oslo.", "Stolicą Norwegii jest Oslo.", "🙂🙃🙂🙃"]
samples += ["Πρωτεύουσα της Νορβηγίας είναι το Όσλο.", "ノルウェーの首都はオスロ。"]
for sample in samples:
    pieces, ids = wordpiece.tokenize(sample), tokenizer.encode(sample)
    print(f"{len(sample):2} characters, WordPiece {len(pieces):2} tokens", end="")
    print(f" ({pieces.count('[UNK]')} [UNK]), byte-level BPE {len(ids):2}:  {sample}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Nothing is free. The Greek sentence takes about two tokens for each character, the Japanese one three, and a smiley
# four. WordPiece looks cheap there, but it has thrown the text away. (The published RoBERTa has GPT-2's 50,000 tokens,
# learned from mostly English web pages: the effect is smaller there, but of the same kind. And they add (50,265 −
# 30,522) · 768, about 15 million parameters, to BERT-Base.)
#
# </details>
#
# ## `<s>` A `</s></s>` B `</s>`
#
# RoBERTa has the special tokens of fairseq, the library that it was written in. `<s>` (0) is BERT's [CLS], `<pad>`
# (1) is [PAD], `</s>` (2) is [SEP], `<unk>` (3) is [UNK], and `<mask>` is [MASK]. Keep in mind that **padding is 1**.
#
# ![A pair in BERT: CLS, text, SEP, text, SEP, with token types 0 and 1. In RoBERTa two separators stand in the middle, and all token types are 0.](pictures/15_pair_of_texts.svg)
#
# There is only **one segment**: pre-training has no pairs, so nothing would have trained a second one.

# %%
first, second = "Where is Oslo?", "Oslo is in Norway."
mine = [0, *my_ids(first), 2, 2, *my_ids(second), 2]
package = tokenizer(first, second)
print(*package.tokens[0])
print("token types:", set(package.token_type_ids[0].tolist()))
for theirs in (package.input_ids[0].tolist(), library(first, second)["input_ids"]):
    print(sum(a != b for a, b in zip(mine, theirs, strict=True)), "ids differ")

# %% [markdown]
# ## Positions that start at 2
#
# roberta-base reads 512 tokens, but its config says `max_position_embeddings: 514`. What happens if we believe the
# config, and give 513 tokens to such a model? The next cell tries it.

# %%
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
sizes |= {"intermediate_size": 32, "max_position_embeddings": 514}
theirs = transformers.RobertaModel(transformers.RobertaConfig(vocab_size=50, **sizes)).eval()
for length in (512, 513):
    try:
        print(length, list(theirs(torch.full((1, length), 7)).last_hidden_state.shape))
    except (IndexError, RuntimeError):  # the words of the error differ between versions
        print(length, "tokens: an index is out of range")

# %% [markdown]
# fairseq counts positions like this:
#
# - padding gets the position `padding_idx`, which is the id of `<pad>`: **1**;
# - the other tokens are counted from `padding_idx + 1` on: **2, 3, 4 …**
#
# What counts is whether the **id is not `<pad>`**; the attention mask is not asked. With a pencil, before you run the
# cells: which positions do the ids `0 7 8 2` get, and `0 7 2 1`, and `1 1 0 2`? (The third cell compares with
# `transformers` and the package.)


# %%
def positions_of(ids, padding=1):  # of one sequence
    positions, last = [], padding
    for token in ids:
        if token != padding:
            last += 1
        positions.append(padding if token == padding else last)
    return positions


# %% tags=["guess"]
for ids in ([0, 7, 8, 2], [0, 7, 2, 1], [1, 1, 0, 2]):
    print(ids, positions_of(ids))

# %%
from bertedu.family.roberta import RobertaConfig, RobertaModel

torch.manual_seed(0)
ids = torch.randint(0, 5, (200, 12))  # [B, T], with a 1 anywhere
mine = torch.tensor([positions_of(row) for row in ids.tolist()])
reference = theirs.embeddings.create_position_ids_from_input_ids(ids, 1)
embeddings = RobertaModel(RobertaConfig(50, **sizes)).embeddings
off = (embeddings.position.weight[mine] - embeddings.position_vectors(ids)).abs().max()
print("the last of 513 tokens:", positions_of([7] * 513)[-1])
print("different:", int((mine != reference).sum()), f"  off from the package's by {off:.4f}")

# %% [markdown]
# <details><summary>The three sequences in one picture</summary>
#
# ![Positions of three sequences. Without padding, with padding on the right and on the left, RoBERTa's first real token always gets 2. BERT counts from the left edge, so padding on the left shifts its text.](pictures/15_counted_positions.svg)
#
# </details>
#
# Row 0 of the table is never used, row 1 belongs to padding, so 512 tokens need 514 rows. That is history, not
# mathematics: a maintainer of fairseq wrote that there is "no particular reason" for 1 instead of 0, other than the
# order in which the tokens were added ([issue 1187](https://github.com/facebookresearch/fairseq/issues/1187)).
#
# ## A BERT becomes a RoBERTa
#
# If RoBERTa is BERT with other ids and other positions, then we can **turn a BERT into a RoBERTa** by moving rows of
# its tables.
#
# ![Three tables. Tokens: the special tokens move to RoBERTa's ids. Positions: every row moves down by two. Segments: only the first row stays.](pictures/15_moved_rows.svg)

# %%
from bertedu.model.heads import MaskedLM

V, special = len(wordpiece), "[CLS] [PAD] [SEP] [UNK] [MASK]".split()
old_id = torch.tensor([*(wordpiece.vocab[token] for token in special), *range(5, V)])  # [V]
new_id = old_id.argsort()
sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
sizes |= {"intermediate_size": 512, "max_position_embeddings": 64 + 2}
sizes |= {
    "layer_norm_eps": 1e-12,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
torch.manual_seed(0)
roberta = MaskedLM(RobertaConfig(V, **sizes)).eval()
weights = roberta.state_dict()  # copying into these changes the model
for name, old in bert.state_dict().items():
    name = name.replace("bert.", "encoder.", 1)
    if "position" in name:
        weights[name][2:] = old
    elif "token_type" in name:
        weights[name].copy_(old[:1])
    elif name in weights:  # the pooler and the next-sentence head have no counterpart
        weights[name].copy_(old[old_id] if len(old) == V else old)


# %%
def padded(sequences, side, length=None):  # lists of ids -> [B, T], padding is 0
    length = length or max(map(len, sequences))
    gaps = [[0] * (length - len(ids)) for ids in sequences]
    rows = [gap + ids if side == "left" else ids + gap for gap, ids in zip(gaps, sequences)]
    return torch.tensor(rows)


@torch.no_grad()
def token_vectors(encoder, ids, padding):  # [B, T] -> [N, D], of the real tokens
    real = ids.ne(padding)
    return encoder(ids, real.long()).last_hidden_state[real]


sentences = sorted({s for document in documents for s in document.sentences})
sentences = random.Random(0).sample(sentences, 200)
cls, sep = wordpiece.cls_token_id, wordpiece.sep_token_id
sequences = [[cls, *wordpiece.encode(s), sep] for s in sentences]
reference = token_vectors(bert.bert, padded(sequences, "right"), 0)

# %% [markdown]
# Now both read 200 sentences, padded on the right and padded on the left. Guess: how far are the vectors of a token, at
# most, from those of BERT with padding on the right? Four numbers.

# %% tags=["guess"]
for side in ("right", "left"):
    ids = padded(sequences, side)
    as_bert, as_roberta = (
        token_vectors(bert.bert, ids, 0),
        token_vectors(roberta.encoder, new_id[ids], 1),
    )
    print(f"padding on the {side:5}:  BERT {(as_bert - reference).abs().max():.3f}", end="")
    print(f"   RoBERTa {(as_roberta - reference).abs().max():.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With moved rows, RoBERTa computes what BERT computes: the difference is zero. Padding on the left changes BERT's
# vectors a lot, because its positions shift, and RoBERTa's not at all.
#
# </details>
#
# ## The head of `<s>`
#
# BERT classifies a text with its **pooler**, pre-trained by next sentence prediction, and a linear layer. RoBERTa has
# no such task, so its head brings its own layers: the vector of `<s>` goes through dropout, a linear layer `dense`,
# tanh, dropout, and a linear layer `out_proj` to the C labels. Both layers are new. *The proof* builds it in one line.
#
# **Here the first sitting ends.** You have RoBERTa: its masking, its tokenizer and its positions. The second
# sitting masks whole spans and asks what their two ends know, as SpanBERT does.
#
# ## Spans: a harder question
#
# > Super Bowl 50 was [MASK] at Levi's Stadium in Santa [MASK].
#
# The second question is easy: *Santa* gives the answer away. How much do the neighbors matter? The next cell masks n
# neighboring tokens in 400 held-out sentences, and measures what share of them our small BERT predicts. Guess the
# shares for n = 1 and n = 6.

# %%
sentences = sorted({s for document in documents for s in document.sentences})
long = [row for row in map(wordpiece.encode, sentences) if len(row) >= 9][:400]
ids = padded([[cls, *row, sep] for row in long], "right")
accuracies, rng = {}, random.Random(0)
for n in range(1, 7):
    chosen = torch.zeros_like(ids, dtype=torch.bool)  # [B, T]
    for row, length in enumerate(ids.ne(0).sum(dim=1).tolist()):
        start = rng.randrange(1, length - n)  # neither [CLS] nor [SEP]
        chosen[row, start : start + n] = True
    with torch.no_grad():
        seen = ids.masked_fill(chosen, wordpiece.mask_token_id)
        scores = bert(seen, ids.ne(0).long(), masked_positions=chosen).prediction_logits
    accuracies[n] = (scores.argmax(dim=-1) == ids[chosen]).double().mean().item()

# %% tags=["guess"]
for n, share in accuracies.items():
    print(f"n = {n}: {about(f'predicted tokens in a gap of {n}', share, within=0.01):.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Predicted tokens by the number of masked neighbors: 96 percent for one, 91 for three, 55 for six.](pictures/15_longer_spans.svg)
#
# One token is nearly always given away by its neighbors. Six in a row are a real question.
#
# </details>
#
# Many tasks need spans: answers to questions, names, coreference. That is the first idea of SpanBERT: **mask spans
# instead of single tokens**.
#
# ### How long is a span? (optional)
#
# SpanBERT draws the number of *words* of a span from a **geometric distribution** with p = 0.2: stop after each word
# with probability 0.2, so a span of ℓ words has the probability 0.2 · 0.8^(ℓ − 1). The paper "clips" it at 10 words
# and says that the mean is then 3.8 (section 3.1). Does everything above 10 become 10, or is it excluded, and the
# rest divided by its sum? The mean tells us: the next cell computes it for both.

# %%
lengths = torch.arange(1, 11, dtype=torch.float64)
geometric = 0.2 * 0.8 ** (lengths - 1)  # [10], for 1 to 10 words
clipped = geometric.clone()
clipped[-1] = 0.8**9  # 10 words or more
excluded = geometric / geometric.sum()
for name, p in (("above 10 becomes 10", clipped), ("above 10 excluded", excluded)):
    print(f"{name:20} sums to {p.sum():.2f}, p(1) = {p[0]:.3f}, mean {(p * lengths).sum():.2f}")

# %% [markdown]
# The second one. The authors' code agrees.
#
# ![The probability of a span of 1 to 10 words falls from 22 to 3 percent; the mean is 3.8 words.](pictures/15_lengths_of_spans.svg)
#
# ### Spans of whole words, up to a budget (optional, with exercise 15.3)
#
# Chapter 06 drew spans of tokens. SpanBERT's spans consist of **whole words**, and 15 % of the tokens are the
# **budget**. Draw a start and a length, mask that span, and repeat until the budget is used up. The next exercise
# does this with numbers that are already drawn, so that every run gives the same spans:
#
# - `word_of[i]` is the number of the word that token i belongs to, counted from 1; 0 for special tokens and padding
# - `starts` has all token positions in random order
# - `lengths[i]` is the number of words of the span that begins at token i, if one does
#
# ### Exercise 15.3 · Spans to a budget
# ●●●○ · 15 minutes
#
# Write `choose_spans(word_of, starts, lengths, budget)`. It returns a list of booleans, True for the tokens that are
# masked. Go through `starts`:
#
# 1. Skip a start that is masked already, or that is not in a word (0).
# 2. The span begins with the **first token of the word** of its start, and goes on for `lengths[start]` words.
# 3. The span ends early in two cases: where the text ends (the next token has 0), and before a word that has more
#    unmasked tokens than the budget has left. If that is the span's first word, this span masks nothing. Never mask a
#    part of a word. Words that are masked already cost nothing, but count as words of the span.
# 4. Stop when the budget is used up.
#
# Stuck? `hint("15.3")`


# %% tags=["exercise"]
def choose_spans(word_of, starts, lengths, budget):
    ### BEGIN SOLUTION
    chosen = [False] * len(word_of)
    for start in starts:
        if budget == 0 or chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word]
            cost = sum(not chosen[i] for i in tokens)
            if not tokens or cost > budget:
                break
            for i in tokens:
                chosen[i] = True
            budget -= cost
    return chosen
    ### END SOLUTION


check("15.3", choose_spans)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The words of a span are numbered in sequence, so the span is `range(word, word + length)`. `tokens` are all tokens of
# one word, its first one included, even if the start was a later piece. If the number does not exist, the text has
# ended. A word that is too expensive ends its span, but not the loop: a later start may have a shorter word. (The
# authors' code cuts the last word where the budget ends. The package doesn't, so that no part of a word stays
# visible.)
#
# </details>

# %% [markdown]
# ### 80/10/10, once for each span
#
# ![A span of three words: in 80 percent of the spans all become MASK, in 10 percent all become random words, in 10 percent all are kept.](pictures/15_whole_spans.svg)
#
# The next cell makes 200 such batches from the documents about countries, with the package's *task* for spans. The
# cell after it prints two masked texts. Can you find the spans that are not [MASK]?

# %%
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.spans import Spans
from bertedu.pretraining.settings import PretrainingSettings

settings = PretrainingSettings(max_length=64, batch_size=16, mask_rates=(0.15, 0.15))
parts = [[d for d in part if d.source == "country"] for part in (corpus.train, documents)]
task = Spans(*(tokenize_documents(part, wordpiece) for part in parts), wordpiece, settings)
passes = [task.epoch(number) for number in range(2)]  # two passes, masked differently
batches = [task.prepare(batch, 0, 0.0) for one in passes for batch in one][:200]

# %%
from bertedu.pretraining.span_masking import span_starts

for row in batches[0]["input_ids"][[5, 9]]:
    print(*wordpiece.convert_ids_to_tokens(row[row != 0]))
begins = [span_starts(batch["labels"] >= 0) for batch in batches]  # [B, T] each
seen = torch.cat([b["input_ids"][i] for b, i in zip(batches, begins)])  # at the first tokens
right = torch.cat([b["labels"][i] for b, i in zip(batches, begins)])
print(f"{len(seen)} spans: [MASK] {(seen == 4).sum() / len(seen):.0%}", end="")
print(f", kept {(seen == right).sum() / len(seen):.0%}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# *nails zinc ##metal owner* is a span of random tokens. In the first text six chosen tokens were kept: those you can't
# find.
#
# </details>
#
# ## The span boundary objective
#
# A model for answers or names usually represents a span by the vectors at its **ends**. SpanBERT's second idea, the
# **span boundary objective** (SBO), trains these to know what is inside: a second head predicts each token of a masked
# span from the two visible tokens around it, and from a learned vector $p_k$ for its number k in the span.
#
# ![Came, home and wet are masked. The boundary head gets the encoder's vector of dog, the one of again, and the vector of number 3, and has to predict wet.](pictures/15_boundary_objective.svg)
#
# $$h_0 = [x_{s-1}; x_{e+1}; p_k] \qquad h_1 = \text{LayerNorm}(\text{GELU}(W_1 h_0)) \qquad
# y_k = \text{LayerNorm}(\text{GELU}(W_2 h_1))$$
#
# Then $y_k$ is compared with all token embeddings, as in the MLM head. The loss of a token is the sum
# $-\log P(x \mid x_i) - \log P(x \mid y_k)$: it is predicted twice, from its own vector, which saw the whole text
# through attention, and from the two ends.
#
# What if [SEP] stood on the right of the span? The authors' code asks the boundary head only if **both** neighbors are
# tokens of the text. Spans that touch are one span.
#
# ### Exercise 15.4 · The boundary at a text's end
# ●●●○ · 10 minutes
#
# Write `boundaries(chosen, is_text)` for one sequence. Both are lists of booleans: which tokens are masked, and which
# are tokens of the text (not [CLS], [SEP] or padding). Return a list with an entry for each token. For a masked token
# whose span has a text token on both sides, the entry is `(left, right, k)`: the positions of the two visible
# neighbors and the number k of the token in its span, counted from 1. For all others it is None. For the picture above
# the entries 3, 4 and 5 are `(2, 6, 1)`, `(2, 6, 2)` and `(2, 6, 3)`.


# %% tags=["exercise"]
def boundaries(chosen, is_text):
    ### BEGIN SOLUTION
    entries = [None] * len(chosen)
    for i, masked in enumerate(chosen):
        if masked:
            left, right = i, i
            while left >= 0 and chosen[left]:
                left -= 1
            while right < len(chosen) and chosen[right]:
                right += 1
            if left >= 0 and is_text[left] and right < len(chosen) and is_text[right]:
                entries[i] = (left, right, i - left)
    return entries
    ### END SOLUTION


check("15.4", boundaries)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# From each masked token, walk to the left and to the right over masked tokens. What you reach is visible, because
# spans that touch are one. `left >= 0` matters: without it Python reads `chosen[-1]`, the *last* token, and finds a
# neighbor where none is. The number in the span is the distance to the left neighbor. The package computes all of this
# for a batch with `cummax`: the position of the last visible token so far.
#
# </details>

# %% [markdown]
# ## What can the two ends know?
#
# The next cell has the whole boundary head. There are 15 vectors p_k with 200 entries, as in the authors' code. The
# cell after it trains the package's `SpanBert`, which has both heads on one encoder, for 200 batches, from our small
# BERT with an untrained boundary head.
#
# Then both heads answer the same questions about held-out documents, and so does our BERT as it was before. A
# baseline answers them too: a table that counts, in the same batches, which token stood at number k of a span of n
# tokens between *these* two visible tokens.

# %%
from torch import nn
from torch.nn.functional import gelu

from bertedu.model.heads import TiedDecoder


class BoundaryHead(nn.Module):
    """Scores of all words from the two ends of a span: [B, T, D] to [M, V]."""

    def __init__(self, token_embeddings, hidden_size, eps=1e-12):
        super().__init__()
        self.positions = nn.Embedding(15, 200)  # p_k; the first token of a span has row 0
        self.first_dense = nn.Linear(2 * hidden_size + 200, hidden_size)
        self.first_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.second_dense = nn.Linear(hidden_size, hidden_size)
        self.second_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states, row, left, right, k):  # [B, T, D], [M] four times
        ends = hidden_states[row, left], hidden_states[row, right]  # [M, D] each
        h = torch.cat([*ends, self.positions(k - 1)], dim=-1)  # [M, 2D + 200]
        h = self.first_norm(gelu(self.first_dense(h)))  # [M, D]
        return self.decoder(self.second_norm(gelu(self.second_dense(h))))  # [M, V]


# %%
from bertedu.family.spanbert import SpanBert
from bertedu.training.feeding import to_device
from bertedu.training.optimization import build_optimizer, rate_factor

INPUTS = "input_ids attention_mask token_type_ids labels left right".split()


def train_spans(model, batches, peak=4e-3):
    optimizer = build_optimizer(model.to(device), peak, weight_decay=0.01, betas=(0.9, 0.999))
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = peak * rate_factor(step / len(batches), warmup=0.1)
        batch = to_device(batch, device)  # [B, T] each
        loss = model.train()(*(batch[name] for name in INPUTS)).loss  # MLM + SBO
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval().cpu()


torch.manual_seed(0)  # for the new head
words = MaskedLM(bert.config)
weights = {name.replace("bert.", "encoder.", 1): old for name, old in bert.state_dict().items()}
words.load_state_dict({name: weights[name] for name in words.state_dict()})
spanbert = train_spans(SpanBert(words), batches)


# %%
def questions(batch):  # (left token, right token, k, n) and the answer, of each masked token
    at = row, position = (batch["left"] >= 0).nonzero(as_tuple=True)  # [M] each
    left, right, ids = batch["left"][at], batch["right"][at], batch["input_ids"]
    asked = zip(ids[row, left], ids[row, right], position - left, right - left - 1)
    return [tuple(map(int, one)) for one in asked], batch["labels"][at].tolist()


table, frequent = {}, Counter()
for batch in batches:
    for question, answer in zip(*questions(batch)):
        table.setdefault(question, Counter())[answer] += 1
        frequent[answer] += 1
hits = {}  # from the length of a span to what was right: table, boundary, words, BERT before
for batch in task.validation():
    with torch.no_grad():
        output = spanbert(*(batch[name] for name in INPUTS))
        before = bert(
            batch["input_ids"], batch["attention_mask"], masked_positions=batch["labels"] >= 0
        )
    heads = output.boundary_logits, output.prediction_logits[output.asked]  # [M, V] each
    heads = *heads, before.prediction_logits[output.asked]
    guesses = [scores.argmax(dim=-1).tolist() for scores in heads]
    for question, answer, *given in zip(*questions(batch), *guesses):
        counted = table.get(question, frequent).most_common(1)[0][0]
        right = [guess == answer for guess in (counted, *given)]
        hits.setdefault(min(question[3], 6), []).append(right)

# %% [markdown]
# Guess before you run the next cell: what share of the questions does each of the four answer correctly?

# %% tags=["guess"]
rows = torch.tensor([row for n in sorted(hits) for row in hits[n]], dtype=torch.float64)
names = ("table", "boundary head", "MLM head", "BERT before")
for name, share in zip(names, rows.mean(dim=0)):
    print(f"{name:17} {about(f'predicted tokens of spans: {name}', share, within=0.06):.2f}")
print(f"{len(rows)} questions")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Right predictions by the length of the span. The MLM head falls from nearly all to about half; the boundary head lies far below it, and crosses the table of counts.](pictures/15_heads_by_length.svg)
#
# After 200 steps the boundary head is about as good as a table of counts: it must name each token from two vectors
# outside the span. The MLM head has lost something against BERT before; a short training with a high learning rate is
# the first suspect. (All of this is one run.)
#
# </details>
#
# What does SBO bring for the tasks that it was made for? The paper can show it (table 7, development sets, F1 except
# MNLI-m; coreference finds the expressions that mean the same thing):
#
# | | SQuAD 2.0 | NewsQA | coreference | MNLI-m |
# |---|---|---|---|---|
# | spans, two segments, with NSP | 85.4 | 73.0 | 76.4 | 87.0 |
# | spans, one segment | 86.7 | 73.4 | 76.3 | 87.3 |
# | spans, one segment, with SBO | 86.8 | 74.1 | 79.0 | 87.6 |
#
# SBO hardly helps on SQuAD. But in coreference, where a model compares spans by their ends, it brings 2.7. (The
# largest gain on SQuAD, 1.6, comes from masking random spans instead of single subwords, table 6. In coreference
# single subwords beat random spans, until SBO is added.)
#
# ## The proof
#
# On batches with padding: a RoBERTa with random weights goes from `transformers` to the package and back; the head of
# `<s>`; the boundary head, and the joint loss, MLM + SBO, put together by hand.

# %%
from bertedu.inference import run

torch.manual_seed(0)
sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
sizes |= {"intermediate_size": 64, "max_position_embeddings": 66, "type_vocab_size": 1}
config = transformers.RobertaConfig(vocab_size=len(tokenizer), layer_norm_eps=1e-5, **sizes)
theirs = transformers.RobertaForMaskedLM(config).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter += 0.2 * torch.randn_like(parameter)  # so that no bias is 0
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as back:
    theirs.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    package, opened = open_model(folder)
    package.save_pretrained(back)
    again = transformers.RobertaForMaskedLM.from_pretrained(back).eval()
batch = opened([text, "Oslo.", "Where is Oslo?"])
real, names = batch.attention_mask.bool(), ("input_ids", "attention_mask")
with torch.no_grad():
    reference = theirs(**{name: batch[name] for name in names}).logits[real]  # [N, V]
    scores = {"package": run(package, batch).prediction_logits[real]}
    scores["and back"] = again(**{name: batch[name] for name in names}).logits[real]
for name, these in scores.items():
    print(f"{name:9} differs from transformers by {(these - reference).abs().max():.4f}")

# %%
from torch.nn.functional import cross_entropy

from bertedu.finetuning.classification import TextClassifier

config.num_labels = 3
library = transformers.RobertaForSequenceClassification(config).eval()
with tempfile.TemporaryDirectory() as folder:
    library.save_pretrained(folder)
    classifier = TextClassifier.from_pretrained(folder).eval()
with torch.no_grad():
    inputs = {name: batch[name] for name in names}
    reference = library(**inputs).logits  # [B, 3]
    first = library.roberta(**inputs).last_hidden_state[:, 0]  # [B, D]: the vector of <s>
    mine = library.classifier.out_proj(torch.tanh(library.classifier.dense(first)))
    other = classifier(**inputs).logits
print(f"head of <s>: mine {(mine - reference).abs().max():.4f}", end="")
print(f", package {(other - reference).abs().max():.4f}")

# %%
boundary = BoundaryHead(spanbert.words.encoder.token_embeddings, 128).eval()
boundary.load_state_dict(spanbert.boundary.state_dict())
batch = task.validation()[0]
row, position = (batch["left"] >= 0).nonzero(as_tuple=True)  # [M] each
left, right = batch["left"][row, position], batch["right"][row, position]
with torch.no_grad():
    output = spanbert(*(batch[name] for name in INPUTS))
    vectors = spanbert.words.encoder(*(batch[name] for name in INPUTS[:3])).last_hidden_state
    mine = boundary(vectors, row, left, right, position - left)  # [M, V]
    sbo = cross_entropy(mine, batch["labels"][row, position])
    mlm = cross_entropy(
        spanbert.words.masked_lm(vectors).flatten(0, 1), batch["labels"].flatten()
    )
print(f"scores off by {(mine - output.boundary_logits).abs().max():.4f}", end="")
print(f", loss off by {(mlm + sbo - output.loss).abs():.4f}")

# %% [markdown]
# ## Broken BERT: two vectors for one sentence
#
# A colleague's service turns sentences into vectors (the mean of the token vectors) with the RoBERTa that we made. It
# was tested: 200 sentences, one after the other, gave exactly the right vectors. In production a stored sentence
# should be recognized by its vector, with a cosine of at least 0.99. But since requests are collected in **batches**,
# padded on the left, many are not recognized.
#
# The colleague knows that RoBERTa's positions start at 2, and wrote `colleagues_positions` for speed. (`patch.object`
# replaces the package's `position_vectors` until its `with` ends.) The second cell replays test and production.

# %%
from unittest.mock import patch

from torch.nn.functional import cosine_similarity


def colleagues_positions(input_ids, padding):  # [B, T] -> [B, T]
    length = input_ids.size(1)
    return torch.arange(padding + 1, padding + 1 + length).expand_as(input_ids)


# %%
@torch.no_grad()
def sentence_vectors(ids, positions):  # [B, T] -> [B, D], the mean over real tokens
    table, real = roberta.encoder.embeddings, ids.ne(1)  # [B, T]
    with patch.object(table, "position_vectors", lambda ids: table.position(positions(ids, 1))):
        vectors = roberta.encoder(ids, real.long()).last_hidden_state  # [B, T, D]
    return (vectors * real.unsqueeze(-1)).sum(dim=1) / real.sum(dim=1, keepdim=True)


# %%
def embed(positions, side, size):  # in batches of that size
    groups = [sequences[i : i + size] for i in range(0, len(sequences), size)]
    return torch.cat(
        [sentence_vectors(new_id[padded(group, side)], positions) for group in groups]
    )


# %%
def right_positions(input_ids, padding):  # as in the loop above
    return torch.tensor([positions_of(row, padding) for row in input_ids.tolist()])


stored = embed(right_positions, "right", 1)
for name, side, size, n in (("one by one", "right", 1, 200), ("in batches", "left", 32, 20)):
    vectors = embed(colleagues_positions, side, size)
    known = (cosine_similarity(vectors, stored) >= 0.99).sum()
    print(f"{name}: largest difference {(vectors - stored).abs().max():.3f}", end="")
    print(f", recognized {about(n, known, within=2):.0f} of {len(stored)}")

# %% [markdown]
# Before you read on: which inputs of the model have changed between the two lines?
#
# <details><summary>Answer</summary>
#
# The ids are the same, except for padding, and padding is hidden from attention ([chapter
# 03](03_self_attention.ipynb)). What is left is the **position** of each token.
#
# ![One sentence alone and in a batch with two tokens of padding on the left. The colleague's positions are 2 to 5 alone and 4 to 7 in the batch; the right ones are 2 to 5 in both.](pictures/15_shifted_positions.svg)
#
# </details>
#
# So the vector of a sentence depends on its neighbors in the batch, and nobody can reproduce it.
#
# Would an ordinary evaluation have found this? The next cells mask every seventh token and measure how many are
# predicted, for three position functions: the right one, the colleague's, and one that many ports have: positions
# that start at **0**. Guess: how much accuracy does each mistake cost?


# %%
def accuracy(positions):
    ids = new_id[padded(sequences, "left")]  # [B, T]
    chosen = (ids.ne(1).cumsum(dim=1) % 7 == 4) & (ids > 4)  # no special token
    table, real = roberta.encoder.embeddings, ids.ne(1).long()
    with (
        torch.no_grad(),
        patch.object(table, "position_vectors", lambda ids: table.position(positions(ids, 1))),
    ):
        output = roberta(ids.masked_fill(chosen, 4), real, masked_positions=chosen)  # 4: <mask>
    return (output.prediction_logits.argmax(dim=-1) == ids[chosen]).double().mean().item()


def from_zero(input_ids, padding):
    return torch.arange(input_ids.size(1)).expand_as(input_ids)


# %% tags=["guess"]
tries = {"right": right_positions, "from 0": from_zero, "colleague's": colleagues_positions}
for name, positions in tries.items():
    share = about(f"accuracy by positions: {name}", accuracy(positions), within=0.004)
    known = (cosine_similarity(embed(positions, "left", 32), stored) >= 0.99).double().mean()
    known = about(f"recognized by positions: {name}", known, within=0.011)
    print(f"{name:12} accuracy {share:.3f}, recognized {known:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# About one point of accuracy, or less. Shifting a whole sentence moves its vector, but seldom changes the best word.
#
# </details>
#
# **A comparison of numbers with a
# reference, on a batch with padding on the left, finds it at once.**
#
# The bug is real. In 2019 `transformers` itself computed RoBERTa's positions just like the colleague ([issue
# 1761](https://github.com/huggingface/transformers/issues/1761)). In 2026 `sentence-transformers` repaired positions
# that start at 0: "Nothing crashes, the embeddings are just silently worse" ([pull request
# 3879](https://github.com/huggingface/sentence-transformers/pull/3879)).
#
# ### Exercise 15.5 · Positions from the ids
# ●●●○ · 10 minutes
#
# Write `position_ids(input_ids, padding)` without a loop. It takes ids `[B, T]` and the id of padding, and returns
# integers `[B, T]`: for padding the number `padding`, for the other tokens `padding + 1`, `padding + 2` and so on,
# wherever the padding is. Stuck? `hint("15.5")`


# %% tags=["exercise"]
def position_ids(input_ids, padding):
    ### BEGIN SOLUTION
    real = input_ids.ne(padding)
    return real.cumsum(dim=1) * real + padding
    ### END SOLUTION


check("15.5", position_ids)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The running sum counts the tokens that are not padding: 1, 2, 3 … Multiplied by `real` it is 0 at padding. Adding
# `padding` moves everything: padding to `padding`, the first token to `padding + 1`. It works for padding on the left,
# on the right and in the middle. And the number 2 is nowhere: it is `padding + 1` for a model whose padding is 1.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | |
# |---|---|
# | Full sentences | Paper: FULL-SENTENCES, across documents. This course: DOC-SENTENCES |
# | Positions | fairseq and `transformers` count from `padding_idx` + 1, over ids that are not padding. Given `inputs_embeds` instead of ids, `transformers` can't see padding and counts all tokens |
# | Tables of `RobertaConfig` | The class in `transformers` has BERT's defaults (512 positions, 2 segments, epsilon 1e-12). The published models have 514, 1 and 1e-5 in their config.json. If you build a RoBERTa from the class alone, it reads 510 tokens |
#
# <details><summary>Smaller differences</summary>
#
# | | |
# |---|---|
# | Optimizer | Section 3.1: β₂ = 0.98 for large batches, where BERT has 0.999 |
# | `<mask>` | Takes the space before it: "is <mask>." gives `Ġis`, `<mask>`, `.`; in the published vocabulary its id is the last one, 50264 |
# | Random tokens | fairseq never puts a special token there, nor does the package: a random `<pad>` would change the positions of all tokens after it |
# | Boundary head | Paper: two layers without bias. The authors' code and the package: with biases |
# | SpanBERT's weights | Published as a BERT: the boundary head is used in pre-training only. There is no SpanBERT class in `transformers` |
#
# </details>
#
# ## Summary
#
# - RoBERTa is BERT's encoder with a better recipe: dynamic masking, full sentences without NSP, large batches, ten
#   times the text, and longer training.
# - Byte-level BPE starts from 256 bytes, so no text is unknown. Words include the space before them (Ġ). Merges are
#   learned by frequency and replayed by rank. The price: up to four tokens for a character.
# - A pair is `<s>` A `</s></s>` B `</s>` in one segment. Positions are counted over the ids that are not padding, from
#   `padding_idx` + 1 = 2, so 512 tokens need 514 rows.
# - Moving rows of three tables turns a BERT into a RoBERTa with the same outputs.
# - SpanBERT masks spans of whole words (mean 3.8) and predicts them from their two visible neighbors as well. In the
#   paper that helps most where spans are compared by their ends.
# - A wrong position offset changes hardly any accuracy, but most vectors. Compare with a reference, on a batch with
#   padding.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(15)

# %% [markdown]
# ## Interview questions
#
# <!-- family-01 -->
# **1. What did RoBERTa change, and which change mattered most?**
#
# <details><summary>Answer in half a minute</summary>
#
# Nothing in the architecture. Dynamic masking, full sentences without next sentence prediction, batches of 8,000
# sequences, byte-level BPE, 160 GB of text instead of 16, and far longer training. Each of the first gives less than
# a point. The largest gain of one change alone is longer training, 1.7 points. BERT was undertrained.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# RoBERTa is BERT's layer, unchanged, trained with more care and more computation. Six changes. Dynamic masking: new
# masks whenever a text is read, instead of ten fixed copies. No next sentence prediction, and inputs packed with full
# sentences up to 512 tokens. Batches of 8,000 sequences instead of 256. Byte-level BPE with 50,265 entries. 160 GB of
# text instead of 16. And up to 500,000 steps.
#
# Which one mattered? The paper's ablations give, in MNLI accuracy or SQuAD 2.0 F1: dynamic masking plus 0.4 and minus
# 0.3, so nothing; dropping the pair task plus 0.4 to 0.7; batches of 2,000 plus 0.5; byte-level BPE slightly worse in
# early experiments. Then the full recipe against BERT-Large with nearly the same text: 81.8 to 87.3 on SQuAD 2.0.
# That is the large jump, and the paper doesn't take it apart: it includes three times as many sequences and up to ten
# times as many tokens read. Ten times the text at equal steps: plus 0.4. Five times the steps: plus 1.7.
#
# So the honest answer is: probably reading more tokens, with the rest helping a little: BERT was undertrained.
#
# Two lessons. A comparison of two models that differ in architecture, data and computation can't say which of them
# counts: with nearly the same text XLNet leads BERT by 6 points on SQuAD 2.0, and this recipe by 0.5. And before you
# invent a layer, train the old one to the end.
#
# </details>
#
# <!-- tokenization-06 -->
# **2. Why can byte-level BPE never produce an unknown token, and what does it cost?**
#
# <details><summary>Answer in half a minute</summary>
#
# All 256 bytes are in the vocabulary, and every text is a sequence of bytes in UTF-8. In the worst case it is split
# into single bytes. The price: rare scripts and emoji need two to four tokens for one character, a token can be a
# part of a character and isn't readable alone, and the model has to learn characters from pieces.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Byte-pair encoding begins with a base alphabet and merges frequent pairs. If the alphabet is the characters of the
# training text, a character that never occurred has no token, so there must be an unknown token. GPT-2 took bytes
# instead. There are 256 of them, each has its own token, and UTF-8 writes every character of Unicode as one to four
# bytes. So every text has an encoding, whatever merges were learned. Merges then join bytes to characters, and
# characters to words.
#
# What is gained: no `[UNK]`, no normalization that loses anything, and decoding gives back the text exactly, byte by
# byte. BERT's tokenizer loses spaces, and in the uncased version capitals and accents.
#
# What does it cost? Text in scripts that were rare in training isn't merged much. A Thai or Devanagari character has
# three bytes, so a short sentence can need over a hundred tokens: slower, more expensive, and out of the 512 earlier.
# A token can be half a character, so a single token may not be decodable; you have to join bytes first, and offsets
# for entities need care. The space belongs to the following word, so "dog" and " dog" are different tokens, and the
# first word of a text needs `add_prefix_space` to look like the others. That is a frequent source of small
# differences.
#
# RoBERTa's authors saw slightly worse results on some tasks in early experiments, and took it because it can encode
# any text. With 50,265 entries the table is larger too: 38.6 million weights instead of 23.4.
#
# </details>
#
# <!-- family-02 -->
# **3. You port a RoBERTa to another framework. The outputs agree on your test sentences, but users report that
# embeddings change with the batch. Where do you look?**
#
# <details><summary>Answer in half a minute</summary>
#
# At the positions. RoBERTa counts them over the ids that aren't padding, from `padding_idx` + 1, so the first token
# has position 2. A port that takes arange agrees for single texts if it starts at 2, and for padding on the right,
# and is shifted for padding on the left. Then at the attention mask. Test both paddings against the reference to
# 1e-5.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# What changes with the batch is the padding, so I look at the two places where it enters.
#
# First positions. In fairseq, and so in RoBERTa's weights, the padding id is 1, position 1 belongs to padding, and
# real tokens count from 2: position = `padding_idx` + the running count of tokens that aren't padding. So the table
# has 514 rows for 512 tokens. A port has three ways to be wrong. It starts at 0, as BERT does: every token has the
# vector of the position two before. That is no crash, the model loses a little accuracy, and many never notice. It
# starts at 2 but uses arange: right for one text and for right padding, and shifted by the number of padding tokens
# for left padding. Or it reads the attention mask instead of the ids: agrees until somebody passes a mask of ones.
#
# Second, the attention mask: is it passed, with the right meaning of 1, before the softmax, and is the mean over
# tokens masked? Third, the segment table: RoBERTa has one row, a tokenizer that sends 1 for a second text runs out of
# it.
#
# Why did the test not find it? It had single sentences, and without padding arange from 2 is right. The right test
# has a batch of three texts of different lengths, padded on the right and then on the left, and compares the hidden
# states at real tokens with the reference, maximum difference below 1e-5. Not a score: in our lab a shift by two cost
# one point, which looks like noise. The same family of bugs is in XLM-R and in everything that starts from RoBERTa's
# weights, also in sentence embedding models.
#
# </details>
#
# ## Next
#
# Same model, better recipe. The next chapter makes the model *smaller*, in two ways, by sharing weights and by learning
# from a teacher: [16 · ALBERT and DistilBERT](16_albert_and_distilbert.ipynb). The map of all chapters is in
# [00 · Start here](00_start_here.ipynb).
