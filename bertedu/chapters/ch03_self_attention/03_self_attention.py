# %% [markdown]
# # 03 · Self-attention
#
# You will build the one part of BERT in which a token learns from the other tokens: first with a pencil, then in four
# lines of code, then as the class that BERT uses. At the end, one layer of it learns a rule of English grammar.
#
# ## What you will be able to do
#
# - compute one attention head by hand, and say what query, key and value are for
# - explain, with two measurements, why attention scores are divided by √d
# - write multi-head self-attention and show that it gives the same numbers as `transformers`
# - mask padding so that nothing becomes `nan`, even in float16 and in a text that consists of padding only
# - say what attention costs for T tokens, and when that cost begins to matter
#
# **Time:** two sittings of about 45 and 50 minutes, and 30 more for what is optional ·
# **You need:** [02 · Input embeddings](02_input_embeddings.ipynb) ·
# **Next:** [04 · The encoder](04_transformer_encoder.ipynb)
#
# You can leave what is marked (optional) for another day.
#
# ## Recall
#
# 1. Which three vectors does BERT add for each token?
#
# <details><summary>Answer</summary>
#
# The embedding of the token, the embedding of its position, and the embedding of its segment (first or second text).
# Each has D entries.
#
# </details>
#
# 2. The word *keys* occurs in two sentences, at position 2 in both. How do its two input vectors differ?
#
# <details><summary>Answer</summary>
#
# They don't differ, as long as the segment is the same too. An input vector depends on the token, its position and
# its segment. It doesn't depend on the other words of the sentence. Self-attention changes that.
#
# </details>
#
# 3. What is the shape of the output of the embeddings, for B sequences of T tokens?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]`: one vector for each token. Self-attention keeps this shape.
#
# </details>
#
# ## Where this part sits
#
# ![The map of BERT from left to right: tokenizer, embeddings, then in each of L layers self-attention and feed-forward, then the heads. Self-attention is lit. The heads at the end are not attention heads.](pictures/03_where.svg)
#
# Almost every part of BERT treats each token by itself. **Self-attention** is the exception: only here does the vector
# of one token receive information from other tokens. Each of the L layers contains it once.

# %% [markdown]
# ## The problem: is or are?
#
# > The keys near the old lamp [MASK] wet.
#
# ![The keys near the old lamp, a hidden token, wet. Keys is plural and asks for are, lamp is singular and asks for is; one of the two nouns decides.](pictures/03_question.svg)
#
# The answer is *are*: the subject is *keys*, although *lamp* is closer to the gap. Linguists call this
# **subject-verb agreement** and test language models with it (Linzen et al. 2016).
#
# The next cell generates a few thousand such sentences; you don't have to read its code. The answer is 0 for *is*, 1
# for *are*. A quarter of the noun pairs is held out for testing, and of those only the hard sentences, in which one
# noun is singular and the other one plural.

# %% tags=["hide-input"]
from itertools import combinations, product

import torch

NOUNS = "key lamp cup book coat boat door cloud horse river plate letter".split()
PREPOSITIONS = "near behind under beside".split()


def sentences(pairs, numbers):
    """Sentences about pairs of nouns, and what [MASK] stands for: 0 is, 1 are."""
    texts, answers = [], []
    for (one, two), (s1, s2), near, old in product(pairs, numbers, PREPOSITIONS, (False, True)):
        for first, second in ((one + s1, two + s2), (two + s2, one + s1)):
            early, late = ("old ", "") if old else ("", "old ")
            phrase = f"{early}{first} {near} the {late}{second}"
            texts.append(f"[CLS] the {phrase} [MASK] wet . [SEP]".split())
            answers.append(int(first.endswith("s")))
    return texts, torch.tensor(answers)


pairs = list(combinations(NOUNS, 2))
seen_pairs = [pair for i, pair in enumerate(pairs) if i % 4]
train_texts, train_answers = sentences(seen_pairs, list(product(("", "s"), repeat=2)))
test_texts, test_answers = sentences(pairs[::4], [("", "s"), ("s", "")])
print(f"{len(train_texts)} sentences to train on, {len(test_texts)} hard sentences to test on")
for text, answer in zip(test_texts[:2], test_answers):
    print(("is", "are")[answer].rjust(3), "|", " ".join(text))

# %% [markdown]
# ### First attempt: average the vectors
#
# The simplest way to tell [MASK] something about the sentence: replace its vector by the mean of all token vectors. A
# linear layer computes two scores from this mean, one for *is* and one for *are*, and the higher score wins.

# %%
from torch import nn

words = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "old", "wet", ".", *PREPOSITIONS]
words += [noun + ending for ending in ("", "s") for noun in NOUNS]
vocabulary = {word: i for i, word in enumerate(words)}


def ids(texts):
    return torch.tensor([[vocabulary[word] for word in text] for text in texts])  # [B, T]


class Average(nn.Module):
    """Every token gets the mean of all vectors."""

    def __init__(self, hidden_size=32):
        super().__init__()
        self.token = nn.Embedding(len(vocabulary), hidden_size)
        self.position = nn.Embedding(64, hidden_size)
        self.decide = nn.Linear(hidden_size, 2)

    def forward(self, input_ids):
        vectors = self.token(input_ids) + self.position.weight[: input_ids.size(1)]  # [B, T, D]
        return self.decide(vectors.mean(dim=1))  # [B, 2]


# %% [markdown]
# The next cell trains it: 150 steps on 64 sentences each. We compute in float64, numbers of 64 bits instead of 32, so
# that the numbers below are the same on your machine. Guess: what share of the hard sentences will the average get
# right?

# %% tags=["guess"]
train_ids, test_ids = ids(train_texts), ids(test_texts)  # [B, T]


