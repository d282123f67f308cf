import type { Message } from "../../contracts/message.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { Policy } from "../../contracts/policy.ts";
import { toolFunctions } from "../../plugin/registry/tool-functions.ts";

/** Messages as the policy reads them, and how many of them were cut. */
export interface CutObservations {
  messages: Message[];
  cut: number;
}

/** Cuts the answer of one tool. */
export function cutObservation(
  plan: Pick<Plan, "rollout" | "tools">,
  policy: Pick<Policy, "cutText">,
  name: string,
  content: string,
): string {
  return cutObservations(plan, policy, [{ role: "tool", name, content }]).messages[0]?.content ?? content;
}

/**
 * Cuts tools' answers to the tokens that a plan gives their observations (`rollout.observations`,
 * `observations` of a tool).
 */
export function cutObservations(
  { rollout, tools }: Pick<Plan, "rollout" | "tools">,
  { cutText }: Pick<Policy, "cutText">,
  messages: Message[],
): CutObservations {
  let number = 0;
  const read = messages.map((message) => {
    if (message.role !== "tool") return message;
    const tool = tools.find((one) => toolFunctions(one).some(({ name }) => name === message.name));
    const { tokens, cut } = { ...rollout.observations, ...tool?.observations };
    if (tokens === undefined || cutText === undefined) return message;
    const part = cutText(message.content, { tokens, cut });
    if (part.cut === 0) return message;
    number++;
    return { ...message, content: part.text };
  });
  return { messages: read, cut: number };
}
