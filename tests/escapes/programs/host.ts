import { type Escape, refused } from "../escape.ts";

/** Programs that look for the JavaScript around an interpreter in WebAssembly, or leave something in it for others. */
export const host: Escape[] = [
  { name: "takes Deno from js", code: () => refused("from js import Deno") },
  { name: "takes fetch from js", code: () => refused("import js\njs.fetch") },
  { name: "takes the process from js", code: () => refused("import js\njs.process") },
  {
    name: "runs JavaScript from Python",
    code: () => refused("from pyodide.code import run_js\nrun_js('globalThis')"),
  },
  {
    name: "mounts the host's files",
    code: () => refused("import pyodide_js\npyodide_js.mountNodeFS('/mnt', '/etc')"),
  },
  {
    name: "takes the interpreter's own functions",
    code: () => refused("import pyodide_js\npyodide_js._module.HEAPU8"),
  },
  { name: "constructs a function from text", code: () => refused("import js\njs.eval('1')") },
  {
    name: "poisons what all objects have",
    language: "javascript",
    keep: true,
    told: ["finished", "ended"], // it may have broken its own interpreter
    code: () =>
      "Object.prototype.toJSON = () => 'POISONED'; Object.prototype.stdout = 'POISONED'; Array.prototype.map = () => ['POISONED'];",
  },
  {
    name: "poisons what its host speaks with",
    language: "javascript",
    keep: true,
    told: ["finished", "ended"], // it may have broken its own interpreter
    code: () => "globalThis.postMessage = globalThis.console = globalThis.JSON = undefined;",
  },
];
