"""The energy counters of the processor (RAPL), as Linux shows them in ``/sys/class/powercap``."""

from __future__ import annotations

from pathlib import Path

from clgraph.energy.readings import MeterError, Reading, Source

__all__ = ["RaplMeter"]

POWERCAP = Path("/sys/class/powercap")


class Zone:
    """One counter, made monotone across its wrap-arounds."""

    def __init__(self, folder: Path) -> None:
        self.name = (folder / "name").read_text(encoding="ascii").strip()
        self._file = folder / "energy_uj"
        self._range_uj = int((folder / "max_energy_range_uj").read_text(encoding="ascii"))
        self._last_uj = self._raw_uj()
        self._total_uj = 0

    def _raw_uj(self) -> int:
        return int(self._file.read_text(encoding="ascii"))

    def read_j(self) -> float:
        """Joules since the zone was opened; the gap between two calls may hold one wrap-around."""
        raw = self._raw_uj()
        step = raw - self._last_uj
        self._total_uj += step if step >= 0 else step + self._range_uj
        self._last_uj = raw
        return self._total_uj * 1e-6


class RaplMeter:
    """All processor packages of the machine, with their memory where it has a counter of its own.

    Parameters
    ----------
    root : pathlib.Path
        The powercap folder.

    Raises
    ------
    MeterError
        If there are no counters, or they may not be read.
    """

    source: Source = "rapl"
    update_s = 0.001
    poll_s = 0.02

    def __init__(self, root: Path = POWERCAP) -> None:
        # intel-rapl:0 is a package and intel-rapl:0:1 a part of it. Memory is the one part that the
        # figure of its package leaves out. AMD processors appear under the same names.
        self._zones: list[Zone] = []
        for folder in sorted(root.glob("intel-rapl:*")):
            try:
                name = (folder / "name").read_text(encoding="ascii").strip()
                if name.startswith("package") or name == "dram":
                    self._zones.append(Zone(folder))
            except PermissionError:
                raise MeterError(
                    f"the processor's energy counter {folder}/energy_uj may be read by root only; "
                    "an administrator can grant read access to it."
                ) from None
            except (OSError, ValueError) as error:
                raise MeterError(
                    f"the processor's energy counter {folder} cannot be read: {error}"
                ) from None
        if not self._zones:
            raise MeterError(
                f"there is no processor energy counter in {root}, as in most virtual machines and "
                "containers."
            )
        names = ", ".join(zone.name for zone in self._zones)
        self.note = f"all processors of the machine with everything running on them: {names}"

    def read(self) -> Reading:
        """Joules since the meter was opened."""
        try:
            return Reading(sum(zone.read_j() for zone in self._zones), None)
        except (OSError, ValueError) as error:
            raise MeterError(f"the processor's energy counter stopped answering: {error}") from None

    def close(self) -> None:
        """Nothing is held open."""
