import { readFileSync } from "node:fs";
import { join } from "node:path";
import { metrics as api } from "@opentelemetry/api";
import { metrics } from "@opentelemetry/sdk-node";
import { expect, test } from "vitest";
import stepRecord from "../../../../schemas/step-record.schema.json" with { type: "json" };
import { instruments } from "../../../../src/base/telemetry/instruments.ts";
import { measureProcess } from "../../../../src/base/telemetry/process-metrics.ts";

const dashboard = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "..", "docs", "grafana", "everturn.json"),
  "utf8",
);

/** Names as Prometheus gives them what comes by OTLP: with unit and `total`, histograms in three parts. */
function prometheusNames({ descriptor, type }: { descriptor: { name: string; unit: string }; type: string }) {
  const units: Record<string, string> = { s: "_seconds", By: "_bytes", "1": "_ratio" };
  const base = descriptor.name.replaceAll(".", "_") + (units[descriptor.unit] ?? "");
  if (type === "HISTOGRAM") return [`${base}_bucket`, `${base}_count`, `${base}_sum`];
  return [type === "COUNTER" ? `${base}_total` : base];
}

test("each metric of the Grafana dashboard is exported, and each value of a step is one", async () => {
  const exporter = new metrics.InMemoryMetricExporter(metrics.AggregationTemporality.CUMULATIVE);
  const reader = new metrics.PeriodicExportingMetricReader({ exporter });
  const provider = new metrics.MeterProvider({ readers: [reader] });
  api.setGlobalMeterProvider(provider);
  const all = instruments();
  for (const one of Object.values(all)) {
    if ("record" in one) one.record(1);
    else one.add(1);
  }
  measureProcess();
  await reader.forceFlush();
  const exported = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
  await provider.shutdown();
  const types = new Map(
    exported.map((one) => [
      one.descriptor.name,
      one.dataPointType === metrics.DataPointType.HISTOGRAM
        ? "HISTOGRAM"
        : "isMonotonic" in one && one.isMonotonic
          ? "COUNTER"
          : "GAUGE",
    ]),
  );
  const known = exported.flatMap(({ descriptor }) =>
    prometheusNames({ descriptor, type: types.get(descriptor.name) ?? "" }),
  );
  const asked = new Set(dashboard.match(/\b(everturn|process)_[a-z_]+\b/g));
  expect(asked.size).toBeGreaterThan(8);
  expect([...asked].filter((name) => !known.includes(name))).toEqual([]);
  const names = [...dashboard.matchAll(/name=\\"train\/(\w+)\\"/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !(String(name) in stepRecord.properties))).toEqual([]);
});
