"""The sections of `otel-eval.yaml`: each key with its default and what it means. Documents and the commented file are made from here."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from otel_eval.judges.cascade import ACCEPT, AUDIT
from otel_eval.judges.habits import Rung
from otel_eval.judges.settings import Wording
from otel_eval.service.config.values import Duration, Secret, Size

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, the text below a key is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class GrpcConfig(Section):
    """OTLP/gRPC."""

    enabled: bool = True
    """Whether to listen."""
    endpoint: str = "localhost:4317"
    """HOST:PORT. Anything but localhost is reachable from outside: set a token or TLS with it."""


class HttpConfig(Section):
    """OTLP/HTTP, protobuf and JSON; `/healthz`, `/readyz`, `/status`, `/outcomes` and `/explain/ID` answer here too."""

    enabled: bool = True
    """Whether to listen. Without it there is no health check."""
    endpoint: str = "localhost:4318"
    """HOST:PORT. Anything but localhost is reachable from outside: set a token or TLS with it."""


class TlsConfig(Section):
    """TLS of both receivers; without a certificate they speak plainly."""

    certificate_file: str | None = None
    """Certificate chain, PEM."""
    key_file: str | None = None
    """Its key, PEM."""
    client_ca_file: str | None = None
    """Authority of client certificates; with it, clients must show one."""


class ReceiveConfig(Section):
    """Where traces and logs come in."""

    grpc: GrpcConfig = GrpcConfig()
    http: HttpConfig = HttpConfig()
    tls: TlsConfig = TlsConfig()
    token: Secret | None = None
    """Bearer token that clients must send."""
    token_file: str | None = None
    """File that holds the token."""
    max_body: Size = 64 * 2**20
    """Largest request, also after decompression."""
    max_held: Size = 192 * 2**20
    """Most bytes of requests that are being received or wait for the disk, all together: what a flood may cost in memory. Beyond it senders
    wait, then are told to come later."""


class StoreConfig(Section):
    """The one file that is the whole state: what was acknowledged, outcomes, books, what waits for sinks."""

    path: str = "otel-eval.db"
    """The SQLite file; one worker a file. `:memory:` keeps nothing over a restart."""
    max_bytes: Size = 2 * 2**30
    """Above 90 % of it requests are refused (retryable) until there is room."""
    min_disk: Size = 64 * 2**20
    """So much is left free on the disk."""
    max_age: Duration = 3 * 86_400.0
    """What waits for a judge longer is given up with the outcome `expired`; what a sink does not take for so long is dead."""
    keep: Duration = 14 * 86_400.0
    """How long outcomes and results are kept for `explain`."""
    expire_when_full: bool = False
    """When full, give up what waits longest instead of refusing what is new."""


class CompletionConfig(Section):
    """When a trace is complete and a conversation over."""

    trace_quiet: Duration = 10.0
    """Time without spans after the root's end; longer than the batch delay of exporters (5 s)."""
    trace_max_age: Duration = 600.0
    """After which a trace without a root, or one that never falls silent, is taken as it is."""
    conversation_idle: Duration = 900.0
    """Silence after which a conversation with an id is over."""
    conversation_max_age: Duration = 86_400.0
    """After which a conversation that never falls silent is scored all the same."""
    max_revisions: Count = 3
    """How often late content may bring a new score; 1: never again."""
    late_window: Duration = 3600.0
    """How long requests are kept after scoring, so that late spans and turns are read together with them; shorter where the store is full.
    A conversation that goes on later is scored from there on, and its results say how many traces are missing."""
    fragments: Literal["skip", "score"] = "skip"
    """What to do with traces whose root, or the parent of one of whose spans, never came: `skip` gives them the outcome `fragment`; `score`
    takes them as they are (choose it where agents are called by services whose spans go elsewhere)."""
    replicas: str | None = None
    """Behind a load balancer: the HOST that stands for all replicas, the one that its resolver asks for. Traces that are under way when
    replicas come or go, this one included, may be cut in two: they are fragments. Only a restart applies it."""


