# %% [markdown]
# # 09 · Looking inside
#
# You will open a trained BERT, ask it what its heads look at, which words it answers from and what its vectors know;
# and you will learn to run, beside every such picture, the control that tells whether it means anything.
#
# ## What you will be able to do
#
# - measure what attention heads look at, and follow attention through all layers with rollout;
# - test an explanation: attention, rollout and gradients against what happens when words or heads are taken away;
# - tell the senses of a word apart by its vectors, with averages instead of a lucky pair;
# - probe layers for parts of speech and kinds of names, with a control task and a split that memory cannot cheat;
# - repair the cosine of sentence vectors, and know why it was broken.
#
# **Time:** 60 minutes · **You need:** [08 · Pre-training](08_pre_training.ipynb), and [03 · Self-attention](03_self_attention.ipynb) for what a head is · **Next:** [10 · Text classification](10_text_classification.ipynb)
#
# ## Recall
#
# 1. What does the loss of masked words compare, and at which tokens?
#
# <details><summary>Answer</summary>
#
# The scores of all V words at a masked position with the word that stood there. Only positions with a label count,
# about 15 % of the tokens.
#
# </details>
#
# 2. A model is 30 % right on masked words. Which number do you want to see beside it?
#
# <details><summary>Answer</summary>
#
# A baseline: what always guessing the most frequent token gets, and what counting neighbours (an n-gram) gets. Alone,
# 30 % could be much or nothing.
#
# </details>
#
# 3. Each token of one layer shares out exactly how much attention, in each head?
#
# <details><summary>Answer</summary>
#
# One unit: the row of weights is a softmax and sums to 1. Whatever a head does, its rows sum to 1, also when there is
# nothing worth looking at.
#
# </details>
#
# ## Four windows
#
# A forward pass leaves four things to look at (blue): the attention weights of each head, the vectors between the
# layers, the answer, and, running backwards, the gradient of the answer by the input.
#
# <svg role="img" aria-label="BERT from embeddings through the layers to the answer. Four things can be looked at: the attention weights inside the layers, the vectors between them, the probabilities of the answer, and the gradient that runs back to the input." viewBox="0 0 760 190" width="760" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13">
# <rect width="760" height="190" fill="#ffffff"/>
# <g fill="#f3f3f3" stroke="#767676"><rect x="20" y="70" width="110" height="44" rx="7"/><rect x="220" y="70" width="110" height="44" rx="7"/><rect x="420" y="70" width="110" height="44" rx="7"/><rect x="620" y="70" width="110" height="44" rx="7"/></g>
# <g fill="#222222" text-anchor="middle"><text x="75" y="97">embeddings</text><text x="275" y="97">layer 1</text><text x="475" y="97">layers 2 … L</text><text x="675" y="97">answer</text></g>
# <g stroke="#767676" stroke-width="1.6"><path d="M130 92H214M330 92H414M530 92H614"/><path d="M208 87l7 5-7 5M408 87l7 5-7 5M608 87l7 5-7 5" fill="none"/></g>
# <path d="M675 140H80M87 135l-7 5 7 5" stroke="#0072B2" stroke-width="1.6" fill="none"/>
# <g fill="#0072B2" text-anchor="middle"><text x="375" y="22">attention weights inside the layers: L times [B, H, T, T]</text><text x="375" y="52">vectors between the layers: L + 1 times [B, T, D]</text><text x="675" y="52">probabilities: [B, T, V]</text><text x="375" y="165">gradient of the answer by the input: [B, T, D]</text></g>
# </svg>

# %%
import csv
from collections import defaultdict
from copy import deepcopy
from dataclasses import replace
from random import Random

import torch
import transformers
from torch.nn.functional import cross_entropy, normalize

from bertedu import BertForPreTraining
from bertedu.course import check, data_path, hint, quiz
from bertedu.corpora.world.probes import fact_probes
from bertedu.finetuning.pooling import pool
from bertedu.inference import fill_mask, open_model, run
from bertedu.interpretation import contexts, heads, probing, rollout, saliency
from bertedu.pretraining.probes import fact_probe_accuracy
from bertedu.visualization.attention_paths import attention_paths
from bertedu.visualization.head_maps import head_maps
from bertedu.visualization.layers import cosines_by_layer
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet
from bertedu.visualization.saliency import saliency_strip
from bertedu.visualization.widgets.context import word_in_context
from bertedu.visualization.widgets.explorer import attention_explorer

# %% [markdown]
# ## One answer, three reasons
#
# The model of this chapter ships with the course: 4 layers, D = 256, H = 4, trained on old books, a little of
# Wikipedia and the documentation of programs. It is small: some of what is known of BERT will show in it, and some
# will not. Here is a sentence it can finish.
#
# **Why** does it say so? Three respectable methods each give every word a number: how much [MASK] looks at it in the
# last layer (attention), how strongly a tiny change of its vector would be felt (gradient), and how much less likely
# the answer becomes when the word is covered, in nats (erasing). Before you run: which word matters most to you?

# %%
folder = data_path("checkpoints/books-mini")
model, tokenizer = open_model(folder)
TEXT = "he shook his [MASK] and said nothing ."
print(", ".join(f"{word} {share:.0%}" for word, share in fill_mask(model, tokenizer, TEXT, top=5)[0]))

# %%
def question(text):
    """The encoding of a text with one [MASK], where it stands, and the model's first guess there."""
    encoding = tokenizer(text)
    place = encoding.tokens[0].index("[MASK]")
    with torch.no_grad():
        guess = run(model, encoding).prediction_logits[0, place].argmax().item()
    return encoding, place, guess

# %%
@torch.no_grad()
def erased(encoding, place, guess, by=None):  # [T]: how much log p(guess) falls when each token is covered
    T = encoding.input_ids.size(1)
    ids = encoding.input_ids.repeat(T + 1, 1)  # [T + 1, T], the last row stays as it is
    ids[range(T), range(T)] = tokenizer.mask_token_id if by is None else by
    scores = model.eval()(ids).prediction_logits[:, place].log_softmax(dim=-1)[:, guess]  # [T + 1]
    return scores[-1] - scores[:-1]

