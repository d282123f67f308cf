"""Writes tests/unit/chat/jinja/fixtures/cases.json: generated Jinja templates and what Python makes of them.

Needs Python 3.11 and jinja2 3.1.6. The environment is the one in which transformers 5 renders chat templates.

    python scripts/make-jinja-fixtures.py tests/unit/chat/jinja/fixtures/cases.json
"""

import json
import random
import re
import signal
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

rng = random.Random(60)


class AssistantTracker(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_generation_support")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _generation_support(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class TemplateDict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)

    def fromkeys(self, *args, **kwargs):
        return dict.fromkeys(*args, **kwargs)


class TemplateNamespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            TemplateNamespace.check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        TemplateNamespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(name)


environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[AssistantTracker, jinja2.ext.loopcontrols]
)
environment.filters["tojson"] = tojson
environment.globals["raise_exception"] = raise_exception
environment.globals["dict"] = TemplateDict()
environment.globals["namespace"] = TemplateNamespace

variables = {
    "s": "Hello, World",
    "u": "naïve café 😀 Straße",
    "w": "  \t padded\u00a0text \n",
    "e": "",
    "q": "it's \"quoted\" \\ and\tso\non",
    "z": "ǆ ﬁ ΌΣΟΣ i\u0307 x\u200by \ufeff é",
    "n": 7,
    "m": -3,
    "k": 2,
    "big": 9007199254740991,
    "f": 2.5,
    "g": -0.1,
    "h": 1e-7,
    "t": True,
    "no": False,
    "nil": None,
    "l": [3, 1, 2, 1],
    "ls": ["b", "A", "c", "a"],
    "lm": [1, "a", None, True, 2.5, [1, 2], {"k": "v"}],
    "le": [],
    "d": {"b": 1, "a": "x", "C": None, "items": [1, 2], "née": 2.5},
    "de": {},
    "users": [
        {"name": "Zoë", "age": 31, "tags": ["x", "y"], "on": True},
        {"name": "adam", "age": 4, "tags": [], "on": False},
        {"name": "Bob", "age": 31, "tags": ["z"]},
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2 + 2?\n"},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2.5, "note": "é\"<&>"}}}]},
        {"role": "tool", "name": "add", "content": "4"},
        {"role": "assistant", "content": "It is 4."},
    ],
}

texts = ["s", "u", "w", "e", "q", "z", "'abc'", "'a,b,,c'", "'xxaxx'", "''", "'éÉß'", "'1.50'", "' 42 '", "'0x1F'", "'line\\nbreak\\r\\nmore'", "'Ab cD'", "'😀b😀'", "'a' 'b'", "\"it's\"", "'<b>&</b>'"]
ints = ["k", "0", "1", "2", "3", "-1", "-2", "7", "10", "n", "m", "big", "100", "1_000", "0x1f"]
floats = ["0.5", "2.0", "1e3", "1.5e-7", "f", "g", "h", "3.14159", "1e16", "123456789.125", "-2.5"]
lists = ["l", "ls", "lm", "le", "[1, 2, 3]", "['x', 'y']", "[[1, 2], [0, 5]]", "(1, 2)", "(1,)", "()", "range(5)", "[1.0, 2]", "users", "[none, true]", "d.values()", "d.keys()", "'abc'", "users|map(attribute='name')|list"]
dicts = ["d", "de", "{'a': 1}", "{'x': [1, 2], 'y': {'z': none}}", "{1: 'one', true: 'yes', 2.0: 'two'}", "users[0]", "{'b': 2, 'a': 1}"]
others = ["t", "no", "nil", "true", "false", "none", "missing"]
pick = rng.choice


def text():
    return pick(texts)


def number():
    return pick(ints + floats)


def anything(depth=1):
    kind = rng.randrange(8 if depth > 0 else 6)
    if kind == 0:
        return text()
    if kind == 1:
        return pick(ints)
    if kind == 2:
        return pick(floats)
    if kind == 3:
        return pick(lists)
    if kind == 4:
        return pick(dicts)
    if kind == 5:
        return pick(others)
    return "(" + expression(depth - 1) + ")"


def operator(depth):
    return f"{anything(depth)} {pick(['+', '-', '*', '/', '//', '%', '**', '~'])} {anything(depth)}"


def arithmetic(depth):
    return f"{pick([number(), f'({number()} {pick(list(chr(43) + chr(45)))} {number()})'])} {pick(['+', '-', '*', '/', '//', '%', '**', '~'])} {number()}"


def comparison(depth):
    operators = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
    chain = f" {pick(operators)} {anything(depth)}" if rng.random() < 0.3 else ""
    return f"{anything(depth)} {pick(operators)} {anything(depth)}{chain}"


