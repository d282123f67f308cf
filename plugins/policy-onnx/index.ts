import { statSync } from "node:fs";
import { join } from "node:path";
import {
  adapterConfigFile,
  beforeStopTexts,
  createFraming,
  createSampler,
  createToolCallGrammar,
  forecastSampling,
  type JsonObject,
  loadTokenizer,
  modelPolicy,
  openPolicyVision,
  type PolicyPlugin,
  readImageFraming,
  readModelConfig,
  readVocabulary,
  requireRuntime,
  type SamplingParameters,
  type ToolCallGrammar,
  type ToolDefinition,
  targetOf,
  targetProblems,
  templateSettings,
  typicalTokens,
} from "everturn/engine";

/**
 * A model in a folder with Hugging Face's formats: a pretrained one, or a Llama-style one with random
 * weights. An action ends with one of the tokens in generation_config.json. This token counts as part of the
 * action but does not appear in its text.
 */
const plugin: PolicyPlugin = {
  ...modelPolicy,

  async check(config) {
    const problems = [...modelPolicy.check(config), ...targetProblems(config)];
    if (problems.length === 0) await requireRuntime();
    return problems;
  },

  traits: (config) => ({
    ...modelPolicy.traits(config),
    restrictions: [
      ...["activations", "keyValues"].filter((key) => config[key] === "int8").map((key) => `${key} is int8`),
      ...["float16", "bfloat16"]
        .filter((half) => config.precision === half)
        .map((half) => `precision is ${half}`),
      ...restrictionsOf(Object(config.sampling)),
    ],
    ...(Object(config.sampling).toolCalls === "constrained" ? { constrainedFormat: "hermes" } : {}),
  }),

  forecast(config, model) {
    if ((config.device ?? "cpu") !== "cpu") return undefined;
    const keyValues = config.keyValues === "int8" ? "int8" : "float32";
    return forecastSampling(model, { ...samplerSettings(config), keyValues });
  },

  async open(folder, given) {
    const { threads, sampling: usual } = given;
    const tokenizer = await loadTokenizer(folder, undefined, templateSettings(given));
    const { stopTokens } = tokenizer;
    const config = await readModelConfig(join(folder, "config.json"));
    const framing = createFraming(tokenizer, await readImageFraming(folder, config, tokenizer));
    const vision = await openPolicyVision(folder, config, {
      threads: threads === undefined ? undefined : Number(threads),
    });
    const sampler = createSampler({
      config,
      ...samplerSettings(given),
      ...(threads !== undefined && { threads: Number(threads) }),
      stopTokens,
      decode: tokenizer.decode,
      target: targetOf(given),
      alongside: vision,
      ...(given.keyValues === "int8" && { roundedBy: typicalTokens(framing) }),
      ...(statSync(join(folder, adapterConfigFile), { throwIfNoEntry: false }) === undefined
        ? { base: folder }
        : {}),
    });
    let grammar: Promise<ToolCallGrammar> | undefined;
    const constraintFor = async (tools: readonly ToolDefinition[]) => {
      grammar ??= readVocabulary(folder).then((vocabulary) =>
        createToolCallGrammar(vocabulary, config.vocab_size, stopTokens),
      );
      return (await grammar)(tools);
    };
    return {
      ...framing,
      isLoaded: (version) => sampler.isLoaded(version),
      load: (version, path) => sampler.load(version, path),
      readsImages: vision !== undefined,
      measureImage: vision?.measure,
      async generate({ tools = [], images = [], readImage, ...request }) {
        const own: Partial<SamplingParameters> = Object(usual);
        const stop = [...(own.stop ?? []), ...(request.sampling.stop ?? [])];
        const sampling: SamplingParameters = { ...own, ...request.sampling, stop };
        const constrained = sampling.toolCalls === "constrained" && tools.length > 0;
        const constraint = constrained ? { constraint: await constraintFor(tools) } : {};
        const { release, ...seen } =
          (await vision?.place(request.version, request.tokens, images, readImage)) ?? {};
        const sample = await sampler
          .generate({ ...request, ...seen, sampling, ...constraint })
          .finally(release);
        const text = tokenizer.decode(sample.tokens.filter((token) => !stopTokens.includes(token)));
        return { ...sample, text: beforeStopTexts(text, stop) };
      },
      async close() {
        await sampler.close();
        await vision?.close();
      },
    };
  },
};

export default plugin;

/** The settings that a sampler's memory depends on, besides the model and the format of keys and values. */
function samplerSettings({ slots, keyValueMemory, activations }: JsonObject) {
  return {
    slots: Number(slots ?? 64),
    ...(keyValueMemory !== undefined && { keyValueBytes: Number(keyValueMemory) * 2 ** 20 }),
    activations: activations === "int8" ? ("int8" as const) : ("float32" as const),
  };
}

/** The settings that make actions come from a different distribution than the policy's at the temperature. */
function restrictionsOf(sampling: Partial<SamplingParameters>): string[] {
  const { topK, topP = 1, minP = 0, repetitionPenalty = 1, toolCalls } = sampling;
  const settings: [name: string, value: unknown, restricts: boolean][] = [
    ["topK", topK, topK !== undefined],
    ["topP", topP, topP < 1],
    ["minP", minP, minP > 0],
    ["repetitionPenalty", repetitionPenalty, repetitionPenalty !== 1],
    ["toolCalls", toolCalls, toolCalls === "constrained"],
  ];
  return settings.flatMap(([name, value, restricts]) => (restricts ? [`sampling.${name} is ${value}`] : []));
}
