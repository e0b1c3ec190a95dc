# %% [markdown]
# # 04 · The Transformer encoder
#
# You will build the layer that BERT repeats twelve times, and you will know what each of its parts is for,
# because you will have seen what happens without it.
#
# ## What you will be able to do
#
# - say what a residual connection, a LayerNorm and a feed-forward network each repair, and show it in a few lines;
# - tell post-norm from pre-norm in code, and explain the gradients and the warm-up that come with each;
# - write GELU in both of its forms, and say where they differ;
# - assemble the encoder layer and the stack, equal to `transformers` to five decimals;
# - explain what BERT left out of "Attention is all you need", and what that buys.
#
# **Time:** 60 minutes · **You need:** [03 · Self-attention](03_self_attention.ipynb) ·
# **Next:** [05 · The whole BERT](05_the_whole_bert.ipynb)
#
# ## Recall
#
# 1. What does one row of attention weights say, and what does it sum to?
#
# <details><summary>Answer</summary>
#
# How much one token takes from every token of its text. The numbers are positive and sum to 1, because softmax runs
# over the keys.
#
# </details>
#
# 2. A text has a single token. What is its attention weight, whatever the query and the key?
#
# <details><summary>Answer</summary>
#
# Exactly 1: there is nobody else to share with. What comes out is the token's own value vector, put through the
# output projection. Keep this in mind, it comes back below.
#
# </details>
#
# 3. What are the shapes of what goes into self-attention and of what comes out?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]` both times. Each vector is now a mixture of (projected) vectors of its text. And because the shape has
# not changed, you can do it again. And again.
#
# </details>
#
# ## Where the encoder sits
#
# Below, on the left, is the whole of BERT; on the right one encoder layer, opened. You have the embeddings (chapter
# 02) and the attention (chapter 03). What is new is blue: the lines that jump over a box, LayerNorm after each of
# them, and the feed-forward network. Dropout is new too, and too small to draw.

# %%
import math

import torch
from torch import nn
from bertedu import BertConfig
from bertedu.course import check, hint, quiz
from bertedu.model.attention import SelfAttention, padding_bias
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

# %%
figure = new_figure(6.6, 3.8)
axes = figure.subplots()
axes.set(xlim=(0, 9), ylim=(0.1, 7.9))
axes.axis("off")

def box(x, y, text, new):
    edge, fill = (BLUE, "#e3f0f8") if new else (GREY, "#f3f3f3")
    around = {"boxstyle": "round,pad=0.45", "facecolor": fill, "edgecolor": edge}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK, bbox=around)

def arrow(start, end, color=GREY, bend=0.0):
    style = {"arrowstyle": "->", "color": color, "linewidth": 1.4, "connectionstyle": f"arc3,rad={bend}"}
    axes.annotate("", end, start, arrowprops=style)
bert = ["token ids [B, T]", "embeddings (02)", "encoder layer 1", "encoder layer 2 … L", "heads (05)"]
norm, vectors = "add, LayerNorm", "vectors [B, T, D]"
layer = [vectors, "self-attention (03)", norm, "feed-forward", norm, vectors]
for x, texts, gap in ((1.8, bert, 1.7), (6.6, layer, 1.38)):
    for level, text in enumerate(texts):
        box(x, 0.6 + gap * level, text, new=text.startswith(("encoder", "add", "feed")))
        if level:
            arrow((x, 0.6 + gap * (level - 1) + 0.36), (x, 0.6 + gap * level - 0.36))
for level in (0, 2):
    arrow((7.42, 0.7 + 1.38 * level), (7.42, 0.5 + 1.38 * (level + 2)), BLUE, bend=0.6)
Picture(figure, alt="Left, BERT: token ids, embeddings, encoder layers 1 to L, heads. Right, one encoder layer: "
        "self-attention, add and LayerNorm, feed-forward, add and LayerNorm; a line jumps over each of the two boxes.")

# %% [markdown]
# ## Attention alone: everybody becomes the same
#
# Attention keeps the shape, so the simplest deep model is attention twelve times over. Let us build that, and watch
# one thing: how alike the tokens of a text are. We take eight random vectors, which in 64 dimensions point in very
# different directions, and measure the mean cosine between pairs of them: near 0 for strangers, 1 for twins.
#
# The weights start as wide as in BERT-Base, counted by what they do: there 0.02 on sums over D = 768, here the same
# effect on sums over D = 64.
#
# Guess before you run the second cell. The tokens start with a mean cosine near 0. After **two** layers of attention,
# is it near 0.1, near 0.5, or above 0.9? And what is left of the size of their entries, 1 at the start, after twelve?

# %%
B, T, D, H, L = 1, 8, 64, 4, 12
sizes = {"hidden_size": D, "num_attention_heads": H, "num_hidden_layers": L, "intermediate_size": 4 * D}
config = BertConfig(vocab_size=100, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **sizes)
torch.manual_seed(0)
tokens = torch.randn(B, T, D)  # eight strangers

def start_like_base(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.02 * math.sqrt(768 / D))
            nn.init.zeros_(part.bias)
    return module

