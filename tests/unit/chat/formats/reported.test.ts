import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import type { ToolDefinition } from "../../../../src/contracts/message.ts";

/** An action of a public bug report, and what it means: a problem is a part of what the model is told. */
interface Reported {
  what: string;
  format: FormatName;
  tools: ToolDefinition[];
  text: string;
  answer: string;
  calls: ({ name: string; arguments: JsonObject } | { problem: string })[];
}

const file = join(import.meta.dirname, "..", "..", "..", "fixtures", "formats", "reported.jsonl");
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line): Reported => JSON.parse(line));

test.each(cases)("$format: $what", ({ format, tools, text, answer, calls }) => {
  const wanted = calls.map((call) =>
    "problem" in call
      ? expect.objectContaining({ problem: expect.stringContaining(call.problem) })
      : { id: expect.any(String), ...call },
  );
  expect(parseAction(text, { format, tools })).toEqual({ reasoning: "", answer, calls: wanted });
});
