# %% [markdown]
# # 25 · The interview
#
# An interview on BERT asks little that you have not built. But you have to say it aloud, with numbers, against the
# clock. This chapter practises that: calculations, a derivation, a blank cell, somebody else's bug, and a design.
#
# ## What you will be able to do
#
# - answer a question in half a minute and in two, and know which points the listener waits for
# - compute parameters, memory, operations and machines aloud, within 10 % of what a program computes
# - derive the gradient of cross-entropy with respect to the logits, without notes
# - find a bug from its symptom, and say how you would have noticed it
# - plan the hours that are left, and take a mock interview
#
# **Time:** one sitting of about 60 minutes, and 15 more for what is optional ·
# **You need:** [05 · The whole BERT](05_the_whole_bert.ipynb) and
# [08 · Pre-training](08_pre_training.ipynb); the more of 10 to 20, the better · **Next:** your interview
#
# You can leave what is marked (optional) for another day.
#
# ## Recall
#
# Say each answer aloud before you unfold it. Look at a clock: half a minute each.
#
# 1. Which part of a text does BERT use for a word that a left-to-right language model cannot use?
#
# <details><summary>Answer</summary>
#
# The words to its right. BERT selects 15 % of the tokens, replaces most of them by [MASK], and predicts them from both
# sides at once, so the vector of a word in the middle depends on the whole sentence. A left-to-right model sees only
# what stands before the word. In return it can generate text, which BERT was not trained to do.
#
# </details>
#
# 2. Which parts of BERT-Base hold most of its parameters?
#
# <details><summary>Answer</summary>
#
# The layers: 12 times 7.1 million is 85 million, and two thirds of each layer is its feed-forward network. The token
# embeddings hold 23 million. Everything else together is about 1 million. We compute it below.
#
# </details>
#
# 3. Your fine-tuned classifier has 97 % on validation and is useless in production. Three reasons?
#
# <details><summary>Answer</summary>
#
# Duplicates, or the same authors, in training and validation. A different tokenizer or different preprocessing in
# production. Different texts: longer, newer, from another country. But check first whether 97 % is just the share of the
# largest class.
#
# </details>
#
# ## How such an interview goes
#
# ![Screen, whiteboard, depth, debugging and design, 30 or 45 minutes each; below each what this chapter has to practise it.](pictures/25_interview.svg)
#
# Not every company has all five parts, and the order differs. In each of them somebody listens for a few points, ticks
# them off, and asks a follow-up about what is missing. So the useful question about an answer is not "was it nice?" but
# "which points were in it?".
#
# ## One question, two lengths
#
# The package has a **bank** of questions. Each one holds what an interviewer would have on paper: the points that must
# be said, the follow-up for each, and the wrong answers that people often give. Let's read the points of one question.
# First answer it aloud: *why does scaled dot-product attention divide the scores by √d, and not by d?*

# %%
from bertedu.course import check, data_path, hint, quiz
from bertedu.interview.bank import questions, read_bank

TOPICS = data_path("interview")
question = questions(folder=TOPICS)["attention-01"]
for number, point in enumerate(question.must, start=1):
    print(f"{number}. {point.point}\n   if missing: {point.ask}")

# %% [markdown]
# How many did you say? It is easy to say the second point, *softmax is nearly one-hot*, and to stop there. The first
# one, that the variance of the score is d, shows that you can derive it.
#
# Prepare each answer in two lengths. The short one takes half a minute and is complete: claim, reason, number. The long
# one is for "tell me more". Always begin with the short one, and let the other person choose where to go deeper. Here
# are the beginnings of both, and how long they take at 150 spoken words a minute:

# %%
for name, text in (("short", question.short), ("long", question.long)):
    words = len(text.split())
    print(f"{name}: {words} words, {words / 150 * 60:.0f} seconds")
    print(f"{' '.join(text.split())[:170]} …\n")

