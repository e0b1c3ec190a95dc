# %% [markdown]
# # 18 · DeBERTa and XLNet
#
# BERT numbers its positions 0, 1, 2, … and adds a vector for each number. You will see where that fails, and build the
# two models that replaced it by *distances*: DeBERTa's disentangled attention, and XLNet's two streams, which predict
# the words of a sentence in any order.
#
# ## What you will be able to do
#
# - show by an experiment what absolute positions can't do, and what they can
# - compute disentangled attention by hand: content to content, content to position, position to content
# - explain DeBERTa's log buckets (and, in optional sections, its enhanced mask decoder and DeBERTaV3's embeddings)
# - write down what each word may see in permutation language modeling, and why XLNet needs two streams for it
# - find a bug in relative attention that no shape and no loss will show you
#
# **Time:** two sittings of about 50 and 60 minutes, and 5 more for what is optional ·
# **You need:** [17 · ELECTRA](17_electra.ipynb) ·
# **Next:** [19 · ModernBERT](19_modernbert.ipynb)
#
# You can leave what is marked (optional) for another day.
#
# ## Recall
#
# 1. Which tokens contribute to the loss of ELECTRA's discriminator, and which to that of its generator?
#
# <details><summary>Answer</summary>
#
# All real tokens to the discriminator's: each of them is either the original or a replacement. Only the chosen
# positions, about 15 %, to the generator's.
#
# </details>
#
# 2. Why does the discriminator's loss not train the generator through the sampled words?
#
# <details><summary>Answer</summary>
#
# Sampling a word is a choice of an id. A choice has no gradient, so the discriminator's loss stops there. (That is
# also why ELECTRA is no GAN: the generator is trained by its own masked words.)
#
# </details>
#
# 3. How does BERT know that a word is the third one? What happens to token 513 of a long text?
#
# <details><summary>Answer</summary>
#
# By a learned vector for position 2 that is added to the word's vector ([chapter 02](02_input_embeddings.ipynb)).
# The table has 512 rows, so there is no vector for token 513, and BERT can't read it.
#
# </details>
#
# ## Where this part sits
#
# BERT from left to right. What this chapter changes is blue: positions disappear from the embeddings, and attention
# gets distances instead. XLNet also changes how the predictions are made.
#
# ![BERT from left to right: embeddings, then in layer 1 and in layers 2 to L self-attention and feed-forward, then
# the predictions. Blue is what changes: the embeddings have no positions, self-attention gets distances, the
# predictions come in any order (XLNet). The feed-forward parts are grey: they stay as they
# are.](pictures/18_deberta_and_xlnet.svg)
#
# ## The problem: the same sentence somewhere else
#
# *The keys near the old lamp are wet.* Does it matter whether this sentence stands at the beginning of a text or
# after forty other words? For the grammar it doesn't. For BERT it does, because every word gets another position
# vector. Let's see how much changes.
#
# We use the small BERT that comes with the course, and a trick: we put padding *before* the sentence. Padding is hidden
# from attention, so the model still reads the same words, and nothing else. Only their position numbers grow. The cell
# prints how similar the vectors are to those at the beginning. Guess first: is the cosine 1?

# %%
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from bertedu import BertConfig, BertForPreTraining, BertModel, BertTokenizer
from bertedu.chapters.ch18_deberta_and_xlnet.fitting import fit
from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import VERB_WORDS, verb_texts
from bertedu.course import about, check, data_path, hint, quiz

folder = data_path("checkpoints/mixed-mini")
small_bert = BertForPreTraining.from_pretrained(folder).bert.eval()
tokenizer = BertTokenizer.from_pretrained(folder)
sentence = tokenizer("The keys near the old lamp are wet.").input_ids  # [1, T]
vectors = {}
for shift in (0, 1, 10, 80):
    ids = torch.cat([torch.zeros(1, shift, dtype=torch.long), sentence], dim=1)  # 0 is [PAD]
    real = (torch.arange(ids.size(1)) >= shift).long()[None]  # attention mask [1, shift + T]
    with torch.no_grad():
        vectors[shift] = small_bert(ids, real).last_hidden_state[0, shift:]  # [T, D]
    cosine = torch.cosine_similarity(vectors[shift], vectors[0], dim=-1).mean()
    print(f"{shift:2} positions later: mean cosine with the vectors at the start {cosine:.2f}")

# %% [markdown]
# The cosine isn't 1: after ten positions it is 0.94. The same words in the same order, and yet other vectors. They stay
# similar: this BERT was trained on texts that fill all its 128 positions. But nothing in the model says that a sentence
# means about the same everywhere. It had to learn that from data, position by position.
#
# ### A model that learns at short positions and is asked at long ones
#
# What if some positions are rare in training? We go back to the agreement of [chapter 03](03_self_attention.ipynb):
# *the keys near the lamp [MASK] wet*, is it *is* or *are*? Now a text consists of several such sentences, and only the
# last one has a [MASK]. We train on texts of one or two sentences and test on texts of up to ten. The rule is the same
# in each of them: the verb agrees with the first noun of its own sentence. `verb_texts` returns the ids of n random
# texts, the answers (0 *is*, 1 *are*), and whether each sentence's subject is plural. With `hard=True` the second noun
# of the last sentence always has the other number. A text of two sentences looks like this:
#
# > [CLS] the horses near the books are wet . the boats near the keys [MASK] wet . [SEP]
#
# The model is small: an encoder with two layers, and a linear layer that turns the vector of [MASK] into two scores.
# `VerbModel` takes any encoder of the package, because we'll exchange the encoder later. The package's `fit` is the
# shortest possible training loop: 200 steps of Adam on the loss that we give it, with warm-up and linear decay. All the
# little models of this chapter are trained by it, in a second or two each.


