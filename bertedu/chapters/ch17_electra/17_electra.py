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
# - write ELECTRA's labels and loss, with lucky guesses and padding treated as in the paper
# - say why ELECTRA is not a GAN, and what its two models share
# - read a small comparison of pre-training tasks without believing more than it shows
#
# **Time:** two sittings of about 60 and 60 minutes, and 5 more for what is optional ·
# **You need:** [16 · ALBERT and DistilBERT](16_albert_and_distilbert.ipynb) ·
# **Next:** [18 · DeBERTa and XLNet](18_deberta_and_xlnet.ipynb)
#
# You can leave what is marked (optional) for another day.
#
# ## Recall
#
# 1. In ALBERT an embedding has E numbers, and a token has D. What lies between the two?
#
# <details><summary>Answer</summary>
#
# One linear layer, from E to D. ELECTRA-Small has the same one, with E = 128 and D = 256.
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
# The encoder stays BERT's. New is what surrounds it in pre-training. A **generator** fills in the masked words, and a
# **discriminator** reads the result and says of each token whether it was replaced. The discriminator is ELECTRA. The
# generator is thrown away after pre-training.
#
# ![Text, masked text, text with samples, and a label at every token: yes for the two words that were replaced, no for all others.](pictures/17_electra.svg)
#
# ## Most tokens are not asked
#
# We need a text and a trained BERT: the sentences of the small world about countries, and the course's *world-tiny*,
# which was trained on the whole small world. `new_texts` are sentences of other documents, to test on. (Generating
# the world takes some seconds. Only the training in the second sitting uses a GPU, where there is one.)


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
# `masked_batch` chooses 15 % of the tokens, as in chapter 06, with one difference: [MASK] stands at 85 % of them, 15 %
# stay as they are, and there are no random words, as in Google's code for ELECTRA. (`sample_at` holds a random number
# for each token. We need it later.)


# %%
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from bertedu.pretraining.masking import apply_masks, draw

KINDS = {"special_tokens": 2, "mask_share": 0.85, "random_share": 0.0}


def masked_batch(ids, generator, rate=0.15):  # [B, T]
    real = ids != tokenizer.pad_token_id
    words = real & (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
    draws = draw(ids.shape, V, generator)
    masked, labels = apply_masks(ids, words, rate, MASK, draws, **KINDS)
    batch = {"input_ids": masked, "attention_mask": real.long(), "labels": labels}
    batch["token_type_ids"] = torch.zeros_like(ids)
    return {**batch, "sample_at": torch.rand(ids.shape, generator=generator)}


batch = masked_batch(train_ids[::48], torch.Generator().manual_seed(0))
inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "labels")}
output = bert(**inputs, output_hidden_states=True)  # embeddings, layer 1, ..., layer L
real, chosen = batch["attention_mask"].bool(), batch["labels"] != -100  # [B, T]
number = int(real.sum())
print(f"{number} tokens, {int(chosen.sum())} of them chosen")


def with_gradient(layer):  # [B, T, D]: at how many of the real tokens is there a gradient?
    (gradient,) = torch.autograd.grad(output.loss, layer, retain_graph=True)
    return int(gradient.any(-1)[real].sum())


print(f"last layer: a gradient at {with_gradient(output.hidden_states[-1])} of {number} tokens")

# %% [markdown]
# The last layer is trained at about one token in seven, at those that were chosen. BERT computes the vectors of all
# others, and the loss doesn't ask for them.
#
# Now look at the other end of the same BERT, at the embeddings of the tokens that it has read. Guess: at how many of
# the tokens does a gradient arrive there?

# %% tags=["guess"]
print(f"embeddings: a gradient at {with_gradient(output.hidden_states[0])} of {number} tokens")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# At all of them. The chosen tokens attend to all others, so the tokens that are not asked are not useless: they are the
# context. Clark et al. (2020, section 3.5) note this themselves, and test by experiment whether the 15 % matter. We
# come to that.
#
# </details>
#
# Could we mask more? Up to a point (chapter 08): then too little context is left. Could we ask MLM for *every* token?
# Where a word is visible, copying solves the task (chapter 06).
#
# ELECTRA's idea: change some words, hide none, and ask at every token **is this still the word of the text?** This is
# **replaced-token detection** (RTD). Copying doesn't solve it, and the model that we keep never reads a [MASK], so
# pre-training and fine-tuning look alike.
#
# ## Which words should we put in?
#
# Random ones? We test them with the simplest detector: a word is *suspicious* if it forms a pair with a neighbor that
# never occurs in the training text. The next cells replace the chosen words of the new sentences by random words, by
# words drawn by their frequency, and by words that BERT fills in, twenty times each. They count how many wrong words
# are suspicious, and how many of the original ones.


# %%
def suspicious(ids):  # [B, T] -> [B, T]
    pairs = ids[:, :-1] * V + ids[:, 1:]  # [B, T - 1], one number for each pair of neighbors
    strange = ~torch.isin(pairs, known)
    marked = torch.zeros_like(ids).bool()
    marked[:, 1:] |= strange
    marked[:, :-1] |= strange
    return marked


known = (train_ids[:, :-1] * V + train_ids[:, 1:]).unique()
batch = masked_batch(new_ids, torch.Generator().manual_seed(0))
chosen, right = batch["labels"] != -100, batch["labels"][batch["labels"] != -100]  # [B, T], [N]
with torch.no_grad():
    output = bert(**{name: batch[name] for name in inputs})
counts = torch.bincount(train_ids.flatten(), minlength=V).double()  # [V]
counts[: MASK + 1] = 0  # [PAD], [UNK], [CLS], [SEP], [MASK]

# %%
torch.manual_seed(0)
sources = {"random": (counts > 0).double(), "by frequency": counts}
sources["BERT's"] = output.prediction_logits.softmax(-1)  # [N, V]
easy = {}
for name, probabilities in sources.items():
    found = []
    for words in probabilities.expand(len(right), V).multinomial(20, replacement=True).T:
        found.append(suspicious(new_ids.masked_scatter(chosen, words))[chosen][words != right])
    easy[name] = torch.cat(found).double().mean().item()
easy["original"] = suspicious(new_ids)[chosen].double().mean().item()

# %% [markdown]
# Guess the four shares.

# %% tags=["guess"]
for name, share in easy.items():
    print(f"{name:12} words: {share:.0%} suspicious")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Bars: the list finds nearly all random words, drawn by frequency or not, and few of BERT's words. It takes even fewer right words for wrong ones.](pictures/17_too_easy.svg)
