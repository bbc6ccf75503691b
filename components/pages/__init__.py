"""Pages that the plugin adds to LangBot's WebUI."""
