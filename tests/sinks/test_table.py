"""The table for people: aligned in any script, cut on a terminal only, and deaf to what content says to it."""

import asyncio
import io

from otel_eval.model import Failed, FailReason, Outcome, Report, Result, Score, Skipped, SkipReason
from otel_eval.sinks.table import TableSink, columns
from tests.fakes.talk import booking


def written(*outcomes: Outcome, width: int | None = None, conversation: str = "c1") -> list[str]:
    stream = io.StringIO()
    results = tuple(Result(id="i", metric=f"metric_{n}", metric_version="1", outcome=o) for n, o in enumerate(outcomes))
    asyncio.run(TableSink(stream, width=width).write(Report(conversation=booking(conversation), results=results)))
    return stream.getvalue().splitlines()


def test_one_row_a_result() -> None:
    """Conversation once, then metric, score with label, numbers of messages and the reason."""
    rows = written(
        Score(value=1.0, label="pass", explanation="Done.", evidence=(2, 3)), Skipped(reason=SkipReason.UNDEFINED, detail="nothing asked")
    )
    assert rows[0].split() == ["conversation", "metric", "score", "evidence"]
    assert rows[1].split() == ["c1", "metric_0", "1.00", "pass", "[2,", "3]", "Done."]
    assert rows[2].split() == ["metric_1", "skipped:", "undefined", "nothing", "asked"]


def test_columns_line_up_in_any_script() -> None:
    """Wide characters count two columns: the metric begins at the same column under a Korean and a Latin name."""
    wide, latin = (written(Score(value=0.0), conversation=name)[1] for name in ("대화-하나", "talk-1"))
    assert columns(wide[: wide.index("metric")]) == columns(latin[: latin.index("metric")])


def test_a_terminal_line_fits_and_a_file_line_is_whole() -> None:
    """On a terminal the reason is cut to the width; elsewhere nothing is."""
    long = Score(value=1.0, explanation="word " * 100)
    assert written(long)[1].count("word") == 100
    assert "…" in written(long, width=120)[1]


def test_content_cannot_command_the_terminal() -> None:
    """Escape sequences in an explanation or a detail are shown as marks, not obeyed."""
    rows = written(Failed(error_type=FailReason.CANNOT_TELL, detail="a\x1b[2Jb\x07\nc"))
    assert "\x1b" not in rows[1]
    assert "\x07" not in rows[1]
    assert len(rows) == 2
