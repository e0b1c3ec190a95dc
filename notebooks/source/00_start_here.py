# %% [markdown]
# # 00 · Start here
#
# In this course you build BERT, every part of it, and understand each line. In this first notebook you see what you
# will have built at the end, working now, on your machine.

# %% [markdown]
# ## What you will be able to do
#
# - say what BERT does that counting neighbours cannot, and show it
# - follow one sentence through the whole model: tokens, ids, vectors, attention, guesses
# - examine a model before you believe it: what it knows, and what it answers when it knows nothing
# - use the exercises, hints, checks and quizzes of this course
# - choose your way through the chapters
#
# **Time:** 45 minutes · **You need:** some Python and a first acquaintance with PyTorch tensors, nothing about BERT · **Next:** [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb)

# %% [markdown]
# ## How to read a notebook
#
# Run the cells from top to bottom with **Shift + Enter**. Before a cell that answers a question the text asks you to
# guess. Do guess: a wrong guess, corrected at once, is remembered better than a right sentence that was only read.
#
# You cannot break anything. Change what you like and run it again; *Kernel → Restart* takes you back to the start.
#
# ## A word is missing
#
# > A young ▢ is called a kitten.
#
# You know the word. How would a program know it? An old and simple idea is to count: which word follows *young* most
# often? For that we need text. The course brings its own: a small world of true facts about countries, animals,
# planets, trades and some more, in plain sentences.

# %%
from bertedu.corpora.world import world_corpus

corpus = world_corpus()
sentences = list(corpus.train_sentences())
print(f"{len(sentences):,} sentences, for instance:")
for document in corpus.train[:3]:
    print("  ", document.sentences[0])

# %% [markdown]
# Now count what follows each word.
#
# Guess before you run it: what will counting put into *A young ▢ is called a kitten*, and what into *A young ▢ is
# called a duckling*?

# %%
from collections import Counter, defaultdict

followers = defaultdict(Counter)
for sentence in sentences:
    words = sentence.lower().replace(".", "").split()
    for word, following in zip(words, words[1:]):
        followers[word][following] += 1

# %%
def count_guess(text):
    """The word that most often follows the word before [MASK]."""
    words = text.lower().partition("[mask]")[0].split()
    counts = followers[words[-1]] if words else None
    return counts.most_common(1)[0][0] if counts else "?"

gaps = [f"A young [MASK] is called a {young}." for young in ("kitten", "duckling", "puppy", "lamb")]
for text in gaps:
    print(f"{text:45} {count_guess(text)}")

# %% [markdown]
# The same word every time. It must be: what decides stands *after* the gap, and this program looks only at what
# stands before it. A longer memory does not help, since all four sentences are the same up to the gap. Nor would a look
# at the next word: it is *is* each time.
#
# A model that writes from left to right, word after word, is in the same place when it comes to the gap. **BERT reads
# both sides at once.** Let us see it do so.

# %% [markdown]
# ## BERT at work
#
# The folder `data/checkpoints/world-tiny` holds a small BERT that learned from these sentences alone, by filling in
# words that were hidden from it. You will build every part of it, and train such a model yourself.

# %%
import torch

from bertedu import BertForPreTraining, BertTokenizer
from bertedu.course import check, data_path, hint, progress, quiz
from bertedu.inference import attention_weights, fill_mask

tokenizer = BertTokenizer.from_pretrained(data_path("checkpoints/world-tiny"))
model = BertForPreTraining.from_pretrained(data_path("checkpoints/world-tiny"))

for text in gaps:
    word, probability = fill_mask(model, tokenizer, text, top=1)[0][0]
    print(f"{text:45} {word}")

# %% [markdown]
# Four sentences that begin alike, four answers: a word near the end decides about the third. `[MASK]` is how a gap is
# written: a token of its own, which says that here something is hidden.
#
# The model does not answer with a word. It gives every word of its vocabulary a probability, and we read the list from
# the top. (A word that is not in the vocabulary can never be an answer. Chapter 01 is about who gets in.) Here are
# the first five.

# %%
from bertedu.visualization import prediction_bars

prediction_bars(gaps[0], fill_mask(model, tokenizer, gaps[0], top=5))

# %% [markdown]
# Now ask something yourself. Change the text between the quotes and run the cell as often as you like. The model
# knows countries and their capitals, languages and money; animals; planets; months; chemical elements; trades and
# where they work; opposites.

