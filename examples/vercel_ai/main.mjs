// An agent of the Vercel AI SDK that never answers, streamed over the Responses API.

import { createOpenAI } from "@ai-sdk/openai";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { streamText } from "ai";

const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())], // OTEL_EXPORTER_OTLP_ENDPOINT says where to
});
provider.register();

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const questions = ["Where is my parcel 9913?", "Where is my parcel 9913?", "I asked you where my parcel 9913 is!"];
const messages = [];

for (const question of questions) {
  messages.push({ role: "user", content: question });
  const result = streamText({
    model: openai(process.env.MODEL),
    system: "You know about parcels.",
    messages,
    experimental_telemetry: {
      isEnabled: true, // records content by default
      functionId: "parcels",
      metadata: { sessionId: "parcel-9913" }, // the conversation's id
    },
  });
  let answer = "";
  for await (const text of result.textStream) answer += text;
  messages.push({ role: "assistant", content: answer });
  console.log(`user   ${question}\nagent  ${answer}`);
}

await provider.shutdown();
