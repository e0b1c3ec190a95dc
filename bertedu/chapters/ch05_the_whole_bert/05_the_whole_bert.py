# %% [markdown]
# # 05 · The whole BERT
#
# In this chapter you put your parts together into a whole BERT. It opens a checkpoint of `transformers` and gives the
# same outputs, and you will know where each of its 110 million parameters is.
#
# ## What you will be able to do
#
# - assemble BERT from a config, embeddings, an encoder and a pooler, and say what each of them is for
# - calculate the number of parameters of any BERT, and the memory that a training step needs
# - watch every shape of a forward pass with hooks, and use hooks to find where two models start to differ
# - load the weights of another implementation by name, and prove that they arrived
# - put a head on BERT for tasks on texts, on tokens or on spans
#
# **Time:** two sittings of about 50 and 35 minutes, and 45 more for what is optional. The first builds the model and counts it,
# the second gives it good numbers and a task ·
# **You need:** [04 · The Transformer encoder](04_transformer_encoder.ipynb) ·
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
# ![The map of BERT from left to right: tokenizer, embeddings, L layers of self-attention and feed-forward, heads. The heads are lit. Below the map, three new boxes: the config says how large each part is, the checkpoint holds its numbers, and the pooler makes one vector of the first token.](pictures/05_where.svg)
#
# You have built the tokenizer, the embeddings and the encoder. What is missing is what makes them one model that
# people can use: a **config**, a **checkpoint**, a **pooler**, and **heads** for tasks.

# %% [markdown]
# ## A model is a folder with two files
#
# ![The folder of the small BERT of this chapter. config.json: numbers such as hidden_size 32. model.safetensors: tensors, each with a name and a shape, such as embeddings.word_embeddings.weight 60 by 32.](pictures/05_folder.svg)
#
# People share a BERT as a folder. Besides the tokenizer's files it holds a **config** (how large is everything?) and a
# **checkpoint** (all the numbers, each tensor with a name). Let's make one with `transformers`, for a BERT that is
# small enough to look at.
#
# A new model's biases are all 0, and that would hide mistakes: swap two biases, and nothing changes. So we add random
# numbers to every weight. Think of the result as a trained checkpoint.

# %%
import torch
import transformers