def train(model, steps=150):
    model.double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        batch = torch.randint(len(train_ids), (64,), generator=generator)
        loss = nn.functional.cross_entropy(model(train_ids[batch]), train_answers[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def accuracy(logits):  # [B, 2] -> share of right answers on the test sentences
    return (logits.argmax(dim=-1) == test_answers).double().mean().item()


torch.manual_seed(0)
average = train(Average())
print(f"average of the vectors: {accuracy(average(test_ids)):.1%} of the hard sentences right")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The keys near the old lamp needs are, the old lamp near the keys needs is. The vectors of both have the same mean, so there is one answer for both.](pictures/03_average.svg)
#
# Half of them, like a coin, and it could not be better: two sentences of the same words have the same average, so they
# get the same answer, and exactly one of the two is wrong. (The position vectors don't help: their sum is the same in
# both.)
#
# </details>
#
# What is missing is a choice: [MASK] should use the vector of *keys* and ignore *lamp*. So we replace the plain
# average by a **weighted average**, and let each token determine its own weights.
#
# ## Query, key and value
#
# This is the idea of **attention**. From the vector of each token, three new vectors are computed:
#
# - the **query** says what this token is looking for
# - the **key** says what this token offers, so that others can find it
# - the **value** is what this token hands over to those who find it
#
# The query of one token is compared with the keys of all tokens. The better the match with a key, the more of that
# key's value it receives.
#
# ![Three tokens with their vectors x. Each is multiplied by three matrices and gets a row of Q, what it looks for, of K, what it offers, and of V, what it hands over. Columns: noun, early, plural, mask.](pictures/03_three_vectors.svg)
#
# Three tokens, *keys*, *lamp* and [MASK], each with a vector `x` of four entries that you can read: *noun*, *early in
# the sentence*, *plural* (−1 for singular), *is a mask*. Query, key and value are products of `x` with three matrices,
# the **projections**. BERT learns them; here we choose numbers that are easy to read. d is the length of a query and
# of a key, here 4 like D.

# %%
tokens = ["keys", "lamp", "[MASK]"]
x = torch.tensor([[1.0, 1, 1, 0], [1, -1, -1, 0], [0, 0, 0, 1]])  # [T, D]
W_query = torch.tensor([[0.0, 0, -1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [2, 2, 0, 0]])  # [D, d]
W_key = torch.eye(4)  # [D, d]: a key is a copy of the four entries
W_value = torch.tensor([[0.0], [0], [1], [0]])  # [D, 1]: a value is the entry "plural" alone

print("W_query", *W_query.int().tolist(), sep="\n   ")
print("x of [MASK]", x[2].int().tolist(), " times W_query =", (x[2] @ W_query).int().tolist())
query, key, value = x @ W_query, x @ W_key, x @ W_value  # [T, d], [T, d], [T, 1]
for i, token in enumerate(tokens):
    print(f"{token:>6}  query {query[i].int().tolist()}  key {key[i].int().tolist()}", end="")
    print(f"  value {value[i].int().tolist()}")

# %% [markdown]
# ![The vector of MASK, 0 0 0 1, times W_query gives the last row of W_query: 2 2 0 0, a noun, early in the sentence.](pictures/03_picked.svg)
#
# This query says "I am looking for a noun, early in the sentence". The query of *keys* is all zeros: it looks for
# nothing. (*lamp* looks for something singular, just to have an example. In BERT a value has d entries too; here one
# number is enough.)
#
# ### One token attends: by hand
#
# Take a pencil and compute what [MASK] receives.
#
# 1. **Scores**: how well does the query of [MASK] match each key? Multiply entry by entry and add. Then divide by √d:
#    here √4 = 2. (We come to the reason soon.)
# 2. **Softmax**: raise *e* to each score and divide by the sum of the three results. These are the **attention
#    weights**.
# 3. **Weighted average**: multiply each value by its weight and add.
#
# Then run the cell and compare.

# %%
e = 2.71828
scores = [(query[2] @ key[j]).item() / 4**0.5 for j in range(3)]
powers = [e**score for score in scores]
weights = [power / sum(powers) for power in powers]
output = sum(weight * value[j].item() for j, weight in enumerate(weights))
table = {"scores": scores, "powers": powers, "weights": weights, "output": [output]}
for name, numbers in table.items():
    print(f"{name:8}", "   ".join(f"{number:.2f}" for number in numbers))

# %% [markdown]
# ![The query of MASK and three keys give the scores 2, 0, 0; softmax makes the weights 0.79, 0.11, 0.11 of them; weights times values add up to 0.68, plural.](pictures/03_by_hand.svg)
#
# [MASK] attends to *keys* with weight 0.79. The output is positive, which means plural: *are*. No weight is 0, because
# *e* to any score is positive.
#
# ### Exercise 3.1 · The token that looks for nothing
# ●○○○ · 3 minutes
#
# The query of *keys* is all zeros. With which weight does *keys* attend to *lamp*? Give a number from 0 to 1, with
# two decimals.

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
weight_of_lamp = 0.33
### END SOLUTION
check("3.1", weight_of_lamp)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A query of zeros gives the score 0 with every key. Then e⁰ = 1 three times, and each of the three tokens gets the
# weight 1/3. So a token whose query is zero receives the plain average that failed above: the average is a special
# case of attention.
#
# </details>

# %% [markdown]
# ### Touch it
#
# The next cell shows the same computation with numbers that you can change. Guess first: which **one** number of the
# query must change, so that [MASK] listens to *lamp* instead of *keys*?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

numbers = {"query": query[2].tolist(), "key": key.tolist(), "value": value[:, 0].tolist()}
tasks = [
    "Change one number of the query, so that [MASK] listens to lamp.",
    "Hide keys. Where does its weight go?",
    "Make the query ten times as large. What is left of the average? "
    "Then switch the division off.",
]
explorable(
    "weighted_sum",
    tokens=tokens,
    asking=2,
    means=["singular", "plural"],
    tasks=tasks,
    **numbers,
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The second number, from 2 to −2: the query then says "a noun, late in the sentence", and that is the key of *lamp*. A
# hidden token has the score −∞, so its weight is 0, and the others share all of it. A query ten times as large gives
# scores ten times as large: *keys* gets everything, and the average has become a choice.
#
# </details>

# %% [markdown]
# ### All tokens at once: two matrix products
#
# The product `query @ key.T` contains the dot product of every query (row) with every key (column). Softmax is
# taken along each row, because each token has its own weights, and they sum to 1. A second product averages the
# values. Together they are **scaled dot-product attention** (Vaswani et al. 2017, section 3.2.1):
#
# $$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d}}\right)V$$
#
# The last row should be the one that you computed by hand.

# %%
scores = query @ key.T / key.size(-1) ** 0.5  # [T, d] @ [d, T] -> [T, T]
weights = scores.softmax(dim=-1)  # [T, T], each row sums to 1
output = weights @ value  # [T, T] @ [T, 1] -> [T, 1]

for token, row, mixture in zip(tokens, weights, output):
    attended = "  ".join(f"{t} {w:.2f}" for t, w in zip(tokens, row))
    print(f"{token:>6} attends to  {attended}   output {mixture.item():+.2f}")

# %% [markdown]
# ![Scores of three tokens as a matrix, softmax along each row gives the weights, and weights times V the outputs 0.00, −0.58 and 0.68. Each row belongs to the token that attends.](pictures/03_all_tokens.svg)

# %% [markdown]
# ## Why divide by √d?
#
# An attention score is a **dot product** of a query and a key, both of length d: a sum of d products. The more products,
# the larger the sums get. (If all entries are independent, with mean 0 and variance 1, each product has variance 1, and
# variances add up: the score has variance d, and standard deviation √d.)
#
# Why is that a problem? Softmax turns large scores into weights close to 0 and 1. The **entropy** of a row of weights
# measures how much uncertainty is left in it, in **bits**: with 16 keys, 4 bits if all weights are equal, 0 bits if one
# key gets everything.
#
# The next cell measures the standard deviation (std) of random scores and the entropy of their weights. Its `einsum`
# computes dot products: it multiplies, and adds over d, the letter that is missing after the arrow. Guess first: how
# many bits are left at d = 1024 if we don't divide?

# %% tags=["guess"]
torch.manual_seed(0)
for d in (4, 64, 1024):  # 2000 queries, 16 keys for each
    raw = torch.einsum("nd,ntd->nt", torch.randn(2000, d), torch.randn(2000, 16, d))  # [N, T]
    for name, scores in (("unscaled", raw), ("divided by √d", raw / d**0.5)):
        p = scores.softmax(dim=-1)
        bits = -(p * p.clamp_min(1e-12).log2()).sum(dim=-1).mean()  # entropy
        print(f"d = {d:4} {name:13}  std {scores.std():4.1f}  entropy {bits:.1f} bits")


# %% [markdown]
# The next cell draws a third quantity: how much the weights change when the scores change a little, the size of the
# **derivative** of softmax. In training a gradient is multiplied by it before it reaches the scores, so where it is
# near 0, hardly anything is learned.


# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, ORANGE, Picture, new_figure, quiet


def slope(scores):  # [N, T] -> mean norm of the derivative of the weights by the scores
    p = scores.softmax(dim=-1)
    derivative = p.diag_embed() - p[:, :, None] * p[:, None, :]  # [N, T, T]: p_i(i=j) − p_i p_j
    return derivative.norm(dim=(1, 2)).mean().item()


torch.manual_seed(0)
sizes, curves = (16, 64, 256, 1024), {"unscaled": [], "divided by √d": []}
for d in sizes:
    dots = torch.einsum("nd,ntd->nt", torch.randn(1000, d), torch.randn(1000, 16, d))  # [N, T]
    curves["unscaled"].append(slope(dots))
    curves["divided by √d"].append(slope(dots / d**0.5))
figure = new_figure(5, 2.6)
axes = figure.subplots()
for (label, numbers), color in zip(curves.items(), (ORANGE, BLUE)):
    axes.plot(sizes, numbers, color=color, marker="o", markersize=3)
    axes.annotate(label, (1024, numbers[-1]), (6, -3), textcoords="offset points", color=color)
axes.set_xscale("log", base=2)
axes.set_xticks(sizes, sizes)
axes.set(xlabel="head size d", ylabel="derivative of softmax", xlim=(14, 9e3), ylim=(0, 0.4))
quiet(axes)
Picture(
    figure,
    alt="Size of the derivative of softmax over the head size d from 16 to 1024. Unscaled: it "
    "falls with d and is near 0 at 1024. Divided by √d: it stays level.",
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The weights of one query for 16 keys at d = 1024: with the scores as they are, one key gets 1.00; divided by √d, the largest weight is 0.28.](pictures/03_too_sure.svg)
#
# Without the division a head with d = 1024 puts nearly all its weight on one key before it has learned anything, and
# the curves above show why such certainty is hard to correct: the derivative is close to zero, so the gradient that should
# correct a mistake hardly gets through. With the division the standard deviation is 1 and the entropy about 3.4 bits,
# for every d. (That is for entries of variance 1. BERT initializes its weights with a standard deviation of 0.02, so
# the scores of an untrained BERT-Base are smaller: at most about 768 · 0.02² = 0.31 after the division, again for
# every d. At d = 4, as in our example, it works with and without the division.)
#
# </details>
#
# From here on we divide every score by √d.
#
# ### Exercise 3.2 · Attention in four lines
# ●●○○ · 15 minutes
#
# Write `attention(query, key, value, softmax)` for tensors of shape `[B, H, T, d]`: B sentences, and H heads that compute side
# by side, each as you have just seen. (A **head** here is one computation of attention, with queries, keys and values
# of its own. The word also means something else: a small output layer for a task, as in "classification head".)
# Return the outputs `[B, H, T, d]` and the weights `[B, H, T, T]`.
#
# The softmax is an argument: call `softmax(scores, dim=-1)`, once. (In exercise 3.4 you write one that knows a mask.)
# Don't use torch's
# `scaled_dot_product_attention` or the package's `attend`: they are the whole answer. To swap the last two axes, write
# `x.transpose(-2, -1)`: `.T` is for tables with two axes.


# %% tags=["exercise"]
def attention(query, key, value, softmax=torch.softmax):
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = softmax(scores, dim=-1)
    return weights @ value, weights
    ### END SOLUTION


check("3.2", attention)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `key.T` would reverse all four axes. `transpose(-2, -1)` swaps only the last two, T and d. The matrix product then
# works on those two axes, separately for each sentence and each head. The keys that one query chooses from lie
# along the last axis of the scores, so softmax must run over that axis. Which softmax that is, the caller decides.
#
# </details>

# %% [markdown]
# ## One head as a class
#
# From here on we use the package's function `attend`. Type `attend??` in a cell to read it: you will find your own
# steps there, and two additions, a mask (soon) and dropout (see *Paper and code*).
#
# In BERT the projections are three linear layers, `nn.Linear`. All three read the same **hidden states**, the vectors
# `[B, T, D]` that run through the model: that is the *self* in **self-attention**. (A Transformer for translation also
# has **cross-attention**: the queries come from the translation, the keys and values from the original. BERT has none.)
#
# Does attention know the order of the words? The cell shuffles five random token vectors and applies the head, or it
# applies the head and shuffles the outputs in the same way. Are the results equal? Guess first.

# %% tags=["guess"]
from bertedu.model.attention import attend


class OneHead(nn.Module):
    """One head of self-attention, [B, T, D] to [B, T, d]."""

    def __init__(self, hidden_size, head_size):
        super().__init__()
        self.query = nn.Linear(hidden_size, head_size)
        self.key = nn.Linear(hidden_size, head_size)
        self.value = nn.Linear(hidden_size, head_size)

    def forward(self, hidden_states):
        query, key = self.query(hidden_states), self.key(hidden_states)  # [B, T, d] each
        value = self.value(hidden_states)
        return attend(query, key, value)  # [B, T, d], [B, T, T]


torch.manual_seed(0)
head, vectors = OneHead(hidden_size=8, head_size=4), torch.randn(1, 5, 8)  # [B, T, D]
order = [3, 0, 4, 1, 2]
difference = head(vectors[:, order])[0] - head(vectors)[0][:, order]
print(f"shuffled before or after: largest difference {difference.abs().max().item():.6f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The difference is zero (to six decimals), so attention doesn't know the order. It is **permutation equivariant**: if
# you shuffle the words, the same outputs come out, shuffled in the same way. BERT knows word order only through the
# position embeddings of [chapter 02](02_input_embeddings.ipynb).
#
# </details>
#
# ### Why are query and key two projections? (optional)
#
# Could one projection serve both? Then each token would look for exactly what it offers. The next cell tries it
# with our three tokens: it uses `W_key` for the queries too. What will [MASK] attend to?

# %%
shared = x @ W_key  # [T, d], query and key at once
for token, row in zip(tokens, (shared @ shared.T / 4**0.5).softmax(dim=-1)):
    attended = "  ".join(f"{t} {w:.2f}" for t, w in zip(tokens, row))
    print(f"{token:>6} attends to  {attended}")

# %% [markdown]
# Each token attends most to itself, and *keys* matches *lamp* exactly as well as *lamp* matches *keys*. But [MASK] may
# need the noun although the noun doesn't need [MASK]. Two projections allow this difference.
#
# **Here the first sitting ends.** You have one attention head as a class, and every number in it by hand. The
# second sitting runs several heads at once, hides the padding, and lets a layer learn something.
#
# ## Several heads
#
# One head computes one set of weights. What if a token needs two things? Suppose [MASK] must report for *both* nouns,
# the first and the second, whether it is singular (−1) or plural (+1). The next cell compares two solutions: one head
# that attends to both nouns equally, and two heads, one for the early noun and one for the late noun. It does so for
# *keys … lamp* and for *key … lamps*.


# %%
def outputs_of(queries, x):  # queries of [MASK], one for each head -> one number for each head
    weights = (torch.tensor(queries) @ (x @ W_key).T / 4**0.5).softmax(dim=-1)  # [H, T]
    return "  ".join(f"{number:+.2f}" for number in (weights @ x @ W_value).flatten())


any_noun, early, late = [8.0, 0, 0, 0], [8.0, 8, 0, 0], [8.0, -8, 0, 0]  # 8: nearly all weight
other = x * torch.tensor([1, 1, -1, 1])  # singular becomes plural, and the reverse
for name, s in (("keys … lamp ", x), ("key  … lamps", other)):
    print(name, " one head", outputs_of([any_noun], s), "  two", outputs_of([early, late], s))

# %% [markdown]
# ![What MASK receives of keys … lamp and of key … lamps. One head gives one mixture, 0 for both; two heads give a number for each noun, 1 and −1, −1 and 1.](pictures/03_two_heads.svg)
#
# One head returns one mixture of the two nouns; two heads keep them apart. That is why BERT uses **multi-head
# attention**: H heads side by side, each with its own projections, to d = D / H entries, and the outputs of all heads
# are concatenated. BERT-Base has 12 heads: 768 = 12 × 64.
#
# <details><summary>Are more heads always better?</summary>
#
# No. In the Transformer paper, one head scores 0.9 BLEU (a measure for translations) below the best setting, and 32
# heads score less than 8 or 16 (Vaswani et al. 2017, table 3, rows A). Many trained heads can be removed with little
# loss (Michel et al. 2019).
#
# </details>
#
# ### Many heads are one reshape
#
# ![Vectors of 3 tokens with 4 entries are cut in two by unflatten; after swapping T and H, head 0 has the first two entries of every token and head 1 the last two.](pictures/03_heads_split.svg)
#
# H heads need no loop. One large projection computes the queries of all heads at once, `[B, T, D]`. Then cut the last
# axis in two, and swap two axes. In the next cell the tens digit says which token a number belongs to. `wrong` is a
# shortcut that goes directly to the shape that we want. Guess what its head 0 will hold.

# %% tags=["guess"]
numbers = torch.tensor([[[10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]]])  # [B, T, D]
cut = numbers.unflatten(-1, (2, 2))  # [B, T, H, d]: each vector cut in two
heads = cut.transpose(1, 2)  # [B, H, T, d]: each head has its own table of tokens

wrong = numbers.view(1, 2, 3, 2)  # [B, H, T, d] as well: a well-known mistake
for h in range(2):
    print(f"head {h}: {heads[0, h].tolist()}   by the shortcut: {wrong[0, h].tolist()}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Both ways give tables of 3 rows and 2 columns. By view, head 0 holds 10 11, 12 13, 20 21: two halves of token 1 and one of token 2.](pictures/03_shortcut.svg)
#
# The shortcut has the right shape and the wrong content: its head 0 never sees token 3, and treats the two halves of
# token 1 as two tokens. Nothing raises an error, and such a model can even be trained. The reason: `view` cuts the
# numbers in the order in which they lie in memory.
#
# </details>
#
# To swap two axes you need `transpose`.
#
# ### Exercise 3.3 · Put the heads side by side
# ●●○○ · 8 minutes
#
# After attention, the H pieces of each token must become one vector again. Write `merge_heads(x)`, from
# `[B, H, T, d]` to `[B, T, D]`: the exact reverse of the split above.


# %% tags=["exercise"]
def merge_heads(x):
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(-2)
    ### END SOLUTION


check("3.3", merge_heads)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Undo the steps in reverse order: swap T and H back, `[B, T, H, d]`, then join the last two axes. After `transpose`
# the numbers often no longer lie in memory in their order, and then `view` raises an error. `flatten` and `reshape`
# copy where they must.
#
# </details>

# %% [markdown]
# ## Padding must not be attended to
#
# ![The weights of the first token of a text with two tokens of padding. Without a mask, padding gets 0.18 and 0.68; with the mask it gets nothing, and the real tokens get everything.](pictures/03_padding.svg)
#
# The texts of a batch are padded to the same length. An **attention mask** keeps [PAD] from receiving attention: a very
# negative number is added to its score *before* the softmax, and *e* to such a number is rounded to 0. We call the
# tensor that is added the **attention bias**; the package's `padding_bias` makes it from the mask. torch's
# `scaled_dot_product_attention`, a **fused kernel** (one routine that never stores the weights), also takes a boolean
# mask: where it is False, the score becomes −∞.
#
# How do we test a mask? A padded and masked text must give the same outputs as the text without padding.

# %%
from torch.nn.functional import scaled_dot_product_attention

from bertedu.model.attention import padding_bias

torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 5, 8) for _ in range(3))  # [B, H, T, d], two tokens of padding
attention_mask = torch.tensor([[1, 1, 1, 0, 0]])  # [B, T]
keep = attention_mask.bool()[:, None, None, :]  # [B, 1, 1, T]
never_padded = attend(q[:, :, :3], k[:, :, :3], v[:, :, :3])[0]  # [B, H, 3, d]
additive = attend(q, k, v, padding_bias(attention_mask, q.dtype))[0]  # [B, H, 5, d]
boolean = scaled_dot_product_attention(q, k, v, attn_mask=keep)  # [B, H, 5, d]
results = {"no mask": attend(q, k, v)[0], "additive": additive, "boolean": boolean}
for name, result in results.items():
    difference = (result[:, :, :3] - never_padded).abs().max().item()
    print(f"{name:8}  largest difference from the text without padding: {difference:.4f}")

# %% [markdown]
# ![The mask 1 1 1 0 0 of shape B, T becomes one row of shape B, 1, 1, T. Added to all rows of the scores, queries by keys, it makes the last two columns low.](pictures/03_mask_axes.svg)
#
# With either mask the difference is zero. Note the shape: `[:, None, None, :]` turns the mask `[B, T]` into
# `[B, 1, 1, T]`. It is the same for every head and every query, and it goes along the last axis, that of the keys.
#
# ### How negative is "very negative"? (optional, with exercise 3.4)
#
# Google's code adds −10000, a lot of code −∞, and `transformers`, where it writes the formula out, the smallest
# number of the dtype (the number format). As long as a row has at least one real token, all three usually work. The
# problem is a row in which *every* key is hidden: a text of padding only, for example an empty text that fills up the
# last batch.
#
# The next cell takes one such row, with the scores −20, −18 and −30. It prints the weights without a mask (0 is
# added), and then with each of four numbers added. It does so in float32 and in **float16**, a number format with
# half the bits, which makes training faster on a GPU; its smallest number is only −65504. The last line shows what
# the fused kernel returns if a boolean mask hides every key. Guess first: which of the numbers leave the weights as
# they are without a mask?

# %% tags=["guess"]
for dtype in (torch.float32, torch.float16):
    scores, smallest = torch.tensor([-20, -18, -30], dtype=dtype), torch.finfo(dtype).min
    for fill in (0.0, -1e4, -torch.inf, smallest, smallest / 2):
        row = (scores + torch.tensor(fill, dtype=dtype)).softmax(dim=-1)
        numbers = "  ".join(f"{weight:.2f}" for weight in row.tolist())
        print(f"{str(dtype)[6:]}  {fill:9.3g} added: {numbers}")
hidden = scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros_like(keep))
print("fused kernel, every key hidden: largest output", hidden.abs().max().item())

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Read the table line by line.
#
# - **−10000** shifts all three scores by the same amount, and softmax depends only on differences. In float32 the
#   weights are as if there were no mask at all. In float16 even the scores are rounded: near 10000 the numbers of
#   float16 are 8 apart.
# - **−∞** gives 0 / 0 in softmax, which is `nan` (not a number). If one such row reaches the loss, a single optimizer
#   step turns the weights of every layer into `nan`. (The fused kernel checks for this case and returns zeros.)
# - **The smallest number** (−3.4e+38 in float32) is so far from 0 that the scores are lost to rounding. Three equal
#   weights remain, and they are finite. But in float16, −65504 − 20 is below the range: it becomes −∞, and the
#   weights become `nan`.
# - **Half the smallest number** leaves room for the score and stays finite in both.
#
# </details>
#
# The package's `padding_bias` adds half the smallest number of the dtype.
#
# ### Exercise 3.4 · A softmax that knows a mask
# ●●●○ · 20 minutes
#
# The cleanest result for a row in which every key is hidden is no attention at all: zeros. Write
# `masked_softmax(scores, keep)`. `scores` has the shape `[B, H, T, T]`; `keep` is boolean, `[B, 1, 1, T]`, and True
# for keys that may be attended to. Three things must hold:
#
# - hidden keys get exactly 0, and a row with at least one visible key sums to 1, however large the scores are
# - a row in which every key is hidden is 0 everywhere
# - weights and gradients are always finite
#
# Don't use `torch.masked`, which has such a softmax.


# %% tags=["exercise"]
def masked_softmax(scores, keep):
    ### BEGIN SOLUTION
    smallest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~keep, smallest).softmax(dim=-1)
    return weights * keep
    ### END SOLUTION


check("3.4", masked_softmax)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `masked_fill` replaces the scores of hidden keys by a finite number. So softmax stays finite, in the forward and in
# the backward pass. In a row with at least one visible key the hidden weights are already 0, and `* keep` changes
# nothing. In a row without one, it turns the equal weights into zeros.
#
# A tempting alternative is `(scores + bias).softmax(-1).nan_to_num()` with −∞ in the bias. It gives the same
# weights, but its gradient is `nan`: `nan_to_num` hides the `nan` only in the forward pass. (If you write −∞ with
# `masked_fill` instead of adding it, `nan_to_num` happens to be safe: no gradient passes through a filled entry.)
#
# </details>

# %% [markdown]
# ## The whole class
#
# ![Hidden states go through the three linear layers query, key and value; each result is split into heads; attend works in each head, with the padding bias; the heads are merged, and the linear layer output follows.](pictures/03_whole_class.svg)
#
# Now we put the parts together. One step is new: at the end one more linear layer, the **output projection**, mixes the
# results of the heads.


# %%
class MySelfAttention(nn.Module):
    """Multi-head self-attention, [B, T, D] to [B, T, D]."""

    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)

    def split_heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, H, T, d]

    def forward(self, hidden_states, bias=None):
        query = self.split_heads(self.query(hidden_states))
        key = self.split_heads(self.key(hidden_states))
        value = self.split_heads(self.value(hidden_states))
        mixed, weights = attend(query, key, value, bias)  # [B, H, T, d], [B, H, T, T]
        return self.output(mixed.transpose(1, 2).flatten(-2)), weights


