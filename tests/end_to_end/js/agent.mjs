// An agent with two conversations, exported by the OpenTelemetry SDK for JavaScript over OTLP/HTTP with JSON: `told` has its words on
// spans, `hidden` only in log events. The endpoint is OTEL_EXPORTER_OTLP_ENDPOINT.
import { context, trace } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const fail = (error) => { console.error(error); process.exitCode = 1; };
const traces = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
const logs = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] });
const tracer = traces.getTracer("agent");
const logger = logs.getLogger("agent");

const text = (role, content) => ({ role, parts: [{ type: "text", content }] });

function turn(conversation, given, answer, inLogs) {
  const known = { "gen_ai.conversation.id": conversation, "gen_ai.agent.name": "clerk" };
  const content = { "gen_ai.input.messages": given, "gen_ai.output.messages": [{ ...answer, finish_reason: "stop" }] };
  const root = tracer.startSpan("invoke_agent clerk", { attributes: { "gen_ai.operation.name": "invoke_agent", ...known } });
  const inside = trace.setSpan(context.active(), root);
  const written = inLogs ? {} : Object.fromEntries(Object.entries(content).map(([key, value]) => [key, JSON.stringify(value)]));
  const chat = tracer.startSpan("chat", { attributes: { "gen_ai.operation.name": "chat", ...known, ...written } }, inside);
  if (inLogs) {
    logger.emit({
      eventName: "gen_ai.client.inference.operation.details",
      attributes: { ...known, "gen_ai.operation.name": "chat", ...content, "gen_ai.system_instructions": null },
      body: { nothing: null, numbers: [1, 2.5, null] },
      context: trace.setSpan(context.active(), chat),
    });
  }
  chat.end();
  root.end();
}

for (const [conversation, inLogs] of [["told", false], ["hidden", true]]) {
  const first = text("user", "Is room 7 free? ✓");
  const answer = text("assistant", "It is.");
  turn(conversation, [first], answer, inLogs);
  turn(conversation, [first, answer, text("user", "Book it.")], text("assistant", "Booked."), inLogs);
}
await Promise.all([traces.forceFlush(), logs.forceFlush()]).catch(fail);
await Promise.all([traces.shutdown(), logs.shutdown()]).catch(fail);
