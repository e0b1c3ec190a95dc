# %% [markdown]
# # 05 · The whole BERT
#
# In this chapter you put the parts together into a whole BERT. It opens a checkpoint of `transformers` and gives the
# same outputs. You will know where each of its 110 million parameters is, and what it costs to train them.
#
# ## What you will be able to do
#
# - assemble BERT from a config, embeddings, an encoder and a pooler, and say what each of them is for
# - calculate the number of parameters of any BERT, and the memory that a training step needs
# - watch every shape of a forward pass with hooks, and use hooks to find where two models start to differ
# - load the weights of another implementation by name, and prove that they arrived
# - put a head on BERT for tasks on texts, on tokens or on spans
#
# **Time:** 60 minutes for the core path, which is every section without "(optional)" and exercises 5.1 and 5.2. Plan
# about 120 minutes for the whole chapter. · **You need:**
# [04 · The Transformer encoder](04_transformer_encoder.ipynb) ·
# **Next:** [06 · Masked language model](06_masked_language_model.ipynb)
#
# ## Recall
#
# 1. What are the steps of one encoder layer, in BERT's order?
#
# <details><summary>Answer</summary>
#
# Self-attention; add the layer's input and normalize; feed-forward network; add its input and normalize. Because the
# normalization comes after the addition, this is called **post-norm**.
#
# </details>
#
# 2. Which part of a layer exchanges information between tokens, and which parts work on each token alone?
#
# <details><summary>Answer</summary>
#
# Attention exchanges information. The feed-forward network, the additions and LayerNorm work on each token alone.
#
# </details>
#
# 3. A stack of L layers gets `[B, T, D]`. What is the shape of its output, and how many hidden states are there?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]` again. There are L + 1 hidden states: the input of the first layer, and the output of each layer.
#
# </details>
#
# ## Where this chapter fits in
#
# The next cell draws the parts of BERT. Grey is what you have built. Blue is what is still missing between your parts
# and a BERT that people can use.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure

figure = new_figure(7.4, 3.1)
axes = figure.subplots()
axes.set(xlim=(0, 10), ylim=(0.5, 4.2))
axes.axis("off")
built = {"embeddings\n(02)": (1.7, 2), "encoder, L layers\n(03, 04)": (4.5, 2)}
new = {"pooler": (7.2, 1), "heads for\ntokens": (9.3, 3), "heads for\ntexts": (9.3, 1)}
new["config: how large is each box?   checkpoint: which numbers are in it?"] = (4.5, 3.7)
for text, (x, y) in (built | new).items():
    edge, fill = (GREY, "#f3f3f3") if text in built else (BLUE, "#e3f0f8")
    around = {"boxstyle": "round,pad=0.5", "facecolor": fill, "edgecolor": edge}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK, bbox=around)
arrows = [(0, 2, 1, 2, "[B, T]"), (2.4, 2, 3.6, 2, "[B, T, D]")]
arrows += [(5.4, 2.2, 8.7, 3, "[B, T, D]"), (5.4, 1.8, 6.75, 1, ""), (7.6, 1, 8.7, 1, "[B, D]")]
for x, y, to_x, to_y, shape in arrows:
    look = {"arrowstyle": "->", "color": GREY, "linewidth": 1.4}
    axes.annotate("", (to_x, to_y), (x, y), arrowprops=look)
    axes.text((x + to_x) / 2 - 0.1, (y + to_y) / 2 + 0.22, shape, ha="center", fontsize=8)
alt = "Ids go through embeddings and encoder, which you have built. New in this chapter: "
alt += "the pooler, from [B, T, D] to [B, D]; heads for tokens and texts; config, checkpoint."
Picture(figure, alt=alt)

# %% [markdown]
# ## A model is a folder with two files
#
# People share a BERT as a folder. Besides the tokenizer's files it holds two: a **config** and a **checkpoint**. We
# let `transformers` write these two, for a BERT that is small enough to look at.
#
# A new model's biases are all 0 and its LayerNorm weights all 1, and that would hide mistakes: if two biases are
# swapped, nothing changes. So we first add random numbers to every weight. Think of the result as a trained
# checkpoint.

# %%
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file  # reads the file format of checkpoints