# %%
class VerbModel(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.decide = nn.Linear(encoder.config.hidden_size, 2)

    def forward(self, ids):  # [B, T] -> [B, 2]
        vectors = self.encoder(ids).last_hidden_state  # [B, T, D]
        return self.decide(vectors[ids == VERB_WORDS.index("[MASK]")])


# %%
def train_verbs(make_encoder, seed, longest=2):  # on texts of 1 to `longest` sentences
    def loss_of(model, generator):
        sentences = torch.randint(1, longest + 1, (), generator=generator).item()
        ids, answers, _ = verb_texts(64, sentences, generator)
        return cross_entropy(model(ids), answers)

    torch.manual_seed(seed)
    return fit(VerbModel(make_encoder()), loss_of, seed)


# %% [markdown]
# The next cell defines the test, on 500 hard texts. The cell after it trains two little BERTs, with two seeds, and
# prints the means. The first number of a line is the accuracy. The second is the share of the answers that would be
# right if the question were about the *second* sentence of the text. Guess the first number for six sentences.


# %%
@torch.no_grad()
def tested(model, sentences):  # accuracy, and agreement with the subject of the second sentence
    generator = torch.Generator().manual_seed(99)
    ids, answers, plural = verb_texts(500, sentences, generator, hard=True)
    said = model(ids).argmax(dim=-1)
    return [(said == x).double().mean().item() for x in (answers, plural[:, :2][:, -1])]


# %%
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
SIZES |= {"intermediate_size": 64, "max_position_embeddings": 128}
SIZES |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
sizes = {**SIZES, "vocab_size": len(VERB_WORDS)}
berts = [train_verbs(lambda: BertModel(BertConfig(**sizes), False), seed) for seed in range(2)]
for n in (2, 3, 6, 10):
    right, second = torch.tensor([tested(model, n) for model in berts]).mean(dim=0)
    right = about(1 if n == 2 else 0.5, right, within=0.08)
    second = about(1, second, within=0.08)
    print(f"{n:2} sentences: {right:.2f} right, {second:.2f} right for the second sentence")

# %% [markdown]
# With two sentences nearly every answer is right. From three sentences on, BERT is no better than a
# coin. And look at the right column: it is not confused at all. **It answers for the second sentence**, whichever
# sentence it was asked about. It has never learned the rule "the subject is four words to the left". It behaves as if
# it had learned "if [MASK] is at position 6, the subject is at position 2; otherwise it is at position 10". Position
# 22, where the verb of a third sentence stands, was never trained, and the second half of this rule applies.
#
# That is what **absolute positions** cost: what is learned at one position is not known at another. (Is the test
# unfair, because those rows of the table were never trained? It is an extreme case of a position that is rare in the
# training data, and we'll add a control when we come to the models with distances.)
#
# ## Four terms in one product
#
# BERT adds the vector of the word and the vector of the position, x = e + p. Then attention multiplies. What does it
# compare with what? Multiply out the score of query i and key j. It has four terms:
#
# | | key: the word e_j | key: the position p_j |
# |---|---|---|
# | **query: the word e_i** | content to content | content to position |
# | **query: the position p_i** | position to content | position to position |
#
# (BERT also adds a segment vector, and has a LayerNorm between the sum and the projections. We leave both out here.)
#
# So BERT's first layer has all four terms, but it can't set them apart: one sum, one projection for both. And p_j says
# *where a word stands*, while most of grammar asks *how far away* it stands.
#
# **DeBERTa** (He et al. 2021, section 3.1) changes both. The encoder never adds a position to the vector of a
# word. Instead there is a table with a vector for each **distance**, and attention computes three terms:
#
# - **content to content** (c2c), qᵢ · kⱼ: does this word match that word? As in BERT
# - **content to position** (c2p), qᵢ · k′_δ: which distance does *this query's word* ask for?
# - **position to content** (p2c), kⱼ · q′_δ: from which distance does *this key's word* want to be found?
#
# k′ and q′ are keys and queries of the distances: projections of that table. δ is the row of the table that belongs to
# tokens i and j. The fourth term, position to position, is left out: the paper says that with relative positions it
# doesn't add much information.
#
# ### From a distance to a row of the table
#
# The distance of query i and key j is i − j: positive if the key stands to the left. A table can't have a row for
# every distance, so there is a limit, the **span** s. The table has 2s rows, numbered 0 to 2s − 1. Row s belongs to
# distance 0. Distances that would lead out of the table get the nearest row: they are **clamped**.
#
# $$\delta(i, j) = \min(\max(i - j + s,\ 0),\ 2s - 1)$$
#
# (The paper writes k for s and gives it as three cases, equation 3.) With s = 2 and three tokens, take a pencil: which
# row belongs to the query 2 and the key 0? The distance is 2, so 2 + 2 = 4. The table ends at row 3. So distance 2 has
# to share row 3 with distance 1. On the other side −2 has row 0 to itself: the table reaches one step further to the
# right than to the left.
#
# ### Exercise 18.1 · The row of a distance
# ●○○○ · 6 minutes
#
# Write `relative_index(length, span)`. It returns δ(i, j) for all pairs of tokens: integers `[T, T]`, a row for each
# query i, a column for each key j. Stuck? `hint("18.1")`


# %% tags=["exercise"]
def relative_index(length, span):
    ### BEGIN SOLUTION
    positions = torch.arange(length)
    return (positions[:, None] - positions[None, :] + span).clamp(0, 2 * span - 1)
    ### END SOLUTION


check("18.1", relative_index)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `positions[:, None]` is a column and `positions[None, :]` is a row, so their difference is a table: the query's
# position minus the key's. Adding `span` moves distance 0 to row `span`, and `clamp` keeps everything inside the
# table. The order of the last two steps matters: if you clamp to 0 … 2s − 1 first, all negative distances become 0.
#
# </details>

# %% [markdown]
# ## Disentangled attention by hand
#
# Three tokens, *old keys rust*, with queries and keys of length d = 2, and s = 2. In a model all these numbers come
# from learned projections. Here we choose them, so that you can compute with a pencil. How well does the query of
# *keys* (i = 1) match the key of *old* (j = 0)?
#
# | | | numbers | product |
# |---|---|---|---|
# | distance and row | i − j = 1, so δ = 1 + 2 = 3 | | |
# | content to content | q₁ · k₀ | (1, 1) · (1, 2) | 3 |
# | content to position | q₁ · k′₃ | (1, 1) · (2, 0) | 2 |
# | position to content | k₀ · q′₃ | (1, 2) · (0, 1) | 2 |
#
# The sum is 7. Then it is divided by √(3d) = √6 (why 3? in a moment): 2.86. The next cell does this for all pairs, with
# two loops, and draws the tables. Find the 3, the 2, the 2 and the 7.

# %%
from bertedu.chapters.ch18_deberta_and_xlnet.small_tables import small_tables

q = torch.tensor([[1.0, 0], [1, 1], [0, 2]])  # [T, d], queries of old, keys, rust
k = torch.tensor([[1.0, 2], [0, 1], [1, 0]])  # [T, d]
k_position = torch.tensor([[0.0, 1], [1, 0], [0, 0], [2, 0]])  # [2s, d]: keys of the distances
q_position = torch.tensor([[1.0, 0], [0, 0], [1, 1], [0, 1]])  # [2s, d]: their queries
T, d, s = 3, 2, 2
delta, c2c, c2p, p2c = (torch.zeros(T, T) for _ in range(4))
for i in range(T):  # the query
    for j in range(T):  # the key
        row = min(max(i - j + s, 0), 2 * s - 1)
        delta[i, j], c2c[i, j] = row, q[i] @ k[j]
        c2p[i, j], p2c[i, j] = q[i] @ k_position[row], k[j] @ q_position[row]
total = c2c + c2p + p2c
print(f"keys and old: sum {total[1, 0]:.0f}, divided {total[1, 0] / (3 * d) ** 0.5:.2f}")
tables = {"row δ(i, j)": delta, "c2c": c2c, "c2p": c2p, "p2c": p2c, "sum": total}
words = ["old", "keys", "rust"]
alt = "Five tables, a row for each query and a column for each key, old, keys, rust: the row "
alt += "of the distance, c2c, c2p, p2c, and their sum, 7 for the query keys and the key old."
small_tables(tables, words, words, alt)

# %% [markdown]
# ### Without loops: gather, and a transposition
#
# The loop computes `q[i] @ k_position[row]` again for every pair. But a query meets only 2s different distances. So we
# compare it with all of them at once, `q @ k_position.T`, a table `[T, 2s]`, and then each pair picks its entry. That
# picking is `gather`: `table.gather(-1, index)[i, j]` is `table[i, index[i, j]]`.
#
# For p2c it is the *key* that meets the distances: `k @ q_position.T`, a table `[T, 2s]` with a row for each key. Now
# be careful. Row j of this table belongs to key j, and the pairs of key j are column j of δ. So we gather with δ
# **transposed**, and what comes out is `[key, query]`. It has to be transposed **back** before it is added. Two
# transpositions, and the lab at the end is about what happens if you forget them.

# %%
index = delta.long()  # [T, T], the table of rows
fast = (q @ k_position.T).gather(-1, index)  # [T, 2s] -> [query, key]
print(f"c2p: largest difference from the loop {(fast - c2p).abs().max():.1f}")
fast = (k @ q_position.T).gather(-1, index.T).T  # [T, 2s] -> [key, query] -> [query, key]
print(f"p2c: largest difference from the loop {(fast - p2c).abs().max():.1f}")

# %% [markdown]
# Both are equal to the loops.
#
# **Why √(3d)?** In [chapter 03](03_self_attention.ipynb) a score was a sum of d products, so its variance was d, and
# dividing by √d brought it back to 1. Here we add three such scores. If they are independent, the variance of the sum
# is 3d, so we divide by √(3d). With a single term left out it would be √(2d).
#
# ## The class
#
# Now with projections, heads and a batch, as DeBERTa's versions 2 and 3 have it: the distances pass through the *same*
# projections as the words. (Version 1 has projections of their own for them.) `table` contains the vectors of the
# distances, `[2s, D]`. All layers of the model share it. The first cell has the two distance terms, as a function; with
# `terms` we can leave out one of them. The second cell has the rest.


# %%
def distance_terms(q, k, q_position, k_position, index, terms=("c2p", "p2c")):
    scores, index = 0, index.expand(*q.shape[:-1], k.size(-2))  # index [B, H, T, T]
    if "c2p" in terms:
        scores = scores + (q @ k_position.mT).gather(-1, index)
    if "p2c" in terms:
        scores = scores + (k @ q_position.mT).gather(-1, index.mT).mT
    return scores  # [B, H, T, T], not yet divided


# %%
class DisentangledAttention(nn.Module):
    """Attention over content and distance, [B, T, D] to [B, T, D]."""

    def __init__(self, hidden_size, num_heads, terms=("c2p", "p2c")):
        super().__init__()
        self.num_heads, self.terms, self.distance_terms = num_heads, terms, distance_terms
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(hidden_size, hidden_size))

    def split_heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)  # [..., H, T, d]

    def forward(self, x, table, index):  # [B, T, D], [2s, D], [T, T]
        q, k, v = (self.split_heads(f(x)) for f in (self.query, self.key, self.value))
        positions = (self.split_heads(f(table)) for f in (self.query, self.key))  # [H, 2s, d]
        scores = q @ k.mT + self.distance_terms(q, k, *positions, index, self.terms)
        scores = scores / ((1 + len(self.terms)) * q.size(-1)) ** 0.5  # √(3d) with both terms
        mixed = scores.softmax(dim=-1) @ v  # [B, H, T, d]
        return self.output(mixed.transpose(1, 2).flatten(-2))  # [B, T, D]


