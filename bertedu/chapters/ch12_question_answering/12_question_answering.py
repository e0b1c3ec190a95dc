# %% [markdown]
# # 12 · Question answering
#
# BERT can't write text. In this chapter it answers questions all the same: it points to the answer in a given text,
# with two scores for each token, and it learns to say "there is no answer".
#
# ## What you will be able to do
#
# - turn start and end scores into an answer: find the best valid span, and cut it out of the original text
# - score answers as SQuAD does, with exact match and F1
# - let a model abstain when the text doesn't contain the answer, and choose the threshold for it on validation data
# - use your model in `transformers`, and a published one beside it
# - (optional) read a text that is longer than the model's input, in overlapping windows
#
# **Time:** three sittings of about 50, 50 and 15 minutes, and 35 more for what is optional: scores and spans; training and abstaining; a library and a proof ·
# **You need:** [11 · Tagging](11_tagging.ipynb) ·
# **Next:** [13 · Pairs, similarity and summaries](13_pairs_and_similarity.ipynb)
#
# Two cells train a small BERT, for one and three minutes on a slow computer (on a GPU, if torch finds one, in seconds),
# and print how far they have got.
#
# ## Recall
#
# 1. In tagging, WordPiece split a word into three tokens. How many labels did the word get, and on which token?
#
# <details><summary>Answer</summary>
#
# One, on its first token. The other two tokens have the label −100, which the loss ignores.
#
# </details>
#
# 2. A tagger is right on 85 % of all words. Why does that say little about the names that it finds?
#
# <details><summary>Answer</summary>
#
# Most words are O, outside of every name, so a tagger that always says O is right on all of these. That is why we
# count whole entities: type, first word and last word must all be right.
#
# </details>
#
# 3. What can a CRF use that independent labels can't?
#
# <details><summary>Answer</summary>
#
# The transitions: which tag may follow which. It chooses all tags of a sentence together. In this chapter too, two
# choices have to be made together: where an answer starts and where it ends.
#
# </details>
#
# ## Where this part sits
#
# ![The map of BERT with the heads lit: question answering puts one linear layer on the last hidden states and changes nothing below.](pictures/12_where.svg)
#
# The new part is one linear layer. It gives each token two scores: is this the first token of the answer, and is it
# the last one?
#
# ![What goes in: [CLS] Who won ? [SEP] Kim beat Lea [SEP], the question and the context. BERT and one linear layer give every token a start score and an end score. Kim has the highest of both, so the answer is Kim. The two scores at [CLS] stand for no answer.](pictures/12_two_scores.svg)
#
# ## Paragraphs and questions
#
# Question answering where the answer is a piece of a given text is called **extractive question answering**. The text
# is the **context**, and the piece is a **span**. It is used where the answer should be a quotation that can be
# checked: in contracts, in manuals, in search results.
#
# The best-known data set is **SQuAD**, the Stanford Question Answering Dataset (Rajpurkar et al. 2016): paragraphs of
# Wikipedia, and questions that people wrote about them. Ours has the same file format. Its paragraphs are notices,
# mails, news and manuals that were written for this course, short enough for our small BERT.
#
# Let's read it. An answer is shown as its text and the position of its first character.

# %%
from bertedu.corpora.readers import read_squad
from bertedu.course import about, check, data_path, hint

train = read_squad(data_path("tasks/questions/train.json"))
validation = read_squad(data_path("tasks/questions/validation.json"))
print(f"questions: {len(train):,} for training, {len(validation)} for validation\n")
print(validation[7].context)
for row in validation[7:13]:
    print(f"  {row.question:46} {[(a.text, a.start) for a in row.answers] or 'no answer'}")

# %% [markdown]
# *Who was stung?* has no answer here. SQuAD 1.1 had no such questions, so models learned to answer every time. **SQuAD
# 2.0** (Rajpurkar et al. 2018) added more than 50,000 unanswerable ones, written to look as if they had an answer.
# Where several spans are right, as for *How long were the passengers held up?*, all of them are listed.
#
# Never report a score without a baseline. We try two rules that need no network. One gives the sentence with the
# largest **word overlap** with the question. The other never answers. Guess: what share of the validation questions
# does each of them get exactly right?

# %% tags=["guess"]
from bertedu.finetuning.squad_metrics import longest_word_overlap, most_alike_sentence

