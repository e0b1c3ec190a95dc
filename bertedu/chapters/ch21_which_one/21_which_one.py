# %% [markdown]
# # 21 · Which one?
#
# Eleven members of the family were trained on the same text for the same time. Now you have to choose one, and to say
# how sure you are. You will build the few lines of statistics that tell a difference from noise, read the results with
# them, and get a guide.
#
# ## What you will be able to do
#
# - tell a difference between two models from noise with Welch's t-test, and say what three seeds can't show
# - predict how many differences look real by chance when many models are compared on many tasks
# - compare language models with different vocabularies, in bits per character
# - find the models that no other one beats in both cost and score (optional: when an encoder is cheaper than a prompt)
# - detect an unfair comparison with an A/A test, and repair it
#
# **Time:** three sittings of about 35, 40 and 40 minutes ·
# **You need:** [20 · Many languages](20_many_languages.ipynb) ·
# **Next:** [22 · From two cores to many GPUs](22_many_gpus.ipynb)
#
# ## Recall
#
# 1. mBERT samples languages in proportion to p^0.7. What does the exponent do?
#
# <details><summary>Answer</summary>
#
# It raises the share of small languages and lowers that of large ones. The vocabulary and the model then see more of
# the small languages than the data alone would give them.
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
# If you add languages to a model of fixed size, each of them gets less of its capacity. Beyond some number of
# languages, all of them get worse. A larger model can carry more languages.
#
# </details>
#
# ## Where this part sits
#
# This chapter adds nothing to BERT. It compares what chapters 15 to 19 have built: a row for each published model, a
# column for each kind of change. (DistilBERT takes part twice, with and without its teacher, DeBERTa in two versions.)

# %%
from bertedu.chapters.ch21_which_one import family_pictures as pictures

pictures.family_map()

# %% [markdown]
# "Is DeBERTa better than RoBERTa?" is mostly a question about relative positions, "Is ModernBERT better than BERT?" one
# about half a dozen things.
#
# ## The problem: two rankings
#
# `benchmarks/family.py` pre-trained the members and fine-tuned each of them on nine tasks. Then it did both again from
# other random **seeds**. In pre-training a seed decides the initial weights, the order of the texts and the masks, in
# fine-tuning the head's weights and the order of the rows. `columns[task][name]` is a list of test scores, one a seed.

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
# We do as many blog posts: take one task and one seed, and rank the members. (*Reviews* and *films* ask nearly the
# same: does a text praise or blame?) We follow the three best members of the first ranking. Guess: how many of them are
# among the best three in all four rankings (reviews twice, films, inference)?


# %% tags=["guess"]
def ranking(task, seed):  # best first
    first = {name: columns[task][name][seed] for name in NAMES}
    return sorted(first, key=first.get, reverse=True)


last = min(len(runs[name]) for name in NAMES) - 1  # the last seed that all members have
shown = (("reviews", 0), ("reviews", last), ("films (MR)", 0), ("inference", 0))
pictures.rankings({f"{task}\nseed {seed}": ranking(task, seed) for task, seed in shown})

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The lines cross. None of the three colored members is among the best three in all four. The rankings from reviews
# differ in nothing but the seed, so at most one of them can be the true order on this task.
#
# </details>
#
# The question of this chapter: **would the order be the same if somebody did it again?**
#
# ## What was held equal
#
# First we have to know what was compared. A comparison holds some things equal, and *each choice favors somebody*:
#
# | held equal | who gains | example |
# |---|---|---|
# | steps, or tokens read | members with expensive steps | ALBERT's ablations: 125,000 steps (Lan et al. 2020, section 4.1) |
# | operations (FLOPs) | members whose operations run slowly | ELECTRA-Small (Clark et al. 2020, table 1) |
# | seconds on one machine | members that fit this machine, and fast code | this chapter |
# | parameters | members that use each parameter several times | ELECTRA-Small and BERT-Small again |
#
# Ours holds the text (two million words) and the **time** equal (about ten minutes on one thread), with the same width
# and depth (2 layers, D = 128), optimizer, schedule and search: three learning rates each. What differs is what comes
# with a member: its layers, its training signal and its tokenizer. (Two exceptions: both DistilBERTs are twice as wide,
# and one has a teacher, whose own training isn't counted.)
#
# <details><summary>Where members had to differ</summary>
#
# The teacher of "DistilBERT, taught" has read 13 million words of other text, and the students have its width.
# DeBERTa's first version reads WordPiece here, and both versions are trained without the enhanced mask decoder. Most
# members mask 40 % of the tokens at first and 30 % at the end, which suits short runs; SpanBERT and ELECTRA mask
# 15 %, and XLNet predicts one token in six. BERT, RoBERTa, SpanBERT, ELECTRA and "DistilBERT, alone" start with
# `matching`, an initialization for short runs that doesn't fit the others.
#
# A run that ends by the clock can't be repeated exactly, so the seconds were turned into tokens first: five steps of a
# member, five steps of BERT, and so on. If a member is half as fast as BERT, it gets half of BERT's tokens.
#
# </details>
#
# The next cell prints what equal time means for each member, and three costs: the parameters that are kept, the memory
# for one step of pre-training (*MB a step*), and the time for one short text (*ms a text*). Guess: which member reads
# the fewest tokens?

