import { defined } from "../../base/records/defined.ts";
import type { Ask, EngineAnswer, EngineProtocol } from "./server-protocol.ts";

/**
 * vLLM's server with its development endpoints (VLLM_SERVER_DEV_MODE=1), as of 0.32. `/inference/v1/generate` takes and
 * returns tokens. `/collective_rpc` reads weights from a folder while `/pause` stops its scheduler. Each answer lists
 * which weights generated which of its tokens.
 */
export const vllm: EngineProtocol = {
  name: "vLLM",
  health: "/health",

  async generate(ask, { tokens, sampling, stopTokens, id, seed, adapter }) {
    const { temperature, maxTokens, stop = [] } = sampling;
    const body = defined<object>({
      request_id: id,
      token_ids: tokens,
      model: adapter,
      sampling_params: {
        max_tokens: maxTokens,
        temperature,
        top_p: 1,
        top_k: 0,
        min_p: 0,
        repetition_penalty: 1,
        seed,
        logprobs: 0,
        // Everturn defines the ends of an action, not the files that the server started with.
        stop_token_ids: stopTokens,
        ignore_eos: true,
        stop,
        include_stop_str_in_output: true,
        detokenize: stop.length > 0,
      },
    });
    return answerOf(await ask("POST", "/inference/v1/generate", body));
  },

  async label(ask) {
    const label = Object(await ask("GET", "/weight_info")).weight_version;
    return typeof label === "string" ? label : undefined;
  },

  async loadWeights(ask, folder, label) {
    await ask("POST", "/pause?mode=wait");
    try {
      const call = { method: "reload_weights", kwargs: { weights_path: folder } };
      await ask("POST", "/collective_rpc", call);
      await ask("POST", "/reset_prefix_cache");
      await ask("POST", "/update_weight_version", { new_version: label });
    } finally {
      await ask("POST", "/resume");
    }
  },

  async loadAdapter(ask, folder, name) {
    if (await hasModel(ask, name)) return;
    await ask("POST", "/v1/load_lora_adapter", { lora_name: name, lora_path: folder });
  },

  async unloadAdapter(ask, name) {
    await ask("POST", "/v1/unload_lora_adapter", { lora_name: name });
  },
};

/** Whether the server has a model or an adapter under a name. */
async function hasModel(ask: Ask, name: string): Promise<boolean> {
  const { data } = Object(await ask("GET", "/v1/models"));
  return Object.values(data ?? []).some((model) => Object(model).id === name);
}

function answerOf(body: unknown): EngineAnswer {
  const choice = Object(Object(body).choices?.[0]);
  const content: { token_id?: unknown; logprob?: unknown }[] = Object(choice.logprobs).content ?? [];
  const tokens = Object.values(choice.token_ids ?? []).map(Number);
  if (content.some(({ token_id: id }, at) => id !== tokens[at]))
    return { tokens, logprobs: [], finish: "stop" };
  const reason = choice.finish_reason;
  return {
    tokens,
    logprobs: content.map(({ logprob }) => Number(logprob ?? Number.NaN)),
    finish: reason === "stop" || reason === "length" ? reason : "abort",
    ...labelsOf(choice.weight_versions),
  };
}

/** Returns the labels of spans of tokens. Empty if the server does not report them. */
export function labelsOf(spans: unknown): Pick<EngineAnswer, "labels"> {
  if (!Array.isArray(spans)) return {};
  return { labels: spans.map((span) => String(Object(span).version)) };
}
