import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aboutText } from "../../src/apps/cli/views/estimate.ts";
import type { Probe } from "../../src/control/operations/probe-pipeline.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { everturn, lastLine, startWith } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const folder = temporaryFolder();
const probes = () => readdirSync(tmpdir()).filter((name) => name.startsWith("everturn-probe-"));

test("a probe says from two steps how long a run takes and how much memory, and leaves nothing", async () => {
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
  const { start, step, record, evaluationTask, warmStartStep = 0, run } = probe;
  const rest = 30 * warmStartStep + 51 * 8 * evaluationTask + record.seconds.total + 99 * step.total;
  expect(run).toBeGreaterThan(start + rest); // plus the evaluation of the initial policy
  expect(probe.warmStartSteps).toBe(30);
  expect(record).toMatchObject({ step: 1, trajectories: 8, successRate: expect.any(Number) });
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

test("everturn probe reports what the policy does, and names a policy that calls no tool", async () => {
  const sets = [
    "--set",
    "rollout.batchSize=8",
    "--set",
    "trainer.config.minibatchSize=8",
    "--set",
    "warmStart=null",
  ];
  const { code, stdout, stderr } = await everturn("probe", pipeline, ...sets);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("policy: it has random weights and there is no warm start");
  expect(stderr).toMatch(/^probing two steps\n {2}\S/m); // the phases that it met when it looked
  expect(stdout).toMatch(/^ {2}trajectories +8$/m);
  expect(stdout).toMatch(/^ {2}solved +0 %$/m);
  expect(stdout).toMatch(/^ {2}the whole run, about +\S/m);
  expect(stdout).toMatch(/^ {2}note: no (trajectory makes a valid tool call|tool call is valid)/m);
  const nothing = await everturn("probe", pipeline, "--set", "steps=0", "--set", "warmStart=null");
  expect(nothing.code).not.toBe(0);
  expect(nothing.stderr).toContain("has no steps, so there is nothing to probe");
});

test("explain estimates a run from an earlier probe or run of the pipeline on this machine", async () => {
  const temporal = await findServerBinary();
  const command = async (...parameters: string[]) => {
    const env = { XDG_CACHE_HOME: folder, EVERTURN_TEMPORAL: temporal };
    const ended = await startWith(env, ...parameters).end();
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const explain = async (...parameters: string[]) =>
    (await command("explain", pipeline, ...parameters)).stdout;
  const sets = (...changes: string[]) => changes.flatMap((change) => ["--set", change]);
  const time = /^Time: (about .*), as measured by a (probe|run) on \d{4}-\d\d-\d\d \((\d+) steps\)$/m;
  expect(await explain()).toMatch(/^Time: npx everturn probe \S+ measures it$/m);
  const probed = await command("probe", pipeline, "--json");
  const { run } = lastLine<Probe>(probed.stdout);
  expect(time.exec(await explain())?.slice(1)).toEqual([aboutText(run, 0), "probe", "2"]);
  expect(secondsOf(time.exec(await explain(...sets("steps=6")))?.[1])).toBeGreaterThan(run);
  expect(await explain(...sets("rollout.batchSize=32"))).toMatch(/^Time: npx everturn probe/m);

  const longer = sets("steps=30"); // times are seen once a second, and no estimate below five is printed
  const ran = await command("run", pipeline, "--runs", folder, "--json", ...longer);
  expect(ran.stderr).toMatch(/ of the time is over, about (\d+ min )?\d+ s left$/m);
  const { seconds } = lastLine<{ seconds: number }>(ran.stdout);
  const [, estimate, by, steps] = time.exec(await explain(...longer)) ?? [];
  expect([by, steps]).toEqual(["run", "30"]);
  expect(secondsOf(estimate)).toBeGreaterThan(0.5 * seconds);
  // The end of the command is not measured. Two looks, up to a second late, count some of its time twice.
  expect(secondsOf(estimate)).toBeLessThan(1.1 * seconds + 3);
});

/** The seconds in a text such as "about 1 min 03 s". */
function secondsOf(text: string | undefined): number {
  const [, minutes = "0", seconds] = /^about (?:(\d+) min )?(\d+) s$/.exec(text ?? "") ?? [];
  return 60 * Number(minutes) + Number(seconds);
}
