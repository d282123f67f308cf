import { setTimeout as sleep } from "node:timers/promises";
import onnx from "@everturn/policy-onnx";
import { createFraming, loadTokenizer, type PolicyPlugin } from "everturn/engine";

/**
 * A policy whose generations each take a slot for a fixed time, first come, first served: an engine that is full.
 * Evaluations cost nothing.
 */
const plugin: PolicyPlugin = {
  initialize: (folder, { tokenizer }, seed) => onnx.initialize(folder, { tokenizer, architecture }, seed),

  async open(folder, { slots, seconds }) {
    const tokenizer = await loadTokenizer(folder);
    const text = "run it";
    const tokens = [...tokenizer.encode(text), tokenizer.endOfTurn.id];
    const logprobs = tokens.map(() => -1);
    const generation = {
      tokens,
      logprobs,
      temperedLogprobs: logprobs,
      samplingLogprobs: logprobs,
      text,
      finishReason: "stop" as const,
    };
    const waiting: (() => void)[] = [];
    let free = Number(slots);
    return {
      ...createFraming(tokenizer),
      isLoaded: () => true,
      load: async () => {},
      generate: async ({ key }) => {
        if (!key.trajectory.startsWith("step-")) return generation;
        if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        else free -= 1;
        await sleep(Number(seconds) * 1000);
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
        return generation;
      },
      close: async () => {},
    };
  },
};

export default plugin;

const architecture = {
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 32,
  max_position_embeddings: 512,
  initializer_range: 0.1,
};
