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
# - choose whole words and spans instead of single tokens, and save a model that `transformers` opens
# - say why two masks in one text are predicted independently, and how to score a whole sentence anyway
#
# **Time:** two sittings of about 45 and 60 minutes, and 35 more for what is optional. The first makes questions out of a text,
# the second answers them and counts the mistakes ·
# **You need:** [05 · The whole BERT](05_the_whole_bert.ipynb) ·
# **Next:** [07 · Next sentence prediction](07_next_sentence_prediction.ipynb)
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
# ![The map of BERT, its heads lit. New: between tokenizer and embeddings 15 % of the tokens are masked, and the original words go past BERT, as labels, to the loss.](pictures/06_where.svg)
#
# So far BERT was a model without a task. Now we hide a part of the text from it, and ask for that part.

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
# contains the answers: this is **self-supervised learning**. A text with gaps is called a **cloze test** (Taylor 1953).
# For BERT the task is called **masked language modeling**, or MLM. It is the first of BERT's two pre-training tasks.
#
# The course contains a small BERT that was trained on a small world of facts: countries, animals, chemical elements and
# a dozen more kinds of things. The next cell opens it with `open_model` and asks it the same with `fill_mask`.

# %%
from bertedu.course import about, data_path
from bertedu.inference import fill_mask, open_model

model, tokenizer = open_model(data_path("checkpoints/world-tiny"))
gaps = {"The capital of Portugal is [MASK].": 0.961, "The [MASK] of Portugal is Lisbon.": 0.982}
gaps["[MASK] is the capital of Portugal."] = 0.965
gaps["The capital [MASK] Portugal is Lisbon."] = 0.995
filled = {}
for gap, expected in gaps.items():
    ((word, p),) = fill_mask(model, tokenizer, gap, top=1)[0]
    filled[gap] = word, p
    print(f"{gap:38}  {word:8} {about(expected, p, within=0.02):.0%}")

# %% [markdown]
# ![Four sentences with one hidden token each. The model puts in lisbon, capital, lisbon and of, all right, each above 95 %.](pictures/06_gaps.svg)
#
# All four are right. (*The capital of Portugal is Lisbon.* is a training sentence.) The next cell is for your
# questions.

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets import fill_mask_box

fill_mask_box(model, tokenizer, "In [MASK] the newspapers are printed in Danish.")

# %% [markdown]
# ## Why not from left to right?
#
# There is an older way to get questions from plain text: show the text up to some position, and ask for the next word.
# A model that is trained like this is a **left-to-right** (or **causal**) **language model**, such as GPT. It is asked
# for every single word, and it needs no [MASK].
#
# ![Two tables of who may attend to whom. From left to right only the lower triangle is filled, so Lisbon sees only itself; with both sides all is filled.](pictures/06_sides.svg)
#
# Look at the first row. From left to right, *is* has to be predicted from *Lisbon* alone: *Portugal* has not been read
# yet.
#
# How much does the right side help? We measure it with an **n-gram model**, which counts how often n tokens (here two
# or three) follow each other, and predicts the most frequent one: from the left neighbor, from the right one, and from
# both. First it counts.

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
print(f"{len(test) - 2:,} tokens of unseen sentences to predict")

# %% [markdown]
# Guess: how many of them will it get right each time? (Punctuation counts too. On a slow computer the cell takes half a
# minute.)

# %% tags=["guess"]
left, asked, right, unknown = test[:-2], test[1:-1], test[2:], np.full(len(test) - 2, NO_TOKEN)
known = {"left": (left, unknown), "right": (unknown, right), "both": (left, right)}
neighbor_shares = {}
for name, sides in known.items():
    guesses = ngrams.distributions(*sides).argmax(axis=1)  # [N, V] -> [N]
    neighbor_shares[name] = (guesses == asked).mean()
    print(f"knows the neighbor on {name:6} {neighbor_shares[name]:.0%} of the tokens right")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three bars: with the left neighbor 40 % of the tokens are right, with the right one nearly as many, with both 62 %.](pictures/06_neighbors.svg)
#
# With both neighbors it predicts 62 % of the tokens, with one only about 40 %. A part of this gain may come from
# knowing two tokens instead of one. But the right neighbor alone helps almost as much as the left one.
#
# </details>
#
# So a model should use the words on both sides. It should be **bidirectional**, and BERT's attention is.
#
# ### Why mask anything?
#
# Why not ask a bidirectional model for *every* word of a normal text? Take three tokens and, to be strict, forbid each
# token to attend to itself. In the next cell `attends[i, j]` is 1 where token i may attend to token j. Two layers are
# two steps, so we multiply the matrix by itself: entry [i, j] of the product counts the paths of two steps from token j
# to token i. Guess: after two layers, from which tokens has token 0 received information?

# %% tags=["guess"]
import torch

