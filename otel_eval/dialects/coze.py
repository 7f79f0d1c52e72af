"""Coze Loop: `cozeloop.span_type`, `cozeloop.input`, `cozeloop.output`.

**Source**: coze-dev/coze-loop `backend/modules/observability/lib/otel/consts.go`, coze-dev/cozeloop-python `spec/tracespec`.
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

COZE = Envelope(
    info=DialectCard(
        name="coze",
        version=1,
        sentence="Coze Loop: cozeloop.span_type with cozeloop.input / cozeloop.output.",
        source="coze-dev/coze-loop observability/lib/otel/consts.go",
        detects=("cozeloop.span_type", "cozeloop.input", "cozeloop.output"),
        content=("cozeloop.input", "cozeloop.output"),
        lacks="Tool spans have no call id.",
        switch="always on: applications set the attributes",
        conversation_ids=("cozeloop.thread_id",),
    ),
    names=Names(
        type=("cozeloop.span_type",),
        input=("cozeloop.input",),
        output=("cozeloop.output",),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        model=("gen_ai.response.model", "gen_ai.request.model"),
        response_id=("gen_ai.response.id",),
    ),
    kinds={
        "model": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "agent": StepKind.AGENT,
        "prompt": StepKind.WRAPPER,
        "prompt_hub": StepKind.WRAPPER,
        "custom": StepKind.WRAPPER,
        "retriever": StepKind.RETRIEVAL,
    },
)
