import { pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";

// Calls the tool as runs do, and worse: with odd arguments, concurrently, aborted, with its worker killed between two calls.
const ofTool = await pluginChecks(new URL("../tools/price.ts", import.meta.url), {
  cases: [
    { arguments: { item: "664" }, text: "10" },
    { arguments: { item: "tea" }, error: true },
  ],
});
describe("the tool price", () => {
  for (const { name, run } of ofTool) test(name, run, 60_000);
});
