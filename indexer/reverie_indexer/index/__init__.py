"""The parts of a document in the database: its versions, its passages, their terms and vectors."""
