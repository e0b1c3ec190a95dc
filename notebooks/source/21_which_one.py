# %% [markdown]
# # 21 · Which one?
#
# Eleven members of the family were trained on the same text for the same time. Now you have to choose one, and to say
# how sure you are. You will build the few lines of statistics that tell a difference from noise, read the results with
# them, and end with a guide: which model for which task, and when none of them.
#
# ## What you will be able to do
#
# - tell a difference between two models from noise, with a standard deviation that is pooled over all of them
# - predict how many "improvements" appear by chance when many models are compared on many tasks
# - compare language models with different vocabularies, in bits per character
# - find the models that no other one beats in both cost and score, and compute when an encoder is cheaper than a prompt
# - detect an unfair comparison with an A/A test, and repair it
#
# **Time:** 60 minutes for the core path, about 100 minutes with everything ·
# **You need:** [20 · Many languages](20_many_languages.ipynb) ·
# **Next:** [22 · From two cores to many GPUs](22_many_gpus.ipynb)
#
# Sections marked (optional) are not part of the core path.
#
# ## Recall
#
# 1. mBERT samples languages in proportion to p^0.7. What does the exponent do?
#
# <details><summary>Answer</summary>
#
# It raises the share of small languages and lowers that of large ones. The vocabulary and the model then see more of the
# small languages than the data alone would give them.
#
# </details>
#
# 2. What does zero-shot transfer mean, and which data may choose the model?
#
# <details><summary>Answer</summary>
#
# A classifier is trained with labels in one language and tested in another one. Only validation data in the *training*
# language may choose. As soon as labels of the target language choose, it is no longer zero-shot.
#
# </details>
#
# 3. What is the curse of multilinguality?
#
# <details><summary>Answer</summary>
#
# If you add languages to a model of fixed size, each of them gets less of its capacity, and from some number on all get
# worse. A larger model can carry more languages.
#
# </details>
#
# ## Where this part sits
#
# This chapter adds nothing to BERT. It compares what the last six chapters have built. The next cell draws a map: a
# row for each member, a column for each kind of change, and the chapter in brackets.

# %%
from bertedu.visualization import family_pictures as pictures

pictures.family_map()

# %% [markdown]
# Look at how differently the rows are filled. RoBERTa leaves the network as it is, and DeBERTa changes little else. So
# "is DeBERTa better than RoBERTa?" is a question about relative positions, but "is ModernBERT better than BERT?" is a
# question about half a dozen things at once.
#
# ## The problem: two rankings
#
# `benchmarks/family.py` pre-trained the members, fine-tuned each on nine tasks, and did all of it again from other random
# seeds. A **seed** decides the initial weights, the order of the texts and the masks. The results are in
# `data/family/results.json`. The next cell loads them. `columns[task][name]` is a list of test scores, one for each
# seed.

# %%
import json
from statistics import mean

from bertedu.course import about, check, data_path, hint, quiz

results = json.loads(data_path("family/results.json").read_text(encoding="utf-8"))
runs, members, baselines = results["runs"], results["members"], results["baselines"]
TASKS, NAMES = list(baselines), [name for name in runs if name in members]
columns = {
    task: {name: [run["exams"][task]["test"] for run in of] for name, of in runs.items()}
    for task in TASKS
}
columns["mean of tasks"] = {
    name: [mean(exam["test"] for exam in run["exams"].values()) for run in of]
    for name, of in runs.items()
}
print(f"{len(NAMES)} members, {len(TASKS)} tasks: {', '.join(TASKS)}")
print("seeds of each:", *sorted({len(runs[name]) for name in NAMES}))

# %% [markdown]
# Now let's do what many blog posts do: take one task and one seed, and rank the members. Two of the tasks even ask the
# same question, whether a text praises something, once in reviews and once in sentences about films. The next cell draws
# four such rankings next to each other, and follows the three best members of the first one. Guess: how many of them
# are among the best three in all four?


# %%
def ranking(task, seed):  # best first
    first = {name: columns[task][name][seed] for name in NAMES}
    return sorted(first, key=first.get, reverse=True)


last = min(len(runs[name]) for name in NAMES) - 1  # the last seed that all members have
shown = (("reviews", 0), ("reviews", last), ("films (MR)", 0), ("inference", 0))
pictures.rankings({f"{task}\nseed {seed}": ranking(task, seed) for task, seed in shown})

# %% [markdown]
# The lines cross. So at least three of these four rankings are not "the" ranking, and nothing in a single one tells you
# whether it is. A table that prints one number for each model hides the question that this chapter is about: **would the
# order be the same if somebody did it again?**
#
# TODO(results): one sentence on what happens to the three colored members (e.g. the best at reviews with seed 0 is … with another seed).
#
# ## What was held equal
#
# Before we ask about noise, we have to know what was compared. A comparison holds some things equal, and *each choice
# favors somebody*:
#
# | held equal | who gains | example |
# |---|---|---|
# | steps, or tokens read | members with expensive steps: nobody counts their seconds | ALBERT's ablations: 125,000 steps for all (Lan et al. 2020, section 4.1) |
# | operations (FLOPs) | members whose operations run slowly on real hardware | ELECTRA (Clark et al. 2020, table 1) |
# | seconds on one machine | members that fit this machine, and fast code | this chapter |
# | parameters | members that use each parameter often, such as ALBERT | "a tenth of the size" in a title |
#
# Ours holds these equal: the text (two million words), the **time** (ten minutes on one thread of a processor), width and
# depth (2 layers, D = 128, except for DistilBERT), the optimizer, and the *search*: three learning rates were tried for
# each member, in short runs from a seed that is not in the table, and the best by validation loss was taken. For
# fine-tuning, all have the same rows, the same learning rate and the same head. The tokenizer is each member's own kind,
# because you get it with the member.
#
# A run that ends by the clock can't be repeated exactly, so seconds became tokens first: the speed of each member was
# measured in turns with BERT's, and its budget is that share of BERT's tokens. The next cell prints what equal time
# means for everybody. Guess: which member reads the fewest tokens?

