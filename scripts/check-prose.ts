// npm run check:prose: the phrases that CONTRIBUTING.md bans from pages, error messages, help texts and comments.
// docs/errors.md and docs/cli.md hold the error messages and the help texts.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** What not to write, and what to write instead. */
const banned: [RegExp, string][] = [
  [/\b(is|are|was|were|been|be) told\b/, "name who acts: receives, gets, learns, sees"],
  [/\b(is|are|was|were) said\b/, "name who acts: states, reports, sends"],
  [/\bsay(s)? (so|how|what|which|where|whether|why)\b/, "explains, describes, reports, lists"],
  [/\bas (a|an|the|its|their|[\w./]+\.md) ?([a-z]+ )?says?\b/, "as … describes, as configured in …"],
  [/\bstands? (in|at|on|beside|below|above|before|behind|there|under)\b/, "is in, appears in, comes before"],
  [/\b(lies|lie|lay) (in|at|on|beside|below|there|under|outside|within)\b/, "is in, is next to"],
  [/\b(goes|go|going|went|gone) on\b/, "continues"],
  [/\b(goes|go) before\b/, "comes before, overrides, takes precedence over"],
  [/\b(goes|go) over (it|the|that|those)\b/, "overrides"],
  [/\b(gives|give|gave) way\b/, "yields, makes room"],
  [/\bso[ -]many\b/, "that many, n, the number of"],
  [/\b(that|which) there (is|are)\b/, "available, existing, known"],
  [/\b(that|which) (is|are) there\b/, "available, existing, installed"],
  [/\b(has|have) not(?=[.,;:)\n]|$| an? | any | the )/, "does not have"],
  [
    /(?<!\b(all|most|some|each|both|one|two|none|many|any|half|either|several|neither) )\bof which\b/,
    "split the sentence",
  ],
  [/\bbeside\b/, "next to, with, in addition to"],
  [/\bas (it is|they are)(?=[.,;:)]|$)/, "unchanged, as is"],
  [/\bwish(ed|es)\b/, "requested, chosen"],
  [/\bwhat (is|was) asked( for)?\b/, "the request"],
  [/\bwhat of\b/, "name the thing: the files that …, the part that …"],
  [
    /\bwhat (has|is|was) (been )?(finished|freed|left|kept|begun|under way|recorded|done)\b/,
    "finished work, the remaining …",
  ],
  [
    /(?<!\bthere )\b(is|are|was|were) no (?!(longer|more|less|fewer|better|worse|different|need|one|such|room|way|doubt)\b)[a-z]+/,
    "is not a …",
  ],
  [/(?<!\bthere )\b(is|are|was|were) none\b/, "is not one, has none"],
  [/\bmend(s|ed|ing)?\b/i, "fix, repair"],
  [/\bfor ever\b/, "forever"],
  [/\bfor want of\b/, "because … is missing"],
  [/\b(is|are|was|were|be) let go\b/, "is released, is freed"],
  [/\b(started|done|made) again\b/, "restarted, repeated, rebuilt"],
  [/\b(for|of|by|to) who\b/, "for those who, by the user who"],
  [/\bnobody but\b/, "only"],
  [/\b(do|does) as well\b/, "works too"],
];

/** The text with all but its line breaks blanked, so that what remains keeps its place. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

/** A page without its code blocks. */
function proseOfPage(text: string): string {
  return text.replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, blank);
}

/** A module's comments. */
function proseOfModule(text: string): string {
  const comments = /\/\*\*?([\s\S]*?)\*\/|(?<=^|\s)\/\/ .*$/gm;
  let at = 0;
  let prose = "";
  for (const { 0: comment, index } of text.matchAll(comments)) {
    prose += blank(text.slice(at, index)) + comment.replaceAll(/^( *)\*/gm, "$1 ");
    at = index + comment.length;
  }
  return prose;
}

/** Joins the lines of a paragraph, and blanks code, quotations and the targets of links. No character moves. */
function joined(prose: string): string {
  return prose
    .replaceAll(/“[^”]*”/g, blank)
    .replaceAll(/`[^`\n]*`/g, (code) => `\`${"x".repeat(code.length - 2)}\``)
    .replaceAll(/\]\([^)\n]*\)/g, (link) => `]${" ".repeat(link.length - 1)}`)
    .replaceAll(/\n(?= *\S)(?! *([-*|#>]|\d+\.) ?)/g, " ");
}

function problemsIn(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  const prose = joined(path.endsWith(".md") ? proseOfPage(text) : proseOfModule(text));
  return banned.flatMap(([pattern, instead]) =>
    [...prose.matchAll(new RegExp(pattern, "gi"))].map(({ 0: phrase, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return `${path}:${line}: “${phrase.replaceAll(/\s+/g, " ")}”: ${instead}`;
    }),
  );
}

const pages = globSync(
  ["*.md", "docs/**/*.md", "{src,packages,plugins,pipelines,templates,benchmarks}/**/README.md"],
  {
    cwd: root,
    exclude: ["docs/decisions/**", "**/node_modules/**"],
  },
);
const modules = globSync("{src,workflows,activities,packages,plugins}/**/*.ts", {
  cwd: root,
  exclude: ["**/node_modules/**", "**/dist/**"],
});
const problems = [...pages, ...modules].sort().flatMap(problemsIn);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) {
  process.stderr.write("CONTRIBUTING.md, “How we write”, explains these rules.\n");
  process.exitCode = 1;
}
