# %% [markdown]
# # 08 · Pre-training
#
# You have text, tokens, a model, masks, pairs and two losses. You put them together, and train your own BERT while you
# watch.
#
# ## What you will be able to do
#
# - read BERT's training loop line by line, and say what each line is for
# - read a loss curve: what the plateau is, what ends it, and which fault made a bad curve
# - judge a masked-word accuracy by comparing it with baselines
# - kill a run and resume it without changing a single bit of the result
# - estimate what a pre-training run costs: operations, memory, hours and money
#
# **Time:** three sittings of about 50, 15 and 50 minutes, and 15 more for what is optional: the loop; the run, which trains
# while you wait; faults and costs ·
# **You need:** [07 · Next sentence prediction](07_next_sentence_prediction.ipynb) ·
# **Next:** [09 · Looking inside](09_looking_inside.ipynb)
#
# ## Recall
#
# 1. What does the label −100 mean, and where does it stand?
#
# <details><summary>Answer</summary>
#
# "There is no question here." It stands at every token that was not chosen for masking. The loss is a mean over the
# chosen tokens only.
#
# </details>
#
# 2. Of the chosen tokens, which share does the model not see as [MASK]? What does it see there?
#
# <details><summary>Answer</summary>
#
# 20 %. Half of these show a random token, the other half show the right token.
#
# </details>
#
# 3. A batch holds 16 pairs with 140 chosen tokens. Over what is each of the two losses a mean?
#
# <details><summary>Answer</summary>
#
# The masked-word loss is a mean over the 140 tokens. The next-sentence loss is a mean over the 16 pairs. They are
# added.
#
# </details>
#
# ## Where this part sits
#
# ![The map of BERT; below it, new: two losses give gradients, AdamW makes new weights of them, and these go back into the model, thousands of times.](pictures/08_where.svg)

# %% [markdown]
# ## Text, and a first try
#
# We train on the *small world*: 2 MB of sentences about countries, animals, elements and professions, generated from
# tables of facts. 700,000 parameters learn something from them in minutes on one processor core. On a GPU, text and
# model are larger. The first cell decides where to compute, how large the model is, and with which numbers: `auto`
# takes 16 bits for matrix products where the hardware is fast at that.

# %%
import math
import random
import tempfile
from pathlib import Path

import torch

from bertedu.training.devices import choose_device

where = choose_device("auto")  # cuda or mps where torch finds one, else cpu
device, preset, precision = torch.device(where), "mini" if where == "cuda" else "tiny", "auto"

# %% [markdown]
# `make_task` does what you did by hand in chapters 01, 06 and 07: it learns a vocabulary, turns all text into ids, and
# makes batches of pairs. One pass over the text is called an **epoch**.

# %%
from bertedu.corpora import load_corpus
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.pretraining.run import make_model, make_task
from bertedu.pretraining.settings import PretrainingSettings

sources, tokens, slack = "world", 1_500_000, 1
settings = PretrainingSettings(vocab_size=2048, batch_size=16, initialization="matching")
if preset == "mini":
    sources, tokens, slack = ["world", "documentation"], 40_000_000, math.inf
    settings = PretrainingSettings.for_preset(preset, initialization="matching")
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
corpus = load_corpus(sources)
task = make_task(corpus, settings)
batches = task.epoch(0)
print(f"{len(corpus.train):,} documents, {len(task.train_text.tokens):,} tokens")
print(f"one epoch: {len(batches)} batches of {settings.batch_size} pairs")

# %% [markdown]
# ![Documents become tokens, pairs and batches, with their counts. Below, one pair before and after masking: some tokens are hidden, and only the chosen ones have labels.](pictures/08_batches.svg)
#
# `task.prepare` masks a batch. Which tokens it hides is computed from the seed, the epoch and the batch: every epoch
# has new masks, and every repetition of the run the same ones. (The second argument, the step, changes nothing here.)
# Its last argument is the share of the run that is over: the masking rate falls from 40 % to 30 %.

# %%
shortest = min(batches, key=lambda batch: batch["input_ids"].size(1))
example_batch = task.prepare(shortest, 0, 0.0)
for name, tensor in example_batch.items():
    print(f"{name:20} {list(tensor.shape)}")
print("its first pair:", task.tokenizer.decode(shortest["input_ids"][0].tolist()))

# %% [markdown]
# For the first try we take a BERT with random weights, the simplest possible loop, and Adam with the learning rate of
# chapter 03, 0.01. Without knowledge the loss should be ln V for the words (chapter 06) and ln 2 for the pairs.
#
# Trained numbers differ a little from machine to machine. `about(expected, measured, within=…)` prints the measured one
# with ≈, and raises an error if it is farther from ours than `within`; on a GPU `slack` makes that infinite. (Where you
# guess, our number is replaced by its name.) The pictures show the run on a processor.

# %%
import numpy as np

from bertedu import BertConfig, BertForPreTraining
from bertedu.training.feeding import to_device

sizes = {"vocab_size": len(task.tokenizer), "max_position_embeddings": settings.max_length}
no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
config = BertConfig.preset(preset, **no_dropout, **sizes)
torch.manual_seed(0)
first_try = BertForPreTraining(config).to(device)
optimizer = torch.optim.Adam(first_try.parameters(), lr=0.01)

