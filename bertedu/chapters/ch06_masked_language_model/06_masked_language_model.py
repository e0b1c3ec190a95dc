# %% [markdown]
# # 06 · Masked language model
#
# You will turn plain text into questions with known answers, build the head that answers them, and find out what this
# training task cannot teach.
#
# ## What you will be able to do
#
# - explain why a bidirectional model can't be asked for every word, and how masking solves this
# - write BERT's 80/10/10 masking and its labels, and say what each part brings, with measurements
# - compute the masked-language-model loss, its perplexity and its accuracy by hand
# - choose whole words and spans instead of single tokens
# - say why two masks in one text are predicted independently, and how to score a whole sentence anyway
#
# **Time:** 60 minutes for the core path, about 120 minutes with everything ·
# **You need:** [05 · The whole BERT](05_the_whole_bert.ipynb) ·
# **Next:** [07 · Next sentence prediction](07_next_sentence_prediction.ipynb)
#
# Sections marked (optional) are not part of the core path. You can come back to them another day.
#
# ## Recall
#
# 1. What is the output of BERT's last layer for B texts of T tokens, and what does the pooler compute from it?
#
# <details><summary>Answer</summary>
#
# `[B, T, D]`: one vector for each token. The pooler applies a linear layer and tanh to the first of them, `[CLS]`,
# and returns `[B, D]`. This chapter uses the vectors of all tokens, not the pooler.
#
# </details>
#
# 2. Which matrix does the head for masked words share with the rest of BERT?
#
# <details><summary>Answer</summary>
#
# The table of token embeddings, `[V, D]`. The score of a word is the dot product of the vector that the head has
# computed and the word's own embedding, plus a bias.
#
# </details>
#
# 3. A model with random weights knows nothing. Which loss should it have when it chooses among V words?
#
# <details><summary>Answer</summary>
#
# ln V, because it should give each word the probability 1 / V.
#
# </details>
#
# ## Where this part sits
#
# So far BERT was a network without a task. The next cell draws what this chapter adds, in blue: we mask a part of the
# text before BERT sees it, and we ask for the masked words afterwards.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

figure = new_figure(7.2, 1.9)
axes = figure.subplots()
axes.set(xlim=(-0.5, 5.6), ylim=(-0.7, 1.2))
axes.axis("off")
steps = [("text\n[B, T]", GREY), ("mask 15 %\nof the tokens", BLUE), ("BERT\n[B, T, D]", GREY)]
steps += [("head: a score\nfor each word", BLUE), ("loss at the\nmasked tokens", BLUE)]
for i, (name, color) in enumerate(steps):
    box = {"boxstyle": "round,pad=0.5", "color": color}
    axes.text(1.3 * i, 0, name, ha="center", va="center", color="white", fontsize=9, bbox=box)
    if i:
        arrow = {"arrowstyle": "->", "color": INK}
        axes.annotate("", (1.3 * i - 0.5, 0), (1.3 * i - 0.8, 0), arrowprops=arrow)
arrow = {"arrowstyle": "->", "color": BLUE, "connectionstyle": "arc3,rad=-0.18"}
axes.annotate("", (5.2, 0.4), (1.3, 0.4), arrowprops=arrow)
axes.text(3.25, 0.93, "labels: the original words", ha="center", color=BLUE, fontsize=9)
Picture(
    figure,
    alt="From left to right: the text, masking of 15 % of its tokens, BERT, a head that scores "
    "every word, and the loss at the masked tokens. An arrow carries the original words past "
    "BERT to the loss, as labels. New in this chapter: masking, head and loss.",
)

# %% [markdown]
# ## A text with gaps
#
# Fill in the gaps, with a pencil:
#
# > 1. The capital of Portugal is ______.
# > 2. The ______ of Portugal is Lisbon.
# > 3. ______ is the capital of Portugal.
# > 4. The capital ______ Portugal is Lisbon.
#
# For this you needed a fact, some meaning and some grammar. Nobody had to label anything, because the text itself
# contains the answers. Training of this kind is called **self-supervised learning**. Taylor (1953) used gaps to
# measure how readable a text is; since then a text with gaps is called a **cloze test**. For BERT the task is called
# **masked language modeling**, or MLM. It is the first of BERT's two pre-training tasks. The second one follows in
# [chapter 07](07_next_sentence_prediction.ipynb).
#
# The course contains a small BERT that was trained on a small world of facts: 39 countries, 43 animals, 23 chemical
# elements, 32 professions and ten more kinds of things. The next cell loads it with `open_model` and asks it for the
# same gaps with `fill_mask`. For each gap it prints the most probable word and its probability. The cell after it is
# for your own questions.

# %%
from bertedu.course import about, data_path
from bertedu.inference import fill_mask, open_model

model, tokenizer = open_model(data_path("checkpoints/world-tiny"))
gaps = {"The capital of Portugal is [MASK].": 0.961, "The [MASK] of Portugal is Lisbon.": 0.982}
gaps["[MASK] is the capital of Portugal."] = 0.965
gaps["The capital [MASK] Portugal is Lisbon."] = 0.995
for text, expected in gaps.items():
    ((word, p),) = fill_mask(model, tokenizer, text, top=1)[0]
    print(f"{text:38}  {word:8} {about(expected, p, within=0.02):.0%}")

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets import fill_mask_box

fill_mask_box(model, tokenizer, "In [MASK] the newspapers are printed in Danish.")

# %% [markdown]
# All four words are right, with probabilities above 95 %. The model has met these facts in training: *The capital of
# Portugal is Lisbon.* is one of its training sentences.
#
# ## Why not from left to right?
#
# There is an older way to get questions from plain text: show the text up to some position, and ask for the next
# word. A model that is trained like this is a **left-to-right** (or **causal**) **language model**, such as GPT. It
# is asked for every single word, and it needs no [MASK].
#
# Gap 3 shows the disadvantage: a left-to-right model has to predict "Lisbon" before it has read "Portugal". How much
# does the right side help? The next cell measures it with a very simple model: an **n-gram model**, which counts how
# often tokens follow each other and predicts the most frequent one. We let it predict a token from the left neighbor,
# from the right neighbor, and from both. Guess first: how many of the tokens in unseen sentences will it get right
# each time? (Punctuation counts too. On a slow computer the cell takes half a minute.)

# %%
import numpy as np

