import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

for (const { name, run } of await pluginChecks("./src/index.ts")) test(name, run, 60_000);
