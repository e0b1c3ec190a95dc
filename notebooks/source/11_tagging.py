# %% [markdown]
# # 11 · Tagging
#
# You will teach BERT to find names of persons, places, organisations and products that training never showed, and to say
# what *light* is in each of its sentences; and you will build the layer that chooses the tags of a sentence together.
#
# ## What you will be able to do
#
# - turn BIO tags into entities, and score whole entities as seqeval does;
# - put the labels of words onto pieces of words, and read them off again;
# - fine-tune BERT as a tagger and compare it with a baseline that can find unseen names, too;
# - build a conditional random field: forward algorithm, Viterbi and forbidden steps, proven against brute force;
# - tell mistakes of boundaries from mistakes of types.
#
# **Time:** 60 minutes · **You need:** [10 · Text classification](10_text_classification.ipynb) · **Next:** [12 · Question answering](12_question_answering.ipynb)
#
# ## Recall
#
# 1. How many layers does a text classifier put above BERT, and what do they read?
#
# <details><summary>Answer</summary>
#
# One linear layer, from one vector of the text (`[CLS]`, a mean or a maximum over the tokens) to the scores of the
# classes.
#
# </details>
#
# 2. Why does a fine-tuned model need a baseline such as a bag of words beside it?
#
# <details><summary>Answer</summary>
#
# The number alone does not say how hard the task is. Where counting words does as well, BERT's vectors added nothing.
#
# </details>
#
# 3. Which rows choose the best weights, and which ones are looked at once, at the end?
#
# <details><summary>Answer</summary>
#
# The validation rows choose. The test rows are touched once: whoever chooses by them has trained on them.
#
# </details>
#
# ## One answer for each word
#
# Until now the whole text got one label. Now every word gets one, and the same linear layer stands above every token.
# Where a word is cut into pieces, its first piece (blue) speaks for it.
#
# <svg role="img" aria-label="BERT reads the pieces [CLS], col, ##bury, is, wet, [SEP]. Above the first piece of each word a linear layer gives a tag: col is B-place, is and wet are O. The piece ##bury, [CLS] and [SEP] have no tag." viewBox="0 0 700 190" width="700" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">
# <rect width="700" height="190" fill="#ffffff"/>
# <rect x="20" y="84" width="660" height="36" rx="7" fill="#f3f3f3" stroke="#767676"/><text x="350" y="107" text-anchor="middle" fill="#222222">BERT: vectors [B, T, D]</text>
# <g text-anchor="middle" fill="#222222"><text x="70" y="160">[CLS]</text><text x="182" y="160" fill="#0072B2" font-weight="bold">col</text><text x="294" y="160">##bury</text><text x="406" y="160" fill="#0072B2" font-weight="bold">is</text><text x="518" y="160" fill="#0072B2" font-weight="bold">wet</text><text x="630" y="160">[SEP]</text></g>
# <g stroke="#767676" stroke-width="1.5"><path d="M70 144V124M182 144V124M294 144V124M406 144V124M518 144V124M630 144V124"/></g>
# <g stroke="#0072B2" stroke-width="1.8"><path d="M182 80V60M406 80V60M518 80V60"/></g>
# <g fill="#ffffff" stroke="#0072B2"><rect x="130" y="30" width="104" height="28" rx="6"/><rect x="354" y="30" width="104" height="28" rx="6"/><rect x="466" y="30" width="104" height="28" rx="6"/></g>
# <g text-anchor="middle" fill="#0072B2"><text x="182" y="49">B-place</text><text x="406" y="49">O</text><text x="518" y="49">O</text><text x="350" y="18">linear layer, the same above each: [B, T, C] for C tags</text></g>
# </svg>

# %%
import itertools
from collections import Counter
from random import Random
from tempfile import TemporaryDirectory

import torch
import transformers
from seqeval.metrics import f1_score
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from torch import nn

from bertedu.corpora.task_data import read_tagged
from bertedu.course import check, data_path, hint, quiz
from bertedu.finetuning.crf import ConditionalRandomField, may_follow
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import entity_figures, tag_spans
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import BertCrfForTokenClassification, BertForTokenClassification, TaggingTask, tags_of
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates
from bertedu.visualization.confusion import entity_confusion
from bertedu.visualization.mistakes import in_words, most_telling

# %% [markdown]
# ## Most words right, and nothing found
#
# The data: sentences made for this course, one word and its tag per line (CoNLL columns). **B-** begins a name, **I-**
# continues it, **O** is outside: BIO. No name of the validation sentences occurs in training. That is the point of
# finding names: the world makes new ones every day.

# %%
train = read_tagged(data_path("tasks/entities/train.conll"))
validation = read_tagged(data_path("tasks/entities/validation.conll"))
print(f"{len(train):,} sentences to learn from, {len(validation)} to validate with")
for row in train[1:3]:
    print("  ".join(f"{word}/{tag}" if tag != "O" else word for word, tag in zip(row.words, row.tags)))

# %% [markdown]
# The simplest tagger is a dictionary: each word gets the tag it had most often in training, a new word the tag that
# is most frequent of all. How many of the words will it get right?

# %%
def usual_tags(train, asked):
    counts = {}
    for row in train:
        for word, tag in zip(row.words, row.tags):
            counts.setdefault(word.lower(), Counter())[tag] += 1
    usual = sum(counts.values(), Counter()).most_common(1)[0][0]
    return [[counts.get(word.lower(), {usual: 1}) for word in row.words] for row in asked], usual

