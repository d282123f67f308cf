import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { EngineAnswer, EngineProtocol } from "./server-protocol.ts";
import { labelsOf } from "./vllm.ts";

/**
 * SGLang's server as of 0.5.23. `/generate` takes and returns tokens. `/update_weights_from_disk` reads weights while
 * `/pause_generation` stops its scheduler. Each answer lists which weights generated which of its tokens.
 */
export const sglang: EngineProtocol = {
  name: "SGLang",
  health: "/health",

  async generate(ask, { tokens, sampling, stopTokens, id, seed, adapter }) {
    const { temperature, maxTokens, stop = [] } = sampling;
    const body = defined<object>({
      rid: id,
      input_ids: tokens,
      return_logprob: true,
      stream: false,
      lora_path: adapter,
      sampling_params: defined<object>({
        max_new_tokens: maxTokens,
        temperature,
        top_p: 1,
        top_k: -1,
        min_p: 0,
        repetition_penalty: 1,
        sampling_seed: seed,
        stop_token_ids: stopTokens,
        skip_special_tokens: false,
        no_stop_trim: true,
        stop: stop.length === 0 ? undefined : stop,
      }),
    });
    return answerOf(await ask("POST", "/generate", body));
  },

  async label(ask) {
    const label = Object(await ask("GET", "/model_info")).weight_version;
    return typeof label === "string" ? label : undefined;
  },

  async loadWeights(ask, folder, label) {
    await ask("POST", "/pause_generation", { mode: "retract" });
    try {
      const update = { model_path: folder, weight_version: label, flush_cache: true };
      succeeded(await ask("POST", "/update_weights_from_disk", update));
    } finally {
      await ask("POST", "/continue_generation", {});
    }
  },

  async loadAdapter(ask, folder, name) {
    const load = { lora_name: name, lora_path: folder };
    await ask("POST", "/load_lora_adapter", load).catch((error: unknown) => {
      const has = error instanceof EverturnError && /already (loaded|exists)/.test(error.message);
      if (!has) throw error;
    });
  },

  async unloadAdapter(ask, name) {
    await ask("POST", "/unload_lora_adapter", { lora_name: name });
  },
};

function succeeded(body: unknown): void {
  const { success, message } = Object(body);
  if (success === false)
    throw new EverturnError("ENGINE_REFUSED", {
      engine: "SGLang",
      url: "its server",
      reason: `said: ${message}`,
    });
}

function answerOf(body: unknown): EngineAnswer {
  const { output_ids: ids, meta_info: info } = Object(body);
  const { output_token_logprobs: scored = [], finish_reason: reason, weight_versions: spans } = Object(info);
  const pairs: [logprob: unknown, token: unknown][] = Object.values(scored);
  const tokens = pairs.map(([, token]) => Number(token));
  const same = ids === undefined || tokens.every((token, at) => token === ids[at]);
  const type = Object(reason).type;
  return {
    tokens,
    logprobs: same ? pairs.map(([logprob]) => Number(logprob ?? Number.NaN)) : [],
    finish: type === "stop" || type === "length" ? type : "abort",
    ...labelsOf(spans),
  };
}
