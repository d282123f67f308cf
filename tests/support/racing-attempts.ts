import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { recordStep } from "../../activities/record-step.ts";
import { isEverturnError } from "../../src/base/errors/everturn-error.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { commitTree } from "../../src/run/store/commit-tree.ts";
import { treeKeyOf } from "../../src/run/store/key.ts";
import { trainedStepKey } from "../../src/run/store/keys.ts";

/** Trains and records the steps of a run as if it were the only worker: `<run folder> <name> <steps>`. */
const [root = "", name = "", steps = ""] = process.argv.slice(2);
const { store } = await openRunFolder(dirname(root), basename(root));
const template: StepRecord = JSON.parse(process.env.EVERTURN_TEMPLATE ?? "");

async function train(step: number): Promise<void> {
  const key = treeKeyOf<{ step: number; name: string }>("steps", step, "trained");
  if (key.tree !== trainedStepKey(step).tree) throw new Error("steps are committed elsewhere");
  if ((await store.readTree(key)) !== undefined) return;
  const write = async (folder: string) => {
    for (const part of ["policy", "trainer"]) {
      await mkdir(join(folder, part), { recursive: true });
      await writeFile(join(folder, part, "weights"), name);
    }
  };
  try {
    await commitTree(store, key, write, () => ({ step, name }));
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "ATTEMPT_SUPERSEDED") throw error;
    process.stdout.write("superseded\n");
  }
}

const record = recordStep(() => openRunFolder(dirname(root), basename(root)), { add: () => {} });
for (let step = 1; step <= Number(steps); step++) {
  await train(step);
  await record({
    run: basename(root),
    finished: [],
    record: { ...template, step, policyVersion: step + 1, rewardMean: process.pid },
  });
}
const late = { ...template, step: 1, policyVersion: 2, rewardMean: -1 };
await record({ run: basename(root), record: late, finished: [] });
