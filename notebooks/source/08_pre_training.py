# %% [markdown]
# # 08 · Pre-training
#
# Everything is there: text, tokens, a model, masks, pairs, two losses. In this chapter it runs, and a BERT of your own
# learns to read while you watch.
#
# ## What you will be able to do
#
# - write the training loop of BERT line by line, and say what each line protects against;
# - read a loss curve: what the plateau is, what leaves it, and which fault drew a sick curve;
# - kill a run at any moment and go on with the same bits;
# - say what a masked-word accuracy is worth, by comparing it with counting;
# - compute what a pre-training costs, in operations, memory, hours and money.
#
# **Time:** 60 minutes · **You need:** [07 · Next sentence prediction](07_next_sentence_prediction.ipynb) · **Next:** [09 · Looking inside](09_looking_inside.ipynb)
#
# ## Recall
#
# 1. What does the label -100 mean, and where does it stand?
#
# <details><summary>Answer</summary>
#
# "Do not ask here." It stands at every token that was not chosen for masking, so that the loss is a mean over the
# chosen ones alone.
#
# </details>
#
# 2. Of the tokens that are chosen, how many does the model not see as [MASK], and what does it see there?
#
# <details><summary>Answer</summary>
#
# One in five: half of these show a random token, and half the right one.
#
# </details>
#
# 3. A batch holds 16 pairs and 140 chosen tokens. What are the two losses means of, and how are they joined?
#
# <details><summary>Answer</summary>
#
# The masked-word loss is a mean over 140 tokens, the next-sentence loss one over 16 pairs. They are added.
#
# </details>
#
# ## Where this chapter stands
#
# Blue is this chapter: the loop around everything that you have built.

# %%
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

# %%
from bertedu import BertConfig, BertForPreTraining
from bertedu.corpora import load_corpus
from bertedu.course import check, data_path, hint, quiz
from bertedu.files import read_json
from bertedu.pretraining.baselines import IGNORED, UnigramBaseline
from bertedu.pretraining.evaluation import Evaluation
from bertedu.pretraining.examples import collate
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, make_task, pretrain
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings, cut_rows
from bertedu.training.metrics import read_metrics
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

# %%
figure = new_figure(7.4, 1.9)
axes = figure.subplots()
axes.set(xlim=(0, 10), ylim=(0, 3))
axes.axis("off")
names = ("text\n(01)", "pairs, masks\n(06, 07)", "BERT\n(02 to 05)", "two losses\n(06, 07)", "gradients,\nAdamW")
for place, name in enumerate(names):
    color = BLUE if place == 4 else GREY
    around = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": color}
    axes.text(1 + 2 * place, 1.9, name, ha="center", va="center", fontsize=9, color=INK, bbox=around)
    if place:
        axes.annotate("", (0.3 + 2 * place, 1.9), (-0.3 + 2 * place, 1.9), arrowprops={"arrowstyle": "->", "color": GREY})
axes.annotate("", (5, 1.2), (9, 1.2), arrowprops={"arrowstyle": "->", "color": BLUE, "connectionstyle": "arc3,rad=-0.3"})
axes.text(7, 0.15, "new weights, thousands of times", ha="center", fontsize=9, color=BLUE)
Picture(figure, alt="From text to pairs and masks, BERT and two losses, all known. New: gradients and AdamW give new weights, thousands of times.")

# %% [markdown]
# ## Text, and a first try
#
# We train on the *small world*: 700 KB of plain sentences about countries, animals, elements and trades, made from tables
# of facts. It is small enough for a model of 700,000 numbers and a minute or two of one processor core. If this
# machine has a GPU, the world is joined with the prose of the installed packages, and the model is larger. The cells are the same.
#
# `make_task` does what you did by hand in chapters 1, 6 and 7: it learns a vocabulary from the training text, turns
# all text into ids, and then hands out batches of pairs, and masks them.

# %%
if torch.cuda.is_available():
    sources, settings, tokens = ["world", "documentation"], PretrainingSettings.for_preset("mini"), 40_000_000
else:
    sources, settings, tokens = "world", PretrainingSettings(vocab_size=2048, batch_size=16), 1_500_000
corpus = load_corpus(sources)
task = make_task(corpus, settings)
batches = task.epoch(0)
print(f"batches of {settings.batch_size} pairs; more than a thousand documents: {len(corpus.train) > 1000}")

# %% [markdown]
# A BERT as it is born, the loop that everybody knows, Adam with the rate that worked for you in chapter 3. One line
# needs a word: `task.prepare` masks the batch; its second argument is the step, from which the masks are drawn.

# %%
sizes = {"vocab_size": len(task.tokenizer), "max_position_embeddings": settings.max_length}
config = BertConfig.preset(settings.preset, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **sizes)
torch.manual_seed(0)
first_try = BertForPreTraining(config)
optimizer = torch.optim.Adam(first_try.parameters(), lr=0.01)
losses = []
for step in range(120):
    batch = task.prepare(batches[step], step, 0.0)  # input_ids, labels, ... [B, T]
    loss = first_try(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"at first: {losses[0]:.1f}, and ln V + ln 2 is {math.log(len(task.tokenizer)) + math.log(2):.1f}")
print("after 120 steps more than 1.5 lower:", losses[0] - np.mean(losses[-20:]) > 1.5)

# %% [markdown]
# The loss begins where a model begins that knows nothing, and it has fallen steeply. It works!
#
# Does it? Let us ask it things. The world comes with hundreds of questions, such as those below.
# Guess: how many *different* answers will the model give to 200 questions?

# %%
probes = corpus.fact_probes[::2][:200]
questions = [probe.sentence for probe in probes]

