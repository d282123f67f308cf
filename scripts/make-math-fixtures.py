"""Writes pairs of ground truths and answers, each with what native math-verify says of it, into the test's folder.

    pip install math-verify==0.9.0 latex2sympy2-extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0 mpmath==1.3.0
    python scripts/make-math-fixtures.py path/to/gsm-symbolic.val.jsonl    # the numbers of reasoning-gym's word problems
"""

import json
import logging
import pathlib
import sys

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

logging.disable(logging.CRITICAL)
targets = (LatexExtractionConfig(), ExprExtractionConfig())


def native(gold, answer):
    """math-verify as its documentation uses it."""
    marked = gold if "\\boxed" in gold else "\\boxed{" + gold + "}"
    return verify(parse(marked, targets), parse(answer, targets))


pairs = []


def add(kind, gold, *answers, wrong=()):
    for answer in answers:
        pairs.append({"kind": kind, "gold": gold, "answer": answer, "equal": True})
    for answer in wrong:
        pairs.append({"kind": kind, "gold": gold, "answer": answer, "equal": False})


rows = [json.loads(line) for line in open(sys.argv[1])]
golds = [row["reward_model"]["ground_truth"] for row in rows]
for gold in list(dict.fromkeys(golds))[:50]:
    number = int(gold)
    add("word problem", gold, gold, f"The answer is {gold}.", f"So we get \\boxed{{{gold}}}", f"${gold}.00$",
        wrong=[str(number + 1), f"The answer is {number * 10 + 1}.", f"\\boxed{{{number - 3}}}"])

for a, b in [(1, 2), (3, 4), (5, 8), (7, 3), (-2, 5), (22, 7), (1, 9), (11, 6)]:
    add("fraction", f"\\frac{{{a}}}{{{b}}}", f"{a}/{b}", f"$\\frac{{{2 * a}}}{{{2 * b}}}$", f"\\boxed{{\\dfrac{{{a}}}{{{b}}}}}",
        f"The answer is $\\tfrac{{{a}}}{{{b}}}$.", f"{a / b:.12f}",
        wrong=[f"{b}/{a}", f"$\\frac{{{a + 1}}}{{{b}}}$", f"\\boxed{{{a}}}"])
for text, other, bad in [
    ("\\sqrt{8}", "2\\sqrt{2}", "4\\sqrt{2}"), ("\\sqrt{12}", "2\\sqrt 3", "3\\sqrt{2}"), ("\\frac{1}{\\sqrt{2}}", "\\frac{\\sqrt{2}}{2}", "\\sqrt{2}"),
    ("2^{10}", "1024", "1000"), ("\\pi", "\\frac{2\\pi}{2}", "3.14"), ("e^{2}", "e \\cdot e", "e^3"), ("\\log_2 8", "3", "4"), ("5!", "120", "60"),
    ("\\binom{5}{2}", "10", "20"), ("\\sin\\frac{\\pi}{6}", "\\frac12", "\\frac{\\sqrt3}{2}"), ("1+i", "i+1", "1-i"), ("\\sqrt[3]{27}", "3", "9"),
    ("|{-5}|", "5", "-5"), ("3\\%", "0.03", "0.3"), ("10^{-3}", "0.001", "0.01"), ("\\ln e^4", "4", "e"), ("-\\frac{3}{-4}", "0.75", "-0.75"),
    ("2\\frac{1}{3}", "\\frac{7}{3}", "\\frac{2}{3}"), ("0.\\overline{3}", "\\frac{1}{3}", "0.3"), ("(2+3)^2", "25", "13"),
]:
    add("number", text, f"${other}$", f"\\boxed{{{other}}}", f"Hence the value is ${text}$.", wrong=[f"${bad}$", f"\\boxed{{{bad}}}"])
for text, other, bad in [
    ("(x-1)(x+1)", "x^2-1", "x^2+1"), ("x^2+2x+1", "(x+1)^2", "(x-1)^2"), ("\\frac{x}{2}", "0.5x", "2x"), ("a+b", "b+a", "a-b"),
    ("\\frac{x^2-1}{x-1}", "x+1", "x-1"), ("\\sin^2 x+\\cos^2 x", "1", "0"), ("2(x+y)", "2x+2y", "2x+y"), ("x^{-1}", "\\frac{1}{x}", "-x"),
    ("\\sqrt{x^4}", "x^2", "x^4"), ("3x^2y", "3yx^2", "3xy^2"), ("\\frac{a}{b}+\\frac{c}{d}", "\\frac{ad+bc}{bd}", "\\frac{a+c}{b+d}"), ("y=2x+1", "2x+1=y", "y=2x-1"),
]:
    add("expression", text, f"${other}$", f"\\boxed{{{other}}}", wrong=[f"${bad}$", f"\\boxed{{{bad}}}"])
for number, unit in [("5", "cm"), ("12", "apples"), ("3.5", "hours"), ("60", "km/h"), ("100", "dollars"), ("45", "degrees"), ("7", "m^2")]:
    add("unit", number, f"{number} {unit}", f"${number}\\text{{ {unit}}}$", f"\\boxed{{{number}\\ \\text{{{unit}}}}}",
        wrong=[f"{number}1 {unit}", f"$2{number}\\text{{ {unit}}}$"])
