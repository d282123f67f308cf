import type { TrackedEnding, TrackedEntry, TrackedRun, TrackerPlugin } from "everturn/plugin";
import { flatSettings } from "./flat-settings.ts";
import { type Mlflow, mlflowAt } from "./rest.ts";

interface Config {
  url: string;
  experiment?: string;
  token?: string;
  tables?: boolean;
}

const statuses: Record<TrackedEnding, string> = {
  completed: "FINISHED",
  interrupted: "KILLED",
  failed: "FAILED",
};

/**
 * Tracks each run as a run of an MLflow server (config: `url`, `experiment`, `token`, `tables`), with
 * parameters, metrics by step, and tables as artifacts.
 */
const mlflow: TrackerPlugin<Config> = {
  async open({ url, experiment, token, tables: withTables = true }, run, signal) {
    const server = mlflowAt(url, token === undefined ? undefined : process.env[token]);
    const experimentId = await experimentNamed(server, experiment ?? run.pipeline, signal);
    const { id, artifacts } = await runNamed(server, experimentId, run, signal);
    const update = (body: object, own: AbortSignal) =>
      server.post("runs/update", { run_id: id, ...body }, own);
    await update({ status: "RUNNING" }, signal);
    const newest = new Map<string, string>(); // paths of tables
    const logTables = async ({ number, step, tables = {} }: TrackedEntry, own: AbortSignal) => {
      if (artifacts === undefined || Object.keys(tables).length === 0) return;
      for (const [name, { columns, rows }] of Object.entries(tables)) {
        const path = `${name}/step-${padded(step)}-entry-${padded(number)}.json`;
        await server.put(`${artifacts}/${path}`, { columns, data: rows }, own);
        newest.set(name, path);
      }
      await server.post(
        "runs/set-tag",
        { run_id: id, key: tablesTag, value: tagOf([...newest.values()]) },
        own,
      );
    };
    return {
      async log(entry, own) {
        const { step, at, values } = entry;
        const metrics = Object.entries(values).map(([name, value]) => {
          const key = name.replace(/[^\w\-. :/]/g, "_").slice(0, 250); // the characters and the length that MLflow accepts
          return { key, value, step, timestamp: at };
        });
        if (withTables) await logTables(entry, own); // first: a second attempt would repeat the metrics
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

/** The tag that names the artifacts which MLflow shows as tables. Its length is limited, so it names only the newest. */
const tablesTag = "mlflow.loggedArtifacts";

/** Its value, with the spaces that Python writes, because `mlflow.load_table` searches for that text. */
function tagOf(paths: readonly string[]): string {
  return `[${paths.map((path) => `{"path": ${JSON.stringify(path)}, "type": "table"}`).join(", ")}]`;
}

const padded = (value: number) => String(value).padStart(4, "0");

/** A run at the server. */
interface MlflowRun {
  id: string;
  /** The path of its artifacts; undefined if the server does not take any, because clients write them elsewhere. */
  artifacts: string | undefined;
}

function runOf({ run_id: id, artifact_uri: place }: Record<string, unknown>): MlflowRun {
  const artifacts = /^mlflow-artifacts:\/(?:\/[^/]*\/)?(.+)$/.exec(String(place))?.[1];
  return { id: String(id), artifacts };
}

/** Returns the MLflow run that already tracks this run, or else a new one with its settings as parameters. */
async function runNamed(
  server: Mlflow,
  experimentId: string,
  run: TrackedRun,
  signal: AbortSignal,
): Promise<MlflowRun> {
  const filter = `tags.\`everturn.run\` = '${run.run}'`;
  const asked = { experiment_ids: [experimentId], filter, max_results: 1 };
  const { runs } = await server.post("runs/search", asked, signal);
  const [known] = Array.isArray(runs) ? runs : [];
  if (known !== undefined) return runOf(known.info);
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
  const created = runOf(Object(Object(made.run).info));
  const params = flatSettings(run.settings);
  for (let from = 0; from < params.length; from += 100)
    await server.post(
      "runs/log-batch",
      { run_id: created.id, params: params.slice(from, from + 100) },
      signal,
    );
  return created;
}