options, usual = usual_tags(train, validation)
dictionary = [[max(tags, key=tags.get) for tags in row] for row in options]
right = [list(row.tags) for row in validation]
hits = [a == b for one, other in zip(right, dictionary) for a, b in zip(one, other)]
print(f"new words are tagged {usual}; right: {sum(hits) / len(hits):.0%} of the words")
print("entities found with the right type and ends:", sum(len(set(tag_spans(a)) & set(tag_spans(b))) for a, b in zip(right, dictionary)))

# %% [markdown]
# More than four words out of five are right, and the tagger is worthless: it has learned that most words are not names.
# Accuracy over words is the wrong measure where most words are O. What counts is the **entity**.
#
# ## Whole entities
#
# An entity is a type, a first word and the word after the last: `("place", 4, 6)`. It is right when all three are.
# Precision is the share of the found ones that are right, recall the share of the right ones that were found, F1 their
# harmonic mean 2 P R / (P + R).
#
# ### Exercise 11.1 · Nine words of ten
# ●○○○ · 3 minutes
#
# | | Rose | Whitaker | lives | near | Lake | Garda | with | a | cat | . |
# |---|---|---|---|---|---|---|---|---|---|---|
# | right | B-person | I-person | O | O | B-place | I-place | O | O | O | O |
# | model | B-person | O | O | O | B-place | I-place | O | O | O | O |
#
# Nine tags of ten are right. What is F1 over entities?

# %% tags=["exercise"]
### BEGIN SOLUTION
f1 = 0.5
### END SOLUTION
check("11.1", f1)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Two entities are right: (person, 0, 2) and (place, 4, 6). Two were found: (person, 0, 1) and (place, 4, 6). One is in
# both: P = ½, R = ½, F1 = ½. Half a name counts twice against the model: as a miss and as an invention.
#
# </details>

# %% [markdown]
# ### Exercise 11.2 · From tags to entities
# ●●○○ · 8 minutes
#
# Write `spans(tags)`: a list of `(type, first word, word after the last)`, from left to right. Two things to decide,
# as the CoNLL evaluation decides them: B- always begins a new entity, and an I- that goes on with nothing (after O, or
# after another type) begins one, too. So scoring forgives what the rules of BIO forbid: there an I- must follow B- or I- of its
# own type.

# %% tags=["exercise"]
def spans(tags):
    ### BEGIN SOLUTION
    found, open_type, start = [], None, 0
    for place, tag in enumerate([*tags, "O"]):  # the O at the end closes what is open
        position, _, kind = tag.partition("-")
        if open_type and not (position == "I" and kind == open_type):
            found.append((open_type, start, place))
            open_type = None
        if kind and not open_type:
            open_type, start = kind, place
    return found
    ### END SOLUTION

check("11.2", spans)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One variable holds the open entity. It stays open only for I- of its own type; whatever else comes closes it, and if
# that is a B- or an I-, it opens the next. The O put after the sentence saves closing once more after the loop.
#
# </details>

# %% [markdown]
# The package's `tag_spans` does the same. Now scores: count over **all** sentences, then divide. Is that what seqeval,
# the usual library, computes? A thousand pairs of random tag rows, most of them broken, will tell.

# %%
def entities(rows):
    return {(i, *span) for i, row in enumerate(rows) for span in tag_spans(row)}

def my_f1(right, found):
    right, found = entities(right), entities(found)
    return 2 * len(right & found) / max(1, len(right) + len(found))  # the same as 2 P R / (P + R)

rng = Random(0)
TAGS = ["O", "B-person", "I-person", "B-place", "I-place"]
pairs = [[[rng.choices(TAGS, k=6) for _ in range(4)] for _ in range(2)] for _ in range(1000)]
print("like seqeval, 1,000 times:", all(abs(my_f1(a, b) - f1_score(a, b, zero_division=0)) < 1e-9 for a, b in pairs))
print(f"the dictionary: F1 {my_f1(right, dictionary):.2f}")

# %% [markdown]
# ## A fair opponent
#
# Beating a dictionary that cannot find new names is no feat. A better opponent looks at the **neighbours**: after *near*
# there may be a place, before *said* a person. Logistic regression on each word, two neighbours on both sides, and the
# ending of the word (*-ury*, as in Colbury, smells of a place) can find names that it never saw.
#
# One question of fairness: our checkpoint reads lower case only. Inside a sentence of ours a capital means
# a name in nine cases out of ten, and BERT will not see it. So we ask the opponent twice.

# %%
def features(words, i, capitals):
    found = {"first": i == 0, f"ending {words[i][-3:].lower()}": True, f"ending {words[i][-2:].lower()}": True}
    for step in (-2, -1, 0, 1, 2):
        word = words[i + step] if 0 <= i + step < len(words) else "nothing"
        found[f"{step} {word.lower()}"] = True
        if capitals:
            found[f"{step} capital"] = word[0].isupper()
    return found

def linear_tags(train, asked, capitals):
    vectorizer, model = DictVectorizer(), LogisticRegression(C=10, max_iter=1000)
    rows = [features(row.words, i, capitals) for row in train for i in range(len(row.words))]
    model.fit(vectorizer.fit_transform(rows), [tag for row in train for tag in row.tags])
    new = [features(row.words, i, capitals) for row in asked for i in range(len(row.words))]
    tags = iter(model.predict(vectorizer.transform(new)).tolist())
    return [[next(tags) for _ in row.words] for row in asked]

