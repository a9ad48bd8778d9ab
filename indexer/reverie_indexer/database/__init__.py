"""The connection to PostgreSQL: pool, statements from `.sql` files, the schema's upgrades, errors and damage."""
