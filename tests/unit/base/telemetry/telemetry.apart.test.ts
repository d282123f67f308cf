import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTelemetry, telemetryIsOn } from "../../../../src/base/telemetry/telemetry.ts";

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("OTEL_")) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

test("telemetry is on only where the environment names a collector for it", () => {
  expect(telemetryIsOn()).toBe(false);
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "");
  expect(telemetryIsOn()).toBe(false);
  vi.stubEnv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:4318/v1/metrics");
  expect(telemetryIsOn()).toBe(true);
  vi.stubEnv("OTEL_METRICS_EXPORTER", "none");
  expect(telemetryIsOn()).toBe(false);
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
  expect(telemetryIsOn()).toBe(true);
  vi.stubEnv("OTEL_SDK_DISABLED", "true");
  expect(telemetryIsOn()).toBe(false);
});

test("a run made with telemetry keeps its interceptors without a collector; one made without has none", async () => {
  const kept = await startTelemetry("cli", true);
  expect(kept.plugins).toHaveLength(1);
  await kept.stop();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
  expect((await startTelemetry("cli", false)).plugins).toEqual([]);
});