# %% [markdown]
# ## What is each term good for?
#
# Two toy languages make the difference visible. In both a text is *[CLS] left middle right [SEP]*, and the model has
# to name a letter, from the vector of the middle token.
#
# - **The query decides.** The middle token is `left?` or `right?`, its neighbors are letters: `a left? d` means *a*.
# - **The key decides.** The middle token is always [MASK]. Its neighbors are arrows, both pointing the same way:
#   `a> [MASK] d>` means *a*, because that is the arrow that points at [MASK]. And `<a [MASK] <d` means *d*.
#
# The second one is not so artificial. English *very* belongs to the word after it, and *ago* to the words before it.
# Which term does which language need? Guess before you run the second cell. It trains one layer of attention with one
# head, without and with each term, twice for each (16 trainings, a few seconds), and prints the mean accuracy.

# %%
from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import (
    ARROW_WORDS,
    key_decides,
    query_decides,
)


class Reader(nn.Module):  # one layer of attention; the vector in the middle names a letter
    def __init__(self, terms):
        super().__init__()
        self.token = nn.Embedding(len(ARROW_WORDS), 32)
        self.table = nn.Parameter(0.5 * torch.randn(8, 32))  # [2s, D] with s = 4
        self.attention = DisentangledAttention(32, 1, terms)
        self.decide = nn.Linear(32, 6)

    def forward(self, ids):  # [B, 5] -> [B, 6]
        index = (torch.arange(5)[:, None] - torch.arange(5) + 4).clamp(0, 7)
        return self.decide(self.attention(self.token(ids), self.table, index)[:, 2])


# %%
def train_reader(language, terms, seed):
    def loss_of(model, generator):
        ids, letters, _ = language(64, generator)
        return cross_entropy(model(ids), letters)

    torch.manual_seed(seed)
    return fit(Reader(terms), loss_of, seed, learning_rate=0.02)


expected = {query_decides: (0.5, 1, 0.75, 1), key_decides: (0.5, 0.75, 1, 1)}
for language, wanted in expected.items():
    ids, letters, _ = language(1000, torch.Generator().manual_seed(9))
    for terms, share in zip(((), ("c2p",), ("p2c",), ("c2p", "p2c")), wanted):
        readers = [train_reader(language, terms, seed) for seed in (0, 1)]
        right = sum((r(ids).argmax(dim=-1) == letters).double().mean() for r in readers) / 2
        name = f"{language.__name__}, {' + '.join(('c2c', *terms))}"
        print(f"{name:32} {about(share, right, within=0.13):.2f} right")
reader = readers[-1]  # all three terms, for the lab

# %% [markdown]
# Without any distance it is a coin. Where the *query* decides, c2p solves the task, and where the *key* decides, p2c
# does. The other term alone reaches about three quarters. (That much is possible without the right term. For arrows:
# always attend to the left when they point right, which is always correct; when they point left, let a fixed ranking
# of the letters decide, which is correct for half of the pairs.) All three terms together solve both.
#
# In the paper's ablation (table 4, base models) the effect is far smaller. Real language offers many clues at once.
#
# | accuracy | MNLI (matched) | RACE |
# |---|---|---|
# | DeBERTa | 86.3 | 71.7 |
# | without c2p | 85.9 | 69.3 |
# | without p2c | 86.0 | 69.6 |
# | RoBERTa, trained by the authors in the same setting | 84.9 | 66.8 |
#
# ## Far distances share a row: log buckets
#
# Version 1 has a row for each distance up to 512. But is 300 words away different from 301? Version 2 puts distances
# into **buckets**: near distances have one each, far ones share, and the farther, the more share. Let b be the number
# of buckets for each direction, and m = b / 2.
#
# - distances up to m (in either direction) are their own bucket
# - beyond, the *logarithm* of the distance is cut into equal parts, so that the farthest distance that counts, M − 1,
#   ends in bucket b − 1:
#
# $$\text{bucket}(n) = m + \left\lceil \frac{\ln(n / m)}{\ln((M - 1) / m)} \cdot (m - 1) \right\rceil$$
#
# and left and right get opposite signs. ⌈ ⌉ means: round up. The published models have b = 256 and M = 512. For a
# pencil take b = 8 and M = 33, so m = 4. Distance 3 is bucket 3. Distance 10: ln(10/4) / ln(32/4) = 0.44, times 3 is
# 1.32, rounded up 2, so bucket 4 + 2 = 6. The next cell draws it for b = 8 and for the published numbers.

# %% tags=["hide-input"]
from bertedu.family.deberta.v2 import DebertaV2Config, DebertaV2Model, log_buckets
from bertedu.family.xlnet import XLNetConfig, XLNetModel
from bertedu.visualization.picture import BLUE, GREY, Picture, new_figure, quiet

figure = new_figure(7.6, 2.6)
for axes, (b, M) in zip(figure.subplots(1, 2), ((8, 33), (256, 512))):
    distances = torch.arange(-(M - 1), M)
    axes.plot(distances, distances, color=GREY, linewidth=1, linestyle=":")
    axes.step(distances, log_buckets(distances, b, M), color=BLUE, where="mid")
    axes.set(xlabel="distance i − j", ylabel="bucket", ylim=(-1.15 * b, 1.15 * b))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_title(f"b = {b}, farthest distance M − 1 = {M - 1}", fontsize=9)
    quiet(axes)
alt = "Bucket over distance for b = 8 and b = 256: a straight line near 0, where each distance "
Picture(figure, alt + "has its own bucket, then steps that become wider on both sides.")

