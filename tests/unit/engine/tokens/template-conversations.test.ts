import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { guessedControl } from "../../../../src/engine/tokens/guessed-control.ts";
import { templateReport } from "../../../../src/engine/tokens/template-report.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { publishedTemplate } from "../../../support/published-tokenizer.ts";

let models = "";
beforeAll(async () => {
  models = await fetchLlamaCpp();
});

/** What stands in the way of the templates that can't be framed. */
const refused: Record<string, string> = {
  "fireworks-ai-llama-3-firefunction-v2": "'functions' is undefined", // it wants variables of its own: functions, datetime
  "llama-cpp-deepseek-r1": "Object of type generator is not JSON serializable", // nor in Python's Jinja
  "llama-cpp-rwkv-world": "doesn't write what a tool answered after an action that ends with a control token",
};

test("of 70 published templates 67 are framed as they write whole conversations, token for token", async () => {
  const names = readdirSync(join(models, "templates"))
    .filter((name) => name.endsWith(".jinja"))
    .map((name) => name.slice(0, -".jinja".length));
  expect(names).toHaveLength(70);
  const reports = await Promise.all(
    names.map(async (name) => {
      const template = await publishedTemplate(name);
      const end = name.startsWith("Cohere") ? "<|END_OF_TURN_TOKEN|>" : "<EOS>";
      const control = ["<BOS>", ...guessedControl(template).filter((token) => token !== end), end];
      return { name, ...templateReport(byteTokenizer(control, template)) };
    }),
  );
  const unusable = reports.filter(({ usable }) => !usable);
  expect(unusable.map(({ name }) => name)).toEqual(Object.keys(refused));
  for (const { name, reasons } of unusable) expect(reasons.join()).toContain(refused[name]);
  const conversations = reports.flatMap((report) => report.conversations);
  expect(conversations.flatMap(({ differences }) => differences)).toEqual([]);
  expect(conversations).toHaveLength(201);
  const kept = reports.filter(({ rows }) => rows === 1).flatMap((report) => report.conversations);
  expect(kept.length).toBeGreaterThan(100);
  for (const { pieces } of kept) expect(pieces[0]?.length).toBeGreaterThanOrEqual(3); // prompt, action, observation
});
