"""`otel-eval doctor`: what can be read from the input, what is missing, and which switch brings it."""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.exchange.json_text import text_from_value
from otel_eval.service.convert import conversations_from_paths
from otel_eval.service.diagnosis import Diagnosis, diagnosis_of
from otel_eval.service.diagnosis_text import lines_from_diagnosis
from otel_eval.service.progress import unwatched, watch_for
from otel_eval.service.survey import Survey

DONE, NOTHING_TO_SCORE = 0, 1
_WIDEST = 120


def run(*, paths: tuple[Path, ...], as_json: bool = False, **_: Any) -> int:
    """Write the diagnosis. 0 when something can be scored, 1 when nothing can, `InputError` when nothing could be read."""
    diagnosis = _diagnosed(paths)
    lines = [text_from_value(asdict(diagnosis))] if as_json else _text(diagnosis)
    sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
    return NOTHING_TO_SCORE if diagnosis.ready == "no" else DONE


def _diagnosed(paths: tuple[Path, ...]) -> Diagnosis:
    survey = Survey(id_keys=Reader(BUILTIN).id_keys)
    progress = watch_for(sys.stderr)
    try:
        conversion = conversations_from_paths(paths, stdin=sys.stdin.buffer, watch=progress or unwatched, on_step=survey.see)
        return diagnosis_of(conversion, survey)
    finally:
        if progress is not None:
            progress.clear()


def _text(diagnosis: Diagnosis) -> Iterable[str]:
    return lines_from_diagnosis(diagnosis, min(shutil.get_terminal_size().columns, _WIDEST))