# %% [markdown]
# Near zero the blue line follows the dotted one: each distance is told apart. Then the steps become wider. Half of the
# buckets serve the nearest distances. (T5 does something similar; Raffel et al. 2020, section 2.1.)
#
# ### Exercise 18.2 · Which bucket?
# ●●○○ · 6 minutes
#
# Stay with b = 8 and M = 33 (so m = 4). Into which buckets fall the distances 4, −7, 15 and 20? Use a pencil, or
# a calculator for the last one. Answer with a list of four integers.

# %% tags=["exercise"]
### BEGIN SOLUTION
buckets = [4, -5, 6, 7]
### END SOLUTION
check("18.2", buckets)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# 4 is not beyond m, so it is its own bucket. For 7: ln(7/4) / ln 8 = 0.27, times 3 is 0.81, rounded up 1, so 4 + 1 =
# 5, and the sign says −5. For 15: 0.64, times 3 is 1.9, rounded up 2, so 6. For 20: ln 5 / ln 8 = 0.77, times 3 is
# 2.3, rounded up 3, so 7. All distances from 17 to 32 share bucket 7.
#
# </details>

# %% [markdown]
# ## Back to the verbs
#
# Now we give `VerbModel` another encoder: DeBERTa in version 2, of the same size, with 8 buckets, and XLNet, whose
# attention you will build below. Everything else stays the same, seeds, steps and texts. For a fair comparison there
# is a control: a BERT that was trained with texts of one to *six* sentences. The cell trains five little models and
# takes a quarter of a minute on a slow computer. The cell after it draws the accuracy over the length of the text. Guess
# where the control fails.

# %%
encoders = {
    "DeBERTa": lambda: DebertaV2Model(DebertaV2Config(**sizes, position_buckets=8)),
    "XLNet": lambda: XLNetModel(XLNetConfig(**sizes, pad_token_id=0)),
}
models = {"BERT": berts}
for name, make in encoders.items():
    models[name] = [train_verbs(make, seed) for seed in range(2)]
models["control"] = [train_verbs(lambda: BertModel(BertConfig(**sizes), False), 0, longest=6)]

# %%
from bertedu.chapters.ch18_deberta_and_xlnet.by_length import accuracy_by_length

lengths = (1, 2, 3, 4, 6, 10)
half, one = (1, 0.5, 0.5), (1, 1, 1)  # of the answers, with 2, 6 and 10 sentences
expected = {"BERT": half, "DeBERTa": one, "XLNet": one, "control": (1, 1, 0.5)}
runs = {}
for name, wanted in expected.items():
    runs[name] = [[tested(model, n)[0] for n in lengths] for model in models[name]]
    means = torch.tensor(runs[name])[:, [1, 4, 5]].mean(dim=0)
    shown = (f"{about(w, x, within=0.08):.2f}" for w, x in zip(wanted, means))
    print(f"{name:8} 2, 6 and 10 sentences:", *shown)
alt = "Accuracy over the number of sentences, trained on one and two. BERT falls to one half "
alt += (
    "from three on, DeBERTa and XLNet stay near 1, the control (trained to six) falls at ten."
)
accuracy_by_length(runs, lengths, 2, "sentences", alt)

# %% [markdown]
# Both models with distances stay near 1, up to five times the length that they were trained on, for both seeds.
# "Four words to the left" is a rule about distance, and they have no other way to say it.
#
# The control is as important. Trained on up to six sentences, BERT is right up to six (we trained only one such
# model): absolute positions *can* learn the rule, at each position for itself. It's a matter of data, and of the
# positions beyond. (The grey band of the figure belongs to the other three models; the control has seen texts of up to
# six.) So don't conclude that relative positions make every model better. On texts that are as long as
# those in training, expect a much smaller gain, as in the paper's table. And *very* long texts have other problems
# too: here each sentence had its own subject nearby.
#
# ## Some things do depend on the position: the enhanced mask decoder (optional)
#
# He et al. (section 3.2) have the example *a new store opened beside the new mall*, with *store* and *mall* masked. Both
# gaps follow *new*, but one is the subject, and where a word stands in the sentence helps to decide that. So DeBERTa
# adds absolute positions, but only at the end, in the **enhanced mask decoder** (EMD). It takes the vectors that the
# last layer reads, adds a position to each, and uses these sums as *queries* in the last layer. Keys and values stay
# without positions. What comes out passes through the same layer once more, again as queries. EMD is only used in
# pre-training.
#
# Can't a model with distances know where a word stands? The next cell gives an untrained DeBERTa a text of one word,
# five times, first alone and then between [CLS] and [SEP], as every text comes. It prints how much the vectors of the
# five differ. Guess which of the four numbers are zero.

# %%
from bertedu.family.deberta.pretraining import EnhancedMaskDecoder

torch.manual_seed(0)
config = DebertaV2Config(**sizes, position_buckets=8, initializer_range=0.3)
deberta, decoder = DebertaV2Model(config).eval(), EnhancedMaskDecoder(config)
for text in ("the the the the the", "[CLS] the the the the the [SEP]"):
    ids = torch.tensor([[VERB_WORDS.index(word) for word in text.split()]])
    the = ids[0] == VERB_WORDS.index("the")
    with torch.no_grad():
        states = deberta(ids, output_hidden_states=True).hidden_states  # L + 1 times [B, T, D]
        both = {"encoder": states[-1], "with EMD": decoder(deberta, states)}  # [B, T, D] each
    gaps = {name: (x[0, the] - x[0, the][0]).abs().max().item() for name, x in both.items()}
    print(f"{text:31}", *(f"{name} {gap:.2f} " for name, gap in gaps.items()))

# %% [markdown]
# Without [CLS] all five vectors are the same: the weights differ from token to token, but they average five equal values.
# With [CLS] and [SEP] they differ without EMD too, because each word attends to [CLS] from another distance. So in real
# texts a model with distances *can* find out where a word stands. EMD doesn't make it possible, it makes it easy: the
# position is there when the word is predicted, and no layer needs to count. In the paper's table 4, leaving out EMD costs
# 0.2 points on MNLI, and 1.4 on RACE.
#
# ## Version 3: a tug-of-war over the embeddings (optional)
#
# DeBERTaV3 (He et al. 2023) keeps the architecture of version 2 and trains it as ELECTRA is trained, by finding
# replaced tokens. ELECTRA's generator and discriminator share their token embeddings. The authors found that the two
# losses pull them in different directions: the generator wants words that fit into the same gap to be similar, the
# discriminator has to tell just these words apart. They call it a *tug-of-war*. Their solution is
# **gradient-disentangled embedding sharing**:
#
# $$E_D = \text{stop\_gradient}(E_G) + E_\Delta, \qquad E_\Delta = 0 \text{ at the start}$$
#
# The discriminator still reads the generator's table, but its loss changes only the difference E_Δ. (In the package:
# `GradientDisentangledEmbedding`.)
#
# The paper's ablation (base models, MNLI): masked words 86.3, replaced tokens with shared embeddings 88.8, with
# separate ones 88.3, and with gradient-disentangled sharing 89.3. So most of the gain is ELECTRA's.
#
# **Here the first sitting ends.** You have DeBERTa: attention by content and by distance, with buckets for what is
# far. The second sitting predicts the words in any order, as XLNet does.
#
# ## XLNet: predict in any order
#
# XLNet (Yang et al. 2019) came before DeBERTa, and starts from another problem. If two words of *New York* are masked,
# BERT predicts each of them without knowing the other. [Chapter 06](06_masked_language_model.ipynb) showed the
# consequence: if *San Francisco* is as frequent, *New Francisco* becomes as probable as *New York*. A model that reads
# from left to right, like GPT, doesn't have this problem. It uses the product rule, p(new york) = p(new) · p(york |
# new). But it never sees what stands to the right.
#
# XLNet keeps the product rule, and lets go of the direction. The product rule holds for **any order**. For the four
# words *the old keys rust* and the **factorization order** keys, the, rust, old:
#
# p(keys) · p(the | keys) · p(rust | the, keys) · p(old | the, keys, rust)
#
# Each training text gets an order at random. So every word is predicted now from the left, now from the right, now
# from both sides. This is **permutation language modeling**. One thing is often misunderstood: *the text is not
# shuffled*. The words stay where they are, and the model is told the position of the word that it predicts. Only the
# question "who may see whom" depends on the order. The next cell prints it for our order, and then counts over all 24
# orders how often a word sees another one. Guess that number first.

