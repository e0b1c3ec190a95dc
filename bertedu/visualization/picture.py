"""A figure and the words that say the same for somebody who does not see it."""

import base64
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bertedu.errors import UserError
from bertedu.files import replacing

# Colours that stay apart for colour-blind eyes (Okabe & Ito 2008), on white.
BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#007A5E", "#767676", "#222222"
DOTS_PER_INCH = 144
PIXELS_PER_INCH = 110  # on a page
FORMATS = (".png", ".svg", ".pdf")
LONGEST_NAME = 60  # characters, of a class or the like


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure with its text alternative. Shows itself in a notebook; `save` writes a file."""

    figure: Figure
    alt: str

    def save(self, path: str | Path) -> None:
        """Write a .png, .svg or .pdf, whole or not at all; the text alternative goes into its metadata."""
        kind = Path(path).suffix.lower()
        if kind not in FORMATS:
            raise UserError(f"{path}: a picture is saved as one of {', '.join(FORMATS)}: choose such a name.")
        title = {"Description" if kind in (".png", ".svg") else "Subject": self.alt}
        with replacing(path) as beside:
            self.figure.savefig(
                beside, format=kind[1:], dpi=DOTS_PER_INCH, metadata=title, facecolor="white", bbox_inches="tight"
            )

    def png(self) -> bytes:
        """The bytes of a PNG file."""
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, facecolor="white", bbox_inches="tight")
        return buffer.getvalue()

    def html(self) -> str:
        """An <img> that holds the picture itself, so that a page needs no other file; no page draws it too large."""
        from html import escape

        data = base64.b64encode(self.png()).decode("ascii")
        widest = f"max-width: {self.figure.get_figwidth() * PIXELS_PER_INCH:.0f}px"
        return f'<img src="data:image/png;base64,{data}" alt="{escape(self.alt)}" style="{widest}">'

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data = base64.b64encode(self.png()).decode("ascii")
        return {"image/png": data, "text/plain": self.alt}, {"image/png": {"alt": self.alt}}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, outside of pyplot, whose parts arrange themselves."""
    return Figure(figsize=(width, height), layout="constrained")


def quiet(axes: Any) -> None:
    """Take away the frame's upper and right line; make the grid faint."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#999999")
    axes.tick_params(colors=INK, labelsize=8, length=3)
    axes.grid(True, color="#e8e8e8", linewidth=0.8)
    axes.set_axisbelow(True)


def short(name: str) -> str:
    """A name as it is written beside an axis, on one line. A picture grows with its longest name: with one of 3,000
    characters it would take gigabytes of memory."""
    words = " ".join(name.split())
    return words if len(words) <= LONGEST_NAME else f"{words[: LONGEST_NAME - 11]}…{words[-10:]}"