@torch.no_grad()
def answers(model, questions):
    """The most likely token at the [MASK] of each question."""
    encoding = task.tokenizer(questions)
    inputs = (encoding.input_ids, encoding.attention_mask, encoding.token_type_ids)  # [B, T]
    logits = model.eval()(*(x.to(model.next_sentence.weight.device) for x in inputs)).prediction_logits  # [B, T, V]
    best = logits[encoding.input_ids == task.tokenizer.mask_token_id].argmax(-1)  # [B]
    return [task.tokenizer.decode([i]) for i in best.tolist()]

for question in questions[::80]:
    print(question)
print("different answers to 200 questions:", len(set(answers(first_try, questions))))

# %% [markdown]
# One answer to every question, and yet a steep fall of the loss. What has it learned?

# %%
unigram = UnigramBaseline.fit([task.train_text.tokens], len(task.tokenizer))
labels = torch.cat([batch["labels"][batch["labels"] != IGNORED] for batch in task.validation()])
surprise = -np.log(unigram.probabilities[labels])  # of each hidden token, to somebody who knows frequencies alone
unigram_loss = surprise.mean()
word_loss = np.mean(losses[-20:]) - math.log(2)  # without the share of the next sentence, which is a guess still
print(f"ln V = {math.log(len(task.tokenizer)):.1f}   knowing how frequent each token is: {unigram_loss:.1f}")
print("the first try is within 0.5 of that:", abs(word_loss - unigram_loss) < 0.5)

# %% [markdown]
# It has learned how often each word occurs. That is all: a bias for every word, and not one glance at the sentence.
#
# This number, the **unigram loss**, is the most important line in every picture of this chapter. A run that comes
# down to it has learned nothing about language yet. And it is comfortable there: every BERT, large or small, arrives at
# this line early and then sits on a **plateau**, until attention finds something worth looking at.
# Our first try would sit there for ever. Its rate is too high.
#
# So the loop needs care. We go through its parts one by one; then we let it run.
#
# ## Batches of one length
#
# A batch is as long as its longest pair, and the rest is filled up with [PAD], which costs as much time as text.
# The same 16 × 64 pairs, in the order of the text and sorted by length: how much of what the model computes is padding?

# %%
pairs = task.pairs.next_sentence_pairs(random.Random(0))[: 16 * 64]

def padding(pairs):
    """The share of [PAD] when every 16 pairs in a row make a batch."""
    groups = [[len(pair) + 3 for pair in pairs[i : i + 16]] for i in range(0, len(pairs), 16)]
    return 1 - sum(map(sum, groups)) / sum(16 * max(group) for group in groups)
in_order, sorted_by_length = padding(pairs), padding(sorted(pairs, key=len))
print("padding, in order: more than a fifth:", in_order > 0.2, "  sorted: less than 2 %:", sorted_by_length < 0.02)

# %% [markdown]
# Sorting everything would let the model see all short texts first. So `Batches` shuffles the pairs, sorts *pools* of 64
# batches each, and shuffles the batches: nearly no padding, and nearly no order.
#
# ## AdamW, from one gradient
#
# Adam keeps two running averages for every single weight: of its gradient, $m$, and of its gradient's square, $v$. It
# moves the weight by $m / \sqrt{v}$: the direction that has been steady, in units of how large the gradient usually is.
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2 \qquad
# w \leftarrow w - \eta \left( \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda w \right)$$
#
# Both begin at 0, and so are too small at first. The hats are the correction: $\hat m = m / (1 - \beta_1^t)$ and
# $\hat v = v / (1 - \beta_2^t)$ in step $t = 1, 2, \ldots$
#
# ### Exercise 8.1 · Adam's first step
# ●○○○ · 3 minutes
#
# The rate η is 0.01, without decay, and β₁ = 0.9. How far does a weight move in the very first step if its gradient is
# 0.001, and how far if it is 1000? Write a list of two numbers. (Leave ε out.)

# %% tags=["exercise"]
### BEGIN SOLUTION
moves = [0.01, 0.01]
### END SOLUTION
check("8.1", moves)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# After one step the corrected averages are g and g², so the move is 0.01 · g / |g| = 0.01 for both. Adam's first step
# knows nothing but signs: every weight of the model moves by the whole rate, whether its gradient is a clear message
# or noise. Remember it when we come to warm-up.
#
# </details>

# %% [markdown]
# The last term, λw, is **weight decay**: every weight is pulled a little towards zero. The classical way is to add λw to the
# *gradient* (L2 regularisation). But then Adam divides it by √v like everything else, and a weight with large gradients
# hardly decays. Two weights, both 1.0, with noisy gradients that mean nothing, small for one and large for the other:

# %%
def after_decay(scale, decoupled):
    """A weight that begins at 1.0, after 300 steps on pure noise of this scale."""
    generator = torch.Generator().manual_seed(0)
    weight, m, v = 1.0, 0.0, 0.0
    for t in range(1, 301):
        g = scale * torch.randn((), generator=generator, dtype=torch.double).item() + (0 if decoupled else 0.1 * weight)
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g * g
        move = m / (1 - 0.9**t) / (math.sqrt(v / (1 - 0.98**t)) + 1e-6)
        weight -= 0.01 * (move + (0.1 * weight if decoupled else 0))
    return weight

for decoupled, name in ((False, "decay in the gradient"), (True, "decoupled decay    ")):
    print(name, *(f"  noise {scale}: {after_decay(scale, decoupled):5.2f}" for scale in (0.01, 10)))

# %% [markdown]
# With the decay in the gradient, what is left of a weight depends on how loud its gradients are. **Decoupled**, all weights decay
# alike (Loshchilov & Hutter 2019): that is the W in AdamW.
#
# ### Exercise 8.2 · AdamW in five lines
# ●●○○ · 10 minutes
#
# Write one step for tensors: `adamw_step(weight, gradient, mean, square, step, rate)` with β₁ = 0.9, β₂ = 0.98,
# ε = 1e-6, λ = 0.01. `step` counts from 1. Return the new weight, mean and square; leave the old ones alone.

