import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { createUniformStream } from "../../../../src/base/random/uniform-stream.ts";
import { createAjv } from "../../../../src/base/validation/ajv.ts";
import { problemsOf } from "../../../../src/base/validation/findings.ts";
import { parseYaml } from "../../../../src/base/validation/parse-yaml.ts";
import { refusal } from "../../../../src/base/validation/problem.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { readExtended } from "../../../../src/plan/pipeline/read/read-extended.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const pipelines = join(import.meta.dirname, "..", "..", "..", "..", "pipelines");
const whole = globSync("*.yaml", { cwd: pipelines }).map((name) =>
  readFileSync(join(pipelines, name), "utf8"),
);

/** Files that are read, and those of them that are checked whole. By hand: EVERTURN_FUZZ=10000 checks all. */
const files = 10_000;
const checked = Number(process.env.EVERTURN_FUZZ ?? 150);

const pieces = [
  "&a ",
  "*a",
  "*b",
  "!!binary ",
  "!x ",
  "<<: *a",
  "? ",
  "- ",
  ": ",
  "#",
  "|",
  ">",
  "'",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  "\t",
  "\n",
  "\r\n",
  "---\n",
  "...\n",
  "%YAML 1.2\n",
  "\u0000",
  "\ud800",
  "\ufeff",
  "~",
  "null",
  "1e999",
  "-0",
  "0x1F",
  ".nan",
  `\${X}`,
  `\${X:-3}`,
  "$${",
  "__proto__: 1\n",
  "constructor: {}\n",
  "extends: none.yaml\n",
  "plugin: ../../x\n",
  "steps: -1\n",
  "tools: [a, a]\n",
  "name: \u202e\n",
  "%s%n",
];

/** A text that is changed at some places: the same for the same number. */
function mutated(number: number): string {
  const draw = createUniformStream({ seed: 7, trajectory: String(number), turn: 1 });
  let position = 0;
  const below = (count: number) => Math.floor(draw(position++) * count);
  let text = whole[below(whole.length)] ?? "";
  for (let times = 1 + below(6); times > 0; times--) {
    const at = below(text.length + 1);
    const lines = text.split("\n");
    const line = below(lines.length);
    const ways = [
      () => text.slice(0, at) + (pieces[below(pieces.length)] ?? "") + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1 + below(40)),
      () => text.slice(0, at),
      () => lines.toSpliced(line, 1).join("\n"),
      () => lines.toSpliced(line, 0, ...lines.slice(line, line + 1 + below(5))).join("\n"),
      () => lines.with(line, " ".repeat(below(9)) + (lines[line] ?? "").trimStart()).join("\n"),
      () => text.slice(0, at) + String.fromCharCode(below(0x1_0000)) + text.slice(at + 1),
    ];
    text = ways[below(ways.length)]?.() ?? text;
  }
  return text;
}

/** Does `work`; what it throws must be an error of ours that says a place. */
async function refusedOrFine(text: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isEverturnError(error) || error.message.trim() === "") throw new Error(text, { cause: error });
  }
}

test(`${files} files that were changed at random are read, or refused with a reason`, async () => {
  const path = join(folder, "p.yaml");
  const validate = createAjv({ folder }).compile(pipelineSchema);
  for (let number = 0; number < files; number++) {
    const text = mutated(number);
    writeFileSync(path, text);
    await refusedOrFine(text, () => {
      const document = readExtended(path);
      if (validate(document.value)) return;
      throw refusal(
        document.file,
        problemsOf(validate.errors ?? [], document, { base: "", whole: "the pipeline" }),
      );
    });
  }
});

test(`${checked} of them are checked whole, with their plugins and tasks`, async () => {
  const place = join(folder, "whole");
  mkdirSync(place);
  for (const { name } of readdirSync(pipelines, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  ))
    symlinkSync(join(pipelines, name), join(place, name)); // their tasks and tokenizers
  let fine = 0;
  for (let number = 0; number < checked; number++) {
    const text = mutated(number);
    const path = join(place, "p.yaml");
    writeFileSync(path, text);
    await refusedOrFine(text, async () => {
      await checkPipeline(path);
      fine++;
    });
  }
  expect(fine).toBeGreaterThan(checked / 50); // some changes are harmless, and all is loaded then
});

const deep = (levels: number) => `a: ${"[".repeat(levels)}1${"]".repeat(levels)}\n`;
const laughs = (levels: number) => {
  const lines = Array.from({ length: levels }, (_, level) => {
    const items = level === 0 ? "x" : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(9).fill(items).join(", ")}]`;
  });
  return `${lines.join("\n")}\n`;
};

test.each([
  ["aliases of aliases", laughs(9), "its aliases stand for more than 200000 values"],
  ["aliases of aliases, many levels", laughs(150), "its aliases stand for more than 200000 values"],
  ["101 levels", deep(101), "it is more than 100 levels deep"],
  ["a million levels", deep(1_000_000), "it is more than 100 levels deep"],
  [
    "2,000 indented levels",
    Array.from({ length: 2000 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"),
    "it is more than 100 levels deep",
  ],
  ["five million characters", `a: ${"x".repeat(5_000_000)}`, "it has more than 4194304 characters"],
])("%s: refused", (_, text, reason) => {
  const { problems } = parseYaml(text, "p.yaml");
  expect(problems.map(({ error }) => error.message).join()).toContain(reason);
});

test("what a large configuration may have is read", () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `  - { id: ${index}, name: row ${index} }`).join(
    "\n",
  );
  expect(parseYaml(`a:\n${rows}\n`, "p.yaml").problems).toEqual([]);
  expect(parseYaml(deep(90), "p.yaml").problems).toEqual([]);
});