def logic(depth):
    return pick(
        [
            f"{anything(depth)} and {anything(depth)}",
            f"{anything(depth)} or {anything(depth)}",
            f"not {anything(depth)}",
            f"{anything(depth)} if {anything(depth)} else {anything(depth)}",
            f"{anything(depth)} if {anything(depth)}",
            f"-{anything(depth)}",
        ]
    )


def index():
    return pick(["0", "1", "2", "-1", "-2", "5", "-9", "none", "'a'", "true", "m"])


def subscript(depth):
    if rng.random() < 0.6:
        # Jinja folds a literal that can't be sliced into something undefined: those are left out
        value = pick([text(), pick(lists), pick(["n", "f", "d", "missing", "nil", "d.b", "users[0]"])])
        bound = lambda: pick(["", "", "0", "1", "2", "-1", "-2", "9", "-9", "none"])
        step = pick(["", "", ":", ":1", ":2", ":-1", ":-2", ":-1", ":0"])
        return f"({value})[{bound()}:{bound()}{step}]"
    value = pick([text(), pick(lists), pick(dicts), anything(depth)])
    return pick([f"({value})[{index()}]", f"({value}).{pick(['name', 'a', 'items', 'length', 'upper', '0', 'b', 'on'])}"])


string_methods = [
    "strip()", "strip({t})", "lstrip({t})", "rstrip({t})", "lstrip()", "rstrip()", "strip(none)", "capitalize()", "title()", "upper()", "lower()",
    "swapcase()", "split()", "split({t})", "split({t}, {i})", "split(none, {i})", "split(maxsplit={i})", "rsplit({t}, {i})", "rsplit(none, {i})",
    "split(sep={t}, maxsplit=1)", "splitlines()", "splitlines(true)", "replace({t}, {t})", "replace({t}, {t}, {i})", "find({t})", "rfind({t})",
    "index({t})", "count({t})", "find({t}, {i})", "find({t}, {i}, {i})", "startswith({t})", "endswith({t})", "startswith(({t}, {t}))",
    "endswith(({t}, {t}))", "startswith({t}, {i})", "join({l})", "partition({t})", "rpartition({t})", "zfill({i})", "center({i})", "ljust({i}, '*')",
    "rjust({i})", "center({i}, 'é')", "isdigit()", "isalpha()", "isalnum()", "isspace()", "islower()", "isupper()", "istitle()", "isdecimal()",
    "isidentifier()", "isprintable()", "isascii()", "removeprefix({t})", "removesuffix({t})", "expandtabs()", "expandtabs(4)", "format({a}, {a})",
]
short = ["'a'", "'b'", "' '", "','", "'x'", "'l'", "'Hel'", "'ld'", "'é'", "'😀'", "'-'", "''", "'\\n'", "'ab'", "'o,'", "'0'", "'ß'"]


def filled(form, depth=0):
    values = {
        "t": lambda: pick(short),
        "i": lambda: pick(["0", "1", "2", "-1", "3", "12", "-2", "true"]),
        "l": lambda: pick(lists),
        "a": lambda: anything(depth),
        "n": number,
        "s": text,
    }
    return re.sub(r"\{([tilans])\}", lambda found: values[found[1]](), form)


def method(depth):
    kind = rng.randrange(10)
    if kind < 7:
        return f"{pick([text(), text(), '(' + expression(depth - 1) + ')' if depth > 0 else text()])}.{filled(pick(string_methods))}"
    if kind < 9:
        return f"{pick(dicts)}.{filled(pick(['items()', 'keys()', 'values()', 'get({t})', 'get({t}, {a})', 'get(1)', 'copy()', 'items()|list', 'keys()|join({t})', 'get({t}, default=1)']))}"
    return f"{pick(lists)}.{filled(pick(['index({i})', 'count({i})', 'count({a})', 'append(1)', 'nothing']))}"


format_values = ["7", "-3", "2.5", "'é'", "none", "[1]", "1234567", "0.000012345", "1e20", "true"]
percent_forms = ["%s", "%d", "%5d", "%-5s|", "%05d", "%.2f", "%r", "%x", "%+d", "%%", "%e", "%g", "%i%%", "%s and %s", "%(a)s", "%5.1f", "% d", "%.3s", "%c", "%X", "%G", "%.0f"]
brace_forms = ["{}", "{0}", "{:>8}", "{:<8}|", "{:^9}", "{:05d}", "{:.2f}", "{!r}", "{:,}", "{:+}", "{a}", "{0[0]}", "{{}}", "{:%}", "{:x}", "{:e}", "{:*^9}", "{:s}", "{:d}", "{:_}", "{:g}", "{:.3}", "{:=+6}", "{:b}", "{0} {1}", "{} {}", "{!s:>6}"]