lower = linear_tags(train, validation, capitals=False)
cased = linear_tags(train, validation, capitals=True)
print(f"neighbours, lower case:     F1 {my_f1(right, lower):.2f}")
print(f"neighbours, with capitals:  F1 {my_f1(right, cased):.2f}")

# %% [markdown]
# Capitals are worth a lot: they show where most names begin and end. For names Devlin et al. took a *cased* BERT. The
# first number is the fair opponent of a BERT that reads lower case; the second one shows what capitals buy. Keep it in
# sight.
#
# ## Words and pieces
#
# The labels are for words, and BERT reads pieces. How often does that matter? Guess: what share of the words **inside
# names** is cut into two pieces or more?

# %%
folder = data_path("checkpoints/books-mini")
tokenizer = BertTokenizer.from_pretrained(folder)
for word in ("Colbury", "Kestrel", "harbour"):
    print(word, tokenizer.convert_ids_to_tokens(tokenizer.encode(word)))

# %%
split = {"in names": [], "elsewhere": []}
for row in validation:
    for word, tag in zip(row.words, row.tags):
        split["elsewhere" if tag == "O" else "in names"].append(len(tokenizer.encode(word)) > 1)
for where, cut in split.items():
    print(f"{where}: {sum(cut) / len(cut):.0%} of {len(cut):,} words are cut")

# %% [markdown]
# Names are rare words, so just where it counts the pieces do not match the words. BERT's way (section 5.3 of the
# paper): the word's **first** piece speaks for it, and has its label. In our code the other pieces, [CLS] and [SEP] get −100,
# which the loss passes over. They are still read: through attention *col* sees *##bury*.
#
# ### Exercise 11.3 · A label for every piece
# ●●○○ · 8 minutes
#
# Write `piece_labels(pieces, labels)`. `pieces` has for each word the list of its ids, `labels` one number for each
# word. Return the list of labels for [CLS], all pieces, [SEP]. Example: words of 1, 2 and 1 pieces with labels 0, 3, 0
# give `[-100, 0, 3, -100, 0, -100]`.

# %% tags=["exercise"]
def piece_labels(pieces, labels):
    ### BEGIN SOLUTION
    inside = [number for ids, label in zip(pieces, labels) for number in [label] + [-100] * (len(ids) - 1)]
    return [-100, *inside, -100]  # [CLS] and [SEP] are no words
    ### END SOLUTION

check("11.3", piece_labels)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Word by word, so every label lands where its word begins, however many pieces came before. −100 and
# not 0, since 0 is the number of a tag: with 0 each *##bury* would be learned as O.
#
# </details>

# %% [markdown]
# The package's task does this for whole files; `label_pieces="all"` is the common alternative: every piece has a
# label, and those that follow a B- get I-. Compare the two on one word:

# %%
tags = tags_of(train)
settings = FinetuningSettings(dropout=0.1)
for pieces in ("first", "all"):
    example = TaggingTask(train[:1], [], tokenizer, settings, tags, pieces).encode_words(("Near", "Colbury", "."), ("O", "B-place", "O"))
    tokens = tokenizer.convert_ids_to_tokens(example["input_ids"])
    print(f"{pieces:5}", "  ".join(f"{token}:{tags[n] if n >= 0 else '·'}" for token, n in zip(tokens, example["labels"])))

# %% [markdown]
# With "all", a long word counts more often in the loss than a short one. With "first", each word counts once. Which one
# learns better must be measured (`python benchmarks/tagging.py` does). What is scored is settled: words, not pieces.
#
# ## The tagger
#
# A linear layer above every vector. That is the whole model:

# %%
class MyTagger(nn.Module):
    def __init__(self, bert, tags):
        super().__init__()
        self.bert, self.dropout = bert, nn.Dropout(0.1)
        self.classifier = nn.Linear(bert.config.hidden_size, tags)

    def forward(self, input_ids, attention_mask, token_type_ids, labels=None):  # each [B, T]
        vectors = self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state  # [B, T, D]
        logits = self.classifier(self.dropout(vectors))  # [B, T, C]
        loss = None if labels is None else nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        return logits, loss

# %% [markdown]
# The package's `BertForTokenClassification` is the same class with the course's way of saving (see the proof). We
# train that one: three passes, peak rate 3·10⁻⁴, up over a tenth of the steps and down to 0. Each step is the loss of
# 16 sentences, the mean over their words.

# %%
def learn(model, task, epochs):
    optimizer = build_optimizer(model, 3e-4, weight_decay=0.01, betas=(0.9, 0.999))
    batches = [batch for epoch in range(epochs) for batch in task.epoch(epoch)]
    model.train()
    for step, batch in enumerate(batches):
        set_rates(optimizer, 3e-4 * rate_factor(step / len(batches), warmup=0.1), step / len(batches))
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"], labels=batch["labels"])
        output.loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model

# %%
def new_tagger(model_class, tags):
    torch.manual_seed(0)
    return with_new_head(model_class, folder, settings, labels=tags)

task = TaggingTask(train, validation, tokenizer, settings, tags)
tagger = learn(new_tagger(BertForTokenClassification, tags), task, epochs=3)
alone = task.predict(tagger, validation)
print("better than the neighbours by more than 0.05:", my_f1(right, alone) > my_f1(right, lower) + 0.05)

