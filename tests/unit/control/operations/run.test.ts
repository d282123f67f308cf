import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  EverturnError,
  loadPipeline,
  openRun,
  type Run,
  type RunEvent,
  type TrainOptions,
  type TrajectoryDetail,
} from "everturn";
import { expect, expectTypeOf, test, vi } from "vitest";
import { collected } from "../../../../src/base/async/collected.ts";
import { telling } from "../../../../src/control/operations/events.ts";
import { recordedStepKey } from "../../../../src/run/store/keys.ts";
import { type SampleRun, writeSampleRun } from "../../../support/sample-run.ts";

const sample: SampleRun = await writeSampleRun();
const run = await openRun(sample.id, { runs: sample.runs });

test("a run is opened by its id or its folder, and gives what it has recorded", async () => {
  expect(await openRun(sample.folder.root)).toMatchObject({ id: sample.id, folder: sample.folder.root });
  expect((await run.steps()).map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  expect((await run.steps(3)).map(({ step }) => step)).toEqual([4]);
  expect((await run.evaluations()).at(-1)).toMatchObject({ step: 4, policyVersion: 5 });
  expect(await run.plan()).toMatchObject({ name: "calculator", steps: 4 });
  expect((await run.versions())[0]).toMatchObject({ version: 0, state: "there" });
  expect(await run.policyFolder(0)).toContain(sample.folder.root);
  const { entries, stages } = await run.ledger({ step: 2 });
  expect(stages.map(({ stage }) => stage)).toEqual(["step-0002"]);
  expect(entries).toHaveLength(8);
});

test("its trajectories are filtered as the command filters them, and one is read wholly by an end of its id", async () => {
  const all = await collected(run.trajectories());
  const some = await collected(run.trajectories({ stage: "step-0002", tool: "calculator", minReward: 1 }));
  expect(some.length).toBeGreaterThan(0);
  expect(some.length).toBeLessThan(all.length);
  const [first] = some;
  const whole = await run.trajectory(first?.id.split("/").slice(1).join("/") ?? "");
  expect(whole).toMatchObject({ id: first?.id, record: { reward: 1 } });
  expect(whole.turns).toHaveLength(first?.turns ?? 0);
  expect(whole.segments.length).toBeGreaterThan(first?.turns ?? 0);
});

test("its trajectories are scored again by a reward as a pipeline says it", async () => {
  const reward = [{ plugin: "reward-exact-match", weight: 3, config: { extract: "last-number" } }];
  const all = await collected(run.rescore({ reward, stage: "step-0002" }));
  expect(all).toHaveLength(8);
  for (const { recorded, now } of all) {
    expect(now).toMatchObject({ reward: 3 * recorded.reward, success: recorded.success });
  }
  const unknown = run.rescore({ reward: "reward-nope" });
  await expect(collected(unknown)).rejects.toMatchObject({ code: "WRONG_CONFIGURATION" });
});

test("errors have their codes, also those of the system", async () => {
  await expect(openRun("nope", { runs: sample.runs })).rejects.toBeInstanceOf(EverturnError);
  await expect(run.trajectory("nope")).rejects.toMatchObject({ code: "TRAJECTORY_NOT_FOUND" });
  await expect(run.policyFolder(99)).rejects.toMatchObject({ code: "POLICY_NOT_FOUND" });
  await expect(run.train({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "INTERRUPTED" });
  await expect(loadPipeline("nope.yaml")).rejects.toMatchObject({ code: "PIPELINE_NOT_FOUND" });
  await expect(
    loadPipeline("tests/pipelines/tools.yaml", { set: { steps: "many", "rollout.batchSize": 0 } }),
  ).rejects.toMatchObject({ code: "WRONG_CONFIGURATION", problems: { length: 2 } });
});

test("a record that can't be read is told to whoever opened the run, and nobody else", async () => {
  const broken = await writeSampleRun();
  writeFileSync(join(broken.folder.root, recordedStepKey(2).path), "{");
  const said = vi.spyOn(process.stderr, "write");
  const onNotice = vi.fn();
  const opened = await openRun(broken.folder.root, { onNotice });
  expect(onNotice).not.toHaveBeenCalled();
  expect((await opened.steps()).map(({ step }) => step)).not.toContain(2);
  await collected(opened.trajectories());
  expect(onNotice.mock.calls[0]?.[0]).toMatch(/recorded\.json can't be read/);
  expect(said).not.toHaveBeenCalled();
  said.mockRestore();
});

test("what a listener throws ends the work and is thrown; nothing is told after an end", async () => {
  const note: RunEvent = { type: "note", text: "a" };
  const seen: unknown[] = [];
  const work = telling(
    {
      onEvent: (event) => {
        seen.push(event);
        throw new Error("of the listener");
      },
    },
    async ({ tell, signal }) => {
      tell(note);
      expect(signal.aborted).toBe(true);
      tell(note);
      throw new Error("because it ended");
    },
  );
  await expect(work).rejects.toThrow("of the listener");
  expect(seen).toEqual([note]);
});

test("the types say what there is", () => {
  expectTypeOf(run).toEqualTypeOf<Run>();
  expectTypeOf<Extract<RunEvent, { type: "step" }>["record"]["rewardMean"]>().toEqualTypeOf<
    number | undefined
  >();
  expectTypeOf<RunEvent["type"]>().toEqualTypeOf<
    "note" | "opened" | "server" | "progress" | "step" | "evaluation" | "diagnosis" | "waits"
  >();
  expectTypeOf(run.trajectory).returns.resolves.toEqualTypeOf<TrajectoryDetail>();
  expectTypeOf<TrainOptions["signal"]>().toEqualTypeOf<AbortSignal | undefined>();
  // @ts-expect-error an outcome that there is not
  const listed = () => run.trajectories({ outcome: "lost" });
  // @ts-expect-error a key of a pipeline has a value of JSON
  const loaded = () => loadPipeline("a.yaml", { set: { steps: () => 5 } });
  expect([listed, loaded]).toHaveLength(2);
});