transformers.utils.logging.disable_progress_bar()
torch.manual_seed(0)
sizes = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
sizes |= {"intermediate_size": 128, "max_position_embeddings": 20}
theirs = transformers.BertModel(transformers.BertConfig(**sizes)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter += 0.2 * torch.randn_like(parameter)

# %% [markdown]
# Now it is saved, and we read the checkpoint back as a dictionary from name to tensor.

# %%
import tempfile
from pathlib import Path

from safetensors.torch import load_file  # reads the file format of checkpoints

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
theirs.save_pretrained(folder)
tensors = load_file(folder / "model.safetensors")
print(sorted(file.name for file in folder.iterdir()), len(tensors), "tensors, for instance:")
query = "encoder.layer.0.attention.self.query.weight"
for name in ["embeddings.word_embeddings.weight", query, "pooler.dense.bias"]:
    print(f"  {name:45} {list(tensors[name].shape)}")

# %% [markdown]
# You have the embeddings and the encoder. The next cell builds them in this size and loads the file.
#
# A module's **state dict** is a dictionary from name to tensor, like the one that we read, and `load_state_dict` fills a
# module from one. It is **strict** by default: it raises an error if a name does not match. Somebody on a forum
# recommends `strict=False`, because "then the error goes away". Guess: how many of our tensors will get their
# numbers?

# %% tags=["guess"]
from torch import nn

from bertedu import BertConfig
from bertedu.model.embeddings import BertEmbeddings
from bertedu.model.encoder import Encoder

config = BertConfig.load(folder)
parts = nn.ModuleDict({"embeddings": BertEmbeddings(config), "encoder": Encoder(config)})
result = parts.load_state_dict(tensors, strict=False)
print(f"we have {len(parts.state_dict())} tensors, the file has {len(tensors)}")
print(f"ours without a match: {len(result.missing_keys)}")
print(f"theirs without a match: {len(result.unexpected_keys)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Our names on the left, the names in the file on the right, each pair unequal: token.weight is word_embeddings.weight there, and so on for all. No name is on both sides, so no tensor is loaded.](pictures/05_no_match.svg)
#
# None. There is no error, and not one number has arrived: no name is the same on both sides. The model would run, and
# its answers would come from random weights.
#
# </details>
#
# Three things are missing: the **pooler** (two of their tensors have no counterpart here), a **class** that connects
# the parts, and a **table of names**. But first, a closer look at the config.

# %% [markdown]
# ## The config
#
# A handful of numbers determine the architecture of a BERT. `BertConfig` keeps them under the names that the file
# uses. These are the two sizes of the paper. The **inner size** is the width inside the feed-forward network. (The
# paper writes H for the hidden size and A for the number of heads. This course writes D and H.)
#
# | | layers L | hidden size D | heads H | d = D / H | inner size |
# |---|---|---|---|---|---|
# | BERT-Base | 12 | 768 | 12 | 64 | 3072 |
# | BERT-Large | 24 | 1024 | 16 | 64 | 4096 |
#
# A `BertConfig` can't be changed after it is made, because a model that has been built would not change with it. And
# it checks itself. What is wrong with these sizes? (The cell ends in an error, as it should.)

# %% tags=["raises-exception"]
BertConfig(hidden_size=100, num_attention_heads=12)

# %% [markdown]
# Without this check, the mistake would only show up inside `split_heads`, as an error about shapes.

# %% [markdown]
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
# ![One projection from D to D, drawn twice as eight columns. With two heads its outputs are cut into two pieces of four, with four heads into four pieces of two. The projection is the same.](pictures/05_cut.svg)
#
# Still 288. The projections are `[D, D]` for any H. The number of heads only says into how many pieces their D
# outputs are cut. That is also why the config must contain it: the weights do not show it, and a wrong number loads
# without an error.
#
# </details>

# %% [markdown]
# ## The pooler
#
# The encoder gives one vector for every token. But some questions are about the whole text: is this review friendly?
# Does the second text follow the first? For them, BERT's **pooler** takes the vector of the first token, `[CLS]`, and
# passes it through a linear layer and tanh, a curve that squeezes every number into −1 to 1. `[CLS]` is not a word, so
# its vector is free to represent the text.
#
# Take a pencil: three tokens have the vectors (1, −2), (9, 9) and (7, −7), `[CLS]` first. The rows of the weight are
# (0.5, 0) and (1, 0.5), the bias is (0, 1). What goes into tanh, and what comes out?

# %%
dense = nn.Linear(2, 2)
with torch.no_grad():
    dense.weight.copy_(torch.tensor([[0.5, 0.0], [1.0, 0.5]]))
    dense.bias.copy_(torch.tensor([0.0, 1.0]))
three_tokens = torch.tensor([[[1.0, -2.0], [9.0, 9.0], [7.0, -7.0]]])  # [B, T, D]
linear = dense(three_tokens[:, 0])  # [B, D]
print("before tanh", [f"{value:.2f}" for value in linear[0]])
print("after tanh ", [f"{value:.2f}" for value in linear[0].tanh()])


# %% [markdown]
# ![Three token vectors with D = 2. Only the first row, 1 and minus 2, that of [CLS], goes into the linear layer, which gives 0.5 and 1; tanh makes 0.46 and 0.76 of them. The other two rows are not read.](pictures/05_pooler.svg)
#
# And as a class:


# %%
class MyPooler(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states):  # [B, T, D]
        return torch.tanh(self.dense(hidden_states[:, 0]))  # [B, D]


# %% [markdown]
# The paper doesn't mention the tanh; it stands in Google's code, without a reason.
#
# Who trains the pooler? In pre-training, only **next sentence prediction** (NSP, chapter 07) reads its output. So
# before fine-tuning, the pooled vector is a poor **sentence vector**: it hardly tells whether two sentences mean the same.
# Reimers and Gurevych (2019, table 1) found even the mean of GloVe's word vectors better at that than the vector of
# `[CLS]`. Fine-tuning trains the pooler for your task; chapter 13 measures both.
#
# ## The whole BERT
#
# ![The forward pass of BERT. Ids and token types, 2 by 6, go into the embeddings, the vectors, 2 by 6 by 32, into the encoder with the attention mask as a bias; the last hidden state, 2 by 6 by 32, is an output and goes into the pooler, which gives 2 by 32.](pictures/05_forward.svg)
#
# Now we have all the parts, and the class is short. Read it beside the picture.

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


# %% [markdown]
# We feed a new model two texts. The second one is shorter and filled up with `[PAD]` (id 0).

# %%
torch.manual_seed(0)
my_bert = MyBert(config).eval()  # eval: without dropout
input_ids = torch.tensor([[2, 11, 12, 13, 14, 3], [2, 21, 22, 3, 0, 0]])  # [B, T]
attention_mask = (input_ids != 0).long()  # [B, T]: 1 for tokens, 0 for padding
with torch.no_grad():
    print([list(vectors.shape) for vectors in my_bert(input_ids, attention_mask)])

# %% [markdown]
# The next cell makes two helpers. Guess before you run the cell after it:
#
# 1. The pooler reads only the first token. If we change the **last word** of a text, does its pooled vector change?
# 2. Does the second text get the same pooled vector alone, without padding?
# 3. And if we forget the mask?


# %%
@torch.no_grad()  # for all that the function computes
def pooled_vector(ids, mask=None):  # [B, T] -> [B, D]
    return my_bert(ids, mask)[1]


def largest(one, other):  # the largest difference of any two entries
    return (one - other).abs().max().item()


# %% tags=["guess"]
changed = input_ids.clone()
changed[0, 4] = 15  # another last word
pooled, changed_pooled = (pooled_vector(ids, attention_mask) for ids in (input_ids, changed))
alone = pooled_vector(torch.tensor([[2, 21, 22, 3]]))
print("largest difference of the pooled vectors")
print(f"last word changed:  {largest(pooled[0], changed_pooled[0]):.3f}")
print(f"alone, padded:      {largest(alone[0], pooled[1]):.3f}")
print(f"alone, no mask:     {largest(alone[0], pooled_vector(input_ids)[1]):.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A text of six tokens before and after a layer. An arrow from each token below leads to [CLS] above: the changed last word, with a thick edge, reaches [CLS] through attention, and only [CLS] goes into the pooler.](pictures/05_reaches.svg)
#
# The pooler reads one token, but attention has carried information from the whole text into it: the last word matters.
# With the mask, padding makes no difference, through all layers. Without the mask, it does.
#
# </details>
#
# ### A mistake that hides: the last token instead of the first (optional)
#
# A colleague's pooler reads `hidden_states[:, -1]`, the vector of the last token, which is `[SEP]`. That is a token of
# every text too, attention has filled its vector too, and her first tests pass. Then the second text of our batch
# comes alone, and again in the batch, with the mask. By how much do its two pooled vectors differ?


# %% tags=["guess"]
@torch.no_grad()
def pooled_from_last(ids, mask=None):  # [B, T] -> [B, D]
    last_hidden_state, _ = my_bert(ids, mask)
    return torch.tanh(my_bert.pooler.dense(last_hidden_state[:, -1]))


in_batch = pooled_from_last(input_ids, attention_mask)[1]
by_itself = pooled_from_last(torch.tensor([[2, 21, 22, 3]]))[0]
print(f"last token, alone and padded: {largest(in_batch, by_itself):.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The second text alone and in the batch. Alone its last token is [SEP], in the batch it is [PAD]; its first token is [CLS] both times.](pictures/05_last_token.svg)
#
# The last position of a padded text is `[PAD]`. The mask hides padding from the *other* tokens; the padding itself
# still gets a vector, and that is what this pooler reads. The symptom: the class of a text changes with the texts that
# happen to be in its batch. `[CLS]` is at position 0 however long the text is. That is why it stands at the beginning.
#
# </details>

# %% [markdown]
# ## Watch every shape of a forward pass (optional)
#
# You can watch a module without changing its code. A **forward hook** is a function that PyTorch calls after each
# `forward` of a module. It gets the module, its inputs and its output.
#
# ![A module with what goes in and what comes out. After each forward, PyTorch calls the hook with the module, its inputs and its output. The hook only looks.](pictures/05_hook.svg)


# %%
def report(module, inputs, output):
    print(type(module).__name__, list(inputs[0].shape), "->", list(output.shape))


handle = my_bert.pooler.register_forward_hook(report)
_ = pooled_vector(input_ids)
handle.remove()  # otherwise it reports at every later call
_ = pooled_vector(input_ids)  # prints nothing

# %% [markdown]
# The next cell puts a hook on every module that has no submodules, and collects the outputs of a whole forward pass.
# It avoids two traps. `name=name` binds the name of *this* turn of the loop; without it, all hooks would share the
# last name. And `finally` removes the hooks even if the model fails.


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


# %% [markdown]
# Guess: in which lines is the last number not D, and what is the shape in the last line?

# %% tags=["guess"]
steps = trace(my_bert, input_ids, attention_mask)
print(f"ids {' ':38} {list(input_ids.shape)}")
for name, output in steps:
    if "dropout" not in name and "layers.1" not in name:  # layer 1 has the shapes of layer 0
        print(f"{name:42} {list(output.shape)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars: how many numbers each module gives for a token. Embeddings, query, key, value, attention's output, shrink and the norms give 32, expand gives 128, and the pooler 32 for the whole text.](pictures/05_widths.svg)
#
# Only the inside of the feed-forward network is wider, by a factor of four. Every other module in the list returns
# `[B, T, D]`, until the pooler drops T.
#
# The position embeddings are missing from the list. `BertEmbeddings` reads their table directly
# (`position.weight[:T]`) and never *calls* the module, so no hook runs. The softmax of attention, the residual
# additions and the pooler's tanh are missing too: they are functions, not modules. A hook sees calls of modules only.
#
# </details>
#
# Keep `trace`. In the lab at the end it finds a bug for you.

# %% [markdown]
# ## Count the parameters
#
# How many numbers does BERT have to learn? A linear layer from n to m has n · m weights and m biases. A LayerNorm has
# 2 · D parameters, a weight and a bias for each entry.
#
# ![The embeddings of a toy BERT with D = 4: a table of 10 tokens, one of 6 positions and one of 2 token types, each with four columns, and a LayerNorm with 8 numbers. And a linear layer from 4 to 4: 16 weights and 4 biases.](pictures/05_toy.svg)
#
# Calculate by hand, for a BERT with V = 10 tokens, D = 4, 6 positions, 2 token types, and 1 layer with inner size 16.
# The embeddings are done for you in the next cell. Do attention and the feed-forward network yourself before you run
# it.

# %% tags=["guess"]
from bertedu import BertModel

toy_sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2}
toy = BertConfig(**toy_sizes, vocab_size=10, intermediate_size=16, max_position_embeddings=6)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


torch.manual_seed(0)
bert = BertModel(toy)
print("embeddings (10 + 6 + 2) · 4 + 2 · 4 =", count(bert.embeddings))
for name, part in bert.encoder.layers[0].named_children():
    print(f"{name:17} =", count(part))
print("pooler            =", count(bert.pooler), "   all:", count(bert))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The weights of one layer of the toy BERT, drawn to scale: attention has four squares of 4 by 4, the feed-forward network a rectangle of 4 by 16 and one of 16 by 4, as large as eight squares. Together twelve squares, 12 · D².](pictures/05_twelve.svg)
#
# Attention has four linear layers from 4 to 4, each with 16 + 4 parameters: 80. The feed-forward network has 4 · 16 +
# 16 and 16 · 4 + 4: 148. Without the small biases and norms, a layer has twelve squares of D · D.
#
# </details>

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
# ### Where are they?
#
# Now we count the published sizes. BERT-Large would fill more than a gigabyte, but counting needs no numbers, only
# shapes. On the device `meta`, PyTorch builds a model of shapes alone. The paper says 110 M for Base and 340 M for
# Large.

# %%
from bertedu import BertForPreTraining


def shapes_only(preset, model_class=BertModel):
    with torch.device("meta"):
        return model_class(BertConfig.preset(preset))


for name in ("base", "large"):
    bare, with_heads = count(shapes_only(name)), count(shapes_only(name, BertForPreTraining))
    print(f"{name:5} {bare:11,}, with both pre-training heads {with_heads:11,}")

# %% [markdown]
# Base agrees with the paper. The paper's 340 M for Large is rounded up.
#
# And where are these parameters? There are four smaller sizes, tiny to medium, which Google published later (Turc et
# al. 2019). The next cell builds all six and defines what we count. Guess: which share of the smallest (L = 2, D = 128)
# is embeddings, and which share of Large?


# %%
KINDS = ("embeddings", "attention", "feed_forward")


def shares(model):  # of each of these kinds
    layers = model.encoder.layers
    attention, feed_forward = ([getattr(one, part) for one in layers] for part in KINDS[1:])
    groups = ([model.embeddings], attention, feed_forward)
    return [sum(map(count, group)) / count(model) for group in groups]


presets = ("tiny", "mini", "small", "medium", "base", "large")
models = {preset: shapes_only(preset) for preset in presets}

# %% tags=["guess"]
print("parameters    ", *(f"{kind:>13}" for kind in KINDS))
for preset, model in models.items():
    print(
        f"{preset:6} {count(model) / 1e6:5.1f} M",
        *(f"{share:13.0%}" for share in shares(model)),
    )

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A table of six sizes: the share of the embeddings falls from nine tenths in tiny to a tenth in large, and feed-forward always has twice the share of attention.](pictures/05_shares.svg)
#
# The smallest BERT consists mostly of its embedding table. The table grows with D (it has V · D entries), the layers
# with D². If you want a very small model, you have to shrink the table. ALBERT (Lan et al. 2020) replaces it with two
# smaller matrices. In every size, the feed-forward networks have twice as many parameters as attention: 8 D² against
# 4 D².
#
# </details>
#
# ### Touch it
#
# You may halve **one** number of BERT-Base: its layers, its hidden size (the inner size stays four times as large), its
# heads, or its vocabulary. Guess first: which saves the most parameters, and which saves none? The next cell counts.

# %% tags=["hide-input", "nbval-ignore-output"]
from dataclasses import asdict

from bertedu.course.explorable import explorable

configs = {preset: asdict(BertConfig.preset(preset)) for preset in presets}
explorable("parameters", presets=configs, start="base")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The hidden size saves 70 %: the embeddings become half as large, and the layers, with their 12 D², a quarter. Half the
# layers save 39 %, half the vocabulary 11 %. Half the heads save nothing: they only cut the same D numbers into fewer
# pieces.
#
# </details>

# %% [markdown]
# ## What a training step keeps in memory (optional)
#
# A parameter in float32 takes 4 bytes. Training also keeps its gradient, and Adam keeps two running means for it.
# Guess the number of bytes for each parameter. The cell measures them in a real step and applies the result to the
# published sizes.

# %% tags=["guess"]
model = BertModel(toy)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.tensor([[1, 2, 3]])).pooler_output.sum().backward()
optimizer.step()

gradients = sum(p.grad.nbytes for p in model.parameters())
states = optimizer.state.values()
means = sum(state[key].nbytes for state in states for key in ("exp_avg", "exp_avg_sq"))
bytes_of = [sum(p.nbytes for p in model.parameters()), gradients, means]
each = [f"{part / count(model):.0f}" for part in bytes_of]
print(f"bytes for each of {count(model)} parameters:", " + ".join(each))
for preset, model in models.items():
    needed = sum(map(int, each)) * count(model) / 1e9
    print(f"{preset:6}  weights {4 * count(model) / 1e9:.2f} GB,  in training {needed:.2f} GB")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Four boxes of four bytes each: the weight, its gradient, Adam's mean of the gradient and Adam's mean of its square. Together 16 bytes for each parameter, and 1.75 GB for BERT-Base.](pictures/05_sixteen.svg)
