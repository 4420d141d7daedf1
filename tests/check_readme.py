"""Hold README.md to what its two commands print; `.ci/run` calls this.

    python tests/check_readme.py commands                  print the two commands
    python tests/check_readme.py compare RUN.txt TEST.txt  compare what they printed with README.md

The commands are the two lines of a fenced block of kind `sh`. The first fenced block after it that has no
kind, or the kind `text`, shows the end of what the first command prints, to the letter. The next one shows
the closing line of the second, of which counts and seconds may differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks(text: str) -> list[tuple[str, str]]:
    """Return kind and content of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def parts(text: str) -> tuple[list[str], str, str]:
    """Return the two commands and what is shown of the output of each."""
    found = blocks(text)
    for place, (kind, content) in enumerate(found):
        commands = content.splitlines()
        if kind == "sh" and len(commands) == 2 and commands[1].endswith("python -m pytest"):
            shown = [content for kind, content in found[place + 1 :] if kind in ("", "text")]
            if len(shown) < 2:
                raise ValueError(f"README.md must show 2 outputs after the commands, got {len(shown)}")
            return commands, shown[0], shown[1]
    raise ValueError(
        "README.md must have an `sh` block of 2 lines that ends with `python -m pytest`, got none"
    )


def outcomes(line: str) -> set[str]:
    """Return what a closing line of pytest counts, such as {"passed", "skipped"}."""
    if not re.fullmatch(r"=*\s*(\d+ \w+(, )?)+ in [\d.]+s( \([\d:]+\))?\s*=*", line):
        return set()
    return set(re.findall(r"\d+ ([a-z]+)", line))


def differences(text: str, run: str, test: str) -> list[str]:
    """Return what README.md shows otherwise than the commands printed."""
    _, shown_run, shown_test = parts(text)
    wrong = []
    if not ("\n" + run).endswith("\n" + shown_run):
        got = "".join(run.splitlines(keepends=True)[-shown_run.count("\n") :])
        wrong.append(f"the first command prints\n{got}but README.md shows\n{shown_run}")
    closing = (test.splitlines() or [""])[-1]
    if not {"passed"} <= outcomes(closing) <= {"passed", "skipped"}:
        wrong.append(f"the second command must end with passed tests and nothing worse, got {closing!r}")
    shown_closing = (shown_test.splitlines() or [""])[-1]
    if not {"passed"} <= outcomes(shown_closing) <= {"passed", "skipped"}:
        wrong.append(
            f"README.md must show passed tests as the end of the second command, got {shown_closing!r}"
        )
    return wrong


def main(arguments: list[str]) -> int:
    text = README.read_text(encoding="utf-8")
    if arguments == ["commands"]:
        print(*parts(text)[0], sep="\n")
        return 0
    if arguments[:1] != ["compare"] or len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = differences(text, *(Path(name).read_text(encoding="utf-8") for name in arguments[1:]))
    for line in wrong:
        print(f"README.md: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
