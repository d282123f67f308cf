/** A problem with a key of a plugin's configuration. */
export interface ConfigurationProblem {
  /** The key of the configuration. */
  key: string;
  /** The text after the key, such as "is 3, but …", without a period. */
  reason: string;
  /** What to do. */
  help: string;
}
