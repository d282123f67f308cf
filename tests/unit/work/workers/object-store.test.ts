import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generateTurn } from "../../../../activities/generate-turn.ts";
import { initializePolicy } from "../../../../activities/initialize-policy.ts";
import { publishPolicy } from "../../../../activities/publish-policy.ts";
import { trainStep } from "../../../../activities/train-step.ts";
import { warmStart } from "../../../../activities/warm-start.ts";
import type { GenerateTurnInput } from "../../../../src/contracts/generate-turn.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { runTasks } from "../../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { policyWorker } from "../../../../src/work/workers/policy-worker.ts";
import { trainerWorker } from "../../../../src/work/workers/trainer-worker.ts";
import { startObjects } from "../../../support/object-store.ts";
import { type BackendPlace, openBackend } from "../../../support/open-backend.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeScore } from "../../../support/written-score.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
const { signal } = new AbortController();

/** What versions an adapter's policy comes to, by what it says of a prompt, over the run's folder or an object store. */
async function roundTrip(place: BackendPlace | undefined) {
  const plan = await loadPlan(pipeline, {
    overrides: [
      "warmStart.steps=2",
      "trainer.config.minibatchSize=2",
      'trainer.config.lora={"rank":2,"alpha":4}',
    ],
  });
  const run = await createRunFolder(plan, { runs });
  const opened = await openRunFolder(runs, run);
  /** A worker's own view: another process has copies of its own. */
  const view = () => {
    const store = place === undefined ? opened.store : openStore(openBackend(place), () => {});
    return async () => ({ ...opened, store });
  };
  const trainer = trainerWorker(view());
  let policy = policyWorker(view());

  async function say(task: string, version: number) {
    const input: GenerateTurnInput = {
      place: { id: `${run}/step-0001/${task}/0`, run, stage: "step-0001", step: 1, task, sample: 0 },
      turn: 1,
      policyVersion: version,
      head: null,
      seed: 1,
      callsBefore: 0,
      sampling: { temperature: 1, maxTokens: 8 },
      messages: [{ role: "user", content: "1 + 1 =" }],
      tools: [],
    };
    const { head } = await generateTurn(policy, runTasks())(input, signal, () => {});
    await writeScore((await view()()).store, input.place, { head });
    return { trajectory: input.place.id, head, reward: Number(task), group: "all" };
  }

  try {
    await initializePolicy(policy)({ run });
    await warmStart(trainer)({ run, from: 0, to: 1 });
    await warmStart(trainer)({ run, from: 1, to: 2 });
    const batch = [await say("0", 1), await say("1", 1)];
    const step = { run, step: 1, policyVersion: 1, batch, minGroup: 2, leftOut: [] };
    await trainStep(trainer)(step, signal, () => {});
    await publishPolicy(policy)({ run, policyVersion: 2 });
    const said = [...batch, await say("2", 2)];
    await policy.close();
    policy = policyWorker(view()); // another process
    said.push(await say("3", 0), await say("4", 2));
    return said.map(({ head }) => head);
  } finally {
    await policy.close();
    await trainer.close();
    rmSync(opened.folder.root, { recursive: true });
  }
}

test("policy and trainer work alike on a store that has no folders, through local copies; adapters find their base", async () => {
  const objects = await startObjects(runs, { latency: 0, failures: 0.02 });
  expect(await roundTrip(objects)).toEqual(await roundTrip(undefined));
});
