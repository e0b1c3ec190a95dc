# %% [markdown]
# # 19 · ModernBERT
#
# BERT is from 2018. In December 2024, Warner et al. published ModernBERT (arXiv 2412.13663): the same idea, with what
# six more years of work on Transformers had found. You will build each change by hand, count what it costs, and put
# them together into a layer that equals the package's and the one in `transformers`.
#
# ## What you will be able to do
#
# - rotate a query and a key with a pencil, and show that their score depends only on the distance i − j
# - write GeGLU with its two halves in the right order, and size it so that it has as many weights as BERT's
# - draw the masks of local and global attention, and count the operations for 128, 512 and 8192 tokens
# - compute a batch without its padding, with offsets and positions, and get the same vectors
# - detect and repair a checkpoint whose rotary halves are read as neighbors
#
# **Time:** two sittings of about 65 and 55 minutes, and 5 more for what is optional ·
# **You need:** [18 · DeBERTa and XLNet](18_deberta_and_xlnet.ipynb) ·
# **Next:** [20 · Many languages](20_many_languages.ipynb)
#
# Letters: B texts in a batch, T tokens, D hidden size,
# H heads with d = D / H numbers each, L layers, and I for the inner size of the feed-forward network.
#
# ## Recall
#
# 1. How does DeBERTa tell attention how far apart two tokens are?
#
# <details><summary>Answer</summary>
#
# By vectors for relative positions. A score is the sum of content-to-content, content-to-position and
# position-to-content, and the position vector is chosen by the distance i − j. No position is added to the words at
# the input.
#
# </details>
#
# 2. Where does the LayerNorm stand in post-norm, and where in pre-norm ([chapter 04](04_transformer_encoder.ipynb))?
#
# <details><summary>Answer</summary>
#
# Post-norm (BERT) normalizes after the addition: norm(x + f(x)). Pre-norm normalizes what the sublayer reads:
# x + f(norm(x)). The residual stream itself is then never normalized, so a pre-norm model needs one more LayerNorm
# at the end.
#
# </details>
#
# 3. Which part of a layer's multiplications grows with T² ([chapter 03](03_self_attention.ipynb))?
#
# <details><summary>Answer</summary>
#
# The two matrix products of attention: scores and weighted average, 2·T²·D together. Everything else grows with T.
#
# </details>
#
# ## Where this part sits
#
# One layer of both models, from bottom to top. What is new has a thick edge.
#
# ![A layer of BERT beside a layer of ModernBERT. New: no positions at the input, a LayerNorm before attention and before the feed-forward network, rotary and local attention, GeGLU.](pictures/19_layers.svg)
#
# | what | BERT (2018) | ModernBERT (2024) | section of the paper |
# |---|---|---|---|
# | positions | a table, added to the input | **rotary**: queries and keys are rotated in each layer | 2.1.1 |
# | feed-forward | GELU | **GeGLU**: a gate | 2.1.1 |
# | LayerNorm | after each addition | **before** each sublayer, and one at the end; no biases | 2.1.1 |
# | attention | all tokens, in each layer | all tokens in every third layer, **64 tokens to each side** in the others | 2.1.2 |
# | padding | computed like text | **left out** | 2.1.2 |
# | training | 15 % masked, linear decay | **30 %** masked, no next sentence, **trapezoidal** schedule | 2.2.2 |
#
# ## The problem: a table ends
#
# BERT learns one vector for each position, 512 in all, and adds it to the word at that position. What happens beyond
# the positions that were seen in training?
#
# We try it with the smallest task that needs positions: each token must **name the letter to its left**. The model is
# one layer of attention with two heads, D = 32 and d = 16. It computes where to attend in `scores` and adds positions,
# from a table of 64, in `vectors`. These are the two methods that we change later.

# %%
import torch
from torch import nn

from bertedu.training.devices import choose_device

device = torch.device(choose_device("auto"))  # trains on a GPU where torch finds one
exact = torch.float32 if device.type == "mps" else torch.float64  # mps has no 64 bits


# %%
class Letters(nn.Module):
    """One layer of attention; positions come from a table, as in BERT."""

    def __init__(self):
        super().__init__()
        self.letters, self.table = nn.Embedding(10, 32), nn.Embedding(64, 32)
        self.qkv, self.output = nn.Linear(32, 3 * 32, bias=False), nn.Linear(32, 10)

    def vectors(self, ids, positions):
        return self.letters(ids) + self.table(positions)  # [B, T, D]

    def scores(self, query, key, positions):
        return query @ key.mT / 16**0.5  # [B, H, T, T]

    def forward(self, ids, positions):  # [B, T], [T]
        qkv = self.qkv(self.vectors(ids, positions)).unflatten(-1, (3, 2, 16))
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(dim=2))  # [B, H, T, d]
        self.weights = self.scores(query, key, positions).softmax(dim=-1)  # for a picture
        mixed = self.weights @ value  # [B, H, T, d]
        return self.output(mixed.transpose(1, 2).flatten(-2))  # [B, T, 10]


# %% [markdown]
# We train on texts of 16 letters, at the positions from 0 on, for 200 steps. Then we test three times: on new texts of
# the same kind, on texts of 16 letters that stand at the positions from 48 on, and on texts of 64 letters.


# %%
def left_neighbor_accuracy(model, positions):
    ids = torch.randint(10, (200, len(positions))).to(device)
    guesses = model(ids, positions.to(device)).argmax(dim=-1)[:, 1:]  # the first has none
    return (guesses == ids[:, :-1]).double().mean().item()


def train(model):
    optimizer = torch.optim.Adam(model.to(device, exact).parameters(), lr=0.01)
    for _ in range(200):
        ids = torch.randint(10, (32, 16)).to(device)  # [B, T]
        scores = model(ids, torch.arange(16).to(device))[:, 1:]
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %%
from bertedu.course import about, check, hint, quiz

TESTS = {"as in training": (0, 16), "later positions": (48, 64), "longer texts": (0, 64)}


def test_letters(model, name):
    for kind, (first, after) in TESTS.items():
        share = left_neighbor_accuracy(model, torch.arange(first, after))
        print(f"{kind:15} {about(f'19 {name}, {kind}', share, within=0.15):.2f}")


# %% [markdown]
# There are ten letters, so guessing at random gets 0.10. Guess the three accuracies.

# %% tags=["guess"]
torch.manual_seed(0)
table_letters = train(Letters())
test_letters(table_letters, "table")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Attention weights of the trained model, queries down and keys across. At positions 0 to 15 each query attends to the key on its left, a sharp line. At positions 48 to 63 there is no line.](pictures/19_where_each_letter_looks.svg)
#
# At the positions of its training the model is perfect. At later ones it is hardly better than guessing: no training
# step has changed those rows of the table. The model did not learn "the letter to the left". It learned fifteen separate
# facts such as "position 7 attends to position 6".
#
# </details>
#
# BERT's table ends at 512 positions, and the package refuses a longer text: *a text has 600 tokens and this model 512
# positions*. Inside the table there is a weaker form of the problem: nothing carries what was learned about positions
# 3 and 4 over to 300 and 301.
#
# ## Rotary positions by hand
#
# **Rotary position embeddings** (RoPE; Su et al. 2021, arXiv 2104.09864, section 3.2) add nothing to the words. They
# *rotate* each query and each key by an angle that grows with its position. Let's take a query and a key of two
# numbers each, a **pair**: an arrow in the plane. Rotating the arrow (x, y) by the angle φ gives
#
# $$(x\cos\varphi - y\sin\varphi,\;\; y\cos\varphi + x\sin\varphi)$$
#
# Take a pencil and choose φ = 90° for each position: each step turns (x, y) into (−y, x).
#
# ![The query (1, 2) as an arrow at the positions 0 to 3: each position turns it by a quarter, to (−2, 1), (−1, −2) and (2, −1).](pictures/19_quarter_turns.svg)
#
# The query stands at position 3. The key (3, 4) stands at position 1, so it makes one turn: (−4, 3). Their score is the
# dot product: 2 · (−4) + (−1) · 3 = −11.
#
# Now move both by four positions, or by one. Then move only one of them. What changes? Guess.


