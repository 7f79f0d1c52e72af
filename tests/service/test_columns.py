"""Two columns of text for a terminal."""

from otel_eval.service.columns import two_columns


def test_texts_stand_beside_their_name() -> None:
    """The name stands once; each text starts a line, a broken one goes on indented, an empty one leaves no trace."""
    rows = [("a", ["one two three four five six seven eight nine ten", "", "second"]), ("longer", ["third"])]
    assert list(two_columns(("NAME", "WHAT"), rows, 48)) == [
        "NAME    WHAT",
        "a       one two three four five six seven eight",
        "          nine ten",
        "        second",
        "longer  third",
    ]
