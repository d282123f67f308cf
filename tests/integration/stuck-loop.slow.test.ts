import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { everturn, lastLine } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
let server: DevServer;

/** What the loop's regular expression finds at once, and what it would look through for days. */
const [short, endless] = ["aaa", `${"a".repeat(50)}!`];
const reason = "The agent loop loop-backtracking does not return.";

beforeAll(async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  server = await startDevServer({ binary: await findServerBinary(), ...paths });
});
afterAll(() => server.stop());

const plugins = join(import.meta.dirname, "..", "plugins");

/** One step of one group; its sample n is told to say `said[n]`. */
async function run(loop: string, groupSize: number, said: string[]) {
  const pipeline = writeScriptedPipeline(
    folder,
    said.map((text) => [text]),
    {
      tools: [],
      loop: { plugin: join(plugins, loop) },
      rollout: { batchSize: groupSize, groupSize, maxActionTokens: 100 },
    },
  );
  // Two workers, with a server of everybody's: a stuck loop is one worker's, whoever works beside it.
  const joined = ["--address", server.address, "--workers", "shared"];
  return everturn("run", pipeline, "--runs", runs, "--json", ...joined);
}

test("a loop that never returns costs its trajectories, by name, and no others, and the lines of all arrive", async () => {
  const { code, stdout, stderr } = await run("loop-backtracking", 5, [short, endless, short, short, endless]);
  expect(code, stderr).toBe(0);
  const { run: id } = lastLine<{ run: string }>(stdout);
  const told = /the agent loop loop-backtracking does not return in trajectory \S+\/step-0001\/\S+\/[14],/g;
  expect(stderr.match(told)).toHaveLength(2);
  expect(stderr).not.toContain("restarting it");
  const logs = join(runs, id, "logs");
  const text = readdirSync(logs)
    .map((name) => readFileSync(join(logs, name), "utf8"))
    .join("");
  const logged = [...text.matchAll(/looks for an answer \{[^}]*workflowId: '\S+\/(\d)'/g)].map(
    ([, sample]) => sample,
  );
  expect(new Set(logged)).toEqual(new Set(["0", "1", "2", "3", "4"]));
  expect(text, "a line of the level debug").not.toContain("Workflow started");
  const ledger = await everturn("ledger", id, "--runs", runs, "--json", "--step", "1");
  expect(ledger.code, ledger.stdout + ledger.stderr).toBe(0);
  const { entries }: { entries: { trajectory: string; state: string; reason?: string }[] } = JSON.parse(
    ledger.stdout,
  );
  const leftOut = entries.filter(({ state }) => state === "left out");
  expect(entries.filter(({ state }) => state === "trained")).toHaveLength(3);
  expect(leftOut.map(({ trajectory }) => trajectory.at(-1))).toEqual(["1", "4"]);
  for (const { trajectory, reason: why } of leftOut) {
    expect(why).toContain(reason);
    const shown = await everturn("show", trajectory, "--runs", runs);
    expect(shown.stdout, "what the model wrote is there to see").toContain(endless);
    expect(shown.stdout).toContain(reason);
  }
});

test("a loop whose module does not return in workflow code ends the run at once, by name", async () => {
  const { code, stdout, stderr } = await run("loop-waiting", 2, [short]);
  expect(code).toBe(1);
  expect(lastLine(stdout)).toMatchObject({ error: { code: "LOOP_MODULE_STUCK" } });
  expect(stdout).toContain("The module of the agent loop loop-waiting does not finish loading");
  expect(stderr).not.toContain("restarting it");
});
