#!/usr/bin/env node
// JavaScript that every Node reads: so one that is too old says so in a line. The rest is TypeScript in a clone.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`Everturn needs Node 22.18 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
await import("../src/apps/cli/main.ts");
