# %% [markdown]
# # 16 · ALBERT and DistilBERT
#
# You will make BERT smaller in two ways. ALBERT stores fewer weights, and runs one layer again and again. DistilBERT
# has half of the layers, and learns from a trained BERT as its teacher. Only one of the two is faster in use.
#
# ## What you will be able to do
#
# - count the parameters of BERT and ALBERT with a pencil, and say what ALBERT saves and what it doesn't
# - write an encoder that shares one layer, and say what its gradient is
# - explain why ALBERT predicts the order of two segments, and why BERT's next-sentence task is easier
# - compute soft targets at a temperature by hand, and show with a measurement why the loss is multiplied by T²
# - distil a student from a teacher, and measure what the teacher gives and what the copied layers give
#
# **Time:** two sittings of about 45 and 65 minutes, and 10 more for what is optional ·
# **You need:** [15 · RoBERTa and SpanBERT](15_roberta_and_spanbert.ipynb) ·
# **Next:** [17 · ELECTRA](17_electra.ipynb)
#
# You can leave what is marked (optional) for another day.
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
# ![Three models to scale. BERT-Base: 109 million parameters in embeddings and 12 layers. ALBERT-base: 11 million, small embeddings and one layer that runs 12 times. DistilBERT: 66 million, six layers copied from BERT.](pictures/16_three_sizes.svg)
#
# (BERT-Base has 109 million parameters if you count them. Papers also write 108 or 110 million.)

# %% [markdown]
# ## The problem: take away layers
#
# BERT-Base computes twelve layers for every token. On a phone, or for millions of requests, that can be too much. Can
# we simply take a trained BERT and use fewer layers?
#
# We try it with our own BERT of four layers, on documentation of the Python packages on your machine: `held_out` was
# not trained on. `task` masks 15 % of the tokens, as in [chapter 06](06_masked_language_model.ipynb). The cell also
# chooses where to compute. On a GPU the training below takes less time. (The pictures show a run on a processor.)

# %% tags=["nbval-ignore-output"]
import random

import torch

from bertedu.corpora import load_corpus
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.inference import open_model
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.devices import choose_device

device = torch.device(choose_device("auto"))  # cuda or mps where torch finds one, else cpu
folder = data_path("checkpoints/mixed-mini")
teacher, tokenizer = open_model(folder)
corpus = load_corpus("documentation")
documents, held_out = list(corpus.train), list(corpus.heldout["held-out documents"])
random.Random(0).shuffle(documents)
random.Random(0).shuffle(held_out)
texts = [tokenize_documents(part, tokenizer) for part in (documents[:300], held_out[:60])]
settings = PretrainingSettings(max_length=64, batch_size=8, mask_rates=(0.15, 0.15))
task = MaskedWords(*texts, tokenizer, settings)

# %% [markdown]
# The next cell measures the **masked accuracy**: at what share of the masked tokens is the right token the likeliest
# one? The cell after it runs the trained model with all four layers, two of them, and one layer four times. Guess
# first: how much is lost with half of the layers, and can one layer stand in for four?

# %%
from torch import nn

from bertedu.training.feeding import to_device

unseen = task.validation()  # masked batches, always the same
right = torch.cat([batch["labels"][batch["labels"] != -100] for batch in unseen])  # [N]


@torch.no_grad()
def at_masks(model):  # -> scores at all masked tokens, [N, V]
    outputs = []
    for batch in unseen:
        batch = to_device(batch, device)
        masked = batch["labels"] != -100  # [B, T]
        ids, mask = batch["input_ids"], batch["attention_mask"]
        output = model.to(device)(ids, mask, masked_positions=masked)
        outputs.append(output.prediction_logits.cpu())
    return torch.cat(outputs)


def accuracy(logits):
    return (logits.argmax(dim=-1) == right).double().mean().item()


# %% tags=["guess"]
layers = list(teacher.bert.encoder.layers)
kept = {}
for numbers in ((0, 1, 2, 3), (0, 3), (0, 1), (0, 0, 0, 0)):
    teacher.bert.encoder.layers = nn.ModuleList(layers[n] for n in numbers)
    kept[numbers] = accuracy(at_masks(teacher))
    share = about(f"masked accuracy with layers {numbers}", kept[numbers], within=0.04)
    print("layers", *numbers, f" masked accuracy {share:.3f}")
