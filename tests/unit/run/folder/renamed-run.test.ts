import { cpSync, mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readLedger } from "../../../../src/results/ledger/ledger.ts";
import { openRunFolder, openRuns } from "../../../../src/run/folder/open-runs.ts";
import { runFolder } from "../../../../src/run/folder/run-folder.ts";
import { runReference, trajectoryReference } from "../../../../src/run/folder/run-reference.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** A run in a folder of its own, with what its ledger finds. */
async function sample() {
  const runs = temporaryFolder();
  const { id, folder } = await writeSampleRun({ steps: 2 }, runs);
  const findings = async (name: string) => (await readLedger(await openRunFolder(runs, name))).findings;
  return { runs, id, root: folder.root, findings, before: await findings(id) };
}

test("a renamed run is the run that run.json names, by its folder, by its id and in its ledger", async () => {
  const { runs, id, root, findings, before } = await sample();
  renameSync(root, join(runs, "best"));
  for (const named of ["best", join(runs, "best"), id]) {
    expect(runReference(named, runs)).toEqual({ runs, run: id });
    expect(runFolder(runs, id).root).toBe(join(runs, "best"));
  }
  renameSync(join(runs, "best"), join(runs, "better"));
  expect((await openRunFolder(runs, "better")).id).toBe(id); // as a page does that lists folders, whose links have the id
  expect((await openRunFolder(runs, id)).folder.root).toBe(join(runs, "better"));
  renameSync(join(runs, "better"), join(runs, "best"));
  const opened = await openRunFolder(runs, "best");
  expect(opened).toMatchObject({ id, folder: { root: join(runs, "best") } });
  expect(await findings("best")).toEqual(before);
  expect((await openRuns(runs)(id)).folder.root).toBe(join(runs, "best"));
  expect(trajectoryReference(join(runs, "best", "step-0001", "task-00001", "0"), runs).trajectory).toBe(
    `${id}/step-0001/task-00001/0`,
  );
});

test("a run that is renamed again, and back, stays itself", async () => {
  const { runs, id, root, findings, before } = await sample();
  for (const name of ["first", "second", id]) {
    renameSync(runFolder(runs, id).root, join(runs, name));
    expect(runReference(name, runs)).toEqual({ runs, run: id });
    expect(runFolder(runs, id).root).toBe(join(runs, name));
    expect(await findings(id)).toEqual(before);
  }
  expect(runFolder(runs, id).root).toBe(root);
});

test("a copy beside its run is refused, by its name; in another folder it is the run", async () => {
  const { runs, id, root } = await sample();
  cpSync(root, join(runs, "copy"), { recursive: true });
  expect(() => runReference("copy", runs)).toThrow(
    `The folder ${join(runs, "copy")} is a copy of the run ${id}, whose original folder is ${root}.`,
  );
  expect(() => runReference(join(runs, "copy"), "elsewhere")).toThrow("is a copy of the run");
  expect(runReference(id, runs)).toEqual({ runs, run: id });
  expect((await openRunFolder(runs, "copy")).folder.root).toBe(join(runs, "copy"));
  expect((await openRunFolder(runs, id)).folder.root).toBe(root);
  const other = join(dirname(runs), `${basename(runs)}-other`);
  mkdirSync(other);
  renameSync(join(runs, "copy"), join(other, "copy"));
  expect(runReference("copy", other)).toEqual({ runs: other, run: id });
  expect(runFolder(other, id).root).toBe(join(other, "copy"));
  expect(runFolder(runs, id).root).toBe(root);
});
