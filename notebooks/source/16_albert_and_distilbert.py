# %% [markdown]
# # 16 · ALBERT and DistilBERT
#
# You will make BERT smaller in two ways. ALBERT stores fewer weights, and runs one layer again and again. DistilBERT
# has half of the layers, and learns from a trained BERT as its teacher. One of the two is faster, the other is not.
#
# ## What you will be able to do
#
# - count the parameters of BERT and ALBERT with a pencil, and say why ALBERT is small but not fast
# - write an encoder that shares one layer, and say what its gradient is
# - explain why ALBERT predicts the order of sentences, and BERT's next-sentence task is easier
# - compute soft targets at a temperature by hand, and show with a measurement why the loss is multiplied by T²
# - distil a student from a teacher, and measure what the teacher gives and what the copied layers give
#
# **Time:** 60 minutes for the core path, about 120 minutes with everything ·
# **You need:** [15 · RoBERTa and SpanBERT](15_roberta_and_spanbert.ipynb) ·
# **Next:** [17 · ELECTRA](17_electra.ipynb)
#
# Sections marked (optional) are not part of the core path. You can come back to them another day.
#
# ## Recall
#
# 1. RoBERTa has the architecture of BERT. What did its authors change?
#
# <details><summary>Answer</summary>
#
# The recipe: new masks in each pass over the text (**dynamic masking**), no next-sentence task, larger batches, more
# text, more steps, and a byte-level vocabulary (Liu et al. 2019).
#
# </details>
#
# 2. What happened to the results when the next-sentence task was left out?
#
# <details><summary>Answer</summary>
#
# They stayed the same or got slightly better, as long as the inputs were long stretches of text (Liu et al. 2019,
# section 4.2). ALBERT drew another conclusion: it replaced the task by a harder one.
#
# </details>
#
# 3. From which vectors does SpanBERT's boundary objective predict a token inside a masked span?
#
# <details><summary>Answer</summary>
#
# From the vectors of the two tokens just outside the span, and the embedding of the token's position in the span.
#
# </details>
#
# ## Where this part sits
#
# The next cell draws three models to scale: the height of a box is its number of parameters. Orange boxes are
# embeddings, blue boxes are layers. ALBERT has a thin slice of embeddings and one layer, which it runs twelve times.
# DistilBERT has BERT's embeddings and six layers. Before training they are copies of BERT's dark blue layers.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

figure = new_figure(7, 4.2)
axes = figure.subplots()
copied, one_layer = (0, 2, 4, 7, 9, 11), 7.09  # millions of parameters
models = {"BERT-Base": (23.8, 12), "ALBERT-base": (4.0, 1), "DistilBERT": (23.8, 6)}
for column, (name, (embeddings, layers)) in enumerate(models.items()):
    bottom = embeddings
    axes.bar(column, embeddings, width=0.5, color=ORANGE, edgecolor="white")
    for layer in range(layers):
        dark = name != "BERT-Base" or layer in copied
        color = {"color": BLUE, "alpha": 1 if dark else 0.35, "edgecolor": "white"}
        axes.bar(column, one_layer, bottom=bottom, width=0.5, **color)
        bottom += one_layer
    axes.text(column, bottom + 3, f"{name}\n{bottom:.0f} million", ha="center", fontsize=9)
axes.text(1.3, 6, "run 12 times", fontsize=9, color=BLUE)
axes.text(2.3, 43, "layers 0, 2, 4,\n7, 9, 11 of BERT", fontsize=9, color=BLUE, va="center")
axes.set(xlim=(-0.5, 3), ylim=(0, 130), xticks=[], ylabel="parameters in millions")
quiet(axes)
Picture(
    figure,
    alt="Three stacks of boxes, to scale. BERT-Base, 109 million parameters: embeddings and "
    "12 layers. ALBERT-base, 11 million: a thin slice of embeddings and one layer, run 12 times. "
    "DistilBERT, 66 million: BERT's embeddings and its layers 0, 2, 4, 7, 9 and 11.",
)

# %% [markdown]
# ## The problem: take away layers
#
# BERT-Base has 110 million parameters, and it computes twelve layers for every token. On a phone, or for millions of
# requests, that is too much. Can we simply take a trained BERT and use fewer layers?
#
# We try it with our own BERT of four layers. The next cell opens it, and loads text that the model was not trained
# on: documentation of the Python packages on your machine, held out by a hash of the text. `task` masks 15 % of the
# tokens, as in [chapter 06](06_masked_language_model.ipynb).

# %%
import random

import torch

from bertedu.corpora import load_corpus
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.inference import open_model
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.settings import PretrainingSettings

folder = data_path("checkpoints/books-mini")
teacher, tokenizer = open_model(folder)
corpus = load_corpus("documentation")
documents, held_out = list(corpus.train), list(corpus.heldout["held-out documents"])
random.Random(0).shuffle(documents)
random.Random(0).shuffle(held_out)
texts = [tokenize_documents(part, tokenizer) for part in (documents[:300], held_out[:60])]
settings = PretrainingSettings(max_length=64, batch_size=8, mask_rates=(0.15, 0.15))
task = MaskedWords(*texts, tokenizer, settings)

