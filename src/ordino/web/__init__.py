"""What the service and the studio share: who may ask, how an error is reported, and how the server runs.

::

    address   where to listen: loopback, or any host with a token; a port in use is one sentence
    guard     Host, token and security headers, before a request reaches a page
    bodies    the body of a request, refused before it is read where it is too large
    answers   an error as one sentence
    running   one process or several, which finish what is under way when they are told to stop

Nothing here imports Starlette or uvicorn before :func:`~ordino.web.running.check_extra` was asked for them.
"""
