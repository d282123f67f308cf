import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ImageEmbeddings, PlacedImage } from "../../contracts/image-tokens.ts";

/** Gives the tokens of images ids of their own, and holds their embeddings. */
export interface ImagePlacer {
  readonly embeddings: ImageEmbeddings;
  place(
    tokens: readonly number[],
    images: readonly PlacedImage[],
  ): Promise<{ tokens: number[]; release(): void }>;
}

/** Tokens as a trainer receives them. */
interface WithImages {
  tokens: number[];
  images?: PlacedImage[];
}

/**
 * Does `work` with sequences whose image tokens have ids of their own. Without a placer, tokens stay unchanged.
 * Throws IMAGE_TOKENS_INVALID for images without a placer, and its errors.
 */
export async function withPlacedImages<Sequence extends WithImages, Result>(
  placer: ImagePlacer | undefined,
  sequences: readonly Sequence[],
  work: (placed: (Sequence & { embeddings?: ImageEmbeddings })[]) => Promise<Result>,
): Promise<Result> {
  if (!placer) {
    if (!sequences.some(({ images = [] }) => images.length > 0)) return work([...sequences]);
    throw new EverturnError("IMAGE_TOKENS_INVALID", { reason: "the model reads only text" });
  }
  const { embeddings } = placer;
  const releases: (() => void)[] = [];
  try {
    const placed: (Sequence & { embeddings: ImageEmbeddings })[] = [];
    for (const sequence of sequences) {
      const { tokens, release } = await placer.place(sequence.tokens, sequence.images ?? []);
      releases.push(release);
      placed.push({ ...sequence, tokens, embeddings });
    }
    return await work(placed);
  } finally {
    for (const release of releases) release();
  }
}
