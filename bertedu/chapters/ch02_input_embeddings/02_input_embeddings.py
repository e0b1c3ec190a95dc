# %% [markdown]
# # 02 · Input embeddings
#
# A tokenizer gives us ids: numbers without a meaning. In this chapter you turn them into the vectors that BERT
# reads. At the end, your class returns the same numbers as `transformers`.
#
# ## What you will be able to do
#
# - explain why a network cannot use a token id as a number, and write the embedding look-up and its gradient;
# - show that self-attention ignores word order, and repair it with learned or sinusoidal position embeddings;
# - say why BERT adds three vectors, and what it gives up by not concatenating them;
# - compute LayerNorm with a pencil, and name two details that hand-written versions often get wrong;
# - describe what `[CLS]`, `[SEP]` and `[PAD]` look like when they enter the encoder, and prove your class correct.
#
# **Time:** two sittings of about 55 and 50 minutes, and 15 more for what is optional ·
# **You need:** [01 · The WordPiece tokenizer](01_wordpiece_tokenizer.ipynb); best after
# [01b · PyTorch in one sitting](01b_pytorch.ipynb), unless you have trained networks with PyTorch before ·
# **Next:** [03 · Self-attention](03_self_attention.ipynb)
#
# ## Recall
#
# 1. A tokenizer returns `input_ids`, `token_type_ids` and `attention_mask`. What is their shape, and what does each
#    one mean?
#
# <details><summary>Answer</summary>
#
# All three have the shape `[B, T]`: B sequences with T tokens each. A sequence is one text or a pair. `input_ids`
# says which token of the vocabulary stands at each position. `token_type_ids` says whether it belongs to the first
# text (0) or the second (1). `attention_mask` says whether it is a real token (1) or padding (0).
#
# </details>
#
# 2. Where do `[CLS]` and `[SEP]` stand when two texts are encoded as a pair?
#
# <details><summary>Answer</summary>
#
# `[CLS] first [SEP] second [SEP]`: one `[CLS]` at the very beginning, and one `[SEP]` after each of the two texts.
#
# </details>
#
# 3. What decides which id a token gets?
#
# <details><summary>Answer</summary>
#
# The line on which it stands in the vocabulary file, and nothing else. The order of the lines depends on how the
# vocabulary was learned. This chapter begins with the problem that follows from it.
#
# </details>
#
# ## Where the embeddings sit
#
# ![The map of BERT from left to right: tokenizer, embeddings, then L layers of self-attention and feed-forward, then the heads. The embeddings are lit: ids of shape B, T go in, vectors of shape B, T, D come out.](pictures/02_where.svg)
#
# Integers go in and vectors come out: for B sequences of T tokens, one vector of D numbers per token.

# %% [markdown]
# ## A token id is a name, not a quantity
#
# ![Twenty cells in alphabetical order, gold where the word is an animal: bear first, then a block from cat to goose with dog at 6, green at 9, yellow at 19; animals and colors are mixed.](pictures/02_names.svg)
#
# Suppose we feed the ids to a network as plain numbers. The simplest decision on one number is
# a **threshold**: *animal* below it and *color* above it, or the other way round. The next cell tries every threshold.
# Guess: how many of the 20 words does the **best** one classify correctly? (A coin gets about 10.)

# %% tags=["guess"]
animals = "bear cat cow dog fox goose horse owl seal wolf".split()
colors = "black blue brown green grey orange pink red white yellow".split()
words = sorted(animals + colors)  # the id of a word is its index in this list
right = [sum((word in animals) == (id < t) for id, word in enumerate(words)) for t in range(21)]
best = max(max(count, 20 - count) for count in right)  # animals below the threshold, or above
print(f"best threshold: {best} of 20 words")
print("ids:", ", ".join(f"{w} {words.index(w)}" for w in ("brown", "dog", "goose", "green")))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The best threshold gets 13 of 20, little better than a coin. *Goose* (8) and *green* (9) are neighbors, and *dog* (6)
# is twice *brown* (3). None of this means anything: an id is a name, and we asked a network to do arithmetic with
# names.
#
# </details>
#
# ### The embedding table: one vector for each token
#
# ![The ids 2, 4, 2 point at rows of a table of 5 rows and 3 columns; the rows 3 1 1, 2 4 0 and 3 1 1 come out as vectors.](pictures/02_look_up.svg)
#
# The solution is an **embedding table** with V rows, one for each token of the vocabulary, and D columns. An id only
# selects a row. The numbers in the row are learned: training can move *dog* and *cow* together and *green* away from
# them, whatever their ids are.

# %%
import torch
from torch import nn  # for later, like cross_entropy
from torch.nn.functional import cross_entropy, one_hot

table = torch.tensor([[0, 0, 0], [1, 0, 2], [3, 1, 1], [5, 5, 5], [2, 4, 0]])  # [V, D]
ids = torch.tensor([[2, 4, 2]])  # [B, T]
rows = table[ids]  # [B, T, D]
print(list(ids.shape), "->", list(rows.shape))
print(rows.tolist())

# %% [markdown]
# That is all that an **embedding layer** does in its forward pass: the same id gives the same vector at every position.
# In torch it is called `nn.Embedding(V, D)`, and the table is its `weight`.
#
# ### Exercise 2.1 · One row for each id
# ●○○○ · 5 minutes
#
# Write `look_up(table, ids)` for a table `[V, D]` and ids `[B, T]`. Return the vectors, `[B, T, D]`.


# %% tags=["exercise"]
from bertedu.course import check, hint


def look_up(table, ids):
    ### BEGIN SOLUTION
    return table[ids]
    ### END SOLUTION


check("2.1", look_up)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# Indexing with a tensor replaces each id by its row. The shape of the ids stays in front, and D is added at the end.
# `one_hot(ids, len(table)).float() @ table` is also right; the next section explains why.
#
# </details>

# %% [markdown]
# ### The same look-up as a matrix product
#
# ![Three one-hot vectors of 5 numbers times the table of 5 rows gives the same three vectors; a 1 in column 2 picks row 2.](pictures/02_product.svg)
#
# If nothing is multiplied, how does the table learn? Write each id as a **one-hot vector**: V numbers, all 0 except for
# a 1 in the column of the id. Times the table, it picks one row. So the look-up *is* a matrix product, and the table can
# be learned like any other matrix.
#
# Why is it hardly ever computed that way? Guess how much memory the one-hot vectors take in float32, for 32 texts of
# 128 tokens and BERT's vocabulary of 30,522.

# %% tags=["guess"]
flags = one_hot(ids, num_classes=5)  # [B, T, V]
print("one-hot:", flags[0].tolist())
print("largest difference to the look-up:", (flags @ table - table[ids]).abs().max().item())

