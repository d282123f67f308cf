// Writes the part of docs/formats.md that is made from src/chat/formats/; with --check, fails if it is not up to date.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { formats } from "../src/chat/formats/formats.ts";
import type { ToolDefinition } from "../src/contracts/message.ts";
import { writeGenerated } from "./generated-file.ts";

const page = join(import.meta.dirname, "..", "docs", "formats.md");
const begin = "<!-- written by scripts/generate-formats.ts -->";

const text = { type: "string" };
const tools: ToolDefinition[] = [
  {
    name: "weather",
    description: "",
    parameters: {
      type: "object",
      required: ["city", "days"],
      properties: { city: text, days: { type: "integer" } },
    },
  },
  {
    name: "search",
    description: "",
    parameters: { type: "object", required: ["query"], properties: { query: text } },
  },
];
const calls = [
  { name: "weather", arguments: { city: "Rome", days: 2 } },
  { name: "search", arguments: { query: "who?" } },
];

const rows = formats.map(({ name, models, stopTexts }) => {
  const stops = stopTexts(tools).map((stop) => `\`${stop.replaceAll("\n", "\\n")}\``);
  return `| [\`${name}\`](#${name.replaceAll(".", "")}) | ${models} | ${stops.join(", ") || "–"} |`;
});
/** As code by its indentation: some formats have fences of their own. */
const shown = (written: string) => written.replaceAll(/^/gm, "    ").replaceAll(/ +$/gm, "");
const sections = formats.map(({ name, render }) => `### ${name}\n\n${shown(render(calls, tools))}\n`);
const table = ["| format | who writes it | texts that end an action |", "| --- | --- | --- |", ...rows].join(
  "\n",
);
const made = [begin, "", table, "", ...sections].join("\n");

const present = await readFile(page, "utf8");
const at = present.indexOf(begin);
const wanted = present.slice(0, at < 0 ? undefined : at) + made;
await writeGenerated("docs/formats.md", wanted, "generate-formats.ts");
