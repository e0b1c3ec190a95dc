# %% [markdown]
# # 22 · From two cores to many GPUs
#
# The course trains a small BERT on two cores. BERT-Large took 64 TPU chips for four days (Devlin et al. 2019,
# appendix A.2). You will learn what limits a training run, how to find out which limit it is, and what each remedy saves.
#
# ## What you will be able to do
#
# - find out with two measured speeds whether arithmetic or memory traffic limits an operation (the roofline)
# - train in 16 bits: scale the loss for fp16, say why bf16 needs no scaling, and why the weights stay in float32
# - count what activation checkpointing saves and costs, and repair one that draws other random numbers
# - train with two processes, and count what all-reduce sends and what sharding (ZeRO, FSDP) leaves on each of them
# - say what your own GPU can train, how fast, and what to do when its memory is full
#
# **Time:** two sittings of about 50 and 70 minutes, and 10 more for what is optional ·
# **You need:** [08 · Pre-training](08_pre_training.ipynb) ·
# **Next:** [23 · Into production](23_into_production.ipynb)
#
# Letters: B sequences in a batch, T tokens, D hidden size,
# H heads, L layers, N workers (processes, each with its own processor or GPU). An *operation* is a floating-point
# multiplication or addition. (In other texts: FLOP, and FLOP/s for operations a second.)
#
# ## Recall
#
# 1. How many operations does training take for each weight and token?
#
# <details><summary>Answer</summary>
#
# About 6: a multiplication and an addition in the forward pass, and twice as many in the backward pass, which computes
# two gradients ([chapter 08](08_pre_training.ipynb)). The products of attention come on top.
#
# </details>
#
# 2. How many bytes of memory does AdamW need for each weight in float32, before any batch is computed?
#
# <details><summary>Answer</summary>
#
# 16: the weight, its gradient and two running means (of the gradient and of its square), 4 bytes each
# ([chapter 05](05_the_whole_bert.ipynb)).
#
# </details>
#
# 3. Two parts of a batch have 10 and 30 masked tokens. Why must their mean losses not be averaged?
#
# <details><summary>Answer</summary>
#
# Each token of the small part would count three times as much as one of the large part. Add up the losses of all 40
# tokens, and divide by 40. Two processes that compute a part each have the same problem.
#
# </details>
#
# ## Where this part sits
#
# The model and its loss stay the same. This chapter is about the machine that trains it.
#
# ![Below forward and backward of a training step three limits: arithmetic, memory traffic, size of the memory. Below the sum of gradients: communication.](pictures/22_training_step.svg)
#
# ## The problem: a step that is slower than its arithmetic
#
# A processor is sold by its arithmetic: so many operations a second. Chapter 08 counted the operations of a step. So
# we should be able to calculate how long it takes.
#
# We measure how fast this machine multiplies large matrices in float32. From this speed we calculate a time, and then
# measure a real step (forward and backward pass) of the preset `tiny`, on a GPU if there is one.

# %%
import os

import torch

from bertedu import BertConfig, BertForPreTraining
from bertedu.course import about, check, hint, quiz
from bertedu.doctor import matrix_rate
from bertedu.pretraining.speed import clock
from bertedu.training.costs import training_flops
from bertedu.training.devices import choose_device

device = choose_device("auto")  # cuda or mps where torch finds one, else cpu

# %%
config = BertConfig.preset("tiny", vocab_size=8192)
torch.manual_seed(0)
model, ids = BertForPreTraining(config).to(device), torch.randint(8192, (16, 128))  # [B, T]
labels = ids.masked_fill(torch.rand(16, 128) > 0.15, -100).to(device)
ids, follows = ids.to(device), torch.zeros(16, dtype=torch.long, device=device)


def step():
    model(ids, labels=labels, next_sentence_label=follows).loss.backward()


def seconds_of(work):  # the fastest of five runs
    found = []
    for _ in range(5):
        start = clock(device)  # on a GPU it waits until the GPU is done
        work()
        found.append(clock(device) - start)
    return min(found)


# %% tags=["nbval-ignore-output"]
rate = max(matrix_rate(device, "fp32") for _ in range(3))
expected = training_flops(config, 128) * ids.numel() / rate
measured = seconds_of(step)
print(f"matrix products: {rate / 1e9:.0f} billion operations a second")
print(f"a step of {ids.numel()} tokens: expected {expected:.3f} s, measured {measured:.3f} s")
assert measured > expected / 3  # not exact: other programs may have slowed the first down

# %% [markdown]
# The real step takes longer. The expected time divided by the measured one is the share of the machine's speed that
# the step reaches. With the maker's peak speed, this share is called **MFU** (model FLOPs utilization).
#
# We counted every matrix product of the step, but not LayerNorm, GELU, softmax, dropout and additions: for BERT-Base
# they are less than 1 % of the operations. How much of the time are they? PyTorch's **profiler** measures the time of
# each operation. We print the share of all matrix products (`mm`, `addmm`, `bmm`), and the slowest of the others. Guess
# that share first.

# %% tags=["guess", "nbval-ignore-output"]
from torch.profiler import profile

os.environ["KINETO_LOG_LEVEL"] = "99"  # no messages of the profiler's own
kind = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
with profile() as profiled:
    step()
events = [event for event in profiled.key_averages() if event.key.startswith("aten::")]
spent = {event.key.removeprefix("aten::"): getattr(event, kind) for event in events}
total = sum(spent.values())
products = sum(spent.pop(name, 0) for name in ("mm", "addmm", "bmm"))
print(f"matrix products {products / total:.2f} of the time", end="; ")
slowest = sorted(spent, key=spent.get, reverse=True)[:4]
print(", ".join(f"{name} {spent[name] / total:.2f}" for name in slowest))
assert products < 0.95 * total

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Of a layer of BERT on a V100, matrix products are 0.998 of the operations and 0.61 of the time; the rest is 0.002 of the operations and 0.39 of the time.](pictures/22_operations_and_time.svg)
#
# The others are 1 to 2 % of the operations of `tiny`, and take a good part of the time. (`bernoulli_` draws the random
# numbers of dropout.) A larger model doesn't escape that (Ivanov et al. 2021, "Data Movement Is All You Need", table 1).
#
# </details>
#
# What is slow about the rest? It reads and writes many numbers, and does little with each of them. **A processor that
# waits for memory is not computing.**
#
# ## The roofline
#
# The **arithmetic intensity** of an operation is its number of arithmetic operations for each byte that it reads from
# memory or writes to it (Williams, Waterman & Patterson 2009, "Roofline"). Compute it for two operations with a
# pencil, with 4 bytes for each number:
#
# 1. An addition `x + y` of two tensors.
# 2. A product of two 1024 × 1024 matrices.
#
# ![An addition reads two numbers, computes once and writes one: 1 operation for 12 bytes. The product of two matrices: 171 operations for each byte.](pictures/22_intensity_by_hand.svg)
#
# A machine has two speeds: operations a second, and bytes a second (its **memory bandwidth**). The first divided by
# the second is its **ridge point**, in operations for each byte. An operation with a lower intensity is
# **memory-bound**: a processor with more arithmetic would not help. An operation with a higher intensity is
# **compute-bound**.
#
# ### Exercise 22.1 · Arithmetic intensity
# ●○○○ · 6 minutes
#
# Write `intensity(rows, inner, columns, size)` for the product of a `[rows, inner]` and an `[inner, columns]` matrix,
# whose numbers take `size` bytes each. Each matrix is read once from memory, and the result is written once. Return
# operations per byte; a multiplication and its addition are two operations. (`check` examines your answer, and
# `hint("22.1")` gives a hint.)


