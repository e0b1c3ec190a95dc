# %% [markdown]
# # 10 · Text classification
#
# A linear layer on top of a pre-trained BERT, a minute of training, and it reads reviews that mislead whoever counts
# words. You will build it, compare ways to train it, ask how far its probabilities can be believed, and read its errors.
#
# ## What you will be able to do
#
# - put a classification head on BERT, and choose the vector that it reads;
# - fine-tune with the right rates, freeze what should stay, and compare ways over several seeds;
# - predict several labels at once, with sigmoids and thresholds;
# - say how many examples are too few;
# - measure and repair calibration, and read errors by what they have in common.
#
# **Time:** 60 minutes · **You need:** [09 · Looking inside](09_looking_inside.ipynb), and [08 · Pre-training](08_pre_training.ipynb) for the training loop · **Next:** [11 · Tagging](11_tagging.ipynb)
#
# ## Recall
#
# 1. A probe reads parts of speech from frozen vectors. Which control says how much of that is memory?
#
# <details><summary>Answer</summary>
#
# A control task: labels drawn by lot for each word type. What the probe gets right there, it has learned by heart.
#
# </details>
#
# 2. Why must a mean over tokens leave out the padding, although attention ignores it already?
#
# <details><summary>Answer</summary>
#
# Attention keeps others from *looking at* padding. The padding's own vectors are there all the same, and a plain mean
# averages them in, so that a text gets another vector in another batch.
#
# </details>
#
# 3. What does warm-up protect, and why does a model that is already trained need it too?
#
# <details><summary>Answer</summary>
#
# Adam's first step goes the whole rate in every weight, by the sign of the gradient alone, and the next ones are little
# better. In a pre-trained model these steps would shake weights that are good already, and the new head sends it gradients
# that mean nothing yet.
#
# </details>
#
# ## Where this chapter stands
#
# Blue is new: one vector for a text, and one linear layer. Everything below it comes from pre-training.
#
# <svg role="img" aria-label="Tokens go through the embeddings and L layers of BERT. New in this chapter: the token vectors are pooled to one vector for the text, and a linear layer gives a score for each class." viewBox="0 0 760 120" width="760" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">
# <rect width="760" height="120" fill="#ffffff"/>
# <g fill="#f3f3f3" stroke="#767676"><rect x="15" y="40" width="120" height="44" rx="7"/><rect x="200" y="40" width="150" height="44" rx="7"/></g>
# <g fill="#ffffff" stroke="#0072B2" stroke-width="1.8"><rect x="430" y="40" width="100" height="44" rx="7"/><rect x="615" y="40" width="125" height="44" rx="7"/></g>
# <g fill="#222222" text-anchor="middle"><text x="75" y="67">text, tokens</text><text x="275" y="67">BERT, L layers</text></g>
# <g fill="#0072B2" text-anchor="middle"><text x="480" y="67">pooling</text><text x="677" y="67">linear layer</text><text x="572" y="30">[B, D]</text></g>
# <g fill="#222222" text-anchor="middle"><text x="167" y="30">[B, T]</text><text x="390" y="30">[B, T, D]</text><text x="677" y="106">scores [B, C]</text></g>
# <path d="M135 62H194M350 62H424M530 62H609" stroke="#767676" stroke-width="1.6"/><path d="M188 57l7 5-7 5M418 57l7 5-7 5M603 57l7 5-7 5" stroke="#767676" stroke-width="1.6" fill="none"/>
# </svg>

# %%
import csv
import random
import tempfile
from collections import Counter

import numpy as np
import torch
import transformers
from scipy.special import expit, softmax
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from torch import nn
from torch.nn.functional import cross_entropy

from bertedu.course import check, data_path, hint, quiz
from bertedu.files import read_json
from bertedu.finetuning.calibration import expected_calibration_error
from bertedu.finetuning.kinds import KINDS
from bertedu.finetuning.pooling import pool
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import freeze_encoder, pace
from bertedu.inference import open_model
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

# %%
from bertedu.visualization.calibration import reliability_diagram
from bertedu.visualization.comparison import comparison
from bertedu.visualization.mistakes import in_words, most_telling
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

def read(kind, path):
    return KINDS[kind].read(str(path))

train = read("classification", data_path("tasks/sentiment/train.tsv"))
validation = read("classification", data_path("tasks/sentiment/validation.tsv"))
for label in ("positive", "neutral", "negative"):
    print(f"{label:9}", next(row.text for row in train if row.label == label))
print(len(train), "reviews to learn from,", len(validation), "to judge by")

# %% [markdown]
# ## Counting words
#
# The oldest classifier that works: count the words of a text, give each word a weight for each class, add up. It needs
# no network and is trained in a second. A BERT that does not beat it is not worth its electricity, so it comes first.
#
# Here are two reviews. Which weights would tell them apart?