# %%
print("                    tokens read  of BERT's  parameters  MB a step  ms a text")
for name in NAMES:
    cost, share = members[name]["cost"], members[name]["speed"]["share_of_bert"]
    tokens = runs[name][0]["pretraining"]["tokens"] / 1e6
    print(f"{pictures.TITLES[name]:18} {tokens:10.1f} M {share:10.0%}", end="")
    print(f" {cost['parameters'] / 1e6:9.2f} M {cost['megabytes of a step']:10.0f}", end="")
    print(f" {cost['milliseconds']:10.1f}")

# %% [markdown]
# Three things to notice.
#
# - **DistilBERT is larger here.** Its teacher is the course's `books-mini` with D = 256, and a student has its teacher's
#   width and vocabulary. So compare the two students with each other: *alone* is the same network without a teacher. The
#   teacher's own training, 86 minutes, is not in the budget.
# - **ALBERT is hardly smaller here.** With two layers there is only one to save, and its short embeddings (E = 128) are
#   as long as everybody's. In the paper ALBERT has a ninth of BERT's parameters ([chapter
#   16](16_albert_and_distilbert.ipynb)).
# - **Equal time is not equal tokens.** A member with half of BERT's tokens would need twice the time to read all of them.
#   With equal tokens the slow members would have been trained longer, and would look better. Neither is wrong. But a paper that doesn't say which one it is has left out half of its result.
#
# TODO(results): who reads the most and the fewest tokens, and that it's no measure of quality (check against the table above).
#
# ## Noise with a pencil
#
# Somebody trains BERT three times and gets 0.60, 0.62 and 0.64 at a task. How far can one of these be from what BERT is
# worth? Take a pencil.
#
# 1. The mean is 0.62.
# 2. The distances from the mean are −0.02, 0 and 0.02, their squares 0.0004, 0 and 0.0004.
# 3. The **variance** is the sum of the squares divided by n − 1 = 2: 0.0004. Why n − 1? We measured the distances from
#    the mean of these same three numbers, which lies as close to them as any number can. Dividing by n would give too
#    little.
# 4. The **standard deviation** is its root: s = 0.02. That is how much *one run* varies.
# 5. The mean of n runs varies less. Its **standard error** is s / √n = 0.02 / √3 = 0.0115.
# 6. Another member has a mean of three runs, too, with the same s. The variance of a difference is the *sum* of both
#    variances, so the standard error of the difference is s · √(1/3 + 1/3) = 0.0163.
#
# A normally distributed difference is more than two standard errors away from its true value in 4.6 % of all cases. So
# the usual rule is: **told from noise if it is larger than two standard errors**, here 0.033. The next cell computes it.

# %%
from math import sqrt
from statistics import stdev

bert, other = [0.60, 0.62, 0.64], [0.63, 0.65, 0.67]
s = stdev(bert)  # divides by n - 1
error = s * sqrt(1 / len(bert) + 1 / len(other))
difference = mean(other) - mean(bert)
print(f"s = {s:.3f}, error of a mean {s / sqrt(3):.4f}, error of the difference {error:.4f}")
print(f"difference {difference:.3f}: {difference / error:.1f} standard errors")

# %% [markdown]
# Three points better, and still not told from noise. With five seeds each it would be (the error would be 0.0126).
#
# ### Three numbers know little about s
#
# The s above has a noise of its own. The next cell draws three runs from a normal distribution with a standard deviation
# of 0.02, ten thousand times, and computes s from each three. Then it does the same with twelve members of three runs
# each that have the same true s, and takes the root of the mean of their twelve variances. Guess the range in which 90 %
# of the values of s lie, for three runs and for twelve times three.

# %%
import numpy as np

draws = np.random.default_rng(0).normal(0.62, 0.02, size=(10_000, 12, 3))
variances = draws.var(axis=-1, ddof=1)  # [10,000, 12]
for name, s, seen in (
    ("3 runs", np.sqrt(variances[:, 0]), (0.005, 0.035)),
    ("12 · 3", np.sqrt(variances.mean(axis=1)), (0.015, 0.025)),
):
    low, high = map(lambda a, b: about(a, b, within=0.001), seen, np.quantile(s, [0.05, 0.95]))
    print(f"s from {name}: 90 % lie between {low:.3f} and {high:.3f}")

# %% [markdown]
# An s from three runs can be a quarter of the truth, or nearly twice. A member whose three runs happen to lie close
# together would seem to have no noise at all. So we **pool**: we assume that all members have the same noise at one task,
# and average their variances, each with the weight n − 1 (its **degrees of freedom**):
#
# $$s = \sqrt{\frac{\sum_k (n_k - 1)\, s_k^2}{\sum_k (n_k - 1)}}$$
#
# A member with a single seed has n − 1 = 0, so it says nothing about s. But with the s of the others you can compare even
# this member. The price is the assumption. If one member is much less stable than the rest, pooling hides it: look at the
# single runs, too.
#
# ### Exercise 21.1 · Told from noise
# ●●○○ · 12 minutes
#
# Write `told_apart(scores, one, other)`. `scores` is a dictionary: the name of a member, and the list of its scores, one
# for each seed. The lists may have different lengths, and at least one has two scores or more. Return three things: the
# difference of the means, `one` minus `other`; its standard error s · √(1/n + 1/m), with s pooled over *all* members that
# have two seeds or more; and whether the difference, up or down, is larger than two standard errors. (`check` examines
# your answer, and `hint("21.1")` gives a hint.)

