import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { findServerBinary } from "../../../../src/control/temporal/server-binary.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

/** A file that stands for Temporal's CLI. */
function binary(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "", { mode: 0o755 });
  return file;
}

afterEach(() => vi.unstubAllEnvs());

test("the one that is named is used, by option or environment", async () => {
  const named = binary("named", "temporal");
  expect(await findServerBinary(named)).toBe(named);
  vi.stubEnv("EVERTURN_TEMPORAL", named);
  expect(await findServerBinary()).toBe(named);
});

test("one that is named but not there is refused: no other takes its place", async () => {
  vi.stubEnv("PATH", dirname(binary("path", "temporal")));
  const missing = join(folder, "missing", "temporal");
  await expect(findServerBinary(missing)).rejects.toThrow(`There is no Temporal CLI at ${missing}.`);
  vi.stubEnv("EVERTURN_TEMPORAL", missing);
  await expect(findServerBinary()).rejects.toMatchObject({ code: "TEMPORAL_BINARY_NOT_FOUND" });
});

test("else the one on PATH is used, else what was downloaded before", async () => {
  const onPath = binary("path", "temporal");
  const downloaded = binary("cache", "everturn", "temporal", "temporal-1.9.1");
  vi.stubEnv("EVERTURN_TEMPORAL", undefined);
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  vi.stubEnv("PATH", dirname(onPath));
  expect(await findServerBinary()).toBe(onPath);
  vi.stubEnv("PATH", join(folder, "empty"));
  expect(await findServerBinary()).toBe(downloaded);
});
