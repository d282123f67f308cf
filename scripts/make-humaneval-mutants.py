# Writes tests/fixtures/humaneval.jsonl: HumanEval's tasks, each with `mutated_solution`, its canonical solution with one small
# mistake. Of the mistakes that a rule makes (in the order below) the first is taken with which HumanEval's own check fails, in
# a plain Python. Usage: python3 scripts/make-humaneval-mutants.py HumanEval.jsonl
import ast, copy, json, resource, subprocess, sys

COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}


def mistakes(tree):
    """Copies of the tree, each with one mistake: another comparison, operator, constant, connective, or result."""
    for index, node in enumerate(ast.walk(tree)):
        for change in changes(node):
            other = copy.deepcopy(tree)
            change(list(ast.walk(other))[index])
            yield ast.unparse(ast.fix_missing_locations(other))


def changes(node):
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda one: one.ops.__setitem__(0, COMPARISONS[type(one.ops[0])]())
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield lambda one: setattr(one, "op", OPERATORS[type(one.op)]())
    if isinstance(node, ast.BoolOp):
        yield lambda one: setattr(one, "op", ast.And() if isinstance(one.op, ast.Or) else ast.Or())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield lambda one: setattr(one, "value", one.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda one: setattr(one, "value", not one.value)
    if isinstance(node, ast.Constant) and type(node.value) is str:
        yield lambda one: setattr(one, "value", one.value + "x")
    if isinstance(node, ast.Return) and node.value is not None:
        yield lambda one: setattr(one, "value", ast.Tuple([one.value, ast.Constant(None)], ast.Load()))


def passes(task, solution):
    program = f"{task['prompt']}\n{solution}\n{task['test']}\ncheck({task['entry_point']})\n"
    try:
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=10, preexec_fn=limit)
        return run.returncode == 0
    except subprocess.TimeoutExpired:
        return False


def mutated(task):
    tree = ast.parse(task["prompt"] + task["canonical_solution"])
    own = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == task["entry_point"])
    if isinstance(own.body[0], ast.Expr) and isinstance(own.body[0].value, ast.Constant):
        own.body = own.body[1:]  # the docstring
    found = list(mistakes(own))
    # Not always the first place of a solution: which one depends on the task.
    start = int(task["task_id"].split("/")[1]) % len(found)
    return next(one for one in found[start:] + found[:start] if not passes(task, one))


with open(sys.argv[1]) as file:
    tasks = [json.loads(line) for line in file]
with open("tests/fixtures/humaneval.jsonl", "w") as file:
    for task in tasks:
        assert passes(task, f"{task['prompt']}{task['canonical_solution']}"), task["task_id"]
        file.write(json.dumps({**task, "mutated_solution": mutated(task)}) + "\n")
