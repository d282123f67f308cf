import { join } from "node:path";
import { expect, test } from "vitest";
import { registerTools } from "../../../../src/apps/cli/commands/tools.ts";
import { runCommand } from "./run-command.ts";

const tests = join(import.meta.dirname, "..", "..", "..");
const tried = (...parameters: string[]) => runCommand(registerTools, "tools", "try", ...parameters);
const length = join(tests, "one-file", "length.ts");

test("a tool is called by hand, and answers what the model would read", async () => {
  const told = await tried(
    length,
    '{"value": 1.26, "unit": "km"}',
    '{"value": -1}',
    '{"size": 1}',
    "--config",
    '{"digits": 1}',
  );
  expect(told.replaceAll(/[\d.e-]+ s/g, "… s")).toMatchInlineSnapshot(`
    "1260.0
      (… s)
    error: value: a length is not negative
      (… s, invalid)
    error: the call lacks “value”. Add “value”: it is required. unknown key “size” in the call. Known keys: value, unit.
      (… s, invalid)
    "
  `);
});

test("its calls are those of one trajectory: state is kept, and released at the end", async () => {
  const calls = ['{"line": "first"}', '{"line": "second"}'];
  const told = await tried(`${join(tests, "one-file", "notes.ts")}#replayed`, ...calls, "--json");
  const lines = told
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ text: "first" }, { text: "first, second" }]);
});

test("of a tool of several functions each call says which", async () => {
  const board = join(tests, "one-file", "board.ts");
  const told = await tried(board, 'pin {"note": "a"}', 'pin {"note": ""}', "read", "--json");
  const lines = told.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { function: "pin", arguments: { note: "a" }, text: "1" },
    { function: "pin", invalid: true },
    { function: "read", arguments: {}, text: "a" },
  ]);
  await expect(tried(board, "{}")).rejects.toThrow("board has several functions: pin, read.");
  await expect(tried(board, "pni {}")).rejects.toThrow(
    "board has no function pni. Did you mean “pin”? Its functions: pin, read.",
  );
});

test("what can't be tried is refused, by what is wrong", async () => {
  await expect(tried("reward-exact-match", "{}")).rejects.toThrow(
    "reward-exact-match is a reward, and no tool",
  );
  await expect(tried("no-such-tool", "{}")).rejects.toThrow("there is no plugin “no-such-tool”");
  await expect(tried(length, "{value: 1}")).rejects.toThrow("It is not JSON");
  await expect(tried(length, "{}", "--config", '{"digit": 1}')).rejects.toThrow("unknown key “digit”");
});
