"""Side-by-side runs of minigrad and its peers; `make bench` prints the ratios and writes RESULTS.md."""
