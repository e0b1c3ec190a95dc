# %% [markdown]
# # 22 · From two cores to many GPUs
#
# The course trains a small BERT on two cores. BERT-Large took 64 chips for four days. You will learn what stops a
# training run, how to find out which of four limits it is, and what each remedy saves. Everything is counted by hand
# first and measured afterwards, on the machine that you have.
#
# ## What you will be able to do
#
# - say with two measured speeds whether arithmetic or memory traffic limits an operation (the roofline)
# - scale a loss for fp16, and say why bf16 needs no scaling
# - count what activation checkpointing saves, and what it costs
# - train with two processes, and count what all-reduce sends and what sharding (ZeRO, FSDP) keeps where
# - detect and repair a recomputation that draws other random numbers
#
# **Time:** 60 minutes for the core path, about 110 minutes with everything ·
# **You need:** [08 · Pre-training](08_pre_training.ipynb) ·
# **Next:** [25 · The interview](25_the_interview.ipynb)
#
# Sections marked (optional) are not part of the core path. Letters: B sequences in a batch, T tokens, D hidden size,
# H heads, L layers, N workers (processes, each with its own processor or GPU).
#
# ## Recall
#
# 1. How many operations does training take for each weight and token?
#
# <details><summary>Answer</summary>
#
# About 6: a multiplication and an addition in the forward pass, and twice as many in the backward pass, which computes
# two gradients ([chapter 08](08_pre_training.ipynb)). Attention comes on top.
#
# </details>
#
# 2. How many bytes of memory does AdamW need for each weight in float32, before any batch is computed?
#
# <details><summary>Answer</summary>
#
# 16: the weight, its gradient and two running means, 4 bytes each ([chapter 05](05_the_whole_bert.ipynb)).
#
# </details>
#
# 3. Two parts of a batch have 10 and 30 masked tokens. Why must their mean losses not be averaged?
#
# <details><summary>Answer</summary>
#
# The tokens of the small part would count three times as much. Sum the losses of both parts, and divide by 40. Two
# processes that compute a part each have the same problem.
#
# </details>
#
# ## Where this part sits
#
# The model stays the same, and so does its loss. This chapter is about the machine below it.
#
# <svg role="img" aria-label="A training step from left to right: a batch is read, the forward pass, the backward pass,
# the gradients of all workers are added up, the optimizer updates the weights. Below it the four limits: arithmetic and
# memory traffic limit forward and backward pass, the size of the memory limits what is kept between them,
# communication limits the sum over workers." viewBox="0 0 760 190" width="760" xmlns="http://www.w3.org/2000/svg"
# font-family="sans-serif" font-size="13">
# <rect width="760" height="190" fill="#ffffff"/>
# <g fill="#f3f3f3" stroke="#767676"><rect x="14" y="28" width="90" height="46" rx="7"/>
# <rect x="150" y="28" width="120" height="46" rx="7"/><rect x="316" y="28" width="120" height="46" rx="7"/>
# <rect x="482" y="28" width="120" height="46" rx="7"/><rect x="648" y="28" width="98" height="46" rx="7"/></g>
# <g fill="#222222" text-anchor="middle"><text x="59" y="56">batch</text><text x="210" y="56">forward</text>
# <text x="376" y="56">backward</text><text x="542" y="56">sum gradients</text><text x="697" y="56">update</text></g>
# <g stroke="#767676" stroke-width="1.6" fill="none"><path d="M104 51H146M270 51H312M436 51H478M602 51H644"/>
# <path d="M141 46l6 5-6 5M307 46l6 5-6 5M473 46l6 5-6 5M639 46l6 5-6 5"/></g>
# <g stroke="#0072B2" stroke-width="2" fill="none"><path d="M150 88V96H436V88M291 96V108"/></g>
# <g stroke="#D55E00" stroke-width="2" fill="none"><path d="M482 88V96H602V88M542 96V108"/></g>
# <g text-anchor="middle"><text x="291" y="126" fill="#0072B2">arithmetic · memory traffic</text>
# <text x="291" y="148" fill="#0072B2">size of the memory (what forward keeps for backward)</text>
# <text x="542" y="126" fill="#D55E00">communication</text></g>
# <text x="14" y="178" fill="#595959">How long a step takes, and whether it fits: four limits</text>
# </svg>
#
# ## The problem: a step that is slower than its arithmetic
#
# A processor is sold by its arithmetic: so many operations a second. Chapter 08 counted the operations of a step. So we
# can say how long a step takes. Or can we?
#
# The next cell measures what this machine does in large matrix products, in float32. From that speed and the operations
# of a step it computes a time, and then it measures the real step, for the preset `tiny`. The times are this machine's,
# so this cell's output differs from machine to machine.

