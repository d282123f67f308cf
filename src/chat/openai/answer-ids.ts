import type { ModelAnswer } from "./model-request.ts";

/** The ids of an answer's parts. Each begins with the kind of its part. */
export interface AnswerIds {
  chat: string;
  response: string;
  reasoning: string;
  message: string;
  /** One per call, in order. */
  calls: string[];
}

/** The ids of an answer, which are the same whenever and however it is sent. */
export function answerIds({ id, calls }: Pick<ModelAnswer, "id" | "calls">): AnswerIds {
  return {
    chat: `chatcmpl-${id}`,
    response: `resp_${id}`,
    reasoning: `rs_${id}`,
    message: `msg_${id}`,
    calls: calls.map((_, index) => `fc_${id}_${index}`),
  };
}

/** The kind of an item by its id; undefined if the id has none of these forms. */
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
