import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readLines } from "../../../../src/base/files/line-file.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { writeMetrics } from "../../../../src/run/folder/metrics-view.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { recordedStepKey } from "../../../../src/run/store/keys.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const small = { steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 };

/** Bytes that this process has read so far, as Linux counts them. */
const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test.skipIf(process.platform !== "linux")(
  "a step's line is written without reading those before it",
  async () => {
    const run = await openRunFolder(runs, await createRunFolder(samplePlan(small), { runs }));
    const lineOf = (step: number) => ({ step, text: "long ".repeat(1000) }) as unknown as StepRecord;
    const steps = 600;
    const before = Array.from({ length: steps - 1 }, (_, index) => `${JSON.stringify(lineOf(index + 1))}\n`);
    writeFileSync(run.folder.metrics, before.join(""));
    await run.store.record(recordedStepKey(steps), lineOf(steps));
    const start = bytesRead();
    await writeMetrics(run, steps);
    expect(bytesRead() - start, `of ${before.join("").length}`).toBeLessThan(500_000);
    expect((await readLines<StepRecord>(run.folder.metrics)).map(({ step }) => step)).toEqual(
      Array.from({ length: steps }, (_, index) => index + 1),
    );
  },
);

test("where a step is recorded again, its line and those after it are written anew", async () => {
  const run = await openRunFolder(runs, await createRunFolder(samplePlan(small), { runs }));
  const lineOf = (step: number, seconds: number) => ({ step, seconds }) as unknown as StepRecord;
  for (const step of [1, 2, 3]) await run.store.record(recordedStepKey(step), lineOf(step, 1));
  await writeMetrics(run, 3);
  await run.store.remove(recordedStepKey(2));
  await run.store.record(recordedStepKey(2), lineOf(2, 9));
  await writeMetrics(run, 2);
  expect(await readLines(run.folder.metrics)).toEqual([lineOf(1, 1), lineOf(2, 9), lineOf(3, 1)]);
});
