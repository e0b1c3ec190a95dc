"""What colours say in the chapters' pictures, and nothing else does: a fill a value, an edge a role."""

from bertedu.visualization.picture import BLUE, GREEN, INK, ORANGE

ROLES = {"query": BLUE, "key": ORANGE, "value": GREEN}
FAINT, PALE, DARK, BAR, RULE = "#6b6b6b", "#f0f0f0", "#454545", "#8a8a8a", "#bbbbbb"
PURPLE, WHITE, GOLD = (126, 87, 172), (255, 255, 255), (206, 160, 42)  # below zero, zero, above

__all__ = ["BAR", "DARK", "FAINT", "INK", "PALE", "ROLES", "RULE", "fill_of", "ink_on"]


def fill_of(value: float, largest: float) -> str:
    """The fill of a cell: white at 0, full gold at `largest`, full purple at its negative, as #rrggbb."""
    share = max(-1.0, min(1.0, value / largest)) if largest else 0.0
    end = GOLD if share > 0 else PURPLE
    mixed = (round(white + (full - white) * abs(share)) for white, full in zip(WHITE, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(fill: str) -> str:
    """Black or white, whichever is easier to read on a fill (relative luminance, WCAG 2.2)."""
    parts = [int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return INK if (luminance + 0.05) / 0.066 > 1.05 / (luminance + 0.05) else "#ffffff"