# %% tags=["exercise"]
def adamw_step(weight, gradient, mean, square, step, rate):
    ### BEGIN SOLUTION
    mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
    direction = mean / (1 - 0.9**step) / ((square / (1 - 0.98**step)).sqrt() + 1e-6)
    weight = weight - rate * (direction + 0.01 * weight)
    return weight, mean, square
    ### END SOLUTION
check("8.2", adamw_step)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# First the averages, then their corrections (which are used and not kept), then the weight. The decay is added
# *after* the division and multiplied by the rate with everything else. Shapes never matter: all of it is entry by
# entry. That is why an optimizer needs two more numbers for every weight.
#
# </details>

# %% [markdown]
# ## Four protections
#
# **No decay for vectors.** A LayerNorm's scale belongs near 1, and a bias has no reason to be near 0. Both are vectors, while
# every weight that should decay is a matrix. So the package asks for the number of dimensions.
#
# **Warm-up.** At the beginning Adam's averages have seen little, and a step goes the whole way (exercise 8.1). So the rate
# begins at 0: BERT takes 1 % of the steps to come to its peak; a short run wants more, 6 % here.
#
# **Linear decay of the rate.** At the end the weights should settle, so it falls back to 0.
#
# **Clipping.** Once in a while a batch gives a huge gradient. Take the norm of *all* gradients of the model as one long
# vector, and if it is over 1, scale the whole vector down to 1. The direction stays.
#
# Guesses: how many of the 700,000 numbers do not decay? What is the rate at 53 % of the run? And with the pencil: two
# gradients, 3 and 4. What is their norm, and what are they after clipping?

# %%
def parameter_groups(model, decay=0.01):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]

def rate_factor(share, warmup=0.06):  # share: how much of the run is over
    return share / warmup if share < warmup else (1 - share) / (1 - warmup)

tiny = BertForPreTraining(BertConfig.preset("tiny", vocab_size=2048, max_position_embeddings=64))
for group in parameter_groups(tiny):
    print(f"decay {group['weight_decay']}: {sum(p.numel() for p in group['params']):,} numbers")
print("of the peak rate:", ", ".join(f"{rate_factor(share):.2f} at {share:.0%}" for share in (0, 0.03, 0.06, 0.53, 1)))

weights = [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))]
weights[0].grad, weights[1].grad = torch.tensor([3.0]), torch.tensor([4.0])
norm = nn.utils.clip_grad_norm_(weights, max_norm=1.0)
print(f"norm {norm:.0f}, clipped to {weights[0].grad.item():.1f} and {weights[1].grad.item():.1f}")

# %% [markdown]
# ## The whole loop
#
# Seven lines do the work. Read them once more as a list of protections: the masks are drawn anew for every step; the
# gradient is clipped *after* `backward` and *before* `step`; the rate is set by hand; gradients are cleared, because
# PyTorch adds to what is there.

# %%
def my_training(model, task, steps, peak, warmup=0.06):
    optimizer = torch.optim.AdamW(parameter_groups(model), betas=(0.9, 0.98), eps=1e-6)
    batches = task.epoch(0)
    for step in range(steps):
        share = step / steps
        batch = task.prepare(batches[step], step, share)
        for group in optimizer.param_groups:
            group["lr"] = peak * rate_factor(share, warmup)
        model(**batch).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model

# %% [markdown]
# ## The proof
#
# Your loop is the package's, in `bertedu/training/loop.py`, which adds what a long run needs: a log, validation, checkpoints, many processes.
# The same model, trained for eight steps by both, should have the same weights. And the parts should be those of
# PyTorch and `transformers`: their schedule counts steps where ours takes shares.

# %% tags=["nbval-ignore-output"]
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
mine = my_training(make_model(task), task, steps=8, peak=1.5e-3)
theirs = make_model(task)
exact = TrainingSettings(learning_rate=1.5e-3, device="cpu", precision="fp32")
_ = Trainer(theirs, task, exact, Budget(steps=8), folder / "eight").run()

# %%
pairs_of_weights = list(zip(mine.parameters(), theirs.parameters(), strict=True))
print("my loop = package's, all weights:", all((a - b).abs().max() < 1e-5 for a, b in pairs_of_weights))
born = make_model(task)
print("and they have moved:", any((a - b).abs().max() > 1e-3 for a, b in zip(mine.parameters(), born.parameters())))
one_step = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
schedule = transformers.get_linear_schedule_with_warmup(one_step, num_warmup_steps=60, num_training_steps=1000)
same = all(abs(schedule.lr_lambdas[0](step) - rate_factor(step / 1000)) < 1e-5 for step in range(1001))
print("my rates = transformers', 1001 steps:", same)

