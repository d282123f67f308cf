import type { Outcome, TurnRecord } from "../contracts/trajectory.ts";
import type { Store } from "../store/store.ts";

/**
 * What rewards take for a trajectory's answer: the last action's text, or what the tool said that ended it, whole; "" if a
 * limit did. Throws as `Store.readBytes` does.
 */
export async function finalAnswer(
  store: Pick<Store, "readBytes">,
  outcome: Outcome,
  turns: readonly TurnRecord[],
): Promise<string> {
  const last = turns.at(-1);
  if (outcome === "answered") return last?.action ?? "";
  const ending = outcome === "done" ? last?.toolCalls.findLast(({ done }) => done) : undefined;
  const whole = ending?.whole === undefined ? undefined : await store.readBytes(ending.whole);
  return whole === undefined ? (ending?.observation ?? "") : Buffer.from(whole).toString();
}
