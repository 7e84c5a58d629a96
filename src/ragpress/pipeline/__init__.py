"""The stages of a build: chunk, merge, embed, index."""