from bertedu.corpora.world import world_corpus
from bertedu.pretraining.baselines import NO_TOKEN, NGramBaseline

corpus = world_corpus()


def rows(documents):  # one array of token ids for each document
    encoded = (tokenizer.encode_lines(document.sentences) for document in documents)
    return [np.array(sum(ids, [])) for ids in encoded]


ngrams = NGramBaseline.fit(rows(corpus.train), len(tokenizer))
test = np.concatenate(rows(corpus.heldout["held-out documents"][:25]))
left, asked, right, unknown = test[:-2], test[1:-1], test[2:], np.full(len(test) - 2, NO_TOKEN)
known = {"left": (left, unknown), "right": (unknown, right), "both": (left, right)}
for name, sides in known.items():
    guesses = ngrams.distributions(*sides).argmax(axis=1)  # [N, V] -> [N]
    print(f"knows the neighbor on {name:6} {(guesses == asked).mean():.0%} of the tokens right")

# %% [markdown]
# With both neighbors it predicts 62 % of the tokens, with one only about 40 %. A part of this gain may come simply
# from knowing two tokens instead of one: this cell can't tell. But it shows that the right neighbor alone helps
# almost as much as the left one. So a model should use the words on both sides. It should be **bidirectional**, and
# BERT's attention is.
#
# But then why mask anything? Why not ask a bidirectional model for *every* word of a normal text? Take three tokens
# and, to be strict, forbid each token to attend to itself. In the next cell `attends[i, j]` is 1 where token i may
# attend to token j. Two layers are two steps, so we multiply the matrix by itself: entry [i, j] of the product counts
# the paths of two steps by which information gets from token j to token i. Guess first: after two layers, from which
# tokens has token 0 received information?

# %%
import torch

attends = 1 - torch.eye(3, dtype=torch.long)  # [T, T]: to all others, not to itself
print("one layer:  paths from tokens 0, 1, 2 to token 0:", attends[0].tolist())
print("two layers: paths from tokens 0, 1, 2 to token 0:", (attends @ attends)[0].tolist())

# %% [markdown]
# After two layers there are two paths from token 0 back to token 0: the other tokens have received it, and they pass
# it on. (In BERT it is even simpler: a token may attend to itself, and the residual connection passes on its own
# vector.) So the answer to the question "which word is this?" is already in the input. Copying solves the task, and
# to copy a word, a model needs to understand nothing.
#
# Left-to-right models solve the problem by a mask in their attention: no token may attend to later tokens. BERT lets
# every token attend to all others, and removes the word from the input instead. That is the idea of Devlin et al.
# (2019, section 3.1), and it has a price: only the masked words are questions.
#
# ## Mask, then ask
#
# First we choose the tokens. Of T tokens BERT chooses `round(0.15 · T)`, at least one, all with the same probability.
# [CLS] and [SEP] count in T, but are never chosen. The 15 % are called the **masking rate**. The text in the next
# cell has T = 21 tokens. How many of them will be chosen? The package's `choose_tokens` draws them.

# %%
from bertedu.pretraining.masking import choose_tokens

text = "The capital of Norway is Oslo. People in Norway speak Norwegian. They pay with a krone."
ids, tokens = tokenizer(text).input_ids, tokenizer(text).tokens[0]  # [1, T]
words = (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)  # [1, T]
number = torch.tensor([max(1, round(0.15 * ids.size(1)))])
chosen = choose_tokens(words, number, torch.Generator().manual_seed(0))  # [1, T]
print(f"T = {ids.size(1)}, chosen: {[token for token, yes in zip(tokens, chosen[0]) if yes]}")

# %% [markdown]
# Three tokens. Now we make two sequences from one. The **input** is what the model sees: the ids, with [MASK] at
# the chosen positions. The **labels** are the original ids at the chosen positions, and −100 everywhere else.
#
# Why −100? A label is a token id, so it is never negative. −100 is the number that PyTorch's `cross_entropy` ignores
# by default (its argument `ignore_index`), so most code uses it. The next cell prints input and label for the first
# eight tokens.

# %%
seen = ids.masked_fill(chosen, tokenizer.mask_token_id)  # [1, T]
labels = ids.masked_fill(~chosen, -100)  # [1, T]
shown = tokenizer.convert_ids_to_tokens(seen[0].tolist())
for token, token_seen, label in list(zip(tokens, shown, labels[0].tolist()))[:8]:
    print(f"{token:10} input {token_seen:10} label {label:5}")

# %% [markdown]
# Look at *capital* and *of*: the model sees [MASK], and the label is the original id. All other labels are −100.
#
# ## 80/10/10
#
# There is a problem. [MASK] occurs in every text of pre-training, but not in the tasks that BERT is used for
# afterwards: nobody asks for the sentiment of "[MASK] film was [MASK]". This is called the **pre-training/fine-tuning
# mismatch**. A model could learn that it is never asked anything at a token that is not [MASK]. So BERT replaces only
# most of the chosen tokens by [MASK]. Each chosen token is treated in one of three ways:
#
# | share | the model sees | so that |
# |---|---|---|
# | 80 % | [MASK] | it has to predict from the context |
# | 10 % | a random token | it doesn't blindly trust what it sees |
# | 10 % | the token itself | it doesn't ignore what it sees either |
#
# The label is the original token in all three cases. Where it sees [MASK], the model knows that it will be asked. For
# the other 20 % nothing tells it: a kept token looks like any other token, and so does a random one, except that it
# may not fit its context. So the model has to be prepared for a question at every token.
#
# ### Exercise 6.1 · How many masks?
# ●○○○ · 3 minutes
#
# A text has 60 tokens, [CLS] and [SEP] included. How many of them does the model see as [MASK], on average? (`check`
# examines your answer, and `hint("6.1")` gives a hint.)

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
masks = 7.2
### END SOLUTION
check("6.1", masks)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# 15 % of 60 are 9 chosen tokens, and 80 % of those are 7.2. The number of chosen tokens is fixed, but each of them is
# treated at random, so the number of [MASK]s varies from text to text.
#
# </details>

# %% [markdown]
# ### Touch it
#
# The next cell draws such a text again and again. Guess first: of a thousand draws of these 21 tokens, in what share
# of all tokens does the model see a random one?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