#
# 16 bytes: weight, gradient and two means. To train Base you need 1.75 GB for these numbers, however small the batch.
#
# </details>
#
# The other part is the **activations**: the tensors of the forward pass that the backward pass will need. Shapes are
# enough to count these, too: PyTorch calls our function `keep` for each tensor that it keeps, and we sum the bytes.


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


# %% [markdown]
# The texts become four times as long, from 128 to 512 tokens. By which factor do the activations grow?

# %% tags=["guess"]
activations = {T: kept_for_backward(models["base"], 32, T) / 1e9 for T in (128, 256, 512)}
for T, gigabytes in activations.items():
    times = gigabytes / activations[128]
    print(f"B = 32, T = {T}: {gigabytes:4.1f} GB of activations, {times:.1f} times T = 128")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars of the memory for training BERT-Base with 32 texts: weights, gradients and means are the same for every length; the activations of 512 tokens are seven times those of 128.](pictures/05_activations.svg)
#
# By a factor of seven. Most tensors grow with T, but the attention weights are `[B, H, T, T]` and grow with T².
#
# These are the bytes of *explicit* attention, which stores the `[T, T]` weights, on a CPU. (With CUDA it is less:
# dropout's mask has one byte for each number there, not four. At T = 512 attention then keeps 10.9 GB and the rest of
# the layers 10.0 GB.) The fused kernels of chapter 03 never store the weights, so the T² part disappears.
#
# </details>
#
# In models of BERT's size, activations usually decide whether a training step fits in memory, and you choose B and T.
# The simplest way out is **gradient accumulation**: run half the batch twice and update once. The paper trained with
# short texts for 90 % of its steps (appendix A.2).

