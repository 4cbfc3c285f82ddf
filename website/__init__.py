"""The documentation as a site: what mkdocs is given besides the pages under docs."""