# %%
one, other = "The tea was good, not bad.", "The tea was bad, not good."
bags = CountVectorizer().fit_transform([one, other]).toarray()  # [2, number of words]
print("the two bags are equal:", (bags[0] == bags[1]).all())

# %% [markdown]
# None can. A bag forgets the order, and here the order is everything. Our baseline counts pairs of neighbours too ("not
# bad" is a word of its own then), which helps a little: as long as the pair has been seen.
#
# The reviews were made so that this shows. Each has a column that training never reads: its **construction**. *Plain*
# praise says what it means; *negated* says "never once was the soup cold"; *turned* says "it used to be dirty, and is now
# clean"; *conceded* says "although the soup was stale, we shall come again". Neutral ones are *balanced* ("good on the
# first day and bad on the second") or *unjudged* ("will it be good? Nobody can tell"). No template of validation occurs
# in training. Guess: in which of these rows is the baseline hardly better than a coin?

# %%
with open(data_path("tasks/sentiment/validation.tsv"), encoding="utf-8") as file:
    constructions = [row["construction"] for row in csv.DictReader(file, delimiter="\t")]

labels = ("negative", "neutral", "positive")
right = np.array([labels.index(row.label) for row in validation])  # [N]
baseline = KINDS["classification"].baselines(train, validation)["bag of words"]["accuracy"]
print(f"bag of words: {baseline:.2f} right; always the same class: 0.33")

# %%
words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+").fit([row.text for row in train])
counting = LogisticRegression(C=10, max_iter=1000).fit(words.transform([row.text for row in train]), [row.label for row in train])
said = counting.predict(words.transform([row.text for row in validation]))
hits = np.array([a == row.label for a, row in zip(said, validation)])

def by_construction(hits):
    return {kind: hits[[one == kind for one in constructions]].mean() for kind in dict.fromkeys(sorted(constructions))}
for kind, share in by_construction(hits).items():
    print(f"{kind:9} {share:.2f}")

# %% [markdown]
# Plain praise and blame: mostly right. Negated: a coin between praise and blame would do about as well, since the word
# *cold* stands in it and pulls the wrong way. Conceded is easy, contrary to appearances: "I am glad that we went" occurs in
# training too, and gives the judgement away. What we want from BERT is not to know more words, but to read them together.
#
# ## A head on BERT
#
# BERT gives a vector for every token. A classifier needs one vector for the text and one score for each class. For now we take
# the maximum over the tokens; the choice comes below.

# %%
folder = data_path("checkpoints/books-mini")
tokenizer = open_model(folder)[1]

class MyClassifier(nn.Module):
    def __init__(self, bert, classes):
        super().__init__()
        self.bert, self.classifier = bert, nn.Linear(bert.config.hidden_size, classes)

    def forward(self, input_ids, attention_mask):
        vectors = self.bert(input_ids, attention_mask).last_hidden_state  # [B, T, D]
        padding = attention_mask[:, :, None] == 0  # [B, T, 1]
        text = vectors.masked_fill(padding, -1e9).amax(dim=1)  # [B, D]: the largest value of each dimension
        return self.classifier(text)  # [B, C]

# %% [markdown]
# The scores are **logits**: any numbers. Softmax makes them shares, and the loss is minus the logarithm of the right
# class's share. With the pencil: logits (2, 0, 0), the right class is the first. Shares: e² / (e² + 2) = 7.39 / 9.39 =
# 0.79, and 0.11 twice; loss −ln 0.79 = 0.24.
#
# ### Exercise 10.1 · Before the first step
# ●○○○ · 2 minutes
#
# A new head starts with weights near zero, so all its logits are near zero. There are three classes. What is, roughly, the
# loss of the first batch, in nats? Two decimals will do. This is the first number to look at in any run.

