import json

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
from sympy import log

targets = (LatexExtractionConfig(), ExprExtractionConfig())


def judge(line):
    """Whether an answer is the ground truth, by math-verify: a line of JSON, {gold, answer}. Its own time-outs are off."""
    pair = json.loads(line)
    gold = parse(pair["gold"], targets, parsing_timeout=None)
    if not gold:
        return "unreadable"
    answer = parse(pair["answer"], targets, parsing_timeout=None)
    places = 6 + max([zeros(one) for one in [*gold, *answer]], default=0)
    return verify(
        gold,
        answer,
        float_rounding=places,
        numeric_precision=places + 9,
        timeout_seconds=None,
        allow_set_relation_comp=True,
    )


def zeros(one):
    """How many zeros follow the point in the smallest number of an expression: else 1e-7 and 2e-7 would both be rounded to 0."""
    if getattr(one, "is_number", False):
        try:
            size = abs(one.evalf(3))
            return 0 if size == 0 else min(max(0, int(-log(size, 10).evalf(5))), 10_000)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return 0  # infinity, and what has no value
    parts = one.flat() if hasattr(one, "flat") else getattr(one, "args", ())
    return max([zeros(part) for part in parts], default=0)


# What the first pairs would otherwise wait for: grammars are read, and sympy's modules loaded, when they are first used.
for gold, answer in [
    ("\\boxed{\\frac{1}{2}}", "$0.5$"),
    ("\\boxed{x^2+\\sqrt{2}x}", "x**2 + sqrt(2)*x"),
    ("\\boxed{(1,2] \\cup \\{3\\}}", "$\\{3\\} \\cup (1,2]$"),
    ("\\boxed{\\begin{pmatrix}1\\\\2\\end{pmatrix}}", "$x \\le 5$"),
    ("\\boxed{(-\\infty,5]}", "$x \\le 5$"),
    ("\\boxed{\\sin(x)}", "The answer is 5 \\text{ cm}"),
]:
    judge(json.dumps({"gold": gold, "answer": answer}))