# %%
from itertools import permutations

sentence, order = "the old keys rust".split(), [2, 0, 3, 1]  # keys, the, rust, old
for step, position in enumerate(order):
    seen = " ".join(sentence[p] for p in sorted(order[:step]))
    print(f"predict {sentence[position]:4} at position {position} from: {seen or 'nothing'}")
share = sum(o.index(1) < o.index(0) for o in permutations(range(4))) / 24
print(f"in {share:.0%} of all 24 orders, 'the' is predicted with 'old' known")

# %% [markdown]
# In half of all orders *the* is predicted with *old* known, and in the other half *old* with *the* known: both
# directions, but never both at once. That is how a model can use both sides without ever seeing its own answer.
#
# ### Who may see whom
#
# An order becomes an attention mask. There are two of them, and the reason comes right after the exercise:
#
# - to **predict** word i, the model may see all words that come before i in the order, but **not word i itself**
# - to **represent** word i for others, it may see the words before i in the order **and word i itself**
#
# ### Exercise 18.3 · The mask of an order
# ●●○○ · 12 minutes
#
# Write `stream_masks(order)`. `order` is a list of positions: `order[0]` is the position of the word that comes first.
# Return two boolean tables `[T, T]`, first for representing (the *content* mask), then for predicting (the *query*
# mask). Entry [i, j] is True if word i may see word j, where i and j are positions in the text.


# %% tags=["exercise"]
def stream_masks(order):
    ### BEGIN SOLUTION
    when = torch.empty(len(order), dtype=torch.long)
    when[torch.tensor(order)] = torch.arange(len(order))  # when is position i predicted?
    query = when[None, :] < when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query
    ### END SOLUTION


check("18.3", stream_masks)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `order` answers "which position comes first?". The mask needs the opposite: "when does position i come?". That is
# the inverse permutation, `when`. (`torch.tensor(order).argsort()` is the same.) Word i may see word j if j comes
# earlier: `when[j] < when[i]`, with i along the rows. The content mask adds the diagonal.
#
# </details>

# %% [markdown]
# ## Why two streams?
#
# Could one vector for each word do both jobs? Try to design it.
#
# - The vector of *old* must tell other words, like *rust*, that an *old* stands here. So it must contain the word.
# - The same vector must predict *old*. If it contains the word, there is nothing left to predict.
#
# Hiding the word from its own attention doesn't help, because the residual connection adds the input embedding to the
# output of every layer. And if the vector starts without the word, no other word can ever learn that it is there. The
# two demands contradict each other. So XLNet computes two vectors for each position (section 2.3):
#
# - the **content stream** starts with the word embedding, and follows the content mask. It tells the others.
# - the **query stream** starts with one learned vector, the same for all positions, and follows the query mask. It
#   predicts. How does it know its position? From the distances in its attention scores.
#
# Both go through the *same* layers with the *same* weights. Keys and values always come from the content stream: a
# prediction needs words, and only the content stream has them. After pre-training the query stream is thrown away.
#
# Does that really keep the answer out, even through several layers? Let's test it by its effect, as you test every
# mask: change one word, and see which vectors change. The next cell uses the package's XLNet with two layers and random
# weights. `perm_mask` says with 1 what may *not* be seen (the opposite of your masks; that is the convention of the
# authors' code). `target_mapping` says which positions are predicted: here the four words. We add `<cls>`, which XLNet
# has at the *end* of a text, and let it come first in the order. It isn't predicted, but the first word has to see
# something: softmax over nothing but hidden keys is not zero, it gives all of them the same weight, and then the first
# word would see everything. The cell after it draws the result: a field is blue if the vector of its row changes when
# the word of its column does.

# %%
torch.manual_seed(0)
xlnet = XLNetModel(XLNetConfig(**sizes, pad_token_id=0, initializer_range=0.3)).eval()
when = torch.tensor([4, *order]).argsort()  # [T]: when does each position come? <cls> first
query_mask = when[None, :] < when[:, None]  # [T, T], as in exercise 18.3
inputs = {"perm_mask": (~query_mask)[None].float(), "target_mapping": torch.eye(5)[None, :4]}


def streams(ids):  # the last vectors of the four words, [4, D] for each stream
    output = xlnet(ids, **inputs, output_hidden_states=True)
    return output.hidden_states[-1][0, :4], output.last_hidden_state[0]


# %%
ids = torch.tensor([[10, 11, 12, 13, 1]])  # the old keys rust <cls>
changes = torch.zeros(2, 4, 5)  # [stream, vector i, changed word j]
for j in range(5):
    other = ids.clone()
    other[0, j] += 5
    for stream, (before, after) in enumerate(zip(streams(ids), streams(other))):
        changes[stream, :, j] = (after - before).abs().max(dim=-1).values
wrong = ((changes[1] > 1e-6) != query_mask[:4]).sum()
print(f"a word changes its own prediction by {changes[1].diagonal().max():.4f}", end="")
print(f"; {wrong} of 20 entries differ from the query mask")
alt = "Which vectors (rows) change with which word (columns), in the order <cls>, keys, the, "
alt += "rust, old. Content stream: the word and what comes before; query stream: not the word."
tables = {"content stream": changes[0] > 1e-6, "query stream": changes[1] > 1e-6}
small_tables(tables, sentence, [*sentence, "<cls>"], alt)

# %% [markdown]
# The two pictures are exactly the two masks of exercise 18.3, after two layers. In the query stream the diagonal is
# empty: no information about a word reaches its own prediction, not even by a detour through another word. The row of
# *keys*, the first word of the order, has only `<cls>`: its prediction knows no word at all.
#
# ## XLNet's attention scores
#
# XLNet has no positions in its embeddings either. Its scores come from Transformer-XL (Dai et al. 2019, section 3.3):
#
# $$\text{score}(i, j) = \frac{(q_i + r_w) \cdot k_j + (q_i + r_r) \cdot R_{i-j} + (q_i + r_s) \cdot s_{ij}}{\sqrt{d}}$$
#
# - (qᵢ + r_w) · kⱼ: **content**. r_w is a learned vector that all queries share: which words are worth attending to
#   for any query?
# - (qᵢ + r_r) · R: **distance**. R starts from fixed sines and cosines of i − j (the ones of chapter 02, but of
#   distances), and passes through a learned projection. r_r: which distances matter for any query?
# - (qᵢ + r_s) · s: **segment**. XLNet doesn't have BERT's segment embeddings. There is one vector for "same
#   segment" and one for "another segment". So it can read more than two segments.
#
# Compare with DeBERTa: c2c and c2p are there, and r_w and r_r in addition. p2c isn't: no term lets the *key's word*
# choose a distance. He et al. say so themselves (section 3.1): earlier models with relative positions lack it.
#
# By hand, with d = 4 (so √d = 2). The numbers are in the cell. Compute the three terms first.