# %% [markdown]
# ## The run
#
# Now for good. One thing differs from our first try besides all the care: the start. As published, every matrix
# begins as noise of deviation 0.02, and a small BERT waits on the plateau until it has found by chance that looking around
# helps. `make_model` starts it so that it can *match* from the first step (`bertedu/pretraining/initialization.py`):
#
# - key weights equal to query weights in the first layer: a token looks at tokens like itself. (Higher layers are left free. Begun alike,
#   they too may settle on neighbours, and never find the word far off that tells the answer: whether they did was a matter of the seed.)
# - positions as waves, twice as loud as the words: a token looks at its neighbours;
# - linear layers with deviation 1/√(inputs), which lets more of the input through;
# - the decoder's bias at the logarithm of the frequencies: **the unigram loss is a gift**, not an achievement.
#
# Besides, more is masked than the paper's 15 %: 40 % at first, falling to 30 %. More questions for each token that is read, and a young model
# learns the more (Wettig et al. 2023 found 40 % better for large ones too). Some of this was measured apart, on another text (documentation).
# In two minutes, with a mask rate that fell from 30 % to 15 %: 28.9 % of the hidden words right with all of it, 24.8 % with key
# weights drawn apart from query weights, 18.9 % with the rate fixed at 15 %. When a short run leaves the plateau decides what it can become.
# And over 15 million tokens: 38.8 % right and a perplexity of 31 with 40 % falling to 30 %, 38.1 % and 33 with 30 % falling to 15 %.
#
# And the optimizer is younger than BERT. AdamW gives each *number* of a matrix a step of its own. **Muon** (Jordan et al. 2024) looks at the
# matrix as a whole: it makes all directions of the averaged gradient equally strong (all singular values about 1), so that what a few
# examples ask for, one fact say, counts as much as what all ask for. It trains the matrices of the encoder; embeddings, heads, biases
# and LayerNorm stay with AdamW. The rate is the same for both: a factor fits the size of Muon's steps to AdamW's (Liu et al. 2025). Only
# the embeddings go six times as fast, since a word's row learns of its own contexts in the few batches that hold the word.
#
# One more thing makes it fast. Where the hardware multiplies **bf16** numbers (every recent GPU, some processors), the products are made in
# them: 16 bits, with the range of float32 and only two to three digits, so that 1 + 1/512 is 1. That is too coarse to add small steps
# to a weight. So weights, Adam's averages and losses stay in float32. fp16 has more digits and a small range, in which small gradients become 0
# unless the loss is scaled up; bf16 needs no such care.
#
# While it runs, the bar shows both losses, and `tensorboard --logdir` on the run's folder draws the curves live. The stop button
# (■, or Ctrl-C) ends the run behind the step under way and saves it; `trainer.run(resume=True)` in a new cell goes on. Try it.
#
# Go. On one free core it takes a minute; have a tea if the machine is busy. When it ends, the model gets the questions from
# above: left the first try's answer, right that of the model which you have just trained.

# %% tags=["nbval-ignore-output"]
model = make_model(task)
training = TrainingSettings(1.5e-3 if settings.preset == "tiny" else 5e-4, optimizer="muon", log_steps=20)
trainer = Trainer(model, task, training, Budget(tokens=tokens), folder / "run")
progress, asked = trainer.run(), probes[::12]
print(f"{progress.tokens:,} tokens in {progress.step:,} steps and {progress.seconds:.0f} seconds, {trainer.precision}")
before, after = (answers(one, [probe.sentence for probe in asked]) for one in (first_try, model))
for probe, old, new in zip(asked, before, after):
    print(f"{probe.sentence:76} {old:>5} | {new}{'' if new == probe.answer else f'   (no: {probe.answer})'}")

# %% [markdown]
# Before, there was one word for everything. Now read the *wrong* answers: often they are words of the right kind, a currency
# for a currency, a dwelling for a dwelling. Nobody has told it what a currency is. It has filled in blanks for a minute.
# (Which country pays with which comes with more training: see the card in `data/checkpoints/world-tiny`.)
#
# ## Reading the curve
#
# Every run writes `metrics.jsonl`, one line of figures a time. Here is yours, with the unigram loss as a line. In grey a shorter
# run of the same size on a world much like it, recorded earlier: it had the published start. Leaving the plateau is put into a number: the
# smoothed loss is half a nat below the line for the first time.

# %%
given, old = answers(model, questions), answers(first_try, questions)
print("different answers to 200 questions: more than 15:", len(set(given)) > 15)
right, right_before = (sum(a == probe.answer for a, probe in zip(said, probes)) for said in (given, old))
print("more of them right than with the first try:", right > right_before)

lines = [line for line in read_metrics(folder / "run") if "mlm_loss" in line]
steps, curve, follows = (np.array([line[key] for line in lines]) for key in ("step", "mlm_loss", "nsp_accuracy"))
recorded = read_json(data_path("runs/sick_runs.json"))
healthy = recorded["runs"]["healthy"]

def smooth(values, width=5):
    return np.convolve(values, np.ones(width) / width, mode="valid")  # the mean of each and its neighbours

def leaves(steps, losses, line):
    """The step at which the smoothed loss is for the first time half a nat below the line."""
    below = smooth(np.array(losses)) < line - 0.5
    return steps[4 + int(below.argmax())] if below.any() else None

# %%
figure = new_figure(7.4, 3)
left, right_side = figure.subplots(1, 2)
for axes, own, other, title in ((left, curve, healthy["mlm_loss"], "masked words: loss (nats)"),
                                (right_side, follows, healthy["nsp_accuracy"], "sentence pairs: accuracy")):  # fmt: skip
    axes.plot(healthy["step"][4:], smooth(other), color=GREY, label="published start")
    axes.plot(steps[4:], smooth(own), color=BLUE, label="yours")
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel("optimizer steps")
    quiet(axes)
left.axhline(unigram_loss, color=ORANGE, linestyle=":")
left.text(steps[-1], unigram_loss + 0.08, "unigram loss", color=ORANGE, ha="right", fontsize=8)
left.legend(frameon=False, fontsize=8, loc="lower left")
right_side.axhline(0.5, color=ORANGE, linestyle=":")
yours, theirs_leaves = leaves(steps, curve, unigram_loss), leaves(healthy["step"], healthy["mlm_loss"], recorded["unigram_loss"])
print("yours leaves the plateau before the published start does:", (yours or math.inf) < (theirs_leaves or math.inf))
first_hundred = smooth(curve)[steps[4:] <= 100]
print("in the first 100 steps yours is within 0.6 of the line:", bool(np.all(np.abs(first_hundred - unigram_loss) < 0.6)))
Picture(figure, alt="Two panels over the steps. Masked-word loss: the grey run falls from ln V to the unigram loss and leaves it slowly; "
        "yours starts on that line, rests, then falls far below. Pair accuracy: near a guess at first, rising after the words have begun.")

