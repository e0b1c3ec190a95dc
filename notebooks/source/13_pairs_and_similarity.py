# %% [markdown]
# # 13 · Pairs, similarity and summaries
#
# Does this follow from that? Do both say the same? Which of four endings fits? What may a summary leave out? You will
# build the two ways in which BERT reads a pair, and find out what each is worth and what it costs.
#
# ## What you will be able to do
#
# - fine-tune BERT on pairs, and catch a data set that gives its answers away;
# - choose between a cross-encoder and a bi-encoder, with their quality and their cost as numbers;
# - say why the raw `[CLS]` is a poor vector for a sentence, and make a good one;
# - search a collection by meaning, and train for search with in-batch negatives;
# - summarise a text by choosing its sentences, and measure the summary with ROUGE.
#
# **Time:** 60 minutes · **You need:** [12 · Question answering](12_question_answering.ipynb) · **Next:** the BERT family, in the chapters to come
#
# ## Recall
#
# 1. A question and its context go into BERT together. What tells the two apart?
#
# <details><summary>Answer</summary>
#
# The [SEP] between them, and the token types: 0 up to and with the first [SEP], 1 after it.
#
# </details>
#
# 2. Which two numbers does the question answering head give each token?
#
# <details><summary>Answer</summary>
#
# How well the token would begin the answer, and how well it would end it.
#
# </details>
#
# 3. How does a model say that a question has no answer?
#
# <details><summary>Answer</summary>
#
# With the span that begins and ends at [CLS]. Its score is compared with that of the best real span; a threshold,
# chosen on validation, decides.
#
# </details>
#
# ## Two ways to read a pair
#
# On the left both sentences go into BERT **together**, and one vector answers: a *cross-encoder*. Every token of one can
# look at every token of the other. On the right each goes in **alone**, through the same weights, and two vectors are
# compared: a *bi-encoder*, or siamese network. The whole chapter is about what follows from this difference.
#
# <svg role="img" aria-label="Left, the cross-encoder: sentence A and sentence B enter one BERT together, and its CLS vector gives a label or a score. Right, the bi-encoder: A and B enter the same BERT one by one, the mean over the tokens of each gives a vector, and the cosine of both is the score." viewBox="0 0 760 230" width="760" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">
# <rect width="760" height="230" fill="#ffffff"/>
# <g fill="#f3f3f3" stroke="#767676"><rect x="50" y="100" width="240" height="46" rx="7"/><rect x="430" y="100" width="120" height="46" rx="7"/><rect x="590" y="100" width="120" height="46" rx="7"/></g>
# <g fill="#222222" text-anchor="middle"><text x="170" y="128">BERT</text><text x="490" y="128">BERT</text><text x="650" y="128">BERT</text><text x="570" y="88">the same weights</text>
# <text x="170" y="195">[CLS] sentence A [SEP] sentence B [SEP]</text><text x="490" y="195">[CLS] A [SEP]</text><text x="650" y="195">[CLS] B [SEP]</text></g>
# <g stroke="#767676" stroke-width="1.6" fill="none"><path d="M170 180V152M490 180V152M650 180V152"/><path d="M165 158l5-6 5 6M485 158l5-6 5 6M645 158l5-6 5 6"/></g>
# <g stroke="#0072B2" stroke-width="1.6" fill="none"><path d="M70 100V52M490 100C490 75 530 68 556 52M650 100C650 75 610 68 584 52"/></g>
# <g fill="#0072B2" text-anchor="middle"><text x="100" y="40">[CLS]: a label or a score</text><text x="570" y="40">means of the tokens: their cosine</text></g>
# <g fill="#222222" text-anchor="middle" font-weight="bold"><text x="170" y="16">cross-encoder</text><text x="570" y="16">bi-encoder</text></g>
# <text x="490" y="222" fill="#767676" text-anchor="middle">vectors can be kept</text><text x="170" y="222" fill="#767676" text-anchor="middle">a new pass for each pair</text>
# </svg>

# %%
import tempfile
import time
from collections import Counter

import torch
import transformers
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from torch import nn
from torch.nn.functional import cosine_similarity, cross_entropy, mse_loss, normalize

# %%
from bertedu import BertTokenizer
from bertedu.corpora.sentences import split_sentences
from bertedu.corpora.task_data import read_choices, read_labelled, read_summaries
from bertedu.course import check, data_path, hint, quiz
from bertedu.files import read_json
from bertedu.finetuning.bags import bag_cosines
from bertedu.finetuning.classification import BertForSequenceClassification, ClassificationTask
from bertedu.finetuning.kinds import classification_baselines
from bertedu.finetuning.multiple_choice import BertForMultipleChoice, MultipleChoiceTask
from bertedu.finetuning.pooling import pool
from bertedu.finetuning.rouge import rouge, words_of
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.similarity import BertSentenceEncoder, SimilarityTask, embed, search, word_cosines
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.summarization import BertForSummarization, SummarizationTask, lead_and_oracle
from bertedu.training.devices import computes_bf16
from bertedu.visualization.comparison import comparison
from bertedu.visualization.confusion import confusion_matrix
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

folder = data_path("checkpoints/books-mini")
tokenizer = BertTokenizer.from_pretrained(folder)

# %% [markdown]
# ## What follows from what
#
# **Natural language inference**: a *premise* is taken for true. Does the *hypothesis* follow from it (entailment), does
# it clash with it (contradiction), or does the premise leave it open (neutral)? Here is one hypothesis with three
# premises. Which is which? Say it before you run the cell below.

# %%
train, validation = (read_labelled(data_path(path)) for path in ("tasks/inference/train.tsv", "tasks/inference/validation.tsv"))
hypothesis = train[0].pair
three = [row for row in train if row.pair == hypothesis]
print("hypothesis:", hypothesis)
for row in three:
    print("   premise:", row.text)