def alike(x):  # [B, T, D] -> the mean cosine between two different tokens
    x = x / x.norm(dim=-1, keepdim=True)
    cosines = x @ x.mT  # [B, T, T], ones on the diagonal
    return ((cosines.sum() - x.size(0) * x.size(1)) / (x.size(0) * x.size(1) * (x.size(1) - 1))).item()

# %%
attentions = nn.ModuleList(start_like_base(SelfAttention(config)) for _ in range(L))
x = tokens  # [B, T, D]
with torch.no_grad():
    for depth, attention in enumerate(attentions, start=1):
        x = attention(x)[0]  # [B, T, D]
        if depth in (1, 2, 4, 12):
            print(f"after {depth:2} layers: mean cosine {alike(x):.2f}, size of an entry {x.std():.0e}")

# %% [markdown]
# Eight strangers have become one and the same vector, and a vector of almost nothing.
#
# Both have a simple cause. Each token leaves attention as a *weighted mean* of the values. Means are closer together
# than what they are made of, so means of means of means agree on everything. And unlike vectors partly cancel in a mean;
# small starting weights shorten what is left, layer after layer. Dong, Cordonnier and Loukas (2021) proved that
# attention alone loses what tells the tokens apart doubly exponentially fast in the number of layers. Their title:
# "Attention is not all you need".
#
# ## The residual connection
#
# The repair is one plus sign. A layer does not *replace* the vectors, it *adds* to them:
#
# $$x \leftarrow x + f(x)$$
#
# He et al. (2015) made networks of 152 layers trainable with it. The vector that runs through all layers is often
# called the **residual stream**: every part of the model reads from it and writes a correction back.
#
# The plus sign does as much on the way back. Take layers of one number, each of them $f(x) = 0.1\,x$: a layer that
# has not learned much yet. How much of the gradient at the top arrives at the bottom of ten such layers? Try it with
# the pencil, without the plus and with it: one layer multiplies the gradient by its derivative.

# %%
x = tokens  # [B, T, D]
with torch.no_grad():
    for depth, attention in enumerate(attentions, start=1):
        x = x + attention(x)[0]  # [B, T, D]: the only change
        if depth in (1, 2, 4, 12):
            print(f"after {depth:2} layers: mean cosine {alike(x):.2f}, size of an entry {x.std():.1f}")

# %%
for name, keep in (("plain", 0), ("residual", 1)):
    start = x = torch.tensor(1.0, requires_grad=True)
    for _ in range(10):
        x = keep * x + 0.1 * x
    x.backward()
    print(f"{name:8}: {start.grad.item():.1e}")

# %% [markdown]
# The same attention, the same weights, and the tokens are still themselves.
#
# And the gradient: without the plus, a tenth of a tenth of a tenth … With it the derivative of every layer is
# $1 + 0.1$, and there is always one path, the ones alone, on which the gradient comes back undiminished.
#
# ### Exercise 4.1 · The gradient's way back
# ●○○○ · 3 minutes
#
# Now **three** layers, each with $f(x) = 0.5\,x$. What is the derivative of what leaves the third with respect to
# what entered the first? Give two numbers in a list: without residual connections first, then with one around each
# layer. Use the pencil, not the computer.

# %% tags=["exercise"]
### BEGIN SOLUTION
derivatives = [0.125, 3.375]
### END SOLUTION
check("4.1", derivatives)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Layers in a row multiply. Without residuals: 0.5 · 0.5 · 0.5 = 0.125. With them each layer is x + 0.5 x, so its
# derivative is 1.5, and 1.5³ = 3.375. Multiplied out, (1 + 0.5)³ is the sum over all the paths that a gradient can
# take, through a layer or around it: one path around all three, three through one layer, three through two, one
# through all.
#
# </details>

# %% [markdown]
# ## LayerNorm, and where to put it
#
# Adding has a price: the stream grows. Above it grew little, because the weights were small; in training they grow. Say
# that every sublayer adds something independent of size 1. Variances add up. There are two sublayers in each of
# BERT-Base's 12 layers, so after 24 additions the entries have a size of …? Guess, then run.

# %%
torch.manual_seed(0)
added = normalised = torch.randn(1000, D)  # 1000 tokens
for _ in range(24):
    update = torch.randn(1000, D)
    added = added + update
    normalised = nn.functional.layer_norm(normalised + update, (D,))  # mean 0, variance 1 in each row
print(f"added up: {added.std():.1f}    normalised after each addition: {normalised.std():.1f}")

# %% [markdown]
# $\sqrt{1 + 24} = 5$. A sublayer near the top would have to shout to change anything. LayerNorm (Ba et al. 2016; you
# wrote it in chapter 02) brings each token back to mean 0 and variance 1, and there are two places for it. The cell
# below has both. Before you run it, take the pencil: a token `[1, 3]`, a sublayer that doubles what it gets. LayerNorm
# of two numbers is easy: the smaller becomes −1, the larger 1. What comes out of each?

# %%
def post_norm(x, sublayer, norm):
    return norm(x + sublayer(x))  # Vaswani et al. 2017, and BERT

def pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))  # GPT-2, and most models since

