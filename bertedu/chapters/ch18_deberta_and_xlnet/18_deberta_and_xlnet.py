# %% [markdown]
# # 18 · DeBERTa and XLNet
#
# BERT numbers its positions and adds a vector for each number. You will see where that fails, and build the two models
# that replaced it by *distances*: DeBERTa's disentangled attention, and XLNet's two streams, which predict the words of
# a sentence in any order.
#
# ## What you will be able to do
#
# - show by an experiment what absolute positions can't do, and what they can
# - compute disentangled attention by hand: content to content, content to position, position to content
# - explain DeBERTa's log buckets
# - write down what each word may see in permutation language modeling, and why XLNet needs two streams for it
# - find a bug in relative attention that no shape and no loss will show you
#
# **Time:** two sittings of about 50 and 55 minutes, and 5 more for what is optional ·
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
# Positions leave the embeddings, attention gets distances instead, and XLNet also changes how the heads are asked.
#
# ![The map of BERT with embeddings, self-attention and heads lit. The tokenizer and the feed-forward part stay.](pictures/18_where.svg)
#
# All models of this chapter train in a second or two each, so everything stays on the processor, also where there is a
# GPU.
#
# ## The problem: the same sentence somewhere else
#
# *The keys near the old lamp are wet.* Does it matter whether this sentence stands at the beginning of a text or after
# forty other words? For the grammar it doesn't. For BERT every word gets another position vector.
#
# How much changes? We put padding *before* the sentence. Padding is hidden from attention, so only the position numbers
# grow. Then we ask how similar the vectors are to those at the beginning.


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


# %%
@torch.no_grad()
def vectors_later(shift):  # of the sentence, behind as many [PAD]: [T, D]
    ids = torch.cat([torch.zeros(1, shift, dtype=torch.long), sentence], dim=1)  # 0 is [PAD]
    real = (torch.arange(ids.size(1)) >= shift).long()[None]  # attention mask [1, shift + T]
    return small_bert(ids, real).last_hidden_state[0, shift:]


# %% [markdown]
# Guess: what is the mean cosine 1, 10 and 80 positions later? Is it 1?