# %% tags=["guess"]
print("                    tokens read  of BERT's  parameters  MB a step  ms a text")
for name in NAMES:
    cost, share = members[name]["cost"], members[name]["speed"]["share_of_bert"]
    tokens = runs[name][0]["pretraining"]["tokens"] / 1e6
    print(f"{pictures.TITLES[name]:18} {tokens:10.1f} M {share:10.0%}", end="")
    print(f" {cost['parameters'] / 1e6:9.2f} M {cost['megabytes of a step']:10.0f}", end="")
    print(f" {cost['milliseconds']:10.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars: BERT and ModernBERT read most, the two DistilBERTs by far the fewest tokens in the same time.](pictures/21_tokens_read.svg)
#
# "DistilBERT, taught" reads the fewest: its teacher reads each batch, too. DistilBERT is larger here, since a student
# has its teacher's width and vocabulary (D = 256). So compare the two students with each other: *alone* is the same
# network without a teacher. ALBERT is only a little smaller here: with two layers, sharing saves only one.
#
# </details>
#
# **Equal time is not equal tokens.** With equal tokens the slow members would have been trained for longer. Neither way
# is wrong, but a paper has to say which one it takes.
#
# ## Noise with a pencil
#
# Somebody trains BERT three times and gets 0.60, 0.62 and 0.64 on a task. How sure is their mean? Take a pencil.
#
# 1. The mean is 0.62. The distances from it are −0.02, 0 and 0.02, their squares 0.0004, 0 and 0.0004.
# 2. The **variance** is the sum of the squares divided by n − 1 = 2: 0.0004. (Around their own mean the squares are as
#    small as they can be, so dividing by n would give too little.)
# 3. The **standard deviation** is its root: s = 0.02. That is how much *one run* varies.
# 4. The mean of n runs varies less. Its **standard error** is s / √n = 0.02 / √3 = 0.0115.
# 5. Another member has three runs, too, and the same s. The variances of the two means add, so the **standard error of the
#    difference** is √(0.02²/3 + 0.02²/3) = 0.0163.
#
# ![Three runs of BERT and three of another member as dots, which overlap; below each the mean and its standard error.](pictures/21_three_runs.svg)
#
# If two members are equally good, their difference is beyond two standard errors in only 4.6 % of all cases, with
# normal noise and a *known* s. That is the rule of two standard errors: here 0.033.

# %%
from math import sqrt
from statistics import stdev, variance

of_bert, of_another = [0.60, 0.62, 0.64], [0.63, 0.65, 0.67]
error = sqrt(variance(of_bert) / 3 + variance(of_another) / 3)  # variance divides by n - 1
difference = mean(of_another) - mean(of_bert)
print(f"s = {stdev(of_bert):.3f}, error of a mean {stdev(of_bert) / sqrt(3):.4f}")
print(f"difference {difference:.3f}, error {error:.4f}: {difference / error:.1f} errors")

# %% [markdown]
# Three points better, and less than two standard errors.
#
# ### Three numbers know little about s
#
# The s above is itself a measured number. We draw three runs from a normal distribution with s = 0.02, ten thousand
# times. Guess: in which range do 90 % of the measured s lie? And how often are two equally good members beyond two
# *measured* standard errors?

# %%
import numpy as np

draws = np.random.default_rng(0).normal(0.62, 0.02, size=(10_000, 2, 3))
variances = draws.var(axis=-1, ddof=1)  # [10,000, 2]
errors = np.sqrt(variances.sum(axis=1) / 3)  # of the difference of two means

# %% tags=["guess"]
low, high = np.quantile(np.sqrt(variances[:, 0]), [0.05, 0.95])
low, high = about("21 low s", low, within=0.001), about("21 high s", high, within=0.001)
print(f"s from 3 runs: 90 % lie between {low:.3f} and {high:.3f}")
beyond = (abs(draws[:, 1].mean(axis=-1) - draws[:, 0].mean(axis=-1)) > 2 * errors).mean()
beyond = about("21 beyond two errors", beyond, within=0.01)
print(f"beyond two measured errors: {beyond:.0%} of equal members")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A histogram of s from three runs: a broad hill that reaches from near 0 to twice the true value.](pictures/21_spread_of_s.svg)
#
# An s from three runs can be a quarter of the truth, or 1.7 times the truth. So equal members are beyond two errors in
# 12 % of the cases, not in 4.6 %.
#
# </details>
#
# How large a difference has to be depends on how well s is known. **Student's t distribution** says it: with four
# **degrees of freedom** (2 for each three runs) the limit for 5 % is 2.8 errors, and with two it is 4.3.
#
# ### Whose noise?
#
# A popular remedy is to **pool**: average the variances of all members, and take the same s for each of them. That is
# right if all have the same noise.
#
# ![A dot for each seed on entities: most members have three close dots, ELECTRA's lie between 0.3 and 0.6.](pictures/21_own_noise.svg)
#
# The next cell simulates twelve equal members, of which the first has four times the noise of the others. It asks how
# often the first, and how often another one, is wrongly told from the last.

# %%
from scipy.stats import ttest_ind

deviations = {name: stdev(columns["entities"][name]) for name in NAMES}
for name in (min(deviations, key=deviations.get), max(deviations, key=deviations.get)):
    shown = " ".join(f"{score:.2f}" for score in columns["entities"][name])
    print(f"{pictures.TITLES[name]:9} {shown}: s = {deviations[name]:.3f}")

noise = np.array([4.0, *[1.0] * 11])[:, None]
draws = noise * np.random.default_rng(0).normal(size=(10_000, 12, 3))
pooled = np.sqrt(draws.var(axis=-1, ddof=1).mean(axis=-1) * 2 / 3)  # error of a difference
for name, number, seen in (("unstable", 0, (0.35, 0.05)), ("other", 1, (0.01, 0.03))):
    gaps = draws[:, number].mean(axis=-1) - draws[:, -1].mean(axis=-1)
    p = ttest_ind(draws[:, number], draws[:, -1], axis=-1, equal_var=False).pvalue
    found = (abs(gaps) > 2 * pooled).mean(), (p < 0.05).mean()
    wrong = [about(one, share, within=0.015) for one, share in zip(seen, found)]
    print(f"{name:9} told apart by chance: pooled {wrong[0]:.0%}, Welch {wrong[1]:.0%}")

# %% [markdown]
# The pooled s is too small for the unstable member, and too large for the others. The other column is **Welch's
# t-test** (Welch 1947). It gives each of the two members its own variance:
#
# $$\text{error} = \sqrt{a + b}, \quad a = \frac{s_1^2}{n}, \quad b = \frac{s_2^2}{m}, \qquad
# \nu = \frac{(a + b)^2}{a^2 / (n - 1) + b^2 / (m - 1)}$$
#
# ν ("nu") are the degrees of freedom. The result is **p**: how often a t distribution with ν degrees is at least as far
# from 0 as the difference is, in errors, up or down. If p < 0.05, the difference is called **statistically
# significant**. In this chapter we say **told from noise**: in everyday language *significant* means important, and
# such a difference may be too small to matter.
#
# The price: if two members are two standard deviations apart, three seeds show it in about 4 of 10 cases, ten seeds
# nearly always.
#
# ### Exercise 21.1 · Told from noise
# ●●○○ · 12 minutes
#
# Write `welch_test(ours, theirs)` for the scores of two members, one for each seed. The lists may have different
# lengths; each has two scores or more. Return three things:
#
# - the difference of the means, `ours` minus `theirs`
# - its standard error √(a + b)
# - p, for both directions. `t.sf(x, ν)` is the share of a t distribution with ν degrees of freedom that lies above x
#
# (`check` examines your answer, and `hint("21.1")` gives a hint.)

