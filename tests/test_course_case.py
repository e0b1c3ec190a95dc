"""What a check can assert, and the words in which it says that something is wrong."""

import numpy
import pytest
import torch
from torch import tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close, said
from bertedu.course.verdict import Ended


def double(x):
    return 2 * x


def words(act) -> str:
    """What a case says when it ends."""
    with pytest.raises(Ended) as end:
        act()
    return "\n".join((end.value.status, *end.value.lines))


def case_for(answer=double) -> Case:
    return Case("9.1", answer)


def test_two_checks_of_one_answer_see_the_same_numbers():
    assert torch.equal(case_for().randn(3), case_for().randn(3))
    assert torch.equal(case_for().randint(0, 9, (3,)), case_for().randint(0, 9, (3,)))


def test_what_was_tried_and_right_is_told():
    case = case_for()
    result = case.call(tensor([1.0, 2.0]), tried="two numbers")
    case.same_shape("the result", result, [2])
    case.close("the result", result, tensor([2.0, 4.0]))
    told = words(lambda: case.close("the result", result, tensor([2.0, 5.0]), "Look at the last."))
    assert told == (
        "not yet\nI called double on two numbers. The shape is right: the result [2].\n"
        "But the result[1] is 4 and should be 5 (1 of 2 entries differ).\nLook at the last."
    )
    case.call(tensor([1.0]), tried="one number")
    assert words(lambda: case.fail("No.")) == "not yet\nI called double on one number.\nNo."
    assert case.tried == ["two numbers", "one number"]


def test_an_answer_cannot_spoil_the_inputs_of_the_reference():
    def greedy(x, more):
        x += 1
        more["rows"].append(9)
        return x

    case, x, more = case_for(greedy), torch.zeros(2), {"rows": [1]}
    case.call(x, more, tried="zeros")
    assert torch.equal(x, torch.zeros(2)) and more == {"rows": [1]}
    assert "changed its input `x` in place" in words(case.refuse_in_place)


def test_what_torch_warns_of_does_not_stand_above_what_the_check_says(recwarn):
    case_for(lambda x: x.T).call(torch.ones(2, 3, 4), tried="three axes")  # torch warns of .T there
    assert not recwarn.list


def test_a_change_in_place_that_was_asked_for_is_accepted():
    case = case_for(lambda labels: labels.fill_(-100))
    case.call(tensor([1]), tried="a label", keeps_inputs=False)
    case.refuse_in_place()


@pytest.mark.parametrize("name", ["rows", "x"])
def test_a_changed_list_or_named_input_is_seen(name):
    def greedy(rows, x=None):
        (rows if name == "rows" else x)[0] = 5
        return 1

    case = case_for(greedy)
    case.call([1, 2], tried="a list", x=torch.zeros(1))
    assert f"`{name}`" in words(case.refuse_in_place)


def test_nan_in_an_input_is_no_change():
    case = case_for()
    case.call(tensor([float("nan"), float("-inf")]), tried="a row without keys")
    case.refuse_in_place()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda x: None, "returned None. Does it end with `return`, in every branch?"),
        (lambda x: x @ torch.ones(3, 3), "stopped with RuntimeError: "),
        (lambda x: x @ torch.ones(3, 3), "It happened in your line: (lambda x: x @ torch.ones(3, 3)"),
        (lambda: 1, "stopped with TypeError: "),
        (lambda x: exit(), "stopped with SystemExit"),
        (lambda x: [][1], "stopped with IndexError: list index out of range"),
        (lambda x: torch.nn.Module()(x), "stopped with NotImplementedError: Module"),
    ],
)
def test_an_exception_of_an_answer_is_explained(answer, expected):
    assert expected in words(lambda: case_for(answer).call(torch.zeros(2), tried="zeros"))


def test_an_exception_deep_in_torch_names_the_answers_line():
    def shaped(x):
        layer = torch.nn.Linear(3, 3)
        return layer(x)

    assert "your line: return layer(x)" in words(lambda: case_for(shaped).call(torch.zeros(2), tried="zeros"))


def test_the_usual_cause_of_an_exception_is_told():
    case = case_for()
    case.causes = {"another message": "Not this.", "inconsistent tensor size": "Give both the same length."}
    told = words(lambda: case.call(torch.ones(2), torch.ones(3), function=torch.dot, tried="two vectors"))
    assert told.endswith("Give both the same length.") and "Not this." not in told


