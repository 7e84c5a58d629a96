"""What a person reviews: goldens, differences, and what is accepted."""