# %%
print([row.label for row in three])
baselines = classification_baselines(train, validation, "single_label_classification")
for name, figures in baselines.items():
    print(f"{name:22} {figures['accuracy']:.2f}")

# %% [markdown]
# A bag of words of both sentences, with pairs of neighbouring words, does better than guessing: a *not* in the premise is
# a hint. But it pours both sentences into one bag and cannot lay one beside the other. From *A wet dog ran* follows *A dog
# ran*, and not the other way round; both orders make the same bag, pairs of words and all.
#
# The last line is a fairer opponent. It is a linear model as well, but it is told which words only the premise holds, which
# only the hypothesis, which both, and how many these are. That gives two thirds of the answers. What BERT gets beyond *this*
# line is what reading adds.
#
# Now a suspicious question. What can be known from the hypothesis **alone**? In our data each hypothesis comes three
# times, once with each label.
#
# ### Exercise 13.1 · Half of the question
# ●○○○ · 2 minutes
#
# A classifier sees no premise. How large is the largest share of our rows that it can get right? Stuck? `hint("13.1")`

# %% tags=["exercise"]
### BEGIN SOLUTION
share = 1 / 3
### END SOLUTION
check("13.1", share)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# To the same words it must say the same thing, three times, and the three rows have three different labels. One of them
# is right: a third, whatever it has learned.
#
# </details>

# %% [markdown]
# That sounds too obvious to mention, and yet the largest public sets fail it. Their hypotheses were written by people who
# saw the premise and the label that they were to write for. Whoever is in a hurry writes a contradiction with *not* or
# *nobody*, and a neutral sentence by adding something. Gururangan et al. (2018) gave a simple classifier the hypotheses
# alone. It was right on about 67 % of SNLI and 53 % of MNLI; guessing is right on about a third.
#
# We can make such a set from ours, with a writer in a hurry: of the three rows of a hypothesis with a negative word we keep
# the contradiction, of all others one of the other two. The control is a fair writer, who draws the row by lot.

# %%
NEGATIVE = {"not", "no", "never", "nobody", "none", "cannot"}

def one_of_three(rows, hurried):
    """One row of each hypothesis; the hurried writer keeps contradictions just where there is a negative word."""
    generator, kept = torch.Generator().manual_seed(0), {}
    for row in rows:
        kept.setdefault(row.pair, []).append(row)
    for hypothesis, three in kept.items():
        negative = bool(NEGATIVE & set(words_of(hypothesis)))
        fitting = [row for row in three if (row.label == "contradiction") == negative] if hurried else three
        yield fitting[torch.randint(len(fitting), (), generator=generator)]

# %%
def blind(train, validation):  # a classifier that sees hypotheses only: its balanced accuracy
    bags = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit([row.pair for row in train])
    model = LogisticRegression(C=10, max_iter=1000).fit(bags.transform([row.pair for row in train]), [row.label for row in train])
    return balanced_accuracy_score([row.label for row in validation], model.predict(bags.transform([row.pair for row in validation])))

for name, hurried in (("drawn by lot", False), ("hurried writer", True)):
    print(f"{name:15} hypothesis alone: {blind(*(list(one_of_three(rows, hurried)) for rows in (train, validation))):.2f}")
print(f"{'all three rows':15} hypothesis alone: {blind(train, validation):.2f}")

# %% [markdown]
# A writer in a hurry seldom writes a contradiction, so we take the mean over the three classes (balanced accuracy, as in
# chapter 07): with plain accuracy always saying the same would look good. A hundred rows only: five points are luck. But on
# the hurried set the hypothesis alone gives away a good part of the answers. A BERT trained there gets those without
# comparing anything, and its score looks better than it is. So before any model: **train one that cannot see what it
# needs**. What it gets is your floor, not a third.
#
# ## A cross-encoder
#
# Both sentences go in together, as in [chapter 07](07_next_sentence_prediction.ipynb), and the vector of [CLS] gets a linear
# layer. Nothing else is new:

# %%
pair = tokenizer("Anna is older than Peter.", "Peter is younger than Anna.")
print(*pair.tokens[0])
print(*pair.token_type_ids[0].tolist())

class CrossEncoder(nn.Module):
    def __init__(self, bert, classes):
        super().__init__()
        self.bert = bert
        self.classifier = nn.Linear(bert.config.hidden_size, classes)

    def forward(self, input_ids, attention_mask, token_type_ids):  # [B, T] each
        pooled = self.bert(input_ids, attention_mask, token_type_ids).pooler_output  # [B, D], from [CLS]
        return self.classifier(pooled)  # [B, C]

# %% [markdown]
# The loop is that of [chapter 08](08_pre_training.ipynb) without its comforts. A *task* of the package gives batches, and
# for each batch the sum of its losses and their count. One loop serves every task of this chapter.

# %%
def learn(model, task, epochs, rate=3e-4):
    torch.manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    batches = [batch for epoch in range(epochs) for batch in task.epoch(epoch)]
    for step, batch in enumerate(batches):
        share = step / len(batches)
        optimizer.param_groups[0]["lr"] = rate * min(share / 0.1, (1 - share) / 0.9)  # up for a tenth, then down
        with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):  # chapter 08: faster where the hardware can
            (loss,), (count,) = task.sums(model.train(), batch).values(), task.counts(batch).values()  # one number in each
        optimizer.zero_grad()
        (loss / count).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()

# %%
LABELS = ("contradiction", "entailment", "neutral")
settings = FinetuningSettings(batch_size=16)
nli = ClassificationTask(train[:1500], validation, tokenizer, settings, LABELS)
torch.manual_seed(0)
reader = with_new_head(BertForSequenceClassification, str(folder), settings, labels=LABELS)
learn(reader, nli, epochs=3)
accuracy = nli.score(reader, validation)["accuracy"]
floor = max(baselines["bag of words"]["accuracy"], blind(train, validation))
print("better than one bag of both, and than the hypothesis alone:", accuracy > floor)

