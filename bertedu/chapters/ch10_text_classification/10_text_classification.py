# %% [markdown]
# # 10 · Text classification
#
# You will put a linear layer on top of a pre-trained BERT and train it to judge reviews. Then you will find out how
# good it really is: against a baseline, over several seeds, and by reading its errors.
#
# ## What you will be able to do
#
# - put a classification head on BERT, and choose the vector that it gets
# - fine-tune: choose a learning rate, stop at the right time, freeze layers, compare ways of training over several
#   seeds
# - say whether the difference between two classifiers could be chance
# - predict several labels at once, with sigmoids and thresholds
# - measure and repair calibration, and read errors for what they have in common
#
# **Time:** 60 minutes for the core path, about 130 minutes with everything ·
# **You need:** [09 · Looking inside](09_looking_inside.ipynb), and [08 · Pre-training](08_pre_training.ipynb)
# for the training loop · **Next:** [11 · Tagging](11_tagging.ipynb)
#
# Sections marked (optional) are not part of the core path. You can come back to them another day.
#
# ## Recall
#
# 1. A probe predicts parts of speech from frozen vectors. Which control says how much of that it has memorized?
#
# <details><summary>Answer</summary>
#
# A **control task**: each word type gets a random label. What the probe gets right there, it has learned by heart.
#
# </details>
#
# 2. Why must a mean over tokens leave out the padding, although attention masks it already?
#
# <details><summary>Answer</summary>
#
# The attention mask keeps real tokens from *attending to* padding. But the padding positions have output vectors too,
# and a plain mean would average them in. The same text would get another vector in another batch.
#
# </details>
#
# 3. What is warm-up good for, and why does a model that is already trained need it too?
#
# <details><summary>Answer</summary>
#
# Adam's first step has the size of the full learning rate in every weight, because only the sign of the gradient
# counts. In a pre-trained model such steps would damage good weights. And at the beginning the new head is random, so
# the gradients that it sends into BERT are not worth much yet.
#
# </details>
#
# ## Where this chapter stands
#
# Blue is new: the pooling, which makes one vector from all tokens, and one linear layer. The rest is pre-trained.
#
# ![From left to right: text and tokens [B, T], then BERT with its L layers, which gives token vectors [B, T, D]. In
# blue what is new: pooling makes one vector for each text, [B, D], and a linear layer makes scores [B, C] of it. A
# classifier is BERT and two small parts.](pictures/10_classifier.svg)
#
# ## The task
#
# We classify short reviews of inns, cafés and shops as positive, neutral or negative: **sentiment analysis**.
# `TASKS["classification"]` is the package's reader and model-builder for this kind of task. The next cell uses it to
# read 1,500 reviews for training and 300 for validation, and prints one review of each class.

# %%
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.registry import TASKS


def read(kind, name):
    return TASKS[kind].read_rows(str(data_path(f"tasks/{name}")))


train = read("classification", "sentiment/train.tsv")
validation = read("classification", "sentiment/validation.tsv")
for label in ("negative", "neutral", "positive"):
    print(f"{label:9}", next(row.text for row in train if row.label == label))

# %% [markdown]
# ## The baseline: a bag of words
#
# Never report a score without the baseline that a simple method would reach. For text classification this is a **bag
# of words** with **logistic regression**: count the words of a text, give each word a weight for each class, and add
# up the weights. It is trained in a second.
#
# What can't it do? Look at these two reviews:
#
# > The tea was good, not bad.
# >
# > The tea was bad, not good.
#
# They contain the same words, so their bags are equal, and no weights can tell them apart. Our baseline also counts
# pairs of neighboring words, **bigrams**: "not bad" gets a weight of its own. This helps if the pair occurs in
# training. (The counts are scaled by **TF-IDF**: what occurs in many reviews counts less.)
#
# The reviews were made so that this difficulty becomes visible. Each has a **construction**, in a column that
# training doesn't see:
#
# - `plain`: "The soup was excellent."
# - `negated`: "We never found the teapot ugly."
# - `turned`: "It used to be dirty, and is now clean."
# - `conceded`: "Although the soup was stale, we shall come again."
# - `balanced` (neutral): "good on the first day and bad on the second"
# - `unjudged` (neutral): "Will it be good? Nobody can tell."
#
# The sentence patterns (templates) of the validation reviews don't occur in training. Guess: for which constructions
# is the bag of words hardly better than guessing? The next cell trains it and prints its accuracy, for all reviews
# and by construction.

# %%
import csv

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

with open(data_path("tasks/sentiment/validation.tsv"), encoding="utf-8") as file:
    constructions = np.array(
        [row["construction"] for row in csv.DictReader(file, delimiter="\t")]
    )


def texts(rows):
    return [row.text for row in rows]


words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+")
inputs, targets = words.fit_transform(texts(train)), [row.label for row in train]
bag = LogisticRegression(C=10, max_iter=1000).fit(inputs, targets)
right = np.array([row.label for row in validation])  # [N]
bag_hits = bag.predict(words.transform(texts(validation))) == right
print(f"bag of words {bag_hits.mean():.0%}, always the same class 33%")
for kind in sorted(set(constructions)):
    print(f"  {kind:9} {bag_hits[constructions == kind].mean():.0%}")

# %% [markdown]
# `negated` is the worst: 54 % of these reviews are right, hardly better than a coin that decides between positive and
# negative. The word *ugly* is in the sentence, and it pulls the score in the wrong direction. `conceded` is easy,
# although it looks hard: phrases such as "shall come again" occur in training too, and they give the judgement away.
# Even `plain` has errors, most of them in a single template: "All the guests called the manager terrible." BERT
# doesn't need to know more words than the bag. It has to combine them.
#
# ## A classification head
#
# BERT gives us D numbers for each token. We need one score for each class, for the whole text. This takes two steps.
# **Pooling** makes one vector from the token vectors. A **linear layer** computes C scores from it. It has C · D
# weights and C biases, here 3 · 256 + 3 = 771 numbers. The linear layer (with the pooling) is called the
# **classification head**. (This has nothing to do with the *attention heads* of [chapter
# 03](03_self_attention.ipynb): a head is whatever sits on top.)
#
# For now we pool with the maximum over the tokens, dimension by dimension. We compare poolings later. The next cell
# defines the model and opens the checkpoint `mixed-mini`: 4 layers, D = 256. It was pre-trained on about 16 million
# words of old books, modern prose, documentation and a little of Wikipedia, some of them read many times: 130 million
# tokens in all.

# %%
import torch
from torch import nn

from bertedu.inference import open_model

folder = data_path("checkpoints/mixed-mini")
tokenizer = open_model(folder)[1]


class MyClassifier(nn.Module):
    def __init__(self, bert, classes):
        super().__init__()
        self.bert, self.classifier = bert, nn.Linear(bert.config.hidden_size, classes)

    def forward(self, input_ids, attention_mask):
        vectors = self.bert(input_ids, attention_mask).last_hidden_state  # [B, T, D]
        padding = attention_mask[:, :, None] == 0  # [B, T, 1]
        text = vectors.masked_fill(padding, -torch.inf).amax(dim=1)  # [B, D]
        return self.classifier(text)  # [B, C]


