import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { bubblewrapHere } from "../support/bubblewrap.ts";
import { everturn } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { leasesOf } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const here = await bubblewrapHere();
await here?.close();
const folder = temporaryFolder();

const call = (code: string) =>
  `<tool_call>${JSON.stringify({ name: "code", arguments: { code } })}</tool_call>`;

test.runIf(here !== undefined)(
  "trajectories run code in sandboxes of their own, and are scored by tests that run the answer",
  async () => {
    const ground_truth = JSON.stringify({ test_list: ["assert double(2) == 4", "assert double(0) == 0"] });
    const task = {
      data_source: "code",
      prompt: [{ role: "user", content: "Double." }],
      reward_model: { ground_truth },
    };
    const tasks = join(folder, "tasks.jsonl");
    writeFileSync(tasks, `${JSON.stringify(task)}\n`);
    const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
    const conversations = [
      [
        call("x = 20\nopen('f', 'w').write('1')"),
        call("import os\n(x + 1, os.listdir('.'))"),
        "```python\ndef double(x): return 2 * x\n```",
      ],
      [call("'x' in globals()"), call("import os; os._exit(1)"), "```python\ndef double(x): return 4\n```"],
    ];
    const pipeline = writeScriptedPipeline(folder, conversations, {
      dataset: { train: dataset, validation: dataset },
      tools: [{ plugin: "tool-code", config: { sandbox: "bubblewrap" } }],
      reward: { plugin: "reward-code-tests", config: { sandbox: "bubblewrap" } },
      rollout: { batchSize: 2, groupSize: 2 },
    });
    const { code, stdout, stderr } = await everturn(
      "run",
      pipeline,
      "--runs",
      join(folder, "runs"),
      "--json",
    );
    expect(code, stderr).toBe(0);
    const { run } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    const place = runFolder(join(folder, "runs"), run);
    const records = await stageRecords(place.root, "step-0001");
    const told = records.map(({ turns }) =>
      turns.flatMap(({ toolCalls }) => toolCalls.map(({ observation }) => observation)),
    );
    expect(told).toEqual([
      ["1", "(21, ['f'])"],
      [
        "False",
        "error: it brought its interpreter down\nWhat earlier programs defined is gone; files are still there.",
      ],
    ]);
    expect(records.map(({ reward, success }) => [reward, success])).toEqual([
      [1, true],
      [0.5, false],
    ]);
    expect(leasesOf(place)).toEqual([]);
  },
);
