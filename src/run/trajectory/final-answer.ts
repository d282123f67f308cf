import { defined } from "../../base/records/defined.ts";
import { parseAction } from "../../chat/formats/parse-action.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { Outcome } from "../../contracts/trajectory.ts";
import type { Store } from "../store/store.ts";

/**
 * The text that rewards score as a trajectory's answer: the last action not written by a sub-agent, without its
 * thoughts and calls according to the run's action format; or the complete answer of the tool that ended it; or ""
 * if a limit ended it. Throws the same errors as `Store.readBytes`.
 */
export async function finalAnswer(
  store: Pick<Store, "readBytes">,
  outcome: Outcome,
  turns: readonly Turn[],
  { format, tools }: { format: Plan["rollout"]["format"]; tools: readonly ToolDefinition[] },
): Promise<string> {
  const last = turns.findLast(({ agent }) => agent === undefined);
  if (outcome === "answered") return answerIn(last?.action ?? "", defined({ tools, format }));
  const ending = outcome === "done" ? turns.at(-1)?.toolCalls.findLast(({ done }) => done) : undefined;
  const whole = ending?.whole === undefined ? undefined : await store.readBytes(ending.whole);
  return whole === undefined ? (ending?.observation ?? "") : Buffer.from(whole).toString();
}

/** Without thoughts and calls the text stays unchanged, including outer spaces, because it may be code. */
function answerIn(text: string, options: Parameters<typeof parseAction>[1]): string {
  const { answer } = parseAction(text, options);
  return answer === text.trim() ? text : answer;
}
