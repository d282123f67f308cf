import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { generateTurn } from "../../../activities/generate-turn.ts";
import type { FirstInput, NextInput } from "../../../src/contracts/generate-turn.ts";
import type { ReadAction } from "../../../src/contracts/parsed-action.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder, openRuns } from "../../../src/run/folder/open-runs.ts";
import { readSegments } from "../../../src/run/trajectory/segments.ts";
import { readTurns } from "../../../src/run/trajectory/turn-journal.ts";
import { type PolicyWorker, policyWorker } from "../../../src/work/workers/policy-worker.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { initializeVersion, writeVersion } from "../../support/versions.ts";

const runs = temporaryFolder();
const plan = await loadPlan(join(import.meta.dirname, "../../pipelines/scripted.yaml"));
const run = await createRunFolder(plan, { runs });
const opened = await openRunFolder(runs, run);
const { folder, store } = opened;
await initializeVersion(opened, 0);
const tasks = runTasks();
const workers = [policyWorker(openRuns(runs)), policyWorker(openRuns(runs))];
const [first, second] = workers.map((worker) => generateTurn(worker, tasks));
afterAll(async () => {
  for (const worker of workers) await worker.close();
});

const { signal } = new AbortController();
const report = () => {};

const seeded = { policyVersion: 0, seed: 1, sampling: { temperature: 1, maxTokens: 100 } };

function placeOf(task: string) {
  const stage = "step-0001";
  return { id: `${run}/${stage}/${task}/0`, run, stage, step: 1, task, sample: 0 };
}

/** The first turn of a trajectory. */
function input(task: string, more: Partial<FirstInput> = {}): FirstInput {
  return {
    ...seeded,
    place: placeOf(task),
    turn: 1,
    head: null,
    tools: [],
    callsBefore: 0,
    messages: [{ role: "user", content: "1 + 1 =" }],
    ...more,
  };
}

/** The turn after the one that ended with `head`. */
function nextInput(task: string, head: string, more: Partial<NextInput> = {}): NextInput {
  const calls = { callsBefore: 0, callsSoFar: 0 };
  return { ...seeded, ...calls, place: placeOf(task), turn: 2, head, messages: [], ...more };
}

test("a turn that another worker began a trajectory with is followed by its own, from the store", async () => {
  const one = await first?.(input("handed-over"), signal, report);
  const messages = [{ role: "tool" as const, name: "calculator", content: "2" }];
  const two = await second?.(nextInput("handed-over", one?.head ?? "", { messages }), signal, report);
  const chain = await readSegments(store, input("handed-over").place, two?.head ?? null);
  expect(chain.map(({ origin }) => origin)).toEqual(["prompt", "action", "observation", "action"]);
});

test("a turn that 0.4.0 scheduled numbers the answers by the trajectory's calls", async () => {
  const [worker] = workers;
  if (worker === undefined) throw new Error("there is no worker");
  const numbered: (number | undefined)[] = [];
  const watched: PolicyWorker = {
    ...worker,
    policy: async (...which) => {
      const policy = await worker.policy(...which);
      const frameObservation: typeof policy.frameObservation = (messages, callsSoFar) => {
        numbered.push(callsSoFar);
        return policy.frameObservation(messages, callsSoFar);
      };
      return { ...policy, frameObservation };
    },
  };
  const generate = generateTurn(watched, tasks);
  const one = await generate(input("earlier"), signal, report);
  const later = nextInput("earlier", one.head, { callsBefore: 3, callsSoFar: 7 });
  const { callsSoFar: _, ...earlier } = later;
  const two = await generate(earlier, signal, report);
  await generate({ ...later, turn: 3, head: two.head }, signal, report);
  expect(numbered).toEqual([3, 7]);
});

test("what a tool answered is read within its tokens, and the turn says that it was cut", async () => {
  const limit = "rollout.observations={ tokens: 40, cut: middle }";
  const pipeline = join(import.meta.dirname, "../../pipelines/scripted.yaml");
  const own = await createRunFolder(await loadPlan(pipeline, { overrides: [limit] }), { runs });
  const cutting = await openRunFolder(runs, own);
  await initializeVersion(cutting, 0);
  const place = { ...input("cut").place, id: `${own}/step-0001/cut/0`, run: own };
  const one = await first?.({ ...input("cut"), place }, signal, report);
  const content = "<|im_end|>".repeat(100);
  const messages = [{ role: "tool" as const, name: "calculator", content }];
  const two = await first?.(nextInput("cut", one?.head ?? "", { messages, place }), signal, report);
  expect(two?.cutObservations).toBe(1);
  const [, , observation] = await readSegments(cutting.store, place, two?.head ?? null);
  expect(observation?.text).toMatch(/<\|im.*\n\[\d+ tokens cut\]\n/);
  expect(two?.tokens.observation).toBeLessThan(40 + 20);
});

test("a first turn that is told where its task stands reads the prompt, which goes before what people said", async () => {
  const [task] = await tasks.training(plan);
  const said = [{ role: "user" as const, content: "Be brief." }];
  const named = await first?.(input("task-00000", { source: "training", messages: said }), signal, report);
  expect(named?.prompt).toEqual(task?.prompt);
  const [prompt] = await readSegments(store, input("task-00000").place, named?.head ?? null);
  const given = await first?.(
    input("given", { messages: [...(task?.prompt ?? []), ...said] }),
    signal,
    report,
  );
  expect(await readSegments(store, input("given").place, given?.head ?? null)).toMatchObject([prompt, {}]);
  expect(given?.prompt).toBeUndefined();
  const missing = first?.(input("task-99999", { source: "training" }), signal, report);
  await expect(missing).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});

