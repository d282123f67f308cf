# Runs in the answer's sandbox: loads the answer and makes the calls that the tests want. It knows no expected result. What the answer does to
# this process can only change what it returns.
def called(names, name):
    """A function of the answer, or a method of its class Solution, as LeetCode has it."""
    solution = names.get("Solution")
    return getattr(solution(), name) if name not in names and isinstance(solution, type) else names[name]


def main():
    with open("request.json") as file:
        request = json.load(file)
    results = open("results.jsonl", "w")
    module = type(sys)("__main__")
    sys.modules["__main__"] = module

    def say(result):
        results.write(json.dumps(result) + "\n")
        results.flush()

    try:
        exec(compile(request["program"], "<answer>", "exec"), module.__dict__)
    except BaseException as error:
        for _ in request["calls"]:
            say({"error": type(error).__name__, "message": f"the answer can't be loaded: {error}"[:500]})
        return
    for name, parameters, named in request["calls"]:
        try:
            parameters, named = decoded(parameters), decoded(named)
            result = called(module.__dict__, name)(*parameters, **named)
            say({"value": encoded(result), "after": encoded(parameters)})
        except BaseException as error:
            say({"error": type(error).__name__, "message": str(error)[:500]})


main()
