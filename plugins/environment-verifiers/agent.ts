import { defineAgent } from "everturn/plugin";
import { addressOf } from "./address.ts";
import { connect } from "./env-server.ts";
import { newEpisode, verdictName } from "./episode.ts";
import { rowOf } from "./tasks.ts";

/** Milliseconds in which a server must answer before an episode. A starting server takes half a minute. */
const startLimit = 60_000;

/**
 * Runs a task's episode on the server, which asks the policy through the trajectory's session. The answer is the newest
 * action. Throws if the episode failed.
 */
export default defineAgent(async ({ task, settings, model, baseURL, apiKey, recorded, signal }) => {
  const server = connect(await addressOf(settings, signal));
  try {
    await server.health(startLimit);
    const episode = newEpisode();
    const headers = { "X-API-Key": apiKey }; // the server fills Authorization with a key of its own
    const client = { type: "eval", base_url: baseURL, api_key_var: "EVERTURN_API_KEY", headers };
    const request = { task_data: rowOf(task), client, model, sampling: {} };
    const reply = await server.run(request, episode.add, signal);
    const verdict = episode.verdict(reply);
    await recorded(verdictName, async () => verdict)();
  } finally {
    server.close();
  }
});
