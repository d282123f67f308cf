import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Plan } from "../../contracts/plan.ts";

/** That a plan's trainer has not what its examples need. */
export function trainerLacks({ trainer: { name } }: Plan, method: string): EverturnError {
  return new EverturnError("TRAINER_LACKS", { name, method });
}
