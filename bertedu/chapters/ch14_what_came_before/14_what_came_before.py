# %% [markdown]
# # 14 · What came before
#
# BERT did not come out of nothing. You will meet the five models that it grew out of, train each of them for some
# seconds, and ask all five the same questions as a BERT whose vectors are as long.
#
# ## What you will be able to do
#
# - write the loss of word2vec, and say what GloVe and fastText do differently
# - fill a gap with two language models, as in ELMo, and say which assumption that needs
# - make BERT's layers read from the left only, as in GPT, and detect that the mask is missing
# - show what pre-training and fine-tuning changed in 2018, with a run and with the published figures
# - compare six models fairly, and report also what speaks against the story
#
# **Time:** two sittings of about 45 and 70 minutes, and 5 more for what is optional ·
# **You need:** [05 · The whole BERT](05_the_whole_bert.ipynb) and
# [06 · Masked language model](06_masked_language_model.ipynb), best after
# [13 · Pairs, similarity and summaries](13_pairs_and_similarity.ipynb) ·
# **Next:** [15 · RoBERTa and SpanBERT](15_roberta_and_spanbert.ipynb)
#
# Six cells train small models, for 2 to 12 seconds each.
#
# ## Recall
#
# 1. A semantic search compares a question with a million texts. Why a bi-encoder, and not a cross-encoder?
#
# <details><summary>Answer</summary>
#
# The bi-encoder computes each text's vector once, in advance. For a question it needs one pass of BERT and a million
# dot products. The cross-encoder needs a million passes.
#
# </details>
#
# 2. What are the negatives in contrastive learning (InfoNCE), and what are they good for?
#
# <details><summary>Answer</summary>
#
# The other texts of the batch, which don't belong to the sentence. Without them the loss would be smallest if all
# vectors were equal.
#
# </details>
#
# 3. Which baseline should every comparison of two texts report?
#
# <details><summary>Answer</summary>
#
# Word overlap: how many words the two texts share. If a model isn't better than that, it hasn't learned more than that.
#
# </details>
#
# ## Where this part sits
#
# ![Timeline: word2vec 2013, GloVe 2014, fastText 2016 with one vector for each word; 2018 ELMo, two LSTMs; GPT, left side; BERT, both sides at once. The last two are fine-tuned.](pictures/14_timeline.svg)
#
# (The **Transformer** itself, Vaswani et al. 2017, stands between fastText and ELMo.)
#
# ## The problem: words are only numbers
#
# A vocabulary gives each word an id. As a vector that is **one-hot**: a 1 at the word's own position, 0 everywhere
# else. The next cell makes the text of this chapter (the small world, and 6,000 sentences about **agreement**, such
# as *the harps near the cow are wet*), and prints the cosine between one-hot vectors of three words. All models of
# this chapter read whole words.
#
# The first lines choose where to compute. On a GPU these small models gain little, because each of their steps is too
# short to fill it. (The pictures show a run on a processor.)

# %%
import torch
from torch.nn.functional import cosine_similarity, one_hot

from bertedu.training.devices import choose_device

device = torch.device(choose_device("auto"))  # cuda or mps where torch finds one, else cpu

# %%
from bertedu.before.text import agreement_sentences
from bertedu.before.words import whole_words
from bertedu.corpora.world import world_corpus
from bertedu.course import about, check, data_path, hint, quiz

about_agreement = agreement_sentences(6000)
corpus = world_corpus()
sentences = [*dict.fromkeys(corpus.train_sentences()), *about_agreement]
tokenizer = whole_words(sentences)
V = len(tokenizer)
three = torch.tensor([tokenizer.vocab[word] for word in ("horse", "donkey", "paris")])
horse, donkey, paris = one_hot(three, V).float()  # [V] each
print(f"{len(sentences):,} sentences, V = {V}. For example: {sentences[-1]}")
print(f"horse and donkey {cosine_similarity(horse, donkey, dim=0):.0f}", end=", ")
print(f"horse and paris {cosine_similarity(horse, paris, dim=0):.0f}")

# %% [markdown]
# ![Horse, donkey and Paris each have their 1 at another position: all dot products are 0, all words equally far.](pictures/14_one_hot_vectors.svg)
#
# Whatever a classifier learns about *horse*, it learns nothing about *donkey*. Can we get better vectors from text
# alone, without labels? The idea behind all that follows is the
# **distributional hypothesis** (Harris 1954, Firth 1957): words that occur in the same contexts mean similar things.
#
# ## The same questions for all
#
# The folder `bertedu/before/` has each model in a file of its own. `benchmarks/before.py` trained them and a BERT on
# the same text, each for 60 seconds of processor time, with vectors of 64 numbers, three random seeds, and the learning
# rate with its lowest loss on held-out sentences.
#
# <details><summary>What is not equal</summary>
#
# In a minute ELMo makes 1,100 steps and GloVe 28,000. fastText has 1.5 million weights, because of its table of
# pieces, ELMo 0.34 million, the others 0.2 million. GPT has its LayerNorms in front of each part. BERT masks 30 % of
# the words, and begins with an initialization made for short runs, as in `bertedu pretrain`. With the published one
# it waits longer on a **plateau**: on the sentences about agreement alone it is still near 50 % after 500 steps, and
# at 100 % after 1,000.
#
# </details>
#
# The next cell defines `show`. It prints a question, in square brackets the baselines, and below it the six models:
# the mean of three runs in percent, in brackets the lowest and the highest.

# %%
import json

recorded = json.loads(data_path("before/results.json").read_text(encoding="utf-8"))
MODELS = list(dict.fromkeys(run["model"] for run in recorded["runs"]))


def found(name, question):  # three runs, in percent
    answers = [run["answers"] for run in recorded["runs"] if run["model"] == name]
    return [100 * answer[question] for answer in answers if question in answer]


def show(*questions):
    print(*(f"{name:>14}" for name in MODELS))
    for question in questions:
        runs = [found(name, question) for name in MODELS]
        cells = [f"{sum(r) / 3:.0f} ({min(r):.0f}–{max(r):.0f})" if r else "-" for r in runs]
        simple = {n: a[question] for n, a in recorded["baselines"].items() if question in a}
        print(question, *(f"[{n} {100 * value:.0f}]" for n, value in simple.items()))
        print(*(f"{cell:>14}" for cell in cells))