# %% tags=["exercise"]
import statistics

from scipy.stats import t


def welch_test(ours, theirs):
    ### BEGIN SOLUTION
    a, b = (statistics.variance(scores) / len(scores) for scores in (ours, theirs))
    difference, error = mean(ours) - mean(theirs), sqrt(a + b)
    nu = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(theirs) - 1))
    return difference, error, 2 * t.sf(abs(difference) / error, nu)
    ### END SOLUTION


check("21.1", welch_test)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# a and b are the variances of the two means, and variances of independent numbers add. `t.sf` is one tail, so we take
# the absolute value and double it. If one list has far more noise than the other, ν is close to the n − 1 of that list:
# the few runs of the unstable member are all that we know about the noise of the difference.
#
# </details>

# %% [markdown]
# The package has the function, too. Guess: how many members
# can be told from BERT on entities, and how many on films?

# %% tags=["guess"]
from bertedu.family.comparison import welch_test

for task in ("entities", "films (MR)"):
    scores = columns[task]
    print(f"{task}, BERT's s = {stdev(scores['bert']):.3f}")
    for name in NAMES[1:]:
        difference, error, p = welch_test(scores[name], scores["bert"])
        mark = "told from noise" if p < 0.05 else ""
        numbers = f"{difference:+.3f}, error {error:.3f}, p {p:.2f}"
        print(f"  {pictures.TITLES[name]:18} {numbers}  {mark}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One member on each task. Look at ELECTRA on entities: by far the largest difference, and it isn't told from noise. Its
# three runs are so far apart that this may be bad luck.
#
# </details>
#
# ### The noise that no seed shows
#
# A second kind of noise comes from **the test rows themselves**, which all members share.
#
# ![Three seeds answer the same eight rows: their accuracies differ a little. Other rows would move all three together.](pictures/21_two_noises.svg)
#
# If a model is right on a share p of *all* texts of this kind, its accuracy on n of them has the standard error √(p ·
# (1 − p) / n), by the binomial distribution ([chapter 07](07_next_sentence_prediction.ipynb)). More seeds don't make it
# smaller.

# %%
by_accuracy = {"reviews": 300, "inference": 300, "films (MR)": 1000, "NLI (CAD)": 1000}
for task, n in by_accuracy.items():
    p, s = mean(columns[task]["bert"]), stdev(columns[task]["bert"])
    print(f"{task:11} {n:4} rows: s of BERT's seeds {s:.3f}", end=", ")
    print(f"standard error of the rows {sqrt(p * (1 - p) / n):.3f}")

# %% [markdown]
# *If I train both again, will the order stay?* Seeds answer this one, and so does our
# table. *If I test on other texts, will the order stay?* Only more rows, or more tasks, answer that.
#
# <details><summary>The difference of two models on the same rows</summary>
#
# What counts are the rows on which exactly one of the two is right: if the first alone is right on b rows and the
# second alone on c, the standard error of the difference is at most √(b + c) / n.
#
# </details>
#
# **Here the first sitting ends.** You can tell one difference from noise. The second sitting makes many comparisons.
#
# ## Many comparisons
#
# Ten members and nine tasks make 90 differences from BERT. Suppose that all ten are *exactly* as good as BERT. How many
# will be marked as told from noise? Each of these marks is a **false positive**. The more comparisons, the more of
# them: this is the **multiple comparisons problem**.
#
# ### Exercise 21.2 · By chance
# ●●○○ · 8 minutes
#
# Suppose that the noise is known. Then each of the 90 differences is normal and goes beyond two standard
# errors, up or down, with a probability of 0.0455. Predict three numbers, as a list:
#
# 1. how many marks do you expect among the 90?
# 2. with what probability is there at least one mark, if the comparisons are independent?
# 3. a **Bonferroni correction** gives each of the 90 comparisons only a 90th part of the probability. Then the chance
#    of *any* mark (the **family-wise error rate**) stays below 0.0455. Beyond how many standard errors does a
#    difference then have to be?
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
# Expected numbers add, whether or not the comparisons depend on each other: 90 · 0.0455 = 4.1. If they are
# independent, there is no mark at all with a probability of 0.9545⁹⁰ = 0.015, so there is at least one with 0.985. For
# Bonferroni the probability is 0.0455 / 90 = 0.0005, half of it above and half below. A normal variable lies beyond
# 3.5 standard errors with this probability.
#
# </details>

# %% [markdown]
# Is it as bad as that? We simulate it two thousand times: eleven equal members, nine tasks, three seeds, and a mark
# where Welch's p is below 0.05.

# %%
scores = np.random.default_rng(1).normal(size=(2000, 9, 11, 3))  # …, task, member, seed
chances = ttest_ind(scores[:, :, 1:], scores[:, :, :1], axis=-1, equal_var=False).pvalue
counts = (chances < 0.05).sum(axis=(1, 2))  # [2000]
print(f"marks: {about(3.2, counts.mean(), within=0.3):.1f} of 90 on average", end=", ")
print(f"at least one in {about(0.88, (counts > 0).mean(), within=0.03):.0%} of the experiments")
print(f"seven or more in {about(0.10, (counts >= 7).mean(), within=0.03):.0%}", end=", ")
any_left = about(0.02, (chances < 0.05 / 90).any(axis=(1, 2)).mean(), within=0.01)
print(f"any p below 0.05 / 90 in {any_left:.0%}")
pictures.chance_marks(counts.tolist(), comparisons=90)

# %% [markdown]
# So a table with three marks in 90 comparisons is what **no difference at all** looks like. Even seven are not rare:
# all ten members share BERT's runs, so if BERT has bad luck on a task, all the others look better at once. What can you
# do?
#
# - Count the marks, and compare with what chance gives.
# - Believe a difference that appears on several tasks, rather than a large one on a single task.
# - Decide *before* you see the results which comparison matters: then p < 0.05 is enough. If you search the whole table,
#   ask for p < 0.05 / 90.
#
# ## Figures that don't compare
#
# Why not simply compare the losses in pre-training? They need no labels. But a loss *for a token* depends on what a
# token is.
#
# ![The word embankment as one token with a loss of 6, and as three pieces with 3, 2 and 1: the mean of these is 2.](pictures/21_per_token.svg)
#
# What can be compared is the loss of something that all vocabularies share:
#
# - **bits per character**: sum the losses of all tokens, in bits (1 bit is ln 2 nats), and divide by the characters
# - **perplexity of a word**: sum the losses, in nats, divide by the words, and take e to the power of the result
#
# ### Exercise 21.3 · Per character
# ●●○○ · 10 minutes
#
# The function in the next cell averages the losses of each sentence's tokens, and then the sentences. It ranks two
# vocabularies, and there are at least four things wrong with it. Write `bits_per_character(texts, tokens, nats)`.
# `texts` is a list of strings. `tokens` has a list of tokens for each text, with `[CLS]` and `[SEP]` at the ends,
# which are not part of the text. `nats` has the losses of these tokens, in nats. Return one number: the bits per
# character of all texts together. A space is a character, too. Stuck? `hint("21.3")`


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
# Four things were wrong: `mean_loss` divides by tokens and not by characters, its unit is nats, it counts [CLS] and
# [SEP], and it is a mean of means, in which a short sentence weighs as much as a long one. Here it is one sum over
# everything, divided by one sum over everything. The number of tokens doesn't occur, so a vocabulary can't change the
# result by cutting words into more pieces.
#
# </details>

# %% [markdown]
# Our benchmark takes 120 held-out sentences and hides one token at a time, together with the later pieces of its word.
# The next cell prints the loss for a masked token, the tokens per word, and the two figures that may be compared. It
# sorts by the first one. Guess: is the last column sorted, too?

# %%
rows = []
for name in NAMES:
    of, pieces = runs[name], members[name]["cost"]["tokens of a word"]
    if "bits per character" in of[0]["other"]:
        loss = mean(run["pretraining"]["validation"]["mlm_loss"] for run in of)
        perplexity = mean(run["other"]["perplexity of a word"] for run in of)
        bits = mean(run["other"]["bits per character"] for run in of)
        rows.append((loss, pieces, perplexity, bits, name))

# %% tags=["guess"]
print("                   loss of a token  tokens of a word  perplexity of a word  bits")
for loss, pieces, perplexity, bits, name in sorted(rows):
    print(f"{pictures.TITLES[name]:18} {loss:15.2f} {pieces:17.2f}", end="")
    print(f" {perplexity:21,.0f} {bits:5.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars: ModernBERT has the lowest loss for a token, DeBERTa the fewest bits per character; RoBERTa falls behind BERT.](pictures/21_bits_and_loss.svg)
#
# The order changes. RoBERTa has the second lowest loss of a token, clearly below BERT's. In bits per character that
# lead is gone: its tokens are shorter, so each of them is easier to guess, and here the later pieces of a word are
# hidden with the first. And each member hides its tokens in its own way: SpanBERT hides whole spans, which are harder.
#
# </details>
#
# (ELECTRA is missing, since its discriminator can't fill masks.) Bits from masked positions are a *pseudo*-likelihood:
# compare them between masked models on the same text, never with GPT.
#
# ## The results
#
# Now the whole table. A star marks a mean that is told from BERT's, better or worse (p < 0.05). Below the members stand
# BERT with random weights, fine-tuned like the others, and the best baseline that needs no network, such as a bag of
# words. (Entities, questions, posts and answers are scored by F1, captions by Spearman's correlation, the others by
# accuracy. Guessing one of three classes, as in inference and NLI, gives 0.33.) Before you run the cell, write down:
# which three members should lead?


# %%
def entry(scores, name):
    told = name != "bert" and welch_test(scores[name], scores["bert"])[2] < 0.05
    return f"{mean(scores[name]):7.3f}{'*' if told else ' '}"


# %% tags=["guess"]
print(" " * 19 + "".join(f"{task.split()[0][:7]:>7} " for task in columns))
for name in (*NAMES, "untrained"):
    print(f"{pictures.TITLES[name]:19}" + "".join(entry(of, name) for of in columns.values()))
best = [max(baselines[task].values()) for task in TASKS]
best_of_all = "".join(f"{score:7.3f} " for score in [*best, mean(best)])
print(f"{'without a network':19}{best_of_all}")

# %%
stars = ["*" in entry(columns[task], name) for task in TASKS for name in NAMES]
print(f"{sum(stars)} stars in {len(TASKS) * (len(NAMES) - 1)} comparisons of trained members")
reached = {task: max(mean(columns[task][name]) for name in NAMES) for task in TASKS}
ahead = [task for task, score in zip(TASKS, best) if score > reached[task]]
print("all members stay below the baseline on:", ", ".join(ahead) or "no task")

# %% [markdown]
# The same numbers as differences from BERT, with their 95 % **confidence intervals**. Green is better than BERT, orange
# is worse, and gray can't be told from BERT: its interval contains 0. Each panel has its own scale.


# %%
def interval(ours, theirs):  # low, high
    return ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)


gaps = {
    task: {name: interval(scores[name], scores["bert"]) for name in NAMES[1:]}
    for task, scores in columns.items()
}
pictures.differences(gaps)

# %% [markdown]
# Read it in this order. **Count** the stars: how many does chance give? **Then the last panel**, the mean of all tasks,
# whose error is usually smaller. **Then single tasks**, and only for members that you had in mind before.
#
# Now the numbers: the mean of tasks, then two members without one of the tasks, and the two DistilBERTs.


# %%
def compared(scores, one, other):
    difference, error, p = welch_test(scores[one], scores[other])
    return f"{difference:+.3f}, error {error:.3f}, p = {p:.2g}{' *' if p < 0.05 else ''}"


for name in (*NAMES[1:], "untrained"):
    distance = compared(columns["mean of tasks"], name, "bert")
    print(f"{pictures.TITLES[name]:19} - BERT:", distance)


# %%
def mean_without(task):  # over the other tasks
    kept = [columns[of] for of in TASKS if of != task]
    return {name: [mean(scores) for scores in zip(*(of[name] for of in kept))] for name in runs}


for name, task in (("deberta", "captions (STS)"), ("electra", "entities")):
    distance = compared(mean_without(task), name, "bert")
    print(f"{pictures.TITLES[name]} - BERT, without {task}: {distance}")

# %%
print("taught - alone")
for task in ("entities", "posts (WNUT 17)", "mean of tasks"):
    print(f"  {task:16}", compared(columns[task], "distilbert-taught", "distilbert-alone"))
share = (chances[:, 0] < 0.05).any(axis=1).mean()
print(f"a star among ten equal members in {about(0.21, share, within=0.03):.0%} of experiments")

# %% [markdown]
# **Stars.** There are seven. Chance gives three, and seven or more in one of ten experiments. So on single tasks this
# table can't rule out that no member differs from BERT.
#
# **The baseline.** On six of the nine tasks all eleven stay below it, and in the mean of tasks it has 0.55, the best
# member
# 0.46. Four of the six compare two texts, which networks of this size haven't learned in ten minutes. Nobody should deploy one of them.
#
# **The leader.** "DistilBERT, taught" is the only member that is told from BERT in the mean of tasks (p = 0.04). Among
# ten members, chance alone gives such a star in a fifth of the experiments, and *taught* is four times as large. Beside
# *alone*, the fair comparison, its 0.013 are within the noise.
#
# <details><summary>The others, member by member</summary>
#
# - **Not pre-trained**: pre-training is worth 0.07 in the mean of tasks (p = 0.01), and three quarters of it come from
#   entities. On films the network with random weights is even better than BERT.
# - **DeBERTa** is 0.022 above BERT (p = 0.13), and 0.010 without captions. As a language model it is the best, with 1.589 bits per character, just
#   before ModernBERT's 1.597; RoBERTa has 1.680.
# - **RoBERTa and the others** can't be told from BERT. The clearest gain in RoBERTa's paper comes from longer training, and
#   here all had the same time.
# - **ELECTRA** is 0.023 below BERT (p = 0.22). All of it comes from entities, where its seeds differ most.
#
# </details>
#
# Does a better language model make a better member? The next cell prints the rank correlation (Spearman) of bits per
# character and the mean of the tasks: −1 if fewer bits always came with better scores. The last lines tell which share
# of the replaced tokens ELECTRA's discriminator finds ([chapter 17](17_electra.ipynb)).

# %%
from scipy.stats import spearmanr

bits = {name: bits for *_, bits, name in rows}
for some in (list(bits), [name for name in bits if "distilbert" not in name]):
    worth = [mean(columns["mean of tasks"][name]) for name in some]
    correlation = spearmanr([bits[name] for name in some], worth)[0]
    print(f"{len(some):2} members, rank correlation {correlation:+.2f}")
for run in runs.get("electra", []):
    recall = run["pretraining"]["validation"]["rtd_recall"]
    print(f"ELECTRA, seed {run['seed']}: {recall:.0%} of the replaced tokens are found")

# %% [markdown]
# With eight members, without the wider DistilBERTs, chance alone gets as far as the second number in one case of
# fourteen: a hint, and no more. ELECTRA's runs ended while its
# discriminator was just getting beyond *always original*: its row may tell you less about ELECTRA than about ten
# minutes.
#
# ### Beside what was published
#
# With larger models and far more text, papers report larger gains.
#
# <details><summary>What each paper measured, and what it held equal</summary>
#
# | member | published, with larger models and far more text | held equal there |
# |---|---|---|
# | RoBERTa | BERT was "significantly undertrained": with a better recipe it matches or exceeds every model published after it (Liu et al. 2019, abstract) | the network; from row to row of table 4 the text or the steps grow |
# | SpanBERT | SQuAD 2.0: 83.8 with random subwords, 85.4 with spans; then 86.7 with one segment and no NSP, 86.8 with the boundary objective (tables 6 and 7) | text and size |
# | ALBERT | mean of five tasks: 82.3 without sharing and with E = 768, 80.1 with one layer for all and E = 128 (tables 3 and 4) | steps |
# | DistilBERT | GLUE points lost: 3.7 with random weights in place of copied layers, 3.0 without the soft targets, 1.5 without the cosine, 0.3 without MLM (table 4) | the rest of the recipe |
# | ELECTRA | GLUE at 14 million parameters: 79.9, a BERT of the same size 75.1 (table 1) | operations and parameters |
# | XLNet | SQuAD 2.0: BERT 76.3, masked words in XLNet's layers (Transformer-XL) 79.6, XLNet 81.3 (table 6) | text and size |
# | DeBERTa | MNLI: 86.3, RoBERTa trained again 84.9 (table 4) | text and steps |
# | ModernBERT | on the same French text DeBERTaV3 learns more from each token and is better on most tasks, ModernBERT is faster (Antoun et al. 2025, arXiv 2504.08716) | text |
# | variants of BERT | with one GPU and one day, changes of the architecture hardly change the loss, but faster steps do (Geiping & Goldstein 2022, arXiv 2212.14034) | time |
#
# </details>
#
# Ten minutes hardly show a gain of a tenth of a point, or what appears only after long training. If our table and a
# paper disagree, look there first, then in the noise.
#
# ## What it costs
#
# Each member is a point, with a cost and a score. One **dominates** another if it costs no more, scores
# no less, and is better in at least one of the two. You never need a dominated point. The others form the **Pareto
# front**: on it, a higher score always costs more.
#
# ![Cost to the right, score up. RoBERTa dominates the members in the corner right of and below it, BERT among them.](pictures/21_dominates.svg)


# %%
def dominated(name, points):
    cost, score = points[name]
    return any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points.values())