# %% tags=["nbval-ignore-output"]
explained = nli.explain(validation, nli.predictions(reader, validation))
print(f"accuracy on validation {accuracy:.2f};", ", ".join(f"{name} {figures['accuracy']:.2f}" for name, figures in baselines.items()))
for row in sorted((row for row in explained if row["label"] != row["prediction"]), key=lambda row: -row["mistake"])[::10]:
    print(f"{row['text']:50} {row['pair']:45} {row['label']}, not {row['prediction']}")
confusion_matrix([row["label"] for row in explained], [row["prediction"] for row in explained], "pairs")

# %% [markdown]
# The validation rows have templates, names and things of their own; nothing there was learned by heart. Read the confusions,
# and then the mistakes, every tenth of them, beginning with the surest. Do you see a kind that comes back?
#
# In our runs most mistakes say *entailment* where it is not: the hypothesis has the words of the premise, and what undoes
# it is small. *…, or Eric did*; *dreamed of*; two names exchanged (*Irene is shorter than Oscar. Oscar is shorter than
# Irene.*). Larger models read more, and still lean on shared words. McCoy et al. (2019) built HANS to show it: all its
# hypotheses are made of words of their premise, and half of them do not follow. Of that half, BERT fine-tuned on MNLI
# called most entailed.
#
# So this BERT leans on what the linear model counts, and is hardly better than it: two points are six rows of our 300. The
# two mistakes at the top have a habit behind them, too: a *not* in the premise, and the model says contradiction, though the
# hypothesis speaks of another act.
#
# ## How alike?
#
# Now a score instead of a class: how alike are two sentences, from 0 (another event) to 5 (the same in other words)?
# The measure is **Spearman's rank correlation**: are the pairs in the right *order*? By pencil: the right scores are 0, 3, 5,
# and a model says 0.2, 0.9, 0.4. Those are the ranks 1, 2, 3 against 1, 3, 2. With n = 3 pairs, no two scores equal, and d
# the difference of a pair's two ranks,
#
# $$\rho = 1 - \frac{6 \sum d^2}{n (n^2 - 1)} = 1 - \frac{6 \cdot (0 + 1 + 1)}{3 \cdot 8} = 0.5$$

# %%
print(f"{spearmanr([0, 3, 5], [0.2, 0.9, 0.4]).statistic:.1f}")
alike, asked = (read_labelled(data_path(path), problem_type="regression") for path in ("tasks/similarity/train.tsv", "tasks/similarity/validation.tsv"))
for score in (5, 3, 2, 0):
    row = next(row for row in asked if row.label == score)
    print(f"{score}  {row.text}\n   {row.pair}")

# %% [markdown]
# The cross-encoder is the class above with one output and the squared error: nothing to add. The bi-encoder needs a vector
# for a sentence. BERT offers one: [CLS], "the aggregate sequence representation" in the words of the paper. Let us take
# it as it comes. Raw BERT, no training; [CLS] against the mean of all tokens, and a bag of words as the control. A
# guess, please: in which order?

# %%
texts = [text for row in asked for text in (row.text, row.pair)]
right = [row.label for row in asked]
bert = with_new_head(BertSentenceEncoder, str(folder), settings, pooling="pooler").bert.eval()

@torch.no_grad()
def vectors(bert, texts, pooling):  # [N, D]
    encoding = tokenizer(texts)
    output = bert(encoding.input_ids, encoding.attention_mask, encoding.token_type_ids)
    return pool(output, encoding.attention_mask, pooling)

for pooling in ("cls", "pooler", "mean"):
    v = vectors(bert, texts, pooling)
    cosines = cosine_similarity(v[0::2], v[1::2])
    strangers = cosine_similarity(v[0::2], v[1::2].roll(7, dims=0)).mean()
    print(f"{pooling:7} Spearman {spearmanr(cosines, right).statistic:5.2f}   mean cosine of sentences drawn together by chance {strangers:.2f}")
print(f"words   Spearman {word_cosines(alike, asked)['cosine of bags of words']['spearman']:5.2f}   (of the words that both hold; rare ones weigh more, new ones most)")

# %% [markdown]
# The vector that is meant to stand for the whole sentence is the poorest but one: the plain mean of all tokens leaves it far
# behind. And counting shared words, which does not know what a word means, beats every raw vector. Look at the right column,
# too: the [CLS] vectors of any two sentences are nearly parallel.
#
# Why? Ask what each vector was **trained** for.
#
# - No loss of pre-training asks [CLS] for the *meaning of its sentence*. The masked-word head never reads its last vector.
#   The next-sentence head does, through the pooler, and wants two classes of a *pair*, mostly a matter of topic.
# - And nothing ever compared two such vectors: no loss made a *cosine* mean anything.
# - Each token's own vector at least had to know its word and its neighbours. The mean of them lives on that.
#
# The paper says it itself: [CLS] is an aggregate "for classification tasks", and a footnote of section 3.1 warns that without
# fine-tuning it represents no sentence in a meaningful way. Reimers & Gurevych (2019) measured it on the STS benchmark.
# Spearman, times 100: [CLS] 16.5, mean of the tokens 46.4, mean of GloVe's word vectors, which know no context at all, 58.0.
# There, too, words by themselves won against a BERT that nobody had asked for a cosine.
#
# ## A bi-encoder
#
# If cosines should mean something, train them. Both sentences go through the same weights, each alone; the cosine of the
# two means should be the score, divided by 5. That is the whole siamese network:

