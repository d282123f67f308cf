// npm run check:files: what lasts of a run is in its store. Who touches files himself is on this page, with what they are.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** Folders whose files are no run's, or a machine's. */
const folders: Record<string, string> = {
  "src/store": "the store",
  "src/files": "what the store's backends are made of",
  "src/processes": "processes of a machine, and their logs",
  "src/supervision": "a machine's session, its logs, its server",
  "src/temporal": "the server's database, bundled workflow code",
  "src/fetch": "the user's cache",
  "src/databases": "databases that a person has",
  "src/devices": "libraries of a machine",
  "src/onnx": "models of a folder, profiles",
  "src/models": "models of a folder",
  "src/embedding": "models of a folder, files of vectors",
  "src/tokens": "a tokenizer's folder",
  "src/sampling": "its own library",
  "src/engines": "models of a folder",
  "src/validation": "files that a person wrote",
  "src/pipeline": "files that a person wrote",
  "src/plugins": "plugins' folders",
  "src/definitions": "plugins in one file",
  "src/conformance": "plugins that are checked",
  "src/sandbox": "a machine's control groups, the sandboxes' own text, the user's cache",
  "src/templates": "files of a person's new project",
};

/** Files that are no run's, or a machine's, elsewhere. */
const others: Record<string, string> = {
  "activities/initialize-policy.ts": "the folder in which a tree is written",
  "src/roles/trainer-worker.ts": "the folder in which a tree is written",
  "src/runs/sweep.ts": "what writers of a machine left",
  "src/cli/worker.ts": "the mark of the run's folder",
  "src/cli/fork-plan.ts": "a model's folder that a person names",
  "src/tools/leases.ts": "who holds what on a machine",
  "src/agents/agent-main.ts": "the answer of an agent, to its worker",
  "src/tools/host-records.ts": "which plugin hosts run on a machine",
  "src/tools/machine-record.ts": "records that are a machine's alone",
  "src/tools/worker-number.ts": "which workers a machine had",
  "src/roles/free-left-instances.ts": "who holds what on a machine",
  "src/roles/tool-worker.ts": "hosts.jsonl: pauses of hosts as a machine saw them, for people",
  "src/runs/run-file.ts": "which folders are runs",
  "src/runs/create-run.ts": "makes a run's folder",
  "src/runs/metrics-view.ts": "metrics.jsonl, for people",
  "src/ledger/facts.ts": "metrics.jsonl, for people",
  "src/report/write-report.ts": "report.html, for people",
  "src/learning/failed-batch.ts": "a batch that failed, for people",
  "src/images/image-source.ts": "images that a person's rows name",
  "src/tasks/task-file.ts": "a file that a person wrote",
  "src/benchmarks/benchmark-tasks.ts": "files of benchmarks that a person names",
  "src/trajectory/find-trajectory.ts": "which folders are runs",
  "src/cli/live-trajectory.ts": "which folders are runs",
  "src/ui/pages/runs-page.ts": "which folders are runs",
  "src/ui/routes.ts": "the script that pages load",
  "src/runs/held-run.ts": "which run a folder holds",
  "src/runs/home.ts": "where a run's folder was when a command last worked on it",
  "src/runs/run-reference.ts": "which folders are runs",
  "src/library/follow.ts": "hosts.jsonl",
  "src/library/probe-pipeline.ts": "the folder of a run that goes away again",
  "src/cli/plugin/new.ts": "the package of a plugin",
  "src/cli/plugin/sources.ts": "only in the text of such a package",
  "src/cli/study/do-job.ts": "targets of exports, and files that programs made",
  "src/cli/study/job-plans.ts": "files that programs made",
  "src/cli/harness-files.ts": "the folder that results are written into",
  "src/cli/template.ts": "a model's folder or a template that a person names",
  "src/cli/trajectory-bytes.ts": "the folder that images are written into",
  "src/cli/used-target.ts": "the folder that a model is exported to",
};

/** Modules that touch files; the rest of `src/files/` waits, names and explains. */
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
    .map((path) => `${path} touches files: what lasts of a run goes into its store (src/store/store.ts)`),
  ...Object.keys(others)
    .filter((path) => !known.has(path))
    .map((path) => `${path} touches no files any more: take it off the list in scripts/check-files.ts`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
