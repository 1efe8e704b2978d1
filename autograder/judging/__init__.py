"""From a grafted notebook to verdicts: hidden tests ask the sandboxed code and compare what comes back."""
