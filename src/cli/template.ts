import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { EverturnError } from "../errors/everturn-error.ts";
import { bareTemplateReport, type TemplateReport, templateReport } from "../tokens/template-report.ts";
import { loadTokenizer } from "../tokens/tokenizer.ts";
import { paintFor, visible } from "./spans.ts";

/** `everturn template PATH`: what a model's chat template allows. */
export function registerTemplate(program: Command): void {
  program
    .command("template")
    .description("what a model's chat template allows: whether its turns can be framed, token for token")
    .argument("<path>", "a folder of a model in Hugging Face's form, or a file with a template (.jinja)")
    .option("--json", "the report as JSON")
    .action(async (path: string, options: { json?: true }) => {
      const report = await reportOf(path);
      process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : written(report));
      if (!report.usable) process.exitCode = 1;
    });
}

async function reportOf(path: string): Promise<TemplateReport> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new EverturnError("TEMPLATE_NOT_FOUND", { path });
  return found.isDirectory()
    ? templateReport(await loadTokenizer(path))
    : bareTemplateReport(await readFile(path, "utf8"));
}

/** The report as people read it: what was found, and one conversation in the colours of its mask. */
function written({
  usable,
  exact,
  rows,
  format,
  calling,
  ends,
  reasons,
  conversations,
}: TemplateReport): string {
  const paint = paintFor(process.stdout);
  const facts = [
    `usable    ${usable ? "yes" : "no"}: ${usable ? "turns that call tools can be framed" : "no trajectory with tools can be framed"}`,
    `exact     ${exact ? "yes: turn by turn, its tokens are those of its own whole rendering" : "no"}`,
    `rows      ${rows}: sequences that its renderings make of a conversation, at most`,
    `format    ${format ?? "none that is known: rollout.format says how actions are read"}`,
    `calls     ${calling.one ?? "none"}; several in a turn: ${calling.several ?? "none"}`,
    `ends      ${visible(ends.text)} an answer, ${visible(ends.calls)} a call`,
  ];
  const lines = [...facts, ...reasons.map((reason) => `note      ${visible(reason)}`)];
  const row = conversations[0]?.pieces[0] ?? [];
  const shown = row.map(({ text }, at) =>
    paint(at === 0 ? "dim" : at % 2 === 1 ? "green" : "cyan", visible(text)),
  );
  const legend = `${paint("dim", "prompt")}, ${paint("green", "action (mask 1)")}, ${paint("cyan", "observation")}:`;
  const example = shown.length > 0 ? ["", legend, "", shown.join("")] : [];
  return `${[...(usable ? lines : [facts[0], ...lines.slice(facts.length)]), ...example].join("\n")}\n`;
}
