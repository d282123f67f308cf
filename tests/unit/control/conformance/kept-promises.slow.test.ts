import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { expect, test } from "vitest";

const tests = join(import.meta.dirname, "..", "..", "..");

test("a tool of several functions keeps them with each, and one that tells its functions, too", async () => {
  const board = join(tests, "one-file", "board.ts");
  const checks = await pluginChecks(board);
  for (const check of checks) await check.run();
  expect(checks.map(({ promise }) => promise)).toEqual(expect.arrayContaining(["release", "replay"]));
  const cases = [
    { function: "pin", arguments: { note: "a" }, text: "1" },
    { function: "read", arguments: {}, text: "a" },
  ];
  for (const check of await pluginChecks(board, { cases }))
    if (check.promise === "answers") await check.run();
  await expect(pluginChecks(board, { cases: [{ arguments: {} }] })).rejects.toThrow(
    "it names no function of the tool (none)",
  );
  for (const check of await pluginChecks(join(tests, "plugins", "tool-told"))) await check.run();
});