# %% [markdown]
# | question | what is asked |
# |---|---|
# | neighbours | of the five nearest words, how many are of the same kind (both animals, both months, …)? One vector for each word: of ELMo, GPT and BERT the one that goes into the first layer |
# | senses | is this *bank* the one with money, or the one of a river? The nearer of two mean vectors decides, each from sentences whose sense is known; a tie counts one half |
# | agreement | *the harps near the cow* [MASK] *wet*: *is* or *are*? The nouns between subject and verb always have the other number (**attractors**) |
# | facts, words | which of all words fills this gap? For word vectors the one that fits all words near the gap best |
# | topics, judged agreement | a linear classifier on the vectors, which stay as they are (**frozen**) |
#
# <details><summary>The baselines in square brackets</summary>
#
# | baseline | what it does |
# |---|---|
# | chance | it guesses |
# | counting | vectors from a table of counts, without training (below); gaps by a naive Bayes over the words around |
# | bag of words | each word is a direction of its own |
# | most frequent | it always says the most frequent word |
# | n-gram on both sides | it fills a gap by the word before and the word after it, from counts |
# | letters | it compares words by the character n-grams that they share |
#
# </details>
#
# ## word2vec: a word is known by its neighbors
#
# **word2vec** (Mikolov et al. 2013) learns from pairs. Each word of the text is the **center** once, and the words
# around it, up to a **window** of w positions away, are its **contexts**. We build **skip-gram**, which predicts the
# contexts from the center. (Its sister **CBOW** does it the other way round.)
#
# ![The sentence deer eat grass with a window of 1: each word is the center once, and its neighbors are its contexts, which gives four pairs.](pictures/14_pairs_of_a_sentence.svg)
#
# ### Exercise 14.1 · Count the pairs
# ●○○○ · 4 minutes
#
# How many pairs (center, context) does *the cat sat on the mat* give, with a window of 2? (`check` examines your
# answer, and `hint("14.1")` gives a hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
pairs = 18
### END SOLUTION
check("14.1", pairs)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Five neighbors at distance 1 and four at distance 2 are nine, and each gives two pairs. By centers: 2, 3, 4, 4, 3, 2.
#
# </details>

# %% [markdown]
# Each word has two vectors: v as a center, and u as a context. The model should give a high dot product u·v to pairs
# of the text. That alone would be easy: make all vectors equal and long. So we need **negatives**: for each true pair
# we draw K random words n and ask for a low n·v. This is **skip-gram with negative sampling**:
#
# $$-\log\sigma(u\cdot v)-\sum_{k=1}^{K}\log\sigma(-n_k\cdot v)$$
#
# ![A true pair and two random ones. Dot products of 0 cost 0.69 each; 3 for the true pair and minus 3 for the others cost 0.05 each.](pictures/14_negative_samples.svg)
#
# At the beginning all three probabilities are ½, so the loss is 3 · ln 2 = 2.08; with five negatives, as below, it is
# 6 · ln 2 = 4.16.
#
# ### Exercise 14.2 · The loss of skip-gram
# ●●○○ · 12 minutes
#
# Write `negative_sampling_loss(center, context, negatives)` for vectors of shape `[P, D]`, `[P, D]` and `[P, K, D]`.
# Return the mean over the P pairs. It must stay finite for large dot products too.


# %% tags=["exercise"]
def negative_sampling_loss(center, context, negatives):
    ### BEGIN SOLUTION
    positive = (center * context).sum(dim=-1)  # [P]
    negative = (center[:, None] * negatives).sum(dim=-1)  # [P, K]
    log_sigmoid = torch.nn.functional.logsigmoid
    return -(log_sigmoid(positive) + log_sigmoid(-negative).sum(dim=-1)).mean()
    ### END SOLUTION


