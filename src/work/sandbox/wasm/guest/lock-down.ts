import type { FromInterpreter } from "./protocol.ts";

const post = postMessage.bind(globalThis);

/** To the main thread; nobody else in this one can, after `lockDown`. */
export function send(message: FromInterpreter): void {
  post(message);
}

/**
 * Makes this thread look like a browser's worker, for libraries that would look for Node's modules, and its console silent: that of
 * Deno writes where the main thread speaks with Everturn, and libraries keep it for programs to call.
 */
export function looksLikeBrowser(): void {
  for (const name of ["Deno", "process", "Buffer"]) Reflect.deleteProperty(globalThis, name);
  const silent = Object.keys(console).map((name) => [name, () => {}]);
  Object.assign(globalThis, { console: Object.fromEntries(silent) });
}

const doors = [
  ..."postMessage close Worker WebSocket WebSocketStream EventSource XMLHttpRequest".split(" "),
  ..."BroadcastChannel caches localStorage sessionStorage importScripts navigator fetch Request".split(" "),
  ..."onmessage addEventListener prompt alert confirm".split(" "),
];

/** Takes away what of the thread's globals leads out of it. Deno's permissions hold without this; it is one wall more. */
export function lockDown(): void {
  for (const name of doors) {
    for (let owner: object | null = globalThis; owner !== null; owner = Object.getPrototypeOf(owner))
      Reflect.deleteProperty(owner, name);
  }
}
