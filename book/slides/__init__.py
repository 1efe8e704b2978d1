"""A deck of slides for each lesson: reveal.js, made by Sphinx of the lessons, without a network."""
