# %% [markdown]
# # 03 · Self-attention
#
# You will build the part that lets every token ask all the others for what it needs: first with a pencil, then in
# four lines, then as the very class that BERT uses. At the end one layer of it learns a piece of English grammar.

# %% [markdown]
# ## What you will be able to do
#
# - compute one attention head by hand, and say what query, key and value are each for
# - explain with two measurements why scores are divided by √d
# - write multi-head self-attention and show that it equals `transformers`
# - mask padding so that it stays masked in float16 and in a text that is nothing but padding
# - say what attention costs at T tokens, and when that begins to matter
#
# **Time:** 60 minutes · **You need:** [02 · Input embeddings](02_input_embeddings.ipynb) · **Next:** [04 · The encoder](04_transformer_encoder.ipynb)
#
# ## Recall
#
# 1. Which three vectors does BERT add for each token?
#
# <details><summary>Answer</summary>
#
# The token's own, the one of its position, and the one of its segment (first or second text). All have D entries.
#
# </details>
#
# 2. The word *keys* stands in two sentences, at position 2 in both. How do its two input vectors differ?
#
# <details><summary>Answer</summary>
#
# Not at all, as long as the segment is the same too. An input vector knows the word and the place, and nothing of
# the words around it. This chapter mends that.
#
# </details>
#
# 3. What is the shape of what leaves the embeddings, for B texts of T tokens?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]`: one vector for each token. Self-attention keeps this shape.
#
# </details>
#
# ## Where this part sits
#
# Everything in BERT but one part treats each token by itself. The exception is self-attention: the only place in
# the whole model where a vector can learn from its neighbours. It occurs once in each of the L layers (blue).

# %%
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

figure = new_figure(6.8, 0.8)
axes = figure.subplots()
axes.plot([0, 5], [0, 0], color=GREY)
for place, name in enumerate(["embeddings", "self-attention", "feed-forward", "self-attention", "feed-forward", "predictions"]):
    box = {"boxstyle": "round,pad=0.5", "color": BLUE if name == "self-attention" else GREY}
    axes.text(place, 0, name, ha="center", va="center", color="white", fontsize=8, bbox=box)
axes.text(1.5, 0.75, "layer 1", ha="center", fontsize=8)
axes.text(3.5, 0.75, "layers 2 to L", ha="center", fontsize=8)
axes.set(xlim=(-0.5, 5.4), ylim=(-0.6, 1.1))
axes.axis("off")
Picture(figure, alt="BERT from left to right: embeddings, then in each layer self-attention (blue) and feed-forward, then the predictions.")

# %% [markdown]
# ## The keys near the lamp
#
# > The keys near the old lamp [MASK] wet.
#
# *Is* or *are*? You looked at *keys* and not at *lamp*, although *lamp* stands closer. Which word decides depends
# on the order of the words, and so on the whole sentence. Linguists have used such sentences for years to ask what
# a model knows about grammar (Linzen et al. 2016). We make some thousands of them.
#
# In a quarter of the pairs of nouns, no sentence with *both* nouns is seen in training. The test is on the
# hard sentences among those: one noun is singular and the other plural.

# %%
from itertools import combinations, product

import torch
from torch import nn

from bertedu import BertConfig
from bertedu.course import check, hint, quiz
from bertedu.model.attention import SelfAttention, attend, padding_bias

# %%
NOUNS = "key lamp cup book coat boat door cloud horse river plate letter".split()
PLACES = "near behind under beside".split()

def sentences(pairs):
    """Sentences about pairs of nouns, and what [MASK] stands for: 0 is, 1 are."""
    texts, answers = [], []
    for (one, two), s1, s2, place, old in product(pairs, ("", "s"), ("", "s"), PLACES, (False, True)):
        for first, second in ((one + s1, two + s2), (two + s2, one + s1)):
            phrase = f"old {first} {place} the {second}" if old else f"{first} {place} the old {second}"
            texts.append(f"[CLS] the {phrase} [MASK] wet . [SEP]".split())
            answers.append(int(first.endswith("s")))
    return texts, torch.tensor(answers)

# %%
pairs = list(combinations(NOUNS, 2))
train_texts, train_answers = sentences([pair for i, pair in enumerate(pairs) if i % 4])
test_texts, test_answers = sentences(pairs[::4])

hard = [i for i, text in enumerate(test_texts) if sum(word.endswith("s") for word in text) == 1]
test_texts, test_answers = [test_texts[i] for i in hard], test_answers[hard]