# %% [markdown]
# ## Half-way
#
# **Here the first sitting ends.** You have a class that is a whole BERT, and you can say how large it is. Its numbers are
# still random. The second sitting gives it good ones, from a file that somebody else has written.

# %% [markdown]
# ## How the weights are initialized
#
# A new BERT needs its first numbers, its **initialization**. Google's code draws each weight from a normal
# distribution with standard deviation 0.02, truncated at two standard deviations. Biases are 0. LayerNorm's weight
# starts at 1 and its bias at 0. `BertModel` does the same. Your `MyBert` does not yet: it starts with PyTorch's
# defaults, which give an embedding a standard deviation of **1**. Does it matter?
#
# There is a test that works for every classifier. A new model that scores V = 30,522 words knows nothing, so it should
# give each word a probability near 1 / V. Which loss (cross-entropy) is that? And which loss will PyTorch's defaults
# give? Guess, then run the cell.

# %% tags=["guess"]
import math

torch.manual_seed(0)
ids = torch.randint(1000, 30522, (8, 32))  # [B, T]
labels = torch.randint(1000, 30522, (8, 32))  # [B, T]
new = BertForPreTraining(BertConfig.preset("tiny")).eval()  # initialized as in Google's code
first = {}
with torch.no_grad():
    first["BERT's initialization"] = new(ids, labels=labels)
    for module in new.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.reset_parameters()  # PyTorch's defaults
    first["PyTorch's defaults"] = new(ids, labels=labels)
