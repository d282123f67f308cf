import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { importModel } from "../../src/engine/models/policy/import-model.ts";
import { writeImageProcessor } from "../../src/engine/models/policy/random-vision.ts";
import { copyTokenizerFiles, writePolicyFolder } from "../../src/engine/models/weights/policy-folder.ts";
import { lazyRandomWeights } from "../../src/engine/models/weights/random-weights.ts";

const root = join(import.meta.dirname, "../..");

/** The tokens that SmolVLM's vocabulary has after SmolLM2's 49,152, in the order of their ids. */
const addedTokens = [
  "<global-img>",
  ...Array.from({ length: 36 }, (_, at) => `<row_${Math.floor(at / 6) + 1}_col_${(at % 6) + 1}>`),
  "<fake_token_around_image>",
  "<image>",
  ...Array.from({ length: 88 }, (_, at) => `<|reserved_special_token_${at}|>`),
  "<end_of_utterance>",
];

/**
 * Writes a model of SmolVLM-256M-Instruct's shape with random weights: its vocabulary, and its processor with another
 * longest side of an image.
 */
export async function writeSmolvlm(folder: string, longestSide: number): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "everturn-smollm2-"));
  try {
    const [text, tokenizer] = [join(work, "smollm2"), join(work, "tokenizer")];
    await importModel("smollm2-135m-instruct", text);
    await mkdir(tokenizer);
    await copyTokenizerFiles(text, tokenizer);
    await addTokens(tokenizer);
    const config = await readModelConfig(
      join(root, "tests/fixtures/published/vision/smolvlm-256m-instruct.json"),
    );
    const tokens = { bos_token_id: 1, eos_token_id: 49_279, pad_token_id: 2 };
    const vision = { image_size: 512, patch_size: 16, scale_factor: 4, longest_edge: longestSide };
    await writeImageProcessor(tokenizer, vision);
    await writePolicyFolder(folder, { config, weights: lazyRandomWeights(config, 1), tokens, tokenizer });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function addTokens(folder: string): Promise<void> {
  const path = join(folder, "tokenizer.json");
  const json = JSON.parse(await readFile(path, "utf8"));
  const [special] = json.added_tokens.filter((token: { special: boolean }) => token.special);
  addedTokens.forEach((content, at) => {
    json.added_tokens.push({ ...special, id: 49_152 + at, content });
  });
  await writeFile(path, JSON.stringify(json));
  const settings = join(folder, "tokenizer_config.json");
  const given = JSON.parse(await readFile(settings, "utf8"));
  const names = { bos_token: "<|im_start|>", eos_token: "<end_of_utterance>", pad_token: "<|im_end|>" };
  await writeFile(settings, JSON.stringify({ ...given, ...names }));
}