# %% [markdown]
# The next cell measures the **masked accuracy**: for which share of the masked tokens is the right token the
# likeliest one? Then it runs the trained model with other lists of layers: all four, two of them, and two lists in
# which one trained layer is run four times. Guess first: which of the short lists does best, and can one layer stand
# in for four?

# %%
from torch import nn

unseen = task.validation()  # masked batches, always the same
right = torch.cat([batch["labels"][batch["labels"] != -100] for batch in unseen])  # [N]


@torch.no_grad()
def at_masks(model):  # -> scores at all masked tokens, [N, V]
    outputs = []
    for batch in unseen:
        masked = batch["labels"] != -100  # [B, T]
        output = model(batch["input_ids"], batch["attention_mask"], masked_positions=masked)
        outputs.append(output.prediction_logits)
    return torch.cat(outputs)


def accuracy(logits):
    return (logits.argmax(dim=-1) == right).double().mean().item()


layers = list(teacher.bert.encoder.layers)
for numbers, expected in (((0, 1, 2, 3), 0.38), ((0, 3), 0.24), ((0, 1), 0.1), ((0,) * 4, 0.1)):
    teacher.bert.encoder.layers = nn.ModuleList(layers[n] for n in numbers)
    print("layers", *numbers, "", about(expected, accuracy(at_masks(teacher)), within=0.9))
teacher.bert.encoder.layers = nn.ModuleList(layers)

# %% [markdown]
# PROSE-PROBLEM
#
# So a small BERT has to be *trained* small, and this chapter shows two ways:
#
# - **ALBERT** (Lan et al. 2020) shares one layer among all positions of the stack from the first step of training on.
# - **DistilBERT** (Sanh et al. 2019) starts with some of a trained model's layers, and then trains them, with the
#   large model as a teacher.
#
# ## ALBERT: where are the parameters?
#
# Let's count BERT-Base with a pencil: V = 30,522 words, D = 768, L = 12 layers.
#
# - Embeddings: V·D for the words, 512·D for the positions, 2·D for the segments, 2·D for the LayerNorm.
# - One layer: four projections of D·D + D (query, key, value, output); the feed-forward part with D·4D + 4D and
#   4D·D + D; two LayerNorms of 2·D. Together that is 12·D² + 13·D.
# - The pooler: D·D + D.
#
# The next cell computes it, and compares the sum with the package's model. (On the device `meta` torch creates only
# the shapes of the weights, so the model takes no memory.)

# %%
from bertedu import BertConfig, BertModel


def layer_parameters(D):
    attention = 4 * (D * D + D)
    feed_forward = (D * 4 * D + 4 * D) + (4 * D * D + D)
    return attention + feed_forward + 2 * 2 * D  # and two LayerNorms


V, D, L = 30_522, 768, 12
parts = {"embeddings": (V + 512 + 2) * D + 2 * D, "layers": L * layer_parameters(D)}
parts["pooler"] = D * D + D
total = sum(parts.values())
for name, number in parts.items():
    print(f"{name:10} {number:11,}  {number / total:4.0%}")
with torch.device("meta"):
    bert_base = BertModel(BertConfig.preset("base", vocab_size=V))
counted = sum(weight.numel() for weight in bert_base.parameters())
print(f"together   {total:11,}, and the package's model has {counted:,}")

# %% [markdown]
# ALBERT reduces both large numbers: the embeddings by **factorizing** them, the layers by **sharing** one.
#
# ### Factorized embeddings
#
# In BERT the table of word embeddings is as wide as the layers: V·D numbers. But the vector in this table doesn't know
# the context yet. ALBERT's authors argue that it needs fewer dimensions than the vectors in the layers, which do
# (section 3.1). So ALBERT looks up a short vector with E = 128 numbers, and one matrix maps it to D numbers:
#
# $$V \cdot D \quad\longrightarrow\quad V \cdot E + E \cdot D$$
#
# With a pencil, for ALBERT-base with V = 30,000: instead of 30,000 · 768 = 23.0 million it is 30,000 · 128 + 128 · 768
# = 3.9 million. The next cell computes it for the four published widths. Watch the last column.

# %%
V, E = 30_000, 128
for name, D in {"base": 768, "large": 1024, "xlarge": 2048, "xxlarge": 4096}.items():
    table, factors = V * D, V * E + E * D
    print(f"{name:8} D = {D:4}   V·D {table / 1e6:6.1f} million,  V·E + E·D {factors / 1e6:4.1f}", end="")
    print(f" million,  one part in {table / factors:.0f}")

# %% [markdown]
# The wider the model, the more it saves: V is multiplied by E only, however large D becomes. That is what allowed the
# authors to try D = 4096.
#
# What does it cost? Let's look up four words in a small factorized table (E = 2, D = 3), once in two steps, and once
# in the product of the two matrices, which is an ordinary table `[V, D]`.

# %%
short = torch.tensor([[1.0, 0], [0, 1], [1, 1], [2, -1]])  # [V, E] = [4, 2]
mapping = torch.tensor([[1.0, 2, 0], [0, 1, 3]])  # [E, D] = [2, 3]
whole = short @ mapping  # [V, D] = [4, 3]
print("word 2 in two steps:", (short[2] @ mapping).int().tolist())
print("word 2 in the table:", whole[2].int().tolist())
print("rank of the table:", torch.linalg.matrix_rank(whole).item(), "of", min(whole.shape))