words = [*PLACES, *NOUNS, *(noun + "s" for noun in NOUNS)]
vocabulary = {word: i for i, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "old", "wet", ".", *words])}

def ids(texts):
    return torch.tensor([[vocabulary[word] for word in text] for text in texts])  # [B, T]

train_ids, test_ids = ids(train_texts), ids(test_texts)
print(len(train_texts), "sentences to learn from,", len(test_texts), "to be tested on, all of", len(test_texts[0]), "tokens")
for i in (0, 1):
    print(("is", "are")[test_answers[i]].rjust(3), "|", " ".join(test_texts[i]))

# %% [markdown]
# ### A first try: average the words
#
# The simplest way to let [MASK] know its sentence: give it the mean of all vectors. Then a linear layer decides.
#
# Training is not the subject here: 150 small steps, each on 64 sentences. It runs in float64, so that the
# numbers below are the same on your machine. How many of the hard sentences will it get right? Guess before you run.

# %%
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

# %%
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

def accuracy(scores):  # [B, 2] -> share of right answers on the test sentences
    return (scores.argmax(dim=-1) == test_answers).double().mean().item()

torch.manual_seed(0)
average = train(Average())
print(f"average of the words: {accuracy(average(test_ids)):.1%} of the hard sentences right")

# %% [markdown]
# A coin does as well. And it is no accident: *the keys near the old lamp* and *the old lamp near the keys* are the
# same bag of words, so their averages are equal, and yet one wants *are* and the other *is*. Whatever the model
# answers, it is right on exactly one of the two. (The positions are in there, but each position is added to the
# mean whatever word stands on it.)
#
# What is missing is a **choice**: [MASK] should take what it needs from *keys* and leave *lamp* alone. So we give
# each token its own weighted average, and let the tokens themselves set the weights.
#
# ## One token asks: a head by hand
#
# Three tokens, *keys*, *lamp* and [MASK], in this order. Each one has three small vectors:
#
# - a **query**: what am I looking for?
# - a **key**: what do I offer, so that others may find me?
# - a **value**: what do I hand over to those who find me?
#
# Say that the four entries of queries and keys stand for *noun*, *stands early*, *plural*, *is a mask*. The value is one
# number: +1 plural, −1 singular. Nobody will write these numbers into BERT; it learns its own. But these are easy to read.

# %%
tokens = ["keys", "lamp", "[MASK]"]
# Entries: noun, early, plural, mask. [MASK] looks for an early noun, lamp for something singular, keys for nothing.
query = torch.tensor([[0.0, 0, 0, 0], [0, 0, -2, 0], [2, 2, 0, 0]])  # [T, d]
key = torch.tensor([[1.0, 1, 1, 0], [1, -1, -1, 0], [0, 0, 0, 1]])   # [T, d]
value = torch.tensor([[1.0], [-1], [0]])                             # [T, 1]
print("query", list(query.shape), " key", list(key.shape), " value", list(value.shape))

# %% [markdown]
# Take a pencil. **1.** How well does the query of [MASK] match each key? Multiply entry by entry and add.
# **2.** Divide by √d, here √4 = 2 (the reason comes soon). **3.** Raise *e* to each result, and divide by their
# sum. **4.** Mix the values by these weights. Then run the cell.

# %%
from math import exp

scores = [(query[2] @ key[j]).item() / 4**0.5 for j in range(3)]
powers = [exp(score) for score in scores]
weights = [power / sum(powers) for power in powers]
mixed = sum(weight * value[j].item() for j, weight in enumerate(weights))
for name, numbers in (("scores", scores), ("powers", powers), ("weights", weights), ("mixed", [mixed])):
    print(f"{name:8}", "   ".join(f"{number:.2f}" for number in numbers))

# %% [markdown]
# 79 % of the attention goes to *keys*, and the mixture comes out positive: plural, *are*. Steps 3 and 4 are a
# softmax and a weighted mean. Nothing is ever left out entirely: e⁰ = 1, so a token with the score 0 still counts.
#
# ### Exercise 3.1 · The token that looks for nothing
# ●○○○ · 2 minutes
#
# The query of *keys* is all zeros. In the row of *keys*, which share of the attention does *lamp* get?
# A number from 0 to 1; two digits will do.

# %% tags=["exercise"]
### BEGIN SOLUTION
share_of_lamp = 0.33
### END SOLUTION
check("3.1", share_of_lamp)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A zero query gives the score 0 with every key. Then e⁰ = 1 three times, and each of the three tokens gets 1/3.
# A head that looks for nothing in particular is the plain average that failed above, so an average is a special case
# of attention.
#
# </details>

