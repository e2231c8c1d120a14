// node emit.mjs json|proto TRACES_URL none|gzip: exports a parent and a child with the JavaScript SDK.
import { SpanKind, SpanStatusCode, trace, context } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

const [format, url, compression] = process.argv.slice(2);
const Exporter = format === "json" ? JsonExporter : ProtoExporter;
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ "service.name": "javascript" }),
  spanProcessors: [new SimpleSpanProcessor(new Exporter({ url, compression }))],
});
const tracer = provider.getTracer("an emitter", "1.2.3");

const parent = tracer.startSpan("parent", { kind: SpanKind.SERVER, startTime: [1764500000, 123456789] });
const child = tracer.startSpan(
  "child",
  {
    startTime: [1764500000, 223456789],
    attributes: {
      text: "h\u00e9llo \ud83d\ude00",
      cut: "emoji \ud83d",
      integer: 42,
      large: Number.MAX_SAFE_INTEGER,
      double: 1.5,
      yes: true,
      texts: ["a", "b"],
      numbers: [1, 2.5],
    },
  },
  trace.setSpan(context.active(), parent),
);
child.addEvent("an event", { n: 1 }, [1764500000, 323456789]);
child.setStatus({ code: SpanStatusCode.ERROR, message: "it failed" });
child.end([1764500001, 0]);
parent.end([1764500002, 0]);
await provider.shutdown();
console.log(parent.spanContext().traceId, parent.spanContext().spanId, child.spanContext().spanId);