def formatting(depth):
    kind = rng.randrange(4)
    if kind == 0:
        return f"'{pick(percent_forms)}' % {pick(format_values + ['(1, 2)', '(3,)', d(), 's'])}"
    if kind == 1:
        return f"'{pick(percent_forms)}'|format({', '.join(pick(format_values) for _ in range(rng.randrange(1, 3)))})"
    if kind == 2:
        return f"'{pick(brace_forms)}'.format({', '.join(pick(format_values) for _ in range(rng.randrange(1, 3)))})"
    return f"'{pick(brace_forms)}'.format(a={pick(format_values)})"


def d():
    return pick(dicts)


filters = [
    "{s}|upper", "{s}|lower", "{s}|title", "{s}|capitalize", "{s}|trim", "{s}|trim({t})", "{s}|replace({t}, {t})", "{s}|replace({t}, {t}, {i})",
    "{a}|length", "{a}|count", "{a}|string", "{a}|list", "{a}|first", "{a}|last", "{a}|int", "{a}|int(5)", "{s}|int(0, 16)", "{s}|int(base=0)", "{a}|float", "{a}|float(1.5)",
    "{n}|round", "{n}|round({i})", "{n}|round({i}, 'floor')", "{n}|round(1, 'ceil')", "{n}|round(2)|int", "{n}|abs", "{a}|abs", "{a}|default('D')", "{a}|default('D', true)",
    "{a}|d(none)|string", "{l}|join", "{l}|join({t})", "{l}|join(', ', attribute='name')", "{l}|sort", "{l}|sort(reverse=true)", "{l}|sort(case_sensitive=true)",
    "{l}|sort(attribute='age')", "users|sort(attribute='name')|map(attribute='name')|list", "users|sort(attribute='age,name')|map(attribute='name')|join",
    "{l}|unique|list", "{l}|unique(true)|list", "users|unique(attribute='age')|list", "{l}|min", "{l}|max", "users|max(attribute='age')", "{l}|sum", "{l}|sum(start={n})",
    "users|sum(attribute='age')", "{l}|reverse|list", "{s}|reverse", "{l}|batch(2)|list", "{l}|batch(2, 'x')|list", "{l}|slice(2)|list", "{l}|slice(3, 'x')|list",
    "{l}|map('string')|list", "{l}|map('upper')|join({t})", "users|map(attribute='tags.0')|list", "users|map(attribute='on', default='?')|list", "{l}|map('default', 0)|list",
    "{l}|select|list", "{l}|select('string')|list", "{l}|reject('none')|list", "{l}|select('gt', 1)|list", "users|selectattr('on')|list|length", "users|selectattr('age', 'eq', 31)|map(attribute='name')|list",
    "users|selectattr('on', 'defined')|list|length", "users|rejectattr('age', '>', 5)|list", "users|rejectattr('name', 'in', ['Bob'])|map(attribute='name')|list", "{a}|tojson", "{a}|tojson(indent=2)",
    "{a}|tojson(ensure_ascii=true)", "{a}|tojson(separators=(',', ':'))", "{a}|tojson(sort_keys=true)", "{a}|tojson(indent=1, sort_keys=true)", "{a}|tojson(indent=0)", "{a}|tojson(true, 4)",
    "{s}|indent", "{s}|indent(2)", "{s}|indent(2, true)", "{s}|indent('> ')", "'a\\n\\nb'|indent(2, first=true, blank=true)", "{s}|truncate(5)", "{s}|truncate(7, true)", "{s}|truncate(6, leeway=0)",
    "{s}|wordcount", "{s}|center(20)", "{s}|urlencode", "users[0]|items|list", "d|dictsort", "{'b': 1, 'A': 2}|dictsort(true)", "{'b': 1, 'A': 2}|dictsort(by='value', reverse=true)", "{a}|items|list",
    "{a}|safe", "{s}|e", "{s}|escape|string", "{s}|safe|length", "users|groupby('age')", "users|groupby('age')|map('first')|list", "users|groupby('name')|map(attribute='grouper')|list",
    "{a}|attr('name')", "{l}|first|string", "{s}|list", "{s}|first", "{s}|last", "{a}|urlencode", "{s}|format", "{l}|map('nosuch')|list", "{a}|nosuch", "{l}|map(attribute=0)|list",
    "({a} ~ {a})|length", "{l}|list|tojson", "{s}|safe|upper", "{s}|upper|lower|title", "{l}|map('tojson')|join(', ')", "{n}|string|length", "{l}|join|length", "-{n}|abs", "{n}|float|string", "{n}|tojson", "[{n}, {n}]|string",
]

