import type { SourceDocument } from "../../../base/validation/source-document.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import type { Preflight, RunData } from "./preflight.ts";

/** A resolved plan with its rows, as its checks see it. */
export interface LoadedPlan {
  /** The pipeline, in which problems have their places. */
  document: SourceDocument;
  plan: Plan;
  data: RunData;
  /** Undefined if the policy can't frame text before it is built. */
  framing: PolicyFraming | undefined;
  preflight: Preflight;
}
