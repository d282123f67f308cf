// Writes docs/not-learning.md from src/results/diagnosis/conditions.ts; with --check, fails if the page is not up to date.
import type { Condition } from "../src/results/diagnosis/condition.ts";
import { conditionList } from "../src/results/diagnosis/diagnose.ts";
import { writeGenerated } from "./generated-file.ts";

const introduction = `# When a run does not learn

After each step, Everturn checks the run for the conditions on this page. The command prints a condition once, when it first
holds, with the numbers that show it. Causes come before their effects: of several conditions that a step shows, the first is
printed with what to try, and each of the others in one line. The [report](run-folder.md) and the [pages](ui.md) list the conditions of a run.

\`\`\`
diagnosis cut-actions (step 2): Limits cut many actions: 45 % of the actions were cut; rollout.maxActionTokens is 32.
\`\`\`

A condition stops a run only if the pipeline names it:

\`\`\`yaml
stopIf: [never-rewarded, reward-collapse]
\`\`\`

The command then ends with the error [RUN_STOPPED](errors.md#run_stopped), and \`npx everturn resume\` continues the run.

| condition | title |
| --- | --- |
${conditionList()
  .map(([name, { title }]) => `| [${name}](#${name}) | ${title} |`)
  .join("\n")}

This page is generated from \`src/results/diagnosis/conditions.ts\` by \`node scripts/generate-conditions.ts\`.
`;

function section([name, { title, when, consequence, remedies }]: [string, Condition]): string {
  const tries = remedies.map((remedy) => `- ${remedy}`).join("\n");
  return `## ${name}\n\n**${title}.** ${when}\n\n${consequence}\n\nWhat to try:\n\n${tries}\n`;
}

const wanted = [introduction, ...conditionList().map(section)].join("\n");
await writeGenerated("docs/not-learning.md", wanted, "generate-conditions.ts");