test("calls that a run's expression finds in the action are in the result", async () => {
  const expression = `rollout.expression={ pattern: '"name":"(?<function>\\w+)"', example: a name }`;
  const pipeline = join(import.meta.dirname, "../../pipelines/scripted.yaml");
  const own = await createRunFolder(await loadPlan(pipeline, { overrides: [expression] }), { runs });
  await initializeVersion(await openRunFolder(runs, own), 0);
  const { place, ...rest } = input("expressed");
  const result = await first?.(
    { ...rest, place: { ...place, id: `${own}/step-0001/expressed/0`, run: own } },
    signal,
    report,
  );
  expect(result?.read?.calls).toEqual([{ name: "calculator", arguments: {} }]);
  expect(result?.read?.answer).toContain('"arguments"');
  expect(await first?.(input("expressed"), signal, report)).not.toHaveProperty("read");
});

test("what a policy is told apart is in the result and in the record; a call in what is said is read as the run's format has it", async () => {
  const [worker] = workers;
  if (worker === undefined) throw new Error("there is no worker");
  const call = { name: "add", arguments: { a: 1 } };
  const written = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';
  const cases: [task: string, told: ReadAction, read: ReadAction][] = [
    [
      "apart",
      { reasoning: written, answer: written, calls: [call] },
      { reasoning: written, answer: written, calls: [call] },
    ],
    [
      "in-text",
      { reasoning: written, answer: `So ${written}`, calls: [] },
      { reasoning: written, answer: "So", calls: [call] },
    ],
    [
      "quoted",
      { reasoning: written, answer: "3", calls: [] },
      { reasoning: written, answer: "3", calls: [] },
    ],
  ];
  for (const [task, told, read] of cases) {
    const telling: PolicyWorker = {
      ...worker,
      policy: async (...which) => {
        const policy = await worker.policy(...which);
        const generate: typeof policy.generate = async (request) => ({
          ...(await policy.generate(request)),
          read: told,
        });
        return { ...policy, generate };
      },
    };
    expect((await generateTurn(telling, tasks)(input(task), signal, report)).read).toEqual(read);
    expect((await first?.(input(task), signal, report))?.read, "from the record").toEqual(read);
  }
});

test("the newest version that there is generates, where that is asked for, and the result says which", async () => {
  expect(await first?.(input("pinned"), signal, report)).toMatchObject({ policyVersion: 0 });
  for (let version = 1; version <= 3; version++) await writeVersion(opened, version);
  expect(await first?.(input("still-pinned"), signal, report)).toMatchObject({ policyVersion: 0 });
  const newest = await first?.(input("newest", { newest: true }), signal, report);
  expect(newest).toMatchObject({ policyVersion: 3 });
  const [, action] = await readSegments(store, input("newest").place, newest?.head ?? null);
  expect(action?.policyVersion).toBe(3);
});

test("a trajectory that has no room for a token more takes an empty action", async () => {
  const { tokens } = (await first?.(input("roomy"), signal, report)) ?? {};
  const full = await first?.(input("full", { tokenLimit: tokens?.prompt ?? 0 }), signal, report);
  expect(full).toMatchObject({ action: "", finishReason: "length", tokens: { action: 0 } });
});

test("a turn whose version is loaded while another worker records it is not generated again", async () => {
  const [slow, other] = [policyWorker(openRuns(runs)), policyWorker(openRuns(runs))];
  const generated: number[] = [];
  const watched: PolicyWorker = {
    ...slow,
    policy: async (...parameters) => {
      const policy = await slow.policy(...parameters);
      await generateTurn(other, tasks)(input("loaded"), signal, report); // while it is being loaded
      return {
        ...policy,
        generate: (request) => {
          generated.push(request.key.turn);
          return policy.generate(request);
        },
      };
    },
  };
  const turn = generateTurn(watched, tasks);
  const { head } = await turn(input("loaded"), signal, report);
  expect(head).toBe((await readTurns(store, input("loaded").place))[0]?.generated.head);
  expect(generated, "generated again after the record").toEqual([]);
  await Promise.all([slow.close(), other.close()]);
});

test("calls that were refused are written down before the next action", async () => {
  const one = await first?.(input("refused"), signal, report);
  const refused = [
    { turn: 1, call: 0, tool: "diary", arguments: {}, observation: "error: there is no tool diary." },
  ];
  await first?.(
    nextInput("refused", one?.head ?? "", { callsBefore: 1, callsSoFar: 1, refused }),
    signal,
    report,
  );
  const [turn] = await readTurns(store, input("refused").place);
  expect(turn?.calls).toMatchObject([{ tool: "diary", valid: false, attempts: 0 }]);
});

test("a turn is one record; one that was cut is generated again, with the same tokens, by whoever comes", async () => {
  const place = input("cut").place;
  const one = await first?.(input("cut"), signal, report);
  const files = () => readdirSync(folder.trajectory(place));
  expect(files()).toEqual(["turn-1.json"]);
  truncateSync(join(folder.trajectory(place), "turn-1.json"), 300);
  const again = await Promise.all([
    first?.(input("cut"), signal, report),
    second?.(input("cut"), signal, report),
  ]);
  expect(again.map((turn) => turn?.head)).toEqual([one?.head, one?.head]);
  expect(files().sort()).toEqual(["turn-1.json", "turn-1~1.json"]);
  expect(await readTurns(store, place)).toMatchObject([{ generated: { head: one?.head } }]);
});