# %% [markdown]
# Both give the same vector. But the table has rank 2: all words lie in a plane, although a vector has three numbers.
# A factorized table of words has at most rank E. (In ALBERT, positions, segments and a LayerNorm come before the
# mapping, all with E numbers.) How much that hurts was measured: with layers that are *not* shared, the average over
# five tasks falls from 82.3 at E = 768 to 81.7 at E = 128; with shared layers, E = 128 was the best of four sizes
# (Lan et al. 2020, table 3).
#
# A detail for loading checkpoints: Google's code leaves the mapping out where E = D. `transformers` always has it, and
# so does this course, even as a square matrix.
#
# ### One layer, L times
#
# The larger saving is simpler. Build *one* layer, and call it L times. The next cell is the whole encoder of ALBERT.
# `EncoderLayer` is BERT's layer from [chapter 04](04_transformer_encoder.ipynb).

# %%
from bertedu.family.albert import AlbertConfig, AlbertModel
from bertedu.model.encoder import EncoderLayer


class SharedEncoder(nn.Module):
    """ALBERT's encoder: from [B, T, E] to [B, T, D], one layer run L times."""

    def __init__(self, config):
        super().__init__()
        self.mapping_in = nn.Linear(config.embedding_size, config.hidden_size)
        self.layer = EncoderLayer(config)
        self.times = config.num_hidden_layers

    def forward(self, embeddings, bias=None):
        hidden_states = self.mapping_in(embeddings)  # [B, T, D]
        for _ in range(self.times):
            hidden_states, _ = self.layer(hidden_states, bias)  # the same weights again
        return hidden_states


# %% [markdown]
# One layer for all is the extreme. The config also allows **groups**: with L = 12 and 3 groups, layers 0 to 3 share
# one set of weights, layers 4 to 7 a second one, layers 8 to 11 a third one. The released models have one group.
#
# ### Exercise 16.1 · Count ALBERT
# ●●○○ · 10 minutes
#
# Write `albert_parameters(V, D, E, L, G)`: the number of parameters of an ALBERT with G groups of one layer each. Count
# the embeddings (V words, 512 positions, 2 segments, a LayerNorm: all of size E), the mapping from E to D (a linear
# layer with a bias) and the layers. Leave out the pooler. You may use `layer_parameters(D)` from above. Stuck?
# `hint("16.1")`


# %% tags=["exercise"]
def albert_parameters(V, D, E, L, G):
    ### BEGIN SOLUTION
    embeddings = (V + 512 + 2) * E + 2 * E
    mapping = E * D + D
    return embeddings + mapping + G * layer_parameters(D)
    ### END SOLUTION


check("16.1", albert_parameters)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# L doesn't occur in the sum: a layer that runs again stores nothing new. A LayerNorm has a weight and a bias, so it
# has 2·E numbers here. With V = 30,000, D = 768, E = 128 and one group you get 11.1 million; with the pooler, 11.7
# million. The paper's table 1 says 12 million.
#
# </details>

# %% [markdown]
# ### Why it is not faster
#
# ALBERT-base has a ninth of BERT-Base's parameters. Is it nine times as fast? Count again, this time multiplications.
# For each token, each matrix of a layer is multiplied once: about 12·D² multiplications for a layer, and L layers *run*,
# whether their weights are shared or not. (We leave out the scores of attention. They are the same, too.)
#
# The next cell draws the published models: the parameters from the paper's table 1, and the multiplications for one
# token, 12·L·D². Compare the two models called base. Then find the model with fewer parameters than BERT-large and
# the most work.

# %% tags=["hide-input"]
published = {  # parameters in millions, L, D
    "BERT-Base": (108, 12, 768),
    "BERT-large": (334, 24, 1024),
    "ALBERT-base": (12, 12, 768),
    "ALBERT-large": (18, 24, 1024),
    "ALBERT-xlarge": (60, 24, 2048),
    "ALBERT-xxlarge": (235, 12, 4096),
}
figure = new_figure(6.4, 3.4)
axes = figure.subplots()
for name, (millions, depth, width) in published.items():
    color = GREY if name.startswith("BERT") else BLUE
    work = 12 * depth * width**2 / 1e6
    axes.plot(millions, work, "o", color=color)
    axes.annotate(name, (millions, work), (6, 5), textcoords="offset points", color=color, fontsize=9)
axes.set(xscale="log", yscale="log", xlim=(8, 1200), ylim=(50, 5000))
axes.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
axes.set_yticks([100, 1000], ["100", "1000"])
axes.set(xlabel="parameters in millions", ylabel="million multiplications for a token")
quiet(axes)
Picture(
    figure,
    alt="Parameters and multiplications for a token, both axes logarithmic. ALBERT-base is as high as "
    "BERT-Base and far to its left, ALBERT-large is as high as BERT-large and far to its left. "
    "ALBERT-xxlarge has fewer parameters than BERT-large and is by far the highest point.",
)

