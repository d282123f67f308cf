"""Writes the cases of math-verify's own tests, with the verdicts that they expect, into the test's folder.

    pip install math-verify==0.9.0 latex2sympy2-extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0 mpmath==1.3.0 pytest
    pip download --no-deps --no-binary :all: math-verify==0.9.0 && tar -xzf math_verify-0.9.0.tar.gz
    python scripts/make-math-verify-fixtures.py math_verify-0.9.0
"""

import importlib
import json
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
modules = ["test_all", "test_boxed", "test_numina_cases", "test_open_thoughts", "test_strict", "test_yujianll"]
# Cases that set these otherwise are no cases of the reward: variables by any name, no set for a relation, fewer decimals.
options = {"strict": True, "allow_set_relation_comp": True, "precision": 6}

cases = []
for name in modules:
    module = importlib.import_module(f"tests.{name}")
    for function in vars(module).values():
        for mark in getattr(function, "pytestmark", []):
            if mark.name != "parametrize":
                continue
            keys = [key.strip() for key in mark.args[0].split(",")]
            for values in mark.args[1]:
                case = dict(zip(keys, values))
                if any(case.get(key, value) != value for key, value in options.items()):
                    continue
                equal = bool(case["expected"] if "expected" in case else case["result"])
                cases.append({"test": f"{name}::{function.__name__}", "gold": case["gold"], "answer": case["pred"], "equal": equal})

unique = list({(case["gold"], case["answer"]): case for case in cases}.values())
fixture = {
    "source": "The parametrized tests of math-verify 0.9.0, https://github.com/huggingface/Math-Verify",
    "license": "Apache-2.0, Copyright The HuggingFace Team",
}
file = pathlib.Path(__file__).parent.parent / "tests" / "unit" / "plugins" / "fixtures" / "math-verify-tests.json"
lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in unique)
head = json.dumps(fixture, indent=0)[:-2]
file.write_text(f'{head},\n"cases": [\n{lines}\n]\n}}\n', encoding="utf-8")
print(f"{len(unique)} cases, {sum(case['equal'] for case in unique)} of them equal")
