import json

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

targets = (LatexExtractionConfig(), ExprExtractionConfig())


def judge(line):
    """Whether an answer is the ground truth, by math-verify: a line of JSON, {gold, answer}. Its own time-outs are off."""
    pair = json.loads(line)
    gold = parse(pair["gold"], targets, parsing_timeout=None)
    if not gold:
        return "unreadable"
    answer = parse(pair["answer"], targets, parsing_timeout=None)
    return verify(gold, answer, timeout_seconds=None, allow_set_relation_comp=True)


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
