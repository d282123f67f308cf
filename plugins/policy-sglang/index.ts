import { enginePolicy, sglang } from "everturn/engine";

/** A model in Hugging Face's formats, whose actions SGLang writes. */
export default enginePolicy(sglang);
