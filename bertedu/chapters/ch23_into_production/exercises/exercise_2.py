"""Exercise 23.2: A queue at 90 %."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "23.2",
    "A queue at 90 %",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "First the utilization ρ: how much of each second is the server busy?",
        "The mean waiting time is ρ / (1 - ρ) times the time of one request. At ρ = 0.5 that is once 10 ms.",
    ),
)
def waiting(case: Case) -> None:
    case.predicted(
        90,
        otherwise="The utilization is 0.9. Put it into ρ / (1 - ρ), and multiply by the time of one request.",
        tolerance=0.01,
        mistakes=[
            (18, "Waiting does not grow in proportion: 1 - ρ goes towards 0. Put ρ = 0.9 into the formula."),
            (9, "9 is ρ / (1 - ρ), the number of times that one request takes. How many milliseconds is that?"),
            (100, "100 ms is what a client sees: waiting and its own 10 ms. Waiting alone was asked for."),
            (10, "That is the waiting time at 50 requests a second, or the time of one request."),
            (0.09, "The formula gives the unit that you put in: 10 ms, not 0.01 s."),
            (1, "Divide by what is free, 1 - ρ, which is 0.1."),
        ],
    )