rules = longest_word_overlap(validation)
print(most_alike_sentence(validation[7]))
for name, figures in rules.items():
    print(f"{name:32} exact match {figures['exact_match']:.2f}, F1 {figures['f1']:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Two rules. Exact match: never answering 0.30, word overlap 0. F1: never answering 0.30, word overlap 0.15. The one to beat is never answering.](pictures/12_baselines.svg)
#
# A whole sentence is hardly ever the answer, and this rule never says that there is none. A program that never answers
# is right on all questions without an answer.
#
# </details>
#
# So the score to beat is that of never answering. But what is F1 here?
#
# ## How SQuAD scores an answer
#
# **Exact match** (EM) asks whether prediction and answer are equal after **normalization**: lower case, no
# punctuation, no articles. **F1** gives partial credit. It is the harmonic mean of **precision** (which share of the
# predicted words is right?) and **recall** (which share of the right words was predicted?).
#
# ![The prediction in the old mill and the right answer the old mill, without articles: in, old, mill and old, mill. Two words are in both. Precision 2/3, recall 2/2, F1 = 0.8.](pictures/12_f1_by_hand.svg)
#
# The same in code:

# %%
import re
import string


def normalized(text):
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


print(normalized("The old mill."), normalized("in the old mill"))

# %%
from collections import Counter


def f1(prediction, answer):
    found, right = normalized(prediction), normalized(answer)
    if not found or not right:  # no words: right only if both are empty
        return float(found == right)
    common = (Counter(found) & Counter(right)).total()
    return 2 * common / (len(found) + len(right))  # the harmonic mean of precision and recall


for prediction in ("in the old mill", "The old mill.", "mill", "the old man", ""):
    exact = int(normalized(prediction) == normalized("the old mill"))
    print(f"{prediction!r:20} exact match {exact}, F1 {f1(prediction, 'the old mill'):.2f}")

# %% [markdown]
# If a question has several right answers, the best match counts. If it has none, the right prediction is the empty
# string, with EM and F1 of 1. Every other prediction gets 0.
#
# ## From two scores to an answer
#
# BERT has read *Jane bought a lamp in York* and gives each token a start score and an end score. The obvious idea: take
# the token with the best start score, and the token with the best end score. Guess what the answer will be.

# %% tags=["guess"]
import torch

tokens = ["Jane", "bought", "a", "lamp", "in", "York"]
start = torch.tensor([1.0, 0.0, 2.0, 3.0, 0.0, 3.5])  # [T]
end = torch.tensor([1.0, 0.0, 0.0, 4.0, 1.0, 1.0])  # [T]
first, last = start.argmax().item(), end.argmax().item()
print(f"starts at {tokens[first]!r}, ends at {tokens[last]!r}")
print(f"the answer is {' '.join(tokens[first : last + 1])!r}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The answer is empty: it starts at *York* and ends at *lamp*, before it starts.
#
# ![Two softmaxes over the six tokens. Start: York 0.51, lamp 0.31. End: lamp 0.84. The best start comes after the best end, so the two choices don't fit together.](pictures/12_softmaxes.svg)
#
# </details>
#
# Two choices that are made independently need not fit together. So we score **pairs**: the score of a span is the start
# score of its first token plus the end score of its last token. All pairs form a table `[T, T]`. In 15 of these 36
# pairs, the end comes before the start.

# %%
scores = start[:, None] + end[None, :]  # [T, T]: row i starts, column j ends
allowed = torch.ones_like(scores).triu().bool()  # start <= end
best = scores.masked_fill(~allowed, float("-inf")).argmax().item()
i, j = divmod(best, len(tokens))
print(f"from {tokens[i]!r} to {tokens[j]!r}, score {scores[i, j]:.1f}")
print(f"best of the whole table: {scores.max():.1f}")

# %% [markdown]
# ![The table of start score plus end score. The lower left half is forbidden. Of the rest lamp alone is the best, with 3.0 + 4.0 = 7.0.](pictures/12_triangle.svg)
#
# Why a sum? The model is trained with two softmaxes, one over the starts and one over the ends. If we multiply the two
# probabilities, the log of the product is the sum of the two scores, minus two constants that are the same for all
# spans.
#
# The next cell is this table with numbers that you can change. Guess first: which one number makes *a lamp* the
# answer, and how large must it be?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

tasks = [
    "Change one number, so that the answer is “a lamp”.",
    "Allow answers that end before they start. Which one wins, and why is it empty?",
]
explorable("span_scores", tokens=tokens, start=start.tolist(), end=end.tolist(), tasks=tasks)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The start score of *a*, above 3: the end score of *lamp* is the best already, and *a* must beat the start score of
# *lamp* itself. Or the start score of *lamp*, below 2: then *a lamp* wins with 6.0. If an answer may end before it
# starts, *York* and *lamp* win with 7.5, and no text lies between them.
#
# </details>
#
# In a whole input more pairs are forbidden: [CLS], the question, [SEP] and padding can't be in the answer. And no
# answer is a whole page, so its length is limited (to 30 tokens in Google's code).
#
# ![A table of 9 by 9 for [CLS] Who [SEP] Kim beat Lea in May [SEP], with spans of at most 3 tokens. Only 12 of 81 pairs are left: a band above the diagonal, within the context.](pictures/12_allowed_spans.svg)
#
# ### Exercise 12.1 · Which span wins?
# ●○○○ · 5 minutes
#
# | | [CLS] | Who | came | [SEP] | old | Mr | Fox | [SEP] |
# |---|---|---|---|---|---|---|---|---|
# | start | 1.0 | 4.0 | 0.0 | 0.0 | 2.0 | 3.0 | 0.0 | 0.0 |
# | end | 1.0 | 5.0 | 0.0 | 0.0 | 3.5 | 1.0 | 2.0 | 0.0 |
#
# What is the **score** of the best valid span of the context? (`check` examines your answer, and `hint("12.1")` gives
# a hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
score = 5.5
### END SOLUTION
check("12.1", score)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Six spans are valid: *old* 5.5, *old Mr* 3.0, *old Mr Fox* 4.0, *Mr* 4.0, *Mr Fox* 5.0, *Fox* 2.0. The 9.0 of *Who*
# is in the question, and the 6.5 from *Mr* to *old* ends before it starts.
#
# </details>

# %% [markdown]
# ### Exercise 12.2 · The best valid span
# ●●○○ · 15 minutes
#
# Write `best_span(start_logits, end_logits, first, length, longest)` for scores `[T]` of a whole input, from [CLS] to
# padding. (**Logits** are scores before a softmax.) The context begins at token `first` and has `length` tokens, and
# a span may have at most `longest` tokens. Return three things: the position of the span's first token, the position
# of its last token (both counted from [CLS]), and its score. You may use loops or a table. Stuck? `hint("12.2")`


# %% tags=["exercise"]
def best_span(start_logits, end_logits, first, length, longest):
    ### BEGIN SOLUTION
    after = first + length
    spans = [(i, j) for i in range(first, after) for j in range(i, min(i + longest, after))]
    start, end = max(spans, key=lambda span: start_logits[span[0]] + end_logits[span[1]])
    return start, end, (start_logits[start] + end_logits[end]).item()
    ### END SOLUTION


check("12.2", best_span)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# For each start i, the end j runs from i (so no span ends before it starts) to the end of the context, but at most to
# i + `longest` − 1: a span of `longest` tokens has end − start + 1 = `longest`. The table from above gives the same
# result. Then the forbidden entries must become minus infinity *before* you take the maximum.
#
# </details>

# %% [markdown]
# ## Back to the characters
#
# Tokens are not an answer yet. Let's encode a sentence with accents and a pound sign, and decode it again.

# %%
from bertedu import BertTokenizer

folder = data_path("checkpoints/mixed-mini")  # our small BERT
tokenizer = BertTokenizer.from_pretrained(folder)
context = "Zürich, Håkan paid £3.50."
ids, offsets = tokenizer.encode_with_offsets(context)
print(tokenizer.decode(ids))

# %% [markdown]
# A name is missing: the vocabulary has no piece for the å inside a word, so *Håkan* became [UNK], and decoding leaves
# that out. And the price got a space. No rule can restore the original. So the tokenizer returns
# **offsets** as well: for each token, the position of its first character and the position after its last one.
#
# ![The characters of Zürich, Håkan paid £3.50. with their positions, and below them the tokens with their offsets: Z 0 to 1, [UNK] 8 to 13, paid 14 to 18. Even [UNK] has its characters.](pictures/12_offsets_of_pieces.svg)
#
# The answer is *cut out of the original text*, from the first character of its first token to the last character of its
# last token. Training needs the opposite direction: SQuAD gives positions of characters, and the loss needs positions
# of tokens.
#
# ### Exercise 12.3 · From characters to tokens
# ●●○○ · 10 minutes
#
# Write `token_span(offsets, start, end)`. The answer is `context[start:end]`. Return two positions in the list
# `offsets`, counted from 0: the first and the last token that share at least one character with the answer. (An
# answer that somebody marked with the mouse may begin or end with a space, and a space belongs to no token.) Stuck?
# `hint("12.3")`


# %% tags=["exercise"]
def token_span(offsets, start, end):
    ### BEGIN SOLUTION
    shared = [number for number, (s, e) in enumerate(offsets) if s < end and e > start]
    return shared[0], shared[-1]
    ### END SOLUTION


check("12.3", token_span)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Two pieces of text share a character if each of them begins before the other one ends. Comparing `s == start` and
# `e == end` works for most answers. It fails where the answer begins or ends with a space, and where it contains only
# a part of a token, as in the example of Google's script: the answer is *Japan*, and the text says *Japanese*.
#
# </details>

# %% [markdown]
# **Here the first sitting ends.** You can turn scores into an answer. In the second sitting BERT learns to give the
# scores.
#
# ## The head and its loss
#
# The head is one linear layer with two outputs:

# %%
from torch import nn
from torch.nn.functional import cross_entropy


class QuestionAnswering(nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert
        self.qa_outputs = nn.Linear(bert.config.hidden_size, 2)

    def forward(self, input_ids, attention_mask, token_type_ids):  # [B, T] each
        vectors = self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state
        return self.qa_outputs(vectors).unbind(dim=-1)  # [B, T, 2] -> two times [B, T]


# %% [markdown]
# Its labels are two positions, those of the answer's first and last token. A question without an answer points to
# [CLS], twice.
#
# ![The input [CLS] Who won ? [SEP] Kim beat Le ##a . [SEP] with positions and token types. With the answer Kim both labels are 5; without an answer both are 0, the position of [CLS].](pictures/12_what_goes_in.svg)
#
# "Which token is the start?" is a classification with T classes, and so is "which token is the end?". The loss is the
# mean of two cross-entropies. For our lamp in York:
#
# ![The loss by hand if lamp is right: start probability 0.31, minus its logarithm 1.179; end probability 0.84, minus its logarithm 0.171; the mean is 0.675.](pictures/12_loss_by_hand.svg)


# %%
def span_loss(start_logits, end_logits, starts, ends):  # [B, T], [B, T], [B], [B]
    return (cross_entropy(start_logits, starts) + cross_entropy(end_logits, ends)) / 2


lamp = torch.tensor([tokens.index("lamp")])
print(f"{span_loss(start[None], end[None], lamp, lamp):.3f}")

# %% [markdown]
# From here on we use the package's version, `BertForQuestionAnswering`. `with_new_head` loads our small pre-trained
# BERT and puts a new head on it. `QuestionAnsweringTask` turns questions into batches, and its `epoch(0)` returns the
# shuffled batches of one pass. (`stride` is for long texts, which come later.)

# %%
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tasks.question_answering import (
    BertForQuestionAnswering,
    QuestionAnsweringTask,
)

settings = FinetuningSettings(batch_size=16, max_length=128)
task = QuestionAnsweringTask(train, validation, tokenizer, settings, stride=48)
batch = task.epoch(0)[0]
for name, values in batch.items():
    print(f"{name:16} {list(values.shape)}")

# %% [markdown]
# Guess the loss before training: what does a head that knows nothing about T tokens pay?

# %% tags=["guess"]
torch.manual_seed(0)
model = with_new_head(BertForQuestionAnswering, folder, FinetuningSettings())
T = torch.tensor(batch["input_ids"].size(1))
with torch.no_grad():
    print(f"loss {model(**batch).loss:.1f}, and ln T = {T.log():.1f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# About ln T. An untrained head gives each of the T tokens about the same probability, 1/T, and −ln(1/T) = ln T.
#
# </details>
#
# ## Practice first, then real questions
#
# Our 2,207 training questions are few: SQuAD has over 100,000. So the model practises first, on stories that templates
# make, as many as we like: *Jane sold the carpet in May. Who sold the carpet?* Training on a larger, related task
# before the real one is common practice.

# %%
import tempfile
from pathlib import Path
from random import Random

from bertedu.corpora.tasks.files import squad  # writes SQuAD's format
from bertedu.corpora.tasks.questions import rows as make_stories


def fresh(stories, seed):
    """Questions about so many new stories."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "stories.json"
        path.write_text(squad(make_stories("train", Random(seed), stories)), encoding="utf-8")
        return read_squad(str(path))


practice = [row for row in fresh(1700, seed=1) if row.answers]
print(
    len(practice),
    practice[0].context,
    practice[0].question,
    practice[0].answers[0].text,
    sep=" | ",
)

# %% [markdown]
# The loop is that of [chapter 08](08_pre_training.ipynb): AdamW with two groups of parameters, warm-up, linear decay.

# %%
from bertedu.training.devices import choose_device, computes_bf16
from bertedu.training.feeding import to_device
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

device = torch.device(choose_device("auto"))  # trains on a GPU where torch finds one
fast = computes_bf16(device.type)  # bfloat16 (chapter 08) where the hardware has it


# %%
def learn(model, rows, learning_rate, epochs=1):
    """Fine-tune on the rows. Returns the loss of every step."""
    work = QuestionAnsweringTask(rows, [], tokenizer, settings, stride=48)
    batches = [batch for epoch in range(epochs) for batch in work.epoch(epoch)]
    model.to(device).train()
    optimizer = build_optimizer(model, learning_rate, weight_decay=0.01, betas=(0.9, 0.98))
    losses = []
    for step, batch in enumerate(batches):
        share = step / len(batches)
        set_rates(optimizer, learning_rate * rate_factor(share, 0.06), share)
        batch = to_device(batch, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=fast):
            loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if len(losses) % 100 == 0:
            mean = sum(losses[-100:]) / 100
            print(f"step {len(losses)} of {len(batches)}: mean loss ≈ {mean:.2f}")
    model.cpu()
    return losses


# %%
losses = learn(model, practice, 8e-4)
print(f"first 5 steps: {about('12 practice, first loss', sum(losses[:5]) / 5, within=0.3):.2f}")
print(
    f"last 30 steps: {about('12 practice, last loss', sum(losses[-30:]) / 30, within=0.2):.2f}"
)

# %% [markdown]
# (The first loss is about ln 30: the stories are short.) Now the real paragraphs, which look nothing like the stories.
# We ask the validation questions that **have** an answer, as in SQuAD 1.1. `task.predictions` returns for each question
# the **n best** spans, the best first: the pairs of the 20 best starts and the 20 best ends, without the forbidden
# ones. The model must answer every question: its threshold is infinity (`inf`), as explained below. Word overlap gets an F1 of 0.21 here. Guess: is our model above or below
# it?

# %% tags=["guess"]
possible = [row for row in validation if row.answers]
practised = task.figures(possible, task.predictions(model, possible), float("inf"))
measured = about("12 practised, F1", practised["f1"], within=0.08)
print(f"F1 {measured:.2f}, exact match ≈ {practised['exact_match']:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Less than word overlap. The stories have one to three simple sentences, and what the model has learned from them
# hardly carries over to paragraphs of seventy words.
#
# </details>
#
# ## The model can't say "I don't know" yet
#
# Next we ask the questions that the paragraphs don't answer, and let the model always answer.

# %%
impossible = [row for row in validation if not row.answers]
said = [
    one.text(row.context, float("inf"))
    for row, one in zip(impossible, task.predictions(model, impossible))
]
in_vain = about("12 answered in vain", sum(map(bool, said)), within=5)
print(f"{len(impossible)} questions without an answer, {in_vain:.0f} answered")

# %% [markdown]
# Here is one of them, with the span that the model points to. It is about the paragraph with the bees, which tells of
# no sting. Guess what the answer will be:

# %% tags=["guess", "nbval-ignore-output"]
print(impossible[2].question, "→", said[2])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One of the valid spans always has the highest score, so the model answers everything. The span's probability is no safe sign either:
# a softmax over bad spans also sums to 1, so the best of them can get a high probability.
#
# </details>
#
# Devlin et al. (2019, section 4.3) treat "no answer" as one more span: [CLS], as its start and its end. So `start[0] +
# end[0]` becomes the score of no answer, the **null score**. The model needs no new parameters.
#
# The **no-answer score** (Google's code calls it the **null score difference**) is the null score minus the score of
# the best span. The model **abstains** where it is above a **threshold**, for now 0.
#
# ![Who won?: null score 0.6, best span 10.0, no-answer score minus 9.4, below 0, so the model answers. Where?: null score 4.4, best span 3.1, no-answer score plus 1.3, above 0, so it abstains.](pictures/12_null_score.svg)
#
# We go on training, now on the real questions of both kinds, three times over. On a slow computer this takes about
# three minutes.

# %%
losses = learn(model, train, 4e-4, epochs=3)
print(f"first 5 steps: {about('12 real, first loss', sum(losses[:5]) / 5, within=1.5):.2f}")
print(f"last 30 steps: {about('12 real, last loss', sum(losses[-30:]) / 30, within=0.3):.2f}")

# %% [markdown]
# The loss began above ln T: the model was sure of wrong positions, and had never seen [CLS] as a label. What has it
# learned? We first ask again the questions that have an answer, and let it always answer.

# %% tags=["guess"]
found_spans = task.predictions(model, possible)
answering = task.figures(possible, found_spans, float("inf"))
measured = about("12 always answering, F1", answering["f1"], within=0.08)
print(f"F1 {measured:.2f}, exact match ≈ {answering['exact_match']:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![F1 on the validation questions with an answer: word overlap, after the practice on stories, and after the real questions.](pictures/12_learned.svg)
#
# Now it is ahead of word overlap. Was the practice worth it? We measured it once: without it, the same three passes
# reach 0.22. Still, two thousand questions don't make a small model read well: it misses most of the answers. The next
# cell shows how.
#
# </details>
#
# Read the three best spans of some questions:

# %% tags=["nbval-ignore-output"]
for row, one in list(zip(possible, found_spans))[4:44:8]:
    print(f"\n{row.question}   right: {row.answers[0].text}")
    for span in one.candidates[:3]:
        print(f"   {span.score:5.1f}  {row.context[span.start : span.end]}")

# %% [markdown]
# Most spans are of the right kind: a time for *when*, a number for *how many*. Two kinds of mistakes stand out. A **wrong span of the right kind** scores as high as the right one, where a paragraph has several times, people or prices. And
# the span is too long: a **mixture**, with the start of one candidate and the end of another.
#
# To choose among several times, the model must compare the whole question with each sentence. Our BERT has 4 layers,
# and has read little. **BERT-Base**, with 12 layers, reached an F1 of 88.5 on SQuAD 1.1 (Devlin et al. 2019, table 2),
# and BERT-Large 81.9 on SQuAD 2.0 with its unanswerable questions (table 3, development sets). A small BERT is good for
# learning how it works; for work, take a large one.
#
# ## Which threshold?
#
# 0 is the natural threshold: the higher of the two scores wins. But it need not be the best one. A span that is one
# word too long still earns most of its F1, so it can pay to answer although [CLS] scores higher. So we choose the
# threshold by the score that we care about, on **validation data**.

# %%
answered = task.predictions(model, validation)
for wanted in (True, False):
    own = [a.no_answer_score for r, a in zip(validation, answered) if bool(r.answers) == wanted]
    mean = about(f"12 no-answer score, {wanted}", sum(own) / len(own), within=2.5)
    print(f"{'with an answer' if wanted else 'without':15} mean no-answer score {mean:.1f}")

# %% [markdown]
# ![Two histograms of no-answer scores of the validation questions, with an answer above and without below. The lower one lies farther to the right, but they overlap widely.](pictures/12_two_kinds.svg)
#
# No threshold separates the two kinds. Each one lets some wrong answers through and suppresses some right ones.
#
# ### Exercise 12.4 · The best threshold
# ●●●○ · 20 minutes
#
# You get three lists with an entry for each question: `no_answer_scores`; `f1s`, the F1 that the model's best span
# would get (0 where there is no answer, whatever the span is); and `answerable`, True or False. A question is answered
# if its no-answer score is **at most** the threshold. If it is answered, it earns its F1. If the model abstains, it
# earns 1 if the question is not answerable, else 0.
#
# Write `choose_threshold(no_answer_scores, f1s, answerable)`, which returns a threshold that earns the most points.
# Never answering is a choice too, and several questions may have the same score. Stuck? `hint("12.4")`


# %% tags=["exercise"]
def choose_threshold(no_answer_scores, f1s, answerable):
    ### BEGIN SOLUTION
    def points(threshold):
        rows = zip(no_answer_scores, f1s, answerable)
        return sum(f1 if score <= threshold else not possible for score, f1, possible in rows)

    return max([min(no_answer_scores) - 1, *no_answer_scores], key=points)
    ### END SOLUTION


check("12.4", choose_threshold)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Only the scores themselves matter as thresholds, because between two of them nothing changes. `max` with a key
# returns the threshold with the most points. A threshold below all scores stands for never answering.
#
# With many questions, one pass is faster: sort by the scores, start with the points of never answering, and go
# through the questions. Each one is answered from here on, and the points change by one term. But be careful with
# *equal* scores. No threshold answers one of these questions and not the other, so you may compare the points only
# after the last of them. The package's `best_threshold` works like this.
#
# </details>

# %% [markdown]
# What does a threshold do to the two kinds of questions? The next cell computes F1 for thresholds from −8 to 8: for all
# questions, for those with an answer and for those without. Guess first: as the threshold rises, which of the three can
# only rise, and which can only fall?

# %% tags=["guess"]
curve = {"threshold": [-8 + 0.5 * n for n in range(33)], "all": [], "with": [], "without": []}
keys = {"all": "f1", "with": "has_answer_f1", "without": "no_answer_f1"}
for limit in curve["threshold"]:
    figures = task.figures(validation, answered, limit)
    for name, key in keys.items():
        curve[name].append(figures[key])
assert curve["with"] == sorted(curve["with"])
assert curve["without"] == sorted(curve["without"], reverse=True)
print("one curve only rises, and one only falls")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![F1 over the threshold. With an answer: rises from left to right. Without one: falls from near 1. All questions: has a flat maximum in between, marked by a dot.](pictures/12_sweep.svg)
#
# A higher threshold gives more answers. The F1 of the questions *with* an answer can only rise: an answer never earns
# less than abstaining there. The F1 of those *without* can only fall. The mean over all has its maximum in between.
#
# </details>
#
# Move the threshold yourself. What do you lose when you answer everything?

# %% tags=["nbval-ignore-output"]
import ipywidgets

slider = ipywidgets.FloatSlider(0, min=-8, max=8, step=0.5, description="threshold")
told = ipywidgets.HTML()


def at_threshold(change=None):
    one = task.figures(validation, answered, slider.value)
    silent = sum(not a.text(r.context, slider.value) for r, a in zip(validation, answered))
    told.value = f"F1 {one['f1']:.2f}: {one['has_answer_f1']:.2f} with an answer, "
    told.value += f"{one['no_answer_f1']:.2f} without; {silent} of {len(validation)} abstained"


slider.observe(at_threshold, "value")
at_threshold()
ipywidgets.VBox([slider, told])

# %% [markdown]
# Now we choose. `best_threshold` is the package's version of exercise 12.4. We choose on the validation questions, and
# we report on the **test** questions, which had no say in anything. Guess: will the model be above never answering
# there?

# %% tags=["guess"]
from bertedu.finetuning.squad_metrics import answer_scores, best_threshold

texts = {row.id: one.text(row.context, float("inf")) for row, one in zip(validation, answered)}
null_differences = {row.id: one.no_answer_score for row, one in zip(validation, answered)}
threshold, best_f1 = best_threshold(validation, texts, null_differences)
test = read_squad(data_path("tasks/questions/test.json"))
test_answered = task.predictions(model, test)
chosen_figures = task.figures(test, test_answered, threshold)
never = longest_word_overlap(test)["never an answer"]
print(f"chosen threshold {about('12 threshold', threshold, within=4):.1f}")
print(f"validation F1 {about('12 validation F1', best_f1, within=0.08):.2f}")
print(f"test F1 {about('12 test F1', chosen_figures['f1'], within=0.08):.2f}", end=", ")
print(f"never answering {never['f1']:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![F1 on the test: all questions, those with an answer, those without, and what never answering gets, the bar to beat.](pictures/12_report.svg)
#
# Report both parts, not only the mean: it hides how often our model abstains, which is the cheap way to be right here.
# The validation F1 is the wrong one to report, since the threshold was chosen for exactly these questions.
#
# </details>
#
# How sure is that? Both scores come from the same questions, so we take the difference question by question. The mean
# of the differences has a **standard error**: their standard deviation divided by √n.

# %%
points = [
    answer_scores(r, a.text(r.context, threshold))[1] for r, a in zip(test, test_answered)
]
ahead = torch.tensor([p - (not r.answers) for p, r in zip(points, test)])  # never: 1 or 0
mean = about("12 ahead of never answering", ahead.mean(), within=0.08)
error = about("12 standard error of it", ahead.std() / len(ahead) ** 0.5, within=0.01)
print(f"{len(ahead)} questions: ahead by {mean:.3f}, standard error {error:.3f}")

# %% [markdown]
# In our run the model is ahead by about two standard errors: probably better than never answering, but a test of this
# size can't tell for sure. What if we had chosen the threshold on the test set? The F1 would be at least as high, but
# it would be the best of many noisy numbers, and too good for the next test set.
#
# ### Has it read the text? (optional)
#
# Suppose the model abstains on *How much is the ticket?* Has it looked for the price in vain, or has it learned that
# such questions often have no answer? A control: a linear model that sees **only the question**, never the paragraph.
# We compare how well it separates the two kinds of questions with the no-answer score of our model. (**AUC**: the share
# of pairs of one question without and one with an answer in which the first has the higher score. 0.5 is chance.)

# %% tags=["guess"]
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

bags = CountVectorizer(ngram_range=(1, 2), token_pattern=r"[\w']+")
inputs = bags.fit_transform([row.question for row in train])
blind = LogisticRegression(max_iter=1000).fit(inputs, [not row.answers for row in train])
without = [not row.answers for row in validation]
guessed = blind.predict_proba(bags.transform([row.question for row in validation]))[:, 1]
blind_auc = roc_auc_score(without, guessed)
auc = roc_auc_score(without, [null_differences[row.id] for row in validation])
print(f"the question alone {about('12 question alone, AUC', blind_auc, within=0.03):.2f}")
print(f"BERT with the text {about('12 BERT, AUC', auc, within=0.08):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The linear model, which has never seen a paragraph, separates the two kinds better than our BERT. People who invent
# questions without an answer like to ask for prices, ages and names, and a model can learn that without any text. So
# abstaining on the right questions is no proof of reading. Train a model that sees only half of the input before you
# trust a score. (Chapter 13 does the same with pairs of sentences.)
#
# </details>
#
# **Here the second sitting ends.** You have a model that answers or abstains. The third sitting does the same with a
# library and proves your class right.
#
# ## The same with `transformers`
#
# Our checkpoint opens in Hugging Face's library, since names and shapes of its weights are the same.

# %%
import transformers

saved = tempfile.mkdtemp()
model.eval().save_pretrained(saved)
tokenizer.save_pretrained(saved)
theirs = transformers.AutoModelForQuestionAnswering.from_pretrained(saved, dtype=torch.float32)
their_tokenizer = transformers.AutoTokenizer.from_pretrained(saved, model_max_length=128)

# %% [markdown]
# Until version 5.2 of `transformers`, `pipeline("question-answering")` did the rest; newer versions don't have it any
# more. You know every step, so you write it in a few lines: tokenizer with offsets, two scores, the best span, the null
# score.


# %%
def ask(model, tokenizer, question, context, longest=30):
    inputs = tokenizer(
        question,
        context,
        truncation="only_second",
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    offsets = inputs.pop("offset_mapping")[0]
    with torch.no_grad():
        output = model(**inputs)
    inside = torch.tensor([part == 1 for part in inputs.sequence_ids(0)])  # the context
    scores = output.start_logits[0][:, None] + output.end_logits[0][None, :]  # [T, T]
    allowed = torch.ones_like(scores).triu().tril(longest - 1).bool() & inside[:, None] & inside
    best = scores.masked_fill(~allowed, float("-inf")).flatten().argmax().item()
    i, j = divmod(best, len(scores))
    return context[offsets[i][0] : offsets[j][1]], (scores[0, 0] - scores[i, j]).item()


# %%
text = (
    "The pool is closed until Friday. In the meantime members may use the lake, "
    "where Nina will be on duty from nine to six."
)
questions = ("Until when is the pool closed?", "Who is on duty?", "How deep is the lake?")

# %% tags=["nbval-ignore-output"]
print(f"{'':30} no-answer score (threshold {threshold:.1f})")
for question in questions:
    answer, no_answer = ask(theirs, their_tokenizer, question, text)
    print(
        f"{question:30} {no_answer:5.1f}  {answer if no_answer <= threshold else 'no answer'}"
    )

# %% [markdown]
# Where the no-answer score is above the threshold from validation, the model abstains. Change text and questions, and
# try it.
#
# The same function serves a published model. With the internet, the next cell fetches BERT-Base, fine-tuned on SQuAD
# 2.0 (430 MB, once, about a minute at 60 Mbit/s), and asks it the same, and forty of our validation questions. Without,
# it says so. Its model card reports an F1 of 74.7 on SQuAD 2.0.

# %% tags=["nbval-ignore-output"]
from bertedu.course.published import published

published_folder = published("deepset/bert-base-cased-squad2", "430 MB")
if published_folder:
    base = transformers.AutoModelForQuestionAnswering.from_pretrained(published_folder).eval()
    base_tokenizer = transformers.AutoTokenizer.from_pretrained(published_folder)
    for question in questions:
        print(question, *ask(base, base_tokenizer, question, text))
    asked = [
        (row, *ask(base, base_tokenizer, row.question, row.context)) for row in validation[:40]
    ]
    right = [answer_scores(row, "" if null > 0 else answer)[1] for row, answer, null in asked]
    print(f"F1 of forty validation questions: {sum(right) / len(right):.2f}")

# %% [markdown]
# ## The proof
#
# Three models with the same weights: our class from above, the package's, and that of `transformers`. Then the rules:
# the package's `best_spans` against a search over all pairs, and our F1 against the package's on random phrases.

# %%
mine = QuestionAnswering(model.bert).eval()
mine.qa_outputs = model.qa_outputs
inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
with torch.no_grad():
    ours, reference, logits = model(**batch), theirs.eval()(**batch), mine(**inputs)
loss = span_loss(*logits, batch["start_positions"], batch["end_positions"])
for name, other in (("package", ours), ("transformers", reference)):
    pairs = zip(logits, (other.start_logits, other.end_logits))
    largest = max((one - two).abs().max().item() for one, two in pairs)
    print(f"{name:12} logits differ by {largest:.4f}, loss by {abs(loss - other.loss):.4f}")

# %%
from bertedu.finetuning.windows import best_spans, windows


@torch.no_grad()
def read_windows(row, length=128, stride=48):
    """For each window of a row's context: (window, start logits, end logits)."""
    found = []
    for window in windows(tokenizer, row.question, row.context, length, stride):
        inputs = {name: torch.tensor([values]) for name, values in window.numbers().items()}
        output = model.eval()(**inputs)
        found.append((window, output.start_logits[0].numpy(), output.end_logits[0].numpy()))
    return found


# %%
def search(window, starts, ends, longest=10):
    inside = range(window.first, window.first + len(window.offsets))
    return max(starts[i] + ends[j] for i in inside for j in inside if i <= j < i + longest)


largest = 0
for row in possible[:20]:
    for window, starts, ends in read_windows(row):
        best = best_spans(window, starts, ends, longest=10)[0].score
        largest = max(largest, abs(best - search(window, starts, ends)))
print(f"best scores differ by {largest:.4f}")

# %%
from bertedu.finetuning.squad_metrics import f1_of_words

words = ["the", "The", "a", "cat", "cats", "dog.", "dog", "U.S.", "10%", "half-open", "an,"]
random = Random(0)
phrases = [" ".join(random.choices(words, k=random.randint(0, 6))) for _ in range(20000)]
pairs = zip(phrases[::2], phrases[1::2])
print(f"F1 differs by {max(abs(f1(a, b) - f1_of_words(a, b)) for a, b in pairs):.4f}")

# %% [markdown]
# You have a model that answers, abstains, and works in `transformers`. The long texts and "Broken BERT" below are optional.
#
# ## A text longer than the input (optional)
#
# Our model reads 128 tokens at once, and BERT-Base reads 512. What if the text is longer? If we cut it off, we lose
# what comes later. So we read it through a **sliding window**, which moves by a number of tokens, the **stride**, and
# always has the question in front of it.
#
# The next cell makes long texts: `joined` puts five paragraphs into one context, and shifts the positions of the
# answers. (Paragraphs that don't fill a group are left out.)

# %%
from bertedu.corpora.readers import Answer, Question
from bertedu.finetuning.windows import best_over_windows, label_of


def joined(rows, number):
    """Questions on long texts: so many paragraphs in a row make the context of each."""
    contexts = list(dict.fromkeys(row.context for row in rows))
    long = []
    for first in range(0, len(contexts) - number + 1, number):
        group = contexts[first : first + number]
        for row in [row for row in rows if row.context in group]:
            shift = sum(len(context) + 1 for context in group[: group.index(row.context)])
            answers = tuple(Answer(one.text, one.start + shift) for one in row.answers)
            long.append(Question(row.id, row.question, " ".join(group), answers))
    return long


# %%
def holding(row, stride):
    """For each window of 128 tokens, whether it contains the answer."""
    answer = (row.answers[0].start, row.answers[0].start + len(row.answers[0].text))
    found = windows(tokenizer, row.question, row.context, 128, stride)
    return [label_of(window, answer) != (0, 0) for window in found]


long = [row for row in joined(validation, 5) if row.answers]
lost = sum(not holding(row, 48)[0] for row in long)
print(f"the first text has {len(tokenizer.encode(long[0].context))} tokens")
print(f"cut to one window, {lost} of {len(long)} answers are lost")

# %% [markdown]
# ![A long text as a line with the answer as a black mark, and below it its windows, each further to the right. Two of them contain the answer, the others have the label [CLS].](pictures/12_windowed.svg)
#
# Which label does a window get that doesn't contain the answer? [CLS]: there is no answer *in this window*. So if the
# texts are long, even a data set in which every question has an answer teaches a model to abstain.
#
# How large should the stride be? Two neighboring windows share some tokens. Guess: how many must they share, so that
# every answer is whole in one of them?

# %% tags=["guess"]
room = {row.id: 128 - 3 - len(tokenizer.encode(row.question)) for row in long}
longest = max(len(tokenizer.encode(row.answers[0].text)) for row in long)
print(f"the longest answer has {longest} tokens")
for shared in (0, 4, longest - 1, 60, 100):
    held = [holding(row, room[row.id] - shared) for row in long]
    count, whole = sum(map(len, held)) / len(long), sum(map(any, held))
    print(f"sharing {shared:3} tokens: {count:4.1f} windows a question, ", end="")
    print(f"{whole} of {len(long)} answers whole in one")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![An answer of six tokens at a border. Windows that share no token cut it in two; windows that share five have it whole in the second one.](pictures/12_cut_in_two.svg)
#
# One token less than the longest answer has is always enough. Google's windows share far more (384 tokens that move by
# 128). That is for the words *around* an answer, which help to find it. The price is time: half the stride, twice the
# windows.
#
# </details>
#
# ### A label for a long text (optional)
#
# The same windows serve **classification**: classify each window, and pool. Say a long review has three windows, and a
# classifier gives these scores. Which label does the text get by the mean of the scores, and which by the
# majority of the windows?

# %% tags=["guess"]
CLASSES = ("negative", "neutral", "positive")
window_logits = torch.tensor([[0.2, 0.7, 0.3], [-1.2, 0.1, 2.9], [0.4, 0.8, 0.6]])  # [W, C]
print("mean:    ", CLASSES[window_logits.mean(dim=0).argmax()])
print("majority:", CLASSES[window_logits.argmax(dim=1).mode().values])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Scores of three windows for negative, neutral and positive. Two windows are nearly undecided, the second is clearly positive. The mean is highest for positive.](pictures/12_pooled.svg)
#
# The mean lets a sure window count more than two undecided ones. The maximum of each class is another choice, and
# vectors can be pooled instead of scores, as in chapter 10. Try the simple way first: Sun et al. (2019) found for film
# reviews that the first 128 and the last 382 tokens of a text, in one input, did better than pooling over parts.
#
# </details>
#
# ## Broken BERT: the longer the text, the fewer right answers (optional, after the long texts)
#
# A colleague reads long texts with the function `read_long`, in windows. On our paragraphs it works as before. But if
# six reviews (of phones, cafés and the like) follow each paragraph, the same model gets almost nothing right.


# %%
def read_long(found, context, threshold):
    """found: for each window, in the order of the text, (window, start logits, end logits)."""
    for window, starts, ends in found:
        spans = best_spans(window, starts, ends, longest=10)  # may be empty
        abstain = not spans or starts[0] + ends[0] - spans[0].score > threshold
        answer = "" if abstain else context[spans[0].start : spans[0].end]
    return answer


# %% [markdown]
# The next cell puts reviews after the paragraphs and scores a reading function, on every fourth question that has an
# answer. With the threshold infinity, the model always answers.

# %%
from bertedu.corpora.task_data import read_labelled
from bertedu.finetuning.squad_metrics import squad_figures

reviews = [row.text for row in read_labelled(data_path("tasks/sentiment/validation.tsv"))]


def followed(rows, number):
    texts = [" ".join(reviews[number * i : number * (i + 1)]) for i in range(len(rows))]
    contexts = [f"{row.context} {text}".strip() for row, text in zip(rows, texts)]
    return [Question(r.id, r.question, text, r.answers) for r, text in zip(rows, contexts)]


def score_of(read, rows):
    answers = {r.id: read(read_windows(r), r.context, float("inf")) for r in rows}
    return squad_figures(rows, answers)["f1"]


# %%
alone, longer = followed(possible[::4], 0), followed(possible[::4], 6)
f1_alone = score_of(read_long, alone)
print(f"paragraphs alone: F1 {about('12 alone', f1_alone, within=0.12):.2f}")
f1_long = about("12 longer", score_of(read_long, longer), within=0.08)
print(f"and six reviews:  F1 {f1_long:.2f}")

# %% [markdown]
# ![Three windows of one text, with the question When does the shop close? Window 1: best span nine, 2.0, null score 6.0. Window 2: half past four, 9.0, null score 1.5. Window 3: the cat, 1.0, null score 7.5. What is the answer?](pictures/12_whose_answer.svg)
#
# ### Exercise 12.5 · One answer for all windows
# ●●●○ · 20 minutes
#
# Find the mistake, and write a repaired `read_all(found, context, threshold)`, with the same inputs. Two questions
# decide: which window's span may be the answer for the whole text? And whose null score counts? As in `read_long`, a
# span has at most 10 tokens, and `best_spans` may return an empty list (if none of the 20 best starts fits one of the
# 20 best ends). Stuck? `hint("12.5")`


# %% tags=["exercise"]
def read_all(found, context, threshold):
    ### BEGIN SOLUTION
    spans = [span for one in found for span in best_spans(*one, longest=10)]
    best = max(spans, key=lambda span: span.score, default=None)
    null = min(starts[0] + ends[0] for _, starts, ends in found)
    return context[best.start : best.end] if best and null - best.score <= threshold else ""
    ### END SOLUTION


check("12.5", read_all)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Every window overwrites `answer`, so the *last* window answers for the whole text. And most windows of a long text
# say, correctly, that there is no answer in them. The candidate must be the best span of all windows. And the null
# score of the text is the **lowest** of all windows: "there is no answer in the text" is true only if it is true for
# every window, so the window that is least sure of it decides. Collecting answers in a dictionary by the question's
# id, as programs often do, can contain the same bug: each window overwrites the entry of the one before it.
#
# </details>

# %% [markdown]
# The package's `best_over_windows` returns both: the best spans of all windows and the lowest null score. What does the
# repair bring?


# %%
def repaired(found, context, threshold):
    spans, null_score = best_over_windows(found, longest=10)
    abstain = not spans or null_score - spans[0].score > threshold
    return "" if abstain else context[spans[0].start : spans[0].end]


f1_repaired = about("12 repaired", score_of(repaired, longer), within=0.12)
print(f"with six reviews, repaired: F1 {f1_repaired:.2f}")

# %% [markdown]
# The answers are back, or most of them: each window also brings wrong candidates of its own.
#
# ## Paper and code
#
# | | |
# |---|---|
# | Head | Devlin et al. (2019), section 4.2: a start vector S and an end vector E; the softmax of their dot products with the tokens' vectors runs over the words of the paragraph. Google's code and `transformers` use one linear layer with two outputs and biases, and their softmax runs over the whole input. So does ours |
# | No answer | Section 4.3: the model answers if the best span scores more than the null score plus τ, with τ chosen on the development set. Our threshold is −τ, Google's `null_score_diff_threshold` |
# | Several windows | `run_squad.py` takes the lowest null score of all windows, as we do. It lets an answer begin at a token only in the window where this token has the most context on both sides. We take the best score of any window |
# | Stride | Google's `doc_stride` (128, in windows of 384) says how far the window **moves**. In `transformers`' tokenizers, `stride` says how many tokens two windows **share**. If you mix them up, there is no error, only more windows, or lost answers. Ours moves |
# | Limits | Question 64 tokens, answer 30 tokens, the 20 best starts and ends in `run_squad.py`, and in our task. The proof and "Broken BERT" use 10 tokens |
# | Outside the window | Google's code and ours label it [CLS]. The model of `transformers` *ignores* a label beyond its input, so the script that prepares the data must set it to [CLS] |
# | Offsets | For the question's tokens, fast tokenizers return positions in the **question**: if you cut the context with them, you get a random piece |
#
# ## Summary
#
# ![The way of an answer: question and context, in windows; BERT and one linear layer, two scores for each token; the best allowed span; the no-answer score; the threshold from validation, which decides between answering and abstaining.](pictures/12_way_of_an_answer.svg)
#
# - An answer is a span. Start and end scores are added for pairs, and forbidden pairs are excluded. Offsets lead from
#   characters to tokens for the loss, and back to characters for the answer.
# - "No answer" is a span too, at [CLS]. A threshold, chosen on validation data, decides. Report both kinds of questions.
# - In long texts, the best span of all windows is the candidate, and the lowest null score decides whether we answer.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(12)

# %% [markdown]
# ## Interview questions
#
# <!-- finetuning-12 -->
# **1. In extractive question answering start and end are predicted independently. Why does that work, and where does
# it fail?**
#
# <details><summary>Answer in half a minute</summary>
#
# Given the text, p(start) · p(end) is a rough model of p(start, end), and adding the logits ranks spans by exactly
# this product. If one answer is clearly best, both have their maximum in it. With two good candidates the product
# also likes mixtures: the start of one and the end of the other. A length limit, or an end that depends on the start,
# repairs it.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Two vectors of size D are learned, one gives each token a start score, the other an end score. Two softmaxes over
# the tokens, two cross-entropies, their mean is the loss. A span's score is the sum of its two logits. Since the
# denominators of both softmaxes are the same for all spans of a text, ranking by the sum of logits is ranking by the
# product of probabilities, so it assumes that start and end are independent given the text.
#
# Why does it work? Because they are independent given the answer, and mostly one answer is clearly best. The encoder
# has read question and text together, so the vectors at both ends already agree on which candidate it is.
#
# Where does it fail? If two candidates are about equally good, say 0.5 each: "born in Paris, moved to London in
# 1990". The four combinations then have 0.25 each, and one of the wrong ones runs from the first candidate to the
# second. That answer is long and looks absurd to users.
#
# So first the rules: end not before start, at most 30 tokens, inside the context. They need no training and remove
# most of it. Then a model of the dependence: predict the end given the start, as XLNet's head does, with beam search
# over five starts; or score each pair of tokens with a small network, T² scores, which is affordable at 384. For
# several correct answers, list questions, the softmax over starts is the wrong model altogether: tag tokens instead.
# And the product is a bad confidence: with two equal candidates it says 0.25, although the model is sure that the
# answer is one of the two.
#
# </details>
#
# <!-- evaluation-04 -->
# **2. Your model has F1 80 on SQuAD 2.0's development set. You say that the no-answer threshold was tuned. What will
# you be asked?**
#
# <details><summary>Answer in half a minute</summary>
#
# On which questions it was tuned. If on the same ones, the score is too good, because the threshold has seen the
# answers. Report it with a threshold from other data. Next: what never answering gets, about 50 there. The scores
# with and without an answer separately. And whether users ask as many unanswerable questions, because the best
# threshold depends on that share.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The first question is: tuned on which data? The official script finds the best threshold on the set that it scores.
# That is an upper limit, not an estimate: one number was fitted on the test answers. The gain shrinks with the number
# of examples: for scores that know nothing it is 15 points on 20 examples, 5 on 200 and 1 on 5,000. One threshold on
# a large set does little harm, one for each of 20 labels does. The rule is the same for everything that is chosen:
# threshold, temperature, epoch, checkpoint, prompt, ensemble weights. What has been chosen on a set can't be measured
# on it.
#
# So I'd split the development set by article, choose on one half and report on the other, and swap. Second: what is
# the baseline? About half of that set has no answer, so never answering gets near 50. F1 80 is thirty points above,
# not eighty.
#
# Third, the two parts: F1 on questions with an answer, and accuracy on those without. 70 and 90 is another product
# than 90 and 70, and the threshold moves between them. I'd show the curve and let the product choose the point by
# what a wrong answer costs. Fourth, the share of unanswerable questions: in SQuAD the annotators wrote them to look
# answerable, half of the set. If only one in ten users' questions has no answer, the tuned threshold abstains too
# often. I'd choose it again on real questions.
#
# Last: how many other things were compared on this development set before? After fifty experiments, it is a training
# set of the researcher.
#
# </details>
#
# <!-- design-06 -->
# **3. Documents have 10,000 words, questions must be answered within 200 ms, by spans of the text. What do you change
# first?**
#
# <details><summary>Answer in half a minute</summary>
#
# Not the stride: that saves a third here. First retrieve passages, with BM25 or a bi-encoder and stored vectors, and
# read only the best few with the span model. Batch and sort windows, use a smaller reader. Then scores must be
# comparable across passages: train several passages of a question under one softmax, or compare logits.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Count. 10,000 words are some 13,000 tokens. With windows of 384 that share 128 tokens, that's about 54, since each
# has room for 370 and moves by 242. Without any overlap it is 36, so the overlap costs a third. BERT-Base at 384
# tokens is 71 GFLOP a window, 3.8 TFLOP for a document: 80 ms on an L4 at 48 TFLOPS, if perfectly batched, and one
# card does 12 questions a second. A single CPU core needs more than a minute.
#
# The right change is to read less. Split each document once into passages of 100 to 150 words, overlapping by a
# sentence, with the title in front. Store their vectors and a BM25 index. For a question: encode it, 5 ms; take the
# best 10 passages, under a millisecond within a document; read these 10 with the span model. Each is about half a
# window: about a tenth of the tokens, 7 to 8 ms. A distilled reader halves it again.
#
# What can go wrong? If the passage isn't among the ten, no reader can help: measure recall@10 of passages that
# contain the answer, separately from F1 given the right passage. Hybrid retrieval helps with names and numbers.
# Second, comparing answers from different passages. A reader trained on one passage at a time has a softmax over that
# passage: it learned to be sure somewhere in each. Probabilities of two passages can't be compared. Clark and Gardner
# train several passages of one question under a shared softmax; the cheap version is to compare logits, with the
# no-answer logit subtracted. Third, no answer: the lowest no-answer score over all passages decides. Fourth, an
# answer over a passage border: the overlap.
#
# In 2026 there's an alternative: ModernBERT reads 8,192 tokens at once; that's two windows and about 5 TFLOP, simple,
# but no faster. And with a large model after it, the same retrieval is the R in RAG; the span model then serves for
# exact citations.
#
# </details>
#
# ## Next
#
# Question and context went into BERT together, so every token could attend to every other one. That is accurate and
# slow: for each new question, everything is read again. [13 · Pairs, similarity and
# summaries](13_pairs_and_similarity.ipynb) compares it with the other way, one vector for each text.