#
# A list of neighbor pairs finds more than nine of ten random words, so a model has little reason to learn more than
# that list. Drawing words by their frequency (the *unigram generator* of the paper) changes little. Of BERT's wrong
# words the list finds only about one in eight. For the others a model has to read.
#
# </details>
#
# So the words should come from a masked language model.
#
# ## One text by hand
#
# *Norway* and *Oslo* are chosen and masked. The generator computes a probability for each word at each [MASK], and we
# **sample** one word from each distribution. Our generator is *world-tiny*.


# %%
text = tokenizer("The capital of Norway is Oslo.").input_ids  # [1, T]
chosen = (text == tokenizer.vocab["norway"]) | (text == tokenizer.vocab["oslo"])  # [1, T]
masked = text.masked_fill(chosen, MASK)
with torch.no_grad():
    scores = bert(masked, masked_positions=chosen).prediction_logits  # [N, V]
torch.manual_seed(4)
word_shares = scores.softmax(-1)  # [N, V]
sampled = word_shares.multinomial(1).squeeze(-1)  # [N]
seen = text.masked_scatter(chosen, sampled)  # [1, T]
rows = [tokenizer.convert_ids_to_tokens(row[0].tolist()) for row in (text, masked, seen)]
for word, hidden, shown in zip(*rows):
    print(f"{word:8} generator reads {hidden:8} discriminator reads {shown}")

# %% [markdown]
# Each token gets a label: 1 for *replaced*, 0 for *original*. The generator wrote two words, and one of them happens to
# be right: a **lucky guess**. Guess which tokens get the label 1.

# %% tags=["guess"]
labels = (seen != text)[0].int().tolist()
by_hand = list(zip(*rows, labels))
print("label 1:", *(shown for _, _, shown, label in by_hand if label))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Under each [MASK] the generator's most probable words; the sampled one has a thick edge. Below, the sentence with the samples and a single label 1.](pictures/17_samples.svg)
#
# The generator sampled *Norway* for *Norway*. The word is right, so its label is 0. Clark et al. (2020, section 2) found
# that this works moderately better than calling it a fake. It is also the only fair question: how could anybody see
# that this *Norway* was filled in?
#
# </details>
#
# What can be learned from such labels? *The capital of Norway is Bucharest* is flawless English. To find the mistake,
# you have to know that Bucharest is not the capital of Norway.
#
# ### Exercise 17.1 · Count the ones
# ●○○○ · 3 minutes
#
# A text has 60 tokens, [CLS] and [SEP] included. 15 % of these 60 are chosen: 85 % of those are masked, 15 % are shown
# as they are. For *every* chosen token a word is sampled from the generator, whose samples are right in one of three
# cases. How many tokens have the label 1, on average? (`check` examines your answer, and `hint("17.1")` gives a hint.)

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
# text. Clark, asked why so unbalanced a task works, gave about 6 % for the trained models, whose generators are
# better than the one in this exercise ([issue 49](https://github.com/google-research/electra/issues/49)).
# ELECTRA-Large was trained with 25 % of the tokens masked, because too few were replaced (appendix A of the paper).
#
# </details>

# %% [markdown]
# ## Sample, or take the best word?
#
# A generator could also give its most probable word. We compare the two ways on the new sentences, with half of the
# tokens masked, so that *world-tiny* is often wrong. We draw twenty samples at each token, and count how many different
# wrong words the discriminator would meet.


# %%
from bertedu.family.electra_pair import sample_tokens

generator = torch.Generator().manual_seed(0)
half = masked_batch(new_ids, generator, rate=0.5)
right = half["labels"][half["labels"] != -100]  # [N]
with torch.no_grad():
    scores = bert(**{name: half[name] for name in inputs}).prediction_logits  # [N, V]
draws = torch.rand(20, len(right), generator=generator)
ways = {"sampled": torch.stack([sample_tokens(scores, at) for at in draws])}  # [20, N]
ways["most probable"] = scores.argmax(-1)[None].expand(20, -1)

# %% [markdown]
# Guess: which way replaces more tokens, and by how much?

# %% tags=["guess"]
for name, words in ways.items():
    share = (words != right).double().mean()
    wrong = [len(set(drawn.tolist()) - {word.item()}) for drawn, word in zip(words.T, right)]
    print(f"{name:14} {share:.1%} of the chosen tokens replaced", end="")
    print(f", {sum(wrong) / len(wrong):.2f} different wrong words at a token in 20 draws")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Samples replace more tokens, though not many more here: *world-tiny* is sure of most of its words. The difference is in
# the last column. Each time the discriminator reads a sentence, the samples contain other mistakes. The most probable
# word is always the same, and more often the right one.
#
# In the trained ELECTRA the most probable word is right in about 75 % of the cases, a sample in about 60 % (Clark,
# quoted in [issue 19](https://github.com/ymcui/Chinese-ELECTRA/issues/19) of Chinese-ELECTRA).
#
# </details>
#
# ### The Gumbel-max trick
#
# So ELECTRA samples. `sample_tokens` is the package's function for it, and we write our own now. Google's code for
# ELECTRA adds random noise to the scores and takes the argmax. The noise of each word is −ln(−ln u), with a fresh u,
# equally likely anywhere between 0 and 1. It has the **Gumbel distribution**, so this is the **Gumbel-max trick**.
#
# Do it with a pencil. Three words have the scores 2, 1 and 0, and the random numbers u are 0.1, 0.6 and 0.5. Compute
# −ln(−ln u) for each, add the score, and see which word wins. Then run the second cell.

# %%
three = torch.tensor([2.0, 1, 0])
u = torch.tensor([0.1, 0.6, 0.5])
print("softmax of the scores", "  ".join(f"{p:.2f}" for p in three.softmax(-1).tolist()))

# %% tags=["guess"]
noise = -(-u.log()).log()
for name, numbers in {"scores": three, "noise": noise, "sum": three + noise}.items():
    print(f"{name:6}", "  ".join(f"{number:+.2f}" for number in numbers.tolist()))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Three columns of numbers: the scores 2, 1, 0, the noise, and their sums. The largest sum is the second one.](pictures/17_gumbel.svg)
#
# The second word wins, although the first has the highest score: the first word's noise was small this time.
#
# </details>
#
# One draw proves nothing. If the trick is right, each word wins as often as the softmax says: the second one in 24 % of
# all cases. After the exercise we count.
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
# The noise is −ln(−ln u), so "plus noise" is "minus ln(−ln u)". Why does it work? −ln u is a random waiting time: that
# of an event which happens once per second, on average. If word i happens pᵢ times per second, its waiting time is
# −ln u / pᵢ, and the word that happens first is word i with probability pᵢ. Taking −ln turns "first" into "largest":
# ln pᵢ − ln(−ln u). And ln pᵢ differs from the score only by a constant, the same for all words.
#
# </details>

