import { enginePolicy, vllm } from "everturn/engine";

/** A model in Hugging Face's formats, whose actions vLLM writes. */
export default enginePolicy(vllm);