torch.manual_seed(0)
sizes = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
sizes |= {"intermediate_size": 128, "max_position_embeddings": 20}
theirs = transformers.BertModel(transformers.BertConfig(**sizes)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter += 0.2 * torch.randn_like(parameter)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
theirs.save_pretrained(folder)
tensors = load_file(folder / "model.safetensors")
print(sorted(file.name for file in folder.iterdir()), len(tensors), "tensors, for instance:")
query = "encoder.layer.0.attention.self.query.weight"
for name in ["embeddings.word_embeddings.weight", query, "pooler.dense.bias"]:
    print(f"  {name:45} {list(tensors[name].shape)}")

# %% [markdown]
# `config.json` says how large everything is. `model.safetensors` holds the numbers, each tensor with a name. You have
# the embeddings and the encoder from the last chapters. The next cell builds them in this size and loads the file.
#
# `load_state_dict` is **strict** by default: it raises an error if a name does not match. Somebody on a forum
# recommends `strict=False`, because "then the error goes away". Guess: how many of our tensors will get their
# numbers?

# %%
from torch import nn

from bertedu import BertConfig
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.encoder import Encoder

config = BertConfig.load(folder)
parts = nn.ModuleDict({"embeddings": BertEmbeddings(config), "encoder": Encoder(config)})
result = parts.load_state_dict(tensors, strict=False)
print(f"we have {len(parts.state_dict())} tensors, the file has {len(tensors)}")
print(f"ours without numbers: {len(result.missing_keys)}")
print(f"theirs without a match: {len(result.unexpected_keys)}")

# %% [markdown]
# No error, and not one number has arrived. The model would run, and its answers would come from random weights.
#
# Three things are missing: the **pooler** (two of their tensors have no counterpart here), a **class** that connects
# the parts, and a **table of names**. But first, a closer look at the config.
#
# ## The config
#
# A handful of numbers determine the architecture of a BERT. `BertConfig` keeps them under the names that the file
# uses. These are the two sizes of the paper (`BertConfig.preset("base")`, `BertConfig.preset("large")`). The paper
# writes H for the hidden size and A for the number of heads. This course writes D and H. The **inner size** is the
# width inside the feed-forward network.
#
# | | layers L | hidden size D | heads H | d = D / H | inner size |
# |---|---|---|---|---|---|
# | BERT-Base | 12 | 768 | 12 | 64 | 3072 |
# | BERT-Large | 24 | 1024 | 16 | 64 | 4096 |
#
# `BertConfig` is a *frozen* dataclass: you cannot change it later, because a model that has been built would not
# change with it. It also checks itself when you make it. What is wrong with these sizes?

# %% tags=["raises-exception"]
BertConfig(hidden_size=100, num_attention_heads=12)

# %% [markdown]
# Without this check, the mistake would only show up inside `split_heads`, as an error about shapes.
#
# ### Exercise 5.1 · More heads
# ●○○○ · 3 minutes
#
# A layer's attention with D = 8 and H = 2 has 288 parameters: four projections, each with 8 · 8 weights and 8 biases.
# Somebody sets H = 4 and leaves everything else as it is. How many parameters does attention have now? `check` tells
# you whether your answer is right. `hint("5.1")` helps.

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
parameters = 288
### END SOLUTION
check("5.1", parameters)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Still 288. The projections are `[D, D]` for any H. The number of heads only says into how many pieces their D
# outputs are cut: four pieces of d = 2 instead of two of d = 4. That is also why the config must contain it: the
# weights do not show it, and a wrong number loads without an error.
#
# </details>

# %% [markdown]
# ## The pooler
#
# The encoder gives one vector for every token. But some questions are about the whole text: is this review friendly?
# Does the second text follow the first? Then we need one vector for a text. BERT's **pooler** takes the vector of the
# first token, `[CLS]`, and passes it through a linear layer and tanh. `[CLS]` is not a word, so its vector is free to
# represent the text.
#
# By hand, with D = 2: the vector of `[CLS]` is (1, −2). The rows of the weight are (0.5, 0) and (1, 0.5), and the
# bias is (0, 1). The linear layer gives 0.5 · 1 + 0 = 0.5 and 1 · 1 − 0.5 · 2 + 1 = 1, and tanh gives 0.46 and 0.76.
# The first cell computes that, the second writes the class. Which role do the other two tokens of the text play?

# %%
dense = nn.Linear(2, 2)
with torch.no_grad():
    dense.weight.copy_(torch.tensor([[0.5, 0.0], [1.0, 0.5]]))
    dense.bias.copy_(torch.tensor([0.0, 1.0]))
text = torch.tensor([[[1.0, -2.0], [9.0, 9.0], [7.0, -7.0]]])  # [B, T, D], 3 tokens
pooled = torch.tanh(dense(text[:, 0]))  # [B, D]
print([f"{value:.2f}" for value in pooled[0]])


# %%
class MyPooler(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states):  # [B, T, D]
        return torch.tanh(self.dense(hidden_states[:, 0]))  # [B, D]


# %% [markdown]
# The pooler ignores the other tokens. Keep in mind how its weights are learned: in pre-training, only **next sentence
# prediction** (NSP, chapter 07) reads the pooled vector. The masked language model does not use it. So before
# fine-tuning, the pooler's weights have been trained for NSP and for nothing else, and the pooled vector is a poor
# **sentence vector**. Even the `[CLS]` vector that it is made from compares sentences worse than the mean of GloVe
# word vectors does (Reimers and Gurevych 2019, table 1). Chapter 13 measures the `[CLS]` vector and the pooled
# vector. Fine-tuning trains the pooler for your task.
#
# ## The whole BERT
#
# Now we have all the parts, and the class is short. We feed a new model two texts. The second one is shorter and
# filled up with `[PAD]` (id 0). Write down your guesses first:
#
# 1. What are the shapes of the outputs?
# 2. The pooler reads only the first token. If we change the **last word** of a text, does its pooled vector change?
# 3. Does the second text get the same pooled vector alone, without padding? And if we forget the mask?

# %%
from bertedu.model.attention import padding_bias  # 0 for tokens, very negative for padding


class MyBert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config)
        self.pooler = MyPooler(config.hidden_size)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):  # [B, T] each
        vectors = self.embeddings(input_ids, token_type_ids)  # [B, T, D]
        bias = None
        if attention_mask is not None:
            bias = padding_bias(attention_mask, vectors.dtype)  # [B, 1, 1, T]
        hidden_states, _ = self.encoder(vectors, bias)  # L + 1 times [B, T, D]
        return hidden_states[-1], self.pooler(hidden_states[-1])  # [B, T, D] and [B, D]


# %%
torch.manual_seed(0)
my_bert = MyBert(config).eval()  # eval: without dropout
input_ids = torch.tensor([[2, 11, 12, 13, 14, 3], [2, 21, 22, 3, 0, 0]])  # [B, T]
attention_mask = (input_ids != 0).long()  # [B, T]: 1 for tokens, 0 for padding
with torch.no_grad():
    print([list(vectors.shape) for vectors in my_bert(input_ids, attention_mask)])