def cost_and_score(what):
    score = {name: mean(columns["mean of tasks"][name]) for name in NAMES}
    return {name: (members[name]["cost"][what], score[name]) for name in NAMES}


# %%
points = cost_and_score("milliseconds")
on_front = sorted((n for n in NAMES if not dominated(n, points)), key=points.get)
print("on the front:", *(pictures.TITLES[name] for name in on_front), sep="  ")
pictures.front(points, on_front, "milliseconds per text", "mean of nine tasks")

# %% [markdown]
# The front depends on noise. How far are the points on it apart?

# %%
from itertools import pairwise

means = columns["mean of tasks"]
steps = [*pairwise(on_front), (on_front[0], "deberta")]
steps += [("roberta", "deberta"), ("roberta", "distilbert-taught")]
for name, pricier in steps:
    step = f"{pictures.TITLES[name]} to {pictures.TITLES[pricier]}"
    print(f"{step:32}", compared(means, pricier, name))

# %% [markdown]
# RoBERTa, SpanBERT and ELECTRA have the same layers, so only the noise of the clock lies between their times. Compare
# each member with the cheapest one that you would accept. If that is RoBERTa, DeBERTa's lead isn't told from noise (p =
# 0.13), and the distilled student's is (p = 0.0004, which survives even a choice among all
# 55 pairs: 0.05 / 55 = 0.0009), for twice the time. And the front depends on what you count as cost:

