# %% [markdown]
# # 07 · Next sentence prediction
#
# You will build BERT's second training task token by token, count whether it is what the paper says it is, and find
# out what a model learns from it. It is less than the name promises.
#
# ## What you will be able to do
#
# - make pairs of segments from documents as published, and prove by counting that they are right;
# - say why more than half of the pairs are negatives, and by how much;
# - compute the loss of next sentence prediction by hand, add it to the masked-word loss, and say who pulls harder;
# - show with a model and a count of words why the task is easy, and which negatives make it hard;
# - say what RoBERTa and ALBERT did about it, with their numbers.
#
# **Time:** 55 minutes · **You need:** [06 · Masked language model](06_masked_language_model.ipynb) · **Next:** [08 · Pre-training](08_pre_training.ipynb)
#
# ## Recall
#
# 1. Which tokens count in the masked-word loss?
#
# <details><summary>Answer</summary>
#
# Only the chosen 15 %, whether they were replaced by [MASK], by a random token or left as they were. All others carry
# the label −100.
#
# </details>
#
# 2. A fresh model scores V words. What is its loss at the start, about?
#
# <details><summary>Answer</summary>
#
# ln V, the surprise of a guess among V equally likely words.
#
# </details>
#
# 3. What does the pooler do?
#
# <details><summary>Answer</summary>
#
# It takes the vector of [CLS], a linear layer and tanh: `[B, T, D]` to `[B, D]` (chapter 05). Masked words do not use it.
#
# </details>
#
# ## Where this part sits
#
# Two segments go in at once, and two losses come out. Blue is the part that this chapter adds.

# %%
import copy
import random
from functools import cache

import torch
import transformers
from torch import nn
from torch.nn.functional import cross_entropy

from bertedu import BertForPreTraining, BertTokenizer
from bertedu.corpora.world import world_corpus
from bertedu.course import check, data_path, hint, quiz
from bertedu.pretraining.baselines import OverlapBaseline
from bertedu.pretraining.evaluation import segments
from bertedu.pretraining.examples import collate, tokenize_documents
from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, Pair, PairMaker, truncate
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

# %%
figure = new_figure(7.4, 2.4)
axes = figure.subplots()
axes.set(xlim=(-0.2, 10.4), ylim=(0.2, 4.2))
axes.axis("off")

def box(x, y, text, new=False):
    around = {"boxstyle": "round,pad=0.4", "facecolor": "#e3f0f8" if new else "#f3f3f3", "edgecolor": BLUE if new else GREY}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK, bbox=around)

def arrow(start, end):
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "linewidth": 1.4})

box(1.3, 2, "pairs of segments\n[CLS] first [SEP] second [SEP]", True)
box(4.4, 2, "BERT\n[B, T, D]")
box(6.6, 3.3, "masked-word head\n[N, V]")
box(6.3, 0.8, "pooler\n[B, D]")
box(8.1, 0.8, "two scores\n[B, 2]", True)
box(9.6, 2, "sum of\nlosses", True)
for start, end in (((2.9, 2), (3.8, 2)), ((4.95, 2.3), (5.6, 3.1)), ((4.95, 1.7), (5.8, 1)), ((6.8, 0.8), (7.5, 0.8)),
                   ((7.6, 3.2), (9.1, 2.4)), ((8.75, 1.1), (9.25, 1.5))):  # fmt: skip
    arrow(start, end)
Picture(figure, alt="Pairs of segments go into BERT. Its vectors go to the masked-word head, and that of [CLS] through the pooler "
        "to two scores. The two losses are added. New here: the pairs, the two scores and the sum.")

# %% [markdown]
# ## A model that passes, and a question that it fails
#
# Many tasks ask about two texts: does this sentence answer that question, does this claim follow from that one?
# Masked words ask for one text at a time. So Devlin et al. (2019, section 3.1) added a second task: two segments go in,
# and the model says whether the second really came after the first (**IsNext**) or from somewhere else (**NotNext**).
#
# The BERT that ships with the course was trained so, on a small world of facts. Which of these four pairs are IsNext?
# Decide before you run.

# %%
folder = data_path("checkpoints/world-tiny")
tokenizer, bert = BertTokenizer.from_pretrained(folder), BertForPreTraining.from_pretrained(folder).eval()

@torch.no_grad()
def chance_of_next(first, second):
    encoding = tokenizer(first, second)
    output = bert(encoding.input_ids, encoding.attention_mask, encoding.token_type_ids)
    return output.seq_relationship_logits.softmax(dim=-1)[0, IS_NEXT].item()  # of [1, 2]

# %%
portugal, lisbon, oboe = "People in Portugal speak Portuguese.", "Its capital is Lisbon.", "The oboist plays the oboe."
for first, second in ((portugal, lisbon), (portugal, oboe), (lisbon, portugal), (portugal, portugal)):
    print(f"{first:38} {second:38} IsNext {chance_of_next(first, second):4.0%}")

