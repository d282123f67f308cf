import type { ModelAnswer } from "./model-request.ts";

/** Ids of what an answer is sent as; each begins with what it is. */
export interface AnswerIds {
  chat: string;
  response: string;
  reasoning: string;
  message: string;
  /** Of each call, in order. */
  calls: string[];
}

/** The ids of an answer: the same whenever and however it is sent. */
export function answerIds({ id, calls }: Pick<ModelAnswer, "id" | "calls">): AnswerIds {
  return {
    chat: `chatcmpl-${id}`,
    response: `resp_${id}`,
    reasoning: `rs_${id}`,
    message: `msg_${id}`,
    calls: calls.map((_, index) => `fc_${id}_${index}`),
  };
}

/** What an item is, by its id; undefined if no answer has one such. */
export function itemKind(id: string): "reasoning" | "message" | "call" | undefined {
  const [prefix] = id.split("_", 1);
  switch (prefix) {
    case "rs":
      return "reasoning";
    case "msg":
      return "message";
    case "fc":
      return "call";
    default:
      return undefined;
  }
}