# %% [markdown]
# ![Two bars on a clock: the short answer takes less than half a minute, the long one almost a minute and a half.](pictures/25_two_lengths.svg)
#
# Wrong answers teach as much. Both of these sound plausible. Say why each is wrong before you run the cell:
#
# - "It makes the attention weights sum to 1."
# - "It prevents overflow in half precision."

# %%
for wrong in question.wrong:
    print(f"“{wrong.said}”\n   {wrong.because}")

# %% [markdown]
# Each answer of the bank also has **evidence**: a few lines of code that you could type during the interview, or the
# source that says so. This is the evidence of our question:

# %%
import torch

torch.manual_seed(0)
for d in (4, 64, 1024):
    scores = (torch.randn(20000, d) * torch.randn(20000, d)).sum(dim=-1)
    deviation = scores.std()
    print(f"d = {d:4}: standard deviation {deviation:4.0f}", end="")
    print(f", divided by √d {deviation / d**0.5:.1f}")

# %% [markdown]
# ## A plan for the hours that are left
#
# Nobody can read everything on Thursday evening. `plan` chooses: the basic questions of every topic first, then deeper
# ones, as many as fit, counting the time to say each answer aloud and to read the rest.

# %%
from bertedu.interview.choosing import plan

for hours in (1, 3, 10):
    steps = plan(read_bank(folder=TOPICS), hours)
    topics = {step.question.topic for step in steps}
    print(f"{hours:2} hours: {len(steps):3} questions of {len(topics)} topics", end="")
    print(f", {sum(step.minutes for step in steps):.0f} minutes")

# %% [markdown]
# The plan for three hours leaves 30 minutes for a mock interview, the one for ten hours 45. Ten hours are more than the
# whole bank needs, so use what is left for drills. On the command line, `bertedu interview plan --hours 1` prints the
# questions in their order. The first five are:

# %%
for step in plan(read_bank(folder=TOPICS), 1)[:5]:
    print(f"{step.minutes:.0f} min  {step.question.question}")

# %% [markdown]
# ## Calculations aloud: parameters
#
# "How many parameters does BERT-Base have, and where are they?" is a classic. You don't need to remember the answer. You
# need five sizes: V = 30,522 tokens in the vocabulary, P = 512 positions, hidden size D = 768, F = 4·D = 3,072 in the
# feed-forward network, and L = 12 layers.
#
# With a pencil, per layer: four matrices of D · D for query, key, value and output, and two of D · F for the
# feed-forward network, which is 4·D² + 2·4·D² = **12·D²**. With D = 768 that is 12 · 590,000 ≈ 7.1 million. Twelve layers:
# 85 million. The embeddings: V · D = 30,522 · 768 ≈ 23.4 million. Sum: 108 million. What is missing?

# %%
V, P, D, F, L = 30_522, 512, 768, 3_072, 12
layers, table = 12 * D**2 * L, V * D
print(f"layers {layers / 1e6:.1f} M, token embeddings {table / 1e6:.1f} M", end="")
print(f", together {(layers + table) / 1e6:.1f} M")

# %% [markdown]
# ![Bars: feed-forward networks 57, attention 28, the token table 23 and all else 1 million parameters.](pictures/25_where_parameters.svg)
#
# For most interviewers 108 million is good enough. One who asks for the exact number wants to know whether you remember
# the biases, LayerNorm (two vectors of D numbers), the positions, the two segments and the pooler.
#
# ### Exercise 25.1 · Every parameter
# ●●○○ · 10 minutes
#
# Write `parameters(V, P, D, F, L)`: the number of parameters of `BertModel`, with the pooler and two segments.
# Return a whole number. Stuck? `hint("25.1")`


# %% tags=["exercise"]
def parameters(V, P, D, F, L):
    ### BEGIN SOLUTION
    norm = 2 * D
    embeddings = (V + P + 2) * D + norm
    attention = 4 * (D * D + D) + norm
    feed_forward = D * F + F + F * D + D + norm
    pooler = D * D + D
    return embeddings + L * (attention + feed_forward) + pooler
    ### END SOLUTION


