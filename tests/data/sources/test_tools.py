"""Programs on the user's machine."""

import hashlib
import io
import sys
import tarfile
from pathlib import Path

import pytest

from lossyfl.data.sources import SourceError, tools
from lossyfl.data.sources.tools import extract, pinned, run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class TestRun:
    def test_in_the_folder(self, tmp_path: Path) -> None:
        run(python("open('here', 'w').close()"), tmp_path)
        assert (tmp_path / "here").exists()

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("sys.exit('WARNING: a\\nERROR: b\\nnotice')", "^ERROR: b$"),
            ("sys.exit('npm error code E404\\nnpm error a log is somewhere')", "code E404$"),
            ("sys.exit(3)", "^exit code 3$"),
        ],
    )
    def test_complaint(self, code: str, reason: str, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=reason):
            run(python(f"import sys; {code}"), tmp_path)

    def test_missing_program(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"^no-such-program is not installed$"):
            run(["no-such-program"], tmp_path)

    def test_time_out(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tools, "SECONDS", 0.2)
        with pytest.raises(SourceError, match="no end within"):
            run(python("import time; time.sleep(60)"), tmp_path)


class TestArchives:
    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        path = tmp_path / "a.tgz"
        with tarfile.open(path, "w:gz") as tar:
            for name in ("package/x", "../../escape"):
                info = tarfile.TarInfo(name)
                info.size = 3
                tar.addfile(info, io.BytesIO(b"abc"))
            folder = tarfile.TarInfo("package/folder")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
        return path

    def test_pinned(self, archive: Path) -> None:
        assert pinned(archive, hashlib.sha256(archive.read_bytes()).hexdigest()) == archive
        with pytest.raises(
            SourceError, match=r"a.tgz has sha256 [0-9a-f]{16}, not 0000000000000000"
        ):
            pinned(archive, "0" * 64)
        with pytest.raises(SourceError, match=r"no b.tgz came"):
            pinned(archive.with_name("b.tgz"), "0" * 64)

    def test_members_stay_in_the_folder(self, archive: Path, tmp_path: Path) -> None:
        inside = tmp_path / "a/b/c"
        inside.mkdir(parents=True)
        files = extract(archive, ["package/x", "../../escape"], inside)
        assert files == [inside / "x", inside / "escape"]
        assert files[1].read_bytes() == b"abc"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.tgz"]

    def test_a_folder_is_no_file(self, archive: Path, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"package/folder of a.tgz is no file"):
            extract(archive, ["package/folder"], tmp_path)