# %% tags=["exercise"]
def intensity(rows, inner, columns, size):
    ### BEGIN SOLUTION
    operations = 2 * rows * inner * columns
    numbers = rows * inner + inner * columns + rows * columns
    return operations / (size * numbers)
    ### END SOLUTION


check("22.1", intensity)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Each of the rows · columns results takes `inner` multiplications and as many additions. Three matrices go through
# memory: two are read, and one is written.
#
# </details>

# %% [markdown]
# ### BERT-Base on the roof
#
# We compute the intensity of BERT-Base's operations in 16-bit numbers, 2 bytes each, and compare it with the ridge
# points of two GPUs, by the maker's figures for dense 16-bit products: A100 (80 GB, SXM) 312 · 10¹² operations and
# 2.04 · 10¹² bytes a second, H100 (SXM) 989 · 10¹² and 3.35 · 10¹².
#
# Guess before you run it: which of these four are compute-bound? The feed-forward product for a single sequence of 16
# tokens, the same product for 32 sequences of 512 tokens, the attention scores of one head with 512 tokens, and GELU.

# %% tags=["guess"]
from bertedu.chapters.ch22_many_gpus.exercises.exercise_1 import product_intensity

D, inner, d = 768, 3072, 64
operations = {
    "feed-forward, 16 tokens": product_intensity(16, D, inner, 2),
    "feed-forward, 32 × 512 tokens": product_intensity(32 * 512, D, inner, 2),
    "scores of a head, 512 tokens": product_intensity(512, d, 512, 2),
    "GELU (about 10 operations)": 10 / 4,
    "addition": 1 / 6,
}
ridges = {"A100": 312e12 / 2.04e12, "H100": 989e12 / 3.35e12}
print("ridge points:", ", ".join(f"{chip} {ridge:.0f}" for chip, ridge in ridges.items()))
for name, value in operations.items():
    bound = [chip for chip, ridge in ridges.items() if value > ridge]
    print(f"{name:30} {value:6.1f} operations a byte, compute-bound on", end=" ")
    print(" and ".join(bound) or "neither")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The roofline of an H100, both axes logarithmic: a slope up to 295 operations a byte, then flat at 989 trillion a second. Only the feed-forward product of 32 times 512 tokens stands on the flat part.](pictures/22_roof.svg)
#
# This is the **roofline** itself: on the slope the memory bandwidth limits an operation, and on the flat part the
# arithmetic. With 16 tokens the feed-forward product reads the whole weight matrix and uses each weight only 16 times.
# The scores of a head sum over only 64 numbers, and write 512 × 512 results. And an elementwise operation is always far
# below the ridge point, however large the batch is.
#
# </details>
#
# ### Your machine's roofline (optional)
#
# Now your own machine, in float32. An addition of two long vectors measures the memory bandwidth, which gives the ridge
# point. Then we multiply 1, 8, 64 and 512 rows with one large weight matrix: 134 MB, more than most caches hold. Guess:
# with how many rows does arithmetic limit the speed?

# %% tags=["nbval-ignore-output"]
x, y, out = (torch.randn(30_000_000, device=device) for _ in range(3))
bandwidth = 12 * x.numel() / seconds_of(lambda: torch.add(x, y, out=out))
rate = max(rate, matrix_rate(device, "fp32"))
print(f"{bandwidth / 1e9:.0f} GB a second, ridge point {rate / bandwidth:.1f}")

# %% tags=["guess", "nbval-ignore-output"]
weights, speeds = torch.randn(4096, 8192, device=device), []
for count in (1, 8, 64, 512):
    rows = torch.randn(count, 4096, device=device)
    speeds.append(2 * count * weights.numel() / seconds_of(lambda: rows @ weights) / 1e9)
    value = product_intensity(count, 4096, 8192, 4)
    roof = min(rate, value * bandwidth) / 1e9
    print(f"{count:3} rows, intensity {value:5.1f}: {speeds[-1]:5.1f} · 10⁹, roof {roof:.1f}")