# %% [markdown]
# Is the reshape really the same as separate heads? The next cell checks it for two heads. It cuts each projection
# into two halves, builds a `OneHead` from each half, runs the two one after the other, concatenates their outputs,
# and applies the same output projection.

# %%
torch.manual_seed(0)
mine, vectors = MySelfAttention(hidden_size=8, num_heads=2), torch.randn(1, 5, 8)
outputs = []
for half in (slice(0, 4), slice(4, 8)):  # rows of the projections: each output entry is one row
    head = OneHead(hidden_size=8, head_size=4)
    for name in ("query", "key", "value"):
        whole = getattr(mine, name)
        part = {"weight": whole.weight[half], "bias": whole.bias[half]}
        getattr(head, name).load_state_dict(part)
    outputs.append(head(vectors)[0])  # [B, T, d]
concatenated = torch.cat(outputs, dim=-1)  # [B, T, D]
difference = (mine.output(concatenated) - mine(vectors)[0]).abs().max().item()
print(f"two heads concatenated, against the reshape: largest difference {difference:.6f}")

# %% [markdown]
# ## The proof
#
# Now we load the same weights into your class, the package's `SelfAttention` and the one in `transformers`, and
# compare their outputs on two texts, of which the second has three tokens of padding. The package's class runs
# twice: with the formula written out, and with the fused kernel. `transformers` keeps the output projection in
# another module, as `output.dense`, next to the LayerNorm of [chapter 04](04_transformer_encoder.ipynb).

