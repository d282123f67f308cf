import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { steeringText } from "../../../../base/processes/terminal.ts";
import { refusal } from "../../../../base/validation/problem.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../../contracts/plan.ts";
import { openSubject } from "../../../../control/conformance/open-subject.ts";
import { jsonObject } from "../../terminal/option-values.ts";
import { openTrial, type Tried } from "./trial.ts";

interface Options {
  config?: JsonObject;
  task?: JsonObject;
  json: boolean;
}

/** `everturn tools try <tool> [arguments…]`: calls a tool by hand. */
export function registerTry(parent: Command): void {
  parent
    .command("try")
    .description(
      "call a tool as a trajectory would; without calls, read them line by line from standard input",
    )
    .argument("<tool>", "plugin file, package folder, or name of an installed plugin")
    .argument(
      "[calls...]",
      'arguments of each call as JSON, {"value": 3}; with several functions, after a name: view {"path": "a"}',
      collectCalls,
      [],
    )
    .option("--config <json>", "configuration of the plugin, as in a pipeline", jsonObject)
    .option("--task <json>", "columns of the task that the tool instance is created for", jsonObject)
    .option("--json", "print one line of JSON per call", false)
    .action(async (reference: string, calls: Given[], { config, task = {}, json }: Options) => {
      const trial = await openTrial(await toolOf(reference, config), task);
      try {
        if (calls.length === 0 && !json) process.stdout.write(`${trial.described}\n`);
        for await (const call of calls.length === 0 ? typedCalls() : calls) {
          const tried = await trial.call(call.arguments, call.function);
          process.stdout.write(`${json ? JSON.stringify(tried) : textOf(tried)}\n`);
          if (tried.failed !== undefined) process.exitCode = 1;
        }
      } finally {
        await trial.close();
      }
    });
}

/** A call as typed. */
interface Given {
  function?: string;
  arguments: JsonObject;
}

function collectCalls(value: string, before: Given[]): Given[] {
  return [...before, givenCall(value)];
}

/** Parses `{"value": 3}`, optionally after a function's name. A name alone is a call without arguments. */
function givenCall(text: string): Given {
  const [, name, given = ""] = /^\s*([A-Za-z_][\w-]*)\s*(\{.*)?$/s.exec(text) ?? [];
  if (name === undefined) return { arguments: jsonObject(text) };
  return { function: name, arguments: given === "" ? {} : jsonObject(given) };
}

async function toolOf(reference: string, config: JsonObject | undefined): Promise<ResolvedPlugin> {
  const subject = await openSubject(reference, process.cwd(), config);
  if ("problems" in subject) throw refusal(reference, subject.problems);
  const { plugin } = subject;
  if (plugin.manifest.tool !== undefined) return plugin;
  const reason = `${reference} is a ${plugin.manifest.kind}, and no tool`;
  throw new EverturnError("COMMAND_INVALID", { reason });
}

/** Reads typed calls, one per line. It reports and skips lines that are not calls. */
async function* typedCalls(): AsyncGenerator<Given> {
  const lines = createInterface({
    input: process.stdin,
    output: editedLine(),
    terminal: process.stdin.isTTY,
  });
  lines.setPrompt("arguments, as JSON (Ctrl-D ends): ");
  if (process.stdin.isTTY) lines.prompt();
  for await (const line of lines) {
    const call = line.trim() === "" ? undefined : readCall(line);
    if (call !== undefined) yield call;
    if (process.stdin.isTTY) lines.prompt();
  }
}

/** Standard error for line editing, because readline's own control characters must pass. */
function editedLine(): NodeJS.WritableStream {
  const write = (text: string) => process.stderr.write(steeringText(text));
  return Object.create(process.stderr, { write: { value: write } });
}

function readCall(line: string): Given | undefined {
  try {
    return givenCall(line);
  } catch (error) {
    process.stderr.write(`${String(Object(error).message)}\n`);
    process.exitCode = 1;
    return undefined;
  }
}

/** The text that the model reads, followed by the rest of the answer. */
function textOf({ text, seconds, media = [], failed, ...marks }: Tried): string {
  if (failed !== undefined) return `failed after ${seconds} s: ${failed}`;
  const { error, invalid, done, reward, metrics } = marks;
  const said = [
    `${seconds} s`,
    ...(invalid ? ["invalid"] : []),
    ...(error ? ["error"] : []),
    ...(done ? ["done: the trajectory ends"] : []),
    ...(reward === undefined ? [] : [`reward ${reward}`]),
    ...Object.entries(metrics ?? {}).map(([name, value]) => `${name} ${value}`),
    ...media,
  ];
  return `${text}\n  (${said.join(", ")})`;
}