x = torch.tensor([[1.0, 3.0]])  # one token, D = 2
norm = nn.LayerNorm(2)
for arrange in (post_norm, pre_norm):
    print(arrange.__name__, arrange(x, lambda x: 2 * x, norm).detach().round(decimals=2).tolist())

# %% [markdown]
# Post-norm puts the *stream itself* through the norm: `[1, 3] + [2, 6] = [3, 9]`, normalised. Pre-norm normalises
# only what the sublayer reads and leaves the stream alone: `[1, 3] + 2 · [−1, 1]`. It still grows, so a pre-norm
# model needs one more LayerNorm at the very end.
#
# One word moved, and the training is another one. Let us measure the gradient that each layer's weights get in the
# very first step. We stack `depth` layers of attention and feed-forward both ways, from the same start. (The
# `feed_forward` here is the package's; you build it in a moment.) Guess before you look at the figure: in which of
# the two is the gradient of the **last** layer larger, and what does depth do to it?

# %%
from bertedu.model.encoder import Encoder, EncoderLayer

def through_stack(arrange, layers, x):  # [B, T, D] -> [B, T, D]
    for layer in layers:
        x = arrange(x, lambda x: layer.attention(x)[0], layer.attention_norm)
        x = arrange(x, layer.feed_forward, layer.feed_forward_norm)
    return nn.functional.layer_norm(x, (D,)) if arrange is pre_norm else x

def gradient_norms(arrange, depth):
    torch.manual_seed(0)
    layers = start_like_base(nn.ModuleList(EncoderLayer(config) for _ in range(depth)))
    x = through_stack(arrange, layers, torch.randn(4, 16, D))  # [B, T, D]
    targets = torch.randint(0, D, (4 * 16,))
    nn.functional.cross_entropy(x.flatten(0, 1), targets).backward()
    return [torch.stack([p.grad.norm() for p in layer.parameters()]).norm().item() for layer in layers]

# %%
depths = [3, 6, 12, 24]
last = {arrange: [gradient_norms(arrange, depth)[-1] for depth in depths] for arrange in (post_norm, pre_norm)}
figure = new_figure(7.4, 2.9)
by_layer, by_depth = figure.subplots(1, 2)
for arrange, color in ((post_norm, ORANGE), (pre_norm, BLUE)):
    name, norms = arrange.__name__.replace("_", "-"), gradient_norms(arrange, 24)
    by_layer.plot(range(1, 25), norms, color=color)
    by_layer.text(24.5, norms[-1], name, color=color, va="center")
    by_depth.plot(depths, last[arrange], "o-", color=color)
    by_depth.text(25, last[arrange][-1], name, color=color, va="center")
by_layer.set(xlabel="layer of a stack of 24", ylabel="gradient norm of its weights", ylim=(0, None), xlim=(1, 32))
by_depth.set(xlabel="depth L of the stack", ylabel="… of the last layer's weights", ylim=(0, None), xlim=(0, 32))
by_depth.set_xticks(depths)
for axes in (by_layer, by_depth):
    quiet(axes)
for arrange, norms in last.items():
    print(f"{arrange.__name__:9}: last layer's gradient at L = 24 is {norms[-1] / norms[0]:.1f} times that at L = 3")
Picture(figure, alt="Gradient norms. Left, layer by layer in a stack of 24: post-norm stays a little above 1, pre-norm "
        "falls from above 1 to 0.5. Right, the last layer of stacks of 3 to 24: post-norm stays near 1, pre-norm falls.")

# %% [markdown]
# However deep the stack, post-norm gives its last layer the full gradient; pre-norm gives it less the deeper it is.
# The pencil says why: by then the pre-norm stream has grown, its final LayerNorm divides by that size, and what is
# divided on the way up is divided on the way down.
#
# Xiong et al. (2020) proved this for the first step: the last layers' gradients do not shrink with depth in post-norm,
# and shrink like $1/\sqrt{L}$ in pre-norm. Do large gradients matter? Let us train both, twelve layers deep, on a task
# for a child: a row of eight letters goes in, and each place has to name the letter on its left. There are ten letters,
# so guessing costs $\ln 10 = 2.3$. The learning rate is high, 0.005. **Warm-up** means that it climbs there from zero in
# the first steps. Guess which of the three runs learns nothing.