# %%
import time

import torch

from bertedu import BertConfig, BertForPreTraining
from bertedu.course import about, check, hint, quiz
from bertedu.course.exercises.chapter_08_cost import flops
from bertedu.doctor import matrix_rate

# %% tags=["nbval-ignore-output"]
config = BertConfig.preset("tiny", vocab_size=8192)
torch.manual_seed(0)
model, ids = BertForPreTraining(config), torch.randint(8192, (16, 128))  # [B, T]
labels = ids.masked_fill(torch.rand(16, 128) > 0.15, -100)


def seconds_of_a_step():
    start = time.perf_counter()
    model(
        ids, labels=labels, next_sentence_label=torch.zeros(16, dtype=torch.long)
    ).loss.backward()
    return time.perf_counter() - start


rate = matrix_rate("cpu", "fp32")
expected = flops(config, 128) * ids.numel() / rate
measured = min(seconds_of_a_step() for _ in range(5))
print(f"matrix products: {rate / 1e9:.0f} billion operations a second")
print(f"a step of {ids.numel()} tokens: expected {expected:.3f} s, measured {measured:.3f} s")
assert measured > 1.2 * expected

# %% [markdown]
# The real step takes longer, although we counted every matrix product in it. What did we not count? LayerNorm, GELU,
# softmax, dropout and additions. They are few operations: less than 3 % for BERT-Base. But they have to read and write
# all their numbers. **A processor waits more often for memory than it computes.**
#
# ## The roofline
#
# The **arithmetic intensity** of an operation is the number of arithmetic operations for each byte that it reads or
# writes in memory (Williams, Waterman & Patterson 2009, "Roofline"). Compute two with a pencil, with 4 bytes for each
# number:
#
# 1. An addition `x + y` of two tensors: one operation, and 12 bytes (two numbers are read, one is written). The
#    intensity is 1/12.
# 2. A product of two 1024 × 1024 matrices: 2 · 1024³ operations, and 3 · 1024² numbers of 4 bytes. The intensity is
#    2 · 1024 / 12 = 171.
#
# A machine has two speeds: operations a second, and bytes a second. Their quotient is the machine's own intensity, the
# **ridge point**. An operation below it is **memory-bound**: the memory decides how long it takes, and a faster
# processor would not help. Above it, the operation is **compute-bound**.
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
# Each of the rows · columns results takes `inner` multiplications and as many additions. What goes through memory are
# two matrices in, and one out.
#
# </details>

# %% [markdown]
# ### BERT-Base on the roof
#
# The next cell computes the intensity of BERT-Base's operations in 16-bit numbers, 2 bytes each, and compares it with
# the ridge points of two GPUs. The speeds are the makers' figures for dense 16-bit products: A100 (80 GB, SXM) 312 · 10¹²
# operations and 2.04 · 10¹² bytes a second, H100 (SXM) 989 · 10¹² and 3.35 · 10¹².
#
# Guess before you run it: which of these four are compute-bound? The feed-forward product for a single sequence of 16
# tokens, the same for 32 sequences of 512 tokens, the scores of one head with 512 tokens, and GELU?

# %%
from bertedu.course.exercises.chapter_22 import product_intensity

D, inner, d = 768, 3072, 64
operations = {
    "feed-forward, 16 tokens": product_intensity(16, D, inner, 2),
    "feed-forward, 32 × 512 tokens": product_intensity(32 * 512, D, inner, 2),
    "scores of a head, 512 tokens": product_intensity(512, d, 512, 2),
    "GELU (about 10 operations)": 10 / 4,
    "addition": 1 / 6,
}

# %%
ridges = {"A100": 312e12 / 2.04e12, "H100": 989e12 / 3.35e12}
for name, value in operations.items():
    bound = [chip for chip, ridge in ridges.items() if value > ridge]
    print(f"{name:30} {value:6.1f} operations a byte, compute-bound on", end=" ")
    print(" and ".join(bound) or "neither")
print("ridge points:", ", ".join(f"{chip} {ridge:.0f}" for chip, ridge in ridges.items()))