# %%
encoding, place, guess = question(TEXT)
with torch.no_grad():
    weights = run(model, encoding, output_attentions=True).attentions  # L times [B, H, T, T]
gradient = saliency.input_saliency(model, encoding, place, guess)["gradient"]
reasons = {"attention": weights[-1][0, :, place].mean(dim=0), "gradient": gradient, "erasing": erased(encoding, place, guess)}
print(f"{'':10}", "".join(f"{name:>10}" for name in reasons))
for i, token in enumerate(encoding.tokens[0]):
    print(f"{token:10}", "".join(f"{numbers[i]:10.2f}" for numbers in reasons.values()))

# %% [markdown]
# Erasing and the gradient name the same words; attention has another favourite. Each column alone would make a
# convincing figure. An explanation that pleases us is *plausible*; one that tells what the answer hangs on is
# *faithful*, and neither follows from the other. The rest of this chapter is about what each window shows, and about
# how to find out which column to believe.
#
# One rule will accompany us: **a number about a model means nothing without the number that nothing would give.** The
# nothing differs each time: an untrained model, random scores, labels drawn by lot, a bag of words.
#
# ## What heads look at
#
# How decided is a head? Its row of weights is a distribution, and its **entropy** says how many bits of choice are
# left: −Σ p log₂ p. One token gets all: 0 bits. Two share evenly: ½ · 1 + ½ · 1 = 1 bit.
#
# ### Exercise 9.1 · Three unequal shares
# ●○○○ · 2 minutes
#
# A row of weights is (½, ¼, ¼, 0). How many bits? (What gets nothing adds nothing.)

# %% tags=["exercise"]
### BEGIN SOLUTION
bits = 1.5
### END SOLUTION
check("9.1", bits)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# log₂ of ½ is −1, of ¼ it is −2: ½ · 1 + ¼ · 2 + ¼ · 2 = 1.5. Two to the power of 1.5 is 2.8: the head is as undecided
# as if it shared evenly among about three tokens.
#
# </details>

# %% [markdown]
# Now all 16 heads, on the 100 short sentences that we will need later for the senses of words. Beside the entropy,
# four habits that Clark et al. (2019) found in BERT-Base: heads that look at the token before, at the token after, at
# themselves, at [SEP]. The control is the same architecture, untrained. What will its heads show?

# %%
with open(data_path("looking_inside/senses.tsv"), encoding="utf-8") as file:
    senses = list(csv.DictReader(file, delimiter="\t"))  # word, sense, sentence
texts = [row["sentence"] for row in senses]
batch = tokenizer(texts)  # [100, T]

torch.manual_seed(0)
untrained = BertForPreTraining(model.config).eval()

# %%
habits = {}
for name, which in (("trained", model), ("untrained", untrained)):
    with torch.no_grad():
        weights = run(which, batch, output_attentions=True).attentions  # L times [B, H, T, T]
    habits[name] = {"entropy": heads.entropy(weights, batch.attention_mask), **heads.pattern_scores(weights, batch.tokens)}
for name, trained, fresh in zip(habits["trained"], habits["trained"].values(), habits["untrained"].values()):  # [L, H]
    print(f"{name:15} trained heads {trained.min():.2f} to {trained.max():.2f}, untrained {fresh.min():.2f} to {fresh.max():.2f}")
head_maps({name: habits["trained"][name] for name in ("entropy", "previous token", "next token", "[SEP]")})

# %% tags=["nbval-ignore-output"]
attention_explorer(model, tokenizer, TEXT)

# %% [markdown]
# (In pictures layers and heads count from 1; in code, as everywhere in Python, from 0.)
#
# The untrained heads look at everything evenly: every habit scores about 1 / T, and no head differs from another. So
# what the trained ones do was learned. In the first layer one head has become a pointer to the token before, and
# another to the token after; above them heads look at many tokens at once. The large share for [SEP] that Clark et al.
# saw in BERT-Base (over half of the attention in layers 6 to 10) is not there: a habit of one model is no law.
#
# Is a habit an explanation? Clark et al. asked that about [SEP]. They took the gradient of the loss by the attention
# weights, and found that from the middle layers on it hardly matters for BERT's answer how much goes to [SEP]. Their
# reading: a head parks its attention there when it finds nothing to do. It must leave it somewhere, since its rows sum
# to 1. You can see a little of this in the explorer's first picture: head 1 of layer 1 looks one token back, and
# [CLS], which has nothing before it, looks at [SEP].
#
# (Try layer 1 in the explorer. `head_view` in `bertedu.visualization.bertviz_views` shows the same heads with
# bertviz.)
#
# ## Rollout: attention through all layers
#
# The last layer's weights say at which *vectors* [MASK] looks. But a vector of layer 3 is no longer its word: it is a
# mixture of all words, made by the layers below. What arrives from which **word**?
#
# Abnar & Zuidema (2020) follow the mixture. A layer hands on half around the attention (the residual) and half through
# it: W = ½ A + ½ I. Two layers in a row multiply: row i of W₂ W₁ says how much of each word is in token i.
#
# With the pencil, two tokens: in layer 1 each looks only at the other, in layer 2 each only at itself.
#
# $$W_1 = \tfrac12\begin{pmatrix}0&1\\1&0\end{pmatrix}+\tfrac12 I = \begin{pmatrix}½&½\\½&½\end{pmatrix},\qquad W_2 = \tfrac12 I+\tfrac12 I = I,\qquad W_2 W_1 = \begin{pmatrix}½&½\\½&½\end{pmatrix}$$
#
# The last layer alone says: each token looks at itself and at nothing else. Yet half of what it holds comes from the
# other.
#
# ### Exercise 9.2 · Rollout in four lines
# ●●○○ · 8 minutes
#
# Write `my_rollout(attentions)`: L tensors `[B, H, T, T]` go in, `[B, T, T]` comes out, the shares after the last
# layer. Heads are averaged.

# %% tags=["exercise"]
def my_rollout(attentions):
    ### BEGIN SOLUTION
    shares = torch.eye(attentions[0].size(-1))  # before any layer each token is its own word
    for weights in attentions:
        mixed = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1))  # [B, T, T]
        shares = mixed @ shares
    return shares
    ### END SOLUTION