def test_a_stub_is_told_as_not_attempted():
    def stub(x):
        raise NotImplementedError  # Your turn

    assert words(lambda: case_for(stub).call(1, tried="one")) == "not attempted yet"


def test_long_messages_and_addresses_are_cut():
    def talks(x):
        raise ValueError("word " * 100 + str(object()))

    told = words(lambda: case_for(talks).call(1, tried="one"))
    assert len(told.splitlines()[2]) < 320 and "0x" not in told


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (3, "it returned an int, and 2 things are asked for: `return values, weights`"),
        ((1, 2, 3), "it returned 3 things, and 2 are asked for"),
        (torch.zeros(2), "it returned a Tensor, and 2 things"),
    ],
)
def test_missing_parts_are_told(got, expected):
    assert expected in words(lambda: case_for().parts(got, "values", "weights"))


def test_a_list_passes_where_a_tuple_was_meant():
    assert case_for().parts([1, 2], "values", "weights") == (1, 2)


def test_shape_and_dtype_are_told():
    case = case_for()
    assert "has the shape [2, 3], and [3, 2] is expected.\nTranspose?" in words(
        lambda: case.same_shape("x", torch.zeros(2, 3), [3, 2], "Transpose?")
    )
    assert "x should be a tensor, and it is [1, 2]" in words(lambda: case.same_shape("x", [1, 2], [2]))
    assert "has the type float32, and float16 is expected" in words(
        lambda: case.dtype("x", torch.zeros(2), torch.float16)
    )


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (tensor([0.0, float("nan")]), "x[1] is nan and should be 1"),
        (tensor([0.0, float("inf")]), "x[1] is inf and should be 1"),
        (tensor([[0.0, 1.0]]), "has the shape [1, 2], and [2] is expected"),
        (tensor([5, 1]), "x[0] is 5 and should be 0"),
        (tensor([0.0, 1.0001]), "x[1] is 1.0001 and should be 1"),
        (tensor([False, False]), "x[1] is False and should be 1"),
        (0.5, "x should be a tensor, and it is 0.5"),
    ],
)
def test_numbers_that_differ_are_not_close(got, expected):
    assert expected in words(lambda: case_for().close("x", got, tensor([0.0, 1.0])))


def test_equal_infinities_are_equal_and_nans_are_not():
    x = tensor([float("inf"), float("-inf"), 1e6])
    case_for().close("x", x, x.clone())
    nan = tensor([float("nan"), 1.0])
    assert "x[0] is nan" in words(lambda: case_for().close("x", nan, nan.clone()))
    assert not is_close(nan, nan.clone()) and is_close(nan, nan.clone(), nan=True)
    told = words(
        lambda: case_for().close("x", nan, tensor([0.0, 1.0]), mistakes={"The root of a negative number.": nan})
    )
    assert told.endswith("The root of a negative number.")
    case_for().close("x", 2.0, tensor(2.0))
    case_for().close("x", tensor([1e6 + 1.0]), tensor([1e6]))


def test_a_known_mistake_is_recognised():
    case = case_for()
    mistakes = {"Rows, not columns.": tensor([3.0]), "The other.": tensor([4.0])}
    told = words(lambda: case.close("x", tensor([4.0]), tensor([1.0]), "Look again.", mistakes=mistakes))
    assert told.endswith("The other.") and "Look again" not in told
    told = words(lambda: case_for().equal("x", (1, 2), [2, 1], "Again.", mistakes=[([1, 2], "Reversed.")]))
    assert told == "not yet\nBut x is (1, 2), and should be [2, 1].\nReversed."
    case.equal("x", (tensor(1), [2]), [1, (2,)])


def test_a_gradient_that_stops_is_noticed():
    def detached(a, b):
        return a.detach() * b.detach()

    def half(a, b):
        return a * b.detach(), 0

    def spoiled(a, b):
        a *= b
        return a

    def flows(answer, part=0):
        a, b = torch.ones(2), torch.ones(2)
        case_for(answer).gradient_flows(a, b, names=("a", "b"), part=part, tried="ones")

    flows(lambda a, b: a * b)
    flows(lambda a, b: (0, a * b), part=1)
    flows(spoiled)  # changing a copy in place is judged elsewhere
    assert "cut off from its inputs" in words(lambda: flows(detached))
    assert "no gradient reaches b" in words(lambda: flows(half))
    assert "the result should be a tensor" in words(lambda: flows(lambda a, b: 3))