# %% [markdown]
# Only the large feed-forward product is compute-bound. The same product with 16 tokens reads the whole matrix of
# weights for few rows. The scores of a head have only 64 numbers to sum over, and write 512 × 512. And an elementwise
# operation can never reach the ridge.
#
# The next picture is the **roofline** itself: the highest speed that an operation of a given intensity can reach. On the
# slope the memory decides, and on the flat part the arithmetic.

# %% tags=["hide-input"]
from bertedu.visualization.picture import Picture, new_figure

figure = new_figure(6.4, 3.6)
axes = figure.subplots()
peak, bandwidth = 989e12, 3.35e12
axes.plot([0.1, peak / bandwidth, 3000], [0.1 * bandwidth, peak, peak], color="#222222")
for (name, value), colour in zip(
    operations.items(), ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#7A5C00")
):
    axes.plot(value, min(peak, value * bandwidth), "o", color=colour, label=name)
axes.set(
    xscale="log",
    yscale="log",
    xlabel="operations for each byte",
    ylabel="operations a second",
    title="H100",
)
axes.legend(fontsize=8)
Picture(
    figure,
    alt="Roofline of an H100, both axes logarithmic. It rises to 989 trillion operations a "
    "second at 295 operations a byte, then it is flat. From left to right: addition 0.2, "
    "GELU 2.5, feed-forward with 16 tokens 16 and scores of a head 51 on the slope; "
    "feed-forward with 32 times 512 tokens 592 on the flat part.",
)

# %% [markdown]
# ### What to do on the slope
#
# Three remedies raise the intensity, and none of them changes a number of the result, apart from rounding.
#
# - **Fusion.** `torch.compile` writes one program for several operations, such as bias, GELU and dropout. They read and
#   write the memory once together. `bertedu pretrain --compile` does that for each layer. The first steps are slow,
#   because the programs are made then.
# - **Fused attention** (FlashAttention, Dao et al. 2022). The scores of shape `[B, H, T, T]` never go to the memory:
#   they are computed in blocks that fit into the processor's own fast memory. The package's attention uses PyTorch's
#   `scaled_dot_product_attention`, which does that where it can.
# - **No padding.** Padded positions cost arithmetic and memory for nothing. Put sequences of similar length into a
#   batch ([chapter 08](08_pre_training.ipynb)), or unpad the batch ([chapter 19](19_modernbert.ipynb)).
#
# How much traffic do the scores cause? Without fusion they are written by the product, read and written by the
# mask, by softmax and by dropout, and read by the product with the values: 8 times through memory. With fusion only
# queries, keys, values and results move. The next cell counts both for a layer of BERT-Base.

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
# One layer moves 1.71 GB for its attention without fusion, and 0.10 GB with it. The intensity rises from 15 to 256: from
# far below the A100's ridge point, 153, to above it. (The H100's is 295.)
#
# ## 16 bits: two formats
#
# Half as many bytes for each number is half the traffic, and GPUs multiply 16-bit numbers many times faster. There are
# two ways to spend 16 bits. **fp16** has 5 bits for the exponent and 10 for the fraction. **bf16** has 8 and 7: as many
# for the exponent as float32, so it covers the same range, with fewer digits. The next cell prints what that means.

# %%
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    of = torch.finfo(dtype)
    above = (1 + of.eps) - 1
    print(
        f"{str(dtype):15} largest {of.max:.0e}, smallest {of.smallest_normal * of.eps:.0e}, ",
        end="",
    )
    print(f"next number after 1: 1 + {above:.0e}")
print(
    "in fp16: 2e-8 becomes",
    torch.tensor(2e-8).half().item(),
    "and 70000 becomes",
    torch.tensor(7e4).half().item(),
)

# %% [markdown]
# Nothing below 6 · 10⁻⁸ exists in fp16, and below 6 · 10⁻⁵ its numbers have fewer and fewer digits (they are called
# **subnormal**). Are gradients that small? The next cell takes a small trained checkpoint of the course and 512
# sentences of its own kind of text, and computes the gradients in float32. The cells after it count: which share would
# become zero in fp16, be subnormal, or be infinite? Before you run it, guess the share of subnormal ones: 1 %, 10 %,
# 40 %?

# %%
from bertedu.corpora import load_corpus
from bertedu.course import data_path
from bertedu.inference import open_filler