check("9.2", my_rollout)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The order matters. `mixed` of the present layer says from which *tokens* each one takes; `shares` says which *words*
# those tokens held. So the new layer stands on the left. Each row of every factor sums to 1, and so does each row of
# the product.
#
# </details>

# %%
with torch.no_grad():
    weights = run(model, encoding, output_attentions=True).attentions
attention_paths(weights, encoding.tokens[0])

# %% [markdown]
# The residual keeps (½)⁴ = 6 % of each token with itself, whatever the heads do: see the diagonal. Look at the column
# of the full stop. In the last layer it is a favourite of many tokens, and in rollout of none but itself: what they
# fetch there are other words, which its vector has collected by then.
#
# *Flow*, rollout's sister, takes the same ½ A + ½ I for pipes and asks how much fits through. In a model this small it
# tells the words apart, and hardly the tokens that ask.
#
# Rollout knows the paths, but not what travels on them: it never looks at the values, nor at the feed-forward layers.
#
# ## The gradient asks what would happen
#
# Attention says where a model looks. A gradient says what the answer would *do*. With the pencil: f(x, y) = 3x + y²,
# at x = 1, y = 2, so f = 7.
#
# | | x | y | |
# |---|---|---|---|
# | gradient | 3 | 2y = 4 | how steep it is here |
# | gradient × input | 3 | 8 | sums to 11, and f is only 7 |
# | erasing (set to 0) | 7 − 4 = 3 | 7 − 3 = 4 | |
# | integrated gradients | 3 | 4 | the mean slope on the way from 0, times the way; sums to 7 |
#
# Where f is straight, all agree. Where it bends (y²), the slope *here* misleads, and the mean slope along the way
# (Sundararajan et al. 2017) keeps the accounts: its parts sum to f at the input minus f at the start.
#
# For BERT, x and y are the token embeddings, and f is the log-probability of the answer at [MASK].

# %%
def my_saliency(model, encoding, place, answer):  # [T], [T]
    vectors = model.bert.embeddings.token(encoding.input_ids).detach().requires_grad_()  # [1, T, D]
    hook = model.bert.embeddings.token.register_forward_hook(lambda module, inputs, output: vectors)
    scores = run(model, encoding).prediction_logits[0, place].log_softmax(dim=-1)  # [V]
    hook.remove()
    gradient = torch.autograd.grad(scores[answer], vectors)[0]  # [1, T, D]
    return gradient.norm(dim=-1)[0], (gradient * vectors).sum(dim=-1)[0].detach()

package = saliency.input_saliency(model, encoding, place, guess)
for mine, theirs in zip(my_saliency(model, encoding, place, guess), package.values()):
    print("mine = the package's:", torch.allclose(mine, theirs, atol=1e-5))

# %%
covered = encoding.input_ids.clone()
covered[:, 1:-1] = tokenizer.mask_token_id  # the start of the way: every word is [MASK]
integrated = saliency.integrated_gradients(model, encoding, place, guess, baseline_ids=covered, steps=64)
with torch.no_grad():
    scores = model(torch.cat([encoding.input_ids, covered])).prediction_logits[:, place].log_softmax(dim=-1)[:, guess]
print("the parts sum to what the words add, within 0.1 nats:", bool((integrated.sum() - scores[0] + scores[1]).abs() < 0.1))
saliency_strip(integrated, encoding.tokens[0], "Integrated gradients for the first guess, in nats")

# %% [markdown]
# ## Attention is not explanation?
#
# Back to the question which column to believe. What makes an explanation *faithful*? At the least: take away a word
# that it calls important, and the answer should suffer more than from a word that it calls unimportant. So we compare
# orders: **rank correlation** (Spearman) is +1 when two methods order the words alike, −1 when they do it in reverse,
# and 0 on average for random scores.
#
# One sentence proves nothing, so we take all 100, with the last word covered. Three controls. **Random scores**;
# **nearness**, the rule of thumb that near words matter more, which needs no look inside; and a second way to erase:
# another word drawn at random instead of [MASK], twice. That one is the ceiling: two honest experiments with the same
# purpose do not agree perfectly either. Guess: which of attention, rollout and gradient comes nearest to it?

# %%
def rank_correlation(one, other):  # [T], [T] -> a number from -1 to 1
    ranks = torch.stack([numbers.argsort(stable=True).argsort().double() for numbers in (one, other)])
    return torch.corrcoef(ranks)[0, 1].item()

def cover_last_word(text):
    return text.rsplit(" ", 1)[0] + " [MASK] ."

print(cover_last_word(texts[0]))

# %%
torch.manual_seed(0)
agreement = defaultdict(list)
for text in texts:
    encoding, place, guess = question(cover_last_word(text))
    T = len(encoding.tokens[0])
    with torch.no_grad():
        weights = run(model, encoding, output_attentions=True).attentions
    others = [erased(encoding, place, guess, by=torch.randint(5, len(tokenizer), (T,))) for _ in range(2)]
    scores = {"random scores": torch.rand(T), "nearness": -(torch.arange(T) - place).abs(),
              "attention, last layer": weights[-1][0, :, place].mean(dim=0),
              "attention, all layers": torch.cat(weights)[:, :, place].mean(dim=(0, 1)),
              "rollout": rollout.attention_rollout(weights)[-1, 0, place],
              "gradient": saliency.input_saliency(model, encoding, place, guess)["gradient"],
              "erasing, other words": torch.stack(others).mean(dim=0).abs()}  # fmt: skip
    words = [i for i in range(1, T - 1) if i != place]  # without [CLS], [SEP] and [MASK] itself
    truth = erased(encoding, place, guess).abs()[words]
    for name, numbers in scores.items():
        agreement[name].append(rank_correlation(numbers[words], truth))