# %% [markdown]
# ### From the loop to two products
#
# All rows at once: `query @ key.T` holds the dot product of every query (row) with every key (column). The softmax
# runs along each row, since each token shares out its own attention. A second product mixes the values.
#
# $$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d}}\right)V$$

# %%
scores = query @ key.T / key.size(-1) ** 0.5  # [T, d] @ [d, T] -> [T, T]
weights = scores.softmax(dim=-1)              # [T, T], each row sums to 1
mixed = weights @ value                       # [T, T] @ [T, 1] -> [T, 1]

for token, row, mixture in zip(tokens, weights, mixed):
    print(f"{token:>6} looks at", "  ".join(f"{t} {w:.2f}" for t, w in zip(tokens, row)), f"  mixed {mixture.item():+.2f}")
print("row of [MASK] as by hand:", torch.allclose(weights[2], torch.tensor([0.787, 0.107, 0.107]), atol=1e-3))

# %% [markdown]
# ## Why divide by √d?
#
# A score is a dot product of two vectors of length d. If their entries are independent with mean 0 and variance 1,
# it is a sum of d products with variance 1 each, so its variance is d. Bigger heads mean bigger scores.
#
# What does softmax do with bigger scores? Guess first: with 16 keys to look at and **d = 1024**, how many bits of
# uncertainty are left in a row of weights? (All 16 equal would be 4 bits, one sure key 0 bits.)

# %%
def entropy_bits(scores):  # [N, T] -> mean entropy of the rows of weights, in bits
    p = scores.softmax(dim=-1)
    return -(p * p.clamp_min(1e-12).log2()).sum(dim=-1).mean().item()

def slope(scores):  # [N, T] -> mean size of the derivative of the weights by the scores
    p = scores.softmax(dim=-1)
    derivative = p.diag_embed() - p[:, :, None] * p[:, None, :]  # [N, T, T]
    return derivative.norm(dim=(1, 2)).mean().item()

torch.manual_seed(0)
sizes, plain, divided = (1, 4, 16, 64, 256, 1024), [], []
for d in sizes:
    one_query, keys = torch.randn(1000, d), torch.randn(1000, 16, d)
    raw = torch.einsum("nd,ntd->nt", one_query, keys)  # [N, T]
    plain.append((entropy_bits(raw), slope(raw)))
    divided.append((entropy_bits(raw / d**0.5), slope(raw / d**0.5)))
for d, (bits, _), (bits_divided, _) in zip(sizes, plain, divided):
    print(f"d = {d:4}:  plain {bits:.1f} bits,  divided by √d {bits_divided:.1f} bits")

# %%
figure = new_figure(7, 2.8)
for which, (axes, title) in enumerate(zip(figure.subplots(1, 2), ("entropy of a row of weights, bits", "slope of the softmax"))):
    for numbers, colour, label in ((plain, ORANGE, "plain"), (divided, BLUE, "divided by √d")):
        axes.plot(sizes, [pair[which] for pair in numbers], color=colour, marker="o", markersize=3)
        axes.annotate(label, (1024, numbers[-1][which]), (6, -3), textcoords="offset points", color=colour)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, sizes)
    axes.set(xlabel="size of a head, d", xlim=(0.8, 40000), ylim=(0, 1.25 * divided[0][which]))
    axes.set_title(title, fontsize=10)
    quiet(axes)
Picture(figure, alt="Two curves over the head size d from 1 to 1024. Plain scores: the entropy falls from above 3 bits towards 0, and from d = 4 on the slope falls too, to less than a fifth. Divided by √d: both stay level.")

# %% [markdown]
# Without the division a wide head has made up its mind before it has learned anything. One key gets nearly all the weight,
# and where softmax is that sure its slope is close to zero, so the gradient that should correct the mistake hardly
# comes through. With the division, heads of every size start from the same, open state. That is all the √d is for.
#
# ### Exercise 3.2 · Attention in four lines
# ●●○○ · 10 minutes
#
# Write `attention(query, key, value)` for tensors of shape `[B, H, T, d]`: B sentences, H heads, each of which does on its
# own what you just saw. Return the mixed values and the weights. Stuck? `hint("3.2")`

# %% tags=["exercise"]
def attention(query, key, value):
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION

check("3.2", attention)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `key.T` would turn all four axes round; `transpose(-2, -1)` swaps the last two only, T and d. The matrix product then works
# on those two axes and leaves B and H alone. The keys that one query chooses from lie along the last axis of the scores,
# so that is the axis of the softmax.
#
# </details>

# %% [markdown]
# ## Where queries, keys and values come from
#
# In BERT, from the same vectors: each token's vector goes through three linear layers, and comes out as its query, its key and its
# value. That all three come from one text is the *self* in self-attention. (In translation the queries come from one
# text and the keys and values from another: cross-attention. BERT has none.)
#
# Does attention know the order of the words? Guess, then run: the cell shuffles the tokens and compares.

# %%
torch.manual_seed(0)
vectors, order = torch.randn(1, 1, 5, 8), [3, 0, 4, 1, 2]  # [B, H, T, d], and the tokens shuffled
to_query, to_key, to_value = (nn.Linear(8, 8) for _ in range(3))

def head(x):
    return attend(to_query(x), to_key(x), to_value(x))[0]

print("shuffle, then attend = attend, then shuffle:", torch.allclose(head(vectors[:, :, order]), head(vectors)[:, :, order], atol=1e-6))

# %% [markdown]
# It does not. Shuffle the words, and each takes its result along: attention sees a set. Whatever
# BERT knows of word order comes from the position vectors of [chapter 02](02_input_embeddings.ipynb).
#
# From here on we use the package's `attend`. Open it with `attend??`: four lines of it are yours, the others
# are a bias (soon) and dropout (see *Paper and code*).
#
# ## Many heads are one reshape
#
# One row of weights is one choice. A verb may want its subject *and* its adverb, so BERT makes several choices side by
# side: H heads, each on its own d = D / H entries of every query, key and value. BERT-Base: 768 = 12 × 64.
#
# No loop over heads is needed, only a new axis. Follow the numbers: 3 tokens, D = 4; the tens are the token. `wrong`
# is a shortcut that goes straight to the shape that we want. Guess what its head 0 will hold.

# %%
x = torch.tensor([[[10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]]])  # [B, T, D] = [1, 3, 4]
cut = x.unflatten(-1, (2, 2))  # [B, T, H, d]: each vector cut in two
heads = cut.transpose(1, 2)    # [B, H, T, d]: each head has its own table of tokens

wrong = x.view(1, 2, 3, 2)     # [B, H, T, d] as well: a famous shortcut
for head_number in range(2):
    print(f"head {head_number}: {heads[0, head_number].tolist()}   by the shortcut: {wrong[0, head_number].tolist()}")

# %% [markdown]
# Each head should see every token, and its half of each vector. The shortcut has the right shape and scrambled
# content: its head 0 never sees token 3, and gets *both* halves of token 1 as if they were two tokens. Nothing
# raises an error. Such a model even trains, only worse than it should. `view` cuts up the row of numbers as it lies in
# memory; only `transpose` exchanges two axes.
#
# ### Exercise 3.3 · Put the heads side by side
# ●●○○ · 5 minutes
#
# After attention, each token's H pieces must be one vector again. Write `merge_heads(x)`, from `[B, H, T, d]`
# to `[B, T, D]`, as the exact reverse of the split above.

# %% tags=["exercise"]
def merge_heads(x):
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(-2)
    ### END SOLUTION

check("3.3", merge_heads)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Undo the steps in reverse: first swap T and H back, `[B, T, H, d]`, then join the last two axes. After a
# `transpose` the numbers no longer lie in order in memory, so `view` refuses; `flatten` and `reshape` copy where they must.
#
# </details>

# %% [markdown]
# ## Padding must not be seen
#
# Texts in a batch are padded to one length. Padding has vectors too, and would get its share of attention. To
# hide a key, add a very negative number to its score *before* the softmax: e to that number is 0.
# Such an additive mask is called a **bias**. A boolean mask does the same: where it is False, the score becomes −∞.
#
# The test of a mask is simple: padded and masked must equal never padded.

# %%
from torch.nn.functional import scaled_dot_product_attention

torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 5, 8) for _ in range(3))  # [B, H, T, d], the last two tokens are padding
attention_mask = torch.tensor([[1, 1, 1, 0, 0]])       # [B, T]
never_padded = attend(q[:, :, :3], k[:, :, :3], v[:, :, :3])[0]           # [B, H, 3, d]
additive = attend(q, k, v, padding_bias(attention_mask, q.dtype))[0]      # [B, H, 5, d]
boolean = scaled_dot_product_attention(q, k, v, attn_mask=attention_mask.bool()[:, None, None, :])
for name, result in (("no mask", attend(q, k, v)[0]), ("additive", additive), ("boolean", boolean)):
    print(f"{name:8} equals never padded: {torch.allclose(result[:, :, :3], never_padded, atol=1e-6)}")

