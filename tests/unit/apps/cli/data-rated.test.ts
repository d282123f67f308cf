import { expect, test } from "vitest";
import { registerData } from "../../../../src/apps/cli/commands/data.ts";
import type { Task } from "../../../../src/contracts/generated/task.ts";
import { ratedTasks } from "../../../../src/results/evaluations/rated-tasks.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { runCommand } from "./run-command.ts";

const task = (name: string): Task => ({
  data_source: "a",
  prompt: [{ role: "user", content: name }],
  reward_model: { ground_truth: "1" },
  extra_info: { index: name },
});
const outcome = (name: string, ...solved: boolean[]) => ({
  id: name,
  task: task(name),
  samples: solved.map((success) => ({ success, reward: Number(success) })),
});

test("tasks are rated by the share of samples that solved them, the easiest first", () => {
  const rated = ratedTasks([
    outcome("hard", false, false),
    outcome("half", true, false),
    outcome("easy", true, true),
    outcome("other half", false, true),
  ]);
  expect(rated.map(({ rate }) => rate)).toEqual([1, 0.5, 0.5, 0]);
  expect(rated.map(({ task: one }) => one.extra_info)).toEqual([
    { index: "easy", success_rate: 1 },
    { index: "half", success_rate: 0.5 },
    { index: "other half", success_rate: 0.5 },
    { index: "hard", success_rate: 0 },
  ]);
});

test("an evaluation's tasks come as a file of tasks, of the shares that are asked for", async () => {
  const { id, runs } = await writeSampleRun();
  const tell = (...parameters: string[]) =>
    runCommand(registerData, "data", "rated", ...parameters, "--runs", runs);
  const rates = (text: string) =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).extra_info.success_rate);
  const all = rates(await tell(`${id}/v0001`));
  expect(all).toEqual([1, 0, 0, 0, 0, 0]);
  expect(rates(await tell(`${id}/v0001`, "--max", "0.5"))).toEqual([0, 0, 0, 0, 0]);
  await expect(tell(`${id}/v0001`, "--min", "0.2", "--max", "0.8")).rejects.toThrow(
    "none of its 6 tasks was solved by 20.0 % to 80.0 % of its samples",
  );
  await expect(tell(`${id}/v0001`, "--min", "2")).rejects.toThrow();
});
