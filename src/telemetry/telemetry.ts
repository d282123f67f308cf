import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { metrics, NodeSDK, resources, tracing } from "@opentelemetry/sdk-node";
import { OpenTelemetryPlugin } from "@temporalio/interceptors-opentelemetry-v2";

/** OpenTelemetry at work in a process. */
export interface Telemetry {
  /** Plugins that carry traces through Temporal's clients and workers. */
  plugins: OpenTelemetryPlugin[];
  /** Sends what is left and stops. */
  stop(): Promise<void>;
}

/** Whether the usual environment variables ask for an export by OTLP (over HTTP, protobuf). */
export function telemetryIsOn(): boolean {
  const { env } = process;
  if (env.OTEL_SDK_DISABLED === "true") return false;
  return [
    env.OTEL_EXPORTER_OTLP_ENDPOINT,
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
  ].some((endpoint) => endpoint !== undefined && endpoint !== "");
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
  if (!telemetryIsOn()) {
    const spanProcessor = new tracing.NoopSpanProcessor();
    return { plugins: [new OpenTelemetryPlugin({ resource, spanProcessor })], stop: async () => {} };
  }
  const spanProcessor = new tracing.BatchSpanProcessor(new OTLPTraceExporter());
  const sdk = new NodeSDK({
    resource,
    spanProcessors: [spanProcessor],
    metricReaders: [new metrics.PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })],
    instrumentations: [],
  });
  sdk.start();
  return { plugins: [new OpenTelemetryPlugin({ resource, spanProcessor })], stop: () => sdk.shutdown() };
}
