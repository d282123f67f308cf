import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { namesInSync } from "../../src/base/files/names-in.ts";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { everturn, killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const plugin = join(import.meta.dirname, "..", "plugins", "tool-counting");
const tools = [{ plugin, config: { log: join(folder, "calls.log") } }];
const pipeline = writeScriptedPipeline(folder, [["4"]], {
  steps: 400,
  tools,
  rollout: { batchSize: 2, groupSize: 2 },
});
const binary = await findServerBinary();
const ports = { server: await freePort(17_733), ui: await freePort(18_733) };
const address = `127.0.0.1:${ports.server}`;
let server: DevServer | undefined;
let command: RunningCommand | undefined;

afterAll(async () => {
  killIfRunning(command);
  await server?.stop();
});

/** A server on the same ports with a database of its own, in place of the one that is there. */
async function serve(database: string): Promise<void> {
  await server?.stop();
  server = await startDevServer({
    binary,
    database: join(folder, database),
    log: join(folder, `${database}.log`),
    ports,
  });
}

test("a joined server whose database was replaced is said to have forgotten the run, which goes on there when resumed", async () => {
  await serve("first.db");
  command = start("run", pipeline, "--runs", runs, "--address", address);
  const recorded = () => {
    const [run = ""] = namesInSync(runs);
    return namesInSync(join(runs, run, "steps", "2")).includes("recorded.json") ? run : undefined;
  };
  while (recorded() === undefined && command.child.exitCode === null) await sleep(100);
  const run = recorded() ?? "";
  await serve("second.db");
  const ended = await command.end();
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(
    `TEMPORAL_RUN_FORGOTTEN: The Temporal server at ${address} no longer knows the run ${run}, `,
  );
  const steps = namesInSync(join(runs, run, "steps")).length + 2;
  const resumed = await everturn("resume", run, "--runs", runs, "--set", `steps=${steps}`);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect((await everturn("ledger", run, "--runs", runs)).stdout).toContain("The ledger holds.");
});