# %% [markdown]
# ### Exercise 16.2 · The xxlarge model
# ●●○○ · 5 minutes
#
# Compare the *layers* of ALBERT-xxlarge (L = 12, D = 4096, one group) with those of BERT-large (L = 24, D = 1024). Count
# 12·D² weights for a layer, and 12·D² multiplications for a token in a layer. Predict two ratios, ALBERT-xxlarge divided
# by BERT-large: weights that are stored, and multiplications. Write them as a list of two numbers. Stuck?
# `hint("16.2")`

# %% tags=["exercise"]
### BEGIN SOLUTION
ratios = [2 / 3, 8]
### END SOLUTION
check("16.2", ratios)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Stored: 4096² against 24 · 1024², which is 16 / 24 = 2/3. Computed: 12 · 4096² against 24 · 1024², which is 12 · 16 /
# 24 = 8. So a model with *fewer* weights does eight times the work. In the paper, its training read text about three
# times more slowly than that of BERT-large, on the same number of TPUs (section 4.3 and table 2).
#
# </details>

# %% [markdown]
# Now we measure it with two small models of the same shape, eight layers with D = 256. The next cell counts bytes:
# those of the weights, and those of the **activations**, the results that the forward pass has to keep for the
# backward pass. Guess: which of the two numbers does sharing reduce?