trained, tokenizer = open_filler(data_path("checkpoints/world-tiny"))
documents = load_corpus("world").validation
sentences = [line for document in documents for line in document.sentences][:512]
encoding = tokenizer(sentences, max_length=24)
mask = encoding.attention_mask

# %%
torch.manual_seed(0)
hidden = (torch.rand(mask.shape) < 0.15) & (mask == 1)
seen = encoding.input_ids.masked_fill(hidden, tokenizer.mask_token_id)
targets = encoding.input_ids.masked_fill(~hidden, -100)


def gradient(rows):  # of the mean loss over some of the sentences, all weights in one vector
    trained.zero_grad()
    trained(seen[rows], attention_mask=mask[rows], labels=targets[rows]).loss.backward()
    found = [weight.grad for weight in trained.parameters() if weight.grad is not None]
    return torch.cat([part.flatten() for part in found])


# %%
small = gradient(torch.arange(512))
small = small[small != 0]


def shares(scale):  # zero, subnormal, infinite in fp16
    half = (small * scale).half()
    subnormal = (half != 0) & (half.abs() < torch.finfo(torch.half).smallest_normal)
    return [part.double().mean().item() for part in (half == 0, subnormal, half.isinf())]


# %%
known = {0: (0.1, 0.3, 0), 8: (0.0, 0.2, 0), 16: (0.0, 0.0, 0), 24: (0.0, 0.0, 0.2)}
print("              zero  subnormal  infinite")
for power, numbers in known.items():
    found = zip(numbers, shares(2.0**power))
    cells = [f"{about(number, share, within=0.05):.2f}" for number, share in found]
    print(f"loss · 2^{power:<2}    {'     '.join(cells)}")

# %% [markdown]
# As they are, a part of the gradients is lost, and a larger part is subnormal. **Loss scaling** (Micikevicius et al.
# 2018, section 3.2) multiplies the loss by a large number S before the backward pass. By the chain rule all gradients
# are S times as large. They are divided by S again in float32, before the optimizer uses them. With 2¹⁶ all is well.
# With too large an S the largest gradients become infinite.
#
# Which S is right changes during training. So it is found by trying (**dynamic loss scaling**): start high. If any
# gradient is infinite or nan, skip the optimizer's step and halve S. After 2,000 steps in a row without that, double S.
#
# bf16 has the range of float32, so nothing is lost in this way, and no scaling is needed. That is why bf16 is the
# default wherever the hardware has it (A100 and later, TPUs, recent server processors). A T4 or V100 has only fp16:
# `bertedu pretrain --precision fp16` scales the loss as described here.
#
# ### Exercise 22.2 · Dynamic loss scaling
# ●●○○ · 8 minutes
#
# Write `next_scale(scale, clean_steps, finite, interval)`. `scale` is S, `clean_steps` counts the steps since the last
# change of S, `finite` says whether all gradients of this step are finite, and `interval` is the number of clean steps
# after which S is doubled. Return three things: whether the optimizer takes this step, the next S, and the next count.


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
# Do it with a pencil: a layer keeps 34 numbers for each number of its input (chapter 08), and there are 12 layers.
# Without checkpointing that is 12 · 34 = 408. With checkpointing it is 12 inputs, and the 34 of the one layer that is
# being computed again: 46. That is 9 times less. And the price? The forward pass is a third of the work, and it is done
# twice: 4/3 of the time.
#
# In PyTorch a step of the backward pass can be written by hand, as an `autograd.Function`. The next cell writes a
# checkpoint in this way. Read `forward` and `backward` one after the other: what is kept, and what is computed when?


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
# The next cell builds six layers without dropout. It counts the bytes that the forward pass keeps (`kept_bytes` from
# the package does it like the cell in chapter 05), with and without recomputation, and compares all gradients.

# %%
from torch import nn

from bertedu.training.activation_memory import kept_bytes


def layers_of(dropout):
    torch.manual_seed(0)
    parts = [nn.Linear(64, 256), nn.GELU(), nn.Dropout(dropout), nn.Linear(256, 64)]
    return nn.ModuleList(nn.Sequential(nn.LayerNorm(64), *parts) for _ in range(6))


def run(layers, x, recompute):
    for layer in layers:
        x = x + (recompute(x, layer) if recompute else layer(x))
    return x


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
# Look at both columns. The recomputed layers keep only their inputs, and the gradients are the same to the last bit:
# the same numbers are computed, only later. Remember these six layers, they come back in the lab.
#
# `bertedu pretrain --checkpointing` does this for the encoder's layers, with PyTorch's own
# `torch.utils.checkpoint`. The next cell counts for a BERT of 12 layers. For a fair count, both are in training mode.

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
print(f"12 layers keep {kept[False]:.1f} MB, with checkpointing {kept[True]:.1f} MB")

