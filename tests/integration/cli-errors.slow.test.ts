import { join } from "node:path";
import { expect, test } from "vitest";
import { everturn, startWith } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");

/** What a command that must be refused says; it must say it shortly and end with 1. */
async function refused(...parameters: string[]): Promise<string> {
  const { code, stderr } = await everturn(...parameters, "--runs", runs);
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  expect(code, stderr).toBe(1);
  return stderr.trim().replaceAll(runs, "RUNS");
}

test("a Temporal CLI or server that is not there is named", async () => {
  expect(await refused("run", pipeline, "--temporal", join(runs, "temporal"))).toContain(
    "TEMPORAL_BINARY_NOT_FOUND: There is no Temporal CLI at RUNS/temporal.",
  );
  expect(await refused("run", pipeline, "--temporal", process.execPath)).toContain(
    "TEMPORAL_SERVER_FAILED: The Temporal dev server failed: ",
  );
  expect(await refused("run", pipeline, "--address", "127.0.0.1:1")).toContain(
    "TEMPORAL_UNREACHABLE: No Temporal server responds at 127.0.0.1:1: ",
  );
});

test("where an API key switches TLS on, a server that does not answer may have none", async () => {
  const { stderr } = await startWith(
    { TEMPORAL_API_KEY: "key" },
    "run",
    pipeline,
    "--runs",
    runs,
    "--address",
    "127.0.0.1:1",
  ).end();
  expect(stderr).toContain("TEMPORAL_UNREACHABLE: No Temporal server responds at 127.0.0.1:1: ");
  expect(stderr).toContain("set TEMPORAL_TLS=false for a server without TLS.");
});
