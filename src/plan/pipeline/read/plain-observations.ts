import type { ObservationLimit } from "../../../contracts/plan.ts";

/** How much of an observation is read where no pipeline says it. */
export const plainObservations: ObservationLimit = { cut: "end" };