# %%
q_i, k_j = torch.tensor([1.0, 0, 1, 0]), torch.tensor([2.0, 1, 0, 0])
R = torch.tensor([0.0, 1, 2, 0])  # of this distance
r_w, r_r, r_s = torch.tensor([[0.0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
s_same, s_other = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 3]])
for name, s_ij in (("same segment ", s_same), ("other segment", s_other)):
    terms = torch.stack([(q_i + r_w) @ k_j, (q_i + r_r) @ R, (q_i + r_s) @ s_ij])
    print(name, *terms.int().tolist(), f"-> {terms.sum() / 2:.1f}")

# %% [markdown]
# ### The layer with two streams
#
# Now the attention of one XLNet layer. The first cell makes random weights, `W`; both streams use them. In the second
# cell `attend` computes one stream: `states` asks, `content` is what is attended to. The table R has a row for each
# distance from T down to −T + 1, so distance i − j is row T − (i − j), and we pick with `gather` as before. (The
# authors, `transformers` and the package shift the rows of the scores `by_distance` instead, which is faster and
# gives the same numbers.)
# `two_streams` is the whole idea, in two lines.

# %%
torch.manual_seed(0)
D, H, PROJECTIONS = 32, 2, ("query", "key", "value", "output", "distance")
W = {name: 0.2 * torch.randn(D, H, D // H) for name in PROJECTIONS}
for name in ("content_bias", "distance_bias", "segment_bias"):  # r_w, r_r, r_s
    W[name] = 0.2 * torch.randn(H, D // H)
W["segments"] = 0.2 * torch.randn(2, H, D // H)  # same segment, another one

# %%
from bertedu.family.xlnet.attention import relative_sinusoids


def attend(states, content, may_see, different):  # [B, T, D] twice, [T, T], [B, T, T]
    T = content.size(1)
    pairs = ((states, "query"), (content, "key"), (content, "value"))
    q, k, v = (torch.einsum("bte,ehd->bhtd", x, W[name]) for x, name in pairs)
    R = torch.einsum("pe,ehd->hpd", relative_sinusoids(T, D), W["distance"])  # [H, 2T, d]
    row = T - torch.arange(T)[:, None] + torch.arange(T)  # [T, T]: of the distance i - j
    by_content = (q + W["content_bias"][:, None]) @ k.mT  # [B, H, T, T]
    by_distance = (q + W["distance_bias"][:, None]) @ R.mT  # [B, H, T, 2T]
    same_and_other = W["segments"].permute(1, 2, 0)  # [H, d, 2]
    by_segment = (q + W["segment_bias"][:, None]) @ same_and_other  # [B, H, T, 2]
    scores = by_content + by_distance.gather(-1, row.expand(by_content.shape))
    scores = scores + by_segment.gather(-1, different.long()[:, None].expand(scores.shape))
    scores = (scores / q.size(-1) ** 0.5).masked_fill(~may_see, torch.finfo(q.dtype).min / 2)
    return torch.einsum("bhtd,ehd->bte", scores.softmax(dim=-1) @ v, W["output"])  # [B, T, D]


def two_streams(content, queries, content_mask, query_mask, different):
    represented = attend(content, content, content_mask, different)
    predicted = attend(queries, content, query_mask, different)
    return represented, predicted


# %% [markdown]
# The rest of the layer is BERT's, for each stream: residual connection, LayerNorm, feed-forward.
#
# ## What the order is worth
#
# Two more facts before we measure. First, **partial prediction**: the first words of an order are predicted from
# almost nothing, and such hard guesses make training slow. So XLNet predicts only the *last* part of each order, about
# one token in K (section 2.3). With the published K = 6 and 512 tokens these are 85. All other tokens come first in the
# order; they need no query stream and see each other. Second, in practice the predicted tokens are chosen in short
# spans of one to five tokens (section 3.1), so that they often depend on each other.
#
# Our measurement: a world of four cities. *We met in new york today*, and san francisco, los angeles, las vegas, all
# equally often. Both words of the city are to be predicted. Compute by hand what the best possible model can reach:
#
# | | first word | second word | loss of a pair (nats) | probability of the four real cities together |
# |---|---|---|---|---|
# | both masked, each on its own | ¼ | ¼ | 2 · ln 4 = 2.77 | 4 · ¼ · ¼ = 25 % |
# | one after the other | ¼ | 1 | ln 4 = 1.39 | 100 % |
#
# The next cell trains the same small XLNet in both ways: with two [MASK], as BERT is trained (`cities_masked`), and
# with the two words in random order, a new one for each text and step (`cities_in_random_order`). It prints how far
# each gets.

# %%
from bertedu.chapters.ch18_deberta_and_xlnet import toy_texts
from bertedu.family.xlnet import XLNetLMHeadModel
from bertedu.model.heads import MaskedLM

small = {**SIZES, "num_hidden_layers": 1, "vocab_size": len(toy_texts.CITY_WORDS)}
batch = toy_texts.city_texts().repeat(8, 1)  # [32, 8]
way = (MaskedLM, toy_texts.cities_masked, 2.77, 0.25)
other_way = (XLNetLMHeadModel, toy_texts.cities_in_random_order, 1.39, 1)
for kind, inputs_of, best, share in (way, other_way):
    torch.manual_seed(0)
    new = kind.from_config(XLNetConfig(**small, pad_token_id=0))
    model = fit(new, lambda m, g: toy_texts.city_losses(m, inputs_of(batch, g)).mean(), 0, 0.02)
    losses = toy_texts.city_losses(model, inputs_of(batch, torch.Generator().manual_seed(1)))
    loss, real = losses.mean().item(), 4 * losses.neg().exp().mean().item()
    print(f"{inputs_of.__name__:22} loss {about(best, loss, within=0.12):.2f}", end="")
    print(f", the four real cities {about(share, real, within=0.08):.0%}")

# %% [markdown]
# Both come close to the best possible values. Masked prediction gives the four real cities about a
# quarter of the probability. The rest goes to *new vegas* and the like, and more training can't change that. In random
# order nearly everything goes to real cities.
#
# How much is that worth in practice? The authors compared base models trained on the same texts (table 6):
#
# | | SQuAD 2.0 (F1) | MNLI (matched) | RACE |
# |---|---|---|---|
# | BERT | 76.3 | 84.3 | 64.3 |
# | Transformer-XL's architecture, masked words | 79.6 | 84.9 | 65.0 |
# | XLNet (K = 7) | 81.3 | 85.8 | 66.1 |
#
# (BERT's RACE score is from another paper, the rest are runs of XLNet's authors.) On SQuAD 2.0 the step from masked
# words to XLNet's objective (with its spans) is about a third of the gain, and on the other two it is more than half.
# So both changes count. How do more data and longer training compare? RoBERTa (Liu et al. 2019) matched or exceeded the
# first published XLNet with masked words alone. Then XLNet's authors trained with RoBERTa's settings and were ahead
# again: 90.6 against 89.4 F1 on SQuAD 2.0 (section 3.3, table 3). What stayed of XLNet is its lesson: state clearly
# what depends on what. (You can train one on your own text: `bertedu pretrain --architecture xlnet --objective
# permutation`.)
#
# ## The proof
#
# Are your two layers the real ones? We load the same random weights into three versions: yours, the package's, and the
# one of `transformers`. First disentangled attention (version 2 and 3, with log buckets). `DebertaV2Encoder.distances`
# gives table and rows.

# %%
import transformers
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

from bertedu.family.deberta.attention import Context
from bertedu.family.deberta.v2 import DebertaV2Attention, DebertaV2Encoder

torch.manual_seed(0)
config = DebertaV2Config(**{**SIZES, "hidden_size": 64}, position_buckets=8)
mine, package = DisentangledAttention(64, 2), DebertaV2Attention(config)
package.load_state_dict(mine.state_dict())  # the names are the same
theirs = DisentangledSelfAttention(transformers.DebertaV2Config(**config.on_disk()))
for name in ("query", "key", "value"):
    getattr(theirs, f"{name}_proj").load_state_dict(getattr(mine, name).state_dict())

x, real = torch.randn(2, 20, 64), torch.ones(2, 20, dtype=torch.bool)  # [B, T, D], [B, T]
table, index = DebertaV2Encoder(config).distances(20, x.device)  # [2s, D], [T, T]
result, everywhere = mine(x, table, index), torch.ones(2, 1, 20, 20)
others = {"package": package(x, Context(table, index, real))[0]}
others["transformers"] = mine.output(theirs(x, everywhere, rel_embeddings=table)[0])
for name, other in others.items():
    print(f"{name:12}  largest difference from yours {(other - result).abs().max():.6f}")

# %% [markdown]
# Now the two streams, with the order from above and three segments. The cell first compares your attention with the
# package's, one stream after the other. Then it closes the chain: it saves the package's whole XLNet from above, opens
# the folder in `transformers`, and compares the vectors of the query stream.

# %%
import tempfile

from bertedu.family.xlnet.attention import RelativeAttention
from bertedu.model.attention import hiding_bias

package = RelativeAttention(XLNetConfig(**SIZES))
package.load_state_dict(W)  # the names are the same
content, queries = torch.randn(1, 5, D), torch.randn(1, 5, D)  # [B, T, D]
masks = query_mask | torch.eye(5, dtype=torch.bool), query_mask  # [T, T] each
segment = torch.tensor([[0, 0, 1, 1, 2]])  # [B, T]; <cls> has a segment of its own
different = segment[:, :, None] != segment[:, None]  # [B, T, T]
result = two_streams(content, queries, *masks, different)
keys = package.keys(content, relative_sinusoids(5, D))
for name, x, mask, y in zip(("content", "query"), (content, queries), masks, result):
    other, _ = package(x, keys, different, hiding_bias(~mask, x.dtype))
    print(f"{name:7} stream: package {(other - y).abs().max():.6f} from yours")
transformers.utils.logging.disable_progress_bar()
with tempfile.TemporaryDirectory() as directory:
    xlnet.save_pretrained(directory)
    theirs = transformers.XLNetModel.from_pretrained(directory).eval()
predicted = theirs(ids, **inputs).last_hidden_state[0]  # [M, D]
off = (predicted - streams(ids)[1]).abs().max()
print(f"whole model: transformers {off:.4f} from the package")

# %% [markdown]
# All differences are zero, up to rounding.
#
# ## Broken BERT: left is right
#
# A colleague ports DeBERTa to a phone. He rewrites attention line by line from `transformers`, loads our trained
# arrow reader (the one with all three terms), and tests it with texts that he can check at a glance: `a> [MASK] a>`
# is *a*, `<c [MASK] <c` is *c*. His tests of this kind pass, shapes are right, weights sum to 1. In production
# it fails. The next cell has his function for the distance terms. The cell after it runs the reader with it, on his
# tests and on the language itself.


# %%
def colleagues_terms(q, k, q_position, k_position, index, terms=None):
    last = q_position.size(-2)  # 2s
    c2p = (q @ k_position.mT).gather(-1, index.expand(*q.shape[:-1], -1))
    opposite = (last - index).clamp(0, last - 1)  # the row of the distance j - i
    p2c = (q_position @ k.mT).gather(-2, opposite.expand(*q.shape[:-1], -1))
    return c2p + p2c


# %%
from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import palindromes


def try_terms(distance_terms, expected):  # expected: the share of right answers
    reader.attention.distance_terms = lambda *inputs: distance_terms(*inputs[:5])
    ids, letters = palindromes()
    passed = (reader(ids).argmax(dim=-1) == letters).sum()
    print(f"his tests: {about(12, passed, within=1.5):.0f} of {len(ids)} pass")
    ids, letters, others = key_decides(1000, torch.Generator().manual_seed(9))
    said = reader(ids).argmax(dim=-1)
    right, mirrored = ((said == wanted).double().mean() for wanted in (letters, others))
    right = about(expected, right, within=0.05)
    mirrored = about(1 - expected, mirrored, within=0.05)
    print(f"in use: {right:.0%} name the arrow that points at [MASK], {mirrored:.0%} the other")


try_terms(colleagues_terms, expected=0)

# %% [markdown]
# Look at the last line. The model is not guessing: it always names the wrong arrow, as if it read the text in a
# mirror. His tests didn't notice, because each of them has the same word on both sides. (A test with an untrained
# table of zeros, or with a single token, would pass too: distance 0 is its own opposite.)
#
# This bug is real. In June 2026 the C++ library `nntrainer` repaired it in its DeBERTa ([pull request
# 3982](https://github.com/nntrainer/nntrainer/pull/3982)): the index had been copied from `transformers`, but not the
# transposition that follows it, and that "corrupted every off-diagonal score". The same question came up at DeBERTa's
# own repository ([issue 47](https://github.com/microsoft/DeBERTa/issues/47),
# [issue 162](https://github.com/microsoft/DeBERTa/issues/162)), because the paper invites it: its equation 4 has
# δ(j, i) in the p2c term. The code that trained all published weights has δ(i, j).
#
# ### Exercise 18.4 · Which way is left?
# ●●●○ · 12 minutes
#
# First say in a sentence which distance his p2c asks for. Then write `repaired_terms` with the same arguments: `q` and
# `k` are `[B, H, T, d]`, `q_position` and `k_position` are `[H, 2s, d]`, and `index` is δ, `[T, T]`, a row for each
# query. Return the sum of c2p and p2c, `[B, H, T, T]`, not yet divided. Stuck? `hint("18.4")`


# %% tags=["exercise"]
def repaired_terms(q, k, q_position, k_position, index):
    ### BEGIN SOLUTION
    pairs = (*q.shape[:-1], k.size(-2))
    c2p = (q @ k_position.mT).gather(-1, index.expand(pairs))  # [query, key]
    p2c = (k @ q_position.mT).gather(-1, index.T.expand(pairs))  # [key, query]
    return c2p + p2c.mT
    ### END SOLUTION


check("18.4", repaired_terms)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# His p2c asks for the distance j − i: for the key's view of the query, where training used the query's view of the key.
# So a key on the left is scored as if it were on the right. Either gather along the distances of each key with the
# transposed δ and transpose the result back, or keep his layout, `[2s, key]`, and gather along −2 with δ itself. What is
# not enough is to compute the opposite rows from δ: `2s − index` is wrong where δ has been clamped.
#
# </details>

# %%
from bertedu.family.deberta.attention import position_scores

try_terms(position_scores, expected=1)  # the package's two terms

# %% [markdown]
# With the package's function both kinds of tests pass. How do you test such code? With inputs that are *not*
# symmetric, with trained weights, and against a reference, number by number. And know what each test can't see.
#
# ## Paper and code
#
# | | |
# |---|---|
# | p2c | DeBERTa's paper, equation 4: δ(j, i). Microsoft's code, `transformers` and this course: δ(i, j), as the weights were trained. With published weights only the second gives the right scores |
# | Span | Version 1 in `transformers` and here: s = min(T, longest distance), from the middle of the table. Version 2 and 3: 256 buckets for 512 positions |
# | Log buckets | `transformers` computes the logarithms with 32 bits. Where the exact result is an integer, as for distance 16 in our example, rounding decides between two buckets, so a port must round in the same way |
# | Projections | Version 1: one matrix for queries, keys and values, whose rows go head by head; the distances have their own. Versions 2 and 3: three matrices, shared with the distances, and a LayerNorm on the table |
# | Defaults | In `transformers`, `relative_attention` is False and `position_biased_input` is True by default: that is a model with BERT's positions. The published configs set both the other way. A config that only forgets `relative_attention` builds a model *without* any positions |
# | Masked words | `transformers` has neither EMD nor version 3's head for replaced tokens. Its `DebertaForMaskedLM` reads the last layer, for which no published DeBERTa was trained |
# | First DeBERTa layer | The published models of version 2 (xlarge and xxlarge) have a convolution beside the first layer |
# | XLNet's positions | R is [sines, cosines], one half each, not in turns as in Vaswani et al. (2017) |
# | XLNet's memory | Transformer-XL's memory of earlier text segments is left out here. With none, the numbers are equal |
# | XLNet's collator | In `transformers`' `DataCollatorForPermutationLanguageModeling`, special tokens can see predicted words, and everybody sees special tokens: from the second layer on the answer can get through |
# | `perm_mask` | 1 means *may not see*. In most attention masks 1 means *may see* |
#
# ## Summary
#
# - An absolute position is learned position by position. A model that was trained at short positions can fail
#   completely at long ones.
# - DeBERTa adds three scores: c2c (does it match?), c2p (which distance does the query's word want?), p2c (from which
#   distance does the key's word want to be found?), divided by √(3d). The row of a distance is clamped.
# - With gather, p2c comes out as [key, query] and has to be transposed. A wrong sign passes every symmetric test.
# - Log buckets tell near distances apart and join far ones. EMD adds absolute positions at the end. DeBERTaV3 trains
#   as ELECTRA does, and keeps the two losses from pulling at one table.
# - XLNet predicts in random orders with the product rule. Its content stream contains the word, its query stream only
#   knows the position; both use the same weights, and only the last part of an order is predicted.
# - One after the other, *new york* costs ln 4. Both at once, it costs 2 · ln 4.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(18)

# %% [markdown]
# ## Interview questions
#
# <!-- family-08 -->
# **1. What is disentangled attention in DeBERTa, and which of its terms does BERT already have?**
#
# <details><summary>Answer in half a minute</summary>
#
# Each pair of tokens gets three scores: content to content, content to position, position to content, where position
# is the relative distance, from a table that all layers share. They are added and divided by √(3d). BERT's first
# layer has all four terms implicitly, with absolute positions and one projection for the sum of both.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Start from BERT. The input is x = e + p, word plus position. The score of query i and key j is the product of two
# projected sums, so multiply out: word with word, word with position, position with word, position with position.
# Four terms, but all with the same two matrices, only in the first layer, and with absolute positions. What a word
# needs is mostly a distance: the adjective before me, not token 17.
#
# DeBERTa never adds positions to the content. There is one table of relative distances, shared by all layers, in
# version 1 with its own projections. The score is a sum of three terms. Content to content: q\_i · k\_j, as before.
# Content to position: q\_i · kr\_δ(i,j): which distance does this query look for? An article looks one to the right.
# Position to content: k\_j · qr\_δ(i,j): from which distance does this key want to be found? (The paper prints δ(j,i)
# here. The code and the published weights have δ(i,j).) Position to position is left out: with distances only, it
# would be a bias that is the same for all pairs with that distance.
#
# Each term has variance d, so the sum is divided by √(3d). The distance is clipped at k = 512 in version 1; versions
# 2 and 3 use logarithmic buckets, 256 for each direction. Cost: two more products of T · 2k size for each head, about
# 30 % more computation, and it needs gather, so ordinary fused kernels don't fit; one reason why it's slower than
# ModernBERT. The gain, against RoBERTa retrained in the same setting: 84.9 to 86.3 on MNLI, and leaving out either
# term costs 0.3 to 0.4.
#
# Absolute positions come back at the end, in the enhanced mask decoder: in "a new store beside the new mall" both
# nouns follow "new", and where they stand helps to say which is the subject.
#
# </details>
#
# <!-- family-09 -->
# **2. Why does XLNet need two streams, and what remains of them after pre-training?**
#
# <details><summary>Answer in half a minute</summary>
#
# In permutation language modelling the vector of position i must give word i to later predictions, and must predict
# word i without containing it. One vector can't do both. So the content stream contains the word, and the query
# stream knows only the position. They share all weights. For fine-tuning the query stream is dropped.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# XLNet wants both: bidirectional context, and no masks. Its idea: draw a random order of the positions, and predict
# each word from those that come earlier in that order. The text itself isn't shuffled; the order only decides who may
# attend to whom. Over many orders each word is predicted from context on both sides, and since each prediction may
# use the words predicted before it, "New" and "York" are no longer independent as in BERT.
#
# Now the problem. To predict word i, the model must know which position it is to predict: with the order 3, 1, 4, 2
# after two words the next may be 4 or 2, and the prediction must differ. So the vector at position i has to contain
# its position, and mustn't contain word i, or it copies. But for a later position j, the vector at i is context, and
# has to contain word i. Contradiction.
#
# Hence two vectors. The content stream h: starts from the word's embedding, may attend to itself and to earlier ones:
# a normal Transformer with a permuted mask. The query stream g: starts from one learned vector, the same for all
# positions, gets its position through relative distances, and attends to the content of strictly earlier ones, not to
# itself. Prediction reads g of the last layer. Both use the same weights; keys and values always come from h. Cost:
# two passes. Only the last sixth of each order, about 85 tokens, is predicted: the first words of an order have
# almost no context, and such hard guesses slow down training.
#
# After pre-training the query stream is dropped; with no mask on the content stream it is a bidirectional encoder
# with relative positions, and it never saw `[MASK]`. Was it worth it? XLNet beat BERT clearly in 2019, then RoBERTa
# matched or passed it with the plain task and more training. So I'd name it as the cleanest answer to independence,
# at twice the complexity.
#
# </details>
#
# <!-- encoder-11 -->
# **3. Your model works on texts of 128 tokens and fails on 400, though its table has 512 positions. Why, and what do
# you do?**
#
# <details><summary>Answer in half a minute</summary>
#
# How many training texts were longer than 128? Rows of the position table that no training text reached got no
# gradient: they are still at their initialization. And what is learned at one position isn't known at another.
# Remedies: train on with long or shifted texts, cut windows of 128, or take relative or rotary positions. Evaluate by
# length, since the average hides it.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The shape of a table says nothing about what was trained. In a step only the rows of positions that occur in the
# batch get a gradient. If all texts had at most 128 tokens, rows 128 to 511 have never been touched, except by weight
# decay, so they are random vectors with the initial standard deviation of 0.02. The model adds noise to every token
# beyond 128, and its attention heads, which have learned patterns such as the previous token from position rows, find
# nothing there. BERT's authors knew it: 90 % of the steps had 128 tokens, and the last 10 % had 512, for the sake of
# those rows.
#
# So first I plot a histogram of lengths in training, and the score by length bins in the validation data. One average
# hides it, because most texts are short. Second I look at the norms, or the cosines of neighbouring rows: trained
# rows form a smooth curve, untrained ones don't. Third I exclude simpler causes: truncation in the tokenizer, a label
# that stands at the end of the document, a mask that is cut.
#
# The repairs, from cheap to expensive. Cut windows of 128 and combine their scores: no training. Continue training
# with long texts, or put short texts at random offsets, so that all rows learn. Or initialize rows 128 to 511 from
# the trained ones and train briefly. Or change to a model with relative or rotary positions. They share what they
# learn across positions, so it helps at every offset; but a distance that never occurred in training is new to them
# as well. In the long run I'd add a test for it: the same sentence at position 0 and at position 300 must get nearly
# the same prediction.
#
# </details>
#
# ## Next
#
# DeBERTa and XLNet put distances into the *scores*, with extra terms that cost time. Newer models rotate queries and
# keys instead, so that the distance appears in the product by itself, at nearly no cost:
# [19 · ModernBERT](19_modernbert.ipynb).
