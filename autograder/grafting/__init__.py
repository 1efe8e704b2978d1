"""From a submitted notebook's text to the master with that text in it: collect, claim, order, graft."""