class SelectionConfig(Section):
    """Which conversations are worth a judge's time."""

    rate: Share = 1.0
    """Share of conversations that is judged; the same ones on every worker and after every restart."""
    salt: str = ""
    """Changes which ones: the same on all workers."""
    services: tuple[str, ...] = ()
    """Only these services (`service.name`), names or globs; empty: all."""
    agents: tuple[str, ...] = ()
    """Only these agents, names or globs; empty: all."""
    attributes: dict[str, str] = {}
    """Only conversations with these attributes of spans or their resource; values are globs."""
    min_turns: Annotated[int, Field(ge=0)] = 0
    """Only conversations of at least so many turns."""
    only_errors: bool = False
    """Only conversations in which a tool or a model call failed."""
    always_keep: dict[str, str] = {}
    """Attributes whose value keeps a conversation whatever the rate; judged as triage, outside every rate."""
    upstream: Literal["tracestate", "unknown"] = "tracestate"
    """Where the probability with which a trace was kept before us stands: in its tracestate (`ot=th:…`; without one it is unknown), or
    nowhere. `unknown`: behind a tail sampler, which lets an earlier sampler's threshold stand."""
    triage_share: Share = 0.2
    """Share of the judged conversations that may be ones the rate left out and that look like failures; 0: none, and then what the rate
    leaves out is not even read."""


def _without_parameters(name: str) -> str:
    """The name of a metric; ValueError where parameters are written behind it, as on the command line."""
    bare, colon, parameter = name.partition(":")
    if colon and re.match(r"\w+=", parameter):
        key, _, value = parameter.partition("=")
        raise ValueError(f"expected parameters beside the name, as in {{name: {bare}, parameters: {{{key}: {value}}}}}")
    return name


class MetricConfig(Section):
    """A metric to run. A bare name is short for `name: NAME`."""

    name: Annotated[str, AfterValidator(_without_parameters)]
    """A built-in one, `check.NAME`, a plug-in's, or `module:function`."""
    parameters: dict[str, Any] = {}
    """What it is told; `otel-eval metrics show NAME` lists what it knows."""
    compat: str | None = None
    """`ragas` or `adk`: the numbers of that library."""
    rate: Share | None = None
    """A rate of its own instead of `selection.rate`: signals cost nothing and can run on everything."""
    at: Literal["auto", "trace", "conversation"] = "auto"
    """When it runs: as each trace completes, on the conversation so far, or once the conversation is over. `auto`: metrics of turns at the
    trace, all others at the end."""
    triage: bool = True
    """Whether it also runs on conversations of the triage queue."""


class BudgetConfig(Section):
    """What judging may cost; durable over restarts. Unset: no limit."""

    minute_tokens: Count | None = None
    """Tokens in any minute."""
    minute_usd: Annotated[float, Field(gt=0)] | None = None
    """US dollars in any minute."""
    day_tokens: Count | None = None
    """Tokens a day (UTC)."""
    day_usd: Annotated[float, Field(gt=0)] | None = None
    """US dollars a day (UTC)."""
    run_tokens: Count | None = None
    """Tokens in all, as long as the store lives."""
    run_usd: Annotated[float, Field(gt=0)] | None = None
    """US dollars in all, as long as the store lives."""


class PriceConfig(Section):
    """US dollars for a million tokens of the judge's model; a budget in dollars needs it."""

    input_usd: Annotated[float, Field(ge=0)]
    """Of input."""
    output_usd: Annotated[float, Field(ge=0)]
    """Of output."""
    cached_input_usd: Annotated[float, Field(ge=0)] | None = None
    """Of input that the endpoint had cached; unset: the same as other input."""


class OtherJudgeConfig(Section):
    """Another judge. What is not named here is as of the judge itself."""

    kind: str = "openai"
    """`openai`, `decisions` (probabilities without reasons) or a plug-in's."""
    model: str
    """The model."""
    base_url: str | None = None
    """Its endpoint; unset: the judge's, with the judge's key."""
    api_key_file: str | None = None
    """File that holds its key; an endpoint of its own gets no other key."""
    wire: Literal["decisions", "systemone"] = "decisions"
    """What a `decisions` endpoint speaks: `/v1/decisions` or `/v1/systemone`."""
    price: PriceConfig | None = None
    """What it costs."""


class FirstJudgeConfig(OtherJudgeConfig):
    """A cheap judge that is asked first; what it is not sure of, or fails at, goes to the judge itself."""

    accept: Annotated[float, Field(gt=0.5, le=1.0)] = ACCEPT
    """Least confidence with which its verdict stands; where it states none, when it calls itself clear."""
    audit: Share = AUDIT
    """Share of its verdicts that the judge itself sees all the same: how often they differ is its error."""