# %% tags=["exercise"]
### BEGIN SOLUTION
first_loss = 1.10
### END SOLUTION
check("10.1", first_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Equal logits give each of three classes a share of one third, and −ln ⅓ = ln 3 = 1.10. A run that begins far above has
# a head with weights that are too large, or sums where it should take the mean; one that begins far below has seen the
# answers.
#
# </details>

# %%
torch.manual_seed(0)
mine = MyClassifier(open_model(folder)[0].bert, 3).eval()
_ = nn.init.normal_(mine.classifier.weight, std=0.02)
_ = nn.init.zeros_(mine.classifier.bias)
batch = tokenizer([row.text for row in train[:8]])  # input_ids [8, T]
targets = torch.tensor([labels.index(row.label) for row in train[:8]])  # [8]
with torch.no_grad():
    logits = mine(batch.input_ids, batch.attention_mask)  # [8, 3]
print("logits", list(logits.shape), "  the first loss is within 0.5 of it:", abs(cross_entropy(logits, targets).item() - 1.1) < 0.5)

# %% [markdown]
# ## Fine-tuning
#
# The loop is that of chapter 08, and **all** weights learn, those of BERT too: that is what sets fine-tuning apart from a
# probe. The rate is that of pre-training or smaller, warm-up takes a tenth of the run, and a few passes are enough. The
# package makes model and task (the same class that you just wrote, with any pooling); the loop stays in your hands.

# %%
def fine_tune(train, validation, kind="classification", rate=5e-4, **changes):
    """A trained model and its task; settings are changed by name."""
    settings = FinetuningSettings(**{"pooling": "max", "epochs": 3, **changes})
    torch.manual_seed(settings.seed)
    model, task = KINDS[kind].make(train, validation, tokenizer, str(folder), settings)
    if settings.freeze_encoder:
        freeze_encoder(model)
    optimizer = build_optimizer(model, rate, 0.01, (0.9, 0.999), pace(settings, model))
    steps, step = round(settings.epochs * len(task.epoch(0))), 0
    model.train()
    while step < steps:
        for batch in task.epoch(step):  # input_ids [B, T], labels [B]
            set_rates(optimizer, rate * rate_factor(step / steps, 0.1), step / steps)
            loss = task.sums(model, batch)["text_loss"] / len(batch["labels"])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
    return model, task

# %%
model, task = fine_tune(train, validation)
logits = np.stack(task.predictions(model, validation))  # [N, 3]
bert_hits = logits.argmax(axis=1) == right
print("better than the bag of words by more than three points:", bert_hits.mean() > baseline + 0.03)

# %% tags=["nbval-ignore-output"]
figure = new_figure(6.4, 2.6)
axes = figure.subplots()
mine_by, bags_by = by_construction(bert_hits), by_construction(hits)
places = np.arange(len(mine_by))
for values, shift, color, name in ((mine_by, -0.19, BLUE, "BERT"), (bags_by, 0.19, GREY, "bag of words")):
    bars = axes.barh(places + shift, list(values.values()), height=0.36, color=color, label=name)
    axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
axes.set_yticks(places, list(mine_by))
axes.set_xlim(0, 1.15)
axes.set_xlabel("share of reviews that are right", fontsize=9)
figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=9)
quiet(axes)
assert mine_by["turned"] > bags_by["turned"] + 0.1 and mine_by["plain"] > 0.7
Picture(figure, alt="Share right by construction: " + "; ".join(f"{kind} BERT {mine_by[kind]:.2f}, bag of words {bags_by[kind]:.2f}" for kind in mine_by) + ".")

# %% [markdown]
# One number (accuracy) hid this. BERT gains where words must be read together: most of all in the *turned* reviews.
# Where counting is enough there is little to gain. And *negated* is still the hardest kind: this small BERT has not
# learned "not", it has learned some ways of saying it. Always cut a validation set into kinds before you believe its mean.
#
# ## Choosing a pooling
#
# One vector for a text: which? With the pencil, two tokens and one padding, D = 2: (1, 4), (3, 0), and [PAD] (9, 9).
# *cls* takes the first: (1, 4). *mean*: (2, 2). *max*: (3, 4). Whoever forgets the padding gets a mean of (4.3, 4.3) and
# a max of (9, 9), and other numbers in another batch.
#
# ### Exercise 10.2 · Three ways to one vector
# ●●○○ · 8 minutes
#
# Write `my_pool(vectors, attention_mask, how)` for vectors `[B, T, D]` and `how` one of `"cls"`, `"mean"`, `"max"`. The
# result is `[B, D]`, and padding has no part in it.

# %% tags=["exercise"]
def my_pool(vectors, attention_mask, how):
    ### BEGIN SOLUTION
    real = attention_mask[:, :, None].bool()  # [B, T, 1]
    if how == "cls":
        return vectors[:, 0]
    if how == "mean":
        return vectors.masked_fill(~real, 0).sum(dim=1) / real.sum(dim=1)
    return vectors.masked_fill(~real, -torch.inf).amax(dim=1)
    ### END SOLUTION

check("10.2", my_pool)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# For the mean the padding must become 0 *and* be left out of the count. For the maximum 0 is not enough: where all real
# values are negative, 0 would win. Minus infinity never does.
#
# </details>

# %% [markdown]
# BERT's authors take [CLS], in their code through one more dense layer and a tanh: the **pooler**, trained on the
# next-sentence task. [CLS] has no meaning of its own; it becomes a summary because a loss asks for one. Which is best
# for us? The fifth way, *last four layers*, puts the [CLS] vectors of the last four layers end to end. Each learned from
# 600 reviews, with three seeds. (`benchmarks/classification.py` measured it; the notebook draws.) Guess the order first. By how much must one be better than another for you to believe it?

# %%
poolings = read_json(data_path("comparisons/poolings.json"))["values"]
comparison(poolings, {}, "accuracy on validation, 600 reviews")

