import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { logs, metrics, NodeSDK, resources, tracing } from "@opentelemetry/sdk-node";
import { OpenTelemetryPlugin } from "@temporalio/interceptors-opentelemetry-v2";
import { messageOf } from "../errors/message-of.ts";
import { measureProcess } from "./process-metrics.ts";

/** A process's running OpenTelemetry. */
export interface Telemetry {
  /** Plugins that carry traces through Temporal's clients and workers. */
  plugins: OpenTelemetryPlugin[];
  /** Whether log lines are exported. */
  exportsLogs: boolean;
  /** Sends the remaining data and stops. */
  stop(): Promise<void>;
}

/**
 * Starts OpenTelemetry in a process as `everturn-SERVICE`. Signals that are not exported still travel through
 * Temporal.
 */
export function openTelemetry(
  service: string,
  exported: { traces: boolean; metrics: boolean; logs: boolean },
): Telemetry {
  const resource = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ "service.name": `everturn-${service}` }));
  const spanProcessor = exported.traces
    ? new tracing.BatchSpanProcessor(new OTLPTraceExporter())
    : new tracing.NoopSpanProcessor();
  const plugins = [new OpenTelemetryPlugin({ resource, spanProcessor })];
  if (!Object.values(exported).includes(true)) return { plugins, exportsLogs: false, stop: async () => {} };
  const sdk = new NodeSDK({
    resource,
    spanProcessors: [spanProcessor],
    metricReaders: exported.metrics
      ? [new metrics.PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })]
      : [],
    logRecordProcessors: exported.logs
      ? [new logs.BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })]
      : [],
    instrumentations: [],
  });
  sdk.start();
  if (exported.metrics) measureProcess();
  return { plugins, exportsLogs: exported.logs, stop: () => stopped(sdk) };
}

/** If a collector does not answer, its data is lost, but the run continues. */
async function stopped(sdk: NodeSDK): Promise<void> {
  try {
    await sdk.shutdown();
  } catch (error) {
    process.stderr.write(`telemetry was not sent: ${messageOf(error)}\n`);
  }
}
