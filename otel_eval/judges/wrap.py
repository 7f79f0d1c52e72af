"""What judges that hold a judge have in common: adding up what an attempt took."""

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Reply, use_sum
from otel_eval.model import JudgeUse


def use_of(error: JudgeError) -> JudgeUse | None:
    """What a failed attempt took."""
    return error.use if isinstance(error.use, JudgeUse) else None


def reply_with(reply: Reply, spent: JudgeUse | None) -> Reply:
    """The reply, with what earlier attempts took added to its use."""
    if spent is None:
        return reply
    return Reply(
        answer=reply.answer,
        use=use_sum(spent, reply.use),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        notes=reply.notes,
    )


def error_with(error: JudgeError, spent: JudgeUse | None) -> JudgeError:
    """The error, with what earlier attempts took added to its use."""
    own = use_of(error)
    use = use_sum(spent, own) if own is not None else spent
    return JudgeError(error.reason, str(error), retry_after_s=error.retry_after_s, use=use, limit_tokens=error.limit_tokens)


def spent_sum(spent: JudgeUse | None, error: JudgeError) -> JudgeUse | None:
    """What all attempts so far took."""
    own = use_of(error)
    return spent if own is None else use_sum(spent, own)
