import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

afterEach(() => vi.unstubAllEnvs());

test("tool-search keeps its promises", async () => {
  const folder = temporaryFolder();
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  const corpus = join(folder, "passages.jsonl");
  writeFileSync(corpus, '{"contents": "Paris\\nThe capital of France."}\n');
  const checks = await pluginChecks("tool-search", {
    config: { corpus },
    cases: [{ arguments: { query: "capital" }, text: "Doc 1 (Title: Paris): The capital of France." }],
  });
  expect(checks).toHaveLength(13);
  for (const { run } of checks) await run();
});
