import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder for policies. */
export const root = await mkdtemp(join(tmpdir(), "everturn-vision-"));
const images = join(import.meta.dirname, "../../../fixtures/images");
const tokenizer = join(root, "tokenizer");
const text = { hidden_size: 32, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 40 };
const vision = {
  image_size: 16,
  patch_size: 4,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 20,
};
const architecture = { ...text, max_position_embeddings: 64, initializer_range: 0.2, vision };
/** The configuration of a policy with a small random vision part. */
export const config = { tokenizer, architecture };
/** Returns a file of the fixtures by its name. */
export const readImage = (name: string) => readFile(join(images, name));
/** The id of its image token. */
export const image = 340;
/** Four image tokens between others, whose image is a file of the fixtures. */
export const seen = (sha256: string) => ({
  tokens: [5, image, image, image, image, 6, 7],
  images: [{ sha256, start: 1 }],
});

await cp(join(import.meta.dirname, "../tokens/fixtures/tokenizer"), tokenizer, { recursive: true });
const file = join(tokenizer, "tokenizer.json");
const json = JSON.parse(await readFile(file, "utf8"));
json.added_tokens.push({ ...json.added_tokens[0], id: image, content: "<image>" });
await writeFile(file, JSON.stringify(json));

/** Two demonstrations that only their images tell apart. */
export const demonstrations = ["odd.png", "gray.png"].map((name, at) => {
  const { tokens, images: placed } = seen(name);
  const mask = [0, 0, 0, 0, 0, 1, 1];
  return { tokens: [...tokens.slice(0, 5), 8 + at, 9 + at], mask, images: placed };
});