some_words = "river coin the speaks ##land Berlin metal young is of".split()
explorable("mask_fates", tokens=tokens, words=some_words)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In about 1.4 %: three of 21 tokens are chosen, and one in ten of these becomes random. So most draws have no random
# token at all. Over a whole corpus that is still one token in seventy, enough to make the model doubt what it sees.
#
# </details>

# %% [markdown]
# ### Exercise 6.2 · Eighty, ten, ten
# ●●○○ · 15 minutes
#
# Write `corrupt(input_ids, chosen, mask_token_id, vocab_size)`. It gets ids `[B, T]` and booleans `[B, T]`, and
# returns two tensors `[B, T]`: what the model sees, and the labels. Each chosen token is treated independently of all
# others. Random tokens come from the whole vocabulary, special tokens included, as in Google's code. Draw with
# `torch.rand` and `torch.randint`, and don't change `input_ids`. Stuck? `hint("6.2")`


# %% tags=["exercise"]
def corrupt(input_ids, chosen, mask_token_id, vocab_size):
    ### BEGIN SOLUTION
    draw, random_ids = torch.rand(input_ids.shape), torch.randint(vocab_size, input_ids.shape)
    seen = torch.where(chosen & (draw < 0.8), mask_token_id, input_ids)
    seen = torch.where(chosen & (draw >= 0.9), random_ids, seen)
    return seen, input_ids.masked_fill(~chosen, -100)
    ### END SOLUTION


check("6.2", corrupt)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One random number for each token decides. Below 0.8 the token becomes [MASK], from 0.9 on it becomes a random token,
# in between it stays. Two separate draws (`rand() < 0.8` for [MASK], then `rand() < 0.1` for random tokens) would be
# wrong: the second one would either hit only 10 % of the remaining 20 %, or overwrite some of the [MASK]s. The labels
# come from the original ids.
#
# </details>

# %% [markdown]
# The package's `mask_tokens` does both steps, the choice and the corruption. Play with it in the next cell. What
# happens to the loss if 60 % of the tokens are chosen instead of 15 %? And if all chosen tokens are kept?

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets import masking_playground

masking_playground(tokenizer, text, model)

# %% [markdown]
# ## What does each part bring?
#
# The 80/10/10 rule is quoted everywhere, but rarely tested. We test it twice: with a gradient and with an experiment.
#
# First the gradient. The loss is computed from the last layer's vectors at the tokens with a label, and from no
# others. The next cell masks the text, computes the loss, and prints at which tokens these vectors receive a
# gradient.

# %%
from torch.nn.functional import cross_entropy

from bertedu.pretraining.masking import mask_tokens

sizes, generator = (tokenizer.mask_token_id, len(tokenizer)), torch.Generator().manual_seed(62)
seen, labels = mask_tokens(ids, words, 0.15, *sizes, generator, special_tokens=2)
vectors = model.bert(seen).last_hidden_state.detach().requires_grad_()  # [1, T, D]
cross_entropy(model.masked_lm(vectors)[0], labels[0]).backward()
trained = vectors.grad[0].abs().sum(dim=-1) > 0  # [T]
shown = tokenizer.convert_ids_to_tokens(seen[0].tolist())
for i in trained.nonzero().flatten().tolist():
    print(f"gradient at {tokens[i]}, which the model sees as {shown[i]}")
print(f"no gradient at {int((~trained).sum())} of {len(tokens)} tokens")

# %% [markdown]
# If every chosen token became [MASK], the last layer's vectors of *visible* words would never receive a gradient from
# this loss. But visible words are all that a user of BERT has. Only the chosen tokens that are not [MASK] (20 %)
# train what the last layer's vector of a visible word should contain.
#
# **Fine-tuning** can repair this, because it trains those vectors for the new task. The **feature-based approach**,
# which uses the frozen vectors as they are, can't. The paper's own experiment agrees (Devlin et al. 2019, appendix
# C.2, table 8). MNLI is a data set of sentence pairs (does the first one imply the second?), with accuracy in %;
# NER is named entity recognition (which words are persons, places, organizations?), with F1 in %, a mean of
# precision and recall.
#
# | [MASK] | kept | random | MNLI, fine-tuned | NER, fine-tuned | NER, feature-based |
# |---|---|---|---|---|---|
# | 80 % | 10 % | 10 % | 84.2 | 95.4 | 94.9 |
# | 100 % | 0 % | 0 % | 84.3 | 94.9 | 94.0 |
# | 80 % | 0 % | 20 % | 84.1 | 95.2 | 94.6 |
# | 80 % | 20 % | 0 % | 84.4 | 95.2 | 94.7 |
# | 0 % | 20 % | 80 % | 83.7 | 94.8 | 94.6 |
# | 0 % | 0 % | 100 % | 83.6 | 94.9 | 94.6 |
#
# Look at how *small* the differences are. On MNLI the first four rows are practically equal. The largest difference
# is in the last column: 94.0 with [MASK] only.
#
# ### Our own experiment (optional)
#
# You can repeat this one: `python benchmarks/masking_ablation.py` trains small BERTs on the sentences about
# countries, in five ways, with two seeds each (two minutes on one core). Then it asks four questions about sentences
# that no model saw in training. How often is the right word predicted where the model sees [MASK] (*masked*)? Where
# it sees the word itself (*kept*)? Where it sees a random word (*replaced*)? And how often can a classifier tell from
# a visible word's frozen vector whether the word is a country, a capital, a language or a currency (*features*)? The
# next cell prints the recorded means, the one after it draws both seeds.

# %%
import json

runs = json.loads(data_path("ablations/masking.json").read_text())["runs"]
ways = list(dict.fromkeys(run["shares"] for run in runs))  # such as "80/10/10"
names = {"hidden": "masked", "shown": "kept", "replaced": "replaced", "features": "features"}
results = {(w, q): [run[q] for run in runs if run["shares"] == w] for w in ways for q in names}
print("[MASK]/kept/random", *(f"{name:>9}" for name in names.values()))
for way in ways:
    print(f"{way:18}", *(f"{np.mean(results[way, question]):9.0%}" for question in names))

# %% tags=["hide-input"]
figure = new_figure(7.4, 2.4)
ticks = {"xticks": (0, 0.5, 1), "xticklabels": ("0", "50 %", "100 %"), "xlim": (0, 1.05)}
for axes, (question, name) in zip(figure.subplots(1, 4, sharey=True), names.items()):
    for i, way in enumerate(ways):
        values = results[way, question]
        axes.scatter(values, [i] * len(values), s=14, color=BLUE if i == 0 else ORANGE)
    axes.set(yticks=range(len(ways)), yticklabels=ways, **ticks)
    axes.set_title(name, fontsize=9)
    quiet(axes)
