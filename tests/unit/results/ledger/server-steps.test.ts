import { afterEach, expect, test } from "vitest";
import { registerLedger } from "../../../../src/apps/cli/commands/ledger.ts";
import type { ServerStep } from "../../../../src/contracts/trainer.ts";
import { makeRun } from "../../../support/made-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

const url = "http://127.0.0.1:8000";

/** Two steps in one model, and one in another that was loaded from the second one's checkpoint. */
const steps: readonly ServerStep[] = [
  { url, model: "model_1", requests: { first: 1, last: 9 }, checkpoint: "tinker://model_1/weights/update-1" },
  {
    url,
    model: "model_1",
    requests: { first: 10, last: 17 },
    checkpoint: "tinker://model_1/weights/update-2",
  },
  {
    url,
    model: "model_4",
    requests: { first: 1, last: 9 },
    loaded: "tinker://model_1/weights/update-2",
    checkpoint: "tinker://model_4/weights/update-3",
  },
];

/** What `everturn ledger` prints about a run whose steps a server made so. */
async function ledgerOf(served: readonly ServerStep[], ...more: string[]): Promise<string> {
  const runs = temporaryFolder();
  const size = { steps: served.length, trajectories: 2, turns: 1, tokens: 4 };
  await makeRun(runs, { ...size, server: (step) => served[step - 1]! });
  return runCommand(registerLedger, "ledger", "made", "--runs", runs, ...more);
}

const { exitCode } = process;
afterEach(() => {
  process.exitCode = exitCode;
});

test("the ledger shows the server's model, requests and checkpoint of each version", async () => {
  const text = await ledgerOf(steps);
  expect(text).toContain("The ledger holds.");
  expect(text.slice(text.indexOf("trained on"), text.indexOf("The ledger"))).toMatchInlineSnapshot(`
    "trained on http://127.0.0.1:8000
    version  step  model    requests  checkpoint
    v1       1     model_1  1 to 9    tinker://model_1/weights/update-1
    v2       2     model_1  10 to 17  tinker://model_1/weights/update-2
    v3       3     model_4  1 to 9    tinker://model_4/weights/update-3

    "
  `);
  const two = await ledgerOf(steps, "--step", "2");
  expect(two).toContain("10 to 17");
  expect(two).not.toContain("1 to 9");
  const { servedVersions, findings } = JSON.parse(await ledgerOf(steps, "--json"));
  expect(servedVersions[2]).toEqual({ version: 3, step: 3, ...steps[2] });
  expect(findings).toEqual([]);
});

test.each([
  [{ requests: { first: 12, last: 17 } }, "its requests in model_1 begin with 12, not with 10"],
  [{ requests: { first: 10, last: 9 } }, "its requests end with 9, before 10"],
  [{ model: "model_2" }, "its requests in the new model model_2 begin with 10"],
  [
    { model: "model_2", requests: { first: 1, last: 8 } },
    "model_2 was loaded from the base weights, not from tinker://model_1/weights/update-1",
  ],
  [
    { model: "model_2", requests: { first: 1, last: 8 }, loaded: "tinker://model_1/weights/update-0" },
    "model_2 was loaded from tinker://model_1/weights/update-0, not from tinker://model_1/weights/update-1",
  ],
])("a version that was not trained from the one before it is found: %j", async (change, problem) => {
  const [first, second] = steps;
  const { findings } = JSON.parse(await ledgerOf([first!, { ...second!, ...change }], "--json"));
  expect(findings).toEqual([{ check: "server-step", subject: "version 2", problem }]);
});