# %%
@torch.no_grad()
def pooled_vector(ids, mask=None):  # [B, T] -> [B, D]
    return my_bert(ids, mask)[1]


def largest(one, other):  # the largest difference of any two entries
    return (one - other).abs().max().item()


changed = input_ids.clone()
changed[0, 4] = 15  # another last word
pooled, changed_pooled = (pooled_vector(ids, attention_mask) for ids in (input_ids, changed))
alone = pooled_vector(torch.tensor([[2, 21, 22, 3]]))
print("largest difference of the pooled vectors")
print(f"last word changed:  {largest(pooled[0], changed_pooled[0]):.3f}")
print(f"alone, padded:      {largest(alone[0], pooled[1]):.3f}")
print(f"alone, no mask:     {largest(alone[0], pooled_vector(input_ids)[1]):.3f}")

# %% [markdown]
# The pooler reads one token, but attention has carried information from the whole text into it: the last word
# matters. With the mask, padding makes no difference, through all layers. Without the mask, it does.
#
# ## Watch every shape of a forward pass
#
# You can watch a module without changing its code. A **forward hook** is a function that PyTorch calls after each
# `forward` of a module. It gets the module, its inputs and its output.
#
# The first cell puts a hook on the pooler. The second puts one on every module that has no submodules, and collects
# the outputs of a whole forward pass. It avoids two traps. `name=name` binds the name of *this* turn of the loop;
# without it, all hooks would share the last name. And `finally` removes the hooks even if the model fails.
#
# Guess for the third cell: in which lines is the last number not D = 32, and what is the shape in the last line?


# %%
def report(module, inputs, output):
    print(type(module).__name__, list(inputs[0].shape), "->", list(output.shape))


handle = my_bert.pooler.register_forward_hook(report)
_ = pooled_vector(input_ids)
handle.remove()  # otherwise it reports at every later call
_ = pooled_vector(input_ids)  # prints nothing


# %%
def trace(model, *inputs):  # (name, output) of every smallest module, in the order of the calls
    seen, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):

            def remember(module, inputs, output, name=name):
                seen.append((name, output))

            handles.append(module.register_forward_hook(remember))
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return seen


# %%
print(f"ids {' ':38} {list(input_ids.shape)}")
for name, output in trace(my_bert, input_ids, attention_mask):
    if "dropout" not in name and "layers.1" not in name:  # layer 1 has the shapes of layer 0
        print(f"{name:42} {list(output.shape)}")

# %% [markdown]
# Only the inside of the feed-forward network is wider, by a factor of four. Every other module in the list returns
# `[B, T, D]`, until the pooler drops T.
#
# The position embeddings are missing from the list. `BertEmbeddings` reads their table directly
# (`position.weight[:T]`) and never *calls* the module, so no hook runs. The softmax of attention, the residual
# additions and the pooler's tanh are missing too: they are functions, not modules. A hook sees calls of modules only.
#
# ## Count the parameters
#
# How many numbers does BERT have to learn? Calculate by hand, for a BERT with V = 10 tokens, D = 4, 6 positions, 2
# token types, and 1 layer with inner size 16. A linear layer from n to m has n · m weights and m biases. A LayerNorm
# has 2 · D parameters (a scale and a shift for each entry). The embeddings are done for you in the next cell. Do
# attention and the feed-forward network yourself before you run it.

# %%
from bertedu import BertModel

sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2}
toy = BertConfig(**sizes, vocab_size=10, intermediate_size=16, max_position_embeddings=6)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


bert = BertModel(toy)
print("embeddings (10 + 6 + 2) · 4 + 2 · 4 =", count(bert.embeddings))
for name, part in bert.encoder.layers[0].named_children():
    print(f"{name:17} =", count(part))
print("pooler            =", count(bert.pooler), "   all:", count(bert))

# %% [markdown]
# ### Exercise 5.2 · 110 million by formula
# ●●○○ · 15 minutes
#
# Write `count_parameters(config)`. It returns the number of parameters of a BERT with pooler and without heads, from
# the numbers in the config alone. You need `vocab_size`, `max_position_embeddings`, `type_vocab_size`, `hidden_size`,
# `intermediate_size` and `num_hidden_layers`. Try it on `toy` first: the answer there is 344.


# %% tags=["exercise"]
def count_parameters(config):
    ### BEGIN SOLUTION
    D, inner = config.hidden_size, config.intermediate_size
    norm = 2 * D
    tables = config.vocab_size + config.max_position_embeddings + config.type_vocab_size
    embeddings = tables * D + norm
    attention = 4 * (D * D + D)  # query, key, value, output
    feed_forward = D * inner + inner + inner * D + D
    layer = attention + norm + feed_forward + norm
    pooler = D * D + D
    return embeddings + config.num_hidden_layers * layer + pooler
    ### END SOLUTION


check("5.2", count_parameters)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The embeddings are three tables with D columns and a LayerNorm. Each layer has four linear layers from D to D, two
# between D and the inner size, and two LayerNorms. The pooler is one linear layer. With inner = 4D, P positions and S
# token types, the sum is (V + P + S + 2) · D + L · (12 D² + 13 D) + D² + D. Remember the 12 D².
#
# </details>

# %% [markdown]
# Now we count the published sizes. BERT-Large would fill more than a gigabyte, but counting needs no numbers, only
# shapes. On the device `meta`, PyTorch builds a model of shapes alone. The paper says 110 M for Base and 340 M for
# Large.
#
# Where are these parameters? The second cell calculates the share of each part, and the third draws it. It includes
# four smaller sizes, tiny to medium, which Google published later (Turc et al. 2019). Guess first: which share of the
# smallest (tiny: L = 2, D = 128) is embeddings, and which share of Large?