# %% [markdown]
# The first two answers are what was asked for. Now the last two. *Its capital is Lisbon* cannot open a text in which
# Portugal is named afterwards, and nobody writes the same sentence twice. A reader sees it at once. This model, which
# on its own test is right far more often than not, does not mind.
#
# What has it learned, then? To find out we must know exactly what it was shown. So we build its examples.
#
# ## Pairs with the pencil
#
# A **segment** is a stretch of one document, usually several sentences. Here is a document of five sentences, numbered
# from 0, with 3, 4, 2, 5 and 3 tokens. We want pairs of about 9 tokens (in BERT: 512, less [CLS] and two [SEP]).
#
# **1. Collect** sentences until there are 9 tokens, or until the document ends. **2. Split** the collected chunk at a
# random place between two sentences: the first part is the first segment. **3. Toss a coin.** Heads: the rest of the chunk is
# the second segment, IsNext. Tails: the second segment comes from a random place in another document, NotNext, and
# the rest of the chunk is put back, to be used later.
#
# Step 1 with the pencil: which sentences are in the first chunk? Then the code.

# %%
def chunk_end(document, start, target):  # the first sentence that is not in the chunk any more
    stop = start + 1
    while stop < len(document) and sum(map(len, document[start:stop])) < target:
        stop += 1
    return stop

lengths = [3, 4, 2, 5, 3]
document = [[number] * length for number, length in enumerate(lengths)]  # five lists of tokens
start = 0
while start < len(document):
    stop = chunk_end(document, start, target=9)
    print("chunk: sentences", list(range(start, stop)), "with", sum(lengths[start:stop]), "tokens")
    start = stop

# %% [markdown]
# That would be all if the coin always fell heads. After tails, something else happens.
#
# ### Exercise 7.1 · Tails
# ●○○○ · 2 minutes
#
# The first chunk holds the sentences 0, 1 and 2. It is split after sentence 0, and the coin falls tails. With which
# sentence does the next chunk begin? Give its number.

# %% tags=["exercise"]
### BEGIN SOLUTION
sentence = 1
### END SOLUTION
check("7.1", sentence)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Sentence 0 was used as the first segment. Sentences 1 and 2 were collected but not used, because the second segment
# came from another document. They are put back, so the next chunk begins with sentence 1. Without this, half of the coin tosses
# would throw text away.
#
# </details>

# %% [markdown]
# ## Too long
#
# Collecting stops *behind* the sentence that reaches the target, so a chunk may be longer than the target. What is too much is cut off
# token by token: each time from the longer of the two segments, and a coin decides whether its first or its last token goes.
#
# Why not simply cut the end? Then every first segment would begin at the start of a sentence, and long ones would never
# end where a sentence ends. Such a pattern says nothing about text, and a network would find it.
#
# ### Exercise 7.2 · Cut to length
# ●●○○ · 10 minutes
#
# Write `cut(first, second, most, rng)`: two lists of tokens, the number of tokens allowed in both together, and a
# `random.Random` whose `rng.random()` gives a number from 0 to 1. Return the two lists. Stuck? `hint("7.2")`

# %% tags=["exercise"]
def cut(first, second, most, rng):
    ### BEGIN SOLUTION
    first, second = list(first), list(second)
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second
    ### END SOLUTION

check("7.2", cut)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The loop takes one token at a time, so "the longer one" is decided anew each time: a long first segment is cut until
# both are of one length, and then they shrink together. The coin is tossed for each token, so both ends of the longer one
# lose about the same.
#
# </details>

# %% [markdown]
# ## The whole recipe
#
# Two things are still missing. A random segment is taken from a random sentence of another document onwards, as many sentences as
# the target needs. And one document in ten gets a **short** target, a random number from 2 up: the texts of real
# tasks are often short, and the model should have seen such pairs too.
#
# The package's `truncate` works on (start, stop) instead of lists. The rest is yours to recognise.

# %%
def joined(sentences):
    return [token for sentence in sentences for token in sentence]

def random_segment(documents, own, target, rng):
    other = rng.choice(range(len(documents)))
    while other == own:
        other = rng.choice(range(len(documents)))
    start = rng.randint(0, len(documents[other]) - 1)
    return joined(documents[other][start : chunk_end(documents[other], start, target)])

# %%
def pairs_of(documents, own, most, rng):  # everything about each pair of one document
    document, start = documents[own], 0
    target = rng.randint(2, most) if rng.random() < 0.1 else most
    while start < len(document):
        stop = chunk_end(document, start, target)
        middle = rng.randint(start + 1, stop - 1) if stop - start > 1 else stop
        made = {"opens": start == 0, "target": target, "sentences": stop - start, "label": IS_NEXT}
        first, second = joined(document[start:middle]), joined(document[middle:stop])
        if middle == stop or rng.random() < 0.5:  # one sentence cannot be split
            second, made["label"] = random_segment(documents, own, target - len(first), rng), NOT_NEXT
            stop = middle  # the rest is put back
        (a, b), (c, d) = truncate((0, len(first)), (0, len(second)), most, rng)
        made |= {"first": first[a:b], "second": second[c:d]}
        yield made | {"front": a + c, "back": len(first) - b + len(second) - d}
        start = stop

