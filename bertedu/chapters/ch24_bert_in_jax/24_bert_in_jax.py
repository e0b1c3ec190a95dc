# %% [markdown]
# # 24 · The same BERT in JAX
#
# Google trains its large models in JAX, and many research papers come with JAX code. You will write BERT's layer a
# second time, in JAX and Flax, load this course's own checkpoint into it, get the same numbers as in PyTorch, and train
# it. The model is the one you know. What is new is how a program is run.
#
# ## What you will be able to do
#
# - say what `jit` compiles, when, and when it compiles again
# - handle random numbers by keys, and say why two uses of a key are one use too many
# - write attention for one sequence and map it over a batch with `vmap`, and get gradients from `grad`
# - write a Transformer layer in Flax (NNX), load PyTorch's weights, and show that both agree within 10⁻⁵
# - train with optax in a step that is a pure function, and find a bug that makes the training loss too good
#
# **Time:** two sittings of about 45 and 60 minutes ·
# **You need:** [06 · Masked language model](06_masked_language_model.ipynb) and
# [08 · Pre-training](08_pre_training.ipynb), best after
# [22 · From two cores to many GPUs](22_many_gpus.ipynb) and
# [23 · Into production](23_into_production.ipynb) ·
# **Next:** [25 · The interview](25_the_interview.ipynb)
#
# Letters: B sequences in a batch, T tokens, D hidden size, H
# heads, d = D / H, V words in the vocabulary. Three cells train a small BERT, and one waits for the compiler: 5 to 20
# seconds each, more if your machine is busy.
#
# ## Recall
#
# 1. Why does chapter 08 sort sequences by length before it makes batches? What shape do the batches have then?
#
# <details><summary>Answer</summary>
#
# All sequences of a batch are padded to the longest one, and a [PAD] costs as much as a word. Sorted, there is little
# padding, and the length differs from batch to batch. Keep that in mind: in JAX each new length has a price.
#
# </details>
#
# 2. You train with dropout, stop, and go on from a checkpoint. What must the checkpoint hold besides weights and
#    optimizer state, if the run is to continue as though it had never stopped?
#
# <details><summary>Answer</summary>
#
# How far it has read in the data and in the learning rate's schedule, and the state of the random number generator. In
# PyTorch that state is an input of every dropout layer that nobody passes. JAX makes it an input that you have to pass.
# (Chapter 22 has the same problem once more: a layer that is computed
# again in the backward pass must drop the same numbers.)
#
# </details>
#
# 3. Static or dynamic masking: what is the difference, and which one shows the model more? (Chapter 06)
#
# <details><summary>Answer</summary>
#
# Static: the masks are drawn once and stored with the text. Dynamic: they are drawn anew each time a sequence is read,
# so the model is asked about other words each time and, in the end, about all of them.
#
# </details>
#
# ## Where this part sits
#
# Nothing in BERT's picture changes. This chapter is about what happens between your Python code and the processor.
#
# ![From left to right: a Python function is traced, once for each shape and data type, into a jaxpr, a list of
# operations. XLA compiles that into one program. It runs on arrays and a random key and gives arrays. grad and vmap
# change the jaxpr before it is compiled. The Python function doesn't run again when the numbers
# come.](pictures/24_function_to_program.svg)
#
# ## The problem: dropout that drops the same
#
# JAX looks like NumPy: `jnp.ones`, `jnp.where`, `x @ y`. So let's write dropout as we would in NumPy, and then compile
# it with `jax.jit`, as is done with every serious JAX program. We call both versions four times and count how many of
# 1,000 numbers were dropped.

# %%
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # take this line out to use a GPU

import jax
import jax.numpy as jnp
import numpy as np
import torch

from bertedu.course import about, check, data_path, hint, quiz

# %%
np.random.seed(0)


def drop_as_in_numpy(x):
    keep = np.random.rand(*x.shape) < 0.9
    return jnp.where(keep, x / 0.9, 0.0)


x, compiled = jnp.ones((4, 250)), jax.jit(drop_as_in_numpy)
for name, function in (("plain", drop_as_in_numpy), ("compiled", compiled)):
    print(f"{name:9} dropped", [int((function(x) == 0).sum()) for _ in range(4)])

# %% [markdown]
# ![Which of the first 40 numbers are dropped in three calls. Plain: others in each call. Compiled: the same in every call.](pictures/24_same_dice.svg)
#
# The compiled dropout drops 82 numbers each time, and they are the same 82 in every call. There is no warning and no
# error. A model trained with it has no dropout: the same outputs are missing in every step, at the same positions of
# the batch.
#
# What happened? To answer that, we have to know what `jit` does with a function.
#
# ## What `jit` does
#
# `jax.jit(f)` gives a new function. At its first call, JAX runs your Python function **once**, with stand-ins for the
# arrays. A stand-in is called a **tracer**. It has a shape and a data type, and no numbers. Each operation on it is
# written down. The list of operations is called a **jaxpr**, and it is all that is left of your function. JAX
# translates the list into **StableHLO**, the language of the compiler **XLA**, and XLA makes a program for this
# processor. Later calls run the program. Your Python code doesn't run again.
#
# `jax.make_jaxpr` traces a function and prints the list.

# %%
print(jax.make_jaxpr(lambda x: jnp.tanh(x) * 2)(jnp.ones(3)).pretty_print(use_color=False))

# %% [markdown]
# Read it from left to right. `a:f32[3]` is the argument: float32, three numbers. Between `let` and `in` stands one
# operation after the other, and after `in` what is returned.
#
# Now we put a `print` into a function. How often will it print in three calls? Guess.


# %% tags=["guess"]
@jax.jit
def scores(queries, keys):
    print(f"  tracing with {queries.shape} {queries.dtype}")
    return queries @ keys.T


for call in range(3):
    print(f"call {call}")
    scores(call * jnp.ones((8, 16)), jnp.ones((5, 16)))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# `scores` prints once. `print` is Python, so it ran while JAX traced, and it is not in the list. The same happened to
