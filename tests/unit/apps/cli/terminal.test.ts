import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steeringText, terminalText } from "../../../../src/base/processes/terminal.ts";
import { hostile } from "../../../one-file/steering.ts";
import { everturn } from "../../../support/command.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const tool = join(import.meta.dirname, "..", "..", "..", "one-file", "steering.ts");
const shown =
  "a\\u001b[31mb\\u001b]0;title\\u0007c\\u001b]52;c;eA==\\u001b\\d\\u009b2Je\\u000df\\u0008\\u202eg\\u2066h\\u007fi\tj\nk";
const patience = { timeout: 120_000 };

/** Everything that a command printed holds none of what would steer a terminal. */
function expectHarmless({ stdout, stderr }: { stdout: string; stderr: string }): void {
  expect(stdout + stderr).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
}

test("a text's controls are shown, and Everturn's own steer", () => {
  expect(terminalText(hostile)).toBe(shown);
  expect(terminalText(`${steeringText("\u001b[31m")}${hostile}${steeringText("\u001b[39m\r")}`)).toBe(
    `\u001b[31m${shown}\u001b[39m\r`,
  );
  expect(terminalText("é 😀 שלום \u200f東京")).toBe("é 😀 שלום \u200f東京");
  expect(JSON.parse(terminalText(JSON.stringify({ hostile })))).toEqual({ hostile });
});

test("what a tool answers, throws, and logs steers no terminal, and JSON stays exact", patience, async () => {
  const [answered, failed, asJson, described] = await Promise.all([
    everturn("tools", "try", tool, "{}"),
    everturn("tools", "try", tool, '{"fail": true}'),
    everturn("tools", "try", tool, "{}", "--json"),
    everturn("tools", "try", tool),
  ]);
  for (const said of [answered, failed, asJson, described]) expectHarmless(said);
  expect(answered.stdout).toContain(shown);
  expect(answered.stderr).toContain(shown);
  expect(failed.stdout).toContain("a\\u001b[31mb");
  expect(described.stdout).toContain("a\\u001b[31mb");
  expect(JSON.parse(asJson.stdout).text).toBe(hostile);
});

test("names of files, keys, values, options, and errors steer no terminal", patience, async () => {
  const folder = join(temporaryFolder(), "runs\u001b[2J\u202e");
  mkdirSync(folder);
  const pipeline = join(folder, "a\u009b31m.yaml");
  writeFileSync(pipeline, 'name: "x\\e[31m"\n"ke\\ey": "\\u202e"\n');
  const noJson = join(folder, "b\u001b.jsonl");
  writeFileSync(noJson, "{\u001b]0;x\u0007\n");
  const said = await Promise.all([
    everturn("validate", pipeline),
    everturn("validate", pipeline, "--json"),
    everturn("validate", join(folder, "none\u001b[1m.yaml")),
    everturn("show", "none\u001b[1m/x", "--runs", folder),
    everturn("data", "inspect", noJson),
    everturn("validate", pipeline, "--se\u001b[1mt"),
    everturn("none\u001b[1m"),
    everturn("tools", "try", join(folder, "none\u001b[1m.ts"), "{}"),
  ]);
  for (const one of said) {
    expectHarmless(one);
    expect(one.code).toBe(1);
    expect(one.stdout + one.stderr).not.toBe("");
  }
  const [validated, json] = said;
  expect(validated?.stderr).toContain("ke\\u001by");
  expect(JSON.parse(json?.stdout ?? "").error.message).toContain("ke\u001by");
});
