"""A slide: its heading, its parts, and what the speaker says."""

import re
from dataclasses import dataclass, field, replace

from bertedu.classroom.slides import fitting
from bertedu.classroom.slides.fitting import Part
from bertedu.classroom.slides.sentences import takeaway

WIDE = 1.9  # a figure so much wider than high stands under text
MOST_ABOVE_CODE = 170  # pixels


@dataclass
class Slide:
    """One page of a deck. The heavier it weighs, the longer it stays where a deck has too many; 9 always stays."""

    kind: str
    title: str
    kicker: str
    parts: list[Part]
    notes: list[str] = field(default_factory=list)  # Markdown
    weight: int = 9
    shows_output: bool = False
    wants_notes: bool = False  # whether the prose that it was made from is still to come

    def note(self, text: str) -> None:
        """Let the speaker say this too."""
        self.notes.append(text)

    def explain(self, paragraph: str) -> None:
        """Put what the paragraph says of the output under it, where there is room."""
        for longest in (210, 140):
            said = takeaway(paragraph, longest)
            if said and fitting.fits(parts := [*self.parts, fitting.takeaway_part(said)], self.title):
                self.parts = parts
                return

    def takes(self, other: "Slide") -> bool:
        """Whether what another slide shows has room under the text that stands here."""
        wide = re.search(r'width="(\d+)" height="(\d+)"', other.parts[0].html)
        figure = [part.kind for part in other.parts] == ["figure"]
        return (
            self.wants_notes
            and other.kind != "question"
            and (not figure or bool(wide and int(wide[1]) > WIDE * int(wide[2])))
            and all(part.kind in ("points", "text", "formula", "formula long") for part in self.parts)
            and (figure or fitting.height_of(self.parts, "") <= MOST_ABOVE_CODE)
            and fitting.fits([*self.parts, *other.parts], self.title)
        )

    def over(self, other: "Slide") -> "Slide":
        """This slide and the other one on one page."""
        return replace(other, parts=[*self.parts, *other.parts], notes=self.notes + other.notes)
