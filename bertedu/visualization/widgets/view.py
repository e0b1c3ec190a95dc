"""What all widgets share: controls where a kernel runs, and a still form wherever none does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ipywidgets import HTML, Layout, VBox, Widget

from bertedu.errors import UserError
from bertedu.visualization.picture import Picture

WIDGET = "application/vnd.jupyter.widget-view+json"
DESCRIBED = {"description_width": "11.5em"}
LEFT = "text-align: left; white-space: nowrap; padding-right: 1em"
RIGHT = "text-align: right; padding-right: 1em"
TALLEST = 880  # pixels; a taller page scrolls in its frame
WIDE, NARROW = Layout(width="98%", max_width="46em"), Layout(width="98%", max_width="32em")


@dataclass(frozen=True)
class StillPage:
    """A piece of HTML without scripts, and the words that say the same."""

    html: str
    alt: str

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/html": self.html, "text/plain": self.alt}, {}


@dataclass(frozen=True)
class WidgetView:
    """Controls with a still form. A notebook shows the controls while its kernel lives; GitHub, a website and a
    notebook that was not run yet show `still`, which has words for those who do not see it."""

    controls: Widget
    still: Picture | StillPage

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = self.still._repr_mimebundle_()
        live = self.controls._repr_mimebundle_()
        return {**data, WIDGET: live[WIDGET]}, metadata


def live_view(controls: Sequence[Any], html: Callable[[], str]) -> VBox:
    """The controls above what they show: html() is asked for again whenever one of them changes its value.

    A UserError on the way, as for a text that is too long, is shown in place of the view.
    """
    shown = HTML(layout=Layout(width="100%"))

    def update(change: Any = None) -> None:
        try:
            shown.value = html()
        except UserError as error:
            shown.value = f'<p role="alert">{escape(str(error))}</p>'

    for control in controls:
        control.observe(update, "value")
    update()
    return VBox([*controls, shown])


def region(name: str, html: str) -> str:
    """HTML with a name for screen readers, which also hear when it changes; wide content scrolls by keyboard."""
    return (
        f'<div role="region" aria-label="{escape(name)}" aria-live="polite" tabindex="0" '
        f'style="overflow-x: auto; line-height: 1.5; padding: 4px">{html}</div>'
    )


def frame(page: str, title: str, height: int) -> HTML:
    """A page inside a page, apart from the notebook's own styles and scripts."""
    return HTML(
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" width="100%" height="{min(height, TALLEST)}" '
        f'style="border: 1px solid #767676; box-sizing: border-box"></iframe>',
        layout=Layout(width="98%", max_width="1040px"),
    )
