import json
import re

import pytest
from dxdispatch_models import ABSENT, GATHER_ND, changed, save

from remapnd.cli import main, table

DESC = "dispatchables/gather/desc"


def test_violations_at_a_level(tmp_path, capsys):
    path = save(tmp_path, changed(GATHER_ND, (f"{DESC}/IndicesTensor/DataType", "INT64")))
    assert main(["check", path, "--feature-level", "2_1"]) == 1
    out, errors = capsys.readouterr()
    assert errors == ""
    assert all(line.startswith(f"{path}: dispatchables.gather: GATHER_ND: `") for line in out.splitlines())
    assert (
        f"{path}: dispatchables.gather: GATHER_ND: `IndicesTensor.DataType` must be "
        "UINT32 at feature level 2_1, got INT64 "
        "(accepted from 3_0)\n"
    ) in out


def test_valid_model_says_which_levels_accept_it(tmp_path, capsys):
    path = save(tmp_path, GATHER_ND)
    assert main(["check", path, "--feature-level", "3_0"]) == 0
    assert capsys.readouterr() == (
        f"{path}: dispatchables.gather: GATHER_ND is valid at 3_0 (accepted from 3_0 on)\n",
        "",
    )


def test_default_is_the_highest_level(tmp_path, capsys):
    assert main(["check", save(tmp_path, GATHER_ND)]) == 0
    assert "is valid at 6_4 (accepted from 3_0 on)" in capsys.readouterr().out


def test_every_violation_of_every_dispatchable(tmp_path, capsys):
    model = changed(GATHER_ND, (f"{DESC}/InputDimensionCount", 3), (f"{DESC}/OutputTensor/DataType", "INT8"))
    model["dispatchables"]["other"] = changed(GATHER_ND, (f"{DESC}/InputTensor/Sizes", [0, 2]))[
        "dispatchables"
    ]["gather"]
    model["dispatchables"]["good"] = GATHER_ND["dispatchables"]["gather"]
    path = save(tmp_path, model)
    assert main(["check", path]) == 1
    found = [
        re.match(rf"{re.escape(path)}: (.*?): GATHER_ND[: ]", line).group(1)
        for line in capsys.readouterr().out.splitlines()
    ]
    assert found.count("dispatchables.gather") >= 2
    assert found.count("dispatchables.other") >= 1
    assert found.count("dispatchables.good") == 1


def test_models_after_a_bad_one_are_checked(tmp_path, capsys):
    bad, good = save(tmp_path, "{}", "bad.json"), save(tmp_path, GATHER_ND, "good.json")
    assert main(["check", bad, good]) == 1
    out, errors = capsys.readouterr()
    assert errors == f"remapnd check: error: {bad}: the model must have the key resources, got no keys\n"
    assert out.startswith(f"{good}: dispatchables.gather: GATHER_ND is valid")


def test_bindings_are_checked_if_the_operators_are_valid(tmp_path, capsys):
    path = save(tmp_path, changed(GATHER_ND, ("commands/0/bindings/InputTensor", ABSENT)))
    assert main(["check", path]) == 1
    assert capsys.readouterr().err == (
        f"remapnd check: error: {path}: `commands[0].bindings` must bind InputTensor, got bindings of "
        "IndicesTensor, OutputTensor\n"
    )


def test_model_without_dispatchables(tmp_path, capsys):
    path = save(tmp_path, {"resources": {}, "dispatchables": {}, "commands": []})
    assert main(["check", path]) == 0
    assert capsys.readouterr().out == f"{path}: has no dispatchables\n"


