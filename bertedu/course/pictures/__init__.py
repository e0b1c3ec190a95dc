"""The kit that the chapters' pictures are drawn with: a sheet, and on it chips, grids, bars, boxes and arrows."""

from bertedu.course.pictures.map import map_of_bert
from bertedu.course.pictures.plane import Plane
from bertedu.course.pictures.sheet import Box, Grid, Sheet

__all__ = ["Box", "Grid", "Plane", "Sheet", "map_of_bert"]