# %% [markdown]
# `[:, None, None, :]` turns the mask `[B, T]` into `[B, 1, 1, T]`: the same for every head and every query, and different
# along the last axis, that of the keys.
#
# ### How negative is very negative?
#
# Google's code adds −10000, many codes −∞, `transformers` today the smallest number of the type. For one hidden
# key among others all three are fine. Trouble waits in a row where *everything* is hidden: a text that is all padding,
# for example an empty one that fills up the last batch. What does each do to such a row? Guess before you run: the three scores are
# −20, −18 and −30.

# %%
scores = torch.tensor([-20.0, -18.0, -30.0])  # one query, three keys, all of them padding
print("not masked:", "  ".join(f"{w:.2f}" for w in scores.softmax(-1)))
for dtype in (torch.float32, torch.float16):
    smallest = torch.finfo(dtype).min
    fills = {"-10000": -1e4, "-inf": -torch.inf, "smallest": smallest, "half the smallest": smallest / 2}
    for name, fill in fills.items():
        row = (scores.to(dtype) + torch.tensor(fill, dtype=dtype)).softmax(dim=-1)
        print(f"{dtype}  {name:17}", "  ".join(f"{w:.2f}" for w in row.tolist()))

# %% [markdown]
# Read it line by line.
#
# - **−10000** moves all three scores by the same amount, and softmax sees only differences. In float32 the row
#   is as if there were no mask at all. In float16 the numbers near 10000 lie 8 apart, so the scores are rounded too. Finite, and meaningless.
# - **−∞** gives 0 / 0: `nan`. One such row is enough to turn the loss, then every weight of the model, to `nan`.
# - **The smallest number** swallows the scores in float32, and leaves three equal shares. In float16 it is only −65504,
#   and −65504 − 20 is already −∞: `nan` again.
# - **Half the smallest** leaves room for the score, and is finite in both. That is what the package's `padding_bias` adds.
#
# ### Exercise 3.4 · A softmax that knows a mask
# ●●●○ · 10 minutes
#
# The cleanest answer for a row in which everything is hidden: no attention at all, all zeros. Write
# `masked_softmax(scores, keep)`. `scores` are `[B, H, T, T]`; `keep` is boolean `[B, 1, 1, T]`, True where a key may be
# looked at. Hidden keys get exactly 0, each row sums to 1, a row with nothing to look at is 0 everywhere, and
# the gradient is finite in all cases.

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
# Filling with a finite number keeps the softmax finite, forwards and backwards. In a row with something to look at, the hidden
# weights are already 0 and `* keep` changes nothing. In a row with nothing, it turns the equal shares into zeros.
#
# The tempting `(scores + bias).softmax(-1).nan_to_num()` with −∞ in the bias gives the same numbers, but its gradient is `nan`:
# the `nan` is only painted over on the way forwards. (With `masked_fill` in place of the sum it happens to be safe, since
# no gradient passes through a place that was filled.)
#
# </details>

# %% [markdown]
# ## The whole class
#
# Three projections, split, attend, merge, and one more linear layer that lets the heads' results be mixed with each
# other. Everything in it has appeared above.

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
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, T, D] -> [B, H, T, d]

    def forward(self, hidden_states, bias=None):
        query = self.split_heads(self.query(hidden_states))
        key = self.split_heads(self.key(hidden_states))
        value = self.split_heads(self.value(hidden_states))
        mixed, weights = attend(query, key, value, bias)  # [B, H, T, d], [B, H, T, T]
        return self.output(mixed.transpose(1, 2).flatten(-2)), weights

# %% [markdown]
# ## The proof
#
# The same weights in three implementations: yours, the package's `SelfAttention`, and the one in `transformers`,
# on two texts of which the second has three tokens of padding. The package's runs twice, without and with
# torch's fused kernel. `transformers` keeps the last linear layer in another module, as `output.dense`, next to the
# LayerNorm of [chapter 04](04_transformer_encoder.ipynb).

# %%
from transformers import BertConfig as TheirConfig
from transformers.models.bert.modeling_bert import BertAttention

