import { expect, test } from "vitest";
import { exceedsContext } from "../../../../src/engine/inference-servers/context-limit.ts";

const inError = (message: string, more: object = {}) => ({ error: { message, ...more } });
const beside = (message: string) => ({
  object: "error",
  message,
  type: "BadRequestError",
  param: null,
  code: 400,
});

/** What servers answer where the conversation has no room left in the model's context. */
const told: [server: string, status: number, body: unknown][] = [
  ["OpenAI", 400, inError("Too long.", { code: "context_length_exceeded" })],
  [
    "OpenAI",
    400,
    inError(
      "This model's maximum context length is 4097 tokens. However, your messages resulted in 6164 tokens. Please reduce the length of the messages.",
    ),
  ],
  [
    "OpenAI's responses",
    400,
    inError("Your input exceeds the context window of this model. Please adjust your input and try again."),
  ],
  [
    "OpenAI since GPT-5",
    400,
    inError(
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.",
    ),
  ],
  [
    "vLLM",
    400,
    inError(
      "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.",
      { type: "BadRequestError", code: 400 },
    ),
  ],
  [
    "vLLM 0.6",
    400,
    beside(
      "This model's maximum context length is 4096 tokens. However, you requested 5050 tokens (5000 in the messages, 50 in the completion). Please reduce the length of the messages or completion.",
    ),
  ],
  [
    "vLLM 0.8",
    400,
    beside(
      "The decoder prompt (length 8357) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    ),
  ],
  [
    "vLLM 0.8 with images",
    400,
    beside(
      "The prompt (total length 6287) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
    ),
  ],
  ["vLLM 0.8, no room", 400, beside("max_tokens must be at least 1, got -12.")],
  [
    "vLLM, little room",
    400,
    beside(
      "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 100 tokens and your request has 60 input tokens (50 > 100 - 60).",
    ),
  ],
  ["SGLang", 400, beside("The input (5000 tokens) is longer than the model's context length (4096 tokens).")],
  [
    "SGLang",
    400,
    beside(
      "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5050 tokens: 5000 tokens from the input messages and 50 tokens for the completion.",
    ),
  ],
  [
    "SGLang",
    400,
    beside(
      "Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.",
    ),
  ],
  [
    "llama.cpp",
    400,
    inError("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", {
      code: 400,
      type: "exceed_context_size_error",
      n_prompt_tokens: 5000,
      n_ctx: 4096,
    }),
  ],
  ["llama.cpp, older", 500, inError("Context size has been exceeded.", { code: 500, type: "server_error" })],
  [
    "TGI",
    422,
    {
      error: "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
      error_type: "validation",
    },
  ],
  [
    "TGI",
    422,
    {
      error:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` tokens and 50 `max_new_tokens`",
      error_type: "validation",
    },
  ],
  ["Ollama", 400, { error: "prompt too long; exceeded max context length by 17 tokens" }],
  ["Ollama", 500, inError("the input length exceeds the context length")],
  [
    "LiteLLM",
    400,
    inError("litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicException - too many", {
      code: "400",
    }),
  ],
  ["LiteLLM", 400, { detail: "ContextWindowExceededError: no room" }],
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    },
  ],
  [
    "Anthropic",
    400,
    inError(
      "input length and `max_tokens` exceed context limit: 195000 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    ),
  ],
  [
    "Gemini",
    400,
    inError("The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."),
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message:
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    },
  ],
  [
    "xAI",
    400,
    {
      code: "invalid-argument",
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    },
  ],
  ["Groq", 400, inError("Please reduce the length of the messages or completion.")],
  [
    "Together",
    422,
    inError("The input (516368 tokens) is longer than the model's context length (262144 tokens)."),
  ],
  ["Fireworks", 400, inError("The prompt is too long: 140000, model maximum context length: 131071")],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  ["Qwen", 400, inError("Range of input length should be [1, 129024]")],
  [
    "Cohere",
    400,
    { message: "too many tokens: total number of tokens in the prompt cannot exceed 8192 - received 9000." },
  ],
  [
    "LM Studio",
    400,
    {
      error:
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    },
  ],
  [
    "OpenRouter",
    200,
    {
      error: {
        code: 400,
        message: "Provider returned error",
        metadata: {
          raw: '{"error":{"code":"context_length_exceeded","message":"too many: exceeds the context window"}}',
        },
      },
    },
  ],
  ["a proxy", 413, "the prompt exceeds the context window"],
];

test.for(told)("%s, status %i: the model's limit", ([, status, body]) => {
  expect(exceedsContext({ status, body })).toBe(true);
});

const otherwise: [what: string, status: number, body: unknown][] = [
  [
    "a rate",
    429,
    inError("Rate limit reached for tokens per min. Please reduce the length of the messages."),
  ],
  ["a key", 401, inError("The API key has no access to the context window of 1M; it is too large")],
  ["a model", 404, inError("no model with this context length")],
  [
    "a length of the answer",
    400,
    inError("max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
  ],
  ["an option", 400, inError("context window must be a multiple of 256")],
  ["a limit of 0 tokens", 400, inError("max_tokens must be at least 1, got 1.5")],
  ["a server", 500, inError("CUDA out of memory")],
  ["the request", 422, { detail: [{ msg: "Field required", input: "this exceeds the context window" }] }],
  [
    "an answer",
    200,
    { choices: [{ message: { role: "assistant", content: "it exceeds the context window" } }] },
  ],
  ["nothing", 400, null],
];

test.for(otherwise)("%s, status %i: no limit of the model's", ([, status, body]) => {
  expect(exceedsContext({ status, body })).toBe(false);
});