# %% tags=["exercise"]
import statistics


def told_apart(scores, one, other):
    ### BEGIN SOLUTION
    several = [values for values in scores.values() if len(values) > 1]
    squares = sum((len(values) - 1) * statistics.variance(values) for values in several)
    s = sqrt(squares / sum(len(values) - 1 for values in several))
    error = s * sqrt(1 / len(scores[one]) + 1 / len(scores[other]))
    difference = mean(scores[one]) - mean(scores[other])
    return difference, error, abs(difference) > 2 * error
    ### END SOLUTION


check("21.1", told_apart)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `statistics.variance` divides by n − 1. Multiplied by n − 1 it gives back the sum of squares, so `squares` is the sum
# over all members of the squared distances from each member's *own* mean. Only then comes the division, by the sum of the
# degrees of freedom. The mean of the members never enters s: how much members differ from each other is the signal, not
# the noise.
#
# </details>

# %% [markdown]
# The package has the function as `bertedu.family.comparison.told_apart`, and `pooled_deviation` for s. (Where no member
# has two seeds, s is infinite: then nothing can be told.) The next cell asks of each member whether it can be told from
# BERT at two tasks. Guess for how many.

# %%
from bertedu.family.comparison import pooled_deviation, told_apart

for task in ("reviews", "films (MR)"):
    scores = columns[task]
    print(f"{task}: s = {pooled_deviation(scores):.3f}")
    for name in NAMES[1:]:
        difference, error, told = told_apart(scores, name, "bert")
        mark = "told from noise" if told else ""
        print(f"  {pictures.TITLES[name]:18} {difference:+.3f}, error {error:.3f}  {mark}")

# %% [markdown]
# TODO(results): how many of the members are told from BERT at the two tasks, and how large a difference would have to be there (two errors).
#
# ### The noise that no seed shows
#
# A second kind of noise is the same for all members: **the test rows themselves**. If a model is right on a share p of
# *all* texts of this kind, then on n of them, drawn at random, the standard error of its accuracy is √(p · (1 − p) / n):
# the binomial distribution, [chapter 10](10_text_classification.ipynb). More seeds don't make it smaller, and s doesn't
# contain it, because all runs answer the same rows. The next cell prints both for the four tasks that are scored by
# accuracy.

# %%
by_accuracy = {"reviews": 300, "inference": 300, "films (MR)": 1000, "NLI (CAD)": 1000}
for task, n in by_accuracy.items():
    p, s = mean(columns[task]["bert"]), pooled_deviation(columns[task])
    print(f"{task:11} {n:4} rows: s of the seeds {s:.3f}", end=", ")
    print(f"standard error of the rows {sqrt(p * (1 - p) / n):.3f}")

# %% [markdown]
# For a *difference* of two models on the same rows this noise is smaller than √2 times the number above, since both are
# right on most of the easy rows and wrong on most of the hard ones. Only rows count on which exactly one of the two is
# right. If there are b of the one kind and c of the other, the standard error of the difference is at most √(b + c) / n
# (McNemar's test uses b and c as well). With n = 300 and b + c = 60 that is 0.026.
#
# So keep two questions apart. *If I train both again, will the order stay?* That is what seeds tell. *If I test on other
# texts, will the order stay?* That is what rows tell. Our table answers the first one only. An answer to the second one
# needs more rows, or several tasks.
#
# ## Many comparisons
#
# Ten members, nine tasks: we are about to compare 90 differences from BERT with two standard errors. Suppose that all
# ten are *exactly* as good as BERT. How many differences will be marked as told from noise?
#
# ### Exercise 21.2 · By chance
# ●●○○ · 8 minutes
#
# Each of the 90 differences is normal and goes beyond two standard errors, up or down, with a probability of 0.0455.
# Predict three numbers, as a list:
#
# 1. how many marks do you expect among the 90?
# 2. with what probability is there at least one mark, if the comparisons were independent?
# 3. a **Bonferroni correction** gives each of the 90 comparisons only a 90th part of the probability, so that the chance
#    of *any* mark stays below 0.0455. Beyond how many standard errors does a difference then have to be?
#
# For the third one: `NormalDist().inv_cdf(q)` from `statistics` is the number of standard errors below which a share q
# of all differences lies. Stuck? `hint("21.2")`

# %% tags=["exercise"]
from statistics import NormalDist

### BEGIN SOLUTION
by_chance = [90 * 0.0455, 1 - 0.9545**90, NormalDist().inv_cdf(1 - 0.0455 / 90 / 2)]
### END SOLUTION
check("21.2", by_chance)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Expected numbers add, whether or not the comparisons depend on each other: 90 · 0.0455 = 4.1. No mark at all has the
# probability 0.9545⁹⁰ = 0.015, so at least one has 0.985. For Bonferroni the probability is 0.0455 / 90 = 0.0005, half of
# it above and half below, and beyond 3.5 standard errors a normal variable has just that.
#
# </details>

# %% [markdown]
# Is it as bad as that? The next cell simulates it: eleven members that are all equal, nine tasks, three seeds, and the
# rule from above, two thousand times. The picture shows how many marks there are.

# %%
scores = np.random.default_rng(1).normal(size=(2000, 9, 11, 3))  # …, task, member, seed
s = np.sqrt(scores.var(axis=-1, ddof=1).mean(axis=-1))[..., None]  # pooled, [2000, 9, 1]
means = scores.mean(axis=-1)  # [2000, 9, 11]
marks = np.abs(means[..., 1:] - means[..., :1]) > 2 * s * sqrt(1 / 3 + 1 / 3)
counts = marks.sum(axis=(1, 2))  # [2000]
print(f"marks: {about(5.2, counts.mean(), within=0.4):.1f} of 90 on average", end=", ")
print(f"at least one in {about(0.96, (counts > 0).mean(), within=0.03):.0%}")
pictures.chance_marks(counts.tolist(), comparisons=90)

