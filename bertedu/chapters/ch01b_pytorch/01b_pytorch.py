# %% [markdown]
# # 01b · PyTorch in one sitting
#
# Every model of this course is trained, and this chapter shows how that works. You measure how wrong an answer is, find
# out in which direction each number of a network should move, and train a network of 70 numbers: it learns when to say
# *is*, *are*, *was* and *were*.
#
# ## What you will be able to do
#
# - read shapes and dtypes, take rows and columns out of a tensor, and predict what broadcasting does
# - turn scores into probabilities with softmax, and into a loss with cross-entropy, with a pencil
# - say what a gradient is, measure one, and let `backward` compute it
# - write the five lines of a training step, and say what each of them is for
# - build a small network, and use it with `eval` and `no_grad`
#
# **Time:** one sitting of about 65 minutes ·
# **You need:** Python, and vectors and matrices as at school; best after
# [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb) ·
# **Next:** [02 · Input embeddings](02_input_embeddings.ipynb)
#
# ## Recall
#
# Can you skip this chapter? Here are five questions. If you know all five answers, go on with chapter 02. If they tell you
# nothing, read on: this chapter answers them.
#
# 1. One tensor has the shape `[3, 1]`, another one `[4]`. Which shape does their sum have?
#
# <details><summary>Answer</summary>
#
# `[3, 4]`. Shapes are compared from the right, a missing size counts as 1, and a size of 1 is repeated.
#
# </details>
#
# 2. A model gives the right word the probability 0.5. What is its cross-entropy loss? And at probability 1?
#
# <details><summary>Answer</summary>
#
# −ln 0.5 = 0.69, and −ln 1 = 0.
#
# </details>
#
# 3. The gradient of the loss for one weight is +4. Should the weight become larger or smaller?
#
# <details><summary>Answer</summary>
#
# Smaller: if the weight grows a little, the loss grows 4 times as much.
#
# </details>
#
# 4. What does a training step do wrong if `optimizer.zero_grad()` is missing?
#
# <details><summary>Answer</summary>
#
# `backward` adds to the gradients that are there, so the step follows the sum of all gradients so far.
#
# </details>
#
# 5. Which two lines do you write before you use a trained model, and what does each of them do?
#
# <details><summary>Answer</summary>
#
# `model.eval()` turns off dropout. `with torch.no_grad():` makes PyTorch keep nothing for a later `backward`. Neither
# does the other one's work.
#
# </details>
#
# ## Where this leads
#
# ![The map of BERT from left to right: tokenizer, embeddings, self-attention and feed-forward in L layers, heads. Under all parts but the tokenizer runs a bar: tensors, loss, gradient and training step are used everywhere.](pictures/01b_where.svg)
#
# The tokenizer learns no weights. All other parts of BERT are trained in the same way. You see it here on the smallest
# network that does something sensible.

# %% [markdown]
# ## One gap, four words
#
# ![The keys, a hidden token, wet yesterday. The noun before the gap decides between singular and plural, the time after it between present and past: were is right.](pictures/01b_problem.svg)
#
# You need both sides of the gap: *keys* is plural, and *yesterday* is past. We leave out the words that are always the
# same, and write down all eight texts.

# %%
words = "key keys lamp lamps today yesterday is are was were".split()
id_of = {word: i for i, word in enumerate(words)}
texts = [
    *("key today is", "key yesterday was", "keys today are", "keys yesterday were"),
    *("lamp today is", "lamp yesterday was", "lamps today are", "lamps yesterday were"),
]
print(id_of)

# %% [markdown]
# Ten words, each with an id, as in chapter 01. The model will read two ids, noun and time, and predict a third one.
#
# ## Tensors: numbers with a shape
#
# A **tensor** is a table of numbers, with any number of axes. The next cell puts the ids into two tensors.

# %%
import torch

inputs = torch.tensor([[id_of[word] for word in text.split()[:2]] for text in texts])  # [B, T]
answers = torch.tensor([id_of[text.split()[2]] for text in texts])  # [B]
print(inputs)
print(list(inputs.shape), inputs.dtype)
print(list(answers.shape), answers)

