import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { bubblewrapHere } from "../support/bubblewrap.ts";
import { everturn, lastLine } from "../support/command.ts";
import { smallRoot, tarOfFolder, writeLayout } from "../support/small-image.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "harbor.yaml");
const root = (await bubblewrapHere()) === undefined ? undefined : smallRoot(join(folder, "root"));

test.runIf(root !== undefined)(
  "a run on a task in Harbor's format: solving it earns 1, and writing the verifier's own files earns 0",
  async () => {
    const image = writeLayout(join(folder, "image"), [tarOfFolder(root ?? "")]);
    const sandbox = `environment.config.sandbox=${JSON.stringify({ kind: "bubblewrap", image })}`;
    const options = ["--runs", folder, "--json", "--set", sandbox];
    const { code, stdout, stderr } = await everturn("run", pipeline, ...options);
    expect(code, stderr).toBe(0);
    const { run } = lastLine<{ run: string }>(stdout);
    const records = await stageRecords(runFolder(folder, run).root, "step-0001");
    expect(records).toHaveLength(4);
    for (const { turns, reward, success, outcome } of records) {
      const [call] = turns.flatMap(({ toolCalls }) => toolCalls);
      const isSolved = call?.observation.includes("numbers.txt") === true;
      expect([outcome, reward, success]).toEqual(isSolved ? ["answered", 1, true] : ["answered", 0, false]);
    }
    expect(new Set(records.map(({ reward }) => reward))).toEqual(new Set([0, 1]));
  },
);
