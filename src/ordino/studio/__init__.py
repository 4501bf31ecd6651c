"""Ordino studio: pages in the browser that show what an experiment says and why one document stands above another.

::

    sources   what was named on the command line: a store, models, data
    shelf     the rankings of a query, and the models and documents behind them
    values    what an order of a query is worth, and its costliest pair
    slope     the slope graph: the places of documents from ranker to ranker
    what_if   the order if a feature had another value
    parallel  parallel coordinates of settings, and the ranges that were brushed
    runs      whether a run is at work, and what of it is done
    ask       a request: its parameters, and links that keep them
    views     one module a page: from a request to what its template shows
    app       pages, files and the door in front of them
"""