# %%
from bertedu.family.comparison import pareto_front

for what in ("milliseconds", "megabytes of a step", "parameters"):
    front = pareto_front(cost_and_score(what))
    print(f"{what:20}", *(pictures.TITLES[name] for name in front), sep="  ")

# %% [markdown]
# ## The proof
#
# Welch's test is in every statistics library. The next cell compares the package's with SciPy's `ttest_ind`, on a
# made-up table, and the front with the package's.

# %%
made_up = np.random.default_rng(2).normal(0.6, 0.02, size=(11, 5))
largest = 0.0
for number in range(1, 11):
    one, other = made_up[number, : 3 + number % 3].tolist(), made_up[0, :4].tolist()
    difference, error, p = welch_test(one, other)
    library = ttest_ind(one, other, equal_var=False)
    largest = max(largest, abs(library.statistic - difference / error), abs(library.pvalue - p))
print(f"largest difference from SciPy: {largest:.6f}")
print(f"fronts that differ: {len(set(on_front) ^ set(pareto_front(points)))}")

# %% [markdown]
# **Here the second sitting ends.** You have read the results with their errors and costs. The third turns them into a
# decision.

# %% [markdown]
# ## Which one, then?
#
# Your task is not in our table. So the answer is not a name, it's a short list, and a comparison on *your* rows with
# three seeds each.
#
# ![Five questions: is a bag of words enough, text to write, many languages, long texts, too slow? Each leads to a model.](pictures/21_choosing.svg)
#
# | you have | try | because | chapter |
# |---|---|---|---|
# | a few hundred labels, single words that decide | a bag of words | it trains in a second | [10](10_text_classification.ipynb) |
# | similar texts to find, no labels | a sentence encoder such as all-MiniLM-L6-v2 | it has seen a billion pairs of sentences | [13](13_pairs_and_similarity.ipynb) |
# | English up to 512 tokens | DeBERTaV3-base, RoBERTa-base beside it | relative positions, a loss on all tokens | [18](18_deberta_and_xlnet.ipynb) |
# | long texts, or many of them | ModernBERT-base | 8,192 tokens, no computation for padding | [19](19_modernbert.ipynb) |
# | many languages | mmBERT, XLM-R beside it | one vocabulary for all | [20](20_many_languages.ipynb) |
# | less time | a distilled model | half of the layers, 60 % faster at full size | [16](16_albert_and_distilbert.ipynb) |
# | little memory for weights | ALBERT | one layer, stored once. *Not* faster | [16](16_albert_and_distilbert.ipynb) |
# | answers that are spans | SpanBERT beside the others | it knows what is inside a span | [15](15_roberta_and_spanbert.ipynb) |
# | text of your own | a published model, trained further | ten minutes from nothing reach what you saw | [08](08_pre_training.ipynb) |
# | a handful of examples, changing classes | a large language model by prompt | no training; the cost is below | |
# | text to write | a decoder, such as GPT | an encoder writes no next word | [14](14_what_came_before.ipynb) |
# | a text to turn into another | T5, BART | the encoder reads, the decoder writes | |
#
# <details><summary>How much is a sentence encoder worth?</summary>
#
# `benchmarks/README.md` ("Fine-tuning on public data") has all-MiniLM-L6-v2 and our small BERT, `mixed-mini` (both
# fine-tuned on 1,000 rows, three seeds, mean ± standard deviation):
#
# | task | MiniLM | mixed-mini | without a network |
# |---|---|---|---|
# | films, accuracy | 0.786 ± 0.002 | 0.666 ± 0.015 | 0.693 |
# | 77 intents, accuracy | 0.394 ± 0.039 | 0.547 ± 0.004 | 0.654 |
# | similarity, two vectors, Spearman | 0.907 ± 0.002 | 0.682 ± 0.011 | 0.718 |
# | entities (WNUT 17), F1 | 0.348 ± 0.016 | 0.186 ± 0.006 | 0.074 |
#
# MiniLM has six layers and D = 384, and it has read far more. That is worth 0.12 on films, where the largest difference
# between two of our eleven members is 0.05. In the second line a bag of words is far ahead: 13 examples for each of 77
# classes, and six passes were too few. With twelve passes and the maximum of the token vectors, `mixed-mini` gets 0.708
# there. Before you say that a model is worse, look whether its figure on validation was still rising.
#
# </details>
#
# ### An encoder or a prompt? (optional)
#
# A large language model can classify by prompt, without labels for training. We have not measured one here, but you can
# compute what it costs. This is **arithmetic with assumed prices**, so put in today's.
#
# - The prompt: the text has 200 tokens, the instruction with its examples 800, the answer 5. We assume two price lists,
#   for a million tokens of input and of output: 0.10 and 0.40 euros, and 3 and 15 euros.
# - The encoder: 2,000 labels at 0.30 euros each, 60 milliseconds of a processor core for a text (a model of MiniLM's size;
#   BERT-Base needs half a second), and 0.05 euros for an hour of the core.
#
# ### Exercise 21.4 · Break even
# ●●●○ · 12 minutes
#
# Write `break_even(once, hour, milliseconds, tokens, prices)`. It finds the smallest number of texts for which
# `once` plus the time of the core costs *less* than the prompt (not the same).
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
# saves *more* than the cost that is paid once. That number is `floor(…) + 1`: if the quotient is a whole number, both
# cost the same after that many texts, so you need one more. If a text saves nothing, no number of texts is enough.
#
# </details>

