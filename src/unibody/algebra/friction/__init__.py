"""Friction in joints: `bounded` (bounds are known), `staggered` (they depend on loads that depend on friction)."""
