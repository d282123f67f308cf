import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

for (const { name, run } of await pluginChecks("./src/index.ts", {
  cases: [{ arguments: { value: 3, from: "km", to: "m" }, text: "3000" }],
}))
  test(name, run, 60_000);