check("25.1", parameters)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Every linear layer from n to m has n·m weights and m biases, every LayerNorm a scale and a shift, 2·D. A layer has
# four linear layers of D to D, two for the feed-forward and two LayerNorms; the embeddings have three tables and one
# LayerNorm; the pooler is one more D to D. There is no LayerNorm after the last layer: BERT is post-norm, and the last
# sublayer ends with one.
#
# </details>

# %% [markdown]
# ## The proof
#
# Is that what the package and `transformers` build? On torch's *meta* device a model has shapes and no memory, so we
# can count the parameters of BERT-Large without 1.3 GB.

# %%
import transformers

from bertedu import BertConfig, BertModel


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


for preset in ("base", "large"):
    config = BertConfig.preset(preset)
    D, F, L = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    own = (
        (V + P + 2) * D + 2 * D + L * (4 * (D * D + D) + 2 * D * F + F + D + 4 * D) + D * D + D
    )
    theirs = transformers.BertConfig(
        hidden_size=D, intermediate_size=F, num_hidden_layers=L, num_attention_heads=D // 64
    )
    with torch.device("meta"):
        ours, reference = count(BertModel(config)), count(transformers.BertModel(theirs))
    print(
        f"{preset}: by hand {own:,}, bertedu {ours - own:+}, transformers {reference - own:+}"
    )

# %% [markdown]
# The differences are 0. The paper says 110 and 340 million (section 3): rounded, and without saying whether the heads of
# pre-training are counted.
#
# ## Calculations aloud: memory and operations
#
# Two rules carry you through most estimates:
#
# - **Memory of training** in fp32 with AdamW: 16 bytes for each parameter (weight, gradient, two moments, 4 bytes each),
#   plus the activations.
# - **Operations**: a forward pass does 2 for each weight and token (one multiplication, one addition). The backward pass
#   does twice as many. So training takes **6 · weights · tokens**. Count the weights of the layers only: looking up an
#   embedding costs almost nothing.
#
# With a pencil: BERT-Base's pre-training read 43 billion tokens (a million steps of 256 texts, 90 % of them with 128
# tokens and 10 % with 512: Devlin et al. 2019, appendix A.2). With 85 million weights in the layers that is
# 6 · 85·10⁶ · 43·10⁹ ≈ 2.2·10¹⁹ operations for the layers' weights alone. What is left out? The products of queries with
# keys and of attention weights with values grow with T² and add T / (6·D): 3 % at T = 128, a ninth at T = 512. The head
# that predicts the masked tokens adds another 4 %. Together that is a tenth: 2.4·10¹⁹. A GPU that reaches 40 % of an
# H100's 989·10¹² operations a second, 400 TFLOP/s, needs 60,000 seconds, 17 hours. The next cell compares that with the
# count of the package (`bertedu/training/costs.py`, with which chapters 08 and 22 compute, too).

# %%
from bertedu.training.costs import hours, pretraining_flops

tokens = 256 * (900_000 * 128 + 100_000 * 512)
by_pencil, counted = 6 * 85e6 * tokens, pretraining_flops()
print(f"{tokens / 1e9:.0f} billion tokens, {by_pencil:.1e} operations with a pencil", end="")
print(f", {counted:.1e} counted: {hours(counted):.0f} hours on an H100")

# %% [markdown]
# Say what the number means, too: less than a day on one of today's large GPUs, if it really reaches that speed. In the
# paper it was four days on 16 TPU chips (appendix A.2).
#
# ### Exercise 25.2 · Does it fit?
# ●●○○ · 8 minutes
#
# "You fine-tune a model with AdamW. How much memory do weights, gradients and optimizer take?" Write
# `training_gigabytes(parameters, trained, mixed)` (1 GB = 10⁹ bytes). `parameters` is the number of all parameters,
# `trained` the number of those that are not frozen. Weights, gradients and moments are in fp32, and only the trained
# parameters need gradients and the two moments. With `mixed=True` the model also keeps a copy of **all** weights in bf16
# (2 bytes each) for the forward pass; gradients and moments stay in fp32.


