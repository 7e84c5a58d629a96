"""Retrieval measured: cases to hit@k and MRR, compared with what was recorded, and swept over settings."""

from ragpress.evaluation.cases import Case, read_cases
from ragpress.evaluation.gate import accept_retrieval, check_retrieval, evaluate_repository
from ragpress.evaluation.measuring import Figures, Result, by_language, by_source, figures, language, measure_artifact
from ragpress.evaluation.record import compare, read_records
from ragpress.evaluation.tables import comparison_lines, report_lines, table, to_json

__all__ = [
    "Case",
    "Figures",
    "Result",
    "accept_retrieval",
    "by_language",
    "by_source",
    "check_retrieval",
    "compare",
    "comparison_lines",
    "evaluate_repository",
    "figures",
    "language",
    "measure_artifact",
    "read_cases",
    "read_records",
    "report_lines",
    "table",
    "to_json",
]
