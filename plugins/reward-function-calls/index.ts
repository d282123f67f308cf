import { parseAction, type RewardPlugin } from "everturn/plugin";
import { acceptedCalls } from "./accepted-calls.ts";
import { matchedCalls, type Written } from "./matched-calls.ts";

/** Rewards an answer whose calls are accepted by the rules of the Berkeley Function Calling Leaderboard. */
const functionCalls: RewardPlugin = {
  score({ answer, task, config }) {
    const accepted = acceptedCalls(task);
    if (typeof accepted === "string") return { missing: accepted };
    const calls = writtenCalls(answer, config.format === "hermes");
    const matched = matchedCalls(
      calls ?? [],
      accepted.calls === "any" ? [] : accepted.calls,
      accepted.functions,
    );
    const metrics = { calls: calls?.length ?? 0, matched, readable: calls === undefined ? 0 : 1 };
    if (accepted.calls === "any" || accepted.calls.length === 0) {
      const success = (accepted.calls === "any") === metrics.calls > 0;
      return { reward: success ? 1 : 0, success, metrics };
    }
    const share = matched / Math.max(metrics.calls, accepted.calls.length);
    return { reward: config.credit === "share" ? share : Number(share === 1), success: share === 1, metrics };
  },
};

export default functionCalls;

/** The calls of an answer. Undefined if one is unreadable, or if Python calls appear with other text. */
function writtenCalls(answer: string, isHermes: boolean): Written[] | undefined {
  const text = answer.replace(/^[`\n ]+|[`\n ]+$/g, "");
  const list = `${text.startsWith("[") ? "" : "["}${text}${text.endsWith("]") ? "" : "]"}`;
  const read = isHermes ? parseAction(answer) : parseAction(list, { format: "pythonic" });
  const isAlone = isHermes || read.answer.trim() === "";
  const calls = read.calls.flatMap((call) => (call.problem === undefined ? [call] : []));
  return isAlone && calls.length === read.calls.length ? calls : undefined;
}