# %%
from bertedu import BertForPreTraining


def shapes_only(preset, model_class=BertModel):
    with torch.device("meta"):
        return model_class(BertConfig.preset(preset))


for name in ("base", "large"):
    bare, with_heads = count(shapes_only(name)), count(shapes_only(name, BertForPreTraining))
    print(f"{name:5} {bare:11,}, with both pre-training heads {with_heads:11,}")


# %%
def shares(model):
    layers = model.encoder.layers
    parts = (
        [model.embeddings],
        [one.attention for one in layers],
        [one.feed_forward for one in layers],
    )
    return [sum(map(count, part)) / count(model) for part in parts]


presets = ("tiny", "mini", "small", "medium", "base", "large")
models = {preset: shapes_only(preset) for preset in presets}

# %% tags=["hide-input"]
figure = new_figure(7.4, 2.8)
axes = figure.subplots()
for row, model in enumerate(reversed(models.values())):
    left = 0.0
    for share, color in zip(shares(model), (ORANGE, BLUE, GREEN)):
        axes.barh(row, share, left=left, color=color, height=0.72, edgecolor="white")
        label, left = f"{share:.0%}" if share > 0.07 else "", left + share
        middle = {"ha": "center", "va": "center", "color": "white", "fontsize": 8}
        axes.text(left - share / 2, row, label, **middle)
    axes.text(1.01, row, f"{count(model) / 1e6:.1f} M", va="center", fontsize=8, color=INK)
legend = ((0, "embeddings", ORANGE), (0.2, "attention", BLUE), (0.62, "feed-forward", GREEN))
for x, text, color in legend:
    axes.text(x, -0.8, text, color=color, fontsize=9)
axes.set(yticks=range(6), xticks=[], xlim=(0, 1.07), ylim=(-0.9, 5.5))
axes.set_yticklabels(reversed(models))
axes.tick_params(length=0)
axes.spines[:].set_visible(False)
alt = (
    "Stacked bars of the parameters of six sizes. Embeddings: {:.0%} of tiny, {:.0%} of large."
)
Picture(figure, alt=alt.format(shares(models["tiny"])[0], shares(models["large"])[0]))

# %% [markdown]
# Base agrees with the paper. Large has 335 M, or 336 M with the heads, so the paper's 340 M is rounded up.
#
# The smallest BERT consists mostly of its embedding table. The table grows with D (it has V · D entries), the layers
# with D². If you want a very small model, you have to shrink the table. ALBERT (Lan et al. 2020) replaces it with two
# smaller matrices. In every size, the feed-forward networks have twice as many parameters as attention: 8 D² against
# 4 D².
#
# ## What a training step keeps in memory (optional)
#
# A parameter in float32 takes 4 bytes. Training also keeps its gradient, and Adam keeps two running means for it.
# Guess the number of bytes for each parameter. Then run the cell, which measures them in a real step and applies the
# result to the published sizes.

# %%
model = BertModel(toy)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.tensor([[1, 2, 3]])).pooler_output.sum().backward()
optimizer.step()

weights = sum(p.nbytes for p in model.parameters())
gradients = sum(p.grad.nbytes for p in model.parameters())
states = optimizer.state.values()
means = sum(state[key].nbytes for state in states for key in ("exp_avg", "exp_avg_sq"))
each = [f"{part / count(model):.0f}" for part in (weights, gradients, means)]
print(f"bytes for each of {count(model)} parameters:", " + ".join(each))
for preset, model in models.items():
    billions = count(model) / 1e9
    print(f"{preset:6}  weights {4 * billions:.2f} GB,  in training {16 * billions:.2f} GB")

# %% [markdown]
# To train Base you need 1.75 GB for these numbers, however small the batch is. The other part is the
# **activations**: the tensors of the forward pass that the backward pass will need. Shapes are enough to count these,
# too. PyTorch calls our function for each tensor that it keeps, and we sum the bytes.
#
# The next cell does that for BERT-Base and 32 texts of 128 tokens, then of 256 and of 512. Do the activations grow by
# a factor of four from 128 to 512?


