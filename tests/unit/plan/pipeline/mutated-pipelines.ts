import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { createUniformStream } from "../../../../src/base/random/uniform-stream.ts";
import { createAjv } from "../../../../src/base/validation/ajv.ts";
import { problemsOf } from "../../../../src/base/validation/findings.ts";
import { refusal } from "../../../../src/base/validation/problem.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { readExtended } from "../../../../src/plan/pipeline/read/read-extended.ts";
import { examples, serverless } from "../../../support/example-pipelines.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const whole = serverless.map((name) => readFileSync(join(examples, name), "utf8"));

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

/** Reads this many changed files. Throws unless each is valid or refused with a reason. */
export async function readMutated(files: number): Promise<void> {
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
}

/** Checks this many changed files with their plugins and tasks, as above. Returns how many are valid. */
export async function checkMutated(files: number): Promise<number> {
  const place = join(folder, "whole");
  mkdirSync(place);
  for (const { name } of readdirSync(examples, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  ))
    symlinkSync(join(examples, name), join(place, name)); // their tasks and tokenizers
  let fine = 0;
  for (let number = 0; number < files; number++) {
    const text = mutated(number);
    const path = join(place, "p.yaml");
    writeFileSync(path, text);
    await refusedOrFine(text, async () => {
      await checkPipeline(path);
      fine++;
    });
  }
  return fine;
}