figure.axes[0].set_ylabel("[MASK]/kept/random", fontsize=8)
figure.axes[0].invert_yaxis()
means = [
    f"{w}: " + ", ".join(f"{names[q]} {np.mean(results[w, q]):.0%}" for q in names)
    for w in ways
]
Picture(
    figure,
    alt="Accuracy of five ways of masking ([MASK]/kept/random) on four questions, a dot for "
    f"each seed. Means: {'; '.join(means)}.",
)

# %% [markdown]
# Read the table column by column.
#
# - **Masked.** The ways that use [MASK] reach 71 to 78 %, and 80/10/10 is in the middle (74 %). For *this* question
#   the 80/10/10 rule brings nothing. Even the model that never saw [MASK] in training reaches 66 %.
# - **Kept.** The model that was trained on [MASK] alone names just 13 % of the words that it can see. Kept words
#   teach it to trust what it sees (80 % and 99 %).
# - **Replaced.** But with kept words and no random ones it learns to copy whatever it sees, and so it corrects only
#   9 % of the wrong words. Random words teach it not to trust blindly (62 to 65 %). Only the mixture 80/10/10 does
#   well in both columns, *kept* and *replaced*.
# - **Features.** The ways with random words are better (74 to 80 % against 68 to 70 %). The paper also found that
#   [MASK] alone hurts the features; here the difference is larger. But in the paper 80/20/0, without random words,
#   was nearly as good as 80/10/10. Here it isn't.
#
# How far can we generalize this? Not very far: these are small models, two seeds, and sentences in which a random
# word is easy to recognize. And for models that are fine-tuned, Wettig et al. (2023) found that [MASK] for all chosen
# tokens was as good as 80/10/10 or better on most tasks. For models of BERT-Large's size they found a masking rate of
# 40 % better than 15 %. So 80/10/10 and 15 % are reasonable habits, but not laws.
#
# ## The head
#
# BERT gives us D numbers for each token. We need a score for each of the V words in the vocabulary. The **MLM head**
# does it in two steps. It **transforms** each vector (linear layer, GELU, LayerNorm). Then it **compares** the result
# with every row of the table of token embeddings, by a dot product, and adds a bias for each word. The head uses the
# same table as the input. This is called **weight tying** (Press and Wolf 2017).
#
# Guess, then run: how many new parameters does the head add with weight tying, for V = 30,522 and D = 768? And with a
# table of its own?

# %%
from torch import nn