# %% [markdown]
# A row is one pooling: dots are seeds, the diamond is their mean, the bar one standard deviation to each side. Count the
# dots first (one dot has no spread that could be seen), then look at the width of the bars, and only then at the order.
# Nothing but the seed differs inside a row (the head's first weights, which 600 reviews, their order), and that alone
# moves the figure by so much. With one run each, from whatever seed, we could have "shown" nearly any order of *max*,
# *mean* and *last four layers*.
#
# What stays: *cls* and *pooler* are behind *max* and *mean* with every seed. The pooler was trained for the next sentence,
# and for a review it seems to be only one more layer to retrain. That is true of this checkpoint and these
# reviews: try it on yours, over seeds. For sentence *similarity* the mean is the usual choice (chapter 13).
#
# ## Freezing and rates
#
# Should all weights learn at the same rate? The head is new and knows nothing. The lowest layers hold what is common to
# all tasks: words and their nearest neighbours. Four ideas:
#
# - **only the head** (feature extraction): BERT is frozen. Cheap, and one BERT serves many tasks.
# - **layer-wise decay** (discriminative fine-tuning, Howard & Ruder 2018): each layer learns at a fixed share of the
#   rate of the one above it.
# - **head and body**: a faster rate for what is new.
# - **gradual unfreezing** (Howard & Ruder 2018): the head first, then one layer more at a time, from the top.
#
# ### Exercise 10.3 · How fast is layer 1?
# ●●○○ · 5 minutes
#
# L = 4 layers, rate 0.001, decay 0.5. The head learns at 0.001, layer 4 at 0.0005, and so on down; the embeddings are
# one step below layer 1. Write `rates(L, rate, decay)`: a list of L + 2 rates, from the embeddings to the head.

# %% tags=["exercise"]
def rates(L, rate, decay):
    ### BEGIN SOLUTION
    return [rate * decay ** (L + 1 - depth) for depth in range(L + 2)]
    ### END SOLUTION

check("10.3", rates)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The depth runs from 0 (embeddings) over 1 to L (layers) to L + 1 (head). The head is 0 steps below the head, layer L
# one step, the embeddings L + 1 steps: decay to the power of L + 1 − depth.
#
# </details>

# %%
of = pace(FinetuningSettings(layer_decay=0.5, unfreeze_over=0.5), model)
for name in ("encoder.embeddings.token.weight", "encoder.encoder.layers.0.output.weight", "encoder.encoder.layers.3.output.weight", "classifier.weight"):
    share, start = of(name)
    print(f"{name:38} {share:6.4f} of the rate, learns from {start:.0%} of the run on")

# %%
strategies = read_json(data_path("comparisons/strategies.json"))["values"]
draws = [random.Random(seed).sample(train, len(train))[:600] for seed in range(3)]
bags_600 = [KINDS["classification"].baselines(rows, validation)["bag of words"]["accuracy"] for rows in draws]
gains = np.subtract(strategies["head five times as fast"], strategies["all weights alike"])  # [seeds]
print("points that a faster head gains, seed by seed:", ", ".join(f"{100 * gain:+.1f}" for gain in gains))
comparison(strategies, {"bag of words": round(np.mean(bags_600), 2)}, "accuracy on validation, 600 reviews")

# %% [markdown]
# Read the dotted line first: with the same 600 reviews, drawn three times, the bag of words beats **every** strategy. No way of setting the rates
# makes up for examples that are missing; the next section draws how many it takes.
#
# The frozen encoder is far behind: its vectors were made to guess masked words, and in three passes a linear layer finds
# little praise and blame in them, even where it is said plainly (the run below counts), let alone what *used to be* does
# to *dirty*.
#
# A faster head comes out first. Is that luck? Equal seeds had equal reviews, so do not ask whether the bars overlap;
# compare seed by seed: +1.3, +2.0, +3.7 points. A coin falls three times on that side once in eight tries, and this is
# the best of four ideas that were tried: **worth more seeds, not yet a claim.** A paper that gives one number for each
# method shows less. Trying other rates costs little; do not expect magic of them.
#
# One dot of the figure, run again here and now: only the head, seed 0. (Alone, a head may learn faster than with a BERT below
# it: this one has four times the rate.)

# %%
drawn = draws[0]
frozen, frozen_task = fine_tune(drawn, validation, freeze_encoder=True, head_rate=4.0)
frozen_hits = np.stack(frozen_task.predictions(frozen, validation)).argmax(axis=1) == right  # [N]
print("the same as stored, within five points:", abs(frozen_hits.mean() - strategies["only the head"][0]) < 0.05)
frozen_by = by_construction(frozen_hits)
print("fewer than six in ten right of the plain, of the turned:", frozen_by["plain"] < 0.6, frozen_by["turned"] < 0.6)
moved = any((p != q).any() for (n, p), q in zip(frozen.named_parameters(), open_model(folder)[0].bert.parameters()) if n.startswith(("encoder.embeddings", "encoder.encoder")))
print("a frozen weight has moved:", bool(moved))