# %% [markdown]
# Text for it: the small world, some thousands of short documents about countries, animals, trades and words with two
# meanings. Pairs of at most 64 tokens, of which 3 are [CLS] and [SEP]. Here is what one document becomes.

# %%
world = world_corpus()
MOST = 64 - 3
documents = [[ids for ids in tokenizer.encode_lines(document.sentences) if ids] for document in world.train]
print("\n".join(world.train[0].sentences), "\n")
rng = random.Random(0)
for made in pairs_of(documents, 0, MOST, rng):
    print("NotNext" if made["label"] else "IsNext ", tokenizer.decode(made["first"]), "[SEP]", tokenizer.decode(made["second"]))

# %% [markdown]
# Read the label again: **0 is IsNext and 1 is NotNext**. In most data sets 1 means yes. BERT's code writes whether the
# second segment is *random*. This has confused many people, and will confuse you when you ask
# a published checkpoint and everything comes out the wrong way round.
#
# ## The proof
#
# First proof: the package. It works on one long row of ids and never copies a token, but tosses its coins in the same
# order. The same seed must give the same pairs, all of them.

# %%
text = tokenize_documents(world.train, tokenizer)
maker, rng = PairMaker(text, max_length=64), random.Random(1)
package = [(text.tokens[slice(*p.first)].tolist(), text.tokens[slice(*p.second)].tolist(), p.label)
           for p in maker.next_sentence_pairs(random.Random(1))]  # fmt: skip
mine = [(m["first"], m["second"], m["label"]) for own in range(len(documents)) for m in pairs_of(documents, own, MOST, rng)]
print("as many pairs as the package:", len(mine) == len(package), "  all of them equal:", mine == package)

# %% [markdown]
# Two programs by one author can share a mistake. So, second proof: **count**, over many pairs, and compare with the
# numbers of the paper. Chance moves a count. With n independent draws of a share p, the *standard error* is
#
# $$\sqrt{p\,(1-p)\,/\,n}$$
#
# and a right program stays within three of them in 997 of 1000 cases.
#
# A short target is drawn from 2 to 61, and 61 itself is not short; so 59 of 60 draws are. One of the four lines below says NO.
# Which one? Guess.

# %%
def counted(what, hits, published):
    share, error = sum(hits) / len(hits), (published * (1 - published) / len(hits)) ** 0.5
    verdict = "yes" if abs(share - published) <= 3 * error else f"NO, {abs(share - published) / error:.0f} errors off"
    print(f"{what:38} {share:6.1%}, published {published:5.1%} ± {3 * error:.1%}: {verdict}")

many = []
for seed in range(5):
    rng = random.Random(seed)
    many += [made for own in range(len(documents)) for made in pairs_of(documents, own, MOST, rng)]

# %%
counted("documents with a short target", [m["target"] < MOST for m in many if m["opens"]], 0.1 * 59 / 60)
counted("cut tokens that were cut at the front", [1] * sum(m["front"] for m in many) + [0] * sum(m["back"] for m in many), 0.5)
counted("NotNext where there was a choice", [m["label"] for m in many if m["sentences"] > 1], 0.5)
counted("NotNext", [m["label"] for m in many], 0.5)

# %% [markdown]
# ## More than half are negatives
#
# The paper says 50 %, and the procedure gives about six in ten here. It is no mistake of ours: Google's code does the same. A chunk
# of **one** sentence cannot be split, so it always gets a random partner.
#
# Where do such chunks come from? Some are long sentences, or sentences of documents with a short target. Most are ends of
# documents: after each tails the rest is put back, and the rest becomes shorter and shorter.

# %%
for least, name in ((1, "one sentence"), (2, "two or more")):
    some = [m["label"] for m in many if min(m["sentences"], 2) == least]
    print(f"chunks of {name:12}: {len(some) / len(many):4.0%} of all pairs, of these {sum(some) / len(some):4.0%} NotNext")

# %% [markdown]
# ### Exercise 7.3 · Two sentences
# ●●○○ · 4 minutes
#
# A text is made of very many documents of two short sentences; both fit into one chunk. Which share of *all pairs*
# will be NotNext? A number from 0 to 1; two digits will do.

# %% tags=["exercise"]
### BEGIN SOLUTION
share = 2 / 3
### END SOLUTION
check("7.3", share)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Heads: one pair, IsNext, and the document is used up. Tails: one pair, NotNext; sentence 1 is put back, is now alone, and
# becomes a second pair, NotNext. Two documents give three pairs on average, and two of them are NotNext: 2/3.
#
# The general rule is pretty. However many sentences a document has, as long as they fit into one chunk, it gives exactly one
# NotNext on average. What grows with its length is the number of IsNext pairs.
#
# </details>