B, T, V, D = 32, 128, 30522, 768
operations = 2 * B * T * V * D / 1e9  # a multiplication and an addition each
print(f"one-hot: {B * T * V * 4 / 1e6:6.0f} MB, {operations:.0f} billion operations")
print(f"look-up: {B * T * 8 / 1e6:6.2f} MB of ids, no multiplication")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# The product needs 500 MB of zeros and ones and 192 billion operations; the look-up needs neither.
#
# </details>
#
# So an embedding layer is a linear layer without bias, applied to one-hot vectors and computed cheaply. Training
# makes a number small, the **loss**, which says how wrong the answers are. From this follows the **gradient** of the table
# (how the loss changes when a number of the table changes): only the rows that were looked up influence the loss, so for
# all others it is exactly zero. A row that was looked up twice influences it in two places, and both count.
#
# ### Exercise 2.2 · Which rows get a gradient?
# ●●○○ · 5 minutes
#
# A table has five rows of one number each. Row 0 belongs to `[PAD]`, and the table was made with
# `nn.Embedding(5, 1, padding_idx=0)`. The argument `padding_idx` means: looking up this row gives it no gradient. Now
# we look up a text of four ids, and the loss is simply the sum of the four numbers that come out:
#
# ```python
# ids = torch.tensor([[2, 4, 2, 0]])
# loss = embedding(ids).sum()
# ```
#
# What is the gradient of each of the five rows? Write a list of five numbers.

# %% tags=["exercise"]
### BEGIN SOLUTION
gradient_of_rows = [0, 0, 2, 0, 1]
### END SOLUTION
check("2.2", gradient_of_rows)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![Gradients of the five rows: 0 for PAD, which is looked up but is padding, 0 for row 1, 2 for row 2, looked up twice, 0 for row 3, 1 for row 4.](pictures/02_gradients.svg)
#
# The loss is row 2 + row 4 + row 2 + row 0. Its derivative is 2 for row 2 and 1 for row 4. Rows 1 and 3 are not in
# the sum, so theirs is 0. Row 0 is in the sum, but `padding_idx` discards its gradient.
#
# </details>

# %% [markdown]
# ### A row with zero gradient can still move (optional)
#
# Does a row stay where it is when its token is not in the batch? That depends on the **optimizer**, the rule by which
# the weights follow their gradients. We take three steps on a table of ones. The first step looks up row 2, the next
# two look up row 4. Row 1 is never looked up. Guess for each of the three optimizers: does row 2 move after its own
# step, and does row 1 move at all?

