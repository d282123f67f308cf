// Writes docs/errors.md from src/base/errors/table.ts; with --check, fails if the page is not up to date.
import { type ErrorEntry, errorTable } from "../src/base/errors/table.ts";
import { writeGenerated } from "./generated-file.ts";

const introduction = `# Errors

Every error that Everturn throws on purpose has a code. The command line prints the code, Temporal shows it as the failure type,
and this page has a heading for it. Everturn replaces the words in braces when the error happens; \`{at}\` is file:line:column.
An error marked “worth a retry” may go away by itself: Everturn retries activities that fail with it.

With \`--json\`, a command that fails prints one line to standard output and exits with status 1:

\`\`\`json
{"error": {"code": "RUN_NOT_FOUND", "message": "There is no run nope in …", "help": "Runs there: …", "retryable": false, "params": {"run": "nope", …}}}
\`\`\`

\`message\` is the complete text, \`help\` is its last part (what to do), and \`params\` contains the values of the words in braces.
An error that combines several errors lists them in \`problems\`, in the same form. \`ledger\` and \`replay\` print \`error\` in the same
object as their other results.

This page is generated from \`src/base/errors/table.ts\` by \`node scripts/generate-errors.ts\`.
`;

function section([code, entry]: [string, ErrorEntry]): string {
  const help = /^\{\w+\}$/.test(entry.help) || entry.help === "" ? "The message explains it." : entry.help;
  const retry = entry.retryable ? "\n\nWorth a retry." : "";
  return `## ${code}\n\n> ${entry.message.replaceAll("\n", " ")}\n\nWhat to do: ${help}${retry}\n`;
}

const wanted = [introduction, ...Object.entries(errorTable).map(section)].join("\n");
await writeGenerated("docs/errors.md", wanted, "generate-errors.ts");
