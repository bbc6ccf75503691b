"""Tools that set up, start and drive real LangBot hosts for the demo, the tests and the benchmarks.

Nothing here is part of the installed plugin. The package itself uses the standard library only, so that it
runs with any supported Python before an environment exists.
"""