# %%
def loss_after_training(arrange, warmup):
    torch.manual_seed(0)
    letters, places, answer = nn.Embedding(10, D), nn.Embedding(T, D), nn.Linear(D, 10)
    layers = start_like_base(nn.ModuleList(EncoderLayer(config) for _ in range(L)))
    optimizer = torch.optim.Adam(nn.ModuleList([letters, places, answer, layers]).parameters())
    for step in range(1, 101):
        optimizer.param_groups[0]["lr"] = 0.005 * min(1, step / warmup)
        ids = torch.randint(0, 10, (32, T))  # [B, T]
        x = through_stack(arrange, layers, letters(ids) + places.weight)  # [B, T, D]
        loss = nn.functional.cross_entropy(answer(x).flatten(0, 1), ids.roll(1, dims=1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

for arrange, warmup in ((post_norm, 1), (post_norm, 80), (pre_norm, 1)):
    learned = loss_after_training(arrange, warmup) < 2
    print(f"{arrange.__name__:9} with {warmup:2} steps of warm-up: better than guessing is {learned}")

# %% [markdown]
# The same layers, the same start, the same data: without warm-up the post-norm stack is thrown off course in its first
# steps and still guesses after a hundred. A gentle start saves it; pre-norm did not need one.
#
# BERT is **post-norm**, as the Transformer of 2017 was, and pays for it with a learning rate that climbs for its first
# 10,000 steps (Devlin et al. 2019, appendix A.2).
#
# ## What attention cannot compute
#
# Attention moves information *between* tokens. What can it do with the information *in* a token? You know the answer
# from the recall: where a token looks only at itself its weight is 1, and what is left of attention is two linear
# maps in a row. So here is a question that a linear map cannot answer. A token has two features, *is a bank* and
# *is near water*, and we want a third: **exactly one of the two**.

# %%
features = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])  # four tokens, D = 2
wanted = torch.tensor([[0.0], [1], [1], [0]])
with_bias = torch.cat([features, torch.ones(4, 1)], dim=1)
best = torch.linalg.lstsq(with_bias, wanted).solution  # the linear map with the least squared error
print("wanted:     ", wanted.flatten().tolist())
print("best linear:", [round(value, 2) for value in (with_bias @ best).flatten().tolist()])

# %% [markdown]
# The best line says "half" to everybody. Two linear layers in a row would say the same, because they are one linear
# layer. What is needed stands *between* them: something that is not linear, for example $\mathrm{relu}(z) = \max(0, z)$.
# Check these weights with the pencil, for each of the four tokens: two inner numbers, $\mathrm{relu}(a + b)$ and
# $\mathrm{relu}(a + b - 1)$; the answer is the first minus twice the second.

# %%
expand = torch.tensor([[1.0, 1.0], [1.0, 1.0]])  # [D, inner]: both inner numbers see a + b
inner = torch.relu(features @ expand + torch.tensor([0.0, -1.0]))  # [4, inner]
shrink = torch.tensor([[1.0], [-2.0]])  # [inner, 1]
print("inner: ", inner.tolist())
print("answer:", (inner @ shrink).flatten().tolist())

# %% [markdown]
# That is BERT's **feed-forward network**: expand each vector to four times its length, bend, shrink it back. Every
# inner number asks a question about one vector ("is a + b above 1?"); where the answer is yes, a column of the second
# matrix is added to the stream. Geva et al. (2021) read such questions out of a trained language model: those of
# lower layers are about wording, those of upper layers about meaning.
#
# The Transformer's paper calls it *position-wise*: the same small network on each token alone. In the second cell we
# change token 3 of a text. Which rows of the output move, after the feed-forward network and after attention? Write
# down two rows of eight crosses and dots first.

# %%
class MyFeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.expand = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = nn.GELU()  # instead of relu: the next section
        self.shrink = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, hidden_states):  # [B, T, D]
        inner = self.activation(self.expand(hidden_states))  # [B, T, 4 D]
        return self.shrink(inner)  # [B, T, D]

# %%
torch.manual_seed(0)
changed = tokens.clone()
changed[:, 3] += 1.0
feed_forward, attention = MyFeedForward(config), SelfAttention(config)

def moved(function):  # which tokens come out differently: [T] crosses and dots
    difference = (function(tokens) - function(changed)).abs().amax(dim=-1)[0]  # [T]
    return " ".join("x" if value > 1e-6 else "." for value in difference.tolist())

print("feed-forward:", moved(feed_forward))
print("attention:   ", moved(lambda x: attention(x)[0]))

# %% [markdown]
# A division of labour: attention carries between tokens, the feed-forward network thinks about each. Which of the
# two has more of a layer's weights in BERT-Base? Guess the feed-forward network's share.

# %%
base = EncoderLayer(BertConfig.preset("base"))
whole = sum(p.numel() for p in base.parameters())
for name, part in base.named_children():
    count = sum(p.numel() for p in part.parameters())
    print(f"{name:18} {count:9,}  {count / whole:4.0%}")
print(f"{'one layer':18} {whole:9,}   twelve: {12 * whole:,}")

# %% [markdown]
# Two thirds of every layer: $2 \cdot 4D^2$ weights against the $4 D^2$ of attention's four matrices. In chapter 05 you
# will count the whole model.
#
# ## GELU: how sure is this number?
#
# relu has a corner. Below zero it passes nothing, and no gradient either: an inner number that is negative for every
# token never learns again. BERT uses a smooth relative, the **Gaussian error linear unit** of Hendrycks and Gimpel
# (2016):
#
# $$\mathrm{GELU}(x) = x \cdot \Phi(x)$$
#
# where $\Phi(x)$ is the probability that a standard normal number falls below $x$. Large x: $\Phi$ is 1, x passes.
# Very negative x: $\Phi$ is 0, nothing passes. Between, each x passes as far as it stands out from the crowd. From a
# table of the normal distribution: $\Phi(1) = 0.84$. So what are GELU(1) and GELU(−1)?