# `np.random.rand`: it ran once, and its result went into the list as a constant.
#
# </details>
#
# That is the rule of this chapter:
#
# **A function that is compiled must be pure**: its result depends on its arguments only, and it changes nothing outside
# of itself. JAX doesn't check that. What is not pure happens while JAX traces, and at no other time.
#
# When does JAX trace again? A program is made for fixed shapes and data types. If a call comes with others, a new
# program is made, and both are kept. (The same holds for a dictionary with other keys, and for another value of an
# argument that you declare constant with `static_argnums`.)
#
# ### Exercise 24.1 · How often is it compiled?
# ●○○○ · 4 minutes
#
# A new function is compiled with `jax.jit` and called six times, with an array of these shapes and data types. How
# many programs does JAX make? (`check` examines your answer, and `hint("24.1")` gives a hint.)
#
# | call | shape | data type |
# |---|---|---|
# | 1 | `[8, 16]` | float32 |
# | 2 | `[8, 16]`, other numbers | float32 |
# | 3 | `[8, 24]` | float32 |
# | 4 | `[8, 16]` | int32 |
# | 5 | `[8, 24]`, other numbers | float32 |
# | 6 | `[3, 16]`: the last batch, which is smaller | float32 |

# %% tags=["exercise"]
### BEGIN SOLUTION
programs = 4
### END SOLUTION
check("24.1", programs)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `[8, 16]` float32, `[8, 24]` float32, `[8, 16]` int32 and `[3, 16]` float32. Calls 2 and 5 find a program that fits.
#
# </details>

# %% [markdown]
# Now let JAX answer. The counter is a side effect, so it counts tracings and not calls, which is what we want here.

# %%
traced = []


@jax.jit
def double(x):
    traced.append(f"{x.dtype}{list(x.shape)}")
    return 2 * x


for rows, length, dtype in zip((8, 8, 8, 8, 8, 3), (16, 16, 24, 16, 24, 16), "fffiff"):
    double(jnp.ones((rows, length), dtype))  # f: float32, i: int32
print(len(traced), "programs:", ", ".join(traced))

# %% [markdown]
# ![Six calls with arrows to four programs: calls 1 and 2 share one, calls 3 and 5 share one, calls 4 and 6 have one each.](pictures/24_programs_made.svg)
#
# For a BERT a compilation takes seconds to minutes. If each batch is padded to its own longest sequence, as in chapter
# 08, each new length costs that time again. So in JAX you pad to one length, or to a few (16, 32, 64, 128), and drop or
# fill the last batch.
#
# ## What a tracer can't do
#
# A tracer has no numbers. So Python can't use them: not in an `if`, not in `float(…)`, and not to decide a shape. Here are
# three such lines, and a fourth that fails for another reason. All four are fine in PyTorch.

# %%
x = jnp.array([1.0, 2.0, 3.0, 4.0])
lines = {
    "if x.sum() > 0": lambda x: x if x.sum() > 0 else -x,
    "x[x > 2]": lambda x: x[x > 2],
    "float(x.sum())": lambda x: float(x.sum()),
    "x[0] = 0": lambda x: x.__setitem__(0, 0.0),
}
for line, function in lines.items():
    try:
        jax.jit(function)(x)
    except Exception as error:
        print(f"{line:15} {type(error).__name__}")

# %% [markdown]
# All four have a way that works:
#
# - Choose numbers with `jnp.where(condition, a, b)`: both are computed, and one is taken. `jax.lax.cond` runs only one
#   of two functions. (A Python loop is allowed, and each round of it is written down. `jax.lax.scan` puts the loop
#   itself into the program.)
# - Keep the shape. Don't select the masked tokens, give the others the weight 0. That is what our MLM loss will do.
# - Return the array, and call `float` outside of the compiled function.
# - `x.at[0].set(0.0)` gives a *new* array. Arrays never change in JAX, inside `jit` and outside (they are
#   **immutable**).
#
# These four raise an error. The next three don't, and so they are worse. Guess the three results.

# %% tags=["guess"]
table = jnp.array([[10.0], [11.0], [12.0]])  # an embedding of 3 words
by_index, by_take = table[7].tolist(), jnp.take(table, 7, axis=0).tolist()
print("word 7 of 3, by index:", by_index, "by take:", by_take)
x.at[10].set(99.0)
print("after x.at[10].set(99):", x.tolist())
print("an array of 64-bit numbers becomes", jnp.asarray(np.array([1.0, 2.0])).dtype)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# - A compiled program can't stop in the middle and raise an `IndexError`. An index beyond the end is **clamped**: moved
#   to the last row. With `take` the result is `nan`. So a wrong vocabulary is not an error: it is a wrong vector.
# - `x.at[10].set(99.0)` has no effect, for two reasons. Index 10 is beyond the end, and the new array was thrown away.
# - 64-bit numbers become 32-bit ones without being asked. A float64 comparison with PyTorch needs
#   `jax.config.update("jax_enable_x64", True)`.
#
# </details>
#
# ## Random keys
#
# A pure function can't have a hidden generator. So random numbers in JAX are a function too: of a **key** (PRNG key).
# The same key gives the same numbers in every call, as long as you stay with one version of JAX. If you need other
# numbers, make another key: `split` makes several from one, and `fold_in` mixes a number into a key.

# %%
key = jax.random.key(0)


def three(key):
    return [round(float(number), 2) for number in jax.random.uniform(key, 3)]


left, right = jax.random.split(key)
print("the key        ", three(key), "and again", three(key))
print("its two halves ", three(left), three(right))
print("key and step   ", *(three(jax.random.fold_in(key, step)) for step in range(3)))

# %% [markdown]
# ![A key, the two keys that split makes of it, and the keys of three steps by fold_in, each with its numbers. The keys of steps 0 and 1 draw the same as the two halves.](pictures/24_tree_of_keys.svg)
#
# Look at the last two lines. The keys of steps 0 and 1 are the two halves of `split(key)`! With today's default
# generator (since JAX 0.5) both functions make keys in the same way inside. So there is a simple rule: **use each key
# once**. Either split it, or fold into it, or draw with it. Only `fold_in` may be used again with the same key, with
# another number each time.
#
# The dropout of the beginning gets a key as an argument. We compile it, and call it with three keys and with the first
# key again.


# %%
@jax.jit
def drop(x, key):
    keep = jax.random.bernoulli(key, 0.9, x.shape)
    return jnp.where(keep, x / 0.9, 0.0)