# %% [markdown]
# - The **shape** says how long each axis is. `inputs` has the shape `[8, 2]`: 8 texts of 2 tokens. We write `[B, T]`, B
#   for the texts (the **batch**) and T for the tokens.
# - The **dtype** says which kind of number is stored. Ids are `int64`, whole numbers. A network computes with `float32`,
#   numbers with a decimal point.
#
# ### Rows, columns, look-ups
#
# ![Three copies of the first ids. A thick edge shows what is chosen: inputs[2] a row, inputs[:, 1] a column, inputs[2, 1] a single number. A table that gets the ids 2, 0, 2 gives its rows 2, 0, 2.](pictures/01b_indexing.svg)
#
# There is one index for each axis, and a colon means "all of them". The last lines choose rows of a table by ids. That is
# how a model looks up the vectors of its words.

# %%
print("inputs[2]    ", inputs[2])
print("inputs[:, 1] ", inputs[:, 1])
print("inputs[2, 1] ", inputs[2, 1].item())

table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # [V, D]: two numbers a word
rows = table[torch.tensor([2, 0, 2])]  # [T, D]
print("rows 2, 0, 2 ", rows.tolist())

# %% [markdown]
# `item()` turns a tensor with a single number into a Python number, and `tolist()` turns any tensor into lists.
#
# ### Broadcasting
#
# In a sum of two tensors, PyTorch repeats rows or columns until the shapes fit. This is called **broadcasting**.
#
# ![A table of 3 rows and 2 columns plus one row of 2 numbers: the row is added to every row. The same table plus one column of 3 numbers: the column is added to every column.](pictures/01b_broadcasting.svg)
#
# Write both shapes one below the other, flush right. Two sizes fit if they are equal, or if one of them is 1 or missing;
# then it is repeated.

# %%
row = torch.tensor([10.0, 20.0])  # [2]
column = torch.tensor([[100.0], [200.0], [300.0]])  # [3, 1]
print("table + row   ", (table + row).tolist())
print("table + column", (table + column).tolist())
print("row + column  ", list((row + column).shape))

# %% [markdown]
# ![A table of 3 rows and 2 columns. Below it the sums over dim=0, two numbers, one for each column. Beside it the sums over dim=1, three numbers, one for each row.](pictures/01b_sums.svg)
#
# A sum or a mean takes an axis away: **the axis that you name with `dim` disappears**. With `keepdim=True` it stays, with
# size 1, so that the result can be broadcast back.

# %%
print("sum(dim=0)              ", table.sum(dim=0).tolist())  # [2]: the 3 rows were added up
print("sum(dim=1)              ", table.sum(dim=1).tolist())  # [3]
print("sum(dim=1, keepdim=True)", table.sum(dim=1, keepdim=True).tolist())  # [3, 1]

# %% [markdown]
# ### Exercise 1b.1 · Which shape comes out?
# ●○○○ · 3 minutes
#
# Here `a` has the shape `[8, 2]` and `b` the shape `[8, 1]`. Write down four shapes, each as a list, without running
# anything:
#
# 1. `a[:, 0]`
# 2. `a + b`
# 3. `a.sum(dim=1)`
# 4. `b + torch.ones(4)`
#
# Stuck? Run `hint("1b.1")` in a cell of your own.

# %% tags=["exercise"]
from bertedu.course import about, check, hint