# %% tags=["exercise"]
def training_gigabytes(parameters, trained, mixed):
    ### BEGIN SOLUTION
    size = 4 * parameters + 12 * trained
    if mixed:
        size += 2 * parameters
    return size / 1e9
    ### END SOLUTION


check("25.2", training_gigabytes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# 4 bytes for every weight, and 4 + 4 + 4 for gradient and moments of the trained ones. So mixed precision takes *more*
# memory for these parts, 18 bytes instead of 16. What it saves is time, and memory for activations. Interviewers like
# to ask about that.
#
# </details>

# %% [markdown]
# ![Four bytes each for weight, gradient and two moments: 16. Mixed precision adds a copy of two bytes: 18.](pictures/25_bytes_each.svg)
#
# For all of BERT-Base that is 1.75 GB. A GPU with 16 GB seems to have plenty of room. Yet a batch of 32 texts with 512
# tokens may fail. Guess what takes the memory, then run the cell. It counts what attention keeps for the backward pass in
# every layer: its weights before and after dropout, and dropout's mask of one byte for each.

# %% tags=["guess"]
for batch, length in ((32, 128), (32, 512), (32, 2048)):
    weights = batch * 12 * length**2 * 12  # texts · heads · T² · layers
    print(f"B = {batch}, T = {length:4}: {(4 + 1 + 4) * weights / 1e9:6.1f} GB in fp32")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars for texts of 128, 512 and 2,048 tokens: each is 16 times as long as the one above it.](pictures/25_attention_memory.svg)
#
# Texts that are four times as long need 16 times as much. At T = 512 it is 10.9 GB, and all other activations together
# take nearly as much again, 10.0 GB, so the 16 GB are full. (In 16 bits it is 6.0 and 5.1 GB. Korthikanti et al. 2022,
# section 4.1, count 34 bytes for each of the B·T·D numbers of a layer, and 5 for each of the B·H·T² attention weights.)
#
# </details>
#
# A **fused kernel** (`scaled_dot_product_attention`) never stores the attention weights. Without one, make the batch
# smaller and accumulate gradients.
#
# ## Derivations: the gradient of the loss
#
# "Derive the gradient of cross-entropy with respect to the logits." You have one minute and a board. With logits z,
# probabilities $p_i = e^{z_i} / \sum_j e^{z_j}$ and the label $y$ the loss is
#
# $$\ell = -\log p_y = -z_y + \log \sum_j e^{z_j}$$
#
# Take the derivative with respect to $z_i$. The first term gives −1 if $i = y$, and 0 otherwise. The second gives
# $e^{z_i} / \sum_j e^{z_j} = p_i$. So $\partial \ell / \partial z_i = p_i - [i = y]$: **probabilities minus one-hot**. These
# numbers sum to 0 over all classes, and for a confident right answer they are near 0.
#
# ![Probabilities 0.71, 0.26 and 0.04 minus the one-hot label give the gradient 0.71, −0.74 and 0.04.](pictures/25_probabilities_minus_one_hot.svg)
#
# ### Exercise 25.3 · Probabilities minus one-hot
# ●●●○ · 10 minutes
#
# Write `gradient(logits, labels)` for logits `[N, K]` and labels `[N]`, without autograd: the gradient of
# `cross_entropy(logits, labels, ignore_index=-100)` with respect to the logits, a tensor `[N, K]`. Two things that
# PyTorch does are easily forgotten: rows with the label −100 don't count, and the loss is the *mean over the rows that
# count*.


# %% tags=["exercise"]
def gradient(logits, labels):
    ### BEGIN SOLUTION
    counts = labels != -100
    one_hot = torch.zeros_like(logits)
    one_hot[counts, labels[counts]] = 1
    return (logits.softmax(dim=-1) - one_hot) * counts.unsqueeze(-1) / counts.sum()
    ### END SOLUTION


