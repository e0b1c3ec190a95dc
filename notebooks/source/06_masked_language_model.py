# %% [markdown]
# # 06 · Masked language model
#
# You will turn plain text into a task with right answers, build the head that solves it, and find out what the task
# cannot teach.
#
# ## What you will be able to do
#
# - say why a model that looks both ways cannot simply be asked for every word, and what hiding words changes;
# - write BERT's 80/10/10 masking and its labels, and say what each part buys, with measurements;
# - compute the masked-word loss by hand, and only where there is a label;
# - choose whole words and spans in place of single tokens;
# - say what two masks in one text do not know of each other, and how to score a whole sentence all the same.
#
# **Time:** 60 minutes · **You need:** [05 · The whole BERT](05_the_whole_bert.ipynb) · **Next:** [07 · Next sentence prediction](07_next_sentence_prediction.ipynb)
#
# ## Recall
#
# 1. What leaves BERT's last layer for B texts of T tokens, and what does the pooler make of it?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]`, a vector for each token. The pooler takes the first of them, `[CLS]`, through a linear layer and tanh:
# `[B, D]`. This chapter uses the vectors of the other tokens.
#
# </details>
#
# 2. Which matrix does the head for masked words share with the rest of BERT?
#
# <details><summary>Answer</summary>
#
# The table of token embeddings, `[V, D]`. The score of a word is the dot product with the word's own embedding.
#
# </details>
#
# 3. A fresh model knows nothing. Which loss should it have on V words?
#
# <details><summary>Answer</summary>
#
# ln V: it should give each word the probability 1 / V.
#
# </details>
#
# ## Where this part sits
#
# Until now BERT was a machine without an occupation. Blue is what this chapter adds: something is done to the text
# before BERT sees it, and something is asked of the vectors that come out.

# %%
import json
import random

import torch
import transformers
from torch import nn
from torch.nn.functional import cross_entropy

from bertedu import BertConfig, BertForMaskedLM, BertForPreTraining, BertTokenizer
from bertedu.corpora.world import world_corpus
from bertedu.course import check, data_path, hint, quiz
from bertedu.inference import fill_mask, open_model, pseudo_perplexity
from bertedu.pretraining.masking import choose_tokens, choose_words, mask_tokens
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

# %%
figure = new_figure(7.2, 1.9)
axes = figure.subplots()
axes.set(xlim=(-0.5, 5.6), ylim=(-0.7, 1.2))
axes.axis("off")
steps = [("text\n[B, T]", GREY), ("hide 15 %\nof the words", BLUE), ("BERT\n[B, T, D]", GREY),
         ("head: a score\nfor each word", BLUE), ("loss at the\nhidden words", BLUE)]  # fmt: skip
for place, (name, color) in enumerate(steps):
    box = {"boxstyle": "round,pad=0.5", "color": color}
    axes.text(1.3 * place, 0, name, ha="center", va="center", color="white", fontsize=9, bbox=box)
    if place:
        axes.annotate("", (1.3 * place - 0.5, 0), (1.3 * place - 0.8, 0), arrowprops={"arrowstyle": "->", "color": INK})
axes.annotate("", (5.2, 0.4), (1.3, 0.4), arrowprops={"arrowstyle": "->", "color": BLUE, "connectionstyle": "arc3,rad=-0.18"})
axes.text(3.25, 0.93, "labels: the words that stood there", ha="center", color=BLUE, fontsize=9)
Picture(figure, alt="From left to right: the text, hiding 15 % of its words, BERT, a head that scores every word, and the loss at the "
        "hidden words. An arrow carries the hidden words past BERT to the loss, as labels. New: hiding, head and loss.")

# %% [markdown]
# ## A text with holes
#
# Fill in, with a pencil:
#
# > 1. The capital of Portugal is ______.
# > 2. The ______ of Portugal is Lisbon.
# > 3. ______ is the capital of Portugal.
# > 4. The capital ______ Portugal is Lisbon.
#
# To do this you needed a fact, a bit of meaning, and some grammar, and nobody had to label anything: the text itself
# knows the answers. Teachers have tested readers in this way since Taylor (1953), who called it *cloze*. BERT is
# trained by nothing else, except for the small task of the next chapter.
#
# The course ships a small BERT that has learned from a small world of facts: some hundred countries, animals, elements
# and trades, and little else. Does it fill the same holes? Below that, ask it yourself.

# %%
model, tokenizer = open_model(data_path("checkpoints/world-tiny"))
holes = ["The capital of Portugal is [MASK].", "The [MASK] of Portugal is Lisbon.",
         "[MASK] is the capital of Portugal.", "The capital [MASK] Portugal is Lisbon."]  # fmt: skip
for text in holes:
    ((word, share),) = fill_mask(model, tokenizer, text, top=1)[0]
    print(f"{word:8} {text}")
    assert share > 0.5

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets import fill_mask_box, masking_playground

fill_mask_box(model, tokenizer, "In [MASK] the newspapers are printed in Danish.")

