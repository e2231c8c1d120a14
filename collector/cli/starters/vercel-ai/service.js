// The service around the agent: POST /chat, with telemetry over OTLP.

import { createServer } from "node:http";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";

// Where spans go is said by OTEL_EXPORTER_OTLP_ENDPOINT and its like, which spanbar sets; nothing here knows of it.
const sdk = new NodeSDK();
sdk.start();
const tracer = trace.getTracer("support");

/** Serve `answer`, an async function from a message and its session to a reply, on PORT (8731 if not set). */
export function serve(answer) {
  const server = createServer(async (request, response) => {
    const send = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method !== "POST") {
      send(200, { status: "ok" });
      return;
    }
    // Continues the trace that the incoming `traceparent` names: that is how spanbar knows whose calls these are.
    const parent = propagation.extract(context.active(), request.headers);
    await tracer.startActiveSpan("POST /chat", { kind: SpanKind.SERVER }, parent, async (span) => {
      try {
        const { message, session = crypto.randomUUID() } = JSON.parse(await text(request));
        send(200, { reply: await answer(message, session) });
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
        send(500, { error: error.message });
      } finally {
        span.end();
      }
    });
  });
  server.listen(Number(process.env.PORT ?? 8731), "127.0.0.1");
  process.once("SIGTERM", async () => {
    server.close();
    await sdk.shutdown();
    process.exit(0);
  });
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
