import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { checkTelemetry } from "../../../../src/base/telemetry/telemetry.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("a run with telemetry whose packages are missing is refused with the line that installs them", () => {
  const elsewhere = pathToFileURL(join(temporaryFolder(), "module.js")).href;
  expect(() => checkTelemetry(true, elsewhere)).toThrowErrorMatchingInlineSnapshot(
    `[EverturnError: This run has telemetry, which needs packages that are not installed: @opentelemetry/exporter-logs-otlp-proto, @opentelemetry/exporter-metrics-otlp-proto, @opentelemetry/exporter-trace-otlp-proto, @opentelemetry/sdk-node, @temporalio/interceptors-opentelemetry-v2. Run \`npm install @opentelemetry/exporter-logs-otlp-proto@0.223.0 @opentelemetry/exporter-metrics-otlp-proto@0.223.0 @opentelemetry/exporter-trace-otlp-proto@0.223.0 @opentelemetry/sdk-node@0.223.0 @temporalio/interceptors-opentelemetry-v2@1.23.0\` in your project. To start a run without telemetry, set OTEL_SDK_DISABLED=true.]`,
  );
  expect(() => checkTelemetry(false, elsewhere)).not.toThrow();
  expect(() => checkTelemetry(true)).not.toThrow();
});
