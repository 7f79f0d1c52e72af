"""Topics that an agent is meant to keep to, by its name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from otel_eval.model import Conversation, Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Those of all agents, and those of agents by name or glob."""

    all: tuple[str, ...] = ()
    by_agent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, conversation: Conversation) -> tuple[str, ...]:
        """The topics of the first pattern that the agent's name fits, else those of all agents."""
        name = conversation.agent
        fits = (topics for pattern, topics in self.by_agent.items() if name is not None and fnmatchcase(name, pattern))
        return next(fits, self.all)

    def added_to(self, reference: Reference, conversation: Conversation) -> Reference:
        """The reference, with topics where it says none itself: what is nearer to the conversation goes first."""
        topics = self.of(conversation)
        return replace(reference, topics=topics) if topics and not reference.topics else reference


NO_TOPICS = Topics()