class JudgeConfig(Section):
    """Who judges."""

    kind: str | None = None
    """`openai` (any OpenAI-compatible endpoint), `heuristic` (built-in rules) or a plug-in's; unset: `openai` if a model is named, else
    `heuristic`."""
    model: str | None = None
    """The model."""
    base_url: str | None = None
    """Its endpoint, ending in /v1; unset: OPENAI_BASE_URL, else OpenAI's."""
    api_key: Secret | None = None
    """The key; unset: OPENAI_API_KEY."""
    api_key_file: str | None = None
    """File that holds the key."""
    headers: Secret | None = None
    """Further headers, `key=value,key=value`."""
    format: Rung = "schema"
    """How much structure to ask for; what an endpoint does not know is left out by itself."""
    temperature: float | None = 0.0
    """Sampling temperature; null leaves it out."""
    seed: int | None = None
    """Seed, where the endpoint knows one."""
    reasoning_effort: str | None = None
    """For models that reason."""
    wording: Wording | None = None
    """`small` asks for the verdict before the reason, which suits models of a few billion parameters; `full` the other way round. Unset:
    `full`, for `kind: local` by the size of the file."""
    call_timeout: Duration = 60.0
    """For one call."""
    samples: Count = 1
    """How many opinions of the same model are asked for; the majority counts, and a tie is no verdict."""
    panel: tuple[OtherJudgeConfig, ...] = ()
    """Further judges, each with a vote; the majority counts, and a tie is no verdict. Each has `model`, and if need be `kind`, `base_url`,
    `api_key_file`, `wire` and `price`."""
    first: FirstJudgeConfig | None = None
    """A cheap judge that is asked first."""
    concurrency: Count = 32
    """Most calls at a time; it starts with fewer and adapts."""
    price: PriceConfig | None = None
    """What it costs; unset: only tokens are counted."""
    budget: BudgetConfig = BudgetConfig()


def _metric_from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class ScoringConfig(Section):
    """How conversations are scored."""

    deadline: Duration = 120.0
    """For one conversation, all metrics together."""
    concurrency: Count = 16
    """Conversations at a time."""
    patience: Duration = 900.0
    """How long a conversation waits for a judge that cannot be asked, before that is its result."""
    record_tokens: Annotated[int, Field(ge=500)] = 24_000
    """Estimated tokens that a conversation may take in a prompt; a longer one is shortened and marked."""
    topics: tuple[str, ...] = ()
    """Topics the agents are meant to keep to, where no reference says any."""
    agent_topics: dict[str, tuple[str, ...]] = {}
    """The same for single agents, by name (`gen_ai.agent.name`) or glob: the first that fits goes before `topics`."""
    references: str | None = None
    """File with what conversations are held against, one JSON object a line."""


class OtlpSinkConfig(Section):
    """An OTLP receiver. What is unset is taken from OTEL_EXPORTER_OTLP_*."""

    enabled: bool | None = None
    """Unset: on where an endpoint is named, here or by OTEL_EXPORTER_OTLP_ENDPOINT."""
    endpoint: str | None = None
    """http://HOST:4318, or the whole address of the signal."""
    protocol: Literal["http/protobuf", "grpc"] | None = None
    """How it is spoken to."""
    headers: Secret | None = None
    """Headers, `key=value,key=value`."""
    headers_file: str | None = None
    """File that holds the headers."""
    timeout: Duration | None = None
    """For one request."""


class OtlpMetricsSinkConfig(OtlpSinkConfig):
    """Scores, outcomes, cost and lag as metrics, and this process's own."""

    interval: Duration = 15.0
    """How often they are sent."""


class OtlpSpansSinkConfig(OtlpSinkConfig):
    """A span `evaluate METRIC` for each score, linked to the judged one: for backends that show no log events."""

    enabled: bool | None = False
    """Whether they are sent."""
    inside: bool = False
    """Inside the judged trace, as a child of the judged span, instead of a trace of its own."""


class FileSinkConfig(Section):
    """One JSON object a line."""

    path: str | None = None
    """The file that is appended to; unset: none is written."""


