import type { PromptMessage } from "../../../contracts/generated/task.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import { type Benchmark, textOf } from "./benchmark.ts";

/**
 * BFCL's prompt for models without a tool interface, as written by `formulate_system_prompt` of bfcl-eval 2026.3.23.
 */
const instruction = `You are an expert in composing functions.You are given a question and a set of possible functions. Based on the question, you will need to make one or more function/tool calls to achieve the purpose. If none of the functions can be used, point it out. If the given question lacks the parameters required by the function, also point it out.

You should only return the function calls in your response.

If you decide to invoke any of the function(s), you MUST put it in the format of [func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)].  You SHOULD NOT include any other text in the response.

At each turn, you should try your best to complete the tasks requested by the user within the current turn. Continue to output functions to call until you have fulfilled the user's request to the best of your ability. Once you have no more functions to call, the system will consider the current turn complete and proceed to the next turn or task.

Here is a list of functions in json format that you can invoke.
`;

export const bfcl: Benchmark = {
  description:
    "Berkeley Function Calling Leaderboard, calls of one turn in Python (Patil et al., 2025): id, question, function; the accepted calls next to it, in possible_answer/",
  reward: "reward-function-calls",
  answers: "possible_answer",
  task(row) {
    const id = textOf(row, "id");
    const messages = messagesOf(row.question);
    const functions = Array.isArray(row.function) ? row.function.filter(isObject) : undefined;
    const truth = id === undefined ? undefined : truthOf(id, row.ground_truth);
    if (id === undefined || messages === undefined || functions === undefined || truth === undefined)
      return undefined;
    const [first, ...others] = messages;
    const system = `${instruction}${described(functions)}\n`;
    const prompt: PromptMessage[] =
      first?.role === "system"
        ? [{ role: "system", content: `${system}\n\n${first.content}` }, ...others]
        : [{ role: "system", content: system }, ...messages];
    return {
      data_source: "bfcl",
      prompt,
      ability: "function-calling",
      reward_model: { ground_truth: truth, functions },
      extra_info: { id, tags: [id.replace(/_\d[\d-]*$/, "")] },
    };
  },
};

/** The messages of a question with a single turn. */
function messagesOf(question: unknown): PromptMessage[] | undefined {
  const [turn, ...more] = Array.isArray(question) ? question : [];
  return Array.isArray(turn) && turn.length > 0 && more.length === 0 && turn.every(isMessage)
    ? turn.map(({ role, content }) => ({ role, content }))
    : undefined;
}

function isMessage(one: unknown): one is PromptMessage {
  return (
    isObject(one) &&
    ["system", "user", "assistant"].includes(String(one.role)) &&
    typeof one.content === "string"
  );
}

/** The ground truth. Calls in Java and JavaScript, and several turns, have none. */
function truthOf(id: string, accepted: unknown): string | undefined {
  if (/^(?:live_)?irrelevance_/.test(id)) return "[]";
  if (/^live_relevance_/.test(id)) return "any";
  const isPython = /^(?:live_)?(?:simple|simple_python|multiple|parallel|parallel_multiple)_\d/.test(id);
  return isPython && Array.isArray(accepted) ? JSON.stringify(accepted) : undefined;
}

/** Writes functions like Python's `json.dumps(functions, indent=4)`. */
function described(functions: readonly JsonObject[]): string {
  const hint = "Note that the provided function is in Python 3 syntax.";
  const told = functions.map((one) => ({ ...one, description: `${String(one.description ?? "")} ${hint}` }));
  const code = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(told, null, 4).replace(/[\u007f-\uffff]/g, code);
}