ones = jnp.ones((4, 250))
dropped = [int((drop(ones, jax.random.fold_in(key, step)) == 0).sum()) for step in (0, 1, 2, 0)]
print("dropped", dropped)

# %% [markdown]
# Other keys drop other numbers, and the first one comes back with its key. Compare this with the lab of chapter 22: a
# recomputation in the backward pass (`jax.checkpoint`) gets the same key, so it can't draw other numbers. And a run
# that is resumed at step 5,000 needs no saved generator, only the key of the run and the number 5,000.
#
# ## `grad`: from a function to its gradient
#
# In PyTorch, a tensor remembers how it was computed, and `loss.backward()` writes gradients into the weights. In JAX
# nothing is remembered. `jax.grad(f)` takes a function and returns another function: the gradient of f with respect to
# its first argument.
#
# Take a pencil: f(w) = (3w − 5)². Its gradient is 2 · (3w − 5) · 3, and at w = 2 that is 6. The
# second derivative is 18 everywhere. The next cell lets JAX differentiate once and twice.


# %%
def f(w):
    return (3 * w - 5) ** 2


slope, curvature = jax.grad(f), jax.grad(jax.grad(f))
print(f"at 2: f {f(2.0)}, gradient {slope(2.0)}, second derivative {curvature(2.0)}")

# %% [markdown]
# There is no `zero_grad`, since nothing is accumulated, and no `no_grad`, since nothing is recorded unless you ask for
# a gradient. The argument may be a whole model: a **pytree**, which is dictionaries, lists and tuples with arrays in
# them. The gradient is then a tree of the same form. `jax.value_and_grad` gives the value as well. `jax.tree.map`
# computes on all leaves of one tree or, leaf by leaf, of several. The next cell uses it for a step of gradient descent.

# %%
weights = {"linear": {"kernel": jnp.ones((3, 2)), "bias": jnp.zeros(2)}, "scale": [jnp.ones(2)]}


def small_loss(weights, x):
    outputs = x @ weights["linear"]["kernel"] + weights["linear"]["bias"]
    return ((outputs * weights["scale"][0]) ** 2).mean()


before, gradients = jax.value_and_grad(small_loss)(weights, jnp.ones((4, 3)))
print("shapes of the gradient:", jax.tree.map(jnp.shape, gradients))
moved = jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients)
print(f"loss before the step {before:.2f}, after it {small_loss(moved, jnp.ones((4, 3))):.2f}")

# %% [markdown]
# ## `vmap`: write for one, run for all
#
# Much of a PyTorch model is about axes: `unsqueeze`, `transpose`, `[:, None, None, :]`. With `jax.vmap` you write a
# function for one item and let JAX add the axis. It changes the function's operations, not its results: no loop runs.
#
# A dot product of two vectors is easy. We make attention scores from it by mapping it twice: once over the keys (the query
# stays: `None`), and once over the queries.
#
# ![A query and a key give a number. Mapped over four keys: a row [T]. Mapped over four queries too: a table [T, T].](pictures/24_axes_added.svg)


# %%
def dot(query, key):  # [d], [d] -> a number
    return jnp.sum(query * key)


one_query = jax.vmap(dot, in_axes=(None, 0))  # [d], [T, d] -> [T]
all_queries = jax.vmap(one_query, in_axes=(0, None))  # [T, d], [T, d] -> [T, T]
query, keys = jax.random.normal(jax.random.key(1), (2, 5, 8))
scores = all_queries(query, keys)
print(
    scores.shape,
    f"difference to a matrix product: {jnp.abs(scores - query @ keys.T).max():.5f}",
)
print(f"a row of weights sums to {jax.nn.softmax(scores, axis=-1)[0].sum():.2f}")

# %% [markdown]
# `vmap` and `grad` go together. Here are **per-example gradients**, one for *each* row of a batch, for the loss of the
# section above. In PyTorch that takes a loop, or `torch.func`, which follows these functions of JAX.

# %%
rows = jnp.arange(12.0).reshape(4, 3)
each = jax.vmap(jax.grad(small_loss), in_axes=(None, 0))(weights, rows)
print("a gradient for each of 4 rows:", jax.tree.map(jnp.shape, each))
print("of the first bias, row by row:", each["linear"]["bias"][:, 0].tolist())

# %% [markdown]
# ### Exercise 24.2 · Write for one, map over all
# ●●○○ · 12 minutes
#
# Write `attention(query, key, value, mask)`. The first three have the shape `[B, H, T, d]`. `mask` is `[B, T]` and True
# where there is text. Return the mixed values `[B, H, T, d]`. Write a function for one head of one sequence, with
# inputs `[T, d]` and `[T]`, and map it twice: over the heads, which share a mask, and over the batch. (An answer
# without `vmap` counts too.) A sequence that is all padding must not give `nan`. One trap: `x.transpose` takes the new
# order of *all* axes in JAX. For a matrix use `x.T`, else `x.swapaxes(-2, -1)`. Your answer may not use
# JAX's own `dot_product_attention`.


# %% tags=["exercise"]
def attention(query, key, value, mask):
    ### BEGIN SOLUTION
    def one_head(query, key, value, mask):  # [T, d] three times, [T] -> [T, d]
        scores = query @ key.T / query.shape[-1] ** 0.5
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        return weights @ value

    heads = jax.vmap(one_head, in_axes=(0, 0, 0, None))
    return jax.vmap(heads)(query, key, value, mask)
    ### END SOLUTION


check("24.2", attention)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Inside `one_head` there is no batch and no head, so the mask `[T]` broadcasts over the rows of the scores by itself.
# The inner `vmap` hands the mask on whole (`None`), the outer one takes one row of it for each sequence: without
# `in_axes` every input is mapped over its first axis. −10⁹ instead of −∞ keeps a row without any key finite.
#
# </details>

# %% [markdown]
# ## A layer in Flax
#
# JAX has no modules. **Flax** is the most common library for them (Equinox is another). **NNX** is its present
# interface: an `nnx.Module` is an ordinary Python object whose weights are `nnx.Param`. What differs from PyTorch's
# `nn.Module`: the weights are drawn in the constructor, from the keys in `rngs`. Older code uses Flax's earlier
# interface, **Linen**, where a module holds no weights: `model.init(key, x)` gives them, and `model.apply(weights, x)`
# takes them.
#
# The next cell writes BERT's attention. Read it beside your class of chapter 03. The cell after it is the layer of
# chapter 04. Two arguments stand out there: `epsilon` and `approximate`. You will soon see why. (The package's version
# also has dropout. Its key comes in as one more argument.)

