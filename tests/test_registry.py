"""Quantizers by name."""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outsiders import NAME, SPEC, plant

from lossyfl import InputError, Stochastic, quantizer, register, scheme
from lossyfl.protocol.optimizers import optimizer as server_optimizer
from lossyfl.quantizers import names
from lossyfl.registry import Registry, from_outside, items, paths
from lossyfl.tasks import task
from lossyfl.tasks.optimizers import optimizer as local_optimizer
from lossyfl.tasks.partitions import partition
from lossyfl.tasks.steps import step


def test_names_are_found() -> None:
    assert "stochastic" in names()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("stochastic", Stochastic()),
        ("stochastic:levels=5", Stochastic(levels=5)),
        ("stochastic:levels=5,scale=64", Stochastic(levels=5, scale=64)),
        ("stochastic: scale = tensor ,", Stochastic(scale="tensor")),
        ("lossyfl.quantizers.stochastic:Stochastic", Stochastic()),
        ("lossyfl.quantizers.stochastic:Stochastic:levels=9", Stochastic(levels=9)),
        ("stochastic(levels=5,scale=64)", Stochastic(levels=5, scale=64)),
        ("stochastic()", Stochastic()),
        ("lossyfl.quantizers.stochastic:Stochastic(levels=9)", Stochastic(levels=9)),
    ],
)
def test_specs(spec: str, expected: Stochastic) -> None:
    assert quantizer(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("stocastic", r"name of quantizer must be one of .*did you mean stochastic\?"),
        ("", "name of quantizer must be one of"),
        ("stochastic:level=2", r"option of stochastic must be .*did you mean levels\?.* got level"),
        ("stochastic:levels", "option of stochastic must be key=value, each key once"),
        ("stochastic:levels=1,levels=2", "each key once"),
        ("stochastic:levels=two", "levels of Stochastic must be an int in"),
        ("stochastic:levels=true", "levels of Stochastic must be an int in"),
        ("no.such.module:Thing", "can be imported as package.module:Name"),
        ("lossyfl.quantizers:Thing", "can be imported as package.module:Name"),
        ("lossyfl.quantizers:__path__", "path of quantizer must be a class or function"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantizer(spec)


def test_what_has_no_options_says_so() -> None:
    things: Registry[object] = Registry("thing", makes="a thing")
    things.register("plain")(lambda: 1)
    with pytest.raises(InputError, match=r"left out: plain has no options, got foo"):
        things.build("plain:foo=3")


def test_names_of_what_has_a_method() -> None:
    things: Registry[object] = Registry("thing", makes="a thing")
    things.register("text")(str)
    things.register("number")(int)
    assert things.names() == ["number", "text"]
    assert things.names(method="upper") == ["text"]
    assert things.names(method="nobodys") == []


def test_a_name_is_taken_once() -> None:
    with pytest.raises(InputError, match="a name that is not taken"):
        register("stochastic")(Stochastic)


def test_a_users_own_quantizer_needs_no_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs_module.py").write_text("from lossyfl import Stochastic as Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs_module", raising=False)
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "module.py").write_text("from lossyfl import Stochastic as Mine\n")
    assert quantizer("theirs.module:Mine:levels=3") == Stochastic(levels=3)


def test_a_module_without_dots_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plainly_mine.py").write_text(
        "from lossyfl import Stochastic\ndef mine(levels=3):\n    return Stochastic(levels=levels)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert quantizer("plainly_mine:mine") == Stochastic(levels=3)
    assert quantizer("plainly_mine:mine:levels=7") == Stochastic(levels=7)
    with pytest.raises(InputError, match="path of quantizer must be"):
        quantizer("nobodys_module:mine")


HOW = "say --allow {}"
NAMED = [
    SPEC,
    f"{SPEC}:levels=3",
    f"{SPEC}(levels=3)",
    f"rotated+{SPEC}",
]


@pytest.mark.parametrize("spec", NAMED)
def test_what_comes_from_outside_imports_nothing(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = plant(tmp_path, monkeypatch)
    refused = rf"name of quantizer must be a registered one, or allowed here: say --allow {SPEC}"
    with from_outside((), HOW), pytest.raises(InputError, match=refused):
        quantizer(spec)
    with from_outside(["another.module:Quantizer"], HOW), pytest.raises(InputError):
        quantizer(spec)
    assert not mark.exists()
    with from_outside([SPEC], HOW):
        quantizer(spec)
    assert mark.exists()


@pytest.mark.parametrize(
    "spec",
    [
        f"{NAME}:scheme",
        "os:system:command=false",
        f"lean:down={SPEC}",
        f"lean:up={SPEC}(levels=3)",
        f"lean(down=rotated+{SPEC})",
        f"lfl:server_optimizer={NAME}:Optimizer",
        f"lfl:server_optimizer={NAME}:Optimizer(rate=1)",
    ],
)
def test_nor_what_is_named_inside_of_a_scheme(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = plant(tmp_path, monkeypatch)
    with from_outside((), HOW), pytest.raises(InputError, match="must be a registered one"):
        scheme(spec)
    assert not mark.exists()


def test_nothing_inside_can_lift_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = plant(tmp_path, monkeypatch)
    with from_outside((), HOW), from_outside([SPEC], HOW), pytest.raises(InputError):
        quantizer(SPEC)
    assert not mark.exists()
    quantizer(SPEC)  # it ends with its block
    assert mark.exists()


@pytest.mark.parametrize("spec", ["stochastic\nroot: all is well", "x" * 1001, "\x1b[2J"])
def test_texts_from_outside_are_short_and_printable(spec: str) -> None:
    with from_outside((), HOW), pytest.raises(InputError, match="all printable") as caught:
        quantizer(spec)
    assert str(caught.value).isprintable()


@given(st.text(st.sampled_from("lfeanqotcsigr12:=,()+.@/-_ \n%"), max_size=40))
def test_any_text_from_outside_is_a_scheme_or_an_input_error(text: str) -> None:
    for spec in (text, f"lfl:{text}", f"lean:down={text}", f"lfl:server_optimizer={text}"):
        with from_outside((), HOW), suppress(InputError):
            scheme(spec)


BUILDERS: dict[str, Callable[[str], object]] = {
    "scheme": scheme,
    "quantizer": quantizer,
    "server_optimizer": server_optimizer,
    "partition": partition,
    "step size": step,
    "optimizer": local_optimizer,
    "task": task,
}
OWN = """
import subprocess
from functools import partial
from pathlib import Path
CALLED = Path(__file__).with_name("called")
def zero(by=0):
    return 1 / by
def ends():
    raise SystemExit(3)
def wrong():
    return Other()
class Other:
    def __init__(self):
        CALLED.touch()
async def later():
    CALLED.touch()
def several():
    CALLED.touch()
    yield 1
def counts() -> int:
    CALLED.touch()
def says() -> "str":
    CALLED.touch()
def nothing() -> None:
    CALLED.touch()
def lists() -> list[int]:
    CALLED.touch()
"""


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where those of the module leave a mark that must not be called."""
    (tmp_path / "own_things.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_things", raising=False)
    return tmp_path / "called"


@pytest.mark.usefixtures("called")
@pytest.mark.parametrize("kind", BUILDERS)
@pytest.mark.parametrize(
    ("name", "cause", "got"),
    [
        ("zero", ZeroDivisionError, "ZeroDivisionError: division by zero"),
        ("ends", SystemExit, "SystemExit: 3"),
    ],
)
def test_whatever_an_own_thing_raises_is_our_error(
    kind: str, name: str, cause: type[BaseException], got: str
) -> None:
    message = rf"result of own_things:{name} must be an? .*, got {got}"
    with pytest.raises(InputError, match=message) as caught:
        BUILDERS[kind](f"own_things:{name}")
    assert isinstance(caught.value.__cause__, cause)


@pytest.mark.usefixtures("called")
@pytest.mark.parametrize("kind", BUILDERS)
def test_what_an_own_thing_makes_is_checked(kind: str) -> None:
    with pytest.raises(InputError, match=r"result of own_things:wrong must be an? .*, got Other"):
        BUILDERS[kind]("own_things:wrong")


@pytest.mark.parametrize("kind", BUILDERS)
@pytest.mark.parametrize(
    "spec",
    [
        *(f"own_things:{name}" for name in ("later", "several", "counts", "says", "nothing")),
        "own_things:lists",
        "own_things:subprocess",
        "own_things:partial:func=1",
        "own_things:Path",
        "os:system:command=false",
        "os:makedirs:name=never_made",
        "subprocess:run:args=false",
        "subprocess:Popen:args=false",
        "fractions:Fraction:numerator=1",
    ],
)
def test_what_is_obviously_no_factory_of_ours_is_not_called(
    kind: str, spec: str, called: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"path of {kind} must be a class or function"):
        BUILDERS[kind](spec)
    assert not called.exists()
    assert not (tmp_path / "never_made").exists()


@pytest.mark.parametrize("kind", [kind for kind in BUILDERS if kind != "task"])
def test_a_class_without_the_methods_is_not_called(kind: str, called: Path) -> None:
    with pytest.raises(InputError, match=f"path of {kind} must be .*, got own_things:Other"):
        BUILDERS[kind]("own_things:Other")
    assert not called.exists()


def test_a_partial_and_a_default_that_is_an_array_are_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_partial.py").write_text(
        "from functools import partial\nimport numpy as np\nfrom lossyfl import Stochastic\n"
        "from lossyfl.protocol.schemes import lfl\nmine = partial(Stochastic, levels=3)\n"
        "def made(q=np.ones(3)):\n    return lfl(q1=q)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert quantizer("own_partial:mine") == Stochastic(levels=3)
    assert scheme("own_partial:made:q=5").spec == "own_partial:made:q=5"


@pytest.mark.usefixtures("called")
def test_an_import_that_ends_the_program_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(InputError, match="SystemExit: 3"):
        quantizer("ends_at_once:Quantizer")


class Thing:
    """What the registry of these tests makes: it counts how often it is made."""

    made = 0

    def __init__(self, size: int = 3, name: str = "it", inner: str = "plain") -> None:
        type(self).made += 1
        self.size, self.name, self.inner = size, name, inner


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> Registry[Thing]:
    monkeypatch.setattr(Thing, "made", 0)
    registry: Registry[Thing] = Registry("thing", makes="a thing", values=("size",))
    registry.register("thing")(Thing)
    return registry


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ("thing", "thing"),
        ("thing:size=3,name=it", "thing"),
        ("thing: size = 4 ", "thing:size=4"),
        ("thing(name=x,size=4)", "thing:name=x,size=4"),
        ("thing:inner=f( a=1, b=2 )", "thing:inner=f(a=1,b=2)"),
        ("tests.test_registry:Thing(size=3,name=x)", "tests.test_registry:Thing:name=x"),
    ],
)
def test_all_spellings_of_a_thing_are_one(things: Registry[Thing], spec: str, same: str) -> None:
    assert things.canonical(spec) == same
    assert things.canonical(same) == same


def test_a_spec_is_a_name_and_options(things: Registry[Thing]) -> None:
    assert things.parse("thing:size=4,inner=f(a=1,b=2)") == (
        "thing",
        {"size": "4", "inner": "f(a=1,b=2)"},
    )
    assert things.options("a.module:Thing:size=4") == {"size": "4"}


def test_values_are_given_for_what_a_spec_leaves_open(things: Registry[Thing]) -> None:
    made = things.build("thing:size=4", {"size": 9, "name": "given", "unknown": 1})
    assert (made.size, made.name) == (4, "given")


def test_a_check_makes_nothing(things: Registry[Thing]) -> None:
    things.check("thing:size=4")
    things.check("nobodys_module:Thing:size=4")  # not looked at
    with pytest.raises(InputError, match=r"option of thing must be .*did you mean size\?"):
        things.check("thing:sise=4")
    assert Thing.made == 0
    things.build("thing")
    assert Thing.made == 1


def test_what_lacks_a_value_is_not_of_the_kind(things: Registry[Thing]) -> None:
    things.register("other")(lambda: object())
    with pytest.raises(
        InputError, match="result of other must be a thing, got object, without size"
    ):
        things.build("other")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("stochastic:levels=2", []),
        ("mine.coarse:Coarse", ["mine.coarse:Coarse"]),
        ("lean:down=mine.a:A(levels=3),up=rotated+mine.b:B", ["mine.a:A", "mine.b:B"]),
        ("plainly_mine:mine:levels=7", ["plainly_mine:mine"]),
    ],
)
def test_what_a_spec_would_import(text: str, found: list[str]) -> None:
    assert paths(text) == found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        (",a,,b,", ["a", "b"]),
        ("a=f(b,c),d", ["a=f(b,c)", "d"]),
        ("a=f(g(b,c),d),e=(,)", ["a=f(g(b,c),d)", "e=(,)"]),
    ],
)
def test_commas_in_parentheses_part_nothing(text: str, parts: list[str]) -> None:
    assert list(items(text)) == parts


def test_options_that_a_thing_takes() -> None:
    own: Registry[Stochastic] = Registry("quantizer", makes="a quantizer")
    own.register("mine")(Stochastic)
    assert own.takes("mine:levels=2") == ["levels", "scale"]
    assert own.takes("lossyfl.quantizers.stochastic:Stochastic") == ["levels", "scale"]
    with pytest.raises(InputError, match="did you mean mine"):
        own.takes("mien")
    with (
        from_outside((), "not here: {}"),
        pytest.raises(InputError, match="name of quantizer must be a registered one"),
    ):
        own.takes("lossyfl.quantizers.stochastic:Stochastic")