# %%
def kept_for_backward(model, B, T):  # bytes
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept = {}

    def keep(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in weights:  # each piece of memory counts once
            kept[memory._cdata] = memory
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        ids = torch.zeros(B, T, dtype=torch.long, device="meta")
        model(ids, output_attentions=True)
    return sum(memory.nbytes() for memory in kept.values())


activations = {T: kept_for_backward(models["base"], 32, T) / 1e9 for T in (128, 256, 512)}
for T, gigabytes in activations.items():
    times = gigabytes / activations[128]
    print(f"B = 32, T = {T}: {gigabytes:4.1f} GB of activations, {times:.1f} times T = 128")

# %% [markdown]
# They grow by a factor of seven. Most tensors grow with T, but the attention weights are `[B, H, T, T]` and grow with
# T². In models of BERT's size, activations usually decide whether a training step fits in memory, and you choose B
# and T. The simplest way out is **gradient accumulation**: run half the batch twice and update once. The paper
# trained with T = 128 for 90 % of its steps (appendix A.2).
#
# These are the bytes of *explicit* attention, which stores the `[T, T]` weights, on a CPU. (With CUDA it is less:
# dropout's mask has one byte for each number there, not four. At T = 512 attention then keeps 10.9 GB and the rest of
# the layers 10.0 GB.) The fused kernels of chapter 03 compute attention in
# one piece and never store the weights, so the T² part disappears.
#
# ## How the weights are initialized
#
# A new BERT needs its first numbers, its **initialization**. Google's code draws each weight from a normal
# distribution with standard deviation 0.02, truncated at two standard deviations. Biases are 0. LayerNorm's weight
# starts at 1 and its bias at 0, so at first it only normalizes. `BertModel` does the same. Your `MyBert` does not
# yet: it starts with PyTorch's defaults, which give an embedding a standard deviation of **1**. Does it matter?
#
# There is a test that works for every classifier. An untrained model that scores V = 30,522 words knows nothing, so
# it should give each word a probability near 1 / V. Which loss (cross-entropy) is that? Guess, then run the cell.

# %%
import math

torch.manual_seed(0)
ids = torch.randint(1000, 30522, (8, 32))  # [B, T]
labels = torch.randint(1000, 30522, (8, 32))  # [B, T]
new = BertForPreTraining(BertConfig.preset("tiny")).eval()  # initialized as in Google's code
weight = new.bert.encoder.layers[0].feed_forward.expand.weight
print(f"standard deviation of a weight: {weight.std() / 0.02:.2f} · 0.02")
with torch.no_grad():
    loss = new(ids, labels=labels).loss
    print(f"BERT's initialization: loss {loss:.1f}, ln V {math.log(30522):.1f}")
    for module in new.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.reset_parameters()  # PyTorch's defaults
    print(f"PyTorch's defaults:    loss {new(ids, labels=labels).loss:.0f}")

# %% [markdown]
# With BERT's initialization the loss is ln V: the model does not know the answer and spreads its probability evenly.
# With PyTorch's defaults the loss is far higher: the model is sure and wrong. A word's score is a dot product with
# the word's embedding, a sum of D products. If the entries of both vectors have a standard deviation of 1, the score
# has a standard deviation of √D, and softmax turns that into certainty. Keep this test: if the first loss of a
# classifier with C classes is well above ln C, look at its initialization.
#
# The measured standard deviation is 0.88 · 0.02, because the truncation removes the tails. `transformers` does not
# truncate.
#
# ## The same weight under two names
#
# Back to the checkpoint. The next cell prints the weights of one encoder layer under our names and under theirs, in
# the same order. The biases have the same names with `bias` at the end.

# %%
ours = [name for name in my_bert.state_dict() if "layers.0" in name and name.endswith("weight")]
their = [name for name in theirs.state_dict() if "layer.0" in name and name.endswith("weight")]
for one, other in zip(ours, their, strict=True):
    print(f"{one:44} {other}")

# %% [markdown]
# Look closely at `output.dense` and `output.LayerNorm`: each occurs twice, once with `attention` before it and once
# without.
#
# In the embeddings, `word_embeddings` is our `token`, `position_embeddings` is `position`, `token_type_embeddings` is
# `token_type`, and `LayerNorm` is `norm`. The pooler has the same names on both sides.
#
# ### Exercise 5.3 · Translate the names
# ●●○○ · 15 minutes
#
# Write `our_name(name)`. It gets the name of a weight in `transformers` and returns our name, for any number of
# layers. `str.replace` in the right order is enough. A regular expression works too.


# %% tags=["exercise"]
def our_name(name):
    ### BEGIN SOLUTION
    table = [  # the longer parts first
        ("attention.output.LayerNorm", "attention_norm"),
        ("attention.output.dense", "attention.output"),
        ("attention.self", "attention"),
        ("intermediate.dense", "feed_forward.expand"),
        ("output.dense", "feed_forward.shrink"),
        ("output.LayerNorm", "feed_forward_norm"),
        ("encoder.layer.", "encoder.layers."),
        ("word_embeddings", "token"),
        ("position_embeddings", "position"),
        ("token_type_embeddings", "token_type"),
        ("embeddings.LayerNorm", "embeddings.norm"),
    ]
    for their_part, our_part in table:
        name = name.replace(their_part, our_part)
    return name
    ### END SOLUTION


check("5.3", our_name)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# We replace the name part by part, and the order matters. `attention.output.dense` contains `output.dense`, so the
# longer part has to come first. In the other order, the output projection of attention would be called
# `attention.feed_forward.shrink`. The package keeps one such table in `bertedu/checkpoints/names.py` and uses it in
# both directions.
#
# </details>

# %% [markdown]
# We go on with the package's table. The next cell translates every name and loads **strictly**: a name that is
# missing or left over, or a tensor of another shape, would raise an error.

# %%
from bertedu.checkpoints.names import from_transformers

translated = {from_transformers(name): tensor for name, tensor in tensors.items()}
print(my_bert.load_state_dict(translated))

# %% [markdown]
# ## The proof
#
# Three models should now be the same: yours with the translated names, the package's, and that of `transformers`. The
# first cell gives them a batch with everything in it: token types, padding, texts of different lengths. The second
# prints the largest difference between your outputs and those of the other two.
#
# The third cell tests the way back: the package saves, and `transformers` opens the folder. Nothing is computed on
# that way, so every single number must be the same.

# %%
torch.manual_seed(1)
package = BertModel.from_pretrained(folder)
ids = torch.randint(5, 60, (3, 12))  # [B, T]
mask = torch.tensor([12, 9, 4])[:, None].gt(torch.arange(12)).long()  # [B, T]: 12, 9, 4 tokens
types = (torch.arange(12) >= 5).long().expand(3, 12)  # [B, T]
with torch.no_grad():
    mine, ours = my_bert(ids, mask, types), package(ids, mask, types)
    reference = theirs(ids, attention_mask=mask, token_type_ids=types)

# %%
print("largest difference from mine         the package   transformers")
for index, name in enumerate(["last_hidden_state", "pooler_output"]):
    differences = [largest(mine[index], getattr(other, name)) for other in (ours, reference)]
    print(f"{name:17} {list(mine[index].shape)!s:12}", *(f"{d:14.5f}" for d in differences))

# %%
package.save_pretrained(folder / "back")
returned = transformers.BertModel.from_pretrained(folder / "back")
equal = [torch.equal(tensor, tensors[name]) for name, tensor in returned.state_dict().items()]
print(f"{sum(equal)} of {len(tensors)} tensors came back, bit by bit")

# %% [markdown]
# Your class can now hold the weights of any checkpoint with BERT's architecture.
#
# ## The real BERT-Base (optional)
#
# Does it hold for the BERT that Google published? This needs the internet and downloads 440 MB from the Hugging Face
# hub. Set `download = True` if you want to try it. The cell reads one sentence with the package and with
# `transformers`, and prints the largest difference.

# %% tags=["nbval-ignore-output"]
download = False
if download:
    name = "google-bert/bert-base-uncased"
    tokenizer = transformers.BertTokenizer.from_pretrained(name)
    encoded = tokenizer("The seal swims to the beach.", return_tensors="pt")
    both = [Model.from_pretrained(name).eval() for Model in (BertModel, transformers.BertModel)]
    with torch.no_grad():
        one, other = (model(**encoded).last_hidden_state for model in both)
    print(f"{count(both[0]):,} parameters, largest difference {largest(one, other):.5f}")
else:
    print("Not downloaded: set download = True to try it.")

# %% [markdown]
# ## Heads for the tasks that follow
#
# A **head** turns BERT's vectors into an answer. (The word has a second meaning: an *attention head* is one of the H
# parts of self-attention.) A task head is nearly always one linear layer. What matters is what it reads: the pooled
# vector for questions about a text, the last hidden state for questions about tokens. That adds a few thousand
# parameters to 110 million. This is the idea of **fine-tuning**: nearly everything has been learned before your task
# begins.
#
# The exception is the head of the masked language model. It scores all V words, and a matrix of its own would cost V
# · D = 23 million parameters. But BERT already has such a matrix: the table of token embeddings. The head uses it
# again: the score of a word is the dot product with the word's own embedding, plus a bias for each word. This is
# called **weight tying**.
#
# The cell prints the shapes of four heads, then the parameters of the pre-training heads. Most of these belong to a
# linear layer from D to D that the masked language model puts before the dot product (chapter 06).

# %%
B, T, D = 8, 128, 768
pooled, hidden = torch.zeros(B, D), torch.zeros(B, T, D)
heads = [
    ("which of 3 kinds is the text?", pooled, nn.Linear(D, 3)),
    ("does text 2 follow text 1?", pooled, nn.Linear(D, 2)),
    ("which of 9 tags has each token?", hidden, nn.Linear(D, 9)),
    ("where does the answer start, end?", hidden, nn.Linear(D, 2)),
]
for question, vectors, head in heads:
    shapes = f"{list(vectors.shape)!s:14} -> {list(head(vectors).shape)!s:13}"
    print(f"{question:34} {shapes} {count(head):5,} parameters")
full = shapes_only("base", BertForPreTraining)
decoder = full.masked_lm.decoder
tables = {id(decoder.weight), id(full.bert.embeddings.token.weight)}
print(f"both pre-training heads: {count(full) - count(full.bert):,} parameters")
print(f"decoder {list(decoder.weight.shape)} and token embeddings: {len(tables)} tensor")

# %% [markdown]
# ## Broken BERT: loaded without complaint (optional)
#
# Google published BERT for TensorFlow. A colleague has written a loader for these files. It translates every name and
# loads strictly, so a missing weight, one too many or one of another shape would raise an error. There is none: all
# keys match.
#
# Then we compare the loaded model with the one that the file was made from, layer by layer: how similar are the two
# vectors of the same token? The **cosine similarity** is 1 if they point in the same direction, and 0 if they are at
# right angles.
#
# `google_checkpoint` writes our weights as Google's TensorFlow code would have stored them. The first cell shows some
# of its names, the second is the loader, the third compares. In the loader, each text in `pairs` holds a part of a
# name, a space, and what replaces it.

# %%
from bertedu.chapters.ch05_the_whole_bert.exercises.shared import google_checkpoint

google = google_checkpoint(package)
for name in list(google)[3:7]:
    print(f"{name:50} {list(google[name].shape)}")


# %%
def torch_name(name):
    pairs = ("bert/ ", "/ .", "layer_ layer.", "kernel weight", "gamma weight", "beta bias")
    for pair in pairs:
        name = name.replace(*pair.split(" "))  # old, new
    return from_transformers(name if name.endswith(("weight", "bias")) else name + ".weight")


def load_google(model, file):
    expected, found = model.state_dict(), {}
    for name, tensor in file.items():
        target = torch_name(name)
        if tensor.shape != expected[target].shape:  # TensorFlow stores some weights transposed
            tensor = tensor.T
        found[target] = tensor
    return model.load_state_dict(found)


suspect = BertModel(config).eval()
print(load_google(suspect, google))

# %%
with torch.no_grad():
    right = package(ids, mask, types, output_hidden_states=True).hidden_states
    wrong = suspect(ids, mask, types, output_hidden_states=True).hidden_states
for depth, (one, other) in enumerate(zip(right, wrong, strict=True)):
    cosine = torch.cosine_similarity(one, other, dim=-1).mean()
    print(f"layer {depth}   " if depth else "embeddings", f"{cosine:.1f}")

# %% [markdown]
# The embeddings are right, and the output of the first layer is not. Every shape fits, and the numbers are those of
# the file. Where exactly does it go wrong? A loop over hidden states is too coarse to say. You have a better tool:
# `trace`.
#
# ### Exercise 5.4 · Where two models start to differ
# ●●●○ · 12 minutes
#
# Write `first_difference(one, other, input_ids)`. Return the name of the first module, in the order of the calls,
# whose output has any entry that differs by more than 1e-5 between the two models. Return `"nowhere"` if there is
# none.


# %% tags=["exercise"]
def first_difference(one, other, input_ids):
    ### BEGIN SOLUTION
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids)):
        if (left - right).abs().max() > 1e-5:
            return name
    return "nowhere"
    ### END SOLUTION


