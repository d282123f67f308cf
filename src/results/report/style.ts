/** The report's style sheet. It follows the reader's light or dark mode, and loads no fonts or images. */
export const style = `
:root { color-scheme: light dark; --page: #f6f6f3; --card: #fdfdfc; --ink: #14140f; --soft: #55544f; --muted: #6a6861;
  --grid: #e6e5de; --edge: #dedcd4; --axis: #bdbbb2; --zone: #efeef8; --tint: #f1f0eb;
  --link: #1c5cab; --blue: #2a78d6; --orange: #e0602a; --aqua: #1a9f74; --violet: #5747b5; --good: #0a7a3d; --bad: #b3362b; --goodbg: #e2f3e8; --badbg: #fae6e3; }
@media (prefers-color-scheme: dark) { :root { --page: #10100f; --card: #1a1a19; --ink: #f5f4ef; --soft: #c3c2b7; --muted: #a19e95;
  --grid: #2b2b29; --edge: #333230; --axis: #4a4946; --zone: #22212e; --tint: #242422;
  --link: #8bb8f2; --blue: #5598e8; --orange: #e27a4a; --aqua: #2bb587; --violet: #9a8fec; --good: #5fce8d; --bad: #f08a7d; --goodbg: #14301f; --badbg: #3a1c18; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 32px; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 44px 0 14px; }
h3 { font-size: 15px; margin: 0; }
h4 { font-size: 13px; margin: 0 0 10px; color: var(--soft); font-weight: 600; }
p { margin: 0; }
.eyebrow { color: var(--muted); font-size: 13px; margin-bottom: 4px; }
.facts, .lead { color: var(--soft); margin-top: 6px; }
.lead { margin: -6px 0 14px; }
.empty { color: var(--muted); }
details { margin-top: 14px; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 20px; margin: 12px 0 0; font-size: 14px; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
.diagnoses { margin-bottom: 16px; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 14px; }
.diagnosis { border-left: 4px solid var(--orange); }
.diagnosis .label { color: var(--muted); font-size: 13px; }
.diagnosis .consequence { color: var(--soft); margin: 6px 0 10px; }
.diagnosis ul { margin: 4px 0 0; padding-left: 20px; font-size: 14px; }
.tiles { display: flex; align-items: stretch; gap: 14px; margin-bottom: 16px; }
.tile { flex: 1; background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 16px 20px; }
.tile.result { border-color: var(--blue); }
.tile .label { color: var(--soft); font-size: 14px; }
.tile .value { font-size: 40px; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; }
.tile.result .value { color: var(--blue); }
.tile .detail { color: var(--muted); font-size: 13px; }
.arrow { align-self: center; font-size: 24px; color: var(--muted); }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 16px 18px; margin: 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 16px; }
figcaption p { color: var(--muted); font-size: 13px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; min-height: 22px; font-size: 13px; color: var(--soft); }
.key { display: inline-flex; align-items: center; gap: 6px; }
.key i { width: 16px; border-top-width: 3px; border-top-style: solid; border-radius: 2px; }
.key i.dashed { border-top-style: dashed; } .key i.dots { width: 0; border-width: 4px; border-style: solid; border-radius: 50%; }
.faint { opacity: 0.4; }
.grid .wide { grid-column: 1 / -1; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg.narrow { display: none; }
svg text { font-size: 12px; fill: var(--muted); font-variant-numeric: tabular-nums; }
line.grid { stroke: var(--grid); }
line.axis { stroke: var(--axis); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.line.dashed { stroke-dasharray: 2 6; stroke-width: 2.5; }
.blue { stroke: var(--blue); border-color: var(--blue); } .orange { stroke: var(--orange); border-color: var(--orange); }
.aqua { stroke: var(--aqua); border-color: var(--aqua); } .violet { stroke: var(--violet); border-color: var(--violet); }
.dot { stroke: var(--card); stroke-width: 2; }
.dot.blue, .bar.blue { fill: var(--blue); } .dot.orange, .bar.orange { fill: var(--orange); }
.dot.aqua, .bar.aqua { fill: var(--aqua); } .dot.violet, .bar.violet { fill: var(--violet); }
.bar { stroke: var(--card); stroke-width: 1; }
.target { fill: transparent; stroke: none; }
.hit .hover { opacity: 0; pointer-events: none; } .hit:hover .hover { opacity: 1; } .hit:hover .bar { opacity: 0.75; }
.cross { stroke: var(--axis); }
.zone { fill: var(--zone); } .mark { stroke: var(--violet); stroke-width: 1.5; stroke-dasharray: 4 4; }
svg text.zone-label { fill: var(--soft); font-size: 13px; } svg text.strong { font-weight: 600; fill: var(--ink); }
.whisker { stroke: var(--blue); stroke-width: 1.5; opacity: 0.6; }
svg text.value-label { fill: var(--ink); font-size: 13px; font-weight: 600; paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
.pair { margin-bottom: 16px; }
.task { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: baseline; padding-bottom: 12px; border-bottom: 1px solid var(--grid); white-space: pre-wrap; overflow-wrap: anywhere; }
.asked:has(img) { order: 1; flex-basis: 100%; } .asked p { margin-top: 6px; }
.truth { color: var(--muted); font-size: 13px; }
.badge { font-size: 12px; font-weight: 600; padding: 2px 9px; border-radius: 99px; background: var(--tint); color: var(--soft); }
.badge.gained { background: var(--goodbg); color: var(--good); } .badge.lost { background: var(--badbg); color: var(--bad); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 12px 28px; padding-top: 14px; }
.sides section { display: flex; flex-direction: column; }
.chat { display: flex; flex-direction: column; gap: 8px; align-items: flex-start; margin-bottom: 10px; }
.bubble { background: var(--tint); border-radius: 12px; padding: 7px 13px; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 100%; }
.call { border: 1px solid var(--edge); border-left: 3px solid var(--violet); border-radius: 8px; padding: 7px 12px; max-width: 100%; }
.call .tool { font-size: 13px; font-weight: 600; color: var(--violet); } .call .tool span { margin-left: 8px; font-weight: 400; color: var(--bad); }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.observation { margin-top: 4px; padding-top: 4px; border-top: 1px dashed var(--grid); } .observation span { color: var(--muted); margin-right: 6px; }
.observation img, .asked img { display: block; max-width: 100%; min-width: 64px; max-height: 160px; margin-top: 4px; object-fit: contain; } .media { display: block; overflow-wrap: anywhere; font-size: 11px; }
.verdict { margin-top: auto; font-weight: 600; } .verdict.good { color: var(--good); } .verdict.bad { color: var(--bad); }
.verdict span { color: var(--muted); font-weight: 400; font-size: 13px; margin-left: 10px; }
.id { color: var(--muted); font: 12px ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; padding: 6px 4px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; text-align: right; white-space: nowrap; } th:first-child, td:first-child, .text { text-align: left; }
th { color: var(--muted); font-weight: 500; border-bottom: 1px solid var(--edge); } tbody tr:hover { background: var(--tint); }
footer { margin-top: 40px; color: var(--muted); font-size: 13px; }
@media (max-width: 760px) { .broad { display: none; } svg.narrow { display: block; } .tiles { flex-direction: column; } .arrow { rotate: 90deg; } main { padding: 24px 14px; } }
`;
