import { fileURLToPath } from "node:url";

/** Where something was thrown: the first place that is neither the runtime's own nor in a package; from 1. */
export function placeOfThrown(thrown: unknown): { file: string; line: number; column: number } | undefined {
  if (!(thrown instanceof Error) || thrown.stack === undefined) return undefined;
  return placeOfSyntax(thrown.stack) ?? placeOfFrame(thrown.stack);
}

/** A text that can't be read is shown before the message: its place, the line, a mark below it. */
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