# %% [markdown]
# The next cell computes it for both price lists, without your function, and draws the cheaper one on logarithmic axes.
# At the dashed line both ways have cost the same.

# %%
once, encoder = 2000 * 0.30, 0.05 * 60 / 3_600_000  # euros
for price_in, price_out in ((3.0, 15.0), (0.10, 0.40)):
    prompt = (1000 * price_in + 5 * price_out) / 1_000_000
    crossing = once / (prompt - encoder)
    print(f"by prompt {prompt:.6f} euros, on a core {encoder:.7f}: {crossing:,.1f} texts")
ways = {"encoder": lambda n: once + n * encoder, "prompt": lambda n: n * prompt}
pictures.spending(ways, [10**power for power in range(3, 9)], crossing)

# %% [markdown]
# The labels decide, not the core: a million texts on it cost less than one euro. So the question becomes: *how many
# texts come before the task changes, and new labels have to be paid for?* (Left out: a labeled test set, which both
# need, and the people.) You can combine both: let a large model label some thousand texts, check a sample by hand,
# and train the encoder on them.
#
# ## Broken BERT: a gain over itself
#
# A colleague compares a new model with the baseline, ten seeds each, and reports a gain of several standard errors. You
# are suspicious. So you run an **A/A test**: you put the *baseline itself* in for the candidate, with other random
# numbers. A fair comparison should find nothing.
#
# The models are small: logistic regression on bags of words, on the course's reviews. `fit(rate, seed)` trains one and
# returns its accuracy on validation and on test. Read the colleague's function before you run it.

