# %% [markdown]
# # 04 · The Transformer encoder
#
# In this chapter you build the layer that BERT-Base repeats twelve times. You will know what each of its parts is
# for, because you will have seen what goes wrong without it.
#
# ## What you will be able to do
#
# - say what residual connections, LayerNorm and the feed-forward network are each for, and show it in a few lines;
# - tell post-norm from pre-norm in code, and show what a learning-rate warm-up does for post-norm;
# - write both forms of GELU and say how much they differ;
# - assemble the encoder layer and the stack, equal to `transformers` to five decimals;
# - explain which parts of the original Transformer BERT left out, and why.
#
# **Time:** two sittings of about 50 and 60 minutes, and 10 more for what is optional ·
# **You need:** [03 · Self-attention](03_self_attention.ipynb) ·
# **Next:** [05 · The whole BERT](05_the_whole_bert.ipynb)
#
# ## Recall
#
# 1. What does one row of attention weights say, and what does it sum to?
#
# <details><summary>Answer</summary>
#
# It says how much one token attends to every token of its text. The weights lie between 0 and 1 and sum to 1, because
# softmax runs over the keys.
#
# </details>
#
# 2. A text has a single token. What is its attention weight, whatever the query and the key are?
#
# <details><summary>Answer</summary>
#
# Exactly 1: there is no other token. The output is the token's own value vector, multiplied by the output projection.
# Keep this in mind; we need it below.
#
# </details>
#
# 3. What are the shapes of the input and the output of self-attention?
#
# <details><summary>Answer</summary>
#
# Both are `[B, T, D]`. Each output vector is a mixture of (projected) input vectors. Because the shape has not
# changed, you can apply attention again. And again.
#
# </details>
#
# ## Where the encoder sits
#
# ![The map of BERT from left to right: tokenizer, embeddings, then L layers of self-attention and feed-forward, then the heads. The feed-forward half of a layer is lit.](pictures/04_where.svg)
#
# You have built the embeddings (chapter 02) and the attention (chapter 03). In the second picture,
# what is new has a thick edge: the additions, a LayerNorm after each of them, and the feed-forward network. Dropout is
# new too, but not drawn.
#
# ![Inside a layer, from left to right: x, attention, plus, norm, feed-forward, plus, norm. One line leads around attention and one around feed-forward, into the plus behind it.](pictures/04_layer.svg)

# %% [markdown]
# ## What does attention alone do to the tokens?
#
# Attention keeps the shape of its input, so the simplest deep model is attention twelve times in a row. We build it
# and measure two things after each layer. The first is the **mean cosine** between pairs of tokens: it is near 0 if
# they point in unrelated directions and 1 if they all point in the same direction. The second is the size of the
# vectors' entries, measured by their standard deviation.
#
# The first cell makes eight random tokens and two helpers. `initialize_like_base` draws small random weights, with the
# effect of those that BERT-Base starts with.
#
# Guess before you run the second cell. The mean cosine starts near 0. After **two** layers of attention, is it near 0.1,
# near 0.5 or above 0.9? And the entries start with standard deviation 1. What is it after twelve layers?

# %%
import math

import torch
from torch import nn

from bertedu import BertConfig
from bertedu.course import about  # a measured number that is checked within a tolerance
from bertedu.model.attention import SelfAttention
from bertedu.model.encoder import Encoder, EncoderLayer  # for later

B, T, D, H, L = 1, 8, 64, 4, 12
sizes = dict(hidden_size=D, num_attention_heads=H, num_hidden_layers=L, intermediate_size=4 * D)
no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
config = BertConfig(vocab_size=100, **sizes, **no_dropout)
torch.manual_seed(0)
tokens = torch.randn(B, T, D)  # eight random tokens


