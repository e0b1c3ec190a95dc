# %% [markdown]
# # 00 · Start here
#
# In this course you build BERT, every part of it, and understand each line. This first notebook shows what you will
# have at the end: a BERT that works, on your machine, right now.
#
# ![The sentence "A young, gap, is called a kitten" goes into BERT. Out come its five most probable words for the gap as bars: cat has nearly all of the probability. This is what you build in this course.](pictures/00_end.svg)

# %% [markdown]
# ## What you will be able to do
#
# - say what BERT can do that a model of neighboring words can't, and show it
# - follow one sentence through the whole model: tokens, ids, vectors, attention, predictions
# - test a model before you believe it: what it knows, and what it answers when there is no answer
# - use the exercises, hints, checks and quizzes of this course
# - choose your way through the chapters
#
# **Time:** one sitting of about 65 minutes, and 15 more for what is optional ·
# **You need:** some Python; nothing about BERT, and nothing about PyTorch, which chapter 01b explains ·
# **Next:** [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb)
#
# You can leave what is marked (optional) for another day.

# %% [markdown]
# ## Where BERT comes from
#
# A program needs numbers, so each word gets a vector. In 2013 **word2vec** learned such vectors from text alone: words
# with similar neighbors get similar vectors. **GloVe** (2014) counts instead, and **fastText** (2016) also uses the
# pieces of a word. But all three give a word *one* vector: the bank of a river and the bank with money share it.
#
# In 2018, three models began to read the sentence. **ELMo** reads it from the left and from the right, with two models:
# neither of them sees both sides. **GPT** reads it from the left only. **BERT** reads both sides at once. It is
# **pre-trained** on text without labels (answers that people have written down), and then **fine-tuned** with few labels
# for a task.
#
# ![A timeline of six models. 2013 word2vec, 2014 GloVe, 2016 fastText: one vector for each word, in every sentence. 2018 ELMo reads from the left and from the right, with two models; GPT reads the left side only; BERT reads both sides at once.](pictures/00_timeline.svg)
#
# [Chapter 14](14_what_came_before.ipynb) builds all six, and asks them the same questions. No model wins everywhere.
#
# ## How to read a notebook
#
# Run the cells from top to bottom, each with **Shift + Enter**. While a cell runs, `[*]` stands beside it. Sometimes the
# text asks you to guess before you run a cell. Please do. You often remember an answer better if you guessed before you
# read it, even wrongly.
#
# You can't break anything. Change what you like and run it again. *Kernel → Restart* forgets all variables, but
# keeps your changes. On another day the variables are gone too: click into the cell where you want to go on and choose
# *Run → Run All Above Selected Cell*.
#
# ## A word is missing
#
# > A young ▢ is called a kitten.
#
# You know the word. How could a program find it? A simple idea is to count: which word follows *young* most often?
# For that we need text. The course has its own: a small world of true facts about countries, animals, planets and
# professions, and of small scenes, in plain sentences.

# %%
from bertedu.corpora.world import world_corpus

corpus = world_corpus()
sentences = list(corpus.train_sentences())
print(f"{len(sentences):,} sentences, for example:")
for document in corpus.train[:3]:
    print("  ", document.sentences[0])

# %% [markdown]
# The next cell counts, for each word, which words follow it.

# %%
from collections import Counter, defaultdict

followers = defaultdict(Counter)
for sentence in sentences:
    words = sentence.lower().replace(".", "").split()
    for word, following in zip(words, words[1:]):
        followers[word][following] += 1

# %% [markdown]
# A gap is then filled with the word that most often follows the word before it. Such a model is called a **bigram
# model**: it knows about pairs of neighboring words and nothing else. We write the gap as `[MASK]`, as BERT does.
#
# Guess before you run it: what will the bigram model say in *A young [MASK] is called a kitten*? And in *A young
# [MASK] is called a duckling*?


# %% tags=["guess"]
def bigram_guess(text):  # the word that most often follows the word before [MASK]
    words = text.lower().partition("[mask]")[0].split()
    counts = followers[words[-1]] if words else None
    return counts.most_common(1)[0][0] if counts else "?"


