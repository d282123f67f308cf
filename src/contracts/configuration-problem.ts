/** A part of a plugin's configuration that doesn't go with the rest of the pipeline. */
export interface ConfigurationProblem {
  /** The key of the configuration. */
  key: string;
  /** Follows the key, such as "is 3, but …", without a full stop. */
  reason: string;
  /** What to do. */
  help: string;
}
