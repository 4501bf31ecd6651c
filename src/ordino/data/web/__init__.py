"""A small synthetic web: pages with text, sites, links and judged topics, and the features that LETOR computes of them.

:mod:`~ordino.data.web.language` has the words, :mod:`~ordino.data.web.sites` the pages and what they are about,
:mod:`~ordino.data.web.links` who links to whom, :mod:`~ordino.data.web.texts` what the pages say;
:mod:`~ordino.data.web.term_features`, :mod:`~ordino.data.web.link_features` and
:mod:`~ordino.data.web.propagation` compute features; :mod:`~ordino.data.web.distillation` asks the queries.
"""