# %% [markdown]
# The third remedy is the simplest: **gradient accumulation**, half the batch twice (chapter 08). It halves the
# activations, changes nothing else if the loss is counted in tokens, and costs nothing but smaller matrix products.
#
# ## Two processes
#
# The most common way to use several GPUs is **data parallelism**. Each of N workers has the whole model and reads its
# own part of the batch. After the backward pass, all add up their gradients, so that each has the sum. This operation
# is called **all-reduce**. Then all take the same optimizer step and stay equal.
#
# Does this really give the gradient of the whole batch? We try it, with two processes on this machine. The next cell
# writes a program of a few lines. Each process gets its number, the **rank**, from `torchrun`. It computes a half of
# the batch, and sums the gradients with `all_reduce`. `gloo` is the library for communication between CPUs (`nccl` for
# NVIDIA GPUs). Then one process alone computes the whole batch, and we compare.
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
    print("\n".join(sorted(line for line in done.stdout.splitlines() if "worker" in line)))
    return [torch.load(folder / f"{number}-{rank}.pt") for rank in range(number)]


(whole,), (first, second) = with_workers(1), with_workers(2)
print(f"largest gradient {whole.abs().max():.2f}", end="; ")
print(f"between the two workers {(first - second).abs().max():.0e}")
assert (first - whole).abs().max() < 1e-6
print("two workers and one differ by less than 1e-6")

# %% [markdown]
# The two halves have different numbers of labelled tokens, and the sum is still the gradient of the whole batch.
#
# `torchrun --nproc_per_node=2 -m bertedu pretrain …` trains in this way. The batch of the settings is cut into two, and
# the loss curve is that of one process, within 10⁻⁴ (the package's tests compare them, for each setting of this
# chapter).
#
# ### What all-reduce sends
#
# Suppose one worker collects all gradients, adds them up and sends the sum to everybody. Then this one worker receives
# and sends N − 1 whole gradients, and the others wait. The **ring all-reduce** shares out this work. The N workers
# stand in a ring, and each cuts its gradient into N chunks.
#
# 1. **Reduce-scatter**, N − 1 steps: in each step every worker sends one chunk to its right neighbor, and adds the
#    chunk that arrives from the left to its own. In step s, worker w sends chunk w − s. After the last step worker w
#    holds the complete sum of chunk w + 1.
# 2. **All-gather**, N − 1 steps: the complete chunks go round the ring in the same way, and what arrives now
#    *replaces* what was there. In step s, worker w sends chunk w + 1 − s.
#
# (All numbers modulo N.) Play it with a pencil for N = 3, with the numbers 1, 2, 3 in worker 0, 10, 20, 30 in worker 1
# and 100, 200, 300 in worker 2, one number a chunk. In the end everybody has 111, 222, 333.
#
# ### Exercise 22.3 · Around the ring
# ●●●○ · 15 minutes
#
# Write `ring_all_reduce(parts, send)`. `parts[w][c]` is chunk c of worker w, a tensor; there are as many chunks as
# workers. `send(sender, receiver, tensor)` sends a tensor and returns what the receiver gets; anything that a worker
# knows of another one's chunks must go through it. Return the same nested list with the sums, and do not change
# `parts`.


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
# In a real ring all workers send at once. One after the other gives the same here, because within a step the chunk
# that a worker sends is never the one that it has just received. `held[right][chunk] + …` makes a new tensor, so `parts`
# stays as it was.
#
# </details>

# %% [markdown]
# Each worker sends 2 (N − 1) chunks of 1/N of the gradient: 2 (N − 1)/N times the gradient, which is less than twice,
# however many workers there are. Nobody has more to send than anybody else.
#
# How long does that take? The next cell computes it for BERT-Base with float32 gradients and 8 workers, for two
# connections: NVLink in a server of A100 GPUs (300 · 10⁹ bytes a second in each direction), and 10-gigabit Ethernet
# between servers. It compares that with the arithmetic of a step of 32 sequences of 128 tokens on each GPU, at 40 % of
# an A100's peak.

