"""A private PostgreSQL on a socket in a folder, for the time of a test.

By hand: ``python -m tests.export.postgres`` starts one, and says how to reach it.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

#: Where Debian puts what is not for everyday use.
FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))


def tool(name: str) -> str | None:
    """The path of a program of PostgreSQL, of the newest version there is."""
    path = os.pathsep.join([*map(str, reversed(FOLDERS)), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


def user() -> str | None:
    """Whom to run it as: it refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None


def is_there() -> bool:
    has_tools = all(tool(name) for name in ("initdb", "pg_ctl", "psql"))
    return has_tools and (
        os.geteuid() != 0 or (user() is not None and bool(shutil.which("runuser")))
    )


@contextmanager
def server():
    """Start a server and yield the folder of its socket; it listens nowhere else."""
    folder = Path(tempfile.mkdtemp(prefix="zn-pg-"))
    prefix = []
    if user() is not None:
        shutil.chown(folder, user())
        prefix = ["runuser", "-u", user(), "--"]
    data = folder / "data"

    def run(*command):
        subprocess.run(
            [*prefix, *map(str, command)], check=True, capture_output=True, cwd=folder, timeout=60
        )

    try:
        run(tool("initdb"), "-D", data, "-A", "trust", "-U", "test", "--no-sync", "-E", "UTF8")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run(tool("pg_ctl"), "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield folder
        finally:
            run(tool("pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def psql(folder, script: str) -> str:
    """Run a script; what it prints, or an assertion with what was wrong."""
    command = [tool("psql"), "-h", folder, "-U", "test", "-d", "postgres", "-X", "-q", "-A", "-t"]
    command += ["-v", "ON_ERROR_STOP=1", "-F", "\t", "-P", "null=\\N"]
    found = subprocess.run(
        [str(part) for part in command], input=script, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[:2000]
    return found.stdout


if __name__ == "__main__":
    with server() as where:
        input(f"psql -h {where} -U test postgres; Enter ends it. ")