# %% [markdown]
# ## Too few examples
#
# "We have forty labelled texts. Is that enough for BERT?" Draw the curve instead of guessing: 10 to 1,000 reviews, drawn
# by lot three times, beside the bag of words. BERT makes three passes in batches of 16, but never fewer than 60 steps:
# 60 passes over 10 reviews, nearly nine over 100. Where do you expect the lines to cross?

# %%
curve = read_json(data_path("comparisons/examples.json"))["values"]
figure = new_figure(6.4, 3.0)
axes = figure.subplots()
sizes = (10, 30, 100, 300, 1000)
told = []
for name, color, lift in (("BERT", BLUE, 6), ("bag of words", GREY, -6)):
    means = [np.mean(curve[f"{name} {size}"]) for size in sizes]
    axes.errorbar(sizes, means, yerr=[np.std(curve[f"{name} {size}"], ddof=1) for size in sizes], color=color, marker="o", capsize=3)
    axes.annotate(name, (sizes[-1], means[-1]), xytext=(8, lift), textcoords="offset points", color=color, fontsize=9, va="center")
    told.append(f"{name} " + ", ".join(f"{mean:.2f} with {size}" for mean, size in zip(means, sizes)))
axes.axhline(1 / 3, color=GREY, linestyle=":")
axes.set_xscale("log")
axes.set_xlim(8, 2600)
axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
axes.set_xlabel("labelled reviews", fontsize=9)
axes.set_ylabel("accuracy on validation", fontsize=9)
quiet(axes)
Picture(figure, alt="Accuracy by number of labelled reviews: " + "; ".join(told) + ". Chance is 0.33.")

# %% [markdown]
# Up to a hundred reviews the two cannot be told apart, and both are poor. At 300 the bag of words is ahead: it has only
# weights of words to learn, and *dreadful* takes two or three reviews. BERT must find out what words do to one another
# (*used to be dirty, and is now clean*), and for that this small model needs about a thousand; for *not* even 1,500 were
# too few, as you saw. At a thousand the lines meet; with all 1,500 BERT was ahead. BERT-Base had some 250 times as much
# text (3.3 billion words), read it about forty times, and may well cross earlier. Where, only its own curve can say.
#
# Small sets have a second danger: the seed. Some runs of a large BERT fail altogether there (Devlin et al. 2019, section
# 4.1, ran BERT-Large from several seeds and kept the best on the development set; Mosbach et al. 2021 trace the failures to
# gradients that vanish early in training, and recommend Adam's bias correction, a small rate with warm-up, and many more
# passes).
#
# ## Several labels at once
#
# "The tea was excellent, but the bill was dreadful." *Food praised* and *price blamed*: two labels are right. Softmax
# shares out exactly one unit, so it cannot say yes twice. Give every label a yes-or-no of its own: the **sigmoid**, and
# a binary cross-entropy for each label.
#
# With the pencil: logits (2, 2, −3). Softmax: 0.50, 0.50, 0.00: both are only half sure. Sigmoid: 0.88, 0.88, 0.05.

# %%
pencil = np.array([2.0, 2.0, -3.0])
print("softmax", softmax(pencil).round(2), "  sigmoid", expit(pencil).round(2))
reviews = read("multi-label", data_path("tasks/aspects/train.tsv"))[:1000]
judged = read("multi-label", data_path("tasks/aspects/validation.tsv"))
print(reviews[1].text, "→", ", ".join(reviews[1].label) or "no label")
print("labels a review:", dict(sorted(Counter(len(row.label) for row in reviews).items())))

# %%
several, several_task = fine_tune(reviews, judged, kind="multi-label")
counted = KINDS["multi-label"].baselines(reviews, judged)["bag of words"]["micro_f1"]
scores = np.stack(several_task.predictions(several, judged))  # [N, 8]
wanted = np.array([several_task.target(row) for row in judged])  # [N, 8] of 0 and 1
micro = f1_score(wanted, scores > 0, average="micro")
print(f"bag of words: micro F1 {counted:.2f}; BERT is better by ten points: {micro > counted + 0.1}")

# %% [markdown]
# Why is the gap so wide? The words of praise and blame fit every aspect, so a bag knows *that* something was
# dreadful and seldom *what*.
#
# A label is chosen where its sigmoid is above ½, that is, where its logit is above 0. Nothing says that ½ is best. A rare
# label may never reach it; and F1 does not reward being right about absence. So thresholds are *chosen, on validation*,
# one for each label, like any other setting.
#
# ### Exercise 10.4 · The best threshold
# ●●●○ · 10 minutes
#
# Write `best_threshold(probabilities, right)` for one label: two lists, N probabilities and N truths (0 or 1). A label is
# chosen where its probability is **at least** the threshold. Return the threshold among the given probabilities with the
# highest F1; of several equally good ones the largest. F1 = 2 · hits / (chosen + right ones).

