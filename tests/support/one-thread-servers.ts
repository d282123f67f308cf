/**
 * A test's Temporal server has little to do, and on one thread does it with an eighth less of the processor: several look for work
 * by spinning. Every run's server has the environment of its command.
 */
export default function giveServersOneThread(): void {
  process.env.GOMAXPROCS ??= "1";
}
