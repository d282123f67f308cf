import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { expect, test } from "vitest";
import { registerPlugin } from "../../../../src/apps/cli/commands/plugin.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

const tests = join(import.meta.dirname, "..", "..", "..");

test("a tool that computes keeps its promises", async () => {
  const checks = await pluginChecks("tool-calculator", {
    cases: [{ arguments: { expression: "6 * 7" }, text: "42" }],
  });
  for (const check of checks) await check.run();
  expect(checks.map(({ promise }) => promise)).toEqual([
    "manifest",
    "loading",
    "time-out",
    "schema",
    "answers",
    "odd values",
    "output",
    "retry",
    "idempotency key",
    "signal",
    "cancellation",
    "concurrency",
    "death of a worker",
  ]);
});

test.concurrent.for([
  ["restored", "snapshot"],
  ["replayed", "replay"],
])("a tool whose state is %s keeps what one with state promises", async ([name, recovery]) => {
  const checks = await pluginChecks(`${join(tests, "one-file", "notes.ts")}#${name}`);
  const ofState = checks.slice(checks.findIndex(({ promise }) => promise === "release"));
  for (const check of ofState) await check.run();
  expect(ofState.map(({ promise }) => promise)).toEqual(["release", "reap", recovery, "death of a worker"]);
});

test("everturn plugin check says what is broken, leaves the rest unchecked, and fails", async () => {
  const plugin = `${join(tests, "broken-plugins", "tools.ts")}#neverAnswers`;
  const written = await runCommand(registerPlugin, "plugin", "check", plugin, "--json");
  expect(JSON.parse(written)).toMatchObject({
    plugin,
    kept: 2,
    broken: 1,
    promises: expect.arrayContaining([
      expect.objectContaining({
        promise: "time-out",
        outcome: "broken",
        seen: expect.stringContaining("did not respond within"),
        advice: expect.stringContaining("raise `timeout`"),
      }),
      expect.objectContaining({ promise: "signal", outcome: "not checked" }),
    ]),
  });
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  const text = await runCommand(
    registerPlugin,
    "plugin",
    "check",
    plugin,
    "--case",
    '{"arguments": {"text": "a"}}',
  );
  expect(text).toMatch(/^✓ manifest: [\s\S]*✗ time-out: .*\n {4}seen: .*\n {4}to do: .*\n– schema/);
  process.exitCode = undefined;
});

test("what can't be checked is told: no such plugin, a case that its schema refuses, no case at all", async () => {
  await expect(pluginChecks("tool-calculate")).rejects.toThrow("Did you mean “tool-calculator”?");
  const cases = [{ arguments: { expressions: "1" } }];
  await expect(pluginChecks("tool-calculator", { cases })).rejects.toThrow("can't be checked with case 1");
  const config = { log: "log" };
  await expect(pluginChecks(join(tests, "plugins", "tool-session"), { config })).rejects.toThrow(
    "Give a case",
  );
});
