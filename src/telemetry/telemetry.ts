import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { metrics, NodeSDK, resources, tracing } from "@opentelemetry/sdk-node";
import { OpenTelemetryPlugin } from "@temporalio/interceptors-opentelemetry-v2";
import { messageOf } from "../errors/message-of.ts";

/** OpenTelemetry at work in a process. */
export interface Telemetry {
  /** Plugins that carry traces through Temporal's clients and workers. */
  plugins: OpenTelemetryPlugin[];
  /** Sends what is left and stops. */
  stop(): Promise<void>;
}

/** Whether the usual environment variables ask for an export by OTLP (over HTTP, protobuf). */
export function telemetryIsOn(): boolean {
  return isExported("TRACES") || isExported("METRICS");
}

function isExported(signal: "TRACES" | "METRICS"): boolean {
  const { env } = process;
  const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return env.OTEL_SDK_DISABLED !== "true" && env[`OTEL_${signal}_EXPORTER`] !== "none" && Boolean(endpoint);
}

/**
 * Starts OpenTelemetry for a process of a run that was created with telemetry (`isOn`). Such a run keeps its
 * interceptors when it is resumed without the environment variables, and then exports nothing: histories stay the same.
 */
export function startTelemetry(service: string, isOn: boolean): Telemetry {
  if (!isOn) return { plugins: [], stop: async () => {} };
  const resource = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ "service.name": `everturn-${service}` }));
  const spanProcessor = isExported("TRACES")
    ? new tracing.BatchSpanProcessor(new OTLPTraceExporter())
    : new tracing.NoopSpanProcessor();
  const plugins = [new OpenTelemetryPlugin({ resource, spanProcessor })];
  if (!telemetryIsOn()) return { plugins, stop: async () => {} };
  const sdk = new NodeSDK({
    resource,
    spanProcessors: [spanProcessor],
    metricReaders: isExported("METRICS")
      ? [new metrics.PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })]
      : [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  return { plugins, stop: () => stopped(sdk) };
}

/** A collector that does not answer costs what it was to be sent, not the run. */
async function stopped(sdk: NodeSDK): Promise<void> {
  try {
    await sdk.shutdown();
  } catch (error) {
    process.stderr.write(`telemetry was not sent: ${messageOf(error)}\n`);
  }
}