# %% tags=["nbval-ignore-output"]
print(f"F1 {my_f1(right, alone):.2f}, the neighbours {my_f1(right, lower):.2f}")
explained = task.explain(validation, task.predictions(tagger, validation))
for row in most_telling(explained, 6):
    mistake = in_words(row)
    print(f"{mistake.asked}\n    right: {mistake.right}\n    said:  {mistake.said}")

# %% [markdown]
# None of these names was in training, and most are found: fine-tuning has taught the model what a sentence does around
# a name, and pre-training had taught it which words are alike. But look back at the opponent *with capitals*: a linear model that
# reads them is as good as a BERT that cannot, or a little better. On the same input BERT wins; a better input can outweigh that.
#
# Now read what went wrong. Does a name end too early (a surname left out), or is it missed? And are there tags that
# contradict their neighbours?
#
# ## Tags that cannot be
#
# Each word chose for itself. Nothing keeps I-place from following O, or B-person from going on as I-organisation. By
# the rules of BIO, how many steps of our tagger are impossible?

# %% tags=["nbval-ignore-output"]
def impossible(rows):
    return sum(not may_follow(a, b) for row in rows for a, b in itertools.pairwise(["O", *row]))

print(f"impossible steps: {impossible(right)} in the right tags, {impossible(alone)} in the tagger's. For example:")
for row, said in [(row, said) for row, said in zip(validation, alone) if impossible([said])][:3]:
    print("   ", " ".join(f"{word}/{tag}" if tag != "O" else word for word, tag in zip(row.words, said)))
assert impossible(right) == 0 and impossible(alone) > 20

# %% [markdown]
# So the steps should have a say. A **conditional random field** (CRF; Lafferty et al. 2001) gives a score to the whole
# row of tags: what each word says (*emissions*, our logits) plus what each step says (*transitions*, a learned C × C
# table). The probability of a row is its share among **all** rows:
#
# $$p(\text{row}) = \frac{e^{\text{score(row)}}}{\sum_{\text{all rows}} e^{\text{score}}},\qquad \text{score} = \sum_w \text{emission}_w + \sum_w \text{transition}_{w \to w+1}$$
#
# With C tags and W words there are C^W rows: 9 tags and 12 words make 282 billion. The pencil shows how to sum them
# without listing them.
#
# ### With the pencil
#
# Two tags, O and N (a name), three words: *rose wells sang*. We write e^score for each score: what was added is now
# multiplied. *wells* on its own looks like a common word; but a name likes to be followed by a name (N → N counts 4).
#
# | says | rose | wells | sang | | step from | to O | to N |
# |---|---|---|---|---|---|---|---|
# | O | 1 | 3 | 5 | | O | 2 | 1 |
# | N | 4 | 2 | 1 | | N | 1 | 4 |
#
# Eight ways lead from left to right; along each of them, everything is multiplied.
#
# <svg role="img" aria-label="The three words as columns, the tags O and N as rows. Circles hold what each word says, lines what each step counts. The best way goes N, N, O: 4 times 4 times 2 times 1 times 5 is 160." viewBox="0 0 660 215" width="660" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">
# <rect width="660" height="215" fill="#ffffff"/>
# <g text-anchor="middle" fill="#222222" font-style="italic"><text x="110" y="24">rose</text><text x="330" y="24">wells</text><text x="550" y="24">sang</text></g>
# <path d="M136 160L304 70" stroke="#b0b0b0" stroke-width="1.3"/><path d="M136 70L304 160" stroke="#b0b0b0" stroke-width="1.3"/><path d="M136 70L304 70" stroke="#b0b0b0" stroke-width="1.3"/><path d="M356 160L524 160" stroke="#b0b0b0" stroke-width="1.3"/><path d="M356 70L524 160" stroke="#b0b0b0" stroke-width="1.3"/><path d="M356 70L524 70" stroke="#b0b0b0" stroke-width="1.3"/><path d="M136 160L304 160" stroke="#0072B2" stroke-width="3"/><path d="M356 160L524 70" stroke="#0072B2" stroke-width="3"/>
# <rect x="174" y="61" width="18" height="18" fill="#ffffff"/><text x="183" y="75" text-anchor="middle" fill="#555555">2</text><rect x="174" y="86" width="18" height="18" fill="#ffffff"/><text x="183" y="100" text-anchor="middle" fill="#555555">1</text><rect x="174" y="126" width="18" height="18" fill="#ffffff"/><text x="183" y="140" text-anchor="middle" fill="#555555">1</text><rect x="174" y="151" width="18" height="18" fill="#ffffff"/><text x="183" y="165" text-anchor="middle" fill="#0072B2" font-weight="bold">4</text><rect x="394" y="61" width="18" height="18" fill="#ffffff"/><text x="403" y="75" text-anchor="middle" fill="#555555">2</text><rect x="394" y="86" width="18" height="18" fill="#ffffff"/><text x="403" y="100" text-anchor="middle" fill="#555555">1</text><rect x="394" y="126" width="18" height="18" fill="#ffffff"/><text x="403" y="140" text-anchor="middle" fill="#0072B2" font-weight="bold">1</text><rect x="394" y="151" width="18" height="18" fill="#ffffff"/><text x="403" y="165" text-anchor="middle" fill="#555555">4</text>
# <circle cx="110" cy="70" r="24" fill="#ffffff" stroke="#767676" stroke-width="1.4"/><text x="110" y="75" text-anchor="middle" fill="#222222">O 1</text><circle cx="110" cy="160" r="24" fill="#ffffff" stroke="#0072B2" stroke-width="2.4"/><text x="110" y="165" text-anchor="middle" fill="#222222">N 4</text><circle cx="330" cy="70" r="24" fill="#ffffff" stroke="#767676" stroke-width="1.4"/><text x="330" y="75" text-anchor="middle" fill="#222222">O 3</text><circle cx="330" cy="160" r="24" fill="#ffffff" stroke="#0072B2" stroke-width="2.4"/><text x="330" y="165" text-anchor="middle" fill="#222222">N 2</text><circle cx="550" cy="70" r="24" fill="#ffffff" stroke="#0072B2" stroke-width="2.4"/><text x="550" y="75" text-anchor="middle" fill="#222222">O 5</text><circle cx="550" cy="160" r="24" fill="#ffffff" stroke="#767676" stroke-width="1.4"/><text x="550" y="165" text-anchor="middle" fill="#222222">N 1</text><text x="330" y="207" text-anchor="middle" fill="#0072B2">best way: 4 · 4 · 2 · 1 · 5 = 160</text>
# </svg>
#
# N N O has 4·**4**·2·**1**·5 = 160, N O O has 4·**1**·3·**2**·5 = 120, O O O has 60, and so on
# for all eight.
#
# The **forward algorithm** keeps one number for each tag: the sum of all rows that end here with it.
#
# | | rose | wells | sang |
# |---|---|---|---|
# | ends with O | 1 | 3 · (1·2 + 4·1) = 18 | 5 · (18·2 + 34·1) = 350 |
# | ends with N | 4 | 2 · (1·1 + 4·4) = 34 | 1 · (18·1 + 34·4) = 154 |
#
# Together 504: eight rows in W · C² multiplications. So p(N N O) = 160 / 504 = 32 %, the best of all; and each word on
# its own would have said N O O. In logarithms (so that nothing overflows) products become sums, and the sum becomes
# `logsumexp`. (In the table of steps a row is where we come from, a column where we go; we sum over the rows, dim 0.)

