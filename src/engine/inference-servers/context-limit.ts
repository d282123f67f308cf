/**
 * Error codes and words in which servers report that a conversation does not fit the model's context. Numbers and names
 * differ, so each pattern matches the words around them.
 */
const wordings: readonly RegExp[] = [
  /^(context_(length|window)_exceeded|exceed_context_size_error|model_context_window_exceeded)$/i,
  /maximum context length/i, // OpenAI, vLLM, SGLang, DeepSeek, Mistral, Fireworks
  /exceeds? the context window/i, // OpenAI's responses
  /input tokens exceed the configured limit/i, // OpenAI since GPT-5
  /longer than the maximum model length/i, // vLLM
  /too long to fit into the model/i, // vLLM, with images
  /max_tokens must be at least 1, got (0|-\d+)/i, // vLLM before 0.9, when the prompt fills the context
  /longer than the model's context length/i, // SGLang, Together
  /input length .*exceeds the maximum allowed (input )?length/i, // SGLang
  /exceeds the available context size|context size has been exceeded/i, // llama.cpp
  /`inputs` must have less than \d+ tokens/i, // Text Generation Inference
  /`inputs` tokens \+ `max_new_tokens` must be <=/i, // Text Generation Inference
  /exceeded max context length/i, // Ollama
  /ContextWindowExceededError/, // LiteLLM
  /prompt is too long: \d+ tokens/i, // Anthropic
  /exceed context limit/i, // Anthropic
  /input token count .*exceeds the maximum number of tokens/i, // Gemini
  /maximum prompt length is \d+/i, // xAI
  /reduce the length of the (input )?(messages|prompt)/i, // Groq, vLLM
  /input is too long for requested model/i, // Bedrock
  /range of input length should be/i, // Qwen
  /total number of tokens in the prompt cannot exceed/i, // Cohere
  /context (length|window|size|limit)\b.*(exceed|overflow|too (long|large|small|many)|greater|longer|beyond)/is,
  /(exceed|overflow|too (long|large|many)|greater|longer|beyond).*\bcontext (length|window|size|limit)/is,
];

/**
 * Status codes of other errors, regardless of the conversation's length: a missing key, an unknown model, too many
 * requests.
 */
const others = [401, 403, 404, 408, 409, 429];

/**
 * Whether an answer reports that the conversation does not fit the model's context. That is the model's limit, not a
 * fault of its server: the same request would fail again.
 */
export function exceedsContext({ status, body }: { status: number; body: unknown }): boolean {
  if (others.includes(status)) return false;
  return toldIn(body).some((text) => wordings.some((wording) => wording.test(text)));
}

/**
 * Returns the error texts in a body. Servers put them into `error`, as an object or a text, or next to it. Quoted parts
 * of the request are ignored.
 */
function toldIn(body: unknown): string[] {
  if (typeof body === "string") return [body.slice(0, longest)];
  const { error, message, code, type, detail } = Object(body);
  const { message: inner, code: innerCode, type: innerType, metadata } = Object(error);
  const told = [error, message, code, type, detail, inner, innerCode, innerType, Object(metadata).raw];
  return told.flatMap((one) => (typeof one === "string" ? [one.slice(0, longest)] : []));
}

/** Characters of a message to read. Some servers append the request. */
const longest = 2000;