# %% [markdown]
# For longer documents we let the computer do it. With n sentences left, a chunk takes at most six of them; heads leave n − 6,
# tails leave n − 1 to n − 5, each as likely as the others.

# %%
@cache
def expected(left, chunk=6):  # sentences left -> expected number of pairs, and of NotNext among them
    if left < 2:
        return left, left
    size = min(left, chunk)
    rests = [(0.5, left - size, 0)] + [(0.5 / (size - 1), left - middle, 1) for middle in range(1, size)]
    pairs = sum(p * (1 + expected(rest)[0]) for p, rest, _ in rests)
    return pairs, sum(p * (label + expected(rest)[1]) for p, rest, label in rests)

for sentences in (1, 2, 3, 6, 12, 60):
    pairs, negatives = expected(sentences)
    print(f"{sentences:2} to begin with: {pairs:5.2f} pairs, {negatives:5.2f} NotNext, share {negatives / pairs:.0%}")

# %%
lengths = range(1, 41)
figure = new_figure(6.4, 3)
axes = figure.subplots()
axes.plot(lengths, [100 * expected(n)[1] / expected(n)[0] for n in lengths], color=BLUE, marker="o", markersize=3)
axes.axhline(50, color=GREY, linestyle=":")
share_here = 100 * sum(m["label"] for m in many) / len(many)
axes.axhline(share_here, color=ORANGE)
axes.text(40.5, share_here + 1.5, f"our text, {share_here:.0f} %", color=ORANGE, ha="right", fontsize=9)
axes.text(40.5, 46.5, "the coin", color=GREY, ha="right", fontsize=9)
axes.text(2.6, 72, "six sentences fill a pair", color=BLUE, fontsize=9)
axes.annotate("seven: one is left over", (7, 100 * expected(7)[1] / expected(7)[0]), (9, 66), fontsize=9, color=BLUE)
axes.set(xlabel="sentences in a document", ylabel="pairs that are NotNext, %", ylim=(40, 103), xticks=[1, 7, 13, 19, 25, 31, 37])
quiet(axes)
Picture(figure, alt="Share of NotNext pairs over the number of sentences in a document: 100 % at one sentence, 67 % at two, then falling "
        "towards the 50 % of the coin, with a bump at seven, where a full pair leaves one sentence over, and smaller ones at 13 and 19. "
        f"Our text, with its short documents, lies at {share_here:.0f} %.")

# %% [markdown]
# Two consequences. First, "always NotNext" is right on six pairs of ten, so plain accuracy flatters. We use **balanced
# accuracy**: the mean of the accuracy on IsNext and the accuracy on NotNext, in which every constant answer gets 50 %.
# Second, cut your corpus into documents as long as they really are. Whoever feeds paragraphs as documents trains
# on a task that is mostly "no".
#
# ## Segment ids
#
# A pair becomes one row: [CLS], first segment, [SEP], second segment, [SEP]. The first [SEP] still belongs to segment 0.
# Padding gets 0 too, which does not matter, because nobody attends to it.

# %%
encoding = tokenizer([portugal, portugal], [lisbon, "There the money is the euro."])
for row in range(2):
    print("  ".join(f"{token}/{segment}" for token, segment in zip(encoding.tokens[row], encoding.token_type_ids[row].tolist())))
print(list(encoding.input_ids.shape), "and the last real token of each row has segment", encoding.token_type_ids[:, -3].tolist())

# %% [markdown]
# Do the segment ids matter? There is a [SEP] between the segments, after all. We ask the shipped model about documents that it never saw, once
# properly and once with all segment ids zero, a mistake that raises no error anywhere.
#
# One function serves all that follows: the vector of [CLS] for each pair. The model's own pooler and head then say
# IsNext or NotNext. Guess the balanced accuracies.

# %%
@torch.no_grad()
def cls_vectors(text, pairs, segment_ids=1, model=bert):  # -> [N, D], the last layer's vector of [CLS]
    batches = [collate(text, pairs[i : i + 50], tokenizer) for i in range(0, len(pairs), 50)]
    return torch.cat([model.bert(b["input_ids"], b["attention_mask"], segment_ids * b["token_type_ids"]).last_hidden_state[:, 0]
                      for b in batches])  # fmt: skip

@torch.no_grad()
def model_says(vectors, model=bert):  # [N, D] -> [N], 0 IsNext, 1 NotNext
    return model.next_sentence(model.bert.pooler(vectors[:, None])).argmax(dim=-1)

def accuracies(says, pairs):  # on IsNext, on NotNext
    labels = torch.tensor([pair.label for pair in pairs])
    return [(says[labels == label] == label).double().mean().item() for label in (IS_NEXT, NOT_NEXT)]

