import { registerHooks } from "node:module";
import { join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../base/errors/message-of.ts";
import { isSystemError } from "../../base/errors/system-error.ts";
import { everturnFolder } from "../../base/processes/own-module.ts";
import { definitionOf } from "./definition-of.ts";
import type { Finding, Inspection, InspectionStart } from "./inspection.ts";

// The thread that loads a user's module and reports its definition.

const start: InspectionStart = workerData;
const own = ["src", "schemas"].map((folder) => join(everturnFolder, folder) + sep);
const files = new Set<string>();

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:") && !url.includes("/node_modules/")) {
      const file = fileURLToPath(url);
      if (!own.some((folder) => file.startsWith(folder))) files.add(file);
    }
    return next(url, context);
  },
});

async function look(): Promise<Inspection["found"]> {
  try {
    return definitionOf(await import(pathToFileURL(start.path).href), start);
  } catch (thrown) {
    return { finding: { ...placeOfThrown(thrown), ...told(thrown) } };
  }
}

function told(thrown: unknown): Pick<Finding, "reason" | "hint"> {
  const name = thrown instanceof Error ? thrown.name : "Error";
  const reason = `it can't be loaded: ${name}: ${messageOf(thrown).replace(/\.$/, "")}`;
  return { reason, hint: hintOf(thrown) };
}

function hintOf(thrown: unknown): string {
  if (isSystemError(thrown, "ERR_MODULE_NOT_FOUND"))
    return "Install it in the project of the file, or correct the import.";
  // Node's messages about `import` and `export` in a file that it treats as CommonJS.
  if (thrown instanceof SyntaxError && /outside a module|^Unexpected token 'export'/.test(thrown.message))
    return "Its package.json makes it CommonJS: `npm pkg set type=module` in the project, or name the file .mts.";
  return "Everturn loads it when it makes the plan, to learn what it defines.";
}

const found = await look();
parentPort?.postMessage({ found, files: [...files] } satisfies Inspection);
process.exit(); // does not wait for work that the module has begun

/** The place where an error was thrown, from 1: the first one outside packages and the runtime. */
function placeOfThrown(thrown: unknown): { file: string; line: number; column: number } | undefined {
  if (!(thrown instanceof Error) || thrown.stack === undefined) return undefined;
  return placeOfSyntax(thrown.stack) ?? placeOfFrame(thrown.stack);
}

/** For a syntax error, Node prints before the message the place, the line, and a mark below the line. */
function placeOfSyntax(stack: string) {
  const [, file, line, shown] = /^((?:file:\/\/)?\/[^\n]*?):(\d+)\n((?:.*\n)*? *\^+)$/m.exec(stack) ?? [];
  if (file === undefined || shown === undefined || !stack.startsWith(file)) return undefined;
  const mark = shown.split("\n").at(-1) ?? "";
  return { file: pathOf(file), line: Number(line), column: mark.indexOf("^") + 1 };
}

function placeOfFrame(stack: string) {
  for (const frame of stack.split("\n")) {
    const [, file, line, column] = /^\s*at .*?(file:\/\/[^()]*?):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    if (file === undefined || file.includes("/node_modules/")) continue;
    return { file: pathOf(file), line: Number(line), column: Number(column) };
  }
  return undefined;
}

function pathOf(file: string): string {
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}