# %% tags=["exercise"]
def best_threshold(probabilities, right):
    """One number; probabilities and right are lists, N numbers each."""
    ### BEGIN SOLUTION
    def f1(threshold):
        hits = sum(r for p, r in zip(probabilities, right) if p >= threshold)
        chosen = sum(p >= threshold for p in probabilities)
        return 2 * hits / (chosen + sum(right))

    return max(probabilities, key=lambda threshold: (f1(threshold), threshold))
    ### END SOLUTION

check("10.4", best_threshold)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Between two neighbouring probabilities nothing changes, so only the given ones need to be tried. The tuple in `key`
# settles ties. In earnest sort once and accumulate: N log N instead of N². And remember that a threshold chosen on 300
# rows is fitted to them: what it gains must be shown on other rows.
#
# </details>

# %% [markdown]
# One label, all thresholds. Precision says how many of the chosen are right, recall how many of the right ones were
# chosen; F1 asks for both. (Where nothing is chosen any more, we draw a precision of 1.) Do the lines cross at ½?

# %%
shares = expit(scores[:, 0])  # [N]: of the first label
steps = np.linspace(0.02, 0.98, 49)
figure = new_figure(6.4, 2.6)
axes = figure.subplots()
chosen = [shares >= t for t in steps]
precision = [wanted[c, 0].mean() if c.any() else 1.0 for c in chosen]
recall = [c[wanted[:, 0] == 1].mean() for c in chosen]
for values, color, name in ((precision, ORANGE, "precision"), (recall, BLUE, "recall")):
    axes.plot(steps, values, color=color, label=name)
axes.set_xlabel(f"threshold for {several_task.labels[0]}", fontsize=9)
axes.set_ylim(0, 1.05)
figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=9)
quiet(axes)
assert recall[0] >= recall[-1]
Picture(figure, alt="Over the threshold, recall falls, and precision rises with small setbacks.")

# %% [markdown]
# They cross well below ½. That is where the model chooses as many texts as are right, and the best F1 is often near, but
# need not be there. So let F1 itself choose: for each label the threshold that is best on every other row. The rows
# between have had no say, and they judge. Guess: how many of the eight labels gain there?

# %% tags=["nbval-ignore-output"]
half, rest = slice(0, None, 2), slice(1, None, 2)  # rows to choose on, rows to judge by

def f1_at(threshold, label, rows):
    return f1_score(wanted[rows, label], expit(scores[rows, label]) >= threshold)

f1 = []  # for each label: at ½ and at the chosen threshold, on the first half; the same on the other
for label, name in enumerate(several_task.labels):
    best = max(np.unique(expit(scores[half, label])), key=lambda t: (f1_at(t, label, half), t))
    f1.append([f1_at(t, label, rows) for rows in (half, rest) for t in (0.5, best)])
    print(f"{name:16} threshold {best:.2f}   F1 on the other half {f1[-1][2]:.2f} at ½, {f1[-1][3]:.2f} at the threshold")
fit_before, fit_after, before, after = np.mean(f1, axis=0)
print(f"{'mean of eight':32}F1 on the other half {before:.2f} at ½, {after:.2f} at the thresholds")
print(f"{'':32}on the half that chose {fit_before:.2f} at ½, {fit_after:.2f} at the thresholds")
assert after > before - 0.02 and fit_after > fit_before

# %% [markdown]
# Five of the eight gain, three lose, and the mean rises from 0.74 to 0.77. On the rows that chose, it rises from 0.75 to
# 0.80, twice as far, and half of that is no merit: with 150 rows, some 35 of them right for a label, a threshold is
# fitted to luck too. *food blamed* shows it: half of the rows chose 0.18, far below the crossing, since its F1 is jagged
# and nearly flat between there and ½. Choose thresholds on many rows, and report what they gain on others.
#
# ## How sure is sure?
#
# Back to one label. A model says *negative, 97 %*. Of all reviews about which it is 97 % sure, are 97 % right? If so it
# is **calibrated**. The **expected calibration error** (Naeini et al. 2015; in this form Guo et al. 2017) puts predictions into bins by their
# probability, ten here, and takes the mean distance of probability and share of right ones, weighted by the bin's size.
# Guo et al. measured it in the deep networks of their time, and found them too sure.
#
# Pencil: ten predictions at 0.9, seven of them right; ten at 0.6, six right. Error: ½ · |0.9 − 0.7| + ½ · 0 = 0.1.

# %%
print(f"the pencil's: {expected_calibration_error([0.9] * 10 + [0.6] * 10, [True] * 7 + [False] * 3 + [True] * 6 + [False] * 4):.2f}")
sure = softmax(logits, axis=1).max(axis=1)  # [N]
error = expected_calibration_error(sure.tolist(), bert_hits.tolist())
print("1,500 reviews, three passes: expected calibration error below 0.08:", error < 0.08)
lots = np.random.default_rng(0).random((100, len(sure))) < sure  # [100, N]: right exactly as often as it says
by_chance = np.mean([expected_calibration_error(sure.tolist(), lot.tolist()) for lot in lots])
print("by chance alone, were each probability true: between 0.02 and 0.04:", 0.02 < by_chance < 0.04)

