import type { Answer } from "../http/answer.ts";
import { fieldsOf, listOf, numbersOf, optionalText, textOf } from "../http/json.ts";
import type { FutureKind, FutureResults, FutureTicket } from "../types.ts";
import { passResult } from "./forward-backward.ts";
import { sampleResult } from "./sample.ts";
import { numbersFromJson } from "./tensors.ts";

type Readers = {
  readonly [Kind in FutureKind]: (
    answer: Answer,
    ticket: Pick<FutureTicket, "promptLength">,
  ) => FutureResults[Kind];
};

/** Reads the result of a finished request. Each throws `bad-answer`. */
export const resultReaders: Readers = {
  createModel: (answer) => {
    const fields = jsonOf(answer);
    return { modelId: textOf(fields, "model_id"), baseModel: optionalText(fields, "base_model") };
  },
  unloadModel: (answer) => ({ modelId: textOf(jsonOf(answer), "model_id") }),
  forward: passResult,
  forwardBackward: passResult,
  customForward: (answer) => {
    const fields = jsonOf(answer);
    const logprobs = listOf(fields, "logprobs").map((row) =>
      Float32Array.from(numbersFromJson(Array.isArray(row) ? row : [row])),
    );
    return { logprobs, metrics: numbersOf(fields.metrics) };
  },
  customBackward: (answer) => {
    const fields = jsonOf(answer);
    return { metrics: { ...numbersOf(fields), ...numbersOf(fields.metrics) } };
  },
  optimStep: (answer) => ({ metrics: numbersOf(jsonOf(answer).metrics) }),
  saveWeights: (answer) => ({ path: textOf(jsonOf(answer), "path") }),
  saveWeightsForSampler: (answer) => {
    const fields = jsonOf(answer);
    return {
      path: optionalText(fields, "path"),
      samplingSessionId: optionalText(fields, "sampling_session_id"),
    };
  },
  saveWeightsExternal: (answer) => ({ path: textOf(jsonOf(answer), "path") }),
  loadWeights: (answer) => ({ path: optionalText(jsonOf(answer), "path") }),
  createSampler: (answer) => ({ samplingSessionId: textOf(jsonOf(answer), "sampling_session_id") }),
  createCustomLoss: (answer) => ({ lossId: textOf(jsonOf(answer), "loss_id") }),
  sample: (answer, { promptLength }) => sampleResult(answer, promptLength),
};

function jsonOf(answer: Answer) {
  return fieldsOf(answer.json(), "the answer");
}