assert speeds[0] < speeds[-1]

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One row uses each weight once, so reading the weights takes all the time. Hundreds of rows share the reading. (A
# speed above the roof means that other programs slowed the measurement of the roof down, or that a cache helped.)
# This is why a GPU should get large batches, and why a language model that writes one token after the other is
# memory-bound.
#
# </details>
#
# ### What to do on the slope
#
# Three remedies send less through memory, and change the result by rounding only, and by the random numbers that
# dropout draws.
#
# - **Fusion.** `torch.compile` makes one program (one *kernel*) for several operations, such as bias, GELU and
#   dropout, which reads and writes memory once for all. `bertedu pretrain --compile` does that for each layer. The
#   first steps are slow: it makes the kernels.
# - **Fused attention** (FlashAttention, Dao et al. 2022). The scores never go to memory: they are computed in blocks
#   that fit into the processor's own fast memory, and computed again in the backward pass. The package calls
#   PyTorch's `scaled_dot_product_attention`, which chooses such a kernel where it can.
# - **No padding.** Put sequences of similar length into a batch ([chapter 08](08_pre_training.ipynb)), or pack them
#   one after the other ([chapter 19](19_modernbert.ipynb)).
#
# ![Without fusion product, mask, softmax, dropout and product write and read the scores 8 times. A fused kernel never sends them to memory.](pictures/22_fusion.svg)
#
# How much traffic is that? We count both ways for a layer of BERT-Base.

# %%
B, H, T = 32, 12, 512
scores = B * H * T * T * 2  # bytes of [B, H, T, T] in 16 bits
vectors = B * H * T * d * 2  # bytes of queries, keys, values or results
attention_flops = 2 * 2 * B * H * T * T * d
print(f"scores {scores / 1e6:.0f} MB, queries {vectors / 1e6:.0f} MB")
for name, traffic in (("not fused", 8 * scores + 4 * vectors), ("fused", 4 * vectors)):
    print(f"{name:9} {traffic / 1e9:.2f} GB through memory", end=", ")
    print(f"{attention_flops / traffic:3.0f} operations a byte")

# %% [markdown]
# Fusion raises the intensity from far below the A100's ridge point of 153 to above it.
#
# ## 16 bits: two formats
#
# Half the bytes is half the traffic, and GPUs have faster units for 16-bit products: an A100 does 16 times as many
# operations a second as in plain float32. (In between is **TF32**, float32 products with
# 10 bits of fraction: `torch.set_float32_matmul_precision("high")` switches it on.)
#
# There are two ways to spend 16 bits, **fp16** and **bf16**:
#
# ![Bits for exponent and fraction. float32: 8 and 23. bf16: 8 and 7, the same range. fp16: 5 and 10.](pictures/22_formats.svg)

# %%
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    of = torch.finfo(dtype)
    smallest = of.smallest_normal * of.eps
    print(f"{str(dtype):15} largest {of.max:.0e}, smallest above 0: {smallest:.0e}", end=", ")
    print(f"next number after 1: 1 + {of.eps:.0e}")
tiny, large = torch.tensor([2e-8, 7e4]).half().tolist()
print(f"in fp16: 2e-8 becomes {tiny} and 70000 becomes {large}")

# %% [markdown]
# Look at the last column. What does it mean for a weight of 1, if the optimizer subtracts 0.0001 in each of 1,000
# steps? Guess.

# %% tags=["guess"]
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    weight = torch.ones((), dtype=dtype)
    for _ in range(1000):
        weight -= 0.0001
    print(f"{str(dtype):15} 1 - 1000 · 0.0001 = {weight.item():.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two rulers of the numbers just below 1. In fp16 the next one is 0.9995, in bf16 0.9961. One minus 0.0001 lies nearest to 1 in both, so it is rounded to 1.](pictures/22_small_update.svg)
#
# In 16 bits the weight never moves: each update is less than half of the distance to the next number, so it is
# rounded away.
#
# </details>
#
# That is why we train in **mixed precision** (Micikevicius et al. 2018, section 3.1): the weights, the
# gradients that the optimizer gets and its running means stay in float32. `torch.autocast` converts copies of weights
# and activations to 16 bits for the matrix products, and leaves softmax, LayerNorm and the loss in float32. So the 16
# bytes for each weight stay, and most activations take half as many.
#
# ### Loss scaling
#
# Now the other end of the range. The smallest positive number of fp16 is 6 · 10⁻⁸, and anything below half of it
# becomes zero. Below 6 · 10⁻⁵ its numbers have fewer and fewer digits. (They are called **subnormal**.) Are gradients
# that small? We take a small trained checkpoint of the course, and compute the gradients of all weights in float32.

# %%
from bertedu.corpora import load_corpus
from bertedu.course import data_path
from bertedu.inference import open_filler

trained, tokenizer = open_filler(data_path("checkpoints/world-tiny"))
documents = load_corpus("world").validation

# %%
sentences = [line for document in documents for line in document.sentences][:512]
encoding = tokenizer(sentences, max_length=24)
mask = encoding.attention_mask
torch.manual_seed(0)
hidden = (torch.rand(mask.shape) < 0.15) & (mask == 1)
seen = encoding.input_ids.masked_fill(hidden, tokenizer.mask_token_id)
targets = encoding.input_ids.masked_fill(~hidden, -100)


# %%
def gradient(rows):  # of the mean loss over some of the sentences, all weights in one vector
    trained.zero_grad()
    trained(seen[rows], attention_mask=mask[rows], labels=targets[rows]).loss.backward()
    found = [weight.grad for weight in trained.parameters() if weight.grad is not None]
    return torch.cat([part.flatten() for part in found])


small = gradient(torch.arange(512))
small = small[small != 0]  # without the embeddings of words that do not occur

# %% [markdown]
# Which share of them would be zero, subnormal or infinite in fp16, if all are multiplied by a number first? Guess: what
# share is subnormal as they are, nearer to 1 %, 10 % or a third?


# %%
def shares(scale):  # zero, subnormal, infinite in fp16
    half = (small * scale).half()
    subnormal = (half != 0) & (half.abs() < torch.finfo(torch.half).smallest_normal)
    return [part.double().mean().item() for part in (half == 0, subnormal, half.isinf())]


# %% tags=["guess"]
KINDS = ("zero", "subnormal", "infinite")
print(f"{'':12}", *(f"{kind:>9}" for kind in KINDS))
for power in (0, 8, 16, 24):
    found = zip(KINDS, shares(2.0**power))
    cells = [about(f"22 {kind} at 2^{power}", share, within=0.02) for kind, share in found]
    print(f"loss · 2^{power:<2}  ", *(f"{cell:9.2f}" for cell in cells))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A histogram of the gradients by power of two. A part lies below 2 to the minus 25 and would become 0, a large part between minus 25 and minus 14 is subnormal.](pictures/22_gradient_range.svg)
#
# Without scaling (2⁰), two fifths of the gradients would become zero or lose digits. With S = 2¹⁶ nothing is lost here.
# With too large an S the largest gradients become infinite.
#
# </details>
#
# **Loss scaling** (Micikevicius
# et al. 2018, section 3.2) multiplies the loss by a large number S before the backward pass. By the chain rule all
# gradients are then S times as large. In float32 they are divided by S again, before the optimizer uses them.
#
# The best S changes during training. **Dynamic loss scaling** finds it by trying: start high. If any gradient is
# infinite or nan, skip the optimizer's step and halve S. After 2,000 steps in a row without that, double S.
#
# bf16 has the range of float32, so no scaling is needed. That is why it is the default wherever the hardware computes
# with it (A100 and later, TPUs, recent server processors). A T4 or V100 has fast products in fp16 only: `bertedu
# pretrain --precision fp16` scales the loss as described here.
#
# ### Exercise 22.2 · Dynamic loss scaling
# ●●○○ · 8 minutes
#
# Write `next_scale(scale, clean_steps, finite, interval)`. `scale` is S, `clean_steps` counts the steps since the last
# change of S, `finite` says whether all gradients of this step are finite, and `interval` is the number of clean
# (finite) steps in a row after which S is doubled. Return three things: whether the optimizer takes this step, the next
# S, and the next count.


# %% tags=["exercise"]
def next_scale(scale, clean_steps, finite, interval):
    ### BEGIN SOLUTION
    if not finite:
        return False, scale / 2, 0
    if clean_steps + 1 == interval:
        return True, scale * 2, 0
    return True, scale, clean_steps + 1
    ### END SOLUTION


check("22.2", next_scale)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# This step counts as well, so S is doubled when `clean_steps + 1` reaches the interval. After each change, up or down,
# the count starts at zero.
#
# </details>

# %% [markdown]
# ## The memory: activation checkpointing
#
# Chapters [05](05_the_whole_bert.ipynb) and [08](08_pre_training.ipynb) counted the two parts of the memory: 16 bytes
# for each weight, and the **activations** that the forward pass keeps for the backward pass. For large batches the
# second part is the larger one.
#
# **Activation checkpointing** (Chen et al. 2016, arXiv 1604.06174) keeps only the *input* of each layer. When the
# backward pass reaches the layer, it computes the layer's forward pass again, uses what it needs, and drops it.
#
# Calculate it with a pencil. With 16-bit numbers and fused attention a layer keeps about 34 bytes for each number of
# its input (chapter 08), and 2 of them are the input itself.
#
# ![Twelve layers. Without checkpointing each keeps 34 bytes for each number of its input, 408 together. With it eleven keep 2 bytes and the one that runs again has 34, together 56.](pictures/22_kept_for_backward.svg)
#
# That is 7 times less. And the price? The forward pass is a third of the work, and it is done twice: 4/3 of the
# arithmetic.
#
# Here it is as an `autograd.Function`. Read `forward` and `backward`: what is kept, and what is computed when?


# %%
class Recompute(torch.autograd.Function):
    """Runs a layer, keeps its input only, and runs it again in the backward pass."""

    @staticmethod
    def forward(ctx, x, layer):  # x: [B, T, D]
        ctx.layer = layer
        ctx.save_for_backward(x)
        with torch.no_grad():  # nothing inside the layer is kept
            return layer(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad():
            again = ctx.layer(x)
        again.backward(gradient)  # also adds to the gradients of the layer's weights
        return x.grad, None


# %% [markdown]
# We take six small feed-forward layers without dropout, count the bytes that the forward pass keeps, with and without
# recomputation, and compare all gradients.

# %%
from torch import nn

from bertedu.training.activation_memory import kept_bytes


def layers_of(dropout):
    torch.manual_seed(0)
    ends = [(nn.Linear(64, 256), nn.Linear(256, 64)) for _ in range(6)]
    parts = [(nn.LayerNorm(64), up, nn.GELU(), nn.Dropout(dropout), down) for up, down in ends]
    return nn.ModuleList(nn.Sequential(*part) for part in parts)


def run(layers, x, recompute):
    for layer in layers:
        x = x + (recompute(x, layer) if recompute else layer(x))
    return x


# %%
def gradients_of(layers, recompute):
    layers.zero_grad()
    torch.manual_seed(1)
    x = torch.randn(8, 32, 64, requires_grad=True)  # [B, T, D]
    run(layers, x, recompute).square().mean().backward()
    found = [x.grad, *(weight.grad for weight in layers.parameters())]
    return torch.cat([part.flatten() for part in found])


# %%
x = torch.randn(8, 32, 64)
for name, recompute in (("plain", None), ("recomputed", Recompute.apply)):
    layers = layers_of(dropout=0.0)
    kept = kept_bytes(layers, lambda: run(layers, x.clone().requires_grad_(), recompute))
    print(f"{name:10} keeps {kept / 1024:6.0f} KB; gradients differ by", end=" ")
    print(f"{(gradients_of(layers, recompute) - gradients_of(layers, None)).abs().max():.0e}")

# %% [markdown]
# The recomputed layers keep only their inputs, and the gradients are the same to the last bit. Remember these six
# layers, they come back in the lab.
#
# `bertedu pretrain --checkpointing` does this for the encoder's layers. Let's count it for a BERT of 12 layers in
# training mode, in float32.

# %%
from bertedu.training.layers import training_layers

deep = BertForPreTraining(
    BertConfig.preset("tiny", vocab_size=512, num_hidden_layers=12)
).train()
few = torch.randint(512, (8, 128))
kept = {}
for checkpointing in (False, True):
    with training_layers(deep, compiled=False, checkpointing=checkpointing):
        kept[checkpointing] = kept_bytes(deep, lambda: deep(few, labels=few).loss) / 1e6
print(f"12 layers keep {kept[False]:.0f} MB, with checkpointing {kept[True]:.0f} MB", end="; ")
print(f"the layer that runs again needs {(kept[False] - kept[True]) / 12:.0f} MB more")

# %% [markdown]
# While the backward pass runs, it needs the sum of the last two numbers: between 6 and 7 times less, close to what we
# calculated.
#
# Another remedy is simpler: **gradient accumulation**, half the batch twice (chapter 08). It halves the activations.
# The price is smaller matrix products, and a GPU needs large ones.
#
# **Here the first sitting ends.** You know what one processor can do: its roofline, 16 bits, and memory exchanged
# for time. The second sitting applies it to your GPU, and then uses several processes.
#
# ## Your GPU
#
# One GPU is enough for everything in this course, and commands and notebooks find it by themselves. What does this machine
# have? Without a GPU the rest is calculated.

# %% tags=["nbval-ignore-output"]
from bertedu.training.devices import choose_precision

precision = choose_precision("auto", device)
if device == "cuda":
    card = torch.cuda.get_device_properties(0)
    print(f"{card.name}, {card.total_memory / 1e9:.0f} GB of memory, trains in {precision}")
else:
    print(
        f"no NVIDIA GPU that torch can use: this notebook computes on {device} in {precision}"
    )

# %% [markdown]
# ### Does it fit?
#
# The two parts of the memory again: 16 bytes for each weight, and the activations of the batch, here in 16 bits with
# fused attention. Take 32 sequences of 512 tokens. Guess: is 8 GB enough for BERT-Base, and for BERT-Large?

# %%
from bertedu.training.costs import activation_bytes


def gigabytes(preset, weights, checkpointing):  # weights and optimizer, activations
    shape = BertConfig.preset(preset)
    kept = activation_bytes(shape, 32, 512)
    if checkpointing:  # the inputs of all layers but one, and one whole layer
        L = shape.num_hidden_layers
        kept *= ((L - 1) * 2 + 34) / (L * 34)
    return 16 * weights / 1e9, kept / 1e9


# %% tags=["guess"]
needs = {}
for preset, weights in (("base", 110e6), ("large", 336e6)):
    for name, checkpointing in ((preset, False), (f"{preset}, again", True)):
        needs[name] = gigabytes(preset, weights, checkpointing)
        print(f"{name:13} {needs[name][0]:.1f} GB + {needs[name][1]:.1f} GB of activations")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars in gigabytes beside the sizes of cards. Base needs about 7 GB, with checkpointing under 3. Large needs more than 16 GB, with checkpointing about 7. The weights' part is the same in both.](pictures/22_memory_of_a_gpu.svg)
#
# ("Again" means checkpointing: layers compute again.) Base is near the edge, since the scores of the vocabulary, buffers
# and the display take memory, too. If it doesn't fit, take a smaller batch or `--accumulation 2`. Large needs
# checkpointing, or four sequences at a time.
#
# </details>
#
# ### How fast?
#
# A step can't be faster than its arithmetic. We divide the makers' peak (dense 16-bit products) by the operations of a
# token, for BERT-Base, and assume 40 % of the peak.

# %%
CARDS = {"T4": 65e12, "L4": 121e12, "RTX 4090": 165e12, "A100": 312e12, "H100": 989e12}
per_token = training_flops(BertConfig.preset("base"), 128)
for name, peak in CARDS.items():
    speed = 0.4 * peak / per_token
    print(
        f"{name:9} {speed:9,.0f} tokens a second, a billion in {1e9 / speed / 3600:4.1f} hours"
    )

# %% [markdown]
# And yours? Real steps of `bertedu pretrain`, of BERT-Base on a GPU, of `tiny` elsewhere:

# %% tags=["nbval-ignore-output"]
from bertedu.pretraining.speed import training_speed

preset = "base" if device == "cuda" else "tiny"
numbers = precision if precision == "bf16" else "fp32"  # this loop scales no loss
speed = training_speed(device, numbers, preset, seconds=1.0)
print(f"{preset} on {device}, {numbers}: {speed:,.0f} tokens a second")
if device != "cuda":
    print("Without a GPU, BERT-Base is calculated above and not measured here.")

# %% [markdown]
# Expect less than the table: this loop runs kernel by kernel, without `--compile`. And `tiny` gains least. Its kernels
# take microseconds, so the GPU waits for Python to start them. A GPU pays for `base`, and for large batches.
#
# | you type | you get |
# |---|---|
# | `bertedu doctor` | your devices, their memory, and tokens a second of each preset, in some seconds |
# | `make gpu` | in eight minutes: the trainer's speed beside `transformers`, its share of the peak, the slowest kernels, the tests; a table in `runs/gpu/gpu.md` |
# | `bertedu pretrain --preset base --compile --data-workers 4` | fused layers; other processes prepare the batches |
# | `… --accumulation 4` or `--checkpointing` | the remedies for "out of memory" |
# | `nvidia-smi` | memory in use (100 % utilization only means that some kernel ran) |
#
# ## Two processes
#
# The most common way to use several GPUs is **data parallelism**. Each of N workers has the whole model and reads its
# own part of the batch. After the backward pass **all-reduce** adds up their gradients, so that each of them has the
# sum. Then all take the same optimizer step, and their weights stay equal.
#
# ![The batch is halved. Each of two workers has the model and computes the gradient of its half; all-reduce adds the two up, and both take the same step.](pictures/22_two_workers.svg)
#
# Does this really give the gradient of the whole batch? We try it with two processes on this machine. `torchrun`
# starts the program in the next cell twice and gives each process a number, its **rank**. Each computes half of the
# batch, and `all_reduce` adds up the gradients. (`gloo` sends between CPUs, `nccl` between NVIDIA GPUs.)
#
# Look at the line with `count`: both halves divide by the number of labelled tokens in the *whole* batch.

# %%
program = """
import sys, torch, torch.distributed as dist
from bertedu import BertConfig, BertForMaskedLM

torch.manual_seed(0)
model = BertForMaskedLM(BertConfig.preset("tiny", vocab_size=512)).eval()  # the same everywhere
ids = torch.randint(512, (8, 32))
labels = ids.masked_fill(torch.rand(8, 32) > 0.15, -100)
count = (labels != -100).sum()
dist.init_process_group("gloo")
rank, workers = dist.get_rank(), dist.get_world_size()
mine = slice(rank * 8 // workers, (rank + 1) * 8 // workers)
logits = model(ids[mine]).prediction_logits
found, wanted = logits.flatten(0, 1), labels[mine].flatten()
loss = torch.nn.functional.cross_entropy(found, wanted, reduction="sum")
(loss / count).backward()
gradients = torch.cat([weight.grad.flatten() for weight in model.parameters()])
dist.all_reduce(gradients)  # now the sum over all workers, in each of them
own = int((wanted != -100).sum())
print(f"worker {rank}: {own} of {int(count)} labelled tokens\\n", end="", flush=True)
dist.barrier()
torch.save(gradients, f"{sys.argv[1]}/{workers}-{rank}.pt")
dist.destroy_process_group()
"""

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "program.py").write_text(program)


def with_workers(number):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc_per_node={number}", folder / "program.py", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    print("\n".join(sorted(line for line in done.stdout.splitlines() if "worker" in line)))
    return [torch.load(folder / f"{number}-{rank}.pt") for rank in range(number)]


(whole,), (first, second) = with_workers(1), with_workers(2)
print(f"largest gradient {whole.abs().max():.2f}", end="; ")
print(f"between the two workers {(first - second).abs().max():.0e}")
assert (first - whole).abs().max() < 1e-6
print("two workers and one differ by less than 1e-6")

# %% [markdown]
# Added up, the two halves give the gradient of the whole batch.
#
# In practice PyTorch's `DistributedDataParallel` (**DDP**) calls all-reduce during the backward pass. One thing is
# easy to miss: DDP divides the sum by N, it *averages*. If each worker divides its loss by its own number of labelled
# tokens, the result is the mean of two means, the mistake of the third recall question. So divide by the count of the
# whole batch, and multiply by N, as the package does.
#
# `torchrun --nproc_per_node=2 -m bertedu pretrain …` trains in this way, with the loss curve of one process, within
# 10⁻⁴.
#
# ### What all-reduce sends
#
# Suppose one worker collects all gradients, adds them up and sends the sum to everybody. Then this one receives and
# sends N − 1 whole gradients, and the others wait. The **ring all-reduce** (Patarasuk & Yuan 2009) divides this work:
# the N workers form a ring, and each cuts its gradient into N chunks. We count workers, chunks and steps from 0.
#
# 1. **Reduce-scatter**, N − 1 steps: in each step every worker sends one chunk to its right neighbor, and adds the
#    chunk that arrives from the left to its own copy. In step s, worker w sends chunk w − s. After the last step
#    worker w holds the complete sum of chunk w + 1.
# 2. **All-gather**, N − 1 steps: the complete chunks go round the ring in the same way, and what arrives now
#    *replaces* what was there. In step s, worker w sends chunk w + 1 − s.
#
# (All numbers modulo N.) Follow it with a pencil for N = 3, one number a chunk:
#
# ![Three workers with the chunks 1, 2, 3; 10, 20, 30; 100, 200, 300. After two steps of reduce-scatter each worker has one complete sum, after two steps of all-gather all have 111, 222, 333.](pictures/22_ring.svg)
#
# ### Exercise 22.3 · Around the ring
# ●●●○ · 15 minutes
#
# Write `ring_all_reduce(parts, send)`. `parts[w][c]` is chunk c of worker w, a tensor; there are as many chunks as
# workers. `send(sender, receiver, tensor)` sends a tensor and returns what the receiver gets. A worker may learn of
# another worker's chunks only through `send`. Return a nested list like `parts` with the sums, and do not change
# `parts` itself.


# %% tags=["exercise"]
def ring_all_reduce(parts, send):
    ### BEGIN SOLUTION
    workers = len(parts)
    held = [list(chunks) for chunks in parts]
    for step in range(workers - 1):  # reduce-scatter
        for worker in range(workers):
            right, chunk = (worker + 1) % workers, (worker - step) % workers
            held[right][chunk] = held[right][chunk] + send(worker, right, held[worker][chunk])
    for step in range(workers - 1):  # all-gather
        for worker in range(workers):
            right, chunk = (worker + 1) % workers, (worker + 1 - step) % workers
            held[right][chunk] = send(worker, right, held[worker][chunk])
    return held
    ### END SOLUTION


check("22.3", ring_all_reduce)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# In a real ring all workers send at the same time. Here one sends after the other, with the same result: within a step
# a worker never sends the chunk that it has just received. `held[right][chunk] + …` makes a new tensor, so `parts`
# stays as it was.
#
# </details>

# %% [markdown]
# Each worker sends 2 (N − 1) chunks, each 1/N of the gradient: less than twice the gradient, however many workers
# there are. (But the steps grow with N, so for many workers NCCL can also use trees.)
#
# How long does that take? We calculate it for BERT-Base with float32 gradients and 8 workers, for NVLink in a server
# with A100 GPUs (300 · 10⁹ bytes a second in each direction) and 10-gigabit Ethernet between 8 servers. Beside it: the
# arithmetic of a step of 32 sequences of 128 tokens on each GPU, at 40 % of an A100's peak.

# %%
gradient_bytes, N = 4 * 110e6, 8
sent = 2 * (N - 1) / N * gradient_bytes
arithmetic = training_flops(BertConfig.preset("base"), 128) * 32 * 128 / (0.4 * 312e12)
print(f"each worker sends {sent / 1e6:.0f} MB; the arithmetic takes {1000 * arithmetic:.0f} ms")
for name, speed in (("NVLink", 300e9), ("10-gigabit Ethernet", 1.25e9)):
    print(f"{name:20} {1000 * sent / speed:4.0f} ms")

# %% [markdown]
# Over the slow network all-reduce takes more than 30 times as long as the arithmetic. There are three remedies.
#
# - **Overlap.** DDP sends a group of gradients (a *bucket*) as soon as it is complete, while the backward pass
#   computes the next ones. Here this can save at most 12 of 616 ms.
# - **Fewer sums.** Give each worker a larger batch, or accumulate several parts and call all-reduce once for all of
#   them (in PyTorch: `no_sync`).
# - **Fewer bytes.** Send the gradients in 16 bits.
#
# ## Sharding: who keeps what
#
# In data parallelism every worker keeps all 16 bytes for each weight, so the same numbers are kept N times. **ZeRO**
# (Rajbhandari et al. 2020, arXiv 1910.02054) divides them among the workers, in three stages:
#
# ![Bytes for each weight that one of four workers keeps: 16 in stage 0, 10 in stage 1, 7 in stage 2, 4 in stage 3.](pictures/22_sharding.svg)
#
# | stage | each worker keeps only its share of | its bytes for each weight, float32 |
# |---|---|---|
# | 0 | nothing: all of everything | 4 + 4 + 8 |
# | 1 | the optimizer's two means | 4 + 4 + 8/N |
# | 2 | and the gradients | 4 + 4/N + 8/N |
# | 3 | and the weights | 4/N + 4/N + 8/N |
#
# <details><summary>What do the stages send?</summary>
#
# In stages 1 and 2 each worker updates its share of the weights, and then the new weights are gathered. That is the
# same traffic as all-reduce, because all-reduce *is* a reduce-scatter followed by an all-gather. In stage 3 a layer's
# weights are gathered right before the layer computes, forward and backward, and dropped right after it: one and a
# half times the traffic (section 7.2).
#
# </details>
#
# PyTorch calls stage 3 **FSDP**, fully sharded data parallel.
#
# ### Exercise 22.4 · Bytes by stage
# ●●○○ · 6 minutes
#
# Write `training_bytes(weights, workers, stage)`: the bytes that each worker keeps for weights, gradients and AdamW's
# means, in float32, for a model with that many weights.


# %% tags=["exercise"]
def training_bytes(weights, workers, stage):
    ### BEGIN SOLUTION
    means = 8 / (workers if stage >= 1 else 1)
    gradients = 4 / (workers if stage >= 2 else 1)
    values = 4 / (workers if stage >= 3 else 1)
    return weights * (values + gradients + means)
    ### END SOLUTION


check("22.4", training_bytes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Each stage divides one more part by N. The optimizer's means are the largest part and come first.
#
# </details>

# %% [markdown]
# How many gigabytes is that for BERT-Large, and for a model of 7 billion weights, without activations? Guess: which of
# the two fits into 80 GB only with sharding?

# %% tags=["guess"]
from bertedu.chapters.ch22_many_gpus.exercises.exercise_4 import zero_bytes

for name, weights in (("BERT-Large", 336e6), ("7 billion", 7e9)):
    for workers in (8, 64):
        cells = [f"{zero_bytes(weights, workers, stage) / 1e9:6.1f}" for stage in range(4)]
        print(f"{name:10}  {workers:2} workers  GB by stage 0 to 3: {' '.join(cells)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# BERT-Large fits on a single GPU with 8 GB. 7 billion weights need 112 GB; with 8 workers stage 3 leaves 66 of the 80
# GB for activations.
#
# </details>
#
# So sharding is a tool for large language models: know it, and know when you do not need it. (Larger
# still: **tensor parallelism** divides the matrices themselves, **pipeline parallelism** the layers.)
#
# Now two processes with `fully_shard`, PyTorch's FSDP, which `bertedu pretrain --fsdp` uses. The program trains the
# model from above for three steps alone, then again with each worker keeping half of it and reading half of the batch.
# (Here all tokens are labelled, so FSDP's average of the two gradients is right.)

# %%
program = """
import copy, sys, torch, torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from bertedu import BertConfig, BertForMaskedLM

def losses_of(model, ids):  # of three training steps
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-3), []
    for _ in range(3):
        losses.append(model(ids, labels=ids).loss)
        losses[-1].backward()
        optimizer.step()
        optimizer.zero_grad()
    return torch.stack(losses).detach()

torch.manual_seed(0)
model = BertForMaskedLM(BertConfig.preset("tiny", vocab_size=512)).eval()
ids = torch.randint(512, (8, 32))
alone, total = losses_of(copy.deepcopy(model), ids), sum(w.numel() for w in model.parameters())
"""

# %%
program += """
dist.init_process_group("gloo")
rank, workers = dist.get_rank(), dist.get_world_size()
mesh = dist.init_device_mesh("cpu", (workers,))
for part in (*model.bert.encoder.layers, model):
    fully_shard(part, mesh=mesh)
kept = sum(weight.to_local().numel() for weight in model.parameters())
losses = losses_of(model, ids[rank * 8 // workers : (rank + 1) * 8 // workers])
dist.all_reduce(losses)
numbers = " ".join(f"{loss:.4f}" for loss in losses / workers)
said = f"worker {rank} keeps {kept:,} of {total:,} weights; losses {numbers}"
print(f"{said}\\n", end="", flush=True)  # one text: two processes write
torch.save((losses / workers - alone).abs().max(), f"{sys.argv[1]}/{workers}-{rank}.pt")
dist.destroy_process_group()
"""
(folder / "program.py").write_text(program)
difference = max(with_workers(2))
assert difference < 1e-5
print("from the losses of one process they differ by less than 1e-5")

# %% [markdown]
# Each worker keeps half of the weights, and so half of the gradients and of AdamW's means. The losses are those of
# one process.
#
# ## Which limit is it?
#
# You have now met all four limits. A fifth reason for a slow step: the GPU has nothing to do, because the CPU
# prepares data or starts kernels too slowly.
#
# | limit | how to tell | what helps |
# |---|---|---|
# | arithmetic | matrix products take most of the time, at a high share of the peak (40 % and more is good) | 16 bits, no padding, more GPUs |
# | memory traffic | the profiler shows much time in elementwise operations, softmax and norms | `torch.compile`, fused attention, 16 bits |
# | size of the memory | "out of memory" | a smaller batch with accumulation, checkpointing, sharding |
# | communication | with N workers a step of the same batch *for each worker* takes longer than with one | overlap, larger batches, 16-bit gradients, a faster connection |
# | waiting for work | the profiler's timeline of the GPU has gaps between kernels, and a batch twice as large takes hardly longer | larger batches, `torch.compile`, more processes that prepare data |
#
# ## The bill (optional)
#
# What does BERT cost today, and how many GPUs should you take? We divide each step of the published training (a million,
# of 256 sequences) among N H100s. We assume 40 % of the peak, 2.50 dollars for an hour of an
# H100 (2026; prices differ by a factor of three, **change it**), and that a step takes as long as its arithmetic or
# as its all-reduce, whichever is longer. The connections: NVLink with 450 · 10⁹ bytes a second in a server of 8 GPUs,
# and between 8 such servers one network card of 400 gigabits or eight of them. Guess: are 64 GPUs faster than 8?

# %% tags=["guess"]
links = {"1 GPU": (1, 1e30), "8": (8, 450e9), "64, 1 card": (64, 50e9), "64, 8": (64, 400e9)}
for name, millions in (("base", 110), ("large", 336)):
    for link, (N, bytes_a_second) in links.items():
        hours, reduce = 0.0, 2 * (N - 1) / N * 4e6 * millions / bytes_a_second
        for length, steps in ((128, 900_000), (512, 100_000)):
            work = training_flops(BertConfig.preset(name), length) * 256 * length
            hours += steps * max(work / N / (0.4 * 989e12), reduce) / 3600
        print(f"{name:5} {link:10} {hours:5.1f} hours, {hours * N * 2.5:4.0f} dollars")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In 2018 BERT-Base took 16 TPU chips for four days. Today it is 17 hours on one GPU, at these assumptions for 42
# dollars. (Newer recipes need fewer tokens: chapter 08 tells of MosaicBERT, a model of Base's size for about 20
# dollars.)
#
# 64 GPUs with one network card in each server are *slower* than 8: with 4 sequences each, they wait for the
# gradients. With eight cards they are faster, and still more than twice as expensive. Many GPUs need large batches.
#
# </details>
#
# ## Large batches (optional)
#
# More workers mean larger batches, or less work for each. Is a batch twice as large worth twice as much? The gradient
# of a few sequences is a noisy estimate of the gradient over all text. We take two *different* batches of the same size
# and compute the cosine between their gradients: 1 if they agree on the direction, near 0 if both are mostly noise.
# Guess it for 4 and for 256 sequences.

# %% tags=["guess"]
torch.manual_seed(0)
cosines = {}
for size in (4, 16, 64, 256):
    found = 0.0
    for _ in range(5):
        rows = torch.randperm(512)
        one, other = gradient(rows[:size]), gradient(rows[size : 2 * size])
        found += torch.cosine_similarity(one, other, dim=0).item() / 5
    cosines[size] = about(f"22 cosine of {size}", found, within=0.03)
    print(f"batches of {size:3} sequences: cosine {cosines[size]:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars of the cosine between two batches' gradients: near 0 for 4 sequences, above one half for 64, near 1 for 256.](pictures/22_gradient_noise.svg)
#
# Small batches point in quite different directions, so averaging more of them pays. For large batches the direction
# is already known. At a cosine of 1/2 the gradient and its noise have the same length.
#
# </details>
#
# The batch size at a cosine of 1/2 is called the **gradient noise scale**. It is an estimate of the **critical batch
# size**, above which larger batches pay less and less (McCandlish et al. 2018, arXiv 1812.06162). It grows during
# training, as the loss falls.
#
# <details><summary>And the learning rate?</summary>
#
# A larger batch allows larger steps, because its direction is more reliable. How much larger must be tried. For SGD
# the usual rule is a learning rate in proportion to the batch size (Goyal et al. 2017), for Adam and LAMB one in
# proportion to its square root (You et al. 2020), both with warm-up. **LAMB**, an optimizer for such batches, trained
# BERT with up to 65,536 sequences in a batch in 76 minutes on a TPUv3 Pod, instead of in 3 days (arXiv 1904.00962).
#
# </details>
#
# ## The proof
#
# Two parts of this chapter have a reference in PyTorch: `torch.amp.GradScaler` and `torch.utils.checkpoint`. We drive
# `GradScaler` through 12 steps with an interval of 3, three of them with an infinite gradient. Beside it runs the rule
# of exercise 22.2.

# %%
from bertedu.chapters.ch22_many_gpus.exercises.exercise_2 import rule

weight = nn.Parameter(torch.ones(1))
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
optimizer, scale, clean, differences = torch.optim.SGD([weight], lr=0.0), 1024.0, 0, 0
scales = []
for step in range(1, 13):
    bad = step in (2, 7, 8)
    scaler.scale((weight * (float("inf") if bad else 1.0)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    _, scale, clean = rule(scale, clean, not bad, 3)
    scales.append(int(scale))
    differences += scale != scaler.get_scale()
print("S after each step:", scales)
print(f"{differences} of 12 differ from GradScaler")

# %% [markdown]
# ![S after each of 12 steps: halved at steps 2, 7 and 8, whose gradients are infinite, doubled after three clean ones.](pictures/22_scale_over_steps.svg)

# %%
from torch.utils.checkpoint import checkpoint

layers = layers_of(dropout=0.0)
theirs = gradients_of(layers, lambda x, layer: checkpoint(layer, x, use_reentrant=False))
ours = gradients_of(layers, Recompute.apply)
difference = (theirs - ours).abs().max()
print(f"Recompute and torch.utils.checkpoint: largest difference {difference:.0e}")

# %% [markdown]
# ## Broken BERT: the same layer, other dice
#
# Somebody has put `Recompute` into their training. The tests are green: they compare the gradients with and without
# recomputation, as we did, in layers without dropout. Nothing crashes, and the loss falls. But two runs with the same
# seed and the same batches, one with recomputation and one without, go apart after the first step.
#
# Here is the symptom: the same comparison, for layers with dropout. Both forward passes drop the same numbers. Guess
# before you read on: where does the difference come from?

# %% tags=["guess"]
for dropout in (0.0, 0.1):
    layers = layers_of(dropout)
    plain, recomputed = gradients_of(layers, None), gradients_of(layers, Recompute.apply)
    relative = ((recomputed - plain).norm() / plain.norm()).item()
    shown = about(f"22 recomputed, dropout {dropout}", relative, within=0.02)
    print(f"dropout {dropout}: relative difference {shown:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Ten numbers of a layer in the forward pass and computed again. The hatched ones are dropped, and they are others in the second row.](pictures/22_other_dice.svg)
#
# The loss was computed with one set of dropped numbers. In the backward pass the layer runs again and draws *new*
# random numbers. So the gradient belongs to another network than the loss. It isn't completely wrong, so nobody sees
# it in a loss curve. A test with dropout does.
#
# </details>
#
# ### Exercise 22.5 · Repair the recomputation
# ●●●○ · 15 minutes
#
# Write `recompute(x, layer)`: it returns `layer(x)`, keeps only the input for the backward pass, and gives the same
# gradients as `layer(x)`, also with dropout. After the backward pass, the random numbers must go on as if the backward
# pass had drawn none. Everything runs on the CPU: `torch.get_rng_state()` and `torch.set_rng_state(state)` read and set
# the state of the generator. You may write a class like `Recompute`, and call its `apply` in your function. Your answer
# may not use `torch.utils.checkpoint`, which does all of this.


# %% tags=["exercise"]
def recompute(x, layer):
    ### BEGIN SOLUTION
    class Repaired(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.dice = torch.get_rng_state()
            with torch.no_grad():
                return layer(x)

        @staticmethod
        def backward(ctx, gradient):
            x, now = ctx.saved_tensors[0].detach().requires_grad_(), torch.get_rng_state()
            torch.set_rng_state(ctx.dice)
            with torch.enable_grad():
                again = layer(x)
            torch.set_rng_state(now)
            again.backward(gradient)
            return x.grad

    return Repaired.apply(x)
    ### END SOLUTION


check("22.5", recompute)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The state of the random number generator is one more input of the layer, although nobody passes it. So we keep it
# like an input, and set it again before the layer runs a second time. Afterwards we set the state of *now*. Otherwise
# the next batch would draw the same random numbers as this one, and drop the same positions.
# `torch.utils.checkpoint` does both (`preserve_rng_state=True`, its default), on GPUs too.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | paper | Google's code | `transformers` | this course |
# |---|---|---|---|---|
# | precision | not told | float32; TPUs multiply in bf16 | float32; its Trainer has `bf16` and `fp16` | bf16 where the hardware has it; `--precision` |
# | several workers | 16 and 64 TPU chips | TPUEstimator | Accelerate (DDP, FSDP, DeepSpeed) | DDP through Accelerate; PyTorch's FSDP |
# | batches | 256 sequences | as one batch, no accumulation | accumulation | accumulation; the loss is divided by the labelled tokens of the whole batch |
# | checkpointing | not told | none | `gradient_checkpointing_enable()` | `--checkpointing` |
#
# ## Summary
#
# - Four limits stop a run: arithmetic, memory traffic, the size of the memory, communication. The **roofline** tells
#   the first two apart with two measured speeds, and a **profiler** shows where the time goes.
# - **Fusion** (compile, fused attention) and **16 bits** save traffic. The weights stay in float32 (**mixed
#   precision**), because small updates would be rounded away. fp16 also needs **loss scaling**; bf16 does not.
# - **Checkpointing** keeps only each layer's input, and pays with a second forward pass: 4/3 of the arithmetic.
# - **Data parallelism** adds up gradients by **all-reduce**: each worker sends less than twice the gradient, however
#   many workers there are. DDP *averages*, so mind how you divide the loss. **ZeRO / FSDP** divides among the workers
#   what all of them would keep.
# - What is computed twice must draw the same random numbers twice.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(22)

# %% [markdown]
# ## Interview questions
#
# <!-- arithmetic-14 -->
# **1. One request of 64 tokens takes 4 ms on your GPU, 32 requests together take 6 ms. Explain it with the roofline,
# for an H100.**
#
# <details><summary>Answer in half a minute</summary>
#
# At batch one the card isn't limited by arithmetic: 64 tokens give 64 multiply-adds for each weight that is read, 64
# operations a byte in bf16, below the ridge of 295. Reading 170 MB takes 0.05 ms, the arithmetic 0.01 to 0.03. So
# most of the 4 ms is the CPU that launches some hundred small kernels. A batch of 32 needs no more launches, and each
# kernel has more to do.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The roofline has two limits. Arithmetic: 989 · 10¹² operations a second in bf16. Memory: 3.35 · 10¹² bytes a second.
# Their ratio, 295 operations a byte, is the ridge: a kernel that does fewer operations for each byte it loads is
# limited by memory. Take a linear layer with M tokens. It loads D · E weights of two bytes and does 2 · M · D · E
# operations: M operations for each byte, if activations are small. With M = 64 that is 64, below 295: memory-bound.
# The layers of BERT-Base have 85 million weights, 170 MB, so at least 0.05 ms. Arithmetic: 2 · 85 · 10⁶ · 64 = 10.9 ·
# 10⁹, at the peak 0.011 ms. Both are far below 4 ms. So neither limit explains it. What remains is overhead: twelve
# layers with about fifteen kernels each, 180 launches, at 5 to 20 microseconds from Python: 1 to 4 ms. The GPU waits
# for the CPU. With 32 requests there are 2,048 tokens, above the ridge: 0.35 · 10¹² operations, 0.35 ms at the peak,
# about 1 ms in practice. The launches stay the same, and the GPU computes while the CPU launches on, so I'd expect 4
# to 5 ms. The rest of the 6 is the copying and padding of 32 texts. So one at a time gives 250 requests a second,
# batches give 5,300, twenty times as many. What do I do? For throughput: collect requests for 2 to 5 ms. For latency
# of a single one: fewer launches, by CUDA graphs, `torch.compile` or an exported engine with fused kernels; then
# below a millisecond is possible. Quantizing weights doesn't help here, since memory isn't the limit. A larger card
# doesn't either: an H100 at batch one is hardly faster than an L4 for this model. I'd check with a profiler: if the
# timeline of the GPU has gaps between kernels, it's launches.
#
# </details>
#
# <!-- arithmetic-15 -->
# **2. Eight machines with one A100 each train BERT-Base with DDP over 10-gigabit Ethernet, 32 sequences of 128 tokens
# on each. The GPUs are mostly idle. Why, and what do you change?**
#
# <details><summary>Answer in half a minute</summary>
#
# Each step sums 440 MB of gradients. In a ring every worker sends 1.75 times that, 770 MB, which takes 0.6 seconds at
# 1.25 GB a second. The arithmetic takes about 18 ms. So it's the network. Fewer sums by accumulation, gradients in 16
# bits, a faster connection, or one machine with eight GPUs. Sharding doesn't help: it sends as much or more.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First the bytes. BERT-Base has 110 million weights, and under autocast the gradients are float32: 440 MB. A ring
# all-reduce with N workers has a reduce-scatter and an all-gather, each of N minus 1 steps with a chunk of one Nth.
# So every worker sends 2 times N minus 1 over N of the gradient: for eight 1.75 times, 770 MB, and never more than
# twice, however many workers there are. Ten gigabits are 1.25 GB a second: 0.62 seconds. Now the arithmetic: 545
# million operations for each token, 4,096 tokens, 2.2 · 10¹², at 40 percent of an A100's 312 · 10¹² it's 18 ms. So
# the GPU computes for three percent of the time. DDP sends while the backward pass runs, but that hides at most the
# 12 ms of the backward pass. What helps is to send less often or fewer bytes. Accumulate 32 parts before each sum,
# with `no_sync` for all but the last: then a step is 32 · 18 ms, as long as its sum, but the batch has 8,192
# sequences, so I have to check that training still profits from it and raise the learning rate. Send gradients in 16
# bits: half. A network of 200 gigabits: a twentieth. Or one server with eight GPUs and NVLink: 770 MB at 300 GB a
# second are 3 ms. FSDP isn't a remedy: stages 1 and 2 of ZeRO send as much, stage 3 one and a half times as much, and
# 1.8 GB of weights and optimizer fit on every GPU. I'd prove it first: measure a step with one worker and with eight,
# and look at the profiler's timeline.
#
# </details>
#
# <!-- debugging-07 -->
# **3. Training works in float32 and gives nan in half precision. Where do you look?**
#
# <details><summary>Answer in half a minute</summary>
#
# float16 ends at 65,504, and below 3e-8 everything is 0. So a mask of −1e9, added to the scores, becomes minus
# infinity, and a row that is masked completely gives nan. An epsilon of 1e-12 becomes 0. Large activations overflow,
# small gradients vanish. Remedies: softmax, LayerNorm and loss in float32, loss scaling, or bfloat16, which has the
# range of float32.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Half precision has two formats. float16 has ten bits of fraction, but five of exponent: the largest number is
# 65,504, the smallest positive one about 6e-8. bfloat16 has the eight exponent bits of float32, so the same range,
# and only seven bits of fraction. So nan points at float16 and its range. Where? First the mask. −1e9 doesn't fit:
# `masked_fill` refuses it with an error, and where it is multiplied with a mask and added it becomes minus infinity.
# Alone that is fine, but a row whose keys are all masked is minus infinity throughout, and softmax gives 0 divided by
# 0\. It happens with empty texts or with padding to a fixed number of windows. The smallest finite number of the type,
# finfo.min, is safer. Second epsilons: 1e-12 in a LayerNorm of your own or 1e-8 in Adam is 0 in float16, and a
# constant vector divides by zero. (PyTorch's own LayerNorm computes in float32.) Third overflow: squares in a
# variance or a norm of values from 256 on, sums over many tokens, logits times a small temperature, exp without
# subtracting the maximum. Fourth gradients: many are below 3e-8, half of the smallest number, and vanish. That gives
# no nan, only no learning. So the loss is multiplied by a scale such as 65,536, and the gradients divided by it. If
# they overflow, the step is skipped and the scale halved: an occasional infinity is planned. But clipping must come
# after unscaling. I find the module with hooks: the first module whose output isn't finite, on the batch that failed,
# and `torch.autograd.detect_anomaly` for the backward pass. Remedy: autocast keeps softmax, norms and losses in
# float32 and the weights too. Or bfloat16 if the hardware has it: no scaling needed.
#
# </details>
#
# ## Next
#
# Your model is trained. Make a service of it that others can rely on: exported, smaller, batched, measured and watched:
# [23 · Into production](23_into_production.ipynb).
