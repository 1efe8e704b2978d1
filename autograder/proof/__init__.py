"""Proof that the tests grade well: wrong answers and variants, mutants, attacks, and invented classes."""
