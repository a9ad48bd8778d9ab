"""The grammar of statements: subjects, predicates, objects, and how each language says them. Pure but for its data."""
