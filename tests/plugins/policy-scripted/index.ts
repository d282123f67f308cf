import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import onnx from "@everturn/policy-onnx";
import { createFraming, loadTokenizer, type PolicyPlugin } from "everturn/engine";

/**
 * Says what it is told to, through a real tokenizer and chat template, without running a model: for tests and
 * benchmarks of everything around generation. A trajectory follows the conversation that its sample's number picks, or `picks` for all of its stage;
 * each generation takes `seconds`, of which it says how far it is, and none begins while the folder `gates` has a file of its stage and turn. Version 0 is a real model with random weights, so that any trainer can open it.
 */
const plugin: PolicyPlugin = {
  initialize: (folder, { tokenizer }, seed) => onnx.initialize(folder, { tokenizer, architecture }, seed),

  async open(folder, { conversations, seconds, gates, picks = {} }) {
    const tokenizer = await loadTokenizer(folder);
    const said = Array.isArray(conversations) ? conversations.map(actionsOf) : [];
    const encoded = new Map<string, number[]>();
    const encode = (text: string) => {
      const tokens = encoded.get(text) ?? [...tokenizer.encode(text), tokenizer.endOfTurn.id];
      encoded.set(text, tokens);
      return tokens;
    };
    return {
      ...createFraming(tokenizer),
      isLoaded: () => true,
      load: async () => {},
      generate: async ({ key, signal, onProgress }) => {
        const [stage = "", , at = ""] = key.trajectory.split("/");
        const picked = Number(Object(picks)[stage] ?? at);
        const actions = said[picked % said.length] ?? [];
        const text = actions[key.turn - 1] ?? actions.at(-1) ?? "";
        const tokens = encode(text);
        for (let tenth = 1; Number(seconds) > 0 && tenth <= 10; tenth++) {
          await sleep(Number(seconds) * 100, undefined, signal ? { signal } : {});
          onProgress?.(Math.floor((tokens.length * tenth) / 10));
        }
        const gate = join(String(gates), `${stage}-turn-${key.turn}`);
        while (gates !== undefined && existsSync(gate)) {
          await sleep(50, undefined, signal ? { signal } : {});
        }
        const logprobs = tokens.map(() => -1);
        return {
          tokens,
          logprobs,
          temperedLogprobs: logprobs,
          samplingLogprobs: logprobs,
          text,
          finishReason: "stop",
        };
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

function actionsOf(conversation: unknown): string[] {
  return Array.isArray(conversation) ? conversation.map(String) : [];
}
