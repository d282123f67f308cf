"""Writes tests/fixtures/bfcl/answers.jsonl.gz: rows of the Berkeley Function Calling Leaderboard as published, the prompt that its own
code makes of them, and what its own checker says of right and wrong answers.

    pip install --no-deps bfcl-eval==2026.3.23
    python scripts/make-bfcl-fixtures.py
"""

import ast
import gzip
import importlib.util
import json
import random
import re
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PACKAGE = Path(importlib.util.find_spec("bfcl_eval").submodule_search_locations[0])
# The table of models imports every vendor's client; the checker asks it only whether a model writes dots in names.
table = types.ModuleType("bfcl_eval.constants.model_config")
table.MODEL_CONFIG_MAPPING = {"own": types.SimpleNamespace(underscore_to_dot=False)}
sys.modules[table.__name__] = table

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402

# model_handler/utils.py imports parsers of Java and JavaScript, too; these parts of it are plain.
SOURCE = (PACKAGE / "model_handler" / "utils.py").read_text()
own = {"ast": ast, "json": json, "re": re}
exec((PACKAGE / "constants" / "default_prompts.py").read_text(), own)
for name in ["resolve_ast_call", "resolve_ast_by_type", "format_function_doc", "parse_prompt_variation_params", "formulate_system_prompt"]:
    exec(re.search(rf"^def {name}\(.*?(?=^def |^# TODO|\Z)", SOURCE, re.S | re.M).group(0), own)

COUNTS = {
    **{"simple_python": 40, "multiple": 40, "parallel": 40, "parallel_multiple": 40},
    **{"live_simple": 40, "live_multiple": 20, "live_parallel": 16, "live_parallel_multiple": 24},
    **{"irrelevance": 12, "live_irrelevance": 8, "live_relevance": 6},
}


def decoded(text):
    text = text.strip("`\n ")
    text = text if text.startswith("[") else "[" + text
    text = text if text.endswith("]") else text + "]"
    body = ast.parse(text.strip().strip("'"), mode="eval").body
    if isinstance(body, ast.Call):
        return [own["resolve_ast_call"](body)]
    assert all(isinstance(one, ast.Call) for one in body.elts)
    return [own["resolve_ast_call"](one) for one in body.elts]


def verdict(category, row, accepted, text):
    try:
        calls = decoded(text)
    except Exception:
        calls = None
    if "relevance" in category:  # irrelevance and relevance
        called = bool(calls) and all(calls)
        return not called if "irrelevance" in category else called
    if calls is None:
        return False
    try:
        return ast_checker(row["function"], calls, accepted, Language.PYTHON, category, "own")["valid"]
    except Exception:
        return False


def plain(value):
    if isinstance(value, dict):
        return {key: plain(next(v for v in values if v != "")) for key, values in value.items() if any(v != "" for v in values)}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def call_of(accepted):
    [(name, values)] = accepted.items()
    return name, plain(values)


def text_of(calls):
    return "[" + ", ".join(f"{name}({', '.join(f'{k}={v!r}' for k, v in given.items())})" for name, given in calls) + "]"


def changed(value, rng):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return rng.choice([value + 1, str(value), -value])
    if isinstance(value, str):
        return rng.choice([value.upper(), value + "x", f" {value.replace(' ', '-')}.", 7, value.replace("'", '"') + "*", [value]])
    if isinstance(value, list):
        return rng.choice([value[::-1], value[1:], value + value[:1], [changed(one, rng) for one in value], "list", [value]])
    if isinstance(value, dict):
        keys = list(value)
        if not keys:
            return {"more": 1}
        one = rng.choice(keys)
        return rng.choice([{k: v for k, v in value.items() if k != one}, {**value, one: changed(value[one], rng)}, {**value, "more": 1}])
    return "none"


def answers(accepted, rng):
    calls = [call_of(one) for one in accepted]
    yield text_of(calls)
    yield text_of(calls)[1:-1]
    yield f"```\n{text_of(calls)}\n```"
    yield f"Here it is: {text_of(calls)}"
    yield text_of(calls[::-1])
    yield text_of(calls[1:])
    yield text_of(calls + calls[:1])
    for index, (name, given) in enumerate(calls):
        others = accepted[index][name]

        def with_(new_name, new):
            return text_of(calls[:index] + [(new_name, new)] + calls[index + 1 :])

        yield with_(name + "_x", given)
        yield with_(name, {**given, "unasked": 1})
        for key in given:
            yield with_(name, {k: v for k, v in given.items() if k != key})
            yield with_(name, {**given, key: changed(given[key], rng)})
            yield with_(name, {**given, key: changed(given[key], rng)})
            for other in others[key][1:3]:
                if other != "":
                    yield with_(name, {**given, key: plain(other)})


def lines():
    for category, count in COUNTS.items():
        rng = random.Random(category)
        rows = [json.loads(line) for line in (PACKAGE / "data" / f"BFCL_v4_{category}.json").read_text().splitlines()]
        path = PACKAGE / "data" / "possible_answer" / f"BFCL_v4_{category}.json"
        truths = {row["id"]: row for row in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
        for number, row in enumerate(rows[:: max(1, len(rows) // count)][:count]):
            truth = truths.get(row["id"])
            accepted = truth["ground_truth"] if truth else []
            if truth:
                texts = list(dict.fromkeys(answers(accepted, rng)))
                # Kept: what shows each kind of mistake, not every value of every argument.
                texts = texts[:9] + rng.sample(texts[9:], min(len(texts[9:]), 9))
            else:
                name = row["function"][0]["name"] if row["function"] else "f"
                texts = [f"[{name}(a=1)]", "None of the functions can be used.", "[]", "", f"I would call {name}(a=1)."]
            hint = " Note that the provided function is in Python 3 syntax."
            told = [{**one, "description": one["description"] + hint} for one in row["function"]]
            yield {
                **{"category": category, "row": row, "answer": truth},
                **({"system": own["formulate_system_prompt"](own["DEFAULT_SYSTEM_PROMPT_FORMAT"], told)} if number < 2 else {}),
                "checked": [[text, verdict(category, row, accepted, text)] for text in texts],
            }


with gzip.GzipFile(HERE / "tests" / "fixtures" / "bfcl" / "answers.jsonl.gz", "wb", mtime=0) as file:
    made = [json.dumps(line) for line in lines()]
    file.write("\n".join(made).encode())
print(f"{len(made)} rows, {sum(len(json.loads(one)['checked']) for one in made)} answers")