# %%
gradient_bytes, N = 4 * 110e6, 8
sent = 2 * (N - 1) / N * gradient_bytes
arithmetic = flops(BertConfig.preset("base"), 128) * 32 * 128 / (0.4 * 312e12)
print(f"each worker sends {sent / 1e6:.0f} MB; the arithmetic takes {1000 * arithmetic:.0f} ms")
for name, speed in (("NVLink", 300e9), ("10-gigabit Ethernet", 1.25e9)):
    print(f"{name:20} {1000 * sent / speed:4.0f} ms")

# %% [markdown]
# Inside a server the sum costs little. Over a slow network the workers would spend more time on sending than on
# computing. Three remedies: send while the backward pass still computes (PyTorch's DDP sends a bucket of gradients as
# soon as it is complete), larger batches on each worker (or accumulation, and one sum for several parts), and gradients
# in 16 bits.
#
# ## Sharding: who keeps what
#
# In data parallelism every worker keeps all 16 bytes for each weight, and N workers keep the same numbers N times.
# **ZeRO** (Rajbhandari et al. 2020, arXiv 1910.02054) shares them out, in three stages:
#
# | stage | each worker keeps only its share of | its bytes for each weight, float32 |
# |---|---|---|
# | 0 | nothing: all of everything | 4 + 4 + 8 |
# | 1 | the optimizer's two means | 4 + 4 + 8/N |
# | 2 | and the gradients | 4 + 4/N + 8/N |
# | 3 | and the weights | 4/N + 4/N + 8/N |
#
# In stages 1 and 2 each worker updates its share of the weights, and the new weights are gathered. Together with the
# sum of the gradients that is the same traffic as all-reduce: all-reduce *is* a reduce-scatter and an all-gather. In
# stage 3 a layer's weights are gathered right before the layer computes, in the forward and in the backward pass, and
# dropped after it: half as much traffic again (section 7.2). PyTorch calls stage 3 **FSDP**, fully sharded data
# parallel.
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
# Each stage divides one more part by N. The means are the largest part and come first.
#
# </details>

# %% [markdown]
# The next cell prints the gigabytes for BERT-Large and for a model of 7 billion weights, without activations. Guess
# for which of the two sharding decides whether it fits into 80 GB.

# %%
from bertedu.course.exercises.chapter_22 import zero_bytes

for name, weights in (("BERT-Large", 336e6), ("7 billion", 7e9)):
    for workers in (8, 64):
        cells = [f"{zero_bytes(weights, workers, stage) / 1e9:6.1f}" for stage in range(4)]
        print(f"{name:10}  {workers:2} workers  GB by stage 0 to 3: {' '.join(cells)}")

# %% [markdown]
# BERT-Large needs 5.4 GB: no GPU of today needs sharding for it. 7 billion weights need 112 GB and do not fit without
# it. With 8 workers stage 1 leaves 17 GB for activations, stage 3 leaves 66. So sharding is the tool of the large
# language models; you should know how to read it, and when you do not need it.
#
# Two processes and `fully_shard`, PyTorch's FSDP: the next cell shards the model from above and prints what each worker
# keeps, and whether the loss is still the same. The package uses it in `bertedu pretrain --fsdp`.

# %%
program = """
import sys, torch, torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from bertedu import BertConfig, BertForMaskedLM

torch.manual_seed(0)
model = BertForMaskedLM(BertConfig.preset("tiny", vocab_size=512)).eval()
ids = torch.randint(512, (8, 32))
plain = model(ids, labels=ids).loss.item()
total = sum(weight.numel() for weight in model.parameters())
dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
for layer in model.bert.encoder.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
kept = sum(weight.to_local().numel() for weight in model.parameters())
loss = model(ids, labels=ids).loss.item()
rank, same = dist.get_rank(), f"loss {loss:.4f}, before {plain:.4f}"
print(f"worker {rank} keeps {kept:,} of {total:,} weights; {same}\\n", end="", flush=True)
torch.save(torch.tensor(abs(loss - plain)), f"{sys.argv[1]}/{dist.get_world_size()}-{rank}.pt")
"""
(folder / "program.py").write_text(program)
assert max(with_workers(2)) < 1e-5

# %% [markdown]
# ## Large batches (optional)
#
# More workers mean larger batches, unless each gets less to do. Is a batch twice as large worth twice as much? A
# gradient of few sequences is a noisy estimate of the gradient of all. The next cell takes two *different* batches of
# the same size and computes the cosine between their gradients: 1 if they agree on the direction, near 0 if both are
# mostly noise. It uses the trained checkpoint from above.