def right(says, pairs):
    yes, no = accuracies(says, pairs)
    return f"IsNext {yes:4.0%}   NotNext {no:4.0%}   balanced {(yes + no) / 2:4.0%}"

unseen = tokenize_documents(world.heldout["held-out documents"], tokenizer)
pairs = PairMaker(unseen, max_length=64).next_sentence_pairs(random.Random(1))[:700]
vectors = cls_vectors(unseen, pairs)
print("as trained           ", right(model_says(vectors), pairs))
print("all segment ids zero ", right(model_says(cls_vectors(unseen, pairs, segment_ids=0)), pairs))

# %% [markdown]
# As trained, the model is nearly always right. Without segment ids it loses much of what it had above a guess: [SEP] is there, but
# the model learned to tell the two halves apart by these two vectors. No error is raised, here or
# in training, so this bug is worth a test of its own.
#
# ## From [CLS] to a loss
#
# The head is as small as a head can be: pooler, then a linear layer with two outputs. With the pencil, three pairs, D left out:
#
# | scores (IsNext, NotNext) | label | p(label) | −ln p |
# |---|---|---|---|
# | 2, 0 | 0 | e² / (e² + 1) = 0.88 | 0.13 |
# | 0, 1 | 1 | e / (1 + e) = 0.73 | 0.31 |
# | 1, 1 | 1 | 0.5 | 0.69 |
#
# The loss is the mean of the last column.

# %%
scores, labels = torch.tensor([[2.0, 0], [0, 1], [1, 1]]), torch.tensor([IS_NEXT, NOT_NEXT, NOT_NEXT])
by_hand = sum(-scores.softmax(dim=-1)[row, label].log() for row, label in enumerate(labels)) / 3
print(f"by hand {by_hand:.2f}, cross_entropy {cross_entropy(scores, labels):.2f}")

