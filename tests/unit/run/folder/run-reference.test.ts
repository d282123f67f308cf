import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { runReference, trajectoryReference } from "../../../../src/run/folder/run-reference.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = temporaryFolder();
const [runs, others] = [join(root, "runs"), join(root, "others")];
for (const path of [join(runs, "one"), join(others, "two")]) {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "run.json"), "{}");
}
symlinkSync("one", join(runs, "latest"));
const near = relative(process.cwd(), runs);

test.each([
  ["one", runs, "one"],
  [join(runs, "one"), runs, "one"],
  [`${join(runs, "one")}/`, runs, "one"],
  [`${near}/one`, runs, "one"],
  [`./${near}/one/`, runs, "one"],
  [join(others, "two"), others, "two"],
  ["../others/two", others, "two"],
  ["latest", runs, "one"],
  [`${runs}/latest/`, runs, "one"],
  ["nope", runs, "nope"],
  [`${others}/nope/`, others, "nope"],
  ["", runs, ""],
])("the run %s", (named, folder, run) => {
  expect(runReference(named, runs)).toEqual({ runs: folder, run });
});

test("a run whose folder a disk does not tell of at once is that run", () => {
  failOnce("lstatSync", "EIO", ([path]) => path === join(runs, "latest"));
  expect(runReference("latest", runs)).toEqual({ runs, run: "one" });
});

test.each([
  ["one/step-0001/task-00001/0", runs, "one/step-0001/task-00001/0"],
  ["task-00001/0", runs, "task-00001/0"],
  [`${near}/one/step-0001/task-00001/0`, runs, "one/step-0001/task-00001/0"],
  [`${others}/two/step-0001/task-00001/0/`, others, "two/step-0001/task-00001/0"],
  [`${others}/two/trajectories/step-0001/task-00001/0`, others, "two/step-0001/task-00001/0"],
  [`${others}/two/task-00001/0`, others, "task-00001/0"],
])("the trajectory %s", (named, folder, trajectory) => {
  expect(trajectoryReference(named, runs)).toEqual({ runs: folder, trajectory });
});
