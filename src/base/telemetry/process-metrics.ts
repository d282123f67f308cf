import { metrics } from "@opentelemetry/api";

/**
 * Measures this process's use of processors and memory at each export, in the terms of OpenTelemetry's process
 * conventions.
 */
export function measureProcess(): void {
  const meter = metrics.getMeter("everturn");
  let [used, at] = [process.cpuUsage(), performance.now()];
  meter
    .createObservableGauge("process.cpu.utilization", {
      unit: "1",
      description: "Processors that the process used since the last look: 1.5 is one and a half.",
    })
    .addCallback((result) => {
      const [{ user, system }, now] = [process.cpuUsage(used), performance.now()];
      result.observe((user + system) / 1000 / Math.max(1, now - at));
      [used, at] = [process.cpuUsage(), now];
    });
  meter
    .createObservableGauge("process.memory.usage", { unit: "By", description: "Memory that is resident." })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
}
