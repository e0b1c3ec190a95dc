# %% [markdown]
# # 10 · Text classification
#
# You will put a linear layer on top of a pre-trained BERT, train it to judge reviews, and find out how good it really
# is. You see every line that matters, from the batches to the report. Then you do it once more with `transformers`.
#
# ## What you will be able to do
#
# - explain every line of `Dataset`, collate function, training loop and early stopping, as in an interview
# - put a head on BERT, choose the vector that it gets, and freeze what shouldn't learn
# - compare a classifier with its baseline: by class, by kind of text, and with a test of significance
# - do the same fine-tuning with `transformers`, save it, and use it in a `pipeline`
# - repair probabilities that promise too much, choose thresholds, and read errors
#
# **Time:** two sittings of about 40 and 60 minutes, and 30 more for what is optional. The first ends with a classifier and a report,
# the second chooses, freezes and decides ·
# **You need:** [09 · Looking inside](09_looking_inside.ipynb), and [08 · Pre-training](08_pre_training.ipynb)
# for the training loop · **Next:** [11 · Tagging](11_tagging.ipynb)
#
# You can leave what is marked (optional) for another day.
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
# ![The map of BERT from left to right: tokenizer, embeddings, then in each of L layers self-attention and feed-forward, then the heads. The heads are lit: this chapter puts one on top of the pre-trained rest.](pictures/10_where.svg)
#
# ## The task: what does the writer think?
#
# **Sentiment analysis** asks whether a text is positive, neutral or negative. Our data are short reviews of phones,
# cafés, films, apps and hotels, written for this course. A third column names what makes each of them easy or hard, its
# **phenomenon**. Training doesn't see that column.
#
# The data come in three parts. We train on the first, choose all settings by the second (**validation**), and touch the
# third (**test**) once, at the end. The next cell reads two of them.

# %%
import csv

import numpy as np

from bertedu.course import about, check, data_path, hint, quiz

LABELS = ["negative", "neutral", "positive"]