# %%
def rotate_pair(pair, angle):  # [2], a number -> [2]
    x, y = pair
    cosine, sine = torch.tensor(angle).cos(), torch.tensor(angle).sin()
    return torch.stack([x * cosine - y * sine, y * cosine + x * sine])


def score(i, j, angle):  # of a query at position i with a key at position j
    query, key = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    return (rotate_pair(query, i * angle) @ rotate_pair(key, j * angle)).item()


# %% tags=["guess"]
for i, j in ((3, 1), (7, 5), (4, 2), (3, 2), (2, 3)):
    print(f"i = {i}, j = {j}:  score {score(i, j, torch.pi / 2):6.2f}")
by_position = [[score(i, j, 0.5) for j in range(5)] for i in range(5)]  # another angle

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The scores of the same two at an angle of 0.5 for all positions from 0 to 4, a table of 5 by 5. All numbers on a diagonal are equal.](pictures/19_diagonals.svg)
#
# **The score depends on i − j only.** The reason needs no formula. A dot product depends on the lengths of two arrows
# and on the angle between them. Rotating changes no length, and rotating both by the same angle doesn't change the
# angle between them. So only the *difference* of the rotations counts, (i − j) · φ. Its sign counts too, so a query can
# tell *before* from *after*.
#
# </details>
#
# ### Many pairs, many speeds
#
# A single pair isn't enough: after a full turn everything repeats. So the d numbers of a head are d/2 pairs, and each
# pair rotates at its own speed. Pair number k turns by $\theta^{-2k/d}$ radians for each position. The base θ ("theta")
# is 10,000 in the RoPE paper. The first pair turns by 1 radian each position, the last ones almost stand still, like the
# hands of a clock.
#
# ![The four pairs of a head of d = 8 as the hands of four clocks, at the positions 0, 1, 10 and 100. The first hand races, the last one hardly moves.](pictures/19_clocks.svg)
#
# The number of positions until a pair has made a full turn is its **wavelength**:


# %%
def speeds(head_size, theta):  # [d/2]: radians for each position
    return theta ** (-torch.arange(0, head_size, 2) / head_size)


for k, speed in enumerate(speeds(8, 10_000).tolist()):
    turn = 2 * torch.pi / speed
    print(f"pair {k}: {speed:.3f} radians a position, a full turn in {turn:,.0f} positions")

# %% [markdown]
# ModernBERT's heads have d = 64. It was first trained with texts of 1024 tokens and θ = 10,000. Then θ was raised to
# 160,000 in the layers that attend to the whole text, for texts of 8192 tokens (section 2.2.2).

# %%
wavelengths = {theta: 2 * torch.pi / speeds(64, theta) for theta in (10_000, 160_000)}  # [32]
for theta, turns in wavelengths.items():
    print(f"θ = {theta:7,}: {(turns > 8192).sum()} of 32 pairs need more than 8192 positions")

# %% [markdown]
# ![Wavelengths of the 32 pairs on a logarithmic axis, a rising line for each base. The line of 160,000 is steeper, so more pairs lie above 8192, the longest text.](pictures/19_wavelengths_by_base.svg)
#
# A pair that needs more than 8192 positions for a full turn has another angle at each distance in the text, so it can
# tell near from far. In the local layers no distance is larger than 64, and θ stays at 10,000.
#
# ### Halves or neighbors
#
# Which of the d numbers of a head form a pair? The RoPE paper takes **neighbors**. GPT-NeoX, `transformers` and
# ModernBERT take **halves**: number k goes with number k + d/2. Both are the same model with its numbers in another
# order. But weights that were trained one way don't work the other way.
#
# ![The numbers 0 to 7 of a head, joined in pairs: neighbors 0 and 1, 2 and 3, 4 and 5, 6 and 7; halves 0 and 4, 1 and 5, 2 and 6, 3 and 7.](pictures/19_halves_or_neighbors.svg)
#
# The package has two functions for this. `rotation` computes the cosines and sines of all angles, `[T, d/2]` each, and
# `rotate` rotates vectors by them, with halves. The next cell writes the paper's way, with neighbors. Then we rotate
# eight vectors that have a single 1 and zeros, and print at which indices the results are not zero.

# %%
from bertedu.family.modernbert.rope import rotate, rotation


def rotate_neighbors(vectors, by):  # [..., T, d], two of [T, d/2] -> [..., T, d]
    (cosine, sine), first, second = by, vectors[..., 0::2], vectors[..., 1::2]  # [..., T, d/2]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return torch.stack(turned, dim=-1).flatten(-2)  # the pairs side by side again


# %%
by = rotation(torch.full((8,), 5), head_size=8, theta=10_000.0)  # the angles at position 5
for function in (rotate_neighbors, rotate):
    print(sorted({tuple(r.nonzero()[:, 0].tolist()) for r in function(torch.eye(8), by)}))

# %% [markdown]
# ### Exercise 19.1 · Rotate by halves
# ●●○○ · 12 minutes
#
# Write `rotate_halves(vectors, positions, theta)` for `vectors` of shape `[B, H, T, d]` and `positions` `[T]`. Pair
# number k consists of the numbers k and k + d/2, and turns by `theta ** (-2 * k / d)` radians for each position.
# Return the rotated vectors, in the same order. (`check` examines your answer, and `hint("19.1")` gives a hint.)


# %% tags=["exercise"]
def rotate_halves(vectors, positions, theta):
    ### BEGIN SOLUTION
    angles = positions[:, None] * speeds(vectors.size(-1), theta)  # [T, d/2]
    first, second = vectors.chunk(2, dim=-1)  # [B, H, T, d/2] each
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
    ### END SOLUTION


check("19.1", rotate_halves)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `chunk` cuts the last axis into its two halves, so that the numbers k and k + d/2 stand at the same index of `first`
# and `second`. The angles are an outer product, positions times speeds (the function from above), `[T, d/2]`, and
# broadcast over B and H.
#
# </details>

# %% [markdown]
# ### Does it solve the problem?
#
# Our model with rotary positions differs in two methods: `vectors` adds nothing, and `scores` rotates queries and
# keys. The values are not rotated: only the scores should know about positions.


# %%
class RotaryLetters(Letters):
    def vectors(self, ids, positions):
        return self.letters(ids)  # [B, T, D]: no positions here

    def scores(self, query, key, positions):
        turn = rotation(positions, head_size=16, theta=10_000.0)
        return rotate(query, turn) @ rotate(key, turn).mT / 16**0.5  # [B, H, T, T]


# %% [markdown]
# Guess the three accuracies again. One of them is not what most people expect.

# %% tags=["guess"]
torch.manual_seed(0)
rotary_letters = train(RotaryLetters())
test_letters(rotary_letters, "rotary")

