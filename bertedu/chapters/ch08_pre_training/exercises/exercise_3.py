"""Exercise 8.3: Five patients."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

RUNS = (
    "labels at every token",
    "learning rate too high",
    "shuffled pair labels",
    "no warm-up",
    "frozen output layer",
)


DIAGNOSES = dict(zip("ABCDE", (RUNS[0], RUNS[1], RUNS[2], RUNS[3], RUNS[4]), strict=True))


LOOK_AT = {
    "A": "compare the training loss of A with its validation loss. What makes the training questions easier?",
    "B": "its losses look like those of D. Compare the learning rates, and what both runs say about pairs.",
    "C": "compare both tasks of C with the healthy run. One of them is learned, the other isn't.",
    "D": "its losses look like those of B. Which of the two starts at its highest learning rate?",
    "E": "compare E with the dotted line. A bias for each word is enough to reach it. What if that can't be learned?",
}


@exercise(
    "8.3",
    "Five patients",
    difficulty=2,
    minutes=10,
    kind="value",
    hints=(
        "Begin with the two easiest ones. In which run is the training loss far below the validation loss? "
        "In which run is one task learned as in the healthy run, and the other not at all?",
        "A bias for each word is enough to reach the dotted line: which run can't get down to it? For the last two, "
        "compare the last two columns of the table. With a warm-up, the learning rate at step 20 is far below the "
        "highest.",
    ),
)
def diagnose(case: Case) -> None:
    """All five letters; the first wrong one is told where to look."""
    case.doing = "You diagnosed five runs."
    case.is_a("the diagnosis", case.answer, dict, 'a dictionary like {"A": "no warm-up", "B": …}')
    given = {str(key).strip().upper(): value for key, value in case.answer.items()}
    missing = [letter for letter in DIAGNOSES if letter not in given]
    case.expect(not missing, f"But the dictionary has no fault for {', '.join(missing)}.")
    words = {name.lower(): name for name in RUNS}
    for letter, said in given.items():
        known = isinstance(said, str) and said.strip().lower() in words
        case.expect(known, f"But {letter} has {said!r}, and the possible faults are: {', '.join(RUNS)}.")
    twice = sorted({name for name in given.values() if list(given.values()).count(name) > 1})
    named = {letter: words[given[letter].strip().lower()] for letter in DIAGNOSES}
    right = [letter for letter, name in DIAGNOSES.items() if named[letter] == name]
    wrong = [letter for letter in DIAGNOSES if letter not in right]
    if wrong:
        count = f"{len(right)} of 5 are right." if right else "None is right yet."
        again = f" (And each fault occurs once: you have {twice[0]!r} more than once.)" if twice else ""
        case.fail(f"{count} You said {named[wrong[0]]!r} for {wrong[0]}: {LOOK_AT[wrong[0]]}{again}")
    case.close_with(
        "All five are real runs, made by benchmarks/sick_runs.py. A leaves the plateau at step 100 only because its "
        "training loss counts visible words. E has the worst loss and the best accuracy on words: it knows which word "
        "fits, but its frozen layer can't make it probable. C is not better on words than the healthy run: with one "
        "run each, two points may be chance."
    )