class NextSentenceHead(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.scores = nn.Linear(hidden_size, 2)

    def forward(self, hidden_states):  # [B, T, D]
        pooled = torch.tanh(self.dense(hidden_states[:, 0]))  # [B, D]
        return self.scores(pooled)  # [B, 2]

# %% [markdown]
# Yours with the shipped weights, the package, and `transformers`, on the same eight pairs, padding and all:

# %%
head = NextSentenceHead(bert.config.hidden_size)
head.dense.load_state_dict(bert.bert.pooler.dense.state_dict())
head.scores.load_state_dict(bert.next_sentence.state_dict())
theirs = transformers.BertForPreTraining.from_pretrained(folder).float().eval()
batch = collate(unseen, pairs[:8], tokenizer)
inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
with torch.no_grad():
    ours = bert(**inputs)
    mine, reference = head(bert.bert(**inputs).last_hidden_state), theirs(**inputs).seq_relationship_logits
print("mine = package:", bool((mine - ours.seq_relationship_logits).abs().max() < 1e-5),
      "  mine = transformers:", bool((mine - reference).abs().max() < 1e-5))  # fmt: skip

# %% [markdown]
# ## Two losses, one sum
#
# The published loss is the plain sum: the mean over masked words plus the mean over pairs (appendix A.2). Nobody chose a weight,
# but a weight there is. A mean over many labels gives each of them little. In this batch of 32 pairs, how much does one
# pair's label count against one masked word? And whose gradient is larger in the encoder of a fresh model? Guess.

# %%
from bertedu.pretraining.masking import mask_tokens

def masked(batch, seed):  # the batch of chapter 06: ids with masks, and labels
    special = (batch["input_ids"] == tokenizer.cls_token_id) | (batch["input_ids"] == tokenizer.sep_token_id)
    ids, labels = mask_tokens(batch["input_ids"], batch["attention_mask"].bool() & ~special, rate=0.15,
                              mask_token_id=tokenizer.mask_token_id, vocab_size=len(tokenizer),
                              generator=torch.Generator().manual_seed(seed))  # fmt: skip
    return {**batch, "input_ids": ids, "labels": labels}

batch = masked(collate(unseen, pairs[:32], tokenizer), seed=0)
words = int((batch["labels"] != -100).sum())
print(f"{words} masked words and 32 pairs: one pair counts as much as {words / 32:.0f} masked words")

def pull(model, **labels):  # the loss, and the size of its gradient in the encoder
    model.zero_grad()
    loss = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"], **labels).loss
    loss.backward()
    return loss.item(), sum(p.grad.square().sum() for p in model.bert.encoder.parameters()).sqrt().item()

torch.manual_seed(0)
for name, model in (("fresh", BertForPreTraining(bert.config).eval()), ("trained", bert)):
    word_loss, word_pull = pull(model, labels=batch["labels"])
    pair_loss, pair_pull = pull(model, next_sentence_label=batch["next_sentence_label"])
    both, _ = pull(model, labels=batch["labels"], next_sentence_label=batch["next_sentence_label"])
    print(f"{name:8} words {word_loss:.1f} + pairs {pair_loss:.1f} = {both:.1f}; the words pull {word_pull / pair_pull:.1f} times as hard")

# %% [markdown]
# A fresh model starts at ln V + ln 2. The number at the end of a line is also the weight
# that the pairs would need to pull as hard as the words.
# In a young model the task of pairs waits at chance for a long time (chapter 08 shows the plateau), and begins to move when
# attention has learned to compare words.
#
# ## Why it is easy
#
# Here is a rival without a network: **shared words**. A segment about Portugal and one about the oboe have few words in common; two
# segments of one document have many. Common words (*the*, *is*) say little, so each word weighs the logarithm of how rare
# it is. The package compares two sets of such words by their cosine and learns one number, a threshold, from training pairs.

# %%
training_pairs = random.Random(0).sample(maker.next_sentence_pairs(random.Random(0)), 2000)
shared_words = OverlapBaseline.fit(*segments(text, training_pairs), len(tokenizer))

def words_say(text, pairs):  # [N], 0 IsNext, 1 NotNext
    first, second, _ = segments(text, pairs)
    return torch.from_numpy(shared_words.scores(first, second) <= shared_words.threshold).long()

for word in ("the", "is", "capital", "portugal", "oboe"):
    print(f"{word} weighs {shared_words.weights[tokenizer.convert_tokens_to_ids(word)]:.1f}", end=";  ")
print("\nshared words", right(words_say(unseen, pairs), pairs))
print("BERT        ", right(model_says(vectors), pairs))

# %% [markdown]
# *The* weighs next to nothing, and a country much. This count, which knows neither order nor meaning, comes far. So how much of what BERT does is more than topic?
# Take the topic away. The positives stay as they are; the negatives come
#
# - from **another document** (as published),
# - from another document on the **same topic** (another country, another animal),
# - from the **same document**, the other way round: the segment that came *before*.
#
# Guess the six balanced accuracies.

# %%
same_topic = PairMaker(unseen, max_length=64, same_source=True).next_sentence_pairs(random.Random(1))[:700]
followers = [pair for pair in pairs if pair.label == IS_NEXT]
turned = followers + [Pair(pair.second, pair.first, NOT_NEXT) for pair in followers]
results = {}
for name, some in (("another document", pairs), ("same topic", same_topic), ("same document, turned", turned)):
    answers = words_say(unseen, some), model_says(cls_vectors(unseen, some))
    print(f"{name:22} shared words  {right(answers[0], some)}\n{'':22} BERT          {right(answers[1], some)}")
    results[name] = [50 * sum(accuracies(says, some)) for says in answers]

# %%
figure = new_figure(6.8, 2.3)
axes = figure.subplots()
for row, values in enumerate(reversed(results.values())):
    for value, colour, label, shift in zip(values, (ORANGE, BLUE), ("shared words", "BERT"), (0.13, -0.13)):
        axes.plot(value, row + shift, "o", color=colour, markersize=9)
        if row == 2:
            axes.text(value - 1.3, row + shift, label, color=colour, ha="right", va="center", fontsize=9)
axes.axvline(50, color=GREY, linestyle=":")
axes.text(50.5, 2.3, "guessing", color=GREY, fontsize=9)
axes.set(yticks=range(3), yticklabels=list(results)[::-1], xlim=(45, 101), ylim=(-0.5, 2.7), xlabel="balanced accuracy, %")
quiet(axes)
said = "; ".join(f"{name}: shared words {a:.0f} %, BERT {b:.0f} %" for name, (a, b) in results.items())
Picture(figure, alt=f"Balanced accuracy by where the negatives come from. {said}.")

# %% [markdown]
# On the published task BERT is clearly better than counting. On the same topic both lose much of their lead over a guess, and
# on turned pairs nothing is left of it. For shared words that must be so: the cosine of (first, second) is the cosine of
# (second, first). For BERT nothing forces it. It knows which segment came first, and never needed it.
#
# Be fair to the model: in many documents of this small world the order of the sentences carries no meaning, and there
# nobody could do better. But *its capital is Lisbon* before *Portugal* can be seen to be wrong, and it says IsNext all the same. The
# task never asked.
#
# ## Sentence order
#
# ALBERT's remedy (Lan et al. 2020, section 3.1) is to ask exactly that: **sentence-order prediction**. Both segments always come from
# the same document, one right behind the other. With a coin they are exchanged. The topic is the same in every pair and can give nothing away.
#
# ### Exercise 7.4 · Which came first?
# ●●○○ · 6 minutes
#
# Write `order_pair(first, second, rng)`: two neighbouring segments, lists of tokens in their right order. Return
# `(one, other, label)`: with the label 0 as they came, with the label 1 exchanged, each with probability one half.

# %% tags=["exercise"]
def order_pair(first, second, rng):
    ### BEGIN SOLUTION
    if rng.random() < 0.5:
        return second, first, 1
    return first, second, 0
    ### END SOLUTION

check("7.4", order_pair)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# What is exchanged are the segments; the tokens inside stay in their order. There is no other document, so there are no random
# partners, and nothing needs to be put back. And as no single sentence ever has to become a negative, exactly half
# of the pairs are of each kind.
#
# </details>

# %%
order_pairs = [pair for seed in range(5) for pair in maker.sentence_order_pairs(random.Random(seed))]
counted("exchanged", [pair.label for pair in order_pairs], 0.5)
some = PairMaker(unseen, max_length=64).sentence_order_pairs(random.Random(1))
print("our BERT on sentence order:", right(model_says(cls_vectors(unseen, some)), some))

# %% [markdown]
# No skew this time. And the model of next sentences, asked about order, is at 50 %. ALBERT's authors measured the same at full
# size (table 5; the model is an ALBERT-base, trained three times):
#
# | trained with | accuracy on next sentence | accuracy on sentence order | mean of five tasks |
# |---|---|---|---|
# | masked words alone | 52.4 | 53.3 | 79.0 |
# | and next sentence | 90.5 | **52.0** | 79.2 |
# | and sentence order | 78.9 | 86.5 | 80.1 |
#
# The middle row is what you have just seen: whoever learned next sentences knows nothing about order. The other way
# round, a good part carries over.
#
# ## What RoBERTa found
#
# Devlin et al. reported that leaving the task out costs up to 3.5 points (QNLI 88.4 to 84.9; table 5). A year later Liu et al. (2019) trained
# BERT-Base again, in four ways. Their table 2, development sets, medians of five runs:
#
# | input | next-sentence loss | SQuAD 1.1 / 2.0 | MNLI-m | SST-2 | RACE |
# |---|---|---|---|---|---|
# | pairs of segments (as in BERT) | yes | 90.4 / 78.7 | 84.0 | 92.9 | 64.2 |
# | pairs of single sentences | yes | 88.7 / 76.2 | 82.9 | 92.1 | 63.0 |
# | full sentences, across documents | no | 90.4 / 79.1 | 84.7 | 92.5 | 64.8 |
# | full sentences, within one document | no | 90.6 / 79.7 | 84.7 | 92.7 | 65.6 |
#
# Without the loss the results are as good or slightly better, but for SST-2. How can both papers be right? The inputs differ.
# Perhaps, say Liu et al., BERT's comparison removed the loss and kept the *pairs*: then the model without the task still
# saw two unrelated halves in every second text, and got nothing for it. RoBERTa gave it one long running text instead. The
# second row says that short inputs do the most harm.
#
# ## Broken BERT: the loss falls, and so does the accuracy
#
# A colleague trains our BERT a little further on pairs of the same text. As a label, 0 stands for "nothing to predict
# here": it is the id of [PAD], and no masked word can have it. These are the losses.

# %%
criterion = nn.CrossEntropyLoss(ignore_index=0)  # 0: nothing to predict here

def colleagues_losses(word_scores, word_labels, follows, next_sentence_label):  # [N, V], [N], [B, 2], [B]
    masked_words = criterion(word_scores, word_labels)
    next_sentence = criterion(follows, next_sentence_label)
    return masked_words, next_sentence

# %%
few = pairs[:200]

def train_on(losses, steps=24):
    model = copy.deepcopy(bert).double()  # float64: the same numbers on your machine
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps + 1):
        batch = masked(collate(text, training_pairs[16 * step : 16 * step + 16], tokenizer), seed=step)
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        word_labels = batch["labels"].clamp(min=0)  # 0 for "nothing to predict here"
        words, follows = losses(output.prediction_logits.flatten(0, 1), word_labels.flatten(),
                                output.seq_relationship_logits, batch["next_sentence_label"])  # fmt: skip
        if step % 8 == 0:
            says = model_says(cls_vectors(unseen, few, model=model), model)
            accuracy = (says == torch.tensor([pair.label for pair in few])).double().mean()
            print(f"step {step:2}   next-sentence loss {follows.item():.2f}   accuracy on unseen pairs {accuracy:.0%}")
        optimizer.zero_grad()
        (words + follows).backward()
        optimizer.step()
    return says

