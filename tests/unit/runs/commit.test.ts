import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readRecord } from "../../../src/files/whole-files.ts";
import { commit, committed } from "../../../src/runs/commit.ts";
import { type RunFolder, runFolder } from "../../../src/runs/run-folder.ts";
import { sweepRun } from "../../../src/runs/sweep.ts";
import { failOnce } from "../../support/failing-calls.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
let made = 0;

/** The folder of a run of its own, with what the commit of its first step needs. */
function fresh() {
  const folder = runFolder(runs, `run-${++made}`);
  mkdirSync(folder.root);
  const targets = [folder.trainer(1), folder.policy(1)];
  const save = (text: string) => async (temporary: readonly string[]) => {
    for (const path of temporary) await writeFile(join(path, "weights"), text);
  };
  const attempt = (text: string) =>
    commit(folder.trainedStep(1), targets, save(text), () => ({ policyVersion: 1, text }));
  return { folder, targets, attempt };
}

/** The next attempt, which finds what was committed, or does it again. */
const again = async ({ folder, targets, attempt }: ReturnType<typeof fresh>) =>
  (await committed<{ text: string }>(folder.trainedStep(1), targets)) ?? (await attempt("again"));

const contents = (folder: RunFolder) =>
  [folder.trainer(1), folder.policy(1)].map((path) => readFileSync(join(path, "weights"), "utf8"));
const temporary = (folder: RunFolder) =>
  readdirSync(folder.root, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".tmp"));

test("the record, with the files' sizes, and both folders appear together", async () => {
  const { folder, attempt } = fresh();
  const record = await attempt("first");
  expect(record).toMatchObject({
    policyVersion: 1,
    files: { "trainer/v0001/weights": 5, "policies/v0001/weights": 5 },
  });
  expect(await readRecord(folder.trainedStep(1))).toEqual(record);
  expect(contents(folder)).toEqual(["first", "first"]);
  expect(temporary(folder)).toEqual([]);
});

test("of attempts that race one wins, whole; the others are told and leave nothing", async () => {
  const { folder, attempt } = fresh();
  const settled = await Promise.allSettled(["a", "b", "c"].map(attempt));
  const won = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value.text] : []));
  const lost = settled.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(won).toHaveLength(1);
  expect(lost).toEqual(["ATTEMPT_SUPERSEDED", "ATTEMPT_SUPERSEDED"]);
  expect(contents(folder)).toEqual([won[0], won[0]]);
  await expect(attempt("late")).rejects.toMatchObject({ code: "ATTEMPT_SUPERSEDED" });
  expect(contents(folder)).toEqual([won[0], won[0]]);
  expect(temporary(folder)).toEqual([]);
});

/** Takes a folder's name away again, as if the attempt had been killed before it gave it. */
function unname(path: string, attempt: string): void {
  renameSync(path, `${path}.${attempt}.tmp`);
}

test.each([
  ["before any folder had its name", 2],
  ["before the policy had its name", 1],
])("an attempt killed after its commit, %s, is finished by the next one, or by a sweep", async (_, named) => {
  for (const finish of ["attempt", "sweep"]) {
    const { folder, targets, attempt } = fresh();
    const { attempt: id } = await attempt("first");
    for (const path of targets.slice(-named)) unname(path, id);
    expect(existsSync(folder.policy(1)), "a version is there only once it is whole").toBe(false);
    if (finish === "sweep") expect(await sweepRun(folder)).toMatchObject({ finished: named, folders: 0 });
    else await committed(folder.trainedStep(1), targets);
    expect(contents(folder)).toEqual(["first", "first"]);
    expect(temporary(folder)).toEqual([]);
  }
});

test("an attempt killed before its commit leaves nothing that counts; a sweep clears it up", async () => {
  const { folder, targets, attempt } = fresh();
  const dead = `${(await attempt("probe")).attempt.split(".")[0]}.4194000.0123456789ab`; // no such process
  const { folder: other, targets: places } = fresh();
  for (const path of places) {
    mkdirSync(`${path}.${dead}.tmp`, { recursive: true });
    writeFileSync(join(`${path}.${dead}.tmp`, "weights"), "half");
  }
  expect(await committed(other.trainedStep(1), places)).toBeUndefined();
  expect(await sweepRun(other)).toEqual({ files: 0, folders: 2, finished: 0 });
  expect(temporary(other)).toEqual([]);
  expect(targets.every((path) => existsSync(path))).toBe(true);
  expect(folder.root).not.toBe(other.root);
});

test("what a living process is writing is left alone by a sweep", async () => {
  const { folder, attempt } = fresh();
  const { attempt: own } = await attempt("probe");
  const path = join(folder.root, `turn-1.json.${own}.tmp`);
  writeFileSync(path, "{");
  expect(await sweepRun(folder)).toEqual({ files: 0, folders: 0, finished: 0 });
  expect(existsSync(path)).toBe(true);
});

/** Parameters of a call that begin with these. */
const begin =
  (...expected: unknown[]) =>
  (parameters: unknown[]) =>
    expected.every((one, index) => one === undefined || one === parameters[index]);

test.each<[string, (file: string) => void]>([
  ["its folder can't be flushed (EIO)", (file) => failOnce("fsyncSync", "EIO", () => existsSync(file))],
  ["nothing can be opened any more (EMFILE)", (file) => failOnce("openSync", "EMFILE", begin(dirname(file)))],
  [
    "a network file system repeats the request and finds the link there (EEXIST)",
    (file) => failOnce("linkSync", "EEXIST", begin(undefined, file), "afterwards"),
  ],
  [
    "the answer to the request is lost (EIO)",
    (file) => failOnce("linkSync", "EIO", begin(undefined, file), "afterwards"),
  ],
])("a record that was linked stays committed when %s", async (_, fail) => {
  const run = fresh();
  fail(run.folder.trainedStep(1));
  const settled = await run.attempt("first").catch((error) => error.code);
  expect(settled, "told as another attempt's").not.toBe("ATTEMPT_SUPERSEDED");
  const { text } = await again(run);
  expect(contents(run.folder)).toEqual([text, text]);
  expect(await readRecord(run.folder.trainedStep(1))).toMatchObject({ text });
  expect(temporary(run.folder)).toEqual([]);
});

test("a sweep that can't read the records deletes nothing", async () => {
  const { folder, targets, attempt } = fresh();
  const { attempt: id } = await attempt("first");
  const dead = id.replace(/\.\d+\./, ".4194000."); // no such process
  for (const path of targets) renameSync(path, `${path}.${dead}.tmp`);
  const record = await readRecord<object>(folder.trainedStep(1));
  writeFileSync(folder.trainedStep(1), JSON.stringify({ ...record, attempt: dead }));
  const steps = dirname(folder.trainedStep(1));
  failOnce("readdir", "EMFILE", ([path, options]) => path === steps && options === undefined);
  await expect(sweepRun(folder)).rejects.toMatchObject({ code: "EMFILE" });
  expect(await sweepRun(folder)).toMatchObject({ finished: 2, folders: 0 });
  expect(contents(folder)).toEqual(["first", "first"]);
});
