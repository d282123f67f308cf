import { createHash } from "node:crypto";
import type { EnvironmentPlugin, JsonObject, Task, ToolResponse } from "everturn/plugin";
import { connect, type Episode, FrameError, type Observed } from "./episode.ts";
import { actionOf, functionsOf, resetName } from "./functions.ts";
import { observationText } from "./observation-text.ts";
import { closeEpisodeSession, openEpisodeSession, request } from "./server.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { resetOf, tasksOf } from "./tasks.ts";

/** The history of an episode, from which it can be restored. */
interface History {
  session: string | undefined;
  /** The digest of the first observation, once the episode has begun. */
  begun: string | undefined;
  calls: { name: string; arguments: JsonObject; digest: string; reward: number | null }[];
  done: boolean;
}

/** The episode of a trajectory. */
interface Instance {
  settings: Settings;
  /** The name that the environment knows the episode by. */
  id: string;
  task: Task;
  episode: Episode;
  history: History;
}

/** Episodes of an OpenEnv server. */
const openenv: EnvironmentPlugin<Instance> = {
  load: async (config) => tasksOf(await settingsOf(config)),
  functions: async (config) => functionsOf((await settingsOf(config)).url),

  async create({ instance, task, config, signal, hold }) {
    const settings = await settingsOf(config, signal);
    const session = await openEpisodeSession(settings.url, signal);
    if (session !== undefined) hold(session);
    const episode = await connect(settings.url, session, signal);
    return {
      settings,
      id: instance,
      task,
      episode,
      history: { session, begun: undefined, calls: [], done: false },
    };
  },

  async execute(given, { function: name, signal }, instance) {
    const first = await begin(instance, signal);
    if (name === resetName) return { text: first };
    const { history, settings } = instance;
    if (history.done) return { text: "The episode is over.", done: true };
    try {
      return await act(instance, name, given, signal);
    } catch (error) {
      if (error instanceof FrameError || signal.aborted) throw error;
      const episode = await reattached(settings.url, history, signal); // the connection ended
      if (episode === undefined) throw error;
      instance.episode = episode;
      return act(instance, name, given, signal);
    }
  },

  async release({ settings, episode, history: { session } }) {
    episode.close();
    if (session !== undefined) await closeEpisodeSession(settings.url, session);
  },

  async reap(session, config) {
    await closeEpisodeSession((await settingsOf(config)).url, String(session));
  },

  snapshot: ({ history }) => Buffer.from(JSON.stringify(history)),

  async restore(snapshot, creation) {
    const { instance: id, task, config, signal, hold } = creation;
    const settings = await settingsOf(config, signal);
    const history: History = JSON.parse(Buffer.from(snapshot).toString());
    const episode = await reattached(settings.url, history, signal);
    if (episode !== undefined) {
      if (history.session !== undefined) hold(history.session);
      return { settings, id, task, episode, history };
    }
    const fresh = await openenv.create?.(creation);
    if (fresh === undefined) throw new Error("there is no episode");
    try {
      await repeat(fresh, history, signal);
      return fresh;
    } catch (error) {
      await openenv.release?.(fresh);
      throw error;
    }
  },

  async probe(config) {
    await request((await settingsOf(config)).url, "/health");
  },

  score({ config, snapshots = {} }) {
    const history: Partial<History> = JSON.parse(Buffer.from(snapshots.openenv ?? "{}").toString());
    const { calls = [], done = false } = history;
    if (done && calls.at(-1)?.reward === null)
      return { missing: "the environment ended the episode without a reward that is a number" };
    const total = calls.reduce((sum, { reward }) => sum + (reward ?? 0), 0);
    // The steps' rewards were added as those of their calls.
    return { reward: 0, success: total >= Number(config.success), metrics: { return: total } };
  },
};

export default openenv;

/** Starts the episode unless it has begun. Returns its first observation, or "" if it began earlier. */
async function begin(
  { settings, id, task, episode, history }: Instance,
  signal: AbortSignal,
): Promise<string> {
  if (history.begun !== undefined) return "";
  const first = await episode.reset({ ...resetOf(task), episode_id: id }, signal);
  const text = observationText(first.observation, settings.text);
  history.begun = digestOf(text, first);
  return text;
}

async function act(
  { settings, episode, history }: Instance,
  name: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<ToolResponse> {
  const keep = (text: string, answer: Observed) => {
    history.calls.push({ name, arguments: given, digest: digestOf(text, answer), reward: answer.reward });
    history.done = answer.done;
  };
  try {
    const answer = await episode.step(actionOf(name, given), signal);
    const text = observationText(answer.observation, settings.text);
    keep(text, answer);
    return { text, done: answer.done, reward: answer.reward ?? 0 };
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    const text = `error: ${error.message}`;
    if (error.code === "VALIDATION_ERROR") return { invalid: text };
    if (error.code !== "EXECUTION_ERROR" || settings.exceptions === "failure") throw error;
    keep(text, { observation: {}, reward: null, done: false });
    return { text, error: true };
  }
}

/** What must be equal when a call is repeated: the text that the policy reads, the reward, and the end. */
function digestOf(text: string, { reward, done }: Observed): string {
  return createHash("sha256")
    .update(JSON.stringify([text, reward, done]))
    .digest("hex");
}

/**
 * The episode of a session. Undefined unless the server still has it in the state that the history describes: a step whose
 * answer was lost may have counted.
 */
async function reattached(url: string, history: History, signal: AbortSignal): Promise<Episode | undefined> {
  const { session, begun, calls } = history;
  if (session === undefined || begun === undefined) return undefined;
  let episode: Episode;
  try {
    episode = await connect(url, session, signal);
  } catch (error) {
    if (error instanceof FrameError) return undefined; // the server does not know the session
    throw error;
  }
  const { step_count: steps } = await episode.state(signal);
  if (steps === calls.length) return episode;
  episode.close();
  return undefined;
}

/** Repeats the calls of a history in a fresh episode. Throws at the first answer that differs. */
async function repeat(fresh: Instance, { begun, calls }: History, signal: AbortSignal): Promise<void> {
  if (begun === undefined) return;
  await begin(fresh, signal);
  if (fresh.history.begun !== begun)
    throw new Error("the environment began a repeated episode with another observation");
  for (const [index, call] of calls.entries()) {
    await act(fresh, call.name, call.arguments, signal);
    if (fresh.history.calls[index]?.digest !== call.digest)
      throw new Error(`the environment answered call ${index + 1} of a repeated episode otherwise`);
  }
}