# %% [markdown]
# ## Why not from left to right?
#
# There is an older way to get questions out of plain text: cover everything behind a word, and ask for the word. That
# is a *language model* in the usual sense. It asks for every single word, and it needs no [MASK].
#
# Hole 3 shows what it costs: whoever reads from the left has to name the capital before Portugal has been mentioned. We
# measure it in the simplest way there is, by counting. One guesser knows the word to the left of the hole, one the word
# to the right, one both. How many of the holes in unseen sentences will each of them fill? Guess before you run.
#
# And one for the pencil. If two sides are so good: why hide a word at all, why not ask a both-ways model for *every*
# word of a text as it stands? Take three tokens, and to be fair, no token may look at itself. At the end of the cell
# `looks[i, j]` is 1 where token i may look at token j. Two layers are two steps. After two steps, whose words has token
# 0 heard of?

# %%
import numpy as np

from bertedu.pretraining.baselines import NO_TOKEN, NGramBaseline

corpus = world_corpus()

def rows(documents):  # one array of ids for each document
    return [np.array(ids) for ids in (sum(tokenizer.encode_lines(document.sentences), []) for document in documents)]

neighbours = NGramBaseline.fit(rows(corpus.train), len(tokenizer))
text = np.concatenate(rows(corpus.heldout["held-out documents"][:25]))
left, hidden, right, nothing = text[:-2], text[1:-1], text[2:], np.full(len(text) - 2, NO_TOKEN)  # [N] each
for name, (before, behind) in {"left": (left, nothing), "right": (nothing, right), "both": (left, right)}.items():
    guesses = neighbours.distributions(before, behind).argmax(axis=1)  # [N, V] -> [N]
    print(f"knows the word on {name:6} {(guesses == hidden).mean():.0%} of the holes filled")

looks = 1 - torch.eye(3, dtype=torch.long)  # [T, T]: at all others, not at itself
print("one layer: ", looks[0].tolist())
print("two layers:", (looks @ looks)[0].tolist(), "ways to each token")

# %% [markdown]
# Two sides are worth far more than one. So a model should read both ways, and BERT's attention does.
#
# But there are two ways from token 0 back to token 0: its neighbours have seen it, and they tell it. (In BERT it is
# simpler still: a token may look at itself, and the residual connection hands its own vector on.) The question *which
# word is this?* has its answer in the input. Copying solves it, and copying teaches nothing.
#
# Left-to-right models forbid to look ahead. BERT forbids nothing, and takes the word away instead. That is the whole
# idea of Devlin et al. (2019), and it has a price: only the hidden words are questions.
#
# ## Hide, then ask
#
# First the choice. Of T tokens `round(0.15 · T)` are chosen, at least one, all equally likely; never [CLS] or [SEP].
# The text below has T = 21. How many is that?
#
# Then two rows of numbers are made from one. What the model **sees**: the ids, with [MASK] in place of the chosen ones.
# And the **labels**: the right ids where a token was chosen, and −100 elsewhere.
#
# Why −100? A label is an id, so it must be 0 or more; a negative number cannot be meant. −100 is the number that
# PyTorch's `cross_entropy` leaves out unless told otherwise (`ignore_index`), and everybody has kept to it.

# %%
text = "The capital of Norway is Oslo. People in Norway speak Norwegian. They pay with the krone."
encoding = tokenizer(text)
ids, tokens = encoding.input_ids, encoding.tokens[0]  # [1, T]
words = (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)  # [1, T]
number = torch.tensor([max(1, round(0.15 * ids.size(1)))])
chosen = choose_tokens(words, number, torch.Generator().manual_seed(0))  # [1, T]
print(f"T = {ids.size(1)}, chosen: {[token for token, yes in zip(tokens, chosen[0]) if yes]}")

# %%
seen = ids.masked_fill(chosen, tokenizer.mask_token_id)  # [1, T]
labels = ids.masked_fill(~chosen, -100)  # [1, T]
shown = tokenizer.convert_ids_to_tokens(seen[0].tolist())
for token, token_seen, label in list(zip(tokens, shown, labels[0].tolist()))[:8]:
    print(f"{token:10} seen as {token_seen:10} label {label:5}")

# %% [markdown]
# ## Eighty, ten, ten
#
# There is a flaw. [MASK] stands in every text of pre-training, and in none afterwards: nobody asks what sentiment
# "[MASK] film was [MASK]" has. A model could learn: *where there is no [MASK], nothing is asked of me*. BERT's remedy
# is to hide not all of the chosen tokens. Each of them meets one of three fates:
#
# | share | the model sees | so that |
# |---|---|---|
# | 80 % | [MASK] | it has to guess from the context |
# | 10 % | a random token | it may not trust what it sees |
# | 10 % | the token itself | what it sees is usually right |
#
# The label is the right token in all three cases. The model is not told which tokens were chosen.
#
# ### Exercise 6.1 · How many masks?
# ●○○○ · 2 minutes
#
# A text has 60 tokens. How many of them does the model see as [MASK], on average?

# %% tags=["exercise"]
### BEGIN SOLUTION
masks = 7.2
### END SOLUTION
check("6.1", masks)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# 15 % of 60 are 9 chosen tokens; 80 % of those are 7.2. The number of chosen tokens is fixed, but each one's fate is
# drawn for itself, so the number of masks varies from text to text.
#
# </details>

