import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder that is deleted when the test file has ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-test-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
