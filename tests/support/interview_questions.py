"""A question of an interview, and topics with as many as asked for."""

from dataclasses import replace

from bertedu.interview.bank import LEVELS, Point, Question, Topic, Wrong

QUESTION = Question(
    id="masks-01",
    topic="masks",
    kind="explain",
    level="screen",
    minutes=3,
    question="What does a mask do?",
    short=" ".join(["word"] * 60),
    long=" ".join(["word"] * 220),
    must=tuple(Point(f"Point {place}.", f"What about {place}?") for place in range(4)),
    wrong=(Wrong("It hides <queries>.", "It hides keys."),),
    chapter="03",
    section="Padding",
)


def topics(*sizes: int) -> list[Topic]:
    """Topics of so many questions, whose levels take turns."""
    return [
        Topic(
            f"t{topic}",
            f"Topic {topic}",
            tuple(
                replace(
                    QUESTION,
                    id=f"t{topic}-{number:02}",
                    topic=f"t{topic}",
                    level=LEVELS[number % 3],
                    section=f"{number}",
                )
                for number in range(size)
            ),
        )
        for topic, size in enumerate(sizes)
    ]
