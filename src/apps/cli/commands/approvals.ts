import type { Command } from "commander";
import { visible } from "../../../base/processes/terminal.ts";
import { waitingCalls } from "../../../control/operations/waiting-calls.ts";
import { withLiveRun } from "../../../control/supervision/run-client.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { tableLines } from "../views/table.ts";

/** `everturn approvals <run>`: lists the tool calls of a run that wait for a person. */
export function registerApprovals(program: Command): void {
  program
    .command("approvals")
    .description("list the tool calls of a run that are waiting for a person's approval or answer")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(approvals);
}

async function approvals(named: string, options: { runs: string; json: boolean }): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const tell = (text: string) => void process.stderr.write(`${text}\n`);
  const calls = await withLiveRun({ runs, run }, (client) => waitingCalls(client, run, tell));
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ calls })}\n`);
    return;
  }
  if (calls.length === 0) {
    process.stdout.write("No tool call is waiting for a person.\n");
    return;
  }
  const columns = ["trajectory", "call", "tool", "arguments", "since", "for"].map((title) => ({ title }));
  const cells = calls.map(({ trajectory, call, tool, arguments: given, since, isQuestion, whom }) => [
    trajectory,
    call,
    tool,
    visible(JSON.stringify(given)),
    since.slice(11, 19),
    `${isQuestion ? "an answer" : "approval"}${whom === undefined ? "" : ` of ${visible(whom)}`}`,
  ]);
  const hint = `Decide with npx everturn trajectory approve|answer|deny <trajectory>. approve accepts --arguments; answer needs a text.`;
  process.stdout.write(`${[...tableLines(columns, cells), "", hint].join("\n")}\n`);
}
