import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drawTasks } from "../../../activities/draw-tasks.ts";
import { loadTask } from "../../../activities/load-task.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../src/run/folder/open-runs.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "..", "pipelines", "small.yaml");
const plan = await loadPlan(pipeline, {
  overrides: ["dataset.train.config.limit=10", "dataset.validation.config.limit=6", "rollout.groupSize=2"],
});
const run = await createRunFolder(plan, { runs });
const open = (id: string) => openRunFolder(runs, id);
const draw = drawTasks(open, runTasks());
const load = loadTask(open, runTasks());
const evaluation = { source: "validation" } as const;

test("a step has one task for each group, by the run's seed, in any process", async () => {
  const tasks = await draw({ run, step: 2 });
  expect(tasks).toHaveLength(8);
  expect(await drawTasks(open, runTasks())({ run, step: 2 })).toEqual(tasks);
  expect(await draw({ run, step: 1 })).not.toEqual(tasks);
});

test("tasks that replace others come from an order of their own, as many as are asked for", async () => {
  const replacement = { round: 2, count: 3, drawn: [] };
  const tasks = await draw({ run, step: 2, replacement });
  expect(tasks).toHaveLength(3);
  expect(await draw({ run, step: 2, replacement })).toEqual(tasks);
  expect(tasks).not.toEqual((await draw({ run, step: 2 })).slice(0, 3));
});

test("an evaluation has the first tasks of the validation set, in order", async () => {
  const tasks = await draw({ run, step: 0, evaluation: { ...evaluation, limit: 4 } });
  expect(tasks).toEqual(["task-00000", "task-00001", "task-00002", "task-00003"]);
  expect(await draw({ run, step: 0, evaluation })).toHaveLength(6);
});

test("an evaluation has none of the tasks whose prompts are overlong", async () => {
  const leftOut = { train: [], validation: [1, 2] };
  const without = async () => {
    const opened = await open(run);
    return { ...opened, plan: { ...plan, dataset: { ...plan.dataset, leftOut } } };
  };
  const limited = { run, step: 0, evaluation: { ...evaluation, limit: 2 } };
  expect(await drawTasks(without, runTasks())(limited)).toEqual(["task-00000", "task-00003"]);
});

test("a file of tasks is taken whole, whatever the pipeline says of its own", async () => {
  const taskFile = join(runs, "tasks.jsonl");
  const source = { file: taskFile };
  const row = (truth: number) => ({
    data_source: "test",
    prompt: [{ role: "user", content: "?" }],
    reward_model: { ground_truth: String(truth) },
  });
  const rows = Array.from({ length: 9 }, (_, index) => JSON.stringify(row(index)));
  writeFileSync(taskFile, rows.join("\n"));
  const tasks = await draw({ run, step: 0, evaluation: { source } });
  const at = (task: string) => ({ id: `${run}/s/${task}/0`, run, stage: "s", step: 0, task, sample: 0 });
  const loaded = await Promise.all(tasks.map((task) => load({ place: at(task), source })));
  expect(loaded.map((task) => task.reward_model.ground_truth)).toEqual([..."012345678"]);
  await expect(load({ place: at("task-00009"), source })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  expect(await draw({ run, step: 0, evaluation: { source, limit: 2 } })).toHaveLength(2);
  writeFileSync(taskFile, "\n");
  await expect(draw({ run, step: 0, evaluation: { source } })).rejects.toMatchObject({
    code: "TASKS_EMPTY",
  });
});