# %% [markdown]
# Two small differences from the exercise, and both have a reason. There are more than 4.1 marks on average, because s is
# itself measured, from 22 degrees of freedom: beyond two errors lie 5.8 % and not 4.6 % (Student's t distribution). And
# experiments without any mark are *more* frequent than 1.5 %, because the comparisons are not independent: all ten share
# BERT's runs. If BERT has bad luck at a task, all the others look better at once.
#
# So a table with five marks in 90 comparisons is what **no difference at all** looks like. What can you do?
#
# - count the marks, and compare with what chance gives,
# - believe a difference that appears at several tasks, rather than a large one at a single task,
# - decide *before* you see the results which comparison matters: for one planned comparison two errors are enough,
# - for a hunt through the table ask for 3.5 errors.
#
# ## Figures that don't compare
#
# Why not simply compare the losses in pre-training? They need no labels, and they have little noise. The answer: a loss
# *for a token* depends on what a token is. With a pencil: one vocabulary has *embankment* as one token, and the model
# gives it a probability of e⁻⁶, a loss of 6 nats. Another one cuts it into *em ##bank ##ment*, with probabilities e⁻³,
# e⁻² and e⁻¹. Both give the word the same probability, e⁻⁶. But the second model's mean loss for a token is 2.
#
# What can be compared is the loss of something that all vocabularies share: a word, a character, the whole text.
#
# - **bits per character**: the losses of all tokens, summed, in bits (1 bit is ln 2 nats), divided by the number of
#   characters,
# - **perplexity of a word**: e to the sum of all losses in nats divided by the number of words.
#
# ### Exercise 21.3 · Per character
# ●●○○ · 10 minutes
#
# The function in the next cell averages the losses of each sentence's tokens, and then the sentences. It ranks two
# vocabularies, and there are at least four things wrong with it. Write `bits_per_character(texts, tokens, nats)`. `texts`
# is a list of strings. `tokens` has a list of tokens for each text, with `[CLS]` and `[SEP]` at the ends, which are not
# part of the text. `nats` has the losses of these tokens, in nats. Return the bits for each character of all texts
# together; a space is a character, too. Stuck? `hint("21.3")`


# %%
def mean_loss(texts, tokens, nats):
    means = [sum(losses) / len(losses) for losses in nats]
    return sum(means) / len(means)


text = ["an embankment"]
whole = [["[CLS]", "an", "embankment", "[SEP]"]], [[0.1, 2.0, 6.0, 0.1]]
pieces = [["[CLS]", "an", "em", "##bank", "##ment", "[SEP]"]], [[0.1, 2.0, 3.0, 2.0, 1.0, 0.1]]
print(f"whole words {mean_loss(text, *whole):.2f}, pieces {mean_loss(text, *pieces):.2f}")

# %% tags=["exercise"]
from math import log


def bits_per_character(texts, tokens, nats):
    ### BEGIN SOLUTION
    total = sum(sum(losses[1:-1]) for losses in nats)  # without [CLS] and [SEP]
    return total / log(2) / sum(len(text) for text in texts)
    ### END SOLUTION


check("21.3", bits_per_character)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One sum over everything, divided by one sum over everything: a long sentence counts more than a short one, as it
# should. The number of tokens doesn't occur, so a vocabulary can't change the result by cutting words into more pieces.
# Nats become bits when they are divided by ln 2, and [CLS] and [SEP] are not in the text.
#
# </details>

# %% [markdown]
# Our benchmark hides each token of 120 held-out sentences in turn, and later pieces of the same word with it. (Without
# that, the rest of a word would give its pieces away, and small pieces would look better again.) The next cell prints the
# loss for a masked token in validation, the tokens of a word, and the two figures that may be compared. It sorts by the
# first one. Read down the last column: is it sorted, too?

# %%
rows = []
for name in NAMES:
    run, pieces = runs[name][0], members[name]["cost"]["tokens of a word"]
    if "bits per character" in run["other"]:
        found = (run["other"]["perplexity of a word"], run["other"]["bits per character"])
        rows.append((run["pretraining"]["validation"]["mlm_loss"], pieces, *found, name))
print("                   loss of a token  tokens of a word  perplexity of a word  bits")
for loss, pieces, perplexity, bits, name in sorted(rows):
    print(f"{pictures.TITLES[name]:18} {loss:15.2f} {pieces:17.2f}", end="")
    print(f" {perplexity:21,.0f} {bits:5.3f}")

# %% [markdown]
# TODO(results): which members change their rank between the first and the last column, and why (tokens of a word, capitals in byte-level BPE).
#
# The last two columns say the same in two units: perplexity is 2 to the power of (bits a character · characters of a
# word). ELECTRA is missing, because its generator is another and smaller network than the one that is kept. And even bits
# per character have a limit: they are computed from masked positions, so they are a *pseudo*-likelihood. Compare them
# between masked models, never with GPT.
#
# Most of all: a good language model is not yet a good model for your task. We come back to this in a moment.
#
# ## The results
#
# Now the whole table. A star marks a mean that is told from BERT's, by two pooled standard errors. Below the members
# there is BERT with random weights, fine-tuned like the others, and the best baseline that needs no network: a bag of
# words, a linear model of a word and its neighbors, or a constant. Before you run the cell, write down what you expect
# from chapters 15 to 19. Which three members should lead?


# %%
def entry(scores, name):
    told = name != "bert" and told_apart(scores, name, "bert")[2]
    return f"{mean(scores[name]):7.3f}{'*' if told else ' '}"