# %%
means = {name: torch.tensor(numbers).mean().item() for name, numbers in agreement.items()}
errors = [2 * torch.tensor(numbers).std().item() / len(texts) ** 0.5 for numbers in agreement.values()]
assert means["attention, last layer"] < means["nearness"] < means["rollout"] < means["gradient"]  # what the text below says
figure = new_figure(6.6, 2.6)
axes = figure.subplots()
bars = axes.barh(list(means), list(means.values()), xerr=errors, color=[GREY, GREY, *[BLUE] * 4, GREEN], ecolor=INK)
axes.bar_label(bars, fmt="%.2f", padding=6, fontsize=8)
axes.invert_yaxis()
axes.set_xlim(-0.25, 0.9)
axes.set_xlabel("rank correlation with erasing, mean of 100 sentences ± 2 standard errors", fontsize=8)
quiet(axes)
Picture(figure, alt="Agreement with erasing: " + ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()) + ".")

# %% [markdown]
# Read it from the controls. Random scores agree with nothing, as they should. **The last layer's attention, the figure
# that everybody shows, does no better than nearness**: here it is the worst witness. The mean over all layers and
# rollout agree with erasing better than nearness does. The gradient comes near the ceiling.
#
# So is attention an explanation? The debate of 2019, in short:
#
# - Jain & Wallace, *Attention is not Explanation*: in recurrent networks with one attention layer, attention often
#   disagrees with gradients and with leaving words out; and quite different attention weights can be found that give
#   the same answer.
# - Wiegreffe & Pinter, *Attention is not not Explanation*: it depends on what one calls an explanation, and on
#   testing the model as a whole. They propose four tests (a baseline with uniform weights, the spread over seeds,
#   weights frozen into another model, an adversary trained end to end). Adversarial weights can be found, but do
#   badly when another model has to work with them: attention is not refuted so easily.
# - Abnar & Zuidema (2020): in a deep Transformer, rollout and flow agree better with gradients and erasing than raw
#   attention does. You have just seen that repeated, in a small model, with a plain mean over the layers as a rival.
#
# What stays for practice: say *what* is to be explained, find out by an intervention, and report the control.
#
# ## Silencing a head
#
# Words can be taken away, and so can heads. The d numbers that a head mixes meet the rest of the model in one place
# only: the output projection of its layer, `[D, D]`, whose input has the H heads side by side.
#
# ### Exercise 9.3 · A head falls silent
# ●●○○ · 8 minutes
#
# Write `silenced(model, layer, head)`: a **copy** of the model in which this head (both counted from 0) hands on
# nothing. The projection is `model.bert.encoder.layers[layer].attention.output`, a linear layer; each head has d = D /
# H entries. Which part of its weight reads the head?

# %% tags=["exercise"]
def silenced(model, layer, head):
    ### BEGIN SOLUTION
    copy = deepcopy(model)
    attention = copy.bert.encoder.layers[layer].attention
    d = attention.output.in_features // attention.num_heads
    with torch.no_grad():
        attention.output.weight[:, head * d : (head + 1) * d] = 0
    return copy
    ### END SOLUTION

check("9.3", silenced)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A linear layer computes x · Wᵀ, and its weight is `[out, in]`. The head's d numbers come *in*, so they meet d
# **columns**. Rows would cut d entries out of the sum of all heads. The bias stays: it does not come from this head.
#
# </details>

# %% [markdown]
# The package's `without_heads` does the same with a hook, for the length of a `with` block. Now Michel et al.'s
# question (2019): how much does each head matter? We cover every fifth word of the 100 sentences and measure by how
# much the loss rises.
#
# And the control: the same on two halves of the sentences. What is not alike in both halves is noise. For the same
# reason the heads that are silenced together are chosen on one half, and the loss is measured on the other.

# %%
masked = batch.input_ids.clone()
real = (batch.attention_mask == 1) & (masked != tokenizer.cls_token_id) & (masked != tokenizer.sep_token_id)
chosen = real & (torch.arange(masked.size(1)) % 5 == 2)  # [B, T]
masked[chosen] = tokenizer.mask_token_id

def loss_on(rows):
    def loss(model):
        logits = model(masked[rows], batch.attention_mask[rows]).prediction_logits[chosen[rows]]  # [N, V]
        return cross_entropy(logits, batch.input_ids[rows][chosen[rows]])
    return loss

# %%
halves = [heads.head_importance(model, loss_on(rows)) for rows in (slice(0, None, 2), slice(1, None, 2))]  # [L, H] twice
importance = (halves[0] + halves[1]) / 2
print(f"two halves agree on the heads: rank correlation {rank_correlation(*[half.flatten() for half in halves]):.1f}")
decided = -habits["trained"]["entropy"].flatten()
print(f"decided heads (low entropy) matter more: rank correlation {rank_correlation(decided, importance.flatten()):.1f}")
head_maps({"rise of the loss without the head": importance})

# %%
order = [divmod(int(i), 4) for i in halves[0].flatten().argsort()]  # (layer, head), the least missed of one half first
def loss_without(gone):  # on the other half
    with torch.no_grad(), heads.without_heads(model, gone):
        return loss_on(slice(1, None, 2))(model).item()
pointers = {divmod(int(habits["trained"][name].argmax()), 4) for name in ("previous token", "next token")}
print(f"no head silenced: loss {loss_without([]):.2f}; the two most missed are the two pointers: {set(order[-2:]) == pointers}")
for count in (1, 4, 8, 12):
    print(f"{count:2} silenced: the least missed {loss_without(order[:count]):.2f}, the most missed {loss_without(order[-count:]):.2f}")

# %% [markdown]
# The two pointers of the first layer, to the word before and to the word after, are the two heads that this model
# cannot do without. And most of the others go almost unnoticed: compare the left number of the last line, **twelve**
# heads silenced together, with the right number of the first, a single one.
#
# Michel et al. found the same in large models: most heads could go one by one, and a fifth (translation) to two fifths
# (BERT) of all heads together, with hardly a loss. (They rank the heads by a gradient, one backward pass instead of
# one test for each head.)
#
# Are *decided* heads the *needed* ones? With 16 heads chance alone reaches ±0.5 in one of twenty cases, so do not lean
# on that number. The map says it better: the pointers are decided and needed. A head of the last layer makes as fine a
# figure as any, and next to nothing hangs on it.
#
# ## A word in context
#
# In [chapter 02](02_input_embeddings.ipynb) every *bank* entered with the same vector (but for its position). What
# leaves? Two pairs of sentences:

# %%
def vectors_of(model, word):  # [N, L + 1, D], and the senses
    rows = [row for row in senses if row["word"] == word]
    sentences = [row["sentence"] for row in rows]
    return contexts.word_vectors(model, tokenizer, sentences, word), [row["sense"] for row in rows], sentences

vectors, labels, sentences = vectors_of(model, "spring")
unit = normalize(vectors[:, -1], dim=-1)  # [N, D], the last layer
cosines = unit @ unit.T  # [N, N]
same = torch.tensor([[a == b for b in labels] for a in labels])
high = divmod(int(cosines.masked_fill(same, -1).argmax()), len(labels))
low = divmod(int(cosines.masked_fill(~same, 2).argmin()), len(labels))
for name, (i, j) in (("two senses", high), ("one sense", low)):
    print(f"{name}: cosine {cosines[i, j]:.2f}\n   {sentences[i]}\n   {sentences[j]}")

# %% [markdown]
# The pair with **two** senses is closer than the pair with **one**. Whoever shows the first pair "proves" that BERT
# cannot tell the senses of *spring*; with another choice of pairs the same model "proves" the opposite. A pair of
# sentences differs in length, in the neighbours, in the place of the word. Only averages are about senses.
#
# So: 10 sentences for each of two senses of five words, the mean cosine of all pairs within a sense minus that across
# the senses, layer by layer; 0 means that sense makes no difference. And a vote: is a sentence's vector nearer to the
# mean of its own sense (without itself) than to the other's? Chance is 50 %. Controls: the untrained model, and the
# bag of words.

# %%
def told_apart(vectors, labels):  # [N, D] -> share of vectors nearer to the mean of their own sense
    vectors, hits = normalize(vectors.double(), dim=-1), 0
    for i, label in enumerate(labels):
        others = {sense: [j for j, other in enumerate(labels) if other == sense and j != i] for sense in set(labels)}
        means = {sense: vectors[rows].mean(dim=0) for sense, rows in others.items()}
        hits += max(sorted(means), key=lambda sense: torch.cosine_similarity(means[sense], vectors[i], dim=0)) == label
    return hits / len(labels)

def bag_of_words(sentences):  # [N, D]: which words stand in each sentence
    words = sorted({word for sentence in sentences for word in sentence.lower().split()})
    return torch.tensor([[word in sentence.lower().split() for word in words] for sentence in sentences]).float()

# %%
print("told apart  bag of words  untrained  trained: input   layer 1  layer 2  layer 3  layer 4")
gaps, totals = {}, []
for word in dict.fromkeys(row["word"] for row in senses):
    vectors, labels, sentences = vectors_of(model, word)
    cosines = contexts.mean_cosines(vectors, labels)
    gaps[word] = cosines["within"] - cosines["across"]  # [L + 1]
    fresh = vectors_of(untrained, word)[0]
    row = [told_apart(bag_of_words(sentences), labels), told_apart(fresh[:, -1], labels)]
    row += [told_apart(vectors[:, layer], labels) for layer in range(5)]
    totals.append(row)
    print(f"{word:10} {row[0]:10.0%} {row[1]:12.0%} {row[2]:14.0%}", "".join(f"{share:9.0%}" for share in row[3:]))
mean = torch.tensor(totals).mean(dim=0).tolist()
print(f"{'mean':10} {mean[0]:10.0%} {mean[1]:12.0%} {mean[2]:14.0%}", "".join(f"{share:9.0%}" for share in mean[3:]))
assert min(mean[4:]) > max(mean[:3]) + 0.1
cosines_by_layer(gaps, "Cosine within a sense minus cosine across senses")

# %% tags=["nbval-ignore-output"]
vectors, labels, sentences = vectors_of(model, "key")
word_in_context(model, tokenizer, sentences[5:15], "key")

# %% [markdown]
# The layers tell the senses apart, on average, and far better than an untrained model or the bag of words. *key* is
# the easiest: it opens doors in the novels and dictionaries in the documentation, two worlds. The gaps look small
# beside cosines of 0.5 and more; what counts is that they are there for nearly every sentence.
#
# The input column is a control too. There a word knows its position and nothing else; where it is far from 50 %, the
# position gives the sense away (the letters of the alphabet stand early in our sentences). And with 20 sentences a
# word, 10 points are two sentences: do not rank the layers by them.
#
# ## Probes, and what they can learn by heart
#
# Does a layer *know* which words are nouns? A **probe** is a small classifier on its frozen vectors: if it succeeds,
# the information was there. Or was it? A probe with 256 inputs can also learn by heart that *table* is a noun and
# *sell* a verb. Then it reads the word's identity, which every layer has.
#
# Hewitt & Liang (2019) train the same probe on a **control task**: every word *type* gets a label by lot, the same
# wherever it stands. No layer can know these; what the probe gets right, it has learned by heart. Accuracy minus
# control accuracy is the probe's **selectivity**.
#
# ### Exercise 9.4 · Labels by lot
# ●●○○ · 8 minutes
#
# Write `my_control_labels(words, number_of_labels, seed)`: a list with a label from 0 to `number_of_labels` − 1 for
# each word of the list, drawn by lot for each *type*. The same word (upper and lower case alike) gets the same label
# at each place. Another seed gives another lottery.

# %% tags=["exercise"]
def my_control_labels(words, number_of_labels, seed=0):
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    label = {}
    for word in words:
        if word.lower() not in label:
            label[word.lower()] = torch.randint(number_of_labels, (), generator=generator).item()
    return [label[word.lower()] for word in words]
    ### END SOLUTION

check("9.4", my_control_labels)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A dictionary from types to labels, filled by lot. Drawing for each *token* would be impossible to learn for any
# probe, and selectivity would always look splendid. The package's `control_labels` seeds a lottery with the word
# itself, so that a word has the same label in the training and in the test set, even if they are asked for separately.
#
# </details>