### BEGIN SOLUTION
shapes = [[8], [8, 2], [8], [8, 4]]
### END SOLUTION
check("1b.1", shapes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# An index takes its axis away, so `a[:, 0]` has only the axis of 8 left. In `a + b` the 1 is repeated to 2. The sum
# over `dim=1` takes away the axis of 2. In the last line, `[8, 1]` and `[4]` are compared from the right: 1 meets 4
# and is repeated, and 8 meets nothing, so the four ones are repeated 8 times.
#
# </details>

# %% [markdown]
# ## From scores to probabilities
#
# A model doesn't answer with a word. It computes a score for each word, the higher the better. These raw scores are
# called **logits**. They can be any numbers, also negative ones.
#
# **Softmax** makes probabilities of them: raise *e* to each logit, so that all are positive, and divide by the sum.
#
# ![Four logits for is, are, was and were go through e to the power, then through a division by the sum, and become four bars that sum to 1; is has the longest one.](pictures/01b_softmax.svg)

# %%
candidates = ["is", "are", "was", "were"]
logits = torch.tensor([2.0, 1.0, 0.0, -1.0])  # [4], one score for each candidate
powers = logits.exp()
probabilities = powers / powers.sum()
for word, power, probability in zip(candidates, powers, probabilities):
    print(f"{word:5} e^logit {power:5.2f}   probability {probability:.2f}")

# %% [markdown]
# PyTorch has this built in: `logits.softmax(dim=-1)`. Along the axis `dim` the probabilities sum to 1, and -1 is the last
# one.
#
# Guess before you run the next cell: what happens to the probabilities if we add 100 to *every* logit? And if we multiply
# every logit by 2?

# %% tags=["guess"]
for name, changed in (
    ("unchanged", logits),
    ("plus 100", logits + 100),
    ("times 2", 2 * logits),
):
    print(f"{name:10}", [f"{p:.2f}" for p in changed.softmax(dim=-1)])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Adding the same number to all logits changes nothing. Every power is multiplied by the same factor, and the division
# takes it out again: only the *differences* between logits count. Doubling makes the differences larger, and the best
# word gets more.
#
# </details>
#
# ### Exercise 1b.2 · Softmax of a batch
# ●●○○ · 5 minutes
#
# Write `softmax(logits)` for a batch, `[B, V]`: V scores for each of B texts. Every text gets probabilities of its own.
# Don't use PyTorch's softmax.


# %% tags=["exercise"]
def softmax(logits):
    ### BEGIN SOLUTION
    powers = logits.exp()
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


check("1b.2", softmax)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The V scores of one text lie along the last axis, so the sum runs over `dim=-1`. It has the shape `[B]`, and `[B, V]`
# divided by `[B]` would compare V with B. With `keepdim=True` it is `[B, 1]`, and each text is divided by its own sum.
#
# PyTorch also subtracts the largest logit of each text first. By the guess above that changes nothing, and *e* to a
# large number can't overflow any more.
#
# </details>

# %% [markdown]
# ## How wrong is it? The loss
#
# Training makes a single number small: the **loss**, which says how wrong the model is. For a choice between words it is
# the **cross-entropy**: minus the logarithm of the probability that the model gave to the *right* word.
#
# $$\text{loss} = -\ln p(\text{right word})$$
#
# ![The curve of minus ln p: probability 0.9 costs 0.11, one half 0.69, one twentieth 3.00. At 1 it reaches 0, and towards 0 the loss grows without end.](pictures/01b_loss.svg)
#
# (The logarithm is the natural one, `log` in code.) Suppose *are* is the right word:

# %%
from torch.nn.functional import cross_entropy

right = 1  # "are" is the right one
by_hand = -probabilities[right].log()
built_in = cross_entropy(logits[None], torch.tensor([right]))  # a batch of one: [1, 4] and [1]
print(f"by hand {by_hand:.2f}, PyTorch {built_in:.2f}")

# %% [markdown]
# `cross_entropy` takes a batch, so `logits[None]` makes one of a single text: `[4]` becomes `[1, 4]`. It takes
# **logits**: softmax is computed inside. The loss of a batch is the mean over its texts.
#
# ### Exercise 1b.3 · A model that knows nothing
# ●○○○ · 2 minutes
#
# A model gives each of our 10 words the same logit. What is its cross-entropy, to two decimals? (Use `math.log`, or a
# calculator.)

# %% tags=["exercise"]
### BEGIN SOLUTION
loss_of_ignorance = 2.3026
### END SOLUTION
check("1b.3", loss_of_ignorance)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Each word has the probability 1/10, so the loss is −ln(1/10) = ln 10 ≈ 2.30. Remember the rule: a model that knows
# nothing about V words has the loss ln V. For BERT's 30,522 tokens that is 10.3. If training starts far above it,
# something is wrong.
#
# </details>

# %% [markdown]
# ## The gradient: wiggle one number
#
# The loss should become smaller. Which way should each logit go? Try it: make one logit a tiny bit larger, and see what
# the loss does. The change of the loss, divided by the change of the logit, is a slope.
#
# ![The loss as a curve over the logit of are. At its present value 1 the curve falls: the slope is minus 0.76, so a larger logit means a smaller loss.](pictures/01b_wiggle.svg)


# %%
def loss_of(logits):  # [4] -> the cross-entropy if "are" is right
    return -logits.softmax(dim=-1)[right].log()


exact = logits.double()  # float64: more digits, for tiny differences
for i, word in enumerate(candidates):
    wiggled = exact.clone()  # a copy, so that the other logits stay as they are
    wiggled[i] += 0.0001
    slope = (loss_of(wiggled) - loss_of(exact)) / 0.0001
    print(f"{word:5} slope {slope:+.2f}")

# %% [markdown]
# These four slopes together are the **gradient** of the loss. The slope of *are* is negative: raise its logit, and the
# loss falls. The others are positive: lower them, above all *is*, which took most of the probability.
#
# ### `backward`: all slopes at once
#
# BERT-Base has 110 million numbers, and nobody wiggles each of them. PyTorch remembers how a result was computed, goes
# back through the computation, and finds all slopes in this **backward pass**, by the chain rule. This is called
# **backpropagation**, and the call is `backward()`.

# %%
scores = exact.clone().requires_grad_()  # "keep track of what is computed from these"
loss = loss_of(scores)
loss.backward()
print("gradient", [f"{slope:+.2f}" for slope in scores.grad])

# %% [markdown]
# The same four numbers.
#
# ![Four rows for is, are, was, were with their probabilities, what would be right, 0 1 0 0, and the gradient, the difference of the two: plus for is, was, were, minus for are.](pictures/01b_gradients.svg)
#
# For softmax with cross-entropy there is even a formula: the probabilities, minus 1 at the right word.
#
# ### One step downhill
#
# Now go a step *against* the gradient. The **learning rate** says how far:
#
# $$\text{new} = \text{old} - \text{learning rate} \cdot \text{gradient}$$
#
# The step is no part of the model, so PyTorch shouldn't keep track of it: `torch.no_grad()` says so.

# %%
print(f"loss before {loss_of(scores).item():.2f}")
with torch.no_grad():
    scores -= 1.0 * scores.grad
print(f"loss after  {loss_of(scores).item():.2f}")

# %% [markdown]
# How far is right? Here are five steps in the simplest valley, with three learning rates:
#
# ![Three panels with the same valley. With learning rate 0.05 five steps hardly move, with 0.3 they reach the bottom, with 1.05 every step jumps to the other side and higher up.](pictures/01b_learning_rate.svg)
#
# ### A second `backward`
#
# We have taken a step, so the gradient is another one now. We call `backward` once more, at the new logits. Guess: what
# will `scores.grad` hold, the old gradient, the new one, or something else?

# %% tags=["guess"]
loss_of(scores).backward()
fresh = scores.detach().clone().requires_grad_()  # the same numbers, cut off from the old ones
loss_of(fresh).backward()
print("in scores.grad   ", [f"{slope:+.2f}" for slope in scores.grad])
print("new gradient     ", [f"{slope:+.2f}" for slope in fresh.grad])

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# `scores.grad` is the sum of both gradients, the old and the new one: `backward` *adds*. That is useful where a batch
# is too large for the memory and comes in parts. Everywhere else the old gradient has to be set to zero first.
#
# </details>
#
# So clear the gradients before each `backward`.
#
# ## A network is made of layers
#
# So far we moved the logits themselves. A network *computes* them from its input, with numbers that are called
# **parameters** or **weights**. Training moves the parameters.
#
# ![Two tokens, keys and yesterday, pick two rows of the embedding table. The rows are put side by side as 4 numbers, a linear layer makes 10 logits of them, one for each word.](pictures/01b_model.svg)
#
# Two **layers** are enough for us. `nn.Embedding(V, D)` is a table with D numbers for each of V words, and an id picks a
# row. `nn.Linear(n, m)`, a **linear layer**, makes m numbers out of n: it multiplies by a matrix and adds a vector, the
# **bias**.

# %%
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(10, 2)  # V = 10 words, D = 2
linear = nn.Linear(4, 10)
vectors = embedding(inputs)  # [B, T] -> [B, T, D]
side_by_side = vectors.flatten(1)  # [B, T·D]: all axes from 1 on become one, a row for a text
print(list(inputs.shape), "->", list(vectors.shape), "->", list(side_by_side.shape), end=" -> ")
print(list(linear(side_by_side).shape))
product = side_by_side @ linear.weight.T + linear.bias  # what nn.Linear computes
print(f"the first logit: {linear(side_by_side)[0, 0]:.4f}, by hand {product[0, 0]:.4f}")

# %% [markdown]
# `@` is the matrix product, and `.T` swaps rows and columns. Layers start with random weights, their **initialization**.
# `torch.manual_seed(0)` sets the **seed** of all random numbers, so that they are the same on each run.
#
# A model is a class. It inherits from `nn.Module`, makes its layers in `__init__`, and says in `forward` what is
# computed (the **forward pass**). BERT has this form, too.


# %%
class GapModel(nn.Module):
    """Scores for the word in the gap, from the words on both sides."""

    def __init__(self, vocab_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.output = nn.Linear(2 * hidden_size, vocab_size)

    def forward(self, ids):  # [B, T]
        vectors = self.embedding(ids)  # [B, T, D]
        return self.output(vectors.flatten(1))  # [B, V]


torch.manual_seed(0)
model = GapModel(vocab_size=10, hidden_size=2)
for name, parameter in model.named_parameters():
    print(f"{name:16} {list(parameter.shape)}")
print(sum(parameter.numel() for parameter in model.parameters()), "numbers in all")

# %% [markdown]
# An **`nn.Module`** finds all parameters inside itself, also those of its layers. You call it like a function,
# `model(inputs)`, and it runs `forward`.
#
# ## The training loop, step by step
#
# We keep the last text, *lamps … yesterday*, for a test: the model never sees these two words together. The other seven
# are for training. The **optimizer** moves the weights. Ours is `SGD`, **stochastic gradient descent**: minus learning
# rate times gradient, as above. (*Stochastic*, because large data come in random batches. Ours fit into one.)

# %%
train_inputs, train_answers = inputs[:7], answers[:7]
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
vectors_before = model.embedding.weight.detach().clone()  # a copy, for a picture

logits = model(train_inputs)  # 1. what does the model say?
loss = cross_entropy(logits, train_answers)  # 2. how wrong is it?
optimizer.zero_grad()  # 3. forget the gradients of the step before
loss.backward()  # 4. in which direction does each weight make the loss grow?
optimizer.step()  # 5. move each weight a little the other way
print(f"loss {loss:.2f}, then {cross_entropy(model(train_inputs), train_answers):.2f}")

# %% [markdown]
# ![The five lines of a training step with one weight: the loss is computed, zero_grad sets the old grad to 0, backward fills it anew, step moves the weight, and the next step begins.](pictures/01b_loop.svg)
#
# These five lines are a **training step**, and they train every network of this course, BERT too. A **training loop**
# repeats them.
#
# ### Exercise 1b.4 · Write the step yourself
# ●●○○ · 6 minutes
#
# Write `train_step(model, optimizer, inputs, answers)`. It makes one training step and returns the loss as a Python
# number.


# %% tags=["exercise"]
def train_step(model, optimizer, inputs, answers):
    ### BEGIN SOLUTION
    loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


check("1b.4", train_step)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# The five lines in their order. `zero_grad` may also stand at the very beginning or at the end, but not between
# `backward` and `step`, where it would throw away what `step` needs. The loss is computed before the weights move, so
# it belongs to the old weights.
#
# </details>

# %% [markdown]
# ### A hundred steps
#
# The same five lines in a loop. We keep the loss of every step.

# %%
losses = [loss.item()]  # of the step that we have made
for _ in range(99):
    loss = cross_entropy(model(train_inputs), train_answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
for step in (1, 2, 10, 30, 100):
    print(f"step {step:3}  loss {losses[step - 1]:.2f}")

# %% [markdown]
# ![The loss over 100 steps: it starts at 2.89, above the dashed line of a model that knows nothing, 2.30, falls steeply and is near 0 after 50 steps.](pictures/01b_losses.svg)
#
# The loss starts above 2.30: random weights prefer some words, and mostly wrong ones.
#
# Guess: how many of the seven texts does the network get right now? And *lamps ▢ yesterday*, the last line, which it has
# never seen?

# %% tags=["guess"]
model.eval()
with torch.no_grad():
    probabilities_after = model(inputs).softmax(dim=-1)  # [B, V]
for text, p in zip(texts, probabilities_after):
    noun, time, verb = text.split()
    print(f"{noun:>5} ▢ {time:9}  {words[p.argmax()]:4} {p.max():.0%}   (right: {verb})")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# All eight are right, also the one that it was not trained on. How can it know? Look at the two numbers that it learned
# for each word:
#
# ![Two planes with the six input words as points. Before training they lie anywhere. After training keys and lamps lie close together at the top, key and lamp both at the bottom, today and yesterday apart.](pictures/01b_vectors.svg)
#
# *keys* and *lamps* have moved together, because they were followed by the same words, and *key* and *lamp* are both on
# the other side. So what it learned about *keys* holds for *lamps* too. Nobody told it what a plural is.
#
# Be careful with one test text: with another seed the network can learn the seven texts and still get the eighth
# wrong. Of the seeds 0, 1 and 2 that happens once.
#
# </details>
#
# ## Using a model: `eval` and `no_grad`
#
# That cell began with `model.eval()` and `torch.no_grad()`. They are often taken for the same.
#
# `no_grad` stops the bookkeeping for `backward`. The results are the same, and memory is saved.
#
# `eval` changes the results, in models with **dropout**. Dropout sets some numbers to 0 at random while a network trains,
# so that it doesn't rely on a single one. `train()` switches it on, `eval()` off.
#
# Guess: a dropout layer gets eight ones, and drops each of them with probability one half. Which numbers come out while
# it trains? And after `eval()`?

# %% tags=["guess"]
torch.manual_seed(0)
dropout = nn.Dropout(0.5)
ones = torch.ones(8)
dropped, kept = dropout.train()(ones), dropout.eval()(ones)
print("train", dropped.tolist())
print("eval ", kept.tolist())

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Eight ones go into dropout. While it trains, some come out as 0 and the others as 2; after eval all eight come out as 1.](pictures/01b_dropout.svg)
#
# While it trains, some ones become 0 and the others are doubled, so that the mean stays the same on average. (Five of
# eight fell here, by chance; of many it is half.) After `eval` nothing happens to them. If you forget `eval`, the same
# text gets other probabilities each time.
#
# </details>
#
# (On a GPU you will also meet `model.to("cuda")`: tensors must be on the same **device** as the model that reads them.
# This course needs no GPU.)

# %% [markdown]
# ## The proof
#
# One step of a network that could hardly be smaller: ten numbers, which it gives as logits to every text, whatever the
# text says. First with PyTorch, then with the formulas of this chapter alone.

# %%
torch.manual_seed(0)
start = torch.randn(10)
weights = nn.Parameter(start.clone())  # a tensor that an optimizer may move
seven_times = weights.expand(7, 10)  # the same logits for all seven texts
loss = cross_entropy(seven_times, train_answers)
loss.backward()
torch.optim.SGD([weights], lr=0.5).step()

p = start.exp() / start.exp().sum()  # [V]
is_right = torch.eye(10)[train_answers]  # [7, V]: rows of a table with ones on its diagonal
by_formula = start - 0.5 * (p - is_right).mean(dim=0)
print(f"loss: PyTorch {loss:.4f}, by hand {-p[train_answers].log().mean():.4f}")
print(f"weight of are: PyTorch {weights[7]:.4f}, by hand {by_formula[7]:.4f}")

# %% [markdown]
# ## Broken BERT: the loss that stops falling
#
# A colleague trains the same model on the same seven texts. A model should give probabilities, the colleague thought,
# so the loss begins with a softmax. It falls, but slowly, and then it stops far above zero. More steps don't help, and
# no error is raised.


# %%
def colleagues_loss(logits, answers):  # [B, V], [B] -> one number
    probabilities = logits.softmax(dim=-1)
    return cross_entropy(probabilities, answers)


# %% [markdown]
# The next cell is the loop from above as a function: it trains a new model with the loss that it gets.


# %%
def train(loss_function, steps):
    torch.manual_seed(0)
    model = GapModel(vocab_size=10, hidden_size=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    history = []
    for _ in range(steps):
        loss = loss_function(model(train_inputs), train_answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


# %%
stuck = train(colleagues_loss, steps=1500)
print(f"step    1: the colleague's {stuck[0]:.2f}, ours {losses[0]:.2f}")
late = about(1.80, stuck[99], within=0.1)
print(f"step  100: the colleague's {late:.2f}, ours {losses[99]:.2f}")
print(f"step 1500: the colleague's {about(1.46, stuck[1499], within=0.15):.2f}")

# %% [markdown]
# ### Exercise 1b.5 · Repair the loss
# ●●○○ · 4 minutes
#
# First say in one sentence what `cross_entropy` does with the colleague's probabilities. Then write
# `repaired_loss(logits, answers)`.


# %% tags=["exercise"]
def repaired_loss(logits, answers):
    ### BEGIN SOLUTION
    return cross_entropy(logits, answers)
    ### END SOLUTION


check("1b.5", repaired_loss)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![Probabilities of a certain and right answer. After one softmax the right word has 1 and the loss is 0; after two it has 0.23 and each of the nine others 0.09, and the loss is 1.46.](pictures/01b_twice.svg)
#
# `cross_entropy` takes the probabilities for logits and computes a second softmax. Probabilities lie between 0 and 1,
# so these "logits" differ by at most 1. The best loss that can be reached is −ln(e / (e + 9)) = 1.46, and the gradients
# are small as well.
#
# </details>

# %% [markdown]
# With the loss repaired, 100 steps are enough:

# %%
repaired = train(cross_entropy, steps=100)
print(f"after 100 steps: {repaired[99]:.2f}")

# %% [markdown]
# If a loss stops at a strange number, compute the best loss that is possible. Ten probabilities, taken for logits, are at
# best one 1 and nine zeros: −ln(e / (e + 9)) = 1.46.
#
# ## Paper and code
#
# | in papers | in PyTorch | in words |
# |---|---|---|
# | θ | `model.parameters()` | all weights and biases |
# | z | `logits` | scores before softmax |
# | ℒ | `loss` | what training makes small |
# | ∇ℒ | `parameter.grad` | the gradient: a slope for each number |
# | η or α | `lr` | learning rate |
# | log | `log` | the natural logarithm, ln |
# | H, in Devlin et al. 2019 | `hidden_size` | numbers in a vector; D in this course, where H counts heads |
#
# BERT was trained with **Adam**, which gives each weight a step size of its own, and not with SGD. Only the line that
# makes the optimizer changes: `torch.optim.AdamW`. Chapter 08 builds it.
#
# ## Where you meet these again
#
# ![Where each tool comes back: look-up of rows in chapter 02, softmax in 03, a model made of modules in 04 and 05, cross-entropy of masked words in 06, the training loop in 08.](pictures/01b_ahead.svg)
#
# ## Summary
#
# - A network turns numbers into **logits**, softmax turns logits into probabilities, and **cross-entropy** says how
#   wrong they are.
# - The **gradient** tells for each weight how the loss would change, and a **training step** moves all weights a little
#   the other way.
# - Clear the gradients before `backward`, give `cross_entropy` logits, and call `eval` before you use what you have
#   trained.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz("1b")

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- debugging-15 -->
# **1. What do backward and step do in a training loop, and what goes wrong if `zero_grad` is missing?**
#
# <details><summary>Answer in half a minute</summary>
#
# backward goes back through the computation by the chain rule and adds to each parameter's grad how the loss changes
# with it. step moves the parameters along these numbers. Since backward adds, without `zero_grad` each step follows
# the sum of all gradients so far: steps grow and point into the past. Nothing raises an error.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# During the forward pass PyTorch records which operation made which tensor. backward starts at the loss, which is a
# single number, and goes through this record from its end to its beginning. At each operation it multiplies by the
# local derivative, which is the chain rule, and at each parameter it arrives with the slope of the loss for every
# number in it. It adds this slope to what is in grad. It changes no parameter.
#
# step changes the parameters. For SGD it subtracts the learning rate times grad. Adam also keeps running means of the
# gradient and of its square. step doesn't know where grad comes from: it takes what it finds.
#
# That is why the third call matters. backward adds, because then the gradients of several small batches can be
# collected for one step, and because a tensor that is used twice needs the sum. If nobody clears grad, the second
# step follows the gradients of the first two batches, the hundredth those of a hundred. It behaves like momentum
# without any decay: the steps get larger and larger, and old directions never fade. The loss falls at first, then it
# oscillates or diverges. No error is raised, because everything has the right shape.
#
# How do I find it? I print the norm of the gradient: it grows in a straight line while the loss doesn't. And I write
# a test: two calls of the training step on the same batch with learning rate zero must leave the same gradient twice.
#
# </details>
#
# <!-- debugging-16 -->
# **2. A classifier with ten classes trains without an error, and its loss never falls below 1.46. What do you
# suspect?**
#
# <details><summary>Answer in half a minute</summary>
#
# Softmax twice. PyTorch's `cross_entropy` takes logits and computes softmax itself. If the model returns
# probabilities, these lie between 0 and 1 and are taken for logits, so even a perfect answer costs -ln(e / (e + 9)) =
# 1.46. The gradients are small, too. Take the softmax out of the model or of the loss.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# First I ask what the best possible loss would be. For a classifier that can be certain it is 0, for labels with
# noise it is their entropy. 1.46 is neither: on a training set of a few examples, a network should come near 0,
# because it can learn them by heart. So I'd try exactly that, ten examples and many steps. If it stops at 1.46 there
# too, it isn't the data and it isn't the capacity.
#
# Then I compute where 1.46 could come from. In PyTorch `cross_entropy` expects raw scores, logits, and applies
# log-softmax inside. If somebody gives it probabilities, they are taken for logits. The best probabilities are one 1
# and nine zeros. Softmax of these gives the right class e / (e + 9) = 0.23, and minus the logarithm of it is 1.46.
# That is the floor, and it is exactly our number. With two classes the floor is 0.31, with a thousand 5.9.
#
# There is a second effect. The gradient goes through softmax twice, and where the first one is certain its derivative
# is near zero. So training is slow, and examples that it is certainly wrong about are hardly corrected.
#
# Accuracy may look fine, since the second softmax keeps the order. That is why the bug survives. The repair is to
# return logits from the model, to use `cross_entropy` for training, and to apply softmax only where somebody wants to
# see probabilities. And a test: the loss of the right logits, multiplied by 100, must be near 0.
#
# </details>
#
# ## Next
#
# You can train a network now. What does BERT's own table of vectors look like, and how does BERT know where in the text
# a word stands? [02 · Input embeddings](02_input_embeddings.ipynb).
