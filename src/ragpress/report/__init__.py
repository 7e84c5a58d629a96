"""The report: a static site in build/report/ that opens from disk and shows what the chatbot will read."""

from ragpress.report.site import draw_report

__all__ = ["draw_report"]
