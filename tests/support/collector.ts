import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import protobuf from "protobufjs";

const { root } = protobuf.parse(readFileSync(new URL("./otlp.proto", import.meta.url), "utf8"));
const requests: Record<string, protobuf.Type> = {
  "/v1/traces": root.lookupType("otlp.TraceRequest"),
  "/v1/metrics": root.lookupType("otlp.MetricsRequest"),
  "/v1/logs": root.lookupType("otlp.LogsRequest"),
};

/** A span as it arrived. */
export interface CollectedSpan {
  service: string;
  name: string;
  trace: string;
  id: string;
  parent: string;
  attributes: Record<string, unknown>;
}

/** A line of a log as it arrived; `trace` and `span` are "" if it belongs to none. */
export interface CollectedLine {
  service: string;
  severity: string;
  message: unknown;
  trace: string;
  span: string;
  attributes: Record<string, unknown>;
}

/** A point of a metric: what was counted, or how many values a histogram holds. */
export interface CollectedPoint {
  metric: string;
  unit: string;
  service: string;
  value: number;
  attributes: Record<string, string>;
}

/** An OpenTelemetry collector on loopback that keeps what it is sent by OTLP over HTTP, as protobuf. */
export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string;
  spans: CollectedSpan[];
  lines: CollectedLine[];
  /** The newest point of each series: what is counted adds up from export to export. */
  points: CollectedPoint[];
  /** Requests to paths that nobody asked for. */
  unexpected: string[];
  close(): Promise<void>;
}

interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string;
  doubleValue?: number;
  arrayValue?: { values: AnyValue[] };
}
interface Attribute {
  key: string;
  value: AnyValue;
}
interface Resource {
  attributes: Attribute[];
}
interface SpanMessage {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: Attribute[];
}
interface Point {
  asDouble?: number;
  count?: string;
  attributes: Attribute[];
}
interface MetricMessage {
  name: string;
  unit: string;
  gauge?: { dataPoints: Point[] };
  sum?: { dataPoints: Point[] };
  histogram?: { dataPoints: Point[] };
}
interface LogMessage {
  severityText: string;
  body: AnyValue;
  traceId: string;
  spanId: string;
  attributes: Attribute[];
}
interface ExportMessage {
  resourceLogs?: { resource: Resource; scopeLogs: { logRecords: LogMessage[] }[] }[];
  resourceSpans?: { resource: Resource; scopeSpans: { spans: SpanMessage[] }[] }[];
  resourceMetrics?: { resource: Resource; scopeMetrics: { metrics: MetricMessage[] }[] }[];
}

/** Starts a collector. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const lines: CollectedLine[] = [];
  const points: CollectedPoint[] = [];
  const unexpected: string[] = [];
  const server = createServer(async (request, response) => {
    const type = requests[request.url ?? ""];
    const body = await buffer(request);
    if (type === undefined) unexpected.push(`${request.method} ${request.url}`);
    else {
      const message = decoded(type, body);
      spans.push(...spansOf(message));
      lines.push(...linesOf(message));
      for (const point of pointsOf(message)) {
        const before = points.findIndex((known) => isSameSeries(known, point));
        if (before >= 0) points[before] = point;
        else points.push(point);
      }
    }
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return { endpoint: `http://127.0.0.1:${port}`, spans, lines, points, unexpected, close };
}

function decoded(type: protobuf.Type, body: Uint8Array): ExportMessage {
  return type.toObject(type.decode(body), { longs: String, bytes: String, defaults: true });
}

function spansOf({ resourceSpans = [] }: ExportMessage): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ name, traceId, spanId, parentSpanId, attributes }) => ({
        service: attributesOf(resource.attributes)["service.name"] ?? "",
        name,
        trace: traceId,
        id: spanId,
        parent: parentSpanId,
        attributes: plainOf(attributes),
      })),
    ),
  );
}

function linesOf({ resourceLogs = [] }: ExportMessage): CollectedLine[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap((scope) =>
      scope.logRecords.map(({ severityText, body, traceId, spanId, attributes }) => ({
        service: attributesOf(resource.attributes)["service.name"] ?? "",
        severity: severityText,
        message: plainValue(body),
        trace: traceId,
        span: spanId,
        attributes: plainOf(attributes),
      })),
    ),
  );
}

function plainOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function pointsOf({ resourceMetrics = [] }: ExportMessage): CollectedPoint[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const service = attributesOf(resource.attributes)["service.name"] ?? "";
    return scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .flatMap(
        ({ name, unit, gauge, sum, histogram }) =>
          (gauge ?? sum ?? histogram)?.dataPoints.map((point) => ({
            metric: name,
            unit,
            service,
            value: Number(point.asDouble ?? point.count),
            attributes: attributesOf(point.attributes),
          })) ?? [],
      );
  });
}

function isSameSeries(a: CollectedPoint, b: CollectedPoint): boolean {
  return isDeepStrictEqual({ ...a, value: 0 }, { ...b, value: 0 });
}

function attributesOf(attributes: Attribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? ""]));
}

function plainValue({ arrayValue, intValue, ...value }: AnyValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(plainValue);
  return intValue === undefined ? Object.values(value)[0] : Number(intValue);
}
