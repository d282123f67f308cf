import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { visible } from "../../../base/processes/terminal.ts";
import { isObject } from "../../../contracts/json.ts";
import { fixedTemplate, type TemplateSettings } from "../../../engine/tokens/fixed-template.ts";
import {
  bareTemplateReport,
  type TemplateReport,
  templateReport,
} from "../../../engine/tokens/template-report.ts";
import { loadTokenizer } from "../../../engine/tokens/tokenizer.ts";
import { applyOverrides } from "../../../plan/pipeline/read/overrides.ts";
import { collect } from "../terminal/option-values.ts";
import { paintFor } from "../views/spans.ts";

/** `everturn template PATH`: shows what a model's chat template supports. */
export function registerTemplate(program: Command): void {
  program
    .command("template")
    .description("check whether Everturn can train with a model's chat template")
    .argument("<path>", "Hugging Face folder of a model, or a template file (.jinja)")
    .option("--set <variable=value>", "variable for the template, in YAML (repeatable)", collect, [])
    .option("--date <day>", "date for templates that print the date, for example 2026-11-24")
    .option("--json", "print the report as one line of JSON")
    .action(async (path: string, options: Options) => {
      const report = await reportOf(path, settingsOf(options));
      process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : written(report));
      if (!report.usable) process.exitCode = 1;
    });
}

interface Options {
  set: string[];
  date?: string;
  json?: true;
}

function settingsOf({ set, date }: Options): TemplateSettings {
  const nothing = { file: "--set", source: "", value: {}, offsets: new Map(), elsewhere: new Map() };
  const { value } = applyOverrides(nothing, set);
  return { variables: isObject(value) ? value : {}, date };
}

async function reportOf(path: string, settings: TemplateSettings): Promise<TemplateReport> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new EverturnError("TEMPLATE_NOT_FOUND", { path });
  return found.isDirectory()
    ? templateReport(await loadTokenizer(path, undefined, settings))
    : bareTemplateReport(fixedTemplate(await readFile(path, "utf8"), settings));
}

/** The report for people: the findings, and one conversation colored by its mask. */
function written({
  usable,
  exact,
  rows,
  tools,
  format,
  calling,
  ends,
  variables,
  reasons,
  conversations,
}: TemplateReport): string {
  const paint = paintFor(process.stdout);
  const facts = [
    `usable    ${usable ? "yes" : "no"}: ${usable ? "turns that call tools can be framed" : "no trajectory with tools can be framed"}`,
    `exact     ${exact ? "yes: turn by turn, its tokens are those of its own whole rendering" : "no"}`,
    `rows      ${rows}: sequences that its renderings make of a conversation, at most`,
    `tools     ${tools ? "yes: its prompts show the tools" : "no: its prompts show no tools, so a policy can't know them unless the task describes them or demonstrations call them"}`,
    `format    ${format ?? "unknown: set rollout.format to the format of the actions"}`,
    `calls     ${calling.one ?? "none"}; several in a turn: ${calling.several ?? "none"}`,
    `ends      ${visible(ends.text)} an answer, ${visible(ends.calls)} a call`,
  ];
  const read = `variables ${variables.length === 0 ? "none" : variables.join(", ")}`;
  const lines = [...facts, read, ...reasons.map((reason) => `note      ${visible(reason)}`)];
  const row = conversations[0]?.pieces[0] ?? [];
  const shown = row.map(({ text }, at) =>
    paint(at === 0 ? "dim" : at % 2 === 1 ? "green" : "cyan", visible(text)),
  );
  const legend = `${paint("dim", "prompt")}, ${paint("green", "action (mask 1)")}, ${paint("cyan", "observation")}:`;
  const example = shown.length > 0 ? ["", legend, "", shown.join("")] : [];
  return `${[...(usable ? lines : [facts[0], ...lines.slice(facts.length)]), ...example].join("\n")}\n`;
}
