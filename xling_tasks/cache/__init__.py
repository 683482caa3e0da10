"""The cache of responses of the model under test, judges, translators and extractors."""
