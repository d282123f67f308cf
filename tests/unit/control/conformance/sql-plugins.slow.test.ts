import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

const database = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "pipelines",
  "chinook-sql",
  "chinook.sqlite",
);
const limits = { seconds: 25 };

test.concurrent("tool-sql keeps its promises, with a copy that it changes", async ({ expect }) => {
  const checks = await pluginChecks("tool-sql", {
    config: { database, write: true, limits },
    cases: [
      { arguments: { query: "INSERT INTO Genre (Name) VALUES ('Polka')" }, text: "(1 row changed)" },
      { arguments: { query: "SELECT count(*) AS n FROM Genre" }, varies: true },
    ],
  });
  expect(checks).toHaveLength(16);
  for (const { run } of checks) await run();
});

test.concurrent("reward-sql-execution keeps its promises", async ({ expect }) => {
  const checks = await pluginChecks("reward-sql-execution", {
    config: { database, limits },
    cases: [
      { answer: "SELECT count(*) FROM Genre", groundTruth: "SELECT 25", reward: 1, success: true },
      { answer: "SELECT count(*) FROM Album", groundTruth: "SELECT 25", reward: 0, success: false },
    ],
  });
  expect(checks).toHaveLength(10);
  for (const { run } of checks) await run();
});