# %% [markdown]
# ### Exercise 6.2 · Eighty, ten, ten
# ●●○○ · 10 minutes
#
# Write `corrupt(input_ids, chosen, mask_token_id, vocab_size)`: ids `[B, T]` and booleans `[B, T]` go in; what the
# model sees and the labels come out. Random tokens come from the whole vocabulary. Draw with `torch.rand` and
# `torch.randint`. Stuck? `hint("6.2")`

# %% tags=["exercise"]
def corrupt(input_ids, chosen, mask_token_id, vocab_size):
    ### BEGIN SOLUTION
    fate, random_ids = torch.rand(input_ids.shape), torch.randint(vocab_size, input_ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    seen = torch.where(chosen & (fate >= 0.9), random_ids, seen)
    return seen, input_ids.masked_fill(~chosen, -100)
    ### END SOLUTION

check("6.2", corrupt)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One number for each token decides: below 0.8 it is hidden, from 0.9 on it is replaced, between them it stays. Two
# draws (`rand() < 0.8`, then `rand() < 0.1`) would be wrong: the second would fall on 10 % of what the first left over,
# or write over some of the [MASK]s. The labels come from the ids as they were.
#
# </details>

# %% [markdown]
# The package's `mask_tokens` is both steps together, choice and fate. Play with it first. What happens to the loss when
# 60 % of the tokens are chosen in place of 15 %? When all chosen tokens stay as they are?
#
# ## What does each part buy?
#
# The rule is quoted everywhere and seldom examined. We look at it twice: from where the gradient goes, and by
# experiment. The loss reads the last layer's vectors at tokens with a label, and at no others. So, in the second cell:
# at which tokens does the loss push those vectors at all?

# %% tags=["nbval-ignore-output"]
masking_playground(tokenizer, text, model)

# %%
seen, labels = mask_tokens(ids, words, 0.15, tokenizer.mask_token_id, len(tokenizer), torch.Generator().manual_seed(62))
vectors = model.bert(seen).last_hidden_state.detach().requires_grad_()  # [1, T, D]
cross_entropy(model.masked_lm(vectors)[0], labels[0]).backward()
pushed = vectors.grad[0].abs().sum(dim=-1) > 0  # [T]
shown = tokenizer.convert_ids_to_tokens(seen[0].tolist())
print("pushed:", ", ".join(f"{token} (seen as {other})" for token, other, yes in zip(tokens, shown, pushed) if yes))
print(f"never asked, not pushed: {int((~pushed).sum())} of {len(tokens)} tokens")

# %% [markdown]
# If every chosen token were hidden, the last layer's vectors of *visible* words would never be pushed: nobody would
# care what they hold. But visible words are all that a user of BERT has. The 20 % that are not hidden are the only
# lessons in what to make of a word that can be seen.
#
# Fine-tuning can make up for it, since it trains those vectors for the new task. Whoever takes the vectors as they are,
# as *features*, cannot. The paper's own experiment (Devlin et al. 2019, appendix C.2, table 8, BERT-Base) agrees:
#
# | [MASK] | kept | random | MNLI, fine-tuned | NER, fine-tuned | NER, features |
# |---|---|---|---|---|---|
# | 80 % | 10 % | 10 % | 84.2 | 95.4 | 94.9 |
# | 100 % | 0 % | 0 % | 84.3 | 94.9 | 94.0 |
# | 80 % | 0 % | 20 % | 84.1 | 95.2 | 94.6 |
# | 80 % | 20 % | 0 % | 84.4 | 95.2 | 94.7 |
# | 0 % | 20 % | 80 % | 83.7 | 94.8 | 94.6 |
# | 0 % | 0 % | 100 % | 83.6 | 94.9 | 94.6 |
#
# Look at how *small* the differences are. With fine-tuning on MNLI the first four rows are all alike.
#
# Now ours, which you can repeat: `python benchmarks/masking_ablation.py` (two minutes of one core) trains small BERTs
# on the sentences about countries, five ways, twice each from different seeds. The first cell reads what it recorded,
# the second draws it. The questions, on sentences that no model saw: is the right word guessed where it is hidden?
# Where it is in plain view? Where a random one stands in its place? And do the last layer's vectors of visible words,
# as features, tell countries, capitals, languages and currencies apart, when the words are new to the classifier?

# %%
runs = json.loads(data_path("ablations/masking.json").read_text())["runs"]
ways, questions = list(dict.fromkeys(run["shares"] for run in runs)), ("hidden", "shown", "replaced", "features")
results = {(w, q): [run[q] for run in runs if run["shares"] == w] for w in ways for q in questions}  # a number for each seed

print("[MASK]/kept/random  " + "  ".join(f"{question:>8}" for question in questions))
for way in ways:
    print(f"{way:18}  " + "  ".join(f"{np.mean(results[way, question]):8.0%}" for question in questions))

# %%
figure = new_figure(7.4, 2.4)
titles = ("hidden by [MASK]", "in plain view", "replaced", "features")
for axes, question, title in zip(figure.subplots(1, 4, sharey=True), questions, titles):
    for place, way in enumerate(ways):
        values = results[way, question]
        axes.scatter(values, [place] * len(values), s=14, color=BLUE if way == "80/10/10" else ORANGE)
    axes.set(xlim=(0, 1.05), yticks=range(len(ways)), yticklabels=ways, xticks=(0, 0.5, 1), xticklabels=("0", "50 %", "100 %"))
    axes.set_title(title, fontsize=9)
    quiet(axes)
figure.axes[0].set_ylabel("[MASK]/kept/random", fontsize=8)
figure.axes[0].invert_yaxis()
means = "; ".join(f"{way}: " + ", ".join(f"{t} {np.mean(results[way, q]):.0%}" for q, t in zip(questions, titles)) for way in ways)
Picture(figure, alt=f"Accuracy of five ways of masking ([MASK]/kept/random), a dot for each seed, on four questions. Means: {means}.")

# %% [markdown]
# Read it column by column.
#
# - **Hidden words.** All ways that use [MASK] come out about alike. Hiding everything is no worse: for *this* question
#   the rule buys nothing. The model that never met a [MASK] is a little behind, though it is asked in a way that it
#   never saw.
# - **In plain view.** The model that has only ever been asked about [MASK] names few of the words that stand right
#   in front of it. Kept words teach it to say what it sees.
# - **Replaced.** But with kept words alone the lesson is *copy whatever stands there*, and a wrong word is copied
#   too. Random words teach doubt. Only a mixture of both gets trust *and* doubt.
# - **Features.** The ways with random words are ahead. That hiding everything hurts the features is the paper's finding
#   too, and here the gap is larger. That kept words alone do not close it is ours only: in the paper they nearly did.
#
# How far does it carry? In a vocabulary of 600 words a random one is easy to spot. And for models that are to be
# fine-tuned, Wettig et al. (2023) took the rule apart again: hiding all of the chosen words was as good or better on
# most of their tasks, and for large models 40 % chosen was better than 15 %. The 80/10/10 is a sensible habit, not a
# law.
#
# ## The head
#
# From BERT come vectors of D numbers. What is wanted are V scores. The head takes two steps: it **transforms** each
# vector (linear layer, GELU, LayerNorm), and **compares** the result with every row of the table of token embeddings,
# plus a bias for each word. That the two tables are one is called *tied weights* (Press & Wolf 2017).
#
# With tied weights, how many new parameters does the head bring for V = 30,522 and D = 768? And with a table of its
# own?

# %%
class MyHead(nn.Module):
    def __init__(self, token_embeddings, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.table = token_embeddings.weight  # [V, D]: not a copy
        self.bias = nn.Parameter(torch.zeros(len(self.table)))  # [V]

    def forward(self, vectors):  # [..., D]
        vectors = self.norm(nn.functional.gelu(self.dense(vectors)))  # [..., D]
        return vectors @ self.table.T + self.bias  # [..., V]


V, D = 30522, 768
new = D * D + D + 2 * D + V  # linear layer, LayerNorm, bias of the words
print(f"tied: {new:,} new parameters    with a table of its own: {new + V * D:,}")

# %% [markdown]
# Why the transformation in between? The last layer's vector has to serve two masters: it is what BERT hands to
# everybody else, and it should lie near the embedding of the right word. The extra layer takes over the second duty.
#
# The bias is where the model keeps what it knows without looking: how frequent each word is. With all other scores at
# 0, softmax of the bias is its guess.
#
# ## The loss, by hand
#
# Three tokens, a vocabulary of three words: *cat*, *sat*, *mat* (ids 0, 1, 2). The scores of each token are below; the
# first and the last have a label. With the pencil: e¹ = 2.7, e² = 7.4.
#
# 1. Token 0: scores (2, 0, 0), label *cat*. Which probability has *cat*? Minus its logarithm?
# 2. Token 2: scores (1, 1, 1), label *mat*.
# 3. The loss is the mean. Of how many numbers?

# %%
scores = torch.tensor([[2.0, 0, 0], [0, 9, 0], [1, 1, 1]])  # [T, V]
labels = torch.tensor([0, -100, 2])  # [T]
for row, label in zip(scores, labels):
    if label != -100:
        p = row.exp()[label] / row.exp().sum()
        print(f"p = {p:.2f}   -ln p = {-p.log():.2f}")
print(f"mean of two: {cross_entropy(scores, labels):.2f}    divided by three it would be {cross_entropy(scores, labels) * 2 / 3:.2f}")

# %% [markdown]
# The token in the middle has the most decided scores, and they do not matter: no label, no question. A mean that
# divides by all T would make the loss look 1 / 0.15 ≈ 7 times smaller, and the gradient with it.
#
# ### Exercise 6.3 · The loss, without cross_entropy
# ●●○○ · 8 minutes
#
# Write `mlm_loss(logits, labels)` for scores `[B, T, V]` and labels `[B, T]`: the mean over all tokens of the batch
# that have a label. Use `log_softmax` and indexing.

# %% tags=["exercise"]
def mlm_loss(logits, labels):
    ### BEGIN SOLUTION
    asked = labels != -100  # [B, T]
    log_p = logits[asked].log_softmax(dim=-1)  # [N, V]
    right = log_p.gather(1, labels[asked][:, None])  # [N, 1]
    return -right.mean()
    ### END SOLUTION

check("6.3", mlm_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Indexing with booleans leaves one row for each label, whatever text it is from: the batch becomes a list of N
# questions. `gather` picks the log-probability of the right word of each row. A text with more labels weighs more,
# because the mean is over labels and not over texts.
#
# </details>

# %% [markdown]
# ## Scores only where there is a label
#
# Your loss threw 85 % of the scores away. Why compute them? Scoring V words is dear: 2 · D · V operations for a single
# token (and 2 · D² for the transformation). So pick the vectors **before** the head: `head(vectors[asked])` is
# `head(vectors)[asked]`, because the head works on each token alone.
#
# How much is saved? In the encoder a token costs 24 · D² in each layer for its linear maps and 4 · T · D for attention
# (chapter 03). Which share of the forward pass is the head, when all T tokens are scored? Guess for the smallest
# published BERT and for Large. The second cell then times training steps of the shipped model on your machine (its
# output is not compared).

# %%
def operations(preset, scored, V=30522, T=128):  # a multiplication and an addition are two; for each token
    D, L = BertConfig.preset(preset).hidden_size, BertConfig.preset(preset).num_hidden_layers
    return L * (24 * D**2 + 4 * T * D) + scored * (2 * D**2 + 2 * D * V)

for preset in ("tiny", "mini", "base", "large"):
    encoder, every, some = (operations(preset, scored) for scored in (0, 1, 0.15))
    print(f"{preset:6} the head is {1 - encoder / every:4.0%} of the forward pass; scoring 15 % saves {1 - some / every:.0%} of the whole")

# %% tags=["nbval-ignore-output"]
import time

ids_of_batch = torch.randint(5, len(tokenizer), (32, 64))  # [B, T]
labels_of_batch = ids_of_batch.masked_fill(torch.rand(32, 64) >= 0.15, -100)
for name in ("everywhere", "at labels only"):
    started = time.perf_counter()
    if name == "everywhere":
        cross_entropy(model(ids_of_batch).prediction_logits.flatten(0, 1), labels_of_batch.flatten()).backward()
    else:
        model(ids_of_batch, labels=labels_of_batch).loss.backward()
    print(f"scores {name:15} {time.perf_counter() - started:.2f} s")

# %% [markdown]
# For a small BERT it is nearly everything. And memory counts as much as time: the scores of a batch of 256 texts of 128
# tokens are 256 · 128 · 30,522 · 4 bytes = 4.0 GB, and softmax and gradient are each as large. At labels only it is 0.6
# GB.
#
# ## Which tokens, and when?
#
# **Static or dynamic.** Google masked the text ten times, wrote it to files, and went through these files for forty
# passes: every mask was seen four times. Masking anew each time a text is seen is as easy. After forty passes, how many
# of the words have been asked for at least once: with one mask, with ten, with forty? (First cell.)
#
# RoBERTa (Liu et al. 2019, section 4.1) compared ten masks with new ones: 78.3 against 78.7 on SQuAD 2.0, 84.3 against
# 84.0 on MNLI, 92.5 against 92.9 on SST-2. Hardly a difference; and since dynamic masking is simpler too, everybody
# uses it. In this course a mask is a function of the seed and the step.
#
# **Whole words.** Where a word is in pieces, as *sou ##ven ##ir* is here, one hidden piece between visible ones is a
# spelling riddle, and hardly a question about the text. `choose_words` takes all pieces of a word or none; a word that
# is longer than what may still be chosen is passed over. (Second cell: three draws of three tokens.) Google published
# such models in May 2019.
#
# **Spans.** SpanBERT (Joshi et al. 2020) hides stretches of neighbours, because answers to questions often are such
# stretches. A length from 1 to 10 is drawn, each 0.8 times as likely as the one before, then a start; again and again
# until 15 % are chosen. Which length is the mean? (Third cell.)

# %%
for name, masks in (("one mask, 40 times", 1), ("ten masks, 4 times each", 10), ("a new mask each time", 40)):
    print(f"{name:24} {1 - 0.85**masks:.0%} of the words were asked for")

# %%
pieces = ["[CLS]", *tokenizer.tokenize("The souvenir of Norway."), "[SEP]"]
candidates = torch.tensor([[not piece.startswith("[") for piece in pieces]])  # [1, T]
continuation = torch.tensor([[piece.startswith("##") for piece in pieces]])  # [1, T]
for seed in (1, 2, 3):
    row = choose_words(candidates, continuation, torch.tensor([3]), torch.Generator().manual_seed(seed))[0]
    print([piece for piece, yes in zip(pieces, row) if yes])

# %%
def span_length(rng):  # rng is a random.Random
    (length,) = rng.choices(range(1, 11), [0.8**extra for extra in range(10)])
    return length

rng = random.Random(0)
lengths = [span_length(rng) for _ in range(10000)]
print("first ten:", lengths[:10], f"  mean {np.mean(lengths):.1f}")

# %% [markdown]
# ### Exercise 6.4 · Spans
# ●●●○ · 12 minutes
#
# Write `choose_spans(length, number, rng)`: a list of `length` booleans of which exactly `number` are True, in
# stretches whose lengths come from `span_length(rng)`. Cut the last one to what is missing. `rng` is a `random.Random`;
# draw from nothing else.

# %% tags=["exercise"]
def choose_spans(length, number, rng):
    ### BEGIN SOLUTION
    chosen = [False] * length
    while (missing := number - sum(chosen)) > 0:
        span = min(span_length(rng), missing)
        start = rng.randrange(length - span + 1)
        chosen[start : start + span] = [True] * span
    return chosen
    ### END SOLUTION

check("6.4", choose_spans)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Stretches may overlap, and then fewer new tokens are chosen than the span is long. So the count is taken anew in each
# turn, and no turn can overshoot, because a span is never longer than what is missing. A stretch of n tokens has length
# − n + 1 places to start. SpanBERT starts at the beginnings of words only, and gives all tokens of a span the same one
# of the three fates.
#
# </details>

# %% [markdown]
# ## Two masks, one blind spot
#
# Hide two words. Say that half of all texts have *New York* in this place and half *San Francisco*. The model gives a
# distribution for each mask, and it can be perfect: *New* and *San* 50 % each, *York* and *Francisco* 50 % each.
# What does it hold likely together? In its loss the two guesses are multiplied, as if they knew nothing of each other:
#
# | | York | Francisco |
# |---|---|---|
# | **New** | 25 % | 25 % |
# | **San** | 25 % | 25 % |
#
# New Francisco is as likely as New York. No training can mend this; it is built into the loss. (Yang et al. 2019 made
# it the argument for XLNet.)
#
# Now the shipped model, with two holes in *The capital of [MASK] is [MASK].* It gives a sensible list for each. Draw
# one word from each list: how likely is it that country and capital belong together? The other way fills one hole, puts
# that word in, and *then* asks for the second. Guess both numbers.

# %%
from bertedu.corpora.world.facts import kinds

countries = next(kind for kind in kinds() if kind.name == "country").rows
capital_of = {row["country"].lower(): row["capital"].lower() for row in countries}
first, second = map(dict, fill_mask(model, tokenizer, "The capital of [MASK] is [MASK].", top=len(tokenizer)))
together = sum(p * second.get(capital_of.get(country, ""), 0) for country, p in first.items())

def then_asked(country):  # p of its own capital, once the country stands there
    (answers,) = fill_mask(model, tokenizer, f"The capital of {country} is [MASK].", top=len(tokenizer))
    return dict(answers).get(capital_of[country], 0)

one_by_one = sum(p * then_asked(country) for country, p in first.items() if country in capital_of)
print(f"both at once: {together:.0%} fit together    one after the other: {one_by_one:.0%}")
assert one_by_one > 5 * together

# %% [markdown]
# The model knows the capitals. Asked at once, it cannot say so. That is why nobody lets BERT write texts by filling
# many masks in one go, and why ten hidden words in a row are harder than ten apart.
#
# ## How likely is a sentence?
#
# A left-to-right model gives a whole text a probability, by multiplying word by word. BERT does not: the probabilities
# that it gives do not multiply to one of the sentence. But there is a useful stand-in. Hide each token in turn, all
# others visible; take minus the mean of the log-probabilities of the right tokens; raise e to it. This is the
# **pseudo-perplexity** (Salazar et al. 2020, after Wang & Cho 2019): among how many words does the model hesitate? 1 is
# the least. Three sentences: a true one, a false one, a shuffled one. Which order do you expect?

# %%
def hesitation(text):
    ids, losses = tokenizer(text).input_ids, []  # [1, T]
    for place in range(1, ids.size(1) - 1):  # without [CLS] and [SEP]
        seen, labels = ids.clone(), torch.full_like(ids, -100)
        seen[0, place], labels[0, place] = tokenizer.mask_token_id, ids[0, place]
        losses.append(model(seen, labels=labels).loss.item())
    return np.exp(np.mean(losses))

# %%
texts = ["The capital of Norway is Oslo.", "The capital of Norway is Lisbon.", "Oslo capital Norway of the is."]
right, false, shuffled = numbers = [hesitation(text) for text in texts]
for number, text in zip(numbers, texts):
    print(f"{'below 2' if number < 2 else 'above 2':8} {text}")
    assert abs(number / pseudo_perplexity(model, tokenizer, text) - 1) < 1e-3  # the package's agrees
print("right < false < shuffled:", right < false < shuffled)

# %% [markdown]
# It costs T passes in place of one. And mind the pieces: in *sou ##ven ##ir* each piece is guessed while the others are
# in view, so a rare word of many pieces looks likelier than it is (Kauf & Ivanova 2023 hide the rest of the word as
# well).
#
# ## The proof
#
# Your head and your loss, the package's, and `transformers`' own: with the same weights they have to give the same
# scores and the same loss, on a batch with padding, masked by the package.

# %%
import tempfile

torch.manual_seed(0)
sizes = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
theirs = transformers.BertForMaskedLM(transformers.BertConfig(**sizes)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter += 0.2 * torch.randn_like(parameter)
with tempfile.TemporaryDirectory() as folder:
    theirs.save_pretrained(folder)
    package = BertForMaskedLM.from_pretrained(folder)

# %%
ids = torch.randint(5, 60, (4, 20))  # [B, T]
mask = torch.tensor([20, 20, 12, 5])[:, None].gt(torch.arange(20)).long()  # [B, T]
seen, labels = mask_tokens(ids, mask.bool(), 0.3, 4, 60, torch.Generator().manual_seed(0))

mine = MyHead(package.bert.embeddings.token, 32)
mine.dense, mine.norm, mine.bias = package.masked_lm.dense, package.masked_lm.norm, package.masked_lm.decoder.bias
with torch.no_grad():
    ours = package(seen, mask, labels=labels)  # scores [N, V]
    reference = theirs(seen, attention_mask=mask, labels=labels)  # scores [B, T, V]
    my_scores = mine(package.bert(seen, mask).last_hidden_state)  # [B, T, V]

asked = labels != -100  # [B, T]
my_loss = cross_entropy(my_scores[asked], labels[asked])
for name, difference in {"scores, package": my_scores[asked] - ours.prediction_logits, "loss, package": my_loss - ours.loss,
                         "scores, transformers": my_scores - reference.logits, "loss, transformers": my_loss - reference.loss}.items():  # fmt: skip
    print(f"mine against {name:21} difference below 1e-4: {bool(difference.abs().max() < 1e-4)}")

# %% [markdown]
# ## Broken BERT: the best model so far
#
# A colleague has written a function that makes batches, and reports a success after two minutes: nine of ten guesses
# right, on sentences that the model has never seen! Here is the function. We train with it for real, 120 steps on
# sentences about countries, in float64 so that the numbers are the same on your machine.
#
# `report` counts what the batches ask. `filled` counts what a user would ask: a word is hidden, which one is it?

# %%
def make_batch(input_ids, chosen, special):  # [B, T]: ids, words to hide, [CLS] [SEP] [PAD]
    labels = input_ids.clone()
    labels[special] = -100  # nobody is asked for these
    new_labels = torch.full_like(labels, -100)
    new_labels[chosen] = labels[chosen]
    masked = input_ids.clone()
    masked[chosen] = 4  # [MASK]
    return {"input_ids": masked, "labels": labels}

# %%
def about_countries(documents):
    return sorted({sentence for document in documents if document.source == "country" for sentence in document.sentences})

small_tokenizer = BertTokenizer.train(about_countries(corpus.train), vocab_size=600)
train_ids = small_tokenizer(about_countries(corpus.train)).input_ids  # [B, T]
test_ids = small_tokenizer(about_countries(corpus.heldout["held-out documents"])).input_ids

def draw(ids, generator):  # one word in seven, and what is special
    special = ids < 5
    number = ((~special).sum(dim=1) / 7).round().long().clamp_min(1)
    return choose_tokens(~special, number, generator), special

# %%
from bertedu.pretraining.initialization import initialize_for_matching

def train(batches, steps=120):
    torch.manual_seed(0)
    config = BertConfig.preset("tiny", vocab_size=len(small_tokenizer), hidden_size=64, intermediate_size=256,
                               hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    student, generator = BertForPreTraining(config), torch.Generator().manual_seed(0)
    initialize_for_matching(student, torch.bincount(train_ids.flatten(), minlength=len(small_tokenizer)))
    optimizer = torch.optim.AdamW(student.double().parameters(), lr=3e-3)
    for _ in range(steps):
        ids = train_ids[torch.randint(len(train_ids), (32,), generator=generator)]
        batch = batches(ids, *draw(ids, generator))
        loss = student(batch["input_ids"], (ids != 0).long(), labels=batch["labels"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return student.eval()

# %%
@torch.no_grad()
def report(student, batches):  # accuracy on the labels of batches of unseen sentences
    batch = batches(test_ids, *draw(test_ids, torch.Generator().manual_seed(1)))
    scores = student(batch["input_ids"], (test_ids != 0).long(), labels=batch["labels"]).prediction_logits  # [N, V]
    return (scores.argmax(dim=-1) == batch["labels"][batch["labels"] != -100]).double().mean().item()

@torch.no_grad()
def filled(student):  # share of the hidden words that are guessed, on the same sentences
    chosen, _ = draw(test_ids, torch.Generator().manual_seed(1))
    seen = test_ids.masked_fill(chosen, 4)
    scores = student(seen, (test_ids != 0).long(), masked_positions=chosen).prediction_logits  # [N, V]
    return (scores.argmax(dim=-1) == test_ids[chosen]).double().mean().item()

suspect = train(make_batch)
print(f"right on unseen sentences, as its own batches count it: {report(suspect, make_batch):.0%}")
print(f"holes filled, on the same sentences:                    {filled(suspect):.0%}")

# %% [markdown]
# Two numbers for one model, on the same sentences, and far apart. Which questions does the first one count? Look at one
# text of a batch, labels below what the model sees, and read the function again.
#
# ### Exercise 6.5 · The batch, repaired
# ●●●○ · 6 minutes
#
# Write `repaired_batch(input_ids, chosen, special)`: the same, without the mistake.

# %% tags=["exercise"]
def repaired_batch(input_ids, chosen, special):
    ### BEGIN SOLUTION
    labels = input_ids.masked_fill(~chosen, -100)
    masked = input_ids.masked_fill(chosen, 4)
    return {"input_ids": masked, "labels": labels}
    ### END SOLUTION

check("6.5", repaired_batch)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `new_labels` is right, and never used: the last line hands out `labels`, which ask for *every* word. Most of these
# questions show their own answer, so copying gets them right. Not one number in the report was false. It measured
# something else.
#
# </details>

# %%
def right_batch(ids, chosen, special):  # the notebook goes on with this one: labels where a word was chosen
    return {"input_ids": ids.masked_fill(chosen, 4), "labels": ids.masked_fill(~chosen, -100)}

repaired = train(right_batch)
print(f"its own report: {report(repaired, right_batch):.0%}    holes filled: {filled(repaired):.0%}")
print(f"the suspect:    {report(suspect, make_batch):.0%}    holes filled: {filled(suspect):.0%}")
assert report(suspect, make_batch) > 2 * filled(suspect) and filled(suspect) > filled(repaired)

# %% [markdown]
# Now report and reality are one number. But look at the last column: after as many steps the *suspect* fills more
# holes! That is no misprint. It was asked about all words in each step, and although copying answers most of these
# questions, they teach it the vocabulary faster. Clark et al. (2020, section 3.4) found it at full size, in variants of
# BERT that learn from all tokens: 84.3 against 82.2 on GLUE, with care taken that copying is not enough. ELECTRA grew
# out of that.
#
# So what does the bug break? The measure. Its loss and its perplexity can be compared with nobody's, a model that has
# only learned to copy looks finished, and whoever chooses between two runs by this number chooses the better copier. If
# you want labels everywhere, want it on purpose, and count the hidden words apart.
#
# ## Paper and code
#
# | | |
# |---|---|
# | How many | Paper: 15 % of the tokens. Google's code: `round` of 15 % of the length, at least 1, at most `max_predictions_per_seq` (20 for T = 128). `transformers`: each token with probability 0.15, so a short text may get no label at all, and its loss is nan (issue 16711). This course: as Google, without the upper limit |
# | Random words | From the whole vocabulary everywhere, special tokens and the right word included |
# | When | Google: in advance, ten masks for each text (`dupe_factor`). RoBERTa, `transformers` and this course: anew in each batch |
# | Where scores are computed | Google gathers the chosen positions before the head; so does fairseq's RoBERTa, and so does this course. `BertForMaskedLM` of `transformers` scores all T tokens |
# | Labels | Early versions of `transformers` used −1, then −100. Their documentation for a while showed `labels=input_ids` for the whole text (issue 7643), and the Hugging Face course had the lab's unused `new_labels` in its whole-word masking until October 2022 (issue 291, pull request 326 of `huggingface/course`) |
# | Mean | Google divides by the number of labels plus 1e-5. PyTorch divides by the number: no label, nan |
# | Head | The transformation before the decoder is in Google's code (scope `transform`) and not in the paper |
# | Whole words | Google, May 2019, under the same rule otherwise. SpanBERT: spans, and one fate for all tokens of a span |
#
# ## Summary
#
# - A model that looks both ways sees the answer to every question about a visible word. So words are hidden, and only
#   chosen ones are asked for: labels there, −100 elsewhere.
# - 80 % [MASK], 10 % random, 10 % kept. Kept words teach trust in what can be seen, random words doubt. In our
#   measurement they bought nothing for filling holes, and something for features.
# - The head compares a transformed vector with the table of token embeddings. Scoring labelled tokens only saves 85 %
#   of its work and of its memory.
# - The loss is a mean over labels, not over tokens and not over texts.
# - Masks do not know of each other. Pseudo-perplexity hides one at a time.
# - Ask of every accuracy: on which questions?
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(6)

# %% [markdown]
# ## Interview questions
#
# **1. Why does BERT mask words, where GPT simply predicts the next one? What does it pay for that?**
#
# <details><summary>Answer</summary>
#
# BERT's attention looks both ways. Over two layers, and by way of the residual connection even in one, every visible
# word reaches its own output, so *predict this word* would be solved by copying. Hiding the word takes the answer out
# of the input. The price: only 15 % of the tokens are questions, so a pass over the text teaches less; [MASK] occurs in
# pre-training only, which 80/10/10 softens; masked words are guessed independently of each other; and there is no
# probability of a text, so BERT does not write.
#
# </details>
#
# **2. Your masked-LM loss is 0.2 after an hour. Others report 1.5 to 2. What do you check?**
#
# <details><summary>Answer</summary>
#
# On which tokens the loss is taken. The share of labels that are not −100 should be about 15 %; if it is near 100 %,
# the model is copying. Then whether inputs at labelled places are really hidden (80 % [MASK]), whether the labels were
# taken before hiding, whether padding has labels, and whether validation texts are in the training text.
#
# </details>
#
# **3. A batch has 256 texts of 128 tokens and V = 30,522. How do you make the head cheaper without changing the loss?**
#
# <details><summary>Answer</summary>
#
# Pick the vectors with a label before the head: 15 % of B · T rows. The scores shrink from 4.0 GB to 0.6 GB in float32,
# and so do softmax and gradient; for Base it saves about a fifth of the forward pass, for a tiny BERT most of it. The
# loss and its gradient are the same, because cross-entropy leaves the other rows out anyway.
#
# </details>
#
# ## Next
#
# One half of BERT's education is done. The other half asks whether one text follows another:
# [07 · Next sentence prediction](07_next_sentence_prediction.ipynb).
