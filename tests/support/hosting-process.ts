// A worker of a plugin host that is to be killed: has `entry` loaded, calls it once, and says which process answered.
import { ownIdentity } from "../../src/base/processes/process-identity.ts";
import { pluginHosts } from "../../src/plugin/host/plugin-hosts.ts";
import { pluginHostRecords } from "../../src/work/tools/plugin-host-records.ts";
import { toolThread } from "../../src/work/tools/tool-thread.ts";
import { samplePlan } from "./sample-plan.ts";

const [folder = "", entry = ""] = process.argv.slice(2);
const [resolved] = samplePlan({
  steps: 1,
  batchSize: 8,
  tasks: 2,
  warmStart: false,
  evaluationEvery: 1,
}).tools;
if (resolved === undefined) throw new Error("the sample plan has no tool");
const { start } = pluginHosts(pluginHostRecords(folder, ownIdentity()), () => {});
const { plugin } = await toolThread({ ...resolved, entry }, "one", () => {}, start);
const { signal } = new AbortController();
const { text } = await plugin.execute(
  { expression: "return process.pid" },
  { instance: "a", function: "", key: "a/1/0", attempt: 1, config: {}, signal, isReplay: false },
  undefined,
);
process.stdout.write(`${text}\n`);
setInterval(() => {}, 1000);
