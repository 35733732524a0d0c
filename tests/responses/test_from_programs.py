"""Files of salmon, jsPsych and THINGS."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdpmetric import Responses

SALMON = """head,winner,loser,puid,response_time,head_filename,winner_filename,loser_filename
0,2,1,p1,1.5,a.png,c.png,b.png
1,0,2,p2,0.9,b.png,a.png,c.png
"""
TRIALS: list[dict[str, Any]] = [
    {"trial_type": "preload", "success": True},
    {
        "trial_type": "html-button-response",
        "a": "x",
        "b": "y",
        "c": "z",
        "response": 0,
        "who": "p1",
    },
    {
        "trial_type": "html-button-response",
        "a": "z",
        "b": "y",
        "c": "x",
        "response": None,
        "who": "p1",
    },
    {
        "trial_type": "html-button-response",
        "a": "y",
        "b": "x",
        "c": "z",
        "response": 2,
        "who": "p2",
    },
]
IDS = ["x", "y", "z"]


def test_salmon() -> None:
    table = pd.read_csv(io.StringIO(SALMON))
    expected = [[0, 2, 1], [1, 0, 2]]
    found = Responses.from_salmon(table)
    assert found.triplets.tolist() == expected
    assert found.participants is not None
    assert found.participants.tolist() == ["p1", "p2"]
    by_name = Responses.from_salmon(table, ids=["a.png", "b.png", "c.png"])
    assert by_name.triplets.tolist() == expected
    assert Responses.from_salmon(table.drop(columns="puid")).participants is None
    with pytest.raises(ValueError, match="table has no column 'head'"):
        Responses.from_salmon({"anchor": [1], "winner": [2], "loser": [3]})


def test_jspsych_as_json_and_as_csv() -> None:
    expected = [[1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 1, 2]]
    file = io.StringIO()
    pd.DataFrame(TRIALS).to_csv(file, index=False)
    file.seek(0)
    for data in (TRIALS, pd.read_csv(file), pd.DataFrame(TRIALS)):
        found = Responses.from_jspsych(data, ids=IDS, participants="who")
        assert found.triplets.tolist() == expected
        assert found.participants is not None
        assert found.participants.tolist() == ["p1", "p1", "p2", "p2"]


def test_jspsych_keys_and_2afc() -> None:
    trial = {"anchor": 4, "left": 5, "right": 6, "response": "2"}
    names = ("anchor", "left", "right")
    found = Responses.from_jspsych([trial], ask="2afc", columns=names, first=1)
    assert found.triplets.tolist() == [[4, 6, 5]]
    odd = Responses.from_jspsych([trial], columns=names, first=1)
    assert odd.triplets.tolist() == [[4, 6, 5], [6, 4, 5]]


@pytest.mark.parametrize("response", ["arrowleft", 3, -1, 1.5, True, "9" * 5000])
def test_jspsych_responses_that_are_no_place(response: object) -> None:
    trial = {"a": 0, "b": 1, "c": 2, "response": response}
    with pytest.raises(ValueError, match=r"response: row 0 is .*, expected a number, 0 to 2"):
        Responses.from_jspsych([trial])


def test_jspsych_without_trials() -> None:
    with pytest.raises(ValueError, match="no trial has 'a', 'b', 'c', 'response'"):
        Responses.from_jspsych(TRIALS[:1])


def test_things_counts_from_one() -> None:
    table = pd.DataFrame(
        {
            "image1": [1, 7],
            "image2": [2, 3],
            "image3": [3, 1],
            "choice": [3, 1],
            "subject_id": [9, 8],
        }
    )
    expected = [[0, 1, 2], [1, 0, 2], [2, 0, 6], [0, 2, 6]]
    found = Responses.from_things(table)
    assert found.triplets.tolist() == expected
    assert found.participants is not None
    assert found.participants.tolist() == [9, 9, 8, 8]
    named = {"image1": ["y"], "image2": ["x"], "image3": ["z"], "choice": ["2"]}
    assert Responses.from_things(named, ids=IDS, participants=None).triplets.tolist() == [
        [1, 2, 0],
        [2, 1, 0],
    ]
    for column, bad in (("choice", 0), ("choice", 4), ("image2", 0)):
        with pytest.raises(ValueError, match=f"{column}: row 0 is {bad}, expected a number, 1"):
            Responses.from_things(table.assign(**{column: bad}))


# As jsPsych 7 and 8 write it: every cell quoted, lines end in CR LF, other trials lack the columns.
JSPSYCH = (
    '"rt","stimulus","response","trial_type","trial_index","a","b","c","subject"\r\n'
    '"1161","<p>Welcome</p>","0","html-button-response","0","","","","9om0"\r\n'
    '"812","which?","1","html-button-response","1","3","5","4","9om0"\r\n'
    '"","which?","null","html-button-response","2","3","6","4","9om0"\r\n'
    '"640","which?","2","html-button-response","3","0","1","2","9om0"\r\n'
    '"3676","","{""Q0"":""fine""}","survey-text","4","","","","9om0"\r\n'
)


def test_a_csv_file_of_jspsych_by_pandas_and_by_the_csv_module() -> None:
    expected = [[3, 4, 5], [4, 3, 5], [0, 1, 2], [1, 0, 2]]
    read = pd.read_csv(io.StringIO(JSPSYCH)), list(csv.DictReader(io.StringIO(JSPSYCH, newline="")))
    for table in read:
        found = Responses.from_jspsych(table, participants="subject")
        assert found.triplets.tolist() == expected
        assert found.participants is not None
        assert set(found.participants.tolist()) == {"9om0"}


def test_key_codes_of_jspsych_6() -> None:
    data = [{"trial_type": "html-keyboard-response", "key_press": 50, "a": 3, "b": 5, "c": 4}]
    found = Responses.from_jspsych(data, response="key_press", first=49)
    assert found.triplets.tolist() == [[3, 4, 5], [4, 3, 5]]


# The columns of THINGS' table of all answers, which ends in .csv and has tabs.
THINGS = (
    "image1\timage2\timage3\tchoice\tRT\tnoise_ceiling\tsubject_id\tHIT_nr\ttrial_nr\tage\tgender\n"
    "11\t5\t1854\t3\t2210\t0\t17\t4\t1\t35\tfemale\n"
    "2\t9\t4\t1\t1800\t0\t3\t9\t2\t\t\n"
)


def test_the_table_of_things_with_tabs() -> None:
    found = Responses.from_things(pd.read_table(io.StringIO(THINGS)))
    assert found.triplets.tolist() == [[10, 4, 1853], [4, 10, 1853], [8, 3, 1], [3, 8, 1]]
    assert found.participants is not None
    assert found.participants.tolist() == [17, 17, 3, 3]


def test_the_text_files_of_things() -> None:
    rows = np.loadtxt(io.StringIO("3 7 1\n1853 0 5\n"), dtype=int)
    assert Responses.from_odd_one_out(rows).triplets[:, 2].tolist() == [1, 1, 5, 5]


@pytest.mark.parametrize("columns", [(), ("a", "b"), ("a", "b", "c", "d")])
@pytest.mark.parametrize("read", [Responses.from_jspsych, Responses.from_things])
def test_other_numbers_of_columns_than_three(read: Any, columns: tuple[str, ...]) -> None:
    """No column at all was an IndexError."""
    trial = {"a": 1, "b": 2, "c": 3, "d": 4, "response": 1, "choice": 1, "subject_id": 0}
    with pytest.raises(ValueError, match=r"columns has .*, expected the names of three"):
        read([trial], columns=columns)