# %%
torch.manual_seed(0)
for size, number in zip((4, 16, 64, 256), (0.0, 0.25, 0.6, 0.86)):
    rows = torch.randperm(512)
    one, other = gradient(rows[:size]), gradient(rows[size : 2 * size])
    cosine = torch.cosine_similarity(one, other, dim=0).item()
    print(f"batches of {size:3} sequences: cosine {about(number, cosine, within=0.15):.2f}")

# %% [markdown]
# Small batches point in quite different directions: averaging more of them pays. For large batches the direction is
# already known, and doubling the batch makes a step hardly better. This crossover is called the **critical batch size**
# (McCandlish et al. 2018, arXiv 1812.06162).
#
# A larger batch allows larger steps, because its direction is more reliable. For Adam, people often raise the learning
# rate with the square root of the batch size, and add warm-up. RoBERTa used a peak of 10⁻⁴ for batches of 256, 7 · 10⁻⁴
# for 2,000 and 10⁻³ for 8,000 sequences (Liu et al. 2019, table 3). LAMB (You et al. 2020, arXiv 1904.00962), an
# optimizer for such batches, trained BERT with 32,768 sequences and more a batch in 76 minutes on a whole TPUv3 Pod,
# instead of 3 days.
#
# ## Your GPU (optional)
#
# If this machine has a GPU, `make gpu` in the project's folder measures it in at most eight minutes: tokens a second
# from tiny to large beside `transformers`, the share of the GPU's measured speed in matrix products, memory, and a short training
# run. The next cell is a small part of that: training steps of `tiny` with each precision that the device has.

# %% tags=["nbval-ignore-output"]
from bertedu.pretraining.speed import training_speed

device = "cuda" if torch.cuda.is_available() else "cpu"
for precision in ("fp32", "bf16"):
    speed = training_speed(device, precision, seconds=1.0)
    print(f"{device} {precision}: {speed:,.0f} tokens a second")

# %% [markdown]
# ## The proof
#
# Three things of this chapter have a reference in PyTorch: the rule of loss scaling is `torch.amp.GradScaler`, our
# `Recompute` is `torch.utils.checkpoint`, and the ring is `dist.all_reduce` (which the program above has used). The
# next cell drives `GradScaler` through 12 steps with an interval of 3, of which the second, the seventh and the eighth
# have an infinite gradient. Beside it runs the rule of exercise 22.2, from the package.

# %%
from bertedu.course.exercises.chapter_22 import rule

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
# Somebody has put `Recompute` into their training, just as above. The tests are green: they compare the gradients with
# and without recomputation, as we did, in layers without dropout. Nothing crashes. But the runs with checkpointing end
# with a higher loss than those without.
#
# The next cell shows the symptom: the same comparison, for layers with dropout. Both sides start from the same random
# seed, so the forward pass drops the same numbers. Guess before you read on: where does the difference come from?

# %%
for dropout, number in ((0.0, 0.0), (0.1, 0.07)):
    layers = layers_of(dropout)
    plain, recomputed = gradients_of(layers, None), gradients_of(layers, Recompute.apply)
    relative = ((recomputed - plain).norm() / plain.norm()).item()
    print(f"dropout {dropout}: relative difference {about(number, relative, within=0.05):.2f}")

