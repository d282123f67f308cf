import type { AgentLoop, LoopContext } from "everturn/workflow";
import { isRight } from "./is-right.ts";

/**
 * A task whose other side answers: a right answer ends the trajectory, a wrong one is told so, and the policy may try again (`attempts`).
 * Tools may be called before each answer. Of the task it reads `reward_model.ground_truth`, and of `extra_info.interaction_kwargs` the
 * `hints`: what is said to the first wrong answer, to the second, and so on; else `feedback` is said.
 */
const interaction: AgentLoop = async (context) => {
  const { config, turn, state } = context;
  const action = await context.generate();
  if (action.finishReason === "length") return "token-limit";
  const { calls } = context.parse(action);
  const isLast = turn === Number(config.maxTurns ?? 8);
  if (calls.length > 0) {
    if (isLast) return "turn-limit";
    const answers = calls.map((call) =>
      call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem),
    );
    context.append(await Promise.all(answers));
    return "continue";
  }
  const task = await context.task();
  const attempt = Number(state.attempts ?? 0) + 1;
  const isOver = isLast || attempt === Number(config.attempts ?? 2);
  if (isOver || isRight(action.text, task.reward_model.ground_truth)) return "answered";
  state.attempts = attempt;
  context.say(hintOf(task, attempt) ?? String(config.feedback));
  return "continue";
};

export default interaction;

function hintOf(
  { extra_info }: Awaited<ReturnType<LoopContext["task"]>>,
  attempt: number,
): string | undefined {
  const { hints } = Object(Object(extra_info).interaction_kwargs);
  const hint: unknown = Array.isArray(hints) ? hints[attempt - 1] : undefined;
  return typeof hint === "string" ? hint : undefined;
}
