import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

for (const { name, run } of await pluginChecks("./src/index.ts", {
  cases: [{ actions: ["It is 42."], outcome: "answered" }],
}))
  test(name, run, 60_000);