# %%
from flax import nnx

from bertedu.jax.attention import attend, padding_bias


class MyAttention(nnx.Module):
    """Multi-head self-attention: [B, T, D] to [B, T, D]."""

    def __init__(self, hidden_size, heads, rngs):
        self.heads = heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nnx.Linear(hidden_size, hidden_size, rngs=rngs))

    def __call__(self, x, bias):
        def split(y):  # [B, T, D] to [B, H, T, d]
            return y.reshape(*y.shape[:2], self.heads, -1).swapaxes(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        mixed, _ = attend(query, key, value, bias)  # [B, H, T, d]
        return self.output(mixed.swapaxes(1, 2).reshape(x.shape))


# %%
class MyFeedForward(nnx.Module):
    def __init__(self, hidden_size, inner, rngs):
        self.expand = nnx.Linear(hidden_size, inner, rngs=rngs)
        self.shrink = nnx.Linear(inner, hidden_size, rngs=rngs)

    def __call__(self, x, approximate=False):
        return self.shrink(jax.nn.gelu(self.expand(x), approximate=approximate))


class MyLayer(nnx.Module):
    def __init__(self, config, rngs, epsilon=1e-12):
        D = config.hidden_size
        self.attention = MyAttention(D, config.num_attention_heads, rngs)
        self.attention_norm = nnx.LayerNorm(D, epsilon=epsilon, rngs=rngs)
        self.feed_forward = MyFeedForward(D, config.intermediate_size, rngs)
        self.feed_forward_norm = nnx.LayerNorm(D, epsilon=epsilon, rngs=rngs)

    def __call__(self, x, bias, approximate=False):  # [B, T, D] to [B, T, D]
        x = self.attention_norm(x + self.attention(x, bias))
        return self.feed_forward_norm(x + self.feed_forward(x, approximate))


# %% [markdown]
# **Here the first sitting ends.** You have a layer in Flax, and you know how JAX compiles, differentiates and draws
# random numbers. The second sitting fills a whole BERT with known weights and trains it.

# %% [markdown]
# ## Weights from PyTorch
#
# We take the course's trained checkpoint `world-tiny` in PyTorch, and give the weights of its first layer to `MyLayer`.
# (The checkpoint also has the head of next sentence prediction. We don't need it here, so the warning that it is left
# out is switched off.) `nnx.to_flat_state` lists each weight of a module with its path. The next cell prints names and
# shapes of both side by side. Where do they differ?

# %%
import warnings

from bertedu import BertForMaskedLM

with warnings.catch_warnings(action="ignore"):
    torch_bert = BertForMaskedLM.from_pretrained(
        data_path("checkpoints/world-tiny")
    ).eval()  # PyTorch
torch_layer = torch_bert.encoder.encoder.layers[0]
mine = MyLayer(torch_bert.config, nnx.Rngs(0))
here = {
    ".".join(map(str, path)): weight.shape
    for path, weight in nnx.to_flat_state(nnx.state(mine))
}
there = {name: tuple(weight.shape) for name, weight in torch_layer.state_dict().items()}
for name in ("attention.query.kernel", "feed_forward.expand.kernel", "feed_forward_norm.scale"):
    in_torch = name.rpartition(".")[0] + ".weight"
    print(f"{name:28} {here[name]!s:11}  {in_torch:28} {there[in_torch]}")

# %% [markdown]
# ![PyTorch's weight with the shape [out, in], two rows of three numbers, is transposed into Flax's kernel [in, out], three rows of two.](pictures/24_transposed.svg)
#
# A linear layer of PyTorch computes x Wᵀ, and Flax keeps a **kernel** and computes x W. In attention both are 128 × 128: if you forget to transpose
# there, nothing complains.
#
# `copy_weights` of the package does this for all names. We give both layers the same vectors, with padding, and compare.
# Then we make four mistakes, one at a time: Flax's default epsilon (10⁻⁶), the default of `jax.nn.gelu`
# (the tanh approximation), square kernels that are not transposed, and a missing mask. Guess which is the smallest, and
# whether you would notice it. (An `nnx.Param` is a box that holds an array: `kernel[...]` reads the array, and
# `kernel[...] = …` puts another one into the box. The array itself never changes.)

# %%
from bertedu.jax import copy_weights, to_jax


def layer_with(epsilon=1e-12, transposed=True):
    layer = MyLayer(torch_bert.config, nnx.Rngs(0), epsilon)
    copy_weights(layer, torch_layer.state_dict())
    if not transposed:
        for part in ("query", "key", "value", "output"):
            linear = getattr(layer.attention, part)
            linear.kernel[...] = linear.kernel[...].T
    return layer


ids = torch.tensor([[2, 50, 60, 70, 80, 3], [2, 90, 40, 3, 0, 0]])
mask = (ids != 0).long()
vectors = torch_bert.encoder.embeddings(ids)  # [B, T, D]
x, bias = to_jax(vectors), padding_bias(to_jax(mask), jnp.float32)

# %%
from bertedu.model.attention import padding_bias as padding_bias_in_torch

wanted = torch_layer(vectors, padding_bias_in_torch(mask, torch.float32))
wanted = to_jax((wanted[0] if isinstance(wanted, tuple) else wanted) * mask[..., None])


def gap(layer, bias=bias, **options):  # the largest difference, at tokens of text
    return float(jnp.abs(layer(x, bias, **options) * to_jax(mask)[..., None] - wanted).max())


# %% tags=["guess"]
mistakes = {"none": gap(layer_with()), "epsilon 1e-6": gap(layer_with(epsilon=1e-6))}
mistakes["approximate GELU"] = gap(layer_with(), approximate=True)
mistakes["not transposed"] = gap(layer_with(transposed=False))
mistakes["no mask"] = gap(layer_with(), bias=0.0)
room = dict(zip(mistakes, (1e-5, 1e-5, 3e-4, 1.5, 1)))
for name, difference in mistakes.items():
    shown = about(f"24 mistake, {name}", difference, within=room[name])
    print(f"{name:18} {shown:.6f}")

# %% [markdown]
# The first line is the proof of *your* layer: it computes what PyTorch's does, up to rounding.
#
# <details><summary>What you saw, and why</summary>
#
# ![The largest difference to PyTorch on a logarithmic axis: none and the wrong epsilon near a millionth, the approximate GELU near a thousandth, kernels not transposed and no mask above 1.](pictures/24_four_mistakes.svg)
#
# A wrong epsilon can't be seen here. The vectors in front of LayerNorm have variances from 2 to 7, so 10⁻⁶ more changes
# the result by less than 3 parts in ten million, no more than rounding does. It would count for a vector that is nearly
# constant. The approximate GELU differs by 0.0006. No single result would look wrong, and no test of shapes finds it.
# Only a comparison of numbers does, with a tolerance that is strict enough. And a kernel that isn't transposed is as
# wrong as can be, with the right shape.
#
# </details>
#
# ## A model is a tree
#
# The package has the rest of the model in the same style (`bertedu/jax/`, one file beside each file of
# `bertedu/model/`). The next cell copies the checkpoint into it. `nnx.split` takes the model apart into a description
# without numbers and a tree of weights, and `nnx.merge` puts it together again. With these two, a model is a pure
# function of weights and inputs, and all of JAX applies to it. (From here on, `torch_bert` is the checkpoint in PyTorch
# and `jax_bert` the same checkpoint in JAX.)

# %%
from bertedu.jax import BertForMaskedLM as JaxBert, from_torch

jax_bert = from_torch(torch_bert, JaxBert)
structure, tree = nnx.split(jax_bert)


@jax.jit
def logits_of(tree, ids, mask):  # [B, T] twice to [B, T, V]
    return nnx.merge(structure, tree)(ids, mask)


print(f"{sum(x.size for x in jax.tree.leaves(tree)):,} weights in JAX", end=", ")
print(f"{sum(x.numel() for x in torch_bert.parameters()):,} in PyTorch")

# %%
from bertedu import BertTokenizer

tokenizer = BertTokenizer.from_pretrained(data_path("checkpoints/world-tiny"))
encoding = tokenizer(["The capital of France is [MASK].", "Gold is a [MASK]."])
inputs = to_jax(encoding.input_ids), to_jax(encoding.attention_mask)
scores = logits_of(tree, *inputs)  # [B, T, V]
for row, (words, ids) in enumerate(zip(encoding.tokens, encoding.input_ids)):
    best = jnp.argsort(-scores[row, words.index("[MASK]")])[:3]
    print(" ".join(words), "→", tokenizer.convert_ids_to_tokens(best.tolist()))

# %% [markdown]
# The same number of weights, and sensible words in the gaps. The proof below is stricter.
#
# ## A masked batch, with fixed shapes
#
# Now the data. All sequences are cut or padded to 24 tokens, so that there is one shape. The package's `mask_tokens`
# takes a key. How many tokens are masked decides which labels are −100, and never a shape. So unlike chapter 06, the
# head computes scores for all positions, and the loss gives those without a label the weight 0.

# %%
from bertedu.corpora import load_corpus
from bertedu.jax import mask_tokens

corpus, T, pad = load_corpus("world"), 24, tokenizer.pad_token_id


def arrays(documents, number):  # ids [N, T], padded to one length
    lines = [line for document in documents for line in document.sentences][:number]
    ids = tokenizer(lines, max_length=T).input_ids
    return to_jax(torch.nn.functional.pad(ids, (0, T - ids.shape[1]), value=pad))


special = jnp.array([pad, tokenizer.cls_token_id, tokenizer.sep_token_id])


def masked_batch(key, ids):  # [B, T]
    candidates = ~jnp.isin(ids, special)
    masking = (0.15, tokenizer.mask_token_id, len(tokenizer))  # masking rate, [MASK], V
    seen, labels = mask_tokens(key, ids, candidates, *masking, special_tokens=2)
    return {"input_ids": seen, "attention_mask": (ids != pad).astype(int), "labels": labels}


# %%
train, held_out = arrays(corpus.train, 8192), arrays(corpus.validation, 256)
by_key = []
for step in range(2):
    batch = masked_batch(jax.random.fold_in(jax.random.key(2), step), train[:4])
    by_key.append(tokenizer.convert_ids_to_tokens(batch["input_ids"][0].tolist()))
    print(f"key of step {step}:", " ".join(by_key[-1][:12]))
print("shapes:", {name: array.shape for name, array in batch.items()})

# %% [markdown]
# ![One sentence, masked with the keys of two steps: other words are hidden or replaced, and the shape stays the same.](pictures/24_two_keys_one_sentence.svg)
#
# (*sofa* is one of the random words that replace a token.)
#
# ## Training with optax
#
# **optax** is the library of optimizers. An optimizer there is two pure functions: `init` makes its state from the
# weights (for Adam the two **moments** of each weight), and `update` takes gradients and state (AdamW's also the
# weights, for the weight decay), and returns **updates** and the next state. `optax.apply_updates` adds the updates to
# the weights. `nnx.Optimizer` does all of this for a model.
#
# ![Weights, optimizer state, batch and key go into the step, one program; new weights, a new state and the loss come out of it.](pictures/24_pure_step.svg)
#
# The next cell writes the training step of a new, untrained BERT. The whole step is compiled as one program: forward
# pass, backward pass and AdamW. But look at what it returns: the loss only. Isn't a step that changes `model` and
# `optimizer` the opposite of pure? The compiled program is pure. `nnx.jit` does for you what you did with `nnx.split`
# and `nnx.merge`: it takes both objects apart, runs a pure function from trees to new trees and a loss, and puts the
# new trees back into the objects. With `jax.jit` you return the new trees yourself (Exercise 24.3).
#
# How long does a step take, and how long the first one? The cell after it measures both, and shows that the weights of
# the model have changed. The times are those of one machine. Yours will differ.

# %%
import optax

from bertedu import BertConfig
from bertedu.jax import build_optimizer
from bertedu.jax.training import loss_of_batch

size = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
config = BertConfig(len(tokenizer), **size, intermediate_size=256, max_position_embeddings=T)
model = JaxBert(config, rngs=nnx.Rngs(0))
schedule = optax.warmup_cosine_decay_schedule(0.0, 4e-3, warmup_steps=20, decay_steps=300)
optimizer = build_optimizer(model, schedule)  # AdamW, as in chapter 08


@nnx.jit
def train_step(model, optimizer, batch, dropout_key):
    loss, gradients = nnx.value_and_grad(loss_of_batch)(model, batch, dropout_key)
    optimizer.update(model, gradients)
    return loss


# %% tags=["nbval-ignore-output"]
import time


def seconds(function):
    start = time.perf_counter()
    jax.block_until_ready(function())
    return time.perf_counter() - start


trial, of_trial = nnx.clone(model), nnx.clone(optimizer)
batch = masked_batch(jax.random.key(3), train[:32])
steps = [
    seconds(lambda: train_step(trial, of_trial, batch, jax.random.key(4))) for _ in range(4)
]
print(f"first step {steps[0]:.1f} s (it traces and compiles), later {min(steps[1:]):.3f} s")
change = trial.encoder.embeddings.token.embedding - model.encoder.embeddings.token.embedding
print(f"largest change of a token embedding after four steps: {jnp.abs(change).max():.4f}")
assert steps[0] > 2 * min(steps[1:]) and jnp.abs(change).max() > 0

# %% [markdown]
# One detail about measuring: JAX returns before the result is there (**asynchronous dispatch**), as PyTorch does on a
# GPU. Without `block_until_ready` you measure how long it takes to start the computation.
#
# Now train, for 300 steps of 32 sequences. Each step needs two keys: one for the masks and one for the dropout.
#
# The cell after the loop computes the loss on held-out sentences. Its baseline is a **unigram** model: it predicts each
# masked word with the word's frequency in the training text, plus one, whatever stands around it.

# %%
run, losses = jax.random.key(6), []
for step in range(300):
    mask_key, dropout_key = jax.random.split(jax.random.fold_in(run, step))
    first = step * 32 % len(train)
    batch = masked_batch(mask_key, train[first : first + 32])
    losses.append(train_step(model, optimizer, batch, dropout_key))
losses = [float(loss) for loss in losses]
print(f"ln V {np.log(len(tokenizer)):.2f}, first loss {about(8.0, losses[0], within=0.2):.2f}")

# %%
evaluate, test = nnx.jit(loss_of_batch), masked_batch(jax.random.key(9), held_out)
counts = 1 + jnp.bincount(train[~jnp.isin(train, special)], length=len(tokenizer))
asked = test["labels"][test["labels"] != -100]  # a shape may depend on numbers: no jit here
frequencies = jnp.log(counts.sum() / counts[asked]).mean()
print(f"last 20 steps {about(4.88, np.mean(losses[-20:]), within=0.3):.2f}", end=", ")
print(f"held out {about(5.15, evaluate(model, test), within=0.3):.2f}")
print(f"held out, unigram {about(5.35, frequencies, within=0.05):.2f}", end=", ")
print(f"the shipped checkpoint {about(0.45, evaluate(jax_bert, test), within=0.1):.2f}")

# %% [markdown]
# The loss starts at ln V, as it must. After 300 steps the model has learned more than the frequencies of the words. It
# is far from the shipped checkpoint, which is twice as wide and was trained for much longer. In the loop,
# `losses.append` keeps the loss as an array, and `float` comes after it: `float(loss)` in each step would wait for each
# step.
#
# ### Exercise 24.3 · A pure training step
# ●●●○ · 15 minutes
#
# Write a training step without Flax and optax: gradient descent with momentum.
# `train_step_with_momentum(loss, weights, velocity, batch, learning_rate)` gets a function `loss(weights, batch)` and
# two trees of the same form. The rule is velocity ← 0.9 · velocity + gradient, and then weights ← weights − learning
# rate · velocity, for each leaf. Return the new weights, the new velocity and the loss before the update. The step must
# be pure and work inside `jit`.


# %% tags=["exercise"]
def train_step_with_momentum(loss, weights, velocity, batch, learning_rate):
    ### BEGIN SOLUTION
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    weights = jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity)
    return weights, velocity, before
    ### END SOLUTION