# %%
from transformers import BertConfig as TheirConfig
from transformers.models.bert.modeling_bert import BertAttention

from bertedu import BertConfig
from bertedu.model.attention import SelfAttention

torch.manual_seed(0)
mine, sizes = MySelfAttention(64, 4), {"hidden_size": 64, "num_attention_heads": 4}
package = SelfAttention(BertConfig(**sizes)).eval()
package.load_state_dict(mine.state_dict())  # the names are the same
eager = TheirConfig(**sizes, attn_implementation="eager")  # the formula written out
theirs = BertAttention(eager).eval()
for name in ("query", "key", "value"):
    getattr(theirs.self, name).load_state_dict(getattr(mine, name).state_dict())
theirs.output.dense.load_state_dict(mine.output.state_dict())

vectors = torch.randn(2, 7, 64)  # [B, T, D]
bias = padding_bias(torch.tensor([[1] * 7, [1] * 4 + [0] * 3]), vectors.dtype)  # [B, 1, 1, T]
result, weights = mine(vectors, bias)  # [B, T, D], [B, H, T, T]
others = {"package, written out": package(vectors, bias, output_attentions=True)[0]}
others["package, fused"] = package(vectors, bias)[0]
others["transformers"] = theirs.output.dense(theirs.self(vectors, bias)[0])
for name, other in others.items():
    print(f"{name:20}  largest difference from yours {(other - result).abs().max().item():.6f}")
