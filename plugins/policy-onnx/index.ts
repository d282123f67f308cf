import { join } from "node:path";
import {
  createFraming,
  createSampler,
  loadTokenizer,
  type PolicyPlugin,
  parseModelConfig,
  randomModelWeights,
  readModelConfig,
  readSafetensors,
  writePolicyFolder,
} from "everturn/plugin";

/**
 * A Llama-style model in a folder of Hugging Face's formats. An action ends with the tokenizer's eos_token, which
 * is among its tokens but not in its text.
 */
const plugin: PolicyPlugin = {
  async initialize(folder, { tokenizer: tokenizerFolder, architecture }, seed) {
    const tokenizer = await loadTokenizer(String(tokenizerFolder));
    const shape = { ...Object(architecture), model_type: "llama", vocab_size: tokenizer.vocabularySize };
    const config = parseModelConfig(JSON.stringify(shape), "policy.config.architecture");
    const idOf = (name: string) => tokenizer.idOf(tokenizer.specialTokens[name] ?? "");
    const end = tokenizer.endOfTurn.id;
    const tokens = {
      bos_token_id: idOf("bos_token") ?? null,
      eos_token_id: end,
      pad_token_id: idOf("pad_token") ?? end,
    };
    const weights = randomModelWeights(config, seed);
    await writePolicyFolder(folder, { config, weights, tokens, tokenizer: String(tokenizerFolder) });
  },

  async open(folder, { slots, threads }) {
    const tokenizer = await loadTokenizer(folder);
    const end = tokenizer.endOfTurn.id;
    const sampler = createSampler({
      config: await readModelConfig(join(folder, "config.json")),
      slots: Number(slots ?? 64),
      threads: Number(threads ?? 1),
      stopTokens: [end],
    });
    return {
      ...createFraming(tokenizer),
      load: (version, path) => sampler.load(version, () => readSafetensors(join(path, "model.safetensors"))),
      async generate(request) {
        const sample = await sampler.generate(request);
        return { ...sample, text: tokenizer.decode(sample.tokens.filter((token) => token !== end)) };
      },
      close: () => sampler.close(),
    };
  },
};

export default plugin;
