import { readFileSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { persistently } from "../../../base/files/persistently.ts";
import { defined } from "../../../base/records/defined.ts";
import type { ConfigurationProblem } from "../../../contracts/configuration-problem.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import type { ModelOutline, PolicyFraming, PolicyTraits } from "../../../contracts/policy.ts";
import type { TemplateSettings } from "../../tokens/fixed-template.ts";
import { createFraming } from "../../tokens/framing.ts";
import { templateFormat } from "../../tokens/template-format.ts";
import { templateReport } from "../../tokens/template-report.ts";
import { loadTokenizer, type Tokenizer } from "../../tokens/tokenizer.ts";
import { configError } from "../config/model-config.ts";
import { parseModelConfig } from "../config/model-config-file.ts";
import { isVisionFamily } from "../config/vision-config.ts";
import { writePolicyFolder } from "../weights/policy-folder.ts";
import { quantizationOf } from "../weights/quantize.ts";
import { lazyRandomWeights } from "../weights/random-weights.ts";
import { storedQuantization } from "../weights/stored-quantization.ts";
import { imageFraming } from "./image-text.ts";
import { importWithoutWeights } from "./import-folder.ts";
import { importModel } from "./import-model.ts";
import { knownModelNames } from "./known-models.ts";
import { modelOutline } from "./model-outline.ts";
import { type ModelText, readModelText } from "./model-text.ts";
import { imageToken, randomImageProcessor, withVision, writeImageProcessor } from "./random-vision.ts";
import { stopTokenIds, writeStopTokens } from "./stop-tokens.ts";

/**
 * The parts shared by policies of models in Hugging Face's format, regardless of the sampler: configuration (model,
 * chatTemplate, templateVariables, templateDate, stopTokens, tokenizer, architecture), version 0, and framing.
 */
export const modelPolicy = {
  async initialize(folder: string, config: JsonObject, seed: number): Promise<void> {
    const { model } = config;
    await (model === undefined
      ? writeRandomModel(folder, config, seed)
      : importModel(String(model), folder, quantizationOf(config.quantization)));
    await writeTextSettings(folder, config);
  },

  /** Returns the problems of the configuration's choice of a model. */
  check: modelProblems,

  traits: ({ model, quantization, architecture }: JsonObject): PolicyTraits => {
    const isVision = model === undefined ? isObject(Object(architecture).vision) : hasVision(String(model));
    const stored = model === undefined ? undefined : storedQuantization(String(model));
    const quantized = quantizationOf(quantization) ?? stored;
    return defined({
      pretrained: model !== undefined,
      restrictions: [],
      quantization: quantized,
      readsImages: isVision ? true : undefined,
    });
  },

  async outline(config: JsonObject): Promise<ModelOutline | undefined> {
    const { model, tokenizer } = config;
    if (model !== undefined) return modelOutline(String(model), quantizationOf(config.quantization));
    const { vocabularySize } = await loadTokenizer(String(tokenizer));
    return { config: randomModelShape(config, vocabularySize), matrices: "float32" };
  },

  async framing(config: JsonObject, folder?: string): Promise<PolicyFraming | undefined> {
    const text = await modelText(config, folder);
    if (text !== undefined) stopTokenIds(text.tokenizer, texts(config.stopTokens));
    if (text === undefined) return undefined;
    const format = templateFormat(text.tokenizer);
    return defined({
      ...createFraming(text.tokenizer, text.images),
      contextLength: text.contextLength,
      vocabulary: { size: text.tokenizer.vocabularySize, decode: text.tokenizer.decode },
      templateDifferences: () => {
        const { usable, exact, rows, reasons } = templateReport(text.tokenizer);
        return usable && exact && rows === 1 ? [] : reasons;
      },
      format,
    });
  },
};

/**
 * The same for policies whose weights are elsewhere: `model` is a folder in Hugging Face's format that may lack weights.
 */
export const textPolicy = {
  async initialize(folder: string, config: JsonObject): Promise<void> {
    await importWithoutWeights(String(config.model), folder);
    await writeTextSettings(folder, config);
  },

  framing: modelPolicy.framing,
};

/** Whether a model's folder is that of a vision-language model. False for names and files of models. */
function hasVision(model: string): boolean {
  try {
    const config: unknown = JSON.parse(readFileSync(join(model, "config.json"), "utf8"));
    return isObject(config) && isVisionFamily(config.model_type);
  } catch {
    return false; // reading the model reports why
  }
}

/** Writes a configuration's chat template and stop tokens into version 0. */
async function writeTextSettings(folder: string, config: JsonObject): Promise<void> {
  const { chatTemplate, stopTokens } = config;
  if (chatTemplate !== undefined)
    await persistently(() => copyFile(String(chatTemplate), join(folder, "chat_template.jinja")));
  await writeFixedTemplate(folder, templateSettings(config));
  await writeStopTokens(folder, texts(stopTokens));
}

/** Returns the problems of the configuration's choice of a model. */
function modelProblems(config: JsonObject): ConfigurationProblem[] {
  const { model, tokenizer, architecture } = config;
  const problem = quantizationProblem(config) ?? keyValuesProblem(config);
  if (problem) return [problem];
  if (model === undefined) {
    const missing = tokenizer === undefined ? "tokenizer" : "architecture";
    if (tokenizer !== undefined && architecture !== undefined) return shapeProblems(config);
    const help = "Name a pretrained model, or give tokenizer and architecture for one with random weights.";
    return [{ key: missing, reason: "is missing, and there is no model", help }];
  }
  if (tokenizer !== undefined || architecture !== undefined) {
    const key = tokenizer === undefined ? "architecture" : "tokenizer";
    return [{ key, reason: "is there, but model brings its own", help: "Remove one of the two." }];
  }
  if (isAbsolute(String(model)) || knownModelNames.includes(String(model))) return [];
  const help = `Write ./${model} for a file or folder; known names: ${knownModelNames.join(", ")}.`;
  return [{ key: "model", reason: `is ${model}, which is not the name of a known model`, help }];
}

/** Returns the problem of quantizing the model's matrices, if any. */
function quantizationProblem(config: JsonObject): ConfigurationProblem | undefined {
  const { quantization, activations, model } = config;
  if (quantization === undefined) {
    if (activations !== "int8") return undefined;
    const help = "Remove it, or add quantization: int8 or int4.";
    return { key: "activations", reason: "is int8, but there is no quantization", help };
  }
  const key = "quantization";
  if (model === undefined) {
    const help = "Remove it, or name a model: random weights have all to learn, and are trained as a whole.";
    return { key, reason: `is ${quantization}, but there is no model`, help };
  }
  if (activations === "int8") return elsewhereProblem(config, "activations");
  const { device = "cpu", precision = "float32" } = config;
  if (device !== "cpu" || precision === "float32") return undefined;
  const help = "Remove it, or precision; or add a device.";
  return { key, reason: `is ${quantization}, which on the CPU is for float32`, help };
}

/** Returns the problem of keeping keys and values in 8 bits, if any. */
function keyValuesProblem(config: JsonObject): ConfigurationProblem | undefined {
  return config.keyValues === "int8" ? elsewhereProblem(config, "keyValues") : undefined;
}

/** Returns the problem of a setting that requires float32 on the CPU, if any. */
function elsewhereProblem(config: JsonObject, key: string): ConfigurationProblem | undefined {
  const { device = "cpu", precision = "float32" } = config;
  if (device === "cpu" && precision === "float32") return undefined;
  const help = "Remove it, or device and precision.";
  return { key, reason: `is ${config[key]}, which is for float32 on the CPU`, help };
}

/** Returns the problems of the shape of a model with random weights, such as heads that don't divide. */
function shapeProblems(config: JsonObject): ConfigurationProblem[] {
  try {
    parseModelConfig(randomModelShape(config, 1), "architecture");
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [{ key: "architecture", reason: "makes no model", help: error.message }];
  }
}

/** Returns a list of texts in a validated configuration; none if it is absent. */
const texts = (list: unknown) => Object.values(list ?? []).map(String);

/** Returns a configuration's settings for the model's chat template. */
export function templateSettings({ templateVariables, templateDate }: JsonObject): TemplateSettings {
  return defined({
    variables: isObject(templateVariables) ? templateVariables : undefined,
    date: templateDate === undefined ? undefined : String(templateDate),
  });
}

/** Writes the settings into a version's chat template, so that everyone renders the same text. */
async function writeFixedTemplate(folder: string, settings: TemplateSettings): Promise<void> {
  if (Object.keys(settings).length === 0) return;
  const { chatTemplate } = await loadTokenizer(folder, undefined, settings);
  await persistently(() => writeFile(join(folder, "chat_template.jinja"), chatTemplate));
}

/** Reads a model's text settings. A version has its chat template next to its tokenizer. */
async function modelText(config: JsonObject, folder: string | undefined): Promise<ModelText | undefined> {
  const { model, tokenizer, chatTemplate, architecture } = config;
  const settings = templateSettings(config);
  if (folder !== undefined) return readModelText(folder, undefined, settings);
  const template = chatTemplate === undefined ? undefined : String(chatTemplate);
  if (model !== undefined) return readModelText(String(model), template, settings);
  const { max_position_embeddings: contextLength, vision } = Object(architecture);
  const loaded = await loadTokenizer(String(tokenizer), template, settings);
  const images = isObject(vision)
    ? imageFraming(randomImageProcessor(vision), {
        text: imageToken,
        id: imageTokenOf(loaded, String(tokenizer)),
      })
    : undefined;
  return { tokenizer: loaded, contextLength: Number(contextLength), images };
}

/** Returns the config.json of a model with random weights. */
function randomModelShape({ architecture }: JsonObject, vocabularySize: number, imageTokenId = 0): string {
  const { vision, ...language } = Object(architecture);
  const text: JsonObject = { model_type: "llama", ...language, vocab_size: vocabularySize };
  return JSON.stringify(isObject(vision) ? withVision(text, vision, imageTokenId) : text);
}

/** Returns the id of the image token. Throws MODEL_CONFIG_INVALID if the tokenizer has none. */
function imageTokenOf(tokenizer: Tokenizer, folder: string): number {
  const id = tokenizer.idOf(imageToken);
  if (id !== undefined) return id;
  throw configError(
    `architecture.vision needs the token ${imageToken}, which the tokenizer in ${folder} lacks`,
  );
}

async function writeRandomModel(folder: string, config: JsonObject, seed: number): Promise<void> {
  const tokenizerFolder = String(config.tokenizer);
  const tokenizer = await loadTokenizer(tokenizerFolder);
  const { vision } = Object(config.architecture);
  const image = isObject(vision) ? imageTokenOf(tokenizer, tokenizerFolder) : undefined;
  const shape = randomModelShape(config, tokenizer.vocabularySize, image);
  const model = parseModelConfig(shape, "policy.config.architecture");
  const idOf = (name: string) => tokenizer.idOf(tokenizer.specialTokens[name] ?? "");
  const end = tokenizer.endOfTurn.id;
  const tokens = {
    bos_token_id: idOf("bos_token") ?? null,
    eos_token_id: end,
    pad_token_id: idOf("pad_token") ?? end,
  };
  const weights = lazyRandomWeights(model, seed);
  await writePolicyFolder(folder, { config: model, weights, tokens, tokenizer: tokenizerFolder });
  if (isObject(vision)) await writeImageProcessor(folder, vision);
}