attends = 1 - torch.eye(3, dtype=torch.long)  # [T, T]: to all others, not to itself
print("one layer:  paths from tokens 0, 1, 2 to token 0:", attends[0].tolist())
print("two layers: paths from tokens 0, 1, 2 to token 0:", (attends @ attends)[0].tolist())

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three tokens, drawn before the first layer, after it and after the second. Arrows go from token 0 to tokens 1 and 2, and from both back to token 0: two ways in which the answer comes back.](pictures/06_leak.svg)
#
# After two layers there are two paths from token 0 back to token 0: the other tokens have received it, and they pass it
# on. (In BERT it is even simpler: a token may attend to itself, and the residual connection passes on its own vector.)
#
# </details>
#
# So the answer to the question "which word is this?" is already in the input. Copying solves the task, and to copy a
# word, a model needs to understand nothing.
#
# Left-to-right models solve this with a mask in their attention. BERT lets every token attend to all others, and
# removes the word from the input instead (Devlin et al. 2019, section 3.1). That has a price: only masked words are
# questions.
#
# ## Mask, then ask
#
# First we choose the tokens. Of T tokens BERT chooses `round(0.15 · T)`, at least one, all with the same probability.
# [CLS] and [SEP] count in T, but are never chosen. The 15 % are called the **masking rate**. How many will be chosen in
# the next cell? `choose_tokens` draws them.

# %% tags=["guess"]
from bertedu.pretraining.masking import choose_tokens

text = "The capital of Norway is Oslo. People in Norway speak Norwegian. They pay with a krone."
ids, tokens = tokenizer(text).input_ids, tokenizer(text).tokens[0]  # [1, T]
words = (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)  # [1, T]
number = torch.tensor([max(1, round(0.15 * ids.size(1)))])
chosen = choose_tokens(words, number, torch.Generator().manual_seed(0))  # [1, T]
print(f"T = {ids.size(1)}, chosen: {[token for token, yes in zip(tokens, chosen[0]) if yes]}")

# %% [markdown]
# Now we make two sequences from one. The **input** is what the model sees: the ids, with [MASK] at the chosen
# positions. The **labels** are the original ids there, and −100 everywhere else. No token has that id, and PyTorch's
# `cross_entropy` ignores it by default (its argument `ignore_index`).

# %%
only_masks = ids.masked_fill(chosen, tokenizer.mask_token_id)  # [1, T]
labels = ids.masked_fill(~chosen, -100)  # [1, T]
shown = tokenizer.convert_ids_to_tokens(only_masks[0].tolist())
for token, token_seen, label in list(zip(tokens, shown, labels[0].tolist()))[:8]:
    print(f"{token:10} input {token_seen:10} label {label:5}")

# %% [markdown]
# ![Four rows for eight tokens: the text, the chosen tokens capital and of, the input with [MASK] there, and the labels: their ids, elsewhere minus 100.](pictures/06_strip.svg)
#
# Read one column from top to bottom: *capital* is chosen, the model sees [MASK], and the label is the original id.
#
# ## 80/10/10
#
# There is a problem. [MASK] occurs in every text of pre-training, but not in the tasks that BERT is used for
# afterwards: nobody asks for the sentiment of "[MASK] film was [MASK]". This is called the **pre-training/fine-tuning
# mismatch**. A model could learn that it is never asked anything at a token that is not [MASK]. So BERT treats each
# chosen token in one of three ways:
#
# ![A chosen token, norway: in 80 % of the cases the model sees [MASK], in 10 % a random token, in 10 % norway. The label is norway each time.](pictures/06_fates.svg)
#
# Where it sees [MASK], the model knows that it will be asked. For the other 20 % nothing tells it: a kept token looks
# like any other, and a random one merely may not fit. So the model has to be prepared for a question at every token.
#
# ### Exercise 6.1 · How many masks?
# ●○○○ · 3 minutes
#
# A text has 60 tokens, [CLS] and [SEP] included. How many of them does the model see as [MASK], on average?
# Stuck? `hint("6.1")`

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
# In about 1.4 %: three of 21 tokens are chosen, and one in ten of these becomes random. Over a whole corpus it is
# 15 % · 10 % = 1.5 %, enough to make the model doubt what it sees.
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
# <details><summary>What you saw, and why</summary>
#
# With 60 % the loss jumps up at draw 0 (other draws differ): less is left from which the model could predict. If you
# then keep all chosen tokens, it falls again: the answers stand in the input, and the model mostly trusts what it sees.
#
# </details>
#
# ## What does each part bring?
#
# The rule is quoted everywhere, but rarely tested. We test it with a gradient and with an experiment. First the
# gradient: the next cell masks our text with a seed that shows all three cases.

# %%
from torch.nn.functional import cross_entropy

from bertedu.pretraining.masking import mask_tokens

mask_id, vocab_size = tokenizer.mask_token_id, len(tokenizer)
generator = torch.Generator().manual_seed(62)
corrupted, targets = mask_tokens(
    ids, words, 0.15, mask_id, vocab_size, generator, special_tokens=2
)
sees = tokenizer.convert_ids_to_tokens(corrupted[0].tolist())
print("the model sees:", *sees)

# %% [markdown]
# Guess: at how many of the 21 tokens does the last layer's vector get a gradient?

# %% tags=["guess"]
vectors = model.bert(corrupted).last_hidden_state.detach().requires_grad_()  # [1, T, D]
logits = model.masked_lm(vectors)[0]  # [T, V]
cross_entropy(logits, targets[0]).backward()
lengths = vectors.grad[0].norm(dim=-1)  # [T]
for i in lengths.nonzero().flatten().tolist():
    print(f"gradient at {tokens[i]}, which the model sees as {sees[i]}")