# %% [markdown]
# Our sentences are partly written by hand, and mostly made by a little grammar (see `data/looking_inside/`), with a
# tag for each word: grammatical nonsense, so that meaning cannot help. Nouns, verbs, adjectives and adverbs are asked
# for. Three splits, ever harder to cheat:
#
# 1. **other sentences**: train on every other sentence, test on the rest. Most test words have been seen.
# 2. **new words**: also no word of the test has been seen in training.
# 3. **two roles**: words such as *walk* and *hope*, which stand as often as a noun as they do as a verb. None was
#    seen in training. Whoever knows only the word gets about 50 %, by construction.
#
# The last two ask for the **kind of a name** (person, place, time), in other sentences and with new names.
#
# The probe is what you would write: a linear layer on standardised vectors, cross-entropy. The package takes
# scikit-learn's logistic regression, which is the same with a penalty, and faster.

# %%
with open(data_path("looking_inside/tagged.txt"), encoding="utf-8") as file:
    tagged = [[tuple(piece.rsplit("/", 1)) for piece in line.split()] for line in file if not line.startswith("#")]
everything = probing.tagged_vectors(model, tokenizer, tagged)
sentence = [number for number, words in enumerate(tagged) for _ in words]  # of each token
tokens = list(zip(sentence, [word.lower() for word in everything.words], everything.labels))

roles = defaultdict(set)
for _, word, tag in tokens:
    roles[word].add(tag)
both = {word for word, tags in roles.items() if {"NOUN", "VERB"} <= tags}
print(len(tagged), "sentences,", len(roles), "words,", len(both), "of them noun and verb:", *sorted(both)[:6])

# %%
CLASSES = ("NOUN", "VERB", "ADJ", "ADV")
held_out = {word: number % 3 == 0 for number, word in enumerate(sorted(roles))}  # every third type of the alphabet

def part(keep, source=everything):  # the tokens for which keep(number of the sentence, word, tag) holds
    index = [i for i, token in enumerate(tokens) if keep(*token)]
    return probing.TaggedVectors(source.vectors[index], [source.words[i] for i in index], [source.labels[i] for i in index])

splits = {  # what to train on, and what to test on
    "other sentences": (lambda s, w, t: t in CLASSES and s % 2 == 0, lambda s, w, t: t in CLASSES and s % 2 == 1),
    "new words": (lambda s, w, t: t in CLASSES and w not in both and s % 2 == 0 and not held_out[w],
                  lambda s, w, t: t in CLASSES and w not in both and s % 2 == 1 and held_out[w]),
    "two roles": (lambda s, w, t: t in CLASSES[:2] and w not in both, lambda s, w, t: t in CLASSES[:2] and w in both),
    "names": (lambda s, w, t: "PROPN" in t and s % 2 == 0, lambda s, w, t: "PROPN" in t and s % 2 == 1),
    "new names": (lambda s, w, t: "PROPN" in t and not held_out[w], lambda s, w, t: "PROPN" in t and held_out[w]),
}  # fmt: skip