def test_a_gradient_has_to_be_finite():
    def flows(answer):
        case_for(answer).gradient_flows(torch.zeros(3), names=("a",), tried="zeros")

    flows(lambda a: torch.where(a > 1, a, 2 * a))
    assert "gradient of a is nan" in words(lambda: flows(lambda a: torch.where(a > 1, a.sqrt() / a, a)))
    assert "gradient of a is nan or infinite" in words(lambda: flows(lambda a: a.sqrt()))


@pytest.mark.parametrize("guess", [4, 4.0, tensor(4), tensor(4.0)])
def test_a_right_guess_in_another_type_is_accepted(guess):
    case_for(guess).predicted(4, otherwise="Count.")


@pytest.mark.parametrize(
    ("guess", "expected", "told"),
    [
        (16, 4, "You answered 16.\nToo many."),
        (5, 4, "You answered 5.\nCount."),
        (True, 1, "is written like this: 1"),
        ("4", 4, "is written like this: 1"),
        ([2, 3], [2, 4], "You answered [2, 3].\nCount."),
        ([2, 3], [[2], [3]], "You answered [2, 3].\nCount."),
        ([2], [2, 4], "Count."),
        (torch.Size([2, 3]), [3, 2], "You answered [2, 3].\nCount."),
        (3, [2, 4], "is written like this: [1, 1]"),
        ("cls", "sep", "Count."),
        ({"a": 1}, {"a": 2}, "Count."),
    ],
)
def test_a_wrong_guess_is_not_told_the_answer(guess, expected, told):
    words_said = words(lambda: case_for(guess).predicted(expected, "Count.", mistakes=[(16, "Too many.")]))
    assert told in words_said and "should be" not in words_said


def test_a_large_value_does_not_flood_the_answer():
    assert said(torch.zeros(3, 4, 5)) == "a tensor of shape [3, 4, 5] and type float32"
    assert said(list(range(1000))).startswith("a list of length 1000, [0, 1")
    assert said(object()) == "an object" and said(-0.0) == "0" and said(None) == "None"


@pytest.mark.parametrize(
    ("guess", "expected", "rounded"),
    [
        (0.3, 1 / 3, True),
        (0.7, 2 / 3, True),
        (0.6, 2 / 3, False),
        ([0.12, 3.38], [0.125, 3.375], True),
        (0.4, 1 / 3, False),
        (0.4, 0.5, False),
        (7.0, 7.2, False),
        ([0.3, 4.0], [1 / 3, 5.0], False),
    ],
)
def test_a_rounded_guess_hears_that_it_is_rounded(guess, expected, rounded):
    told = words(lambda: case_for(guess).predicted(expected, "Count."))
    assert told.endswith("Count.") != rounded and ("one decimal more" in told) == rounded


def test_an_answer_may_name_its_parameters_as_it_likes():
    def other(a, b=False):
        return 3 * a if b else a

    def only_by_name(x, *, tripled=False):
        return 3 * x if tripled else x

    for answer in (other, only_by_name, lambda x, **named: 3 * x if named["tripled"] else x):
        assert case_for(answer).call(2, tried="2", tripled=True) == 6


def test_numpys_numbers_stay_what_they_are():
    case = case_for(lambda: [numpy.int64(2), (numpy.float32(0.5), numpy.bool_(True)), {"a": numpy.str_("b")}])
    got = case.call(tried="nothing")
    assert got == [2, (0.5, True), {"a": "b"}]
    assert [type(one) for one in (got[0], *got[1], got[2]["a"])] == [int, float, bool, str]


@pytest.mark.parametrize(
    ("answer", "words_said"),
    [
        (lambda x: torch.sqrt(2), "For a single number use those of math"),
        (lambda x: torch.log(0.5) * x, "For a single number use those of math"),
        (lambda x: __import__("math").exp(x), "For tensors use those of torch"),
    ],
)
def test_a_type_error_is_told_with_its_cause(answer, words_said):
    assert words_said in words(lambda: case_for(answer).call(torch.ones(2), tried="two numbers"))


def test_a_nan_that_nobody_compared_is_refused():
    case = case_for(lambda x: [x, {"score": float("nan")}])
    case.call(1.0, tried="a number")
    assert "holds a NaN" in words(case.refuse_nan)
    case_for().refuse_nan()
