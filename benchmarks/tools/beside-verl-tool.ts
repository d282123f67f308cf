import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { loadavg } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** What one side did in a round. */
interface Measured {
  side: "everturn" | "verl-tool";
  atOnce: number;
  /** Programs that came to their result. */
  perSecond: number;
  /** Those that did not: verl-tool's tool gives a program ten seconds, its interpreter's start included. */
  failed: number;
  /** Milliseconds of an execution. */
  p50: number;
  p99: number;
  /** Of the machine, in the last minute. */
  load: number;
}

/** The same actions, the same client: `everturn tools serve tool-code`, and the server of verl-tool at `peer`, in turns. */
export async function besideVerlTool(
  peer: string,
  seconds: number,
  rounds: number,
  wanted: readonly number[],
): Promise<Measured[]> {
  const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");
  const server = spawn(process.execPath, [main, "tools", "serve", "tool-code", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let said = "";
    for await (const part of server.stdout) {
      said += part;
      if (said.includes("Ctrl-C")) break;
    }
    const own = /verl-tool: (\S+)/.exec(said)?.[1] ?? "";
    const measured: Measured[] = [];
    for (const atOnce of wanted) {
      for (let round = 0; round < rounds; round++) {
        measured.push(await measure("everturn", own, atOnce, seconds));
        measured.push(await measure("verl-tool", new URL("/get_observation", peer).href, atOnce, seconds));
      }
      for (const side of ["everturn", "verl-tool"] as const)
        process.stdout.write(
          `${summary(measured.filter((one) => one.side === side && one.atOnce === atOnce))}\n`,
        );
    }
    return measured;
  } finally {
    server.kill("SIGINT");
    if (server.exitCode === null) await once(server, "exit");
  }
}

let programs = 0;

async function measure(
  side: Measured["side"],
  url: string,
  atOnce: number,
  seconds: number,
): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const names = Array.from({ length: atOnce }, () => `benchmark-${process.pid}-${programs++}`);
  await Promise.all(names.map((name) => ran(url, agent, name))); // the interpreter is there, and the connection
  const times: number[] = [];
  let failed = 0;
  const began = performance.now();
  await Promise.all(
    names.map(async (name) => {
      while (performance.now() - began < 1000 * seconds) {
        const start = performance.now();
        if (!(await ran(url, agent, name))) failed++;
        times.push(performance.now() - start);
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  const [load = 0] = loadavg();
  await Promise.all(
    names.map((name) => post(url, agent, { trajectory_ids: [name], actions: [""], finish: [true] })),
  );
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return {
    side,
    atOnce,
    perSecond: (times.length - failed) / took,
    failed,
    p50: at(0.5),
    p99: at(0.99),
    load,
  };
}

/** Runs a program, and says whether it came to its result. It differs from all before it: verl-tool's server answers the same request from a cache. */
async function ran(url: string, agent: Agent, name: string): Promise<boolean> {
  const action = `<python>total = sum(range(100))\nprint(total) # ${programs++}</python>`;
  const { observations } = await post(url, agent, { trajectory_ids: [name], actions: [action] });
  return observations[0] === "\n<result>\n4950\n</result>\n";
}

async function post(url: string, agent: Agent, body: object): Promise<{ observations: unknown[] }> {
  const sent = request(url, { method: "POST", agent, headers: { "content-type": "application/json" } });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, "response");
  return JSON.parse(await text(response));
}

function summary(rounds: Measured[]): string {
  const sorted = (key: "perSecond" | "p50" | "p99" | "load" | "failed") =>
    rounds.map((one) => one[key]).sort((a, b) => a - b);
  const median = (key: Parameters<typeof sorted>[0]) => sorted(key)[Math.floor(rounds.length / 2)] ?? 0;
  const [first] = rounds;
  const rate = `${median("perSecond").toFixed(1)} a second (least ${sorted("perSecond")[0]?.toFixed(1)})`;
  const times = `p50 ${median("p50").toFixed(1)} ms, p99 ${median("p99").toFixed(1)} ms`;
  return `${first?.side}, ${first?.atOnce} at once: ${rate}, ${median("failed")} failed, ${times}, load ${median("load").toFixed(1)}`;
}
