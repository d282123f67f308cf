import { type Attributes, trace } from "@opentelemetry/api";

/** A turn's generation, in the terms of OpenTelemetry's conventions for generative AI. */
export interface ToldGeneration {
  /** The trajectory's id. */
  conversation: string;
  /** The policy's plugin and version. */
  model: string;
  version: number;
  /** Tokens before the action, and tokens of the action. */
  input: number;
  output: number;
  finishReason: string;
  temperature: number;
}

/**
 * Adds attributes about a generation to the active span. Source: OpenTelemetry's semantic conventions for generative
 * AI, inference spans.
 */
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

/** Adds attributes about a tool call to the active span. Source: the same conventions, tool spans. */
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

/** Does nothing without telemetry, because no span is active then. */
function describe(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}
