"""What every page of HTML is made of: templates, style sheets, scripts, numbers in words, and scales of plots.

The studio serves these files, the report holds them in one page. All text from data is escaped by the templates.
"""
