// Generated from schemas/preference.schema.json by scripts/generate-types.ts: change the schema instead.
import type { DemonstrationMessage } from "./demonstration.ts";

/**
 * A row of a preferences file: two answers to one prompt, in TRL's conversational format. The loss covers the tokens after the prompt. Other columns are ignored, except the tools of an agent (docs/agents.md).
 */
export interface Preference {
  /**
   * The conversation so far.
   *
   * @minItems 1
   */
  prompt: DemonstrationMessage[];
  /**
   * The preferred continuation: an assistant message, or several with tool messages between them.
   *
   * @minItems 1
   */
  chosen: DemonstrationMessage[];
  /**
   * The other continuation.
   *
   * @minItems 1
   */
  rejected: DemonstrationMessage[];
  [k: string]: unknown;
}
