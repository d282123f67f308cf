import { type Attributes, trace } from "@opentelemetry/api";

/** A turn's generation, as OpenTelemetry's conventions for generative AI call it. */
export interface ToldGeneration {
  /** The trajectory. */
  conversation: string;
  /** The policy's plugin, and its version. */
  model: string;
  version: number;
  /** Tokens before the action, and of the action. */
  input: number;
  output: number;
  finishReason: string;
  temperature: number;
}

/** Says of the span that is active what was generated in it. Source: OpenTelemetry's semantic conventions for generative AI, spans of inference. */
export function describeGeneration(told: ToldGeneration): void {
  describe({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "everturn",
    "gen_ai.conversation.id": told.conversation,
    "gen_ai.request.model": told.model,
    "gen_ai.response.model": `${told.model}@${told.version}`,
    "gen_ai.request.temperature": told.temperature,
    "gen_ai.usage.input_tokens": told.input,
    "gen_ai.usage.output_tokens": told.output,
    "gen_ai.response.finish_reasons": [told.finishReason],
  });
}

/** Says of the span that is active which call of a tool was made in it. Source: the same conventions, spans of tools. */
export function describeToolCall(told: {
  conversation: string;
  tool: string;
  call: string;
  isValid: boolean;
}): void {
  describe({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.conversation.id": told.conversation,
    "gen_ai.tool.name": told.tool,
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": told.call,
    "everturn.tool.call.valid": told.isValid,
  });
}

/** Nothing without telemetry: no span is active then. */
function describe(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}