class MyHead(nn.Module):
    """Scores of all words, [..., D] to [..., V]."""

    def __init__(self, token_embeddings, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.table = token_embeddings.weight  # [V, D], the same tensor, not a copy
        self.bias = nn.Parameter(torch.zeros(len(self.table)))  # [V]

    def forward(self, vectors):
        vectors = self.norm(nn.functional.gelu(self.dense(vectors)))  # [..., D]
        return vectors @ self.table.T + self.bias  # [..., V]


V, D = 30522, 768
new = D * D + D + 2 * D + V  # linear layer, LayerNorm, bias of the words
print(f"tied: {new:,} new parameters    with its own table: {new + V * D:,}")

# %% [markdown]
# 0.6 million instead of 24 million. Why is there a transformation in between? The paper doesn't say. A plausible
# reason: without it, the last layer's vector would have to do two jobs. It should be useful for other tasks, and it
# should match the embedding of the right word. The extra layer can take over the second job.
#
# The bias can store what is known without any context: how frequent each word is. If all dot products were 0, the
# prediction would be the softmax of the bias.
#
# ## The loss, by hand
#
# The loss is **cross-entropy**, also called negative log-likelihood: minus the logarithm of the probability of the
# right word. Take three tokens and a vocabulary of three words: *cat*, *sat*, *mat* (ids 0, 1, 2). The first and
# the last token have a label. Use a pencil, with e¹ = 2.7 and e² = 7.4:
#
# 1. Token 0 has the scores (2, 0, 0) and the label *cat*. What is the probability of *cat*? And minus its logarithm?
# 2. Token 2 has the scores (1, 0, 0) and the label *mat*. The same questions.
# 3. The loss is the mean. The mean of how many numbers?
#
# The next cell also computes two other measures. **Perplexity** is *e* to the loss. A model that is undecided among k
# equally probable words has perplexity k, so you can read it as "as uncertain as a choice among so many words".
# **Accuracy** is the share of labels where the right word has the highest score.

# %%
scores = torch.tensor([[2.0, 0, 0], [0, 9, 0], [1, 0, 0]])  # [T, V]
labels = torch.tensor([0, -100, 2])  # [T]
for row, label in zip(scores, labels):
    if label != -100:
        p = row.exp()[label] / row.exp().sum()
        print(f"p = {p:.2f}   -ln p = {-p.log():.2f}")
loss, asked = cross_entropy(scores, labels), labels != -100
accuracy = (scores[asked].argmax(dim=-1) == labels[asked]).double().mean()
print(f"loss {loss:.2f}   perplexity {loss.exp():.2f}   accuracy {accuracy:.0%}")
print(f"divided by all three tokens it would be {loss * 2 / 3:.2f}")

# %% [markdown]
# The loss is (0.24 + 1.55) / 2 = 0.90, the perplexity e^0.8955 = 2.45, the accuracy one of two. The token in the
# middle has the most certain scores, but they don't count: without a label there is no question. If you divide by all
# tokens instead of the labels, the loss and its gradient come out too small: in real training, with labels at 15 % of
# the tokens, by a factor of 1 / 0.15 ≈ 7.
#
# ### Exercise 6.3 · The loss, without cross_entropy
# ●●○○ · 12 minutes
#
# Write `mlm_loss(logits, labels)` for scores (also called **logits**) `[B, T, V]` and labels `[B, T]`: the mean over
# all tokens of the batch that have a label. Use `log_softmax` and indexing instead of `cross_entropy`. Every id from
# 0 on is a valid label.


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
# Let N be the number of labels in the batch. `logits[asked]` keeps one row of scores for each label, whichever text
# it comes from: `[N, V]`, a list of N questions. `gather` picks the log-probability of the right word in each row. A
# text with more labels has more weight, because the mean is over labels, not over texts.
#
# </details>

# %% [markdown]
# ## Scores only where there is a label (optional)
#
# Your loss ignores 85 % of the scores. Why compute them? Scoring V words is expensive: 2 · D · V operations for one
# token (and 2 · D² for the transformation; we count a multiplication and an addition as two). It is cheaper to select
# the vectors **before** the head: `head(vectors[asked])` equals `head(vectors)[asked]`, because the head treats each
# token by itself.
#
# How much does this save? In the encoder a token needs 24 · D² operations in each layer for the linear layers,
# and 4 · T · D for attention ([chapter 03](03_self_attention.ipynb)). If all T tokens are scored, what share of the
# forward pass is the head? Guess for the smallest BERT that Google published (tiny) and for the largest. The next
# cell computes it, and how much of the forward pass you save if you score only the tokens with a label.

# %%
from bertedu import BertConfig


def operations(preset, scored, V=30522, T=128):  # for each token; a product and a sum are two
    D, L = BertConfig.preset(preset).hidden_size, BertConfig.preset(preset).num_hidden_layers
    return L * (24 * D**2 + 4 * T * D) + scored * (2 * D**2 + 2 * D * V)


for preset in ("tiny", "mini", "base", "large"):
    encoder, every, some = (operations(preset, scored) for scored in (0, 1, 0.15))
    print(f"{preset:6} the head is {1 - encoder / every:4.0%} of the forward pass;", end="")
    print(f"  scoring 15 % of the tokens saves {1 - some / every:.0%}")

# %% [markdown]
# For the smallest BERT the head is nearly everything, for Large less than a tenth. Memory matters too: the scores of
# a batch of 256 texts of 128 tokens need 256 · 128 · 30,522 · 4 bytes = 4.0 GB in float32, and so do their softmax
# and their gradient, each. For the tokens with a label alone it is 0.6 GB.
#
# ## Which tokens, and when?
#
# ### Static or dynamic masking
#
# Google masked the text ten times, wrote the results to files, and trained on these files. The paper speaks of about
# forty passes, so the model would have seen every mask four times. (Chapter 08 counts fewer than 13 passes.) This is
# **static masking**. **Dynamic masking** draws a new mask each time a text is used. After forty passes, what share of
# the words has the model been asked for at least once: with one mask, with ten, with forty? One mask misses a word
# with probability 0.85. The next cell computes the rest.

# %%
for masks in (1, 10, 40):
    share = 1 - 0.85**masks
    print(f"{masks:2} masks, {40 // masks:2} times each: {share:6.1%} of the words asked for")

# %% [markdown]
# RoBERTa (Liu et al. 2019, section 4.1) compared ten static masks with dynamic masking: 78.3 against 78.7 F1 on SQuAD
# 2.0 (questions about a text), 84.3 against 84.0 on MNLI, and 92.5 against 92.9 on SST-2 (sentiment of film reviews).
# The differences are small. But dynamic masking needs no files with masked copies, and nearly everybody uses it
# today. In this course the masks are computed from the seed and the number of the step, so that every run can be
# repeated.
#
# ### Whole-word masking
#
# Many words consist of several pieces: *souvenir* is *sou ##ven ##ir* here. If only one of the pieces is masked, the
# question is more about spelling than about the text. **Whole-word masking** chooses all pieces of a word or none.
# Google published such models in May 2019. The package's `choose_words` chooses whole words. A word that has more
# pieces than may still be chosen is skipped. The next cell lets it choose three tokens of one sentence, with three
# different seeds.

# %%
from bertedu.pretraining.masking import choose_words

pieces = ["[CLS]", *tokenizer.tokenize("The souvenir of Norway."), "[SEP]"]
candidates = torch.tensor([[not piece.startswith("[") for piece in pieces]])  # [1, T]
continuation = torch.tensor([[piece.startswith("##") for piece in pieces]])  # [1, T]
for seed in (1, 3, 10):
    generator = torch.Generator().manual_seed(seed)
    row = choose_words(candidates, continuation, torch.tensor([3]), generator)[0]
    print([piece for piece, yes in zip(pieces, row) if yes])

# %% [markdown]
# Each line is one choice of three tokens. *souvenir* has three pieces, so it fits only if it is drawn first. Then its
# three pieces are chosen together (the last line).
#
# ### Span masking (optional, with exercise 6.4)
#
# **SpanBERT** (Joshi et al. 2020, section 3.1) masks **spans**: several neighboring words together, because answers
# to questions are often spans. It draws a length from 1 to 10, where each length has 0.8 times the probability of the
# length before it. Then it draws where the span starts. It repeats both until 15 % of the tokens are chosen. SpanBERT
# counts the length in whole words. We count tokens, which is simpler. Guess the mean length. The next cell draws ten
# thousand lengths.

# %%
import random


def span_length(rng):  # rng is a random.Random
    return rng.choices(range(1, 11), [0.8**extra for extra in range(10)])[0]


rng = random.Random(0)
lengths = [span_length(rng) for _ in range(10000)]
print("first ten:", lengths[:10], f"  mean {np.mean(lengths):.1f}")

# %% [markdown]
# ### Exercise 6.4 · Spans
# ●●●○ · 20 minutes
#
# Write `choose_spans(length, number, rng)`. It returns a list of `length` booleans of which exactly `number` are
# True, in spans whose lengths come from `span_length(rng)`. Cut the last span to the number that is still missing.
# `rng` is a `random.Random`; use no other source of randomness.


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
# Spans may overlap, and then fewer new tokens are chosen than the span is long. So we count again in each round. No
# round can choose too many, because a span is never longer than what is missing. A span of n tokens has
# `length - n + 1` possible starts. In SpanBERT a span starts only at the beginning of a word, and the 80/10/10 draw
# is made once for each span: all its tokens become [MASK], or all become random tokens, or all stay.
#
# </details>

# %% [markdown]
# ## Two masks are predicted independently
#
# Mask two neighboring words. Assume that half of all texts contain *New York* at this position and the other half
# *San Francisco*. The model gives one distribution for each mask. The best that it can do is 50 % each for *New* and
# *San*, and 50 % each for *York* and *Francisco*. What does that say about the pairs? The loss adds the negative
# logarithms of the two probabilities. That amounts to multiplying the probabilities, as if the two words were
# independent:
#
# | | York | Francisco |
# |---|---|---|
# | **New** | 25 % | 25 % |
# | **San** | 25 % | 25 % |
#
# "New Francisco" is as probable as "New York". No training can change this as long as both words are masked, because
# this **independence assumption** is built into the loss. (Yang et al. 2019, section 2, motivate XLNet with this
# argument.)
#
# The next cell measures it with our model and *The capital of [MASK] is [MASK].* First it fills both masks at once,
# each from its own distribution. Then it fills them one after the other: it inserts a country for the first mask, and
# *then* predicts the second. (It does this for every country and weights each result with the country's probability.)
# How probable is it in each case that country and capital belong together? Guess both numbers. (The cell takes half a
# minute on a slow computer.)

# %%
from bertedu.corpora.world.facts import kinds

countries = next(kind for kind in kinds() if kind.name == "country").rows
capital_of = {row["country"].lower(): row["capital"].lower() for row in countries}


def predict(text):  # a dict from word to probability for each [MASK]
    return [dict(guesses) for guesses in fill_mask(model, tokenizer, text, top=len(tokenizer))]


first, second = predict("The capital of [MASK] is [MASK].")
first = {country: p for country, p in first.items() if country in capital_of}
together = sum(p * second.get(capital_of[country], 0) for country, p in first.items())
one_by_one = 0
for country, p in first.items():
    (answers,) = predict(f"The capital of {country} is [MASK].")
    one_by_one += p * answers.get(capital_of[country], 0)
print(f"both masks at once: {about(0.02, together, within=0.015):.0%} belong together")
print(f"one after the other: {about(0.90, one_by_one, within=0.04):.0%}")

# %% [markdown]
# The model knows the capitals: 90 % of the pairs belong together. But if it predicts both words at once, it can't use
# that, and only 2 % do. For the same reason, filling many masks in one pass rarely gives a usable text. Methods that
# write with masked models mostly fill them in several passes.
#
# ## How probable is a sentence? (optional)
#
# A left-to-right model gives a whole text a probability: each word has a probability given the words before it, and
# their product is the probability of the text. In BERT each word is predicted from *all* other words, so the product
# of these probabilities is not the probability of a sentence. But there is a useful substitute. Mask each token in
# turn, with all others visible. Take the mean of the negative log-probabilities of the right tokens, and raise *e* to
# it. This is the **pseudo-perplexity** (Salazar et al. 2020, after Wang and Cho 2019). It can't be smaller than 1.
# The next cell computes it. The cell after it scores three sentences: a true one, a false one and a shuffled one.
# Which order do you expect?


# %%
@torch.no_grad()
def my_pseudo_perplexity(text):
    ids, losses = tokenizer(text).input_ids, []  # [1, T]
    for i in range(1, ids.size(1) - 1):  # without [CLS] and [SEP]
        seen, labels = ids.clone(), torch.full_like(ids, -100)
        seen[0, i], labels[0, i] = tokenizer.mask_token_id, ids[0, i]
        losses.append(model(seen, labels=labels).loss.item())
    return np.exp(np.mean(losses))


# %%
from bertedu.inference import pseudo_perplexity

texts = {"The capital of Norway is Oslo.": 1.006, "The capital of Norway is Lisbon.": 16.5}
for text, expected in (texts | {"Oslo capital Norway of the is.": 5800}).items():
    mine, package = my_pseudo_perplexity(text), pseudo_perplexity(model, tokenizer, text)
    shown = about(expected, mine, within=0.1 * expected)
    print(f"{text:33} {shown:10,.1f}   the package's differs by {abs(mine / package - 1):.1%}")

# %% [markdown]
# The true sentence has a pseudo-perplexity of almost 1: every token is nearly certain (it was a training sentence).
# The false one has 16.5, the shuffled one several thousand (worse than giving all 2,925 words of the vocabulary the
# same probability). The price is one pass of the model for each token instead of a single one. And be careful with
# words of several pieces: in *sou ##ven ##ir* each piece is predicted while the others are visible, so a rare word of
# many pieces looks more probable than it is. (Kauf and Ivanova 2023 therefore also mask the pieces of the same word
# that follow.)
#
# ## The proof
#
# With the same weights, your head, the package's and the one in `transformers` must give the same scores and the same
# loss. The next cell makes a small random model in `transformers`, saves it, and loads it into the package. The cell
# after it masks a batch with padding and compares all three.

# %%
import tempfile

import transformers

from bertedu import BertForMaskedLM

torch.manual_seed(0)
sizes = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2}
sizes |= {"num_attention_heads": 4, "intermediate_size": 64}
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
asked = labels != -100  # [B, T]

