"""Searching by words: what counts as a word, an index of where each occurs, its scores, their fusion with cosines."""