check("5.4", first_difference)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Both traces list the same modules in the order of the calls, so we can compare them side by side. A module that
# reads a wrong output returns a wrong one too. That is why the *first* difference matters.
# `first_difference(package, suspect, ids)` returns `encoder.layers.0.attention.query`, although its shape was right.
#
# </details>

# %% [markdown]
# Run `first_difference(package, suspect, ids)` with your function. Look at the weight of that module in both models,
# then read the loader again. What do the wrong weights have in common that the weights of the feed-forward network do
# not?
#
# ### Exercise 5.5 · Repair the loader
# ●●●○ · 8 minutes
#
# Write `as_torch(name, tensor)`. It gets one entry of Google's file, under Google's name, and returns the tensor in
# the orientation that PyTorch needs. It should be right for every weight of every BERT, with its heads, and not only
# for these sizes.


# %% tags=["exercise"]
def as_torch(name, tensor):
    ### BEGIN SOLUTION
    return tensor.T if name.endswith("/kernel") else tensor
    ### END SOLUTION


check("5.5", as_torch)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# TensorFlow computes `x @ kernel` and stores a kernel as `[in, out]`. PyTorch computes `x @ weight.T` and stores
# `[out, in]`. So *every* kernel must be transposed. The loader transposed only those whose shape did not fit. But the
# four projections of attention and the pooler are square: they fit both ways. Everything that is not a kernel
# (tables, biases, LayerNorm) stays, even if it happens to be square. So do the `output_weights` of Google's
# classification heads: they are `[out, in]` already. The name tells the orientation. The shape does not.
#
# </details>