torch.manual_seed(0)
mine = MySelfAttention(hidden_size=64, num_heads=4)
package = SelfAttention(BertConfig(hidden_size=64, num_attention_heads=4)).eval()
package.load_state_dict(mine.state_dict())  # the names are the same
theirs = BertAttention(TheirConfig(hidden_size=64, num_attention_heads=4, attn_implementation="eager")).eval()
for name in ("query", "key", "value"):
    getattr(theirs.self, name).load_state_dict(getattr(mine, name).state_dict())
theirs.output.dense.load_state_dict(mine.output.state_dict())

x = torch.randn(2, 7, 64)                                                        # [B, T, D]
bias = padding_bias(torch.tensor([[1] * 7, [1] * 4 + [0] * 3]), x.dtype)         # [B, 1, 1, T]
result, weights = mine(x, bias)                                                  # [B, T, D], [B, H, T, T]
others = {"package, explicit": package(x, bias, output_attentions=True)[0], "package, fused": package(x, bias)[0]}
others["transformers"] = theirs.output.dense(theirs.self(x, bias)[0])
for name, other in others.items():
    print(f"{name:17} differs by less than 1e-6: {(other - result).abs().max().item() < 1e-6}")
print("attention on the padding:", weights[1, ..., 4:].max().item())

# %% [markdown]
# ## Now it learns the grammar
#
# The model from the beginning, with one change: instead of the mean of all vectors, [MASK] gets what one layer
# of self-attention mixes for it; a single head will do. The same 150 steps, the same data.

# %%
class Agreement(nn.Module):
    """Token + position, one layer of self-attention; the vector at [MASK] decides: is or are?"""

    def __init__(self, hidden_size=32, num_heads=1):
        super().__init__()
        self.token = nn.Embedding(len(vocabulary), hidden_size)
        self.position = nn.Embedding(64, hidden_size)
        config = BertConfig(hidden_size=hidden_size, num_attention_heads=num_heads, attention_probs_dropout_prob=0.0)
        self.attention = SelfAttention(config)
        self.decide = nn.Linear(hidden_size, 2)

    def forward(self, input_ids, bias=None):
        vectors = self.token(input_ids) + self.position.weight[: input_ids.size(1)]  # [B, T, D]
        mixed, self.weights = self.attention(vectors, bias, output_attentions=True)  # [B, T, D], [B, H, T, T]
        return self.decide(mixed[input_ids == vocabulary["[MASK]"]])                 # [B, 2]

torch.manual_seed(5)
model = train(Agreement())
print(f"average of the words: {accuracy(average(test_ids)):.1%}")
print(f"self-attention:       {accuracy(model(test_ids)):.1%} of the hard sentences right")

# %% [markdown]
# From a coin to perfect, on pairs of nouns that it never saw together (*key* and *lamp* are such a pair). Where does it look? First the head as a heat
# map: a row for each token that asks, a column for each that is looked at. Then the same weights as lines.
#
# Only the row of [MASK] was ever trained to be useful, since only there an answer was asked for. What the
# other tokens look at is of no consequence here.

# %%
from bertedu.visualization import attention_heatmap, attention_lines

text = "[CLS] the keys near the old lamp [MASK] wet . [SEP]".split()
with torch.no_grad():
    answer = model(ids([text])).argmax().item()
looks = model.weights[0, 0]  # [T, T]: the first sentence, the only head
print("answer:", ("is", "are")[answer])
attention_heatmap(looks, text, "Where each token looks")

# %%
attention_lines(looks, text, "[MASK] finds the subject")

# %%
for sentence in ("the keys near the old lamp", "the old lamp near the keys", "the old cups under the rivers", "the door beside the old horses"):
    text = f"[CLS] {sentence} [MASK] wet . [SEP]".split()
    with torch.no_grad():
        answer = ("is", "are")[model(ids([text])).argmax().item()]
    share, place = model.weights[0, 0, text.index("[MASK]")].max(dim=-1)
    print(f"{sentence} {answer.upper()} wet.".ljust(45), f"[MASK] looks at {text[place]} ({share.item():.0%})")

# %% [markdown]
# Nobody told the head what a noun is, that the first one counts, or that adjectives do not matter. The
# gradient found queries and keys for it. In the real BERT, too, some heads have been found that follow grammar: from a verb
# to its object, from a noun to its determiner (Clark et al. 2019).
#
# A word of caution: weights show where a head *looked*. What it took from there depends on the values, and the
# answer on all that comes after (Jain and Wallace 2019, *Attention is not Explanation*; and the reply, Wiegreffe and
# Pinter 2019, *Attention is not not Explanation*).
#
# ## What it costs
#
# Every token looks at every token: T × T scores for each head. Twice the text, four times the scores. Here is the
# CPU time of one forward pass, explicit and with torch's fused `scaled_dot_product_attention`, which works in blocks and
# never holds all the weights at once. Your times will differ from those stored here. The slope will not, but for a step where the
# explicit weights outgrow the processor's cache.

