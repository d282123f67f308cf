import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import type { Place } from "../../../base/validation/place.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { FormatName } from "../../../contracts/format-name.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { isAgentLoop, loopOfTask, planLoops } from "../../../contracts/plan-loops.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { mentions, showsTools } from "../../../engine/tokens/shows-tools.ts";
import { offeredTools, toolDefinitions } from "../resolve/tool-definitions.ts";
import type { RunData } from "./preflight.ts";

/** What a check refuses, and what it notes for people. */
export interface Findings {
  problems: Problem[];
  notes: string[];
}

/** Loops whose prompts are a task's messages and the loop's tools, and nothing else. */
const plainLoops = new Set(["loop-tool-agent", "loop-interaction"]);

/** Formats in which a call needs only the function's name and one text. */
const textFormats: readonly (FormatName | undefined)[] = ["react", "xml-tags", "fenced", undefined];

/** The number of tasks of a loop whose prompts are read. */
const looked = 16;

/**
 * Finds loops whose tools the policy could not know: its chat template does not show them, no prompt mentions
 * them, and no demonstration calls a tool. If the loop may show them in another way, it is noted instead.
 * `rollout.templateCheck: off` skips the check.
 */
export function toolsShown(
  plan: Plan,
  data: RunData,
  framing: PolicyFraming | undefined,
  place: Place,
): Findings {
  const findings: Findings = { problems: [], notes: [] };
  if (framing === undefined || plan.rollout.templateCheck === "off" || areCallsDemonstrated(plan, data))
    return findings;
  const tasks = [...(data.train ?? []), ...(data.validation ?? []), ...(data.taskFile ?? [])];
  for (const loop of planLoops(plan)) {
    const own = tasks.filter((task) => loopOfTask(plan, task) === loop);
    const tools = isAgentLoop(loop) ? [agentTool] : offeredTools(plan, loop);
    const [first] = own;
    if (first === undefined || tools.length === 0 || isShown(framing, first, tools)) continue;
    const names = tools.map(({ name }) => name).join(", ");
    const how = howMentioned(sample(own), tools, plan.rollout.format);
    if (isAgentLoop(loop))
      findings.notes.push(
        "tools: the policy's chat template shows no tools. If the agent sends tools with its requests, the policy will not see them: name another chat template (policy.config.chatTemplate)",
      );
    else if (how === "mentioned")
      findings.notes.push(
        `tools: the policy's chat template shows no tools (${names}). The prompts mention them, so they must also describe their arguments and how to call them`,
      );
    else if (how === "absent" && plainLoops.has(loop.name))
      findings.problems.push({
        place,
        error: new EverturnError("TOOLS_NOT_SHOWN", { at: place.text, tools: names }),
      });
    else if (how === "absent")
      findings.notes.push(
        `tools: the policy's chat template shows no tools, so the loop ${loop.name} must describe them: ${names}`,
      );
  }
  return findings;
}

/** Stands for the tools of an agent, which are known only at its first request. */
const agentTool: ToolDefinition = {
  name: "tool_of_the_agent",
  description: "A tool.",
  parameters: { type: "object", properties: {} },
};

/** Whether a demonstration calls a tool, in its calls or in its text. */
function areCallsDemonstrated(plan: Plan, { demonstrations = [], examples }: RunData): boolean {
  const tools = toolDefinitions(plan);
  return [...demonstrations, ...(examples?.learned ?? [])].some(({ messages }) =>
    messages.some(
      ({ role, content, tool_calls: calls = [] }) =>
        calls.length > 0 ||
        role === "tool" ||
        (role === "assistant" && tools.some(({ name }) => mentions(content, name) > 0)),
    ),
  );
}

/** Whether the policy's framing adds the tools to the prompt. Endpoints receive them apart from its text. */
function isShown(framing: PolicyFraming, { prompt }: Task, tools: ToolDefinition[]): boolean {
  try {
    const [bare, full] = [framing.framePrompt(prompt, []), framing.framePrompt(prompt, tools)];
    if (bare.text === full.text) return bare.tokens.length !== full.tokens.length;
    return showsTools((given) => (given.length === 0 ? bare : full).text, tools);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return true; // another check reports a task that can't be framed
  }
}

/** Whether prompts describe tools, only mention them, or do neither. */
function howMentioned(
  tasks: readonly Task[],
  tools: readonly ToolDefinition[],
  format: FormatName | undefined,
): "described" | "mentioned" | "absent" {
  const texts = tasks.flatMap(({ prompt }) => prompt.map(({ content }) => content));
  const mentioned = tools.filter(({ name }) => texts.some((text) => mentions(text, name) > 0));
  if (mentioned.length === 0) return "absent";
  const isDescribed = mentioned.some(({ parameters }) => {
    const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
    if (required.length === 0 || textFormats.includes(format)) return true;
    return required.some((key) => texts.some((text) => mentions(text, key) > 0));
  });
  return isDescribed ? "described" : "mentioned";
}

/** A few tasks from the whole list. */
function sample(tasks: readonly Task[]): Task[] {
  const every = Math.max(1, Math.floor(tasks.length / looked));
  return tasks.filter((_, at) => at % every === 0).slice(0, looked);
}