# %% [markdown]
# The lesson is more general than this file. *Loaded strictly* means that names and shapes agree. It says nothing
# about what the numbers mean. Only one test does: the same input gives the same output as in the original model.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Size | Devlin et al. (2019, section 3): 110 M and 340 M parameters, and a vocabulary of 30,000. The published English files without upper case (`uncased`) have V = 30,522, which gives 109.5 M and 335.1 M |
# | Heads | D must be a multiple of H. The example in the docstring of Google's `BertModel` (`modeling.py`) has D = 512 and 6 heads, and the same code refuses these sizes |
# | Pooler | The paper calls the final vector of `[CLS]` C and puts the classifier on it. The linear layer with tanh in between is in Google's code (`modeling.py`, scope `pooler`) and in `transformers` |
# | Initialization | Google: normal, 0.02, truncated at two standard deviations (`create_initializer`). `transformers`: not truncated. This course truncates |
# | Epsilon of LayerNorm | 1e-12, as in Google's code. PyTorch's default is 1e-5. If you forget it, the outputs differ a little and nothing complains |
# | Names of LayerNorm | `gamma` and `beta` in Google's files, and in early checkpoints for PyTorch (`transformers` issue 11809). When loading, `transformers` renamed *every* parameter with these words in its name, which broke other models until the rule was narrowed to LayerNorm (issue 29554, pull request 35615, 2025) |
# | Transposed kernels | `[in, out]` in TensorFlow, `[out, in]` in PyTorch. The converter has to transpose them (issue 4514 asks where) |
# | Tied decoder | One tensor. `save_pretrained` writes it once, and loading ties it again |
#
# ## Your own BERT speaks
#
# Your answers from chapters 01 to 05 are eleven parts of a BERT, from the longest match to the names of the weights.
# The next cell puts them together, as in [chapter 03](03_self_attention.ipynb). Your `split_word` and `encode_pair`
# make the ids, your `our_name` reads the file, and your encoder computes the hidden states.

# %%
from bertedu.mine import mine

mine()

# %% [markdown]
# Compare the two columns of words, then the three lines about differences. If the hidden states agree with those of
# `transformers` to five digits, your program computes the same function. Read `my_bert.py` once from top to bottom: it
# is a whole BERT on a few pages, in the order of the data. In a terminal, `bertedu mine` shows the same and writes a
# page to print.
#
# ## Summary
#
# - A BERT is a config (how large), a class (what is computed) and a checkpoint (named numbers).
# - The pooler is the vector of `[CLS]`, a linear layer and tanh: `[B, T, D]` to `[B, D]`. In pre-training, only NSP
#   trains it, so it is a poor sentence vector before fine-tuning.
# - Parameters: (V + positions + token types + 2) · D, then 12 D² + 13 D for each layer (if its inner size is 4 · D),
#   then D² + D. Feed-forward networks then have twice as many as attention. In the smallest BERT, the embeddings have
#   nine tenths of them.
# - Training takes 16 bytes for each parameter in float32 with Adam. Activations come on top and grow with B, T and
#   T².
# - A new classifier should start at a loss near the logarithm of its number of classes: ln V for a masked language
#   model. With BERT's initialization it does.
# - Matching names and shapes prove little. Equal outputs prove that the weights have arrived.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(5)

