"""JSON exports of traces that are not OTLP: one file a form, chosen by the table `FORMS`, most specific first.

Ids, times and attributes are kept as they are given. An id that is none of OpenTelemetry's (a UUID, a word) is replaced by a hash of it and
one that is missing by a hash of the content, so that the same file always gives the same spans; both are counted in `Batch.notes`
(`foreign_id`, `missing_id`).
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.otlp.foreign import bare, flat, jaeger, langfuse
from otel_eval.otlp.foreign.form import Form

FORMS: tuple[Form, ...] = (
    Form(name="jaeger", speaks=jaeger.speaks, read=jaeger.read),
    Form(name="langfuse", speaks=langfuse.speaks, read=langfuse.read),
    Form(name="flat", speaks=flat.speaks, read=flat.read),
    Form(name="bare", speaks=bare.speaks, read=bare.read),
)


def form_of(data: Mapping[str, Any]) -> Form | None:
    """The form that the object is in; None when it is none of ours."""
    return next((form for form in FORMS if form.speaks(data)), None)