check("24.3", train_step_with_momentum)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `jax.tree.map` goes through two trees at once, whatever their form. The names `velocity` and `weights` are bound anew;
# the trees that came in are unchanged. Nothing is kept outside of the function. In PyTorch the velocity would live
# inside the optimizer. Here the caller gets it and hands it in again.
#
# </details>

# %% [markdown]
# ## The proof
#
# Three libraries, one checkpoint: the package in PyTorch, the package in JAX, and `transformers`. They read the same
# batch, with padding. The next cells compare all hidden states, the logits, the loss and all gradients. (The file keeps
# its weights in 16 bits. `transformers` computes in the file's type unless it is told another one, so we ask for
# float32.)

# %%
import transformers

from bertedu.jax.loading import torch_name

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
hf_bert = transformers.BertForMaskedLM.from_pretrained(
    data_path("checkpoints/world-tiny"), dtype=torch.float32
)
batch = masked_batch(jax.random.key(11), held_out[:16])
in_torch = {name: torch.tensor(np.asarray(array)).long() for name, array in batch.items()}
inputs = {name: array for name, array in batch.items() if name != "labels"}


def largest(one, other):  # the largest difference of a JAX array and a tensor
    return float(np.abs(np.asarray(one) - other.detach().numpy()).max())


# %%
states = jax_bert.encoder(**inputs, output_hidden_states=True).hidden_states
with torch.no_grad():
    answer = hf_bert.eval()(**in_torch, output_hidden_states=True)
