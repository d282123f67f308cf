import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import {
  adapterConfigFile,
  beforeStopTexts,
  type ConfigurationProblem,
  createFraming,
  createSampler,
  createToolCallGrammar,
  importModel,
  type JsonObject,
  knownModelNames,
  loadTokenizer,
  type ModelText,
  type PolicyPlugin,
  parseModelConfig,
  randomModelWeights,
  readModelConfig,
  readModelText,
  readVocabulary,
  requireRuntime,
  type SamplingParameters,
  stopTokenIds,
  type ToolCallGrammar,
  type ToolDefinition,
  targetOf,
  templateFormat,
  writePolicyFolder,
  writeStopTokens,
} from "everturn/engine";

/**
 * A model in a folder of Hugging Face's formats: a pretrained one, or a Llama-style one with random weights. An action
 * ends with one of the tokens that generation_config.json names, which is among its tokens but not in its text.
 */
const plugin: PolicyPlugin = {
  async initialize(folder, config, seed) {
    const { model, chatTemplate, stopTokens } = config;
    await (model === undefined ? writeRandomModel(folder, config, seed) : importModel(String(model), folder));
    if (chatTemplate !== undefined) await copyFile(String(chatTemplate), join(folder, "chat_template.jinja"));
    await writeStopTokens(folder, texts(stopTokens));
  },

  async check(config) {
    const problems = modelProblems(config);
    if (problems.length === 0) await requireRuntime();
    return problems;
  },

  traits: ({ model, sampling }) => ({
    pretrained: model !== undefined,
    restrictions: restrictionsOf(Object(sampling)),
    ...(Object(sampling).toolCalls === "constrained" ? { constrainedFormat: "hermes" } : {}),
  }),

  async framing(config, folder) {
    const text = await modelText(config, folder);
    if (text !== undefined) stopTokenIds(text.tokenizer, texts(config.stopTokens));
    if (text === undefined) return undefined;
    const format = templateFormat(text.tokenizer);
    return {
      ...createFraming(text.tokenizer),
      contextLength: text.contextLength,
      ...(format === undefined ? {} : { format }),
    };
  },

  async open(folder, given) {
    const { slots, threads, keyValueMemory, sampling: usual } = given;
    const tokenizer = await loadTokenizer(folder);
    const { stopTokens } = tokenizer;
    const config = await readModelConfig(join(folder, "config.json"));
    const sampler = createSampler({
      config,
      slots: Number(slots ?? 64),
      threads: Number(threads ?? 1),
      keyValueBytes: Number(keyValueMemory ?? 1024) * 2 ** 20,
      stopTokens,
      decode: tokenizer.decode,
      target: targetOf(given),
      ...(existsSync(join(folder, adapterConfigFile)) ? {} : { base: folder }),
    });
    let grammar: Promise<ToolCallGrammar> | undefined;
    const constraintFor = async (tools: readonly ToolDefinition[]) => {
      grammar ??= readVocabulary(folder).then((vocabulary) =>
        createToolCallGrammar(vocabulary, config.vocab_size, stopTokens),
      );
      return (await grammar)(tools);
    };
    return {
      ...createFraming(tokenizer),
      isLoaded: (version) => sampler.isLoaded(version),
      load: (version, path) => sampler.load(version, path),
      async generate({ tools = [], ...request }) {
        const own: Partial<SamplingParameters> = Object(usual);
        const stop = [...(own.stop ?? []), ...(request.sampling.stop ?? [])];
        const sampling: SamplingParameters = { ...own, ...request.sampling, stop };
        const constrained = sampling.toolCalls === "constrained" && tools.length > 0;
        const constraint = constrained ? { constraint: await constraintFor(tools) } : {};
        const sample = await sampler.generate({ ...request, sampling, ...constraint });
        const text = tokenizer.decode(sample.tokens.filter((token) => !stopTokens.includes(token)));
        return { ...sample, text: beforeStopTexts(text, stop) };
      },
      close: () => sampler.close(),
    };
  },
};

export default plugin;

/** What is wrong with how a configuration says which model it is. */
function modelProblems({ model, tokenizer, architecture }: JsonObject): ConfigurationProblem[] {
  if (model === undefined) {
    const missing = tokenizer === undefined ? "tokenizer" : "architecture";
    if (tokenizer !== undefined && architecture !== undefined) return shapeProblems(Object(architecture));
    const help = "Name a pretrained model, or give tokenizer and architecture for one with random weights.";
    return [{ key: missing, reason: "is missing, and there is no model", help }];
  }
  if (tokenizer !== undefined || architecture !== undefined) {
    const key = tokenizer === undefined ? "architecture" : "tokenizer";
    return [{ key, reason: "is there, but model brings its own", help: "Remove one of the two." }];
  }
  if (isAbsolute(String(model)) || knownModelNames.includes(String(model))) return [];
  const help = `Write ./${model} for a file or folder; known names: ${knownModelNames.join(", ")}.`;
  return [{ key: "model", reason: `is ${model}, which is no known model's name`, help }];
}

/** What is wrong with the shape of a model with random weights: heads that don't divide, say. */
function shapeProblems(architecture: JsonObject): ConfigurationProblem[] {
  try {
    parseModelConfig(JSON.stringify({ model_type: "llama", vocab_size: 1, ...architecture }), "architecture");
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [{ key: "architecture", reason: "makes no model", help: error.message }];
  }
}

/** A list of texts in a configuration that its schema holds; none if it is absent. */
const texts = (list: unknown) => Object.values(list ?? []).map(String);

/** The settings that draw actions from another distribution than the policy's at the temperature. */
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

/** A version has its chat template beside its tokenizer. */
async function modelText(
  { model, tokenizer, chatTemplate, architecture }: JsonObject,
  folder: string | undefined,
): Promise<ModelText | undefined> {
  if (folder !== undefined) return readModelText(folder);
  const template = chatTemplate === undefined ? undefined : String(chatTemplate);
  if (model !== undefined) return readModelText(String(model), template);
  const contextLength = Number(Object(architecture).max_position_embeddings);
  return { tokenizer: await loadTokenizer(String(tokenizer), template), contextLength };
}

async function writeRandomModel(folder: string, config: JsonObject, seed: number): Promise<void> {
  const tokenizerFolder = String(config.tokenizer);
  const tokenizer = await loadTokenizer(tokenizerFolder);
  const shape = {
    model_type: "llama",
    ...Object(config.architecture),
    vocab_size: tokenizer.vocabularySize,
  };
  const model = parseModelConfig(JSON.stringify(shape), "policy.config.architecture");
  const idOf = (name: string) => tokenizer.idOf(tokenizer.specialTokens[name] ?? "");
  const end = tokenizer.endOfTurn.id;
  const tokens = {
    bos_token_id: idOf("bos_token") ?? null,
    eos_token_id: end,
    pad_token_id: idOf("pad_token") ?? end,
  };
  const weights = randomModelWeights(model, seed);
  await writePolicyFolder(folder, { config: model, weights, tokens, tokenizer: tokenizerFolder });
}