# %%
torch.manual_seed(0)
crowd = torch.randn(1_000_000)  # a million standard normal numbers
for x in (-1.0, 0.0, 1.0, 3.0):
    below = (crowd < x).double().mean().item()  # Φ(x), counted
    gelu = nn.functional.gelu(torch.tensor(x)).item()
    print(f"x = {x:4}:  share below x {below:.2f},  x times it {x * below:5.2f},  torch's gelu {gelu:5.2f}")

# %% [markdown]
# GELU(−1) = −1 · 0.16: a little of the negative passes too, with its gradient.
#
# Nobody counts a million numbers. $\Phi$ can be had from the error function, which every library knows. For those who
# would rather be fast than exact, the paper also gives a formula with tanh that comes close:
#
# $$\Phi(x) = \tfrac12 \left(1 + \mathrm{erf}\frac{x}{\sqrt2}\right)
# \qquad\quad \Phi(x) \approx \tfrac12 \left(1 + \tanh\left(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right)\right)$$
#
# ### Exercise 4.2 · GELU, twice
# ●●○○ · 8 minutes
#
# Write `gelu(x, tanh=False)` for a tensor `x` of any shape: the exact form, or the one with tanh when asked.
# You need `torch.erf` and `torch.tanh`. Stuck? `hint("4.2")`

# %% tags=["exercise"]
def gelu(x, tanh=False):
    ### BEGIN SOLUTION
    if tanh:
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    ### END SOLUTION

check("4.2", gelu)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Both are x times Φ(x), and they differ in how they get Φ. erf is the integral of another bell curve, one with
# variance ½, hence the division by √2. The tanh form is a fit: √(2/π) gives it the right slope at 0, and the cubic
# part with its 0.044715 keeps it close further out.
#
# </details>

# %% [markdown]
# How close is close? In the figure the three activations on the left, and on the right what separates the two forms
# of GELU, a thousand times enlarged.

# %%
x = torch.linspace(-5, 5, 401)
exact, fitted = nn.functional.gelu(x), nn.functional.gelu(x, approximate="tanh")
figure = new_figure(7.4, 2.7)
curves, error = figure.subplots(1, 2)
curves.plot(x, torch.relu(x), color=GREY)
curves.plot(x, exact, color=BLUE)
curves.text(1.2, 2.3, "relu", color=GREY, ha="right")
curves.text(-1.6, -0.55, "GELU", color=BLUE, ha="right")
curves.set(xlim=(-4, 3), ylim=(-0.8, 3), xlabel="x")
error.plot(x, 1000 * (fitted - exact), color=ORANGE)
error.set(xlabel="x", ylabel="1000 · (tanh form − exact)")
for axes in (curves, error):
    quiet(axes)
largest = (fitted - exact).abs().max().item()
Picture(figure, alt="Left: relu with its corner at 0; GELU runs smoothly below it and dips to -0.17 near x = -0.75. "
        f"Right: the difference of GELU's two forms, two waves on each side of 0, never above {largest:.4f}.")

# %% [markdown]
# Less than 0.0005 in one activation. It is enough to fail a comparison to five decimals, and you will meet that
# comparison below. The name of the exact form in a `config.json` is `"gelu"`, of the tanh form `"gelu_new"`.
#
# ## Dropout: learning with parts missing
#
# A network as large as this one can lean on a single number that happened to be right in training. Dropout
# (Srivastava et al. 2014) takes that comfort away: in training every number is set to 0 with probability p. In
# evaluation nothing is dropped.
#
# Then the next layer would get less in training than in evaluation: with p = 0.1 only nine tenths. So what survives
# is divided by $1 - p$. Guess: dropout with p = 0.1 on a row of ones. Which values can come out?

# %%
torch.manual_seed(0)
dropout = nn.Dropout(0.1)
ones = torch.ones(100_000)
dropped = dropout(ones)
print("training:  ", [f"{value:.2f}" for value in dropped.unique().tolist()], f"mean {dropped.mean():.2f}")
dropout.eval()
print("evaluation:", dropout(ones).unique().tolist())

# %% [markdown]
# BERT drops in three kinds of places, each time with p = 0.1:
#
# | where | what is dropped |
# |---|---|
# | after the embeddings' LayerNorm | numbers of the first vectors |
# | on the attention weights, after softmax | whole looks from one token at another |
# | on what each sublayer returns, **before** it is added | numbers of the update, never of the stream itself |
#
# ## The layer
#
# You have all the parts. In words: attention; add and normalise; feed-forward; add and normalise.
#
# ### Exercise 4.3 · The layer
# ●●○○ · 10 minutes
#
# Write one BERT encoder layer as a function, without dropout. `attention`, `feed_forward` and the two norms are
# functions from `[B, T, D]` to `[B, T, D]`; return `[B, T, D]`. BERT is post-norm.

# %% tags=["exercise"]
def encoder_layer(x, attention, attention_norm, feed_forward, feed_forward_norm):
    ### BEGIN SOLUTION
    x = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(x))
    ### END SOLUTION