# %%
sizes = {"vocab_size": 8192, "hidden_size": 256, "num_hidden_layers": 8, "num_attention_heads": 4}
sizes |= {"intermediate_size": 1024, "max_position_embeddings": 128}
torch.manual_seed(0)
bert = BertModel(BertConfig(**sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
albert = AlbertModel(AlbertConfig(**sizes, embedding_size=64))


def kept_bytes(model, input_ids):  # what the backward pass needs, without the weights
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = {}

    def note(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        _output = model(input_ids)  # must live on, or its memory is used again
    return sum(size for pointer, size in kept.items() if pointer not in weights)


input_ids = torch.randint(5, 8192, (8, 128))  # [B, T]
for name, model, expected in (("BERT", bert, 0), ("ALBERT", albert, 0)):
    weights = sum(4 * weight.numel() for weight in model.parameters()) / 1e6
    activations = about(expected, kept_bytes(model, input_ids) / 1e6, within=1e9)
    print(f"{name:7} weights {weights:5.1f} MB, activations {activations:.0f} MB")

# %% [markdown]
# PROSE-BYTES
#
# And the time? The next cell measures the forward pass of both. (Your times will differ.)

# %% tags=["nbval-ignore-output"]
import time


@torch.no_grad()
def milliseconds(model, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        model(input_ids)
        times.append(1000 * (time.process_time() - start))
    return min(times)


times = {"BERT": milliseconds(bert), "ALBERT": milliseconds(albert)}
print("  ".join(f"{name} {number:.0f} ms" for name, number in times.items()))
assert 0.5 < times["ALBERT"] / times["BERT"] < 2, "the two should take about the same time"

# %% [markdown]
# The same time, for a fraction of the weights. So when does sharing help? Whenever the *weights* are the problem: a
# download, the memory of a small device, or the gradients that many machines send to each other in training. That is
# why the paper reports that training ALBERT-large read text 1.7 times as fast as BERT-large, on many TPUs, "because of
# less communication and fewer computations" (section 4.3). On one machine, and when the model is used, you should
# expect no gain.
#
# ### The gradient of a shared layer
#
# How does a layer learn that is used several times? By pencil, with a "layer" that multiplies by w, used twice:
# y = w·(w·x). With x = 2 and w = 3 the derivative of w²·x is 2·w·x = 12.
#
# Now pretend that there are two layers, y = w₂·(w₁·x), with equal weights. The derivatives are w₂·x = 6 for w₁ and
# w₁·x = 6 for w₂. **The gradient of a shared weight is the sum of the gradients at all its uses**: 6 + 6 = 12. The
# next cell shows the same with a real layer, used three times, against three separate copies of it.

# %%
from copy import deepcopy

w, w1, w2 = (torch.tensor(3.0, requires_grad=True) for _ in range(3))
(w * (w * 2)).backward()
(w2 * (w1 * 2)).backward()
print(f"shared {w.grad:.0f}, copies {w1.grad:.0f} and {w2.grad:.0f}")

torch.manual_seed(0)
layer = EncoderLayer(albert.config)
copies = [deepcopy(layer) for _ in range(3)]
shared = once = torch.randn(2, 5, 256)  # [B, T, D]
for copy in copies:
    shared, once = layer(shared)[0], copy(once)[0]
shared.square().sum().backward()
once.square().sum().backward()
of_copies = [copy.attention.query.weight.grad for copy in copies]
off = (layer.attention.query.weight.grad - sum(of_copies)).abs().max()
print(f"query of a shared layer: {off:.6f} from the sum over the three copies")

# %% [markdown]
# torch does this by itself: each use adds its gradient to `.grad`. For learning it means that the uses have to agree.
# What would help the first use and hurt the last one cancels out, so a shared layer can't specialize, as a layer of BERT
# can. The paper measures the price (table 4, averages over five tasks, E = 128):
#
# | shared | parameters | average |
# |---|---|---|
# | nothing | 89 million | 81.6 |
# | attention | 64 million | 81.7 |
# | feed-forward | 38 million | 80.2 |
# | all | 12 million | 80.1 |
#
# Sharing attention costs nothing, and almost the whole loss comes from sharing the feed-forward part.
#
# ### Groups (optional)
#
# Which group does a layer belong to? Consecutive layers share. The next cell prints it for 12 layers.

# %%
for groups in (1, 3, 12):
    config = AlbertConfig(num_hidden_layers=12, num_hidden_groups=groups)
    print(f"{groups:2} groups:", *(config.group_of(layer) for layer in range(12)))

# %% [markdown]
# With 12 groups nothing is shared, and ALBERT's encoder is BERT's with a mapping before it. The paper found that more
# groups give better results, and more parameters (section 4.5).
#
# ### Sentence order instead of next sentence
#
# In BERT's next-sentence task the wrong second segment comes from another document. In [chapter
# 07](07_next_sentence_prediction.ipynb) you saw that the *topic* is often enough to recognize it. ALBERT replaces the
# task by **sentence order prediction** (SOP): both segments always follow each other in one document, and in half of the
# pairs they are **swapped**. Label 0 is the original order, label 1 is swapped.
#
# The next cell takes the documents of our small world of facts, cuts each one in two, and measures how far plain **word
# overlap** gets: how many words do the two segments have in common? For each task it tries all thresholds and keeps the
# best accuracy. What will the overlap reach for swapped segments?

# %%
def overlap(first, second):
    return len(set(first.lower().split()) & set(second.lower().split()))


def best_accuracy(positive, negative):  # by one threshold
    cuts = range(max(positive + negative) + 2)
    return max(
        (sum(p >= cut for p in positive) + sum(n < cut for n in negative)) / (2 * len(positive))
        for cut in cuts
    )


world = [d.sentences for d in load_corpus("world").train if len(d.sentences) >= 4][:500]
halves = [(" ".join(s[: len(s) // 2]), " ".join(s[len(s) // 2 :])) for s in world]
others = [second for _, second in halves[7:] + halves[:7]]  # of another document
following = [overlap(first, second) for first, second in halves]
random_second = [overlap(first, other) for (first, _), other in zip(halves, others)]
swapped = [overlap(second, first) for first, second in halves]
print(f"next sentence:  word overlap gets {best_accuracy(following, random_second):.2f}")
print(f"sentence order: word overlap gets {best_accuracy(following, swapped):.2f}")

# %% [markdown]
# PROSE-SOP Overlap is symmetric: swapped segments have the same words in common, so it can only guess. To solve the
# task, a model has to know what comes first.
#
# The paper compares the two tasks (section 4.6, table 5). A model trained on next sentences is right for 52.0 % of the
# sentence-order pairs: chance. A model trained on sentence order is right for 86.5 % of them, *and* for 78.9 % of the
# next-sentence pairs. The average over five tasks is 79.0 with neither task, 79.2 with next sentences, and 80.1 with
# sentence order. In `transformers` the head is called `sop_classifier`. Pre-training it here is `bertedu pretrain
# --architecture albert`.
#
# ## DistilBERT: a student and a teacher
#
# DistilBERT keeps BERT's width, takes half of the layers, and *learns from a trained BERT*. This is **knowledge
# distillation** (Hinton et al. 2015): the large model is the **teacher**, the small one the **student**.
#
# What can a teacher tell that the text can't? The text knows one word for each [MASK]. The next cell asks our BERT.

# %%
from bertedu.inference import fill_mask

for text in ("The old man opened the [MASK] and went in.", "She was born in [MASK]."):
    print(text)
    answers = fill_mask(teacher, tokenizer, text, top=6)[0]
    print("   ", "  ".join(f"{word} {about(p, p, within=0.01):.2f}" for word, p in answers))

# %% [markdown]
# PROSE-SOFT The text says *door*, and that every other word is wrong. The teacher's probabilities are the **soft
# targets**: they also say which other words would do, and which ones are out of the question.
#
# ### Temperature by pencil
#
# A trained model is often so sure that its second and third choices hardly show. A **temperature** T brings them out.
# The scores z (the **logits**) are divided by T before the softmax:
#
# $$p_i = \frac{e^{z_i / T}}{\sum_j e^{z_j / T}}$$
#
# Take three words with the logits 2.77, 1.39 and 0. They are chosen so that e to these numbers is 16, 4 and 1.
#
# | T | e^(z/T) | sum | probabilities |
# |---|---|---|---|
# | 1 | 16, 4, 1 | 21 | 0.76, 0.19, 0.05 |
# | 2 | 4, 2, 1 | 7 | 0.57, 0.29, 0.14 |
#
# Dividing a logit by 2 takes the square root of its power. Your turn: what is the row for T = 4? The square roots of
# 4, 2 and 1 are 2, 1.41 and 1. Then run the cell.

# %%
import math

logits = torch.tensor([math.log(16), math.log(4), 0.0])  # 2.77, 1.39, 0
for T in (1, 2, 4, 8, 1000):
    print(f"T = {T:4} ", "  ".join(f"{p:.2f}" for p in (logits / T).softmax(dim=-1)))

# %% [markdown]
# The order of the words never changes. The larger T is, the more the three probabilities become alike: at T = 1000
# they are 1/3 each. DistilBERT takes T = 2, for the teacher *and* the student, and only in training. A student that is
# used afterwards has T = 1.
#
# ### KL against cross-entropy
#
# How far is the student's distribution s from the teacher's t? The **Kullback-Leibler divergence** (KL) is
#
# $$\text{KL}(t \,\|\, s) = \sum_i t_i \,(\ln t_i - \ln s_i) = \underbrace{-\sum_i t_i \ln s_i}_{\text{cross-entropy}}
# - \underbrace{\Big(-\sum_i t_i \ln t_i\Big)}_{\text{entropy of } t}$$
#
# Hinton et al. and the DistilBERT paper write the cross-entropy, and DistilBERT's code computes the KL. By pencil,
# for the teacher at T = 2 (4/7, 2/7, 1/7) and a student that knows nothing (1/3 each): the cross-entropy is ln 3 =
# 1.10, the teacher's entropy is 0.96, so the KL is 0.14. The next cell computes these numbers, and the gradients of both
# losses for the student's logits.

# %%
t = torch.tensor([4 / 7, 2 / 7, 1 / 7])
gradients = []
for name in ("cross-entropy", "KL"):
    z = torch.zeros(3, requires_grad=True)  # the student's logits
    loss = -(t * z.log_softmax(dim=-1)).sum()
    if name == "KL":
        loss = loss - (-(t * t.log()).sum())
    loss.backward()
    gradients.append(z.grad)
    print(f"{name:13} {loss.item():.2f}, gradient", [round(g, 2) for g in z.grad.tolist()])

# %% [markdown]
# The gradients are equal: the teacher's entropy doesn't depend on the student. So both losses train the same student.
# The KL is easier to read, because it is 0 if the student agrees with its teacher. The gradient is s − t, as you can
# check: 0.33 − 0.57 = −0.24.
#
# ### Why times T²?
#
# With a temperature the logits are divided by T *before* the softmax, so the chain rule gives a factor 1/T:
#
# $$\frac{\partial\, \text{KL}}{\partial z_i} = \frac{1}{T}\,(s_i - t_i)$$
#
# And s and t themselves come closer at a higher temperature (both go to the uniform distribution), by about another
# factor 1/T. So the gradient shrinks as 1/T² (Hinton et al. 2015, sections 2 and 2.1).
#
# The next cell measures it. The teacher is our BERT. The student is a copy of its first and last layer. Both predict
# the masked tokens of the unseen text. The last column is for comparison: the gradient of the usual loss, the
# cross-entropy with the right word, which has no temperature.

# %%
from torch.nn.functional import cross_entropy, kl_div

from bertedu.family.distilbert import student_of

taught = at_masks(teacher)  # [N, V]
said = at_masks(student_of(teacher, layers=(0, 3)))  # [N, V]


def gradient_norm(loss_of):
    z = said.clone().requires_grad_()
    return torch.autograd.grad(loss_of(z), z)[0].norm().item()


def soft(z, T):
    student, teacher = (z / T).log_softmax(dim=-1), (taught / T).log_softmax(dim=-1)
    return kl_div(student, teacher, log_target=True, reduction="batchmean")


hard = gradient_norm(lambda z: cross_entropy(z, right))
norms = {T: gradient_norm(lambda z, T=T: soft(z, T)) for T in (1, 2, 4, 8)}
for T, expected in {1: 1, 2: 1, 4: 1, 8: 1}.items():
    plain, scaled = (about(expected, norm / hard, within=1e9) for norm in (norms[T], norms[T] * T**2))
    print(f"T = {T}: KL {plain:.3f}, KL · T² {scaled:.2f} of the gradient of the hard loss")

# %% [markdown]
# PROSE-T2
#
# ### Exercise 16.3 · The soft loss, with padding
# ●●●○ · 15 minutes
#
# Write `soft_loss(student, teacher, attention_mask, T)`. The two first arguments are logits `[B, T, V]` (there T is the
# number of tokens), and the mask `[B, T]` has 1 for real tokens and 0 for padding. Return one number: the KL from the
# teacher's to the student's distribution at the temperature, as a mean over the *real tokens*, times the temperature
# squared. The student must get a gradient. Stuck? `hint("16.3")`


# %% tags=["exercise"]
def soft_loss(student, teacher, attention_mask, T):
    ### BEGIN SOLUTION
    real = attention_mask.bool()
    s = (student[real] / T).log_softmax(dim=-1)  # [N, V]
    t = (teacher[real] / T).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1).mean() * T**2
    ### END SOLUTION


check("16.3", soft_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `student[real]` selects the N real tokens, so padding can't get in, and the mean divides by N. The probabilities sum
# to 1 over the words, the last axis. `log_softmax` is safer than `softmax().log()`: a probability that is rounded to 0
# would give −∞.
#
# With torch's function: `kl_div(s, t, log_target=True, reduction="batchmean")`. Its first argument is the student, in
# logarithms. Without `log_target=True` it expects the teacher as *probabilities*. And its default reduction divides by
# N·V and not by N: with 8,192 words the loss would be 8,192 times too small.
#
# </details>

# %% [markdown]
# ### The three losses
#
# DistilBERT's loss has three parts (section 2 of the paper; the weights are in the authors' training command):
#
# $$5 \cdot T^2 \cdot \text{KL} \;+\; 2 \cdot \text{masked words} \;+\; 1 \cdot (1 - \cos)$$
#
# - The **KL** at T = 2, a mean over *all* real tokens, masked or not.
# - The usual **masked-word loss**, a mean over the masked tokens.
# - The **cosine** between the last hidden states of student and teacher, for all real tokens. It aligns the directions
#   of their vectors. It needs the same D, which DistilBERT has.
#
# The teacher reads the same masked text. It is frozen: no gradient, no dropout. Here is the whole loss. With
# `masked_positions=real` both models give their logits for the real tokens only, `[N, V]`.

# %%
from torch.nn.functional import cosine_similarity

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def distillation_loss(student, teacher, batch, T=2.0):
    real = batch["attention_mask"].bool()  # [B, T]
    inputs = [batch[name] for name in INPUTS]
    with torch.no_grad():
        taught = teacher(*inputs, masked_positions=real)
    said = student(*inputs, masked_positions=real)
    s, t = said.prediction_logits.float(), taught.prediction_logits.float()  # [N, V] each
    divergence = kl_div(
        (s / T).log_softmax(-1), (t / T).log_softmax(-1), log_target=True, reduction="batchmean"
    )
    masked_words = cross_entropy(s, batch["labels"][real])  # labels of -100 don't count
    ours, theirs = (o.bert.last_hidden_state[real].float() for o in (said, taught))  # [N, D]
    cosine = (1 - cosine_similarity(ours, theirs, dim=-1)).mean()
    return 5 * divergence * T**2 + 2 * masked_words + cosine


# %% [markdown]
# ### Copied layers
#
# The student is not drawn at random. It starts with the teacher's embeddings and head, and with some of its layers:
# "one layer out of two", says the paper. The authors' script takes layers 0, 2, 4, 7, 9 and 11 of 12. These are spread
# evenly from the *first* to the *last*.
#
# ### Exercise 16.4 · Copy layers evenly
# ●●○○ · 8 minutes
#
# Write `evenly(of_teacher, of_student)`: the numbers of the teacher's layers, counted from 0, that the student copies, as
# a list. The first and the last layer are among them, and the steps between them are equal before rounding. So
# `evenly(12, 6)` is `[0, 2, 4, 7, 9, 11]`. A student of one layer copies layer 0. Stuck? `hint("16.4")`


# %% tags=["exercise"]
def evenly(of_teacher, of_student):
    ### BEGIN SOLUTION
    if of_student == 1:
        return [0]
    step = (of_teacher - 1) / (of_student - 1)
    return [round(number * step) for number in range(of_student)]
    ### END SOLUTION


check("16.4", evenly)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# From layer 0 to layer 11 there are 11 steps in the teacher, and 5 between the student's 6 layers: 2.2 each. The
# multiples are 0, 2.2, 4.4, 6.6, 8.8 and 11, rounded 0, 2, 4, 7, 9, 11. `range(0, 12, 2)` would be 0, 2, 4, 6, 8, 10:
# one layer out of two, but without the last one, whose output the head expects.
#
# </details>

# %% [markdown]
# The package's `student_of` copies the layers, and makes one detail right that the authors' script leaves out: BERT adds
# the vector of segment 0 to every token, and DistilBERT has no segments, so it goes into the position embeddings. The
# next cell makes our student, layers 0 and 3 of 4, and measures it before any training.

# %%
student = student_of(teacher)
for name, model in (("teacher", teacher.bert), ("student", student.encoder)):
    count = sum(weight.numel() for weight in model.parameters())
    print(f"{name} {count:,} parameters, {model.config.num_hidden_layers} layers")


def kl_to_teacher(logits):  # at T = 1, in nats for a masked token
    return kl_div(
        logits.log_softmax(-1), taught.log_softmax(-1), log_target=True, reduction="batchmean"
    ).item()


def measure(name, model, expected):
    logits = at_masks(model.eval())
    hits = about(expected[0], accuracy(logits), within=9)
    divergence = about(expected[1], kl_to_teacher(logits), within=9)
    print(f"{name:25} accuracy {hits:.3f}, KL to the teacher {divergence:.2f}")


measure("teacher", teacher, (0.38, 0))
measure("student, not yet trained", student, (0.24, 1))

# %% [markdown]
# ## Does the teacher help?
#
# DistilBERT does two things at once: its layers are copied from the teacher, and its loss listens to the teacher. Which
# of the two helps? To separate them we need four students:
#
# | | taught by the teacher | masked words alone |
# |---|---|---|
# | copied layers | DistilBERT | |
# | random weights | | a small BERT, trained as usual |
#
# All four see the same batches in the same order, with the same masks, for the same 40 steps. The next cell has the
# loop. The two cells after it train the four students. (The first takes half a minute on a slow computer, the second
# too.) What do you expect: which of the two differences will be larger?

# %%
from bertedu.training.devices import computes_bf16
from bertedu.training.optimization import rate_factor


def alone(student, batch):
    return student(*[batch[name] for name in INPUTS], labels=batch["labels"]).loss


def taught_by_the_teacher(student, batch):
    return distillation_loss(student, teacher, batch)


def train(student, loss_of, steps=40, rate=5e-4):
    optimizer = torch.optim.AdamW(student.parameters(), lr=rate)
    for step, batch in zip(range(steps), task.epoch(0)):
        batch = task.prepare(batch, step, step / steps)  # masks the batch
        optimizer.param_groups[0]["lr"] = rate * rate_factor(step / steps, warmup=0.1)
        with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):
            loss = loss_of(student.train(), batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
    return student.eval()


# %%
measure("copied, alone", train(student_of(teacher), alone), (0.27, 1))
student = train(student_of(teacher), taught_by_the_teacher)
measure("copied, taught", student, (0.28, 1))

# %%
from bertedu.model.heads import MaskedLM

for name, loss_of, expected in (("alone", alone, (0, 1)), ("taught", taught_by_the_teacher, (0, 1))):
    torch.manual_seed(0)
    beginner = MaskedLM(student.config)  # random weights
    measure(f"random weights, {name}", train(beginner, loss_of), expected)

# %% [markdown]
# PROSE-ARMS
#
# Forty steps are few. We trained the same four students for longer, with three seeds (`benchmarks/students.py`). The
# next cell draws RECORDED

# %% tags=["hide-input"]
from bertedu.files import read_json

# %% [markdown]
# PROSE-RECORDED
#
# The DistilBERT paper did the same separation at full size (table 4, change of the GLUE average): without the KL −2.96,
# without the cosine −1.46, without masked words −0.31, and with all three losses but random weights −3.69. So at its
# size, too, the copied layers are worth more than any single loss.
#
# And DistilBERT *is* faster: 410 seconds against 668 for the development set of a GLUE task, on a CPU, one text at a
# time, with 66 against 110 million parameters (table 3).
#
# ### A ReLU in the head (optional)
#
# If you fine-tune a DistilBERT for classification, its head surprises you. There is no pooler. `transformers` puts a
# new linear layer, `pre_classifier`, and a **ReLU** between the vector of [CLS] and the classes. BERT's pooler has a
# tanh and was pre-trained. The next cell computes this head by hand.

# %%
import transformers

transformers.utils.logging.disable_progress_bar()
config = transformers.DistilBertConfig(
    vocab_size=99, dim=16, n_layers=2, n_heads=2, hidden_dim=32, num_labels=3
)
torch.manual_seed(0)
classifier = transformers.DistilBertForSequenceClassification(config).eval()
ids = torch.randint(5, 99, (2, 6))  # [B, T]
with torch.no_grad():
    cls = classifier.distilbert(ids).last_hidden_state[:, 0]  # [B, D]
    by_hand = classifier.classifier(classifier.pre_classifier(cls).relu())  # [B, 3]
    print(f"head by hand: largest difference {(by_hand - classifier(ids).logits).abs().max():.6f}")

# %% [markdown]
# ## The proof
#
# First ALBERT. The same weights in your `SharedEncoder`, in the package's `AlbertModel`, and in the one of
# `transformers`, on two texts, the second of which is padded.

# %%
import tempfile

import transformers

from bertedu.model.attention import padding_bias

package = albert.eval()
mine = SharedEncoder(package.config).eval()
mine.mapping_in.load_state_dict(package.encoder.mapping_in.state_dict())
mine.layer.load_state_dict(package.encoder.groups[0][0].state_dict())
with tempfile.TemporaryDirectory() as directory:
    package.save_pretrained(directory)
    library = transformers.AlbertModel.from_pretrained(directory).eval()
input_ids = torch.randint(5, 8192, (2, 9))  # [B, T]
mask = torch.tensor([[1] * 9, [1] * 5 + [0] * 4])  # [B, T]
with torch.no_grad():
    embedded = package.embeddings(input_ids)  # [B, T, E]
    result = mine(embedded, padding_bias(mask, embedded.dtype))  # [B, T, D]
    others = {"package": package, "transformers": library}
    for name, model in others.items():
        off = (model(input_ids, attention_mask=mask).last_hidden_state - result)[mask.bool()]
        print(f"ALBERT, {name:12}  largest difference {off.abs().max():.6f}")

# %% [markdown]
# Then the distillation loss: yours against the objective of the package, `bertedu pretrain --objective distillation
# --teacher FOLDER`, on one batch of the unseen text. And the student, saved and opened as a DistilBERT in
# `transformers`.

# %%
from bertedu.pretraining.objectives.distillation import Distillation

objective = Distillation(*texts, tokenizer, PretrainingSettings(
    objective="distillation", teacher=str(folder), max_length=64
))
batch = {name: tensor[:8] for name, tensor in unseen[0].items()}
with torch.no_grad():
    sums, counts = objective.sums(student, batch), objective.counts(batch)
    theirs = sum(
        weight * sums[name] / counts[name.removesuffix("_loss")]
        for name, weight in objective.loss_weights.items()
    )
    off = (distillation_loss(student, teacher, batch) - theirs).abs()
    print(f"distillation loss: {off:.5f} from the package's")
    with tempfile.TemporaryDirectory() as directory:
        student.save_pretrained(directory)
        library = transformers.DistilBertForMaskedLM.from_pretrained(directory).eval()
    ours = student(batch["input_ids"], batch["attention_mask"]).prediction_logits
    off = (library(batch["input_ids"], batch["attention_mask"]).logits - ours).abs().max()
    print(f"student in {type(library).__name__}: largest difference {off:.4f}")

# %% [markdown]
# ## Broken BERT: the student that ignores its teacher
#
# LAB