# %% [markdown]
# What has gone wrong in one of the three? A test: the same weights, once more on the longer texts. But we hide all keys
# that are more than 15 positions away from the query, since there were no such distances in training.


# %%
class NearLetters(RotaryLetters):
    def scores(self, query, key, positions):
        far = (positions[:, None] - positions[None, :]).abs() > 15  # [T, T]
        return super().scores(query, key, positions).masked_fill(far, -1e9)


# %% tags=["guess"]
near = NearLetters().to(device, exact)
near.load_state_dict(rotary_letters.state_dict())  # the same weights
share = left_neighbor_accuracy(near, torch.arange(64))
print(f"longer texts, no far key: {about('19 no far key', share, within=0.05):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Attention weight by distance in texts of 64 letters: a peak at the left neighbor, and two more peaks nearly as high about 20 letters away on both sides, at distances that training never showed.](pictures/19_far_keys.svg)
#
# At later positions the model is as good as at the first ones: it has learned one fact about distances, and no table.
# But in longer texts it is wrong more often than right, because nothing taught it to give a low score to a key that is
# 20 or 40 positions away. Without the far keys it is perfect.
#
# </details>
#
# **Rotary positions don't make a model read longer texts by themselves.** That is why ModernBERT was trained further on
# long texts, and why others stretch the angles (YaRN). Another remedy comes three sections below: local attention.
#
# ## GeGLU: a gate
#
# BERT's feed-forward network ([chapter 04](04_transformer_encoder.ipynb)) computes gelu(x·A)·S: expand to I numbers,
# GELU, shrink back to D. (We leave out the biases.) How much of an inner number passes depends on that number alone.
#
# A **gated linear unit** (GLU) computes two numbers for each inner unit and multiplies them, so that one of them says
# how much of the other one passes. With GELU it is called **GeGLU** (Shazeer 2020, arXiv 2002.05202):
#
# $$\text{GeGLU}(x) = \big(\text{gelu}(xA) \odot xG\big)\,S$$
#
# ![Above, BERT: x goes through A, GELU and S. Below, GeGLU: x goes through A and GELU, and through G; the two are multiplied before S.](pictures/19_gate.svg)
#
# Do one unit with a pencil. For a large number z, gelu(z) is about z, and for a very negative z it is about 0. Let xA
# be the first number of x and xG the second one. What comes out for x = (4, 2), (−4, 2) and (4, −2)? The last
# column takes the two in the wrong order.

# %% tags=["guess"]
from torch.nn.functional import gelu

for activated, gate in torch.tensor([[4.0, 2.0], [-4.0, 2.0], [4.0, -2.0]]):
    right, wrong = gelu(activated) * gate, activated * gelu(gate)
    print(f"x = ({activated:2.0f}, {gate:2.0f})  gelu(first) · second = {right:5.2f}", end="")
    print(f"   first · gelu(second) = {wrong:5.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In the second line the unit is shut: a number of −4 lets nothing through. In the third one a negative number does
# pass: only the half that goes through GELU opens and shuts. So the order matters.
#
# The names are a trap: ModernBERT's code calls the half *without* the activation "gate", LLaMA's `gate_proj` is the
# half *with* it.
#
# </details>
#
# ### What it costs
#
# There are three matrices now instead of two: A and G, of D × I each, and S. For a fair comparison the inner size
# must shrink: 3·D·I′ = 2·D·I gives I′ = ⅔ I, which is 2048 for BERT-Base. ModernBERT-base went another way: I = 1152
# only, but 22 layers instead of 12. Which of the three has the most weights in its feed-forward networks? Guess, and
# run the cell. (Each weight is one multiplication for each token.)

# %% tags=["guess"]
feed_forward = {"BERT-Base, GELU": (2, 3072, 12), "BERT-Base with GeGLU": (3, 2048, 12)}
feed_forward["ModernBERT-base"] = (3, 1152, 22)
for name, (matrices, inner, layers) in feed_forward.items():
    in_layer = matrices * 768 * inner
    print(f"{name:21} {in_layer:9,} in a layer, {layers * in_layer:10,} in {layers} layers")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# All three are about the same size. ModernBERT has more layers, and each has a narrower feed-forward network (the
# paper calls this **deep and narrow**, section 2.1.3).
#
# </details>
#
# Is the gate worth it? Shazeer measured it for T5 with equal numbers of weights (table 1): the cross-entropy fell from
# 1.679 with GELU to 1.633 with GeGLU. **SwiGLU**, the variant in LLaMA and many other language models, is as good. Why?
# The paper ends with "We offer no explanation as to why these architectures seem to work; we attribute their success, as
# all else, to divine benevolence."
#
# ### Exercise 19.2 · The two halves
# ●●○○ · 8 minutes
#
# ModernBERT stores A and G in *one* matrix: `expand` of shape `[2 I, D]`, as in `nn.Linear`. Its first I outputs go
# through GELU, the last I don't. `shrink` has the shape `[D, I]`. Write `geglu(x, expand, shrink)` for `x` of shape
# `[B, T, D]`, without biases and with the exact GELU, `gelu(z)`.


# %% tags=["exercise"]
def geglu(x, expand, shrink):
    ### BEGIN SOLUTION
    activated, gate = (x @ expand.T).chunk(2, dim=-1)  # [B, T, I] each
    return (gelu(activated) * gate) @ shrink.T  # [B, T, D]
    ### END SOLUTION


check("19.2", geglu)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `nn.Linear` stores its weight as `[outputs, inputs]`, so we multiply by the transposed matrix. One product with the
# large matrix is faster than two with small ones, and `chunk` cuts the result into the two halves. The first one goes
# through GELU.
#
# </details>

# %% [markdown]
# ## Pre-norm, a final norm, and no biases
#
# In [chapter 04](04_transformer_encoder.ipynb) post-norm, BERT's order, did not learn in twelve layers without a
# warm-up, and pre-norm did. ModernBERT takes **pre-norm**, as most Transformers do today, with the LayerNorm after
# the last layer that pre-norm needs. There is one more right after the embeddings, so the first layer leaves out its
# own before attention.
#
# It also has **no biases**, neither in linear layers nor in LayerNorm, except one for each word in the decoder. The
# paper wants to spend the weights on the matrices (section 2.1.1). Guess: what share of a BERT-Base layer are biases?

# %% tags=["guess"]
from bertedu import BertConfig
from bertedu.model.encoder import EncoderLayer

weights = dict(EncoderLayer(BertConfig.preset("base")).named_parameters())
whole = sum(p.numel() for p in weights.values())
biases = sum(p.numel() for name, p in weights.items() if name.endswith("bias"))
print(f"{biases:,} of {whole:,}, {biases / whole:.2%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Next to nothing: a bias has one number where a matrix has a row of hundreds.
#
# </details>
#
# The last change is **a smaller initialization**. In pre-norm every sublayer *adds* to the residual stream, 2·L times.
# ModernBERT-base starts the matrices whose output is added (after attention and in `shrink`) with the standard deviation
# 0.02/√(2L) instead of 0.02, as NVIDIA's Megatron does.
#
# Guess what that does in deep models. The next cells measure the standard deviation of what all layers of an untrained
# model have added to the stream, with both initializations. (D = 128 here, so we take 0.02·√(768/128) in place of 0.02.)

# %%
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.model import ModernBertModel

sizes = dict(hidden_size=128, num_attention_heads=4, intermediate_size=192, pad_token_id=0)
sizes["initializer_range"] = 0.02 * (768 / 128) ** 0.5


@torch.no_grad()
def added_to_the_stream(L, factor):  # what the matrices whose output is added are multiplied by
    torch.manual_seed(0)
    model = ModernBertModel(ModernBertConfig(100, num_hidden_layers=L, **sizes)).eval()
    for layer in model.layers:
        layer.attention.output.weight *= factor
        layer.feed_forward.shrink.weight *= factor
    before = model.embeddings(torch.randint(1, 100, (8, 32)))  # [B, T, D]
    states, _ = model.through_layers(before, torch.arange(32), None)
    return (states[-2] - before).std().item()


# %% tags=["guess"]
added = {L: [added_to_the_stream(L, f) for f in (1, (2 * L) ** 0.5)] for L in (6, 24, 96)}
for L, (small_start, plain) in added.items():
    print(f"L = {L:2}:  0.02/√(2L) adds {small_start:.2f}, 0.02 adds {plain:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![What the layers add to the stream, for 6, 24 and 96 layers. With the smaller initialization the bars are equally long; with 0.02 they grow.](pictures/19_stream.svg)
#
# The standard deviation of a sum of 2·L independent numbers grows like √(2L), and the smaller initialization divides by
# just that. So what the layers add is about the same for every depth. With 0.02 it more than doubles for four times as
# many layers.
#
# </details>
#
# ## Local attention
#
# A layer of attention over T tokens computes T² scores for each head. In **local attention** (also **sliding-window
# attention**; Longformer, Beltagy et al. 2020, arXiv 2004.05150) a token attends only to its neighborhood. ModernBERT's
# setting `local_attention = 128` means: at most 64 positions away, *inclusive*, on both sides. Layer i, counted from 0,
# is **global** if i % 3 == 0, and local otherwise.


# %%
def may_attend(positions, local_attention):  # [T], a number -> [T, T] of booleans
    return (positions[:, None] - positions[None, :]).abs() <= local_attention // 2


local = may_attend(torch.arange(24), local_attention=8)  # [T, T]: a small window
two_layers = (local.float() @ local.float()) > 0  # who is reached in two steps
print(f"{local.sum()} of {local.numel()} pairs, after two layers {two_layers.sum()}")

# %% [markdown]
# ![Three masks of 24 by 24. A global layer is full. A local layer of window 8 is a band along the diagonal. Two local layers reach a band that is twice as wide.](pictures/19_masks.svg)
#
# Local doesn't mean blind: two local layers reach twice as far, and every third layer connects everything.
#
# We take our letters again: rotary positions, and a window of 8, at most 4 to each side, in training and in the tests.
# Remember how rotary positions alone did in longer texts. What will it be now?


# %%
class LocalLetters(RotaryLetters):
    def scores(self, query, key, positions):
        hidden = ~may_attend(positions, local_attention=8)
        return super().scores(query, key, positions).masked_fill(hidden, -1e9)


# %% tags=["guess"]
torch.manual_seed(0)
test_letters(train(LocalLetters()), "local")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With the window, the letters are right in longer texts too, because all distances of the test occurred in training.
#
# </details>
#
# The other use of local layers is the cost, which we count below.
#
# ### Exercise 19.3 · At the border
# ●○○○ · 3 minutes
#
# A text has 8192 tokens, and a layer has `local_attention = 128`. To how many tokens, including itself, do the tokens
# 0, 10 and 4000 attend? Write three numbers in a list.

# %% tags=["exercise"]
### BEGIN SOLUTION
keys_seen = [65, 75, 129]
### END SOLUTION
check("19.3", keys_seen)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A token attends to itself, to at most 64 on the left and to at most 64 on the right: 129 in the middle of a text,
# not 128. Token 0 has nobody on its left: 1 + 64. Token 10 has ten: 10 + 1 + 64.
#
# </details>

# %% [markdown]
# ### What it costs
#
# Now we count for ModernBERT-base: 22 layers of which 8 are global. A layer's matrices take 4·D² (query, key, value,
# output) and 3·D·I multiplications for each token. Attention takes 2·D for each pair of a query and a key that it
# sees. The cell prints the multiplications of all 22 layers if all are global, and with ModernBERT's pattern. Guess:
# what share is saved for texts of 128, 512 and 8192 tokens?

# %% tags=["guess"]
D, inner, H, saved = 768, 1152, 12, {}
for T in (128, 512, 8192):
    everywhere = T * T  # pairs
    nearby = sum(min(i, 64) + 1 + min(T - 1 - i, 64) for i in range(T))  # inclusive
    matrices = 22 * T * (4 * D * D + 3 * D * inner)
    all_global = matrices + 22 * 2 * D * everywhere
    alternating = matrices + 2 * D * (8 * everywhere + 14 * nearby)
    saved[T] = 1 - alternating / all_global
    print(f"T = {T:4}: {all_global / 1e9:5.0f} → {alternating / 1e9:4.0f} billion", end="")
    megabytes = [H * pairs * 2 / 1e6 for pairs in (everywhere, nearby)]  # weights in 16 bits
    print(f", weights of a layer {megabytes[0]:,.1f} → {megabytes[1]:,.1f} MB")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The share of all multiplications that local layers save, for texts of 128, 512 and 8192 tokens: next to nothing on short texts, nearly half on the longest.](pictures/19_what_is_saved.svg)
#
# On short texts local attention changes next to nothing. At 8192 tokens it saves almost half of the multiplications,
# and a local layer needs sixty times less memory for its attention weights.
#
# </details>
#
# ### Fewer scores, not only hidden ones (optional)
#
# Beware: a *mask* saves nothing. `masked_fill` needs all T² scores before it can hide them. **Kernels** (functions
# that run on the GPU) such as Flash Attention never compute the hidden ones. A simple way in plain PyTorch: cut the
# text into blocks of 64 tokens. The keys that a block needs are in the block itself and in its two neighbors.
#
# ![A text in seven blocks of 64 tokens. The queries of block 3 need the keys of the blocks 2, 3 and 4 only: 192 keys for each query.](pictures/19_blocks.svg)
#
# (`unfold` cuts the keys into these overlapping windows.) We compare result and CPU time with the mask, for 4096 tokens
# and two heads.


# %%
def in_blocks(query, key, value, block=64):  # [H, T, d] each -> [H, T, d]
    heads, tokens, d = query.shape
    pad = (0, 0, block, block)  # one empty block before the text and one after it
    windows = [nn.functional.pad(x, pad).unfold(1, 3 * block, block).mT for x in (key, value)]
    scores = query.view(heads, -1, block, d) @ windows[0].mT / d**0.5  # [H, blocks, 64, 192]
    where = torch.arange(-block, tokens + block).unfold(0, 3 * block, block)  # [blocks, 192]
    near = (torch.arange(tokens).view(-1, block, 1) - where[:, None, :]).abs() <= block
    near &= ((where >= 0) & (where < tokens))[:, None, :]
    weights = scores.masked_fill(~near, -1e9).softmax(dim=-1)
    return (weights @ windows[1]).flatten(1, 2)


# %% tags=["nbval-ignore-output"]
import time

torch.manual_seed(0)
query, key, value = torch.randn(3, 2, 4096, 64)  # [H, T, d] each
began = time.process_time()
hidden = ~may_attend(torch.arange(4096), 128)
masked = (query @ key.mT / 8).masked_fill(hidden, -1e9).softmax(dim=-1) @ value
middle = time.process_time()
blocks = in_blocks(query, key, value)
print(f"masked {middle - began:.2f} s, in blocks {time.process_time() - middle:.2f} s")
assert (blocks - masked).abs().max() < 1e-4, "both ways should give the same vectors"

# %% [markdown]
# The vectors are the same. On our machine the blocks took less than a tenth of the time.
#
# **Here the first sitting ends.** You have the new parts of a layer: rotary positions, a gate, pre-norm and local
# attention. The second sitting computes no padding, builds one whole layer, and asks what each change is worth.
#
# ## Unpadding
#
# A batch is a rectangle, and texts have different lengths. The gaps are filled with [PAD], and every matrix product
# computes them as if they were text. We take real texts (from our data for sentiment), in batches of 32, once as they
# come and once sorted by length. Guess the share of padding.

# %%
from bertedu import BertTokenizer
from bertedu.corpora.task_data import read_labelled
from bertedu.course import data_path

tokenizer = BertTokenizer.from_pretrained(data_path("checkpoints/mixed-mini"))
texts = [row.text for row in read_labelled(data_path("tasks/stress/sentiment/train.tsv"))]
lengths = tokenizer(texts[:1472]).attention_mask.sum(dim=1)  # of 46 batches


# %% tags=["guess"]
def count(lengths):  # in batches of 32: tokens in the rectangles, real ones, share of the pairs
    batches = lengths.view(-1, 32)
    longest = batches.amax(dim=1)
    pairs = (batches**2).sum() / (32 * longest**2).sum()
    return (32 * longest).sum().item(), batches.sum().item(), pairs.item()


for name, order in (("as they come", lengths), ("sorted by length", lengths.sort().values)):
    padded, real, pairs = count(order)
    print(f"{name:17} {padded:6,} tokens, {real:,} real:", end="")
    print(f" {1 - real / padded:.0%} padding, {pairs:.0%} of the pairs are real")

# %% [markdown]
# Sorting by length helps (chapter 08 did that), but a service must take the texts as they come, and training wants
# batches in random order.
#
# **Unpadding** puts the real tokens of all texts into *one* long sequence of N tokens, and no padding is computed at
# all.
#
# ![Three texts of 6, 12 and 8 tokens: above as rows of a rectangle of 36 with hatched padding, below one after the other, 26 tokens with the offsets 0, 6, 18, 26. Beside it the attention mask, three squares along the diagonal.](pictures/19_packed.svg)
#
# Linear layers, norms and GeGLU treat each token by itself, so they don't even notice. Two things need care:
#
# - **Positions** usually begin at 0 in each text. (Must they, in this model? We will try it.)
# - **Attention** must stay inside each text. Kernels are told where the texts begin and end by B + 1 **offsets**, the
#   cumulative sums of the lengths with a 0 in front. Flash Attention calls them `cu_seqlens`.

# %%
three = ["It rains.", "Nobody in the village had seen the new bridge.", "Bread is sold here."]
ids, mask = tokenizer(three).input_ids, tokenizer(three).attention_mask  # [B, T] each
three_lengths = mask.sum(dim=1).tolist()
packed = torch.cat([row[:length] for row, length in zip(ids, three_lengths)])  # [N]
positions = torch.cat([torch.arange(length) for length in three_lengths])  # [N]
offsets = torch.tensor([0, *three_lengths]).cumsum(dim=0)  # [B + 1]
print("positions", *positions.tolist(), "  offsets", *offsets.tolist())

# %% [markdown]
# Next we compute their vectors with a small untrained ModernBERT, first with padding, then packed, in three variants.

# %%
from bertedu.model.attention import hiding_bias

torch.manual_seed(0)
sizes = dict(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=96)
sizes |= dict(pad_token_id=0, local_attention=8, initializer_range=0.2)
small = ModernBertConfig(len(tokenizer), **sizes)
model = ModernBertModel(small).eval()
text_of = torch.repeat_interleave(torch.arange(3), torch.tensor(three_lengths))  # [N]
own_text = hiding_bias(text_of[:, None] != text_of[None, :], torch.float32)  # [N, N]
variants = {"every token sees all texts": (positions, None)}
variants["each text for itself"] = (positions, own_text)
variants["the same, positions run on"] = (torch.arange(len(packed)), own_text)

# %% [markdown]
# For each variant we print the largest difference from the vectors with padding. Guess which of the three are right.
# Think about the last one.

# %% tags=["guess"]
with torch.no_grad():
    padded = model(ids, mask).last_hidden_state[mask.bool()]  # [N, D]: the real tokens only
    for name, (where, bias) in variants.items():
        layers, _ = model.through_layers(model.embeddings(packed[None]), where, bias)
        print(f"{name:27} difference {(layers[-1][0] - padded).abs().max():.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Without a mask the texts attend to each other, and the vectors are far off. With it, they are equal. And it doesn't
# matter if the positions run on from text to text, because a text's distances stay the same. BERT's table would give
# the third text the vectors of the positions 18 to 25.
#
# As above, our mask saves no work in attention. Flash Attention takes the offsets and never computes pairs of
# different texts: of all pairs in the batches above, only 40 % are left.
#
# </details>
#
# ### Exercise 19.4 · Unpad
# ●●●○ · 12 minutes
#
# Write `unpad(input_ids, attention_mask)` for `[B, T]` each. Return three tensors: the real ids `[N]`, text after
# text, the position of each in its text `[N]` (0 for the first real token), and the offsets `[B + 1]`. Be careful:
# some tokenizers put the padding on the *left*.


# %% tags=["exercise"]
def unpad(input_ids, attention_mask):
    ### BEGIN SOLUTION
    real = attention_mask.bool()
    positions = (attention_mask.cumsum(dim=1) - 1)[real]  # counted in each row
    ends = attention_mask.sum(dim=1).cumsum(dim=0)  # [B]
    return input_ids[real], positions, torch.cat([ends.new_zeros(1), ends])
    ### END SOLUTION


check("19.4", unpad)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A boolean mask picks the real ids row by row, wherever the padding is. Counting the ones of the mask from the left
# (`cumsum`) numbers the real tokens of each row from 1, so we subtract 1. The offsets are the cumulative lengths with
# a 0 in front: text b is `ids[offsets[b] : offsets[b + 1]]`.
#
# </details>

# %% [markdown]
# And back again: `pad_again` of the package is one assignment, `padded[mask] = vectors`. ModernBERT does this once at
# the end, not in every layer (section 2.1.2).
#
# ## One layer by hand
#
# Now we put it all together. Read `MyLayer` from the bottom: `forward` is pre-norm, twice. `attend` is attention with
# rotated queries and keys, and with the window in local layers. `keep` `[B, T]` is True for real tokens.
# (`self.rotate` is an attribute for the lab.) `MyModernBert` is the whole encoder.


# %%
class MyLayer(nn.Module):
    def __init__(self, config, number):
        super().__init__()
        D, inner = config.hidden_size, config.intermediate_size
        self.config, self.rotate, self.is_local = config, rotate, number % 3 > 0
        self.attention_norm = nn.LayerNorm(D, bias=False) if number else nn.Identity()
        self.qkv, self.output = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.feed_forward_norm = nn.LayerNorm(D, bias=False)
        self.expand = nn.Linear(D, 2 * inner, bias=False)
        self.shrink = nn.Linear(inner, D, bias=False)

    def attend(self, x, keep):  # [B, T, D], [B, T] -> [B, T, D]
        qkv = self.qkv(x).unflatten(-1, (3, self.config.num_attention_heads, -1))
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(dim=2))
        positions = torch.arange(x.size(1), device=x.device)
        seen, theta = keep[:, None, None, :], 160_000.0
        if self.is_local:
            seen, theta = seen & may_attend(positions, self.config.local_attention), 10_000.0
        turn = rotation(positions, query.size(-1), theta)
        scores = self.rotate(query, turn) @ self.rotate(key, turn).mT / query.size(-1) ** 0.5
        weights = scores.masked_fill(~seen, -1e9).softmax(dim=-1)  # [B, H, T, T]
        return self.output((weights @ value).transpose(1, 2).flatten(-2))

    def forward(self, x, keep):
        x = x + self.attend(self.attention_norm(x), keep)
        activated, gate = self.expand(self.feed_forward_norm(x)).chunk(2, dim=-1)
        return x + self.shrink(gelu(activated) * gate)


# %%
class MyModernBert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, bias=False)
        self.layers = nn.ModuleList(MyLayer(config, n) for n in range(config.num_hidden_layers))
        self.final_norm = nn.LayerNorm(config.hidden_size, bias=False)

    def forward(self, ids, keep):  # [B, T] each -> [B, T, D]
        x = self.norm(self.token(ids))
        for layer in self.layers:
            x = layer(x, keep)
        return self.final_norm(x)


# %% [markdown]
# ## The proof
#
# We give the package's model random weights, copy them into `MyModernBert`, and save them for `transformers`. Four
# layers, of which the first and the last are global, a window of 8, two texts of 24 and 15 tokens.

# %%
import tempfile

import transformers

transformers.utils.logging.disable_progress_bar()
torch.manual_seed(1)
for parameter in model.parameters():
    parameter.data += 0.1 * torch.randn(parameter.shape)
mine = MyModernBert(small).eval()
weights = model.state_dict()
for part in ("embeddings.", "attention.", "feed_forward."):
    weights = {name.replace(part, ""): weight for name, weight in weights.items()}
print(mine.load_state_dict(weights))
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    eager = {"attn_implementation": "eager"}  # scores written out, as in ours
    theirs = transformers.ModernBertModel.from_pretrained(folder, **eager).eval()

# %%
ids = torch.randint(5, 100, (2, 24))
keep = torch.arange(24) < torch.tensor([[24], [15]])  # [B, T]
with torch.no_grad():
    result = mine(ids, keep)[keep]
    for name, other in (("package", model), ("transformers", theirs)):
        vectors = other(ids, attention_mask=keep.long()).last_hidden_state[keep]
        print(f"{name:12} largest difference from yours {(vectors - result).abs().max():.4f}")
print("biases:", sum(name.endswith("bias") for name, _ in mine.named_parameters()))

# %% [markdown]
# ## The training recipe (optional)
#
# Three changes in training cost next to nothing (section 2.2.2):
#
# - **30 % masking** instead of 15 %. Each text gives twice as many predictions to learn from, and each prediction has
#   less context. For models of BERT-Large's size, Wettig et al. (2022, arXiv 2202.08005) found a masking rate of 40 %
#   better than 15 %.
# - **No next-sentence prediction**, as in RoBERTa.
# - A **trapezoidal learning-rate schedule**, also called **warmup-stable-decay** (WSD). BERT's learning rate falls
#   from the end of the warm-up to the last step, so you must know the last step in advance. The trapezoid stays at
#   its maximum and falls only at the very end. So you can go on from any checkpoint of the long middle part, and end
#   it whenever you like. In ModernBERT the decay is 1 − √t, where t goes from 0 to 1 during the decay.
#
# ![The share of the peak learning rate over a run. Linear: up within 2 %, then straight down to 0. Trapezoid: level until 90 %, then down to 0.](pictures/19_schedules.svg)
# ## What is each change worth?
#
# We can ask a tiny model. `benchmarks/modernbert_ladder.py` trained five of them, each with one change more than the
# one before it: BERT, rotary positions, GeGLU, pre-norm, and local attention (window 16) in the second layer. Each
# has two layers of D = 72 with about the same number of weights, and predicts masked words in documents about
# countries of our small world, at most 48 tokens long, for 600 steps. There are two learning rates, because a change
# may need another one, and two seeds. BERT was also trained once for 1800 steps.
#
# The next cell prints the number of weights in the layers and the cross-entropy on new texts, one number for each
# seed. Guess which change matters most in so short a run, and what BERT reaches in three times as many steps.

# %% tags=["guess"]
import json

recorded = json.loads(data_path("ablations/modernbert.json").read_text())["runs"]
for name in dict.fromkeys(run["model"] for run in recorded):
    runs = [run for run in recorded if run["model"] == name]
    print(f"{name:18} {runs[0]['parameters']:,} weights;", end="")
    for steps, rate in ((600, 0.001), (600, 0.003), (1800, 0.003)):
        chosen = [run for run in runs if (run["steps"], run["learning_rate"]) == (steps, rate)]
        losses = " ".join(f"{run['loss']:.2f}" for run in chosen)
        print(f"  {steps} steps at {rate}: {losses};" if chosen else "", end="")
    print()

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Cross-entropy of the runs of 600 steps, a dot for each, from BERT to local attention. The step from BERT to rotary positions is large, all others are small.](pictures/19_ladder.svg)
#
# - **Rotary positions** make the only large difference. But BERT does learn the task, only later: see its 1800 steps.
#   (We didn't train the others that long.) A likely reason: a table must learn 48 positions before attention can use
#   them, and rotary scores depend on distances from the first step.
# - **GeGLU and pre-norm**: their differences are about as small as those between two seeds. With two layers pre-norm
#   has little to repair (chapter 04 had twelve).
# - **Local attention** is a little better in all four pairs of runs. Perhaps that is because our documents consist of
#   short sentences, with the answer nearby.
#
# </details>
#
# <details><summary>What do larger comparisons say, and who else chose from this list?</summary>
#
# | source | what was compared | finding |
# |---|---|---|
# | Geiping & Goldstein 2022, *Cramming* (arXiv 2212.14034) | many variants of BERT, one GPU, one day | at a fixed budget of time, changes of the architecture hardly move the loss; what makes steps faster helps. Pre-norm helps because it allows larger learning rates (section 4.2) |
# | Antoun et al. 2025 (arXiv 2504.08716) | ModernBERT and DeBERTaV3 on the *same* French data | DeBERTaV3 learns more from each token and is better in most tasks, but not in retrieval. ModernBERT is faster, reads longer texts, and is better than BERT and RoBERTa |
#
# Others chose from the same list, all with rotary positions and a gate: **NomicBERT** (Nussbaum et al. 2024, arXiv
# 2402.01613), texts of 2048 tokens; **NeoBERT** (Le Breton et al. 2025, arXiv 2502.19587), 28 layers and RMSNorm (a
# LayerNorm that doesn't subtract the mean); **EuroBERT** (Boizard et al. 2025, arXiv 2503.05500), fifteen languages,
# and in its two larger sizes grouped-query attention (several query heads share one head of keys and values).
#
# </details>
#
# ## Broken BERT: a checkpoint that is silently worse
#
# A colleague has written ModernBERT anew and loads a good checkpoint. All names and shapes fit, no error is raised.
# But the accuracy is far below what was reported.
#
# We replay this with the sentences of [chapter 03](03_self_attention.ipynb): *the keys near the old lamp [MASK] wet*,
# is or are? The next cell makes such sentences and holds out a quarter of the noun pairs. You don't have to read it.
# We train `MyModernBert` with two layers (that's the good checkpoint; it takes some seconds). We test on easy sentences,
# in which both nouns are singular or both plural, and on hard ones, in which they differ.

# %% tags=["hide-input"]
from itertools import combinations, product

NOUNS = "key lamp cup book coat boat door cloud horse river plate letter".split()
words = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "wet", ".", "near", "old", "very"]
words += [noun + ending for ending in ("", "s") for noun in NOUNS]


