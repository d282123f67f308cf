import { type Condition, type Evidence, isOnRollouts } from "../condition.ts";

/** The most differences that the evidence lists. */
const listed = 4;

export const differentTools: Condition = {
  title: "The agent's tools differ from the demonstrations'",
  when: "The tools in an agent's first prompt have other names, descriptions or parameters than those in the prompts of the [demonstrations](agents.md#demonstrations-for-an-agent), and less than 90 % of the trajectories were solved. Their order does not matter. Evaluations before the first step show it, too.",
  consequence:
    "The demonstrations teach the policy to act after prompts that the agent does not send. After those that it sends, the policy may have learned little.",
  remedies: [
    "Show the agent's tools in the demonstrations: add `tools` to each row, the list that the agent sends. `npx everturn show TRAJECTORY --tools` prints it.",
    "If the rows already have `tools`, or the pipeline lists the tools: use the agent's names, descriptions and parameters.",
  ],
  isEarly: true,
  find: ({ steps, evaluations }) => {
    const step = steps.at(-1);
    const { toolDifferences = [], successRate = 0 } =
      step !== undefined && isOnRollouts(step) ? step : ofEvaluation(evaluations.at(-1));
    if (toolDifferences.length === 0 || successRate >= 0.9) return undefined;
    const more = toolDifferences.length - listed;
    return toolDifferences.slice(0, listed).join("; ") + (more > 0 ? `; and ${more} more` : "");
  },
};

function ofEvaluation(record: Evidence["evaluations"][number] | undefined) {
  return { toolDifferences: record?.toolDifferences, successRate: record?.accuracy };
}