# %% [markdown]
# Read it from left to right.
#
# 1. *The fall to the line* (grey only): frequencies are learned. Any model can do that.
# 2. *The plateau.* The loss sinks slowly, if at all, and pairs are guessed. Part of what is gained here is cheap too: one
#    in ten of the tokens asked for stands in the input as it is, and copying it is the next thing to learn.
# 3. *Off the plateau.* Attention has begun to match; from then on each step makes the next easier. The loss falls steeply.
# 4. *Pairs follow words.* Whether two segments belong together can only be seen once words mean something.
#
# ## What is it worth?
#
# An accuracy means little by itself. Guessing the most frequent token is right surprisingly often, and counting neighbours ("which
# word stood between these two most often?") is a strong opponent on a small world, where sentences come from templates. The package's
# `Evaluation` scores the model on documents that it never saw, next to such baselines, which learn from the same training text.

# %% tags=["nbval-ignore-output"]
held_out, documents = next(iter(corpus.heldout.items()))  # 150 of them are enough to tell
evaluation = Evaluation(task, replace(corpus, heldout={held_out: documents[:150]}, sense_reference=[], sense_heldout=[]))
results, untrained = evaluation(model), evaluation(born.to(trainer.torch_device))
rows = {"untrained": untrained[held_out], "your BERT": results[held_out], **results[held_out]["baselines"]}
print(f"{held_out:26} words right   perplexity   pairs right")
for name, row in rows.items():
    right, perplexity, follow = (row.get(key, math.nan) for key in ("mlm_accuracy", "perplexity", "nsp_accuracy"))
    print(f"{name:26} {right:>11.1%}   {perplexity:>10.1f}   {follow:>11.1%}".replace("nan%", "    ").replace("nan", "   "))

# %%
ours, counted = results[held_out], results[held_out]["baselines"]
print("beats the most frequent token:", ours["mlm_accuracy"] > counted["most frequent token"]["mlm_accuracy"] + 0.1)
print("perplexity less than half of unigram's:", ours["perplexity"] < counted["unigram"]["perplexity"] / 2)
print("and less than the n-gram's:", ours["perplexity"] < counted["n-gram, both sides"]["perplexity"])
print("pairs over 70 % right, balanced:", ours["nsp_accuracy"] > 0.7)

# %% [markdown]
# The n-gram's *accuracy* may well be ahead of yours: it knows every template by heart, and your model has had a minute. But look at the
# perplexity, which asks how much probability the right word got: the n-gram is sure of itself also where it is wrong. An honest table
# shows both. More of the same helps: nearly the same recipe with six times the tokens left the n-gram far behind (its card is in
# `data/checkpoints/world-tiny`).
#
# *Balanced* means that both kinds of pairs count the same, so that always saying "no" is worth 50 %.
#
# ## Kill it
#
# Real runs take days, and machines fail. What does a run need, to go on as if nothing had happened? Guess before you run
# the cell: which kinds of tensors are in the file from which a run is resumed?

# %%
with safe_open(folder / "run" / "resume.safetensors", framework="pt") as file:
    kinds = Counter(name.split(".")[0] for name in file.keys())
    about = file.metadata()
print(dict(kinds))
print("beside them:", sorted(about))
run = json.loads(about["run"])
print("of the run:", sorted(run))
print("its progress:", sorted(run["progress"]))

# %% [markdown]
# The file holds the weights; for those that AdamW trains, its two averages and its step count; and for the twelve matrices
# that Muon trains, one running average, the momentum. "recent" are sums since the last line of figures. *Progress* says at
# which step the run is, and where in the data. The learning rate is not in the file: it is computed from the progress. So
# are the masks (from the seed and the place in the data) and dropout (from the seed and the step). What is computed cannot
# be forgotten.
#
# The stop button is a polite way to end. A real kill: another process trains on a small text. When it has taken some steps we send it `SIGKILL`, the signal
# that cannot be caught. (A second run goes through undisturbed.)

# %%
text = folder / "text.txt"
text.write_text("\n\n".join("\n".join(document.sentences) for document in corpus.train[:120]))
options = {"corpus": (str(text),), "steps": 120, "vocab_size": 500, "device": "cpu", "precision": "fp32"}
often = {**options, "output": str(folder / "killed"), "save_seconds": 0.0, "log_steps": 10}  # saved after every step
program = f"""
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
pretrain(Plan.from_options(**{often!r}))
"""

process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while process.poll() is None and len(read_metrics(folder / "killed")) < 3:
    time.sleep(0.02)  # until it has written three lines of figures
process.kill()
print("ended by signal 9:", process.wait() == -9)
with safe_open(folder / "killed" / "resume.safetensors", framework="pt") as file:
    saved = json.loads(file.metadata()["run"])["progress"]
print("saved somewhere on its way:", 0 < saved["step"] < 120)

# %% tags=["nbval-ignore-output"]
resumed = pretrain(Plan.from_options(resume=folder / "killed"))
whole = pretrain(Plan.from_options(**options, output=folder / "whole"))

# %%
ends = [load_file(folder / name / "checkpoint" / "model.safetensors") for name in ("killed", "whole")]
print("killed and resumed = never killed, bit by bit:", all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0]))

