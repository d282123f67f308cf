import pipelineSchema from "../../schemas/pipeline.schema.json" with { type: "json" };
import type { ObservationLimit } from "../contracts/plan.ts";

const { characters } = pipelineSchema.definitions.Observations.properties;

/** How much of an observation is read where no pipeline says it: the schema's defaults. */
export const plainObservations: ObservationLimit = { characters: characters.default, cut: "end" };
