"""Ordino studio: pages in the browser that show what an experiment says and why one document stands above another.

::

    sources   what was named on the command line: a store, models, data
    shelf     the rankings of a query, and the models and documents behind them
    slope     the slope graph: the places of documents from ranker to ranker
    ask       a request: its parameters, and links that keep them
    views     one module a page: from a request to what its template shows
    app       pages, files and the door in front of them
"""