# %% [markdown]
# Now we count: 10,000 draws by argmax, by Gumbel-max, and by `sample_tokens`, which needs only one random number for
# each token:
#
# ![The probabilities 0.67, 0.24 and 0.09 end to end from 0 to 1. The number 0.8 lies in the second interval.](pictures/17_intervals.svg)


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
# Gumbel-max and `sample_tokens` follow the softmax, up to the noise of 10,000 draws (a standard deviation of about
# 0.005). Argmax always gives the first word.
#
# ## No gradient, and no GAN
#
# A generator, and a discriminator that has to detect its work: that looks like a **GAN**, a generative adversarial
# network (Goodfellow et al. 2014). There, the generator is trained to *fool* the discriminator, by the gradient that
# passes through the generated picture. With words that can't work. The next cell computes a loss from sampled words, and
# shows which tensors of a small generator its gradient reaches.


# %%
torch.manual_seed(0)
logits = torch.randn(4, V, requires_grad=True)  # a generator's scores at N = 4 tokens
picked = (logits - (-torch.rand(4, V).log()).log()).argmax(-1)  # [N]
table = nn.Embedding(V, 8)
table(picked).square().sum().backward()  # any loss of the sampled words
print(f"sampled ids: {picked.dtype}, requires_grad {picked.requires_grad}")
print("gradient of the scores:", logits.grad)
print("rows of the embedding table with a gradient:", int(table.weight.grad.any(-1).sum()))

# %% [markdown]
# ![Scores, sampled ids, embeddings, discriminator. The gradient goes back from the loss to the embeddings and stops before the ids.](pictures/17_no_gradient.svg)
#
# The result of `argmax` is an integer. If you change a score a little, the integer stays the same (or jumps), so there
# is nothing to differentiate. The gradient says how the *vector* of the sampled word should change, not which word
# should have been chosen.
#
# So the generator is trained by **maximum likelihood**, as an ordinary masked language model. It doesn't know that a
# discriminator exists.
#
# | | GAN | ELECTRA |
# |---|---|---|
# | the generator wants to | fool the discriminator | predict the masked words |
# | gradient from the discriminator | yes, through the generated picture | none: a sampled id has no derivative |
# | input of the generator | random noise | a masked text |
# | a right imitation counts as | fake | original |
# | what is kept | usually the generator | the discriminator |
#
# <details><summary>And with reinforcement learning in place of the missing gradient?</summary>
#
# The authors tried it (section 3.2 and appendix F). Such a generator was worse at masked words (58 % right, against 65
# % with maximum likelihood), it put most of the probability on a single word, and the discriminator that learned from
# it was worse, though still better than BERT.
#
# </details>
#
# ## The discriminator
#
# The discriminator is BERT's encoder with a head of its own: a linear layer, GELU, and a linear layer with a single
# output, a logit: above 0 means *replaced*. There is no LayerNorm in it, unlike in the head for masked words, and it is
# not tied to the embeddings.
#
# The second cell puts it on an untrained encoder, with a loss at all real tokens (`binary_…` is **binary
# cross-entropy**, which we compute by hand in a moment), and counts once more at how many tokens the last layer
# receives a gradient.


# %%
from bertedu.family.electra import ElectraConfig, ElectraModel


