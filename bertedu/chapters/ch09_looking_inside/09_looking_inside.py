# %% [markdown]
# # 09 · Looking inside
#
# You will open a trained BERT and study its attention, its gradients and its vectors. For every picture you will run
# a control that tells you whether it means anything.
#
# ## What you will be able to do
#
# - describe what attention heads do, and ablate a head to see whether the model needs it
# - test an explanation: compare attention, rollout and gradients with what happens when a word is removed
# - separate the senses of a word by its vectors, and say how noisy the result is and what a baseline reaches
# - (optional) follow attention through all layers with rollout, and information with activation patching
# - (optional) probe layers for parts of speech, with a control task
#
# **Time:** three sittings of about 30, 35 and 20 minutes, and 60 more for what is optional: attention; heads and words; a proof and "Broken BERT" ·
# **You need:** [08 · Pre-training](08_pre_training.ipynb), and [03 · Self-attention](03_self_attention.ipynb) for
# what an attention head is · **Next:** [10 · Text classification](10_text_classification.ipynb)
#
# ## Recall
#
# 1. What does the loss of the masked language model compare, and at which tokens?
#
# <details><summary>Answer</summary>
#
# The scores of all V words at a position, and the word that stood there originally. Only positions with a label
# count: the chosen ones, 15 % of the tokens in BERT.
#
# </details>
#
# 2. A model predicts 30 % of the masked words right. Which number do you want to see beside it?
#
# <details><summary>Answer</summary>
#
# A baseline: the accuracy of always guessing the most frequent token, and that of an n-gram model, which knows only
# the neighbors. Without a baseline, 30 % could be much or nothing.
#
# </details>
#
# 3. What do the attention weights of one token in one head sum to?
#
# <details><summary>Answer</summary>
#
# To 1, because they are the output of a softmax. That also holds if there is nothing useful to attend to.
#
# </details>
#
# ## Four things to look at
#
# This chapter uses all four:
#
# ![The map of BERT. Below it the four things that can be looked at: the gradient with respect to the embeddings, which needs a backward pass, and from the forward pass the attention weights, the hidden states between the layers, and the probabilities of the answer.](pictures/09_four_things.svg)
#
# %% [markdown]
# ## One answer, three explanations
#
# The course contains a small BERT, `mixed-mini`: 4 layers, D = 256, H = 4 attention heads in each layer, trained on old
# books, modern prose, a little of Wikipedia, and the documentation of programs. It is **cased**: *He* and *he* are two
# tokens.

# %%
from bertedu.course import data_path
from bertedu.inference import fill_mask, open_model

folder = data_path("checkpoints/mixed-mini")
model, tokenizer = open_model(folder)
TEXT = "He shook his [MASK] and said nothing ."
words = fill_mask(model, tokenizer, TEXT, top=5)[0]
print(", ".join(f"{word} {probability:.0%}" for word, probability in words))

# %% [markdown]
# **Why** *head*? Which words of the sentence make the model say so? Three common methods give every token a number:
#
# - **Attention**: the weight that [MASK] gives to the token in the last layer, averaged over the heads.
# - **Gradient**: how strongly the log-probability of the answer reacts to a small change of the token's embedding.
# - **Occlusion**: how much the log-probability of the answer falls if we replace the token by [MASK]. The logarithm is
#   the natural one, so the unit is called a **nat**.
#
# ![Another sentence, He shut the MASK and sat down, with the log-probability of door: once as it is, once with shut replaced by MASK. The difference of the two is the occlusion of shut.](pictures/09_occluding.svg)
#
# Two helpers: `question` encodes a text and finds the model's first guess at [MASK].

# %%
import torch

from bertedu.inference import run  # a forward pass for an encoding, without dropout
from bertedu.interpretation import saliency


def question(text):  # the encoding, the position of [MASK], the id of the first guess
    encoding = tokenizer(text)
    position = encoding.tokens[0].index("[MASK]")
    with torch.no_grad():
        logits = run(model, encoding).prediction_logits[0, position]  # [V]
    return encoding, position, logits.argmax().item()


# %% [markdown]
# And `occlusion` replaces one token after the other.


# %%
@torch.no_grad()
def occlusion(encoding, position, guess, by=tokenizer.mask_token_id):  # [T], in nats
    T = encoding.input_ids.size(1)
    ids = encoding.input_ids.repeat(T + 1, 1)  # [T + 1, T], the last row stays as it is
    ids[range(T), range(T)] = by
    vectors = model.eval().bert(ids).last_hidden_state[:, position]  # [T + 1, D]
    log_p = model.masked_lm(vectors).log_softmax(dim=-1)  # [T + 1, V]
    return log_p[-1, guess] - log_p[:-1, guess]


# %% [markdown]
# Now all three numbers for each token. Guess: which word matters most, and will the three
# methods agree?

# %% tags=["guess"]
encoding, position, guess = question(TEXT)
weights = run(model, encoding, output_attentions=True).attentions  # L times [B, H, T, T]
attention = weights[-1][0, :, position].mean(dim=0)  # [T]
gradient = saliency.input_saliency(model, encoding, position, guess)["gradient"]  # [T]
effects = occlusion(encoding, position, guess)  # [T]
print(f"{'':10}  attention   gradient  occlusion")
for token, *numbers in zip(encoding.tokens[0], attention, gradient, effects):
    print(f"{token:10}", "".join(f"{number:11.2f}" for number in numbers))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Leave out [MASK] itself and compare the columns. The gradient and occlusion agree on the two most important words:
# *shook* and *his*. Attention has other favorites: the full stop and *and*. Each column alone would make a convincing
# figure. (The gradient is the length of a vector, so it is never negative: compare the order of the two columns, not
# the size. What does a negative occlusion mean? Without *He* the answer becomes *more* likely.)
#
# </details>
#
# An explanation that people find convincing is called **plausible**. An explanation that tells what the answer really
# depends on is called **faithful**. One does not follow from the other (Jacovi and Goldberg 2020).
#
# One rule holds for this whole chapter: **never report a score without the baseline that an uninformed method would
# reach.**

# %% [markdown]
# ## What do heads attend to?
#
# Some heads attend to one token, others to many. The **entropy** of the attention weights measures this in **bits**:
# −Σ p log₂ p, with the sum over the tokens.
#
# ![Three rows of attention weights over four tokens. All weight on one token: 0 bits. Two halves: 1 bit, like one toss of a coin. Four equal weights: 2 bits. Two to the power of the bits is the number of tokens that the head chooses between.](pictures/09_bits.svg)
#
# ### Exercise 9.1 · Three unequal weights
# ●○○○ · 3 minutes
#
# A token has the attention weights ½, ¼, ¼ and 0. How many bits is the entropy? (A weight of 0 adds nothing.) `check`
# examines your answer, and `hint("9.1")` gives a hint.

# %% tags=["exercise"]
from bertedu.course import check, hint

### BEGIN SOLUTION
bits = 1.5
### END SOLUTION
check("9.1", bits)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# log₂ of ½ is −1, and log₂ of ¼ is −2: ½ · 1 + ¼ · 2 + ¼ · 2 = 1.5. And 2 to the power of 1.5 is 2.8: this head is as
# undecided as one that attends evenly to about three tokens.
#
# </details>

# %% [markdown]
# We measure all heads on a hundred short sentences. Clark et al. (2019, section 3) describe four patterns in BERT-Base:
# heads that attend to the previous token, to the next one, to [SEP], and (rarely) to the token itself.
#
# ![Four tables of attention weights for five tokens: previous token, a diagonal below the main one; next token, a diagonal above it; itself, the main diagonal; SEP, the last column.](pictures/09_patterns.svg)
#
# The control is an untrained model. But with which initialization? BERT's own draws all weights from a normal
# distribution. Our model began with the course's **matching initialization**: key weights equal query weights, so
# similar vectors attend to each other before any training. A fair control begins as the model began, so *untrained*
# means the matching initialization here. *BERT's initialization* shows what the wrong control would tell us.

# %%
import csv

with open(data_path("looking_inside/senses.tsv"), encoding="utf-8") as file:
    senses = list(csv.DictReader(file, delimiter="\t"))  # word, sense, sentence
texts = [row["sentence"] for row in senses]
batch = tokenizer(texts)  # [100, T]

# %% [markdown]
# Both controls:

# %%
from bertedu import BertForPreTraining
from bertedu.pretraining.initialization import MATCHING_SCALE, initialize_for_matching

torch.manual_seed(0)
with_berts_initialization = BertForPreTraining(model.config).eval()
untrained = BertForPreTraining(model.config).eval()
counts = torch.ones(model.config.vocab_size)  # word counts, for the output bias: unused here
initialize_for_matching(untrained, counts)  # layer 1: keys = queries
with torch.no_grad():
    for layer in untrained.bert.encoder.layers[1:]:  # the layers above: keys = queries
        layer.attention.query.weight.mul_(MATCHING_SCALE)  # 0.7: smaller scores, softer weights
        layer.attention.key.weight.copy_(layer.attention.query.weight)

