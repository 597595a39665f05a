"""A few bytes of MJCF that ask for more than a machine holds are refused in one line, before MuJoCo begins."""

from __future__ import annotations

import time

import pytest

import unibody as ub

pytest.importorskip("mujoco")

GEOM = '<geom type="sphere" size="0.1"/>'
BODY = f"<body><freejoint/>{GEOM}</body>"


def replicated(count, inside=BODY):
    return f'<replicate count="{count}" offset="1 0 0">{inside}</replicate>'


BOMBS = {
    "replicate": ("", replicated(1_000_000_000)),
    "replicate in words": ("", replicated("1e9")),
    "replicate without end": ("", replicated("inf")),
    "nested": ("", replicated(1000, replicated(1000, replicated(1000)))),
    "just too many": ("", replicated(60_000)),
    "height field": ('<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', ""),
    "texture": ('<asset><texture name="t" type="2d" builtin="flat" width="1000000" height="1000000"/></asset>', ""),
    "composite": ("", '<body><composite type="cable" count="1000000000 1 1" size="1"><geom type="sphere" size="0.1"/></composite></body>'),
    "flexible": ("", '<body><flexcomp name="f" type="grid" count="100000 100000 100000" spacing="1 1 1"/></body>'),
    "numeric": ('<custom><numeric name="n" size="2000000000" data="1"/></custom>', ""),
    "user data": ('<size nuser_body="1000000000"/>', BODY),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_in_one_line(bomb, tmp_path):
    before, inside = BOMBS[bomb]
    path = tmp_path / "bomb.xml"
    path.write_text(f"<mujoco>{before}<worldbody>{inside}</worldbody></mujoco>")
    began = time.process_time()
    with pytest.raises(ub.ModelError, match="make it smaller") as error:
        ub.load(path)
    assert "\n" not in str(error.value) and "bomb.xml" in str(error.value)
    assert time.process_time() - began < 5.0  # nothing was made; a billion copies take hours


def test_includes_multiply_what_they_are_in(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco>{BODY * 200}</mujoco>")
    path = tmp_path / "main.xml"
    many = replicated(1000, '<include file="part.xml"/>')
    path.write_text(f"<mujoco><worldbody>{many}</worldbody></mujoco>")
    with pytest.raises(ub.ModelError, match="make it smaller"):
        ub.load(path)


def test_files_that_include_two_files_each_end(tmp_path):
    for k in range(40):
        inside = f'<include file="{k + 1}.xml"/>' * 2 if k < 39 else ""
        (tmp_path / f"{k}.xml").write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(ub.ModelError, match="includes more than 1000 files"):
        ub.load(tmp_path / "0.xml")


def test_honest_copies_are_made(tmp_path):
    path = tmp_path / "row.xml"
    path.write_text(f"<mujoco><worldbody>{replicated(5, replicated(4))}</worldbody></mujoco>")
    assert sum(b.kind == "dynamic" for b in ub.load(path).model.bodies) == 20
