import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Probe } from "../../src/control/operations/probe-pipeline.ts";
import { everturn, lastLine } from "../support/command.ts";

const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const probes = () => readdirSync(tmpdir()).filter((name) => name.startsWith("everturn-probe-"));

test("a probe says from one step how long a run takes and how much memory, and leaves nothing", async () => {
  const before = probes();
  const sets = [
    "--set",
    "steps=100",
    "--set",
    "rollout.batchSize=8",
    "--set",
    "trainer.config.minibatchSize=8",
  ];
  const { code, stdout, stderr } = await everturn("explain", pipeline, "--probe", "--json", ...sets);
  expect(code, stderr).toBe(0);
  const { probe, steps, evaluations } = lastLine<{ probe: Probe; steps: number; evaluations: number }>(
    stdout,
  );
  expect([steps, evaluations]).toEqual([100, 52]); // before and after the warm start, and every second step
  expect(probe.step.total).toBeGreaterThan(0);
  const { start, step, evaluationTask, warmStartStep = 0, run } = probe;
  expect(run).toBeCloseTo(start + 30 * warmStartStep + 52 * 8 * evaluationTask + 100 * step.total, 9);
  if (process.platform === "linux") {
    const workers = probe.memory.filter(({ process: name }) => name.startsWith("worker "));
    expect(workers.map(({ process: name }) => name).sort()).toEqual([
      "worker orchestration",
      "worker trainer",
    ]);
    for (const { bytes } of workers) expect(bytes).toBeGreaterThan(50 * 2 ** 20);
  }
  expect(probes()).toEqual(before);
});