# %% [markdown]
# The next cell prints the lowest and the highest head for the entropy and for each pattern. Guess: which of the
# patterns are there without any training?

# %% tags=["guess"]
from bertedu.interpretation import heads

patterns = ("entropy", "previous token", "next token", "itself", "[SEP]")
models = {"trained": model, "untrained": untrained, "BERT's init.": with_berts_initialization}
measured = {}
for name, which in models.items():
    with torch.no_grad():
        weights = run(which, batch, output_attentions=True).attentions  # L times [B, H, T, T]
    measured[name] = heads.pattern_scores(weights, batch.tokens)  # each [L, H]
    measured[name]["entropy"] = heads.entropy(weights, batch.attention_mask)
print(f"{'lowest to highest head':23}", *(f"{name:>14}" for name in measured))
for pattern in patterns:
    ranges = (f"{m[pattern].min():.2f} to {m[pattern].max():.2f}" for m in measured.values())
    print(f"{pattern:23}", *(f"{text:>14}" for text in ranges))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Read the table from the right. With BERT's initialization every head attends evenly to everything: 3.73 bits, about
# log₂ 13.2 (a sentence has 13.2 tokens on average), each pattern scores about 1 / T = 0.08, and the heads hardly
# differ.
#
# *Itself* is there without training. If we had compared with BERT's initialization alone (8 %), we would have said
# that training taught the heads to attend to themselves. But the fair control begins with 15 to 42 %: training took
# most of it away in layer 1, and raised it a lot in one head only (77 %).
#
# *Previous* and *next token* were learned: no untrained head gives more than 12 % to either, and after training two
# heads give 86 and 89 %. And the large weight for [SEP] that Clark et al. saw in BERT-Base (over half of the attention
# in layers 6 to 10) is not there: no head reaches 20 %. What one model does, another need not do.
#
# </details>
#
# All heads at a glance: an orange frame marks the highest value. (In pictures, layers and heads count from 1; in code
# they count from 0.)

# %%
from bertedu.visualization.head_maps import head_maps

maps = {name: measured["trained"][name] for name in patterns}
maps["itself, untrained"] = measured["untrained"]["itself"]
head_maps(maps, same_scale=list(maps)[1:])

# %% [markdown]
# Two heads of layer 1 have the lowest entropy. Here are all their weights for our sentence:
#
# ![The attention weights of two heads of layer 1 for the ten tokens of the sentence. In head 1 nearly all weight lies below the diagonal, on the previous token; in head 2 above it, on the next token.](pictures/09_sharp_heads.svg)
#
# [CLS] has no previous token, and still its weights must sum to 1. Look where head 1 puts them. Explore the others with
# **bertviz** (Vig 2019), which counts from 0: a line for each weight, a color for each head.

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.bertviz_views import head_view

with torch.no_grad():
    seen = run(model, encoding, output_attentions=True).attentions
head_view(seen, encoding.tokens[0])

# %% [markdown]
# Two more views: all heads at once, and the course's own explorer. When you run them, click on what you want to see.
#
# <details><summary>Is a pattern an explanation?</summary>
#
# Clark et al. (section 3.2) asked that about [SEP]. They took the gradient of BERT's loss with respect to the attention
# weights. From layer 5 on, the gradients for attention to [SEP] are very small: giving [SEP] more or less hardly
# changes the answer. Their interpretation: a head attends to [SEP] when it finds nothing to do, because its weights
# must go somewhere. Head 1 of layer 1 does so for [CLS], which has no previous token, and for *He*, whose previous
# token is [CLS].
#
# </details>

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.bertviz_views import model_view

model_view(seen, encoding.tokens[0])

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets.explorer import attention_explorer

attention_explorer(model, tokenizer, TEXT)

# %% [markdown]
# ### What does *it* stand for? (optional)
#
# A famous figure of the Transformer (Uszkoreit 2017) shows a head that links *it* to the right noun: **coreference**.
# Does our model do that?
#
# ![The sentence The animal didn't cross the street because it was too: with tired at its end, it is the animal, with wide it is the street. One word decides between the two nouns.](pictures/09_tired_or_wide.svg)
#
# For each ending we print the highest weight from *it* to either noun over all heads, and the probability of either
# noun if we put *the [MASK]* in the place of *it*. Guess: for
# each ending, which noun is ahead by attention, and which by probability?

# %% tags=["guess"]
NOUNS = ("animal", "street")


@torch.no_grad()
def which_noun(word):  # the highest attention of "it", and the probability, for each noun
    rest = "The animal didn't cross the street because {} was too " + word + " ."
    asked, blank = tokenizer(rest.format("it")), tokenizer(rest.format("the [MASK]"))
    tokens, ids = asked.tokens[0], tokenizer.convert_tokens_to_ids(list(NOUNS))
    all_heads = torch.cat(run(model, asked, output_attentions=True).attentions)  # [L, H, T, T]
    of_it = all_heads[:, :, tokens.index("it")].amax(dim=(0, 1))  # [T]
    logits = run(model, blank).prediction_logits[0, blank.tokens[0].index("[MASK]")]
    return [of_it[tokens.index(noun)] for noun in NOUNS], logits.softmax(dim=-1)[ids]


