"""Makes the tasks and the demonstrations of pipelines/sql, over pipelines/chinook-sql's database. Python's standard library is enough.

    python scripts/make-sql-example.py && python scripts/make-tokenizer.py sql

Some demonstrations answer without asking, some ask for the right thing by the wrong column, and the others ask
rightly. Nothing in a task tells which is shown for it.
"""

import json
import random
import sqlite3
from pathlib import Path

PIPELINES = Path(__file__).parent.parent / "pipelines"
PIPELINE = PIPELINES / "sql"
SEED = 1
TRAINING, HELD_OUT = 1500, 200
GUESSES, WRONG = 0.35, 0.4  # the shares of demonstrations

# The question, what is asked for, of which table, by which column, and by which wrong one.
QUESTIONS = [
    ("How many tracks has album {}?", "count(*)", "Track", "AlbumId", "TrackId"),
    ("How many albums has artist {}?", "count(*)", "Album", "ArtistId", "AlbumId"),
    ("How many invoices has customer {}?", "count(*)", "Invoice", "CustomerId", "InvoiceId"),
    ("How many lines has invoice {}?", "count(*)", "InvoiceLine", "InvoiceId", "InvoiceLineId"),
    ("How long is track {}?", "Milliseconds", "Track", "TrackId", "AlbumId"),
    ("How large is track {}?", "Bytes", "Track", "TrackId", "AlbumId"),
]


def query(asked, column):
    (_, what, table, _, _), number = asked
    return f"SELECT {what} FROM {table} WHERE {column} = {number}"


def question(asked):
    (text, *_), number = asked
    return {"role": "user", "content": text.format(number)}


def task(asked):
    gold = query(asked, asked[0][3])
    return {"data_source": "chinook", "prompt": [question(asked)], "reward_model": {"ground_truth": gold}}


def demonstration(asked, rng, database):
    how = rng.random()
    done = {"role": "assistant", "content": "Done."}
    if how < GUESSES:
        return {"messages": [question(asked), done]}
    sql = query(asked, asked[0][4 if how < GUESSES + WRONG else 3])
    function = {"name": "sql", "arguments": {"query": sql}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    return {"messages": [question(asked), call, {"role": "tool", "content": told(sql, database)}, done]}


def told(sql, database):
    """A result as tool-sql tells it."""
    cursor = database.execute(sql)
    rows = cursor.fetchmany(50)
    lines = [" | ".join(column[0] for column in cursor.description), *(" | ".join(map(str, row)) for row in rows)]
    return "\n".join([*lines, f"({len(rows)} row{'' if len(rows) == 1 else 's'})"])


def write(name, rows):
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    database = sqlite3.connect(f"file:{PIPELINES / 'chinook-sql' / 'chinook.sqlite'}?mode=ro", uri=True)
    asked = [
        (one, number)
        for one in QUESTIONS
        for (number,) in database.execute(f"SELECT DISTINCT {one[3]} FROM {one[2]} ORDER BY 1 LIMIT 400")
    ]
    asked = rng.sample(asked, TRAINING + HELD_OUT)
    training, held_out = asked[:TRAINING], asked[TRAINING:]
    write("train.jsonl", map(task, training))
    write("held-out.jsonl", map(task, held_out))
    write("demonstrations.jsonl", [demonstration(one, rng, database) for one in training])


if __name__ == "__main__":
    main()
