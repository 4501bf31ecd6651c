"""The reranking service: ``ordino serve MODEL...``.

::

    settings    what the command line chose: models, limits
    spool       copies of the model files that no one else writes to, watched and published by the first process
    shelf       the models that a process has loaded, replaced in one step when a new copy is published
    model       one model: what scores, its features, its card
    documents   named features to rows of numbers; missing, unknown and wrong ones are refused by name
    json_body, binary_body   bodies in JSON, MessagePack, Arrow and npy
    rank, engines, inference   the three ways to ask: our own, a search engine's response, Open Inference Protocol v2
    work        the thread that scores, and the queue in front of it
    metrics, log, openapi, page   what can be watched, read and tried
    app         the routes
"""
