"""The rules: signs for and against a reached goal, each with its weight and a sentence.

No sign reads what a judge is told to ignore: a verdict, a mark or an instruction inside the conversation is not among the phrases. The
weights are whole numbers chosen once on the development part of tau (`benchmarks/heuristic_judge.py` prints the agreement).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from otel_eval.judges.heuristic.passage import Passage, text_of
from otel_eval.judges.heuristic.phrases import Phrases
from otel_eval.model import Conversation

_IDENTIFIER = re.compile(r"(?<![\w:.,/-])(?!\d{4}-\d\d)(?=[\w-]*\d[\w-]*\d)[A-Za-z0-9][\w-]{3,}(?![:.,/]?\d)", re.ASCII)
"""Order 5521, H-2231, LX418-7Q; not a time, a date, a price or a small number."""
_NUMBER = re.compile(r"\d")
_WORD = re.compile(r"[^\W_\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+")
_EAST_ASIAN = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+")
_QUESTION = re.compile(r"[?？؟]\s*[\"'”)*_]*\s*$")
_READS = re.compile(
    r"(get|search|list|find|calculate|think|check|look|fetch|query|read|retrieve|show|view|describe|can|is|has|verify)(?![a-z])", re.I
)
_HANDS_OVER = re.compile(r"transfer_?to_?(human|agent|person|live)|hand_?(off|over)|escalat", re.I)
_LONG_ANSWER_BYTES = 60
_LONG_WORD = 4
_TELLING_WORD = 6
_MANY_TURNS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One observation: what it weighs, what it says, and where it shows."""

    name: str
    weight: int
    sentence: str
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A passage with what the rules need to read it."""

    conversation: Conversation
    passage: Passage
    phrases: Phrases

    @property
    def last_answer(self) -> str:
        return self.said(self.passage.agents[-1]) if self.passage.agents else ""

    @property
    def reaction(self) -> str:
        """What the user said last, when that was after the request."""
        return self.said(self.passage.users[-1]) if len(self.passage.users) > 1 else ""

    @property
    def is_reaction_telling(self) -> bool:
        """Whether the user's last word says how it went: thanks, that it was all, or that it is not right."""
        phrases = (self.phrases.thanks, self.phrases.settled, self.phrases.unsettled)
        return any(p.search(self.reaction) for p in phrases)

    @property
    def agent_had_last_word(self) -> bool:
        users, agents = self.passage.users, self.passage.agents
        return bool(agents) and agents[-1] > users[-1]

    @property
    def works_after_last_answer(self) -> bool:
        """Whether the last thing that happened is a tool call."""
        calls, last = self.passage.calls, max(self.passage.agents[-1:] + self.passage.users[-1:])
        return bool(calls) and calls[-1][0] > last and not _HANDS_OVER.search(calls[-1][1])

    @property
    def failed(self) -> list[tuple[int, str]]:
        return [(i, name) for i, name, bad in self.passage.results if bad]

    @property
    def succeeded(self) -> list[tuple[int, str]]:
        return [(i, name) for i, name, bad in self.passage.results if not bad]

    def said(self, index: int) -> str:
        return text_of(self.conversation.messages[index])


def signs_from_scene(scene: Scene) -> list[Sign]:
    """Every sign that shows, in the order of the rules."""
    return [sign for rule in RULES for sign in rule(scene)]


def _tools(scene: Scene) -> Iterator[Sign]:
    if scene.failed and not scene.succeeded:
        yield Sign(name="all_failed", weight=-4, sentence="every tool call failed", evidence=(scene.failed[-1][0],))
    elif scene.failed:
        yield from _some_failed(scene)


def _some_failed(scene: Scene) -> Iterator[Sign]:
    last = {name: bad for _, name, bad in scene.passage.results}
    open_failures = [(i, name) for i, name in scene.failed if last[name]]
    if open_failures:
        yield Sign(name="open_failure", weight=-4, sentence="a tool call failed and never went through", evidence=(open_failures[-1][0],))
    else:
        yield Sign(name="repaired", weight=-3, sentence="a tool call had to be repeated after a failure", evidence=(scene.failed[-1][0],))


def _claims(scene: Scene) -> Iterator[Sign]:
    unknown = len(scene.passage.results) < len(scene.passage.calls)  # results that were not recorded may have shown it
    if scene.phrases.claim.search(scene.last_answer) and not scene.succeeded and not unknown:
        yield Sign(
            name="bare_claim",
            weight=-4,
            sentence="the agent says it is done, and no tool result shows it",
            evidence=(scene.passage.agents[-1],),
        )


def _answer(scene: Scene) -> Iterator[Sign]:
    if not scene.passage.agents:
        yield Sign(name="no_answer", weight=-3, sentence="the agent gave no answer", evidence=(scene.passage.request,))
    elif scene.works_after_last_answer:
        at = scene.passage.calls[-1][0]
        yield Sign(name="broken_off", weight=-3, sentence="the agent called tools and gave no answer after them", evidence=(at,))
    elif scene.agent_had_last_word and not scene.is_reaction_telling:
        yield from _last_answer(scene, scene.last_answer, scene.passage.agents[-1])


