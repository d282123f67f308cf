import type { AgentLoop, LoopContext } from "everturn/workflow";
import { isRight } from "./is-right.ts";

/**
 * A conversation in which each action without a tool call gets a reply, until none is left. The task replies
 * that an answer is wrong, or a simulated user replies, for whom a tool of the pipeline speaks (`user`). The
 * policy may call tools before each answer.
 */
const interaction: AgentLoop = async (context) => {
  const { config, turn } = context;
  const user = config.user === undefined ? undefined : String(config.user);
  if (user !== undefined && turn === 1 && (await context.task()).prompt.at(-1)?.role !== "user") {
    context.say((await context.useTool(user, {})).text);
  }
  const action = await context.generate();
  if (action.finishReason === "length") return "token-limit";
  const { answer, calls } = context.parse(action);
  const isLast = turn === Number(config.maxTurns ?? (user === undefined ? 8 : 30));
  if (calls.length > 0) {
    if (isLast) return "turn-limit";
    const answers = calls.map((call) =>
      call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem),
    );
    context.append(await Promise.all(answers));
    return "continue";
  }
  const reply =
    user === undefined
      ? await feedbackTo(action.text, isLast, context)
      : isLast
        ? undefined
        : await replyOf(user, answer, context);
  if (reply === undefined) return "answered";
  context.say(reply);
  return "continue";
};

export default interaction;

/** The user's reply. Undefined if the user is done. */
async function replyOf(user: string, said: string, context: LoopContext): Promise<string | undefined> {
  const { text, done } = await context.useTool(user, { said });
  return done ? undefined : text;
}

/**
 * Returns the task's reply to a wrong answer, unless it is the last attempt: the hint for this attempt
 * (`extra_info.interaction_kwargs.hints`), or `feedback`. Undefined if the answer is right or final.
 */
async function feedbackTo(
  text: string,
  isLast: boolean,
  { config, state, task }: LoopContext,
): Promise<string | undefined> {
  const { reward_model, extra_info } = await task();
  const attempt = Number(state.attempts ?? 0) + 1;
  const isOver = isLast || attempt === Number(config.attempts ?? 2);
  if (isOver || isRight(text, reward_model.ground_truth)) return undefined;
  state.attempts = attempt;
  const { hints } = Object(Object(extra_info).interaction_kwargs);
  const hint: unknown = Array.isArray(hints) ? hints[attempt - 1] : undefined;
  return typeof hint === "string" ? hint : String(config.feedback);
}
