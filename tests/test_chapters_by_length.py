"""Accuracy over the length: each model has its line, and one entry in the legend."""

from bertedu.chapters.ch18_deberta_and_xlnet.by_length import accuracy_by_length


def test_every_run_is_drawn_and_runs_of_one_name_share_an_entry():
    runs = {"one": [[1.0, 0.5], [0.9, 0.4]], "other": [[1.0, 1.0]]}
    picture = accuracy_by_length(runs, (1, 5), 1, "sentences", "one falls, the other does not")
    (axes,) = picture.figure.axes
    assert [list(line.get_ydata()) for line in axes.lines] == [[1.0, 0.5], [0.9, 0.4], [1.0, 1.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "other"]
    assert axes.lines[0].get_color() == axes.lines[1].get_color() != axes.lines[2].get_color()
    assert axes.get_xlabel() == "sentences in the text" and picture.alt == "one falls, the other does not"