# %% tags=["nbval-ignore-output"]
import time

def cpu_seconds(work, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)

lengths = (128, 256, 512, 1024, 2048)
explicit, fused = [], []
for length in lengths:
    q = k = v = torch.ones(1, 4, length, 64)  # [B, H, T, d]
    explicit.append(cpu_seconds(lambda: attend(q, k, v)))
    fused.append(cpu_seconds(lambda: scaled_dot_product_attention(q, k, v)))
    print(f"T = {length:4}   explicit {1000 * explicit[-1]:6.1f} ms   fused {1000 * fused[-1]:6.1f} ms")
assert explicit[-1] > 6 * explicit[-3]  # four times the tokens: about 16 times the work

# %% tags=["nbval-ignore-output"]
figure = new_figure(5, 3)
axes = figure.subplots()
for times, colour, label in ((explicit, ORANGE, "explicit"), (fused, BLUE, "fused")):
    axes.plot(lengths, [1000 * t for t in times], color=colour, marker="o", markersize=3)
    axes.annotate(label, (2048, 1000 * times[-1]), (6, -3), textcoords="offset points", color=colour)
guide = [3 * 1000 * fused[0] * (length / 128) ** 2 for length in lengths]
axes.plot(lengths[:4], guide[:4], color=GREY, linestyle=":")
axes.annotate("four times for twice T", (1024, guide[3]), (-6, 4), textcoords="offset points", ha="right", color=GREY)
axes.set(xscale="log", yscale="log", xlabel="tokens, T", ylabel="milliseconds of CPU", xlim=(110, 4200))
axes.set_xticks(lengths, lengths)
axes.minorticks_off()
quiet(axes)
Picture(figure, alt="CPU time over the number of tokens, both axes logarithmic: explicit and fused attention both rise about fourfold for each doubling of T, the fused one below.")

# %% [markdown]
# Memory grows in the same way, and can be computed. And is the square really what makes BERT slow? A layer has 4 projections
# of T·D² multiplications each, attention's two products of T²·D each, and a feed-forward part (chapter 04) of 8·T·D².
# Guess: at BERT's longest input, T = 512, which share of the work is the part that grows with T²?

# %%
D, H, L = 768, 12, 12  # BERT-Base
for T in (128, 512, 2048, 8192):
    square, rest = 2 * T**2 * D, 12 * T * D**2
    megabytes = L * H * T**2 * 4 / 1e6
    print(f"T = {T:4}: {square / (square + rest):4.0%} of the multiplications grow with T²; all weights of one text: {megabytes:8,.0f} MB")

# %% [markdown]
# A tenth. For the texts that BERT was made for, the square is not the problem: T²·D overtakes the rest only at T = 6·D,
# here 4608 tokens. Memory is felt earlier, above all in training, where the weights are kept for the backward pass. That is
# what the fused kernels save.
#
# ## Broken BERT: the answer depends on the neighbours
#
# A colleague serves the grammar model from above. Each sentence alone: perfect. In production a batch also has long texts, so the
# short ones are padded, and customers complain. The mask is there, its numbers are there, no error is raised.

# %%
def colleagues_bias(attention_mask, dtype):  # [B, T] of ones and zeros
    hidden = (attention_mask == 0)[:, None, :, None]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min / 2)

# %%
def padded(length):
    more = torch.full((len(test_ids), length - test_ids.size(1)), vocabulary["[PAD]"])
    return torch.cat([test_ids, more], dim=1)  # [B, length]

@torch.no_grad()
def try_mask(make_bias):
    for length in (11, 24, 48):
        bias = make_bias((padded(length) != vocabulary["[PAD]"]).long(), torch.float64)
        right = accuracy(model(padded(length), bias))
        on_padding = model.weights[:, :, 7, 11:].sum(dim=-1).mean()  # [MASK] is token 7; the padding begins at 11
        print(f"{length} tokens: {right:6.1%} right, smallest bias {bias.min().item():8.1e}, [MASK] looks at padding {on_padding.item():.0%}")