# %%
text = "The capital of France is [MASK]."
[word for word, probability in fill_mask(model, tokenizer, text, top=3)[0]]

# %% [markdown]
# ## Does it know, or does it repeat?
#
# *The capital of France is Paris.* may stand in the text that the model learned from, word for word. Then the answer
# is recalled, which is less than it seems. So we do what every examination does: ask in words that were not in the
# lessons. The corpus comes with such questions, made from templates that training never shows.
#
# The words are new, the facts are not: each of them was told in other words. What share will the model get right? And
# what share will counting get?

# %%
probes = corpus.fact_probes
read = {sentence.lower() for sentence in sentences}
repeated = sum(probe.sentence.replace("[MASK]", probe.answer).lower() in read for probe in probes)
print(f"{len(probes)} questions; word for word in the training text: {repeated}. Three of them:")
for probe in probes[100::120]:
    print(f"  {probe.sentence}  ({probe.answer})")

# %%
first = [fill_mask(model, tokenizer, probe.sentence, top=5)[0] for probe in probes]
bert = sum(guesses[0][0] == probe.answer for guesses, probe in zip(first, probes))
among_five = sum(probe.answer in dict(guesses) for guesses, probe in zip(first, probes))
counted = sum(count_guess(probe.sentence) == probe.answer for probe in probes)
total = len(probes)
print(f"counting  {counted / total:4.0%} right")
print(f"BERT      {bert / total:4.0%} right, and {among_five / total:.0%} among its first five")

# %% [markdown]
# That is why a number in this course never stands alone. Beside it stands what something simple gets on the same
# questions: without the first number you could not say what the second is worth.
#
# And what does it say to a question that has no answer?

# %%
for text in ["The capital of Atlantis is [MASK].", "A young piano is called a [MASK].", "Bananas speak [MASK]."]:
    print(f"{text:40} {fill_mask(model, tokenizer, text, top=1)[0][0][0]}")

# %% [markdown]
# It answers. It always does: the probabilities of all words sum to 1, so one of them must be the largest, and *I do
# not know* is not among them. A larger model shares out its 100 % in the same way. A probability is no promise that
# something is true. It says how well a word would fit in text like the text that was read.

# %% [markdown]
# ## Where it looks
#
# How does the gap learn about the kitten? By **attention**: in every layer each token shares out 100 % of its
# attention over all tokens and takes in what it finds there. Several **heads** do so side by side, each in its own
# way. Which of them connects the gap with the kitten? We look for the one in which `[MASK]` looks at *kitten* most.

# %%
tokens, weights = attention_weights(model, tokenizer, gaps[0])  # weights [L, H, T, T]
gap, kitten = tokens.index("[MASK]"), tokens.index("kitten")
looks = weights[:, :, gap, kitten]  # [L, H]
layer, head = divmod(int(looks.argmax()), looks.size(1))
print("weights", list(weights.shape), "of the tokens", *tokens)
print(f"most in layer {layer + 1}, head {head + 1}: {looks[layer, head]:.0%} of the gap's attention; even would be {1 / len(tokens):.0%}")

# %%
from bertedu.visualization import attention_heatmap

attention_heatmap(weights[layer, head], tokens, title=f"Layer {layer + 1}, head {head + 1}")

# %% [markdown]
# Read it row by row: the row of `[MASK]` shows where the gap looks. The row of any other token sums to 100 % just the
# same. Beware of reading a story into each dark field: attention shows where information *could* come from, and not
# that it was used. In chapter 03 you build this part, and find out what its pictures can and cannot tell.
#
# To look around in all heads, write a page to explore, in a terminal in the course's folder:
# `bertedu attention "A young [MASK] is called a kitten." --model data/checkpoints/world-tiny --html attention.html`

# %% [markdown]
# ## One sentence on its way through BERT
#
# Here is the whole way of our sentence, one station a line. The letters are the course's notation: **B** texts in a
# batch, **T** tokens in a text, **D** numbers in a vector, **H** heads, **L** layers, **V** words in the vocabulary.

# %%
encoding = tokenizer(gaps[0])
with torch.no_grad():
    vectors = model.bert.embeddings(encoding.input_ids, encoding.token_type_ids)  # [B, T, D]
    hidden_states, attentions = model.bert.encoder(vectors, output_attentions=True)  # L + 1 times [B, T, D]
    logits = model.masked_lm(hidden_states[-1])  # [B, T, V]