mine, head = MyHead(package.bert.embeddings.token, 32), package.masked_lm
mine.dense, mine.norm, mine.bias = head.dense, head.norm, head.decoder.bias
with torch.no_grad():
    output = package(seen, mask, labels=labels)  # scores [N, V]
    reference = theirs(seen, attention_mask=mask, labels=labels)  # scores [B, T, V]
    my_scores = mine(package.bert(seen, mask).last_hidden_state)[asked]  # [N, V]
my_loss = cross_entropy(my_scores, labels[asked])
others = {"package": (output.prediction_logits, output.loss)}
others["transformers"] = (reference.logits[asked], reference.loss)
for name, (scores, loss) in others.items():
    print(f"yours against {name:12}  largest difference: scores", end="")
    print(f" {(my_scores - scores).abs().max():.4f}, loss {(my_loss - loss).abs():.4f}")

# %% [markdown]
# All differences are zero to four decimals.
#
# ## Broken BERT: the best model so far
#
# A colleague has written a function that makes batches. After two minutes of training the colleague reports a
# success: nearly every prediction is right, on sentences that the model has never seen! The next cell shows the
# function.
#
# We repeat the training: 120 steps on the sentences about countries. Rounding differs a little from processor to
# processor, so your numbers may differ from ours by a few points. To keep it simple, all chosen tokens become [MASK].
# Two hidden cells prepare the sentences and define the training. You don't have to read them. Then we measure two
# accuracies on the same unseen sentences:
#
# - `report` counts what the colleague counts: how many of the labels in the batches are predicted
# - `masked_accuracy` counts what a user would ask for: how many of the tokens that a [MASK] hides are predicted
#
# The training takes about half a minute on a slow computer.