# %% [markdown]
# A few points, and a good part of them is chance: with 300 rows even a model that means every word of it shows about
# 0.03. (To compare only the mean probability with accuracy would ask less: too sure in one bin and not sure enough in
# another cancel there, and add up here.)
#
# But this was the model with all the reviews. What about somebody with 100 reviews, who passes over them ten times, since
# the loss still falls? Guess both numbers: how often is it right, and how sure is it?

# %%
few, few_task = fine_tune(drawn[:100], validation, epochs=10)
few_logits = np.stack(few_task.predictions(few, validation))  # [N, 3]
few_hits, few_sure = few_logits.argmax(axis=1) == right, softmax(few_logits, axis=1).max(axis=1)  # [N], [N]
print("100 reviews, ten passes: surer than right by more than ten points:", few_sure.mean() > few_hits.mean() + 0.1)

# %% tags=["nbval-ignore-output"]
print(f"right {few_hits.mean():.0%}, sure {few_sure.mean():.0%}")
reliability_diagram(few_sure.tolist(), few_hits.tolist())

# %% [markdown]
# Where the model is surest, and that is in nearly half of the rows, the point lies far below the diagonal. Long after the training
# rows are right, the loss can still be lowered by pushing their probabilities to 1, and the model learns to be sure of
# everything. Nobody who sees only accuracy notices.
#
# The cheapest repair has one number: divide all logits by a **temperature** τ (Guo et al. 2017). The order of the classes
# stays, so not one answer changes. With τ > 1 the shares draw together. We take the τ that gives *held-out* rows the
# lowest loss. Guess: is it above or below 1?

# %%
def loss_at(temperature, rows):
    return cross_entropy(torch.tensor(few_logits[rows] / temperature), torch.tensor(right[rows])).item()

half, rest = np.arange(0, 300, 2), np.arange(1, 300, 2)
temperature = min(np.arange(0.5, 10, 0.05), key=lambda t: loss_at(t, half))
softened = softmax(few_logits[rest] / temperature, axis=1).max(axis=1)
before = expected_calibration_error(few_sure[rest].tolist(), few_hits[rest].tolist())
after = expected_calibration_error(softened.tolist(), few_hits[rest].tolist())
print("temperature above 1.5:", temperature > 1.5, "  lower loss on the other half:", loss_at(temperature, rest) < loss_at(1, rest))
print("half the calibration error on the other half, or less:", after < before / 2)

# %% [markdown]
# ## Errors, read one by one
#
# Numbers say how often; only reading says why. The surest errors first. Before you look for a cause, ask three questions
# of each: would *you* give the label of the data? Is there a word that pulled? What do several have in common?

# %% tags=["nbval-ignore-output"]
explained = task.explain(validation, task.predictions(model, validation))
for row in most_telling(explained, 6):
    mistake = in_words(row)
    print(f"right: {mistake.right:9} said: {mistake.said:16} {mistake.asked}")

# %% [markdown]
# The errors come in families: one template, many rows. That is the nature of made data, and of much real data too
# (one shop, one author, one form). Three hundred rows are not three hundred independent questions, and other templates
# give another figure: on the test rows the bag and BERT are both clearly worse than here (`data/tasks/README.md` has the
# numbers). What helps is seldom a cleverer head; it is more training sentences, worded in more ways, of the construction
# that fails.
#
# ## The proof
#
# Your class against the package's, and the package's against `transformers`, through a saved folder.

# %%
with torch.no_grad():
    mine.bert.load_state_dict({n: p for n, p in model.bert.state_dict().items()}, strict=False)
    mine.classifier.load_state_dict(model.classifier.state_dict())
    ours = model.eval()(batch.input_ids, batch.attention_mask, batch.token_type_ids).logits  # [8, 3]
    print("mine = the package's, within 1e-5:", bool((mine(batch.input_ids, batch.attention_mask) - ours).abs().max() < 1e-5))
    vectors = model.bert(batch.input_ids, batch.attention_mask)
    largest = vectors.last_hidden_state.masked_fill(batch.attention_mask[:, :, None] == 0, -torch.inf).amax(dim=1)
    print("max pooling = the package's:", torch.equal(largest, pool(vectors, batch.attention_mask, "max")))

# %%
torch.manual_seed(0)
settings = FinetuningSettings(pooling="pooler")
package, _ = KINDS["classification"].make(train, validation, tokenizer, str(folder), settings)
with tempfile.TemporaryDirectory() as place, torch.no_grad():
    package.eval().save_pretrained(place)
    theirs = transformers.BertForSequenceClassification.from_pretrained(place, dtype=torch.float32).eval()
    difference = (theirs(**batch).logits - package(**batch).logits).abs().max()  # [8, 3]
    print("the package's = transformers', within 1e-5:", bool(difference < 1e-5))
    by_hand = -torch.tensor([0.7, 0.2]).log().mean()
    print("cross-entropy by hand = torch's:", torch.allclose(by_hand, cross_entropy(torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2]]).log(), torch.tensor([0, 2]))))

