"""What is expected of litmus/barrier is what is known of XF, discovery and locks."""

from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parents[2] / "litmus/barrier"


def answers(suite: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = yaml.safe_load(
        (FOLDER / suite / "expected.yaml").read_text()
    )["answers"]
    tests = {str(it.relative_to(FOLDER / suite)) for it in (FOLDER / suite).rglob("*.litmus")}
    assert found.keys() == tests
    return found


def test_xf_orders_every_pair_and_each_change_breaks_a_case() -> None:
    found = {name: next(iter(it.values())) for name, it in answers("order").items()}
    intact = [name for name in found if name.startswith(("all-pairs", "cases"))]
    assert len(intact) == 11 and {found[name] for name in intact} == {"Always"}
    changes = sorted(path.name for path in (FOLDER / "order/broken").iterdir())
    assert len(changes) == 11
    for change in changes:
        broken = [it for name, it in found.items() if name.startswith(f"broken/{change}/")]
        assert len(broken) == 5 and "Never racy" in broken


def test_discovery_counts_those_who_participate() -> None:
    found = {name: next(iter(it.values())) for name, it in answers("order").items()}
    of_discovery = {name: it for name, it in found.items() if name.startswith("discovery/")}
    wrong = {name for name, it in of_discovery.items() if it != "Always"}
    assert wrong == {"discovery/no-lock-2.litmus", "discovery/no-closing-2.litmus"}


def test_who_hangs_under_which_scheduler() -> None:
    found = answers("progress")
    for name, it in found.items():
        if name.endswith("as-printed.litmus"):
            assert {*it.values()} == {"UNDEFINED"}
            continue
        assert (it["fair"], it["unfair"]) == ("LIVE", "STUCK")
        if name.startswith("xf-"):
            groups = int(name[3])
            for bound in (1, 2, 3):
                assert it[f"obe:{bound}"] == ("LIVE" if bound >= groups else "STUCK")
        elif not name.startswith("fig1"):  # Locks, discovery, and XF among those who participate.
            assert {it[f"obe:{bound}"] for bound in (1, 2, 3)} == {"LIVE"}
            assert (it["obe"], it["hsa"], it["hsa-obe"], it["lobe"]) == (
                *("LIVE", "STUCK"),
                *("LIVE", "LIVE"),
            )
    low, high = found["fig1-a0-b1.litmus"], found["fig1-a1-b0.litmus"]
    for each in (low, high):
        assert (each["obe"], each["obe:1"], each["obe:2"]) == ("STUCK", "STUCK", "LIVE")
    assert [it[name] for it in (low, high) for name in ("hsa", "lobe")] == [
        *("STUCK", "STUCK"),
        *("LIVE", "LIVE"),
    ]