# %%
says = train_on(colleagues_losses)

# %% [markdown]
# The loss goes towards zero, as if the model got better and better, and the accuracy falls. But it does not fall to the 50 % of
# a guess. A loss near zero means: sure, and right in all that is *counted*. Which number of this chapter is the accuracy coming close to?
# Look at both kinds of pairs.

# %%
print(right(says, few))
print(f"share of NotNext among these pairs: {sum(pair.label for pair in few) / len(few):.0%}")

# %% [markdown]
# ### Exercise 7.5 · Repair the losses
# ●●●○ · 8 minutes
#
# Say in one sentence why the loss could go to zero. Then write `repaired_losses`, with the same inputs, which returns both losses.
# Labels of words stay as they are: 0 is "nothing to predict here".

# %% tags=["exercise"]
def repaired_losses(word_scores, word_labels, follows, next_sentence_label):
    ### BEGIN SOLUTION
    masked_words = cross_entropy(word_scores, word_labels, ignore_index=0)
    next_sentence = cross_entropy(follows, next_sentence_label)
    return masked_words, next_sentence
    ### END SOLUTION

check("7.5", repaired_losses)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Both losses share one criterion, and 0 has two meanings: "nothing to predict" for words, IsNext for pairs. So no IsNext pair ever
# counts. Among the pairs that do count, NotNext is always right, and a model that always says NotNext has a loss of zero. Its
# accuracy is the share of NotNext pairs. In a training from scratch the same bug looks like progress: the accuracy *rises* from
# 50 % to six in ten, and stays. The repair: pairs get a loss of their own.
#
# </details>