check("4.3", encoder_layer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Two lines of one pattern, norm(x + sublayer(x)). The second line works with the x that the first has made: the
# feed-forward network reads it, and its residual connection carries it. Adding the very first x there would throw
# the first normalisation away.
#
# </details>

# %% [markdown]
# The same as a class, with dropout and with a padding bias for the attention. The names of the parts are those of
# the package's `EncoderLayer`, so that weights can move from one to the other.

# %%
class MyEncoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = SelfAttention(config)  # your work of chapter 03
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.feed_forward = MyFeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states, bias=None):  # [B, T, D], [B, 1, 1, T]
        mixed, _ = self.attention(hidden_states, bias)  # [B, T, D]
        hidden_states = self.attention_norm(hidden_states + self.dropout(mixed))  # [B, T, D]
        changed = self.feed_forward(hidden_states)  # [B, T, D]
        return self.feed_forward_norm(hidden_states + self.dropout(changed))  # [B, T, D]

# %% [markdown]
# ## The stack
#
# An encoder is L such layers in a row. What could go wrong with "L layers in a row"? More than with anything else in
# this chapter. Three ways to write it, which all run and all return the right shape. How many weights does each have?

# %%
stacks = {
    "a list of L layers": [MyEncoderLayer(config) for _ in range(L)],
    "ModuleList([layer] * L)": nn.ModuleList([MyEncoderLayer(config)] * L),
    "ModuleList of L layers": nn.ModuleList(MyEncoderLayer(config) for _ in range(L)),
}
for name, layers in stacks.items():
    holder = nn.Module()
    holder.layers = layers
    print(f"{name:24} {sum(p.numel() for p in holder.parameters()):9,} weights")

# %% [markdown]
# A plain list hides its layers: the optimizer never hears of them, `.eval()` and `.to("cuda")` pass them by. The
# second is *one* layer that is run twelve times; every step trains it, twelve times over. (ALBERT, Lan et al. 2020,
# does that on purpose.) Only the third is a BERT.
#
# ### Exercise 4.4 · The stack
# ●●●○ · 12 minutes
#
# Write the class `Stack`: L of the package's `EncoderLayer(config)`, L being `config.num_hidden_layers`. Its `forward`
# returns **all** hidden states as a list of L + 1 tensors `[B, T, D]`: what came in, then what each layer made. A
# layer is called as `layer(hidden_states, bias)` and returns two things, the new vectors and its attention weights.

# %% tags=["exercise"]
class Stack(nn.Module):
    def __init__(self, config):
        ### BEGIN SOLUTION
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_hidden_layers))
        ### END SOLUTION

    def forward(self, hidden_states, bias=None):
        ### BEGIN SOLUTION
        all_hidden_states = [hidden_states]
        for layer in self.layers:
            hidden_states, _ = layer(hidden_states, bias)
            all_hidden_states.append(hidden_states)
        return all_hidden_states
        ### END SOLUTION

check("4.4", Stack)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The comprehension calls EncoderLayer(config) anew for each layer, so each draws its own weights; ModuleList tells
# torch that they belong to the stack. In forward, hidden_states is replaced in each round, and each layer reads what
# the one before has written. Chapter 05 reads the list's last entry; probing and pooling later read the others.
#
# </details>

# %% [markdown]
# We go on with the package's `Encoder`, which also collects the attention weights when asked. Put through it, do our
# eight strangers stay apart?

# %%
torch.manual_seed(0)
encoder = start_like_base(Encoder(config))
with torch.no_grad():
    hidden_states, _ = encoder(tokens)  # L + 1 times [B, T, D]
for depth in (0, 1, 2, 4, 12):
    x = hidden_states[depth]
    print(f"after {depth:2} layers: mean cosine {alike(x):.2f}, size of an entry {x.std():.2f}")

# %% [markdown]
# After twelve full layers the tokens are still different, and the numbers as large as at the start. Attention alone
# had lost both.
#
# ## Encoder-only: what BERT left out
#
# The Transformer of "Attention is all you need" translates. An *encoder* reads the German sentence, a *decoder*
# writes the English one, word by word, and must not see the words it has not written: a causal mask hides them.
# BERT writes nothing. It keeps the encoder and drops the rest.
#
# What does that buy? We change the **last** token of a text and see which vectors notice, in one layer without and
# one with the causal mask. Guess both rows. The cell after it asks what an encoder knows of word order: do the tokens,
# shuffled, get other vectors?

# %%
changed = tokens.clone()
changed[:, -1] += 1.0
causal = torch.full((T, T), -torch.inf).triu(diagonal=1)  # [T, T]: -inf to the right of each token

layer = encoder.layers[0]
print("encoder, no mask: ", moved(lambda x: layer(x)[0]))
print("decoder, causal:  ", moved(lambda x: layer(x, causal)[0]))

# %%
torch.manual_seed(1)
order = torch.randperm(T)
with torch.no_grad():
    shuffled_first = encoder(tokens[:, order])[0][-1]  # [B, T, D]
    shuffled_after = encoder(tokens)[0][-1][:, order]  # [B, T, D]
print("shuffling before or after is the same:", (shuffled_first - shuffled_after).abs().max().item() < 1e-5)