# %%
def log_sum_of_all(emissions, transitions):  # [W, C], [C, C] -> a number
    sums = emissions[0]  # [C]: of all rows that end here with each tag
    for said in emissions[1:]:
        sums = (sums[:, None] + transitions).logsumexp(dim=0) + said  # [C, C] -> [C]
    return sums.logsumexp(dim=0)


def score(emissions, transitions, row):
    steps = sum(transitions[a, b] for a, b in itertools.pairwise(row))
    return sum(emissions[word, tag] for word, tag in enumerate(row)) + steps

emissions = torch.tensor([[1.0, 4], [3, 2], [5, 1]]).log()  # [W, C], C = (O, N)
transitions = torch.tensor([[2.0, 1], [1, 4]]).log()  # from the row to the column
rows = list(itertools.product(range(2), repeat=3))
values = torch.stack([score(emissions, transitions, row) for row in rows]).exp()
for row, value in sorted(zip(rows, values.tolist()), key=lambda one: -one[1]):
    print(" ".join("ON"[tag] for tag in row), f"{value:4.0f}  {value / values.sum():.0%}")
print(f"sum of all {values.sum():.0f}, forward {log_sum_of_all(emissions, transitions).exp():.0f}")

# %% [markdown]
# Brute force and forward agree. (They should on ten thousand random cases; the package's tests check that.)
#
# For the loss we need the sum. To answer, we need the **best** row, and the same walk finds it: keep the best instead
# of the sum, and remember where it came from. This is Viterbi's algorithm.
#
# ### Exercise 11.4 · From the sum to the best
# ●●●○ · 12 minutes
#
# Write `viterbi(emissions, transitions)`: `[W, C]` and `[C, C]` as above, in logarithms; return the row of tag numbers
# with the highest score, a list of W. Try the pencil first: on the best way to *sang* as O, what is *wells*?

# %% tags=["exercise"]
def viterbi(emissions, transitions):
    ### BEGIN SOLUTION
    best, origins = emissions[0], []  # [C]: the score of the best row that ends here with each tag
    for said in emissions[1:]:
        scores, origin = (best[:, None] + transitions).max(dim=0)  # [C] each
        best = scores + said
        origins.append(origin)
    row = [int(best.argmax())]
    for origin in reversed(origins):
        row.append(int(origin[row[-1]]))
    return row[::-1]
    ### END SOLUTION

check("11.4", viterbi)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# One word is changed: `logsumexp` has become `max`. On the pencil's example: best to *wells* as O 3 · max(1·2, 4·1) =
# 12, as N 2 · max(1·1, 4·4) = 32; to *sang* as O 5 · max(12·2, 32·1) = 160, coming from N. Then back: O, from N, from
# N. Why not simply take the best next tag each time? Because the best beginning need not be the beginning of the best.
#
# </details>

# %% [markdown]
# The steps that BIO forbids need not be learned. They get −10,000: their rows have no share in the sum, and Viterbi
# never takes them. The package's CRF also scores with which tag a sentence begins and ends:

# %%
crf = ConditionalRandomField(("O", "B-place", "I-place"))
step, start, _ = crf.scores()  # [C, C], [C]
for tag, row in zip(("start", "O", "B-place", "I-place"), torch.cat([start[None], step])):
    print(f"{tag:8} may be followed by", ", ".join(t for t, s in zip(("O", "B-place", "I-place"), row.tolist()) if s > -100))