# %%
from sklearn.linear_model import SGDClassifier

from bertedu.corpora.task_data import read_labelled
from bertedu.finetuning.bags import bags_of_words

train = read_labelled(data_path("tasks/stress/sentiment/train.tsv"))
validation = read_labelled(data_path("tasks/stress/sentiment/validation.tsv"))
test = read_labelled(data_path("tasks/stress/sentiment/test.tsv"))
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
    return welch_test(tuned, plain)


def again(rate, seed):  # the baseline itself, with other random numbers
    return fit(rate, 100 + seed)


gain, error, _ = colleagues_compare(fit, again, RATES, range(10))
errors = about(3.7, gain / error, within=1)
print(f"gain {about(0.025, gain, within=0.012):.3f}, that is {errors:.1f} standard errors")

# %% [markdown]
# The baseline beats itself. This is not noise but a **bias**. More seeds make the error smaller, but not the bias, so
# the false claim looks *more* certain. Find the reason before you read on: which learning rate, which rows, which
# seeds?
#
# ### Exercise 21.5 · A gain over itself
# ●●●○ · 12 minutes
#
# Write `compare(baseline, candidate, rates, search, seeds)`. `baseline` and `candidate` are functions like `fit`: they
# return a score on validation and one on test. For *each* of the two find the learning rate with the highest mean
# **validation** score over the seeds in `search`. Then take the **test** scores of that learning rate for the seeds in
# `seeds`. Return what `welch_test` says of the candidate and the baseline: difference (candidate minus baseline),
# error, p. Stuck? `hint("21.5")`


# %% tags=["exercise"]
def compare(baseline, candidate, rates, search, seeds):
    ### BEGIN SOLUTION
    def scores(fit):
        best = max(rates, key=lambda rate: mean(fit(rate, seed)[0] for seed in search))
        return [fit(best, seed)[1] for seed in seeds]

    return welch_test(scores(candidate), scores(baseline))
    ### END SOLUTION


check("21.5", compare)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Three things were wrong. *Learning rates*: the candidate had six tries and the baseline one. *Rows*: the test rows
# chose the candidate's learning rate and then scored it, so the score was the result of a choice. *Seeds*: for each
# seed the best of six numbers was kept, and all six are noisy. The mean of the largest of six independent normal
# numbers lies 1.3 standard deviations above their mean, even if all six learning rates are equally good. The repair is
# a helper that is called for both sides: it can't treat them differently.
#
# </details>

# %% [markdown]
# ![The colleague's baseline has one rate, the candidate the best of six on the test rows. Fair: both search on validation.](pictures/21_two_sides.svg)
#
# One A/A test may find something by chance. So we repeat it five times with other seeds, with the colleague's function
# and with the package's `fair_comparison`, and print how many standard errors each of them claims.

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
    errors = [about(one, other, within=0.5) for one, other in zip(seen[name], found)]
    print(f"{name:12}", *(f"{one:.1f}" for one in errors))

# %% [markdown]
# ![Dots in standard errors: the colleague's five lie between 1.5 and 4, the five fair ones between 0 and 1.](pictures/21_claims_of_both.svg)
#
# The colleague's function finds a gain in all five tests. The fair one stays at about one error or below.
#
# Three habits protect you:
#
# - Give both sides the same budget of search, and report it.
# - Read the test rows once, at the end.
# - Run an A/A test before the first A/B test.
#
# <details><summary>The chapter's own comparison, checked with this list</summary>
#
# Three learning rates were tried for *every* member, and the test rows were read once for each run. But the search was
# short, five members chose the largest or the smallest of the three rates, and what all share (Muon, the batch size)
# was tried out with BERT. A suspicious reader would ask whether this favors BERT, and would be right to ask.
#
# </details>
#
# ## Paper and code
#
# | | |
# |---|---|
# | One run or many | A replication of ELECTRA-Small pre-trained 14 models: from 80.42 to 82.23 GLUE points (dev), standard deviation 0.57 ([richarddwang/electra_pytorch](https://github.com/richarddwang/electra_pytorch)). So runs of the *same* recipe are up to 1.8 points apart |
# | Seeds of fine-tuning | Dodge et al. 2020 (arXiv 2002.06305) fine-tuned BERT 2,100 times and changed only the seeds. Initial weights and the order of the data contribute about equally. The best of many seeds is far better than what had been published: a maximum depends on how often you try |
# | Seeds of pre-training | Sellam et al. 2021 (*MultiBERTs*, arXiv 2106.16163): 25 BERT-Base models, and the *Multi-Bootstrap*, which draws seeds *and* test rows anew |
# | Ours | `bertedu.family.comparison`, Welch's test. `benchmarks/family_table.py` prints ≈ where this chapter prints no star |
#
# ## Summary
#
# - A comparison holds something equal, and that favors somebody. Say whether it is steps, operations or seconds.
# - The noise is the standard deviation over seeds, and members differ in it: Welch's test. Three seeds can tell only large
#   differences. Test rows have a noise of their own, which no seed shows.
# - Among 90 comparisons of equal models you'll find three to five stars on average. Count them before you read them.
# - You can't compare losses per token between vocabularies. You can compare bits per character of the same text.
# - Choose from the Pareto front, on your own rows. Compare each member with the cheapest one that you would accept.
# - Run an A/A test first. If a script finds that a model beats itself, believe no other gain that it reports.
# - In the mean of our tasks only "DistilBERT, taught" is told from BERT, and it is four times as large and has a teacher.
#   On six of nine tasks a baseline without a network beats all eleven.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(21)