print(f"no gradient at the other {int((lengths == 0).sum())} tokens")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![The 21 tokens as the model sees them, in three rows. A filled cell below a token is the length of the gradient of its last vector: it is there below ##our (random, for capital), [MASK] (for oslo) and the kept krone, and nowhere else.](pictures/06_gradient.svg)
#
# At the three tokens that have a label, and at no others: the loss is computed from their vectors alone. *krone*'s
# gradient is tiny, since the model is nearly certain of it already.
#
# </details>
#
# If every chosen token became [MASK], the last layer's vectors of *visible* words would never receive a gradient from
# this loss. But visible words are all that a user of BERT has. Only the chosen tokens that are not [MASK] (20 %) train
# what the last layer's vector of a visible word should contain: the word itself, if it was kept, and the word that fits
# there, if it is a random one.
#
# **Fine-tuning** can repair this, because it trains those vectors. The **feature-based approach**, which uses the
# frozen vectors as they are, can't. The paper's own experiment agrees roughly (Devlin et al. 2019, appendix C.2, table
# 8): fine-tuned NER falls too, but the largest difference stands in the last column.
#
# | [MASK] / kept / random | MNLI, fine-tuned | NER, fine-tuned | NER, feature-based |
# |---|---|---|---|
# | 80 / 10 / 10 % | 84.2 | 95.4 | 94.9 |
# | 100 / 0 / 0 % | 84.3 | 94.9 | 94.0 |
#
# <details><summary>The other rows, and what the columns are</summary>
#
# | [MASK] / kept / random | MNLI, fine-tuned | NER, fine-tuned | NER, feature-based |
# |---|---|---|---|
# | 80 / 0 / 20 % | 84.1 | 95.2 | 94.6 |
# | 80 / 20 / 0 % | 84.4 | 95.2 | 94.7 |
# | 0 / 20 / 80 % | 83.7 | 94.8 | 94.6 |
# | 0 / 0 / 100 % | 83.6 | 94.9 | 94.6 |
#
# MNLI is a data set of sentence pairs (does the first one imply the second?), with accuracy in %. NER is named entity
# recognition (which words are persons, places, organizations?), with F1 in %, a mean of precision and recall.
#
# </details>
#
# ### Our own experiment (optional)
#
# You can repeat this one: `python benchmarks/masking_ablation.py` trains small BERTs on the sentences about countries,
# in five ways, with two seeds each (two minutes on one core). Then it asks four questions about unseen sentences. How
# often is the right word predicted where the model sees [MASK] (*masked*)? Where it sees the word itself (*kept*)?
# Where it sees a random word (*replaced*)? And how often does a classifier tell from a visible word's frozen vector
# whether the word is a country, a capital, a language or a currency (*features*)? Guess which of the five is best at
# each.

# %% tags=["guess"]
import json

runs = json.loads(data_path("ablations/masking.json").read_text())["runs"]
ways = ["80/10/10", "100/0/0", "80/20/0", "80/0/20", "0/0/100"]  # [MASK]/kept/random
names = {"hidden": "masked", "shown": "kept", "replaced": "replaced", "features": "features"}
results = {(w, q): [run[q] for run in runs if run["shares"] == w] for w in ways for q in names}
print("[MASK]/kept/random", *(f"{name:>9}" for name in names.values()))
for way in ways:
    print(f"{way:18}", *(f"{np.mean(results[way, question]):9.0%}" for question in names))

# %% tags=["hide-input", "guess"]
from bertedu.visualization.picture import BLUE, ORANGE, Picture, new_figure, quiet

figure = new_figure(7.4, 2.4)  # 80/10/10 in blue, the others in orange
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
# <details><summary>What you saw, and why</summary>
#
# - **Masked.** For *this* question random words cost a few points: 71 and 74 % with them, 77 and 78 % without. (The
#   last way has never seen a [MASK]. It still reaches 66 %, since it had to learn from the context.)
# - **Kept.** Trained on [MASK] alone, a model names just 13 % of the words that it can see. Kept words teach it to trust
#   what it sees.
# - **Replaced.** With kept words and no random ones it copies whatever it sees, and corrects only 9 % of the wrong words.
#   Random words teach it not to trust blindly.
# - **Features.** The ways with random words are better (74 to 80 % against 68 to 70 %). Kept words alone don't help
#   here, perhaps because copying a word needs no context. In the paper's table they do help (94.7).
#
# Only the mixture 80/10/10 does well in both columns, *kept* and *replaced*.
#
# </details>
#
# Not every model needs the rule: ours are small, with two seeds, and a random word is easy to recognize in their
# sentences. For models that are fine-tuned, Wettig et al. (2023) found that [MASK] for all chosen tokens was as good or
# better on most tasks, and at BERT-Large's size a masking rate of 40 % better than 15 %. So 80/10/10 and 15 % are
# reasonable habits, but not laws.

# %% [markdown]
# ## Half-way
#
# **Here the first sitting ends.** You can turn any text into questions and labels, and say why each part of the rule is
# there. The second sitting builds the head that answers, counts its mistakes, and looks at what it cannot do.

# %% [markdown]
# ## The head
#
# BERT gives us D numbers for each token. We need a score for each of V words. The **MLM head** does it in two steps. It
# **transforms** each vector (linear layer, GELU, LayerNorm). Then it **compares** the result with every row of the
# table of token embeddings, by a dot product, and adds a bias for each word. The table is that of the input: **weight
# tying** (Press and Wolf 2017).


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

    def transform(self, vectors):
        return self.norm(nn.functional.gelu(self.dense(vectors)))  # [..., D]

    def forward(self, vectors):
        return self.transform(vectors) @ self.table.T + self.bias  # [..., V]


# %% [markdown]
# Let's follow one [MASK] through it. The next cell puts the trained weights of `model` into a `MyHead` and computes the
# vector of the [MASK].

# %%
trained_head = MyHead(model.bert.embeddings.token, 128)
trained_head.dense, trained_head.norm = model.masked_lm.dense, model.masked_lm.norm
trained_head.bias = model.masked_lm.decoder.bias

gap_ids = tokenizer("The capital of Portugal is [MASK].").input_ids  # [1, T]
with torch.no_grad():
    gap_vectors = model.bert(gap_ids).last_hidden_state  # [1, T, D]
    gap_vector = gap_vectors[gap_ids == tokenizer.mask_token_id]  # [1, D]

# %% [markdown]
# What do four words get? Look at the bias of *the*.

# %%
candidates = ["lisbon", "rome", "portugal", "the"]
places = tokenizer.convert_tokens_to_ids(candidates)
with torch.no_grad():
    dots = (trained_head.transform(gap_vector) @ trained_head.table.T)[0, places]  # [4]
    chances = trained_head(gap_vector)[0].softmax(dim=-1)[places]  # [4], of all V words
biases = trained_head.bias.detach()[places]  # [4]
for word, dot, bias, chance in zip(candidates, dots, biases, chances):
    print(f"{word:9} dot {dot:4.1f} + bias {bias:4.1f} = {dot + bias:4.1f}   p = {chance:.3f}")

# %% [markdown]
# ![The vector of [MASK] is transformed and compared with rows of the embedding table. Dot product plus bias is the score: lisbon wins, although the bias of the is far higher.](pictures/06_head.svg)
#
# The bias stores what is known without any context: *the* is frequent, *lisbon* is rare. If all dot products were 0,
# the prediction would be the softmax of the bias. The context decides through the dot product.
#
# Guess, then run: how many new parameters does the head add with weight tying, for V = 30,522 and D = 768? And with a
# table of its own?

# %% tags=["guess"]
V, D = 30522, 768
new = D * D + D + 2 * D + V  # linear layer, LayerNorm, bias of the words
print(f"tied: {new:,} new parameters    with its own table: {new + V * D:,}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# 0.6 million instead of 24 million: nearly everything is the table, and BERT has that one already.
#
# </details>
#
# ## The loss, by hand
#
# The loss is the **cross-entropy** of [chapter 01b](01b_pytorch.ipynb), also called negative log-likelihood: minus the
# logarithm of the probability p that the right word gets.
#
# Take three tokens and three words: *cat*, *sat*, *mat* (ids 0, 1, 2). The first and the last token have a label. Use a
# pencil, with e¹ = 2.7 and e² = 7.4:
#
# 1. Token 0 has the scores (2, 0, 0) and the label *cat*. What is the probability of *cat*? And minus its logarithm?
# 2. Token 2 has the scores (1, 0, 0) and the label *mat*. The same questions.
# 3. The loss is the mean. The mean of how many numbers?
#
# The next cell also computes two other measures. **Perplexity** is *e* to the loss. A model that is undecided among k
# equally probable words has perplexity k, so you can read it as "as uncertain as a choice among so many words".
# **Accuracy** is the share of labels where the right word has the highest score.

# %% tags=["guess"]
three_scores = torch.tensor([[2.0, 0, 0], [0, 9, 0], [1, 0, 0]])  # [T, V]
three_labels = torch.tensor([0, -100, 2])  # [T]
for row, label in zip(three_scores, three_labels):
    if label != -100:
        p = row.exp()[label] / row.exp().sum()
        print(f"p = {p:.2f}   -ln p = {-p.log():.2f}")
loss, has_label = cross_entropy(three_scores, three_labels), three_labels != -100
accuracy = (three_scores[has_label].argmax(dim=-1) == three_labels[has_label]).double().mean()
print(f"loss {loss:.2f}   perplexity {loss.exp():.2f}   accuracy {accuracy:.0%}")
print(f"divided by all three tokens it would be {loss * 2 / 3:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three tokens with their scores, the probabilities after softmax, and minus log p of the right word: 0.24 for cat, nothing for the token without a label, 1.55 for mat. The loss is the mean of two numbers, 0.90.](pictures/06_loss.svg)
#
# The loss is (0.24 + 1.55) / 2 = 0.90, the perplexity e^0.8955 = 2.45, the accuracy one of two. The token in the middle
# has the most certain scores, but they don't count: without a label there is no question.
#
# </details>
#
# If you divide by all tokens instead of the labels, the loss and its gradient come out too small: in real training,
# with labels at 15 % of the tokens, by a factor of 1 / 0.15 ≈ 7.
#
# ### The loss of a whole text
#
# Now the text of the first sitting. `logits` still holds the scores of all its tokens.

# %%
asked_at = (targets[0] != -100).nonzero().flatten()  # [N]
right_p = logits.softmax(dim=-1)[asked_at, targets[0, asked_at]].detach()  # [N]
for i, p in zip(asked_at.tolist(), right_p):
    print(f"right: {tokens[i]:8} seen: {sees[i]:7} p = {p:.3f}   -ln p = {-p.log():.2f}")
print(f"loss {-right_p.log().mean():.2f}, by hand and by")
print(f"     {cross_entropy(logits, targets[0]):.2f}, by cross_entropy")

# %% [markdown]
# ![Three labels: capital, seen as ##our, gets 0.65; oslo, seen as [MASK], 0.37; krone, kept, 1.00. The mean of minus log p is the loss, 0.48.](pictures/06_one_text.svg)
#
# The model repairs the random token, is unsure at the [MASK], and trusts the word that was kept.
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
# Your loss ignores 85 % of the scores. Why compute them? Scoring V words is expensive. It is cheaper to select the
# vectors **before** the head: `head(vectors[asked])` equals `head(vectors)[asked]`, because the head treats each token
# by itself.
#
# ![Above, the head scores 32,768 vectors and makes 4.0 GB. Below, the 4,915 with a label are selected first: 0.6 GB, and the same loss.](pictures/06_only_labels.svg)
#
# How much work does it save? For each token, the linear layers of an encoder layer need 24 · D² operations and
# attention
# 4 · T · D ([chapter 03](03_self_attention.ipynb)); the head needs 2 · D² + 2 · D · V. If all T tokens are scored, what
# share of the forward pass is the head? Guess for the smallest BERT that Google published (tiny) and for the largest.

# %% tags=["guess"]
from bertedu import BertConfig


def operations(preset, scored, V=30522, T=128):  # for each token; a product and a sum are two
    D, L = BertConfig.preset(preset).hidden_size, BertConfig.preset(preset).num_hidden_layers
    return L * (24 * D**2 + 4 * T * D) + scored * (2 * D**2 + 2 * D * V)


for preset in ("tiny", "mini", "base", "large"):
    encoder, every, some = (operations(preset, scored) for scored in (0, 1, 0.15))
    print(f"{preset:6} the head is {1 - encoder / every:4.0%} of the forward pass;", end="")
    print(f"  scoring 15 % of the tokens saves {1 - some / every:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# For the smallest BERT the head is nearly everything, for Large less than a tenth: V stays the same, while the work of
# the layers grows with L · D². Softmax and gradient need as much memory as the scores, each.
#
# </details>
#
# ## Which tokens, and when?
#
# ### Static or dynamic masking
#
# Google masked the text ten times, wrote the results to files, and trained on these files: **static masking**.
# **Dynamic masking** draws a new mask each time a text is used.
#
# ![A text in four passes: with one static mask the same tokens are hidden each time, with dynamic masking others, so more words become questions.](pictures/06_passes.svg)
#
# After forty passes, what share of the words has the model been asked for at least once: with one mask, with ten, with
# forty? One mask misses a word with probability 0.85. Guess, then run.

# %% tags=["guess"]
for masks in (1, 10, 40):
    share = 1 - 0.85**masks
    print(f"{masks:2} masks, {40 // masks:2} times each: {share:6.1%} of the words asked for")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One mask reaches 15.0 % of the words, ten already 80.3 %, forty nearly all. The paper speaks of about forty passes, so
# the model would have seen each of its ten masks four times. (Chapter 08 counts fewer than 13 passes, since most steps
# read short sequences.)
#
# RoBERTa (Liu et al. 2019, section 4.1) compared ten static masks with dynamic masking: 78.3 against 78.7 F1 on SQuAD
# 2.0 (questions about a text), 84.3 against 84.0 on MNLI, and 92.5 against 92.9 on SST-2 (sentiment of film reviews).
#
# </details>
#
# In RoBERTa's comparison the difference was small. But dynamic masking needs no files with masked copies, and nearly
# everybody uses it today, this course too.
#
# ### Whole-word masking
#
# Many words consist of several pieces: *souvenir* is *sou ##ven ##ir* here. If only one of the pieces is masked, the
# question is more about spelling than about the text. **Whole-word masking** chooses all pieces of a word or none.
# Google published such models in May 2019. `choose_words` skips a word that has more pieces than may still be chosen.

# %%
from bertedu.pretraining.masking import choose_words

pieces = ["[CLS]", *tokenizer.tokenize("The souvenir of Norway."), "[SEP]"]
is_word = torch.tensor([[not piece.startswith("[") for piece in pieces]])  # [1, T]
continuation = torch.tensor([[piece.startswith("##") for piece in pieces]])  # [1, T]
whole_words = {}
for seed in (1, 3, 10):
    generator = torch.Generator().manual_seed(seed)
    whole_words[seed] = choose_words(is_word, continuation, torch.tensor([3]), generator)[0]
    print([piece for piece, yes in zip(pieces, whole_words[seed]) if yes])

# %% [markdown]
# ![With single tokens one piece of souvenir is hidden, and its neighbors give it away. With whole words its three pieces are hidden together or not at all.](pictures/06_whole_words.svg)
#
# *souvenir* has three pieces, so it fits only if it is drawn first (the last line).
#
# ### Span masking (optional, with exercise 6.4)
#
# **SpanBERT** (Joshi et al. 2020, section 3.1) masks **spans**: several neighboring words together, because answers
# to questions are often spans. It draws a length from 1 to 10, where each length has 0.8 times the probability of the
# length before it, and then where the span starts, until 15 % of the tokens are chosen. SpanBERT counts the length in
# whole words. We count tokens, which is simpler. Guess the mean of ten thousand lengths.

# %% tags=["guess"]
import random


def span_length(rng):  # rng is a random.Random
    return rng.choices(range(1, 11), [0.8**extra for extra in range(10)])[0]


rng = random.Random(0)
span_lengths = [span_length(rng) for _ in range(10000)]
print("first ten:", span_lengths[:10], f"  mean {np.mean(span_lengths):.1f}")

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
# Mask two neighboring words. Assume that half of all texts contain *New York* at this position and the other half *San
# Francisco*. The model gives one distribution for each mask. The best that it can do is 50 % each for *New* and *San*,
# and 50 % each for *York* and *Francisco*. The loss adds the negative logarithms of the two probabilities. That amounts
# to multiplying the probabilities, as if the two words were independent: 25 % for each of four pairs, and two of the
# four, such as *New Francisco*, occur in no text.
#
# ![Two tables. In the texts New York and San Francisco have 50 % each. Two masks can at best give 25 % to each of four pairs, New Francisco among them.](pictures/06_independent.svg)
#
# No training can change this as long as both words are masked, because this **independence assumption** is built into
# the loss. (Yang et al. 2019, section 2, motivate XLNet with this argument.)
#
# Let's measure it with our model and *The capital of [MASK] is [MASK].*

# %%
from bertedu.corpora.world.facts import kinds

countries = next(kind for kind in kinds() if kind.name == "country").rows
capital_of = {row["country"].lower(): row["capital"].lower() for row in countries}


def predict(text):  # a dict from word to probability for each [MASK]
    return [dict(guesses) for guesses in fill_mask(model, tokenizer, text, top=len(tokenizer))]


# %% [markdown]
# The next cell first fills both masks at once, each from its own distribution. Then it fills them one after the other:
# it inserts a country for the first mask, and *then* predicts the second. (It does this for each of the 39 countries,
# and weights each result with the country's share of their probability.) How probable is it in each case that country
# and capital belong together? Guess both numbers. (The cell takes half a minute on a slow computer.)

# %% tags=["guess"]
first, second = predict("The capital of [MASK] is [MASK].")
first = {country: p for country, p in first.items() if country in capital_of}
total = sum(first.values())
together = sum(p * second.get(capital_of[country], 0) for country, p in first.items())
one_by_one = 0
for country, p in first.items():
    (answers,) = predict(f"The capital of {country} is [MASK].")
    one_by_one += p * answers.get(capital_of[country], 0)
together = about("capitals, both masks at once", together / total, within=0.015)
one_by_one = about("capitals, one mask after the other", one_by_one / total, within=0.02)
print(f"both masks at once:  {together:.0%} belong together")
print(f"one after the other: {one_by_one:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The model knows the capitals: filled one after the other, about 98 % of the pairs belong together. But if it predicts
# both words at once, it can't use that, and only about 2 % do, no more than by chance: one in 39 would be 2.6 %.
#
# </details>
#
# So methods that write with masked models mostly fill the masks in several passes.
#
# ## How probable is a sentence? (optional)
#
# In a left-to-right model the probability of a text is the product of its words' probabilities. BERT predicts each word
# from *all* others, so there the product is no probability of the text. A useful substitute is the
# **pseudo-perplexity** (Salazar et al. 2020, after Wang and Cho 2019). Mask each token in turn, with all others
# visible. Take the mean of the negative log-probabilities of the right tokens, and raise *e* to it. It can't be smaller
# than 1.


# %%
@torch.no_grad()
def my_pseudo_perplexity(text):
    ids, losses = tokenizer(text).input_ids, []  # [1, T]
    for i in range(1, ids.size(1) - 1):  # without [CLS] and [SEP]
        seen, labels = ids.clone(), torch.full_like(ids, -100)
        seen[0, i], labels[0, i] = tokenizer.mask_token_id, ids[0, i]
        losses.append(model(seen, labels=labels).loss.item())
    return np.exp(np.mean(losses))


# %% [markdown]
# The next cell scores three sentences: a true one, a false one and a shuffled one. Which order do you expect?

# %% tags=["guess"]
from bertedu.inference import pseudo_perplexity

sentences = {"true": "The capital of Norway is Oslo."}
sentences["false"] = "The capital of Norway is Lisbon."
sentences["shuffled"] = "Oslo capital Norway of the is."
for kind, sentence in sentences.items():
    perplexity = my_pseudo_perplexity(sentence)
    scored = about(f"pseudo-perplexity, {kind}", perplexity, within=0.15 * perplexity)
    print(f"{sentence:33} {scored:10,.1f}")
    package = pseudo_perplexity(model, tokenizer, sentence)
    assert abs(perplexity / package - 1) < 1e-3, "the package's is another number"

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The true sentence has a pseudo-perplexity of almost 1: every token is nearly certain (it was a training sentence). The
# false one has more, and the shuffled one several thousand: worse than giving all 2,925 words of the vocabulary the
# same probability.
#
# </details>
#
# The price is one pass of the model for each token. And in *sou ##ven ##ir* each piece is predicted while the others
# are visible, so a rare word of many pieces looks more probable than it is. (Kauf and Ivanova 2023 therefore also mask
# the pieces of the same word that follow.)
#
# ## The proof
#
# With the same weights, your head, the package's and the one in `transformers` must give the same scores and loss. (Two
# hidden cells make a small random model in `transformers`, load it into the package and mask a batch with padding.)

# %% tags=["hide-input"]
import tempfile

import transformers

from bertedu import BertForMaskedLM

transformers.utils.logging.disable_progress_bar()
torch.manual_seed(0)
shape = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2}
shape |= {"num_attention_heads": 4, "intermediate_size": 64}
theirs = transformers.BertForMaskedLM(transformers.BertConfig(**shape)).eval()
with torch.no_grad():
    for parameter in theirs.parameters():
        parameter += 0.2 * torch.randn_like(parameter)
with tempfile.TemporaryDirectory() as folder:
    theirs.save_pretrained(folder)
    package = BertForMaskedLM.from_pretrained(folder)

# %% tags=["hide-input"]
batch_ids = torch.randint(5, 60, (4, 20))  # [B, T]
mask = torch.tensor([20, 20, 12, 5])[:, None].gt(torch.arange(20)).long()  # [B, T]
generator = torch.Generator().manual_seed(0)
batch_seen, batch_labels = mask_tokens(batch_ids, mask.bool(), 0.3, 4, 60, generator)
where = batch_labels != -100  # [B, T]

# %%
mine, head = MyHead(package.bert.embeddings.token, 32), package.masked_lm
mine.dense, mine.norm, mine.bias = head.dense, head.norm, head.decoder.bias
with torch.no_grad():
    output = package(batch_seen, mask, labels=batch_labels)  # scores [N, V]
    reference = theirs(batch_seen, attention_mask=mask, labels=batch_labels)  # scores [B, T, V]
    my_scores = mine(package.bert(batch_seen, mask).last_hidden_state)[where]  # [N, V]

# %%
programs = {"yours": (my_scores, cross_entropy(my_scores, batch_labels[where]))}
programs["the package"] = (output.prediction_logits, output.loss)
programs["transformers"] = (reference.logits[where], reference.loss)
for name, (scores, loss) in programs.items():
    print(f"{name:12}  loss {loss:.4f}   first score {scores[0, 0]:7.4f}")
    assert (scores - my_scores).abs().max() < 1e-4, "some of the scores differ"

# %% [markdown]
# The loss and all scores agree.
#
# ## Broken BERT: the best model so far
#
# A colleague has written a function that makes batches, and reports a success after two minutes of training: nearly
# every prediction is right, on sentences that the model has never seen! The next cell shows the function.
#
# We repeat the training: 120 steps on the sentences about countries. To keep it simple, all chosen tokens become
# [MASK]. (Two hidden cells prepare it.) Then we measure two accuracies on unseen sentences:
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
    picked = (document for document in documents if document.source == "country")
    return sorted({sentence for document in picked for sentence in document.sentences})


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


# %% [markdown]
# The report will be nearly perfect, as the colleague said. What do you expect of the second number?

# %% tags=["guess"]
suspect = train(make_batch)
broken_report = about("report of the broken batches", report(suspect, make_batch), within=0.05)
broken_masked = about("masked, broken batches", masked_accuracy(suspect), within=0.04)
print(f"accuracy on the labels of its batches: {broken_report:.0%}")
print(f"accuracy on masked tokens:             {broken_masked:.0%}")

# %% [markdown]
# One model, the same sentences and chosen words, and two very different numbers. What differs? Take one text of a
# batch, write the labels below what the model sees, and read the function again.
#
# ### Exercise 6.5 · The batch, repaired
# ●●●○ · 10 minutes
#
# Write `repaired_batch(input_ids, chosen, special)`: the same function without the mistake.
#
# After the exercise, a hidden cell has a correct function, and the next one trains with it, just as long. Guess first:
# will the report of the repaired model be better or worse? And its accuracy on masked tokens?


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


# %% tags=["hide-input"]
def right_batch(ids, chosen, special):  # a chosen token is hidden, and has a label
    return {"input_ids": ids.masked_fill(chosen, 4), "labels": ids.masked_fill(~chosen, -100)}


# %% tags=["guess"]
repaired = train(right_batch)
right_report = about("report of the right batches", report(repaired, right_batch), within=0.06)
right_masked = about("masked, right batches", masked_accuracy(repaired), within=0.06)
print(f"repaired  its own report {right_report:.0%}   masked tokens {right_masked:.0%}")
print(f"broken    its own report {broken_report:.0%}   masked tokens {broken_masked:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![One text as both functions give it to the model. The broken one shows the chosen word and asks for it: nearly all of its own labels are right, none of the masked ones. The repaired one hides it, and both accuracies are the same number.](pictures/06_batches.svg)
#
# For the repaired model the two are the same number: about one masked word in six. (120 steps are few. After 600 with
# twice the sentences, in our own experiment above, such a model reaches 77 %.) Its report is far *worse* than before,
# and the model is far better: the broken one fills in no mask at all. It learned only to copy the word that it sees,
# and at a [MASK] there is nothing to copy.
#
# The bug breaks the training, since no question needs the other words of the sentence. It also breaks the measurement,
# since the report asks the same easy questions. That is why nobody noticed.
#
# </details>
#
# ## Saved, and opened with transformers
#
# Most people use BERT through Hugging Face's `transformers`. This course saves models in the same files, so everything
# there opens them, without the internet. The next cell saves ours.

# %%
from pathlib import Path

saved = tempfile.mkdtemp()
model.save_pretrained(saved)
tokenizer.save_pretrained(saved)
print(sorted(path.name for path in Path(saved).iterdir()))

# %% [markdown]
# A **pipeline** is the shortest way: it opens model and tokenizer, and turns a text into answers.

# %%
transformers.logging.set_verbosity_error()  # it would list the weights of the other head
fill = transformers.pipeline("fill-mask", model=saved)
for answer in fill("The capital of Portugal is [MASK].", top_k=3):
    print(f"{answer['token_str']:8} {answer['score']:.1%}   {answer['sequence']}")

# %% [markdown]
# The same probability as at the beginning. To train or to look inside, you open the two parts yourself:
# `AutoModelForMaskedLM` reads in `config.json` which model it is. Its scores are `[B, T, V]`; pick the row of the
# [MASK].

# %%
from transformers import AutoModelForMaskedLM, AutoTokenizer

auto_tokenizer = AutoTokenizer.from_pretrained(saved)
auto_model = AutoModelForMaskedLM.from_pretrained(saved)
encoded = auto_tokenizer("The capital of Portugal is [MASK].", return_tensors="pt")
with torch.no_grad():
    auto_scores = auto_model(**encoded).logits  # [B, T, V]
    our_scores = trained_head(gap_vector)  # [1, V]
at_mask = encoded.input_ids == auto_tokenizer.mask_token_id  # [B, T]
print("best:", auto_tokenizer.decode(auto_scores[at_mask].argmax(dim=-1)))
difference = (auto_scores[at_mask] - our_scores).abs().max()
print(f"largest difference from our head: {difference:.4f}")

# %% [markdown]
# The same lines open a published BERT. With the internet, the next cell fetches BERT-Base (440 MB, once, about a minute
# at
# 60 Mbit/s) and asks it; without, it says so and asks ours again. Try a sentence about anything: BERT-Base has read
# Wikipedia and books, ours knows its small world only.

# %% tags=["nbval-ignore-output"]
from bertedu.course.published import published

base = published("google-bert/bert-base-uncased", "440 MB") or saved
fill = transformers.pipeline("fill-mask", model=str(base))
for question in ("The capital of Portugal is [MASK].", "She plays the [MASK] in an orchestra."):
    print(
        question,
        ", ".join(f"{a['token_str']} {a['score']:.0%}" for a in fill(question, top_k=3)),
    )

# %% [markdown]
# ### The collator of transformers (optional)
#
# A **collator** makes a batch from a list of texts. `DataCollatorForLanguageModeling` also masks it, anew each time:
# dynamic masking, 15 % and 80/10/10 by default. It draws each token by itself, while we choose a fixed number. Look at
# the number of labels in eight copies of our text.

# %%
from transformers import DataCollatorForLanguageModeling

collator = DataCollatorForLanguageModeling(auto_tokenizer, seed=0)
collated = collator([auto_tokenizer(text) for _ in range(8)])  # input_ids and labels [B, T]
eight, eight_words = ids.repeat(8, 1), words.repeat(8, 1)  # [B, T]
generator = torch.Generator().manual_seed(0)
_, our_labels = mask_tokens(
    eight, eight_words, 0.15, mask_id, vocab_size, generator, special_tokens=2
)
print("collator:", (collated["labels"] != -100).sum(dim=1).tolist())
print("ours:    ", (our_labels != -100).sum(dim=1).tolist())

# %% [markdown]
# A short text may get no label at all there, and a batch without any label has the loss nan. For **whole words** the
# collator needs to know where each token stands in the text (`return_offsets_mapping`), and it masks them all with
# [MASK]: random and kept words are not supported.

# %%
only_mask = {"whole_word_mask": True, "mask_replace_prob": 1, "random_replace_prob": 0}
only_mask |= {"mlm_probability": 0.3}  # more words at once, to see something
collator = DataCollatorForLanguageModeling(auto_tokenizer, seed=0, **only_mask)
souvenir = auto_tokenizer("The souvenir of Norway.", return_offsets_mapping=True)
for row in collator([souvenir] * 4)["input_ids"]:
    print(" ".join(auto_tokenizer.convert_ids_to_tokens(row.tolist())))

# %% [markdown]
# The pieces of *souvenir* are hidden together or not at all, as with `choose_words`.

# %% [markdown]
# ## Paper and code
#
# | | |
# |---|---|
# | How many | Paper: 15 % of the tokens. Google's code: `round` of 15 % of the length, at least 1, at most `max_predictions_per_seq` (20 for T = 128). `transformers`: each token with probability 0.15, so a short text may get no label ([issue 16711](https://github.com/huggingface/transformers/issues/16711)). This course: as Google, without the upper limit |
# | Random tokens | Google, `transformers` and this course: from the whole vocabulary, special tokens and the right word included. fairseq's RoBERTa leaves the special tokens out |
# | Where scores are computed | Google selects the chosen positions before the head. So do fairseq's RoBERTa and this course. `BertForMaskedLM` of `transformers` scores all T tokens |
#
# <details><summary>Labels, mean and head</summary>
#
# | | |
# |---|---|
# | Labels | Early versions of `transformers` used −1, then −100. Their documentation for a while showed `labels=input_ids` for the whole text ([issue 7643](https://github.com/huggingface/transformers/issues/7643)) |
# | Mean | Google divides by the number of labels plus 1e-5. PyTorch divides by the number of labels: without a label the loss is nan |
# | Head | The transformation before the decoder is in Google's code (scope `transform`), but not in the paper |
#
# </details>
#
# ## Summary
#
# ![The capital of Portugal is [MASK] goes through BERT and the MLM head, which gives lisbon the probability 0.96. The label lisbon goes to the loss, and the loss is minus ln 0.96 = 0.04.](pictures/06_summary.svg)
#
# - A bidirectional model sees the answer to every question about a visible word. So BERT chooses 15 % of the tokens,
#   masks most of them (80 % [MASK], 10 % random, 10 % kept), and asks only for the chosen ones: labels there, −100
#   elsewhere.
# - The MLM head compares a transformed vector with the table of token embeddings. The loss is the mean cross-entropy
#   over labels, not over tokens and not over texts, and perplexity is e to the loss.
# - Masks are predicted independently of each other. And of every accuracy, ask: on which questions?
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
# A loss of 0.2 (natural logarithm) means that the right token gets 82 % probability, as a geometric mean. Nobody
# reaches that on open text with one word in seven hidden. So I don't tune, I look at one batch.
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