# %% [markdown]
# The loss was computed with one set of dropped numbers. In the backward pass the layer runs again and draws *new*
# random numbers. So the gradient belongs to another network than the loss. It isn't completely wrong, it is noisy, and
# that is why the training goes on and only ends higher.
#
# ### Exercise 22.5 · Repair the recomputation
# ●●●○ · 15 minutes
#
# Write `recompute(x, layer)`: it returns `layer(x)`, keeps only the input for the backward pass, and gives the same
# gradients as `layer(x)`, also with dropout. After the backward pass, the random numbers must go on as if nothing had
# been drawn in it. Everything runs on the CPU: `torch.get_rng_state()` and `torch.set_rng_state(state)` read and set the
# state of the generator. You may write a class like `Recompute`, and call its `apply` in your function.


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
# The state of the random numbers is one more input of the layer, although nobody passes it. So it is kept like an
# input, and put back before the layer runs again. Afterwards the state of *now* is restored: otherwise the numbers
# after this backward pass would repeat old ones, and the next batch would drop the same positions as this one.
# `torch.utils.checkpoint` does both (`preserve_rng_state=True`, its default), for GPUs too.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | paper | Google's code | `transformers` | this course |
# |---|---|---|---|---|
# | precision | not told | float32; TPUs multiply in bf16 | float32; `bf16`, `fp16` of its Trainer | bf16 where the hardware has it |
# | several workers | 16 and 64 chips | TPUEstimator | Accelerate (DDP, FSDP, DeepSpeed) | Accelerate's DDP; torch's FSDP |
# | large batches | 256 sequences | as one batch, no accumulation | accumulation | accumulation, counted in tokens |
# | checkpointing | not told | none | `gradient_checkpointing_enable()` | `--checkpointing` |
#
# BERT's first version of 2018 fits on one GPU today, so most of this chapter was needed for its successors.
#
# ## Summary
#
# - Four limits stop a run: arithmetic, memory traffic, the size of the memory, communication. The **roofline** tells
#   the first two apart with two measured speeds.
# - **Fusion** (compile, fused attention) saves traffic, **16 bits** save traffic and arithmetic. fp16 needs **loss
#   scaling**, because gradients below 6 · 10⁻⁸ become zero; bf16 does not.
# - **Checkpointing** keeps each layer's input only and pays with a second forward pass, 4/3 of the time.
# - **Data parallelism** sums gradients by **all-reduce**: each worker sends less than twice the gradient, however many
#   workers there are. **ZeRO / FSDP** shares out what all of them would keep.
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
# operations a byte in bf16, below the ridge of 295. Reading 170 MB takes 0.05 ms, the arithmetic 0.01 to 0.03. So the
# 4 ms are launches of some hundred small kernels. A batch of 32 fills them at nearly the same price.
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
# about 1 ms in practice, plus the same launches: 4 to 6 ms. That explains the numbers: one at a time 250 requests a
# second, in batches 5,300, twenty times as many. What do I do? For throughput: collect requests for 2 to 5 ms. For
# latency of a single one: fewer launches, by CUDA graphs, `torch.compile` or an exported engine with fused kernels;
# then below a millisecond is possible. Quantizing weights doesn't help here, since memory isn't the limit. A larger
# card doesn't either: an H100 at batch one is hardly faster than an L4 for this model. I'd check with a profiler: if
# the timeline of the GPU has gaps between kernels, it's launches.
#
# </details>
#
# <!-- debugging-07 -->
# **2. Training works in float32 and gives nan in half precision. Where do you look?**
#
# <details><summary>Answer in half a minute</summary>
#
# float16 ends at 65,504, and below 6e-8 everything is 0. So a mask of −1e9 becomes minus infinity, and a row that is
# masked completely gives nan. An epsilon of 1e-12 becomes 0. Large activations overflow, small gradients vanish.
# Remedies: softmax, LayerNorm and loss in float32, loss scaling, or bfloat16, which has the range of float32.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Half precision has two formats. float16 has ten bits of fraction, but five of exponent: the largest number is
# 65,504, the smallest positive one about 6e-8. bfloat16 has the eight exponent bits of float32, so the same range,
# and only seven bits of fraction. So nan points at float16 and its range. Where? First the mask. −1e9 doesn't fit and
# becomes minus infinity. Alone that is fine, but a row whose keys are all masked is minus infinity throughout, and
# softmax gives 0 divided by 0. It happens with empty texts or with padding to a fixed number of windows. The smallest
# finite number of the type, finfo.min, is safer. Second epsilons: 1e-12 in LayerNorm or 1e-8 in Adam is 0 in float16,
# and a constant vector divides by zero. Third overflow: squares in a variance or a norm of values above 256, sums
# over many tokens, logits times a small temperature, exp without subtracting the maximum. Fourth gradients: many are
# below 6e-8 and vanish. That gives no nan, only no learning. So the loss is multiplied by a scale such as 65,536, and
# the gradients divided by it. If they overflow, the step is skipped and the scale halved: an occasional infinity is
# planned. But clipping must come after unscaling. I find the module with hooks: the first module whose output isn't
# finite, on the batch that failed, and `torch.autograd.detect_anomaly` for the backward pass. Remedy: autocast keeps
# softmax, norms and losses in float32 and the weights too. Or bfloat16 if the hardware has it: no scaling needed.
#
# </details>
#
# ## Next
#
# [25 · The interview](25_the_interview.ipynb): everything that you have built, in the form of questions.
