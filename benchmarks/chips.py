"""Exported headers on microcontrollers: cross-compiled, and run in QEMU.

Flash is what the model adds to an empty program, the routines for floating point that a chip
without them needs included. RAM is static bytes and the stack of one prediction. Under ``-icount
shift=0`` QEMU's clock ticks once for each instruction, so that a timer of the chip counts them.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

NEEDS = "needs a compiler and an emulator: apt-get install gcc-arm-none-eabi qemu-system-arm"
GCC, QEMU, SIZE = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-size"
FIRMWARE = Path(__file__).parent / "firmware"


@dataclass(frozen=True)
class Chip:
    """A processor, a board that has it, and the frequency of its timer in MHz."""

    name: str
    flags: tuple[str, ...]
    board: str
    megahertz: float


CHIPS = {
    chip.name: chip
    for chip in (
        Chip("Cortex-M0", ("-mcpu=cortex-m0",), "microbit", 16.0),
        Chip(
            "Cortex-M4F",
            ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
            "mps2-an386",
            25.0,
        ),
    )
}


def are_there() -> bool:
    return all(shutil.which(tool) for tool in (GCC, QEMU, SIZE))


class TooLarge(Exception):
    """The model has no room in the flash of the chip."""


@dataclass(frozen=True)
class Measured:
    """What was found: outputs bit by bit, and what a prediction costs."""

    bits: np.ndarray
    flash: int
    static: int
    stack: int
    instructions: float


def rows_header(rows: np.ndarray) -> str:
    """The rows as a constant array, bit by bit."""
    texts = ["{" + ", ".join(float(v).hex() + "f" for v in row) + "}" for row in rows]
    head = f"#define ROWS {len(rows)}\nstatic const float rows[ROWS][{rows.shape[1]}] = "
    return head + "{\n" + ",\n".join(texts) + "};\n"


def run(command: list, **options) -> str:
    found = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    if "will not fit in region" in found.stderr:
        raise TooLarge(found.stderr)
    if found.returncode:
        raise RuntimeError(found.stderr[:2000])
    return found.stdout + found.stderr  # QEMU has the debugger's text on the second


def build(folder: Path, chip: Chip, name: str, *defines: str) -> Path:
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Os", "-ffp-contract=off", "-mthumb"]
    flags += ["-ffunction-sections", "-fdata-sections", "-ffreestanding", "-nostdlib"]
    flags += ["-Wl,--gc-sections", "-T", FIRMWARE / "link.ld"]
    program = folder / name
    source = FIRMWARE / "main.c"
    run([GCC, *chip.flags, *flags, *defines, f"-I{folder}", source, "-o", program, "-lgcc"])
    return program


def sizes(program: Path) -> tuple[int, int]:
    """Bytes of flash and of static RAM."""
    text, data, bss = map(int, run([SIZE, program]).splitlines()[1].split()[:3])
    return text + data, data + bss


def on_chip(header: str, rows: np.ndarray, chip: Chip) -> Measured:
    """Run a header, whose names begin with `model`, in single precision on some rows."""
    rows = np.asarray(rows, dtype=np.float32)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.h").write_text(header)
        (folder / "rows.h").write_text(rows_header(rows))
        empty = sizes(build(folder, chip, "empty", "-DWITHOUT_MODEL"))
        program = build(folder, chip, "program")
        found = sizes(program)
        command = [QEMU, "-M", chip.board, "-display", "none", "-monitor", "none"]
        command += ["-serial", "none", "-icount", "shift=0"]
        command += ["-semihosting-config", "enable=on,target=native", "-kernel", program]
        output = run(command, timeout=120)
    said = re.findall(r"^([fstc])([0-9a-f]{8})$", output, re.MULTILINE)
    bits = np.array([int(digits, 16) for kind, digits in said if kind == "f"], dtype=np.uint32)
    values = {kind: int(digits, 16) for kind, digits in said if kind != "f"}
    instructions = values["t"] * 1000.0 / chip.megahertz / len(rows)
    return Measured(
        bits.reshape(len(rows), -1), found[0] - empty[0], found[1], values["s"], instructions
    )


HOST = """\
#include <stdint.h>
#include <stdio.h>
#include "rows.h"
#include "model.h"

int main(void)
{
    union { float value; uint32_t bits; } values[MODEL_OUTPUTS];
    int i, o;
    for (i = 0; i < ROWS; i++) {
        model_outputs(rows[i], &values[0].value);
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            printf("%08lx\\n", (unsigned long)values[o].bits);
        }
    }
    return 0;
}
"""


def on_host(header: str, rows: np.ndarray) -> np.ndarray:
    """The outputs of the same header on this machine, bit by bit."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.h").write_text(header)
        (folder / "rows.h").write_text(rows_header(np.asarray(rows, dtype=np.float32)))
        (folder / "host.c").write_text(HOST)
        flags = ["-std=c99", "-O1", "-ffp-contract=off"]
        run(["gcc", *flags, folder / "host.c", "-o", folder / "host", "-lm"])
        output = run([folder / "host"])
    return np.array([int(line, 16) for line in output.split()], dtype=np.uint32)
