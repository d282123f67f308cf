// `everturn/embedding`: vectors of texts, and the nearest ones of a file. It loads ONNX Runtime.

export type { Embedder } from "../embedding/open-embedder.ts";
export { openEmbedder } from "../embedding/open-embedder.ts";
export type { Near, Vectors } from "../embedding/open-vectors.ts";
export { openVectors } from "../embedding/open-vectors.ts";