check("14.2", negative_sampling_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# K + 1 yes-or-no questions for each pair, added up. `logsigmoid` computes sigmoid and logarithm together; one after the
# other, log(0) comes out for a dot product of −200.
#
# </details>

# %% [markdown]
# Three details matter in practice. Each center draws its own window, from 1 to w, so that near words count more.
# Negatives are drawn from the word counts to the power ¾, so that rare words come up more often. And
# frequent words are left out at random (**subsampling**): a word that is a share f of the text is kept with the
# probability √(t / f), at most 1. With t = 0.001 *the*, 15.1 % of our text, is kept with √(0.001 / 0.151) = 0.08. The
# next cell prints the last two for three words. The one after it trains for 600 steps, with w = 5.

# %%
from bertedu.before.training import skipgram_losses, train
from bertedu.before.word2vec import SkipGram
from bertedu.before.words import flat, keep_probabilities, nearest_words, noise_distribution

words, numbers = flat(sentences, tokenizer)  # the words of all sentences, and their sentences
counts = torch.bincount(words, minlength=V)
keep, noise = keep_probabilities(counts), noise_distribution(counts)
for word in ("the", "horse", "kitten"):
    i = tokenizer.vocab[word]
    print(f"{word:7} {counts[i] / counts.sum():.4f} of the text, kept {keep[i]:.2f}", end=", ")
    print(f"{noise[i]:.4f} of the negatives")

# %%
torch.manual_seed(0)
word2vec = SkipGram(V, 64).to(device)
losses = skipgram_losses(word2vec, words, numbers, torch.Generator().manual_seed(0))
train(word2vec, losses, learning_rate=0.02, steps=600)
print(f"loss {about(1.65, next(losses).item(), within=0.3):.2f}, at the beginning", end=" ")
print(f"{6 * torch.tensor(2.0).log():.2f}")

# %% [markdown]
# Which words are nearest now? (They differ a little from machine to machine.) Pay attention to *bank* and *spring*.

# %% tags=["nbval-ignore-output"]
vectors = word2vec.word_vectors().cpu()  # [V, D]
nearest = {}
for word in ("january", "horse", "paris", "bank", "spring"):
    ids = nearest_words(vectors, vectors[tokenizer.vocab[word]][None], 6)[0]
    nearest[word] = tokenizer.convert_ids_to_tokens(ids[1:])  # the first is the word itself
    print(f"{word:8}", *nearest[word])
months = "february march april may june july august september october november december"
assert len(set(nearest["january"]) & set(months.split())) >= 3

# %% [markdown]
# ![Cosines of horse, cow, Paris and Rome: one-hot 0; after word2vec the animals are close to each other, and so are the cities.](pictures/14_nearer.svg)
#
# Nobody told the model what an animal is. Did it have to be trained for that? The baseline **counting** is not. It
# counts which words stand near each other, takes the logarithm of how much more often they do so than by chance
# (**pointwise mutual information**, PMI) where it is positive, and reduces that table to 64 columns with a **singular
# value decomposition**. Guess before you run the cell: of the five nearest words, what share is of the same kind, for
# word2vec and for counting?

# %% tags=["guess"]
show("neighbours")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With word2vec about four of five, with counting nearly all: the baseline wins without any training. With vectors that
# are long enough, and negatives drawn by the plain counts, word2vec's optimum is such a table anyway, the PMI less
# log K (Levy & Goldberg 2014; the interview question below derives it).
#
# </details>
#
# (Word vectors became famous for **analogies**: king − man + woman lies near queen. Our text is too small for them.)
#
# ## GloVe: count first
#
# **GloVe** (Pennington et al. 2014) begins with the counts. x is how often two words stand near each other, where each
# time counts 1 / distance. Then vectors and biases are fitted so that w·w′ + b + b′ is close to log x. A pair's squared
# error has the weight (x / x_max)^¾, at most 1, where x_max is one hundred: rare pairs may be chance.

# %%
from bertedu.before.glove import cooccurrences, weighting

short = ["deer eat grass", "horses eat grass"]
few = whole_words(short)
near, x = cooccurrences(*flat(short, few), len(few), window=10)
for (one, other), count, weight in zip(near.tolist(), x, weighting(x)):
    if one < other:
        print(*few.convert_ids_to_tokens([one, other]), f"x = {count:.1f}, weight {weight:.3f}")

# %% [markdown]
# ![Two sentences become a table of counts. Deer and horses never meet, but their rows are the same.](pictures/14_counts_of_glove.svg)
#
# GloVe has no term at all for *deer* and *horses*. Their vectors become similar because their rows are.
#
# ## fastText: the pieces of a word
#
# What is the vector of *horses*, if training has never shown this word? word2vec and GloVe have none. **fastText**
# (Bojanowski et al. 2017) cuts each word into its **character n-grams** and gives a vector to each of them. The vector
# of a word is their mean, together with a vector for the word itself. The loss is that of word2vec.
#
# ### Exercise 14.3 · The pieces of a word
# ●●○○ · 8 minutes
#
# Write `pieces_of(word)`: mark the word with < and >, and return a list of all runs of 3 to 6 characters of the marked
# word, in any order. A piece that occurs twice stands twice in the list. *cow* becomes `<cow>` and has 6 pieces: `<co`,
# `cow`, `ow>`, `<cow`, `cow>` and `<cow>`.


# %% tags=["exercise"]
def pieces_of(word):
    ### BEGIN SOLUTION
    marked = f"<{word}>"
    lengths = range(3, min(6, len(marked)) + 1)
    return [marked[i : i + n] for n in lengths for i in range(len(marked) - n + 1)]
    ### END SOLUTION


check("14.3", pieces_of)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A run of n characters can begin at len(marked) − n + 1 positions. Thanks to the marks, `<cow` is a beginning and
# `cow>` an ending, while `cow` can stand anywhere in a word.
#
# </details>

# %% [markdown]
# ![The pieces of cow and of the unseen cows: three are in common, so cows begins near cow.](pictures/14_shared_pieces.svg)
#
# All pieces share a table of fixed size: a hash function gives each piece its row. The benchmark never shows eight
# plurals, such as those of some animals. It asks fastText for their vectors: is the singular the nearest word? And
# are the next five of the same kind? The baseline "letters" has no training: it compares words by the pieces that
# they have in common. Guess: which of the two is better at the first question, and which at the second?

# %% tags=["guess"]
show("unseen words, singular first", "unseen words, neighbours")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Letters alone find the singular every time, and then words that are merely spelled alike. fastText misses one of the
# eight singulars, but more than half of its next words are of the same kind. So its pieces have learned something
# about meaning, too.
#
# </details>
#
# BERT's WordPiece has the same purpose, with pieces that don't overlap ([chapter 01](01_wordpiece_tokenizer.ipynb)).
#
# ### GloVe and fastText, trained (optional)
#
# The next cell trains both on our sentences, as word2vec above (up to half a minute on a slow computer). Guess: which
# words does GloVe put beside *january*, and fastText beside *kittens* and *norwegians*, which training never shows?

# %%
from bertedu.before.fasttext import FastText
from bertedu.before.glove import Glove
from bertedu.before.training import glove_losses

torch.manual_seed(0)
glove = Glove(V, 64).to(device)
losses = glove_losses(glove, words, numbers, torch.Generator().manual_seed(0))
train(glove, losses, learning_rate=0.02, steps=600)
fasttext = FastText(tokenizer.convert_ids_to_tokens(list(range(V))), 64).to(device)
losses = skipgram_losses(fasttext, words, numbers, torch.Generator().manual_seed(0))
train(fasttext, losses, learning_rate=0.05, steps=300)


# %% tags=["guess", "nbval-ignore-output"]
def five_nearest(table, vector):
    return tokenizer.convert_ids_to_tokens(nearest_words(table, vector[None], 5)[0])


for name, model in (("GloVe", glove.cpu()), ("fastText", fasttext.cpu())):
    table = model.word_vectors()  # [V, D]
    for word in ("january", "horse"):
        print(f"{name:9}{word:11}", *five_nearest(table, table[tokenizer.vocab[word]])[1:])
for word in ("kittens", "norwegians"):
    assert word not in tokenizer.vocab
    near = five_nearest(table, fasttext.vector(word))
    print(f"fastText {word:11}", *near)
    assert word[:-1] in near

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The lists differ a little from machine to machine. GloVe finds months beside a month and animals beside an animal,
# from counts alone. fastText puts *kittens* beside *kitten*, since most of their pieces are the same.
#
# </details>
#
# **Here the first sitting ends.** You know three ways to word vectors, and what each counts or predicts. The second
# sitting reads the sentence around a word: ELMo, GPT, and what fine-tuning added.
#
# ## What one vector can't do
#
# Go back to the neighbors of *bank* and *spring*: words of two senses, with one vector. Can these models tell the
# senses apart? And can they say which verb agrees with a noun, if one or two nouns of the other number stand nearer to
# it? Guess before you run the cell: what does word2vec reach in each, and what BERT? (Chance is one half.)

# %% tags=["guess"]
show(
    "senses by the word",
    "senses by the mean of the sentence",
    "agreement, 1 between",
    "agreement, 2 between",
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Both senses of bank use one vector; harps near the cow and cow near the harps are one bag of words.](pictures/14_one_vector.svg)
#
# **By the word's own vector: 50 %, exactly.** The means of both senses are the one vector of *bank*, so each question
# is a tie. **Agreement: no better than chance**, since both orders are the same bag of words (with two nouns between,
# most of the bag has the wrong number). The n-gram does worst: it mostly follows the nearest noun, which here has the
# wrong number.
#
# But the *mean* of all vectors of the sentence tells the senses apart perfectly, for word2vec, fastText and for
# counting: it collects words such as *money* or *river*.
#
# </details>
#
# So word vectors know which words are there. They don't know the order.
#
# ## ELMo: two language models
#
# A **language model** predicts the next word from those before it. It has to read the sentence in order. **ELMo**
# (Peters et al. 2018) trains two of them: one from left to right, and one from right to left. Both are **LSTMs** (long
# short-term memory). An LSTM goes through the sentence word by word and carries two vectors along: the hidden state h
# and the cell c. Three gates between 0 and 1 decide what enters the cell (the **input gate** i), what is kept in it
# (the **forget gate** f), and what leaves it (the **output gate** o). The new content is the candidate g.
#
# ![One step: of the cell 2.0 the forget gate keeps 1.8, the input gate adds minus 0.1, the output gate gives the hidden state 0.75.](pictures/14_step_of_an_lstm.svg)
#
# The next cell is such a step.


# %%
def lstm_step(x, h, c, layer):  # x, h, c: [B, D]
    gates = x @ layer.weight_ih.T + h @ layer.weight_hh.T + layer.bias  # [B, 4 D]
    i, f, g, o = gates.chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return h, c


# %% [markdown]
# The next cell trains an ELMo with two layers in each direction, for 100 steps, on the sentences about agreement
# only. Then it answers 400 questions for each number of **distractors** (attractors), the nouns between subject and
# verb. In training a distractor has either number, in the questions always the one that the subject doesn't have. And
# training has never shown the subject of a question with its first distractor.

# %%
from bertedu.before.asking import AskedBert, AskedElmo, AskedGpt
from bertedu.before.elmo import Elmo
from bertedu.before.text import agreement_questions
from bertedu.before.training import MASK_ID, bert_losses, elmo_losses, gpt_losses

small_tokenizer = whole_words(about_agreement)  # its words only, fewer than V
ids, vocab = small_tokenizer(about_agreement).input_ids, small_tokenizer.vocab
word_counts = torch.bincount(flat(about_agreement, small_tokenizer)[0], minlength=len(vocab))


def agrees(model, distractors):  # how often the right verb has the higher score
    questions = agreement_questions(400, distractors)
    batch = small_tokenizer([question.sentence for question in questions])
    at = (batch.input_ids == MASK_ID).int().argmax(dim=1)  # [B]
    scores = model.gap(batch.input_ids, batch.attention_mask, at)  # [B, V]
    right = [vocab[question.right] for question in questions]
    wrong = [vocab[question.wrong] for question in questions]
    rows = torch.arange(400)
    return (scores[rows, right] > scores[rows, wrong]).float().mean().item()


# %%
def trained(model, losses, learning_rate, steps):
    model.to(device)
    train(model, losses(model, ids, torch.Generator().manual_seed(0)), learning_rate, steps)
    return model


torch.manual_seed(0)
elmo = AskedElmo(trained(Elmo(len(vocab), 64, layers=2), elmo_losses, 0.032, 100), word_counts)
for distractors, known in enumerate((1.0, 1.0, 1.0)):
    print(f"{distractors} between: {about(known, agrees(elmo, distractors), within=0.05):.0%}")

# %% [markdown]
# Reading in order solves what a bag of words can't. But how does ELMo fill a gap? The forward model gives p(w | left),
# the backward model p(w | right). Neither has seen the other side. We can combine them if we assume that the two sides
# are independent once the word is known: p(l, r | w) = p(l | w) · p(r | w). By Bayes' rule p(l | w) is proportional to
# p(w | l) / p(w), and the same holds for r. Multiply both with the **prior** p(w):
#
# $$p(w\mid l,r)\;\propto\;\frac{p(w\mid l)\,p(w\mid r)}{p(w)}$$
#
# ![Left says 0.8, right 0.6; the products over p(w), normalized, are 0.86 and 0.14: surer than each side.](pictures/14_two_sides.svg)
#
# ### Exercise 14.4 · Two sides, one gap
# ●●●○ · 12 minutes
#
# Write `fill_from_both(log_left, log_right, log_prior)`: log p(w | left) `[B, V]`, log p(w | right) `[B, V]` and log
# p(w) `[V]` go in, and log p(w | left, right) `[B, V]` comes out, normalized over the vocabulary.


# %% tags=["exercise"]
def fill_from_both(log_left, log_right, log_prior):
    ### BEGIN SOLUTION
    return (log_left + log_right - log_prior).log_softmax(dim=-1)
    ### END SOLUTION


check("14.4", fill_from_both)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# In logarithms a product is a sum and a quotient a difference. Without the division by p(w) a frequent word would count
# twice. `log_softmax` normalizes whatever it gets, logarithms too.
#
# </details>

# %% [markdown]
# As features ELMo gives all its layers to a task, which learns a weighted sum of them (`ScalarMix`). What stays is the
# structure: **left and right never meet inside the model**. Only the outputs are put together.
#
# ## GPT: BERT's layers, from the left only
#
# **GPT** (Radford et al. 2018) is a language model as well, but a Transformer. You have built all of its parts. What
# is new is the **causal mask**: before the softmax, a very negative number is added to the score of each key on the
# right of the query. GPT is trained to predict the next word at every position; without the mask it could see that
# word.
#
# ![In BERT every token attends to all, in GPT only to itself and to those before it.](pictures/14_causal_mask.svg)
#
# To fill a gap, we take the prediction at the position before it.
#
# ![What is read for the gap: ELMo from the left and from the right apart, GPT the left side, BERT all in every layer.](pictures/14_words_seen.svg)
#
# The next two cells train a GPT of two layers for 150 steps, and a BERT of the same size for 500.

# %%
from bertedu import BertConfig, BertForMaskedLM
from bertedu.before.gpt import Gpt, GptConfig
from bertedu.pretraining.initialization import initialize_for_matching

size = {
    "vocab_size": len(vocab),
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
size |= {"intermediate_size": 256, "max_position_embeddings": 32}
size |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
torch.manual_seed(0)
gpt = AskedGpt(trained(Gpt(GptConfig(**size)), gpt_losses, 0.016, 150))
for distractors, known in enumerate((1.0, 1.0, 1.0)):
    print(f"{distractors} between: {about(known, agrees(gpt, distractors), within=0.05):.0%}")

# %%
torch.manual_seed(0)
start = BertForMaskedLM(BertConfig(**size))
initialize_for_matching(start, word_counts)  # for short runs
bert = AskedBert(trained(start, bert_losses, 0.004, 500))
for distractors, known in enumerate((1.0, 1.0, 1.0)):
    print(f"{distractors} between: {about(known, agrees(bert, distractors), within=0.05):.0%}")

# %% [markdown]
# Both can do it. BERT got more steps: it learns from the masked words only, 30 % of all here, and it waits longer on
# its plateau.
#
# Now a question about the *noun*. In *the ▢ is wet* the gap needs a singular, in *the ▢ are wet* a plural. The word
# that decides stands on the right. The next cell asks all three models, and ELMo's two sides alone. The cell after it
# prints the probability of all plurals together. Guess it for each model, before *is* and before *are*.

# %%
plural = torch.tensor([word[-1] == "s" and word[:-1] in vocab for word in vocab])  # [V]
batch = small_tokenizer(["the [MASK] is wet .", "the [MASK] are wet ."])
at = (batch.input_ids == MASK_ID).int().argmax(dim=1)
inputs = (batch.input_ids, batch.attention_mask, at)
left, right = elmo.sides(*inputs)  # log p(w | left), log p(w | right): [2, V]
answers = {
    "ELMo, left only": left,
    "ELMo, right only": right,
    "ELMo": elmo.gap(*inputs),
    "GPT": gpt.gap(*inputs),
    "BERT": bert.gap(*inputs),
}

# %% tags=["guess"]
for name, scores in answers.items():
    shares = scores.softmax(dim=-1)[:, plural].sum(dim=-1).tolist()  # before is, before are
    one, other = (
        about(f"plurals before {verb}: {name}", share, within=0.1)
        for verb, share in zip(("is", "are"), shares)
    )
    print(f"{name:17} is: {one:.2f}  are: {other:.2f}")
same = (answers["GPT"][0] - answers["GPT"][1]).abs().max()
print(f"GPT's two answers differ by at most {same:.0e}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A plural before is and before are: ELMo left and GPT the same twice, ELMo 0.26 and 0.73, BERT 0.02 and 0.98.](pictures/14_noun_in_the_gap.svg)
#
# **GPT gives the same answer twice**: up to the gap both sentences are the same. **ELMo leans to the right answer, and
# is unsure.** Its left side knows that this is the sentence's first noun. Its right side knows that the verb follows,
# but perhaps this noun is only a distractor. Only both facts *together* decide, and left and right never meet. **BERT
# is sure.**
#
# </details>
#
# There is a way for GPT to use the right side, too: take the 50 words that it likes best from the left, put each of
# them into the gap, compute the probability of the *whole* sentence, and choose the highest. That costs 50 readings
# in place of one.
#
# The next cell shows the recorded runs on the whole text, for gaps that need the right side ("before the end") and gaps
# that only the left side decides ("at the end"). Guess: which model fills most gaps of each kind? And is GPT with whole
# sentences ahead of BERT?

# %% tags=["guess"]
show("words, gap before the end", "words, gap at the end")
show(
    "words, gap before the end, whole sentence",
    "facts, gap before the end",
    "facts, gap at the end",
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# 1. **Before the end**, ELMo and BERT are 12 to 13 points ahead of GPT: they read both sides.
# 2. **At the end** it is the other way round: GPT has learned far more facts in its minute. It is asked for every word,
#    BERT for three in ten. (ELMo is asked for every word too, but an LSTM makes few steps in a minute.)
# 3. **With 50 whole sentences** for each gap GPT is ahead of BERT. So "GPT can't fill a gap" is wrong. It can't do it
#    in one reading.
# 4. For **facts** counting beats BERT and ELMo, and a bag of word2vec's vectors is about as good as BERT: a minute is
#    short for BERT. [Chapter 00](00_start_here.ipynb) shows what a longer training gives.
#
# </details>
#
# ## Senses and distance (optional)
#
# Two more questions: the senses, separately for words at the beginning of a sentence; and agreement with three
# distractors, more than training ever shows. The cell also counts how many of the words at the beginning have the
# sense that is more frequent there.

# %%
import re
from collections import Counter

show(
    "senses by the word",
    "senses by the word, first or second in its sentence",
    "agreement, 3 between",
)
early = Counter(
    (example.word, example.sense)
    for example in corpus.sense_heldout
    if re.findall(r"\w+", example.sentence.lower()).index(example.word) <= 1
)
frequent = {word: max(n for (w, _), n in early.items() if w == word) for word, _ in early}
print(f"{early.total()} words at the beginning, {sum(frequent.values())} with the usual sense")

# %% [markdown]
# <details><summary>What the three rows say</summary>
#
# BERT's own vectors tell the senses apart best. One expects that GPT fails for words at the beginning of a sentence,
# since it has hardly seen anything yet. It doesn't, and the last line shows why: if you always say the usual sense
# there, you have 30 of 32 right. So this question shows nothing. It stays in the table as a warning.
#
# With three distractors ELMo leads: an LSTM can carry "plural" along over one more noun than it was trained on. Why
# the two Transformers do worse was not measured.
#
# </details>
#
# ## Pre-train and fine-tune
#
# Until 2018 the vectors of a pre-trained model were mostly **features**. GPT and BERT changed that: the pre-trained
# model *is* the network, and all of it is trained further on the task (**fine-tuned**).
#
# ![As features the model is frozen under a network of the task; in fine-tuning all weights are trained, with one small layer on top.](pictures/14_features_or_fine_tuning.svg)
#
# (Dai & Le 2015 and ULMFiT, Howard & Ruder 2018, fine-tuned LSTMs.)
#
# What is it worth? Our task: does the verb of a sentence agree? The next cells take 200 labelled sentences, and
# fine-tune for 240 steps each: a BERT and a GPT with random weights, and those that you have trained above. BERT's
# label comes from the first vector ([CLS]), GPT's from the last, the only one that has read everything. The 400 test
# sentences are harder: their pairs of nouns are new, and the noun between always has the other number. (`agreement`
# draws a sentence, `told` puts the right or the wrong verb into it.)

# %%
from random import Random

from torch import nn

from bertedu.before.text import agreement, told


def judged(count, new, seed):  # sentences with one distractor; half of the verbs are wrong
    random, made = Random(seed), []
    for _ in range(count):
        agreeing = random.random() < 0.5
        question = agreement(random, 1, held_out=new, hard=new)
        made.append((told(question, right=agreeing), float(agreeing)))
    texts, labels = zip(*made)
    batch = small_tokenizer(list(texts))
    return batch.input_ids, batch.attention_mask, torch.tensor(labels)


learn, test = judged(200, False, "learn"), judged(400, True, "test")
for row, label in zip(learn[0][:2], learn[2]):
    print(f"{label:.0f}", *small_tokenizer.convert_ids_to_tokens(row.tolist()))


# %%
def fine_tuned(encoder, position):  # the accuracy after 240 steps
    torch.manual_seed(0)
    encoder, head = encoder.to(device), nn.Linear(64, 1).to(device)
    adam = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-3)
    generator = torch.Generator().manual_seed(0)
    for step in range(240):
        rows = torch.randint(200, (32,), generator=generator)
        texts, masks, labels = (part[rows].to(device) for part in learn)
        states = encoder(texts, masks).last_hidden_state  # [B, T, D]
        scores = head(states[:, position])[:, 0]  # [B]
        adam.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(scores, labels).backward()
        adam.step()
    texts, masks, labels = (part.to(device) for part in test)
    with torch.no_grad():
        scores = head(encoder(texts, masks).last_hidden_state[:, position])[:, 0]
    return ((scores > 0) == labels.bool()).float().mean().item()


# %%
from copy import deepcopy

torch.manual_seed(0)
random_bert, random_gpt = BertForMaskedLM(BertConfig(**size)), Gpt(GptConfig(**size))
initialize_for_matching(random_bert, word_counts)  # where the pre-trained one began, too
runs = [
    ("BERT, random weights", random_bert.encoder, 0),
    ("GPT, random weights", random_gpt, -1),
    ("BERT, pre-trained", bert.model.encoder, 0),
    ("GPT, pre-trained", gpt.model, -1),
]

# %% [markdown]
# Guess before you run the next cell: which accuracy will each of the four reach? (Chance is one half.)

# %% tags=["guess"]
tuned = {}
for name, encoder, position in runs:
    tuned[name] = fine_tuned(deepcopy(encoder), position)
    print(f"{name:20} {about(f'agreement, fine-tuned: {name}', tuned[name], within=0.12):.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![After 200 labels: models with random weights stay near guessing, pre-trained ones reach 98 and 100 percent.](pictures/14_after_fine_tuning.svg)
#
# The 6,000 sentences without labels have taught the model what to attend to. The labels only have to say what the
# question is. (Ours is the best case: the text of the pre-training consists of sentences of the very task. And with 50
# labels it is a matter of luck.)
#
# </details>
#
# **This is what pre-training is for.** GPT had shown it four months before BERT.

# %% [markdown]
# What came in 2018, by the BERT paper (Devlin et al. 2019, tables 1, 4 and 5):
#
# | | SWAG, test accuracy | GLUE, average of 8 tasks |
# |---|---|---|
# | GloVe vectors as features (ESIM) | 52.7 | |
# | ELMo as features (ESIM; for GLUE a BiLSTM with attention) | 59.2 | 71.0 |
# | GPT, fine-tuned | 78.0 | 75.1 |
# | BERT-Base, fine-tuned | | 79.6 |
# | BERT-Large, fine-tuned | 86.3 | 82.1 |
# | a human expert (five people together: 88.0), on 100 questions | 85.0 | |
#
# In SWAG one chooses the most plausible of four continuations. The large step there is from ELMo's features to the
# fine-tuned GPT: 18.8 points (it is also one from an LSTM to a Transformer). In GLUE it is 4.1, and from GPT to
# BERT-Base 4.5.
#
# <details><summary>And how much of BERT's lead is the right side?</summary>
#
# BERT has read more text than GPT, so the paper also trained its own model from left to right, on the same text (table
# 5). It loses 2.3 points on MNLI, and 10.7 on SQuAD. (It also left out next sentence prediction, which explains less
# than a point.) On SQuAD the other side helps: with a bidirectional LSTM on top, the left-to-right model wins back 7.1.
#
# </details>
#
# ### Frozen features here
#
# And if the vectors stay frozen? The benchmark puts a linear classifier on the mean over the words: 14 topics from five
# sentences each, and agreement from 1,000 sentences. Guess: which of the six is best at topics, and which at agreement?

# %% tags=["guess"]
show("topics", "judged agreement")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Two lessons. A topic is a matter of which words are there: the means of word2vec's and fastText's vectors are *best*,
# so try the cheap model first. For agreement, word vectors guess, and ELMo's frozen features are the best. ELMo was
# made to be used as features, BERT to be fine-tuned. (At full size BERT does both well: its last four layers, frozen,
# with a BiLSTM on top, are only 0.3 points of F1 below the fine-tuned model in recognizing entities. Devlin et al.,
# section 5.3.)
#
# </details>
#
# ## Six ways, side by side
#
# | | context of a word | depth | a word that it never saw | on a task |
# |---|---|---|---|---|
# | word2vec, GloVe | none | one table | has no vector | features, frozen |
# | fastText | none | one table | the mean of its pieces | features, frozen |
# | ELMo | both sides, in two models that never meet | two LSTM layers | read by its letters | a weighted sum of its layers, frozen |
# | GPT | the left side | 12 layers | split by BPE | all weights are fine-tuned |
# | BERT | both sides, in every layer | 12 or 24 layers | split by WordPiece | all weights are fine-tuned |

# %% [markdown]
# ## All answers in one picture
#
# ![Six questions, six models. BERT is best or nearly so, except at topics, where word2vec and fastText lead with 98, and at gaps at the end, where GPT has 84 and BERT 21.](pictures/14_all_answers.svg)
#
# No model is the best at everything. Word vectors fail where the order of the words matters. BERT leads, or nearly so,
# except at topics and at gaps at the end, the task that GPT is trained for. (*simple* is the best baseline of each row.
# What the picture leaves out: fine-tuning, larger models, more than one minute, and rows that BERT loses, such as the
# senses by the mean of a sentence, facts at the end, and agreement with frozen vectors or three distractors.)
#
# ## The proof
#
# The gradient of the package's word2vec by hand, which is (σ(u·v) − 1) · u + Σ σ(n·v) · n for the center; our
# `lstm_step` against `torch.nn.LSTM`; the package's GPT against `transformers`.

# %%
torch.manual_seed(0)
model = SkipGram(20, 8)
torch.nn.init.normal_(model.contexts.weight)  # zero at first, which would hide mistakes
model.loss(torch.tensor([3]), torch.tensor([5]), torch.tensor([[7, 9, 11, 2]])).backward()
v, u, n = (
    model.centers.weight[3],
    model.contexts.weight[5],
    model.contexts.weight[[7, 9, 11, 2]],
)
by_hand = ((u @ v).sigmoid() - 1) * u + (n @ v).sigmoid() @ n
difference = (model.centers.weight.grad[3] - by_hand).abs().max()
print(f"word2vec: largest difference {difference:.5f}")

# %%
from bertedu.before.elmo import Lstm

layer, theirs = Lstm(8), nn.LSTM(8, 8, batch_first=True)
with torch.no_grad():
    theirs.weight_ih_l0.copy_(layer.weight_ih)
    theirs.weight_hh_l0.copy_(layer.weight_hh)
    theirs.bias_ih_l0.copy_(layer.bias)
    theirs.bias_hh_l0.zero_()
x, h, c, outputs = torch.randn(2, 5, 8), torch.zeros(2, 8), torch.zeros(2, 8), []
for t in range(5):
    h, c = lstm_step(x[:, t], h, c, layer)
    outputs.append(h)
difference = (torch.stack(outputs, dim=1) - theirs(x)[0]).abs().max()
print(f"LSTM against torch.nn.LSTM: largest difference {difference:.5f}")

# %%
from transformers import GPT2Config, GPT2LMHeadModel

from bertedu.before.gpt import from_transformers

reference = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=60,
        n_embd=24,
        n_layer=3,
        n_head=4,
        n_positions=20,
        bos_token_id=None,
        eos_token_id=None,
    )
).eval()
shape = GptConfig(60, 24, 3, 4, 96, max_position_embeddings=20)
few_ids = torch.randint(60, (2, 12))
with torch.no_grad():
    ours = from_transformers(reference.state_dict(), shape)(few_ids).logits  # [B, T, V]
    difference = (ours - reference(few_ids).logits).abs().max()
print(f"GPT against transformers: largest difference {difference:.5f}")

# %% [markdown]
# ## Broken BERT: a loss of almost nothing
#
# A colleague has made a GPT of BERT's layers. She trains it as we did, and is delighted: her loss is far lower than
# ours. In the next cell all but one function is ours: we put hers in place of `causal_bias`. Look at the two losses,
# and at the answers.

# %%
from unittest.mock import patch

from bertedu.model.attention import hiding_bias


def her_bias(length, attention_mask, dtype, device):  # [B, 1, 1, T]
    return hiding_bias((attention_mask == 0)[:, None, None, :], dtype)


def loss_of(model):
    with torch.no_grad():
        return next(gpt_losses(model, ids, torch.Generator().manual_seed(1))).item()


with patch("bertedu.before.gpt.causal_bias", her_bias):
    torch.manual_seed(0)
    hers = AskedGpt(trained(Gpt(GptConfig(**size)), gpt_losses, 0.016, 150))
    print(f"hers: loss {about(0.0, loss_of(hers.model), within=0.15):.2f}", end=", ")
    print(f"agreement {about(0.56, agrees(hers, 1), within=0.12):.0%}")
print(f"ours: loss {about(1.68, loss_of(gpt.model), within=0.2):.2f}", end=", ")
print(f"agreement {about(1.0, agrees(gpt, 1), within=0.05):.0%}")

# %% [markdown]
# A loss of almost 0, and hardly better than guessing. Before you go on: what has her model learned?
#
# **A loss can be too good.** How low may it be? The adjective of a sentence is drawn from ten, all equally likely. If
# you haven't seen it, no loss below ln 10 is possible there. The next cells compute the loss at the adjective alone,
# ours and hers. Guess: which of the two is below it?

# %%
batch = small_tokenizer(about_agreement[:200])
texts, mask = batch.input_ids, batch.attention_mask
adjective = mask.sum(dim=1) - 3  # before the full stop and [SEP]
rows = torch.arange(200)


def at_the_adjective(model):
    with torch.no_grad():
        logits = model(texts.to(device), mask.to(device)).logits.cpu()  # [B, T, V]
    logits = logits[rows, adjective - 1]  # predict the next token
    return nn.functional.cross_entropy(logits, texts[rows, adjective]).item()


# %% tags=["guess"]
our_loss = at_the_adjective(gpt.model)
with patch("bertedu.before.gpt.causal_bias", her_bias):
    her_loss = at_the_adjective(hers.model)
print(f"the floor: {torch.tensor(10.0).log():.2f}")
print(f"ours: {about('loss at the adjective: ours', our_loss, within=0.15):.2f}")
print(f"hers: {about('loss at the adjective: hers', her_loss, within=0.15):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Her model knows the result of a draw. It can't have learned 6,000 sentences by heart in 150 steps of 64 sentences,
# less than two passes, so it *sees* it, and copies its right neighbor.
#
# ![Each row should predict the next token: in her model it is visible and copied, in ours hidden.](pictures/14_her_mask.svg)
#
# Where that neighbor is [MASK], as in our questions, or where there is none yet, as in writing, her model has nothing
# to copy.
#
# </details>
#
# A transposed mask, one that is dropped by an argument such as `is_causal`, labels that are not shifted, or a backward
# LSTM that already holds the word that it should predict: all show the same symptom, **a loss below what the text
# allows**.
#
# ### Exercise 14.5 · Repair the mask
# ●●●○ · 12 minutes
#
# Write `causal_bias(attention_mask)` for a mask `[B, T]` with 1 for text and 0 for padding. Return what is added to the
# scores, `[B, 1, T, T]` in float: 0 where a query may attend to a key, and a very negative number where the key is
# later than the query or is padding. Padding can stand on the right or, as in generation, on the left. No row may give
# `nan`, not even one without any key.


# %% tags=["exercise"]
def causal_bias(attention_mask):
    ### BEGIN SOLUTION
    length = attention_mask.size(1)
    later = torch.ones(length, length).triu(diagonal=1).bool()  # [T, T], key after query
    hidden = later | (attention_mask == 0)[:, None, None, :]  # [B, 1, T, T]
    return torch.zeros(hidden.shape).masked_fill(hidden, -1e9)
    ### END SOLUTION


check("14.5", causal_bias)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `triu(diagonal=1)` marks the entries above the diagonal: key j later than query i. The diagonal itself stays free.
# With padding on the right, the causal mask already hides it from all text, and many people never notice that the
# padding is not masked. With padding on the left it matters: there the first rows have no key at all. A finite number
# in place of minus infinity keeps them from becoming nan, which the next layer would spread to the text (0 · nan is
# nan).
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | paper | the authors' code | this course |
# |---|---|---|---|
# | word2vec: words kept | √(t / f) | √(t / f) + t / f | as the paper |
# | word2vec: window | drawn from 1 to w for each center (Mikolov et al. 2013, arXiv 1301.3781, section 3.2) | the same | the same |
# | fastText: vector of a word | the *sum* of its pieces | their mean | the mean |
# | ELMo: words | a convolution over characters | the same | a table of whole words |
# | GPT (GPT-1) | LayerNorm after each addition | the same | as GPT-2: before each part, and once at the end |
# | BERT: pre-training | masked words, next sentence | the same | here: masked words, 30 % of them |
#
# BERT's text, BooksCorpus and Wikipedia, has four times as many words as GPT-1's. A comparison of the two published
# models is never a comparison of masks alone.
#
# ## Summary
#
# - **word2vec, GloVe, fastText**: one vector for each word, from pairs, from counts, from pieces. Good neighbors, no
#   senses, no order. Means of them are a strong baseline for topics.
# - **ELMo** reads the sentence from both sides, with two models that never meet. **GPT** is BERT's layers with a causal
#   mask; it learns from every word, and fills a gap from one side only, unless it reads a sentence for each candidate.
# - **BERT** reads both sides at once, and pays: it learns from the masked words only.
# - What changed the field in 2018 was **pre-training and fine-tuning**: 200 labels were enough here, where random
#   weights stayed near chance.
# - A loss below what the text allows, on text not learned by heart, is a bug. Compute the floor.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(14)

# %% [markdown]
# ## Interview questions
#
# <!-- before-02 -->
# **1. Write the loss of skip-gram with negative sampling. What do its dot products converge to?**
#
# <details><summary>Answer in half a minute</summary>
#
# For a pair of word w and context c that occurs: −log σ(w·c); for k random words: −log σ(−w·n). Set the derivative
# for one pair to zero: w·c = log(P(w, c) / (P(w) P(c))) − log k, the pointwise mutual information, shifted. So
# word2vec in effect factorizes a PMI matrix, and is not deep at all.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Each word has two vectors, one as a word and one as a context. For every word and each neighbour in a window of,
# say, five, the full softmax over the vocabulary would cost V products. Negative sampling replaces it by binary
# questions: is this a pair from the text, or a random one? The loss for one true pair: minus log sigma of w·c, plus k
# terms minus log sigma of minus w·n, where n is drawn from the unigram distribution, in practice raised to ¾. Now sum
# over the corpus. The pair (w, c) occurs #(w, c) times as a positive, and as a negative k · #(w) · P(c) times. So
# what concerns x = w·c is: −#(w,c) · log σ(x) − k · #(w) · P(c) · log σ(−x). Derivative zero gives σ(x) = a / (a +
# b), so x = log(a / b) = log( #(w,c) / (#(w) · P(c)) ) − log k. The first part is the pointwise mutual information:
# how much more often do the two occur together than by chance? Levy and Goldberg showed this in 2014: if the vectors
# had enough dimensions, SGNS would factorize the PMI matrix shifted by log k. With 300 dimensions it's a weighted
# low-rank approximation, frequent pairs weigh most. What does it explain? That counting with SVD gives vectors of
# nearly the same quality. Why analogies work partly: differences of vectors stand for ratios of probabilities. And
# the link to today: InfoNCE with in-batch negatives has the same solution up to a constant, so a bi-encoder's dot
# product is also a PMI, and frequent documents are punished by it, unless one corrects for sampling. It also says
# what is missing: one vector per word, and no order within the window.
#
# </details>
#
# <!-- before-05 -->
# **2. ELMo is bidirectional too. Why wasn't that enough, and what did people do with its layers?**
#
# <details><summary>Answer in half a minute</summary>
#
# ELMo trains two language models, left to right and right to left, and concatenates their states. Neither uses the
# other side while it computes, so left and right meet only at the top. A deep bidirectional LSTM language model would
# see its own answer. A task takes a learned weighted sum of the layers, frozen, as features for its own network.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# ELMo, early 2018: a convolution over characters gives each word an input vector, then two stacks of two LSTM layers
# with 4,096 units, projected to 512. One stack predicts the next word, the other the previous one; they share input
# and softmax. For each word the states of both directions are concatenated, layer by layer. So the vector depends on
# the whole sentence: bank is disambiguated. What is missing? Shallow bidirectionality. The forward state of a word is
# computed from the left alone; in "the bank of the river" the forward state of bank doesn't know river, and the
# second forward layer, which reads only forward states, doesn't either. Only the concatenation has both, and only a
# linear mixing follows. Why not simply join the directions after the first layer? Because of the task: if the second
# forward layer could read backward states, the next word would be in its input, and predicting it would be copying.
# BERT's masks solve exactly that. How were the layers used? Each task learns softmax weights over the three layers,
# the input layer included, and one scale; the weighted sum is concatenated to the input vectors of the task's own
# model, a BiLSTM with a CRF for entities, say. The language model stays frozen. Lower layers help syntax, the upper
# one word sense. That idea survived: probing, scalar mixes over BERT's layers, and layer choice in embeddings.
# Results: errors fell by 6 to 20 % relative on six tasks, the state of the art in February 2018. Eight months later
# BERT beat it with one architecture for all tasks. The other reasons: LSTMs process token by token and can't use a
# GPU well, ELMo's task networks had to be designed, and fine-tuning all weights is mostly stronger than frozen
# features.
#
# </details>
#
# <!-- comparisons-01 -->
# **3. word2vec, ELMo, BERT: what did each add, and what did it cost?**
#
# <details><summary>Answer in half a minute</summary>
#
# word2vec gives each word one vector, whatever the sentence: a table look-up. ELMo computes a vector from the
# sentence, by two LSTM language models, one in each direction, and is used as frozen features. BERT conditions on
# both sides in every layer, by masking, and is fine-tuned as a whole. The price is computation: from a look-up to 85
# million multiplications for each token.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# word2vec learns a table with one vector for each word from the words around it. The bank of a river and the bank
# with money share one vector. Using it is a look-up, which is why it still serves as a baseline and on tiny machines.
# ELMo, in 2018, computes the vectors from the sentence. Two language models are trained, one from left to right and
# one from right to left, each with two LSTM layers, over characters. A task takes a learned weighted sum of the
# layers as features for its own network; the language models usually stay frozen. The two directions meet only at the
# end: neither of them sees both sides of a word while it computes. BERT changes three things. Masking lets every
# layer attend to both sides. The Transformer replaces the recurrence, so all positions are computed at once and
# training scales. And the whole model is fine-tuned with one small head, instead of a task network on top of
# features. The price: about 85 million multiplications for each token in BERT-Base, and a limit of 512 tokens. When
# would I still take word2vec or its relative fastText? For millions of texts on a CPU, for the baseline, and where
# words matter more than their order. A bag of words with a linear model is often within a few points, and I'd never
# report BERT without it.
#
# </details>
#
# ## Next
#
# BERT was published in October 2018. Nine months later somebody asked whether it had been trained well. The answer:
# [15 · RoBERTa and SpanBERT](15_roberta_and_spanbert.ipynb).