print(" " * 19 + "".join(f"{task.split()[0][:7]:>7} " for task in columns))
for name in (*NAMES, "untrained"):
    print(f"{pictures.TITLES[name]:19}" + "".join(entry(of, name) for of in columns.values()))
best = [max(baselines[task].values()) for task in TASKS]
print(f"{'without a network':19}" + "".join(f"{score:7.3f} " for score in best))
stars = [told_apart(columns[t], n, "bert")[2] for t in TASKS for n in NAMES[1:]]
print(f"{sum(stars)} stars in {len(stars)} comparisons of trained members")
reached = {task: max(mean(columns[task][name]) for name in NAMES) for task in TASKS}
ahead = [task for task, score in zip(TASKS, best) if score > reached[task]]
print("all members stay below the baseline at:", ", ".join(ahead) or "no task")

# %% [markdown]
# The next cell draws the same as differences from BERT, with two standard errors to either side. Green is better than
# BERT, orange is worse, gray can't be told. A vertical line of gray points at 0 would be a family of equals.

# %%
gaps = {
    task: {name: told_apart(scores, name, "bert") for name in NAMES[1:]}
    for task, scores in columns.items()
}
pictures.differences(gaps)

# %% [markdown]
# Read the picture in this order.
#
# 1. **Count.** How many stars are there, and how many does chance give (about 5 in 90)?
# 2. **Then the last panel**, the mean of all tasks: it averages the noise of nine tasks, so it has the smallest error.
# 3. **Then single tasks**, and only for members that you had in mind before.
#
# TODO(results): the count of stars against five by chance; is it more?
#
# TODO(results): the baseline: at how many tasks is no member above the best baseline without a network (so small models, ten minutes).
#
# TODO(results): not pre-trained: at which tasks does pre-training help at all.
#
# TODO(results): member by member, one or two sentences each, by the mean of tasks and by tasks: RoBERTa, SpanBERT, ALBERT, the two students, ELECTRA, DeBERTa and v2, ModernBERT, XLNet; beside what was published.
#
# Does a better language model make a better member? The next cell prints the rank correlation (Spearman) of bits per
# character and the mean of the tasks, over all members that have both. −1 would mean: the lower the bits, the better
# the tasks. The last lines tell how many of the replaced tokens ELECTRA's discriminator has learned to find: at first it
# calls every token original ([chapter 17](17_electra.ipynb)), and it has to leave that before it learns anything else.

# %%
from scipy.stats import spearmanr

bits = {name: mean(r["other"]["bits per character"] for r in runs[name]) for *_, name in rows}
worth = [mean(columns["mean of tasks"][name]) for name in bits]
print(f"{len(bits)} members, rank correlation {spearmanr(list(bits.values()), worth)[0]:+.2f}")
for run in runs.get("electra", []):
    recall = run["pretraining"]["validation"]["rtd_recall"]
    print(f"ELECTRA, seed {run['seed']}: {recall:.0%} of the replaced tokens are found")

# %% [markdown]
# TODO(results): what the correlation says (with about ten members, anything between −0.6 and 0.6 may be chance).
#
# TODO(results): whether ELECTRA's discriminator has left "always original", and so whether its row in the table says anything about ELECTRA.
#
# ### Beside what was published
#
# | member | published, with larger models and far more text | held equal there |
# |---|---|---|
# | RoBERTa | BERT was "significantly undertrained" (Liu et al. 2019, abstract): the recipe matters more than the network | varies, see the paper's table 4 |
# | SpanBERT | SQuAD 2.0: 83.8 with random subwords, 85.4 with spans, 86.7 with one segment, 86.8 with the boundary objective (tables 6 and 7) | steps |
# | ALBERT | mean of five tasks: 82.3 unshared, 80.1 with one layer for all and E = 128 (tables 3 and 4) | steps |
# | DistilBERT | without copied layers −3.7 GLUE points, without the soft targets −3.0, without the cosine −1.5, without MLM −0.3 (table 4) | the rest of the recipe |
# | ELECTRA | GLUE at 14 million parameters: 79.9, a BERT of the same size 75.1 (table 1) | operations |
# | XLNet | SQuAD 2.0: 81.3, BERT 76.3 (table 6) | text and size |
# | DeBERTa | MNLI: 86.3, RoBERTa trained again 84.9 (table 4) | text and steps |
# | ModernBERT | on the same text DeBERTaV3 learns more from each token, ModernBERT is faster (Antoun et al. 2025, arXiv 2504.08716) | text |
# | all of them | at a fixed budget of one GPU day the architecture hardly changes the loss, throughput does (Geiping & Goldstein 2022, arXiv 2212.14034) | time |
#
# What can ten minutes show, and what can't they? They can show a large effect on learning speed: what is gained by a
# teacher, by relative positions, or by another loss. They can hardly show these:
#
# - **the boundary objective and longer spans**: in the paper 0.1 points, after a large gain from another change,
# - **DeBERTa's absolute positions at the end** (EMD): 0.2 points,
# - **local attention**: in texts of 64 tokens a window of 64 to each side hides nothing,
# - **XLNet's memory**: no text is longer than one segment,
# - **ALBERT's small size**: two layers have little to share,
# - **what appears only after long training**, such as a discriminator that has left *always original*.
#
# If our table and a paper disagree, then one of these is usually the reason. It doesn't refute the paper, and the paper
# doesn't refute the table: they answer different questions.
#
# ## What it costs
#
# A member that is better and slower is not simply better. Put all of them into one picture, cost to the right and score
# up. One point **dominates** another if it costs no more and scores no less, and is better in one of the two. Nobody
# needs a dominated point. The others form the **Pareto front**: on it, you can only get a higher score by paying more.
#
# The next cell finds the front for the milliseconds of one text of 64 tokens and the mean of the tasks.


