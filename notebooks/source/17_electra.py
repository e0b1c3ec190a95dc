# %% [markdown]
# # 17 · ELECTRA
#
# BERT learns from 15 % of the tokens that it reads. ELECTRA learns from all of them: a small model puts wrong words
# into the text, and a large one has to find them. You will build both, prove that they are right, and train them.
#
# ## What you will be able to do
#
# - explain replaced-token detection, and why it gives a training signal at every token
# - sample from a softmax with the Gumbel-max trick, and say why no gradient passes through a sample
# - write the labels and the loss of ELECTRA, with lucky guesses and padding treated as in the paper
# - say why ELECTRA is not a GAN, what its two models share, and where the weight of 50 matters
# - read a small comparison of pre-training tasks without believing more than it shows
#
# **Time:** 60 minutes for the core path, about 100 minutes with everything ·
# **You need:** [16 · ALBERT and DistilBERT](16_albert_and_distilbert.ipynb) ·
# **Next:** [18 · DeBERTa and XLNet](18_deberta_and_xlnet.ipynb)
#
# Sections marked (optional) are not part of the core path. You can come back to them another day.
#
# ## Recall
#
# 1. In ALBERT an embedding has E numbers, and a token has D. What lies between the two?
#
# <details><summary>Answer</summary>
#
# One linear layer, from E to D. ELECTRA's small model has the same one, with E = 128 and D = 256.
#
# </details>
#
# 2. At which tokens does DistilBERT's student learn what its teacher predicts?
#
# <details><summary>Answer</summary>
#
# At every real token, and at each of them it learns a whole distribution over the vocabulary. Its masked-word loss
# asks only for the masked tokens.
#
# </details>
#
# 3. What does the label −100 mean in masked language modeling ([chapter 06](06_masked_language_model.ipynb))?
#
# <details><summary>Answer</summary>
#
# Nothing is asked at this token. The loss is a mean over the other tokens, those that were chosen for masking.
#
# </details>
#
# ## Where this part sits
#
# The encoder stays BERT's. New is what surrounds it in pre-training. The next cell draws it: a **generator** fills in
# the masked words, and the **discriminator** reads the result and says of each token whether it was replaced. The
# discriminator is ELECTRA. The generator is thrown away after pre-training.

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

rows = [("text", "the capital of norway is oslo"), ("masked", "the capital of [MASK] is [MASK]")]
rows += [("sampled", "the capital of sweden is oslo")]
rows += [("labels", "original original original replaced original original")]
figure = new_figure(7.6, 2.9)
axes = figure.subplots()
axes.set(xlim=(-1.6, 5.6), ylim=(-4.4, 0.5))
axes.axis("off")
for y, (name, line) in zip((0, -1, -2.6, -4.2), rows):
    axes.text(-1.5, y, name, color=GREY, fontsize=9, va="center")
    for x, word in enumerate(line.split()):
        color = ORANGE if word in ("sweden", "replaced") else BLUE if word == "[MASK]" else INK
        axes.text(x, y, word, ha="center", va="center", fontsize=9, color=color)
for y, name in ((-1.8, "generator: a small masked language model"), (-3.4, "discriminator: ELECTRA")):
    box = {"boxstyle": "round,pad=0.4", "color": GREY if y > -2 else BLUE}
    axes.text(2.5, y, name, ha="center", va="center", color="white", fontsize=9, bbox=box)
Picture(
    figure,
    alt="The capital of Norway is Oslo. Norway and Oslo are masked. The generator fills in "
    "Sweden and Oslo. The discriminator has to label Sweden as replaced and every other token, "
    "Oslo too, as original.",
)

# %% [markdown]
# ## Most tokens are not asked
#
# We need a text and a trained BERT. The text is the part of the small world that is about countries; the BERT is the
# course's *world-tiny*, which was trained on the whole small world. The next cell loads both. It keeps sentences from
# other documents, `new_texts`, to test on. (Generating the world takes some seconds.)

# %%
import torch
from torch import nn

from bertedu.corpora.world import world_corpus
from bertedu.course import about, check, data_path, hint, quiz
from bertedu.inference import open_model

bert, tokenizer = open_model(data_path("checkpoints/world-tiny"))
MASK, V = tokenizer.mask_token_id, len(tokenizer)
corpus = world_corpus()


def about_countries(documents):  # all different sentences, in the order of the alphabet
    found = [doc.sentences for doc in documents if doc.source == "country"]
    return sorted({sentence for sentences in found for sentence in sentences})