print("ids       ", list(encoding.input_ids.shape), encoding.input_ids[0, :4].tolist(), "…")
print("embeddings", list(vectors.shape))
print("attention ", list(attentions[0].shape), "in each of", len(attentions), "layers")
print("encoder   ", list(hidden_states[-1].shape))
print("scores    ", list(logits.shape))

# %% [markdown]
# The scores are one number for each of the V words, at each of the T places. Softmax makes probabilities of them.
# That is the whole of it, and here is the map, with the chapter in which you build each station.

# %%
from bertedu.visualization.picture import BLUE, GREY, INK, Picture, new_figure

stations = [
    ("tokenizer", "01", "[B, T]\nids"),
    ("embeddings", "02", "[B, T, D]\nvectors"),
    ("self-\nattention", "03", "[B, T, D]"),
    ("feed-forward,\nresiduals, norm", "04", "[B, T, D]\nin context"),
    ("heads", "05", "[B, T, V]\nscores"),
]
figure = new_figure(10, 2)
axes = figure.subplots()
axes.text(-0.75, 0, "text", ha="center", va="center", fontsize=11, color=INK)
for x, (name, chapter, shape) in enumerate(stations):
    box = {"boxstyle": "round,pad=0.55", "facecolor": BLUE, "edgecolor": "none"}
    axes.text(x, 0, name, ha="center", va="center", fontsize=10, color="white", bbox=box)
    axes.text(x, 0.5, f"chapter {chapter}", ha="center", fontsize=10, color=INK)
    axes.text(x + 0.5, -0.36, shape, ha="center", va="top", fontsize=9, color=INK)
    axes.annotate("", (x + 0.58, 0), (x + 0.42, 0), arrowprops={"arrowstyle": "->", "color": GREY})
axes.annotate("", (-0.42, 0), (-0.58, 0), arrowprops={"arrowstyle": "->", "color": GREY})
axes.plot([1.6, 3.4], [0.82, 0.82], color=GREY)
axes.text(2.5, 0.88, "one layer, L times", ha="center", fontsize=10, color=INK)
axes.set(xlim=(-1, 5), ylim=(-0.8, 1.15))
axes.axis("off")
Picture(figure, alt="The way through BERT: text, tokenizer (chapter 01), embeddings (02), then L layers of self-attention (03) and feed-forward (04), then the heads (05).")

# %% [markdown]
# The vectors between the stations can be asked too. We give each of them to the head, as if the model ended there.
# Watch the gap and guess: after which station does it become the right word?

# %%
for depth, vectors in enumerate(hidden_states):  # [B, T, D]
    with torch.no_grad():
        scores = model.masked_lm(vectors)[0, gap]  # [V]
    words = tokenizer.convert_ids_to_tokens(scores.topk(3).indices)
    print("embeddings" if depth == 0 else f"layer {depth}   ", "→", ", ".join(words))

# %% [markdown]
# After the embeddings the gap knows only that it is a gap at the third place of some text. Everything else it has
# taken in from its neighbours, layer by layer.
#
# ## The proof
#
# How do we know that this is BERT, and not something like it? By comparing with the implementation that everybody
# uses. `transformers` by Hugging Face opens the same folder, reads the same sentence, and must give the same scores.
# Each chapter ends its building with such a proof.

# %%
import transformers

reference = transformers.BertForPreTraining.from_pretrained(data_path("checkpoints/world-tiny"), dtype=torch.float32).eval()
with torch.no_grad():
    theirs = reference(**encoding).prediction_logits  # [B, T, V]
    ours = model(**encoding).prediction_logits  # [B, T, V]
print("same shape:", ours.shape == theirs.shape)
print("largest difference below 1e-5:", (ours - theirs).abs().max().item() < 1e-5)

# %% [markdown]
# ## How exercises work
#
# Each chapter has three to five exercises, with the difficulty in dots and the minutes that they take. You write your
# answer, run the cell, and `check` says in words what it tried, what came, and what it looks like. A wrong answer
# costs nothing. Here is one. Somebody has answered the exercise below with 36:

# %%
check("0.1", 36)

# %% [markdown]
# And if you are stuck, there are two hints for each exercise. The second comes when you ask again.

# %%
hint("0.1")

# %% [markdown]
# ### Exercise 0.1 · Guess the number of looks
# ●○○○ · 2 minutes
#
# A BERT has 2 layers with 2 heads each. It reads a text of 9 tokens, `[CLS]` and `[SEP]` included. How many
# attention weights does it compute? Replace the three dots by a number.

