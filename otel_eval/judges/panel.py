"""Several opinions on one question: different judges, or samples of one, and the majority. A tie is no verdict.

Votes share errors, so a panel makes a verdict steadier, not right. Two are asked first; a third only if they differ.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Flag, Flags, Form, Items, Judge, Question, Reply, Words, use_sum
from otel_eval.judges.wrap import use_of
from otel_eval.model import JudgeUse


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelJudge:
    """Asks as many judges as a majority needs, then the others one by one until one opinion cannot be beaten.

    The reply is the first of the majority; its confidence is the share of votes. What is compared are the deciding words only, not reasons.
    """

    judges: Sequence[Judge]

    async def ask(self, question: Question) -> Reply:
        votes: list[Reply | JudgeError] = []
        needed = len(self.judges) // 2 + 1
        while len(votes) < len(self.judges):
            batch = self.judges[len(votes) : max(len(votes) + 1, needed)]
            start = len(votes)
            votes += await asyncio.gather(*(_vote(j, question, start + n) for n, j in enumerate(batch)))
            if _leader(question.form, votes)[1] >= needed:
                break
        return _majority(question.form, votes, needed)


async def _vote(judge: Judge, question: Question, sample: int) -> Reply | JudgeError:
    try:
        return await judge.ask(replace(question, sample=question.sample + sample))
    except JudgeError as error:
        return error


def _leader(form: Form, votes: Sequence[Reply | JudgeError]) -> tuple[str, int]:
    counts = Counter(decision(form, v.answer) for v in votes if isinstance(v, Reply))
    return counts.most_common(1)[0] if counts else ("", 0)


def _majority(form: Form, votes: Sequence[Reply | JudgeError], needed: int) -> Reply:
    use = _use(votes)
    replies = [v for v in votes if isinstance(v, Reply)]
    if not replies:
        errors = [v for v in votes if isinstance(v, JudgeError)]
        raise JudgeError(errors[0].reason, str(errors[0]), retry_after_s=errors[0].retry_after_s, use=use)
    winner, count = _leader(form, votes)
    if count < needed:
        raise JudgeError("disagreement", f"no answer has {needed} of {len(votes)} votes", use=use)
    first = next(r for r in replies if decision(form, r.answer) == winner)
    return replace(first, use=use or first.use, confidence=count / len(votes), confidence_source="samples")


def _use(votes: Sequence[Reply | JudgeError]) -> JudgeUse | None:
    total: JudgeUse | None = None
    for vote in votes:
        use = vote.use if isinstance(vote, Reply) else use_of(vote)
        total = use_sum(total, use) if use is not None else total
    return total


def decision(form: Form, answer: Mapping[str, Any]) -> str:
    """The deciding words of an answer as one text: what must be the same for two answers to agree."""
    return repr(deciding_words(form, answer))


def deciding_words(form: Form, answer: Mapping[str, Any]) -> list[str]:
    """The words of an answer that decide something, in the order of the form; reasons and evidence are not among them."""
    words: list[str] = []
    for name, field in form.fields.items():
        if isinstance(field, Items):
            deciding = [leaf for leaf, kind in field.fields.items() if _decides(kind)]
            words += [str(row[leaf]) for row in answer[name] for leaf in deciding]
        elif _decides(field):
            words.append(str(answer.get(name)))
    return words


def _decides(field: object) -> bool:
    return isinstance(field, Flag | Flags) or (isinstance(field, Words) and not field.optional)