class MyDetector(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.prediction = nn.Linear(hidden_size, 1)

    def forward(self, vectors):  # [B, T, D] to [B, T]: above 0 where a token seems replaced
        return self.prediction(nn.functional.gelu(self.dense(vectors))).squeeze(-1)


# %%
sizes = {"hidden_size": 64, "intermediate_size": 256, "max_position_embeddings": 32}
no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
config = ElectraConfig.preset("tiny", vocab_size=V, embedding_size=64, **sizes, **no_dropout)
torch.manual_seed(0)
real = new_ids != tokenizer.pad_token_id  # [B, T]
vectors = ElectraModel(config)(new_ids, real.long()).last_hidden_state  # [B, T, D]
logits, nothing_replaced = MyDetector(64)(vectors), torch.zeros(new_ids.shape)  # [B, T]
loss = binary_cross_entropy_with_logits(logits[real], nothing_replaced[real])
(gradient,) = torch.autograd.grad(loss, vectors)
share = gradient.any(-1)[real].double().mean().item()
print(f"a gradient arrives at {share:.0%} of the tokens: last layer")

# %% [markdown]
# All of them. This is the promise of the chapter: the same text, and nearly seven times as many questions.
#
# ![The sentence as BERT reads it, with two labels, and as ELECTRA reads it, with a label at every token.](pictures/17_two_tasks.svg)
#
# The paper calls such a task more **sample-efficient**. (A question with two answers teaches less than one with V
# answers, so what seven times as many questions are worth has to be measured. We come to that.)
#
# ### The loss, by hand
#
# If the logit of a token is z, the discriminator's probability for *replaced* is σ(z) = 1 / (1 + e⁻ᶻ). The loss of
# this token is −ln σ(z) if it was replaced, and −ln (1 − σ(z)) if it is original. The loss of a batch is the mean
# over all **real** tokens: chosen or not, [CLS] and [SEP] too, but no padding.
#
# With a pencil: three tokens have the logits 0, 2 and −2. The second one was replaced. Which token costs most? And what
# if the third one had been replaced too? Guess before you run the cell.

# %% tags=["guess"]
z = torch.tensor([0.0, 2, -2])
for name, y in {"second replaced": [0.0, 1, 0], "third one too": [0.0, 1, 1]}.items():
    each = binary_cross_entropy_with_logits(z, torch.tensor(y), reduction="none")
    print(f"{name:16}", "  ".join(f"{cost:.2f}" for cost in each.tolist()), end="")
    print(f"   mean {each.mean():.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Logits, probabilities, and the losses under two sets of labels. A replaced token that the model calls original costs most.](pictures/17_loss_by_hand.svg)
#
# The first token costs most in the first line: with the logit 0 the model doesn't know, and the loss is 0.69 = ln 2. In
# the second line it is the third token: the model is rather sure that it is original, and wrong.
#
# </details>
#
# ### Exercise 17.3 · The loss of the discriminator
# ●●○○ · 12 minutes
#
# Write `detection_loss(logits, seen, text, attention_mask)`. All four are `[B, T]`: the discriminator's logits, the
# ids that it has read, the ids of the text, and 1 for real tokens, 0 for padding. Return one number, the loss of the
# batch. Mind the lucky guesses and the padding.


# %% tags=["exercise"]
def detection_loss(logits, seen, text, attention_mask):
    ### BEGIN SOLUTION
    real = attention_mask.bool()
    replaced = (seen != text).float()
    return binary_cross_entropy_with_logits(logits[real], replaced[real])
    ### END SOLUTION


check("17.3", detection_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `seen != text` is 1 exactly where another word stands, so a lucky guess is original without any special treatment.
# Indexing with `real` removes the padding *before* the mean is taken. If you multiply by the mask instead, divide by
# the number of real tokens, not by B·T.
#
# </details>

# %% [markdown]
# **Here the first sitting ends.** You have both halves of ELECTRA: a generator that replaces tokens, and a
# discriminator with its loss. The second sitting joins them, trains the pair, and measures what it is worth.

# %% [markdown]
# ## One table of embeddings for both
#
# Both models **share** the embeddings: tokens, positions, segments, and the LayerNorm after them. The generator's output
# layer is tied to the same table of tokens, as in BERT. (The generator is narrower. As in ALBERT, a linear layer of its
# own brings the embeddings to its width. The discriminator has such a layer only where its width isn't E: in
# ELECTRA-Small it has one, in our pair it has none.)
#
# With two models of the same size, the GLUE score is 83.6 without sharing, 84.3 with shared token embeddings, and 84.4
# with all weights shared (Clark et al. 2020, section 3.2). The last way needs a generator as large as the discriminator.
# Why does sharing help? The authors suppose: the discriminator's loss changes the vectors of few words, those in the
# batch; the generator's softmax changes all. The next cell counts them, and tests whether the detection loss reaches a
# layer of the generator. `GeneratorAndDiscriminator` is the package's pair, its generator a quarter as wide.


# %%
from bertedu.family.electra_pair import GeneratorAndDiscriminator

torch.manual_seed(0)
pair = GeneratorAndDiscriminator.from_config(config)
table = pair.discriminator.encoder.embeddings.token.weight  # [V, E]
output = pair(**masked_batch(train_ids[::48], torch.Generator().manual_seed(0)))
said, replaced = output.detector_logits[output.real], output.replaced[output.real].float()
losses = {"MLM": cross_entropy(output.prediction_logits, output.labels)}
losses["detection"] = binary_cross_entropy_with_logits(said, replaced)
weights = [table, *pair.generator.encoder.encoder.parameters()]  # and the generator's layers
reach = {}
for name, loss in losses.items():
    first, *own = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
    reached = sum(gradient is not None for gradient in own)
    reach[name] = int(first.any(-1).sum()), reached
    print(f"{name:9} changes the vectors of {reach[name][0]} of {V} words", end="")
    print(f" and {reached} of {len(own)} tensors of the generator's layers")
print("both have the same table:", table is pair.generator.encoder.embeddings.token.weight)

# %% [markdown]
# ![One table under both models. The MLM loss changes all words and the generator, the detection loss few words and not the generator.](pictures/17_shared.svg)
#
# As a count, the supposed reason is true. Whether it explains the gain, the count can't say.
#
# ### Exercise 17.4 · Shared, or equal?
# ●●●○ · 15 minutes
#
# A colleague writes `colleagues_share`. The two models start with equal embeddings, as a test confirms. After one
# step of training the tables are different. Run the cell, and say why.


# %%
from bertedu.family.electra import ElectraForPreTraining
from bertedu.family.electra_pair import generator_config
from bertedu.model.heads import MaskedLM

NAMES = ("token", "position", "token_type", "norm")


def colleagues_share(generator, discriminator):
    ours, theirs = discriminator.encoder.embeddings, generator.encoder.embeddings
    for name in NAMES:
        getattr(theirs, name).load_state_dict(getattr(ours, name).state_dict())
    return generator, discriminator


models = MaskedLM(generator_config(config)), ElectraForPreTraining(config)
tables = [model.encoder.embeddings.token.weight for model in colleagues_share(*models)]
optimizer = torch.optim.Adam(tables, lr=0.01)
for when in ("before", "after"):
    apart = (tables[0] - tables[1]).abs().max().item()
    print(f"{when} the first step the tables differ by at most {apart:.2f}")
    tables[0].grad, tables[1].grad = torch.ones_like(table), -torch.ones_like(table)  # pretend
    optimizer.step()

# %% [markdown]
# Write `share(generator, discriminator)`. Afterwards the generator must use the discriminator's four parts (`NAMES`)
# and keep its own `project`, the layer to its own width. Its output layer, `generator.masked_lm.decoder`, must be tied
# to the shared table of tokens too. Return both models.


# %% tags=["exercise"]
def share(generator, discriminator):
    ### BEGIN SOLUTION
    ours, theirs = discriminator.encoder.embeddings, generator.encoder.embeddings
    for name in NAMES:
        setattr(theirs, name, getattr(ours, name))
    generator.masked_lm.decoder.weight = ours.token.weight
    return generator, discriminator
    ### END SOLUTION


check("17.4", share)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `load_state_dict` copies *numbers* into weights that stay two. Each then gets its own gradient and goes its own way.
# Sharing means that both models hold the same *object*: `setattr` makes the generator's name point to the
# discriminator's module. The decoder holds a reference of its own to the generator's former table, so it needs a line
# of its own. Test sharing with `is`, or by counting weights, never by comparing numbers.
#
# </details>

# %% [markdown]
# ### How small is the generator?
#
# It has as many layers as the discriminator, and in ELECTRA-Small a quarter of its width, so a sixteenth of the weights
# in its layers. The paper's best generators had between a quarter and a half of the width (section 3.2, figure 3). With
# one of the same size a step costs about twice as much as with MLM alone, and the discriminator gets *worse*: the
# authors suppose that the task becomes too hard.
#
# <details><summary>A warning about the small generator that Google published</summary>
#
# It is about as large as its discriminator. Its [model card](https://huggingface.co/google/electra-small-generator)
# warns that pre-training with these two will be unstable, although Google made its released Small that way.
#
# </details>
#
# ## The whole pair
#
# Now everything in one class, around the package's `ElectraModel`: BERT's layers, with embeddings of size E.


# %%
class MyGeneratorHead(nn.Module):  # [N, D] to [N, V]: as BERT's, but dense goes from D to E
    def __init__(self, config, token_embeddings):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.weight = token_embeddings.weight  # tied, [V, E]
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, vectors):
        vectors = self.norm(nn.functional.gelu(self.dense(vectors)))  # [N, E]
        return vectors @ self.weight.T + self.bias


# %%
class MyElectra(nn.Module):
    def __init__(self, config):
        super().__init__()
        small = generator_config(config)
        self.generator, self.discriminator = ElectraModel(small), ElectraModel(config)
        for name in NAMES:
            shared = getattr(self.discriminator.embeddings, name)
            setattr(self.generator.embeddings, name, shared)
        self.words = MyGeneratorHead(small, self.discriminator.embeddings.token)
        self.detector = MyDetector(config.hidden_size)

    def forward(self, input_ids, attention_mask, labels, sample_at):  # [B, T] each
        chosen, real = labels != -100, attention_mask.bool()
        text = torch.where(chosen, labels, input_ids)
        vectors = self.generator(input_ids, attention_mask).last_hidden_state
        scores = self.words(vectors[chosen])  # [N, V]
        sampled = sample_tokens(scores, sample_at[chosen])  # [N]
        seen = text.masked_scatter(chosen, sampled)  # [B, T]
        vectors = self.discriminator(seen, attention_mask).last_hidden_state
        logits = self.detector(vectors)  # [B, T]
        replaced = (seen != text).float()
        detection = binary_cross_entropy_with_logits(logits[real], replaced[real])
        return cross_entropy(scores, labels[chosen]) + 50 * detection, seen, logits


# %% [markdown]
# Before you read on, find three things in `forward`. Where does the [MASK] disappear? Where is the lucky guess? And
# which tokens are sampled: the masked ones, or all that were chosen?
#
# <details><summary>Answers</summary>
#
# `text` is the text without masks: the labels are the original words. `seen != text` is 0 for a lucky guess. All chosen
# tokens are sampled, also those that the generator saw unmasked.
#
# </details>
#
# ![Masked text, generator, scores, MLM loss; sampled words go into the text, which passes through the discriminator to the detection loss.](pictures/17_whole_pair.svg)
#
# ## The proof
#
# Three implementations get the same weights and the same batch: yours, the package's pair, and `transformers`. The
# last has only the two halves: `ElectraForMaskedLM` and `ElectraForPreTraining`, a name that means the discriminator
# alone. So we save our pair, open both halves there, and put the package's samples between them. (The weights are
# perturbed first, because biases of 0 would hide a bias in the wrong position.)


# %%
import tempfile

import transformers

transformers.utils.logging.disable_progress_bar()
torch.manual_seed(0)
pair = GeneratorAndDiscriminator.from_config(config).eval()
with torch.no_grad():
    for weight in pair.parameters():
        weight.add_(0.05 * torch.randn_like(weight))
with tempfile.TemporaryDirectory() as folder:
    pair.save_pretrained(folder)  # the discriminator, and the generator in a folder beside it
    detector = transformers.ElectraForPreTraining.from_pretrained(folder).eval()
    filler = transformers.ElectraForMaskedLM.from_pretrained(folder + "/generator").eval()

# %%
mine = MyElectra(config).eval()
mine.discriminator.load_state_dict(pair.discriminator.encoder.state_dict())
mine.generator.load_state_dict(pair.generator.encoder.state_dict())
mine.detector.load_state_dict(pair.discriminator.detector.state_dict())
state = pair.generator.masked_lm.state_dict()
mine.words.load_state_dict({name.removeprefix("decoder."): state[name] for name in state})

batch = masked_batch(new_ids, torch.Generator().manual_seed(17))
masked, mask, labels = (batch[name] for name in inputs)
with torch.no_grad():
    package = pair(**batch)
    loss, seen, logits = mine(masked, mask, labels, batch["sample_at"])
    scores = filler(masked, attention_mask=mask).logits[labels != -100]  # [N, V]
    theirs = detector(package.seen, attention_mask=mask, labels=package.replaced.long())
their_loss = cross_entropy(scores, labels[labels != -100]) + 50 * theirs.loss
real = mask.bool()

# %%
print(f"{int((seen != package.seen).sum())} of {seen.numel()} ids that are read differ")
pairs = {"generator, package and transformers": (package.prediction_logits, scores)}
pairs["discriminator, mine and package"] = logits[real], package.detector_logits[real]
pairs["discriminator, mine and transformers"] = logits[real], theirs.logits[real]
pairs["loss, mine and package"] = loss, package.loss
pairs["loss, mine and transformers"] = loss, their_loss
for name, (one, other) in pairs.items():
    print(f"{name:37} largest difference {(one - other).abs().max().item():.3f}")

# %% [markdown]
# Your pair is ELECTRA.
#
# ## Training the pair
#
# Now we train the package's pair on the sentences about countries, with the short-run initialization of [chapter
# 08](08_pre_training.ipynb) for both models: 300 steps of 64 sentences on a processor, about 15 seconds. With CUDA the
# cell below asks for ten times as many steps, and accepts any number; text and pictures show the run on a processor.


# %%
import math

from bertedu.training.devices import choose_device

where = choose_device("auto")  # cuda or mps where torch finds one, else cpu
device, steps, slack = torch.device(where), 300, 1
if where == "cuda":
    steps, slack = 3000, math.inf

# %% [markdown]
# At the first step and after each tenth of the run, `detection_figures` measures on the new sentences:
#
# - how often the generator's most probable word is right, and which share of all tokens is replaced
# - the discriminator's **precision** (of the tokens that it marks, how many are replaced) and its **recall** (of the
#   replaced tokens, how many it marks)


# %%
from bertedu.pretraining.initialization import initialize_for_matching


def new_pair():
    torch.manual_seed(0)
    pair = GeneratorAndDiscriminator.from_config(config)
    for model in (pair.generator, pair.discriminator):
        initialize_for_matching(model, counts.long())
    return pair.to(device)


# %%
from bertedu.chapters.ch17_electra.detection_figures import detection_figures
from bertedu.training.feeding import to_device
from bertedu.training.optimization import rate_factor

test_batch = to_device(masked_batch(new_ids, torch.Generator().manual_seed(1)), device)


def train(pair, steps, play=lambda pair, batch: pair(**batch)):
    optimizer = torch.optim.AdamW(pair.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    generator, history = torch.Generator().manual_seed(0), []
    for step in range(steps + 1):
        if step % (steps // 10) == 0:
            with torch.no_grad():
                history.append({"step": step, **detection_figures(play(pair, test_batch))})
        rows = torch.randint(len(train_ids), (64,), generator=generator)
        output = play(pair, to_device(masked_batch(train_ids[rows], generator), device))
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.param_groups[0]["lr"] = 3e-3 * rate_factor(step / steps, warmup=0.1)
        optimizer.step()
    return history


# %%
pair = new_pair()
history = train(pair, steps)
first, last = history[0], history[-1]
recalls = [row["recall"] for row in history]

# %% [markdown]
# Guess two curves: what does the share of replaced tokens do while the generator learns? And does the discriminator's
# recall rise from the first step on?

# %% tags=["guess"]
replaced = about("ELECTRA, replaced at first", first["replaced"], within=0.01 * slack)
print(f"tokens replaced {replaced:.3f} at first", end="")
replaced = about("ELECTRA, replaced in the end", last["replaced"], within=0.012 * slack)
print(f", {replaced:.3f} in the end")
lowest = about("ELECTRA, lowest recall", min(recalls), within=0.05 * slack)
at_first = about("ELECTRA, recall at first", recalls[0], within=0.05 * slack)
in_the_end = about("ELECTRA, recall in the end", recalls[-1], within=0.15 * slack)
print(
    f"recall {at_first:.2f} at first, {lowest:.2f} at its lowest, {in_the_end:.2f} in the end"
)
precision = about("ELECTRA, precision in the end", last["precision"], within=0.12 * slack)
right = about("ELECTRA, generator right", last["generator right"], within=0.08 * slack)
print(f"precision {precision:.2f}, generator right {right:.2f} in the end")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Left: the generator is right at an eighth of the masked words at first and at a third in the end; the share of replaced tokens falls a little. Right: the recall drops to 0, stays near it, and rises to about 0.4, with a precision of about 0.8.](pictures/17_curves.svg)
#
# - As the generator learns, fewer tokens are replaced: more of its samples are lucky. If all were right, nothing would
#   be left to detect.
# - Untrained, the discriminator marks tokens at random. Soon it marks none: *always original* is right for more than
#   85 % of them, so this is the first thing it learns. The recall is 0, and a report that shows only the accuracy
#   would look fine.
# - Then it leaves this plateau, and recall rises. What it marks is mostly right. (A precision near 1 early in the run
#   comes from a handful of marked tokens.)
#
# </details>
#
# While the generator improves, the task becomes harder: a curriculum that needs no planning. Training the generator
# first and the discriminator afterwards can fail: in the paper the discriminator then sometimes never learned more than
# *always original* (section 3.2), unless it started from the generator's weights.
#
# What has our small discriminator learned? Here are three sentences in which something is wrong. We ask for its
# probability that one of their words was replaced. In which of the three will it notice something? Guess.

# %%
wrong = {"A letter from Ghana is asked written in English.": "asked"}
wrong["The of Norway is Oslo capital."] = "of"
wrong["What is the capital of Denmark? It is Hanoi."] = "hanoi"

# %% tags=["guess"]
for sentence, word in wrong.items():
    ids = tokenizer(sentence).input_ids.to(device)
    logits = pair.discriminator(ids).logits[0]  # [T]
    probability = logits[ids[0] == tokenizer.vocab[word]].sigmoid().item()
    shown = about(f"ELECTRA, {word} was replaced", probability, within=0.3 * slack)
    print(f"{shown:.2f}  {word:6} in {sentence}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# It finds the words that break the grammar, and not the wrong capital. Three sentences prove little, but they fit the
# curves: after 300 steps it has learned which words go together, and we see no facts yet. (With CUDA: and after 3,000?)
#
# </details>
#
# ## Why 50? (optional)
#
# The loss is MLM + 50 · detection. The reason in appendix A of the paper: the loss of a choice between two classes is
# usually much smaller than that of a choice among 30,000 words. The 50 comes from a search among 1, 10, 20, 50 and 100.
# The next cell prints both losses from our run, and beside them ln V, the loss of guessing among all words, and the
# loss of a detector that knows only the share of replaced tokens.

# %%
share = last["replaced"]
guessing = -share * math.log(share) - (1 - share) * math.log(1 - share)
guessing = about(0.38, guessing, within=0.03 * slack)
print(f"guessing     MLM {math.log(V):.1f}     detection {guessing:.2f}")
for row, expected in ((first, (4.5, 0.75)), (last, (3.2, 0.25))):
    mlm = about(expected[0], row["MLM loss"], within=0.4 * slack)
    detection = about(expected[1], row["detection loss"], within=0.08 * slack)
    print(f"step {row['step']:3}     MLM {mlm:.1f}   detection {detection:.2f}")

# %% [markdown]
# (At step 0 MLM is below ln V: the short-run initialization knows how frequent each word is.) Times 50, detection is
# the larger part of the sum, before and after. But Adam divides each gradient by its own size (chapter 08). A weight
# whose gradient comes from one loss alone gets the same step, whether this loss is multiplied by 50 or not. The next
# cell tries it on a single weight.

# %%
for factor in (1, 50):
    weight = nn.Parameter(torch.ones(1))
    adam = torch.optim.Adam([weight], lr=0.01)
    for _ in range(10):
        adam.zero_grad()
        (factor * weight.square()).sum().backward()
        adam.step()
    print(f"loss times {factor:2}: the weight after ten steps {weight.item():.4f}")

# %% [markdown]
# The weight is the same to four decimals. Where, then, does the 50 have an effect? Directly only where both losses
# meet: in the **shared embeddings**, whose gradient is a sum of both, and in gradient clipping, which measures the
# norm of all gradients together. With plain SGD it would act on the whole discriminator.
#
# ## What is it worth?
#
# The paper's answer is its table 5: GLUE scores (development sets) of models of BERT-Base's size. Between BERT and
# ELECTRA stand three **ablations**, which take over a part of ELECTRA each. (All-Tokens MLM has a gate that may copy
# the word that it reads.)
#
# | | reads | the loss asks | GLUE |
# |---|---|---|---|
# | BERT | [MASK] | which word? at 15 % | 82.2 |
# | Replace MLM | samples | which word? at 15 % | 82.4 |
# | ELECTRA 15 % | samples | replaced? at 15 % | 82.4 |
# | All-Tokens MLM | samples | which word? at all tokens | 84.3 |
# | ELECTRA | samples | replaced? at all tokens | 85.0 |
#
# Compare the last two lines with the first three. What counts most is *how many* tokens are asked. Reading no [MASK]
# brings little, and asking "replaced?" in place of "which word?" adds something on top. For small models the gain is
# larger, and it comes early (table 1):
#
# ![Bars of GLUE scores: BERT-Small 75.1, ELECTRA-Small after an eighth of its training 76.0, in the end 79.9.](pictures/17_early.svg)
#
# Can we see this on our scale? `python benchmarks/replaced_tokens.py` trains all five on the sentences about
# countries, 600 steps each, and then freezes the encoder. A linear classifier has to tell from the last layer's vector
# of a word whether it is a country, a capital, a language, a currency or none of these. The accuracy is a mean over the
# four kinds, on words that the classifier has not seen. (*None* is always wrong there, so an encoder can even stay
# below one in four.) *untrained* is the encoder before its first step. There are two runs of each, with two seeds.

# %%
import json

runs = json.loads(data_path("ablations/replaced_tokens.json").read_text())["runs"]
accuracies = {run["arm"]: [] for run in runs}
for run in runs:
    accuracies[run["arm"]].append(run["features"])

# %% [markdown]
# Guess the order of the six.

# %% tags=["guess"]
for name, values in accuracies.items():
    print(f"{name:15}", *(f"{value:.2f}" for value in values))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![A dot for each of two seeds. Untrained about 0.1, ELECTRA 15 % 0.25, ELECTRA 0.5, the three masked language models between 0.6 and 0.8.](pictures/17_five_models.svg)
#
# The figure says three things, and only the first one is what the paper says.
#
# - **ELECTRA is far ahead of ELECTRA 15 %** (0.49 against 0.25). The only difference is at how many tokens the loss
#   asks. This agrees with the paper's main point.
# - **All-Tokens MLM is not ahead of Replace MLM** (0.67 and 0.66). This pair differs in the same way, and by the gate,
#   and here nothing is gained. In the paper, 82.4 became 84.3.
# - **ELECTRA is worse than all three MLMs.** A likely reason, which we did not test, is the probe: MLM has to name the
#   word that belongs at a position, so it needs to know what *kind* of word that is, and the probe asks exactly this.
#
# So after 600 steps and *for this probe* masked language modeling is ahead.
#
# </details>
#
# Such a figure doesn't show which model is better after fine-tuning. Nor does it contradict the paper: there, "early"
# means 125,000 steps.
#
# <details><summary>How large is the noise?</summary>
#
# The two seeds of BERT, and those of ELECTRA, lie within 0.01 of each other. But those of Replace MLM are 0.09 apart,
# and those of All-Tokens MLM 0.06. Two seeds are not enough to rank these two, or to say how far BERT is ahead of them.
# The gaps between 0.25, 0.49 and the MLMs (0.62 at least) are larger than that.
#
# Seeds matter in real pre-training too. A replication pre-trained ELECTRA-Small with 14 seeds: the standard deviation
# was 0.57 GLUE points ([richarddwang/electra_pytorch](https://github.com/richarddwang/electra_pytorch)). The models of
# table 5 are larger, but a difference of less than one point, as between some of its lines, needs more than one run.
#
# </details>
#
# ## Broken BERT: a discriminator that finds everything
#
# A colleague has written the step that puts the samples into the text. Nothing raises an error, and after 90 steps the
# log shows precision 1.00, recall 1.00. Here is the function; `play_with` does one step of the pair with it.


# %%
def colleagues_corrupt(masked, labels, sampled):  # [B, T], [B, T], [N]
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = masked.clone()
    seen[chosen].copy_(sampled)
    return seen, seen != text


# %%
from bertedu.family.electra_pair import PairOutput


def play_with(corrupt):
    def play(pair, batch):
        masked, mask, labels = (batch[n] for n in ("input_ids", "attention_mask", "labels"))
        chosen = labels != -100
        scores = pair.generator(masked, mask, masked_positions=chosen).prediction_logits
        sampled = sample_tokens(scores, batch["sample_at"][chosen])
        seen, replaced = corrupt(masked, labels, sampled)
        logits = pair.discriminator(seen, mask).logits
        return PairOutput(scores, labels[chosen], seen, replaced, logits, mask.bool())

    return play


# %%
broken = new_pair()
log = train(broken, steps=90, play=play_with(colleagues_corrupt))[-1]
print(f"in the log: precision {log['precision']:.2f}, recall {log['recall']:.2f}", end="")
print(f", detection loss {about(0.0, log['detection loss'], within=0.02 * slack):.2f}")

# %% [markdown]
# Now the same discriminator reads the test sentences with samples in them, put in as they should be. What recall does
# it have there? Guess.

# %% tags=["guess"]
true = detection_figures(broken(**test_batch))
found = about("ELECTRA, recall of the broken one", true["recall"], within=0.05 * slack)
print(f"where words were replaced: recall {found:.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# It finds everything in the log, and nothing in texts with real replacements. More training won't help: its loss is
# already zero. And why should its vectors be of any use later? Its task never made it read a word.
#
# </details>
#
# Print what it reads, always: `tokenizer.convert_ids_to_tokens(seen[0].tolist())` would have shown the reason at once.
#
# ### Exercise 17.5 · Repair the corruption
# ●●●○ · 10 minutes
#
# First say what the discriminator reads, and why a task can be perfect and worthless. Find the line that does nothing.
# Then write `repaired_corrupt(masked, labels, sampled)`. `masked` is what the generator has read, `[B, T]`; `labels`
# has the original id at the chosen tokens and −100 elsewhere, `[B, T]`; `sampled` has the sampled ids of the chosen
# tokens in reading order, `[N]`. Return `seen` and `replaced`, `[B, T]` each.


# %% tags=["exercise"]
def repaired_corrupt(masked, labels, sampled):
    ### BEGIN SOLUTION
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.masked_scatter(chosen, sampled)
    return seen, seen != text
    ### END SOLUTION


check("17.5", repaired_corrupt)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `seen[chosen]` with a mask of booleans is **advanced indexing**, and it returns a copy. `copy_` writes the samples
# into this copy, which is thrown away at the end of the line. An assignment is something else: `seen[chosen] = sampled`
# writes into `seen` itself. So the discriminator read the masked text. Every [MASK] was labelled *replaced*, and nothing
# else was. "Is this token [MASK]?" is enough for a perfect score.
#
# Google's code has the step in two parts that make this mistake hard: `unmask` first puts the original words back, then
# the samples are written over them.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# | | |
# |---|---|
# | Chosen tokens | The paper masks all of them. Google's code masks 85 % (`pretrain_helpers.mask`), and draws positions with replacement, so that a few coincide. This course draws different ones |
# | Sampling | Google's code: Gumbel-max with the temperature 1. This course: one random number for each token. The same distribution |
# | Head | The paper writes one weight vector, σ(wᵀh). Google's code, `transformers` and this course have a dense layer with GELU before it |
# | `transformers` | `ElectraForPreTraining` is the discriminator alone. `ElectraForMaskedLM` is the generator; if you load a discriminator with it, its head is random ([issue 9730](https://github.com/huggingface/transformers/issues/9730)). There is no class for the pair |
#
# <details><summary>Five smaller differences</summary>
#
# | | |
# |---|---|
# | Masking rate | 15 %; ELECTRA-Large 25 %, because its generator left too few tokens replaced (appendix A) |
# | Lucky guess | original. Google's code has an option `disallow_correct`, off by default, that forces a wrong word |
# | Shared | The paper names the token and position embeddings. In Google's code the segments and the LayerNorm are in the same scope, and shared too |
# | Generator | ¼ of the width in Small and Large, ⅓ in Base (`configure_pretraining.py`, which names the paper's table 6). The released Small is ELECTRA-Small++, trained with a generator of full width (README of google-research/electra) |
# | Other code | One library masked with BERT's 80/10/10, random words included, until a user compared it with Google's code ([issue 496](https://github.com/ThilinaRajapakse/simpletransformers/issues/496)) |
#
# </details>
#
# ## Summary
#
# - MLM asks at 15 % of the tokens. Replaced-token detection asks at every real token: is this the word of the text?
# - A generator, a small masked language model, is *sampled*. The Gumbel-max trick samples from a softmax by an argmax.
# - A lucky guess is original. Padding is not asked. The loss is MLM + 50 · binary cross-entropy.
# - No gradient passes through a sampled id, so the generator learns by maximum likelihood. Both share one set of
#   embeddings: one object, not equal numbers.
# - A discriminator first learns *always original*. Look at recall and precision, never at the accuracy alone.
# - In the paper ELECTRA is ahead early. In our 600 steps MLM was ahead for our probe: so short a run doesn't decide.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(17)

# %% [markdown]
# ## Interview questions
#
# <!-- comparisons-04 -->
# **1. Why does ELECTRA learn more from the same computation than BERT? Is it the discriminator?**
#
# <details><summary>Answer in half a minute</summary>
#
# Mostly because the loss is on all tokens instead of 15 %. A small generator fills the masks, and the model says for
# each token whether it is original or replaced. With equal computation the small model has 79.9 on GLUE against
# BERT's 75.1. In the ablation BERT has 82.2, a masked model with a loss on all tokens 84.3, and ELECTRA 85.0.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# BERT computes all tokens and gets a loss from 15 % of them. ELECTRA puts a small generator in front, a masked
# language model of about a quarter of the width. It fills the masked positions with sampled words. The discriminator
# reads this text and decides for every token: original or replaced? So every position gives a signal, and the input
# has no `[MASK]`, so it looks like fine-tuning. A lucky guess of the generator counts as original. It isn't a GAN:
# the generator is trained with its own masked loss, and no gradient flows through the sampling. The loss is MLM + 50
# times the binary cross-entropy.
#
# Which part is worth what? The paper separates them, at base size on GLUE. BERT has 82.2. Replacing `[MASK]` in the
# input: 82.4. ELECTRA with a loss on the 15 % only: 82.4. A masked language model with a loss on all tokens: 84.3.
# ELECTRA: 85.0. So most of the gain, 1.9 of 2.8 points, comes from all tokens, 0.2 from the missing `[MASK]`, and the
# last 0.7 points the authors can't fully explain. In this course's own run of 600 steps, a probe on the encoder
# reaches 0.49 with the loss on all tokens and 0.25 with the loss on 15 %.
#
# For small models the gain is larger: 79.9 against 75.1 with the same operations, and 76.0 after an eighth of the
# training. A replication with 14 seeds had a standard deviation of 0.57, so differences below about a point need
# several seeds. A limit: the discriminator can't fill a blank. DeBERTaV3 took this task over, and its authors report
# 88.8 on MNLI against 86.3 with masking.
#
# </details>
#
# <!-- family-06 -->
# **2. ELECTRA looks like a GAN. Could you train its generator to fool the discriminator, and should you?**
#
# <details><summary>Answer in half a minute</summary>
#
# Not by backpropagation: a sampled id has no derivative. The authors did it with reinforcement learning, and it was
# worse: the generator got worse at masked words, its samples less diverse. And there is no reason: the generator is
# thrown away. Its job is to make an instructive task, not to win.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# ELECTRA has a generator that fills masks and a discriminator that says for each token: original or replaced. That is
# the picture of a GAN, and the differences are the question.
#
# In a GAN the gradient flows from the discriminator through the generated sample into the generator. Here the sample
# is a token id, drawn from a softmax. Drawing is a step function of the logits; its derivative is zero wherever it
# exists. So there is nothing to backpropagate. ELECTRA therefore trains its generator as an ordinary masked language
# model, by maximum likelihood, and no gradient passes between the two except in the shared embeddings.
#
# Three ways around it exist. Reinforcement learning: treat the discriminator's loss as a reward and use a policy
# gradient. The authors tried, appendix F: the generator became worse at masked words, because exploring among 30,000
# words is inefficient, and its samples were less diverse. The discriminator trained with it was worse than ELECTRA,
# though still better than BERT. Gumbel-softmax: feed a soft mixture of embeddings; then the discriminator can see
# from the mixture that it's fake. Straight-through: feed the sampled word, and pretend in the backward pass that it
# was the mixture; then the gradient is biased.
#
# Now, should you? A generator that fools would produce words that fit so well that people couldn't tell either, and
# those carry label replaced although they're good text. The task becomes noise. A generator that is too weak makes it
# trivial. So there's a best strength in between; the authors found it at a quarter to a half of the discriminator's
# width. A further difference: if the generator happens to draw the original word, the label is original. In a GAN
# everything generated counts as fake. So: a corruption process that adapts, not an adversary, and after pre-training
# it's thrown away.
#
# </details>
#
# <!-- family-07 -->
# **3. ELECTRA's discriminator needs hard replacements. Would you make the generator larger?**
#
# <details><summary>Answer in half a minute</summary>
#
# No. Each step gets more expensive, and a good generator draws the original word more often, so fewer tokens are
# replaced, and the remaining ones are too hard. The paper found the best size at a quarter to a half of the
# discriminator. If too few tokens are replaced, mask more: ELECTRA-Large takes 25 %.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# The generator has one purpose: replacements from which the discriminator can learn. Think of two extremes. A
# generator that draws at random produces "the chef drove the meal": trivial, the loss falls within minutes and
# nothing more is learned. A perfect one produces words that fit as well as the original: then nobody can tell, and
# the labels are noise. In between is a best point, and the paper looked for it: with a discriminator of a given size,
# generators of a quarter to a half of its width worked best; one as large as the discriminator was worse.
#
# Three reasons. Cost: a generator of full size doubles the computation for a step, so at equal computation there are
# fewer steps. Label balance: if the generator is right at 60 % of the masked positions, only 40 % of 15 % of the
# tokens are replaced, 6 %. The better it is, the fewer positives. ELECTRA-Large masks 25 % for this reason: its
# generator had become too accurate. And difficulty: the authors guess that the discriminator must then spend its
# capacity on modelling the generator instead of the text.
#
# What do I do if the discriminator's accuracy is 97 %? Look at precision and recall on replaced tokens, because
# always original has 90 to 95 %. In DeBERTaV3 the same knob appears as depth: the generator has half the layers and
# the same width. A last practical remark: save both, since the generator is needed to continue the training, but
# fine-tune the discriminator only.
#
# </details>
#
# ## Next
#
# ELECTRA changed the task and kept BERT's encoder. The next two members change what a token can attend to: DeBERTa
# separates words from positions, XLNet predicts in a random order.
# [18 · DeBERTa and XLNet](18_deberta_and_xlnet.ipynb).