print("largest weight on padding:", weights[1, ..., 4:].max().item())

# %% [markdown]
# All differences are zero to six decimals, and padding gets a weight of exactly 0. Your class is BERT's
# self-attention.
#
# ## One layer learns the grammar
#
# We go back to the keys and the lamp, and change one thing: [MASK] no longer gets the mean of all vectors, but its
# own output of one layer of self-attention. A single head is enough.


# %%
class Agreement(nn.Module):
    """Embeddings, one layer of self-attention; the vector at [MASK] decides: is or are?"""

    def __init__(self, hidden_size=32, num_heads=1):
        super().__init__()
        self.token = nn.Embedding(len(vocabulary), hidden_size)
        self.position = nn.Embedding(64, hidden_size)
        sizes = {"hidden_size": hidden_size, "num_attention_heads": num_heads}
        self.attention = SelfAttention(BertConfig(**sizes, attention_probs_dropout_prob=0.0))
        self.decide = nn.Linear(hidden_size, 2)

    def forward(self, input_ids, bias=None):
        vectors = self.token(input_ids) + self.position.weight[: input_ids.size(1)]  # [B, T, D]
        mixed, self.weights = self.attention(vectors, bias, output_attentions=True)  # [B, T, D]
        return self.decide(mixed[input_ids == vocabulary["[MASK]"]])  # [B, 2]


