import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

for (const { name, run } of await pluginChecks("./src/index.ts", {
  cases: [
    { answer: "42", reward: 1 },
    { answer: "41", reward: 0 },
  ],
}))
  test(name, run, 60_000);
