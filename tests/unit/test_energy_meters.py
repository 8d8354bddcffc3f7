"""Meters on folders and libraries that are made up."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from clgraph.energy import find_meter
from clgraph.energy import meters as meters_module
from clgraph.energy.nvml import CardAddress, NvmlMeter, card_address
from clgraph.energy.rapl import RaplMeter
from clgraph.energy.readings import MeterError, Reading


def zone(root: Path, folder: str, name: str, energy_uj: int, range_uj: int = 1_000_000) -> Path:
    path = root / folder
    path.mkdir(parents=True)
    (path / "name").write_text(name + "\n")
    (path / "max_energy_range_uj").write_text(f"{range_uj}\n")
    (path / "energy_uj").write_text(f"{energy_uj}\n")
    return path / "energy_uj"


def test_rapl_adds_packages_and_their_memory_and_nothing_twice(tmp_path):
    counted = [
        zone(tmp_path, "intel-rapl:0", "package-0", 100),
        zone(tmp_path, "intel-rapl:1", "package-1", 200),
        zone(tmp_path, "intel-rapl:0:1", "dram", 300),
    ]
    zone(tmp_path, "intel-rapl:0:0", "core", 400)  # part of its package
    zone(tmp_path, "intel-rapl:2", "psys", 500)  # holds the packages
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 600)  # the same package again
    meter = RaplMeter(tmp_path)
    assert meter.read() == Reading(0.0, None)
    for file in [*counted, *tmp_path.glob("*psys*")]:
        file.write_text("500000\n")
    assert meter.read().energy_j == pytest.approx(1.5 - 600e-6)
    assert "package-0, dram, package-1" in meter.note
    assert meter.source == "rapl"


def test_rapl_wraps_around(tmp_path):
    file = zone(tmp_path, "intel-rapl:0", "package-0", 900_000, range_uj=1_000_000)
    meter = RaplMeter(tmp_path)
    seen = []
    for raw in (950_000, 50_000, 999_999, 0):
        file.write_text(f"{raw}\n")
        seen.append(meter.read().energy_j)
    assert seen == pytest.approx([0.05, 0.15, 1.099999, 1.1])


def test_rapl_is_honest_about_what_it_may_not_read(tmp_path, monkeypatch):
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    original = Path.read_text

    def guarded(self, *args, **kwargs):
        if self.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", guarded)
    with pytest.raises(MeterError, match=r"energy_uj may be read by root only"):
        RaplMeter(tmp_path)


def test_no_rapl_at_all(tmp_path):
    with pytest.raises(MeterError, match="no processor energy counter"):
        RaplMeter(tmp_path / "absent")


def test_rapl_with_garbage(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0", 1).write_text("twelve\n")
    with pytest.raises(MeterError, match="cannot be read"):
        RaplMeter(tmp_path)


def test_rapl_that_goes_away(tmp_path):
    file = zone(tmp_path, "intel-rapl:0", "package-0", 1)
    meter = RaplMeter(tmp_path)
    file.unlink()
    with pytest.raises(MeterError, match="stopped answering"):
        meter.read()


class NVMLError(Exception):
    pass


def fake_nvml(*without, starts=True, mig=0, processes=1):
    """A stand-in for pynvml with two cards; what is named in `without` is not supported."""
    state = SimpleNamespace(open=0, mj=[1_000, 5_000], lost=False)
    places = [(0, 0x1B, 0), (0, 0xDC, 0)]
    uuids = [b"GPU-00000000-0000-0000-0000-0000000000AA", "GPU-other"]

    def asked(name, answer):
        def ask(card=None, *_):
            if state.lost or name in without:
                raise NVMLError("Not Supported")
            return answer(card)

        return ask

    def init():
        if not starts:
            raise NVMLError("Driver Not Loaded")
        state.open += 1

    def shutdown():
        state.open -= 1

    def instant(card):
        status = 3 if "instant" in without else 0
        return [
            SimpleNamespace(nvmlReturn=status, value=SimpleNamespace(uiVal=(70 + 20 * card) * 1000))
        ]

    def place(card):
        domain, bus, device = places[card]
        return SimpleNamespace(domain=domain, bus=bus, device=device)

    return SimpleNamespace(
        state=state,
        NVMLError=NVMLError,
        NVML_SUCCESS=0,
        NVML_FI_DEV_POWER_INSTANT=186,
        nvmlInit=init,
        nvmlShutdown=shutdown,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda card: uuids[card],
        nvmlDeviceGetPciInfo=place,
        nvmlDeviceGetMigMode=asked("mig", lambda _: [mig, mig]),
        nvmlDeviceGetComputeRunningProcesses=asked("processes", lambda _: [0] * processes),
        nvmlDeviceGetTotalEnergyConsumption=asked("counter", lambda card: state.mj[card]),
        nvmlDeviceGetPowerUsage=asked("usage", lambda _: 60_000),
        nvmlDeviceGetFieldValues=asked("field", instant),
    )


FIRST = CardAddress((0, 0x1B, 0), None)
SECOND = CardAddress((0, 0xDC, 0), None)


def test_nvml_prefers_the_counter():
    library = fake_nvml()
    meter = NvmlMeter(SECOND, library)
    assert meter.source == "nvml-counter"
    assert meter.note == "energy counter of the whole card"
    assert meter.read() == Reading(5.0, 90.0)
    library.state.mj[1] += 250
    assert meter.read() == Reading(5.25, 90.0)
    meter.close()
    assert library.state.open == 0


def test_nvml_without_counter_integrates_instant_power():
    meter = NvmlMeter(FIRST, fake_nvml("counter"))
    assert meter.source == "nvml-power"
    assert "instantaneous" in meter.note
    assert meter.read() == Reading(None, 70.0)


@pytest.mark.parametrize("missing", ["instant", "field"])
def test_nvml_without_instant_power_says_that_readings_are_averages(missing):
    meter = NvmlMeter(FIRST, fake_nvml("counter", missing))
    assert meter.source == "nvml-power"
    assert "one-second averages" in meter.note
    assert meter.update_s == 1.0
    assert meter.read() == Reading(None, 60.0)


def test_nvml_counter_with_averaged_peaks_says_so():
    meter = NvmlMeter(FIRST, fake_nvml("instant"))
    assert meter.source == "nvml-counter"
    assert "one-second averages" in meter.note


def test_nvml_with_a_counter_alone():
    meter = NvmlMeter(FIRST, fake_nvml("instant", "usage"))
    assert meter.read() == Reading(1.0, None)


def test_nvml_without_any_sensor():
    library = fake_nvml("counter", "instant", "usage")
    with pytest.raises(MeterError, match="neither"):
        NvmlMeter(FIRST, library)
    assert library.state.open == 0


def test_nvml_finds_the_card_by_uuid_whatever_its_case():
    address = CardAddress(None, "GPU-00000000-0000-0000-0000-0000000000aa")
    assert NvmlMeter(address, fake_nvml()).read().power_w == 70.0


@pytest.mark.parametrize(
    "address",
    [
        CardAddress(None, None),
        CardAddress((0, 0x99, 0), None),
        CardAddress((1, 0x1B, 0), "GPU-unheard-of"),
    ],
)
def test_nvml_reads_no_card_that_it_cannot_match(address):
    library = fake_nvml()
    with pytest.raises(MeterError, match="none of NVML's 2 cards can be matched"):
        NvmlMeter(address, library)
    assert library.state.open == 0


def test_nvml_tells_the_function_number_from_the_slot():
    library = fake_nvml()
    places = [(0, 0, 0x1D), (0, 0, 0x1E)]
    library.nvmlDeviceGetPciInfo = lambda card: SimpleNamespace(
        domain=places[card][0], bus=places[card][1], device=places[card][2]
    )
    assert NvmlMeter(CardAddress((0, 0, 0x1E << 3), None), library).read().power_w == 90.0


def test_nvml_that_does_not_start():
    with pytest.raises(MeterError, match="NVML does not start: Driver Not Loaded"):
        NvmlMeter(FIRST, fake_nvml(starts=False))


def test_nvml_that_is_not_installed(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("clgraph.energy.nvml.importlib.import_module", missing)
    with pytest.raises(MeterError, match="nvidia-ml-py"):
        NvmlMeter(FIRST)


def test_nvml_that_stops_answering():
    library = fake_nvml()
    meter = NvmlMeter(FIRST, library)
    library.state.lost = True
    with pytest.raises(MeterError, match="stopped answering"):
        meter.read()
    meter.close()


def test_nvml_names_who_shares_the_card():
    note = NvmlMeter(FIRST, fake_nvml(mig=1, processes=3)).note
    assert "partitioned" in note
    assert "2 other" in note


def test_card_address_of_a_device_that_tells_nothing():
    address = card_address(SimpleNamespace(extensions="cl_khr_fp64"))
    assert address.pci is None
    assert address.uuid is None


def test_card_address_of_a_driver_without_domains():
    device = SimpleNamespace(
        extensions="cl_nv_device_attribute_query", pci_bus_id_nv=0x1B, pci_slot_id_nv=8
    )
    assert card_address(device).pci == (0, 0x1B, 8)


def some_device(**facts):
    plain = {
        "name": "Example",
        "platform": "Example OpenCL",
        "vendor": "Example Inc.",
        "is_simulator": False,
        "traits": SimpleNamespace(is_cpu=False),
        "cl": SimpleNamespace(extensions=""),
    }
    return SimpleNamespace(**(plain | facts))


def test_a_simulator_has_no_meter():
    found = find_meter(some_device(is_simulator=True, traits=SimpleNamespace(is_cpu=True)))
    assert found.source == "none"
    assert "simulates" in found.note


def test_a_processor_is_metered_by_rapl_or_says_why_not(monkeypatch, tmp_path):
    cpu = some_device(traits=SimpleNamespace(is_cpu=True))
    monkeypatch.setattr(meters_module, "RaplMeter", lambda: RaplMeter(tmp_path))
    assert find_meter(cpu).source == "none"
    assert "no processor energy counter" in find_meter(cpu).note
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    assert find_meter(cpu).source == "rapl"


def test_an_nvidia_card_is_metered_by_nvml_or_says_why_not(monkeypatch):
    card = some_device(vendor="NVIDIA Corporation")
    monkeypatch.setattr(meters_module, "NvmlMeter", lambda address: NvmlMeter(address, fake_nvml()))
    assert "can be matched" in find_meter(card).note
    monkeypatch.setattr(meters_module, "card_address", lambda _: FIRST)
    assert find_meter(card).source == "nvml-counter"


def test_another_card_has_no_meter_that_clgraph_knows():
    assert "no meter for Example" in find_meter(some_device()).note