# %% tags=["exercise"]
### BEGIN SOLUTION
looks_in_all = 324
### END SOLUTION
check("0.1", looks_in_all)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# In one head each of the 9 tokens looks at each of the 9, itself included: 9 · 9 = 81 weights. There are 2 heads in
# each of 2 layers: 2 · 2 · 81 = 324. In letters, L · H · T · T. That is the shape `[L, H, T, T]` which you have seen
# above, and the reason why long texts are dear: twice the tokens, four times the weights.
#
# </details>

# %% [markdown]
# ### Exercise 0.2 · Hide a token
# ●○○○ · 6 minutes
#
# BERT learns from texts with gaps, so somebody must make gaps. Write `hide(input_ids, place, mask_id)`: from ids of
# shape `[B, T]` it returns ids in which the token at `place` of every text is `mask_id`.
#
# One thing matters: **the text that came in must stay whole.** It holds the right answer. When the gap is made in the
# same tensor, question and answer become the same, and the model learns perfectly to answer `[MASK]`.

# %% tags=["exercise"]
def hide(input_ids, place, mask_id):
    ### BEGIN SOLUTION
    hidden = input_ids.clone()  # [B, T]
    hidden[:, place] = mask_id
    return hidden
    ### END SOLUTION

check("0.2", hide)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `clone()` makes a tensor with memory of its own; without it, `hidden` would be a second name for `input_ids`.
# `[:, place]` means: all rows, one column. `torch.where(torch.arange(T) == place, mask_id, input_ids)` does it in one
# line and needs no copy, since it writes into no tensor that was there before.
#
# </details>

# %% [markdown]
# In `notebooks/` the answers are for you to write. In `notebooks/solutions/` the same notebooks have them written and
# explained. No later cell uses your answer, so that you can skip an exercise and come back. What you have solved is
# ticked here, and kept in a small file in your user folder:

# %% tags=["exercise", "nbval-ignore-output"]
progress()

# %% [markdown]
# ## Broken BERT: it repeats what it reads
#
# Each chapter has a lab with a real bug in it, of the kind that costs people days. You see the symptom first. A
# colleague has written a function of her own for filling in the gap:

# %%
def ask(text):
    place = text.split().index("[MASK]")
    with torch.no_grad():
        scores = model(tokenizer(text).input_ids).prediction_logits  # [1, T, V]
    return tokenizer.convert_ids_to_tokens(scores[0, place].argmax())

# A space before the full stop: otherwise split() would not find the mask.
for text in ["A young [MASK] is called a kitten .", "Paris is the capital of [MASK] .", "The people of Brazil speak [MASK] ."]:
    print(f"{text:45} {ask(text)}")

# %% [markdown]
# No error, no warning, and a model that filled these gaps a minute ago seems to have lost its mind. Before you read on:
# what do the three answers have in common?
#
# One good question to a model that fails is: what do you say at the *other* places?

# %%
text = "A young [MASK] is called a kitten ."
with torch.no_grad():
    scores = model(tokenizer(text).input_ids).prediction_logits  # [1, T, V]
guesses = tokenizer.convert_ids_to_tokens(scores[0].argmax(dim=-1))
for place, (token, guess) in enumerate(zip(tokenizer(text).tokens[0], guesses)):
    print(f"{place:2}  {token:8} {guess}")

# %% [markdown]
# Where a word can be seen, the model as a rule gives that word back. (It learned to: of the words that it had to guess
# in training, a tenth were left visible.) And in the row of `[MASK]` stands a good answer. So the model is well.
# Somebody has asked it about the wrong place.
#
# ### Exercise 0.3 · Find the mask
# ●●○○ · 8 minutes
#
# Repair it: write `place_of_mask(text, tokenizer)`, which returns the place of `[MASK]` in the row of tokens that the
# model reads. It must also be right where a word falls into pieces, and where a full stop touches the mask.

# %% tags=["exercise"]
def place_of_mask(text, tokenizer):
    ### BEGIN SOLUTION
    return tokenizer(text).tokens[0].index("[MASK]")
    ### END SOLUTION

