// Runs once: starts a Python and writes its memory next to this file, as the start of other interpreters.
import { pythonParts } from "./parts.ts";
import type { FromInterpreter, Load } from "./protocol.ts";

const suffix = import.meta.url.endsWith(".ts") ? "ts" : "js";
const [disk, memory] = [64, 1024];
const worker = new Worker(new URL(`./python.${suffix}`, import.meta.url), { type: "module" });
const heard = await new Promise<FromInterpreter>((resolve, reject) => {
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  const load: Load = { disk, memory, interrupt: new SharedArrayBuffer(1), python: pythonParts(memory) };
  worker.postMessage({ type: "load", load });
});
if (heard.type !== "ready" || heard.snapshot === undefined)
  throw new Error(heard.type === "unusable" ? heard.reason : "Python made no snapshot");
Deno.writeFileSync(new URL("snapshot.bin", import.meta.url), heard.snapshot);
Deno.exit(0);
