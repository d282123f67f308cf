import { defined } from "../../base/records/defined.ts";
import { parseAction } from "../../chat/formats/parse-action.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { Outcome } from "../../contracts/trajectory.ts";
import type { Store } from "../store/store.ts";

/**
 * What rewards take for a trajectory's answer: the last action that no sub-agent wrote, without its thoughts and calls, as the run's action format
 * has them, or what the tool said that ended it, whole; "" if a limit did. Throws as `Store.readBytes` does.
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

/** Where there is neither thought nor call the text stays as it is, spaces at its ends included: it may be code. */
function answerIn(text: string, options: Parameters<typeof parseAction>[1]): string {
  const { answer } = parseAction(text, options);
  return answer === text.trim() ? text : answer;
}
