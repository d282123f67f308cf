import type { ErrorCode } from "../../src/base/errors/table.ts";
import type { StopCondition } from "../../src/contracts/generated/pipeline.ts";
import type { JsonValue } from "../../src/contracts/json.ts";

/** A run that is made for the suite. */
export interface Case {
  name: string;
  /** Its pipeline, without the extension. Default: calculator. */
  pipeline?: string;
  /** Changes to the pipeline, by path. They come after those of the suite. */
  set: Record<string, JsonValue>;
  /** Starts from the model's random weights. Default: from the policy that the suite has warmed up. */
  untrained?: boolean;
}

/** A run with a cause of not learning. */
export interface PreparedCase extends Case {
  expected: Expected;
}

/** How the command must name the cause. */
export interface Expected {
  /** The command refuses the pipeline, or ends the run, with this code. */
  code?: ErrorCode;
  /** A text of the error's message. */
  message?: string;
  /** The condition that it reports within three steps. */
  condition?: StopCondition;
  /** Conditions that follow from it. Others are false. */
  companions?: readonly StopCondition[];
}