# %% [markdown]
# The CRF stands above the first pieces only: the tags of *words* follow one another. The loss is −log p of the right
# row; the gradient flows through the forward algorithm into the transitions and into BERT. Same data, same seed.
#
# A CRF does two things: it forbids, and it learns. A middle way tells them apart: the tagger that we have already, read
# by a CRF that has learned nothing. All its steps count 0, only the rules speak, and there is nothing to train. Guess:
# what share of the CRF's gain in F1 will it bring?

# %%
together = learn(new_tagger(BertCrfForTokenClassification, tags), task, epochs=3)
chosen = task.predict(together, validation)
ruled = new_tagger(BertCrfForTokenClassification, tags)  # its CRF has learned nothing: zeros, and the rules
ruled.encoder, ruled.classifier = tagger.encoder, tagger.classifier  # these learned without a CRF
by_rules = task.predict(ruled, validation)
print("impossible steps:", impossible(by_rules), "by the rules alone,", impossible(chosen), "with the CRF")
gains = [my_f1(right, found) - my_f1(right, alone) for found in (by_rules, chosen)]
print("both better than each word alone by more than 0.02:", min(gains) > 0.02)
print("the rules alone bring more than half of the CRF's gain:", gains[0] > gains[1] / 2)

# %% [markdown]
# ## Boundaries or types?
#
# How much is that in F1, and what is still wrong? An entity can be found with the wrong type, found with other ends,
# missed, or invented. A table shows it for the CRF: rows are right (the last one: invented), columns are the model's.

# %% tags=["nbval-ignore-output"]
answered = {"each word alone": alone, "rules alone": by_rules, "CRF": chosen, "neighbours, with capitals": cased}
for name, found in answered.items():
    print(f"{name:25}  F1 {my_f1(right, found):.2f}")
entity_confusion(right, chosen)

# %%
def kinds_of_mistakes(right, found):
    counts = Counter()
    for a, b in zip(right, found):
        ends = {span[1:]: span[0] for span in tag_spans(b)}
        for kind, start, end in tag_spans(a):
            if (start, end) in ends:
                counts["right" if ends[start, end] == kind else "wrong type"] += 1
            else:
                touched = any(s < end and start < e for s, e in ends)
                counts["other ends" if touched else "missed"] += 1
    return counts

other_ends = [kinds_of_mistakes(right, found)["other ends"] for found in (alone, by_rules, chosen)]
print("fewer entities with other ends by the rules alone:", other_ends[1] < other_ends[0])
print("fewer entities with other ends with the CRF:", other_ends[2] < other_ends[0])

# %% [markdown]
# Each word alone has 0.77, the rules alone 0.82, the CRF 0.84. So most of the CRF's gain comes from forbidding
# impossible rows, and that needs no training. Two points are left, and one seed is one throw of the dice: before you
# believe in such a difference, run three seeds (`python benchmarks/tagging.py` does, with a CRF and without).
#
# And the capitals that we kept in sight? A BERT that cannot read them is now above the linear model that can (0.80).
# That model, too, chooses each word for itself; the rules may help it as well.
#
# Rules and steps mend **boundaries**: that is what they know about. Whether *Charlotte* is a woman or a company no step
# can tell: that takes better vectors, from a larger BERT, more sentences, or the capitals.
#
# ## What did the steps learn?
#
# After its first word a name goes on (I-) or stops (O). Guess: does the CRF favour what is more frequent in training?
# And what becomes of its F1 when all that its steps have learned is set back to 0?

# %%
steps = together.crf.transitions.detach()  # [C, C]
number = {tag: i for i, tag in enumerate(tags)}
follows = Counter(step for row in train for step in itertools.pairwise(row.tags))
for kind in ("person", "place", "organisation", "product"):
    begin, inside = f"B-{kind}", f"I-{kind}"
    longer = steps[number[begin], number[inside]] > steps[number[begin], number["O"]]
    print(f"{begin:14} {follows[begin, inside]} go on, {follows[begin, 'O']} stop; learned to go on: {bool(longer)}")
print("every learned number is below 0.1:", bool(steps.abs().max() < 0.1))

# %%
ruled.encoder, ruled.classifier = together.encoder, together.classifier  # as the CRF trained them, without its steps
unlearned = task.predict(ruled, validation)
print("without them F1 is the same, within 0.02:", abs(my_f1(right, unlearned) - my_f1(right, chosen)) < 0.02)

# %% [markdown]
# All four learned to go on, although after B-place and B-product training has O more often. A transition is no
# frequency: it is what must be *added* to what the words say already. And the numbers are small: the pencil's table had
# ln 4 = 1.4, and here a few hundred steps of training move a weight by 0.03 or so. Set back to 0, they are not missed:
# if the two points beyond the rules are no chance, they were learned below, by a BERT whose training already counted
# only possible rows. (A CRF that is to learn more of its own gets a higher rate than BERT.)
#
# The better the vectors below, the less is left for a CRF to mend (BERT's authors went without). What it then still
# buys is that it never gives an impossible answer; and the rules alone buy that, too.
#
# ## Parts of speech
#
# The same task without spans: every word has one of the universal tags (NOUN, VERB, ADJ, …). *Light* has three:

# %%
speech = read_tagged(data_path("tasks/parts_of_speech/train.conll"), scheme=None)
asked = read_tagged(data_path("tasks/parts_of_speech/validation.conll"), scheme=None)
seen = {}
for row in speech:
    if "light" in row.words:
        seen.setdefault(row.tags[row.words.index("light")], " ".join(row.words))