check("25.3", gradient)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Softmax minus one-hot for every row, 0 for rows that don't count, divided by the number of rows that count. In masked
# language modeling 85 % of the rows have the label −100, so dividing by all rows would make the gradient nearly seven
# times too small.
#
# </details>

# %% [markdown]
# ## At the whiteboard (optional)
#
# The package has **drills**: a task as an interviewer would say it, a blank cell, and a clock. Your best time is kept.
# Choose one that you find hard.

# %% tags=["nbval-ignore-output"]
from bertedu.interview.drills import drill, drills, finish

drills()

# %% [markdown]
# `drill("layer-norm")` shows the task, starts the clock and puts a cell below it for your answer; its last line,
# `finish(…)`, stops the clock if the answer is right. Talk while you write: shapes first, then the plan, then code. An
# interviewer who hears *"scores are B, H, T, T, and I mask before softmax"* forgives a
# missing parenthesis.
#
# ## Broken BERT: a perplexity that depends on the batch size
#
# A colleague evaluates a masked language model and is puzzled: on the same text, the same weights give another
# perplexity when the batch size changes. Dropout is off, and padding is masked. Here is the loop, on losses that were
# computed before. Each inner list is one text, each number the loss of one masked token. Texts differ in how many masked
# tokens they have.

# %%
LOSSES = [[2.0, 2.5], [2.2] * 20, [6.0], [2.1] * 15, [2.4, 2.6, 2.0], [5.5], [2.3] * 12, [6.5]]


def broken_perplexity(losses, batch_size):
    means = []
    for start in range(0, len(losses), batch_size):
        batch = [loss for text in losses[start : start + batch_size] for loss in text]
        means.append(sum(batch) / len(batch))
    return torch.tensor(sum(means) / len(means)).exp().item()


for batch_size in (1, 2, 4, 8):
    print(f"batches of {batch_size}: perplexity {broken_perplexity(LOSSES, batch_size):.1f}")

# %% [markdown]
# The weights are the same, and the "perplexity" falls from 38 to 11. Say aloud what you suspect and how you would test
# it, before you read on. Don't start with the code. First ask: *what should not change, and does?*
#
# ### Exercise 25.4 · Repair the perplexity
# ●●○○ · 6 minutes
#
# Write `perplexity(losses, batch_size)`, which goes through the batches as before and gives the same result for every
# batch size. A text may have no masked token at all; a corpus without any has the perplexity `float("nan")`.


# %% tags=["exercise"]
def perplexity(losses, batch_size):
    ### BEGIN SOLUTION
    total, count = 0.0, 0
    for start in range(0, len(losses), batch_size):
        for text in losses[start : start + batch_size]:
            total += sum(text)
            count += len(text)
    if count == 0:
        return float("nan")
    return torch.tensor(total / count).exp().item()
    ### END SOLUTION


check("25.4", perplexity)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The mean of means gives every batch the same weight, so that a batch with one masked token counts as much as a batch
# with twenty. Sum the losses and count the tokens over all batches, and divide once. The same bug hides in accuracies that are
# averaged over batches, in losses under gradient accumulation, and in a last batch that is smaller than the others.
#
# </details>

# %% [markdown]
# ![Eight texts: in a mean of means each weighs an eighth, though they have from 1 to 20 masked tokens.](pictures/25_mean_of_means.svg)
#
# The package has ten longer programs with bugs like this one and hidden tests: `bertedu interview bug` lists them, and in
# a notebook `bugs()` from `bertedu.interview.bugs` does.
#
# ## A design (optional)
#
# "Design a search by meaning over 100 million documents." Nobody designs all of it in 45 minutes. You are judged by the
# questions that you ask first, by your arithmetic, and by whether you see what goes wrong after the launch. You are told
# the facts only if you ask for them:

# %%
from textwrap import fill

from bertedu.interview.cases import find_case

case = find_case("semantic-search")
print(fill(case.situation, 90), "", "You may ask:", sep="\n")
for fact in case.facts:
    print(f"- {fact.ask}")