def _last_answer(scene: Scene, last: str, at: int) -> Iterator[Sign]:
    empty = len(last.encode("utf-8", "surrogatepass")) < _LONG_ANSWER_BYTES and not _NUMBER.search(last)
    grounded = _is_grounded(scene, last)
    if scene.phrases.waiting.search(last) and not grounded and (empty or not scene.succeeded):
        yield Sign(name="left_waiting", weight=-2, sentence="the agent announced something and nothing followed", evidence=(at,))
    elif scene.phrases.refusal.search(last) or _QUESTION.search(last) or _handed_over_at(scene) is not None:
        return
    elif grounded:
        yield Sign(name="grounded", weight=1, sentence="the answer rests on a tool result", evidence=(scene.succeeded[-1][0], at))
    elif not scene.passage.calls and not empty:
        yield Sign(name="answered", weight=1, sentence="the agent gave an answer with content", evidence=(at,))


def _is_grounded(scene: Scene, answer: str) -> bool:
    """Whether the answer shares a number, a long word or two shorter ones with a call that went through after the user's last word."""
    fresh = [i for i, _ in scene.succeeded if i > scene.passage.users[-1]]
    if not fresh:
        return False
    shared = tokens_of(answer) & tokens_of(_touched(scene, since=scene.passage.users[-1]))
    return len(shared) > 1 or any(len(t) >= _TELLING_WORD or any(c.isdigit() for c in t) for t in shared)


def tokens_of(text: str) -> set[str]:
    """Numbers, words of four letters or more, and pairs of East Asian signs: what two texts on one matter share in any language."""
    words = {w.casefold() for w in _WORD.findall(text) if len(w) >= _LONG_WORD or any(c.isdigit() for c in w)}
    signs = {a + b for run in _EAST_ASIAN.findall(text) for a, b in pairwise(run)}
    return words | signs


def _user(scene: Scene) -> Iterator[Sign]:
    reaction, at = scene.reaction, scene.passage.users[-1]
    if scene.phrases.unsettled.search(reaction):
        yield Sign(name="unsettled", weight=-2, sentence="the user's last word is that it is not right yet", evidence=(at,))
        return
    if scene.phrases.settled.search(reaction):
        yield Sign(name="settled", weight=1, sentence="the user said that this was all", evidence=(at,))
    if scene.phrases.thanks.search(reaction):
        yield Sign(name="thanks", weight=2, sentence="the user thanked at the end", evidence=(at,))
    if len(scene.passage.users) >= _MANY_TURNS:
        yield Sign(name="long", weight=-1, sentence="the user had to write many messages", evidence=(at,))


def _handover(scene: Scene) -> Iterator[Sign]:
    at = _handed_over_at(scene)
    if at is None:
        return
    changed = [name for i, name in scene.succeeded if not _READS.match(name) and not _HANDS_OVER.search(name)]
    if changed:
        yield Sign(
            name="changed_and_handed_over", weight=-4, sentence="the agent changed things and then handed the matter over", evidence=(at,)
        )
    elif any(scene.phrases.wants_person.search(scene.said(i)) for i in scene.passage.users):
        yield Sign(name="handover_wanted", weight=2, sentence="the agent handed the matter over, as the user wished", evidence=(at,))
    else:
        yield Sign(name="handover", weight=-2, sentence="the agent handed the matter over to somebody else", evidence=(at,))


def _handed_over_at(scene: Scene) -> int | None:
    by_tool = [i for i, name in scene.passage.calls if _HANDS_OVER.search(name)]
    by_word = [i for i in scene.passage.agents[-1:] if scene.phrases.handover.search(scene.said(i))]
    return max([*by_tool, *by_word], default=None)


def refusals(scene: Scene) -> Iterator[Sign]:
    """A refusal with a rule as its reason, and one without."""
    for index in reversed(scene.passage.agents):
        text = scene.said(index)
        if scene.phrases.refusal.search(text):
            ruled = bool(scene.phrases.rule.search(text))
            name = "refused_by_rule" if ruled else "refused"
            sentence = "the agent declined and named a rule" if ruled else "the agent declined"
            yield Sign(name=name, weight=1 if ruled else 0, sentence=sentence, evidence=(index,))
            return


def _object(scene: Scene) -> Iterator[Sign]:
    """The user names something by a number, tools were called, and none of them was about it."""
    wanted = set(_IDENTIFIER.findall(scene.said(scene.passage.request)))
    if not wanted or not scene.passage.calls:
        return
    touched = _touched(scene)
    if touched and not any(w in touched for w in wanted):
        at = scene.passage.calls[-1][0]
        yield Sign(name="other_object", weight=-3, sentence="no tool call or result is about what the user named", evidence=(at,))


def _touched(scene: Scene, *, since: int = -1) -> str:
    """Arguments of calls and contents of results after a message."""
    messages = scene.conversation.messages
    arguments = [str(c.arguments or c.raw or "") for i, _ in scene.passage.calls if i > since for c in messages[i].tool_calls]
    contents = [r.content or "" for i, _, _ in scene.passage.results if i > since and (r := messages[i].tool_result)]
    return "\n".join([*arguments, *contents])


RULES: Sequence[Callable[[Scene], Iterator[Sign]]] = (_tools, _claims, _answer, _user, _handover, refusals, _object)
