// npm run check:names: names of files and declarations use the words of the vocabulary in docs/architecture.md.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

interface Rule {
  /** The files whose names and declarations it covers. */
  files: RegExp;
  /** Which names it forbids. */
  forbidden: RegExp;
  instead: string;
  /** Public exports, which keep their names. */
  public?: readonly string[];
}

const rules: readonly Rule[] = [
  {
    files: /^src\/engine\//,
    forbidden: /^runs$|^Runs?[A-Z]|[a-z]Runs$|^[A-Z]\w*Run$|\bruns?(-\w+)*\.ts$/,
    instead: "pass: a computation of a model (a run executes a plan)",
  },
  {
    files: /^src\/engine\/inference-servers\//,
    forbidden: /engine/i,
    instead: "inference server",
    public: ["EngineAction", "EngineAnswer", "EngineProtocol", "enginePolicy"],
  },
  {
    files: /^(src|plugins)\/(?!contracts\/session\.ts$)/,
    forbidden: /^(Session|(create|open|with)Session|session\.ts)$/,
    instead: "a qualified name: SandboxSession, ModelSession, TrackerSession (a session alone is an agent's)",
  },
];

const root = join(import.meta.dirname, "..");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
  cwd: root,
})
  .toString()
  .split("\n");
const declaration = /^\s*(?:export )?(?:async )?(?:interface|type|class|function|const) (\w+)/gm;

for (const rule of rules) {
  for (const file of files.filter((one) => rule.files.test(one))) {
    const text = readFileSync(join(root, file), "utf8");
    const declared = [...text.matchAll(declaration)].map(([, name = ""]) => name);
    for (const name of [basename(file), ...declared]) {
      if (!rule.forbidden.test(name) || rule.public?.includes(name)) continue;
      console.error(`${file}: ${name} is not in the vocabulary. Write ${rule.instead}.`);
      process.exitCode = 1;
    }
  }
}