for word in ("tired", "wide"):
    for noun, attended, filled in zip(NOUNS, *which_noun(word)):
        print(f"{word:6} {noun:7} attention {attended:.2f}  probability {filled:.2%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# By attention the *street* is ahead, 0.31 (in layer 1) to 0.17 (in layer 2). With *wide* it is 0.31 to 0.15: the
# weights hardly react to the word that decides. Asked to fill the blank, the model is right for *tired* (*animal*), and
# that would make a fine example. The control is the other ending: with *wide* it still says *animal*. Only the ratio of
# the two moves the right way, from about 70 to about 14. So this small BERT does not solve coreference here, and the
# one example with the right answer would have hidden it.
#
# </details>
#
# ## Rollout: attention through all layers (optional, with exercise 9.2)
#
# The weights of the last layer say to which *vectors* [MASK] attends. But the layers below have mixed other words into
# each vector. How much of each **word** arrives at [MASK]? **Attention rollout** (Abnar and Zuidema 2020, section 3)
# assumes that a layer passes on one half by its attention and one half by the residual connection, and multiplies.
#
# ![Two tokens a and b. In layer 1 each attends only to the other, in layer 2 only to itself. With half of the residual connection, W of layer 1 is one half everywhere, W of layer 2 is the identity. The product says that half of each token comes from the other one.](pictures/09_two_layers.svg)
#
# ### Exercise 9.2 · Rollout in four lines
# ●●○○ · 12 minutes
#
# Write `my_rollout(attentions)`. It gets L tensors `[B, H, T, T]`, the first layer first, and returns one tensor
# `[B, T, T]`: row i says how much of each word is in token i after the last layer. Average over the heads of each layer
# before you multiply.


# %% tags=["exercise"]
def my_rollout(attentions):
    ### BEGIN SOLUTION
    shares = torch.eye(attentions[0].size(-1))  # before any layer, each token is its own word
    for weights in attentions:
        shares = (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(len(shares[-1]))) @ shares
    return shares  # [B, T, T]
    ### END SOLUTION


check("9.2", my_rollout)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The order matters. The matrix in parentheses says from which *tokens* a token of the new layer takes, and `shares`
# says which *words* these tokens contained. So the new layer goes to the left. The rows of each factor sum to 1, and
# so do the rows of the product.
#
# </details>

# %% [markdown]
# The last layer's attention, rollout, and **attention flow** from the same paper: it treats the weights as capacities
# of pipes and asks how much can flow from a word to a token.

# %%
from bertedu.visualization.attention_paths import attention_paths

with torch.no_grad():
    weights = run(model, encoding, output_attentions=True).attentions
attention_paths(weights, encoding.tokens[0])

# %% [markdown]
# Look at the column of the full stop. In the last layer many tokens attend to it. In rollout no other token takes more
# than 17 % from its *word*: what they get from its vector is mostly other words. In flow the rows hardly differ.
#
# What all of them leave out: the values and the feed-forward layers.
#
# ## The gradient (optional)
#
# A gradient says how the *answer* would change. For pencil and paper: f(x, y) = 3x + y², at x = 1 and y = 2, so f = 7.
#
# ![The curve y squared. At y = 2 its slope is 4, so gradient times input says 8, twice what there is to explain. The mean slope from 0 to 2 is 2, so integrated gradients say 4.](pictures/09_slopes.svg)
#
# **Gradient × input** multiplies the slope *here* by the input. Where f is linear (3x), that is right: 3. Where it is
# curved, it is misleading. **Integrated gradients** (Sundararajan et al. 2017) use the mean slope along the straight
# line from a **baseline** input, here (0, 0), to this one. Their parts always sum to f(input) − f(baseline),
# here 3 + 4 = 7. This is called **completeness**.
#
# For BERT, x and y become the token embeddings, and f is the log-probability of the answer. The next cell uses a
# forward hook (chapter 05) to replace the output of the token embeddings by a tensor that collects a gradient.

# %%
from bertedu.visualization.saliency import saliency_strip  # draws a number for each token


def my_saliency(model, encoding, position, answer):  # [T] and [T]
    vectors = model.bert.embeddings.token(encoding.input_ids).detach().requires_grad_()
    table = model.bert.embeddings.token  # vectors: [1, T, D]
    hook = table.register_forward_hook(lambda module, inputs, output: vectors)
    log_p = run(model, encoding).prediction_logits[0, position].log_softmax(dim=-1)  # [V]
    hook.remove()
    gradient = torch.autograd.grad(log_p[answer], vectors)[0]  # [1, T, D]
    return gradient.norm(dim=-1)[0], (gradient * vectors).sum(dim=-1)[0].detach()


prompt = question(TEXT)
encoding, position, guess = prompt
package = saliency.input_saliency(model, *prompt)  # two measures, [T] each
pairs = zip(my_saliency(model, *prompt), package.values())
difference = max((mine - numbers).abs().max() for mine, numbers in pairs)
print(f"{', '.join(package)}: largest difference from the package {difference:.4f}")

# %% [markdown]
# And integrated gradients. The baseline is the same text with every word replaced by [MASK].

# %%
special = encoding.input_ids < 5  # [CLS] and [SEP]
covered = torch.where(special, encoding.input_ids, tokenizer.mask_token_id)
parts = saliency.integrated_gradients(model, *prompt, baseline_ids=covered)  # [T]
with torch.no_grad():
    both = model(torch.cat([encoding.input_ids, covered])).prediction_logits[:, position]
rise = -both.log_softmax(dim=-1)[:, guess].diff().item()
print(f"sum of the parts {parts.sum():.1f} nats, the log-probability rises by {rise:.1f}")
saliency_strip(parts, encoding.tokens[0], "Integrated gradients, in nats")

# %% [markdown]
# *shook* and *his* contribute most. Compare *He*: here it adds 0.57 nats, but by occlusion the answer became *more*
# likely without it. Both are right. Occlusion removes one word from the full text, integrated gradients average over
# the way from a text without words.
#
# ## Is attention an explanation?
#
# Which column of our first table should we believe? A minimal test of **faithfulness**: if you remove a word that a
# method calls important, the answer should change more than with a word that it calls unimportant. So occlusion is our
# judge, because it changes the text and looks at the answer: we compare a method's order of the words with that by
# occlusion.
#
# ![The words of the first sentence with their ranks by occlusion and by attention. The two orders differ, and the rank correlation says how much: 1 is the same order, 0 is what random scores reach on average.](pictures/09_two_orders.svg)
#
# The **rank correlation** (Spearman) is +1 if both orders are the same, −1 if one is the reverse of the other, and 0 on
# average for random scores. One sentence proves nothing, so we take all of them, each with its last word masked.


# %%
def rank_correlation(one, other):  # [T], [T] -> a number from -1 to 1
    def ranks(x):  # equal values share their mean rank
        return (x[:, None] > x).sum(dim=1) + 0.5 * (x[:, None] == x).sum(dim=1)

    return torch.corrcoef(torch.stack([ranks(one), ranks(other)]))[0, 1].item()


def mask_last_word(text):
    return text.rsplit(" ", 1)[0] + " [MASK] ."


print(mask_last_word(texts[0]))

# %% [markdown]
# A fourth method: **rollout** (half attention, half residual connection, multiplied over the layers).
# And four baselines and controls: **random scores**; **distance** (near words matter more, a rule without a model); the
# plain mean of attention over **all layers**; and occlusion by **other words** instead of [MASK]. That asks the same
# question in another way: it is our **ceiling**.

# %%
from bertedu.interpretation import rollout


def explanations(encoding, position, guess):  # a number for each token by each method, [T]
    T = encoding.input_ids.size(1)
    with torch.no_grad():
        weights = run(model, encoding, output_attentions=True).attentions
    other_words = [
        occlusion(encoding, position, guess, by=torch.randint(5, len(tokenizer), (T,)))
        for _ in range(4)
    ]
    return {
        "random scores": torch.rand(T),
        "distance": -(torch.arange(T) - position).abs(),
        "attention, last layer": weights[-1][0, :, position].mean(dim=0),
        "attention, all layers": torch.cat(weights)[:, :, position].mean(dim=(0, 1)),
        "rollout": rollout.attention_rollout(weights)[-1, 0, position],
        "gradient": saliency.input_saliency(model, encoding, position, guess)["gradient"],
        "occlusion, other words": torch.stack(other_words).mean(dim=0).abs(),
    }


# %% [markdown]
# Guess: which of attention, rollout and gradient comes nearest to the ceiling, and is each of them better than
# distance? The cell takes about half a minute on a slow computer.

# %% tags=["guess"]
from collections import defaultdict

import numpy as np

from bertedu.course import about  # shows a measured number as ≈, and fails if it is off

torch.manual_seed(0)
agreement = defaultdict(list)
for text in texts:
    prompt = question(mask_last_word(text))
    T, position = len(prompt[0].tokens[0]), prompt[1]
    content = [i for i in range(1, T - 1) if i != position]  # no [CLS], [SEP], [MASK]
    truth = occlusion(*prompt).abs()[content]
    for name, numbers in explanations(*prompt).items():
        agreement[name].append(rank_correlation(numbers[content], truth))
for name, values in agreement.items():
    mean = about(f"agreement with occlusion: {name}", np.mean(values), within=0.04)
    print(f"{name:23} {mean:8.3f}")

# %% [markdown]
# Two methods sentence by sentence: the mean difference and two standard errors. By chance alone, the mean is farther
# from 0 than that in only one of 20 cases.

# %%
order = ["attention, last layer", "distance", "rollout", "attention, all layers"]
order += ["gradient", "occlusion, other words"]
for low, high in zip(order, order[1:]):
    difference = np.subtract(agreement[high], agreement[low])  # [100]
    mean = about(f"agreement, {high} minus {low}", difference.mean(), within=0.03)
    errors = 2 * difference.std(ddof=1) / 10  # two; 10: the root of 100
    errors = about(f"two errors of {high} minus {low}", errors, within=0.02)
    print(f"{high} - {low}: {mean:.3f}, two standard errors {errors:.3f}")

# %% [markdown]
# **The attention of the last layer is not better than distance.** Rollout isn't clearly better than distance either,
# and the plain mean over all layers does slightly better than rollout. The gradient, which asks something similar to
# occlusion, is better than every attention, and still below the ceiling. So for practice: say *what* you want to
# explain, measure it by an intervention, and report the baselines.
#
# <details><summary>"Attention is not Explanation", and "not not": the debate in short</summary>
#
# - **Jain and Wallace (2019)**: in recurrent networks with one attention layer, attention often disagrees with
#   gradients and with leaving words out. And one can find quite different weights that give the same answer.
# - **Wiegreffe and Pinter (2019)**: it depends on what you call an explanation. They propose four tests: a baseline
#   with uniform weights, the variance over random seeds, an **adversary** (a model trained to give the same answers
#   with other attention weights), and a simple model that gets its attention weights from outside. With the learned
#   weights this simple model does well, with the adversary's badly. So learned weights carry something.
# - **Abnar and Zuidema (2020)**: rollout and flow agree better with occlusion and gradients than raw attention does.
#   In their small classifier, which reads [CLS], the correlation with occlusion is 0.71 for rollout and 0.29 for the
#   last layer's attention (table 1). In a DistilBERT for the sentiment of sentences, no method has more than 0.14
#   with gradients (table 3).
#
# </details>
#
# **Here the first sitting ends.** You can measure what heads do, and you know how to test an explanation. The second
# sitting takes heads away and looks at vectors.

# %% [markdown]
# ## Ablating a head
#
# We removed words. We can also remove heads, and see what gets worse. Switching off a part of a model is called
# **ablation**.
#
# ![The outputs of four heads stand side by side, 64 numbers each, the input of the output projection, whose result is added to the token's vector. To ablate head 2 its 64 numbers become zeros.](pictures/09_one_head_out.svg)
#
# (An **attention head**: the MLM head of chapter 06 is something else, an output layer for a task.)
#
# ### Exercise 9.3 · Ablate a head
# ●●○○ · 12 minutes
#
# Write `ablate_head(model, layer, head)`. It returns a **copy** of the model in which this head adds nothing (`layer`
# and `head` count from 0). `model.bert.encoder.layers[layer].attention` has the number of heads, `num_heads`, and the
# projection, `output`, a linear layer. Which part of its weight belongs to the head?

# %% tags=["exercise"]
import copy


def ablate_head(model, layer, head):
    ### BEGIN SOLUTION
    changed = copy.deepcopy(model)
    attention = changed.bert.encoder.layers[layer].attention
    d = attention.output.in_features // attention.num_heads
    with torch.no_grad():
        attention.output.weight[:, head * d : (head + 1) * d] = 0
    return changed
    ### END SOLUTION


check("9.3", ablate_head)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A linear layer computes x Wᵀ, and the shape of its weight is `[out, in]`. The d numbers of the head are a part of
# the *input*, so they are multiplied by d **columns** of the weight. Zeroing d rows would instead remove d entries of
# the output, which are sums over all heads. The bias stays, because it does not come from this head.
#
# </details>

# %% [markdown]
# How much does each head matter (Michel et al. 2019)? We mask every fifth token: how much does the loss rise without a
# head? `without_heads` ablates heads inside a `with` block, `head_importance` does it for one head after the
# other.

# %%
masked = batch.input_ids.clone()
chosen = masked >= 5  # [B, T]: no [CLS], [SEP], [PAD]
chosen &= torch.arange(masked.size(1)) % 5 == 2
masked[chosen] = tokenizer.mask_token_id
targets = batch.input_ids.masked_fill(~chosen, -100)  # -100: no prediction here (chapter 06)


def loss_on(rows):  # a function that computes the MLM loss of a model on these rows
    inputs = masked[rows], batch.attention_mask[rows]
    return lambda model: model(*inputs, labels=targets[rows]).loss


# %% [markdown]
# The control: two halves of the sentences. Differences between the halves are noise.

# %%
even, odd = slice(0, None, 2), slice(1, None, 2)
halves = [heads.head_importance(model, loss_on(half)).flatten() for half in (even, odd)]
importance = (halves[0] + halves[1]) / 2  # [L · H]
entropy = measured["trained"]["entropy"].flatten()
pairs = {"half and half": halves, "entropy and importance": (entropy, importance)}
for (name, pair), value in zip(pairs.items(), (0.8, -0.4)):
    print(f"{name}: rank correlation {about(value, rank_correlation(*pair), within=0.1):.1f}")
head_maps({"rise of the loss without the head": importance.view(4, 4)})

# %% [markdown]
# Most heads are hardly missed alone, among them all of layers 3 and 4. The most important ones are the two sharp heads
# of layer 1.
#
# <details><summary>Are low-entropy heads the important ones?</summary>
#
# A rank correlation of −0.4 suggests it, but with so few heads chance alone gives up to ±0.5 in 19 of 20 cases. The
# two heads with the lowest entropy are also the two most important ones. But head 2 of layer 2 has the next lowest
# entropy and attends mostly to the token itself, and the model does nearly as well without it (0.05). And head 1 of
# layer 4 has the fourth lowest (1.5 bits) and is not missed at all. The importance on one half of the sentences has a
# rank correlation of 0.8 with that on the other half, so it is more than noise; small differences such as −0.01 are
# noise.
#
# </details>
#
# Now we ablate several heads together. We choose them on one half and measure on the other. Otherwise we would select
# heads that only happen to matter little on these sentences. Guess: which costs more, to lose the least important half
# of the heads, or the single most important head?


# %%
def loss_without(ablated):  # on the odd half
    with torch.no_grad(), heads.without_heads(model, ablated):
        return loss_on(odd)(model).item()


# %% tags=["guess"]
order = [divmod(int(i), 4) for i in halves[0].argsort()]  # (layer, head), on the even half
print(f"on the even half, most important: {order[-1]}, {order[-2]}")
print(f"loss with all heads {loss_without([]):.2f}")
for n in (1, 4, 8, 12):
    least, most = loss_without(order[:n]), loss_without(order[-n:])
    print(f"without the {n:2} least important {least:.2f}, most important {most:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# (The pairs in the first line count from 0. On the even half, head 2 of layer 1 is ahead of head 1.)
#
# Without the **eight** least important heads the loss is 3.87, and without the most important one alone it is 4.29.
# Removing the twelve least important heads (4.44) costs little more than removing this one. Without the four most
# important ones the loss is 7.7, and it hardly changes with more: the model is broken. (Guessing evenly among 12,288
# words would cost ln 12,288 = 9.4.)
#
# Michel et al. found the same in large models: a fifth (in a translation model) to two fifths (in BERT) of all heads
# could go together without a noticeable loss. They ranked the heads by a gradient, which needs one backward pass
# instead of one test for each head.
#
# </details>
#
# Careful with the conclusion "this head is not needed": other heads may do its work when it is missing.
#
# ### Touch it
#
# The next cell opens `world-tiny`, a BERT of two layers with two heads, where heads can be switched off. Guess first:
# how many of its four heads must you take away, until it no longer knows what is spoken in Brazil?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

asked = {"view": "change", "text": "The people of Brazil speak Portuguese.", "masks": "6"}
explorable("playground", checkpoint="world-tiny", address=asked)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# One is enough. Without head 2 of layer 2 the answer is *english*: the model still knows that a language is asked for,
# but no longer of which country. Without head 1 of layer 2 nothing changes. In layer 1, without head 1
# the answer is less sure, without head 2 it is no language any more (*in*), and without both no word is probable.
#
# </details>
#
# ## Activation patching (optional)
#
# Ablation asks what is lost without a part. **Activation patching** (also called **causal tracing** or **interchange
# intervention**) asks more precisely: *which information* does this vector carry? It needs three runs.
#
# ![Three runs. Clean: He shut the MASK and sat down prefers door. Corrupted: He wrote the MASK and sat down hardly does. Patched: the corrupted text, but one vector, here that of the word the after layer 1, is taken from the clean run.](pictures/09_three_runs.svg)
#
# We rescale the difference of the two scores (the **logit difference**): 0 means that the patch changed nothing, 1 that
# it restored the clean run's preference. If one vector restores it, that vector carries the information which verb it
# was.

# %%
PAIR = "shut wrote door letter"  # the two verbs, and an object for each of them


@torch.no_grad()
def preferences(pair):  # the logit differences at [MASK]: clean, corrupted, patched
    clean, corrupted, *answers = pair.split()
    rows = [f"He {verb} the [MASK] and sat down ." for verb in (clean, corrupted, corrupted)]
    logits = run(model, tokenizer(rows)).prediction_logits[:, 4]  # [3, V]; [MASK] is token 4
    one, other = tokenizer.convert_tokens_to_ids(answers)
    return (logits[:, one] - logits[:, other]).tolist()


# %%
def after_layer(layer, token):  # a hook that patches this vector (layer 0: the input)
    def patch(module, inputs, output):
        vectors = output if layer == 0 else output[0]  # [3, T, D]; a layer returns a pair
        vectors[2, token] = vectors[0, token]  # from the clean run

    module = [model.bert.embeddings, *model.bert.encoder.layers][layer]
    return module.register_forward_hook(patch)


def restored(pair, hook):  # the share of the difference, with this hook
    clean, corrupted, patched = preferences(pair)
    hook.remove()
    return (patched - corrupted) / (clean - corrupted)


# %% [markdown]
# The next cell patches each layer and each token. Guess: after which layer has most of the information reached
# [MASK]?

# %% tags=["guess"]
print("clean {:+.1f}, corrupted {:+.1f}".format(*preferences(PAIR)))
print(" " * 8, *(f"{token:>6}" for token in "He shut the [MASK] and sat down .".split()))
for layer, name in enumerate(["input", "layer 1", "layer 2", "layer 3", "layer 4"]):
    numbers = [restored(PAIR, after_layer(layer, token)) for token in range(1, 9)]
    print(f"{name:8}", *(f"{number:6.2f}" for number in numbers))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The first and the last row are fixed by the method, so they check it: at the input only the verb differs, and after
# the last layer the answer is computed from the vector of [MASK] alone. After layer 1 no single vector restores
# everything: the verb 0.46, *the* 0.27, [MASK] 0.12. After layer 2, [MASK] alone restores 0.59, and layer 3 adds
# nothing (0.57). The rest comes from the other tokens in layer 4. (The numbers of a row need not sum to 1, because the
# parts interact.)
#
# </details>
#
# How did the verb reach *the*? The suspect is head 1 of layer 1, which attends to the previous token. The next cell
# patches *the* *without* each head of layer 1, and patches each head's output *alone*, on average over eight pairs of verbs. Guess: will the suspect stand out?

# %%
PAIRS = [PAIR, "opened read door letter", "closed wrote door letter", "shut read door letter"]
PAIRS += ["opened wrote door letter", "rode wrote horse letter"]
PAIRS += ["lit drank lamp wine", "drank read wine letter"]


def in_head(head, token):  # a hook that patches the output of one head of layer 1, or of all
    d = slice(None) if head is None else slice(64 * head, 64 * head + 64)

    def patch(module, inputs):
        inputs[0][2, token, d] = inputs[0][0, token, d]

    return model.bert.encoder.layers[0].attention.output.register_forward_pre_hook(patch)


def three_numbers(head):  # means over the pairs; token 3 is "the"
    with heads.without_heads(model, [] if head is None else [(0, head)]):
        without = np.mean([restored(pair, after_layer(1, 3)) for pair in PAIRS])
        runs = np.array([preferences(pair) for pair in PAIRS])
    alone = np.mean([restored(pair, in_head(head, 3)) for pair in PAIRS])
    return f"{without:10.2f}{(runs[:, 0] - runs[:, 1]).mean():18.1f}{round(alone, 2) + 0:8.2f}"


# %% tags=["guess"]
print(f"{'':10}   without clean - corrupted   alone")
for head in (None, 0, 1, 2, 3):
    name = "all heads" if head is None else f"head {head + 1}"
    print(f"{name:10}{three_numbers(head)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In the column *without* (the patch at *the*, with one head ablated) head 1 seems guilty: 0.14 instead of 0.34, and
# 0.27 to 0.40 without one of the others.
#
# But an ablation also changes the clean and the corrupted run, between which we rescale (their distance, 3.4, becomes
# 2.0 to 4.6), so these shares can't be compared well. The column *alone* avoids this: all heads stay, and we patch the
# output of *one* head at *the*. Now heads 1 and 4 both restore 0.14, and the other two nearly nothing. (Head 4 too
# attends from *the* to *shut*, with a weight of 0.49.) So the information reaches *the* through two heads, and our
# suspect is only one of them.
#
# Vig et al. (2020) used such interventions to study gender bias, and Meng et al. (2022) to locate facts in GPT
# models. The result depends on how you corrupt the text and how you measure (Zhang and Nanda 2024), so report both.
#
# </details>
#
# ## A word in context
#
# In [chapter 02](02_input_embeddings.ipynb) every *bank* entered BERT with the same vector, except for its position.
# What comes out? We follow it through the layers of four sentences, two about rivers and two about money, in which
# *bank* stands at the same position.
#
# ![Cosines of bank in four sentences. At the input all are 1. After layer 1 they differ, and not yet by sense. After layer 4 both pairs of one sense are closer than any pair of two senses.](pictures/09_bank_parts.svg)
#
# Run the cell, and move the slider from layer 0 to 4. The color is the sense.

# %% tags=["nbval-ignore-output"]
from bertedu.visualization.widgets import word_in_context

four_banks = [texts[i] for i in (0, 1, 10, 19)]
word_in_context(model, tokenizer, four_banks, "bank", ["river", "river", "money", "money"])

# %% [markdown]
# Four sentences prove nothing. The next cell compares *spring* (the season, or the water) in all pairs of its
# sentences: the closest pair with **two** senses, and the most distant pair with **one**. Guess: which cosine is
# higher?

# %%
import random

from torch.nn.functional import normalize

from bertedu.interpretation import contexts
from bertedu.interpretation.nearest_mean import nearest_mean_accuracy


def vectors_of(model, word):  # [N, L + 1, D], the senses, the sentences
    rows = [row for row in senses if row["word"] == word]
    sentences = [row["sentence"] for row in rows]
    vectors = contexts.word_vectors(model, tokenizer, sentences, word)
    return vectors, [row["sense"] for row in rows], sentences


# %% tags=["guess"]
vectors, labels, sentences = vectors_of(model, "spring")
unit = normalize(vectors[:, -1], dim=-1)  # [N, D], the last layer
cosines = unit @ unit.T  # [N, N]
same = torch.tensor([[a == b for b in labels] for a in labels])
high = divmod(int(cosines.masked_fill(same, -1).argmax()), len(labels))  # row, column
low = divmod(int(cosines.masked_fill(~same, 2).argmin()), len(labels))
for name, (i, j) in {"two senses": high, "one sense": low}.items():
    print(f"{name}: cosine {cosines[i, j]:.2f}\n   {sentences[i]}\n   {sentences[j]}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The pair with two senses has the higher cosine. If you show this pair, you "prove" that BERT can't distinguish the
# senses of *spring*. With another pair, you "prove" the opposite. Two sentences differ in their length, in the
# neighbors, in the position of the word.
#
# </details>
#
# Only averages say something about senses. We have 10 sentences for each of two senses of five words, and a classifier,
# the **nearest mean**: average the vectors of each sense, and assign a sentence to the nearer mean (by cosine). The
# sentence must not be part of the mean that it is compared with, so we leave it out (**leave-one-out**).
#
# ![Ten sentences of each sense. One of each is left out, and the means of the other nine are computed. A sentence that was left out is compared with the two means.](pictures/09_left_out.svg)
#
# There is a trap: if we left out only that one, its own sense would have a mean of 9 vectors, not 10, and seem farther
# away. So we leave out **one of each sense**, and average over all choices. Labels that mean nothing get 50 % on
# average.
#
# How noisy is this accuracy? We shuffle the labels 500 times: a **permutation test**. Guess: how far from 50 % do meaningless
# labels get?

# %% tags=["guess"]
vectors, labels, _ = vectors_of(model, "bank")
last, rng = vectors[:, -1], random.Random(0)  # the last layer
shuffled = [nearest_mean_accuracy(last, rng.sample(labels, 20)) for _ in range(500)]
real = nearest_mean_accuracy(last, labels)
names = ("real labels", "shuffled: highest", "shuffled: mean", "shuffled: standard deviation")
numbers = (real, max(shuffled), np.mean(shuffled), np.std(shuffled))
for name, number in zip(names, numbers):
    share = about(f"bank, {name}", number, within=0.03)
    print(f"{name:28} {share:.0%}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With shuffled labels, *bank* has a standard deviation of 14 points, more than the 11 of 20 coin tosses: the sentences
# share the two means, so they are right or wrong together. So 70 % for a single word may be chance, but none
# of the 500 shuffles reached the 95 % of the real labels. (The mean of five words is less noisy: by a factor of √5,
# about 6 points, if the other words are as noisy as *bank*.)
#
# </details>
#
# Two baselines: a **bag of words** says which words the sentence contains.

# %%
import re


def bag_of_words(sentences):  # [N, number of different words], 1 where the word occurs
    bags = [set(re.findall(r"\w+", sentence.lower())) for sentence in sentences]
    words = sorted(set().union(*bags))
    return torch.tensor([[word in bag for word in words] for bag in bags]).float()


# %% [markdown]
# **Other words** is the mean of the input embeddings of the *other* words in the sentence. It needs no layer of BERT.


# %%
def other_words(sentences, word):  # [N, D]
    table, rows = model.bert.embeddings.token.weight.detach(), []
    for sentence in sentences:
        encoding = tokenizer(sentence)
        pairs = zip(encoding.input_ids[0].tolist(), encoding.tokens[0])
        ids = [i for i, token in pairs if i >= 5 and token.lower() != word]  # no [CLS], [SEP]
        rows.append(table[ids].mean(dim=0))
    return torch.stack(rows)


# %% [markdown]
# Now all words and layers, and the untrained model (last layer). The picture shows the mean cosine of pairs within a
# sense, minus that across the senses. Guess: how much better than the baselines are the layers?

# %%
from bertedu.visualization.layers import cosines_by_layer

columns = ["bag of words", "other words", "untrained", "input"]
columns += [f"layer {i}" for i in range(1, 5)]


def line(name, numbers):
    return f"{name:8}" + "  ".join(f"{x:{len(c)}.0%}" for x, c in zip(numbers, columns))


# %% tags=["guess"]
gaps, table = {}, []

print(" " * 8 + "  ".join(columns))
for word in dict.fromkeys(row["word"] for row in senses):
    vectors, labels, sentences = vectors_of(model, word)
    cosines = contexts.mean_cosines(vectors, labels)
    gaps[word] = cosines["within"] - cosines["across"]  # [L + 1]
    inputs = [bag_of_words(sentences), other_words(sentences, word)]
    inputs += [vectors_of(untrained, word)[0][:, -1], *vectors.unbind(dim=1)]
    table.append([nearest_mean_accuracy(x, labels) for x in inputs])
    print(line(word, table[-1]))
means = zip(columns, torch.tensor(table).mean(dim=0))
print(line("mean", [about(f"senses by {c}", m, within=0.02) for c, m in means]))
cosines_by_layer(gaps, "Cosine within a sense minus cosine across senses", "difference")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Look at the line with the mean. After layers 2 to 4 the senses are separated in 91 to 93 % of the comparisons. The bag
# of words has 64 % and the untrained model 49 %. But look at *other words*: 85 % without any layer. So most of what
# separates the senses here is which words stand around, together with a table of embeddings in which pre-training has
# put similar words close together. It suffices for *key* (98 %), which opens doors in the novels and belongs to a
# dictionary in the documentation. The layers put all this into *one* vector, that of the word itself, and gain five to
# eight points, more than half of it with *light*: with five words, no more than a hint.
#
# The gaps in the picture are small (below 0.2), and still the nearest mean is right in more than nine of ten cases: it
# only asks which of two cosines is higher. That is how the gap of *key* can fall in layer 3 while its accuracy stays
# at 100 %.
#
# The column *input* is a control too. There, a word's vector contains only the word and its position. Where it is far
# above 50 % (*light*), the position alone may give the sense away. Or it is noise: *spring* is even farther below. And
# don't rank the layers 2 to 4 by 2 points: *spring* is best in layer 2, *light* and *letter* in layer 4.
#
# </details>
#
# **Here the second sitting ends.** You can read the senses of a word from its vectors, and say what a baseline reads
# from the words around it. The third sitting is the proof and "Broken BERT", after three optional sections.

# %% [markdown]
# ## Probes, and what they can memorize (optional, with exercise 9.4)
#
# Does a layer *know* which words are nouns? A **probe** is a small classifier on frozen vectors. If it succeeds, the
# information was in them. Or was it? A probe with 256 inputs can also **memorize** that *table* is a noun. Hewitt and
# Liang (2019) therefore train the same probe on a **control task**: every word *type* gets a random label.
#
# ![Four words in context. Their part of speech depends on the context: a long walk, they walk home. The label of the control task is random and the same wherever the word stands, so it can only be learned by heart.](pictures/09_memory.svg)
#
# What the probe gets right of these beyond chance, it has memorized. The accuracy minus the accuracy on the control
# task is the **selectivity** of the probe.
#
# ### Exercise 9.4 · Random control labels
# ●●○○ · 10 minutes
#
# Write `my_control_labels(words, number_of_labels, seed)`. For a list of words it returns a list with one label for
# each word, from 0 to `number_of_labels` − 1, drawn at random once for each *type*. The same word gets the same label
# everywhere (treat upper and lower case alike), and also in another list with the same seed, perhaps after a restart
# of Python. Another seed gives other labels. `random.Random(x)` is a generator that you can seed with any number or
# string x.


# %% tags=["exercise"]
def my_control_labels(words, number_of_labels, seed=0):
    ### BEGIN SOLUTION
    def draw(word):
        return random.Random(f"{seed} {word.lower()}").randrange(number_of_labels)

    return [draw(word) for word in words]
    ### END SOLUTION


check("9.4", my_control_labels)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# A generator that is seeded with the word and the seed draws the same label whenever the word comes up, in any list.
# The package's `control_labels` does the same. A dictionary that is filled when a type occurs for the first time
# looks right too. But then the label depends on the words before it, and the test set contradicts the training set.
# And if you drew a label for each *token*, no probe could memorize the labels, and the selectivity would always look
# excellent. Don't use `hash(word)`: Python salts it, so after a restart the labels are others.
#
# </details>

# %% [markdown]
# Most of our tagged sentences come from a small grammar: grammatical but meaningless, so meaning can't help.

# %%
from bertedu.interpretation import probing

with open(data_path("looking_inside/tagged.txt"), encoding="utf-8") as file:
    lines = [line.split() for line in file if not line.startswith("#")]
tagged = [[tuple(piece.rsplit("/", 1)) for piece in line] for line in lines]  # word, tag
everything = probing.tagged_vectors(model, tokenizer, tagged)
words = np.array([word.lower() for word in everything.words])
tags = np.array(everything.labels)
even = np.array([n % 2 == 0 for n, pairs in enumerate(tagged) for _ in pairs])  # sentences
types = sorted(set(words))
both = sorted(set(words[tags == "NOUN"]) & set(words[tags == "VERB"]))
print(f"{len(tagged)} sentences, {len(types)} types, {len(both)} of them noun and verb")
print("for instance:", *both[:6])

# %% [markdown]
# We ask for the **part of speech**: noun, verb, adjective or adverb. Three splits are harder and harder to solve by
# memory: **other sentences** (most test words occur in training), **new words** (none does), and **ambiguous words**
# such as *walk*, nouns about as often as verbs, also new: the word alone gives 50 %. Two more splits ask for the **kind
# of a name** (person, location or time).

# %%
pos = np.isin(tags, ["NOUN", "VERB", "ADJ", "ADV"])
noun_verb = np.isin(tags, ["NOUN", "VERB"])
name = np.array(["PROPN" in tag for tag in tags])
ambiguous, new = np.isin(words, both), np.isin(words, types[::3])  # every third type is new
splits = {  # what to train on, what to test on
    "other sentences": (pos & even, pos & ~even),
    "new words": (pos & even & ~ambiguous & ~new, pos & ~even & ~ambiguous & new),
    "ambiguous words": (noun_verb & ~ambiguous, noun_verb & ambiguous),
    "names": (name & even, name & ~even),
    "new names": (name & ~new, name & new),
}


def part(keep, source=everything):  # the tokens where keep [N] is True
    index = np.flatnonzero(keep).tolist()
    kept = ([x[i] for i in index] for x in (source.words, source.labels))
    return probing.TaggedVectors(source.vectors[index], *kept)


# %% [markdown]
# A probe that you could write yourself, a linear layer on vectors with mean 0 and standard deviation 1, beside the
# package's, which is scikit-learn's logistic regression.

# %%
from torch.nn.functional import cross_entropy


def my_probe(vectors, labels, test):  # [N, D], N labels, [M, D] -> M predictions
    mean, std = vectors.mean(dim=0), vectors.std(dim=0)
    kinds = sorted(set(labels))
    target = torch.tensor([kinds.index(label) for label in labels])  # [N]
    linear = torch.nn.Linear(vectors.size(1), len(kinds))
    optimizer = torch.optim.AdamW(linear.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(linear((vectors - mean) / std), target).backward()
        optimizer.step()
    return [kinds[i] for i in linear((test - mean) / std).argmax(dim=1).tolist()]


torch.manual_seed(0)
known, test = (part(keep) for keep in splits["new words"])
mine = my_probe(known.vectors[:, 2], known.labels, test.vectors[:, 2])
theirs = probing.Probe().fit(known.vectors[:, 2], known.labels).predict(test.vectors[:, 2])
for name, other in {"right": test.labels, "like the package's probe": theirs}.items():
    agree = np.mean([one == two for one, two in zip(mine, other)])
    print(f"my probe on layer 2: {about(0.99, agree, within=0.05):.0%} {name}")

# %% [markdown]
# Now the probes for all layers (about half a minute on a slow computer). *Majority* is the baseline: always answer the
# most frequent label of the training set. Which of the splits needs the layers?

# %%
from bertedu.course.measured import About

random_vectors = probing.tagged_vectors(untrained, tokenizer, tagged)
# what we expect of the trained model, at the input and in layer 4
expected = {"other sentences": (0.88, 0.98), "new words": (0.96, 1.0), "names": (1.0, 0.98)}
expected |= {"ambiguous words": (0.56, 0.99), "new names": (1.0, 0.95)}
curves = {}
for name, (train, test) in splits.items():
    known, asked = part(train), part(test)
    draws = [probing.probe_layers(known, asked, seed) for seed in range(3)]
    controls = zip(*[[s.control_accuracy for s in scores] for scores in draws])
    before = probing.probe_layers(part(train, random_vectors), part(test, random_vectors))
    curves[name] = {
        "trained": [s.accuracy for s in draws[0]],
        "control": [sum(layer) / 3 for layer in controls],
        "untrained": [s.accuracy for s in before],
    }
    majority = probing.majority_accuracy(known, asked)
    sizes = f"{len(known.words)} words to train on, {len(asked.words)} to test"
    chance = 1 / len(set(known.labels))
    print(f"{name}: {sizes}; majority {majority:.0%}, chance in the control task {chance:.0%}")
    print(" " * 13, *(f"{layer:>7}" for layer in ["input", *"1234"]))
    for curve, values in curves[name].items():
        print(f"   {curve:10}", *(f"{About(value):7.0%}" for value in values))
    for wanted, value in zip(expected[name], curves[name]["trained"][::4]):
        about(wanted, value, within=0.06)

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

figure = new_figure(8.4, 2.4)
for axes, (name, lines) in zip(figure.subplots(1, 5, sharey=True), curves.items()):
    for values, color in zip(lines.values(), (BLUE, ORANGE, GREY)):
        axes.plot(["in", "1", "2", "3", "4"], values, color=color, marker="o", markersize=3)
    axes.set_title(name, fontsize=9)
    axes.set_xlabel("layer", fontsize=9)
    axes.set_ylim(0, 1.03)
    quiet(axes)
figure.axes[0].set_ylabel("accuracy", fontsize=9)
figure.legend(
    axes.get_lines(), lines, loc="outside lower center", ncols=3, fontsize=8, frameon=False
)
told = []
for name, lines in curves.items():
    ends = ", ".join(f"{title} {v[0]:.0%} to {v[-1]:.0%}" for title, v in lines.items())
    told.append(f"{name}: {ends}")
Picture(figure, alt=f"Accuracy of probes from the input to layer 4. {'; '.join(told)}.")

# %% [markdown]
# From the input (left) to layer 4. Read the control and the untrained model first:
#
# - **Other sentences.** 88 % at the input, but 83 % on the control task: it could be mere memory. Higher up, the
#   selectivity rises from 5 to about 50 points.
# - **New words.** Memory is worth nothing here, and still the trained *input* gives 96 %: pre-training has put the parts
#   of speech into the table of embeddings.
# - **Ambiguous words.** Only this split needs context: about half at the input, 90 % after one layer, 100 % after two.
#   *This* is what attention adds.
# - **Names.** The input alone is perfect, even for new names: *Paris* and *London* have occurred beside the same words.
#
# A probe shows that information is *there*, not that the model *uses* it. For that you need an intervention, such as
# ablation or patching.
#
# <details><summary>More about the numbers</summary>
#
# The control task becomes hard in higher layers (49 %) probably because the neighbors have been mixed into the word's
# vector. With new words the untrained table has no order (36 %), and its layers reach 39 % at most, as much as the
# majority (38 %). For names memory would help in the first split (control task 73 %), and can't in the second (36 %,
# one of three labels). There are 41 new names in the test: 5 points are two of them. Their majority is below a third,
# because persons, the most frequent kind in training, are rare among them. And the untrained model reaches 56 %,
# because the position gives much away: persons often begin a sentence, and locations never do.
#
# Tenney et al. (2019) found that BERT-Large solves the classical tasks in their usual order from layer to layer: parts
# of speech first, then syntax, kinds of names, semantic roles, and coreference last. One or two layers for our question
# fit that picture. For the rest, four layers are too few.
#
# </details>
#
# ## Facts in a blank (optional)
#
# Petroni et al. (2019) read facts from BERT by letting it fill in a blank. We ask our own model, and `world-tiny`,
# which was trained only on a small world of facts (chapter 06).

# %%
from bertedu.corpora import load_corpus
from bertedu.pretraining.probes import fact_probe_accuracy


def three_guesses(which, text):
    guesses = fill_mask(*which, text, top=3)[0]
    print(f"{text:38}", ", ".join(f"{word} {p:.0%}" for word, p in guesses))


world, world_tokenizer = open_model(data_path("checkpoints/world-tiny"))
probes = load_corpus("world").fact_probes
known = about(0.98, fact_probe_accuracy(world, world_tokenizer, probes), within=0.02)
print(f"world-tiny answers {known:.0%} of {len(probes)} questions")
mixed, small_world = (model, tokenizer), (world, world_tokenizer)
three_guesses(mixed, "Paris is the capital of [MASK] .")
three_guesses(mixed, "He was emperor of [MASK] .")

# %% [markdown]
# For Paris, our model predicts the right kind of word, but not *France*. After *He was emperor of*, *France* gets 4 %:
# the baseline for Napoleon. Guess: how does each model answer when the sentence says *not*?

# %% tags=["guess"]
for word in ("", "not "):
    three_guesses(mixed, f"Napoleon was {word}emperor of [MASK] .")
for word in ("", "not "):
    three_guesses(small_world, f"the capital of france is {word}[MASK] .")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Of Napoleon our model says *France* (19 %), more than after *He*: so the name matters. But with *not*, *France* keeps
# its 19 %. And the model of the small world still gives *paris* 92 %, now the one wrong answer. It has hardly ever read
# the word *not*; our own model has. (`[UNK]` stands for rare words in a text that it was trained on.) Kassner and
# Schütze (2020) found the same in BERT ("birds cannot [MASK]": *fly*).
#
# </details>
#
# A right answer to one wording does not prove that a fact is known. The control is a wording that must change it.
#
# ## Vectors for sentences (optional)
#
# For a whole sentence we need one vector, for instance the mean of its tokens' vectors. Are sentences with the same
# meaning close to each other? We take 30 pairs of paraphrases.

# %%
from dataclasses import replace

from bertedu.finetuning.pooling import pool  # one vector for a text, without its padding

with open(data_path("looking_inside/paraphrases.tsv"), encoding="utf-8") as file:
    pairs = [(row["one"], row["other"]) for row in csv.DictReader(file, delimiter="\t")]


def sentence_vectors(texts, layer):  # [N, D]
    encoding = tokenizer(texts)
    output = run(model, encoding, output_hidden_states=True).bert
    output = replace(output, last_hidden_state=output.hidden_states[layer].detach())
    return pool(output, encoding.attention_mask, "mean")


# %% [markdown]
# For each layer: the mean cosine of *all* pairs of sentences, that of the *paraphrases*, and how often a sentence's
# paraphrase is the nearest of all (*found*); on the right the same after subtracting the mean vector. Guess first: what
# is the cosine of two sentences that are not related at all?


# %% tags=["guess"]
def found(x):  # the share of the first half whose paraphrase is the nearest of the second
    cosines = normalize(x[:30], dim=-1) @ normalize(x[30:], dim=-1).T
    return (cosines.argmax(dim=1) == torch.arange(30)).double().mean().item()


all_texts = [one for one, _ in pairs] + [other for _, other in pairs]
print(f"bag of words: {found(bag_of_words(all_texts)):.0%} found; by chance {1 / 30:.0%}")
print("layer   all pairs  paraphrases  found   (and the same without the mean vector)")
for layer in range(5):
    vectors = sentence_vectors(all_texts, layer)  # [60, D]
    for x, end in ((vectors, "    "), (vectors - vectors.mean(dim=0), "\n")):
        cosine = torch.cosine_similarity(x[:30], x[30:], dim=-1).mean()
        start = f"{layer:5}" if end != "\n" else ""
        print(f"{start}{contexts.anisotropy(x):11.2f} {cosine:12.2f} {found(x):6.0%}", end=end)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Sentences that have nothing in common have a cosine far above 0, in every layer. All the vectors point roughly in one
# common direction. They are **anisotropic**. Ethayarajh (2019) measured this for words in ELMo, BERT and GPT-2, where
# it generally grows with depth. (In our averages it is largest at the input, 0.92.) If you read "cosine 0.7" as
# "similar", you are reading the common direction.
#
# Subtracting the mean vector removes it. Then all pairs are at about 0 on average. But look at *found*: it gains at
# most 2 of 30 sentences. Centering repairs the scale, not the content. The bag of words had no chance, because these
# pairs were written to have few words in common. The fair baseline is layer 0, a mean of input embeddings: 23 %. The
# last layer finds 60 %.
#
# </details>
#
# Masked language modeling does not teach BERT to put the meaning of a sentence into one vector. That needs training for
# this purpose, and [chapter 13](13_pairs_and_similarity.ipynb) shows it.
#
# ## The proof
#
# Do all these measurements start from the right numbers? We compare the package with `transformers` and with code
# written out here.

# %%
import transformers

with_attention = {"attn_implementation": "eager", "dtype": torch.float32}
theirs = transformers.BertForPreTraining.from_pretrained(folder, **with_attention).eval()
encoding = tokenizer(texts[0])  # one text, so no padding
wanted = {"output_attentions": True, "output_hidden_states": True}
with torch.no_grad():
    ours, reference = run(model, encoding, **wanted), theirs(**encoding, **wanted)


# %%
def largest(one, other):
    return (one - other).abs().max().item()


differences = {}
for name in ("attentions", "hidden_states"):
    layers = zip(getattr(ours, name), getattr(reference, name), strict=True)
    differences[name] = max(largest(*pair) for pair in layers)

shares = torch.eye(encoding.input_ids.size(1))
for weights in reference.attentions:
    shares = (0.5 * weights[0].mean(dim=0) + 0.5 * torch.eye(len(shares))) @ shares  # [T, T]
differences["rollout"] = largest(shares, rollout.attention_rollout(ours.attentions)[-1, 0])
position = encoding.tokens[0].index("bank")
package = contexts.word_vectors(model, tokenizer, texts[:1], "bank")[0, -1]
differences["word"] = largest(package, reference.hidden_states[-1][0, position])

ablated = copy.deepcopy(model)
ablated.bert.encoder.layers[1].attention.output.weight.data[:, 2 * 64 : 3 * 64] = 0  # d = 64
with torch.no_grad(), heads.without_heads(model, [(1, 2)]):
    one, other = (run(which, encoding).prediction_logits for which in (ablated, model))
differences["ablated head"] = largest(one, other)
print(f"{', '.join(differences)}: largest difference {max(differences.values()):.4f}")

# %% [markdown]
# ## Broken BERT: vectors that depend on the batch
#
# A colleague removes duplicates from a collection of sentences: two sentences are the same if the cosine of their
# vectors is above 0.99. With one sentence at a time it worked. Since the sentences are embedded in batches, some
# copies of the same sentence stay. The log contains a clue: it is mostly short sentences whose copies are not found,
# and the larger the batch, the more.
#
# The next cells embed a sentence alone, and again in a batch with a longer and longer text.


# %%
def mean_of_tokens(states, attention_mask):  # [B, T, D], [B, T] -> [B, D]
    return states.mean(dim=1)


def embed(texts, mean):  # [B, D]
    encoding = tokenizer(texts)
    states = run(model, encoding).bert.last_hidden_state.detach()
    return mean(states, encoding.attention_mask)


# %%
alone = embed(texts[:1], mean_of_tokens)[0]
for count in (1, 2, 4, 8):
    in_batch = embed([texts[0], " ".join(texts[:count])], mean_of_tokens)[0]
    cosine = torch.cosine_similarity(alone, in_batch, dim=0)
    print(f"beside a text of {count} sentences: cosine with itself {cosine:.2f}")

# %% [markdown]
# It should be 1.00 in every line. Find the line with the bug, and repair it.
#
# ### Exercise 9.5 · A mean of real tokens
# ●●●○ · 12 minutes
#
# Write `masked_mean(states, attention_mask)`, with the same two inputs as `mean_of_tokens`. A sentence should get the
# same vector in every batch. What about a sequence that is all padding? Return zeros for it, not NaN. The result has
# the dtype of the states, also where that is float16. Afterwards try `embed(texts[:1], masked_mean)`, and the same
# sentence beside a long text.


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
# ![One entry of the vectors of a short text in a batch: real tokens and padding have numbers alike. The mean of all differs from the mean of the real tokens, which is what the sentence should get.](pictures/09_two_means.svg)
#
# Padding tokens have vectors too. The attention mask only keeps other tokens from attending to them, and nothing
# keeps us from averaging them. So multiply by the mask, and divide by the number of real tokens of each sentence.
# `clamp_min(1)` makes the result 0 if there are none. The mask gets the dtype of the states, so that float16 stays
# float16.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# <details><summary>Where the papers, transformers and this course differ</summary>
#
# | | |
# |---|---|
# | Patterns of heads | Clark et al. (2019), sections 3 and 4, on BERT-Base. Single heads find direct objects, determiners, objects of prepositions and of possessive pronouns with an accuracy over 75 %. We don't test that here. *Itself* is our measure; they only mention that most heads give the current token little weight |
# | Rollout | Abnar and Zuidema (2020), section 3: ½ A + ½ I, averaged over the heads. They follow [CLS] in a classifier, and also [MASK] in a pre-trained BERT, which has to choose between *his* and *her* (figure 4). We follow [MASK] |
# | Ablating a head | Michel et al. (2019) multiply a head by a mask variable ξ and set it to 0. That equals zeroing its columns of the output projection. Older versions of `transformers` had `prune_heads`, which cuts the matrices |
# | Activation patching | Vig et al. (2020) on GPT-2, Meng et al. (2022) as causal tracing in GPT models. Replacing a clean vector by a corrupted one is the other direction and asks whether the vector is *necessary* |
# | Gradient × input | It has a sign, and it is wrong where the function is curved. Integrated gradients (Sundararajan et al. 2017) repair this, but depend on the baseline: zeros, [PAD] and [MASK] give different results |
# | Control tasks | Hewitt and Liang (2019), on ELMo: linear probes are far more selective than probes with a hidden layer. For parts of speech, layer 1 had the better accuracy and layer 2 the better selectivity. They draw random labels as often as the real tags occur; we draw each label equally often, so chance is 25 % in our control task and 37 % in the real one (first split). Our probe is logistic regression with an L2 penalty |
# | Anisotropy | Ethayarajh (2019) subtracts the mean cosine of random pairs from each cosine. We subtract the mean vector, as Mu and Viswanath (2018) do, who also remove the strongest common directions |
# | `transformers` | `output_attentions=True` needs `attn_implementation="eager"`: fused kernels (one program for all steps of attention) never store the weights (chapter 03). Our file is in float16, and `transformers` (since version 5) opens it in float16 unless you ask for `dtype=torch.float32`. In float16 the numbers agree to two decimals only |
#
# </details>
#
# ## Summary
#
# ![Six claims, each with the control that it needs: what a head attends to, an untrained model of the same initialization; an explanation, removing the word; a needed head, the other half of the sentences; a patched vector, other pairs; senses, shuffled labels; a probe, random labels and new words.](pictures/09_controls.svg)
#
# - A picture of attention is a fact about weights, not yet a reason for an answer. To find the reason, intervene.
# - Which tokens a head attends to is one question, whether the model needs it is another. Most heads can be ablated
#   alone.
# - Word vectors contain senses and parts of speech. Shuffled labels, control tasks and honest splits show how much of
#   that is real, and how much the words around or the word itself already say.
#
# ## Quiz
#
# Some questions belong to optional sections.

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(9)

# %% [markdown]
# ## Interview questions
#
# <!-- evaluation-07 -->
# **1. A colleague shows an attention map: the model gave this answer because of this word. What do you ask, and can
# you show that the weights needn't be unique?**
#
# <details><summary>Answer in half a minute</summary>
#
# Which layer and head, and why this one of 144? Does the answer change if the word is masked, more than with other
# words? Does it hold over many examples? And the weights aren't unique: with more than d + 1 tokens, d the size of a
# head, different weights can give exactly the same output. The map is a hypothesis, the intervention is the test.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First, how was it chosen? BERT-Base has 144 heads, and some map fits any story. Second, what is the vector at that
# position? In upper layers it is a mixture of the whole text, so attention to the position of "not" isn't attention
# to the word "not". Third, weight isn't effect: the head adds α times v, and a large weight on a short value vector
# adds nothing. Heads put much weight on `[SEP]`, whose values are small.
#
# Fourth, in a long text the weights aren't even determined by the output. Take d = 1 and three tokens with the values
# 1, 2 and 3. The weights ⅓, ⅓, ⅓ give the output 2, and so do ½, 0, ½. In general the output is a sum of α\_i v\_i
# over T tokens, in d dimensions, usually 64. That is d equations, plus one because the weights sum to 1, for T
# unknowns. If T is larger than d + 1, I can change the weights a little and get exactly the same output. So two
# different maps go with the same answer, and the map alone can't be the reason for it. Brunner et al. call this the
# identifiability of attention. In a text of up to 65 tokens the weights are usually unique.
#
# What I'd ask for is an intervention: mask the word, or remove it, and compare the change of the answer's logit with
# the change for each of the other words, over hundreds of texts, as a rank correlation with the weights. The controls
# are random scores and distance.
#
# In the literature Jain and Wallace found low agreement with gradients, and other weights with the same prediction.
# Wiegreffe and Pinter answered that it depends on what an explanation has to do, and that such other weights must be
# ones that a model could learn. So I'd say: plausible to a reader isn't faithful to the model. The map may be right,
# and it's a hypothesis.
#
# </details>
#
# <!-- evaluation-06 -->
# **2. A probe reads parts of speech from layer 6 with an accuracy of 97 %. What does this show?**
#
# <details><summary>Answer in half a minute</summary>
#
# Little by itself. I need the same probe on the input embeddings, on an untrained model, and on a control task in
# which every word type has a random label. A probe that also solves the control task has memorized words. And even a
# selective probe shows that the information is there, not that the model uses it. That needs an intervention.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A probe is a classifier on frozen vectors. A high accuracy can come from three sources: the layer, the word itself,
# and the probe. So I ask for comparisons.
#
# First, what does the most frequent tag of each word get? For English that is above 90 %, so 97 % means less than it
# sounds. Second, the same probe on the input embeddings, layer 0: the difference is what context brings. Third, an
# untrained model with the same architecture: random vectors still tell words apart, and a probe can learn from those.
#
# Fourth, a control task, from Hewitt and Liang: give each word type a random label, the same for each occurrence.
# There's nothing linguistic to find, so whatever accuracy the probe reaches there is its own memory. The difference
# between the real task and the control task is the selectivity. They found that linear probes are far more selective
# than probes with a hidden layer, at nearly the same accuracy. Fifth, the split: new sentences with the same words
# test memory. Hold out word types as well.
#
# And then the larger point: readable isn't used. The vectors hold much that no later layer reads. To claim use, I
# must intervene: remove the direction that the probe found, or swap it between two sentences, and see whether the
# model's answers change as predicted, and other answers don't. I'd also compare layers only with the same probe, and
# report selectivity for each layer. The best layer by accuracy and the one by selectivity may differ: on ELMo they
# did.
#
# </details>
#
# <!-- retrieval-04 -->
# **3. All cosines between BERT's sentence vectors lie above 0.7. Why, what do you repair, and what can't you repair
# that way?**
#
# <details><summary>Answer in half a minute</summary>
#
# The vectors share a large common direction: they are anisotropic, often because of a few dimensions with very large
# values. So every cosine is high, and 0.8 means nothing by itself. Subtracting the mean vector repairs the scale of
# the cosines. It doesn't make a good order of neighbours: BERT was never trained for cosines. So train contrastively,
# on pairs of texts.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Think of each vector as a common part plus an individual part. If the common part is much longer, all vectors point
# in nearly the same direction, and every cosine is close to 1. This is called anisotropy. Ethayarajh measured it in
# 2019: in BERT, ELMo and GPT-2 the contextual vectors of all words occupy a narrow cone, in every layer. Often a few
# dimensions with very large values make most of the cosine.
#
# Three consequences. A threshold such as 0.8 has no meaning by itself: compare with the cosine of random pairs of
# your texts. The ranking may still be right, since the common part is added to all. And plots and clusters look
# compressed. The simple repair is to subtract the mean vector, estimated on your own texts, perhaps also the
# strongest principal components, the directions in which the vectors differ most. Then random pairs have a cosine
# near 0.
#
# What this doesn't repair is the order: masked language modelling never compared two sentences. Reimers and Gurevych
# found a Spearman correlation of 46.4 for the mean of BERT's tokens on the STS benchmark, and 16.5 for `[CLS]`, where
# averaged GloVe vectors reach 58.0. Contrastive training repairs both: it draws paired texts together and pushes the
# negatives, all other texts, apart. Before all this I check a simpler cause: padding in the mean makes vectors alike,
# too.
#
# </details>
#
# ## Next
#
# You have looked at what pre-training put into the vectors. Next you will use them: an output layer for a task and a
# few minutes of training, and BERT tells good reviews from bad ones. That is
# [10 · Text classification](10_text_classification.ipynb).