# %%
def my_probe(vectors, labels, asked):  # [N, D], N labels, [M, D] -> M guesses
    mean, deviation, kinds = vectors.mean(dim=0), vectors.std(dim=0), sorted(set(labels))
    wanted = torch.tensor([kinds.index(label) for label in labels])  # [N]
    linear = torch.nn.Linear(vectors.size(1), len(kinds))
    optimizer = torch.optim.AdamW(linear.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(linear((vectors - mean) / deviation), wanted).backward()
        optimizer.step()
    return [kinds[i] for i in linear((asked - mean) / deviation).argmax(dim=1).tolist()]

torch.manual_seed(0)
known, asked = [part(keep) for keep in splits["new words"]]
mine = my_probe(known.vectors[:, 2], known.labels, asked.vectors[:, 2])
theirs = probing.Probe().fit(known.vectors[:, 2], known.labels).predict(asked.vectors[:, 2])
print("my probe and the package's agree on 9 of 10 words:", sum(map(str.__eq__, mine, theirs)) >= 0.9 * len(mine))

# %%
fresh, curves = probing.tagged_vectors(untrained, tokenizer, tagged), {}
for name, (train, test) in splits.items():
    lotteries = [probing.probe_layers(part(train), part(test), seed) for seed in range(3)]  # three draws of the labels
    nothing = probing.probe_layers(part(train, fresh), part(test, fresh))
    by_lot = [sum(s.control_accuracy for s in layer) / 3 for layer in zip(*lotteries)]
    curves[name] = {"trained": [s.accuracy for s in lotteries[0]], "labels by lot": by_lot,
                    "untrained": [s.accuracy for s in nothing]}  # fmt: skip
    floor = probing.majority_accuracy(part(train), part(test))
    sizes = f"learns from {len(part(train).words)} words, is asked {len(part(test).words)}"
    print(f"{name}: {sizes}; always the commonest label {floor:.0%}")
assert curves["two roles"]["trained"][0] < 0.65 and min(curves["two roles"]["trained"][2:]) > 0.8
figure = new_figure(8.4, 2.4)
for axes, (name, lines) in zip(figure.subplots(1, 5, sharey=True), curves.items()):
    for values, color in zip(lines.values(), (BLUE, ORANGE, GREY)):
        axes.plot(["in", "1", "2", "3", "4"], values, color=color, marker="o", markersize=3)
    axes.set_title(name, fontsize=9)
    axes.set_ylim(0, 1.03)
    quiet(axes)
figure.legend(axes.get_lines(), lines, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
Picture(figure, alt="Probe accuracy, input to layer 4. " + "; ".join(f"{name}: " + ", ".join(
    f"{title} {' '.join(f'{value:.0%}' for value in values)}" for title, values in lines.items())
    for name, lines in curves.items()) + ".")  # fmt: skip

# %% [markdown]
# From the input (in) to layer 4. Look at the grey and the orange line first:
#
# - **Other sentences.** At the input, where no word has seen another, the probe does well, and with labels drawn by
#   lot it does as well: that is memory. Higher up the lot fails and the parts of speech stay. The selectivity rises
#   with depth far more than the accuracy does.
# - **New words.** Memory is worth nothing here (the lot is at a quarter), and yet the trained *input* tells the part
#   of speech of nearly every new word: pre-training has put nouns beside nouns in the table of embeddings. The
#   untrained table has no such order.
# - **Two roles.** The only split that asks for context. At the input about half, as it must be; after one layer most,
#   after two nearly all. *This* is what attention adds, and the first panel could not show it.
# - **Names**, seen and new: again much memory in the first, and in the second an advantage that the input has
#   already. *paris* and *london* have met the same neighbours. Deeper layers add nothing here. (41 new names: 5
#   points are two of them.)
#
# Tenney et al. (2019) found that BERT-Large works through the steps of the classical pipeline in their order: parts of
# speech first, then syntax, kinds of names, roles, and coreference last. That one or two layers do for our question
# fits; to see the rest, four layers are too few.
#
# ## Facts in a blank
#
# Petroni et al. (2019) read facts out of BERT by filling in blanks. First our model of books, then `world-tiny`, the
# small model that learned nothing but the facts of a small world (chapter 00).

# %%
FACTS = ("paris is the capital of [MASK] .", "napoleon was emperor of [MASK] .", "queen elizabeth was queen of [MASK] .")
for text in FACTS:
    print(f"{text:40}", ", ".join(f"{word} {share:.0%}" for word, share in fill_mask(model, tokenizer, text, top=4)[0]))

world, world_tokenizer = open_model(data_path("checkpoints/world-tiny"))
print(f"world-tiny: {fact_probe_accuracy(world, world_tokenizer, fact_probes(8, Random(0))):.0%} of its facts")
for text in ("the capital of france is [MASK] .", "the capital of france is not [MASK] ."):
    print(f"{text:40}", ", ".join(f"{word} {share:.0%}" for word, share in fill_mask(world, world_tokenizer, text, top=3)[0]))

# %% [markdown]
# The model of books says what often follows *of*, and no facts: they are rare in novels, and the model is small. The
# small world's model knows most of its facts, in phrasings that training never showed. Now look at the last pair. With
# *not* in it, *paris* is the one wrong answer. Does the guess change as it should? Kassner & Schütze (2020) found that
# BERT's often does not ("birds cannot fly"). A right answer to one wording does not prove that a fact is known; the
# control is a wording that must change the answer.
#
# ## Vectors for sentences
#
# One vector for a sentence: the mean of its tokens' vectors. Are sentences with the same meaning close? 30 pairs that
# say the same in other words, and first, their cosines. Guess the mean cosine of two sentences that have **nothing**
# to do with each other.

# %%
with open(data_path("looking_inside/paraphrases.tsv"), encoding="utf-8") as file:
    pairs = [(row["one"], row["other"]) for row in csv.DictReader(file, delimiter="\t")]

def sentence_vectors(model, texts, layer):  # [N, D]
    encoding = tokenizer(texts)
    with torch.no_grad():
        output = run(model, encoding, output_hidden_states=True).bert
    return pool(replace(output, last_hidden_state=output.hidden_states[layer]), encoding.attention_mask, "mean")

def found(one, other):  # the share of sentences whose partner is the nearest of all
    cosines = normalize(one, dim=-1) @ normalize(other, dim=-1).T
    return (cosines.argmax(dim=1) == torch.arange(len(one))).double().mean().item()

ones, others = [list(side) for side in zip(*pairs)]
words = bag_of_words(ones + others)
print(f"bag of words: partner found {found(words[:30], words[30:]):.0%}; by chance {1 / 30:.0%}")
print("          as they are                         without the mean")
print("layer     all pairs  partners  found          all pairs  partners  found")
for layer in range(5):
    vectors = sentence_vectors(model, ones + others, layer)  # [60, D]
    line = f"{layer:5}"
    for v in (vectors, vectors - vectors.mean(dim=0)):
        partners = torch.cosine_similarity(v[:30], v[30:], dim=-1).mean()
        line += f"{contexts.anisotropy(v):13.2f} {partners:9.2f} {found(v[:30], v[30:]):6.0%}   "
    print(line.rstrip())

# %% [markdown]
# Look at *all pairs*: sentences that share nothing have a cosine far above 0, in every layer. All vectors point in one
# common direction, more or less: they are **anisotropic**. Ethayarajh (2019) measured it in ELMo, BERT and GPT-2,
# where it generally grows with depth. Whoever reads "cosine 0.7" as "alike" is reading the common direction.
#
# Subtracting the mean vector takes it away: unrelated pairs lie at 0 then, and partners stand out from them by a
# number that one can read. But look at *found*: the order of the neighbours hardly changes. Centring repairs the
# scale, not the content. And the content is thin. More partners are found than by the bag of words (the pairs share
# few words), but far from all: guessing masked words does not teach BERT to put the meaning of a sentence into one
# vector. That takes training for the purpose, the subject of a later chapter.
#
# ## The proof
#
# Mine, the package's and, where it has one, that of `transformers`: the attention weights and vectors that all of this
# rests on, rollout, a silenced head, the vector of a word.

# %%
theirs = transformers.BertForPreTraining.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
encoding, wanted = tokenizer(texts[0]), {"output_attentions": True, "output_hidden_states": True}  # one text: no padding
with torch.no_grad():
    ours, reference = run(model, encoding, **wanted), theirs(**encoding, **wanted)
for name in ("attentions", "hidden_states"):
    differences = [(a - b).abs().max().item() for a, b in zip(getattr(ours, name), getattr(reference, name), strict=True)]
    print(f"{name}: {len(differences)} layers as in transformers, within 1e-5: {max(differences) < 1e-5}")

shares, quieter = torch.eye(encoding.input_ids.size(1)), deepcopy(model)
for weights in reference.attentions:
    shares = (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1))) @ shares  # [1, T, T]
print("rollout  = package:", torch.allclose(shares, rollout.attention_rollout(ours.attentions)[-1], atol=1e-4))
quieter.bert.encoder.layers[1].attention.output.weight.data[:, 2 * 64 : 3 * 64] = 0  # layer 1, head 2, d = 64
with torch.no_grad(), heads.without_heads(model, [(1, 2)]):
    one, other = run(quieter, encoding).prediction_logits, run(model, encoding).prediction_logits
    print("silenced = package:", torch.allclose(one, other, atol=1e-4))
