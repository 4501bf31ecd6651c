"""Reports of a store: boards with notes, as text, tables, figures and one HTML page."""