scale = float(answer.logits.abs().max())
gaps = {
    "hidden states": max(map(largest, states, answer.hidden_states)),
    "logits": largest(jax_bert(**inputs), answer.logits) / scale,
    "loss": largest(loss_of_batch(jax_bert, batch), answer.loss),
}
for name, difference in gaps.items():
    print(f"JAX against transformers, {name:14} {about(0, difference, within=1e-5):.0e}")

# %%
torch_bert.zero_grad()
torch_bert(**in_torch).loss.backward()
named = {name: weight.grad for name, weight in torch_bert.named_parameters()}
found = nnx.jit(nnx.grad(loss_of_batch))(jax_bert, batch)
differences = []
for path, gradient in nnx.to_flat_state(found):
    array = np.asarray(gradient[...])
    differences.append(
        largest(array.T if path[-1] == "kernel" else array, named[torch_name(path)])
    )
print(f"JAX against PyTorch, {len(differences)} gradients", end="  ")
print(f"{about(0, max(differences), within=1e-5):.0e}")

# %% [markdown]
# Everything agrees within 10⁻⁵ (the logits relative to the largest of them). The package's tests
# compare more: attention weights, six steps of AdamW, random models of other sizes.
#
# ## Broken BERT: a training loss too good to be true
#
# Somebody trains a small BERT on 256 sentences of their own, for 40 epochs of eight batches, with the loop from above,
# made shorter and without dropout. They are delighted with the loss on the last eight batches.

