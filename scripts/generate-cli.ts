// Writes docs/cli.md from the commands of src/apps/cli; with --check, fails if the page is not up to date.
import { type Argument, Command, type Option } from "commander";
import { commands } from "../src/apps/cli/command-table.ts";
import { addStoreOptions } from "../src/apps/cli/terminal/store-option.ts";
import { writeGenerated } from "./generated-file.ts";

const introduction = `# Commands

Run a command with \`npx everturn COMMAND\`. \`npx everturn COMMAND --help\` prints its usage, arguments and options.

A command exits with status 0 when it succeeds and with status 1 when it fails. When a signal interrupts it, it exits with
128 plus the number of the signal, for example 130 after Ctrl-C. A command that fails prints the code of the error, what went
wrong, and what to do. [Errors](errors.md) lists every code. With \`--json\`, commands print results and errors as JSON on
standard output.

This page is generated from the commands by \`node scripts/generate-cli.ts\`.
`;

/** As text in a cell of a table: angle brackets would be HTML, and a bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("|", "\\|");
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** A description, followed by the choices and the default as `--help` prints them. */
function described(one: Argument | Option): string {
  const { description, argChoices, defaultValue } = one;
  const extras = [];
  if ("envVar" in one && one.envVar !== undefined) extras.push(`environment variable: ${code(one.envVar)}`);
  if (argChoices !== undefined) extras.push(`choices: ${argChoices.map(code).join(", ")}`);
  if (["string", "number"].includes(typeof defaultValue))
    extras.push(`default: ${code(String(defaultValue))}`);
  return extras.length === 0 ? cell(description) : `${cell(description)} (${extras.join("; ")})`;
}

function table(heading: string, rows: [string, string][]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(([name, description]) => `| ${code(name)} | ${description} |`);
  return `\n| ${heading} | description |\n| --- | --- |\n${lines.join("\n")}\n`;
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function section(command: Command): string {
  const name = fullName(command);
  const subcommands = command.commands.map((one): [string, string] => [one.name(), cell(one.description())]);
  const args = command.registeredArguments.map((one): [string, string] => [
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
    described(one),
  ]);
  const options = command.options
    .filter((one) => !one.hidden)
    .map((one): [string, string] => [one.flags, described(one)]);
  const level = command.parent?.parent === null ? "##" : "###";
  const tables = [table("command", subcommands), table("argument", args), table("option", options)].join("");
  const own = `${level} ${name}\n\n${cell(command.description())}\n\nUsage: ${code(`${name} ${command.usage()}`)}\n${tables}`;
  return [own, ...command.commands.map(section)].join("\n");
}

const program = new Command("everturn");
for (const register of await Promise.all(Object.values(commands).map((load) => load()))) register(program);
addStoreOptions(program);
const list = program.commands.map(
  (one) => `| [\`${one.name()}\`](#everturn-${one.name()}) | ${cell(one.description())} |`,
);
const overview = `| command | description |\n| --- | --- |\n${list.join("\n")}\n`;
const wanted = [introduction, overview, ...program.commands.map(section)].join("\n");

await writeGenerated("docs/cli.md", wanted, "generate-cli.ts");
