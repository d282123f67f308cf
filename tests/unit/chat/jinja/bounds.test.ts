import { expect, test } from "vitest";
import { compileTemplate } from "../../../../src/chat/jinja/template.ts";

const render = (template: string, variables = {}) => compileTemplate(template, () => "").render(variables);

/** Makes a text of 4 million characters. */
const long =
  "{% set ns = namespace(s='ab') %}{% for i in range(21) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}";
/** Makes two lists that hold themselves twice as often with each of 40 levels. */
const nested =
  "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}";

test.each([
  ["{% for i in range(10**9) %}x{% endfor %}", "range too big"],
  ["{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}", "5000000 steps"],
  [
    "{% set ns = namespace(s='xx') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "10000000 items",
  ],
  [
    "{% set ns = namespace(s='xx') %}{% for i in range(99) %}{% set ns.s = ns.s.replace('x', 'xx') %}{% endfor %}",
    "items",
  ],
  [
    "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    "10000000 items",
  ],
  ["{{ 'a' * 10**12 }}", "10000000 items"],
  ["{{ '%0999999999d' % 1 }}", "width"],
  ["{{ ''.center(10**10) }}", "10000000 items"],
  ["{{ 'a'|indent(10**10) }}", "10000000 items"],
  ["{{ 9 ** (9 ** 9) }}", "bits"],
  ["{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "150 levels"],
  ["{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "150 levels"],
  [`{{ ${"(".repeat(50_000)}1${")".repeat(50_000)} }}`, "nested too deeply"],
  [`${long}{% for i in range(90000) %}{% set x = ns.s[0] %}{% endfor %}`, "5000000 steps"],
  [`${long}{% for i in range(90000) %}{% set x = "q" in ns.s %}{% endfor %}`, "5000000 steps"],
  [`${long}{% for i in range(90000) %}{% set x = ns.s.find("q") %}{% endfor %}`, "5000000 steps"],
  [
    `${long}{% for i in range(90000) %}{% for c in ns.s %}{% break %}{% endfor %}{% endfor %}`,
    "5000000 steps",
  ],
  ["{% for i in range(90000) %}{% set x = range(100000)[5] %}{% endfor %}", "5000000 steps"],
  [`${nested}{{ ns.x }}`, "5000000 steps"],
  [`${nested}{{ ns.x == ns.y }}`, "5000000 steps"],
  [`{{ ${"1".repeat(5000)} }}`, "4300 digits"],
])("a template that would run without end, or fill the memory, is stopped: %s", (template, reason) => {
  expect(() => render(template)).toThrow(reason);
});

test("a long conversation is far from the bound", () => {
  const messages = Array.from({ length: 5000 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: "x",
  }));
  const template =
    "{% for m in messages %}{% if loop.first or m.role != messages[loop.index0 - 1].role %}<|{{ m.role }}|>{{ m.content | trim }}{% endif %}{% endfor %}";
  expect(render(template, { messages })).toHaveLength(2500 * 9 + 2500 * 14);
});