for tag, sentence in sorted(seen.items()):
    print(f"{tag:5} {sentence}")

# %% [markdown]
# A dictionary has one answer for *light*. How good is it on all words, and how good on the words that have
# several tags in training?

# %%
speech_tags = tags_of(speech + asked)
speech_task = TaggingTask(speech, asked, tokenizer, settings, speech_tags)
speech_tagger = learn(new_tagger(BertForTokenClassification, speech_tags), speech_task, epochs=2)
options, _ = usual_tags(speech, asked)
answers = {"dictionary": [[max(tags, key=tags.get) for tags in row] for row in options],
           "neighbours": linear_tags(speech, asked, capitals=False), "BERT": speech_task.predict(speech_tagger, asked)}  # fmt: skip
several = [[len(tags) > 1 for tags in row] for row in options]

def accuracy(found):
    return sum(a == b for row, said in zip(asked, found) for a, b in zip(row.tags, said)) / sum(len(row.tags) for row in asked)

best = [accuracy(answers[name]) for name in ("BERT", "neighbours", "dictionary")]
print("BERT is above the neighbours by 5 points, and they above the dictionary:", best[0] > best[1] + 0.05 and best[1] > best[2])
for text in ("they light the candles .", "the light hurt my eyes .", "a light rain fell ."):
    words = tuple(text.split())
    row = type(asked[0])(words, ("NOUN",) * len(words))
    print(text, "→ light is", speech_task.predict(speech_tagger, [row])[0][words.index("light")])

# %% tags=["nbval-ignore-output"]
for name, found in answers.items():
    hits = [(a == b, hard) for row, said, flags in zip(asked, found, several) for a, b, hard in zip(row.tags, said, flags)]
    hard = [hit for hit, flag in hits if flag]
    print(f"{name:11} all words {sum(hit for hit, _ in hits) / len(hits):.0%}, words with several tags {sum(hard) / len(hard):.0%}")

# %% [markdown]
# Here accuracy over words is the right measure: every word has a tag of its own, and none is mere background. Still,
# look at the words that have a choice; the others only make the number look good.
#
# ## The proof
#
# My tagger against the package's and that of `transformers`; my forward algorithm against the package's CRF; entities
# against seqeval.

# %%
batch = task.epoch(0)[0]
given = [batch[name] for name in ("input_ids", "attention_mask", "token_type_ids", "labels")]  # [B, T] each
mine = MyTagger(tagger.bert, len(tags)).eval()
mine.classifier.load_state_dict(tagger.classifier.state_dict())
with TemporaryDirectory() as saved, torch.no_grad():
    tagger.eval().save_pretrained(saved)
    theirs = transformers.BertForTokenClassification.from_pretrained(saved).eval()
    (my_logits, my_loss), package = mine(*given), tagger(*given[:3], labels=given[3])
    reference = theirs(**dict(zip(("input_ids", "attention_mask", "token_type_ids", "labels"), given)))
real = given[1].bool()  # [B, T]: in the padding anything may stand
for name, other in (("package", package), ("transformers", reference)):
    print(f"logits = {name}, within 1e-4:", bool((my_logits - other.logits)[real].abs().max() < 1e-4), end="; ")
    print("loss:", bool((my_loss - other.loss).abs() < 1e-4))

# %%
torch.manual_seed(0)
crf = ConditionalRandomField(("NOUN", "VERB", "DET"))  # parts of speech: no step is forbidden
crf.transitions.data.normal_()
mask = torch.ones(1, 6, dtype=torch.bool)
same_sum = same_best = True
for turn in range(200):
    emissions = torch.randn(6, 3)
    mine = log_sum_of_all(emissions, crf.transitions)
    same_sum &= bool((mine - crf.log_sum_of_all(emissions[None], mask)[0]).abs() < 1e-4)
    if turn < 3:  # brute force is slow
        best = max(itertools.product(range(3), repeat=6), key=lambda row: score(emissions, crf.transitions, row).item())
        same_best &= list(best) == crf.decode(emissions[None], mask)[0]
print("forward = package, 200 times:", same_sum, "| brute force = package's Viterbi, 3 times:", same_best)
mine, package, seqeval = my_f1(right, chosen), entity_figures(right, chosen)["f1"], f1_score(right, chosen)
print("F1 = package = seqeval:", abs(mine - package) < 1e-9 and abs(package - seqeval) < 1e-9)

# %% [markdown]
# ## Broken BERT: tags that come too late
#
# A colleague has put the tagger into a service. Its loss on validation is as low as ours, its file is the same, byte
# for byte. Yet customers complain: sentences with plain names come out right, and after a foreign or rare name
# everything is shifted. (`first_pieces` has a 1 at the first piece of each word.) The F1 of the service, by the number of pieces that are not the first of their word:

# %%
def served_tags(piece_tags, first_pieces, words):
    return piece_tags[1 : 1 + words]  # without [CLS]

def serve(words, reader):
    example = task.encode_words(words, ("O",) * len(words))
    ids, first = example["input_ids"], example["first_pieces"]
    with torch.no_grad():
        logits = tagger(torch.tensor([ids])).logits[0]  # [T, C]
    return reader([tags[n] for n in logits.argmax(dim=-1).tolist()], first, len(words))