# %% [markdown]
# The scores are called **logits**: any numbers. Softmax turns them into probabilities, and the loss is
# **cross-entropy**, minus the logarithm of the right class's probability. With a pencil: for the logits (2, 0, 0) the
# probabilities are e² / (e² + 2) = 7.39 / 9.39 = 0.79, and 0.11 twice. If the first class is right, the loss is −ln
# 0.79 = 0.24.
#
# ### Exercise 10.1 · Before the first step
# ●○○○ · 3 minutes
#
# The weights of a new head are small and random, so its logits are small. Suppose that they are all 0. There are
# three classes. What is the loss of the first batch, with the natural logarithm? Give two decimals. The real loss
# will be close to it, often a little above. This is the first number to look at in any run. (`check` examines your
# answer, and `hint("10.1")` gives a hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
first_loss = 1.10
### END SOLUTION
check("10.1", first_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Equal logits give each of the three classes the probability one third, and −ln ⅓ = ln 3 = 1.10. If a run begins far
# above that, the weights of the head are too large, or the loss is a sum instead of a mean. If it begins far below,
# the model has seen the answers.
#
# </details>

# %% [markdown]
# ## Fine-tuning
#
# The loop is the one of chapter 08. **All** weights learn, those of BERT too: this is the difference between
# **fine-tuning** and a probe. The learning rate is about that of pre-training or smaller, the warm-up takes a tenth
# of the run, and a few **epochs** (passes over the training data) are enough.
#
# The next cell defines `fine_tune`. The package makes the model (the class that you have just seen, with a choice of
# poolings) and the task, which prepares batches of 16 and computes their summed loss. `build_optimizer` is AdamW,
# with a weight decay of 0.01, but none for biases and LayerNorm. `rate_factor` is the warm-up and the linear decay.
# As in chapter 08, gradients are clipped to a norm of 1. After each epoch we keep the mean training loss, and, with
# `watch=True`, the loss (`text_loss`) and the accuracy on validation.

# %%
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.training.optimization import build_optimizer, rate_factor


def fine_tune(
    rows, kind="classification", heldout=validation, rate=5e-4, watch=False, **changes
):
    settings = FinetuningSettings(**{"pooling": "max", "epochs": 3, **changes})
    torch.manual_seed(settings.seed)
    model, task = TASKS[kind].make(rows, heldout, tokenizer, str(folder), settings)
    optimizer = build_optimizer(model, rate, 0.01, (0.9, 0.999))
    step, steps, history = 0, settings.epochs * len(task.epoch(0)), []  # batches of an epoch
    for _ in range(settings.epochs):
        losses = []
        model.train()  # task.validate, below, leaves the model in evaluation mode
        for batch in task.epoch(step):  # in a new order; input_ids [B, T], labels [B]
            for group in optimizer.param_groups:
                group["lr"] = rate * rate_factor(step / steps, 0.1)
            loss = task.sums(model, batch)["text_loss"] / len(batch["labels"])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step, losses = step + 1, [*losses, loss.item()]
        seen = task.validate(model, torch.device("cpu")) if watch else {}
        history.append({"first": losses[0], "training": np.mean(losses), **seen})
    return model, task, history


# %% [markdown]
# Now we fine-tune on all 1,500 reviews. It takes about half a minute on one slow core. The cell prints the loss of
# the first batch (is it what you computed?) and the accuracy by construction. Guess: for which construction does BERT
# gain most?

# %%
model, task, history = fine_tune(train)
logits = np.stack(task.predictions(model, validation))  # [N, C]
bert_hits = np.array(task.labels)[logits.argmax(axis=1)] == right  # [N]
print(f"loss of the first batch {about(1.24, history[0]['first'], within=0.1):.2f}")
accuracy = about(0.83, bert_hits.mean(), within=0.06)
print(f"{'all':9}  BERT {accuracy:6.0%}   bag of words {bag_hits.mean():4.0%}")
expected = {"balanced": 0.60, "conceded": 1.0, "negated": 0.54}
expected |= {"plain": 0.88, "turned": 1.0, "unjudged": 0.95}
for kind, wanted in expected.items():
    ours, bags = (hits[constructions == kind].mean() for hits in (bert_hits, bag_hits))
    ours = about(wanted, ours, within=0.05 if wanted == 1 else 0.3)
    print(f"{kind:9}  BERT {ours:6.0%}   bag of words {bags:4.0%}")

# %% [markdown]
# First the loss: 1.24, a little above ln 3 = 1.10. The pooled vectors of different reviews are nearly the same. So
# the small random weights of the head give each class an offset that hardly depends on the review, and half of this
# batch belongs to the class with the lowest one. (With the seeds 1 and 2 the first loss is 1.12 and 1.11.) This is
# still the loss of a head that knows nothing. A 3 would be an alarm.
#
# BERT gets 83 % right and the bag of words 82 %. That looks like nothing, but the mean hides a lot. BERT gets **all**
# of the `turned` reviews right, and the bag 76 %. The bag doesn't know the order of the words, and BERT does.
# (Whether it really combines them, we test below.) It loses most of that gain on `balanced`: it calls "The teapot was
# wonderful on the first day and terrible on the second" negative. `negated` is the hardest for both. After training,
# BERT has 95 % of the negated reviews in the *training* set right. But these have other templates, and what it
# learned from them doesn't carry over to "I should not call the ham terrible".
#
# How much of this can you rely on? We ran the same training six times (`python benchmarks/reviews.py`): three seeds,
# each with the instructions of a newer and of an older processor. (Processors round differently, and a training run
# multiplies such differences. Treat it as one more seed.) BERT got 79 to 96 % right, with 54 to 92 % of `negated`,
# 60 to 85 % of `balanced` and 57 to 98 % of `unjudged`. In all six runs it had `turned` completely right. So trust
# what every run shows, and not the percentages of 40 or 50 reviews in one run. And always split a validation set
# into kinds of examples before you believe its mean.
#
# ## Is the difference real?
#
# BERT is ahead by a point on 300 validation reviews. With 300 other reviews the difference would be another one. And
# BERT's 83 % look a little too good: its learning rate and its pooling come from searches on these reviews, which you
# will see below. So there is a third part, the **test set**: 300 reviews by which nothing is chosen. In a project you
# would look at it at the very end, and once. We do it here to have an example, and we read some of its reviews,
# because we decide nothing by it.
#
# Two methods say how much of a difference could be chance:
#
# - The **bootstrap** (Efron 1979). Draw 300 reviews *with replacement* from the 300 (so some come twice, others not
#   at all), compute the difference in accuracy on them, and repeat this 10,000 times. The middle 95 % of the results
#   are a **confidence interval**. Both models are measured on the same draw, so this is a *paired* bootstrap.
# - **McNemar's test** (1947). Ignore the reviews on which both are right or both are wrong. Among the others, count
#   how often only BERT is right, and how often only the bag. If both were equally good, each of these reviews would
#   be a coin toss. The **p-value** is the probability that coin tosses give a result at least as uneven.
#
# The next cell does both on the test set. (It also defines `compare`, for later.) Guess first: how wide is the
# interval?

# %%
from scipy.stats import binomtest

test = read("classification", "sentiment/test.tsv")
truth, names = np.array([row.label for row in test]), np.array(task.labels)


def answers(rows):
    return names[np.stack(task.predictions(model, rows)).argmax(axis=1)]


def compare(rows, expected, within):
    labels = np.array([row.label for row in rows])
    ours = about(expected, (answers(rows) == labels).sum(), within=within)
    theirs = (bag.predict(words.transform(texts(rows))) == labels).sum()
    print(rows[0].text)
    print(f"  {len(rows)} reviews, right: BERT {ours:.0f}, bag of words {theirs}")


bert = answers(test) == truth  # [N]
bags = bag.predict(words.transform(texts(test))) == truth  # [N]
print(f"test: BERT {about(0.86, bert.mean(), within=0.06):.0%}, bag of words {bags.mean():.0%}")

drawn = np.random.default_rng(0).integers(300, size=(10_000, 300))
gains = bert[drawn].mean(axis=1) - bags[drawn].mean(axis=1)  # [10,000]
low, high = 100 * np.quantile(gains, (0.025, 0.975))
low, high = about(10, low, within=6), about(20, high, within=6)
print(f"bootstrap, 95 % interval of the gain: {low:.0f} to {high:.0f} points")

only_bert, only_bag = (bert & ~bags).sum(), (bags & ~bert).sum()
p = binomtest(only_bert, only_bert + only_bag).pvalue
only_bert, only_bag = about(55, only_bert, within=15), about(9, only_bag, within=13)
print(f"McNemar: only BERT right {only_bert:.0f}, only the bag {only_bag:.0f}", end="")
assert p < 0.001
print(", p-value below 0.001")

# %% [markdown]
# Here BERT wins clearly: 86 %, and the bag of words 71 %. The interval goes from 10 to 20 points, far from 0, and a
# fair coin practically never gives 55 against 9. So the luck of which reviews were drawn doesn't explain the gain of
# this run. But the interval is wide: with 300 reviews we know the gain only to within five points on each side. A
# difference of two points would usually be within chance here.
#
# Why does the test set show a gain of 15 points, and validation of one? The bag fell from 82 to 71 %. The next cell
# counts two templates of the test set. Then it does an experiment with the `turned` reviews. In all of them, in
# training, validation and test, the verdict comes last: "The radio was badly made before. Now it is well made." What
# happens if we put it first? Guess before you run the cell.

# %%
import re
from dataclasses import replace

for start, *expected in (("Does anyone know", 24, 10), ("There was nothing", 9, 4)):
    compare([row for row in test if row.text.startswith(start)], *expected)
last, first = r"(.+) was (.+) before\. Now (\w+) is (.+)\.", r"\1 is \4 now; \3 was \2 before."
turned = [row for row in test if re.match(last, row.text)]
compare(turned, 17, within=1)
compare([replace(row, text=re.sub(last, first, row.text)) for row in turned], 0, within=2)

# %% [markdown]
# The bag gets **none** of the first 44 reviews right. It never calls a question *neutral*: it says *positive* 18
# times and *negative* eight times. The judging word alone doesn't decide that: of the 13 questions with a word such
# as *bad* it calls seven *positive*. To the second template it always says *neutral*. The largest weights there are
# those of *about* and *about the*: in the training set they occur in neutral reviews only, such as "They say nothing
# about the hat on their card". BERT has seen neither template, and gets nearly all of the questions right. For the
# second it does no better than a coin: it calls all 18 reviews *negative*, and half of them are.
#
# These two templates make 33 of the 46 reviews of BERT's lead, and `turned` makes another 14. (In the rest the bag is
# ahead by one.) The last lines show what BERT does with `turned`: with the verdict first, it gets **none** of the 17
# right. It has learned that the later judgement counts. For our `turned` reviews that is always right, but it isn't
# what we meant them to teach. Such a rule is called a **shortcut** (Geirhos et al. 2020). All six runs took it: with
# the verdict first they got 0 to 2 of 17. A perfect score says that a model has found *a* rule. To see which one,
# test it on examples where the rules differ.
#
# So we can't say "BERT wins where the wording is new". The wording of the validation reviews is just as new, and
# there the two were equal. On the 256 test reviews without the two templates BERT has 88 % and the bag 83 %. It
# depends on *which* new wording the test set has, and on the seed: of the 26 questions the six runs got 1 to 25. It
# will be so with your data, too.
#
# Two warnings. First, both methods assume that the reviews are independent. Ours come from templates, and a model
# that gets a template wrong fails on many of its reviews. So the real interval is probably wider than this one.
# Second, they only account for the choice of the reviews, not for the seed of the training: the six runs from above
# got 75 to 87 % on the test set.
#
# ## When to stop
#
# How many epochs? The **training loss** is no guide: it falls as long as the model can memorize. The **validation
# loss** is the loss on reviews that the model doesn't train on. It falls at first and rises later. From then on the
# model is **overfitting**. **Early stopping** measures it after each epoch, keeps the best weights, and stops when
# there was no improvement for some epochs (the **patience**).
#
# The next cell fine-tunes on 300 reviews for ten epochs (half a minute on a slow core) and then finds the epoch with
# the lowest validation loss. The hidden cell after it draws the curves, with a dotted line at that epoch. Guess:
# which epoch is it? And what happens to the *accuracy* on validation after it?

# %%
import random

shuffled = random.Random(0).sample(train, len(train))
few, few_task, history = fine_tune(shuffled[:300], epochs=10, watch=True)
best = min(range(10), key=lambda epoch: history[epoch]["text_loss"])
print(f"lowest validation loss after {about(7, best + 1, within=3):.0f} epochs")
for name, epoch, expected in (
    ("there", best, (0.05, 0.54, 0.767)),
    ("at the end", 9, (0.0, 0.59, 0.753)),
):
    now = history[epoch]
    training = about(expected[0], now["training"], within=0.2)
    loss = about(expected[1], now["text_loss"], within=0.2)
    accuracy = about(expected[2], now["accuracy"], within=0.08)
    print(f"{name:10}  loss: training {training:.2f}, validation {loss:.2f}", end="")
    print(f"   accuracy {accuracy:.0%}")

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

figure = new_figure(6.4, 2.6)
axes, epochs = figure.subplots(), range(1, 11)
for key, name, color in (
    ("training", "training loss", GREY),
    ("text_loss", "validation loss", BLUE),
    ("accuracy", "validation accuracy", ORANGE),
):
    axes.plot(epochs, [one[key] for one in history], marker="o", color=color, label=name)
axes.axvline(best + 1, color=GREY, linestyle=":")
axes.set_xlabel("epochs", fontsize=9)
axes.set_ylim(0)
figure.legend(loc="outside upper right", ncols=3, frameon=False, fontsize=9)
quiet(axes)
keys = ("training", "text_loss", "accuracy")
values = "; ".join(" ".join(f"{one[key]:.2f}" for key in keys) for one in history)
alt = "Training loss, validation loss and validation accuracy after each of ten epochs"
Picture(figure, alt=f"{alt}: {values}.")

# %% [markdown]
# The training loss falls to zero: after ten epochs the model has memorized the 300 reviews. The validation loss falls
# to about 0.6 in four epochs. From then on it hardly falls: it goes up and down between 0.54 and 0.66. The lowest
# value is that of epoch 7, but with 300 reviews it may just be a lucky epoch. The accuracy still rises, from 68 % after
# epoch 4 to 75 %. How can more answers be right, and the loss be no better? Cross-entropy also measures *how certain*
# the model is. It becomes more certain about all its answers, also about the wrong ones, and these cost more and more.
# (Often the validation loss even rises clearly, while the accuracy stays.) We come back to this model when we measure
# calibration.
#
# With a patience of 2, early stopping would have stopped after epoch 9 and returned the weights of epoch 7. With a
# patience of 1 it would have stopped after epoch 6 and returned those of epoch 5, which are nine points worse: where
# a curve goes up and down, be patient. Three remarks. If you only need the answers, you may stop by accuracy instead
# of loss; `bertedu finetune` keeps the weights with the best accuracy. A score that was used for stopping is a little
# too good, so report the test set. And our learning rate falls to zero over the planned number of epochs: five epochs
# of a plan of ten are not the same as a plan of five.
#
# ## Which learning rate?
#
# The learning rate is the setting that matters most. It depends on the model, so you have to search for it, **on
# validation data**: try values that differ by a factor of three or so, with several seeds, and choose the best mean.
# Make the range wide enough that both ends are clearly bad. (For each task, Devlin et al. (2019, section 4.1) tried
# 5e-5, 4e-5, 3e-5 and 2e-5. Our model is much smaller, and small models usually need larger ones.)
#
# We searched with 600 reviews and three seeds (`python benchmarks/classification.py rates`). The next cell draws the
# result with `comparison`: a dot for each seed, a diamond for the mean, a bar of one standard deviation to each side.

# %%
from bertedu.files import read_json
from bertedu.visualization.comparison import comparison


def recorded(name):
    return read_json(data_path(f"comparisons/{name}.json"))["values"]


rates = dict(zip(("5e-5", "1.5e-4", "5e-4", "1.5e-3", "5e-3"), recorded("rates").values()))
comparison(rates, {}, "accuracy on validation, 600 reviews, by learning rate")

# %% [markdown]
# Both ends are bad. With 5e-5 the model learns too slowly for three epochs (58 %). With 5e-3 the training
# **diverges** and ends in a model that gives all reviews the same class: 33 % with every seed. The best mean is that
# of 5e-4: 78 %, against 71 % with 1.5e-4 (where two dots coincide) and 63 % with 1.5e-3. Look at the dots of 1.5e-3:
# one run gets 79 %, the other two get 54 and 56 %. Here training is unstable: the seed decides whether it works. Such
# a line is a warning, even where its best dot is high. We use 5e-4.
#
# ## Choosing a pooling
#
# Which vector should stand for the text? With a pencil: two tokens and one padding, D = 2, vectors (1, 4), (3, 0),
# and (9, 9) for the padding. **cls** takes the first vector: (1, 4). **mean** gives (2, 2). **max** gives (3, 4). If
# you forget the padding, you get a mean of (4.3, 4.3), a max of (9, 9), and other numbers in another batch.
#
# ### Exercise 10.2 · Three ways to one vector
# ●●○○ · 12 minutes
#
# Write `my_pool(vectors, attention_mask, how)` for vectors `[B, T, D]`, a mask `[B, T]` of 1 and 0, and `how` one of
# `"cls"`, `"mean"`, `"max"`. Return `[B, D]`. The padding must not change the result. (All values are finite.)


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
# For the mean, the padding must become 0 *and* must not be counted. For the maximum, 0 is not enough: where all real
# values are negative, 0 would win. A number such as −100 usually works, until a real value is lower. Minus infinity
# always works.
#
# </details>

# %% [markdown]
# BERT's authors use [CLS]: their code applies one more linear layer and tanh to it, the **pooler**, which was
# pre-trained on next-sentence prediction. [CLS] has no meaning of its own. It becomes a summary because a loss asks
# for one. *Last four layers* puts the [CLS] vectors of the last four layers side by side, 4 · D numbers.
#
# The next cell draws five poolings, each with 600 reviews and three seeds, and prints by how many points *mean* and
# *max* are better than others, seed by seed. Guess the order first. And by how much must one be better than another
# before you believe it?

# %%
poolings = recorded("poolings")
pairs = [("mean", other) for other in ("cls", "pooler", "last four layers")]
for one, other in (*pairs, ("max", "cls"), ("max", "pooler"), ("max", "mean")):
    gains = 100 * np.subtract(poolings[one], poolings[other])
    print(f"{one:4} − {other:16}", ", ".join(f"{gain:+.1f}" for gain in gains), "points")
comparison(poolings, {}, "accuracy on validation, 600 reviews")

# %% [markdown]
# First look at the dots of one line. Nothing differs between them but the seed: the head's initialization, which 600
# reviews, and their order. This alone changes the accuracy by 7 to 11 points. One of the three draws of reviews is
# good for all five poolings, so compare equal seeds, as the printed lines do, and not bars. With one run each we
# could have "shown" nearly any order.
#
# What remains: *mean* is better than *cls*, *pooler* and *last four layers* with every seed. *max* is better than
# *pooler* with every seed (once by a single review), and than *cls* with two of three. Which of *max* and *mean* is
# better, three seeds can't say: each is ahead at least once. And one thing is unfair: the learning rate was searched
# with *max*, on these validation reviews. The other poolings might gain from a search of their own. So for this
# checkpoint we recommend a pooling **over all tokens**, *mean* or *max*. This chapter takes *max*; *mean* would have
# done as well. The pooler was trained for next-sentence prediction, and for a review it seems to be just another
# layer that has to be retrained.
#
# Does this hold for sentences that nobody made for a course? We measured it on sentences from film reviews (Pang and
# Lee 2005): positive or negative, 1,066 for the test, three seeds. (`benchmarks/README.md`, "Fine-tuning on public
# data"; *max* was measured there and *mean* was not.)
#
# | training sentences | pooling | mixed-mini | bag of words |
# |---|---|---|---|
# | 1,000 | pooler, three epochs | 0.666 ± 0.015 | 0.693 |
# | 1,000 | max, five epochs | 0.709 ± 0.003 | 0.693 |
# | all 8,530 | max, five epochs | 0.767 ± 0.008 | 0.791 |
#
# Read it **down**: with the pooler (which Google's code and `transformers` take) and three epochs, BERT loses to the
# bag of words. With the maximum and five epochs it gains four points, and is ahead of the bag. Two things changed at
# once, so this is no evidence for *max* alone.
#
# And read it **with care**: a lead of 1.6 points is 17 sentences of 1,066. Suppose that the two models disagree on a
# tenth of the sentences, 107 of them: then one is right on 62 and the other on 45. A fair coin is at least as uneven
# in one of eight cases. So this is no clear win, and with all sentences the bag is 2.4 points ahead. You can also use
# both: the mean of their log-probabilities gets 0.722 right with 1,000 sentences, more than either, and 0.780 with all,
# between the two. Better encoders exist: the sentence encoder all-MiniLM-L6-v2 gets 0.786 right after 1,000 sentences.
# It is larger (six layers, D = 384), was distilled from a big model, and learned from over a billion pairs of
# sentences. Which of these helps, this one number can't say.
#
# All this holds for these checkpoints. Try it on yours, with several seeds. For sentence *similarity* the mean is the
# usual choice ([chapter 13](13_pairs_and_similarity.ipynb)).
#
# ## Freezing, and learning rates by layer (optional, with exercise 10.3)
#
# Should all weights have the same learning rate? The head is new and knows nothing. The lowest layers are thought to
# be the most general: what they compute about words and their neighbors is of use in every task. Here are four ideas:
#
# - **only the head** (feature extraction): BERT is frozen, with `requires_grad_(False)`. This is cheap, and one BERT
#   can serve many tasks.
# - **layer-wise decay** (Howard and Ruder 2018 call it discriminative fine-tuning): the learning rate of each layer
#   is a fixed fraction of that of the layer above.
# - **a faster head**: a larger learning rate for what is new.
# - **gradual unfreezing** (also Howard and Ruder 2018): first only the head learns, then one layer more at a time,
#   from the top.
#
# ### Exercise 10.3 · How fast is layer 1?
# ●●○○ · 8 minutes
#
# L = 4 layers, learning rate 0.001, decay 0.5. The head learns at 0.001, layer 4 at 0.0005, and so on. The embeddings
# are one step below layer 1. Write `learning_rates(L, learning_rate, decay)`: a list of L + 2 numbers, from the
# embeddings to the head.


# %% tags=["exercise"]
def learning_rates(L, learning_rate, decay):
    ### BEGIN SOLUTION
    return [learning_rate * decay ** (L + 1 - depth) for depth in range(L + 2)]
    ### END SOLUTION


check("10.3", learning_rates)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Let the depth be 0 for the embeddings, 1 to L for the layers, and L + 1 for the head. The head is 0 steps below the
# head, layer L is one step below, the embeddings are L + 1 steps below. So the power of the decay is L + 1 − depth.
#
# </details>

# %% [markdown]
# The next cell draws four strategies and plain fine-tuning, again with 600 reviews and three seeds. The dotted line
# is the bag of words with the same 600 reviews. (With BERT frozen, the head had four times the learning rate, because
# it has to learn alone.) The cell also prints by how many points a faster head is better, seed by seed.

# %%
strategies = recorded("strategies")
gains = np.subtract(strategies["head five times as fast"], strategies["all weights alike"])
print("a faster head:", ", ".join(f"{100 * gain:+.1f}" for gain in gains), "points")


def bag_accuracy(seed):
    rows = random.Random(seed).sample(train, len(train))[:600]
    return TASKS["classification"].baselines(rows, validation)["bag of words"]["accuracy"]


mean = np.mean([bag_accuracy(seed) for seed in range(3)]).round(2)
comparison(strategies, {"bag of words": mean}, "accuracy on validation, 600 reviews")

# %% [markdown]
# Look at the dotted line first. With the same 600 reviews, **no** strategy is better than the bag of words. The best
# one equals it: 79 % both. None of these ways, at three epochs, makes up for too few examples. The next section
# measures what more of them bring.
#
# The frozen BERT is far below, at 58 %. This isn't for lack of epochs: a logistic regression that is trained to
# convergence on the same frozen vectors gets 53 to 60 %, with *max*, *mean* or [CLS]. (In chapter 09 a linear probe
# found nearly all parts of speech in such vectors. But a part of speech is a property of one word. What a whole
# review says, a linear layer can't read here.) Layer-wise decay is worse than plain fine-tuning with every seed. But
# it also gives most weights a smaller learning rate, which was bad in the search above, too. A fair comparison would
# search the learning rate for each strategy.
#
# A faster head has the best mean. Is it luck? Equal seeds had equal reviews, so don't ask whether the bars overlap:
# compare seed by seed. +0.0, +7.3, −2.0 points: all of the gain comes from one seed, in which plain fine-tuning did
# badly. And we have picked the best of four ideas. **This is not a result, it is a reason for more seeds.**
#
# ## Too few examples
#
# "We have forty labelled texts. Is that enough for BERT?" Don't guess, draw the **learning curve**: accuracy by the
# number of training examples. We measured 10 to 1,000 reviews, drawn at random three times, for BERT and for the bag
# of words. BERT was trained for three epochs with batches of 16, but for at least 60 steps: 60 epochs with 10
# reviews, nearly nine with 100. Where do you expect the lines to cross? The next cell draws means, with bars of one
# standard deviation (dotted: guessing), and prints in how many of the three draws BERT is ahead.

# %% tags=["hide-input"]
curve, sizes, described = recorded("examples"), (10, 30, 100, 300, 1000), []
figure = new_figure(6.4, 3.0)
axes = figure.subplots()
for name, color, lift in (("BERT", BLUE, 6), ("bag of words", GREY, -6)):
    values = [curve[f"{name} {size}"] for size in sizes]
    means, errors = np.mean(values, axis=1), np.std(values, axis=1, ddof=1)
    axes.errorbar(sizes, means, yerr=errors, color=color, marker="o", capsize=3)
    at, style = (sizes[-1], means[-1]), {"color": color, "fontsize": 9, "va": "center"}
    axes.annotate(name, at, xytext=(8, lift), textcoords="offset points", **style)
    described.append(f"{name} " + ", ".join(f"{m:.2f} with {n}" for m, n in zip(means, sizes)))
ahead = [np.greater(curve[f"BERT {n}"], curve[f"bag of words {n}"]).sum() for n in sizes]
print("BERT is ahead:", ", ".join(f"{a} of 3 with {n:,}" for a, n in zip(ahead, sizes)))
first_draw = [f"{name} {curve[f'{name} 300'][0]:.0%}" for name in ("BERT", "bag of words")]
print("300 reviews, first draw:", ", ".join(first_draw))
axes.axhline(1 / 3, color=GREY, linestyle=":")
axes.set(xscale="log", xlim=(8, 2600))
axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
axes.set_xlabel("labelled reviews", fontsize=9)
axes.set_ylabel("accuracy on validation", fontsize=9)
quiet(axes)
alt = f"Accuracy by number of labelled reviews: {'; '.join(described)}. Guessing gives 0.33."
Picture(figure, alt=alt)

# %% [markdown]
# The lines cross, but not as one expects: BERT is ahead *below*, by two and five points with 10 and 30 reviews, where
# neither is good enough to use (40 to 52 %). With 100 and 300 the bag of words is two and four points better in the
# mean. It only has to learn weights of words, and for *dreadful* two or three reviews are enough. BERT starts with a
# random head and changes all its weights. With a thousand the two are equal, at 83 and 84 %. With all 1,500 our run
# of BERT was ahead again, by a little on these validation reviews and clearly on the test set.
#
# But BERT also had 60, 30, nine, three and three epochs: it leads only where it had 30 or more. In the section on
# stopping, ten epochs on the same 300 reviews as in the first draw gave 75 % at the end, where three give 66 % and
# the bag 73 %. This is one draw. It suggests that the number of steps, and not only that of reviews, holds BERT back
# here.
#
# Real questions to a bank (Banking77, Casanueva et al. 2020) say the same, and more clearly. We took 1,000 of them,
# for 77 classes. On 1,000 validation questions, with one seed, the pooler gets 59 % right after six epochs, 72 % after
# twelve and 71 % after 24, the maximum 65, 74 and 74 %. On the test set, the maximum gets 71 % after twelve epochs
# (three seeds), the bag of words 65 %, and the pooler after six only 55 %. Thirteen questions for each class are few,
# and six epochs of them are fewer than 400 steps.
#
# So with few labels, try more epochs, and keep the bag beside it. BERT-Base was pre-trained on a corpus about 200
# times as large as ours (3.3 billion words), and may cross much earlier. Only its own curve can say where.
#
# Small training sets have a second danger: the seed. Some runs of large BERTs fail completely there. (Devlin et al.
# (2019, section 4.1) ran BERT-Large several times on small data sets and kept the run that was best on the
# development set. Mosbach et al. (2021) explain the failures by vanishing gradients early in training. They recommend
# Adam's bias correction, a small learning rate with warm-up, and many more epochs.)
#
# ## When one class is rare (optional)
#
# In our data all classes are equally frequent. Imagine a café where 75 % of the reviews are positive, 20 % neutral,
# and only 5 % negative: **class imbalance**. If you always answer "positive", your accuracy is 75 %, and you never
# find a complaint. So report a second measure: **macro F1**, the mean of the F1 of each class (F1 is the harmonic
# mean of **precision**, how many of the chosen are right, and **recall**, how many of the right ones are chosen).
# Every class counts the same, however rare it is.
#
# The usual remedy is **class weights**: in the loss, each review counts N / (C · the number of reviews of its class).
# A negative review then counts fifteen times as much as a positive one. In scikit-learn and in this package the
# setting is called `"balanced"`.
#
# The next cell draws 600 reviews with these frequencies, three times, and trains the bag of words without and with
# weights. On validation we give each review the frequency of its class as a weight, so that the figures are those of
# the café. The cell prints the means. For BERT they were recorded on the same three draws (`python
# benchmarks/classification.py weights`).

# %%
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score, recall_score

numbers = {"positive": 450, "neutral": 120, "negative": 30}
frequency = [numbers[label] for label in right]


def figures(said):  # as in the café
    accuracy = accuracy_score(right, said, sample_weight=frequency)
    macro = f1_score(right, said, average="macro", sample_weight=frequency)
    return accuracy, macro, recall_score(right, said, labels=["negative"], average="macro")


def bag_figures(seed, weights):
    drawn, rows = random.Random(seed).sample(train, len(train)), []
    for label, number in numbers.items():
        rows += [row for row in drawn if row.label == label][:number]
    counts, model = clone(words), LogisticRegression(C=10, max_iter=1000, class_weight=weights)
    model.fit(counts.fit_transform(texts(rows)), [row.label for row in rows])
    return figures(model.predict(counts.transform(texts(validation))))


def report(name, found):  # one row for each draw
    accuracy, macro, recall = np.mean(found, axis=0)
    print(f"{name:23} accuracy {accuracy:.0%}   macro F1 {macro:.2f}", end="")
    print(f"   negatives found {recall:.0%}")


report("always positive", [figures(["positive"] * 300)])
for weights in (None, "balanced"):
    report(f"bag, weights {weights}", [bag_figures(seed, weights) for seed in range(3)])
for name in ("none", "balanced"):
    kept = [values for key, values in recorded("weights").items() if name in key]
    report(f"BERT, weights {name}", np.transpose(kept))

# %% [markdown]
# Compare the first line with the fourth. BERT without weights has an accuracy of 93 %, the best of all lines, but it
# finds not a single negative review with any of the three seeds. The accuracy hides this. Macro F1 shows it: a model
# that never finds one of three classes has 0.67 at most, however good it is on the other two. BERT has 0.63.
#
# With weights the bag of words finds 13 % instead of 5 %, and its macro F1 rises from 0.62 to 0.68. BERT finds 7 %
# instead of none, pays with five points of accuracy, and its macro F1 stays the same. So class weights can help, but
# they are no magic. They change which mistakes are expensive, but they add no information, and thirty negative
# reviews are few, however much each of them counts. Where a rare class matters, look for more examples of it, and
# choose a threshold for it (see below).
#
# ## More pre-training, on texts like yours (optional)
#
# Labelled reviews are expensive, unlabelled ones are cheap. Can BERT learn from reviews *without* labels before we
# fine-tune it? **Domain-adaptive pre-training** continues masked language modeling on texts of the domain (Gururangan
# et al. 2020, "Don't stop pretraining", section 3). On the task's own training texts it is called **task-adaptive**
# (section 4). They tried eight tasks from four domains: the first helped on seven of them, the second on all eight
# (table 5).
#
# Our checkpoint has read books, modern prose and documentation. The next cell takes the second way, for 40 steps on
# our 1,500 reviews without the labels (half a minute on a slow core). On the command line this is
#
# `bertedu pretrain --corpus reviews.txt --from data/checkpoints/mixed-mini --objective words --steps 40 …`
#
# The cell after it masks 15 % of the tokens in the *validation* reviews and measures both models. Guess: how many of
# the masked words does each of them predict?

# %% tags=["nbval-ignore-output"]
import tempfile
import warnings
from pathlib import Path

from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain

# The model for masked words alone has no pooler and no head for sentence pairs, and says so.
warnings.filterwarnings("ignore", ".*no place in this model")
place = Path(tempfile.mkdtemp())
(place / "reviews.txt").write_text("\n\n".join(texts(train)))
options = {"corpus": (str(place / "reviews.txt"),), "start": str(folder), "objective": "words"}
options |= {"steps": 40, "batch_size": 16, "max_length": 32, "learning_rate": 3e-4}
options |= {"optimizer": "adamw", "device": "cpu", "precision": "fp32"}
plan = Plan.from_options(**options, output=str(place / "run"))
_ = pretrain(plan, say=lambda sentence: None)  # only the progress bar

# %%
from bertedu import BertForMaskedLM
from bertedu.pretraining.masking import mask_tokens

batch = tokenizer(texts(validation))  # [N, T]
candidates = batch.attention_mask.bool() & (batch.input_ids > tokenizer.mask_token_id)
options = (0.15, tokenizer.mask_token_id, len(tokenizer), torch.Generator().manual_seed(0))
seen, masked = mask_tokens(batch.input_ids, candidates, *options, special_tokens=2)
for path, expected in ((folder, 0.498), (place / "run/checkpoint", 0.561)):
    reader = BertForMaskedLM.from_pretrained(path).eval()
    with torch.no_grad():
        output = reader(seen, batch.attention_mask, labels=masked)  # scores [N, V]
    hits = output.prediction_logits.argmax(dim=-1) == masked[masked != -100]
    name = "mixed-mini" if path == folder else "mixed-mini, reviews"
    share = about(expected, hits.double().mean(), within=0.03)
    print(f"{name:20} masked words right {share:.0%}")
for name, values in recorded("adaptation").items():
    print(f"{name:20} then fine-tuned on 300 reviews: {np.mean(values):.3f} ±", end="")
    print(f" {np.std(values, ddof=1):.3f} accuracy")

# %% [markdown]
# The adapted model predicts 56 % of the masked words instead of 50 %, so it has learned something about reviews. But
# after fine-tuning on 300 of them it is not better: 0.680 against 0.687, and seed by seed −4.0, 0.0 and +2.0 points.
#
# Why no gain? We can only guess. Our reviews have 17,000 words in plain English, most of which the model knew
# already, and our 40 steps are not even one pass over them. Gururangan et al. read the texts of a task 100 times,
# each time with other words masked (section 4.1), and their domain corpora have two to eight billion tokens (table
# 1).
#
# With more text it did help once. `mixed-mini` read all 8,530 film sentences from above without their labels, twelve
# times. Then we fine-tuned it on 1,000 labelled ones as before: 0.727 ± 0.006 on the test set instead of 0.709 ±
# 0.003 (three seeds of fine-tuning, one adapted model). But it brought nothing for pairs of captions, nor with the
# labels of all 8,530 film sentences (one seed). And with 9,000 questions to a bank and 1,000 labels the accuracy on
# validation fell by two points (`benchmarks/README.md`). So where you have many texts and few labels, it is worth a
# try, but measure over several seeds: continued pre-training can also overwrite what the model knew.
#
# ## Several labels at once (optional, with exercise 10.4)
#
# "The tea was excellent, but the bill was dreadful." Two labels are right here: *food praised* and *price blamed*.
# This is **multi-label classification**. The probabilities of a softmax sum to 1, so it can't say yes twice. Instead,
# each label gets a yes/no decision of its own: a **sigmoid** for each logit, σ(z) = 1 / (1 + e⁻ᶻ), and **binary
# cross-entropy** as the loss.
#
# With a pencil: the logits (2, 2, −3). Softmax gives 0.50, 0.50, 0.00, as if the model were undecided between the
# first two. Sigmoids give 0.88, 0.88, 0.05.
#
# The next cell reads such reviews and counts their labels. The cell after it fine-tunes BERT on 1,000 of them (20
# seconds on a slow core). **F1** is the harmonic mean of **precision** (how many of the chosen labels are right) and
# **recall** (how many of the right labels are chosen). **Micro F1** is the F1 of all decisions taken together.

# %%
from collections import Counter

reviews = read("multi-label", "aspects/train.tsv")[:1000]
judged = read("multi-label", "aspects/validation.tsv")
print(reviews[1].text, "→", ", ".join(reviews[1].label) or "no label")
print("labels in a review:", dict(sorted(Counter(len(row.label) for row in reviews).items())))

# %%
from scipy.special import expit  # the sigmoid
from sklearn.metrics import f1_score

several, several_task, _ = fine_tune(reviews, kind="multi-label", heldout=judged)
scores = np.stack(several_task.predictions(several, judged))  # [N, 8]
wanted = np.array([several_task.target(row) for row in judged])  # [N, 8] of 0 and 1
micro = about(0.850, f1_score(wanted, scores > 0, average="micro"), within=0.06)
bags = TASKS["multi-label"].baselines(reviews, judged)["bag of words"]["micro_f1"]
print(f"micro F1: BERT {micro:.2f}, bag of words {bags:.2f}")

# %% [markdown]
# BERT has 0.85 and the bag of words 0.60. The words of praise and blame fit every aspect, and in "the bill was
# dreadful" no two neighbors contain both the aspect and the judgement. A bag that may count up to five words in a
# row, with weaker regularization (`C=100`), has 0.70, as we measured. The rest of the gap is BERT's.
#
# We choose a label if its sigmoid is above ½, that is, if its logit is above 0. Nothing says that ½ is the best
# **threshold**. A rare label may never reach it. So thresholds are chosen **on validation**, one for each label, like
# any other setting.
#
# ### Exercise 10.4 · The best threshold
# ●●●○ · 15 minutes
#
# Write `best_threshold(probabilities, truths)` for one label: two lists, N probabilities and N truths (1 if the text
# has the label, else 0). A text is chosen if its probability is **at least** the threshold. Return the threshold,
# among the given probabilities, with the highest F1. If several are equally good, return the largest. F1 = 2 · hits /
# (chosen + positives): the positives are the texts that have the label, and the hits are the chosen ones among them.
# Several texts may have the same probability.


# %% tags=["exercise"]
def best_threshold(probabilities, truths):
    ### BEGIN SOLUTION
    def f1(threshold):
        chosen = [truth for p, truth in zip(probabilities, truths) if p >= threshold]
        return 2 * sum(chosen) / (len(chosen) + sum(truths))

    return max(probabilities, key=lambda threshold: (f1(threshold), threshold))
    ### END SOLUTION


check("10.4", best_threshold)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Between two neighboring probabilities the choice doesn't change, so we only need to try the given ones. The tuple in
# `key` decides where F1 is equal. For many texts you would sort once and use cumulative sums: N log N steps instead
# of N². But then texts with the same probability must be added together: a threshold chooses all of them or none.
#
# </details>

# %% [markdown]
# A threshold that was chosen on 300 reviews fits these 300 reviews. Does it help on others? The next cell chooses the
# threshold of each label on every other review, and measures F1 on both halves. Guess: how much of the gain remains
# on the half that we didn't choose on?

# %%
half, rest = slice(0, None, 2), slice(1, None, 2)  # reviews to choose on, reviews to measure on


def f1_at(threshold, label, rows):
    return f1_score(wanted[rows, label], expit(scores[rows, label]) >= threshold)


f1 = []  # for each label: at ½ and at the chosen threshold, on the first half and on the other
for label in range(len(several_task.labels)):
    candidates = np.unique(expit(scores[half, label]))
    chosen = max(candidates, key=lambda t: (f1_at(t, label, half), t))
    f1.append([f1_at(t, label, rows) for rows in (half, rest) for t in (0.5, chosen)])
expected = zip((0.822, 0.885, 0.866, 0.857), np.mean(f1, axis=0))
there, chosen_there, other, chosen_other = (about(e, m, within=0.07) for e, m in expected)
print(f"where we chose:    F1 {there:.2f} at ½, {chosen_there:.2f} at the chosen thresholds")
print(f"on the other half: F1 {other:.2f} at ½, {chosen_other:.2f} at the chosen thresholds")

# %% [markdown]
# Where we chose, the mean F1 of the eight labels rises by six points. On the other half nothing of that is left: here
# it falls by one point, and with other rounding it rose by three. So much of what you gain where you choose
# thresholds is luck: with 150 reviews, some 35 of them right for a label, a threshold also fits the noise. And at ½
# this model was good already. Choose thresholds on many examples, report their gain on others, and keep ½ where there
# is none.
#
# ## How certain is certain?
#
# Back to one label. A model says *negative, 97 %*. The highest of its probabilities is called its **confidence**.
# Take all reviews with a confidence of 97 %: are 97 % of them right? Then the model is **calibrated**. The **expected
# calibration error** (ECE, Naeini et al. 2015) sorts predictions into bins by their confidence, here ten bins. In
# each bin it takes the absolute difference between the mean confidence and the accuracy. The ECE is the mean
# difference, weighted by the size of the bins. Guo et al. (2017) measured the networks of their time and found them
# **overconfident**.
#
# With a pencil: ten predictions with a confidence of 0.9, seven of them right; ten with 0.6, six right. ECE = ½ ·
# |0.9 − 0.7| + ½ · 0 = 0.1.
#
# The next cell computes it for our BERT with all 1,500 reviews. It also asks what chance alone would give: we pretend
# that every probability is exactly true, draw at random which answers are right, and compute the ECE of that.

# %%
from scipy.special import softmax

from bertedu.finetuning.calibration import expected_calibration_error

confidence = softmax(logits, axis=1).max(axis=1)  # [N]
error = expected_calibration_error(confidence.tolist(), bert_hits.tolist())
print(f"our BERT   {about(0.05, error, within=0.05):.2f}")
truths = np.random.default_rng(0).random((100, len(confidence))) < confidence  # [100, N]
chance = [expected_calibration_error(confidence.tolist(), row.tolist()) for row in truths]
print(f"by chance  {about(0.03, np.mean(chance), within=0.01):.2f}")

# %% [markdown]
# About five points, and a good part of it is chance: with 300 reviews, even perfectly true probabilities have an ECE
# of about 0.03. (With other rounding it was nine points.) So never compare an ECE with zero.
#
# And the model with 300 reviews and ten epochs, of which we drew the curves? Its training loss went to zero, and its
# validation loss didn't improve although more answers became right. Guess both numbers: its accuracy and its mean
# confidence. The next cell prints them and draws a **reliability diagram**: for each bin, the accuracy, and below it
# the number of reviews. On the diagonal a model is calibrated. The pale bars are the gap.

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.calibration import reliability_diagram

few_logits = np.stack(few_task.predictions(few, validation))  # [N, C]
few_hits = np.array(few_task.labels)[few_logits.argmax(axis=1)] == right
few_confidence = softmax(few_logits, axis=1).max(axis=1)  # [N]
accuracy = about(0.75, few_hits.mean(), within=0.06)
sure = about(0.84, few_confidence.mean(), within=0.05)
print(f"accuracy {accuracy:.0%}, mean confidence {sure:.0%}")
reliability_diagram(few_confidence.tolist(), few_hits.tolist())

# %% [markdown]
# Its accuracy is 75 %, its mean confidence 84 %: it is overconfident. Nearly all points are below the diagonal. (The
# two on the left are one and eight reviews, so don't look at them.) Look at the bin before the last: the confidence
# is 86 %, and 62 % of the 42 answers are right. In the last bin, with half of the reviews, it is 97 %, and 92 % are
# right. Once the training reviews are right, the loss can still be lowered by pushing their probabilities towards 1.
# So the confidence goes on growing, on validation too, while hardly more answers become right. The accuracy doesn't
# show this. The validation loss does, in part: below we repair the confidence alone, and the loss falls by 0.06.
#
# The cheapest repair is **temperature scaling** (Guo et al. 2017): divide all logits by a number τ, the
# **temperature**. The order of the classes stays, so no answer changes. With τ > 1 the probabilities become less
# extreme. We take the τ with the lowest loss on *held-out* reviews, here every other review of validation, and
# measure on the rest. Guess: is it above or below 1?

# %%
from torch.nn.functional import cross_entropy

target = np.array([few_task.labels.index(name) for name in right])  # [N]
half, rest = np.arange(0, 300, 2), np.arange(1, 300, 2)


def loss_at(t, rows):
    return cross_entropy(torch.tensor(few_logits[rows] / t), torch.tensor(target[rows])).item()


best_t = min(np.arange(0.5, 10, 0.05), key=lambda t: loss_at(t, half))
print(f"temperature {about(1.35, best_t, within=0.6):.1f}")
for t, losses, errors in ((1, 0.65, 0.11), (best_t, 0.59, 0.08)):
    confidence = softmax(few_logits[rest] / t, axis=1).max(axis=1)
    error = expected_calibration_error(confidence.tolist(), few_hits[rest].tolist())
    name = "before" if t == 1 else "after"
    print(f"{name:7} loss {about(losses, loss_at(t, rest), within=0.2):.2f}", end="")
    print(f"   calibration error {about(errors, error, within=0.07):.2f}")

# %% [markdown]
# The temperature is about 1.4, above 1: the model was overconfident. On the half that we didn't choose on, the
# calibration error falls from 0.11 to 0.08 and the loss from 0.65 to 0.59. Not a single answer has changed. A part of
# the 0.08 is chance again: 150 reviews give more of it than 300.
#
# ## Errors, read one by one
#
# Numbers tell you how often a model is wrong. Only reading tells you why. The next cell prints the six errors of our
# BERT (the one with all reviews) about which it was most certain. Ask three questions about each: would *you* give
# the label in the data? Is there a word that misled the model? What do several errors have in common?

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.mistakes import most_telling

explained = task.explain(validation, task.predictions(model, validation))
for row in most_telling(explained, 6):
    mistake = task.in_words(row)
    print(f"right: {mistake.right:9} predicted: {mistake.said:16} {mistake.asked}")

# %% [markdown]
# The errors come in families: one template, many reviews. In our run, four of the six are "… on the first day and …
# on the second": again the later judgement seems to count. The other two end in "from beginning to end". (With other
# rounding, three of the six were of the construction `negated`.) This is so in generated data, and in much real data
# too (one shop, one author, one form). 300 reviews are not 300 independent examples. The next thing to try is more
# training examples of the construction that fails, in more different words, and of its opposite: verdicts that come
# first.
#
# ## The proof
#
# With the same weights, your class and the package's must give the same logits. The next cell checks this on eight
# reviews. Then it saves a model with the pooling `"pooler"` and opens the folder in `transformers`.

# %%
import tempfile

import transformers

mine = MyClassifier(open_model(folder)[0].bert, 3).eval()
mine.bert.load_state_dict(model.bert.state_dict(), strict=False)  # it has no pooler
mine.classifier.load_state_dict(model.classifier.state_dict())
batch = tokenizer(texts(train[:8]))
with torch.no_grad():
    ours = model.eval()(batch.input_ids, batch.attention_mask).logits  # [8, C]
    difference = (mine(batch.input_ids, batch.attention_mask) - ours).abs().max()
print(f"yours against package: largest difference {difference:.4f}")

torch.manual_seed(0)
make, settings = TASKS["classification"].make, FinetuningSettings(pooling="pooler")
package, _ = make(train, validation, tokenizer, str(folder), settings)
with tempfile.TemporaryDirectory() as place, torch.no_grad():
    package.eval().save_pretrained(place)
    theirs = transformers.BertForSequenceClassification.from_pretrained(place).eval().float()
    difference = (theirs(**batch).logits - package(**batch).logits).abs().max()  # [8, C]
print(f"package against transformers: largest difference {difference:.4f}")

# %% [markdown]
# Both differences are zero to four decimals.
#
# ## Broken BERT: a loss that will not go down
#
# A colleague's classifier learns, but its loss stops at about 0.55. It doesn't get lower with any learning rate and
# any number of epochs, although nearly all training reviews are right by then. The next cell shows the loss function
# and applies it to three rows whose logits become more and more certain, and right. Where should the loss go?


# %%
def broken_loss(logits, labels):  # [B, C], [B]
    probabilities = logits.softmax(dim=-1)
    return cross_entropy(probabilities, labels)


certain = torch.eye(3)  # three rows, each with another right class
for size in (1, 5, 10, 50):
    print(f"right logit {size:2}: loss {broken_loss(size * certain, torch.arange(3)):.2f}")

# %% [markdown]
# ### Exercise 10.5 · Down to zero
# ●●●○ · 8 minutes
#
# Find the line and write `repaired_loss(logits, labels)`. It must stay finite for logits of 1,000. Then work out with
# a pencil where 0.55 comes from.


# %% tags=["exercise"]
def repaired_loss(logits, labels):
    ### BEGIN SOLUTION
    return cross_entropy(logits, labels)
    ### END SOLUTION


check("10.5", repaired_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `cross_entropy` expects logits and applies softmax itself (`nn.CrossEntropyLoss` too). With probabilities as its
# input, it takes a softmax of the softmax. The best possible probabilities, (1, 0, 0), are then used as logits: −ln(e
# / (e + 2)) = 0.55. The loss can't get lower. Nothing crashes, and the answers can still be mostly right, so this bug
# can live for years. `softmax(...).log()` is right on paper, but fails for large logits: log of 0.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# GLUE is a collection of nine English tasks with single texts or pairs, and BERT's first benchmark (section 4.1).
#
# | | Devlin et al. 2019 | Google's code | `transformers` | here |
# |---|---|---|---|---|
# | vector | [CLS], called C, as it is (section 4.1) | the pooler: C, a linear layer, tanh | the pooler | any of five; *max* in this chapter |
# | head | a matrix W, D numbers for each class, no bias | W and a bias | W and a bias | W and a bias |
# | dropout before the head | 0.1 on all layers (A.2, A.3) | 0.1 | `classifier_dropout`, else that of the hidden layers | as in pre-training: none for this checkpoint |
# | learning rate | 5e-5, 4e-5, 3e-5 or 2e-5 for GLUE, chosen on the development set; 3 epochs, batch 32 | 5e-5 | 5e-5 (`Trainer`) | 5e-4, because the model is small |
# | several labels | not there | not there | `problem_type="multi_label_classification"` | the same name |
# | a saved folder with another pooling | | | opens it with a new, random pooler, and warns | opens it as it was saved |
#
# ## Summary
#
# - Pooling makes one vector, a linear layer makes C scores: C · D weights and C biases are new. All others are
#   pre-trained, and learn too.
# - The bag of words comes first. Split the accuracy by kinds of examples: a mean hides what was learned.
# - A perfect score can be a shortcut. BERT had all `turned` reviews right, and none with the verdict first.
# - On our reviews, pooling over all tokens (mean or max) served this small BERT better than its pooler. On films we
#   changed the number of epochs at the same time.
# - How far BERT leads depends on the templates of the test set: one point on validation, 15 on test. In the learning
#   curve its mean with 100 to 1,000 reviews (nine to three epochs) is not above that of the bag of words. More epochs
#   can change this: BERT was ahead after ten on 300 reviews (one draw) and twelve on 1,000 questions to a bank.
# - Training loss doesn't tell you when to stop. Validation loss or accuracy does, roughly: on 300 reviews both go
#   up and down, so be patient.
# - Seeds change accuracies by points. Use several, and compare equal seeds. On 300 test reviews, give an interval.
# - One of several classes: softmax. Any number of labels: sigmoids, with thresholds chosen on validation.
# - Trust a probability only after you have measured its calibration. One temperature repaired a part: 0.11 became
#   0.08.
# - Read errors. They come in families.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(10)

# %% [markdown]
# ## Interview questions
#
# <!-- finetuning-04 -->
# **1. You have 200 labelled texts in four classes, and a thousand times as many without labels. What is your plan for
# the first week?**
#
# <details><summary>Answer in half a minute</summary>
#
# Cross-validate, with all texts of an author or customer in one fold. A baseline on day one: a bag of words with
# logistic regression. Next a frozen sentence encoder with a linear layer, and a fine-tuned BERT with five seeds. Draw
# the learning curve at 50, 100 and 160 texts. If it still rises, label more: texts about which the model is
# uncertain, mixed with random ones.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First I protect the measurement. With 200 texts a test set of 50 has a standard error (the standard deviation of the
# measured accuracy) of about 5 points at 85 %, so I use cross-validation with five folds, grouped so that no author,
# template or customer is on both sides.
#
# Then baselines: the majority class, and a bag of words with logistic regression. That takes an hour, and often gets
# far. Third, a sentence encoder, frozen, with a linear model on its vectors: few weights to learn, no instability.
# SetFit goes one step further: fine-tune the encoder on pairs of texts with the same or another label, then fit the
# linear model. Fourth, a fine-tuned BERT: small learning rate with Adam's bias correction and warm-up, more epochs
# than three, since three epochs over 160 texts in batches of 16 are only thirty steps, and five seeds with mean and
# standard deviation. Small sets vary by seed: Google's README gives 84 to 88 % for MRPC, a set of sentence pairs with
# 3,600 examples.
#
# Fifth, I use the unlabelled texts: continue masked language modelling on them, which helps if their language differs
# from books and Wikipedia. A large language model can label them too, if I check a sample and it's allowed to see the
# data.
#
# Then the learning curve: train with 50, 100, 160. If the line still rises, labels are the best investment. I let the
# model choose which: those it is uncertain about, mixed with random ones, so that the set isn't distorted, and the
# test set always random. And I read every error. With 200 texts a tenth of wrong labels decides the result.
#
# </details>
#
# <!-- evaluation-03 -->
# **2. Your model has an accuracy of 95 % and says 0.99 nearly every time. What is wrong, how do you measure it, and
# how do you repair it?**
#
# <details><summary>Answer in half a minute</summary>
#
# It is overconfident: where it says 0.99, fewer than 99 of 100 are right. Accuracy can't show that. I draw a
# reliability diagram and compute the expected calibration error. The cheapest repair divides all logits by one
# temperature, fitted on held-out data by its negative log-likelihood. The answers stay the same, only the
# probabilities change.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A model is calibrated if, of all predictions that it gives 0.8, eighty percent are right. Here it says 0.99 and is
# right in 95 %. So the average confidence is four points too high, and where it is wrong, it's wrong with certainty.
#
# Why? Cross-entropy goes on falling after the last training example is right: scaling all logits up makes right
# answers more certain. A fine-tuned BERT gets all of its training texts right after a few epochs, and from then on
# its confidence only grows. How to measure: sort the predictions into bins by confidence, and compare the mean
# confidence with the share that is right, that is the reliability diagram. The mean gap weighted by bin size is the
# expected calibration error. It depends on the bins, so I report negative log-likelihood or the Brier score (the mean
# squared error of the probabilities) as well.
#
# How to repair: temperature scaling. Divide all logits by τ, and choose τ to minimize the negative log-likelihood on
# held-out data, never on training data, where τ would come out below 1. It's one number, so 200 examples are enough.
# Order within a text doesn't change, so accuracy stays exactly the same. What it can't do: it corrects the average,
# not single groups, and it fails when the data shift. On texts from another domain confidence is too high again.
#
# Does it matter? Only if somebody acts on the number: a threshold under which a person decides, a cost calculation,
# or scores that are combined from two models. If you only take the argmax, it doesn't. Training fewer epochs, label
# smoothing (a target a little below 1), or averaging five seeds helps, too.
#
# </details>
#
# <!-- evaluation-02 -->
# **3. Your new model is two points better on a test set of 300. Is it better? Which test do you use?**
#
# <details><summary>Answer in half a minute</summary>
#
# Two points are six texts, and the standard error of one accuracy is already about 1.7 points. Since both models saw
# the same texts, I compare only those where they differ, with McNemar's test: 20 against 14 gives p = 0.39, 6 against
# 0 gives 0.03. Then several seeds for both. If that doesn't decide, more test texts do.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Two points of 300 are six texts. At 90 % the standard error of one accuracy is the root of 0.9 times 0.1 over 300,
# 1.7 points, so a 95 % interval is plus or minus 3.4. But whether two such intervals overlap is no test. Even for two
# independent samples they may overlap and the difference be significant: 0.90 and 0.93 on 1,000 texts each, p is
# 0.016. And here both models read the same texts, and mostly fail on the same ones. Only the texts on which exactly
# one is right carry information.
#
# McNemar's test: under the null hypothesis, that both are equally good, each of these goes to either side like a
# coin. Twenty wins against fourteen losses: p is 0.39, that happens by chance more than every third time. Six against
# zero: p is 0.03, although the difference is six in both cases. So I need the pairs, not the two accuracies. For F1,
# or BLEU in translation, there is no such formula: a paired bootstrap or a permutation test, in which the two outputs
# of each text are swapped at random.
#
# That settles the test set. A second source of chance is the training: another seed moves a fine-tuned model by one
# or two points on small data. So at least five seeds for each, and compare the means; one run against one run
# compares two draws. Third, how many variants did I try? The best of twenty on the same 300 is two points up by luck
# alone.
#
# How many texts would I need? If the models disagree on ten percent of the texts, and I want to see two points with
# 80 % power, that is in four of five such tests, about 2,000. And even if it's significant: which texts got better
# and which worse, and does it pay?
#
# </details>
#
# ## Next
#
# One label for a whole text was this chapter. Next comes one label for each word: [11 · Tagging](11_tagging.ipynb).