teacher.bert.encoder.layers = nn.ModuleList(layers)
frequent = (right == right.mode().values).double().mean().item()
constant = about("masked accuracy of one constant word", frequent, within=0.03)
print(f"always the most frequent of these tokens: {constant:.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Masked accuracy with all four layers is nearly one half, with two of them about half of that, with layer 0 four times none: less than one constant word.](pictures/16_fewer_layers.svg)
#
# One layer, run four times, is right less often than a constant answer; probably because layer 0 has never seen its own
# output as an input. With two layers about half of the accuracy is lost.
#
# </details>
#
# So a small BERT has to be *trained* small:
#
# - **ALBERT** (Lan et al. 2020) runs one layer again and again, and is trained that way from the first step on.
# - **DistilBERT** (Sanh et al. 2019) starts with some of a trained model's layers, and trains them with the large
#   model as a teacher.
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
# The next cell computes it. (On the device `meta` torch creates only the shapes of the weights.)

# %%
from bertedu import BertConfig, BertModel


def layer_parameters(D):
    attention = 4 * (D * D + D)
    feed_forward = (D * 4 * D + 4 * D) + (4 * D * D + D)
    return attention + feed_forward + 2 * 2 * D  # and two LayerNorms


V, D, L = 30_522, 768, 12
parts = {"embeddings": (V + 512 + 2) * D + 2 * D, "layers": L * layer_parameters(D)}
parts |= {"pooler": D * D + D}
with torch.device("meta"):
    bert_base = BertModel(BertConfig.preset("base", vocab_size=V))
counted = sum(weight.numel() for weight in bert_base.parameters())
for name, number in (*parts.items(), ("together", sum(parts.values())), ("package", counted)):
    print(f"{name:10} {number:11,}  {number / counted:4.0%}")

# %% [markdown]
# ALBERT reduces both large numbers: the embeddings by **factorizing** them, the layers by **sharing** one.
#
# ### Factorized embeddings
#
# In BERT the table of word embeddings has V·D numbers. But in it a word has the same vector in every sentence, which
# needs fewer dimensions than the vectors in the layers, argue ALBERT's authors (section 3.1). So ALBERT looks up a
# short vector with E = 128 numbers, and one matrix maps it to D numbers:
#
# $$V \cdot D \quad\longrightarrow\quad V \cdot E + E \cdot D$$
#
# For ALBERT-base with V = 30,000, it is 30,000 · 128 + 128 · 768 = 3.9 million instead of 23.0 million. And for the
# other sizes?

# %%
V, E = 30_000, 128
for name, D in {"base": 768, "large": 1024, "xlarge": 2048, "xxlarge": 4096}.items():
    table, factors = V * D, V * E + E * D
    print(f"{name:8} D = {D:4}   V·D {table / 1e6:5.1f} million", end="")
    print(f"   V·E + E·D {factors / 1e6:.1f} million   one part in {table / factors:.0f}")

# %% [markdown]
# The wider the model, the more factorizing saves. What does it cost? Here is a small factorized table (V = 4, E = 2,
# D = 3).
#
# ![A table of four words as a product: short vectors of two numbers, times a matrix of two rows and three columns, give vectors of three numbers.](pictures/16_factorized.svg)
#
# Guess: with another mapping and other short vectors, could its four vectors be *any* four vectors? (The second cell
# prints how many of them are independent.)

# %%
short = torch.tensor([[1.0, 0], [0, 1], [1, 1], [2, -1]])  # [V, E] = [4, 2]
mapping = torch.tensor([[1.0, 2, 0], [0, 1, 3]])  # [E, D] = [2, 3]
whole = short @ mapping  # [V, D] = [4, 3]
in_two_steps = short[2] @ mapping
print(
    "word 2 in two steps", in_two_steps.int().tolist(), "in the table", whole[2].int().tolist()
)

# %% tags=["guess"]
print("rank of the table:", torch.linalg.matrix_rank(whole).item(), "of", min(whole.shape))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# No. The table has rank 2, and it can't have more than E: all words lie in a plane, although a vector has three numbers.
#
# </details>
#
# Does a small E hurt? Hardly: with layers that are *not* shared, the average over five tasks falls by
# 0.6 points; with shared layers, E = 128 was the best of four sizes (Lan et al. 2020, table 3).
#
# ### One layer, L times
#
# The larger saving is simpler. Build *one* layer, and call it L times.
#
# ![BERT runs twelve layers with weights of their own. ALBERT runs twelve times the same weights: it stores one layer and computes twelve.](pictures/16_one_layer.svg)
#
# The next cell is the whole encoder of ALBERT. `EncoderLayer` is BERT's layer from [chapter
# 04](04_transformer_encoder.ipynb).

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
# The config also allows **groups**: with L = 12 and 3 groups, layers 0 to 3 share one set of weights, and so on. The
# released models have one group.
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
# ### Is it faster?
#
# ALBERT-base has a ninth of BERT-Base's parameters. Is it nine times as fast? Count again, this time multiplications.
# For each token, a layer takes about 12·D² of them, and L layers *run*, whether their weights are shared or not. (We
# leave out the scores of attention.)
#
# ### Exercise 16.2 · The xxlarge model
# ●●○○ · 5 minutes
#
# Compare the *layers* of ALBERT-xxlarge (L = 12, D = 4096, one group) with those of BERT-large (L = 24, D = 1024).
# Count 12·D² weights for a layer, and 12·D² multiplications for a token in a layer. Predict two ratios, ALBERT-xxlarge
# divided by BERT-large: weights that are stored, and multiplications. Write them as a list of two numbers (two
# decimals are enough, or a fraction such as `1 / 3`). Stuck? `hint("16.2")`

# %% tags=["exercise"]
### BEGIN SOLUTION
ratios = [2 / 3, 8]
### END SOLUTION
check("16.2", ratios)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Stored: 4096² against 24 · 1024², which is 16 / 24 = 2/3. Computed: 12 · 4096² against 24 · 1024², which is 12 · 16
# / 24 = 8. So a model with *fewer* weights in its layers does eight times the multiplications. In the paper, its
# training read text about three times more slowly than that of BERT-large, on the same number of TPUs (section 4.3
# and table 2). Multiplications are not the only thing that takes time.
#
# </details>

# %% [markdown]
# ![The published models by parameters and by multiplications for a token, 12·L·D². ALBERT-base is far to the left of BERT-Base, and exactly as high; ALBERT-xxlarge has fewer parameters than BERT-large and is eight times as high.](pictures/16_size_and_work.svg)
#
# (Both axes are logarithmic; parameters from the paper's table 1.)
#
# Now we measure it with two small models of the same shape, eight layers with D = 256: the bytes of the weights,
# those of the **activations** (the results that the forward pass keeps for the backward pass), and the time of a
# forward pass, on the processor. (Your times will differ.) Guess: which of the three is smaller for ALBERT?

# %%
import time

from bertedu.training.activation_memory import kept_bytes

sizes = {"vocab_size": 8192, "hidden_size": 256, "num_hidden_layers": 8}
sizes |= {"num_attention_heads": 4, "intermediate_size": 1024}
bert = BertModel(BertConfig(**sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
albert = AlbertModel(AlbertConfig(**sizes, embedding_size=64))
input_ids = torch.randint(5, 8192, (8, 128))  # [B, T]

# %% tags=["guess", "nbval-ignore-output"]
costs = {}
for name, model in (("BERT", bert), ("ALBERT", albert)):
    weights = sum(4 * weight.numel() for weight in model.parameters()) / 1e6
    activations = kept_bytes(model, lambda model=model: model(input_ids)) / 1e6
    start = time.process_time()
    with torch.no_grad():
        model(input_ids)
    costs[name] = (weights, activations, 1000 * (time.process_time() - start))
    shown = "{:6} weights {:4.1f} MB, activations {:3.0f} MB, {:3.0f} ms"
    print(shown.format(name, *costs[name]))
compared = zip(("weights", "activations", "time"), *costs.values(), (0.05, 0.05, 1.0))
for name, of_bert, of_albert, tolerance in compared:
    share = about(f"ALBERT by BERT: {name}", of_albert / of_bert, within=tolerance)
    print(f"{name}, ALBERT divided by BERT: {share:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two pairs of bars in megabytes. Weights: BERT 34, ALBERT 6. Activations in training: 137 and 136, so sharing saves nothing there.](pictures/16_weights_and_activations.svg)
#
# Only the weights shrink: the layer still runs eight times, and each run keeps its own results.
#
# </details>
#
# Sharing helps whenever the *weights* are the problem: a download, a small device, or the gradients that many machines
# send to each other in training. (There ALBERT-large read its text 1.7 times as fast as BERT-large, section 4.3.) When
# the trained model is used, expect hardly any gain.
#
# ### The gradient of a shared layer (optional)
#
# How does a layer learn that is used several times? **The gradient of a shared weight is the sum of the gradients at all
# its uses.** The picture has a "layer" that multiplies by w.
#
# ![A weight 3 is used twice: 2 becomes 6, then 18. As two copies the gradients are 6 and 6; shared it is 12, their sum.](pictures/16_shared_gradient.svg)
#
# The next cell shows the same with a real layer, used three times, against three separate copies of it.

# %%
from copy import deepcopy

w, w1, w2 = (torch.tensor(3.0, requires_grad=True) for _ in range(3))
(w * (w * 2) + w2 * (w1 * 2)).backward()
print(f"shared {w.grad:.0f}, copies {w1.grad:.0f} and {w2.grad:.0f}")
torch.manual_seed(0)
layer = EncoderLayer(albert.config)
copies = [deepcopy(layer) for _ in range(3)]
shared = separate = torch.randn(2, 5, 256)  # [B, T, D]
for copy in copies:
    shared, separate = layer(shared)[0], copy(separate)[0]
(shared.sin().sum() + separate.sin().sum()).backward()
parts = [copy.attention.query.weight.grad for copy in copies]
off = (layer.attention.query.weight.grad - sum(parts)).abs().max()
print(f"a layer used three times: {off:.6f} from the sum over three copies")

# %% [markdown]
# The layers of BERT can specialize, each for its depth; a shared layer has to serve all depths. The paper measures the
# price (table 4, averages over five tasks, E = 128):
#
# | shared | parameters | average |
# |---|---|---|
# | nothing | 89 million | 81.6 |
# | attention | 64 million | 81.7 |
# | feed-forward | 38 million | 80.2 |
# | all | 12 million | 80.1 |
#
# Almost the whole loss comes from sharing the feed-forward part. (With E = 768 sharing attention costs 0.7 points.)
#
# ### Sentence order instead of next sentence
#
# In BERT's next-sentence task the wrong second segment comes from another document, and the *topic* is often enough to
# recognize it ([chapter 07](07_next_sentence_prediction.ipynb)). ALBERT replaces the task by **sentence order
# prediction** (SOP): both segments always follow each other in one document, and in half of the pairs they are
# **swapped** (label 1).
#
# The next cells cut documents of our small world in two, and measure how far plain **word overlap** gets, with the
# best threshold for each task. Guess: what share of the pairs will it get right in each?


# %%
def overlap(first, second):
    return len(set(first.lower().split()) & set(second.lower().split()))


def best_accuracy(positive, negative):  # two lists of equal length, by one threshold
    def right(cut):
        return sum(p >= cut for p in positive) + sum(n < cut for n in negative)

    return max(right(cut) for cut in range(99)) / (2 * len(positive))


# %%
world = load_corpus("world")
stories = [d.sentences for d in world.train if len(d.sentences) >= 4][:500]
first = [" ".join(story[: len(story) // 2]) for story in stories]
second = [" ".join(story[len(story) // 2 :]) for story in stories]
following, swapped = list(map(overlap, first, second)), list(map(overlap, second, first))
elsewhere = list(map(overlap, first, second[7:] + second[:7]))  # of another document

# %% tags=["guess"]
print(f"next sentence:  word overlap gets {best_accuracy(following, elsewhere):.2f}")
print(f"sentence order: word overlap gets {best_accuracy(following, swapped):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Next sentence: the wrong pair has another topic, and word overlap is right for 0.75. Sentence order: the wrong pair is swapped and has the same words, so overlap is right for 0.50.](pictures/16_sentence_order.svg)
#
# Swapping two segments doesn't change which words they have in common: for the order, overlap is no better than chance.
#
# </details>
#
# To predict the order, a model has to find signs of it, for example that a text introduces somebody by name before it
# says *she*. By the paper (section 4.6, table 5) a model trained on next sentences is right for 52.0 % of the
# sentence-order pairs: chance. One trained on sentence order is right for 86.5 % of them, *and* for 78.9 % of the
# next-sentence pairs. Over five tasks it is 0.9 points ahead. Here it is `bertedu pretrain --architecture albert`.
#
# **Here the first sitting ends.** You know what ALBERT shares, what this saves, and what it does not make faster.
# In the second sitting, a small student learns from a large teacher.
#
# ## DistilBERT: a student and a teacher
#
# DistilBERT keeps BERT's width, takes half of the layers, and *learns from a trained BERT*. This is **knowledge
# distillation** (Hinton et al. 2015): the large model is the **teacher**, the small one the **student**.
#
# What can a teacher tell that the text can't? The text knows one word for each [MASK]. The next cell asks our BERT.

# %%
from bertedu.inference import fill_mask

told = {}
for text in ("It was nine o'clock in the [MASK].", "My father and my [MASK] are dead."):
    told[text] = fill_mask(teacher, tokenizer, text, top=6)[0]
    print(text, "\n   ", "  ".join(f"{word} {p:.2f}" for word, p in told[text]))

# %% [markdown]
# ![The text says morning, and 0 for every other word. The teacher says morning 0.08, and less for room, night, hall, house and afternoon.](pictures/16_soft_targets.svg)
#
# A teacher's probabilities, in place of the one right word, are called **soft targets**. And a teacher has an opinion
# about *every* token, not only about the masked ones. (Ours is small, and not always right: it also thinks that *my
# father and my father* is a fine pair.)
#
# ### Temperature by pencil
#
# A trained model is often so sure that its second and third choices hardly show. A **temperature** T brings them out.
# The scores z (the **logits**) are divided by T before the softmax:
#
# $$p_i = \frac{e^{z_i / T}}{\sum_j e^{z_j / T}}$$
#
# Take three words with the logits 2.77, 1.39 and 0, chosen so that e to these numbers is 16, 4 and 1. At T = 1 they
# sum to 21: probabilities 0.76, 0.19, 0.05. At T = 2 we take the square roots, 4, 2 and 1, which sum to 7: 0.57, 0.29,
# 0.14; the next cell checks this. Your turn, before you run the second cell: what comes out for T = 4? (The square
# roots of 4, 2 and 1 are 2, 1.41 and 1.)

# %%
import math

logits = torch.tensor([math.log(16), math.log(4), 0.0])  # 2.77, 1.39, 0


def at_temperature(T):
    print(f"T = {T:4} ", "  ".join(f"{p:.2f}" for p in (logits / T).softmax(dim=-1)))


at_temperature(1)
at_temperature(2)

# %% tags=["guess"]
for T in (4, 8, 1000):
    at_temperature(T)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The three probabilities at T = 1, 2, 4 and 8 become more and more alike; their order stays.](pictures/16_temperatures.svg)
#
# At T = 4 the numbers 2, 1.41 and 1 sum to 4.41, and 2 / 4.41 = 0.45. The higher the temperature, the more alike the
# three probabilities are.
#
# </details>
#
# DistilBERT takes T = 2, for the teacher *and* the student, and only in training.
#
# ### KL against cross-entropy
#
# How far is the student's distribution s from the teacher's t? The **Kullback-Leibler divergence** (KL) is
#
# $$\text{KL}(t \,\|\, s) = \sum_i t_i \,(\ln t_i - \ln s_i) = \underbrace{-\sum_i t_i \ln s_i}_{\text{cross-entropy}}
# - \underbrace{\Big(-\sum_i t_i \ln t_i\Big)}_{\text{entropy of } t}$$
#
# By pencil, for the teacher at T = 2 (4/7, 2/7, 1/7) and a student that knows nothing (1/3 each): the cross-entropy is
# ln 3 = 1.10, the teacher's entropy is 0.96, so the KL is 0.14. Guess: how do the *gradients* of the two losses differ?

# %%
t = torch.tensor([4 / 7, 2 / 7, 1 / 7])  # the teacher's probabilities
entropy = -(t * t.log()).sum()
gradients = {}
for name, less in (("cross-entropy", 0), ("KL", entropy)):
    z = torch.zeros(3, requires_grad=True)  # the student's logits
    loss = -(t * z.log_softmax(dim=-1)).sum() - less
    (gradients[name],) = torch.autograd.grad(loss, z)
    print(f"{name:13} {loss.item():.2f}")

# %% tags=["guess"]
for name, gradient in gradients.items():
    print(f"{name:13} gradient", [round(g, 2) for g in gradient.tolist()])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# They are equal, since the teacher's entropy doesn't depend on the student: s − t, here 0.33 − 0.57 = −0.24.
#
# </details>
#
# The KL is easier to read, because it is 0 if the student agrees with its teacher.
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
# ![The norm of the gradient for three words: 0.53 at T = 1, 0.15, 0.04, 0.01 at T = 8. Times T² it is 0.53, 0.62, 0.64, 0.65.](pictures/16_gradients_by_temperature.svg)
#
# Turn the knobs: T, and the student's three logits. When does the KL become 0?

# %% tags=["nbval-ignore-output"]
import ipywidgets

heat = ipywidgets.FloatLogSlider(1, base=2, min=0, max=4, step=0.5, description="T")
zs = [ipywidgets.FloatSlider(0, min=-3, max=3, description=f"student {i}") for i in (1, 2, 3)]
view = ipywidgets.HTML()


def show(change=None, of_teacher=logits):
    T, z = heat.value, torch.tensor([one.value for one in zs])
    t, s = (of_teacher / T).softmax(dim=-1), (z / T).softmax(dim=-1)
    gradient = ((s - t) / T).norm()
    lines = [
        f"{name} {'  '.join(f'{p:.2f}' for p in of)}"
        for name, of in (("teacher", t), ("student", s))
    ]
    lines.append(f"KL {(t * (t / s).log()).sum():.2f}")
    lines.append(f"gradient {gradient:.2f}, times T² {gradient * T**2:.2f}")
    view.value = "<br>".join(f"<code>{line}</code>" for line in lines)


for knob in (heat, *zs):
    knob.observe(show, "value")
show()
ipywidgets.VBox([heat, *zs, view])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Where the student's logits differ from each other as the teacher's do: 2.8, 1.4 and 0 come close. A constant that is
# added to all three changes nothing.
#
# </details>
#
# The next cells compute the numbers of the picture.

# %%
from torch.nn.functional import cross_entropy, kl_div

from bertedu.family.distilbert import student_of


def gradient_norm(student, teacher, T):  # logits [N, V] each
    z = student.clone().requires_grad_()
    s, t = (z / T).log_softmax(dim=-1), (teacher / T).log_softmax(dim=-1)
    loss = kl_div(s, t, log_target=True, reduction="batchmean")  # a mean over N
    return torch.autograd.grad(loss, z)[0].norm().item()


# %%
for T in (1, 2, 4, 8):
    norm = gradient_norm(torch.zeros(1, 3), logits[None], T)
    print(f"T = {T}: norm {norm:.3f}, norm · T² {norm * T**2:.2f}")
taught = at_masks(teacher)  # [N, V]
said = at_masks(student_of(teacher, layers=(0, 3)))  # [N, V]

# %% [markdown]
# Now the same for our BERT as the teacher, and a copy of its first and last layer as the student. Guess: is the norm
# times T² as steady there? (The last column is the share of the teacher's probability that its ten likeliest words
# have.)

# %% tags=["guess"]
for T in (1, 2, 4, 8):
    norm = gradient_norm(said, taught, T) * T**2
    top = (taught / T).softmax(dim=-1).topk(10)[0].sum(dim=-1).mean()
    norm = about(f"gradient times T², BERT at T = {T}", norm, within=0.3 * norm + 1e-4)
    top = about(f"probability of ten words, BERT at T = {T}", top, within=0.05)
    print(f"T = {T}: norm · T² {norm:.4f}, top ten {top:.1%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# For our BERT the rule holds roughly up to T = 2. From there to T = 4 the gradient falls to less than a tenth, *with* the
# factor. The last column suggests why: at T = 4 the ten likeliest of the 12,288 words hold only 1 % of the teacher's
# probability. So T² keeps the balance at a low temperature, and at a high one the teacher can still become weak.
#
# </details>
#
# ### Exercise 16.3 · The soft loss, with padding
# ●●●○ · 15 minutes
#
# Write `soft_loss(student, teacher, mask, T)`. `student` and `teacher` are logits of the shape `[B, tokens, V]`, `mask`
# is `[B, tokens]` with 1 for real tokens and 0 for padding, and T is the temperature. Return one number: the KL from the
# teacher's to the student's distribution, both at temperature T, as a mean over the **real tokens**. (The factor T²
# comes later, where the losses are added.) The student must get a gradient. Stuck? `hint("16.3")`


# %% tags=["exercise"]
def soft_loss(student, teacher, mask, T):
    ### BEGIN SOLUTION
    s = (student[mask == 1] / T).log_softmax(dim=-1)  # [N, V]
    t = (teacher[mask == 1] / T).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1).mean()
    ### END SOLUTION


check("16.3", soft_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `student[mask == 1]` selects the N real tokens, so padding can't get in, and the mean divides by N. The probabilities
# sum to 1 over the words, the last axis. `log_softmax` is safer than `softmax().log()`: a probability that is rounded to
# 0 would give −∞.
#
# With torch's function: `kl_div(s, t, log_target=True, reduction="batchmean")`. Its first argument is the student, in
# logarithms. Without `log_target=True` it expects the teacher as *probabilities*. And its default reduction divides by
# N·V and not by N: with 12,288 words the loss would be 12,288 times too small.
#
# </details>

# %% [markdown]
# ### The three losses
#
# DistilBERT's loss has three parts (section 2 of the paper; the weights are in the authors' training command):
#
# $$5 \cdot T^2 \cdot \text{KL} \;+\; 2 \cdot \text{MLM} \;+\; 1 \cdot (1 - \cos)$$
#
# ![Teacher and student read the same masked text; the teacher is frozen. KL and cosine compare the two at all real tokens, the MLM loss compares the student with the text at the masked tokens.](pictures/16_three_losses.svg)
#
# The **cosine** compares the last hidden states, which need the same D. Here is the whole loss. With
# `masked_positions=real` both models give their logits for the real tokens only, `[N, V]`.

# %%
from torch.nn.functional import cosine_similarity

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def distillation_loss(student, teacher, batch, T=2.0):
    real = batch["attention_mask"].bool()  # [B, tokens]
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
# ### Copied layers (optional, with exercise 16.4)
#
# The student starts with the teacher's embeddings and head, and with some of its layers: "one layer out of two", says
# the paper.
#
# ![The authors' script copies layers 0, 2, 4, 7, 9 and 11 of 12 to the student's six layers.](pictures/16_copied_layers.svg)
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
# ## Does the teacher help?
#
# The package's `student_of(teacher)` makes the student: embeddings, head, and half of the layers, copied. So DistilBERT
# does two things at once: its layers are copied from the teacher, and its loss compares it with the teacher. Which of
# the two helps? We train four students, from all combinations: copied layers or random weights, alone or taught.
#
# All four see the same batches, with the same masks, for the same 40 steps. We measure their masked accuracy on the
# unseen text, and the KL from the teacher's to the student's distribution at the masked tokens (at T = 1).


# %%
reached_by = {}


def measure(name, model):  # masked accuracy, and KL at the masked tokens
    s, t = at_masks(model.eval()).log_softmax(dim=-1), taught.log_softmax(dim=-1)  # [N, V]
    kl = kl_div(s, t, log_target=True, reduction="batchmean")
    reached_by[name] = accuracy(s)
    reached = about(f"masked accuracy of students: {name}", reached_by[name], within=0.04)
    kl = about(f"KL from teacher to student: {name}", kl, within=0.25)
    print(f"{name:22} accuracy {reached:.3f}, KL to the teacher {kl:.2f}")


measure("the teacher", teacher)
measure("copied, not trained", student_of(teacher))

# %%
from bertedu.training.devices import computes_bf16
from bertedu.training.optimization import rate_factor


def train(student, loss_of, task=task, steps=40, rate=5e-4):
    optimizer = torch.optim.AdamW(student.to(device).parameters(), lr=rate)
    kind = device.type
    for step, batch in zip(range(steps), task.epoch(0)):
        batch = to_device(task.prepare(batch, step, step / steps), device)  # masks the batch
        optimizer.param_groups[0]["lr"] = rate * rate_factor(step / steps, warmup=0.1)
        # bfloat16 (chapter 08) is faster where the hardware has it
        with torch.autocast(kind, torch.bfloat16, enabled=computes_bf16(kind)):
            loss = loss_of(student.train(), batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
    return student.eval()


# %%
def alone(student, batch):
    return student(*[batch[name] for name in INPUTS], labels=batch["labels"]).loss


def with_teacher(student, batch):
    return distillation_loss(student, teacher, batch)


# %% [markdown]
# Guess before you run the next two cells: which makes the larger difference, the layers or the teacher?

# %% tags=["guess"]
measure("copied, alone", train(student_of(teacher), alone))
student = train(student_of(teacher), with_teacher)
measure("copied, taught", student)

# %% tags=["guess"]
from bertedu.model.heads import MaskedLM

for name, loss_of in (("alone", alone), ("taught", with_teacher)):
    torch.manual_seed(0)
    beginner = MaskedLM(student.config)  # random weights
    measure(f"random weights, {name}", train(beginner, loss_of))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Masked accuracy after 40 steps. Copied layers: about 30 percent alone, 32 with the teacher. Random weights: about 4 and 8, near one constant word.](pictures/16_four_students.svg)
#
# **The layers** make the larger difference by far. **The teacher** brings the copied student closer to itself: look at
# the KL. Its accuracy is two points higher in a single run, which could be noise.
#
# </details>
#
# One run of 40 steps is little evidence. Here are recorded runs with three seeds (`benchmarks/students.py`). They are
# three times as long, and without a teacher there are also runs that are nine times as long. Those take about the same time as the taught ones, because
# the teacher has to read every batch, and the student scores all tokens, not only the masked ones. Guess: does the
# teacher help for the same steps? And for the same time?

# %%
from bertedu.files import read_json
from bertedu.visualization.comparison import comparison

recorded = read_json(data_path("comparisons/students.json"))
ends = {}  # the last measurement of each run, one for each seed
for way, lengths in recorded["ways"].items():
    ends |= {f"{way}, {n}": [run[-1] for run in runs] for n, runs in lengths.items()}

# %% tags=["guess"]
for name, runs in ends.items():
    kl, seconds = (sum(run[key] for run in runs) / len(runs) for key in ("kl", "seconds"))
    print(f"{name:37} KL {kl:.2f}, {seconds:2.0f} seconds")
reached = {name: [run["accuracy"] for run in runs] for name, runs in ends.items()}
comparison(
    reached, {"the teacher": recorded["teacher's figures"]["accuracy"]}, "masked accuracy"
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# - For the **same steps** the teacher helps the copied student in all three seeds: accuracy 0.336 against 0.318.
# - For the **same time** the student alone has more than caught up in accuracy, by a small lead in each seed. In KL the
#   taught student stays ahead: that is what its loss asks for.
# - With **random weights** all is far lower.
#
# (One learning rate, not tuned, and a few minutes: DistilBERT was trained on eight GPUs for about 90 hours, section 3,
# where random weights have time to learn.)
#
# </details>
#
# The paper took the parts away one by one at full size (table 4). Without the KL the GLUE average falls by 2.96, without
# the cosine by 1.46, without the MLM loss by 0.31, and with random weights by 3.69. So there, too, the copied layers
# are worth more than any single loss.
#
# And what does the small one keep? By the paper 97 % of BERT-Base's GLUE score, with 66 against 110 million
# parameters. And it *is* faster: 1.6 times on a CPU, one text at a time (table 3), not twice.

# %% [markdown]
# ## The proof
#
# First the same weights in `SharedEncoder`, in the package's `AlbertModel` and in the one of `transformers`. Then our
# distillation loss against the package's objective (`bertedu pretrain --objective distillation --teacher FOLDER`), and
# our student in `transformers`.
#
# The third cell is the **head** that a DistilBERT gets for classifying texts. There is no pooler: `transformers` puts a
# new linear layer, `pre_classifier`, and a **ReLU** between the vector of [CLS] and the classes.

# %%
import tempfile

import transformers

from bertedu.model.attention import padding_bias

transformers.utils.logging.disable_progress_bar()
mine = SharedEncoder(albert.config).eval()
mine.mapping_in.load_state_dict(albert.encoder.mapping_in.state_dict())
mine.layer.load_state_dict(albert.encoder.groups[0][0].state_dict())
with tempfile.TemporaryDirectory() as directory:
    albert.eval().save_pretrained(directory)
    library = transformers.AlbertModel.from_pretrained(directory).eval()
input_ids = torch.randint(5, 8192, (2, 9))  # [B, T]
mask = torch.tensor([[1] * 9, [1] * 5 + [0] * 4])  # [B, T]
with torch.no_grad():
    embedded = albert.embeddings(input_ids)  # [B, T, E]
    result = mine(embedded, padding_bias(mask, embedded.dtype))  # [B, T, D]
    for name, model in (("package", albert), ("transformers", library)):
        off = model(input_ids, attention_mask=mask).last_hidden_state - result
        print(f"ALBERT, {name:12}  largest difference {off[mask == 1].abs().max():.5f}")

# %%
from bertedu.pretraining.objectives.distillation import Distillation, soft_divergence

options = {"objective": "distillation", "teacher": str(folder), "max_length": 64}
objective = Distillation(*texts, tokenizer, PretrainingSettings(**options))
_ = student.cpu(), teacher.cpu()
batch = {name: tensor[:8] for name, tensor in unseen[0].items()}
with torch.no_grad():
    sums, counts = objective.sums(student, batch), objective.counts(batch)
    weights = objective.loss_weights  # kl_loss, mlm_loss, cos_loss
    package = sum(weights[name] * sums[name] / counts[name[:3].strip("_")] for name in weights)
    off = (distillation_loss(student, teacher, batch) - package).abs()
    print(f"distillation loss: {off:.5f} from the package's")
    with tempfile.TemporaryDirectory() as directory:
        student.save_pretrained(directory)
        library = transformers.DistilBertForMaskedLM.from_pretrained(directory).eval()
    inputs = batch["input_ids"], batch["attention_mask"]
    off = (library(*inputs).logits - student(*inputs).prediction_logits)[
        batch["attention_mask"] == 1
    ]
    print(f"the student in transformers: largest difference {off.abs().max():.4f}")

# %%
config = transformers.DistilBertConfig(vocab_size=99, dim=16, n_heads=2, num_labels=3)
classifier = transformers.DistilBertForSequenceClassification(config)
ids = torch.randint(5, 99, (2, 6))  # [B, T]
with torch.no_grad():
    cls = classifier.eval().distilbert(ids).last_hidden_state[:, 0]  # [B, D]
    by_hand = classifier.classifier(classifier.pre_classifier(cls).relu())  # [B, 3]
    off = (by_hand - classifier(ids).logits).abs().max()
print(f"head with a ReLU, by hand: largest difference {off:.6f}")

# %% [markdown]
# ## Broken BERT: the student that ignores its teacher
#
# A colleague distils a student of one layer from `world-tiny`, the BERT of two layers of [chapter
# 06](06_masked_language_model.ipynb). Her loss is 5 · KL + 2 · MLM, and it works. Then she reads that softer targets
# tell more, and raises the temperature. But the higher it is, the *less* the student sounds like its teacher.
#
# `try_loss` trains one student for each temperature, for 40 steps, and prints the KL from the teacher's to the student's
# distribution at T = 1.

# %%
small_teacher, small_tokenizer = open_model(data_path("checkpoints/world-tiny"))
small_teacher.to(device)
lessons, exam = list(world.train), world.heldout["held-out documents"][:40]
random.Random(0).shuffle(lessons)
small_texts = [tokenize_documents(part, small_tokenizer) for part in (lessons[:300], exam)]
small_task = MaskedWords(*small_texts, small_tokenizer, settings)


# %%
def logits_and_labels(student, batch):  # of all real tokens: [N, V], [N, V], [N]
    real = batch["attention_mask"].bool()
    inputs = [batch[name] for name in INPUTS]
    with torch.no_grad():
        taught = small_teacher(*inputs, masked_positions=real).prediction_logits
    said = student(*inputs, masked_positions=real).prediction_logits
    return said.float(), taught.float(), batch["labels"][real]


# %%
def try_loss(loss, whose, temperatures):
    ends = {}
    for T in temperatures:
        student = student_of(small_teacher, layers=[1])
        train(student, lambda s, b: loss(*logits_and_labels(s, b), T), small_task, rate=1e-3)
        batch = to_device(small_task.validation()[0], device)
        said, taught, _ = logits_and_labels(student, batch)
        both = (logits.log_softmax(dim=-1) for logits in (said, taught))
        ends[T] = kl_div(*both, log_target=True, reduction="batchmean").item()
        kl = about(f"KL of a student in the lab: {whose}, T = {T}", ends[T], within=0.25)
        print(f"T = {T}: KL to the teacher {kl:.2f}")
    return ends


# %%
def her_loss(student, teacher, labels, T):  # logits [N, V], [N, V]; labels [N]
    s, t = (student / T).log_softmax(dim=-1), (teacher / T).log_softmax(dim=-1)
    soft = kl_div(s, t, log_target=True, reduction="batchmean")
    return 5 * soft + 2 * cross_entropy(student, labels)


hers = try_loss(her_loss, "hers", (1, 2, 4, 8))


# %% [markdown]
# A last student is trained without a teacher. Guess: how far from the teacher will that one end up?


# %% tags=["guess"]
def no_soft_loss(student, teacher, labels, T):
    return cross_entropy(student, labels)


no_teacher = try_loss(no_soft_loss, "without a teacher", (1,))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# About as far as hers at T = 8, which has hardly listened to its teacher. (Each of these is one run.)
#
# </details>
#
# ### Exercise 16.5 · Repair the loss
# ●●○○ · 8 minutes
#
# First say in one sentence why the student stops listening. Then write `repaired_loss(student, teacher, labels, T)`, with
# the same arguments: logits of the N real tokens `[N, V]` from the student and from the teacher, labels `[N]` (−100 where
# nothing was masked), and the temperature. Keep her KL, and the weights 5 and 2. Stuck? `hint("16.5")`


# %% tags=["exercise"]
def repaired_loss(student, teacher, labels, T):
    ### BEGIN SOLUTION
    s, t = (student / T).log_softmax(dim=-1), (teacher / T).log_softmax(dim=-1)
    soft = kl_div(s, t, log_target=True, reduction="batchmean") * T**2
    return 5 * soft + 2 * cross_entropy(student, labels)
    ### END SOLUTION


check("16.5", repaired_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The gradient of the soft loss shrinks as 1/T², the gradient of the hard loss doesn't. By this rule the teacher's
# part is about 64 times weaker at T = 8 than at T = 1, so the weights 5 and 2 no longer mean what they say. With T²
# on the soft loss *only* both roughly keep their share. (The learning rate can't repair it: it changes both parts
# alike.)
#
# A close relative of this bug: the temperature on one side only. If only the student is divided by T, its softened
# distribution is fitted to the teacher's sharp one, so its own logits become about T times too large. The likeliest words
# stay the same, so the accuracy looks fine, and at T = 1 the student is far too sure.
#
# </details>


# %%
def with_the_factor(student, teacher, labels, T):
    soft = soft_divergence(student, teacher, T)  # the package's, a sum over all tokens
    return 5 * soft / len(labels) * T**2 + 2 * cross_entropy(student, labels)


repaired = try_loss(with_the_factor, "repaired", (2, 4, 8))

# %% [markdown]
# ![KL to the teacher by temperature. Hers rises from about 1.1 to 2.1, as far as without a teacher. Times T² it stays about 1.1 up to T = 4, and is 1.5 at T = 8.](pictures/16_listening.svg)
#
# Now the student listens at T = 2 and T = 4 about as well as at T = 1. (At T = 8 most of the probability goes to the
# many words that don't matter.)
#
# Nothing fails, so the bug is easy to miss. It was reported for Intel's *distiller* in 2019 ([issue
# 122](https://github.com/IntelLabs/distiller/issues/122)), and for the example of Keras in 2022 ([issue
# 869](https://github.com/keras-team/keras-io/issues/869)). At T = 1 a missing T² does no harm: test a distillation loss
# at a second temperature, and look at its gradient.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Mapping from E to D | Google's ALBERT code leaves it out where E = D; `transformers` and this course always have it. In a `transformers` checkpoint it is `embedding_hidden_mapping_in` |
# | GELU | Google's ALBERT code has the tanh form. In `transformers` and in this course it is called `gelu_new`, and is ALBERT's default. DistilBERT's is the exact `gelu` |
# | Dropout | ALBERT's authors trained version 2 of the released models without dropout (section 4.8 has the experiment), and so do our defaults |
# | ALBERT's masking | n-grams of up to three words are masked together (section 4.1). `bertedu pretrain --architecture albert` masks single tokens |
#
# <details><summary>For DistilBERT</summary>
#
# | | |
# |---|---|
# | KL or cross-entropy | Hinton et al. and the DistilBERT paper write the cross-entropy with the soft targets, the authors' code (`distiller.py`) the KL, times T². The gradients are equal |
# | Which tokens | In `distiller.py` the KL and the cosine are means over all real tokens; an option restricts the KL to masked tokens. This course: all real tokens |
# | Weights 5, 2, 1 | They are in the training command of the authors' README, not in the paper. So are frozen position embeddings, and a masking that chooses rare words more often. This course trains all weights and masks evenly |
# | Copied layers | Paper: "one layer out of two". `extract_distilbert.py`: 0, 2, 4, 7, 9, 11. The vector of segment 0 is lost there; `student_of` keeps it |
# | Names | `transformers` calls DistilBERT's sizes `dim`, `n_layers`, `n_heads`, `hidden_dim`, and its projections `q_lin`, `k_lin`, `v_lin`, `out_lin` |
#
# </details>
#
# ## Summary
#
# - ALBERT stores V·E + E·D numbers for its words, and one layer instead of L. Its weights are small on disk and in
#   memory, but its layers cost as many multiplications for a token as before.
# - A shared weight gets the sum of the gradients of all its uses. In the paper, sharing the feed-forward part costs
#   accuracy, and sharing attention costs little or none.
# - Word overlap recognizes many next sentences, and can't tell the order of two segments at all.
# - Soft targets are the teacher's probabilities at a temperature. The gradient of the soft loss shrinks as 1/T², so it is
#   multiplied by T² where it meets other losses.
# - DistilBERT: half of the layers, copied evenly from first to last, and 5 · KL + 2 · MLM + 1 · cosine. It is
#   smaller *and* faster. In our runs the copied layers made the larger difference, and the teacher a smaller one.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(16)

# %% [markdown]
# ## Interview questions
#
# <!-- comparisons-05 -->
# **1. ALBERT has 12 million parameters where BERT-Base has 110. Is it nine times faster? What does it lose, and when
# would you choose it?**
#
# <details><summary>Answer in half a minute</summary>
#
# No: it computes the same number of layers of the same width, so it takes about the same time. All twelve layers
# share one set of weights, and the embeddings are factorized to size 128. Memory for weights falls nine times. It
# costs about two points in its own ablation, mostly from sharing the feed-forward network.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# ALBERT saves parameters in two ways. The embeddings: instead of V·D it has V·E + E·D with E = 128. For 30,000 words
# and D = 768 that is 3.9 million instead of 23. And all layers share one set of weights: 7.1 million once instead of
# twelve times. With the pooler that gives about 12 million.
#
# But the computation is the same: every token still passes twelve layers of width 768. A shared matrix is multiplied
# twelve times. So the time for a step or a request is about that of BERT-Base, and so are the activations in
# training. What falls is the memory of the weights, the gradients and the optimizer, the size of the download, and
# the traffic between machines in distributed training. So take ALBERT where one of these is the limit.
#
# What is the price? In the paper's tables, with E = 768, an unshared model has an average of 82.3, a shared one 79.8;
# with E = 128 it is 81.7 and 80.1. So sharing costs about 2 points, and most of it comes from the feed-forward
# network; sharing attention alone costs little. The small embeddings cost half a point without sharing and nothing
# with it. The larger ALBERTs win their points back by width: xxlarge has a hidden size of 4,096 and is slower than
# BERT-Large.
#
# ALBERT also replaced next sentence prediction by sentence order. If somebody wants speed, I give them a distilled
# model: fewer layers.
#
# </details>
#
# <!-- deployment-04 -->
# **2. You distil a fine-tuned BERT into a model of half the depth. Write the loss. Why the temperature, and why times
# T²?**
#
# <details><summary>Answer in half a minute</summary>
#
# The loss is a weighted sum: T² times the KL divergence between the teacher's and the student's softmax at
# temperature T, plus the cross-entropy with the labels. The temperature shows how the teacher ranks the wrong
# classes. The gradient of the soft part shrinks like 1/T², so T² keeps the balance between the parts when you change
# T.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The student sees two targets. The hard one is the label, with cross-entropy at temperature 1. A label names one
# class; the teacher also tells how likely all others are, and in pre-training it does so at every token, masked or
# not. The soft target is the teacher's distribution: both logits are divided by T, and I take the KL divergence from
# the teacher's softmax to the student's.
#
# Why a temperature? A trained teacher says 0.999 for one class, so at T = 1 the soft target is nearly the label. At T
# = 2 to 4 the ratios among the other classes become visible, and they say which mistakes are almost right.
#
# Now the factor. The gradient of the soft loss by a student's logit is (q − p) / T. For a large T, the difference q −
# p itself is about (z − v) / (N·T) for N classes and centred logits, so the gradient is about (z − v) / (N·T²).
# Without the factor, T = 4 would make the soft part sixteen times weaker, and tuning T would secretly tune the
# weights. Hinton and others give this argument. In the limit it is just matching logits. At inference T is 1 again.
#
# In practice I start the student from every second layer of the teacher, which matters more than any one loss: in
# DistilBERT's ablation a random initialization cost 3.7 points, dropping the soft loss 3.0, the cosine loss 1.5,
# masked language modelling 0.3. The cheapest gain for a task are unlabelled texts of your own: the teacher labels a
# million of them at night. With half the layers DistilBERT is 1.6 times as fast on a CPU, with 40 % fewer parameters
# and 97 % of the score. Baselines: the small model fine-tuned without a teacher, and on the teacher's hard labels.
#
# </details>
#
# <!-- family-05 -->
# **3. Your distilled model is two points better than the same small model trained alone. Is that the teacher?**
#
# <details><summary>Answer in half a minute</summary>
#
# Not necessarily. Was the student started from the teacher's layers and the baseline at random? Then train the
# missing combinations: copied without a teacher, random with one. Compare at equal time, since a step with a teacher
# also runs the teacher. Use several seeds: two points can be noise. And give the baseline the unlabelled texts.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A difference between two models is caused by everything in which they differ, so I list the differences. One, the
# start. A student usually gets half of the teacher's layers, the baseline random weights or a general checkpoint. In
# DistilBERT's own ablation random initialization costs 3.7 points, more than the soft loss with 3.0. So a two-by-two
# table: copied or random, with and without a teacher. Four trainings. Only the difference within a row is the
# teacher.
#
# Two, data. Distillation needs no labels, so the student often read a million unlabelled texts and the baseline ten
# thousand labelled ones. The fair baselines: the small model on the teacher's hard labels for the same texts, that is
# pseudo-labelling, and with continued pre-training on these texts. Hard labels alone may give much of the gain.
# Three, computation. A step with the teacher also runs a model twice as deep: 1.7 times the time for the layers
# alone, and 2.7 times in our runs, where the student also scores all tokens. Compare at equal time as well as at
# equal steps.
#
# Four, tuning: temperature, weights, learning rate were searched for the student; how many tries did the baseline
# have? Five, noise: two points on a test set of 1,000 have a standard error of over one point, and seeds add theirs.
# Five seeds each, and a paired test on the same examples. Six, leakage: was the teacher fine-tuned on examples that
# are in the student's test set? Then soft labels carry them over.
#
# In our chapter's 40 steps the copied layers alone reach a masked accuracy of about 0.30, random weights 0.04, and
# the teacher adds two points. In longer runs, for the same time (360 steps alone, 120 with the teacher), the copied
# student alone is even slightly ahead, 0.343 to 0.336. If the teacher is worth half a point, that can still pay: it
# costs nothing at inference.
#
# </details>
#
# ## Next
#
# Both models of this chapter still learn from 15 % of the tokens: the masked ones (and a student from what its teacher
# says). The next one gets a training signal from *every* token, by another trick: [17 · ELECTRA](17_electra.ipynb).
