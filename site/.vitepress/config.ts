import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defineConfig } from "vitepress";

const pages = join(import.meta.dirname, "..", "pages");

/** The sidebar of the docs: the sections of docs/README.md with their links, in its order. */
function docsSidebar() {
  const text = readFileSync(join(pages, "docs", "index.md"), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split("\n", 1)[0] ?? "",
      collapsed: false,
      items: [...section.matchAll(/\[([^\]]+)\]\((\/[^)\s]+)\)/g)].map(([, words = "", link = ""]) => ({
        text: capitalized(words.replaceAll("`", "")),
        link: link.replace(/(index)?\.md/, ""),
      })),
    }));
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The entry points, `everturn` first. */
function apiSidebar() {
  const modules = globSync("api/*.md", { cwd: pages })
    .map((path) => basename(path, ".md"))
    .filter((name) => name !== "index")
    .toSorted((a, b) => Number(b === "everturn") - Number(a === "everturn") || a.localeCompare(b));
  return [
    {
      text: "API reference",
      link: "/api/",
      items: modules.map((name) => ({
        text: name === "everturn" ? name : `everturn/${name}`,
        link: `/api/${name}`,
      })),
    },
  ];
}

export default defineConfig({
  title: "Everturn",
  description:
    "Trains language-model agents that use tools, by reinforcement learning, and never loses a turn.",
  srcDir: "pages",
  outDir: "dist",
  cleanUrls: true,
  // Pages are Markdown for a forge: tags and braces in them are text.
  markdown: {
    html: false,
    config: (md) => {
      const { text } = md.renderer.rules;
      md.renderer.rules.text = (tokens, index, ...rest) =>
        (text?.(tokens, index, ...rest) ?? "").replaceAll("{{", "&#123;&#123;");
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Docs", link: "/docs/", activeMatch: "^/docs/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      { text: "Benchmarks", link: "/benchmarks/" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: {
      "/api/": apiSidebar(),
      "/": docsSidebar(),
    },
    outline: [2, 3],
  },
});