tests = [
    "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "none", "defined", "undefined", "true", "false", "callable", "lower", "upper",
    "odd", "even", "divisibleby 2", "divisibleby({n})", "eq {a}", "ne({a})", "in {l}", "sameas none", "sameas(true)", "gt 1", "lt({n})", "ge 2", "le 2.0", "equalto 'abc'", "escaped", "in(lm)", "== 1", "nosuch", "filter", "test",
]


def filtering(depth):
    value = filled(pick(filters), depth - 1)
    return value


def testing(depth):
    test = filled(pick(tests), 0)
    negated = pick(["", "", "not "])
    return f"{anything(depth)} is {negated}{test}"


def calling(depth):
    return pick(
        [
            f"range({pick(ints)})|list|length", f"range({index()}, {pick(['5', '-5', '2'])}, {pick(['1', '2', '-1', '-2', '0'])})|list", f"dict(a={anything(0)}, b=2)", f"dict({pick(lists)})",
            f"namespace(x={anything(0)}).x", "range(2, 9, 3)", "range(100001)|length", f"range(5)[{index()}]", f"{pick(ints)} in range(10)", "cycler('a', 'b').next()", "joiner('|')()", "dict([('a', 1), ['b', 2]])",
            f"raise_exception({text()})", f"dict(**{d()})", f"dict({d()}, z=1)", f"{anything(0)}()", "range(3)[::-1]", "range(1, 4)|tojson", "range(3)|string", "dict(a=1) == {'a': 1}", "range(3) == range(0, 3)", "loop", "namespace()",
        ]
    )


makers = [(operator, 3), (arithmetic, 4), (comparison, 4), (logic, 2), (subscript, 4), (method, 7), (formatting, 3), (filtering, 9), (testing, 4), (calling, 2), (lambda depth: anything(depth), 1)]


def expression(depth):
    maker = rng.choices([maker for maker, _ in makers], [weight for _, weight in makers])[0]
    return maker(max(depth, 0))


spaces = ["", "", " ", "  ", "\n", "\n  ", "\t", "\n\n"]
signs = ["", "", "", "-", "+"]


def tag(content, sign=None):
    return f"{{%{pick(signs)} {content} {pick(signs)}%}}"


