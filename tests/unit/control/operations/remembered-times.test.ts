import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MeasuredTimes } from "../../../../src/control/operations/measured-times.ts";
import { timesMemory } from "../../../../src/control/operations/remembered-times.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const plan = samplePlan({ steps: 10, batchSize: 64, tasks: 50, warmStart: true, evaluationEvery: 5 });
const measured: MeasuredTimes = {
  once: 4,
  untrainedTask: 0.03,
  warmStartStep: 0.15,
  task: 0.12,
  step: 7.2,
  measuredSteps: 2,
};
const cache = temporaryFolder();
const folder = join(cache, "everturn");
const file = join(folder, "measured-times.json");
let notes: string[];
const memory = () => timesMemory((text) => notes.push(text));

beforeEach(() => {
  notes = [];
  vi.stubEnv("XDG_CACHE_HOME", cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("remembers the times of a pipeline whatever its name, length and outputs are", async () => {
  expect((await memory()).of(plan)).toBeUndefined();
  await (await memory()).keep(plan, measured, "probe");
  const { of } = await memory();
  expect(of(plan)).toEqual({ ...measured, by: "probe", at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  const longer = { ...plan, name: "longer", seed: 2, steps: 100, evaluation: { every: 0, tasks: 10 } };
  expect(of(longer)).toEqual(of(plan));
  expect(of({ ...plan, rollout: { ...plan.rollout, batchSize: 128 } })).toBeUndefined();
  expect(of({ ...plan, tools: [] })).toBeUndefined();
  expect(notes).toEqual([]);
});

test("new times replace earlier ones, and those that a resumed run did not measure stay", async () => {
  const { keep } = await memory();
  await keep(plan, { step: 5, task: 0.1, measuredSteps: 8 }, "run"); // not enough for an estimate
  expect((await memory()).of(plan)).toBeUndefined();
  await keep(plan, measured, "probe");
  await keep(plan, { step: 5, task: 0.1, measuredSteps: 8 }, "run");
  await keep(plan, { task: 0.5, measuredSteps: 0 }, "run"); // a run that made no step
  const other = { ...plan, tools: [] };
  await keep(other, { ...measured, step: 1 }, "run");
  const { of } = await memory();
  expect(of(plan)).toMatchObject({ ...measured, step: 5, task: 0.1, measuredSteps: 8, by: "run" });
  expect(of(other)).toMatchObject({ step: 1 });
});

test.each(["{", "[]", "null", '{"times": 1}', ""])(
  "a file that contains %j is replaced, and named if it cannot be read",
  async (content) => {
    mkdirSync(folder);
    writeFileSync(file, content);
    const { of, keep } = await memory();
    expect(of(plan)).toBeUndefined();
    expect(notes).toHaveLength(content.length < 2 ? 1 : 0);
    for (const note of notes) expect(note).toContain(file);
    await keep(plan, measured, "run");
    expect((await memory()).of(plan)).toMatchObject(measured);
  },
);

test("an entry that lacks a time counts as none", async () => {
  await (await memory()).keep(plan, measured, "run");
  writeFileSync(file, readFileSync(file, "utf8").replace('"step":7.2', '"step":"7.2"'));
  expect((await memory()).of(plan)).toBeUndefined();
});

test("a cache that cannot be written costs a note", async () => {
  writeFileSync(folder, ""); // a file in the place of the folder
  await (await memory()).keep(plan, measured, "run");
  expect(notes.join("\n")).toMatch(/^the measured times were not kept: .*measured-times\.json/m);
});

test("forgets the pipelines that were measured longest ago", async () => {
  const { keep } = await memory();
  const withTemperature = (temperature: number) => ({ ...plan, rollout: { ...plan.rollout, temperature } });
  for (let index = 0; index <= 200; index++) await keep(withTemperature(index), measured, "run");
  const { of } = await memory();
  expect([0, 1, 200].map((index) => of(withTemperature(index)) !== undefined)).toEqual([false, true, true]);
});