torch.manual_seed(5)
model = train(Agreement())
print(f"average of the vectors: {accuracy(average(test_ids)):6.1%}")
print(f"self-attention:         {accuracy(model(test_ids)):6.1%} of the hard sentences right")

# %% [markdown]
# From 50 % to 100 %, on pairs of nouns that it never saw in one sentence (*key* and *lamp* are such a pair). But this
# is one run, and the result depends on the random initialization: with `torch.manual_seed(4)` fewer answers are
# right.
#
# What does [MASK] attend to? The next cell prints its largest attention weight in four sentences. The cell after it
# draws the whole head for the first sentence as a heat map: one row for each token that attends, one column for
# each token that is attended to. Read only the row of [MASK]: the training used only the output of [MASK], so nothing
# taught the other tokens what to attend to.

# %%
phrases = ["the keys near the old lamp", "the old lamp near the keys"]
phrases += ["the old cups under the rivers", "the door beside the old horses"]
for phrase in phrases:
    text = f"[CLS] {phrase} [MASK] wet . [SEP]".split()
    verb = ("IS", "ARE")[model(ids([text])).argmax().item()]
    weight, position = model.weights[0, 0, text.index("[MASK]")].max(dim=-1)
    print(f"{phrase} {verb}".ljust(35), f"[MASK] attends to {text[position]} ({weight:.0%})")

# %%
from bertedu.visualization import attention_heatmap

text = "[CLS] the keys near the old lamp [MASK] wet . [SEP]".split()
with torch.no_grad():
    model(ids([text]))
attention_heatmap(model.weights[0, 0], text, "Attention weights of the trained head")

# %% [markdown]
# The same weights as lines, in **bertviz** (Vig 2019), the view that most papers show. Move over a token on the left to
# see only what it attends to. (Before you run the cell, a still picture stands there.)

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.bertviz_views import head_view

head_view((model.weights,), text)

# %% [markdown]
# ![In the keys near the old lamp, MASK gives most of its weight to keys and the answer is are; in the old lamp near the keys, most to lamp and some to the full stop, and the answer is is.](pictures/03_learned.svg)
#
# Nobody told the head what a noun is, or that the first one is the subject. Gradient descent found queries and keys
# that do it.
#
# The next cell trains such a head before your eyes, 150 steps in the page. Guess first: with other numbers at the
# start, will it always learn to listen to the subject?

# %% tags=["hide-input", "nbval-ignore-output"]
subjects = ["the keys near the old lamp", "the old lamp near the keys"]
explorable("live_head", nouns=NOUNS, prepositions=PREPOSITIONS, seed=4, texts=subjects)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Mostly it listens to the subject, and gets all hard sentences right. But the loss asks for answers only, and there
# are other ways to them: some heads listen to the subject if it is plural, and look elsewhere if not, for "nothing
# plural here" is an answer too. And a few starts end with three quarters right: [MASK] listens to *old*, and the
# gradient finds no way on within 150 steps.
#
# </details>

# %% [markdown]
# <details><summary>And in the real BERT?</summary>
#
# Some heads follow grammar as well. Clark et al. (2019, section 4.2) found heads in which most direct objects attend to
# their verb, and heads in which determiners and other noun modifiers attend to their noun.
#
# </details>
#
# Be careful with such pictures. The weights show what a head *attended to*. What it received depends on the values,
# and the answer on everything that comes after (Jain and Wallace 2019; the reply, Wiegreffe and Pinter 2019).
#
# ## What attention costs (optional)
#
# Every token attends to every token: that makes T × T scores for each head. If T doubles, the number of scores
# becomes four times as large: the cost is **quadratic** in T. Is that what makes BERT slow? Let's count the
# multiplications of one layer. It has four projections (query, key, value, output) with T·D² each, two matrix
# products in attention with T²·D each, and a **feed-forward** part, a small network for each token
# ([chapter 04](04_transformer_encoder.ipynb)), with 8·T·D². Guess: at BERT's longest input, T = 512, what share of the
# multiplications grows with T²?
#
# The next cell computes this share, and the memory for the attention weights of one text in all 12 layers. It also
# measures the CPU time of attention, for the formula written out and for the fused kernel, which works in blocks and
# never stores all the weights.

