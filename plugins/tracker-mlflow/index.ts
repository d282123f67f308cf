import type { TrackedEnding, TrackedRun, TrackerPlugin } from "everturn/plugin";
import { flatSettings } from "./flat-settings.ts";
import { type Mlflow, mlflowAt } from "./rest.ts";

interface Config {
  url: string;
  experiment?: string;
  token?: string;
}

const statuses: Record<TrackedEnding, string> = {
  completed: "FINISHED",
  interrupted: "KILLED",
  failed: "FAILED",
};

/**
 * Tracks each run as a run of an MLflow server (config: `url`, `experiment`, `token`), with parameters, and
 * metrics by step.
 */
const mlflow: TrackerPlugin<Config> = {
  async open({ url, experiment, token }, run, signal) {
    const server = mlflowAt(url, token === undefined ? undefined : process.env[token]);
    const experimentId = await experimentNamed(server, experiment ?? run.pipeline, signal);
    const id = await runNamed(server, experimentId, run, signal);
    const update = (body: object, own: AbortSignal) =>
      server.post("runs/update", { run_id: id, ...body }, own);
    await update({ status: "RUNNING" }, signal);
    return {
      async log({ step, at, values }, own) {
        const metrics = Object.entries(values).map(([name, value]) => {
          const key = name.replace(/[^\w\-. :/]/g, "_").slice(0, 250); // the characters and the length that MLflow accepts
          return { key, value, step, timestamp: at };
        });
        await server.post("runs/log-batch", { run_id: id, metrics }, own);
      },
      async close(ending, own) {
        await update({ status: statuses[ending], end_time: Date.now() }, own);
      },
    };
  },
};

export default mlflow;

async function experimentNamed(server: Mlflow, name: string, signal: AbortSignal): Promise<string> {
  const query = `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`;
  const found = await server.find(query, signal);
  if (found !== undefined) return String(Object(found.experiment).experiment_id);
  return String((await server.post("experiments/create", { name }, signal)).experiment_id);
}

/** Returns the MLflow run that already tracks this run, or else a new one with its settings as parameters. */
async function runNamed(
  server: Mlflow,
  experimentId: string,
  run: TrackedRun,
  signal: AbortSignal,
): Promise<string> {
  const filter = `tags.\`everturn.run\` = '${run.run}'`;
  const asked = { experiment_ids: [experimentId], filter, max_results: 1 };
  const { runs } = await server.post("runs/search", asked, signal);
  const [known] = Array.isArray(runs) ? runs : [];
  if (known !== undefined) return String(known.info.run_id);
  const made = await server.post(
    "runs/create",
    {
      experiment_id: experimentId,
      run_name: run.run,
      start_time: Date.parse(run.createdAt),
      tags: [
        { key: "everturn.run", value: run.run },
        { key: "everturn.pipeline", value: run.pipeline },
      ],
    },
    signal,
  );
  const id = String(Object(Object(made.run).info).run_id);
  const params = flatSettings(run.settings);
  for (let from = 0; from < params.length; from += 100)
    await server.post("runs/log-batch", { run_id: id, params: params.slice(from, from + 100) }, signal);
  return id;
}