# %%
from bertedu.model.heads import mean_cross_entropy

def package_losses(word_scores, word_labels, follows, next_sentence_label):
    chosen = word_labels != 0
    return mean_cross_entropy(word_scores[chosen], word_labels[chosen]), mean_cross_entropy(follows, next_sentence_label)

print(right(train_on(package_losses), few))

# %% [markdown]
# A well-known implementation of BERT in PyTorch had this line (codertimo/BERT-pytorch; issues 32 and 49 of 2018: the loss falls fast and
# the accuracy stays at 50 %; asked again in issue 98 of 2022). There 1 means IsNext, so it is NotNext that never counts. This is why the package keeps −100 for
# "nothing to predict": no class will ever have that number. And why it reports balanced accuracy.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Share of negatives | Paper (section 3.1): 50 %. Google's code (`create_instances_from_document`): 50 % where there is a choice, all chunks of one sentence besides |
# | Another document | Google's code tries ten times to find a document other than the present one, and then takes what it has. This course tries until it is another |
# | Labels | Google: `next_sentence_labels` is 1 for a random next. `transformers`: `next_sentence_label`, the same. 0 is IsNext everywhere in this course |
# | Copies | Google's code makes each pass 10 times (`dupe_factor`) and stores it; the run then goes through the stored pairs. Here pairs are drawn anew for each pass |
# | Lengths | Paper (appendix A.2): 128 tokens for 90 % of the steps, 512 for the rest. Google's default: `short_seq_prob` 0.1 |
# | Accuracy | Paper (footnote 5): 97 to 98 % in the final model. Footnote 6: the vector of [CLS] is no sentence vector without fine-tuning |
# | After BERT | RoBERTa: no second loss. ALBERT: sentence order. SpanBERT (Joshi et al. 2020): single segments, no loss for pairs |
#
# ## Summary
#
# - Collect to a target, split between sentences, toss a coin; after tails the rest is put back. Cut the longer segment, at either end.
# - A chunk of one sentence is always NotNext, so well over half of the pairs are; report balanced accuracy.
# - 0 is IsNext. Segment ids say where the second segment begins, and a model that was trained with them needs them.
# - The loss is mean over words plus mean over pairs.
# - Next sentence prediction can be solved by topic, and is. Sentence order cannot.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(7)

# %% [markdown]
# ## Interview questions
#
# **1. Why did RoBERTa drop next sentence prediction, although the BERT paper showed that it helps?**
#
# <details><summary>Answer</summary>
#
# Because in their comparison a model without the loss, fed with full running text, was as good or better on SQuAD, MNLI and RACE (table 2).
# The two experiments differ in the input: BERT's ablation may have kept the pairs and dropped the loss only, so that the model
# still saw halves that do not belong together. Besides, the task is mostly topic: negatives come from other documents, so
# shared words go a long way.
#
# </details>
#
# **2. Your NSP accuracy is 60 % after a day. Is the model learning the task?**
#
# <details><summary>Answer</summary>
#
# Perhaps not at all. With document-level pairs about 60 % are NotNext, since a chunk of one sentence always gets a random partner. Look at
# the accuracy on each kind, or at their mean. If it is 50 %, the model gives one answer. Then: is the loss at ln 2 (a
# plateau, wait), or near 0 (one class does not count: look for an `ignore_index`)?
#
# </details>
#
# **3. How would you make the task harder without any new labels?**
#
# <details><summary>Answer</summary>
#
# Take the topic away: negatives from the same source, from the same document, or the two segments exchanged (sentence order, as in ALBERT). Check
# each time with a baseline that cannot read: if shared words do well, the task can still be solved by topic. And check that a
# human can do it; in a list of independent facts order means nothing.
#
# </details>
#
# ## Next
#
# You have both tasks and their loss. What is left is the run itself: [08 · Pre-training](08_pre_training.ipynb).