def sentences(pairs, numbers):  # ids [N, 15], and 0 for is, 1 for are [N]
    rows, answers = [], []
    for (one, two), (s1, s2), old, late in product(pairs, numbers, range(4), range(4)):
        for first, second in ((one + s1, two + s2), (two + s2, one + s1)):
            early = ["", "old", "very old", "very very old"]
            text = (
                f"[CLS] the {early[old]} {first} near the {early[late]} {second} [MASK] wet ."
            )
            row = [words.index(word) for word in [*text.split(), "[SEP]"]]
            rows.append(row + [0] * (16 - len(row)))
            answers.append(int(first.endswith("s")))
    return torch.tensor(rows), torch.tensor(answers)


pairs = list(combinations(NOUNS, 2))
train_ids, train_answers = sentences(
    [p for i, p in enumerate(pairs) if i % 4], list(product(("", "s"), repeat=2))
)
easy = sentences(pairs[::4], [("", ""), ("s", "s")])  # ids, answers
hard = sentences(pairs[::4], [("", "s"), ("s", "")])
print(
    f"{len(train_ids)} to train on, {len(easy[0])} easy and {len(hard[0])} hard ones to test on"
)


# %%
class Agreement(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = MyModernBert(ModernBertConfig(len(words), 32, 2, 2, 48, pad_token_id=0))
        self.decide = nn.Linear(32, 2)

    def forward(self, ids):  # [B, T] -> [B, 2]: is or are
        return self.decide(self.bert(ids, ids > 0)[ids == words.index("[MASK]")])


@torch.no_grad()
def test(model, name):
    for kind, (ids, answers) in {"easy": easy, "hard": hard}.items():
        right = (model(ids).argmax(dim=-1) == answers).double().mean().item()
        measured = about(f"19 {name}, {kind}", right, within=0.15)
        print(f"{name}, {kind} sentences: {measured:.0%}")


# %%
torch.manual_seed(0)
agreement = Agreement().to(device, exact)
optimizer = torch.optim.Adam(agreement.parameters(), lr=0.003)
for _ in range(200):
    some = torch.randint(len(train_ids), (64,))
    scores = agreement(train_ids[some].to(device))
    loss = nn.functional.cross_entropy(scores, train_answers[some].to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
test(agreement.cpu(), "good checkpoint")

# %% [markdown]
# Now the trained layers get the colleague's rotation, by neighbors. How much is left on easy sentences, and how much on
# hard ones? Guess.

# %% tags=["guess"]
for layer in agreement.bert.layers:
    layer.rotate = rotate_neighbors  # the colleague's code
test(agreement, "colleague's code")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# All names and shapes fit, because both conventions use the same matrices. A rotation of the wrong pairs is still a
# rotation: no number becomes infinite or suspiciously large. But queries and keys now meet at wrong angles. On hard
# sentences, where order decides, the model guesses. A test that only asks "does it load, and is the output finite?"
# finds nothing.
#
# </details>
#
# The bug is real. Meta's code for LLaMA rotates neighbors, and the one in `transformers` rotates halves ([issue
# 25199](https://github.com/huggingface/transformers/issues/25199)), so the converter reorders the rows of the query
# and key matrices. A mistake in such a reordering, in the converter of `llama.cpp`, made TinyLlama write gibberish
# ([issue 24](https://github.com/jzhang38/TinyLlama/issues/24)).
#
# ![The rows of one head with d = 8: in the order of halves, 0 to 7 from top to bottom, and in the order of neighbors, 0, 4, 1, 5, 2, 6, 3, 7.](pictures/19_rows_of_a_head.svg)
#
# ### Exercise 19.5 · From halves to neighbors
# ●●●○ · 15 minutes
#
# The checkpoint is right, and so is the colleague's code. They only number the pairs differently. Repair it **without
# touching the code**: write `for_neighbors(weight, num_heads)` for the matrix `qkv` of shape `[3 D, D]`. Its rows are
# all heads' queries, then all keys, then all values, head after head with d rows each. Return a matrix in which number
# k of each head's queries and keys has moved to 2k, and number k + d/2 to 2k + 1. Why can the values stay?


# %% tags=["exercise"]
def for_neighbors(weight, num_heads):
    ### BEGIN SOLUTION
    width = weight.size(1)
    parts = weight.view(3, num_heads, 2, -1, width)  # query, key, value; head; half; number
    turned = parts[:2].transpose(2, 3).reshape(2, -1, width)  # number, half: neighbors
    return torch.cat([turned.flatten(0, 1), weight[2 * turned.size(1) :]])
    ### END SOLUTION


check("19.5", for_neighbors)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `view` gives each level of the rows an axis: query/key/value, head, half, number within the half. Swapping the last
# two makes (number, half) of (half, number): number 0 of both halves, then number 1 of both. A score is a dot product,
# a sum over the d numbers, so their order doesn't matter as long as queries and keys have the same one. The values
# are not rotated, and the output projection expects them in their old order.
#
# </details>

# %% [markdown]
# The next cell repairs the checkpoint with two index lists instead, and measures again, with the colleague's code in
# both layers.

# %%
new_order = [number for k in range(8) for number in (k, k + 8)]  # d = 16: 0, 8, 1, 9, …
heads = [16 * head + torch.tensor(new_order) for head in range(4)]  # 2 · H
query_and_key = torch.cat(heads)
rows = torch.cat([query_and_key, torch.arange(64, 96)])  # the values stay
for layer in agreement.bert.layers:
    layer.qkv.weight.data = layer.qkv.weight.data[rows]
test(agreement, "rows reordered")

# %% [markdown]
# When you port a model, compare *numbers* with the reference, on a text of several tokens and with trained weights. A
# text of one token has a single attention weight, 1, in both conventions.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Rotary pairs | RoFormer (section 3.4.2) pairs neighbors. `transformers`, Flash Attention's default and this course use halves for ModernBERT. Angles are computed in float32 also in 16 bits: bfloat16 has no number between 256 and 258 |
# | θ | RoFormer calls the speeds θ and has no letter for the base. Warner et al.: 10,000 everywhere until 1.7 trillion tokens, then 160,000 in global layers (section 2.2.2). `transformers`: `global_rope_theta` and `local_rope_theta` in the published files, `rope_parameters` in newer ones |
# | Window | The paper says 128 tokens. The code of `transformers` hides what is farther than `local_attention // 2` = 64 on either side, so a token sees 129 |
# | GeGLU | Shazeer's equation 6. The paper gives the "GLU expansion" 2,304 for base: both halves together, so I = 1152 |
# | Initialization | The paper names Megatron's for base. 0.02/√(2L), truncated at two standard deviations, is what `transformers` draws |
# | Unpadding | The paper packs before the embeddings, for Flash Attention. Our `encode_unpadded` hides the other texts with a mask: no time saved |
# | Head | Dense without bias, GELU, norm, for masked words and for every task. The paper doesn't describe it |
#
# ## Summary
#
# - Rotary positions rotate queries and keys in each layer. The score depends on i − j only. No position is learned, so
#   no table ends. Distances that were never trained remain a problem.
# - GeGLU multiplies gelu of one half by the other half. With ⅔ of the inner size it has as many weights as BERT's.
# - Pre-norm, a norm at the end, no biases, and a smaller initialization of what is added to the stream.
# - Local layers see 64 tokens to each side and themselves. At 8192 tokens that saves almost half of the
#   multiplications, at 128 nearly nothing.
# - Unpadding computes N tokens instead of B · T. Positions begin anew in each text; offsets keep texts apart.
# - Halves and neighbors are the same model with its rows in another order. Mixed up, nothing fails but the accuracy.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(19)

# %% [markdown]
# ## Interview questions
#
# <!-- family-10 -->
# **1. Why does a rotary score depend only on the distance of two tokens?**
#
# <details><summary>Answer in half a minute</summary>
#
# A query at position i is rotated by i·φ, a key at j by j·φ, in each pair of numbers. Rotations keep lengths, and the
# dot product depends on lengths and on the angle between the two, which changes by (i − j)·φ. So (R\_i q)·(R\_j k) =
# q·(R\_{j−i} k). Different pairs have different speeds, and the sign counts.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Cut the query and key vectors of size d into d/2 pairs. Think of each pair as a vector in the plane, or as a complex
# number. A token at position m rotates its pair by the angle m·φ, with a speed φ that differs from pair to pair. Now
# take one pair. The rotation is a matrix R\_m with R\_m transposed times R\_n = R\_{n−m}, because rotating back by m
# and forward by n is rotating by n − m. So the score (R\_i q)ᵀ (R\_j k) = qᵀ R\_iᵀ R\_j k = qᵀ R\_{j−i} k. Only the
# difference is left; it is summed over all pairs.
#
# Three consequences. The direction counts: j − i and i − j give different rotations, so the model can tell before
# from after. If q equals k, one pair alone would be symmetric, since cosine is even; with different q and k it isn't.
# Second, lengths don't change, so nothing is added to the content, unlike with BERT's sum: values carry no position.
# Third, the same weights work at each offset, so what is learned at position 3 holds at position 300.
#
# The speeds are θ^(−2j/d): the first pair turns one radian a token and tells neighbours apart; the slowest turns once
# in 47,000 tokens (d = 64, θ = 10,000). The larger θ is, the slower: 10,000 in the first models, 160,000 in
# ModernBERT's global layers.
#
# An implementation detail that costs people a day: the original pairs neighbouring entries, most code pairs entry j
# with j + d/2. Both are correct, and weights trained with one are silently wrong with the other. Apply it to queries
# and keys after the projection, in each layer, and compute the angles in float32, since bfloat16 can't tell 256 from
# 257\.
#
# </details>
#
# <!-- family-11 -->
# **2. Does a model with rotary positions work on texts longer than those of its training?**
#
# <details><summary>Answer in half a minute</summary>
#
# It computes, but don't expect it to work well. No table ends, and a text that begins at a later position is no
# problem. But distances that never occurred in training give angles that nothing was trained on. People raise θ or
# stretch the angles and train on some long texts, as ModernBERT did, or use local attention, where no new distance
# occurs.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Separate two things that are called longer. A text at a later offset: positions 1,000 to 1,100. The scores depend on
# distances only, and these are known, so nothing changes, exactly. That is what absolute tables can't do. A text with
# more tokens: now there are pairs 5,000 apart, and in training 1,024 was the largest. The formula gives a number, but
# which?
#
# The fast pairs have made up to 163 full turns in training, so all their angles are familiar. The slow ones never
# completed a turn: at distance 5,000 they show angles that no query or key has seen. Attention then goes astray.
# Perplexity of such models explodes shortly beyond the training length, and in our chapter's toy task accuracy falls
# from 1.00 to 0.46.
#
# What do people do? Position interpolation: divide positions by four, so that 4,096 look like 1,024; neighbours come
# closer together, so some steps of training are needed. Raise θ: slows the slow pairs, keeps the fast ones nearly as
# they are. Mixed schemes such as YaRN treat pairs by speed. All of them want a little training with long texts.
# ModernBERT: 1.7 trillion tokens with 1,024, then θ of the global layers from 10,000 to 160,000, and 300 billion
# tokens with 8,192, the last 50 of them while the learning rate falls. Local layers keep 10,000, because their
# largest distance is 64. That is the third way: in a window no new distance occurs at all.
#
# How do I test it? Not with average loss, since most words depend on near context, but with a task whose answer needs
# a far token, at several lengths and positions. And I'd ask for the length of the texts in training, not only for the
# maximum in the config.
#
# </details>
#
# <!-- family-13 -->
# **3. Your texts have 30 tokens on average. What does ModernBERT's architecture give you over BERT's?**
#
# <details><summary>Answer in half a minute</summary>
#
# Of the efficiency changes only unpadding: in batches of mixed lengths some 40 % of the tokens are padding. Local
# attention saves nothing at 30 tokens, because hardly a pair is more than 64 apart, and the large θ and 8,192
# positions are idle. Quality may gain from rotary positions and GeGLU, and from newer data. Measure, with DeBERTaV3
# beside it.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Go through the list with T = 30. Local attention: the window covers 64 tokens on either side, so every pair of a
# 30-token text is inside. Saved: nothing. Even at 128 tokens it saves 1 % of the multiplications, at 512 7 %, at
# 8,192 almost half. The quadratic part itself is T / (4.25·D + T) in a global layer (T / (6·D + T) in BERT), under
# one percent at 30, so FlashAttention, which saves memory traffic and no arithmetic, gains little. Rotary positions
# to 8,192: not needed.
#
# Unpadding: texts with a mean of 30 have a tail, some with 90. In our sentiment data, batches of 32 as they come, 39
# % of the tokens were padding. Removing them makes a step up to 1.6 times as fast. But sorting by length gets most of
# that with any model. Depth: 22 layers instead of 12, and 1.3 times the multiplications for a token: the feed-forward
# networks are about equal, but there are 22 attention layers. For single short requests latency is launches of
# kernels, in proportion to layers, so ModernBERT can even be slower than BERT-Base at batch one. Tokenizer:
# byte-level BPE with 50,000 entries; measure the tokens per word on your texts, because fewer tokens are speed for
# free.
#
# Now quality. Rotary positions learned faster in our small runs. GeGLU gave T5 0.05 nats. Newer text: it knows words
# of after 2018 and code, BERT doesn't. That is data, not architecture, and for short messages with new vocabulary it
# may be the largest gain.
#
# So: three candidates, BERT-Base, ModernBERT-base, DeBERTaV3-base, five seeds each, on my task, with latency at my
# batch size beside it. On the same data DeBERTaV3 was better than ModernBERT in most tasks (arXiv 2504.08716), and
# slower. If a distilled 6-layer model is within half a point, that one wins.
#
# </details>
#
# ## Next
#
# All models so far read one language. What happens if one vocabulary and one model must serve a hundred?
# [20 · Many languages](20_many_languages.ipynb).