def statements(depth):
    """A piece of a template with statements."""
    body = lambda: statements(depth - 1) if depth > 0 else piece()
    kind = rng.randrange(20)
    s = lambda: pick(spaces)
    if kind < 3:
        otherwise = tag("else") + body() if rng.random() < 0.5 else ""
        other = tag(f"elif {expression(0)}") + body() if rng.random() < 0.3 else ""
        return s() + tag(f"if {expression(0)}") + s() + body() + other + otherwise + s() + tag("endif") + s()
    if kind < 8:
        target, iterable = pick([("x", pick(lists)), ("x", "messages"), ("k, v", "d.items()"), ("k, v", "d|dictsort"), ("x", "users if x.on"), ("x", "l if x > 1"), ("a, b", "[[1, 2], [3, 4]]"), ("x", "missing"), ("x", "l|map('string')"), ("(a, b)", "[(1, 2)]"), ("x", "range(4)"), ("x", text()), ("k", "d")])
        inner = pick(["{{ x }}", "{{ loop.index }}/{{ loop.length }}", "{{ loop.first }}{{ loop.last }}", "{{ loop.index0 }},{{ loop.revindex }},{{ loop.revindex0 }};", "{{ k }}={{ v }}", "{{ a }}{{ b }}", "{{ loop.previtem }}<{{ loop.nextitem }}", "{{ loop.cycle('o', 'e') }}", "{{ loop.changed(x) }}", "{% if loop.index == 2 %}{% continue %}{% endif %}{{ loop.index }}", "{% if loop.index0 == 2 %}{% break %}{% endif %}.", "{{ x.role }}: {{ x.content }}\n", "{{ x['name'] }}", "{% set y = loop.index %}{{ y }}", "{{ loop.depth }}{{ loop.depth0 }}", "{% set n = n + 1 %}{{ n }}", body()])
        otherwise = tag("else") + "none" if rng.random() < 0.3 else ""
        return s() + tag(f"for {target} in {iterable}") + s() + inner + s() + otherwise + tag("endfor") + s()
    if kind < 10:
        name = pick(["y", "s", "n", "a, b", "ns.x"])
        value = pick([f"{anything(0)}, {anything(0)}", "1, 2"]) if name == "a, b" else expression(1)
        return "{% set ns = namespace(x=1, y=2) %}" + s() + tag(f"set {name} = {value}") + s() + "{{ y }}|{{ s }}|{{ n }}|{{ ns.x }}|{{ a }}"
    if kind == 10:
        return tag(f"set y{pick(['', '', ' | upper', ' | trim | length'])}") + s() + body() + tag("endset") + s() + "[{{ y }}]"
    if kind == 11:
        call = pick(["m(1)", "m(1, 2)", "m()", "m(b=3, a=4)", "m(1, 2, 3)", "m(1, c=3)", "m(*[1, 2])", "m(**{'a': 5})", "m(1) ~ m(2)"])
        inner = pick(["{{ a }}-{{ b }}", "{{ a }}{{ varargs }}", "{{ a }}{{ kwargs }}", "{{ caller is defined }}{{ a }}", "{% set n = 99 %}{{ n }}{{ a }}", "{{ a|default('none') }}"])
        return tag(f"macro m(a, b={anything(0)})") + s() + inner + s() + tag("endmacro") + s() + "{{ " + call + " }}{{ n }}"
    if kind == 12:
        return "{% macro m(a=1) %}<{{ caller(a) }}>{% endmacro %}" + tag(f"call{pick(['(x)', '(x, y=2)', ''])} m({pick(['', '5'])})") + s() + pick(["{{ x }}", "text", "{{ y }}"]) + tag("endcall")
    if kind == 13:
        return tag(f"filter {pick(['upper', 'trim', 'replace(chr, 1)', 'indent(2)', 'length', 'upper|lower'])}") + body() + tag("endfilter")
    if kind == 14:
        return tag(f"with y = {expression(0)}, x = n") + "{{ y }}{{ x }}" + body() + tag("endwith") + "{{ x }}"
    if kind == 15:
        return s() + "{#" + pick(signs) + " a comment {{ s }} " + pick(signs) + "#}" + s() + "." + s() + "{%" + pick(signs) + " raw %}{{ s }}{% endraw " + pick(signs) + "%}" + s() + "."
    if kind == 16:
        return tag("generation") + s() + body() + "{% set n = 5 %}" + s() + tag("endgeneration") + s() + "{{ n }}"
    if kind == 17:
        return pick(["{% for x in [[1, [2]], [3]] recursive %}{{ loop.depth }}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}", "{% set ns = namespace(i=0) %}{% for x in l %}{% set ns.i = ns.i + x %}{% endfor %}{{ ns.i }}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% if n == 7 %}{% set y = 1 %}{% endif %}{{ y }}", "{% for x in l %}{% set y = x %}{% endfor %}{{ y }}", "{% print n, s %}", "{{ '{{' }}{{ '%}' }}{{ {'a': {'b': 1}} }}", "{% set x = l|map('string') %}{{ x|join }}{{ x|join }}", "{% set ns = namespace(_x=1) %}", "{% set ns.x = 1 %}", "{% for x in l %}{{ x }}{% continue %}{% else %}else{% endfor %}"])
    return s() + "{{" + pick(["-", "", ""]) + " " + expression(1) + " " + pick(["-", "", ""]) + "}}" + s()


def piece():
    return pick([" text ", "\n", "{{ n }}", "a\n  b\n", "{{ s }}\n", "é", "\r\n x"])


class Slow(Exception):
    pass


def stop(*_):
    raise Slow()


signal.signal(signal.SIGALRM, stop)


def rendered(source):
    """What Python makes of a template, None where it fails. Raises Slow."""
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return environment.from_string(source).render(**json.loads(json.dumps(variables)))
    except Slow:
        raise
    except Exception:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def cases(make, count, failing):
    """Distinct templates with their results, of which at most `failing` are failures."""
    found = {}
    failures = 0
    while len(found) < count:
        source = make()
        if source in found or len(source) > 400:
            continue
        try:
            result = rendered(source)
        except Slow:
            continue
        if result is not None and (len(result) > 1500 or " at 0x" in result or "bound method" in result or "built-in method" in result):
            continue
        if result is None:
            if failures >= failing:
                continue
            failures += 1
        found[source] = result
    return [list(case) for case in found.items()]


if __name__ == "__main__":
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rng.seed(seed)
    expressions = cases(lambda: "{{ " + expression(2) + " }}", 2400, 700)
    templates = cases(lambda: statements(2), 800, 160)
    lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in expressions + templates)
    with open(sys.argv[1], "w") as file:
        file.write(f'{{\n"variables": {json.dumps(variables)},\n"cases": [\n{lines}\n]\n}}\n')
