"""Texts to vectors and token counts by llama.cpp, in process."""
