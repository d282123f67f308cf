import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { type LogAttributes, logs, SeverityNumber } from "@opentelemetry/api-logs";
import { defined } from "../records/defined.ts";

/** A log line as Temporal's SDK passes it to a logger. */
export interface LogLine {
  level: "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR";
  message: string;
  attributes?: Readonly<Record<string, unknown>>;
}

/**
 * Exports a line if logs are exported. Its attributes `trace_id` and `span_id`, which the SDK sets, link it to a
 * span.
 */
export function tellLog({ level, message, attributes = {} }: LogLine): void {
  const { trace_id: traceId, span_id: spanId, trace_flags: flags, ...rest } = attributes;
  const isTraced = typeof traceId === "string" && typeof spanId === "string";
  const span = { traceId: String(traceId), spanId: String(spanId), traceFlags: Number(flags ?? 1) };
  logs.getLogger("everturn").emit(
    defined({
      severityNumber: SeverityNumber[level],
      severityText: level,
      body: message,
      attributes: plain(rest),
      context: isTraced ? trace.setSpanContext(ROOT_CONTEXT, span) : undefined,
    }),
  );
}

/**
 * Converts an error to the attributes of OpenTelemetry's conventions. Strings, numbers and booleans stay unchanged,
 * and other values become JSON.
 */
function plain(given: Readonly<Record<string, unknown>>): LogAttributes {
  const { error, ...rest } = given;
  const told = Object.entries(rest).map(([key, value]) => [key, plainValue(value)] as const);
  const failure =
    error instanceof Error
      ? {
          "exception.type": error.name,
          "exception.message": error.message,
          "exception.stacktrace": error.stack ?? "",
        }
      : {};
  return { ...Object.fromEntries(told), ...failure };
}

function plainValue(value: unknown): string | number | boolean {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
}
