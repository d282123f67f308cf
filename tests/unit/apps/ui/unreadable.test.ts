import { truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openJobs } from "../../../../src/apps/ui/jobs.ts";
import { openIndexes } from "../../../../src/apps/ui/open-indexes.ts";
import { openSearches } from "../../../../src/apps/ui/open-searches.ts";
import { openTables } from "../../../../src/apps/ui/open-tables.ts";
import { routes } from "../../../../src/apps/ui/routes.ts";
import { recordedStepKey, trajectoryKey } from "../../../../src/run/store/keys.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { makeRun } from "../../../support/made-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const made = await makeRun(runs, { steps: 2, trajectories: 8, turns: 1, tokens: 4 });
/** What a server that has just been started answers. */
const server = () => {
  const app = routes({
    runs,
    tables: openTables(),
    indexes: openIndexes(60_000),
    searches: openSearches(),
    jobs: openJobs(),
  });
  return async (path: string) => (await app.request(`http://127.0.0.1/runs/made${path}`)).text();
};
const cut = (path: string) => truncateSync(join(made.folder.root, path), 40);

test("pages of a run that can be read have no warning", async () => {
  const page = server();
  for (const path of ["", "/trajectories", "/evaluations"])
    expect(await page(path)).not.toContain('class="problem"');
});

test("a page names the files that it could not read, however often it is loaded", async () => {
  const page = server();
  cut(recordedStepKey(2).path);
  expect(await page("")).toContain("steps/2/recorded.json can&#39;t be read: it is cut, or not a record");
  const [name] = await trajectoryReader(made).list({ stage: "step-0001" });
  if (name === undefined) throw new Error("there is no trajectory");
  cut(trajectoryKey(name).path);
  const table = await page("/trajectories?stage=step-0001");
  expect(table).toContain(`${trajectoryKey(name).path} can&#39;t be read`);
  expect(await page("/trajectories?stage=step-0001"), "from the same table").toContain(
    "trajectory.json can&#39;t be read",
  );
});