# %% [markdown]
# `design("semantic-search")`, from `bertedu.interview.designing`, takes you through this case: you ask for facts, answer
# stage by stage, and score yourself with the interviewer's rubric. There are five more cases.
#
# A search by meaning has two steps ([chapter 13](13_pairs_and_similarity.ipynb)). A bi-encoder finds some candidates, and
# a cross-encoder reads the query together with each of them and ranks them. The second step is the expensive one. How
# many GPUs does it take?
#
# ### Exercise 25.5 · GPUs for the reranker
# ●●●○ · 8 minutes
#
# Write `gpus(queries, candidates, tokens, weights, flops)`: the smallest whole number of GPUs. There are `queries` a
# second; each is read with `candidates` texts; query and text together have `tokens` tokens; the model has `weights`
# weights in its layers; one GPU reaches `flops` operations a second. A forward pass takes 2 operations for each weight
# and token.


# %% tags=["exercise"]
def gpus(queries, candidates, tokens, weights, flops):
    ### BEGIN SOLUTION
    operations = 2 * weights * tokens * candidates * queries
    return int(-(-operations // flops))
    ### END SOLUTION


check("25.5", gpus)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Operations a second, divided by what one GPU can do, rounded up: half a GPU can't be rented, and 2.1 GPUs are 3.
# Rounding down gives a queue that grows a little every second, until it is full.
#
# </details>

# %%
for candidates in (10, 50, 200):
    needed = 2 * 21e6 * 250 * candidates * 1000 / 100e12
    print(
        f"1,000 queries a second, {candidates:3} candidates: {needed:4.1f} GPUs of 100 TFLOP/s"
    )

# %% [markdown]
# So "rerank fewer candidates" is the first thing to say when the load doubles. It needs no hardware, and you can measure
# how much quality it costs.
#
# ## A mock interview (optional)
#
# Now everything together. The next cell asks questions of several topics for 30 minutes. Answer aloud, then tick what
# you said. For each point that you missed you get its follow-up, which counts half. At the end you see your weak topics
# and the sections to read again. Another `seed` asks other questions, and `interview("attention")` asks all of one topic.

# %% tags=["nbval-ignore-output"]
from bertedu.interview.asking import interview, mock

mock(30)

# %% [markdown]
# On the train, cards may be handier. `flashcards("attention")`, from `bertedu.interview.flashcards`, shows those of a
# topic: space turns a card, the right arrow shows the next one. `bertedu interview export --format anki` writes all of
# them for Anki, and `bertedu interview export --format pdf --cheat-sheet` writes two pages with formulas, shapes and
# numbers.
#
# ## Paper and code
#
# Interviewers who know BERT well like to ask where paper and code differ:
#
# | | paper | Google's code | `transformers` and this course |
# |---|---|---|---|
# | Adam's bias correction | not mentioned | none | AdamW with it |
# | weight decay | 0.01, not said for which weights (A.2) | 0.01, none on biases and LayerNorm | none on biases and LayerNorm |
# | length of the texts | 128, then 512 (A.2) | one length a run, so two runs | `transformers` leaves it to you; here the lengths are mixed, about one length in a batch |
# | masks | not said whether they change | ten copies with different masks (`dupe_factor`, by default) | drawn anew in each batch |
# | "110 M" | section 3 | 109,482,240 without heads | the same |
#
# The row on masks leads to a good follow-up. RoBERTa (Liu et al. 2019, section 4.1) calls masks that are made once, with
# the data, *static*, and masks that are drawn anew each time *dynamic*. It finds dynamic masking as good or slightly
# better.

# %%
with torch.device("meta"):
    base = BertModel(BertConfig.preset("base"))
print(f"BERT-Base without heads: {count(base):,}")
print(f"16 bytes for each: {16 * count(base) / 1e9:.2f} GB for weights, gradients and AdamW")

# %% [markdown]
# ## Summary
#
# - Answer in half a minute first: claim, reason, number. Then let the other person choose.
# - An answer is judged by points. Practise with the points, not with model answers.
# - Parameters: 12·D² for each layer, and V·D for the token embeddings. Training: 16 bytes for each parameter, and 6
#   operations for each weight and token. Attention weights grow with T².
# - The gradient of cross-entropy is softmax minus one-hot, divided by the number of rows that count.
# - Given a symptom, first ask what should not change and does. A mean of means is a classic.
# - In a design, ask for scale, latency, labels and costs before you draw, and calculate aloud.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(25)

# %% [markdown]
# ## Interview questions
#
# <!-- interview-01 -->
# **1. Tell me about a model that you built and that did not work at first.**
#
# <details><summary>Answer in half a minute</summary>
#
# Tell one story that you lived through: the symptom as a number, what you suspected and how you excluded it, the
# cause, the number afterwards, and what you changed so that it can't happen unnoticed again. Two minutes, no more.
# Say "I" where you did it, and "we" where others did. Then stop: the questions that follow are the interview.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# This question isn't about BERT, and it is asked everywhere, because what you did once says more than what you would
# do. Have one story ready, and tell it in this order. First the situation in one sentence, and the symptom as a
# number: "My masked-language-model loss was 0.2 after an hour, where others report 1.5 to 2." A number shows that you
# measured, and it tells the listener how bad it was.
#
# Second, what you suspected, and how you excluded it: "Validation text in the training text? I counted the texts that
# both had: none. Then I printed one batch." This is the part that is listened to most closely. Say which test could
# have proved you wrong.
#
# Third, the cause, exactly: "The labels were a copy of the input, so the loss counted visible tokens, and the model
# learned to copy." Fourth, the number afterwards, and on the same data. Fifth, what you changed so that it can't
# happen unnoticed again: "A test counts the labels that differ from −100; it must be about 15 %." Without this last
# part it is a story about luck.
#
# The course gives you several: a loss over unmasked tokens, padding that was attended to, labels on the wrong pieces,
# a mean of means. Tell one that you found yourself, because the follow-ups go into details that nobody can invent:
# How long did it take? What would you try first today? What did you believe for too long? Don't choose a failure that
# was somebody else's, and don't choose one that is secretly a success.
#
# </details>
#
# <!-- interview-02 -->
# **2. What do you do with a question that you can't answer?**
#
# <details><summary>Answer in half a minute</summary>
#
# I say so at once, and then I go on: what I know that is next to it, where exactly my knowledge ends, and how I would
# find out, with which small experiment or which number. Guesses I call guesses. Bluffing costs more than a gap,
# because one invented detail makes the listener mistrust all the others.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First I make sure that I have understood the question. Often I know the thing under another name, so I say it back
# in my own words: "Do you mean the mask that XLNet uses in training?" If I still don't know, I say so in one short
# sentence, without an apology, and go on with three things. What I know that is next to it. Where exactly my
# knowledge ends. And how I would find out: which small experiment, which number, which page. For example: "I don't
# know XLNet's two streams in detail. I know that it predicts words in a random order, so a token must know its
# position without its content. I would look at which mask makes that possible, and I would test it like this: change
# the word at a position, and its own prediction must not change." An interviewer learns more from that than from a
# recited definition, and it is how the work goes on every other day.
#
# Two tools help. A bound: I don't know the size of that model, but with 24 layers of width 1,024 it has 12 · 1,024² ·
# 24 weights in the layers, 300 million. And an extreme case: what would happen with one token, with a length of zero,
# with all weights equal? If I guess, I say that it is a guess, and how sure I am. What I don't do is to answer
# another question that I like better. If I know nothing at all, I say that too, and ask for the answer. Listening
# well to it is worth something, and so is looking it up on the same evening.
#
# </details>
#
# ## Next
#
# Your interview. Afterwards, write down the questions that you were asked and could not answer; next time they will be
# yours. The map of all chapters is in [00 · Start here](00_start_here.ipynb).