def initialize_like_base(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            std = 0.02 * math.sqrt(768 / D)  # BERT-Base: 0.02; more for shorter vectors
            nn.init.normal_(part.weight, std=std)
            nn.init.zeros_(part.bias)
    return module


def mean_cosine(x):  # [1, T, D] -> the mean over all pairs of different tokens
    x = x[0] / x[0].norm(dim=-1, keepdim=True)
    return (((x @ x.T).sum() - T) / (T * (T - 1))).item()  # without the T ones on the diagonal


# %% tags=["guess"]
attentions = nn.ModuleList(initialize_like_base(SelfAttention(config)) for _ in range(L))
x = tokens  # [B, T, D]
for depth, attention in enumerate(attentions, start=1):
    x = attention(x)[0].detach()  # [B, T, D]
    if depth in (1, 2, 4, 12):
        print(f"{depth:2} layers: mean cosine {mean_cosine(x):.2f}, entries {x.std():.0e}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Cosines of all pairs of eight tokens after 0, 1, 2 and 12 layers of attention alone: at first only the diagonal is 1, after one layer nearly all pairs are, after two all.](pictures/04_collapse.svg)
#
# After two layers, eight unrelated tokens have become practically the same vector. After twelve, that vector
# is almost zero. Each token leaves attention as a **weighted mean** of values. With small initial weights all scores are
# near 0, so the attention weights are nearly equal, and all tokens get nearly the same mean. In the first layer unrelated
# vectors also partly cancel in the mean, and in every layer the small weights of value and output shrink what is left.
#
# </details>
#
# Dong, Cordonnier and Loukas (2021) proved that in a network of attention alone the tokens become equal, faster and
# faster with depth, and called it **rank collapse**. Their title: "Attention is not all you need".
#
# ## The residual connection
#
# The solution is a plus sign. A **residual connection** means that a layer does not *replace* the vectors, but
# *adds* to them:
#
# $$x \leftarrow x + f(x)$$
#
# With it, He et al. (2015) trained networks of 152 layers. The vectors that run through all layers are often called
# the **residual stream**: every part of the model reads from it and adds an update to it.
#
# The first cell below repeats the experiment with this one change. What do you expect of the mean cosine now?
#
# The second cell computes a gradient, which passes through the layers backwards. Take ten layers of one number, each
# with $f(x) = 0.1\,x$. How large is the derivative of the output with respect to the input, without and with the
# residual connection? Use a pencil: layers in a row multiply their derivatives.

# %% tags=["guess"]
x = tokens  # [B, T, D]
for depth, attention in enumerate(attentions, start=1):
    x = x + attention(x)[0].detach()  # [B, T, D]: the only change
    if depth in (1, 2, 4, 12):
        print(f"{depth:2} layers: mean cosine {mean_cosine(x):.2f}, entries {x.std():.1f}")

# %% tags=["guess"]
for name, keep in (("without residual", 0), ("with residual", 1)):
    start = x = torch.tensor(1.0, requires_grad=True)
    for _ in range(10):
        x = keep * x + 0.1 * x
    x.backward()
    print(f"{name:16}: {start.grad.item():.1e}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Cosines of all pairs of eight tokens where attention is added to x: even after twelve layers only the diagonal is 1, and the other pairs are pale.](pictures/04_kept.svg)
#
# ![Five of ten boxes that multiply by 0.1: what arrives is 1e-10. Five of ten boxes that multiply by 1.1: what arrives is 2.6.](pictures/04_residual.svg)
#
# With the residual connection the tokens stay different, and the entries keep their size. Without it the gradient
# **vanishes**. With it the derivative of each layer is $1 + 0.1$. Of two layers it is $(1 + 0.1)(1 + 0.1)$: multiplied
# out, $1 + 0.1 + 0.1 + 0.01$. The 1 is the path around all layers, on which the gradient arrives undiminished.
#
# </details>
#
# ### Exercise 4.1 · The gradient through three layers
# ●○○○ · 5 minutes
#
# Now take **three** layers, each with $f(x) = 0.5\,x$. What is the derivative of the output of the third layer with
# respect to the input of the first? Write two numbers in a list: without residual connections first, then with one
# around each layer. Use a pencil, not the computer. If you are stuck, run `hint("4.1")`.

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
derivatives = [0.125, 3.375]
### END SOLUTION
check("4.1", derivatives)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Layers in a row multiply their derivatives. Without residual connections: 0.5 · 0.5 · 0.5 = 0.125. With them, each
# layer is x + 0.5 x with derivative 1.5, and 1.5³ = 3.375. Multiplied out, (1 + 0.5)³ is a sum over all paths that
# the gradient can take, through each layer or around it: one path around all three, three paths through one layer,
# three through two, and one through all.
#
# </details>

# %% [markdown]
# ## LayerNorm, and where to put it
#
# Adding has a price: the residual stream grows. It grew little above, because the weights were small, but weights
# grow in training. How fast? BERT-Base has two **sublayers** in each of its 12 layers, attention and the feed-forward
# network, with a residual connection around each. Suppose the stream starts with standard deviation 1, and every
# sublayer adds independent numbers with standard deviation 1. Variances of independent numbers add up. What is the
# standard deviation after these 24 additions? The cell also computes it with a LayerNorm after each addition.

# %% tags=["guess"]
torch.manual_seed(0)
added = normalized = torch.randn(1000, D)  # 1000 tokens
for _ in range(24):
    update = torch.randn(1000, D)
    added = added + update
    normalized = nn.functional.layer_norm(normalized + update, (D,))  # mean 0, variance 1
print(f"without LayerNorm: {added.std():.1f}, with LayerNorm: {normalized.std():.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Standard deviation of the stream after 0, 6, 12, 18 and 24 additions: 1.0, 2.6, 3.6, 4.4 and 5.0 without LayerNorm, 1.0 throughout with it.](pictures/04_growth.svg)
#
# It is $\sqrt{1 + 24} = 5$. Updates of size 1 then change little, so the upper layers would have to produce ever larger
# ones.
#
# </details>
#
# **LayerNorm** (Ba et al. 2016; you wrote it in chapter 02) brings each token back to mean 0 and variance 1.
#
# ### Why not BatchNorm? (optional)
#
# ![Two tables of five tokens with six numbers. LayerNorm takes its mean over one row, the numbers of one token; BatchNorm over one column, one number of all tokens of the batch.](pictures/04_which_numbers.svg)
#
# Convolutional networks mostly use **batch normalization** (BatchNorm; Ioffe & Szegedy 2015): the mean and the variance of
# each *column* over all examples of the batch. Why is that worse for text? The next cell puts the same text into two
# batches, next to two different neighbors, and compares its vectors. For which norm does the neighbor matter?

# %% tags=["guess"]
torch.manual_seed(0)
text, small, large = torch.randn(T, D), torch.randn(T, D), 5 * torch.randn(T, D)
for name, norm in (("BatchNorm", nn.BatchNorm1d(D)), ("LayerNorm", nn.LayerNorm(D))):
    one, other = (norm(torch.cat([text, beside]))[:T] for beside in (small, large))
    print(f"{name}: largest difference {(one - other).abs().max():.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With BatchNorm, a text's vectors depend on which other texts are in its batch, and padding would count as well. In
# evaluation, BatchNorm uses averages stored during training, which fit text badly (Shen et al. 2020). LayerNorm needs
# nothing but the token itself.
#
# </details>
#
# ### Post-norm and pre-norm
#
# LayerNorm can stand before or after the sublayer. **Post-norm** normalizes after the addition; **pre-norm**
# normalizes what the sublayer reads. The cell has both. Before you run it, take a pencil: the token is `[1, 3]`, and
# the sublayer doubles its input. LayerNorm of two different numbers is easy: the smaller becomes −1 and the larger 1.
# What comes out of each?


# %% tags=["guess"]
def post_norm(x, sublayer, norm):
    return norm(x + sublayer(x))  # Vaswani et al. 2017, and BERT


def pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))  # GPT-2, and most models since


x = torch.tensor([[1.0, 3.0]])  # one token, D = 2
for arrange in (post_norm, pre_norm):
    result = arrange(x, lambda x: 2 * x, nn.LayerNorm(2)).detach()
    print(f"{arrange.__name__:9}", result.round(decimals=2).tolist())

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Post-norm: 1 3, doubled 2 6, added 3 9, normalized −1 1. Pre-norm: 1 3, normalized −1 1, doubled −2 2, added to x −1 5.](pictures/04_orders.svg)
#
# Post-norm normalizes the *residual stream itself*. Pre-norm never does: the stream still grows, so a pre-norm model
# needs one more LayerNorm after its last layer.
#
# </details>
#
# **BERT is post-norm**, like the Transformer of 2017.
#
# ### Gradients and warm-up (optional)
#
# Whether the norm comes first or last has a large effect on training. With post-norm the learning rate must rise from 0 in the
# first steps, in a **warm-up**. First we measure the gradient that each layer's weights
# get in the very first step. We stack `depth` layers of attention and feed-forward network in both ways, with the
# same initial weights. (The `feed_forward` is the package's. You build it in a moment.)
#
# The next cell defines the stack and the measurement; the one after it draws the figure. Look at the
# gradient of the **last** layer: in which of the two is it larger, and how does it change with depth?


# %%
def run_stack(arrange, layers, x):  # [B, T, D] -> [B, T, D]
    for layer in layers:
        x = arrange(x, lambda x: layer.attention(x)[0], layer.attention_norm)
        x = arrange(x, layer.feed_forward, layer.feed_forward_norm)
    return nn.functional.layer_norm(x, (D,)) if arrange is pre_norm else x


def gradient_norms(arrange, depth):  # one number for each layer
    torch.manual_seed(0)
    layers = initialize_like_base(nn.ModuleList(EncoderLayer(config) for _ in range(depth)))
    x = run_stack(arrange, layers, torch.randn(4, 16, D))  # [B, T, D]
    targets = torch.randint(0, D, (4 * 16,))
    nn.functional.cross_entropy(x.flatten(0, 1), targets).backward()
    gradients = ([p.grad.norm() for p in layer.parameters()] for layer in layers)
    return [torch.stack(norms).norm().item() for norms in gradients]


# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

depths = [3, 6, 12, 24]
figure = new_figure(7.4, 2.9)
by_layer, by_depth = figure.subplots(1, 2)
for arrange, color in ((post_norm, ORANGE), (pre_norm, BLUE)):
    name, norms = arrange.__name__.replace("_", "-"), gradient_norms(arrange, 24)
    last = [gradient_norms(arrange, depth)[-1] for depth in depths]
    by_layer.plot(range(1, 25), norms, color=color)
    by_layer.text(24.5, norms[-1], name, color=color, va="center")
    by_depth.plot(depths, last, "o-", color=color)
    by_depth.text(25, last[-1], name, color=color, va="center")
    ratio = last[-1] / last[0]
    print(f"{name:9} last layer's gradient at L = 24: {ratio:.1f} times that at L = 3")
by_layer.set(xlabel="layer in a stack of 24", ylabel="gradient norm")
by_layer.set(ylim=(0, 1.8), xlim=(1, 32), xticks=[1, 6, 12, 18, 24])
by_depth.set(xlabel="depth L of the stack", ylabel="last layer's gradient norm")
by_depth.set(ylim=(0, 1.8), xlim=(0, 32), xticks=depths)
for axes in (by_layer, by_depth):
    quiet(axes)
Picture(
    figure,
    alt="Gradient norms. Left, layer by layer in a stack of 24: post-norm stays between 1 and "
    "1.4, pre-norm falls from above 1 to 0.5. Right, the last layer in stacks of 3 to 24 "
    "layers: post-norm stays near 1, pre-norm falls.",
)

# %% [markdown]
# In post-norm the last layer gets about the same gradient at every depth. In pre-norm its gradient falls as the stack
# gets deeper. The reason: in pre-norm the stream has grown by the time it reaches the top. The final LayerNorm
# divides by that size, and it divides the gradient too. Xiong et al. (2020) proved it for the first step: with depth,
# the last layer's gradient stays constant in post-norm and shrinks like $1/\sqrt{L}$ in pre-norm. That would be a
# factor of $\sqrt{3/24} = 0.35$ here. We measured 0.6: our initial weights are small, so the first updates are small
# too, and the stream grows more slowly.
#
# Does the order matter for training? We train twelve layers on an easy task: of eight letters, each position has to name
# the letter to its left. There are ten letters, so guessing costs a loss of $\ln 10 = 2.30$ (**cross-entropy**: minus
# the logarithm of the probability that the right letter gets). The **learning rate**, the size of the steps, is high:
# 0.005. **Warm-up** means that it rises to this value from zero during the first steps.
#
# ![The learning rate over 100 steps. Without warm-up it is 0.005 from the first step; with warm-up it rises from zero to 0.005 during 80 steps.](pictures/04_warm_up.svg)
#
# The next cell trains three variants for 100 steps, each with two random seeds, because one run could be luck. That
# takes about half a minute.

# %%
from tqdm.auto import tqdm


def loss_after_training(arrange, warmup, seed):
    torch.manual_seed(seed)
    letters, positions, output = nn.Embedding(10, D), nn.Embedding(T, D), nn.Linear(D, 10)
    layers = initialize_like_base(nn.ModuleList(EncoderLayer(config) for _ in range(L)))
    model = nn.ModuleList([letters, positions, output, layers])
    optimizer = torch.optim.Adam(model.parameters())
    for step in tqdm(range(1, 101), f"{arrange.__name__}, warm-up {warmup}", leave=False):
        optimizer.param_groups[0]["lr"] = 0.005 * min(1, step / max(1, warmup))
        ids = torch.randint(0, 10, (32, T))  # [B, T]
        x = run_stack(arrange, layers, letters(ids) + positions.weight)  # [B, T, D]
        scores, targets = output(x).flatten(0, 1), ids.roll(1, dims=1).flatten()
        loss = nn.functional.cross_entropy(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


# where the norm is, steps of warm-up, the loss that we expect, and its tolerance
variants = (post_norm, 0, 2.3, 0.1), (post_norm, 80, 1.2, 1.3), (pre_norm, 0, 0.0, 0.1)
for arrange, warmup, expected, within in variants:
    losses = [loss_after_training(arrange, warmup, seed) for seed in (0, 1)]
    shown = ", ".join(f"{about(expected, loss, within=within):.2f}" for loss in losses)
    print(f"{arrange.__name__:9} {warmup:2} steps of warm-up: loss {shown}")

# %% [markdown]
# Without warm-up, the post-norm stack still guesses after a hundred steps (2.30 is the loss of guessing): the first
# steps have probably thrown it off course. With warm-up the same stack can learn. Pre-norm learns without any warm-up.
#
# Two seeds are few; to try others, change `(0, 1)` (the cell stops if a loss is outside its tolerance). And even with
# warm-up, the second run does not learn the whole task: on some machines it learns a part (a loss near 1), on others
# nothing (near 2.3). A learning rate this high stays risky. Why post-norm needs warm-up is debated. Xiong et al. blame the large first gradients. Liu et al.
# (2020) disagree: in post-norm, they find, small changes of the weights change the output too much.
#
# BERT, a post-norm model, is trained with warm-up: the learning rate rises from zero during the first 10,000 steps
# (Devlin et al. 2019, appendix A.2).
#
# ## What attention cannot compute
#
# Attention moves information *between* tokens. What can it compute from the information *in* one token? You know the
# answer from the recall: where a token attends only to itself, its weight is 1, and what remains are two linear maps
# in a row, the value and the output projection.
#
# Here is a question that no linear map can answer. A token has two features, *a* and *b*, for example *is plural* and *is
# negated*. We want to know whether **exactly one of the two** is true (exclusive or, XOR). The cell computes the best
# linear map by least squares.

# %%
features = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])  # four tokens, D = 2
wanted = torch.tensor([[0.0], [1], [1], [0]])
with_bias = torch.cat([features, torch.ones(4, 1)], dim=1)
best = torch.linalg.lstsq(with_bias, wanted).solution  # the map with the least squared error
print("wanted:     ", wanted.flatten().tolist())
print("best linear:", [round(value, 2) for value in (with_bias @ best).flatten().tolist()])

# %% [markdown]
# The best linear map answers 0.5 every time. A second linear layer would not help, because two linear layers in a
# row are one linear layer. There must be something *non-linear* between them. The simplest choice is the function
# **relu**, $\mathrm{relu}(z)=\max(0,z)$.
#
# Check these weights with a pencil for each of the four tokens. There are two inner numbers, $\mathrm{relu}(a+b)$ and
# $\mathrm{relu}(a+b-1)$. The answer is the first minus twice the second.

# %%
expand = torch.tensor([[1.0, 1.0], [1.0, 1.0]])  # [D, inner]: both inner numbers see a + b
inner = torch.relu(features @ expand + torch.tensor([0.0, -1.0]))  # [4, inner]
shrink = torch.tensor([[1.0], [-2.0]])  # [inner, 1]
print("inner: ", inner.tolist())
print("answer:", (inner @ shrink).flatten().tolist())

# %% [markdown]
# ![Four tokens a, b; the inner numbers relu(a + b) and relu(a + b − 1); and the first minus twice the second, which is the wanted answer 0 1 1 0.](pictures/04_exclusive_or.svg)
#
# Two linear layers with an **activation function** between them answer correctly: 0, 1, 1, 0. This is BERT's
# **feed-forward network** (FFN, also MLP): it expands each vector from D to 4 D numbers, applies the activation,
# and shrinks it back. Each inner number acts like a question about the vector ("is a + b above 1?"). Each also has a
# vector of its own in the second matrix (here a row of `shrink`, of one number). If the answer is yes, this vector,
# times the inner number, is added to the residual stream. Geva et al. (2021) read such questions out of a trained language model: in
# lower layers they mostly concern the wording, in upper layers more often the meaning.
#
# Vaswani et al. call this network *position-wise*, because it is applied to each token separately. The first cell
# below writes it as a class. The second changes token 3 of the eight tokens (counted from 0) and marks with an x
# which output vectors change. Guess: which vectors change after the feed-forward network, and which after attention?


# %%
class MyFeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.expand = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = nn.GELU()  # BERT's activation function: the next section
        self.shrink = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, hidden_states):  # [B, T, D]
        inner = self.activation(self.expand(hidden_states))  # [B, T, 4 D]
        return self.shrink(inner)  # [B, T, D]