for name, output in first.items():
    print(f"{name:22} loss {output.loss:5.1f},   ln V = {math.log(30522):.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The twelve largest probabilities for the first token, of 30,522. With BERT's initialization all are as small as the others; with PyTorch's defaults one word gets nearly everything.](pictures/05_first_answer.svg)
#
# With BERT's initialization the loss is ln V: the model does not know the answer and spreads its probability evenly.
# With PyTorch's defaults the loss is far higher: the model is sure and wrong. A word's score is here a dot product with
# the word's embedding, as in BERT (a later section says why). If the entries of both vectors have a standard deviation of
# 1, the score has a standard deviation of √D, and softmax turns that into certainty. (`transformers` does not truncate.
# The truncation leaves 0.88 of the standard deviation.)
#
# </details>
#
# Keep this test: if the first loss of a classifier with C classes is well above ln C, look at its initialization.

# %% [markdown]
# ## The same weight under two names
#
# Back to the checkpoint. Here is one encoder layer, with the names that `transformers` gives to its parts.
#
# ![One encoder layer from left to right with the names of transformers: attention.self with query, key and value; attention.output.dense; attention.output.LayerNorm; intermediate.dense; output.dense; output.LayerNorm. The words output.dense occur twice, once inside attention.](pictures/05_their_names.svg)
#
# The next cell prints the weights of one layer under our names and under theirs, in the same order. The biases have
# the same names with `bias` at the end.

# %%
ours = [name for name in my_bert.state_dict() if "layers.0" in name and name.endswith("weight")]
their = [name for name in theirs.state_dict() if "layer.0" in name and name.endswith("weight")]
for one, other in zip(ours, their, strict=True):
    print(f"{one:44} {other}")

# %% [markdown]
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
# Three models should now be the same: yours with the translated names, the package's, and that of `transformers`. We
# give them a batch with everything in it: token types, padding, texts of different lengths.

# %%
torch.manual_seed(1)
package = BertModel.from_pretrained(folder)
ids = torch.randint(5, 60, (3, 12))  # [B, T]
mask = torch.tensor([12, 9, 4])[:, None].gt(torch.arange(12)).long()  # [B, T]: 12, 9, 4 tokens
types = (torch.arange(12) >= 5).long().expand(3, 12)  # [B, T]
with torch.no_grad():
    mine_out, ours_out = my_bert(ids, mask, types), package(ids, mask, types)
    reference = theirs(ids, attention_mask=mask, token_type_ids=types)

# %%
for index, name in enumerate(["last_hidden_state", "pooler_output"]):
    others = [getattr(output, name) for output in (ours_out, reference)]
    assert max(largest(mine_out[index], other) for other in others) < 1e-5, name
    print(f"{name:17} {list(mine_out[index].shape)}: all three agree to five digits")

# %% [markdown]
# ![The first four numbers of the vector of [CLS], by your class, by the package and by transformers: three rows with the same four numbers.](pictures/05_same_numbers.svg)
#
# And the way back: the package saves, and `transformers` opens the folder. Nothing is computed on that way, so every
# single number must be the same.

# %%
package.save_pretrained(folder / "back")
returned = transformers.BertModel.from_pretrained(folder / "back")
equal = [torch.equal(tensor, tensors[name]) for name, tensor in returned.state_dict().items()]
print(f"{sum(equal)} of {len(tensors)} tensors came back, bit by bit")

# %% [markdown]
# Your class can now hold the weights of any checkpoint with BERT's architecture.

# %% [markdown]
# ## The BERT that Google published (optional)
#
# Does your class open that one, too? The next cell fetches it from the Hugging Face hub, where models are published
# under names: 440 MB, once, about a minute at 60 Mbit/s. Without the internet it says so in one line, and nothing
# below needs it.
#
# `in_my_names` selects from a file the weights that a model of yours has. It drops the prefix `bert.` and leaves out
# the heads: this file comes from a model *with* its pre-training heads.


# %%
def in_my_names(file, model):  # tensors of a file, under the names of a MyBert
    named = {from_transformers(name.removeprefix("bert.")): file[name] for name in file}
    return {name: named[name] for name in model.state_dict()}


# %% tags=["nbval-ignore-output"]
from bertedu.course.published import published

base_folder = published("google-bert/bert-base-uncased", "440 MB")
if base_folder:
    base_bert = MyBert(BertConfig.load(base_folder)).eval()
    file = load_file(base_folder / "model.safetensors")
    base_bert.load_state_dict(in_my_names(file, base_bert))
    transformers.logging.set_verbosity_error()  # it would list the heads that it leaves out
    their_base = transformers.BertModel.from_pretrained(base_folder, dtype=torch.float32)
    their_tokenizer = transformers.BertTokenizer.from_pretrained(base_folder)
    encoded = their_tokenizer("The seal swims to the beach.", return_tensors="pt")
    with torch.no_grad():
        yours, google = base_bert(**encoded)[0], their_base(**encoded).last_hidden_state
    print(f"{count(base_bert):,} parameters, largest difference {largest(yours, google):.5f}")

# %% [markdown]
# With the internet it prints 109,482,240 parameters and a difference that is a rounding error: your class computes
# what Google's model computes.

# %% [markdown]
# ## Heads for the tasks that follow
#
# What is all this good for? BERT is used in two phases.
#
# ![Pre-training on the left: text without labels, some tokens hidden, goes through BERT; a masked-word head and a next-sentence head give the loss. Fine-tuning on the right: a labelled review goes through the same BERT, whose weights are copied, and a new small head gives the label. Nearly all parameters come from the first phase.](pictures/05_two_phases.svg)
#
# In **pre-training**, BERT learns from text that nobody has labelled. In **fine-tuning**, the pre-training heads are
# taken off, a new **head** for your task is put on, and the whole is trained with your labelled examples. Nearly
# everything has been learned before your task begins. (*Head* has a second meaning: an *attention head* is one of the H
# parts of self-attention.)
#
# A task head is nearly always one linear layer. What matters is what it reads.
#
# ![Six tokens with their last hidden vectors. A head for texts reads the pooled vector of [CLS] and gives 3 scores. A head for tokens reads every vector and gives 9 scores for each. A head for answers reads every vector and gives 2 scores, start and end.](pictures/05_heads.svg)

# %%
B, T, D = 8, 128, 768
pooled_zeros, hidden_zeros = torch.zeros(B, D), torch.zeros(B, T, D)
heads = [
    ("which of 3 kinds is the text?", pooled_zeros, nn.Linear(D, 3)),
    ("does text 2 follow text 1?", pooled_zeros, nn.Linear(D, 2)),
    ("which of 9 tags has each token?", hidden_zeros, nn.Linear(D, 9)),
    ("where does the answer start, end?", hidden_zeros, nn.Linear(D, 2)),
]
for question, vectors, head in heads:
    shapes = f"{list(vectors.shape)!s:14} -> {list(head(vectors).shape)!s:13}"
    print(f"{question:34} {shapes} {count(head):5,} parameters")

# %% [markdown]
# A few thousand parameters, on top of 110 million. The exception is the head of the masked language model. It scores
# all V words, and a matrix of its own would cost V · D = 23 million parameters. But BERT already has such a matrix: the
# table of token embeddings. The head uses it again: the score of a word is the dot product with the word's own
# embedding, plus a bias for each word. This is called **weight tying**.
#
# ![One table of V rows is used at both ends: an id picks a row of it at the input, and at the output a vector is multiplied with all rows and gives V scores.](pictures/05_tied.svg)

# %%
full = shapes_only("base", BertForPreTraining)
decoder = full.masked_lm.decoder
tables = {id(decoder.weight), id(full.bert.embeddings.token.weight)}
print(f"both pre-training heads: {count(full) - count(full.bert):,} parameters")
print(f"decoder {list(decoder.weight.shape)} and token embeddings: {len(tables)} tensor")

# %% [markdown]
# Most of these parameters belong to a linear layer from D to D that the masked language model puts before the dot
# product (chapter 06).

# %% [markdown]
# ## Broken BERT: loaded without complaint (optional)
#
# Google published BERT for TensorFlow. A colleague has written a loader for these files. It translates every name and
# loads strictly, so a missing weight, one too many or one of another shape would raise an error. There is none: all
# keys match.
#
# `google_checkpoint` writes our weights as Google's TensorFlow code would have stored them. It calls the matrix of a linear
# layer `kernel`, and LayerNorm's weight and bias `gamma` and `beta`. Here are some of its names.

# %%
from bertedu.chapters.ch05_the_whole_bert.exercises.shared import google_checkpoint

google_file = google_checkpoint(package)
for name in list(google_file)[3:7]:
    print(f"{name:50} {list(google_file[name].shape)}")


# %% [markdown]
# This is the colleague's loader. Each text in `pairs` holds a part of a name, a space, and what replaces it.


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
print(load_google(suspect, google_file))

# %% [markdown]
# We compare the loaded model with the one that the file was made from, layer by layer: how similar are the two vectors
# of the same token? The **cosine similarity** is 1 if they point in the same direction, and 0 if they are at right
# angles.

# %%
cosines = {}
with torch.no_grad():
    right = package(ids, mask, types, output_hidden_states=True).hidden_states
    wrong = suspect(ids, mask, types, output_hidden_states=True).hidden_states
for depth, (one, other) in enumerate(zip(right, wrong, strict=True)):
    name = f"layer {depth}" if depth else "embeddings"
    cosines[name] = torch.cosine_similarity(one, other, dim=-1).mean().item()
    print(f"{name:10} {cosines[name]:.1f}")

# %% [markdown]
# ![Bars of the cosine between the loaded model and the original: 1.0 after the embeddings, far less after layer 1 and layer 2. Something in layer 1 is wrong, although all keys matched.](pictures/05_suspect.svg)
#
# The embeddings are right, and the output of the first layer is not. Every shape fits, and the numbers are those of
# the file. Where exactly does it go wrong? A loop over hidden states is too coarse to say. You have a better tool:
# `trace`, from *Watch every shape of a forward pass*. If you skipped that section, run its cells now.
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
# Run `first_difference(package, suspect, ids)` in a cell of your own (Esc, then B). Look at the weight of that module in
# both models, then read the loader again. What do the wrong weights have in common that the weights of the feed-forward
# network do not?
#
# ### Exercise 5.5 · Repair the loader
# ●●●○ · 8 minutes
#
# Write `as_torch(name, tensor)`. It gets one entry of Google's file, under Google's name, and returns the tensor in
# the orientation that PyTorch needs. It should be right for every weight of every BERT, and not only for these sizes;
# also for those of the heads, such as `cls/predictions/transform/dense/kernel` and `cls/seq_relationship/output_weights`.


# %% tags=["exercise"]
def as_torch(name, tensor):
    ### BEGIN SOLUTION
    return tensor.T if name.endswith("/kernel") else tensor
    ### END SOLUTION


check("5.5", as_torch)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![A kernel of the feed-forward network, 2 by 4, does not fit a weight of 4 by 2 and was transposed. A square kernel of 2 by 2 fits both ways, and its numbers stand in the wrong places.](pictures/05_squares.svg)
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

# %% [markdown]
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
# Your answers from chapters 01 to 05 are eleven of the sixteen parts of your BERT, from the longest match to the names
# of the weights. (Five more follow in 06 to 08.) The next cell puts them together, as in
# [chapter 03](03_self_attention.ipynb). Your `split_word` and `encode_pair` make the ids, your `our_name` reads the file, and your encoder computes the hidden states.

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
# ![The map of BERT-Base with the parameters of each part: embeddings 23.8 million, attention of 12 layers 28.4, feed-forward networks 56.7, each with its LayerNorm, pooler 0.6. Together 109.5 million, and you have built every part.](pictures/05_summary.svg)
#
# - A BERT is a config (how large), a class (what is computed) and a checkpoint (named numbers). Matching names and
#   shapes prove little; equal outputs prove that the numbers have arrived.
# - A layer has 12 D² weights, two thirds of them in its feed-forward network. Training takes 16 bytes for each
#   parameter in float32 with Adam, and activations on top.
# - The pooler is the vector of `[CLS]`, a linear layer and tanh. In pre-training only NSP trains it, so it is a poor
#   sentence vector before fine-tuning.
# - A new classifier should start at a loss near the logarithm of its number of classes.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(5)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
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
# 11 GB, and nearly twice that in float32. First a fused kernel, bf16, shorter texts, then smaller batches with
# accumulation, then activations computed twice instead of kept.
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
