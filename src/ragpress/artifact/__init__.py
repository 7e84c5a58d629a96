"""The artifact, build/kb/: its files, written, read and packed. docs/artifact.md describes every file."""