# %% [markdown]
# In the encoder every token knows the last word: "bank" can learn from "river" three words later. In a decoder only
# the last position does. That is the B in BERT, *bidirectional*. Its price: such a model cannot be trained to guess
# the next word, because it sees it. It needs another task: to fill in words that were taken out.
#
# And order? The encoder knows nothing of it: no part of a layer looks at where a token stands. All that BERT knows of
# word order comes from the position embeddings of chapter 02.
#
# | | Transformer (base), 2017 | BERT-Base, 2018 |
# |---|---|---|
# | made of | 6 encoder and 6 decoder layers | 12 encoder layers |
# | attention | self, causal self, and decoder to encoder | self |
# | D, inner size, H | 512, 2048, 8 | 768, 3072, 12 |
# | activation | relu | GELU |
# | positions | sines and cosines, fixed | learned |
# | norm | post-norm | post-norm |
# | trained on | pairs of sentences, to translate | plain text, to fill in and to pair |
#
# ## The proof
#
# A BERT of `transformers`, its weights shaken so that no bias is zero and no LayerNorm the identity, on a batch with
# padding. We give its weights to your layers and to the package's, and compare all L + 1 hidden states, padding
# included. To see that the comparison would notice, we then change the activation of your layers to the tanh form.

# %%
import transformers

from bertedu.checkpoints.names import from_transformers

torch.manual_seed(0)
theirs = transformers.BertModel(transformers.BertConfig(vocab_size=100, **sizes)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))

input_ids = torch.randint(5, 100, (2, T))  # [B, T]
attention_mask = torch.tensor([[1] * T, [1] * 5 + [0] * (T - 5)])  # the second text has three tokens of padding
with torch.no_grad():
    expected = theirs(input_ids, attention_mask, output_hidden_states=True).hidden_states  # L + 1 times [B, T, D]

weights = {from_transformers(name): value for name, value in theirs.encoder.state_dict(prefix="encoder.").items()}
mine, package = nn.Module(), nn.Module()
mine.encoder, package.encoder = nn.Module(), Encoder(config)
mine.encoder.layers = nn.ModuleList(MyEncoderLayer(config) for _ in range(L))
for model in (mine, package):
    model.load_state_dict(weights)  # strict: a name too many or too few would be an error
    model.eval()

# %%
bias = padding_bias(attention_mask, torch.float32)  # [B, 1, 1, T]

@torch.no_grad()
def through(layers):  # the hidden states of one model after another: L + 1 times [B, T, D]
    states = [expected[0]]
    for layer in layers:
        states.append(layer(states[-1], bias))
    return states

ours, packaged = through(mine.encoder.layers), package.encoder(expected[0], bias)[0]
for layer in mine.encoder.layers:
    layer.feed_forward.activation = nn.GELU(approximate="tanh")  # does the comparison notice?
rows = {"yours": ours, "the package's": packaged, "yours, tanh form": through(mine.encoder.layers)}
for name, states in rows.items():
    difference = max((one - other).abs().max().item() for one, other in zip(states, expected, strict=True))
    print(f"{name:16} against transformers, {len(states)} hidden states: below 1e-5 is {difference < 1e-5}")

# %% [markdown]
# ## Broken BERT: two answers to one question
#
# A colleague has made the layer shorter: dropout is written where it happens, and needs no module of its own. The
# model trains well. But the scores on the test set are a little worse than they should be, and never twice the same,
# although the colleague swears that `model.eval()` is called. It is:

# %%
from torch.nn.functional import dropout as drop

class ShorterLayer(EncoderLayer):
    def forward(self, hidden_states, bias=None):  # [B, T, D], [B, 1, 1, T]
        mixed, _ = self.attention(hidden_states, bias)
        hidden_states = self.attention_norm(hidden_states + drop(mixed, 0.1))
        changed = self.feed_forward(hidden_states)
        return self.feed_forward_norm(hidden_states + drop(changed, 0.1))

torch.manual_seed(0)
broken = start_like_base(nn.Sequential(*(ShorterLayer(config) for _ in range(L))))
broken.eval()
with torch.no_grad():
    once, again = broken(tokens), broken(tokens)
print("the same text twice, the same vectors:", torch.equal(once, again))
print(f"largest difference: above 0.5 is {(once - again).abs().max().item() > 0.5}")

# %% [markdown]
# Look for it before you read on: what does `eval()` do, and who listens?
#
# <details><summary>A first clue</summary>
#
# `eval()` walks through the *modules* inside the model and sets `training = False` on each. Is there a module here
# that drops something?
#
# </details>
#
# ### Exercise 4.5 · Dropout that knows when to stop
# ●●●○ · 10 minutes
#
# Write `RepairedLayer`: in training it drops from both updates, at the rate that the config says
# (`config.hidden_dropout_prob`; `EncoderLayer` keeps it in `self.dropout`); after `eval()` it drops nothing.

# %% tags=["exercise"]
class RepairedLayer(EncoderLayer):
    def forward(self, hidden_states, bias=None):
        ### BEGIN SOLUTION
        mixed, _ = self.attention(hidden_states, bias)
        hidden_states = self.attention_norm(hidden_states + self.dropout(mixed))
        changed = self.feed_forward(hidden_states)
        return self.feed_forward_norm(hidden_states + self.dropout(changed))
        ### END SOLUTION