# %% tags=["guess", "nbval-ignore-output"]
import time


def cpu_milliseconds(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return min(times)


D, H, L, times = 768, 12, 12, {}  # BERT-Base
for T in (128, 512, 2048):
    share = 2 * T**2 * D / (2 * T**2 * D + 12 * T * D**2)
    ones = [torch.ones(1, H, T, D // H)] * 3  # [B, H, T, d] each
    times[T] = cpu_milliseconds(lambda: attend(*ones))
    fused = cpu_milliseconds(lambda: scaled_dot_product_attention(*ones))
    megabytes = L * H * T**2 * 4 / 1e6  # 4 bytes for each weight
    print(f"T = {T:4}: {share:3.0%} of the multiplications, {megabytes:5,.0f} MB,", end="")
    print(f" {times[T]:5.1f} ms written out, {fused:5.1f} ms fused")
assert times[2048] > 8 * times[512], "four times T should take more than 8 times the time"

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The quadratic share of the multiplications: 0.03 at 128 tokens, 0.10 at 512, BERT's longest input, 0.31 at 2048, 0.50 at 4608.](pictures/03_cost.svg)
#
# At T = 512 it is a tenth. At the lengths that BERT was made for, most of the multiplications are in the linear
# layers.
#
# But the number of multiplications is not the time. Compare the last two lines: T is 4 times as large, so there are
# 16 times as many scores. On our machine the written-out formula took about 30 times as long, and at T = 2048 it took
# more than three times as long as the fused kernel, for the same multiplications. A likely reason is the time to move
# all the scores and weights through memory. So attention's share of the *time* can be larger than a tenth, and it
# depends on the machine. In training the weights are also stored for the backward pass. Fused kernels avoid both costs.
#
# </details>
#
# ## Broken BERT: the answer depends on the rest of the batch
#
# A colleague runs the grammar model from above as a service. As long as each sentence is a batch of its own, every
# answer is right. But in production a batch also contains long texts, so the short ones are padded, and customers
# complain about wrong answers. There is a mask, it contains large negative numbers, and no error is raised.
#
# The next cell defines `try_bias`, which pads the test sentences (11 tokens) to 24 and 48 tokens and runs the model
# with a given attention bias. The cell after it shows the colleague's function and tries it. For each length it
# prints the accuracy, the smallest number in the bias, and how much of its attention [MASK] gives to padding.


# %% tags=["hide-input"]
def padded(length):
    padding = torch.full((len(test_ids), length - test_ids.size(1)), vocabulary["[PAD]"])
    return torch.cat([test_ids, padding], dim=1)  # [B, length]


@torch.no_grad()
def try_bias(make_bias):
    for length in (11, 24, 48):
        bias = make_bias((padded(length) != vocabulary["[PAD]"]).long(), torch.float64)
        right = accuracy(model(padded(length), bias))
        on_padding = model.weights[:, :, 7, 11:].sum(dim=-1).mean()  # [MASK] is token 7
        print(f"{length} tokens: {right:6.1%} right, smallest number in the bias", end="")
        print(f" {bias.min().item():8.1e}, attention on padding {on_padding.item():.0%}")


# %%
def colleagues_bias(attention_mask, dtype):  # [B, T] of ones and zeros
    hidden = (attention_mask == 0)[:, None, :, None]
    smallest = torch.finfo(dtype).min
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, smallest / 2)


try_bias(colleagues_bias)

# %% [markdown]
# The bias contains hugely negative numbers (−9.0e+307, half the smallest float64), and yet [MASK] gives most of its
# attention to padding. With more padding, fewer answers are right.
#
# ### Exercise 3.5 · Repair the mask
# ●●●○ · 12 minutes
#
# First say in one sentence why these numbers have no effect. Then write `repaired_bias(attention_mask, dtype)`. It
# gets `[B, T]` of ones (text) and zeros (padding), and returns what has to be added to the scores `[B, H, T, T]`.
# Keep the colleague's number, half the smallest of the dtype: it is negative enough even for large scores, and its
# sum with a score stays finite.


# %% tags=["exercise"]
def repaired_bias(attention_mask, dtype):
    ### BEGIN SOLUTION
    hidden = (attention_mask == 0)[:, None, None, :]
    smallest = torch.finfo(dtype).min
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, smallest / 2)
    ### END SOLUTION


check("3.5", repaired_bias)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![Scores of 3 tokens and 2 of padding: the colleague's bias, B, 1, T, 1, hides the last two rows, the repaired one, B, 1, 1, T, the last two columns.](pictures/03_rows_or_columns.svg)
#
# The shape of the bias was `[B, 1, T, 1]`. So its number was added to whole *rows* of scores: the rows of those
# queries that are padding. The rows of real tokens got 0 added, so nothing was hidden from them. And in the rows of
# padding every key got the same number, so no key was hidden there either. The keys lie along the last axis, so the
# bias must be `[B, 1, 1, T]`.
#
# </details>

# %%
try_bias(padding_bias)  # the package's bias, with the axes in the right order

# %% [markdown]
# Now the accuracy is 100 % at every length, and padding gets no attention. Test a mask by its effect, not by its
# numbers: change the tokens that it hides, and check that the outputs of all other tokens stay the same.
#
# ## Paper and code
#
# | | what it does |
# |---|---|
# | *Attention is all you need* (Vaswani et al. 2017) | divides by √d (section 3.2.1), for the reason that you measured. Dropout (section 5.4): on the output of each sub-layer and on the sums of embeddings and positions. Dropout on the attention weights is not mentioned there |
# | Google's BERT code | hides keys with −10000. Query, key and value projections have biases. Dropout is applied to the attention *weights*, so that in training some tokens are not attended to at all; a comment in the code says that this comes from the Transformer |
# | `transformers` | used −10000 for years, then the smallest number of the dtype (pull request 17306, 2022). With the fused kernel, its default today, the mask is boolean. The output projection is in `BertSelfOutput` |
# | `torch.nn.functional.scaled_dot_product_attention` | boolean mask: True means *attend* |
# | `torch.nn.MultiheadAttention` | `key_padding_mask`: True means *ignore*, the opposite, in the same library |
# | this course | half the smallest number of the dtype; dropout on the weights, as in BERT; the fused kernel, unless you ask for the weights |
#
# BERT hides padding only. A model that writes from left to right also hides everything to the right of each token (a
# **causal mask**). That is the essential difference between BERT's attention and GPT's.
#
# ## Your own BERT
#
# `check` keeps each answer that it accepts, as text on this machine. Sixteen exercises of the chapters 01 to 08 are parts
# of BERT, three of them in this chapter: 3.2, 3.3 and 3.4. Together they become **your own BERT**.
#
# The next cell puts your parts into one program, `my_bert.py`, in this folder. A part that is missing is borrowed from
# the package. Then it loads the weights of `world-tiny` from chapter 00 and asks your BERT the same questions. A part
# is lit if you wrote it and your BERT used it.

# %%
from bertedu.mine import mine

mine()

# %% [markdown]
# Have you solved exercise 3.2? Then attention is lit, and every word in the table was found with your attention. Open
# `my_bert.py` and look for it: your parts are marked, and the course's lines stand between them. The differences in the
# last lines are rounding errors.
#
# ## Summary
#
# - A token's query is compared with all keys. Softmax turns the scores into attention weights, and the output is
#   the weighted average of the values.
# - Dividing by √d keeps the standard deviation of the scores the same for every head size, so that softmax doesn't
#   begin with weights near 0 and 1, where its gradient vanishes.
# - Multi-head attention is a reshape *and* a transpose: `[B, T, D]` → `[B, T, H, d]` → `[B, H, T, d]`.
# - The attention bias belongs on the axis of the keys, before the softmax, and must stay finite.
# - Attention alone doesn't know the order of the words. The part of the multiplications that grows with T² is a tenth
#   at 512 tokens in BERT-Base, and half at 4608.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(3)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- attention-01 -->
# **1. Why does scaled dot-product attention divide the scores by √d, and not by d?**
#
# <details><summary>Answer in half a minute</summary>
#
# A score is a sum of d products. If query and key have independent entries with mean 0 and variance 1, its variance
# is d and its standard deviation √d. Dividing by √d brings it back to 1 for every head size, so softmax starts
# neither one-hot nor uniform, and its gradient can flow. Dividing by d would shrink the scores to nearly 0.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# An attention score is the dot product of a query and a key, two vectors of length d. Take their entries as
# independent, with mean 0 and variance 1: each product then has mean 0 and variance 1, and the sum of d products has
# variance d. So the standard deviation of the scores grows like √d. With d = 64 it is 8. Softmax of numbers that
# differ by tens is nearly one-hot, and where softmax is one-hot its gradient is nearly 0: the model has decided
# before it has learned anything, and the mistake is hard to correct.
#
# Dividing by √d keeps the standard deviation at 1, whatever the head size is, so the same initialization and learning
# rate work for small and large heads. Dividing by d would be right only if all products had the same sign, so that
# the sum itself grew with d. Here it would leave scores with standard deviation 1/√d, and a softmax that starts
# nearly uniform, the more so the larger the head. The model could learn larger weights to make up for either, but it
# would begin with a bad initialization.
#
# The argument is about the initialization: after training, queries and keys are no longer independent.
#
# </details>
#
# <!-- attention-02 -->
# **2. BERT's key projection has a bias. What changes if you set it to zero?**
#
# <details><summary>Answer in half a minute</summary>
#
# Nothing at all. With a bias b, a query's score for any key grows by q·b. That is the same number for all keys of
# this query, so it shifts a whole row of scores by a constant, and softmax ignores constants. The biases of the query
# and of the value do matter.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Nothing changes: the outputs are the same up to rounding. Write the key with its bias as k + b. The score of a query
# q is then q·(k + b) = q·k + q·b. The second term does not depend on the key. It adds the same number to every score
# in the row of this query, and softmax of a row does not change if a constant is added to all of it. So the weights
# and the outputs are the same, and the gradient of b is exactly zero: it stays where it was initialized, apart from
# weight decay. For the same reason a mask that adds one number to a whole row hides no key.
#
# The query's bias is different: (q + c)·k = q·k + c·k, and c·k differs from key to key. It says how much attention a
# key receives from every query, whatever the query is. The value's bias also matters: the attention weights sum to 1,
# so it is added to the output of every head unchanged, and could be merged into the bias of the output projection.
#
# There is one exception to think of: with relative positions or a learned extra key that carries no bias, the row is
# no longer shifted as a whole, and the argument fails. Models such as Whisper leave the key's bias out.
#
# </details>
#
# <!-- attention-09 -->
# **3. Your BERT is slow on texts of 512 tokens. A colleague wants to replace attention by one that is linear in T.
# What do you say?**
#
# <details><summary>Answer in half a minute</summary>
#
# Measure first. At 512 the part that grows with T² is a tenth of BERT-Base's multiplications, so even free attention
# saves 10 % of the arithmetic. What hurts is writing the T × T weights to memory. A fused kernel such as
# FlashAttention avoids that and computes the same result. Then length batching, half precision, a smaller model.
# Linear attention pays at thousands of tokens, and changes the model.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# I'd ask for a profile before any new architecture. Count the multiplications of a layer: 12·T·D² in the linear maps,
# 2·T²·D in the scores and the weighted sum. The quadratic share is T / (6·D + T), for D = 768 and T = 512 exactly a
# tenth. So an attention that costs nothing would make the arithmetic a ninth faster, no more.
#
# But time isn't arithmetic. Explicit attention writes the weights, 12 heads times 512 times 512 for each text, to the
# GPU's memory and reads them back several times, for scaling, mask, softmax and dropout. Those steps are limited by
# memory bandwidth. A fused kernel computes the scores in tiles that stay in fast memory, with a running maximum and a
# running sum for the softmax, and never stores the matrix. The result is the same up to rounding, memory becomes
# linear in T, and no weight changes: in PyTorch it is one call, `scaled_dot_product_attention`. That is the first
# step.
#
# Then the things that help more: sort by length or unpad, since padding can be a third of the tokens; bf16; compile;
# fewer layers by distillation; and to ask whether texts need 512.
#
# Linear attention, as in Linformer or Performer, replaces the softmax by an approximation of lower rank. The weights
# of the checkpoint no longer fit it, so it means training again, and quality tends to drop where a token must single
# out exactly one other. Sliding windows are the middle way: exact within the window, linear cost, and ModernBERT
# combines them with a global layer every third. They pay at thousands of tokens. At 512 I'd say no, with the profile
# on the table.
#
# </details>
#
# ## Next
#
# One layer of attention can attend only once. To stack many layers we need three more parts: a connection that leads
# around each layer, a normalization, and some computation on each token alone:
# [04 · The encoder](04_transformer_encoder.ipynb).