# %% tags=["guess"]
for optimizer_class in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
    embedding = nn.Embedding.from_pretrained(torch.ones(5, 1), freeze=False)
    optimizer = optimizer_class(embedding.parameters(), lr=0.1)
    history = []
    for id in (2, 4, 4):
        optimizer.zero_grad()
        embedding(torch.tensor([id])).sum().backward()
        optimizer.step()
        history.append(embedding.weight.detach().flatten().tolist())
    row_1, row_2 = ([f"{rows[row]:.3f}" for rows in history] for row in (1, 2))
    name = optimizer_class.__name__
    print(f"{name:5}  row 2: {', '.join(row_2)}   row 1: {', '.join(row_1)}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# With plain SGD, a row without gradient stands still. Adam keeps a running mean of past gradients (momentum), so row 2
# goes on moving after its own step. AdamW also applies **weight decay** to every row in every step, so even row 1
# shrinks a little. BERT is trained with Adam and weight decay: "zero gradient" and "does not change" are two different
# statements.
#
# </details>
#
# ## Who bites whom?
#
# *Dog bites man* and *man bites dog* have the same three ids, and a rather different evening for the dog. Can BERT
# tell them apart with what it has so far?
#
# The layer that comes after the embeddings is **self-attention**. You build it in the next chapter. Today it is a
# black box that takes vectors `[B, T, D]` and lets every token collect information from all tokens.
#
# The next cell, whose code you need not read, makes a tokenizer with 21 tokens and an attention layer with random
# weights. The cell after it sends both sentences through and takes the vector of *dog* from each. Guess: will the two
# vectors differ?

# %% tags=["hide-input"]
from bertedu import BertConfig, BertForMaskedLM, BertModel, BertTokenizer  # two for later
from bertedu.model.attention import SelfAttention

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
VOCABULARY += "the a dog cat bear man bites sees sleeps who where in here forest ? .".split()
tokenizer = BertTokenizer(VOCABULARY)
V, D = len(tokenizer), 32
torch.manual_seed(0)
sizes = {"hidden_size": D, "num_attention_heads": 2, "num_hidden_layers": 1}
no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
config = BertConfig(vocab_size=V, intermediate_size=4 * D, **sizes, **no_dropout)
attention, token_table = SelfAttention(config), torch.randn(V, D)  # both untrained


# %% tags=["guess"]
def dog_after_attention(text, positions=0.0):
    vectors = token_table[tokenizer.encode(text)] + positions  # [T, D]
    mixed, _ = attention(vectors[None])  # [1, T, D]
    return mixed[0, tokenizer.tokenize(text).index("dog")]  # [D]


print(tokenizer.encode("dog bites man"), tokenizer.encode("man bites dog"))
difference = dog_after_attention("dog bites man") - dog_after_attention("man bites dog")
print(f"largest difference between the two vectors of dog: {difference.abs().max():.4f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Dog bites man and man bites dog each go through self-attention, and the same vector of dog comes out of both.](pictures/02_same_vectors.svg)
#
# The two vectors are equal. Self-attention is **permutation equivariant**: if you shuffle the tokens that go in, the
# same vectors come out, shuffled in the same way. It compares each vector with each, and nothing in a vector says where
# it stood. This holds for any weights, so no training can change it. (A recurrent network, which
# reads word after word, doesn't have this problem: chapter 14.)
#
# </details>
#
# If order is to count, it has to be *in the vectors*. So we give each position a vector of its own and add it.

# %%
from bertedu.course import about  # a measured number that is checked within a tolerance

torch.manual_seed(1)
position_table = torch.randn(3, D)  # [T, D], one row for each position
first = dog_after_attention("dog bites man", position_table)
second = dog_after_attention("man bites dog", position_table)
largest = about(0.35, (first - second).abs().max().item(), within=0.02)
print(f"largest difference between the two vectors of dog: {largest:.2f}")

# %% [markdown]
# Now the two vectors differ. BERT keeps these **position embeddings** in a second table of shape `[512, D]` and
# learns them like any other weight. Row 0 belongs to the first token of every sequence, row 1 to the second. There is
# no row 512: **that is why BERT cannot read more than 512 tokens.**
#
# ### Touch it
#
# The next cell shows the first four numbers of these vectors, and lets you move the words. Guess first: with positions
# added (tick the box), how many of the three tokens get another vector when *dog* and *man* change places?

# %% tags=["hide-input", "nbval-ignore-output"]
from bertedu.course.explorable import explorable

three_words = ["dog", "bites", "man"]
rows_of_words = token_table[tokenizer.convert_tokens_to_ids(three_words), :4].tolist()
places = position_table[:, :4].tolist()
explorable("word_order", tokens=three_words, vectors=rows_of_words, positions=places)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Two: *dog* and *man* stand at other places now and get another position vector. *bites* stays in the middle, and its
# vector is the same; that somebody else bites now, it learns from the other two, by attention.
#
# </details>
#
# ## Two texts in one input
#
# BERT often reads two texts at once: a question and a passage, or two sentences whose meanings are to be compared.
# `[SEP]` marks the border, but each token would have to find out on which side of the border it is. A third table
# with only two rows tells it directly: one row for segment A, one for segment B. These are the **segment
# embeddings**. In code they are called token type embeddings, because `token_type_ids` select their rows.
#
# So each token has three ids. They select three rows, and BERT adds them up to one vector of D numbers (figure 2 of the
# paper).

# %%
pair = tokenizer("who sees the bear ?", "the dog sees the bear .")
print(*pair.tokens[0])
print("token_type_ids", pair.token_type_ids[0].tolist())

# %% [markdown]
# ![Columns of the first eight tokens, with a plus between token, segment and position: CLS, A, 0; who, A, 1; and so on; after SEP, at position 7, the segment is B.](pictures/02_three_rows.svg)
#
# Read one column from top to bottom. The word *the* in the question takes row 5 of the token table, row 0 of the
# segment table and row 3 of the position table. Add three such rows with a pencil, for D = 4: (3, 0, −1, 2),
# (1, 1, 0, 0) and (0, −2, 1, 0).
#
# <details><summary>Answer</summary>
#
# ![The rows 3 0 −1 2 for the token, 1 1 0 0 for the segment and 0 −2 1 0 for the position add up to 4 −1 0 2.](pictures/02_sum_of_three.svg)
#
# </details>
#
# ## Why add?
#
# Adding looks careless: three facts go into one vector, and they seem to be mixed up for ever. Wouldn't it be safer
# to **concatenate** the vectors, D + D + D numbers side by side, so that each fact keeps its own columns?
#
# ![One matrix of three pieces W1, W2 and W3, times token, segment and position side by side, equals W1·token + W2·segment + W3·position, a sum of three vectors.](pictures/02_concatenated.svg)
#
# A concatenated vector of 3·D numbers would soon be multiplied by a matrix. The next cell does both: it multiplies the
# concatenated vector by one matrix with 3·D columns; then it cuts the matrix into three pieces, multiplies each vector
# by its own piece, and adds.

# %%
torch.manual_seed(0)
token, segment, position = torch.randn(3, D)  # each [D]
linear = nn.Linear(3 * D, D, bias=False)
concatenated = linear(torch.cat([token, segment, position]))  # [3D] -> [D]
for_token, for_segment, for_position = linear.weight.split(D, dim=1)  # each [D, D]
added = for_token @ token + for_segment @ segment + for_position @ position  # [D]
print(f"largest difference: {(concatenated - added).abs().max():.5f}")

# %% [markdown]
# They are equal: **a concatenation followed by one linear map is a sum** of three linear maps. BERT can leave out the
# three maps, because its tables are learned: instead of a row and a map, training can store the row as the map would
# make it.
#
# ### What the sum gives up (optional)
#
# The argument holds for **one** map. The first layer of BERT has three: they make three vectors of each token,
# called query, key and value (chapter 03). With concatenation, each of the three could treat positions in its own way.
# With a sum, a single position row has to serve all three, and each map treats it exactly as it treats words.
#
# How much does that cost? The next cell draws random maps for positions and looks for the position rows that imitate
# them best in a sum (least squares). It prints the squared error that remains, divided by the squared size of the
# numbers that we want: 0 means that the sum can do the same, 1 that it can do none of it.

# %%
torch.manual_seed(0)
positions = torch.randn(D, 128)  # [D, 128], 128 position vectors as columns
for maps in (1, 3):
    shared = torch.randn(maps * D, D)  # the maps for words, applied to positions too
    wanted = torch.randn(maps * D, D) @ positions  # what maps for positions would add
    best = torch.linalg.lstsq(shared, wanted).solution  # [D, 128], the best rows for a sum
    missed = (shared @ best - wanted).square().sum() / wanted.square().sum()
    print(f"{maps} map{'s' if maps > 1 else ' '}: {missed:.2f} cannot be reached")

# %% [markdown]
# With one map the sum loses nothing. With three random maps, two thirds are out of reach: a position row has D numbers,
# and three maps of its own would make 3·D numbers of it.
#
# So adding is a compromise: D numbers instead of 3·D, but words and positions share their maps.
# Ke et al. (2021) give positions their own query and key maps and report better results on GLUE, a benchmark of nine
# language understanding tasks. BERT's simple sum works well all the same.
#
# ### Can the three facts be told apart again?
#
# A simple test: is the sum still nearest to its own three rows? We take random tables with 2,000 tokens, 128 positions and
# 2 segments, add one row of each, and search each table for the row that is nearest to the sum. Guess: in how many
# dimensions does this start to work: 2, 16, 64, 256?

# %% tags=["guess"]
for size in (2, 16, 64, 256):
    torch.manual_seed(0)
    tables = [torch.randn(rows, size) for rows in (2000, 128, 2)]  # each [rows, D]
    chosen = [torch.randint(len(table), (500,)) for table in tables]  # each [500]
    added = sum(table[rows] for table, rows in zip(tables, chosen))  # [500, D]
    # cdist: the distance of each sum to each row; argmin: the nearest row
    found = [torch.cdist(added, table).argmin(dim=1) for table in tables]  # each [500]
    right = [(f == c).float().mean().item() for f, c in zip(found, chosen)]
    print("D = {:3}:  token {:4.0%}  position {:4.0%}  segment {:4.0%}".format(size, *right))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# In two dimensions the sum hides nearly everything: 68% is little more than the 50% that guessing the segment gives. In
# 256 dimensions all three rows are found every time. A space with many dimensions has room for many directions that
# are almost **orthogonal**, so a row of one table hardly disturbs the search in another. BERT-Base has D = 768.
#
# </details>
#
# ## LayerNorm with a pencil
#
# One problem is left: the sums differ in size. The tables start with small numbers (about 0.02) and
# change as they learn, some rows more than others. Tokens with long vectors would then dominate tokens with short
# ones.
#
# **Layer normalization** (LayerNorm; Ba, Kiros & Hinton 2016) puts all tokens on the same scale. It takes the D
# numbers **of one token**, subtracts their mean, and divides by their **standard deviation**. Do it on paper
# for `[0, 2, 3, 4, 6]`: the mean, the five differences from it, their squares, the mean of the squares (the
# **variance**), and its root, the standard deviation. Then run the cell.

# %%
x = torch.tensor([0.0, 2, 3, 4, 6])  # [D]
mean = x.mean()
variance = ((x - mean) ** 2).mean()
print(f"mean {mean:.0f}, variance {variance:.0f}, standard deviation {variance.sqrt():.0f}")
print("result", ((x - mean) / variance.sqrt()).tolist())

# %% [markdown]
# ![The numbers 0 2 3 4 6; minus their mean 3 they are −3 −1 0 1 3; then they are divided by 2, the root of the variance 4.](pictures/02_normalization.svg)
#
# Now guess three times. What comes out if every number of `x` is ten times as large? If 100 is added to each? And for
# five equal numbers?


# %% tags=["guess"]
def normalized(x):  # [..., D] -> [..., D], without the details that follow
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred**2).mean(dim=-1, keepdim=True).sqrt()


for name, other in (("10 · x", 10 * x), ("x + 100", x + 100), ("equal", torch.full((5,), 3.0))):
    print(f"{name:8}", [round(number, 3) for number in normalized(other).tolist()])
print(f"norm of the result {normalized(x).norm():.2f}, √D {5**0.5:.2f}")
print("1e-12 stored in float16:", torch.tensor(1e-12).half().item())

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Scaling and shifting change nothing: LayerNorm removes the size and the mean of each vector and keeps the rest. Every
# vector leaves the formula with the same norm, √D. Five equal numbers give `nan`, because the formula divides 0 by 0.
#
# </details>
#
# To turn this into BERT's layer, add two things and keep one:
#
# - **weight and bias** (often written γ and β), D learned numbers each. The result is multiplied by the weight, then
#   the bias is added, so the model can make some columns matter more than others. They start as 1 and 0.
# - **eps**, a tiny number that is added to the variance *inside the root*. It prevents the `nan`.
# - **Divided by D**: keep the variance as the mean of the squares. `torch.std` and `torch.var` divide by D − 1 unless
#   you tell them otherwise. This is a common mistake in a LayerNorm written by hand. Putting eps outside the root is
#   another.
#
# BERT's eps is 10⁻¹², far smaller than torch's default of 10⁻⁵. The last line of the output shows that float16, numbers
# of 16 bits instead of 32, stores it as 0, where it can prevent nothing. Training with 16 bits computes LayerNorm in
# float32.
#
# ### Exercise 2.3 · LayerNorm in three lines
# ●●○○ · 15 minutes
#
# Write `layer_norm(x, weight, bias, eps)` for `x` of shape `[B, T, D]`, without torch's own layer. `weight` and
# `bias` have the shape `[D]`.


# %% tags=["exercise"]
def layer_norm(x, weight, bias, eps):
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight + bias
    ### END SOLUTION


check("2.3", layer_norm)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `dim=-1`, because the D numbers of one token lie along the last axis. `keepdim=True`, so that the means,
# `[B, T, 1]`, broadcast against `x`, `[B, T, D]`. The mean of the squares divides by D, not by D − 1. The rest is
# the formula, read from left to right.
#
# </details>

# %% [markdown]
# **Here the first sitting ends.** You have the input of BERT: three rows for each token, added and normalized. The
# second sitting looks at positions: those that need no training, and those that a row of padding moves.

# %% [markdown]
# ## Positions that need no training: sinusoids
#
# The original Transformer (Vaswani et al. 2017, section 3.5) does not learn its position embeddings; it computes them
# with sines and cosines. Here p is the position, and i counts pairs of columns:
#
# $$\mathrm{PE}(p, 2i) = \sin\left(p \,/\, 10000^{2i/D}\right)
# \qquad \mathrm{PE}(p, 2i + 1) = \cos\left(p \,/\, 10000^{2i/D}\right)$$
#
# ![Ten positions as rows of eight colors. The left columns change from row to row, a turn in 6.3 tokens; the right ones have hardly moved.](pictures/02_clocks.svg)
#
# Think of each pair of columns as the hand of a clock: the sine and the cosine of an angle that grows
# with the position p. The first hand (i = 0) moves fastest, by 1 radian per token, so it needs 2π ≈ 6.3 tokens for a
# turn. This number is its **wavelength**. The wavelengths grow from pair to pair, towards 10,000 · 2π ≈ 62,800 tokens.


# %%
def sinusoids(T, D):
    speed = 10000 ** (-torch.arange(0, D, 2) / D)  # [D / 2], radians per token
    angle = torch.arange(T)[:, None] * speed  # [T, D / 2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)  # [T, D]: sin, cos, …


for row in sinusoids(3, 4).tolist():
    print(" ".join(f"{number:5.2f}" for number in row))
print(f"longest wavelength at D = 768: {2 * torch.pi * 10000 ** (766 / 768):,.0f} tokens")
rows = sinusoids(100, D)  # [T, D]
for distance in (0, 1, 5):
    products = (rows @ rows.T).diagonal(distance)  # all pairs of positions at this distance
    print(f"distance {distance}: dot products {products.min():.2f} to {products.max():.2f}")

# %% [markdown]
# The fast columns tell neighbors apart, the slow ones tell regions apart, like the digits of a counter.
#
# Now look at the last lines. For each distance, the smallest and the largest **dot product** (multiply entry by entry,
# and add) are equal: the dot product of two rows depends only on their **distance**. The reason: in k tokens, a hand
# always turns by the same angle, and sin a · sin b + cos a · cos b = cos(a − b) depends on nothing but that angle.
#
# ## Does training find an order by itself? (optional)
#
# BERT does without this formula. It initializes the position table with random numbers and learns it. Does training
# find an order among the positions? We give it a task that rewards one.
#
# The texts are **random walks**: each token is a number from 0 to 15, and the next one differs by at most 1 (15 and
# 0 are neighbors). We mask some tokens, and the model has to fill them in, so it must know which tokens stand next
# to the gap. The model is a single attention head, as small as possible. The next two cells define the data, the
# model and the training loop, and print one walk.
#
# Then we train three times for 200 steps: without positions, with sinusoids, and with a learned table. Guess the
# order of the three. An answer counts as correct if it is at most 1 off, so a blind guess is correct in 3 of 16 cases
# (19%). The figure then shows the **cosine** of every two position rows: 1 if they point in the same direction, 0 at a
# right angle, −1 in opposite directions.

# %%
NUMBERS, LENGTH, MASK = 16, 24, 16  # the ids 0 to 15 are numbers, 16 is the mask


def random_walks(count):
    steps = torch.randint(-1, 2, (count, LENGTH)).cumsum(dim=1)  # [B, T]
    return (torch.randint(NUMBERS, (count, 1)) + steps) % NUMBERS


def fill_in(count, position, embed, query, output):
    ids = random_walks(count)  # [B, T]
    masked = torch.rand(ids.shape) < 0.15
    tokens = embed(ids.masked_fill(masked, MASK))  # [B, T, D]
    vectors = tokens + position  # [B, T, D]
    weights = (query(vectors) @ vectors.mT / D**0.5).softmax(dim=-1)  # [B, T, T], attention
    return output(weights @ tokens)[masked], ids[masked]  # scores and true numbers


torch.manual_seed(0)
print(random_walks(1)[0].tolist())


# %% tags=["guess"]
def train(position, steps=200):
    torch.manual_seed(0)
    embed, query, output = nn.Embedding(NUMBERS + 1, D), nn.Linear(D, D), nn.Linear(D, NUMBERS)
    layers = nn.ModuleList([embed, query, output])
    optimizer = torch.optim.Adam([*layers.parameters(), position], lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        cross_entropy(*fill_in(64, position, *layers)).backward()
        optimizer.step()
    scores, truth = fill_in(1000, position, *layers)
    offset = (scores.argmax(dim=-1) - truth + 1) % NUMBERS  # 0, 1 or 2: at most 1 off
    return (offset <= 2).float().mean().item()


torch.manual_seed(1)
learned = nn.Parameter(0.1 * torch.randn(LENGTH, D))  # [T, D]
initial = learned.detach().clone()
runs = {
    "no positions": torch.zeros(LENGTH, D),
    "sinusoids": sinusoids(LENGTH, D),
    "learned": learned,
}
for name, position in runs.items():
    found = about(f"masked words, {name}", train(position), within=0.06)
    print(f"{name:12} {found:.0%}")

# %% tags=["hide-input"]
from torch.nn.functional import cosine_similarity

from bertedu.visualization.picture import BLUE, ORANGE, Picture, new_figure, quiet

figure = new_figure(7.8, 2.7)
titles = ["sinusoids: computed", "learned: initialization", "learned: after training"]
compared = (sinusoids(LENGTH, D), initial, learned.detach())
for axes, title, rows in zip(figure.subplots(1, 3), titles, compared):
    cosines = cosine_similarity(rows[:, None], rows[None], dim=-1)  # [T, T]
    image = axes.imshow(cosines, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_title(title, fontsize=9)
    axes.set(xticks=[0, 8, 16, 23], yticks=[0, 8, 16, 23], xlabel="position")
figure.axes[0].set_ylabel("position")
figure.colorbar(image, ax=figure.axes, label="cosine", shrink=0.8)
near = about(0.9, cosines.diagonal(1).mean().item(), within=0.15)
far = about(-0.8, cosines.diagonal(12).mean().item(), within=0.2)
print(f"learned rows, mean cosine: {near:.1f} at distance 1, {far:.1f} at distance 12")
Picture(
    figure,
    alt="Cosine of each pair of 24 positions, three squares. Sinusoids: red, darkest along the "
    "diagonal, in even stripes. Learned, at initialization: noise. Learned, after training: a "
    "red band along the diagonal, blue further away.",
)

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Without positions the model can only guess from the numbers that occur in the text. With either kind of positions it
# does far better, and one run each is not enough to rank the two. Vaswani et al. report "nearly identical results" for
# translation (section 3.5).
#
# In the corners of the right square, more than 20 positions apart, the cosine comes back to about 0. The rows turn with
# the position, a little like the hand of a clock: past the opposite direction they come round again.
#
# </details>
#
# The figure shows *what* was learned. For the sinusoids (left) the cosine depends only on the distance, by
# construction. The learned table started as noise (middle). After training (right), neighboring rows point in similar
# directions, and rows 12 apart in nearly opposite ones. Nobody told the table that position 7 is next to position 8; the
# task rewarded it.
#
# | | sinusoids | learned |
# |---|---|---|
# | weights | none | 512 · D |
# | a text of more than 512 tokens | can be computed, but the model has never seen such rows | there is no row |
# | positions that training rarely reaches | the row exists, but the model has hardly learned to use it | the row itself has hardly been learned |
# | what the rows say | distance, by construction | whatever the data reward |
#
# The third line explains a detail of BERT's training. Long texts are expensive, so 90 % of the steps used sequences
# of 128 tokens. The remaining 10 % used 512 tokens, "to learn the positional embeddings" (Devlin et al. 2019,
# appendix A.2).
#
# ## What `[CLS]`, `[SEP]` and `[PAD]` look like
#
# You have built all the parts, so from here we use the package's `BertEmbeddings`: three tables, their sum, LayerNorm
# and dropout (chapter 04; switched off here). `BertModel` creates it and initializes its tables.
#
# The next cell makes a batch of two texts. The second is shorter and ends with two `[PAD]`, whose row in the token
# table is all zeros. Guess: what is the **norm**, the length, of the *vectors* that come out for the padding? (It is
# the root of the sum of the squares.)

# %% tags=["guess"]
torch.manual_seed(0)
embeddings = BertModel(config).embeddings
batch = tokenizer(["the dog sees the bear .", "who sleeps here ?"])
with torch.no_grad():
    vectors = embeddings(batch.input_ids, batch.token_type_ids)  # [B, T, D]
print(f"[PAD]'s row in the token table: norm {embeddings.token.weight[0].norm():.2f}")
for token, vector in zip(batch.tokens[1], vectors[1]):
    print(f"{token:7} norm {vector.norm():.2f}")

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# ![Norms of the eight vectors of who sleeps here: all 5.66, the two of PAD as well as those of the words.](pictures/02_padding.svg)
#
# A zero row plus a position plus a segment is not zero, and LayerNorm, whose weight is still 1 and whose bias is 0,
# brings every vector to √32 ≈ 5.66.
#
# </details>
#
# Padding walks into the encoder looking like a word. **Nothing in this layer hides it**; that is the job of the
# attention mask, in the next chapter.
#
# Now the other two special tokens, and one more case. Some programs pad on the **left**:
# `[PAD] [PAD] [CLS] who sleeps here ? [SEP]`. The next cell prints the largest difference between two vectors, four
# times. Guess for each line: is it 0 or not?


# %% tags=["guess"]
def compare(one, other):
    return f"largest difference {(one - other).abs().max():.2f}"


with torch.no_grad():
    of_pair = embeddings(pair.input_ids, pair.token_type_ids)[0]  # [14, D]
    padded_left = embeddings(batch.input_ids[1:].roll(2, dims=1))[0]  # [T, D], both [PAD] first
print("[CLS] of one text and of another:    ", compare(vectors[0, 0], vectors[1, 0]))
print("first and second [SEP] of the pair:  ", compare(of_pair[6], of_pair[13]))
print("first and second 'bear' of the pair: ", compare(of_pair[4], of_pair[11]))
print("a text padded left and padded right: ", compare(padded_left[2:], vectors[1, :6]))

# %% [markdown]
# <details><summary>What you saw, and why</summary>
#
# Only the first line is 0: always the same id, always position 0, always segment A. When `[CLS]` enters, it knows
# nothing about the text, so everything that it knows at the end was collected on the way. It has no word of its own to
# represent, which makes it a good candidate for a summary. `[SEP]` is one token with many vectors, because its position
# and its segment vary.
#
# </details>
#
# Padding on the left changes every token of the text, because each stands two positions further to the right. `[CLS]`
# is at position 2, where it never was in training. No error is raised, but the predictions can get worse. BERT
# expects padding on the right. To read text padded on the left, count the positions from the mask.
#
# ### Exercise 2.4 · Positions for text padded on the left
# ●●●○ · 15 minutes
#
# Write `position_ids(attention_mask)`. It takes a mask `[B, T]` of ones and zeros and returns positions `[B, T]`. The
# first real token of each sequence gets position 0, the next one 1, and so on, wherever the padding is. Padding may
# get any position from 0 to T − 1: these rows exist in every position table that is long enough for the text.


# %% tags=["exercise"]
def position_ids(attention_mask):
    ### BEGIN SOLUTION
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)
    ### END SOLUTION


check("2.4", position_ids)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# ![A text with two tokens of padding on the left: counted from the left, CLS has position 2; counted by the mask it has 0, and the next tokens 1, 2, 3, as in training.](pictures/02_left_padding.svg)
#
# The running sum of the mask counts the real tokens up to each position, for example 0 0 1 2 3. Subtracting 1 gives
# the first real token position 0, and `clamp` lifts the −1 of the padding to a row that exists. In `transformers`
# you pass the result as `position_ids=…`. RoBERTa counts its positions in the same way, but starts at 2: its `<pad>`
# has id 1, and positions start one after it. That is why its table has 514 rows for 512 tokens.
#
# </details>

# %% [markdown]
# ## The proof
#
# Here is everything as one class. Its parts have the same names as in the package, so weights can be copied from one
# to the other.
#
# Is it correct? We compare it with the class in `transformers`, at BERT's full vocabulary. The
# second cell creates that reference and fills all its weights with random numbers, LayerNorm's too, so that nothing
# is equal just because it is zero. `transformers` uses longer names; `from_transformers` translates them, and the
# cell prints the translation. The third cell copies the weights into your class and into the package's and compares
# the outputs for 8 texts of 512 tokens, with padding and both segments.


# %%
class Embeddings(nn.Module):
    def __init__(self, vocab_size, hidden_size, max_positions=512, segments=2):
        super().__init__()
        self.token = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
        self.position = nn.Embedding(max_positions, hidden_size)
        self.token_type = nn.Embedding(segments, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids, token_type_ids):  # [B, T] and [B, T]
        positions = self.position(torch.arange(input_ids.size(1)))  # [T, D]
        vectors = self.token(input_ids) + self.token_type(token_type_ids)  # [B, T, D]
        return self.dropout(self.norm(vectors + positions))


# %%
from transformers import BertConfig as TheirConfig
from transformers.models.bert.modeling_bert import BertEmbeddings as TheirEmbeddings

from bertedu.checkpoints.names import from_transformers

torch.manual_seed(0)
theirs = TheirEmbeddings(TheirConfig(hidden_size=128)).eval()
weights = {}  # the package's names -> the weights of `theirs`
for name, parameter in theirs.named_parameters():
    nn.init.normal_(parameter)
    renamed = from_transformers(f"embeddings.{name}").removeprefix("embeddings.")
    weights[renamed] = parameter.detach()
    print(f"{name:29} -> {renamed}")

# %%
from bertedu.model.embeddings import BertEmbeddings


def load(embeddings):
    embeddings.load_state_dict(weights)
    return embeddings.eval()  # eval: no dropout


package = load(BertEmbeddings(BertConfig.preset("tiny")))  # D = 128 too
yours = load(Embeddings(30522, 128))
input_ids, segment_ids = torch.randint(30522, (8, 512)), torch.randint(2, (8, 512))  # [B, T]
input_ids[:, 400:] = 0  # padding
with torch.no_grad():
    expected = theirs(input_ids, segment_ids)  # [B, T, D]
    for name, model in (("yours", yours), ("the package's", package)):
        difference = (model(input_ids, segment_ids) - expected).abs().max()
        print(f"{name:13} against transformers: largest difference {difference:.5f}")

# %% [markdown]
# The differences are zero to five decimals. Your embeddings are BERT's embeddings.
#
# ## Broken BERT: equal to the reference, and still wrong
#
# A colleague has moved the three tables into a function and tidied up on the way. Does the new class still pass the
# proof?


# %%
def broken_tables(vocab_size, max_positions, segments, hidden_size):
    token = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
    position = nn.Embedding(max_positions, hidden_size, padding_idx=0)
    token_type = nn.Embedding(segments, hidden_size, padding_idx=0)
    return token, position, token_type


class BrokenEmbeddings(Embeddings):
    def __init__(self, vocab_size, hidden_size, max_positions=512, segments=2):
        super().__init__(vocab_size, hidden_size, max_positions, segments)
        made = broken_tables(vocab_size, max_positions, segments, hidden_size)
        self.token, self.position, self.token_type = made


broken = load(BrokenEmbeddings(30522, 128))
with torch.no_grad():
    difference = (broken(input_ids, segment_ids) - expected).abs().max()
print(f"broken against transformers: largest difference {difference:.5f}")

# %% [markdown]
# It does: the difference is still zero to five decimals. All tests pass, and the change is merged. Some weeks later
# somebody trains a model with it and measures how far each row of the tables has moved.
#
# The next cell does the same on a small scale. It trains for a hundred steps on sequences of 24 random tokens, and
# calls the second half of each sequence segment B. The task is made up; its answers depend on all three ids. The
# optimizer is Adam without weight decay, so a row moves only if it has received a gradient. The cell after it plots
# how far the rows of two tables moved.

# %%
torch.manual_seed(0)
length = 24
small = BrokenEmbeddings(16, D, max_positions=length)
output = nn.Linear(D, length)
initial = {name: weight.detach().clone() for name, weight in small.named_parameters()}
optimizer = torch.optim.Adam([*small.parameters(), *output.parameters()], lr=0.01)
segments = (torch.arange(length) >= length // 2).long().expand(64, length)  # [B, T]: 0 … 1 …
for step in range(100):
    ids = torch.randint(16, (64, length))  # [B, T]
    wanted = (ids + torch.arange(length) + 5 * segments) % length  # [B, T], uses all three ids
    optimizer.zero_grad()
    cross_entropy(output(small(ids, segments)).flatten(0, 1), wanted.flatten()).backward()
    optimizer.step()
moved = {
    name: (w.detach() - initial[name]).norm(dim=-1) for name, w in small.named_parameters()
}

# %% tags=["hide-input"]
from bertedu.visualization.picture import BLUE, ORANGE, Picture, new_figure, quiet

figure = new_figure(7.4, 2.4)
left, right_side = figure.subplots(1, 2, width_ratios=[4, 1])
panels = ((left, "position", "position"), (right_side, "token_type", "segment"))
for axes, name, title in panels:
    distances = moved[f"{name}.weight"]
    axes.bar(range(len(distances)), distances.tolist(), color=BLUE)
    axes.text(0, 0.05, "none", ha="center", va="bottom", color=ORANGE, fontsize=9, rotation=90)
    every = 1 if len(distances) < 9 else 4
    axes.set(xlabel=title, ylabel="distance moved", xticks=range(0, len(distances), every))
    quiet(axes)
    print(f"{title:8} rows that did not move: {(distances == 0).nonzero().flatten().tolist()}")
Picture(
    figure,
    alt="How far each row moved in training: positions 1 to 23 and segment 1 moved, position 0 "
    "and segment 0 did not move at all.",
)

# %% [markdown]
# Position 0 and segment 0 did not move at all. In BERT, `[CLS]` stands at position 0 of every sequence, and all
# tokens of a text that comes alone are in segment 0. Find the reason in `broken_tables` before you read on. Then
# explain why the proof did not notice.
#
# ### Exercise 2.5 · Repair the tables
# ●●●○ · 10 minutes
#
# Write `tables` with the same arguments as `broken_tables`. Every row that should learn must be able to learn, and
# looking up the row of `[PAD]` must still give it no gradient.


# %% tags=["exercise"]
def tables(vocab_size, max_positions, segments, hidden_size):
    ### BEGIN SOLUTION
    token = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
    return token, nn.Embedding(max_positions, hidden_size), nn.Embedding(segments, hidden_size)
    ### END SOLUTION


check("2.5", tables)

# %% [markdown] tags=["solution"]
# <details><summary>Solution, explained</summary>
#
# `padding_idx` means: looking up this row gives it no gradient. Only in the token table is id 0 `[PAD]`. In the
# position table, row 0 is the first position; in the segment table, row 0 is the first text.
#
# The proof compared **forward passes**, with weights that were loaded. `padding_idx` changes only the backward pass
# (and the initialization, where it sets its row to zero). Two modules that compute the same can learn differently, so
# compare gradients too.
#
# </details>

# %% [markdown]
# This bug is real. In March 2019 the library that is now `transformers` gave `padding_idx=0` to all three of BERT's
# tables (pull request [358](https://github.com/huggingface/transformers/pull/358)). Two weeks later a contributor
# pointed out that row 0 has a meaning for positions and segments (pull request
# [409](https://github.com/huggingface/transformers/pull/409)), and two of the three arguments were removed.
#
# Such a bug raises no error. One row that never learns is easily missed, because the other weights can learn to work
# around it. You only see it if you ask *which* weights move.
#
# ## Paper and code
#
# | | paper (Devlin et al. 2019) | Google's code | `transformers` | this course |
# |---|---|---|---|---|
# | LayerNorm and dropout after the sum | not in figure 2, which shows only the sum | yes | yes | yes |
# | eps of LayerNorm | not given | 10⁻¹², the default of the TensorFlow layer | 10⁻¹², a setting of the model | 10⁻¹² |
# | look-up | – | one-hot product for segments always, for tokens optionally | `nn.Embedding` | `nn.Embedding` |
# | more than 512 tokens | pre-trained on at most 512 (appendix A.2) | stops with an assertion | an error from torch | an error that names the length |
# | row of `[PAD]` | – | a row like any other | `padding_idx`: starts as zero, no gradient from look-ups | same as `transformers` |
#
# BERT also departs from the Transformer of Vaswani et al. 2017. There, token vectors are multiplied by √D before the
# positions are added (section 3.4), and positions are computed. BERT has no such factor: all three tables are
# learned, they start with the same standard deviation, and LayerNorm follows the sum.
#
# <details><summary>A LayerNorm that is nearly right</summary>
#
# LayerNorm has a well-known variant. The Annotated Transformer divides by `x.std() + eps`, which differs from
# LayerNorm twice: D − 1 instead of D, and eps outside the root. One of the first versions of BERT in PyTorch copied
# it ([codertimo/BERT-pytorch, issue 30](https://github.com/codertimo/BERT-pytorch/issues/30)). At D = 768 this
# changes the result by less than a thousandth. Such a model can train well, but with published weights it does not
# give exactly the published model's outputs.
#
# </details>
#
# In the table above, the row about `[PAD]` hides a trap. BERT's **masked language model head**, the output layer that predicts hidden
# words (chapter 06), uses the token table a second time, as its output matrix. This is called **weight tying**. So
# does row 0 really get no gradient? The cell computes one loss and prints how large the gradients of three rows are.

# %%
torch.manual_seed(0)
model = BertForMaskedLM(config)
labels = batch.input_ids.masked_fill(batch.attention_mask == 0, -100)  # -100: no label
model(**batch, labels=labels).loss.backward()
norms = model.bert.embeddings.token.weight.grad.norm(dim=-1)  # [V]
rows = ((token, norms[VOCABULARY.index(token)]) for token in ("[PAD]", "forest", "dog"))
print("gradient norms:", ", ".join(f"{token} {norm:.2f}" for token, norm in rows))

# %% [markdown]
# `[PAD]` gets a gradient, and so does *forest*, which is not in the batch. `padding_idx` stops only the gradient of
# the look-ups. The output layer gives every row a gradient, because each of the V tokens is a possible answer, and
# the loss lowers the scores of the wrong ones. So `[PAD]`'s row is not zero in a trained BERT.
#
# ## Summary
#
# - An id is a name. The **embedding table** gives it D learned numbers. A look-up equals a product with one-hot
#   vectors, without computing it. Only rows that are looked up get a gradient from it.
# - Self-attention is **permutation equivariant**: without position embeddings it ignores word order. BERT learns one
#   row for each of 512 positions.
# - A third table with two rows, the **segment embeddings**, tells the first text from the second.
# - Adding equals concatenating followed by one linear map. It keeps vectors narrow, and it makes queries, keys and
#   values treat positions as they treat words.
# - **LayerNorm** brings the D numbers of one token to mean 0 and variance 1 (divided by D, eps inside the root), then
#   applies weight and bias.
# - `[CLS]` enters as the same vector in every sequence. Padding enters at the same scale as any word, and only the
#   attention mask will hide it.
# - Equal outputs are half of a proof. Equal gradients are the other half.
#
# ## Quiz

# %% tags=["nbval-ignore-output"]
from bertedu.course import quiz

quiz(2)

# %% [markdown]
# ## Interview questions
#
# Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back
# after [08 · Pre-training](08_pre_training.ipynb).
#
# <!-- encoder-08 -->
# **1. Why does BERT stop at 512 tokens, and what happens at token 513?**
#
# <details><summary>Answer in half a minute</summary>
#
# Its positions are a learned table with 512 rows, so token 513 has no vector: an index error, or silent truncation by
# the tokenizer. Attention itself would run. To go further: overlapping windows, more rows (copied from the old ones)
# with further training on long texts, or a model with relative or rotary positions. A row that was never trained is
# noise, so resizing the table alone does nothing good.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Three parts of BERT see the length. The feed-forward network doesn't, it works on each token alone. Attention
# accepts any number of tokens, at a cost that grows with the square.
#
# The position embeddings are the limit: a learned table with 512 rows, from 0 to 511, and each token adds the row of
# its position. For token 513 there is no row. With a good implementation you get an error; in a pipeline the
# tokenizer usually cuts the text without a word, and the end of every long document disappears. That silent
# truncation is the first thing I check. Why 512? The paper doesn't say. It names the quadratic cost as the reason why
# nine tenths of the steps were trained at 128.
#
# Can we just make the table longer? The new rows would be random, and the model has never learned what they mean.
# What works is to initialize them from the old ones, for example by repeating the table, and to continue training on
# long texts, as Longformer did from RoBERTa. With sinusoids there would be a vector for any position, but the model
# would never have seen it in training. Rotary positions have no table that ends; they still need training, or
# scaling, for distances that are longer than those seen.
#
# In practice I first measure how many documents are longer and whether the end matters. Then windows with an overlap,
# and after that an encoder for 8,192 tokens, such as ModernBERT.
#
# </details>
#
# <!-- encoder-09 -->
# **2. BERT adds token, position and segment embeddings instead of concatenating them. What is lost, and when does it
# matter?**
#
# <details><summary>Answer in half a minute</summary>
#
# For one linear map nothing is lost: a map of a concatenation is the sum of two maps, and a learned table can absorb
# its own. In hundreds of dimensions random rows are nearly orthogonal, so all three facts can be read out of the sum.
# But query, key and value are three maps, and one position row serves all three, through the same weights as words.
# DeBERTa and rotary positions separate them.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# Start with the concatenation. Put word w and position p side by side and apply a matrix: W times w plus U times p.
# That is a sum of two maps. If the tables are learned, U can be absorbed by the position table, so for a single
# linear map adding is as general as concatenating, and cheaper: D numbers for each token instead of 2·D, or 3·D with
# the segment.
#
# Second, does the sum mix up what it adds? In high dimensions hardly. Rows of random tables with 768 entries are
# nearly orthogonal, so the nearest row in each table to the sum is the right one. In two dimensions this fails.
#
# Now the price. A layer has three maps, for query, key and value. With concatenation each could treat the position in
# its own way: three matrices U. With a sum there is one row for each position and the word's matrices are applied to
# it. D numbers have to serve 3·D demands. With random matrices about two thirds of what separate maps could do is out
# of reach; trained ones can adapt to each other, so in BERT it may be less. There is a second constraint: the token
# table is tied to the output layer, so it isn't free to absorb a map. And the product of query and key mixes four
# terms: word with word, word with position, position with word, position with position, all with the same weights.
#
# That is what later models repaired. TUPE gives positions their own projections. DeBERTa separates the terms and uses
# distances. Rotary positions don't enter the sum at all: they rotate queries and keys, and leave the values alone.
# Does it matter in practice? On ordinary text BERT's sum works well; the gains reported are around a point.
#
# </details>
#
# <!-- encoder-10 -->
# **3. "Padding can't hurt: its embedding is zero." What do you answer?**
#
# <details><summary>Answer in half a minute</summary>
#
# The row of `[PAD]` in the token table may be zero, but what enters the encoder isn't. Position and segment are
# added, and LayerNorm scales the result to norm √D. So padding looks like a word to attention and has to be masked.
# And with tied weights the row gets a gradient from the output layer, so it doesn't even stay zero during
# masked-language-model training.
#
# </details>
#
# <details><summary>In two minutes</summary>
#
# There are three steps between the row and the encoder. First the table. With `padding_idx` set, PyTorch initializes
# the row of `[PAD]` as zero and gives it no gradient from the look-up. In Google's own BERT it is an ordinary row
# that was never zero. Second, the sum: the position vector and the segment vector are added, so the sum isn't zero.
# Third, LayerNorm: it brings every token to mean 0 and variance 1 over its D numbers, so the norm is √D, about 28 for
# D = 768, before the learned weight and bias. It can't be told from a word by its size.
#
# So in attention every real token would give padding a share of its weight, and the more padding, the larger that
# share: the result of a text then depends on the longest text in its batch. That is why the mask adds a very negative
# number to the scores of padded keys before the softmax. Masked keys get weight zero. Padded queries are still
# computed, and their outputs are garbage, so nobody may read them: not in a mean over tokens, not in a max, not in
# the loss, where the label is -100.
#
# Then there is the gradient. The output layer of the masked language model uses the same table, so the row of `[PAD]`
# is also the weight vector of a class that is never right, and gets a gradient in each step that pushes its logit
# down.
#
# The check that I write takes a minute: encode a text alone and with 20 padding tokens, and compare the outputs at
# the real tokens to 1e-5.
#
# </details>
#
# ## Next
#
# Every token now knows which word it is, where it stands and to which text it belongs. It knows nothing about its
# neighbors. In [03 · Self-attention](03_self_attention.ipynb) tokens start to attend to each other, and you open
# this chapter's black box.
