// Writes docs/errors.md from src/base/errors/table.ts; with --check, fails if the page is not up to date.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ErrorEntry, errorTable } from "../src/base/errors/table.ts";

const page = join(import.meta.dirname, "..", "docs", "errors.md");

const introduction = `# Errors

Every error that Everturn throws on purpose has a code. It is the exit text of the command line, the failure type in
Temporal, and a heading here. Words in braces are filled in where the error happens; \`{at}\` is file:line:column.
An error marked “worth a retry” may go away by itself: activities that fail with it are tried again.

With \`--json\` a command that fails ends with one line on standard output, and with exit status 1:

\`\`\`json
{"error": {"code": "RUN_NOT_FOUND", "message": "There is no run nope in …", "help": "Runs there: …", "retryable": false, "params": {"run": "nope", …}}}
\`\`\`

\`message\` is the whole text, \`help\` its last part (what to do), and \`params\` what the words in braces were filled with
(\`at\` is a place). An error that stands for several has them in \`problems\`, each of the same form. \`ledger\` and \`replay\`
put \`error\` beside what else they found out.

This page is written from \`src/base/errors/table.ts\` by \`node scripts/generate-errors.ts\`.
`;

function section([code, entry]: [string, ErrorEntry]): string {
  const help = /^\{\w+\}$/.test(entry.help) || entry.help === "" ? "The message says what." : entry.help;
  const retry = entry.retryable ? "\n\nWorth a retry." : "";
  return `## ${code}\n\n> ${entry.message.replaceAll("\n", " ")}\n\nWhat to do: ${help}${retry}\n`;
}

const wanted = [introduction, ...Object.entries(errorTable).map(section)].join("\n");
const present = await readFile(page, "utf8").catch(() => "");
if (present !== wanted && process.argv.includes("--check")) {
  console.error(
    "docs/errors.md is not up to date: run `node scripts/generate-errors.ts` and commit what it writes.",
  );
  process.exitCode = 1;
} else if (present !== wanted) {
  await writeFile(page, wanted);
  console.log("written: docs/errors.md");
}