# %%
def dominated(name, points):
    cost, score = points[name]
    return any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points.values())


def cost_and_score(what):
    score = {name: mean(columns["mean of tasks"][name]) for name in NAMES}
    return {name: (members[name]["cost"][what], score[name]) for name in NAMES}


points = cost_and_score("milliseconds")
on_front = sorted((n for n in NAMES if not dominated(n, points)), key=points.get)
print("on the front:", *(pictures.TITLES[name] for name in on_front), sep="  ")
pictures.front(points, on_front, "milliseconds of a text", "mean of nine tasks")

# %% [markdown]
# TODO(results): the milliseconds were not measured in turns, on a machine that did other work. Members with BERT's own network (RoBERTa, SpanBERT, ELECTRA) must take BERT's time: check before this figure is used.
#
# TODO(results): who is on the front, and which step up in it is within the noise (so a cheaper neighbor is as good).
#
# A front is drawn through *measured* points, so noise decides about it, too: one lucky run puts a member on the front. Check
# the neighbors on the front with `told_apart`. If the more expensive one can't be told from the cheaper one, take the
# cheaper one. And the axis matters: the next cell asks again for the memory of a training step and for the parameters.

# %%
from bertedu.family.comparison import pareto_front

for what in ("milliseconds", "megabytes of a step", "parameters"):
    front = pareto_front(cost_and_score(what))
    print(f"{what:20}", *(pictures.TITLES[name] for name in front), sep="  ")

# %% [markdown]
# ## The proof
#
# Your `told_apart` is older than BERT: the pooled variance is the "mean square within groups" of an **analysis of
# variance** (Fisher 1925). With two groups the ratio F of an ANOVA is (difference / error)². The next cell compares with
# `f_classif` of scikit-learn, for BERT and each other member of a made-up table with three to five seeds, and checks that
# the front from above equals the package's.

# %%
from sklearn.feature_selection import f_classif

made_up = np.random.default_rng(2).normal(0.6, 0.02, size=(11, 5))
largest = 0.0
for number in range(1, 11):
    two = {"bert": made_up[0, :4].tolist(), "other": made_up[number, : 3 + number % 3].tolist()}
    difference, error, _ = told_apart(two, "other", "bert")
    X = np.array([*two["bert"], *two["other"]])[:, None]
    F, _ = f_classif(X, [0] * len(two["bert"]) + [1] * len(two["other"]))
    largest = max(largest, abs(F[0] - (difference / error) ** 2))
print(f"largest difference from F: {largest:.6f}")
print(f"fronts that differ: {len(set(on_front) ^ set(pareto_front(points)))}")

# %% [markdown]
# ## Which one, then?
#
# Your task is not in our table. So the answer is not a name, it's a short list, and a comparison on *your* rows with
# three seeds each. This table makes the list:
#
# | you have | try | because | chapter |
# |---|---|---|---|
# | a few hundred labels, and single words that decide | a bag of words with logistic regression | it costs nothing, and small networks often stay below it (see *without a network* above) | [10](10_text_classification.ipynb) |
# | similar texts to find or to group, no labels | a sentence encoder such as all-MiniLM-L6-v2 | it has seen a billion pairs of sentences | [13](13_pairs_and_similarity.ipynb) |
# | English texts up to 512 tokens, and accuracy is what counts | DeBERTaV3-base, RoBERTa-base beside it | relative positions, and a loss on all tokens | [18](18_deberta_and_xlnet.ipynb) |
# | long texts, or many of them | ModernBERT-base | 8,192 tokens, no computation for padding | [19](19_modernbert.ipynb) |
# | many languages | XLM-R, or a newer multilingual encoder | one vocabulary and one model for all | [20](20_many_languages.ipynb) |
# | half of the time | a distilled model | half of the layers, which is what time depends on | [16](16_albert_and_distilbert.ipynb) |
# | little memory for weights | ALBERT | one layer, stored once. It is *not* faster | [16](16_albert_and_distilbert.ipynb) |
# | answers that are spans of a text | SpanBERT beside the others | it was trained to know what is inside a span | [15](15_roberta_and_spanbert.ipynb) |
# | text of your own, and little time to pre-train | start from a published model, and go on with its own objective | ten minutes from nothing reach what the table above shows | [08](08_pre_training.ipynb) |
# | a handful of examples, or classes that change each week | a large language model by prompt | no training; compute the cost below | |
#
# How much is a sentence encoder worth? `benchmarks/README.md` ("Fine-tuning on public data") has all-MiniLM-L6-v2 beside
# our `books-mini` (both fine-tuned on 1,000 rows, three seeds, mean ± standard deviation):
#
# | task | MiniLM | books-mini | without a network |
# |---|---|---|---|
# | films, accuracy | 0.786 ± 0.002 | 0.644 ± 0.013 | 0.693 |
# | 77 intents, accuracy | 0.394 ± 0.039 | 0.547 ± 0.007 | 0.654 |
# | similarity, two vectors, Spearman | 0.907 ± 0.002 | 0.708 ± 0.008 | 0.718 |
# | entities (WNUT 17), F1 | 0.348 ± 0.016 | 0.096 ± 0.035 | 0.074 |
#
# MiniLM has six layers and D = 384, and has read incomparably more. On films this is worth 0.14: compare it with the
# largest difference between two members in the table above. And look at the second line: with 13 examples for each of 77
# classes and six passes, the bag of words was ahead of both.
#
# ### An encoder or a prompt? (optional)
#
# A large language model can classify by prompt, without labels. We have not measured one here. But you can compute what
# it costs, and this is **arithmetic with assumed prices**: put in today's. The text has 200 tokens, the instruction with
# its examples 800, the answer 5. We assume two price lists, for a million tokens of input and of output: 0.10 and 0.40
# euros, and 3 and 15 euros. For the encoder we assume 2,000 labels at 0.30 euros, 60 milliseconds of a processor core
# for a text, and 0.05 euros for an hour of it.
#
# ### Exercise 21.4 · Break even
# ●●●○ · 12 minutes
#
# Write `break_even(once, hour, milliseconds, tokens, prices)`: the smallest number of texts for which the encoder has cost
# less in all than the prompt.
#
# - `once`: euros that are paid once, for labels and fine-tuning
# - `hour`: euros for an hour of a core, and `milliseconds`: the core's time for one text
# - `tokens`: a pair, the input and output tokens of one text by prompt
# - `prices`: a pair, euros for a *million* input tokens and for a million output tokens
#
# Return a whole number, or `math.inf` if the encoder never gets cheaper. Stuck? `hint("21.4")`

