"""What the database keeps of each document: its versions, its passages, their terms and vectors."""