bank = ours.hidden_states[-1][0, encoding.tokens[0].index("bank")]
package = contexts.word_vectors(model, tokenizer, texts[:1], "bank")[0, -1]
print("word     = package:", torch.allclose(bank, package, atol=1e-4))

# %% [markdown]
# ## Broken BERT: sentences that resemble their batch
#
# A colleague removes duplicates from a collection: two sentences are the same if the cosine of their vectors is above
# 0.99. With one sentence at a time it worked. Since sentences are embedded in batches, copies of one and the same
# sentence stay. A hint from the log: short sentences survive most often, and more of them with larger batches.

# %%
def mean_of_tokens(states, attention_mask):  # [B, T, D], [B, T] -> [B, D]
    return states.mean(dim=1)
def embed(texts, mean):  # [B, D]
    encoding = tokenizer(texts)
    return mean(run(model, encoding).bert.last_hidden_state.detach(), encoding.attention_mask)
for count in (1, 2, 4, 8):
    one, beside = embed(texts[:1], mean_of_tokens)[0], embed([texts[0], " ".join(texts[:count])], mean_of_tokens)[0]
    print(f"beside a text of {count} sentences: cosine with itself {torch.cosine_similarity(one, beside, dim=0):.2f}")

# %% [markdown]
# ### Exercise 9.5 · A mean of what is there
# ●●●○ · 8 minutes
#
# Write `masked_mean(states, attention_mask)`, the same two inputs, repaired: a sentence gets the same vector in every
# batch. What should a row do that is all padding? It must at least not become NaN: give it zeros. Then try
# `embed(texts[:1], masked_mean)` beside a long text.

# %% tags=["exercise"]
def masked_mean(states, attention_mask):
    ### BEGIN SOLUTION
    mask = attention_mask[:, :, None].to(states.dtype)  # [B, T, 1]
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)
    ### END SOLUTION

check("9.5", masked_mean)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Padding has vectors too: attention does not let anybody *look at* them, but nobody stops us from averaging them. So
# weigh with the mask, and divide by the number of real tokens, each sentence by its own. `clamp_min(1)` keeps an empty
# row at zero. The mask is turned into the dtype of the states, so that float16 stays float16.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | |
# |---|---|
# | Entropy, habits of heads | Clark et al. (2019), sections 3 and 4, on BERT-Base: single heads find direct objects, determiners, objects of prepositions and of possessives with over 75 % accuracy. Our model is too small to ask for that |
# | Rollout | Abnar & Zuidema (2020), section 3: ½ A + ½ I, heads averaged. They follow [CLS] in a classifier; we follow [MASK] |
# | Silencing | Michel et al. (2019) multiply a head by a mask ξ and set it to 0: the same as zeroing its columns of the output projection. `transformers` has pruned heads with `prune_heads`, which cuts the matrices |
# | Faithful or plausible | A plausible explanation pleases people, a faithful one tells what the model did. Attention maps are judged by the first far too often |
# | Gradient × input | Signed, and wrong where the function bends. Integrated gradients (Sundararajan et al. 2017) mend that and depend on the start: zeros, [PAD] and [MASK] give different answers |
# | Control tasks | Hewitt & Liang (2019), on ELMo: linear probes are far more selective than those with a hidden layer. Layer 1 had the better accuracy for parts of speech, and layer 2 the better selectivity. Ours is logistic regression |
# | Anisotropy | Ethayarajh (2019) subtracts the mean cosine of random words from every cosine. We subtract the mean vector, as Mu & Viswanath (2018) do, who take the strongest common directions away too |
# | `transformers` | `output_attentions=True` needs `attn_implementation="eager"`: fused kernels never form the weights (chapter 03). And a file in float16, as ours, is opened in float16 unless told otherwise (`dtype=torch.float32`); then the numbers agree to two decimals only |
#
# ## Summary
#
# - A picture of attention is a fact about weights, not yet a reason for an answer. Find out by taking something away.
# - Rollout multiplies ½ A + ½ I over the layers; it knows the paths, and not what travels on them.
# - The gradient asks what a small change would do; integrated gradients keep the accounts where the function bends.
# - Heads differ in what they look at. Which are needed is another question, and most can go alone.
# - Senses, parts of speech and kinds of names are in the vectors; averages, controls and honest splits show how much
#   of it.
# - A cosine means something beside the cosine of pairs that have nothing in common.
# - Beside each number: the number that nothing gives.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(9)

# %% [markdown]
# ## Interview questions
#
# **1. A colleague shows an attention map and says: "the model answered so because of this word." What do you ask
# for?**
#
# <details><summary>Answer</summary>
#
# Which layer and head, and why this one of all L · H. What an intervention says: cover the word, and see whether the
# answer changes more than with other words. Whether it holds on many examples, in rank correlation with erasing,
# beside random scores and nearness. In upper layers, that positions are no longer words: their vectors are mixtures.
# The map may still be right; it is a hypothesis.
#
# </details>
#
# **2. A probe reads parts of speech from layer 6 with 97 %. What does this show?**
#
# <details><summary>Answer</summary>
#
# Alone, little. What do the input embeddings give, what an untrained model, what a control task with labels by lot for
# each word type? Are the test's words and sentences new? High accuracy with high control accuracy is memory. And a
# probe shows that the information *is there*, not that the model *uses* it: for that the information has to be taken
# away, and the answer watched.
#
# </details>
#
# **3. Cosines of BERT's sentence vectors are all above 0.7. Why, and what do you do?**
#
# <details><summary>Answer</summary>
#
# Anisotropy: all vectors share a common direction, and a few dimensions of large size add to it. Subtract the mean
# vector (and perhaps the strongest principal components), or compare with the cosine of random pairs. That repairs the
# scale; if the order of neighbours is poor, only training for similarity helps. And check first whether padding is in
# the means.
#
# </details>
#
# ## Next
#
# You have looked at what pre-training put into the vectors. Now use it: a head for a task, a few minutes of training,
# and the same vectors tell friendly reviews from angry ones. That is
# [10 · Text classification](10_text_classification.ipynb).
