"""Random queries, asked of Quire and of PostgreSQL: the README says how."""
