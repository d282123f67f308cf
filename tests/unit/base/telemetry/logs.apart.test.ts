import { afterEach, expect, test, vi } from "vitest";
import { tellLog } from "../../../../src/base/telemetry/logs.ts";
import { startTelemetry } from "../../../../src/base/telemetry/telemetry.ts";
import { startCollector } from "../../../support/collector.ts";

afterEach(() => vi.unstubAllEnvs());

test("lines are exported with their severity, error and span, and to a collector alone that is asked for", async () => {
  tellLog({ level: "ERROR", message: "nobody listens" });
  const collector = await startCollector();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint);
  vi.stubEnv("OTEL_METRICS_EXPORTER", "none");
  const telemetry = await startTelemetry("tools", true);
  expect(telemetry.exportsLogs).toBe(true);
  tellLog({
    level: "WARN",
    message: "Activity failed",
    attributes: {
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      span_id: "b7ad6b7169203331",
      trace_flags: "01",
      workflowId: "run/step-0001/0",
      attempt: 2,
      isLocal: true,
      scheduled: 5n,
      info: { queue: "tools" },
      error: new TypeError("the dice are lost"),
    },
  });
  tellLog({ level: "INFO", message: "plain" });
  await telemetry.stop();
  await collector.close();
  const [failed, plain, ...more] = collector.lines;
  expect(failed).toEqual({
    service: "everturn-tools",
    severity: "WARN",
    message: "Activity failed",
    trace: Buffer.from("0af7651916cd43dd8448eb211c80319c", "hex").toString("base64"),
    span: Buffer.from("b7ad6b7169203331", "hex").toString("base64"),
    attributes: {
      workflowId: "run/step-0001/0",
      attempt: 2,
      isLocal: true,
      scheduled: "5",
      info: '{"queue":"tools"}',
      "exception.type": "TypeError",
      "exception.message": "the dice are lost",
      "exception.stacktrace": expect.stringContaining("logs.apart.test"),
    },
  });
  expect(plain).toMatchObject({ severity: "INFO", message: "plain", trace: "", span: "" });
  expect([more, collector.unexpected]).toEqual([[], []]);
});
