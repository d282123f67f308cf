/** The pages' additions to the report's style sheet. */
export const uiStyle = `
a { color: var(--link); } a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 12px; top: 12px; background: var(--card); padding: 8px 14px; z-index: 1; }
.top { border-bottom: 1px solid var(--edge); background: var(--card); } .top nav { max-width: 1240px; margin: 0 auto; padding: 12px 24px; display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; }
.top .brand { font-weight: 650; text-decoration: none; color: var(--ink); } .top span { color: var(--muted); overflow-wrap: anywhere; }
main { padding-top: 28px; } h1 + .card, .facts + .card, .facts + .talk, .facts + div, .facts + pre, .card + p, dl + .facts { margin-top: 12px; } .card > dl { margin: 0; } h1 { font-size: 26px; overflow-wrap: anywhere; }
.tabs { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0 18px; border-bottom: 1px solid var(--edge); padding-bottom: 8px; } .tabs a[aria-current], .pages a[aria-current] { font-weight: 650; color: var(--ink); text-decoration: none; }
form.filter, form.order { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: end; margin: 12px 0; }
.field { display: flex; flex-direction: column; font-size: 13px; color: var(--soft); max-width: 100%; } .field.wide { flex: 1 1 340px; } .field input, .field select, form button { height: 38px; }
input, select, button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--control); border-radius: 8px; padding: 6px 10px; max-width: 100%; } .field.wide input { width: 100%; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px; }
button { cursor: pointer; border-color: var(--link); color: var(--link); font-weight: 600; } button:hover { background: var(--tint); }
.state { font-size: 12px; font-weight: 600; padding: 2px 9px; border-radius: 99px; background: var(--tint); color: var(--soft); white-space: nowrap; } .state.live { background: var(--goodbg); color: var(--good); }
.notice, .problem { border-radius: 10px; padding: 10px 14px; margin: 12px 0; white-space: pre-wrap; overflow-wrap: anywhere; } .notice { background: var(--goodbg); color: var(--good); } .problem { background: var(--badbg); color: var(--bad); }
.talk + .talk { margin-top: 10px; } details + .tiles { margin-top: 14px; } .long { display: inline-block; min-width: 300px; max-width: 520px; white-space: normal; overflow-wrap: anywhere; }
.talk { display: flex; flex-direction: column; gap: 10px; } .said { border: 1px solid var(--edge); background: var(--card); border-radius: 12px; padding: 10px 14px; overflow-wrap: anywhere; }
.said > h3 { color: var(--soft); font-size: 13px; font-weight: 600; display: flex; flex-wrap: wrap; gap: 2px 12px; margin-bottom: 4px; } .said > h3 span { font-weight: 400; color: var(--muted); }
.said.action { border-left: 4px solid var(--blue); } .said.call { border-left: 4px solid var(--violet); margin-left: 20px; } .said.person { border-left: 4px solid var(--orange); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.said img { display: block; min-width: 64px; max-width: 100%; max-height: 320px; margin: 8px 0; object-fit: contain; border: 1px solid var(--edge); }
.tokens { line-height: 2; } .tokens span { border-radius: 4px; padding: 1px 0; } .key b { border-radius: 4px; padding: 1px 8px; font-weight: 400; }
.t-in { color: var(--muted); } .t-0 { background: var(--heat0); } .t-1 { background: var(--heat1); } .t-2 { background: var(--heat2); } .t-3 { background: var(--heat3); } .t-4 { background: var(--heat4); color: var(--hot); }
.t-up { background: var(--goodbg); } .t-down { background: var(--badbg); }
.numbers { grid-template-columns: repeat(auto-fill, minmax(min(100%, 260px), 1fr)); gap: 12px; } .number { background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 10px 14px; }
.number .amount { font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; } .number .amount span { margin-left: 10px; font-size: 13px; font-weight: 400; color: var(--muted); } .number .meaning { font-size: 13px; color: var(--soft); }
.timeline .time { width: 60%; min-width: 180px; } .timeline .time svg { height: 16px; } .timeline th.time { text-align: left; } .timeline .timed-call td:first-child { padding-left: 26px; } .timeline .failed td { white-space: normal; overflow-wrap: anywhere; color: var(--bad); padding: 0 10px 8px 26px; }
.hit-name { font-size: 13px; margin: 0 0 4px; display: flex; flex-wrap: wrap; gap: 2px 12px; } .hit-name span { font-weight: 400; color: var(--muted); } mark { background: var(--heat2); color: inherit; border-radius: 3px; }
.cell { fill: var(--blue); stroke: none; } fieldset { border: 1px solid var(--edge); border-radius: 12px; padding: 10px 14px; display: grid; gap: 6px; margin: 0; max-width: 100%; } fieldset label { overflow-wrap: anywhere; } legend { color: var(--soft); font-size: 13px; }
.progress { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; margin: 10px 0; } progress { accent-color: var(--blue); flex: 1 1 160px; max-width: 420px; }
.pages { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 12px 0; align-items: baseline; } th a { color: inherit; }
:root { --control: #85837b; --heat0: #e4eefa; --heat1: #cfe3c9; --heat2: #f6e7a8; --heat3: #f5c493; --heat4: #a5281b; --hot: #fff; }
@media (prefers-color-scheme: dark) { :root { --control: #77756c; --heat0: #1d2d42; --heat1: #1f3a22; --heat2: #4a4113; --heat3: #61390f; --heat4: #f08a7d; --hot: #1a1a19; } }
@media (max-width: 760px) { .top nav { padding: 10px 14px; } .said.call { margin-left: 6px; } table { width: auto; min-width: 100%; } .timeline .time { min-width: 84px; } }
`;