cut = [sum(len(tokenizer.encode(word)) - 1 for word in row.words) for row in validation]
for name, low, high in (("no word is cut", 0, 0), ("1 further piece", 1, 1), ("2 or 3", 2, 3), ("4 and more", 4, 99)):
    some = [(list(row.tags), serve(row.words, served_tags)) for row, n in zip(validation, cut) if low <= n <= high]
    gone = my_f1(*zip(*some)) < my_f1(right, alone) - 0.2
    print(f"{name}: F1 {'far below' if gone else 'near'} what validation said")

# %%
words = ("Amelia", "met", "Kate", "Jennings", "near", "Glasgow", ".")
print(tokenizer.convert_ids_to_tokens(task.encode_words(words, ("O",) * 7)["input_ids"]))
served = dict(zip(words, serve(words, served_tags)))
for word in ("Amelia", "Jennings", "near"):
    print(f"{word}: {'part of a name' if served[word] != 'O' else 'no name'}")

# %% [markdown]
# ### Exercise 11.5 · Read the right pieces
# ●●●○ · 8 minutes
#
# Find the line, then write `word_tags(piece_tags, first_pieces, words)`, repaired. `piece_tags` has a tag for every
# token with [CLS], [SEP] and perhaps padding; `first_pieces` a 1 at the first piece of each word, else 0; `words` is
# the number of words. Long sentences were cut off before the model saw them: words without a piece get "O". Then try
# `serve(words, word_tags)`.

# %% tags=["exercise"]
def word_tags(piece_tags, first_pieces, words):
    ### BEGIN SOLUTION
    found = [tag for tag, first in zip(piece_tags, first_pieces) if first]
    return found + ["O"] * (words - len(found))
    ### END SOLUTION

check("11.5", word_tags)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `piece_tags[1 : 1 + words]` takes the first tags in a row, as if no word were split. Every further piece shifts all
# later words by one: the tag of *Kate* is given to *near*, and that of *Glasgow* to no word at all. Training knew nothing
# of it: labels stood at the right pieces, and so the loss was right, too. The same mistake can be made on the other side,
# with labels laid down piece after piece in training. Then the loss does show it: it stays high. Test both with a sentence whose first
# word is split.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | Where | What is different |
# |---|---|
# | The paper | Devlin et al. (2019), section 5.3: CoNLL-2003, a cased WordPiece model, as much of the document around each sentence as fits, the first piece's vector for each word, no CRF |
# | Google's code | Released without a tagger: every BERT for names is a reconstruction, and they differ in just the places of this chapter (which piece, padding, [SEP]) |
# | `transformers` | `BertForTokenClassification`: dropout and a linear layer, as ours. −100 is cross-entropy's default `ignore_index`. The example script labels the first piece; `--label_all_tokens` the others too |
# | seqeval | Reads broken tags as the CoNLL script does, unless `mode="strict", scheme=IOB2` is given: then an I- without a B- is nothing. Say which one you used |
# | CRF | Lafferty et al. (2001); above a neural network, for example: Lample et al. (2016), a BiLSTM. Theirs learns all transitions; ours forbids what BIO forbids |
# | BIO | Ramshaw & Marcus (1995), for chunks; their B stood only where one chunk follows another at once. B- at every beginning, as here, is called IOB2. BIOES adds S- for single words and E- for the last. The package reads all three |
# | Universal tags | 17 of them, one set for all languages (universaldependencies.org). *My* and *her* are PRON there, and *is* is AUX |
#
# ## Summary
#
# - A tagger is BERT and one linear layer above every token; each word speaks through its first piece.
# - Score whole entities. Accuracy over words is high for a tagger that finds nothing.
# - A fair opponent can find unseen names, and reads what BERT reads.
# - A CRF scores whole rows of tags. The forward algorithm sums all C^W of them in W · C² steps, Viterbi finds the best.
# - Boundaries are what a CRF mends, most of them by its rules alone, without training; types need better vectors.
# - Labels onto pieces and tags off pieces: both sides by first pieces, and tested with a split first word.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(11)

# %% [markdown]
# ## Interview questions
#
# **1. Your tagger has 98 % accuracy over words and an entity F1 of 0.6. How can that be?**
#
# <details><summary>Answer</summary>
#
# Most words are O, and O is easy. An entity is right only with its type and both ends, so one wrong word costs a whole
# entity, in precision and in recall. Look at a table of mistakes: wrong types, other ends, missed, invented. And check
# that tags are read at the first pieces.
#
# </details>
#
# **2. When is a CRF above BERT worth its price?**
#
# <details><summary>Answer</summary>
#
# Where names are long, data scarce, the model small, or where an impossible answer must never leave the house. It costs
# W steps that must follow one another, of C² sums each, which parallel machines dislike. Above a large model measure
# whether the gain in F1 exceeds the seeds' spread. And there is something in between: only forbid impossible steps when
# decoding (Viterbi without learned transitions). That needs no training, and impossible answers are gone; in this
# chapter it brought more than half of the CRF's gain.
#
# </details>
#
# **3. Why −100 at the further pieces, and not O?**
#
# <details><summary>Answer</summary>
#
# −100 means: no opinion asked. With O the model would learn that *##bury* is outside where *col* is a place: a
# contradiction in most names, and the more pieces, the louder. If you want all pieces labelled, give them I- of the
# same type.
#
# </details>
#
# ## Next
#
# A tag for each word can mark any span. Questions ask for just one: where does the answer begin, where does it end,
# and is there one at all? [12 · Question answering](12_question_answering.ipynb).
