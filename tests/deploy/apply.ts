// npm run apply-chart: applies the Helm chart to a Kubernetes control plane. It starts kube-apiserver, which Go builds from its published
// source the first time (about ten minutes of CPU), on Debian's etcd, adds KEDA's definitions, applies the chart of a run and of a pool
// twice, and lists the created resources. No kubelet runs, so there are no pods. Requires Linux x64, Go and Debian's packages etcd-server and openssl.
import { execFile, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { endChild } from "../support/end-child.ts";
import { everything, pool } from "./chart-values.ts";
import { helm, kubectl } from "./tools.ts";

const run = promisify(execFile);
const kubernetes = "1.34.1";
const keda = "github.com/kedacore/keda/v2@v2.17.2";
const chart = join(import.meta.dirname, "..", "..", "deploy", "helm");
const note = (text: string) => void process.stdout.write(`${text}\n`);

/** The folder of a module's source, which Go downloads. */
async function moduleFolder(module: string): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", module], { cwd: tmpdir() });
  return JSON.parse(stdout).Dir;
}

/** Builds kube-apiserver. Kubernetes' own modules have the version 0.x of its release 1.x. */
async function apiserver(): Promise<string> {
  const folder = await cachedFolder(
    join(cacheFolder(), "tests", `kube-apiserver-${kubernetes}`),
    async (made) => {
      note(`building kube-apiserver ${kubernetes} …`);
      const source = await moduleFolder(`k8s.io/kubernetes@v${kubernetes}`);
      const staged = readFileSync(join(source, "go.mod"), "utf8").matchAll(/^\t(\S+) => \.\/staging/gm);
      const staging = kubernetes.replace(/^1\./, "0.");
      const replaced = [...staged].map(([, name]) => `replace ${name} => ${name} v${staging}`);
      const lines = [
        "module control-plane",
        "go 1.25",
        `require k8s.io/kubernetes v${kubernetes}`,
        ...replaced,
      ];
      const work = mkdtempSync(join(tmpdir(), "everturn-apiserver-"));
      writeFileSync(join(work, "go.mod"), `${lines.join("\n")}\n`);
      const target = "k8s.io/kubernetes/cmd/kube-apiserver";
      const env = { ...process.env, GOFLAGS: "-mod=mod" };
      await run("go", ["build", "-o", join(made, "kube-apiserver"), target], { cwd: work, env });
      rmSync(work, { recursive: true });
    },
  );
  return join(folder, "kube-apiserver");
}

const binary = await apiserver();
const work = mkdtempSync(join(tmpdir(), "everturn-control-plane-"));
const children: ReturnType<typeof spawn>[] = [];
let isDone = false;

function start(program: string, options: Record<string, string>): ReturnType<typeof spawn> {
  const log = openSync(join(work, `${basename(program)}.log`), "w");
  const parameters = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(program, parameters, { stdio: ["ignore", log, log] });
  closeSync(log);
  children.push(child);
  return child;
}

try {
  const [etcdPort, peerPort, port] = [await freePort(0), await freePort(0), await freePort(0)];
  const [etcd, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
  start("etcd", {
    "data-dir": join(work, "etcd"),
    "log-level": "error",
    "listen-client-urls": etcd,
    "advertise-client-urls": etcd,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `default=${peer}`,
  });
  const key = join(work, "service-accounts.pem");
  execFileSync("openssl", ["genrsa", "-out", key, "2048"], { stdio: "ignore" });
  const tokens = join(work, "tokens.csv");
  writeFileSync(tokens, "secret,admin,admin,system:masters\n");
  const server = start(binary, {
    "etcd-servers": etcd,
    "bind-address": "127.0.0.1",
    "secure-port": String(port),
    "cert-dir": join(work, "certificates"),
    "token-auth-file": tokens,
    "authorization-mode": "RBAC",
    "service-account-issuer": "https://localhost",
    "service-account-signing-key-file": key,
    "service-account-key-file": key,
    "service-cluster-ip-range": "10.0.0.0/24",
  });
  const to = ["--server", `https://127.0.0.1:${port}`, "--insecure-skip-tls-verify", "--token", "secret"];
  const cluster = (...parameters: string[]) => kubectl(...to, ...parameters);

  async function isReady(): Promise<boolean> {
    return cluster("get", "--raw", "/readyz").then(
      (answer) => answer === "ok",
      () => false, // not up yet; the loop looks whether it has ended
    );
  }
  while (!(await isReady())) {
    if (server.exitCode !== null) throw new Error(`kube-apiserver ended with exit code ${server.exitCode}`);
    await sleep(1000);
  }
  note(
    await cluster("apply", "--server-side", "-f", join(await moduleFolder(keda), "config", "crd", "bases")),
  );
  await cluster("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  for (const [release, values] of Object.entries({ calculator: everything, gpu: pool })) {
    const set = values.flatMap((value) => ["--set", value]);
    const file = join(work, `${release}.yaml`);
    writeFileSync(
      file,
      await helm("template", release, chart, ...set, "--values", join(chart, "values-gpu.yaml")),
    );
    const apply = () => cluster("apply", "-f", file);
    note(await apply());
    note(await apply()); // as an upgrade does
  }
  note(
    await cluster("get", "deploy,job,pdb,networkpolicy,sa,scaledobject,triggerauthentication", "-o", "name"),
  );
  isDone = true;
} finally {
  for (const child of children.reverse()) await endChild(child, "SIGTERM");
  if (isDone) rmSync(work, { recursive: true });
  else note(`the logs are in ${work}`);
}