train_texts = about_countries(corpus.train)
new_texts = about_countries(corpus.heldout["held-out documents"])
train_ids, new_ids = tokenizer(train_texts).input_ids, tokenizer(new_texts).input_ids  # [B, T]
print(f"{len(train_texts)} sentences to train on, {len(new_texts)} new ones, V = {V}")
print(*train_texts[::700], sep="\n")

# %% [markdown]
# `masked_batch` chooses 15 % of the tokens, as in chapter 06, with one difference. BERT treats them 80/10/10. ELECTRA
# shows [MASK] for 85 % of them, and leaves 15 % as they are. It puts in no random words, because its generator will
# soon provide better ones. (`sample_at` holds a random number for each token. We need it later.)
#
# The second cell asks a question about BERT: at which tokens does the loss of masked words give the last layer a
# gradient? And at how many of the tokens that BERT *reads* does a gradient arrive, at their embeddings? Guess both
# shares first.

# %%
from bertedu.pretraining.masking import apply_masks, draw

KINDS = {"special_tokens": 2, "mask_share": 0.85, "random_share": 0.0}


def masked_batch(ids, generator):  # [B, T]
    real = ids != tokenizer.pad_token_id
    words = real & (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
    draws = draw(ids.shape, V, generator)
    masked, labels = apply_masks(ids, words, 0.15, MASK, draws, **KINDS)  # labels: -100 or the id
    batch = {"input_ids": masked, "attention_mask": real.long(), "labels": labels}
    batch["token_type_ids"] = torch.zeros_like(ids)
    return {**batch, "sample_at": torch.rand(ids.shape, generator=generator)}


# %%
from torch.nn.functional import cross_entropy

batch = masked_batch(train_ids[::48], torch.Generator().manual_seed(0))
chosen, real = batch["labels"] != -100, batch["attention_mask"].bool()  # [B, T]
inputs = []
hook = bert.bert.embeddings.register_forward_hook(lambda *call: inputs.append(call[2]))
vectors = bert.bert(batch["input_ids"], batch["attention_mask"]).last_hidden_state  # [B, T, D]
hook.remove()
loss = cross_entropy(bert.masked_lm(vectors[chosen]), batch["labels"][chosen])
print(f"{int(real.sum())} tokens, {int(chosen.sum())} of them chosen")
for name, tensor in {"last layer": vectors, "embeddings": inputs[0]}.items():
    (gradient,) = torch.autograd.grad(loss, tensor, retain_graph=True)
    share = (gradient.abs().sum(-1) > 0)[real].double().mean().item()
    print(f"a gradient arrives at {share:.0%} of the tokens: {name}")

# %% [markdown]
# The last layer is trained at about one token in seven, at those that were chosen. To all others the loss says
# nothing: BERT computes their vectors, and nobody asks for them. (They are not useless. The chosen tokens attend to
# them, so a gradient reaches all embeddings. Clark et al. 2020, section 3.5, note this themselves, and test by
# experiment whether the 15 % matter. We come to that.)
#
# Could we simply mask more? Then less context is left to guess from. Could we ask MLM for *every* token, masked or
# not? Where a word is visible, the answer stands in the input, and copying solves the task (chapter 06).
#
# ELECTRA's idea: change some words, hide none, and ask at every token **is this still the word of the text?** This is
# **replaced-token detection** (RTD). It can't be solved by copying, and there is no [MASK] in the input of the model
# that we keep, so the mismatch between pre-training and fine-tuning is gone too.
#
# ## Random words are too easy
#
# Which words should we put in? Random ones are the simplest. The next cell looks for the simplest way to detect
# them: a token is *suspicious* if it forms a pair with its left or right neighbor that never occurs in the training
# text. It counts the share of suspicious tokens among those chosen in the new sentences: for the original words,
# for random words of the training text, for words drawn by their frequency, and for words that BERT fills in. Guess
# the four shares.

# %%
def neighbor_pairs(ids):  # [B, T] -> [B, T - 1], one number for each pair of neighbors
    return ids[:, :-1] * V + ids[:, 1:]


known = neighbor_pairs(train_ids).unique()
batch = masked_batch(new_ids, torch.Generator().manual_seed(0))
chosen, real = batch["labels"] != -100, batch["attention_mask"].bool()  # [B, T]
with torch.no_grad():
    scores = bert.bert(batch["input_ids"], batch["attention_mask"]).last_hidden_state[chosen]
    scores = bert.masked_lm(scores)  # [N, V]
counts = torch.bincount(train_ids[train_ids > MASK], minlength=V).double()  # [V]
torch.manual_seed(0)
words = {"the original words": new_ids[chosen], "BERT's words": scores.softmax(-1).multinomial(1)}
words["random words"] = (counts > 0).double().multinomial(len(scores), replacement=True)
words["words by frequency"] = counts.multinomial(len(scores), replacement=True)
for name, put_in in words.items():
    strange = ~torch.isin(neighbor_pairs(new_ids.masked_scatter(chosen, put_in)), known)
    suspicious = torch.zeros_like(chosen)  # [B, T]
    suspicious[:, 1:] |= strange
    suspicious[:, :-1] |= strange
    print(f"{name:19} {suspicious[chosen].double().mean().item():.0%} suspicious")

# %% [markdown]
# Nineteen of twenty random words can be found with a list of neighbor pairs. A model that is asked for them learns
# that list and little else, and drawing words by their frequency doesn't change it. BERT's words are as inconspicuous
# as the original ones. To find them, a model has to read more than the neighbors. So the words should come from a
# masked language model.
#
# ## One text by hand
#
# Follow one sentence with the pencil. *Norway* and *Oslo* are chosen and masked. The generator computes a probability
# for each word at each [MASK], and we **sample** one word from each distribution. The samples go into the text at
# the chosen positions. The label of a token is 1 if the word there is another one than in the text, and 0 if not.
#
# The next cell does it with *world-tiny* as the generator. What happens if the generator samples the right word?

# %%
text = tokenizer("The capital of Norway is Oslo.").input_ids  # [1, T]
chosen = (text == tokenizer.vocab["norway"]) | (text == tokenizer.vocab["oslo"])  # [1, T]
masked = text.masked_fill(chosen, MASK)
with torch.no_grad():
    probabilities = bert(masked, masked_positions=chosen).prediction_logits.softmax(-1)  # [N, V]
torch.manual_seed(4)
sampled = probabilities.multinomial(1).squeeze(-1)  # [N]
seen = text.masked_scatter(chosen, sampled)  # [1, T]
replaced = seen != text  # [1, T]
rows = (tokenizer.convert_ids_to_tokens(row[0].tolist()) for row in (text, masked, seen))
for word, hidden, shown, label in zip(*rows, replaced[0].int().tolist()):
    print(f"{word:8} generator reads {hidden:8} discriminator reads {shown:8} label {label}")

# %% [markdown]
# *Norway* was chosen and masked, and the generator sampled *Norway*. This is a **lucky guess**: the word in the text
# is right, so its label is 0, original. Clark et al. (2020, section 2) found that this works moderately better than
# calling it a fake. It is also the only fair question: how could anybody see that this *Norway* was filled in?
#
# The other label shows what can be learned here. *The capital of Norway is Bucharest* is flawless English. To mark
# *Bucharest*, and nothing else, you have to know that it is not the capital of Norway.
#
# ### Exercise 17.1 · Count the ones
# ●○○○ · 3 minutes
#
# A text has 60 tokens, [CLS] and [SEP] included. 15 % of the tokens are chosen: 85 % of those are masked, 15 % are
# shown as they are. For *every* chosen token a word is sampled from the generator, whose samples are right in one of
# three cases. How many tokens have the label 1, on average? (`check` examines your answer, and `hint("17.1")` gives a
# hint.)

# %% tags=["exercise"]
### BEGIN SOLUTION
ones = 6
### END SOLUTION
check("17.1", ones)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# 15 % of 60 are 9 chosen tokens. The share that the generator sees as [MASK] doesn't matter: a word is sampled for
# each of the nine, and put into the text. A third of them are lucky guesses, so 6 tokens are replaced, 10 % of the
# text. Clark, asked why so unbalanced a task works, gave about 6 % for the trained models, because their generators
# are better than ours ([issue 49](https://github.com/google-research/electra/issues/49)). For ELECTRA-Large he masked
# 25 % of the tokens, because too few were replaced (appendix A of the paper).
#
# </details>

# %% [markdown]
# ## Sample, don't take the best
#
# Why do we sample? A generator normally gives its most probable word. The next cell compares the two at the chosen
# tokens of the new sentences, with *world-tiny* as the generator. Then it draws twenty samples at each token and
# counts how many different wrong words the discriminator would meet there. Guess: which way replaces more tokens?

# %%
from bertedu.family.electra_pair import sample_tokens

right = batch["labels"][batch["labels"] != -100]  # [N]
best = scores.argmax(-1)  # [N]
generator = torch.Generator().manual_seed(0)
draws = [sample_tokens(scores, torch.rand(len(right), generator=generator)) for _ in range(20)]
samples = torch.stack(draws)  # [20, N]
for name, filled_in in {"most probable": best[None], "sampled": samples}.items():
    share = (filled_in != right).double().mean().item()
    wrong = [len(set(column.tolist()) - {answer.item()}) for column, answer in zip(filled_in.T, right)]
    print(f"{name:14} {share:.0%} of the chosen tokens replaced,", end=" ")
    print(f"{sum(wrong) / len(wrong):.1f} different wrong words at a token in {len(filled_in)} draws")

# %% [markdown]
# Samples replace more tokens, and they differ from draw to draw: each time the discriminator reads this sentence, it
# meets other mistakes. The most probable word is always the same, and often the right one. (`sample_tokens` is the
# package's function. We write our own now.)
#
# ### The Gumbel-max trick
#
# How do you sample from a softmax? Google's code for ELECTRA adds random noise to the scores and takes the argmax.
# The noise of each word is −ln(−ln u), with a fresh u, equally likely anywhere between 0 and 1. It has the **Gumbel
# distribution**, so this is called the **Gumbel-max trick**.
#
# Do it with a pencil. Three words have the scores 2, 1 and 0, and the random numbers u are 0.1, 0.6 and 0.5. Compute
# −ln(−ln u) for each, add the score, and see which word wins. Then run the cell.

# %%
three = torch.tensor([2.0, 1, 0])
u = torch.tensor([0.1, 0.6, 0.5])
noise = -(-u.log()).log()
for name, numbers in {"scores": three, "noise": noise, "sum": three + noise}.items():
    print(f"{name:7}", "  ".join(f"{number:+.2f}" for number in numbers.tolist()))
print("softmax", "  ".join(f"{number:.2f} " for number in three.softmax(-1).tolist()))

# %% [markdown]
# The second word wins, although the first has the highest score: its noise was small this time. Softmax gives the
# second word a probability of 0.24. Does it win in 24 % of all cases?
#
# ### Exercise 17.2 · Sample by Gumbel
# ●●○○ · 8 minutes
#
# Write `gumbel_sample(scores, u)`. `scores` has the shape `[N, V]`: one row of scores (logits) for each chosen token.
# `u` holds the random numbers, also `[N, V]`. Return the sampled ids, `[N]`. Stuck? `hint("17.2")`


# %% tags=["exercise"]
def gumbel_sample(scores, u):
    ### BEGIN SOLUTION
    return (scores - (-u.log()).log()).argmax(dim=-1)
    ### END SOLUTION


check("17.2", gumbel_sample)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The noise is −ln(−ln u), so "plus noise" is "minus ln(−ln u)". Why does it work? −ln u is the waiting time for an
# event that happens once per unit of time on average (an exponential distribution). If word i comes at the rate pᵢ,
# its waiting time is −ln u / pᵢ, and the word that comes first is word i with probability pᵢ. Taking −ln turns "first"
# into "largest": ln pᵢ − ln(−ln u). And ln p differs from the scores only by a constant, the same for all words.
#
# </details>

# %% [markdown]
# The next cell counts: 10,000 draws for our three words, by argmax, by Gumbel-max, and by `sample_tokens`. The package
# needs only one random number for each token. It lays the probabilities end to end, from 0 to 1, and takes the word
# in whose interval the number lies.

# %%
N = 10_000
torch.manual_seed(0)
many, u = three.expand(N, 3), torch.rand(N, 3)  # [N, V]
ways = {"argmax": many.argmax(-1), "Gumbel-max": (many - (-u.log()).log()).argmax(-1)}
ways["sample_tokens"] = sample_tokens(many, torch.rand(N))
print("softmax       ", "  ".join(f"{p:.3f}" for p in three.softmax(-1).tolist()))
for name, drawn in ways.items():
    print(f"{name:14}", "  ".join(f"{n / N:.3f}" for n in drawn.bincount(minlength=3).tolist()))

# %% [markdown]
# Gumbel-max and `sample_tokens` both follow the softmax, up to the noise of 10,000 draws (about 0.005). Argmax always
# gives the first word.
#
# ## No gradient, and no GAN
#
# A generator, and a discriminator that has to detect its work: that looks like a **GAN**, a generative adversarial
# network (Goodfellow et al. 2014). There, the generator is trained to *fool* the discriminator: the gradient of the
# discriminator's loss passes through the generated picture into the generator. Can that work here? The next cell
# computes a discriminator's loss from a sampled word, and asks which tensors of this small generator a gradient can
# reach.

# %%
torch.manual_seed(0)
logits = torch.randn(4, V, requires_grad=True)  # a generator's scores at N = 4 tokens
picked = (logits - (-torch.rand(4, V).log()).log()).argmax(-1)  # [N]
table = nn.Embedding(V, 8)
discriminator_loss = table(picked).square().sum()
discriminator_loss.backward()
print(f"softmax of the scores: requires_grad {logits.softmax(-1).requires_grad}")
print(f"sampled ids: {picked.dtype}, requires_grad {picked.requires_grad}")
print("gradient of the scores:", logits.grad)
print("rows of the embedding table with a gradient:", int(table.weight.grad.any(-1).sum()))

# %% [markdown]
# The chain ends at `argmax`. Its result is an integer, a position in a list. If you change a score a little, the
# integer stays the same (or jumps), so there is nothing to differentiate. The gradient stops at the embedding of the
# sampled word. It says how that *vector* should change, not which word should have been chosen.
#
# So the generator gets no gradient from the discriminator's loss, and needs none: it is trained by **maximum
# likelihood**, as an ordinary masked language model. It doesn't know that a discriminator exists.
#
# | | GAN | ELECTRA |
# |---|---|---|
# | the generator wants to | fool the discriminator | predict the masked words |
# | gradient from the discriminator | yes, through the generated picture | none: a sampled id has no derivative |
# | input of the generator | random noise | a masked text |
# | a right imitation counts as | fake | original |
# | what is kept | usually the generator | the discriminator |
#
# The authors also tried the adversarial way, with reinforcement learning in place of the missing gradient (section
# 3.2 and appendix F). Such a generator was worse at masked words (58 % right, against 65 % with maximum likelihood),
# it put most of the probability on a single word, and the discriminator that learned from it was worse, though
# still better than BERT.
#
# ## The discriminator
#
# The discriminator is BERT's encoder with a head of its own: a linear layer, GELU, and a linear layer with a single
# output. There is no LayerNorm in it, unlike in the head for masked words, and it is not tied to the embeddings. The
# output is one number for each token, a logit: above 0 means *replaced*.
#
# The next cell defines the head and puts it on an untrained encoder, with a loss at all real tokens. (`binary_…` is
# **binary cross-entropy**, which we compute by hand in a moment.) It repeats the count from the beginning of the
# chapter: at how many tokens does the last layer receive a gradient?

# %%
from torch.nn.functional import binary_cross_entropy_with_logits

from bertedu.family.electra import ElectraConfig, ElectraModel


class MyDetector(nn.Module):
    """[B, T, D] to [B, T]: above 0 where a token seems replaced."""

    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.prediction = nn.Linear(hidden_size, 1)

    def forward(self, vectors):
        return self.prediction(nn.functional.gelu(self.dense(vectors))).squeeze(-1)


# %%
sizes = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 2}
sizes |= {"intermediate_size": 256, "embedding_size": 64, "max_position_embeddings": 32}
no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
config = ElectraConfig(vocab_size=V, **sizes, **no_dropout)
torch.manual_seed(0)
encoder, detector = ElectraModel(config), MyDetector(64)
vectors = encoder(new_ids, real.long()).last_hidden_state  # [B, T, D]
labels = torch.zeros_like(new_ids).double()  # pretend that nothing was replaced
loss = binary_cross_entropy_with_logits(detector(vectors)[real].double(), labels[real])
(gradient,) = torch.autograd.grad(loss, vectors)
share = (gradient.abs().sum(-1) > 0)[real].double().mean().item()
print(f"a gradient arrives at {share:.0%} of the tokens: last layer")

# %% [markdown]
# All of them. This is the promise of the chapter: the same text, and seven times as many questions.
#
# ### The loss, by hand
#
# If the logit of a token is z, the discriminator's probability for *replaced* is σ(z) = 1 / (1 + e⁻ᶻ). The loss of
# this token is −ln σ(z) if it was replaced, and −ln (1 − σ(z)) if it is original. The loss of a batch is the mean
# over all **real** tokens: chosen or not, [CLS] and [SEP] too, but no padding.
#
# With a pencil: three tokens have the logits 0, 2 and −2. The second one was replaced. Which token costs most? And what
# if the third one had been replaced too?

# %%
z = torch.tensor([0.0, 2, -2])
for name, y in {"second replaced": [0.0, 1, 0], "third one too": [0.0, 1, 1]}.items():
    each = binary_cross_entropy_with_logits(z, torch.tensor(y), reduction="none")
    print(f"{name:16}", "  ".join(f"{cost:.2f}" for cost in each.tolist()), f" mean {each.mean():.2f}")