# %% [markdown]
# ## Interview questions
#
# <!-- arithmetic-01 -->
# **1. Where are the 110 million parameters of BERT-Base? Do it without a calculator.**
#
# <details><summary>Answer in half a minute</summary>
#
# A layer has four D×D matrices in attention and two of D×4D in the feed-forward network: 12·D². With D = 768 that is
# 7.1 million, and twelve layers have 85 million. The token embeddings are V·D = 30,522 · 768, which is 23.4 million.
# The positions add 0.4 million, the pooler 0.6 million. Together 109.5 million.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Start with one layer. Attention has four matrices of D×D: query, key, value and output. The feed-forward network has
# two, from D to 4·D and back, which is 8·D². Together 12·D². For D = 768, D² is about 590,000, so a layer has 7.1
# million weights. Biases and the two LayerNorms add about 10,000, which you can forget.
#
# Twelve layers: 85 million. Then the embeddings. The vocabulary has 30,522 entries of 768 numbers: 23.4 million, more
# than a fifth of the model. The 512 positions are another 0.4 million, the two segments nothing to speak of. The
# pooler is one more D×D matrix, 0.6 million. The sum is 109.5 million, which people round to 110. For pre-training
# the masked-language-model head adds 0.6 million for one more D×D matrix, and a bias for each word. Its output matrix
# is the token embeddings again, so it costs nothing.
#
# Two consequences are worth saying. In a small model the vocabulary dominates: BERT-Tiny has 4.4 million parameters,
# and 3.9 million of them are token embeddings. And embeddings cost memory but hardly any computation, since a look-up
# multiplies nothing. For the cost of a step you count the 85 million.
#
# </details>
#
# <!-- arithmetic-08 -->
# **2. Fine-tuning BERT-Base with 32 texts of 512 tokens stops on a 12 GB GPU: out of memory. Where does the memory
# go, and what do you change, in which order?**
#
# <details><summary>Answer in half a minute</summary>
#
# 1.75 GB for weights, gradients and Adam's averages, whatever the batch is. The rest are activations kept for the
# backward pass: about 34·B·T·D bytes in 16 bits and 5·H·B·T² more for each layer with explicit attention, here some
# 11 GB. First a fused kernel, bf16, shorter texts, then smaller batches with accumulation, then checkpointing.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Two parts. The fixed one: 16 bytes for each of 109 million parameters in float32, weight, gradient, two averages:
# 1.75 GB. That doesn't depend on the batch.
#
# The other part are activations: what the forward pass must keep for the backward pass. A useful count, from
# Korthikanti and others, with 16-bit activations: each layer keeps about 34 bytes for each of the B · T · D numbers,
# for the inputs of every matrix product, norm, GELU and dropout masks, and 5 · H bytes for each of the B · T² pairs,
# for scores, weights and their dropout. For B = 32, T = 512, D = 768 that is 428 MB and 503 MB, times 12 layers 5.1
# and 6.0 GB. Together 11.2, plus 1.75: no room in 12 GB. In float32 it is nearly double: 10.0 and 10.9 GB.
#
# Now the order of changes, by price. One: a fused attention kernel: the T² part disappears, nothing else changes.
# That is more than half here. Two: bf16 instead of float32 halves activations. Three: how long are the texts? If the
# 95th percentile is 200 tokens, cut or batch by length; T counts linearly, and squared in the attention part. Four: a
# smaller batch with accumulated gradients: half the batch, half the activations, the same result if the mean is
# weighted correctly, a little slower. Five: activation checkpointing keeps only each layer's input, B · T · D
# numbers, and computes the rest again: about a third more time for a tenth of the memory. Six, only if the fixed part
# hurts: LoRA or 8-bit averages. Freezing the lower layers helps too, since nothing needs to be kept for them.
#
# And I look at the measurement: `max_memory_allocated` after a step, not nvidia-smi, which shows what the allocator
# has reserved.
#
# </details>
#
# <!-- debugging-04 -->
# **3. You load a checkpoint into your own implementation and get no error. Why is that not enough, and how do you
# test it?**
#
# <details><summary>Answer in half a minute</summary>
#
# With `strict=False` maybe nothing was loaded. With strict loading names and shapes agree, but a square matrix can be
# transposed, two weights of the same shape swapped, and the config wrong where no weight shows it: number of heads,
# epsilon, activation. The test: compare outputs with the reference on a batch with padding and two segments, in
# evaluation mode. They must agree to about 1e-5.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A loader checks names and shapes, not meaning. With `strict=False` it doesn't even check names: if all have another
# prefix, nothing is loaded, and I get a random model and a list that nobody read. So strict, or print what is missing
# and what is left over, and allow it name by name.
#
# But strict isn't enough. Query, key, value and the attention output of BERT-Base are all 768 by 768. Transposed, as
# TensorFlow stores them, they fit. Key and query swapped, they fit. The two LayerNorms of a layer fit each other. And
# some settings have no weights at all: 12 heads or 6 give the same shapes, epsilon 1e-12 or 1e-5, exact GELU or its
# approximation, the mask's sign, post-norm or pre-norm, the order of adding segments. And weight tying: the output
# layer must be the embedding itself, not a copy.
#
# The test is numerical. Take the reference implementation, one fixed batch with two texts of different length, so
# that there is padding, and token types 0 and 1. Evaluation mode, float32. Compare the outputs: 1e-5 is agreement,
# 1e-3 hints at an epsilon or an activation, 1 at a wrong matrix. If they differ, compare layer by layer: embeddings,
# then after layer 1, then inside it. The first module that differs holds the bug.
#
# Why not a task score? A model with a small error still does something, and fine-tuning partly repairs it. I keep the
# reference's numbers in a file, and the test runs with every change.
#
# </details>
#
# ## Next
#
# You have a whole BERT, but it has learned nothing yet. What can it learn from text that nobody has labelled? Cover a
# word and ask for it: [06 · Masked language model](06_masked_language_model.ipynb). `make bert` pre-trains one right
# now, with the package whose parts you know.