# %%
first_losses = []
for step in range(120):
    batch = to_device(task.prepare(batches[step], step, 0.0), device)  # [B, T] each
    loss = first_try(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first_losses.append(loss.item())
first, last = first_losses[0], np.mean(first_losses[-20:])
at_random = math.log(len(task.tokenizer)) + math.log(2)
print(f"ln V + ln 2               {at_random:.1f}")
print(f"first loss              {about(8.3, first, within=0.1 * slack):.1f}")
print(f"mean of the last 20     {about(6.1, last, within=0.2 * slack):.1f}")

# %% [markdown]
# The loss starts where it should, and it falls quickly. It works! Or does it?
#
# Let's ask it something. The world comes with questions. `answers` returns the most probable token at each [MASK].

# %%
probes = corpus.fact_probes[::2][:200]
questions = [probe.sentence for probe in probes]


@torch.no_grad()
def answers(model, questions):  # the most probable token at the [MASK] of each question
    encoding = task.tokenizer(questions)
    home = next(model.parameters()).device
    inputs = (encoding.input_ids, encoding.attention_mask, encoding.token_type_ids)  # [B, T]
    scores = model.eval()(*(x.to(home) for x in inputs)).prediction_logits.cpu()  # [B, T, V]
    best = scores[encoding.input_ids == task.tokenizer.mask_token_id].argmax(-1)  # [B]
    return [task.tokenizer.decode([i]) for i in best.tolist()]


print(*questions[::80], sep="\n")

# %% [markdown]
# Guess: how many *different* answers does the model give to the 200 questions?

# %% tags=["guess"]
print("different answers:", len(set(answers(first_try, questions))))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One answer to every question: the model doesn't use the sentence at all. It has learned how frequent each token is,
# and answers with a frequent one.
#
# </details>
#
# Is that all that it has learned? A **unigram model** knows frequencies and nothing else: its probability for a token
# is the token's share of the training text. Its loss is the **unigram loss**. Compare it with the masked-word part of
# the loss above (the pairs' part is still about ln 2).

# %%
from bertedu.pretraining.baselines import IGNORED, UnigramBaseline

unigram = UnigramBaseline.fit([task.train_text.tokens], len(task.tokenizer))
labels = torch.cat([batch["labels"][batch["labels"] != IGNORED] for batch in task.validation()])
unigram_loss = -np.log(unigram.probabilities[labels]).mean()  # mean cross-entropy of the labels
print(f"ln V               {math.log(len(task.tokenizer)):.1f}")
print(f"the unigram loss   {unigram_loss:.1f}")
print(f"the first try    {about(5.4, last - math.log(2), within=0.2 * slack):.1f}")

# %% [markdown]
# The loss of the first try is the unigram loss. One bias for each word is enough for that.
#
# A run that has only reached the unigram loss makes no use of the context yet, and it often stays there for a while, on
# a **plateau**. It ends when attention finds something useful in the other words.
#
# ## Batches of one length (optional)
#
# All sequences of a batch must have the same length, so shorter ones are filled up with [PAD], and a [PAD] costs as
# much time as a word. We cut 16 · 64 pairs into batches of 16, first in the order of the text, then sorted by length.
# Guess: how much of each is padding?

# %% tags=["guess"]
some_pairs = task.pairs.next_sentence_pairs(random.Random(0))[: 16 * 64]


def padding_in(pairs):  # the share of [PAD] in batches of 16
    lengths = [len(pair) + 3 for pair in pairs]  # [CLS] and twice [SEP]
    groups = [lengths[i : i + 16] for i in range(0, len(lengths), 16)]
    return 1 - sum(lengths) / sum(16 * max(group) for group in groups)


print(f"in order of the text {padding_in(some_pairs):.1%}")
print(f"sorted by length     {padding_in(sorted(some_pairs, key=len)):.1%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two batches of 16 pairs as lying bars, tokens grey and padding white. In the order of the text, a few long pairs make all others wait; sorted by length, hardly any padding is left.](pictures/08_padding.svg)
#
# One long pair makes a whole batch long. Sorting saves nearly all of the padding.
#
# </details>
#
# If we sorted everything, the model would see all the short texts first. The package sorts within *pools* of 64
# shuffled batches and shuffles the result: almost no padding, and still a random order.
#
# ## AdamW, from one gradient
#
# **Adam** (Kingma & Ba 2015) keeps two running averages for every single weight: m, the average of its gradient g,
# and v, the average of g². It moves the weight by m / √v. So the direction is the one in which the gradient has
# pointed steadily, and the length is measured in units of how large the gradient usually is. One step, with the
# learning rate η:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2 \qquad
# w \leftarrow w - \eta \left( \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda w \right)$$
#
# Both averages start at 0, so they are too small at first. The hats are the **bias correction**:
# $\hat m = m / (1 - \beta_1^t)$ and $\hat v = v / (1 - \beta_2^t)$ in step $t = 1, 2, \ldots$ The tiny ε prevents a
# division by 0. (We come to the last term, λw, in a moment.)
#
# ### Exercise 8.1 · Adam's first step
# ●○○○ · 4 minutes
#
# The learning rate η is 0.01, there is no decay (λ = 0), and β₁ = 0.9, β₂ = 0.98. How far does a weight move in the
# very first step if its gradient is 0.001? And how far if it is 1000? Leave out ε. Write a list of two numbers.
# (`check` examines your answer, and `hint("8.1")` gives a hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
moves = [0.01, 0.01]
### END SOLUTION
check("8.1", moves)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# After one step the corrected averages are g and g², so the weight moves by 0.01 · g / |g| = 0.01 in both cases.
# Adam's first step uses only the sign of the gradient: every weight of the model moves by the whole learning rate,
# whether its gradient is a clear signal or noise. This becomes important for the warm-up.
#
# </details>

# %% [markdown]
# Now two weights, three steps each: the gradients of the first are *steady*, those of the second have the same size,
# and their sign *flips*.


# %%
def adam_moves(gradients, rate=0.01):
    """For each step: g, corrected m, corrected v, and how far the weight moves."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g * g
        mean, square = m / (1 - 0.9**t), v / (1 - 0.98**t)
        yield g, mean, square, rate * mean / math.sqrt(square)


adam_paths = {"steady": list(adam_moves([2, 2, 2])), "flips": list(adam_moves([2, -2, 2]))}
for name, path in adam_paths.items():
    moves_by = "  ".join(f"{move:7.4f}" for *_, move in path)
    print(f"{name:6}  moves {moves_by}   together {sum(move for *_, move in path):.3f}")

# %% [markdown]
# ![Two tables of three steps. Steady gradients of 2: mean 2, square 4, each move 0.010. Flipping gradients: the square stays 4, the mean and the moves shrink.](pictures/08_adam.svg)
#
# The squares are equal. The means are not: what flips cancels.
#
# ### Weight decay
#
# The last term, λw, is **weight decay**: it pulls every weight a little towards zero, so that no weight stays large
# without gradients that ask for it. The classical way is to add λw to the *gradient*; this is **L2 regularization**.
# But then Adam divides it by √v like everything else.
#
# What does that do? Two weights start at 1.0. Their gradients are pure noise, small for one weight and large for the
# other. Guess: after 300 steps with η = 0.01 and λ = 0.1, how much is left of each, first with the decay in the
# gradient, then with the decay added after the division, as in the formula above?


# %%
def after_decay(scale, decoupled):
    """A weight that starts at 1.0, after 300 steps on noise of this scale."""
    generator = torch.Generator().manual_seed(0)
    weight, m, v = 1.0, 0.0, 0.0
    for t in range(1, 301):
        g = scale * torch.randn((), generator=generator, dtype=torch.double).item()
        g += 0 if decoupled else 0.1 * weight
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g * g
        move = m / (1 - 0.9**t) / (math.sqrt(v / (1 - 0.98**t)) + 1e-6)
        weight -= 0.01 * (move + (0.1 * weight if decoupled else 0))
    return weight


# %% tags=["guess"]
for decoupled, name in ((False, "decay in the gradient"), (True, "decoupled decay    ")):
    left = (f"  noise {scale}: {after_decay(scale, decoupled):5.2f}" for scale in (0.01, 10))
    print(name, *left)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Four bars: what is left of a weight of 1.0. With the decay in the gradient, 0.00 under small noise and 0.93 under large noise. With decoupled decay 0.69 under both.](pictures/08_decay.svg)
#
# With the decay in the gradient, what is left depends on the scale of the gradients: the weight with the large ones
# hardly decays. With decoupled decay both end at 0.69. (Without any noise it would be 0.999³⁰⁰ = 0.74.)
#
# </details>
#
# **Decoupled** decay treats both weights alike. This is the W in **AdamW** (Loshchilov & Hutter 2019).
#
# ### Exercise 8.2 · AdamW in five lines
# ●●○○ · 12 minutes
#
# Write one step of AdamW for tensors: `adamw_step(weight, gradient, mean, square, step, rate)`. Here `mean` and
# `square` are m and v, `rate` is η, and β₁ = 0.9, β₂ = 0.98, ε = 1e-6, λ = 0.01. `step` counts from 1. Return the
# new weight, mean and square. Don't change the old ones, and don't use `torch.optim` or torch's functions `adam` and
# `adamw`.


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
# First the averages, then their corrections (which are used, but not kept), then the weight. The decay is added
# *after* the division, and the learning rate multiplies it like everything else. Shapes don't matter: all of it is
# computed entry by entry. That is why Adam needs two more numbers for every weight.
#
# </details>

# %% [markdown]
# ## Four protections
#
# BERT's recipe adds four things to the plain loop.
#
# **No decay for vectors.** The scale of a LayerNorm belongs near 1, and a bias has no reason to be near 0. So neither
# should decay. Both are vectors, and all weights that should decay are matrices.

# %%
from torch import nn


def parameter_groups(model, decay=0.01):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    return [
        {"params": matrices, "weight_decay": decay},
        {"params": vectors, "weight_decay": 0.0},
    ]


for group in parameter_groups(first_try):
    print(f"decay {group['weight_decay']}: {sum(p.numel() for p in group['params']):,} numbers")

# %% [markdown]
# **Warm-up.** At first Adam's averages are based on very few gradients, and every weight moves by about the whole
# learning rate (exercise 8.1). So the learning rate starts at 0 and rises to its **peak**: in BERT during the first 1 %
# of the steps, in our short run during 6 %.
#
# **Linear decay of the learning rate.** Towards the end the weights should settle, so it falls back to 0. Take a
# pencil: what share of the peak is it after 3 % and after 53 % of the run?


# %%
def rate_factor(share, warmup=0.06):  # share: how much of the run is over
    return share / warmup if share < warmup else (1 - share) / (1 - warmup)


# %% tags=["guess"]
for share in (0, 0.03, 0.06, 0.53, 1):
    print(f"{share:.2f} of the run: {rate_factor(share):.2f} of the peak")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The learning rate over the run: from 0 straight up to the peak at 6 %, then straight down to 0 at the end. Two dots at half the peak: at 3 % and at 53 %.](pictures/08_schedule.svg)
#
# 3 % is half of the warm-up, and 53 % lies in the middle between 6 % and 100 %. So both are half of the peak.
#
# </details>
#
# ### Touch it
#
# Adam moves two weights, and every gradient is partly noise. The first weight has a long way to go. The second is at
# its best value already, in a steep valley. At first the learning rate is the same in all steps. Guess: what happens to
# the loss in the first steps? Which of warm-up and the fall to 0 repairs the beginning, which the end?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

valley = {"start": [3, 0], "curvature": [1, 300], "betas": [0.9, 0.98], "epsilon": 1e-6}
explorable("learning_rate", **valley, peak=0.2, steps=200)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three curves of the loss over 200 steps. With a constant learning rate it rises to twice its start at first, and at the end it stays high. With warm-up it never rises. With warm-up and the fall to 0 it also ends far lower.](pictures/08_descent.svg)
#
# The loss doubles: Adam's first step moves the second weight too, by the whole learning rate (exercise 8.1). Warm-up
# repairs that, and nothing else. At the end a constant learning rate keeps both weights jumping around their best
# values. The fall to 0 lets them settle.
#
# </details>
#
# **Gradient clipping.** Once in a while a batch gives a huge gradient. We take the gradients of *all* weights as one
# long vector. If its norm is over 1, we divide the whole vector by its norm. The direction stays the same.
#
# A pencil again: two weights have the gradients 3 and 4. What is the norm, and what are they after clipping?

# %% tags=["guess"]
weights = [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))]
weights[0].grad, weights[1].grad = torch.tensor([3.0]), torch.tensor([4.0])
norm = nn.utils.clip_grad_norm_(weights, max_norm=1.0)
print(f"norm {norm:.0f}, clipped to {weights[0].grad.item():.1f}, {weights[1].grad.item():.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A plane with the two gradients as axes. From the origin a line to the point (3, 4), five long; on the same line, where it meets the circle of radius 1, the clipped point (0.6, 0.8).](pictures/08_clipping.svg)
#
# √(3² + 4²) = 5, and both are divided by 5.
#
# </details>
#
# ## One step, watched
#
# We follow a single weight of the first layer through a whole step with AdamW.

# %%
watched = make_model(task).to(device)
weight = watched.bert.encoder.layers[0].attention.query.weight
optimizer = torch.optim.AdamW(parameter_groups(watched), lr=1.5e-3, betas=(0.9, 0.98), eps=1e-6)
seen = {"before": weight[0, 0].item()}
step_loss = watched(**to_device(example_batch, device)).loss
step_loss.backward()
seen["gradient"] = weight.grad[0, 0].item()
step_norm = nn.utils.clip_grad_norm_(watched.parameters(), 1.0).item()
seen["clipped"] = weight.grad[0, 0].item()
optimizer.step()
seen["after"] = weight[0, 0].item()
optimizer.zero_grad()
print(f"loss {step_loss:.2f}, norm of all gradients {step_norm:.2f}")
for name, number in seen.items():
    print(f"{name:9}{number:9.5f}")

# %% [markdown]
# ![A training step as a strip: forward, backward, clip, step, zero_grad, with the numbers of one weight. Its gradient is tiny, and it moves by nearly the learning rate.](pictures/08_step.svg)
#
# The gradient is tiny, and the weight still moves by nearly the learning rate, 0.0015: it is Adam's first step.
#
# ## The whole loop
#
# We clip *after* `backward` and *before* `step`, and clear the gradients, because PyTorch adds new ones to the old
# ones.


# %%
def my_training(model, task, steps, peak, warmup=0.06):
    groups = parameter_groups(model.to(device).train())
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-6)
    batches = task.epoch(0)  # steps: at most len(batches)
    for step in range(steps):
        share = step / steps
        batch = to_device(task.prepare(batches[step], step, share), device)
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
# The package's loop, `bertedu/training/loop.py`, adds what a long run needs: a log, validation, checkpoints, several
# processes. After eight steps of both the weights must be the same, up to rounding.

# %% tags=["nbval-ignore-output"]
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

my_model = my_training(make_model(task), task, steps=8, peak=1.5e-3)
theirs = make_model(task)
exact = TrainingSettings(learning_rate=1.5e-3, device=device.type, precision="fp32")
_ = Trainer(theirs, task, exact, Budget(steps=8), folder / "eight").run()

# %%
untrained = make_model(task).to(device)


def largest_difference(one, other):
    both = zip(one.parameters(), other.parameters(), strict=True)
    return max((a - b).abs().max().item() for a, b in both)


moved = about(0.0056, largest_difference(my_model, untrained), within=0.002 * slack)
print(f"before and after the eight steps {moved:.4f}")
print(f"this loop against the package's {largest_difference(my_model, theirs):.4f}")

# %% [markdown]
# Now this loop's learning rates against the schedule of `transformers`, which counts steps where ours counts shares:

# %%
import transformers

dummy = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
schedule = transformers.get_linear_schedule_with_warmup(dummy, 60, 1000).lr_lambdas[0]
difference = max(abs(schedule(step) - rate_factor(step / 1000)) for step in range(1001))
print(f"largest difference in 1001 steps: {difference:.4f}")

# %% [markdown]
# **Here the first sitting ends.** You have a loop that gives the same weights as the package's, and you can say what
# each of its lines is for. (When you come back, run all cells above first.)

# %% [markdown]
# ## The run
#
# With the paper's recipe a short run would spend most of its time on the plateau. So our weights start differently. In
# Google's code all matrices start as noise with standard deviation 0.02 (the paper doesn't say). With `make_model` the
# model can *match* tokens from the first step (`bertedu/pretraining/initialization.py`):
#
# - In the first layer the key weights equal the query weights: a token attends to what is similar to it, itself first.
# - The position embeddings are sine waves, with 1.4 times the norm of the token embeddings: so neighbors are similar.
# - Linear layers have the standard deviation 1/√(number of inputs): more of the input gets through.
# - The decoder's bias is the logarithm of the token frequencies.

# %%
torch.manual_seed(0)
published = BertForPreTraining(config).to(device)
encoding = task.tokenizer([questions[0]])
start_tokens, first_layer = encoding.tokens[0], {}
for name, one in (("published", published), ("matching", untrained)):
    with torch.no_grad():
        found = one.bert(encoding.input_ids.to(device), output_attentions=True)
    heads_mean = found.attentions[0][0].mean(dim=0).cpu()  # [H, T, T] -> [T, T]
    near = sum(heads_mean.diagonal(i).sum() for i in (-1, 0, 1)) / len(start_tokens)
    first_layer[name] = heads_mean
    print(f"{name:9}  on the token itself and its neighbors: {near:.0%}")

# %% [markdown]
# ![Attention weights of the first layer before training. As published, all cells are equally pale; with matching, most weight lies on the diagonal and beside it.](pictures/08_start.svg)
#
# 28 % is what equal attention to all ten tokens gives. Of the 68 %, two thirds are on the token itself.
#
# With the decoder's bias the model doesn't have to learn the frequencies. Guess: what is the masked-word loss on the
# validation text before any training, with each initialization?

# %% tags=["guess"]
for name, one in {"published": published, "matching": untrained}.items():
    measured = task.validate(one, device)["mlm_loss"]
    told = about(f"masked-word loss at the start, {name}", measured, within=0.05 * slack)
    print(f"{name:9}  loss {told:.2f}")
print(f"unigram loss      {unigram_loss:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# BERT's own initialization starts at ln V. Ours starts near the unigram loss, and that is a gift, not an achievement.
#
# </details>
#
# Besides the sizes, our run differs from the paper in:
#
# | | paper | this run | why |
# |---|---|---|---|
# | initialization | noise | matching | a shorter plateau |
# | masking rate | 15 % | 40 %, falling to 30 % | more questions for each token |
# | optimizer | Adam | Muon (below) for the encoder's matrices, AdamW for the rest | in our trials, the same loss after fewer tokens |
# | peak learning rate | 1e-4 | on a CPU 1.5e-3, six times that for embeddings | the model is small, and the run is short |
# | dropout | 0.1 | 0 | a short run doesn't overfit |
#
# <details><summary>Smaller differences, and: is 40 % a better masking rate?</summary>
#
# The warm-up takes 6 % of the steps instead of 1 %, which would be 20 steps. β₂ is 0.98 instead of 0.999: an average
# over about 50 steps instead of 1000.
#
# Wettig et al. (2023) found 40 % better than 15 %, but for models of BERT-Large's size, judged after fine-tuning. They
# also found that larger models should use higher masking rates than smaller ones, so their result doesn't justify our
# choice. It comes from our own trials with short runs.
#
# </details>
#
# ### Go
#
# On a processor core this takes one to five minutes; a GPU reads 40 million tokens instead of 1.5. The stop button (■,
# or Ctrl-C) ends the run after the current step and saves it. To go on, make the same `Trainer` again and call
# `trainer.run(resume=True)`.

# %% tags=["nbval-ignore-output"]
model = make_model(task)
peak = 1.5e-3 if preset == "tiny" else 5e-4
how = TrainingSettings(
    peak, optimizer="muon", log_steps=20, device=device.type, precision=precision
)
trainer = Trainer(model, task, how, Budget(tokens=tokens), folder / "run")
progress = trainer.run()
print(f"{progress.tokens:,} tokens in {progress.step:,} steps, precision {trainer.precision}")

# %% [markdown]
# <details><summary>Why 1.5 million tokens in less than two epochs of 474,134?</summary>
#
# One epoch reads about 760,000: each pair has three special tokens, and most pairs get a random second segment.
#
# </details>
#
# Now both models answer questions: on the left the first try, on the right the model that you have just trained.

# %% tags=["nbval-ignore-output"]
given, given_before = answers(model, questions), answers(first_try, questions)
for probe, old, new in list(zip(probes, given_before, given))[::12]:
    comment = "" if new == probe.answer else f"   (right: {probe.answer})"
    print(f"{probe.sentence:76} {old:>5} | {new}{comment}")
right = sum(answer == probe.answer for answer, probe in zip(given, probes))
print(f"right: {about(50, right, within=25 * slack):.0f} of {len(questions)},", end="")
print(f" different answers: {about(103, len(set(given)), within=40 * slack):.0f}")

# %% [markdown]
# Many answers are wrong, but read *how*. Often they are words of the right kind: a currency for a
# currency, a language for a language. Nobody told the model what a currency is. (The questions use phrasings that the
# training text never uses. After six times as many tokens, with a larger vocabulary, the model in
# `data/checkpoints/world-tiny` answers 98 % of all 420.)
#
# ### What a run leaves behind

# %%
run_files = {
    str(path.relative_to(folder / "run")): path.stat().st_size
    for path in sorted((folder / "run").rglob("*"))
    if path.is_file() and not path.name.startswith(".") and "tensorboard" not in str(path)
}
for name, size in run_files.items():  # beside them, for `tensorboard --logdir`: tensorboard/
    print(f"{name:34} {size / 1e6:.2f} MB")

# %% [markdown]
# ![The files of a run and their uses: metrics.jsonl for the curves, resume.safetensors to go on, checkpoint for from_pretrained, checkpoint-best with the best validation loss.](pictures/08_folder.svg)
#
# ### Muon, bf16 and more gifts (optional)
#
# **Muon** (Jordan et al. 2024) treats a matrix as a whole: it makes all **singular values** of the averaged gradient
# (the factors by which a matrix stretches its main directions) about equal to 1. So a direction that only a few
# examples ask for, such as one fact, counts as much as one that all ask for.

# %%
from bertedu.training.muon import orthogonalize

query = untrained.bert.encoder.layers[0].attention.query.weight
(gradient,) = torch.autograd.grad(untrained(**to_device(example_batch, device)).loss, query)
stretches = {
    "gradient": torch.linalg.svdvals((gradient / gradient.norm()).cpu()),
    "Muon": torch.linalg.svdvals(orthogonalize(gradient).cpu()),
}
for name, values in stretches.items():
    print(f"{name:9} largest {values[0]:.2f}, the 20th {values[19]:.2f}")

# %% [markdown]
# ![The 20 largest singular values of a gradient as columns: before, the first is large and the others fall quickly; after Muon all are about 1.](pictures/08_muon.svg)
#
# <details><summary>Muon beside AdamW</summary>
#
# Embeddings, heads, biases and LayerNorm stay with AdamW. Muon's steps are scaled to the size of AdamW's (Liu et al.
# 2025), so both use one learning rate. Embeddings get six times of it: they learn only from the few batches in which
# their word occurs.
#
# </details>
#
# <details><summary>bf16 and fp16: numbers of 16 bits</summary>
#
# Where the hardware can multiply **bf16** numbers (recent GPUs, some processors), the run uses them for matrix
# products. A bf16 number has 16 bits: the range of a 32-bit number (float32), but only two to three decimal digits,
# so that 1 + 1/512 is rounded to 1. This is too coarse to add small steps to a weight. So weights, averages and
# losses stay in float32. The other 16-bit format, fp16, has more digits and a smaller range. Small gradients would
# become 0, so the loss has to be scaled up first. Older GPUs, such as the T4, have units for fp16 only.
#
# </details>
#
# <details><summary>More gifts: what `bertedu pretrain` gives a small BERT</summary>
#
# Its initialization is `neighbors` (`bertedu/pretraining/neighbors_start.py`). The best hints at a masked token are
# the tokens beside it, so:
#
# - **Two heads of layer 1 attend to the neighbors.** A sine and a cosine wave put each position on a circle, and moving
#   one position further is a rotation. The queries of the first head are rotated back by one position, those of the
#   second head forward, and the keys are not rotated. So a query is most similar to the key of its neighbor.
# - **The token embeddings are initialized with count-based word vectors**, computed from the training text before any
#   step: tokens that stand between the same neighbors get similar vectors
#   ([chapter 14](14_what_came_before.ipynb) builds such vectors). 30 % of each squared length is noise, so that similar
#   tokens stay apart.
#
# All of these weights are trained like any others. From 5 million tokens of documentation, three runs with
# `matching` predicted 34 % of the masked tokens and 62 % of the pairs right on average, and three runs with
# `neighbors` 36 % and 75 %. (With `neighbors` the loss of the pairs counts half, because the pairs are learned early.
# `benchmarks/README.md` has the trials.)
#
# </details>
#
# ## Reading the curve
#
# Blue is your run. Grey is a recorded one of the tiny model with BERT's own initialization and AdamW, shorter (900,000
# tokens), its masking rate falling from 30 % to 15 %.
#
# When is a plateau over? Copying alone saves about 0.4, since one in ten of the chosen tokens is visible. So we say
# that a run *leaves the plateau* where its smoothed loss (the mean over five lines of `metrics.jsonl`) is more than 0.5
# below the unigram loss.

# %% tags=["hide-input"]
from bertedu.files import read_json
from bertedu.pretraining.scoring import pad_together
from bertedu.training.metrics import read_metrics

shown = pad_together(task.validation(), "input_ids", 0)  # [B, T]
wanted = pad_together(task.validation(), "labels", IGNORED)
copying = unigram.evaluate(shown, wanted, task.tokenizer.mask_token_id)["perplexity"]
print(f"unigram loss {unigram_loss:.1f}, with copying {math.log(copying):.1f}")

lines = [line for line in read_metrics(folder / "run") if "mlm_loss" in line]
yours = {key: [line[key] for line in lines] for key in ("step", "mlm_loss", "nsp_accuracy")}
recorded = read_json(data_path("runs/sick_runs.json"))
healthy, recorded_line = recorded["runs"]["healthy"], recorded["unigram_loss"]


# %% tags=["hide-input"]
def smooth(values, width=5):
    return np.convolve(values, np.ones(width) / width, mode="valid")  # running mean


def leaves(run, line):  # the step at which the run leaves the plateau, or None
    below = smooth(run["mlm_loss"]) < line - 0.5
    return run["step"][4 + int(below.argmax())] if below.any() else None


left_at = about(260, leaves(yours, unigram_loss), within=200 * slack)
print(f"your run leaves the plateau at step {left_at:.0f}, at loss {unigram_loss - 0.5:.1f}")
recorded_step = leaves(healthy, recorded_line)
print(f"the recorded run at step {recorded_step}, at loss {recorded_line - 0.5:.1f}")

# %% [markdown]
# The next cell draws the loss of words, and the accuracy on pairs with a line at 61 %, the share of the more frequent answer.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

figure = new_figure(7.4, 3)
panels = figure.subplots(1, 2)
names = {"mlm_loss": "masked words: loss", "nsp_accuracy": "sentence pairs: accuracy"}
for axes, (key, title) in zip(panels, names.items()):
    for run, color, label in ((healthy, GREY, "recorded"), (yours, BLUE, "yours")):
        axes.plot(run["step"][4:], smooth(run[key]), color=color, label=label)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel("optimizer steps")
    quiet(axes)
heights = {"unigram loss": (0, unigram_loss), "end of the plateau": (0, unigram_loss - 0.5)}
for name, (side, height) in {**heights, "always the same answer": (1, 0.61)}.items():
    panels[side].axhline(height, color=ORANGE, linestyle=":")
    place = {"color": ORANGE, "ha": "right", "va": "bottom", "fontsize": 8}
    panels[side].text(yours["step"][-1], height, name, **place)
panels[0].plot(recorded_step, recorded_line - 0.5, "o", color=GREY)
panels[0].plot(left_at, unigram_loss - 0.5, "o", color=BLUE)
panels[0].legend(frameon=False, fontsize=8, loc="lower left")
alt = (
    "Two panels over the optimizer steps. Masked-word loss: the grey recorded run falls from "
    "6 to the unigram loss, then slowly on, and at step 640 is 0.5 below it. Your run starts "
    "near the unigram loss and soon falls far below. Accuracy on pairs: near 61 % in both runs "
    "for some hundred steps, then it rises."
)
Picture(figure, alt=alt)

# %% [markdown]
# Read the curves from left to right.
#
# 1. **The fall to the line** (grey only). The frequencies are learned.
# 2. **The plateau**, between the two lines: grey from step 200 to 640. It is a slope here, because copying is learned
#    meanwhile. (Flat ones come below.) Blue, with its gifts, is soon through it.
# 3. **The descent**, from the dot on. Attention has found something useful in the other words. Grey falls no faster than
#    before: the height tells where a run is, the slope doesn't.
# 4. **Pairs follow words.** In both runs the loss of words falls for more than 200 steps before pairs rise for good.
#
# The runs differ in several ways, so the picture can't tell how much each of them helps.
#
# ![A scale of losses with marks: ln V 7.6, unigram 5.4, with copying 5.0, end of the plateau 4.9, and far below the end of this run.](pictures/08_ladder.svg)
#
# ## What is it worth?
#
# Never report a score without the baseline that a simple method reaches. `Evaluation` scores the model on unseen
# documents, next to baselines that learn from the same training text:
#
# - **most frequent token** gives one and the same answer to every question
# - **unigram** does the same at [MASK], and copies the token where another one stands
# - **n-gram** counts which word stood most often between the two neighbors (chapter 06)
# - **word overlap** decides about pairs by the words that both segments have (chapter 07)
#
# The accuracy on pairs is **balanced**: the mean of the accuracies on both kinds of pairs, so guessing gives 50 %.

# %%
from dataclasses import replace

from bertedu.pretraining.evaluation import Evaluation

held_out, documents = next(iter(corpus.heldout.items()))
evaluation = Evaluation(
    task, replace(corpus, heldout={held_out: documents[:150]}, sense_heldout=[])
)
formats = {"mlm_accuracy": ".1%", "perplexity": ".1f", "nsp_accuracy": ".1%"}


def show(name, row):
    cells = (f"{row[k]:>12{f}}" if k in row else " " * 12 for k, f in formats.items())
    print(f"{name:19}", *cells)


# %% [markdown]
# Guess: will your model beat the n-gram model? And word overlap, by how much?

# %% tags=["guess"]
print(" " * 19, " words right   perplexity  pairs right")
models = {"untrained": untrained, "your BERT": model}
rows = {name: evaluation(one)[held_out] for name, one in models.items()}
allowed = {"untrained": (0.02, 30, 0.03), "your BERT": (0.1, 2.5, 0.1)}
for name, row in rows.items():
    within = dict(zip(formats, allowed[name]))
    show(name, {k: about(f"08 {name}: {k}", row[k], within=within[k] * slack) for k in formats})
for name, row in rows["your BERT"]["baselines"].items():
    show(name, row)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# On a processor your model is above the n-gram model in accuracy, and its perplexity is less than half as large.
# (Perplexity also counts how sure a model is: being sure and wrong costs most.) The n-gram model is a strong opponent
# here, since the sentences come from templates. On pairs your model is only about eight points better than word
# overlap.
#
# Your model does better here than at the end of its curve: only 15 % of the tokens are hidden, not 30 %.
#
# The constant answer is right for about one word in nine. The unigram baseline is eight points better, only because it
# copies the visible tokens.
#
# </details>
#
# Does the accuracy say that your model knows the facts? No: many words of a sentence can be predicted from its pattern.
#
# ## Kill it (optional)
#
# Real runs take days, and machines fail. Guess: what is in the file from which a run is resumed? The cell counts the
# tensors in it by the first part of their names, and prints how far the run is.

# %% tags=["guess"]
import json
from collections import Counter

from safetensors import safe_open

with safe_open(folder / "run" / "resume.safetensors", framework="pt") as file:
    names = file.keys()
    done = json.loads(file.metadata()["run"])["progress"]
print(dict(Counter(name.split(".")[0] for name in names)))
print("progress:", {key: done[key] for key in ("step", "tokens", "epoch", "batch")})

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two columns. What is saved: weights, the optimizer's averages, the progress. What is computed from the progress and the seed: learning rate, masks, dropout, the next batch.](pictures/08_resume.svg)
#
# `model` are the weights. For each tensor that AdamW trains there are its two averages (`exp_avg`, `exp_avg_sq`)
# and a step count. For each matrix that Muon trains (twelve in the tiny model) there is one, the momentum.
# `recent` holds the sums for the next line of the log. The *progress* says how far the run is, and at which batch of
# which epoch.
#
# What is missing? The learning rate: it is computed from the progress. The masks: they are computed from the seed,
# the epoch and the batch. Dropout: it is computed from the seed and the step.
#
# </details>
#
# The stop button is polite. Now the hard way: another process trains on a small text and saves after every step. When
# its log has three lines (steps 10 and 20, and a validation), we send it `SIGKILL`, the signal that no program can
# catch. (On Windows the exit code is 1 instead of −9.)

# %%
text = folder / "text.txt"
text.write_text("\n\n".join("\n".join(document.sentences) for document in corpus.train[:120]))
options = {"corpus": (str(text),), "steps": 120, "vocab_size": 500}
options |= {"device": "cpu", "precision": "fp32"}
often = {**options, "output": str(folder / "killed"), "save_seconds": 0.0, "log_steps": 10}
program = f"""
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
pretrain(Plan.from_options(**{often!r}))
"""

# %%
import subprocess
import sys
import time

nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
process = subprocess.Popen([sys.executable, "-c", program], **nowhere)
while process.poll() is None and len(read_metrics(folder / "killed")) < 3:
    time.sleep(0.02)
process.kill()
print("exit code", process.wait())
with safe_open(folder / "killed" / "resume.safetensors", framework="pt") as file:
    saved = json.loads(file.metadata()["run"])["progress"]
print(f"last saved at step {about(60, saved['step'], within=59):.0f} of 120")

# %% [markdown]
# We resume it, run the same training once more without interruption, and compare. That takes about a minute.

# %% tags=["nbval-ignore-output"]
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain

silently = {"say": lambda line: None}
resumed = pretrain(Plan.from_options(resume=folder / "killed"), **silently)
whole = pretrain(Plan.from_options(**options, output=folder / "whole"), **silently)

# %%
from safetensors.torch import load_file

paths = (folder / name / "checkpoint" / "model.safetensors" for name in ("killed", "whole"))
killed, undisturbed = map(load_file, paths)
unequal = sum((killed[name] != undisturbed[name]).sum().item() for name in undisturbed)
count = sum(tensor.numel() for tensor in undisturbed.values())
print(f"weights that differ: {unequal} of {count:,}")

# %% [markdown]
# Not one weight differs, not even in the last bit. Without the averages, Adam would start again with steps of full
# size. Without the progress, the warm-up would come once more.

# %% [markdown]
# ## Five patients
#
# **Here the second sitting ends and the third begins.**
#
# Below are five recorded runs with one main
# fault each (one of them has a higher peak as well), and the healthy grey run from above: the same model, text, seed
# and initialization. Training is blue. Validation is orange, always with correct labels and masks. The dotted lines
# are the unigram loss and 61 %, the more frequent answer to all pairs.
#
# The second cell prints the mean training loss of the first 20 steps; at the end, training loss, validation loss, and
# validation accuracy on words and pairs; the step at which the run leaves the plateau, by its training loss; and two
# learning rates.

# %% tags=["hide-input"]
from bertedu.visualization.picture import GREEN, INK

FREQUENT_ANSWER = 0.614  # the share of NotNext in the validation pairs of these runs
figure = new_figure(8.4, 4.2)
grid = figure.subplots(2, 6, sharex=True, sharey="row")
for column, (letter, run) in enumerate(recorded["runs"].items()):
    for i, name in enumerate(("mlm_loss", "nsp_accuracy")):
        axes = grid[i, column]
        axes.plot(run["step"], run[name], color=BLUE, linewidth=1)
        axes.plot(
            run["validation_step"], run[f"validation_{name}"], color=ORANGE, linewidth=1.4
        )
        axes.axhline((recorded_line, FREQUENT_ANSWER)[i], color=INK, linestyle=":", linewidth=1)
        axes.set_ylim((0.3, 1) if i else (0, 9))
        quiet(axes)
    grid[0, column].set_title(letter, fontsize=10, color=GREEN if column == 0 else INK)
figure.supxlabel("optimizer steps", fontsize=8)
grid[0, 0].set_ylabel("masked words: loss", fontsize=8)
grid[1, 0].set_ylabel("pairs: accuracy", fontsize=8)
told = "; ".join(
    f"{letter}: training loss from {run['mlm_loss'][0]:.1f} to {run['mlm_loss'][-1]:.1f}, "
    f"validation loss at the end {run['validation_mlm_loss'][-1]:.1f}, "
    f"pairs {run['validation_nsp_accuracy'][-1]:.0%}"
    for letter, run in recorded["runs"].items()
)
Picture(figure, alt=f"Six runs, masked-word loss above, pair accuracy below. {told}.")

# %%
print("         training loss    validation          leaves   learning rate")
print("run      first    last    loss words pairs   plateau  highest  step 20")
for letter, run in recorded["runs"].items():
    loss, of_words = run["mlm_loss"], run["validation_mlm_accuracy"][-1]
    ends = f"{loss[0]:5.2f}   {loss[-1]:5.2f}   {run['validation_mlm_loss'][-1]:5.2f}"
    ends += f"  {of_words:4.0%}  {run['validation_nsp_accuracy'][-1]:4.0%}"
    rates = f"{max(run['learning_rate']):7.4f}  {run['learning_rate'][0]:7.4f}"
    print(f"{letter:8} {ends}   {leaves(run, recorded_line) or 'never':>7}  {rates}")

# %% [markdown]
# ### Exercise 8.3 · Five patients
# ●●○○ · 10 minutes
#
# Which run has which fault? Write a dictionary from letter to fault. The faults are:
#
# - `"labels at every token"`: the training labels are not −100 where no token was chosen
# - `"learning rate too high"`
# - `"shuffled pair labels"`: the training labels of the pairs are shuffled among the pairs
# - `"no warm-up"`
# - `"frozen output layer"`: the masked-word head is never updated

# %% tags=["exercise"]
### BEGIN SOLUTION
diagnosis = {"A": "labels at every token", "B": "learning rate too high"}
diagnosis |= {"C": "shuffled pair labels", "D": "no warm-up", "E": "frozen output layer"}
### END SOLUTION
check("8.3", diagnosis)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# **A** has labels at every token. Most of the answers are visible in the input, so the training loss falls to 0.73.
# In validation only the chosen tokens have labels, and there the loss is 4.67, about as in the healthy run. (It
# "leaves the plateau" at step 100 only because it copies.) *Training loss far below validation loss, early in the
# run: the input gives the answers away.*
#
# **C** learns words at least as well as the healthy run (validation loss 4.39 against 4.59; with one run each, that
# may be chance). But on pairs it gives the more frequent answer to all of them, from the beginning to the end. *One
# task healthy, one at the level of the most frequent answer: check the labels of that task.*
#
# **E** can't get down to the unigram loss, although a bias for each word would be enough for that. Look at its
# accuracy on words: 26 %, even a little more than the healthy run's 23 %. So the rest of the model has learned
# which word fits. But the frozen layer can't give it a high probability, so the loss stays near 7. *Loss far above
# the line for good, accuracy fine: the output layer doesn't learn.*
#
# **B** and **D** reach the line quickly and then stay there. **B** has by far the highest learning rate, 0.03. On
# pairs it jumps between "yes" for all (39 %) and "no" for all (61 %) as long as the learning rate is high. **D**
# starts at its highest learning rate (0.0029 at step 20), so there was no warm-up. (This peak is also twice the
# healthy one. So to be sure, you would train once more with this peak and with warm-up.) *Loss at the line for
# good: check the learning rate, and the first steps.*
#
# </details>

# %% [markdown]
# ## What the real one costs
#
# BERT-Base has 110 million parameters, and it read far more text than your model. How much more work is that? We count
# operations for each token of text.
#
# ![One weight: forward one product, x times w; backward two, one for the layer below and one for w. Each is multiplied and added: 2 + 4 = 6 operations.](pictures/08_six.svg)
#
# That makes **6 operations for each weight and token**, or 6·N for N weights. Attention comes on top: each query is
# multiplied with T keys, and T values are mixed.
#
# ### Exercise 8.4 · The price of a token
# ●●●○ · 12 minutes
#
# Write `flops_per_token(config, length)`: the operations for training on one token of a sequence with `length`
# tokens (FLOPs are floating-point operations). Count the six matrices of each layer, the two products of attention
# (over all heads together D wide), and the masked-word head (D to D, then D to V), which works for 15 % of the
# tokens. Leave out embeddings, biases, LayerNorm, softmax and the pooler.


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
# A token's vector meets four D × D matrices in attention and two of D × inner in the feed-forward network. Its
# query is multiplied with T keys of length d in each of H heads, T · D multiplications together, and the weighted
# sum of the values costs as much again. Times 2, because each multiplication comes with an addition. Times 3,
# because the backward pass costs twice as much as the forward pass.
#
# </details>

# %% [markdown]
# The package's `training_flops`, which checks exercise 8.4, counts the same. Where do the operations of BERT-Base go?

# %%
from bertedu.training.costs import training_flops

base = BertConfig()  # BERT-Base
D, inner, V = base.hidden_size, base.intermediate_size, base.vocab_size
operations = {}
for length in (128, 512):
    parts = {"attention: weights": 4 * D * D, "feed-forward": 2 * D * inner}
    parts["attention: products"] = 2 * length * D
    parts = {name: 6 * base.num_hidden_layers * count for name, count in parts.items()}
    parts["masked-word head"] = 6 * 0.15 * (D * D + D * V)
    operations[length] = parts
    print(f"{length} tokens: {sum(parts.values()):.2e} operations for each token,", end=" ")
    print(f"training_flops counts {training_flops(base, length):.2e}")

# %% [markdown]
# ![Bars of shares of BERT-Base's operations: feed-forward is the largest, then the weights of attention; its products are few, and grow with the length.](pictures/08_shares.svg)
#
# Now the whole training (Devlin et al. 2019, appendix A.2): a million steps of 256 sequences, 90 % of the steps with
# 128 tokens and the rest with 512.

# %%
steps_of = {128: 900_000, 512: 100_000}  # tokens of a sequence: steps
work = {}
for name in ("base", "large"):
    size = BertConfig.preset(name)
    of_length = {length: training_flops(size, length) for length in steps_of}
    work[name] = sum(steps * 256 * n * of_length[n] for n, steps in steps_of.items())
    print(f"{name:5} {work[name]:.1e} operations")
small = BertConfig.preset("tiny", vocab_size=2048)
own = training_flops(small, 64, masked=0.35) * 1.5e6
print(f"our run on a CPU: {own:.1e}")
print(f"Base takes {work['base'] / own / 1e6:.1f} million times that")

# %% [markdown]
# <details><summary>How long did Google train, and on how many tokens?</summary>
#
# Training took 4 days on 16 TPU chips for Base, and 4 days on 64 chips for Large. (A TPU is Google's processor for
# neural networks.) The paper doesn't name the generation. If it was the second one, from 2017, with 180 · 10¹²
# operations a second for a board of four chips, then the chips were busy for 10 % of that time with Base and
# for 8 % with Large.
#
# The paper says that training is "approximately 40 epochs" over a corpus of 3.3 billion words. This fits 131 billion
# tokens, that is, 512 tokens in every step. But the same appendix says that 90 % of the steps had only 128. So BERT
# read at most 43 billion tokens, 13 for each word of the corpus. And a word has more than one token on average, so
# that it was fewer than 13 epochs.
#
# </details>
#
# ### Hours, dollars and memory (optional)
#
# Chips wait for memory, for each other and for data. A third to a half of the peak is usual; we assume 40 %. The peaks
# below are the makers' figures for 16-bit matrix products without sparsity. The prices are rough assumptions, and
# differ by a factor of three between providers. **Change them.**

# %%
share = 0.4  # of the peak
hardware = {"A100": (312e12, 1.5), "H100": (989e12, 2.5), "RTX 4090": (165e12, 0.4)}
for name, total in work.items():
    for chip, (peak_rate, price) in hardware.items():  # operations a second, dollars an hour
        hours = total / (share * peak_rate) / 3600
        days, dollars = hours / 24, hours * price
        print(f"{name:5} on one {chip:8} {days:4.1f} days, about {dollars:3.0f} dollars")

# %% [markdown]
# And the memory? Weights, gradients and Adam's two averages take 4 bytes each: 16 bytes for each parameter. The
# **activations** (all intermediate results that the backward pass needs) grow with the batch: with 16-bit numbers and
# fused attention about 34 bytes for each of the D entries, for each token and layer (Korthikanti et al. 2022, section
# 4.1). Scores of the words come on top.

# %%
memory = {}  # GB
for name in ("base", "large"):
    size = BertConfig.preset(name)
    with torch.device("meta"):  # shapes without memory
        parameters = sum(p.numel() for p in BertForPreTraining(size).parameters())
    fixed = 16 * parameters / 1e9
    for length in steps_of:
        moving = 34 * size.num_hidden_layers * size.hidden_size * 256 * length / 1e9
        memory[f"{name}, 256 × {length}"] = fixed, moving
        print(f"{name:5} 256 × {length}: {fixed:.1f} GB + {moving:3.0f} GB of activations")

# %% [markdown]
# ![Memory in GB for Base and Large. Parameters take little; activations grow with the tokens, and only Base with 256 × 128 tokens fits into 24 GB.](pictures/08_memory.svg)
#
# <details><summary>What others paid</summary>
#
# In 2018 Google's README gave two weeks and about 500 dollars for Base on one preemptible Cloud TPU v2 (cheaper,
# because Google may take it away at any time). In 2023 MosaicBERT (Portes et al. 2023) reached 79.6 on GLUE's
# development sets in 1.13 hours on eight A100s, for about 20 dollars. (GLUE is a collection of nine language tasks.)
# It reads fewer tokens, has a newer architecture, and doesn't compute padding.
#
# </details>
#
# ## Broken BERT: the same batch, another gradient
#
# What do you do if a batch doesn't fit into the memory? You cut it into parts, and add up the gradients of the
# parts before you take one step. This is called **gradient accumulation**.
#
# ![16 pairs in four parts of 4: each part's gradient is added to the sum in .grad, and after the fourth the optimizer takes one step.](pictures/08_parts.svg)
#
# A colleague has written it, as many people have, and reports: "With four parts instead of one batch my losses are a
# little worse. That must be noise."
#
# `relative_error` computes how far the gradient
# of a batch in several parts is from that of the whole batch, relative to its norm.


# %%
def summed_loss(model, part):  # the summed loss of the masked words, and their number
    part = to_device(part, device)
    inputs = (part.get(name) for name in ("input_ids", "attention_mask", "token_type_ids"))
    scores, labels = model(*inputs).prediction_logits.flatten(0, 1), part["labels"].flatten()
    loss = nn.functional.cross_entropy(scores, labels, reduction="sum")  # [B·T, V] and [B·T]
    return loss, int((labels != -100).sum())


def accumulate_broken(model, parts):
    model.zero_grad()
    for part in parts:
        loss, count = summed_loss(model, part)
        (loss / count / len(parts)).backward()


# %%
from bertedu.training.loop import cut_rows


def relative_error(batch, number):
    gradients = []
    for parts in ([batch], list(cut_rows(batch, number))):
        accumulate_broken(my_model, parts)
        own = [p.grad.flatten() for p in my_model.parameters() if p.grad is not None]
        gradients.append(torch.cat(own))
    return ((gradients[1] - gradients[0]).norm() / gradients[0].norm()).item()


# %% [markdown]
# We cut two batches: in the first all pairs have the full length, and the second begins with the four shortest.

# %%
from bertedu.pretraining.examples import collate

full = next(batch for batch in batches if batch["input_ids"].size(1) == settings.max_length)
by_length = sorted(task.pairs.next_sentence_pairs(random.Random(0))[:2000], key=len)
mixed = collate(task.train_text, by_length[:4] + by_length[-12:], task.tokenizer)
whole_batches = {"one length": full, "short first": mixed}
whole_batches = {name: task.mask(one, 0.15, seed=0) for name, one in whole_batches.items()}
label_counts = {
    name: [int((part["labels"] != -100).sum()) for part in cut_rows(one, 4)]
    for name, one in whole_batches.items()
}
for name, counts in label_counts.items():
    print(f"{name:11}  labels in the four parts: {counts}")

# %% [markdown]
# Guess: how wrong is the gradient of each in four parts?

# %% tags=["guess"]
for name, one in whole_batches.items():
    wrong = relative_error(one, 4)
    error = about(f"gradient in four parts, {name}", wrong, within=0.05 * slack)
    print(f"{name:11}  gradient wrong by {error:.1%}")

# %% [markdown]
# If all parts have the same number of labels, there is no error. If not, it can be large. Find the line. How much does
# a word weigh in a part with few labels, compared with a word in a part with many?
#
# ### Exercise 8.5 · Small batches that add up
# ●●●○ · 10 minutes
#
# Write `accumulate(model, parts, summed_loss)`. After it, the `.grad` of every parameter is the gradient of the mean
# loss over *all* labels of all parts. Get the loss of a part from the function that you are given: as above,
# `summed_loss(model, part)` returns a sum and the number of labels in it. A part may have no label at all, and
# gradients of an earlier step may still be there.


# %% tags=["exercise"]
def accumulate(model, parts, summed_loss):
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
# The mean of means is the mean only if all parts have the same number of labels. The loss of the whole batch is one
# sum divided by one count. So the sum of every part has to be divided by the count of *all* parts, and this count
# must be known before the first backward pass. The package's loop does the same, in `_step`: sums from the task,
# counts from the whole batch.
#
# </details>

# %% [markdown]
# <details><summary>How much did each label weigh?</summary>
#
# ![For the four parts of the second batch: the number of labels, and what one label weighs in the broken version, much more in the part with few labels, and in the right version, the same in all.](pictures/08_weights.svg)
#
# </details>
#
# This bug is famous. The mean of means stood in the `Trainer` of `transformers` until October 2024. It was repaired
# after a report by Daniel Han (pull requests 34191 and 34198; issue 24725 had described it in July 2023). No error
# message appears, so few people noticed.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Optimizer | Paper: Adam (appendix A.2). Google's code: AdamW without the bias correction (Jacob Devlin in issue 153: mostly an oversight, which doesn't matter with a reasonable warm-up). `bertedu pretrain`: Muon and AdamW (`--optimizer adamw` is closest to the paper) |
# | Decay | The paper says "L2 weight decay". Google's code decouples it and excludes biases and LayerNorm by their names. Here: by the number of dimensions |
# | Clipping | Norm 1.0 in Google's code and here. The paper doesn't mention it |
#
# <details><summary>Settings, peak, masks, lengths, resuming</summary>
#
# | | |
# |---|---|
# | The peak | In Google's code the linear decay begins at step 0, under the warm-up: after 10,000 of a million steps the learning rate drops by 1 %. `transformers` and this course decay from the peak |
# | Settings | Paper: learning rate 1e-4, β₁ 0.9, β₂ 0.999, decay 0.01, warm-up over 10,000 of 1,000,000 steps, then linear decay |
# | Masks | Google: ten masked copies of the text, made in advance (`dupe_factor`). RoBERTa (Liu et al. 2019) masks each sequence anew when the model reads it, and so does this course |
# | Lengths | Google: first all sequences of 128 tokens, then those of 512. Here: each batch has about one length, and the lengths are mixed |
# | Resuming | The `Trainer` of `transformers` saves optimizer, schedule and random state in several files, some of them pickled. Here: one safetensors file |
#
# </details>
#
# ## Your own BERT learns
#
# The last five of your parts are the ones that learn: truncation (7.2), the corruption and the loss (6.2, 6.3),
# accumulation and AdamW (8.5, 8.2). The next cell fills masks first: there your parts run the trained weights of
# `data/checkpoints/world-tiny`. Then it trains a new BERT for twelve seconds with the last five, and beside it the
# package's with torch's AdamW, on the same batches from the same initialization.

# %% tags=["nbval-ignore-output"]
from bertedu.mine import mine

mine(minutes=0.2)

# %% [markdown]
# The two curves should lie on each other. Your BERT takes fewer steps in a second: it computes scores for every token,
# the package only where there is a label. Give it two minutes, `mine(minutes=2)`. When all sixteen parts are lit,
# `bertedu mine --minutes 2` in a terminal writes a page with the map, the numbers, the date and your program.
#
# ## Summary
#
# - A run first learns frequencies, stays on a plateau, and leaves it when attention has found something useful.
# - Warm-up protects against large first steps, clipping against a batch with a huge gradient, weight decay against
#   weights that are large for no reason. To resume a run you need the weights, the optimizer's averages and the
#   progress.
# - Training costs about 6 operations for each weight and token, and 16 bytes for each parameter, plus activations.
# - Sums and counts can be added. Means can't.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(8)

# %% [markdown]
# ## Interview questions
#
# <!-- pretraining-05 -->
# **1. The loss of a masked language model falls from 10.3 to 6.7 within minutes and stays there. What do you check?**
#
# <details><summary>Answer in half a minute</summary>
#
# 6.7 is about the unigram entropy of English: the model knows how frequent words are and ignores the context. That
# plateau is normal for a while. I check whether predictions depend on the context at all, the learning rate and
# warm-up, positions and mask, and let it overfit one small batch. If it can't, there is a bug. If it can, it needs
# more steps.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Two numbers tell where it stands. 10.3 is ln 30,522: nothing learned. About 7 is the unigram entropy of English text
# with this vocabulary: the loss of a model that gives every masked word its frequency, whatever stands around it. I
# would compute it for my own text. So the output bias and the embeddings have learned, and attention has not. Every
# run passes this plateau, and small models stay on it for some thousand steps, so first: how many tokens has it read?
#
# Then I test. Does the prediction change with the context? Ask two different sentences with one mask each. If the
# answers are the same to three digits, no information flows. Then the usual suspects. The attention mask is inverted,
# or hides everything. Positions are missing: then the order of words is invisible, and the loss stays a bit lower
# than the unigram. The learning rate is too high without warm-up, and the first steps have saturated softmax or GELU;
# a post-norm stack tolerates less the deeper it is, and the gradient norms would show it. The output matrix was tied
# to the embeddings by a copy, or loaded without them. Weight decay or dropout is far too large. Labels are shifted
# against inputs by one.
#
# The test that divides bugs from patience: let the model overfit twenty sequences. It should reach nearly zero within
# some hundred steps. If it doesn't, I have a bug and look at gradients layer by layer. If it does, I look at data,
# learning rate and batch size, and wait.
#
# </details>
#
# <!-- pretraining-06 -->
# **2. Why does training with Adam begin with a warm-up, and what does the W in AdamW change?**
#
# <details><summary>Answer in half a minute</summary>
#
# In its first steps Adam's averages come from very few gradients, so every weight moves by about the whole learning
# rate, noise or not. Post-norm Transformers also have large gradients near the output at the start. A small learning
# rate gives the averages time. AdamW decays weights directly by the learning rate, not through the gradient, where √v
# would divide it.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Adam divides the average gradient by the root of the average squared gradient. In the very first step, with bias
# correction, that is g / \|g\|: the sign. So every weight moves by the full learning rate, in the direction of one
# noisy gradient. In the next steps it is not much better. With a post-norm Transformer such as BERT the gradients
# near the output are large at the beginning, and a few such steps push it where softmax and LayerNorm are saturated.
#
# A warm-up raises the learning rate from zero over some thousand steps; BERT takes 10,000. By then the averages have
# seen enough gradients. Pre-norm models get by with a shorter one.
#
# Now the W. The classical way adds the decay to the gradient: g + λ·w. Adam then divides this sum by √v. A weight
# with large gradients has a large v, so it is hardly decayed, and a weight with small gradients strongly. AdamW takes
# the decay out of the gradient: after the Adam step, every weight shrinks by the factor 1 − lr·λ. That is what people
# mean by weight decay, and it does not depend on the gradients any more. Usually biases and LayerNorm are excluded.
# One detail for people who compare: BERT's own optimizer is AdamW without the bias correction, which makes early
# steps larger still, and so warm-up more important.
#
# </details>
#
# <!-- arithmetic-09 -->
# **3. Why 6·N operations for each token of training? Derive it, and name what it leaves out.**
#
# <details><summary>Answer in half a minute</summary>
#
# Each weight takes part in one multiplication and one addition per token in the forward pass: 2·N. The backward pass
# does two products of the same size, one for the gradient of the inputs, one for that of the weights: 4·N. Together
# 6·N. It leaves out attention's T² part, 12·L·T·D, and counts embeddings that are only looked up.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Take one linear layer, y = x·W with D by E weights, for one token. The forward pass multiplies and adds once for
# each weight: 2·D·E operations. In the backward pass the gradient of y arrives, a vector of length E. Two things are
# computed from it. The gradient of x, which the layer below needs: y's gradient times W transposed, again 2·D·E. And
# the gradient of W, the outer product of x and y's gradient, summed over tokens: again 2·D·E. So 4 in the backward
# pass and 6 in all, for each weight and token.
#
# With T tokens in a batch it scales with T, and for the whole model with N, the number of weights in matrices. For
# BERT-Base these are 85 million in the layers: 510 million operations for each token, and 43 billion tokens make 2.2
# · 10¹⁹ for the layers' weights alone. With attention and the output layer it is 2.4 · 10¹⁹: 2.2 days on one A100 at
# 40 % of its peak.
#
# What does it leave out? First, attention. The products of queries and keys and of weights and values have no
# parameters. Forward 4·T·D for each layer and token, in training 12·T·D, so 12·L·T·D for the model: 57 million at T =
# 512, a tenth. Second, the embedding table counts among the parameters and does no arithmetic in the look-up. For
# Base that is 24 of 110 million, so using the full N overestimates by more than a quarter. The output layer of the
# masked language model uses the same table as a matrix, but only at 15 % of the tokens. Third, norms, softmax, GELU:
# few operations, but memory traffic, so they cost time out of proportion. Fourth, recomputation: with activation
# checkpointing it is 8·N.
#
# Inference needs 2·N. Frozen lower layers need 2·N, and frozen layers above something trainable 4·N, since the
# gradient has to pass through them.
#
# </details>
#
# ## Next
#
# You have a BERT that has learned something. What is in it now? Where do its heads attend to, what do its layers
# know, and which of the pretty pictures can you believe? [09 · Looking inside](09_looking_inside.ipynb).