check("4.5", RepairedLayer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `torch.nn.functional.dropout` is a function: it drops unless it is told `training=False`, and nobody told it. The
# module `self.dropout` is reached by `eval()` and knows the rate. `drop(mixed, self.dropout.p, self.training)` is
# right as well. `nn.Dropout(0.1)(mixed)` in `forward` is not: a module made anew has never heard of the `eval()`
# before it.
#
# </details>

# %% [markdown]
# This bug is at home in good houses. nanoGPT handed its dropout rate to `scaled_dot_product_attention` in evaluation
# too, until pull request 240 in April 2023; that function always drops what it is told. Two habits find it early:
# send one input through an evaluated model twice and compare, and never write a dropout function without `training=`.
#
# ## Paper and code
#
# | | paper | Google's code | `transformers` | this course |
# |---|---|---|---|---|
# | norm | post-norm (through Vaswani et al.) | post-norm | post-norm | post-norm |
# | GELU | cites Hendrycks and Gimpel, names no form | the tanh form; the first release had erf | `"gelu"`: exact | as in `config.json`, exact by default |
# | epsilon of LayerNorm | not told | 1e-12, the default of `tf.contrib` | 1e-12 | 1e-12 |
# | dropout on a sublayer | 0.1 "on all layers" | 0.1, before adding | 0.1, before adding | 0.1, before adding |
# | inner size | 4 D | `intermediate_size` | `intermediate_size` | `intermediate_size` |
# | names | – | `intermediate`, `output` | `intermediate`, `output` | `expand`, `shrink` |
#
# Three notes. *Norm*: larger BERTs did move it. Megatron-LM (Shoeybi et al. 2019) found its place critical for models
# beyond BERT-Large. *GELU*: a checkpoint does not tell which form it was trained with except
# through `hidden_act`, and with the wrong one it still works, a little worse and without a word. *Epsilon*: torch's
# own default is 1e-5; a checkpoint loaded into layers with that default is a little off. And 1e-12 is so small that
# float16 rounds it to 0: LayerNorm by hand in float16 makes 0 / 0 of a token whose entries are all equal.
#
# One more surprise, in torch's own encoder: `nn.TransformerEncoder(layer, L)` copies the layer that it is given, so
# all L layers start from the same numbers. Its documentation warns of it.
#
# ## Summary
#
# - **Residual**: a layer adds to the stream. Without it tokens become alike within two layers, and gradients vanish.
# - **LayerNorm** keeps the stream in bounds. Post-norm (BERT) normalises the stream and gives the last layers large
#   first gradients, hence the warm-up; pre-norm normalises what a sublayer reads.
# - **Feed-forward**: expand, bend, shrink, on each token alone. Two thirds of a layer's weights.
# - **GELU** is x times the probability that a normal number lies below x; the tanh form differs by less than 0.0005.
# - **Dropout** falls on updates, never on the stream, and only in training.
# - **Encoder-only**: no causal mask, so every token sees both sides; no sense of order without position embeddings.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(4)

# %% [markdown]
# ## Interview questions
#
# 1. What are post-norm and pre-norm, which one does BERT use, and why does it matter for training?
#
# <details><summary>Answer</summary>
#
# Post-norm is norm(x + f(x)), pre-norm x + f(norm(x)) with one more norm at the end. BERT, like the first Transformer,
# is post-norm. At the start the gradients of a post-norm model's last layers are large whatever the depth, so it needs
# a learning-rate warm-up; in pre-norm they shrink like 1/√L and there is a path around all the norms, so deep models
# train more easily, also without warm-up (Xiong et al. 2020). The evidence is the figure of gradient norms above.
#
# </details>
#
# 2. Why does a Transformer need the feed-forward network, and why is it so large?
#
# <details><summary>Answer</summary>
#
# Attention mixes values linearly, with weights that sum to 1; a token that looks at itself alone gets a linear map.
# The feed-forward network brings the non-linearity, on each token alone: exclusive or is the smallest thing that
# needs it. With an inner size of 4D it has 8D² weights against attention's 4D², two thirds of the layer, and much of
# what the model knows is stored there: inner units act as keys, the columns of the second matrix as values.
#
# </details>
#
# 3. A fine-tuned BERT gives slightly different predictions for the same input each time. What do you check?
#
# <details><summary>Answer</summary>
#
# First whether `model.eval()` was called: `torch.no_grad()` stops gradients, not dropout. Then whether every dropout
# hears it: functional dropout without `training=self.training`, `scaled_dot_product_attention` with a fixed
# `dropout_p`, modules in a plain list or made in `forward`. After that smaller things: another order or padding of the
# batch, half precision, kernels that are not deterministic. These differ in the last digits, dropout in the first.
#
# </details>
#
# ## Next
#
# You have the encoder. In [05 · The whole BERT](05_the_whole_bert.ipynb) you put embeddings under it and a pooler on it,
# count its 110 million weights, and load a published checkpoint into your own classes.
