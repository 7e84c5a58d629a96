"""ragpress compiles a repository of documents into the files that a chatbot searches."""

__version__ = "0.1.0"
