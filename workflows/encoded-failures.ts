import { DefaultFailureConverter } from "@temporalio/common";

/**
 * Puts failures' messages and stack traces into payloads, so that a codec encrypts them. Temporal loads it by this
 * name, in workflows and outside.
 */
export const failureConverter: DefaultFailureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: true,
});
