import { setTimeout as sleep } from "node:timers/promises";
import type { OrderName } from "../../src/contracts/orders.ts";
import type { SupervisedRun } from "../../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../../src/control/supervision/training-handle.ts";
import { makeCurrent } from "../../src/control/temporal/deployment.ts";
import { askTranscript, giveOrder } from "../../src/control/temporal/live-trajectories.ts";
import { readBuilds } from "../../src/control/temporal/workflow-builds.ts";

/** What is done with a run whose histories are recorded. */
export type Drive = (supervised: SupervisedRun) => Promise<void>;

/** To the end; the training workflow continues as new after its first step, as after an upgrade. */
export const continued: Drive = async (supervised) => {
  const { run, client, closing } = supervised;
  const location = { address: supervised.address, namespace: supervised.namespace, isOwn: true };
  await startTraining(supervised);
  const first = await client.workflow.getHandle(run).describe();
  await eventually(() => client.workflow.getHandle(`${run}/evaluation-v0000`).describe());
  await makeCurrent(client, location, run, "newer", closing);
  await eventually(async () => {
    const { runId } = await client.workflow.getHandle(run).describe();
    return runId === first.runId ? undefined : runId;
  });
  const [build = ""] = await readBuilds(supervised.folder);
  await makeCurrent(client, location, run, build, closing);
  await finishTraining(supervised, client.workflow.getHandle(run));
};

/** To the end. */
export const finished: Drive = async (supervised) => {
  await finishTraining(supervised, await startTraining(supervised));
};

/** Until the first trajectory of the evaluation before the training has ended. */
export const firstTrajectory: Drive = async (supervised) => {
  await startTraining(supervised);
  await ended(supervised, `${supervised.run}/evaluation-v0000/task-00000/0`);
};

/** Every order, given to the trajectories of that evaluation, whose calls of the calculator wait for approval. */
export const ordered: Drive = async (supervised) => {
  const { run, client } = supervised;
  await startTraining(supervised);
  const [first, second] = [0, 1].map((task) => `${run}/evaluation-v0000/task-0000${task}/0`);
  if (first === undefined || second === undefined) return;
  const give = (trajectory: string, order: OrderName, given?: object) =>
    giveOrder(client, trajectory, order, given);
  const waits = (trajectory: string, call: string) =>
    eventually(async () =>
      (await askTranscript(client, trajectory)).waiting.find((waiting) => waiting.call === call),
    );

  await waits(first, "1/0");
  await give(first, "say", { text: "Take your time." });
  await give(first, "pause", { reason: "lunch" });
  await give(first, "approve", { arguments: { expression: "3 + 4" } });
  await eventually(async () => (await askTranscript(client, first)).state === "paused" || undefined);
  await give(first, "resume");
  await waits(first, "2/1");
  await give(first, "deny", { reason: "not now" });
  await ended(supervised, first);

  await waits(second, "1/0");
  await give(second, "cancel", { reason: "it is not needed" });
  await ended(supervised, second);
};

async function ended({ client }: SupervisedRun, workflowId: string): Promise<void> {
  await eventually(() => client.workflow.getHandle(workflowId).describe());
  await client.workflow.getHandle(workflowId).result();
}

/** What `ask` answers, once it does. */
async function eventually<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const answer = await ask().catch((error) => {
      if (Date.now() > deadline) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error("it did not happen within two minutes");
    await sleep(200);
  }
}