# %%
try_mask(colleagues_bias)

# %% [markdown]
# The bias holds its huge negative numbers, and yet most of the attention goes to padding, and the more padding there
# is, the worse the answers.
#
# ### Exercise 3.5 · Repair the mask
# ●●●○ · 10 minutes
#
# Say in one sentence why the huge negative numbers do nothing. Then write `repaired_bias(attention_mask, dtype)`, which gets
# `[B, T]` of ones (text) and zeros (padding) and returns what is to be added to the scores `[B, H, T, T]`.

# %% tags=["exercise"]
def repaired_bias(attention_mask, dtype):
    ### BEGIN SOLUTION
    hidden = (attention_mask == 0)[:, None, None, :]
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min / 2)
    ### END SOLUTION

check("3.5", repaired_bias)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The shape was `[B, 1, T, 1]`: the number was added to whole *rows*, those of the queries that are padding. Rows of real tokens got
# 0, so nothing was hidden from them; and in the rows of padding every score moved by the same amount, which softmax does not
# notice. The keys lie along the last axis: `[B, 1, 1, T]`.
#
# </details>

# %%
try_mask(padding_bias)  # the package's mask

# %% [markdown]
# A mask is tested by its effect, never by its numbers: change what it hides, and nothing may change.
#
# ## Paper and code
#
# | | what it does |
# |---|---|
# | *Attention is all you need* (Vaswani et al. 2017, section 3.2.1) | divides by √d and gives the reason that you measured: large dot products push the softmax to where its gradient is tiny |
# | Google's BERT code | hides keys with −10000; query, key and value layers have biases; dropout falls on the attention *weights*, so that now and then a token is not seen at all |
# | `transformers` | used −10000 for years, then the smallest number of the type (pull request 17306, 2022, where the float16 overflow above is discussed). The last linear layer sits in `BertSelfOutput` |
# | `torch.nn.functional.scaled_dot_product_attention` | a boolean mask: True means *look* |
# | `torch.nn.MultiheadAttention` | `key_padding_mask`: True means *ignore*. The opposite, in the same library |
# | this course | half the smallest number of the type; dropout on the weights as in BERT; the fused kernel unless the weights are asked for |
#
# BERT hides padding only. A model that writes from left to right also hides everything to the right of each token; that is the whole
# difference between BERT's attention and GPT's.
#
# ## Summary
#
# - A token's query is compared with all keys; softmax turns the scores into shares; the shares mix the values.
# - √d keeps the spread of the scores the same for every head size, so that softmax starts open and the gradient flows.
# - Heads are a reshape *and* a transpose: `[B, T, D]` → `[B, T, H, d]` → `[B, H, T, d]`.
# - A mask belongs on the axis of the keys, before the softmax, with a number that stays finite.
# - Attention alone does not know the order of words. T² is a tenth of BERT-Base's work at 512 tokens, and half at 4608.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(3)

# %% [markdown]
# ## Interview questions
#
# **1. Why does scaled dot-product attention divide by √d, and not by d?**
#
# <details><summary>Answer</summary>
#
# With independent entries of variance 1, a dot product of length d has variance d, so its typical size is √d. Dividing by √d brings
# it back to 1 for every d. Dividing by d would shrink the scores to a size of 1/√d: softmax would begin
# nearly uniform, and the more so the larger the head. Without any division it begins nearly one-hot, where its gradient vanishes.
#
# </details>
#
# **2. The key projection in BERT has a bias. What would change if you set it to zero?**
#
# <details><summary>Answer</summary>
#
# Nothing at all. With q·(k + b) = q·k + q·b, the second term is the same for all keys of one query; it adds a constant to the whole row, and softmax
# ignores that. It is the same fact that made the mask in the lab do nothing. The biases of query and value do matter.
#
# </details>
#
# **3. Your BERT is slow on texts of 512 tokens. A colleague wants to replace attention by one that is linear in T. What do you say?**
#
# <details><summary>Answer</summary>
#
# For BERT-Base at T = 512 the part that grows with T² is about a tenth of the multiplications (T / (6·D + T)); the linear
# layers are the rest. So at most a tenth is won. First: a fused attention kernel, batches sorted by length so that
# less padding is computed, lower precision, a smaller model. A linear attention pays at many thousands of tokens.
#
# </details>
#
# ## Next
#
# One layer of attention can look once. To stack many, each needs a way around it, a normalisation and some work on each token
# alone: [04 · The encoder](04_transformer_encoder.ipynb).