gaps = [
    f"A young [MASK] is called a {young}." for young in ("kitten", "duckling", "puppy", "lamb")
]
for text in gaps:
    print(f"{text:45} {bigram_guess(text)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars: how often each word follows young in the text. The word is comes first by far; the four right answers, cat, duck, dog and sheep, are far behind.](pictures/00_followers.svg)
#
# It says *is* four times. It can't find the four right words: the word that decides comes *after* the gap, and this
# program only uses the word before it.
#
# </details>
#
# ![The same sentence three times, with the words that a model may use for the gap marked: the bigram model one word, a model that writes from left to right all words before the gap, BERT the words on both sides, also kitten.](pictures/00_sides.svg)
#
# A longer memory wouldn't help, because all four sentences are the same up to the gap. Models that write from left to
# right, one word after another, have the same problem when they reach it. BERT is different. **It uses the words on
# both sides at once.** That is the B in its name: *bidirectional* encoder representations from transformers.

# %% [markdown]
# ## BERT at work
#
# The folder `data/checkpoints/world-tiny` holds a **checkpoint**, which is a stored model: a small BERT. It was trained
# on the sentences above and on nothing else, mainly by predicting words that were hidden from it. In this course you
# will build every part of it, and train such a model yourself.
#
# The next cell loads the **tokenizer**, which splits text into **tokens**, pieces that the model knows, and the
# **model**. Then `fill_mask` asks it about the same four gaps. How many will it get right?

# %% tags=["guess"]
import torch

from bertedu import BertForPreTraining, BertTokenizer
from bertedu.course import data_path
from bertedu.inference import fill_mask

tokenizer = BertTokenizer.from_pretrained(data_path("checkpoints/world-tiny"))
model = BertForPreTraining.from_pretrained(data_path("checkpoints/world-tiny"))

for text in gaps:
    word, probability = fill_mask(model, tokenizer, text, top=1)[0][0]
    print(f"{text:45} {word}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Four sentences with the same beginning, four right answers. The model used a word near the end of the sentence to
# predict the third word.
#
# </details>
#
# In fact the model doesn't answer with a word. It gives a probability to every word in its **vocabulary**, the list
# of all words and pieces of words that it knows, and we read the most probable ones. (A word that isn't in the
# vocabulary can never be an answer. Chapter 01 shows how a vocabulary is made.) The next cell draws the five most
# probable words for the first gap.

# %%
from bertedu.visualization import prediction_bars

prediction_bars(gaps[0], fill_mask(model, tokenizer, gaps[0], top=5))

# %% [markdown]
# Now ask something yourself. Change the text between the quotes and run the cell as often as you like. The model
# knows countries with their capitals, languages and money; animals; planets; months; chemical elements; professions
# and where these people work; opposites.

# %%
text = "The capital of France is [MASK]."
[word for word, probability in fill_mask(model, tokenizer, text, top=3)[0]]

# %% [markdown]
# ### The BERT that Google published (optional)
#
# This BERT has read a small world and nothing else. The published BERT-Base has read Wikipedia and thousands of books.
# With the internet, the next cell fetches it from the Hugging Face hub, where models are published under names (440 MB,
# once, about a minute at 60 Mbit/s), and asks it the same, with the same lines. Without the internet it says so, and
# nothing below needs it.

# %% tags=["nbval-ignore-output"]
from bertedu.course.published import published

base_folder = published("google-bert/bert-base-uncased", "440 MB")
if base_folder:
    base_tokenizer = BertTokenizer.from_pretrained(base_folder)
    base_bert = BertForPreTraining.from_pretrained(base_folder)
    for text in [*gaps, "The capital of France is [MASK].", "He went to the bank to [MASK]."]:
        best = fill_mask(base_bert, base_tokenizer, text, top=3)[0]
        print(f"{text:45} {', '.join(word for word, probability in best)}")

# %% [markdown]
# ## Does it know, or does it repeat?
#
# Perhaps the model has read exactly this sentence: *The capital of France is Paris.* Then the answer only shows that
# it memorized a text. So we do what a good exam does, and ask in words that were not in the lessons. In machine
# learning this is a **test set**: examples that the model has not seen in training. Here only the wording is new.
#
# The next cell checks that no question is in the training text word for word, and prints three.

# %%
probes = corpus.fact_probes
read = {sentence.lower() for sentence in sentences}
filled = [probe.sentence.replace("[MASK]", probe.answer).lower() for probe in probes]
repeated = sum(sentence in read for sentence in filled)
print(f"{len(probes)} questions, {repeated} of them word for word in the training text:")
for probe in probes[100::120]:
    print(f"  {probe.sentence}  ({probe.answer})")

# %% [markdown]
# How many of them will BERT get right? And the bigram model? Guess, then run the next cell. It counts two things for
# BERT: how often its most probable word is right, and how often the right word is among its first five.
#
# The sign ≈ marks a number that differs slightly from computer to computer. `about` checks that your number is close
# to ours.

# %% tags=["guess"]
from bertedu.course import about

answers = [fill_mask(model, tokenizer, probe.sentence, top=5)[0] for probe in probes]
first = sum(words[0][0] == probe.answer for words, probe in zip(answers, probes))
among_five = sum(probe.answer in dict(words) for words, probe in zip(answers, probes))
bigram = sum(bigram_guess(probe.sentence) == probe.answer for probe in probes)
total = len(probes)
print(f"bigram model  {bigram / total:4.0%} right")
best_is_right = about("first word right in chapter 00", first / total, within=0.03)
five_are_right = about("right word among five in chapter 00", among_five / total, within=0.02)
print(f"BERT        {best_is_right:6.0%} right, {five_are_right:.0%} among the first five")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three bars: the share of right answers of the bigram model is zero, that of BERT's first word is close to one, and that of its first five words is even closer.](pictures/00_right.svg)
#
# BERT gets nearly all right, the bigram model none: the word that decides is rarely the one before the gap.
#
# </details>
#
# A number says little on its own, so we always report it with a **baseline**: the result of a simple method on the same
# questions. Only the comparison tells you what it is worth.
#
# And what does the model say if there is no answer? Guess.

# %% tags=["guess"]
strange = ["The capital of Atlantis is [MASK].", "A young piano is called a [MASK]."]
for text in [*strange, "Bananas speak [MASK]."]:
    print(f"{text:40} {fill_mask(model, tokenizer, text, top=1)[0][0][0]}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# It answers anyway. It has to: the probabilities of all words sum to 1, so one of them is always the largest, and "I
# don't know" is not in the list. The same holds for larger models of this kind.
#
# </details>
#
# A high probability doesn't mean that a statement is true. It says how well a word would fit into text like the
# training text.

# %% [markdown]
# ## Where the information comes from
#
# How does the gap learn about the kitten? By **attention**. In each **layer** of the model, every token collects
# information from all tokens. The **attention weights** say how much it takes from each of them: they are between 0
# and 1, and those of one token sum to 1. We say that a token *attends to* another one. Each layer has several
# **attention heads** that work side by side, each with its own weights.
#
# Which head connects the gap with the kitten? The next cell gets all attention weights and prints in which head `[MASK]`
# gives *kitten* the largest weight. Their **shape**, the size along each axis, is written in letters: L layers,
# H heads in a layer, and T × T weights in a head, for T tokens. Two of the tokens are new: `[CLS]` and `[SEP]` are added
# by the tokenizer at the beginning and at the end.

# %%
from bertedu.inference import attention_weights

tokens, weights = attention_weights(model, tokenizer, gaps[0])  # weights [L, H, T, T]
print(len(tokens), "tokens:", *tokens)
print("attention weights [L, H, T, T]:", list(weights.shape))
gap, kitten = tokens.index("[MASK]"), tokens.index("kitten")
to_kitten = weights[:, :, gap, kitten]  # [L, H]
place = int(to_kitten.argmax())  # of the largest, counted through all layers and heads
layer, head = divmod(place, to_kitten.size(1))
largest = about(0.92, to_kitten[layer, head], within=0.03)
print(f"largest weight: {largest:.0%}, in layer {layer + 1}, head {head + 1}", end="")
print(f" (if all were equal: {1 / len(tokens):.0%})")

# %% [markdown]
# ![The ten tokens of the sentence in a row, and under each the attention weight that [MASK] gives it in this head: nearly all goes to kitten. So the vector of the gap is mixed with that of kitten.](pictures/00_attention.svg)
#
# That was one row, the row of `[MASK]`. The next cell draws the rows of all tokens.

# %%
from bertedu.visualization import attention_heatmap

title = f"Layer {layer + 1}, head {head + 1}"
attention_heatmap(weights[layer, head], tokens, title=title)

# %% [markdown]
# Read along a row: it says how much its token takes from each column. In six of the ten rows the largest weight is that
# of *kitten*, and it is largest of all in the row of `[MASK]`.
#
# Don't read too much into such pictures. They show where information *could* come from, not that it was used. In
# chapter 03 you build attention yourself, and chapter 09 finds out what its pictures can tell.
#
# <details><summary>All heads in your browser</summary>
#
# Open a terminal in the folder of the course. This command writes a web page. (If the terminal doesn't find `bertedu`,
# write `.venv/bin/bertedu`, or on Windows `.venv\Scripts\bertedu`.)
#
# ```sh
# bertedu attention "A young [MASK] is called a kitten." --model data/checkpoints/world-tiny --html attention.html
# ```
#
# </details>

# %% [markdown]
# ## One sentence on its way through BERT
#
# ![One sentence step by step: its tokens, below each its id, below that the first numbers of its vector after the embeddings, and after the last layer; the vector of the gap becomes scores, of which that of cat is the largest.](pictures/00_way.svg)
#
# The tokenizer turns the text into **ids**, one integer for each token. The **embeddings** turn each id and its position
# into a vector of D numbers: the two *a* of our sentence have one id, but two vectors. The layers of the **encoder** mix
# these vectors by attention. Finally the **MLM head** turns each vector
# into V scores, one for each word of the vocabulary. (MLM means masked language model. This "head" is the last part of
# the model, and it has nothing to do with attention heads. The field uses the word for both.) A function called
# **softmax** turns scores into probabilities.
#
# Each result is a **tensor**, PyTorch's array of numbers. The next cell prints the shape of each step
# (`torch.no_grad()` tells PyTorch that nothing is trained here, which saves time; `token_type_ids` say to which of two
# texts a token belongs, and here there is one). The letters are the same in the whole course: **B** texts in a **batch**
# (the texts that a model reads together), **T** tokens in a text, **D** numbers in a vector, **H** heads, **L** layers,
# **V** words in the vocabulary.

# %%
encoding = tokenizer(gaps[0])
with torch.no_grad():
    vectors = model.bert.embeddings(encoding.input_ids, encoding.token_type_ids)  # [B, T, D]
    hidden_states, attentions = model.bert.encoder(vectors, output_attentions=True)
    scores = model.masked_lm(hidden_states[-1])  # [B, T, V]
L = len(attentions)  # hidden_states has one more: it begins with the embeddings

print("ids        [B, T]      ", list(encoding.input_ids.shape))
print("embeddings [B, T, D]   ", list(vectors.shape))
print("attention  [B, H, T, T]", list(attentions[0].shape), f"in each of {L} layers")
print("encoder    [B, T, D]   ", list(hidden_states[-1].shape))
print("scores     [B, T, V]   ", list(scores.shape))

# %% [markdown]
# ### Touch it
#
# The next cell shows this way for a sentence that you can change: the ids, the first eight numbers of each vector
# (gold above zero, purple below), and the answer. A vector that differs from that of the sentence at the start gets a
# thick edge. Guess first: if *kitten* becomes *puppy*, how many of the ten vectors change in the **embeddings**, and
# how many after **layer 1**? Then click tokens to hide other words.

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

explorable("way", checkpoint="world-tiny", text=gaps[0])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One, and then all ten. The embeddings know a token and its position: at the gap they know nothing of a puppy. In layer 1
# every token collects from all tokens, so every vector gets something of the new word, the gap too. Its answer is now
# *dog*, with only half of the probability: *one* is nearly as probable.
#
# </details>
#
# These are the main parts of BERT, and this is the map that opens every chapter:
#
# ![The map of BERT from left to right with the chapters in which you build each part: tokenizer 01, embeddings 02, self-attention 03, feed-forward 04, and the heads 05 and 06.](pictures/00_whole_map.svg)
#
# *Feed-forward* is a small network in each layer. It works on every token by itself, after attention has mixed them.

# %% [markdown]
# ### Where does the answer appear? (optional)
#
# We can also give the vectors between the layers to the MLM head, as if the model ended there. This is called the
# **logit lens** (*logits* is another word for scores). The next cell prints the three words with the highest scores
# for the gap: after the embeddings, and after each layer. Guess: where does *cat* become the first word?

# %% tags=["guess"]
for depth, vectors in enumerate(hidden_states):  # [B, T, D]
    with torch.no_grad():
        at_the_gap = model.masked_lm(vectors)[0, gap]  # [V]
    words = tokenizer.convert_ids_to_tokens(at_the_gap.topk(3).indices)
    print("embeddings" if depth == 0 else f"layer {depth}   ", "→", ", ".join(words))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# After the embeddings, the vector of the gap only says "a gap, at position 3". After layer 1 there are animals, and
# after layer 2 *cat* is first. Everything that the vector says about this sentence comes from the other tokens, layer
# by layer.
#
# </details>
#
# ## The proof
#
# How do we know that this is really BERT? We compare it with the implementation that most people use: `transformers`
# by Hugging Face. It opens the same folder, gets the same sentence, and must compute the same scores. Each chapter
# has such a proof.

# %%
import transformers

folder = data_path("checkpoints/world-tiny")
reference = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
with torch.no_grad():
    theirs = reference(**encoding).prediction_logits  # [B, T, V]
    ours = model(**encoding).prediction_logits  # [B, T, V]
for word in ("cat", "dog", "piano"):
    number = tokenizer.convert_tokens_to_ids(word)
    print(f"{word:6} {ours[0, gap, number]:7.3f} {theirs[0, gap, number]:7.3f}")
print(f"and all {ours.numel():,} scores agree to {(ours - theirs).abs().max():.4f}")

# %% [markdown]
# ## How exercises work
#
# Each chapter has three to five exercises. The dots show how hard an exercise is, and the minutes how long it takes.
# You write an answer and run the cell. `check` tries your answer and tells you in words what it found. Wrong answers
# cost nothing. The next cell shows what it says to somebody who answered 36 in the exercise below.

# %%
from bertedu.course import check, hint

check("0.1", 36)

# %% [markdown]
# If you are stuck, `hint` gives a hint. Each exercise has two. Run `hint` again for the second one.

# %%
hint("0.1")

# %% [markdown]
# ### Exercise 0.1 · Count the attention weights
# ●○○○ · 3 minutes
#
# A BERT has 2 layers with 2 heads each. It reads a text of 9 tokens, `[CLS]` and `[SEP]` included. How many attention
# weights does it compute? Replace the three dots by a number.

# %% tags=["exercise"]
### BEGIN SOLUTION
number_of_weights = 324
### END SOLUTION
check("0.1", number_of_weights)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# In one head, each of the 9 tokens attends to each of the 9, itself included: 9 · 9 = 81 weights. There are 2 heads
# in each of 2 layers: 2 · 2 · 81 = 324. In letters: L · H · T · T. That is the shape `[L, H, T, T]` from above. It is
# also one reason why long texts are expensive: twice as many tokens need four times as many weights.
#
# </details>

# %% [markdown]
# ### Exercise 0.2 · Mask a token
# ●○○○ · 7 minutes
#
# BERT learns from texts with gaps, so somebody has to make the gaps.
#
# Write `mask_token(input_ids, position, mask_id)`. It gets ids of shape `[B, T]` and returns ids of the same shape.
# In each text, the token at `position` is replaced by `mask_id`.
#
# **Don't change `input_ids`.** It holds the right answers. If you write the mask into the same tensor, the right
# answer is `[MASK]` too, and the model learns to predict just that. (New to PyTorch? `x.clone()` is a copy of the tensor
# `x`, and `x[:, 2]` is column 2 of all rows. Chapter 01b says more.)


# %% tags=["exercise"]
def mask_token(input_ids, position, mask_id):
    ### BEGIN SOLUTION
    masked = input_ids.clone()  # [B, T]
    masked[:, position] = mask_id
    return masked
    ### END SOLUTION


check("0.2", mask_token)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `clone()` makes a new tensor with its own memory. Without it, `masked` would only be a second name for `input_ids`.
# `[:, position]` means: all rows, one column. `torch.where(torch.arange(T) == position, mask_id, input_ids)` does the
# same in one line. It needs no copy, because it makes a new tensor anyway.
#
# </details>

# %% [markdown]
# In the folder `notebooks/` the exercises are empty, for you to write. In `notebooks/solutions/` they are solved and
# explained. No later cell needs your answers, so you can skip an exercise and come back. The next cell shows which
# ones you have solved. The list is kept in a small file in your user folder.

# %% tags=["exercise", "nbval-ignore-output"]
from bertedu.course import progress

progress()

# %% [markdown]
# ## Broken BERT: wrong answers without an error
#
# Each chapter has a lab with a real bug, of a kind that costs people days. You see the symptom first. A colleague has
# written her own function to fill gaps, and calls it with three sentences. (`split()` cuts at spaces, so she writes one
# before the full stop.)


# %%
def ask(text):
    index = text.split().index("[MASK]")
    with torch.no_grad():
        scores = model(tokenizer(text).input_ids).prediction_logits  # [1, T, V]
    return tokenizer.convert_ids_to_tokens(scores[0, index].argmax())


questions = ["A young [MASK] is called a kitten .", "Paris is the capital of [MASK] ."]
for text in [*questions, "The people of Brazil speak [MASK] ."]:
    print(f"{text:45} {ask(text)}")

# %% [markdown]
# There is no error and no warning, but the model that filled the first of these gaps a minute ago is suddenly wrong.
# Before you go on: what do the three answers have in common?
#
# If a model suddenly seems wrong, print more than its answer. The next cell prints its predictions at *all* positions
# of the first sentence: the position, the token that the model reads there, and its prediction.

# %%
text = "A young [MASK] is called a kitten ."
with torch.no_grad():
    scores = model(tokenizer(text).input_ids).prediction_logits  # [1, T, V]
predictions = tokenizer.convert_ids_to_tokens(scores[0].argmax(dim=-1))
for position, (token, prediction) in enumerate(zip(tokenizer(text).tokens[0], predictions)):
    print(f"{position:2}  {token:8} {prediction}")

# %% [markdown]
# Where the model can see a word, it usually predicts that word. (It has learned to: in training, some of the words that
# it had to predict were not hidden. Chapter 06 explains why. At `[CLS]` and `[SEP]` it was never asked, and what it says
# there means nothing.) And at `[MASK]`, position 3, it says *cat*. So the model is fine. The function asks one position too
# early, and gets the word before the gap.
#
# ![The words of the text with their positions from 0, and below them the tokens that the model reads, which begin with [CLS]. The gap is word 2 and token 3.](pictures/00_positions.svg)
#
# ### Exercise 0.3 · Find the mask
# ●●○○ · 8 minutes
#
# Repair it: write `position_of_mask(text, tokenizer)`. It returns the position of `[MASK]` among the tokens that the
# model reads. It also has to be right if a word is split into several tokens, and if there is no space between the
# mask and a full stop.


# %% tags=["exercise"]
def position_of_mask(text, tokenizer):
    ### BEGIN SOLUTION
    return tokenizer(text).tokens[0].index("[MASK]")
    ### END SOLUTION


check("0.3", position_of_mask)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Her function counts words, but the model reads tokens. `[CLS]` comes before the first word, so every count in words
# is too small by one. Adding 1 would repair these three sentences, and fail at the first word that is split into
# several tokens. It is safer to search in the tokens themselves. The same mistake puts labels on the wrong tokens in
# named-entity recognition, and cuts out the wrong answer in question answering.
#
# </details>

# %% [markdown]
# ## A finer measure (optional)
#
# A first guess is right or wrong. That is a coarse measure. A finer one is the **rank** of the right word: 1 if no
# word has a higher score, 2 if one word has, and so on up to V.
#
# ### Exercise 0.4 · The rank of the right word
# ●●●○ · 10 minutes
#
# Write `rank(scores, right_id)` for scores of shape `[V]`. It returns a whole number. If another word has the same score,
# it doesn't matter which of the two comes first. Can you do it without sorting? (As in NumPy, `(scores > 3).sum()`
# counts.)


# %% tags=["exercise"]
def rank(scores, right_id):
    ### BEGIN SOLUTION
    return (scores > scores[right_id]).sum().item() + 1
    ### END SOLUTION


check("0.4", rank)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The rank is one more than the number of words with a higher score. Counting them takes one pass over the V scores.
# Sorting would put thousands of words in order that nobody asked about. `.item()` turns a tensor with one number into
# a Python number.
#
# </details>

# %% [markdown]
# ## Your machine
#
# All chapters run on the CPU, in minutes. Where training takes longer, `bertedu` uses a GPU if there is one, by
# NVIDIA (CUDA) or Apple (MPS). The next cell shows what it finds on your machine, and in which numbers it would compute
# (fp32 are numbers of 32 bits, the usual ones).
#
# <details><summary>There is a GPU, and the cell doesn't find it</summary>
#
# - **NVIDIA**: on Linux, the PyTorch that pip installs brings CUDA. On Windows it doesn't. Choose your system and CUDA
#   on [pytorch.org/get-started/locally](https://pytorch.org/get-started/locally/) and run the line that you get there
#   with the pip of this environment.
# - **Apple**: PyTorch for Macs with an M processor brings MPS.
# - **Google Colab**: *Runtime → Change runtime type → T4 GPU*. The PyTorch that is there has CUDA already.
#
# </details>

# %% tags=["nbval-ignore-output"]
from bertedu.doctor import devices
from bertedu.training.devices import choose_device, choose_precision

for _, name, found in devices():
    print(f"{name:8} {found}")
device = choose_device("auto")
print(f"training would run on: {device}, in {choose_precision('auto', device)}")

# %% [markdown]
# In a terminal in the folder of the course, `bertedu doctor` tells you more: it measures how many tokens per second your
# machine can train on. And `make bert` trains a small BERT from nothing, for five minutes, on English text that is
# already on your disk (the documentation of installed packages), and then asks it. You can start it now and read on.
#
# ## The map of the course
#
# | chapter | what you build |
# |---|---|
# | 00 Start here | nothing yet: see BERT work, and how the exercises work |
# | [01 The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb) | from text to ids, and how a vocabulary is learned |
# | [01b PyTorch in one sitting](01b_pytorch.ipynb) | before you begin to train: tensors, loss, gradient, training loop |
# | [02 Input embeddings](02_input_embeddings.ipynb) | from ids to vectors: token, position and segment embeddings |
# | [03 Self-attention](03_self_attention.ipynb) | the part in which tokens attend to each other |
# | [04 The Transformer encoder](04_transformer_encoder.ipynb) | a layer, and the stack of layers |
# | [05 The whole BERT](05_the_whole_bert.ipynb) | the whole model, which opens checkpoints of `transformers` |
# | [06 Masked language model](06_masked_language_model.ipynb) | the first task of pre-training: predict masked words |
# | [07 Next sentence prediction](07_next_sentence_prediction.ipynb) | the second task, and why it is easy |
# | [08 Pre-training](08_pre_training.ipynb) | your own BERT, trained from nothing |
# | [09 Looking inside](09_looking_inside.ipynb) | what a trained BERT attends to, and what it knows |
# | [10 Text classification](10_text_classification.ipynb) | the first task after pre-training: sentiment and topics |
# | [11 Tagging](11_tagging.ipynb) | names in a sentence, and a layer that predicts all tags together |
# | [12 Question answering](12_question_answering.ipynb) | answers in a text, and when not to answer |
# | [13 Pairs, similarity and summaries](13_pairs_and_similarity.ipynb) | compare two texts, search by meaning, shorten a text |
# | [14 What came before](14_what_came_before.ipynb) | word2vec, ELMo, GPT and others beside a BERT of their size |
# | [15 RoBERTa and SpanBERT](15_roberta_and_spanbert.ipynb) | the same model, a better recipe: bytes, positions, spans |
# | [16 ALBERT and DistilBERT](16_albert_and_distilbert.ipynb) | smaller in two ways: a shared layer, and a student with a teacher |
# | [17 ELECTRA](17_electra.ipynb) | a model that learns from every token: which words were replaced? |
# | [18 DeBERTa and XLNet](18_deberta_and_xlnet.ipynb) | distances instead of positions, and words predicted in any order |
# | [19 ModernBERT](19_modernbert.ipynb) | rotary positions, a gate, local attention, no padding |
# | [20 Many languages](20_many_languages.ipynb) | one BERT for two languages, and transfer without translations |
# | [21 Which one?](21_which_one.ipynb) | eleven members compared: noise, cost, and which one to take when |
# | [22 From two cores to many GPUs](22_many_gpus.ipynb) | what limits a training run, and what each remedy saves |
# | [23 Into production](23_into_production.ipynb) | export, int8, latency, drift, and a service that is fast and wrong |
# | [24 The same BERT in JAX](24_bert_in_jax.ipynb) | the same model again: random numbers and state are arguments |
# | [25 The interview](25_the_interview.ipynb) | calculations aloud, drills, somebody else's bug, a mock interview |
#
# A chapter has one to three sittings, most of them of 40 to 60 minutes. That makes 46 hours for all, and 8 more for what
# is optional. You don't have to wait so long for something that works:
#
# - **After 05** (about 10 hours) you have a whole BERT that you wrote yourself. It opens published checkpoints.
# - **After 08** (about 16 hours) you have a BERT that you trained on plain text.
# - **After 10** (about 19 hours) you have a BERT that classifies texts, and you know when it is worth it.
#
# ## Which way is yours?
#
# - **You learn by yourself.** Take the chapters in order, one at a time. Each builds on the one before and begins
#   with three questions about it.
# - **You have never trained a network?** Then [01b](01b_pytorch.ipynb) is for you, before chapter 02. Its first five
#   questions tell whether you may skip it.
# - **You teach.** `notebooks/` has the exercises empty, `notebooks/solutions/` has them solved and explained. Plans,
#   a page for each chapter, assignments, grading and slides: `docs/teaching/README.md`. The times are at the top of
#   each chapter.
# - **You have an interview on Friday.** Begin with [25 · The interview](25_the_interview.ipynb): it has a plan for one,
#   three or ten hours. In the other chapters read *Interview questions* and *Paper and code*, and do the labs called
#   *Broken BERT*. If you have a single evening, read chapter 03, then 05.
# - **You maintain notebooks.** All outputs are compared on each test run, except a few that can't repeat, such as
#   times. See `bertedu/chapters/README.md` and `CONTRIBUTING.md`; `make test` runs them all.

# %% [markdown]
# ## Paper and code (optional)
#
# How small is the model of this chapter? The next cell compares it with BERT-Base, the smaller of the two models in
# the paper (Devlin et al. 2019, section 3 and appendix A.2). It creates BERT-Base without its 440 MB of weights, just
# to count the **parameters**, the numbers that training sets.

# %%
from bertedu import BertConfig, BertModel

with torch.device("meta"):  # shapes without memory
    base = BertModel(BertConfig.preset("base"))
for name, bert in (("world-tiny", model.bert), ("BERT-Base", base)):
    config, parameters = bert.config, sum(p.numel() for p in bert.parameters())
    print(f"{name:10}  L {config.num_hidden_layers:2}", end="  ")
    print(f"H {config.num_attention_heads:2}  D {config.hidden_size}", end="  ")
    print(f"V {config.vocab_size:6,}", end="  ")
    print(f"{parameters / 1e6:5.1f} million parameters")
words_read = sum(len(sentence.split()) for sentence in sentences)
print(f"training text of world-tiny: {words_read:,} words")

# %% [markdown]
# | | BERT-Base in the paper | world-tiny |
# |---|---|---|
# | training text | English Wikipedia and BooksCorpus, 3.3 billion words | a small world of facts, 0.4 million words, written for this course |
# | masked tokens | 15 % | 40 % at the beginning, 30 % at the end of training |
# | what the model sees there | 80 % `[MASK]`, 10 % a random token, 10 % the token itself | the same |
# | second task | does text B follow text A? | the same |
# | dropout (numbers set to 0 at random in training) | 0.1 | none |
# | length of training | 1 million steps with 256 texts each, 4 days on 16 TPU chips | see `data/checkpoints/world-tiny/README.md` |
#
# The paper says 110 million parameters, which is 109.5 rounded. The two models have the same architecture. They
# differ in size, in their training text and in how they were trained.
#
# Google published its code for TensorFlow. The names in this course (`token_type_ids`, `hidden_states`,
# `from_pretrained`) are those of `transformers`, because you will meet them everywhere. Devlin et al. write H for the
# length of a vector and A for the number of heads. We write D and H.
#
# How much better was BERT in 2018? On SWAG, a test in which one chooses how a story goes on, GloVe's vectors led to 53 %
# right answers, ELMo to 59, GPT to 78 and BERT-Large, the larger of the two published sizes, to 86 (table 4).
#
# ## Summary
#
# - BERT fills a gap from **both sides**. A left-to-right model has not yet seen the word that decides.
# - It gives a probability to **every word of its vocabulary**, at every position, whether it knows the answer or not.
# - A text becomes tokens, ids `[B, T]` and vectors `[B, T, D]`. L layers mix the vectors by attention. The MLM head
#   turns them into scores `[B, T, V]`.
# - The model counts **tokens**, people count words. Search for positions among the tokens that the model reads.
# - Never report a number without a **baseline**.
#
# ## Quiz
#
# Click on an answer. Each one tells you why it is right or wrong.

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(0)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- attention-06 -->
# **1. What does "bidirectional" mean in BERT, why can't a model like GPT be trained that way, and where is the
# difference in the code?**
#
# <details><summary>Answer in half a minute</summary>
#
# Every token attends to the tokens on both sides, in every layer. GPT predicts the next token, so it mustn't see it:
# its mask adds minus infinity to the scores of all later positions. BERT hides padding alone, so predicting the next
# token would be copying. It masks some tokens of its input instead and predicts those. That gives less signal for
# each pass, but vectors that know the whole text.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Bidirectional means that every token attends to the tokens on both sides, in every layer. In the code, the layers of
# BERT and GPT are nearly the same. The difference is the mask on the scores. GPT adds minus infinity above the
# diagonal: the token at position i attends to positions 1 to i. BERT's mask hides only padding, so every token
# attends to all others on both sides.
#
# From this one line follow the training task and the use. With a causal mask, every position can be trained to
# predict its next token, since it can't see it. That gives a training signal at all T positions in one pass, and a
# model that generates text one token at a time: what it has computed for the tokens so far doesn't change when a
# token is added.
#
# Without the causal mask, the next token is visible, and predicting it would be copying: that is why GPT can't simply
# be trained with both sides. So BERT hides 15 % of the tokens and predicts those: less signal for each pass, but
# every prediction may use both sides. (GPT can fill a gap too, if it scores the whole sentence once for each
# candidate. BERT scores all candidates in one pass.) The vectors of the early tokens know how the sentence ends,
# which is what classification, tagging and retrieval need.
#
# In BERT one more token changes every vector, so nothing can be reused. Sometimes people convert one into the other:
# take the mask off a decoder and train it on masked tokens for a while, and it becomes an encoder, for example for
# embeddings. At equal size one that was trained as an encoder stays ahead (Weller et al. 2025).
#
# </details>
#
# <!-- pretraining-13 -->
# **2. A masked language model gives Paris the probability 0.98 in "The capital of France is `[MASK]`." What does this
# number tell you, and what not?**
#
# <details><summary>Answer in half a minute</summary>
#
# It tells you how well Paris fits here, compared with all other words of the vocabulary, in text like the training
# text. It isn't the probability that the statement is true: the probabilities also sum to 1 where there is no answer,
# and another wording may get another number. Whether 0.98 is right in 98 of 100 cases has to be measured.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The model computes a score for each of its 30,522 tokens and a softmax over them. So 0.98 is relative: among these
# single tokens, in this gap, Paris takes nearly all of the mass.
#
# Four things it doesn't say. First, truth. The model was trained on which word stands in such a gap, and frequent
# associations win. Ask for the capital of Australia, and Sydney may get a high number; with a negation, "is not
# `[MASK]`", the favourite often stays the same. Second, existence of an answer. The softmax always sums to 1, so "The
# capital of the Atlantic is `[MASK]`" also gets a distribution, perhaps a peaked one. There is no option for none of
# these.
#
# Third, robustness. "France has its capital in `[MASK]`" can get another number. A single wording is one sample; I'd
# ask in ten ways. Fourth, calibration. A number of 0.98 is honest if such predictions are right in 98 of 100 cases.
# That can be measured, on held-out text, with a reliability diagram, and it will hold at most for text like that.
#
# Two technical points. Only words that are one token compete: a capital of two pieces needs two masks, and then the
# two are predicted independently. And memorized text: perhaps the sentence was in the training data, word for word.
# So what is the number good for? For ranking candidates in the same gap, as a feature, and for comparing two models
# on the same text. For facts I'd retrieve a source and let the model read it.
#
# </details>
#
# <!-- debugging-09 -->
# **3. Your model worked in the notebook and gives nonsense in production, without an error. What do you check first,
# and in which order?**
#
# <details><summary>Answer in half a minute</summary>
#
# Cut the pipeline in the middle. Take one fixed text with stored ids, logits and label from the notebook, and compare
# stage by stage, number by number: raw text, ids and masks, weights, logits, label. The first stage that differs has
# the bug. Most often it is the tokenizer, then evaluation mode, then the map from class numbers to names.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# I don't guess, I bisect. The pipeline has five stages: the text that arrives, the ids, the weights, the logits, and
# what is shown to the user. For one text I have the right values of each stage, from the notebook.
#
# First the text: print repr. Has somebody lower-cased it, stripped HTML, cut it at 500 characters, broken the
# encoding, so that é became two characters? Then ids, segment ids and attention mask: equal, number by number? Here
# are most bugs: another vocabulary file, other case, `[CLS]` and `[SEP]` missing or twice, padding without its mask,
# another truncation. Print the tokens, not the text.
#
# Then the weights: compare a checksum, or the sum of each tensor. Did the loader warn about missing keys, so that the
# head is random? Is it the best checkpoint or the last? Then the logits with the fixed ids: if ids and weights are
# equal and logits aren't, look at `model.eval()`, at precision and quantization, at positions of left-padded batches,
# at a library version. Call it twice: two answers for one input mean dropout. Then from the logits to the answer:
# order of the labels, softmax or sigmoid, the threshold, a temperature. If the model is better than chance at the
# wrong thing, always the same wrong class for the right one, it's the label map.
#
# If all stages agree and the answers are still bad, the code is right and the data are different. Perhaps the test
# set was too kind: copies of training texts, a random split where a split by time was needed, or more positives than
# in production, which alone lowers precision. I replay logged inputs and label two hundred. Afterwards this
# comparison becomes a start-up test with ten texts, so it can't happen again without a noise.
#
# </details>

# %% [markdown]
# ## Next
#
# The model reads tokens, not text. What is a token? The tokenizer is the first thing that you build.
#
# Go on with [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb).
