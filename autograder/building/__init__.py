"""From the library's source and the authored lessons to notebooks, masters and editions."""