def read(part):
    with open(data_path(f"tasks/sentiment/{part}.tsv"), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


train, validation = read("train"), read("validation")

# %%
for name, rows in (("train", train), ("validation", validation)):
    counts = [sum(row["label"] == label for row in rows) for label in LABELS]
    print(f"{name:11}{len(rows):5} reviews,", dict(zip(LABELS, counts)))

# %% [markdown]
# One review of some phenomena:

# %%
phenomena = np.array([row["phenomenon"] for row in validation])
for kind in ("plain", "negation", "contrast", "expectation", "implied", "mixed"):
    row = next(row for row in validation if row["phenomenon"] == kind)
    print(f"{kind:12}{row['label']:9} {row['text']}")

# %% [markdown]
# ## The baseline: a bag of words
#
# Never report a score without the baseline that a simple method would reach. For texts this is a **bag of words** with
# **logistic regression**: each word gets a weight for each class, and the weights of a text are added up.
#
# ![Two reviews of three words each way: good, not bad, and bad, not good. Their bags hold the same words, so the sums of the weights are equal and the answers are the same, although the labels are opposite. The baseline of this chapter counts pairs too.](pictures/10_bags.svg)
#
# So a bag can't use the order of the words. Ours also counts pairs of neighbors (**bigrams**), which helps where "not
# bad" occurs in training. (**TF-IDF** scales the counts: a word that is in many reviews counts less.)
#
# %%
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression


def texts(rows):
    return [row["text"] for row in rows]


def labels(rows):
    return np.array([row["label"] for row in rows])


# %%
words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+")
bag = LogisticRegression(C=10, max_iter=1000)
bag.fit(words.fit_transform(texts(train)), labels(train))
bag_hits = bag.predict(words.transform(texts(validation))) == labels(validation)  # [N]
frequent = (labels(validation) == "negative").mean()
print(f"bag of words {bag_hits.mean():.0%}, always the most frequent class {frequent:.0%}")

# %% [markdown]
# The next cell splits this by the five most frequent phenomena. Guess: where is the bag best, and where is it worst?

# %% tags=["guess"]
shown = [kind for kind in sorted(set(phenomena)) if (phenomena == kind).sum() >= 35]
for kind in shown:
    print(f"  {kind:12}{bag_hits[phenomena == kind].mean():.0%} of {(phenomena == kind).sum()}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Nowhere is it good. Even plain reviews it gets right in only about seven of ten cases: two thousand short texts don't
# show every word that judges, and words such as *hotel* or *food* say nothing, because many reviews come a second time
# with the opposite verdict. It is worst at comparisons and negations, where it adds up words that lead it astray.
#
# </details>

# %% [markdown]
# ## A head for BERT
#
# BERT gives D numbers for each token. We need one score for each class, for the whole text. This takes two steps:
#
# ![Token vectors of a review, one row for each token, the last one padding, hatched and left out. Pooling takes the largest value of each column over the real tokens and makes one vector of them. A linear layer makes three scores of it, softmax three probabilities.](pictures/10_head.svg)
#
# **Pooling** makes one vector of all token vectors; we take the maximum over the tokens, dimension by dimension. A
# **linear layer** makes C scores of it, called **logits**. Together they are the **classification head**. (This has
# nothing to do with attention heads: a head is whatever sits on top.) With D = 256 and three classes, 771 numbers are
# new and random. All others are pre-trained.

# %%
import torch
from torch import nn

from bertedu.inference import open_model
from bertedu.training.devices import choose_device

device = torch.device(choose_device("auto"))  # trains on a GPU where torch finds one
folder = data_path("checkpoints/mixed-mini")  # 4 layers, D = 256, read 130 million tokens
tokenizer = open_model(folder)[1]


def max_pool(vectors, attention_mask):  # [B, T, D], [B, T] -> [B, D]
    padding = attention_mask[:, :, None] == 0  # [B, T, 1]
    return vectors.masked_fill(padding, -torch.inf).amax(dim=1)


# %% [markdown]
# Padding becomes minus infinity, so it never is the maximum. Now BERT and its head:


# %%
class MyClassifier(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.bert = open_model(folder)[0].bert
        self.classifier = nn.Linear(self.bert.config.hidden_size, classes)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, input_ids, attention_mask):
        vectors = self.bert(input_ids, attention_mask).last_hidden_state  # [B, T, D]
        return self.classifier(max_pool(vectors, attention_mask))  # [B, C]


# %% [markdown]
# Softmax turns logits into probabilities, and the loss is **cross-entropy**: minus the logarithm of the right class's
# probability. With a pencil: for the logits (2, 0, 0) the probabilities are 0.79 and twice 0.11. If the first class is
# right, the loss is −ln 0.79 = 0.24.
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
# ## Batches by hand
#
# An interviewer may ask for these three. A **Dataset** says how many examples there are, and what number i is. A
# **collate function** makes a batch of several examples: here it pads them to the longest. A **DataLoader** draws the
# examples, in a new order in each epoch, and calls it.
#
# ![Three reviews as rows of ids with different lengths go into the collate function. Out come input ids and an attention mask, both three rows of equal length, where the short rows end in hatched padding, and three labels as numbers: 0 negative, 2 positive.](pictures/10_collate.svg)

# %%
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = [2, *tokenizer.encode(self.rows[i]["text"]), 3]  # [CLS] … [SEP]
        return torch.tensor(ids), LABELS.index(self.rows[i]["label"])


# %%
def collate(examples):
    ids, targets = zip(*examples)
    input_ids = pad_sequence(ids, batch_first=True, padding_value=0)  # [B, T], 0 is [PAD]
    return input_ids, (input_ids != 0).long(), torch.tensor(targets)


# %%
batch = next(iter(DataLoader(Reviews(train), batch_size=3, collate_fn=collate)))
for name, part in zip(("input_ids", "attention_mask", "targets"), batch):
    print(f"{name:15}{list(part.shape)}")

# %% [markdown]
# ### How to split data (for your own project)
#
# Our parts came ready. Shuffle your own, and cut: 80 % to train, 10 % for validation, 10 % for the test. But rows that
# belong together (one author, one customer, one template) must end up in the *same* part, or the test measures what the
# model remembers. In our data many reviews have a twin with the opposite verdict ("Terrible trailer, wonderful film"
# and "Wonderful trailer, terrible film"). Twins share a part.

# %%
import random


def split(groups, shares=(0.8, 0.1), seed=0):
    """Lists of rows that belong together -> three lists of rows."""
    order = random.Random(seed).sample(groups, len(groups))
    ends = [round(sum(shares[: n + 1]) * len(order)) for n in range(2)]
    parts = order[: ends[0]], order[ends[0] : ends[1]], order[ends[1] :]
    return [[row for group in part for row in group] for part in parts]


# %%
pairs = [[f"review {n}", f"its twin {n}"] for n in range(10)]
print([len(part) for part in split(pairs)], split(pairs)[2])

# %% [markdown]
# ## Fine-tuning, with the best weights kept
#
# In **fine-tuning** all weights learn, those of BERT too. The loop is that of chapter 08: forward, loss, backward,
# clip, step, with a learning rate that rises for a tenth of the run (**warm-up**) and then falls to zero.
#
# ![Five boxes from left to right: a batch, logits, the loss, gradients, and a step of AdamW; from there an arrow leads back to the next batch. After each epoch loss and accuracy on validation are measured, and the weights with the best accuracy so far are copied aside. At the end they are put back.](pictures/10_loop.svg)
#
# First one step:


# %%
def train_step(model, batch, optimizer, schedule):
    model.train()
    input_ids, attention_mask, targets = (part.to(device) for part in batch)
    loss = nn.functional.cross_entropy(model(input_ids, attention_mask), targets)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return loss.item()


# %% [markdown]
# And a measurement: all logits of some reviews, and what follows from them.


# %%
@torch.no_grad()
def logits_of(model, rows):  # -> [N, C]
    where = next(model.parameters()).device
    loader = DataLoader(Reviews(rows), batch_size=64, collate_fn=collate)
    model.eval()
    return torch.cat([model(ids.to(where), mask.to(where)).cpu() for ids, mask, _ in loader])


# %%
def targets_of(rows):  # -> [N]
    return torch.tensor([LABELS.index(row["label"]) for row in rows])


def measure(model, rows):  # -> loss and accuracy
    logits, targets = logits_of(model, rows), targets_of(rows)
    right = logits.argmax(dim=-1) == targets
    return nn.functional.cross_entropy(logits, targets).item(), right.double().mean().item()


# %% [markdown]
# ### Early stopping
#
# How long should it run? The loss on the training reviews is no guide, it falls as long as the model can memorize. So
# after each **epoch** (one pass over the data) we measure validation, and copy the weights if they are the best so far.
# If nothing improves for some epochs (the **patience**), we stop: **early stopping**.

# %%
import copy


class Best:
    """The best weights so far, and how many epochs ago they were."""

    def __init__(self):
        self.score, self.ago = -1.0, 0

    def see(self, model, score):
        self.ago += 1
        if score > self.score:
            self.score, self.ago = score, 0
            self.weights = copy.deepcopy(model.state_dict())


# %% [markdown]
# With a pencil: the accuracies of five epochs are 50, 62, 60, 61 and 70 %, and the patience is 2. After which epoch
# does a run stop, and the weights of which are kept?

# %% tags=["guess"]
keeper, some_model = Best(), nn.Linear(1, 1)
for epoch, score in enumerate((0.50, 0.62, 0.60, 0.61, 0.70), start=1):
    keeper.see(some_model, score)
    if keeper.ago >= 2:
        break
print(f"stops after epoch {epoch}, keeps the weights of epoch {epoch - keeper.ago}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Epochs 3 and 4 are no better than epoch 2, so the run ends and never sees the 70 %. A copy is needed, since the
# optimizer changes the model's own tensors in place.
#
# </details>
#
# The whole loop:

# %%
from torch.optim.lr_scheduler import LambdaLR
from tqdm.auto import tqdm
from bertedu.training.optimization import rate_factor  # warm-up, then a line down to zero


def prepared(model, rate, total):  # -> optimizer and schedule, for the weights that may learn
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=rate, weight_decay=0.01)
    return optimizer, LambdaLR(optimizer, lambda step: rate_factor(step / total, 0.1))


# %%
def fine_tune(rows, epochs, model=None, rate=3e-4, patience=99, seed=0, keep_best=True):
    torch.manual_seed(seed)
    model = (model or MyClassifier()).to(device)
    loader = DataLoader(Reviews(rows), batch_size=16, shuffle=True, collate_fn=collate)
    optimizer, schedule = prepared(model, rate, epochs * len(loader))
    history, best = [], Best()
    for epoch in range(1, epochs + 1):
        bar = tqdm(iter(loader), f"epoch {epoch} of {epochs}", len(loader), leave=False)
        losses = [train_step(model, batch, optimizer, schedule) for batch in bar]
        loss, accuracy = measure(model, validation)
        means = {"training": np.mean(losses), "validation": loss, "accuracy": accuracy}
        history.append({"first": losses[0], **means})
        best.see(model, accuracy)
        if best.ago >= patience:
            break
    if keep_best:
        model.load_state_dict(best.weights)
    return model.cpu(), history


# %% [markdown]
# Now we fine-tune on all reviews (a minute or two on a slow core). Is the loss of the first batch what you computed?

# %%
EPOCHS = 5
model, history = fine_tune(train, EPOCHS)
print(f"loss of the first batch {about(1.42, history[0]['first'], within=0.3):.2f}")

# %%
logits = logits_of(model, validation)  # [N, C]
says = np.array(LABELS)[logits.argmax(dim=-1)]
hits = says == labels(validation)

# %% [markdown]
# It is a little above ln 3: the maximum over many tokens is large, and so are the first logits. (At 2 or more I would
# look for a mistake.)
#
# Now the accuracy, as a whole and by phenomenon, beside the bag of words. Guess: where does BERT gain most?

# %% tags=["guess"]
best = about("10 accuracy of BERT", hits.mean(), within=0.06)
print(f"{'all':12} BERT {best:4.0%}   bag of words {bag_hits.mean():4.0%}")
for kind in shown:
    ours, counted = (found[phenomena == kind].mean() for found in (hits, bag_hits))
    ours = about(f"10 BERT, {kind}", ours, within=0.25)
    print(f"{kind:12} BERT {ours:4.0%}   bag of words {counted:4.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In our run BERT is ahead by seven points, most at plain reviews and where the second half of a review overrules the
# first (`contrast`). At negations it gains nothing, and comparisons it reads worse than the bag: a mean hides such
# lines. What *better* or *not* refers to, a model of four layers learns only in part from two thousand reviews.
#
# ![Bars of the accuracy of BERT and of the bag of words for each frequent phenomenon.](pictures/10_gain.svg)
#
# </details>
#
# **Always split a validation set into kinds of examples before you believe its mean.**
#
# ## A report by class
#
# Accuracy is one number for all classes. For each class, **precision** is the share of our answers "this class" that
# are right, **recall** the share of the class's reviews that we found, and **F1** their harmonic mean. **Macro F1** is
# the mean over the classes: each counts the same, however rare it is. A **confusion matrix** shows who is taken for
# whom.

# %%
from sklearn.metrics import confusion_matrix

table = confusion_matrix(labels(validation), says, labels=LABELS)  # rows: right, columns: said
right = table.diagonal()
precision, recall = right / table.sum(axis=0), right / table.sum(axis=1)  # [C] each
f1 = 2 * precision * recall / (precision + recall)

# %%
expected = ((0.66, 0.70, 0.68), (0.77, 0.77, 0.77), (0.71, 0.66, 0.68))
print(f"{'':11}precision  recall  F1")
for name, ours, *figures in zip(LABELS, expected, precision, recall, f1):
    told = (about(one, figure, within=0.12) for one, figure in zip(ours, figures))
    print(f"{name:10}", *(f"{one:.2f}" for one in told), sep="   ")
print(f"macro F1 {about(0.71, f1.mean(), within=0.06):.2f}")

# %% [markdown]
# ![The confusion matrix of BERT on validation: a row for each right class, a column for each answer. Most counts stand on the diagonal; the rest shows which classes are taken for each other.](pictures/10_confusion.svg)
#
# Read a row: what happened to the reviews of this class? Read a column: what stands behind this answer? The two classes
# with a verdict are mixed up with each other more than with *neutral*: BERT mostly sees *that* somebody judges, and
# errs about the direction.
#
# ## Is the difference real?
#
# With other reviews the difference between BERT and the bag would be another one. And BERT's figure is a little too
# good: its weights were chosen by these reviews. So there is the **test set**, by which nothing was chosen. In a
# project you look at it at the end, and once.
#
# Two methods say how much of a difference could be chance:
#
# - The **bootstrap** (Efron 1979): draw as many reviews *with replacement* as there are, compute the difference on them,
#   and repeat it 10,000 times. The middle 95 % are a **confidence interval**.
# - **McNemar's test** (1947): look only at reviews on which exactly one of the two is right. If both were equally good,
#   each of these would be a coin toss. The **p-value** is the probability of a result at least as uneven.
#
# Guess before you run the three cells: how much is left of BERT's seven points, how wide is the interval, and how many
# reviews does exactly one of the two get right?

# %% tags=["guess"]
test = read("test")
bert = np.array(LABELS)[logits_of(model, test).argmax(dim=-1)] == labels(test)  # [N]
bags = bag.predict(words.transform(texts(test))) == labels(test)  # [N]
accuracy = about("10 test accuracy", bert.mean(), within=0.07)
print(f"test: BERT {accuracy:.0%}, bag of words {bags.mean():.0%}")

# %% tags=["guess"]
drawn = np.random.default_rng(0).integers(len(test), size=(10_000, len(test)))
gains = 100 * (bert[drawn].mean(axis=1) - bags[drawn].mean(axis=1))  # [10,000]
low, high = (about(f"10 gain {q}", np.quantile(gains, q), within=8) for q in (0.025, 0.975))
print(f"bootstrap, 95 % interval of the gain: {low:.0f} to {high:.0f} points")

# %% tags=["guess"]
from scipy.stats import binomtest

only_bert, only_bag = int((bert & ~bags).sum()), int((bags & ~bert).sum())
p = about("10 p-value", binomtest(only_bert, only_bert + only_bag).pvalue, within=0.9)
only_bert = about("10 only BERT", only_bert, within=30)
only_bag = about("10 only bag", only_bag, within=25)
print(f"only BERT right {only_bert:.0f}, only the bag {only_bag:.0f}, p-value {p:.3f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![All test reviews as four boxes: both right, only BERT right, only the bag right, both wrong. Only the two boxes with a thick edge tell the two models apart, and they are about as uneven as coin tosses.](pictures/10_mcnemar.svg)
#
# Hardly anything is left: in our run BERT lost a point or two and the bag gained five, so both are about equally often
# right, and zero lies well inside the interval. It is some eleven points wide. That is all that 360 reviews can say.
# The seven points on validation were as uncertain, and a little of them was selection: the weights had been chosen by
# these reviews.
#
# Both methods assume that reviews are independent, and account only for the choice of reviews. Another seed moves the
# accuracy too: try `seed=1`.
#
# </details>
#
# So would you use this BERT? For these reviews counting words does as well, and costs nothing. That is an honest result
# for four layers that have read little, and you would not know it without a baseline and a test set. A model that has
# read more knows more: BERT-Base (twelve layers, 3.3 billion words) gets 93.5 % of film reviews right, BERT-Large 94.9
# %, in two classes (Devlin et al. 2019, table 1, SST-2). That is why people use it. The code works for it too, with its
# own ids of [CLS] and [SEP] and a lower learning rate.
#
# **Here the first sitting ends.** You have a classifier, a report, and a comparison that you can defend. The second
# sitting asks what its settings do, builds it again with `transformers`, and looks at its probabilities and errors.

# %% [markdown]
# ## When to stop
#
# With few reviews one sees best what happens if training goes on. The next cell fine-tunes on 300 reviews for ten
# epochs (half a minute on a slow core). It keeps the last weights, whether they are the best or not.

# %%
shuffled = random.Random(0).sample(train, len(train))
few, few_history = fine_tune(shuffled[:300], 10, keep_best=False)

# %% [markdown]
# Guess: where will the training loss end? And will the *validation* loss fall with it?

# %% tags=["guess"]
print("epoch  training loss  validation loss  accuracy")
for epoch in (0, 4, 9):
    one = few_history[epoch]
    training = about(f"10 few training {epoch}", one["training"], within=0.25)
    loss = about(f"10 few loss {epoch}", one["validation"], within=0.4)
    accuracy = about(f"10 few accuracy {epoch}", one["accuracy"], within=0.1)
    print(f"{epoch + 1:5}  {training:13.2f}  {loss:15.2f}  {accuracy:8.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two panels over ten epochs on 300 reviews. The training loss falls to nearly zero, the validation loss falls at first and then rises. The accuracy on validation rises a little. Dots mark the epoch with the highest accuracy.](pictures/10_curves.svg)
#
# The model has memorized 300 reviews: its training loss is nearly zero. How can no fewer answers be right, and the
# validation loss be worse? Cross-entropy also measures *how certain* the model is. It becomes more certain about all
# its answers, also about the wrong ones, and these cost more and more. This is **overfitting**.
#
# </details>
#
# If you need only the answers, keep the weights with the best accuracy, as our loop does. If you need probabilities,
# choose by the loss, or repair them (below). Where a curve goes up and down, be patient. And our learning rate falls to
# zero over the *planned* number of epochs: five epochs of a plan of ten are not the same as a plan of five.
#
# ## Which learning rate?
#
# It is the setting that matters most. Search for it on validation, with factors of three and several seeds, in a range
# whose two ends are clearly bad. (For BERT-Base, Devlin et al. 2019 tried 5e-5, 3e-5 and 2e-5. Small models need larger
# ones.) The picture shows such a search, done with 600 reviews made from templates (`data/tasks/stress`).

# %%
from bertedu.files import read_json


def recorded(name):
    return read_json(data_path(f"comparisons/{name}.json"))["values"]


rates = dict(zip(("5e-5", "1.5e-4", "5e-4", "1.5e-3", "5e-3"), recorded("rates").values()))
for rate, scores in rates.items():
    seeds = " ".join(f"{score:.0%}" for score in sorted(scores))
    print(f"{rate:7} mean {np.mean(scores):.0%}  seeds {seeds}")

# %% [markdown]
# ![Accuracy on reviews from templates by learning rate, three seeds each as dots: low at the smallest rate, best in the middle, dots far apart at the fourth, and all at a third, which is guessing, at the largest. The rate of this chapter, 3e-4, stands left of the best.](pictures/10_rates.svg)
#
# Too small: learned too slowly. Too large: all reviews get the same class. Just below that, the *seed* decides
# whether it works; such a line is a warning, even where its best dot is high.
#
# ## Choosing a pooling
#
# Which vector should stand for the text? With a pencil: two tokens and one padding, vectors (1, 4), (3, 0), and (9, 9)
# for the padding. What do *cls* (the first vector), *mean* and *max* give without the padding, and what with it?
#
# <details><summary>Answer</summary>
#
# ![Two token vectors, 1 4 and 3 0, and a hatched padding vector 9 9. cls takes the first, 1 4; mean gives 2 2; max, which this chapter takes, gives 3 4. If padding is forgotten, mean and max are pulled to the nines.](pictures/10_poolings.svg)
#
# </details>
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
# BERT's own code takes [CLS], with one more linear layer and tanh on top, the **pooler**. [CLS] has no meaning of its
# own. It becomes a summary because a loss asks for one, and in a small model that has read little it is a poor one. For
# our checkpoint a pooling over all tokens is better (on reviews from templates, *mean* beat *cls* and *pooler* with all
# three seeds).
#
# From which tokens do the 256 numbers come? Write a review and choose a pooling. Guess first: of how many tokens does
# the maximum take something?

# %% tags=["hide-input"]
import html


def shares(vectors, how):  # [T, D] to [T]: how many of the D numbers come from each token
    each = torch.zeros(len(vectors))
    if how == "max":
        return vectors.argmax(dim=0).bincount(minlength=len(vectors)) / vectors.size(1)
    each[0 if how == "cls" else slice(None)] = 1 if how == "cls" else 1 / len(vectors)
    return each


def bars(text, how):
    ids = tokenizer(text).input_ids
    with torch.no_grad():
        vectors = model.bert(ids, torch.ones_like(ids)).last_hidden_state[0]
    names = tokenizer.convert_ids_to_tokens(ids[0].tolist())
    return "<br>".join(
        f"<code>{html.escape(name):·<12} {'█' * round(60 * share)} {share:.0%}</code>"
        for name, share in zip(names, shares(vectors, how).tolist())
    )


# %% tags=["hide-input", "nbval-ignore-output"]
import ipywidgets

typed = ipywidgets.Text("The food was good, but the waiter was rude.", description="review")
kinds = ["cls", "mean", "max"]
chosen = ipywidgets.ToggleButtons(options=kinds, value="max", description="pooling")
view = ipywidgets.HTML()


def show(change=None):
    view.value = bars(typed.value, chosen.value)


typed.observe(show, "value")
chosen.observe(show, "value")
show()
ipywidgets.VBox([typed, chosen, view])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# *cls* reads one token, *mean* reads all of them alike. The maximum asks for each of the 256 numbers which token has
# most of it, so it reads nearly all tokens, and some more than others. Other words win when the sentence is another:
# that is what a mean can't do.
#
# </details>
#
# ### A mistake: the last vector instead of the first
#
# "[CLS] is at one end, so I take `vectors[:, -1]`." That would be [SEP], whose vector attends to the whole text as
# well. It even trains. What is wrong with it? We judge one review alone, and again beside a longer one.

# %%
short, long = train[0], max(train[:200], key=lambda row: len(row["text"]))
two_reviews = Reviews([short, long])
alone, together = collate([two_reviews[0]]), collate([two_reviews[0], two_reviews[1]])

# %% [markdown]
# Guess which of three vectors of the first review stay the same: that of [CLS], that of [SEP], or the last one?

# %% tags=["guess"]
with torch.no_grad():
    one, two = (model.bert(ids, mask).last_hidden_state for ids, mask, _ in (alone, together))
end = int(alone[1].sum()) - 1  # the position of [SEP]
for name, position in (("[CLS], 0", 0), (f"[SEP], {end}", end), ("last, -1", -1)):
    change = (one[0, position] - two[0, position]).abs().max()
    print(f"{name:10} largest change {change:.2f}" if change < 1e-4 else f"{name:10} changes")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A short and a long review in one batch. Position minus one is the end of the long review, but padding of the short one; its own end, position 4, stands further left.](pictures/10_last.svg)
#
# In a batch, the last position of a short text is padding, whose output vector means nothing and changes with the
# padding. The **symptom**: an answer that changes with the other texts of the batch, and an accuracy that falls when
# you judge in batches. Taking [SEP] itself (by the mask) would be right, and no better than [CLS].
#
# </details>
#
# ## Freezing what shouldn't learn
#
# The lowest layers know about words and their neighbors, which every task needs. **Freezing** them saves memory and
# time, and can help where examples are few. It takes one line: `requires_grad_(False)`. But does it really happen? We
# freeze the embeddings and the first two layers, take ten steps, and compare all weights with those before.
#
# ![Six boxes in a row: embeddings, layer one and layer two have dotted edges and keep their weights; layers three and four and the head have thick edges and learn.](pictures/10_frozen.svg)

# %%
half_frozen = MyClassifier()
for part in (half_frozen.bert.embeddings, *half_frozen.bert.encoder.layers[:2]):
    part.requires_grad_(False)
before = copy.deepcopy(half_frozen.state_dict())
_ = fine_tune(train[:160], 1, half_frozen)
learning = sum(w.numel() for w in half_frozen.parameters() if w.requires_grad)
print(f"{learning:,} of {sum(w.numel() for w in half_frozen.parameters()):,} weights may learn")

# %% [markdown]
# Guess: one part more than we froze stays unchanged. Which?


# %%
def part_of(name):  # bert.encoder.layers.2.attention.… -> layer 3
    if ".layers." in name:
        return f"layer {int(name.split('.')[3]) + 1}"
    return name.removeprefix("bert.").split(".")[0]


# %% tags=["guess"]
after = half_frozen.state_dict()
moved = {part_of(name) for name in before if (before[name] != after[name]).any()}
every = dict.fromkeys(map(part_of, before))
print("changed:  ", *(part for part in every if part in moved), sep="  ")
print("unchanged:", *(part for part in every if part not in moved), sep="  ")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The pooler has not learned either: our head does not ask it, so it never gets a gradient.
#
# </details>
#
# Two things go wrong in practice: a weight that is frozen between `backward` and `step` is still moved by that
# step; and a frozen part with dropout still drops, unless it is set to `eval()`. So compare the weights once, as here.
#
# ## Learning rates by layer (optional, with exercise 10.3)
#
# Between frozen and free there is **layer-wise decay** (Howard and Ruder 2018 call it discriminative fine-tuning): the
# learning rate of each layer is a fixed share of that of the layer above.
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
# ## A head with a hidden layer (optional)
#
# Would a larger head help? Two linear layers with a nonlinearity between them have 256 · 256 + 256 more weights.
# (BERT's own pooler is such a first layer.) With all of BERT frozen, the difference should be largest: then the head is
# all that learns. And each review keeps its vector, so we compute it once.

# %%
frozen_bert = MyClassifier()
frozen_bert.classifier = nn.Identity()  # what comes out is what a head would get
train_vectors = logits_of(frozen_bert, train)  # [N, D]
validation_vectors = logits_of(frozen_bert, validation)
mean, std = train_vectors.mean(dim=0), train_vectors.std(dim=0)  # [D] each


# %%
def head_accuracy(head):
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.003)
    inputs, targets = (train_vectors - mean) / std, targets_of(train)
    for _ in range(100):
        loss = nn.functional.cross_entropy(head(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    best = head((validation_vectors - mean) / std).argmax(dim=-1)  # [N]
    return (best == targets_of(validation)).double().mean().item()


# %% [markdown]
# Guess: how many points does the hidden layer gain, and how far are both from a BERT that learns as a whole?

# %% tags=["guess"]
torch.manual_seed(0)
linear = nn.Linear(256, 3)
deep = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 3))
for name, head in (("linear", linear), ("hidden layer", deep)):
    scored = about(f"10 frozen, {name}", head_accuracy(head), within=0.05)
    print(f"{name:13} {sum(w.numel() for w in head.parameters()):6,} weights, {scored:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# A point at most, less than another seed would change, and both stay below even the bag of words. What the frozen
# vectors don't say clearly, no head can read from them. When all of BERT learns, four layers below the head turn the
# vectors as a linear layer needs them, so a hidden layer is seldom worth it.
#
# </details>

# %% [markdown]
# ## The same with `transformers` alone
#
# Now the whole fine-tuning again, with the library that you will use at work. Its class has the pooler as its pooling,
# so we compare it with ours *with the pooler*.

# %%
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers import get_linear_schedule_with_warmup

transformers.logging.set_verbosity_error()  # it tells that the head is new: we know
transformers.utils.logging.disable_progress_bar()
their_tokenizer = AutoTokenizer.from_pretrained(folder)

# %%
names = dict(enumerate(LABELS))
options = {"id2label": names, "label2id": {name: i for i, name in names.items()}}
torch.manual_seed(0)
theirs = AutoModelForSequenceClassification.from_pretrained(folder, **options).float()


# %%
def their_collate(rows):
    inputs = their_tokenizer([row["text"] for row in rows], padding=True, return_tensors="pt")
    return {**inputs, "labels": torch.tensor([LABELS.index(row["label"]) for row in rows])}


inputs = their_collate(train[:2])
same = inputs["input_ids"] == collate([Reviews(train)[i] for i in (0, 1)])[0]
print(f"{same.double().mean():.0%} of the ids are ours")

# %% [markdown]
# With the same weights in its head, our class must give the same loss:


# %%
class WithPooler(MyClassifier):
    def forward(self, input_ids, attention_mask):
        return self.classifier(self.bert(input_ids, attention_mask).pooler_output)


ours = WithPooler()
_ = ours.classifier.load_state_dict(theirs.classifier.state_dict())

# %%
for batch in DataLoader(train[:48], batch_size=16, collate_fn=their_collate):
    with torch.no_grad():
        their_loss = theirs.eval()(**batch).loss
        logits_here = ours.eval()(batch["input_ids"], batch["attention_mask"])
    our_loss = nn.functional.cross_entropy(logits_here, batch["labels"])
    print(f"loss: theirs {their_loss:.3f}, ours {our_loss:.3f}")

# %% [markdown]
# The same numbers. So is the result of training the same, too? Here is the complete loop; you know every line of it.
# (`transformers.Trainer` hides such a loop behind its arguments.)


# %%
def their_fine_tune(model, rows, epochs=2, rate=3e-4):
    model = model.to(device)
    loader = DataLoader(rows, batch_size=16, shuffle=True, collate_fn=their_collate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    steps = epochs * len(loader)
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    for epoch in range(1, epochs + 1):
        bar = tqdm(iter(loader), f"epoch {epoch} of {epochs}", len(loader), leave=False)
        for batch in bar:
            model.train()
            model(**{name: part.to(device) for name, part in batch.items()}).loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return model.eval().cpu()


# %% [markdown]
# Guess how far the two accuracies are from each other, after two epochs on 800 reviews, in different orders.

# %%
torch.manual_seed(0)
theirs = their_fine_tune(theirs, train[:800])
ours, pooler_history = fine_tune(train[:800], 2, ours, seed=1)


# %%
def their_accuracy(model, rows):
    loader = DataLoader(rows, batch_size=64, collate_fn=their_collate)
    with torch.no_grad():
        said = torch.cat([model(**batch).logits for batch in loader]).argmax(dim=-1)
    return (said == targets_of(rows)).double().mean().item()


# %% tags=["guess"]
right = their_accuracy(theirs, validation)
print(f"transformers         {about('10 transformers', right, within=0.07):.0%}")
right = max(one["accuracy"] for one in pooler_history)
print(f"ours with the pooler {about('10 pooler', right, within=0.07):.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# They are as far apart as two seeds of one program: other orders of the reviews give other weights. Both are below our
# first model, which read all reviews and takes the maximum: with the pooler and so few steps this checkpoint learns
# slowly.
#
# </details>
#
# Save it, and anybody can use it in three lines, on new sentences, with probabilities:

# %%
import tempfile

place = tempfile.mkdtemp()
theirs.save_pretrained(place)
_ = their_tokenizer.save_pretrained(place)

# %% tags=["nbval-ignore-output"]
judge = transformers.pipeline("text-classification", model=place, device="cpu")
for text in ("The soup was cold and nobody said sorry.", "The best soup in town."):
    (answer,) = judge(text)
    print(f"{answer['label']:9} {answer['score']:.0%}  {text}")

# %% [markdown]
# A probability near a third says that the model hardly knows: it has seen 800 reviews, twice.
#
# ### A published BERT on a public set (optional)
#
# With the internet, the next cells do the same with BERT-Base and **SST-2** (Socher et al. 2013): 67,349 sentences and
# phrases from film reviews, negative or positive. A small GPU needs about half an hour for three epochs. On the CPU we
# take 320 rows: about two minutes. Without the internet, the cells say so and take our small BERT and our reviews.

# %% tags=["nbval-ignore-output"]
from bertedu.course.public_rows import public_rows
from bertedu.course.published import published

base_folder = published("google-bert/bert-base-uncased", "440 MB")
sst2 = public_rows("stanfordnlp/sst2", "3 MB") if base_folder else None
parts, where, rate = (train, validation), folder, 3e-4  # without the internet
if sst2:
    parts = [[{"text": row.text, "label": row.label} for row in part] for part in sst2]
    where, rate = base_folder, 3e-5  # as in the paper, appendix A.3

# %% tags=["nbval-ignore-output"]
rows, unseen = parts
epochs = 3 if sst2 and device.type != "cpu" else 1
rows = rows if epochs == 3 else rows[:320]
their_tokenizer = AutoTokenizer.from_pretrained(where)  # `their_collate` reads it
base = AutoModelForSequenceClassification.from_pretrained(where, **options).float()
base = their_fine_tune(base, rows, epochs, rate)
print(f"{len(rows):,} rows: {their_accuracy(base, unseen[:872]):.0%} of the unseen are right")

# %% [markdown]
# All rows with BERT-Base should give about 93 %: Devlin et al. (2019, table 1) report 93.5, on a test set whose labels
# are secret.
#
# ## How certain is certain?
#
# A model says *negative, 97 %*. The highest probability is its **confidence**. Of all reviews with a confidence of 97
# %, are 97 % right? Then it is **calibrated**. The **expected calibration error** (ECE, Naeini et al. 2015) puts
# answers into bins by their confidence, and takes the mean gap between confidence and accuracy.
#
# We ask the model that read 300 reviews ten times, as it is after the tenth.

# %%
from bertedu.finetuning.calibration import expected_calibration_error

few_logits = logits_of(few, validation)  # [N, C]
few_hits = (few_logits.argmax(dim=-1) == targets_of(validation)).numpy()  # [N]
confidence = few_logits.softmax(dim=-1).amax(dim=-1).numpy()  # [N]

# %% [markdown]
# Guess both numbers: its accuracy, and its mean confidence.

# %% tags=["guess"]
error = expected_calibration_error(confidence.tolist(), few_hits.tolist())
print(f"accuracy          {about('10 few accuracy', few_hits.mean(), within=0.1):.0%}")
print(f"mean confidence   {about('10 few confidence', confidence.mean(), within=0.12):.0%}")
print(f"calibration error {about('10 few error', error, within=0.12):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![For each tenth of confidence a column of the accuracy, with the number of reviews below it, and a line where confidence and accuracy would be equal. Nearly all columns end below the line.](pictures/10_reliability.svg)
#
# It is **overconfident**, as Guo et al. (2017) found for the networks of their time. Once the training reviews are
# right, the loss can still be lowered by pushing their probabilities towards 1. So the confidence grows, on validation
# too, while hardly more answers become right.
#
# </details>
#
# The cheapest repair is **temperature scaling** (Guo et al. 2017): divide all logits by one number τ. The order of the
# classes stays, so no answer changes. We take the τ with the lowest loss on every other review, and measure on the
# rest.

# %%
targets = targets_of(validation)
for_tau, rest = slice(0, None, 2), slice(1, None, 2)


def loss_at(tau, rows):
    return nn.functional.cross_entropy(few_logits[rows] / tau, targets[rows]).item()


best_tau = min(np.arange(0.5, 10, 0.05), key=lambda tau: loss_at(tau, for_tau))

# %% [markdown]
# Guess: is the best τ above or below 1?

# %% tags=["guess"]
print(f"temperature {about('10 temperature', best_tau, within=1.5):.1f}")
for name, tau in (("before", 1.0), ("after", best_tau)):
    sure = (few_logits[rest] / tau).softmax(dim=-1).amax(dim=-1)
    error = expected_calibration_error(sure.tolist(), few_hits[rest].tolist())
    error = about(f"10 tau error {name}", error, within=0.12)
    loss = about(f"10 tau loss {name}", loss_at(tau, rest), within=0.5)
    print(f"{name:7} loss {loss:.2f}   calibration error {error:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# τ is above 1: the model was overconfident. On the half that we didn't choose on, loss and calibration error fall, and
# not a single answer has changed. A part of what is left is chance: with 180 reviews even true probabilities have an
# error of a few points. So never compare an ECE with zero.
#
# </details>
#
# ## Where to put the threshold
#
# Somebody wants to *find the complaints*: every review whose probability of *negative* is high enough is passed on.
# From which **threshold** on? Nothing says that one half is the best.
#
# ### Touch it
#
# Each line is a review of validation. Guess first: to find nine of ten complaints, about how many false alarms must one
# accept?

# %%
angry = logits.softmax(dim=-1)[:, 0].numpy().round(3)  # the probability of "negative", [N]
truth = labels(validation) == "negative"

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

tasks = [
    "Find nine of ten complaints (127 of 141). How many false alarms do you get?",
    "Which threshold gives the highest F1? Is it one half?",
]
given = {"probabilities": angry.tolist(), "truths": truth.tolist(), "label": "complaint"}
explorable("threshold", **given, tasks=tasks)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Precision and recall of the complaints, the class negative, for each threshold: to the left recall is one and precision is low, to the right precision rises and recall falls to zero. Where nine of ten complaints are found, many of the reviews passed on are false alarms.](pictures/10_thresholds.svg)
#
# The dots mark the highest threshold that finds nine of ten complaints, and the line below counts its false alarms. The
# highest F1 need not lie at one half. Around its threshold F1 hardly changes, so on other reviews it would lie
# elsewhere.
#
# </details>
#
# To the left recall rises and precision falls. Which is worth more is not a question of statistics: what does a missed
# complaint cost, and what does a false alarm?
#
# ## One threshold for each label (optional, with exercise 10.4)
#
# "The tea was excellent, but the bill was dreadful." Here two labels are right: *food praised* and *price blamed*.
# Softmax can't say yes twice. **Multi-label classification** gives each label a yes/no decision of its own: a
# **sigmoid** for each logit, **binary cross-entropy** as the loss, and a threshold. (`bertedu finetune multi-label
# --data data/tasks/aspects` does it.)
#
# ![Three logits, 2, 2 and minus 3. Softmax makes one half, one half and nothing of them. Three sigmoids make 0.88, 0.88 and 0.05: two labels are chosen.](pictures/10_sigmoids.svg)
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
# A threshold that was chosen on some reviews fits these reviews, noise included. Choose it on many, report its gain on
# others, and keep ½ where there is none.
#
# ## Errors, read one by one
#
# Numbers tell you how often a model is wrong, reading tells you why. The next cell prints the errors of our BERT about
# which it was most certain. Ask of each: would *you* give this label? Which word misled it? What do several have in
# common?

# %% tags=["nbval-ignore-output"]
sure = logits.softmax(dim=-1).amax(dim=-1).numpy()  # [N]
for i in sorted(np.flatnonzero(~hits), key=lambda i: -sure[i])[:8]:
    row = validation[i]
    print(f"{row['label']:9} said {says[i]:9}{row['phenomenon']:12} {row['text']}")

# %% [markdown]
# Errors come in families: a word of praise in a complaint, a superlative taken for no verdict, a report without a
# word of judgement. The next thing to try is more training texts of the family that fails, in more different words.
#
# ## When is a small model worth it?
#
# ![Four ways from small to large: a bag of words, this BERT of 4 layers, BERT-Base, a large language model. For each, when it is the right choice and what it costs.](pictures/10_worth.svg)
#
# Draw the **learning curve** before you decide: train with a tenth, a third and all of your texts, and look whether the
# accuracy still rises. With few labels, try more epochs, and keep the bag beside it.
#
# A card for BERT-Base (Devlin et al. 2019, section 4.1 and appendix A; Google's code):
#
# | setting | BERT-Base | our small model |
# |---|---|---|
# | learning rate | 2e-5 to 5e-5 | 3e-4 to 5e-4 |
# | epochs | 2 to 4 | 3 to 12: more with few texts (`bertedu finetune` chooses) |
# | batch size | 16 or 32 | 16 |
# | warm-up, then | a tenth of the steps, then down to 0 | the same |
# | weight decay | 0.01, none for biases and LayerNorm | the same (our short loop decays them too) |
# | dropout | 0.1 | 0 |
# | length | as short as 99 % of your texts allow, at most 512 | at most 128 |
# | pooling | pooler | mean or max |
# | seeds | three or more | three or more |
#
# ## The proof
#
# With the same weights, your class and the package's must give the same logits.

# %%
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.registry import TASKS

kind = TASKS["classification"]
rows = kind.read_rows(str(data_path("tasks/sentiment/validation.tsv")))
settings = FinetuningSettings(pooling="max")

# %%
package, _ = kind.make(rows, rows, tokenizer, str(folder), settings)
package.bert.load_state_dict(model.bert.state_dict(), strict=False)  # it has no pooler
_ = package.classifier.load_state_dict(model.classifier.state_dict())

# %%
batch = tokenizer(texts(train[:8]))
with torch.no_grad():
    theirs_say = package.eval()(batch.input_ids, batch.attention_mask).logits  # [8, C]
    difference = (model.eval()(batch.input_ids, batch.attention_mask) - theirs_say).abs().max()
print(f"yours against package: largest difference {difference:.4f}")

# %% [markdown]
# ## Broken BERT: a loss that will not go down
#
# A colleague's classifier learns, but its loss stops at about 0.55, with any learning rate and any number of epochs,
# although nearly all training reviews are right by then. The next cell applies the loss function to three rows whose
# logits become more and more certain, and right. Where should the loss go?


# %%
from torch.nn.functional import cross_entropy


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
# | | Devlin et al. 2019 | Google's code | `transformers` | here |
# |---|---|---|---|---|
# | vector | [CLS], called C, as it is (section 4.1) | the pooler: C, a linear layer, tanh | the pooler | max; the package has five |
# | head | a matrix W, D numbers for each class, no bias | W and a bias | W and a bias | W and a bias |
# | dropout before the head | 0.1 on all layers (A.2, A.3) | 0.1 | `classifier_dropout`, else that of the hidden layers | as in pre-training: none |
# | weights kept | of several runs, the best on the development set (section 4.1) | the last | the last, or the best (`load_best_model_at_end`) | the best |
# | a saved folder with another pooling | | | opens it with a new, random pooler, and warns | opens it as it was saved |
#
# ## Summary
#
# - Pooling makes one vector, a linear layer C scores: C · D + C numbers are new. All others are pre-trained, and learn too.
# - `Dataset`, collate function, loop, early stopping: some sixty lines, and `transformers` does the same.
# - The bag of words comes first. Split the accuracy by kinds of texts, and report by class.
# - Choose everything on validation, look at the test set once, and give an interval.
# - The training loss doesn't tell when to stop. Keep the best weights.
# - What shouldn't learn is frozen before the optimizer is made; compare the weights.
# - Trust a probability only after you have measured its calibration. One temperature repairs much of it.
# - Read errors.
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
