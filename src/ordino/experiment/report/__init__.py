"""What a store says: boards with notes, as text, tables, figures and one HTML page."""