check("0.3", place_of_mask)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The function counted in words; the model reads tokens. In front of the first word stands `[CLS]`, so every count in
# words is one too small. Adding 1 would heal these three sentences and fail on the first word that falls into
# pieces. The lasting repair is to look in the row itself. The same slip puts labels on the wrong tokens in named-entity
# recognition, and cuts answers in the wrong place in question answering.
#
# </details>

# %% [markdown]
# ## How right is it?
#
# A first guess is right or wrong, and that is a coarse measure. A finer one is the **rank** of the right word: 1 if no
# word has a higher score, 2 if one has, and so on down to V.
#
# ### Exercise 0.4 · What rank has the right word?
# ●●●○ · 8 minutes
#
# Write `rank(scores, right_id)` for scores of shape `[V]`. It returns a whole number. Can you do it without sorting?

# %% tags=["exercise"]
def rank(scores, right_id):
    ### BEGIN SOLUTION
    return (scores > scores[right_id]).sum().item() + 1
    ### END SOLUTION

check("0.4", rank)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The rank is one more than the number of words with a higher score. Counting them takes one pass over the V scores;
# sorting would order thousands of words that nobody asked about. `.item()` turns the tensor with one number into a
# number of Python.
#
# </details>

# %% [markdown]
# ## Your machine
#
# The chapters run on the processor alone, with the same numbers everywhere. Where training takes longer, `bertedu`
# uses what is there: a GPU by NVIDIA (CUDA) or by Apple (MPS). This is what it finds on your machine:

# %% tags=["nbval-ignore-output"]
from bertedu.doctor import devices
from bertedu.training.devices import choose_device, choose_precision

for _, name, found in devices():
    print(f"{name:8} {found}")
device = choose_device("auto")
assert device in ("cpu", "cuda", "mps")
print(f"training would run on: {device}, in {choose_precision('auto', device)}")

# %% [markdown]
# In a terminal, `bertedu doctor` says more: it measures how many tokens a second your machine will learn from. And
# `make bert` trains a small BERT from nothing: five minutes of learning, on English prose that is already on your
# disk. Start it now if you like, and read on while it learns.
#
# ## The map of the course
#
# | chapter | you build | minutes |
# |---|---|---|
# | 00 Start here | the first look: this notebook | 45 |
# | [01 The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb) | from any text to ids, and the vocabulary learned by you | 60 |
# | [02 Input embeddings](02_input_embeddings.ipynb) | from ids to vectors that know word, place and segment | 50 |
# | [03 Self-attention](03_self_attention.ipynb) | the part in which tokens look at each other | 60 |
# | [04 The Transformer encoder](04_transformer_encoder.ipynb) | the layer, and the stack of them | 60 |
# | [05 The whole BERT](05_the_whole_bert.ipynb) | everything together, with published weights loaded into it | 60 |
# | [06 Masked language model](06_masked_language_model.ipynb) | the first task of pre-training: words hidden and guessed | 60 |
# | [07 Next sentence prediction](07_next_sentence_prediction.ipynb) | the second one, and why it is easy | 55 |
# | [08 Pre-training](08_pre_training.ipynb) | a BERT of your own, from nothing | 60 |
# | [09 Looking inside](09_looking_inside.ipynb) | what a trained BERT looks at, and what it knows | 60 |
# | [10 Text classification](10_text_classification.ipynb) | the first task that you teach it: opinions and topics | 60 |
# | [11 Tagging](11_tagging.ipynb) | names in a sentence, and a layer that chooses all tags together | 60 |
# | [12 Question answering](12_question_answering.ipynb) | answers in a text, and when to say that there is none | 60 |
# | [13 Pairs, similarity and summaries](13_pairs_and_similarity.ipynb) | what follows from what, what says the same, and what may be left out | 60 |
#
# The first six give you the whole model. Chapters 06 to 09 train it and look into it, and 10 to 13 teach it what people
# use it for. Those on BERT's relatives are to follow.
#
# ## Which way is yours?
#
# - **You learn by yourself.** Take the chapters in order, one at a sitting. Each builds on the one before, and begins
#   with three questions about it.
# - **You teach.** The notebooks in `notebooks/` have empty exercises, those in `notebooks/solutions/` have them solved
#   and explained. `check("0.2", hide).passed` is `True` or `False`, for grading. The times are at the top of each.
# - **You have an interview on Friday.** Read *Interview questions* and *Paper and code* in every chapter, then do the
#   labs called *Broken BERT*. If there is one evening only: 03, then 05.
# - **You keep notebooks alive.** Every output that you see is compared on each test run. How that works is in
#   `notebooks/source/TEMPLATE.md` and `CONTRIBUTING.md`; `make test` runs it all.

