import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localCopies } from "../../../../src/run/store/local-copies.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const content = "weights";
const files = { weights: { size: content.length, sha256: hash("sha256", content) } };

/** Local copies of one file, which is downloaded as one thing after the other. */
function copiesOf(...downloads: string[]) {
  const objects = {
    upload: async () => {},
    download: async (_: string, file: string) => {
      writeFileSync(file, downloads.shift() ?? "");
      return true;
    },
    remove: async () => {},
  };
  return localCopies(objects, { cache: temporaryFolder(), limit: 1000 });
}

const read = (folder: string) => Promise.resolve(readFileSync(join(folder, "weights"), "utf8"));

test("a file that came badly is downloaded again before it counts as broken", async () => {
  expect(await copiesOf("weightz", content).inFolder("v/", files, read)).toBe(content);
  expect(await copiesOf("cut", content).inFolder("v/", files, read)).toBe(content);
  const broken = copiesOf("weightz", "weightz").inFolder("v/", files, read);
  await expect(broken).rejects.toThrow("v/weights is not what its tree's record says");
});
