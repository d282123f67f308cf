import type { Telemetry } from "./open-telemetry.ts";

const signals = ["TRACES", "METRICS", "LOGS"] as const;

/** Whether the usual environment variables ask for an export by OTLP (over HTTP, protobuf). */
export function telemetryIsOn(): boolean {
  return signals.some(isExported);
}

function isExported(signal: (typeof signals)[number]): boolean {
  const { env } = process;
  const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return env.OTEL_SDK_DISABLED !== "true" && env[`OTEL_${signal}_EXPORTER`] !== "none" && Boolean(endpoint);
}

/**
 * Starts OpenTelemetry for a process of a run that was created with telemetry (`isOn`). Such a run keeps its
 * interceptors when it is resumed without the environment variables, and then exports nothing: histories stay the same.
 * Without `isOwn` the process is somebody else's, and traces are only carried. It is loaded only then: it takes a third of what else a process loads.
 */
export async function startTelemetry(service: string, isOn: boolean, isOwn = true): Promise<Telemetry> {
  if (!isOn) return { plugins: [], exportsLogs: false, stop: async () => {} };
  const { openTelemetry } = await import("./open-telemetry.ts");
  return openTelemetry(service, {
    traces: isOwn && isExported("TRACES"),
    metrics: isOwn && isExported("METRICS"),
    logs: isOwn && isExported("LOGS"),
  });
}