# %% [markdown]
# ## Paper and code
#
# How small is the model that you have just examined? The larger one is BERT-Base, as published (Devlin et al. 2019,
# section 3 and appendix A.2).

# %%
from bertedu import BertConfig, BertModel

with torch.device("meta"):  # shapes without memory: 440 MB are not needed to count
    base = BertModel(BertConfig.preset("base"))
for name, bert in [("world-tiny", model.bert), ("BERT-Base", base)]:
    config, parameters = bert.config, sum(p.numel() for p in bert.parameters())
    print(f"{name:10}  L {config.num_hidden_layers:2}  H {config.num_attention_heads:2}  D {config.hidden_size}", end="  ")
    print(f"V {config.vocab_size:6,}  {parameters / 1e6:5.1f} million parameters")
print(f"words that world-tiny has read: {sum(len(sentence.split()) for sentence in sentences):,}, again and again")

# %% [markdown]
# | | the paper's BERT-Base | world-tiny |
# |---|---|---|
# | text | English Wikipedia and BooksCorpus, 3.3 billion words | a small world of facts, written by the course |
# | gaps | 15 % of the tokens | 40 % at the beginning, 30 % at the end of training |
# | what becomes of them | 80 % `[MASK]`, 10 % another word, 10 % stay as they are | the same |
# | second task | does text B follow text A? | the same |
# | dropout | 0.1 | none |
# | length of training | 1 million batches of 256 texts, 4 days on 16 TPU chips | see `data/checkpoints/world-tiny/README.md` |
#
# The paper writes 110 million, which is the number above, rounded. The architecture of the two is the same, station by
# station; the proof has shown it. They differ in size, in what they have read, and in how long.
#
# Google published its code for TensorFlow. Names in this course (`token_type_ids`, `hidden_states`, `from_pretrained`)
# are those of `transformers`, so that what you learn here is what you will meet.
#
# ## Summary
#
# - BERT fills a gap from **both sides**. Whoever comes from the left has not seen yet what decides.
# - It gives **every word of its vocabulary a probability**, at every place, whether it knows anything or not.
# - A text becomes tokens, ids `[B, T]`, vectors `[B, T, D]`, is mixed by attention in L layers, and ends as scores
#   `[B, T, V]`.
# - A model counts in **tokens**, people count in words. Look for places in the row that the model reads.
# - Beside every number belongs the number of something simple.
#
# ## Quiz
#
# Click an answer: each one says why it is right or wrong.

# %% tags=["nbval-ignore-output"]
quiz(0)

# %% [markdown]
# ## Interview questions
#
# **What does "bidirectional" mean in BERT, and why can a model like GPT not simply be trained that way?**
#
# <details><summary>Answer</summary>
#
# Every token attends to the tokens on both sides, in every layer. A model that predicts the next word must not see
# what comes after, or it would read the answer off the page; so its attention is cut on the right. BERT changes the
# task instead: it hides some tokens in the input and predicts only those, so that the rest may be seen from everywhere.
# The price: only some 15 % of the tokens give a training signal, and the model is no natural writer of text.
# (A left-to-right model can fill a gap all the same, by scoring the whole sentence once for each candidate. BERT
# scores all candidates in one pass.)
#
# </details>
#
# **A masked language model gives *Paris* a probability of 0.98. What does this number tell, and what not?**
#
# <details><summary>Answer</summary>
#
# It tells how well *Paris* fits at this place in text like the training text, compared with all other words of the
# vocabulary. It is no probability that a statement is true: the model must share out 100 % also where no answer
# exists, and a question in other words may get another number. Whether its 0.98 is right in 98 of 100 cases
# (calibration) has to be measured.
#
# </details>
#
# **Your model worked in the notebook and gives nonsense in production, without an error. Where do you look first?**
#
# <details><summary>Answer</summary>
#
# At what the model really reads: print the tokens, not the text. Is it the tokenizer of this model, lower-casing
# included? Are `[CLS]` and `[SEP]` there, and the attention mask where there is padding? Do places mean tokens or
# words? Is the model in evaluation mode? Then compare one fixed input with a stored output, number by number.
#
# </details>

# %% [markdown]
# ## Next
#
# The model reads tokens and not text. Who decides what a token is? That is the first thing you build:
# [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb).
