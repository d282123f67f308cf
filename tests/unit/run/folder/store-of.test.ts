import { expect, test } from "vitest";
import { readRunFile } from "../../../../src/run/folder/run-file.ts";
import { keepStore, nameForCommands, storeOf } from "../../../../src/run/folder/store-of.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("in the folder of a store, commands and errors name runs and the store by their addresses", async () => {
  const runs = temporaryFolder();
  expect(await storeOf(runs)).toBeUndefined();
  expect(await nameForCommands(runs, "one")).toBe("one");
  await keepStore(runs, "s3://bucket/runs");
  expect(await storeOf(runs)).toBe("s3://bucket/runs");
  expect(await nameForCommands(runs, "one")).toBe("s3://bucket/runs/one");
  await expect(readRunFile(runs, "one")).rejects.toMatchObject({
    code: "RUN_NOT_FOUND",
    params: { folder: "s3://bucket/runs", hint: expect.stringContaining("--store") },
  });
});
