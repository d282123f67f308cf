import { counted, grouped } from "../../../base/text/format.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { isAgentLoop } from "../../../contracts/plan-loops.ts";
import type { Preflight } from "../../../plan/pipeline/check/preflight.ts";
import { indented } from "./trajectory-text.ts";

/** How many characters of a prompt's beginning and end to show. */
const [headCharacters, tailCharacters] = [1500, 500];

/** The text of `everturn validate` about a run's rows and the policy's first prompt. */
export function preflightText({ counted: found }: Preflight, { rollout, loop }: Plan): string {
  if (found === undefined) {
    return "tokens of prompts: counted once the policy is available (it is downloaded, or its plugin can't count earlier)";
  }
  const { room, rows, prompt } = found;
  const lines = rows.map(({ name, rows: all, counted: some, longest }) => {
    const which =
      some === all ? counted(all, "row") : `the ${grouped(some)} longest of ${counted(all, "row")}`;
    return `${name}: up to ${grouped(longest)} of ${counted(room, "token")} (counted: ${which})`;
  });
  const longestPrompt = Math.max(
    0,
    ...rows.filter(({ name }) => name.startsWith("dataset.")).map((row) => row.longest),
  );
  if (room - longestPrompt < rollout.maxActionTokens) {
    lines.push(
      `the longest prompt leaves ${counted(room - longestPrompt, "token")} for an action; rollout.maxActionTokens is ${rollout.maxActionTokens}`,
    );
  }
  if (prompt === undefined) return lines.join("\n");
  const { at, text, tokens } = prompt;
  const agent = isAgentLoop(loop) ? "; the agent sends its own messages and tools instead" : "";
  const title = `the prompt at ${at}, ${counted(tokens, "token")}${agent}:`;
  return [...lines, title, indented(shortened(text))].join("\n");
}

function shortened(text: string): string {
  const left = text.length - headCharacters - tailCharacters;
  if (left <= 0) return text;
  return `${text.slice(0, headCharacters)}\n… ${counted(left, "character")} …\n${text.slice(-tailCharacters)}`;
}
