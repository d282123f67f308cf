import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { framedChats } from "../../../../src/plan/demonstrations/framed-examples.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { readDemonstrations } from "../../../../src/plan/pipeline/read/demonstrations.ts";
import { toolDefinitions } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { folderOf, initializeVersion } from "../../../support/versions.ts";

const folder = temporaryFolder();
const demonstrations = join(folder, "demonstrations.jsonl");
const chat = (question: string, ...answers: object[]) => ({
  messages: [{ role: "user", content: question }, ...answers],
});
const rows = [
  chat("1 + 1 =", { role: "assistant", content: "2" }),
  chat("nobody answers", { role: "user", content: "nor here" }),
  chat("2 + 2 =", { role: "assistant", content: "4" }),
];
const write = (written: readonly object[]) =>
  writeFileSync(demonstrations, written.map((row) => `${JSON.stringify(row)}\n`).join(""));

test("demonstrations become tokens when they are asked for, as the policy frames them, and no others do", async () => {
  write(rows.toSpliced(1, 1));
  const pipeline = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
  const plan = await loadPlan(pipeline, { overrides: [`warmStart.demonstrations=${demonstrations}`] });
  const run = await openRunFolder(folder, await createRunFolder(plan, { runs: folder }));
  await initializeVersion(run, 0);
  write(rows); // the row between them would be refused before a run
  const framing = createFraming(await loadTokenizer(await folderOf(run, 0)));
  const expected = (await readDemonstrations(demonstrations)).map(({ messages }, index) =>
    index === 1 ? undefined : framing.frameDemonstration(messages, toolDefinitions(plan)),
  );
  const framed = framedChats(run, await readDemonstrations(demonstrations));
  expect(framed.length).toBe(3);
  expect(await framed.at([2, 0, 2])).toEqual([expected[2], expected[0], expected[2]]);
  await expect(framed.at([0, 1])).rejects.toThrow("contains no assistant message");
  expect(await framed.at([0])).toEqual([expected[0]]);
});