# %%
def siamese_loss(model, batch):
    """Squared error of the cosines of a batch of pairs; model maps [B, T] to vectors [B, D]."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    first = model(*(batch[name] for name in names))  # [B, D]
    second = model(*(batch["pair_" + name] for name in names))  # [B, D], the same weights
    return mse_loss(cosine_similarity(first, second), batch["scores"])

mean_settings = FinetuningSettings(batch_size=16, pooling="mean")
similarity = SimilarityTask(alike[:1000], asked, tokenizer, mean_settings)
encoder = with_new_head(BertSentenceEncoder, str(folder), mean_settings, pooling="mean")
before = similarity.score(encoder, asked)["spearman"]
learn(encoder, similarity, epochs=2, rate=1.5e-4)
after = similarity.score(encoder, asked)["spearman"]
counting = word_cosines(alike, asked)["cosine of bags of words"]["spearman"]
print(f"counting words {counting:.2f}, raw mean {before:.2f}")
print("trained mean, better than raw:", after > before)

# %% [markdown]
# A short training, on other events with other names and towns, and the order is better. Now the comparison that everybody asks
# for: both ways of reading, and the bi-encoder with [CLS], too. `benchmarks/pairs.py` trained each of them on all 1,500 pairs,
# once for each seed (the cross-encoder at 3·10⁻⁴, the other two at half of that), and stored the results; you have just run a shorter version of its line *bi-encoder, mean*. Your guess,
# please, before you look: which of the three is best, and how far has training brought [CLS] from its raw value above?

# %%
recorded = read_json(data_path("pairs/similarity.json"))
values = {name: way["spearman"] for name, way in recorded["ways"].items()}
print("seeds:", len(values["cross-encoder"]))
comparison(values, {"counting words": counting, "raw BERT, mean": before}, "Spearman on validation")

# %% [markdown]
# - Of the three the **cross-encoder** is best: it can lay word beside word, across the two sentences. The bi-encoder must
#   squeeze each sentence into D numbers before it knows what it will be compared with.
# - **Counting words** has not been beaten by anything here; the cross-encoder comes up to it. Our sentences that are
#   alike share their rarest words, names and towns, and 1,500 pairs do not teach a small model more than that. It is no law:
#   from 1,000 pairs of captions all-MiniLM-L6-v2, which has read far more, gets 0.91 as a bi-encoder, where counting has 0.72
#   (`benchmarks/README.md`). But who leaves that line out of the figure would call 0.63 a success.
# - **[CLS] has gained far more than the mean**: it was never the wrong *place*, it had only never been asked. But the mean
#   begins with what every token knows, and so few pairs have not even brought [CLS] to where the raw mean stood. With a larger
#   model and more pairs the two come close: Reimers & Gurevych (2019, table 6; Spearman, times 100, on the development set
#   of the STS benchmark) found 87.4 for the mean and 86.6 for [CLS] when trained on scores, as here, and 80.8 and 79.8 when
#   trained on about a million pairs of NLI.
#
# Published for BERT-Base (the same paper, table 2, on the test set): trained on the STS benchmark alone, cross-encoder
# and bi-encoder were about equal, 84.3 and 84.7. With NLI before it the cross-encoder led by three points, 88.3 to 85.4.
#
# ## What it costs
#
# So why would anybody take the bi-encoder?
#
# ### Exercise 13.2 · A thousand sentences
# ●●○○ · 4 minutes
#
# In a collection of 1,000 sentences you look for the two that are most alike. How many passes through BERT does it take to
# score all pairs? A pass reads one text or one pair; a pair counts once, whichever sentence comes first. Write a list of
# two numbers: with the cross-encoder, with the bi-encoder. Stuck? `hint("13.2")`

# %% tags=["exercise"]
### BEGIN SOLUTION
passes = [499_500, 1000]
### END SOLUTION
check("13.2", passes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Each of 1,000 sentences meets 999 others, and each pair was counted twice: 1,000 · 999 / 2 = 499,500. The bi-encoder reads
# each sentence once. The 499,500 cosines are one product of matrices, [1000, D] by [D, 1000], and no pass.
#
# </details>

# %% tags=["nbval-ignore-output"]
def seconds(work, times=3):  # a pass of each is measured here, the rest is computed below
    work()  # once to warm up
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times

pairs, singles = tokenizer([row.text for row in asked[:64]], [row.pair for row in asked[:64]]), tokenizer([row.text for row in asked[:64]])
with torch.no_grad():
    cross = seconds(lambda: reader(pairs.input_ids, pairs.attention_mask, pairs.token_type_ids)) / 64
    single = seconds(lambda: encoder(singles.input_ids, singles.attention_mask, singles.token_type_ids)) / 64
    D = encoder.config.hidden_size
    many = torch.randn(2000, D)
    cosine = seconds(lambda: many @ many.T) / 2000**2
print(f"pairs a second: cross-encoder {1 / cross:,.0f}, cosines {1 / cosine:,.0f}; sentences a second: {1 / single:,.0f}")

# %% tags=["nbval-ignore-output"]
sizes = [10, 100, 1000, 10_000, 100_000]
costs = {"cross-encoder": [n * (n - 1) / 2 * cross for n in sizes], "bi-encoder": [n * single + n * n * cosine for n in sizes]}
figure = new_figure(6, 3)
axes = figure.subplots()
for (name, seconds_, color) in zip(costs, costs.values(), (ORANGE, BLUE)):
    axes.loglog(sizes, seconds_, marker="o", color=color)
    axes.annotate(name, (sizes[-1], seconds_[-1]), (-12, 4), textcoords="offset points", ha="right", color=color)
for words, value in (("a second", 1), ("an hour", 3600), ("a month", 2.6e6)):
    axes.axhline(value, color=GREY, linestyle=":", linewidth=1)
    axes.text(sizes[0], value * 1.3, words, fontsize=8, color=GREY)
axes.set(xlabel="sentences in the collection", ylabel="seconds for all pairs, on this machine")
quiet(axes)
assert costs["cross-encoder"][3] > 500 * costs["bi-encoder"][3]
Picture(figure, alt="Seconds for all pairs by size of the collection, both axes logarithmic. The cross-encoder rises twice as steeply as the bi-encoder; at 10,000 sentences it takes more than 500 times as long.")

# %% [markdown]
# A line twice as steep: n² against n. (The cosines are n², too, and with very many sentences they begin to count.) The
# famous figures are from Reimers & Gurevych (2019), on one V100 GPU: finding the most similar pair among 10,000 sentences takes
# BERT about 65 hours, and Sentence-BERT about 5 seconds.
#
# In practice both work together: the bi-encoder **retrieves** a hundred candidates out of a million, and the cross-encoder
# **re-ranks** these hundred. A hundred passes can be paid for.
#
# ## Search by meaning
#
# The other thing that only vectors can do: be computed *before* anybody asks.
#
# ### Exercise 13.3 · The nearest sentences
# ●●○○ · 8 minutes
#
# Write `nearest(queries, collection, k)` for vectors `[N, D]` and `[M, D]`, not of length 1. Return the k highest cosines
# of each query, `[N, k]`, best first, and their places in the collection, `[N, k]`. Stuck? `hint("13.3")`

# %% tags=["exercise"]
def nearest(queries, collection, k):
    ### BEGIN SOLUTION
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T  # [N, M]
    best = cosines.topk(k, dim=-1)
    return best.values, best.indices
    ### END SOLUTION

check("13.3", nearest)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A cosine is the product of two vectors of length 1, and all of them at once are one product of matrices. Without the
# division long vectors win every search, whatever they mean. `topk` runs over the collection, the last axis.
#
# </details>

# %% [markdown]
# The collection: of the validation pairs with the score 5, each event once, the 38 second sentences. We ask with the first
# ones. Each has one partner that says the same in other words; the others tell such events with other names, days and towns,
# or other events. By chance one in eight partners is among the five nearest. `search` is the package's `nearest`, for one query.

# %%
queries, collection = [], []
for row in asked:
    if row.label == 5 and not {row.text, row.pair} & {*queries, *collection}:  # a further pair of the same event shares a sentence
        queries.append(row.text)
        collection.append(row.pair)

def found(ones, others, k=5):  # [N, D] each, of length 1 -> the share of partners among the k nearest
    return sum(i in dict(search(others, one, k)) for i, one in enumerate(ones)) / len(ones)

def raw_space(pooling):
    return (normalize(vectors(bert, texts_, pooling), dim=-1) for texts_ in (queries, collection))

trained = [embed(encoder, tokenizer, texts_) for texts_ in (queries, collection)]
for pooling in ("cls", "mean"):
    print(f"raw {pooling:5} finds {found(*raw_space(pooling)):.0%}")
words = [text for row in alike for text in (row.text, row.pair)]
counted = bag_cosines([(query, text) for query in queries for text in collection], words).reshape(len(queries), -1)

def found_by_counting(k=5):
    return sum(i in row.argsort()[-k:] for i, row in enumerate(counted)) / len(queries)

print(f"counting  finds {found_by_counting():.0%}")
print("trained for scores, it finds at most one partner in twenty more than the raw mean:", found(*trained) <= found(*raw_space("mean")) + 0.05)

# %% [markdown]
# A disappointment: the order of all pairs got better, and the nearest neighbours did not; counting shared names and towns
# finds more. Nothing is broken. The squared error
# asked for a cosine of 0.4 here and 0.6 there between the sentences of each *pair*; it never asked that a partner be **nearer
# than everything else**. You get what you train for.
#
# So train for search. Take pairs that say the same or nearly the same, a batch of B of them. For each first sentence its
# partner is the right answer, and the other B − 1 second sentences, which are there anyway, count as wrong: **in-batch
# negatives**. (Now and then one of them would be right, too: a *false negative*. One lives with it.) The cosines `[B, B]`,
# times 20, go into a softmax over each row. Which label does row i have?

# %%
class InBatchTask(SimilarityTask):
    def sums(self, model, batch):
        names = ("input_ids", "attention_mask", "token_type_ids")
        first, second = (normalize(model(*(batch[start + name] for name in names)).float(), dim=-1) for start in ("", "pair_"))
        cosines = first @ second.T  # [B, B]: the right answers stand on the diagonal
        return {"pair_loss": cross_entropy(20 * cosines, torch.arange(len(first)), reduction="sum")}

alike_pairs = [row for row in alike if row.label >= 4]
searcher = with_new_head(BertSentenceEncoder, str(folder), mean_settings, pooling="mean")
learn(searcher, InBatchTask(alike_pairs, asked, tokenizer, mean_settings), epochs=2, rate=1.5e-4)
trained = [embed(searcher, tokenizer, texts_) for texts_ in (queries, collection)]
print(len(alike_pairs), "pairs; in-batch negatives find more than the raw mean, by:", "more than 5 points" if found(*trained) > found(*raw_space("mean")) + 0.05 else "nothing")
print("and order all pairs better, too:", similarity.score(searcher, asked)["spearman"] > before)

# %% tags=["nbval-ignore-output"]
print(f"found among the nearest 5: {found(*trained):.0%}, as the nearest: {found(*trained, k=1):.0%}, raw {found(*raw_space('mean'), k=1):.0%}, by counting {found_by_counting(k=1):.0%}")
for query in (queries[0], "Nobody could get to the town, it was winter."):
    print("\n" + query)
    for place, cosine_ in search(trained[1], embed(searcher, tokenizer, [query])[0], 3):
        print(f"   {cosine_:.2f}  {collection[place]}")

# %% [markdown]
# (Row i has the label i: its partner stands on the diagonal.) Put a query of your own into the list. Half as many pairs, half the time, and a far better search: this loss, or one close to
# it, is what search models are trained with today. As *the* nearest it finds the partner far oftener than counting does:
# shared words tell who and where, and not what happened. Vectors are good at what happened; look at the names, and you see that
# they are less sure of the *people*. So search engines often add both scores (*hybrid search*), and a cross-encoder behind
# them sorts out who did what to whom.
#
# Two warnings. The space knows the likeness that it was trained for, here that of our pairs; another collection wants other
# training. And comparing a query with every vector gets slow when there are many millions of them: approximate indexes
# (HNSW, for example, as in the library FAISS) look at a small part of them, and miss a neighbour now and then.
#
# ## Which of four? Multiple choice in short
#
# A question and four choices are four **pairs**. Each pair is read by a cross-encoder with *one* output, and the four scores
# compete in a softmax. For BERT the choices are just a larger batch: `[B, C, T]` becomes `[B · C, T]`.

# %%
class MultipleChoice(nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert
        self.classifier = nn.Linear(bert.config.hidden_size, 1)

    def forward(self, input_ids, attention_mask, token_type_ids):  # [B, C, T] each
        rows = [x.flatten(0, 1) for x in (input_ids, attention_mask, token_type_ids)]  # [B C, T]
        scores = self.classifier(self.bert(*rows).pooler_output)  # [B C, 1]
        return scores.view(-1, input_ids.size(1))  # [B, C]: a softmax over each row

riddles = read_choices(data_path("tasks/choices/train.jsonl"))
print(riddles[0].question)
print(*(f"{'right' if n == riddles[0].label else 'wrong'}: … {choice}" for n, choice in enumerate(riddles[0].choices)), sep="\n")

# %%
choosing = MultipleChoiceTask(riddles[:64], riddles[:64], tokenizer, settings)
chooser = with_new_head(BertForMultipleChoice, str(folder), settings).eval()
batch = choosing.epoch(0)[0]
with torch.no_grad():
    output = chooser(**batch)
print("input_ids", list(batch["input_ids"].shape), " logits", list(output.logits.shape))
print(f"loss at birth near ln 4 = 1.39: {abs(output.loss.item() - 1.386) < 0.1}")

# %% [markdown]
# Training it is the loop above, four times as dear: `bertedu finetune multiple-choice --data …`. How far BERTs
# of two sizes come is in `data/tasks/README.md`. To know what somebody does when the soup is too hot takes more books than ours
# has read.
#
# ## A summary is a choice of sentences
#
# An **extractive** summary takes sentences of the text as they are. So it cannot invent a fact, and the task becomes a
# question that BERT can answer: does this sentence belong in the summary? Here is a report, and what an editor made of it.

# %%
reports, unseen = (read_summaries(data_path(path)) for path in ("tasks/summaries/train.jsonl", "tasks/summaries/validation.jsonl"))
for number, sentence in enumerate(split_sentences(unseen[0].text)):
    print(number, sentence)
print("editor:", unseen[0].summary)

# %% [markdown]
# First a measure. **ROUGE-1** counts the words that both share, and takes F1: twice the shared words, divided by the words of
# both. By pencil: *the bridge is closed* against *the old bridge is shut*. Shared: the, bridge, is. F1 = 2 · 3 / (4 + 5) =
# 0.67. ROUGE-2 counts pairs of neighbouring words, ROUGE-L the longest row of shared words in the same order, gaps allowed.

# %%
def my_rouge1(summary, reference):
    found, right = Counter(words_of(summary)), Counter(words_of(reference))
    return 2 * (found & right).total() / (found.total() + right.total())  # & takes the smaller count of each word
pair_ = ("The bridge is closed.", "The old bridge is shut.")
print(f"mine {my_rouge1(*pair_):.2f}, rouge_score {RougeScorer(['rouge1']).score(*pair_)['rouge1'].fmeasure:.2f}")
limits = lead_and_oracle(unseen, sentences=2)
for name, figures in {"lead-3": lead_and_oracle(unseen, sentences=3)["lead-3"], **limits}.items():
    print(f"{name:8}", "  ".join(f"{measure} {value:.2f}" for measure, value in figures.items()))

# %% [markdown]
# **Lead-3**, the first three sentences, is the baseline of this field, and in newspapers a strong one: there the news comes
# first. Our reports hide it. The **oracle** knows the editor's summary. It adds, one after the other, the two sentences that raise
# ROUGE most: no chooser of as many sentences can get much higher, and its choices are the labels of training.
#
# ### One [CLS] for each sentence
#
# BERT has one [CLS], and we need a vector for each sentence. Liu & Lapata (2019) simply put one before each, and alternate the
# token types, 0, 1, 0, 1 (*interval segments*), so that neighbours are told apart. BERT never saw such a thing in
# pre-training; fine-tuning gets it used to this. (The segments do little: without them their ROUGE-1, in percent, fell from
# 43.25 to 43.20.)

# %%
def my_inputs(sentences):
    ids, types = [], []
    for number, pieces in enumerate(tokenizer.encode_lines(sentences)):
        ids += [tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]
        types += [number % 2] * (len(pieces) + 2)
    return ids, types

ids, types = my_inputs(["It rained.", "Bread was sold.", "Then it was night."])
print(*tokenizer.convert_ids_to_tokens(ids))
print(*types)

# %%
summarizing = SummarizationTask(reports[:240], unseen, tokenizer, FinetuningSettings(batch_size=8), sentences=2)
torch.manual_seed(0)
summarizer = with_new_head(BertForSummarization, str(folder), settings)
learn(summarizer, summarizing, epochs=2, rate=5e-4)
reached = summarizing.score(summarizer, unseen)
print("ROUGE-1 at least 0.05 above lead-3 and lead-2:", reached["rouge1"] > 0.05 + max(lead_and_oracle(unseen, n)[f"lead-{n}"]["rouge1"] for n in (2, 3)))
print("and below the oracle:", reached["rouge1"] < limits["oracle"]["rouge1"])

# %% tags=["nbval-ignore-output"]
choice = summarizing.choose(summarizer, [unseen[0].text])[0]
print(f"ROUGE-1 {reached['rouge1']:.2f}, lead-2 {limits['lead-2']['rouge1']:.2f}, oracle {limits['oracle']['rouge1']:.2f}")
for number, sentence in enumerate(choice.sentences):
    print("x" if number in choice.chosen else " ", sentence)

# %% [markdown]
# Is the news marked? The figure is a mean over 200 reports: some are hit, and in others a sentence gets in that merely sounds
# like news. Liu & Lapata had 287,000 articles to learn from (their table 1: CNN and DailyMail); we took 240.
#
# ### Exercise 13.4 · Nothing twice
# ●●●○ · 10 minutes
#
# Each sentence is judged by itself. If the news is told twice, both sentences score high, and the summary says it
# twice. Liu & Lapata skip a sentence that shares **three words in a row** with what is chosen already (*trigram blocking*,
# an idea of Paulus et al. 2018).
#
# Write `choose(sentences, scores, most)`: go through the sentences from the highest score down, skip what repeats, stop at
# `most`, and return the numbers of the chosen ones in the order of the text. `words_of` gives a sentence's words. Stuck?
# `hint("13.4")`

# %% tags=["exercise"]
def choose(sentences, scores, most):
    ### BEGIN SOLUTION
    chosen, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = set(zip(words, words[1:], words[2:]))
        if len(chosen) < most and not runs & seen:
            chosen.append(number)
            seen |= runs
    return sorted(chosen)
    ### END SOLUTION

check("13.4", choose)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Down from the highest score, with the runs of the sentences *taken so far*. What was refused leaves no trace: its words are
# not in the summary. And in the end the reader gets the sentences in the order in which the text tells them.
#
# </details>

# %% [markdown]
# ## The proof
#
# What you saw built, against the package, and against `transformers` or `rouge_score` where they have it: the cross-encoder,
# multiple choice, the siamese loss, the inputs of the summarizer, ROUGE.

# %%
transformers.utils.logging.disable_progress_bar()

def as_transformers(model, model_class):
    """The same weights, saved, and opened by transformers."""
    with tempfile.TemporaryDirectory() as place:
        model.save_pretrained(place)
        return model_class.from_pretrained(place).eval()

def same(one, other):
    return (one - other).abs().max().item() < 1e-4

inputs = (pair.input_ids, pair.attention_mask, pair.token_type_ids)
mine, theirs = CrossEncoder(reader.bert, 3).eval(), as_transformers(reader, transformers.BertForSequenceClassification)
mine.classifier = reader.classifier
with torch.no_grad():
    package, reference = reader(*inputs).logits, theirs(*inputs).logits
    print("cross-encoder    mine = package:", same(mine(*inputs), package), " = transformers:", same(package, reference))

# %%
mine, theirs = MultipleChoice(chooser.bert).eval(), as_transformers(chooser, transformers.BertForMultipleChoice)
mine.classifier = chooser.classifier
inputs = [batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")]  # [B, C, T] each
with torch.no_grad():
    package, reference = chooser(*inputs).logits, theirs(*inputs).logits
    print("multiple choice  mine = package:", same(mine(*inputs), package), " = transformers:", same(package, reference))
    batch = similarity.epoch(0)[0]
    loss = similarity.sums(encoder, batch)["pair_loss"] / similarity.counts(batch)["pair"]
    print("siamese loss     mine = package:", same(siamese_loss(encoder, batch), loss))

sentences = split_sentences(unseen[0].text)
example = summarizing.encode_sentences(sentences)
print("inputs           mine = package:", my_inputs(sentences) == (example["input_ids"], example["token_type_ids"]))
scorer, names = RougeScorer(["rouge1", "rouge2", "rougeL"]), ("rouge1", "rouge2", "rougeL")
off = [abs(rouge(row.text, row.summary)[name] - scorer.score(row.summary, row.text)[name].fmeasure) for row in unseen for name in names]
print("ROUGE      package = rouge_score, 600 values:", max(off) < 1e-6)
print("ROUGE-1       mine = package:", all(abs(my_rouge1(row.text, row.summary) - rouge(row.text, row.summary)["rouge1"]) < 1e-9 for row in unseen))

# %% [markdown]
# ## Broken BERT: worse than chance
#
# A colleague downloads a model for inference that is known to be good, and a public test set. No error, no warning; and the
# accuracy is so low that guessing would do better. Let us replay it with our own model: its labels are in the order of the
# alphabet, and the colleague's file numbers them as GLUE does.

# %%
GLUE = ("entailment", "neutral", "contradiction")  # 0, 1, 2 in the colleague's file
with torch.no_grad():
    logits = torch.stack([torch.from_numpy(row) for row in nli.predictions(reader, validation)])  # [N, 3], columns as in reader.task_config.labels
numbers = torch.tensor([GLUE.index(row.label) for row in validation])  # [N], as in the file

def broken_accuracy(logits, numbers):
    return (logits.argmax(dim=-1) == numbers).float().mean().item()
print("worse than guessing:", broken_accuracy(logits, numbers) < 0.3)

# %% [markdown]
# Before you read on: can a model that has learned *nothing* be clearly worse than chance?
#
# It cannot, beyond the luck of the draw. Worse than chance is a message: to be wrong that reliably in classes
# of equal size, one has to know something, and here it is the answer.
# The rows are right, the model is right; 0 means two different things.
#
# The bug is famous, since everybody numbers differently. Google's BERT numbers MNLI contradiction, entailment, neutral; GLUE in
# Hugging Face's `datasets` has entailment, neutral, contradiction; RoBERTa and BART came with contradiction, neutral,
# entailment. In February 2021 the example script `run_glue.py` of `transformers` reported 4.28 % for RoBERTa-Large on MNLI;
# repaired, 90.6 % ([pull request 10401](https://github.com/huggingface/transformers/pull/10401)).
#
# ### Exercise 13.5 · Columns by their names
# ●●●○ · 8 minutes
#
# Write `by_name(logits, model_labels, data_labels)`: logits `[N, C]` with columns in the model's order come in, and go out with
# columns in the data's order. Go by the names alone. Some models write theirs in capitals: ENTAILMENT is entailment. Stuck? `hint("13.5")`

# %% tags=["exercise"]
def by_name(logits, model_labels, data_labels):
    ### BEGIN SOLUTION
    names = [label.lower() for label in model_labels]
    return logits[:, [names.index(label.lower()) for label in data_labels]]
    ### END SOLUTION

check("13.5", by_name)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# For each label of the *data*, in its order, the column where the *model* has it. The other way round is the inverse
# permutation: it works where two labels are exchanged, and fails as soon as three go in a circle. `index`
# raises an error for a label that the model does not have: better than a silent wrong number.
#
# </details>

# %%
columns = [reader.task_config.labels.index(label) for label in GLUE]
print("by name, as good as before:", abs(broken_accuracy(logits[:, columns], numbers) - accuracy) < 1e-6)

# %% [markdown]
# ## Paper and code
#
# | | |
# |---|---|
# | Pairs | Devlin et al. (2019), section 4.1: the last vector of [CLS] and one linear layer. Google's code and `transformers` put the pooler between the two, and so do we. For the scores of STS-B the paper does not tell its loss; `transformers` takes one output and the squared error |
# | Sentence-BERT | Reimers & Gurevych (2019): for scores the cosine and the squared error, as here; for NLI a softmax over (u, v, \|u − v\|), thrown away after training. Mean pooling did best, [CLS] a point or less behind |
# | Today | Bi-encoders learn from millions of pairs with in-batch negatives, in large batches: more rows are more wrong answers. `sentence-transformers` calls the loss `MultipleNegativesRankingLoss`, and its scale of 20 is ours |
# | Multiple choice | The paper (section 4.4, SWAG) takes the product of a vector with C = [CLS]; `transformers` passes through the pooler and dropout first. So do we |
# | Summaries | Liu & Lapata (2019) put two more Transformer layers on the sentence vectors; ours is one linear layer. Their ROUGE-1 on CNN/DailyMail (table 2): BertSumExt 43.25, lead-3 40.42, the oracle, chosen by ROUGE-2, 52.59 |
# | ROUGE | `rouge_score` stems if asked to (*closed* = *close*), and so does the older Perl script ROUGE-1.5.5 with its option `-m`; ours does not. There are two ROUGE-L, of the whole text, as here, and sentence by sentence (`rougeLsum`). Compare figures of one kind only |
# | NLI labels | Only the names are safe. `transformers` keeps them in `config.id2label`, this course in `task_config.labels` |
#
# ## Summary
#
# - A cross-encoder reads a pair together: better, and n² passes. A bi-encoder reads each text alone: n passes, and vectors
#   that can be kept and searched.
# - Raw [CLS] is a poor sentence vector because no loss ever asked it to be one. Trained for cosines, it gets better.
# - You get what you train for: scores want the squared error, search wants in-batch negatives.
# - Before a model of pairs, train one that sees half of the pair, and one that counts what both share. Their scores are the
#   floor.
# - Multiple choice is a cross-encoder with one output, and a softmax over the choices.
# - An extractive summary is a class for each sentence, one [CLS] each; what repeats three words in a row is refused.
# - Worse than chance means: it knows something. Here it knew the answers, and they went by other names.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(13)

# %% [markdown]
# ## Interview questions
#
# **1. You are to find duplicates among a million questions. Cross-encoder or bi-encoder?**
#
# <details><summary>Answer</summary>
#
# Both. All pairs would be 5 · 10¹¹ passes of the cross-encoder: years, even on a GPU. A bi-encoder reads a million texts once; an approximate
# index gives for each the hundred nearest; the cross-encoder re-ranks those (or, cheaper, those above a cosine chosen on
# validation). Measure the two steps apart: recall at 100 for the retrieval, precision for the re-ranking. What the first
# step misses, no second step brings back.
#
# </details>
#
# **2. Why not just use [CLS] of bert-base as the vector of a sentence?**
#
# <details><summary>Answer</summary>
#
# It was trained for next-sentence prediction, through the pooler, and never for cosines. All such vectors lie close together
# (anisotropy), and the order of their cosines hardly follows the meaning: Spearman 16.5 (times 100) on the STS benchmark,
# where averaged GloVe vectors have 58.0. The mean of the tokens is better and still poor, 46.4 (Reimers & Gurevych 2019).
# Fine-tuned for similarity, both are good. The place is not the problem, the training is.
#
# </details>
#
# **3. Your NLI model has 85 % on its test set, and fails in the product. What do you look at first?**
#
# <details><summary>Answer</summary>
#
# What a model scores that sees the hypothesis alone, and one that counts shared words: perhaps the data give the answer away
# (Gururangan et al. 2018; McCoy et al. 2019). Then whether the labels have the same order in training, in the config and in
# the product. Then whether the premises in the product are much longer than those of training, and are cut off.
#
# </details>
#
# ## Next
#
# You have used BERT for one text, for each token, for a span, a pair, a choice and a summary. The models after BERT changed
# the masks, the sharing of weights, the objective, the positions. The chapters on the BERT family come next; the map of the
# course is in [00 · Start here](00_start_here.ipynb).