# %%
size = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
small = BertConfig(len(tokenizer), **size, intermediate_size=128, max_position_embeddings=T)
untrained = JaxBert(small, rngs=nnx.Rngs(0))
of_untrained = build_optimizer(untrained, 3e-3)


def batches(key, steps=320):
    for step in range(steps):
        first = step % 8 * 32
        yield masked_batch(key, train[first : first + 32])


def trained_on(batches):
    model, optimizer = nnx.clone(untrained), nnx.clone(of_untrained)
    losses = [train_step(model, optimizer, batch, None) for batch in batches]
    return model, np.mean([float(loss) for loss in losses[-8:]])


# %%
delighted, loss = trained_on(batches(jax.random.key(1)))
print(f"training loss {about(0.12, loss, within=0.1):.2f}")

# %% [markdown]
# How high is its loss on the *same* sentences with new masks, and on sentences that it has never seen? Guess both. (A
# model that knows nothing has 8.)

# %% tags=["guess"]
again = masked_batch(jax.random.key(12), train[:256])
same, other = evaluate(delighted, again), evaluate(delighted, test)
print(f"new masks {about('24 one key, new masks', same, within=1):.2f}", end=", ")
print(f"new sentences {about('24 one key, new sentences', other, within=1.2):.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# It is nearly as bad as a model that knows nothing, on the very sentences that it was trained on. Only the masks differ.
# In the curve of the training loss nothing looks wrong.
#
# </details>
#
# Which line of the loop is it? And what would you count to prove it? Decide before you read on.
#
# <details><summary>Which line, and how to prove it</summary>
#
# ![The tokens of a sentence that have a label, in six epochs. With one key they are the same in every epoch; with a key for each step others come each time.](pictures/24_asked_about.svg)
#
# `batches` hands the same key to `masked_batch` in every step. Drawing with a key doesn't change it, so every epoch has
# the same masks. To prove it, count which share of the words is asked about at least once.
#
# </details>
#
# The next cell counts which share of the words is asked about at least once, for these batches and for others, and
# trains a second model on the others.


# %%
def other_batches(key, steps=320):
    for step in range(steps):
        first = step % 8 * 32
        yield masked_batch(jax.random.fold_in(key, step), train[first : first + 32])


def share_asked(batches):
    asked = np.zeros((8, 32, T), bool)  # the eight batches of an epoch
    for step, batch in enumerate(batches):
        asked[step % 8] |= np.asarray(batch["labels"] != -100)
    return asked.sum() / (~jnp.isin(train[:256], special)).sum()


print(f"asked about with one key {share_asked(batches(jax.random.key(1))):.1%}", end=", ")
print(f"with a key for each step {share_asked(other_batches(jax.random.key(1))):.1%}")
repaired, loss = trained_on(other_batches(jax.random.key(1)))
print(f"training loss {about(3.4, loss, within=0.5):.2f}", end=", ")
print(f"new masks {about(3.4, evaluate(repaired, again), within=0.5):.2f}", end=", ")
print(f"new sentences {about(5.5, evaluate(repaired, test), within=0.8):.2f}")

# %% [markdown]
# With one key the model was asked about the same 17.6 % of the words in all 40 epochs, and has learned those answers by
# heart. (Why not 15 %? In each sentence 15 % of *all* tokens, [CLS] and [SEP] included, are chosen, rounded to a whole
# number, and only words can be chosen.) With a key for each step it is asked about nearly all of them. Its training
# loss is far higher, and it is the better model in both tests. (256 sentences are far too few for a BERT, so the loss
# on new sentences is high in both runs.)
#
# ### Exercise 24.4 · Keys for a step
# ●●●○ · 10 minutes
#
# Repair it for good. Write `keys_for_step(key, step)`: from the key of the run and the number of the step it makes two
# keys, one for the masks and one for the dropout. No two of all these keys may be equal, and none may be the key of the
# run. All of them are used to draw numbers, so none may be made from another one of them. The same key and step must
# give the same keys again, for any step, in any order and inside `jit`, so that a run can be resumed.


# %% tags=["exercise"]
def keys_for_step(key, step):
    ### BEGIN SOLUTION
    mask_key, dropout_key = jax.random.split(jax.random.fold_in(key, step))
    return mask_key, dropout_key
    ### END SOLUTION


check("24.4", keys_for_step)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `fold_in` makes a key that belongs to the step, and `split` makes two of it, each used once. The tempting
# `fold_in(key, step), fold_in(key, step + 1)` gives the dropout of one step the key of the next step's masks. And a
# list, `split(key, 1000)`, runs out: from step 500 on, the index is beyond the end, and every step gets the last key.
#
# </details>

# %% [markdown]
# ## Paper and code
#
# BERT came out in 2018 as TensorFlow code. The table says how three versions handle what this chapter is about.
#
# | | Google's BERT (TensorFlow 1) | PyTorch (`transformers`, this course) | JAX and Flax (this chapter) |
# |---|---|---|---|
# | what runs | a graph that is built first, then run | Python, operation by operation; `torch.compile` if asked | a program for each shape, from one tracing |
# | shapes | fixed, also the number of masks: 20 for 128 tokens | any | fixed for each program |
# | masks | drawn when the data file is written, by default ten copies | drawn for each batch, from a generator | drawn for each step, from a key |
# | dropout in evaluation | `is_training` when the graph is built | `model.eval()` | no key is passed |
# | weights of a linear layer | kernel `[in, out]` | weight `[out, in]` | kernel `[in, out]` |
# | GELU | exact, in later versions the tanh form | exact (`hidden_act="gelu"`) | tanh unless `approximate=False` |
# | LayerNorm's epsilon | 10⁻¹² | 10⁻¹² in BERT's config (PyTorch's own: 10⁻⁵) | 10⁻⁶ unless it is given |
# | LayerNorm's variance | mean of (x − mean)² | the same | mean of x² − mean² unless `use_fast_variance=False` |
#
# `transformers` had BERT in Flax until version 4; since version 5 it has PyTorch only. Several GPUs or TPUs in JAX need
# no other training step: you say how the arrays are laid out over the devices (**sharding**, `jax.sharding`), and the
# compiler adds the all-reduce of chapter 22.
#
# What a PyTorch user trips over, in one table:
#
# | in PyTorch | in JAX | if you forget |
# |---|---|---|
# | `torch.rand`, a generator | a key, used once | the same numbers in each step |
# | `x[i] = y` | `x = x.at[i].set(y)` | an error; with `.at` and no `=`, nothing happens |
# | `if loss > 5` | `jnp.where` | an error inside `jit` |
# | `x[mask]` | weights of 0 and 1 | an error inside `jit` |
# | `x.transpose(-2, -1)` | `x.swapaxes(-2, -1)` | a matrix stays as it is |
# | `x.softmax(dim=-1)`, `x.masked_fill(…)` | `jax.nn.softmax(x, axis=-1)`, `jnp.where` | an error |
# | `loss.backward()`, `zero_grad()` | `jax.value_and_grad(loss)` | there is nothing to reset |
# | `model.train()`, `model.eval()` | pass a key, or none | dropout in evaluation |
# | index beyond the end: an error | the last row, or `nan` | wrong vectors |
# | `print` for debugging | `jax.debug.print` | it prints while tracing only |
# | a time from `perf_counter` | `block_until_ready` first | you time the start, not the computation |
#
# ## Summary
#
# - `jit` runs your Python once, with **tracers** that have a shape and no numbers, and compiles the list of operations.
#   Another shape or data type is traced and compiled again.
# - A compiled function must be **pure**. Weights, optimizer state and random keys go in and come out.
# - A **key** is a value. The same key gives the same numbers. Make one for each step with `fold_in`, `split` it, and
#   use each once.
# - `grad` turns a function into its gradient, `vmap` turns a function for one into a function for all, and both go
#   together.
# - Equal shapes don't make an equal model. Transposed kernels, the tanh GELU and other defaults show in numbers only.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
quiz(24)

# %% [markdown]
# ## Interview questions
#
# <!-- comparisons-07 -->
# **1. You move BERT's training loop from PyTorch to JAX. What is compiled, when is it compiled again, and what must
# change in the code?**
#
# <details><summary>Answer in half a minute</summary>
#
# jit traces the step once with stand-ins that have a shape and no numbers, and XLA compiles what was written down.
# Another shape or data type compiles again. So the step must be pure: weights, optimizer state and random keys go in
# and come out. No branches on numbers, no shapes that depend on data, so sequences are padded to fixed lengths and
# the loss weights positions instead of selecting them.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# In PyTorch, Python runs in every step and calls one kernel after the other. State lives in objects: weights in
# modules, moments in the optimizer, random numbers in a global generator, gradients in .grad. In JAX I write a
# function, and jit runs it once with tracers, which know shape and data type only. The list of operations is compiled
# by XLA into one program, with fused kernels. Later calls with the same shapes and types run this program, and no
# Python. A new length, a smaller last batch or another type traces and compiles again, which takes seconds to minutes
# for a BERT. So I pad to one length or a few, and drop or fill the last batch. What changes in the code? First, state
# becomes arguments: the step takes weights, optimizer state, batch and key, and returns new weights and new state.
# Flax's NNX hides that in objects, and splits them into trees for jit. Second, random numbers need keys: a key for
# each step by `fold_in`, split for masks and dropout. Third, nothing depends on numbers at tracing time: jnp.where in
# place of if, weights of zero in place of selecting masked positions, no float inside the step. Fourth, arrays never
# change: x.at[i].set returns a new one. What I check afterwards: the same checkpoint gives the same numbers in both,
# within 1e-5. Kernels are transposed against PyTorch's weights, and the defaults of GELU (tanh) and LayerNorm's
# epsilon (1e-6) differ, which no shape shows. And what I get: vmap, gradients for each example, and the same code
# runs on CPU, GPU and TPU.
#
# </details>
#
# <!-- debugging-14 -->
# **2. A JAX training loop reaches a masked-LM loss of 0.1 on its own sentences, and 7 on the same sentences with new
# masks. What happened?**
#
# <details><summary>Answer in half a minute</summary>
#
# The model has learned the answers to a fixed set of questions. Its masks are the same in every epoch, because the
# same key is used in every step: in JAX, one key gives the same random numbers each time. I count how many positions
# were ever masked. With one key it stays where the first epoch left it. Then I fold the step into the key, and split
# the result for masks and dropout.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# A gap between 0.1 and 7 on the same sentences can't be ordinary overfitting to the text, since the text is the same.
# Only the masks differ. So the model knows the masked words by heart, and has never been asked about the others. In
# PyTorch this happens with masks that are drawn once and stored. In JAX it happens much more easily, since there is
# no hidden generator that moves on: jax.random.key(0) is a value, and drawing with it twice gives the same numbers.
# The usual ways there: the key is made before the loop and used in every step; the key is made inside the compiled
# step; or NumPy's generator is called inside jit, where it runs once, while tracing, and its numbers become a
# constant. To show it, I keep a table of which positions were ever masked. With proper dynamic masking it grows
# towards all of them: after ten epochs 1 minus 0.85 to the tenth, 80 %. With one key it stays where the first epoch
# left it. The repair: a key for the step by `fold_in`(key, step), then a split, one for the masks and one for the
# dropout. Each key is used once. I'd avoid `fold_in`(key, step) for masks and `fold_in`(key, step + 1) for dropout,
# since neighbouring steps then share a key. The gain is more than the repair: a run that is resumed needs only its
# key and the number of the step, no saved generator. Afterwards I write a test: the masks of two steps differ, and
# those of one step repeat.
#
# </details>
#
# ## Next
#
# [25 · The interview](25_the_interview.ipynb): everything that you have built, in the form of questions.