def test_json(tmp_path, capsys):
    good = save(tmp_path, GATHER_ND, "good.json")
    bad = save(tmp_path, "[]", "bad.json")
    fields = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "InterpolationMode": "LINEAR",
        "ScaleCount": 4,
        "Scales": ["nan", 1, "inf", 1],
    }
    resample = save(
        tmp_path,
        changed(GATHER_ND, ("dispatchables/gather", {"type": "RESAMPLE"} | fields), ("commands", [])),
    )
    assert main(["check", good, bad, resample, "--json", "--feature-level", "5_0"]) == 1
    out, errors = capsys.readouterr()
    assert errors == f"remapnd check: error: {bad}: the model must be an object, got an array of 0 values\n"
    first, second, third = json.loads(out, parse_constant=pytest.fail)
    levels = first.pop("supported_levels")
    assert (levels[0], levels[-1]) == ("3_0", "6_4")
    assert first == {
        "model": good,
        "dispatchable": "gather",
        "operator": "GATHER_ND",
        "feature_level": "5_0",
        "violations": [],
    }
    assert second == {"model": bad, "error": errors.removeprefix("remapnd check: error: ").rstrip()}
    assert third["supported_levels"] == []
    violations = {fault["field"]: fault for fault in third["violations"]}
    assert violations.keys() == {"Scales[0]", "Scales[2]"}
    assert [fault["value"] for fault in violations.values()] == ["nan", "inf"]
    assert violations["Scales[0]"]["minimum_feature_level"] is None


def test_json_of_violations_that_a_higher_level_accepts(tmp_path, capsys):
    assert main(["check", save(tmp_path, GATHER_ND), "--json", "--feature-level", "1_0"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)
    kind = next(fault for fault in entry["violations"] if fault["field"] == "Type")
    assert (kind["value"], kind["minimum_feature_level"]) == ("GATHER_ND", "2_1")


def test_policy(tmp_path, capsys):
    overlapping = changed(GATHER_ND, (f"{DESC}/OutputTensor/Strides", [1, 1]))
    path = save(tmp_path, overlapping)
    assert main(["check", path]) == 1
    assert main(["check", path, "--policy", "output_overlap=allow"]) == 0
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["check", path, "--policy", "output_overlap=maybe"])
    assert "output_overlap must be one of reject, allow, got 'maybe'" in capsys.readouterr().err


def test_table(tmp_path, capsys):
    model = changed(GATHER_ND, (f"{DESC}/OutputTensor/DataType", "INT8"))
    model["dispatchables"]["good"] = GATHER_ND["dispatchables"]["gather"]
    path = save(tmp_path, model)
    assert main(["check", path, "--format", "table", "--feature-level", "3_0"]) == 1
    assert capsys.readouterr() == (
        f"{path} at feature level 3_0\n"
        "  dispatchables.gather  GATHER_ND  1 violation\n"
        "    field                  rule                                         value  accepted from\n"
        "    OutputTensor.DataType  must equal InputTensor.DataType = FLOAT32  INT8   no level\n".replace(
            "rule                                         value",
            "rule                                       value",
        )
        + "  dispatchables.good  GATHER_ND  valid (accepted from 3_0 on)\n"
        "1 of 2 would be refused\n",
        "",
    )
    assert main(["check", save(tmp_path, GATHER_ND), "--format", "table"]) == 0
    assert capsys.readouterr().out.endswith("valid (accepted from 3_0 on)\n1 of 1 valid\n")


def test_a_terminal_gets_a_table_in_colours(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table, "is_terminal", lambda: True)
    monkeypatch.setattr("remapnd.cli.check.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    path = save(tmp_path, changed(GATHER_ND, (f"{DESC}/OutputTensor/DataType", "INT8")))
    assert main(["check", path]) == 1
    title, kind, heads, *lines = capsys.readouterr().out.splitlines()
    assert title == f"\x1b[1m{path} at feature level 6_4\x1b[0m"
    assert kind == "  dispatchables.gather  GATHER_ND  \x1b[31m1 violation\x1b[0m"
    assert heads.startswith("\x1b[1m    field")
    assert lines == [
        "    OutputTensor.DataType  must equal             INT8   no level",
        "                           InputTensor.DataType",
        "                           = FLOAT32",
        "\x1b[31m1 of 1 would be refused\x1b[0m",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["check", path]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_formats_exclude_each_other(tmp_path, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["check", save(tmp_path, GATHER_ND), "--json", "--format", "table"])
    assert "not allowed with argument" in capsys.readouterr().err
