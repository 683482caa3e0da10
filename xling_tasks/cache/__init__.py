"""The one store of replies: of the model under test, judges, translators and readers."""
