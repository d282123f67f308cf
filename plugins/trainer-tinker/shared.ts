// For plugins that use what this trainer publishes, such as `policy-tinker`.

export {
  adapterParams,
  connect,
  releaseModels,
  type ServerAddress,
  type ServerConnection,
  urlProblems,
} from "./connection.ts";
export { type AdapterSettings, readPointer, type WeightsPointer, writePointer } from "./policy-files.ts";
export { profiles, type ServerName } from "./profiles.ts";
export { usualAddress } from "./settings.ts";
