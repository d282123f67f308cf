import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeNewFolder } from "../../../../src/apps/cli/commands/used-target.ts";
import { readRecord, writeOnce, writeWhole } from "../../../../src/base/files/whole-files.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { mayMount, onReadOnlyDisk } from "../../../support/mount.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const small = { steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 };
const written = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test("a file is written whole, into folders that are made, and leaves nothing beside it", async () => {
  const path = join(folder, "a", "b", "record.json");
  await writeWhole(path, '{"value":1}');
  await writeWhole(path, '{"value":2}');
  expect(await readRecord(path)).toEqual({ value: 2 });
  expect(readdirSync(dirname(path))).toEqual(["record.json"]);
});

test("of many writers of one file the first wins, and all others are told", async () => {
  const path = join(folder, "once", "record.json");
  const contents = ["a", "b", "c", "d"];
  const won = await Promise.all(contents.map((content) => writeOnce(path, content)));
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(readFileSync(path, "utf8")).toBe(contents[won.indexOf(true)]);
  expect(readdirSync(dirname(path))).toEqual(["record.json"]);
});

test.skipIf(!mayMount)(
  "a read-only store is said to be one, also where a folder would have to be made",
  async () => {
    const disk = join(folder, "disk");
    await onReadOnlyDisk(disk, async () => {
      const expected = { code: "STORE_NOT_WRITABLE", params: { reason: "its file system is read-only" } };
      await expect(writeOnce(join(disk, "record.json"), "{}")).rejects.toMatchObject(expected);
      await expect(writeOnce(join(disk, "a", "b", "record.json"), "{}")).rejects.toMatchObject(expected);
      await expect(writeWhole(join(disk, "a", "record.json"), "{}")).rejects.toMatchObject(expected);
      await expect(writeNewFolder(join(disk, "a", "v1"), async () => {})).rejects.toMatchObject(expected);
      await expect(createRunFolder(samplePlan(small), { runs: join(disk, "runs") })).rejects.toMatchObject(
        expected,
      );
    });
  },
);

test("a record that is not there is undefined; one that was cut is refused by its name", async () => {
  expect(await readRecord(join(folder, "nothing.json"))).toBeUndefined();
  const path = written("cut.json", '{"value":');
  await expect(readRecord(path)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
  await expect(readRecord(path)).rejects.toThrow(path);
});
