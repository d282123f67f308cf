import type { ObservationLimit } from "../../../contracts/plan.ts";

/** The default limit on observations, where no pipeline sets one. */
export const plainObservations: ObservationLimit = { cut: "end" };