# %% [markdown]
# Not "about the same loss". The same bits. Forget one of the things in that file (the averages, say, or the progress, so that the rate
# warms up once more in the middle of the run) and the curve shows a step at every restart.
#
# ## Five patients
#
# Runs that fail seldom stop. They go on, politely, and cost money. Below are five runs with one fault each, beside a healthy
# one: same model, same text, same seed, published start, recorded with `benchmarks/sick_runs.py`. Blue is training, orange is
# validation, whose masks are always made as they should be; dotted is the unigram loss above and a guess below. Then the same as
# numbers: the mean loss of the first 20 steps, where losses and pairs end, the step at which the plateau is left, and two rates from the log.

# %%
def chart(axes, run, loss):
    name = "mlm_loss" if loss else "nsp_accuracy"
    axes.plot(run["step"], run[name], color=BLUE, linewidth=1)
    axes.plot(run["validation_step"], run[f"validation_{name}"], color=ORANGE, linewidth=1.4)
    axes.axhline(recorded["unigram_loss"] if loss else 0.5, color=INK, linestyle=":", linewidth=1)
    axes.set_ylim((0, 9) if loss else (0.3, 1))
    quiet(axes)

figure = new_figure(8.4, 4.2)
grid = figure.subplots(2, 6, sharex=True, sharey="row")
for column, (letter, run) in enumerate(recorded["runs"].items()):
    chart(grid[0, column], run, loss=True)
    chart(grid[1, column], run, loss=False)
    grid[0, column].set_title(letter, fontsize=10, color=GREEN if letter == "healthy" else INK)
grid[0, 0].set_ylabel("masked words: loss", fontsize=8)
grid[1, 0].set_ylabel("pairs: accuracy", fontsize=8)
told = (f"{letter}: training loss from {run['mlm_loss'][0]:.1f} to {run['mlm_loss'][-1]:.1f}, validation ends at "
        f"{run['validation_mlm_loss'][-1]:.1f}, pairs at {run['validation_nsp_accuracy'][-1]:.0%}" for letter, run in recorded["runs"].items())  # fmt: skip
Picture(figure, alt="Six runs, masked-word loss above and pair accuracy below. " + "; ".join(told) + ".")

# %%
print("run      at first   training   validation   pairs   leaves   highest rate   rate at step 20")
for letter, run in recorded["runs"].items():
    ends = f"{run['mlm_loss'][-1]:8.2f}   {run['validation_mlm_loss'][-1]:10.2f}   {run['validation_nsp_accuracy'][-1]:5.0%}"
    left = leaves(run["step"], run["mlm_loss"], recorded["unigram_loss"]) or "never"
    print(f"{letter:8} {run['mlm_loss'][0]:8.1f}   {ends}   {left:>6}   {max(run['learning_rate']):12.4f}   {run['learning_rate'][0]:15.4f}")

# %% [markdown]
# ### Exercise 8.3 · Five patients
# ●●○○ · 8 minutes
#
# The faults, in no order: `"rate too high"` (20 times the healthy one); `"no warm-up"` (at twice the healthy rate); `"labels unmasked"`
# (every token has its id as its label, not only the chosen ones); `"frozen head"` (the masked-word head is never updated, and
# no longer shares the table of embeddings); `"NSP at chance"` (the pairs' labels were shuffled). Which run is which? Two of them have the
# same loss of words. Compare what they do with pairs, of which about 61 % are of one kind and 39 % of the other.

# %% tags=["exercise"]
### BEGIN SOLUTION
diagnosis = {"A": "labels unmasked", "B": "rate too high", "C": "NSP at chance", "D": "no warm-up", "E": "frozen head"}
### END SOLUTION
check("8.3", diagnosis)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# **A** has labels at every token. Most of the answers stand in the input, so the training loss falls as never before. Validation
# asks honest questions, and shows what it is worth: no more than the healthy run. *Training far below validation, early: the
# question gives the answer away.*
#
# **C** learns words like the healthy run, a little faster even, since nothing else pulls at its weights. Pairs stay a guess (more than
# half are of one kind, so a guess is right more than half of the time). *One task healthy, one at chance: look at that task's labels.*
#
# **E** cannot come down to the unigram line, for which a bias for each word would be enough. In its log the accuracy is as good as the
# healthy run's: the model has learned which word fits, and the head cannot say it with confidence. *Above the line for good: the output
# layer does not learn.*
#
# **B** and **D** reach the line quickly and stay for good: attention was wrecked before it could find anything. In **D** that happened in
# the first steps, at the full rate and by signs alone, and then it is quiet: always the more frequent kind of pair. **B** is thrown about
# as long as its rate is high: now it says "yes" to all pairs (39 %), now "no" (61 %), and calms down only when the rate has decayed.
# *At the line for good: look at the rate, and at its first steps.* The two rates in the table confirm it.
#
# </details>

# %% [markdown]
# ## What the real one costs
#
# Your model has 700,000 weights. Base has 110 million, and saw 40 times the whole of its 3.3 billion words. How much
# more work is that? Count it, by the token.
#
# In the forward pass every weight of a matrix is used for one multiplication and one addition for each token: 2 operations.
# The backward pass takes twice as many (the gradient for the weights, and the gradient for the inputs). That makes **6
# operations for each weight and token**: 6·N. Attention comes on top: each token's query meets T keys, and T values are mixed.
#
# ### Exercise 8.4 · The price of a token
# ●●●○ · 10 minutes
#
# Write `flops_per_token(config, length)`: operations for training on one token of a text with `length` tokens. Count the six
# matrices of each layer, attention's two products (over all heads together D wide), and the masked-word head (D to D, then D to V), which
# works for 15 % of the tokens. Leave out embeddings, biases, LayerNorm, softmax, and the pooler.