# %%
def make_batch(input_ids, chosen, special):  # [B, T]: ids, tokens to mask, [CLS] [SEP] [PAD]
    labels = torch.full_like(input_ids, -100)
    labels[chosen] = input_ids[chosen]
    masked = input_ids.clone()
    masked[chosen] = 4  # [MASK]
    return {"input_ids": input_ids, "labels": labels}


# %% tags=["hide-input"]
from bertedu import BertConfig, BertForPreTraining, BertTokenizer
from bertedu.pretraining.initialization import initialize_for_matching


def about_countries(documents):
    chosen = (document for document in documents if document.source == "country")
    return sorted({sentence for document in chosen for sentence in document.sentences})


small_tokenizer = BertTokenizer.train(about_countries(corpus.train), vocab_size=600)
train_ids = small_tokenizer(about_countries(corpus.train)).input_ids  # [B, T]
test_ids = small_tokenizer(about_countries(corpus.heldout["held-out documents"])).input_ids


def draw(ids, generator):  # one token in seven, and which tokens are special
    special = ids < 5
    number = ((~special).sum(dim=1) / 7).round().long().clamp_min(1)
    return choose_tokens(~special, number, generator), special


# %% tags=["hide-input"]
def train(batches, steps=120):
    torch.manual_seed(0)
    sizes = {"vocab_size": len(small_tokenizer), "hidden_size": 64, "intermediate_size": 256}
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    student = BertForPreTraining(BertConfig.preset("tiny", **sizes, **no_dropout))
    counts = torch.bincount(train_ids.flatten(), minlength=len(small_tokenizer))
    initialize_for_matching(student, counts)
    optimizer = torch.optim.AdamW(student.double().parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
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
def report(student, batches):  # accuracy on the labels of the batches
    batch = batches(test_ids, *draw(test_ids, torch.Generator().manual_seed(1)))
    output = student(batch["input_ids"], (test_ids != 0).long(), labels=batch["labels"])
    right = output.prediction_logits.argmax(dim=-1) == batch["labels"][batch["labels"] != -100]
    return right.double().mean().item()


@torch.no_grad()
def masked_accuracy(student):  # accuracy on masked tokens
    chosen, _ = draw(test_ids, torch.Generator().manual_seed(1))
    seen = test_ids.masked_fill(chosen, 4)
    output = student(seen, (test_ids != 0).long(), masked_positions=chosen)
    return (output.prediction_logits.argmax(dim=-1) == test_ids[chosen]).double().mean().item()


suspect = train(make_batch)
own, masked = report(suspect, make_batch), masked_accuracy(suspect)
print(f"accuracy on the labels of its batches: {about(0.97, own, within=0.03):.0%}")
print(f"accuracy on masked tokens:             {about(0.00, masked, within=0.02):.0%}")

# %% [markdown]
# One model, the same sentences, and two very different numbers. Both ask for the same words: the chosen ones. What
# differs? Take one text of a batch, write the labels below what the model sees, and read the function again.
#
# ### Exercise 6.5 · The batch, repaired
# ●●●○ · 10 minutes
#
# Write `repaired_batch(input_ids, chosen, special)`: the same function without the mistake.
#
# The cell after the exercise trains with a correct function, just as long, and compares. Guess first: will the report
# of the repaired model be better or worse? And its accuracy on masked tokens?


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
# `masked` is right, but never used. The last line returns `input_ids`, in which every answer can be seen, so copying
# gets them right. Not one number in the report was false. It measured something else.
#
# </details>


# %%
def right_batch(ids, chosen, special):  # a chosen token is hidden, and has a label
    return {"input_ids": ids.masked_fill(chosen, 4), "labels": ids.masked_fill(~chosen, -100)}


repaired = train(right_batch)
students = {"repaired": (repaired, right_batch), "broken": (suspect, make_batch)}
expected = {"repaired": (0.19, 0.19), "broken": (0.97, 0.00)}
for name, (student, batches) in students.items():
    own = about(expected[name][0], report(student, batches), within=0.05)
    masked = about(expected[name][1], masked_accuracy(student), within=0.05)
    print(f"{name:9} its own report {own:.0%}   accuracy on masked tokens {masked:.0%}")

# %% [markdown]
# For the repaired model the report and the accuracy on masked tokens are the same number: about one masked word in
# five, after two minutes. Its report is far *worse* than before, and the model is far better: the broken one fills
# in no mask at all. It learned to copy the word that it sees, and has never seen a [MASK].
#
# So what does the bug break? First the training: no question needs the other words of the sentence. Then also the
# measurement, since the report asks the same easy questions. That is why nobody noticed. If you choose between two
# runs by this number, you choose the broken one.
#
# Is asking about visible words always wrong? No. A *hidden* token must be predicted from its context, and you may ask
# about the visible ones as well. The ELECTRA paper tried it at BERT-Base's size and called it **all-tokens MLM** (Clark
# et al. 2020, section 3.5, table 5): 84.3 against 82.2 for BERT on GLUE, a collection of nine language tasks. There the
# chosen tokens are replaced by words from a small generator, the model predicts all tokens, and an explicit **copy
# mechanism** handles the copying. If you want labels everywhere, do it on purpose, and report the masked tokens
# separately.
#
# ## Paper and code
#
# | | |
# |---|---|
# | How many | Paper: 15 % of the tokens. Google's code: `round` of 15 % of the length, at least 1, at most `max_predictions_per_seq` (20 for T = 128). `transformers`: each token with probability 0.15, so a batch of short texts may get no label at all, and its loss is nan (issue 16711). This course: as Google, without the upper limit |
# | Random tokens | Google, `transformers` and this course: from the whole vocabulary, special tokens and the right word included. fairseq's RoBERTa leaves the special tokens out |
# | When | Google: in advance, ten masks for each text (`dupe_factor`). RoBERTa, `transformers` and this course: anew in each batch |
# | Where scores are computed | Google selects the chosen positions before the head. So do fairseq's RoBERTa and this course. `BertForMaskedLM` of `transformers` scores all T tokens |
# | Labels | Early versions of `transformers` used −1, then −100. Their documentation for a while showed `labels=input_ids` for the whole text (issue 7643), and in its whole-word masking the Hugging Face course made `new_labels`, did not use them, and so asked for every word, until October 2022 (issue 291, pull request 326 of `huggingface/course`) |
# | Mean | Google divides by the number of labels plus 1e-5. PyTorch divides by the number of labels: without a label the loss is nan |
# | Head | The transformation before the decoder is in Google's code (scope `transform`), but not in the paper |
# | Whole words | Google, May 2019, otherwise with the same rule. SpanBERT: spans of whole words; all tokens of a span are treated the same way |
#
# ## Summary
#
# - A bidirectional model sees the answer to every question about a visible word. So BERT chooses 15 % of the tokens,
#   masks most of them, and asks only for the chosen ones: labels there, −100 elsewhere.
# - 80 % [MASK], 10 % random, 10 % kept. Kept words teach the model to trust what it sees, random words not to trust
#   it blindly. In our measurement the rule brought nothing for predicting masked words, but it improved the features.
# - The MLM head compares a transformed vector with the table of token embeddings. Scoring only the tokens with a
#   label saves 85 % of its work and memory.
# - The loss is the mean cross-entropy over labels, not over tokens and not over texts. Perplexity is e to the loss.
# - Masks are predicted independently of each other. Pseudo-perplexity masks one token at a time.
# - Ask of every accuracy: on which questions?
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(6)

# %% [markdown]
# ## Interview questions
#
# <!-- pretraining-01 -->
# **1. Why does BERT mask words instead of predicting the next one, and what is the price?**
#
# <details><summary>Answer in half a minute</summary>
#
# BERT's attention sees both sides. The word to be predicted would reach its own output, so predicting it would be
# copying. Masking takes the answer out of the input. The price: only 15 % of the tokens give a training signal,
# `[MASK]` never occurs after pre-training, masked words are predicted independently of each other, and BERT has no
# probability for a whole text.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# In BERT every token attends to all tokens, on both sides and in every layer. A visible word reaches its own output
# through the residual connection at once, and through the other tokens after two layers. So if you ask for it, the
# best answer is to copy it, and nothing is learned.
#
# There are two ways out. GPT forbids attention to later positions and asks for the next word everywhere. BERT keeps
# both sides and takes the answer out of the input: it hides 15 % of the tokens and asks for those. What you win is a
# vector for each token that knows the words before and after it, which is what classification, tagging and search
# need.
#
# The price has four parts. A pass over the text gives only 15 % of its tokens as training signal, so BERT needs more
# passes. The token `[MASK]` occurs in pre-training and never afterwards. Therefore only 80 % of the chosen tokens
# become `[MASK]`, 10 % a random token, and 10 % stay. Several masked words of one text are predicted independently:
# for "New York" with both words masked, the model can't make the two answers fit. And a product of these predictions
# is no probability of the text, so BERT isn't made for writing.
#
# </details>
#
# <!-- pretraining-02 -->
# **2. Your masked-language-model loss is 0.2 after an hour. Others report 1.5 to 2. What do you check?**
#
# <details><summary>Answer in half a minute</summary>
#
# It is too good, so the answer leaks or the wrong tokens are counted. I check that about 15 % of the labels differ
# from −100, that the inputs at those positions are really masked, that the labels were copied before masking, and
# that padding has no labels. If the training loss is fine and only validation is too good, validation text is part of
# the training text.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A loss of 0.2 nats means that the right token gets 82 % probability, as a geometric mean. Nobody reaches that on
# open text with one word in seven hidden. So I don't tune, I look at one batch.
#
# First the labels: how many differ from −100? It should be about 15 %. If it is nearly 100 %, the loss counts visible
# tokens as well, and copying is easy. That happens if the labels are a copy of the input and nobody set the others to
# −100. Second, the inputs at the labelled positions: 80 % of them should be `[MASK]`, 10 % something else, 10 % the
# original. If all are original, the masking was done on another tensor, or after the batch had been copied. Third,
# where do the labels come from? If they were taken after masking, the label is `[MASK]`, and the model learns to say
# `[MASK]`: the loss goes to zero.
#
# Fourth, padding: if it has labels, `[PAD]` is predicted with certainty, and with short texts that is most of the
# batch. Fifth, is it the training loss or the validation loss? With static masking and many passes over a small text
# the model learns it by heart. And are validation texts copies of training texts? Web text has many duplicates.
#
# The test that settles it: take a sentence that I write myself, mask one word by hand, and look at the prediction.
#
# </details>
#
# <!-- pretraining-12 -->
# **3. A batch has 256 texts of 128 tokens and V = 30,522. How do you make the masked-language-model head cheaper
# without changing the loss?**
#
# <details><summary>Answer in half a minute</summary>
#
# Select the vectors that have a label before the head: 15 % of the B · T rows. The scores shrink from 4.0 GB to 0.6
# GB in float32, and so do softmax and gradient. For Base that saves about a fifth of the forward pass, for a tiny
# model most of it. Loss and gradient don't change, since cross-entropy ignores the other rows.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The head has two parts: a D by D transform and a product with the embedding table, D by V. Its output has B · T · V
# numbers. With 256 · 128 · 30,522 that is one billion, 4.0 GB in float32. Cross-entropy makes a log-softmax of the
# same size, and the backward pass a gradient of the same size. So this one layer can take 12 GB, more than all layers
# of a small model together. And 85 % of it is thrown away: labels of -100 have no loss.
#
# The repair is one line. Take the last hidden states [B, T, D], select with the boolean mask of the labels, and get
# [N, D] with N about 4,900. Then head and cross-entropy on N rows. Same numbers, same loss, same gradient: rows
# without a label contribute exactly zero. Scores shrink to 0.6 GB.
#
# How much time? A layer has 7.1 million weights, twelve have 85. The head has 0.6 + 23.4 million, if it runs on all
# tokens. So the share of the head is 24 of 110, and 85 % of that is saved: about a fifth of the forward pass. For a
# tiny BERT with D = 128 and two layers the head is nearly everything, and it saves three quarters.
#
# Two details. Boolean selection has a size that depends on the data, so on TPUs and with some compilers people take a
# fixed number of predictions and gather indices, as Google's code does with `max_predictions_per_seq`. And the mean
# must be over labelled tokens, not over B · T, or the loss changes with the masking rate. If V is much larger,
# 250,000, even the selected rows are too many: then compute the loss in chunks or in a fused kernel.
#
# </details>
#
# ## Next
#
# This was the first of BERT's two training tasks. The second one asks whether one text follows another:
# [07 · Next sentence prediction](07_next_sentence_prediction.ipynb).
