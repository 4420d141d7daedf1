"""The comparison of README.md with what its commands print."""

from __future__ import annotations

import check_readme
import pytest

README = """
# remapnd

```python
import remapnd
```

```sh
pip install .
```

```sh
python -m pip install . && python -m remapnd run examples/*.json
python -m pip install '.[test]' && python -m pytest
```

```text
== a.json
Resource 'out': 1, 2
```

and

```
===== 3 passed in 0.12s =====
```
"""
RUN = "Successfully installed remapnd-0.1.0\n== a.json\nResource 'out': 1, 2\n"
TEST = "....\n===== 12 passed, 1 skipped in 75.00s (0:01:15) =====\n"


def test_commands_and_outputs_are_found():
    commands, run, test = check_readme.parts(README)
    assert commands[0].endswith("examples/*.json")
    assert commands[1].endswith("python -m pytest")
    assert run == "== a.json\nResource 'out': 1, 2\n"
    assert test == "===== 3 passed in 0.12s =====\n"


def test_nothing_differs():
    assert check_readme.differences(README, RUN, TEST) == []
    assert check_readme.differences(README, RUN.partition("\n")[2], "12 passed in 1.0s\n") == []


@pytest.mark.parametrize(
    "run", ["", RUN + "more\n", RUN.replace("1, 2", "1, 3"), "x" + RUN.partition("\n")[2]]
)
def test_another_model_output(run):
    (wrong,) = check_readme.differences(README, run, TEST)
    assert wrong.startswith("the first command prints\n")
    assert wrong.endswith("but README.md shows\n== a.json\nResource 'out': 1, 2\n")


@pytest.mark.parametrize(
    "test",
    [
        "",
        "1 failed, 2 passed in 1.00s\n",
        "2 skipped in 1.00s\n",
        "3 passed, 1 warning in 1.00s\n",
        TEST + "Error\n",
    ],
)
def test_another_end_of_the_tests(test):
    (wrong,) = check_readme.differences(README, RUN, test)
    assert wrong.startswith("the second command must end with passed tests and nothing worse, got ")


def test_readme_that_shows_failures():
    (wrong,) = check_readme.differences(README.replace("3 passed", "3 failed"), RUN, TEST)
    assert wrong.startswith("README.md must show passed tests")


def test_readme_without_the_commands():
    with pytest.raises(ValueError, match=r"must have an `sh` block of 2 lines .*, got none"):
        check_readme.parts(README.replace("python -m pytest", "pytest"))
    with pytest.raises(ValueError, match="must show 2 outputs after the commands, got 1"):
        check_readme.parts(README.partition("\nand\n")[0])
