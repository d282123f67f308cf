import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isObject, type JsonValue } from "../../src/contracts/json.ts";
import { everturn } from "../support/command.ts";
import { type LanguageServer, startLanguageServer } from "../support/language-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const pipeline = (reward: string) => `name: lengths
steps: 2
policy: policy-onnx
dataset: { train: dataset-jsonl, validation: dataset-jsonl }
tools:
  - plugin: ./tools/own
    config:
      unit: words
      
loop: loop-tool-agent
reward:
  plugin: reward-exact-match
  config: { extract: ${reward} }
trainer: trainer-onnx
`;
const optionLine = 8;
const manifest = {
  name: "tool-own",
  kind: "tool",
  version: "1.0.0",
  engines: { everturn: "*" },
  entry: "./index.ts",
  tool: { name: "own", description: "Measures.", parameters: { type: "object", properties: {} } },
  config: {
    type: "object",
    properties: {
      unit: { $ref: "#/definitions/Unit" },
      precision: { type: "integer", title: "Precision", description: "Digits after the point." },
    },
    definitions: { Unit: { enum: ["words", "letters"], description: "What is counted." } },
  },
};

let server: LanguageServer;
const uri = (name: string) => pathToFileURL(join(folder, name)).href;

beforeAll(async () => {
  mkdirSync(join(folder, "tools", "own"), { recursive: true });
  writeFileSync(join(folder, "tools", "own", "everturn.plugin.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "tools", "own", "index.ts"), "export default { execute: () => 1 };\n");
  writeFileSync(join(folder, "pipeline.yaml"), pipeline("whole"));
  const { code, stdout, stderr } = await everturn("schema", join(folder, "pipeline.yaml"));
  expect(code, stderr).toBe(0);
  writeFileSync(join(folder, "schema.json"), stdout);
  server = await startLanguageServer(uri("schema.json"));
});
afterAll(() => server.stop());

const at = (name: string, line: number, character: number) => ({
  textDocument: { uri: uri(name) },
  position: { line, character },
});

function labels(answer: JsonValue): string[] {
  const items = isObject(answer) && Array.isArray(answer.items) ? answer.items : [];
  return items.map((item) => (isObject(item) ? String(item.label) : ""));
}

test("an editor completes a plugin's options and the names of plugins, and says what they are", async () => {
  expect(await server.open(uri("pipeline.yaml"), pipeline("whole"))).toEqual([]);
  const options = await server.request("textDocument/completion", at("pipeline.yaml", optionLine, 6));
  expect(labels(options)).toContain("precision");
  const names = await server.request("textDocument/completion", at("pipeline.yaml", 11, 10));
  expect(labels(names)).toContain("reward-exact-match");
  const hover = await server.request("textDocument/hover", at("pipeline.yaml", 7, 8));
  expect(JSON.stringify(hover)).toContain("What is counted.");
});

test("an editor marks a wrong option of a plugin", async () => {
  const found = await server.open(uri("wrong.yaml"), pipeline("firstNumber"));
  expect(found).toEqual([
    { line: 12, message: 'Value is not accepted. Valid values: "whole", "last-number".' },
  ]);
});