# %% tags=["guess"]
cosines = {}
for shift in (1, 10, 80):
    cosine = torch.cosine_similarity(vectors_later(shift), vectors_later(0), dim=-1).mean()
    cosines[shift] = cosine.item()
    print(f"{shift:2} positions later: mean cosine with the vectors at the start {cosine:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The sentence at position 0 and at position 2, behind padding. The cosines 1, 10 and 80 positions later are below 1.](pictures/18_somewhere_else.svg)
#
# The vectors stay similar, but they are not the same. This BERT was trained on texts that fill all its 128 positions.
#
# </details>
#
# Nothing in the model says that a sentence means about the same everywhere. BERT has to learn that from data, position
# by position.
#
# ### A model that learns at short positions and is asked at long ones
#
# What if some positions are rare in training? We go back to the agreement of [chapter 03](03_self_attention.ipynb). Now
# a text consists of several sentences, and only the last one has a [MASK]. We train on texts of one or two sentences
# and test on texts of up to ten. The rule is always the same: the verb agrees with the first noun of its own sentence.
#
# ![Subject and verb have positions 2 and 6 in the first sentence, 10 and 14 in the second: four words apart.](pictures/18_far_subject.svg)
#
# `verb_texts` returns the ids of n random texts, the answers (0 *is*, 1 *are*), and whether each sentence's subject is
# plural. With `hard=True` the second noun of the last sentence always has the other number. The package's `fit` is the
# shortest possible training loop: 200 steps of Adam, with warm-up and linear decay.


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
# We test on 500 hard texts, and train two little BERTs with two seeds. The first number of a line is the accuracy. The
# second is the share of the answers that would be right if the question were about the *second* sentence of the text.


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

# %% [markdown]
# Guess both numbers for texts of two, three, six and ten sentences.

# %% tags=["guess"]
by_sentences = {}
for n in (2, 3, 6, 10):
    right, second = torch.tensor([tested(model, n) for model in berts]).mean(dim=0)
    by_sentences[n] = right.item(), second.item()
    right = about(f"verbs, {n} sentences, asked about", right, within=0.08)
    second = about(f"verbs, {n} sentences, the second", second, within=0.08)
    print(f"{n:2} sentences: {right:.2f} right, {second:.2f} right for the second sentence")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![From three sentences on one half is right for the sentence in question, and all is right for the second.](pictures/18_second_sentence.svg)
#
# From three sentences on, half of the answers are right, as by chance. But BERT is not confused at all. **It answers
# for the second sentence**, whichever sentence it was asked about. It behaves as if it had learned "if [MASK] is at
# position 6, the subject is at position 2; otherwise it is at position 10". Position 22, where the verb of a third
# sentence stands, was never trained.
#
# </details>
#
# That is what **absolute positions** cost: what is learned at one position is not known at another. (Is the test unfair,
# because those rows of the table were never trained? It is an extreme case of a rare position, and we'll add a control.)
#
# ## Four terms in one product
#
# BERT adds the vector of the word and the vector of the position, x = e + p. Then attention multiplies: the score of
# query i and key j has four terms. (We leave out segments, and the LayerNorm before the projections.)
#
# ![Four boxes for the four products. DeBERTa keeps three of them; position to position is left out.](pictures/18_four_terms.svg)
#
# BERT's first layer has all four, but can't set them apart. And p_j says *where a word stands*, while most of grammar
# asks *how far away* it stands.
#
# **DeBERTa** (He et al. 2021, section 3.1) adds no position to the vector of a word. Instead there is a table with a
# vector for each **distance**, and attention computes three terms:
#
# - **content to content** (c2c), qᵢ · kⱼ: does this word match that word? As in BERT
# - **content to position** (c2p), qᵢ · k′_δ: which distance does *this query's word* ask for?
# - **position to content** (p2c), kⱼ · q′_δ: from which distance does *this key's word* want to be found?
#
# k′ and q′ are projections of that table; δ is its row for tokens i and j. The fourth term is left out: the paper says
# that with relative positions it doesn't add much information.
#
# ### From a distance to a row of the table
#
# The distance of query i and key j is i − j: positive if the key stands to the left. The table has 2s rows; s is the
# **span**. Row s belongs to distance 0. Distances that would lead out of the table get the nearest row: they are
# **clamped**.
#
# $$\delta(i, j) = \min(\max(i - j + s,\ 0),\ 2s - 1)$$
#
# (The paper writes k for s, equation 3.) With s = 2 and three tokens:
#
# ![Distances −2 to 2 become rows 0 to 3; 2 is clamped to 3. Query 2 and key 0 have row 3.](pictures/18_rows_of_distances.svg)
#
# Look at query 2 and key 0: distance 2 has to share row 3 with distance 1. And −2 has row 0 to itself: the table reaches
# one step further to the right than to the left.
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
# Three tokens, *old keys rust*, with queries and keys of length d = 2, and s = 2. In a model these numbers come from
# learned projections; here we choose them, for the pencil. How well does the query of *keys* (i = 1) match the key of
# *old* (j = 0)?
#
# | | | numbers | product |
# |---|---|---|---|
# | distance and row | i − j = 1, so δ = 1 + 2 = 3 | | |
# | content to content | q₁ · k₀ | (1, 1) · (1, 2) | 3 |
# | content to position | q₁ · k′₃ | (1, 1) · (2, 0) | 2 |
# | position to content | k₀ · q′₃ | (1, 2) · (0, 1) | 2 |
#
# The sum is 7, divided by √(3d) = √6: 2.86. The next cell does this for all pairs, with two loops.


# %%
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

# %% [markdown]
# ![Tables c2c, c2p, p2c and their sum: for keys and old 3 + 2 + 2 = 7.](pictures/18_disentangled.svg)
#
# ### Without loops: gather, and a transposition
#
# A query meets only 2s different distances. So we compare it with all of them at once, `q @ k_position.T`, a table `[T,
# 2s]`, and each pair picks its entry by `gather`: `table.gather(-1, index)[i, j]` is `table[i, index[i, j]]`.
#
# For p2c it is the *key* that meets the distances: `k @ q_position.T` has a row for each key. The pairs of key j are
# *column* j of δ. So we gather with δ **transposed**, and what comes out is `[key, query]`. It has to be transposed
# **back** before it is added.
#
# ![c2p is gathered by δ. p2c is gathered by δ transposed, and its result must be transposed.](pictures/18_gathered.svg)


# %%
index = delta.long()  # [T, T], the table of rows
fast = (q @ k_position.T).gather(-1, index)  # [T, 2s] -> [query, key]
print(f"c2p: largest difference from the loop {(fast - c2p).abs().max():.1f}")
fast = (k @ q_position.T).gather(-1, index.T).T  # [T, 2s] -> [key, query] -> [query, key]
print(f"p2c: largest difference from the loop {(fast - p2c).abs().max():.1f}")

# %% [markdown]
# **Why √(3d)?** A score of d products has the variance d ([chapter 03](03_self_attention.ipynb)). Here we add three such
# scores. If they are independent, the variance is 3d.
#
# ## The class
#
# Now with projections, heads and a batch, as in DeBERTa's versions 2 and 3: the distances pass through the *same*
# projections as the words. (Version 1 has projections of their own for them.) All layers share `table`, the vectors of
# the distances, `[2s, D]`. With `terms` we can leave out one of the two distance terms.


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
# Two toy languages make the difference visible. The middle token may say where to look, or the arrows of the neighbors
# may say which of them counts (the one that points at [MASK]):
#
# ![The query decides: left? or right?. The key decides: the letter whose arrow points at [MASK].](pictures/18_toy_languages.svg)
#
# English has both: *very* belongs to the word after it, and *ago* to the words before it. We train one layer of
# attention on each language, without and with each term, two seeds each.


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


def tested_reader(language, readers):  # the mean share of right letters
    ids, letters, _ = language(1000, torch.Generator().manual_seed(9))
    right = [(r(ids).argmax(dim=-1) == letters).double().mean().item() for r in readers]
    return sum(right) / len(right)


# %%
TERMS = ((), ("c2p",), ("p2c",), ("c2p", "p2c"))
accuracies = {}
for language in (query_decides, key_decides):
    accuracies[language.__name__] = []
    for terms in TERMS:
        readers = [train_reader(language, terms, seed) for seed in (0, 1)]
        accuracies[language.__name__].append(tested_reader(language, readers))
reader = readers[-1]  # all three terms, for the lab

# %% [markdown]
# Which term does which language need? And what does the other term reach alone? Guess.

# %% tags=["guess"]
for name, shares in accuracies.items():
    for terms, share in zip(TERMS, shares):
        told = f"{name}, {' + '.join(('c2c', *terms))}"
        print(f"{told:32} {about(f'reader of {told}', share, within=0.13):.2f} right")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![c2c alone: one half. c2p solves the first language, p2c the second, all three terms both.](pictures/18_by_term.svg)
#
# Where the *query* decides, c2p solves the task, and where the *key* decides, p2c does.
#
# How does the other term alone reach about three quarters? That much is possible without the right one. For arrows:
# always attend to the left when they point right, which is always correct; when they point left, let a fixed ranking of
# the letters decide, which is correct for half of the pairs.
#
# </details>
#
# In our two languages the right term decides everything. In the paper's ablation (base models) the effect is far
# smaller: real language offers many clues.
#
# <details><summary>The paper's table 4</summary>
#
# | accuracy | MNLI (matched) | RACE |
# |---|---|---|
# | DeBERTa | 86.3 | 71.7 |
# | without c2p | 85.9 | 69.3 |
# | without p2c | 86.0 | 69.6 |
# | RoBERTa, trained by the authors in the same setting | 84.9 | 66.8 |
#
# </details>
#
# ## Far distances share a row: log buckets
#
# Version 1 has a row for each distance up to 512. But is 300 words away different from 301? Version 2 puts distances
# into **buckets**: near distances have one each, far ones share. Let b be the number of buckets for each direction, and
# m = b / 2. Distances up to m are their own bucket. Beyond, the *logarithm* of the distance is cut into equal parts, so
# that the farthest distance that counts, M − 1, ends in bucket b − 1:
#
# $$\text{bucket}(n) = m + \left\lceil \frac{\ln(n / m)}{\ln((M - 1) / m)} \cdot (m - 1) \right\rceil$$
#
# ⌈ ⌉ means: round up. Left and right get opposite signs. For a pencil take b = 8 and M = 33, so m = 4. Distance 10:
# ln(10/4) / ln(32/4) = 0.44, times 3 is 1.32, rounded up 2, so bucket 4 + 2 = 6.
#
# ![Above, distances 0 to 32 in six buckets: four of one distance, then two wide ones. Below, the published curve: straight up to 128, then ever flatter.](pictures/18_buckets.svg)
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
# Now we give `VerbModel` another encoder: DeBERTa in version 2, with 8 buckets, and XLNet, whose attention you will build
# below. Seeds, steps and texts stay the same. There is a control: a BERT that was trained with texts of one to *six*
# sentences. The cell trains five little models and takes a quarter of a minute on a slow computer.


# %%
from bertedu.family.deberta.v2 import DebertaV2Config, DebertaV2Model
from bertedu.family.xlnet import XLNetConfig, XLNetModel

encoders = {
    "DeBERTa": lambda: DebertaV2Model(DebertaV2Config(**sizes, position_buckets=8)),
    "XLNet": lambda: XLNetModel(XLNetConfig(**sizes, pad_token_id=0)),
}
models = {"BERT": berts}
for name, make in encoders.items():
    models[name] = [train_verbs(make, seed) for seed in range(2)]
models["control"] = [train_verbs(lambda: BertModel(BertConfig(**sizes), False), 0, longest=6)]

lengths = (1, 2, 3, 4, 6, 10)
runs = {
    name: [[tested(model, n)[0] for n in lengths] for model in models[name]] for name in models
}

# %% [markdown]
# Guess the accuracies with two, six and ten sentences: where does each of the four fail, if it does?

# %% tags=["guess"]
for name, of_seeds in runs.items():
    by_length = dict(zip(lengths, torch.tensor(of_seeds).mean(dim=0).tolist()))
    print(f"{name:7}", end="")
    for n in (2, 6, 10):
        share = about(f"verbs of {name}, {n} sentences", by_length[n], within=0.08)
        print(f"  {n} sentences {share:.2f}", end="")
    print()

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![BERT falls to one half from three sentences on, the control at ten. DeBERTa and XLNet stay near 1.](pictures/18_longer_texts.svg)
#
# Both models with distances stay near 1, up to five times the length of training, for both seeds. "Four words to the
# left" is a rule about distance, and they have no other way to say it.
#
# The control matters as much. It is right up to six sentences, as in its training (a single model): absolute positions
# *can* learn the rule, at each position for itself.
#
# </details>
#
# Don't conclude that relative positions make every model better. On texts as long as those in training, expect a much
# smaller gain.
#
# ## Some things do depend on the position: the enhanced mask decoder (optional)
#
# In *a new store opened beside the new mall*, with *store* and *mall* masked, both gaps follow *new*, and where a word
# stands in the sentence helps (He et al., section 3.2). So DeBERTa adds absolute positions, only in pre-training and only
# at the end of the model, in the **enhanced mask decoder** (EMD). It takes the vectors that the last layer reads, adds a
# position to each, and uses these sums as *queries* in the last layer, twice. Keys and values stay without positions.
#
# Can't a model with distances know where a word stands? The second cell gives an untrained DeBERTa one word five times,
# first alone and then between [CLS] and [SEP], and prints how much the five vectors differ. Guess which of the four
# numbers are zero.


# %%
from bertedu.family.deberta.pretraining import EnhancedMaskDecoder

torch.manual_seed(0)
config = DebertaV2Config(**sizes, position_buckets=8, initializer_range=0.3)
deberta, decoder = DebertaV2Model(config).eval(), EnhancedMaskDecoder(config)

# %% tags=["guess"]
for text in ("the the the the the", "[CLS] the the the the the [SEP]"):
    ids = torch.tensor([[VERB_WORDS.index(word) for word in text.split()]])
    the = ids[0] == VERB_WORDS.index("the")
    with torch.no_grad():
        states = deberta(ids, output_hidden_states=True).hidden_states  # L + 1 times [B, T, D]
        both = {"encoder": states[-1], "with EMD": decoder(deberta, states)}  # [B, T, D] each
    gaps = {name: (x[0, the] - x[0, the][0]).abs().max().item() for name, x in both.items()}
    print(f"{text:31}", *(f"{name} {gap:.2f} " for name, gap in gaps.items()))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One of the four is zero: without [CLS] and without EMD all five vectors are the same. The weights differ from token to
# token, but they average five equal values. With [CLS] and [SEP] the vectors differ without EMD too, because each word
# attends to [CLS] from another distance.
#
# </details>
#
# Real texts begin with [CLS], so a DeBERTa can find out where a word stands. EMD makes it easy. In the paper's table 4,
# leaving it out costs 0.2 points on MNLI, and 1.4 on RACE.
#
# ## Version 3: a tug-of-war over the embeddings (optional)
#
# <details><summary>Gradient-disentangled embedding sharing</summary>
#
# DeBERTaV3 (He et al. 2023) trains the architecture of version 2 as ELECTRA is trained, by finding replaced tokens.
# ELECTRA's two models share their token embeddings, and the two losses pull these in different directions: the
# generator wants words that fit into the same gap to be similar, the discriminator has to tell just these words apart.
# The authors' solution to this *tug-of-war* is **gradient-disentangled embedding sharing**:
#
# $$E_D = \text{stop\_gradient}(E_G) + E_\Delta, \qquad E_\Delta = 0 \text{ at the start}$$
#
# The discriminator still reads the generator's table, but its loss changes only the difference E_Δ. (In the package:
# `GradientDisentangledEmbedding`.) The paper's ablation (base models, MNLI): masked words 86.3, replaced tokens with
# shared embeddings 88.8, with separate ones 88.3, and with gradient-disentangled sharing 89.3. So most of the gain is
# ELECTRA's.
#
# </details>
#
# **Here the first sitting ends.** You have DeBERTa: attention by content and by distance, with buckets for what is
# far. The second sitting predicts the words in any order, as XLNet does.
#
# ## XLNet: predict in any order
#
# XLNet (Yang et al. 2019) came before DeBERTa, and starts from another problem. If two words of *New York* are masked,
# BERT predicts each of them without knowing the other. If *San Francisco* is as frequent, *New Francisco* becomes as
# probable as *New York* ([chapter 06](06_masked_language_model.ipynb)). A model that reads from left to right, like GPT,
# uses the product rule, p(new york) = p(new) · p(york | new), and never sees what stands to the right.
#
# XLNet keeps the product rule, which holds for **any order**. For the four words *the old keys rust* and the
# **factorization order** keys, the, rust, old:
#
# p(keys) · p(the | keys) · p(rust | the, keys) · p(old | the, keys, rust)
#
# Each training text gets an order at random. This is **permutation language modeling**. *The text is not shuffled*: the
# words stay where they are, and only the question "who may see whom" depends on the order.


# %%
from itertools import permutations

sentence, order = "the old keys rust".split(), [2, 0, 3, 1]  # keys, the, rust, old
for step, position in enumerate(order):
    seen = " ".join(sentence[p] for p in sorted(order[:step]))
    print(f"predict {sentence[position]:4} at position {position} from: {seen or 'nothing'}")

# %% [markdown]
# ![Step by step: keys from nothing, the from keys, rust from the and keys, old from all three.](pictures/18_order_of_prediction.svg)
#
# Four words have 24 orders. Guess: in what share of them is *the* predicted with *old* known? And *old* with *the*
# known?

# %% tags=["guess"]
orders = list(permutations(range(4)))  # position 0 is "the", position 1 is "old"
share = sum(one.index(1) < one.index(0) for one in orders) / len(orders)
print(f"'the' with 'old' known: {share:.0%}, 'old' with 'the' known: {1 - share:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Half of all orders have *old* before *the*, and the other half have *the* before *old*: both directions, but never both
# at once.
#
# </details>
#
# So a model can use both sides of a word without ever seeing its own answer.
#
# ### Who may see whom
#
# An order becomes an attention mask. There are two of them; the reason comes after the exercise:
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
# Could one vector for each word do both jobs? The vector of *old* must tell other words that an *old* stands here, so it
# must contain the word. The same vector must predict *old*: if it contains the word, there is nothing left to predict.
# Hiding the word from its own attention doesn't help, because of the residual connection. So XLNet computes two vectors
# for each position (section 2.3):
#
# - the **content stream** starts with the word embedding, and follows the content mask. It tells the others.
# - the **query stream** starts with one learned vector, the same for all positions, and follows the query mask. It
#   predicts. It knows its position from the distances in its attention scores.
#
# ![Both streams pass through the same attention. The query stream gives queries only, the content stream keys and values too.](pictures/18_two_vectors.svg)
#
# After pre-training the query stream is thrown away.
#
# Does that keep the answer out, even through several layers? Test it by its effect: change one word, and see which
# vectors change. In the package's XLNet `perm_mask` says with 1 what may *not* be seen (the opposite of your
# masks), and `target_mapping` which positions are predicted. `<cls>`, at the *end* of a text, comes
# first in the order and isn't predicted. (The first word has to see something: softmax over nothing but hidden keys
# gives all of them the same weight.)


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

# %% [markdown]
# ![A content vector notices its word and those before it in the order, a query vector only those before it.](pictures/18_streams_seen.svg)
#
# These are the two masks of exercise 18.3, after two layers. In the query stream the diagonal is empty: no information
# about a word reaches its own prediction, not even by a detour through another word.
#
# ## XLNet's attention scores
#
# XLNet's scores come from Transformer-XL (Dai et al. 2019, section 3.3):
#
# $$\text{score}(i, j) = \frac{(q_i + r_w) \cdot k_j + (q_i + r_r) \cdot R_{i-j} + (q_i + r_s) \cdot s_{ij}}{\sqrt{d}}$$
#
# - **content**: r_w is a learned vector that all queries share: which words are worth attending to for any query?
# - **distance**: R starts from fixed sines and cosines of i − j, and passes through a learned projection.
# - **segment**: one vector for "same segment" and one for "another segment", so it can read more than two segments.
#
# DeBERTa's c2c and c2p are there. p2c isn't: no term lets the *key's word* choose a distance (He et al. say so, section
# 3.1). By hand, with d = 4 (so √d = 2): the numbers are in the first cell. Compute the three terms and both scores with a
# pencil, then run the second one.

# %%
q_i, k_j = torch.tensor([1.0, 0, 1, 0]), torch.tensor([2.0, 1, 0, 0])
R = torch.tensor([0.0, 1, 2, 0])  # of this distance
r_w, r_r, r_s = torch.tensor([[0.0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
s_same, s_other = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 3]])

# %% tags=["guess"]
for name, s_ij in (("same segment ", s_same), ("other segment", s_other)):
    terms = torch.stack([(q_i + r_w) @ k_j, (q_i + r_r) @ R, (q_i + r_s) @ s_ij])
    print(name, *terms.int().tolist(), f"-> {terms.sum() / 2:.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Query plus bias, times key, distance and segment: three products are added and divided by 2.](pictures/18_score_by_hand.svg)
#
# Only the segment's term differs between the two lines.
#
# </details>
#
# ### The layer with two streams
#
# The first cell makes random weights, `W`; both streams use them. In the second cell `attend` computes one stream:
# `states` asks, `content` is what is attended to. The table R has a row for each distance from T down to −T + 1, so
# distance i − j is row T − (i − j). (The authors, `transformers` and the package shift the rows of `by_distance`
# instead, which is faster and gives the same numbers.) `two_streams` is the whole idea.


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
# The first words of an order are predicted from almost nothing, and such hard guesses make training slow. So XLNet
# predicts only the *last* part of each order, about one token in K (**partial prediction**, section 2.3): with K = 6
# and 512 tokens these are 85, in short spans of one to five tokens. All other tokens need no query stream and see each
# other.
#
# Our measurement: a world of four cities, all equally often. *We met in new york today*, and san francisco, los
# angeles, las vegas. Both words of the city are to be predicted. The next cell trains the same small XLNet in both ways,
# with two [MASK] and with the two words in random order.


# %%
from bertedu.chapters.ch18_deberta_and_xlnet import toy_texts
from bertedu.family.xlnet import XLNetLMHeadModel
from bertedu.model.heads import MaskedLM

small = {**SIZES, "num_hidden_layers": 1, "vocab_size": len(toy_texts.CITY_WORDS)}
batch = toy_texts.city_texts().repeat(8, 1)  # [32, 8]
ways = {MaskedLM: toy_texts.cities_masked}
ways[XLNetLMHeadModel] = toy_texts.cities_in_random_order
losses = {}
for kind, inputs_of in ways.items():
    torch.manual_seed(0)
    new = kind.from_config(XLNetConfig(**small, pad_token_id=0))
    model = fit(new, lambda m, g: toy_texts.city_losses(m, inputs_of(batch, g)).mean(), 0, 0.02)
    tested_on = inputs_of(batch, torch.Generator().manual_seed(1))
    losses[inputs_of.__name__] = toy_texts.city_losses(model, tested_on)  # [32], of both words

# %% [markdown]
# What can the best possible model reach in each way? Take a pencil: how large is its loss for the two words together, in
# nats (with ln)? And how much probability do the four real cities get together?

# %% tags=["guess"]
for name, one in losses.items():
    loss = about(f"loss of {name}", one.mean().item(), within=0.12)
    real = about(f"real cities of {name}", 4 * one.neg().exp().mean().item(), within=0.08)
    print(f"{name:22} loss {loss:.2f}, the four real cities {real:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![With two [MASK] all 16 pairs have 0.06. One after the other, the four real cities have 0.25 each.](pictures/18_cities.svg)
#
# With two [MASK] each word on its own gets ¼, so the loss of a pair is at least 2 · ln 4 = 2.77 nats, and the real
# cities get a quarter of the probability. The rest goes to *new vegas* and the like, and more training can't change
# that. One after the other, the second word is certain: ln 4 = 1.39. Both models come close to these values.
#
# </details>
#
# How much is that worth in practice? The authors compared base models trained on the same texts (table 6):
#
# | | SQuAD 2.0 (F1) | MNLI (matched) | RACE |
# |---|---|---|---|
# | BERT | 76.3 | 84.3 | 64.3 |
# | Transformer-XL's architecture, masked words | 79.6 | 84.9 | 65.0 |
# | XLNet (K = 7) | 81.3 | 85.8 | 66.1 |
#
# (BERT's RACE score is from another paper.)
#
# <details><summary>And more data and longer training?</summary>
#
# RoBERTa (Liu et al. 2019) matched or exceeded the first published XLNet with masked words alone. Then XLNet's authors
# trained with RoBERTa's settings and were ahead again: 90.6 against 89.4 F1 on SQuAD 2.0 (section 3.3, table 3). What
# stayed of XLNet is its lesson: state clearly what depends on what. On SQuAD 2.0 the step from masked words to XLNet's
# objective (with its spans) is about a third of the gain, and on the other two it is more than half. You can train one
# on your own text: `bertedu pretrain --architecture xlnet --objective permutation`.
#
# </details>
#
# ## The proof
#
# Are your two layers the real ones? We load the same random weights into three versions: yours, the package's, and the
# one of `transformers`. First disentangled attention, with log buckets.


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
# Now the two streams, with the order from above and three segments: your attention against the package's. Then the
# package's whole XLNet is saved, opened in `transformers`, and its query stream compared.


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
# A colleague ports DeBERTa to a phone. He rewrites attention line by line from `transformers`, loads our trained arrow
# reader, and tests it with texts that he can check at a glance: `a> [MASK] a>` is *a*, `<c [MASK] <c` is *c*. His tests
# pass, shapes are right, weights sum to 1. In production it fails. Here is his function for the distance terms:


# %%
def colleagues_terms(q, k, q_position, k_position, index, terms=None):
    last = q_position.size(-2)  # 2s
    c2p = (q @ k_position.mT).gather(-1, index.expand(*q.shape[:-1], -1))
    rows = (last - index).clamp(0, last - 1)
    p2c = (q_position @ k.mT).gather(-2, rows.expand(*q.shape[:-1], -1))
    return c2p + p2c


# %%
from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import palindromes


def try_terms(distance_terms, whose):
    reader.attention.distance_terms = lambda *inputs: distance_terms(*inputs[:5])
    ids, letters = palindromes()
    passed = (reader(ids).argmax(dim=-1) == letters).sum()
    print(f"his tests: {about(12, passed, within=1.5):.0f} of {len(ids)} pass")
    ids, letters, others = key_decides(1000, torch.Generator().manual_seed(9))
    said = reader(ids).argmax(dim=-1)
    right, mirrored = ((said == wanted).double().mean() for wanted in (letters, others))
    right = about(f"{whose} terms, right arrows", right, within=0.05)
    mirrored = about(f"{whose} terms, the other arrows", mirrored, within=0.05)
    print(f"in use: {right:.0%} name the arrow that points at [MASK], {mirrored:.0%} the other")


# %% [markdown]
# If the model only guessed between the two letters of a text, half of its answers would be right. Guess: how many are
# right in use?

# %% tags=["guess"]
try_terms(colleagues_terms, "the colleague's")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The model is not guessing: it always names the wrong arrow, as if it read the text in a mirror. His tests didn't notice,
# because each of them has the same word on both sides. (A test with an untrained table of zeros, or with a single
# token, would pass too.)
#
# </details>
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

try_terms(position_scores, "the package's")

# %% [markdown]
# With the package's two terms both kinds of tests pass. How do you test such code? With inputs that are *not*
# symmetric, with trained weights, and against a reference, number by number. And know what each test can't see.
#
# <details><summary>This bug is real</summary>
#
# In June 2026 the C++ library `nntrainer` repaired it in its DeBERTa ([pull request
# 3982](https://github.com/nntrainer/nntrainer/pull/3982)): the index had been copied from `transformers`, but not the
# transposition that follows it, and that "corrupted every off-diagonal score". The same question came up at DeBERTa's
# own repository ([issue 47](https://github.com/microsoft/DeBERTa/issues/47),
# [issue 162](https://github.com/microsoft/DeBERTa/issues/162)), because the paper invites it: its equation 4 has
# δ(j, i) in the p2c term. The code that trained all published weights has δ(i, j).
#
# </details>
#
# ## Paper and code
#
# | | |
# |---|---|
# | p2c | DeBERTa's paper, equation 4: δ(j, i). Microsoft's code, `transformers` and this course: δ(i, j), as the weights were trained. With published weights only the second gives the right scores |
# | Projections | Version 1: one matrix for queries, keys and values, whose rows go head by head; the distances have their own. Versions 2 and 3: three matrices, shared with the distances, and a LayerNorm on the table |
# | Defaults | In `transformers`, a config that forgets `relative_attention` and sets `position_biased_input` to False builds a model *without* any positions |
# | `perm_mask` | 1 means *may not see*. In most attention masks 1 means *may see* |
#
# <details><summary>Seven smaller differences</summary>
#
# | | |
# |---|---|
# | Span | Version 1 in `transformers` and here: s = min(T, longest distance), from the middle of the table. Version 2 and 3: 256 buckets for 512 positions |
# | Log buckets | `transformers` computes the logarithms with 32 bits. Where the exact result is an integer, as for distance 16 in our example, rounding decides between two buckets, so a port must round in the same way |
# | Defaults | In `transformers`, `relative_attention` is False and `position_biased_input` is True by default: that is a model with BERT's positions. The published configs set both the other way |
# | Masked words | `transformers` has neither EMD nor version 3's head for replaced tokens. Its `DebertaForMaskedLM` reads the last layer, for which no published DeBERTa was trained |
# | First DeBERTa layer | The published models of version 2 (xlarge and xxlarge) have a convolution beside the first layer |
# | XLNet's positions and memory | R is [sines, cosines], one half each, not in turns as in Vaswani et al. (2017). Transformer-XL's memory of earlier text segments is left out here. With none, the numbers are equal |
# | XLNet's collator | In `transformers`' `DataCollatorForPermutationLanguageModeling`, special tokens can see predicted words, and everybody sees special tokens: from the second layer on the answer can get through |
#
# </details>
#
# ## Summary
#
# - An absolute position is learned position by position, so long texts can fail completely.
# - DeBERTa adds c2c, c2p (which distance does the query's word want?) and p2c (from which distance does the key's word
#   want to be found?), divided by √(3d). p2c is gathered as [key, query] and has to be transposed.
# - Log buckets tell near distances apart and join far ones.
# - XLNet predicts in random orders with the product rule. Its content stream contains the word, its query stream only
#   knows the position.
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
