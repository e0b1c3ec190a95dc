"""The curves of generator and discriminator: which line is drawn where."""

from bertedu.chapters.ch17_electra.detection_curves import detection_curves


def test_every_line_has_its_own_numbers():
    names = ("generator right", "replaced", "precision", "recall")
    history = [{"step": step, **{name: step / 100 + 0.1 * i for i, name in enumerate(names)}} for step in (0, 10, 20)]
    panels = detection_curves(history).axes
    assert [axes.get_title() for axes in panels] == ["generator", "discriminator"]
    drawn = [
        (axes, line, text.get_text()) for axes in panels for line, text in zip(axes.lines, axes.texts, strict=True)
    ]
    assert [name for _, _, name in drawn] == list(names)
    for _, line, name in drawn:
        assert list(line.get_xdata()) == [0, 10, 20]
        assert list(line.get_ydata()) == [row[name] for row in history]
    assert panels[0].get_xlim()[1] > 20, "or there is no room for the names"
