"""Arithmetic of shapes and strides behind views: which numbers describe the elements that a view shows.

Nothing here reads or moves elements. Sizes and strides are tuples of whole numbers, strides in elements; errors name
the operation, the shapes and the rule.
"""

from minigrad.layout.arguments import count, integer, normal_axis, sizes_of, type_name
from minigrad.layout.keys import Key, normal_index, slice_view
from minigrad.layout.lines import parts_of
from minigrad.layout.views import collapse, expand, overlaps, view_shape, view_strides

__all__ = [
    "Key",
    "collapse",
    "count",
    "expand",
    "integer",
    "normal_axis",
    "normal_index",
    "overlaps",
    "parts_of",
    "sizes_of",
    "slice_view",
    "type_name",
    "view_shape",
    "view_strides",
]
