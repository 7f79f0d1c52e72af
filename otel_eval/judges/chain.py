"""The chain around a model: (cascade →) cache → panel → breaker → retry → repair → limit → budget → model, a judge in a judge each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from otel_eval.judges.base import Judge
from otel_eval.judges.breaker import BreakerJudge
from otel_eval.judges.budget import BudgetJudge
from otel_eval.judges.cache import CacheJudge, SqliteStore, Store
from otel_eval.judges.cascade import ACCEPT, AUDIT, CascadeJudge
from otel_eval.judges.ledger import Ledger, SqliteLedger
from otel_eval.judges.limit import LimitJudge
from otel_eval.judges.panel import PanelJudge
from otel_eval.judges.repair import RepairJudge
from otel_eval.judges.retry import RetryJudge
from otel_eval.judges.settings import NO_LIMITS, JudgeSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What outlives a question: verdicts and spending. In memory unless somebody brings files."""

    store: Store = field(default_factory=SqliteStore)
    ledger: Ledger = field(default_factory=SqliteLedger)


def judge_cascade(first: Judge, second: Judge, *, accept: float = ACCEPT, audit: float = AUDIT) -> Judge:
    """A cheap judge, chain and all, before a strong one."""
    return CascadeJudge(first=first, second=second, accept=accept, audit=audit)


def judge_panel(judges: Sequence[Judge]) -> Judge:
    """Several judges, chains and all, of which the majority counts."""
    return PanelJudge(judges=judges)


def judge_chain(model: Judge, settings: JudgeSettings, books: Books | None = None) -> Judge:
    """The model with everything that makes asking it safe and affordable."""
    books = books or Books()
    judge = model
    if settings.limits != NO_LIMITS:
        judge = BudgetJudge(judge=judge, limits=settings.limits, ledger=books.ledger, price=settings.price)
    judge = LimitJudge(judge=judge, start=settings.start_concurrency, most=settings.most_concurrency)
    judge = BreakerJudge(judge=RetryJudge(judge=RepairJudge(judge=judge)))
    if settings.samples > 1:
        judge = PanelJudge(judges=[judge] * settings.samples)
    return CacheJudge(judge=judge, store=books.store, identity=settings.identity)