# %% tags=["guess"]
torch.manual_seed(0)
feed_forward, attention = MyFeedForward(config), SelfAttention(config)


def changed_outputs(function, position):  # "x" for each token whose output vector changes
    changed = tokens.clone()
    changed[:, position] += 1.0
    difference = (function(tokens) - function(changed)).abs().amax(dim=-1)[0]  # [T]
    return " ".join("x" if value > 1e-6 else "." for value in difference.tolist())


print("feed-forward:", changed_outputs(feed_forward, position=3))
print("attention:   ", changed_outputs(lambda x: attention(x)[0], position=3))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Token 3 of eight changes. After the feed-forward network only vector 3 changes, after attention all eight.](pictures/04_who_changes.svg)
#
# Attention carries information between tokens, and the feed-forward network processes each token.
#
# </details>
#
# Which of the two has more weights? Guess the feed-forward network's share of a layer of BERT-Base.

# %% tags=["guess"]
base = EncoderLayer(BertConfig.preset("base"))
whole = sum(p.numel() for p in base.parameters())
for name, part in base.named_children():
    count = sum(p.numel() for p in part.parameters())
    print(f"{name:18} {count:9,}  {count / whole:4.0%}")
print(f"{'one layer':18} {whole:9,}   twelve: {12 * whole:,}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Shares of the weights of a layer of BERT-Base: attention 0.33, feed-forward 0.67, the two norms 0.00.](pictures/04_shares.svg)
#
# Its two matrices have $2 \cdot 4D^2$ weights, attention's four matrices have $4D^2$.
#
# </details>
#
# ## GELU
#
# The relu function has a corner at 0. For negative inputs it returns 0, and its gradient is 0 too: if the input of a
# relu is negative for every token, the weights before it get no gradient any more. BERT uses a smooth alternative,
# the **Gaussian error linear unit** (GELU; Hendrycks & Gimpel 2016):
#
# $$\mathrm{GELU}(x) = x \cdot \Phi(x)$$
#
# Here $\Phi(x)$ is the probability that a number drawn from the **standard normal** distribution, the bell curve around 0
# with standard deviation 1, is smaller than $x$. If x is large, x passes unchanged.
# If x is very negative, almost nothing passes.
#
# About 98 of 100 normal numbers are below 2. The distribution is symmetric, so you also know how many are below −2. What
# are GELU(2) and GELU(−2)? The cell draws a million normal numbers, counts the share below x, and compares x times that
# share with torch's GELU.

# %% tags=["guess"]
torch.manual_seed(0)
normal_numbers = torch.randn(1_000_000)
for x in (-2.0, 0.0, 2.0, 4.0):
    share = (normal_numbers < x).double().mean().item()  # Φ(x), counted
    gelu = nn.functional.gelu(torch.tensor(x)).item()
    print(
        f"x = {x:4}:  Φ(x) {share:6.1%},  x · Φ(x) {x * share:5.2f},  torch's gelu {gelu:5.2f}"
    )

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![For x = −3, −1, 0, 1 and 3: the share Φ(x) is 0.00, 0.16, 0.50, 0.84 and 1.00, and x times Φ(x) is 0, −0.16, 0, 0.84 and 3.](pictures/04_gelu.svg)
#
# GELU(2) = 2 · 0.977 = 1.95, and GELU(−2) = −2 · 0.023 = −0.05. A small part of the negative input passes, and so does a
# gradient.
#
# </details>
#
# Nobody counts a million numbers to compute $\Phi$. It follows from the **error function** erf, which every library
# has. The paper also gives a faster approximation with tanh:
#
# $$\Phi(x) = \tfrac12 \left(1 + \mathrm{erf}\frac{x}{\sqrt2}\right)
# \qquad\quad \Phi(x) \approx \tfrac12 \left(1 + \tanh\left(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right)\right)$$
#
# ### Exercise 4.2 · GELU, twice
# ●●○○ · 10 minutes
#
# Write `gelu(x, tanh=False)` for a tensor `x` of any shape. It returns the exact form, or the tanh form if `tanh` is
# true. You need `torch.erf` and `torch.tanh`.


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
# Both are x · Φ(x) and differ only in how they compute Φ. erf is the integral of a bell curve with variance ½, which
# is why x is divided by √2. The tanh form is a fit: √(2/π) gives it the right slope at 0, and the cubic term keeps
# it close further away from 0.
#
# </details>

# %% [markdown]
# How close is the approximation? The next cell draws relu and GELU on the left. On the right it draws the difference
# of the two forms of GELU, multiplied by 1000.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

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
print(f"largest difference of the two forms: {(fitted - exact).abs().max():.4f}")
Picture(
    figure,
    alt="Left: relu with its corner at 0; GELU runs smoothly below it and has its minimum of "
    "-0.17 near x = -0.75. Right: the difference of the two forms of GELU, two waves on each "
    "side of 0, never above 0.0005.",
)

# %% [markdown]
# The difference is at most 0.0005 in one activation. That is enough to fail a comparison to five decimals, as you
# will see below. In a `config.json` of `transformers` the exact form is called `"gelu"` and the tanh form
# `"gelu_new"`.
#
# ## Dropout
#
# A large network can come to rely on a few numbers that happened to be useful in training. **Dropout** (Srivastava et
# al. 2014) works against this: in training, each number is set to 0 with probability p. In evaluation nothing is
# dropped.
#
# With p = 0.1, the next layer would get, on average, only nine tenths of its input in training. To keep the mean the
# same, the numbers that survive are divided by $1 - p$. Which values can come out of 100,000 ones, in training and in
# evaluation?

# %% tags=["guess"]
torch.manual_seed(0)
dropout = nn.Dropout(0.1)
ones = torch.ones(100_000)
dropped = dropout(ones)
values = [f"{value:.2f}" for value in dropped.unique().tolist()]
print(f"training:   values {', '.join(values)}, mean {dropped.mean():.2f}")
dropout.eval()
print(f"evaluation: values {dropout(ones).unique().item():.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Ten ones. In training one of them has become 0 and the others 1.11; in evaluation all are still 1.](pictures/04_dropped.svg)
#
# In training the values are 0 and 1 / 0.9 = 1.11, with mean 1. In evaluation dropout changes nothing.
#
# </details>
#
# In its embeddings and layers, BERT uses dropout at three kinds of points, each time with p = 0.1:
#
# | where | what is set to 0 |
# |---|---|
# | after the embeddings' LayerNorm | entries of the vectors that enter layer 1, so the residual stream itself |
# | on the attention weights, after softmax | weights from one token to another |
# | on the output of each sublayer, **before** it is added | entries of the update, not of the stream |
#
# **Here the first sitting ends.** You have all the parts of a layer: residual connection, LayerNorm, feed-forward
# network and dropout. The second sitting puts them together, stacks the layers, and compares the stack with the
# package's.
#
# ## The layer
#
# You have all the parts. In words: attention, add and normalize, feed-forward, add and normalize.
#
# ### Exercise 4.3 · The encoder layer
# ●●○○ · 10 minutes
#
# Write one BERT encoder layer as a function, without dropout. `attention`, `feed_forward` and the two norms are
# functions from `[B, T, D]` to `[B, T, D]`. Return `[B, T, D]`. BERT is post-norm.


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
# Both lines have the form norm(x + sublayer(x)). The second line uses the x that the first line made, twice: the
# feed-forward network reads it, and its residual connection adds it. If you added the original x there, the result of
# attention would reach the output only through the feed-forward network.
#
# </details>

# %% [markdown]
# Here is the same as a class, with dropout and with a padding bias for attention (chapter 03). The parts have the
# same names as in the package's `EncoderLayer`, so weights can be copied from one to the other.


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
        processed = self.feed_forward(hidden_states)  # [B, T, D]
        return self.feed_forward_norm(hidden_states + self.dropout(processed))  # [B, T, D]


# %% [markdown]
# ## The stack
#
# An encoder is L such layers in a row. That sounds simple, but it is easy to get wrong without any error. The next
# cell stores L layers in three ways. All of them run, and all return the right shape. How many weights does torch
# find in each?

# %% tags=["guess"]
layers = [MyEncoderLayer(config) for _ in range(L)]
stacks = {"a plain list": layers, "ModuleList([layer] * L)": nn.ModuleList(layers[:1] * L)}
stacks["ModuleList of L layers"] = nn.ModuleList(layers)
for name, stack in stacks.items():
    model = nn.Module()
    model.layers = stack
    print(f"{name:24} {sum(p.numel() for p in model.parameters()):9,} weights")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three ways to store four layers. In a plain list torch finds none of them, in [layer] * L one layer four times, in a ModuleList of L layers all.](pictures/04_three_stacks.svg)
#
# torch does not look inside a plain list: the optimizer would not train these layers, and `.eval()` and `.to("cuda")`
# would not reach them. The second model is *one* layer that runs twelve times with the same weights. (ALBERT, Lan et al.
# 2020, does that on purpose.) Only the third is BERT's encoder.
#
# </details>
#
# ### Exercise 4.4 · The stack
# ●●●○ · 15 minutes
#
# Write the class `Stack(config, layer_class)` with L layers, where L is `config.num_hidden_layers`. `layer_class` is
# the class of a layer, for example the package's `EncoderLayer`: `layer_class(config)` makes one. `forward` returns
# **all** hidden states, a list of L + 1 tensors `[B, T, D]`: first the input, then the output of each layer. You call
# a layer as `layer(hidden_states, bias)`. It returns two things, the new vectors and its attention weights. Don't use
# the package's `Encoder`, which is such a stack.


# %% tags=["exercise"]
class Stack(nn.Module):
    def __init__(self, config, layer_class):
        ### BEGIN SOLUTION
        super().__init__()
        self.layers = nn.ModuleList(
            layer_class(config) for _ in range(config.num_hidden_layers)
        )
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
# The comprehension calls layer_class(config) once for each layer, so each gets weights of its own. ModuleList tells
# torch that they belong to the model. In forward, hidden_states is replaced in each round, so each layer reads the
# output of the one before. Chapter 05 uses the last entry of the list; later chapters also use the others.
#
# </details>

# %% [markdown]
# From here we use the package's `Encoder`, which can also collect the attention weights. We repeat the experiment
# from the beginning of the chapter with complete layers. Do our eight random tokens stay different?

# %%
torch.manual_seed(0)
encoder = initialize_like_base(Encoder(config))
hidden_states, _ = encoder(tokens)  # L + 1 tensors [B, T, D]
for depth in (0, 1, 2, 4, 12):
    x = hidden_states[depth].detach()
    print(f"{depth:2} layers: mean cosine {mean_cosine(x):.2f}, entries {x.std():.2f}")

# %% [markdown]
# After twelve complete layers the mean cosine is only 0.18, and the entries are as large as at the start. With
# attention alone, all tokens had become equal and almost zero.
#
# ### Touch it
#
# Which part is that due to? The next cell draws such a stack, with random numbers of its own, and lets you take parts
# away. Guess first: do the tokens stay different if you take away the **residual connections** and keep LayerNorm? And
# what happens to the size of the numbers if you take away **LayerNorm** and keep the residual connections?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

explorable("stack", tokens=T, size=D, heads=H, layers=L, deviation=0.07, seed=3)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Without residual connections the mean cosine is 1.00 after two layers: LayerNorm keeps the size of the vectors, not
# what makes them different. Without LayerNorm the tokens stay different, and the numbers grow, to three times their
# size in twelve layers. With a standard deviation of 20 % instead of 7 % they reach 10¹². So each part does one thing,
# and BERT needs both.
#
# </details>
#
# ## Encoder-only: what BERT left out
#
# The Transformer of "Attention is all you need" translates English into German or French. An **encoder** reads the
# English sentence. A **decoder** writes the German one, word by word. In training it is given the whole German
# sentence, so a **causal mask** hides the words that come later. BERT writes nothing. It keeps the encoder and drops
# the rest: it is an **encoder-only** model.
#
# What do we gain? The cell changes the **last** token and marks which vectors change, first in an encoder layer
# without a mask, then in the same layer with a causal mask. Guess both lines. The last line concerns word order: it
# shuffles the tokens before the encoder, or shuffles the vectors after it, and compares.

# %% tags=["guess"]
causal = torch.full((T, T), -torch.inf).triu(diagonal=1)  # [T, T]: -inf right of the diagonal
layer = encoder.layers[0]
print("no mask (encoder):    ", changed_outputs(lambda x: layer(x)[0], position=-1))
print("causal mask (decoder):", changed_outputs(lambda x: layer(x, causal)[0], position=-1))

torch.manual_seed(1)
order = torch.randperm(T)
shuffled_before = encoder(tokens[:, order])[0][-1]  # [B, T, D]
shuffled_after = encoder(tokens)[0][-1][:, order]  # [B, T, D]
difference = (shuffled_before - shuffled_after).abs().max()
print(f"shuffling before or after: largest difference {difference:.5f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Who attends to whom among five tokens: in an encoder all pairs, in a decoder with a causal mask each token attends only to itself and to what stands to its left.](pictures/04_who_sees_whom.svg)
#
# In the encoder, every token's vector depends on the last token: "bank" can use a "river" three words later. In the
# decoder, only the last vector does. The last line shows that shuffling before and after gives the same vectors: the
# whole encoder is **permutation equivariant**, so everything that BERT knows about word order comes from its position
# embeddings.
#
# </details>
#
# This is the B in BERT, *bidirectional*. The price: such a model cannot be trained to predict the next word, because it
# sees it. It needs another task, to fill in words that were masked (chapter 06).
#
# | | Transformer (base), 2017 | BERT-Base, 2018 |
# |---|---|---|
# | layers | 6 encoder and 6 decoder layers | 12 encoder layers |
# | attention | self, causal self, and from decoder to encoder | self |
# | D, inner size, attention heads | 512, 2048, 8 | 768, 3072, 12 |
# | activation | relu | GELU |
# | positions | sines and cosines, fixed | learned |
# | norm | post-norm | post-norm |
# | trained on | pairs of sentences, to translate | plain text, to fill in masked words and to judge sentence pairs |
#
# ## The proof
#
# The reference is a BERT of `transformers`. We add random numbers to all its weights, so that no bias is 0 and no
# LayerNorm has a weight of exactly 1, and give it a batch with padding. Then we copy its weights into your layers and
# into the package's, and compare all L + 1 hidden states, padding included. (The first is the input, which all three
# share.)
#
# Would this comparison notice a small mistake? To find out, we also change the activation of your layers to the tanh
# form and compare once more. The first cell builds the three models; `from_transformers` translates the names of the
# weights, and `padding_bias` (chapter 03) turns the mask into a bias. The second cell compares.

# %%
import transformers

from bertedu.checkpoints.names import from_transformers
from bertedu.model.attention import padding_bias

torch.manual_seed(0)
theirs = transformers.BertModel(transformers.BertConfig(vocab_size=100, **sizes)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
their_weights = theirs.encoder.state_dict(prefix="encoder.").items()
weights = {from_transformers(name): value for name, value in their_weights}

mine, package = nn.Module(), nn.Module()
mine.encoder, package.encoder = nn.Module(), Encoder(config)
mine.encoder.layers = nn.ModuleList(MyEncoderLayer(config) for _ in range(L))
for model in (mine, package):
    model.load_state_dict(weights)  # strict: a missing or additional name would be an error
    model.eval()

# %%
input_ids = torch.randint(5, 100, (2, T))  # [B, T]
attention_mask = torch.tensor([[1] * T, [1] * 5 + [0] * 3])  # second text: 3 padding tokens
bias = padding_bias(attention_mask, torch.float32)  # [B, 1, 1, T]
expected = theirs(input_ids, attention_mask, output_hidden_states=True).hidden_states


def largest_difference(states):  # over all L + 1 hidden states
    pairs = zip(states, expected, strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


def run_layers(layers):  # L + 1 tensors [B, T, D]
    states = [expected[0]]
    for layer in layers:
        states.append(layer(states[-1], bias))
    return states


print(f"yours:           {largest_difference(run_layers(mine.encoder.layers)):.5f}")
print(f"the package's:   {largest_difference(package.encoder(expected[0], bias)[0]):.5f}")
for layer in mine.encoder.layers:
    layer.feed_forward.activation = nn.GELU(approximate="tanh")
with_tanh = about(0.0012, largest_difference(run_layers(mine.encoder.layers)), within=0.0006)
print(f"yours with tanh: {with_tanh:.4f}")

# %% [markdown]
# Your layers and the package's agree with `transformers` to five decimals. With the tanh form the difference is more
# than fifty times larger than 10⁻⁵. So the comparison would have noticed.
#
# ## Broken BERT: two answers to one question
#
# A colleague has made the layer shorter: dropout is called as a function, and needs no module. The model trains well.
# But its scores on the test set are a little worse than they should be, and different each time, although
# `model.eval()` is called. The next cell sends the same eight tokens twice through twelve such layers after `eval()`.


# %%
class ShorterLayer(EncoderLayer):
    def forward(self, hidden_states, bias=None):  # [B, T, D], [B, 1, 1, T]
        mixed, _ = self.attention(hidden_states, bias)
        mixed = nn.functional.dropout(mixed, 0.1)
        hidden_states = self.attention_norm(hidden_states + mixed)
        processed = nn.functional.dropout(self.feed_forward(hidden_states), 0.1)
        return self.feed_forward_norm(hidden_states + processed)


torch.manual_seed(0)
broken = initialize_like_base(nn.Sequential(*(ShorterLayer(config) for _ in range(L))))
broken.eval()
difference = (broken(tokens) - broken(tokens)).abs().max().item()
print(f"same tokens, two runs: largest difference {about(2.1, difference, within=1.5):.1f}")

# %% [markdown]
# The difference should be 0. Find the reason before you read on: what does `eval()` do, and what does it reach?
#
# <details><summary>A first clue</summary>
#
# `eval()` goes through the *modules* inside the model and sets `training = False` on each. Is there a module here
# that does the dropping?
#
# </details>
#
# ### Exercise 4.5 · Dropout that knows when to stop
# ●●●○ · 10 minutes
#
# Write `RepairedLayer`. In training it applies dropout to both updates, with the probability from the
# **config**, the record of a model's sizes and switches (`config.hidden_dropout_prob`; `EncoderLayer` has a module for
# it, `self.dropout`). After `eval()` it drops nothing.


# %% tags=["exercise"]
class RepairedLayer(EncoderLayer):
    def forward(self, x, bias=None):
        ### BEGIN SOLUTION
        x = self.attention_norm(x + self.dropout(self.attention(x, bias)[0]))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        ### END SOLUTION


check("4.5", RepairedLayer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `torch.nn.functional.dropout` is a function. It drops unless it is told `training=False`, and nobody told it. The
# module `self.dropout` is reached by `eval()` and knows the probability.
# `dropout(mixed, self.dropout.p, self.training)` is right as well. `nn.Dropout(0.1)(mixed)` in `forward` is not:
# this module is created after `eval()` was called, and a new module is in training mode.
#
# </details>

# %% [markdown]
# This bug happens to experts too. nanoGPT passed its dropout probability to `scaled_dot_product_attention` in
# evaluation as well, until pull request [240](https://github.com/karpathy/nanoGPT/pull/240) in April 2023. That
# function always applies the dropout that it is given. Two habits help against such bugs. Send one input through the
# model twice after `eval()` and compare. And give every dropout function `training=self.training`, or, where it has
# no such argument, the probability 0 in evaluation.
#
# ## Paper and code
#
# | | paper | Google's code | `transformers` | this course |
# |---|---|---|---|---|
# | norm | post-norm (as in Vaswani et al.) | post-norm | post-norm | post-norm |
# | GELU | cites Hendrycks and Gimpel, names no form | the tanh form; the first release had erf | `"gelu"`: exact | as in `config.json`, exact by default |
# | eps of LayerNorm | not given | 10⁻¹², the default of `tf.contrib` | 10⁻¹² | 10⁻¹² |
# | dropout on a sublayer | 0.1 "on all layers" | 0.1, before adding | 0.1, before adding | 0.1, before adding |
# | inner size | 4 D | `intermediate_size` | `intermediate_size` | `intermediate_size` |
# | names | – | `intermediate`, `output` | `intermediate`, `output` | `expand`, `shrink` |
#
# Three notes:
#
# - *Norm*: some larger BERTs moved it. Megatron-LM (Shoeybi et al. 2019) found its position critical for models
#   beyond BERT-Large.
# - *GELU*: `transformers` and this course choose the form by `hidden_act` in the config. Google's code calls both of
#   its forms `"gelu"`, so for a checkpoint of theirs the name does not tell. With the wrong form a model still works,
#   but its outputs differ a little, without any warning.
# - *eps*: torch's default is 10⁻⁵, and a checkpoint loaded into layers with that default gives slightly different
#   results. 10⁻¹² is so small that float16 rounds it to 0; in a hand-written float16 LayerNorm a token with equal
#   entries then becomes 0 / 0.
#
# One more trap is torch's own encoder: `nn.TransformerEncoder(layer, L)` copies the layer that it is given, so all L
# layers start with the same weights. Its documentation warns of it.
#
# ## Summary
#
# - **Residual connection**: a sublayer adds an update to the residual stream. Without it, tokens become equal (rank
#   collapse; in our experiment within two layers), and gradients vanish.
# - **LayerNorm** keeps the stream's size constant and depends only on the token itself. BERT is **post-norm**: it
#   normalizes the stream, gets large first gradients in the last layers, and is trained with a **warm-up**.
#   **Pre-norm** normalizes what the sublayer reads.
# - **Feed-forward network**: expand, activate, shrink, for each token separately. It has two thirds of a layer's
#   weights.
# - **GELU** is x times the probability that a normal number is smaller than x. Its tanh form differs by at most
#   0.0005.
# - **Dropout** acts only in training: on the embeddings, on attention weights, and on each update before it is added.
# - **Encoder-only**: without a causal mask every token attends to both sides. Only position embeddings tell the
#   encoder about word order.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(4)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- encoder-02 -->
# **1. Post-norm or pre-norm: what is the difference in the code, and what does it change in training? Which one does
# BERT have?**
#
# <details><summary>Answer in half a minute</summary>
#
# Post-norm is norm(x + f(x)): BERT has it. Pre-norm is x + f(norm(x)), with one more norm after the last layer. In
# pre-norm there is a path through all layers without any norm, so deep models train stably, even with little warm-up.
# In post-norm the gradients near the output are large at initialization, so it needs warm-up and care, but it often
# ends equally well or better if it is not very deep.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The two differ in one line. Post-norm computes norm(x + f(x)): the norm stands after the addition, on the residual
# stream itself. The first Transformer and BERT do this. Pre-norm computes x + f(norm(x)): only the input of the
# sublayer is normalized, and the stream passes untouched. GPT-2, ModernBERT and most newer models do this. Because
# nothing normalizes the stream, it grows with depth, so pre-norm needs one more LayerNorm after the last layer.
# People forget it.
#
# The consequence for training: in pre-norm the gradient has a path from the output to the first layer with no norm on
# it except the last. Xiong and others showed that in post-norm the expected gradients near the output are large at
# initialization, so a large learning rate at the start makes training unstable. A warm-up avoids that. In pre-norm
# they shrink with depth, like 1/√L, and the authors trained without warm-up. Others see another cause: Liu and others
# (2020) find that post-norm depends more on its sublayers, which amplifies every small change of the weights.
#
# Pre-norm has a weakness too: the stream grows, so later layers change it relatively less, and depth is used less
# well. At BERT's twelve layers both work, if post-norm has its warm-up. You can't convert a checkpoint from one to
# the other: but for that last norm the weights have the same names and shapes, so a loader that only warns of missing
# weights opens it, and the output is nonsense.
#
# </details>
#
# <!-- encoder-05 -->
# **2. What can't attention compute without the feed-forward network? And why is that network two thirds of a layer?**
#
# <details><summary>Answer in half a minute</summary>
#
# Given its weights, attention is linear in the values: it mixes vectors, and what it does to one vector is a matrix
# product. A token that attends only to itself passes two matrices, so it can't compute exclusive or of its own
# features. The feed-forward network adds the non-linearity for each token. With an inner size of 4D it has 8·D²
# weights against attention's 4·D².
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Write the output of one head for one token: a sum of weights times values, and the values are a matrix times the
# inputs. The weights come from a softmax, so attention as a whole is not linear in the input. But the softmax only
# decides how much of each token enters. What happens to the content of a token is linear.
#
# Take the extreme case, a sequence of one token: its weight is 1, and the output is two matrix products, one after
# the other. So there is no way to answer a question such as: is exactly one of two features of this token on? That is
# exclusive or, and the best linear answer is 0.5 for all four cases. The feed-forward network is expand, activation,
# shrink, and it computes it with two inner units: relu(a + b) − 2·relu(a + b − 1).
#
# It works on each token separately: attention moves information between tokens, the feed-forward network processes it
# within a token. Its inner size is 4·D, so it has 8·D² weights, and attention has 4·D²: two thirds of the layer. Each
# inner unit is a detector in the first matrix with a vector in the second that is written to the residual stream.
# Geva and others describe this as a key-value memory, and much of what the model knows seems to be stored there.
# Without the feed-forward network and the residual connections, a deep stack also loses rank: all tokens become the
# same.
#
# </details>
#
# <!-- debugging-02 -->
# **3. A fine-tuned BERT gives slightly different predictions for the same input each time. What do you check?**
#
# <details><summary>Answer in half a minute</summary>
#
# First whether `model.eval()` was called: `no_grad` stops gradients, not dropout. Then whether eval reaches every
# dropout: functional dropout without `training=self.training`, attention with a fixed `dropout_p`, modules in a plain
# list. Only then smaller causes, such as kernels that add in another order. Dropout changes the first digits, those
# change the last.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The size of the difference is the first clue. If probabilities change from 0.81 to 0.77, that is dropout. If they
# change in the sixth digit, it is the order of additions. Dropout: in training mode each forward pass sets a random
# tenth of the numbers to zero and scales the rest. `model.eval()` switches that off. `torch.no_grad()` and
# `inference_mode` don't: they only stop recording for gradients. People mix the two up, and a validation loop that
# calls `train()` at its end leaves the model in training mode for the next user. `from_pretrained` in transformers
# returns a model in evaluation mode, one that you build yourself is in training mode.
#
# If `eval()` was called and it still varies, then `eval()` doesn't reach it. It only sets a flag, `self.training`, on
# registered submodules. `torch.nn.functional.dropout` has `training=True` as its default,
# `scaled_dot_product_attention` applies the `dropout_p` that it is given, in evaluation too, and modules in a plain
# Python list are not registered, nor are those that forward creates. To find it: register a hook, run the same input
# twice, and compare layer by layer. The first layer that differs is the culprit.
#
# After that the small causes: another composition of the batch, half precision, atomic additions on a GPU, and in a
# service, several replicas with different versions. The test belongs into the suite: two calls in evaluation mode are
# equal, bit for bit.
#
# </details>
#
# ## Next
#
# You have the encoder. In [05 · The whole BERT](05_the_whole_bert.ipynb) you put embeddings below it and the last parts
# on top, count its 110 million weights, and load a published checkpoint into your own classes.
