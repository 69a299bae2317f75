"""PostgreSQL's own regression tests of queries, asked of Quire: the README says how."""