# %% tags=["exercise"]
import math


def break_even(once, hour, milliseconds, tokens, prices):
    ### BEGIN SOLUTION
    prompt = (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1_000_000
    encoder = hour * milliseconds / 3_600_000
    if prompt <= encoder:
        return math.inf
    return math.floor(once / (prompt - encoder)) + 1
    ### END SOLUTION


check("21.4", break_even)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Each text saves the difference of the two prices. The encoder is cheaper from the first whole number of texts that
# saves *more* than what was paid once: `floor(…) + 1`, because at an exact division both cost the same. If a text saves
# nothing, no number of texts is enough.
#
# </details>

# %% [markdown]
# The next cell computes it for both price lists without your function, and draws the cheaper one.

# %%
once, encoder = 2000 * 0.30, 0.05 * 60 / 3_600_000  # euros
for price_in, price_out in ((3.0, 15.0), (0.10, 0.40)):
    prompt = (1000 * price_in + 5 * price_out) / 1_000_000
    crossing = once / (prompt - encoder)
    print(f"by prompt {prompt:.6f} euros, on a core {encoder:.7f}: {crossing:,.0f} texts")
ways = {"encoder": lambda n: once + n * encoder, "prompt": lambda n: n * prompt}
pictures.spending(ways, [10**power for power in range(3, 9)], crossing)

# %% [markdown]
# The labels decide, not the core: a million texts on it cost less than one euro. So the question becomes: *how many texts
# come before the task changes, and the labels have to be paid for again?* Costs that are in neither price: the people who
# keep it running, private text that may not leave the house, 60 milliseconds against a second or more, and probabilities
# that you can put a threshold on ([chapter 23](23_into_production.ipynb)). And you can combine both: let a large model
# label some thousand texts, check a sample by hand, and train the encoder on them.
#
# ## Broken BERT: a gain over itself
#
# A colleague compares a new model with the baseline, ten seeds each, and reports a gain of several standard errors.
# You are suspicious, because the new model hardly differs from the old one. So you run an **A/A test**: you put the
# *baseline itself* in for the candidate, with other random numbers. A fair comparison should find nothing.
#
# The models are small, so that it takes seconds: logistic regression on bags of words, trained by gradient descent on the
# course's reviews. `fit(rate, seed)` trains one with this learning rate and seed, and returns its accuracy on validation
# and on test. The second cell has the colleague's function. Read it before you run it.

# %%
from sklearn.linear_model import SGDClassifier

from bertedu.corpora.task_data import read_labelled
from bertedu.finetuning.bags import bags_of_words

train = read_labelled(data_path("tasks/sentiment/train.tsv"))
validation = read_labelled(data_path("tasks/sentiment/validation.tsv"))
test = read_labelled(data_path("tasks/sentiment/test.tsv"))
bag = bags_of_words([row.text for row in train])
texts = [bag.transform([row.text for row in part]) for part in (train, validation, test)]
labels = [[row.label for row in part] for part in (train, validation, test)]


def fit(rate, seed):  # -> accuracy on validation and on test
    steps = {"learning_rate": "constant", "eta0": rate, "max_iter": 5, "tol": None}
    model = SGDClassifier(loss="log_loss", random_state=seed, **steps).fit(texts[0], labels[0])
    return model.score(texts[1], labels[1]), model.score(texts[2], labels[2])


# %%
RATES = (2.0, 0.5, 1.0, 4.0, 8.0, 16.0)  # the baseline's, and others to try


def colleagues_compare(baseline, candidate, rates, seeds):
    plain = [baseline(rates[0], seed)[1] for seed in seeds]
    tuned = [max(candidate(rate, seed)[1] for rate in rates) for seed in seeds]
    return told_apart({"baseline": plain, "candidate": tuned}, "candidate", "baseline")


def again(rate, seed):  # the baseline itself, with other random numbers
    return fit(rate, 100 + seed)


gain, error, _ = colleagues_compare(fit, again, RATES, range(10))
errors = about(3.7, gain / error, within=1.5)
print(f"gain {about(0.025, gain, within=0.012):.3f}, that is {errors:.1f} standard errors")

# %% [markdown]
# The baseline beats itself. And with more seeds the claim becomes *more* certain: the error shrinks, and the difference
# stays. This is no noise but a **bias**, and no number of standard errors protects you from it.
#
# Find the reason before you read on. Ask of each number in the function: which learning rate, which rows, which seeds?
#
# ### Exercise 21.5 · A gain over itself
# ●●●○ · 12 minutes
#
# Write `compare(baseline, candidate, rates, search, seeds)`. `baseline` and `candidate` are functions like `fit`. For
# *each* of the two find the learning rate with the highest mean **validation** score over the seeds in `search`. Then take
# the **test** scores of that learning rate for the seeds in `seeds`. Return what `told_apart` says of the candidate and
# the baseline: difference, error, told. Stuck? `hint("21.5")`


# %% tags=["exercise"]
def compare(baseline, candidate, rates, search, seeds):
    ### BEGIN SOLUTION
    def scores(fit):
        best = max(rates, key=lambda rate: mean(fit(rate, seed)[0] for seed in search))
        return [fit(best, seed)[1] for seed in seeds]

    both = {"baseline": scores(baseline), "candidate": scores(candidate)}
    return told_apart(both, "candidate", "baseline")
    ### END SOLUTION


check("21.5", compare)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Three things were unequal. *Learning rates*: the candidate had six tries and the baseline one. *Rows*: the test rows
# chose the candidate's learning rate, and then scored it, so they scored their own choice. *Seeds*: each seed had the
# learning rate that suited it best, which is the largest of six noisy numbers. The mean of the largest of six normal
# numbers lies 1.3 standard deviations above their mean, without any merit. A helper that is called for both sides can't
# treat them differently.
#
# </details>

# %% [markdown]
# One A/A test may find something by chance. So the next cell repeats it, five times with other seeds, with the
# colleague's function and with the package's `fair_comparison`. It prints how many standard errors each of them claims.

# %%
from functools import cache

from bertedu.family.comparison import fair_comparison

kept = cache(fit)


def baseline_from(first):  # the same model; its seeds begin elsewhere
    return lambda rate, seed: kept(rate, first + seed)


claims = {"colleague's": [], "fair": []}
for first in (0, 200, 400, 600, 800):
    sides = baseline_from(first), baseline_from(first + 100)
    gain, error, _ = colleagues_compare(*sides, RATES, range(10))
    claims["colleague's"].append(gain / error)
    gain, error, _ = fair_comparison(*sides, RATES, range(50, 53), range(10))
    claims["fair"].append(gain / error)
seen = {"colleague's": (3.7, 1.5, 3.3, 2.2, 3.3), "fair": (0.0, 0.7, 0.8, 0.3, 0.3)}
for name, found in claims.items():
    errors = [about(one, other, within=1.5) for one, other in zip(seen[name], found)]
    print(f"{name:12}", *(f"{one:.1f}" for one in errors))

# %% [markdown]
# The first function finds a gain five times out of five, and mostly a "significant" one. The second one stays below one
# standard error. (In the long run it will exceed two in about one of twenty tests. That is what two errors mean.)
#
# Here the bug stands in one line. In a real project it is scattered over weeks: the baseline's number comes from an old
# table, the candidate is tuned, and the best of its runs goes into the new table. Three habits protect you:
#
# - the same budget of search for both sides, and say it: how many runs were tried for each?
# - the test rows are read once, at the end,
# - an A/A test before the first A/B test. It needs no new code: you put the same model in twice.
#
# Check the chapter's own comparison with this list. Three learning rates were tried for *every* member, BERT included;
# validation losses chose them, from a seed that is not in the table; the test rows were read once for each run. But the
# search was short, and what all members share (Muon, the batch size, the length of the texts) was tried out with BERT. A
# suspicious reader would ask whether this favors BERT, and would be right to ask.
#
# ## Paper and code
#
# | | |
# |---|---|
# | One run or many | Many results rest on a single pre-trained checkpoint. A replication of ELECTRA-Small did it 14 times: a mean of 81.38 GLUE points, standard deviation 0.57, from 80.42 to 82.23 ([richarddwang/electra_pytorch](https://github.com/richarddwang/electra_pytorch)). Each of these numbers is already the mean over tasks of the *best* of ten fine-tuning runs. So two single runs of the *same* model can differ by a point and a half |
# | Seeds of fine-tuning | Dodge et al. 2020 (arXiv 2002.06305) fine-tuned BERT 2,100 times on four GLUE tasks and changed only the seeds. Weight initialization and data order contribute about equally, and the best of many seeds is substantially better than what had been published: a maximum depends on how often you try |
# | Seeds of pre-training | Sellam et al. 2021 (*MultiBERTs*, arXiv 2106.16163) published 25 BERT-Base models that differ in the seed only, and a bootstrap that draws seeds *and* test rows anew: both kinds of noise in one number |
# | The baseline | RoBERTa's main result is about BERT: trained longer, on more text, it matches what came after it (Liu et al. 2019). A weak baseline makes every idea look good |
# | What is equal | ALBERT compares at 125,000 steps, and in a later table at equal time (Lan et al. 2020, sections 4.1 and 4.7). ELECTRA compares at equal operations |
# | Ours | `bertedu.family.comparison`, s pooled over all rows of the table. `benchmarks/family_table.py` prints ≈ where this chapter prints no star |
#
# ## Summary
#
# - A comparison holds something equal, and that favors somebody. Say whether it is steps, operations or seconds.
# - Noise is the standard deviation over seeds, pooled over the members. A difference of two means has the standard error
#   s · √(1/n + 1/m), and below two of these it isn't told from noise.
# - Test rows have a noise of their own, √(p · (1 − p) / n), which no seed shows.
# - Among 90 comparisons of equal models you'll find about five "improvements". Count the stars before you read them.
# - Losses for a token don't compare between vocabularies. Bits per character do.
# - Choose on the Pareto front, on your own rows. Between neighbors that can't be told apart take the cheaper one.
# - A gain that survives no A/A test isn't one.
#
# TODO(results): one line with the chapter's own answer, e.g. which members are told from BERT in the mean of tasks, and at what cost.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(21)

# %% [markdown]
# ## Interview questions
#
# <!-- family-17 -->
#
# <!-- evaluation-02 -->
#
# ## Next
#
# You have chosen a model. To train one of full size, two cores are not enough: [22 · From two cores to many
# GPUs](22_many_gpus.ipynb).
