// Generated from schemas/preference.schema.json by scripts/generate-types.ts: change the schema instead.
import type { DemonstrationMessage } from "./demonstration.ts";

/**
 * A row of a preferences file: two answers to one prompt, in TRL's conversational form. Loss is on what follows the prompt. Further columns are not read.
 */
export interface Preference {
  /**
   * The conversation so far.
   *
   * @minItems 1
   */
  prompt: DemonstrationMessage[];
  /**
   * How it goes on in the answer that is preferred: an assistant's message, or several with what tools answered between them.
   *
   * @minItems 1
   */
  chosen: DemonstrationMessage[];
  /**
   * How it goes on in the other answer.
   *
   * @minItems 1
   */
  rejected: DemonstrationMessage[];
  [k: string]: unknown;
}