# %% tags=["exercise"]
def flops_per_token(config, length):
    ### BEGIN SOLUTION
    D, V, inner = config.hidden_size, config.vocab_size, config.intermediate_size
    layer = 4 * D * D + 2 * D * inner + 2 * length * D  # multiplications
    head = 0.15 * (D * D + D * V)
    return 2 * 3 * (config.num_hidden_layers * layer + head)
    ### END SOLUTION
check("8.4", flops_per_token)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A token's vector meets four D × D matrices in attention and two of D × inner in the feed-forward network. Its query
# makes T products of length d in each of H heads, T · D together, and the weighted sum of values costs as much again. Two
# operations for each multiplication, three passes' worth of them.
#
# </details>

# %% [markdown]
# Now Base and Large as published (appendix A.2): a million steps of 256 texts, nine in ten of them with 128 tokens and the
# rest with 512. It took 4 days on 16 TPU chips for Base, and 4 days on 64 for Large. The paper does not say which generation;
# the second, of 2017, was announced with 180 · 10¹² operations a second for a board of four chips.

# %%
from bertedu.course.exercises.chapter_08 import flops

steps_of = {128: 900_000, 512: 100_000}  # length of the texts: steps
work = {}
for name, chips in (("base", 16), ("large", 64)):
    sizes = BertConfig.preset(name)
    work[name] = sum(steps * 256 * length * flops(sizes, length) for length, steps in steps_of.items())
    available = chips * 45e12 * 4 * 24 * 3600  # operations that the chips could have made in 4 days
    print(f"{name:5} {work[name]:.1e} operations, {work[name] / available:.0%} of what {chips} chips could do in 4 days")
seen = sum(steps * 256 * length for length, steps in steps_of.items())
print(f"tokens: {seen / 1e9:.0f} billion")
own = flops(BertConfig.preset("tiny", vocab_size=2048), 64) * 1.5e6
print(f"our run on a CPU: {own:.1e} operations. Base: {work['base'] / own:.0e} times as many")

# %% [markdown]
# Chips are never busy with products all the time: they wait for memory, for each other, for data. Half of the peak is good, and a third
# usual. So the hours on today's hardware are: operations / (peak · share). The peaks are the makers' rates for 16-bit products without sparsity; the
# prices are round assumptions from what was asked by the hour in 2026 and differ by a factor of three between sellers. **Change them.**
#
# And memory? Weights, gradients and two averages, 4 bytes each, whatever the batch. Activations grow with the batch: about
# 34 bytes for each of D entries, token and layer with 16-bit numbers, if attention is fused (Korthikanti et al. 2022, section 4).

# %%
share = 0.35  # of the peak that is reached
hardware = {"A100": (312e12, 1.5), "H100": (989e12, 2.5), "RTX 4090": (165e12, 0.4)}  # operations/s, dollars an hour
for name, total in work.items():
    for chip, (peak, price) in hardware.items():
        hours = total / (share * peak) / 3600
        print(f"{name:5} on one {chip:8} {hours:6,.0f} hours = {hours / 24:5.1f} days, about {hours * price:6,.0f} dollars")

for name in ("base", "large"):
    sizes = BertConfig.preset(name)
    with torch.device("meta"):
        parameters = sum(p.numel() for p in BertForPreTraining(sizes).parameters())
    activations = 34 * sizes.num_hidden_layers * sizes.hidden_size * 256 * 128
    print(f"{name:5} {parameters / 1e6:.0f} M parameters: {16 * parameters / 1e9:.1f} GB; "
          f"activations of 256 texts of 128 tokens: {activations / 1e9:.0f} GB")  # fmt: skip

# %% [markdown]
# For comparison: in October 2018 Google's README named two weeks and about 500 dollars for Base on one Cloud TPU. In 2023
# MosaicBERT came to a good Base in 1.13 hours on 8 A100s, for about 20 dollars: fewer tokens, a better architecture, no
# padding (Portes et al. 2023).
#
# Base fits into a graphics card of 24 GB with room for a small batch only. What if the batch is too large? Cut it: several small batches, whose
# gradients add up before one step. That is **accumulation**, and it has a famous hole.
#
# ## Broken BERT: the same batch, another gradient
#
# PyTorch adds new gradients to those that are there, so accumulation seems to be four lines. It has been written like
# this in many places. A colleague uses it, and reports: "With four parts instead of one batch my losses are a little worse. Must be noise." Cutting a
# batch must not change anything but the memory, so we look at the gradient.

# %%
def summed_loss(model, part):  # the summed loss of the hidden words, and how many they are
    labels = part["labels"]
    logits = model(part["input_ids"], part.get("attention_mask"), part.get("token_type_ids")).prediction_logits
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")  # [B, T, V] and [B, T]
    return loss, int((labels != -100).sum())

def accumulate_broken(model, parts):
    model.zero_grad()
    for part in parts:
        loss, count = summed_loss(model, part)
        (loss / count / len(parts)).backward()

# %%
def relative_error(batch, number):
    """How far the gradient of `number` parts is from that of the whole batch."""
    gradients = []
    for parts in ([batch], list(cut_rows(batch, number))):
        accumulate_broken(mine, parts)
        gradients.append(torch.cat([p.grad.flatten() for p in mine.parameters() if p.grad is not None]))
    return ((gradients[1] - gradients[0]).norm() / gradients[0].norm()).item()

rows = [batches[i] for i in range(len(batches)) if batches[i]["input_ids"].size(1) == settings.max_length][:1]
equal = task.mask(rows[0], 0.15, seed=0)
print("labels in each of 4 parts:", [int((part["labels"] != -100).sum()) for part in cut_rows(equal, 4)])
print("all texts of about one length, gradient off by less than 5 %:", relative_error(equal, 4) < 0.05)

