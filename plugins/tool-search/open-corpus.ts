import { openEmbedder, openVectors } from "everturn/embedding";
import { corpusDigest, type Found } from "./corpus.ts";
import { indexFile, openIndex, type Ranked } from "./index-file.ts";
import { vectorFile } from "./vector-file.ts";

/** A corpus, and the optional model whose vectors also search it. */
export interface CorpusSource {
  corpus: string;
  embedding?: {
    /** The model's folder. */
    model: string;
    /** Whether to search by words and vectors together, or by vectors alone. */
    rank: "hybrid" | "dense";
  };
}

export type FindPassages = (query: string, topk: number) => Promise<Found[]>;

/**
 * The minimum depth to which each of two rankings is read, and the constant that reduces the weight of the
 * first places (Cormack et al. 2009).
 */
const depth = 100;
const flattening = 60;

/**
 * Opens a corpus. Indexes it first unless the cache has its index. Throws the problems of the corpus or the
 * model.
 */
export async function openCorpus({ corpus, embedding }: CorpusSource): Promise<FindPassages> {
  const digest = await corpusDigest(corpus);
  const index = openIndex(await indexFile(corpus, digest));
  const found = (ranked: readonly Ranked[]) =>
    ranked.map(({ number, score }) => ({ ...index.passage(number), score }));
  if (embedding === undefined) return async (query, topk) => found(index.best(query, topk));
  const { model, rank } = embedding;
  const embedder = await openEmbedder(model);
  const vectors = await openVectors(await vectorFile(corpus, digest, model, embedder), embedder.dimensions);
  const dense = async (query: string, most: number) => vectors.nearest(await embedder.embed([query]), most);
  if (rank === "dense") return async (query, topk) => found(await dense(query, topk));
  return async (query, topk) => {
    const most = Math.max(depth, topk);
    return found(fused([index.best(query, most), await dense(query, most)]).slice(0, topk));
  };
}

/** Combines rankings by reciprocal ranks. Passages in both rankings come before those in one. */
export function fused(rankings: readonly (readonly Ranked[])[]): Ranked[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings)
    for (const [place, { number }] of ranking.entries())
      scores.set(number, (scores.get(number) ?? 0) + 1 / (flattening + place + 1));
  return [...scores]
    .map(([number, score]) => ({ number, score }))
    .sort((a, b) => b.score - a.score || a.number - b.number);
}
