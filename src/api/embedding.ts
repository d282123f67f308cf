// `everturn/embedding`: vectors of texts, and the nearest ones in a file. It loads ONNX Runtime.

export type { Embedder } from "../engine/embedding/open-embedder.ts";
export { openEmbedder } from "../engine/embedding/open-embedder.ts";
export type { Near, Vectors } from "../engine/embedding/open-vectors.ts";
export { openVectors } from "../engine/embedding/open-vectors.ts";
