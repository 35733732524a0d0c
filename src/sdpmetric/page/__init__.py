"""The page of `sdpmetric ask`: people answer questions in a browser, and a metric learns from them.

Starlette, uvicorn, Jinja2 and markdown-it-py are imported here and nowhere else.
"""
