"""Units to chunks."""
