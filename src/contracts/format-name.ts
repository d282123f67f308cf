import type { Pipeline } from "./generated/pipeline.ts";

/** The name of an action format (docs/formats.md). */
export type FormatName = NonNullable<NonNullable<Pipeline["rollout"]>["format"]>;

/** An action format that is a regular expression. */
export type FormatExpression = NonNullable<NonNullable<Pipeline["rollout"]>["expression"]>;