class ConsoleSinkConfig(Section):
    """A table on standard output."""

    enabled: bool | None = None
    """Unset: on where no other sink is."""


class SinksConfig(Section):
    """Where results go. All that are on get all results."""

    otlp_events: OtlpSinkConfig = OtlpSinkConfig()
    otlp_metrics: OtlpMetricsSinkConfig = OtlpMetricsSinkConfig()
    otlp_spans: OtlpSpansSinkConfig = OtlpSpansSinkConfig()
    jsonl: FileSinkConfig = FileSinkConfig()
    console: ConsoleSinkConfig = ConsoleSinkConfig()
    others: dict[str, dict[str, Any]] = {}
    """Sinks of installed packages by name, each with its settings."""


class InlineConfig(Section):
    """otel-eval as a hop on the way to the backend: result events are added to the judged spans themselves."""

    endpoint: str | None = None
    """OTLP/HTTP receiver that everything is forwarded to; unset: nothing is forwarded."""
    headers: Secret | None = None
    """Headers for it, `key=value,key=value`."""
    headers_file: str | None = None
    """File that holds the headers."""
    hold: Duration = 30.0
    """Longest time that spans of selected traces are held; then they pass unscored."""
    max_held: Size = 64 * 2**20
    """Most bytes of spans held; above it, spans pass at once."""
    timeout: Duration = 10.0
    """For one forwarded request."""


class KafkaConfig(Section):
    """`otel-eval worker`: many machines as one consumer group behind a Collector's Kafka exporter."""

    brokers: str | None = None
    """HOST:PORT,HOST:PORT. Unset: `worker --kafka`."""
    group: str = "otel-eval"
    """The consumer group: the same on all workers."""
    traces_topic: str = "otlp_spans"
    """What the Collector writes spans to (encoding `otlp_proto`), keyed by trace id."""
    logs_topic: str = "otlp_logs"
    """What it writes log records to: as many partitions as the other."""
    conversations_topic: str = "otel_eval_conversations"
    """Over which workers bring the traces of a conversation together; made where it is missing."""
    max_message: Size = 8 * 2**20
    """Largest message that the Collector writes (`producer.max_message_bytes`)."""
    max_held: Size = 256 * 2**20
    """Most bytes of traces that are not complete; above it, nothing more is read until some are."""
    session_timeout: Duration = 15.0
    """After which the group takes a worker that is silent for dead. The brokers must allow it."""
    handover: Duration = 10.0
    """How long units that are being judged may take when partitions are about to move; then another worker judges them anew."""
    commit_every: Duration = 1.0
    """How often the group is told what is finished."""
    books: str | None = None
    """File that keeps the judge's books (budget) and its verdicts over a restart, one a worker; unset: they are kept in memory."""
    status: str | None = None
    """HOST:PORT where `/healthz`, `/readyz`, `/status` and `/explain/ID` answer; unset: nowhere."""
    client: dict[str, str] = {}
    """Properties of the Kafka client (librdkafka), such as `security.protocol`; never secrets."""
    client_file: str | None = None
    """File of such properties, `name=value` a line; for secrets."""


class TelemetryConfig(Section):
    """What this process says of itself."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity of log lines on standard error."""
    log_format: Literal["text", "json"] = "text"
    """How they are written."""


MetricEntry = Annotated[MetricConfig, BeforeValidator(_metric_from_name)]
DEFAULT_METRICS = tuple(
    MetricConfig(name=name) for name in ("agent_goal_accuracy", "tool_error_rate", "repeated_calls", "unanswered_turn", "user_repetition")
)


class Config(Section):
    """The whole configuration. Every key can also be given as an environment variable: OTEL_EVAL__SECTION__KEY."""

    receive: ReceiveConfig = ReceiveConfig()
    store: StoreConfig = StoreConfig()
    completion: CompletionConfig = CompletionConfig()
    selection: SelectionConfig = SelectionConfig()
    metrics: tuple[MetricEntry, ...] = DEFAULT_METRICS
    """What is run on the selected conversations, in this order."""
    judge: JudgeConfig = JudgeConfig()
    scoring: ScoringConfig = ScoringConfig()
    sinks: SinksConfig = SinksConfig()
    inline: InlineConfig = InlineConfig()
    kafka: KafkaConfig = KafkaConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
