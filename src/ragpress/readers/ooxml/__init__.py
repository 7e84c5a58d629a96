"""What Word and Excel files share: the package, its XML, number formats and calendars."""