# %% [markdown]
# ## Broken BERT: a loss that will not go down
#
# A colleague's classifier learns, but its loss stops at about 0.55 and never goes lower, with any rate and any number of
# epochs, although nearly all training rows are right by then. Here is the loss of three rows whose answers become surer
# and surer. Where should it go, and where does it stay?

# %%
def broken_loss(logits, labels):  # [B, C], [B]
    shares = logits.softmax(dim=-1)
    return cross_entropy(shares, labels)

surely = torch.eye(3)  # three rows, each with its own right class
for size in (1, 5, 10, 50):
    print(f"right logit {size:2}: broken loss {broken_loss(size * surely, torch.arange(3)):.2f}")

# %% [markdown]
# ### Exercise 10.5 · Down to zero
# ●●●○ · 6 minutes
#
# Find the line and write `repaired_loss(logits, labels)`. It must stay finite for logits of 1,000. Then work out, with
# the pencil, where 0.55 comes from.

# %% tags=["exercise"]
def repaired_loss(logits, labels):
    ### BEGIN SOLUTION
    return cross_entropy(logits, labels)
    ### END SOLUTION

check("10.5", repaired_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `cross_entropy` takes logits and does its own softmax (`nn.CrossEntropyLoss` too). Given shares it takes a softmax of
# the softmax. The best shares there are, (1, 0, 0), then count as logits: −ln(e / (e + 2)) = 0.55, the floor. Nothing
# crashes, the answers can still be mostly right, and so this bug can live for years. Taking the logarithm of a softmax
# yourself is right on paper and breaks for large logits: log of 0.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | Devlin et al. 2019 | Google's code | `transformers` | here |
# |---|---|---|---|---|
# | vector | [CLS], called C, as it is (section 4.1) | the pooler: C through a dense layer and tanh | the pooler | any of five; *max* in this chapter |
# | head | one matrix W, a row of D numbers for each class, no bias | W and a bias | W and a bias | W and a bias |
# | dropout before the head | 0.1 | 0.1 | `classifier_dropout`, else the hidden one | that of pre-training: none for this checkpoint |
# | rates | 5e-5, 4e-5, 3e-5 or 2e-5 for GLUE, 3 epochs, batch 32 | 5e-5 | yours | 5e-4, since the model is small |
# | several labels | not there | not there | `problem_type="multi_label_classification"` | the same name |
# | saved folder with another pooling than the pooler | | | opens it with a new, random pooler, and warns | right only here |
#
# ## Summary
#
# - One vector, one linear layer: C · D + C new numbers. All others are pre-trained, and learn too.
# - The bag of words comes first. Cut the figures by kind: a mean hides what was learned.
# - Padding is no part of a text. Seeds move figures by points: use several, and compare equal seeds with each other.
# - One of several classes: softmax. Any number of labels: sigmoids, with thresholds chosen on validation.
# - Believe a probability after it has been held against the share that is right. A temperature repairs much.
# - Read errors; they come in families.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(10)

# %% [markdown]
# ## Interview questions
#
# **1. You have 200 labelled texts in four classes. How do you begin?**
#
# <details><summary>Answer</summary>
#
# With a bag of words and logistic regression as a baseline, and a validation set (or cross-validation) that shares no
# author, template or customer with training. Then a pre-trained model, three or more seeds, mean and deviation. I would
# draw the learning curve to see whether more labels pay, read errors, and label more of the kinds that fail. With so
# few texts a frozen sentence encoder with a linear model is a strong rival to fine-tuning.
#
# </details>
#
# **2. The model is 95 % accurate, and says 0.99 almost always. What is wrong, and what do you do?**
#
# <details><summary>Answer</summary>
#
# It is overconfident: of the predictions at 0.99, fewer than 99 of 100 are right. Accuracy does not see it. Draw a
# reliability diagram and fit one temperature on held-out rows (never on the training rows, where it is nearly always
# right). Answers stay the same, only probabilities change. It matters when somebody acts on the number: a threshold
# for handing over to a person, for example.
#
# </details>
#
# **3. Softmax or sigmoid?**
#
# <details><summary>Answer</summary>
#
# Softmax with cross-entropy if exactly one class is right: the classes compete for one unit. Sigmoid with binary
# cross-entropy for each label if any number can be right, none included. Two classes can be written either way: a
# softmax over two logits is a sigmoid of their difference.
#
# </details>
#
# ## Next
#
# One label for a text. Now one for each word: [11 · Tagging](11_tagging.ipynb).
