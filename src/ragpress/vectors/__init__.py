"""The vector cache: text and model to vector, content-addressed, so that a text is embedded once."""
