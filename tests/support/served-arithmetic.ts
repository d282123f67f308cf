import { profiles } from "../../plugins/trainer-tinker/profiles.ts";
import {
  ArithmeticModel,
  arithmeticSamples,
  type WeightsByHistory,
} from "./tinker-server/arithmetic-model.ts";
import { type Numbering, TinkerServer, type TinkerServerOptions } from "./tinker-server.ts";

/** The servers whose rules the small server follows. */
export type ServedName = "skyrl-jax" | "tuft" | "hatchery";

const numberings: Record<ServedName, Numbering> = { "skyrl-jax": "skyrl", tuft: "tuft", hatchery: "none" };

/**
 * Starts a server with the tiny model's arithmetic, which trains and samples as a profile says. `states` are the weights
 * of its models and checkpoints.
 */
export async function serveArithmetic(
  name: ServedName,
  vocabulary: number,
  options: Partial<TinkerServerOptions> = {},
): Promise<{ server: TinkerServer; states: WeightsByHistory }> {
  const states: WeightsByHistory = new Map();
  const server = new TinkerServer({
    numbering: numberings[name],
    newModel: (...given) => new ArithmeticModel(profiles[name], { vocabulary, states }, ...given),
    sample: arithmeticSamples(vocabulary, states),
    ...options,
  });
  await server.start();
  return { server, states };
}
