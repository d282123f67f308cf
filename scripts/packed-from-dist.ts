// Runs before `npm pack` and `npm publish` in a folder of the clone: what is published is built into folders of its own.
console.error(
  "A clone is TypeScript: `npm run build` writes what is published, a folder for each package, into dist/.",
);
console.error("Pack or publish those: npm pack ./dist/everturn, npm publish ./dist/tool-calculator.");
process.exit(1);