by_length = sorted(task.pairs.next_sentence_pairs(random.Random(0))[:2000], key=len)
mixed = task.mask(collate(task.train_text, by_length[:4] + by_length[-12:], task.tokenizer), 0.15, seed=0)
print("labels in each of 4 parts:", [int((part["labels"] != -100).sum()) for part in cut_rows(mixed, 4)])
print("short texts first, gradient off by more than 10 %:", relative_error(mixed, 4) > 0.1)

# %% [markdown]
# Where texts are of one length, the error hides. Where they are not, it is large, and no error message will ever come. Find
# the line. What does a word in a part with few labels weigh, compared with one in a part with many?
#
# ### Exercise 8.5 · Small batches that add up
# ●●●○ · 8 minutes
#
# Write `accumulate(model, parts)`: after it, every parameter's `.grad` is the gradient of the mean loss over *all* labels of
# all parts. Use `summed_loss`. A part may have no label at all, and gradients of a step before may still be there.

# %% tags=["exercise"]
def accumulate(model, parts):
    ### BEGIN SOLUTION
    model.zero_grad()
    count = sum(int((part["labels"] != -100).sum()) for part in parts)
    for part in parts:
        (summed_loss(model, part)[0] / count).backward()
    ### END SOLUTION
check("8.5", accumulate)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The mean of means is the mean only where all parts count alike. The loss of the whole batch is one sum divided by one count, so every part's
# sum has to be divided by the count of *all* parts, which must be known before the first backward pass. This is what the
# package's loop does, in `_step`: sums from the task, counts from the whole batch.
#
# </details>

# %% [markdown]
# The mean of means stood in `transformers`' `Trainer` until October 2024, when it was repaired after a report by Daniel Han (pull request 34191
# discusses it; issue 24725 had described it in July 2023), and in other trainers at the same time. It had been there for years,
# because the curves look fine.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Adam | Devlin et al. (2019, appendix A.2): rate 1e-4, β₁ 0.9, β₂ 0.999, decay 0.01, warm-up over 10,000 of 1,000,000 steps, then linear decay. This course: β₂ 0.98, which forgets faster, for short runs |
# | Optimizer | Adam in the paper and in Google's code. Here AdamW, and for the runs of `bertedu pretrain` Muon and AdamW (`--optimizer adamw` is the paper's) |
# | Bias correction | Google's `optimization.py` leaves it out. Jacob Devlin in issue 153 of google-research/bert: mostly an oversight that does not matter with warm-up. PyTorch corrects |
# | Decay | The paper says "L2 weight decay"; Google's code decouples it, and leaves out biases and LayerNorm by their names. Here: by the number of dimensions |
# | The peak | In Google's code the linear decay begins at step 0, under the warm-up: after 10,000 of a million steps the rate jumps down by 1 %. `transformers` and this course decay from the peak |
# | Clipping | Norm 1.0, in Google's code and here; the paper does not mention it |
# | Dropout | 0.1 in the paper, none here: a small model in a few minutes lacks practice, not restraint |
# | Masks | Google made ten masked copies of the text in advance (`dupe_factor`); RoBERTa (Liu et al. 2019) and this course mask anew in every step |
# | Lengths | Google: all texts of 128 tokens first, then of 512. Here: batches of one length, mixed |
# | Resuming | `transformers` saves optimizer, schedule and random state in several files, some of them pickled. Here: one safetensors file, and nothing random that is not computed from the step |
#
# ## Summary
#
# - A run first learns frequencies (the unigram loss), rests on a plateau, and leaves it when attention begins to match. Pairs come after words.
# - Warm-up, clipping and decay to zero each protect against one thing; AdamW decays all weights alike, and vectors not at all.
# - What a resumed run needs: weights, the optimizers' averages, the progress. What can be computed from the step need not be saved.
# - A curve tells the fault: training far below validation, a loss at the line, a loss above it, one task at chance.
# - No accuracy without a baseline.
# - Training costs about 6 operations for each weight and token, and 16 bytes for each weight.
# - Sums and counts add up. Means do not.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(8)

# %% [markdown]
# ## Interview questions
#
# **1. The loss of a masked language model has fallen from 10.3 to 6.7 in the first minutes and does not move any more. What do you look at?**
#
# <details><summary>Answer</summary>
#
# First the unigram loss of the text (for English and 30,000 tokens between 6 and 7): the model has learned frequencies and sits on the plateau, as
# every run does. Then whether it can leave it: does the prediction depend on the context at all (ask two different sentences)? Is
# the rate too high, the warm-up missing, are positions and attention mask wired up, are there enough steps? A small model on a
# small text that cannot be overfitted has a bug and not bad luck.
#
# </details>
#
# **2. Why does Adam want a warm-up, and why is weight decay decoupled in AdamW?**
#
# <details><summary>Answer</summary>
#
# In its first steps Adam's averages hold hardly anything, so every weight moves by about the whole rate in the direction of a sign, noise or not;
# in a post-norm Transformer gradients near the output are large at the start besides. A small rate lets the averages fill. Decay that is added to the
# gradient is divided by √v like the gradient: weights with large gradients hardly decay. Decoupled, all weights shrink by the same share.
#
# </details>
#
# **3. How many operations and how much memory does it take to train a model of N parameters?**
#
# <details><summary>Answer</summary>
#
# 6 · N operations for each token: 2 in the forward pass (multiply, add) and 4 in the backward pass; attention adds 12 · L · T · D. Memory: 16 bytes
# for each parameter in float32 with Adam, and activations in proportion to the tokens of a batch. Base with 43 billion tokens: about 2 · 10¹⁹
# operations, some hours on eight modern GPUs.
#
# </details>
#
# ## Next
#
# You have a BERT that has learned. What is in it now: where do its heads look, what do its layers know, and which of the
# pretty pictures may be believed? [09 · Looking inside](09_looking_inside.ipynb).
