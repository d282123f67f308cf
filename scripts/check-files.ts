// npm run check:files: what lasts of a run is in its store. Who touches files himself is on this page, with what they are.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** Folders whose files are no run's, or a machine's. */
const folders: Record<string, string> = {
  "src/run/store": "the store",
  "src/base/files": "the store's backends, and the user's cache",
  "src/base/processes": "processes of a machine, and their logs",
  "src/control/supervision": "a machine's session, its logs, its server",
  "src/control/temporal": "the server's database, bundled workflow code",
  "src/base/databases": "databases that a person has",
  "src/engine/devices": "libraries of a machine",
  "src/engine/onnx": "models of a folder, profiles",
  "src/engine/models": "models of a folder",
  "src/engine/embedding": "models of a folder, files of vectors",
  "src/engine/tokens": "a tokenizer's folder",
  "src/engine/sampling": "its own library",
  "src/engine/inference-servers": "models of a folder",
  "src/base/validation": "files that a person wrote",
  "src/plan/pipeline": "files that a person wrote",
  "src/plugin/registry": "plugins' folders",
  "src/plugin/define": "plugins in one file",
  "src/control/conformance": "plugins that are checked",
  "src/work/sandbox": "a machine's control groups, the sandboxes' own text, the user's cache",
  "src/apps/init": "files of a person's new project",
};

/** Files that are no run's, or a machine's, elsewhere. */
const others: Record<string, string> = {
  "activities/initialize-policy.ts": "the folder in which a tree is written",
  "src/work/workers/trainer-worker.ts": "the folder in which a tree is written",
  "src/run/folder/sweep.ts": "what writers of a machine left",
  "src/apps/cli/commands/worker.ts": "the mark of the run's folder",
  "src/apps/cli/commands/fork-plan.ts": "a model's folder that a person names",
  "src/work/tools/leases.ts": "who holds what on a machine",
  "src/work/agents/agent-main.ts": "the answer of an agent, to its worker",
  "src/work/tools/host-records.ts": "which plugin hosts run on a machine",
  "src/work/tools/machine-record.ts": "records that are a machine's alone",
  "src/work/tools/worker-number.ts": "which workers a machine had",
  "src/work/workers/free-left-instances.ts": "who holds what on a machine",
  "src/work/workers/tool-worker.ts": "hosts.jsonl: pauses of hosts as a machine saw them, for people",
  "src/run/folder/run-file.ts": "which folders are runs",
  "src/run/folder/create-run-folder.ts": "makes a run's folder",
  "src/run/folder/metrics-view.ts": "metrics.jsonl, for people",
  "src/results/ledger/facts.ts": "metrics.jsonl, for people",
  "src/results/report/write-report.ts": "report.html, for people",
  "src/engine/learning/failed-batch.ts": "a batch that failed, for people",
  "src/chat/images/image-source.ts": "images that a person's rows name",
  "src/plan/tasks/task-file.ts": "a file that a person wrote",
  "src/apps/cli/benchmarks/benchmark-tasks.ts": "files of benchmarks that a person names",
  "src/run/trajectory/find-trajectory.ts": "which folders are runs",
  "src/apps/cli/commands/live-trajectory.ts": "which folders are runs",
  "src/apps/ui/pages/runs-page.ts": "which folders are runs",
  "src/apps/ui/routes.ts": "the script that pages load",
  "src/run/folder/held-run.ts": "which run a folder holds",
  "src/run/folder/home.ts": "where a run's folder was when a command last worked on it",
  "src/run/folder/run-reference.ts": "which folders are runs",
  "src/control/operations/follow.ts": "hosts.jsonl",
  "src/control/operations/probe-pipeline.ts": "the folder of a run that goes away again",
  "src/apps/cli/commands/plugin/new.ts": "the package of a plugin",
  "src/apps/cli/commands/study/do-job.ts": "targets of exports, and files that programs made",
  "src/apps/cli/commands/study/job-plans.ts": "files that programs made",
  "src/apps/cli/commands/harness-files.ts": "the folder that results are written into",
  "src/apps/cli/commands/template.ts": "a model's folder or a template that a person names",
  "src/apps/cli/commands/trajectory-bytes.ts": "the folder that images are written into",
  "src/apps/cli/commands/used-target.ts": "the folder that a model is exported to",
};

/** Modules that touch files; the rest of `src/base/files/` waits, names and explains. */
const touching =
  /from "(node:fs(\/promises)?|[./\w-]*\/files\/(flush|folder-once|is-there|line-file|link-once|make-folder|marked-folder|names-in|remove-file|whole-files)\.ts)"/;

const modules = globSync("{src,activities,workflows}/**/*.ts", { cwd: root }).filter((path) =>
  touching.test(readFileSync(join(root, path), "utf8")),
);
const isKnown = (path: string) =>
  path in others || Object.keys(folders).some((folder) => path.startsWith(`${folder}/`));
const known = new Set(modules);
const problems = [
  ...modules
    .filter((path) => !isKnown(path))
    .map((path) => `${path} touches files: what lasts of a run goes into its store (src/run/store/store.ts)`),
  ...Object.keys(others)
    .filter((path) => !known.has(path))
    .map((path) => `${path} touches no files any more: take it off the list in scripts/check-files.ts`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