add("unit", "50\\%", "$50\\%$", "0.5", "$\\frac{1}{2}$", wrong=["$5\\%$"])
add("unit", "\\$20", "20 dollars", "$20$", "\\boxed{\\$20}", wrong=["\\boxed{\\$2}"])
for gold, others, bads in [
    ("\\{1,2,3\\}", ["\\{3,2,1\\}", "\\{1,3,2\\}", "\\{1, 2, 3\\}"], ["\\{1,2\\}", "\\{1,2,4\\}"]), ("\\{-1,\\frac12\\}", ["\\{0.5,-1\\}", "\\{\\frac{1}{2}, -1\\}"], ["\\{1,\\frac12\\}"]),
    ("\\emptyset", ["\\emptyset", "\\varnothing"], ["\\{0\\}"]), ("\\{x,y\\}", ["\\{y,x\\}"], ["\\{x,z\\}"]), ("\\{2\\}", ["\\{2\\}", "\\{\\frac{4}{2}\\}"], ["\\{3\\}"]),
    ("1,2", ["1,2", "2,1"], ["1,3", "1"]), ("(1,2)", ["(1,2)", "(\\frac{2}{2},2)"], ["(2,1)", "(1,3)"]), ("(3,-4,5)", ["(3,-4,5)"], ["(3,4,5)"]),
]:
    add("set", gold, *[f"${other}$" for other in others], *[f"\\boxed{{{other}}}" for other in others], wrong=[f"${bad}$" for bad in bads])
for gold, others, bads in [
    ("[0,1]", ["[0,1]", "[0, \\frac{2}{2}]"], ["[0,1)", "[0,2]"]), ("(-\\infty,5]", ["(-\\infty, 5]", "(-\\infty,5.0]", "x\\le5", "x \\leq 5", "5\\ge x"], ["(-\\infty,5)", "x\\ge5", "x<5"]),
    ("(2,\\infty)", ["(2,\\infty)", "(2,+\\infty)", "x>2", "2<x"], ["[2,\\infty)", "x<2", "x\\ge2"]), ("[-3,4)", ["[-3,4)", "-3\\le x<4"], ["(-3,4]", "-3<x\\le4"]),
    ("(-\\infty,1)\\cup(3,\\infty)", ["(3,\\infty)\\cup(-\\infty,1)"], ["(1,3)", "(-\\infty,3)\\cup(1,\\infty)"]), ("x\\le5", ["x\\le 5", "(-\\infty,5]", "5 \\geq x"], ["x\\ge5", "(-\\infty,5)"]),
    ("x>2", ["x>2", "(2,\\infty)", "2<x"], ["x\\ge2", "x<2"]), ("(0,1)\\cap(\\frac12,2)", ["(\\frac12,1)"], ["(0,2)"]),
]:
    add("interval", gold, *[f"${other}$" for other in others], *[f"\\boxed{{{other}}}" for other in others], wrong=[f"${bad}$" for bad in bads])
for gold, others, bads in [
    ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", ["\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}", "\\begin{pmatrix}1&2\\\\3&\\frac{8}{2}\\end{pmatrix}"], ["\\begin{pmatrix}1&2\\\\4&3\\end{pmatrix}"]),
    ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", ["\\begin{bmatrix}1\\\\2\\end{bmatrix}"], ["\\begin{pmatrix}2\\\\1\\end{pmatrix}", "\\begin{pmatrix}1\\end{pmatrix}"]),
]:
    add("matrix", gold, *[f"${other}$" for other in others], wrong=[f"${bad}$" for bad in bads])
# What math-verify 0.9.0 misses and the reward mends.
for gold, answer in [("1000", "1e3"), ("1500", "1.5e3"), ("0.002", "2e-3"), ("25000", "The answer is 2.5e4."), ("1e3", "1000"), ("1e3", "$10^3$")]:
    add("power of ten", gold, answer, wrong=[answer.replace("3", "4") if "3" in answer else "2e1"])
for name, size, value, bad in [("\\tan", "45", "1", "2"), ("\\sin", "30", "\\frac12", "\\frac{\\sqrt3}{2}"), ("\\cos", "60", "\\frac{1}{2}", "1"), ("\\cos", "180", "-1", "1")]:
    angles = [f"{name} {size}^\\circ", f"{name}({size}^{{\\circ}})"]
    add("degrees", value, *[f"${angle}$" for angle in angles], f"{name[1:]} {size}°", wrong=[f"${name} 1{size}^\\circ$"])
    for angle in angles:
        add("degrees", angle, f"${value}$", wrong=[f"${bad}$"])
for gold, answer, bad in [("(-\\infty,5]", "x ≤ 5", "x ≥ 5"), ("(-\\infty,5]", "x\\le5", "x\\ge5"), ("\\frac12", "\\frac{1}{2}", "\\frac{1}{3}"), ("\\sqrt{2}", "\\sqrt{2}", "\\sqrt{3}"),
                          ("(2,\\infty)", "(2,∞)", "(3,∞)"), ("2\\pi", "2π", "3π"), ("x\\le5", "x ≤ 5", "x < 5")]:
    add("bare", gold, answer, wrong=[bad])
for answer in ["", "I don't know.", "\\boxed{}", "$$", "}{", "\\frac{1}{", "NaN", "None", "\\boxed{\\boxed{3}", "9^9^9^9^9", "((((", "\\text{two}"]:
    add("no answer", "2", wrong=[answer])

unique = list({(pair["gold"], pair["answer"]): pair for pair in pairs}.values())
for pair in unique:
    pair["native"] = native(pair["gold"], pair["answer"])
folder = pathlib.Path(__file__).parent.parent / "tests" / "unit" / "plugins" / "fixtures"
lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in unique)
(folder / "math-pairs.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
wrong = [pair for pair in unique if pair["native"] != pair["equal"]]
print(f"{len(unique)} pairs; math-verify judges {len(wrong)} of them otherwise than they were made:")
for pair in wrong:
    print(" ", pair["kind"], "|", pair["gold"], "|", pair["answer"], "| made", pair["equal"])