# %% [markdown]
# ## Interview questions
#
# <!-- family-17 -->
# **1. It is 2026 and you start a new project on text classification. Which encoders do you try, and why these?**
#
# <details><summary>Answer in half a minute</summary>
#
# English and short: DeBERTaV3-base for accuracy, ModernBERT-base or Ettin for speed and up to 8,192 tokens. Many
# languages: mmBERT, with XLM-R as baseline. Little latency: a 17 to 70 million model, Ettin or a distilled one.
# Beside them a bag of words and a prompt. Three seeds, my data, my latency.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# I choose by four questions. Which language? For English there are most candidates. For many languages mmBERT from
# 2025: ModernBERT's layer, 307 million parameters of which 110 do arithmetic, 1,833 languages, better than XLM-R and
# two to four times as fast. EuroBERT for European languages and code. For one language, look for a monolingual model,
# such as ModernGBERT for German (1B, research only): on SuperGLEBer it beats a converted decoder seven times its
# size. How long are the texts? Up to 512: everything fits. Beyond: ModernBERT, Ettin, mmBERT with 8,192, NeoBERT with
# 4,096. How fast? Below 10 ms on a CPU I take 17 to 70 million parameters: Ettin comes from 17 million to 1 billion,
# with one recipe, so I can choose the size on a curve. Or I distil my own. How accurate? For short English texts
# DeBERTaV3-base from 2021 is still hard to beat: in the comparison on equal data it learned more from each token than
# ModernBERT. It's slower, and its tokenizer and attention are less convenient. And which licence: ModernBERT's is
# Apache 2.0, Ettin's and DeBERTa's are MIT; some research models aren't free for business. Then the plan. Day one:
# bag of words with logistic regression; a large language model by prompt on 300 examples; frozen embeddings with a
# linear model. Day two: three encoders, three seeds, learning rates 1e-5 to 5e-5, early stopping. I put accuracy with
# interval, p99 latency at my batch size, and price for a million texts in one table. A difference below a point on
# 1,000 test examples is undecided, and then I take the faster one. I don't read leaderboards for this: they measure
# other tasks, and may be in the training data.
#
# </details>
#
# <!-- evaluation-12 -->
# **2. A colleague compared eleven encoders on nine tasks, with three seeds each, and names a winner. What do you ask
# before you believe the ranking?**
#
# <details><summary>Answer in half a minute</summary>
#
# What was held equal: text, and time or steps? Were the learning rates of all searched alike, and by validation
# scores? Then the noise: each model has its own standard deviation over seeds, so Welch's test; three seeds tell only
# large differences. Of 90 differences between equal models three to five look real, and the best of eleven looks
# better than it is. What can't be told apart may still differ: I say so, and take the cheapest.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First, what was held equal? Text, and then steps, tokens or time: equal steps favor models whose steps are slow.
# RoBERTa's authors trained BERT's model longer, on more text, and it matched or exceeded every model published after
# it.
#
# Second, selection. How many learning rates did each model get, and which scores chose among them? If the new one had
# ten tries and the old one its default, the difference measures the search. If test scores chose, it is too high
# anyway. I ask for an A/A test, the baseline against itself: it should find nothing.
#
# Third, noise. Models differ in it, so I don't pool it. Welch's test gives each its own variance and asks how well
# the seeds know it: with three each the limit for p = 0.05 is 2.8 standard errors at best, and 4.3 if one model has
# nearly all the noise. With a standard deviation of 0.02 an error is 0.016, so even 0.04 isn't told. There are 90
# differences from BERT. If all models were equal, three to five would still have p \< 0.05. To hold all 90 together I
# need p \< 0.0006, which three seeds hardly reach. And the winner of eleven equal models in a task is on average 1.8
# points above its true score. So I score a winner again, with new seeds.
#
# Fourth, what seeds don't show. All models met the same test rows, and other rows could order them otherwise: that
# takes a paired test over rows. And new seeds in fine-tuning aren't new seeds in pre-training. Sellam and others
# trained 25 BERTs that differ in seed, because a claim about a recipe needs them.
#
# What I'd report: each seed as a dot, the difference with its interval, the number of tries, milliseconds and memory.
# What can't be told apart I call undecided, not equal: the interval says how large a difference is still possible. If
# that doesn't matter, the cheapest wins.
#
# </details>
#
# <!-- comparisons-02 -->
# **3. 10 million messages a month of 200 tokens are to be classified. What does a large language model by prompt
# cost, and what a BERT of your own?**
#
# <details><summary>Answer in half a minute</summary>
#
# By prompt: a message of 200 tokens plus instructions and examples of 800, so 10 billion input tokens a month. At
# 0.10 dollars a million that is 1,000 dollars, at 3 dollars 30,000. BERT-Base needs 2 · 85 million · 200 operations a
# message: 3.4·10¹⁷ in all, about an hour of a modern GPU at 100 TFLOPS. The machine is cheap, labels and people are
# not.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# For the prompt I count tokens. The message has 200, the instruction with labels and a few examples, say, 800. So
# 1,000 input tokens times 10 million are 10 billion a month. Prices differ by more than tenfold and change every few
# months, so I compute with two, 0.10 and 3 dollars for a million input tokens, and put in today's price list later:
# 1,000 to 30,000 dollars. Output costs more for each token, but a label is short. Caching the fixed part of the
# prompt and batch prices lower it. Now BERT-Base. Two operations for each weight and token: 2 · 85 million · 200 is
# 34 billion for a message, and 3.4·10¹⁷ for all. A GPU that reaches 100 TFLOPS needs 3,400 seconds: about an hour.
# The real cost is elsewhere: a machine that stands ready for peaks, a few thousand labels, an engineer who keeps it
# running. At 1,000 dollars a month the prompt may be the cheaper system. At 30,000 it isn't. And money isn't all:
# latency of 10 ms against hundreds, private text that may not leave the house, versions that the provider retires,
# probabilities for a threshold. My usual plan: start by prompt, let it label, check a sample by hand, train the
# encoder on this, and keep the large model for the uncertain few percent.
#
# </details>
#
# ## Next
#
# You have chosen a model. To train one of full size, two cores are not enough: [22 · From two cores to many
# GPUs](22_many_gpus.ipynb).
