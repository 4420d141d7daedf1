import json

import pytest

from remapnd.cli import main
from remapnd.directml import SUPPORT


def test_table_of_an_operator(capsys):
    for name in ("resample", "DML_OPERATOR_RESAMPLE"):
        assert main(["levels", name]) == 0
        assert capsys.readouterr() == (
            "RESAMPLE\n"
            "  from  dimensions  data types\n"
            "  2_0   4           FLOAT32 FLOAT16\n"
            "  5_1   1 to 4      FLOAT32 FLOAT16\n"
            "  6_2   1 to 4      FLOAT32 FLOAT16 INT8 UINT8\n",
            "",
        )


def test_index_types(capsys):
    assert main(["levels", "GATHER_ND1", "SCATTER"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "GATHER_ND1"
    assert lines[1].split() == ["from", "dimensions", "data", "types", "index", "types"]
    assert lines[2].startswith("  3_0   1 to 8      FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8  ")
    assert lines[2].endswith("  INT64 INT32 UINT64 UINT32")
    assert lines[4] == "SCATTER_ELEMENTS"
    assert lines[6].split() == ["2_0", "4", "FLOAT32", "FLOAT16", "UINT32"]


def test_all_operators(capsys):
    assert main(["levels"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["operator", "from"]
    assert [line.split() for line in lines] == [[str(o), str(rows[0].since)] for o, rows in SUPPORT.items()]


def test_json(capsys):
    assert main(["levels", "UPSAMPLE_2D", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "UPSAMPLE_2D": [
            {
                "since": "1_0",
                "dimension_counts": [4, 5],
                "data_types": ["FLOAT32", "FLOAT16"],
                "index_types": [],
            }
        ]
    }
    assert main(["levels", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 13


def test_unknown_operator(capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["levels", "CONVOLUTION"])
    assert "must be one of GATHER, GATHER_ELEMENTS, " in capsys.readouterr().err
