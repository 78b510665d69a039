"""What a release is made of: one version, addresses for the index, workflows that fit the tree."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import lossyfl
from scripts import index_page

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
ADDRESS = "https://example.org/somebody/lossyfl"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text().partition("## Wire format")[2], re.M
    )
    assert newest is not None
    assert lossyfl.__version__ == project()["version"] == citation["version"] == newest[1]


def test_readme_on_an_index_has_no_relative_links(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    index_page.rewrite(tmp_path, ADDRESS, "v1")
    text = (tmp_path / "README.md").read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20
    assert all(re.match(r"https?://|#", target) for target in targets)
    assert f"({ADDRESS}/blob/v1/docs/flower.md)" in text
    assert re.search(rf"!\[[^]]+\]\({ADDRESS}/raw/v1/docs/results/[^)]+\.png\)", text)
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    assert urls["Homepage"] == ADDRESS
    assert urls["Paper"] == project()["urls"]["Paper"]


def test_links_with_an_address_stay() -> None:
    text = "[a](https://a.org/b) [b](#c) [c](mailto:d) ![d](e.png)"
    assert index_page.absolute(text, ADDRESS, "v1") == (
        f"[a](https://a.org/b) [b](#c) [c](mailto:d) ![d]({ADDRESS}/raw/v1/e.png)"
    )


def test_a_project_without_addresses_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(SystemExit, match=r"must have a table \[project.urls\]"):
        index_page.rewrite(tmp_path, ADDRESS, "v1")


def steps(workflow: Path) -> list[str]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("workflow", sorted(GITHUB.glob("workflows/*.yml")), ids=lambda p: p.stem)
def test_workflows_run_what_is_there(workflow: Path) -> None:
    assert steps(workflow)
    for path in re.findall(r"\b(?:tests|scripts|docs|\.ci)/[\w/.]+", " ".join(steps(workflow))):
        assert (ROOT / path).exists(), path


def test_every_python_of_the_classifiers_is_tested() -> None:
    jobs = yaml.safe_load((GITHUB / "workflows/tests.yml").read_text())["jobs"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project()["classifiers"]))
    assert jobs["core"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("form", ["bug", "idea"])
def test_forms_ask_for_something(form: str) -> None:
    asked = yaml.safe_load((GITHUB / f"ISSUE_TEMPLATE/{form}.yml").read_text())
    assert any(part.get("validations", {}).get("required") for part in asked["body"])
